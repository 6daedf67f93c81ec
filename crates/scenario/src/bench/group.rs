// SPDX-License-Identifier: GPL-2.0-only
//! Task groups: the option `group` of every model, and the declaration of a group's weight.

use pelton_core::shares_of_weight;
use pelton_sim::Workload;
use pelton_sim::groups::{GROUP_DEPTH_MAX, SHARES_DEFAULT, SHARES_RANGE, group_path, is_too_deep};
use pelton_sim::workload::GroupSpec;

use super::spec::Spec;

/// `group:path=/a/b,cpu.weight=200`.
pub(super) fn declared(spec: &mut Spec) -> Workload {
    let named = path(spec, "path");
    let weight: u32 = spec.number("cpu.weight", 100, 1..=10_000);
    let shares = spec.number("cpu.shares", SHARES_DEFAULT, SHARES_RANGE);
    if spec.has("cpu.weight") && spec.has("cpu.shares") {
        spec.wrong("cpu.shares", "`cpu.weight` and `cpu.shares` say the same thing", "a weight of 100 is 1024 shares");
    }
    let shares = if spec.has("cpu.weight") { shares_of_weight(weight) } else { shares };
    if named.as_ref().is_none_or(String::is_empty) {
        spec.wrong("path", "`path` has to name a group", "write group:path=/name; the root has no weight");
    }
    Workload { groups: vec![GroupSpec { path: named.unwrap_or_default(), shares }], ..Workload::default() }
}

/// The path an option gives, cleaned; `None` when it is not written.
pub(super) fn path(spec: &mut Spec, key: &'static str) -> Option<String> {
    let path = group_path(spec.string(key, ""));
    if is_too_deep(&path) {
        spec.wrong(key, "a task group so deep down", &format!("at most {GROUP_DEPTH_MAX} levels"));
    }
    spec.has(key).then_some(path)
}
