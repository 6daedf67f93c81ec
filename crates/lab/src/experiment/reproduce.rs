// SPDX-License-Identifier: GPL-2.0-or-later
//! Published tables: runs what an experiment file describes and judges the outcome.

use super::file::{Experiment, Sensitivity, Variant, WorkloadRef};
use super::judge::judge;
pub use super::looks::Seeds;
use super::looks::{self, Planned, Side, side_of_probe, sides_of};
use super::table::{AboutTable, AboutVariant, TableResult};
use super::{place, read};
use crate::plan::{Inputs, PolicySpec, build};
use crate::run::{Control, LabError};
use pelton_model::Plan;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Options of reproducing a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Number of seeds.
    pub seeds: Seeds,
    /// Simulations at the same time; 0 = one per CPU.
    pub jobs: usize,
}

/// Simulated time of all runs of a table, ns, with the most seeds: the length of its progress bar.
pub fn simulated_ns(experiment: &Experiment, options: Options) -> u64 {
    let one = |side: &Side| {
        let run_ns = duration_ns(experiment, &experiment.workload[&side.1], None);
        run_ns.saturating_mul(options.seeds.range(experiment, &side.1).1)
    };
    needed(experiment).iter().map(one).fold(0, u64::saturating_add)
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
/// use pelton_lab::experiment::reproduce::{Options, Seeds, by_name};
/// let options = Options { seeds: Seeds::Count(1), jobs: 1 };
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
    let planned = |side: Side| {
        Ok(Planned {
            plan: plan(experiment, changed, &side)?,
            probes: experiment.probe.iter().filter(|probe| side_of_probe(probe) == side).collect(),
            seeds: options.seeds.range(experiment, &side.1),
            side,
        })
    };
    let sides = needed(experiment).into_iter().map(planned).collect::<Result<Vec<_>, LabError>>()?;
    let runs = looks::run(experiment, sides, options.jobs, control)?;
    let mut table = judge(experiment, changed.is_some(), &runs, started.elapsed().as_secs_f64())?;
    let seeds = runs.reports.values().map(Vec::len).max().unwrap_or(0) as u64;
    table.run = AboutTable { seeds, ..about(experiment, changed) };
    if let Some(changed) = changed {
        table.table = format!("{}@{}", table.table, changed.name);
    }
    Ok(table)
}

/// Description of the table.
fn about(experiment: &Experiment, changed: Option<&Sensitivity>) -> AboutTable {
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
        seeds: 0,
        printed_runs: experiment.printed_runs,
        changed: changed.map(|c| c.name.clone()),
    }
}

/// Sides that some row, probe or column needs.
fn needed(experiment: &Experiment) -> Vec<Side> {
    let of_rows = experiment.row.iter().filter(|r| r.not_modelled.is_none()).flat_map(sides_of);
    let beyond = experiment
        .beyond
        .iter()
        .flat_map(|b| b.workload.iter().flat_map(|w| b.variant.iter().map(|v| (v.clone(), w.clone()))));
    let of_probes = experiment.probe.iter().map(side_of_probe);
    of_rows.chain(beyond).chain(of_probes).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The workload with what runs beside it.
fn spec(experiment: &Experiment, changed: Option<&Sensitivity>, workload: &WorkloadRef) -> String {
    let together = match &experiment.background {
        Some(background) if !workload.alone => Cow::Owned(format!("{} + {background}", workload.spec)),
        _ => Cow::Borrowed(workload.spec.as_str()),
    };
    changed.map_or_else(|| together.to_string(), |changed| changed.spec(&together).into_owned())
}

fn plan(experiment: &Experiment, changed: Option<&Sensitivity>, side: &Side) -> Result<Plan, LabError> {
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
        experiment.probe.clear();
        assert_eq!(needed(&experiment).len(), 4);
        experiment.row.retain(|r| r.quantity == "transitions");
        assert_eq!(needed(&experiment), [("with".into(), "hog".into()), ("without".into(), "hog".into())]);
    }

    #[test]
    fn the_progress_bar_covers_every_run() {
        let experiment = read::load("rt-utilization").expect("embedded");
        let options = Options { seeds: Seeds::Count(2), jobs: 1 };
        // Rows look at two workloads under two variants; probes at two of these sides, and at a short one.
        let rows_ns = 2 * (15_000_000_000 + 16_000_000_000);
        let probes_ns = 4_000_000_000;
        assert_eq!(simulated_ns(&experiment, options), 2 * (rows_ns + probes_ns));
    }
}
