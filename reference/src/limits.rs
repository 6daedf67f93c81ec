// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of a frequency domain: which operating points they are, and what a governor does when they are new.

use crate::rules::{CapacityLeft, HwSignal, Rules};

/// Capacity that a limit takes from a CPU of capacity `full` at `reference` kHz.
pub fn lost(full: u64, limit: u64, reference: u64) -> u64 {
    if limit >= reference { 0 } else { full - full * limit / reference }
}

/// Capacity that limits take: in this moment, and as the input of the average; `policy` and `cooling` are the parts of
/// each.
pub fn pressure(rules: &Rules, policy: u64, cooling: u64) -> (u64, u64) {
    match (rules.capacity_left, rules.hw_signal) {
        (CapacityLeft::Actual, _) => (policy, 0),
        (_, HwSignal::On) => (cooling, cooling),
        (_, HwSignal::Off) => (0, 0),
    }
}

/// Answer of a governor to new limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The upper limit.
    Upper,
    /// The lower one.
    Lower,
    /// Wanted frequency, as far as it is allowed.
    Wanted,
    /// Into the limits, if the present frequency is outside.
    Inside,
    /// At the next call.
    Later,
}

/// Limits in force on the operating points `table`, which ascends: lower, upper.
pub fn in_force(table: &[u64], min: u64, max: u64) -> (u64, u64) {
    let upper = table.iter().rev().copied().find(|&k| k <= max).unwrap_or(table[0]);
    let lower = table.iter().copied().find(|&k| k >= min).unwrap_or(table[table.len() - 1]);
    (if lower > upper { upper } else { lower }, upper)
}

/// Frequency that is asked for at once.
pub fn asked(answer: Answer, table: &[u64], (lower, upper): (u64, u64), present: u64, wanted: u64) -> Option<u64> {
    let inside = |khz: u64| {
        let allowed = if khz > upper { upper } else { khz };
        table.iter().copied().find(|&k| k >= lower && k >= allowed).unwrap_or(upper)
    };
    match answer {
        Answer::Upper => Some(upper),
        Answer::Lower => Some(lower),
        Answer::Wanted => Some(inside(wanted)),
        Answer::Inside if present > upper => Some(upper),
        Answer::Inside if present < lower => Some(lower),
        Answer::Inside | Answer::Later => None,
    }
}
