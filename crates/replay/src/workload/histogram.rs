// SPDX-License-Identifier: GPL-2.0-or-later
//! Waiting times in bounded memory: count, sum and maximum are exact, quantiles good to about 3 %.

use std::collections::BTreeMap;

/// Buckets per power of two, as a power of two.
const STEPS_SHIFT: u32 = 5;

/// Times, ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    count: u64,
    sum_ns: u128,
    max_ns: u64,
    buckets: BTreeMap<u32, u64>,
}

impl Histogram {
    /// Adds one time.
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
        *self.buckets.entry(bucket(ns)).or_default() += 1;
    }

    /// Adds all times of another.
    pub fn merge(&mut self, other: &Histogram) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        for (&bucket, &n) in &other.buckets {
            *self.buckets.entry(bucket).or_default() += n;
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The mean; 0 when there is none.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// The time that `percent` of all do not exceed (the upper end of its bucket, at most the maximum).
    pub fn quantile_ns(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        for (&bucket, &n) in &self.buckets {
            seen += u128::from(n);
            if seen >= rank {
                return upper_ns(bucket).min(self.max_ns);
            }
        }
        self.max_ns
    }
}

/// Number of the bucket: exact below 2^STEPS_SHIFT, then that many per power of two.
fn bucket(ns: u64) -> u32 {
    let bits = u64::BITS - ns.leading_zeros();
    if bits <= STEPS_SHIFT {
        return ns as u32;
    }
    let shift = bits - STEPS_SHIFT - 1;
    ((shift + 1) << STEPS_SHIFT) + ((ns >> shift) as u32 & ((1 << STEPS_SHIFT) - 1))
}

/// Largest time of a bucket.
fn upper_ns(bucket: u32) -> u64 {
    let octave = bucket >> STEPS_SHIFT;
    if octave == 0 {
        return u64::from(bucket);
    }
    let step = u64::from(bucket & ((1 << STEPS_SHIFT) - 1)) + (1 << STEPS_SHIFT);
    // The last bucket of all ends where u64 ends.
    (u128::from(step + 1) << (octave - 1)).saturating_sub(1).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_its_bucket_within_a_32nd() {
        for shift in 0..64 {
            for ns in [1u64 << shift, (1 << shift) + (1 << shift) / 3, (1u64 << shift).wrapping_sub(1)] {
                let upper = upper_ns(bucket(ns));
                assert!(upper >= ns && upper - ns <= ns / 32 + 1, "{ns}: {upper}");
            }
        }
        assert_eq!(upper_ns(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_count_from_below() {
        let mut h = Histogram::default();
        (1..=20).for_each(|ns| h.add(ns));
        assert_eq!((h.count(), h.max_ns(), h.quantile_ns(50), h.quantile_ns(95)), (20, 20, 10, 19));
        assert!((h.mean_ns() - 10.5).abs() < 1e-9);
        let mut both = h.clone();
        both.merge(&h);
        assert_eq!((both.count(), both.quantile_ns(95)), (40, 19));
        assert_eq!(Histogram::default().quantile_ns(95), 0);
    }
}
