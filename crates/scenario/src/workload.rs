// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads as a user names them: an rt-app file, a benchmark with options, or several joined by `+`.

use std::ops::Range;
use std::path::Path;

use pelton_model::{Machine, Workload};

use crate::bench::{self, original::Original};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::rtapp::{self, Loaded, RtAppOptions};

/// Longest specification: room for some paths.
const SPEC_BYTES_MAX: usize = 1 << 16;

/// The workload that `spec` names: `mp3.json`, `sysbench-cpu:threads=2`, or `rt.json+busy:cpus=0`.
pub fn load(spec: &str, machine: &Machine) -> Result<Workload, Diagnostics> {
    load_full(spec, machine, &RtAppOptions::default()).map(|loaded| loaded.workload)
}

/// Loads a workload with options for rt-app files (`cpus` and `capacities` are taken from the machine), warnings and
/// notes.
pub fn load_full(spec: &str, machine: &Machine, options: &RtAppOptions) -> Result<Loaded, Diagnostics> {
    let file = SourceFile::new("--workload", spec);
    if spec.len() > SPEC_BYTES_MAX {
        return Err(file.about("the workload's name is too long").into());
    }
    let options = on(machine, options);
    let mut parts = Vec::new();
    let (mut warnings, mut notes, mut originals) = (Diagnostics::new(), Vec::new(), Vec::new());
    let (mut first_task, mut start) = (0, None);
    for part in parts_of(spec) {
        let loaded = load_part(&file, part.clone(), machine, &options)?;
        if loaded.start.is_some() && start.is_some() {
            let d = file.error(part, "`rt-app-start` is there twice");
            return Err(d.help("it is about all parts together: write it once").into());
        }
        let shifted = |o: Original| Original { tasks: o.tasks.start + first_task..o.tasks.end + first_task, ..o };
        originals.extend(loaded.originals.into_iter().map(shifted));
        first_task += loaded.workload.tasks.len();
        start = loaded.start.or(start);
        parts.push(loaded.workload);
        warnings.extend(loaded.warnings);
        notes.extend(loaded.notes);
    }
    notes.extend(two_kinds_of_work(spec, machine));
    let mut workload = bench::merge(parts);
    if let Some(start) = start {
        start.apply(&mut workload);
    }
    Ok(Loaded { workload, warnings, notes, originals, start })
}

/// Loads the text of an rt-app file.
pub fn load_text(file: &SourceFile, machine: &Machine, options: &RtAppOptions) -> Result<Loaded, Diagnostics> {
    rtapp::load_full(file, &on(machine, options))
}

fn on(machine: &Machine, options: &RtAppOptions) -> RtAppOptions {
    let capacities = machine.cpus.iter().map(|cpu| cpu.capacity).collect();
    RtAppOptions { cpus: u32::try_from(machine.cpus.len()).ok(), capacities, ..options.clone() }
}

/// An rt-app file counts its work on one CPU and a model beside it on another.
fn two_kinds_of_work(spec: &str, machine: &Machine) -> Option<String> {
    let parts = || parts_of(spec).into_iter().map(|part| &spec[part]);
    let first = machine.cpus.first()?.capacity;
    let is_biggest = machine.cpus.iter().all(|cpu| cpu.capacity <= first);
    let model = |part: &str| bench::MODELS.iter().find(|model| part.split(':').next() == Some(model.name));
    let counts_work =
        |part: &&str| !is_path(part) && model(part).is_some_and(|model| bench::work_note(model).is_some());
    let part = parts().find(counts_work).filter(|_| !is_biggest && parts().any(is_path))?;
    let name = part.split(':').next().unwrap_or(part);
    Some(format!(
        "work of `{name}` is time on the biggest CPU at its highest frequency; `run` of the rt-app file beside it counts on the \
         CPU of its calibration, CPU 0 where it names none"
    ))
}

/// The parts between `+`; a file whose name has a `+` is one part.
pub(crate) fn parts_of(spec: &str) -> Vec<Range<usize>> {
    if is_path(spec) && Path::new(spec).is_file() {
        return vec![Range { start: 0, end: spec.len() }];
    }
    let mut at = 0;
    let mut parts = Vec::new();
    for piece in spec.split('+') {
        let start = at + (piece.len() - piece.trim_start().len());
        parts.push(start..start + piece.trim().len());
        at += piece.len() + 1;
    }
    parts
}

/// An rt-app file: by its ending, by being a file with a path, or a stream.
fn is_path(part: &str) -> bool {
    // An option of a model may be a file, too.
    let of_model = part.split_once(':').is_some_and(|(name, _)| bench::MODELS.iter().any(|model| model.name == name));
    (part.ends_with(".json") && !of_model) || is_stream(part) || (part.contains('/') && Path::new(part).is_file())
}

fn is_stream(part: &str) -> bool {
    part == "-" || part == "/dev/stdin" || part.starts_with("/dev/fd/")
}

fn load_part(
    file: &SourceFile,
    part: Range<usize>,
    machine: &Machine,
    options: &RtAppOptions,
) -> Result<Loaded, Diagnostics> {
    let text = &file.text()[part.clone()];
    if text.is_empty() {
        let d = file.error(part, "a workload is missing here");
        return Err(d.help("give an rt-app file (.json) or a benchmark; several are joined by +").into());
    }
    if is_path(text) {
        let read = if is_stream(text) { rtapp::read_stream } else { rtapp::read_file };
        return rtapp::load_full(&read(Path::new(text))?, options);
    }
    let made = bench::load_part(file, part, machine)?;
    let original = |program| Original { program, tasks: 0..made.workload.tasks.len() };
    let originals = made.program.map(original).into_iter().collect();
    let start = made.start;
    Ok(Loaded { workload: made.workload, warnings: Diagnostics::new(), notes: Vec::new(), originals, start })
}
