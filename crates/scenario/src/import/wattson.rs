// SPDX-License-Identifier: GPL-2.0-or-later
//! Power curves of Wattson (Perfetto): `device,policy,freq_khz,static,active,idle0,idle1`, mW.
//!
//! `active` is one busy CPU, `static` what its policy draws besides while one of its CPUs is awake.

use super::draft::{Domain, Draft, Opp, sorted};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::platform::CPUS_MAX;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// One line: its columns with their places.
struct Line<'a> {
    start: usize,
    cells: Vec<&'a str>,
}

impl Line<'_> {
    fn span(&self, at: usize) -> Range<usize> {
        let before: usize = self.cells[..at].iter().map(|cell| cell.len() + 1).sum();
        self.start + before..self.start + before + self.cells.get(at).map_or(0, |cell| cell.len())
    }
}

/// Columns that are read; a note lists those of idle states as left out.
const READ: [&str; 7] = ["device", "policy", "freq_khz", "static", "active", "dep_policy", "dep_freq"];

/// Reads a table of one or two dimensions; of the second, the rows with the lowest other frequency.
pub fn read(source: &SourceFile, cpus: Option<u32>) -> Result<Draft, Diagnostics> {
    let mut lines = lines(source.text());
    let Some(head) = lines.next() else { return Err(source.error(0..0, "the file is empty").into()) };
    let count = |name: &str| head.cells.iter().filter(|cell| cell.trim() == name).count();
    if let Some(twice) = READ.into_iter().find(|name| count(name) > 1) {
        return Err(source.error(head.start..head.start + 1, format!("there are two columns `{twice}`")).into());
    }
    let column = |name: &str| head.cells.iter().position(|cell| cell.trim() == name);
    let need = |name: &str| {
        column(name).ok_or_else(|| {
            let names = "device,policy,freq_khz,static,active,idle0,idle1";
            let error = source.error(head.start..head.start + 1, format!("there is no column `{name}`"));
            Diagnostics::from(error.allowed(names))
        })
    };
    let (policy, khz, active) = (need("policy")?, need("freq_khz")?, need("active")?);
    let (shared, dep, other) = (column("static"), column("dep_freq"), column("dep_policy"));
    let mut firsts = BTreeSet::new();
    let mut policies: BTreeMap<u32, Vec<(u64, Opp)>> = BTreeMap::new();
    let mut device = String::new();
    for line in lines {
        let cell = |at: usize| number(source, &line, at);
        let opp = Opp {
            khz: cell(khz)? as u32,
            power_mw: Some(cell(active)?),
            cluster_mw: shared.map(cell).transpose()?,
            ..Opp::default()
        };
        firsts.extend(other.map(|at| cpu(source, &line, at)).transpose()?);
        let dep = dep.map(cell).transpose()?.map_or(0, |khz| khz as u64);
        policies.entry(cpu(source, &line, policy)?).or_default().push((dep, opp));
        if let Some(name) = column("device").and_then(|at| line.cells.get(at)) {
            device = (*name).to_owned();
        }
    }
    firsts.extend(policies.keys());
    let mut draft = draft(source, policies, device, &firsts.into_iter().collect::<Vec<_>>(), cpus)?;
    let columns = head.cells.iter().map(|cell| cell.trim()).filter(|name| !READ.contains(name));
    let columns: Vec<&str> = columns.filter(|name| !name.starts_with("idle")).collect();
    if !columns.is_empty() {
        draft.assume(format!("columns that are not used: {}", columns.join(", ")));
    }
    Ok(draft)
}

fn draft(
    source: &SourceFile,
    policies: BTreeMap<u32, Vec<(u64, Opp)>>,
    device: String,
    firsts: &[u32],
    cpus: Option<u32>,
) -> Result<Draft, Diagnostics> {
    let Some(cpus) = cpus else {
        let error = source.about("a table of Wattson does not say how many CPUs there are");
        return Err(error.help("give --cpus N; the numbers of policies are those of their first CPUs").into());
    };
    let mut draft = Draft { name: device.clone(), title: device, arch: Some("arm64"), ..Draft::default() };
    draft.assumed.push("Arm: Wattson's devices are".to_owned());
    draft.assumed.push(format!("{cpus} CPUs, each policy up to the first CPU of the next; capacities are not known"));
    draft.assumed.push("power of idle states depends on the frequency there: left out".to_owned());
    if firsts.len() > policies.len() {
        draft.assumed.push("of each frequency the row with the lowest frequency of the other policy".to_owned());
    }
    for (first, mut rows) in policies {
        let end = firsts.iter().copied().find(|&next| next > first).unwrap_or(cpus);
        rows.sort_by_key(|(dep, opp)| (opp.khz, *dep));
        let opps = sorted(rows.into_iter().map(|(_, opp)| opp).collect());
        let source = "measured: Wattson".to_owned();
        draft.domains.push(Domain { cpus: (first..end).collect(), opps, source, ..Domain::default() });
    }
    if draft.domains.iter().any(|d| d.cpus.is_empty()) {
        return Err(source.about(format!("policies {firsts:?} have more than {cpus} CPUs")).into());
    }
    Ok(draft)
}

/// Number of a policy: that of its first CPU.
fn cpu(source: &SourceFile, line: &Line<'_>, at: usize) -> Result<u32, Diagnostics> {
    let first = number(source, line, at)?;
    if first.fract() != 0.0 || first >= CPUS_MAX as f64 {
        let error = source.error(line.span(at.min(line.cells.len() - 1)), "the number of a CPU must stand here");
        return Err(error.allowed(format!("0..={}", CPUS_MAX - 1)).into());
    }
    Ok(first as u32)
}

fn number(source: &SourceFile, line: &Line<'_>, at: usize) -> Result<f64, Diagnostics> {
    let text = line.cells.get(at).map_or("", |cell| cell.trim());
    let fits = |n: &f64| (0.0..=1e9).contains(n);
    text.parse().ok().filter(fits).ok_or_else(|| {
        let error = source.error(line.span(at.min(line.cells.len() - 1)), "a number must stand here");
        error.allowed("0..=1000000000").into()
    })
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |raw| {
        let line = Line { start, cells: raw.trim_end().split(',').collect() };
        start += raw.len();
        (!raw.trim().is_empty() && !raw.starts_with('#')).then_some(line)
    })
}
