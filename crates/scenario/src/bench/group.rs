// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups: the option `group` of every model, and the declaration of a group's weight.

use pelton_core::{shares_of_weight, uclamp_of_percent};
use pelton_model::Workload;
use pelton_model::groups::{GROUP_DEPTH_MAX, SHARES_DEFAULT, SHARES_RANGE, THROTTLE_DEFAULT, group_path, is_too_deep};
use pelton_model::workload::{Bandwidth, GroupChange, GroupSpec};
use pelton_model::workload::{PERIOD_NS_DEFAULT, PERIOD_NS_MAX, QUOTA_NS_MAX, QUOTA_NS_MIN};

use super::spec::{Spec, decimal};

/// Longest quota, us; longest period, us; shortest of both.
const QUOTA_US_MAX: u64 = QUOTA_NS_MAX / 1000;
const PERIOD_US_MAX: u64 = PERIOD_NS_MAX / 1000;
const US_MIN: u64 = QUOTA_NS_MIN / 1000;

/// Latest change of a group, milliseconds: one day.
const FROM_MS_MAX: u64 = 86_400_000;

/// `group:path=/a/b,cpu.weight=200,cpu.max=20000 100000,cpu.uclamp.max=30.5`, or `cpu.idle=1` in place of a weight;
/// with `from_ms=500` what is named changes then.
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
    let (clamps, bandwidth) = (clamps(spec), bandwidth(spec));
    let throttle = spec.number("group_throttle", THROTTLE_DEFAULT, 0..=THROTTLE_DEFAULT);
    let idle = idle(spec);
    let path = named.unwrap_or_default();
    let from_ms: u64 = spec.number("from_ms", 0, 0..=FROM_MS_MAX);
    if from_ms == 0 {
        return Workload {
            groups: vec![GroupSpec { path, shares, clamps, bandwidth, throttle, idle }],
            ..Workload::default()
        };
    }
    let change = GroupChange {
        at_ns: from_ms * 1_000_000,
        path,
        shares: weighs(spec).then_some(shares),
        bandwidth: spec.has("cpu.max").then_some(bandwidth),
        idle: spec.has("cpu.idle").then_some(idle),
        clamp_min: spec.has("cpu.uclamp.min").then_some(clamps.0),
        clamp_max: spec.has("cpu.uclamp.max").then_some(clamps.1),
        throttle: spec.has("group_throttle").then_some(throttle),
    };
    let nothing = GroupChange { at_ns: change.at_ns, path: change.path.clone(), ..GroupChange::default() };
    if change == nothing {
        let help = "name what is another then: cpu.weight, cpu.shares, cpu.idle, cpu.max, cpu.uclamp.min, \
                    cpu.uclamp.max, group_throttle";
        spec.wrong("from_ms", "nothing that changes from then on", help);
    }
    Workload { group_changes: vec![change], ..Workload::default() }
}

fn weighs(spec: &Spec) -> bool {
    spec.has("cpu.weight") || spec.has("cpu.shares")
}

/// `cpu.idle`: an idle group weighs what it weighs.
fn idle(spec: &mut Spec) -> bool {
    let idle = spec.number("cpu.idle", 0u32, 0..=1) == 1;
    if idle && weighs(spec) {
        let help = "the kernel refuses a weight for an idle group: leave it out, or write cpu.idle=0";
        spec.wrong("cpu.idle", "an idle group has no weight of its own", help);
    }
    idle
}

/// `cpu.max` as control groups have it, a quota and a period in us, or `max`; `cpu.max.burst` in us.
fn bandwidth(spec: &mut Spec) -> Option<Bandwidth> {
    let text = spec.string("cpu.max", "max");
    let burst_us: u64 = spec.number("cpu.max.burst", 0, 0..=QUOTA_US_MAX);
    let mut words = text.split_ascii_whitespace();
    let (quota, period) = (words.next().unwrap_or_default(), words.next());
    let in_range = |word: &str, most| word.parse().ok().filter(|us| (US_MIN..=most).contains(us));
    let period_us = period.map_or(Some(PERIOD_NS_DEFAULT / 1000), |word| in_range(word, PERIOD_US_MAX));
    let quota_us = if quota == "max" { Some(0) } else { in_range(quota, QUOTA_US_MAX) };
    let (Some(quota_us), Some(period_us), None) = (quota_us, period_us, words.next()) else {
        let (quotas, periods) = (format!("{US_MIN}..={QUOTA_US_MAX}"), format!("{US_MIN}..={PERIOD_US_MAX}"));
        let help = format!("a quota ({quotas} us, or `max`) and a period ({periods} us): cpu.max=20000 100000");
        spec.wrong("cpu.max", "not a quota and a period", &help);
        return None;
    };
    if burst_us > quota_us {
        spec.wrong("cpu.max.burst", "a burst is at most the quota", &format!("0..={quota_us} us with this `cpu.max`"));
        return None;
    }
    let limit = Bandwidth { quota_ns: quota_us * 1000, period_ns: period_us * 1000, burst_ns: burst_us * 1000 };
    (quota_us > 0).then_some(limit)
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
