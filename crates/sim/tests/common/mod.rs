// SPDX-License-Identifier: GPL-2.0-or-later
//! Small machines and workloads for the engine's tests.
#![allow(dead_code, missing_docs, reason = "each test file uses its own part of this")]

pub mod random;

use pelton_core::Policy;
use pelton_model::RunConfig;
use pelton_model::machine::{Cluster, Cpu, FreqDomain, IdleState, Machine, Opp};
use pelton_model::workload::{CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec, TimerId, TimerMode, Workload};
use pelton_schema::{Event, NullSink, Sink};
use pelton_sim::Report;

pub const MS: u64 = 1_000_000;

pub fn idle(name: &str, exit_us: u64, residency_us: u64, power_uw: u64) -> IdleState {
    IdleState {
        name: name.into(),
        entry_latency_ns: 0,
        exit_latency_ns: exit_us * 1000,
        exit_ns_per_ghz: 0,
        reported_latency_ns: 0,
        min_residency_ns: residency_us * 1000,
        power_uw: Some(power_uw),
        shared: false,
    }
}

/// `groups`: (CPUs, capacity) per domain; three OPPs each, fast switch, no latency.
pub fn machine(groups: &[(u32, u32)]) -> Machine {
    let mut m = Machine { name: "test".into(), hz: 250, ..Machine::default() };
    for &(n, capacity) in groups {
        let first = m.cpus.len() as u32;
        let domain = m.domains.len() as u32;
        let cpus: Vec<u32> = (first..first + n).collect();
        for &c in &cpus {
            m.cpus.push(Cpu { capacity, domain, cluster: domain, smt: vec![c] });
        }
        m.clusters.push(Cluster {
            name: format!("cluster{domain}"),
            cpus: cpus.clone(),
            active_power_uw: vec![10_000, 20_000, 40_000],
            idle_power_uw: vec![5_000, 0],
        });
        let opp = |khz, power_uw| Opp { khz, uv: 0, power_uw };
        m.domains.push(FreqDomain {
            name: format!("domain{domain}"),
            cpus,
            opps: vec![opp(500_000, 100_000), opp(1_000_000, 300_000), opp(2_000_000, 1_000_000)],
            ref_khz: 2_000_000,
            fast_switch: true,
            dvfs_from_any_cpu: true,
            rate_limit_us: Some(1000),
            idle_states: vec![idle("wfi", 0, 0, 1000), idle("off", 0, 1000, 0)],
            freq_invariant: true,
            ..FreqDomain::default()
        });
    }
    m.llcs = vec![(0..m.cpus.len() as u32).collect()];
    m
}

/// One operating point only: nothing scales.
pub fn fixed_speed(groups: &[(u32, u32)]) -> Machine {
    let mut m = machine(groups);
    for d in &mut m.domains {
        d.opps = vec![Opp { khz: 2_000_000, uv: 0, power_uw: 1_000_000 }];
    }
    m
}

pub fn task(name: &str, loops: Option<u64>, ops: Vec<Op>) -> TaskSpec {
    TaskSpec {
        name: name.into(),
        loops: Some(1),
        phases: vec![Phase { loops, ops, ..Phase::default() }],
        own_timers: 1,
        ..TaskSpec::default()
    }
}

pub fn run_ms(ms: u64) -> Op {
    Op::Run { work_ns: ms * MS }
}

pub fn timer_ms(ms: u64) -> Op {
    Op::Timer { timer: TimerId::Own(0), period_ns: ms * MS, mode: TimerMode::Relative }
}

pub fn periodic(name: &str, run_us: u64, period_us: u64) -> TaskSpec {
    let timer = Op::Timer { timer: TimerId::Own(0), period_ns: period_us * 1000, mode: TimerMode::Absolute };
    task(name, None, vec![Op::Run { work_ns: run_us * 1000 }, timer])
}

pub fn busy(name: &str) -> TaskSpec {
    task(name, None, vec![run_ms(1000)])
}

pub fn on(mut task: TaskSpec, cpu: u32) -> TaskSpec {
    task.cpus = Some(CpuSet::of([cpu]));
    task
}

pub fn with_policy(mut task: TaskSpec, policy: SchedPolicy) -> TaskSpec {
    task.policy = policy;
    task
}

pub fn workload(tasks: Vec<TaskSpec>) -> Workload {
    Workload { name: "test".into(), tasks, ..Workload::default() }
}

pub fn profile(name: &str) -> Policy {
    Policy::profile(name).expect("profiles of the table exist")
}

pub fn config(ms: u64) -> RunConfig {
    RunConfig { duration_ns: ms * MS, ..RunConfig::default() }
}

pub fn run_on(m: &Machine, w: &Workload, profile_name: &str, ms: u64) -> Report {
    pelton_sim::run(m, w, &profile(profile_name), &config(ms), NullSink).expect("runs")
}

/// Keeps every event.
#[derive(Default)]
pub struct Keep(pub Vec<(u64, Event)>);

impl Sink for Keep {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.push((time_ns, *event));
    }
}

pub fn events_of(m: &Machine, w: &Workload, profile_name: &str, config: &RunConfig) -> (Report, Vec<(u64, Event)>) {
    let mut keep = Keep::default();
    let report = pelton_sim::run(m, w, &profile(profile_name), config, &mut keep).expect("runs");
    (report, keep.0)
}

/// Within `tolerance` of each other.
pub fn near(a: u64, b: u64, tolerance: u64) -> bool {
    a.abs_diff(b) <= tolerance
}

/// Number of busy tasks, of `tasks` started apart, that began on a last-level cache other than the first one's.
pub fn begin_elsewhere(m: &Machine, profile: &str, tasks: u32) -> usize {
    let later = |i: u32| TaskSpec { start: Start::After(u64::from(i) * 10 * MS), ..busy(&format!("b{i}")) };
    let all = (0..tasks).map(later).collect();
    let (_, events) = events_of(m, &workload(all), profile, &config(200));
    let mut began = vec![None; tasks as usize];
    for (_, event) in events {
        if let Event::SchedSwitch { cpu, next_tid, .. } = event
            && let Some(began) = (next_tid as usize).checked_sub(1).and_then(|at| began.get_mut(at))
        {
            began.get_or_insert(cpu);
        }
    }
    let cache = |cpu: &Option<u32>| cpu.and_then(|cpu| m.llcs.iter().position(|cpus| cpus.contains(&cpu)));
    began.iter().filter(|cpu| cache(cpu) != cache(&began[0])).count()
}
