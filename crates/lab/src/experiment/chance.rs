// SPDX-License-Identifier: GPL-2.0-or-later
//! Share of groups of a few runs that are as extreme as what a source prints of as few.
//!
//! A printed number that stands for one run may lie far from the mean of many, and so may ours; a printed change may be
//! seen between two runs of the same kernel. Both are counted over groups of runs that are drawn from those of the
//! table, independently on each side: a board has no seeds that two kernels share.

use super::file::{Claim, Comparison, Experiment, Row};
use super::numbers::{self, Reports};
use super::probe::Samples;
use crate::measure::stats::{self, BOOTSTRAP_RESAMPLES, SAMPLES_FOR_CI95};
use crate::round;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// The kernels that runs are drawn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    /// Those of the table.
    Changed,
    /// The one without the change, for both sides.
    NoEffect,
}

/// Runs of a table to draw from.
#[derive(Clone, Copy)]
pub(crate) struct Chance<'a> {
    pub experiment: &'a Experiment,
    pub reports: &'a Reports,
    pub probes: &'a Samples,
}

/// One number of each run of a variant with a workload, and the name of what is drawn.
struct Side {
    drawn_as: String,
    samples: Vec<f64>,
}

/// Samples that a row or a probe is computed from.
struct Numbers {
    own: Side,
    base: Option<(Side, Comparison)>,
}

/// One group of runs for each side.
struct Draw<'r> {
    rng: &'r mut Pcg64Mcg,
    runs: u64,
    picks: BTreeMap<String, Vec<u64>>,
}

impl Draw<'_> {
    /// Mean over the runs that were drawn.
    fn mean(&mut self, side: &Side) -> Option<f64> {
        let (rng, runs) = (&mut self.rng, self.runs);
        let picks =
            self.picks.entry(side.drawn_as.clone()).or_insert_with(|| (0..runs).map(|_| rng.next_u64()).collect());
        let of = |pick: &u64| side.samples[(pick % side.samples.len() as u64) as usize];
        stats::mean(&picks.iter().map(of).collect::<Vec<_>>())
    }

    fn value(&mut self, numbers: &Numbers) -> Option<f64> {
        let own = self.mean(&numbers.own)?;
        match &numbers.base {
            Some((base, by)) => numbers::compare(*by, self.mean(base)?, own),
            None => Some(own),
        }
    }
}

impl Chance<'_> {
    /// Groups of as many runs as a printed number stands for, percent, whose number is at least as far from the mean of
    /// all as the printed one; `None` where the experiment does not say how many those are, or has too few seeds.
    pub(crate) fn of_row(&self, row: &Row) -> Option<f64> {
        let numbers = self.of(&row.id, World::Changed)?;
        let values = self.draws(|draw| draw.value(&numbers))?;
        let mean = stats::mean(&values)?;
        let as_far = values.iter().filter(|value| (*value - mean).abs() >= (row.published - mean).abs()).count();
        Some(percent(as_far))
    }

    /// Groups, percent, in which a statement holds.
    pub(crate) fn of_claim(&self, claim: &Claim, world: World) -> Option<f64> {
        let than = claim.than.iter().flat_map(|than| [&than.row, &than.against]);
        let ids = [&claim.row].into_iter().chain(&claim.against).chain(than);
        let numbers = ids.map(|id| Some((id.as_str(), self.of(id, world)?))).collect::<Option<BTreeMap<_, _>>>()?;
        let held = self.draws(|draw| {
            let drawn = numbers.iter().map(|(id, of)| Some((*id, draw.value(of)?)));
            let values = drawn.collect::<Option<BTreeMap<&str, f64>>>()?;
            numbers::claim_value(claim, |id| values.get(id).copied()).map(|value| numbers::holds(claim, value))
        })?;
        Some(percent(held.into_iter().filter(|held| *held).count()))
    }

    /// Results of all draws; `None` where one has none, as a change from 0.
    fn draws<T>(&self, mut of: impl FnMut(&mut Draw) -> Option<T>) -> Option<Vec<T>> {
        let (mut rng, runs) = (stats::draws(), self.experiment.printed_runs?);
        (0..BOOTSTRAP_RESAMPLES).map(|_| of(&mut Draw { rng: &mut rng, runs, picks: BTreeMap::new() })).collect()
    }

    /// Samples of the row or probe `id`.
    fn of(&self, id: &str, world: World) -> Option<Numbers> {
        let Some(row) = self.experiment.row.iter().find(|row| row.id == id) else {
            let samples = self.probes.get(id).filter(|_| world == World::Changed)?.concat();
            return Some(Numbers { own: side(id, samples)?, base: None });
        };
        let read = |drawn_as: &str, variant: &str| {
            let name = format!("{drawn_as} {}", row.workload.names().join(" "));
            side(&name, numbers::samples_of(row, variant, self.reports).ok()?)
        };
        let without = row.against.as_ref().or(self.experiment.variant.get(&row.variant)?.base.as_ref());
        let own = match world {
            World::Changed => &row.variant,
            World::NoEffect => without.unwrap_or(&row.variant),
        };
        let base = match (&row.against, row.by) {
            (Some(against), Some(by)) => Some((read(against, against)?, by)),
            _ => None,
        };
        Some(Numbers { own: read(&row.variant, own)?, base })
    }
}

fn side(drawn_as: &str, samples: Vec<f64>) -> Option<Side> {
    (samples.len() >= SAMPLES_FOR_CI95).then(|| Side { drawn_as: drawn_as.to_owned(), samples })
}

fn percent(of_draws: usize) -> f64 {
    round(of_draws as f64 * 100.0 / BOOTSTRAP_RESAMPLES as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::read;
    use pelton_sim::Report;
    use pelton_sim::report::DomainReport;

    /// Runs of `rt-utilization` with so many changes of frequency, one number a run.
    fn reports(without: &[u64], with: &[u64]) -> Reports {
        let run = |&transitions: &u64| {
            let domain = DomainReport { name: "cpu".into(), transitions, ..Default::default() };
            Report { domains: vec![domain], ..Default::default() }
        };
        let of = |variant: &str, runs: &[u64]| {
            ((variant.to_owned(), "hog".to_owned()), runs.iter().map(run).collect::<Vec<_>>())
        };
        [of("without", without), of("with", with)].into_iter().collect()
    }

    fn table(printed_runs: Option<u64>) -> Experiment {
        let mut table = read::load("rt-utilization").expect("embedded");
        table.printed_runs = printed_runs;
        table
    }

    /// Chance of a row's printed number, and of the statement that `with` has fewer changes, in both worlds.
    fn asked(runs: u64, without: &[u64], with: &[u64], published: f64) -> (f64, f64, f64) {
        let mut table = table(Some(runs));
        let row = table.row.iter_mut().find(|row| row.id == "transitions.with").expect("a row");
        row.published = published;
        let row = row.clone();
        let falls = Claim {
            row: "transitions.with".into(),
            against: Some("transitions.without".into()),
            by: Some(Comparison::Difference),
            min: None,
            max: Some(-1.0),
            ..table.claim[0].clone()
        };
        let reports = reports(without, with);
        let chance = Chance { experiment: &table, reports: &reports, probes: &Samples::new() };
        let of = |world| chance.of_claim(&falls, world).expect("rows of both sides");
        (chance.of_row(&row).expect("six runs"), of(World::Changed), of(World::NoEffect))
    }

    #[test]
    fn a_number_within_the_runs_is_as_likely_as_there_are_runs_beyond_it() {
        let with = [10, 10, 10, 10, 10, 40];
        let (far, ..) = asked(1, &[50; 6], &with, 40.0);
        assert!((far - 100.0 / 6.0).abs() < 3.0, "one run of six is as far from 15 as 40: {far} %");
        assert_eq!(asked(1, &[50; 6], &with, 100.0).0, 0.0, "no run is");
        assert_eq!(asked(1, &[50; 6], &with, 15.0).0, 100.0, "every run is as far as the mean");
        let three = asked(3, &[50; 6], &with, 40.0).0;
        assert!(three < far / 10.0, "means of three are seldom that far: {three} %");
    }

    #[test]
    fn a_change_that_noise_shows_as_often_is_seen_without_an_effect() {
        let noise = [10, 20, 30, 40, 50, 60];
        let (_, changed, no_effect) = asked(1, &noise, &noise, 0.0);
        assert!((changed - 41.7).abs() < 3.0 && (no_effect - 41.7).abs() < 3.0, "{changed} {no_effect}");
        let (_, changed, no_effect) = asked(1, &[10, 11, 12, 13, 14, 15], &[1, 2, 3, 4, 5, 6], 0.0);
        assert!(changed == 100.0 && (30.0..50.0).contains(&no_effect), "{changed} {no_effect}");
    }

    #[test]
    fn what_is_not_known_has_no_chance() {
        let (few, many) = (reports(&[1; 5], &[1; 5]), reports(&[1; 6], &[1; 6]));
        let (says, says_not) = (table(Some(1)), table(None));
        let row = says.row.iter().find(|row| row.id == "transitions.with").expect("a row");
        let of = |experiment, reports| Chance { experiment, reports, probes: &Samples::new() }.of_row(row);
        assert_eq!((of(&says, &few), of(&says_not, &many)), (None, None));
        assert_eq!(of(&says, &many), Some(0.0), "every run has 1, which is not the printed number");
    }
}
