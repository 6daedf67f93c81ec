// SPDX-License-Identifier: GPL-2.0-or-later
//! Real-time tasks on one CPU: on their queue and off it, and what accounting asks of the frequency.

use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Puts an RT task on the queue of `c`.
    pub(crate) fn rt_enqueue(&mut self, c: u32, t: u32, at_head: bool) {
        self.request_changes(c);
        self.cpus[c as usize].rt.enqueue(self.tasks[t as usize].rt.priority(), t, at_head);
        self.waiting.rt_waiting.insert(c);
        self.start_rt_period();
    }

    /// Takes an RT task off the queue of `c`.
    pub(crate) fn rt_dequeue(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.cpus[c as usize].rt.dequeue(t);
        self.waiting.rt_waiting.set(c, self.cpus[c as usize].rt.len() > 0);
    }

    /// The running RT task is no longer runnable here: the class asks for a frequency without it.
    pub(crate) fn stop_rt(&mut self, c: u32) {
        self.cpus[c as usize].running = None;
        self.request_changes(c);
        self.hook_rt(c);
        self.cpus[c as usize].running = Some(Class::Realtime);
        self.request_changes(c);
    }
}
