// SPDX-License-Identifier: GPL-2.0-only
//! How much work a recorded CPU did: its capacity and frequency at every moment, and what its idle states cost to leave.

use pelton_sim::Machine;

/// Work is summed in ns at capacity 1024, shifted by this, as the simulator does: a burst recorded by the simulator
/// comes back to the nanosecond.
pub(super) const WORK_SHIFT: u32 = 16;

/// An interrupt at most this long after the end of idle was the one that ended it.
const AFTER_IDLE_NS: u64 = 50_000;

/// What is known about a recorded CPU.
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
    left_idle: Option<(u64, u32)>,
}

/// The recorded machine while its events go by.
#[derive(Clone, Debug)]
pub(super) struct Speeds {
    cpus: Vec<Cpu>,
    exit_latency_ns: Vec<Vec<u64>>,
    /// Highest frequency the platform knows for each domain.
    known: bool,
}

impl Speeds {
    /// The platform the trace was recorded on; `None` = every CPU has capacity 1024 at all times.
    pub fn new(machine: Option<&Machine>) -> Speeds {
        let Some(machine) = machine else {
            return Speeds { cpus: Vec::new(), exit_latency_ns: Vec::new(), known: false };
        };
        let cpu = |c: &pelton_sim::machine::Cpu| {
            let domain = c.domain as usize;
            Cpu { capacity: c.capacity, ref_khz: machine.domains[domain].ref_khz.max(1), domain, ..Cpu::default() }
        };
        let exits = |d: &pelton_sim::machine::FreqDomain| d.idle_states.iter().map(|s| s.exit_latency_ns).collect();
        Speeds {
            cpus: machine.cpus.iter().map(cpu).collect(),
            exit_latency_ns: machine.domains.iter().map(exits).collect(),
            known: true,
        }
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

    /// CPUs whose speed a frequency event of `cpu` changes: itself, and neighbours that never had an event of their own.
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

    /// A CPU enters or leaves an idle state.
    pub fn idle(&mut self, now_ns: u64, cpu: u32, state: u32) {
        if let Some(c) = self.cpus.get_mut(cpu as usize) {
            if state == u32::MAX {
                c.left_idle = c.idle.take().map(|state| (now_ns, state));
            } else {
                c.idle = Some(state);
                c.left_idle = None;
            }
        }
    }

    /// An interrupt on an idle CPU wakes a task: how long before that the hardware began to leave its idle state. Only
    /// the interrupt that ended the idle time had to wait for it; it may wake several tasks.
    pub fn wakeup_delay_ns(&mut self, now_ns: u64, cpu: u32) -> u64 {
        let Some(c) = self.cpus.get(cpu as usize) else { return 0 };
        let recent = |&(at, _): &(u64, u32)| now_ns.saturating_sub(at) <= AFTER_IDLE_NS;
        let state = c.idle.or(c.left_idle.filter(recent).map(|(_, state)| state));
        let of_domain = &self.exit_latency_ns[c.domain];
        state.and_then(|s| of_domain.get(s as usize)).copied().unwrap_or(0)
    }
}
