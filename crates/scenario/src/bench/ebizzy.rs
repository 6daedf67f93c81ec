// SPDX-License-Identifier: GPL-2.0-or-later
//! `ebizzy`: threads that copy a chunk of memory (one of ten, chosen at random) and search in it, for ever. A finished
//! search is a record; the result is records per second.
//!
//! Which chunk it is matters to caches only, so a record here always takes the same work. Part of its time is waiting
//! for memory, which does not get shorter with the core's frequency: `memory_share` of a record at full speed is wall
//! time. The threads never sleep, so how many records make one step of the simulation changes nothing but its speed.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, SchedPolicy, TaskSpec};

use super::spec::Spec;

/// A record at full speed, ns. ESTIMATE from 270 000 records/s of 8 threads on 4 cores with two threads each.
const RECORD_NS: u64 = 20_000;
/// Share of it that waits for memory, millionths. ESTIMATE.
const MEMORY_SHARE_PPM: u64 = 500_000;
/// Length of a run of the program by default, s.
const SECONDS_DEFAULT: u64 = 10;

/// `ebizzy:threads=8,seconds=20,memory_share=0.5`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let default = u32::try_from(2 * spec.machine_cpus()).unwrap_or(u32::MAX).clamp(1, 10_000);
    let threads = spec.number("threads", default, 1..=10_000);
    let seconds = spec.number("seconds", SECONDS_DEFAULT, 1..=1_000_000);
    let record_ns = spec.time_ns("record_us", Some(RECORD_NS), 10_000_000);
    let share_ppm = spec.fraction_ppm("memory_share", MEMORY_SHARE_PPM);
    let batch = spec.number("batch", 32, 1..=100_000);
    let nice = spec.number("nice", 0, -20..=19);
    let cpus = spec.cpus();
    let wall_ns = record_ns * batch * share_ppm / 1_000_000;
    let records = Phase {
        name: "records".into(),
        ops: vec![Op::Run { work_ns: record_ns * batch - wall_ns }, Op::Runtime { wall_ns }, Op::Records(batch)],
        silent: true,
        ..Phase::default()
    };
    let thread = |i: u32| TaskSpec {
        name: format!("ebizzy-{i}"),
        policy: SchedPolicy::Normal { nice, slice_ns: 0 },
        cpus: cpus.clone(),
        phases: vec![records.clone()],
        ..TaskSpec::default()
    };
    Workload {
        tasks: (0..threads).map(thread).collect(),
        duration_ns: Some(seconds * 1_000_000_000),
        ..Workload::default()
    }
}
