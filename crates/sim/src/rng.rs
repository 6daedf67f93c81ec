// SPDX-License-Identifier: GPL-2.0-only
//! The run's only source of randomness: a seeded PCG owned by the run, split by purpose so that one consumer drawing
//! more numbers does not change what another sees.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Seeded generator.
#[derive(Clone, Debug)]
pub(crate) struct RunRng(Pcg64Mcg);

impl RunRng {
    /// Generator for one purpose of one run.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..].copy_from_slice(&purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
        let mut rng = Pcg64Mcg::from_seed(bytes);
        // MCG states that differ in few bits start out correlated; a few steps separate them.
        for _ in 0..8 {
            rng.next_u64();
        }
        RunRng(rng)
    }

    /// Uniform in `0..=max`.
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * (u128::from(max) + 1);
        (wide >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers_other_seed_other_numbers() {
        let draw = |seed| {
            let mut r = RunRng::new(seed, 1);
            (0..4).map(|_| r.up_to(1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn stays_in_range() {
        let mut r = RunRng::new(1, 1);
        assert!((0..1000).all(|_| r.up_to(3) <= 3));
        assert_eq!(r.up_to(0), 0);
    }
}
