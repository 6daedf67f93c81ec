// SPDX-License-Identifier: GPL-2.0-or-later
//! Several policies over several seeds.

use super::inputs::{InputRequest, policy_spec, prepare, prepare_again};
use super::ranges;
use crate::compare::{self, Comparison, is_answer};
use crate::experiment::file::SEEDS_MAX;
use crate::plan::Prepared;
use crate::run::{Fault, LabError};
use crate::watch::{Watch, watched};
use serde::{Deserialize, Serialize};

/// Request: policies and workloads to compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareRequest {
    /// Platform and workload; a range in an option is a workload for each of its values ([`super::ranges`]).
    pub input: InputRequest,
    /// Workloads beside that one.
    pub workloads: Vec<String>,
    /// Policy files or names, or profiles with switches; the first is the base of every change.
    pub policies: Vec<String>,
    /// Switches set in every policy.
    pub sets: Vec<String>,
    /// Repetitions, each with a seed of its own and random start phases.
    pub seeds: u64,
    /// The first seed; the others follow.
    pub first_seed: u64,
    /// Runs at the same time; 0 = one per CPU. It never changes a result.
    pub jobs: usize,
    /// Only these numbers, by name; none = all.
    pub only: Vec<String>,
    /// Energy, lateness, latency and transitions only; what `only` names comes first.
    pub summary: bool,
    /// Also the value of each seed.
    pub values: bool,
}

impl Default for CompareRequest {
    fn default() -> Self {
        CompareRequest {
            input: InputRequest::default(),
            workloads: Vec::new(),
            policies: Vec::new(),
            sets: Vec::new(),
            seeds: 10,
            first_seed: 1,
            jobs: 0,
            only: Vec::new(),
            summary: false,
            values: false,
        }
    }
}

/// Runs and compares.
///
/// # Errors
/// When an input is wrong, or the runs were stopped.
pub fn compare(request: &CompareRequest, watch: &dyn Watch) -> Result<Comparison, LabError> {
    let mut comparison = compare_all(request, watch)?;
    request.narrow(&mut comparison);
    Ok(comparison)
}

/// Compares as [`compare()`] does, with every number, whichever are requested.
///
/// # Errors
/// As [`compare()`].
pub fn compare_all(request: &CompareRequest, watch: &dyn Watch) -> Result<Comparison, LabError> {
    compare_planned(request, &planned(request, watch)?, watch)
}

/// Plans of a comparison: a plan for each side.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Workloads, as given; a range is a workload for each value.
    workloads: Vec<String>,
    /// Of each workload, every policy.
    pub plans: Vec<Prepared>,
}

/// Plans a comparison; warnings and notes go to `watch`.
///
/// # Errors
/// When an input is wrong.
pub fn planned(request: &CompareRequest, watch: &dyn Watch) -> Result<Planned, LabError> {
    if !(1..=SEEDS_MAX).contains(&request.seeds) {
        let reason = format!("{} seeds are out of range", request.seeds);
        return Err(LabError::refused(Fault::Request, reason, &format!("allowed: 1..={SEEDS_MAX}")));
    }
    if request.policies.is_empty() {
        return Err(LabError::refused(Fault::Request, "there is no policy", "name one at least, as 7.2"));
    }
    let given = std::iter::once(&request.input.workload).chain(&request.workloads);
    let workloads = given.map(|text| ranges::workloads(text)).collect::<Result<Vec<_>, _>>()?.concat();
    let mut plans = Vec::new();
    for workload in &workloads {
        let is_text = *workload == request.input.workload;
        let workload_text = request.input.workload_text.clone().filter(|_| is_text);
        let input = InputRequest { workload: workload.clone(), workload_text, ..request.input.clone() };
        for (i, text) in request.policies.iter().enumerate() {
            let make = if i == 0 { prepare } else { prepare_again };
            plans.push(make(&input.inputs(1, true), &policy_spec(text, &request.sets), watch)?);
        }
    }
    Ok(Planned { workloads, plans })
}

/// Compares what was planned.
///
/// # Errors
/// When the runs were stopped, or inputs do not go together.
pub fn compare_planned(request: &CompareRequest, planned: &Planned, watch: &dyn Watch) -> Result<Comparison, LabError> {
    let Planned { workloads, plans } = planned;
    let sides = compare::sides(&request.policies, workloads);
    let seeds: Vec<u64> = (0..request.seeds).map(|i| request.first_seed.wrapping_add(i)).collect();
    let total_ns =
        plans.iter().map(|p| p.plan.config.duration_ns.saturating_mul(request.seeds)).fold(0, u64::saturating_add);
    let mut comparison =
        watched(watch, total_ns, "compare", |control| compare::compare(&sides, plans, &seeds, request.jobs, control))?;
    if !request.values {
        comparison.rows.iter_mut().flat_map(|row| &mut row.cells).for_each(|cell| cell.values.clear());
    }
    Ok(comparison)
}

impl CompareRequest {
    /// Leaves the numbers that are asked for.
    pub fn narrow(&self, comparison: &mut Comparison) {
        if !self.only.is_empty() {
            comparison.rows.retain(|row| self.only.iter().any(|name| name == row.quantity));
        } else if self.summary {
            comparison.rows.retain(is_answer);
        }
    }
}
