// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `quotas`: task groups inside task groups, most of them with a quota, and one whose quota changes while it
//! runs: throttled tasks, tasks that sleep or wake while their group is throttled, groups that are throttled inside
//! throttled ones.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::made::pause;
use super::{GROUPS, Periodic, Running};

/// Period of every quota, us.
const PERIOD_US: u32 = 20_000;
/// Groups: name below the first one, quota in a period (-1: none), shares.
const ALL: [(&str, i32, u32); 5] = [
    ("", 24_000, 1024),
    ("inner", 9_000, 512),
    ("inner/deep", 4_000, 1024),
    ("free", -1, 2048),
    ("free/small", 6_000, 256),
];
/// The group whose quota changes, and its quotas.
const CHANGES: (usize, [&str; 3]) = (2, ["4000", "-1", "2000"]);
/// Time for which each quota holds.
const HOLDS: Duration = Duration::from_millis(170);
/// Tasks: time of work, period, group; two in each group that ask for more than it has, and some that sleep.
const TASKS: [(u64, u64, usize); 11] = [
    (30_000, 40_000, 0),
    (1_000, 6_000, 0),
    (20_000, 25_000, 1),
    (700, 5_000, 1),
    (15_000, 20_000, 2),
    (400, 3_000, 2),
    (5_000, 33_000, 3),
    (300, 2_000, 3),
    (12_000, 16_000, 4),
    (900, 7_000, 4),
    (2_000, 11_000, 4),
];

/// Makes the groups and starts the tasks.
///
/// # Errors
/// When the cpu controller of version 1 with quotas is not there.
pub(super) fn start(running: &mut Running) -> io::Result<()> {
    let root = Path::new(GROUPS).join(format!("pelton-{}-quotas", std::process::id()));
    let mut groups = Vec::new();
    for (name, quota_us, shares) in ALL {
        let group = if name.is_empty() { root.clone() } else { root.join(name) };
        let made = running.restore.make_group(&group).and_then(|()| set_up(&group, quota_us, shares));
        made.map_err(|e| io::Error::new(e.kind(), format!("no quota for {}: {e}", group.display())))?;
        groups.push(group);
    }
    let task = |(index, &(run, period, group)): (usize, &(u64, u64, usize))| Periodic {
        group: Some(groups[group].join("tasks")),
        ..Periodic::new(&format!("quota-{index}"), run, period)
    };
    running.periodic(TASKS.iter().enumerate().map(task).collect());
    let quota = groups[CHANGES.0].join("cpu.cfs_quota_us");
    running.spawn("changes", move |stop| {
        for text in CHANGES.1.iter().cycle() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let _ = std::fs::write(&quota, text);
            pause(HOLDS);
        }
    });
    Ok(())
}

fn set_up(group: &Path, quota_us: i32, shares: u32) -> io::Result<()> {
    std::fs::write(group.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
    std::fs::write(group.join("cpu.cfs_quota_us"), quota_us.to_string())?;
    std::fs::write(group.join("cpu.shares"), shares.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child may not be promised a larger part than its parent has.
    #[test]
    fn quotas_fit_into_each_other_and_every_group_has_tasks() {
        for (at, (name, quota_us, _)) in ALL.iter().enumerate() {
            assert!(TASKS.iter().any(|(_, _, group)| *group == at), "{name}");
            let above = ALL.iter().filter(|(above, _, _)| above.len() < name.len() && name.starts_with(above));
            for (_, most_us, _) in above.filter(|(_, most_us, _)| *most_us > 0) {
                assert!(quota_us <= most_us, "{name}");
            }
        }
    }
}
