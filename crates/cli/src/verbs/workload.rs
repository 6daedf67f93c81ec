// SPDX-License-Identifier: GPL-2.0-only
//! `pelton workload`: workloads made from traces.

use super::common::print;
use super::recorded::{self, Platform};
use crate::args::{FromTraceArgs, Global};
use crate::exit::{Exit, Failure};
use crate::output;
use pelton_replay::workload::{self, Habits, Pin, SynthesisOptions, WriteOptions};
use std::path::PathBuf;

/// Does what was asked.
pub fn from_trace(args: &FromTraceArgs, global: &Global) -> Result<Exit, Failure> {
    let read: Vec<PathBuf> = args.part.platform_files().chain([args.trace.clone()]).collect();
    output::spare(args.output.as_slice(), &read)?;
    let read = recorded::read(&args.part, &args.trace, 0, global)?;
    let recorded = &read.recorded;
    let other = args.part.platform.as_deref().map(Platform::named);
    let machine = recorded::machine(other.as_ref().unwrap_or(&read.platform))?.machine;
    let habits = Habits::of(&recorded.recording);
    let options = SynthesisOptions {
        only: args.part.tasks.clone(),
        pin: if args.part.pin { Pin::Itself } else { Pin::Free },
        ..SynthesisOptions::default()
    };
    let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machine, &options);
    if made.workload.tasks.is_empty() {
        let text = "no task is left: see --task, --from and --to";
        return Err(Failure::input(format!("{}: {text}", args.trace.display())));
    }
    if !global.quiet {
        made.notes.iter().chain(&recorded::notes(&read)).for_each(|note| crate::say(&format!("note: {note}")));
    }
    let text = workload::write_rtapp(&made.workload, &machine, WriteOptions { model: args.model });
    let text = text.map_err(|what| Failure::input(format!("{}: {what}", args.trace.display())))?;
    match &args.output {
        None => print(&text)?,
        Some(path) => output::write(path, &text)?,
    }
    Ok(Exit::Good)
}
