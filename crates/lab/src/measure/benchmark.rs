// SPDX-License-Identifier: GPL-2.0-or-later
//! Results that the tasks of a benchmark measured themselves: laps, records, lateness after a timer.

use pelton_sim::Report;
use pelton_sim::report::{Summary, TaskReport};

/// Laps of all stopwatches: (laps, their sum in ns, operations).
fn laps(report: &Report) -> Option<(u64, u64, u64)> {
    let add =
        |sum: (u64, u64, u64), t: &TaskReport| (sum.0 + t.laps.len(), sum.1 + t.laps.summary().sum, sum.2 + t.lap_ops);
    let sum = report.tasks.iter().fold((0, 0, 0), add);
    (sum.0 > 0).then_some(sum)
}

pub(crate) fn time_s(report: &Report) -> Option<f64> {
    laps(report).map(|(count, sum_ns, _)| sum_ns as f64 / count as f64 / 1e9)
}

pub(crate) fn laps_per_s(report: &Report) -> Option<f64> {
    laps(report).map(|(count, sum_ns, _)| count as f64 * 1e9 / sum_ns as f64)
}

pub(crate) fn usec_per_op(report: &Report) -> Option<f64> {
    laps(report).map(|(_, sum_ns, ops)| sum_ns as f64 / ops as f64 / 1e3)
}

pub(crate) fn records_per_s(report: &Report) -> Option<f64> {
    let records: u64 = report.tasks.iter().map(|t| t.records).sum();
    (records > 0 && report.duration_ns > 0).then(|| records as f64 / (report.duration_ns as f64 / 1e9))
}

/// Mean of a number over the threads that have samples of their lateness.
fn over_threads(report: &Report, number: impl Fn(&Summary) -> f64) -> Option<f64> {
    let threads: Vec<f64> = report.tasks.iter().map(|t| &t.timer_latency).filter(|l| l.count > 0).map(number).collect();
    (!threads.is_empty()).then(|| threads.iter().sum::<f64>() / threads.len() as f64)
}

/// cyclictest keeps whole microseconds.
pub(crate) fn timer_latency_max_us(report: &Report) -> Option<f64> {
    over_threads(report, |l| (l.max / 1000) as f64)
}

pub(crate) fn timer_latency_avg_us(report: &Report) -> Option<f64> {
    over_threads(report, |l| l.sum as f64 / l.count as f64 / 1e3)
}

/// A task of a benchmark that takes part in what is measured.
fn measures(task: &TaskReport) -> bool {
    !task.laps.is_empty() || task.records > 0 || task.timer_latency.count > 0
}

pub(crate) fn wakeup_latency_us(report: &Report) -> Option<f64> {
    let tasks = || report.tasks.iter().filter(|t| measures(t));
    let count: u64 = tasks().map(|t| t.wakeup_latency_ns.count).sum();
    let sum_ns: u64 = tasks().map(|t| t.wakeup_latency_ns.sum).sum();
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(samples: &[u64]) -> Summary {
        let mut s = Summary::default();
        samples.iter().for_each(|&ns| s.add(ns));
        s
    }

    #[test]
    fn laps_and_operations() {
        let task = TaskReport {
            laps: [2_000_000_000, 4_000_000_000].into_iter().collect(),
            lap_ops: 2_000_000,
            ..Default::default()
        };
        let report = Report { tasks: vec![task], ..Default::default() };
        assert_eq!((time_s(&report), usec_per_op(&report)), (Some(3.0), Some(3.0)));
        assert_eq!(records_per_s(&report), None);
    }

    #[test]
    fn maxima_are_whole_microseconds_averaged_over_threads() {
        let thread = |ns| TaskReport { timer_latency: summary(&[1000, ns]), ..Default::default() };
        let report = Report { tasks: vec![thread(7900), thread(10_100), TaskReport::default()], ..Default::default() };
        assert_eq!(timer_latency_max_us(&report), Some(8.5));
        assert_eq!(timer_latency_avg_us(&report), Some(5.0));
    }

    #[test]
    fn nothing_measured_is_absent() {
        let report = Report { tasks: vec![TaskReport::default()], duration_ns: 1, ..Default::default() };
        for read in [time_s, usec_per_op, records_per_s, timer_latency_max_us, timer_latency_avg_us, wakeup_latency_us]
        {
            assert_eq!(read(&report), None);
        }
    }
}
