// SPDX-License-Identifier: GPL-2.0-or-later
//! A periodic thread: compute, wait for the next period.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, Process, SchedPolicy, Start, TaskSpec, TimerId, TimerMode};

use super::spec::{Spec, TIME_US_MAX};

/// Begin of the first period.
#[derive(Clone, Copy)]
enum FirstPeriod {
    At(u64),
    Random,
}

/// `periodic:run_us=9000,period_us=24390,policy=fifo,priority=10,cpus=0,phase_us=random`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let run_ns = spec.time_ns("run_us", None, TIME_US_MAX);
    let period_ns = spec.time_ns("period_us", None, TIME_US_MAX);
    let threads: u32 = spec.number("threads", 1, 1..=10_000);
    let mode =
        spec.word("mode", &[("relative", TimerMode::Relative), ("absolute", TimerMode::Absolute)], TimerMode::Relative);
    let first = first_period(spec);
    let timer = Op::Timer { timer: TimerId::Own(0), period_ns, mode };
    let work = Phase { name: "periods".into(), ops: vec![Op::Run { work_ns: run_ns }, timer], ..Phase::default() };
    let start = match first {
        FirstPeriod::At(0) => Start::AtStart,
        FirstPeriod::At(ns) => Start::After(ns),
        FirstPeriod::Random => Start::Within(period_ns - 1),
    };
    let policy = policy(spec, Some((run_ns, period_ns)));
    let task = TaskSpec { phases: vec![work], start, own_timers: 1, policy, ..TaskSpec::default() };
    let groups: usize = spec.number("groups", 0, 0..=10_000);
    let mut made = copies(spec, &task, threads, "periodic");
    for (i, task) in made.tasks.iter_mut().enumerate().filter(|_| groups > 0) {
        task.taskgroup =
            format!("/{}-{}", task.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-'), i % groups);
    }
    made
}

fn first_period(spec: &mut Spec) -> FirstPeriod {
    if spec.string("phase_us", "0") == "random" {
        return FirstPeriod::Random;
    }
    FirstPeriod::At(spec.number("phase_us", 0, 0..=TIME_US_MAX) * 1000)
}

/// Copies of a task with the options every primitive has.
pub(super) fn copies(spec: &mut Spec, task: &TaskSpec, threads: u32, default_name: &'static str) -> Workload {
    let name = spec.string("name", default_name);
    let places = spec.places();
    let uclamp = clamps(spec);
    let process = spec.word("process", &[("one", Process::default()), ("each", Process::Own)], Process::default());
    let cpus = places.iter().flat_map(|cpus| std::iter::repeat_n(cpus, threads as usize));
    let copy = |(i, cpus): (usize, &Option<_>)| TaskSpec {
        name: format!("{name}-{i}"),
        cpus: cpus.clone(),
        uclamp,
        process,
        ..task.clone()
    };
    let tasks = cpus.enumerate().map(copy).collect();
    Workload { tasks, duration_ns: spec.duration_ns(None), ..Workload::default() }
}

/// The clamps of a model's threads; `None` when neither is given.
pub(super) fn clamps(spec: &mut Spec) -> Option<(u32, u32)> {
    let min = spec.number("util_min", 0, 0..=1024);
    let max = spec.number("util_max", 1024, 0..=1024);
    if min > max {
        spec.wrong("util_min", "`util_min` is above `util_max`", "Linux refuses such a pair");
    }
    (spec.has("util_min") || spec.has("util_max")).then_some((min, max))
}

/// Scheduling classes by name.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Other,
    Batch,
    Idle,
    Fifo,
    RoundRobin,
    Deadline,
}

const CLASSES: [(&str, Class); 6] = [
    ("other", Class::Other),
    ("batch", Class::Batch),
    ("idle", Class::Idle),
    ("fifo", Class::Fifo),
    ("rr", Class::RoundRobin),
    ("deadline", Class::Deadline),
];

/// The policy options; `timing` is (budget, period) for deadline tasks, `None` where there is no period.
pub(super) fn policy(spec: &mut Spec, timing: Option<(u64, u64)>) -> SchedPolicy {
    let classes = if timing.is_some() { &CLASSES[..] } else { &CLASSES[..5] };
    let class = spec.word("policy", classes, Class::Other);
    let nice = spec.number("nice", 0, -20..=19);
    let priority = spec.number("priority", 10, 1..=99);
    if spec.has("priority") && !matches!(class, Class::Fifo | Class::RoundRobin) {
        spec.wrong("priority", "`priority` needs policy=fifo or policy=rr", "the fair class has `nice`");
    }
    if spec.has("nice") && !matches!(class, Class::Other | Class::Batch) {
        spec.wrong("nice", "`nice` needs policy=other or policy=batch", "real-time classes have `priority`");
    }
    match class {
        Class::Other => SchedPolicy::Normal { nice, slice_ns: 0 },
        Class::Batch => SchedPolicy::Batch { nice },
        Class::Idle => SchedPolicy::Idle,
        Class::Fifo => SchedPolicy::Fifo { priority },
        Class::RoundRobin => SchedPolicy::RoundRobin { priority },
        Class::Deadline => deadline(spec, timing.unwrap_or((1, 1))),
    }
}

fn deadline(spec: &mut Spec, (run_ns, period_ns): (u64, u64)) -> SchedPolicy {
    let runtime_ns = spec.time_ns("budget_us", Some(run_ns), TIME_US_MAX);
    let deadline_ns = spec.time_ns("deadline_us", Some(period_ns), TIME_US_MAX);
    if runtime_ns > deadline_ns || deadline_ns > period_ns {
        spec.wrong(
            "deadline_us",
            "budget <= deadline <= period does not hold",
            "see budget_us (default run_us), deadline_us, period_us",
        );
    }
    SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns }
}
