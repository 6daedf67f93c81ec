// SPDX-License-Identifier: GPL-2.0-or-later
//! Values written into the files of task groups before the moment that is explained.

use std::collections::BTreeMap;

use pelton_schema::{Event, Sink, group_changes};
use schemars::JsonSchema;
use serde::Serialize;

/// The last change of a file of a task group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupChanged {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// Path of the group.
    pub group: String,
    /// The file.
    pub file: &'static str,
    /// Content before the change.
    pub before: String,
    /// Content since the change.
    pub now: String,
}

/// Collects changes of groups.
#[derive(Debug, Default)]
pub struct GroupSink {
    paths: Vec<String>,
    now: BTreeMap<u32, Event>,
    changes: Vec<GroupChanged>,
}

impl GroupSink {
    /// For a run with groups of these paths, the first of which events call 1.
    pub fn new(paths: Vec<String>) -> GroupSink {
        GroupSink { paths, ..GroupSink::default() }
    }

    /// The last change of each file of each group up to a moment, by group, then in the order of time.
    pub fn before(&self, time_ns: u64) -> Vec<GroupChanged> {
        let mut last: BTreeMap<(&str, &str), &GroupChanged> = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.time_ns <= time_ns) {
            last.insert((&change.group, change.file), change);
        }
        let mut changes: Vec<GroupChanged> = last.into_values().cloned().collect();
        changes.sort_by(|a, b| (&a.group, a.time_ns).cmp(&(&b.group, b.time_ns)));
        changes
    }
}

impl Sink for GroupSink {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Event::TaskGroup { group, .. } = *event else { return };
        let Some(before) = self.now.insert(group, *event) else { return };
        let path = self.paths.get((group as usize).wrapping_sub(1)).cloned().unwrap_or_default();
        let changed = group_changes(&before, event).into_iter();
        self.changes.extend(changed.map(|c| GroupChanged {
            time_ns,
            group: path.clone(),
            file: c.file,
            before: c.before,
            now: c.now,
        }));
    }
}
