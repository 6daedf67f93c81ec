// SPDX-License-Identifier: GPL-2.0-or-later
//! Charts and tables of docs/guide/blocked-load.md that are marked as computed come from these runs.
//! `PELTON_UPDATE_DOCS=1 cargo test --test across blocked_guide::` writes them.

#[path = "blocked/mod.rs"]
mod blocked;

use crate::guide;
use std::sync::{Mutex, PoisonError};

use pelton_lab::measure::quantity;
use pelton_lab::plan::{Inputs, MachineChanges, PolicySpec, build};
use pelton_lab::run::run_one;
use pelton_model::Plan;
use pelton_report::chart::SERIES;
use pelton_schema::NullSink;
use pelton_tests::axes::{self, Scale};

const BEGIN: &str = "<!-- computed by tests/tests/blocked_guide.rs -->\n";
const PLATFORM: &str = "sc7180-trogdor";
const SECONDS: u64 = 5;
const SEEDS: [u64; 3] = [1, 2, 3];
const GROUPS: [u32; 6] = [1, 6, 12, 24, 48, 96];
const TICKS: [u32; 3] = [100, 250, 1000];
/// Names of the rules and what sets them, as in the published table.
const RULES: [(&str, &str); 2] =
    [("once a tick", "blocked_update=scan"), ("HZ/20", "blocked_update=interval,blocked_update_us=50000")];

/// Time in refreshes, ms in a second of all CPUs, and refreshes in searches, 1/s.
#[derive(Clone, Copy, Default)]
struct Point {
    time: f64,
    scans: f64,
}

/// The system's threads wake 240 times a second together, however many groups they are in.
fn system(groups: u32) -> String {
    let threads = groups.max(24);
    let period_us = threads * 100_000 / 24;
    format!("periodic:name=system,run_us=100,period_us={period_us},threads={threads},groups={groups},phase_us=random")
}

/// schbench beside a system in so many groups, as in the published table.
fn plan_of(policy: &str, hz: u32, groups: u32, seed: u64) -> Plan {
    let kernel = "periodic:name=kernel,run_us=5,period_us=10000,cpus=each,phase_us=random";
    let schbench = format!("schbench:message_threads=2,threads=2,runtime_s={SECONDS}");
    let inputs = Inputs {
        platform: PLATFORM.into(),
        workload: format!("{schbench} + {kernel} + {}", system(groups)),
        seed,
        random_phase: true,
        hz: Some(hz),
        duration_ns: Some(SECONDS * 1_000_000_000),
        machine: MachineChanges { idle_latency_percent: Some(15), ..MachineChanges::default() },
        ..Inputs::default()
    };
    build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").plan
}

fn measure(rule: &str, hz: u32, groups: u32) -> Point {
    let mut sum = Point::default();
    for seed in SEEDS {
        let plan = plan_of(&format!("5.4,{rule}"), hz, groups, seed);
        let report = run_one(&plan, seed, NullSink, Default::default()).expect("runs");
        let read = |name| quantity::find(name).and_then(|q| q.read(&report, None)).expect("a number");
        sum.time += read("blocked_time_ms") / SECONDS as f64;
        sum.scans += read("blocked_scans_per_s");
    }
    let runs = SEEDS.len() as f64;
    Point { time: sum.time / runs, scans: sum.scans / runs }
}

/// Tests write parts of one page: one at a time.
static PAGE: Mutex<()> = Mutex::new(());

fn keep_part(begin: &str, text: &str) {
    let _one = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    guide::keep_part("blocked-load.md", begin, text);
}

/// A rule at a tick, and its points by number of groups.
struct Line {
    rule: usize,
    hz: usize,
    points: Vec<Point>,
}

impl Line {
    fn name(&self) -> String {
        format!("{}, {} Hz", RULES[self.rule].0, TICKS[self.hz])
    }
}

fn lines() -> Vec<Line> {
    let all = (0..RULES.len()).flat_map(|rule| (0..TICKS.len()).map(move |hz| (rule, hz)));
    let line = |(rule, hz): (usize, usize)| {
        let points = GROUPS.map(|groups| measure(RULES[rule].1, TICKS[hz], groups)).to_vec();
        Line { rule, hz, points }
    };
    all.map(line).collect()
}

fn rows(all: &[Line]) -> String {
    let head: Vec<String> = GROUPS.iter().map(|groups| format!("{groups} groups")).collect();
    let line = |line: &Line| {
        let cells: Vec<String> = line.points.iter().map(|p| format!("{:.2} ms, {:.0}", p.time, p.scans)).collect();
        format!("| {} | {} |\n", line.name(), cells.join(" | "))
    };
    let head = format!("| | {} |\n|---|{}\n", head.join(" | "), "---|".repeat(GROUPS.len()));
    head + &all.iter().map(line).collect::<String>()
}

fn chart(all: &[Line]) -> String {
    let most = all.iter().flat_map(|line| &line.points).map(|p| p.time).fold(0.0, f64::max) * 1.05;
    let last = f64::from(GROUPS[GROUPS.len() - 1]);
    let x = Scale { from: 0.0, to: last, words: "task groups", numbers: 10 };
    let y = Scale { from: 0.0, to: most, words: "time in refreshes, ms in a second", numbers: 8 };
    let line = |line: &Line| {
        let points = GROUPS.iter().zip(&line.points).map(|(&groups, p)| (f64::from(groups), p.time)).collect();
        (line.name(), points, SERIES[line.hz], if line.rule == 0 { 3 } else { 1 })
    };
    let lines: Vec<axes::Line> = all.iter().map(line).collect();
    let caption = format!("{PLATFORM}: blocked load by task groups and tick");
    axes::chart(("Generated by the test blocked_guide; see docs/guide/blocked-load.md.", &caption), x, y, &lines)
}

#[test]
fn the_guide_shows_what_groups_and_ticks_do() {
    let all = lines();
    let text = format!("\n![time in refreshes by task groups and tick](blocked-groups.svg)\n\n{}", rows(&all));
    guide::keep("blocked-groups.svg", &chart(&all));
    keep_part(BEGIN, &text);
}

#[test]
fn the_guide_shows_what_each_rule_costs_and_what_calls_wait_for() {
    let all = blocked::all();
    keep_part(blocked::COST, &blocked::cost(&all));
    keep_part(blocked::CALLS, &blocked::calls(&all));
    keep_part(blocked::GATES, &blocked::gates(&all));
    blocked::holds(&all);
    println!("looks that are not charged (F-121), 1/s: {:.0}", blocked::looks_per_s(&all));
}
