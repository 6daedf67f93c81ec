// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate` of recorded clamps: comparison of the kernel's results with the core's.

use super::common::section;
use crate::sheet::Sheet;
use pelton_lab::results::again::ClampFaults;
use pelton_lab::verbs::clamps::Clamped;
use pelton_replay::clamps::{Difference, Tally};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

fn cells(name: &str, tally: &Tally) -> Vec<String> {
    let counts = [tally.decisions, tally.not_decided, tally.divergent];
    std::iter::once(name.to_owned()).chain(counts.map(|n| n.to_string())).collect()
}

/// The table for people.
pub fn text(clamped: &Clamped) -> String {
    let result = &clamped.result;
    let counts = &result.clamps;
    let mut out = format!("{}: profile {}, {} decisions\n", result.trace, result.profile, counts.all.decisions);
    let mut sheet = Sheet::new(&["<function", "decisions", "not decided", "divergent"]);
    for (kind, tally) in &counts.by_kind {
        sheet.row(cells(kind, tally));
    }
    sheet.row(cells("all", &counts.all));
    out += &section("", &sheet);
    out += &samples(&result.differences);
    for remark in &result.remarks {
        let _ = writeln!(out, "note: {remark}");
    }
    let Tally { decisions, not_decided, divergent } = counts.all;
    let _ = writeln!(out, "{} decisions about clamps decided, {divergent} divergent", decisions - not_decided);
    if decisions == not_decided {
        out += "not a pass: nothing in this table could be decided\n";
    }
    out
}

/// The first differences.
fn samples(differences: &[Difference]) -> String {
    let mut sheet = Sheet::new(&["line", "time, s", "CPU", "task", "<function", "<what", "kernel", "ours"]);
    for sample in differences {
        for part in &sample.what {
            sheet.row(vec![
                sample.line.to_string(),
                format!("{:.6}", sample.time_ns as f64 / 1e9),
                sample.cpu.to_string(),
                sample.tid.to_string(),
                sample.kind.to_owned(),
                part.what.to_owned(),
                part.kernel.to_string(),
                part.ours.to_string(),
            ]);
        }
    }
    if sheet.is_empty() { String::new() } else { section("First differences", &sheet) }
}

/// Table of wrong rules, and whether each was noticed.
pub fn faults_text(result: &ClampFaults) -> String {
    let mut sheet = Sheet::new(&["<fault", "<found", "divergent"]);
    for fault in &result.faults {
        let word = if fault.found { "yes" } else { "not met in this table" };
        sheet.row(vec![fault.fault.to_owned(), word.to_owned(), fault.divergent.to_string()]);
    }
    format!("{}: faults put in on purpose\n{}", result.trace, sheet.text(None))
}

/// The counts of a table, or its faults, as CSV.
pub fn csv(path: &Path, value: &Value) -> String {
    let number = |of: &Value, key: &str| of[key].as_u64().map_or(String::new(), |n| n.to_string());
    let name = path.display().to_string();
    if let Some(faults) = value["faults"].as_array() {
        let mut sheet = Sheet::new(&["<trace", "<fault", "<found", "divergent"]);
        for fault in faults {
            let words = fault["fault"].as_str().unwrap_or_default().to_owned();
            sheet.row(vec![name.clone(), words, fault["found"].to_string(), number(fault, "divergent")]);
        }
        return sheet.csv();
    }
    let mut sheet = Sheet::new(&["<trace", "<function", "decisions", "not_decided", "divergent"]);
    let counts = &value["clamps"];
    let all = [("all".to_owned(), counts)];
    let by_kind = counts["by_kind"].as_object().into_iter().flatten().map(|(kind, tally)| (kind.clone(), tally));
    for (kind, tally) in by_kind.chain(all) {
        let cells = ["decisions", "not_decided", "divergent"].map(|key| number(tally, key));
        sheet.row([name.clone(), kind].into_iter().chain(cells).collect());
    }
    sheet.csv()
}
