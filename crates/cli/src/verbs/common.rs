// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts that several verbs share: inputs, errors, output.

use crate::args::{Format, Global, IdleStatesFrom, InputArgs, OptionArgs, PartArgs, PolicyArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::paint;
use crate::progress::{Counting, Progress};
use crate::sheet::{self, Sheet};
use pelton_lab::number::human_ns;
use pelton_lab::plan::PolicySpec;
use pelton_lab::results::{self, Outcome};
use pelton_lab::run::{Fault, LabError, Refusal};
use pelton_lab::verbs::inputs::InputRequest;
use pelton_lab::verbs::recorded::PartRequest;
use pelton_lab::watch::{Amount, Watch};
use pelton_scenario::Diagnostics;
use pelton_trace::import::ImportError;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Request for platform and workload, from the arguments.
pub fn input(args: &InputArgs) -> InputRequest {
    input_of(&args.platform, &args.workload, &args.options)
}

/// Inputs of a verb that names platform and workload apart.
pub fn input_of(platform: &str, workload: &str, args: &OptionArgs) -> InputRequest {
    InputRequest {
        platform: platform.to_owned(),
        workload: workload.to_owned(),
        duration_ns: args.duration,
        hz: args.hz,
        rate_limit_us: args.rate_limit_us,
        group: args.group.clone(),
        defines: args.defines.iter().cloned().collect(),
        ..InputRequest::default()
    }
}

/// Request for a part of a recording, from the arguments.
pub fn part(args: &PartArgs) -> PartRequest {
    PartRequest {
        platform: args.platform.clone(),
        recorded_on: args.recorded_on.clone(),
        pin: args.pin,
        idle_states_of_platform: args.idle_states == IdleStatesFrom::Platform,
        tasks: args.tasks.clone(),
        from_ns: args.from,
        to_ns: args.to,
        max_gap_ns: args.max_gap,
    }
}

/// Files that the arguments may name as platform and workload.
pub fn input_files(args: &InputArgs) -> Vec<PathBuf> {
    files_of(&args.workload).chain([PathBuf::from(&args.platform)]).collect()
}

/// Files that a workload may name.
pub fn files_of(workload: &str) -> impl Iterator<Item = PathBuf> {
    workload.split('+').map(|part| PathBuf::from(part.trim())).chain([PathBuf::from(workload)])
}

/// Files that are named as policies.
pub fn policy_files(policies: &[String]) -> impl Iterator<Item = PathBuf> {
    policies.iter().filter_map(|text| PolicySpec::parse(text).file)
}

/// Policy named by the arguments.
pub fn policy_spec(args: &PolicyArgs) -> Result<PolicySpec, Failure> {
    let mut spec = args.policy.as_deref().map_or_else(PolicySpec::default, PolicySpec::parse);
    if let (Some(option), Some(typed)) = (&args.profile, &spec.profile)
        && option != typed
    {
        let reason = format!("--profile {option} and --policy {typed} name two profiles");
        return Err(Failure::new(Exit::Usage, reason, Some("keep one of them")));
    }
    spec.profile = args.profile.clone().or(spec.profile);
    spec.sets.extend(args.sets.iter().cloned());
    Ok(spec)
}

/// The file that the arguments name as policy, if it is one.
pub fn policy_file(args: &PolicyArgs) -> Option<PathBuf> {
    PolicySpec::parse(args.policy.as_deref()?).file
}

/// Terminal of the user: bars and notes on stderr, Ctrl-C.
pub struct Screen<'a> {
    global: &'a Global,
    shown: Mutex<Option<Shown>>,
}

enum Shown {
    Time(Progress),
    Events(Counting),
}

impl<'a> Screen<'a> {
    /// Shows what these arguments want to be shown.
    pub fn new(global: &'a Global) -> Self {
        Screen { global, shown: Mutex::new(None) }
    }

    fn shown(&self) -> MutexGuard<'_, Option<Shown>> {
        // A bar that was being drawn during a panic is still a bar.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Screen<'_> {
    fn stop(&self) -> &'static AtomicBool {
        interrupt::flag()
    }

    fn begins(&self, what: &str, amount: Amount) {
        *self.shown() = Some(match amount {
            Amount::Events => Shown::Events(Counting::new(self.global.quiet)),
            Amount::Time(total_ns) => {
                let progress = Progress::new(total_ns, self.global.quiet);
                progress.note(what);
                Shown::Time(progress)
            }
        });
    }

    fn at(&self, what: &str) {
        if let Some(Shown::Time(progress)) = &*self.shown() {
            progress.note(what);
        }
    }

    fn advance(&self, ns: u64) {
        if let Some(Shown::Time(progress)) = &*self.shown() {
            progress.advance(ns);
        }
    }

    fn events(&self, count: u64) {
        if count.is_multiple_of(4096)
            && let Some(Shown::Events(counting)) = &*self.shown()
        {
            counting.at(count);
        }
    }

    fn ends(&self) {
        if interrupt::is_requested() {
            // The part has seen it: how long it takes to write what there is, is its own affair.
            interrupt::notice();
        }
        *self.shown() = None;
    }

    fn note(&self, text: &str) {
        if !self.global.quiet {
            crate::say(&format!("note: {text}"));
        }
    }

    fn warn(&self, warnings: &Diagnostics) {
        if !self.global.quiet {
            say_warnings(warnings);
        }
    }
}

/// Warnings go to stderr.
pub fn say_warnings(warnings: &Diagnostics) {
    if !warnings.is_empty() {
        crate::say(rendered(warnings).trim_end());
    }
}

/// Messages as they go to stderr: as wide as the terminal, coloured only there.
pub fn rendered(diagnostics: &Diagnostics) -> String {
    let stderr = std::io::stderr();
    let width = terminal_size::terminal_size_of(&stderr).map_or(100, |(w, _)| usize::from(w.0.clamp(40, 120)));
    let color = stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    pelton_scenario::render(diagnostics, width, color)
}

/// A trace that cannot be read, or reading that was asked to end.
pub fn unreadable(error: ImportError) -> Failure {
    if error.is_stop() {
        return interrupt::failure(format!("{}: interrupted while reading: no result", error.path.display()));
    }
    Failure::input(error)
}

/// Wrong input.
pub fn bad_input(diagnostics: &Diagnostics) -> Failure {
    Failure { exit: Exit::BadInput, text: rendered(diagnostics).trim_end().to_owned() }
}

/// Exit and message for an error of the lab.
pub fn failure(error: LabError) -> Failure {
    match error {
        LabError::Input(diagnostics) => bad_input(&diagnostics),
        LabError::Interrupted { at_ns } => {
            interrupt::failure(format!("interrupted at {} of simulated time: no result", human_ns(at_ns)))
        }
        LabError::Kernel(text) => {
            let hint = "the place is in the kernel tree that the image was built from: pelton kernel show NAME";
            Failure::new(Exit::KernelFailed, format!("kernel code failed: {text}"), Some(hint))
        }
        LabError::Stopped(text) => interrupt::failure(text),
        LabError::Trace(error) => unreadable(*error),
        LabError::Refused(Refusal { fault, reason, hint }) => {
            let exit = match fault {
                Fault::Request => Exit::Usage,
                Fault::Input => Exit::BadInput,
                Fault::Machine => Exit::CannotHere,
            };
            Failure::new(exit, reason, hint.as_deref())
        }
        other => Failure::input(other),
    }
}

/// Prints text with tables to stdout, coloured on a terminal.
pub fn print(text: &str) -> Result<(), Failure> {
    let plain = |text: &str| match pelton_trace::lines(text) {
        shown if sheet::is_markdown() => sheet::inert_in_pages(&shown),
        shown => shown.into_owned(),
    };
    to_stdout(&paint::finish(text, paint::wanted(), plain))
}

/// Prints what other programs read.
pub fn print_plain(text: &str) -> Result<(), Failure> {
    to_stdout(&pelton_trace::lines(text))
}

/// A reader that went away (`| head`) is no error.
fn to_stdout(shown: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(shown.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::cannot(format!("cannot write to standard output: {error}"), "is the disk full?"))
        }
        _ => Ok(()),
    }
}

/// Prints a result as JSON, with what it is in front.
pub fn print_json<T: Outcome>(value: &T) -> Result<(), Failure> {
    print_as_json(&results::described(value))
}

/// Prints anything as JSON.
pub fn print_as_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::new(Exit::Bug, e, None))?;
    print_plain(&(text + "\n"))
}

/// Notes on numbers, once each: `energy` where the power decides, else the first number's name.
pub fn notes<'a>(rows: impl Iterator<Item = (&'static str, Option<&'a str>)>) -> Vec<(&'static str, &'a str)> {
    let mut said: Vec<(&'static str, &'a str)> = Vec::new();
    for (quantity, note) in rows {
        let Some(note) = note.filter(|note| said.iter().all(|(_, before)| before != note)) else { continue };
        said.push((if quantity.ends_with("energy_mj") { "energy" } else { quantity }, note));
    }
    said
}

/// A table under a heading; nothing when the table is empty.
pub fn section(heading: &str, sheet: &Sheet) -> String {
    if sheet.is_empty() {
        return String::new();
    }
    let heading = match (heading.is_empty(), sheet::is_markdown()) {
        (true, true) => "\n".to_owned(),
        (true, false) => String::new(),
        // A table of Markdown begins behind an empty line.
        (false, true) => format!("\n### {heading}\n\n"),
        (false, false) => format!("\n{heading}\n"),
    };
    heading + &sheet.text(sheet::terminal_width())
}

/// Prints one table in the format asked for; `json` is the value behind it.
pub fn print_sheet(global: &Global, sheet: &Sheet, json: &impl Outcome) -> Result<(), Failure> {
    match global.format {
        Format::Table | Format::Markdown | Format::Toml => print(&sheet.text(sheet::terminal_width())),
        Format::Csv => print(&sheet.csv()),
        Format::Json => print_json(json),
    }
}

/// Prints a list as [`print_sheet`] does a table, but wrapped to a page in a pipe as well: people read lists in a
/// pager.
pub fn print_list(global: &Global, sheet: &Sheet, json: &impl Outcome) -> Result<(), Failure> {
    match global.format {
        Format::Table | Format::Markdown | Format::Toml => print(&sheet.text(Some(sheet::page_width()))),
        _ => print_sheet(global, sheet, json),
    }
}
