// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading a trace as a workload: what replaying it and making a workload of it share.

use super::carried;
use crate::number::number;
use crate::plan::{self, Inputs};
use crate::run::{Fault, LabError};
use crate::watch::{Amount, Watch, is_stopped};
use pelton_replay::workload::{self, GAP_NS_MAX, IdleStates, ReadError, ReadOptions, Recorded};
use pelton_scenario::diagnostic::short;
use pelton_scenario::platform::{self, Built};
use pelton_scenario::policy::DEFAULT_PROFILE;
use pelton_trace::import::{self, OpenOptions, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;

/// Part of a trace, and the machine it is replayed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartRequest {
    /// Platform to run on; none = the one the trace names.
    pub platform: Option<String>,
    /// Platform the trace was recorded on; none = the one it names, else that to run on.
    pub recorded_on: Option<String>,
    /// Every burst stays on the CPU it was recorded on.
    pub pin: bool,
    /// Idle states as the platform file has them, whatever the trace shows.
    pub idle_states_of_platform: bool,
    /// Only these tasks, by name or id; none = all.
    pub tasks: Vec<String>,
    /// Begin this long after the first event, ns.
    pub from_ns: Option<u64>,
    /// End this long after the first event, ns.
    pub to_ns: Option<u64>,
    /// Longest time without any event that is believed, ns.
    pub max_gap_ns: Option<u64>,
}

/// Gaps of a trace: facts that it does not record.
#[derive(Serialize, JsonSchema)]
pub struct Gaps {
    /// Switches that do not continue what came before.
    pub mismatched_switches: u64,
    /// Running time left out because of them.
    pub dropped_ms: f64,
    /// Sleeps without a recorded wake-up.
    pub unseen_wakeups: u64,
    /// Places where the recorder lost events.
    pub losses: u64,
    /// Running time at a frequency that is not recorded.
    pub assumed_speed_pct: f64,
    /// Places that could not be read.
    pub damaged_places: u64,
    /// Events the recorder says it lost.
    pub lost_events: u64,
}

/// A platform: by name or path, or as a recording describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// Name of the platform, or path of its file.
    pub name: String,
    /// Its description, where it is not a file.
    pub text: Option<String>,
}

impl Platform {
    /// One that the user named.
    pub fn named(name: &str) -> Platform {
        Platform { name: name.to_owned(), text: None }
    }

    /// Inputs of a plan for this platform.
    pub fn inputs(&self) -> Inputs {
        Inputs { platform: self.name.clone(), platform_text: self.text.clone(), ..Inputs::default() }
    }
}

/// A platform as it is. What of it depends on the kernel's version plays no part in reading a recording.
pub fn machine(platform: &Platform) -> Result<Built, LabError> {
    let inputs = platform.inputs();
    Ok(plan::machine(&inputs, DEFAULT_PROFILE)?)
}

/// A trace that was read, and the machine it is taken to be recorded on.
pub struct Read {
    /// Content of the trace.
    pub recorded: Recorded,
    /// Machine that the trace is taken to be recorded on.
    pub platform: Platform,
    /// Ticks per second of the recorded kernel, where the trace contains them.
    pub hz: Option<u32>,
    /// Behaviour of the platform's idle states; `None` where it was wanted and cannot be measured.
    pub idle_states: Option<IdleStates>,
    /// Evidence against that machine.
    pub misfits: Vec<String>,
}

/// Reads a trace: first how idle states behaved, then everything.
pub fn read(part: &PartRequest, path: &Path, settle_ns: u64, watch: &dyn Watch) -> Result<Read, LabError> {
    let mut source = open(path, watch)?;
    let header = source.info().header.clone();
    let named = header.as_ref().map_or("", |h| h.platform.as_str());
    // A name out of a file, which may hold anything, is no path to open.
    let known = platform::names().find(|name| *name == named);
    let told = [part.recorded_on.as_deref(), known].into_iter().flatten().next().map(Platform::named);
    let carried = || header.as_ref().and_then(carried::platform);
    let Some(platform) = told.or_else(carried).or(part.platform.as_deref().map(Platform::named)) else {
        let what = if named.is_empty() {
            "does not say which platform it was recorded on".to_owned()
        } else {
            format!("was recorded on `{}`, which is no built-in platform", short(named))
        };
        return Err(LabError::refused(
            Fault::Request,
            format!("{} {what}", path.display()),
            "give --recorded-on: a built-in platform or your file of that machine (`pelton platform list`)",
        ));
    };
    let mut machine = machine(&platform)?.machine;
    let options = ReadOptions {
        from_ns: part.from_ns.unwrap_or(0),
        to_ns: part.to_ns,
        settle_ns,
        gap_ns_max: part.max_gap_ns.unwrap_or(GAP_NS_MAX),
        ..ReadOptions::default()
    };
    // A run of ours has the platform's own figures.
    let is_ours = header.as_ref().is_some_and(|h| h.remarks.is_empty());
    let wanted = !part.idle_states_of_platform && !is_ours;
    let mut idle_states = (!wanted).then(IdleStates::default);
    if wanted && path.is_file() {
        let mut again = open(path, watch)?;
        let measure =
            |watch: workload::Watch<'_>| workload::read_idle_states(again.as_mut(), &machine, &options, watch);
        let measured = watched(path, "idle states", watch, measure)?;
        measured.apply(&mut machine);
        idle_states = Some(measured);
    }
    let read = |watch: workload::Watch<'_>| workload::read(source.as_mut(), Some(&machine), &options, watch);
    let recorded = watched(path, "read", watch, read)?;
    let misfits = workload::misfits(&recorded.totals, &machine);
    let hz = header.iter().flat_map(|h| &h.remarks).find_map(|r| r.strip_prefix("HZ: ")?.parse().ok());
    Ok(Read { recorded, platform, hz, idle_states, misfits })
}

fn open(path: &Path, watch: &dyn Watch) -> Result<Box<dyn Source>, LabError> {
    Ok(import::open(path, &OpenOptions { stop: Some(watch.stop()), ..OpenOptions::default() })?)
}

/// Shows how far reading is, and stops when asked to.
fn watched<T>(
    path: &Path,
    what: &str,
    watch: &dyn Watch,
    read: impl FnOnce(workload::Watch<'_>) -> Result<T, ReadError>,
) -> Result<T, LabError> {
    watch.begins(what, Amount::Time(0));
    let mut seen_ns = 0;
    let mut follow = |now_ns: u64| {
        watch.advance(now_ns - seen_ns);
        seen_ns = now_ns;
        if is_stopped(watch) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = read(&mut follow);
    watch.ends();
    result.map_err(|error| match error {
        ReadError::Interrupted => LabError::Stopped(format!("{}: interrupted while reading", path.display())),
        ReadError::Content(text) => LabError::input(format!("{}: {text}", path.display())),
        ReadError::Import(error) => error.into(),
    })
}

/// Counts of facts that the trace lacks.
pub fn gaps(recorded: &Recorded) -> Gaps {
    let gaps = recorded.recording.gaps;
    Gaps {
        mismatched_switches: gaps.mismatched_switches,
        dropped_ms: gaps.dropped_ns as f64 / 1e6,
        unseen_wakeups: gaps.unseen_wakeups,
        losses: gaps.losses,
        assumed_speed_pct: crate::round(gaps.assumed_speed_ns as f64 / gaps.run_ns.max(1) as f64 * 100.0),
        damaged_places: recorded.info.damaged,
        lost_events: recorded.info.lost,
    }
}

/// Remarks on the trace that a reader needs before believing its numbers.
pub fn notes(Read { recorded, platform, idle_states, misfits, .. }: &Read) -> Vec<String> {
    let name = &platform.name;
    let mut notes = match idle_states {
        Some(measured) => idle_notes(name, measured),
        None => vec![format!("idle states as {name} has them: only a file can be read twice to measure them")],
    };
    if platform.text.is_some() {
        notes.push(
            "the machine is taken from the recording: no power is known, and costs of kernel paths are 0".to_owned(),
        );
    }
    notes.extend(misfits.iter().map(|misfit| {
        format!("the trace may be of another machine: {misfit} (--recorded-on says which one it is of)")
    }));
    notes.extend(recorded.jumps.iter().map(ToString::to_string));
    let g = gaps(recorded);
    if g.assumed_speed_pct > 0.0 {
        notes.push(format!(
            "{} % of the running time was before the first frequency event of its CPU: taken at the highest frequency",
            number(g.assumed_speed_pct)
        ));
    }
    if g.mismatched_switches > 0 || g.losses > 0 {
        notes.push(format!(
            "{} switches do not continue what came before, {} losses reported: {} ms of running time left out",
            g.mismatched_switches,
            g.losses,
            number(g.dropped_ms)
        ));
    }
    if g.unseen_wakeups > 0 {
        notes.push(format!("{} sleeps end without a recorded wake-up: taken as timers", g.unseen_wakeups));
    }
    if g.damaged_places > 0 {
        notes.push(format!("{} places of the file could not be read", g.damaged_places));
    }
    notes
}

/// Measurements of idle states, one line each.
fn idle_notes(platform: &str, states: &IdleStates) -> Vec<String> {
    let us = |ns: u64| number(ns as f64 / 1e3);
    let exit = |e: &workload::ExitTime| {
        let what = format!("domain {}, state {}: {} us to leave", e.domain, e.state, us(e.exit_ns));
        format!("{what}, measured at {} wake-ups ({platform} has {} us)", e.wakeups, us(e.platform_ns))
    };
    let used = |(domain, used): &(usize, usize)| format!("domain {domain}: only {used} idle states are asked for");
    states.exits.iter().map(exit).chain(states.used.iter().map(used)).collect()
}
