// SPDX-License-Identifier: GPL-2.0-or-later
//! Distribution of the CPU: shares, priorities, reservations, affinity.

use crate::common::*;
use pelton_model::workload::{ChannelSpec, CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec, TimerId, TimerMode};
use pelton_schema::{Event, NullSink};

#[test]
fn work_takes_its_time_at_full_speed_and_longer_on_a_small_cpu() {
    for (capacity, expected_ms) in [(1024, 100), (512, 200), (256, 400)] {
        let m = fixed_speed(&[(1, capacity)]);
        let r = run_on(&m, &workload(vec![task("t", Some(1), vec![run_ms(100)])]), "7.2", 1000);
        assert!(near(r.tasks[0].run_ns, expected_ms * MS, 1000), "capacity {capacity}: {}", r.tasks[0].run_ns);
        assert!(near(r.tasks[0].work_ns, 100 * MS, 1000));
    }
}

#[test]
fn equal_tasks_share_equally_under_cfs_and_eevdf() {
    for p in ["4.16", "5.10", "6.6", "7.2"] {
        let m = fixed_speed(&[(1, 1024)]);
        let r = run_on(&m, &workload(vec![busy("a"), busy("b"), busy("c")]), p, 3000);
        for t in &r.tasks[..3] {
            assert!(near(t.run_ns, 1000 * MS, 20 * MS), "{p}: {} got {}", t.name, t.run_ns);
        }
    }
}

#[test]
fn nice_values_divide_by_weight() {
    for p in ["4.16", "7.2"] {
        let m = fixed_speed(&[(1, 1024)]);
        let nice = |n| SchedPolicy::Normal { nice: n, slice_ns: 0 };
        let r = run_on(&m, &workload(vec![with_policy(busy("a"), nice(0)), with_policy(busy("b"), nice(5))]), p, 4000);
        // 1024 : 335
        let share = r.tasks[0].run_ns * 1000 / (r.tasks[0].run_ns + r.tasks[1].run_ns);
        assert!(near(share, 753, 15), "{p}: {share}");
    }
}

#[test]
fn realtime_preempts_fair_and_fifo_does_not_rotate() {
    let m = fixed_speed(&[(1, 1024)]);
    let fifo = |p| SchedPolicy::Fifo { priority: p };
    let w = workload(vec![
        busy("fair"),
        with_policy(periodic("rt", 2000, 10_000), fifo(10)),
        with_policy(task("late", Some(1), vec![run_ms(5)]), fifo(10)),
    ]);
    let r = run_on(&m, &w, "7.2", 1000);
    assert_eq!(r.tasks[1].run_ns, 200 * MS);
    assert_eq!(r.tasks[2].run_ns, 5 * MS);
    assert!(near(r.tasks[0].run_ns, 795 * MS, MS));
    assert!(r.tasks[1].wakeup_latency_ns.max <= 5 * MS);
}

#[test]
fn round_robin_rotates_after_its_quantum() {
    let m = fixed_speed(&[(1, 1024)]);
    let rr = SchedPolicy::RoundRobin { priority: 5 };
    let r = run_on(&m, &workload(vec![with_policy(busy("a"), rr), with_policy(busy("b"), rr)]), "7.2", 2000);
    assert!(near(r.tasks[0].run_ns, 1000 * MS, 110 * MS), "{}", r.tasks[0].run_ns);
    assert!(r.tasks[0].switches >= 9);
}

#[test]
fn deadline_task_gets_its_budget_and_no_more() {
    let m = fixed_speed(&[(1, 1024)]);
    let dl = SchedPolicy::Deadline { runtime_ns: 3 * MS, deadline_ns: 10 * MS, period_ns: 10 * MS };
    let r = run_on(
        &m,
        &workload(vec![with_policy(busy("dl"), dl), with_policy(busy("rt"), SchedPolicy::Fifo { priority: 99 })]),
        "7.2",
        1000,
    );
    assert!(near(r.tasks[0].run_ns, 300 * MS, 3 * MS), "{}", r.tasks[0].run_ns);
    assert!(near(r.tasks[1].run_ns, 700 * MS, 3 * MS));
}

#[test]
fn waking_realtime_task_moves_to_a_cpu_with_weaker_work() {
    let m = fixed_speed(&[(2, 1024)]);
    let fifo = |p| SchedPolicy::Fifo { priority: p };
    let w = workload(vec![
        on(with_policy(busy("strong"), fifo(50)), 0),
        on(busy("fair"), 1),
        with_policy(periodic("rt", 1000, 10_000), fifo(10)),
    ]);
    let r = run_on(&m, &w, "7.2", 1000);
    assert_eq!(r.tasks[2].run_ns, 100 * MS);
    assert_eq!(r.tasks[2].wakeup_latency_ns.max, 0);
}

#[test]
fn affinity_is_kept_and_a_phase_can_change_it() {
    let m = fixed_speed(&[(2, 1024)]);
    let mut t = task("t", Some(1), vec![run_ms(10)]);
    let mut second = t.phases[0].clone();
    t.phases[0].cpus = Some(pelton_model::workload::CpuSet::of([0]));
    second.cpus = Some(pelton_model::workload::CpuSet::of([1]));
    t.phases.push(second);
    let r = run_on(&m, &workload(vec![t]), "7.2", 100);
    assert_eq!((r.cpus[0].busy_ns, r.cpus[1].busy_ns), (10 * MS, 10 * MS));
    assert_eq!(r.tasks[0].migrations, 1);
}

/// CPUs that a task runs on which is confined to the others and back, ten times; CPU 1 is busy, CPU 2 and 3 idle.
fn confined_to_others(profile: &str) -> Vec<u32> {
    let m = fixed_speed(&[(4, 1024)]);
    let mut t = task("t", None, vec![run_ms(2), Op::Sleep { ns: MS }]);
    let alone = Phase { cpus: Some(CpuSet::of([0])), loops: Some(1), ..t.phases[0].clone() };
    let others = Phase { cpus: Some(CpuSet::of([1, 2, 3])), loops: Some(1), ..t.phases[0].clone() };
    (t.phases, t.loops) = (vec![alone, others], None);
    let (_, events) = events_of(&m, &workload(vec![t, on(busy("hog"), 1)]), profile, &config(120));
    // A wake-up in between goes where it likes: what counts is where it went from CPU 0.
    let left = |e: &(u64, Event)| match e.1 {
        Event::SchedMigrateTask { tid: 1, orig_cpu: 0, dest_cpu, .. } => Some(dest_cpu),
        _ => None,
    };
    events.iter().filter_map(left).take(6).collect()
}

/// core.c __set_cpus_allowed_ptr: cpumask_any_and() to 5.4, cpumask_any_and_distribute() of the CPU that asks from 5.10
/// on, which also counts the change back to CPU 0. Neither looks for an idle CPU.
#[test]
fn a_task_that_may_no_longer_run_where_it_does_goes_to_the_first_or_the_next_cpu() {
    for profile in ["4.12", "4.19", "5.4"] {
        assert_eq!(confined_to_others(profile), [1; 6], "{profile}");
    }
    for profile in ["5.10", "6.1", "6.12", "7.2"] {
        let went = confined_to_others(profile);
        assert!(went.len() == 6 && [1, 2, 3].iter().all(|c| went.contains(c)), "{profile}: {went:?}");
    }
}

#[test]
fn two_busy_tasks_spread_over_two_cpus() {
    for p in ["4.16", "7.2"] {
        let m = fixed_speed(&[(2, 1024)]);
        let w = workload(vec![busy("a"), busy("b"), busy("c"), busy("d")]);
        let r = run_on(&m, &w, p, 1000);
        assert!(
            r.cpus.iter().all(|c| c.busy_ns >= 995 * MS),
            "{p}: {:?}",
            r.cpus.iter().map(|c| c.busy_ns).collect::<Vec<_>>()
        );
        assert!(r.tasks[..4].iter().all(|t| near(t.run_ns, 500 * MS, 60 * MS)));
    }
}

#[test]
fn mutex_condition_barrier_semaphore_and_fork_keep_order() {
    let m = fixed_speed(&[(1, 1024)]);
    // A condition has no memory: the consumer must wait before the first signal.
    let mut producer =
        task("producer", Some(3), vec![run_ms(2), Op::Lock(0), Op::Signal(0), Op::Unlock(0), Op::Sleep { ns: 8 * MS }]);
    producer.start = Start::After(10 * MS);
    let consumer =
        task("consumer", Some(3), vec![Op::Lock(0), Op::Wait { cond: 0, mutex: 0 }, Op::Unlock(0), run_ms(1)]);
    let left = task("left", Some(1), vec![run_ms(1), Op::Barrier(0), Op::SemPost(0)]);
    let right = task("right", Some(1), vec![Op::Barrier(0), Op::SemWait(0), Op::Fork { task: 4 }]);
    let mut child = task("child", Some(1), vec![run_ms(1)]);
    child.start = Start::OnFork;
    let mut w = workload(vec![producer, consumer, left, right, child]);
    (w.mutexes, w.conds, w.barriers, w.semaphores) = (1, 1, vec![2], vec![0]);
    let r = run_on(&m, &w, "7.2", 200);
    assert_eq!(r.stuck_tasks, Vec::<String>::new());
    assert_eq!(r.tasks[1].run_ns, 3 * MS);
    assert_eq!(r.tasks.iter().map(|t| t.run_ns).sum::<u64>(), 11 * MS);
    assert!(r.duration_ns < 60 * MS, "ends when the last task ends: {}", r.duration_ns);
}

/// A forked task is waited for as its template says; a workload of nothing but background is waited for itself.
#[test]
fn a_run_ends_with_what_is_not_background() {
    let m = fixed_speed(&[(1, 1024)]);
    let beside = |spec| TaskSpec { background: true, ..spec };
    let measured = task("measured", Some(1), vec![run_ms(5), Op::Fork { task: 2 }]);
    let mut child = task("child", Some(1), vec![run_ms(10)]);
    child.start = Start::OnFork;
    let mut later = task("later", Some(1), vec![run_ms(1)]);
    later.start = Start::After(20 * MS);
    let tasks = vec![beside(task("desktop", None, vec![run_ms(1), Op::Sleep { ns: 9 * MS }])), measured, child];
    let ends = |tasks: Vec<TaskSpec>| run_on(&m, &workload(tasks), "7.2", 200).duration_ns / MS;
    assert_eq!(ends(tasks.clone()), 17, "2 ms of the desktop came between");
    assert_eq!(ends([tasks.clone(), vec![later]].concat()), 21);
    assert_eq!(ends(tasks.iter().cloned().map(beside).collect()), 200);
    let finite = vec![beside(task("a", Some(1), vec![run_ms(3)])), beside(task("b", Some(1), vec![run_ms(4)]))];
    assert_eq!(ends(finite), 7);
}

#[test]
fn tasks_that_wait_for_nobody_are_named() {
    let m = fixed_speed(&[(1, 1024)]);
    let mut w = workload(vec![task("lonely", Some(1), vec![Op::Suspend(0)])]);
    w.conds = 1;
    assert_eq!(run_on(&m, &w, "7.2", 50).stuck_tasks, ["lonely"]);
}

#[test]
fn a_loop_that_takes_no_time_is_refused() {
    let m = fixed_speed(&[(1, 1024)]);
    let mut w = workload(vec![task("spin", None, vec![Op::Signal(0)])]);
    w.conds = 1;
    let err = pelton_sim::run(&m, &w, &profile("7.2"), &config(50), pelton_schema::NullSink).unwrap_err();
    assert!(err.to_string().contains("'spin' runs in circles"), "{err}");
}

#[test]
fn interrupts_take_time_from_the_running_task() {
    let m = fixed_speed(&[(1, 1024)]);
    let mut w = workload(vec![busy("t")]);
    w.irqs.push(pelton_model::workload::IrqSpec { cpu: 0, period_ns: 10 * MS, duration_ns: MS, jitter_ns: 0 });
    let r = run_on(&m, &w, "7.2", 1000);
    assert!(near(r.cpus[0].irq_ns, 99 * MS, MS));
    assert!(near(r.tasks[0].run_ns, 901 * MS, MS));
}

#[test]
fn realtime_is_limited_to_95_percent_by_the_rule_of_its_time() {
    let m = fixed_speed(&[(1, 1024)]);
    let hog = || with_policy(busy("rt"), SchedPolicy::Fifo { priority: 1 });
    for p in ["4.16", "7.2"] {
        let r = run_on(&m, &workload(vec![hog(), busy("fair")]), p, 3000);
        assert!(near(r.tasks[1].run_ns, 150 * MS, 10 * MS), "{p}: {}", r.tasks[1].run_ns);
    }
    let alone = |p| run_on(&m, &workload(vec![hog()]), p, 3000).tasks[0].run_ns;
    assert!(near(alone("4.16"), 2850 * MS, 10 * MS), "throttled even when no task waits");
    assert_eq!(alone("7.2"), 3000 * MS);
}

/// CONFIG_PREEMPT_LAZY, `resched_curr_lazy` of 6.18.2 and 7.2.12: no interrupt is sent to a CPU that runs something,
/// and its next tick finds the mark. A CPU that makes the wake-up itself, in its own timer's interrupt, looks when that
/// ends.
#[test]
fn a_lazily_preempted_cpu_hears_of_a_wake_up_at_its_next_interrupt() {
    let longest = |preemption: &str, remote: bool| {
        let mut policy = profile("7.2");
        policy.set("preemption", preemption).expect("a switch of the table");
        let idler = with_policy(busy("idler"), SchedPolicy::Idle);
        let mut tasks = vec![on(idler, 1)];
        if remote {
            let write = Op::Write { channel: 0, bytes: 1, work_ns: 0 };
            let every = Op::Timer { timer: TimerId::Own(0), period_ns: 7_300_000, mode: TimerMode::Relative };
            tasks.push(on(task("waker", Some(100), vec![every, write]), 0));
            tasks.push(on(task("wakee", Some(100), vec![Op::Read { channel: 0, bytes: 1, work_ns: 10_000 }]), 1));
        } else {
            tasks.push(on(periodic("wakee", 10, 7_300), 1));
        }
        let mut w = workload(tasks);
        w.channels = vec![ChannelSpec::PIPE];
        let r = pelton_sim::run(&fixed_speed(&[(2, 1024)]), &w, &policy, &config(1000), NullSink).expect("runs");
        r.tasks.iter().find(|t| t.name == "wakee").expect("it is there").wakeup_latency_ns.max
    };
    assert_eq!((longest("full", true), longest("full", false)), (0, 0));
    let waits_ns = longest("lazy", true);
    assert!((3 * MS..=4 * MS).contains(&waits_ns), "up to a tick of 4 ms: {waits_ns}");
    assert_eq!(longest("lazy", false), 0);
}
