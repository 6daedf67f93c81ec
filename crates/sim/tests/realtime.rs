// SPDX-License-Identifier: GPL-2.0-or-later
//! Real-time tasks: their limit, and that none waits beside an idle CPU.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec};
use pelton_schema::Event;

fn fifo(priority: u8) -> SchedPolicy {
    SchedPolicy::Fifo { priority }
}

fn starts(mut task: TaskSpec, after_ms: u64) -> TaskSpec {
    task.start = Start::After(after_ms * MS);
    task
}

fn allowed(mut task: TaskSpec, cpus: &[u32]) -> TaskSpec {
    task.cpus = Some(CpuSet::of(cpus.iter().copied()));
    task
}

#[test]
fn the_limit_holds_whenever_the_task_starts() {
    let m = fixed_speed(&[(1, 1024)]);
    for p in ["4.16", "7.2"] {
        for after_ms in [0, 60, 500, 900] {
            let hog = starts(with_policy(busy("rt"), fifo(1)), after_ms);
            let r = run_on(&m, &workload(vec![hog, busy("fair")]), p, 5000);
            // Periods of the limit begin with the first real-time task, those of the server with the clock.
            let span_ms = 5000 - after_ms;
            let limit = span_ms / 1000 * 950 + (span_ms % 1000).min(950);
            let rt_max = if p == "4.16" { limit } else { 4 * 950 + (1000 - after_ms).min(950) };
            assert!(near(r.tasks[0].run_ns, rt_max * MS, 8 * MS), "{p}, {after_ms}: {}", r.tasks[0].run_ns);
        }
    }
}

#[test]
fn a_throttle_for_fair_tasks_ends_with_them() {
    let m = fixed_speed(&[(1, 1024)]);
    let hog = with_policy(busy("rt"), fifo(1));
    let r = run_on(&m, &workload(vec![hog, starts(task("fair", Some(1), vec![run_ms(2)]), 960)]), "7.2", 3000);
    assert_eq!(r.tasks[1].run_ns, 2 * MS);
    assert_eq!(r.tasks[0].run_ns, 2998 * MS, "the CPU never idles");
}

#[test]
fn a_preempted_task_goes_to_an_idle_cpu() {
    let m = fixed_speed(&[(2, 1024)]);
    let w = workload(vec![
        with_policy(busy("weak"), fifo(10)),
        starts(on(with_policy(periodic("strong", 5000, 10_000), fifo(50)), 0), 5),
    ]);
    let r = run_on(&m, &w, "7.2", 900);
    assert_eq!(r.tasks[0].wait_ns, 0);
    assert_eq!(r.tasks[1].wakeup_latency_ns.max, 0);
}

/// From 5.5 on balances count tasks of all classes. Before, an idle CPU sees one fair task on the other, which is no
/// reason.
#[test]
fn a_fair_task_behind_a_realtime_task_is_taken_by_an_idle_cpu_from_5_10() {
    let run_ns = |p| {
        let m = fixed_speed(&[(2, 1024)]);
        let mut fair = busy("fair");
        let free = Phase { cpus: Some(CpuSet::first(2)), ..fair.phases[0].clone() };
        fair.phases = vec![
            Phase { cpus: Some(CpuSet::of([0])), loops: Some(1), ops: vec![run_ms(10)], ..Phase::default() },
            free,
        ];
        let w = workload(vec![fair, starts(on(with_policy(busy("rt"), fifo(1)), 0), 100)]);
        run_on(&m, &w, p, 900).tasks[0].run_ns
    };
    for p in ["4.12", "4.16", "4.19", "5.4"] {
        assert!(run_ns(p) < 110 * MS, "{p}: {}", run_ns(p));
    }
    for p in ["5.10", "6.6", "7.2"] {
        assert!(run_ns(p) > 890 * MS, "{p}: {}", run_ns(p));
    }
}

#[test]
fn pinned_tasks_on_the_busiest_cpu_do_not_hide_the_others() {
    let m = fixed_speed(&[(3, 1024)]);
    let mut tasks = vec![on(task("holds", Some(1), vec![run_ms(100)]), 2)];
    tasks.extend((0..4).map(|i| on(busy(&format!("pinned{i}")), 0)));
    tasks.extend((0..2).map(|i| allowed(busy(&format!("free{i}")), &[1, 2])));
    let r = run_on(&m, &workload(tasks), "7.2", 1000);
    assert!(r.cpus[2].busy_ns > 980 * MS, "{}", r.cpus[2].busy_ns);
}

#[test]
fn a_yield_without_company_does_not_cost_the_place_later() {
    let m = fixed_speed(&[(1, 1024)]);
    let w = workload(vec![
        with_policy(task("first", Some(1), vec![Op::Yield, run_ms(20)]), fifo(10)),
        starts(with_policy(task("second", Some(1), vec![run_ms(5)]), fifo(10)), 5),
        starts(with_policy(task("strong", Some(1), vec![run_ms(1)]), fifo(20)), 10),
    ]);
    let r = run_on(&m, &w, "7.2", 100);
    assert_eq!(r.tasks[1].wakeup_latency_ns.max, 16 * MS, "first goes on where it was preempted");
}

#[test]
fn waiting_at_the_end_of_a_run_counts() {
    let m = fixed_speed(&[(1, 1024)]);
    let w = workload(vec![with_policy(busy("rt"), fifo(1)), busy("starved")]);
    let r = run_on(&m, &w, "7.2", 500);
    assert_eq!((r.tasks[1].run_ns, r.tasks[1].wait_ns), (0, 500 * MS));
}

#[test]
fn a_stale_signal_fades_on_a_cpu_that_is_busy_with_fair_work() {
    let m = machine(&[(1, 1024)]);
    let w = workload(vec![with_policy(task("burst", Some(1), vec![run_ms(300)]), fifo(1)), busy("fair")]);
    let (_, events) = events_of(&m, &w, "7.2", &config(2000));
    let last = events.iter().rev().find_map(|(_, e)| match *e {
        Event::PeltRt { util_avg, .. } => Some(util_avg),
        _ => None,
    });
    assert_eq!(last, Some(0));
}

/// 4 little and 4 big CPUs at one speed each.
fn little_and_big() -> Machine {
    fixed_speed(&[(4, 400), (4, 1024)])
}

#[test]
fn real_time_tasks_go_to_the_cpus_that_their_clamps_ask_for_from_5_10() {
    let m = little_and_big();
    let runs_on = |p: &str, clamps: Option<(u32, u32)>| {
        let mut rt = allowed(with_policy(periodic("rt", 1000, 10_000), fifo(10)), &[1]);
        rt.uclamp = clamps;
        rt.phases.push(Phase { cpus: Some(CpuSet::of(0..8)), loops: Some(50), ..rt.phases[0].clone() });
        rt.phases[0].loops = Some(10);
        let w = workload(vec![rt]);
        let (_, log) = events_of(&m, &w, p, &config(600));
        let mut last = log.iter().filter_map(|(_, e)| match *e {
            Event::SchedSwitch { cpu, next_tid, .. } if next_tid > 0 => Some(cpu),
            _ => None,
        });
        last.next_back().expect("it ran")
    };
    for p in ["4.12", "4.19", "5.4"] {
        assert_eq!(runs_on(p, None), 1, "{p}: it stays where it ran");
    }
    for p in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "7.2"] {
        assert!(runs_on(p, None) >= 4, "{p}: real-time tasks ask for everything (sched_util_clamp_min_rt_default)");
        assert_eq!(runs_on(p, Some((0, 1024))), 1, "{p}: unless they ask for less");
        assert_eq!(runs_on(p, Some((512, 300))), 1, "{p}: the smaller clamp counts");
    }
}

/// One that wakes there; one that is preempted there stays (`rt_queue_push_tasks` is for picked real-time tasks).
#[test]
fn a_real_time_task_does_not_wait_behind_a_deadline_task_from_6_1() {
    let m = fixed_speed(&[(2, 1024)]);
    let waits_ms = |p: &str| {
        let reservation = SchedPolicy::Deadline { runtime_ns: 60 * MS, deadline_ns: 100 * MS, period_ns: 100 * MS };
        let deadline = starts(on(with_policy(task("dl", Some(1), vec![run_ms(50)]), reservation), 0), 5);
        let mut rt = with_policy(task("rt", Some(1), vec![Op::Sleep { ns: 10 * MS }, run_ms(1)]), fifo(1));
        // It begins where the other one runs later.
        let first = Phase { cpus: Some(CpuSet::of([0])), loops: Some(1), ops: vec![run_ms(1)], ..rt.phases[0].clone() };
        rt.phases = vec![first, Phase { cpus: Some(CpuSet::first(2)), loops: Some(1), ..rt.phases[0].clone() }];
        run_on(&m, &workload(vec![rt, deadline]), p, 200).tasks[0].wait_ns / MS
    };
    for p in ["4.12", "4.16", "5.4", "5.10"] {
        assert!(waits_ms(p) > 30, "{p}: {}", waits_ms(p));
    }
    for p in ["6.1", "6.6", "6.8", "6.12", "7.2"] {
        assert_eq!(waits_ms(p), 0, "{p}");
    }
}

#[test]
fn a_pinned_real_time_task_takes_the_place_of_an_equal_one_that_may_move() {
    let m = fixed_speed(&[(2, 1024)]);
    for p in ["4.12", "5.10", "7.2"] {
        let w = workload(vec![
            on(with_policy(task("holds", Some(1), vec![run_ms(5)]), fifo(10)), 1),
            starts(with_policy(task("moves", Some(1), vec![run_ms(100)]), fifo(10)), 1),
            starts(on(with_policy(task("pinned", Some(1), vec![run_ms(20)]), fifo(10)), 0), 50),
        ]);
        let r = run_on(&m, &w, p, 300);
        assert!(
            r.tasks[1].wait_ns < MS && r.tasks[2].wait_ns < MS,
            "{p}: {} {}",
            r.tasks[1].wait_ns,
            r.tasks[2].wait_ns
        );
    }
}

#[test]
fn a_deadline_task_wakes_where_its_reservation_fits_from_5_10() {
    let m = little_and_big();
    let wakes_on_big = |p: &str| {
        let reservation = SchedPolicy::Deadline { runtime_ns: 6 * MS, deadline_ns: 10 * MS, period_ns: 10 * MS };
        let mut task = with_policy(task("dl", Some(20), vec![run_ms(1), Op::Sleep { ns: 9 * MS }]), reservation);
        task.phases.insert(0, Phase { cpus: Some(CpuSet::of([0])), loops: Some(1), ..task.phases[0].clone() });
        task.phases[1].cpus = Some(CpuSet::of(0..8));
        let (_, log) = events_of(&m, &workload(vec![task]), p, &config(200));
        log.iter().any(|(_, e)| matches!(*e, Event::SchedSwitch { cpu: 4.., next_tid: 1.., .. }))
    };
    for p in ["4.12", "5.4"] {
        assert!(!wakes_on_big(p), "{p}");
    }
    for p in ["5.10", "6.6", "7.2"] {
        assert!(wakes_on_big(p), "{p}");
    }
}
