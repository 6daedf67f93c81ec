// SPDX-License-Identifier: GPL-2.0-or-later
//! Random platforms and workloads.
#![allow(dead_code, missing_docs, reason = "each test file uses its own part of this")]

use super::*;
use pelton_model::Machine;
use pelton_model::draws::{Draws, Rail, Vote};
use pelton_model::groups::group_paths;
use pelton_model::workload::{
    Bandwidth, ChannelSpec, CpuSet, DeviceSpec, GroupChange, GroupSpec, Op, SchedPolicy, TaskSpec, Workload,
};

/// Levels of a random tree of task groups, at most.
pub const GROUP_LEVELS: u64 = 6;

/// A small multiplicative generator: the test's own, so that it does not change with the engine's.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

pub fn random_machine(d: &mut Dice) -> Machine {
    let domains = 1 + d.below(3);
    let groups: Vec<(u32, u32)> =
        (0..domains).map(|i| (1 + d.below(4) as u32, if i == 0 { 1024 } else { 200 + d.below(824) as u32 })).collect();
    let mut m = machine(&groups);
    m.hz = [100, 250, 300, 1000][d.below(4) as usize];
    for dom in &mut m.domains {
        dom.fast_switch = d.below(2) == 0;
        dom.switch_time_ns = d.below(500_000);
        dom.driver_sleeps = d.below(2) == 0;
        dom.idle_states[1].entry_latency_ns = d.below(2) * d.below(500_000);
        dom.idle_states[1].exit_latency_ns = d.below(900_000);
        dom.polling = d.below(4) == 0;
        dom.rate_limit_us = Some(d.below(12_000));
    }
    if d.below(2) == 0 {
        m.costs.context_switch_ns = d.below(5000);
        m.costs.hook_ns = d.below(2000);
        m.costs.tick_ns = d.below(5000);
        m.costs.wakeup_ns = d.below(5000);
        m.costs.migration_ns = d.below(20_000);
        m.costs.register_write_ns = d.below(3000);
        m.costs.ipi_ns = d.below(3000);
        m.costs.idle_entry_ns = d.below(3000);
        m.costs.idle_exit_ns = d.below(3000);
        m.costs.blocked_walk_ns = d.below(3000);
        m.costs.blocked_queue_ns = d.below(300);
        m.costs.hook_cpu_ns = d.below(300);
        m.costs.balance_cpu_ns = d.below(300);
        m.costs.place_energy_ns = d.below(3000);
        m.costs.scan_cpu_ns = m.costs.balance_cpu_ns / 2;
        m.costs.one_at_a_time = d.below(3) == 0;
    }
    if d.below(3) == 0 {
        share_cores(d, &mut m);
    }
    m
}

/// Random curves of what is drawn; the first domain is on the supply of the last, whose points ask for one of three
/// levels.
pub fn random_draws(d: &mut Dice, m: &mut Machine) {
    let last = m.domains.len() - 1;
    for i in 0..=last {
        let (levels, points) = (if i == 0 && last > 0 { 3 } else { 1 }, m.domains[last].opps.len());
        let (opps, states) = (m.domains[i].opps.len(), m.domains[i].idle_states.len());
        let rails = (0..levels).map(|_| random_rail(d, opps, states)).collect();
        let vote = |d: &mut Dice| Vote {
            domain: last as u32,
            off_from: 1,
            rails: (0..points).map(|_| d.below(3) as u32).collect(),
        };
        m.domains[i].draws = Draws { rails, votes: (levels > 1).then(|| vote(d)).into_iter().collect() };
    }
}

fn random_rail(d: &mut Dice, opps: usize, states: usize) -> Rail {
    let mut row = || (0..opps).map(|_| 1 + d.below(1_000_000)).collect::<Vec<u64>>();
    let (busy_uw, shared_uw) = (row(), row());
    let idle_uw = (0..states).map(|_| row()).collect();
    Rail { busy_uw, idle_uw, shared_uw, shared_idle_uw: (0..states).map(|_| row()).collect() }
}

/// Pairs of CPUs become threads of a core, each with its own frequency, under a turbo limit.
fn share_cores(d: &mut Dice, m: &mut Machine) {
    m.smt_throughput_pct = [0, 110, 125, 190][d.below(4) as usize];
    m.idle_watches_flag = d.below(2) == 0;
    m.defers_timers = m.idle_watches_flag;
    m.one_clock = d.below(3) == 0;
    let domains = std::mem::take(&mut m.domains);
    for dom in domains {
        let limits = if d.below(2) == 0 { vec![] } else { vec![2_000_000, 1_000_000] };
        for &cpu in &dom.cpus {
            m.cpus[cpu as usize].domain = m.domains.len() as u32;
            let (cpus, turbo_khz) = (vec![cpu], limits.clone());
            m.domains.push(pelton_model::machine::FreqDomain { cpus, turbo_khz, ..dom.clone() });
        }
        for pair in dom.cpus.chunks(2) {
            pair.iter().for_each(|&cpu| m.cpus[cpu as usize].smt = pair.to_vec());
        }
    }
}

pub fn random_policy(d: &mut Dice) -> SchedPolicy {
    match d.below(8) {
        0 => SchedPolicy::Fifo { priority: 1 + d.below(90) as u8 },
        1 => SchedPolicy::RoundRobin { priority: 1 + d.below(90) as u8 },
        2 => SchedPolicy::Deadline { runtime_ns: 500_000, deadline_ns: 20 * MS, period_ns: 20 * MS },
        3 => SchedPolicy::Batch { nice: 3 },
        4 => SchedPolicy::Idle,
        _ => SchedPolicy::Normal { nice: d.below(40) as i8 - 20, slice_ns: d.below(2) * 3 * MS },
    }
}

pub fn random_op(d: &mut Dice) -> Op {
    match d.below(16) {
        0 => Op::Sleep { ns: d.below(20 * MS) },
        1 if d.below(2) == 0 => Op::Spin { wall_ns: d.below(3 * MS) },
        1 => Op::Runtime { wall_ns: d.below(3 * MS) },
        2 => timer_ms(1 + d.below(30)),
        3 => Op::Signal(0),
        4 => Op::Broadcast(0),
        5 => Op::SemPost(0),
        6 => Op::Yield,
        7 => Op::SleepUniform { min_ns: 0, max_ns: 5 * MS },
        12 | 13 => Op::Write { channel: d.below(2) as u32, bytes: d.below(9000) as u32, work_ns: d.below(5000) },
        // Free, because the number of calls depends on how the bytes come.
        15 => Op::Io { device: d.below(2) as u32 },
        14 => Op::Read { channel: d.below(2) as u32, bytes: d.below(9000) as u32, work_ns: 0 },
        _ => Op::Run { work_ns: d.below(4 * MS) },
    }
}

pub fn random_task(d: &mut Dice, i: u64, cpus: u32) -> TaskSpec {
    let mut ops: Vec<Op> = (0..1 + d.below(5)).map(|_| random_op(d)).collect();
    ops.push(Op::Run { work_ns: 1 + d.below(3 * MS) });
    ops.push(Op::Sleep { ns: 100_000 + d.below(8 * MS) });
    if d.below(4) == 0 {
        ops.insert(0, Op::Suspend(0));
    }
    if d.below(4) == 0 {
        ops.splice(0..0, [Op::Lock(0), Op::Run { work_ns: 200_000 }, Op::Unlock(0)]);
    }
    let mut t = task(&format!("t{i}"), None, ops);
    t.policy = random_policy(d);
    let deadline = matches!(t.policy, SchedPolicy::Deadline { .. });
    if d.below(3) == 0 && !deadline {
        t.cpus = Some(CpuSet::of([d.below(u64::from(cpus)) as u32]));
    }
    if d.below(4) == 0 && !deadline {
        let mut phase = t.phases[0].clone();
        t.phases[0].loops = Some(20);
        phase.policy = Some(SchedPolicy::Fifo { priority: 5 });
        phase.cpus = Some(CpuSet::of([d.below(u64::from(cpus)) as u32]));
        phase.loops = Some(20);
        t.phases.push(phase);
        t.loops = None;
    }
    t
}

/// Paths of a random tree of task groups, one to six levels deep.
pub fn random_tree(d: &mut Dice, groups: u64) -> Vec<String> {
    let levels = 1 + d.below(GROUP_LEVELS) as usize;
    let mut paths: Vec<String> = Vec::new();
    for i in 0..groups {
        // Below the last one more often than below others: else hardly a branch is deep.
        let above = match d.below(4) {
            0 => "",
            1 if i > 0 => &paths[d.below(i) as usize],
            _ => paths.last().map_or("", String::as_str),
        };
        let above = if above.matches('/').count() < levels { above } else { "" };
        paths.push(format!("{above}/g{i}"));
    }
    paths
}

/// Puts tasks into groups of random shares, of a random tree; some move between them.
pub fn random_groups(d: &mut Dice, w: &mut Workload) {
    let groups = 1 + d.below(12);
    let mut paths = random_tree(d, groups);
    paths.push(String::new());
    let path = |d: &mut Dice| paths[d.below(paths.len() as u64) as usize].clone();
    for task in &mut w.tasks {
        task.taskgroup = path(d);
        for phase in task.phases.iter_mut().skip(1) {
            phase.taskgroup = (d.below(2) == 0).then(|| path(d));
        }
        if task.phases.len() > 1 && d.below(2) == 0 {
            // Back where it was at the start of each round.
            task.phases[0].taskgroup = Some(task.taskgroup.clone());
        }
        if d.below(4) == 0 {
            let mut moved = task.phases[0].clone();
            (moved.taskgroup, moved.loops, task.phases[0].loops) = (Some(path(d)), Some(7), Some(5));
            task.phases.push(moved);
            task.loops = None;
        }
    }
    for _ in 0..d.below(3 + groups / 2) {
        let shares = [2, 100, 1024, 4096, 262_144][d.below(5) as usize];
        let path = path(d);
        if w.groups.iter().all(|group| group.path != path) {
            w.groups.push(GroupSpec { path, shares, ..GroupSpec::default() });
        }
    }
}

/// Every group of a workload but the root, parents before children.
pub fn paths_of(w: &Workload) -> Vec<String> {
    group_paths(w).expect("fewer groups, on fewer levels, than there may be")
}

/// Some groups are idle, from the start or for a while.
pub fn random_idle_groups(d: &mut Dice, w: &mut Workload) {
    for path in paths_of(w) {
        if d.below(3) == 0 {
            match w.groups.iter_mut().find(|group| group.path == path) {
                Some(group) => group.idle = true,
                None => w.groups.push(GroupSpec { path: path.clone(), idle: true, ..GroupSpec::default() }),
            }
        }
        for _ in 0..d.below(4) {
            let (at_ns, path, idle) = (1 + d.below(400 * MS), path.clone(), Some(d.below(2) == 0));
            w.group_changes.push(GroupChange { at_ns, path, idle, ..GroupChange::default() });
        }
    }
    // An idle group takes no weight.
    w.group_changes.iter_mut().for_each(|change| change.shares = None);
}

/// Gives some of the groups quotas, all but a few of which are too short for a busy task.
pub fn random_quotas(d: &mut Dice, w: &mut Workload, bursts: bool) {
    for path in paths_of(w) {
        if d.below(3) == 0 {
            continue;
        }
        let period_ns = [10 * MS, 20 * MS, 100 * MS][d.below(3) as usize];
        let quota_ns = (period_ns / 100 * (1 + d.below(150))).max(MS);
        let burst_ns = if bursts && d.below(2) == 0 { d.below(quota_ns + 1) } else { 0 };
        let limit = Some(Bandwidth { quota_ns, period_ns, burst_ns });
        match w.groups.iter_mut().find(|group| group.path == path) {
            Some(group) => group.bandwidth = limit,
            None => w.groups.push(GroupSpec { path: path.clone(), bandwidth: limit, ..GroupSpec::default() }),
        }
        for _ in 0..d.below(3) {
            let quota_ns = (period_ns / 100 * (1 + d.below(150))).max(MS);
            let other = Some(Bandwidth { quota_ns, period_ns, burst_ns: 0 });
            w.group_changes.push(GroupChange {
                at_ns: 1 + d.below(400 * MS),
                path: path.clone(),
                shares: (d.below(2) == 0).then(|| 2 + d.below(4000)),
                bandwidth: [None, Some(None), Some(other)][d.below(3) as usize],
                ..GroupChange::default()
            });
        }
    }
}

pub fn random_workload(d: &mut Dice, cpus: u32) -> Workload {
    let n = 1 + d.below(10);
    let mut w = workload((0..n).map(|i| random_task(d, i, cpus)).collect());
    (w.mutexes, w.conds, w.semaphores) = (1, 1, vec![0]);
    w.channels = vec![ChannelSpec::PIPE, ChannelSpec::STREAM];
    let fast = DeviceSpec { service_ns: 20_000, jitter_ns: 100_000, depth: 8, irq_ns: 3_000 };
    w.devices = vec![fast, DeviceSpec { service_ns: 2 * MS, jitter_ns: 0, depth: 1, irq_ns: 0 }];
    if d.below(2) == 0 {
        w.irqs.push(pelton_model::workload::IrqSpec {
            cpu: 0,
            period_ns: 3 * MS,
            duration_ns: 1 + d.below(200_000),
            jitter_ns: d.below(MS),
        });
    }
    w
}
