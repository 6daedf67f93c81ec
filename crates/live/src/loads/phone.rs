// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `phone`: many small tasks and a few that come in bursts, in task groups, so little in all that a machine of
//! small and large CPUs is not over-utilized and places them by energy.

use std::path::PathBuf;

use super::{Periodic, Running, wakeups};

/// Run time and period of each, us. The last two run long enough to raise the frequency, and sleep long enough to lose
/// it.
const TASKS: [(u64, u64); 14] = [
    (120, 4_100),
    (250, 6_300),
    (400, 8_300),
    (900, 16_600),
    (150, 5_200),
    (600, 12_700),
    (1_800, 33_300),
    (200, 7_900),
    (80, 3_700),
    (3_000, 49_000),
    (300, 9_700),
    (100, 5_900),
    (110_000, 700_000),
    (170_000, 1_300_000),
];

/// Starts all of them; without the cpu controller there are no groups, and a note says so.
pub(super) fn start(running: &mut Running) {
    let groups = wakeups::groups_or_note(running);
    running.periodic(tasks(&groups));
}

fn tasks(groups: &[PathBuf]) -> Vec<Periodic> {
    let nices = [0, 0, -4, 0, 0, 6];
    let one = |(index, &(run, period)): (usize, &(u64, u64))| Periodic {
        nice: nices[index % nices.len()],
        idle_policy: index == 5,
        // Every fourth stays in the root.
        group: groups.get(index % 4).cloned(),
        ..Periodic::new(&format!("phone-{index}"), run, period)
    };
    TASKS.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_leave_most_of_a_small_machine_idle() {
        let busy: f64 = TASKS.iter().map(|&(run, period)| run as f64 / period as f64).sum();
        assert!((0.5..1.5).contains(&busy), "{busy} CPUs");
        assert_eq!(tasks(&[]).iter().filter(|task| task.idle_policy).count(), 1);
    }
}
