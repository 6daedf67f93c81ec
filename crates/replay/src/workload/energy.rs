// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy of busy CPUs: time at each frequency times what a busy CPU draws at its operating point, while no other
//! domain asks for a voltage. Time at frequencies that a trace does not have is left out by name, and never counted as
//! 0.

use pelton_model::Machine;

use super::totals::{CpuTotals, Totals};

/// Name of the run's row that counts only CPUs and times of a recorded frequency.
pub(super) const WHERE_TOLD: &str = "where told";

/// Energy of one CPU.
#[derive(Clone, Copy, Debug, Default)]
struct Energy {
    /// Energy at frequencies that both streams have, uW ns.
    told: f64,
    /// Energy at frequencies that the other stream does not have, uW ns.
    masked: f64,
    /// Busy time at a frequency that no event has, ns.
    untold_ns: u64,
}

impl Energy {
    /// `None`: the platform has no power for a frequency, or no frequency at all.
    fn of(machine: &Machine, cpu: usize, totals: &CpuTotals) -> Option<Energy> {
        let d = machine.cpus.get(cpu)?.domain as usize;
        let (opps, busy_uw) = (&machine.domains[d].opps, machine.busy_uw(d));
        let power = |khz: u32, busy_ns: u64| {
            let opp = opps.iter().position(|o| o.khz >= khz).or(opps.len().checked_sub(1))?;
            let power_uw = *busy_uw.get(opp)?;
            (power_uw > 0 || busy_ns == 0).then_some(power_uw as f64 * busy_ns as f64)
        };
        let told = totals.frequencies.iter().filter(|(khz, _)| **khz != 0);
        let told = told.map(|(khz, at)| power(*khz, at.busy_ns)).sum::<Option<f64>>()?;
        let masked = totals.masked_busy_ns.iter().map(|(khz, ns)| power(*khz, *ns)).sum::<Option<f64>>()?;
        let unknown_ns = totals.frequencies.get(&0).map_or(0, |at| at.busy_ns);
        let untold_ns = unknown_ns.saturating_sub(totals.masked_busy_ns.values().sum());
        Some(Energy { told, masked, untold_ns })
    }
}

fn mj(uw_ns: f64) -> Option<f64> {
    (uw_ns > 0.0).then_some(uw_ns / 1e12)
}

/// CPUs of a platform, with their totals.
fn cpus<'a>(machine: &Machine, totals: &'a Totals) -> impl Iterator<Item = (usize, &'a CpuTotals)> {
    totals.cpus.iter().enumerate().take(machine.cpus.len())
}

/// Of all CPUs; unknown when some frequency is, or when the platform gives no power.
pub(super) fn of_all(machine: &Machine, totals: &Totals) -> Option<f64> {
    let whole =
        |(cpu, totals)| Energy::of(machine, cpu, totals).filter(|e| e.untold_ns == 0).map(|e| e.told + e.masked);
    mj(cpus(machine, totals).map(whole).sum::<Option<f64>>()?)
}

/// Energy of a domain, as far as its frequency is recorded; 0 where nothing ran.
pub(super) fn of_domain(machine: &Machine, of: &[u32], totals: &Totals) -> Option<f64> {
    let in_domain = cpus(machine, totals).filter(|(cpu, _)| of.iter().any(|c| *c as usize == *cpu));
    let energies = in_domain.map(|(cpu, totals)| Energy::of(machine, cpu, totals)).collect::<Option<Vec<_>>>()?;
    let has_power = |cpu: &u32| {
        let domain = machine.cpus.get(*cpu as usize).map(|cpu| cpu.domain as usize);
        domain.is_some_and(|d| machine.busy_uw(d).iter().any(|uw| *uw > 0))
    };
    if of.iter().any(has_power) && energies.iter().all(|e| e.told + e.masked == 0.0 && e.untold_ns == 0) {
        return Some(0.0);
    }
    mj(energies.iter().map(|e| e.told).sum())
}

/// True when a recording has some frequencies and not all.
pub(super) fn is_partly_told(machine: &Machine, recorded: &Totals) -> bool {
    let energies: Option<Vec<Energy>> = cpus(machine, recorded).map(|(cpu, c)| Energy::of(machine, cpu, c)).collect();
    energies.is_some_and(|all| all.iter().any(|e| e.untold_ns > 0) && all.iter().any(|e| e.told > 0.0))
}

/// Energy of the time and the CPUs whose frequency the recording has.
pub(super) fn where_told(machine: &Machine, totals: &Totals, recorded: &Totals) -> Option<f64> {
    let is_told = |cpu: usize| recorded.cpus.get(cpu).is_some_and(CpuTotals::is_told);
    let told = cpus(machine, totals).filter(|(cpu, _)| is_told(*cpu));
    mj(told.map(|(cpu, totals)| Energy::of(machine, cpu, totals).map(|e| e.told)).sum::<Option<f64>>()?)
}

/// Omissions of a recording's energy, a sentence for each domain.
pub fn energy_gaps(machine: &Machine, recorded: &Totals) -> Vec<String> {
    let mut gaps = Vec::new();
    for domain in &machine.domains {
        let of = |cpu: &u32| Some((*cpu, recorded.cpus.get(*cpu as usize)?));
        let untold =
            |(cpu, totals): (u32, &CpuTotals)| Energy::of(machine, cpu as usize, totals).map(|e| (cpu, e.untold_ns));
        let cpus = domain.cpus.iter().filter_map(of).filter_map(untold).filter(|(_, ns)| *ns > 0);
        let cpus: Vec<(u32, u64)> = cpus.collect();
        if cpus.is_empty() {
            continue;
        }
        let ms = cpus.iter().map(|(_, ns)| *ns).sum::<u64>() as f64 / 1e6;
        let names: Vec<String> = cpus.iter().map(|(cpu, _)| cpu.to_string()).collect();
        let told = domain.cpus.iter().filter_map(|c| recorded.cpus.get(*c as usize)).any(CpuTotals::is_told);
        let when = if told { "before the first one" } else { "in the whole trace" };
        gaps.push(format!(
            "energy_active_mj leaves out {ms:.1} ms of busy time of domain {} (CPU {}): no frequency is recorded {when}",
            domain.name,
            names.join(", ")
        ));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::draws::{Draws, Rail, Vote};
    use pelton_model::machine::{Cpu, FreqDomain, Opp};
    use pelton_schema::{Event, Sink};

    /// Two domains of one CPU, 1 mW at 1000 kHz and 3 mW at 2000.
    fn machine() -> Machine {
        let opps = vec![
            Opp { khz: 1000, power_uw: 1000, ..Opp::default() },
            Opp { khz: 2000, power_uw: 3000, ..Opp::default() },
        ];
        let domain = |name: &str, cpu| FreqDomain {
            name: name.to_owned(),
            cpus: vec![cpu],
            opps: opps.clone(),
            ..FreqDomain::default()
        };
        let cpu = |domain| Cpu { domain, ..Cpu::default() };
        Machine { cpus: vec![cpu(0), cpu(1)], domains: vec![domain("a", 0), domain("b", 1)], ..Machine::default() }
    }

    /// Both CPUs run for 2 s; the frequency of CPU 0 is recorded after a second, that of CPU 1 as given.
    fn totals(told: &[(u64, u32, u32)]) -> Totals {
        let mut totals = Totals::new(0, u64::MAX).with_domains(Some(&machine()));
        for cpu in 0..2 {
            let (prev_tid, next_tid) = (0, 7 + cpu);
            let switch = Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state: 1, next_tid, next_prio: 120 };
            totals.event(0, &switch);
        }
        told.iter().for_each(|&(at, cpu, freq_khz)| totals.event(at, &Event::CpuFrequency { cpu, freq_khz }));
        totals.finish(2_000_000_000);
        totals
    }

    #[test]
    fn one_cpu_without_a_frequency_takes_only_its_own_energy_away() {
        let (machine, second) = (machine(), 1_000_000_000);
        let recorded = totals(&[(second, 0, 2000)]);
        assert_eq!((of_all(&machine, &recorded), is_partly_told(&machine, &recorded)), (None, true));
        assert_eq!(where_told(&machine, &recorded, &recorded), Some(3.0));
        assert_eq!((of_domain(&machine, &[0], &recorded), of_domain(&machine, &[1], &recorded)), (Some(3.0), None));
        let gaps = energy_gaps(&machine, &recorded).join("\n");
        assert!(
            gaps.contains("1000.0 ms of busy time of domain a (CPU 0): no frequency is recorded before the first"),
            "{gaps}"
        );
        assert!(
            gaps.contains("2000.0 ms of busy time of domain b (CPU 1): no frequency is recorded in the whole"),
            "{gaps}"
        );
    }

    #[test]
    fn what_the_board_draws_is_charged_and_not_what_the_kernel_has() {
        let (mut machine, told) = (machine(), totals(&[(0, 0, 1000), (0, 1, 2000)]));
        assert_eq!(of_all(&machine, &told), Some(2.0 + 6.0));
        let rail = |busy_uw: [u64; 2]| Rail { busy_uw: busy_uw.to_vec(), ..Rail::default() };
        let votes = vec![Vote { domain: 1, off_from: 1, rails: vec![0, 1] }];
        machine.domains[0].draws = Draws { rails: vec![rail([1500, 3500]), rail([9000, 9000])], votes };
        assert_eq!(of_all(&machine, &told), Some(3.0 + 6.0));
    }

    #[test]
    fn a_domain_in_which_nothing_ran_took_0_and_one_that_is_not_told_is_unknown() {
        let (machine, idle) = (machine(), Totals::new(0, u64::MAX));
        assert_eq!(of_domain(&machine, &[0], &idle), Some(0.0));
        assert_eq!(of_domain(&machine, &[1], &totals(&[])), None);
        let mut without = machine.clone();
        without.domains.iter_mut().flat_map(|domain| &mut domain.opps).for_each(|opp| opp.power_uw = 0);
        assert_eq!(of_domain(&without, &[0], &idle), None, "no power is known");
    }

    #[test]
    fn the_simulated_side_counts_the_same_part() {
        let (machine, second) = (machine(), 1_000_000_000);
        let recorded = totals(&[(second, 0, 2000)]);
        let mut simulated = Totals::new(0, u64::MAX).with_frequencies_from(&[second, 0]);
        for (cpu, tid) in [(0, 7), (1, 8)] {
            simulated.event(0, &Event::CpuFrequency { cpu, freq_khz: 1000 });
            let (prev_tid, next_tid) = (0, tid);
            let switch = Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state: 1, next_tid, next_prio: 120 };
            simulated.event(0, &switch);
        }
        simulated.finish(2 * second);
        assert_eq!(of_all(&machine, &simulated), Some(4.0));
        assert_eq!(where_told(&machine, &simulated, &recorded), Some(1.0));
    }

    #[test]
    fn a_whole_recording_has_one_number_and_no_gap() {
        let (machine, recorded) = (machine(), totals(&[(0, 0, 1000), (0, 1, 2000)]));
        assert_eq!((of_all(&machine, &recorded), is_partly_told(&machine, &recorded)), (Some(8.0), false));
        assert_eq!(energy_gaps(&machine, &recorded), Vec::<String>::new());
    }
}
