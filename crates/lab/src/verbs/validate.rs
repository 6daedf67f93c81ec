// SPDX-License-Identifier: GPL-2.0-or-later
//! Validation: comparison of the core's results with those that the kernel recorded.

use super::clamps::{self, Clamped, ClampedFaults};
use super::decisions::{self, Decided, DecidedFaults};
use super::inputs::{ValidateRequest, input_format};
use super::placements::{self, Placed, PlacedFaults, named};
use super::{carried, distinguish};
use crate::plan;
use crate::results::described;
use crate::results::validated::{Class, First, Prediction, SelfTest, Signal, Validated};
use crate::run::LabError;
use crate::watch::{Amount, Watch, is_stopped};
use pelton_core::{Policy, profiles};
use pelton_model::Machine;
use pelton_replay::validate::{
    Challenge, Distinction, Divergence, Merged, Open, Options, Report, Tally, Verdict, alter_test, drop_test, page,
    read_twice, self_test,
};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_trace::RunHeader;
use pelton_trace::import::{ImportError, OpenOptions, Source, TraceInfo, open};
use std::path::{Path, PathBuf};

/// A trace held against the core.
#[derive(Debug)]
pub struct Validation {
    /// Findings.
    pub report: Report,
    /// About the file.
    pub info: TraceInfo,
    /// Switches that the recording can distinguish, when they were requested.
    pub told: Option<Distinction>,
    /// All of it as a result.
    pub result: Validated,
    /// The verdict.
    pub verdict: Verdict,
}

/// A trace with faults put into it.
#[derive(Debug)]
pub struct Faults {
    /// Faults that were noticed.
    pub result: SelfTest,
    /// Verdict: passes if every fault that can be put into this trace was noticed.
    pub verdict: Verdict,
}

/// Result of a request.
#[derive(Debug)]
pub enum Answer {
    /// Of a trace.
    Trace(Box<Validation>),
    /// Of a trace with faults.
    Faults(Faults),
    /// Of a table of placements.
    Placements(Box<Placed>),
    /// Of such a table with wrong worlds.
    PlacementFaults(PlacedFaults),
    /// Of a table of clamps.
    Clamps(Clamped),
    /// Of such a table with wrong rules.
    ClampFaults(ClampedFaults),
    /// Of a recording of `pelton live`.
    Decisions(Decided),
    /// Of such a recording with wrong rules.
    DecisionFaults(DecidedFaults),
}

impl Answer {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Answer::Trace(trace) => trace.verdict,
            Answer::Faults(faults) => faults.verdict,
            Answer::Placements(placed) => placed.verdict,
            Answer::PlacementFaults(faults) => faults.verdict,
            Answer::Clamps(clamped) => clamped.verdict,
            Answer::ClampFaults(faults) => faults.verdict,
            Answer::Decisions(decided) => decided.verdict,
            Answer::DecisionFaults(faults) => faults.verdict,
        }
    }

    /// The result as JSON, with what it is in front.
    ///
    /// # Errors
    /// None that is known: results are numbers, texts and lists.
    pub fn value(&self) -> serde_json::Result<serde_json::Value> {
        match self {
            Answer::Trace(trace) => serde_json::to_value(described(&trace.result)),
            Answer::Faults(faults) => serde_json::to_value(described(&faults.result)),
            Answer::Placements(placed) => serde_json::to_value(described(&placed.result)),
            Answer::PlacementFaults(faults) => serde_json::to_value(described(&faults.result)),
            Answer::Clamps(clamped) => serde_json::to_value(described(&clamped.result)),
            Answer::ClampFaults(faults) => serde_json::to_value(described(&faults.result)),
            Answer::Decisions(decided) => serde_json::to_value(described(&decided.result)),
            Answer::DecisionFaults(faults) => serde_json::to_value(described(&faults.result)),
        }
    }
}

/// Validates a trace, a table of placements or clamps, or a folder of decisions of `pelton live`.
///
/// # Errors
/// When it cannot be read, the request contradicts itself, or the work was stopped.
pub fn validate(request: &ValidateRequest, watch: &dyn Watch) -> Result<Answer, LabError> {
    if decisions::is_recording(&request.trace) {
        return Ok(if request.self_test {
            Answer::DecisionFaults(decisions::self_test(request, watch)?)
        } else {
            Answer::Decisions(decisions::validated(request, watch)?)
        });
    }
    if placements::is_table(&request.trace) {
        return Ok(if request.self_test {
            Answer::PlacementFaults(placements::self_test(request, watch)?)
        } else {
            Answer::Placements(Box::new(placements::validated(request, watch)?))
        });
    }
    if clamps::is_table(&request.trace) {
        return Ok(if request.self_test {
            Answer::ClampFaults(clamps::self_test(request, watch)?)
        } else {
            Answer::Clamps(clamps::validated(request, watch)?)
        });
    }
    let format = request.input_format.as_deref().map(input_format).transpose()?;
    let stop = Some(watch.stop());
    let again = || open_all(&request.trace, &request.with, OpenOptions { format, stop });
    let mut source = again()?;
    let (profile, remark) = profile(request, source.info());
    let policy = policy(&profile, source.info())?;
    let machine = match &request.platform {
        Some(name) => Some(machine(name, &profile)?),
        None => machine_of_run(source.info(), &profile)?,
    };
    let options = Options { policy, machine };
    if request.self_test {
        return Ok(Answer::Faults(checked_self_test(&request.trace, &profile, &again, &options)?));
    }
    let report = watched(&mut *source, &again, &options, watch)?;
    let told = |time_ns| distinguish::told(&again, &options, &report, time_ns, watch);
    let told = request.distinguish_ns.map(told).transpose()?;
    let info = source.info().clone();
    let mut result = result(request, &profile, remark, &info, &report);
    result.distinguishes = told.as_ref().map(distinguish::result);
    let verdict = report.verdict();
    Ok(Answer::Trace(Box::new(Validation { report, info, told, result, verdict })))
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

/// The profile asked for, or the one of the recording; and why.
fn profile(request: &ValidateRequest, info: &TraceInfo) -> (String, Option<String>) {
    match &request.profile {
        Some(profile) => (profile.clone(), None),
        None => {
            let (profile, why) = profile_of(info);
            (profile, Some(why))
        }
    }
}

/// The profile that a run of ours had, or that of the kernel the trace names, or the newest; and why.
pub(super) fn profile_of(info: &TraceInfo) -> (String, String) {
    let is_own = |header: &&RunHeader| header.is_simulated() && Policy::profile(&header.profile).is_ok();
    if let Some(header) = info.header.as_ref().filter(is_own) {
        let beside = header.policy.starts_with(crate::kernel::PREFIX);
        let beside = if beside { " beside a kernel's own code, which decided" } else { "" };
        return (header.profile.clone(), format!("profile {} because the run had it{beside}", header.profile));
    }
    info.kernel.as_deref().and_then(|release| named(release, "trace")).unwrap_or_else(|| {
        let newest = profiles().last().copied().unwrap_or("7.2").to_owned();
        (newest, "the trace does not name its kernel; give --profile when it is another".to_owned())
    })
}

/// The switches that a run of ours says it had beside its profile.
pub(super) fn sets_of(profile: &str, info: &TraceInfo) -> Vec<String> {
    let of_run = info.header.as_ref().filter(|h| h.is_simulated() && h.profile == profile);
    let words = of_run.map_or("", |h| h.policy.as_str()).split([',', ' ', '\n']);
    words.filter(|word| word.contains('=')).map(str::to_owned).collect()
}

/// The profile, with the switches that a run of ours says it had.
fn policy(profile: &str, info: &TraceInfo) -> Result<Policy, LabError> {
    let none: [pelton_scenario::SourceFile; 0] = [];
    match pelton_scenario::policy::choose_from(Some(profile), &none, &sets_of(profile, info)) {
        Ok(chosen) => Ok(chosen.policy),
        // A header may hold anything: that is no reason to stop.
        Err(_) => Policy::profile(profile).map_err(LabError::input),
    }
}

/// The machine of a run of ours, which its log describes; `None` for other traces.
fn machine_of_run(info: &TraceInfo, profile: &str) -> Result<Option<Machine>, LabError> {
    let Some(platform) = info.header.as_ref().and_then(carried::of_run) else { return Ok(None) };
    Ok(Some(plan::machine(&platform.inputs(), profile)?.machine))
}

/// A platform by name or file, as this kernel sees it.
fn machine(name: &str, profile: &str) -> Result<Machine, LabError> {
    Ok(platform::load(name)?.machine(&PlatformOptions::new(profile))?)
}

/// Reads the whole trace.
fn watched(
    source: &mut dyn Source,
    again: &Open<'_>,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Report, LabError> {
    watch.begins("validate", Amount::Time(0));
    let mut stopped = false;
    // A trace's clock began when its machine did.
    let mut first_ns = None;
    let report = read_twice(source, again, options, &mut |time_ns| {
        let since_ns = time_ns.saturating_sub(*first_ns.get_or_insert(time_ns));
        watch.at(&format!("{} s of the trace", since_ns / 1_000_000_000));
        stopped = is_stopped(watch);
        !stopped
    });
    watch.ends();
    if stopped {
        return Err(LabError::Stopped("interrupted: no result".to_owned()));
    }
    Ok(report?)
}

/// The trace with one fault put into it at a time: each must be found.
fn checked_self_test(path: &Path, profile: &str, again: &Open<'_>, options: &Options) -> Result<Faults, LabError> {
    let results = self_test(again, options)?;
    let single_calls = drop_test(&mut *again()?, options)?;
    let verdict = match results.iter().filter(|r| r.possible).all(|r| r.found) {
        false => Verdict::Differs,
        true if results.iter().any(|r| r.possible) => Verdict::Holds,
        // Nothing was put in, so nothing was let pass.
        true => Verdict::Open,
    };
    let result = SelfTest {
        trace: path.display().to_string(),
        profile: profile.to_owned(),
        faults: results,
        single_calls,
        altered_records: alter_test(&mut *again()?, options)?.into_values().collect(),
    };
    Ok(Faults { result, verdict })
}

fn remarks(remark: Option<String>, info: &TraceInfo, report: &Report) -> Vec<String> {
    let mut remarks: Vec<String> = remark.into_iter().chain(report.remarks.iter().cloned()).collect();
    if report.holes > 0 {
        remarks.push(format!(
            "{} switches do not continue the one before: events are missing there; {} objects were learned again, {} \
                 differences in such stretches are not counted",
            report.holes, report.resynchronised, report.in_holes
        ));
    }
    if info.lost > 0 || info.lost_unknown > 0 {
        remarks.push(format!(
            "the recorder lost {} events{}: nothing is claimed about them",
            info.lost,
            if info.lost_unknown > 0 { " and more of unknown number" } else { "" }
        ));
    }
    let earlier: u64 = report.signals.values().map(|tally| tally.earlier).sum();
    if earlier > 0 {
        remarks.push(format!(
            "{earlier} looks show a state older than the one recorded before them: made without the lock, they prove \
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
    if info.damaged > 0 {
        remarks.push(format!("{} places of the file could not be read", info.damaged));
    }
    remarks
}

/// The result without what `distinguish` adds.
fn result(
    request: &ValidateRequest,
    profile: &str,
    remark: Option<String>,
    info: &TraceInfo,
    report: &Report,
) -> Validated {
    Validated {
        verdict: report.verdict().word(),
        summary: report.summary(),
        trace: request.trace.display().to_string(),
        profile: profile.to_owned(),
        platform: request.platform.clone(),
        with: request.with.iter().map(|path| path.display().to_string()).collect(),
        updates: report.updates,
        divergent: report.divergent,
        left_open: report.left_open(),
        first: report.first.as_ref().map(|first| first_result(first, info)),
        divergences: report.samples.clone(),
        signals: report.signals.iter().map(|(name, tally)| (*name, signal(report, name, tally))).collect(),
        classes: report.challenges.iter().map(|(name, c)| (*name, class(c))).collect(),
        damaged: report.damaged,
        comparisons: report.comparisons.clone(),
        frequency_from_signals: prediction_result(report),
        not_measured: report.not_measured.iter().map(|(what, why)| (what.clone(), why.to_string())).collect(),
        holes: report.holes,
        differences_in_holes: report.in_holes,
        lost: info.lost,
        complete: info.is_complete() && report.holes == 0,
        remarks: remarks(remark, info, report),
        events: report.events,
        distinguishes: None,
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

/// Test of a class: the number of changed states, and of those that it explained all the same.
fn class(c: &Challenge) -> Class {
    Class { changed_states: c.asked, explained_all_the_same: c.explained, decides: c.decides() }
}

fn first_result(first: &Divergence, info: &TraceInfo) -> First {
    First {
        place: first.clone(),
        tid: first.tid,
        task: info.task_name(first.tid),
        before: first.before.iter().copied().collect(),
        fields: first.fields.clone(),
        rule: page(first.signal),
    }
}
