// SPDX-License-Identifier: GPL-2.0-only
//! `pelton reproduce`: published tables with our numbers beside them.

use super::common::{bad_input, failure, print, print_json, print_sheet, section, watched};
use crate::args::{Format, Global, ReproduceArgs};
use crate::exit::{Exit, Failure};
use crate::results::lists::Tables;
use crate::sheet::{self, Sheet};
use crate::units::number;
use pelton_lab::experiment::{self, Experiment, ExperimentError};
use pelton_lab::reproduce::{Options, reproduce as run_table, simulated_ns};
use pelton_lab::sensitivity::Sensitivity;
use pelton_lab::table::{BeyondResult, ClaimResult, RowResult, TableResult};
use pelton_lab::worlds::{self, WorldsResult};
use std::fmt::Write as _;
use std::path::Path;

/// Does what was asked.
pub fn reproduce(args: &ReproduceArgs, global: &Global) -> Result<Exit, Failure> {
    if args.list {
        return list(global);
    }
    let experiments = chosen(args)?;
    let mut good = true;
    for (i, experiment) in experiments.iter().enumerate() {
        let table = one(args, global, experiment, None)?;
        good &= table.claims_hold();
        show(experiment, None, &table, global, i == 0)?;
        if args.wrong_worlds && !experiment.wrong_world.is_empty() {
            show_worlds(&wrong_worlds(args, global, experiment, &table)?, global)?;
        }
        // A changed assumption shows what the result rests on; only the table itself can fail.
        for changed in variations(experiment, args) {
            let table = one(args, global, experiment, Some(changed))?;
            show(experiment, Some(changed), &table, global, false)?;
        }
    }
    Ok(if good { Exit::Good } else { Exit::ClaimFails })
}

/// The tables that are meant, with the rows that are meant.
fn chosen(args: &ReproduceArgs) -> Result<Vec<Experiment>, Failure> {
    let names = if args.name == "all" { experiment::names() } else { vec![args.name.as_str()] };
    let mut experiments = names.into_iter().map(load).collect::<Result<Vec<_>, _>>()?;
    if !args.only.is_empty() {
        experiments.iter_mut().for_each(|experiment| experiment.keep_rows(&args.only));
        experiments.retain(|experiment| !experiment.row.is_empty());
        if experiments.is_empty() {
            let error = format!("no row of {} has `{}` in its id", args.name, args.only.join("` or `"));
            return Err(Failure::new(Exit::Usage, error, Some("`pelton reproduce NAME` prints the ids of all rows")));
        }
    }
    Ok(experiments)
}

/// A table by its name, or from a file.
fn load(name: &str) -> Result<Experiment, Failure> {
    if name.ends_with(".toml") || name.contains('/') {
        return experiment::read(Path::new(name)).map_err(|d| bad_input(&d));
    }
    experiment::load(name).map_err(|e| unknown(name, &e))
}

fn unknown(name: &str, error: &ExperimentError) -> Failure {
    let near = pelton_scenario::diagnostic::did_you_mean(name, experiment::names());
    let hint = near.map(|n| format!("did you mean `{n}`?"));
    Failure::new(Exit::Usage, error, hint.as_deref())
}

/// If asked for, each changed assumption that touches a row.
fn variations<'a>(experiment: &'a Experiment, args: &ReproduceArgs) -> impl Iterator<Item = &'a Sensitivity> {
    let touches = |changed: &&Sensitivity| !changed.narrow(experiment).row.is_empty();
    let asked_for = args.sensitivity;
    experiment.sensitivity.iter().filter(move |_| asked_for).filter(touches)
}

fn wrong_worlds(
    args: &ReproduceArgs,
    global: &Global,
    experiment: &Experiment,
    right: &TableResult,
) -> Result<WorldsResult, Failure> {
    let options = Options { seeds: args.seeds, jobs: usize::from(global.jobs) };
    let of_world = |world: &Sensitivity| simulated_ns(&world.narrow(experiment), options);
    let total_ns = experiment.wrong_world.iter().map(of_world).sum();
    watched(global, total_ns, "wrong worlds", |control| worlds::judge_worlds(experiment, right, options, control))
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
        Format::Table | Format::Toml => print(&(section("wrong worlds", &sheet) + "\n" + &sum + "\n")),
    }
}

fn one(
    args: &ReproduceArgs,
    global: &Global,
    experiment: &Experiment,
    changed: Option<&Sensitivity>,
) -> Result<TableResult, Failure> {
    let options = Options { seeds: args.seeds, jobs: usize::from(global.jobs) };
    let narrow = changed.map(|changed| changed.narrow(experiment));
    let total_ns = simulated_ns(narrow.as_ref().unwrap_or(experiment), options);
    watched(global, total_ns, &experiment.table, |control| run_table(experiment, changed, options, control))
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
        Format::Table | Format::Toml => print(&text(experiment, changed, table, global.verbose > 0)),
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
    heads.extend(quantities.iter().map(|v| format!("{} [{}]", v.quantity, v.unit)));
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
