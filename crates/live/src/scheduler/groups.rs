// SPDX-License-Identifier: GPL-2.0-or-later
//! Boosts and clamps of cgroups: which boost group a cgroup's tasks are counted in.
//!
//! The core knows a few boost groups, group 0 being that of all other tasks; cgroups of one boost share one.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Group;

use pelton_core::BOOST_GROUPS as GROUPS_MAX;
/// The folder of cgroups, and the one beside those of version 1.
const FOLDERS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
/// Number of the root.
const ROOT: u64 = 1;

/// A cgroup that was given something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Given {
    number: u64,
    group: Group,
    /// Boost group that its tasks are counted in.
    index: usize,
}

/// All that were.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    given: BTreeMap<String, Given>,
}

/// A record of the map of groups: number, then boost group and clamps.
pub(super) type Entry = (u64, [u32; 4]);

fn check(group: Group) -> Result<(), String> {
    if !(-100..=100).contains(&group.boost_percent) {
        return Err(format!("a boost of {}: -100 to 100 percent are possible", group.boost_percent));
    }
    if group.min > 1024 || group.max > 1024 {
        return Err(format!("clamps of {} and {}: each is 0 to 1024", group.min, group.max));
    }
    Ok(())
}

/// The name of a cgroup and its number, which is that of its folder.
fn find(cgroup: &str) -> Result<(String, u64), String> {
    let folder = FOLDERS.into_iter().find(|folder| Path::new(folder).join("cgroup.procs").exists());
    let folder = folder.unwrap_or(FOLDERS[0]);
    let below = |folder: &&str| cgroup.strip_prefix(*folder);
    let name = FOLDERS.iter().rev().find_map(below).unwrap_or(cgroup).trim_matches('/');
    if name.is_empty() {
        return Ok(("/".to_owned(), ROOT));
    }
    if name.split('/').any(|part| part == "..") {
        return Err(format!("`{cgroup}` is no cgroup"));
    }
    let own = Path::new(folder).join(name);
    match std::fs::metadata(own.join("cgroup.procs")).and_then(|_| std::fs::metadata(&own)) {
        Ok(own) => Ok((format!("/{name}"), own.ino())),
        Err(why) => Err(format!("there is no cgroup `{cgroup}` ({}: {why})", own.display())),
    }
}

impl Groups {
    /// Gives a cgroup boost and clamps.
    pub fn give(&mut self, cgroup: &str, group: Group) -> Result<(), String> {
        check(group)?;
        let (name, number) = find(cgroup)?;
        self.give_number(name, number, group)
    }

    fn give_number(&mut self, name: String, number: u64, group: Group) -> Result<(), String> {
        let before = self.given.remove(&name);
        if name != "/" && group == (Group { boost_percent: 0, min: 0, max: 1024 }) {
            return Ok(());
        }
        match self.index_for(&name, group.boost_percent) {
            Some(index) => {
                self.given.insert(name, Given { number, group, index });
                Ok(())
            }
            None => {
                before.map(|before| self.given.insert(name, before));
                Err(format!("no more than {} different boosts beside that of all other tasks", GROUPS_MAX - 1))
            }
        }
    }

    /// The boost group for a boost: one that has it, or a free one; 0 for the root.
    fn index_for(&self, name: &str, boost: i32) -> Option<usize> {
        if name == "/" {
            return Some(0);
        }
        let taken = |index: usize| self.given.values().find(|given| given.index == index);
        let same = (1..GROUPS_MAX).find(|&index| taken(index).is_some_and(|g| g.group.boost_percent == boost));
        same.or_else(|| (1..GROUPS_MAX).find(|&index| taken(index).is_none()))
    }

    /// Boosts of the core's groups.
    pub fn boosts(&self) -> [i64; GROUPS_MAX] {
        let mut boosts = [0; GROUPS_MAX];
        self.given.values().for_each(|given| boosts[given.index] = i64::from(given.group.boost_percent));
        boosts
    }

    /// Entries of the map of groups.
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |g: &Given| (g.number, [g.index as u32, g.group.min, g.group.max, 0]);
        self.given.values().map(entry).collect()
    }

    /// All that were given something, by name.
    pub fn all(&self) -> Vec<(String, Group)> {
        self.given.iter().map(|(name, given)| (name.clone(), given.group)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(boost_percent: i32) -> Group {
        Group { boost_percent, min: 0, max: 1024 }
    }

    #[test]
    fn cgroups_of_one_boost_share_a_group() {
        let mut groups = Groups::default();
        for (number, (name, boost)) in [("/a", 30), ("/b", 60), ("/c", 30), ("/", 10)].into_iter().enumerate() {
            groups.give_number(name.to_owned(), number as u64, group(boost)).expect("room");
        }
        assert_eq!(groups.boosts(), [10, 30, 60, 0, 0]);
        let indices: Vec<u32> = groups.entries().iter().map(|(_, words)| words[0]).collect();
        assert_eq!(indices, [0, 1, 2, 1], "the root first, then by name");
        groups.give_number("/a".into(), 0, group(5)).expect("room");
        assert_eq!(groups.boosts(), [10, 30, 60, 5, 0]);
        groups.give_number("/b".into(), 1, group(0)).expect("none");
        assert_eq!((groups.boosts(), groups.entries().len()), ([10, 30, 0, 5, 0], 3));
    }

    #[test]
    fn too_many_boosts_and_values_out_of_range_are_refused() {
        let mut groups = Groups::default();
        for boost in 1..5 {
            groups.give_number(format!("/{boost}"), boost as u64, group(boost)).expect("room");
        }
        let why = groups.give_number("/more".into(), 9, group(50)).expect_err("full");
        assert!(why.contains("no more than 4"), "{why}");
        groups.give_number("/1".into(), 1, group(77)).expect("its own group is free");
        assert!(check(group(101)).is_err() && check(Group { max: 1025, ..group(0) }).is_err());
        assert!(find("/../etc").is_err() && find("/there-is-none").is_err());
    }
}
