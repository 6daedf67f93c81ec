// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_DEADLINE.

use super::fair::pick_fair;
use super::{Leaves, Outgoing, SchedClass};
use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

pub(super) struct Deadline;

/// The fair task that the server runs, if its deadline is before those of all deadline tasks; `NO_TASK`: there is none.
/// A server without tasks stops.
#[inline]
fn pick_served<S: Run>(e: &mut Engine<'_, S>, c: u32, stays: Option<u32>) -> u32 {
    let Some(server_ns) = e.server_deadline_ns(c) else { return NO_TASK };
    let own = stays.map_or(u64::MAX, |t| e.tasks[t as usize].dl.deadline_ns());
    let first = e.cpus[c as usize].dl.first().map_or(own, |(deadline_ns, _)| deadline_ns.min(own));
    if first <= server_ns {
        return NO_TASK;
    }
    let t = pick_fair(e, c);
    if t == NO_TASK {
        e.server_stop(c);
    }
    t
}

/// Both count as deadline time.
pub(super) fn is_like(class: Option<Class>) -> bool {
    matches!(class, Some(Class::Deadline | Class::Worker))
}

impl SchedClass for Deadline {
    #[inline]
    fn enqueue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, wakeup: bool) {
        e.dl_enqueue(c, t, wakeup);
    }

    #[inline]
    fn dequeue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, leaves: Leaves) -> bool {
        if leaves == Leaves::Moves {
            e.dl_leave(c, t);
        } else {
            e.account_dl(c);
            e.dl_sleep(c, t);
        }
        false
    }

    #[inline]
    fn pick_task<S: Run>(e: &mut Engine<'_, S>, c: u32, prev: Outgoing) -> u32 {
        if prev.leaves == Some(Class::Deadline) && !e.waiting.dl().is_empty() {
            e.pull_dl(c);
        }
        let stays = prev.runnable == Some(Class::Deadline);
        let served = pick_served(e, c, stays.then_some(prev.task));
        if served != NO_TASK {
            return served;
        }
        match e.cpus[c as usize].dl.first() {
            Some((deadline_ns, t)) => {
                let keep = stays && e.tasks[prev.task as usize].dl.deadline_ns() <= deadline_ns;
                if keep { prev.task } else { t }
            }
            None if stays => prev.task,
            None => NO_TASK,
        }
    }

    #[inline]
    fn put_prev_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _next: u32, on_rq: bool) {
        e.account_dl(c);
        e.signal_dl(c, true);
        if on_rq {
            e.cpus[c as usize].dl.enqueue(e.tasks[t as usize].dl.deadline_ns(), t);
            e.dl_waits(c);
        }
    }

    #[inline]
    fn set_next_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, prev: Option<Class>) {
        e.dl_dequeue(c, t);
        e.start_hrtick(t);
        if !is_like(prev) {
            e.signal_dl(c, false);
        }
    }

    fn task_tick<S: Run>(e: &mut Engine<'_, S>, c: u32, _t: u32, _queued: bool) {
        e.account_dl(c);
        e.signal_dl(c, true);
    }

    #[inline]
    fn wakeup_preempt<S: Run>(e: &mut Engine<'_, S>, _c: u32, curr: u32, t: u32) -> bool {
        e.tasks[t as usize].dl.deadline_ns() < e.tasks[curr as usize].dl.deadline_ns()
    }

    /// `task_woken_dl()`: a CPU that was asked to choose pushes when it has chosen.
    fn task_woken<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32) {
        if e.cpus[c as usize].resched.is_asked() || !e.tasks[t as usize].may_move() {
            return;
        }
        while e.push_dl(c) {}
    }

    #[inline]
    fn select_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32, _exec: u32, _sync: bool) -> u32 {
        e.select_deadline(t)
    }

    fn migrate_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32) {
        e.dl_migrate_sleeping(t);
    }

    /// Gives the rest of the task's budget away: it continues in its next period.
    fn yield_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32) {
        e.account(c);
        e.tasks[t as usize].dl.yields();
        e.account_dl(c);
    }

    fn switched_from<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32) {
        e.signal_dl(c, true);
        e.dl_leave(c, t);
        e.tasks[t as usize].dl.reset();
    }

    fn switched_to<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _old: Class) {
        e.dl_enqueue(c, t, true);
        e.dl_dequeue(c, t);
        e.start_hrtick(t);
        e.signal_dl(c, false);
    }
}
