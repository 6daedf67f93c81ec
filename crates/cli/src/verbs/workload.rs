// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton workload`: models, and workloads made from traces.

use super::common::{Screen, failure, part, print, print_list, print_plain, print_sheet};
use crate::args::{Format, FromTraceArgs, Global};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::sheet::Sheet;
use pelton_lab::results::lists::{WorkloadModel, Workloads};
use pelton_lab::verbs::workload::{self, FromTraceRequest};
use pelton_scenario::bench::MODELS;
use pelton_scenario::diagnostic::hint_for;
use std::path::PathBuf;

/// One line for each model.
pub fn list(global: &Global) -> Result<Exit, Failure> {
    let all = Workloads::all();
    let mut sheet = Sheet::new(&["<model", "<what"]);
    all.models.iter().for_each(|model| sheet.row(vec![model.model.to_owned(), model.what.to_owned()]));
    print_list(global, &sheet, &all)?;
    Ok(Exit::Good)
}

/// The options of one model.
pub fn show(name: &str, global: &Global) -> Result<Exit, Failure> {
    let Some(model) = MODELS.iter().find(|model| model.name == name) else {
        let hint = hint_for(name, MODELS.iter().map(|model| model.name));
        return Err(Failure::new(Exit::Usage, format!("no model is called `{name}`"), Some(&hint)));
    };
    let model = WorkloadModel::from(model);
    let mut sheet = Sheet::new(&["<option", "<default", "<unit"]);
    for option in &model.options {
        let words = [option.option, option.default.unwrap_or("-"), option.unit.unwrap_or("")];
        sheet.row(words.map(str::to_owned).to_vec());
    }
    if matches!(global.format, Format::Table | Format::Markdown) {
        print(&format!("{}: {}\n\n", model.model, model.what))?;
    }
    print_sheet(global, &sheet, &model)?;
    if let Some(note) = model.note.filter(|_| matches!(global.format, Format::Table | Format::Markdown)) {
        print(&format!("\n{note}\n"))?;
    }
    Ok(Exit::Good)
}

/// Runs the verb.
pub fn from_trace(args: &FromTraceArgs, global: &Global) -> Result<Exit, Failure> {
    let read: Vec<PathBuf> = args.part.platform_files().chain([args.trace.clone()]).collect();
    output::spare(args.output.as_slice(), &read)?;
    let request = FromTraceRequest { trace: args.trace.clone(), part: part(&args.part), model: args.model };
    let text = workload::from_trace(&request, &Screen::new(global)).map_err(failure)?;
    match &args.output {
        None => print_plain(&text)?,
        Some(path) => output::write(path, &text)?,
    }
    Ok(Exit::Good)
}
