// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton explain --balance` and `--walk`: one balance of a domain, one update of blocked load.

use super::common::{Screen, failure, print, print_json, section};
use crate::args::{Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::explain::upkeep::{BalanceExplanation, Reason};
use pelton_lab::number::number;
use pelton_lab::time::seconds;
use pelton_lab::verbs::explain::{self, ExplainRequest, ExplainedBalance, ExplainedWalk};
use std::fmt::Write as _;

/// Explains a balance; `walk`: an update of blocked load.
pub fn explain(request: &ExplainRequest, walk: bool, global: &Global) -> Result<Exit, Failure> {
    let watch = Screen::new(global);
    if walk {
        let explained = explain::walk(request, &watch).map_err(failure)?;
        match global.format {
            Format::Json => print_json(&explained)?,
            Format::Csv => print(&reasons(&explained.explanation.reasons).csv())?,
            Format::Table | Format::Markdown | Format::Toml => print(&walk_text(&explained))?,
        }
        return Ok(Exit::Good);
    }
    let explained = explain::balance(request, &watch).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&explained)?,
        Format::Csv => print(&groups(&explained.explanation).csv())?,
        Format::Table | Format::Markdown | Format::Toml => print(&text(&explained))?,
    }
    Ok(Exit::Good)
}

pub(super) fn list(cpus: &[u32]) -> String {
    pelton_schema::cpu_list(cpus.iter().copied())
}

fn text(ExplainedBalance { run, groups_changed, explanation: e }: &ExplainedBalance) -> String {
    let mut out = format!("{} s, domain {} of CPU {}, {}\n", seconds(e.time_ns), e.level, e.cpu, run.about.platform);
    let _ = writeln!(out, "{} (number {} of the kind asked for)", e.end, e.number);
    let _ = writeln!(
        out,
        "the CPU is {}; the domain has CPUs {}; {} balances of it before moved nothing",
        e.cpu_is,
        list(&e.domain),
        e.failed_before
    );
    if let (Some(cpu), Some(migration), Some(imbalance)) = (e.busiest_cpu, e.migration, e.imbalance) {
        let pinned = if e.pinned { "; some may not run here" } else { "" };
        let _ = writeln!(
            out,
            "CPU {cpu} is taken from: {imbalance} to be moved, measured in {migration}; tasks moved: {}{pinned}",
            e.moved
        );
    }
    out + &section("groups that were compared", &groups(e)) + &super::explain::written(groups_changed)
}

fn groups(e: &BalanceExplanation) -> Sheet {
    let header = ["<group", "<CPUs", "<type", "tasks", "fair", "idle_CPUs", "load", "util", "capacity", "misfit_load"];
    let mut sheet = Sheet::new(&header);
    for g in &e.groups {
        let mut cells = vec![g.role.to_owned(), list(&g.cpus), g.group_type.to_owned()];
        cells.extend([g.running, g.fair, g.idle_cpus].map(|n| n.to_string()));
        cells.extend([g.load, g.util, g.capacity.into(), g.misfit_load].map(|n| n.to_string()));
        sheet.row(cells);
    }
    sheet
}

fn walk_text(ExplainedWalk { run, groups_changed, explanation: e, count }: &ExplainedWalk) -> String {
    let mut out = format!("{} s, {}\n", seconds(e.time_ns), run.about.platform);
    let _ = writeln!(
        out,
        "CPU {} updates the load of CPU {}: {} (number {count} of the kind asked for)",
        e.by_cpu, e.of_cpu, e.why
    );
    let _ = writeln!(out, "{} queues, {} us", e.queues, number(e.cost_ns as f64 / 1e3));
    out += &section("all of the kind asked for, in the whole run", &reasons(&e.reasons));
    out + &super::explain::written(groups_changed)
}

fn reasons(all: &[Reason]) -> Sheet {
    let mut sheet = Sheet::new(&["<why", "updates", "queues", "cost_us"]);
    for r in all {
        let counts = [r.updates, r.queues].map(|n| n.to_string());
        let mut cells = vec![r.why.to_owned()];
        cells.extend(counts);
        cells.push(number(r.cost_ns as f64 / 1e3));
        sheet.row(cells);
    }
    sheet
}
