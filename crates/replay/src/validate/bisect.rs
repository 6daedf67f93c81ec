// SPDX-License-Identifier: GPL-2.0-or-later
//! The first number for which something holds that holds for all larger ones.

/// The smallest of `low..=limit` for which `reached` holds, or `limit`.
pub fn first(mut low: u64, limit: u64, reached: impl Fn(u64) -> bool) -> u64 {
    let mut high = limit;
    while low < high {
        let middle = low + (high - low) / 2;
        if reached(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::first;

    #[test]
    fn the_first_that_holds_or_the_limit() {
        assert_eq!(first(1, 100, |n| n * n >= 50), 8);
        assert_eq!(first(0, 5, |_| false), 5);
        assert_eq!(first(3, 3, |_| true), 3);
    }
}
