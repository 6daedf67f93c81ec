// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups: their numbers in events, and their paths as far as they are known.

use std::collections::BTreeMap;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};

use crate::record::TaskRecord;

/// Most groups whose paths are looked up before a recording.
const GROUPS_MAX: usize = 4096;
/// Deepest nesting that is followed.
const DEPTH_MAX: usize = 16;

/// Numbers of groups: 0 is the root; groups that exist before the recording come in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    numbers: BTreeMap<(u64, u64), u32>,
    paths: Vec<String>,
}

impl Groups {
    /// The groups of the cpu controller that exist now.
    pub fn scan() -> Groups {
        let mut groups = Groups { numbers: BTreeMap::new(), paths: vec!["/".to_owned()] };
        if let Some(root) = controller() {
            groups.add_below(&root, "", 0);
        }
        groups
    }

    fn add_below(&mut self, folder: &Path, path: &str, depth: usize) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_folder = |e: &std::fs::DirEntry| e.file_type().is_ok_and(|t| t.is_dir());
        let mut folders: Vec<_> = entries.filter(is_folder).collect();
        folders.sort_by_key(std::fs::DirEntry::file_name);
        for entry in folders {
            if self.paths.len() >= GROUPS_MAX || depth >= DEPTH_MAX {
                return;
            }
            let path = format!("{path}/{}", entry.file_name().to_string_lossy());
            self.number((entry.ino(), 0), path.clone());
            self.add_below(&entry.path(), &path, depth + 1);
        }
    }

    fn number(&mut self, key: (u64, u64), path: String) -> u32 {
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.paths.len() as u32;
        self.paths.push(path);
        self.numbers.insert(key, number);
        number
    }

    /// The number of a task's group.
    pub fn of_task(&mut self, task: &TaskRecord) -> u32 {
        if task.group == 0 || (task.is_root && task.autogroup == 0) {
            return 0;
        }
        if task.autogroup != 0 {
            return self.number((0, task.autogroup), format!("/autogroup-{}", task.autogroup - 1));
        }
        self.number((task.cgroup, 0), format!("cgroup {}", task.cgroup))
    }

    /// Paths by number.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }
}

/// Folder at which the cpu controller is mounted: version 1 first, because both can be.
fn controller() -> Option<PathBuf> {
    ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"]
        .into_iter()
        .map(PathBuf::from)
        .find(|root| root.join("cgroup.procs").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(group: u64, cgroup: u64, autogroup: u64, is_root: bool) -> TaskRecord {
        TaskRecord {
            tid: 1,
            policy: 0,
            prio: 120,
            uclamp_min: 0,
            uclamp_max: 1024,
            cpus_allowed: 3,
            group,
            cgroup,
            autogroup,
            is_root,
            comm: [0; 16],
        }
    }

    #[test]
    fn groups_get_small_numbers_and_keep_them() {
        let mut groups = Groups { numbers: BTreeMap::new(), paths: vec!["/".to_owned()] };
        assert_eq!(groups.of_task(&task(1, 1, 0, true)), 0);
        assert_eq!(groups.of_task(&task(0, 0, 0, false)), 0);
        assert_eq!(groups.of_task(&task(9, 40, 0, false)), 1);
        assert_eq!(groups.of_task(&task(9, 0, 8, false)), 2);
        assert_eq!(groups.of_task(&task(9, 40, 0, false)), 1);
        assert_eq!(groups.paths(), ["/", "cgroup 40", "/autogroup-7"]);
    }
}
