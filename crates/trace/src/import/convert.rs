// SPDX-License-Identifier: GPL-2.0-or-later
//! A trace of any kind in another form.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pelton_schema::{Event, EventInfo, Sink, pack_name};

use super::{ImportError, Source, TraceInfo};
use crate::ftrace_text::FtraceText;
use crate::header::RunHeader;
use crate::log::PeltonLog;
use crate::perfetto::PerfettoTrace;
use crate::table::EventSelection;
use crate::text::TextDump;

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One line per event, for people and `diff`.
    Text,
    /// Text as tracefs has it.
    Ftrace,
    /// Perfetto trace.
    Perfetto,
    /// Our own log.
    Log,
}

/// Reason why nothing, or not everything, was converted.
#[derive(Debug)]
pub enum ConvertError {
    /// The trace cannot be read on.
    Trace(ImportError),
    /// The output failed.
    Output(io::Error),
}

impl From<ImportError> for ConvertError {
    fn from(error: ImportError) -> Self {
        ConvertError::Trace(error)
    }
}

/// Contents of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Events read.
    pub events: u64,
    /// The caller stopped it, by `seen` or by the flag of [`super::OpenOptions`]: the output does not hold everything.
    pub stopped: bool,
    /// Selected events that the form cannot hold, by name.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// Writes the selected events of `source` to `out`, and calls `seen` with the number of events read so far; false from
/// it ends the output there.
///
/// # Errors
/// When the trace cannot be read on or `out` fails. Damage is no error: see [`TraceInfo::damage`].
pub fn convert(
    source: &mut dyn Source,
    out: impl Write,
    format: ExportFormat,
    selection: &EventSelection,
    mut seen: impl FnMut(u64) -> bool,
) -> Result<Converted, ConvertError> {
    let own = source.info().header.clone();
    let seen = &mut seen;
    match format {
        ExportFormat::Text => {
            let mut sink = match &own {
                Some(run) => TextDump::with_header(out, run),
                None => TextDump::new(out),
            };
            let copied = copy(source, selection, &mut sink, seen)?;
            sink.finish().map(|_| copied).map_err(ConvertError::Output)
        }
        ExportFormat::Ftrace => {
            let run = own.unwrap_or_else(|| foreign_header(source.info()));
            let ids = if source.info().run_ids { FtraceText::new } else { FtraceText::recorded };
            let mut sink = ids(out, &run);
            let name = |sink: &mut FtraceText<_>, time_ns, tid, name: &str| {
                if run.tasks.get(tid as usize).is_none_or(|known| known != name) {
                    sink.name_task(time_ns, tid, name);
                }
            };
            let mut copied = copy_named(source, selection, &mut sink, name, seen)?;
            copied.left_out = sink.left_out();
            sink.finish().map(|_| copied).map_err(ConvertError::Output)
        }
        ExportFormat::Perfetto => {
            let run = own.unwrap_or_else(|| foreign_header(source.info()));
            let ids = if source.info().run_ids { PerfettoTrace::new } else { PerfettoTrace::recorded };
            let mut sink = ids(out, &run);
            let name = |sink: &mut PerfettoTrace<_>, _, tid, name: &str| {
                if run.tasks.get(tid as usize).is_none_or(|known| known != name) {
                    sink.name_task(tid, name);
                }
            };
            let mut copied = copy_named(source, selection, &mut sink, name, seen)?;
            copied.left_out = sink.left_out();
            let whole = !copied.stopped && source.info().damaged == 0;
            let ended = if whole { sink.finish() } else { sink.abandon() };
            ended.map(|_| copied).map_err(ConvertError::Output)
        }
        ExportFormat::Log => match own {
            Some(run) => {
                let mut sink = PeltonLog::new(out, &run);
                let copied = copy(source, selection, &mut sink, seen)?;
                end_log(source, sink, copied)
            }
            None => {
                let mut sink = PeltonLog::new(out, &foreign_header(source.info()));
                let name = |sink: &mut PeltonLog<_>, time_ns, tid, name: &str| {
                    let (name_0, name_8) = pack_name(name);
                    sink.event(time_ns, &Event::TaskName { tid, name_0, name_8 });
                };
                let copied = copy_named(source, selection, &mut sink, name, seen)?;
                end_log(source, sink, copied)
            }
        },
    }
}

/// A log that does not hold everything has no end: it was stopped, or made from a trace that is damaged.
fn end_log(source: &dyn Source, sink: PeltonLog<impl Write>, copied: Converted) -> Result<Converted, ConvertError> {
    let whole = !copied.stopped && source.info().damaged == 0;
    let ended = if whole { sink.finish() } else { sink.abandon() };
    ended.map(|_| copied).map_err(ConvertError::Output)
}

/// Sends the selected events to `sink` until the trace ends or `seen` says stop.
///
/// # Errors
/// When the trace cannot be read on.
pub fn copy<S: Sink>(
    source: &mut dyn Source,
    selection: &EventSelection,
    sink: &mut S,
    seen: &mut impl FnMut(u64) -> bool,
) -> Result<Converted, ConvertError> {
    let (mut events, mut stopped) = (0, false);
    while let Some(timed) = next(source, &mut stopped)? {
        events += 1;
        if selection.contains(&timed.event) {
            sink.event_known(timed.time_ns, &timed.event, source.info().known(&timed.event));
        }
        if !seen(events) {
            return Ok(Converted { events, stopped: true, ..Converted::default() });
        }
    }
    Ok(Converted { events, stopped, ..Converted::default() })
}

/// Like [`copy`]; before an event of a task whose name is new, `name` is called with it, since no header names the
/// tasks.
fn copy_named<S: Sink>(
    source: &mut dyn Source,
    selection: &EventSelection,
    sink: &mut S,
    mut name: impl FnMut(&mut S, u64, u32, &str),
    seen: &mut impl FnMut(u64) -> bool,
) -> Result<Converted, ConvertError> {
    let (mut events, mut stopped, mut told) = (0, false, BTreeMap::<u32, String>::new());
    while let Some(timed) = next(source, &mut stopped)? {
        events += 1;
        if selection.contains(&timed.event) {
            // An event that is a name carries it itself.
            let told_by_name = matches!(timed.event, Event::TaskName { .. });
            each_tid(&timed.event, |tid| {
                let Some(known) = source.info().names.get(&tid) else { return };
                if told.get(&tid) != Some(known) {
                    if !told_by_name {
                        name(sink, timed.time_ns, tid, known);
                    }
                    told.insert(tid, known.clone());
                }
            });
            sink.event_known(timed.time_ns, &timed.event, source.info().known(&timed.event));
        }
        if !seen(events) {
            return Ok(Converted { events, stopped: true, ..Converted::default() });
        }
    }
    Ok(Converted { events, stopped, ..Converted::default() })
}

/// The next event; where reading was asked to end, the output ends too.
fn next(source: &mut dyn Source, stopped: &mut bool) -> Result<Option<super::Timed>, ConvertError> {
    match source.next() {
        Err(error) if error.is_stop() => {
            *stopped = true;
            Ok(None)
        }
        next => Ok(next?),
    }
}

pub(super) fn each_tid(event: &Event, mut visit: impl FnMut(u32)) {
    let Some(declared) = EventInfo::of_code(event.code()) else { return };
    let mut columns = declared.columns.iter();
    event.each_value(|value| {
        if columns.next().is_some_and(|column| column.name.ends_with("tid")) {
            visit(value as u32);
        }
    });
}

/// Header for a trace that has none.
fn foreign_header(info: &TraceInfo) -> RunHeader {
    // A run of ours names its kernel profile as the kernel's release.
    let kernel = info.kernel.as_deref().unwrap_or_default();
    let profile = kernel.split_once(".0-pelton").map(|(name, _)| name);
    RunHeader {
        profile: profile.unwrap_or_default().to_owned(),
        kernel: if profile.is_some() { String::new() } else { kernel.to_owned() },
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        platform: "recorded".to_owned(),
        workload: info.format.name().to_owned(),
        // What it was recorded on stays known.
        remarks: info.remarks.clone(),
        ..RunHeader::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::log::LogSource;
    use crate::import::{Format, Timed};
    use std::path::Path;

    struct Given(Vec<Timed>, TraceInfo);

    impl Source for Given {
        fn next(&mut self) -> Result<Option<Timed>, ImportError> {
            Ok((!self.0.is_empty()).then(|| self.0.remove(0)))
        }
        fn info(&self) -> &TraceInfo {
            &self.1
        }
    }

    fn recorded() -> Vec<u8> {
        let mut file = Vec::new();
        let mut log = PeltonLog::new(&mut file, &RunHeader::default());
        log.event(5, &Event::CpuIdle { cpu: 1, state: 0 });
        log.event(9, &Event::PeltRt { cpu: 2, util_avg: 300 });
        log.finish().expect("a vector takes everything");
        file
    }

    fn lines(format: ExportFormat, names: &[&str]) -> Vec<String> {
        let file = recorded();
        let mut source = LogSource::new(&file[..], Path::new("t.plog")).expect("a log");
        let selection = EventSelection::of(names.iter().copied()).expect("known names");
        let mut out = Vec::new();
        convert(&mut source, &mut out, format, &selection, |_| true).expect("room");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_selected_events_are_written() {
        let text = lines(ExportFormat::Text, &["cpu_idle"]);
        assert_eq!(text.iter().filter(|line| !line.starts_with('#')).count(), 1);
    }

    #[test]
    fn a_full_disk_is_not_blamed_on_the_trace() {
        let (file, mut room) = (recorded(), [0; 4]);
        let mut source = LogSource::new(&file[..], Path::new("t.plog")).expect("a log");
        let failure = convert(&mut source, &mut room[..], ExportFormat::Text, &EventSelection::all(), |_| true);
        assert!(matches!(failure, Err(ConvertError::Output(_))));
    }

    #[test]
    fn names_of_a_foreign_trace_stand_in_the_log() {
        let event = Event::SchedWaking { cpu: 1, tid: 2923, prio: 120, target_cpu: 1 };
        let mut info = TraceInfo::new(Format::TraceDat);
        info.name_task(2923, "kworker/2:1");
        let mut source = Given(vec![Timed { time_ns: 9, event }, Timed { time_ns: 10, event }], info);
        let mut file = Vec::new();
        let all = EventSelection::all();
        let converted = convert(&mut source, &mut file, ExportFormat::Log, &all, |_| true).expect("room");
        assert_eq!((converted.events, converted.stopped), (2, false));
        let mut log = LogSource::new(&file[..], Path::new("t.plog")).expect("a log");
        let mut found = Vec::new();
        while let Some(timed) = log.next().expect("reads") {
            found.push((timed.time_ns, timed.event.code()));
        }
        assert_eq!(found, [(9, 21), (9, 2), (10, 2)]);
        assert_eq!(log.info().task_name(2923), "kworker/2:1");
    }

    #[test]
    fn a_run_keeps_the_offset_of_its_task_ids_from_perfetto_to_perfetto() {
        let header = RunHeader { profile: "7.2".into(), tasks: vec!["idle".into(), "ui".into()], ..Default::default() };
        let event = Event::SchedWaking { cpu: 1, tid: 1, prio: 120, target_cpu: 1 };
        let late = Event::SchedWakeupNew { cpu: 1, tid: 2, prio: 120, target_cpu: 1 };
        let mut trace = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut sink = PerfettoTrace::new(&mut trace, &header);
        [(9, event), (10, late)].iter().for_each(|(time_ns, event)| sink.event(*time_ns, event));
        sink.finish().expect("room");
        for _ in 0..2 {
            let mut source = crate::import::open(trace.path(), &Default::default()).expect("a trace");
            assert!(source.info().run_ids);
            let mut again = tempfile::NamedTempFile::new().expect("a temporary file");
            convert(&mut *source, &mut again, ExportFormat::Perfetto, &EventSelection::all(), |_| true).expect("room");
            let bytes = std::fs::read(again.path()).expect("readable");
            let records = crate::perfetto::read::PerfettoReader::new(&bytes[..]).map(|record| record.expect("sound"));
            let threads: Vec<_> = records
                .filter_map(|record| match record {
                    crate::perfetto::read::Record::Thread { tid, name } => Some((tid, name)),
                    _ => None,
                })
                .collect();
            assert_eq!(threads, [(1, "ui".to_owned()), (2, "task-2".to_owned())]);
            trace = again;
        }
        let mut source = crate::import::open(trace.path(), &Default::default()).expect("a trace");
        assert_eq!(source.next().expect("reads").map(|timed| timed.event), Some(event));
        assert_eq!(source.next().expect("reads").map(|timed| timed.event), Some(late));
    }

    #[test]
    fn a_recorded_trace_keeps_its_kernel_and_says_what_it_cannot_hold() {
        let event = Event::SchedWaking { cpu: 1, tid: 7, prio: 120, target_cpu: 1 };
        for kernel in [Some("6.1.55-2-amd64"), Some("3.18.20"), None] {
            let mut info = TraceInfo::new(Format::TraceDat);
            info.kernel = kernel.map(str::to_owned);
            let lost = Event::TaskAttributes {
                tid: 7,
                policy: 0,
                prio: 120,
                uclamp_min: 0,
                uclamp_max: 1024,
                cpus_allowed: 3,
                group: 0,
            };
            let mut source = Given(vec![Timed { time_ns: 9, event }, Timed { time_ns: 10, event: lost }], info);
            let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
            let all = EventSelection::all();
            let converted = convert(&mut source, &mut file, ExportFormat::Perfetto, &all, |_| true).expect("room");
            assert_eq!(converted.left_out, BTreeMap::from([("task_attributes", 1)]));
            let trace = crate::import::open(file.path(), &Default::default()).expect("a trace");
            assert_eq!(trace.info().kernel.as_deref(), kernel);
        }
    }

    #[test]
    fn a_recorded_trace_keeps_its_task_ids_in_perfetto() {
        let switch =
            Event::SchedSwitch { cpu: 3, prev_tid: 0, prev_prio: 120, prev_state: 0, next_tid: 2923, next_prio: 100 };
        let new = Event::SchedWakeupNew { cpu: 3, tid: 77, prio: 120, target_cpu: 1 };
        let mut info = TraceInfo::new(Format::TraceDat);
        info.name_task(2923, "kworker/2:1");
        let mut source = Given(vec![Timed { time_ns: 9, event: switch }, Timed { time_ns: 10, event: new }], info);
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let all = EventSelection::all();
        convert(&mut source, &mut file, ExportFormat::Perfetto, &all, |_| true).expect("room");
        let mut trace = crate::import::open(file.path(), &Default::default()).expect("a trace");
        assert_eq!(trace.info().format, Format::Perfetto);
        assert_eq!(trace.next().expect("reads"), Some(Timed { time_ns: 9, event: switch }));
        assert_eq!(trace.next().expect("reads"), Some(Timed { time_ns: 10, event: new }));
        assert_eq!((trace.next().expect("reads"), trace.info().task_name(2923)), (None, "kworker/2:1".into()));
    }
}
