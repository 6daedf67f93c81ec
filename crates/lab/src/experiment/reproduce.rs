// SPDX-License-Identifier: GPL-2.0-or-later
//! Published tables: runs what an experiment file describes and judges the outcome.

use super::file::{Experiment, Sensitivity, Variant, WorkloadRef};
use super::judge::judge;
use super::numbers::Reports;
use super::table::{AboutTable, AboutVariant, TableResult};
use super::{place, probe, read};
use crate::plan::{Inputs, PolicySpec, build};
use crate::run::{Control, LabError, run_many};
use pelton_model::Plan;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Options of reproducing a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Number of seeds; `None` = as the file says.
    pub seeds: Option<u64>,
    /// Simulations at the same time; 0 = one per CPU.
    pub jobs: usize,
}

/// Simulated time of all runs of a table, ns: the length of its progress bar.
pub fn simulated_ns(experiment: &Experiment, options: Options) -> u64 {
    let one = |side: &(String, String)| {
        let run_ns = duration_ns(experiment, &experiment.workload[&side.1], None);
        run_ns.saturating_mul(seeds(experiment, options, &side.1))
    };
    let probed = experiment.probe.iter().map(|p| (p.variant.clone(), p.workload.clone())).collect::<BTreeSet<_>>();
    needed(experiment).iter().chain(&probed).map(one).fold(0, u64::saturating_add)
}

/// Repetitions of a workload.
fn seeds(experiment: &Experiment, options: Options, workload: &str) -> u64 {
    let of_file = || experiment.seeds.max(experiment.workload[workload].seeds.unwrap_or(0));
    options.seeds.unwrap_or_else(of_file)
}

/// Length of a run: every task gets the whole duration after its start.
fn duration_ns(experiment: &Experiment, workload: &WorkloadRef, changed: Option<&Sensitivity>) -> u64 {
    let longest = delays_ns(workload, changed).into_iter().map(|(_, ns)| ns).max().unwrap_or(0);
    nanoseconds(workload.duration_s.unwrap_or(experiment.duration_s)) + longest
}

fn delays_ns(workload: &WorkloadRef, changed: Option<&Sensitivity>) -> Vec<(String, u64)> {
    let delays = workload.delay_s.iter().filter(|_| !changed.is_some_and(|c| c.no_delay));
    delays.map(|(task, &s)| (task.clone(), nanoseconds(s))).collect()
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// The table called `name`, run and judged.
///
/// ```
/// use pelton_lab::experiment::reproduce::{Options, by_name};
/// let options = Options { seeds: Some(1), jobs: 1 };
/// let table = by_name("rt-utilization", options, Default::default()).unwrap();
/// assert_eq!(table.rows.len(), 12);
/// ```
pub fn by_name(name: &str, options: Options, control: Control<'_>) -> Result<TableResult, LabError> {
    reproduce(&read::load(name)?, None, options, control)
}

/// Runs every variant with every workload and seed, and judges the table; with `changed`, under one changed assumption.
pub fn reproduce(
    experiment: &Experiment,
    changed: Option<&Sensitivity>,
    options: Options,
    control: Control<'_>,
) -> Result<TableResult, LabError> {
    let started = Instant::now();
    let narrow = changed.map(|changed| changed.narrow(experiment));
    let experiment = narrow.as_ref().unwrap_or(experiment);
    let sides = needed(experiment);
    let plans = sides.iter().map(|side| plan(experiment, changed, side)).collect::<Result<Vec<_>, _>>()?;
    let counts: Vec<u64> = sides.iter().map(|side| seeds(experiment, options, &side.1)).collect();
    let runs: Vec<_> = plans.iter().zip(&counts).flat_map(|(plan, &n)| (1..=n).map(move |seed| (plan, seed))).collect();
    let mut reports = run_many(&runs, options.jobs, control)?.into_iter();
    let of_side = |(side, n): (_, u64)| (side, reports.by_ref().take(n as usize).collect());
    let reports: Reports = sides.into_iter().zip(counts).map(of_side).collect();
    let plan_of = |side: &(String, String)| {
        let seeds = (1..=seeds(experiment, options, &side.1)).collect();
        Ok((plan(experiment, changed, side)?, seeds))
    };
    let samples = probe::sample(&experiment.probe, plan_of, control)?;
    let mut table = judge(experiment, changed.is_some(), &reports, &samples, started.elapsed().as_secs_f64())?;
    table.run = about(experiment, changed, options);
    if let Some(changed) = changed {
        table.table = format!("{}@{}", table.table, changed.name);
    }
    Ok(table)
}

/// Description of the table.
fn about(experiment: &Experiment, changed: Option<&Sensitivity>, options: Options) -> AboutTable {
    let variant = |(name, v): (&String, &Variant)| {
        let about = AboutVariant {
            why: v.why.clone(),
            profile: v.profile.clone().unwrap_or_else(|| experiment.profile.clone()),
            set: v.set.clone(),
            group: v.group.clone(),
            with: v.with.clone(),
        };
        (name.clone(), about)
    };
    AboutTable {
        platform: experiment.platform.clone(),
        profile: experiment.profile.clone(),
        set: experiment.set.clone(),
        variants: experiment.variant.iter().map(variant).collect(),
        workloads: experiment.workload.iter().map(|(name, w)| (name.clone(), w.spec.clone())).collect(),
        platforms: experiment
            .workload
            .iter()
            .filter_map(|(name, w)| Some((name.clone(), w.platform.clone()?)))
            .collect(),
        background: experiment.background.clone(),
        hz: changed.and_then(|c| c.hz).unwrap_or(experiment.hz),
        duration_s: experiment.duration_s,
        seeds: options.seeds.unwrap_or(experiment.seeds),
        printed_runs: experiment.printed_runs,
        changed: changed.map(|c| c.name.clone()),
    }
}

/// (variant, workload) pairs that some row or column needs.
fn needed(experiment: &Experiment) -> Vec<(String, String)> {
    let of_rows = experiment.row.iter().filter(|r| r.not_modelled.is_none());
    let of_rows = of_rows.flat_map(|r| {
        let variants = std::iter::once(&r.variant).chain(&r.against);
        variants.flat_map(|v| r.workload.names().iter().map(|w| (v.clone(), w.clone())))
    });
    let beyond = experiment
        .beyond
        .iter()
        .flat_map(|b| b.workload.iter().flat_map(|w| b.variant.iter().map(|v| (v.clone(), w.clone()))));
    of_rows.chain(beyond).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The workload with what runs beside it.
fn spec(experiment: &Experiment, changed: Option<&Sensitivity>, workload: &WorkloadRef) -> String {
    let together = match &experiment.background {
        Some(background) if !workload.alone => Cow::Owned(format!("{} + {background}", workload.spec)),
        _ => Cow::Borrowed(workload.spec.as_str()),
    };
    changed.map_or_else(|| together.to_string(), |changed| changed.spec(&together).into_owned())
}

fn plan(experiment: &Experiment, changed: Option<&Sensitivity>, side: &(String, String)) -> Result<Plan, LabError> {
    let (variant, workload) = (&experiment.variant[&side.0], &experiment.workload[&side.1]);
    let inputs = Inputs {
        platform: workload.platform.as_ref().unwrap_or(&experiment.platform).clone(),
        platform_text: None,
        workload_text: None,
        seed: 1,
        workload: variant
            .with
            .iter()
            .fold(spec(experiment, changed, workload), |spec, with| format!("{spec} + {with}")),
        duration_ns: Some(duration_ns(experiment, workload, changed)),
        delays_ns: delays_ns(workload, changed),
        hz: Some(changed.and_then(|c| c.hz).unwrap_or(experiment.hz)),
        rate_limit_us: changed.and_then(|c| c.rate_limit_us),
        random_phase: true,
        machine: changed.map(|c| c.machine).unwrap_or_default().or(experiment.machine),
        group: changed.and_then(|c| c.group.clone()).or_else(|| variant.group.clone()),
        defines: BTreeMap::new(),
    };
    let mut sets = switches(&experiment.set);
    sets.extend(switches(&variant.set));
    sets.extend(changed.map(|c| switches(&c.set)).unwrap_or_default());
    let profile = variant.profile.as_ref().unwrap_or(&experiment.profile);
    let policy = PolicySpec { file: None, profile: Some(profile.clone()), sets, ..PolicySpec::default() };
    Ok(build(&inputs, &policy).map_err(|found| place::at_home(experiment, side, &found))?.plan)
}

fn switches(set: &BTreeMap<String, String>) -> Vec<String> {
    set.iter().map(|(switch, value)| format!("{switch}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sides_with_rows_are_run() {
        let mut experiment = read::load("rt-utilization").expect("embedded");
        assert_eq!(needed(&experiment).len(), 4);
        experiment.row.retain(|r| r.quantity == "transitions");
        assert_eq!(needed(&experiment), [("with".into(), "hog".into()), ("without".into(), "hog".into())]);
    }

    #[test]
    fn the_progress_bar_covers_every_run() {
        let experiment = read::load("rt-utilization").expect("embedded");
        let options = Options { seeds: Some(2), jobs: 1 };
        // Rows look at two workloads under two variants; probes at two of these sides again, and at a short one.
        let rows_ns = 2 * (15_000_000_000 + 16_000_000_000);
        let probes_ns = 2 * 15_000_000_000 + 4_000_000_000;
        assert_eq!(simulated_ns(&experiment, options), 2 * (rows_ns + probes_ns));
    }
}
