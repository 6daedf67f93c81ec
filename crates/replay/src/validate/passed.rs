// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequencies that a release passes over because a faster one does the same work for less, where no energy model shows
//! which these are: one below a choice, and never chosen itself, is one.

use std::collections::BTreeSet;

use pelton_core::KHZ_INEFFICIENT;

/// A domain's table with marks of those.
#[derive(Clone, Debug, Default)]
pub(super) struct PassedOver {
    khz: Vec<u32>,
    chosen: BTreeSet<u32>,
}

impl PassedOver {
    /// Frequencies in ascending order, those marked that are known, and which were chosen.
    pub(super) fn new(khz: Vec<u32>, chosen: impl IntoIterator<Item = u32>) -> PassedOver {
        PassedOver { khz, chosen: chosen.into_iter().collect() }
    }

    /// The table as the core takes it, kHz with marks.
    pub(super) fn khz(&self) -> &[u32] {
        &self.khz
    }

    /// Learns from a request for `raw_khz` that was served by `chosen_khz` where this table would have served it by
    /// `ours_khz`: true when that shows frequencies that are passed over, which are marked from here on.
    pub(super) fn learn(&mut self, raw_khz: u32, ours_khz: u32, chosen_khz: u32) -> bool {
        let passed = raw_khz..chosen_khz;
        let learns = passed.contains(&ours_khz) && self.chosen.range(passed.clone()).next().is_none();
        if learns {
            for entry in self.khz.iter_mut().filter(|entry| passed.contains(*entry)) {
                *entry |= KHZ_INEFFICIENT;
            }
        }
        self.chosen.insert(chosen_khz);
        learns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_a_choice_is_passed_over_unless_it_was_chosen() {
        let table = vec![100, 200, 300, 400];
        let mut fresh = PassedOver::new(table.clone(), []);
        assert!(fresh.learn(150, 200, 300), "200 was not taken");
        assert_eq!(fresh.khz(), [100, 200 | KHZ_INEFFICIENT, 300, 400]);
        let mut known = PassedOver::new(table.clone(), [200]);
        assert!(!known.learn(150, 200, 300), "200 is one of those that are chosen");
        assert_eq!(known.khz(), table);
        assert!(!known.learn(150, 200, 200) && !known.learn(350, 400, 300), "nothing was passed over");
    }
}
