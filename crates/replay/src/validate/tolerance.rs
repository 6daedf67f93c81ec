// SPDX-License-Identifier: GPL-2.0-or-later
//! Tolerances of a coarse trace, written down before the first comparison and never moved after it.
//!
//! A trace with the kernel's integer sums has no tolerance: one unit off is a divergence. A trace with averages only
//! leaves open when the kernel updated a signal and what ran between two events, so its bars are those the field uses
//! for signals rebuilt from a schedule: mean 2 %, maximum 5 % of the capacity scale.

/// Full scale of a utilization, which the percentages below refer to.
pub const FULL_SCALE: u64 = 1024;

/// Bars of one comparison that is not integer-exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Largest mean error that counts as agreement, thousandths of full scale.
    pub mean_permille: u64,
    /// Largest single error that counts as agreement, thousandths of full scale.
    pub max_permille: u64,
    /// Fewer samples than this prove nothing.
    pub samples_min: u64,
}

/// Averages against a signal rebuilt from switches, idle states and frequencies.
pub const AVERAGES: Tolerance = Tolerance { mean_permille: 20, max_permille: 50, samples_min: 50 };

/// Largest share of the steps of a curve without a schedule that may be jumps, which no running explains: then a task
/// joined or left, and the comparison begins anew; thousandths.
pub const JUMPS_PERMILLE_MAX: u64 = 10;

/// Share of the recorded frequency changes that must be predicted with their value, and largest share of predicted ones
/// that the trace does not have; thousandths.
pub const FREQUENCY_HIT_PERMILLE_MIN: u64 = 900;
/// See [`FREQUENCY_HIT_PERMILLE_MIN`].
pub const FREQUENCY_EXTRA_PERMILLE_MAX: u64 = 100;
/// Longest time between a predicted and a recorded frequency change that belong together, ns.
pub const FREQUENCY_WINDOW_NS: u64 = 1_000_000;

impl Tolerance {
    /// An error in capacity units as thousandths of full scale.
    pub fn permille(error: u64) -> u64 {
        error.saturating_mul(1000) / FULL_SCALE
    }
}
