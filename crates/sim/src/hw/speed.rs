// SPDX-License-Identifier: GPL-2.0-only
//! How fast a CPU works: from the requests of its core's hardware threads, the turbo limit and the load of its siblings to
//! work per nanosecond, and to the scale its signals see.

use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::state::{Power, SPEED_SHIFT};
use crate::machine::Machine;

/// The CPUs that run as fast as the fastest of them asks for.
pub(crate) fn one_speed(m: &Machine, c: u32) -> &[u32] {
    let spec = &m.cpus[c as usize];
    if m.one_clock { &m.clusters[spec.cluster as usize].cpus } else { &spec.smt }
}

impl<S: Sink> Engine<'_, S> {
    /// The request of a CPU's domain changed to `khz`: sets its speed, that of its siblings, and the scale of their signals.
    pub(crate) fn apply_speed(&mut self, c: u32, khz: u32) {
        if !self.shared_hardware {
            self.set_speed(c, khz, (1, 1));
            return;
        }
        let m = self.m;
        for &near in one_speed(m, c) {
            self.refresh_speed(near);
        }
    }

    /// Computes a CPU's speed again.
    fn refresh_speed(&mut self, c: u32) {
        self.account(c);
        self.set_speed(c, self.core_khz(c), self.thread_share(c));
        self.arm_segment(c);
    }

    fn set_speed(&mut self, c: u32, khz: u32, share: (u64, u64)) {
        // Neighbours make a CPU look again far more often than its speed changes.
        if self.cpus[c as usize].speed_of == (khz, share) {
            return;
        }
        self.cpus[c as usize].speed_of = (khz, share);
        let spec = &self.m.cpus[c as usize];
        let domain = &self.m.domains[spec.domain as usize];
        let opp = self.domains[spec.domain as usize].khz.partition_point(|&k| k < khz);
        let cpu = &mut self.cpus[c as usize];
        cpu.power_opp = opp.min(domain.opps.len() - 1) as u32;
        let full = u64::from(spec.capacity) << (SPEED_SHIFT - 10);
        let whole = full * u64::from(khz) / u64::from(domain.ref_khz.max(1));
        cpu.speed = (whole * share.0 / share.1).max(1);
        let scale_khz = if domain.scale_khz == 0 { domain.ref_khz } else { domain.scale_khz };
        let seen_khz = if domain.freq_invariant { khz.min(scale_khz) } else { scale_khz };
        cpu.rq.freq_scale = pelton_core::freq_scale(seen_khz, scale_khz);
    }

    /// Frequency of a core: the highest request of its threads (of the cluster, if that has one clock), within the turbo limit of the cores that are active.
    pub(crate) fn core_khz(&self, c: u32) -> u32 {
        let spec = &self.m.cpus[c as usize];
        let request = |&s: &u32| self.domains[self.m.cpus[s as usize].domain as usize].sugov.cur_khz;
        let wanted = one_speed(self.m, c).iter().map(request).max().unwrap_or(0);
        wanted.min(self.turbo_limit_khz(c, self.active_cores[spec.cluster as usize]))
    }

    /// Highest frequency with so many active cores; at least one is, when somebody runs.
    fn turbo_limit_khz(&self, c: u32, active: u32) -> u32 {
        let limits = &self.m.domains[self.m.cpus[c as usize].domain as usize].turbo_khz;
        let at = (active.max(1) as usize - 1).min(limits.len().saturating_sub(1));
        limits.get(at).copied().unwrap_or(u32::MAX)
    }

    fn awake_threads(&self, c: u32) -> usize {
        let awake = |&&s: &&u32| self.cpus[s as usize].power == Power::Awake;
        self.m.cpus[c as usize].smt.iter().filter(awake).count()
    }

    /// The part of the core's single-thread speed that each of its busy threads has, as a fraction.
    fn thread_share(&self, c: u32) -> (u64, u64) {
        let (busy, together_pct) = (self.awake_threads(c) as u64, self.m.smt_throughput_pct);
        if busy < 2 || together_pct == 0 { (1, 1) } else { (together_pct.into(), 100 * busy) }
    }

    /// Brings the totals of all threads of a core up to now, before one of them changes state.
    pub(crate) fn account_core(&mut self, c: u32) {
        let m = self.m;
        for &sibling in &m.cpus[c as usize].smt {
            self.account(sibling);
        }
    }

    /// A thread woke up or went idle: its siblings get slower or faster, and so may every core of the package.
    pub(crate) fn core_changes(&mut self, c: u32, before: Power, after: Power) {
        let (was, is) = (before == Power::Awake, after == Power::Awake);
        if was == is {
            return;
        }
        let m = self.m;
        let cluster = m.cpus[c as usize].cluster as usize;
        let others = self.awake_threads(c) - usize::from(is);
        let before_khz = self.turbo_limit_khz(c, self.active_cores[cluster]);
        if others == 0 {
            let active = self.active_cores[cluster];
            self.active_cores[cluster] = if is { active + 1 } else { active.saturating_sub(1) };
        }
        if self.turbo_limit_khz(c, self.active_cores[cluster]) != before_khz {
            for &near in &m.clusters[cluster].cpus {
                self.refresh_speed(near);
            }
            return;
        }
        for &sibling in &m.cpus[c as usize].smt {
            self.refresh_speed(sibling);
        }
    }

    /// The idle state a core is in when thread `c` asks for `state`: the shallowest its threads ask for.
    pub(crate) fn core_idle_state(&self, c: u32, state: u32) -> u32 {
        let smt = &self.m.cpus[c as usize].smt;
        if smt.len() < 2 {
            return state;
        }
        let halted = u32::from(self.m.domains[self.m.cpus[c as usize].domain as usize].polling);
        let of = |&s: &u32| match self.cpus[s as usize].power {
            _ if s == c => state,
            // The thread stops, its core does not: the first state that is not polling.
            Power::Awake => halted,
            Power::Idle { state } | Power::Exiting { state } => state.max(halted),
        };
        smt.iter().map(of).min().unwrap_or(state).min(state)
    }

    /// Number of threads that share the power of a core in which `c` is awake.
    pub(crate) fn power_sharers(&self, c: u32) -> u64 {
        if self.shared_hardware { self.awake_threads(c).max(1) as u64 } else { 1 }
    }
}
