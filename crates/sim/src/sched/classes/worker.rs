// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor's worker thread where it runs as a special deadline task: before all others, with no budget.

use super::deadline::is_like;
use super::{Leaves, Outgoing, SchedClass};
use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

pub(super) struct Worker;

impl SchedClass for Worker {
    #[inline]
    fn enqueue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _wakeup: bool) {
        e.cpus[c as usize].workers.enqueue(t, false);
    }

    #[inline]
    fn dequeue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, leaves: Leaves) -> bool {
        if leaves == Leaves::Moves {
            e.cpus[c as usize].workers.dequeue(t);
        } else {
            e.account_dl(c);
        }
        false
    }

    #[inline]
    fn pick_task<S: Run>(e: &mut Engine<'_, S>, c: u32, prev: Outgoing) -> u32 {
        if prev.runnable == Some(Class::Worker) {
            return prev.task;
        }
        e.cpus[c as usize].workers.first().unwrap_or(NO_TASK)
    }

    #[inline]
    fn put_prev_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _next: u32, on_rq: bool) {
        e.account_dl(c);
        e.signal_dl(c, true);
        if on_rq {
            e.cpus[c as usize].workers.enqueue(t, true);
        }
    }

    #[inline]
    fn set_next_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, prev: Option<Class>) {
        e.cpus[c as usize].workers.dequeue(t);
        if !is_like(prev) {
            e.signal_dl(c, false);
        }
    }

    fn task_tick<S: Run>(e: &mut Engine<'_, S>, c: u32, _t: u32, _queued: bool) {
        e.account_dl(c);
        e.signal_dl(c, true);
    }

    #[inline]
    fn wakeup_preempt<S: Run>(_e: &mut Engine<'_, S>, _c: u32, _curr: u32, _t: u32) -> bool {
        false
    }

    #[inline]
    fn select_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32, _exec: u32, _sync: bool) -> u32 {
        e.select_worker(t)
    }

    fn yield_task<S: Run>(e: &mut Engine<'_, S>, _c: u32, t: u32) {
        e.tasks[t as usize].rt.goes_behind();
    }

    fn switched_from<S: Run>(_e: &mut Engine<'_, S>, _c: u32, _t: u32) {}

    fn switched_to<S: Run>(_e: &mut Engine<'_, S>, _c: u32, _t: u32, _old: Class) {}
}
