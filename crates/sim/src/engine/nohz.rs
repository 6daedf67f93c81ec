// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs that do not update their load themselves: the CPU that refreshes it looks here.

use pelton_model::workload::CpuSet;

/// Sets of CPUs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nohz {
    /// CPUs that went idle without their tick and that no tick found busy since.
    idle: CpuSet,
    /// CPUs whose averages may have load that still fades.
    blocked: CpuSet,
}

impl Nohz {
    /// CPU `c` is idle without its tick.
    pub(crate) fn enters(&mut self, c: u32) {
        self.idle.insert(c);
    }

    /// A tick found CPU `c` busy.
    pub(crate) fn leaves(&mut self, c: u32) {
        self.idle.remove(c);
    }

    /// CPUs idle without tick.
    #[inline]
    pub(crate) fn idle(&self) -> &CpuSet {
        &self.idle
    }

    /// Averages of CPU `c` may have load that still fades, or no longer.
    #[inline]
    pub(crate) fn set_blocked(&mut self, c: u32, is: bool) {
        self.blocked.set(c, is);
    }

    /// CPUs whose averages may have load that still fades.
    #[inline]
    pub(crate) fn blocked(&self) -> &CpuSet {
        &self.blocked
    }
}
