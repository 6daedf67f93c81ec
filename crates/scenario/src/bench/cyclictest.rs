// SPDX-License-Identifier: GPL-2.0-or-later
//! `cyclictest`: threads sleep to an absolute grid and note how late they run. Thread k has the interval
//! `interval_us + k * distance_us`; an expiry that has passed when a thread looks is left out, not made up for.
//!
//! The program holds `/dev/cpu_dma_latency` open while it runs, with 0 by default: then idle CPUs stay in their first
//! state. Its main thread looks every 10 ms whether it should stop.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, SchedPolicy, Start, TaskSpec, TimerId, TimerMode};

use super::original::Program;
use super::spec::{Spec, TIME_US_MAX};

/// Interval at which the main thread looks, ns.
const MAIN_SLEEP_NS: u64 = 10_000_000;
/// Time from one thread's start to the next one's. ESTIMATE: a `pthread_create()` with what the new thread sets up.
const CREATE_US: u64 = 30;
/// Work of one look. ESTIMATE.
const MAIN_WORK_NS: u64 = 2000;

/// `cyclictest:threads=8,interval_us=1000,latency_us=1000000,duration_s=20`.
pub(super) fn workload(spec: &mut Spec) -> (Workload, Program) {
    let threads: u32 = spec.number("threads", 1, 1..=10_000);
    let interval_ns = spec.time_ns("interval_us", Some(1_000_000), TIME_US_MAX);
    let distance_us = spec.number("distance_us", 500, 0..=TIME_US_MAX);
    let latency_us = spec.number("latency_us", 0, 0..=TIME_US_MAX as u32);
    let priority: u8 = spec.number("priority", 0, 0..=99);
    let work_ns = spec.time_ns("work_us", Some(2000), 1_000_000);
    let timer_slack_ns = spec.number("slack_us", 0, 0..=1_000_000) * 1000;
    let create_ns = spec.time_ns("create_us", Some(CREATE_US * 1000), 1_000_000);
    let cpus = spec.cpus();
    let policy = if priority == 0 { SchedPolicy::default() } else { SchedPolicy::Fifo { priority } };
    let thread = |k: u32| TaskSpec {
        name: format!("cyclictest-{k}"),
        policy,
        cpus: cpus.clone(),
        // Each counts from its own start: they are not made at one instant.
        start: Start::After(u64::from(k) * create_ns),
        phases: vec![cycles(interval_ns + u64::from(k) * distance_us * 1000, work_ns)],
        own_timers: 1,
        timer_slack_ns,
        ..TaskSpec::default()
    };
    let mut tasks: Vec<TaskSpec> = (0..threads).map(thread).collect();
    tasks.push(main());
    let duration_ns = spec.duration_ns(None);
    let workload = Workload { tasks, duration_ns, cpu_dma_latency_us: Some(latency_us), ..Workload::default() };
    (workload, Program::Cyclictest { priority, interval_us: interval_ns / 1000, distance_us })
}

/// Sleep until the next expiry, take the latency, keep statistics.
fn cycles(period_ns: u64, work_ns: u64) -> Phase {
    let timer = TimerId::Own(0);
    let wait = Op::Timer { timer, period_ns, mode: TimerMode::Skip };
    let ops = vec![wait, Op::TimerLatency(timer), Op::Run { work_ns }];
    Phase { name: "cycles".into(), ops, ..Phase::default() }
}

fn main() -> TaskSpec {
    let ops = vec![Op::Run { work_ns: MAIN_WORK_NS }, Op::Sleep { ns: MAIN_SLEEP_NS }];
    let look = Phase { name: "look".into(), ops, silent: true, ..Phase::default() };
    TaskSpec { name: "cyclictest-main".into(), phases: vec![look], ..TaskSpec::default() }
}
