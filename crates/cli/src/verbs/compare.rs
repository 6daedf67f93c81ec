// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton compare`: several policies over several seeds.

use super::common::{Screen, failure, files_of, input_of, notes, policy_files, print, print_json, section};
use crate::args::{CompareArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::picture;
use crate::sheet::{self, Sheet};
use pelton_lab::compare::{Chance, CompareCell, CompareRow, Comparison, is_answer, is_measured};
use pelton_lab::measure::stats::SAMPLES_FOR_CI95;
use pelton_lab::measure::summary::Scope;
use pelton_lab::number::number;
use pelton_lab::verbs::compare::{CompareRequest, compare_all};
use pelton_report::chart::compared;
use std::path::PathBuf;

/// Runs the verb.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<Exit, Failure> {
    args.plot.as_deref().map_or(Ok(()), picture::check)?;
    let inputs = args.workloads.iter().flat_map(|workload| files_of(workload)).chain([PathBuf::from(&args.platform)]);
    let read: Vec<PathBuf> = inputs.chain(policy_files(&args.policies)).collect();
    output::spare(args.plot.as_slice(), &read)?;
    let request = CompareRequest {
        input: input_of(&args.platform, &args.workloads[0], &args.options),
        workloads: args.workloads[1..].to_vec(),
        policies: args.policies.clone(),
        sets: args.sets.clone(),
        seeds: args.seeds,
        first_seed: args.first_seed,
        jobs: usize::from(global.jobs),
        only: args.only.clone(),
        summary: args.summary,
        values: args.values,
    };
    let mut comparison = compare_all(&request, &Screen::new(global)).map_err(failure)?;
    let residency = comparison.rows.clone();
    request.narrow(&mut comparison);
    comparison.chance = comparison.chance();
    // Charts have the answers, whatever is printed beside them; stars are counted where they are shown.
    let mut drawn = comparison.clone();
    drawn.rows = residency;
    if let Some(path) = &args.plot {
        picture::save(path, &compared::picture(&drawn, is_answer))?;
    }
    if args.lkml {
        print(&pelton_lab::compare::mail::table(&drawn, &args.only))?;
        return Ok(Exit::Good);
    }
    let charts =
        if args.charts { compared::blocks(&drawn, is_answer, sheet::page_width().into()) } else { String::new() };
    let all = global.verbose > 0 || !args.only.is_empty();
    show(&comparison, all, args.summary || !args.only.is_empty(), &charts, global)?;
    Ok(Exit::Good)
}

fn show(comparison: &Comparison, all: bool, short: bool, charts: &str, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(comparison),
        Format::Csv => print(&long_sheet(comparison).csv()),
        Format::Table | Format::Markdown | Format::Toml => {
            print(&(text(comparison, all, short) + charts + &confidence_words(comparison)))
        }
    }
}

fn long_sheet(comparison: &Comparison) -> Sheet {
    let header = [
        "<policy",
        "<scope",
        "<of",
        "<quantity",
        "<unit",
        "median",
        "min",
        "max",
        "change_pct",
        "change_ci95_low_pct",
        "change_ci95_high_pct",
        "<star",
        "of_intervals",
        "stars_by_chance",
        "<note",
        "<workload",
    ];
    let mut sheet = Sheet::new(&header);
    for row in &comparison.rows {
        for (policy, cell) in comparison.policies.iter().zip(&row.cells) {
            let optional = |v: Option<f64>| v.map(number).unwrap_or_default();
            let (low, high) = (cell.change_ci95_pct.map(|c| c.0), cell.change_ci95_pct.map(|c| c.1));
            let (scope, of) = (row.scope.name().to_owned(), row.of.clone());
            let mut cells = vec![policy.clone(), scope, of, row.quantity.to_owned(), row.unit.to_owned()];
            let (min, max) = (cell.range.map(|r| r.0), cell.range.map(|r| r.1));
            cells.extend([cell.median, min, max, cell.change_pct, low, high].map(optional));
            let told = |value: String| if low.is_some() { value } else { String::new() };
            let star = if cell.is_significant() { "*" } else { "" };
            let Chance { intervals, stars_by_chance, .. } = comparison.chance;
            cells.extend([star.to_owned(), told(intervals.to_string()), told(number(stars_by_chance))]);
            cells.push(row.note.unwrap_or_default().to_owned());
            cells.push(cell.workload.as_ref().unwrap_or(&comparison.run.workload).clone());
            sheet.row(cells);
        }
    }
    sheet
}

fn text(comparison: &Comparison, all: bool, short: bool) -> String {
    let mut out = format!("medians of {} seeds; changes against {}\n", comparison.seeds.len(), base(comparison));
    for (i, side) in comparison.sides().enumerate() {
        out += &format!("  [{}] {side}\n", i + 1);
    }
    if !short {
        let answers = comparison.rows.iter().filter(|row| is_answer(row));
        out += &section("in short (--summary shows only this)", &sheet(measured_first(answers), Scope::Run, all));
    }
    for scope in [Scope::Run, Scope::Domain, Scope::Zone, Scope::Task, Scope::Group, Scope::Frequency, Scope::Idle] {
        let rows = comparison.rows.iter().filter(|r| r.scope == scope);
        out += &section(heading(scope), &sheet(measured_first(rows), scope, all));
    }
    for (about, note) in notes(comparison.rows.iter().map(|row| (row.quantity, row.note))) {
        out += &format!("\n{about}: {note}\n");
    }
    comparison.remarks.iter().for_each(|remark| out += &format!("\nnote: {remark}\n"));
    out
}

/// Heading of a part; shares of several seeds need a word more.
fn heading(scope: Scope) -> &'static str {
    match scope {
        Scope::Frequency => "frequency (medians of shares of the run: they need not add up to 100 %)",
        Scope::Idle => "idle (medians of shares of the run: they need not add up to 100 %)",
        _ => scope.name(),
    }
}

/// Base of the changes, in words.
fn base(comparison: &Comparison) -> &str {
    match (comparison.workloads.is_empty(), comparison.policies.iter().all(|p| *p == comparison.policies[0])) {
        (true, _) => &comparison.policies[0],
        (false, true) => "the first workload",
        (false, false) => "the first policy of the same workload",
    }
}

/// Puts the numbers that the workload measures itself above those that are measured of it.
fn measured_first<'a>(rows: impl Iterator<Item = &'a CompareRow>) -> impl Iterator<Item = &'a CompareRow> {
    let (measured, others): (Vec<_>, Vec<_>) = rows.partition(|row| is_measured(row));
    measured.into_iter().chain(others)
}

/// Meaning of stars and brackets, and the number of stars that chance explains: last, so that it stands under charts
/// too.
fn confidence_words(comparison: &Comparison) -> String {
    if comparison.seeds.len() < SAMPLES_FOR_CI95 {
        return "\nno 95 % confidence: it needs six seeds\n".to_owned();
    }
    let chance = comparison.chance.in_words().map(|words| words + "\n").unwrap_or_default();
    "\nin brackets: 95 % confidence over seeds; * = more than the seeds explain\n".to_owned() + &chance
}

/// One line per number and policy; numbers that are 0 under every policy, or not known of a domain or task, are left
/// out unless `all` is set.
fn sheet<'a>(rows: impl Iterator<Item = &'a CompareRow>, scope: Scope, all: bool) -> Sheet {
    let mut sheet =
        Sheet::new(&["<name", "<quantity", "policy", "median", "<unit", "change", "<confidence"]).with_keys(3);
    let says_something = |row: &&'a CompareRow| {
        all || row
            .cells
            .iter()
            .any(|c| c.median.is_none() && scope == Scope::Run || c.range.is_some_and(|r| r != (0.0, 0.0)))
    };
    for row in rows.filter(says_something) {
        for (i, cell) in row.cells.iter().enumerate() {
            let name = |text: &str| if i == 0 { text.to_owned() } else { String::new() };
            let label = format!("[{}]", i + 1);
            let unit = row.unit.to_owned();
            sheet.row(vec![
                name(&row.of),
                name(row.quantity),
                label,
                cell.median.map_or_else(|| "-".to_owned(), number),
                unit,
                change(cell),
                confidence(cell),
            ]);
        }
    }
    sheet.without_empty_columns()
}

fn change(cell: &CompareCell) -> String {
    cell.change_pct.map(|pct| format!("{pct:+.1} %")).unwrap_or_default()
}

fn confidence(cell: &CompareCell) -> String {
    let star = if cell.is_significant() { " *" } else { "" };
    cell.change_ci95_pct.map(|(lo, hi)| format!("[{lo:+.1}, {hi:+.1}]{star}")).unwrap_or_default()
}
