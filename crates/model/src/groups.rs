// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups as a tree of paths: declared by a workload or named by its tasks.

use std::collections::BTreeMap;

use crate::PlanError;
use crate::workload::{Bandwidth, GroupChange, GroupSpec, Workload};

/// Number of the root, which is in no list.
pub const ROOT: u32 = u32::MAX;
/// Deepest nesting below the root.
pub const GROUP_DEPTH_MAX: usize = 32;
/// Most groups of a workload.
pub const GROUPS_MAX: usize = 10_000;
/// Clamps of a group that was given no others (`cpu.uclamp.min` 0, `cpu.uclamp.max` max).
pub const CLAMPS_DEFAULT: (u32, u32) = (0, 1024);
/// Throttle of a group that was given no other: it counts for all of a CPU.
pub const THROTTLE_DEFAULT: u32 = 1024;
/// Shares of a group that was given no others (`cpu.weight` 100).
pub const SHARES_DEFAULT: u64 = 1024;
/// Least and most shares.
pub const SHARES_RANGE: std::ops::RangeInclusive<u64> = 2..=262_144;

/// True for a cleaned path with more levels than are simulated.
pub fn is_too_deep(path: &str) -> bool {
    path.matches('/').count() > GROUP_DEPTH_MAX
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

/// A group before the run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupNode {
    /// Number of the group above, or [`ROOT`].
    pub parent: u32,
    /// Shares.
    pub shares: u64,
    /// Lower and upper clamp asked for.
    pub clamps: (u32, u32),
    /// Quota; `None` = no limit.
    pub bandwidth: Option<Bandwidth>,
    /// Part of each CPU that it counts for at most, 0..=1024.
    pub throttle: u32,
    /// True where the group is idle.
    pub idle: bool,
}

/// The groups of a workload, parents before children; numbers are places in this list.
#[derive(Clone, Debug, Default)]
pub struct GroupTree {
    /// The groups.
    pub list: Vec<GroupNode>,
    by_path: BTreeMap<String, u32>,
}

/// Paths of all groups of a workload in the order of their numbers, which events count from 1.
///
/// # Errors
/// As [`GroupTree::of`].
pub fn group_paths(w: &Workload) -> Result<Vec<String>, PlanError> {
    let mut paths: Vec<_> = GroupTree::of(w)?.by_path.into_iter().map(|(path, number)| (number, path)).collect();
    paths.sort();
    Ok(paths.into_iter().map(|(_, path)| path).collect())
}

impl GroupTree {
    /// Declared groups in their order, then those that only tasks name.
    ///
    /// # Errors
    /// What a group cannot be, or has twice.
    pub fn of(w: &Workload) -> Result<GroupTree, PlanError> {
        let mut groups = GroupTree::default();
        let mut declared = BTreeMap::new();
        for GroupSpec { path, shares, clamps, bandwidth, throttle, idle } in &w.groups {
            let number = groups.add(path)?;
            if *declared.entry(number).or_insert(*shares) != *shares {
                return Err(PlanError(format!("task group '{path}' has two weights")));
            }
            if !SHARES_RANGE.contains(shares) {
                return Err(PlanError(format!(
                    "task group '{path}' has {shares} shares, allowed are {SHARES_RANGE:?}"
                )));
            }
            if number != ROOT {
                check_bandwidth(path, *bandwidth)?;
                if *throttle > THROTTLE_DEFAULT {
                    return Err(PlanError(format!(
                        "task group '{path}' counts for {throttle} of 1024 of a CPU at most"
                    )));
                }
                let group = &mut groups.list[number as usize];
                // Declared again without a quota it keeps the one it has.
                (group.shares, group.clamps, group.throttle) = (*shares, *clamps, *throttle);
                group.idle |= *idle;
                group.bandwidth = bandwidth.or(group.bandwidth);
            }
        }
        for change in &w.group_changes {
            let number = groups.add(&change.path)?;
            check_change(number, change)?;
        }
        groups.check_weights(w)?;
        for task in &w.tasks {
            groups.add(&task.taskgroup)?;
            for path in task.phases.iter().filter_map(|phase| phase.taskgroup.as_ref()) {
                groups.add(path)?;
            }
        }
        Ok(groups)
    }

    /// Number of a group and, if need be, of all above it.
    fn add(&mut self, path: &str) -> Result<u32, PlanError> {
        let (mut number, mut at) = (ROOT, String::new());
        for (depth, name) in path.split('/').filter(|name| !name.is_empty()).enumerate() {
            at.push('/');
            at.push_str(name);
            let (parent, next) = (number, self.list.len() as u32);
            number = *self.by_path.entry(at.clone()).or_insert(next);
            if depth >= GROUP_DEPTH_MAX || number as usize >= GROUPS_MAX {
                return Err(PlanError(format!(
                    "task group '{path}': at most {GROUP_DEPTH_MAX} levels and {GROUPS_MAX} groups"
                )));
            }
            if number == next {
                let (shares, clamps, throttle) = (SHARES_DEFAULT, CLAMPS_DEFAULT, THROTTLE_DEFAULT);
                self.list.push(GroupNode { parent, shares, clamps, bandwidth: None, throttle, idle: false });
            }
        }
        Ok(number)
    }

    /// The weight of an idle group cannot be written (`sched_group_set_shares()`: EINVAL).
    fn check_weights(&self, w: &Workload) -> Result<(), PlanError> {
        let mut idle: Vec<bool> = self.list.iter().map(|group| group.idle).collect();
        let mut changes: Vec<_> = w.group_changes.iter().collect();
        changes.sort_by_key(|change| change.at_ns);
        for change in changes {
            let idle = &mut idle[self.number(&change.path) as usize];
            *idle = change.idle.unwrap_or(*idle);
            if *idle && change.shares.is_some() {
                return Err(PlanError(format!(
                    "task group '{}' is idle at {} ms: the kernel refuses a weight for it",
                    change.path,
                    change.at_ns / 1_000_000
                )));
            }
        }
        Ok(())
    }

    /// Path of a group.
    pub fn path(&self, number: u32) -> String {
        self.by_path.iter().find(|(_, n)| **n == number).map(|(path, _)| path.clone()).unwrap_or_default()
    }

    /// Number of a group of the workload; [`ROOT`] for the root.
    pub fn number(&self, path: &str) -> u32 {
        self.by_path.get(&group_path(path)).copied().unwrap_or(ROOT)
    }
}

fn check_change(number: u32, change: &GroupChange) -> Result<(), PlanError> {
    let shares = change.shares.is_none_or(|shares| SHARES_RANGE.contains(&shares));
    let parts = [change.clamp_min, change.clamp_max, change.throttle];
    if number == ROOT || !shares || parts.iter().flatten().any(|part| *part > THROTTLE_DEFAULT) {
        return Err(PlanError(format!(
            "task group '{}' changes: not to what a group can have ({SHARES_RANGE:?} shares)",
            change.path
        )));
    }
    check_bandwidth(&change.path, change.bandwidth.flatten())
}

fn check_bandwidth(path: &str, limit: Option<Bandwidth>) -> Result<(), PlanError> {
    if limit.is_none_or(|limit| limit.is_in_range()) {
        return Ok(());
    }
    Err(PlanError(format!(
        "task group '{path}': a quota is at least 1 ms, a period 1 ms to 1 s, a burst at most the quota"
    )))
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
        let groups = GroupTree::of(&w).expect("a tree");
        assert_eq!(group_paths(&w).expect("a tree"), ["/x", "/x/y", "/a", "/a/b", "/c"]);
        assert_eq!((groups.number("/a/b"), groups.number("/"), groups.number("c/")), (3, ROOT, 4));
        let shares: Vec<u64> = groups.list.iter().map(|g| g.shares).collect();
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
    fn an_idle_group_has_no_weight_to_be_written() {
        let change = |at_ns, idle, shares| GroupChange { at_ns, path: "/a".into(), idle, shares, ..Default::default() };
        let of = |group_changes| {
            let groups = vec![GroupSpec { path: "/a".into(), idle: true, ..GroupSpec::default() }];
            GroupTree::of(&Workload { groups, group_changes, ..Workload::default() })
        };
        assert!(of(vec![change(5, None, Some(7))]).is_err());
        assert!(of(vec![change(5, None, Some(7)), change(3, Some(false), None)]).is_ok(), "no longer idle by then");
        assert!(of(vec![change(3, Some(false), Some(7))]).is_ok(), "cpu.idle is written first");
        assert!(of(vec![change(3, Some(false), None), change(4, Some(true), Some(7))]).is_err());
    }

    #[test]
    fn hostile_paths_are_refused() {
        let of = |path: String, shares| {
            GroupTree::of(&Workload {
                groups: vec![GroupSpec { path, shares, ..GroupSpec::default() }],
                ..Workload::default()
            })
        };
        assert!(of("/a".repeat(GROUP_DEPTH_MAX), 1024).is_ok());
        assert!(of("/a".repeat(GROUP_DEPTH_MAX + 1), 1024).is_err());
        let twice = |shares| {
            let group = |shares| GroupSpec { path: "/a".into(), shares, ..GroupSpec::default() };
            GroupTree::of(&Workload { groups: vec![group(1024), group(shares)], ..Workload::default() })
        };
        assert!(twice(1024).is_ok() && twice(1025).is_err());
        assert!(of("/a".into(), 1).is_err() && of("/a".into(), 262_145).is_err());
    }
}
