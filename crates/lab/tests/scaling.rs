// SPDX-License-Identifier: GPL-2.0-only
//! What an activation costs does not grow with tasks that sleep, with task groups that are idle, nor with CPUs that
//! are: counted in instructions (callgrind), the longer run of a world less the shorter one, so that its start falls
//! out.
//!
//! The program runs itself under valgrind. Without valgrind nothing is measured, and it says so.

#[path = "../benches/worlds/mod.rs"]
mod worlds;

use std::process::Command;

use pelton_core::Policy;
use pelton_model::{Machine, RunConfig, Workload};
use pelton_schema::NullSink;
use worlds::{machine, rt_app, side_by_side};

/// Simulated time of the shorter and of the longer run, ms: a group is idle, and not walked, once its load has decayed,
/// which takes 16 half-lives of 32 ms.
const SIMULATED_MS: [u64; 2] = [1_200, 1_700];
/// So much more, in percent, is allowed for ten times as many tasks or groups, and for five times as many CPUs.
const GROWTH_PCT: u64 = 10;

/// Sixteen tasks of 4 to 19 ms on CPUs 0 to 7, and tasks that sleep, each in a group of its own or in none.
fn busy_beside(sleepers: usize, grouped: bool) -> Workload {
    let busy = (0..16).map(|i| {
        let period = 4_000 + 1_000 * i;
        let run = period / 4;
        format!(
            r#""t{i}": {{"loop": -1, "cpus": [0,1,2,3,4,5,6,7], "run": {run}, "timer": {{"ref": "r{i}", "period": {period}}}}}"#
        )
    });
    let sleeping = (0..sleepers).map(|i| {
        let group = if grouped { format!(r#""taskgroup": "/g{i}", "#) } else { String::new() };
        format!(r#""s{i}": {{{group}"loop": -1, "sleep": 2000000000, "run": 100}}"#)
    });
    rt_app(&busy.chain(sleeping).collect::<Vec<_>>())
}

/// CPUs in copies of eight, sleepers, each in a group.
type World = (u32, usize, bool);

/// Two worlds that differ by about ten times as much of one thing.
const PAIRS: [(&str, World, World); 3] = [
    ("sleeping tasks", (1, 300, false), (1, 3_000, false)),
    ("idle groups", (1, 100, true), (1, 1_000, true)),
    ("idle CPUs", (9, 0, false), (48, 0, false)),
];

fn simulate((copies, sleepers, grouped): World, simulated_ms: u64) -> u64 {
    let m: Machine = side_by_side(&machine("hikey-6220"), copies);
    let policy = Policy::profile("7.2").expect("the newest profile");
    let config = RunConfig { seed: 1, duration_ns: simulated_ms * 1_000_000, ..RunConfig::default() };
    let report = pelton_sim::run(&m, &busy_beside(sleepers, grouped), &policy, &config, NullSink).expect("runs");
    report.tasks.iter().map(|task| task.activation_ns.len()).sum()
}

/// Instructions and activations.
fn count(world: World, simulated_ms: u64) -> Option<(u64, u64)> {
    let (copies, sleepers, grouped) = world;
    let words = [copies.to_string(), sleepers.to_string(), grouped.to_string(), simulated_ms.to_string()];
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(std::env::current_exe().ok()?);
    let output = valgrind.arg("--run").args(words).output().ok()?;
    let collected = String::from_utf8_lossy(&output.stderr).into_owned();
    let instructions = collected.split("Collected :").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some((instructions, String::from_utf8_lossy(&output.stdout).trim().parse().ok()?))
}

/// Instructions of an activation.
fn cost(world: World) -> Option<u64> {
    let [shorter, longer] = SIMULATED_MS.map(|ms| count(world, ms));
    let (shorter, longer) = (shorter?, longer?);
    (longer.1 > shorter.1).then(|| (longer.0 - shorter.0) / (longer.1 - shorter.1))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [run, copies, sleepers, grouped, ms] = words.as_slice()
        && run == "--run"
    {
        let number = |word: &str| word.parse::<u64>().expect("a number");
        let world = (number(copies) as u32, number(sleepers) as usize, grouped == "true");
        return println!("{}", simulate(world, number(ms)));
    }
    if words.iter().any(|word| word == "--list") {
        return println!("scaling: test");
    }
    let mut failed = false;
    for (what, few, many) in PAIRS {
        let (Some(few), Some(many)) = (cost(few), cost(many)) else {
            println!("not measured: what {what} cost (valgrind did not run)");
            continue;
        };
        let good = many <= few + few * GROWTH_PCT / 100;
        println!(
            "{what}: {few} instructions for an activation, {many} with ten times as many (CPUs: five times): {}",
            if good { "ok" } else { "FAILED" }
        );
        failed |= !good;
    }
    assert!(!failed, "an activation costs more than it may");
}
