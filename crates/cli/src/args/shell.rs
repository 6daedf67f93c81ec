// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton result` and `pelton shell`.

use clap::Subcommand;
use std::path::PathBuf;

/// `pelton result`.
#[derive(Debug, Subcommand)]
pub enum ResultVerb {
    /// Name, unit and meaning of every number.
    #[command(after_long_help = "Example: what a number of `pelton compare` means\n  pelton result quantities")]
    Quantities,
    /// The JSON schema of one kind of result, or the kinds.
    #[command(after_long_help = "Example:\n  pelton result schema compare")]
    Schema {
        /// Kind, as `result` in the JSON says.
        kind: Option<String>,
    },
}

/// `pelton shell`.
#[derive(Debug, Subcommand)]
pub enum ShellVerb {
    /// Shell completions for `pelton`.
    #[command(after_long_help = "\
Example: for bash, in this session
  pelton shell completions bash > pelton.bash
  source pelton.bash")]
    Completions {
        /// Shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Man pages: one on standard output, or all into a folder.
    #[command(after_long_help = "\
Example: one page to read, all pages to install
  pelton shell man compare | man -l -
  pelton shell man --all man1/")]
    Man {
        /// Verb, as compare or platform show [default: the program itself].
        #[arg(value_name = "VERB")]
        verb: Vec<String>,
        /// Write every page into this folder.
        #[arg(long, value_name = "DIR", conflicts_with = "verb")]
        all: Option<PathBuf>,
    },
}
