// SPDX-License-Identifier: GPL-2.0-or-later
//! Boosts of groups of tasks (SchedTune): members, percent and time of each change.

use pelton_model::Workload;
use pelton_model::groups::group_path;
use pelton_model::workload::BoostSpec;

use super::spec::Spec;

/// Latest change of a boost, milliseconds: one day.
const FROM_MS_MAX: u64 = 86_400_000;

/// `boost:of=/top-app|ui,percent=30,from_ms=0,prefer_idle=1`. Without `of`: the root, i.e. all tasks.
pub(super) fn declared(spec: &mut Spec) -> Workload {
    let members: Vec<String> =
        spec.string("of", "").split('|').map(str::trim).filter(|m| !m.is_empty()).map(member).collect();
    let percent: i32 = spec.number("percent", 0, -100..=100);
    let from_ms: u64 = spec.number("from_ms", 0, 0..=FROM_MS_MAX);
    let prefer_idle: u32 = spec.number("prefer_idle", 0, 0..=1);
    if !spec.has("percent") && !spec.has("prefer_idle") {
        spec.wrong("percent", "a boost needs `percent`", "write boost:of=NAME,percent=30, or prefer_idle=1");
    }
    if from_ms > 0 && spec.has("prefer_idle") {
        let help = "leave it out here; boost:of=NAME,prefer_idle=1 without `from_ms` is for the whole run";
        spec.wrong("prefer_idle", "`prefer_idle` cannot be switched during a run", help);
    }
    if spec.has("of") && members.is_empty() {
        spec.wrong(
            "of",
            "`of` names no task",
            "write task names or /paths of task groups, joined by |; without `of`: all tasks",
        );
    }
    let boosts = if spec.has("percent") { vec![(from_ms * 1_000_000, percent)] } else { Vec::new() };
    let group = BoostSpec { members, boosts, prefer_idle: prefer_idle != 0 };
    Workload { boosts: vec![group], ..Workload::default() }
}

/// `boostpulse:at_ms=100`: as when a user touches a screen.
pub(super) fn pulse(spec: &mut Spec) -> Workload {
    let at_ms: u64 = spec.number("at_ms", 0, 0..=FROM_MS_MAX);
    Workload { pulses: vec![at_ms * 1_000_000], ..Workload::default() }
}

/// A path is written as the kernel does.
fn member(text: &str) -> String {
    if text.starts_with('/') { group_path(text) } else { text.to_owned() }
}
