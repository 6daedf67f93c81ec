// SPDX-License-Identifier: GPL-2.0-only
//! Asking a CPU to choose again: when it learns of it, and when it can.

use pelton_core::value;
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::queue::Ev;
use crate::engine::state::{NO_TASK, Power};

impl<S: Sink> Engine<'_, S> {
    /// A CPU chooses again when what its kernel is doing is done.
    pub(crate) fn finishes_path_first(&mut self, c: u32) -> bool {
        if self.cpus[c as usize].overhead_ns == 0 {
            return false;
        }
        self.account(c);
        let cpu = &self.cpus[c as usize];
        let waits = cpu.overhead_ns > 0 && cpu.power == Power::Awake && cpu.irq_depth == 0;
        if waits {
            self.arm_segment(c);
        }
        waits
    }

    /// Asks a CPU to choose again. Another CPU learns of it when the path that asks is done.
    pub(crate) fn resched_cpu(&mut self, c: u32) {
        if c == self.exec {
            self.request_resched(c);
            return;
        }
        let at = self.now + self.path_left_ns(self.exec);
        if at == self.now {
            self.react(c);
        } else if at < self.cpus[c as usize].reaction.wanted_ns()
            && let Some(generation) = self.cpus[c as usize].reaction.set(at)
        {
            self.queue.push(at, Ev::Reaction { cpu: c, generation });
        }
    }

    /// The same of a fair task for another fair one. Where preemption is lazy a CPU that runs something hears nothing
    /// of what another CPU asks for: it chooses again when it next returns to user mode.
    pub(crate) fn resched_curr_lazy(&mut self, c: u32) {
        let lazy = self.policy.preemption == value::PREEMPTION_LAZY && c != self.exec;
        if lazy && self.cpus[c as usize].curr != NO_TASK {
            self.cpus[c as usize].need_resched_lazy = true;
        } else {
            self.resched_cpu(c);
        }
    }

    /// CPU `c` ends an interrupt or a system call, and looks whether it was asked to choose again.
    pub(crate) fn exit_to_user(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if cpu.need_resched_lazy && cpu.power == Power::Awake && cpu.irq_depth == 0 {
            cpu.need_resched_lazy = false;
            self.request_resched(c);
        }
    }

    /// CPU `c` was asked within an interrupt that another one sent it, and that ends.
    pub(crate) fn ipi_ends(&mut self, c: u32) {
        if std::mem::take(&mut self.cpus[c as usize].need_resched_lazy) {
            self.resched_cpu(c);
        }
    }

    /// CPU `c` chooses: what it was asked is answered.
    pub(crate) fn clear_resched(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        (cpu.need_resched, cpu.need_resched_lazy) = (false, false);
    }

    /// How long the kernel path that CPU `c` executes still takes.
    pub(crate) fn path_left_ns(&mut self, c: u32) -> u64 {
        if self.cpus[c as usize].overhead_ns > 0 {
            self.account(c);
        }
        self.cpus[c as usize].overhead_ns
    }

    /// Another CPU's request arrives: by interrupt, unless this one is idle and watches for it.
    pub(crate) fn react(&mut self, c: u32) {
        let takes_interrupt = match self.cpus[c as usize].power {
            Power::Idle { .. } => self.idle_needs_ipi(c),
            Power::Exiting { .. } => false,
            Power::Awake => !self.cpus[c as usize].need_resched,
        };
        if takes_interrupt {
            self.charge_cost(c, self.m.costs.ipi_ns);
        }
        self.request_resched(c);
    }

    /// An idle CPU starts to leave its idle state, a busy one reschedules at once.
    fn request_resched(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        match cpu.power {
            Power::Idle { .. } => {
                cpu.wake_resched = true;
                self.leave_idle(c);
            }
            Power::Exiting { .. } => cpu.wake_resched = true,
            Power::Awake if !cpu.need_resched => {
                cpu.need_resched = true;
                self.resched.push_back(c);
            }
            Power::Awake => {}
        }
    }

    pub(crate) fn reaction_due(&mut self, cpu: u32, generation: u32) -> bool {
        match self.cpus[cpu as usize].reaction.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::Reaction { cpu, generation }),
            other => return other.is_ok(),
        }
        false
    }
}
