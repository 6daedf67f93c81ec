// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading a trace once, from its first to its last event.

use std::fmt;
use std::ops::ControlFlow;

use pelton_model::Machine;
use pelton_schema::{Event, Sink};
use pelton_trace::import::{ImportError, Source, Timed, TraceInfo};

use super::exits::{IdleObserver, IdleStates};
use super::record::{Recorder, Recording, STEPS_MAX, TASKS_MAX};
use super::totals::Totals;

/// Events between two calls of the progress function.
const PROGRESS_EVENTS: u64 = 1 << 14;

/// Part of a trace to read.
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
    /// Longest time without any event that is believed, ns.
    pub gap_ns_max: u64,
}

/// Longest silence that is believed unless the user says otherwise: machines that record do something every second.
pub const GAP_NS_MAX: u64 = 60_000_000_000;

/// A time without events that is longer than is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Time at which it begins, ns after the first event of the file.
    pub at_ns: u64,
    /// Its length, ns.
    pub length_ns: u64,
    /// True when what stands before it is left out, as nothing runs there; false when what follows is.
    pub before: bool,
}

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (length_s, at_s) = (self.length_ns / 1_000_000_000, self.at_ns as f64 / 1e9);
        let side = if self.before { "before" } else { "after" };
        write!(f, "no event for {length_s} s, {at_s} s after the first one: a damaged time, or the machine slept; ")?;
        write!(f, "what is {side} that is left out (--max-gap believes more than {} s)", GAP_NS_MAX / 1_000_000_000)
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { from_ns: 0, to_ns: None, settle_ns: 0, steps_max: STEPS_MAX, gap_ns_max: GAP_NS_MAX }
    }
}

/// A trace that was read.
#[derive(Debug)]
pub struct Recorded {
    /// Steps of every task.
    pub recording: Recording,
    /// Totals of the window, without the settling time.
    pub totals: Totals,
    /// Names of the recording's tasks.
    pub names: Vec<String>,
    /// About the file.
    pub info: TraceInfo,
    /// The jumps in its times that ended or began what was read.
    pub jumps: Vec<Jump>,
}

/// Reason why a trace gives no workload.
#[derive(Debug)]
pub enum ReadError {
    /// Trace that cannot be read.
    Import(ImportError),
    /// Trace with nothing to replay, or with more than fits. The text says what to do.
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

/// Callback with the trace time since the window's begin now and then; it may stop the reading.
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
    let jumps = walk(source, options, progress, |first_ns, time_ns, event, info| {
        if reading.as_ref().is_none_or(|r| r.first_ns != first_ns) {
            reading = Some(Reading::new(first_ns, machine, options));
        }
        let Some(reading) = reading.as_mut().filter(|r| !r.recorder.is_full()) else { return ControlFlow::Break(()) };
        reading.event(time_ns, event, info);
        ControlFlow::Continue(())
    })?;
    let info = source.info().clone();
    match reading {
        Some(reading) => reading.finish(info, options, jumps),
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
    let (mut observer, mut begin_ns) = (IdleObserver::new(machine), None);
    walk(source, options, progress, |first_ns, time_ns, event, _| {
        if begin_ns.replace(first_ns).is_some_and(|begin_ns| begin_ns != first_ns) {
            observer = IdleObserver::new(machine);
        }
        observer.event(time_ns, event);
        ControlFlow::Continue(())
    })?;
    Ok(observer.finish())
}

/// The events that are read as one recording: no silence among them is longer than is believed.
struct Stretch {
    file_first_ns: u64,
    first_ns: u64,
    last_ns: u64,
    switches: u64,
    jumps: Vec<Jump>,
}

impl Stretch {
    fn begin(first_ns: u64) -> Stretch {
        Stretch { file_first_ns: first_ns, first_ns, last_ns: first_ns, switches: 0, jumps: Vec::new() }
    }

    /// Takes the next event in; false when it is not part of it, and nothing that follows is.
    fn reaches(&mut self, time_ns: u64, event: &Event, info: &TraceInfo, gap_ns_max: u64) -> bool {
        let length_ns = time_ns.saturating_sub(self.last_ns);
        if length_ns > gap_ns_max && !is_in_own_run(info, time_ns) {
            // No task ran to an end: the times before it are those that are damaged.
            let before = self.switches < 2;
            self.jumps.push(Jump { at_ns: self.last_ns.saturating_sub(self.file_first_ns), length_ns, before });
            if !before {
                return false;
            }
            (self.first_ns, self.switches) = (time_ns, 0);
        }
        self.last_ns = time_ns;
        self.switches += u64::from(matches!(event, Event::SchedSwitch { .. }));
        true
    }
}

/// True in the planned time of a simulated run: it is as silent as its workload.
fn is_in_own_run(info: &TraceInfo, time_ns: u64) -> bool {
    info.header.as_ref().is_some_and(|h| h.remarks.is_empty() && time_ns <= h.duration_ns)
}

/// Calls `each` with the first event's time, and time and content of every event up to the window's end. The first
/// event is another one after a jump that leaves out what was before.
fn walk(
    source: &mut dyn Source,
    options: &ReadOptions,
    progress: Watch<'_>,
    mut each: impl FnMut(u64, u64, &Event, &TraceInfo) -> ControlFlow<()>,
) -> Result<Vec<Jump>, ReadError> {
    let (mut stretch, mut events) = (None, 0u64);
    while let Some(Timed { time_ns, event }) = source.next()? {
        let stretch = stretch.get_or_insert_with(|| Stretch::begin(time_ns));
        if !stretch.reaches(time_ns, &event, source.info(), options.gap_ns_max) {
            break;
        }
        let length_ns = time_ns.saturating_sub(stretch.first_ns);
        if options.to_ns.is_some_and(|to_ns| length_ns > to_ns) {
            break;
        }
        if length_ns > LENGTH_NS_MAX {
            return Err(ReadError::Content(format!(
                "an event is {} days after the first one, which no recording is long: its time is damaged; choose the \
                 part before it with --to",
                length_ns / DAY_NS
            )));
        }
        if each(stretch.first_ns, time_ns, &event, source.info()).is_break() {
            break;
        }
        events += 1;
        if events.is_multiple_of(PROGRESS_EVENTS) && progress(length_ns.saturating_sub(options.from_ns)).is_break() {
            return Err(ReadError::Interrupted);
        }
    }
    Ok(stretch.map_or_else(Vec::new, |stretch| stretch.jumps))
}

impl Reading {
    fn new(first_ns: u64, machine: Option<&Machine>, options: &ReadOptions) -> Reading {
        let from_ns = first_ns.saturating_add(options.from_ns);
        let to_ns = options.to_ns.map_or(u64::MAX, |to| first_ns.saturating_add(to));
        Reading {
            first_ns,
            recorder: Recorder::new(machine, from_ns).with_steps_max(options.steps_max),
            totals: Totals::new(from_ns.saturating_add(options.settle_ns), to_ns).with_domains(machine),
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

    fn finish(mut self, info: TraceInfo, options: &ReadOptions, jumps: Vec<Jump>) -> Result<Recorded, ReadError> {
        // Our own logs say how long the run was; others end with their last event, and so does a log that ends early:
        // what would have come after it is not known.
        let whole = info.header.as_ref().filter(|_| info.damaged == 0 && jumps.is_empty());
        let planned_ns = whole.map_or(0, |h| h.duration_ns);
        let planned_ns = planned_ns.min(self.first_ns.saturating_add(LENGTH_NS_MAX));
        let end_ns = self.last_ns.max(planned_ns).min(self.to_ns);
        let jumped = jumps.iter().map(|jump| format!("; {jump}")).collect::<String>();
        if end_ns <= self.from_ns {
            let length_s = self.last_ns.saturating_sub(self.from_ns.saturating_sub(options.from_ns)) as f64 / 1e9;
            let advice = if options.from_ns > 0 && self.last_ns > self.first_ns {
                "choose an earlier --from"
            } else {
                "there is no time between its first event and the last to replay"
            };
            let text = format!("nothing is left of the trace, which is {length_s} s long: {advice}{jumped}");
            return Err(ReadError::Content(text));
        }
        self.totals.finish(end_ns);
        self.recorder.name_groups(&info.groups);
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
            return Err(ReadError::Content(format!(
                "no task runs in this part of the trace: a replay needs sched_switch, and sched_waking or sched_wakeup\
                 {jumped}"
            )));
        }
        let names = recording.tasks.iter().map(|t| info.task_name(t.tid)).collect();
        Ok(Recorded { recording, totals: self.totals, names, info, jumps })
    }
}
