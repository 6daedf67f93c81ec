// SPDX-License-Identifier: GPL-2.0-only
//! `pelton reproduce`: published tables with our numbers beside them.

use super::common::{Screen, failure, print, print_json, print_sheet, section};
use crate::args::{Format, Global, ReproduceArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::{self, Sheet};
use crate::units::number;
use pelton_lab::experiment::{self, Experiment};
use pelton_lab::quantity;
use pelton_lab::results::lists::Tables;
use pelton_lab::run::LabError;
use pelton_lab::sensitivity::Sensitivity;
use pelton_lab::table::{BeyondResult, BeyondValue, ClaimResult, RowResult, TableResult};
use pelton_lab::verbs::reproduce::{Part, ReproduceRequest, reproduce_each};
use pelton_lab::worlds::WorldsResult;
use std::fmt::Write as _;

/// Does what was asked.
pub fn reproduce(args: &ReproduceArgs, global: &Global) -> Result<Exit, Failure> {
    if args.list {
        return list(global);
    }
    let request = ReproduceRequest {
        name: args.name.clone(),
        only: args.only.clone(),
        seeds: args.seeds,
        sensitivity: args.sensitivity,
        wrong_worlds: args.wrong_worlds,
        jobs: usize::from(global.jobs),
    };
    let (mut first, mut unprinted) = (true, None);
    let mut print_part = |part: Part<'_>| {
        let printed = match part {
            Part::Table { experiment, changed, table } => {
                show(experiment, changed, table, global, std::mem::take(&mut first))
            }
            Part::Worlds(worlds) => show_worlds(worlds, global),
        };
        printed.map_err(|failure| {
            unprinted = Some(failure);
            LabError::Caller
        })
    };
    let reproduced = reproduce_each(&request, &Screen::new(global), &mut print_part);
    let reproduced = reproduced.map_err(|error| unprinted.unwrap_or_else(|| failure(error)))?;
    Ok(if reproduced.claims_hold { Exit::Good } else { Exit::ClaimFails })
}

fn show_worlds(result: &WorldsResult, global: &Global) -> Result<(), Failure> {
    let mut sheet = Sheet::new(&["<world", "<rejected", "<by", "<what is wrong in it"]);
    for world in &result.worlds {
        let by: Vec<&str> = world.rows.iter().chain(&world.claims).map(String::as_str).collect();
        let more = if by.len() > 2 { format!(" and {} more", by.len() - 2) } else { String::new() };
        let by = by.iter().take(2).copied().collect::<Vec<_>>().join(", ") + &more;
        let rejected = if world.rejected { "yes" } else { "NO" };
        sheet.row(vec![world.name.clone(), rejected.to_owned(), by, world.why.clone()]);
    }
    let sum = format!("{}: {} of {} wrong worlds rejected", result.table, result.rejected, result.worlds.len());
    match global.format {
        Format::Json => print_json(result),
        Format::Csv => print(&sheet.csv()),
        Format::Table | Format::Markdown | Format::Toml => print(&(section("wrong worlds", &sheet) + "\n" + &sum + "\n")),
    }
}

fn list(global: &Global) -> Result<Exit, Failure> {
    let mut sheet = Sheet::new(&["<table", "<platform", "rows", "<why"]);
    for name in experiment::names() {
        let e = experiment::load(name).map_err(|e| failure(e.into()))?;
        sheet.row(vec![e.table, e.platform, e.row.len().to_string(), e.why]);
    }
    print_sheet(global, &sheet, &Tables { tables: experiment::names().to_vec() })?;
    Ok(Exit::Good)
}

fn show(
    experiment: &Experiment,
    changed: Option<&Sensitivity>,
    table: &TableResult,
    global: &Global,
    first: bool,
) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(table),
        Format::Csv => print(&csv(table, first)),
        Format::Table | Format::Markdown | Format::Toml => print(&text(experiment, changed, table, global.verbose > 0)),
    }
}

fn csv(table: &TableResult, with_heading: bool) -> String {
    let header = [
        "<table",
        "<id",
        "<variant",
        "<quantity",
        "<unit",
        "published",
        "simulated",
        "ci95_low",
        "ci95_high",
        "<role",
        "<verdict",
    ];
    let mut sheet = Sheet::new(&header);
    for r in &table.rows {
        let optional = |v: Option<f64>| v.map(number).unwrap_or_default();
        let mut cells = vec![table.table.clone(), r.id.clone(), r.variant.clone(), r.quantity.clone(), r.unit.clone()];
        cells.extend([
            number(r.published),
            optional(r.simulated),
            optional(r.ci95.map(|c| c.0)),
            optional(r.ci95.map(|c| c.1)),
        ]);
        cells.extend([r.role.name().to_owned(), r.verdict.name().to_owned()]);
        sheet.row(cells);
    }
    let csv = sheet.csv();
    if with_heading { csv } else { csv.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default() }
}

fn text(experiment: &Experiment, changed: Option<&Sensitivity>, table: &TableResult, verbose: bool) -> String {
    let mut out = format!("{}: {}\n", table.table, changed.map_or(&experiment.why, |c| &c.why));
    if changed.is_none() {
        let _ = writeln!(out, "source: {}", experiment.source);
    }
    out += &section("", &rows(table));
    out.push('\n');
    for claim in &table.claims {
        let verdict = if claim.holds { "holds:" } else { "FAILS:" };
        let _ = writeln!(out, "{verdict} {} (here {})", claim.text, claim_value(claim));
    }
    out +=
        &section("also measured, printed by no source: means, and the lowest and highest of all seeds", &probes(table));
    for beyond in &table.beyond {
        out += &section(&format!("{}, {}: {}", beyond.id, beyond.workload, beyond.why), &beyond_sheet(beyond));
    }
    if table.rows.iter().all(|row| row.ci95.is_none()) {
        out += "\nno 95 % confidence: it needs six seeds\n";
    }
    if verbose {
        out += &notes(experiment);
    }
    let _ = writeln!(out, "\n{} runs, {} s", table.runs, number(table.seconds));
    out
}

/// The number that decides a claim.
fn claim_value(claim: &ClaimResult) -> String {
    match (claim.value, claim.unit.as_str()) {
        (None, _) => "-".to_owned(),
        (Some(value), "" | "count") => number(value),
        (Some(value), unit) => format!("{} {unit}", number(value)),
    }
}

fn rows(table: &TableResult) -> Sheet {
    let mut sheet = Sheet::new(&["<row", "published", "simulated", "<95 % confidence", "<unit", "<role", "<verdict"]);
    for r in &table.rows {
        let simulated = r.simulated.map_or_else(|| "-".to_owned(), number);
        let cells = [r.id.clone(), number(r.published), simulated, spread(r), r.unit.clone()];
        let words = [r.role.name().to_owned(), r.verdict.name().to_owned()];
        sheet.row(cells.into_iter().chain(words).collect());
    }
    sheet
}

/// One line per variant: the mean, and half the width of its 95 % confidence.
fn beyond_sheet(beyond: &BeyondResult) -> Sheet {
    let quantities = beyond.rows.first().map_or(&[][..], |row| row.values.as_slice());
    let mut heads = vec!["<variant".to_owned()];
    heads.extend(quantities.iter().map(beyond_heading));
    let mut sheet = Sheet::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &beyond.rows {
        let cells = row.values.iter().map(|v| {
            let half = v.ci95.map_or_else(String::new, |(lo, hi)| format!(" +-{}", number((hi - lo) / 2.0)));
            number(v.mean) + &half
        });
        sheet.row(std::iter::once(row.variant.clone()).chain(cells).collect());
    }
    sheet
}

fn beyond_heading(value: &BeyondValue) -> String {
    match (&value.of, quantity::find(&value.quantity)) {
        (Some(of), Some(quantity)) => format!("{of} {}", quantity.heading),
        _ => format!("{} [{}]", value.quantity, value.unit),
    }
}

/// Numbers that claims look at and no source prints.
fn probes(table: &TableResult) -> Sheet {
    let mut sheet = Sheet::new(&["<number", "mean", "lowest", "highest", "<unit"]);
    for p in &table.probes {
        let numbers = [p.mean, p.range.0, p.range.1].map(number);
        sheet.row(std::iter::once(p.id.clone()).chain(numbers).chain([p.unit.clone()]).collect());
    }
    sheet
}

fn spread(row: &RowResult) -> String {
    row.ci95.map(|(lo, hi)| format!("{} .. {}", number(lo), number(hi))).unwrap_or_default()
}

/// What the experiment assumes, and what was calibrated.
fn notes(experiment: &Experiment) -> String {
    let mut sheet = Sheet::new(&["<assumption", "<chosen"]);
    for (topic, chosen) in &experiment.assumptions {
        sheet.row(vec![topic.clone(), chosen.clone()]);
    }
    let width = usize::from(sheet::terminal_width().unwrap_or(100));
    let calibration = wrapped(&experiment.calibration, width);
    let unmodelled =
        experiment.row.iter().filter_map(|r| Some(format!("\nnot modelled: {}: {}\n", r.id, r.not_modelled.as_ref()?)));
    section("assumptions", &sheet) + "\ncalibration\n" + &calibration + &unmodelled.collect::<String>()
}

fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("starts with one line");
        if last.chars().count() + word.chars().count() < width {
            *last += &format!(" {word}");
        } else {
            lines.push(format!(" {word}"));
        }
    }
    lines.join("\n") + "\n"
}
