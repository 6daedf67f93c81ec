// SPDX-License-Identifier: GPL-2.0-or-later
//! The Energy Model as debugfs shows it: `pdN` or `cpuN`, in each `cpus` and `ps:KHZ/{frequency,power,performance}`,
//! from 5.16 on `flags` and `ps:KHZ/inefficient`; or a text that shows these files.
//!
//! Units: power is microwatts since Linux 6.0, milliwatts before (`em_debug_create_ps`, `struct em_perf_state`); some
//! before 5.16 name the unit (`units`).

use super::draft::{Domain, Draft, KHZ, Opp, khz_of, ranges, sorted};
use super::files::Files;
use crate::diagnostic::{Diagnostic, Diagnostics};
use std::collections::BTreeSet;
use std::path::Path;

/// `EM_PERF_DOMAIN_MICROWATTS`, before 6.0 `EM_PERF_DOMAIN_MILLIWATTS`: powers are watts, not those of a scale of the
/// firmware's own.
const WATTS: u64 = 1 << 0;
/// `EM_PERF_DOMAIN_SKIP_INEFFICIENCIES`: the kernel passes over states that it calls inefficient.
const SKIP_INEFFICIENCIES: u64 = 1 << 1;
/// `EM_PERF_DOMAIN_ARTIFICIAL`: powers order CPUs and are no watts.
const ARTIFICIAL: u64 = 1 << 2;

/// True if a folder looks like an Energy Model.
pub fn is_one(path: &Path) -> bool {
    let files = Files::of_folders(vec![("model", path.to_owned())]);
    domains(&files).iter().any(|domain| !states(&files, domain).is_empty())
}

/// Reads the folder `energy_model`, or a text that shows it.
pub fn read(path: &Path, milliwatts: bool) -> Result<Draft, Diagnostics> {
    let files = if path.is_dir() { folder(path) } else { Files::of_text(path)? };
    Ok(draft(&files, milliwatts)?)
}

/// The folder itself, or one that it is in.
fn folder(path: &Path) -> Files {
    let inner = ["", "energy_model", "sys/kernel/debug/energy_model", "kernel/debug/energy_model"];
    let files = |inner: &str| Files::of_folders(vec![("model", path.join(inner))]);
    let has_some = |files: &Files| domains(files).iter().any(|domain| !states(files, domain).is_empty());
    inner.into_iter().map(files).find(has_some).unwrap_or_else(|| files(""))
}

/// Draft of a platform from the files.
pub fn draft(files: &Files, milliwatts: bool) -> Result<Draft, Diagnostic> {
    let mut draft = Draft { name: "imported".to_owned(), ..Draft::default() };
    draft.assumed.extend(files.left_out());
    let found = domains(files);
    let says = found.iter().any(|domain| files.value(&format!("{domain}/units")).is_some_and(|u| u == "milliWatts"));
    let unit = match (milliwatts, says) {
        (true, _) => "milliwatts, as asked for",
        (false, true) => "milliwatts, as `units` says",
        (false, false) => "microwatts, as kernels since 6.0 have them (--milliwatts for those before)",
    };
    draft.assume(format!("powers of the Energy Model are {unit}"));
    for folder in found {
        let states = states(files, &folder);
        if states.is_empty() {
            continue;
        }
        let scale = if milliwatts || says { 1.0 } else { 1000.0 };
        let domain = domain(files, &folder, &states, scale, &mut draft)?;
        draft.domains.push(domain);
    }
    draft.domains.sort_by(|a, b| a.cpus.cmp(&b.cpus));
    Ok(draft)
}

fn domains(files: &Files) -> Vec<String> {
    let folders = files.names("model").into_iter().map(|name| format!("model/{name}"));
    folders.filter(|folder| files.has_folder(folder)).collect()
}

fn states(files: &Files, domain: &str) -> Vec<String> {
    let names = files.names(domain).into_iter().filter(|name| name.starts_with("ps:"));
    names.map(|name| format!("{domain}/{name}")).collect()
}

/// One domain; powers are in units of which a milliwatt has `scale`.
fn domain(files: &Files, folder: &str, states: &[String], scale: f64, draft: &mut Draft) -> Result<Domain, Diagnostic> {
    let cpus = files.cpus(&format!("{folder}/cpus"))?;
    let cpus = cpus.ok_or_else(|| files.error(folder, "no list of CPUs (`cpus`) in this folder"))?;
    let who = ranges(&cpus);
    let unreal = no_watts(files, folder);
    if let Some(what) = unreal {
        draft.assume(format!("the powers of CPUs {who} are {what}: left out"));
    }
    let skips = flags(files, folder).map(|flags| flags & SKIP_INEFFICIENCIES != 0);
    let mut opps = Vec::new();
    for state in states {
        let path = format!("{state}/frequency");
        let khz = files.number(&path).ok_or_else(|| files.error(state, "a `ps:` without `frequency`"))?;
        let khz = khz_of(khz).ok_or_else(|| files.error(&path, "a frequency that no CPU has").allowed(KHZ))?;
        let power = files.number(&format!("{state}/power")).filter(|_| unreal.is_none());
        let marked = files.number(&format!("{state}/inefficient")).map(|mark| mark != 0);
        // Without the flag the kernel looks at no mark.
        let inefficient = marked.map(|marked| marked && skips != Some(false));
        opps.push(Opp { khz, power_mw: power.map(|p| p as f64 / scale), inefficient, ..Opp::default() });
    }
    let opps = sorted(opps);
    said_of_marks(skips, &opps, &who, draft);
    let top = states.iter().filter_map(|state| files.known(&format!("{state}/performance"))).max();
    let capacity = top.filter(|top| *top <= 1024);
    not_used(files, folder, states, draft);
    Ok(Domain {
        cpus,
        capacity,
        opps,
        source: "published: Energy Model of a running kernel".to_owned(),
        ..Domain::default()
    })
}

/// Notes the effect of the kernel's marks of inefficient points.
fn said_of_marks(skips: Option<bool>, opps: &[Opp], who: &str, draft: &mut Draft) {
    let count = opps.iter().filter(|opp| opp.inefficient == Some(true)).count();
    if count > 0 {
        draft.assume(format!("CPUs {who}: the kernel passes over {count} of {} points (inefficient)", opps.len()));
    }
    if skips == Some(false) && opps.iter().any(|opp| opp.inefficient.is_some()) {
        draft.assume(format!("CPUs {who}: `flags` say that no point is passed over, whatever `inefficient` says"));
    }
}

/// Lists what is not used: `cost` is worked out from power by each release, other names are not known.
fn not_used(files: &Files, folder: &str, states: &[String], draft: &mut Draft) {
    let has_cost = states.iter().any(|state| files.has(&format!("{state}/cost")));
    if has_cost {
        draft.assume("`cost` of the Energy Model is not used: each release works it out from power");
    }
    let folders = states.iter().map(String::as_str).chain([folder]);
    let mut names: BTreeSet<String> = folders.flat_map(|folder| files.unread(folder)).collect();
    names.remove("cost");
    if !names.is_empty() {
        let names: Vec<String> = names.into_iter().collect();
        draft.assume(format!("not used of the Energy Model: {}", names.join(", ")));
    }
}

/// Unit of powers that are not watts, in words; `units` is a file of kernels before 5.16.
fn no_watts(files: &Files, folder: &str) -> Option<&'static str> {
    let flags = flags(files, folder);
    if flags.is_some_and(|flags| flags & ARTIFICIAL != 0) {
        return Some("artificial");
    }
    let abstract_scale = flags.is_some_and(|flags| flags & WATTS == 0)
        || files.value(&format!("{folder}/units")).is_some_and(|units| units == "bogoWatts");
    abstract_scale.then_some("of an abstract scale")
}

/// Flags are printed as 0x...
fn flags(files: &Files, folder: &str) -> Option<u64> {
    let text = files.value(&format!("{folder}/flags"))?;
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
}
