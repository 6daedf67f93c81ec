// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_OTHER, SCHED_BATCH and SCHED_IDLE.

use pelton_core::dequeue;
use pelton_core::hook::how;
use pelton_schema::HookSite;

use super::{Leaves, Outgoing, SchedClass};
use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

pub(super) struct Fair;

/// The first fair task of a CPU, for its class or for the server.
#[inline]
pub(super) fn pick_fair<S: Run>(e: &mut Engine<'_, S>, c: u32) -> u32 {
    let (delayed, before) = (e.cpus[c as usize].fair.nr_delayed(), e.cpus[c as usize].is_sched_idle());
    let t = e.fair_pick(c);
    if e.cpus[c as usize].fair.nr_delayed() != delayed {
        e.note_load(c);
        e.left_to_idle_tasks(c, before);
    }
    t
}

impl SchedClass for Fair {
    #[inline]
    fn enqueue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, wakeup: bool) {
        e.tasks[t as usize].sched.list_place = e.balancing.at_head();
        e.check_enqueue_throttle(c, t);
        if e.tasks[t as usize].fair.is_delayed() {
            e.signal_enqueue_delayed(c, t);
        } else {
            e.signal_enqueue(c, t);
        }
        e.fair_enqueue(c, t, wakeup);
        if wakeup {
            e.vote_usage(c);
        }
        e.hook_second_task(c);
        e.update_hrtick_fair(c);
    }

    #[inline]
    fn dequeue_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, leaves: Leaves) -> bool {
        let before = e.cpus[c as usize].is_sched_idle();
        if leaves == Leaves::Moves {
            e.fair_dequeue(c, t, dequeue::MIGRATE);
            e.left_to_idle_tasks(c, before);
            return false;
        }
        if leaves == Leaves::Sleeps && e.fair_delay(c, t) {
            return true;
        }
        e.fair_dequeue(c, t, dequeue::SLEEP);
        e.left_to_idle_tasks(c, before);
        e.vote_dequeue(c);
        false
    }

    #[inline]
    fn pick_task<S: Run>(e: &mut Engine<'_, S>, c: u32, _prev: Outgoing) -> u32 {
        loop {
            let t = pick_fair(e, c);
            if t != NO_TASK || !e.sched_balance_newidle(c) {
                return t;
            }
        }
    }

    #[inline]
    fn put_prev_task<S: Run>(e: &mut Engine<'_, S>, c: u32, _t: u32, next: u32, _on_rq: bool) {
        e.fair_put(c, next);
    }

    #[inline]
    fn set_next_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, _prev: Option<Class>) {
        if !e.balancing.newest_first {
            e.tasks[t as usize].sched.list_place = e.balancing.at_head();
        }
        e.fair_set(c, t);
        e.start_hrtick_fair(c, t);
    }

    /// Updates signals and checks preemption. The timer that ends a request (`queued`) preempts without a check, and
    /// leaves out the marks of its CPU: misfit, over-utilization, caches.
    fn task_tick<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, queued: bool) {
        e.signal_tick(c, t);
        if !queued {
            e.note_misfit(c, t);
            e.note_outgrown(c, t);
            e.note_overutilized(c);
            e.cache_ticks(c, t);
        }
        if queued || e.fair_tick_preempts(c) {
            e.resched_cpu(c);
        }
        e.hook_event(c, HookSite::Tick, how::TICK);
        e.vote_tick(c);
    }

    #[inline]
    fn wakeup_preempt<S: Run>(e: &mut Engine<'_, S>, c: u32, curr: u32, t: u32) -> bool {
        e.fair_wakeup_preempts(c, curr, t)
    }

    #[inline]
    fn select_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32, exec: u32, sync: bool) -> u32 {
        e.select_task_rq_fair(t, exec, sync)
    }

    fn migrate_task_rq<S: Run>(e: &mut Engine<'_, S>, t: u32) {
        // One that sleeps since before the run has left no share behind.
        if e.tasks[t as usize].se.avg.last_update_time_ns > 0 {
            e.signal_migrate_sleeping(t);
        }
        e.fair_leave_asleep(t);
    }

    fn yield_task<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32) {
        e.fair_yield(c, t);
    }

    fn switched_from<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32) {
        e.fair_dequeue(c, t, 0);
        e.put_levels(c, NO_TASK);
    }

    fn switched_to<S: Run>(e: &mut Engine<'_, S>, c: u32, t: u32, old: Class) {
        e.check_enqueue_throttle(c, t);
        e.signal_enqueue(c, t);
        if old != Class::Fair {
            e.signal_join_class(c, t);
        }
        e.fair_enqueue(c, t, false);
        e.fair_set(c, t);
    }
}
