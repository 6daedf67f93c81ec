// SPDX-License-Identifier: GPL-2.0-only
//! A simple balancer: an idle CPU pulls a waiting task; a busy CPU with two wakes an idle one up for it. The full domain
//! hierarchy with its statistics replaces `periodic_balance` and `newidle_pull` when it comes.

use pelton_schema::Sink;

use crate::class::Class;
use crate::engine::Engine;
use crate::state::{NO_TASK, Power};

/// A task that ran this recently is cache-hot and stays (sysctl_sched_migration_cost).
const CACHE_HOT_NS: u64 = 500_000;
/// Shortest time between two periodic balances of one busy CPU.
const BALANCE_PERIOD_NS: u64 = 16_000_000;

impl<S: Sink> Engine<'_, S> {
    /// Keeps the set of overloaded CPUs current.
    pub(crate) fn note_load(&mut self, c: u32) {
        let over = self.cpus[c as usize].fair.nr_runnable() >= 2;
        self.overloaded.set(c, over);
    }

    /// CPU `c` is about to go idle: take a waiting fair task from the most loaded CPU.
    pub(crate) fn newidle_pull(&mut self, c: u32) -> bool {
        if self.overloaded.is_empty() {
            return false;
        }
        self.pull_fair(c, 1)
    }

    /// Moves one waiting task from the busiest CPU if that has at least `margin` + 1 more runnable tasks than `c`.
    fn pull_fair(&mut self, c: u32, margin: u32) -> bool {
        let own = self.cpus[c as usize].fair.nr_runnable();
        let busiest = self.overloaded.iter().filter(|&b| b != c).map(|b| (self.cpus[b as usize].fair.nr_runnable(), b));
        let Some((nr, busiest)) = busiest.max_by_key(|&(nr, b)| (nr, std::cmp::Reverse(b))) else { return false };
        if nr <= own + margin {
            return false;
        }
        let Some(t) = self.movable(busiest, c) else { return false };
        self.move_fair(t, busiest, c);
        true
    }

    fn movable(&self, from: u32, to: u32) -> Option<u32> {
        let movable = |&t: &u32| {
            let task = &self.tasks[t as usize];
            let hot = self.now - task.last_ran_ns < CACHE_HOT_NS && task.last_ran_ns > 0;
            task.allowed.contains(to) && !task.fair.delayed && !hot
        };
        self.cpus[from as usize].fair.queue.iter().copied().find(movable)
    }

    fn move_fair(&mut self, t: u32, from: u32, to: u32) {
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.note_load(from);
        self.set_task_cpu(t, to);
        let waiting_since_ns = self.tasks[t as usize].waiting_since_ns;
        self.enqueue(to, t, false);
        self.tasks[t as usize].waiting_since_ns = waiting_since_ns;
    }

    /// At the tick of a busy CPU.
    pub(crate) fn periodic_balance(&mut self, c: u32) {
        if self.overloaded.is_empty() {
            return;
        }
        if self.overloaded.contains(c) {
            self.kick_idle(c);
        }
        if self.now - self.cpus[c as usize].last_balance_ns >= BALANCE_PERIOD_NS {
            self.cpus[c as usize].last_balance_ns = self.now;
            if self.pull_fair(c, 1) {
                self.note_load(c);
            }
        }
    }

    /// Wakes an idle CPU that may take one of the waiting tasks.
    fn kick_idle(&mut self, c: u32) {
        let n = self.cpus.len() as u32;
        let idle = |i: u32| matches!(self.cpus[i as usize].power, Power::Idle { .. });
        let target = (1..n).map(|i| (c + i) % n).find(|&i| idle(i) && self.movable(c, i).is_some());
        if let Some(target) = target {
            self.leave_idle(target);
        }
    }

    /// CPU `c` would run something weaker than an RT task that waits elsewhere: take it.
    pub(crate) fn pull_rt(&mut self, c: u32) {
        if self.rt_waiting == self.cpus[c as usize].rt.len() {
            return;
        }
        let own = self.cpus[c as usize].rt.first().map_or(0, |(p, _)| p);
        let mut best: Option<(u8, u32, u32)> = None;
        for from in (0..self.cpus.len() as u32).filter(|&f| f != c) {
            // The head of a CPU whose own running task is weaker is about to run there.
            let about_to_run = self.cpus[from as usize].class != Some(Class::Realtime)
                && self.cpus[from as usize].class.is_none_or(|k| k > Class::Realtime);
            for (p, t) in self.cpus[from as usize].rt.waiting().skip(usize::from(about_to_run)) {
                if p > own && self.tasks[t as usize].allowed.contains(c) && best.is_none_or(|(b, _, _)| p > b) {
                    best = Some((p, t, from));
                }
            }
        }
        if let Some((_, t, from)) = best {
            self.move_rt(t, from, c);
        }
    }

    /// An RT task that has to wait on `c` goes where something weaker runs.
    pub(crate) fn push_rt(&mut self, c: u32, t: u32) {
        let Some(target) = self.weakest_cpu(t).filter(|&w| w != c) else { return };
        self.move_rt(t, c, target);
        let curr = self.cpus[target as usize].curr;
        if curr == NO_TASK
            || self.rt_strength(target) < 2 + u32::from(self.tasks[t as usize].rt.priority)
            || self.tasks[curr as usize].class > Class::Realtime
        {
            self.resched_cpu(target);
        }
    }

    fn move_rt(&mut self, t: u32, from: u32, to: u32) {
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.set_task_cpu(t, to);
        self.enqueue(to, t, false);
    }
}
