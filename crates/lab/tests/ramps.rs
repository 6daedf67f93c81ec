// SPDX-License-Identifier: GPL-2.0-or-later
//! One busy task from utilization 0 on a Mac mini M1, as measured and posted in August 2024, and simulated on the
//! machine with its two kinds of CPUs: how long until the utilization is reached, how long on the little CPU, how long
//! at each frequency.
//! `PELTON_UPDATE_DOCS=1 cargo test --test lab_tests ramps::` writes docs/fidelity/ramps.md.

use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_lab::run::run_one;
use pelton_schema::{Event, Sink};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Asked of each row before the first run; a row of a few milliseconds may be a tick off.
const WITHIN: f64 = 0.05;
const TICK_MS: f64 = 1.0;
const SEEDS: u64 = 32;

/// The task wakes with utilization 0 and no estimate: it ran for a moment now and then before.
const HISTORY_MS: u64 = 2_000;
const RAMP_MS: u64 = 1_600;
/// Before the ramp, behind the last moment that the task ran for.
const RAMP_FROM_NS: u64 = (HISTORY_MS - 50) * 1_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The board with the boost states that the posting used, which the device tree keeps off; capacities as it prints
/// them.
fn board(facts: &toml::Table) -> String {
    let mut board: toml::Table = read("scenarios/platforms/apple-m1-t8103.toml").parse().expect("TOML");
    let capacities = facts["cpu_capacity"].as_array().expect("a list");
    for domain in board["perf_domain"].as_array_mut().expect("domains") {
        let domain = domain.as_table_mut().expect("a table");
        let first = domain["cpus"][0].as_integer().expect("a CPU") as usize;
        domain.insert("capacity".into(), capacities[first].clone());
        if first == 4 {
            let boost =
                [3_096_000, 3_144_000, 3_204_000].map(|khz: i64| toml::Table::from_iter([("khz".into(), khz.into())]));
            domain["opps"].as_array_mut().expect("a list").extend(boost.map(toml::Value::Table));
        }
    }
    board.to_string()
}

fn workload(clamp: &str) -> String {
    let text = format!(
        r#"{{"tasks": {{"rampup": {{"loop": 1, {clamp} "phases": {{
            "before": {{"loop": {}, "run": 20, "sleep": 100000}}, "ramp": {{"loop": 1, "run": {RAMP_MS}000}}}}}}}},
            "global": {{"calibration": 1}}}}"#,
        HISTORY_MS / 100
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ramp-{}.json", clamp.len()));
    std::fs::write(&path, text).expect("a place for tests");
    path.display().to_string()
}

/// History of the task from the moment its ramp begins.
#[derive(Default)]
struct Ramp {
    start_ns: Option<u64>,
    /// Its utilization at each update, ms since then.
    util: Vec<(f64, u32)>,
    /// ms since then, CPU.
    moves: Vec<(f64, u32)>,
    /// ms since then, CPU, MHz; before the start at time 0.
    mhz: Vec<(f64, u32, u32)>,
    tid: u32,
}

impl Sink for &mut Ramp {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let ms = |from: Option<u64>| from.map_or(0.0, |from| (time_ns - from) as f64 / 1e6);
        match *event {
            Event::SchedWakeupNew { tid, .. } => self.tid = tid,
            Event::SchedSwitch { cpu, next_tid, .. } if next_tid == self.tid && time_ns >= RAMP_FROM_NS => {
                self.start_ns.get_or_insert(time_ns);
                self.moves.push((ms(self.start_ns), cpu));
            }
            Event::PeltSe { tid, util_avg, .. } if tid == self.tid && self.start_ns.is_some() => {
                self.util.push((ms(self.start_ns), util_avg));
            }
            Event::CpuFrequency { cpu, freq_khz } => self.mhz.push((ms(self.start_ns), cpu, freq_khz / 1000)),
            _ => {}
        }
    }
}

impl Ramp {
    fn ms_to(&self, util: u32) -> f64 {
        self.util.iter().find(|(_, u)| *u >= util).map_or(f64::NAN, |(ms, _)| *ms)
    }

    /// Time at which the task came to its second CPU, ms since the start of its ramp; NaN without one.
    fn ms_on_first(&self) -> f64 {
        self.moves.iter().find(|(_, cpu)| *cpu != self.moves[0].1).map_or(f64::NAN, |(ms, _)| *ms)
    }

    /// Time the task had at a frequency of the kind of CPU it began on, or of the other.
    fn ms_at(&self, second: bool, mhz: u32) -> f64 {
        let change = self.ms_on_first();
        let (from, to) = match (second, change.is_nan()) {
            (true, true) => return f64::NAN,
            (true, false) => (change, f64::INFINITY),
            (false, true) => (0.0, f64::INFINITY),
            (false, false) => (0.0, change),
        };
        let cpu = self.moves.iter().rfind(|(ms, _)| *ms <= from).expect("it began somewhere").1;
        let mut steps: Vec<(f64, u32)> = self.mhz.iter().filter(|f| f.1 == cpu).map(|f| (f.0, f.2)).collect();
        steps.push((f64::INFINITY, 0));
        let spent = |pair: &[(f64, u32)]| (pair[1].0.min(to) - pair[0].0.max(from)).max(0.0);
        steps.windows(2).filter(|pair| pair[0].1 == mhz).map(spent).sum()
    }
}

fn ramps(facts: &toml::Table, policy: &str, clamp: &str, hz: u32) -> Vec<Ramp> {
    let one = |seed| {
        let inputs = Inputs {
            platform: "board.toml".into(),
            platform_text: Some(board(facts)),
            workload: workload(clamp),
            duration_ns: Some((HISTORY_MS + RAMP_MS) * 1_000_000),
            hz: Some(hz),
            random_phase: true,
            seed,
            ..Inputs::default()
        };
        let plan = build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").plan;
        let mut ramp = Ramp::default();
        run_one(&plan, seed, &mut ramp, Default::default()).expect("runs");
        ramp
    };
    (1..=SEEDS).map(one).collect()
}

/// One figure of the posting beside the same of the simulated ramps.
struct Row {
    run: String,
    what: String,
    published: f64,
    of: Box<dyn Fn(&Ramp) -> f64>,
}

fn number(value: &toml::Value) -> f64 {
    value.as_float().or(value.as_integer().map(|i| i as f64)).expect("a number")
}

/// Rows of a run of the posting. The last frequency of the second CPU lasts as long as the recording did.
fn rows(run: &toml::Table) -> Vec<Row> {
    let id = run["id"].as_str().expect("a name");
    let row = |what: String, published, of| Row { run: id.into(), what, published, of };
    let mut rows = Vec::new();
    for util in [450, 1000, 1015] {
        if let Some(ms) = run.get(&format!("ms_to_{util}")) {
            rows.push(row(format!("ms until utilization {util}"), number(ms), Box::new(move |r: &Ramp| r.ms_to(util))));
        }
    }
    if let Some(times) = run.get("time_on_cpu_ms") {
        rows.push(row("ms on the little CPU".into(), number(&times[0]["ms"]), Box::new(Ramp::ms_on_first)));
    }
    for part in run.get("freq_residency").and_then(toml::Value::as_array).into_iter().flatten() {
        let is_second = number(&part["cpu"]) >= 4.0;
        let kept = part["rows"].as_array().expect("a list");
        for pair in &kept[..kept.len() - usize::from(is_second)] {
            let mhz = (number(&pair[0]) * 1000.0).round() as u32;
            let of = Box::new(move |r: &Ramp| r.ms_at(is_second, mhz));
            let kind = if is_second { "big" } else { "little" };
            rows.push(row(format!("ms at {mhz} MHz, {kind}"), number(&pair[1]), of));
        }
    }
    rows
}

const HEAD: &str = "<!-- Generated by the test `ramps` of crates/lab. -->

# Ramps of one task on an M1

A task that never sleeps, from utilization 0, on a Mac mini M1 with Linux 6.8 and 1000 ticks a second, as measured
and posted in August 2024 (`scenarios/published/facts/qais-2024-rampup-m1.toml`), beside the simulated machine: four
little and four big CPUs, profile 6.6 with requests as from 6.8 on, boost states as the posting had them. Mean of 32
phases of tick and task, and the least and the most of them. A row is inside where the mean is within 5 % or one tick of
what was measured, and _among them_ where the mean is not but the measured figure lies between those of the phases. What
the posting does not say: what else ran on that machine, and what the task did before (here: 20 us each 100 ms, so that
it wakes with utilization 0 and no estimate).

| run | figure | measured | simulated | least..most | error | |
|---|---|---|---|---|---|---|
";

/// A line of the table, and whether its row is inside.
fn line(row: &Row, ramps: &[Ramp]) -> (String, bool) {
    let mut all: Vec<f64> = ramps.iter().map(|r| (row.of)(r)).collect();
    all.sort_by(f64::total_cmp);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let (least, most) = (all[0], all[all.len() - 1]);
    let error = mean - row.published;
    let is_close = error.abs() <= (WITHIN * row.published).max(TICK_MS);
    let is_among = (least..=most).contains(&row.published);
    let verdict = if is_close {
        "inside"
    } else if is_among {
        "among them"
    } else {
        "**outside**"
    };
    let Row { run, what, published, .. } = row;
    let share = 100.0 * error / published;
    let text =
        format!("| {run} | {what} | {published} | {mean:.1} | {least:.1}..{most:.1} | {share:+.1} % | {verdict} |\n");
    let text = text.replace("-0.0", "0.0");
    (text, is_close || is_among)
}

/// The kernel of the posting: requests are made as from 6.8 on.
const KERNEL: &str = "6.6,headroom=before_clamps,perf_form=sum_then_clamp,dl_rule=bw_floor,uclamp_iowait=off";

/// Switches and clamps of the four runs of a kernel as it is released.
const RUNS: [(&str, &str, &str); 4] = [
    ("max_performance", "rate_limit_us=10000", "\"util_min\": 1024,"),
    ("min_performance", "rate_limit_us=10000", "\"util_max\": 0,"),
    ("default_rate_limit_10ms", "rate_limit_us=10000", ""),
    ("default_rate_limit_70us", "rate_limit_us=70", ""),
];

/// Differences from the recorded kernel that are tried: name, text put behind each policy, ticks a second.
const WORLDS: [(&str, &str, u32); 6] = [
    ("ticks 250 times a second", "", 250),
    ("rate limit of 2 ms in all runs", ",rate_limit_us=2000", 1000),
    ("utilization as in 4.12: the clock does not follow frequency and capacity", ",invariance=contribution", 1000),
    ("a task that does not fit stays", ",misfit=off", 1000),
    ("margins as posted with it", ",margins=tick", 1000),
    ("clamps are ignored", ",uclamp=off", 1000),
];

fn run_of<'a>(facts: &'a toml::Table, id: &str) -> &'a toml::Table {
    let runs = facts["run"].as_array().expect("a list");
    runs.iter().find(|r| r["id"].as_str() == Some(id)).and_then(toml::Value::as_table).expect("a run of the posting")
}

/// Lines of the table, rows that are inside, rows in all.
fn table(facts: &toml::Table, more: &str, hz: u32) -> (String, u32, u32) {
    let (mut lines, mut inside, mut all) = (String::new(), 0, 0);
    for (id, policy, clamp) in RUNS {
        let ramps = ramps(facts, &format!("{KERNEL},{policy}{more}"), clamp, hz);
        for row in rows(run_of(facts, id)) {
            let (text, is_inside) = line(&row, &ramps);
            lines += &text;
            (inside, all) = (inside + u32::from(is_inside), all + 1);
        }
    }
    (lines, inside, all)
}

#[test]
fn ramps_of_an_m1_beside_the_measured_ones() {
    let facts: toml::Table = read("scenarios/published/facts/qais-2024-rampup-m1.toml").parse().expect("TOML");
    let (lines, inside, all) = table(&facts, "", facts["tick_hz"].as_integer().expect("a number") as u32);
    let mut page =
        format!("{HEAD}{lines}\n{inside} of {all} rows are inside or among them. Of worlds that were not:\n\n");
    page += "| world | rows inside or among them |\n|---|---|\n";
    for (name, more, hz) in WORLDS {
        let others = table(&facts, more, hz).1;
        writeln!(page, "| {name} | {others} |").expect("text grows");
        assert!(others + 3 <= inside, "{name}: {others} rows inside, {inside} of the kernel's own");
    }
    let path = root().join("docs/fidelity/ramps.md");
    if std::env::var_os("PELTON_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page is writable");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == page, "docs/fidelity/ramps.md is out of date; see the head of this test\n{page}");
}
