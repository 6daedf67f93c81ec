// SPDX-License-Identifier: GPL-2.0-or-later
//! Latencies that schbench measures, and searches by CPUs that go idle.

use pelton_scenario::bench::schbench::Latencies;
use pelton_sim::Report;
use pelton_sim::report::{CallParts, CpuReport};

fn of(report: &Report) -> Option<Latencies> {
    let all = Latencies::of(&report.tasks);
    (all.count() > 0).then_some(all)
}

pub(crate) fn count(report: &Report) -> Option<u64> {
    of(report).map(|all| all.count())
}

pub(crate) fn percentile_us(report: &Report, percent: f64) -> Option<f64> {
    of(report)?.percentile_us(percent).map(|(us, _)| us.into())
}

pub(crate) fn range_us(report: &Report) -> Option<(f64, f64)> {
    of(report)?.range_us().map(|(min, max)| (min.into(), max.into()))
}

/// The calls of some runs, shortest first, with what each waited for. Calls of a task with too many to keep are left
/// out.
pub fn calls<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Vec<CallParts> {
    let tasks = reports.into_iter().flat_map(|report| &report.tasks);
    let mut all: Vec<CallParts> = tasks.flat_map(|task| task.call_parts.iter().copied()).collect();
    all.sort_by_key(CallParts::sum_ns);
    all
}

/// Mean of what calls wait for between two ranks, in percent of `all` of them, which are in order; `None` where there
/// are none. The call at a percentile belongs to the band below it.
pub fn band_us(all: &[CallParts], from: f64, to: f64, of: impl Fn(&CallParts) -> u64) -> Option<f64> {
    let rank = |percent: f64| (percent / 100.0 * all.len() as f64).ceil() as usize;
    let band = all.get(rank(from)..rank(to).min(all.len()))?;
    (!band.is_empty()).then(|| band.iter().map(of).sum::<u64>() as f64 / band.len() as f64 / 1e3)
}

/// Mean time that `of` reads from the slowest fiftieth of the calls of one run, us.
pub(crate) fn slowest_us(report: &Report, of: impl Fn(&CallParts) -> u64) -> Option<f64> {
    band_us(&calls([report]), 98.0, 100.0, of)
}

/// A count of all CPUs, per second.
pub(crate) fn per_s(report: &Report, of: impl Fn(&CpuReport) -> f64) -> Option<f64> {
    let seconds = report.duration_ns as f64 / 1e9;
    (seconds > 0.0).then(|| report.cpus.iter().map(of).sum::<f64>() / seconds)
}

pub(crate) fn scans_per_s_max(report: &Report) -> Option<f64> {
    let most = report.cpus.iter().map(|c| c.blocked_scans).max()?;
    (report.duration_ns > 0).then(|| most as f64 / (report.duration_ns as f64 / 1e9))
}

fn searches(report: &Report) -> u64 {
    report.cpus.iter().map(|c| c.search_ns.count).sum()
}

pub(crate) fn search_us_avg(report: &Report) -> Option<f64> {
    let sum_ns: u64 = report.cpus.iter().map(|c| c.search_ns.sum).sum();
    let count = searches(report);
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e3)
}

pub(crate) fn search_us_max(report: &Report) -> Option<f64> {
    let max_ns = report.cpus.iter().map(|c| c.search_ns.max).max()?;
    (searches(report) > 0).then_some(max_ns as f64 / 1e3)
}

pub(crate) fn queues_per_search(report: &Report) -> Option<f64> {
    let queues: u64 = report.cpus.iter().map(|c| c.blocked_queues).sum();
    let count = searches(report);
    (count > 0).then(|| queues as f64 / count as f64)
}
