// SPDX-License-Identifier: GPL-2.0-or-later
//! A page of the kernel's ring buffer: a time, a length, and records with the time since the one before.

use super::format::parse_fields;

/// Lengths 1..=28 of a record are a number of words; these mean something else.
const TYPE_PADDING: u32 = 29;
const TYPE_TIME_EXTEND: u32 = 30;
const TYPE_TIME_STAMP: u32 = 31;
/// Bits of the delta in a record's head.
const DELTA_BITS: u32 = 27;
/// Bits of an absolute time; the rest come from the time before.
const STAMP_BITS: u32 = 59;
/// Bits of the commit word that are the length.
const COMMIT_LENGTH: u64 = (1 << 27) - 1;
/// The writer overran the reader before this page.
const MISSED_EVENTS: u64 = 1 << 31;
/// Flag: the number of lost records stands behind the records.
const MISSED_STORED: u64 = 1 << 30;

/// Byte order of the recording machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// An unsigned number of 1 to 8 bytes.
    #[inline]
    pub fn number(self, bytes: &[u8]) -> u64 {
        match (self, bytes.len()) {
            (Order::Little, 4) => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            (Order::Little, _) => bytes.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
            (Order::Big, _) => bytes.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte)),
        }
    }

    #[inline]
    fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self == Order::Little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) })
    }
}

/// Layout of a page, from the `header_page` of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageLayout {
    pub order: Order,
    commit: usize,
    commit_bytes: usize,
    data: usize,
}

impl PageLayout {
    /// From the text of `header_page`; what every kernel since 2.6.31 has when it says nothing.
    pub fn parse(text: &str, order: Order, long_bytes: usize) -> PageLayout {
        let fields = parse_fields(text);
        let of = |name: &str| fields.iter().find(|field| field.name == name);
        let commit = of("commit").filter(|field| matches!(field.size, 4 | 8));
        let (commit, commit_bytes) = commit.map_or((8, long_bytes), |f| (f.offset as usize, f.size as usize));
        let data = of("data").map_or(commit + commit_bytes, |field| field.offset as usize);
        PageLayout { order, commit, commit_bytes, data }
    }

    /// Least bytes of a page.
    pub fn head_bytes(&self) -> usize {
        self.data.max(self.commit + self.commit_bytes).max(8)
    }

    /// Reads the head of a page, which is whole.
    pub fn head(&self, page: &[u8]) -> Result<PageHead, &'static str> {
        let time = page.get(..8).ok_or("a page without a head")?;
        let commit = page.get(self.commit..self.commit + self.commit_bytes).ok_or("a page without a head")?;
        let commit = self.order.number(commit);
        let end = self.data + (commit & COMMIT_LENGTH) as usize;
        if end > page.len() {
            return Err("a page that says it is longer than pages are");
        }
        let lost = match (commit & MISSED_EVENTS, commit & MISSED_STORED) {
            (0, _) => None,
            (_, 0) => Some(0),
            _ => Some(page.get(end..end + self.commit_bytes).map_or(0, |bytes| self.order.number(bytes))),
        };
        Ok(PageHead { time: self.order.number(time), start: self.data, end, lost })
    }
}

/// The head of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHead {
    pub time: u64,
    /// Offset at which the records start in the page.
    pub start: usize,
    /// Offset at which they end.
    pub end: usize,
    /// Records lost before this page; 0: an unknown number.
    pub lost: Option<u64>,
}

/// Entry at a place of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A record: where its data are, and where the next entry is.
    Record { start: usize, end: usize, next: usize },
    /// Time alone; the next entry is here.
    Time { next: usize },
    /// The rest of the page is empty.
    End,
}

/// Reads the entry at `at` of `records` (a page up to its end) and moves `time`; `None` when it overruns the page.
#[inline]
pub(super) fn entry(order: Order, records: &[u8], at: usize, time: &mut u64) -> Option<Entry> {
    let head = order.word(records, at)?;
    let (kind, delta) = match order {
        Order::Little => (head & 31, head >> 5),
        Order::Big => (head >> DELTA_BITS, head & ((1 << DELTA_BITS) - 1)),
    };
    let delta = u64::from(delta);
    let first = at + 4;
    match kind {
        TYPE_PADDING if delta == 0 => Some(Entry::End),
        TYPE_PADDING => {
            let next = first + order.word(records, first)? as usize;
            *time = time.wrapping_add(delta);
            (next <= records.len() && next > first).then_some(Entry::Time { next })
        }
        TYPE_TIME_EXTEND => {
            let high = u64::from(order.word(records, first)?);
            *time = time.wrapping_add(delta | high << DELTA_BITS);
            Some(Entry::Time { next: first + 4 })
        }
        TYPE_TIME_STAMP => {
            let high = u64::from(order.word(records, first)?);
            *time = absolute(*time, delta | high << DELTA_BITS);
            Some(Entry::Time { next: first + 4 })
        }
        _ => {
            *time = time.wrapping_add(delta);
            let (start, bytes) = match kind {
                0 => (first + 4, (order.word(records, first)? as usize).checked_sub(4)?),
                words => (first, words as usize * 4),
            };
            let end = start.checked_add(bytes)?;
            let next = end.checked_next_multiple_of(4)?;
            (next <= records.len()).then_some(Entry::Record { start, end, next })
        }
    }
}

/// An absolute time has 59 bits; the rest is that of the time before, one more when it would run backwards.
fn absolute(before: u64, stamp: u64) -> u64 {
    let low = (1 << STAMP_BITS) - 1;
    let time = before & !low | stamp & low;
    if before > low && time < before { time.wrapping_add(1 << STAMP_BITS) } else { time }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_times_of_all_kinds_of_entries() {
        let word = |kind: u32, delta: u32| (kind | delta << 5).to_le_bytes();
        let mut page = Vec::new();
        page.extend(word(TYPE_TIME_EXTEND, 1));
        page.extend(2u32.to_le_bytes());
        page.extend(word(2, 10));
        page.extend([0; 8]);
        page.extend(word(0, 5));
        page.extend(10u32.to_le_bytes());
        page.extend([0; 8]);
        page.extend(word(TYPE_PADDING, 3));
        page.extend(8u32.to_le_bytes());
        page.extend([0; 4]);
        page.extend(word(TYPE_TIME_STAMP, 7));
        page.extend(1u32.to_le_bytes());
        page.extend(word(TYPE_PADDING, 0));
        let mut time = 100;
        let (mut at, mut seen) = (0, Vec::new());
        loop {
            let entry = entry(Order::Little, &page, at, &mut time).expect("well formed");
            seen.push((entry, time));
            at = match entry {
                Entry::Record { next, .. } | Entry::Time { next } => next,
                Entry::End => break,
            };
        }
        let extended = 100 + 1 + (2 << 27);
        let expected = [
            (Entry::Time { next: 8 }, extended),
            (Entry::Record { start: 12, end: 20, next: 20 }, extended + 10),
            (Entry::Record { start: 28, end: 34, next: 36 }, extended + 15),
            (Entry::Time { next: 48 }, extended + 18),
            (Entry::Time { next: 56 }, 7 + (1 << 27)),
            (Entry::End, 7 + (1 << 27)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn absolute_times_keep_their_high_bits() {
        assert_eq!(absolute(5, 3), 3);
        assert_eq!(absolute((1 << 60) + 9, 12), (1 << 60) + 12);
        assert_eq!(absolute((1 << 60) + 9, 3), (1 << 60) + (1 << 59) + 3);
    }

    #[test]
    fn entries_that_overrun_the_page_are_refused() {
        for page in [&[0u8; 3][..], &[28, 0, 0, 0, 1], &[0, 0, 0, 0, 200, 0, 0, 0], &[0, 0, 0, 0, 1, 0, 0, 0]] {
            assert_eq!(entry(Order::Little, page, 0, &mut 0), None, "{page:?}");
        }
    }

    #[test]
    fn pages_of_small_and_large_machines() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n\
                    \tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
        let layout = PageLayout::parse(text, Order::Big, 8);
        let mut page = vec![0; 64];
        page[7] = 9;
        page[8..12].copy_from_slice(&(8 | 0xc000_0000u32).to_be_bytes());
        page[20..24].copy_from_slice(&77u32.to_be_bytes());
        let head = PageHead { time: 9, start: 12, end: 20, lost: Some(77) };
        assert_eq!(layout.head(&page), Ok(head));
        page[8..12].copy_from_slice(&60u32.to_be_bytes());
        assert!(layout.head(&page).is_err());
        assert_eq!(PageLayout::parse("", Order::Little, 8).head_bytes(), 16);
    }
}
