// SPDX-License-Identifier: GPL-2.0-only
//! What several verbs do the same way: inputs, errors, output.

use crate::args::{Format, Global, InputArgs, PolicyArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::results::{self, Outcome};
use crate::sheet::{self, Sheet};
use crate::units::human_ns;
use pelton_lab::plan::{self, Inputs, MachineChanges, PolicySpec, Prepared};
use pelton_lab::run::{Control, LabError};
use pelton_scenario::Diagnostics;
use pelton_trace::import::ImportError;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// What the arguments say about platform and workload.
pub fn inputs(args: &InputArgs, seed: u64, random_phase: bool) -> Inputs {
    Inputs {
        platform: args.platform.clone(),
        platform_text: None,
        workload: args.workload.clone(),
        seed,
        duration_ns: args.duration,
        hz: args.hz,
        rate_limit_us: args.rate_limit_us,
        random_phase,
        machine: MachineChanges::default(),
        group: args.group.clone(),
        delays_ns: Vec::new(),
        defines: args.defines.iter().cloned().collect(),
    }
}

/// Files that the arguments may name as platform and workload.
pub fn input_files(args: &InputArgs) -> Vec<PathBuf> {
    let workloads = args.workload.split('+').map(|part| PathBuf::from(part.trim()));
    workloads.chain([PathBuf::from(&args.workload), PathBuf::from(&args.platform)]).collect()
}

/// Files that are named as policies.
pub fn policy_files(policies: &[String]) -> impl Iterator<Item = PathBuf> {
    policies.iter().filter_map(|text| PolicySpec::parse(text).file)
}

/// What the arguments say about the policy.
pub fn policy_spec(args: &PolicyArgs) -> PolicySpec {
    PolicySpec { file: args.policy.clone(), profile: args.profile.clone(), sets: args.sets.clone(), typed: None }
}

/// The plan; what is suspicious about it goes to stderr.
pub fn prepare(inputs: &Inputs, spec: &PolicySpec, global: &Global) -> Result<Prepared, Failure> {
    let prepared = prepare_again(inputs, spec, global)?;
    if !global.quiet {
        say_warnings(&prepared.warnings);
        prepared.notes.iter().for_each(|note| crate::say(&format!("note: {note}")));
    }
    Ok(prepared)
}

/// The same for another policy: what there is to say about the workload was said with the first.
pub fn prepare_again(inputs: &Inputs, spec: &PolicySpec, global: &Global) -> Result<Prepared, Failure> {
    let prepared = plan::build(inputs, spec).map_err(|d| bad_input(&d))?;
    if !global.quiet {
        say_warnings(&prepared.policy.warnings);
    }
    Ok(prepared)
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

/// How an error of the lab ends the program.
pub fn failure(error: LabError) -> Failure {
    match error {
        LabError::Input(diagnostics) => bad_input(&diagnostics),
        LabError::Interrupted { at_ns } => {
            let text = format!(
                "interrupted at {} of simulated time: no result, files written so far are partial",
                human_ns(at_ns)
            );
            interrupt::failure(text)
        }
        other => Failure::input(other),
    }
}

/// Runs `work` with a progress bar over `total_ns` of simulated time and with Ctrl-C stopping it.
pub fn watched<T>(
    global: &Global,
    total_ns: u64,
    note: &str,
    work: impl FnOnce(Control<'_>) -> Result<T, LabError>,
) -> Result<T, Failure> {
    let progress = Progress::new(total_ns, global.quiet);
    progress.note(note);
    let advance = |ns| progress.advance(ns);
    let result = work(Control { stop: interrupt::flag(), progress: &advance });
    drop(progress);
    result.map_err(failure)
}

/// Prints to stdout. A reader that went away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(pelton_trace::lines(text).as_bytes()).and_then(|()| out.flush()) {
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

/// A result as a JSON value, with what it is in front.
pub fn value<T: Outcome>(result: &T) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(results::described(result)).map_err(|e| Failure::new(Exit::Bug, e, None))
}

/// Prints anything as JSON.
pub fn print_as_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::new(Exit::Bug, e, None))?;
    print(&(text + "\n"))
}

/// A table under a heading; nothing when the table is empty.
pub fn section(heading: &str, sheet: &Sheet) -> String {
    if sheet.is_empty() {
        return String::new();
    }
    let heading = if heading.is_empty() { String::new() } else { format!("\n{heading}\n") };
    heading + &sheet.text(sheet::terminal_width())
}

/// Prints one table in the format asked for; `json` is the value behind it.
pub fn print_sheet(global: &Global, sheet: &Sheet, json: &impl Outcome) -> Result<(), Failure> {
    match global.format {
        Format::Table | Format::Toml => print(&sheet.text(sheet::terminal_width())),
        Format::Csv => print(&sheet.csv()),
        Format::Json => print_json(json),
    }
}

/// The same for a list of what there is, which people also read in a pager: no line is longer than a page in a pipe either.
pub fn print_list(global: &Global, sheet: &Sheet, json: &impl Outcome) -> Result<(), Failure> {
    match global.format {
        Format::Table | Format::Toml => print(&sheet.text(Some(sheet::page_width()))),
        _ => print_sheet(global, sheet, json),
    }
}
