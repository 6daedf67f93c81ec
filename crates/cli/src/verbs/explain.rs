// SPDX-License-Identifier: GPL-2.0-only
//! `pelton explain`: one frequency decision with every term filled in.

use super::common::{Screen, failure, input, policy_spec, print, print_json, section};
use crate::args::{ExplainArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use crate::units::seconds;
use pelton_lab::explain_groups::GroupChanged;
use pelton_lab::explanation::Explanation;
use pelton_lab::verbs::{self, explain::ExplainRequest, explain::Explained};
use pelton_schema::GateVerdict;
use std::fmt::Write as _;

/// Does what was asked.
pub fn explain(args: &ExplainArgs, global: &Global) -> Result<Exit, Failure> {
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

fn request(args: &ExplainArgs) -> Result<ExplainRequest, Failure> {
    Ok(ExplainRequest {
        input: input(&args.input),
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
    let decision = &explanation.decision;
    let mut out =
        format!("{} s, frequency domain {number} ({name}), {}\n", seconds(explanation.time_ns), run.about.platform);
    let outcome = match (decision.verdict(), decision.changed) {
        (GateVerdict::Open, true) => format!("{} -> {} kHz", decision.prev_khz, explanation.request_khz),
        (GateVerdict::Open, false) => format!("{} kHz stays", decision.prev_khz),
        _ if decision.was_held() => format!("held, {} kHz stays", decision.prev_khz),
        (GateVerdict::Dropped, _) => format!("dropped by the hook filter, {} kHz stays", decision.prev_khz),
        _ => format!("refused, {} kHz stays", decision.prev_khz),
    };
    let _ = writeln!(out, "{outcome} (number {count} of the kind asked for)\n");
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
    out + &written(groups_changed)
}

/// What was written into files of groups before; empty when nothing was written.
pub(super) fn written(changes: &[GroupChanged]) -> String {
    let mut sheet = Sheet::new(&["<group", "<file", "<before", "<now", "since_s"]);
    for c in changes {
        sheet.row(vec![c.group.clone(), c.file.to_owned(), c.before.clone(), c.now.clone(), seconds(c.time_ns)]);
    }
    if changes.is_empty() { String::new() } else { section("written into files of task groups", &sheet) }
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
