// SPDX-License-Identifier: GPL-2.0-or-later
//! Runtime that a queue without tasks gives back, and clocks of throttled queues that follow what is on them.

use crate::class::levels::ROOT;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// An entity left: queues without entities keep little of their runtime, and where tasks leave throttled queues one
    /// by one, the clocks of the empty ones stop.
    pub(crate) fn return_runtime(&mut self, c: u32, entity: u32) {
        if !self.uses.quotas {
            return;
        }
        let now = self.kernel_ns();
        let mut slot = self.tree_as_is(c).home(entity);
        while slot != ROOT && self.cpus[c as usize].levels.is_empty(slot) {
            let own = self.cpus[c as usize].levels.at_mut(slot);
            let (number, parent) = (own.group(), own.parent());
            if self.budgets.has_quota(number) {
                let bandwidth = self.budgets.bandwidth(number);
                let said = bandwidth.give_back(self.policy.get(), own.runtime(), now);
                self.arm_quota_timers(number, said);
            }
            self.clock_follows(c, slot);
            slot = parent;
        }
    }

    /// A task of this group was enqueued.
    pub(crate) fn clocks_follow(&mut self, c: u32, group: u32) {
        if !self.uses.quotas || !self.quota_by_task() {
            return;
        }
        let mut slot = self.slot_on(c, group);
        while slot != ROOT {
            self.clock_follows(c, slot);
            slot = self.cpus[c as usize].levels.at(slot).parent();
        }
    }

    /// Stops or starts the clock of a throttled queue where tasks leave it one by one: it stands still while the queue
    /// has no entity.
    pub(crate) fn clock_follows(&mut self, c: u32, slot: u32) {
        let policy = self.policy.get();
        let by_task = self.quota_by_task();
        let cpu = &mut self.cpus[c as usize];
        let empty = cpu.levels.is_empty(slot);
        let own = cpu.levels.at_mut(slot);
        if !by_task || own.throttle_count() == 0 {
            return;
        }
        let stands = own.load().throttle_count > 0;
        if empty && !stands {
            cpu.rq.throttle_clock(policy, own.records().1);
            cpu.levels.set_listed(slot, false);
        } else if !empty && stands {
            cpu.rq.unthrottle_clock(policy, own.records().1);
            self.list(c, slot);
        }
    }
}
