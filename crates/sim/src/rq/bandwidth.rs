// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups: when their queues are charged, throttled and freed, and the timers of the pool. The
//! arithmetic is the core's (`cfs_bandwidth.h`).
//!
//! A throttled group's queue is cut off its parent's with all that waits on it (`bandwidth=group`), or its tasks leave
//! one by one and wait in limbo (`task`). The clocks of its averages stand still meanwhile.

use pelton_core::{CfsBandwidth, Policy, RUNTIME_INF, dequeue, quota, value};
use pelton_schema::Event;

use crate::Misfit;
use crate::class::Class;
use crate::class::levels::{ROOT, entity_of};
use crate::cpu::line::Deferred;
use crate::engine::queue::{Ev, QuotaTimer};
use crate::hw::power::Power;
use crate::report::QuotaReport;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};
use pelton_model::workload::{Bandwidth, PERIOD_NS_DEFAULT, QUOTA_NS_MIN, Workload};

/// Bursts need a kernel that has them.
pub(crate) fn misfit(w: &Workload, policy: &Policy) -> Option<Misfit> {
    let bursts = policy.bandwidth_refill == value::BANDWIDTH_REFILL_BURST || policy.bandwidth == value::BANDWIDTH_OFF;
    let now = w.groups.iter().map(|group| (&group.path, group.bandwidth));
    let later = w.group_changes.iter().map(|change| (&change.path, change.bandwidth.flatten()));
    let burst = now.chain(later).find(|(_, limit)| limit.is_some_and(|limit| limit.burst_ns > 0));
    burst.filter(|_| !bursts).map(|(path, _)| Misfit::Burst { path: path.clone() })
}

impl<S: Run> Engine<'_, S> {
    /// Quotas are written when the groups are made, by CPU 0, and when the workload says.
    pub(crate) fn start_quotas(&mut self) {
        for (index, change) in self.w.group_changes.iter().enumerate() {
            self.queue.push(change.at_ns, Ev::GroupWrite { index: index as u32 });
        }
        if !self.uses.quotas {
            return;
        }
        let now = self.kernel_ns();
        for group in 0..self.groups.len() {
            let bandwidth = self.budgets.bandwidth(group);
            let limit = (bandwidth.quota_ns, bandwidth.period_ns, bandwidth.burst_ns);
            if bandwidth.period_ns == 0 {
                continue;
            }
            if self.policy.bandwidth_phase == value::BANDWIDTH_PHASE_RANDOM {
                bandwidth.period_end_ns = self.rng.up_to(PERIOD_NS_DEFAULT - 1);
            }
            let said = bandwidth.set(self.policy.get(), limit, now);
            self.arm_quota_timers(group, said);
        }
    }

    /// tg_set_cfs_bandwidth(): another quota, and every queue is free and has nothing.
    pub(crate) fn write_quota(&mut self, group: u32, limit: Option<Bandwidth>) {
        if !self.uses.quotas {
            return;
        }
        let now = self.kernel_ns();
        let bandwidth = self.budgets.bandwidth(group);
        let period_ns = limit.map_or(bandwidth.period_ns.max(QUOTA_NS_MIN), |limit| limit.period_ns);
        let (quota_ns, burst_ns) = limit.map_or((RUNTIME_INF, 0), |limit| (limit.quota_ns, limit.burst_ns));
        let said = bandwidth.set(self.policy.get(), (quota_ns, period_ns, burst_ns), now);
        self.arm_quota_timers(group, said);
        for c in 0..self.cpus.len() as u32 {
            let Some(slot) = self.cpus[c as usize].levels.slot(group) else { continue };
            self.account(c);
            let runtime = self.cpus[c as usize].levels.at_mut(slot).runtime();
            runtime.set(self.policy.get());
            if runtime.throttled != 0 {
                self.free_queue(c, slot);
            }
        }
    }

    /// A timer of a quota expires: its CPU may have to leave its idle state first.
    pub(crate) fn quota_timer_due(&mut self, group: u32, kind: QuotaTimer) {
        let (cpu, generation) = self.budgets.alarm(group, kind);
        let until = self.cpus[cpu as usize].search.until_ns();
        if self.now < until {
            return self.queue.push(until, Ev::QuotaTimer { group, kind, generation });
        }
        self.forget_quota_timer(group, kind);
        match self.cpus[cpu as usize].power() {
            Power::Idle { .. } => {
                self.cpus[cpu as usize].line.defers(Deferred::Quota(group, kind));
                self.leave_idle(cpu);
            }
            Power::Exiting { .. } => self.cpus[cpu as usize].line.defers(Deferred::Quota(group, kind)),
            Power::Awake => {
                self.exec = cpu;
                self.quota_timer(group, kind);
            }
        }
    }

    /// Work of the timer once its CPU executes.
    pub(crate) fn quota_timer(&mut self, group: u32, kind: QuotaTimer) {
        let now = self.kernel_ns();
        let bandwidth = self.budgets.bandwidth(group);
        let said = match kind {
            QuotaTimer::Period => bandwidth.period_timer(self.policy.get(), now),
            QuotaTimer::Slack => bandwidth.slack_timer(self.policy.get(), now),
        };
        if said & quota::DISTRIBUTE != 0 {
            self.distribute_runtime(group);
        }
        self.arm_quota_timers(group, said);
    }

    /// Throttled queues get runtime in their order, until the pool is empty.
    fn distribute_runtime(&mut self, group: u32) {
        let waiting = self.budgets.throttled(group).to_vec();
        let mut freed = Vec::new();
        for c in waiting {
            let bandwidth = self.budgets.bandwidth(group);
            let levels = &mut self.cpus[c as usize].levels;
            let Some(slot) = levels.slot(group) else { continue };
            if bandwidth.distribute(levels.at_mut(slot).runtime()) {
                freed.push((c, slot));
            }
            if bandwidth.runtime_ns == 0 {
                break;
            }
        }
        freed.into_iter().for_each(|(c, slot)| self.unthrottle(c, slot));
    }

    /// A CPU chooses again: queues of the task that ran are throttled when they have used up what they had. Returns
    /// whether the task is still queued.
    pub(crate) fn check_runtime(&mut self, c: u32, prev: u32, on_rq: bool) -> bool {
        if !self.uses.quotas || prev == NO_TASK || !self.cpus[c as usize].runs(Class::Fair) {
            return on_rq;
        }
        let Some(lowest) = self.task_slot(c, prev) else { return on_rq };
        let mut path = Vec::new();
        let mut slot = lowest;
        while slot != ROOT {
            path.push(slot);
            slot = self.cpus[c as usize].levels.at(slot).parent();
        }
        path.iter().rev().for_each(|&slot| self.check_queue(c, slot));
        self.put_cut_off(c, prev);
        let here = on_rq && self.tasks[prev as usize].cpu == c && self.tasks[prev as usize].is_fair();
        if here && self.quota_by_task() && self.cpus[c as usize].levels.throttle_count(lowest) > 0 {
            self.throttle_task(c, prev, lowest);
            return false;
        }
        on_rq
    }

    /// check_cfs_rq_runtime(); 7.2 throttles in the update of the running task and has no such look.
    fn check_queue(&mut self, c: u32, slot: u32) {
        if self.throttles_at_once() {
            return;
        }
        let own = self.cpus[c as usize].levels.at(slot);
        let (spent, throttled) = (own.is_spent(), own.is_throttled());
        if spent && !throttled && self.budgets.has_quota(own.group()) {
            self.throttle(c, slot);
        }
    }

    /// A task becomes runnable: queues that get their first entity by it need runtime.
    pub(crate) fn check_enqueue_throttle(&mut self, c: u32, t: u32) {
        if self.uses.quotas && self.tasks[t as usize].group != ROOT {
            let slot = self.slot_on(c, self.tasks[t as usize].group);
            self.check_empty_queues(c, slot);
            self.note_waiting(c, slot);
        }
    }

    /// The queues from `slot` up that have nothing on them and are about to get an entity.
    fn check_empty_queues(&mut self, c: u32, mut slot: u32) {
        while slot != ROOT && self.cpus[c as usize].levels.is_empty(slot) {
            let own = self.cpus[c as usize].levels.at(slot);
            let (parent, throttled) = (own.parent(), own.is_throttled());
            if !throttled && self.budgets.has_quota(own.group()) {
                self.take_runtime(c, slot);
            }
            if self.cpus[c as usize].levels.at(slot).is_cut_off() {
                return;
            }
            slot = parent;
        }
    }

    fn take_runtime(&mut self, c: u32, slot: u32) {
        let (now, tick_ns) = (self.kernel_ns(), self.tick_ns);
        let own = self.cpus[c as usize].levels.at_mut(slot);
        let number = own.group();
        let bandwidth = self.budgets.bandwidth(number);
        let said = bandwidth.enqueue(self.policy.get(), own.runtime(), now, tick_ns);
        let spent = own.is_spent();
        self.arm_quota_timers(number, said);
        if spent {
            self.throttle(c, slot);
        }
    }

    /// Starts the throttled time of queues that a task begins to wait for.
    fn note_waiting(&mut self, c: u32, mut slot: u32) {
        let now = self.kernel_ns();
        while slot != ROOT && !self.quota_by_task() {
            let own = self.cpus[c as usize].levels.at_mut(slot);
            own.runtime().note_throttled(now);
            slot = if own.is_cut_off() { ROOT } else { own.parent() };
        }
    }

    /// throttle_cfs_rq(): the queue may not run, unless the pool has something meanwhile.
    fn throttle(&mut self, c: u32, slot: u32) {
        if self.stop_queue(c, slot) && !self.quota_by_task() {
            self.cut_off(c, slot);
        }
    }

    /// A group's queue leaves its parent's, with all that waits on it.
    fn cut_off(&mut self, c: u32, slot: u32) {
        self.request_changes(c);
        let cpu = &self.cpus[c as usize];
        let (own, entity) = (cpu.levels.at(slot), entity_of(slot));
        let (tasks, queued) = (own.load().h_nr_runnable, own.is_queued());
        if cpu.queue_at(own.parent()).curr() == entity {
            self.put_levels(c, NO_TASK);
        }
        if queued {
            let plan = self.tree(c).plan(entity, false);
            self.signal_cut_off(c, slot, tasks, plan);
            self.tree(c).cut_off_group(slot, tasks, plan);
        }
        self.cpus[c as usize].levels.at_mut(slot).is_kept_off();
        if queued {
            self.return_runtime(c, entity);
        }
    }

    /// unthrottle_cfs_rq(): the queue may run again.
    fn unthrottle(&mut self, c: u32, slot: u32) {
        self.account(c);
        let own = self.cpus[c as usize].levels.at(slot);
        if own.is_throttled() && !own.is_spent() {
            self.free_queue(c, slot);
        }
    }

    fn free_queue(&mut self, c: u32, slot: u32) {
        self.update_clock(c);
        let now = self.kernel_ns();
        let own = self.cpus[c as usize].levels.at_mut(slot);
        let group = own.group();
        self.budgets.bandwidth(group).unthrottle(own.runtime(), now);
        self.budgets.frees(group, c);
        own.may_rejoin();
        let event = Event::CfsThrottle { cpu: c, group: group + 1, throttled: 0 };
        self.emit(event);
        self.start_clocks(c, slot);
        if !self.quota_by_task() {
            self.rejoin(c, slot);
        }
        self.waiting.freed.push(c);
        if self.cpus[c as usize].curr == NO_TASK && self.cpus[c as usize].fair.nr_runnable() > 0 {
            self.resched_cpu(c);
        }
    }

    fn rejoin(&mut self, c: u32, slot: u32) {
        let cpu = &self.cpus[c as usize];
        let (tasks, parent) = (cpu.levels.at(slot).load().h_nr_runnable, cpu.levels.at(slot).parent());
        if cpu.levels.is_empty(slot) {
            return;
        }
        self.request_changes(c);
        let queued = self.cpus[c as usize].fair.h_nr_queued();
        self.check_empty_queues(c, parent);
        self.signal_rejoin(c, slot, tasks);
        self.tree(c).rejoin_group(slot, tasks);
        if queued == 0 && self.cpus[c as usize].fair.h_nr_queued() > 0 {
            self.server_start(c);
        }
    }

    /// The clocks of a queue and of those below go on, children first; tasks in limbo come back.
    fn start_clocks(&mut self, c: u32, top: u32) {
        let policy = self.policy.get();
        for slot in (0..self.cpus[c as usize].levels.len()).rev() {
            let cpu = &mut self.cpus[c as usize];
            if !cpu.levels.is_below(slot, top) {
                continue;
            }
            let own = cpu.levels.at_mut(slot);
            let above = own.unthrottles();
            if own.load().throttle_count > 0 && (!policy_by_task(policy) || above == 0) {
                cpu.rq.unthrottle_clock(policy, own.records().1);
            }
            let own = cpu.levels.at(slot);
            if own.throttle_count() == 0 && (own.is_queued() || !own.load().group_is_decayed(policy)) {
                self.list(c, slot);
            }
            self.leave_limbo(c, slot);
        }
    }

    fn leave_limbo(&mut self, c: u32, slot: u32) {
        while self.cpus[c as usize].levels.throttle_count(slot) == 0
            && let Some(t) = self.cpus[c as usize].levels.leaves_limbo(slot)
        {
            self.check_enqueue_throttle(c, t);
            self.signal_enqueue(c, t);
            self.fair_enqueue(c, t, true);
            self.hook_second_task(c);
        }
    }

    /// throttle_cfs_rq_work(): a task of a throttled group returns to user space, which it may not.
    fn throttle_task(&mut self, c: u32, t: u32, slot: u32) {
        self.leave_levels(c, t, dequeue::SLEEP, true, false);
        self.cpus[c as usize].levels.enters_limbo(slot, t);
        let (now, mut at) = (self.kernel_ns(), slot);
        while at != ROOT {
            let own = self.cpus[c as usize].levels.at_mut(at);
            own.runtime().note_throttled(now);
            at = own.parent();
        }
    }

    /// A task that was chosen executes: one of a throttled group leaves when it would return to user space.
    pub(crate) fn returns_to_user(&mut self, c: u32, t: u32) {
        if self.uses.quotas && self.quota_by_task() && self.is_throttled_at(c, t) {
            self.resched_cpu(c);
        }
    }

    /// A task that joined a group that is cut off while it ran goes to its queue.
    fn put_cut_off(&mut self, c: u32, t: u32) {
        if self.is_open(c, t) {
            return;
        }
        let mut entity = t;
        while entity != NO_TASK {
            let home = self.tree_as_is(c).home(entity);
            if self.cpus[c as usize].queue_at(home).curr() == entity {
                self.signal_put_prev(c, entity);
                self.tree(c).put_level(home);
            }
            let ends = home == ROOT || self.cpus[c as usize].levels.at(home).is_cut_off();
            entity = if ends { NO_TASK } else { entity_of(home) };
        }
    }

    /// `cpu.stat` of the groups with a quota.
    pub(crate) fn quota_reports(&self) -> Vec<QuotaReport> {
        if !self.uses.quotas {
            return Vec::new();
        }
        let limited = (0..self.groups.len()).filter(|&group| self.budgets.used(group).0.period_ns > 0);
        limited.map(|group| quota_report(self.groups.path(group), self.budgets.used(group))).collect()
    }
}

fn policy_by_task(policy: &Policy) -> bool {
    policy.bandwidth == value::BANDWIDTH_TASK
}

fn quota_report(path: String, (bandwidth, usage_ns): (&CfsBandwidth, u64)) -> QuotaReport {
    QuotaReport {
        path,
        usage_ns,
        nr_periods: bandwidth.nr_periods,
        nr_throttled: bandwidth.nr_throttled,
        throttled_ns: bandwidth.throttled_time_ns,
        nr_bursts: bandwidth.nr_burst,
        burst_ns: bandwidth.burst_time_ns,
    }
}
