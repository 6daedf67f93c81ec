// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton explain --diff`: the first decision that differs between two runs.

use super::common::{Screen, failure, policy_spec, print, print_json, section};
use super::explain::{chain, outcome};
use super::explain_placement::places;
use crate::args::{ExplainArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::number::number;
use pelton_lab::plan::PolicySpec;
use pelton_lab::time::seconds;
use pelton_lab::verbs::difference::{Difference, DifferenceRequest, First, Side, difference};
use std::fmt::Write as _;

/// Explains where two runs part.
pub fn explain(args: &ExplainArgs, global: &Global) -> Result<Exit, Failure> {
    let ours = policy_spec(&args.policy)?;
    let mut theirs = args.diff.as_deref().map_or_else(|| ours.clone(), PolicySpec::parse);
    if args.diff.is_some() {
        theirs.sets.extend(args.policy.sets.iter().cloned());
    }
    let request = DifferenceRequest {
        input: super::explain::inputs(args),
        policies: [ours, theirs],
        seeds: [args.seed, args.diff_seed.unwrap_or(args.seed)],
        random_phase: !args.same_phase,
    };
    let found = difference(&request, &Screen::new(global)).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&found)?,
        Format::Csv => print(&cost(&found).csv())?,
        Format::Table | Format::Markdown | Format::Toml => print(&text(&found))?,
    }
    Ok(Exit::Good)
}

fn text(found: &Difference) -> String {
    let about = &found.runs[0].about;
    let mut out = format!("{} on {}\n", about.workload, about.platform);
    for (at, run) in found.runs.iter().enumerate() {
        let _ = writeln!(out, "  [{}] {}, seed {}", at + 1, run.policy.policy, run.seed);
    }
    let Some(first) = &found.first else {
        let which = if found.is_whole { "all" } else { "the first" };
        let _ = writeln!(out, "\n{which} {} changes of requests and places of tasks are the same", found.same_outcomes);
        return out + &section("numbers that differ all the same", &cost(found));
    };
    let _ = writeln!(
        out,
        "\n{} changes of requests and places of tasks are the same; then, at {} s, {}:",
        found.same_outcomes,
        seconds(first.time_ns),
        first.of
    );
    for (at, side) in first.sides.iter().enumerate() {
        out += &of_side(at, side, first);
    }
    out + &section("numbers of the whole run that differ: all of it came after", &cost(found))
}

fn of_side(at: usize, side: &Side, first: &First) -> String {
    let when = |time_ns: u64| match time_ns == first.time_ns {
        true => String::new(),
        false => format!(" (at {} s, the last before)", seconds(time_ns)),
    };
    match (&side.frequency, &side.placement) {
        (Some(decision), _) => {
            format!("\n[{}] {}{}\n{}", at + 1, outcome(decision), when(decision.time_ns), chain(decision))
        }
        (_, Some(e)) => {
            let moved = format!("CPU {} -> {}: {}", e.prev_cpu, e.chosen_cpu, e.rule);
            format!("\n[{}] {moved}{}\n{}", at + 1, when(e.time_ns), places(e))
        }
        (None, None) => format!("\n[{}] no decision about it up to then\n", at + 1),
    }
}

fn cost(found: &Difference) -> Sheet {
    let mut sheet = Sheet::new(&["<quantity", "<unit", "[1]", "[2]", "change"]);
    for row in &found.cost {
        let [ours, theirs] = row.values.map(number);
        let change = row.change_pct.map(|pct| format!("{pct:+.1} %")).unwrap_or_default();
        sheet.row(vec![row.quantity.to_owned(), row.unit.to_owned(), ours, theirs, change]);
    }
    sheet
}
