// SPDX-License-Identifier: GPL-2.0-or-later
//! Times as people write them.

use crate::plan::DURATION_NS_MAX;

/// Longest time accepted, ns: 30 days.
const TIME_NS_MAX: u64 = DURATION_NS_MAX;

/// Suffix and its length in ns.
const SUFFIXES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads `15s`, `250ms`, `1.5s`, `2m`; whole nanoseconds, exactly.
///
/// # Errors
/// Description of the fault, in words.
pub fn parse_time_ns(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let unit = SUFFIXES.iter().find(|(name, _)| *name == suffix).map(|(_, ns)| *ns);
    let Some(unit_ns) = unit.filter(|_| !number.is_empty()) else {
        return Err("a time is a number and a unit: ns, us, ms, s, m or h, as in 15s or 250ms".to_owned());
    };
    let ns = scaled(number, unit_ns).ok_or_else(|| format!("`{number}` is not a number of {suffix}"))?;
    if ns > u128::from(TIME_NS_MAX) {
        return Err("times go up to 720h (30 days)".to_owned());
    }
    Ok(ns as u64)
}

/// `number` times `unit`, truncated to a whole; decimal digits are exact.
fn scaled(number: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || fraction.len() > 15 || whole.len() > 18 || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let parse = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u128>().ok() };
    let below = parse(fraction)? * u128::from(unit) / 10u128.pow(fraction.len() as u32);
    Some(parse(whole)? * u128::from(unit) + below)
}

/// Like [`parse_time_ns`], but 0 is refused.
///
/// # Errors
/// As [`parse_time_ns`].
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    match parse_time_ns(text)? {
        0 => Err("a duration must be above 0".to_owned()),
        ns => Ok(ns),
    }
}

/// Seconds with nine decimals, as the kernel's traces print more coarsely.
pub fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_parse_exactly() {
        let cases = [
            ("15s", 15_000_000_000),
            ("250ms", 250_000_000),
            ("2m", 120_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1.234567891s", 1_234_567_891),
            ("10us", 10_000),
            ("7ns", 7),
            (".5ms", 500_000),
            ("1h", 3_600_000_000_000),
            ("0s", 0),
        ];
        for (text, ns) in cases {
            assert_eq!(parse_time_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let long = "9".repeat(300) + "s";
        for text in ["", "s", "15", "1.2.3s", "-1s", "1e3s", ".", ".s", "15 s", "15sec", "721h", "1é", long.as_str()] {
            assert!(parse_time_ns(text).is_err(), "{text}");
        }
        assert!(parse_duration_ns("0ms").is_err());
    }

    #[test]
    fn seconds_have_nine_decimals() {
        assert_eq!(seconds(1_234_567_891), "1.234567891");
    }
}
