// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes of class, weight and CPU: signals and places follow the task. Runs that make no progress end.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{CpuSet, IrqSpec, Op, Phase, SchedPolicy, Start, TaskSpec, Workload};
use pelton_schema::{Event, NullSink};
use pelton_sim::SimError;

fn phase(policy: SchedPolicy, ms: u64) -> Phase {
    Phase { policy: Some(policy), loops: Some(1), ops: vec![Op::Runtime { wall_ns: ms * MS }], ..Phase::default() }
}

fn phases(phases: Vec<Phase>) -> TaskSpec {
    let mut t = task("t", Some(1), vec![]);
    t.phases = phases;
    t
}

/// Last published (utilization, load) of task 1 and of its CPU's root queue.
fn last_published(m: &Machine, w: &Workload, profile_name: &str, ms: u64) -> ((u32, u64), (u32, u64)) {
    let (_, events) = events_of(m, w, profile_name, &config(ms));
    let se = events.iter().rev().find_map(|(_, e)| match *e {
        Event::PeltSe { tid: 1, util_avg, load_avg, .. } => Some((util_avg, load_avg)),
        _ => None,
    });
    let cfs = events.iter().rev().find_map(|(_, e)| match *e {
        Event::PeltCfs { cpu: 0, util_avg, load_avg, .. } => Some((util_avg, load_avg)),
        _ => None,
    });
    (se.expect("tracked"), cfs.expect("tracked"))
}

fn normal(nice: i8) -> SchedPolicy {
    SchedPolicy::Normal { nice, slice_ns: 0 }
}

#[test]
fn a_task_that_returns_to_the_fair_class_is_part_of_the_queue_again() {
    let m = fixed_speed(&[(1, 1024)]);
    let rt = SchedPolicy::Fifo { priority: 5 };
    for p in ["4.16", "5.10", "7.2"] {
        let returned = phases(vec![phase(normal(0), 300), phase(rt, 100), phase(normal(0), 20)]);
        let ((se, _), (cfs, _)) = last_published(&m, &workload(vec![returned]), p, 500);
        assert!(se > 300 && near(u64::from(se), u64::from(cfs), 10), "{p}: task {se}, queue {cfs}");
        let arrived = with_policy(phases(vec![phase(rt, 100), phase(normal(0), 50)]), rt);
        let ((se, _), (cfs, _)) = last_published(&m, &workload(vec![arrived]), p, 500);
        assert!(se > 300 && near(u64::from(se), u64::from(cfs), 10), "{p}: task {se}, queue {cfs}");
    }
}

#[test]
fn a_new_nice_value_changes_the_load_of_task_and_queue_alike() {
    let m = fixed_speed(&[(1, 1024)]);
    for p in ["4.16", "7.2"] {
        let t = phases(vec![phase(normal(0), 300), phase(normal(-10), 100), phase(normal(10), 20)]);
        let ((_, se), (_, cfs)) = last_published(&m, &workload(vec![t]), p, 450);
        assert!(near(se, 110, 3) && near(cfs, se, 4), "{p}: task {se}, queue {cfs}");
    }
}

#[test]
fn a_cfs_task_that_wakes_on_a_younger_queue_does_not_wait_for_it_to_catch_up() {
    let m = fixed_speed(&[(2, 1024)]);
    let mut t = phases(vec![
        Phase { cpus: Some(CpuSet::of([0])), loops: Some(1), ops: vec![run_ms(100)], ..Phase::default() },
        Phase {
            cpus: Some(CpuSet::of([0, 1])),
            loops: Some(1),
            ops: vec![Op::SemWait(0), run_ms(1)],
            ..Phase::default()
        },
    ]);
    t.name = "moves".into();
    let mut waker = on(task("waker", Some(1), vec![run_ms(5), Op::SemPost(0), run_ms(300)]), 1);
    waker.start = Start::After(2000 * MS);
    let mut tasks = vec![t, waker];
    tasks.extend((0..4).map(|i| on(busy(&format!("busy{i}")), 0)));
    let mut w = workload(tasks);
    w.semaphores = vec![0];
    let r = run_on(&m, &w, "5.10", 3000);
    assert_eq!(r.tasks[0].migrations, 1, "the waker's queue is the lighter one");
    assert!(r.tasks[0].wakeup_latency_ns.max < 20 * MS, "{}", r.tasks[0].wakeup_latency_ns.max);
}

fn no_progress(w: &Workload) {
    let m = fixed_speed(&[(2, 1024)]);
    for p in ["4.16", "7.2"] {
        let err = pelton_sim::run(&m, w, &profile(p), &config(50), NullSink).expect_err("it never ends");
        assert!(matches!(err, SimError::NoProgress { .. }), "{p}: {err}");
    }
}

#[test]
fn tasks_that_pass_the_turn_without_working_are_refused() {
    no_progress(&workload(vec![task("alone", None, vec![Op::Yield])]));
    no_progress(&workload(vec![on(task("a", None, vec![Op::Yield]), 0), on(task("b", None, vec![Op::Yield]), 0)]));
    no_progress(&workload(vec![task("alone", None, vec![Op::Exec])]));
    no_progress(&workload((0..5).map(|_| task("crowd", None, vec![Op::Exec])).collect()));
    let ping = task("ping", None, vec![Op::SemPost(0), Op::SemWait(1)]);
    let pong = task("pong", None, vec![Op::SemWait(0), Op::SemPost(1)]);
    let mut w = workload(vec![ping, pong]);
    w.semaphores = vec![0, 0];
    no_progress(&w);
    let mut bomb = task("bomb", Some(1), vec![Op::Fork { task: 0 }, Op::Fork { task: 0 }]);
    bomb.start = Start::AtStart;
    no_progress(&workload(vec![bomb]));
}

#[test]
fn yielding_lets_a_busy_task_run() {
    let m = fixed_speed(&[(1, 1024)]);
    for p in ["4.16", "6.6", "7.2"] {
        let polls = task("polls", None, vec![Op::Run { work_ns: 10_000 }, Op::Yield]);
        let r = run_on(&m, &workload(vec![polls, busy("works")]), p, 1000);
        assert!(r.tasks[1].run_ns > 300 * MS, "{p}: {}", r.tasks[1].run_ns);
    }
}

#[test]
fn interrupts_of_any_length_are_survived() {
    let m = fixed_speed(&[(1, 1024)]);
    let mut w = workload(vec![busy("t")]);
    w.irqs.push(IrqSpec { cpu: 0, period_ns: u64::MAX - 1, duration_ns: 5, jitter_ns: u64::MAX });
    w.irqs.push(IrqSpec { cpu: 0, period_ns: 10 * MS, duration_ns: u64::MAX, jitter_ns: 0 });
    let r = run_on(&m, &w, "7.2", 100);
    assert_eq!((r.tasks[0].run_ns, r.cpus[0].irq_ns), (10 * MS, 90 * MS));
}

#[test]
fn kernel_work_at_the_end_of_a_burst_keeps_the_cpu_awake_and_not_the_next_task() {
    let mut m = fixed_speed(&[(1, 1024)]);
    m.domains[0].rate_limit_us = Some(0);
    m.costs.hook_ns = 200_000;
    let r = run_on(&m, &workload(vec![periodic("t", 2000, 20_000)]), "7.2", 1000);
    assert!(r.cpus[0].overhead_ns > 0);
    // At most one hook, that of its own wake-up, comes before the task.
    let longest_ns = r.tasks[0].activation_ns.summary().max;
    assert!(longest_ns <= 2_450_000, "{longest_ns}");
}

#[test]
fn a_fast_switch_stalls_for_the_time_it_takes_at_any_speed() {
    for capacity in [1024, 128] {
        let mut m = machine(&[(1, capacity)]);
        m.domains[0].switch_time_ns = 100_000;
        let r = run_on(&m, &workload(vec![periodic("t", 4000, 100_000)]), "7.2", 2000);
        let calls = r.domains[0].driver_calls;
        assert!(
            calls > 0 && near(r.cpus[0].overhead_ns, calls * 100_000, 100_000),
            "{calls} calls, {}",
            r.cpus[0].overhead_ns
        );
    }
}

#[test]
fn a_kick_does_not_wake_a_worker_that_sleeps_in_the_driver() {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].fast_switch = false;
    m.domains[0].driver_sleeps = true;
    m.domains[0].switch_time_ns = 4 * MS;
    m.domains[0].rate_limit_us = Some(0);
    let rt = SchedPolicy::Fifo { priority: 1 };
    let w = workload(vec![on(periodic("a", 300, 1700), 0), on(with_policy(periodic("b", 200, 2300), rt), 1)]);
    let r = run_on(&m, &w, "6.1", 2000);
    let worker = r.tasks.last().expect("worker");
    assert!(
        worker.switches <= 2 * r.domains[0].driver_calls + 1,
        "{} switches, {} calls",
        worker.switches,
        r.domains[0].driver_calls
    );
}

/// A task that works for 2 ms once, and then twice for 3 ms at a clamp.
fn with_a_first_phase() -> TaskSpec {
    let first = Phase { silent: true, uclamp: None, ..phase(normal(0), 2) };
    let clamped = Phase { uclamp: Some((0, 100)), ..phase(normal(0), 3) };
    TaskSpec { loops: Some(2), first_phases: 1, ..phases(vec![first, clamped]) }
}

#[test]
fn first_phases_come_once_and_belong_to_no_activation() {
    let m = fixed_speed(&[(1, 1024)]);
    let (_, events) = events_of(&m, &workload(vec![with_a_first_phase()]), "7.2", &config(50));
    let of = |e: &Event| match *e {
        Event::TaskActivation { start_ns, run_ns, duration_ns, .. } => Some((start_ns, run_ns, duration_ns)),
        _ => None,
    };
    let seen: Vec<_> = events.iter().filter_map(|(_, e)| of(e)).collect();
    assert_eq!(seen, [(2 * MS, 3 * MS, 3 * MS), (5 * MS, 3 * MS, 3 * MS)]);
    let clamped = |e: &Event| matches!(*e, Event::TaskAttributes { uclamp_max: 100, .. });
    let at = events.iter().find(|(_, e)| clamped(e)).map(|&(at, _)| at);
    assert_eq!(at, Some(2 * MS), "the clamp comes with its phase");
}
