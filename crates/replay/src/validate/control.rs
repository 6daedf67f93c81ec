// SPDX-License-Identifier: GPL-2.0-or-later
//! Weight of a class as a proof: the search that explained a state is asked about states that never were.
//!
//! A search with many hypotheses can explain anything. Each state that only a class explains is changed at random, a
//! few times, and the same search is made again. The share it explains then is the chance that it would not have
//! noticed an error of that kind; a class whose share is high has decided nothing.

use std::collections::BTreeMap;
use std::ops::Range;

use pelton_core::Avg;

use super::report::{Challenge, Report};

/// States per class that are changed.
const STATES_MAX: u64 = 64;
/// Changes per state.
const CHANGES: u32 = 6;
/// Largest change of a sum, as a power of two: 1024 units of 1024, one period of running.
const SUM_BITS: u32 = 20;
/// Largest change of an average, as a power of two.
const AVERAGE_BITS: u32 = 6;

/// A fixed sequence of numbers (splitmix64), so that two runs say the same.
#[derive(Debug, Default)]
pub struct Random(u64);

impl Random {
    /// The next one.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A value that is off by a number of so many bits, every order of magnitude alike.
    pub fn off(&mut self, value: u64, bits: Range<u32>) -> u64 {
        let magnitude = u64::from(bits.start) + self.next() % u64::from(bits.end - bits.start);
        let by = (1 << magnitude) + self.next() % (1 << magnitude);
        if self.next().is_multiple_of(2) { value.saturating_add(by) } else { value.saturating_sub(by) }
    }
}

/// Changed states asked about so far.
#[derive(Debug, Default)]
pub struct Control {
    classes: BTreeMap<&'static str, Challenge>,
    random: Random,
}

impl Control {
    /// Asks about changed versions of a state which the class explained.
    pub fn challenge(&mut self, class: &'static str, avg: &Avg, explained: impl Fn(&Avg) -> bool) {
        if class.is_empty() || self.classes.get(class).is_some_and(|c| c.states >= STATES_MAX) {
            return;
        }
        let mut asked = Challenge { states: 1, ..Challenge::default() };
        for _ in 0..CHANGES {
            let changed = self.changed(avg);
            if changed != *avg {
                asked.asked += 1;
                asked.explained += u64::from(explained(&changed));
            }
        }
        let sum = self.classes.entry(class).or_default();
        sum.states += asked.states;
        sum.asked += asked.asked;
        sum.explained += asked.explained;
    }

    /// The results.
    pub fn finish(&mut self, report: &mut Report) {
        report.challenges = std::mem::take(&mut self.classes);
    }

    fn changed(&mut self, avg: &Avg) -> Avg {
        let mut changed = *avg;
        let field = self.random.next() % 7;
        if matches!(field, 0 | 6) {
            changed.util_sum = u32::try_from(self.random.off(avg.util_sum.into(), 0..SUM_BITS)).unwrap_or(u32::MAX);
        }
        if matches!(field, 1 | 6) {
            changed.runnable_sum = self.random.off(avg.runnable_sum, 0..SUM_BITS);
        }
        if matches!(field, 2 | 6) {
            changed.load_sum = self.random.off(avg.load_sum, 0..SUM_BITS - 10);
        }
        match field {
            3 => changed.util_avg = self.random.off(avg.util_avg, 0..AVERAGE_BITS),
            4 => changed.runnable_avg = self.random.off(avg.runnable_avg, 0..AVERAGE_BITS),
            5 => changed.load_avg = self.random.off(avg.load_avg, 0..AVERAGE_BITS),
            _ => {}
        }
        changed
    }
}
