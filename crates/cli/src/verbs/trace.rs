// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton trace`: what a trace holds, and a trace in another form.

use super::common::{Screen, failure, print, print_json};
use super::export_tables;
use crate::args::{ExportArgs, Format, Global, TraceForm, TraceInfoArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output;
use crate::sheet::Sheet;
use pelton_lab::results::traces::Task;
use pelton_lab::run::LabError;
use pelton_lab::verbs::export::{ExportForm, ExportRequest, Opened, open};
use pelton_lab::verbs::trace_info::{Looked, TraceInfoRequest, trace_info};
use pelton_replay::workload::GAP_NS_MAX;
use pelton_trace::import::{Converted, Format as InputFormat, TraceInfo};
use pelton_trace::one_line;
use std::path::Path;

/// Format, length, events, damage.
pub fn info(args: &TraceInfoArgs, global: &Global) -> Result<Exit, Failure> {
    let input_format = args.input_format.map(|format| format.name().to_owned());
    let request = TraceInfoRequest { trace: args.file.clone(), input_format };
    let looked = trace_info(&request, &Screen::new(global)).map_err(failure)?;
    if global.format == Format::Json {
        print_json(&looked.result)?;
    } else {
        print(&as_text(&looked, global.format == Format::Csv))?;
    }
    Ok(Exit::Good)
}

fn as_text(Looked { info, silence_at_ns, result }: &Looked, csv: bool) -> String {
    let mut events = Sheet::new(&["<event", "count", "<read"]);
    info.events.iter().for_each(|(name, n)| events.row(vec![(*name).to_owned(), n.to_string(), "yes".into()]));
    info.skipped.iter().for_each(|(name, n)| events.row(vec![name.clone(), n.to_string(), "no meaning here".into()]));
    if csv {
        return events.csv();
    }
    let seconds = |ns: u64| format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000);
    // A log of ours says how many there are; of others one sees the highest that did something.
    let cpus = match info.format {
        InputFormat::PeltonLog => info.cpus.to_string(),
        _ => format!("{} at least: the highest seen is {}", info.cpus, info.cpus.saturating_sub(1)),
    };
    let mut text = format!("format   {}\ncpus     {cpus}\n", info.format.name());
    info.kernel.iter().for_each(|kernel| text += &format!("kernel   {}\n", one_line(kernel)));
    if let Some((first_ns, last_ns)) = result.first_ns.zip(result.last_ns) {
        let length = seconds(last_ns - first_ns);
        text += &format!("time     {} to {}, {length}\n", seconds(first_ns), seconds(last_ns));
    }
    if result.longest_silence_ns > GAP_NS_MAX {
        let (length, at) = (seconds(result.longest_silence_ns), seconds(*silence_at_ns));
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
    let row = |task: &Task| vec![task.name.clone(), task.tid.to_string(), task.switches.to_string()];
    result.tasks.iter().for_each(|task| tasks.row(row(task)));
    if !tasks.is_empty() {
        text += &format!("\n{}", tasks.text(crate::sheet::terminal_width()));
    }
    text
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Events that the recorder lost, in words.
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
    let request = ExportRequest {
        trace: args.file.clone(),
        input_format: args.input_format.map(|format| format.name().to_owned()),
        to: form(args.to),
        events: args.events.clone(),
        from_ns: args.from,
        to_ns: args.to_time,
        cpus: args.cpus.clone(),
        tasks: args.tasks.clone(),
    };
    request.selection().map_err(failure)?;
    output::spare(&[&args.output], std::slice::from_ref(&args.file))?;
    let watch = Screen::new(global);
    let mut opened = open(&request, &watch).map_err(failure)?;
    let converted = match request.to.table() {
        Some(tables) if export_tables::is_folder(&args.output) => {
            export_tables::folder(&mut opened, &args.output, tables, &watch)
        }
        _ => whole(&mut opened, args, &watch),
    }?;
    if !global.quiet {
        let output = match args.output.as_os_str() == "-" {
            true => "the output".to_owned(),
            false => args.output.display().to_string(),
        };
        say_losses(opened.info(), &converted, &output);
    }
    Ok(Exit::Good)
}

fn form(to: TraceForm) -> ExportForm {
    match to {
        TraceForm::Perfetto => ExportForm::Perfetto,
        TraceForm::Ftrace => ExportForm::Ftrace,
        TraceForm::Text => ExportForm::Text,
        TraceForm::Log => ExportForm::Log,
        TraceForm::Csv => ExportForm::Csv,
        TraceForm::Json => ExportForm::Json,
        TraceForm::Parquet => ExportForm::Parquet,
    }
}

/// One file that holds the trace.
fn whole(opened: &mut Opened<'_>, args: &ExportArgs, watch: &Screen<'_>) -> Result<Converted, Failure> {
    // Others cannot be distinguished from complete ones, so they come to be only when they are.
    let tells = matches!(args.to, TraceForm::Log | TraceForm::Perfetto);
    let pending = output::create(&args.output, tells)?;
    let written = opened.write(pending.writer()?, watch);
    let converted = written.map_err(|error| not_converted(error, &args.output))?;
    if !converted.stopped {
        pending.keep()?;
        return Ok(converted);
    }
    interrupt::notice();
    let name = args.output.display();
    if !tells {
        return Err(interrupt::failure(format!("interrupted: {name} is not written")));
    }
    let text = match pending.keep_part() {
        Some(part) => format!("interrupted: {} holds what was read so far, and says so", part.display()),
        None => format!("interrupted: {name} got what was read so far"),
    };
    Err(interrupt::failure(text))
}

/// Failure of a conversion that wrote nothing, or not everything.
pub(super) fn not_converted(error: LabError, output: &Path) -> Failure {
    match error {
        LabError::Output(error) => export_tables::cannot(output, &error),
        other => failure(other),
    }
}

/// Warns of events of the trace that the output does not have.
pub(super) fn say_losses(info: &TraceInfo, converted: &Converted, output: &str) {
    let list = |events: &mut dyn Iterator<Item = (&str, u64)>| {
        let all: Vec<String> = events.map(|(name, n)| format!("{name} ({n})")).collect();
        let more =
            if all.len() > KINDS_SHOWN { format!(" and {} more", all.len() - KINDS_SHOWN) } else { String::new() };
        (!all.is_empty()).then(|| all[..all.len().min(KINDS_SHOWN)].join(", ") + &more)
    };
    if let Some(list) = list(&mut converted.left_out.iter().map(|(name, &n)| (*name, n))) {
        crate::say(&format!("note: not in {output}: this form cannot hold {list}; a log (--to log) can"));
    }
    if let Some(list) = list(&mut info.skipped.iter().map(|(name, &n)| (name.as_str(), n))) {
        crate::say(&format!("note: not in {output}: events that mean nothing here: {list}"));
    }
    if !info.is_complete() {
        crate::say(&format!("note: damaged: {}; lost: {}", counted(info.damaged, "place"), lost(info)));
    }
}

/// Kinds of events that a note lists.
const KINDS_SHOWN: usize = 8;
