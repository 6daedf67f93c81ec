// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers in text, without copies.

/// A decimal number of digits only.
pub(crate) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// A hexadecimal number of digits only.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = char::from(byte).to_digit(16)?;
        if value >> 60 == 0 { Some(value << 4 | u64::from(digit)) } else { None }
    })
}

/// A set of CPUs as the kernel prints it, one bit each: hexadecimal, a comma after every 32 bits (`%*pb`).
pub(crate) fn cpu_mask(text: &[u8]) -> Option<u64> {
    let mut words = text.split(|&byte| byte == b',');
    let first = hexadecimal(words.next()?)?;
    words.try_fold(first, |mask, word| {
        let low = hexadecimal(word).filter(|_| word.len() == 8 && mask >> 32 == 0)?;
        Some(mask << 32 | low)
    })
}

/// A number as the kernel prints it: decimal, `0x` hexadecimal, or negative; negative ones in two's complement.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    match text {
        [b'0', b'x' | b'X', digits @ ..] => hexadecimal(digits),
        [b'-', digits @ ..] => signed(digits, true).map(i64::cast_unsigned),
        digits => decimal(digits),
    }
}

/// A decimal number with sign.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    match text {
        [b'-', digits @ ..] => signed(digits, true),
        [b'+', digits @ ..] | digits => signed(digits, false),
    }
}

fn signed(digits: &[u8], negative: bool) -> Option<i64> {
    let value = i128::from(decimal(digits)?);
    i64::try_from(if negative { -value } else { value }).ok()
}

/// A number of 32 bits, or a negative one in its two's complement.
pub(crate) fn narrow(value: u64) -> Option<u32> {
    let negative = value.cast_signed() < 0 && value.cast_signed() >= i64::from(i32::MIN);
    if negative { Some(value as u32) } else { u32::try_from(value).ok() }
}

/// Highest CPU number taken; Linux can be built for 8192 CPUs.
const CPU_MAX: u64 = 65_535;
/// Complaint about a higher number.
pub(crate) const CPU_RANGE: &str = "is no CPU number (0..65535)";

/// The number of a CPU.
pub(crate) fn cpu_number(value: u64) -> Option<u32> {
    if value <= CPU_MAX { u32::try_from(value).ok() } else { None }
}

/// Seconds with up to nine decimals as ns; also how many ns the last decimal counts.
pub(crate) fn seconds(text: &[u8]) -> Option<(u64, u64)> {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (whole, rest) = text.split_at(point);
    let decimals = rest.get(1..).unwrap_or(&[]);
    if decimals.len() > 9 {
        return None;
    }
    let unit_ns = 10u64.pow(9 - decimals.len() as u32);
    let fraction_ns = if decimals.is_empty() { 0 } else { decimal(decimals)? * unit_ns };
    Some((decimal(whole)?.checked_mul(1_000_000_000)?.checked_add(fraction_ns)?, unit_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_cpu_is_the_core_s_and_the_message_says_so() {
        let bound = pelton_core::bounds().into_iter().find(|bound| bound.quantity == "cpu").expect("is a bound");
        assert_eq!(bound.max, CPU_MAX);
        assert!(CPU_RANGE.contains(&format!("0..{CPU_MAX}")));
    }

    #[test]
    fn numbers_as_the_kernel_prints_them() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"0x100"), Some(256));
        assert_eq!(number(b"0xffffffffffffffff0"), None);
        assert_eq!(number(b"-1"), Some(u64::MAX));
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(integer(b"-9223372036854775809"), None);
        for nothing in [&b""[..], b"-", b"0x", b"1 ", b"1_000", b"\xff"] {
            assert_eq!(number(nothing), None);
        }
        assert_eq!(
            (narrow(u64::MAX), narrow(4_294_967_295), narrow(4_294_967_296)),
            (Some(u32::MAX), Some(u32::MAX), None)
        );
    }

    #[test]
    fn sets_of_cpus_have_commas() {
        assert_eq!((cpu_mask(b"f0"), cpu_mask(b"00000000,00000006")), (Some(0xf0), Some(6)));
        assert_eq!(cpu_mask(b"00000000,80000000,00000001"), Some(0x8000_0000_0000_0001));
        for nothing in [&b""[..], b",", b"1,", b"1,2", b"1,00000000,00000000", b"0,0000000g"] {
            assert_eq!(cpu_mask(nothing), None);
        }
    }

    #[test]
    fn seconds_tell_their_resolution() {
        assert_eq!(seconds(b"76.211513"), Some((76_211_513_000, 1000)));
        assert_eq!(seconds(b"432.726621341"), Some((432_726_621_341, 1)));
        assert_eq!(seconds(b"7"), Some((7_000_000_000, 1_000_000_000)));
        for nothing in [&b""[..], b".5", b"1.2345678901", b"1.x", b"99999999999999.0"] {
            assert_eq!(seconds(nothing), None);
        }
    }
}
