// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate` of recorded placements: comparison of the kernel's choice of CPUs with the core's.

use super::common::section;
use crate::sheet::Sheet;
use pelton_lab::results::again::PlacementFaults;
use pelton_lab::verbs::placements::Placed;
use pelton_replay::placements::{Difference, Met, Of, Report, Tally};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

fn cells(name: &str, tally: &Tally) -> Vec<String> {
    let counts = [tally.decisions, tally.quiet, tally.quiet_divergent, tally.divergent].map(|n| n.to_string());
    let between = tally.between.map_or_else(|| "-".to_owned(), |between| between.to_string());
    std::iter::once(name.to_owned()).chain(counts).chain([between]).collect()
}

/// The table for people.
pub fn text(placed: &Placed) -> String {
    let result = &placed.result;
    let report = &result.placements;
    let mut out = format!("{}: profile {}, {} {}\n", result.trace, result.profile, report.all.decisions, result.of);
    let mut sheet =
        Sheet::new(&["<rule that decides", "decisions", "quiet", "quiet divergent", "divergent", "between"]);
    for (rule, tally) in &report.by_rule {
        sheet.row(cells(rule, tally));
    }
    sheet.row(cells("all", &report.all));
    out += &section("", &sheet);
    out += &samples(&result.differences);
    out +=
        "quiet: nothing that was recorded changed while the kernel decided; elsewhere it may have read either state\n";
    if report.all.between > Some(0) {
        out += "between: of the divergent ones, those that come out with some CPUs as they were afterwards\n";
    }
    for remark in &result.remarks {
        let _ = writeln!(out, "note: {remark}");
    }
    let _ = writeln!(
        out,
        "{} energies compared, {} differ; {} quiet {}, {} divergent",
        report.energies, report.energies_differ, report.all.quiet, result.of, report.all.quiet_divergent
    );
    if report.of == Of::Placements {
        out += &utils(report);
        out += &met(report.met);
    }
    if report.all.quiet == 0 {
        let _ = writeln!(out, "not a pass: of the {} in this table none was quiet", result.of);
    }
    out
}

/// Utilizations, where the table has them.
fn utils(report: &Report) -> String {
    let Report { utils, utils_differ, utils_all, utils_all_differ, utils_all_moved, .. } = report;
    let Report { effective_utils, effective_utils_differ, .. } = report;
    if *utils_all == 0 {
        return String::new();
    }
    format!(
        "{utils} utilizations of CPUs compared, {utils_differ} differ; {effective_utils} of what CPUs ask for, \
         {effective_utils_differ} differ\n\
         with those of decisions that were not quiet {utils_all}: {utils_all_differ} differ, {utils_all_moved} of them \
         of a CPU or task whose signals were others afterwards\n"
    )
}

/// Counts of placements, by the inputs that they could read.
fn met(met: Met) -> String {
    let Met { idle_states, pressure, interrupts, sched_idle, groups, nodes } = met;
    format!(
        "{idle_states} placements with an idle state that takes time to leave, {pressure} with a limited frequency, \
         {interrupts} with time in interrupts,\n\
         {sched_idle} of a task of SCHED_IDLE, {groups} of one in a group (quiet ones), {nodes} with domains that span \
         nodes\n"
    )
}

/// The first quiet differences.
fn samples(differences: &[Difference]) -> String {
    let mut sheet = Sheet::new(&["line", "time, s", "task", "<rule here", "<what", "kernel", "ours"]);
    for sample in differences.iter().filter(|sample| sample.quiet) {
        for part in &sample.what {
            sheet.row(vec![
                sample.line.to_string(),
                format!("{:.6}", sample.time_ns as f64 / 1e9),
                sample.tid.to_string(),
                sample.rule.to_owned(),
                part.what.to_owned(),
                part.kernel.to_string(),
                part.ours.to_string(),
            ]);
        }
    }
    if sheet.is_empty() { String::new() } else { section("First quiet differences", &sheet) }
}

/// Table of wrong worlds, and whether each was noticed.
pub fn faults_text(result: &PlacementFaults) -> String {
    let mut sheet = Sheet::new(&["<fault", "<found", "quiet divergent"]);
    for fault in &result.faults {
        let word = if fault.found { "yes" } else { "not met in this table" };
        sheet.row(vec![fault.fault.to_owned(), word.to_owned(), fault.quiet_divergent.to_string()]);
    }
    format!("{}: faults put in on purpose\n{}", result.trace, sheet.text(None))
}

/// The counts of a table, or its faults, as CSV.
pub fn csv(path: &Path, value: &Value) -> String {
    let number = |of: &Value, key: &str| of[key].as_u64().map_or(String::new(), |n| n.to_string());
    let name = path.display().to_string();
    if let Some(faults) = value["faults"].as_array() {
        let mut sheet = Sheet::new(&["<trace", "<fault", "<found", "quiet_divergent"]);
        for fault in faults {
            let words = fault["fault"].as_str().unwrap_or_default().to_owned();
            sheet.row(vec![name.clone(), words, fault["found"].to_string(), number(fault, "quiet_divergent")]);
        }
        return sheet.csv();
    }
    let mut sheet = Sheet::new(&["<trace", "<rule", "decisions", "quiet", "quiet_divergent", "divergent", "between"]);
    let counts = &value["placements"];
    let all = [("all".to_owned(), counts)];
    let by_rule = counts["by_rule"].as_object().into_iter().flatten().map(|(rule, tally)| (rule.clone(), tally));
    for (rule, tally) in by_rule.chain(all) {
        let cells = ["decisions", "quiet", "quiet_divergent", "divergent", "between"].map(|key| number(tally, key));
        sheet.row([name.clone(), rule].into_iter().chain(cells).collect());
    }
    sheet.csv()
}
