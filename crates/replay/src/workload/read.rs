// SPDX-License-Identifier: GPL-2.0-only
//! Reading a trace once, from its first to its last event.

use std::fmt;
use std::ops::ControlFlow;

use pelton_schema::{Event, Sink};
use pelton_sim::Machine;
use pelton_trace::import::{ImportError, Source, TraceInfo};

use super::exits::{IdleObserver, IdleStates};
use super::record::{Recorder, Recording, STEPS_MAX, TASKS_MAX};
use super::totals::Totals;

/// Events between two calls of the progress function.
const PROGRESS_EVENTS: u64 = 1 << 14;

/// Which part of a trace is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Begin of the window, ns after the first event.
    pub from_ns: u64,
    /// End of the window, ns after the first event; `None` = the end of the trace.
    pub to_ns: Option<u64>,
    /// This much of the window's begin is replayed but not compared: signals start from nothing.
    pub settle_ns: u64,
    /// Most steps kept.
    pub steps_max: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { from_ns: 0, to_ns: None, settle_ns: 0, steps_max: STEPS_MAX }
    }
}

/// A trace that was read.
#[derive(Debug)]
pub struct Recorded {
    /// What every task did.
    pub recording: Recording,
    /// What it adds up to, without the settling time.
    pub totals: Totals,
    /// Names of the recording's tasks.
    pub names: Vec<String>,
    /// About the file.
    pub info: TraceInfo,
}

/// Why a trace gives no workload.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be read.
    Import(ImportError),
    /// It has nothing to replay, or more than fits. The text says what to do.
    Content(String),
    /// Stopped by the caller.
    Interrupted,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Import(error) => error.fmt(f),
            ReadError::Content(text) => f.write_str(text),
            ReadError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<ImportError> for ReadError {
    fn from(error: ImportError) -> Self {
        ReadError::Import(error)
    }
}

struct Reading {
    first_ns: u64,
    recorder: Recorder,
    totals: Totals,
    from_ns: u64,
    to_ns: u64,
    last_ns: u64,
    prev_state_checked: bool,
}

const DAY_NS: u64 = 86_400_000_000_000;
/// Longest trace: sums of times over all CPUs stay within 64 bits.
const LENGTH_NS_MAX: u64 = 10 * DAY_NS;

/// What is called with the trace time since the window's begin now and then, and may stop.
pub type Watch<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Reads a trace recorded on `machine` (`None` = speeds are not known).
///
/// # Errors
/// When the trace cannot be read, has no task switches in the window, or more steps than `options` allow.
pub fn read(
    source: &mut dyn Source,
    machine: Option<&Machine>,
    options: &ReadOptions,
    progress: Watch<'_>,
) -> Result<Recorded, ReadError> {
    let mut reading: Option<Reading> = None;
    walk(source, options, progress, |first_ns, time_ns, event, info| {
        let reading = reading.get_or_insert_with(|| Reading::new(first_ns, machine, options));
        if reading.recorder.is_full() {
            return ControlFlow::Break(());
        }
        reading.event(time_ns, event, info);
        ControlFlow::Continue(())
    })?;
    let info = source.info().clone();
    match reading {
        Some(reading) => reading.finish(info, options),
        None => Err(ReadError::Content("the trace has no events that are known here".to_owned())),
    }
}

/// Reads how the idle states of `machine` behaved in a trace recorded on it.
///
/// # Errors
/// When the trace cannot be read.
pub fn read_idle_states(
    source: &mut dyn Source,
    machine: &Machine,
    options: &ReadOptions,
    progress: Watch<'_>,
) -> Result<IdleStates, ReadError> {
    let mut observer = IdleObserver::new(machine);
    walk(source, options, progress, |_, time_ns, event, _| {
        observer.event(time_ns, event);
        ControlFlow::Continue(())
    })?;
    Ok(observer.finish())
}

/// Calls `each` with the first event's time, and time and content of every event up to the window's end.
fn walk(
    source: &mut dyn Source,
    options: &ReadOptions,
    progress: Watch<'_>,
    mut each: impl FnMut(u64, u64, &Event, &TraceInfo) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    let (mut first_ns, mut events) = (None, 0u64);
    while let Some(timed) = source.next()? {
        let first_ns = *first_ns.get_or_insert(timed.time_ns);
        let length_ns = timed.time_ns.saturating_sub(first_ns);
        if options.to_ns.is_some_and(|to_ns| length_ns > to_ns) {
            return Ok(());
        }
        if length_ns > LENGTH_NS_MAX {
            return Err(ReadError::Content(format!(
                "an event is {} days after the first one, which no recording is long: its time is damaged; choose the \
                 part before it with --to",
                length_ns / DAY_NS
            )));
        }
        if each(first_ns, timed.time_ns, &timed.event, source.info()).is_break() {
            return Ok(());
        }
        events += 1;
        if events.is_multiple_of(PROGRESS_EVENTS) && progress(length_ns.saturating_sub(options.from_ns)).is_break() {
            return Err(ReadError::Interrupted);
        }
    }
    Ok(())
}

impl Reading {
    fn new(first_ns: u64, machine: Option<&Machine>, options: &ReadOptions) -> Reading {
        let from_ns = first_ns.saturating_add(options.from_ns);
        let to_ns = options.to_ns.map_or(u64::MAX, |to| first_ns.saturating_add(to));
        Reading {
            first_ns,
            recorder: Recorder::new(machine, from_ns).with_steps_max(options.steps_max),
            totals: Totals::new(from_ns.saturating_add(options.settle_ns), to_ns),
            from_ns,
            to_ns,
            last_ns: first_ns,
            prev_state_checked: false,
        }
    }

    fn event(&mut self, time_ns: u64, event: &Event, info: &TraceInfo) {
        if !self.prev_state_checked && matches!(event, Event::SchedSwitch { .. }) {
            self.prev_state_checked = true;
            if !info.carries("sched_switch", "prev_state") {
                self.recorder.without_prev_state();
            }
        }
        self.last_ns = time_ns;
        self.recorder.event(time_ns, event);
        self.totals.event(time_ns, event);
    }

    fn finish(mut self, info: TraceInfo, options: &ReadOptions) -> Result<Recorded, ReadError> {
        // Our own logs say how long the run was; others end with their last event, and so does a log that ends early: what
        // would have come after it is not known.
        let whole = info.header.as_ref().filter(|_| info.damaged == 0);
        let planned_ns = whole.map_or(0, |h| h.duration_ns);
        let planned_ns = planned_ns.min(self.first_ns.saturating_add(LENGTH_NS_MAX));
        let end_ns = self.last_ns.max(planned_ns).min(self.to_ns);
        if end_ns <= self.from_ns {
            let length_s = self.last_ns.saturating_sub(self.from_ns.saturating_sub(options.from_ns)) as f64 / 1e9;
            let text = format!("nothing is left of the trace, which is {length_s} s long: choose an earlier --from");
            return Err(ReadError::Content(text));
        }
        self.totals.finish(end_ns);
        let recording = self.recorder.finish(end_ns);
        if let Some(at_ns) = recording.overflow_at_ns {
            let at_s = at_ns.saturating_sub(self.from_ns) as f64 / 1e9;
            return Err(ReadError::Content(format!(
                "the trace has more than {} steps or {TASKS_MAX} tasks, the most that is kept; it is full after {at_s} s: \
                 choose a part with --from and --to",
                options.steps_max
            )));
        }
        if recording.gaps.run_ns == 0 {
            return Err(ReadError::Content(
                "no task runs in this part of the trace: a replay needs sched_switch, and sched_waking or sched_wakeup"
                    .to_owned(),
            ));
        }
        let names = recording.tasks.iter().map(|t| info.task_name(t.tid)).collect();
        Ok(Recorded { recording, totals: self.totals, names, info })
    }
}
