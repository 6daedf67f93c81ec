// SPDX-License-Identifier: GPL-2.0-or-later
//! Proof by differences: a CPU whose switches do not follow on one another did something that was not recorded, on its
//! own queues and perhaps, by waking and moving tasks, on those of other CPUs.
//!
//! A difference waits until every CPU has shown by a switch that follows on its last one that nothing of it is missing
//! for the stretch the difference is about.

use std::collections::{BTreeMap, VecDeque};

use super::report::{Divergence, Report};
use super::survey::CPUS_MAX;

/// Differences kept until they are decided; of more, the oldest count.
const WAITING_MAX: usize = 512;
/// Blind stretches remembered per CPU.
const STRETCHES_MAX: usize = 64;

/// Switches of one CPU.
#[derive(Clone, Debug, Default)]
struct Cpu {
    /// Up to when nothing is missing, or it is known what is.
    seen_ns: u64,
    blind: VecDeque<(u64, u64)>,
}

/// True when a difference is about a time in this stretch.
fn concerns(&(start, end): &(u64, u64), divergence: &Divergence) -> bool {
    start <= divergence.time_ns && divergence.since_ns <= end
}

/// Differences that are not decided yet.
#[derive(Debug, Default)]
pub struct Waiting {
    cpus: BTreeMap<u32, Cpu>,
    waiting: VecDeque<Divergence>,
}

impl Waiting {
    /// A difference.
    pub fn push(&mut self, report: &mut Report, divergence: Divergence) {
        if self.cpus.values().flat_map(|cpu| &cpu.blind).any(|stretch| concerns(stretch, &divergence)) {
            report.in_holes += 1;
            return;
        }
        if self.waiting.len() == WAITING_MAX
            && let Some(oldest) = self.waiting.pop_front()
        {
            report.differ(oldest);
        }
        self.waiting.push_back(divergence);
    }

    /// A switch that follows on the one before, or is the first.
    pub fn good_switch(&mut self, report: &mut Report, cpu: u32, time_ns: u64) {
        if self.cpus.len() < CPUS_MAX || self.cpus.contains_key(&cpu) {
            self.cpus.entry(cpu).or_default().seen_ns = time_ns;
        }
        self.decide(report);
    }

    /// A switch that does not follow, or a loss: the CPU did something unseen since its last switch.
    pub fn blind(&mut self, report: &mut Report, cpu: u32, time_ns: u64) {
        if self.cpus.len() >= CPUS_MAX && !self.cpus.contains_key(&cpu) {
            return;
        }
        let own = self.cpus.entry(cpu).or_default();
        if own.blind.len() == STRETCHES_MAX {
            own.blind.pop_front();
        }
        let stretch = (own.seen_ns, time_ns);
        own.blind.push_back(stretch);
        own.seen_ns = time_ns;
        let waited = self.waiting.len();
        self.waiting.retain(|divergence| !concerns(&stretch, divergence));
        report.in_holes += (waited - self.waiting.len()) as u64;
        self.decide(report);
    }

    /// Marks every CPU blind at this time.
    pub fn blind_all(&mut self, report: &mut Report, time_ns: u64) {
        let cpus: Vec<u32> = self.cpus.keys().copied().collect();
        cpus.into_iter().for_each(|cpu| self.blind(report, cpu, time_ns));
    }

    fn decide(&mut self, report: &mut Report) {
        if self.waiting.is_empty() {
            return;
        }
        let seen_ns = self.cpus.values().map(|cpu| cpu.seen_ns).min().unwrap_or(u64::MAX);
        self.waiting.retain(|divergence| {
            let decided = seen_ns > divergence.time_ns;
            if decided {
                report.differ(divergence.clone());
            }
            !decided
        });
    }

    /// The end of the trace: nothing can show any more that events were missing.
    pub fn finish(&mut self, report: &mut Report) {
        self.decide(report);
        for divergence in std::mem::take(&mut self.waiting) {
            report.differ(divergence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divergence(cpu: u32, since_ns: u64, time_ns: u64) -> Divergence {
        Divergence {
            event: time_ns,
            time_ns,
            since_ns,
            cpu,
            tid: 0,
            object: 1,
            signal: "queue",
            what: "test",
            before: Vec::new(),
            fields: Vec::new(),
        }
    }

    fn after(events: &[(u32, u64, bool)], divergence: Divergence) -> (u64, u64) {
        let (mut waiting, mut report) = (Waiting::default(), Report::default());
        let mut divergence = Some(divergence);
        for &(cpu, time_ns, good) in events {
            if divergence.as_ref().is_some_and(|d| d.time_ns < time_ns)
                && let Some(divergence) = divergence.take()
            {
                waiting.push(&mut report, divergence);
            }
            if good {
                waiting.good_switch(&mut report, cpu, time_ns);
            } else {
                waiting.blind(&mut report, cpu, time_ns);
            }
        }
        (report.divergent, report.in_holes)
    }

    #[test]
    fn a_difference_counts_when_every_cpu_followed_on() {
        let switches = [(0, 10, true), (1, 10, true), (0, 30, true), (1, 31, true)];
        assert_eq!(after(&switches, divergence(0, 15, 20)), (1, 0));
        assert_eq!(after(&switches[..3], divergence(0, 15, 20)), (0, 0), "CPU 1 has not shown it yet");
    }

    #[test]
    fn a_hole_of_another_cpu_in_the_stretch_proves_nothing() {
        let switches = [(0, 10, true), (1, 10, true), (0, 30, true), (1, 31, false)];
        assert_eq!(after(&switches, divergence(0, 15, 20)), (0, 1));
    }

    #[test]
    fn a_hole_before_the_stretch_excuses_nothing() {
        let switches = [(0, 10, true), (1, 8, true), (1, 12, false), (0, 30, true), (1, 31, true)];
        assert_eq!(after(&switches, divergence(0, 15, 20)), (1, 0));
    }
}
