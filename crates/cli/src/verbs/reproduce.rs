// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton reproduce`: published tables with our numbers beside them.

use super::common::{Screen, failure, print, print_json, print_sheet, section};
use super::reproduce_csv::csv;
use crate::args::{Format, Global, ReproduceArgs};
use crate::exit::{Exit, Failure};
use crate::paint;
use crate::sheet::{self, Sheet};
use pelton_lab::experiment::file::Sensitivity;
use pelton_lab::experiment::table::{BeyondResult, BeyondValue, ClaimResult, RowResult, TableResult, Verdict};
use pelton_lab::experiment::worlds::WorldsResult;
use pelton_lab::experiment::{self, Experiment};
use pelton_lab::measure::quantity;
use pelton_lab::measure::stats::SAMPLES_FOR_CI95;
use pelton_lab::number::number;
use pelton_lab::results::lists::Tables;
use pelton_lab::run::LabError;
use pelton_lab::verbs::reproduce::{Part, ReproduceRequest, reproduce_each};
use std::fmt::Write as _;

/// Runs the verb.
pub fn reproduce(args: &ReproduceArgs, global: &Global) -> Result<Exit, Failure> {
    if args.list {
        return list(global);
    }
    let request = ReproduceRequest {
        name: args.name.clone(),
        only: args.only.clone(),
        seeds: args.seeds,
        all_seeds: args.all_seeds,
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
    if let ([_, _, ..], Format::Table | Format::Markdown) = (&reproduced.tables[..], global.format) {
        print(&section("all tables", &summary(&reproduced.tables)))?;
    }
    Ok(if reproduced.claims_hold { Exit::Good } else { Exit::ClaimFails })
}

fn show_worlds(result: &WorldsResult, global: &Global) -> Result<(), Failure> {
    let mut sheet = Sheet::new(&["<world", "<rejected", "<by", "<what is wrong in it"]);
    let shown = if global.format == Format::Csv { usize::MAX } else { 2 };
    for world in &result.worlds {
        let by: Vec<&str> = world.rows.iter().chain(&world.claims).map(String::as_str).collect();
        let more = if by.len() > shown { format!(" and {} more", by.len() - shown) } else { String::new() };
        let by = by.iter().take(shown).copied().collect::<Vec<_>>().join(", ") + &more;
        let rejected = if world.rejected { "yes" } else { "NO" };
        sheet.row(vec![world.name.clone(), rejected.to_owned(), by, world.why.clone()]);
    }
    let sum = format!("{}: {} of {} wrong worlds rejected", result.table, result.rejected, result.worlds.len());
    match global.format {
        Format::Json => print_json(result),
        Format::Csv => print(&sheet.csv()),
        Format::Table | Format::Markdown | Format::Toml => {
            print(&(section("wrong worlds", &sheet) + "\n" + &sum + "\n"))
        }
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

fn text(experiment: &Experiment, changed: Option<&Sensitivity>, table: &TableResult, verbose: bool) -> String {
    let mut out = format!("{}: {}\n", table.table, changed.map_or(&experiment.why, |c| &c.why));
    if changed.is_none() {
        let _ = writeln!(out, "source: {}", experiment.source);
    }
    out += &section("", &rows(table));
    out.push('\n');
    for claim in &table.claims {
        let verdict = if claim.holds { paint::good("holds:") } else { paint::bad("FAILS:") };
        let open = if claim.stands { "" } else { "; more seeds could change it" };
        let _ = writeln!(out, "{verdict} {} (here {}{}{open})", claim.text, claim_value(claim), chance(table, claim));
    }
    out +=
        &section("also measured, printed by no source: means, and the lowest and highest of all seeds", &probes(table));
    for beyond in &table.beyond {
        out += &section(&format!("{}, {}: {}", beyond.id, beyond.workload, beyond.why), &beyond_sheet(beyond));
    }
    table.remarks.iter().for_each(|remark| out += &format!("\nnote: {remark}\n"));
    if lacks_seeds(table) {
        out += "\nno 95 % confidence: it needs six seeds\n";
    }
    if verbose {
        out += &notes(experiment);
    }
    let _ = writeln!(out, "\n{} runs, {} s", table.runs, number(table.seconds));
    let score = table.score.in_words();
    if score.is_empty() { out } else { out + &format!("{score}\n") }
}

/// One line for each table.
fn summary(tables: &[TableResult]) -> Sheet {
    let counted = ["rows match", "rows", "no effect matches", "rows that compare", "claims hold", "claims"];
    let heads = [&["<table", "runs", "s"][..], &counted, &["open rows", "open claims"]].concat();
    let mut sheet = Sheet::new(&heads);
    for table in tables {
        let s = &table.score;
        let counts = [s.matches, s.rows, s.no_effect_matches, s.no_effect_rows, s.claims_hold, s.claims];
        let counts = counts.into_iter().chain([s.open_rows, s.open_claims]).map(|n| n.to_string());
        let about = [table.table.clone(), table.runs.to_string(), number(table.seconds)];
        sheet.row(about.into_iter().chain(counts).collect());
    }
    sheet
}

/// No number has an interval because there are too few seeds, and not because there is no number.
fn lacks_seeds(table: &TableResult) -> bool {
    let beyond = table.beyond.iter().flat_map(|of| &of.rows).flat_map(|row| &row.values);
    let none = table.rows.iter().all(|row| row.ci95.is_none()) && beyond.into_iter().all(|value| value.ci95.is_none());
    none && table.run.seeds < SAMPLES_FOR_CI95 as u64
}

/// The number that decides a claim.
fn claim_value(claim: &ClaimResult) -> String {
    match (claim.value, claim.unit.as_str()) {
        (None, _) => "-".to_owned(),
        (Some(value), "" | "count") => number(value),
        (Some(value), unit) => format!("{} {unit}", number(value)),
    }
}

/// Share of groups of as few runs as were printed that bear a statement out.
fn chance(table: &TableResult, claim: &ClaimResult) -> String {
    let (Some(pct), Some(runs)) = (claim.chance_pct, table.run.printed_runs) else { return String::new() };
    let runs = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
    let null = claim.no_effect_chance_pct.map(|pct| format!(", without the change in {} %", drawn(pct)));
    format!("; holds in {} % of draws of {runs} each{}", drawn(pct), null.unwrap_or_default())
}

/// A share of draws, which are as many as make it good to one percent.
fn drawn(pct: f64) -> String {
    if pct > 0.0 && pct < 0.5 { "<1".to_owned() } else { format!("{pct:.0}") }
}

fn rows(table: &TableResult) -> Sheet {
    let has_chance = table.rows.iter().any(|row| row.chance_pct.is_some());
    let mut heads =
        vec!["<row", "published", "tolerance", "simulated", "<verdict", "<role", "<unit", "<95 % confidence", "<seeds"];
    heads.extend(has_chance.then_some("runs as far [%]"));
    heads.extend(["no effect", "<it would"]);
    let mut sheet = Sheet::new(&heads);
    for r in &table.rows {
        let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let numbers = [number(r.published), tolerance(r), optional(r.simulated)];
        let words = [r.verdict.name(), r.role.name(), &r.unit, &spread(r), &seeds(r)].map(str::to_owned);
        let chance = has_chance.then(|| r.chance_pct.map_or_else(|| "-".to_owned(), drawn));
        let null = [optional(r.no_effect), null_verdict(r).to_owned()];
        sheet.row([r.id.clone()].into_iter().chain(numbers).chain(words).chain(chance).chain(null).collect());
    }
    sheet
}

/// Tolerance, in the form of the experiment file.
fn tolerance(row: &RowResult) -> String {
    row.tolerance_pct.map_or_else(|| format!("+-{}", number(row.tolerance)), |pct| format!("+-{} %", number(pct)))
}

fn null_verdict(row: &RowResult) -> &'static str {
    match row.no_effect_verdict {
        Some(Verdict::Match) => "match",
        Some(_) => "miss",
        None => "",
    }
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

/// Number of seeds, with a plus where more of them could change the verdict.
fn seeds(row: &RowResult) -> String {
    let open = if row.stands { "" } else { "+" };
    if row.simulated.is_some() { format!("{}{open}", row.seeds) } else { String::new() }
}

/// Assumptions of the experiment, and its calibration.
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
