// SPDX-License-Identifier: GPL-2.0-only
//! Catches one placement of a fair task, with every CPU that it could have gone to.

use pelton_core::{PlaceCpu, Placed, Placement, Policy, Record, SchedDomain, sd, wf};
use pelton_schema::{Event, Sink, placed_words};
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
    /// The CPUs that are told of, and whether the task may use them.
    rows: Vec<(u32, PlaceCpu, bool)>,
    /// Domains of the executing CPU, and the CPUs of each.
    domains: Vec<(SchedDomain, Vec<u32>)>,
}

impl Kept {
    fn new(time_ns: u64, tid: u32, read: &Record, placed: &Placed) -> Kept {
        let own = &read.rows()[read.this_cpu as usize];
        let of = |domain: &SchedDomain| (*domain, read.span_cpus(domain.span).collect());
        let row = |cpu: u32| (cpu, read.rows()[cpu as usize], read.span_has(read.task.allowed, cpu));
        Kept {
            time_ns,
            tid,
            domains: own.domains[..own.nr_domains as usize].iter().map(of).collect(),
            rows: told_of(read, placed).into_iter().map(row).collect(),
            read: Box::new(**read),
            placed: Box::new(*placed),
        }
    }
}

/// CPUs that a placement is told with: all of up to 64, else those of the caches of the CPUs that matter. That is what
/// a wake-up looks at; a new task compares the others group by group.
fn told_of(read: &Record, placed: &Placed) -> Vec<u32> {
    if read.narrow().is_some() {
        return (0..read.nr_cpus).collect();
    }
    let matter = [placed.cpu, read.prev_cpu, read.this_cpu, read.task.recent_cpu];
    let caches = matter.map(|cpu| read.rows().get(cpu as usize).map(|row| row.llc));
    (0..read.nr_cpus).filter(|&cpu| caches.contains(&Some(read.rows()[cpu as usize].llc))).collect()
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

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        if self.tid.is_none_or(|wanted| wanted == tid) {
            self.count += 1;
            self.kept = Some(Kept::new(time_ns, tid, read, placed));
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
    /// All CPUs of up to 64; of more those whose cache the chosen, the previous, the executing or the recent CPU has.
    pub candidates: Vec<Candidate>,
    /// CPUs that are not among them.
    pub others: u32,
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
    let words = placed_words(read, placed);
    Explanation {
        time_ns: kept.time_ns,
        task: name(kept.tid),
        event: words.event,
        this_cpu: words.executing_cpu,
        prev_cpu: words.previous_cpu,
        chosen_cpu: words.cpu,
        rule: words.rule,
        start: words.start,
        energy_aware: read.energy_aware != 0,
        overutilized: words.overutilized,
        task_util: placed.se.task_util_est(policy),
        clamps: (read.task.uclamp_min, read.task.uclamp_max),
        domains: walked(kept),
        candidates: kept.rows.iter().map(|row| candidate(row, read, placed, policy)).collect(),
        others: read.nr_cpus - kept.rows.len() as u32,
    }
}

fn kind(domain: &SchedDomain) -> &'static str {
    let kinds =
        [(sd::NUMA, "nodes"), (sd::SHARE_CPUCAPACITY, "threads"), (sd::CLUSTER, "cluster"), (sd::SHARE_LLC, "cache")];
    kinds.iter().find(|(flag, _)| domain.flags & flag != 0).map_or("node", |(_, kind)| kind)
}

/// The domains around the executing CPU. A wake-up looks for the smallest one with WAKE_AFFINE that spans the previous
/// CPU, a new task for the largest with BALANCE_FORK (select_task_rq_fair).
fn walked(kept: &Kept) -> Vec<Walked> {
    let (read, placed, domains) = (&*kept.read, &*kept.placed, &kept.domains);
    let holds = |cpus: &[u32], cpu: u32| cpus.binary_search(&cpu).is_ok();
    let fork = read.flags & wf::FORK != 0;
    let affine = domains.iter().position(|(d, cpus)| d.flags & sd::WAKE_AFFINE != 0 && holds(cpus, read.prev_cpu));
    let search = domains.iter().rposition(|(d, _)| d.flags & sd::BALANCE_FORK != 0);
    let role = |at: usize| match fork {
        true if Some(at) == search => "search",
        false if Some(at) == affine => "affine",
        _ => "passed",
    };
    let one = |(at, (domain, cpus)): (usize, &(SchedDomain, Vec<u32>))| Walked {
        kind: kind(domain),
        cpus: cpus.clone(),
        has_previous: holds(cpus, read.prev_cpu),
        has_chosen: holds(cpus, placed.cpu),
        role: role(at),
        imbalance_allowed: domain.imb_numa_nr,
    };
    domains.iter().enumerate().map(one).collect()
}

/// A machine of one CPU: what a CPU is to a task does not depend on others.
fn alone(read: &Placement, cpu: u32, row: &PlaceCpu) -> Placement {
    let mut one = *read;
    one.cpus[0] = *row;
    one.nr_cpus = 1;
    (one.task.cpu, one.prev_cpu) = (u32::from(read.task.cpu != cpu), u32::from(read.prev_cpu != cpu));
    one
}

fn candidate(
    (cpu, c, allowed): &(u32, PlaceCpu, bool),
    read: &Placement,
    placed: &Placed,
    policy: &Policy,
) -> Candidate {
    let (cpu, one) = (*cpu, alone(read, *cpu, c));
    let util = one.util_with_task(policy, placed, 0);
    let fits = one.util_fits_cpu(policy, util, read.task.uclamp_min, read.task.uclamp_max, 0);
    let roles = [
        ("chosen", placed.cpu),
        ("previous", read.prev_cpu),
        ("this", read.this_cpu),
        ("recent", read.task.recent_cpu),
    ];
    Candidate {
        cpu,
        allowed: *allowed,
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
        energy_added: placed.energy_added(cpu),
    }
}
