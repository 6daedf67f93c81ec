// SPDX-License-Identifier: GPL-2.0-only
//! Random platforms, workloads and policies: invariants hold, and two runs are one.

mod common;
use common::*;
use pelton_schema::Event;
use pelton_sim::workload::{CpuSet, Op, SchedPolicy, TaskSpec, Workload};
use pelton_sim::{Machine, Report, RunConfig};

/// Seeds tried here; the number of CI.
const SEEDS: u64 = 150;

/// A small multiplicative generator: the test's own, so that it does not change with the engine's.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn random_machine(d: &mut Dice) -> Machine {
    let domains = 1 + d.below(3);
    let groups: Vec<(u32, u32)> =
        (0..domains).map(|i| (1 + d.below(4) as u32, if i == 0 { 1024 } else { 200 + d.below(824) as u32 })).collect();
    let mut m = machine(&groups);
    m.hz = [100, 250, 300, 1000][d.below(4) as usize];
    for dom in &mut m.domains {
        dom.fast_switch = d.below(2) == 0;
        dom.switch_time_ns = d.below(500_000);
        dom.driver_sleeps = d.below(2) == 0;
        dom.idle_states[1].exit_latency_ns = d.below(900_000);
        dom.rate_limit_us = Some(d.below(12_000));
    }
    if d.below(2) == 0 {
        m.costs.context_switch_ns = d.below(5000);
        m.costs.hook_ns = d.below(2000);
        m.costs.tick_ns = d.below(5000);
        m.costs.wakeup_ns = d.below(5000);
        m.costs.migration_ns = d.below(20_000);
    }
    m
}

fn random_policy(d: &mut Dice) -> SchedPolicy {
    match d.below(8) {
        0 => SchedPolicy::Fifo { priority: 1 + d.below(90) as u8 },
        1 => SchedPolicy::RoundRobin { priority: 1 + d.below(90) as u8 },
        2 => SchedPolicy::Deadline { runtime_ns: 500_000, deadline_ns: 20 * MS, period_ns: 20 * MS },
        3 => SchedPolicy::Batch { nice: 3 },
        4 => SchedPolicy::Idle,
        _ => SchedPolicy::Normal { nice: d.below(40) as i8 - 20, slice_ns: d.below(2) * 3 * MS },
    }
}

fn random_op(d: &mut Dice) -> Op {
    match d.below(12) {
        0 => Op::Sleep { ns: d.below(20 * MS) },
        1 => Op::Runtime { wall_ns: d.below(3 * MS) },
        2 => timer_ms(1 + d.below(30)),
        3 => Op::Signal(0),
        4 => Op::Broadcast(0),
        5 => Op::SemPost(0),
        6 => Op::Yield,
        7 => Op::SleepUniform { min_ns: 0, max_ns: 5 * MS },
        _ => Op::Run { work_ns: d.below(4 * MS) },
    }
}

fn random_task(d: &mut Dice, i: u64, cpus: u32) -> TaskSpec {
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

fn random_workload(d: &mut Dice, cpus: u32) -> Workload {
    let n = 1 + d.below(10);
    let mut w = workload((0..n).map(|i| random_task(d, i, cpus)).collect());
    (w.mutexes, w.conds, w.semaphores) = (1, 1, vec![0]);
    if d.below(2) == 0 {
        w.irqs.push(pelton_sim::workload::IrqSpec {
            cpu: 0,
            period_ns: 3 * MS,
            duration_ns: 1 + d.below(200_000),
            jitter_ns: d.below(MS),
        });
    }
    w
}

fn hash(events: &[(u64, Event)]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for entry in events {
        for b in format!("{entry:?}").bytes() {
            h = (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        }
    }
    h
}

fn check(seed: u64, m: &Machine, r: &Report, events: &[(u64, Event)]) {
    assert!(events.windows(2).all(|w| w[0].0 <= w[1].0), "seed {seed}: time runs backwards");
    for c in &r.cpus {
        let total = c.busy_ns + c.irq_ns + c.overhead_ns + c.idle_ns.iter().sum::<u64>();
        assert_eq!(total, r.duration_ns, "seed {seed}: every ns of a CPU is accounted once");
    }
    let busy: u64 = r.cpus.iter().map(|c| c.busy_ns).sum();
    let ran: u64 = r.tasks.iter().map(|t| t.run_ns).sum();
    assert_eq!(busy, ran, "seed {seed}: CPU time is task time");
    let parts: u64 = r.cpus.iter().map(|c| c.energy_active_uj + c.energy_idle_uj).sum();
    assert!(near(parts, r.domains.iter().map(|d| d.energy_uj).sum(), 2 * r.cpus.len() as u64), "seed {seed}: energy");
    for (d, dom) in r.domains.iter().zip(&m.domains) {
        assert_eq!(d.time_in_state_ns.iter().sum::<u64>(), r.duration_ns, "seed {seed}: {}", dom.name);
    }
    for (t, e) in events {
        check_event(seed, *t, e, m);
    }
    check_switches(seed, events, m.cpus.len());
}

fn check_event(seed: u64, t: u64, e: &Event, m: &Machine) {
    match *e {
        Event::PeltSe { util_avg, .. } => assert!(util_avg <= 1024, "seed {seed} at {t}: {e:?}"),
        Event::PeltRt { util_avg, .. } | Event::PeltDl { util_avg, .. } => {
            assert!(util_avg <= 1024, "seed {seed} at {t}: {e:?}")
        }
        Event::FreqDecision { gate: 0, domain, resolved_khz, .. } => {
            assert!(m.domains[domain as usize].opps.iter().any(|o| o.khz == resolved_khz), "seed {seed} at {t}: {e:?}");
        }
        _ => {}
    }
}

/// Each switch leaves the task the previous one started, and a task runs on one CPU at a time.
fn check_switches(seed: u64, events: &[(u64, Event)], cpus: usize) {
    let mut running = vec![0u32; cpus];
    for (t, e) in events {
        if let Event::SchedSwitch { cpu, prev_tid, next_tid, .. } = *e {
            assert_eq!(running[cpu as usize], prev_tid, "seed {seed} at {t}");
            assert!(next_tid == 0 || !running.contains(&next_tid), "seed {seed} at {t}: task {next_tid} runs twice");
            running[cpu as usize] = next_tid;
        }
    }
}

#[test]
fn invariants_hold_and_two_runs_are_one() {
    const PROFILES: [&str; 10] = ["4.12", "4.16", "4.19", "5.4", "5.10", "6.1", "6.6", "6.12", "6.18", "7.2"];
    for seed in 0..SEEDS {
        let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let m = random_machine(&mut d);
        let w = random_workload(&mut d, m.cpus.len() as u32);
        let p = PROFILES[d.below(10) as usize];
        let cfg = RunConfig { seed, start_phase_random: d.below(2) == 0, ..config(400) };
        let (r, events) = events_of(&m, &w, p, &cfg);
        check(seed, &m, &r, &events);
        let (again, same) = events_of(&m, &w, p, &cfg);
        assert_eq!(r, again, "seed {seed}");
        assert_eq!(hash(&events), hash(&same), "seed {seed}");
    }
}
