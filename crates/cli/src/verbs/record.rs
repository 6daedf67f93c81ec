// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton record`: what the scheduler of the running kernel does, as our log and as a Perfetto trace, or as a table of
//! decisions.

use super::common::{Screen, failure, print, print_json, section};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::sheet::Sheet;
use files::{Files, Names};
use pelton_lab::number::number;
use pelton_lab::results::Outcome;
use pelton_lab::results::balances::BalancesRecorded;
use pelton_lab::results::recorded::RecordReport;
use pelton_lab::verbs::record::{RecordRequest, Recorded, Report, Subject, record as ask};
use std::path::{Path, PathBuf};

mod files;
pub(super) mod lines;

/// Runs the verb.
pub fn record(args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    let request = request(args);
    let names = names(args, request.subject);
    if names.all().is_empty() && request.subject != Subject::Balances {
        return Err(Failure::new(
            Exit::Usage,
            "no file to record to",
            Some("name one with -o FILE, --perfetto FILE, --placements FILE, --clamps FILE or --gates FILE"),
        ));
    }
    output::spare(&names.all(), args.btf.as_slice())?;
    let mut files = Files::new(names);
    let recorded = ask(&request, &mut files, &Screen::new(global));
    let recorded = recorded.map_err(|error| files.failure.take().unwrap_or_else(|| failure(error)))?;
    show(&recorded.report, global)?;
    Ok(end(&recorded))
}

fn request(args: &RecordArgs) -> RecordRequest {
    let set = |name: &str| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    RecordRequest {
        subject: subject(args),
        events: args.events.split(',').filter_map(set).collect(),
        full: args.full,
        buffer_mib: args.buffer,
        btf: args.btf.clone(),
        load: args.load.clone(),
        command: args.command.iter().map(PathBuf::from).collect(),
        duration_ns: args.duration,
    }
}

fn subject(args: &RecordArgs) -> Subject {
    match &args.balances {
        _ if args.placements.is_some() => Subject::Placements,
        _ if args.clamps.is_some() => Subject::Clamps,
        _ if args.gates.is_some() => Subject::Gates,
        Some(table) if table.as_os_str() != "-" => Subject::Searches,
        Some(_) => Subject::Balances,
        None => Subject::Events,
    }
}

fn names(args: &RecordArgs, subject: Subject) -> Names {
    let table = match subject {
        Subject::Events | Subject::Balances => None,
        _ => [&args.placements, &args.clamps, &args.gates, &args.balances].into_iter().flatten().next(),
    };
    let machine = table.filter(|_| subject != Subject::Clamps).map(|table| pelton_replay::placements::beside(table));
    Names { log: args.output.clone(), perfetto: args.perfetto.clone(), table: table.cloned(), machine }
}

/// A command that has ended ends the program as itself.
fn end(recorded: &Recorded) -> Exit {
    match recorded.command_code {
        Some(code) if code != 0 => {
            crate::say(&format!("note: the command ended with code {code}"));
            Exit::OfCommand(code as u8)
        }
        _ => Exit::Good,
    }
}

fn show(report: &Report, global: &Global) -> Result<(), Failure> {
    match report {
        Report::Events(report) if global.format == Format::Csv => print(&sheet(report).csv()),
        Report::Events(report) => say(&**report, &events(report), global),
        Report::Placements(report) => {
            let beside = report.files.last().map(Path::new).map(Path::display);
            let beside = beside.map(|path| format!("{path} has what does not change\n")).unwrap_or_default();
            let head = format!("{} placements on {} CPUs in", report.decisions, report.cpus);
            say(report, &(table(&head, report.seconds, report.lost, &report.notes) + &beside), global)
        }
        Report::Clamps(report) => {
            let head = format!("{} decisions about clamps on {} CPUs in", report.records, report.cpus);
            say(report, &table(&head, report.seconds, report.lost, &report.notes), global)
        }
        Report::Gates(report) => {
            let head = format!("{} gates of {} CPUs in", report.decisions, report.cpus);
            say(report, &table(&head, report.seconds, report.lost, &report.notes), global)
        }
        Report::Balances(report) => say(&**report, &balances(report), global),
    }
}

fn say<T: Outcome>(report: &T, text: &str, global: &Global) -> Result<(), Failure> {
    if global.format == Format::Json { print_json(report) } else { print(text) }
}

/// Summary of a recorded table: its length, lost decisions and notes.
fn table(head: &str, seconds: f64, lost: u64, notes: &[String]) -> String {
    let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    format!("{head} {} s; lost: {lost}\n{notes}", number(seconds))
}

fn sheet(report: &RecordReport) -> Sheet {
    let mut sheet = Sheet::new(&["<event", "count"]);
    for (name, count) in &report.events {
        sheet.row(vec![(*name).to_owned(), count.to_string()]);
    }
    sheet
}

fn events(report: &RecordReport) -> String {
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

fn balances(report: &BalancesRecorded) -> String {
    let seconds = report.counts.seconds;
    let mut sheet = Sheet::new(&["<kind", "balances/s", "pulls/s", "tasks moved/s", "us each"]);
    for kind in &report.counts.kinds {
        let per_s = |n: u64| number(n as f64 / seconds);
        let each_us =
            if kind.balances > 0 { number(kind.spent_ns as f64 / 1e3 / kind.balances as f64) } else { "-".into() };
        sheet.row(vec![kind.kind.to_owned(), per_s(kind.balances), per_s(kind.pulls), per_s(kind.detached), each_us]);
    }
    let mut out = format!("balances of {} CPUs in {} s\n", report.cpus, number(seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out += &section("balances", &sheet);
    let mut sheet = Sheet::new(&["runnable tasks", "% of the time of all CPUs"]);
    for (tasks, percent) in report.counts.runnable_percent.iter().enumerate().filter(|(_, percent)| **percent > 0.0) {
        sheet.row(vec![tasks.to_string(), number(*percent)]);
    }
    out + &section("runnable tasks", &sheet)
}
