// SPDX-License-Identifier: GPL-2.0-or-later
//! Governor's costs, and distance of the frequency from the need: numbers of a whole run, over all domains.

use super::stats;
use pelton_sim::Report;
use pelton_sim::report::{CpuReport, DemandReport, DomainReport};

/// Sum over the CPUs.
pub(crate) fn cpus(report: &Report, of: impl Fn(&CpuReport) -> u64) -> f64 {
    report.cpus.iter().map(of).sum::<u64>() as f64
}

/// Sum over the domains.
pub(crate) fn domains(report: &Report, of: impl Fn(&DomainReport) -> u64) -> f64 {
    report.domains.iter().map(of).sum::<u64>() as f64
}

/// Share of the time at the highest operating point, percent; `None` without any time.
pub(crate) fn highest_pct(report: &Report) -> Option<f64> {
    let all_ns: u64 = report.domains.iter().flat_map(|d| &d.time_in_state_ns).sum();
    let highest_ns: u64 = report.domains.iter().filter_map(|d| d.time_in_state_ns.last()).sum();
    (all_ns > 0).then(|| highest_ns as f64 * 100.0 / all_ns as f64)
}

fn observed(report: &Report) -> Option<&[DemandReport]> {
    (!report.demand.is_empty()).then_some(&report.demand)
}

/// Sum over the clocks of a run that was observed.
pub(crate) fn sum(report: &Report, of: impl Fn(&DemandReport) -> u64) -> Option<f64> {
    Some(observed(report)?.iter().map(of).sum::<u64>() as f64)
}

/// Time integral of the distance of need and frequency, MHz s.
pub(crate) fn error_mhz_s(report: &Report) -> Option<f64> {
    Some(observed(report)?.iter().map(|d| d.error_khz_ns).sum::<u128>() as f64 / 1e12)
}

/// Mean time from a rise of the need until the frequency follows, ms; `None` without a rise.
pub(crate) fn step_latency_ms_avg(report: &Report) -> Option<f64> {
    let clocks = observed(report)?;
    let steps: u64 = clocks.iter().map(|d| d.steps).sum();
    (steps > 0).then(|| clocks.iter().map(|d| d.step_ns_sum).sum::<u128>() as f64 / steps as f64 / 1e6)
}

/// The longest of these times, ms; `None` without a rise.
pub(crate) fn step_latency_ms_max(report: &Report) -> Option<f64> {
    let clocks = observed(report)?.iter().filter(|d| d.steps > 0);
    clocks.map(|d| d.step_ns_max).max().map(|ns| ns as f64 / 1e6)
}

/// Mean reaction, ms; `None` without one.
pub(crate) fn reaction_ms_avg(report: &Report) -> Option<f64> {
    let clocks = observed(report)?;
    let summaries = || clocks.iter().map(|d| d.reaction_ns.summary());
    let count: u64 = summaries().map(|s| s.count).sum();
    (count > 0).then(|| summaries().map(|s| s.sum).sum::<u64>() as f64 / count as f64 / 1e6)
}

/// Longest reaction, ms.
pub(crate) fn reaction_ms_max(report: &Report) -> Option<f64> {
    reactions(report)?.last().map(|&(ns, _)| ns as f64 / 1e6)
}

/// The reaction that 99 of 100 do not exceed, ms (nearest rank).
pub(crate) fn reaction_ms_p99(report: &Report) -> Option<f64> {
    let sorted = reactions(report)?;
    stats::ranked(&sorted, 99).map(|ns| ns as f64 / 1e6)
}

/// Durations and how often each came, ascending.
fn reactions(report: &Report) -> Option<Vec<(u64, u64)>> {
    let mut all: Vec<_> = observed(report)?.iter().flat_map(|d| d.reaction_ns.iter()).collect();
    all.sort_unstable();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(reaction_ns: impl IntoIterator<Item = u64>, error_khz_ns: u128) -> DemandReport {
        let reaction_ns = reaction_ns.into_iter().collect();
        DemandReport { reaction_ns, error_khz_ns, ..DemandReport::default() }
    }

    #[test]
    fn reactions_of_all_clocks_are_one_population() {
        let first = clock((1..=99).map(|ms| ms * 1_000_000), 3_000_000_000_000);
        let second = clock([200_000_000], 1_000_000_000_000);
        let report = Report { demand: vec![first, second], ..Report::default() };
        assert_eq!(reaction_ms_p99(&report), Some(99.0));
        assert_eq!(reaction_ms_max(&report), Some(200.0));
        assert_eq!(reaction_ms_avg(&report), Some((99.0 * 50.0 + 200.0) / 100.0));
        assert_eq!(error_mhz_s(&report), Some(4.0));
    }

    #[test]
    fn every_step_of_every_clock_counts_alike() {
        let with = |steps, step_ns_sum, step_ns_max| DemandReport {
            steps,
            step_ns_sum,
            step_ns_max,
            ..DemandReport::default()
        };
        let report = Report { demand: vec![with(3, 6_000_000, 5_000_000), with(1, 0, 0)], ..Report::default() };
        assert_eq!((step_latency_ms_avg(&report), step_latency_ms_max(&report)), (Some(1.5), Some(5.0)));
        let still = Report { demand: vec![with(0, 0, 0)], ..Report::default() };
        assert_eq!((step_latency_ms_avg(&still), step_latency_ms_max(&still)), (None, None));
    }

    #[test]
    fn without_an_observer_there_is_no_number() {
        let report = Report { domains: vec![DomainReport::default()], ..Report::default() };
        assert_eq!(error_mhz_s(&report), None);
        assert_eq!(sum(&report, |d| d.over_ns), None);
        assert_eq!(reaction_ms_max(&Report::default()), None);
    }

    #[test]
    fn no_reaction_has_no_mean() {
        let report = Report { demand: vec![clock([], 0)], ..Report::default() };
        assert_eq!((reaction_ms_avg(&report), reaction_ms_p99(&report)), (None, None));
        assert_eq!(error_mhz_s(&report), Some(0.0));
    }
}
