// SPDX-License-Identifier: GPL-2.0-or-later
//! Timers of tasks that sleep on a CPU, and the start of interrupts.

use pelton_schema::Event;

use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::{Engine, Task};

/// Timer or device that a sleeping task waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sleep {
    /// Armed expiry, if it sleeps on a timer.
    armed_ns: Option<u64>,
    /// The CPU that armed it. It expires there, also when the task, whose dequeue is delayed, has moved.
    armed_on: u32,
    timer_generation: u32,
    /// True from a sleep for I/O until the task runs again.
    in_iowait: bool,
    /// The device that it asked last, and from which CPU.
    asked: (u32, u32),
}

impl Sleep {
    /// True from a sleep for I/O until the task runs again.
    #[inline]
    pub(crate) fn in_iowait(&self) -> bool {
        self.in_iowait
    }

    /// Ends the wait for I/O: the task runs, or its sleep was cancelled.
    #[inline]
    pub(crate) fn io_is_over(&mut self) {
        self.in_iowait = false;
    }

    /// The device that it asked last, and from which CPU.
    pub(crate) fn asked(&self) -> (u32, u32) {
        self.asked
    }

    /// Asleep, it wakes by itself: by its timer or its device.
    pub(crate) fn wakes(&self) -> bool {
        self.armed_ns.is_some() || self.in_iowait
    }

    /// Its timer: when, and on which CPU.
    #[cfg(test)]
    pub(crate) fn armed(&self) -> Option<(u64, u32)> {
        self.armed_ns.map(|at_ns| (at_ns, self.armed_on))
    }

    /// The CPU on which its timer expires.
    #[inline]
    pub(crate) fn timer_cpu(&self) -> u32 {
        self.armed_on
    }

    /// The timer of this generation is the one that it armed last.
    pub(crate) fn is_armed(&self, generation: u32) -> bool {
        self.timer_generation == generation
    }
}

impl Task {
    /// Goes to sleep for what a device does.
    pub(crate) fn ask(&mut self, device: u32) {
        self.sleep.in_iowait = true;
        self.sleep.asked = (device, self.cpu);
    }
}

impl<S: Run> Engine<'_, S> {
    /// Sleeping until `at_ns`: arms the task's timer on the CPU that executes it, as `switch_hrtimer_base` does where
    /// that CPU is not idle (`get_nohz_timer_target`, 6.12.118 and 7.2.12). Nothing moves it with the task.
    pub(crate) fn arm_timer(&mut self, t: u32, at_ns: u64) {
        let task = &mut self.tasks[t as usize];
        task.sleep.timer_generation += 1;
        (task.sleep.armed_ns, task.sleep.armed_on) = (Some(at_ns), task.cpu);
        let generation = task.sleep.timer_generation;
        self.cpus[task.cpu as usize].timers.insert((at_ns, t));
        if at_ns <= self.end_ns {
            self.queue.push(at_ns, Ev::TaskTimer { task: t, generation });
        }
    }

    pub(crate) fn disarm_timer(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        if let Some(at) = task.sleep.armed_ns.take() {
            self.cpus[task.sleep.armed_on as usize].timers.remove((at, t));
        }
    }

    pub(crate) fn irq_start(&mut self, source: u32) {
        let spec = self.w.irqs[source as usize];
        self.enter_irq(spec.cpu, source);
        self.queue.push(self.now.saturating_add(spec.duration_ns), Ev::IrqEnd { cpu: spec.cpu, source });
    }

    /// Begins the interrupt of the device of task `t`, which is done, on the CPU that asked the device.
    pub(crate) fn io_irq_start(&mut self, t: u32) {
        let (device, cpu) = self.tasks[t as usize].sleep.asked();
        self.enter_irq(cpu, self.irq_of_device(device));
        let irq_ns = self.w.devices[device as usize].irq_ns;
        self.queue.push(self.now.saturating_add(irq_ns), Ev::IoIrqEnd { cpu, task: t });
    }

    /// Interrupts of devices are numbered behind the periodic ones.
    pub(crate) fn irq_of_device(&self, device: u32) -> u32 {
        self.w.irqs.len() as u32 + device
    }

    /// CPU `c` ends an interrupt.
    pub(crate) fn leave_irq(&mut self, c: u32, irq: u32) {
        self.account(c);
        self.cpus[c as usize].line.irq_depth -= 1;
        self.update_clock(c);
        self.emit(Event::IrqExit { cpu: c, irq });
    }

    fn enter_irq(&mut self, c: u32, irq: u32) {
        self.account(c);
        self.cpus[c as usize].line.irq_depth += 1;
        self.cpus[c as usize].line.segment.cancel();
        self.emit(Event::IrqEntry { cpu: c, irq });
    }
}
