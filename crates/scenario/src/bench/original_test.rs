// SPDX-License-Identifier: GPL-2.0-or-later
//! Layouts as perf 6.1, hackbench and cyclictest 2.4 print them.

use super::*;

fn report(tasks: Vec<TaskReport>, seconds: u64) -> Report {
    Report { tasks, duration_ns: seconds * 1_000_000_000, ..Report::default() }
}

fn lapped(laps_ns: &[u64]) -> TaskReport {
    TaskReport { laps: laps_ns.iter().copied().collect(), ..TaskReport::default() }
}

fn print(program: Program, tasks: Vec<TaskReport>) -> String {
    Original { program, tasks: 0..tasks.len() }.print(&report(tasks, 10))
}

const SHAPE: Shape = Shape { groups: 2, fds: 20, loops: 20, bytes: 100, mode: Mode::Threads };

#[test]
fn sched_pipe_prints_what_perf_prints() {
    let program = Program::SchedPipe { loops: 20_000, mode: Mode::Processes };
    // The figures of a run of the program: it divides whole microseconds.
    let expected = "\
# Running 'sched/pipe' benchmark:
# Executed 20000 pipe operations between two processes

     Total time: 0.119 [sec]

       5.967700 usecs/op
         167568 ops/sec
";
    assert_eq!(print(program, vec![lapped(&[119_354_321])]), expected);
}

#[test]
fn messaging_prints_what_perf_prints() {
    let expected = "\
# Running 'sched/messaging' benchmark:
# 20 sender and receiver threads per group
# 2 groups == 80 threads run

     Total time: 0.017 [sec]
";
    assert_eq!(print(Program::Messaging(SHAPE), vec![lapped(&[17_999_999])]), expected);
}

#[test]
fn hackbench_prints_one_block_per_repetition() {
    let shape = Shape { groups: 1, mode: Mode::Processes, ..SHAPE };
    let expected = "\
Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)
Each sender will pass 20 messages of 100 bytes
Time: 0.022
Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)
Each sender will pass 20 messages of 100 bytes
Time: 1.000
";
    assert_eq!(print(Program::Hackbench(shape), vec![lapped(&[22_000_000, 1_000_400_000])]), expected);
}

#[test]
fn cyclictest_prints_one_line_per_thread() {
    let mut latency = Summary::default();
    [28_900, 2_080_000, 167_000].into_iter().for_each(|ns| latency.add(ns));
    let thread = TaskReport { timer_latency: latency, ..TaskReport::default() };
    let program = Program::Cyclictest { priority: 0, interval_us: 1000, distance_us: 500 };
    let expected = "\
T: 0 (    1) P: 0 I:1000 C:      3 Min:     28 Act:  167 Avg:  758 Max:    2080
T: 1 (    2) P: 0 I:1500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0
";
    let main = TaskReport::default();
    assert_eq!(print(program, vec![thread, TaskReport::default(), main]), expected);
}

#[test]
fn ebizzy_prints_records_and_times() {
    let thread = TaskReport { records: 1_000_005, run_ns: 9_990_000_000, ..TaskReport::default() };
    let expected = "200001 records/s\nreal 10.00 s\nuser 19.98 s\nsys   0.00 s\n";
    assert_eq!(print(Program::Ebizzy, vec![thread.clone(), thread]), expected);
}

#[test]
fn what_did_not_end_prints_nothing() {
    assert_eq!(print(Program::SchedPipe { loops: 1, mode: Mode::Threads }, vec![TaskReport::default()]), "");
    assert_eq!(print(Program::Hackbench(SHAPE), Vec::new()), "");
}
