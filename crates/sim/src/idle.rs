// SPDX-License-Identifier: GPL-2.0-only
//! Entering and leaving idle. The state is chosen from the CPU's next armed timer: the deepest one that pays off until
//! then. Predicting governors take their place in `choose_idle_state`.

use pelton_core::value;
use pelton_schema::{Event, Sink};

use crate::engine::Engine;
use crate::queue::Ev;
use crate::state::Power;

impl<S: Sink> Engine<'_, S> {
    /// CPU `c` switched to its idle task: it goes idle when the kernel's own work is done.
    pub(crate) fn go_idle(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if cpu.power != Power::Awake || cpu.need_resched {
            return;
        }
        if cpu.overhead_ns > 0 || cpu.irq_depth > 0 {
            self.arm_segment(c);
        } else {
            self.enter_idle(c);
        }
    }

    /// The end of the work that keeps a CPU without a task awake.
    pub(crate) fn arm_idle_entry(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if cpu.power == Power::Awake {
            let at = self.now.saturating_add(cpu.overhead_ns);
            self.push_segment(c, at);
        }
    }

    /// CPU `c` has nothing to run.
    pub(crate) fn enter_idle(&mut self, c: u32) {
        // A newly idle CPU walks the others' blocked load when that is due: on a machine with short bursts only, nobody's
        // tick would. Since 4.17, with the release that counts silent CPUs in a shared domain.
        if self.policy.stale_cpu == value::STALE_CPU_COUNT {
            self.refresh_blocked(c);
        }
        let state = self.choose_idle_state(c);
        self.stop_tick(c);
        self.set_power(c, Power::Idle { state });
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_calls += 1;
        cpu.idle_since_ns = self.now;
        cpu.report.idle_entries[state as usize] += 1;
        self.emit(Event::CpuIdle { cpu: c, state });
    }

    fn choose_idle_state(&self, c: u32) -> u32 {
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        let until_timer = self.cpus[c as usize].timers.first().map_or(u64::MAX, |&(at, _)| at.saturating_sub(self.now));
        let pays = |s: &crate::machine::IdleState| s.min_residency_ns <= until_timer;
        domain.idle_states.iter().rposition(pays).unwrap_or(0) as u32
    }

    /// An idle CPU is needed: it can run after its exit latency.
    pub(crate) fn leave_idle(&mut self, c: u32) {
        let Power::Idle { state } = self.cpus[c as usize].power else { return };
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        let exit_ns = domain.idle_states.get(state as usize).map_or(0, |s| s.exit_latency_ns);
        self.set_power(c, Power::Exiting { state });
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_generation += 1;
        let generation = cpu.idle_generation;
        self.queue.push(self.now + exit_ns, Ev::IdleExit { cpu: c, generation });
    }

    /// Changes the power state, closing the energy and time totals of the old one.
    pub(crate) fn set_power(&mut self, c: u32, power: Power) {
        self.account(c);
        self.cluster_power_changes(c);
        self.cpus[c as usize].power = power;
    }
}
