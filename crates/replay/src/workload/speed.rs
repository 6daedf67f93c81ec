// SPDX-License-Identifier: GPL-2.0-or-later
//! Work of a recorded CPU: its capacity and frequency at every moment, and what its idle states cost to leave.

use pelton_model::Machine;
use pelton_model::machine::{Costs, FreqDomain};
use pelton_schema::IDLE_EXIT;

/// Work is summed in ns at capacity 1024, shifted by this, as the simulator does: a burst recorded by the simulator
/// comes back to the nanosecond.
pub(super) const WORK_SHIFT: u32 = 16;

/// An interrupt at most this long after the end of idle was the one that ended it.
const AFTER_IDLE_NS: u64 = 50_000;

/// State of a recorded CPU as far as it is known.
#[derive(Clone, Debug, Default)]
struct Cpu {
    capacity: u32,
    ref_khz: u32,
    /// 0 = not known yet.
    khz: u32,
    /// The frequency is this CPU's own event, not a neighbour's.
    own: bool,
    domain: usize,
    idle: Option<u32>,
    /// Time at which it left idle, ns, and what that had cost, ns.
    left_idle: Option<(u64, u64)>,
}

/// The recorded machine while its events go by.
#[derive(Clone, Debug)]
pub(super) struct Speeds {
    cpus: Vec<Cpu>,
    machine: Machine,
    /// True when there is a platform.
    known: bool,
}

impl Speeds {
    /// The platform the trace was recorded on; `None` = every CPU has capacity 1024 at all times.
    pub fn new(machine: Option<&Machine>) -> Speeds {
        let Some(machine) = machine else {
            return Speeds { cpus: Vec::new(), machine: Machine::default(), known: false };
        };
        let cpu = |c: &pelton_model::machine::Cpu| {
            let domain = c.domain as usize;
            let ref_khz = machine.domains[domain].ref_khz.max(1);
            Cpu { capacity: c.capacity, ref_khz, domain, ..Cpu::default() }
        };
        Speeds { cpus: machine.cpus.iter().map(cpu).collect(), machine: machine.clone(), known: true }
    }

    /// Work per ns, shifted by [`WORK_SHIFT`]; a CPU whose frequency is not known yet runs at its highest.
    pub fn speed(&self, cpu: u32) -> u64 {
        let full = 1 << WORK_SHIFT;
        let Some(c) = self.cpus.get(cpu as usize) else { return full };
        let full = u64::from(c.capacity) << (WORK_SHIFT - 10);
        let khz = if c.khz == 0 { c.ref_khz } else { c.khz };
        (full * u64::from(khz) / u64::from(c.ref_khz)).max(1)
    }

    /// True when the speed rests on an assumption: no frequency event of this CPU yet.
    pub fn is_assumed(&self, cpu: u32) -> bool {
        !self.known || self.cpus.get(cpu as usize).is_none_or(|c| c.khz == 0)
    }

    /// CPUs whose speed a frequency event of `cpu` changes: itself, and neighbours that never had an event of their
    /// own.
    pub fn affected(&self, cpu: u32) -> Vec<u32> {
        let Some(domain) = self.cpus.get(cpu as usize).map(|c| c.domain) else { return Vec::new() };
        let takes = |(i, c): (usize, &Cpu)| (i as u32 == cpu || (c.domain == domain && !c.own)).then_some(i as u32);
        self.cpus.iter().enumerate().filter_map(takes).collect()
    }

    /// Sets the frequency of a CPU; `own` when the event was about this very CPU.
    pub fn set(&mut self, cpu: u32, khz: u32, own: bool) {
        if let Some(c) = self.cpus.get_mut(cpu as usize) {
            c.khz = khz;
            c.own |= own;
        }
    }

    /// Frequency of a CPU, kHz; 0 = not known.
    pub fn khz(&self, cpu: u32) -> u32 {
        self.cpus.get(cpu as usize).map_or(0, |c| c.khz)
    }

    /// Frequency at which each domain's work is counted now, kHz: the highest where no event had it.
    pub fn domain_khz(&self) -> impl Iterator<Item = u32> + '_ {
        let of = |domain: &FreqDomain| {
            let known = domain.cpus.iter().map(|&c| self.khz(c)).find(|&khz| khz != 0);
            known.unwrap_or(domain.ref_khz)
        };
        self.machine.domains.iter().map(of)
    }

    /// Costs of the scheduler's paths on the recorded machine.
    pub fn costs(&self) -> Costs {
        self.machine.costs
    }

    /// Frequency domain of a CPU the platform has.
    pub fn domain(&self, cpu: u32) -> Option<usize> {
        self.cpus.get(cpu as usize).map(|c| c.domain)
    }

    /// Two CPUs the platform has share no cache.
    pub fn is_far(&self, a: u32, b: u32) -> bool {
        let llc = |cpu: u32| self.machine.llcs.iter().position(|llc| llc.contains(&cpu));
        matches!((llc(a), llc(b)), (Some(a), Some(b)) if a != b)
    }

    /// A CPU enters or leaves an idle state.
    pub fn idle(&mut self, now_ns: u64, cpu: u32, state: u32) {
        let exit_ns = self.exit_ns(cpu);
        if let Some(c) = self.cpus.get_mut(cpu as usize) {
            if state == IDLE_EXIT {
                c.left_idle = c.idle.take().map(|_| (now_ns, exit_ns));
            } else {
                c.idle = Some(state);
                c.left_idle = None;
            }
        }
    }

    /// Time to leave the idle state of a CPU, ns.
    fn exit_ns(&self, cpu: u32) -> u64 {
        let asked = |cpu: u32| self.cpus.get(cpu as usize).and_then(|c| c.idle);
        let Some(state) = asked(cpu) else { return 0 };
        let (reached, _) = self.machine.reached_idle_state(cpu, state, asked);
        let states = &self.machine.domains[self.machine.cpus[cpu as usize].domain as usize].idle_states;
        states.get(reached as usize).map_or(0, |state| state.exit_latency_ns)
    }

    /// An interrupt on an idle CPU wakes a task: how long before that the hardware began to leave its idle state. Only
    /// the interrupt that ended the idle time had to wait for it; it may wake several tasks.
    pub fn wakeup_delay_ns(&mut self, now_ns: u64, cpu: u32) -> u64 {
        let Some(c) = self.cpus.get(cpu as usize) else { return 0 };
        if c.idle.is_some() {
            return self.exit_ns(cpu);
        }
        let recent = |&(at, _): &(u64, u64)| now_ns.saturating_sub(at) <= AFTER_IDLE_NS;
        c.left_idle.filter(recent).map_or(0, |(_, exit_ns)| exit_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::{Cluster, IdleState};

    /// Two CPUs of a cluster with a state of their own (10 us) and one of both (500 us).
    fn speeds() -> Speeds {
        let state = |exit_latency_ns, shared| IdleState { exit_latency_ns, shared, ..IdleState::default() };
        let idle_states = vec![state(10_000, false), state(500_000, true)];
        let domain = FreqDomain { cpus: vec![0, 1], idle_states, ref_khz: 1, ..FreqDomain::default() };
        let cpu = pelton_model::machine::Cpu { capacity: 1024, ..Default::default() };
        let clusters = vec![Cluster { cpus: vec![0, 1], ..Cluster::default() }];
        Speeds::new(Some(&Machine {
            cpus: vec![cpu.clone(), cpu],
            domains: vec![domain],
            clusters,
            ..Machine::default()
        }))
    }

    #[test]
    fn a_state_of_the_cluster_costs_its_way_out_only_when_all_are_in_it() {
        let mut speeds = speeds();
        speeds.idle(0, 0, 1);
        assert_eq!(speeds.wakeup_delay_ns(1, 0), 10_000, "the other CPU is awake");
        speeds.idle(2, 1, 1);
        assert_eq!(speeds.wakeup_delay_ns(3, 0), 500_000);
        speeds.idle(4, 0, IDLE_EXIT);
        assert_eq!(speeds.wakeup_delay_ns(5, 0), 500_000, "told right after");
        assert_eq!(speeds.wakeup_delay_ns(5, 1), 10_000, "the first one has ended it");
        assert_eq!(speeds.wakeup_delay_ns(4 + AFTER_IDLE_NS + 1, 0), 0);
    }
}
