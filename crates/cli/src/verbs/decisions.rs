// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate` of decisions of the core as a scheduler: what the running kernel computed beside the core here.

use super::common::section;
use crate::sheet::Sheet;
use pelton_lab::results::again::{DecisionFaults, Decisions};
use pelton_replay::decisions::Tally;
use std::fmt::Write as _;

/// Counts by kind, and of all.
pub fn counts(result: &Decisions) -> Sheet {
    let mut sheet = Sheet::new(&["<kind", "decisions", "not decided", "divergent"]);
    let mut row = |name: &str, tally: &Tally| {
        let counts = [tally.decisions, tally.not_decided, tally.divergent].map(|n| n.to_string());
        sheet.row(std::iter::once(name.to_owned()).chain(counts).collect());
    };
    result.decisions.by_kind.iter().for_each(|(kind, tally)| row(kind, tally));
    row("all", &result.decisions.all);
    sheet
}

/// The table for people.
pub fn text(result: &Decisions) -> String {
    let Decisions { trace, release, profile, programs, lost, .. } = result;
    let Tally { decisions, not_decided, divergent } = result.decisions.all;
    let loaded = if *programs > 1 { format!(", loaded {programs} times") } else { String::new() };
    let mut out = format!("{trace}: {decisions} decisions in Linux {release}, profile {profile}{loaded}\n");
    out += &section("", &counts(result));
    out += &differences(result);
    let _ = writeln!(out, "{} decisions taken again, {divergent} divergent", decisions - not_decided);
    if not_decided > 0 {
        let _ = writeln!(out, "{not_decided} not decided: another CPU wrote meanwhile what they read");
    }
    if let Some(lost @ 1..) = lost {
        let _ = writeln!(out, "{lost} more are not here: they had no room in the recorder's buffer");
    }
    if decisions == not_decided {
        out += "not a pass: nothing in this recording could be decided\n";
    }
    out
}

/// The first differences.
fn differences(result: &Decisions) -> String {
    let mut sheet = Sheet::new(&["<table", "line", "time, s", "CPU", "<kind", "<column", "recorded", "ours"]);
    for sample in &result.differences {
        for part in &sample.what {
            sheet.row(vec![
                sample.table.to_owned(),
                sample.line.to_string(),
                format!("{:.6}", sample.time_ns as f64 / 1e9),
                sample.cpu.to_string(),
                sample.kind.to_owned(),
                part.what.clone(),
                part.recorded.to_string(),
                part.ours.to_string(),
            ]);
        }
    }
    if sheet.is_empty() { String::new() } else { section("First differences", &sheet) }
}

/// Wrong rules, and whether each was noticed.
pub fn faults(result: &DecisionFaults) -> Sheet {
    let mut sheet = Sheet::new(&["<fault", "<found", "divergent"]);
    for fault in &result.faults {
        let word = if fault.found { "yes" } else { "not met in this recording" };
        sheet.row(vec![fault.fault.to_owned(), word.to_owned(), fault.divergent.to_string()]);
    }
    sheet
}

/// The table for people of wrong rules.
pub fn faults_text(result: &DecisionFaults) -> String {
    format!("{}: faults put in on purpose\n{}", result.trace, faults(result).text(None))
}
