// SPDX-License-Identifier: GPL-2.0-only
//! Task groups: the option `group` of every model, and the declaration of a group's weight.

use pelton_core::{shares_of_weight, uclamp_of_percent};
use pelton_sim::Workload;
use pelton_sim::groups::{GROUP_DEPTH_MAX, SHARES_DEFAULT, SHARES_RANGE, group_path, is_too_deep};
use pelton_sim::workload::GroupSpec;

use super::spec::{Spec, decimal};

/// `group:path=/a/b,cpu.weight=200,cpu.uclamp.max=30.5`.
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
    let clamps = clamps(spec);
    Workload { groups: vec![GroupSpec { path: named.unwrap_or_default(), shares, clamps }], ..Workload::default() }
}

/// `cpu.uclamp.min` and `cpu.uclamp.max` as control groups have them: percent with two decimals, or `max`.
fn clamps(spec: &mut Spec) -> (u32, u32) {
    let min = percent(spec, "cpu.uclamp.min", "0");
    (min, percent(spec, "cpu.uclamp.max", "max"))
}

fn percent(spec: &mut Spec, key: &'static str, preset: &'static str) -> u32 {
    let text = spec.string(key, preset);
    if text == "max" {
        return 1024;
    }
    let hundredths = decimal(text, 2).and_then(|h| u32::try_from(h).ok()).filter(|h| *h <= 10_000);
    if hundredths.is_none() {
        spec.wrong(key, "not a clamp", "a percentage from 0 to 100 with at most two decimals, or `max`");
    }
    uclamp_of_percent(hundredths.unwrap_or_default())
}

/// The path an option gives, cleaned; `None` when it is not written.
pub(super) fn path(spec: &mut Spec, key: &'static str) -> Option<String> {
    let path = group_path(spec.string(key, ""));
    if is_too_deep(&path) {
        spec.wrong(key, "a task group so deep down", &format!("at most {GROUP_DEPTH_MAX} levels"));
    }
    spec.has(key).then_some(path)
}
