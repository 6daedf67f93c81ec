// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones and their governors (`thermal.h`).

use crate::count;
use crate::policy::Policy;
pub use crate::sys::NO_TARGET;
use crate::sys::{self, Cooling, CpuState, Zone};

/// Most trips of a zone.
pub const TRIPS_MAX: usize = sys::TRIPS_MAX as usize;
/// Most frequency domains of a zone.
pub const COOLING_MAX: usize = sys::COOLING_MAX as usize;

/// Operating points of a cooling device: frequency and the power of one busy CPU, ascending.
#[derive(Clone, Debug, Default)]
pub struct CoolingTable {
    /// Frequencies, kHz.
    khz: Vec<u32>,
    /// Power, microwatts.
    uw: Vec<u64>,
    cpus: u32,
}

impl CoolingTable {
    /// Of `cpus` CPUs with these points, ascending.
    #[must_use]
    pub fn new(points: impl Iterator<Item = (u32, u64)>, cpus: u32) -> CoolingTable {
        let (khz, uw): (Vec<u32>, Vec<u64>) = points.unzip();
        CoolingTable { khz, uw, cpus }
    }

    fn len(&self) -> u32 {
        count(&self.khz)
    }

    /// The deepest cooling state.
    #[must_use]
    pub fn max_state(&self) -> u32 {
        self.len().saturating_sub(1)
    }

    /// The highest frequency in a state, kHz.
    #[must_use]
    pub fn khz(&self, state: u32) -> u32 {
        let at = self.max_state().saturating_sub(state);
        self.khz.get(at as usize).copied().unwrap_or(0)
    }

    /// Power that all CPUs take in a state when they are busy, mW.
    #[must_use]
    pub fn state2power(&self, state: u32) -> u32 {
        // SAFETY: both tables have `len()` points.
        unsafe { sys::cooling_state2power(self.uw.as_ptr(), self.len(), state, self.cpus) }
    }

    /// Notes what a domain takes now, with the sum of its CPUs' loads, and what it could take.
    pub fn requested(&self, cooling: &mut Cooling, cur_khz: u32, load_pct: u32) {
        let (khz, uw, n) = (self.khz.as_ptr(), self.uw.as_ptr(), self.len());
        // SAFETY: both tables have `n` points.
        unsafe { sys::cooling_requested(cooling, khz, uw, n, cur_khz, load_pct) };
        cooling.max_mw = self.state2power(0);
    }

    /// State in which a domain takes at most what it was granted, with the load that it had last.
    #[must_use]
    pub fn power2state(&self, cooling: &Cooling) -> u32 {
        // SAFETY: the table has `len()` points.
        unsafe { sys::cooling_power2state(cooling, self.uw.as_ptr(), self.len()) }
    }
}

/// Load of a CPU, percent: of its capacity, or not idle of the time since it was last asked (`cooling_load`).
#[must_use]
pub fn cooling_load(pol: &Policy, state: &CpuState, time_us: u64, idle_us: u64) -> u32 {
    let util = sys::sched_cpu_util(pol, state);
    sys::cooling_load(pol, util, state.cap_orig, time_us, idle_us)
}

impl Zone {
    /// A new reading: which trips are reached.
    pub fn read(&mut self, pol: &Policy, temp_mc: i32) {
        sys::zone_read(pol, self, temp_mc);
    }

    /// Would a reading of this temperature change which trips are reached?
    #[must_use]
    pub fn crosses(&self, pol: &Policy, temp_mc: i32) -> bool {
        sys::zone_crosses(pol, self, temp_mc) != 0
    }

    /// +1 raising, -1 dropping, 0 stable.
    #[must_use]
    pub fn trend(&self) -> i32 {
        sys::thermal_trend(self)
    }

    /// step_wise: the states of all domains after a reading.
    pub fn step_wise(&mut self, pol: &Policy) {
        sys::step_wise(pol, self);
    }

    /// power_allocator: what each domain is granted after a reading. `false`: it is off, there is no limit.
    #[must_use]
    pub fn allocate(&mut self, pol: &Policy, least_mw: u32) -> bool {
        sys::ipa_allocate(pol, self, least_mw) != 0
    }
}
