// SPDX-License-Identifier: GPL-2.0-only
//! `pelton`: the command line. Arguments and help in `args.rs`, exit codes in `exit.rs`, one file per verb in `verbs/`.

mod args;
mod bug;
mod exit;
mod interrupt;
mod output;
mod progress;
mod rtapp_log;
mod sheet;
mod units;
mod verbs;

use args::{Cli, Verb};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    bug::install();
    let cli = Cli::parse();
    bug::remember(std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()), seed(&cli));
    interrupt::install();
    match verbs::dispatch(&cli) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(failure) if failure.exit == exit::Exit::Interrupted => {
            say(&failure.text);
            ExitCode::from(interrupt::code())
        }
        Err(failure) => {
            if !failure.text.is_empty() {
                say(&failure.text);
            }
            ExitCode::from(failure.exit.code())
        }
    }
}

/// A line on stderr; a stderr that went away is no reason to panic.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The seed to name in a bug report; verbs with many seeds always run the same ones.
fn seed(cli: &Cli) -> u64 {
    match &cli.verb {
        Verb::Run(args) => args.seed,
        Verb::Explain(args) => args.seed,
        Verb::Replay(args) => args.seed,
        _ => 1,
    }
}
