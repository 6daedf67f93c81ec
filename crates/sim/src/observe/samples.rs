// SPDX-License-Identifier: GPL-2.0-or-later
//! Any number of durations in bounded memory.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::report::Summary;

/// Up to here every sample is kept as it is, in order.
const EXACT_MAX: usize = 32_768;
/// Beyond, a sample keeps this many leading bits: it is at most 0.05 % too small.
const LEADING_BITS: u32 = 11;

/// Exact samples of all tasks of a run together: up to 128 tasks each may keep as many as one alone.
const EXACT_TOTAL: usize = 1 << 22;
/// Rounded samples of all tasks of a run with more than 128.
const ROUNDED_TOTAL: usize = 1 << 22;
/// Least number of samples that each task keeps, however many tasks there are.
const KEPT_MIN: usize = 64;
/// Fewest leading bits that are kept when there is no room for more.
const LEADING_BITS_MIN: u32 = 2;

/// Durations, ns. Count, sum, smallest and largest are always exact; the others are exact, and in order, up to 32 768
/// samples, and beyond that rounded down by at most 0.05 %, in ascending order. Tasks of a run with more than 128 share
/// the room of 128: they keep fewer, and round more where values are many (`Samples::sharing`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    summary: Summary,
    exact: Vec<u64>,
    rounded: BTreeMap<u64, u64>,
    exact_max: u32,
    rounded_max: u32,
    bits: u32,
}

impl Default for Samples {
    fn default() -> Self {
        Samples {
            summary: Summary::default(),
            exact: Vec::new(),
            rounded: BTreeMap::new(),
            exact_max: EXACT_MAX as u32,
            rounded_max: u32::MAX,
            bits: LEADING_BITS,
        }
    }
}

impl Samples {
    /// Of one of so many tasks, which share their memory.
    pub fn sharing(tasks: usize) -> Samples {
        let whole = Samples::default();
        if tasks <= EXACT_TOTAL / EXACT_MAX {
            return whole;
        }
        let part = |total: usize| (total / tasks).max(KEPT_MIN) as u32;
        Samples { exact_max: part(EXACT_TOTAL), rounded_max: part(ROUNDED_TOTAL), ..whole }
    }

    /// Adds a sample.
    pub fn add(&mut self, ns: u64) {
        self.summary.add(ns);
        if !self.rounded.is_empty() {
            self.add_rounded(ns);
        } else if self.exact.len() < self.exact_max as usize {
            self.exact.push(ns);
        } else {
            for ns in std::mem::take(&mut self.exact) {
                self.add_rounded(ns);
            }
            self.add_rounded(ns);
        }
    }

    fn add_rounded(&mut self, ns: u64) {
        *self.rounded.entry(leading(ns, self.bits)).or_default() += 1;
        while self.rounded.len() > self.rounded_max as usize && self.bits > LEADING_BITS_MIN {
            self.bits -= 1;
            for (ns, count) in std::mem::take(&mut self.rounded) {
                *self.rounded.entry(leading(ns, self.bits)).or_default() += count;
            }
        }
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

/// Samples are a summary, and the samples kept beside it.
impl Deref for Samples {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}

impl FromIterator<u64> for Samples {
    fn from_iter<I: IntoIterator<Item = u64>>(iter: I) -> Self {
        let mut samples = Samples::default();
        iter.into_iter().for_each(|ns| samples.add(ns));
        samples
    }
}

fn leading(ns: u64, bits: u32) -> u64 {
    let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(bits + 1);
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

    /// Ten thousand tasks with samples over five decades keep at most 140 MiB together, and say their numbers to within
    /// a sixteenth; samples over two octaves, as tasks have them, to within a hundredth.
    #[test]
    fn many_tasks_share_their_memory() {
        assert_eq!(Samples::sharing(128), Samples::default(), "runs of up to 128 tasks are as they were");
        let mut one = Samples::sharing(10_000);
        let sample = |i: u64| 10_000 + (i * 2_654_435_761) % 1_000_000_000;
        let mut all: Vec<u64> = (0..200_000).map(sample).collect();
        let mut most = 0;
        for &ns in &all {
            one.add(ns);
            most = most.max(one.exact.capacity() * 8 + one.rounded.len() * 32);
        }
        assert!(most * 10_000 <= 140 << 20, "{most} bytes");
        assert_eq!((one.len(), one.summary().sum), (200_000, all.iter().sum()));
        all.sort_unstable();
        let (mut seen, mut median) = (0, 0);
        for (ns, count) in one.iter() {
            median = if seen < 100_000 { ns } else { median };
            seen += count;
        }
        assert!(median <= all[100_000] && all[100_000] - median <= all[100_000] / 16, "{median} {}", all[100_000]);
        let mut usual = Samples::sharing(10_000);
        (0..100_000u64).for_each(|i| usual.add(5_000_000 + (i * 2_654_435_761) % 15_000_000));
        assert!(usual.bits >= 7, "{} leading bits", usual.bits);
    }

    #[test]
    fn rounding_is_small_and_memory_bounded() {
        let all: Samples = (0..2_000_000u64).map(|i| i * i).collect();
        assert!(all.rounded.len() < 80_000, "{}", all.rounded.len());
        for ns in [0, 1, 4095, 4096, 4097, 1_234_567_891, u64::MAX] {
            let kept = leading(ns, LEADING_BITS);
            assert!(kept <= ns && (ns - kept) <= ns / 2048, "{ns}");
        }
    }
}
