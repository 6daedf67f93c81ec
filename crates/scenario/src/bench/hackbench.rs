// SPDX-License-Identifier: GPL-2.0-or-later
//! `hackbench` (`perf bench sched messaging`): groups of senders and receivers. Every sender of a group writes `loops`
//! messages to each of the group's receivers in turn; all senders write into the same end of a receiver's channel.
//!
//! Each task is started first, says so through one pipe and waits on another. The clock runs from the moment all have
//! reported until the last one is gone.

use pelton_model::Workload;
use pelton_model::workload::{ChannelSpec, CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec};

use super::calls::{Calls, Mode, UNTIL_DONE_NS};
use super::sched_pipe::{once, repeat};
use super::spec::Spec;

/// The pipe through which each task reports, and the one on which each waits.
const READY: u32 = 0;
const START: u32 = 1;
/// Channels before those of the receivers.
const FIRST: u32 = 2;
/// Semaphore that a task posts when it ends.
const DONE: u32 = 0;
/// Tasks that may be started in one run of the simulator.
const TASKS_MAX: u64 = 100_000;
/// Longest pause between two runs, microseconds.
const PAUSE_US_MAX: u64 = 1_000_000_000;

/// Sizes of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups.
    pub groups: u32,
    /// Senders of a group, and receivers.
    pub fds: u32,
    /// Messages from each sender to each receiver.
    pub loops: u64,
    /// Bytes of a message.
    pub bytes: u32,
    /// Processes or threads.
    pub mode: Mode,
}

impl Shape {
    /// Tasks besides the main one.
    pub fn tasks(self) -> u64 {
        2 * u64::from(self.groups) * u64::from(self.fds)
    }

    /// Messages.
    pub fn messages(self) -> u64 {
        u64::from(self.groups) * u64::from(self.fds).pow(2) * self.loops
    }
}

/// Parameters that all tasks share.
struct Model {
    shape: Shape,
    calls: Calls,
    channel: ChannelSpec,
    policy: SchedPolicy,
    cpus: Option<CpuSet>,
    fork_ns: u64,
    exit_ns: u64,
    /// Sleep before each run.
    pause_ns: u64,
}

/// `hackbench:groups=10,fds=20,loops=100,mode=processes,channel=sockets`.
pub(super) fn workload(spec: &mut Spec) -> (Workload, Shape) {
    let shape = Shape {
        groups: spec.number("groups", 10, 1..=10_000),
        fds: spec.number("fds", 20, 1..=1000),
        loops: spec.number("loops", 100, 1..=10_000_000),
        bytes: spec.number("bytes", 100, 1..=1_000_000),
        mode: Mode::of(spec, Mode::Processes),
    };
    let runs = spec.number("runs", 1, 1..=10_000);
    if shape.tasks().saturating_mul(runs) > TASKS_MAX {
        let help = format!("groups x fds x 2 x runs may be {TASKS_MAX} at most");
        spec.wrong("groups", "too many tasks", &help);
        return (Workload::default(), shape);
    }
    let kinds = [("sockets", ChannelSpec::STREAM), ("pipes", ChannelSpec::PIPE)];
    let model = Model {
        shape,
        channel: spec.word("channel", &kinds, ChannelSpec::STREAM),
        policy: SchedPolicy::Normal { nice: spec.number("nice", 0, -20..=19), slice_ns: 0 },
        cpus: spec.cpus(),
        fork_ns: shape.mode.fork_ns(spec),
        exit_ns: shape.mode.exit_ns(spec),
        pause_ns: spec.time_ns("pause_us", Some(0), PAUSE_US_MAX),
        calls: Calls::of(spec),
    };
    (model.workload(runs), shape)
}

impl Model {
    fn workload(&self, runs: u64) -> Workload {
        let Shape { groups, fds, .. } = self.shape;
        let mut tasks = vec![self.main(runs)];
        for group in 0..groups {
            tasks.extend((0..fds).map(|fd| self.receiver(FIRST + group * fds + fd)));
            tasks.push(self.sender(FIRST + group * fds));
        }
        let mut channels = vec![ChannelSpec::PIPE; FIRST as usize];
        channels.extend(std::iter::repeat_n(self.channel, (groups * fds) as usize));
        Workload { tasks, channels, semaphores: vec![0], duration_ns: Some(UNTIL_DONE_NS), ..Workload::default() }
    }

    fn task(&self, name: &str, start: Start, phases: Vec<Phase>, loops: u64) -> TaskSpec {
        TaskSpec {
            name: name.into(),
            policy: self.policy,
            process: self.shape.mode.process(),
            cpus: self.cpus.clone(),
            start,
            phases,
            loops: Some(loops),
            ..TaskSpec::default()
        }
    }

    /// Starts all tasks, waits until all are ready, lets them go, waits until all are gone; and the same again.
    fn main(&self, runs: u64) -> TaskSpec {
        let tasks = self.shape.tasks();
        let fork = |task| [Op::Run { work_ns: self.fork_ns }, Op::Fork { task }];
        let mut phases = self.pause();
        phases.extend([
            once(self.templates().flat_map(fork).collect()),
            repeat(tasks, vec![self.calls.read(READY, 1)]),
            once(vec![Op::Lap { ops: 0 }, self.calls.write(START, 1)]),
            repeat(tasks, vec![Op::SemWait(DONE)]),
            once(vec![Op::Lap { ops: self.shape.messages() }, Op::Read { channel: START, bytes: 1, work_ns: 0 }]),
        ]);
        self.task("hackbench", Start::AtStart, phases, runs)
    }

    /// Sleep of a script between two runs.
    fn pause(&self) -> Vec<Phase> {
        if self.pause_ns == 0 { Vec::new() } else { vec![once(vec![Op::Sleep { ns: self.pause_ns }])] }
    }

    /// Task numbers in the order in which they are started: a group's receivers, then its senders.
    fn templates(&self) -> impl Iterator<Item = u32> {
        let Shape { groups, fds, .. } = self.shape;
        (0..groups).flat_map(move |group| {
            let first = 1 + group * (fds + 1);
            (first..first + fds).chain(std::iter::repeat_n(first + fds, fds as usize))
        })
    }

    /// Reports, waits for the start; at the end, leaves.
    fn child(&self, name: &str, work: Phase) -> TaskSpec {
        let begin = once(vec![self.calls.write(READY, 1), Op::Poll { channel: START }]);
        let end = once(vec![Op::Run { work_ns: self.exit_ns }, Op::SemPost(DONE)]);
        self.task(name, Start::OnFork, vec![begin, work, end], 1)
    }

    fn receiver(&self, channel: u32) -> TaskSpec {
        let Shape { fds, loops, bytes, .. } = self.shape;
        self.child("receiver", repeat(loops * u64::from(fds), vec![self.calls.read(channel, bytes)]))
    }

    fn sender(&self, first: u32) -> TaskSpec {
        let Shape { fds, loops, bytes, .. } = self.shape;
        self.child("sender", repeat(loops, (first..first + fds).map(|c| self.calls.write(c, bytes)).collect()))
    }
}
