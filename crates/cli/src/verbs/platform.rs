// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton platform`: which machines there are, what is known about them and from where, and whether a file is right.

use super::common::{bad_input, print, print_json, print_list, print_plain, rendered, section};
use crate::args::{Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::number::number;
use pelton_lab::results::lists::{Checked, Platforms};
use pelton_scenario::platform::{self, Description, DomainDescription, Fact, PlatformOptions};
use pelton_scenario::policy::DEFAULT_PROFILE;
use std::fmt::Write as _;
use std::path::Path;

/// One line per built-in platform.
pub fn list(global: &Global) -> Result<Exit, Failure> {
    let all = Platforms::all();
    let mut sheet = Sheet::new(&["<name", "CPUs", "<domains", "<power", "<kind"]);
    for p in &all.platforms {
        let power = if p.simulated { p.power.clone() } else { "not simulated".to_owned() };
        sheet.row(vec![p.name.clone(), p.cpus.to_string(), p.domains.join(" + "), power, p.kind.clone()]);
    }
    print_list(global, &sheet, &all)?;
    Ok(Exit::Good)
}

/// Every figure with its source.
pub fn show(name: &str, global: &Global) -> Result<Exit, Failure> {
    let shown = platform::show(name, &PlatformOptions::new(DEFAULT_PROFILE)).map_err(|d| bad_input(&d))?;
    match global.format {
        Format::Json => print_json(&shown)?,
        Format::Csv => print(&opp_sheet(&shown).csv())?,
        Format::Table | Format::Markdown => print(&text(&shown))?,
        Format::Toml => print_plain(platform::load(name).map_err(|d| bad_input(&d))?.source.text())?,
    }
    Ok(Exit::Good)
}

/// All messages about a file, and whether a machine can be built from it. A power that no CPU has fails it: a file in
/// the wrong unit can be simulated, and every energy would be wrong.
pub fn check(file: &Path, global: &Global) -> Result<Exit, Failure> {
    // A bare name is a file here, not a built-in platform.
    let path = if file.components().count() == 1 { Path::new(".").join(file) } else { file.to_owned() };
    let checked = platform::check(&path.to_string_lossy()).map_err(|d| bad_input(&d))?;
    if !checked.warnings.is_empty() && !global.quiet {
        crate::say(rendered(&checked.warnings).trim_end());
    }
    let built = checked.built.map_err(|d| bad_input(&d))?;
    let cpus = built.machine.cpus.len();
    let domains = built.machine.domains.len();
    let name = file.display().to_string();
    match global.format {
        Format::Table | Format::Markdown | Format::Toml => {
            let assumed = built.assumptions.iter().map(|line| format!("  {line}\n")).collect::<String>();
            let heading = if assumed.is_empty() { "" } else { "\nassumed\n" };
            let verdict = match checked.implausible_powers {
                0 => "good".to_owned(),
                1 => "not good, the power of an operating point is that of no such CPU".to_owned(),
                n => format!("not good, the powers of {n} operating points are those of no such CPU"),
            };
            let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            let (cpus, domains) = (count(cpus, "CPU"), count(domains, "frequency domain"));
            print(&format!("{name}: {verdict}, {cpus} in {domains}\n{heading}{assumed}"))?;
        }
        Format::Csv => {
            let mut sheet = Sheet::new(&["cpus", "domains", "implausible_powers", "<assumed"]);
            let numbers = [cpus, domains, checked.implausible_powers].map(|number| number.to_string());
            sheet.row(numbers.into_iter().chain([built.assumptions.join("; ")]).collect());
            print(&sheet.csv())?;
        }
        Format::Json => {
            let implausible_powers = checked.implausible_powers;
            print_json(&Checked { file: name, cpus, domains, implausible_powers, assumed: built.assumptions })?;
        }
    }
    Ok(if checked.implausible_powers == 0 { Exit::Good } else { Exit::ClaimFails })
}

fn text(shown: &Description) -> String {
    let told = |words: &[&String], between: &str| {
        words.iter().filter(|word| !word.is_empty()).map(|word| word.as_str()).collect::<Vec<_>>().join(between)
    };
    let mut out = told(&[&shown.name, &shown.title], ": ") + "\n";
    let what = told(&[&shown.soc, &shown.kind], ", ");
    out += &if what.is_empty() { String::new() } else { what + "\n" };
    for (name, source) in &shown.provenance {
        let _ = writeln!(out, "{name}: {source}");
    }
    out += &section("machine", &fact_sheet(&shown.facts));
    for domain in &shown.domains {
        let cpus: Vec<String> = domain.cpus.iter().map(u32::to_string).collect();
        let core = if domain.core.is_empty() { "core not stated" } else { &domain.core };
        let heading = format!("domain {}: {core} on CPUs {}, power: {}", domain.id, cpus.join(" "), domain.power);
        let _ = writeln!(out, "\n{heading}");
        out += &section("", &fact_sheet(&domain.facts));
        out += &section("operating points", &domain_opps(domain, &shown.power_unit));
        out += &section("where they come from", &column_sheet(domain));
        out += &section("idle states", &idle_sheet(domain));
        if !domain.drawn.is_empty() {
            let _ = writeln!(out, "\ndrawn, in {}: {}", shown.drawn_unit, domain.drawn);
        }
    }
    for (title, lines) in [("assumed", &shown.assumptions), ("cannot be simulated", &shown.obstacles)] {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{title}\n  {}", lines.join("\n  "));
        }
    }
    for (name, note) in &shown.notes {
        let _ = writeln!(out, "\n{name}: {note}");
    }
    out
}

fn fact_sheet(facts: &[Fact]) -> Sheet {
    let mut sheet = Sheet::new(&["<figure", "value", "<unit", "<quality", "<source"]);
    for f in facts {
        sheet.row(vec![f.name.clone(), f.value.clone(), f.unit.clone(), f.quality.to_string(), f.provenance.clone()]);
    }
    sheet
}

fn domain_opps(domain: &DomainDescription, power_unit: &str) -> Sheet {
    let power = if power_unit == "mW" { "power mW" } else { "power" };
    // The kernel's figures, and beside them what is drawn.
    let is_said = domain.opps.iter().any(|opp| opp.drawn.is_some());
    let drawn_columns = if is_said { &["drawn: busy", "WFI", "shared"][..] } else { &[] };
    let mut sheet = Sheet::new(&[&["MHz", "capacity", "mV", power], drawn_columns].concat());
    for opp in &domain.opps {
        let optional = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), number);
        let millis = |v: f64| v / 1e3;
        let capacity = opp.capacity.map_or_else(|| "-".to_owned(), |c| c.to_string());
        let (uv, power) = (opp.uv.map(f64::from).map(millis), opp.power_uw.map(|p| millis(p as f64)));
        let drawn = opp.drawn.iter().flat_map(|d| [Some(d.busy_uw), d.wfi_uw, d.shared_uw]);
        let drawn = drawn.map(|p| optional(p.map(|p| millis(p as f64))));
        let known = [number(f64::from(opp.khz) / 1e3), capacity, optional(uv), optional(power)];
        sheet.row(known.into_iter().chain(drawn).collect());
    }
    sheet
}

fn column_sheet(domain: &DomainDescription) -> Sheet {
    let mut sheet = Sheet::new(&["<column", "<quality", "<source"]);
    for c in &domain.columns {
        sheet.row(vec![c.name.clone(), c.quality.to_string(), c.provenance.clone()]);
    }
    sheet
}

fn idle_sheet(domain: &DomainDescription) -> Sheet {
    let mut sheet = Sheet::new(&["<state", "entry us", "exit us", "residency us", "<quality"]);
    for s in &domain.idle_states {
        let times = [s.entry_latency_us, s.exit_latency_us, s.min_residency_us].map(|us| us.to_string());
        let cells = std::iter::once(s.name.clone()).chain(times).chain([s.quality.to_string()]);
        sheet.row(cells.collect());
    }
    sheet
}

/// All operating points of all domains.
fn opp_sheet(shown: &Description) -> Sheet {
    let mut sheet = Sheet::new(&[
        "<domain",
        "khz",
        "capacity",
        "uv",
        "power_uw",
        "drawn_busy_uw",
        "drawn_wfi_uw",
        "drawn_shared_uw",
    ]);
    for domain in &shown.domains {
        for opp in &domain.opps {
            let optional = |v: Option<u64>| v.map(|v| v.to_string()).unwrap_or_default();
            let figures = [opp.capacity.map(u64::from), opp.uv.map(u64::from), opp.power_uw].map(optional);
            let drawn = opp.drawn.map_or([None; 3], |d| [Some(d.busy_uw), d.wfi_uw, d.shared_uw]).map(optional);
            let cells = [domain.id.clone(), opp.khz.to_string()].into_iter().chain(figures).chain(drawn);
            sheet.row(cells.collect());
        }
    }
    sheet
}
