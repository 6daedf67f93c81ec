// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency changes a trace recorded, against those its choices ask for: value, time, missing ones and ones too many.

use std::collections::BTreeMap;

use super::engine::Place;
use super::report::{Divergence, Field, Report};
use super::tolerance::FREQUENCY_WINDOW_NS;

/// A choice was replaced by the next one before it was set.
pub const SUPERSEDED: &str = "replaced by the next choice before it was set";
/// Class of frequencies set as chosen, but not within the window.
pub const LATE: &str = "set as chosen, later than 1 ms";
/// Name in a report.
pub const SIGNAL: &str = "cpu_frequency";

/// The domains of a trace, by the CPU that stands for each.
#[derive(Debug, Default)]
pub struct Frequencies {
    domains: BTreeMap<u32, Domain>,
    late_ns: u64,
    late_max_ns: u64,
    set: u64,
}

#[derive(Debug, Default)]
struct Domain {
    khz: Option<u32>,
    chosen: Option<(Place, u32)>,
    followed: bool,
}

impl Frequencies {
    /// The governor chose a frequency that the core chooses as well, or the choice itself is reported as divergent.
    ///
    /// `followed`: every choice of the trace was followed to its end, so that no other can have been meant.
    pub fn chosen(&mut self, report: &mut Report, place: Place, cpu: u32, khz: u32, followed: bool) {
        let domain = self.domains.entry(cpu).or_default();
        domain.followed = followed;
        if let Some((since, before)) = domain.chosen.take() {
            if place.time_ns.saturating_sub(since.time_ns) <= FREQUENCY_WINDOW_NS {
                report.agree(SIGNAL, SUPERSEDED);
            } else {
                report.differ(divergence(since, cpu, "chosen, but not set in time", before, domain.khz));
            }
        }
        if domain.khz.is_some_and(|now| now != khz) {
            domain.chosen = Some((place, khz));
        }
    }

    /// A frequency was set; of a domain only the CPU that the choices name counts.
    pub fn set(&mut self, report: &mut Report, place: Place, cpu: u32, khz: u32) {
        let Some(domain) = self.domains.get_mut(&cpu) else { return };
        let before = domain.khz.replace(khz);
        if before.is_none_or(|before| before == khz) && domain.chosen.is_none() {
            return;
        }
        match domain.chosen.take() {
            Some((since, chosen))
                if chosen == khz && place.time_ns.saturating_sub(since.time_ns) <= FREQUENCY_WINDOW_NS =>
            {
                let late_ns = place.time_ns.saturating_sub(since.time_ns);
                (self.late_ns, self.set) = (self.late_ns + late_ns, self.set + 1);
                self.late_max_ns = self.late_max_ns.max(late_ns);
                report.agree(SIGNAL, "");
            }
            // The value is the choice's; only the moment is not. A guest may be stopped between both.
            Some((_, chosen)) if chosen == khz && domain.followed => report.agree(SIGNAL, LATE),
            chosen => {
                let ours = chosen.map(|(_, khz)| khz).or(before);
                report.differ(divergence(place, cpu, "set, but another one was chosen", khz, ours));
            }
        }
    }

    /// Forgets what is set, or asked for, in the domain of a CPU.
    pub fn forget(&mut self, cpu: u32) {
        self.domains.remove(&cpu);
    }

    /// Forgets what is set, or asked for, in all domains.
    pub fn forget_all(&mut self) {
        self.domains.clear();
    }

    /// The end of the trace.
    pub fn finish(&self, report: &mut Report) {
        if let Some(mean_ns) = self.late_ns.checked_div(self.set) {
            let max_ns = self.late_max_ns;
            report.remarks.push(format!(
                "frequencies were set {mean_ns} ns after they were chosen in the mean, {max_ns} ns at most"
            ));
        }
    }
}

fn divergence(place: Place, cpu: u32, what: &'static str, kernel: u32, ours: Option<u32>) -> Divergence {
    let fields = vec![Field { name: "freq_khz", kernel: kernel.into(), ours: ours.unwrap_or(0).into() }];
    let (event, time_ns) = (place.event, place.time_ns);
    Divergence {
        event,
        time_ns,
        since_ns: time_ns,
        cpu,
        tid: 0,
        object: 0,
        signal: SIGNAL,
        what,
        before: Vec::new(),
        fields,
    }
}
