// SPDX-License-Identifier: GPL-2.0-only
//! `pelton explain`: one frequency decision with every term filled in.

use super::common::{inputs, policy_spec, prepare, print, print_json, section, watched};
use crate::args::{ExplainArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use crate::units::{human_ns, seconds};
use pelton_lab::explain::{ExplainSink, Moment, Wanted};
use pelton_lab::explanation::{Context, Explanation, explain as chain};
use pelton_lab::request;
use pelton_lab::run::run_one;
use pelton_lab::summary::{self, RunHeader};
use pelton_model::Plan;
use pelton_schema::GateVerdict;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Does what was asked.
pub fn explain(args: &ExplainArgs, global: &Global) -> Result<Exit, Failure> {
    let inputs = inputs(&args.input, args.seed, args.random_phase);
    let prepared = prepare(&inputs, &policy_spec(&args.policy), global)?;
    let run = summary::header(&prepared, prepared.plan.config.duration_ns);
    let mut plan = prepared.plan;
    if let Some(at) = args.at {
        // What happens at the last nanosecond of a run is part of it; 0 would mean the workload's own length.
        plan.config.duration_ns = plan.config.duration_ns.min(at.max(1));
    }
    if let Some(task) = &args.placement {
        return super::explain_placement::explain(task, args, run, &plan, global);
    }
    if args.balance || args.walk {
        domain(args, &plan)?;
        return super::explain_balance::explain(args, run, &plan, global);
    }
    let wanted = Wanted { domain: domain(args, &plan)?, changed: args.changed, held: args.held };
    let (moment, decisions) = find(args, global, &plan, wanted)?;
    let Some(moment) = moment else {
        return Err(nothing(&plan));
    };
    let times = request::gate_times(&plan, moment.decision.domain);
    let requests = request::requests(&plan, &moment);
    let explanation = chain(&moment, Context { plan: &plan, times, requests });
    match global.format {
        Format::Json => print_json(&Explained { run, explanation })?,
        Format::Csv => print(&request_sheet(&explanation).csv())?,
        Format::Table | Format::Toml => print(&text(&explanation, &plan, decisions))?,
    }
    Ok(Exit::Good)
}

/// A decision with the run it belongs to.
#[derive(Serialize, JsonSchema)]
pub struct Explained {
    run: RunHeader,
    #[serde(flatten)]
    explanation: Explanation,
}

/// The domain asked for, directly or through a CPU.
fn domain(args: &ExplainArgs, plan: &Plan) -> Result<Option<u32>, Failure> {
    let (cpus, domains) = (plan.machine.cpus.len(), plan.machine.domains.len());
    if let Some(cpu) = args.cpu {
        let found = plan.machine.cpus.get(cpu as usize);
        let found = found.ok_or_else(|| {
            Failure::input(format!("there is no CPU {cpu}; this platform has CPUs 0 to {}", cpus - 1))
        })?;
        return Ok(Some(found.domain));
    }
    match args.domain {
        Some(d) if d as usize >= domains => Err(Failure::input(format!(
            "there is no frequency domain {d}; this platform has domains 0 to {}",
            domains - 1
        ))),
        other => Ok(other),
    }
}

fn find(args: &ExplainArgs, global: &Global, plan: &Plan, wanted: Wanted) -> Result<(Option<Moment>, u64), Failure> {
    let mut sink = ExplainSink::new(wanted, plan.machine.cpus.len(), plan.machine.domains.len());
    watched(global, plan.config.duration_ns, "run", |control| run_one(plan, args.seed, &mut sink, control))?;
    Ok(sink.finish())
}

fn nothing(plan: &Plan) -> Failure {
    let reason = format!("no frequency decision of that kind in the first {}", human_ns(plan.config.duration_ns));
    let help = "the governor is called when tasks run; choose a later --at, or leave out --changed or --held";
    Failure::new(Exit::BadInput, reason, Some(help))
}

fn text(explanation: &Explanation, plan: &Plan, decisions: u64) -> String {
    let (number, name) = &explanation.domain;
    let decision = &explanation.decision;
    let mut out =
        format!("{} s, frequency domain {number} ({name}), {}\n", seconds(explanation.time_ns), plan.machine.name);
    let outcome = match (decision.verdict(), decision.changed) {
        (GateVerdict::Open, true) => format!("{} -> {} kHz", decision.prev_khz, explanation.request_khz),
        (GateVerdict::Open, false) => format!("{} kHz stays", decision.prev_khz),
        _ if decision.was_held() => format!("held, {} kHz stays", decision.prev_khz),
        (GateVerdict::Dropped, _) => format!("dropped by the hook filter, {} kHz stays", decision.prev_khz),
        _ => format!("refused, {} kHz stays", decision.prev_khz),
    };
    let _ = writeln!(out, "{outcome} (number {decisions} of those that fit)\n");
    let mut steps = Sheet::new(&["<step", "<what happened", "<rule", "<kernel"]);
    for step in &explanation.steps {
        steps.row(vec![
            step.name.to_owned(),
            step.text.clone(),
            step.rule.section.to_owned(),
            step.rule.function.to_owned(),
        ]);
    }
    out += &section("", &steps);
    out += &section("what each CPU asks for (0..1024)", &request_sheet(explanation).merged());
    if explanation.requests.iter().any(|r| !r.recorded) {
        out += "\nOther rows than `largest` are worked out again from published signals,\nwithout iowait boost.\n";
    }
    out
}

fn request_sheet(explanation: &Explanation) -> Sheet {
    let header = ["CPU", "<", "fair", "RT", "DL", "IRQ", "sum", "iowait", "min", "max", "asks", "util", "est"];
    let mut sheet = Sheet::new(&header);
    for r in &explanation.requests {
        let t = &r.terms;
        let mark = match (r.wins, r.stale) {
            (true, _) => "largest",
            (false, true) => "stale",
            (false, false) => "",
        };
        let numbers = [
            t.cfs,
            t.rt,
            t.dl,
            t.irq,
            t.effective,
            t.iowait,
            t.min,
            t.max,
            t.perf,
            r.signals.util_cfs,
            r.signals.util_est,
        ];
        let cells = [r.cpu.to_string(), mark.to_owned()].into_iter().chain(numbers.map(|n| n.to_string()));
        sheet.row(cells.collect());
    }
    sheet
}
