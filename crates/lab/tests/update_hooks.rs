// SPDX-License-Identifier: GPL-2.0-or-later
//! The mechanisms behind the table `update-hooks`, with one seed and shorter runs.

use pelton_lab::experiment::reproduce::{Options, Seeds, reproduce};
use pelton_lab::experiment::table::TableResult;
use pelton_lab::experiment::{self, Experiment};

/// The rows whose id contains one of `parts`, run with one seed.
fn rows(mut experiment: Experiment, parts: &[&str]) -> TableResult {
    experiment.row.retain(|r| parts.iter().any(|part| r.id.contains(part)));
    experiment.claim.clear();
    experiment.beyond.clear();
    reproduce(&experiment, None, Options { seeds: Seeds::Count(1), jobs: 2 }, Default::default()).expect("runs")
}

fn table() -> Experiment {
    experiment::load("update-hooks").expect("embedded")
}

fn simulated(table: &TableResult, id: &str) -> f64 {
    table.rows.iter().find(|r| r.id == id).and_then(|r| r.simulated).expect("a row with a number")
}

/// Three tenths of the million round trips: fewer are over so soon that the desktop's calls afterwards count more.
fn short_pipe() -> Experiment {
    let mut experiment = table();
    let pipe = experiment.workload.get_mut("pipe").expect("a workload");
    pipe.spec = pipe.spec.replace("loops=1000000", "loops=300000");
    // It starts 4 s after the desktop.
    pipe.duration_s = Some(6.0);
    experiment
}

#[test]
fn a_round_trip_of_the_pipe_takes_its_time_and_calls_at_most_periods_that_end_at_work() {
    let table = rows(short_pipe(), &["_pipe."]);
    let time_s = simulated(&table, "time_pipe.before");
    // 4.2 us of paths at the highest clock; how often a desktop pulls the clock down decides the rest (F-081).
    assert!((1.05..=4.8).contains(&time_s), "{time_s} s");
    let per_s = simulated(&table, "updates_pipe.before") / time_s;
    assert!((954.0..=1908.0).contains(&per_s), "{per_s} calls per second: of one to two CPUs, 954 each at most");
    let per_s = simulated(&table, "updates_pipe.after") / time_s;
    assert!((150.0..=320.0).contains(&per_s), "{per_s} calls per second: the ticks of one busy CPU");
}

#[test]
fn threads_that_never_sleep_are_told_of_by_ticks_alone() {
    let table = rows(table(), &["ebizzy_8"]);
    let [before, after] = ["before", "after"].map(|v| simulated(&table, &format!("records_ebizzy_8.{v}")));
    assert!((before / after - 1.0).abs() < 0.03, "{before} and {after} records per second");
}

#[test]
fn a_polling_cpu_runs_late_when_every_wake_up_asks() {
    let table = rows(table(), &["cyclictest_poll_8", "cyclictest_deep_8"]);
    let max = |kind: &str, variant: &str| simulated(&table, &format!("latency_cyclictest_{kind}_8.{variant}"));
    // By how much depends on the period of the desktop beside it (F-083).
    assert!(max("poll", "after") < max("poll", "before"), "{:?}", table.rows);
    assert!(max("deep", "before") > 10.0 * max("poll", "before"), "the way out of a deep state dominates");
}
