// SPDX-License-Identifier: GPL-2.0-or-later
//! A benchmark of many sections, as Geekbench has them: a fixed amount of work, taken in pieces by whoever is free,
//! then a pause. The stopwatch runs in sections only, so that its laps per second are a score.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, TaskSpec};

use super::spec::Spec;

const TIME_US_MAX: u64 = 1_000_000_000;
const PIECES_MAX: u64 = 1000;
const PIECE: u32 = 0;
const DONE: u32 = 1;

/// `sections:threads=8,run_us=1000000,pieces=64,gap_us=500000`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let threads: u32 = spec.number("threads", 1, 1..=1000);
    let run_ns = spec.time_ns("run_us", Some(500_000_000), TIME_US_MAX);
    let gap_ns = spec.time_ns("gap_us", Some(500_000_000), TIME_US_MAX);
    let pieces = spec.number("pieces", 64, 1..=PIECES_MAX);
    let name = spec.string("name", "sections");
    let piece = Op::Run { work_ns: (run_ns / pieces).max(1) };
    let lap = |work: Vec<Op>| {
        let around = [vec![Op::Lap { ops: 0 }], work, vec![Op::Lap { ops: 1 }, Op::Sleep { ns: gap_ns }]];
        around.concat()
    };
    let each = |op: Op| vec![op; pieces as usize];
    let alone = || each(piece.clone());
    let shared = || [each(Op::SemPost(PIECE)), each(Op::SemWait(DONE))].concat();
    let main = thread(name, lap(if threads == 1 { alone() } else { shared() }));
    let helper = |i| thread(&format!("{name}-{i}"), vec![Op::SemWait(PIECE), piece.clone(), Op::SemPost(DONE)]);
    let helpers = if threads == 1 { 0 } else { threads };
    let mut tasks: Vec<TaskSpec> = std::iter::once(main).chain((0..helpers).map(helper)).collect();
    let (cpus, uclamp) = (spec.cpus(), super::periodic::clamps(spec));
    tasks.iter_mut().for_each(|task| (task.cpus, task.uclamp) = (cpus.clone(), uclamp));
    let semaphores = if threads == 1 { Vec::new() } else { vec![0, 0] };
    Workload { tasks, semaphores, duration_ns: spec.duration_ns(None), ..Workload::default() }
}

fn thread(name: &str, ops: Vec<Op>) -> TaskSpec {
    let phases = vec![Phase { name: "sections".into(), ops, ..Phase::default() }];
    TaskSpec { name: name.into(), phases, ..TaskSpec::default() }
}
