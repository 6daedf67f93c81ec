// SPDX-License-Identifier: GPL-2.0-only
//! `pelton trace`: what a trace holds, and a trace in another form.

use super::common::{print, print_json, unreadable};
use super::export_tables;
use crate::args::{ExportArgs, Format, Global, TraceForm, TraceInfoArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output;
use crate::progress::Counting;
use crate::results::traces::{Damage, Info, Task};
use crate::sheet::Sheet;
use pelton_replay::workload::GAP_NS_MAX;
use pelton_trace::import::{
    ConvertError, Converted, ExportFormat, Format as InputFormat, OpenOptions, Source, TraceInfo, convert, open,
};
use pelton_trace::{EventSelection, TableForm};
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::Path;

/// Tasks that are listed.
const TASKS_SHOWN: usize = 10;

fn opened(path: &Path, format: Option<InputFormat>) -> Result<Box<dyn Source>, Failure> {
    open(path, &OpenOptions { format, stop: Some(interrupt::flag()) }).map_err(unreadable)
}

/// What one pass over a trace finds.
#[derive(Default)]
struct Found {
    first_ns: Option<u64>,
    last_ns: u64,
    /// Longest time without an event, ns, and when it begins, ns after the first event.
    silence: (u64, u64),
    /// Switches to each task.
    switches: BTreeMap<u32, u64>,
}

impl Found {
    fn at(&mut self, now_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(now_ns);
        let before_ns = if self.last_ns == 0 { now_ns } else { self.last_ns };
        let (length_ns, at_ns) = (now_ns.saturating_sub(before_ns), before_ns.saturating_sub(first_ns));
        if length_ns > self.silence.0 {
            self.silence = (length_ns, at_ns);
        }
        self.last_ns = now_ns;
    }
}

/// Format, length, events, damage.
pub fn info(args: &TraceInfoArgs, global: &Global) -> Result<Exit, Failure> {
    let mut source = opened(&args.file, args.input_format)?;
    let counting = Counting::new(global.quiet);
    let (mut found, mut events) = (Found::default(), 0u64);
    while let Some(timed) = source.next().map_err(unreadable)? {
        events += 1;
        found.at(timed.time_ns);
        if let pelton_schema::Event::SchedSwitch { next_tid, .. } = timed.event {
            *found.switches.entry(next_tid).or_default() += 1;
        }
        counting.at(events);
        if events.is_multiple_of(4096) && interrupt::is_requested() {
            return Err(interrupt::failure("interrupted while reading: no result"));
        }
    }
    drop(counting);
    if global.format == Format::Json {
        print_json(&as_result(&args.file, source.info(), &found))?;
    } else {
        print(&as_text(source.info(), &found, global.format == Format::Csv))?;
    }
    Ok(Exit::Good)
}

fn top_tasks(found: &Found) -> Vec<(u32, u64)> {
    let mut tasks: Vec<_> =
        found.switches.iter().map(|(&tid, &count)| (tid, count)).filter(|task| task.0 != 0).collect();
    tasks.sort_by_key(|&(tid, count)| (std::cmp::Reverse(count), tid));
    tasks.truncate(TASKS_SHOWN);
    tasks
}

fn as_result(path: &Path, info: &TraceInfo, found: &Found) -> Info {
    let damage = |d: &pelton_trace::import::Damage| Damage { position: d.position, what: d.what.clone() };
    let task = |(tid, switches)| Task { tid, name: info.task_name(tid), switches };
    Info {
        trace: path.display().to_string(),
        format: info.format.name(),
        cpus: info.cpus,
        resolution_ns: info.resolution_ns,
        first_ns: found.first_ns,
        last_ns: found.first_ns.map(|_| found.last_ns),
        longest_silence_ns: found.silence.0,
        remarks: info.remarks.clone(),
        events: info.events.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        skipped: info.skipped.clone(),
        lost: info.lost,
        lost_unknown: info.lost_unknown,
        damaged: info.damaged,
        damage: info.damage.iter().map(damage).collect(),
        tasks: top_tasks(found).into_iter().map(task).collect(),
    }
}

fn as_text(info: &TraceInfo, found: &Found, csv: bool) -> String {
    let mut events = Sheet::new(&["<event", "count", "<read"]);
    info.events.iter().for_each(|(name, n)| events.row(vec![(*name).to_owned(), n.to_string(), "yes".into()]));
    info.skipped.iter().for_each(|(name, n)| events.row(vec![name.clone(), n.to_string(), "no meaning here".into()]));
    if csv {
        return events.csv();
    }
    let seconds = |ns: u64| format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000);
    let mut text = format!("format   {}\ncpus     {}\n", info.format.name(), info.cpus);
    if let Some(first_ns) = found.first_ns {
        let length = seconds(found.last_ns - first_ns);
        text += &format!("time     {} to {}, {length}\n", seconds(first_ns), seconds(found.last_ns));
    }
    if found.silence.0 > GAP_NS_MAX {
        let (length, at) = (seconds(found.silence.0), seconds(found.silence.1));
        text += &format!("silence  {length} long, {at} after the first event: a damaged time, or the machine slept\n");
    }
    info.remarks.iter().for_each(|remark| text += &format!("         {remark}\n"));
    text += &format!("lost     {}\n", lost(info));
    text += &match info.damaged {
        0 => "damage   none\n".to_owned(),
        n => format!("damage   {}\n", counted(n, "place")),
    };
    info.damage.iter().for_each(|d| text += &format!("         at {}: {}\n", d.position, d.what));
    text += &format!("\n{}", events.text(crate::sheet::terminal_width()));
    let mut tasks = Sheet::new(&["<task", "tid", "switches to it"]);
    top_tasks(found).iter().for_each(|&(tid, n)| tasks.row(vec![info.task_name(tid), tid.to_string(), n.to_string()]));
    if !tasks.is_empty() {
        text += &format!("\n{}", tasks.text(crate::sheet::terminal_width()));
    }
    text
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// What the recorder lost, in words.
fn lost(info: &TraceInfo) -> String {
    let unknown = || format!("an unknown number in {}", counted(info.lost_unknown, "place"));
    match (info.lost, info.lost_unknown) {
        (0, 0) => "none".to_owned(),
        (0, _) => unknown(),
        (n, 0) => counted(n, "event"),
        (n, _) => format!("{}, and {}", counted(n, "event"), unknown()),
    }
}

/// The trace in another form.
pub fn export(args: &ExportArgs, global: &Global) -> Result<Exit, Failure> {
    let selection = match args.events.as_slice() {
        [] => EventSelection::all(),
        names => EventSelection::of(names.iter().map(String::as_str))
            .map_err(|error| Failure::new(Exit::Usage, error, Some("docs/reference/events.md lists the events")))?,
    };
    output::spare(&[&args.output], std::slice::from_ref(&args.file))?;
    let mut source = opened(&args.file, args.input_format)?;
    let counting = Counting::new(global.quiet);
    let mut going = |events: u64| {
        counting.at(events);
        !events.is_multiple_of(4096) || !interrupt::is_requested()
    };
    let converted = match form(args.to) {
        Ok(form) => whole(&mut *source, args, form, &selection, &mut going),
        Err(tables) => export_tables::export(&mut *source, args, tables, &selection, &mut going),
    }?;
    drop(counting);
    if !global.quiet {
        say_losses(source.info(), &converted, args);
    }
    Ok(Exit::Good)
}

/// A form of one file, or one of tables.
fn form(to: TraceForm) -> Result<ExportFormat, TableForm> {
    match to {
        TraceForm::Perfetto => Ok(ExportFormat::Perfetto),
        TraceForm::Text => Ok(ExportFormat::Text),
        TraceForm::Log => Ok(ExportFormat::Log),
        TraceForm::Csv => Err(TableForm::Csv),
        TraceForm::Json => Err(TableForm::Json),
        TraceForm::Parquet => Err(TableForm::Parquet),
    }
}

/// One file that holds the trace.
fn whole(
    source: &mut dyn Source,
    args: &ExportArgs,
    format: ExportFormat,
    selection: &EventSelection,
    going: &mut dyn FnMut(u64) -> bool,
) -> Result<Converted, Failure> {
    // Others cannot be told from complete ones, so they come to be only when they are.
    let tells = matches!(format, ExportFormat::Log | ExportFormat::Perfetto);
    let pending = output::create(&args.output, tells)?;
    let out = BufWriter::new(pending.writer()?);
    let converted = convert(source, out, format, selection, going).map_err(|error| not_converted(error, args))?;
    if !converted.stopped {
        pending.keep()?;
        return Ok(converted);
    }
    interrupt::notice();
    let name = args.output.display();
    if !tells {
        return Err(interrupt::failure(format!("interrupted: {name} is not written")));
    }
    pending.keep()?;
    Err(interrupt::failure(format!("interrupted: {name} holds what was read so far, and says so")))
}

/// Why nothing, or not everything, was written.
pub(super) fn not_converted(error: ConvertError, args: &ExportArgs) -> Failure {
    match error {
        ConvertError::Trace(error) => unreadable(error),
        ConvertError::Output(error) => export_tables::cannot(&args.output, &error),
    }
}

/// What the output does not have of the trace.
fn say_losses(info: &TraceInfo, converted: &Converted, args: &ExportArgs) {
    let list = |events: &mut dyn Iterator<Item = (&str, u64)>| {
        let all: Vec<String> = events.map(|(name, n)| format!("{name} ({n})")).collect();
        let more =
            if all.len() > KINDS_SHOWN { format!(" and {} more", all.len() - KINDS_SHOWN) } else { String::new() };
        (!all.is_empty()).then(|| all[..all.len().min(KINDS_SHOWN)].join(", ") + &more)
    };
    if let Some(list) = list(&mut converted.left_out.iter().map(|(name, &n)| (*name, n))) {
        crate::say(&format!(
            "note: not in {}: this form cannot hold {list}; a log (--to log) can",
            args.output.display()
        ));
    }
    if let Some(list) = list(&mut info.skipped.iter().map(|(name, &n)| (name.as_str(), n))) {
        crate::say(&format!("note: not in {}: events that mean nothing here: {list}", args.output.display()));
    }
    if !info.is_complete() {
        crate::say(&format!("note: damaged: {}; lost: {}", counted(info.damaged, "place"), lost(info)));
    }
}

/// Kinds of events that a note lists.
const KINDS_SHOWN: usize = 8;
