// SPDX-License-Identifier: GPL-2.0-only
//! Catches one placement of a fair task, with every CPU that it could have gone to.

use pelton_core::{AFFINE, NO_CPU, Placed, Placement, Policy, SchedDomain, sd, wf};
use pelton_schema::{Event, Sink};
use schemars::JsonSchema;
use serde::Serialize;

/// Keeps the last placement of a task, or of any.
#[derive(Debug, Default)]
pub struct PlacementSink {
    /// Only this task; `None` = any.
    tid: Option<u32>,
    kept: Option<Kept>,
    count: u64,
}

/// What a placement read and gave.
#[derive(Debug)]
pub struct Kept {
    time_ns: u64,
    tid: u32,
    read: Box<Placement>,
    placed: Box<Placed>,
}

impl PlacementSink {
    /// For one task, or for any.
    #[must_use]
    pub fn of(tid: Option<u32>) -> Self {
        Self { tid, ..Self::default() }
    }

    /// The last placement that fits, and how many did.
    #[must_use]
    pub fn finish(self) -> (Option<Kept>, u64) {
        (self.kept, self.count)
    }
}

impl Sink for PlacementSink {
    const PLACEMENTS: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Placement, placed: &Placed) {
        if self.tid.is_none_or(|wanted| wanted == tid) {
            self.count += 1;
            self.kept = Some(Kept { time_ns, tid, read: Box::new(*read), placed: Box::new(*placed) });
        }
    }
}

/// One CPU as a place for the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    /// CPU.
    pub cpu: u32,
    /// The task may use it.
    pub allowed: bool,
    /// What it is in this decision: `chosen`, `previous`, `this` (executes the placement), `recent`.
    pub roles: Vec<&'static str>,
    /// Runnable tasks.
    pub running: u32,
    /// It runs nothing and nothing is on its way.
    pub idle: bool,
    /// Capacity left for fair tasks.
    pub capacity: u32,
    /// Utilization with the task on it.
    pub util_with_task: u32,
    /// Capacity that is left then.
    pub spare: u32,
    /// `yes`, `no`, or `floor lost`: the task's lower clamp would not be kept.
    pub fits: &'static str,
    /// Energy that its domain needs more with the task, in the kernel's unit; `None`: not asked.
    pub energy_added: Option<i128>,
}

/// Why a task went where it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// When, ns since the start of the run.
    pub time_ns: u64,
    /// The task.
    pub task: String,
    /// `wake-up` or `new task`.
    pub event: &'static str,
    /// CPU that executes the placement.
    pub this_cpu: u32,
    /// CPU it was on.
    pub prev_cpu: u32,
    /// CPU it goes to.
    pub chosen_cpu: u32,
    /// Rule that decided.
    pub rule: &'static str,
    /// How the starting point of the search was chosen.
    pub start: &'static str,
    /// Tasks are placed by energy on this machine.
    pub energy_aware: bool,
    /// Some CPU has more to do than it can: energy does not decide.
    pub overutilized: bool,
    /// Utilization that the task brings along, its estimate included.
    pub task_util: u32,
    /// Its clamps.
    pub clamps: (u32, u32),
    /// Scheduling domains around the CPU that executes it, in the order in which they are walked: smallest first.
    pub domains: Vec<Walked>,
    /// All CPUs.
    pub candidates: Vec<Candidate>,
}

/// A scheduling domain on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Walked {
    /// What its CPUs share: `threads`, `cluster`, `cache`, `node`, or `nodes` for several memory nodes.
    pub kind: &'static str,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// The previous CPU is in it.
    pub has_previous: bool,
    /// The chosen CPU is in it.
    pub has_chosen: bool,
    /// What it is to this placement: `affine`: the smallest in which the task may be pulled to its waker; `search`: the
    /// largest in which a new task is placed; `passed`: neither.
    pub role: &'static str,
    /// Tasks by which memory nodes may differ before a new task goes to another one.
    pub imbalance_allowed: u32,
}

/// Puts a placement into words and numbers; `name`: of a task by its tid.
#[must_use]
pub fn explain(kept: &Kept, policy: &Policy, name: impl Fn(u32) -> String) -> Explanation {
    let (read, placed) = (&*kept.read, &*kept.placed);
    Explanation {
        time_ns: kept.time_ns,
        task: name(kept.tid),
        event: if read.flags & wf::FORK != 0 { "new task" } else { "wake-up" },
        this_cpu: read.this_cpu,
        prev_cpu: read.prev_cpu,
        chosen_cpu: placed.cpu,
        rule: placed.how(),
        start: AFFINE.get(placed.affine as usize).copied().unwrap_or("?"),
        energy_aware: read.energy_aware != 0,
        overutilized: read.overutilized != 0,
        task_util: placed.se.task_util_est(policy),
        clamps: (read.task.uclamp_min, read.task.uclamp_max),
        domains: walked(read, placed),
        candidates: (0..read.nr_cpus).map(|cpu| candidate(cpu, read, placed, policy)).collect(),
    }
}

fn kind(domain: &SchedDomain) -> &'static str {
    let kinds =
        [(sd::NUMA, "nodes"), (sd::SHARE_CPUCAPACITY, "threads"), (sd::CLUSTER, "cluster"), (sd::SHARE_LLC, "cache")];
    kinds.iter().find(|(flag, _)| domain.flags & flag != 0).map_or("node", |(_, kind)| kind)
}

/// The domains around the executing CPU. A wake-up looks for the smallest one with WAKE_AFFINE that spans the previous
/// CPU, a new task for the largest with BALANCE_FORK (select_task_rq_fair).
fn walked(read: &Placement, placed: &Placed) -> Vec<Walked> {
    let Some(cpu) = read.cpus.get(read.this_cpu as usize) else { return Vec::new() };
    let domains = &cpu.domains[..(cpu.nr_domains as usize).min(cpu.domains.len())];
    let holds = |domain: &SchedDomain, cpu: u32| cpu < 64 && domain.span >> cpu & 1 == 1;
    let fork = read.flags & wf::FORK != 0;
    let affine = domains.iter().position(|d| d.flags & sd::WAKE_AFFINE != 0 && holds(d, read.prev_cpu));
    let search = domains.iter().rposition(|d| d.flags & sd::BALANCE_FORK != 0);
    let role = |at: usize| match fork {
        true if Some(at) == search => "search",
        false if Some(at) == affine => "affine",
        _ => "passed",
    };
    let one = |(at, domain): (usize, &SchedDomain)| Walked {
        kind: kind(domain),
        cpus: (0..64).filter(|&cpu| holds(domain, cpu)).collect(),
        has_previous: holds(domain, read.prev_cpu),
        has_chosen: holds(domain, placed.cpu),
        role: role(at),
        imbalance_allowed: domain.imb_numa_nr,
    };
    domains.iter().enumerate().map(one).collect()
}

fn candidate(cpu: u32, read: &Placement, placed: &Placed, policy: &Policy) -> Candidate {
    let c = &read.cpus[cpu as usize];
    let util = read.util_with_task(policy, placed, cpu);
    let fits = read.util_fits_cpu(policy, util, read.task.uclamp_min, read.task.uclamp_max, cpu);
    let roles = [
        ("chosen", placed.cpu),
        ("previous", read.prev_cpu),
        ("this", read.this_cpu),
        ("recent", read.task.recent_cpu),
    ];
    Candidate {
        cpu,
        allowed: read.task.allowed >> cpu & 1 == 1,
        roles: roles.iter().filter(|(_, at)| *at == cpu).map(|(role, _)| *role).collect(),
        running: c.nr_running,
        idle: c.curr_idle != 0 && c.nr_running == 0 && c.ttwu_pending == 0,
        capacity: c.capacity,
        util_with_task: util,
        spare: c.capacity.saturating_sub(util),
        fits: match fits {
            1 => "yes",
            0 => "no",
            _ => "floor lost",
        },
        energy_added: energy_added(cpu, placed),
    }
}

/// What a domain needs more with the task on one of its CPUs.
fn energy_added(cpu: u32, placed: &Placed) -> Option<i128> {
    let with = placed.energies().iter().find(|e| e.cpu == cpu)?;
    let without = placed.energies().iter().find(|e| e.cpu == NO_CPU && e.perf_domain == with.perf_domain)?;
    Some(i128::from(with.energy) - i128::from(without.energy))
}
