// SPDX-License-Identifier: GPL-2.0-or-later
//! One frequency decision with every term filled in, or one placement with every CPU the task could have gone to.

use super::inputs::{InputRequest, prepare};
use crate::explain::frequency::{self, Context};
use crate::explain::placement::{self, PlacementSink};
use crate::explain::upkeep::{
    BalanceExplanation, BalanceSink, ThermalExplanation, ThermalSink, WalkExplanation, WantedBalance, explain_balance,
    explain_reading, explain_walk,
};
use crate::explain::{ExplainSink, GroupChanged, GroupSink, Wanted};
use crate::measure::summary::{self, RunHeader};
use crate::number::human_ns;
use crate::plan::gate::gate_times;
use crate::plan::{PolicySpec, PowerWords};
use crate::run::{Fault, LabError, run_one};
use crate::watch::{Watch, watched};
use pelton_model::Plan;
use pelton_model::groups::group_paths;
use pelton_schema::{Sink, TeeSink};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request: a run, and the decision of it to explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExplainRequest {
    /// Platform and workload.
    pub input: InputRequest,
    /// Policy.
    pub policy: PolicySpec,
    /// Seed of all randomness.
    pub seed: u64,
    /// Start tasks and ticks at random phases drawn from the seed.
    pub random_phase: bool,
    /// The last decision at or before this time, ns; none = the last of the run.
    pub at_ns: Option<u64>,
    /// Only decisions of this frequency domain.
    pub domain: Option<u32>,
    /// Only decisions of this CPU's frequency domain.
    pub cpu: Option<u32>,
    /// The last decision that changed the frequency.
    pub changed: bool,
    /// The last call that the gate refused, or whose change it held.
    pub held: bool,
    /// Of placements: the task; empty = any task. Read by [`placement()`] alone.
    pub task: String,
}

impl Default for ExplainRequest {
    fn default() -> Self {
        ExplainRequest {
            input: InputRequest::default(),
            policy: PolicySpec::default(),
            seed: 1,
            random_phase: true,
            at_ns: None,
            domain: None,
            cpu: None,
            changed: false,
            held: false,
            task: String::new(),
        }
    }
}

/// A decision with the run it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The run.
    pub run: RunHeader,
    /// Content that was written into files of task groups before, the last of each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups_changed: Vec<GroupChanged>,
    /// The decision.
    #[serde(flatten)]
    pub explanation: frequency::Explanation,
    /// Number of decisions of that kind up to it.
    #[serde(skip)]
    pub count: u64,
}

/// A placement with the run it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedPlacement {
    /// The run.
    pub run: RunHeader,
    /// Content that was written into files of task groups before, the last of each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups_changed: Vec<GroupChanged>,
    /// Power that decided, and power that is charged.
    pub power: PowerWords,
    /// The placement.
    #[serde(flatten)]
    pub explanation: placement::Explanation,
    /// Number of placements of that kind up to it.
    #[serde(skip)]
    pub count: u64,
}

/// A balance with the run it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedBalance {
    /// The run.
    pub run: RunHeader,
    /// Content that was written into files of task groups before, the last of each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups_changed: Vec<GroupChanged>,
    /// The balance.
    #[serde(flatten)]
    pub explanation: BalanceExplanation,
}

/// An update of blocked load with the run it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedWalk {
    /// The run.
    pub run: RunHeader,
    /// Content that was written into files of task groups before, the last of each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups_changed: Vec<GroupChanged>,
    /// The update.
    #[serde(flatten)]
    pub explanation: WalkExplanation,
    /// Number of updates of that kind up to it.
    #[serde(skip)]
    pub count: u64,
}

/// A reading of a thermal zone with the run it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedThermal {
    /// The run.
    pub run: RunHeader,
    /// Content that was written into files of task groups before, the last of each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups_changed: Vec<GroupChanged>,
    /// The reading.
    #[serde(flatten)]
    pub explanation: ThermalExplanation,
}

/// The plan, which ends where the question does, and what it says about itself.
fn planned(request: &ExplainRequest, watch: &dyn Watch) -> Result<(RunHeader, Plan), LabError> {
    planned_with_power(request, watch).map(|(run, plan, _)| (run, plan))
}

fn planned_with_power(request: &ExplainRequest, watch: &dyn Watch) -> Result<(RunHeader, Plan, PowerWords), LabError> {
    let prepared = prepare(&request.input.inputs(request.seed, request.random_phase), &request.policy, watch)?;
    if let Some(kernel) = &prepared.policy.kernel {
        watch.note(&format!(
            "kernel:{} decides; terms that its structures do not keep are the core's, by profile {}",
            kernel.name, prepared.policy.profile
        ));
    }
    let run = summary::header(&prepared, prepared.plan.config.duration_ns);
    let (mut plan, power) = (prepared.plan, prepared.power);
    if let Some(at) = request.at_ns {
        // What happens at the last nanosecond of a run is part of it; 0 would mean the workload's own length.
        plan.config.duration_ns = plan.config.duration_ns.min(at.max(1));
    }
    Ok((run, plan, power))
}

/// Runs a plan into a sink, and beside it into one for what is written into files of groups.
fn follow(
    request: &ExplainRequest,
    plan: &Plan,
    sink: &mut impl Sink,
    watch: &dyn Watch,
) -> Result<GroupSink, LabError> {
    let mut both = TeeSink(sink, GroupSink::new(group_paths(&plan.workload).unwrap_or_default()));
    watched(watch, plan.config.duration_ns, "run", |control| run_one(plan, request.seed, &mut both, control))?;
    Ok(both.1)
}

/// Explains a frequency decision.
///
/// # Errors
/// When an input is wrong, there is no such decision, or the run was stopped.
pub fn explain(request: &ExplainRequest, watch: &dyn Watch) -> Result<Explained, LabError> {
    let (run, plan) = planned(request, watch)?;
    let wanted = Wanted { domain: domain(request, &plan)?, changed: request.changed, held: request.held };
    let mut sink = ExplainSink::new(wanted, plan.machine.cpus.len(), plan.machine.domains.len());
    let groups = follow(request, &plan, &mut sink, watch)?;
    let (moment, count) = sink.finish();
    let Some(moment) = moment else {
        let help = "the governor is called when tasks run; choose a later --at, or leave out --changed or --held";
        return Err(nothing(&plan, "frequency decision", help));
    };
    let groups_changed = groups.before(moment.decision.time_ns);
    let times = gate_times(&plan, moment.decision.domain);
    let explanation = frequency::explain(&moment, Context { plan: &plan, times });
    Ok(Explained { run, groups_changed, explanation, count })
}

/// Explains a placement of a fair task.
///
/// # Errors
/// When an input is wrong, there is no such placement, or the run was stopped.
pub fn placement(request: &ExplainRequest, watch: &dyn Watch) -> Result<ExplainedPlacement, LabError> {
    let (run, plan, power) = planned_with_power(request, watch)?;
    let mut sink = PlacementSink::of(tid(&request.task, &plan)?, &plan.policy);
    let groups = follow(request, &plan, &mut sink, watch)?;
    let (kept, count) = sink.finish();
    let Some(kept) = kept else {
        let help = "a task is placed when it starts or wakes, and may use more than one CPU; by energy from 5.4 on";
        return Err(nothing(&plan, "placement", help));
    };
    let explanation = placement::explain(&kept, &plan.policy, |tid| task_name(&plan, tid));
    let groups_changed = groups.before(explanation.time_ns);
    Ok(ExplainedPlacement { run, groups_changed, power, explanation, count })
}

/// The last frequency decision of a domain in a run of this plan, or the last `changed` one; `None`: there is none.
pub(super) fn frequency_in(
    plan: &Plan,
    seed: u64,
    (domain, changed): (u32, bool),
    watch: &dyn Watch,
) -> Result<Option<frequency::Explanation>, LabError> {
    let wanted = Wanted { domain: Some(domain), changed, ..Wanted::default() };
    let mut sink = ExplainSink::new(wanted, plan.machine.cpus.len(), plan.machine.domains.len());
    watched(watch, plan.config.duration_ns, "run", |control| run_one(plan, seed, &mut sink, control))?;
    let times = gate_times(plan, domain);
    Ok(sink.finish().0.map(|moment| frequency::explain(&moment, Context { plan, times })))
}

/// The last placement of a task in a run of this plan; `None`: there is none.
pub(super) fn place_in(
    plan: &Plan,
    seed: u64,
    tid: u32,
    watch: &dyn Watch,
) -> Result<Option<placement::Explanation>, LabError> {
    let mut sink = PlacementSink::of(Some(tid), &plan.policy);
    watched(watch, plan.config.duration_ns, "run", |control| run_one(plan, seed, &mut sink, control))?;
    let kept = sink.finish().0;
    Ok(kept.map(|kept| placement::explain(&kept, &plan.policy, |tid| task_name(plan, tid))))
}

/// Name of a task by its number; those that are no part of the workload have none.
pub(super) fn task_name(plan: &Plan, tid: u32) -> String {
    let task = plan.workload.tasks.get((tid as usize).wrapping_sub(1));
    task.map_or_else(|| format!("task {tid}"), |task| task.name.clone())
}

/// A run, its plan, and sinks that kept balances, updates and what was written.
type Balanced = (RunHeader, Plan, BalanceSink, GroupSink);

/// A run with a sink that keeps balances and updates.
fn balances(request: &ExplainRequest, watch: &dyn Watch) -> Result<Balanced, LabError> {
    let (run, plan) = planned(request, watch)?;
    domain(request, &plan)?;
    let wanted = WantedBalance { cpu: request.cpu, moved: request.changed };
    let mut sink = BalanceSink::of(wanted);
    let groups = follow(request, &plan, &mut sink, watch)?;
    Ok((run, plan, sink, groups))
}

/// Explains a balance of a scheduling domain.
///
/// # Errors
/// When an input is wrong, there is no such balance, or the run was stopped.
pub fn balance(request: &ExplainRequest, watch: &dyn Watch) -> Result<ExplainedBalance, LabError> {
    let (run, plan, sink, groups) = balances(request, watch)?;
    let (kept, count) = &sink.balance;
    let Some(kept) = kept else {
        let help = "domains are balanced at ticks and before a CPU goes idle, on machines of 2 CPUs or more";
        return Err(nothing(&plan, "balance", help));
    };
    let explanation = explain_balance(kept, *count);
    Ok(ExplainedBalance { run, groups_changed: groups.before(explanation.time_ns), explanation })
}

/// Explains an update of blocked load.
///
/// # Errors
/// When an input is wrong, there is no such update, or the run was stopped.
pub fn walk(request: &ExplainRequest, watch: &dyn Watch) -> Result<ExplainedWalk, LabError> {
    let (run, plan, sink, groups) = balances(request, watch)?;
    let Some(explanation) = explain_walk(&sink) else {
        let help = "blocked load is updated at ticks, before a CPU goes idle, and for idle CPUs without tick";
        return Err(nothing(&plan, "update of blocked load", help));
    };
    let groups_changed = groups.before(explanation.time_ns);
    Ok(ExplainedWalk { run, groups_changed, explanation, count: sink.walk.1 })
}

/// Explains a reading of a thermal zone.
///
/// # Errors
/// When an input is wrong, there is no such reading, or the run was stopped.
pub fn thermal(request: &ExplainRequest, watch: &dyn Watch) -> Result<ExplainedThermal, LabError> {
    let (run, plan) = planned(request, watch)?;
    let zone =
        match domain(request, &plan)? {
            None => None,
            Some(d) => {
                let at = plan.machine.thermal_zones.iter().position(|zone| zone.domains.contains(&d));
                Some(at.ok_or_else(|| {
                    LabError::input(format!("frequency domain {d} is in no thermal zone that is cooled"))
                })?)
            }
        };
    let mut sink = ThermalSink::of(&plan, zone.map(|zone| zone as u32), request.changed);
    let groups = follow(request, &plan, &mut sink, watch)?;
    let (kept, count) = sink.finish();
    let Some(kept) = kept else {
        let help = "zones are read under --set thermal=step_wise and thermal=power_allocator; leave out --changed, or choose \
                    a later --at";
        return Err(nothing(&plan, "reading of a thermal zone", help));
    };
    let explanation = explain_reading(&kept, &plan, count);
    Ok(ExplainedThermal { run, groups_changed: groups.before(explanation.time_ns), explanation })
}

fn nothing(plan: &Plan, what: &str, help: &str) -> LabError {
    let reason = format!("no {what} of that kind in the first {}", human_ns(plan.config.duration_ns));
    LabError::refused(Fault::Input, reason, help)
}

/// The domain asked for, directly or through a CPU.
fn domain(request: &ExplainRequest, plan: &Plan) -> Result<Option<u32>, LabError> {
    let (cpus, domains) = (plan.machine.cpus.len(), plan.machine.domains.len());
    if let Some(cpu) = request.cpu {
        let found = plan.machine.cpus.get(cpu as usize);
        let found = found.ok_or_else(|| {
            LabError::input(format!("there is no CPU {cpu}; this platform has CPUs 0 to {}", cpus - 1))
        })?;
        return Ok(Some(found.domain));
    }
    match request.domain {
        Some(d) if d as usize >= domains => Err(LabError::input(format!(
            "there is no frequency domain {d}; this platform has domains 0 to {}",
            domains - 1
        ))),
        other => Ok(other),
    }
}

/// The number of a task with this name.
fn tid(task: &str, plan: &Plan) -> Result<Option<u32>, LabError> {
    if task.is_empty() {
        return Ok(None);
    }
    let names = || plan.workload.tasks.iter().map(|t| t.name.as_str());
    match names().position(|name| name == task) {
        Some(at) => Ok(Some(at as u32 + 1)),
        None => {
            let known = names().take(8).collect::<Vec<_>>().join(", ");
            let reason = format!("the workload has no task `{task}`");
            Err(LabError::refused(Fault::Input, reason, &format!("its tasks: {known}")))
        }
    }
}
