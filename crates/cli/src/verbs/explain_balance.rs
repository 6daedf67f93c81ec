// SPDX-License-Identifier: GPL-2.0-only
//! `pelton explain --balance` and `--walk`: one balance of a domain, one update of blocked load.

use super::common::{print, print_json, section, watched};
use crate::args::{ExplainArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use crate::units::{human_ns, number, seconds};
use pelton_lab::explain_balance::{
    BalanceExplanation, BalanceSink, Reason, WalkExplanation, Wanted, explain as told, explain_walk,
};
use pelton_lab::run::run_one;
use pelton_lab::summary::RunHeader;
use pelton_model::Plan;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Does what was asked.
pub fn explain(args: &ExplainArgs, run: RunHeader, plan: &Plan, global: &Global) -> Result<Exit, Failure> {
    let mut sink = BalanceSink::of(Wanted { cpu: args.cpu, moved: args.changed });
    watched(global, plan.config.duration_ns, "run", |control| run_one(plan, args.seed, &mut sink, control))?;
    if args.walk {
        let explanation = explain_walk(&sink).ok_or_else(|| nothing("update of blocked load", plan, WALK_HELP))?;
        match global.format {
            Format::Json => print_json(&ExplainedWalk { run, explanation })?,
            Format::Csv => print(&reasons(&explanation.reasons).csv())?,
            Format::Table | Format::Toml => print(&walk_text(&explanation, plan, sink.walk.1))?,
        }
        return Ok(Exit::Good);
    }
    let (kept, count) = &sink.balance;
    let kept = kept.as_ref().ok_or_else(|| nothing("balance", plan, BALANCE_HELP))?;
    let explanation = told(kept, *count);
    match global.format {
        Format::Json => print_json(&ExplainedBalance { run, explanation })?,
        Format::Csv => print(&groups(&explanation).csv())?,
        Format::Table | Format::Toml => print(&text(&explanation, plan))?,
    }
    Ok(Exit::Good)
}

/// A balance with the run it belongs to.
#[derive(Serialize, JsonSchema)]
pub struct ExplainedBalance {
    run: RunHeader,
    #[serde(flatten)]
    explanation: BalanceExplanation,
}

/// An update of blocked load with the run it belongs to.
#[derive(Serialize, JsonSchema)]
pub struct ExplainedWalk {
    run: RunHeader,
    #[serde(flatten)]
    explanation: WalkExplanation,
}

const BALANCE_HELP: &str =
    "domains are balanced at ticks and before a CPU goes idle, on machines of 2 to 64 CPUs, unless balance=pull";
const WALK_HELP: &str =
    "blocked load is brought up to date at ticks, before a CPU goes idle, and for idle CPUs without tick";

fn nothing(what: &str, plan: &Plan, help: &str) -> Failure {
    let reason = format!("no {what} of that kind in the first {}", human_ns(plan.config.duration_ns));
    Failure::new(Exit::BadInput, reason, Some(help))
}

fn list(cpus: &[u32]) -> String {
    let run = |group: &[u32]| match group {
        [one] => one.to_string(),
        _ => format!("{}-{}", group[0], group[group.len() - 1]),
    };
    cpus.chunk_by(|a, b| a + 1 == *b).map(run).collect::<Vec<_>>().join(",")
}

fn text(e: &BalanceExplanation, plan: &Plan) -> String {
    let mut out = format!("{} s, domain {} of CPU {}, {}\n", seconds(e.time_ns), e.level, e.cpu, plan.machine.name);
    let _ = writeln!(out, "{} (number {} of those that fit)", e.end, e.number);
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
    out + &section("groups that were compared", &groups(e))
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

fn walk_text(e: &WalkExplanation, plan: &Plan, count: u64) -> String {
    let mut out = format!("{} s, {}\n", seconds(e.time_ns), plan.machine.name);
    let _ = writeln!(
        out,
        "CPU {} brings the load of CPU {} up to date: {} (number {count} of those that fit)",
        e.by_cpu, e.of_cpu, e.why
    );
    let _ = writeln!(out, "{} queues, {} us", e.queues, number(e.cost_ns as f64 / 1e3));
    out + &section("all of the run that fit", &reasons(&e.reasons))
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
