// SPDX-License-Identifier: GPL-2.0-only
//! Statistics over repetitions: medians, 95 % confidence, percentiles.
//!
//! Everything is a pure function of its arguments: the bootstrap draws from a generator with a fixed seed, so a result
//! depends on the samples alone.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Resamples of one bootstrap; the 2.5 and 97.5 % ends then rest on 50 samples each.
const BOOTSTRAP_RESAMPLES: usize = 2000;

/// Fewest samples with an interval. That all of n equal chances fall on one side happens in 2 of 2^n cases: 6.3 % with
/// five, 3.1 % with six, so that six is where 95 % can be said of anything.
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
/// `None` below [`SAMPLES_FOR_CI95`] pairs.
pub fn paired_change_ci95(base: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    let n = base.len().min(new.len());
    if n < SAMPLES_FOR_CI95 {
        return None;
    }
    let mut rng = Pcg64Mcg::new(0xcafe_f00d_d15e_a5e5);
    let (mut base, mut new) = (Ranked::new(&base[..n]), Ranked::new(&new[..n]));
    let mut changes: Vec<f64> =
        (0..BOOTSTRAP_RESAMPLES).filter_map(|_| resampled_change(&mut rng, &mut base, &mut new, n)).collect();
    if changes.len() < BOOTSTRAP_RESAMPLES / 2 {
        return None;
    }
    changes.sort_unstable_by(f64::total_cmp);
    Some((percentile_nearest(&changes, 2.5)?, percentile_nearest(&changes, 97.5)?))
}

fn resampled_change(rng: &mut Pcg64Mcg, base: &mut Ranked, new: &mut Ranked, n: usize) -> Option<f64> {
    for _ in 0..n {
        let pick = (rng.next_u64() % n as u64) as usize;
        base.pick(pick);
        new.pick(pick);
    }
    percent_change(base.take_median(n), new.take_median(n))
}

/// Samples in order, and how often each was drawn: the median of what was drawn takes no sort.
struct Ranked {
    sorted: Vec<f64>,
    /// Place of each sample in that order.
    rank: Vec<usize>,
    drawn: Vec<usize>,
}

impl Ranked {
    fn new(samples: &[f64]) -> Ranked {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_by(|&a, &b| samples[a].total_cmp(&samples[b]));
        let mut rank = vec![0; samples.len()];
        order.iter().enumerate().for_each(|(place, &sample)| rank[sample] = place);
        Ranked { sorted: order.iter().map(|&i| samples[i]).collect(), rank, drawn: vec![0; samples.len()] }
    }

    fn pick(&mut self, sample: usize) {
        self.drawn[self.rank[sample]] += 1;
    }

    /// The median of the `n` samples that were drawn, at least one; nothing is drawn afterwards.
    fn take_median(&mut self, n: usize) -> f64 {
        let (mut before, mut lower) = (0, None);
        let mut median = 0.0;
        for (sample, drawn) in self.sorted.iter().zip(&mut self.drawn) {
            let upto = before + std::mem::take(drawn);
            // The two middle ones, which are one when their number is odd.
            if lower.is_none() && upto > (n - 1) / 2 {
                lower = Some(*sample);
            }
            if before <= n / 2 && upto > n / 2 {
                median = if n % 2 == 1 { *sample } else { f64::midpoint(lower.unwrap_or(*sample), *sample) };
            }
            before = upto;
        }
        median
    }
}

/// Nearest-rank percentile of ascending samples: the smallest value that at least `pct` percent do not exceed;
/// `None` for no samples.
pub fn percentile_nearest(sorted: &[f64], pct: f64) -> Option<f64> {
    let rank = (pct / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_even_count_is_the_middle_mean() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn the_median_of_what_is_drawn_is_that_of_a_list() {
        let samples = [4.0, 1.0, 3.0, 3.0, -2.0, 8.5, 0.25];
        let (mut rng, mut ranked) = (Pcg64Mcg::new(7), Ranked::new(&samples));
        for step in 0..1_000 {
            let n = 1 + step % 9;
            let picks: Vec<usize> = (0..n).map(|_| (rng.next_u64() % 7) as usize).collect();
            picks.iter().for_each(|&pick| ranked.pick(pick));
            let list: Vec<f64> = picks.iter().map(|&pick| samples[pick]).collect();
            assert_eq!(Some(ranked.take_median(n)), median(&list), "{list:?}");
        }
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
    fn nearest_rank_percentiles() {
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile_nearest(&sorted, 95.0), Some(19.0));
        assert_eq!(percentile_nearest(&sorted, 0.0), Some(1.0));
        assert_eq!(percentile_nearest(&sorted, 100.0), Some(20.0));
    }
}
