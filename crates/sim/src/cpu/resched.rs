// SPDX-License-Identifier: GPL-2.0-or-later
//! Asking a CPU to choose again: when it learns of it, and when it can.

use pelton_core::value;

use crate::engine::queue::Ev;
use crate::engine::queue::Moment;
use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

/// Requests to a CPU to choose its task again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resched {
    /// True where the CPU chooses again as soon as it can.
    need: bool,
    /// True where the CPU chooses again when it next returns to user mode (`TIF_NEED_RESCHED_LAZY`).
    lazy: bool,
    /// True where the CPU was asked to reschedule while idle.
    when_awake: bool,
    /// Another CPU's request to reschedule is under way.
    remote: bool,
    /// The request of its running task is over, which a scheduler of sched_ext looks for at the tick.
    over: bool,
    /// Time at which requests of other CPUs arrive: to reschedule, or to carry out wake-ups.
    reaction: Moment,
}

impl Resched {
    /// True where the CPU chooses again as soon as it can.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.need
    }

    /// Takes the request that came while the CPU was idle: true where there was one.
    pub(crate) fn take_when_awake(&mut self) -> bool {
        std::mem::take(&mut self.when_awake)
    }

    /// Makes the CPU look for requests of other CPUs once it is awake.
    pub(crate) fn looks_when_awake(&mut self) {
        self.when_awake = true;
    }

    /// Takes what the tick of a scheduler of sched_ext looks for: true where the request of the running task is over.
    pub(crate) fn take_over(&mut self) -> bool {
        std::mem::take(&mut self.over)
    }

    /// Another CPU asked it to reschedule, and that arrives.
    pub(crate) fn take_remote(&mut self) -> bool {
        std::mem::take(&mut self.remote)
    }

    /// Another CPU's request is under way.
    #[cfg(test)]
    pub(crate) fn awaits_reaction(&self) -> bool {
        self.reaction.wanted_ns() < u64::MAX
    }
}

impl<S: Run> Engine<'_, S> {
    /// A CPU chooses again when what its kernel is doing is done.
    pub(crate) fn finishes_path_first(&mut self, c: u32) -> bool {
        if self.cpus[c as usize].line.overhead_ns == 0 {
            return false;
        }
        self.account(c);
        let cpu = &self.cpus[c as usize];
        let waits = cpu.line.overhead_ns > 0 && cpu.is_awake() && cpu.line.irq_depth == 0;
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
        } else {
            self.cpus[c as usize].resched.remote = true;
            self.expect_reaction(c, at);
        }
    }

    /// Makes the request of another CPU arrive at CPU `c` at `at_ns`, or at the time of an earlier one if that comes
    /// first.
    pub(crate) fn expect_reaction(&mut self, c: u32, at_ns: u64) {
        if at_ns < self.cpus[c as usize].resched.reaction.wanted_ns()
            && let Some(generation) = self.cpus[c as usize].resched.reaction.set(at_ns)
        {
            self.queue.push(at_ns, Ev::Reaction { cpu: c, generation });
        }
    }

    /// Asks CPU `c` to choose again because of one fair task, while another fair one runs. Where preemption is lazy a
    /// CPU that runs something notices nothing of what another CPU asks for: it chooses again when it next returns to
    /// user mode.
    pub(crate) fn resched_curr_lazy(&mut self, c: u32) {
        let lazy = self.policy.preemption == value::PREEMPTION_LAZY && c != self.exec;
        let lazy = lazy && self.policy.host == value::HOST_KERNEL;
        if lazy && self.cpus[c as usize].curr != NO_TASK {
            self.cpus[c as usize].resched.lazy = true;
        } else {
            self.resched_cpu(c);
        }
    }

    /// The request of the running fair task of CPU `c` is over.
    pub(crate) fn request_is_over(&mut self, c: u32) {
        if self.policy.host == value::HOST_LIVE {
            self.cpus[c as usize].resched.over = true;
        } else {
            self.resched_curr_lazy(c);
        }
    }

    /// CPU `c` ends an interrupt or a system call, and looks whether it was asked to choose again.
    pub(crate) fn exit_to_user(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if cpu.resched.lazy && cpu.is_awake() && cpu.line.irq_depth == 0 {
            cpu.resched.lazy = false;
            self.request_resched(c);
        }
    }

    /// CPU `c` chooses: what it was asked is answered.
    pub(crate) fn clear_resched(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        (cpu.resched.need, cpu.resched.lazy, cpu.resched.over) = (false, false, false);
    }

    /// Time that the kernel path which CPU `c` executes still takes, ns.
    pub(crate) fn path_left_ns(&mut self, c: u32) -> u64 {
        if self.cpus[c as usize].line.overhead_ns > 0 {
            self.account(c);
        }
        self.cpus[c as usize].line.overhead_ns
    }

    /// Another CPU's request arrives: by interrupt, unless this one is idle and watches for it.
    pub(crate) fn react(&mut self, c: u32) {
        let takes_interrupt = match self.cpus[c as usize].power() {
            Power::Idle { .. } => self.idle_needs_ipi(c),
            Power::Exiting { .. } => false,
            Power::Awake => !self.cpus[c as usize].resched.need,
        };
        if takes_interrupt {
            self.charge_cost(c, self.m.costs.ipi_ns);
        }
        self.request_resched(c);
    }

    /// An idle CPU starts to leave its idle state, a busy one reschedules at once.
    fn request_resched(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        match cpu.power() {
            Power::Idle { .. } => {
                cpu.resched.when_awake = true;
                self.leave_idle(c);
            }
            Power::Exiting { .. } => cpu.resched.when_awake = true,
            Power::Awake if !cpu.resched.need => {
                cpu.resched.need = true;
                self.lines.asks(c);
            }
            Power::Awake => {}
        }
    }

    pub(crate) fn reaction_due(&mut self, cpu: u32, generation: u32) -> bool {
        match self.cpus[cpu as usize].resched.reaction.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::Reaction { cpu, generation }),
            Err(None) => {}
            Ok(()) => return self.takes_interrupts(cpu),
        }
        false
    }

    /// A CPU that searches with interrupts off carries wake-ups out when it is done.
    fn takes_interrupts(&mut self, c: u32) -> bool {
        let until = self.cpus[c as usize].search.until_ns();
        let waits = self.now < until && self.cpus[c as usize].wake_list.is_pending();
        if waits {
            self.expect_reaction(c, until);
        }
        !waits
    }
}
