// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules between the figures of the power that a board draws.

use super::file::{Arch, Domain, EnergyRow, IdlePower, PlatformFile};
use super::machine::frequencies;
use crate::diagnostic::{Diagnostics, SourceFile, hint_for};

/// Everything that is wrong between them.
pub(super) fn check(file: &PlatformFile, found: &mut Diagnostics) {
    for domain in &file.domains {
        if let Some(idle) = &domain.idle_power {
            idle_power(file, domain, idle, found);
        }
    }
    for row in file.energy_tables.iter().flat_map(|table| &table.rows) {
        other_domain(file, row, found);
        idle_row(file, row, found);
    }
}

fn idle_power(file: &PlatformFile, domain: &Domain, idle: &IdlePower, found: &mut Diagnostics) {
    if file.arch == Arch::X86 {
        let at = file.source.error(idle.khz.span.clone(), "idle power on x86, where state 0 polls");
        found.push(at.help("give `power_mw` of the idle states"));
    }
    no_point(&file.source, domain, idle.khz.value, &idle.khz.span, found);
    if let Some(cluster) = idle.cluster_mw.as_ref().filter(|_| domain.per_cpu_policy) {
        let at = file.source.error(cluster.span.clone(), "power of a cluster whose CPUs have a frequency each");
        found.push(at.help("use `[power] cluster_active_mw`"));
    }
}

/// A figure that follows the voltage needs the one it holds at.
fn no_point(source: &SourceFile, domain: &Domain, khz: u32, span: &std::ops::Range<usize>, found: &mut Diagnostics) {
    let points = frequencies(domain);
    if !points.contains(&khz) {
        let what = format!("{khz} kHz is no operating point of domain `{}`", domain.id.value);
        let list = points.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        found.push_with(|| source.error(span.clone(), what).allowed(list));
    }
}

/// The other domain of a shared supply: both halves, and one that there is.
fn other_domain(file: &PlatformFile, row: &EnergyRow, found: &mut Diagnostics) {
    let error = |span: &std::ops::Range<usize>, what: String| file.source.error(span.clone(), what);
    match (&row.other, &row.other_khz) {
        (None, None) => {}
        (Some(only), None) => found.push_with(|| error(&only.span, "`other` without `other_khz`".into())),
        (None, Some(only)) => found.push_with(|| error(&only.span, "`other_khz` without `other`".into())),
        (Some(other), Some(_)) => {
            let own = row.domain.as_ref().map_or("", |domain| domain.value.as_str());
            let ids = || file.domains.iter().map(|d| d.id.value.as_str());
            if other.value == own {
                found.push_with(|| error(&other.span, format!("`{own}` depends on itself")));
            } else if !ids().any(|id| id == other.value) {
                let at = || error(&other.span, format!("no domain is called `{}`", other.value));
                found.push_with(|| at().help(hint_for(&other.value, ids())));
            }
        }
    }
}

fn idle_row(file: &PlatformFile, row: &EnergyRow, found: &mut Diagnostics) {
    let Some(at_khz) = &row.at_khz else { return };
    if row.idle.is_none() {
        let at = || file.source.error(at_khz.span.clone(), "`at_khz` in a row that is not about an idle state");
        found.push_with(|| at().help("give `idle`, or leave it out"));
    }
    let name = row.domain.as_ref().map_or("", |domain| domain.value.as_str());
    for domain in file.domains.iter().filter(|domain| domain.is_called(name)) {
        no_point(&file.source, domain, at_khz.value, &at_khz.span, found);
    }
}
