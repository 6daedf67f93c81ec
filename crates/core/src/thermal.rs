// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones and their governors (`thermal.h`).

use crate::ffi;
use crate::policy::Policy;
use crate::records::{CpuState, LayoutRow, mirror};

/// Most trips of a zone.
pub const TRIPS_MAX: usize = 4;
/// Most frequency domains of a zone.
pub const COOLING_MAX: usize = 16;
/// A trip asks nothing of a domain.
pub const NO_TARGET: u32 = u32::MAX;

mirror! {
    /// What one trip asks of one domain.
    ThermalInstance = "pelton_thermal_instance" {
        /// Cooling state, or [`NO_TARGET`].
        target: u32,
        /// It was asked before.
        initialized: u32,
    }
}

mirror! {
    /// A trip, passive.
    Trip = "pelton_trip" {
        /// Temperature, mC.
        temp_mc: i32,
        /// Hysteresis, mC.
        hyst_mc: i32,
        /// The temperature is at or above it.
        reached: u32,
        /// Domains that it cools, one bit each.
        cools: u32,
        /// What it asks of each domain.
        instance: [ThermalInstance; COOLING_MAX],
    }
}

mirror! {
    /// A frequency domain as a cooling device.
    Cooling = "pelton_cooling" {
        /// Cooling state, 0 = no limit.
        state: u32,
        /// Deepest state.
        max_state: u32,
        /// Load when it was last asked, percent, sum over its CPUs.
        last_load: u32,
        /// Weight (`contribution` of a device tree).
        weight: u32,
        /// Power that it takes, mW.
        req_mw: u32,
        /// Power that it could take, mW.
        max_mw: u32,
        /// Power that it takes, weighted.
        weighted_mw: u32,
        /// Power that it may take, mW.
        granted_mw: u32,
        /// Power that it could take beyond what it got first, mW.
        extra_mw: u32,
        /// Not read.
        reserved: u32,
    }
}

mirror! {
    /// The controller of power_allocator.
    Ipa = "pelton_ipa" {
        /// Sum of errors, mC, 22.10 fixed point.
        err_integral: i64,
        /// Last error, the same.
        prev_err: i32,
        /// Proportional constant above the control temperature.
        k_po: i32,
        /// And below it.
        k_pu: i32,
        /// Integral constant.
        k_i: i32,
        /// Derivative constant.
        k_d: i32,
        /// Errors below it are summed, mC.
        integral_cutoff_mc: i32,
        /// What the zone can stand, mW; 0 = estimated.
        sustainable_mw: u32,
        /// Power for which the constants hold, mW.
        known_mw: u32,
        /// Last budget, mW.
        range_mw: u32,
        /// What all domains could take, mW.
        max_mw: u32,
    }
}

mirror! {
    /// A thermal zone.
    Zone = "pelton_zone" {
        /// Controller.
        ipa: Ipa,
        /// Temperature, mC.
        temp_mc: i32,
        /// The reading before, mC.
        last_mc: i32,
        /// Polled at the passive rate.
        passive: u32,
        /// It has been read before.
        read: u32,
        /// Trips.
        trips: u32,
        /// Domains.
        domains: u32,
        /// Time between passive polls.
        passive_ms: u32,
        /// Not read.
        reserved: u32,
        /// Trips, coolest first.
        trip: [Trip; TRIPS_MAX],
        /// Domains.
        cooling: [Cooling; COOLING_MAX],
    }
}

pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    ThermalInstance::layout(rows);
    Trip::layout(rows);
    Cooling::layout(rows);
    Ipa::layout(rows);
    Zone::layout(rows);
}

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
        u32::try_from(self.khz.len()).unwrap_or(u32::MAX)
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

    /// What all CPUs take in a state when they are busy, mW.
    #[must_use]
    pub fn state2power(&self, state: u32) -> u32 {
        // SAFETY: both tables have `len()` points.
        unsafe { ffi::pelton_x_cooling_state2power(self.uw.as_ptr(), self.len(), state, self.cpus) }
    }

    /// Notes what a domain takes now, with the sum of its CPUs' loads, and what it could take.
    pub fn requested(&self, cooling: &mut Cooling, cur_khz: u32, load_pct: u32) {
        let (khz, uw, n) = (self.khz.as_ptr(), self.uw.as_ptr(), self.len());
        // SAFETY: both tables have `n` points.
        unsafe { ffi::pelton_x_cooling_requested(cooling, khz, uw, n, cur_khz, load_pct) };
        cooling.max_mw = self.state2power(0);
    }

    /// State in which a domain takes at most what it was granted, with the load that it had last.
    #[must_use]
    pub fn power2state(&self, cooling: &Cooling) -> u32 {
        // SAFETY: the table has `len()` points.
        unsafe { ffi::pelton_x_cooling_power2state(cooling, self.uw.as_ptr(), self.len()) }
    }
}

/// Load of a CPU, percent: of its capacity, or not idle of the time since it was last asked (`cooling_load`).
#[must_use]
pub fn cooling_load(pol: &Policy, state: &CpuState, time_us: u64, idle_us: u64) -> u32 {
    let util = ffi::pelton_x_sched_cpu_util(pol, state);
    ffi::pelton_x_cooling_load(pol, util, state.cap_orig, time_us, idle_us)
}

impl Zone {
    /// A new reading: which trips are reached.
    pub fn read(&mut self, pol: &Policy, temp_mc: i32) {
        ffi::pelton_x_zone_read(pol, self, temp_mc);
    }

    /// Would a reading of this temperature change which trips are reached?
    #[must_use]
    pub fn crosses(&self, pol: &Policy, temp_mc: i32) -> bool {
        ffi::pelton_x_zone_crosses(pol, self, temp_mc) != 0
    }

    /// +1 raising, -1 dropping, 0 stable.
    #[must_use]
    pub fn trend(&self) -> i32 {
        ffi::pelton_x_thermal_trend(self)
    }

    /// step_wise: the states of all domains after a reading.
    pub fn step_wise(&mut self, pol: &Policy) {
        ffi::pelton_x_step_wise(pol, self);
    }

    /// power_allocator: what each domain is granted after a reading. `false`: it is off, there is no limit.
    #[must_use]
    pub fn allocate(&mut self, pol: &Policy, least_mw: u32) -> bool {
        ffi::pelton_x_ipa_allocate(pol, self, least_mw) != 0
    }
}
