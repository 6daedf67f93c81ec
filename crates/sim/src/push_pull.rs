// SPDX-License-Identifier: GPL-2.0-only
//! Real-time tasks run where something weaker runs: pushed away when they have to wait, pulled when a CPU would run less.

use pelton_schema::Sink;

use crate::class::Class;
use crate::engine::Engine;
use crate::state::NO_TASK;

/// Strength of a deadline task: above every real-time priority.
const STRENGTH_DEADLINE: u32 = 200;

impl<S: Sink> Engine<'_, S> {
    /// Strength of what runs or is about to run on a CPU: 0 idle, 1 fair, 2 + priority RT, above all deadline.
    pub(crate) fn rt_strength(&self, c: u32) -> u32 {
        let cpu = &self.cpus[c as usize];
        let deadline = matches!(cpu.class, Some(Class::Deadline | Class::Worker));
        if deadline || cpu.dl.len() > 0 || !cpu.workers.is_empty() {
            return STRENGTH_DEADLINE;
        }
        if cpu.class == Some(Class::Realtime) {
            return 2 + u32::from(self.tasks[cpu.curr as usize].rt.priority);
        }
        match cpu.rt.first() {
            Some((priority, _)) if !cpu.rt_throttled() => 2 + u32::from(priority),
            _ => u32::from(cpu.curr != NO_TASK || cpu.fair.nr_runnable() > 0),
        }
    }

    /// An RT task stays unless something as strong runs there; then the allowed CPU with the weakest load.
    pub(crate) fn select_rt(&self, t: u32) -> u32 {
        let prev = self.allowed_or_first(t, self.tasks[t as usize].cpu);
        if self.rt_strength(prev) < 2 + u32::from(self.tasks[t as usize].rt.priority) {
            return prev;
        }
        self.weakest_cpu(t).unwrap_or(prev)
    }

    /// Allowed CPU whose running task is weaker than `t`, the weakest first; one that may not run RT tasks now is not weak.
    fn weakest_cpu(&self, t: u32) -> Option<u32> {
        let own = 2 + u32::from(self.tasks[t as usize].rt.priority);
        let mut best: Option<(u32, u32)> = None;
        for c in self.tasks[t as usize].allowed.iter() {
            let strength = self.rt_strength(c);
            if strength < best.map_or(own, |(s, _)| s) && !self.cpus[c as usize].rt_throttled() {
                best = Some((strength, c));
                if strength == 0 {
                    break;
                }
            }
        }
        best.map(|(_, c)| c)
    }

    /// CPU `c` would run something weaker than an RT task that waits elsewhere: take the strongest.
    pub(crate) fn pull_rt(&mut self, c: u32) {
        if self.rt_waiting.is_empty() || self.cpus[c as usize].rt_throttled() {
            return;
        }
        let own = self.cpus[c as usize].rt.first().map_or(0, |(p, _)| p);
        let mut best: Option<(u8, u32, u32)> = None;
        for from in self.rt_waiting.iter().filter(|&f| f != c) {
            let cpu = &self.cpus[from as usize];
            // The head of a CPU whose own running task is weaker is about to run there.
            let about_to_run = cpu.class.is_none_or(|k| k > Class::Realtime) && !cpu.rt_throttled();
            for (p, t) in cpu.rt.waiting().skip(usize::from(about_to_run)) {
                if p > own && self.tasks[t as usize].allowed.contains(c) && best.is_none_or(|(b, _, _)| p > b) {
                    best = Some((p, t, from));
                }
            }
        }
        if let Some((_, t, from)) = best {
            self.move_rt(t, from, c);
        }
    }

    /// RT task `t` has to wait on `c`: it goes where something weaker runs. True when it went.
    pub(crate) fn push_rt(&mut self, c: u32, t: u32) -> bool {
        let Some(target) = self.weakest_cpu(t).filter(|&w| w != c) else { return false };
        self.move_rt(t, c, target);
        self.resched_cpu(target);
        true
    }

    /// Whatever the task just picked on `c` keeps waiting may run elsewhere.
    pub(crate) fn push_waiting(&mut self, c: u32) {
        if self.cpus[c as usize].dl.len() > 0 {
            self.push_dl(c);
        }
        while let Some((_, t)) = self.cpus[c as usize].rt.first() {
            if !self.push_rt(c, t) {
                break;
            }
        }
    }

    fn move_rt(&mut self, t: u32, from: u32, to: u32) {
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.set_task_cpu(t, to);
        let waiting_since_ns = self.tasks[t as usize].waiting_since_ns;
        self.enqueue(to, t, false);
        self.tasks[t as usize].waiting_since_ns = waiting_since_ns;
    }

    /// Puts an RT task on the queue of `c`.
    pub(crate) fn rt_enqueue(&mut self, c: u32, t: u32, at_head: bool) {
        self.request_changes(c);
        self.cpus[c as usize].rt.enqueue(self.tasks[t as usize].rt.priority, t, at_head);
        self.rt_waiting.insert(c);
        self.start_rt_period();
    }

    /// Takes an RT task off the queue of `c`.
    pub(crate) fn rt_dequeue(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.cpus[c as usize].rt.dequeue(t);
        self.rt_waiting.set(c, self.cpus[c as usize].rt.len() > 0);
    }
}
