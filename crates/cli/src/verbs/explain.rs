// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton explain`: one frequency decision with every term filled in.

use super::common::{Screen, failure, input, policy_spec, print, print_json, section};
use crate::args::{ExplainArgs, Format, Global, InputArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::explain::GroupChanged;
use pelton_lab::explain::frequency::Explanation;
use pelton_lab::explain::terms::Request;
use pelton_lab::time::seconds;
use pelton_lab::verbs::inputs::InputRequest;
use pelton_lab::verbs::{self, explain::ExplainRequest, explain::Explained};
use pelton_schema::GateVerdict;
use std::fmt::Write as _;

/// Runs the verb.
pub fn explain(args: &ExplainArgs, global: &Global) -> Result<Exit, Failure> {
    if args.diff.is_some() || args.diff_seed.is_some() {
        return super::explain_diff::explain(args, global);
    }
    if let Some(folder) = &args.recorded {
        return super::explain_recorded::explain(folder, args, global);
    }
    let request = request(args)?;
    let watch = Screen::new(global);
    if args.placement.is_some() {
        return super::explain_placement::explain(&request, global);
    }
    if args.balance || args.walk {
        return super::explain_balance::explain(&request, args.walk, global);
    }
    if args.thermal {
        return super::explain_thermal::explain(&request, global);
    }
    let explained = verbs::explain::explain(&request, &watch).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&explained)?,
        Format::Csv => print(&request_sheet(&explained.explanation).csv())?,
        Format::Table | Format::Markdown | Format::Toml => print(&text(&explained))?,
    }
    Ok(Exit::Good)
}

/// Inputs of a run.
pub(super) fn inputs(args: &ExplainArgs) -> InputRequest {
    // Without a recording neither is missing.
    let [platform, workload] = [&args.platform, &args.workload].map(|text| text.clone().unwrap_or_default());
    input(&InputArgs { platform, workload, options: args.options.clone() })
}

fn request(args: &ExplainArgs) -> Result<ExplainRequest, Failure> {
    Ok(ExplainRequest {
        input: inputs(args),
        policy: policy_spec(&args.policy)?,
        seed: args.seed,
        random_phase: !args.same_phase,
        at_ns: args.at,
        domain: args.domain,
        cpu: args.cpu,
        changed: args.changed,
        held: args.held,
        task: args.placement.clone().unwrap_or_default(),
    })
}

fn text(Explained { run, groups_changed, explanation, count }: &Explained) -> String {
    let (number, name) = &explanation.domain;
    let (time, board) = (seconds(explanation.time_ns), &run.about.platform);
    let mut out = format!("{time} s, frequency domain {number} ({name}), {board}\n");
    let _ = writeln!(out, "{} (number {count} of the kind asked for)\n", outcome(explanation));
    out + &chain(explanation) + &written(groups_changed)
}

/// Outcome of a decision in words.
pub(super) fn outcome(explanation: &Explanation) -> String {
    let decision = &explanation.decision;
    match (decision.verdict(), decision.changed) {
        (GateVerdict::Open, true) => format!("{} -> {} kHz", decision.prev_khz, explanation.request_khz),
        (GateVerdict::Open, false) => format!("{} kHz stays", decision.prev_khz),
        _ if decision.was_held() => format!("held, {} kHz stays", decision.prev_khz),
        (GateVerdict::Dropped, _) => format!("dropped by the hook filter, {} kHz stays", decision.prev_khz),
        _ => format!("refused, {} kHz stays", decision.prev_khz),
    }
}

/// Steps of a decision, and the requests of the CPUs.
pub(super) fn chain(explanation: &Explanation) -> String {
    let mut steps = Sheet::new(&["<step", "<what happened", "<rule", "<kernel"]);
    for step in &explanation.steps {
        steps.row(vec![
            step.name.to_owned(),
            step.text.clone(),
            step.rule.section.to_owned(),
            step.rule.function.to_owned(),
        ]);
    }
    section("", &steps) + &asked(explanation)
}

/// Values written into files of groups before; empty when nothing was written.
pub(super) fn written(changes: &[GroupChanged]) -> String {
    let mut sheet = Sheet::new(&["<group", "<file", "<before", "<now", "since_s"]);
    for c in changes {
        sheet.row(vec![c.group.clone(), c.file.to_owned(), c.before.clone(), c.now.clone(), seconds(c.time_ns)]);
    }
    if changes.is_empty() { String::new() } else { section("written into files of task groups", &sheet) }
}

/// Requests of the CPUs, and their time where it was not this call's.
fn asked(explanation: &Explanation) -> String {
    let Some(time_ns) = explanation.requests_ns else {
        return "\nno CPU was asked: nothing was evaluated before\n".to_owned();
    };
    let when = match time_ns == explanation.time_ns {
        true => "what each CPU asks for".to_owned(),
        false => format!("what each CPU asked for at {} s, at the last evaluation", seconds(time_ns)),
    };
    section(&format!("{when} (0..1024)"), &request_sheet(explanation).without_empty_columns().with_dashes(2).merged())
}

pub(super) fn request_sheet(explanation: &Explanation) -> Sheet {
    let header = [
        "CPU",
        "<",
        "fair",
        "RT",
        "DL",
        "IRQ",
        "sum",
        "iowait",
        "min",
        "max",
        "asks",
        "<by",
        "util",
        "est",
        "runnable",
        "<fair_by",
        "uclamp_min",
        "uclamp_max",
    ];
    let mut sheet = Sheet::new(&header);
    let number = |n: u32| n.to_string();
    for r in &explanation.requests {
        let terms = r.terms.map(|t| [t.cfs, t.rt, t.dl, t.irq, t.effective, t.iowait, t.min, t.max].map(number));
        let fair = r.fair.as_ref().map(|f| [f.util_avg, f.util_est, f.runnable_avg].map(number));
        let mut row = vec![r.cpu.to_string(), mark(r).to_owned()];
        row.extend(terms.unwrap_or_default());
        row.push(r.terms.map_or(String::new(), |t| if t.forced_max { "maximum".to_owned() } else { number(t.perf) }));
        row.push(r.decided_by.unwrap_or_default().to_owned());
        row.extend(fair.unwrap_or_default());
        row.push(fair_by(r).to_owned());
        row.extend(r.clamps.map_or([String::new(), String::new()], |(min, max)| [number(min), number(max)]));
        sheet.row(row);
    }
    sheet
}

/// Name of the candidate that is the fair term; empty where the term is 0.
fn fair_by(r: &Request) -> &'static str {
    let has_term = r.terms.is_some_and(|terms| terms.cfs > 0);
    r.fair.as_ref().filter(|_| has_term).map_or("", |fair| fair.by)
}

fn mark(r: &Request) -> &'static str {
    match (r.wins, r.stale, r.recorded) {
        (true, ..) => "largest",
        (_, true, _) => "stale",
        (_, _, false) => "not asked",
        _ => "",
    }
}
