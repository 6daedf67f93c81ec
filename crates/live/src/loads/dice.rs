// SPDX-License-Identifier: GPL-2.0-or-later
//! Chance that is the same in each run.

/// Numbers that look like chance and are the same in each run (xorshift); not 0.
pub(super) struct Dice(pub u64);

impl Dice {
    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// True in one of `n` cases.
    pub fn one_of(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
