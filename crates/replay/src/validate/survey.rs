// SPDX-License-Identifier: GPL-2.0-or-later
//! Contents of a trace, noted while it is read the first time: they decide what a second reading can compare.

use std::collections::{BTreeMap, BTreeSet};

use pelton_schema::Event;

/// Most CPUs that are counted apart; a damaged trace may name any number.
pub const CPUS_MAX: usize = crate::workload::CPUS_MAX as usize;

/// Most frequencies of a CPU that are counted apart.
const FREQUENCIES_MAX: usize = 1024;

/// Contents of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Kinds of events, a bit for each code.
    seen: u64,
    /// Frequencies each CPU was set to, kHz.
    pub set_khz: BTreeMap<u32, BTreeSet<u32>>,
    /// Highest frequency each CPU was set to, kHz.
    pub max_khz: BTreeMap<u32, u32>,
    /// CPUs with switches.
    pub switched: BTreeSet<u32>,
    /// Averages of tasks, queues and classes.
    pub averages: u64,
    /// Complete states.
    pub states: u64,
    /// Sums of utilization as the governor had them.
    pub utils: u64,
    /// Choices of the governor.
    pub choices: u64,
    /// Decisions of a governor of ours, complete.
    pub decisions: u64,
    /// Frequency changes.
    pub frequencies: u64,
    /// Steps of the run-queue clocks.
    pub steps: u64,
    /// Energies of placements.
    pub energies: u64,
    /// Averages of task groups.
    pub groups: u64,
    /// Averages of load in events of their own, without a runnable ratio.
    pub load_only: u64,
    /// Averages of time in interrupts: a kernel that has them takes that time out of every other signal.
    pub interrupts: u64,
}

impl Survey {
    /// The next event.
    pub fn event(&mut self, event: &Event) {
        self.seen |= 1 << (event.code() % 64);
        match *event {
            Event::SchedSwitch { cpu, .. } if self.switched.len() < CPUS_MAX => drop(self.switched.insert(cpu)),
            Event::CpuFrequency { cpu, freq_khz } => {
                self.frequencies += 1;
                if self.max_khz.len() < CPUS_MAX || self.max_khz.contains_key(&cpu) {
                    let max = self.max_khz.entry(cpu).or_default();
                    *max = (*max).max(freq_khz);
                    let set = self.set_khz.entry(cpu).or_default();
                    if set.len() < FREQUENCIES_MAX {
                        set.insert(freq_khz);
                    }
                }
            }
            Event::PeltSe { runnable_avg, load_avg, .. } | Event::PeltCfs { runnable_avg, load_avg, .. } => {
                self.averages += 1;
                self.load_only += u64::from(runnable_avg == 0 && load_avg != 0);
            }
            Event::PeltRt { .. } | Event::PeltDl { .. } => self.averages += 1,
            Event::PeltIrq { .. } => self.interrupts += 1,
            Event::PeltGroup { .. } => self.groups += 1,
            Event::PeltState { .. } => self.states += 1,
            Event::EffectiveUtil { .. } => self.utils += 1,
            Event::NextFreq { .. } => self.choices += 1,
            Event::FreqDecision { .. } => self.decisions += 1,
            Event::RqClockStep { .. } => self.steps += 1,
            Event::ComputeEnergy { .. } => self.energies += 1,
            _ => {}
        }
    }

    /// True when the trace has an event with this code.
    pub fn has(&self, code: u8) -> bool {
        self.seen >> (code % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use pelton_schema::EVENTS;

    #[test]
    fn every_event_has_a_bit_of_its_own() {
        assert!(EVENTS.iter().all(|info| info.code < 64));
    }
}
