// SPDX-License-Identifier: GPL-2.0-or-later
//! `perf bench sched pipe`: two tasks, two pipes, four bytes back and forth. Only one of the two can go on at any time,
//! so the result is the time of two wake-ups with their switches and four system calls.

use pelton_model::Workload;
use pelton_model::workload::{ChannelSpec, Op, Phase, SchedPolicy, Start, TaskSpec};

use super::calls::{Calls, Mode, UNTIL_DONE_NS};
use super::original::Program;
use super::spec::Spec;

/// Size of one message: an `int`.
const MESSAGE_BYTES: u32 = 4;
/// Round trips of the program by default.
const LOOPS_DEFAULT: u64 = 1_000_000;

/// `sched-pipe:loops=1000000,mode=processes`.
pub(super) fn workload(spec: &mut Spec) -> (Workload, Program) {
    let loops = spec.number("loops", LOOPS_DEFAULT, 1..=1_000_000_000);
    let mode = Mode::of(spec, Mode::Processes);
    let cpus = spec.cpus();
    let nice = spec.number("nice", 0, -20..=19);
    let calls = Calls::of(spec);
    let fork_ns = mode.fork_ns(spec);
    let task = |name: &str, start, phases| TaskSpec {
        name: name.into(),
        policy: SchedPolicy::Normal { nice, slice_ns: 0 },
        process: mode.process(),
        cpus: cpus.clone(),
        start,
        phases,
        loops: Some(1),
        ..TaskSpec::default()
    };
    let (to_child, to_parent) = (0, 1);
    let parent = vec![
        once(vec![Op::Lap { ops: 0 }, Op::Run { work_ns: fork_ns }, Op::Fork { task: 1 }]),
        repeat(loops, vec![calls.read(to_parent, MESSAGE_BYTES), calls.write(to_child, MESSAGE_BYTES)]),
        once(vec![Op::SemWait(0), Op::Lap { ops: loops }]),
    ];
    let child = vec![
        repeat(loops, vec![calls.write(to_parent, MESSAGE_BYTES), calls.read(to_child, MESSAGE_BYTES)]),
        once(vec![Op::SemPost(0)]),
    ];
    let workload = Workload {
        tasks: vec![task("sched-pipe", Start::AtStart, parent), task("sched-pipe-child", Start::OnFork, child)],
        channels: vec![ChannelSpec::PIPE; 2],
        semaphores: vec![0],
        duration_ns: Some(UNTIL_DONE_NS),
        ..Workload::default()
    };
    (workload, Program::SchedPipe { loops, mode })
}

/// Operations done once.
pub(super) fn once(ops: Vec<Op>) -> Phase {
    repeat(1, ops)
}

/// Operations done `loops` times; no round is an activation.
pub(super) fn repeat(loops: u64, ops: Vec<Op>) -> Phase {
    Phase { loops: Some(loops), ops, silent: true, ..Phase::default() }
}
