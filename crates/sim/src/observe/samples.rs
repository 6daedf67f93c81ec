// SPDX-License-Identifier: GPL-2.0-only
//! Any number of durations in bounded memory.

use std::collections::BTreeMap;

use crate::report::Summary;

/// Up to here every sample is kept as it is, in order.
const EXACT_MAX: usize = 32_768;
/// Beyond, a sample keeps this many leading bits: it is at most 0.05 % too small.
const LEADING_BITS: u32 = 11;

/// Durations, ns. Count, sum, smallest and largest are always exact; the others are exact, and in order, up to 32 768
/// samples, and beyond that rounded down by at most 0.05 %, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    summary: Summary,
    exact: Vec<u64>,
    rounded: BTreeMap<u64, u64>,
}

impl Samples {
    /// Adds a sample.
    pub fn add(&mut self, ns: u64) {
        self.summary.add(ns);
        if !self.rounded.is_empty() {
            self.add_rounded(ns);
        } else if self.exact.len() < EXACT_MAX {
            self.exact.push(ns);
        } else {
            for ns in std::mem::take(&mut self.exact) {
                self.add_rounded(ns);
            }
            self.add_rounded(ns);
        }
    }

    fn add_rounded(&mut self, ns: u64) {
        *self.rounded.entry(leading(ns)).or_default() += 1;
    }

    /// Count, sum, smallest, largest, latest.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.summary.count
    }

    /// No samples.
    pub fn is_empty(&self) -> bool {
        self.summary.count == 0
    }

    /// Pairs of a sample and how often it came.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.exact.iter().map(|&ns| (ns, 1)).chain(self.rounded.iter().map(|(&ns, &count)| (ns, count)))
    }

    /// All samples in order; `None` when there are too many.
    pub fn exact(&self) -> Option<&[u64]> {
        self.rounded.is_empty().then_some(&self.exact)
    }
}

impl FromIterator<u64> for Samples {
    fn from_iter<I: IntoIterator<Item = u64>>(iter: I) -> Self {
        let mut samples = Samples::default();
        iter.into_iter().for_each(|ns| samples.add(ns));
        samples
    }
}

fn leading(ns: u64) -> u64 {
    let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(LEADING_BITS + 1);
    ns >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_exact_until_there_are_many() {
        let few: Samples = (0..32_768).map(|i| 1_000_003 + i).collect();
        assert_eq!(few.exact().map(<[u64]>::len), Some(32_768));
        let mut many = few.clone();
        many.add(5);
        assert_eq!((many.exact(), many.len(), many.summary().min), (None, 32_769, 5));
        assert_eq!(many.summary().sum, few.summary().sum + 5);
        assert_eq!(many.iter().map(|(_, n)| n).sum::<u64>(), 32_769);
    }

    #[test]
    fn rounding_is_small_and_memory_bounded() {
        let all: Samples = (0..2_000_000u64).map(|i| i * i).collect();
        assert!(all.rounded.len() < 80_000, "{}", all.rounded.len());
        for ns in [0, 1, 4095, 4096, 4097, 1_234_567_891, u64::MAX] {
            let kept = leading(ns);
            assert!(kept <= ns && (ns - kept) <= ns / 2048, "{ns}");
        }
    }
}
