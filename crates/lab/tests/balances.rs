// SPDX-License-Identifier: GPL-2.0-or-later
//! Balances counted inside booted kernels, beside those of the simulator on the same board under the same load. With
//! the recordings of `make test-live`, `PELTON_UPDATE_DOCS=1 cargo test --test lab_tests balances::` writes
//! docs/fidelity/balances.md; without them this says so. The page has the means; the least and largest of each figure,
//! and what CPUs that ran out of tasks decided by, are printed.
#![allow(missing_docs, reason = "tests")]

use crate::guests::{Guest, SEEDS, SETTLE_NS, guests, plan, write_page};
use pelton_lab::measure::balances::{GateCounts, count_gates};
use pelton_lab::results::balances::BalanceCounts;
use pelton_lab::run::Control;
use pelton_replay::placements::{Gates, Topology, beside};
use pelton_scenario::bench::schbench::Latencies;
use pelton_sim::Report;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The bar of the comparison, written down before the first run: 10 %.
const WITHIN_PERCENT: f64 = 10.0;
/// Rates below this, 1/s, are one or two events in a recording: they are shown and not judged.
const RARE_PER_S: f64 = 2.0;
/// Shares below this, %, likewise.
const RARE_PERCENT: f64 = 1.0;
const COUNTED_NS: u64 = 3_000_000_000;
const KINDS: [&str; 4] = ["periodic", "nohz_idle", "newidle", "active"];

/// Figures by name, in the order of the table.
type Figures = Vec<(String, f64)>;

/// Share of the time with 0, 1, 2 ... runnable tasks, %. The recorder of boards writes times.
fn runnable_percent(counts: &Value) -> Vec<f64> {
    let shares: Option<Vec<f64>> = serde_json::from_value(counts["runnable_percent"].clone()).ok();
    shares.unwrap_or_else(|| {
        let times: Vec<Vec<u64>> = serde_json::from_value(counts["runnable_ns"].clone()).expect("times of each CPU");
        BalanceCounts::new(0.0, Vec::new(), 0, &times).runnable_percent
    })
}

/// The figures of a count, recorded or made.
fn figures(counts: &Value) -> Figures {
    let seconds = counts["seconds"].as_f64().expect("a time");
    let kinds = counts["kinds"].as_array().expect("kinds");
    let of = |kind: &str, what: &str| {
        let found = kinds.iter().find(|k| k["kind"] == kind).and_then(|k| k[what].as_f64());
        found.expect("a count") / seconds
    };
    let mut out = vec![("tasks moved/s".to_owned(), KINDS.iter().map(|kind| of(kind, "detached")).sum())];
    out.extend(KINDS.map(|kind| (format!("of them {kind}/s"), of(kind, "detached"))));
    out.push(("newidle pulls/s".to_owned(), of("newidle", "pulls")));
    out.push(("newidle balances/s".to_owned(), of("newidle", "balances")));
    let shares = runnable_percent(counts);
    out.extend((0..3).map(|n| (format!("{n} runnable, % of time"), shares[n])));
    out.push(("3 and more runnable, % of time".to_owned(), shares[3..].iter().sum()));
    out
}

/// Reason why a figure of the guest is none of the machine that is simulated, whatever comes out; nothing where it is
/// one.
fn incomparable(load: &str) -> Option<&'static str> {
    // The work of the other loads is measured by a thread's own clock, which the guest's CPUs have as real ones have.
    (load == "hackbench")
        .then_some("not comparable: nothing but paths of the kernel, which take the longer the more CPUs are busy")
}

/// Values by which CPUs that ran out of tasks decided in a recording, and its length, s.
fn recorded_gates(path: &Path) -> Option<(GateCounts, f64)> {
    let topology = Topology::read(&beside(path)).ok()?;
    let policy = pelton_core::Policy::profile("7.2").expect("a profile");
    let mut table = Gates::new(path, pelton_trace::import::open_bytes(path).ok()?, &topology, &policy).ok()?;
    let (mut counts, mut first_ns, mut last_ns) = (GateCounts::default(), None, 0);
    while let Some(gate) = table.next_gate().expect("a whole table") {
        let head = &gate.head;
        first_ns.get_or_insert(head.ts0);
        last_ns = head.ts0;
        if gate.is_newidle() {
            counts.went_idle(head.over != 0, head.ran != 0, head.avg_idle, gate.level[0].cost);
        } else {
            counts.looked(head.idle as u32, head.by == head.cpu);
        }
    }
    Some((counts, last_ns.saturating_sub(first_ns?) as f64 / 1e9))
}

/// Lines about gates, those recorded beside the simulator's.
fn gates(recorded: &(GateCounts, f64), ours: &(GateCounts, f64)) -> String {
    let mut out = String::from("\n| CPUs that run out of tasks | recorded | simulated |\n|---|---|---|\n");
    let all = |(g, s): &(GateCounts, f64)| (g.nobody + g.too_soon + g.dice + g.searched) as f64 / s;
    let share =
        |(g, s): &(GateCounts, f64), n: u64| 100.0 * n as f64 / s / all(&(g.clone(), *s)).max(f64::MIN_POSITIVE);
    let mut row = |name: &str, of: &dyn Fn(&(GateCounts, f64)) -> f64| {
        let [recorded, ours] =
            [of(recorded), of(ours)].map(|n| if n.is_nan() { "-".to_owned() } else { format!("{n:.1}") });
        let _ = writeln!(out, "| {name} | {recorded} | {ours} |");
    };
    row("all/s", &all);
    row("no CPU has two tasks, %", &|g| share(g, g.0.nobody));
    row("too soon back, %", &|g| share(g, g.0.too_soon));
    row("dice leave all out, %", &|g| share(g, g.0.dice));
    row("search, %", &|g| share(g, g.0.searched));
    for (percent, at) in [("10", 0.1), ("50", 0.5), ("90", 0.9)] {
        let below = |all: &[u64]| {
            let mut sorted = all.to_vec();
            sorted.sort_unstable();
            sorted.get((sorted.len() as f64 * at) as usize).map_or(f64::NAN, |ns| *ns as f64 / 1e3)
        };
        row(&format!("mean idle time, us: {percent} % below"), &|g| below(&g.0.avg_idle_ns));
        row(&format!("longest search of the smallest domain, us: {percent} % below"), &|g| below(&g.0.cost_ns));
    }
    row("domains of a busy CPU looked at/s", &|g| g.0.domains[0] as f64 / g.1);
    row("of an idle CPU, by itself/s", &|g| g.0.domains[1] as f64 / g.1);
    row("of an idle CPU, by another/s", &|g| g.0.domains[2] as f64 / g.1);
    out
}

fn simulated(guest: &Guest, workload: &str, seed: u64) -> (Figures, (GateCounts, f64), Report) {
    let plan = plan(&guest.rules(), guest.board, workload, COUNTED_NS, seed);
    let (counts, gates, report) = count_gates(&plan, seed, SETTLE_NS, Control::default()).expect("runs");
    let seconds = counts.seconds;
    (figures(&serde_json::to_value(counts).expect("numbers")), (gates, seconds), report)
}

/// Means over seeds.
fn mean(all: &[Figures]) -> Figures {
    let one = |row: usize| all.iter().map(|figures| figures[row].1).sum::<f64>() / all.len() as f64;
    all[0].iter().enumerate().map(|(row, (name, _))| (name.clone(), one(row))).collect()
}

/// Is a figure within the bar? `None` where there is too little of it.
fn judged(name: &str, recorded: f64, ours: f64) -> Option<bool> {
    let rare = if name.ends_with("/s") { RARE_PER_S } else { RARE_PERCENT };
    (recorded.max(ours) >= rare).then(|| (ours - recorded).abs() <= recorded.abs() * WITHIN_PERCENT / 100.0)
}

fn difference(recorded: f64, ours: f64) -> String {
    if recorded == 0.0 { "-".to_owned() } else { format!("{:+.0} %", (ours - recorded) * 100.0 / recorded) }
}

/// The least and the largest of one row.
fn span(all: &[Figures], row: usize) -> String {
    let of = |fold: fn(f64, f64) -> f64, from: f64| all.iter().map(|figures| figures[row].1).fold(from, fold);
    format!("{:.1} to {:.1}", of(f64::min, f64::INFINITY), of(f64::max, 0.0))
}

/// A table of one load, means of recordings beside means of seeds: lines, rows judged, and those within the bar.
fn compared(recorded: &[Figures], ours: &[Figures], incomparable: Option<&str>) -> (String, usize, usize) {
    let (mut out, mut all, mut within) = (String::new(), 0, 0);
    out += "| figure | recorded | | simulated | | difference | |\n|---|---|---|---|---|---|---|\n";
    for (row, ((name, is), (_, sim))) in mean(recorded).iter().zip(mean(ours)).enumerate() {
        let verdict = if incomparable.is_some() { None } else { judged(name, *is, sim) };
        all += usize::from(verdict.is_some());
        within += usize::from(verdict == Some(true));
        let word = verdict.map_or(incomparable.unwrap_or("rare"), |holds| if holds { "within" } else { "outside" });
        let [there, here] = [span(recorded, row), span(ours, row)];
        let _ = writeln!(out, "| {name} | {is:.1} | {there} | {sim:.1} | {here} | {} | {word} |", difference(*is, sim));
    }
    (out, all, within)
}

/// A recorded load as a workload of the simulator. hackbench is repeated, and its calls cost what they were measured to
/// cost there while nothing else ran; no figure that is compared is used.
fn twin(recorded: &Value) -> String {
    let workload = recorded["workload"].as_str().expect("a load").to_owned();
    let mut loads = recorded["load"].as_array().into_iter().flatten();
    match loads.find(|load| load["name"] == "call_ns").and_then(|load| load["max"].as_f64()) {
        Some(call_ns) => format!("{workload},runs=2000,write_ns={0},read_ns={0}", call_ns.round()),
        None => workload,
    }
}

/// 50, 75, 90, 95, 99 % of figures are below.
fn quantiles(mut all: Vec<f64>) -> Vec<f64> {
    all.sort_by(f64::total_cmp);
    let at = |share: usize| all.get((all.len() * share / 100).min(all.len().max(1) - 1)).copied().unwrap_or(f64::NAN);
    [50, 75, 90, 95, 99].map(at).to_vec()
}

/// Numbers that hackbench and schbench measured themselves, in the guest and in the simulator, in a line.
fn benchmark(recorded: &Value, report: &Report) -> Option<String> {
    let is_own = |load: &&Value| load["name"] == "schbench_us" || load["name"] == "hackbench_s";
    let load = recorded["load"].as_array()?.iter().find(is_own)?;
    let there: Vec<f64> = load["quantiles"].as_array()?.iter().filter_map(Value::as_f64).collect();
    let (what, scale, here) = match load["name"].as_str()? {
        "schbench_us" => {
            let latencies = Latencies::of(&report.tasks);
            let at = |percent| latencies.percentile_us(percent).map_or(f64::NAN, |(us, _)| f64::from(us));
            ("schbench, us of a latency", 1.0, [50.0, 75.0, 90.0, 95.0, 99.0].map(at).to_vec())
        }
        "hackbench_s" => {
            let laps = report.tasks.first().and_then(|t| t.laps.exact()).unwrap_or_default();
            ("hackbench, ms of a run", 1e3, quantiles(laps.iter().map(|ns| *ns as f64 / 1e9).collect()))
        }
        _ => return None,
    };
    let pairs = there.iter().zip(&here).map(|(is, sim)| format!("{:.1}/{:.1}", is * scale, sim * scale));
    Some(format!("- {what}, 50, 75, 90, 95 and 99 % below: {}\n", pairs.collect::<Vec<_>>().join(", ")))
}

/// The heading of the page's table.
fn heading(figures: &[(String, f64)]) -> String {
    let names: Vec<String> =
        figures.iter().map(|(name, _)| name.replace("of them ", "").replace(" of time", "")).collect();
    format!("| load | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

/// A load's line of that table: means as recorded/simulated, in bold outside of the bar, nothing where little happened.
fn row(load: &str, recorded: &[Figures], ours: &[Figures]) -> String {
    let cell = |((name, is), (_, sim)): (&(String, f64), (String, f64))| match judged(name, *is, sim) {
        _ if incomparable(load).is_some() => format!("{is:.1}/{sim:.1}"),
        None => "-".to_owned(),
        Some(true) => format!("{is:.1}/{sim:.1}"),
        Some(false) => format!("**{is:.1}/{sim:.1}**"),
    };
    let cells: Vec<String> = mean(recorded).iter().zip(mean(ours)).map(cell).collect();
    format!("| {load} | {} |\n", cells.join(" | "))
}

/// Results of a kernel.
#[derive(Default)]
struct Part {
    /// For the page.
    loads: String,
    table: String,
    benchmarks: String,
    /// Printed, not on the page.
    details: String,
    /// Rows judged, and those within the bar.
    all: usize,
    within: usize,
}

/// One kernel's part of the page; `shown` has the loads that stand on it already.
fn kernel(guest: &Guest, shown: &mut BTreeSet<String>) -> Part {
    let mut part = Part::default();
    for (name, recorded) in guest.by_load(".balances.json") {
        let workload = twin(&recorded[0]);
        let runs: Vec<(Figures, (GateCounts, f64), Report)> =
            (1..=SEEDS).map(|seed| simulated(guest, &workload, seed)).collect();
        let ours: Vec<Figures> = runs.iter().map(|(figures, ..)| figures.clone()).collect();
        let there: Vec<Figures> = recorded.iter().map(|one| figures(&one["counts"])).collect();
        let (table, rows, holds) = compared(&there, &ours, incomparable(&name));
        (part.all, part.within) = (part.all + rows, part.within + holds);
        let load = format!("- {name}: `{}`\n", recorded[0]["workload"].as_str().expect("a load"));
        if shown.insert(load.clone()) {
            part.loads += &load;
        }
        if part.table.is_empty() {
            part.table += &heading(&ours[0]);
        }
        part.table += &row(&name, &there, &ours);
        part.benchmarks += &benchmark(&recorded[0], &runs[0].2).unwrap_or_default();
        let _ = writeln!(part.details, "### {name}: `{workload}`\n\n{table}");
        if let Some(there) = recorded_gates(&guest.folder.join(format!("{name}.gates.csv.gz"))) {
            assert!(runs[0].1.0.domains.iter().sum::<u64>() > 0, "{name}: the simulator tells no gates");
            let _ = writeln!(part.details, "{}", gates(&there, &runs[0].1));
        }
    }
    part
}

#[test]
fn balances_beside_those_of_kernels() {
    let (mut page, mut shown) = (String::new(), BTreeSet::new());
    for guest in guests() {
        let Part { loads, table, benchmarks, details, all, within } = kernel(&guest, &mut shown);
        let (series, platform) = (&guest.series, guest.board.platform);
        if all == 0 {
            println!("not measured: balances of {series} on {platform}: none were counted");
            continue;
        }
        let _ = writeln!(page, "## Linux {}, {}\n", guest.release(), guest.board.words);
        for list in [loads, table, benchmarks].iter().filter(|list| !list.is_empty()) {
            let _ = writeln!(page, "{list}");
        }
        let rules = guest.rules();
        let _ = writeln!(page, "{within} of {all} figures are within {WITHIN_PERCENT} %, by the rules of {rules}.\n");
        println!("## {series} on {platform}\n\n{details}");
    }
    println!("{page}");
    write_page("balances.md", &page);
}

/// The comparison can fail: counts of a machine that does not balance are outside.
#[test]
fn other_figures_are_outside() {
    let is =
        vec![("tasks moved/s".to_owned(), 100.0), ("0 runnable, % of time".to_owned(), 20.0), ("x/s".to_owned(), 0.5)];
    let is = [is];
    let mut ours = is.clone();
    assert_eq!(compared(&is, &ours, None).1, 2);
    assert_eq!(compared(&is, &ours, None).2, 2);
    ours[0][0].1 = 111.0;
    assert_eq!(compared(&is, &ours, None).2, 1);
    assert_eq!(compared(&is, &ours, incomparable("hackbench")).1, 0);
    assert_eq!(row("hogs", &is, &ours), "| hogs | **100.0/111.0** | 20.0/20.0 | - |\n");
    assert_eq!(row("hackbench", &is, &ours), "| hackbench | 100.0/111.0 | 20.0/20.0 | 0.5/0.5 |\n");
    assert_eq!(heading(&is[0]), "| load | tasks moved/s | 0 runnable, % | x/s |\n|---|---|---|---|\n");
}
