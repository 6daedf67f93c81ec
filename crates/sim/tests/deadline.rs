// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_DEADLINE: budgets, their timers, bandwidth and where a task runs.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec};
use pelton_schema::{Event, NullSink};
use pelton_sim::SimError;

fn dl(runtime_ms: u64, period_ms: u64) -> SchedPolicy {
    SchedPolicy::Deadline { runtime_ns: runtime_ms * MS, deadline_ns: period_ms * MS, period_ns: period_ms * MS }
}

fn starts(mut task: TaskSpec, after_ms: u64) -> TaskSpec {
    task.start = Start::After(after_ms * MS);
    task
}

#[test]
fn a_task_that_uses_exactly_its_budget_runs_every_period() {
    let m = fixed_speed(&[(1, 1024)]);
    for sleep_ms in [3, 15, 30] {
        let t = with_policy(task("dl", None, vec![run_ms(5), Op::Sleep { ns: sleep_ms * MS }]), dl(5, 20));
        let urgent = with_policy(periodic("urgent", 500, 7000), dl(1, 7));
        let r = run_on(&m, &workload(vec![t, urgent]), "7.2", 1000);
        let rounds = 1000 / (5 + sleep_ms).max(20);
        assert!(r.tasks[0].activation_ns.len() + 3 >= rounds, "sleep {sleep_ms}: {:?}", r.tasks[0].activation_ns.len());
    }
}

/// Reservation of the server of the fair class: 5 % of a CPU.
const FAIR_SERVER: u32 = 51;

#[test]
fn a_task_whose_budget_ends_with_its_class_is_a_fair_task_afterwards() {
    let m = machine(&[(1, 1024)]);
    let mut t = task("t", Some(1), vec![run_ms(50)]);
    t.phases.insert(
        0,
        Phase {
            policy: Some(dl(5, 20)),
            loops: Some(1),
            ops: vec![Op::Runtime { wall_ns: 5 * MS }],
            ..Phase::default()
        },
    );
    t.phases[1].policy = Some(SchedPolicy::default());
    let w = workload(vec![t, busy("other")]);
    let (r, events) = events_of(&m, &w, "7.2", &config(500));
    assert_eq!(r.tasks[0].activation_ns.len(), 2);
    let last_min = events.iter().rev().find_map(|(_, e)| match *e {
        Event::FreqDecision { min, gate: 0, .. } => Some(min),
        _ => None,
    });
    assert_eq!(last_min, Some(FAIR_SERVER), "the reservation went with the class");
}

#[test]
fn bandwidth_is_gone_when_the_deadline_tasks_are() {
    let m = machine(&[(2, 1024)]);
    let short = |name: &str, loops, ops, policy| with_policy(task(name, Some(loops), ops), policy);
    let w = workload(vec![
        // Wakes before its 0-lag time, while CPU 0 is taken.
        short("wanders", 2, vec![run_ms(1), Op::Sleep { ns: 5 * MS }], dl(2, 40)),
        starts(on(short("left", 40, vec![run_ms(7), timer_ms(10)], dl(8, 10)), 0), 2),
        on(periodic("x", 100, 5000), 0),
        on(periodic("y", 100, 5000), 1),
    ]);
    let (_, events) = events_of(&m, &w, "7.2", &config(2000));
    let late: Vec<u32> = events
        .iter()
        .filter(|(t, _)| *t > 1500 * MS)
        .filter_map(|(_, e)| match *e {
            Event::FreqDecision { gate: 0, min, .. } => Some(min),
            _ => None,
        })
        .collect();
    assert!(!late.is_empty() && late.iter().all(|&min| min == FAIR_SERVER), "{late:?}");
}

#[test]
fn yield_gives_the_rest_of_the_budget_away() {
    let m = fixed_speed(&[(1, 1024)]);
    let t = with_policy(task("dl", None, vec![run_ms(1), Op::Yield]), dl(5, 20));
    let r = run_on(&m, &workload(vec![t]), "7.2", 1000);
    assert_eq!(r.tasks[0].run_ns, 50 * MS);
}

#[test]
fn a_preempted_deadline_task_goes_to_a_free_cpu() {
    let m = fixed_speed(&[(2, 1024)]);
    let long = with_policy(busy("long"), dl(90, 100));
    let urgent = starts(on(with_policy(periodic("urgent", 5000, 10_000), dl(6, 10)), 0), 5);
    let r = run_on(&m, &workload(vec![long, urgent]), "7.2", 1000);
    assert!(r.tasks[0].wait_ns < MS, "{}", r.tasks[0].wait_ns);
    assert_eq!(r.tasks[1].wakeup_latency_ns.max, 0);
}

#[test]
fn parameters_that_the_kernel_refuses_are_refused() {
    let m = fixed_speed(&[(1, 1024)]);
    for (runtime_ns, deadline_ns, period_ns) in [(0, 10, 10), (5, 4, 10), (5, 20, 10), (1, 2, u64::MAX)] {
        let policy = SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns };
        let w = workload(vec![with_policy(busy("bad"), policy)]);
        let err = pelton_sim::run(&m, &w, &profile("7.2"), &config(10), NullSink).expect_err("refused");
        assert!(matches!(err, SimError::Plan(_)), "{err}");
    }
}

#[test]
fn cpus_that_the_machine_does_not_have_are_ignored() {
    let m = fixed_speed(&[(2, 1024)]);
    let wide = |mut t: TaskSpec| {
        t.cpus = Some(CpuSet::of([0, 1, 70]));
        t
    };
    let mut tasks: Vec<_> = (0..2).map(|i| wide(with_policy(busy(&format!("d{i}")), dl(8, 10)))).collect();
    tasks.push(wide(with_policy(
        task("later", None, vec![Op::Run { work_ns: 500_000 }, Op::Sleep { ns: 5 * MS }]),
        dl(4, 40),
    )));
    let r = run_on(&m, &workload(tasks), "7.2", 200);
    assert!(r.tasks.iter().all(|t| t.run_ns > 5 * MS));
}

/// Time a busy reservation of 5 ms in 20 ms gets in a second on a CPU of this capacity.
fn busy_ns(profile: &str, capacity: u32) -> u64 {
    let m = Machine { defers_timers: true, ..fixed_speed(&[(1, capacity)]) };
    run_on(&m, &workload(vec![with_policy(busy("dl"), dl(5, 20))]), profile, 1000).tasks[0].run_ns
}

#[test]
fn a_reservation_is_work_of_the_biggest_cpu_since_4_16() {
    // 5 ms of a CPU of 1024 are 10 ms of one of 512.
    assert_eq!(busy_ns("7.2", 1024), 250 * MS);
    // The timer counts time, looks again at half, and at least 10 us later: the last look is late, the debt is paid.
    assert!(busy_ns("7.2", 512).abs_diff(500 * MS) < MS);
    assert!(busy_ns("4.12", 512).abs_diff(250 * MS) < 10 * MS);
    assert!(busy_ns("4.16", 512).abs_diff(500 * MS) < 10 * MS);
}

#[test]
fn without_a_timer_the_tick_stops_a_reservation_and_the_debt_is_paid() {
    let m = fixed_speed(&[(1, 1024)]);
    let w = workload(vec![with_policy(busy("dl"), dl(5, 20))]);
    // The profile has no timer, or the machine.
    for profile in ["6.12", "7.2"] {
        let (_, events) = events_of(&m, &w, profile, &config(1000));
        let stops: Vec<u64> = events
            .iter()
            .filter_map(|&(t, ref e)| matches!(e, Event::SchedSwitch { next_tid: 0, .. }).then_some(t))
            .collect();
        assert!(stops.len() > 30 && stops.iter().all(|t| t % (4 * MS) == 0), "{stops:?}");
    }
    assert!(busy_ns("6.12", 1024).abs_diff(250 * MS) < 10 * MS);
}

#[test]
fn a_short_deadline_waits_for_its_period_after_it_has_passed() {
    let m = fixed_speed(&[(1, 1024)]);
    let policy = SchedPolicy::Deadline { runtime_ns: 2 * MS, deadline_ns: 4 * MS, period_ns: 20 * MS };
    let ops = || vec![run_ms(1), Op::Sleep { ns: 7 * MS }];
    for (profile, least) in [("4.12", 40), ("7.2", 40)] {
        let r = run_on(&m, &workload(vec![with_policy(task("dl", None, ops()), policy)]), profile, 1000);
        // Woken at 8 ms, after its deadline: it runs at 20 ms.
        let rounds = r.tasks[0].activation_ns.len();
        assert!(rounds >= least && rounds <= 51, "{profile}: {rounds}");
    }
}

#[test]
fn capacity_is_what_is_reserved_of_in_5_10() {
    // 3 of 4 CPUs, but 3 of 2.5 capacities.
    let m = fixed_speed(&[(2, 1024), (2, 256)]);
    let w = workload((0..6).map(|i| with_policy(busy(&format!("d{i}")), dl(10, 20))).collect());
    assert!(pelton_sim::run(&m, &w, &profile("5.4"), &config(10), NullSink).is_ok());
    let err = pelton_sim::run(&m, &w, &profile("5.10"), &config(10), NullSink).expect_err("refused");
    assert!(matches!(err, SimError::Misfit(_)), "{err}");
}

/// Eleven reservations with the same deadline on eight CPUs: no CPU has a later one, so that nothing is pushed.
#[test]
fn reservations_with_equal_deadlines_are_not_pushed_back_and_forth() {
    let m = fixed_speed(&[(8, 1024)]);
    let tasks = (0..11).map(|i| with_policy(task(&format!("dl{i}"), None, vec![run_ms(30)]), dl(10, 30))).collect();
    let r = run_on(&m, &workload(tasks), "7.2", 1000);
    // A third of a CPU each.
    assert!(r.tasks[..11].iter().all(|t| near(t.run_ns, 333 * MS, 11 * MS)), "{:?}", r.tasks[0].run_ns);
}
