// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs near a CPU, and what may run where.

use pelton_core::BUSY_FACTOR;

use crate::shape::Run;
use crate::state::Engine;

/// Interval of the periodic balance of a busy CPU per CPU of the domain (docs/rules/balance.md).
pub(crate) const BUSY_BALANCE_NS_PER_CPU: u64 = BUSY_FACTOR * IDLE_BALANCE_NS_PER_CPU;
/// Interval of the balance of an idle CPU that kept its tick, per CPU of the domain: 1 ms (sd_init: the weight of the
/// domain, in ms).
pub(crate) const IDLE_BALANCE_NS_PER_CPU: u64 = 1_000_000;

impl<S: Run> Engine<'_, S> {
    pub(crate) fn llc(&self, c: u32) -> &[u32] {
        self.m.llcs.get(self.sched.llc_of[c as usize] as usize).map_or(&[], |l| l.as_slice())
    }

    pub(crate) fn same_llc(&self, a: u32, b: u32) -> bool {
        self.sched.llc_of[a as usize] == self.sched.llc_of[b as usize]
    }

    /// First allowed CPU, starting with `preferred`.
    pub(crate) fn allowed_or_first(&self, t: u32, preferred: u32) -> u32 {
        let allowed = self.tasks[t as usize].allowed();
        if allowed.contains(preferred) { preferred } else { allowed.iter().next().unwrap_or(0) }
    }

    /// CPUs in the lowest domain of `c`.
    pub(crate) fn lowest_domain(&self, c: u32) -> u64 {
        let threads = self.m.cpus[c as usize].smt.len();
        (if threads > 1 { threads } else { self.llc(c).len().max(1) }) as u64
    }
}
