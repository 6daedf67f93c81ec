// SPDX-License-Identifier: GPL-2.0-only
//! `pelton explain --placement`: one placement of a fair task with every CPU it could have gone to.

use super::common::{Screen, failure, print, print_json, section};
use crate::args::{Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use crate::units::seconds;
use pelton_lab::explain_placement::Explanation;
use pelton_lab::verbs::explain::{ExplainRequest, ExplainedPlacement, placement};
use std::fmt::Write as _;

/// Does what was asked.
pub fn explain(request: &ExplainRequest, global: &Global) -> Result<Exit, Failure> {
    let explained = placement(request, &Screen::new(global)).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&explained)?,
        Format::Csv => print(&sheet(&explained.explanation).csv())?,
        Format::Table | Format::Toml => print(&text(&explained))?,
    }
    Ok(Exit::Good)
}

fn text(ExplainedPlacement { run, groups_changed, explanation: e, count }: &ExplainedPlacement) -> String {
    let mut out = format!("{} s, {} of `{}`, {}\n", seconds(e.time_ns), e.event, e.task, run.about.platform);
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
    out += &section(&format!("domains around CPU {}, as they are walked", e.this_cpu), &domains(e));
    out += &section("each CPU as a place for it", &sheet(e));
    if e.others > 0 {
        let _ = writeln!(out, "{} CPUs of other caches are left out: {}", e.others, left_out(e));
    }
    if e.candidates.iter().any(|c| c.energy_added.is_some()) {
        out += "energy is in the kernel's unit; asked are the previous CPU and the one with most room of each domain\n";
    }
    out + &super::explain::written(groups_changed)
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

fn sheet(e: &Explanation) -> Sheet {
    let header = ["CPU", "<", "tasks", "<state", "capacity", "util_with_task", "spare", "<fits", "energy_added"];
    let mut sheet = Sheet::new(&header);
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
        ]);
    }
    sheet
}
