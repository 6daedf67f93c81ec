// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record`: what the scheduler of the running kernel does, as our log and as a Perfetto trace.

use super::common::{print, print_json, section};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Pending, create};
use crate::sheet::Sheet;
use crate::units::{human_ns, number};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pelton_lab::results::traces::RecordReport;
use pelton_live::loads::{LOADS, Load, Running};
use pelton_live::{
    EventSet, LiveError, Options, READER_NICE, SETS, Session, Summary, buffer_mib_default, set_nice, signal_event,
};
use pelton_schema::{Event, Sink};
use pelton_trace::{PeltonLog, PerfettoTrace, RunHeader};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::IsTerminal;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

mod balances;
mod clamps;
mod gates;
mod lines;
mod placements;

/// How long a recording is when nothing else ends it.
const DURATION_NS: u64 = 10_000_000_000;

/// Does what was asked.
pub fn record(args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    let load = args.load.as_deref().map(load).transpose()?;
    if let Some(table) = &args.placements {
        return placements::record(table, load, args, global);
    }
    if let Some(table) = &args.clamps {
        return clamps::record(table, load, args, global);
    }
    if let Some(table) = &args.gates {
        return gates::record(table, load, args, global);
    }
    if let Some(table) = &args.balances {
        return balances::record(table, load, args, global);
    }
    let options = options(args)?;
    if args.output.is_none() && args.perfetto.is_none() {
        return Err(Failure::new(
            Exit::Usage,
            "no file to record to",
            Some("name one with -o FILE, --perfetto FILE, --placements FILE, --clamps FILE or --gates FILE"),
        ));
    }
    let outputs: Vec<&Path> = [&args.output, &args.perfetto].into_iter().flatten().map(PathBuf::as_path).collect();
    output::spare(&outputs, args.btf.as_slice())?;
    // What cannot start must not empty the file of an earlier recording.
    args.command.first().map_or(Ok(()), |program| can_start(program))?;
    let mut session = Session::start(&options).map_err(|e| cannot(&e))?;
    let mut files = Files::create(args, &header(&session, args))?;
    // The recorder's own task sleeps and wakes once before anything changes its weight: its record has been seen then.
    session.poll(&mut |time_ns, event| files.put(time_ns, event));
    let mut work = Work::start(args, load)?;
    work.say(global);
    let session = watch(session, &mut files, &mut work, args, global);
    let summary = session.finish(&mut |time_ns, event| files.put(time_ns, event));
    let bytes = files.finish()?;
    let report = report(args, &summary, bytes);
    match global.format {
        Format::Json => print_json(&report)?,
        Format::Csv => print(&sheet(&report).csv())?,
        Format::Table | Format::Toml => print(&text(&report))?,
    }
    Ok(work.end())
}

/// Is there such a program, as the shell would look for it?
fn can_start(program: &OsStr) -> Result<(), Failure> {
    let is_program = |path: &Path| {
        let is_executable = |meta: Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
        path.metadata().is_ok_and(is_executable)
    };
    let path = Path::new(program);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = match path.components().count() {
        1 => std::env::split_paths(&folders).any(|folder| is_program(&folder.join(path))),
        _ => is_program(path),
    };
    let reason = || format!("cannot start {}: there is no such program", program.to_string_lossy());
    if found { Ok(()) } else { Err(Failure::cannot(reason(), "is it installed and in PATH?")) }
}

/// Takes events until the time is over, the command has ended, Ctrl-C was pressed or a file cannot be written.
fn watch(mut session: Session, files: &mut Files, work: &mut Work, args: &RecordArgs, global: &Global) -> Session {
    let until_ns = work.until_ns(args);
    let bar = bar(global);
    watched();
    loop {
        let now = session.poll(&mut |time_ns, event| files.put(time_ns, event));
        bar.set_message(format!("{}: {} events, {} lost", human_ns(now.elapsed_ns), now.events, now.lost));
        bar.tick();
        let stopped = interrupt::is_requested();
        if stopped || files.have_failed() || now.elapsed_ns >= until_ns || work.is_over() {
            // What the buffers hold belongs to the recording, however long writing it takes.
            interrupt::notice();
            bar.finish_and_clear();
            return session;
        }
    }
}

/// Load and command have their own priority by now. A recorder that waits for its turn loses events; one that may not go first
/// still records.
fn watched() {
    let _ = set_nice(READER_NICE);
}

/// A line that says how far a recording is.
fn bar(global: &Global) -> ProgressBar {
    let visible = !global.quiet && std::io::stderr().is_terminal();
    let target = if visible { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    bar
}

fn options(args: &RecordArgs) -> Result<Options, Failure> {
    let known = || SETS.map(|(name, _)| name).join(", ");
    let mut sets: Vec<EventSet> = Vec::new();
    for name in args.events.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match SETS.iter().find(|(set, _)| *set == name) {
            Some(&(_, set)) => sets.push(set),
            None if name == "all" => sets.extend(SETS.map(|(_, set)| set)),
            None => {
                let reason = format!("`{name}` is no set of events");
                return Err(Failure::new(Exit::Usage, reason, Some(&format!("sets: {}, all", known()))));
            }
        }
    }
    if sets.is_empty() {
        return Err(Failure::new(Exit::Usage, "no events to record", Some(&format!("sets: {}, all", known()))));
    }
    Ok(Options {
        sets,
        full: args.full,
        buffer_mib: args.buffer.unwrap_or_else(buffer_mib_default),
        btf: args.btf.clone(),
    })
}

fn load(name: &str) -> Result<Load, Failure> {
    Load::of_text(name).map_err(|what| {
        let known = LOADS.map(|(name, _)| name).join(", ");
        let help = format!("loads: {known}; or parts as busy:threads=2+bursts:run_us=300,sleep_us=500");
        Failure::new(Exit::Usage, format!("`{name}` is no load: {what}"), Some(&help))
    })
}

/// What is missing and how to get it, one line each.
fn cannot(error: &LiveError) -> Failure {
    match error {
        LiveError::Missing(missing) => {
            let list: String = missing.iter().map(|what| format!("\n  missing: {what}")).collect();
            Failure { exit: Exit::CannotHere, text: format!("error: this machine cannot record{list}") }
        }
        LiveError::Refused { .. } => Failure::cannot(error, "a security policy (lockdown, seccomp) may forbid it"),
    }
}

fn header(session: &Session, args: &RecordArgs) -> RunHeader {
    let command = args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let workload = args.load.clone().unwrap_or(if command.is_empty() { "system".to_owned() } else { command });
    let mut header = pelton_live::header(env!("CARGO_PKG_VERSION"), &workload);
    header.groups = session.groups().to_vec();
    header.remarks.push(format!("events: {}", args.events));
    let missing = &session.summary().missing;
    header.remarks.extend(missing.iter().map(|name| format!("missing tracepoint: {name}")));
    header.remarks.extend(session.summary().notes.iter().map(|note| format!("note: {note}")));
    header
}

/// The files of a recording.
struct Files {
    log: Option<PeltonLog<File>>,
    perfetto: Option<PerfettoTrace<File>>,
    pending: Vec<Pending>,
}

impl Files {
    fn create(args: &RecordArgs, header: &RunHeader) -> Result<Files, Failure> {
        let mut pending = Vec::new();
        let mut open = |path: &PathBuf| {
            let file = create(path, true)?;
            let writer = file.writer()?;
            pending.push(file);
            Ok::<_, Failure>(writer)
        };
        let log = args.output.as_ref().map(&mut open).transpose()?.map(|file| PeltonLog::new(file, header));
        let perfetto = args.perfetto.as_ref().map(&mut open).transpose()?;
        let perfetto = perfetto.map(|file| PerfettoTrace::recorded(file, header));
        Ok(Files { log, perfetto, pending })
    }

    fn put(&mut self, time_ns: u64, event: &Event) {
        if let Some(log) = &mut self.log {
            log.event(time_ns, event);
        }
        if let Some(perfetto) = &mut self.perfetto {
            perfetto.event(time_ns, event);
            if let Some(average) = signal_event(event) {
                perfetto.event(time_ns, &average);
            }
        }
    }

    fn have_failed(&self) -> bool {
        self.log.as_ref().is_some_and(PeltonLog::has_failed)
            || self.perfetto.as_ref().is_some_and(PerfettoTrace::has_failed)
    }

    fn finish(self) -> Result<u64, Failure> {
        let log = self.log.map_or(Ok(0), |log| log.finish().map(|summary| summary.bytes));
        let perfetto = self.perfetto.map_or(Ok(()), |trace| trace.finish().map(drop));
        let bytes = perfetto.and(log);
        let bytes = bytes.map_err(|e| Failure::cannot(format!("cannot write the events: {e}"), "is the disk full?"))?;
        self.pending.into_iter().try_for_each(Pending::keep)?;
        Ok(bytes)
    }
}

/// What runs while the recording lasts.
struct Work {
    command: Option<Child>,
    load: Option<Running>,
    code: Option<i32>,
}

impl Work {
    fn start(args: &RecordArgs, load: Option<Load>) -> Result<Work, Failure> {
        let command = match args.command.split_first() {
            None => None,
            Some((program, rest)) => Some(Command::new(program).args(rest).spawn().map_err(|error| {
                let reason = format!("cannot start {}: {error}", program.to_string_lossy());
                Failure::cannot(reason, "is it installed and in PATH?")
            })?),
        };
        let refused = |error: std::io::Error| {
            let reason = format!("cannot run the load {}: {error}", args.load.as_deref().unwrap_or(""));
            Failure::cannot(
                reason,
                "loads need root; cgroup-moves, quotas and clamps need the cpu controller, version 1, at /sys/fs/cgroup/cpu",
            )
        };
        Ok(Work { command, load: load.map(Load::start).transpose().map_err(refused)?, code: None })
    }

    fn say(&self, global: &Global) {
        let notes = self.load.iter().flat_map(|load| &load.notes).filter(|_| !global.quiet);
        notes.for_each(|note| crate::say(&format!("note: {note}")));
    }

    /// How long the recording lasts unless something ends it before.
    fn until_ns(&self, args: &RecordArgs) -> u64 {
        args.duration.unwrap_or(if self.command.is_some() { u64::MAX } else { DURATION_NS })
    }

    /// True once the command has ended; a load never ends by itself.
    fn is_over(&mut self) -> bool {
        let Some(child) = &mut self.command else { return false };
        match child.try_wait() {
            Ok(None) => false,
            Ok(Some(status)) => {
                let by_signal = status.signal().map(|signal| 128 + signal);
                self.code = status.code().or(by_signal);
                true
            }
            Err(_) => true,
        }
    }

    /// Ends the load. A command that still runs is left alone; one that has ended ends the program as itself.
    fn end(self) -> Exit {
        drop(self.load);
        match self.code {
            Some(code) if code != 0 => {
                crate::say(&format!("note: the command ended with code {code}"));
                Exit::OfCommand(code as u8)
            }
            _ => Exit::Good,
        }
    }
}

/// What there is to say about a recording.
fn report(args: &RecordArgs, summary: &Summary, bytes: u64) -> RecordReport {
    let files = [&args.output, &args.perfetto].into_iter().flatten();
    RecordReport {
        sets: args.events.clone(),
        full: args.full,
        files: files.map(|path| path.display().to_string()).collect(),
        seconds: summary.last_ns.saturating_sub(summary.first_ns) as f64 / 1e9,
        total: summary.total(),
        bytes,
        lost: summary.lost,
        late: summary.late,
        skipped: summary.skipped,
        holes: summary.holes,
        switches: summary.switches,
        missing: summary.missing.clone(),
        notes: summary.notes.clone(),
        groups: summary.groups.clone(),
        events: summary.events.clone(),
    }
}

fn sheet(report: &RecordReport) -> Sheet {
    let mut sheet = Sheet::new(&["<event", "count"]);
    for (name, count) in &report.events {
        sheet.row(vec![(*name).to_owned(), count.to_string()]);
    }
    sheet
}

fn text(report: &RecordReport) -> String {
    let mut out = format!("{} events in {} s", report.total, number(report.seconds));
    if report.bytes > 0 && report.total > 0 {
        out += &format!(", {} bytes per event", number(report.bytes as f64 / report.total as f64));
    }
    out += &format!("\nlost: {}; holes: {} of {} switches\n", report.lost, report.holes, report.switches);
    if report.skipped > 0 {
        out += &format!(
            "not seen: {} times the kernel left a program out that an interrupt found running\n",
            report.skipped
        );
    }
    if !report.missing.is_empty() {
        out += &format!("this kernel does not have: {}\n", report.missing.join(", "));
    }
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out + &section("events", &sheet(report))
}
