// SPDX-License-Identifier: GPL-2.0-or-later
//! Findings of an observer, as results.

use super::LiveRequest;
use crate::results::live::{
    LiveAverages, LiveCompared, LiveComparedCounts, LiveDifference, LiveEnergy, LiveObservedCpu,
};
use crate::run::LabError;
use pelton_live::scheduler::{Averages, Compared, Consumed, Difference, Machine, Observed, Powers};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::policy::DEFAULT_PROFILE;

/// Power of the operating points: of the platform that was named, else the kernel's.
///
/// # Errors
/// There is no such platform.
pub(super) fn powers(request: &LiveRequest, machine: &Machine) -> Result<Powers, LabError> {
    let Some(name) = &request.platform else { return Ok(Powers::here(machine)) };
    let built = platform::load(name)?.build(&PlatformOptions::new(DEFAULT_PROFILE))?;
    let mut cpus = vec![Vec::new(); machine.cpus.len()];
    for domain in built.machine.domains.iter().filter(|domain| domain.model_power_known()) {
        let points: Vec<(u32, u64)> = domain.opps.iter().map(|opp| (opp.khz, opp.power_uw)).collect();
        for cpu in &domain.cpus {
            if let Some(of) = cpus.get_mut(*cpu as usize) {
                of.clone_from(&points);
            }
        }
    }
    Ok(Powers { cpus, own_unit: built.power_unit != "mW" })
}

pub(super) fn cpu(cpu: &Observed) -> LiveObservedCpu {
    // Of no time at all there is no mean.
    let known = |mhz: &f64| mhz.is_finite();
    LiveObservedCpu {
        cpu: cpu.cpu,
        would_mhz: cpu.would_mhz.filter(known),
        was_mhz: cpu.was_mhz.filter(known),
        would_changes: cpu.would_changes,
        was_changes: cpu.was_changes,
        wakeups: cpu.wakeups,
        agreed: cpu.agreed,
    }
}

pub(super) fn compared(of: Compared) -> LiveCompared {
    let Compared { signal, published, events, equal, first, different, unseen, looks, example } = of;
    LiveCompared {
        signal: signal.to_owned(),
        counts: published.then_some(LiveComparedCounts { events, equal, first, different, unseen, looks }),
        example: example.map(difference),
    }
}

fn difference(of: Difference) -> LiveDifference {
    let Difference { cpu, at, weight, flags, flags_before, moved, before, core, kernel } = of;
    let [before, core, kernel] = [before, core, kernel].map(averages);
    LiveDifference { cpu, at, weight, flags, flags_before, moved, before, core, kernel }
}

fn averages(of: Averages) -> LiveAverages {
    let Averages { last_update_time, load_sum, runnable_sum, util_sum, .. } = of;
    let Averages { period_contrib, load_avg, runnable_avg, util_avg, .. } = of;
    LiveAverages {
        last_update_time,
        load_sum,
        runnable_sum,
        util_sum,
        period_contrib,
        load_avg,
        runnable_avg,
        util_avg,
    }
}

/// Energies; `None` where nothing was counted, of which there is no difference.
pub(super) fn energy(of: Consumed) -> Option<LiveEnergy> {
    let Consumed { own_unit, kernel, core, busy_s, unknown_s, left_percent, lost } = of;
    let difference_percent = (kernel > 0.0).then(|| 100.0 * (core - kernel) / kernel)?;
    let unit = if own_unit { "units" } else { "J" }.to_owned();
    Some(LiveEnergy { unit, kernel, core, difference_percent, busy_s, unknown_s, left_percent, lost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_gives_the_power_of_its_cpus_and_no_others() {
        let machine = Machine { cpus: vec![Default::default(); 9], ..Machine::default() };
        let request = LiveRequest { platform: Some("hikey-6220".to_owned()), ..LiveRequest::default() };
        let powers = powers(&request, &machine).expect("a platform");
        assert!(!powers.own_unit && powers.cpus[0].len() > 2 && powers.cpus[8].is_empty());
        assert!(powers.cpus[0].iter().all(|(khz, uw)| *khz > 0 && *uw > 0));
        let request = LiveRequest { platform: Some("no-such".to_owned()), ..LiveRequest::default() };
        assert!(super::powers(&request, &machine).is_err());
    }

    #[test]
    fn counts_of_what_is_not_published_are_none_and_a_saving_is_negative() {
        assert_eq!(compared(Compared { signal: "rt", ..Compared::default() }).counts, None);
        let saved = energy(Consumed { kernel: 4.0, core: 3.0, ..Consumed::default() }).expect("counted");
        assert_eq!((saved.unit.as_str(), saved.difference_percent), ("J", -25.0));
        assert_eq!(energy(Consumed { kernel: 0.0, core: 0.0, ..Consumed::default() }), None);
    }
}
