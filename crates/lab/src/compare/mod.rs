// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies side by side: medians over seeds, percent change against the first policy, 95 % confidence.
//!
//! Beside that table, the same question in other forms: a front on three axes, the first decision that differs, a mail.

pub mod clairvoyant;
pub mod difference;
pub mod front;
pub mod mail;

use crate::about::{About, AboutPolicy};
use crate::kernel::decided;
use crate::measure::quantity::{self, MEASURED, QUANTITIES, Quantity, Read, cooled, task_labels};
use crate::measure::remarks;
use crate::measure::stats::{self, Resamples};
use crate::measure::summary::Scope;
use crate::plan::Prepared;
use crate::round;
use crate::run::{Control, LabError, run_matrix};
use pelton_model::Machine;
use pelton_model::Plan;
use pelton_sim::Report;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Several policies over the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Inputs of the runs; empty for reports whose plans are not known.
    pub run: About,
    /// Each policy and its plan, in order.
    pub plans: Vec<AboutPolicy>,
    /// Policies, as given: one for each column of numbers. The first of each workload is the base of its changes, and
    /// with one policy the first workload's numbers are.
    pub policies: Vec<String>,
    /// Workloads, as given, beside the policies; empty where there is one, which `run` names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    /// Number of the side that the changes of each are against.
    #[serde(skip)]
    pub bases: Vec<usize>,
    /// Seeds every policy ran with.
    pub seeds: Vec<u64>,
    /// One row per number.
    pub rows: Vec<CompareRow>,
    /// Number of stars that chance alone may have set.
    pub chance: Chance,
    /// Facts that have to be known before the numbers are believed.
    pub remarks: Vec<String>,
}

/// Many questions at once: where nothing changed, one interval in twenty leaves out 0 all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Chance {
    /// Changes with a 95 % interval.
    pub intervals: usize,
    /// Those with a star: more than the seeds explain.
    pub stars: usize,
    /// Stars that so many intervals would have by chance if nothing had changed.
    pub stars_by_chance: f64,
}

impl Chance {
    /// The plain word about it; `None` without a star.
    pub fn in_words(&self) -> Option<String> {
        (self.stars > 0).then(|| {
            let by_chance = match self.stars_by_chance.round() {
                few if few < 1.0 => "fewer than one".to_owned(),
                about => format!("about {about}"),
            };
            format!(
                "{} of {} intervals have a star; where nothing changed, {by_chance} would have one by chance: decide what to \
                 look at before, or ask again with other seeds (--first-seed)",
                self.stars, self.intervals
            )
        })
    }
}

impl Comparison {
    /// Each number says under which policy it is: tables of other programs keep no order.
    fn name_cells(&mut self) {
        let Comparison { policies, workloads, rows, .. } = self;
        for row in rows {
            row.cells.iter_mut().zip(&*policies).for_each(|(cell, policy)| cell.policy.clone_from(policy));
            row.cells.iter_mut().zip(&*workloads).for_each(|(cell, workload)| cell.workload = Some(workload.clone()));
        }
    }

    /// Names of the sides: the policy, and the workload where there are several.
    pub fn sides(&self) -> impl Iterator<Item = String> {
        let named = |(at, policy): (usize, &String)| match self.workloads.get(at) {
            Some(workload) => format!("{policy}, {workload}"),
            None => policy.clone(),
        };
        self.policies.iter().enumerate().map(named)
    }

    /// Counts intervals and stars of the rows that are here.
    pub fn chance(&self) -> Chance {
        let cells = || self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.change_ci95_pct.is_some());
        let (intervals, stars) = (cells().count(), cells().filter(|cell| cell.is_significant()).count());
        Chance { intervals, stars, stars_by_chance: round(intervals as f64 * 0.05) }
    }
}

/// One number under every policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompareRow {
    /// Subject of the number.
    pub scope: Scope,
    /// Domain or task; empty for the whole run.
    pub of: String,
    /// Name of the quantity.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Part that the number leaves out, or the reason why it is not known.
    pub note: Option<&'static str>,
    /// One per policy, in order.
    pub cells: Vec<CompareCell>,
}

/// Quantities that most questions are about: energy, lateness, latency, transitions.
const ANSWERS: [&str; 7] =
    ["energy_mj", "energy_meter_mj", "late", "wakeup_us_avg", "wakeup_us_max", "step_latency_ms_avg", "transitions"];

/// True if most questions are about this row, or the workload measured it itself.
pub fn is_answer(row: &CompareRow) -> bool {
    is_measured(row) || row.scope == Scope::Run && ANSWERS.contains(&row.quantity)
}

/// True if this row is a number that the workload's own programs would print.
pub fn is_measured(row: &CompareRow) -> bool {
    row.scope == Scope::Run && MEASURED.contains(&row.quantity)
}

/// One number under one policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompareCell {
    /// The policy, as it was given.
    pub policy: String,
    /// The workload, as it was given, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Median over the seeds; `None` when the number is not known.
    pub median: Option<f64>,
    /// Smallest and largest value over the seeds.
    pub range: Option<(f64, f64)>,
    /// Change of the median against the first policy, percent; `None` for the first policy and when its median is 0.
    pub change_pct: Option<f64>,
    /// 95 % confidence of the change: bootstrap over seed pairs.
    pub change_ci95_pct: Option<(f64, f64)>,
    /// The value of each seed, in order; empty unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
}

/// Smallest change that is shown, percent; smaller ones are shown as 0.0 % and have no meaning.
const SMALLEST_CHANGE_PCT: f64 = 0.05;

/// One side of a comparison: a policy on a workload.
#[derive(Clone, Debug)]
pub struct Side {
    /// The policy, as it was given.
    pub policy: String,
    /// The workload, as it was given; `None` where there is one.
    pub workload: Option<String>,
    /// Number of the side that its changes are against.
    pub base: usize,
}

/// Every policy on every workload. Changes are against the first policy of the same workload; where there is one
/// policy, against the first workload.
pub fn sides(policies: &[String], workloads: &[String]) -> Vec<Side> {
    let several = workloads.len() > 1;
    let one = |(w, p): (usize, usize)| Side {
        policy: policies[p].clone(),
        workload: several.then(|| workloads[w].clone()),
        base: if policies.len() > 1 { w * policies.len() } else { 0 },
    };
    (0..workloads.len()).flat_map(|w| (0..policies.len()).map(move |p| (w, p))).map(one).collect()
}

/// Runs every plan with every seed, `jobs` at a time (0 = one per CPU), and compares; `sides` say what the plans are.
pub fn compare(
    sides: &[Side],
    prepared: &[Prepared],
    seeds: &[u64],
    jobs: usize,
    control: Control<'_>,
) -> Result<Comparison, LabError> {
    let plans: Vec<Plan> = prepared.iter().map(|p| p.plan.clone()).collect();
    let reports = run_matrix(&plans, seeds, jobs, control)?;
    let mut comparison = summarise_sides(sides, seeds, &reports);
    let length_ns = reports.first().and_then(|runs| runs.first()).map_or(0, |report| report.duration_ns);
    comparison.run = prepared.first().map(|p| About::of(p, length_ns)).unwrap_or_default();
    comparison.plans = prepared.iter().map(AboutPolicy::of).collect();
    if let Some(plan) = plans.first() {
        comparison.rows.extend(residency_rows(&plan.machine, &Samples::of(&reports, sides)));
        comparison.chance = comparison.chance();
        comparison.name_cells();
    }
    Ok(comparison)
}

/// Time at each operating point and in each idle state, where any run had some, percent of all CPUs of the domain.
fn residency_rows(machine: &Machine, samples: &Samples<'_>) -> Vec<CompareRow> {
    let mut rows = Vec::new();
    for (at, domain) in machine.domains.iter().enumerate() {
        for (opp, point) in domain.opps.iter().enumerate() {
            let of = format!("{} {} kHz", domain.name, point.khz);
            let share = |r: &Report| share_pct(*r.domains.get(at)?.time_in_state_ns.get(opp)?, r.duration_ns);
            rows.push(samples.measured(Scope::Frequency, of, share));
        }
        for (state, idle) in domain.idle_states.iter().enumerate() {
            let share = |r: &Report| {
                let of_cpu = |cpu: &u32| r.cpus.get(*cpu as usize)?.idle_ns.get(state).copied();
                let all_ns: u64 = domain.cpus.iter().map(of_cpu).sum::<Option<u64>>()?;
                share_pct(all_ns, r.duration_ns.saturating_mul(domain.cpus.len() as u64))
            };
            rows.push(samples.measured(Scope::Idle, format!("{} {}", domain.name, idle.name), share));
        }
    }
    let is_used = |row: &CompareRow| row.cells.iter().any(|c| c.range.is_some_and(|(_, max)| max > 0.0));
    rows.into_iter().flatten().filter(is_used).collect()
}

fn share_pct(ns: u64, of_ns: u64) -> Option<f64> {
    (of_ns > 0).then(|| ns as f64 / of_ns as f64 * 100.0)
}

/// Tables from reports of several policies: `reports[policy][seed]`.
pub fn summarise(policies: &[String], seeds: &[u64], reports: &[Vec<Report>]) -> Comparison {
    summarise_sides(&sides(policies, &[String::new()]), seeds, reports)
}

fn summarise_sides(sides: &[Side], seeds: &[u64], reports: &[Vec<Report>]) -> Comparison {
    let mut rows = Vec::new();
    let samples = Samples::of(reports, sides);
    if let Some(shape) = reports.first().and_then(|r| r.first()) {
        samples.run_rows(&mut rows);
        for domain in 0..shape.domains.len() {
            samples.domain_rows(shape, domain, &mut rows);
        }
        let places = samples.places();
        samples.tasks().iter().for_each(|name| samples.task_rows(name, &places, &mut rows));
        let shapes = || samples.shapes();
        let groups: Vec<&String> = shapes().flat_map(|r| &r.quotas).map(|group| &group.path).collect();
        in_order(&groups).for_each(|path| samples.group_rows(path, &mut rows));
        let zones: Vec<&String> = shapes().flat_map(|r| &r.zones).map(|zone| &zone.name).collect();
        in_order(&zones).for_each(|name| samples.zone_rows(name, &mut rows));
    }
    let mut made = Comparison {
        run: About::default(),
        plans: Vec::new(),
        policies: sides.iter().map(|side| side.policy.clone()).collect(),
        workloads: sides.iter().filter_map(|side| side.workload.clone()).collect(),
        bases: sides.iter().map(|side| side.base).collect(),
        seeds: seeds.to_vec(),
        rows,
        chance: Chance::default(),
        remarks: remarks(reports, sides),
    };
    made.chance = made.chance();
    made.name_cells();
    made
}

/// Each once, where it is first.
fn in_order<T: PartialEq + Copy>(all: &[T]) -> impl Iterator<Item = T> + use<T> {
    let first = |(at, one): (usize, &T)| (!all[..at].contains(one)).then_some(*one);
    all.iter().enumerate().filter_map(first).collect::<Vec<T>>().into_iter()
}

/// Remarks on each policy's runs, of the first seed that has one; and the policies that no measured number separates.
fn remarks(reports: &[Vec<Report>], sides: &[Side]) -> Vec<String> {
    let of_policy = |(at, runs): (usize, &Vec<Report>)| {
        let said = [runs.iter().find_map(remarks::outgrown), decided::remark(runs)];
        said.into_iter().flatten().map(move |said| format!("[{}] {said}", at + 1)).collect::<Vec<_>>()
    };
    let comparable: Vec<(&Option<String>, &Vec<Report>)> =
        sides.iter().map(|side| &side.workload).zip(reports).collect();
    let equal = remarks::equal_in_every_seed(&comparable, |at| format!("[{}]", at + 1));
    reports.iter().enumerate().flat_map(of_policy).chain(equal).collect()
}

struct Samples<'a> {
    reports: &'a [Vec<Report>],
    sides: &'a [Side],
    draws: Resamples,
}

impl<'a> Samples<'a> {
    fn of(reports: &'a [Vec<Report>], sides: &'a [Side]) -> Samples<'a> {
        Samples { reports, sides, draws: Resamples::new(reports.first().map_or(0, Vec::len)) }
    }

    /// A report of each workload, under its first policy.
    fn shapes(&self) -> impl Iterator<Item = &'a Report> + '_ {
        let is_first = |at: usize| at == 0 || self.sides[at].workload != self.sides[at - 1].workload;
        let firsts = self.reports.iter().enumerate().filter(move |(at, _)| is_first(*at));
        firsts.filter_map(|(_, runs)| runs.first())
    }

    /// Names of tasks: those of the first workload, and behind them what others have beside.
    fn tasks(&self) -> Vec<String> {
        let labels: Vec<Vec<String>> = self.shapes().map(task_labels).collect();
        let mut known = BTreeSet::new();
        labels.into_iter().flatten().filter(|label| known.insert(label.clone())).collect()
    }

    /// Places of tasks by their names, for each side. Another governor, or another workload, has other tasks.
    fn places(&self) -> Vec<BTreeMap<String, usize>> {
        let of = |runs: &Vec<Report>| runs.first().map(task_labels).unwrap_or_default();
        let by_name = |labels: Vec<String>| labels.into_iter().enumerate().map(|(at, label)| (label, at)).collect();
        self.reports.iter().map(|runs| by_name(of(runs))).collect()
    }

    fn cells(&self, samples: &[Vec<f64>]) -> Option<Vec<CompareCell>> {
        samples.first()?;
        let one = |(at, own): (usize, &Vec<f64>)| {
            let base = self.sides[at].base;
            cell(own, (base != at).then(|| &samples[base]), &self.draws)
        };
        Some(samples.iter().enumerate().map(one).collect())
    }

    fn run_rows(&self, rows: &mut Vec<CompareRow>) {
        for q in QUANTITIES {
            if let Read::Run(read) = q.read {
                rows.extend(self.row(q, Scope::Run, "", read));
            }
        }
    }

    fn domain_rows(&self, shape: &Report, domain: usize, rows: &mut Vec<CompareRow>) {
        for q in QUANTITIES {
            let name = &shape.domains[domain].name;
            match q.read {
                Read::Domain(read) => rows.extend(self.row(q, Scope::Domain, name, |r| read(r.domains.get(domain)?))),
                Read::Share(read) => rows.extend(self.row(q, Scope::Domain, name, |r| read(r, r.domains.get(domain)?))),
                Read::Cooled(read) => {
                    let of = |r: &Report| cooled(r).find(|c| c.name == *name).and_then(|c| read(r, c));
                    rows.extend(self.row(q, Scope::Domain, name, of));
                }
                Read::Run(_) | Read::Task(_) | Read::Group(_) | Read::Zone(_) => {}
            }
        }
    }

    fn task_rows(&self, name: &str, places: &[BTreeMap<String, usize>], rows: &mut Vec<CompareRow>) {
        let at: Vec<Option<usize>> = places.iter().map(|of_side| of_side.get(name).copied()).collect();
        for q in QUANTITIES {
            if let Read::Task(read) = q.read {
                rows.extend(self.row_of(q, Scope::Task, name, |side, r| read(r.tasks.get(at[side]?)?)));
            }
        }
    }

    fn zone_rows(&self, name: &str, rows: &mut Vec<CompareRow>) {
        for q in QUANTITIES {
            if let Read::Zone(read) = q.read {
                let of = |r: &Report| r.zones.iter().find(|zone| zone.name == name).and_then(|zone| read(r, zone));
                rows.extend(self.row(q, Scope::Zone, name, of));
            }
        }
    }

    fn group_rows(&self, path: &str, rows: &mut Vec<CompareRow>) {
        for q in QUANTITIES {
            if let Read::Group(read) = q.read {
                let of = |r: &Report| r.quotas.iter().find(|group| group.path == path).and_then(read);
                rows.extend(self.row(q, Scope::Group, path, of));
            }
        }
    }

    /// A row. A policy under which some run does not have the number (a task that it does not have, a rise of the need
    /// that did not come) has an empty cell; without a cell there is no row, unless a reason can be given.
    fn row(&self, q: &Quantity, scope: Scope, of: &str, read: impl Fn(&Report) -> Option<f64>) -> Option<CompareRow> {
        self.row_of(q, scope, of, |_, report| read(report))
    }

    /// A row whose number is read from another place of the report for each side.
    fn row_of(
        &self,
        q: &Quantity,
        scope: Scope,
        of: &str,
        read: impl Fn(usize, &Report) -> Option<f64>,
    ) -> Option<CompareRow> {
        let values =
            |(side, runs): (usize, &Vec<Report>)| runs.iter().map(|r| read(side, r)).collect::<Option<Vec<f64>>>();
        let known: Vec<Option<Vec<f64>>> = self.reports.iter().enumerate().map(values).collect();
        let reasons = || self.reports.iter().flatten().filter_map(|report| q.note(report));
        let reason = reasons().next();
        if known.iter().all(Option::is_none) && reason.is_none() {
            return None;
        }
        let some_lack = known.iter().any(Option::is_none);
        let note = reason.or(some_lack.then_some(NOT_IN_EVERY_RUN));
        let samples: Vec<Vec<f64>> = known.into_iter().map(Option::unwrap_or_default).collect();
        let cells = self.cells(&samples)?;
        Some(CompareRow { scope, of: of.to_owned(), quantity: q.name, unit: q.unit, note, cells })
    }

    /// A row of shares that no report has as a quantity.
    fn measured(&self, scope: Scope, of: String, read: impl Fn(&Report) -> Option<f64>) -> Option<CompareRow> {
        let known: Option<Vec<Vec<f64>>> = self.reports.iter().map(|runs| runs.iter().map(&read).collect()).collect();
        let cells = self.cells(&known?)?;
        let share = quantity::shares(scope.name()).last()?;
        Some(CompareRow { scope, of, quantity: share.name, unit: share.unit, note: None, cells })
    }
}

/// Reason of an empty cell in a row with filled ones.
const NOT_IN_EVERY_RUN: &str = "`-`: some run under this policy has no such number";

fn cell(samples: &[f64], base: Option<&Vec<f64>>, draws: &Resamples) -> CompareCell {
    let median = stats::median(samples);
    let extreme = |pick: fn(f64, f64) -> f64| samples.iter().copied().reduce(pick).map(round);
    let change = base.and_then(|b| stats::percent_change(stats::median(b)?, median?));
    let ci95 = base.filter(|_| change.is_some()).and_then(|b| draws.change_ci95(b, samples));
    CompareCell {
        policy: String::new(),
        workload: None,
        median: median.map(round),
        range: extreme(f64::min).zip(extreme(f64::max)),
        change_pct: change.map(round),
        change_ci95_pct: ci95.map(|(lo, hi)| (round(lo), round(hi))),
        values: samples.iter().copied().map(round).collect(),
    }
}

impl CompareCell {
    /// True when the change is larger than what the seeds alone explain, and large enough to be seen in a table.
    pub fn is_significant(&self) -> bool {
        let seen = self.change_pct.is_some_and(|pct| pct.abs() >= SMALLEST_CHANGE_PCT);
        seen && self.change_ci95_pct.is_some_and(|(lo, hi)| lo > 0.0 || hi < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_sim::report::{DomainReport, TaskReport};

    fn report(transitions: u64, run_ns: u64) -> Report {
        let domain = DomainReport { name: "cpu".into(), transitions, ..Default::default() };
        let task = TaskReport { name: "t".into(), run_ns, ..Default::default() };
        Report { domains: vec![domain], tasks: vec![task], ..Default::default() }
    }

    fn comparison() -> Comparison {
        let base = (0..10).map(|i| report(1000 + i, 5_000_000)).collect();
        let new = (0..10).map(|i| report(500 + i, 5_000_000)).collect();
        summarise(&["a".into(), "b".into()], &(1..=10).collect::<Vec<_>>(), &[base, new])
    }

    #[test]
    fn the_first_policy_is_the_base() {
        let comparison = comparison();
        let row = comparison.rows.iter().find(|r| r.quantity == "transitions").expect("row");
        assert_eq!(row.cells[0].change_pct, None);
        assert_eq!(row.cells[0].median, Some(1004.5));
        let change = row.cells[1].change_pct.expect("change");
        assert!((change + 49.776).abs() < 0.01, "{change}");
        assert!(row.cells[1].is_significant());
        assert_eq!(row.cells[1].range, Some((500.0, 509.0)));
    }

    #[test]
    fn equal_samples_change_nothing_significantly() {
        let comparison = comparison();
        let row = comparison.rows.iter().find(|r| r.quantity == "run_ms").expect("row");
        assert_eq!((row.scope, row.of.as_str()), (Scope::Task, "t"));
        assert_eq!(row.cells[1].change_pct, Some(0.0));
        assert!(!row.cells[1].is_significant());
    }

    #[test]
    fn an_energy_that_is_not_known_is_an_empty_cell_with_a_reason() {
        let comparison = comparison();
        let energy = comparison.rows.iter().find(|r| r.quantity == "energy_mj").expect("a row");
        assert_eq!((energy.cells[0].median, energy.cells[0].range, energy.cells[1].change_pct), (None, None, None));
        assert!(energy.note.is_some_and(|note| note.starts_with("not known")));
        let known = comparison.rows.iter().find(|r| r.quantity == "transitions").expect("a row");
        assert_eq!(known.note, None);
    }

    #[test]
    fn a_change_that_a_table_shows_as_nothing_has_no_star() {
        let cell = |pct| CompareCell {
            policy: String::new(),
            workload: None,
            median: Some(1.0),
            range: Some((1.0, 1.0)),
            change_pct: Some(pct),
            change_ci95_pct: Some((pct / 2.0, pct * 2.0)),
            values: Vec::new(),
        };
        assert!(!cell(0.04).is_significant() && cell(0.06).is_significant());
    }

    #[test]
    fn how_many_stars_chance_would_set_is_said() {
        let comparison = comparison();
        let chance = comparison.chance;
        assert!(chance.stars >= 1 && chance.intervals > chance.stars, "{chance:?}");
        assert_eq!(chance.stars_by_chance, round(chance.intervals as f64 / 20.0));
        let words = chance.in_words().expect("there is a star");
        assert!(words.starts_with(&format!("{} of {} intervals", chance.stars, chance.intervals)), "{words}");
        assert_eq!(Chance { stars: 0, ..chance }.in_words(), None);
    }

    #[test]
    fn with_several_workloads_changes_are_against_the_first_policy_of_the_same_one() {
        let names = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let sides = sides(&names(&["a", "b"]), &names(&["short", "long"]));
        assert_eq!(sides.iter().map(|side| side.base).collect::<Vec<_>>(), [0, 0, 2, 2]);
        let runs = |transitions: u64| (0..6).map(|i| report(transitions + i, 5_000_000)).collect::<Vec<_>>();
        let reports = [runs(100), runs(200), runs(1000), runs(500)];
        let made = summarise_sides(&sides, &[1, 2, 3, 4, 5, 6], &reports);
        let row = made.rows.iter().find(|r| r.quantity == "transitions").expect("row");
        let changes: Vec<Option<bool>> = row.cells.iter().map(|c| c.change_pct.map(|pct| pct > 0.0)).collect();
        assert_eq!(changes, [None, Some(true), None, Some(false)]);
        assert_eq!(made.workloads, ["short", "short", "long", "long"]);
        assert_eq!(row.cells[2].workload.as_deref(), Some("long"));
    }

    #[test]
    fn with_one_policy_changes_are_against_the_first_workload() {
        let workloads = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let sides = sides(&["7.2".to_owned()], &workloads);
        assert_eq!(sides.iter().map(|side| side.base).collect::<Vec<_>>(), [0, 0, 0]);
    }

    #[test]
    fn tasks_of_every_workload_have_rows() {
        let names = ["a".to_owned(), "b".to_owned()];
        let sides = sides(&["7.2".to_owned()], &names);
        let other = TaskReport { name: "u".into(), run_ns: 7, ..Default::default() };
        let reports = [vec![report(1, 5)], vec![Report { tasks: vec![other], ..report(1, 5) }]];
        let made = summarise_sides(&sides, &[1], &reports);
        let of = |name: &str| made.rows.iter().find(|r| r.quantity == "run_ms" && r.of == name).expect("a row");
        assert!(of("t").cells[0].median.is_some() && of("t").cells[1].median.is_none());
        assert!(of("u").cells[0].median.is_none() && of("u").cells[1].median.is_some());
    }

    #[test]
    fn policies_that_are_equal_in_every_seed_are_named() {
        let names = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let runs = |transitions: u64| (0..2).map(|i| report(transitions + i, 5)).collect::<Vec<_>>();
        let said = summarise(&names, &[1, 2], &[runs(1), runs(2), runs(1)]).remarks.join("\n");
        assert!(said.contains("[1] and [3] gave equal values in every seed"), "{said}");
        assert!(!said.contains("[2]"), "{said}");
    }

    #[test]
    fn numbers_that_some_run_lacks_are_left_out() {
        assert!(comparison().rows.iter().all(|r| r.quantity != "perf_index"));
    }
}
