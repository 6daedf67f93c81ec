// SPDX-License-Identifier: GPL-2.0-only
//! Time that a CPU runs is charged to the quotas of its groups; one that is used up stops its queue, at once or when
//! the task next leaves. The arithmetic is the core's (`cfs_bandwidth.h`).

use pelton_core::{RUNTIME_INF, quota, value};
use pelton_schema::{Event, Sink};

use crate::class::levels::{entity_of, slot_of};
use crate::engine::queue::{Ev, QuotaTimer};
use crate::rq::groups::{Group, QuotaTimerState};
use crate::state::Engine;

impl Group {
    pub(crate) fn has_quota(&self) -> bool {
        self.bandwidth.quota_ns != RUNTIME_INF
    }
}

impl<S: Sink> Engine<'_, S> {
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
        let bandwidth = &self.groups.list[group as usize].bandwidth;
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
        let (cpu, timer) = (self.exec, &mut self.groups.list[group as usize].timers[kind as usize]);
        *timer = QuotaTimerState { cpu, at_ns, generation: timer.generation + 1 };
        let generation = timer.generation;
        self.cpus[cpu as usize].timers.insert((at_ns, entity_of(group)));
        if at_ns <= self.end_ns {
            self.queue.push(at_ns, Ev::QuotaTimer { group, kind, generation });
        }
    }

    pub(crate) fn forget_quota_timer(&mut self, group: u32, kind: QuotaTimer) {
        let QuotaTimerState { cpu, at_ns, .. } = self.groups.list[group as usize].timers[kind as usize];
        self.cpus[cpu as usize].timers.remove((at_ns, entity_of(group)));
    }

    /// The running fair task's groups pay for its time.
    pub(crate) fn charge_quotas(&mut self, c: u32, delta_ns: u64) {
        let mut entity = self.cpus[c as usize].fair.curr;
        while let Some(slot) = slot_of(entity) {
            self.charge_quota(c, slot, delta_ns);
            entity = self.cpus[c as usize].queue_at(slot).curr;
        }
    }

    pub(crate) fn charge_quota(&mut self, c: u32, slot: u32, delta_ns: u64) {
        let (now, tick_ns) = (self.kernel_ns(), self.tick_ns);
        let own = &mut self.cpus[c as usize].levels.slots[slot as usize];
        let number = own.group;
        let group = &mut self.groups.list[number as usize];
        if !group.has_quota() {
            return;
        }
        group.usage_ns += delta_ns;
        let said = group.bandwidth.account(self.policy, own.runtime(), delta_ns, now, tick_ns);
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
        let own = &mut cpu.levels.slots[slot as usize];
        let number = own.group;
        let said = self.groups.list[number as usize].bandwidth.throttle(self.policy, own.runtime(), queued, now);
        self.arm_quota_timers(number, said);
        if said & quota::THROTTLED == 0 {
            return false;
        }
        let waiting = &mut self.groups.list[number as usize].waiting;
        let at = if self.policy.bandwidth_throttle == value::BANDWIDTH_THROTTLE_HEAD { 0 } else { waiting.len() };
        waiting.insert(at, c);
        self.emit(Event::CfsThrottle { cpu: c, group: number + 1, throttled: 1 });
        self.stop_clocks(c, slot);
        true
    }

    /// The averages of a throttled queue and of those below stand still; where tasks leave one by one, once all have
    /// left.
    pub(crate) fn stop_clocks(&mut self, c: u32, top: u32) {
        let (policy, by_task) = (self.policy, self.quota_by_task());
        let cpu = &mut self.cpus[c as usize];
        for slot in 0..cpu.levels.slots.len() as u32 {
            if !cpu.levels.is_below(slot, top) {
                continue;
            }
            let empty = cpu.levels.is_empty(slot);
            let own = &mut cpu.levels.slots[slot as usize];
            let above = own.throttles();
            if !by_task || (above == 1 && empty) {
                cpu.rq.throttle_clock(policy, own.records().1);
                cpu.levels.set_listed(slot, false);
            }
        }
    }
}
