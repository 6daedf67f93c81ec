// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies on three axes at once: how late the frequency is, how often the driver is called, and energy.
//!
//! A policy is on the front of a platform and workload when no other one is at least as good on all three axes and
//! better on one. It *wins* there when its energy is at most a stated margin above the base's and both other numbers
//! are lower.

use pelton_model::Plan;
use pelton_sim::Report;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::clairvoyant::{self, Foreseen};
use crate::about::{About, AboutPolicy};
use crate::measure::{quantity, remarks, stats};
use crate::round;
use crate::run::{Control, ExperimentError, LabError, run_matrix};

/// The axes, by the names of their quantities; less is better on each.
pub const AXES: [&str; 3] = ["step_latency_ms_avg", "driver_calls", "energy_mj"];
const LATENCY: usize = 0;
const CALLS: usize = 1;
const ENERGY: usize = 2;

/// Prices of a change for which a foreseen schedule is looked for, uJ.
const PRICES_UJ: [f64; 8] = [0.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 10_000.0];

/// Inputs of a front.
#[derive(Clone, Debug)]
pub struct Question {
    /// Platform, by name.
    pub platform: String,
    /// Workload, as given.
    pub workload: String,
    /// Description of the run, the same for all policies.
    pub about: About,
    /// Description of each policy.
    pub policies: Vec<AboutPolicy>,
    /// One plan per policy; the first is the base.
    pub plans: Vec<Plan>,
    /// The plan with every gate open ([`clairvoyant::OPEN`]), from which the needs are learnt.
    pub open: Plan,
}

/// All pairs of platform and workload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fronts {
    /// Policies, as given; the first is the base.
    pub policies: Vec<String>,
    /// Seeds that every policy ran with.
    pub seeds: Vec<u64>,
    /// Energy beyond the base's that a winner may use, percent.
    pub energy_margin_pct: f64,
    /// One per platform and workload.
    pub pairs: Vec<Pair>,
    /// By policy: on how many pairs it wins.
    pub wins: Vec<usize>,
}

/// One platform and workload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// Platform.
    pub platform: String,
    /// Workload.
    pub workload: String,
    /// Inputs of the runs.
    pub run: About,
    /// Each policy and its plan, in order.
    pub plans: Vec<AboutPolicy>,
    /// One per policy, in order.
    pub points: Vec<Point>,
    /// Policies with equal results for this pair.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Parts that the energies leave out.
    pub energy_note: Option<&'static str>,
    /// Schedules that know the future, cheapest changes first.
    pub foreseen: Vec<ForeseenPoint>,
}

/// One policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Mean time from a rise of the need until the frequency is as high, ms.
    pub step_latency_ms_avg: f64,
    /// Requests handed to the driver.
    pub driver_calls: f64,
    /// Energy, mJ.
    pub energy_mj: f64,
    /// Changes of the three against the base, percent, in the order of the axes; `None` against 0.
    pub change_pct: [Option<f64>; 3],
    /// No other policy is at least as good on all axes and better on one.
    pub on_front: bool,
    /// Within the margin of energy and better on both other axes.
    pub wins: bool,
}

/// A schedule that is never late, chosen with knowledge of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeseenPoint {
    /// Price of a change that it was chosen with, mJ.
    pub price_mj: f64,
    /// Frequency changes.
    pub changes: f64,
    /// Energy, mJ.
    pub energy_mj: f64,
    /// Change of the energy against the base policy, percent.
    pub energy_change_pct: Option<f64>,
}

/// Runs every policy of every question with every seed.
pub fn fronts(
    policies: &[String],
    questions: &[Question],
    seeds: &[u64],
    energy_margin_pct: f64,
    jobs: usize,
    control: Control<'_>,
) -> Result<Fronts, LabError> {
    let one = |question: &Question| pair(policies, question, seeds, energy_margin_pct, jobs, control);
    let pairs = questions.iter().map(one).collect::<Result<Vec<Pair>, LabError>>()?;
    let wins = (0..policies.len()).map(|i| pairs.iter().filter(|pair| pair.points[i].wins).count()).collect();
    Ok(Fronts { policies: policies.to_vec(), seeds: seeds.to_vec(), energy_margin_pct, pairs, wins })
}

/// Runs per seed besides those of the policies: one to learn the needs, one per price.
pub const EXTRA_RUNS: u64 = 1 + PRICES_UJ.len() as u64;

fn pair(
    policies: &[String],
    question: &Question,
    seeds: &[u64],
    margin_pct: f64,
    jobs: usize,
    control: Control<'_>,
) -> Result<Pair, LabError> {
    let reports = run_matrix(&question.plans, seeds, jobs, control)?;
    let medians = reports.iter().map(|runs| medians(runs)).collect::<Result<Vec<[f64; 3]>, _>>()?;
    let base = medians[0];
    let remarks = remarks::equal_in_every_seed(&reports, |at| policies[at].clone());
    let points = medians.iter().map(|&at| point(at, base, &medians, margin_pct)).collect();
    let foreseen = foreseen(question, seeds, base[ENERGY], jobs, control)?;
    Ok(Pair {
        platform: question.platform.clone(),
        workload: question.workload.clone(),
        run: question.about.clone(),
        plans: question.policies.clone(),
        points,
        remarks,
        energy_note: reports[0].first().and_then(|report| report.energy_basis.gap()),
        foreseen,
    })
}

/// Medians over the seeds, in the order of the axes.
fn medians(runs: &[Report]) -> Result<[f64; 3], LabError> {
    let of = |axis: &str| {
        let read = |report| quantity::find(axis)?.read(report, None);
        let samples: Option<Vec<f64>> = runs.iter().map(read).collect();
        let missing = || LabError::Experiment(ExperimentError(format!("a run has no `{axis}`, which is an axis")));
        samples.and_then(|samples| stats::median(&samples)).ok_or_else(missing)
    };
    let [latency, calls, energy] = AXES;
    Ok([of(latency)?, of(calls)?, of(energy)?])
}

fn point(at: [f64; 3], base: [f64; 3], all: &[[f64; 3]], margin_pct: f64) -> Point {
    let change = |axis: usize| stats::percent_change(base[axis], at[axis]);
    let energy_fits = change(ENERGY).is_some_and(|pct| pct <= margin_pct);
    Point {
        step_latency_ms_avg: round(at[LATENCY]),
        driver_calls: round(at[CALLS]),
        energy_mj: round(at[ENERGY]),
        change_pct: [change(LATENCY), change(CALLS), change(ENERGY)].map(|pct| pct.map(round)),
        on_front: !all.iter().any(|other| dominates(*other, at)),
        wins: energy_fits && at[LATENCY] < base[LATENCY] && at[CALLS] < base[CALLS],
    }
}

/// At least as good on all axes, better on one.
fn dominates(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(&b).all(|(a, b)| a <= b) && a.iter().zip(&b).any(|(a, b)| a < b)
}

fn foreseen(
    question: &Question,
    seeds: &[u64],
    base_mj: f64,
    jobs: usize,
    control: Control<'_>,
) -> Result<Vec<ForeseenPoint>, LabError> {
    let one = |&seed: &u64| clairvoyant::foresee(&question.open, seed, &PRICES_UJ, control);
    let runs: Vec<Result<Vec<Foreseen>, LabError>> = match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(|| seeds.par_iter().map(one).collect()),
        Err(_) => seeds.iter().map(one).collect(),
    };
    let runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
    let unknown = || LabError::Experiment(ExperimentError("the platform does not know its energy".into()));
    (0..PRICES_UJ.len()).map(|i| summary(&runs, i, base_mj).ok_or_else(unknown)).collect()
}

fn summary(runs: &[Vec<Foreseen>], i: usize, base_mj: f64) -> Option<ForeseenPoint> {
    let median = |read: fn(&Foreseen) -> Option<f64>| {
        stats::median(&runs.iter().map(|run| read(&run[i])).collect::<Option<Vec<_>>>()?)
    };
    let energy_mj = median(|run| Some(run.energy_uj? as f64 / 1e3))?;
    Some(ForeseenPoint {
        price_mj: round(PRICES_UJ[i] / 1e3),
        changes: round(median(|run| Some(run.changes as f64))?),
        energy_mj: round(energy_mj),
        energy_change_pct: stats::percent_change(base_mj, energy_mj).map(round),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_on_the_front_unless_another_beats_it_everywhere() {
        let all = [[1.0, 100.0, 50.0], [0.5, 90.0, 50.4], [0.5, 95.0, 50.4], [2.0, 10.0, 70.0]];
        let points: Vec<Point> = all.iter().map(|&at| point(at, all[0], &all, 1.0)).collect();
        assert_eq!(points.iter().map(|p| p.on_front).collect::<Vec<_>>(), [true, true, false, true]);
        assert_eq!(points.iter().map(|p| p.wins).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!(points[1].change_pct, [Some(-50.0), Some(-10.0), Some(0.8)]);
    }

    #[test]
    fn energy_beyond_the_margin_does_not_win() {
        let base = [1.0, 100.0, 50.0];
        assert!(!point([0.5, 50.0, 50.6], base, &[base], 1.0).wins);
        assert!(point([0.5, 50.0, 50.6], base, &[base], 2.0).wins);
    }
}
