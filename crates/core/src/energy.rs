// SPDX-License-Identifier: GPL-2.0-or-later
//! The energy model of a frequency domain.

use crate::governor::KHZ_INEFFICIENT;
use crate::policy::Policy;
use crate::sys::{self, EmState};

/// The states of one frequency domain, slowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyModel {
    states: Vec<EmState>,
}

impl Policy {
    /// Does the release pass over operating points that a faster one makes needless, in placement and in its governor?
    #[must_use]
    pub fn passes_over_inefficient(&self) -> bool {
        sys::em_passes_over(self) != 0
    }
}

impl EnergyModel {
    /// From frequencies in kHz, ascending, with the power of one busy CPU in uW, for CPUs of one capacity.
    ///
    /// ```
    /// let opps = [(500_000, 40_000), (800_000, 75_000), (1_100_000, 130_000), (1_400_000, 210_000)];
    /// let little = pelton_core::EnergyModel::new(&opps, 346);
    /// assert_eq!(little.energy(200, 300, 346), 4797 * 300);
    /// ```
    #[must_use]
    pub fn new(opps: &[(u32, u64)], cap_orig: u32) -> Self {
        let state = |&(freq_khz, power_uw): &(u32, u64)| EmState { freq_khz, power_uw, ..EmState::default() };
        let mut states: Vec<EmState> = opps.iter().map(state).collect();
        let n = u32::try_from(states.len()).unwrap_or(u32::MAX);
        // SAFETY: the slice has `n` entries, or more than the core looks at.
        unsafe { sys::em_fill(states.as_mut_ptr(), n, cap_orig) };
        Self { states }
    }

    /// A model of these points in the form that the release of a policy keeps: cost by performance, or by frequency.
    #[must_use]
    pub fn of_release(policy: &Policy, opps: &[(u32, u64)], cap_orig: u32) -> Self {
        let state = |&(freq_khz, power_uw): &(u32, u64)| EmState { freq_khz, power_uw, ..EmState::default() };
        let mut states: Vec<EmState> = opps.iter().map(state).collect();
        let n = u32::try_from(states.len()).unwrap_or(u32::MAX);
        // SAFETY: the slice has `n` entries, or more than the core looks at.
        unsafe { sys::em_create(policy, states.as_mut_ptr(), n, cap_orig) };
        Self { states }
    }

    /// Power of a busy CPU that the kernel works out from the `dynamic-power-coefficient` of a device tree, microwatts.
    ///
    /// ```
    /// assert_eq!(pelton_core::EnergyModel::power_uw(100, 825_999, 408_999), 100 * 825 * 825 * 408 / 1_000_000);
    /// ```
    #[must_use]
    pub fn power_uw(coefficient: u64, uv: u32, khz: u32) -> u64 {
        sys::em_power_uw(coefficient, uv, khz)
    }

    /// The table that a governor chooses from: needless points carry [`KHZ_INEFFICIENT`] where
    /// the release passes over them. `power_uw` is the kernel's, for each point; without it none is marked.
    #[must_use]
    pub fn marked_khz(policy: &Policy, khz: &[u32], power_uw: &[u64], cap_orig: u32) -> Vec<u32> {
        if power_uw.len() != khz.len() || !policy.passes_over_inefficient() {
            return khz.to_vec();
        }
        let points: Vec<(u32, u64)> = khz.iter().copied().zip(power_uw.iter().copied()).collect();
        let mark = |inefficient: u32| if inefficient == 0 { 0 } else { KHZ_INEFFICIENT };
        let model = Self::of_release(policy, &points, cap_orig);
        model.states.iter().map(|state| state.freq_khz | mark(state.inefficient)).collect()
    }

    /// The table of a governor, marked as the kernel itself states which points it passes over; by its Energy Model
    /// where it states nothing.
    #[must_use]
    pub fn told_khz(policy: &Policy, khz: &[u32], told: &[bool], power_uw: &[u64], cap_orig: u32) -> Vec<u32> {
        if told.len() != khz.len() {
            return Self::marked_khz(policy, khz, power_uw, cap_orig);
        }
        let passes_over = policy.passes_over_inefficient();
        let mark = |told: bool| if told && passes_over { KHZ_INEFFICIENT } else { 0 };
        khz.iter().zip(told).map(|(&khz, &told)| khz | mark(told)).collect()
    }

    /// The states with the kernel's own word which of them it passes over; as they are where it said nothing.
    #[must_use]
    pub fn told(mut self, told: &[bool]) -> Self {
        if told.len() == self.states.len() {
            self.states.iter_mut().zip(told).for_each(|(state, &told)| state.inefficient = told.into());
        }
        self
    }

    /// The states.
    #[must_use]
    pub fn states(&self) -> &[EmState] {
        &self.states
    }

    /// Energy when the busiest CPU has `max_util`, all of them `sum_util`, and `allowed` capacity is left; every
    /// frequency may be used.
    #[must_use]
    pub fn energy(&self, max_util: u64, sum_util: u64, allowed: u64) -> u64 {
        let n = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        // SAFETY: as above.
        unsafe { sys::em_cpu_energy(self.states.as_ptr(), n, 0, u32::MAX, max_util, sum_util, allowed) }
    }
}
