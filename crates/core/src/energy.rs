// SPDX-License-Identifier: GPL-2.0-or-later
//! The energy model of a frequency domain.

use crate::count;
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
        Self::filled(opps, |states, n| {
            // SAFETY: there are `n` states.
            unsafe { sys::em_fill(states, n, cap_orig) };
        })
    }

    /// A model of these points in the form that the release of a policy keeps: cost by performance, or by frequency.
    #[must_use]
    pub fn of_release(policy: &Policy, opps: &[(u32, u64)], cap_orig: u32) -> Self {
        Self::filled(opps, |states, n| {
            // SAFETY: there are `n` states.
            unsafe { sys::em_create(policy, states, n, cap_orig) };
        })
    }

    fn filled(opps: &[(u32, u64)], fill: impl FnOnce(*mut EmState, u32)) -> Self {
        let state = |&(freq_khz, power_uw): &(u32, u64)| EmState { freq_khz, power_uw, ..EmState::default() };
        let mut states: Vec<EmState> = opps.iter().map(state).collect();
        fill(states.as_mut_ptr(), count(&states));
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

    /// The table that a governor chooses from: points that the release passes over carry [`KHZ_INEFFICIENT`]. `told`:
    /// the kernel's own statement which those are; without it they follow from `power_uw`, its power at each point, and
    /// without both none is marked.
    #[must_use]
    pub fn told_khz(policy: &Policy, khz: &[u32], told: &[bool], power_uw: &[u64], cap_orig: u32) -> Vec<u32> {
        let passed_over = match khz.len() {
            _ if !policy.passes_over_inefficient() => Vec::new(),
            n if told.len() == n => told.to_vec(),
            n if power_uw.len() == n => {
                let points: Vec<(u32, u64)> = khz.iter().copied().zip(power_uw.iter().copied()).collect();
                let model = Self::of_release(policy, &points, cap_orig);
                model.states.iter().map(|state| state.inefficient != 0).collect()
            }
            _ => Vec::new(),
        };
        let mark = |at| if passed_over.get(at) == Some(&true) { KHZ_INEFFICIENT } else { 0 };
        khz.iter().enumerate().map(|(at, &khz)| khz | mark(at)).collect()
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
        let (states, n) = (self.states.as_ptr(), count(&self.states));
        // SAFETY: there are `n` states.
        unsafe { sys::em_cpu_energy(states, n, 0, u32::MAX, max_util, sum_util, allowed) }
    }
}
