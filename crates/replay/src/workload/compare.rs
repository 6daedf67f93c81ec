// SPDX-License-Identifier: GPL-2.0-or-later
//! The recorded run beside simulated ones, and the self-check: under the recorded policy on the recorded platform the
//! replay must give back what was recorded.
//!
//! The tolerances below were written before any trace was replayed and are the same for every trace.

use std::collections::BTreeMap;

use pelton_model::Machine;
use schemars::JsonSchema;
use serde::Serialize;

use super::energy;
use super::histogram::Histogram;
use super::quantity;
use super::totals::{CpuTotals, Totals};

/// Allowed difference of a quantity in the self-check: the larger of a share of the recorded value and an absolute
/// amount.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tolerance {
    /// Kind of the subject: run, cpu, domain or task.
    pub scope: &'static str,
    /// Quantity.
    pub quantity: &'static str,
    /// Share, percent of the recorded value.
    pub relative_pct: f64,
    /// Amount, in the quantity's unit.
    pub absolute: f64,
}

const fn tolerance(scope: &'static str, quantity: &'static str, relative_pct: f64, absolute: f64) -> Tolerance {
    Tolerance { scope, quantity, relative_pct, absolute }
}

/// Quantities that the self-check judges. Others are shown only.
pub const TOLERANCES: [Tolerance; 9] = [
    tolerance("run", "busy_ms", 1.0, 0.1),
    tolerance("run", "wakeup_latency_us_avg", 5.0, 2.0),
    tolerance("run", "wakeup_latency_us_p95", 10.0, 5.0),
    tolerance("cpu", "busy_ms", 1.0, 1.0),
    tolerance("domain", "frequency_mhz_avg", 2.0, 5.0),
    tolerance("domain", "residency_distance_pct", 0.0, 5.0),
    tolerance("domain", "transitions", 10.0, 3.0),
    tolerance("task", "run_ms", 1.0, 0.5),
    tolerance("task", "wakeup_latency_us_avg", 10.0, 10.0),
];

/// One quantity: recorded, and simulated under each policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Kind of the subject: run, cpu, domain or task.
    pub scope: &'static str,
    /// Name of the subject; empty for the whole run.
    pub of: String,
    /// Quantity.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Value in the trace; `None` when the trace does not have it.
    pub recorded: Option<f64>,
    /// Under each policy: the median over seeds; `None` when it is not known.
    pub simulated: Vec<Option<f64>>,
}

/// Verdict on one kind of quantity.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Allowed difference.
    #[serde(flatten)]
    pub tolerance: Tolerance,
    /// Rows judged.
    pub rows: usize,
    /// Rows within the tolerance.
    pub within: usize,
    /// The row that is off most.
    pub worst: Option<Worst>,
}

/// The row that is off most, in shares of what is allowed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Worst {
    /// CPU, domain or task.
    pub of: String,
    /// In the trace.
    pub recorded: f64,
    /// In the simulation.
    pub simulated: f64,
    /// Difference divided by the allowed difference.
    pub share_of_allowed: f64,
}

impl Verdict {
    /// True when every row is within the tolerance.
    pub fn holds(&self) -> bool {
        self.rows == self.within
    }

    /// Facts that no recording holds and on which this quantity depends: the first place to look where it differs.
    pub fn depends_on(&self) -> &'static str {
        match (self.tolerance.scope, self.tolerance.quantity) {
            ("domain", _) => {
                "the governor decides anew, and rate limits and limits of frequencies are not recorded: see --rate-limit-us, \
                 --frequencies trace"
            }
            (_, "wakeup_latency_us_avg" | "wakeup_latency_us_p95") => {
                "which of several waiting tasks runs first is decided anew; exit latencies and costs of kernel paths are the \
                 platform's where they could not be measured"
            }
            _ => {
                "busy time follows the CPU and its frequency; work at a frequency that is not recorded counts as at the \
                 highest, and a run ends with the window"
            }
        }
    }
}

/// A run's totals with what is needed to name its tasks.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Totals of the run.
    pub totals: &'a Totals,
    /// Task id of each compared task.
    pub tids: Vec<u32>,
    /// Work that was not done when the run ended, ns at capacity 1024; `None` for a recording, which did all of its
    /// own.
    pub undone_ns: Option<u64>,
}

/// Common part of both sides of a comparison.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The machine the replay runs on.
    pub machine: &'a Machine,
    /// The machine the trace was recorded on.
    pub recorded_machine: &'a Machine,
    /// Names of the compared tasks.
    pub tasks: Vec<String>,
}

/// A number per (scope, of, quantity), in order.
type Values = Vec<(&'static str, String, &'static str, &'static str, Option<f64>)>;

/// Rows of the recorded run and the simulated ones: `simulated[policy][seed]`.
pub fn compare(subject: &Subject<'_>, recorded: &Side<'_>, simulated: &[Vec<Side<'_>>]) -> Vec<Row> {
    let left = values(subject, subject.recorded_machine, recorded, recorded);
    let of_policy = |runs: &Vec<Side<'_>>| -> Vec<Values> {
        runs.iter().map(|side| values(subject, subject.machine, side, recorded)).collect()
    };
    let right: Vec<Vec<Values>> = simulated.iter().map(of_policy).collect();
    let known: BTreeMap<_, _> =
        left.into_iter().map(|(scope, of, quantity, _, value)| ((scope, of, quantity), value)).collect();
    let Some(shape) = right.first().and_then(|runs| runs.first()) else { return Vec::new() };
    let row = |(i, (scope, of, quantity, unit, _)): (usize, &(&'static str, String, &'static str, &'static str, _))| {
        let cell = |runs: &Vec<Values>| median(runs.iter().filter_map(|v| v.get(i)?.4).collect());
        Row {
            scope,
            of: of.clone(),
            quantity,
            unit,
            recorded: known.get(&(*scope, of.clone(), *quantity)).copied().flatten(),
            simulated: right.iter().map(cell).collect(),
        }
    };
    shape.iter().enumerate().map(row).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[n / 2]),
        n => Some(f64::midpoint(values[n / 2 - 1], values[n / 2])),
    }
}

fn values(subject: &Subject<'_>, machine: &Machine, side: &Side<'_>, recorded: &Side<'_>) -> Values {
    let mut out = Values::new();
    let totals = side.totals;
    let all = all_latencies(totals, &side.tids);
    let busy_ns: u64 = totals.cpus.iter().map(|c| c.busy_ns).sum();
    let mut push =
        |scope, of: &str, quantity, value| out.push((scope, of.to_owned(), quantity, quantity::unit(quantity), value));
    push("run", "", "busy_ms", Some(ms(busy_ns)));
    push("run", "", "work_undone_ms", side.undone_ns.map(ms));
    push("run", "", "energy_active_mj", energy::of_all(machine, totals));
    if energy::is_partly_told(subject.recorded_machine, recorded.totals) {
        let told = energy::where_told(machine, totals, recorded.totals);
        push("run", energy::WHERE_TOLD, "energy_active_mj", told);
    }
    latencies(&all, |quantity, value| push("run", "", quantity, value));
    let cpus = subject.machine.cpus.len().max(recorded.totals.cpus.len());
    for cpu in 0..cpus {
        // A CPU that is not in a recording may not have been there: that it did nothing is not known.
        push("cpu", &cpu.to_string(), "busy_ms", totals.cpus.get(cpu).map(|c| ms(c.busy_ns)));
    }
    for domain in &subject.machine.domains {
        let Some(&first) = domain.cpus.first() else { continue };
        let cpu = totals.cpus.get(first as usize);
        let before = recorded.totals.cpus.get(first as usize);
        let known = cpu.filter(|c| c.mean_khz().is_some());
        push("domain", &domain.name, "energy_active_mj", energy::of_domain(machine, &domain.cpus, totals));
        push("domain", &domain.name, "frequency_mhz_avg", known.and_then(CpuTotals::mean_khz).map(|k| k / 1e3));
        push("domain", &domain.name, "transitions", known.map(|c| c.transitions as f64));
        let distance = known.zip(before).and_then(|(a, b)| residency_distance_pct(a, b));
        push("domain", &domain.name, "residency_distance_pct", distance);
    }
    for (name, tid) in subject.tasks.iter().zip(&side.tids) {
        let task = totals.tasks.get(tid).cloned().unwrap_or_default();
        push("task", name, "run_ms", Some(ms(task.run_ns)));
        push("task", name, "wakeups", Some(task.latency.count() as f64));
        latencies(&task.latency, |quantity, value| push("task", name, quantity, value));
    }
    out
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn all_latencies(totals: &Totals, tids: &[u32]) -> Histogram {
    let mut all = Histogram::default();
    tids.iter().filter_map(|tid| totals.tasks.get(tid)).for_each(|task| all.merge(&task.latency));
    all
}

/// Mean, 95th percentile and maximum; unknown when no task was woken.
fn latencies(latency: &Histogram, mut push: impl FnMut(&'static str, Option<f64>)) {
    let known = |ns: f64| (latency.count() > 0).then_some(ns / 1e3);
    push("wakeup_latency_us_avg", known(latency.mean_ns()));
    push("wakeup_latency_us_p95", known(latency.quantile_ns(95) as f64));
    push("wakeup_latency_us_max", known(latency.max_ns() as f64));
}

/// Share of the time that would have to move to another frequency to make both the same, percent.
fn residency_distance_pct(a: &CpuTotals, b: &CpuTotals) -> Option<f64> {
    let shares = |c: &CpuTotals| -> BTreeMap<u32, f64> {
        let known: u64 = c.frequencies.iter().filter(|(khz, _)| **khz != 0).map(|(_, at)| at.total_ns).sum();
        let share = |(&khz, at): (&u32, &super::totals::AtFrequency)| (khz, at.total_ns as f64 / known.max(1) as f64);
        c.frequencies.iter().filter(|(khz, _)| **khz != 0).map(share).collect()
    };
    let (a, b) = (shares(a), shares(b));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let all: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let get = |s: &BTreeMap<u32, f64>, khz: &u32| s.get(khz).copied().unwrap_or(0.0);
    Some(all.into_iter().map(|khz| (get(&a, khz) - get(&b, khz)).abs()).sum::<f64>() * 50.0)
}

/// Judges the first policy's column by [`TOLERANCES`]; values that the trace does not have are not judged.
pub fn check(rows: &[Row]) -> Vec<Verdict> {
    TOLERANCES.iter().map(|tolerance| judge(*tolerance, rows)).collect()
}

fn judge(tolerance: Tolerance, rows: &[Row]) -> Verdict {
    let mut verdict = Verdict { tolerance, rows: 0, within: 0, worst: None };
    for row in rows.iter().filter(|r| r.scope == tolerance.scope && r.quantity == tolerance.quantity) {
        let (Some(recorded), Some(&Some(simulated))) = (row.recorded, row.simulated.first()) else { continue };
        let allowed = (recorded.abs() * tolerance.relative_pct / 100.0).max(tolerance.absolute);
        let share_of_allowed = (simulated - recorded).abs() / allowed;
        verdict.rows += 1;
        verdict.within += usize::from(share_of_allowed <= 1.0);
        if verdict.worst.as_ref().is_none_or(|w| share_of_allowed > w.share_of_allowed) {
            verdict.worst = Some(Worst { of: row.of.clone(), recorded, simulated, share_of_allowed });
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(quantity: &'static str, recorded: Option<f64>, simulated: f64) -> Row {
        Row { scope: "task", of: "t".into(), quantity, unit: "ms", recorded, simulated: vec![Some(simulated)] }
    }

    #[test]
    fn a_row_outside_its_tolerance_fails_the_check() {
        let verdict = |rows: &[Row]| {
            let all = check(rows);
            all.into_iter().find(|v| v.tolerance.scope == "task" && v.tolerance.quantity == "run_ms").expect("judged")
        };
        assert!(verdict(&[row("run_ms", Some(100.0), 100.9)]).holds());
        let off = verdict(&[row("run_ms", Some(100.0), 100.9), row("run_ms", Some(100.0), 102.0)]);
        assert!(!off.holds() && (off.rows, off.within) == (2, 1));
        assert!(off.worst.is_some_and(|w| w.simulated == 102.0 && w.share_of_allowed == 2.0));
        assert_eq!(verdict(&[row("run_ms", None, 5.0), row("wakeup_latency_us_max", Some(1.0), 5.0)]).rows, 0);
    }

    #[test]
    fn medians_of_even_and_odd_numbers() {
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(vec![4.0, 1.0])), (Some(2.0), Some(2.5)));
        assert_eq!(median(vec![]), None);
    }
}
