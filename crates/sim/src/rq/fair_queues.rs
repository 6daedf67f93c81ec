// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair queues of a CPU as the rest of the engine sees them: a tree whose root is the CPU's own queue, and whose
//! other levels are the queues of task groups.

use pelton_core::dequeue;
use pelton_core::fair::FairSe;

use crate::class::levels::{ROOT, slot_of};
use crate::class::tree::Leave;
use crate::shape::Run;
use crate::state::{CpuState, Engine, NO_TASK, Task};

impl CpuState {
    /// First waiting fair task that is wanted, level by level.
    pub(crate) fn find_waiting(&self, wanted: &dyn Fn(&u32) -> bool) -> Option<u32> {
        self.find_below(ROOT, wanted)
    }

    /// All waiting fair tasks, delayed ones included.
    pub(crate) fn each_waiting(&self, each: &mut dyn FnMut(u32)) {
        let each = std::cell::RefCell::new(each);
        let none = self.find_waiting(&|&t| {
            each.borrow_mut()(t);
            false
        });
        debug_assert!(none.is_none(), "no task is wanted");
    }

    /// The running entity of a queue.
    pub(crate) fn running_at(&self, tasks: &[Task], slot: u32) -> Option<FairSe> {
        let curr = self.queue_at(slot).curr();
        match slot_of(curr) {
            Some(below) => Some(*self.levels.entity(below).se()),
            None => tasks.get(curr as usize).map(|t| *t.fair.se()),
        }
    }

    fn find_below(&self, slot: u32, wanted: &dyn Fn(&u32) -> bool) -> Option<u32> {
        let queue = self.queue_at(slot);
        let of = |&entity: &u32| match slot_of(entity) {
            Some(below) => self.find_below(below, wanted),
            None => Some(entity).filter(wanted),
        };
        // The group that runs has tasks that wait as well; the task that runs is not one of them.
        let running = slot_of(queue.curr()).map(|_| queue.curr());
        queue.waiting().iter().chain(&running).find_map(of)
    }
}

impl<S: Run> Engine<'_, S> {
    /// True where a task that was over-served stays queued when it sleeps.
    fn delays_dequeues(&self) -> bool {
        !self.fair_rules.is_cfs() && self.delayed_dequeue()
    }

    /// A fair task becomes runnable on `c`; its signals were updated before.
    pub(crate) fn fair_enqueue(&mut self, c: u32, t: u32, wakeup: bool) {
        let queued = self.cpus[c as usize].fair.h_nr_queued();
        self.tree(c).enqueue(t, wakeup);
        self.cache_joins(c, t);
        self.clocks_follow(c, self.tasks[t as usize].group);
        if queued == 0 && self.cpus[c as usize].fair.h_nr_queued() > 0 {
            self.server_start(c);
        }
    }

    /// A fair task leaves its queue on `c`, signals included. `flags`: why, from [`dequeue`]; 0 = for a change of its
    /// parameters.
    pub(crate) fn fair_dequeue(&mut self, c: u32, t: u32, flags: u32) {
        self.leave_levels(c, t, flags, flags & dequeue::SLEEP != 0, true);
    }

    /// An entity leaves its level, and empty groups theirs; `delays`: or their dequeues are delayed.
    pub(crate) fn leave_levels(&mut self, c: u32, entity: u32, flags: u32, sleeping: bool, delays: bool) {
        let plan: Leave = self.tree(c).plan(entity, delays);
        self.signal_dequeue(c, entity, flags, plan);
        if slot_of(entity).is_none() {
            self.cache_leaves(c, entity);
        }
        self.tree(c).leave(entity, sleeping, plan);
        self.return_runtime(c, entity);
    }

    /// Delays the dequeue of a task that was over-served. True when it did.
    pub(crate) fn fair_delay(&mut self, c: u32, t: u32) -> bool {
        if !self.delays_dequeues() || !self.tree(c).is_over_served(t) {
            return false;
        }
        self.signal_delay(c, t);
        self.cache_delays(c, t, false);
        self.tree(c).delay(t);
        true
    }

    /// A task whose dequeue was delayed is woken.
    pub(crate) fn fair_requeue(&mut self, c: u32, t: u32) {
        self.tree(c).requeue(t);
        self.cache_delays(c, t, true);
    }

    /// The task to run next, `NO_TASK` when there is none. A delayed entity that is picked really leaves.
    pub(crate) fn fair_pick(&mut self, c: u32) -> u32 {
        loop {
            let picked = self.tree(c).pick();
            if picked == NO_TASK {
                return NO_TASK;
            }
            if slot_of(picked).is_some() {
                self.leave_levels(c, picked, 0, true, true);
            } else if self.tasks[picked as usize].fair.is_delayed() {
                self.fair_dequeue(c, picked, dequeue::SLEEP);
            } else {
                return picked;
            }
        }
    }

    /// The task that ran goes back to its queue when it is still on one, and so do groups that `next` is not in.
    pub(crate) fn fair_put(&mut self, c: u32, next: u32) {
        let stays = self.tasks.get(next as usize).is_some_and(|next| next.is_fair());
        self.put_levels(c, if stays { next } else { NO_TASK });
    }

    /// Puts back what runs at each level and is not on the path to `next`.
    pub(crate) fn put_levels(&mut self, c: u32, next: u32) {
        loop {
            let tree = self.tree(c);
            let entity = tree.lowest_curr();
            if entity == NO_TASK || tree.is_on_path(entity, next) {
                return;
            }
            let home = tree.home(entity);
            self.signal_put_prev(c, entity);
            self.tree(c).put_level(home);
        }
    }

    /// A queued task becomes the running one.
    pub(crate) fn fair_set(&mut self, c: u32, t: u32) {
        let mut entity = t;
        while entity != NO_TASK && self.tree(c).set_level(entity) {
            self.signal_set_next(c, entity);
            entity = self.tree_as_is(c).above(entity);
            if slot_of(entity).is_some_and(|slot| self.cpus[c as usize].levels.at(slot).is_cut_off()) {
                // It runs on for a moment in a group that may not.
                return;
            }
        }
    }

    /// True if the running task should give way at the tick.
    pub(crate) fn fair_tick_preempts(&mut self, c: u32) -> bool {
        self.tree(c).tick_preempts()
    }

    /// True if the woken fair task preempts the running one.
    pub(crate) fn fair_wakeup_preempts(&mut self, c: u32, curr: u32, wakee: u32) -> bool {
        self.is_open(c, wakee) && self.tree(c).wakeup_preempts(curr, wakee)
    }

    /// The running task calls sched_yield(). Alone on its CPU it has no task to yield to.
    pub(crate) fn fair_yield(&mut self, c: u32, t: u32) {
        if self.cpus[c as usize].nr_running() > 1 {
            self.tree(c).yield_from(t);
        }
    }

    /// A task is made by one that runs on `c`.
    pub(crate) fn fair_fork(&mut self, c: u32, t: u32) {
        self.slot_on(c, self.tasks[t as usize].group);
        self.tree(c).fork(t);
    }

    /// A fair task that sleeps will wake on another CPU.
    pub(crate) fn fair_leave_asleep(&mut self, t: u32) {
        self.tree_as_is(self.tasks[t as usize].cpu).leave_asleep(t);
    }
}
