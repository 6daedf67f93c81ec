// SPDX-License-Identifier: GPL-2.0-or-later
//! Emits to the sink what the files of task groups hold.

use pelton_core::{CfsBandwidth, RUNTIME_INF};
use pelton_schema::Event;

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// The files of all groups, before any task runs.
    pub(crate) fn tell_groups(&mut self) {
        if S::ACTIVE {
            for group in 0..self.groups.len() {
                self.emit(self.group_told(group));
            }
        }
    }

    /// The files of a group, which held `before`, were written.
    pub(crate) fn tell_group_after(&mut self, group: u32, before: Event) {
        let now = self.group_told(group);
        if S::ACTIVE && now != before {
            self.emit(now);
        }
    }

    /// Content of a group's files, as an event.
    pub(crate) fn group_told(&self, group: u32) -> Event {
        let own = &self.groups.list[group as usize];
        let (uclamp_min, uclamp_max) = own.asked;
        let limit = if self.uses.quotas { *self.budgets.used(group).0 } else { CfsBandwidth::default() };
        Event::TaskGroup {
            group: group + 1,
            idle: own.idle.into(),
            shares: own.shared.shares,
            uclamp_min,
            uclamp_max,
            throttle: own.throttle,
            quota_ns: if limit.quota_ns == RUNTIME_INF { 0 } else { limit.quota_ns },
            period_ns: limit.period_ns,
            burst_ns: limit.burst_ns,
        }
    }
}
