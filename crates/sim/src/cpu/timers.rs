// SPDX-License-Identifier: GPL-2.0-only
//! Timers of tasks that sleep on a CPU, and the start of interrupts.

use pelton_schema::{Event, Sink};

use crate::engine::Engine;
use crate::engine::queue::Ev;

impl<S: Sink> Engine<'_, S> {
    /// Sleeping until `at_ns`: arms the task's timer on the CPU it sleeps on.
    pub(crate) fn arm_timer(&mut self, t: u32, at_ns: u64) {
        let task = &mut self.tasks[t as usize];
        task.timer_generation += 1;
        task.armed_ns = Some(at_ns);
        let generation = task.timer_generation;
        self.cpus[task.cpu as usize].timers.insert((at_ns, t));
        if at_ns <= self.end_ns {
            self.queue.push(at_ns, Ev::TaskTimer { task: t, generation });
        }
    }

    pub(crate) fn disarm_timer(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        if let Some(at) = task.armed_ns.take() {
            self.cpus[task.cpu as usize].timers.remove((at, t));
        }
    }

    pub(crate) fn irq_start(&mut self, source: u32) {
        let spec = self.w.irqs[source as usize];
        self.enter_irq(spec.cpu, source);
        self.queue.push(self.now.saturating_add(spec.duration_ns), Ev::IrqEnd { cpu: spec.cpu, source });
    }

    /// A device tells the CPU that asked it that it is done.
    pub(crate) fn io_irq_start(&mut self, t: u32) {
        let (device, cpu) = self.tasks[t as usize].asked();
        self.enter_irq(cpu, self.irq_of_device(device));
        let irq_ns = self.w.devices[device as usize].irq_ns;
        self.queue.push(self.now.saturating_add(irq_ns), Ev::IoIrqEnd { cpu, task: t });
    }

    /// Interrupts of devices are numbered behind the periodic ones.
    pub(crate) fn irq_of_device(&self, device: u32) -> u32 {
        self.w.irqs.len() as u32 + device
    }

    fn enter_irq(&mut self, c: u32, irq: u32) {
        self.account(c);
        self.cpus[c as usize].irq_depth += 1;
        self.cpus[c as usize].segment.cancel();
        self.emit(Event::IrqEntry { cpu: c, irq });
    }
}
