// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups in a log of ours: their files at the window's begin and what was written later.

use std::collections::BTreeMap;

use pelton_model::Workload;
use pelton_model::groups::{CLAMPS_DEFAULT, SHARES_DEFAULT, SHARES_RANGE, THROTTLE_DEFAULT, is_too_deep};
use pelton_model::workload::{Bandwidth, GroupChange, GroupSpec};
use pelton_schema::Event;

/// Most writes that are kept.
const WRITES_MAX: usize = 1 << 16;

/// Values of a group's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Files {
    shares: u64,
    idle: bool,
    clamps: (u32, u32),
    throttle: u32,
    bandwidth: Option<Bandwidth>,
}

impl Files {
    /// Values of an event, as far as a group can have them: an idle one has the default weight when it no longer is.
    fn of(event: &Event) -> Option<(u32, Files)> {
        let Event::TaskGroup { group, idle, shares, uclamp_min, uclamp_max, throttle, quota_ns, period_ns, burst_ns } =
            *event
        else {
            return None;
        };
        let limit = Some(Bandwidth { quota_ns, period_ns, burst_ns });
        let files = Files {
            idle: idle != 0,
            shares: if idle != 0 { SHARES_DEFAULT } else { shares.clamp(*SHARES_RANGE.start(), *SHARES_RANGE.end()) },
            clamps: (uclamp_min.min(CLAMPS_DEFAULT.1), uclamp_max.min(CLAMPS_DEFAULT.1)),
            throttle: throttle.min(THROTTLE_DEFAULT),
            bandwidth: limit.filter(|limit| limit.is_in_range()),
        };
        Some((group, files))
    }

    fn spec(self, path: &str) -> GroupSpec {
        let Files { shares, idle, clamps, throttle, bandwidth } = self;
        GroupSpec { path: path.to_owned(), shares, clamps, bandwidth, throttle, idle }
    }

    /// Change that has to be written for a group that had `before`; `None` when it has it all.
    fn written(self, before: Files, path: &str, at_ns: u64) -> Option<GroupChange> {
        let differs = |yes: bool| yes.then_some(self);
        // A change of `cpu.idle` sets the weight by itself.
        let had = if self.idle != before.idle { SHARES_DEFAULT } else { before.shares };
        let change = GroupChange {
            at_ns: at_ns.max(1),
            path: path.to_owned(),
            shares: differs(self.shares != had && !self.idle).map(|now| now.shares),
            bandwidth: differs(self.bandwidth != before.bandwidth).map(|now| now.bandwidth),
            idle: differs(self.idle != before.idle).map(|now| now.idle),
            clamp_min: differs(self.clamps.0 != before.clamps.0).map(|now| now.clamps.0),
            clamp_max: differs(self.clamps.1 != before.clamps.1).map(|now| now.clamps.1),
            throttle: differs(self.throttle != before.throttle).map(|now| now.throttle),
        };
        (self != before).then_some(change)
    }
}

/// Groups by their numbers in events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    /// Paths; the first is the root.
    paths: Vec<String>,
    at_begin: BTreeMap<u32, Files>,
    now: BTreeMap<u32, Files>,
    /// Writes: time after the window's begin, ns; number; values before and afterwards.
    writes: Vec<(u64, u32, Files, Files)>,
    /// Writes beyond [`WRITES_MAX`].
    dropped: u64,
}

impl Groups {
    /// An event about a group.
    pub(super) fn told(&mut self, at_ns: u64, event: &Event) {
        let Some((group, files)) = Files::of(event) else { return };
        match self.now.insert(group, files) {
            None => drop(self.at_begin.insert(group, files)),
            Some(before) if self.writes.len() < WRITES_MAX => self.writes.push((at_ns, group, before, files)),
            Some(_) => self.dropped += 1,
        }
    }

    /// The window begins.
    pub(super) fn begin(&mut self) {
        self.at_begin.clone_from(&self.now);
        self.writes.clear();
        self.dropped = 0;
    }

    /// The numbers in events are places in this list; groups without a path are left out.
    pub(super) fn name(&mut self, paths: &[String]) {
        self.paths = paths.to_vec();
    }

    /// True when groups are recorded, which recordings of kernels do not have.
    pub(super) fn are_told(&self) -> bool {
        !self.now.is_empty()
    }

    /// Path of a group; `None` of one that is not known. The root has none.
    pub(super) fn path(&self, group: u32) -> Option<&str> {
        if group == 0 {
            return Some("");
        }
        let path = self.paths.get(group as usize).filter(|path| !is_too_deep(path));
        path.filter(|_| self.now.contains_key(&group)).map(String::as_str)
    }

    /// Parts that are left out of a workload, as sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let unknown = self.at_begin.keys().filter(|&&group| self.path(group).is_none()).count();
        let mut notes = Vec::new();
        if unknown > 0 {
            notes.push(format!(
                "{unknown} task groups are left out: the trace has no path of them, or one that is too deep"
            ));
        }
        if self.dropped > 0 {
            notes.push(format!(
                "{} writes into files of task groups are left out: {WRITES_MAX} are kept at most",
                self.dropped
            ));
        }
        notes
    }

    /// Puts the groups and what was written into a workload.
    pub(super) fn put_into(&self, w: &mut Workload) {
        let known = |group: u32| self.path(group).filter(|path| path.len() > 1);
        w.groups.extend(self.at_begin.iter().filter_map(|(&group, files)| Some(files.spec(known(group)?))));
        let writes = self.writes.iter();
        w.group_changes
            .extend(writes.filter_map(|(at_ns, group, before, now)| now.written(*before, known(*group)?, *at_ns)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(group: u32, shares: u64) -> Event {
        let (uclamp_min, uclamp_max, throttle) = (0, CLAMPS_DEFAULT.1, THROTTLE_DEFAULT);
        let (quota_ns, period_ns, burst_ns) = (0, 0, 0);
        Event::TaskGroup { group, idle: 0, shares, uclamp_min, uclamp_max, throttle, quota_ns, period_ns, burst_ns }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let mut groups = Groups::default();
        groups.name(&["/".to_owned(), "/a".to_owned()]);
        groups.told(0, &told(1, 1024));
        assert_eq!(groups.notes(), Vec::<String>::new());
        groups.told(0, &told(2, 1024));
        (0..=WRITES_MAX as u64).for_each(|i| groups.told(i, &told(1, 100 + i % 2)));
        let notes = groups.notes();
        assert!(notes[0].starts_with("1 task groups are left out"), "{notes:?}");
        assert!(notes[1].starts_with("1 writes into files"), "{notes:?}");
    }
}
