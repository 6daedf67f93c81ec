// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy model of a frequency domain, in the form of 6.9 and later.

/// One frequency of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Frequency.
    pub khz: u128,
    /// Power of one busy CPU.
    pub power_uw: u128,
}

/// Performance of a CPU of capacity `cap_orig` at a frequency.
pub fn performance(states: &[State], index: usize, cap_orig: u128) -> u128 {
    let fastest = states.iter().map(|s| s.khz).max().expect("a table has a state");
    cap_orig * states[index].khz / fastest
}

/// Ten times the power per unit of performance.
pub fn cost(states: &[State], index: usize, cap_orig: u128) -> u128 {
    let performance = performance(states, index, cap_orig);
    (10 * states[index].power_uw).checked_div(performance).unwrap_or(0)
}

/// Some faster state costs the same or less.
pub fn is_inefficient(states: &[State], index: usize, cap_orig: u128) -> bool {
    (index + 1..states.len()).any(|faster| cost(states, faster, cap_orig) <= cost(states, index, cap_orig))
}

/// Energy at an assumed utilization, when only states from the slowest to the fastest of `range` may be used.
pub fn energy(
    states: &[State],
    range: [usize; 2],
    cap_orig: u128,
    max_util: u128,
    sum_util: u128,
    allowed: u128,
) -> u128 {
    if sum_util == 0 || states.is_empty() {
        return 0;
    }
    let wanted = max_util.min(allowed);
    let serves =
        |&index: &usize| performance(states, index, cap_orig) >= wanted && !is_inefficient(states, index, cap_orig);
    let fastest = range[1].min(states.len() - 1);
    let chosen = (range[0]..=fastest).find(serves).unwrap_or(fastest);
    cost(states, chosen, cap_orig) * sum_util
}
