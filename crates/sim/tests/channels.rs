// SPDX-License-Identifier: GPL-2.0-or-later
//! Pipes and sockets between tasks, and what benchmarks measure about themselves.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{ChannelSpec, Op, Start, TaskSpec, TimerId, TimerMode, Workload};
use pelton_sim::{Report, SimError};

const BYTES: u32 = 4;

fn write(channel: u32, work_ns: u64) -> Op {
    Op::Write { channel, bytes: BYTES, work_ns }
}

fn read(channel: u32, work_ns: u64) -> Op {
    Op::Read { channel, bytes: BYTES, work_ns }
}

/// Two tasks pass a message back and forth.
fn ping_pong(rounds: u64, spec: ChannelSpec, cpus: [u32; 2]) -> Workload {
    let mut a = task("a", Some(rounds), vec![write(0, 300), read(1, 500)]);
    a.phases.insert(0, task("", Some(1), vec![Op::Lap { ops: 0 }]).phases.remove(0));
    a.phases.push(task("", Some(1), vec![Op::Lap { ops: rounds }]).phases.remove(0));
    let b = task("b", Some(rounds), vec![read(0, 500), write(1, 300)]);
    let mut w = workload(vec![on(a, cpus[0]), on(b, cpus[1])]);
    w.channels = vec![spec; 2];
    w
}

fn machine_with_costs(cpus: u32) -> Machine {
    let mut m = fixed_speed(&[(cpus, 1024)]);
    m.costs.context_switch_ns = 1000;
    m.costs.wakeup_ns = 700;
    m
}

fn lap_ns(r: &Report) -> u64 {
    assert_eq!(r.tasks[0].laps.len(), 1);
    r.tasks[0].laps.summary().sum
}

#[test]
fn a_round_trip_on_one_cpu_is_the_sum_of_its_parts() {
    for spec in [ChannelSpec::PIPE, ChannelSpec::STREAM] {
        for profile in ["4.12", "5.10", "7.2"] {
            let r = run_on(&machine_with_costs(1), &ping_pong(1000, spec, [0, 0]), profile, 1000);
            // Two writes, two reads, two wake-ups, two switches.
            let round_trip_ns = 2 * (300 + 500 + 700 + 1000);
            assert!(near(lap_ns(&r), 1000 * round_trip_ns, 4000), "{spec:?} {profile}: {}", lap_ns(&r));
            assert_eq!(r.tasks[0].lap_ops, 1000);
            assert!(r.stuck_tasks.is_empty());
        }
    }
}

#[test]
fn a_round_trip_between_two_cpus_waits_for_their_idle_exit() {
    let mut m = machine_with_costs(2);
    for state in &mut m.domains[0].idle_states {
        state.exit_latency_ns = 2500;
    }
    let r = run_on(&m, &ping_pong(1000, ChannelSpec::PIPE, [0, 1]), "7.2", 1000);
    // The other CPU starts to leave idle when the wake-up is done; meanwhile the writer goes to sleep.
    let round_trip_ns = 2 * (300 + 500 + 700 + 1000 + 2500);
    assert!(near(lap_ns(&r), 1000 * round_trip_ns, 10_000), "{}", lap_ns(&r));
}

/// `readers` and `writers` share one channel; each does its part and ends.
fn crowd(spec: ChannelSpec, writers: u32, readers: u32, messages: u64, bytes: u32, cpus: u32) -> Report {
    let per_reader = u64::from(writers) * messages / u64::from(readers);
    let mut tasks: Vec<TaskSpec> = (0..writers)
        .map(|i| task(&format!("w{i}"), Some(messages), vec![Op::Write { channel: 0, bytes, work_ns: 200 }]))
        .collect();
    tasks.extend(
        (0..readers)
            .map(|i| task(&format!("r{i}"), Some(per_reader), vec![Op::Read { channel: 0, bytes, work_ns: 900 }])),
    );
    let mut w = workload(tasks);
    w.channels = vec![spec];
    run_on(&machine_with_costs(cpus), &w, "6.6", 5000)
}

#[test]
fn nobody_sleeps_through_a_full_or_an_empty_channel() {
    let pipe = ChannelSpec::Pipe { pages: 1 };
    let stream = ChannelSpec::Stream { send_buffer_bytes: 4608 };
    for spec in [pipe, stream, ChannelSpec::PIPE, ChannelSpec::STREAM] {
        for (writers, readers, bytes, cpus) in
            [(1, 1, 100, 1), (4, 1, 100, 2), (1, 4, 100, 2), (4, 4, 1500, 3), (6, 3, 9000, 4), (3, 6, 4096, 1)]
        {
            let r = crowd(spec, writers, readers, 600, bytes, cpus);
            assert!(r.stuck_tasks.is_empty(), "{spec:?} {writers} {readers} {bytes}: {:?}", r.stuck_tasks);
            assert!(r.duration_ns < 4000 * MS, "{spec:?} {writers} {readers} {bytes}");
        }
    }
}

#[test]
fn too_little_or_too_much_is_noticed() {
    let mut w = workload(vec![task("r", Some(2), vec![read(0, 100)]), task("w", Some(1), vec![write(0, 100)])]);
    w.channels = vec![ChannelSpec::PIPE];
    assert_eq!(run_on(&machine_with_costs(2), &w, "7.2", 100).stuck_tasks, ["r"]);
    let big = Op::Write { channel: 0, bytes: 200_000, work_ns: 0 };
    let mut w = workload(vec![task("w", Some(1), vec![big])]);
    w.channels = vec![ChannelSpec::PIPE];
    assert_eq!(run_on(&machine_with_costs(2), &w, "7.2", 100).stuck_tasks, ["w"]);
}

#[test]
fn a_poll_lets_everybody_through_and_takes_nothing() {
    let poll = || vec![Op::Poll { channel: 0 }, run_ms(1)];
    let late = TaskSpec { start: Start::After(5 * MS), ..task("late", Some(1), poll()) };
    let mut w = workload(vec![
        task("a", Some(1), poll()),
        task("b", Some(1), poll()),
        task("start", Some(1), vec![run_ms(2), write(0, 0), Op::Sleep { ns: 20 * MS }, read(0, 0)]),
        late,
    ]);
    w.channels = vec![ChannelSpec::PIPE];
    let r = run_on(&machine_with_costs(2), &w, "7.2", 100);
    assert!(r.stuck_tasks.is_empty());
    assert!(r.tasks.iter().all(|t| t.run_ns > 0));
}

#[test]
fn messages_that_cost_nothing_are_no_progress() {
    let mut w =
        workload(vec![task("a", None, vec![write(0, 0), read(1, 0)]), task("b", None, vec![read(0, 0), write(1, 0)])]);
    w.channels = vec![ChannelSpec::PIPE; 2];
    let outcome =
        pelton_sim::run(&fixed_speed(&[(2, 1024)]), &w, &profile("7.2"), &config(10), pelton_schema::NullSink);
    assert!(matches!(outcome, Err(SimError::NoProgress { .. })), "{outcome:?}");
}

#[test]
fn channels_that_do_not_exist_or_have_no_room_are_refused() {
    let refused = |w: &Workload| {
        pelton_sim::run(&fixed_speed(&[(1, 1024)]), w, &profile("7.2"), &config(10), pelton_schema::NullSink)
            .expect_err("refused")
            .to_string()
    };
    for op in [write(0, 1), read(0, 1), Op::Poll { channel: 0 }, Op::TimerLatency(TimerId::Own(1))] {
        let text = refused(&workload(vec![task("t", Some(1), vec![op])]));
        assert!(text.contains("'t' uses a resource"), "{text}");
    }
    for spec in [ChannelSpec::Pipe { pages: 0 }, ChannelSpec::Stream { send_buffer_bytes: 100 }] {
        let mut w = workload(vec![busy("t")]);
        w.channels = vec![spec];
        assert!(refused(&w).contains("1 to 1048576 pages"), "{}", refused(&w));
    }
}

/// A thread that sleeps to a grid of 1 ms and notes how late it runs.
fn cyclic(work_ns: u64) -> TaskSpec {
    let timer = TimerId::Own(0);
    let wait = Op::Timer { timer, period_ns: MS, mode: TimerMode::Skip };
    task("cyclic", None, vec![wait, Op::TimerLatency(timer), Op::Run { work_ns }])
}

#[test]
fn lateness_is_exit_latency_wake_up_and_switch() {
    let mut m = machine_with_costs(1);
    for state in &mut m.domains[0].idle_states {
        state.exit_latency_ns = 20_000;
    }
    let r = run_on(&m, &workload(vec![cyclic(2000)]), "7.2", 100);
    let late = r.tasks[0].timer_latency;
    assert_eq!((late.count, late.min, late.max), (99, 21_700, 21_700));
    let slack = TaskSpec { timer_slack_ns: 50_000, ..cyclic(2000) };
    let late = run_on(&m, &workload(vec![slack]), "7.2", 100).tasks[0].timer_latency;
    assert_eq!((late.min, late.max), (71_700, 71_700));
}

#[test]
fn a_thread_that_is_late_by_periods_leaves_them_out() {
    let r = run_on(&fixed_speed(&[(1, 1024)]), &workload(vec![cyclic(2_500_000)]), "7.2", 100);
    let late = r.tasks[0].timer_latency;
    assert_eq!(late.max, 0, "it waits for the next expiry of the grid");
    assert_eq!(late.count, 34, "every third of 100, from the first on");
}
