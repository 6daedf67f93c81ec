// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate`: comparison of the core's results with those that the kernel recorded.

use super::common::{Screen, failure, print, print_as_json, section};
use super::{clamps, decisions, distinguish, placements};
use crate::args::{Format, Global, ValidateArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::results::validated::SelfTest;
use pelton_lab::verbs::inputs::ValidateRequest;
use pelton_lab::verbs::validate::{Answer, Validation, validate};
use pelton_replay::validate::tolerance::{
    AVERAGES, FREQUENCY_EXTRA_PERMILLE_MAX, FREQUENCY_HIT_PERMILLE_MIN, FREQUENCY_WINDOW_NS,
};
use pelton_replay::validate::{Altered, Divergence, Report, SingleCalls, Verdict, page};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// One trace after the other; the exit code is that of the worst.
pub fn validate_traces(args: &ValidateArgs, global: &Global) -> Result<Exit, Failure> {
    let mut worst = Verdict::Holds;
    let mut results = Vec::new();
    for path in &args.traces {
        let answer = validate(&request(args, path), &Screen::new(global)).map_err(failure)?;
        worst = worst.max(answer.verdict());
        match global.format {
            Format::Table | Format::Markdown | Format::Toml => print(&text(&answer))?,
            Format::Csv => print(&csv(path, &answer)?)?,
            Format::Json => results.push(value(&answer)?),
        }
    }
    if global.format == Format::Json {
        // One trace is one object; several are a list.
        let value = if results.len() == 1 { results.remove(0) } else { Value::Array(results) };
        print_as_json(&value)?;
    }
    Ok(match worst {
        Verdict::Holds => Exit::Good,
        Verdict::Open | Verdict::Nothing => Exit::Open,
        Verdict::Differs => Exit::ClaimFails,
    })
}

fn request(args: &ValidateArgs, trace: &Path) -> ValidateRequest {
    ValidateRequest {
        trace: trace.to_owned(),
        profile: args.profile.clone(),
        platform: args.platform.clone(),
        with: args.with.clone(),
        input_format: args.input_format.map(|format| format.name().to_owned()),
        self_test: args.self_test,
        distinguish_ns: args.distinguish,
    }
}

fn value(answer: &Answer) -> Result<Value, Failure> {
    answer.value().map_err(|e| Failure::new(Exit::Bug, e, None))
}

fn csv(path: &Path, answer: &Answer) -> Result<String, Failure> {
    let value = value(answer)?;
    Ok(match answer {
        Answer::Placements(_) | Answer::PlacementFaults(_) => placements::csv(path, &value),
        Answer::Clamps(_) | Answer::ClampFaults(_) => clamps::csv(path, &value),
        Answer::Decisions(decided) => decisions::counts(&decided.result).csv(),
        Answer::DecisionFaults(faults) => decisions::faults(&faults.result).csv(),
        Answer::Trace(_) | Answer::Faults(_) => value_csv(path, &value),
    })
}

/// The verdict comes first.
fn text(answer: &Answer) -> String {
    format!("{}: {}", answer.verdict().word(), body(answer))
}

fn body(answer: &Answer) -> String {
    match answer {
        Answer::Trace(trace) => {
            let told = trace.told.as_ref().map(|told| distinguish::text(told, &trace.result.profile));
            Facts(trace).text() + &told.unwrap_or_default()
        }
        Answer::Faults(faults) => self_test_text(&faults.result),
        Answer::Placements(placed) => placements::text(placed),
        Answer::PlacementFaults(faults) => placements::faults_text(&faults.result),
        Answer::Clamps(clamped) => clamps::text(clamped),
        Answer::ClampFaults(faults) => clamps::faults_text(&faults.result),
        Answer::Decisions(decided) => decisions::text(&decided.result),
        Answer::DecisionFaults(faults) => decisions::faults_text(&faults.result),
    }
}

/// The trace with one fault put into it at a time.
fn self_test_text(result: &SelfTest) -> String {
    let mut sheet = Sheet::new(&["<fault", "<found", "divergent"]);
    for r in &result.faults {
        let found = match (r.possible, r.found) {
            (false, _) => "not possible in this trace",
            (true, true) => "yes",
            (true, false) => "NO",
        };
        sheet.row(vec![r.fault.to_owned(), found.to_owned(), r.divergent.to_string()]);
    }
    let calls = single_calls(&result.single_calls);
    let faults = format!("{}: faults put in on purpose\n{}{calls}", result.trace, sheet.text(None));
    faults + &single_records(&result.altered_records)
}

/// Table of records that were altered one at a time, and how many were noticed.
fn single_records(altered: &[Altered]) -> String {
    let mut sheet = Sheet::new(&["<single records altered", "asked", "noticed", "next one", "not decided", "let pass"]);
    for r in altered {
        let counts = [r.altered, r.noticed, r.noticed_at_next, r.not_decided, r.let_pass].map(|n| n.to_string());
        sheet.row(std::iter::once(r.size.to_owned()).chain(counts).collect());
    }
    sheet.text(None)
}

/// Number of calls that were taken out one at a time, and of those that were noticed.
fn single_calls(r: &SingleCalls) -> String {
    if r.taken_out == 0 {
        return "single calls: the trace has none\n".to_owned();
    }
    format!(
        "single calls: {} taken out one at a time, {} noticed at the next record of the object, {} had changed nothing, {} \
         explained by a class\n",
        r.taken_out, r.noticed, r.changed_nothing, r.explained
    )
}

/// A trace that was held against the core, as text.
struct Facts<'a>(&'a Validation);

impl Facts<'_> {
    fn text(&self) -> String {
        let Validation { report, result, .. } = self.0;
        let mut out = format!("{}: profile {}, {} events\n", result.trace, result.profile, report.events);
        let mut sheet = Sheet::new(&["<signal", "checked", "exact", "by class", "not decided", "divergent"]);
        let mut classes = Sheet::new(&["<signal", "<class", "records", "errors let pass"]);
        for (name, tally) in &report.signals {
            let undecided = report.undecided(tally);
            let by_class = tally.classes.values().sum::<u64>() - undecided;
            let counts = [tally.checked, tally.exact, by_class, undecided, tally.divergent].map(|n| n.to_string());
            sheet.row(std::iter::once((*name).to_owned()).chain(counts).collect());
            for (class, count) in &tally.classes {
                let passed = report.challenges.get(class).map_or(String::new(), |c| {
                    format!(
                        "{}.{} %{}",
                        c.permille() / 10,
                        c.permille() % 10,
                        if c.decides() { "" } else { " not decided" }
                    )
                });
                classes.row(vec![(*name).to_owned(), (*class).to_owned(), count.to_string(), passed]);
            }
        }
        out += &section("", &sheet);
        out += &comparisons(report);
        out += &prediction(report);
        out += &section("Classes: equal in every integer under this assumption", &classes);
        for (what, why) in &report.not_measured {
            let _ = writeln!(out, "not measured: {what}: {why}");
        }
        for remark in &result.remarks {
            let _ = writeln!(out, "note: {remark}");
        }
        if let Some(first) = &report.first {
            out += &self.first(first);
        }
        let _ = writeln!(out, "{}: {}", result.verdict, result.summary);
        out
    }

    fn first(&self, first: &Divergence) -> String {
        let task = if first.tid == 0 {
            String::new()
        } else {
            format!(", task {} ({})", self.0.info.task_name(first.tid), first.tid)
        };
        let mut out = format!(
            "\nFirst divergence: event {} at {}.{:09} s, CPU {}{task}: {} ({})\n",
            first.event,
            first.time_ns / 1_000_000_000,
            first.time_ns % 1_000_000_000,
            first.cpu,
            first.signal,
            first.what
        );
        let before: BTreeMap<&str, u64> = first.before.iter().copied().collect();
        let mut sheet = Sheet::new(&["<field", "before", "kernel", "ours", "difference"]);
        for field in &first.fields {
            let was = before.get(field.name).map_or(String::new(), u64::to_string);
            let difference = i128::from(field.ours) - i128::from(field.kernel);
            let difference = if difference == 0 { String::new() } else { format!("{difference:+}") };
            sheet.row(vec![field.name.to_owned(), was, field.kernel.to_string(), field.ours.to_string(), difference]);
        }
        out += &sheet.text(None);
        let _ = writeln!(out, "rule: {}\n", page(first.signal));
        out
    }
}

/// Signals rebuilt from the schedule beside the recorded averages.
fn comparisons(report: &Report) -> String {
    let mut sheet = Sheet::new(&["<average", "n", "mean", "p99", "max", "<verdict"]);
    for c in &report.comparisons {
        let mean = format!("{}.{:02}", c.mean_milli / 1000, c.mean_milli % 1000 / 10);
        let verdict = if c.ok { "inside" } else { "OUTSIDE" };
        sheet.row(vec![
            c.what.clone(),
            c.n.to_string(),
            mean,
            c.p99.to_string(),
            c.max.to_string(),
            verdict.to_owned(),
        ]);
    }
    let title = format!(
        "Averages against signals rebuilt from the schedule, of 1024; allowed are {} % in the mean and {} % at most",
        AVERAGES.mean_permille / 10,
        AVERAGES.max_permille / 10
    );
    section(&title, &sheet)
}

/// Frequency changes predicted from signals.
fn prediction(report: &Report) -> String {
    let Some((score, from)) = &report.prediction else { return String::new() };
    let mean_us = score.off_ns.checked_div(score.exact).unwrap_or(0) as f64 / 1000.0;
    format!(
        "\nFrequency changes predicted from {from}: {}\n recorded {}, predicted {}; same frequency within {} ms {}, one step off {}; \
         apart by {mean_us:.1} us in the mean, {:.1} us at most\n hit {:.1} % (at least {}), too many {:.1} % (at most {})\n",
        if score.ok() { "inside" } else { "OUTSIDE" },
        score.recorded,
        score.predicted,
        FREQUENCY_WINDOW_NS / 1_000_000,
        score.exact,
        score.one_step,
        score.off_ns_max as f64 / 1000.0,
        score.hit_permille() as f64 / 10.0,
        FREQUENCY_HIT_PERMILLE_MIN / 10,
        score.extra_permille() as f64 / 10.0,
        FREQUENCY_EXTRA_PERMILLE_MAX / 10,
    )
}

/// The table of signals (or of faults) as CSV.
fn value_csv(path: &Path, value: &Value) -> String {
    let mut sheet = Sheet::new(&["<trace", "<signal", "checked", "exact", "unchanged", "divergent", "<not_measured"]);
    let number = |v: &Value, key: &str| v[key].as_u64().unwrap_or(0).to_string();
    for (name, t) in value["signals"].as_object().into_iter().flatten() {
        let cells = ["checked", "exact", "unchanged", "divergent"].map(|key| number(t, key));
        let head = [path.display().to_string(), name.clone()];
        sheet.row(head.into_iter().chain(cells).chain([String::new()]).collect());
    }
    // What was not checked has a line too: nothing is no pass.
    for (what, why) in value["not_measured"].as_object().into_iter().flatten() {
        let empty = std::iter::repeat_n(String::new(), 4);
        let why = why.as_str().unwrap_or("").to_owned();
        sheet.row([path.display().to_string(), what.clone()].into_iter().chain(empty).chain([why]).collect());
    }
    sheet.csv()
}
