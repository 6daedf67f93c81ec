// SPDX-License-Identifier: GPL-2.0-or-later
//! The driver and the governor's tunables: what sysfs says, and what follows from the driver's name (`drivers.rs`).

use super::draft::Draft;
use super::drivers::{self, Driver, Fast};
use super::files::Files;
use super::sysfs::Policy;

/// Fills what holds for the driver of all policies.
pub fn read(files: &Files, policies: &[Policy], draft: &mut Draft) {
    let folders: Vec<&String> = policies.iter().filter_map(|policy| policy.folder.as_ref()).collect();
    let Some(first) = folders.first() else { return };
    let mut names: Vec<String> =
        folders.iter().filter_map(|folder| files.value(&format!("{folder}/scaling_driver"))).collect();
    names.dedup();
    if names.len() > 1 {
        draft.assume(format!("policies name several drivers ({}): the first is taken", names.join(", ")));
    }
    draft.driver = names.first().cloned();
    latency(files, &folders, draft);
    rate_limit(files, &folders, draft);
    boost(files, &folders, draft);
    let has_grid = draft.domains.iter().any(|domain| domain.grid.is_some());
    match draft.driver.as_deref().and_then(drivers::by_name) {
        Some(driver) => {
            draft.no_table = !driver.table;
            fast_switch(driver, policies, draft);
            own_figures(files, first, driver, draft);
        }
        None => {
            // The kernel shows a list wherever there is one.
            draft.no_table = has_grid;
            let name = draft.driver.clone().unwrap_or_else(|| "not named".to_owned());
            draft.assume(format!("whether the driver ({name}) switches at once (fast_switch) is not known here"));
        }
    }
}

/// Latency of the driver: the longest that a policy states. CPUFREQ_ETERNAL and 0 stand for "not known".
fn latency(files: &Files, folders: &[&String], draft: &mut Draft) {
    let of = |folder: &&String| files.number(&format!("{folder}/cpuinfo_transition_latency"));
    let stated: Vec<Option<u64>> = folders.iter().map(of).collect();
    let mut known: Vec<u64> = stated.into_iter().flatten().filter(|&ns| ns > 0 && ns <= 1_000_000_000).collect();
    known.sort_unstable();
    known.dedup();
    draft.transition_latency_ns = known.last().copied();
    if known.len() > 1 {
        draft.assume(format!("policies differ in their latency ({known:?} ns): the longest is taken for all"));
    }
}

fn fast_switch(driver: Driver, policies: &[Policy], draft: &mut Draft) {
    let name = driver.name;
    let is_alone = policies.iter().all(|policy| policy.cpus.len() == 1);
    let unknown = match driver.fast {
        Fast::Yes => {
            draft.fast_switch = Some(true);
            None
        }
        Fast::No => {
            draft.fast_switch = Some(false);
            None
        }
        Fast::Alone if is_alone => {
            draft.fast_switch = Some(true);
            None
        }
        Fast::Alone => Some("it does where the firmware lets any CPU of a policy set its frequency"),
        Fast::Unknown(why) => Some(why),
    };
    if let Some(why) = unknown {
        draft.assume(format!("whether {name} switches at once (fast_switch) is not in sysfs: {why}"));
    }
}

/// Latency and spacing that drivers of performance levels have in their source.
fn own_figures(files: &Files, folder: &str, driver: Driver, draft: &mut Draft) {
    let is_hwp = files.has(&format!("{folder}/energy_performance_preference"));
    if driver.name.starts_with("intel") {
        let [hwp_us, plain_us] = drivers::INTEL_DELAY_US;
        draft.transition_latency_ns = Some(drivers::INTEL_LATENCY_NS);
        draft.transition_delay_us = Some(if is_hwp { hwp_us } else { plain_us });
        draft.every_limit_change = is_hwp;
        draft.assume("latency and spacing of changes are those of intel_cpufreq (drivers/cpufreq/intel_pstate.c)");
    } else if driver.name.starts_with("amd") {
        draft.transition_latency_ns = draft.transition_latency_ns.or(Some(drivers::AMD_LATENCY_NS));
        draft.transition_delay_us = Some(drivers::AMD_DELAY_US);
        draft.every_limit_change = true;
        draft
            .assume("spacing of changes is that of amd-pstate without a firmware's own (drivers/cpufreq/amd-pstate.c)");
    }
    if ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"].contains(&driver.name) {
        draft.assume(format!(
            "{} leaves frequencies to the hardware: what is here is its passive mode, which schedutil needs",
            driver.name
        ));
    }
}

/// `rate_limit_us` of schedutil: of each policy, or of all.
fn rate_limit(files: &Files, folders: &[&String], draft: &mut Draft) {
    let of = |folder: &str| files.number(&format!("{folder}/schedutil/rate_limit_us"));
    let mut limits: Vec<u64> = folders.iter().filter_map(|folder| of(folder)).chain(of("cpu/cpufreq")).collect();
    limits.dedup();
    let Some(&us) = limits.first() else { return };
    if us > 10_000_000 {
        draft.assume(format!("schedutil's rate limit of {us} us is longer than a file can say: not used"));
        return;
    }
    if limits.len() > 1 {
        draft.assume(format!("schedutil's rate limits differ ({limits:?} us): {us} is taken for all"));
    }
    draft.rate_limit_us = Some(us);
    draft.assume(format!(
        "rate_limit_us is {us}, as schedutil had it; leave it out of the file to have the default of each release"
    ));
}

/// Notes a boost that was switched off when the machine was read.
fn boost(files: &Files, folders: &[&String], draft: &mut Draft) {
    let policy = folders.iter().any(|folder| files.number(&format!("{folder}/boost")) == Some(0));
    let old = folders.iter().any(|folder| files.number(&format!("{folder}/cpb")) == Some(0));
    if policy || old || files.number("cpu/cpufreq/boost") == Some(0) {
        draft.assume("boost was off: frequencies above the nominal one may be missing");
    }
    if files.number("cpu/intel_pstate/no_turbo") == Some(1) {
        draft.assume("turbo was off (intel_pstate/no_turbo): turbo frequencies may be missing");
    }
    if files.value("cpu/smt/control").is_some_and(|smt| smt.contains("off")) {
        draft.assume("threads were off (smt/control)");
    }
}
