// SPDX-License-Identifier: GPL-2.0-or-later
//! Threads that compute and wait for a device in turn.

use pelton_model::Workload;
use pelton_model::workload::{DeviceSpec, Op, Phase, TaskSpec};

use super::periodic::{copies, policy};
use super::spec::{LOOPS_MAX, Spec, TIME_US_MAX};

/// `io:run_us=40,service_us=90,jitter_us=20,depth=1,irq_us=2,threads=4`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let run_ns = spec.time_ns("run_us", None, TIME_US_MAX);
    let device = DeviceSpec {
        service_ns: spec.time_ns("service_us", None, TIME_US_MAX),
        jitter_ns: 1000 * spec.number("jitter_us", 0, 0..=TIME_US_MAX),
        depth: spec.number("depth", 1, 1..=65_536),
        irq_ns: 1000 * spec.number("irq_us", 0, 0..=TIME_US_MAX),
    };
    let threads: u32 = spec.number("threads", 1, 1..=10_000);
    let loops = spec.number("loops", 0, 0..=LOOPS_MAX);
    let ops = vec![Op::Run { work_ns: run_ns }, Op::Io { device: 0 }];
    let phase = Phase { name: "io".into(), loops: (loops > 0).then_some(loops), ops, ..Phase::default() };
    let policy = policy(spec, None);
    let task = TaskSpec { phases: vec![phase], policy, loops: (loops > 0).then_some(1), ..TaskSpec::default() };
    Workload { devices: vec![device], ..copies(spec, &task, threads, "io") }
}
