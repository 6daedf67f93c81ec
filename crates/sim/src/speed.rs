// SPDX-License-Identifier: GPL-2.0-only
//! How fast a CPU works: from the frequency of its domain to work per nanosecond and to the scale its signals see.

use pelton_schema::Sink;

use crate::engine::Engine;
use crate::state::SPEED_SHIFT;

impl<S: Sink> Engine<'_, S> {
    /// Sets a CPU's speed and the scale its signals see.
    pub(crate) fn apply_speed(&mut self, c: u32, khz: u32) {
        let spec = &self.m.cpus[c as usize];
        let domain = &self.m.domains[spec.domain as usize];
        let cpu = &mut self.cpus[c as usize];
        let full = u64::from(spec.capacity) << (SPEED_SHIFT - 10);
        cpu.speed = (full * u64::from(khz) / u64::from(domain.ref_khz.max(1))).max(1);
        let seen_khz = if domain.freq_invariant { khz } else { domain.ref_khz };
        cpu.rq.freq_scale = pelton_core::freq_scale(seen_khz, domain.ref_khz);
    }
}
