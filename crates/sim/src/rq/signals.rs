// SPDX-License-Identifier: GPL-2.0-only
//! Scheduler events told to the policy core, and the hook calls that follow. No arithmetic: which record, which order.

use pelton_core::hook::how;
use pelton_core::{dequeue, ev};
use pelton_schema::{Event, HookSite, Sink, WalkWhy};

use crate::class::levels::ROOT;
use crate::engine::Engine;
use crate::engine::state::{NO_TASK, Task};

impl<S: Sink> Engine<'_, S> {
    pub(crate) fn delayed_dequeue(&self) -> bool {
        self.policy.delayed_dequeue != 0
    }

    pub(crate) fn signal_post_init(&mut self, c: u32, t: u32) {
        if self.grouped {
            self.slot_on(c, self.tasks[t as usize].group);
        }
        let slot = self.task_slot(c, t);
        let cpu = &self.cpus[c as usize];
        let cfs = slot.map_or(&cpu.rq.cfs, |slot| &cpu.levels.slots[slot as usize].cfs);
        self.tasks[t as usize].se.post_init(self.policy, cfs, cpu.rq.cap_orig);
    }

    /// [`Engine::check_enqueue_throttle`] comes before.
    pub(crate) fn signal_enqueue(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.sums_before_enqueue(c, t);
        let now = self.signal_clock.at(self.now);
        let (cpu, task) = (&mut self.cpus[c as usize], &self.tasks[t as usize]);
        self.blocked.insert(c);
        cpu.rq.enqueue_begin(self.policy, &task.se, now, 0, cpu.curr == NO_TASK);
        if task.in_iowait {
            self.hook_event(c, HookSite::Iowait, 0);
        }
        if self.grouped && self.tasks[t as usize].group != ROOT {
            self.signal_enqueue_levels(c, t);
            return self.sums_enqueue(c, t);
        }
        // The hook call for I/O may have asked meanwhile.
        self.request_changes(c);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.enqueue_finish(self.policy, &mut task.se);
        self.published(c, t, bits, 0);
        self.sums_enqueue(c, t);
    }

    /// `flags`: why it leaves, from [`pelton_core::dequeue`]; 0 = for a change of its parameters.
    pub(crate) fn signal_dequeue(&mut self, c: u32, t: u32, flags: u32) {
        self.request_changes(c);
        self.sums_before_dequeue(c, t);
        let counted = self.tasks[t as usize].se.delayed == 0;
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            let (now, flags) = (self.signal_clock.at(self.now), flags | dequeue::ESTIMATE_LATER);
            cpu.rq.dequeue_task(self.policy, &mut task.se, now, 0, cpu.curr == NO_TASK, flags)
        };
        self.published(c, t, bits, 0);
        self.sums_dequeue(c, t, flags);
        if counted {
            self.signal_estimate_last(c, t, flags);
        }
        if self.cpus[c as usize].fair.curr == t {
            // The outgoing entity stops being the current one; its record was just brought up to date.
            self.signal_put_prev(c, t);
        }
    }

    /// The end of a dequeue, after its hooks: kernels that lower the CPU's estimate last.
    pub(crate) fn signal_estimate_last(&mut self, c: u32, t: u32, flags: u32) {
        self.request_changes(c);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.rq.estimate_last(self.policy, &mut task.se, flags & dequeue::SLEEP != 0);
    }

    pub(crate) fn signal_put_prev(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.switch_fair(self.policy, Some(&mut task.se), None, self.signal_clock.at(self.now), 0, false)
        };
        self.published(c, t, bits, 0);
    }

    pub(crate) fn signal_set_next(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.switch_fair(self.policy, None, Some(&mut task.se), self.signal_clock.at(self.now), 0, false)
        };
        self.published(c, t, bits, 0);
    }

    pub(crate) fn signal_tick(&mut self, c: u32, t: u32) {
        if let Some(slot) = self.task_slot(c, t) {
            return self.signal_tick_levels(c, t, slot);
        }
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.tick_fair(self.policy, &mut task.se, self.signal_clock.at(self.now), 0)
        };
        self.published(c, t, bits, how::TICK);
    }

    /// A dequeue is delayed: asleep, but still queued.
    pub(crate) fn signal_delay(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.sums_before_dequeue(c, t);
        if let Some(slot) = self.task_slot(c, t) {
            return self.signal_delay_levels(c, t, slot);
        }
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.delay_task(self.policy, &mut task.se, self.signal_clock.at(self.now), 0, false)
        };
        self.published(c, t, bits, 0);
    }

    /// A delayed task is woken before it left.
    pub(crate) fn signal_requeue(&mut self, c: u32, t: u32) {
        self.signal_enqueue(c, t);
    }

    /// A sleeping task will wake elsewhere: its share is taken out of the old queue at that queue's next update.
    pub(crate) fn signal_migrate_sleeping(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        self.request_changes(c);
        self.sums_leave_asleep(t);
        if let Some(slot) = self.task_slot(c, t) {
            return self.signal_migrate_levels(t, slot, self.cpus[c as usize].curr == NO_TASK);
        }
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let idle = cpu.curr == NO_TASK;
        cpu.rq.migrate_sleeping_task(self.policy, &mut task.se, idle, self.signal_clock.at(self.now));
    }

    /// A task that ends leaves its share to be removed.
    pub(crate) fn signal_exit(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        self.sums_leave_asleep(t);
        if let Some(slot) = self.task_slot(c, t) {
            return self.signal_migrate_levels(t, slot, false);
        }
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.rq.migrate_sleeping_task(self.policy, &mut task.se, false, self.signal_clock.at(self.now));
    }

    /// A task leaves the fair class for another: it is detached, its averages are kept.
    pub(crate) fn signal_leave_class(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        if let Some(slot) = self.task_slot(c, t) {
            return self.signal_leave_class_levels(c, t, slot);
        }
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let ctx = cpu.rq.ctx(self.policy, &cpu.rq.cfs);
        cpu.rq.cfs.switched_from_fair(&ctx, &mut task.se);
        self.sums_follow(c);
        self.hook_event(c, HookSite::Detach, how::LEFTOVER);
    }

    /// A task joins the fair class on the queue it was just put on: what is left of its averages is attached.
    pub(crate) fn signal_join_class(&mut self, c: u32, t: u32) {
        self.request_changes(c);
        if let Some(slot) = self.task_slot(c, t) {
            return self.signal_join_class_levels(c, t, slot);
        }
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            let ctx = cpu.rq.ctx(self.policy, &cpu.rq.cfs);
            cpu.rq.cfs.switched_to_fair(&ctx, &mut task.se)
        };
        self.published(c, t, bits, how::LEFTOVER);
    }

    /// A task starts in another class than fair.
    pub(crate) fn signal_init_other_class(&mut self, c: u32, t: u32) {
        let rq = &self.cpus[c as usize].rq;
        self.tasks[t as usize].se.init_other_class(&rq.ctx(self.policy, &rq.cfs));
    }

    /// A task of another class moves: the averages it keeps follow the clock of the new CPU.
    pub(crate) fn signal_move_detached(&mut self, t: u32, from: u32, to: u32) {
        let se = &mut self.tasks[t as usize].se;
        if se.avg.last_update_time_ns == 0 {
            return;
        }
        let old = &self.cpus[from as usize].rq;
        old.cfs.sync_blocked(&old.ctx(self.policy, &old.cfs), se);
        se.avg.last_update_time_ns = self.cpus[to as usize].rq.cfs.avg.last_update_time_ns;
    }

    /// A fair task gets another weight while it is off its queue.
    pub(crate) fn signal_reweight(&mut self, c: u32, t: u32) {
        let slot = self.task_slot(c, t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cfs = slot.map_or(&mut cpu.rq.cfs, |slot| &mut cpu.levels.slots[slot as usize].cfs);
        cfs.reweight(self.policy, &mut task.se, task.fair.weight());
    }

    /// Real-time utilization; `running` describes the time since its last update.
    pub(crate) fn signal_rt(&mut self, c: u32, running: bool) {
        self.blocked.insert(c);
        let cpu = &mut self.cpus[c as usize];
        if cpu.rq.update_rt(self.policy, running) == 0 {
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
        self.blocked.insert(c);
        let cpu = &mut self.cpus[c as usize];
        if cpu.rq.update_dl(self.policy, running) == 0 {
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
        if cpu.rq.update_hw(self.policy, lost) != 0 && S::ACTIVE {
            let load_avg = self.cpus[c as usize].rq.hw.load_avg;
            self.emit(Event::PeltHw { cpu: c, load_avg });
        }
    }

    /// The CPU starts to run its idle task.
    pub(crate) fn signal_enter_idle(&mut self, c: u32) {
        self.cpus[c as usize].rq.clock_enter_idle(self.policy);
    }

    /// Brings all records of a CPU up to now; `runs` says whose time it was.
    pub(crate) fn signal_blocked(&mut self, c: u32, runs: u32, why: WalkWhy) {
        self.charge_blocked(c, why);
        let lost = self.pressure(c).averaged;
        let cpu = &mut self.cpus[c as usize];
        let before = (cpu.rq.rt.util_avg, cpu.rq.dl.util_avg, cpu.rq.irq.util_avg);
        let bits = if self.grouped {
            self.update_blocked_levels(c, runs)
        } else {
            cpu.rq.update_blocked(self.policy, self.signal_clock.at(self.now), 0, runs, lost)
        };
        self.request_changes(c);
        self.sums_follow(c);
        let cpu = &self.cpus[c as usize];
        self.blocked.set(c, cpu.curr != NO_TASK || cpu.rq.has_blocked() || cpu.levels.has_listed());
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

    /// Reports new averages and tells the hook filter; `how` says where they come from.
    fn published(&mut self, c: u32, t: u32, bits: u32, how: u32) {
        self.row_changes(c);
        self.sums_follow(c);
        self.sums_update(c, t);
        if bits == 0 {
            return;
        }
        self.request_changes(c);
        if S::ACTIVE {
            self.emit_se(c, t);
            self.emit_cfs(c);
        }
        self.offer(c, bits, how);
    }

    /// Tells the hook filter what an update of the root queue raised.
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
            runnable_avg: se.avg.runnable_avg as u32,
            load_avg: se.avg.load_avg,
            util_est: se.task_util_est(self.policy),
        };
        self.emit(event);
    }

    pub(crate) fn emit_cfs(&mut self, c: u32) {
        let cfs = &self.cpus[c as usize].rq.cfs;
        let event = Event::PeltCfs {
            cpu: c,
            util_avg: cfs.avg.util_avg as u32,
            runnable_avg: cfs.avg.runnable_avg as u32,
            load_avg: cfs.avg.load_avg,
            util_est: cfs.util_est,
        };
        self.emit(event);
    }
}

fn removed(bits: u32) -> u32 {
    if bits & ev::REMOVED != 0 { how::REMOVED } else { 0 }
}
