// SPDX-License-Identifier: GPL-2.0-only
//! Base-128 numbers, low group first, top bit = "more follows": the integers of our own log and of protobuf.

/// Most bytes a 64-bit number takes.
pub(crate) const VARINT_BYTES_MAX: usize = 10;

/// Appends `value`.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number off the front of `input`; `None` when it does not end within the input or exceeds 64 bits.
#[inline]
pub(crate) fn take(input: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = input.split_first()?;
    if first < 0x80 {
        *input = rest;
        return Some(u64::from(first));
    }
    take_long(input)
}

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
            let mut input = &bytes[..];
            prop_assert_eq!(take(&mut input), Some(value));
            prop_assert_eq!(input, &tail[..]);
        }
    }
}
