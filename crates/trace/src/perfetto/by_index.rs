// SPDX-License-Identifier: GPL-2.0-or-later
//! A table by CPU, task or domain number: direct for the numbers of the header, sorted for any others.

use std::collections::BTreeMap;

/// Entries by number. Numbers beyond the header (forked tasks) cost memory per entry, not per number.
#[derive(Debug, Default)]
pub(super) struct ByIndex<T> {
    dense: Vec<T>,
    others: BTreeMap<u32, T>,
}

impl<T> ByIndex<T> {
    /// A table whose numbers `0..dense.len()` are `dense`.
    pub fn new(dense: Vec<T>) -> Self {
        ByIndex { dense, others: BTreeMap::new() }
    }

    /// The entry of `index`, made when it is not there yet.
    #[inline]
    pub fn entry(&mut self, index: u32, make: impl FnOnce() -> T) -> &mut T {
        match self.dense.get_mut(index as usize) {
            Some(entry) => entry,
            None => self.others.entry(index).or_insert_with(make),
        }
    }

    /// Every entry in order of its number.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let dense = self.dense.iter_mut().enumerate().map(|(index, entry)| (index as u32, entry));
        dense.chain(self.others.iter_mut().map(|(&index, entry)| (index, entry)))
    }
}
