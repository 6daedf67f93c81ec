// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_FIFO and SCHED_RR.

use super::{Leaves, Outgoing, SchedClass};
use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

pub(super) struct Realtime;

impl SchedClass for Realtime {
    #[inline]
    fn enqueue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _wakeup: bool) {
        e.tasks[t as usize].rt.renews_quantum();
        e.rt_enqueue(c, t, false);
        e.hook_rt(c);
    }

    #[inline]
    fn dequeue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, leaves: Leaves) -> bool {
        if leaves != Leaves::Moves {
            e.account_rt(c);
            e.stop_rt(c);
        } else if e.cpus[c as usize].curr == t {
            e.stop_rt(c);
        } else {
            e.rt_dequeue(c, t);
            e.hook_rt(c);
        }
        false
    }

    #[inline]
    fn pick_task<S: Run>(e: &mut Engine<'_, S>, c: u32, prev: Outgoing) -> u32 {
        if prev.leaves.is_some() {
            e.pull_rt(c, prev.task);
        }
        e.pick_rt(c, prev)
    }

    #[inline]
    fn put_prev_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _next: u32, on_rq: bool) {
        e.account_rt(c);
        e.signal_rt(c, true);
        let at_head = e.tasks[t as usize].rt.is_put_back();
        if on_rq {
            e.rt_enqueue(c, t, at_head);
        }
    }

    #[inline]
    fn set_next_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, prev: Option<Class>) {
        e.rt_dequeue(c, t);
        if prev != Some(Class::Realtime) {
            e.signal_rt(c, false);
        }
    }

    fn task_tick<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _queued: bool) {
        e.account_rt(c);
        e.signal_rt(c, true);
        e.check_rt_limit(c);
        e.rotate_rr(c, t);
    }

    #[inline]
    fn wakeup_preempt<S: Run>(e: &mut Engine<'_, S>, _c: u32, curr: u32, t: u32) -> bool {
        e.tasks[t as usize].rt.priority() > e.tasks[curr as usize].rt.priority()
    }

    fn task_woken<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32) {
        e.push_woken_rt(c, t);
    }

    #[inline]
    fn select_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32, _exec: u32, _sync: bool) -> u32 {
        e.select_rt(t)
    }

    fn yield_task<S: Run>(e: &mut Engine<'_, S>, _c: u32, t: u32) {
        e.tasks[t as usize].rt.goes_behind();
    }

    fn switched_from<S: Run>(e: &mut Engine<'_, S>, c: u32, _t: u32) {
        e.account_rt(c);
        e.signal_rt(c, true);
        e.cpus[c as usize].running = None;
        e.request_changes(c);
        e.hook_rt(c);
    }

    fn switched_to<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _old: Class) {
        e.tasks[t as usize].rt.renews_quantum();
        e.signal_rt(c, false);
        e.hook_rt(c);
    }
}
