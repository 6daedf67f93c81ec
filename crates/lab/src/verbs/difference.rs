// SPDX-License-Identifier: GPL-2.0-or-later
//! The first decision that differs between two runs, what both were made of, and what it cost.

use super::explain::{frequency_in, place_in};
use super::inputs::{InputRequest, prepare, prepare_again};
use super::run::run_into;
use crate::compare::difference::{Against, Outcome, Outcomes};
use crate::explain::{frequency, placement};
use crate::measure::quantity::{QUANTITIES, Read};
use crate::measure::stats;
use crate::measure::summary::{self, RunHeader};
use crate::plan::{PolicySpec, Prepared};
use crate::round;
use crate::run::LabError;
use crate::watch::Watch;
use pelton_model::Plan;
use pelton_sim::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request: two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DifferenceRequest {
    /// Platform and workload of both.
    pub input: InputRequest,
    /// Policies.
    pub policies: [PolicySpec; 2],
    /// Seeds.
    pub seeds: [u64; 2],
    /// Start tasks and ticks at random phases drawn from the seed.
    pub random_phase: bool,
}

impl Default for DifferenceRequest {
    fn default() -> Self {
        let (input, policies) = (InputRequest::default(), Default::default());
        DifferenceRequest { input, policies, seeds: [1, 1], random_phase: true }
    }
}

/// Two runs, and where they part.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Difference {
    /// The runs.
    pub runs: [RunHeader; 2],
    /// Outcomes that are the same from the start on: changes of requests, and places.
    pub same_outcomes: usize,
    /// True where all of them were compared up to the first that is not; false: more than four million are the same.
    pub is_whole: bool,
    /// The first that is not; `None`: there is none among those compared.
    pub first: Option<First>,
    /// Numbers of the whole run that differ: all of that came after.
    pub cost: Vec<CostRow>,
}

/// First decision that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct First {
    /// Time, ns since the start of the run: of the earlier of both outcomes.
    pub time_ns: u64,
    /// Subject: a frequency domain, or a task.
    pub of: String,
    /// Decisions of both runs there.
    pub sides: [Side; 2],
}

/// Decision of one of the runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Side {
    /// First outcome that the other run does not have; `None`: there is none any more.
    pub outcome: Option<Outcome>,
    /// The last frequency decision of the domain up to that time, whether it changed something or not; `None`: it is
    /// about a placement, or there was none.
    pub frequency: Option<frequency::Explanation>,
    /// The last placement of the task up to that time; `None`: it is about a frequency, or there was none.
    pub placement: Option<placement::Explanation>,
}

/// A number of both runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostRow {
    /// Name of the quantity.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Value in each run.
    pub values: [f64; 2],
    /// Change against the first run, percent; `None`: that is 0.
    pub change_pct: Option<f64>,
}

/// Finds the first decision that differs.
///
/// # Errors
/// When an input is wrong, inputs do not go together, or a run was stopped.
pub fn difference(request: &DifferenceRequest, watch: &dyn Watch) -> Result<Difference, LabError> {
    let [a, b] = &request.policies;
    let inputs = |seed| request.input.inputs(seed, request.random_phase);
    let first = prepare(&inputs(request.seeds[0]), a, watch)?;
    let second = prepare_again(&inputs(request.seeds[1]), b, watch)?;
    if [&first, &second].iter().any(|side| side.policy.kernel.is_some()) {
        watch.note("a kernel's own code decides; terms that its structures do not keep are the core's");
    }
    Base::of(&first, request.seeds[0], watch)?.against(&second, request.seeds[1], watch)
}

/// Run that others are held against.
#[derive(Debug)]
pub struct Base<'a> {
    prepared: &'a Prepared,
    seed: u64,
    report: Report,
    outcomes: Outcomes,
}

impl<'a> Base<'a> {
    /// Runs it.
    ///
    /// # Errors
    /// When it was stopped, or inputs do not go together.
    pub fn of(prepared: &'a Prepared, seed: u64, watch: &dyn Watch) -> Result<Base<'a>, LabError> {
        let mut outcomes = Outcomes::default();
        let report = run_into(prepared, seed, &mut outcomes, watch)?;
        Ok(Base { prepared, seed, report, outcomes })
    }

    /// Finds the first decision in which the run of another plan differs.
    ///
    /// # Errors
    /// When a run was stopped, or inputs do not go together.
    pub fn against(&self, other: &Prepared, seed: u64, watch: &dyn Watch) -> Result<Difference, LabError> {
        let mut against = Against::of(&self.outcomes);
        let theirs = run_into(other, seed, &mut against, watch)?;
        let is_whole = against.is_whole();
        let (same_outcomes, parted) = against.finish();
        let (plans, seeds) = ([self.prepared, other], [self.seed, seed]);
        let earlier = parted.iter().flatten().copied().min_by_key(|outcome| outcome.time_ns());
        let first = earlier.map(|outcome| first_of(outcome, parted, plans, seeds, watch)).transpose()?;
        let run = |at: usize, report: &Report| summary::header(plans[at], report.duration_ns);
        let runs = [run(0, &self.report), run(1, &theirs)];
        Ok(Difference { runs, same_outcomes, is_whole, first, cost: cost(&self.report, &theirs) })
    }
}

fn first_of(
    outcome: Outcome,
    parted: [Option<Outcome>; 2],
    plans: [&Prepared; 2],
    seeds: [u64; 2],
    watch: &dyn Watch,
) -> Result<First, LabError> {
    let time_ns = outcome.time_ns();
    let side = |at: usize| -> Result<Side, LabError> {
        let plan = up_to(&plans[at].plan, time_ns);
        let (mut frequency, mut placement) = (None, None);
        match outcome {
            Outcome::Frequency { domain, .. } => {
                // At the same instant calls may follow that change nothing: of the side that changed it is the change.
                let changes = |own: Outcome| matches!(own, Outcome::Frequency { time_ns: at, domain: d, .. } if (at, d) == (time_ns, domain));
                let changed = parted[at].is_some_and(changes);
                frequency = frequency_in(&plan, seeds[at], (domain, changed), watch)?;
            }
            Outcome::Placement { tid, .. } => placement = place_in(&plan, seeds[at], tid, watch)?,
        }
        Ok(Side { outcome: parted[at], frequency, placement })
    };
    Ok(First { time_ns, of: subject(outcome, &plans[0].plan), sides: [side(0)?, side(1)?] })
}

/// The plan of a run that ends there. What happens at the last nanosecond is part of it; 0 would be the whole length.
fn up_to(plan: &Plan, time_ns: u64) -> Plan {
    let mut plan = plan.clone();
    plan.config.duration_ns = time_ns.max(1);
    plan
}

fn subject(outcome: Outcome, plan: &Plan) -> String {
    match outcome {
        Outcome::Frequency { domain, .. } => {
            plan.machine.domains.get(domain as usize).map_or_else(|| domain.to_string(), |d| d.name.clone())
        }
        Outcome::Placement { tid, .. } => super::explain::task_name(plan, tid),
    }
}

/// Numbers of the whole run that both have and that differ.
fn cost(ours: &Report, theirs: &Report) -> Vec<CostRow> {
    let row = |q: &crate::measure::quantity::Quantity| {
        let Read::Run(read) = q.read else { return None };
        let values = [read(ours)?, read(theirs)?];
        let change_pct = stats::percent_change(values[0], values[1]).map(round);
        (values[0] != values[1]).then(|| CostRow {
            quantity: q.name,
            unit: q.unit,
            values: values.map(round),
            change_pct,
        })
    };
    QUANTITIES.iter().filter_map(row).collect()
}
