// SPDX-License-Identifier: GPL-2.0-or-later
//! `sysbench cpu`: threads that search primes, one event after the other, and the block of text it prints.
//!
//! An event takes the same work each time, so its latency shows how fast and how undisturbed the thread ran. The report
//! follows the program: minimum, average and maximum are exact, the percentile is read from a histogram with
//! logarithmic buckets and therefore comes in steps - 1.8 % wide since version 1.0, 0.03 % before.

use std::fmt::Write as _;

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, SchedPolicy, TaskSpec};
use pelton_sim::Samples;

use super::spec::Spec;

/// One event of `--cpu-max-prime=10000` at 1.2 GHz on a Cortex-A53, microseconds.
const EVENT_US_DEFAULT: u64 = 1230;
/// Length of a run of sysbench by default, ns.
const DURATION_NS_DEFAULT: u64 = 10_000_000_000;

/// `threads` threads that compute events of `event_ns` for ever.
pub fn cpu(threads: u32, event_ns: u64) -> Workload {
    let ops = vec![Op::Run { work_ns: event_ns }, Op::EndActivation];
    let events = Phase { name: "events".into(), ops, ..Phase::default() };
    let thread = |i: u32| TaskSpec {
        name: format!("sysbench-{i}"),
        phases: vec![events.clone()],
        // An activation is one event.
        ..TaskSpec::default()
    };
    Workload { name: "sysbench-cpu".into(), tasks: (0..threads).map(thread).collect(), ..Workload::default() }
}

/// `sysbench-cpu:threads=1,event_us=1230,duration_s=10,nice=0,cpus=0`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let threads = spec.number("threads", 1, 1..=10_000);
    let event_ns = spec.time_ns("event_us", Some(EVENT_US_DEFAULT * 1000), 1_000_000_000);
    let nice = spec.number("nice", 0, -20..=19);
    let cpus = spec.cpus();
    let mut workload = cpu(threads, event_ns);
    workload.duration_ns = spec.duration_ns(Some(DURATION_NS_DEFAULT));
    for task in &mut workload.tasks {
        task.cpus.clone_from(&cpus);
        task.policy = SchedPolicy::Normal { nice, slice_ns: 0 };
    }
    workload
}

/// Release whose output is imitated; they differ in the histogram and in the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// 0.5 and before: 100 000 buckets from 1 ns to 10^13 ns.
    V0_5,
    /// 1.0: 1024 buckets from 0.001 ms to 100 000 ms.
    #[default]
    V1_0,
}

impl Version {
    /// Number of buckets, and the range they cover in milliseconds.
    fn buckets(self) -> (usize, f64, f64) {
        match self {
            Version::V0_5 => (100_000, 1e-6, 1e7),
            Version::V1_0 => (1024, 1e-3, 1e5),
        }
    }
}

/// A percentile of latencies as sysbench computes it, milliseconds; 0 without events. Latencies come with their counts.
pub fn percentile_ms(latencies_ns: impl IntoIterator<Item = (u64, u64)>, percent: u32, version: Version) -> f64 {
    let (count, min, max) = version.buckets();
    let scale = (count - 1) as f64 / (max.ln() - min.ln());
    let bucket = |ns: u64| {
        let ms = (ns as f64 / 1e6).clamp(min, max);
        (((ms.ln() - min.ln()) * scale + 0.5).floor() as usize).min(count - 1)
    };
    let mut latencies: Vec<(u64, u64)> = latencies_ns.into_iter().filter(|&(_, times)| times > 0).collect();
    let total: u64 = latencies.iter().map(|(_, times)| times).sum();
    let wanted = (total as f64 * f64::from(percent) / 100.0 + 0.5).floor() as u64;
    // Buckets ascend with latency: the one that is reached is the one of the latency that reaches it.
    let Some(reached_ns) = reached(&mut latencies, total, wanted) else { return 0.0 };
    // Version 0.5 never answers with its first bucket.
    let first = usize::from(version == Version::V0_5);
    (bucket(reached_ns).max(first) as f64 / scale + min.ln()).exp()
}

/// The latency that so many of all, which are `total`, do not exceed. They change places.
fn reached(latencies: &mut [(u64, u64)], total: u64, wanted: u64) -> Option<u64> {
    // Where each came once, what is wanted has a place, which takes no sort of all.
    if total == latencies.len() as u64 {
        let place = wanted.max(1) as usize - 1;
        return (place < latencies.len()).then(|| latencies.select_nth_unstable(place).1.0);
    }
    latencies.sort_unstable();
    let mut seen = 0;
    let reaches = |&&(_, times): &&(u64, u64)| {
        seen += times;
        seen >= wanted
    };
    latencies.iter().find(reaches).map(|&(ns, _)| ns)
}

/// Totals of a run.
struct Totals {
    events: u64,
    min_ms: f64,
    avg_ms: f64,
    max_ms: f64,
    percentile_ms: f64,
    sum_ms: f64,
}

impl Totals {
    fn of(threads: &[&Samples], version: Version) -> Self {
        let used = || threads.iter().map(|t| t.summary()).filter(|s| s.count > 0);
        let ms = |ns: u64| ns as f64 / 1e6;
        let events = used().map(|s| s.count).sum();
        let sum_ms: f64 = used().map(|s| ms(s.sum)).sum();
        Totals {
            events,
            min_ms: ms(used().map(|s| s.min).min().unwrap_or(0)),
            avg_ms: if events == 0 { 0.0 } else { sum_ms / events as f64 },
            max_ms: ms(used().map(|s| s.max).max().unwrap_or(0)),
            percentile_ms: percentile_ms(threads.iter().flat_map(|t| t.iter()), 95, version),
            sum_ms,
        }
    }
}

/// The block of text that sysbench prints at its end. `threads`: latencies of the events of each thread, nanoseconds.
pub fn print(threads: &[&Samples], elapsed_ns: u64, version: Version) -> String {
    let totals = Totals::of(threads, version);
    let mut out = String::new();
    match version {
        Version::V1_0 => print_1_0(&mut out, &totals, elapsed_ns),
        Version::V0_5 => print_0_5(&mut out, &totals, elapsed_ns),
    }
    print_fairness(&mut out, threads);
    out
}

/// Writing to a string does not fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => { let _ = writeln!($out, $($arg)*); };
}

fn print_1_0(out: &mut String, t: &Totals, elapsed_ns: u64) {
    let seconds = elapsed_ns as f64 / 1e9;
    line!(out, "CPU speed:");
    line!(out, "    events per second: {:8.2}", if seconds > 0.0 { t.events as f64 / seconds } else { 0.0 });
    line!(out, "\nGeneral statistics:");
    line!(out, "    total time:                          {seconds:.4}s");
    line!(out, "    total number of events:              {}", t.events);
    line!(out, "\nLatency (ms):");
    line!(out, "         min: {:39.2}", t.min_ms);
    line!(out, "         avg: {:39.2}", t.avg_ms);
    line!(out, "         max: {:39.2}", t.max_ms);
    line!(out, "         95th percentile: {:27.2}", t.percentile_ms);
    line!(out, "         sum: {:39.2}\n", t.sum_ms);
}

fn print_0_5(out: &mut String, t: &Totals, elapsed_ns: u64) {
    line!(out, "General statistics:");
    line!(out, "    total time:                          {:.4}s", elapsed_ns as f64 / 1e9);
    line!(out, "    total number of events:              {}", t.events);
    line!(out, "    total time taken by event execution: {:.4}s", t.sum_ms / 1e3);
    line!(out, "    response time:");
    line!(out, "         min:                            {:10.2}ms", t.min_ms);
    line!(out, "         avg:                            {:10.2}ms", t.avg_ms);
    line!(out, "         max:                            {:10.2}ms", t.max_ms);
    line!(out, "         approx.  95 percentile:         {:10.2}ms\n", t.percentile_ms);
}

fn print_fairness(out: &mut String, threads: &[&Samples]) {
    let events: Vec<f64> = threads.iter().map(|t| t.len() as f64).collect();
    let seconds: Vec<f64> = threads.iter().map(|t| t.summary().sum as f64 / 1e9).collect();
    let (events, seconds) = (mean_and_deviation(&events), mean_and_deviation(&seconds));
    line!(out, "Threads fairness:");
    line!(out, "    events (avg/stddev):           {:.4}/{:3.2}", events.0, events.1);
    line!(out, "    execution time (avg/stddev):   {:.4}/{:3.2}", seconds.0, seconds.1);
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    (mean, square.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn percentiles_come_in_the_steps_of_the_histogram() {
        let latencies = || (1..=100).map(|i| (i * MS / 10, 1));
        // The 95th of 100 latencies is 9.5 ms; the bucket of version 1.0 around it stands for 9.56 ms.
        assert_eq!(format!("{:.2}", percentile_ms(latencies(), 95, Version::V1_0)), "9.56");
        assert_eq!(format!("{:.2}", percentile_ms(latencies(), 95, Version::V0_5)), "9.50");
        assert_eq!(percentile_ms([], 95, Version::V1_0), 0.0);
    }

    #[test]
    fn latencies_outside_the_histogram_fall_into_its_ends() {
        assert_eq!(format!("{:.4}", percentile_ms([(0, 2)], 95, Version::V1_0)), "0.0010");
        assert_eq!(format!("{:.0}", percentile_ms([(u64::MAX, 1)], 95, Version::V1_0)), "100000");
    }

    #[test]
    fn the_printed_block_has_the_layout_of_the_program() {
        let a: Samples = [2 * MS, 4 * MS].into_iter().collect();
        let b: Samples = [3 * MS; 3].into_iter().collect();
        insta::assert_snapshot!("sysbench-1.0", print(&[&a, &b], 9 * MS, Version::V1_0));
        insta::assert_snapshot!("sysbench-0.5", print(&[&a, &b], 9 * MS, Version::V0_5));
    }
}
