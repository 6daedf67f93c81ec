// SPDX-License-Identifier: GPL-2.0-only
//! rt-app files: the workload language of the field, read in full.
//!
//! [`parse`] checks that a file follows the grammar of some rt-app version; [`load`] turns it into a workload, and
//! refuses with file, line and reason what the simulator cannot honour. Nothing is skipped in silence.

mod ast;
mod json;
mod read;
mod report;

use std::collections::BTreeMap;

pub use ast::*;
pub use json::{Member, Node, Span, Value};

use crate::diagnostic::{Diagnostics, SourceFile};

/// Largest file read, bytes.
pub const RTAPP_BYTES_MAX: usize = 16 << 20;

/// Checks a file against the grammar. Template words (`__LOGDIR__`) are accepted and listed.
pub fn parse(file: &SourceFile) -> Result<RtAppFile, Diagnostics> {
    parse_with(file, &BTreeMap::new())
}

/// The same after template words have been replaced by their definitions.
pub fn parse_with(file: &SourceFile, defines: &BTreeMap<String, String>) -> Result<RtAppFile, Diagnostics> {
    if file.text().len() > RTAPP_BYTES_MAX {
        return Err(file.about("the file is too large").allowed("at most 16 MiB").into());
    }
    let mut root = json::parse(file)?;
    json::substitute(&mut root, defines);
    read::read(file, &root)
}
