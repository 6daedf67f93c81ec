// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of a fair task. Each method is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{
    self, AFFINE_WEIGHT, DST_NONE, GroupSums, HOW_CAPACITY, HOW_CAPACITY_NONE, PlaceCpu, PlaceEnergy, Placed,
    Placement, SCAN_NONE, SCAN_PROPORTION, SCAN_UTILIZATION, WEIGHED_LOADS,
};
pub use crate::sys::{NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, nr_idle_scan, update_scan_cost};

/// Most CPUs of a placement.
pub const PLACE_CPUS_MAX: usize = sys::PLACE_CPUS_MAX as usize;
/// Most scheduling domains of a CPU.
pub const DOMAINS_MAX: usize = sys::DOMAINS_MAX as usize;
/// Most performance domains.
pub const PERF_DOMAINS_MAX: usize = sys::PERF_DOMAINS_MAX as usize;
/// Most states of all performance domains together.
pub const PLACE_STATES_MAX: usize = sys::PLACE_STATES_MAX as usize;
/// Most comparisons of energy that are kept.
pub const PLACE_ENERGIES_MAX: usize = sys::PLACE_ENERGIES_MAX as usize;

impl Default for Placement {
    /// A record that has no CPU.
    fn default() -> Self {
        // SAFETY: integers, all of which may be 0.
        unsafe { std::mem::zeroed() }
    }
}

impl Default for Placed {
    /// An answer that nothing has led to.
    fn default() -> Self {
        // SAFETY: integers, all of which may be 0.
        let none: Self = unsafe { std::mem::zeroed() };
        let (scan_limit, scan_timed) = (NO_LIMIT, NO_LIMIT);
        Self { target: NO_CPU, no_idle_core: NO_CPU, scan_limit, scan_timed, dst_level: NO_DOMAIN, ..none }
    }
}

/// Rules that decide, by number.
pub const HOW: [&str; 20] = [
    "no domain",
    "waker's CPU was asked for",
    "energy",
    "energy: no utilization",
    "energy: it fell",
    "new task",
    "new program",
    "target is idle",
    "previous CPU is idle",
    "beside a kernel thread",
    "recent CPU is idle",
    "capacity scan",
    "capacity scan found none",
    "no cache group",
    "thread of the same core",
    "cache scan",
    "previous CPU, beyond the cluster",
    "recent CPU, beyond the cluster",
    "nothing idle",
    "too big for its CPUs",
];

/// Ways in which the starting point of a search is chosen, by number.
pub const AFFINE: [&str; 5] = ["not asked", "idle here", "waker sleeps", "previous is idle", "loads"];

/// Results of comparing the loads of the executing and of the previous CPU, by number.
pub const WEIGHED: [&str; 3] = ["not asked", "loads", "the waker's load goes with it"];

/// Limits of a search for an idle CPU, by number.
pub const SCAN: [&str; 5] = ["no search", "SIS_UTIL", "SIS_PROP", "whole cores", "no limit"];

/// Reasons for the choice between the own group and the best other one, by number.
pub const DST_WHY: [&str; 10] = [
    "not compared",
    "no other group",
    "own group not allowed",
    "type",
    "load",
    "largest CPU",
    "idle CPUs",
    "nodes may differ",
    "types are equal",
    "room",
];

impl PlaceCpu {
    /// Did other classes take a noticeable part of its capacity?
    #[must_use]
    pub fn is_reduced(&self, imbalance_pct: u32) -> bool {
        sys::check_cpu_capacity(self, imbalance_pct) != 0
    }
}

impl Placement {
    /// The CPU for the task; why, and what is to be remembered, in `out`.
    #[inline]
    pub fn select(&self, policy: &Policy, out: &mut Placed) -> u32 {
        sys::select_task_rq_fair(policy, self, out)
    }

    /// The choice by energy alone: a CPU, or `None` when energy cannot decide.
    #[inline]
    pub fn find_energy_efficient_cpu(&self, policy: &Policy, out: &mut Placed) -> Option<u32> {
        sys::placed_start(self, out);
        (sys::find_energy_efficient_cpu(policy, self, out) != 0).then_some(out.cpu)
    }

    /// Load of the task when it runs on `cpu` and waits for a bigger one; 0 = it may stay. `biggest`: highest capacity
    /// among the CPUs that it may use.
    #[inline]
    pub fn misfit_load(&self, policy: &Policy, out: &mut Placed, cpu: u32, biggest: u32) -> u64 {
        sys::placed_start(self, out);
        sys::misfit_load(policy, self, out, cpu, biggest)
    }

    /// Does a utilization fit a CPU under these clamps: 1 yes, 0 no, -1 yes but the floor is not kept.
    #[must_use]
    pub fn util_fits_cpu(&self, policy: &Policy, util: u32, min: u32, max: u32, cpu: u32) -> i32 {
        sys::util_fits_cpu(policy, self, util, min, max, cpu)
    }

    /// Utilization of a CPU with the task on `dst` ([`NO_CPU`]: nowhere), limited or boosted as placement reads it.
    #[must_use]
    pub fn util_with_task_on(&self, policy: &Policy, placed: &Placed, cpu: u32, dst: u32, boost: bool) -> u32 {
        sys::place_util(policy, self, placed, cpu, dst, boost.into())
    }

    /// Does the placed task fit a CPU: 1 yes, 0 no, -1 yes but its floor is not kept.
    #[must_use]
    pub fn task_fits(&self, policy: &Policy, placed: &Placed, cpu: u32) -> i32 {
        sys::task_fits(policy, self, placed, cpu)
    }

    /// Utilization of a CPU with the task on it.
    #[must_use]
    pub fn util_with_task(&self, policy: &Policy, placed: &Placed, cpu: u32) -> u32 {
        sys::place_util(policy, self, placed, cpu, cpu, 0)
    }

    /// Clamped utilization of a CPU with the task on `dst`, where clamps add up. `boost`: waiting tasks count as
    /// demand.
    #[must_use]
    pub fn util_clamped(&self, policy: &Policy, placed: &Placed, cpu: u32, dst: u32, boost: bool) -> u32 {
        sys::place_util_clamped(policy, self, placed, cpu, dst, boost.into())
    }

    /// Has a CPU more to do than it can?
    #[must_use]
    pub fn cpu_overutilized(&self, policy: &Policy, cpu: u32) -> bool {
        sys::cpu_overutilized(policy, self, cpu) != 0
    }

    /// The CPUs in use.
    #[must_use]
    pub fn cpus(&self) -> &[PlaceCpu] {
        &self.cpus[..(self.nr_cpus as usize).min(PLACE_CPUS_MAX)]
    }

    /// Reason why the record does not describe a machine; `None` = it does. The C functions stay inside the record
    /// either way.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let cpus = self.nr_cpus as usize;
        if cpus == 0 || cpus > PLACE_CPUS_MAX {
            return Some(format!("{cpus} CPUs, allowed are 1 to {PLACE_CPUS_MAX}"));
        }
        for (what, cpu) in [("executing", self.this_cpu), ("previous", self.prev_cpu), ("task's", self.task.cpu)] {
            if cpu as usize >= cpus {
                return Some(format!("the {what} CPU is {cpu}, the last one is {}", cpus - 1));
            }
        }
        if let Some(at) = self.cpus().iter().position(|c| c.nr_domains as usize > DOMAINS_MAX) {
            return Some(format!("CPU {at} has more than {DOMAINS_MAX} domains"));
        }
        let domains = self.nr_perf_domains as usize;
        if domains > PERF_DOMAINS_MAX {
            return Some(format!("{domains} performance domains, at most {PERF_DOMAINS_MAX} are allowed"));
        }
        let end = |d: &sys::PerfDomain| u64::from(d.first_state) + u64::from(d.nr_states);
        let beyond = self.perf_domains[..domains].iter().position(|d| end(d) > PLACE_STATES_MAX as u64);
        beyond.map(|at| format!("performance domain {at} has states beyond the {PLACE_STATES_MAX} that are allowed"))
    }
}

impl GroupSums {
    /// Does the group have a type? Up to 5.4 groups are compared by load, and their largest CPU is not asked for.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.max_capacity != 0
    }
}

impl Placed {
    /// The comparisons of energy that were made, in order.
    #[must_use]
    pub fn energies(&self) -> &[PlaceEnergy] {
        &self.energies[..(self.nr_energies as usize).min(self.energies.len())]
    }

    /// Energy that a domain needs more with the task on this CPU of it, in the kernel's unit; `None`: not asked.
    #[must_use]
    pub fn energy_added(&self, cpu: u32) -> Option<i128> {
        let with = self.energies().iter().find(|e| e.cpu == cpu && cpu != NO_CPU)?;
        let without = self.energies().iter().find(|e| e.cpu == NO_CPU && e.perf_domain == with.perf_domain)?;
        Some(i128::from(with.energy) - i128::from(without.energy))
    }

    /// Loads of the executing and of the previous CPU as `wake_affine` compared them; `None`: it compared none.
    #[must_use]
    pub fn effective_loads(&self) -> Option<[i64; 2]> {
        (self.weighed == WEIGHED_LOADS).then_some([self.this_eff.cast_signed(), self.prev_eff.cast_signed()])
    }

    /// CPUs that the search for an idle one could look at; `None`: any number, or there was no search.
    #[must_use]
    pub fn scan_limit(&self) -> Option<u32> {
        (self.scan_limit != NO_LIMIT).then_some(self.scan_limit)
    }

    /// Was an idle CPU looked for beyond those that are known by name?
    #[must_use]
    pub fn has_scanned(&self) -> bool {
        self.scan_rule != SCAN_NONE
    }

    /// CPUs that the search looked at whose time counts for the mean cost of searches; `None`: none does, for there was
    /// no such search, or it was cut short.
    #[must_use]
    pub fn timed(&self) -> Option<u32> {
        (self.scan_timed != NO_LIMIT).then_some(self.scan_timed)
    }

    /// Were groups of CPUs compared?
    #[must_use]
    pub fn has_compared(&self) -> bool {
        self.dst_why != DST_NONE
    }

    /// Does utilization limit the search (`SIS_UTIL`), by the number that this CPU's row has for it?
    #[must_use]
    pub fn nr_idle_scan(&self, target: &PlaceCpu) -> Option<u32> {
        let asym = [HOW_CAPACITY, HOW_CAPACITY_NONE].contains(&self.how);
        let number = if asym { target.nr_idle_scan_asym } else { target.nr_idle_scan_llc };
        (self.scan_rule == SCAN_UTILIZATION).then_some(number)
    }

    /// Do idle time and the cost of searches limit it (`SIS_PROP`)?
    #[must_use]
    pub fn scans_in_proportion(&self) -> bool {
        self.scan_rule == SCAN_PROPORTION
    }

    /// Part of `wake_affine` that decided; `None`: the function was not asked.
    #[must_use]
    pub fn affine_by(&self) -> Option<&'static str> {
        let by = if self.affine == AFFINE_WEIGHT { "wake_affine_weight" } else { "wake_affine_idle" };
        (self.affine != 0).then_some(by)
    }

    /// Rule that decided, in words.
    #[must_use]
    pub fn how(&self) -> &'static str {
        HOW.get(self.how as usize).copied().unwrap_or("?")
    }
}
