// SPDX-License-Identifier: GPL-2.0-or-later
//! Base-128 numbers, low group first, top bit = "more follows": the integers of our own log and of protobuf.

/// Most bytes a 64-bit number takes.
pub(crate) const VARINT_BYTES_MAX: usize = 10;

/// Something bytes are appended to.
pub(crate) trait Bytes {
    /// Appends one byte.
    fn byte(&mut self, byte: u8);
    /// Appends many bytes.
    fn bytes(&mut self, bytes: &[u8]);
    /// Appends a number.
    fn number(&mut self, number: u64);
    /// Everything appended so far.
    fn appended(&mut self) -> &mut [u8];
}

impl Bytes for Vec<u8> {
    #[inline]
    fn byte(&mut self, byte: u8) {
        self.push(byte);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u64) {
        put_by_byte(self, number);
    }

    #[inline]
    fn appended(&mut self) -> &mut [u8] {
        self
    }
}

/// Room for one record. Appending to a fixed array is about twice as fast as to a vector, which must look at each byte
/// whether it has to grow.
#[derive(Debug)]
pub(crate) struct Record {
    bytes: [u8; RECORD_BYTES_MAX],
    length: usize,
}

/// More than any event takes: `COLUMNS_MAX` numbers of the longest kind.
const RECORD_BYTES_MAX: usize = 1024;

impl Record {
    pub fn new() -> Self {
        Record { bytes: [0; RECORD_BYTES_MAX], length: 0 }
    }

    /// Starts over.
    #[inline]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Appends the first `length` of 16 bytes: one move of fixed size instead of a copy that depends on the length.
    #[inline]
    pub fn part_of_16(&mut self, bytes: &[u8; 16], length: usize) {
        self.bytes[self.length..self.length + 16].copy_from_slice(bytes);
        self.length += length;
    }

    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Bytes for Record {
    #[inline]
    fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Short numbers first: most are. Others without a branch on their length: eight bytes are written, as many are
    /// kept as the number has. Inlined always, because half of all numbers are tags, whose bytes the compiler then
    /// knows.
    #[inline(always)]
    fn number(&mut self, number: u64) {
        if number < 0x80 {
            return self.byte(number as u8);
        }
        if number >> 56 != 0 {
            return put_by_byte(self, number);
        }
        let (bytes, length) = spread(number);
        self.bytes[self.length..self.length + 8].copy_from_slice(&bytes.to_le_bytes());
        self.length += length;
    }

    #[inline]
    fn appended(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

/// The groups of a number below 2^56 as the bytes of one word, low group first, and how many there are.
#[inline]
fn spread(number: u64) -> (u64, usize) {
    let by_28 = number & 0x0fff_ffff | (number & 0x00ff_ffff_f000_0000) << 4;
    let by_14 = by_28 & 0x3fff_0000_3fff | (by_28 & 0x0fff_c000_0fff_c000) << 2;
    let by_7 = by_14 & 0x007f_007f_007f_007f | (by_14 & 0x3f80_3f80_3f80_3f80) << 1;
    let length = 8 - (by_7 | 1).leading_zeros() as usize / 8;
    let follows = 0x8080_8080_8080_8080u64 & ((1 << (8 * (length - 1))) - 1);
    (by_7 | follows, length)
}

/// Appends `value`.
#[inline(always)]
pub(crate) fn put(out: &mut impl Bytes, value: u64) {
    out.number(value);
}

fn put_by_byte(out: &mut impl Bytes, mut value: u64) {
    while value >= 0x80 {
        out.byte(value as u8 | 0x80);
        value >>= 7;
    }
    out.byte(value as u8);
}

/// Takes a number off the front of `input`; `None` when it does not end within the input or exceeds 64 bits.
#[inline]
pub(crate) fn take(input: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = input.split_first()?;
    if first < 0x80 {
        *input = rest;
        return Some(u64::from(first));
    }
    // Numbers that end within eight bytes without a branch on their length, as they are written.
    let word = input.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    match word.map(|word| (word, !word & 0x8080_8080_8080_8080)) {
        Some((word, ends)) if ends != 0 => {
            *input = &input[ends.trailing_zeros() as usize / 8 + 1..];
            Some(gather(word & (ends ^ (ends - 1))))
        }
        _ => take_long(input),
    }
}

/// The number whose groups are the low seven bits of these bytes.
#[inline]
fn gather(bytes: u64) -> u64 {
    let by_7 = bytes & 0x7f7f_7f7f_7f7f_7f7f;
    let by_14 = by_7 & 0x007f_007f_007f_007f | (by_7 & 0x7f00_7f00_7f00_7f00) >> 1;
    let by_28 = by_14 & 0x3fff_0000_3fff | (by_14 & 0x3fff_0000_3fff_0000) >> 2;
    by_28 & 0x0fff_ffff | (by_28 & 0x0fff_ffff_0000_0000) >> 4
}

#[cold]
fn take_long(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (index, &byte) in input.iter().take(VARINT_BYTES_MAX).enumerate() {
        let group = u64::from(byte & 0x7f);
        if index == VARINT_BYTES_MAX - 1 && byte > 1 {
            return None;
        }
        value |= group << (7 * index);
        if byte < 0x80 {
            *input = &input[index + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, value);
        out
    }

    #[test]
    fn lengths_change_at_powers_of_128() {
        for (value, bytes) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, VARINT_BYTES_MAX)] {
            assert_eq!(encoded(value).len(), bytes, "{value}");
        }
    }

    #[test]
    fn unfinished_and_oversized_numbers_are_refused() {
        assert_eq!(take(&mut &[][..]), None);
        assert_eq!(take(&mut &[0x80, 0x80][..]), None);
        let mut oversized = [0xff; VARINT_BYTES_MAX];
        oversized[VARINT_BYTES_MAX - 1] = 2;
        assert_eq!(take(&mut &oversized[..]), None);
    }

    proptest! {
        #[test]
        fn every_number_comes_back(value: u64, shift in 0u32..64, tail: Vec<u8>) {
            let value = value >> shift;
            let mut bytes = encoded(value);
            bytes.extend(&tail);
            let mut record = Record::new();
            put(&mut record, value);
            prop_assert_eq!(record.as_bytes(), &encoded(value));
            let mut input = &bytes[..];
            prop_assert_eq!(take(&mut input), Some(value));
            prop_assert_eq!(input, &tail[..]);
        }
    }
}
