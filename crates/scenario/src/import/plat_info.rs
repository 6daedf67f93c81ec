// SPDX-License-Identifier: GPL-2.0-or-later
//! LISA's platform information (`plat_info.yml`, or the same as JSON): capacities, frequencies, domains.

use super::aliases;
use super::draft::{Domain, Draft, Opp, sorted};
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};
use crate::platform::CPUS_MAX;
use yaml_rust2::{Yaml, YamlLoader};

/// Reads a platform information, or a file that has one at `platform-info` / `conf`.
pub fn read(source: &SourceFile) -> Result<Draft, Diagnostics> {
    aliases::check(source)?;
    let documents = YamlLoader::load_from_str(source.text()).map_err(|error| {
        let at = error.marker().index().min(source.text().chars().count());
        let byte = source.text().char_indices().nth(at).map_or(source.text().len(), |(byte, _)| byte);
        let end = source.text()[byte..].chars().next().map_or(0, char::len_utf8);
        Diagnostics::from(source.error(byte..byte + end, format!("this is no YAML: {}", error.info())))
    })?;
    let Some(root) = documents.first() else { return Err(source.about("the file is empty").into()) };
    let info = ["platform-info", "conf"].into_iter().fold(root, |at, key| match &at[key] {
        Yaml::BadValue => at,
        inner => inner,
    });
    Ok(draft(source, info)?)
}

fn draft(source: &SourceFile, info: &Yaml) -> Result<Draft, Diagnostic> {
    let name = info["name"].as_str().unwrap_or("imported").to_owned();
    let mut draft = Draft { title: name.clone(), name, arch: Some("arm64"), ..Draft::default() };
    match info["abi"].as_str() {
        Some("arm64" | "armeabi" | "arm") => {}
        Some(abi) if abi.starts_with("x86") => draft.arch = Some("x86"),
        _ => draft.assumed.push("Arm: the file names no ABI".to_owned()),
    }
    let capacities = &info["cpu-capacities"];
    let capacities = if capacities["orig"].is_badvalue() { capacities } else { &capacities["orig"] };
    let count = count(source, &info["cpus-count"])?;
    let groups = match &info["freq-domains"] {
        Yaml::Array(groups) => groups.iter().map(|g| cpus(source, g, "freq-domains")).collect::<Result<Vec<_>, _>>()?,
        _ => {
            draft.assumed.push("no `freq-domains`: all CPUs share one frequency".to_owned());
            let none = || missing(source, "cpus-count", "the file has neither `freq-domains` nor `cpus-count`");
            vec![(0..count.ok_or_else(none)?).collect()]
        }
    };
    for cpus in groups {
        let Some(&first) = cpus.first() else { continue };
        let key = Yaml::Integer(i64::from(first));
        let capacity = whole(source, of(capacities, &key), "cpu-capacities")?;
        let fits = |c: u64| u32::try_from(c).ok().filter(|c| (1..=1024).contains(c));
        let wrong = || missing(source, "cpu-capacities", "a capacity is not possible").allowed("1..=1024");
        let capacity = capacity.map(|c| fits(c).ok_or_else(wrong)).transpose()?;
        let opps = match of(&info["freqs"], &key) {
            Yaml::Array(list) => list.iter().map(|khz| opp(source, khz)).collect::<Result<Vec<_>, _>>()?,
            _ => Vec::new(),
        };
        let opps = sorted(opps);
        let source = "published: plat_info of LISA".to_owned();
        draft.domains.push(Domain { cpus, capacity, opps, source, ..Domain::default() });
    }
    draft.domains.sort_by(|a, b| a.cpus.cmp(&b.cpus));
    if !info["nrg-model"].is_badvalue() {
        draft.assumed.push("the powers of `nrg-model` have no unit: left out".to_owned());
    }
    draft.assumed.push("idle states and the driver's latency are not in a plat_info".to_owned());
    draft.assumed.extend(not_used(info));
    Ok(draft)
}

/// Keys that are read.
const READ: [&str; 7] = ["name", "abi", "cpu-capacities", "cpus-count", "freq-domains", "freqs", "nrg-model"];

/// Keys that are there and not read.
fn not_used(info: &Yaml) -> Option<String> {
    let keys = info.as_hash()?.keys().filter_map(Yaml::as_str).filter(|key| !READ.contains(key));
    let keys: Vec<&str> = keys.collect();
    (!keys.is_empty()).then(|| format!("not used: {}", keys.join(", ")))
}

/// A map's value by a number; the value itself, where it is none.
fn of<'a>(map: &'a Yaml, key: &Yaml) -> &'a Yaml {
    match map {
        Yaml::Hash(hash) => hash.get(key).unwrap_or(&Yaml::BadValue),
        _ => &Yaml::BadValue,
    }
}

fn opp(source: &SourceFile, khz: &Yaml) -> Result<Opp, Diagnostic> {
    let khz = whole(source, khz, "freqs")?.and_then(|khz| u32::try_from(khz).ok());
    let khz = khz.filter(|khz| (1_000..=20_000_000).contains(khz));
    let wrong = || missing(source, "freqs", "a frequency is not possible").allowed("1000..=20000000 kHz");
    Ok(Opp { khz: khz.ok_or_else(wrong)?, ..Opp::default() })
}

/// Number of CPUs, where the file says one: as many as a platform may have.
fn count(source: &SourceFile, value: &Yaml) -> Result<Option<u32>, Diagnostic> {
    let fits = |count: u64| (1..=CPUS_MAX as u64).contains(&count).then_some(count as u32);
    let wrong = || missing(source, "cpus-count", "so many CPUs are not possible").allowed(format!("1..={CPUS_MAX}"));
    whole(source, value, "cpus-count")?.map(|count| fits(count).ok_or_else(wrong)).transpose()
}

fn cpus(source: &SourceFile, list: &Yaml, key: &str) -> Result<Vec<u32>, Diagnostic> {
    let cpu = |cpu: &Yaml| {
        let cpu = whole(source, cpu, key)?.filter(|&cpu| cpu < CPUS_MAX as u64);
        cpu.map(|cpu| cpu as u32).ok_or_else(|| missing(source, key, "a CPU's number is not possible"))
    };
    list.as_vec().map_or(Ok(Vec::new()), |list| list.iter().map(cpu).collect())
}

fn whole(source: &SourceFile, value: &Yaml, key: &str) -> Result<Option<u64>, Diagnostic> {
    match value {
        Yaml::BadValue | Yaml::Null => Ok(None),
        Yaml::Integer(n) if *n >= 0 => Ok(Some(*n as u64)),
        _ => Err(missing(source, key, "a whole number must stand here")),
    }
}

/// A message at the key.
fn missing(source: &SourceFile, key: &str, message: &str) -> Diagnostic {
    match source.text().find(key) {
        Some(at) => source.error(at..at + key.len(), message).label(format!("in `{key}`")),
        None => source.about(message),
    }
}
