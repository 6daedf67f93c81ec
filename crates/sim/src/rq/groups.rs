// SPDX-License-Identifier: GPL-2.0-only
//! Task groups: the tree a workload declares or its tasks name, and what a CPU learns of a group when its first task comes.

use std::collections::BTreeMap;

use pelton_core::{CfsBandwidth, RUNTIME_INF, TaskGroup};
use pelton_schema::Sink;

use crate::SimError;
use crate::class::Class;
use crate::class::levels::ROOT;
use crate::engine::Engine;
use crate::engine::state::NO_TASK;
use crate::workload::{GroupSpec, Workload};

/// Deepest nesting below the root.
pub const GROUP_DEPTH_MAX: usize = 32;
/// Most groups of a workload.
pub const GROUPS_MAX: usize = 10_000;
/// Clamps of a group nobody gave others (`cpu.uclamp.min` 0, `cpu.uclamp.max` max).
pub const CLAMPS_DEFAULT: (u32, u32) = (0, 1024);
/// Shares of a group nobody gave others (`cpu.weight` 100).
pub const SHARES_DEFAULT: u64 = 1024;
/// Least and most shares.
pub const SHARES_RANGE: std::ops::RangeInclusive<u64> = 2..=262_144;

/// A group at run time.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Number of the group above, or [`ROOT`].
    pub parent: u32,
    /// What its queues on all CPUs share.
    pub shared: TaskGroup,
    /// Lower and upper clamp in force, capacity.
    pub clamps: (u32, u32),
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
    pub(crate) fn has_quota(&self) -> bool {
        self.bandwidth.quota_ns != RUNTIME_INF
    }
}

/// A timer of a group's quota.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuotaTimerState {
    pub cpu: u32,
    pub at_ns: u64,
    pub generation: u32,
}

/// True for a cleaned path with more levels than are simulated.
pub fn is_too_deep(path: &str) -> bool {
    path.matches('/').count() > GROUP_DEPTH_MAX
}

/// The groups of a workload, parents before children; numbers are places in this list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    pub list: Vec<Group>,
    by_path: BTreeMap<String, u32>,
}

/// A path as the kernel writes it: `/a/b`, or nothing for the root.
pub fn group_path(text: &str) -> String {
    text.split('/').filter(|name| !name.is_empty()).flat_map(|name| ["/", name]).collect()
}

/// Puts a whole workload below a group: tasks of the root into it, other groups under it.
pub fn into_group(w: &mut Workload, path: &str) {
    let below = |old: &str| group_path(&format!("{path}/{old}"));
    for task in &mut w.tasks {
        task.taskgroup = below(&task.taskgroup);
        for group in task.phases.iter_mut().filter_map(|phase| phase.taskgroup.as_mut()) {
            *group = below(group);
        }
    }
    for group in &mut w.groups {
        group.path = below(&group.path);
    }
    for change in &mut w.group_changes {
        change.path = below(&change.path);
    }
    for member in w.boosts.iter_mut().flat_map(|boost| &mut boost.members).filter(|member| member.starts_with('/')) {
        *member = below(member);
    }
}

/// Paths of all groups of a workload in the order of their numbers, which events count from 1.
pub fn group_paths(w: &Workload) -> Result<Vec<String>, SimError> {
    let groups = Groups::of(w)?;
    let mut paths: Vec<(u32, String)> = groups.by_path.into_iter().map(|(path, number)| (number, path)).collect();
    paths.sort();
    Ok(paths.into_iter().map(|(_, path)| path).collect())
}

impl Groups {
    /// Declared groups in their order, then those that only tasks name.
    pub(crate) fn of(w: &Workload) -> Result<Groups, SimError> {
        let mut groups = Groups::default();
        let mut declared = BTreeMap::new();
        for GroupSpec { path, shares, clamps, bandwidth } in &w.groups {
            let number = groups.add(path)?;
            if *declared.entry(number).or_insert(*shares) != *shares {
                return Err(SimError::Plan(format!("task group '{path}' has two weights")));
            }
            if !SHARES_RANGE.contains(shares) {
                return Err(SimError::Plan(format!(
                    "task group '{path}' has {shares} shares, allowed are {SHARES_RANGE:?}"
                )));
            }
            if number != ROOT {
                groups.list[number as usize].shared.shares = *shares;
                groups.list[number as usize].clamps = *clamps;
                groups.list[number as usize].limit(path, *bandwidth)?;
            }
        }
        for change in &w.group_changes {
            let number = groups.add(&change.path)?;
            if number == ROOT || change.shares.is_some_and(|shares| !SHARES_RANGE.contains(&shares)) {
                return Err(SimError::Plan(format!(
                    "task group '{}' changes: not to what a group can have ({SHARES_RANGE:?} shares)",
                    change.path
                )));
            }
            let mut probe = groups.list[number as usize].clone();
            probe.limit(&change.path, change.bandwidth.flatten())?;
        }
        for task in &w.tasks {
            groups.add(&task.taskgroup)?;
            for path in task.phases.iter().filter_map(|phase| phase.taskgroup.as_ref()) {
                groups.add(path)?;
            }
        }
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

    /// Number of a group and, if need be, of all above it.
    fn add(&mut self, path: &str) -> Result<u32, SimError> {
        let (mut number, mut at) = (ROOT, String::new());
        for (depth, name) in path.split('/').filter(|name| !name.is_empty()).enumerate() {
            at.push('/');
            at.push_str(name);
            let (parent, next) = (number, self.list.len() as u32);
            number = *self.by_path.entry(at.clone()).or_insert(next);
            if depth >= GROUP_DEPTH_MAX || number as usize >= GROUPS_MAX {
                return Err(SimError::Plan(format!(
                    "task group '{path}': at most {GROUP_DEPTH_MAX} levels and {GROUPS_MAX} groups"
                )));
            }
            if number == next {
                let shared = TaskGroup { load_avg: 0, shares: SHARES_DEFAULT };
                let bandwidth = CfsBandwidth { quota_ns: RUNTIME_INF, ..CfsBandwidth::default() };
                let (waiting, timers) = (Vec::new(), Default::default());
                let clamps = CLAMPS_DEFAULT;
                self.list.push(Group { parent, shared, clamps, bandwidth, waiting, timers, usage_ns: 0 });
            }
        }
        Ok(number)
    }

    /// Path of a group.
    pub(crate) fn path(&self, number: u32) -> String {
        self.by_path.iter().find(|(_, n)| **n == number).map(|(path, _)| path.clone()).unwrap_or_default()
    }

    /// Number of a group of the workload; [`ROOT`] for the root.
    pub(crate) fn number(&self, path: &str) -> u32 {
        self.by_path.get(&group_path(path)).copied().unwrap_or(ROOT)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::TaskSpec;

    #[test]
    fn shares_are_the_bounds_of_the_core() {
        let bound = pelton_core::bounds().into_iter().find(|bound| bound.quantity == "shares").expect("declared");
        assert_eq!((*SHARES_RANGE.start(), *SHARES_RANGE.end()), (bound.min, bound.max));
    }

    #[test]
    fn parents_come_first_and_paths_are_cleaned() {
        let task = |group: &str| TaskSpec { taskgroup: group.into(), ..TaskSpec::default() };
        let w = Workload {
            tasks: vec![task("a/b/"), task(""), task("//c")],
            groups: vec![GroupSpec { path: "/x/y".into(), shares: 2048, ..GroupSpec::default() }],
            ..Workload::default()
        };
        let groups = Groups::of(&w).expect("a tree");
        assert_eq!(group_paths(&w).expect("a tree"), ["/x", "/x/y", "/a", "/a/b", "/c"]);
        assert_eq!((groups.number("/a/b"), groups.number("/"), groups.number("c/")), (3, ROOT, 4));
        let shares: Vec<u64> = groups.list.iter().map(|g| g.shared.shares).collect();
        assert_eq!(shares, [1024, 2048, 1024, 1024, 1024]);
        assert!(groups.list.iter().enumerate().all(|(i, g)| g.parent == ROOT || g.parent < i as u32));
    }

    #[test]
    fn a_whole_workload_moves_below_a_group() {
        let mut w = Workload {
            tasks: vec![TaskSpec::default(), TaskSpec { taskgroup: "/a".into(), ..TaskSpec::default() }],
            groups: vec![GroupSpec { path: "/a".into(), shares: 2, ..GroupSpec::default() }],
            ..Workload::default()
        };
        into_group(&mut w, "session/");
        assert_eq!((w.tasks[0].taskgroup.as_str(), w.tasks[1].taskgroup.as_str()), ("/session", "/session/a"));
        assert_eq!(group_paths(&w).expect("a tree"), ["/session", "/session/a"]);
    }

    #[test]
    fn hostile_paths_are_refused() {
        let of = |path: String, shares| {
            Groups::of(&Workload {
                groups: vec![GroupSpec { path, shares, ..GroupSpec::default() }],
                ..Workload::default()
            })
        };
        assert!(of("/a".repeat(GROUP_DEPTH_MAX), 1024).is_ok());
        assert!(of("/a".repeat(GROUP_DEPTH_MAX + 1), 1024).is_err());
        let twice = |shares| {
            let group = |shares| GroupSpec { path: "/a".into(), shares, ..GroupSpec::default() };
            Groups::of(&Workload { groups: vec![group(1024), group(shares)], ..Workload::default() })
        };
        assert!(twice(1024).is_ok() && twice(1025).is_err());
        assert!(of("/a".into(), 1).is_err() && of("/a".into(), 262_145).is_err());
    }
}
