// SPDX-License-Identifier: GPL-2.0-only
//! Scheduler events told to the policy core, and the hook calls that follow. No arithmetic: which record, which order.

use pelton_core::{dequeue, ev, runs};
use pelton_schema::{Event, HookSite, Sink};

use crate::engine::Engine;
use crate::state::{NO_TASK, Task};

impl<S: Sink> Engine<'_, S> {
    /// Brings a CPU's clocks up to now, handing over the interrupt time since the last time.
    pub(crate) fn update_clock(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        let irq_ns = std::mem::take(&mut cpu.irq_pending_ns);
        let decayed = cpu.rq.clock_update(&self.policy, self.boot_ns + self.now, irq_ns, cpu.curr == NO_TASK);
        if S::ACTIVE && decayed {
            let util_avg = self.cpus[c as usize].rq.irq.util_avg as u32;
            self.emit(Event::PeltIrq { cpu: c, util_avg });
        }
    }

    pub(crate) fn delayed_dequeue(&self) -> bool {
        self.policy.delayed_dequeue != 0
    }

    pub(crate) fn signal_post_init(&mut self, c: u32, t: u32) {
        let cpu = &self.cpus[c as usize];
        self.tasks[t as usize].se.post_init(&self.policy, &cpu.rq.cfs, cpu.rq.cap_orig);
    }

    pub(crate) fn signal_enqueue(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.has_blocked = true;
            cpu.rq.enqueue_task(&self.policy, &mut task.se, self.boot_ns + self.now, 0, cpu.curr == NO_TASK)
        };
        self.published(c, t, bits);
    }

    /// `sleeping`: leaves because it sleeps; otherwise it moves to another CPU and takes its averages along.
    pub(crate) fn signal_dequeue(&mut self, c: u32, t: u32, sleeping: bool) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            let flags = if sleeping { dequeue::SLEEP } else { dequeue::MIGRATE };
            cpu.rq.dequeue_task(&self.policy, &mut task.se, self.boot_ns + self.now, 0, cpu.curr == NO_TASK, flags)
        };
        self.published(c, t, bits);
        if self.cpus[c as usize].curr == t {
            // The outgoing entity stops being the current one; its record was just brought up to date.
            self.signal_put_prev(c, t);
        }
    }

    pub(crate) fn signal_put_prev(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.switch_fair(&self.policy, Some(&mut task.se), None, self.boot_ns + self.now, 0, false)
        };
        self.published(c, t, bits);
    }

    pub(crate) fn signal_set_next(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.switch_fair(&self.policy, None, Some(&mut task.se), self.boot_ns + self.now, 0, false)
        };
        self.published(c, t, bits);
    }

    pub(crate) fn signal_tick(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.tick_fair(&self.policy, &mut task.se, self.boot_ns + self.now, 0)
        };
        self.published(c, t, bits);
    }

    /// A dequeue is delayed: asleep, but still queued.
    pub(crate) fn signal_delay(&mut self, c: u32, t: u32) {
        let bits = {
            let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
            cpu.rq.delay_task(&self.policy, &mut task.se, self.boot_ns + self.now, 0, false)
        };
        self.published(c, t, bits);
    }

    /// A delayed task really leaves.
    pub(crate) fn signal_finish_delayed(&mut self, c: u32, t: u32) {
        self.signal_dequeue(c, t, true);
    }

    /// A delayed task is woken before it left.
    pub(crate) fn signal_requeue(&mut self, c: u32, t: u32) {
        self.signal_enqueue(c, t);
    }

    /// A sleeping task will wake elsewhere: its share is taken out of the old queue at that queue's next update.
    pub(crate) fn signal_migrate_sleeping(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let idle = cpu.curr == NO_TASK;
        cpu.rq.migrate_sleeping_task(&self.policy, &mut task.se, idle, self.boot_ns + self.now);
    }

    /// A task that ends leaves its share to be removed.
    pub(crate) fn signal_exit(&mut self, c: u32, t: u32) {
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.rq.migrate_sleeping_task(&self.policy, &mut task.se, false, self.boot_ns + self.now);
    }

    /// A task leaves the fair class for another: it is detached, its averages are kept.
    pub(crate) fn signal_leave_class(&mut self, c: u32, t: u32) {
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let ctx = cpu.rq.ctx(&self.policy, &cpu.rq.cfs);
        cpu.rq.cfs.switched_from_fair(&ctx, &mut task.se);
        if self.hooks.attach {
            self.hook(c, HookSite::Detach, 0);
        }
    }

    /// Real-time utilization; `running` describes the time since its last update.
    pub(crate) fn signal_rt(&mut self, c: u32, running: bool) {
        let cpu = &mut self.cpus[c as usize];
        cpu.has_blocked = true;
        if cpu.rq.update_rt(&self.policy, running) != 0 && S::ACTIVE {
            let util_avg = self.cpus[c as usize].rq.rt.util_avg as u32;
            self.emit(Event::PeltRt { cpu: c, util_avg });
        }
    }

    /// Deadline utilization; `running` describes the time since its last update.
    pub(crate) fn signal_dl(&mut self, c: u32, running: bool) {
        let cpu = &mut self.cpus[c as usize];
        cpu.has_blocked = true;
        if cpu.rq.update_dl(&self.policy, running) != 0 && S::ACTIVE {
            let util_avg = self.cpus[c as usize].rq.dl.util_avg as u32;
            self.emit(Event::PeltDl { cpu: c, util_avg });
        }
    }

    /// Hardware pressure at the tick: nothing is lost here, so it only decays.
    pub(crate) fn signal_hw(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if cpu.rq.update_hw(&self.policy, 0) != 0 && S::ACTIVE {
            let load_avg = self.cpus[c as usize].rq.hw.load_avg;
            self.emit(Event::PeltHw { cpu: c, load_avg });
        }
    }

    /// The CPU starts to run its idle task.
    pub(crate) fn signal_enter_idle(&mut self, c: u32) {
        self.cpus[c as usize].rq.clock_enter_idle(&self.policy);
    }

    /// Decays everything that is left on an idle CPU.
    pub(crate) fn signal_blocked(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        let bits = cpu.rq.update_blocked(&self.policy, self.boot_ns + self.now, 0, runs::IDLE, 0);
        cpu.has_blocked = cpu.rq.has_blocked();
        if bits != 0 {
            self.emit_cfs(c);
            if self.hooks.blocked {
                self.hook(c, HookSite::Blocked, 0);
            }
        }
    }

    /// Reports new averages and calls the hook where the profile has a site.
    fn published(&mut self, c: u32, t: u32, bits: u32) {
        if bits == 0 {
            return;
        }
        if S::ACTIVE {
            self.emit_se(c, t);
            self.emit_cfs(c);
        }
        let decayed = bits & (ev::DECAYED | ev::REMOVED | ev::PROPAGATED) != 0;
        let attached = bits & (ev::ATTACH | ev::DETACH) != 0;
        if decayed
            && self.hooks.decay
            && (!attached || self.hooks.decay_with_attach)
            && (c == self.exec || !self.hooks.decay_local_only)
        {
            self.hook(c, HookSite::Decay, 0);
        }
        if attached && self.hooks.attach {
            self.hook(c, if bits & ev::ATTACH != 0 { HookSite::Attach } else { HookSite::Detach }, 0);
        }
    }

    fn emit_se(&mut self, c: u32, t: u32) {
        let se = &self.tasks[t as usize].se;
        let event = Event::PeltSe {
            cpu: c,
            tid: Task::tid(t),
            util_avg: se.avg.util_avg as u32,
            runnable_avg: se.avg.runnable_avg as u32,
            load_avg: se.avg.load_avg,
            util_est: se.task_util_est(&self.policy),
        };
        self.emit(event);
    }

    fn emit_cfs(&mut self, c: u32) {
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
