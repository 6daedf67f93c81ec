// SPDX-License-Identifier: GPL-2.0-or-later
//! Use of every event that a trace can have: it is checked, or a report says that it was not and why.

use pelton_schema::{EVENTS, Event};

use super::coarse::{COMPARED_CPUS, COMPARED_DL, COMPARED_GROUPS, COMPARED_RT, COMPARED_TASKS};
use super::report::Report;

/// Use of an event in a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// These signals of a report hold it against the core; why none did, where none did.
    Signals(&'static [&'static str], &'static str),
    /// These comparisons do.
    Averages(&'static [&'static str]),
    /// Something that happened, taken as it is.
    Input,
    /// Never held against the core, for this reason.
    Never(&'static str),
}

const NO_STATE_BEFORE: &str = "each object is shown once: nothing to hold it against";
const OTHER_TABLE: &str = "what it was made of is not in the event: `pelton record` has tables that tell it";
const THERMAL: &str = "temperatures are inputs of the kernel, and what it was made of is not in the event";
const OF_A_RUN: &str = "a figure of the simulated machine: no kernel computes it";

/// Use of an event in a validation; a new event has to be given one here.
pub fn use_of(event: &Event) -> Use {
    use Use::{Averages, Input, Never, Signals};
    match event {
        Event::PeltState { .. } => Signals(
            &["entity", "blocked_entity", "queue", "rt", "dl", "irq", "hw", "chain", "hand_up", "reweight"],
            NO_STATE_BEFORE,
        ),
        Event::RqClockStep { .. } => Signals(&["rq_clock", "rq_clock_chain", "lost_idle"], "no step could be followed"),
        Event::UtilEst { .. } => Signals(&["util_est"], "no estimate of a task is shown twice"),
        Event::EffectivePerf { .. } => Signals(&["effective_perf"], "none could be followed"),
        Event::EffectiveUtil { .. } => Signals(&["effective_util"], "no target that was made of it is in the trace"),
        Event::NextFreq { .. } => Signals(&["raw_freq", "next_freq", "freq_commit"], "none could be followed"),
        Event::FreqDecision { .. } => Signals(&["raw_freq", "next_freq"], "the machine of the run is not known"),
        Event::CpuFrequency { .. } => Signals(&["cpu_frequency"], "no choice or signal is recorded beside it"),
        Event::ComputeEnergy { .. } => Signals(&["energy"], "none could be recomputed"),
        Event::PeltSe { .. } => Averages(COMPARED_TASKS),
        Event::PeltCfs { .. } => Averages(COMPARED_CPUS),
        Event::PeltGroup { .. } => Averages(COMPARED_GROUPS),
        Event::PeltRt { .. } => Averages(COMPARED_RT),
        Event::PeltDl { .. } => Averages(COMPARED_DL),
        Event::PeltIrq { .. } => Never("the time in interrupts that each update was fed with is not in the trace"),
        Event::PeltHw { .. } => Never("the pressure that each update was fed with is not in the trace"),
        Event::CpuCapacity { .. } => Never("the averages that it was made of at that moment are not in the event"),
        Event::SchedOverutilized { .. } => Never("the capacities and clamps that it was made of are not in the event"),
        Event::SelectTaskRq { .. } | Event::TaskUclamp { .. } => Never(OTHER_TABLE),
        Event::ThermalTemperature { .. } | Event::ThermalPower { .. } | Event::CdevUpdate { .. } => Never(THERMAL),
        Event::DomainPower { .. } | Event::TaskActivation { .. } => Never(OF_A_RUN),
        Event::SchedSwitch { .. }
        | Event::SchedWaking { .. }
        | Event::SchedWakeup { .. }
        | Event::SchedWakeupNew { .. }
        | Event::SchedMigrateTask { .. }
        | Event::SchedProcessFork { .. }
        | Event::SchedProcessExit { .. }
        | Event::NrRunning { .. }
        | Event::CpuIdle { .. }
        | Event::CpuFrequencyLimits { .. }
        | Event::IrqEntry { .. }
        | Event::IrqExit { .. }
        | Event::SoftirqEntry { .. }
        | Event::SoftirqExit { .. }
        | Event::TaskName { .. }
        | Event::TaskAttributes { .. }
        | Event::TaskGroup { .. }
        | Event::CfsThrottle { .. }
        | Event::LostEvents { .. }
        | Event::RqClock { .. }
        | Event::PeltBefore { .. }
        | Event::PeltPending { .. } => Input,
    }
}

/// Any event with this code.
fn of_code(code: u8, columns: usize) -> Option<Event> {
    Event::from_values(code, &vec![0; columns])
}

impl Report {
    /// True when something of this event was held against the core.
    fn checks(&self, event: &Event) -> bool {
        let signal = |name: &&str| self.signals.get(name).is_some_and(|tally| tally.checked > 0);
        let average = |name: &&str| self.comparisons.iter().any(|c| c.what.starts_with(*name) && c.n > 0);
        match use_of(event) {
            Use::Signals(signals, _) if signals.iter().any(signal) => true,
            Use::Signals(..) => matches!(event, Event::CpuFrequency { .. }) && self.prediction.is_some(),
            Use::Averages(what) => what.iter().any(average),
            Use::Input | Use::Never(_) => false,
        }
    }

    /// Says of every event of the trace that was not checked why it was not; what is an input stands in one line.
    pub(super) fn explain_unchecked(&mut self) {
        let mut inputs = Vec::new();
        let seen: Vec<_> = EVENTS.iter().filter(|info| self.survey.has(info.code)).collect();
        for info in seen {
            let Some(event) = of_code(info.code, info.columns.len()).filter(|event| !self.checks(event)) else {
                continue;
            };
            match use_of(&event) {
                Use::Input => inputs.push(info.name),
                Use::Never(why) | Use::Signals(_, why) => self.skip(info.name, why),
                Use::Averages(_) => {
                    self.skip(info.name, "no average could be rebuilt: that takes the schedule before it");
                }
            }
        }
        if !inputs.is_empty() {
            self.skip(&inputs.join(", "), "inputs: what they say is taken as it is");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::survey::Survey;

    /// A report about a trace with just these events, of which nothing was checked.
    fn unchecked(codes: &[u8]) -> Report {
        let mut survey = Survey::default();
        for info in EVENTS.iter().filter(|info| codes.contains(&info.code)) {
            survey.event(&of_code(info.code, info.columns.len()).expect("zeros fit every column"));
        }
        let mut report = Report { survey, ..Report::default() };
        report.explain_unchecked();
        report
    }

    #[test]
    fn every_event_that_is_not_checked_is_listed() {
        for info in EVENTS {
            let report = unchecked(&[info.code]);
            assert_eq!(report.not_measured.keys().collect::<Vec<_>>(), [info.name]);
        }
        let all: Vec<u8> = EVENTS.iter().map(|info| info.code).collect();
        let told: Vec<String> = unchecked(&all).not_measured.into_keys().collect();
        let told = told.join(", ");
        assert!(EVENTS.iter().all(|info| told.split(", ").any(|name| name == info.name)), "{told}");
    }

    #[test]
    fn a_checked_event_is_not_listed() {
        let mut report = unchecked(&[]);
        report.agree("util_est", "");
        let estimate = of_code(27, 7).expect("util_est has seven columns");
        report.survey.event(&estimate);
        report.explain_unchecked();
        assert_eq!(report.not_measured.len(), 0, "{:?}", report.not_measured);
    }
}
