// SPDX-License-Identifier: GPL-2.0-or-later
//! One simulation and its numbers.

use super::inputs::{InputRequest, prepare};
use crate::kernel::decided::Decided;
use crate::measure::summary::{self, RunSummary};
use crate::plan::{PolicySpec, Prepared};
use crate::run::{LabError, run_one};
use crate::watch::{Watch, watched};
use pelton_model::Plan;
use pelton_model::groups::group_paths;
use pelton_schema::{NullSink, Sink};
use pelton_sim::{Report, worker_names};
use pelton_trace::{CpuLayout, DomainLayout, RunHeader};
use serde::{Deserialize, Serialize};

/// Request: a run and its outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunRequest {
    /// Platform and workload.
    pub input: InputRequest,
    /// Policy.
    pub policy: PolicySpec,
    /// Seed of all randomness.
    pub seed: u64,
    /// Start tasks and ticks at random phases drawn from the seed.
    pub random_phase: bool,
}

impl Default for RunRequest {
    fn default() -> Self {
        RunRequest { input: InputRequest::default(), policy: PolicySpec::default(), seed: 1, random_phase: true }
    }
}

impl RunRequest {
    /// The plan that it asks for.
    ///
    /// # Errors
    /// What is wrong with an input.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<Prepared, LabError> {
        prepare(&self.input.inputs(self.seed, self.random_phase), &self.policy, watch)
    }
}

/// Runs it.
///
/// # Errors
/// When an input is wrong, does not go together with the others, or the run was stopped.
pub fn run(request: &RunRequest, watch: &dyn Watch) -> Result<RunSummary, LabError> {
    let prepared = request.prepare(watch)?;
    let report = run_into(&prepared, request.seed, NullSink, watch)?;
    Ok(summary_of(&prepared, &report))
}

/// Runs a plan, its events going to `sink`.
///
/// # Errors
/// When the inputs do not go together or the run was stopped.
pub fn run_into(prepared: &Prepared, seed: u64, sink: impl Sink, watch: &dyn Watch) -> Result<Report, LabError> {
    let plan = &prepared.plan;
    watched(watch, plan.config.duration_ns, "run", |control| run_one(plan, seed, sink, control))
}

/// Decisions of a kernel's own code in which the core differs that a result has, at most.
const DIFFERENCES_SHOWN: usize = 10;

/// The result of a run.
pub fn summary_of(prepared: &Prepared, report: &Report) -> RunSummary {
    let header = summary::header(prepared, report.duration_ns);
    let kernel = Decided::of(prepared, report, DIFFERENCES_SHOWN);
    RunSummary { kernel, ..summary::summarise(header, &prepared.plan.machine, report) }
}

/// Facts about the run that readers of its files need.
pub fn trace_header(prepared: &Prepared) -> RunHeader {
    let plan = &prepared.plan;
    let cpus = plan.machine.cpus.iter().map(|c| CpuLayout { capacity: c.capacity, domain: c.domain });
    let domains = plan.machine.domains.iter();
    RunHeader {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario_hash: plan.hash,
        core_hash: u64::from_str_radix(pelton_core::CORE_HASH, 16).unwrap_or(0),
        seed: plan.config.seed,
        duration_ns: plan.config.duration_ns,
        platform: plan.machine.name.clone(),
        workload: plan.workload.name.clone(),
        profile: prepared.policy.profile.clone(),
        policy: prepared.kernel_and_changes(),
        tasks: task_names(plan),
        cpus: cpus.collect(),
        domains: domains
            .map(|d| DomainLayout { name: d.name.clone(), opps_khz: d.opps.iter().map(|o| o.khz).collect() })
            .collect(),
        groups: group_names(plan),
        ..RunHeader::default()
    }
}

/// Paths of task groups by number, the root first; none when there is only the root.
fn group_names(plan: &Plan) -> Vec<String> {
    let paths = group_paths(&plan.workload).unwrap_or_default();
    let root = (!paths.is_empty()).then(|| "/".to_owned());
    root.into_iter().chain(paths).collect()
}

/// Names by task id: 0 is idle, then the workload's tasks in order, then the worker of each domain that has one.
fn task_names(plan: &Plan) -> Vec<String> {
    let workers = worker_names(&plan.machine, &plan.policy);
    let tasks = plan.workload.tasks.iter().map(|t| t.name.clone());
    std::iter::once("swapper".to_owned()).chain(tasks).chain(workers).collect()
}
