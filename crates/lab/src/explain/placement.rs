// SPDX-License-Identifier: GPL-2.0-or-later
//! Catches one placement of a fair task, with every CPU that it could have gone to, and the energies that it compared:
//! each domain with the task on a CPU of it and without, so that every energy follows from the figures beside it.

use super::value_of;
use pelton_core::{
    DST_WHY, GROUP_TYPES, GroupSums, NO_CPU, NO_IDLE_STATE, PlaceCpu, PlaceEnergy, Placed, Placement, Policy, Record,
    SCAN, SchedDomain, WEIGHED, dst_group_by_load, sd, wf,
};
use pelton_schema::{Event, Sink, placed_words};
use schemars::JsonSchema;
use serde::Serialize;

/// Keeps the last placement of a task, or of any.
#[derive(Debug)]
pub struct PlacementSink {
    /// Only this task; `None` = any.
    tid: Option<u32>,
    /// The rules in force.
    policy: Policy,
    kept: Option<Kept>,
    count: u64,
}

/// Input and result of one placement.
#[derive(Debug)]
pub struct Kept {
    time_ns: u64,
    tid: u32,
    read: Box<Placement>,
    placed: Box<Placed>,
    /// The CPUs that are shown, and whether the task may use them.
    rows: Vec<(u32, PlaceCpu, bool)>,
    /// Domains of the executing CPU, and the CPUs of each.
    domains: Vec<(SchedDomain, Vec<u32>)>,
    /// The CPU that the task was on.
    home: PlaceCpu,
    /// The search through groups.
    groups: Vec<Compared>,
    /// Energies compared.
    energies: Energies,
}

impl Kept {
    fn new(time_ns: u64, tid: u32, read: &Record, placed: &Placed, policy: &Policy) -> Kept {
        let own = &read.rows()[read.this_cpu as usize];
        let of = |domain: &SchedDomain| (*domain, read.span_cpus(domain.span).collect());
        let row = |cpu: u32| (cpu, read.rows()[cpu as usize], read.span_has(read.task.allowed, cpu));
        Kept {
            time_ns,
            tid,
            domains: own.domains[..own.nr_domains as usize].iter().map(of).collect(),
            rows: told_of(read, placed).into_iter().map(row).collect(),
            groups: compared(read, placed, policy),
            home: read.rows()[read.task.cpu as usize],
            energies: Energies::of(read, placed, policy),
            read: Box::new(**read),
            placed: Box::new(*placed),
        }
    }
}

/// CPUs that a placement is shown with: all of up to 64, else those of the caches of the CPUs that matter. That is what
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
    /// For one task, or for any, in a run under `policy`.
    #[must_use]
    pub fn of(tid: Option<u32>, policy: &Policy) -> Self {
        Self { tid, policy: *policy, kept: None, count: 0 }
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
            self.kept = Some(Kept::new(time_ns, tid, read, placed, &self.policy));
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
    /// Roles of the CPU in this decision: `chosen`, `previous`, `this` (executes the placement), `recent`.
    pub roles: Vec<&'static str>,
    /// Runnable tasks.
    pub running: u32,
    /// True where it runs nothing and nothing is on its way.
    pub idle: bool,
    /// Time that its idle state takes to leave, ns; `None`: it is in none.
    pub exit_latency_ns: Option<u32>,
    /// Load that decisions read: its average, up to 5.4 that of runnable tasks.
    pub load: u64,
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
    /// Runnable average of its fair queue.
    pub runnable_avg: u32,
    /// Its terms in the comparison of energy; `None`: there was none.
    pub energy: Option<CpuEnergy>,
}

/// Loads that `wake_affine` compared: the smaller one wins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Affine {
    /// Part of `wake_affine` that decided: `wake_affine_idle`, `wake_affine_weight`.
    pub by: &'static str,
    /// CPU that won, near which an idle one is looked for.
    pub winner: u32,
    /// Result of the loads: `not asked`, `loads`, or that this CPU has none but the waker's, which is about to sleep.
    pub loads: &'static str,
    /// Load of the CPU that executes the placement with the task, times the other one's capacity, percent.
    pub this_effective: Option<i64>,
    /// Load of the previous CPU, times the other one's capacity and the margin, percent.
    pub previous_effective: Option<i64>,
}

/// Limit of a search for an idle CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Scan {
    /// CPU near which it looked.
    pub target: u32,
    /// Rule that limits the search.
    pub rule: &'static str,
    /// CPUs that it may look at; `None`: any number.
    pub limit: Option<u32>,
    /// CPUs that it looked at, and cores of several.
    pub seen: u32,
    /// `SIS_UTIL`: what the last balance left for searches near the target, `nr_idle_scan`.
    pub nr_idle_scan: Option<u32>,
    /// `SIS_PROP`: mean idle time of the CPU that executes the placement, ns.
    pub avg_idle_ns: Option<u64>,
    /// `SIS_PROP`: mean time of a search by that CPU, ns.
    pub avg_scan_cost_ns: Option<u64>,
}

/// A group of CPUs in the search through groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// The task may use one of them.
    pub allowed: bool,
    /// Roles of the group in this step: `own`, `chosen`, `best other`.
    pub roles: Vec<&'static str>,
    /// Its type; `None`: to 5.4, groups have none.
    #[serde(rename = "type")]
    pub kind: Option<&'static str>,
    /// Idle CPUs; `None`: to 5.4.
    pub idle_cpus: Option<u32>,
    /// Tasks that run or wait; `None`: to 5.4.
    pub running: Option<u32>,
    /// Capacity left for fair tasks.
    pub capacity: u32,
    /// Utilization without the task; `None`: to 5.4.
    pub util: Option<u64>,
    /// Capacity that utilization leaves; to 5.4 that of the CPU with most.
    pub spare: u64,
    /// Load relative to capacity; from 5.10 on where nothing is to spare, else 0.
    pub load: u64,
    /// To 5.4: the same of runnable tasks.
    pub runnable_load: Option<u64>,
}

/// A step of the search through groups: those of one domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Compared {
    /// CPU whose domain it is.
    pub cpu: u32,
    /// The domain's CPUs.
    pub domain: Vec<u32>,
    /// Rule that decided between the own group and the best other one.
    pub decided_by: &'static str,
    /// CPU in the chosen group from which the search goes on.
    pub next_cpu: u32,
    /// Groups, the own one first.
    pub groups: Vec<Group>,
}

/// Explanation of the CPU that a task was placed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// The task.
    pub task: String,
    /// `wake-up`, `new task` or `new program`.
    pub event: &'static str,
    /// CPU that executes the placement.
    pub this_cpu: u32,
    /// CPU it was on.
    pub prev_cpu: u32,
    /// CPU it goes to.
    pub chosen_cpu: u32,
    /// Rule that decided.
    pub rule: &'static str,
    /// Rule by which the starting point of the search was chosen.
    pub start: &'static str,
    /// Waker and task talk to too many others to be brought together (`wake_wide`).
    pub wide: bool,
    /// To 5.4: this CPU or the previous one is too small for the task (`wake_cap`).
    pub small: bool,
    /// Loads that `wake_affine` compared; `None`: it was not asked.
    pub affine: Option<Affine>,
    /// Limit of the search for an idle CPU; `None`: there was no search beyond the target and the CPUs that the task is
    /// known from.
    pub scan: Option<Scan>,
    /// The search through groups, from the largest domain down; empty: there was none.
    pub groups: Vec<Compared>,
    /// The comparison of energy, in the order in which it was made; empty: there was none.
    pub energies: Vec<Energy>,
    /// Utilization that the task adds to the sum of a domain that it comes to; `None`: no comparison, or to 5.15 one in
    /// which each CPU is counted anew.
    pub task_busy: Option<u64>,
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
    /// Hardware that its CPUs share: `threads`, `cluster`, `cache`, `node`, or `nodes` for several memory nodes.
    pub kind: &'static str,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// The previous CPU is in it.
    pub has_previous: bool,
    /// The chosen CPU is in it.
    pub has_chosen: bool,
    /// Role in this placement: `affine`: the smallest in which the task may be pulled to its waker; `search`: the
    /// largest in which a new task or program is placed; `passed`: neither.
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
        wide: placed.wide != 0,
        small: placed.small != 0,
        affine: affine(placed),
        scan: scan(kept),
        groups: kept.groups.clone(),
        energies: kept.energies.asked.clone(),
        task_busy: kept.energies.task_busy,
        energy_aware: read.energy_aware != 0,
        overutilized: words.overutilized,
        task_util: placed.se.task_util_est(policy),
        clamps: (read.task.uclamp_min, read.task.uclamp_max),
        domains: walked(kept),
        candidates: kept.rows.iter().map(|row| candidate(row, kept, policy)).collect(),
        others: read.nr_cpus - kept.rows.len() as u32,
    }
}

fn kind(domain: &SchedDomain) -> &'static str {
    let kinds =
        [(sd::NUMA, "nodes"), (sd::SHARE_CPUCAPACITY, "threads"), (sd::CLUSTER, "cluster"), (sd::SHARE_LLC, "cache")];
    kinds.iter().find(|(flag, _)| domain.flags & flag != 0).map_or("node", |(_, kind)| kind)
}

/// The domains around the executing CPU. A wake-up looks for the smallest one with WAKE_AFFINE that spans the previous
/// CPU, a new task for the largest with BALANCE_FORK, a new program with BALANCE_EXEC (select_task_rq_fair).
fn walked(kept: &Kept) -> Vec<Walked> {
    let (read, placed, domains) = (&*kept.read, &*kept.placed, &kept.domains);
    let holds = |cpus: &[u32], cpu: u32| cpus.binary_search(&cpu).is_ok();
    let wakes = read.flags & wf::TTWU != 0;
    let affine = domains.iter().position(|(d, cpus)| d.flags & sd::WAKE_AFFINE != 0 && holds(cpus, read.prev_cpu));
    let role = |at: usize| match wakes {
        _ if at as u32 == placed.dst_level => "search",
        true if Some(at) == affine => "affine",
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

/// Comparison by which `wake_affine` chose between this CPU and the previous one.
fn affine(placed: &Placed) -> Option<Affine> {
    let by = placed.affine_by()?;
    let winner = Some(placed.target).filter(|&cpu| cpu != NO_CPU)?;
    let [this, previous] = placed.effective_loads().map_or([None; 2], |loads| loads.map(Some));
    Some(Affine {
        by,
        winner,
        loads: WEIGHED.get(placed.weighed as usize).copied().unwrap_or("?"),
        this_effective: this,
        previous_effective: previous,
    })
}

fn scan(kept: &Kept) -> Option<Scan> {
    let (read, placed) = (&*kept.read, &*kept.placed);
    let rule = placed.has_scanned().then(|| SCAN.get(placed.scan_rule as usize).copied().unwrap_or("?"))?;
    let target = kept.rows.iter().find(|(cpu, ..)| *cpu == placed.target);
    let proportion = placed.scans_in_proportion();
    Some(Scan {
        target: placed.target,
        rule,
        limit: placed.scan_limit(),
        seen: placed.scan_seen,
        nr_idle_scan: target.and_then(|(_, row, _)| placed.nr_idle_scan(row)),
        avg_idle_ns: proportion.then_some(read.avg_idle_ns),
        avg_scan_cost_ns: proportion.then_some(read.avg_scan_cost_ns),
    })
}

/// The search through groups of a decision, once more.
fn compared(read: &Record, placed: &Placed, policy: &Policy) -> Vec<Compared> {
    let mut steps = Vec::new();
    read.search_again(policy, placed, |at, walk, again| {
        if walk.compared == 0 {
            return;
        }
        let by_load = dst_group_by_load(policy);
        let roles = |cpus: u64| {
            let names = [("own", again.local.cpus), ("best other", again.idlest.cpus), ("chosen", walk.group)];
            names.iter().filter(|(_, of)| *of == cpus).map(|(name, _)| *name).collect()
        };
        let groups = read.groups_compared(policy, again, at);
        steps.push(Compared {
            cpu: at.0,
            domain: read.span_cpus(walk.stepped).collect(),
            decided_by: DST_WHY.get(again.dst_why as usize).copied().unwrap_or("?"),
            next_cpu: walk.cpu,
            groups: groups.iter().map(|g| group(read, g, by_load, roles(g.cpus))).collect(),
        });
    });
    steps
}

fn group(read: &Record, g: &GroupSums, by_load: bool, roles: Vec<&'static str>) -> Group {
    let cpus: Vec<u32> = read.span_cpus(g.cpus).collect();
    let typed = !by_load;
    Group {
        allowed: cpus.iter().any(|&cpu| read.span_has(read.task.allowed, cpu)),
        roles,
        kind: typed.then(|| GROUP_TYPES.get(g.r#type as usize).copied().unwrap_or("?")),
        idle_cpus: typed.then_some(g.idle_cpus),
        running: typed.then_some(g.nr_running),
        capacity: g.capacity,
        util: typed.then_some(g.util),
        spare: if typed { u64::from(g.capacity).saturating_sub(g.util) } else { g.max_spare },
        load: if typed { g.avg_load } else { g.load },
        runnable_load: by_load.then_some(g.runnable),
        cpus,
    }
}

/// A machine of one CPU: what a CPU is to a task does not depend on others.
fn alone(read: &Placement, cpu: u32, row: &PlaceCpu, home: &PlaceCpu) -> Placement {
    let mut one = *read;
    // Where the task is elsewhere, that is the second row.
    (one.cpus[0], one.cpus[1]) = (*row, *home);
    one.nr_cpus = 1;
    (one.task.cpu, one.prev_cpu) = (u32::from(read.task.cpu != cpu), u32::from(read.prev_cpu != cpu));
    one
}

fn candidate((cpu, c, allowed): &(u32, PlaceCpu, bool), kept: &Kept, policy: &Policy) -> Candidate {
    let (read, placed) = (&*kept.read, &*kept.placed);
    let (cpu, one) = (*cpu, alone(read, *cpu, c, &kept.home));
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
        exit_latency_ns: (c.exit_latency_ns != NO_IDLE_STATE).then_some(c.exit_latency_ns),
        load: c.load,
        capacity: c.capacity,
        util_with_task: util,
        spare: c.capacity.saturating_sub(util),
        fits: match fits {
            1 => "yes",
            0 => "no",
            _ => "floor lost",
        },
        energy_added: placed.energy_added(cpu),
        runnable_avg: c.state.runnable_cfs,
        energy: kept.energies.of_cpu(cpu),
    }
}

/// Energy of a domain: `cost` x `sum` / `divisor`, rounded down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Energy {
    /// CPUs of the domain.
    pub cpus: Vec<u32>,
    /// CPU that has the task; `None`: none of them.
    pub task_on: Option<u32>,
    /// The largest that one of its CPUs asks for, at most `allowed`.
    pub largest: u32,
    /// Capacity that limits leave of each of its CPUs; up to 5.15 1024, limits do not count.
    pub allowed: u32,
    /// Operating point that serves it, kHz.
    pub freq_khz: u32,
    /// Cost of that operating point, in the unit of the release.
    pub cost: u64,
    /// Utilization of its CPUs together.
    pub sum: u32,
    /// 1, or up to 6.7 the capacity of its CPUs.
    pub divisor: u32,
    /// Its energy, in the kernel's unit.
    pub energy: u64,
    /// Energy that the task adds; `None`: the domain without it.
    pub added: Option<i128>,
}

/// Terms of a CPU in the comparison of energy, of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CpuEnergy {
    /// Utilization without the task.
    pub busy: u32,
    /// Utilization with the task; `None`: not worked out, the task adds the same everywhere (from 5.16 on).
    pub busy_with_task: Option<u32>,
    /// Request to its domain without the task.
    pub asks: u32,
    /// Request to its domain with the task on it.
    pub asks_with_task: u32,
}

/// A comparison of energy.
#[derive(Debug, Default)]
struct Energies {
    asked: Vec<Energy>,
    task_busy: Option<u64>,
    cpus: Vec<(u32, CpuEnergy)>,
}

impl Energies {
    /// Energies that a decision compared; empty when it compared none.
    fn of(read: &Record, placed: &Placed, policy: &Policy) -> Energies {
        if placed.energies().is_empty() {
            return Energies::default();
        }
        let anew = value_of(policy, "energy_aware") == "margin";
        let domains = &read.perf_domains[..(read.nr_perf_domains as usize).min(read.perf_domains.len())];
        let one = |cpu: u32| {
            let busy = |dst| read.busy_with_task_on(policy, placed, cpu, dst);
            let asks = |dst| read.asks_with_task_on(policy, placed, cpu, dst);
            let busy_with_task = anew.then(|| busy(cpu));
            (cpu, CpuEnergy { busy: busy(NO_CPU), busy_with_task, asks: asks(NO_CPU), asks_with_task: asks(cpu) })
        };
        Energies {
            asked: placed.energies().iter().map(|e| energy(read, placed, policy, e)).collect(),
            task_busy: (!anew).then(|| read.task_busy(policy, placed)),
            cpus: domains.iter().flat_map(|domain| read.span_cpus(domain.cpus)).map(one).collect(),
        }
    }

    fn of_cpu(&self, cpu: u32) -> Option<CpuEnergy> {
        self.cpus.iter().find(|(of, _)| *of == cpu).map(|(_, energy)| *energy)
    }
}

fn energy(read: &Record, placed: &Placed, policy: &Policy, e: &PlaceEnergy) -> Energy {
    let priced = read.priced(policy, e);
    Energy {
        cpus: read.span_cpus(read.perf_domains[e.perf_domain as usize].cpus).collect(),
        task_on: (e.cpu != NO_CPU).then_some(e.cpu),
        largest: e.max_util,
        allowed: priced.allowed,
        freq_khz: priced.freq_khz,
        cost: priced.cost,
        sum: e.busy,
        divisor: priced.divisor,
        energy: e.energy,
        added: placed.energy_added(e.cpu),
    }
}
