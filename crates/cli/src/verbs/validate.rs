// SPDX-License-Identifier: GPL-2.0-only
//! `pelton validate`: does the core compute what the kernel recorded?

use super::carried;
use super::common::{bad_input, print, print_as_json, section, unreadable, value};
use super::distinguish::{self, told};
use super::placements;
use crate::args::{Format, Global, ValidateArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::results::traces::{
    Altered, Average, Class, Divergent, Fault, Field, First, Prediction, SelfTest, Signal, SingleCalls, Validated,
};
use crate::sheet::Sheet;
use pelton_core::{Policy, profiles};
use pelton_lab::plan;
use pelton_model::Machine;
use pelton_replay::validate::tolerance::{
    AVERAGES, FREQUENCY_EXTRA_PERMILLE_MAX, FREQUENCY_HIT_PERMILLE_MIN, FREQUENCY_WINDOW_NS,
};
use pelton_replay::validate::{
    AlterResult, Challenge, Comparison, Divergence, DropResult, FaultResult, Merged, OPEN_PERMILLE_MAX, Open, Options,
    Report, Size, Tally, Verdict, alter_test, drop_test, page, read_twice, self_test,
};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_trace::import::{ImportError, OpenOptions, Source, TraceInfo, open};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// One trace after the other; the exit code is that of the worst.
pub fn validate_traces(args: &ValidateArgs, global: &Global) -> Result<Exit, Failure> {
    let mut worst = Verdict::Holds;
    let mut results = Vec::new();
    for path in &args.traces {
        let placed = placements::is_table(path);
        let (text, value, verdict) =
            if placed { placements::validated(path, args, global)? } else { validated(path, args, global)? };
        worst = worst.max(verdict);
        match global.format {
            Format::Table | Format::Toml => print(&text)?,
            Format::Csv if placed => print(&placements::csv(path, &value))?,
            Format::Csv => print(&value_csv(path, &value))?,
            Format::Json => results.push(value),
        }
    }
    if global.format == Format::Json {
        // One trace is one object; several are a list.
        let value = if results.len() == 1 { results.remove(0) } else { Value::Array(results) };
        print_as_json(&value)?;
    }
    Ok(match worst {
        Verdict::Holds => Exit::Good,
        Verdict::Open => Exit::Open,
        Verdict::Differs => Exit::ClaimFails,
    })
}

/// One trace: text, JSON, verdict.
fn validated(path: &Path, args: &ValidateArgs, global: &Global) -> Result<placements::Told, Failure> {
    let again = || open_all(path, &args.with, OpenOptions { format: args.input_format, stop: Some(interrupt::flag()) });
    let mut source = again().map_err(unreadable)?;
    let (profile, remark) = profile(args, source.info());
    let policy = policy(&profile, source.info())?;
    let machine = match &args.platform {
        Some(name) => Some(machine(name, &profile)?),
        None => machine_of_run(source.info(), &profile)?,
    };
    let options = Options { policy, machine };
    if args.self_test {
        return checked_self_test(path, &profile, &again, &options);
    }
    let report = watched(&mut *source, &again, &options, global)?;
    let told = args.distinguish.map(|time_ns| told(&again, &options, &report, time_ns, global)).transpose()?;
    let facts = Facts { path, profile: &profile, remark, info: source.info() };
    let (mut text, mut result) = (facts.text(&report), facts.result(&report, args));
    if let Some(told) = &told {
        text += &distinguish::text(told, &profile);
        result.distinguishes = Some(distinguish::result(told));
    }
    Ok((text, value(&result)?, report.verdict()))
}

/// A trace, or several files of one recording.
fn open_all(path: &Path, others: &[PathBuf], options: OpenOptions) -> Result<Box<dyn Source>, ImportError> {
    let paths = std::iter::once(path).chain(others.iter().map(PathBuf::as_path));
    let mut sources = paths.map(|path| open(path, &options)).collect::<Result<Vec<_>, _>>()?;
    if sources.len() == 1 {
        return Ok(sources.remove(0));
    }
    Ok(Box::new(Merged::new(sources).expect("there is a file")))
}

/// The profile asked for, or the one of the kernel the trace names, or the newest; and why.
fn profile(args: &ValidateArgs, info: &TraceInfo) -> (String, Option<String>) {
    if let Some(profile) = &args.profile {
        return (profile.clone(), None);
    }
    let known = profiles();
    let newest = known.last().copied().unwrap_or("7.2");
    let release = info.remarks.iter().find_map(|remark| release(remark));
    let Some((major, minor)) = release else {
        let remark = "the trace does not name its kernel; give --profile when it is another".to_owned();
        return (newest.to_owned(), Some(remark));
    };
    let version = |name: &str| name.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let below = |name: &&&str| version(name).is_some_and(|v: (u32, u32)| v <= (major, minor));
    let chosen = known.iter().rev().find(below).copied().unwrap_or(known[0]);
    (chosen.to_owned(), Some(format!("profile {chosen} because the trace names kernel {major}.{minor}")))
}

/// The version in a remark that speaks of a kernel.
fn release(remark: &str) -> Option<(u32, u32)> {
    let words = remark.to_ascii_lowercase();
    if !words.contains("kernel") && !words.contains("linux") {
        return None;
    }
    words.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
        let mut parts = word.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

/// The profile, with the switches that a run of ours says it had.
fn policy(profile: &str, info: &TraceInfo) -> Result<Policy, Failure> {
    let of_run = info.header.as_ref().filter(|h| h.is_simulated() && h.profile == profile);
    let sets: Vec<&str> = of_run.map_or("", |h| h.policy.as_str()).split([',', ' ', '\n']).collect();
    let sets: Vec<&str> = sets.into_iter().filter(|set| set.contains('=')).collect();
    let none: [pelton_scenario::SourceFile; 0] = [];
    match pelton_scenario::policy::choose_from(Some(profile), &none, &sets) {
        Ok(chosen) => Ok(chosen.policy),
        // A header that anybody may have written is no reason to stop.
        Err(_) => Policy::profile(profile).map_err(Failure::input),
    }
}

/// The machine of a run of ours, which its log describes; `None` for other traces.
fn machine_of_run(info: &TraceInfo, profile: &str) -> Result<Option<Machine>, Failure> {
    let Some(platform) = info.header.as_ref().and_then(carried::of_run) else { return Ok(None) };
    let built = plan::machine(&platform.inputs(), profile).map_err(|d| bad_input(&d));
    built.map(|built| Some(built.machine))
}

/// A platform by name or file, as this kernel sees it.
fn machine(name: &str, profile: &str) -> Result<Machine, Failure> {
    let file = platform::load(name).map_err(|d| bad_input(&d))?;
    file.machine(&PlatformOptions::new(profile)).map_err(|d| bad_input(&d))
}

/// Reads the whole trace with a progress note; Ctrl-C ends it without a result.
fn watched(source: &mut dyn Source, again: &Open<'_>, options: &Options, global: &Global) -> Result<Report, Failure> {
    let progress = Progress::new(0, global.quiet);
    let mut stopped = false;
    let report = read_twice(source, again, options, &mut |time_ns| {
        progress.note(&format!("{} s of the trace", time_ns / 1_000_000_000));
        stopped = interrupt::is_requested();
        !stopped
    });
    drop(progress);
    if stopped {
        return Err(interrupt::failure("interrupted: no result"));
    }
    report.map_err(unreadable)
}

/// The trace with one fault put into it at a time: each must be found.
fn checked_self_test(
    path: &Path,
    profile: &str,
    again: &dyn Fn() -> Result<Box<dyn Source>, ImportError>,
    options: &Options,
) -> Result<(String, Value, Verdict), Failure> {
    let results = self_test(again, options).map_err(unreadable)?;
    let mut sheet = Sheet::new(&["<fault", "<found", "divergent"]);
    for r in &results {
        let found = if !r.possible {
            "not possible in this trace"
        } else if r.found {
            "yes"
        } else {
            "NO"
        };
        sheet.row(vec![r.fault.to_owned(), found.to_owned(), r.divergent.to_string()]);
    }
    let single = drop_test(&mut *again().map_err(unreadable)?, options).map_err(unreadable)?;
    let holds = results.iter().all(|r| r.found || !r.possible) && results.iter().any(|r| r.possible);
    let text = format!("{}: faults put in on purpose\n{}{}", path.display(), sheet.text(None), single_calls(single));
    let altered = alter_test(&mut *again().map_err(unreadable)?, options).map_err(unreadable)?;
    let text = text + &single_records(&altered);
    let fault =
        |r: &FaultResult| Fault { fault: r.fault, possible: r.possible, found: r.found, divergent: r.divergent };
    let result = SelfTest {
        trace: path.display().to_string(),
        profile: profile.to_owned(),
        faults: results.iter().map(fault).collect(),
        single_calls: SingleCalls {
            taken_out: single.dropped,
            noticed: single.noticed,
            changed_nothing: single.changed_nothing,
            explained: single.explained,
        },
        altered_records: altered.iter().map(|(size, r)| altered_result(*size, r)).collect(),
    };
    Ok((text, value(&result)?, if holds { Verdict::Holds } else { Verdict::Differs }))
}

/// Whether a record that is altered by itself is noticed.
fn single_records(altered: &BTreeMap<Size, AlterResult>) -> String {
    let mut sheet = Sheet::new(&["<single records altered", "asked", "noticed", "next one", "not decided", "let pass"]);
    for (size, r) in altered {
        let counts = [r.altered, r.noticed, r.noticed_next, r.not_decided, r.let_pass()].map(|n| n.to_string());
        sheet.row(std::iter::once(size.name().to_owned()).chain(counts).collect());
    }
    sheet.text(None)
}

fn altered_result(size: Size, r: &AlterResult) -> Altered {
    Altered {
        size: size.name(),
        altered: r.altered,
        noticed: r.noticed,
        noticed_at_next: r.noticed_next,
        not_decided: r.not_decided,
        let_pass: r.let_pass(),
        exact: r.exact,
        classes: r.passed.clone(),
    }
}

/// Whether one missing call is noticed.
fn single_calls(r: DropResult) -> String {
    if r.dropped == 0 {
        return "single calls: the trace has none\n".to_owned();
    }
    format!(
        "single calls: {} taken out one at a time, {} noticed at the next record of the object, {} had changed nothing, {} \
         explained by a class\n",
        r.dropped, r.noticed, r.changed_nothing, r.explained
    )
}

struct Facts<'a> {
    path: &'a Path,
    profile: &'a str,
    remark: Option<String>,
    info: &'a TraceInfo,
}

impl Facts<'_> {
    fn remarks(&self, report: &Report) -> Vec<String> {
        let mut remarks: Vec<String> = self.remark.iter().cloned().chain(report.remarks.iter().cloned()).collect();
        if report.holes > 0 {
            remarks.push(format!(
                "{} switches do not continue the one before: events are missing there; {} objects were learned again, {} \
                 differences in such stretches are not counted",
                report.holes, report.resynchronised, report.in_holes
            ));
        }
        if self.info.lost > 0 || self.info.lost_unknown > 0 {
            remarks.push(format!(
                "the recorder lost {} events{}: nothing is claimed about them",
                self.info.lost,
                if self.info.lost_unknown > 0 { " and more of unknown number" } else { "" }
            ));
        }
        let earlier: u64 = report.signals.values().map(|tally| tally.earlier).sum();
        if earlier > 0 {
            remarks.push(format!(
                "{earlier} looks show a state older than the one recorded before them: nobody held the lock; they prove \
                 nothing and are not counted"
            ));
        }
        if let Some(first) = &report.first_damaged {
            remarks.push(format!(
                "{} records have numbers no kernel can have and were not used; the first is event {} at {} ns: {} is {}, at \
                 most {} is possible",
                report.damaged, first.event, first.time_ns, first.column, first.value, first.limit
            ));
        }
        if self.info.damaged > 0 {
            remarks.push(format!("{} places of the file could not be read", self.info.damaged));
        }
        remarks
    }

    fn text(&self, report: &Report) -> String {
        let mut out = format!("{}: profile {}, {} events\n", self.path.display(), self.profile, report.events);
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
        for remark in self.remarks(report) {
            let _ = writeln!(out, "note: {remark}");
        }
        match &report.first {
            Some(first) => out += &self.first(first),
            None if report.compared() == 0 => out += "nothing in this trace can be checked\n",
            None => {}
        }
        let _ = writeln!(out, "{} updates checked, {} divergent", report.updates, report.divergent);
        if report.is_open() {
            let percent = OPEN_PERMILLE_MAX / 10;
            let _ =
                writeln!(out, "not a pass: {} are left open, more than {percent} % of the checked", report.left_open());
        }
        out
    }

    fn first(&self, first: &Divergence) -> String {
        let task = if first.tid == 0 {
            String::new()
        } else {
            format!(", task {} ({})", self.info.task_name(first.tid), first.tid)
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

    fn result(&self, report: &Report, args: &ValidateArgs) -> Validated {
        Validated {
            trace: self.path.display().to_string(),
            profile: self.profile.to_owned(),
            platform: args.platform.clone(),
            with: args.with.iter().map(|path| path.display().to_string()).collect(),
            updates: report.updates,
            divergent: report.divergent,
            left_open: report.left_open(),
            verdict: report.verdict().word(),
            first: report.first.as_ref().map(|first| first_result(first, self.info)),
            divergences: report.samples.iter().map(divergent).collect(),
            signals: report.signals.iter().map(|(name, tally)| (*name, signal(report, name, tally))).collect(),
            classes: report.challenges.iter().map(|(name, c)| (*name, class(c))).collect(),
            damaged: report.damaged,
            comparisons: report.comparisons.iter().map(average).collect(),
            frequency_from_signals: prediction_result(report),
            not_measured: report.not_measured.clone(),
            holes: report.holes,
            differences_in_holes: report.in_holes,
            lost: self.info.lost,
            complete: self.info.is_complete() && report.holes == 0,
            remarks: self.remarks(report),
            events: report.events,
            distinguishes: None,
        }
    }
}

fn signal(report: &Report, name: &str, t: &Tally) -> Signal {
    Signal {
        checked: t.checked,
        exact: t.exact,
        unchanged: t.unchanged,
        earlier: t.earlier,
        classes: t.classes.clone(),
        not_decided: report.undecided(t),
        divergent: t.divergent,
        rule: page(name),
    }
}

fn divergent(d: &Divergence) -> Divergent {
    let Divergence { event, time_ns, cpu, signal, what, object, .. } = *d;
    Divergent { event, time_ns, cpu, signal, what, object }
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

fn prediction_result(report: &Report) -> Option<Prediction> {
    let (s, from) = report.prediction.as_ref()?;
    Some(Prediction {
        from,
        recorded: s.recorded,
        predicted: s.predicted,
        exact: s.exact,
        one_step_off: s.one_step,
        apart_ns_mean: s.off_ns.checked_div(s.exact),
        apart_ns_max: s.off_ns_max,
        inside: s.ok(),
    })
}

fn average(c: &Comparison) -> Average {
    let (what, mean) = (c.what.clone(), c.mean_milli as f64 / 1000.0);
    Average { what, n: c.n, mean, p99: c.p99, max: c.max, inside: c.ok }
}

/// What a class would have let pass.
fn class(c: &Challenge) -> Class {
    Class { changed_states: c.asked, explained_all_the_same: c.explained, decides: c.decides() }
}

fn first_result(first: &Divergence, info: &TraceInfo) -> First {
    First {
        place: divergent(first),
        tid: first.tid,
        task: info.task_name(first.tid),
        before: first.before.iter().copied().collect(),
        fields: first.fields.iter().map(|f| Field { field: f.name, kernel: f.kernel, ours: f.ours }).collect(),
        rule: page(first.signal),
    }
}

/// The table of signals (or of faults) as CSV.
fn value_csv(path: &Path, value: &Value) -> String {
    let mut sheet = Sheet::new(&["<trace", "<signal", "checked", "exact", "unchanged", "divergent"]);
    let number = |v: &Value, key: &str| v[key].as_u64().unwrap_or(0).to_string();
    for (name, t) in value["signals"].as_object().into_iter().flatten() {
        let cells = ["checked", "exact", "unchanged", "divergent"].map(|key| number(t, key));
        let head = [path.display().to_string(), name.clone()];
        sheet.row(head.into_iter().chain(cells).collect());
    }
    sheet.csv()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_release_is_found_in_a_remark() {
        assert_eq!(release("kernel 6.18.44 x86_64"), Some((6, 18)));
        assert_eq!(release("Linux version 7.2.12-arm64"), Some((7, 2)));
        assert_eq!(release("tracer: nop"), None);
    }
}
