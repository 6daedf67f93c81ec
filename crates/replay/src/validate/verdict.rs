// SPDX-License-Identifier: GPL-2.0-or-later
//! Verdict of a report as a whole: a pass needs something that was checked, and little that was left open.

use super::report::Report;

/// Records that no search decided, and differences beside holes, may be so many of those checked, thousandths.
pub const OPEN_PERMILLE_MAX: u64 = 10;

/// Verdict of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything checked is as the core computes it.
    Holds,
    /// Not a single check was made.
    Nothing,
    /// Too little was decided, though nothing differs.
    Open,
    /// Something differs.
    Differs,
}

impl Verdict {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Nothing => "nothing-checked",
            Verdict::Open => "open",
            Verdict::Differs => "differs",
        }
    }
}

impl Report {
    /// The whole of it.
    pub fn verdict(&self) -> Verdict {
        if !self.agrees() {
            Verdict::Differs
        } else if self.compared() == 0 {
            Verdict::Nothing
        } else if self.is_open() {
            Verdict::Open
        } else {
            Verdict::Holds
        }
    }

    /// True when nothing diverges, and every comparison and prediction is inside its tolerance.
    fn agrees(&self) -> bool {
        self.divergent == 0
            && self.damaged == 0
            && self.comparisons.iter().all(|c| c.ok)
            && self.prediction.is_none_or(|(score, _)| score.ok())
    }

    /// All of it in a line that says the same as the verdict.
    pub fn summary(&self) -> String {
        if self.compared() == 0 && self.agrees() {
            return "nothing in this trace can be checked".to_owned();
        }
        let mut parts = vec![format!("{} updates checked, {} divergent", self.updates, self.divergent)];
        let outside = self.comparisons.iter().filter(|c| !c.ok).count();
        if !self.comparisons.is_empty() {
            parts.push(format!("{outside} of {} averages outside", self.comparisons.len()));
        }
        if let Some((score, _)) = self.prediction {
            let word = if score.ok() { "inside" } else { "outside" };
            parts.push(format!("{} changes of frequency from signals {word}", score.recorded));
        }
        if self.damaged > 0 {
            parts.push(format!("{} records with numbers no kernel can have", self.damaged));
        }
        if self.is_open() {
            let percent = OPEN_PERMILLE_MAX / 10;
            parts.push(format!("{} left open, more than {percent} % of the checked", self.left_open()));
        }
        parts.join(", ")
    }

    /// Whatever was held against the core: records, averages, frequency changes.
    pub fn compared(&self) -> u64 {
        let averages: u64 = self.comparisons.iter().map(|c| c.n).sum();
        self.updates + averages + self.prediction.map_or(0, |(score, _)| score.recorded)
    }

    /// Records that only a class explains which would have let errors pass, and differences over a stretch with a hole.
    pub fn left_open(&self) -> u64 {
        self.signals.values().map(|tally| self.undecided(tally)).sum::<u64>() + self.in_holes
    }

    /// True when more is left open than a pass allows.
    pub fn is_open(&self) -> bool {
        self.left_open() * 1000 > self.updates * OPEN_PERMILLE_MAX
    }

    /// Says what a trace of which nothing was checked does not have.
    pub(super) fn explain_nothing(&mut self) {
        if self.compared() > 0 {
            return;
        }
        let there = &self.survey;
        let counts = [
            ("load tracking", there.states + there.averages, NO_SUMS),
            ("run-queue clock", there.steps, "the trace has no steps of the clocks"),
            ("decisions of schedutil", there.choices + there.utils, "the trace has none"),
            ("energies of placements", there.energies, "the trace has none"),
            ("frequency changes", there.frequencies, "the trace has none"),
        ];
        counts.into_iter().filter(|(_, count, _)| *count == 0).for_each(|(what, _, none)| self.skip(what, none));
    }
}

/// Reason why load tracking is not checked in most traces.
pub(super) const NO_SUMS: &str = "the trace has neither sums nor averages";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::report::{Challenge, Tally};

    fn checked(updates: u64, undecided: u64, in_holes: u64) -> Report {
        let classes = [("attach", undecided)].into();
        let tally = Tally { checked: updates, exact: updates - undecided, classes, ..Tally::default() };
        let vague = Challenge { states: 1, asked: 6, explained: 6 };
        let (signals, challenges) = ([("queue", tally)].into(), [("attach", vague)].into());
        Report { updates, in_holes, signals, challenges, ..Report::default() }
    }

    #[test]
    fn nothing_checked_is_no_pass() {
        assert_eq!(Report::default().verdict(), Verdict::Nothing);
    }

    #[test]
    fn one_percent_may_be_left_open_and_not_more() {
        assert_eq!(checked(1000, 6, 4).verdict(), Verdict::Holds);
        assert_eq!(checked(1000, 7, 4).verdict(), Verdict::Open);
        assert_eq!(checked(1000, 0, 11).verdict(), Verdict::Open);
    }

    #[test]
    fn a_difference_is_one_however_much_is_open() {
        assert_eq!(Report { divergent: 1, ..checked(1000, 500, 0) }.verdict(), Verdict::Differs);
    }
}
