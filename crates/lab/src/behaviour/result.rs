// SPDX-License-Identifier: GPL-2.0-or-later
//! Verdicts on the claims of a behaviour file: the machine-readable result of `check`.

use super::measure::Measured;
use crate::round;
use pelton_scenario::behaviour::{Behaviour, Claim};
use schemars::JsonSchema;
use serde::Serialize;

/// A behaviour, judged on some boards.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Checked {
    /// Name of the behaviour.
    pub behaviour: String,
    /// Its question.
    pub question: String,
    /// Origins of the question.
    pub sources: Vec<String>,
    /// Policy of the runs, or the kernel of the recording as far as the trace names it.
    pub policy: String,
    /// The recording that was judged; `None` (null): runs of the simulator.
    pub trace: Option<String>,
    /// Runs on each board.
    pub seeds: u64,
    /// Length of one run, ms.
    pub duration_ms: u32,
    /// The claims.
    pub claims: Vec<Claimed>,
    /// Verdicts, by board.
    pub boards: Vec<BoardVerdicts>,
    /// Counts of the verdicts.
    pub score: VerdictCounts,
    /// Worlds that are wrong on purpose, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrong_worlds: Vec<WrongWorldResult>,
    /// Facts about the recording that a reader needs before believing the verdicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A claim, as the file has it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Claimed {
    /// Unique in its file.
    pub id: String,
    /// The claim, for people.
    pub text: String,
    /// The number.
    pub measure: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Task; `None` (null): all.
    pub task: Option<String>,
    /// Class of CPUs, where the measure is about one.
    pub on: Option<&'static str>,
    /// Least value with which it holds.
    pub min: Option<f64>,
    /// Greatest value with which it holds.
    pub max: Option<f64>,
    /// Begin of what is measured, ms after the tasks appear.
    pub from_ms: u32,
    /// End of it.
    pub to_ms: u32,
}

/// Verdicts on one board.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BoardVerdicts {
    /// Board.
    pub board: String,
    /// One for each claim, in order.
    pub verdicts: Vec<ClaimVerdict>,
}

/// Verdict on one claim.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimVerdict {
    /// The claim.
    pub id: String,
    /// Outcome.
    pub verdict: Holds,
    /// Value of the run that is nearest to missing the claim, or misses it most; `None` (null): not measured.
    pub value: Option<f64>,
    /// Values of all runs, by seed.
    pub values: Vec<f64>,
    /// Reason why it is not measured.
    pub reason: Option<String>,
}

/// Outcome of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The number of every run is in the range.
    Holds,
    /// The number of some run is outside.
    Fails,
    /// No number.
    NotMeasured,
}

impl Holds {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Holds::Holds => "holds",
            Holds::Fails => "fails",
            Holds::NotMeasured => "not measured",
        }
    }
}

/// Counts of verdicts over all boards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCounts {
    /// Claims that hold.
    pub holds: u64,
    /// Claims that fail.
    pub fails: u64,
    /// Claims that were not measured.
    pub not_measured: u64,
    /// Claims of the file that were measured on no board.
    pub measured_nowhere: u64,
}

/// A world that is wrong on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WrongWorldResult {
    /// Name.
    pub name: String,
    /// Fault of the world.
    pub why: String,
    /// Boards on which some claim fails that holds in the right world.
    pub rejected_on: Vec<String>,
    /// Boards on which none does.
    pub accepted_on: Vec<String>,
    /// Claims that notice on some board.
    pub claims: Vec<String>,
}

impl Claimed {
    /// The claims of a file.
    pub fn of(behaviour: &Behaviour) -> Vec<Claimed> {
        let task = |at: Option<usize>| at.and_then(|at| behaviour.tasks.get(at)).map(|task| task.name.value.clone());
        let of = |claim: &Claim| Claimed {
            id: claim.id.value.clone(),
            text: claim.text.clone(),
            measure: claim.measure.word(),
            unit: claim.measure.unit(),
            task: task(claim.task),
            on: claim.on.map(|class| class.word()),
            min: claim.min,
            max: claim.max,
            from_ms: claim.from_ms,
            to_ms: claim.to_ms,
        };
        behaviour.claims.iter().map(of).collect()
    }

    /// Distance of a value from the nearest bound, below 0 outside of the range.
    fn room(&self, value: f64) -> f64 {
        let below = self.min.map_or(f64::INFINITY, |min| value - min);
        let above = self.max.map_or(f64::INFINITY, |max| max - value);
        below.min(above)
    }

    /// The verdict on the numbers of all runs.
    pub fn judge(&self, runs: &[Measured]) -> ClaimVerdict {
        let id = self.id.clone();
        if let Some(reason) = runs.iter().find_map(|run| run.as_ref().err()) {
            let verdict = Holds::NotMeasured;
            return ClaimVerdict { id, verdict, value: None, values: Vec::new(), reason: Some(reason.clone()) };
        }
        let values: Vec<f64> = runs.iter().flatten().map(|value| round(*value)).collect();
        let worst = values.iter().copied().min_by(|a, b| self.room(*a).total_cmp(&self.room(*b)));
        let verdict = match worst {
            None => Holds::NotMeasured,
            Some(value) if self.room(value) >= 0.0 => Holds::Holds,
            Some(_) => Holds::Fails,
        };
        ClaimVerdict { id, verdict, value: worst, values, reason: None }
    }
}

impl VerdictCounts {
    /// Of all boards.
    pub fn of(boards: &[BoardVerdicts], claims: usize) -> VerdictCounts {
        let all = || boards.iter().flat_map(|board| &board.verdicts);
        let count = |wanted: Holds| all().filter(|verdict| verdict.verdict == wanted).count() as u64;
        let is_measured =
            |at: &usize| boards.iter().any(|board| board.verdicts.get(*at).is_some_and(|v| v.value.is_some()));
        VerdictCounts {
            holds: count(Holds::Holds),
            fails: count(Holds::Fails),
            not_measured: count(Holds::NotMeasured),
            measured_nowhere: (0..claims).filter(|at| !is_measured(at)).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(min: Option<f64>, max: Option<f64>) -> Claimed {
        let (id, text) = ("c".to_owned(), String::new());
        Claimed { id, text, measure: "m", unit: "%", task: None, on: None, min, max, from_ms: 0, to_ms: 1 }
    }

    #[test]
    fn the_run_that_misses_most_decides() {
        let verdict = claimed(Some(90.0), None).judge(&[Ok(99.0), Ok(80.0), Ok(85.0)]);
        assert_eq!((verdict.verdict, verdict.value), (Holds::Fails, Some(80.0)));
        let verdict = claimed(Some(10.0), Some(20.0)).judge(&[Ok(15.0), Ok(20.0)]);
        assert_eq!((verdict.verdict, verdict.value), (Holds::Holds, Some(20.0)));
    }

    #[test]
    fn a_run_without_a_number_is_no_pass() {
        let verdict = claimed(Some(90.0), None).judge(&[Ok(99.0), Err("no event".into())]);
        assert_eq!((verdict.verdict, verdict.reason.as_deref()), (Holds::NotMeasured, Some("no event")));
        assert_eq!(claimed(None, Some(1.0)).judge(&[]).verdict, Holds::NotMeasured);
    }

    #[test]
    fn a_claim_that_no_board_measures_is_counted() {
        let judged = |runs: &[Measured]| vec![claimed(Some(1.0), None).judge(runs)];
        let board = |verdicts| BoardVerdicts { board: "b".into(), verdicts };
        let none = VerdictCounts::of(&[board(judged(&[Err("x".into())]))], 1);
        assert_eq!((none.not_measured, none.measured_nowhere), (1, 1));
        let some = VerdictCounts::of(&[board(judged(&[Err("x".into())])), board(judged(&[Ok(2.0)]))], 1);
        assert_eq!((some.holds, some.not_measured, some.measured_nowhere), (1, 1, 0));
    }
}
