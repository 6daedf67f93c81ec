// SPDX-License-Identifier: GPL-2.0-or-later
//! The run's only source of randomness: a seeded PCG owned by the run, split by purpose so that one consumer drawing
//! more numbers does not change what another sees.
//!
//! A multiplicative PCG forces the lowest bit of its state to one, so that seeds 2k and 2k + 1 would be one run. This
//! one has an increment, which makes every state different, and its state is the seed spread over 128 bits.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// Seeded generator.
#[derive(Clone, Debug)]
pub(crate) struct RunRng(Pcg64);

impl RunRng {
    /// Generator for one purpose of one run.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut counter = seed;
        let (high, low) = (split_mix(&mut counter), split_mix(&mut counter));
        RunRng(Pcg64::new(u128::from(high) << 64 | u128::from(low), u128::from(purpose)))
    }

    /// Uniform in `0..=max`.
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * (u128::from(max) + 1);
        (wide >> 64) as u64
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): a one-to-one map of the counter, so different seeds stay different.
fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *counter;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn draw(seed: u64, purpose: u64) -> Vec<u64> {
        let mut r = RunRng::new(seed, purpose);
        (0..4).map(|_| r.up_to(1_000_000)).collect()
    }

    #[test]
    fn same_seed_same_numbers_other_seed_other_numbers() {
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(8, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
    }

    #[test]
    fn neighbouring_seeds_draw_different_numbers() {
        for seed in (0..1000).chain([u64::MAX - 1]) {
            assert_ne!(draw(seed, 0), draw(seed + 1, 0), "seeds {seed} and {}", seed + 1);
        }
    }

    #[test]
    fn a_thousand_seeds_are_a_thousand_streams() {
        let streams: BTreeSet<Vec<u64>> = (0..1000).map(|seed| draw(seed, 0)).collect();
        assert_eq!(streams.len(), 1000);
        let first: BTreeSet<u64> = (0..1000).map(|seed| RunRng::new(seed, 0).up_to(u64::MAX)).collect();
        assert_eq!(first.len(), 1000, "the first number already tells seeds apart");
    }

    #[test]
    fn the_first_numbers_of_neighbouring_seeds_are_spread_evenly() {
        let mut of_sixteen = [0; 16];
        (0..16_000).for_each(|seed| of_sixteen[RunRng::new(seed, 0).up_to(15) as usize] += 1);
        // 1000 +- 31 each (one standard deviation of a fair draw).
        assert!(of_sixteen.iter().all(|n| (850..1150).contains(n)), "{of_sixteen:?}");
    }

    #[test]
    fn the_numbers_are_the_same_on_every_machine() {
        // Worked out with a second program from the definitions of SplitMix64 and of PCG-XSL-RR-128/64 (stream 0).
        assert_eq!(draw(1, 0), [231_851, 425_523, 242_399, 148_736]);
        let mut counter = 0;
        // First number of SplitMix64 from 0, as in its authors' and others' test vectors.
        assert_eq!(split_mix(&mut counter), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn stays_in_range() {
        let mut r = RunRng::new(1, 1);
        assert!((0..1000).all(|_| r.up_to(3) <= 3));
        assert_eq!(r.up_to(0), 0);
    }
}
