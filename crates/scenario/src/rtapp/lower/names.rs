// SPDX-License-Identifier: GPL-2.0-or-later
//! Names to numbers.

use std::collections::BTreeMap;

/// Numbers names in the order they appear.
#[derive(Default)]
pub(super) struct Names {
    numbers: BTreeMap<String, u32>,
}

impl Names {
    /// The number of a name.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.count();
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Number of names.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// Names with their numbers, under the word for what they are.
    pub(super) fn list<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (String, u32, String)> + 'a {
        let mut all: Vec<_> = self.numbers.iter().collect();
        all.sort_by_key(|(_, number)| **number);
        all.into_iter().map(move |(name, number)| (kind.to_owned(), *number, name.clone()))
    }
}
