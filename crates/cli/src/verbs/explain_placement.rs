// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton explain --placement`: one placement of a fair task with every CPU it could have gone to.

use super::common::{Screen, failure, print, print_json, section};
use crate::args::{Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::explain::placement::{Affine, Compared, Explanation, Scan};
use pelton_lab::time::seconds;
use pelton_lab::verbs::explain::{ExplainRequest, ExplainedPlacement, placement};
use std::fmt::Write as _;

/// Explains a placement.
pub fn explain(request: &ExplainRequest, global: &Global) -> Result<Exit, Failure> {
    let explained = placement(request, &Screen::new(global)).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&explained)?,
        Format::Csv => print(&sheet(&explained.explanation).csv())?,
        Format::Table | Format::Markdown | Format::Toml => print(&text(&explained))?,
    }
    Ok(Exit::Good)
}

fn text(ExplainedPlacement { run, groups_changed, power, explanation, count }: &ExplainedPlacement) -> String {
    let mut out = choice(explanation, &run.about.platform, *count);
    if !explanation.energies.is_empty() {
        let _ = writeln!(
            out,
            "it is the kernel's model that decides ({}), not what is drawn ({})",
            power.model, power.drawn
        );
    }
    out + &super::explain::written(groups_changed)
}

/// A placement of that number on a machine, from the question to the energies.
pub(super) fn choice(e: &Explanation, machine: &str, count: u64) -> String {
    let mut out = format!("{} s, {} of `{}`, {machine}\n", seconds(e.time_ns), e.event, e.task);
    let _ = writeln!(out, "CPU {} -> {}: {} (number {count} of the kind asked for)", e.prev_cpu, e.chosen_cpu, e.rule);
    let by_energy = match (e.energy_aware, e.overutilized) {
        (true, false) => "energy decides",
        (true, true) => "energy does not decide: some CPU is over-utilized",
        (false, _) => "not placed by energy",
    };
    let _ = writeln!(
        out,
        "executed by CPU {}; the task brings utilization {}, clamps {} .. {}; {by_energy}; starting point: {}",
        e.this_cpu, e.task_util, e.clamps.0, e.clamps.1, e.start
    );
    let loads = e.affine.iter().map(|affine| weighed(affine, e));
    loads.chain(e.scan.iter().map(searched)).for_each(|line| out += &line);
    out += &section(&format!("domains around CPU {}, as they are walked", e.this_cpu), &domains(e));
    for step in &e.groups {
        let about = format!(
            "groups around CPU {}; decided by: {}; goes on from CPU {}",
            step.cpu, step.decided_by, step.next_cpu
        );
        out += &section(&about, &groups(step));
    }
    out += &places(e);
    if e.others > 0 {
        let _ = writeln!(out, "{} CPUs of other caches are left out: {}", e.others, left_out(e));
    }
    if !e.energies.is_empty() {
        out += &section(&format!("energy of each domain that was asked{}", task_busy(e)), &energies(e));
        out += "energy is in the kernel's unit; asked are the previous CPU and the one with most room of each domain\n";
    }
    out
}

/// Each CPU as a place for the task.
pub(super) fn places(e: &Explanation) -> String {
    section("each CPU as a place for it", &sheet(e).without_empty_columns())
}

/// Utilization that a task adds to the sum, in words; empty where that is not one number.
fn task_busy(e: &Explanation) -> String {
    e.task_busy.map_or_else(String::new, |busy| format!("; the task adds {busy} to the sum"))
}

fn energies(e: &Explanation) -> Sheet {
    let by_capacity = e.energies.iter().any(|energy| energy.divisor != 1);
    let product = if by_capacity { "cost*sum/capacity" } else { "cost*sum" };
    let header = ["<CPUs", "<task_on", "allowed", "largest", "kHz", "cost", "sum", "capacity", product, "added"];
    let mut sheet = Sheet::new(&header);
    for energy in &e.energies {
        sheet.row(vec![
            super::explain_balance::list(&energy.cpus),
            energy.task_on.map_or("none".to_owned(), |cpu| format!("CPU {cpu}")),
            energy.allowed.to_string(),
            energy.largest.to_string(),
            energy.freq_khz.to_string(),
            energy.cost.to_string(),
            energy.sum.to_string(),
            if by_capacity { energy.divisor.to_string() } else { String::new() },
            energy.energy.to_string(),
            energy.added.map_or(String::new(), |added| added.to_string()),
        ]);
    }
    sheet.without_empty_columns()
}

/// Between this CPU and the previous one.
fn weighed(affine: &Affine, e: &Explanation) -> String {
    let loads = match (affine.this_effective, affine.previous_effective) {
        (Some(this), Some(previous)) => {
            format!("effective loads: CPU {} {this}, CPU {} {previous}", e.this_cpu, e.prev_cpu)
        }
        _ => format!("loads: {}", affine.loads),
    };
    format!("{}: CPU {} ({}); {loads}\n", affine.by, affine.winner, e.start)
}

/// Extent of the search, in words.
fn searched(scan: &Scan) -> String {
    let mut out = format!("search for an idle CPU near CPU {}, {}", scan.target, scan.rule);
    if let Some(number) = scan.nr_idle_scan {
        let _ = write!(out, " (nr_idle_scan {number})");
    }
    if let (Some(idle), Some(cost)) = (scan.avg_idle_ns, scan.avg_scan_cost_ns) {
        let _ = write!(out, " (mean idle time {idle} ns, mean cost of a search {cost} ns)");
    }
    let limit = scan.limit.map_or_else(String::new, |limit| format!("at most {limit} CPUs, "));
    let _ = writeln!(out, ": {limit}{} looked at", scan.seen);
    out
}

/// Groups of a step; those up to 5.4 have no type.
fn groups(step: &Compared) -> Sheet {
    let typed = step.groups.iter().any(|group| group.kind.is_some());
    let mut header = vec!["<CPUs", "<"];
    header.extend(if typed { &["<type", "idle_CPUs", "tasks", "util"][..] } else { &["runnable_load"] });
    header.extend(["load", "capacity", "spare"]);
    let mut sheet = Sheet::new(&header);
    let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    for g in &step.groups {
        let roles = if g.allowed { g.roles.join(", ") } else { "not allowed".to_owned() };
        let mut row = vec![super::explain_balance::list(&g.cpus), roles];
        if typed {
            row.push(g.kind.unwrap_or_default().to_owned());
            row.extend([number(g.idle_cpus.map(u64::from)), number(g.running.map(u64::from)), number(g.util)]);
        } else {
            row.push(number(g.runnable_load));
        }
        row.extend([g.load.to_string(), g.capacity.to_string(), g.spare.to_string()]);
        sheet.row(row);
    }
    sheet
}

fn left_out(e: &Explanation) -> &'static str {
    if e.event == "wake-up" {
        "a wake-up looks near its waker and where it slept"
    } else {
        "they were compared as groups"
    }
}

fn domains(e: &Explanation) -> Sheet {
    let mut sheet = Sheet::new(&["<shares", "<CPUs", "<previous", "<chosen", "<role", "imbalance_allowed"]);
    let inside = |yes: bool| if yes { "inside" } else { "outside" }.to_owned();
    for d in &e.domains {
        let cpus = super::explain_balance::list(&d.cpus);
        let cells = [inside(d.has_previous), inside(d.has_chosen), d.role.to_owned(), d.imbalance_allowed.to_string()];
        sheet.row([d.kind.to_owned(), cpus].into_iter().chain(cells).collect());
    }
    sheet
}

pub(super) fn sheet(e: &Explanation) -> Sheet {
    let header = [
        "CPU",
        "<",
        "tasks",
        "<state",
        "capacity",
        "util_with_task",
        "spare",
        "<fits",
        "energy_added",
        "runnable",
        "busy",
        "busy_with_task",
        "asks",
        "asks_with_task",
    ];
    let mut sheet = Sheet::new(&header);
    let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    for c in &e.candidates {
        let state = match (c.allowed, c.idle) {
            (false, _) => "not allowed",
            (true, true) => "idle",
            (true, false) => "busy",
        };
        sheet.row(vec![
            c.cpu.to_string(),
            c.roles.join(" "),
            c.running.to_string(),
            state.to_owned(),
            c.capacity.to_string(),
            c.util_with_task.to_string(),
            c.spare.to_string(),
            c.fits.to_owned(),
            c.energy_added.map_or(String::new(), |energy| energy.to_string()),
            c.runnable_avg.to_string(),
            number(c.energy.map(|e| e.busy)),
            number(c.energy.and_then(|e| e.busy_with_task)),
            number(c.energy.map(|e| e.asks)),
            number(c.energy.map(|e| e.asks_with_task)),
        ]);
    }
    sheet
}
