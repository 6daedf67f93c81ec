// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `idle-groups`: task groups inside task groups, some of which are idle (`cpu.idle`) and two of which become
//! so and cease to be so while their tasks run, beside ordinary tasks, tasks of SCHED_IDLE, and one that moves between
//! an idle group and another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::made::pause;
use super::{GROUPS, Periodic, Running, activation, now};

/// Groups: name below the first one, whether it is idle at the start, shares (an idle one has none of its own).
const ALL: [(&str, bool, u32); 5] =
    [("", false, 1024), ("inner", true, 0), ("inner/deep", false, 2048), ("other", true, 0), ("other/deep", true, 0)];
/// The groups whose `cpu.idle` changes, and how long each value holds.
const CHANGES: [(usize, Duration); 2] = [(1, Duration::from_millis(130)), (4, Duration::from_millis(210))];
/// Tasks: time of work, period, group (none: the root), SCHED_IDLE.
const TASKS: [(u64, u64, Option<usize>, bool); 12] = [
    (20_000, 40_000, None, false),
    (400, 3_000, None, false),
    (2_000, 15_000, None, true),
    (1_000, 6_000, Some(0), false),
    (3_000, 25_000, Some(0), true),
    (15_000, 20_000, Some(1), false),
    (300, 2_000, Some(1), false),
    (9_000, 14_000, Some(2), false),
    (700, 5_000, Some(2), true),
    (30_000, 40_000, Some(3), false),
    (500, 4_000, Some(4), false),
    (12_000, 16_000, Some(4), false),
];
/// The task that moves: time of work, period; between which groups; periods in each.
const MOVES: (u64, u64, [usize; 2], usize) = (2_000, 9_000, [0, 3], 8);

/// Makes the groups and starts the tasks.
///
/// # Errors
/// When the cpu controller of version 1 with `cpu.idle` (from 5.15 on) is not there.
pub(super) fn start(running: &mut Running) -> io::Result<()> {
    let root = Path::new(GROUPS).join(format!("pelton-{}-idle", std::process::id()));
    let mut groups = Vec::new();
    for (name, idle, shares) in ALL {
        let group = if name.is_empty() { root.clone() } else { root.join(name) };
        let made = running.restore.make_group(&group).and_then(|()| set_up(&group, idle, shares));
        made.map_err(|e| io::Error::new(e.kind(), format!("no idle group {}: {e}", group.display())))?;
        groups.push(group);
    }
    let task = |(index, &(run, period, group, idle_policy)): (usize, &(u64, u64, Option<usize>, bool))| Periodic {
        group: group.map(|group| groups[group].join("tasks")),
        idle_policy,
        ..Periodic::new(&format!("idle-{index}"), run, period)
    };
    running.periodic(TASKS.iter().enumerate().map(task).collect());
    for (group, holds) in CHANGES {
        change(running, groups[group].join("cpu.idle"), ALL[group].1, holds);
    }
    moves(running, MOVES.2.map(|group| groups[group].join("tasks")));
    Ok(())
}

fn set_up(group: &Path, idle: bool, shares: u32) -> io::Result<()> {
    if idle {
        return std::fs::write(group.join("cpu.idle"), "1");
    }
    std::fs::write(group.join("cpu.shares"), shares.to_string())
}

/// One whose `cpu.idle` is written again and again.
fn change(running: &mut Running, file: PathBuf, mut idle: bool, holds: Duration) {
    running.spawn("changes", move |stop| {
        while !stop.load(Ordering::Relaxed) {
            pause(holds);
            idle = !idle;
            let _ = std::fs::write(&file, if idle { "1" } else { "0" });
        }
    });
}

/// A task that changes its group while it runs.
fn moves(running: &mut Running, between: [PathBuf; 2]) {
    let (run, period, _, stays) = MOVES;
    running.spawn("mover", move |stop| {
        let (task, mut next, mut turn) = (Periodic::new("mover", run, period), now(), 0);
        while !stop.load(Ordering::Relaxed) {
            // 0 is the writing thread itself.
            let _ = std::fs::write(&between[turn / stays % between.len()], "0");
            activation(&task, &mut next);
            turn += 1;
        }
        let _ = std::fs::write(Path::new(GROUPS).join("tasks"), "0");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_tasks_and_what_changes_is_there() {
        for (at, (name, ..)) in ALL.iter().enumerate() {
            assert!(TASKS.iter().any(|(_, _, group, _)| *group == Some(at)), "{name}");
        }
        assert!(CHANGES.iter().all(|(group, _)| *group < ALL.len()) && MOVES.2.iter().all(|group| *group < ALL.len()));
    }
}
