// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of frequency domains: whose, how much, from when on.

use pelton_model::workload::{CpuSet, LimitChange, LimitSource};
use pelton_model::{Machine, Workload};

use super::spec::Spec;

/// Latest change of limits, milliseconds: one day.
const FROM_MS_MAX: u64 = 86_400_000;

const SOURCES: &[(&str, LimitSource)] = &[("user", LimitSource::User), ("cooling", LimitSource::Cooling)];

/// `limits:cpus=4-7,max_khz=1200000,from_ms=500`. Without `min_khz` and `max_khz`: what the same source asked for ends.
pub(super) fn declared(spec: &mut Spec) -> Workload {
    let all = CpuSet::first(spec.machine_cpus() as u32);
    let cpus = spec.cpus().unwrap_or(all);
    let (lowest, highest) = range(spec.machine(), &cpus);
    let min_khz = spec.number("min_khz", lowest, lowest..=highest);
    let max_khz = spec.number("max_khz", highest, lowest..=highest);
    let from_ms: u64 = spec.number("from_ms", 0, 0..=FROM_MS_MAX);
    let by = spec.word("by", SOURCES, LimitSource::User);
    if min_khz > max_khz {
        spec.wrong("min_khz", "the lower limit is above the upper one", &format!("{lowest}..={max_khz} kHz here"));
    }
    if by == LimitSource::Cooling && spec.has("min_khz") {
        spec.wrong("min_khz", "a cooling device asks for no lower limit", "leave `min_khz` out, or write by=user");
    }
    let min_khz = if spec.has("min_khz") { min_khz } else { 0 };
    let max_khz = if spec.has("max_khz") { max_khz } else { u32::MAX };
    let limits = vec![LimitChange { at_ns: from_ms * 1_000_000, cpus, min_khz, max_khz, by }];
    Workload { limits, ..Workload::default() }
}

/// Lowest and highest frequency of these CPUs.
fn range(m: &Machine, cpus: &CpuSet) -> (u32, u32) {
    let domains = || cpus.iter().filter_map(|c| m.domains.get(m.cpus.get(c as usize)?.domain as usize));
    let all = || domains().flat_map(|d| d.opps.iter().map(|opp| opp.khz));
    (all().min().unwrap_or(1), all().max().unwrap_or(u32::MAX))
}
