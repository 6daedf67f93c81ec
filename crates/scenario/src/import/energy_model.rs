// SPDX-License-Identifier: GPL-2.0-only
//! The Energy Model as debugfs shows it: `pdN` or `cpuN`, in each `cpus` and `ps:KHZ/{frequency,power,performance}`.
//!
//! Units: power is microwatts since Linux 6.0, milliwatts before (`em_debug_create_ps`, `struct em_perf_state`).

use super::draft::{Domain, Draft, Opp, cpu_list, sorted};
use super::sysfs::{number, value};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::reading;
use std::path::{Path, PathBuf};

/// `EM_PERF_DOMAIN_MICROWATTS`, before 6.0 `EM_PERF_DOMAIN_MILLIWATTS`: powers are watts, not those of a scale of the
/// firmware's own.
const WATTS: u64 = 1 << 0;
/// `EM_PERF_DOMAIN_ARTIFICIAL`: powers order CPUs and are no watts.
const ARTIFICIAL: u64 = 1 << 2;

/// Is there a performance domain in it?
pub fn is_one(path: &Path) -> bool {
    folders(path).iter().any(|domain| !states(domain).is_empty())
}

/// Reads the folder `energy_model`.
pub fn read(path: &Path, milliwatts: bool) -> Result<Draft, Diagnostics> {
    let mut draft = Draft { name: "imported".to_owned(), arch: Some("arm64"), ..Draft::default() };
    let unit = if milliwatts { "milliwatts, as asked for" } else { "microwatts, as kernels since 6.0 have them" };
    draft.assumed.push(format!("powers of the Energy Model are {unit}"));
    draft.assumed.push("Arm, because debugfs does not say the instruction set".to_owned());
    for folder in folders(path) {
        let states = states(&folder);
        if states.is_empty() {
            continue;
        }
        let wrong =
            |what: &str| SourceFile::new(folder.display().to_string(), "").about(format!("{what} in this folder"));
        let cpus = value(&folder.join("cpus")).and_then(|list| cpu_list(&list));
        let cpus = cpus.ok_or_else(|| wrong("no list of CPUs (`cpus`)"))?;
        let unreal = no_watts(&folder);
        if let Some(what) = unreal {
            draft.assumed.push(format!("the powers of CPUs {cpus:?} are {what}: left out"));
        }
        let opp = |state: &PathBuf| {
            let power = number(&state.join("power")).filter(|_| unreal.is_none());
            let unit = if milliwatts { 1.0 } else { 1000.0 };
            let khz = number(&state.join("frequency")).and_then(|khz| u32::try_from(khz).ok());
            let khz = khz.ok_or_else(|| wrong("a `ps:` without `frequency`"))?;
            Ok(Opp { khz, power_mw: power.map(|p| p as f64 / unit), ..Opp::default() })
        };
        let opps = states.iter().map(opp).collect::<Result<Vec<_>, Diagnostics>>()?;
        let top = states.iter().filter_map(|state| number(&state.join("performance"))).max();
        let capacity = top.and_then(|top| u32::try_from(top).ok()).filter(|top| (1..=1024).contains(top));
        let source = "published: Energy Model of a running kernel".to_owned();
        draft.domains.push(Domain { cpus, capacity, opps: sorted(opps), source, ..Domain::default() });
    }
    draft.domains.sort_by(|a, b| a.cpus.cmp(&b.cpus));
    Ok(draft)
}

/// What powers are instead of watts; `units` is that of kernels before 6.0.
fn no_watts(folder: &Path) -> Option<&'static str> {
    let flags = number_of(&folder.join("flags"));
    if flags.is_some_and(|flags| flags & ARTIFICIAL != 0) {
        return Some("artificial");
    }
    let abstract_scale = flags.is_some_and(|flags| flags & WATTS == 0)
        || value(&folder.join("units")).is_some_and(|units| units == "bogoWatts");
    abstract_scale.then_some("of an abstract scale")
}

/// Flags are printed as 0x...
fn number_of(path: &Path) -> Option<u64> {
    let text = value(path)?;
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = reading::names(path).into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn states(domain: &Path) -> Vec<PathBuf> {
    let is_state = |path: &PathBuf| path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("ps:"));
    folders(domain).into_iter().filter(is_state).collect()
}
