// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups at run time, and what a CPU learns of a group when its first task comes.

use pelton_core::{Policy, TaskGroup, has_idle_groups, shares_when_idle, shares_writable};
use pelton_model::groups::{CLAMPS_DEFAULT, GroupNode, GroupTree};

use crate::SimError;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};
use pelton_model::workload::{Bandwidth, GroupChange, Workload};

/// A group at run time.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Number of the group above, or [`ROOT`].
    pub parent: u32,
    /// State that its queues on all CPUs share.
    pub shared: TaskGroup,
    /// Lower and upper clamp in force, capacity.
    pub clamps: (u32, u32),
    /// Clamps that were written.
    pub asked: (u32, u32),
    /// Clamps in force come from written ones, here or above.
    pub clamps_written: bool,
    /// Part of each CPU that it counts for at most, where groups are limited.
    pub throttle: u32,
    /// Idle group (`cpu.idle`).
    pub idle: bool,
}

impl Group {
    /// Number of the group above, or [`pelton_model::groups::ROOT`].
    pub(crate) fn above(&self) -> u32 {
        self.parent
    }

    /// State that its queues on all CPUs share.
    pub(crate) fn shared(&self) -> &TaskGroup {
        &self.shared
    }

    fn of(spec: &GroupNode, policy: &Policy) -> Group {
        let idle = spec.idle && has_idle_groups(policy);
        let shares = if idle { shares_when_idle(true) } else { spec.shares };
        Group {
            parent: spec.parent,
            shared: TaskGroup { load_avg: 0, shares },
            idle,
            clamps: spec.clamps,
            asked: spec.clamps,
            clamps_written: spec.clamps != CLAMPS_DEFAULT,
            throttle: spec.throttle,
        }
    }
}

/// The groups of a workload, parents before children; numbers are places in this list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    pub list: Vec<Group>,
    tree: GroupTree,
}

impl Groups {
    /// The tree with what each group has at run time.
    pub(crate) fn of(w: &Workload, policy: &Policy) -> Result<Groups, SimError> {
        let tree = GroupTree::of(w)?;
        let list = tree.list.iter().map(|spec| Group::of(spec, policy)).collect();
        let mut groups = Groups { list, tree };
        for group in 0..groups.list.len() {
            groups.limit_clamps(policy, group);
        }
        Ok(groups)
    }

    /// No group is clamped less than the one above it. Whether its lower and its upper clamp are others now.
    fn limit_clamps(&mut self, policy: &Policy, group: usize) -> [bool; 2] {
        let Group { parent, asked, clamps: before, clamps_written, .. } = self.list[group];
        let above = self.list.get(parent as usize).map_or(pelton_core::UCLAMP_ROOT, |group| group.clamps);
        let inherits = pelton_core::uclamp_inherits(policy, clamps_written);
        let now = if inherits { above } else { pelton_core::group_clamps(above, asked) };
        self.list[group].clamps = now;
        [now.0 != before.0, now.1 != before.1]
    }

    /// cpu_util_update_eff(): what is in force for a group, and for those below ones for which it changes. Those for
    /// which it does, with what changed. Parents come before their children in the list.
    fn clamps_follow(&mut self, policy: &Policy, top: u32) -> Vec<(u32, [bool; 2])> {
        let mut changes: Vec<(u32, [bool; 2])> = Vec::new();
        for group in top..self.list.len() as u32 {
            let parent = self.list[group as usize].parent;
            if group == top || changes.iter().any(|change| change.0 == parent) {
                self.list[group as usize].clamps_written = true;
                let changed = self.limit_clamps(policy, group as usize);
                if changed != [false; 2] {
                    changes.push((group, changed));
                }
            }
        }
        changes
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// A group.
    pub(crate) fn by_number(&self, group: u32) -> &Group {
        &self.list[group as usize]
    }

    /// Quotas of the groups before the run.
    pub(crate) fn limits(&self) -> impl Iterator<Item = Option<Bandwidth>> + '_ {
        self.tree.list.iter().map(|spec| spec.bandwidth)
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

impl<S: Run> Engine<'_, S> {
    /// The files of a group are written.
    pub(crate) fn change_group_files(&mut self, group: u32, change: &GroupChange) {
        if let Some(idle) = change.idle {
            self.write_idle(group, idle);
        }
        if let Some(shares) = change.shares.filter(|_| shares_writable(self.groups.list[group as usize].idle)) {
            self.write_shares(group, shares);
        }
        self.write_clamps(group, (change.clamp_min, change.clamp_max));
        if let Some(throttle) = change.throttle {
            self.write_throttle(group, throttle);
        }
        if let Some(bandwidth) = change.bandwidth {
            self.write_quota(group, bandwidth);
        }
    }

    /// sched_group_set_idle(): its tasks count as idle ones, and it has an idle task's weight; or the default one.
    fn write_idle(&mut self, group: u32, idle: bool) {
        if !has_idle_groups(self.policy.get()) || self.groups.list[group as usize].idle == idle {
            return;
        }
        self.groups.list[group as usize].idle = idle;
        for c in 0..self.cpus.len() as u32 {
            if let Some(slot) = self.cpus[c as usize].levels.slot(group) {
                self.tree(c).set_idle(slot, idle);
                self.row_changes(c);
            }
        }
        self.write_shares(group, shares_when_idle(idle));
    }

    /// cpu_uclamp_write(): what is in force for the group and those below follows, and so do the clamps of their tasks.
    fn write_clamps(&mut self, group: u32, (min, max): (Option<u32>, Option<u32>)) {
        if min.is_none() && max.is_none() {
            return;
        }
        self.use_clamps();
        let own = &mut self.groups.list[group as usize];
        let asked = (min.unwrap_or(own.asked.0), max.unwrap_or(own.asked.1));
        own.asked = asked;
        for (group, changed) in self.groups.clamps_follow(self.policy.get(), group) {
            for t in 0..self.tasks.len() as u32 {
                if self.tasks[t as usize].group == group {
                    self.limits_change(t, changed);
                }
            }
        }
    }

    /// The part of each CPU that the group counts for at most is another one.
    fn write_throttle(&mut self, group: u32, throttle: u32) {
        self.groups.list[group as usize].throttle = throttle;
        for c in 0..self.cpus.len() as u32 {
            let Some(slot) = self.cpus[c as usize].levels.slot(group) else { continue };
            self.cpus[c as usize].levels.at_mut(slot).counts_for(throttle);
            self.row_changes(c);
            self.request_changes(c);
        }
    }

    /// sched_group_set_shares(): the weights of the group's entities follow on every CPU, and so do those above.
    fn write_shares(&mut self, group: u32, shares: u64) {
        if self.groups.list[group as usize].shared.shares == shares {
            return;
        }
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
        if !self.tasks[t as usize].is_fair() {
            self.tasks[t as usize].group = group;
            self.clamps_requeue(t);
            self.clamps_change(t);
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
        self.clamps_requeue(t);
        self.clamps_change(t);
        self.resched_cpu(c);
        true
    }
}
