// SPDX-License-Identifier: GPL-2.0-or-later
//! Statistics over repetitions: medians, 95 % confidence, percentiles.
//!
//! Everything is a pure function of its arguments: the bootstrap draws from a generator with a fixed seed, so a result
//! depends on the samples alone.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Resamples of one bootstrap; the 2.5 and 97.5 % ends then rest on 50 samples each.
pub(crate) const BOOTSTRAP_RESAMPLES: usize = 2000;

/// Generator of all draws: a result depends on the samples alone.
pub(crate) fn draws() -> Pcg64Mcg {
    Pcg64Mcg::new(0xcafe_f00d_d15e_a5e5)
}

/// Fewest samples with an interval. That all of n equal chances fall on one side happens in 2 of 2^n cases: 6.3 % with
/// five, 3.1 % with six, so that six is the least number with a 95 % interval.
pub const SAMPLES_FOR_CI95: usize = 6;

/// Arithmetic mean; `None` for no samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Middle value (mean of the two middle ones for an even number); `None` for no samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// Two-sided 97.5 % point of Student's distribution for `df` degrees of freedom.
fn student_t_975(df: usize) -> f64 {
    const SMALL: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match df {
        0 => f64::INFINITY,
        1..=30 => SMALL[df - 1],
        31..=60 => 2.021,
        61..=120 => 1.990,
        _ => 1.960,
    }
}

/// 95 % confidence interval of the mean by Student's t; `None` below [`SAMPLES_FOR_CI95`].
pub fn mean_ci95(samples: &[f64]) -> Option<(f64, f64)> {
    let n = samples.len();
    if n < SAMPLES_FOR_CI95 {
        return None;
    }
    let centre = mean(samples)?;
    let variance = samples.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n - 1) as f64;
    let half = student_t_975(n - 1) * (variance / n as f64).sqrt();
    Some((centre - half, centre + half))
}

/// Change from `base` to `new` in percent; `None` when the base is 0 and no percentage exists.
pub fn percent_change(base: f64, new: f64) -> Option<f64> {
    (base != 0.0).then(|| (new / base - 1.0) * 100.0)
}

/// 95 % interval of the percent change between the medians of two sets of runs with the same seeds.
///
/// Runs are resampled in pairs (run `i` of both sides has seed `i`), so what the seed does to both sides cancels out.
/// `None` below [`SAMPLES_FOR_CI95`] pairs, where the base's median is 0, and where an end has no percentage: from 0 to
/// something.
pub fn paired_change_ci95(base: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    let n = base.len().min(new.len());
    (n >= SAMPLES_FOR_CI95).then(|| Resamples::new(n))?.change_ci95(base, new)
}

/// Draws of the bootstrap for so many pairs: the same for all numbers of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Resamples {
    n: usize,
    /// Number of times that each pair was drawn, resample after resample.
    drawn: Vec<u32>,
}

impl Resamples {
    pub(crate) fn new(n: usize) -> Resamples {
        let mut rng = draws();
        let mut drawn = vec![0; n * BOOTSTRAP_RESAMPLES];
        for resample in drawn.chunks_exact_mut(n.max(1)) {
            (0..n).for_each(|_| resample[(rng.next_u64() % n as u64) as usize] += 1);
        }
        Resamples { n, drawn }
    }

    /// [`paired_change_ci95`], which is drawn anew where the number of pairs is another one.
    pub(crate) fn change_ci95(&self, base: &[f64], new: &[f64]) -> Option<(f64, f64)> {
        let n = base.len().min(new.len());
        if n < SAMPLES_FOR_CI95 || n != self.n {
            return (n >= SAMPLES_FOR_CI95).then(|| Resamples::new(n))?.change_ci95(base, new);
        }
        let (base, new) = (Ranked::new(&base[..n]), Ranked::new(&new[..n]));
        if base.median(&vec![1; n]) == 0.0 {
            return None;
        }
        let change = |drawn: &[u32]| change_or_beyond(base.median(drawn), new.median(drawn));
        let mut changes: Vec<f64> = self.drawn.chunks_exact(n).map(change).collect();
        let (lo, hi) = middle_95(&mut changes);
        (lo.is_finite() && hi.is_finite()).then_some((lo, hi))
    }
}

/// Percent change; from 0 to 0 there is none, and from 0 to anything else it is beyond all numbers. Draws with a base
/// of 0 count: without them what happens in some runs only would seem to be certain.
fn change_or_beyond(base: f64, new: f64) -> f64 {
    percent_change(base, new).unwrap_or(if new == base { 0.0 } else { f64::INFINITY.copysign(new) })
}

/// The 2.5 and 97.5 % points of many samples, which takes no sort of all of them; they change places.
fn middle_95(samples: &mut [f64]) -> (f64, f64) {
    let (low, high) = (nearest_rank(samples.len(), 2.5), nearest_rank(samples.len(), 97.5));
    let (_, &mut lower, above) = samples.select_nth_unstable_by(low, f64::total_cmp);
    let upper = (high > low).then(|| *above.select_nth_unstable_by(high - low - 1, f64::total_cmp).1);
    (lower, upper.unwrap_or(lower))
}

/// Samples in order: the median of what is drawn of them takes no sort.
struct Ranked {
    /// Value and place in the list.
    sorted: Vec<(f64, usize)>,
}

impl Ranked {
    fn new(samples: &[f64]) -> Ranked {
        let mut sorted: Vec<(f64, usize)> = samples.iter().copied().zip(0..).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ranked { sorted }
    }

    /// The median of the samples when each was `drawn` so often, `n` in all and at least one.
    fn median(&self, drawn: &[u32]) -> f64 {
        let n: u32 = drawn.iter().sum();
        let (mut upto, mut places) = (0, self.sorted.iter());
        // The sample that the `place`th of what was drawn is, from 0.
        let mut at = |place: u32, last: f64| {
            let mut value = last;
            while upto <= place
                && let Some(&(next, sample)) = places.next()
            {
                upto += drawn[sample];
                value = next;
            }
            value
        };
        // The two middle ones, which are one when their number is odd.
        let lower = at((n - 1) / 2, 0.0);
        let upper = at(n / 2, lower);
        if n % 2 == 1 { lower } else { f64::midpoint(lower, upper) }
    }
}

/// Nearest-rank percentile of ascending samples: the smallest value that at least `pct` percent do not exceed;
/// `None` for no samples.
pub fn percentile_nearest(sorted: &[f64], pct: f64) -> Option<f64> {
    sorted.get(nearest_rank(sorted.len(), pct)).copied()
}

/// Place of that percentile among so many, from 0.
fn nearest_rank(len: usize, pct: f64) -> usize {
    let rank = (pct / 100.0 * len as f64).ceil() as usize;
    rank.clamp(1, len.max(1)) - 1
}

/// The value that so many of a hundred samples do not exceed (nearest rank), of ascending values and how often each
/// came.
pub fn ranked(ascending: &[(u64, u64)], percent: u64) -> Option<u64> {
    let count: u64 = ascending.iter().map(|&(_, n)| n).sum();
    let rank = (count * percent).div_ceil(100);
    let mut below = 0;
    let reaches = |&&(_, n): &&(u64, u64)| {
        below += n;
        below >= rank
    };
    ascending.iter().find(reaches).map(|&(value, _)| value)
}

/// The value that so many of a hundred samples do not exceed (nearest rank), of single values in any order. They change
/// places, which takes no sort of all.
pub fn ranked_alone(values: &mut [u64], percent: u64) -> Option<u64> {
    let rank = (values.len() as u64 * percent).div_ceil(100).max(1) as usize;
    (rank <= values.len()).then(|| *values.select_nth_unstable(rank - 1).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_alone_rank_as_values_that_came_once() {
        let mut rng = Pcg64Mcg::new(11);
        for n in 0..200 {
            let mut values: Vec<u64> = (0..n).map(|_| rng.next_u64() % 40).collect();
            let mut counted: Vec<(u64, u64)> = values.iter().map(|&value| (value, 1)).collect();
            counted.sort_unstable();
            for percent in [0, 1, 50, 95, 99, 100] {
                assert_eq!(ranked_alone(&mut values, percent), ranked(&counted, percent), "{n} {percent}");
            }
        }
    }

    #[test]
    fn median_of_even_count_is_the_middle_mean() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn the_median_of_what_is_drawn_is_that_of_a_list() {
        let samples = [4.0, 1.0, 3.0, 3.0, -2.0, 8.5, 0.25];
        let (mut rng, ranked) = (Pcg64Mcg::new(7), Ranked::new(&samples));
        for step in 0..1_000 {
            let n = 1 + step % 9;
            let picks: Vec<usize> = (0..n).map(|_| (rng.next_u64() % 7) as usize).collect();
            let mut drawn = [0; 7];
            picks.iter().for_each(|&pick| drawn[pick] += 1);
            let list: Vec<f64> = picks.iter().map(|&pick| samples[pick]).collect();
            assert_eq!(Some(ranked.median(&drawn)), median(&list), "{list:?}");
        }
    }

    #[test]
    fn the_middle_of_many_is_that_of_their_order() {
        let mut rng = Pcg64Mcg::new(3);
        for len in (1..60).chain([1_000, 2_000]) {
            let mut samples: Vec<f64> = (0..len).map(|_| (rng.next_u64() % 97) as f64 - 40.0).collect();
            let mut sorted = samples.clone();
            sorted.sort_by(f64::total_cmp);
            let ends = (percentile_nearest(&sorted, 2.5), percentile_nearest(&sorted, 97.5));
            let (lower, upper) = middle_95(&mut samples);
            assert_eq!((Some(lower), Some(upper)), ends, "{len} samples");
        }
    }

    #[test]
    fn draws_are_shared_by_comparisons_of_as_many_runs() {
        let shared = Resamples::new(10);
        for n in [6, 9, 10, 11] {
            let base: Vec<f64> = (0..n).map(|i| 100.0 + f64::from(i)).collect();
            let new: Vec<f64> = (0..n).map(|i| 80.0 + f64::from(i * 7 % 10)).collect();
            assert_eq!(shared.change_ci95(&base, &new), paired_change_ci95(&base, &new), "{n} runs");
        }
        assert_eq!(shared.change_ci95(&[1.0; 5], &[1.0; 10]), None);
    }

    #[test]
    fn nothing_has_no_middle_and_no_mean() {
        assert_eq!((median(&[]), mean(&[]), percentile_nearest(&[], 50.0)), (None, None, None));
    }

    #[test]
    fn t_interval_matches_a_worked_example() {
        // Mean 3.5, s = 1.8708, n = 6, t = 2.571: half width 1.964.
        let (lo, hi) = mean_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("six samples");
        assert!((lo - 1.536).abs() < 1e-3 && (hi - 5.464).abs() < 1e-3, "{lo} {hi}");
    }

    #[test]
    fn fewer_than_six_samples_have_no_interval() {
        let samples: Vec<f64> = (1..=6).map(f64::from).collect();
        for n in 0..=6 {
            assert_eq!(mean_ci95(&samples[..n]).is_some(), n == 6, "{n} samples");
            assert_eq!(paired_change_ci95(&samples[..n], &samples[..n]).is_some(), n == 6, "{n} pairs");
        }
    }

    #[test]
    fn constant_ratio_has_a_point_interval() {
        let base = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let new = base.map(|x| x * 1.5);
        let (lo, hi) = paired_change_ci95(&base, &new).expect("pairs");
        assert!((lo - 50.0).abs() < 1e-9 && (hi - 50.0).abs() < 1e-9);
    }

    #[test]
    fn bootstrap_is_repeatable_and_brackets_the_change() {
        let base: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i)).collect();
        let new: Vec<f64> = (0..10).map(|i| 80.0 + f64::from(i * 7 % 10)).collect();
        let first = paired_change_ci95(&base, &new);
        assert_eq!(first, paired_change_ci95(&base, &new));
        let (lo, hi) = first.expect("pairs");
        let change = percent_change(median(&base).expect("ten"), median(&new).expect("ten")).expect("base is not 0");
        assert!(lo <= change && change <= hi, "{lo} {change} {hi}");
    }

    #[test]
    fn change_from_zero_has_no_percentage() {
        assert_eq!(percent_change(0.0, 3.0), None);
        assert_eq!(paired_change_ci95(&[0.0; 6], &[1.0; 6]), None);
    }

    #[test]
    fn draws_with_a_base_of_zero_count() {
        let some = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let (lo, hi) = paired_change_ci95(&some, &[0.0; 10]).expect("ten pairs");
        assert_eq!((lo, hi), (-100.0, 0.0), "in some draws nothing changes");
        assert_eq!(paired_change_ci95(&some, &[2.0; 10]), None, "in some draws the change has no percentage");
    }

    #[test]
    fn nearest_rank_percentiles() {
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile_nearest(&sorted, 95.0), Some(19.0));
        assert_eq!(percentile_nearest(&sorted, 0.0), Some(1.0));
        assert_eq!(percentile_nearest(&sorted, 100.0), Some(20.0));
    }
}
