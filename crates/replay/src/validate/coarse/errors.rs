// SPDX-License-Identifier: GPL-2.0-or-later
//! Errors of one comparison, as a histogram: whole capacity units, of any number of samples.

use crate::validate::report::Comparison;
use crate::validate::tolerance::{FULL_SCALE, Tolerance};

/// Errors from here on are counted together; their largest is kept.
const UNITS: usize = 4096;

/// Absolute errors.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    count: Vec<u64>,
    n: u64,
    sum: u64,
    max: u64,
}

impl Errors {
    /// One sample.
    pub fn add(&mut self, ours: u64, recorded: u64) {
        let error = ours.abs_diff(recorded);
        if self.count.is_empty() {
            self.count = vec![0; UNITS];
        }
        self.count[usize::try_from(error).unwrap_or(UNITS).min(UNITS - 1)] += 1;
        self.n += 1;
        self.sum = self.sum.saturating_add(error);
        self.max = self.max.max(error);
    }

    /// Samples.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The smallest error that 99 of 100 samples do not exceed.
    fn p99(&self) -> u64 {
        let enough = self.n - self.n / 100;
        let mut seen = 0;
        let at = self.count.iter().position(|count| {
            seen += count;
            seen >= enough
        });
        at.map_or(0, |at| if at == UNITS - 1 { self.max } else { at as u64 })
    }

    /// The result; `None` when there are too few samples to prove anything.
    pub fn comparison(&self, what: String, tolerance: &Tolerance) -> Option<Comparison> {
        if self.n < tolerance.samples_min.max(1) {
            return None;
        }
        let mean_milli = self.sum.saturating_mul(1000) / self.n;
        let inside = mean_milli <= tolerance.mean_permille * FULL_SCALE
            && Tolerance::permille(self.max) <= tolerance.max_permille;
        Some(Comparison { what, n: self.n, mean_milli, p99: self.p99(), max: self.max, ok: inside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tolerance::AVERAGES;

    fn errors(of: impl IntoIterator<Item = u64>) -> Errors {
        let mut errors = Errors::default();
        of.into_iter().for_each(|e| errors.add(e, 0));
        errors
    }

    #[test]
    fn mean_percentile_and_maximum_are_those_of_the_samples() {
        let c = errors(1..=100).comparison(String::new(), &AVERAGES).expect("100 samples");
        assert_eq!((c.n, c.mean_milli, c.p99, c.max), (100, 50_500, 99, 100));
    }

    #[test]
    fn both_bars_must_hold_and_few_samples_prove_nothing() {
        let ok = |e: &Errors| e.comparison(String::new(), &AVERAGES).map(|c| c.ok);
        assert_eq!(ok(&errors([20; 50])), Some(true));
        assert_eq!(ok(&errors([21; 50])), Some(false), "mean above 2 %");
        assert_eq!(ok(&errors((0..50).map(|i| if i == 0 { 53 } else { 0 }))), Some(false), "one above 5 %");
        assert_eq!(ok(&errors([0; 49])), None);
        assert_eq!(errors([1 << 40; 50]).comparison(String::new(), &AVERAGES).map(|c| c.p99), Some(1 << 40));
    }
}
