// SPDX-License-Identifier: GPL-2.0-or-later
//! Speed of the simulator: simulated seconds per second, and time per event, with every signal and schedutil on.
//!
//! Not measured here: reading files, and any output. Under `cargo test` every case runs once and short; the hash of the
//! report shows that the work is still the same.

mod worlds;

use std::time::Instant;

use pelton_core::Policy;
use pelton_model::{Machine, RunConfig, Workload};
use pelton_schema::NullSink;
use pelton_sim::Report;
use worlds::{machine, rt_app, side_by_side};

const NS_PER_MS: u64 = 1_000_000;
/// A case is timed this often; the best counts.
const REPETITIONS: u32 = 3;

/// One case.
struct Case {
    name: &'static str,
    machine: Machine,
    workload: Workload,
    /// Simulated time of a timed run.
    duration_ns: u64,
    /// The need is watched beside the frequency, as in every run of the lab.
    demand: bool,
}

/// `count` periodic rt-app tasks of 4 to 35 ms that together ask for about two fifths of `cpus` CPUs.
fn periodic(count: u64, cpus: u64) -> Workload {
    let task = |i: u64| {
        let period_us = 4_000 + 1_000 * (i % 32);
        let run_us = period_us * 2 * cpus / (5 * count) + 10 * (i % 7);
        format!(r#""t{i}": {{"loop": -1, "run": {run_us}, "timer": {{"ref": "t{i}", "period": {period_us}}}}}"#)
    };
    let tasks: Vec<String> = (0..count).map(task).collect();
    rt_app(&tasks)
}

fn cases() -> [Case; 4] {
    let eight = machine("hikey-6220");
    let many = side_by_side(&eight, 48);
    let case = |name, machine: &Machine, workload, seconds_x10: u64, demand| Case {
        name,
        machine: machine.clone(),
        workload,
        duration_ns: seconds_x10 * 100 * NS_PER_MS,
        demand,
    };
    [
        case("8-cpus-1-task", &eight, periodic(1, 1), 2_000, false),
        case("8-cpus-32-tasks", &eight, periodic(32, 8), 200, false),
        case("8-cpus-32-tasks-demand", &eight, periodic(32, 8), 200, true),
        case("384-cpus-768-tasks", &many, periodic(768, 384), 5, false),
    ]
}

fn simulate(case: &Case, duration_ns: u64) -> Report {
    let policy = Policy::profile("7.2").expect("the newest profile");
    let config =
        RunConfig { seed: 1, duration_ns, start_phase_random: true, demand: case.demand, ..RunConfig::default() };
    pelton_sim::run(&case.machine, &case.workload, &policy, &config, NullSink).expect("a run that can end")
}

/// FNV-1a over what a run adds up to.
fn hash(report: &Report) -> u64 {
    let tasks = report.tasks.iter().flat_map(|t| [t.run_ns, t.wait_ns, t.switches, t.migrations]);
    let totals = [report.sim_events, report.energy_uj().unwrap_or_default(), report.transitions()];
    let bytes = totals.into_iter().chain(tasks).flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn measure(case: &Case, full: bool) {
    let (repetitions, simulated_ns) = if full { (REPETITIONS, case.duration_ns) } else { (1, 100 * NS_PER_MS) };
    let mut best_ns = u128::MAX;
    let mut report = Report::default();
    for _ in 0..repetitions {
        let start = Instant::now();
        report = simulate(case, simulated_ns);
        best_ns = best_ns.min(start.elapsed().as_nanos());
    }
    let (name, ops, hash) = (case.name, report.sim_events, hash(&report));
    println!(
        r#"{{"bench":"sim/{name}","ops":{ops},"ns":{best_ns},"simulated_ns":{simulated_ns},"hash":"{hash:016x}"}}"#
    );
    assert!(report.tasks.iter().any(|task| task.run_ns > 0), "{name}: nothing ran");
}

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let asked_for = |case: &&Case| only.as_deref().is_none_or(|name| name == case.name);
    cases().iter().filter(asked_for).for_each(|case| measure(case, full));
}
