// SPDX-License-Identifier: GPL-2.0-or-later
//! Energies that placement compared, worked out once more for explanations.

use crate::policy::Policy;
use crate::record::{Record, rule};
use crate::sys::{PlaceEnergy, Placed};

/// The state that a comparison took a domain to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priced {
    /// Capacity of a CPU up to which it was looked for.
    pub allowed: u32,
    /// Its frequency, kHz.
    pub freq_khz: u32,
    /// Its cost, in the unit of the release.
    pub cost: u64,
    /// By what cost times utilization is divided to give the energy: 1, or up to 6.7 the capacity of the domain's CPUs.
    pub divisor: u32,
}

impl Record {
    /// The state of a comparison that was made from this record.
    #[must_use]
    pub fn priced(&self, policy: &Policy, energy: &PlaceEnergy) -> Priced {
        Priced {
            allowed: rule!(self, priced_allowed, policy, energy),
            freq_khz: rule!(self, priced_khz, policy, energy),
            cost: rule!(self, priced_cost, policy, energy),
            divisor: rule!(self, priced_divisor, policy, energy),
        }
    }

    /// Capacity that a CPU asks of its domain with the task on `dst`; [`crate::NO_CPU`]: nowhere.
    #[must_use]
    pub fn asks_with_task_on(&self, policy: &Policy, placed: &Placed, cpu: u32, dst: u32) -> u32 {
        rule!(self, eenv_cpu_max_util, policy, placed, cpu, dst)
    }

    /// Busy time of a CPU with the task on `dst`, in units of capacity.
    #[must_use]
    pub fn busy_with_task_on(&self, policy: &Policy, placed: &Placed, cpu: u32, dst: u32) -> u32 {
        rule!(self, eenv_cpu_busy_time, policy, placed, cpu, dst)
    }

    /// Busy time that the task adds to a domain, in units of capacity, where that is not worked out CPU by CPU.
    #[must_use]
    pub fn task_busy(&self, policy: &Policy, placed: &Placed) -> u64 {
        rule!(self, eenv_task_busy_time, policy, placed)
    }
}
