// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs of system calls in the models of benchmarks that do little else.

use pelton_model::workload::{Op, Process};

use super::spec::Spec;

/// `write()` or `read()` of a small message, ns at capacity 1024. ESTIMATE: the order of a desktop CPU of 2015, without
/// the wake-up and the switch, which are the platform's costs.
const CALL_NS: u64 = 300;

/// Length of the run of a benchmark that ends by itself: not the simulator's default, which may be too short.
pub(super) const UNTIL_DONE_NS: u64 = 3_600_000_000_000;

/// Work of the calls.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    write_ns: u64,
    read_ns: u64,
}

impl Calls {
    /// The options `write_ns` and `read_ns`.
    pub(super) fn of(spec: &mut Spec) -> Calls {
        let write_ns = spec.number("write_ns", CALL_NS, 0..=1_000_000_000);
        Calls { write_ns, read_ns: spec.number("read_ns", CALL_NS, 0..=1_000_000_000) }
    }

    /// A write into a channel.
    pub(super) fn write(self, channel: u32, bytes: u32) -> Op {
        Op::Write { channel, bytes, work_ns: self.write_ns }
    }

    /// A read from a channel.
    pub(super) fn read(self, channel: u32, bytes: u32) -> Op {
        Op::Read { channel, bytes, work_ns: self.read_ns }
    }
}

/// Form of the tasks that a benchmark starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `fork()`.
    Processes,
    /// `pthread_create()`.
    Threads,
}

impl Mode {
    /// The option `mode`.
    pub(super) fn of(spec: &mut Spec, default: Mode) -> Mode {
        spec.word("mode", &[("processes", Mode::Processes), ("threads", Mode::Threads)], default)
    }

    /// Of what process each is.
    pub(super) fn process(self) -> Process {
        if self == Mode::Processes { Process::Own } else { Process::default() }
    }

    /// As perf calls them.
    pub(super) fn plural(self) -> &'static str {
        if self == Mode::Processes { "processes" } else { "threads" }
    }

    /// The option `fork_us`: work of starting one, ns. ESTIMATE: 100 us for a process, 15 us for a thread.
    pub(super) fn fork_ns(self, spec: &mut Spec) -> u64 {
        let default_ns = if self == Mode::Processes { 100_000 } else { 15_000 };
        spec.time_ns("fork_us", Some(default_ns), 1_000_000)
    }

    /// The option `exit_us`: work of ending one, ns. ESTIMATE: 60 us for a process, 10 us for a thread.
    pub(super) fn exit_ns(self, spec: &mut Spec) -> u64 {
        let default_ns = if self == Mode::Processes { 60_000 } else { 10_000 };
        spec.time_ns("exit_us", Some(default_ns), 1_000_000)
    }
}
