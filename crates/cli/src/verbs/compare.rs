// SPDX-License-Identifier: GPL-2.0-only
//! `pelton compare`: several policies over several seeds.

use super::common::{input_files, inputs, policy_files, prepare, prepare_again, print, print_json, section, watched};
use crate::args::{CompareArgs, Format, Global};
use crate::chart::{self, compared};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::sheet::Sheet;
use crate::units::number;
use pelton_lab::compare::{self, CompareCell, CompareRow, Comparison, Scope};
use pelton_lab::plan::PolicySpec;
use pelton_lab::run::Control;
use pelton_lab::stats::SAMPLES_FOR_CI95;
use std::path::PathBuf;

/// Does what was asked.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<Exit, Failure> {
    args.plot.as_deref().map_or(Ok(()), chart::check)?;
    let read: Vec<PathBuf> = input_files(&args.input).into_iter().chain(policy_files(&args.policies)).collect();
    output::spare(args.plot.as_slice(), &read)?;
    let inputs = inputs(&args.input, 1, true);
    let spec = |text: &String| {
        let mut spec = PolicySpec::parse(text);
        spec.sets.extend(args.sets.iter().cloned());
        spec
    };
    let prepared = |(i, text): (usize, &String)| {
        let make = if i == 0 { prepare } else { prepare_again };
        make(&inputs, &spec(text), global)
    };
    let plans = args.policies.iter().enumerate().map(prepared).collect::<Result<Vec<_>, _>>()?;
    let seeds: Vec<u64> = (0..args.seeds).map(|i| args.first_seed.wrapping_add(i)).collect();
    let total_ns =
        plans.iter().map(|p| p.plan.config.duration_ns.saturating_mul(args.seeds)).fold(0, u64::saturating_add);
    let jobs = usize::from(global.jobs);
    let run = |control: Control<'_>| compare::compare(&args.policies, &plans, &seeds, jobs, control);
    let mut comparison = watched(global, total_ns, "compare", run)?;
    if !args.values {
        comparison.rows.iter_mut().flat_map(|row| &mut row.cells).for_each(|cell| cell.values.clear());
    }
    if let Some(path) = &args.plot {
        chart::save(path, &compared::picture(&comparison, is_answer))?;
    }
    let charts = if args.charts { compared::blocks(&comparison, is_answer) } else { String::new() };
    if args.summary {
        comparison.rows.retain(is_answer);
    }
    if !args.only.is_empty() {
        comparison.rows.retain(|row| args.only.iter().any(|name| name == row.quantity));
    }
    let all = global.verbose > 0 || !args.only.is_empty();
    show(&comparison, all, args.summary || !args.only.is_empty(), &charts, global)?;
    Ok(Exit::Good)
}

/// What most questions are about: energy, lateness, latency, transitions.
const ANSWERS: [&str; 6] =
    ["energy_mj", "late", "wakeup_us_avg", "wakeup_us_max", "step_latency_ms_avg", "transitions"];

fn is_answer(row: &CompareRow) -> bool {
    row.scope == Scope::Run && ANSWERS.contains(&row.quantity)
}

fn show(comparison: &Comparison, all: bool, short: bool, charts: &str, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(comparison),
        Format::Csv => print(&long_sheet(comparison).csv()),
        Format::Table | Format::Toml => print(&(text(comparison, all, short) + charts)),
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
        "<note",
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
            cells.push(row.note.unwrap_or_default().to_owned());
            sheet.row(cells);
        }
    }
    sheet
}

fn text(comparison: &Comparison, all: bool, short: bool) -> String {
    let mut out = format!("medians of {} seeds; changes against {}\n", comparison.seeds.len(), comparison.policies[0]);
    for (i, policy) in comparison.policies.iter().enumerate() {
        out += &format!("  [{}] {policy}\n", i + 1);
    }
    if !short {
        let answers = comparison.rows.iter().filter(|row| is_answer(row));
        out += &section("in short (--summary shows only this)", &sheet(answers, Scope::Run, all));
    }
    for scope in [Scope::Run, Scope::Domain, Scope::Task, Scope::Group, Scope::Frequency, Scope::Idle] {
        out += &section(scope.name(), &sheet(comparison.rows.iter().filter(|r| r.scope == scope), scope, all));
    }
    if let Some(note) = comparison.rows.iter().find_map(|row| row.note) {
        out += &format!("\nenergy: {note}\n");
    }
    if comparison.seeds.len() < SAMPLES_FOR_CI95 {
        return out + "\nno 95 % confidence: it needs six seeds\n";
    }
    out + "\nin brackets: 95 % confidence over seeds; * = more than the seeds explain\n" + &by_chance(comparison)
}

/// How many stars chance alone would set: each interval leaves out 5 % where nothing changed.
fn by_chance(comparison: &Comparison) -> String {
    let cells = || comparison.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.change_ci95_pct.is_some());
    let (intervals, stars) = (cells().count(), cells().filter(|cell| cell.is_significant()).count());
    let expected = intervals as f64 * 0.05;
    if stars == 0 {
        return String::new();
    }
    format!(
        "{stars} of {intervals} intervals have a star; where nothing changed, about {} would have one by chance: decide what \
         to look at before, or ask again with other seeds (--first-seed)\n",
        number(expected.round().max(1.0))
    )
}

/// One line per number and policy; numbers that are 0 under every policy, or not known of a domain or task, are left out
/// unless `all` is set.
fn sheet<'a>(rows: impl Iterator<Item = &'a CompareRow>, scope: Scope, all: bool) -> Sheet {
    let mut sheet = Sheet::new(&["<name", "<quantity", "policy", "median", "<unit", "change", "<confidence"]);
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
    sheet
}

fn change(cell: &CompareCell) -> String {
    cell.change_pct.map(|pct| format!("{pct:+.1} %")).unwrap_or_default()
}

fn confidence(cell: &CompareCell) -> String {
    let star = if cell.is_significant() { " *" } else { "" };
    cell.change_ci95_pct.map(|(lo, hi)| format!("[{lo:+.1}, {hi:+.1}]{star}")).unwrap_or_default()
}
