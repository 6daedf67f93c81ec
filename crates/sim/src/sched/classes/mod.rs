// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduling classes by the kernel's verbs (`struct sched_class`): a file each. Queues and which task is first on them
//! are in `class/`, signals and hooks in `rq/`; a verb says in which order they are called.

mod deadline;
mod fair;
mod realtime;
mod worker;

use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

use deadline::Deadline;
use fair::Fair;
use realtime::Realtime;
use worker::Worker;

/// Reason why a task leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// For another CPU.
    Moves,
    /// The task waits for something.
    Sleeps,
    /// The task ends.
    Ends,
}

/// Task that a CPU ran until it chooses, and its class where it is still runnable or where it leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub task: u32,
    pub runnable: Option<Class>,
    pub leaves: Option<Class>,
}

/// The verbs of a class. `c` is the CPU, `t` a task of the class.
pub(crate) trait SchedClass {
    /// A runnable task comes to `c`; `wakeup`: it slept.
    fn enqueue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, wakeup: bool);

    /// A task leaves, running or waiting. True when it stays queued (delayed dequeue).
    fn dequeue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, leaves: Leaves) -> bool;

    /// The first task of the class, the running one where that stays; `NO_TASK` = there is none.
    fn pick_task<S: Run>(e: &mut Engine<'_, S>, c: u32, prev: Outgoing) -> u32;

    /// The running task goes off the CPU for `next`; back to its queue when it is still on one.
    fn put_prev_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, next: u32, on_rq: bool);

    /// A queued task becomes the running one; `prev` is the class of the one before.
    fn set_next_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, prev: Option<Class>);

    /// A tick while the task runs; `queued`: it is the timer that ends its request.
    fn task_tick<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, queued: bool);

    /// True if a task that became runnable goes before the running one, of the same class.
    fn wakeup_preempt<S: Run>(e: &mut Engine<'_, S>, c: u32, curr: u32, t: u32) -> bool;

    /// Default: no action.
    fn task_woken<S: Run>(_e: &mut Engine<'_, S>, _c: u32, _t: u32) {}

    /// CPU for a task that becomes runnable; `exec` executes that; `sync`: whose task is about to sleep.
    fn select_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32, exec: u32, sync: bool) -> u32;

    /// A sleeping task wakes elsewhere: what the class left on the old CPU goes with it.
    fn migrate_task_rq<S: Run>(_e: &mut Engine<'_, S>, _t: u32) {}

    /// The running task gives way once.
    fn yield_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32);

    /// The running task is about to be of another class, or of this one with other parameters.
    fn switched_from<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32);

    /// The running task, of class `old` before, is of this one now.
    fn switched_to<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, old: Class);
}

macro_rules! of_class {
    ($class:expr, $verb:ident($($arg:expr),*)) => {
        match $class {
            Class::Fair => Fair::$verb($($arg),*),
            Class::Realtime => Realtime::$verb($($arg),*),
            Class::Deadline => Deadline::$verb($($arg),*),
            Class::Worker => Worker::$verb($($arg),*),
        }
    };
}

impl<S: Run> Engine<'_, S> {
    fn class_of(&self, t: u32) -> Class {
        self.tasks[t as usize].class()
    }

    #[inline]
    pub(super) fn enqueue_task(&mut self, c: u32, t: u32, wakeup: bool) {
        of_class!(self.class_of(t), enqueue_task(self, c, t, wakeup));
    }

    #[inline]
    pub(super) fn dequeue_task(&mut self, c: u32, t: u32, leaves: Leaves) -> bool {
        of_class!(self.class_of(t), dequeue_task(self, c, t, leaves))
    }

    /// The task that runs next: of the first class, in their order, that has one.
    #[inline]
    pub(super) fn pick_task(&mut self, c: u32, prev: Outgoing) -> u32 {
        let mut next = Worker::pick_task(self, c, prev);
        if next == NO_TASK {
            next = Deadline::pick_task(self, c, prev);
        }
        if next == NO_TASK {
            next = Realtime::pick_task(self, c, prev);
        }
        if next == NO_TASK { Fair::pick_task(self, c, prev) } else { next }
    }

    #[inline]
    pub(super) fn put_prev_task(&mut self, c: u32, t: u32, next: u32, on_rq: bool) {
        of_class!(self.class_of(t), put_prev_task(self, c, t, next, on_rq));
    }

    #[inline]
    pub(super) fn set_next_task(&mut self, c: u32, t: u32, prev: Option<Class>) {
        of_class!(self.class_of(t), set_next_task(self, c, t, prev));
    }

    #[inline]
    pub(super) fn task_tick(&mut self, c: u32, t: u32, queued: bool) {
        of_class!(self.class_of(t), task_tick(self, c, t, queued));
    }

    /// True if a task that became runnable goes before the running one. A class goes before those behind it.
    #[inline]
    pub(super) fn wakeup_preempt(&mut self, c: u32, curr: u32, t: u32) -> bool {
        let (new, old) = (self.class_of(t), self.class_of(curr));
        if new != old { new < old } else { of_class!(new, wakeup_preempt(self, c, curr, t)) }
    }

    #[inline]
    pub(super) fn task_woken(&mut self, c: u32, t: u32) {
        of_class!(self.class_of(t), task_woken(self, c, t));
    }

    /// CPU for a task that becomes runnable; `exec` executes the wake-up; `sync`: whose task is about to sleep.
    #[inline]
    pub(crate) fn select_cpu(&mut self, t: u32, exec: u32, sync: bool) -> u32 {
        of_class!(self.class_of(t), select_task_rq(self, t, exec, sync))
    }

    pub(super) fn migrate_task_rq(&mut self, t: u32) {
        of_class!(self.class_of(t), migrate_task_rq(self, t));
    }

    /// The running task of `c` gives way once.
    pub(crate) fn yield_task(&mut self, c: u32, t: u32) {
        of_class!(self.class_of(t), yield_task(self, c, t));
    }

    pub(super) fn switched_from(&mut self, c: u32, t: u32, class: Class) {
        of_class!(class, switched_from(self, c, t));
    }

    pub(super) fn switched_to(&mut self, c: u32, t: u32, old: Class) {
        of_class!(self.class_of(t), switched_to(self, c, t, old));
    }
}
