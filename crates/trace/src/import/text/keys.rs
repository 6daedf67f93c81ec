// SPDX-License-Identifier: GPL-2.0-or-later
//! The fields of an event in text: `key=value` pairs whose values may hold blanks and equal signs.

use crate::import::TraceInfo;
use crate::import::decode::{Fields, Plan};
use crate::import::spelling::{SPELLINGS, are_alternatives, columns_of, fields_of};
use crate::import::state;

use super::number::{cpu_mask, cpu_number, narrow, number};

/// Most keys of an event.
pub(super) const KEYS_MAX: usize = 16;
/// Bytes of a key that is named in a message.
const NAME_BYTES_MAX: usize = 32;
/// Sets of keys one event is prepared for at the same time.
const PLANS_MAX: usize = 8;

/// Readings of one event of a kernel in text.
pub(super) struct Keyed {
    /// Its name.
    pub name: &'static str,
    keys: Vec<Key>,
    /// Plans for lines by the keys that they have, one bit each.
    plans: Vec<(u32, Plan)>,
    /// Keys of the first line that was read: the form of the event in this file.
    form: Option<u32>,
}

struct Key {
    name: &'static str,
    /// The value is the number of a CPU.
    is_cpu: bool,
}

/// Every event of the spellings, sorted by name.
pub(super) fn events() -> Vec<Keyed> {
    let mut names: Vec<&str> = SPELLINGS.iter().flat_map(|spelling| spelling.names).copied().collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(Keyed::new).collect()
}

impl Keyed {
    fn new(name: &'static str) -> Keyed {
        let key = |name: &'static str| Key { name, is_cpu: name == "cpu_id" || name.ends_with("cpu") };
        let keys: Vec<Key> = fields_of(name).into_iter().map(key).collect();
        assert!(keys.len() <= KEYS_MAX, "{name} has too many keys");
        Keyed { name, keys, plans: Vec::new(), form: None }
    }

    /// The values in a text, and how to read them.
    pub fn line<'a>(&mut self, text: &'a [u8], info: &mut TraceInfo) -> (Values<'_, 'a>, &Plan) {
        let (found, present) = find_values(&self.keys, text);
        let known = self.plans.iter().position(|(keys, _)| *keys == present);
        let index = known.unwrap_or_else(|| self.prepare(present, info));
        (Values { keys: &self.keys, found }, &self.plans[index].1)
    }

    /// Prepares for lines with these keys; returns the place of the plan.
    #[cold]
    fn prepare(&mut self, present: u32, info: &mut TraceInfo) -> usize {
        // A column more than the first line had would be known in some events and not in others.
        let told = present & self.form.map_or(present, |form| self.with_alternatives(form));
        let place = |wanted: &str| {
            let index = self.keys.iter().position(|key| key.name == wanted)?;
            Some(index).filter(|index| told >> index & 1 == 1)
        };
        // A format with numbers does not show the version of its kernel: 64 counts as dead.
        let mut plan = Plan::new(self.name, false, place);
        match (plan.missing, self.form) {
            (Some(_), _) => {}
            (None, Some(form)) => plan.missing = self.column_key(form & !self.with_alternatives(present)),
            (None, None) => self.form = Some(present),
        }
        if plan.missing.is_none() {
            plan.declare(info);
        }
        self.plans.truncate(PLANS_MAX - 1);
        self.plans.push((present, plan));
        self.plans.len() - 1
    }
}

impl Keyed {
    /// The first of these keys that a column is read from; others name tasks and groups.
    fn column_key(&self, keys: u32) -> Option<&'static str> {
        let columns = columns_of(self.name);
        let keys = (0..).zip(&self.keys).filter(|(at, _)| keys >> at & 1 == 1);
        keys.map(|(_, key)| key.name).find(|name| columns.contains(name))
    }

    /// These keys, and the other names of the columns that are read from them.
    fn with_alternatives(&self, keys: u32) -> u32 {
        let is_one = |name: &str| {
            let there = (0..).zip(&self.keys).filter(|(at, _)| keys >> at & 1 == 1);
            there.map(|(_, key)| key.name).any(|key| are_alternatives(self.name, key, name))
        };
        let names = (0..).zip(&self.keys).filter(|(_, key)| is_one(key.name));
        names.fold(keys, |mask, (at, _)| mask | 1 << at)
    }

    /// True when a line of this event was read before.
    pub fn was_read(&self) -> bool {
        self.form.is_some()
    }
}

/// Names of all keys of a text, known or not.
pub(super) fn names_in(text: &[u8]) -> Vec<String> {
    let words = text.split(u8::is_ascii_whitespace);
    let is_name = |name: &&[u8]| name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let names = words.filter_map(|word| word.split(|&byte| byte == b'=').next().filter(|n| n.len() < word.len()));
    let names = names.filter(|name| !name.is_empty() && name.len() <= NAME_BYTES_MAX).filter(is_name);
    names.take(KEYS_MAX).map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// The values of a line by place of their keys.
pub(super) struct Values<'k, 'a> {
    keys: &'k [Key],
    found: [Option<&'a [u8]>; KEYS_MAX],
}

impl<'a> Values<'_, 'a> {
    /// Name and text of a place.
    pub fn at(&self, place: usize) -> (&'static str, &'a [u8]) {
        (self.keys[place].name, self.found[place].unwrap_or(&[]))
    }

    fn word(&self, place: usize) -> Option<&'a [u8]> {
        let text = self.found.get(place).copied().flatten()?;
        Some(&text[..text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len())])
    }
}

impl Fields for Values<'_, '_> {
    #[inline]
    fn number(&self, place: usize) -> Option<u64> {
        let value = number(self.word(place)?)?;
        if self.keys[place].is_cpu { cpu_number(value).map(u64::from) } else { Some(value) }
    }

    /// A name; empty when the recorder did not know it and wrote `<...>`.
    fn text(&self, place: usize) -> &[u8] {
        let text = self.found.get(place).copied().flatten().unwrap_or(&[]);
        if text.starts_with(b"<") && text.ends_with(b">") { &[] } else { text }
    }

    fn state(&self, place: usize, _parked: bool) -> Option<u32> {
        state::of_text(self.word(place)?)
    }

    fn cpus(&self, place: usize) -> Option<u64> {
        cpu_mask(self.word(place)?)
    }

    /// Kernels print what they have: more than 32 bits is damage.
    fn fit(found: u64) -> Option<u64> {
        narrow(found).map(u64::from)
    }
}

/// The values of the keys in a text, and which there are; a value ends where the next key begins.
fn find_values<'a>(keys: &[Key], text: &'a [u8]) -> ([Option<&'a [u8]>; KEYS_MAX], u32) {
    let (mut found, mut present) = ([None; KEYS_MAX], 0);
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        if let Some((index, length)) = key_at(keys, &text[at..]) {
            if let Some((before, from)) = open {
                found[before] = Some(text[from..at].trim_ascii_end());
            }
            present |= 1 << index;
            at += length + 1;
            open = Some((index, at));
        }
        at = memchr::memchr(b' ', &text[at..]).map_or(text.len(), |blank| at + blank + 1);
    }
    if let Some((last, from)) = open {
        found[last] = Some(text[from..].trim_ascii_end());
    }
    (found, present)
}

/// The key a text begins with, and its length.
#[inline]
fn key_at(keys: &[Key], text: &[u8]) -> Option<(usize, usize)> {
    keys.iter().enumerate().find_map(|(index, key)| {
        let length = key.name.len();
        (text.get(length) == Some(&b'=') && text.starts_with(key.name.as_bytes())).then_some((index, length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Format;

    #[test]
    fn a_name_ends_where_the_next_key_begins() {
        let mut events = events();
        let switch = events.iter_mut().find(|event| event.name == "sched_switch").expect("a switch");
        let mut info = TraceInfo::new(Format::FtraceText);
        let text = b"prev_comm=a b=c pid=3 prev_pid=7 prev_prio=1 prev_state=R ==> next_comm=x next_pid=8 next_prio=2";
        let (values, plan) = switch.line(text, &mut info);
        let of = |name: &str| values.keys.iter().position(|key| key.name == name).and_then(|place| values.found[place]);
        assert_eq!(of("prev_comm"), Some(&b"a b=c pid=3"[..]));
        assert_eq!((of("prev_pid"), of("next_pid"), of("comm")), (Some(&b"7"[..]), Some(&b"8"[..]), None));
        assert_eq!((of("prev_state"), plan.missing), (Some(&b"R ==>"[..]), None));
        assert_eq!(
            switch.line(b"prev_pid=7 prev_prio=1 prev_state=S next_prio=2", &mut info).1.missing,
            Some("next_pid")
        );
    }

    #[test]
    fn every_event_has_few_enough_keys_for_its_names_and_columns() {
        assert!(events().iter().all(|event| !event.keys.is_empty() && event.keys.len() <= KEYS_MAX));
    }

    #[test]
    fn changing_keys_do_not_grow_the_plans() {
        let mut events = events();
        let mut info = TraceInfo::new(Format::FtraceText);
        for mask in 0u32..64 {
            let keys = ["cpu=1", "pid=2", "util=3", "load=4", "runnable=5", "path=/"];
            let text = keys.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, key)| *key);
            let text = text.collect::<Vec<_>>().join(" ");
            let event = events.iter_mut().find(|event| event.name == "sched_load_se").expect("an entity");
            event.line(text.as_bytes(), &mut info);
            assert!(event.plans.len() <= PLANS_MAX);
        }
    }
}
