// SPDX-License-Identifier: GPL-2.0-or-later
//! Devices that tasks wait for: a number of requests at a time, the others in order.

use std::collections::VecDeque;

use crate::engine::queue::Ev;
use crate::program::ops::Flow;
use crate::shape::Run;
use crate::state::Engine;

/// A device at run time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Device {
    /// Requests that it works on.
    serves: u32,
    /// Tasks whose requests wait.
    waiters: VecDeque<u32>,
}

impl<S: Run> Engine<'_, S> {
    /// The running task asks a device and sleeps until it is done (`io_schedule()`).
    pub(crate) fn ask_device(&mut self, t: u32, device: u32) -> Flow {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        task.activation.pauses(now);
        task.ask(device);
        self.cpus[task.cpu as usize].line.io_begins();
        if self.programs.objects.devices[device as usize].serves < self.w.devices[device as usize].depth {
            self.programs.objects.devices[device as usize].serves += 1;
            self.serve(t, device);
        } else {
            self.programs.objects.devices[device as usize].waiters.push_back(t);
        }
        Flow::Block
    }

    /// A request is done: the device takes the next one, if there is one.
    pub(crate) fn next_request(&mut self, device: u32) {
        match self.programs.objects.devices[device as usize].waiters.pop_front() {
            Some(t) => self.serve(t, device),
            None => self.programs.objects.devices[device as usize].serves -= 1,
        }
    }

    fn serve(&mut self, t: u32, device: u32) {
        let spec = &self.w.devices[device as usize];
        let takes_ns = spec.service_ns.saturating_add(self.rng.up_to(spec.jitter_ns));
        self.queue.push(self.now.saturating_add(takes_ns), Ev::IoDone { task: t });
    }
}
