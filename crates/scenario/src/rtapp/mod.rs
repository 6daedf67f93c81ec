// SPDX-License-Identifier: GPL-2.0-or-later
//! rt-app files: the workload language of the field, read in full.
//!
//! [`parse`] checks that a file follows the grammar of some rt-app version; [`load`] turns it into a workload, and
//! refuses with file, line and reason what the simulator cannot honour. Nothing is skipped in silence.
//!
//! Text to tree (`json`), tree to grammar (`read`), one shape for all grammars (`flat`, `exec`), meaning as a whole
//! (`check`), simulated tasks (`lower`).

mod ast;
mod check;
mod exec;
mod flat;
mod json;
mod lower;
mod read;
mod report;

use std::collections::BTreeMap;
use std::path::Path;

use pelton_model::Workload;

pub use ast::*;
pub use json::{Member, Node, Span, Value};

use crate::bench::{RtAppStart, original::Original};
use crate::diagnostic::{Diagnostics, SourceFile};

/// Largest file read, bytes.
pub const RTAPP_BYTES_MAX: usize = 16 << 20;

/// Facts that a file cannot contain.
#[derive(Clone, Debug, Default)]
pub struct RtAppOptions {
    /// CPUs of the machine; `None` leaves `cpus` unchecked.
    pub cpus: Option<u32>,
    /// Capacity of each CPU at its highest frequency, for `run` measured by a calibration; 1024 where none is given.
    pub capacities: Vec<u32>,
    /// Values of template words: `LOGDIR` for `__LOGDIR__`.
    pub defines: BTreeMap<String, String>,
    /// Round `run` down to whole loops of the calibration, as the program does. Off: the work is exactly what is
    /// written.
    pub quantise: bool,
    /// Name that a task sleeps under at `suspend`.
    pub suspend: SuspendRule,
    /// Name of the workload; the file's name by default.
    pub name: Option<String>,
}

/// Meaning of the string after `suspend`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuspendRule {
    /// The task sleeps under that name; its own name when none is written. rt-app until May 2025, and what the
    /// published use cases rely on.
    #[default]
    Named,
    /// The string is ignored: the task sleeps under its own name. rt-app since May 2025.
    OwnName,
}

/// A workload with warnings and notes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The tasks.
    pub workload: Workload,
    /// Warnings on parts that probably do not mean what their author thinks.
    pub warnings: Diagnostics,
    /// Notes on parts that have no effect here.
    pub notes: Vec<String>,
    /// Programs in it whose output can be printed; none from a file.
    pub originals: Vec<Original>,
    /// Start of all parts; `None`: every thread is there at the start.
    pub start: Option<RtAppStart>,
}

/// Checks a file against the grammar. Template words (`__LOGDIR__`) are accepted and listed.
pub fn parse(file: &SourceFile) -> Result<RtAppFile, Diagnostics> {
    parse_with(file, &BTreeMap::new())
}

/// Parses a file after template words have been replaced by their definitions.
pub fn parse_with(file: &SourceFile, defines: &BTreeMap<String, String>) -> Result<RtAppFile, Diagnostics> {
    if file.text().len() > RTAPP_BYTES_MAX {
        return Err(file.about("the file is too large").allowed("at most 16 MiB").into());
    }
    let mut root = json::parse(file)?;
    json::substitute(&mut root, defines);
    read::read(file, &root)
}

/// Turns a parsed file into a workload.
pub fn lower(file: &RtAppFile, options: &RtAppOptions) -> Result<Loaded, Diagnostics> {
    lower::lower(file, options)
}

/// The workload of a file.
pub fn load(file: &SourceFile, options: &RtAppOptions) -> Result<Workload, Diagnostics> {
    load_full(file, options).map(|loaded| loaded.workload)
}

/// The workload of a file with warnings and notes.
pub fn load_full(file: &SourceFile, options: &RtAppOptions) -> Result<Loaded, Diagnostics> {
    let parsed = parse_with(file, &options.defines)?;
    lower::lower(&parsed, options)
}

/// Reads a file of at most [`RTAPP_BYTES_MAX`].
pub fn read_file(path: &Path) -> Result<SourceFile, Diagnostics> {
    SourceFile::read_up_to(path, RTAPP_BYTES_MAX)
}

/// Reads a stream once; later calls get its text again.
pub fn read_stream(path: &Path) -> Result<SourceFile, Diagnostics> {
    SourceFile::read_stream(path, RTAPP_BYTES_MAX)
}

/// Reads, checks and lowers arbitrary bytes; for fuzzing. Whatever comes in, it returns, and every message renders.
pub fn fuzz_rtapp(data: &[u8]) {
    let file = SourceFile::new("fuzz.json", String::from_utf8_lossy(data));
    let options = RtAppOptions { cpus: Some(8), quantise: data.len() % 2 == 1, ..RtAppOptions::default() };
    match load_full(&file, &options) {
        Ok(loaded) => drop(loaded.warnings.to_string()),
        Err(messages) => drop(messages.to_string()),
    }
}
