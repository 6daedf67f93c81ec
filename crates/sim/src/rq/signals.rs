// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler events passed to the policy core, and the hook calls that follow. No arithmetic: which record, which
//! order. A task's event is passed on its queue, then on the groups above it (`group_signals.rs`), of which a task of
//! the root has none.

use pelton_core::hook::how;
use pelton_core::{dequeue, ev};
use pelton_schema::{Event, HookSite, WalkWhy};

use crate::class::levels::{ROOT, slot_of};
use crate::class::tree::Leave;
use crate::rq::group_signals::Climb;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, Task};

impl<S: Run> Engine<'_, S> {
    pub(crate) fn delayed_dequeue(&self) -> bool {
        self.policy.delayed_dequeue != 0
    }

    pub(crate) fn signal_post_init(&mut self, c: u32, t: u32) {
        let slot = self.slot_on(c, self.tasks[t as usize].group);
        let cpu = &self.cpus[c as usize];
        let cfs = cpu.levels.load(slot).unwrap_or(&cpu.rq.cfs);
        self.tasks[t as usize].se.post_init(self.policy.get(), cfs, cpu.rq.cap_orig);
    }

    /// A fair task is queued, or a delayed one is woken before it left. [`Engine::check_enqueue_throttle`] comes
    /// before.
    pub(crate) fn signal_enqueue(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.sums_before_enqueue(c, t);
        let now = self.signal_clock.at(self.now);
        self.set_blocked(c, true);
        let (cpu, task) = (&mut self.cpus[c as usize], &self.tasks[t as usize]);
        cpu.rq.enqueue_begin(self.policy.get(), &task.se, now, 0, cpu.curr == NO_TASK);
        // One that is still queued is not enqueued again (enqueue_task_fair of 6.12.118 and 7.2.12).
        if task.sleep.in_iowait() && task.se.delayed == 0 {
            self.hook_event(c, HookSite::Iowait, 0);
            // The hook call for I/O may have asked.
            self.request_changes(c);
        }
        let slot = self.slot_on(c, self.tasks[t as usize].group);
        self.list(c, slot);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let requeued = task.se.delayed != 0;
        let bits = cpu.rq.enqueue_finish_on(self.policy.get(), cpu.levels.queue_records(slot), &mut task.se);
        self.entity_changed(c, t, slot, bits, Climb::START);
        if requeued {
            self.count_above(c, slot, 1);
        } else {
            self.enqueue_above(c, slot, bits, 1);
        }
        self.sums_enqueue(c, t);
    }

    /// A fair task that sleeps, and whose dequeue is delayed, comes from another CPU.
    pub(crate) fn signal_enqueue_delayed(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.set_blocked(c, true);
        if self.tasks[t as usize].sleep.in_iowait() {
            self.hook_event(c, HookSite::Iowait, 0);
            self.request_changes(c);
        }
        let slot = self.slot_on(c, self.tasks[t as usize].group);
        self.list(c, slot);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.enqueue_delayed_on(self.policy.get(), cpu.levels.queue_records(slot), &mut task.se);
        self.entity_changed(c, t, slot, bits, Climb::START);
        self.enqueue_above(c, slot, bits, 0);
        self.sums_enqueue(c, t);
    }

    /// An entity leaves its queue, and the groups of the plan theirs; the others above learn of it. `flags`: why, from
    /// [`dequeue`]; 0 = for a change of a task's parameters.
    pub(crate) fn signal_dequeue(&mut self, c: u32, entity: u32, flags: u32, plan: Leave) {
        self.request_changes(c);
        let home = self.tree_as_is(c).home(entity);
        let is_task = slot_of(entity).is_none();
        let counted = is_task && self.tasks[entity as usize].se.delayed == 0;
        let (bits, delta) = if is_task { self.signal_dequeue_task(c, entity, home, flags) } else { (0, 0) };
        self.dequeue_above(c, slot_of(entity).unwrap_or(home), plan, (bits, delta));
        if is_task {
            self.sums_dequeue(c, entity, flags);
        }
        if counted {
            self.signal_estimate_last(c, entity, flags);
        }
        self.put_what_left(c, entity, plan);
    }

    /// The task's own level; its bits and the change of runnable tasks above.
    fn signal_dequeue_task(&mut self, c: u32, t: u32, home: u32, flags: u32) -> (u32, i32) {
        self.sums_before_dequeue(c, t);
        let mut delta = 0;
        if home != ROOT {
            let se = &self.tasks[t as usize].se;
            delta = se.leave_delta(flags);
            if se.delay_ends(flags) {
                self.count_above(c, home, 1);
            }
        }
        let wall_ns = self.signal_clock.at(self.now);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let (is_idle, flags) = (cpu.curr == NO_TASK, flags | dequeue::ESTIMATE_LATER);
        let cfs = cpu.levels.queue_records(home);
        let bits = cpu.rq.dequeue_task_on(self.policy.get(), cfs, &mut task.se, wall_ns, is_idle, flags);
        self.entity_changed(c, t, home, bits, Climb::START);
        (bits, delta)
    }

    /// The end of a dequeue, after its hooks: kernels that lower the CPU's estimate last.
    pub(crate) fn signal_estimate_last(&mut self, c: u32, t: u32, flags: u32) {
        self.request_changes(c);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.rq.estimate_last(self.policy.get(), &mut task.se, flags & dequeue::SLEEP != 0);
    }

    /// The running entity of a queue goes back to it.
    pub(crate) fn signal_put_prev(&mut self, c: u32, entity: u32) {
        self.update_entity(c, entity, |policy, rq, at, se, owned| rq.put_prev_entity(policy, at, se, owned));
    }

    /// A queued entity becomes the running one of its queue.
    pub(crate) fn signal_set_next(&mut self, c: u32, entity: u32) {
        self.update_entity(c, entity, |policy, rq, at, se, owned| rq.set_next_entity(policy, at, se, owned));
    }

    /// The tick, per level; weights follow.
    pub(crate) fn signal_tick(&mut self, c: u32, t: u32) {
        let slot = self.home_of(c, t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.tick_entity(self.policy.get(), cpu.levels.queue_records(slot), &mut task.se, None);
        let with = Climb { how: how::TICK, ..Climb::START };
        self.entity_changed(c, t, slot, bits, with);
        self.tick_above(c, slot, Climb { below: bits, ..with });
    }

    /// A dequeue is delayed: asleep, but still queued.
    pub(crate) fn signal_delay(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.sums_before_dequeue(c, t);
        let (slot, wall_ns) = (self.home_of(c, t), self.signal_clock.at(self.now));
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.delay_task_on(self.policy.get(), cpu.levels.queue_records(slot), &mut task.se, wall_ns);
        self.entity_changed(c, t, slot, bits, Climb::ALONE);
        self.count_above(c, slot, -1);
    }

    /// A sleeping task will wake elsewhere: its share is taken out of the old queue at that queue's next update.
    pub(crate) fn signal_migrate_sleeping(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        self.signal_remove_sleeping(c, t, self.cpus[c as usize].curr == NO_TASK);
    }

    /// A task that ends leaves its share to be removed.
    pub(crate) fn signal_exit(&mut self, c: u32, t: u32) {
        self.signal_remove_sleeping(c, t, false);
    }

    fn signal_remove_sleeping(&mut self, c: u32, t: u32, is_idle: bool) {
        self.request_changes(c);
        self.sums_leave_asleep(t);
        let (slot, wall_ns) = (self.home_of(c, t), self.signal_clock.at(self.now));
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cfs = cpu.levels.queue_records(slot);
        cpu.rq.migrate_sleeping(self.policy.get(), cfs, &mut task.se, is_idle, wall_ns);
    }

    /// A task leaves the fair class for another: it is detached, its averages are kept.
    pub(crate) fn signal_leave_class(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        let slot = self.home_of(c, t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.switched_from_fair(self.policy.get(), cpu.levels.queue_records(slot), &mut task.se);
        if slot == ROOT {
            self.sums_follow(c);
            self.hook_event(c, HookSite::Detach, how::LEFTOVER);
        }
        self.propagate(c, slot, bits);
    }

    /// A task joins the fair class on the queue it was just put on: what is left of its averages is attached.
    pub(crate) fn signal_join_class(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        let slot = self.home_of(c, t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.switched_to_fair(self.policy.get(), cpu.levels.queue_records(slot), &mut task.se);
        let how = if slot == ROOT { how::LEFTOVER } else { 0 };
        self.entity_changed(c, t, slot, bits, Climb { how, ..Climb::ALONE });
        self.propagate(c, slot, bits);
    }

    /// A task starts in another class than fair.
    pub(crate) fn signal_init_other_class(&mut self, c: u32, t: u32) {
        let rq = &self.cpus[c as usize].rq;
        self.tasks[t as usize].se.init_other_class(&rq.ctx(self.policy.get(), &rq.cfs));
    }

    /// A task of another class moves: the averages it keeps follow the clock of the new CPU.
    pub(crate) fn signal_move_detached(&mut self, t: u32, from: u32, to: u32) {
        let se = &mut self.tasks[t as usize].se;
        if se.avg.last_update_time_ns == 0 {
            return;
        }
        let old = &self.cpus[from as usize].rq;
        old.cfs.sync_blocked(&old.ctx(self.policy.get(), &old.cfs), se);
        se.avg.last_update_time_ns = self.cpus[to as usize].rq.cfs.avg.last_update_time_ns;
    }

    /// A fair task gets another weight while it is off its queue.
    pub(crate) fn signal_reweight(&mut self, c: u32, t: u32) {
        let slot = self.home_of(c, t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cfs = cpu.levels.queue_records(slot).unwrap_or(&mut cpu.rq.cfs);
        cfs.reweight(self.policy.get(), &mut task.se, task.fair.weight());
    }

    /// Real-time utilization; `running` describes the time since its last update.
    pub(crate) fn signal_rt(&mut self, c: u32, running: bool) {
        self.set_blocked(c, true);
        let cpu = &mut self.cpus[c as usize];
        if cpu.rq.update_rt(self.policy.get(), running) == 0 {
            return;
        }
        self.request_changes(c);
        if S::ACTIVE {
            let util_avg = self.cpus[c as usize].rq.rt.util_avg as u32;
            self.emit(Event::PeltRt { cpu: c, util_avg });
        }
    }

    /// Deadline utilization; `running` describes the time since its last update.
    pub(crate) fn signal_dl(&mut self, c: u32, running: bool) {
        self.set_blocked(c, true);
        let cpu = &mut self.cpus[c as usize];
        if cpu.rq.update_dl(self.policy.get(), running) == 0 {
            return;
        }
        self.request_changes(c);
        if S::ACTIVE {
            let util_avg = self.cpus[c as usize].rq.dl.util_avg as u32;
            self.emit(Event::PeltDl { cpu: c, util_avg });
        }
    }

    /// Hardware pressure at the tick: what cooling takes now.
    pub(crate) fn signal_hw(&mut self, c: u32) {
        let lost = self.pressure(c).averaged;
        self.row_changes(c);
        let cpu = &mut self.cpus[c as usize];
        if cpu.rq.update_hw(self.policy.get(), lost) != 0 && S::ACTIVE {
            let load_avg = self.cpus[c as usize].rq.hw.load_avg;
            self.emit(Event::PeltHw { cpu: c, load_avg });
        }
    }

    /// The CPU starts to run its idle task.
    pub(crate) fn signal_enter_idle(&mut self, c: u32) {
        self.cpus[c as usize].rq.clock_enter_idle(self.policy.get());
    }

    /// Brings all records of a CPU up to now; `runs` says whose time it was.
    pub(crate) fn signal_blocked(&mut self, c: u32, runs: u32, why: WalkWhy) {
        self.charge_blocked(c, why);
        let lost = self.pressure(c).averaged;
        let cpu = &mut self.cpus[c as usize];
        let before = (cpu.rq.rt.util_avg, cpu.rq.dl.util_avg, cpu.rq.irq.util_avg);
        let bits = if cpu.levels.has_listed() {
            self.update_blocked_levels(c, runs)
        } else {
            cpu.rq.update_blocked(self.policy.get(), self.signal_clock.at(self.now), 0, runs, lost)
        };
        self.request_changes(c);
        self.sums_follow(c);
        let cpu = &self.cpus[c as usize];
        let is = cpu.curr != NO_TASK || cpu.rq.has_blocked() || cpu.levels.has_listed();
        self.set_blocked(c, is);
        if bits != 0 {
            self.emit_cfs(c);
            self.emit_others(c, before);
            self.hook_event(c, HookSite::Blocked, removed(bits));
        }
    }

    /// Reports the records of the other classes that changed from `before` = (rt, dl, irq).
    fn emit_others(&mut self, c: u32, before: (u64, u64, u64)) {
        if !S::ACTIVE {
            return;
        }
        let rq = &self.cpus[c as usize].rq;
        let (rt, dl, irq) = (rq.rt.util_avg, rq.dl.util_avg, rq.irq.util_avg);
        if rt != before.0 {
            self.emit(Event::PeltRt { cpu: c, util_avg: rt as u32 });
        }
        if dl != before.1 {
            self.emit(Event::PeltDl { cpu: c, util_avg: dl as u32 });
        }
        if irq != before.2 {
            self.emit(Event::PeltIrq { cpu: c, util_avg: irq as u32 });
        }
    }

    /// Passes the events of an update of the root queue to the hook filter.
    pub(crate) fn offer(&mut self, c: u32, bits: u32, how: u32) {
        let decayed = bits & (ev::DECAYED | ev::REMOVED | ev::PROPAGATED) != 0;
        let attached = bits & (ev::ATTACH | ev::DETACH) != 0;
        if decayed {
            let aged = bits & ev::DECAYED != 0;
            let with = if attached { how::ATTACHES } else { 0 } | if aged { 0 } else { how::PROPAGATED };
            self.hook_event(c, HookSite::Decay, how | with | removed(bits));
        }
        if attached {
            self.hook_event(c, if bits & ev::ATTACH != 0 { HookSite::Attach } else { HookSite::Detach }, how);
        }
    }

    pub(crate) fn emit_se(&mut self, c: u32, t: u32) {
        let se = &self.tasks[t as usize].se;
        let event = Event::PeltSe {
            cpu: c,
            tid: Task::tid(t),
            util_avg: se.avg.util_avg as u32,
            runnable_avg: se.avg.runnable_util(self.policy.get()),
            load_avg: se.avg.load_avg,
            util_est: se.task_util_est(self.policy.get()),
        };
        self.emit(event);
    }
}

fn removed(bits: u32) -> u32 {
    if bits & ev::REMOVED != 0 { how::REMOVED } else { 0 }
}
