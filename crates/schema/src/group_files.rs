// SPDX-License-Identifier: GPL-2.0-or-later
//! Files of a task group as a kernel shows them, from the columns of `task_group` events.

use crate::events::Event;
use pelton_core::weight_of_shares;

/// The largest capacity.
const FULL: u32 = 1024;
/// The weight of an idle group: `cpu.idle` makes it, it was not written, and releases show it differently.
const UNTOLD: &str = "";

/// A file of a group holds something else than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Name of the file.
    pub file: &'static str,
    /// Content before.
    pub before: String,
    /// Content now.
    pub now: String,
}

/// Files that differ between two `task_group` events of one group; none between other events.
pub fn group_changes(before: &Event, now: &Event) -> Vec<FileChange> {
    let (Some(before), Some(now)) = (files(before), files(now)) else { return Vec::new() };
    let both = before.into_iter().zip(now);
    let changes = both.filter(|(before, now)| before.1 != now.1 && before.1 != UNTOLD && now.1 != UNTOLD);
    changes.map(|(before, now)| FileChange { file: now.0, before: before.1, now: now.1 }).collect()
}

fn files(event: &Event) -> Option<[(&'static str, String); 7]> {
    let Event::TaskGroup { idle, shares, uclamp_min, uclamp_max, throttle, quota_ns, period_ns, burst_ns, .. } = *event
    else {
        return None;
    };
    let max = match quota_ns {
        0 => "max".to_owned(),
        quota_ns => format!("{} {}", quota_ns / 1000, period_ns / 1000),
    };
    Some([
        ("cpu.idle", idle.to_string()),
        ("cpu.weight", if idle == 0 { weight_of_shares(shares).to_string() } else { UNTOLD.to_owned() }),
        ("cpu.uclamp.min", percent(uclamp_min)),
        ("cpu.uclamp.max", if uclamp_max >= FULL { "max".to_owned() } else { percent(uclamp_max) }),
        ("group_throttle", throttle.to_string()),
        ("cpu.max", max),
        ("cpu.max.burst", (burst_ns / 1000).to_string()),
    ])
}

/// Percent of the largest capacity, to the nearest hundredth: what was written may have been rounded to a capacity.
fn percent(capacity: u32) -> String {
    let full = u64::from(FULL);
    let hundredths = (u64::from(capacity) * 10_000 + full / 2) / full;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_changed_are_named_as_a_kernel_shows_them() {
        let told = |idle, shares, uclamp_max, quota_ns| Event::TaskGroup {
            group: 1,
            idle,
            shares,
            uclamp_min: 0,
            uclamp_max,
            throttle: 1024,
            quota_ns,
            period_ns: 100_000_000,
            burst_ns: 0,
        };
        let change = |file, before: &str, now: &str| FileChange { file, before: before.into(), now: now.into() };
        let before = told(0, 1024, 1024, 0);
        assert_eq!(group_changes(&before, &before), []);
        let idle = group_changes(&before, &told(1, 3, 1024, 0));
        assert_eq!(idle, [change("cpu.idle", "0", "1")]);
        let others = group_changes(&before, &told(0, 1024, 337, 20_000_000));
        assert_eq!(others, [change("cpu.uclamp.max", "max", "32.91"), change("cpu.max", "max", "20000 100000")]);
        assert_eq!(group_changes(&before, &Event::LostEvents { cpu: 0, count: 0 }), []);
    }
}
