// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers as they are written for people and in CSV.

/// Smallest number that is shown; smaller ones are shown as 0.
const SMALLEST_SHOWN: f64 = 0.000_5;

/// A number for tables: at most three decimals, below 0.1 three digits, no trailing zeros.
pub fn number(value: f64) -> String {
    let small = value.abs() < 0.1 && value.abs() >= SMALLEST_SHOWN;
    let decimals = if small { 2 - value.abs().log10().floor() as i32 } else { 3 };
    let text = format!("{value:.*}", decimals as usize);
    let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

/// A short form: the unit that leaves at most four digits before the point, three decimals without trailing zeros.
pub fn human_ns(ns: u64) -> String {
    let (unit, name) = match ns {
        0..=999 => (1, "ns"),
        1_000..=999_999 => (1_000, "us"),
        1_000_000..=999_999_999 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    format!("{} {name}", number(ns as f64 / f64::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_keep_three_digits() {
        let shown = [9.2368, 0.1, 0.0092368, 0.000_512_3, -0.000_4, 0.000_000_4, 0.0, 1234.5678].map(number);
        assert_eq!(shown, ["9.237", "0.1", "0.00924", "0.000512", "0", "0", "0", "1234.568"]);
    }
    #[test]
    fn short_forms() {
        assert_eq!(human_ns(999), "999 ns");
        assert_eq!(human_ns(10_490_000), "10.49 ms");
        assert_eq!(human_ns(15_000_000_000), "15 s");
        assert_eq!(number(-0.0001), "0");
        assert_eq!(number(1230.0), "1230");
    }
}
