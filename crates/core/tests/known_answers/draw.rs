// SPDX-License-Identifier: GPL-2.0-or-later
//! Random numbers that a case is made of, from its number: the same that were given to the kernels' own code.

/// SplitMix64.
pub struct Draw(pub u64);

impl Draw {
    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// Below `n`, in 32 bits.
    pub fn small(&mut self, n: u32) -> u32 {
        self.below(n.into()) as u32
    }

    /// True in so many of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Below `n` in so many of a hundred, else 0.
    pub fn seldom(&mut self, percent: u64, n: u32) -> u32 {
        if self.chance(percent) { self.small(n) } else { 0 }
    }
}
