// SPDX-License-Identifier: GPL-2.0-only
//! `pelton validate` of recorded placements: where did the kernel put each task, and would the core put it there?

use super::common::{section, value};
use crate::args::{Global, ValidateArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::results::traces::{
    PlacementCounts, PlacementDifference, PlacementFault, PlacementFaults, PlacementPart, PlacementTally, Placements,
};
use crate::sheet::Sheet;
use pelton_core::Policy;
use pelton_replay::placements::{self, Difference, Fault, Report, Tally};
use pelton_replay::validate::Verdict;
use pelton_trace::import::{ImportError, open_bytes};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::BufRead;
use std::path::Path;

/// The kernel whose placements the shipped recordings hold.
const NEWEST: &str = "7.2";

/// What came of one table: text, JSON, verdict.
pub type Told = (String, Value, Verdict);

/// Is this file a table of placements? What cannot be read is not, and is reported by who reads it next.
pub fn is_table(path: &Path) -> bool {
    if path.as_os_str() == "-" {
        return false;
    }
    let Ok(mut bytes) = open_bytes(path) else { return false };
    bytes.fill_buf().is_ok_and(placements::is_header)
}

/// Decides the placements of a table again.
pub fn validated(path: &Path, args: &ValidateArgs, global: &Global) -> Result<Told, Failure> {
    let unused = [
        ("--platform", args.platform.is_some()),
        ("--with", !args.with.is_empty()),
        ("--distinguish", args.distinguish.is_some()),
    ];
    if let Some((option, _)) = unused.iter().find(|(_, given)| *given) {
        let reason = format!("{option} means nothing to a table of placements ({})", path.display());
        return Err(Failure::new(Exit::Usage, reason, Some("its machine is in the .topo.json beside it")));
    }
    let profile = args.profile.as_deref().unwrap_or(NEWEST);
    let policy = Policy::profile(profile).map_err(Failure::input)?;
    if args.self_test {
        return self_test(path, profile, &policy, global);
    }
    let report = decide(path, &policy, None, global)?;
    let remark =
        args.profile.is_none().then_some("the table does not name its kernel; give --profile when it is another");
    Ok((text(path, profile, remark, &report), result(path, profile, remark, &report)?, verdict(&report)))
}

fn decide(path: &Path, policy: &Policy, fault: Option<Fault>, global: &Global) -> Result<Report, Failure> {
    let progress = Progress::new(0, global.quiet);
    let mut stopped = false;
    let report = placements::validate(path, policy, fault, &mut |line| {
        progress.note(&format!("line {line}"));
        stopped = interrupt::is_requested();
        !stopped
    });
    drop(progress);
    if stopped {
        return Err(interrupt::failure("interrupted: no result"));
    }
    report.map_err(|error: ImportError| Failure::input(error))
}

fn verdict(report: &Report) -> Verdict {
    match report.all {
        Tally { quiet_divergent: 1.., .. } => Verdict::Differs,
        Tally { quiet: 0, .. } => Verdict::Open,
        _ => Verdict::Holds,
    }
}

fn cells(name: &str, tally: &Tally) -> Vec<String> {
    let counts = [tally.decisions, tally.quiet, tally.quiet_divergent, tally.divergent];
    std::iter::once(name.to_owned()).chain(counts.map(|n| n.to_string())).collect()
}

fn text(path: &Path, profile: &str, remark: Option<&str>, report: &Report) -> String {
    let mut out = format!("{}: profile {profile}, {} placements\n", path.display(), report.all.decisions);
    let mut sheet = Sheet::new(&["<rule that decides", "decisions", "quiet", "quiet divergent", "divergent"]);
    for (rule, tally) in &report.by_rule {
        sheet.row(cells(rule, tally));
    }
    sheet.row(cells("all", &report.all));
    out += &section("", &sheet);
    out += &samples(report);
    out +=
        "quiet: nothing that was recorded changed while the kernel decided; elsewhere it may have read either state\n";
    if let Some(remark) = remark {
        let _ = writeln!(out, "note: {remark}");
    }
    let _ = writeln!(
        out,
        "{} energies compared, {} differ; {} quiet placements, {} divergent",
        report.energies, report.energies_differ, report.all.quiet, report.all.quiet_divergent
    );
    if report.all.quiet == 0 {
        out += "not a pass: no placement in this table was quiet\n";
    }
    out
}

/// The first quiet differences.
fn samples(report: &Report) -> String {
    let mut sheet = Sheet::new(&["line", "time, s", "task", "<rule here", "<what", "kernel", "ours"]);
    for sample in report.samples.iter().filter(|sample| sample.quiet) {
        for (what, kernel, ours) in &sample.what {
            sheet.row(vec![
                sample.line.to_string(),
                format!("{:.6}", sample.time_ns as f64 / 1e9),
                sample.tid.to_string(),
                sample.how.to_owned(),
                (*what).to_owned(),
                kernel.to_string(),
                ours.to_string(),
            ]);
        }
    }
    if sheet.is_empty() { String::new() } else { section("First quiet differences", &sheet) }
}

fn counted(tally: &Tally) -> PlacementTally {
    let Tally { decisions, quiet, quiet_divergent, divergent, .. } = *tally;
    PlacementTally { decisions, quiet, quiet_divergent, divergent }
}

fn result(path: &Path, profile: &str, remark: Option<&str>, report: &Report) -> Result<Value, Failure> {
    let placements = PlacementCounts {
        all: counted(&report.all),
        by_rule: report.by_rule.iter().map(|(rule, tally)| (*rule, counted(tally))).collect(),
        energies: report.energies,
        energies_differ: report.energies_differ,
    };
    value(&Placements {
        trace: path.display().to_string(),
        profile: profile.to_owned(),
        placements,
        verdict: verdict(report).word(),
        differences: report.samples.iter().map(difference).collect(),
        remarks: remark.into_iter().map(str::to_owned).collect(),
    })
}

fn difference(sample: &Difference) -> PlacementDifference {
    let part = |&(what, kernel, ours): &(&'static str, u64, u64)| PlacementPart { what, kernel, ours };
    PlacementDifference {
        line: sample.line,
        time_ns: sample.time_ns,
        tid: sample.tid,
        quiet: sample.quiet,
        rule: sample.how,
        what: sample.what.iter().map(part).collect(),
    }
}

/// Each wrong world in turn: what of it is noticed?
fn self_test(path: &Path, profile: &str, policy: &Policy, global: &Global) -> Result<Told, Failure> {
    let mut sheet = Sheet::new(&["<fault", "<found", "quiet divergent"]);
    let (mut rows, mut found) = (Vec::new(), 0);
    let sound = decide(path, policy, None, global)?.all.quiet_divergent;
    for fault in Fault::ALL {
        let divergent = decide(path, policy, Some(fault), global)?.all.quiet_divergent;
        let noticed = divergent > sound;
        found += u32::from(noticed);
        let word = if noticed { "yes" } else { "not met in this table" };
        sheet.row(vec![fault.words().to_owned(), word.to_owned(), divergent.to_string()]);
        rows.push(PlacementFault { fault: fault.words(), found: noticed, quiet_divergent: divergent });
    }
    let text = format!("{}: faults put in on purpose\n{}", path.display(), sheet.text(None));
    let verdict = if found == 0 { Verdict::Open } else { Verdict::Holds };
    let (trace, profile) = (path.display().to_string(), profile.to_owned());
    Ok((text, value(&PlacementFaults { trace, profile, faults: rows, found })?, verdict))
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
    let mut sheet = Sheet::new(&["<trace", "<rule", "decisions", "quiet", "quiet_divergent", "divergent"]);
    let counts = &value["placements"];
    let all = [("all".to_owned(), counts)];
    let by_rule = counts["by_rule"].as_object().into_iter().flatten().map(|(rule, tally)| (rule.clone(), tally));
    for (rule, tally) in by_rule.chain(all) {
        let cells = ["decisions", "quiet", "quiet_divergent", "divergent"].map(|key| number(tally, key));
        sheet.row([name.clone(), rule].into_iter().chain(cells).collect());
    }
    sheet.csv()
}
