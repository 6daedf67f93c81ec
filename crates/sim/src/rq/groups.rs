// SPDX-License-Identifier: GPL-2.0-only
//! Task groups at run time, and what a CPU learns of a group when its first task comes.

use pelton_core::{CfsBandwidth, RUNTIME_INF, TaskGroup};
use pelton_model::groups::{GroupNode, GroupTree};
use pelton_schema::Sink;

use crate::SimError;
use crate::class::Class;
use crate::engine::Engine;
use crate::engine::state::NO_TASK;
use pelton_model::workload::Workload;

/// A group at run time.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Number of the group above, or [`ROOT`].
    pub parent: u32,
    /// What its queues on all CPUs share.
    pub shared: TaskGroup,
    /// Lower and upper clamp in force, capacity.
    pub clamps: (u32, u32),
    /// Part of each CPU that it counts for at most, where groups are limited.
    pub throttle: u32,
    /// Its quota and the pool of that.
    pub bandwidth: CfsBandwidth,
    /// CPUs on which its queue is throttled, in the order in which they get runtime.
    pub waiting: Vec<u32>,
    /// Timers of the quota, by [`crate::engine::queue::QuotaTimer`].
    pub timers: [QuotaTimerState; 2],
    /// Time for which its tasks ran, counted where it has a quota, ns.
    pub usage_ns: u64,
}

impl Group {
    fn of(spec: &GroupNode) -> Group {
        let mut group = Group {
            parent: spec.parent,
            shared: TaskGroup { load_avg: 0, shares: spec.shares },
            clamps: spec.clamps,
            throttle: spec.throttle,
            bandwidth: CfsBandwidth { quota_ns: RUNTIME_INF, ..CfsBandwidth::default() },
            waiting: Vec::new(),
            timers: Default::default(),
            usage_ns: 0,
        };
        if let Some(limit) = spec.bandwidth {
            group.limit(limit);
        }
        group
    }
}

/// A timer of a group's quota.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuotaTimerState {
    pub cpu: u32,
    pub at_ns: u64,
    pub generation: u32,
}

/// The groups of a workload, parents before children; numbers are places in this list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    pub list: Vec<Group>,
    tree: GroupTree,
}

impl Groups {
    /// The tree with what each group has at run time.
    pub(crate) fn of(w: &Workload) -> Result<Groups, SimError> {
        let tree = GroupTree::of(w)?;
        let mut groups = Groups { list: tree.list.iter().map(Group::of).collect(), tree };
        groups.limit_clamps();
        Ok(groups)
    }

    /// No group is clamped less than the one above it, which comes before it in the list.
    fn limit_clamps(&mut self) {
        for at in 0..self.list.len() {
            let Group { parent, clamps, .. } = self.list[at].clone();
            let above = self.list.get(parent as usize).map_or(pelton_core::UCLAMP_ROOT, |group| group.clamps);
            self.list[at].clamps = pelton_core::group_clamps(above, clamps);
        }
    }

    /// Path of a group.
    pub(crate) fn path(&self, number: u32) -> String {
        self.tree.path(number)
    }

    /// Number of a group of the workload; [`pelton_model::groups::ROOT`] for the root.
    pub(crate) fn number(&self, path: &str) -> u32 {
        self.tree.number(path)
    }
}

impl<S: Sink> Engine<'_, S> {
    /// Somebody writes into the files of a group.
    pub(crate) fn change_group_files(&mut self, index: u32) {
        let w = self.w;
        let change = &w.group_changes[index as usize];
        let group = self.groups.number(&change.path);
        if let Some(shares) = change.shares {
            self.write_shares(group, shares);
        }
        if let Some(bandwidth) = change.bandwidth {
            self.write_quota(group, bandwidth);
        }
    }

    /// sched_group_set_shares(): the weights of the group's entities follow on every CPU, and so do those above.
    fn write_shares(&mut self, group: u32, shares: u64) {
        self.groups.list[group as usize].shared.shares = shares;
        for c in 0..self.cpus.len() as u32 {
            let Some(slot) = self.cpus[c as usize].levels.slot(group) else { continue };
            self.account(c);
            self.update_clock(c);
            self.signal_shares(c, slot);
            self.tree(c).sync_above(slot);
        }
    }

    /// The running task moves to another group, taking its averages along; false when it is there already.
    pub(crate) fn change_group(&mut self, t: u32, path: &str) -> bool {
        let group = self.groups.number(path);
        if self.tasks[t as usize].group == group {
            return false;
        }
        if self.tasks[t as usize].class != Class::Fair {
            self.tasks[t as usize].group = group;
            self.limits_change(t);
            return true;
        }
        let c = self.tasks[t as usize].cpu;
        self.account(c);
        self.update_clock(c);
        self.fair_dequeue(c, t, 0);
        self.put_levels(c, NO_TASK);
        self.signal_leave_class(c, t);
        self.slot_on(c, group);
        let task = &mut self.tasks[t as usize];
        task.group = group;
        task.se.avg.last_update_time_ns = 0;
        self.signal_join_class(c, t);
        self.check_enqueue_throttle(c, t);
        self.signal_enqueue(c, t);
        self.fair_enqueue(c, t, false);
        self.fair_set(c, t);
        self.limits_change(t);
        self.resched_cpu(c);
        true
    }
}
