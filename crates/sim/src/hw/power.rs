// SPDX-License-Identifier: GPL-2.0-or-later
//! Power states of a CPU: executing or idle, and the energy drawn in each.

use crate::hw::energy::CpuEnergy;
use crate::state::CpuState;

/// Power state of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// Executing something.
    Awake,
    /// In idle state `state`.
    Idle {
        /// Index into the domain's idle states.
        state: u32,
    },
    /// Leaving idle state `state`.
    Exiting {
        /// Index into the domain's idle states.
        state: u32,
    },
}

/// Hardware of one CPU.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CpuPower {
    pub power: Power,
    /// Operating point whose power it draws.
    pub power_opp: u32,
    pub energy: CpuEnergy,
}

impl CpuPower {
    /// Idle, with so many idle states.
    pub(crate) fn new(idle_states: usize) -> CpuPower {
        CpuPower { power: Power::Idle { state: 0 }, power_opp: 0, energy: CpuEnergy::new(idle_states) }
    }

    #[inline]
    pub(crate) fn becomes(&mut self, power: Power) {
        self.power = power;
    }

    /// Notes that the CPU runs at operating point `opp`.
    #[inline]
    pub(crate) fn runs_at(&mut self, opp: u32) {
        self.power_opp = opp;
    }

    /// Energy that the CPU has drawn.
    pub(crate) fn drawn(&self) -> &CpuEnergy {
        &self.energy
    }
}

impl CpuState {
    #[inline]
    pub(crate) fn power(&self) -> Power {
        self.hw.power
    }

    /// Operating point that its clock has.
    #[inline]
    pub(crate) fn clock_opp(&self) -> u32 {
        self.hw.power_opp
    }

    /// True while the CPU executes something.
    #[inline]
    pub(crate) fn is_awake(&self) -> bool {
        self.hw.power == Power::Awake
    }
}
