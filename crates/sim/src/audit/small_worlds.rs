// SPDX-License-Identifier: GPL-2.0-or-later
//! Small worlds, exhaustively: all programs of a few operations, for two and three tasks of all classes on one and two
//! CPUs. The books are checked after every event; at the end finished tasks have done their work and the others are
//! stuck.

use pelton_schema::NullSink;

use crate::audit::audited;
use crate::common::{MS, fixed_speed, near, task, workload};
use pelton_model::workload::{ChannelSpec, Op, SchedPolicy, TaskSpec};
use pelton_model::{Machine, RunConfig};

const ALPHABET: [Op; 7] = [
    Op::Run { work_ns: MS },
    Op::Sleep { ns: MS },
    Op::Lock(0),
    Op::Unlock(0),
    Op::SemPost(0),
    Op::SemWait(0),
    Op::Yield,
];
/// Messages of which a channel of [`channels`] holds one.
const MESSAGES: [Op; 4] = [
    Op::Run { work_ns: MS },
    Op::Write { channel: 0, bytes: 3000, work_ns: 10_000 },
    Op::Read { channel: 0, bytes: 3000, work_ns: 20_000 },
    Op::Poll { channel: 0 },
];
const CLASSES: [SchedPolicy; 3] = [
    SchedPolicy::Normal { nice: 0, slice_ns: 0 },
    SchedPolicy::Fifo { priority: 10 },
    SchedPolicy::Deadline { runtime_ns: 2 * MS, deadline_ns: 8 * MS, period_ns: 8 * MS },
];
/// Every program has ended or is stuck by then: at most 3 x 3 x 2 ms of work in periods of 8 ms.
const DURATION_NS: u64 = 90 * MS;

/// Program number `index` of those with `length` operations; each is done twice.
fn program(alphabet: &[Op], mut index: usize, length: usize, class: SchedPolicy, name: &str) -> TaskSpec {
    let mut ops = Vec::with_capacity(length);
    for _ in 0..length {
        ops.push(alphabet[index % alphabet.len()].clone());
        index /= alphabet.len();
    }
    TaskSpec { policy: class, ..task(name, Some(2), ops) }
}

/// Class `digit` of the combination with this number.
fn class(combination: usize, digit: u32) -> SchedPolicy {
    CLASSES[combination / CLASSES.len().pow(digit) % CLASSES.len()]
}

fn check(m: &Machine, tasks: Vec<TaskSpec>, channel: ChannelSpec, profile_name: &str) {
    let mut w = workload(tasks);
    (w.mutexes, w.semaphores, w.channels) = (1, vec![0], vec![channel]);
    let cfg = RunConfig { duration_ns: DURATION_NS, ..RunConfig::default() };
    let told = || format!("{} CPUs, {profile_name}, {:#?}", m.cpus.len(), w.tasks);
    let policy = crate::common::profile(profile_name);
    let mut engine = audited(m, &w, &policy, &cfg, NullSink).unwrap_or_else(|e| panic!("{e}\n{}", told()));
    engine.audit_calls().unwrap_or_else(|e| panic!("{e}\n{}", told()));
    let alive: Vec<String> = engine.tasks.iter().filter(|t| !t.is_dead()).map(|t| t.name.clone()).collect();
    let r = engine.finish();
    assert_eq!(r.stuck_tasks, alive, "{}", told());
    for (t, spec) in r.tasks.iter().zip(&w.tasks).filter(|(t, _)| !alive.contains(&t.name)) {
        assert!(near(t.work_ns, spec.work_ns().expect("finite"), 100), "{} {}", t.work_ns, told());
    }
}

fn all(cpus: u32, tasks: u32, length: usize, profiles: &[&str]) -> usize {
    (0..CLASSES.len().pow(tasks)).map(|classes| all_of(classes, cpus, tasks, length, profiles)).sum()
}

/// All programs of tasks of these classes (a number whose digits are places in `CLASSES`).
fn all_of(combination: usize, cpus: u32, tasks: u32, length: usize, profiles: &[&str]) -> usize {
    let m = fixed_speed(&[(cpus, 1024)]);
    let programs = ALPHABET.len().pow(length as u32);
    for index in 0..programs.pow(tasks) {
        let each = (0..tasks).map(|i| {
            let index = index / programs.pow(i) % programs;
            program(&ALPHABET, index, length, class(combination, i), ["a", "b", "c"][i as usize])
        });
        check(&m, each.collect(), ChannelSpec::PIPE, profiles[(combination + index) % profiles.len()]);
    }
    programs.pow(tasks)
}

/// All programs of `tasks` fair tasks that pass messages.
fn all_messages(cpus: u32, tasks: u32, length: usize) -> usize {
    let m = fixed_speed(&[(cpus, 1024)]);
    let programs = MESSAGES.len().pow(length as u32);
    for index in 0..programs.pow(tasks) {
        for (i, channel) in channels().into_iter().enumerate() {
            let each = (0..tasks).map(|t| {
                let index = index / programs.pow(t) % programs;
                program(&MESSAGES, index, length, CLASSES[0], ["a", "b", "c"][t as usize])
            });
            check(&m, each.collect(), channel, ["7.2", "4.12"][i]);
        }
    }
    programs.pow(tasks)
}

/// Small enough that a second or third message has to wait.
fn channels() -> [ChannelSpec; 2] {
    [ChannelSpec::Pipe { pages: 1 }, ChannelSpec::Stream { send_buffer_bytes: 4608 }]
}

#[test]
fn two_tasks_with_three_messages() {
    assert_eq!(all_messages(1, 2, 3) + all_messages(2, 2, 3), 2 * 64 * 64);
}

#[test]
fn three_tasks_with_two_messages() {
    assert_eq!(all_messages(1, 3, 2) + all_messages(2, 3, 2), 2 * 16 * 16 * 16);
}

#[test]
fn one_task_with_three_operations() {
    assert_eq!(all(1, 1, 3, &["4.16", "7.2"]), 3 * 343);
}

#[test]
fn two_tasks_with_two_operations_on_one_and_two_cpus() {
    assert_eq!(all(1, 2, 2, &["5.10", "7.2", "6.6"]) + all(2, 2, 2, &["7.2", "4.16"]), 2 * 9 * 49 * 49);
}

#[test]
fn three_tasks_with_one_operation_on_one_and_two_cpus() {
    assert_eq!(all(1, 3, 1, &["7.2", "4.16"]) + all(2, 3, 1, &["5.10", "7.2"]), 2 * 27 * 343);
}

#[test]
fn two_fair_tasks_with_three_operations() {
    assert_eq!(all_of(0, 1, 2, 3, &["7.2"]), 343 * 343);
}

#[test]
fn a_realtime_and_a_deadline_task_with_three_operations() {
    assert_eq!(all_of(7, 1, 2, 3, &["7.2"]), 343 * 343);
}
