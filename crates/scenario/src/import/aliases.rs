// SPDX-License-Identifier: GPL-2.0-or-later
//! YAML's aliases, counted before they are followed: some hundred bytes of them may stand for any number of values.

use crate::diagnostic::{Diagnostics, SourceFile};
use std::collections::BTreeMap;
use yaml_rust2::Event;
use yaml_rust2::parser::{MarkedEventReceiver, Parser};
use yaml_rust2::scanner::Marker;

/// Bytes that everything in a file may take, aliases followed.
const BYTES_MAX: u64 = 64 << 20;
/// Bytes of a value beside its text.
const VALUE_BYTES: u64 = 64;

/// Sums up what values take.
#[derive(Default)]
struct Sizes {
    /// Lists and maps that are open: anchor, bytes so far.
    open: Vec<(usize, u64)>,
    anchored: BTreeMap<usize, u64>,
    total: u64,
    /// Place at which the limit was passed.
    beyond: Option<usize>,
}

impl Sizes {
    fn add(&mut self, anchor: usize, bytes: u64, at: usize) {
        if anchor > 0 {
            self.anchored.insert(anchor, bytes);
        }
        let sum = self.open.last_mut().map_or(&mut self.total, |(_, inner)| inner);
        *sum = sum.saturating_add(bytes);
        if *sum > BYTES_MAX {
            self.beyond.get_or_insert(at);
        }
    }
}

impl MarkedEventReceiver for Sizes {
    fn on_event(&mut self, event: Event, mark: Marker) {
        match event {
            Event::Scalar(text, _, anchor, _) => self.add(anchor, VALUE_BYTES + text.len() as u64, mark.index()),
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => self.open.push((anchor, VALUE_BYTES)),
            Event::SequenceEnd | Event::MappingEnd => {
                let (anchor, bytes) = self.open.pop().unwrap_or_default();
                self.add(anchor, bytes, mark.index());
            }
            Event::Alias(anchor) => {
                let bytes = self.anchored.get(&anchor).copied().unwrap_or(VALUE_BYTES);
                self.add(0, bytes, mark.index());
            }
            _ => {}
        }
    }
}

/// Refuses a file whose aliases stand for more than fits. What is no YAML is left to the reader.
pub(super) fn check(source: &SourceFile) -> Result<(), Diagnostics> {
    let mut sizes = Sizes::default();
    let _ = Parser::new_from_str(source.text()).load(&mut sizes, true);
    let Some(at) = sizes.beyond else { return Ok(()) };
    let byte = source.text().char_indices().nth(at).map_or(source.text().len(), |(byte, _)| byte);
    let error = source.error(byte..byte, "the aliases of this file stand for too much");
    Err(error
        .allowed(format!("at most {} MiB, aliases followed", BYTES_MAX >> 20))
        .help("write the values out, without `&` and `*`")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_billion_laughs_are_refused_and_a_few_aliases_are_not() {
        let mut bomb = "a: &a [\"lol\",\"lol\",\"lol\"]\n".to_owned();
        for (before, name) in ('a'..='y').zip('b'..='z') {
            bomb += &format!("{name}: &{name} [*{before},*{before},*{before},*{before},*{before}]\n");
        }
        let refused = check(&SourceFile::new("t.yml", &bomb)).expect_err("too much");
        assert!(refused.to_string().contains("aliases of this file stand for too much"), "{refused}");
        assert!(check(&SourceFile::new("t.yml", "a: &a [1, 2]\nb: *a\nc: {x: *a}\n")).is_ok());
        assert!(check(&SourceFile::new("t.yml", "a: [1, *b")).is_ok(), "no YAML: the reader says so");
    }
}
