// SPDX-License-Identifier: GPL-2.0-only
//! `pelton explain --placement`: one placement of a fair task with every CPU it could have gone to.

use super::common::{print, print_json, section, watched};
use crate::args::{ExplainArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use crate::units::{human_ns, seconds};
use pelton_lab::explain_placement::{Explanation, PlacementSink, explain as told};
use pelton_lab::run::run_one;
use pelton_lab::summary::RunHeader;
use pelton_model::Plan;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Does what was asked; `task` empty: any task.
pub fn explain(task: &str, args: &ExplainArgs, run: RunHeader, plan: &Plan, global: &Global) -> Result<Exit, Failure> {
    let mut sink = PlacementSink::of(tid(task, plan)?);
    watched(global, plan.config.duration_ns, "run", |control| run_one(plan, args.seed, &mut sink, control))?;
    let (kept, count) = sink.finish();
    let Some(kept) = kept else {
        return Err(nothing(plan));
    };
    let name = |tid: u32| {
        let task = plan.workload.tasks.get(tid as usize - 1);
        task.map_or_else(|| format!("task {tid}"), |task| task.name.clone())
    };
    let explanation = told(&kept, &plan.policy, name);
    match global.format {
        Format::Json => print_json(&ExplainedPlacement { run, explanation })?,
        Format::Csv => print(&sheet(&explanation).csv())?,
        Format::Table | Format::Toml => print(&text(&explanation, plan, count))?,
    }
    Ok(Exit::Good)
}

/// A placement with the run it belongs to.
#[derive(Serialize, JsonSchema)]
pub struct ExplainedPlacement {
    run: RunHeader,
    #[serde(flatten)]
    explanation: Explanation,
}

/// The number of a task with this name.
fn tid(task: &str, plan: &Plan) -> Result<Option<u32>, Failure> {
    if task.is_empty() {
        return Ok(None);
    }
    let names = || plan.workload.tasks.iter().map(|t| t.name.as_str());
    match names().position(|name| name == task) {
        Some(at) => Ok(Some(at as u32 + 1)),
        None => {
            let known = names().take(8).collect::<Vec<_>>().join(", ");
            let reason = format!("the workload has no task `{task}`");
            Err(Failure::new(Exit::BadInput, reason, Some(&format!("its tasks: {known}"))))
        }
    }
}

fn nothing(plan: &Plan) -> Failure {
    let reason = format!("no placement of that kind in the first {}", human_ns(plan.config.duration_ns));
    let help = "a task is placed when it starts or wakes, and may use more than one CPU; the core decides from 5.10 on, by \
                energy from 5.4 on, on machines of at most 64 CPUs";
    Failure::new(Exit::BadInput, reason, Some(help))
}

fn text(e: &Explanation, plan: &Plan, count: u64) -> String {
    let mut out = format!("{} s, {} of `{}`, {}\n", seconds(e.time_ns), e.event, e.task, plan.machine.name);
    let _ = writeln!(out, "CPU {} -> {}: {} (number {count} of those that fit)", e.prev_cpu, e.chosen_cpu, e.rule);
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
    out += &section("each CPU as a place for it", &sheet(e));
    if e.candidates.iter().any(|c| c.energy_added.is_some()) {
        out += "energy is in the kernel's unit; asked are the previous CPU and the one with most room of each domain\n";
    }
    out
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
