// SPDX-License-Identifier: GPL-2.0-only
//! Boosts of groups of tasks (SchedTune): who, how much, from when on.

use pelton_model::Workload;
use pelton_model::groups::group_path;
use pelton_model::workload::BoostSpec;

use super::spec::Spec;

/// Latest change of a boost, milliseconds: one day.
const FROM_MS_MAX: u64 = 86_400_000;

/// `boost:of=/top-app|ui,percent=30,from_ms=0`. Without `of`: the root, i.e. everybody.
pub(super) fn declared(spec: &mut Spec) -> Workload {
    let members: Vec<String> =
        spec.string("of", "").split('|').map(str::trim).filter(|m| !m.is_empty()).map(member).collect();
    let percent: i32 = spec.number("percent", 0, -100..=100);
    let from_ms: u64 = spec.number("from_ms", 0, 0..=FROM_MS_MAX);
    if !spec.has("percent") {
        spec.wrong("percent", "a boost needs `percent`", "write boost:of=NAME,percent=30");
    }
    if spec.has("of") && members.is_empty() {
        spec.wrong(
            "of",
            "`of` names nobody",
            "write task names or /paths of task groups, joined by |; without `of`: everybody",
        );
    }
    let boosts = vec![(from_ms * 1_000_000, percent)];
    Workload { boosts: vec![BoostSpec { members, boosts }], ..Workload::default() }
}

/// A path is written as the kernel does.
fn member(text: &str) -> String {
    if text.starts_with('/') { group_path(text) } else { text.to_owned() }
}
