// SPDX-License-Identifier: GPL-2.0-or-later
//! Time that a CPU runs is charged to the quotas of its groups; one that is used up stops its queue, at once or when
//! the task next leaves. The arithmetic is the core's (`cfs_bandwidth.h`).

use pelton_core::{CfsBandwidth, RUNTIME_INF, quota, value};
use pelton_schema::Event;

use crate::class::levels::{entity_of, slot_of};
use crate::engine::queue::{Ev, QuotaTimer};
use crate::shape::Run;
use crate::state::Engine;
use pelton_model::workload::Bandwidth;

/// A timer of a group's quota.
#[derive(Clone, Copy, Debug, Default)]
struct QuotaTimerState {
    cpu: u32,
    at_ns: u64,
    generation: u32,
}

/// The quota of a group.
#[derive(Clone, Debug)]
struct Budget {
    /// The quota and its pool.
    bandwidth: CfsBandwidth,
    /// CPUs on which its queue is throttled, in the order in which they get runtime.
    held_on: Vec<u32>,
    /// Its timers, by [`QuotaTimer`].
    alarms: [QuotaTimerState; 2],
    /// Time for which its tasks ran, counted where it has a quota, ns.
    usage_ns: u64,
}

/// Quotas of all groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budgets {
    budgets: Vec<Budget>,
}

impl Budgets {
    /// Before the run, by group.
    pub(crate) fn new(limits: impl Iterator<Item = Option<Bandwidth>>) -> Budgets {
        let unlimited = CfsBandwidth { quota_ns: RUNTIME_INF, ..CfsBandwidth::default() };
        let budget = |limit: Option<Bandwidth>| {
            let limited = |Bandwidth { quota_ns, period_ns, burst_ns }| CfsBandwidth {
                quota_ns,
                period_ns,
                burst_ns,
                ..CfsBandwidth::default()
            };
            let bandwidth = limit.map_or(unlimited, limited);
            Budget { bandwidth, held_on: Vec::new(), alarms: Default::default(), usage_ns: 0 }
        };
        Budgets { budgets: limits.map(budget).collect() }
    }

    pub(crate) fn has_quota(&self, group: u32) -> bool {
        self.budgets[group as usize].bandwidth.quota_ns != RUNTIME_INF
    }

    /// A group's quota and its pool, for the core's functions.
    pub(crate) fn bandwidth(&mut self, group: u32) -> &mut CfsBandwidth {
        &mut self.budgets[group as usize].bandwidth
    }

    /// A group's quota and its pool, and the time for which its tasks ran, ns.
    pub(crate) fn used(&self, group: u32) -> (&CfsBandwidth, u64) {
        let budget = &self.budgets[group as usize];
        (&budget.bandwidth, budget.usage_ns)
    }

    /// CPUs on which a group's queue is throttled, in the order in which they get runtime.
    pub(crate) fn throttled(&self, group: u32) -> &[u32] {
        &self.budgets[group as usize].held_on
    }

    /// A group's queue on CPU `c` is throttled no longer.
    pub(crate) fn frees(&mut self, group: u32, c: u32) {
        self.budgets[group as usize].held_on.retain(|&waits| waits != c);
    }

    /// CPU on which a timer expires, and the generation of the event that counts for it.
    pub(crate) fn alarm(&self, group: u32, kind: QuotaTimer) -> (u32, u32) {
        let QuotaTimerState { cpu, generation, .. } = self.budgets[group as usize].alarms[kind as usize];
        (cpu, generation)
    }
}

impl<S: Run> Engine<'_, S> {
    pub(crate) fn kernel_ns(&self) -> u64 {
        self.boot_ns + self.now
    }

    pub(crate) fn quota_by_task(&self) -> bool {
        self.policy.bandwidth == value::BANDWIDTH_TASK
    }

    pub(crate) fn throttles_at_once(&self) -> bool {
        self.quota_by_task() && self.policy.bandwidth_throttle == value::BANDWIDTH_THROTTLE_AT_ONCE
    }

    /// Starts the timers that a step of the core asked for, on the CPU that executes.
    pub(crate) fn arm_quota_timers(&mut self, group: u32, said: u32) {
        let bandwidth = &self.budgets.budgets[group as usize].bandwidth;
        let (period_ns, slack_ns) = (bandwidth.period_end_ns, bandwidth.slack_end_ns);
        if said & quota::START != 0 {
            self.arm_quota_timer(group, QuotaTimer::Period, period_ns);
        }
        if said & quota::SLACK != 0 {
            self.arm_quota_timer(group, QuotaTimer::Slack, slack_ns);
        }
    }

    pub(crate) fn arm_quota_timer(&mut self, group: u32, kind: QuotaTimer, kernel_ns: u64) {
        let at_ns = kernel_ns - self.boot_ns;
        self.forget_quota_timer(group, kind);
        let (cpu, timer) = (self.exec, &mut self.budgets.budgets[group as usize].alarms[kind as usize]);
        *timer = QuotaTimerState { cpu, at_ns, generation: timer.generation + 1 };
        let generation = timer.generation;
        self.cpus[cpu as usize].timers.insert((at_ns, entity_of(group)));
        if at_ns <= self.end_ns {
            self.queue.push(at_ns, Ev::QuotaTimer { group, kind, generation });
        }
    }

    pub(crate) fn forget_quota_timer(&mut self, group: u32, kind: QuotaTimer) {
        let QuotaTimerState { cpu, at_ns, .. } = self.budgets.budgets[group as usize].alarms[kind as usize];
        self.cpus[cpu as usize].timers.remove((at_ns, entity_of(group)));
    }

    /// The running fair task's groups pay for its time.
    pub(crate) fn charge_quotas(&mut self, c: u32, delta_ns: u64) {
        let mut entity = self.cpus[c as usize].fair.curr();
        while let Some(slot) = slot_of(entity) {
            self.charge_quota(c, slot, delta_ns);
            entity = self.cpus[c as usize].queue_at(slot).curr();
        }
    }

    pub(crate) fn charge_quota(&mut self, c: u32, slot: u32, delta_ns: u64) {
        let (now, tick_ns) = (self.kernel_ns(), self.tick_ns);
        let own = self.cpus[c as usize].levels.at_mut(slot);
        let number = own.group();
        if !self.budgets.has_quota(number) {
            return;
        }
        let budget = &mut self.budgets.budgets[number as usize];
        budget.usage_ns += delta_ns;
        let said = budget.bandwidth.account(self.policy.get(), own.runtime(), delta_ns, now, tick_ns);
        self.arm_quota_timers(number, said);
        if said & quota::EXHAUSTED != 0 {
            if self.throttles_at_once() {
                self.update_clock(c);
                self.stop_queue(c, slot);
            }
            self.resched_cpu(c);
        }
    }

    /// A queue may run no longer: its clocks stop. True unless the pool had time after all.
    pub(crate) fn stop_queue(&mut self, c: u32, slot: u32) -> bool {
        let (now, by_task) = (self.kernel_ns(), self.quota_by_task());
        let cpu = &mut self.cpus[c as usize];
        let queued = !by_task && !cpu.levels.is_empty(slot);
        let own = cpu.levels.at_mut(slot);
        let number = own.group();
        let said = self.budgets.bandwidth(number).throttle(self.policy.get(), own.runtime(), queued, now);
        self.arm_quota_timers(number, said);
        if said & quota::THROTTLED == 0 {
            return false;
        }
        let waiting = &mut self.budgets.budgets[number as usize].held_on;
        let at = if self.policy.bandwidth_throttle == value::BANDWIDTH_THROTTLE_HEAD { 0 } else { waiting.len() };
        waiting.insert(at, c);
        self.emit(Event::CfsThrottle { cpu: c, group: number + 1, throttled: 1 });
        self.stop_clocks(c, slot);
        true
    }

    /// The averages of a throttled queue and of those below stand still; where tasks leave one by one, once all have
    /// left.
    pub(crate) fn stop_clocks(&mut self, c: u32, top: u32) {
        let (policy, by_task) = (self.policy.get(), self.quota_by_task());
        let cpu = &mut self.cpus[c as usize];
        for slot in 0..cpu.levels.len() {
            if !cpu.levels.is_below(slot, top) {
                continue;
            }
            let empty = cpu.levels.is_empty(slot);
            let own = cpu.levels.at_mut(slot);
            let above = own.throttles();
            if !by_task || (above == 1 && empty) {
                cpu.rq.throttle_clock(policy, own.records().1);
                cpu.levels.set_listed(slot, false);
            }
        }
    }
}
