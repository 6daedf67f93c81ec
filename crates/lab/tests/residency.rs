// SPDX-License-Identifier: GPL-2.0-or-later
//! Distribution of time on arm64 boards of small and large CPUs, counted by their kernels, beside the simulator's for
//! those boards under the same loads. With the recordings of `make test-live`, `PELTON_UPDATE_DOCS=1 cargo test -p
//! pelton-lab --test lab_tests residency::` writes docs/fidelity/residency.md; without them this says so. The page has
//! the means; the least and largest of each figure are printed.
#![allow(missing_docs, reason = "tests")]

use crate::guests::{BOARDS, Board, Guest, SEEDS, SETTLE_NS, guests, plan, write_page};
use pelton_lab::run::{Control, run_one};
use pelton_schema::{Event, Sink};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The bars of the comparison, written down before the first run: points of the time, and percent of migrations.
const WITHIN_POINTS: f64 = 3.0;
const WITHIN_PERCENT: f64 = 10.0;
/// Migrations below this, 1/s, are a few in a recording: they are shown and not judged.
const RARE_PER_S: f64 = 2.0;

/// Measure by which a figure is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Judged {
    Points,
    Percent,
    Not,
}

/// Name, how it is judged, and size.
type Figure = (String, Judged, f64);

/// Time, migrations and changes of a run, or of a recording.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    pub ns: u64,
    pub busy_ns: Vec<u64>,
    /// Of each domain: its CPUs, time at each frequency, changes.
    pub domains: Vec<(Vec<u64>, BTreeMap<u64, u64>, u64)>,
    migrations: u64,
}

impl Counted {
    fn figures(&self) -> Vec<Figure> {
        let (whole, seconds) = (self.ns as f64, self.ns as f64 / 1e9);
        let mut out = Vec::new();
        for (cpu, ns) in self.busy_ns.iter().enumerate() {
            out.push((format!("CPU {cpu} busy, % of time"), Judged::Points, *ns as f64 * 100.0 / whole));
        }
        for (cpus, times, changes) in &self.domains {
            let name = format!("CPUs {}-{}", cpus.first().expect("CPUs"), cpus.last().expect("CPUs"));
            for (khz, ns) in times {
                out.push((
                    format!("{name} at {} MHz, % of time", khz / 1000),
                    Judged::Points,
                    *ns as f64 * 100.0 / whole,
                ));
            }
            out.push((format!("{name}, frequency changes/s"), Judged::Not, *changes as f64 / seconds));
        }
        out.push(("migrations of the load's tasks/s".to_owned(), Judged::Percent, self.migrations as f64 / seconds));
        out
    }
}

/// Counts of a kernel.
pub fn counted(recorded: &Value) -> Counted {
    let numbers =
        |value: &Value| value.as_array().expect("numbers").iter().filter_map(Value::as_u64).collect::<Vec<u64>>();
    let policies = recorded["policies"].as_array().expect("policies");
    let domain = |policy: &Value| {
        let times = numbers(&policy["khz"]).into_iter().zip(numbers(&policy["ns"])).collect();
        (numbers(&policy["cpus"]), times, policy["changes"].as_u64().expect("a count"))
    };
    let tasks = recorded["tasks"].as_array().expect("tasks").iter();
    Counted {
        ns: recorded["ns"].as_u64().expect("a time"),
        busy_ns: numbers(&recorded["busy_ns"]),
        domains: policies.iter().map(domain).collect(),
        migrations: tasks.filter_map(|task| task["migrations"].as_u64()).sum(),
    }
}

/// Counts what a run does from a moment on.
struct Counter {
    out: Counted,
    from_ns: u64,
    /// Of each CPU: since when it has a task.
    since_ns: Vec<Option<u64>>,
    /// Of each domain: its frequency, and since when.
    khz: Vec<(u64, u64)>,
    migrations: BTreeMap<u32, u64>,
}

impl Counter {
    fn new(machine: &pelton_model::Machine) -> Counter {
        let domain = |d: &pelton_model::machine::FreqDomain| {
            let times = d.opps.iter().map(|opp| (u64::from(opp.khz), 0)).collect();
            (d.cpus.iter().map(|cpu| u64::from(*cpu)).collect(), times, 0)
        };
        let domains = machine.domains.iter().map(domain).collect();
        let khz = machine.domains.iter().map(|d| (u64::from(d.opps[0].khz), 0)).collect();
        let cpus = machine.cpus.len();
        Counter {
            out: Counted { domains, busy_ns: vec![0; cpus], ..Counted::default() },
            from_ns: SETTLE_NS,
            since_ns: vec![None; cpus],
            khz,
            migrations: BTreeMap::new(),
        }
    }

    fn runs(&mut self, now_ns: u64, cpu: usize, busy: bool) {
        if let Some(since_ns) = self.since_ns[cpu].take() {
            self.out.busy_ns[cpu] += now_ns.saturating_sub(since_ns.max(self.from_ns));
        }
        self.since_ns[cpu] = busy.then_some(now_ns);
    }

    fn is_at(&mut self, now_ns: u64, domain: usize, khz: u64) {
        let (before, since_ns) = std::mem::replace(&mut self.khz[domain], (khz, now_ns));
        let (_, times, changes) = &mut self.out.domains[domain];
        *times.entry(before).or_default() += now_ns.saturating_sub(since_ns.max(self.from_ns));
        *changes += u64::from(before != khz && now_ns >= self.from_ns);
    }

    /// Takes migrations of tasks that `counts` takes.
    fn finish(mut self, end_ns: u64, counts: impl Fn(u32) -> bool) -> Counted {
        (0..self.since_ns.len()).for_each(|cpu| self.runs(end_ns, cpu, false));
        (0..self.khz.len()).for_each(|domain| self.is_at(end_ns, domain, self.khz[domain].0));
        self.out.ns = end_ns - self.from_ns;
        self.out.migrations = self.migrations.iter().filter(|(tid, _)| counts(**tid)).map(|(_, n)| n).sum();
        self.out
    }
}

impl Sink for Counter {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::SchedSwitch { cpu, next_tid, .. } => self.runs(time_ns, cpu as usize, next_tid != 0),
            Event::CpuFrequency { cpu, freq_khz } => {
                let of = |(cpus, ..): &(Vec<u64>, BTreeMap<u64, u64>, u64)| cpus.first() == Some(&u64::from(cpu));
                if let Some(domain) = self.out.domains.iter().position(of) {
                    self.is_at(time_ns, domain, u64::from(freq_khz));
                }
            }
            Event::SchedMigrateTask { tid, .. } if time_ns >= self.from_ns => {
                *self.migrations.entry(tid).or_default() += 1;
            }
            _ => {}
        }
    }
}

/// Counts of a run of the guest's load on its board.
pub fn simulated_counts(series: &str, board: &Board, workload: &str, ns: u64, seed: u64) -> Counted {
    let plan = plan(series, board, workload, ns, seed);
    let mut counter = Counter::new(&plan.machine);
    let report = run_one(&plan, seed, &mut counter, Control::default()).expect("runs");
    let of_load = |tid: u32| report.tasks.get(tid as usize - 1).is_some_and(|task| !task.name.starts_with("sugov"));
    counter.finish(report.duration_ns, of_load)
}

fn simulated(series: &str, board: &Board, workload: &str, ns: u64, seed: u64) -> Vec<Figure> {
    simulated_counts(series, board, workload, ns, seed).figures()
}

/// Means over runs or recordings, and the least and most of them.
fn mean(all: &[Vec<Figure>]) -> Vec<(f64, f64, f64)> {
    let of = |row: usize| all.iter().map(|figures| figures[row].2).collect::<Vec<f64>>();
    let one = |values: Vec<f64>| {
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        (values.iter().sum::<f64>() / values.len() as f64, least, most)
    };
    (0..all[0].len()).map(|row| one(of(row))).collect()
}

/// Is a figure within its bar? `None` where it is not judged.
fn judged(how: Judged, recorded: f64, ours: f64) -> Option<bool> {
    match how {
        Judged::Points => Some((ours - recorded).abs() <= WITHIN_POINTS),
        Judged::Percent if recorded.max(ours) < RARE_PER_S => None,
        Judged::Percent => Some((ours - recorded).abs() <= recorded * WITHIN_PERCENT / 100.0),
        Judged::Not => None,
    }
}

/// A table of one load: lines, rows judged, and those within the bar. `figures`: names, and how they are judged.
fn compared(figures: &[Figure], recorded: &[(f64, f64, f64)], ours: &[(f64, f64, f64)]) -> (String, usize, usize) {
    let (mut out, mut all, mut within) = (String::new(), 0, 0);
    out +=
        "| figure | recorded | of recordings | simulated | of seeds | difference | |\n|---|---|---|---|---|---|---|\n";
    for (((name, how, _), (is, is_least, is_most)), (sim, least, most)) in figures.iter().zip(recorded).zip(ours) {
        let verdict = judged(*how, *is, *sim);
        all += usize::from(verdict.is_some());
        within += usize::from(verdict == Some(true));
        let word = verdict.map_or("", |holds| if holds { "within" } else { "outside" });
        let difference = match how {
            Judged::Points => format!("{:+.1} points", sim - is),
            _ if *is == 0.0 => "-".to_owned(),
            _ => format!("{:+.0} %", (sim - is) * 100.0 / is),
        };
        let _ = writeln!(
            out,
            "| {name} | {is:.1} | {is_least:.1} to {is_most:.1} | {sim:.1} | {least:.1} to {most:.1} | {difference} | {word} |"
        );
    }
    (out, all, within)
}

/// Time that tasks outside of the load took, % of one CPU.
fn others(recorded: &Value) -> f64 {
    let is = counted(recorded);
    let run = |task: &Value| task["run_ns"].as_u64().unwrap_or(0);
    let of_load: u64 = recorded["tasks"].as_array().into_iter().flatten().map(run).sum();
    is.busy_ns.iter().sum::<u64>().saturating_sub(of_load) as f64 * 100.0 / is.ns as f64
}

/// A load's column of the page's table: means as recorded/simulated, in bold outside of the bar.
fn column(figures: &[Figure], recorded: &[(f64, f64, f64)], ours: &[(f64, f64, f64)]) -> Vec<String> {
    let mut out = Vec::new();
    for (((_, how, _), (is, ..)), (sim, ..)) in figures.iter().zip(recorded).zip(ours) {
        let mark = if judged(*how, *is, *sim) == Some(false) { "**" } else { "" };
        out.push(format!("{mark}{is:.1}/{sim:.1}{mark}"));
    }
    out
}

/// A table of names and columns, each with its heading.
fn table(names: &[String], columns: &[(String, Vec<String>)]) -> String {
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| heading.as_str()).collect();
    let mut out = format!("| figure | {} |\n|---|{}\n", headings.join(" | "), "---|".repeat(columns.len()));
    for (row, name) in names.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|(_, cells)| cells[row].as_str()).collect();
        let _ = writeln!(out, "| {} | {} |", name.replace(" of time", ""), cells.join(" | "));
    }
    out
}

/// Results of a kernel: its part of the page, what is printed besides, rows judged, and those within the bar.
#[derive(Default)]
struct Part {
    page: String,
    details: String,
    all: usize,
    within: usize,
}

/// One kernel's part; `shown` has the loads that stand on the page already.
fn kernel(guest: &Guest, shown: &mut BTreeSet<String>) -> Part {
    let (board, release) = (guest.board, guest.release());
    let (mut part, mut names, mut loads, mut columns) = (Part::default(), Vec::new(), String::new(), Vec::new());
    for (name, recorded) in guest.by_load(".residency.json") {
        let workload = recorded[0]["workload"].as_str().expect("a load");
        let is: Vec<_> = recorded.iter().map(|one| counted(one).figures()).collect();
        let ns = counted(&recorded[0]).ns;
        let runs: Vec<_> = (1..=SEEDS).map(|seed| simulated(&guest.rules(), board, workload, ns, seed)).collect();
        let names_of = |figures: &[Figure]| figures.iter().map(|(name, ..)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names_of(&is[0]), names_of(&runs[0]), "{release}: the platform file is another board");
        let (table, rows, holds) = compared(&is[0], &mean(&is), &mean(&runs));
        (part.all, part.within) = (part.all + rows, part.within + holds);
        let load = format!("- {name}: `{workload}`\n");
        if shown.insert(load.clone()) {
            loads += &load;
        }
        let others = recorded.iter().map(others).sum::<f64>() / recorded.len() as f64;
        names = names_of(&is[0]);
        names.push("other tasks of the guest, % of one CPU".to_owned());
        let mut cells = column(&is[0], &mean(&is), &mean(&runs));
        cells.push(format!("{others:.1}"));
        columns.push((name.clone(), cells));
        let _ = writeln!(part.details, "### {name} on {}\n\n{table}", board.platform);
    }
    let loads = if loads.is_empty() { loads } else { loads + "\n" };
    part.page = format!("## {}, Linux {release}\n\n{loads}{}", board.platform, table(&names, &columns));
    part
}

#[test]
fn residency_beside_that_of_kernels() {
    let (mut page, mut all, mut within, mut shown) = (String::new(), 0, 0, BTreeSet::new());
    for guest in guests().iter().filter(|guest| guest.board.has_sizes) {
        let part = kernel(guest, &mut shown);
        if part.all > 0 {
            let _ = writeln!(page, "{}", part.page);
            println!("{}", part.details);
        }
        (all, within) = (all + part.all, within + part.within);
    }
    if all == 0 {
        println!("not measured: residency of kernels on boards (nothing was counted there)");
    } else {
        let _ = writeln!(
            page,
            "{within} of {all} figures are within {WITHIN_POINTS} points, or {WITHIN_PERCENT} % of migrations."
        );
    }
    println!("{page}");
    write_page("residency.md", &page);
}

/// The comparison can fail, and counts what there is: a run that is compared with itself is within, one of half the
/// work is not.
#[test]
fn other_loads_are_outside() {
    let run = |workload: &str| simulated("7.2", &BOARDS[1], workload, 2_000_000_000, 1);
    let (is, other) =
        (run("periodic:run_us=3000,period_us=16000,threads=5"), run("periodic:run_us=1500,period_us=16000,threads=5"));
    let of = |figures: &Vec<Figure>| mean(std::slice::from_ref(figures));
    let (_, rows, within) = compared(&is, &of(&is), &of(&is));
    assert!(rows >= 14 && within == rows, "{within} of {rows}: {is:?}");
    let (table, rows, within) = compared(&is, &of(&is), &of(&other));
    assert!(within < rows, "{table}");
    let marked = |ours| column(&is, &of(&is), &of(ours)).iter().filter(|cell| cell.starts_with('*')).count();
    assert_eq!((marked(&is), marked(&other)), (0, rows - within));
    let whole: f64 = is.iter().filter(|(name, ..)| name.contains("MHz")).map(|(_, _, percent)| percent).sum();
    assert!((whole - 200.0).abs() < 1e-6, "{is:?}");
}
