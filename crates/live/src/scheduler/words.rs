// SPDX-License-Identifier: GPL-2.0-or-later
//! Words that the kernel's side and this one share: names from the lists of `bpf/live.h`, values from maps.

use libbpf_rs::{MapCore, MapFlags, Object};

use crate::placements::{names, words};

const LISTS: &str = include_str!("../bpf/live.h");

/// A list of words.
#[derive(Debug)]
pub(super) struct List {
    pub names: Vec<&'static str>,
}

impl List {
    pub fn new(list: &str) -> List {
        List::in_text(LISTS, list)
    }

    /// A list of another header.
    pub fn in_text(lists: &'static str, list: &str) -> List {
        List { names: names(lists, list) }
    }

    pub fn place(&self, name: &str) -> usize {
        self.names.iter().position(|known| *known == name).expect("a word of the list")
    }

    /// The words, each given by its name; those that are not named are 0.
    pub fn filled(&self, values: &[(&str, u64)]) -> Vec<u64> {
        let mut all = vec![0; self.names.len()];
        values.iter().for_each(|(name, value)| all[self.place(name)] = *value);
        all
    }

    /// The value of a word.
    pub fn of(&self, words: &[u64], name: &str) -> u64 {
        words.get(self.place(name)).copied().unwrap_or(0)
    }
}

pub(super) fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// A section of the program; empty when the kernel does not show it.
pub(super) fn section_bytes(object: &Object, name: &str) -> Vec<u8> {
    let map = object.maps().find(|map| map.name() == name);
    map.and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten()).unwrap_or_default()
}

/// All words of a section.
pub(super) fn section(object: &Object, name: &str) -> Vec<u64> {
    words(&section_bytes(object, name))
}

/// Writes a section, where the program has it.
pub(super) fn write_section(object: &Object, name: &str, bytes: &[u8]) -> libbpf_rs::Result<()> {
    let map = object.maps().find(|map| map.name() == name);
    map.map_or(Ok(()), |map| map.update(&0u32.to_ne_bytes(), bytes, MapFlags::ANY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_words_of_the_header() {
        let settings = List::new("LIVE_SETTINGS");
        assert_eq!((settings.names[0], settings.names[settings.names.len() - 1]), ("nr_cpus", "record"));
        let words = settings.filled(&[("tick_ns", 4), ("smt", 1)]);
        assert_eq!((settings.of(&words, "tick_ns"), settings.of(&words, "smt"), words[0]), (4, 1, 0));
        for list in ["LIVE_SETUP", "LIVE_COUNTS", "LIVE_TERMS"] {
            assert!(List::new(list).names.len() > 8, "{list}");
        }
    }
}
