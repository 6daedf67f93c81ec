// SPDX-License-Identifier: GPL-2.0-or-later
//! The protobuf wire format: tags, numbers, length-prefixed bytes.

use crate::varint::{self, Bytes};

const WIRE_VARINT: u64 = 0;
const WIRE_FIXED64: u64 = 1;
const WIRE_BYTES: u64 = 2;
const WIRE_FIXED32: u64 = 5;

/// Appends an unsigned number.
#[inline]
pub(crate) fn put_uint(out: &mut impl Bytes, field: u32, value: u64) {
    varint::put(out, u64::from(field) << 3 | WIRE_VARINT);
    varint::put(out, value);
}

/// Appends an `int32` or `int64`: negative numbers are 64-bit two's complement.
#[inline]
pub(crate) fn put_int(out: &mut impl Bytes, field: u32, value: i64) {
    put_uint(out, field, value.cast_unsigned());
}

/// Appends bytes, text or a finished message.
#[inline]
pub(crate) fn put_bytes(out: &mut impl Bytes, field: u32, bytes: &[u8]) {
    put_bytes_head(out, field, bytes.len());
    out.bytes(bytes);
}

/// Appends tag and length of a field whose bytes follow.
#[inline]
pub(crate) fn put_bytes_head(out: &mut impl Bytes, field: u32, length: usize) {
    varint::put(out, u64::from(field) << 3 | WIRE_BYTES);
    varint::put(out, length as u64);
}

/// Appends a message of at most 127 bytes, written in place.
#[inline]
pub(crate) fn put_short<B: Bytes>(out: &mut B, field: u32, fill: impl FnOnce(&mut B)) {
    put_bytes_head(out, field, 0);
    let start = out.appended().len();
    fill(out);
    let appended = out.appended();
    let length = appended.len() - start;
    debug_assert!(length < 0x80, "field {field} has {length} bytes");
    appended[start - 1] = length as u8;
}

/// Appends a message of at most 16383 bytes, written in place behind a length of two bytes. Readers accept lengths with
/// leading zero groups; Perfetto's own writer makes them too.
#[inline]
pub(crate) fn put_medium<B: Bytes>(out: &mut B, field: u32, fill: impl FnOnce(&mut B)) {
    varint::put(out, u64::from(field) << 3 | WIRE_BYTES);
    out.bytes(&[0x80, 0]);
    let start = out.appended().len();
    fill(out);
    let appended = out.appended();
    let length = appended.len() - start;
    debug_assert!(length < 1 << 14, "field {field} has {length} bytes");
    appended[start - 2] = 0x80 | length as u8;
    appended[start - 1] = (length >> 7) as u8;
}

/// Appends a message of any length.
pub(crate) fn put_message(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut message = Vec::new();
    fill(&mut message);
    put_bytes(out, field, &message);
}

/// Value of a field on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn number(self) -> Option<u64> {
        match self {
            Value::Number(number) => Some(number),
            Value::Bytes(_) => None,
        }
    }

    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            Value::Number(_) => None,
        }
    }
}

/// Takes the next field off `input`; `None` when it is malformed. Inlined always: three messages deep, it is half of
/// all the work on a trace.
#[inline(always)]
pub(crate) fn take_field<'a>(input: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let tag = varint::take(input)?;
    let field = u32::try_from(tag >> 3).ok().filter(|&field| field != 0)?;
    let value = match tag & 7 {
        WIRE_VARINT => Value::Number(varint::take(input)?),
        WIRE_FIXED64 => Value::Bytes(take_bytes(input, 8)?),
        WIRE_FIXED32 => Value::Bytes(take_bytes(input, 4)?),
        WIRE_BYTES => {
            let length = varint::take(input)?;
            Value::Bytes(take_bytes(input, usize::try_from(length).ok()?)?)
        }
        _ => return None,
    };
    Some((field, value))
}

#[inline]
fn take_bytes<'a>(input: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(bytes)
}

/// Calls `f` with every field of a message until it returns `None`; `None` when the message is malformed.
#[inline]
pub(crate) fn each_field<'a>(mut message: &'a [u8], mut f: impl FnMut(u32, Value<'a>) -> Option<()>) -> Option<()> {
    while !message.is_empty() {
        let (field, value) = take_field(&mut message)?;
        f(field, value)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_order() {
        let mut message = Vec::new();
        put_uint(&mut message, 1, 300);
        put_int(&mut message, 2, -1);
        put_short(&mut message, 491, |m| put_bytes(m, 1, b"comm"));
        let mut seen = Vec::new();
        each_field(&message, |field, value| {
            seen.push((field, value));
            Some(())
        })
        .expect("well formed");
        let inner = [10, 4, b'c', b'o', b'm', b'm'];
        assert_eq!(seen, [(1, Value::Number(300)), (2, Value::Number(u64::MAX)), (491, Value::Bytes(&inner))]);
    }

    #[test]
    fn messages_in_place_have_the_length_of_their_contents() {
        for length in [0, 1, 127, 128, 16_383] {
            let contents = vec![7; length];
            let mut message = Vec::new();
            put_medium(&mut message, 3, |m| m.extend_from_slice(&contents));
            assert_eq!(take_field(&mut &message[..]), Some((3, Value::Bytes(&contents))));
        }
    }

    #[test]
    fn malformed_fields_are_refused() {
        for bytes in [&[0x0a, 5, 1][..], &[0x09, 1][..], &[0x0b][..], &[0x00, 0][..], &[0x08][..]] {
            assert_eq!(take_field(&mut &bytes[..]), None, "{bytes:?}");
        }
    }
}
