// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton explain --recorded`: one decision of the core as a scheduler, as one of a run is explained.

use super::common::{Screen, failure, print, print_json};
use super::{explain, explain_placement};
use crate::args::{ExplainArgs, Format, Global};
use crate::exit::{Exit, Failure};
use pelton_lab::results::Outcome;
use pelton_lab::time::seconds;
use pelton_lab::verbs::explain_recorded::{ExplainedCall, ExplainedPlace, RecordedRequest, frequency, placement};
use std::fmt::Write as _;
use std::path::Path;

/// Explains a decision out of a folder.
pub fn explain(folder: &Path, args: &ExplainArgs, global: &Global) -> Result<Exit, Failure> {
    let request = request(folder, args)?;
    let watch = Screen::new(global);
    if args.placement.is_some() {
        let found = placement(&request, &watch).map_err(failure)?;
        return say(&found, &place(&found), &explain_placement::sheet(&found.explanation).csv(), global);
    }
    let found = frequency(&request, &watch).map_err(failure)?;
    say(&found, &call(&found), &explain::request_sheet(&found.explanation).csv(), global)
}

fn request(folder: &Path, args: &ExplainArgs) -> Result<RecordedRequest, Failure> {
    let hint = "a recording has ids of tasks: --placement=1234, or --placement for any task";
    let wrong = |_| Failure::new(Exit::Usage, "--placement names a task by its id in a recording", Some(hint));
    let tid = args.placement.as_deref().filter(|task| !task.is_empty());
    Ok(RecordedRequest {
        recording: folder.to_owned(),
        at_ns: args.at,
        cpu: args.cpu,
        changed: args.changed,
        held: args.held,
        tid: tid.map(str::parse).transpose().map_err(wrong)?,
    })
}

fn say<T: Outcome>(result: &T, text: &str, csv: &str, global: &Global) -> Result<Exit, Failure> {
    match global.format {
        Format::Json => print_json(result)?,
        Format::Csv => print(csv)?,
        Format::Table | Format::Markdown | Format::Toml => print(text)?,
    }
    Ok(Exit::Good)
}

fn call(ExplainedCall { run, target, explanation, count }: &ExplainedCall) -> String {
    let (time, name) = (seconds(explanation.time_ns), &explanation.domain.1);
    let mut out = format!("{time} s, {name}, Linux {} ({})\n", run.release, run.recording);
    let _ = writeln!(out, "{} (number {count} of the kind asked for)\n", explain::outcome(explanation));
    out += &explain::chain(explanation);
    if *target > 0 {
        let _ =
            writeln!(out, "\ntarget handed to the kernel: {target} of 1024; it takes the largest of a domain's CPUs");
    }
    out
}

fn place(ExplainedPlace { run, torn, explanation, count }: &ExplainedPlace) -> String {
    let machine = format!("Linux {} ({})", run.release, run.recording);
    let mut out = explain_placement::choice(explanation, &machine, *count);
    if *torn {
        out += "another CPU wrote what was read meanwhile: the terms may be those before or after\n";
    }
    out
}
