// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes one invented run in every format, for `tests/trace/check_perfetto.py` and for looking at.
//!
//! `cargo run -p pelton-trace --example synthetic_run -- FOLDER [EVENTS [SEED]]`

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use pelton_schema::Sink;
use pelton_trace::{EventSelection, JsonLines, LongTable, PeltonLog, PerfettoTrace, TextDump};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| match args.get(index) {
        Some(text) => text.parse().map_err(|_| format!("not a number: {text}")),
        None => Ok(default),
    };
    let result = match (args.first(), number(1, 20_000), number(2, 1)) {
        (Some(folder), Ok(events), Ok(seed)) => {
            write_all(Path::new(folder), events, seed).map_err(|error| format!("{folder}: {error}"))
        }
        (None, ..) => Err("usage: synthetic_run FOLDER [EVENTS [SEED]]".to_owned()),
        (_, Err(text), _) | (_, _, Err(text)) => Err(text),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
    }
}

fn write_all(folder: &Path, events: u64, seed: u64) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let run = synthetic::header();
    let create = |name: &str| File::create(folder.join(name));
    let mut log = PeltonLog::new(create("run.plog")?, &run);
    let mut trace = PerfettoTrace::new(create("run.pftrace")?, &run);
    let mut text = TextDump::with_header(create("run.txt")?, &run);
    let mut csv = LongTable::new(create("run.csv")?, false);
    let mut json = JsonLines::new(create("run.jsonl")?, EventSelection::all());
    for (time_ns, event) in synthetic::Synthetic::new(seed).take(usize::try_from(events).unwrap_or(usize::MAX)) {
        log.event(time_ns, &event);
        trace.event(time_ns, &event);
        text.event(time_ns, &event);
        csv.event(time_ns, &event);
        json.event(time_ns, &event);
    }
    log.finish()?;
    trace.finish()?;
    text.finish()?;
    csv.finish()?;
    json.finish()?;
    Ok(())
}
