// SPDX-License-Identifier: GPL-2.0-or-later
//! Two runs beside one another: the first decision with another outcome.
//!
//! Outcomes are a request that changes, and a place that a fair task gets. Calls of the governor that change nothing
//! are none: kernels differ in how often they ask.

use pelton_core::{Placed, Record};
use pelton_schema::{Event, Sink};
use schemars::JsonSchema;
use serde::Serialize;

/// Outcomes of a run that are kept: a quarter of an hour of a busy phone, 100 MB.
const OUTCOMES_MAX: usize = 1 << 22;

/// Outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// A frequency is requested that was not requested before.
    Frequency {
        /// Time, ns since the start of the run.
        time_ns: u64,
        /// Frequency domain.
        domain: u32,
        /// Request, kHz.
        request_khz: u32,
    },
    /// A fair task gets a place.
    Placement {
        /// Time, ns since the start of the run.
        time_ns: u64,
        /// Number of the task, from 1.
        tid: u32,
        /// CPU.
        cpu: u32,
    },
}

impl Outcome {
    /// Time, ns since the start of the run.
    pub fn time_ns(self) -> u64 {
        match self {
            Outcome::Frequency { time_ns, .. } | Outcome::Placement { time_ns, .. } => time_ns,
        }
    }

    fn of_event(time_ns: u64, event: &Event) -> Option<Outcome> {
        match *event {
            Event::FreqDecision { domain, request_khz, changed, .. } if changed != 0 => {
                Some(Outcome::Frequency { time_ns, domain, request_khz })
            }
            _ => None,
        }
    }
}

/// Keeps the outcomes of a run.
#[derive(Debug, Default)]
pub struct Outcomes {
    kept: Vec<Outcome>,
}

impl Outcomes {
    fn add(&mut self, outcome: Outcome) {
        if self.kept.len() < OUTCOMES_MAX {
            self.kept.push(outcome);
        }
    }
}

impl Sink for Outcomes {
    const PLACEMENTS: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        Outcome::of_event(time_ns, event).into_iter().for_each(|outcome| self.add(outcome));
    }

    fn placement(&mut self, time_ns: u64, tid: u32, _: &Record, placed: &Placed) {
        self.add(Outcome::Placement { time_ns, tid, cpu: placed.cpu });
    }
}

/// Holds the outcomes of a run against those of another one.
#[derive(Debug)]
pub struct Against<'a> {
    other: &'a [Outcome],
    same: usize,
    found: Option<Option<Outcome>>,
}

impl<'a> Against<'a> {
    /// Against these.
    pub fn of(other: &'a Outcomes) -> Against<'a> {
        Against { other: &other.kept, same: 0, found: None }
    }

    /// True if all outcomes were compared up to the first that is another.
    pub fn is_whole(&self) -> bool {
        self.found.is_some() || self.same < OUTCOMES_MAX
    }

    /// Outcomes that are the same from the start on, and the first of each run that is not; `None`: it has none there.
    pub fn finish(self) -> (usize, [Option<Outcome>; 2]) {
        (self.same, [self.other.get(self.same).copied(), self.found.flatten()])
    }

    fn add(&mut self, outcome: Outcome) {
        if self.found.is_some() || self.same >= OUTCOMES_MAX {
            return;
        }
        match self.other.get(self.same) == Some(&outcome) {
            true => self.same += 1,
            false => self.found = Some(Some(outcome)),
        }
    }
}

impl Sink for Against<'_> {
    const PLACEMENTS: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        Outcome::of_event(time_ns, event).into_iter().for_each(|outcome| self.add(outcome));
    }

    fn placement(&mut self, time_ns: u64, tid: u32, _: &Record, placed: &Placed) {
        self.add(Outcome::Placement { time_ns, tid, cpu: placed.cpu });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequency(time_ns: u64, request_khz: u32) -> Outcome {
        Outcome::Frequency { time_ns, domain: 0, request_khz }
    }

    fn against(ours: &[Outcome], theirs: &[Outcome]) -> (usize, [Option<Outcome>; 2]) {
        let kept = Outcomes { kept: ours.to_vec() };
        let mut other = Against::of(&kept);
        theirs.iter().for_each(|&outcome| other.add(outcome));
        other.finish()
    }

    #[test]
    fn the_first_outcome_that_is_another_is_found() {
        let (a, b, c) = (frequency(1, 10), frequency(2, 20), frequency(2, 30));
        assert_eq!(against(&[a, b], &[a, c, b]), (1, [Some(b), Some(c)]));
        assert_eq!(against(&[a, b], &[a]), (1, [Some(b), None]), "one run has no more");
        assert_eq!(against(&[a], &[a, c]), (1, [None, Some(c)]));
        assert_eq!(against(&[a, b], &[a, b]), (2, [None, None]));
    }
}
