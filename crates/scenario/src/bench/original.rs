// SPDX-License-Identifier: GPL-2.0-or-later
//! The output of the programs behind the models, line for line, from the report of a run.

use std::fmt::Write as _;
use std::ops::Range;

use pelton_sim::Report;
use pelton_sim::report::{Summary, TaskReport};

use super::calls::Mode;
use super::hackbench::Shape;
use super::schbench::Latencies;
use super::sysbench::{self, Version};

/// A program whose output can be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// `sysbench cpu run`, the block at its end.
    Sysbench,
    /// `perf bench sched pipe`.
    SchedPipe {
        /// Round trips.
        loops: u64,
        /// Processes or threads.
        mode: Mode,
    },
    /// `hackbench`.
    Hackbench(Shape),
    /// `perf bench sched messaging`.
    Messaging(Shape),
    /// `ebizzy`.
    Ebizzy,
    /// `schbench`.
    Schbench {
        /// Length that was asked for, s.
        runtime_s: u64,
    },
    /// `cyclictest -q`.
    Cyclictest {
        /// Real-time priority, 0 = none.
        priority: u8,
        /// Interval of the first thread.
        interval_us: u64,
        /// Added for each further thread.
        distance_us: u64,
    },
}

/// A program, and which tasks of the workload are its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The program.
    pub program: Program,
    /// Its tasks.
    pub tasks: Range<usize>,
}

/// Writing to a string does not fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => { let _ = writeln!($out, $($arg)*); };
}

impl Original {
    /// Output that the program would print after this run.
    pub fn print(&self, report: &Report) -> String {
        let tasks = report.tasks.get(self.tasks.clone()).unwrap_or_default();
        let mut out = String::new();
        match &self.program {
            Program::Sysbench => {
                let threads: Vec<_> = tasks.iter().map(|t| &t.activation_ns).collect();
                return sysbench::print(&threads, report.duration_ns, Version::V1_0);
            }
            Program::SchedPipe { loops, mode } => sched_pipe(&mut out, laps_ns(tasks), *loops, *mode),
            Program::Hackbench(shape) => laps_ns(tasks).iter().for_each(|&ns| hackbench(&mut out, ns, *shape)),
            Program::Messaging(shape) => laps_ns(tasks).iter().for_each(|&ns| messaging(&mut out, ns, *shape)),
            Program::Ebizzy => ebizzy(&mut out, tasks, report.duration_ns),
            Program::Schbench { runtime_s } => return Latencies::of(tasks).print(*runtime_s),
            Program::Cyclictest { priority, interval_us, distance_us } => {
                let threads = tasks.iter().enumerate().filter(|(k, _)| *k + 1 < tasks.len());
                for (k, task) in threads {
                    let tid = self.tasks.start + k + 1;
                    cyclictest(&mut out, k, tid, *priority, interval_us + distance_us * k as u64, &task.timer_latency);
                }
            }
        }
        out
    }
}

/// Laps of the task that holds the stopwatch; nothing when it did not get to the end of one.
fn laps_ns(tasks: &[TaskReport]) -> &[u64] {
    tasks.first().and_then(|t| t.laps.exact()).unwrap_or_default()
}

/// Seconds and milliseconds, the rest cut off, as perf prints them.
fn seconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}

fn sched_pipe(out: &mut String, laps: &[u64], loops: u64, mode: Mode) {
    let Some(&ns) = laps.first() else { return };
    let us = ns / 1000;
    line!(out, "# Running 'sched/pipe' benchmark:");
    line!(out, "# Executed {loops} pipe operations between two {}\n", mode.plural());
    line!(out, " {:>14}: {} [sec]\n", "Total time", seconds(ns));
    line!(out, " {:14.6} usecs/op", us as f64 / loops as f64);
    line!(out, " {:14} ops/sec", (loops as f64 / (us.max(1) as f64 / 1e6)) as u64);
}

fn hackbench(out: &mut String, ns: u64, shape: Shape) {
    let Shape { groups, fds, loops, bytes, mode } = shape;
    let mode = if mode == Mode::Processes { "process" } else { "threaded" };
    let each = 2 * fds;
    line!(
        out,
        "Running in {mode} mode with {groups} groups using {each} file descriptors each (== {} tasks)",
        shape.tasks()
    );
    line!(out, "Each sender will pass {loops} messages of {bytes} bytes");
    line!(out, "Time: {}", seconds(ns));
}

fn messaging(out: &mut String, ns: u64, shape: Shape) {
    let plural = shape.mode.plural();
    line!(out, "# Running 'sched/messaging' benchmark:");
    line!(out, "# {} sender and receiver {plural} per group", shape.fds);
    line!(out, "# {} groups == {} {plural} run\n", shape.groups, shape.tasks());
    line!(out, " {:>14}: {} [sec]", "Total time", seconds(ns));
}

/// Prints ebizzy's result. The simulator does not separate user from kernel time inside a record: all of it is `user`.
fn ebizzy(out: &mut String, tasks: &[TaskReport], duration_ns: u64) {
    let records: u64 = tasks.iter().map(|t| t.records).sum();
    let real_s = duration_ns as f64 / 1e9;
    let user_s = tasks.iter().map(|t| t.run_ns).sum::<u64>() as f64 / 1e9;
    line!(out, "{} records/s", if real_s > 0.0 { (records as f64 / real_s) as u64 } else { 0 });
    line!(out, "real {real_s:5.2} s");
    line!(out, "user {user_s:5.2} s");
    line!(out, "sys  {:5.2} s", 0.0);
}

fn cyclictest(out: &mut String, k: usize, tid: usize, priority: u8, interval_us: u64, latency: &Summary) {
    let us = |ns: u64| ns / 1000;
    // The program starts with an impossible minimum.
    let min_us = if latency.count == 0 { 1_000_000 } else { us(latency.min) };
    line!(
        out,
        "T:{k:2} ({tid:5}) P:{priority:2} I:{interval_us} C:{:7} Min:{min_us:7} Act:{:5} Avg:{:5} Max:{:8}",
        latency.count,
        us(latency.last),
        us(latency.mean().unwrap_or(0)),
        us(latency.max)
    );
}

#[cfg(test)]
#[path = "original_test.rs"]
mod tests;
