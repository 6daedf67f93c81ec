// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs of a table, look by look: a side gets more seeds while a verdict that rests on it could still change.

use super::file::{Claim, Experiment, Probe, Row};
use super::numbers::{self, Reports};
use super::probe::{self, Samples};
use crate::measure::stats::{self, SAMPLES_FOR_CI95};
use crate::run::{Control, LabError, each};
use pelton_model::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// Variant and workload.
pub(super) type Side = (String, String);

/// Number of seeds of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeds {
    /// As many as the verdicts need, and at most what the file has a default run take.
    #[default]
    Enough,
    /// All that the file names.
    All,
    /// This many of each run.
    Count(u64),
}

/// Seeds of a first look: what one run in five does is in all but one of fifteen of them.
const FIRST_LOOK: u64 = 12;

/// Part by which an interval that decides is wider than that of 95 %: a verdict is looked at up to four times, and all
/// looks together shall be wrong in one case of twenty (Bonferroni; Student's t of 5 to 50 seeds grows by 1.3 to 1.5).
const LOOKS_WIDEN: f64 = 1.5;

impl Seeds {
    /// Seeds of the first look at a workload, and the most.
    pub(super) fn range(self, experiment: &Experiment, workload: &str) -> (u64, u64) {
        let of_workload = &experiment.workload[workload];
        let all = experiment.all_seeds(of_workload);
        match self {
            Seeds::Count(n) => (n, n),
            Seeds::All => (all, all),
            Seeds::Enough => {
                let most = of_workload.default_seeds.or(experiment.default_seeds).unwrap_or(all).min(all);
                (most.min(FIRST_LOOK), most)
            }
        }
    }
}

/// All that was run.
#[derive(Default)]
pub(super) struct Runs {
    /// Reports by side, one per seed.
    pub reports: Reports,
    /// Numbers of probes.
    pub samples: Samples,
}

/// A side and what is known of it before it runs.
pub(super) struct Planned<'e> {
    pub side: Side,
    pub plan: Plan,
    pub probes: Vec<&'e Probe>,
    /// Seeds of the next look, and the most.
    pub seeds: (u64, u64),
}

/// Runs all sides, look by look.
pub(super) fn run(
    experiment: &Experiment,
    mut sides: Vec<Planned<'_>>,
    jobs: usize,
    control: Control<'_>,
) -> Result<Runs, LabError> {
    let mut runs = Runs::default();
    loop {
        runs.look(&sides, jobs, control)?;
        let open = open(experiment, &runs);
        let mut grown = false;
        for side in sides.iter_mut().filter(|side| side.seeds.0 < side.seeds.1 && open.contains(&side.side)) {
            side.seeds.0 = (side.seeds.0 * 2).min(side.seeds.1);
            grown = true;
        }
        if !grown {
            return Ok(runs);
        }
    }
}

impl Runs {
    /// Runs the seeds of this look that no look before had.
    fn look(&mut self, sides: &[Planned<'_>], jobs: usize, control: Control<'_>) -> Result<(), LabError> {
        let done = |planned: &Planned<'_>| self.reports.get(&planned.side).map_or(0, |reports| reports.len() as u64);
        let todo =
            sides.iter().flat_map(|planned| (done(planned) + 1..=planned.seeds.0).map(move |seed| (planned, seed)));
        let todo: Vec<(&Planned<'_>, u64)> = todo.collect();
        let made = each(&todo, jobs, |(planned, seed)| probe::run(&planned.probes, &planned.plan, *seed, control))?;
        for ((planned, _), (report, numbers)) in todo.into_iter().zip(made) {
            self.reports.entry(planned.side.clone()).or_default().push(report);
            for (probe, numbers) in planned.probes.iter().zip(numbers) {
                self.samples.entry(probe.id.clone()).or_default().push(numbers);
            }
        }
        Ok(())
    }
}

/// Sides of rows and claims whose verdict could still change.
fn open(experiment: &Experiment, runs: &Runs) -> BTreeSet<Side> {
    let rows = experiment.row.iter().filter(|row| row.not_modelled.is_none());
    let of_rows = rows.filter(|row| !row_stands(row, &runs.reports)).flat_map(sides_of);
    let claims = experiment.claim.iter().filter(|claim| !claim_stands(claim, experiment, runs));
    let of_claims = claims.flat_map(Claim::rows).flat_map(|id| sides_of_id(experiment, id));
    of_rows.chain(of_claims).collect()
}

/// Sides that a row is computed from.
pub(super) fn sides_of(row: &Row) -> impl Iterator<Item = Side> + '_ {
    let variants = std::iter::once(&row.variant).chain(&row.against);
    variants.flat_map(|variant| row.workload.names().iter().map(|workload| (variant.clone(), workload.clone())))
}

fn sides_of_id<'e>(experiment: &'e Experiment, id: &'e str) -> impl Iterator<Item = Side> + 'e {
    let rows = experiment.row.iter().filter(move |row| row.id == id).flat_map(sides_of);
    rows.chain(experiment.probe.iter().filter(move |probe| probe.id == id).map(side_of_probe))
}

pub(super) fn side_of_probe(probe: &Probe) -> Side {
    (probe.variant.clone(), probe.workload.clone())
}

/// True when more seeds would hardly change the row's verdict, or there is no number to judge.
pub(super) fn row_stands(row: &Row, reports: &Reports) -> bool {
    let distance = row.tolerance.distance(row.published);
    let edges = [row.published - distance, row.published + distance];
    numbers::samples(row, reports).map_or(true, |samples| stands(&samples, &edges))
}

/// True when more seeds would hardly change whether the claim holds, or a number that it needs is missing. Where a seed
/// has the numbers and no change between them (from 0), it is not known.
pub(super) fn claim_stands(claim: &Claim, experiment: &Experiment, runs: &Runs) -> bool {
    let edges: Vec<f64> = claim.min.into_iter().chain(claim.max).collect();
    let Some(samples) = samples_of(claim, experiment, runs) else { return true };
    let seeds = samples.values().map(Vec::len).min().unwrap_or(0);
    let of_seed = |i: usize| numbers::claim_value(claim, |id| samples.get(id).map(|of| of[i]));
    let values: Option<Vec<f64>> = (0..seeds).map(of_seed).collect();
    values.is_some_and(|values| stands(&values, &edges))
}

/// Numbers of each row and probe of a claim, one per seed.
fn samples_of<'c>(claim: &'c Claim, experiment: &Experiment, runs: &Runs) -> Option<BTreeMap<&'c str, Vec<f64>>> {
    let numbers = |id: &str| match experiment.row.iter().find(|row| row.id == id) {
        Some(row) => numbers::samples(row, &runs.reports).ok(),
        None => runs.samples.get(id)?.iter().map(|of_seed| stats::mean(of_seed)).collect(),
    };
    claim.rows().map(|id| Some((id, numbers(id)?))).collect()
}

/// True when the mean is farther from each edge than its interval is wide.
fn stands(samples: &[f64], edges: &[f64]) -> bool {
    let Some((low, high)) = stats::mean_ci95(samples) else { return false };
    let (mean, half) = (f64::midpoint(low, high), (high - low) / 2.0 * LOOKS_WIDEN);
    half == 0.0 || edges.iter().all(|edge| (edge - mean).abs() > half)
}

/// Seeds with an interval.
const _: () = assert!(FIRST_LOOK as usize >= SAMPLES_FOR_CI95);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::read;
    use pelton_sim::Report;
    use pelton_sim::report::DomainReport;

    #[test]
    fn a_mean_far_from_the_edge_stands_and_one_near_it_does_not() {
        let samples = [9.0, 10.0, 11.0, 10.0, 9.0, 11.0];
        assert!(stands(&samples, &[5.0, 15.0]) && stands(&samples, &[20.0, 30.0]));
        assert!(!stands(&samples, &[5.0, 10.5]), "an edge within the interval");
        assert!(!stands(&samples, &[11.2]), "an edge within the interval of all looks");
        assert!(!stands(&samples[..5], &[100.0]), "five have no interval");
        assert!(stands(&[7.0; 6], &[7.0]), "equal runs");
    }

    #[test]
    fn a_default_run_begins_with_a_first_look_and_ends_at_the_file_s_most() {
        let mut table = read::load("rt-utilization").expect("embedded");
        (table.seeds, table.default_seeds) = (100, Some(40));
        let hog = table.workload.get_mut("hog").expect("a workload");
        hog.default_seeds = Some(3);
        let of = |seeds: Seeds| (seeds.range(&table, "hog"), seeds.range(&table, "sysbench"));
        assert_eq!(of(Seeds::Enough), ((3, 3), (FIRST_LOOK, 40)));
        assert_eq!(of(Seeds::All), ((100, 100), (100, 100)));
        assert_eq!(of(Seeds::Count(2)), ((2, 2), (2, 2)));
    }

    /// Runs of `rt-utilization` with so many changes of frequency, one number a run.
    fn runs(without: &[u64], with: &[u64]) -> Runs {
        let run = |&transitions: &u64| {
            let domain = DomainReport { name: "cpu".into(), transitions, ..Default::default() };
            Report { domains: vec![domain], ..Default::default() }
        };
        let of = |variant: &str, runs: &[u64]| {
            ((variant.to_owned(), "hog".to_owned()), runs.iter().map(run).collect::<Vec<_>>())
        };
        Runs { reports: [of("without", without), of("with", with)].into_iter().collect(), samples: Samples::new() }
    }

    #[test]
    fn only_sides_of_open_verdicts_go_on() {
        let mut table = read::load("rt-utilization").expect("embedded");
        table.row.retain(|row| row.quantity == "transitions");
        table.claim.clear();
        let edge = table.row.iter().find(|row| row.variant == "with").expect("a row");
        let edge = (edge.published + edge.tolerance.distance(edge.published)) as u64;
        let with = [edge - 2, edge - 1, edge, edge, edge + 1, edge + 2];
        let open = open(&table, &runs(&[100_000; 6], &with));
        assert_eq!(open.into_iter().collect::<Vec<_>>(), [("with".to_owned(), "hog".to_owned())]);
    }

    #[test]
    fn a_claim_between_two_sides_opens_both() {
        let mut table = read::load("rt-utilization").expect("embedded");
        table.row.retain(|row| row.quantity == "transitions");
        let mut claim = table.claim[0].clone();
        (claim.row, claim.against) = ("transitions.with".into(), Some("transitions.without".into()));
        (claim.by, claim.min, claim.max) = (Some(crate::experiment::file::Comparison::Difference), None, Some(0.0));
        table.claim = vec![claim];
        table.row.iter_mut().for_each(|row| row.published = 1e9);
        let sides = |table: &Experiment, without: &[u64], with: &[u64]| open(table, &runs(without, with)).len();
        assert_eq!(sides(&table, &[10, 12, 14, 16, 18, 20], &[11, 12, 14, 15, 18, 21]), 2);
        assert_eq!(sides(&table, &[10, 12, 14, 16, 18, 20], &[1, 2, 3, 4, 5, 6]), 0);
        table.claim[0].by = Some(crate::experiment::file::Comparison::ChangePercent);
        assert_eq!(sides(&table, &[10, 12, 14, 16, 18, 0], &[1, 2, 3, 4, 5, 6]), 2, "no change from 0 is not known");
    }
}
