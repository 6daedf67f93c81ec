// SPDX-License-Identifier: GPL-2.0-only
//! How fast a core works: the requests of its hardware threads, the turbo limit and the load of siblings.

use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::state::Power;
use pelton_model::machine::Machine;

/// The CPUs that run as fast as the fastest of them asks for.
pub(crate) fn one_speed(m: &Machine, c: u32) -> &[u32] {
    let spec = &m.cpus[c as usize];
    if m.one_clock { &m.clusters[spec.cluster as usize].cpus } else { &spec.smt }
}

impl<S: Sink> Engine<'_, S> {
    /// Frequency of a core: the highest request of its threads (of the cluster, if that has one clock), within the
    /// turbo limit of the cores that are active.
    pub(crate) fn core_khz(&self, c: u32) -> u32 {
        let spec = &self.m.cpus[c as usize];
        let request = |&s: &u32| self.domains[self.m.cpus[s as usize].domain as usize].sugov.cur_khz;
        let wanted = one_speed(self.m, c).iter().map(request).max().unwrap_or(0);
        wanted.min(self.turbo_limit_khz(c, self.active_cores[spec.cluster as usize]))
    }

    /// Highest frequency with so many active cores; at least one is, when somebody runs.
    pub(crate) fn turbo_limit_khz(&self, c: u32, active: u32) -> u32 {
        let limits = &self.m.domains[self.m.cpus[c as usize].domain as usize].turbo_khz;
        let at = (active.max(1) as usize - 1).min(limits.len().saturating_sub(1));
        limits.get(at).copied().unwrap_or(u32::MAX)
    }

    pub(crate) fn awake_threads(&self, c: u32) -> usize {
        let awake = |&&s: &&u32| self.cpus[s as usize].power == Power::Awake;
        self.m.cpus[c as usize].smt.iter().filter(awake).count()
    }

    /// The part of the core's single-thread speed that each of its busy threads has, as a fraction.
    pub(crate) fn thread_share(&self, c: u32) -> (u64, u64) {
        let (busy, together_pct) = (self.awake_threads(c) as u64, self.m.smt_throughput_pct);
        if busy < 2 || together_pct == 0 { (1, 1) } else { (together_pct.into(), 100 * busy) }
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
