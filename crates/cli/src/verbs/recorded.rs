// SPDX-License-Identifier: GPL-2.0-only
//! Reading a trace as a workload: what `replay` and `workload from-trace` share.

use super::carried;
use super::common::{bad_input, unreadable};
use crate::args::{IdleStatesFrom, PartArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::units::number;
use pelton_lab::plan::{self, Inputs};
use pelton_replay::workload::{self, GAP_NS_MAX, IdleStates, ReadError, ReadOptions, Recorded, Watch};
use pelton_scenario::diagnostic::short;
use pelton_scenario::platform::{self, Built};
use pelton_scenario::policy::DEFAULT_PROFILE;
use pelton_trace::import::{self, OpenOptions, Source};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;

/// What the trace did not tell.
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
    /// How to call it.
    pub name: String,
    /// Its description, where it is not a file.
    pub text: Option<String>,
}

impl Platform {
    /// One that somebody named.
    pub fn named(name: &str) -> Platform {
        Platform { name: name.to_owned(), text: None }
    }

    /// What the plan is made from.
    pub fn inputs(&self) -> Inputs {
        Inputs { platform: self.name.clone(), platform_text: self.text.clone(), ..Inputs::default() }
    }
}

/// A platform as it is. What of it depends on the kernel's version plays no part in reading a recording.
pub fn machine(platform: &Platform) -> Result<Built, Failure> {
    let inputs = platform.inputs();
    plan::machine(&inputs, DEFAULT_PROFILE).map_err(|d| bad_input(&d))
}

/// A trace that was read, and the machine it is taken to be recorded on.
pub struct Read {
    /// What it says.
    pub recorded: Recorded,
    /// That machine.
    pub platform: Platform,
    /// Ticks per second of the recorded kernel, where the trace tells.
    pub hz: Option<u32>,
    /// How the idle states of the platform behaved; `None` where that was wanted and cannot be measured.
    pub idle_states: Option<IdleStates>,
    /// What speaks against that machine.
    pub misfits: Vec<String>,
}

/// Reads a trace: first how idle states behaved, then everything.
pub fn read(part: &PartArgs, path: &Path, settle_ns: u64, global: &crate::args::Global) -> Result<Read, Failure> {
    let mut source = open(path)?;
    let header = source.info().header.clone();
    let named = header.as_ref().map_or("", |h| h.platform.as_str());
    // A name out of a file that anybody may have written is no path to open.
    let known = platform::names().find(|name| *name == named);
    let told = [part.recorded_on.as_deref(), known].into_iter().flatten().next().map(Platform::named);
    let carried = || header.as_ref().and_then(carried::platform);
    let Some(platform) = told.or_else(carried).or(part.platform.as_deref().map(Platform::named)) else {
        let what = if named.is_empty() {
            "does not say which platform it was recorded on".to_owned()
        } else {
            format!("was recorded on `{}`, which is no built-in platform", short(named))
        };
        return Err(Failure::new(
            Exit::Usage,
            format!("{} {what}", path.display()),
            Some("give --recorded-on: a built-in platform or your file of that machine (`pelton platform list`)"),
        ));
    };
    let mut machine = machine(&platform)?.machine;
    let options = ReadOptions {
        from_ns: part.from.unwrap_or(0),
        to_ns: part.to,
        settle_ns,
        gap_ns_max: part.max_gap.unwrap_or(GAP_NS_MAX),
        ..ReadOptions::default()
    };
    // A run of ours has the platform's own figures.
    let is_ours = header.as_ref().is_some_and(|h| h.remarks.is_empty());
    let wanted = part.idle_states == IdleStatesFrom::Trace && !is_ours;
    let mut idle_states = (!wanted).then(IdleStates::default);
    if wanted && path.is_file() {
        let mut again = open(path)?;
        let measure = |watch: Watch<'_>| workload::read_idle_states(again.as_mut(), &machine, &options, watch);
        let measured = watched(path, "idle states", global, measure)?;
        measured.apply(&mut machine);
        idle_states = Some(measured);
    }
    let read = |watch: Watch<'_>| workload::read(source.as_mut(), Some(&machine), &options, watch);
    let recorded = watched(path, "read", global, read)?;
    let misfits = workload::misfits(&recorded.totals, &machine);
    let hz = header.iter().flat_map(|h| &h.remarks).find_map(|r| r.strip_prefix("HZ: ")?.parse().ok());
    Ok(Read { recorded, platform, hz, idle_states, misfits })
}

fn open(path: &Path) -> Result<Box<dyn Source>, Failure> {
    let options = OpenOptions { stop: Some(interrupt::flag()), ..OpenOptions::default() };
    import::open(path, &options).map_err(unreadable)
}

/// Shows progress, and stops when asked to.
fn watched<T>(
    path: &Path,
    what: &str,
    global: &crate::args::Global,
    read: impl FnOnce(Watch<'_>) -> Result<T, ReadError>,
) -> Result<T, Failure> {
    let progress = Progress::new(0, global.quiet);
    progress.note(what);
    let mut seen_ns = 0;
    let mut watch = |now_ns: u64| {
        progress.advance(now_ns - seen_ns);
        seen_ns = now_ns;
        if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = read(&mut watch);
    drop(progress);
    result.map_err(|error| match error {
        ReadError::Interrupted => interrupt::failure(format!("{}: interrupted while reading", path.display())),
        ReadError::Content(text) => Failure::input(format!("{}: {text}", path.display())),
        ReadError::Import(error) => unreadable(error),
    })
}

/// Numbers about what the trace did not tell.
pub fn gaps(recorded: &Recorded) -> Gaps {
    let gaps = recorded.recording.gaps;
    Gaps {
        mismatched_switches: gaps.mismatched_switches,
        dropped_ms: gaps.dropped_ns as f64 / 1e6,
        unseen_wakeups: gaps.unseen_wakeups,
        losses: gaps.losses,
        assumed_speed_pct: pelton_lab::round(gaps.assumed_speed_ns as f64 / gaps.run_ns.max(1) as f64 * 100.0),
        damaged_places: recorded.info.damaged,
        lost_events: recorded.info.lost,
    }
}

/// What is to be known about the trace before its numbers are believed.
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

/// What was measured of idle states, one line each.
fn idle_notes(platform: &str, states: &IdleStates) -> Vec<String> {
    let us = |ns: u64| number(ns as f64 / 1e3);
    let exit = |e: &workload::ExitTime| {
        let what = format!("domain {}, state {}: {} us to leave", e.domain, e.state, us(e.exit_ns));
        format!("{what}, measured at {} wake-ups ({platform} has {} us)", e.wakeups, us(e.platform_ns))
    };
    let used = |(domain, used): &(usize, usize)| format!("domain {domain}: only {used} idle states are asked for");
    states.exits.iter().map(exit).chain(states.used.iter().map(used)).collect()
}
