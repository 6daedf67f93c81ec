// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequencies of a policy: its list, or a grid between its ends where the driver has no list.

use super::draft::{Domain, Draft, Grid, Opp, khz_of, ranges, sorted};
use super::drivers;
use super::files::Files;
use crate::diagnostic::Diagnostic;

/// Most points of a grid: what the kernel's records of an Energy Model hold.
const POINTS_MAX: u32 = 250;

/// Fills the frequencies of a domain from its policy's folder.
pub fn read(files: &Files, cpu: u32, folder: &str, domain: &mut Domain, draft: &mut Draft) -> Result<(), Diagnostic> {
    domain.opps = listed(files, folder, draft)?;
    if domain.opps.is_empty() {
        domain.opps = counted(files, folder, draft);
    }
    if domain.opps.is_empty() {
        between(files, cpu, folder, domain, draft);
    }
    limits(files, folder, domain, draft);
    Ok(())
}

/// Numbers of a file; an error where something else stands.
fn numbers(files: &Files, path: &str) -> Result<Vec<u64>, Diagnostic> {
    let text = files.value(path).unwrap_or_default();
    let numbers: Option<Vec<u64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers.ok_or_else(|| files.error(path, "these are no frequencies").allowed("numbers, kHz"))
}

/// Points of the driver's list. Those of boost are the kernel's as long as they are not above its present maximum
/// (`cpufreq_frequency_table_cpuinfo`).
fn listed(files: &Files, folder: &str, draft: &mut Draft) -> Result<Vec<Opp>, Diagnostic> {
    let path = |name: &str| format!("{folder}/{name}");
    let highest = files.number(&path("cpuinfo_max_freq")).unwrap_or(u64::MAX);
    let boost = numbers(files, &path("scaling_boost_frequencies"))?;
    let (on, off): (Vec<u64>, Vec<u64>) = boost.into_iter().partition(|&khz| khz <= highest);
    if !off.is_empty() {
        let cpus = files.value(&path("related_cpus")).unwrap_or_default();
        draft.assume(format!("boost was off: {cpus} of {off:?} kHz left out"));
    }
    let name = path("scaling_available_frequencies");
    let mut khz = numbers(files, &name)?;
    khz.extend(on);
    let wrong = || files.error(&name, "a frequency that no CPU has").allowed(super::draft::KHZ);
    let point = |khz: u64| Ok(opp(khz_of(khz).ok_or_else(wrong)?));
    khz.into_iter().map(point).collect::<Result<Vec<_>, _>>().map(sorted)
}

/// Points that the kernel counts time at, where the list itself was not copied.
fn counted(files: &Files, folder: &str, draft: &mut Draft) -> Vec<Opp> {
    let text = files.text(&format!("{folder}/stats/time_in_state")).unwrap_or_default();
    let point = |line: &str| line.split_whitespace().next()?.parse().ok().and_then(khz_of);
    let opps: Vec<Opp> = text.lines().filter_map(point).map(opp).collect();
    if !opps.is_empty() {
        draft.assume("frequencies are those that the kernel counts time at (stats/time_in_state)");
    }
    sorted(opps)
}

fn opp(khz: u32) -> Opp {
    Opp { khz, ..Opp::default() }
}

/// Takes a grid between the ends that a driver without a list states.
fn between(files: &Files, cpu: u32, folder: &str, domain: &mut Domain, draft: &mut Draft) {
    let end = |name: &str| files.number(&format!("{folder}/{name}")).and_then(khz_of);
    let ends =
        [end("cpuinfo_min_freq").or(end("scaling_min_freq")), end("cpuinfo_max_freq").or(end("scaling_max_freq"))];
    let cpus = ranges(&domain.cpus);
    match ends {
        [Some(min), Some(max)] if min < max => {
            let name = files.value(&format!("{folder}/scaling_driver"));
            let (step, why) = step(files, cpu, folder, name.as_deref(), max);
            let mut step = step.clamp(1_000, 10_000_000);
            while (max - min) / step >= POINTS_MAX {
                step *= 2;
            }
            let nominal =
                files.number(&format!("cpu/cpu{cpu}/acpi_cppc/nominal_freq")).map(|mhz| mhz.saturating_mul(1000));
            let base = end("base_frequency").or(nominal.and_then(khz_of)).filter(|khz| (min..=max).contains(khz));
            domain.grid = Some(Grid { min, base, max, step, why: why.to_owned() });
            let driver = name.unwrap_or_else(|| "the driver".to_owned());
            draft.assume(format!(
                "{driver} lists no frequencies and takes any: a grid of {step} kHz from the lowest to the highest; the step is assumed ({why})"
            ));
        }
        [Some(one), Some(_)] | [Some(one), None] | [None, Some(one)] => {
            domain.opps = vec![opp(one)];
            draft.assume(format!("CPUs {cpus} have one frequency that is known, {one} kHz"));
        }
        [None, None] => {
            draft.assume(format!("the policy of CPUs {cpus} names no frequency: operating points are not known"))
        }
    }
}

/// Step of a grid, kHz, and where it is from.
fn step(files: &Files, cpu: u32, folder: &str, driver: Option<&str>, max: u32) -> (u32, &'static str) {
    let level = |name: &str| files.known(&format!("cpu/cpu{cpu}/acpi_cppc/{name}"));
    let known = driver.and_then(drivers::by_name);
    if known.is_some_and(|driver| driver.name.starts_with("intel")) {
        return (100_000, "ratios of a clock of 100 MHz");
    }
    if let (Some(mhz), Some(perf)) = (level("nominal_freq"), level("nominal_perf")) {
        return (mhz.saturating_mul(1000) / perf, "nominal_freq by nominal_perf of acpi_cppc: one performance level");
    }
    if let Some(perf) = level("highest_perf").or_else(|| files.known(&format!("{folder}/amd_pstate_highest_perf"))) {
        return (max / perf, "the highest frequency by highest_perf: one performance level");
    }
    match known {
        Some(driver) if driver.table => (driver.step_khz, "the driver has a list, which is not in this source"),
        Some(driver) => (driver.step_khz, "performance levels are not in this source"),
        None => (100_000, "what the driver takes is not known here"),
    }
}

/// Limits in force, which are no property of the machine.
fn limits(files: &Files, folder: &str, domain: &Domain, draft: &mut Draft) {
    let limit = |name: &str| files.number(&format!("{folder}/{name}")).and_then(khz_of);
    let (min, max) = (limit("scaling_min_freq"), limit("scaling_max_freq"));
    let (low, high) = (domain.lowest_khz(), domain.highest_khz());
    let cpus = ranges(&domain.cpus);
    if min.zip(low).is_some_and(|(min, low)| min > low) || max.zip(high).is_some_and(|(max, high)| max < high) {
        let words = [min, max].map(|khz| khz.map_or_else(|| "?".to_owned(), |khz| khz.to_string()));
        draft.assume(format!("CPUs {cpus} were limited to {} kHz: not used", words.join("..=")));
    }
}
