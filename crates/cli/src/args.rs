// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: what can be typed. What it means is in `verbs/`.

mod check;
mod compare;
mod explain;
mod inputs;
mod kernel;
mod live;
mod pages;
mod platform;
mod reproduce;
mod run;
mod shell;
mod traces;
mod version;

pub use check::*;
pub use compare::*;
pub use explain::*;
pub use inputs::*;
pub use kernel::*;
pub use live::*;
pub use pages::*;
pub use platform::*;
pub use reproduce::*;
pub use run::*;
pub use shell::*;
pub use traces::*;
pub use version::{VERSION, long_version};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

/// Linux scheduler-driven CPU frequency control as one program; `pelton VERB --help` has examples.
#[derive(Debug, Parser)]
#[command(name = "pelton", version = VERSION, long_version = long_version(), propagate_version = true)]
#[command(
    after_help = EXIT_CODES,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs"
)]
pub struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
    /// Flags of every verb.
    #[command(flatten)]
    pub global: Global,
}

/// The command line with `run` alone: building the arguments of all other verbs would take longer than a short run.
#[derive(Debug, Parser)]
#[command(name = "pelton", version = VERSION, long_version = long_version(), propagate_version = true)]
struct RunCli {
    #[command(subcommand)]
    verb: RunVerb,
    #[command(flatten)]
    global: Global,
}

#[derive(Debug, Subcommand)]
enum RunVerb {
    Run(RunArgs),
}

impl Cli {
    /// Reads the command line; what is wrong with it, and help, are printed by the whole parser.
    pub fn read(words: &[OsString]) -> Cli {
        let is_run = words.get(1).is_some_and(|verb| verb == "run");
        match is_run.then(|| RunCli::try_parse_from(words)) {
            Some(Ok(RunCli { verb: RunVerb::Run(args), global })) => Cli { verb: Verb::Run(args), global },
            _ => Cli::try_parse_from(words).unwrap_or_else(|answer| crate::exit::answered(&answer)),
        }
    }
}

/// The exit codes in one line; what they mean is in `exit.rs`.
pub const EXIT_CODES: &str = "\
Exit: 0 good, 1 fails, 2 usage, 3 input, 4 not here, 5 open, 6 ended, 7 kernel, 70 bug, 130 INT.";

/// Flags every verb understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Global {
    /// Format.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Simulations at the same time, 0 = one per CPU; changes no result.
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub jobs: u16,
    /// No progress, no notes; results and errors only.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// More detail in tables (-v).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// Format of printed results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    // Plain comments: documented values would make every help page long.
    // Aligned text for people.
    Table,
    // One JSON value.
    Json,
    // Comma-separated values.
    Csv,
    // Tables for a page or a posting.
    Markdown,
    // A platform file; only of platforms, so that other pages do not name it.
    #[value(hide = true)]
    Toml,
}

/// A verb of the program.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Simulate one workload on one platform under one policy.
    Run(RunArgs),
    /// Several policies over several seeds: medians, change, confidence.
    Compare(CompareArgs),
    /// Many runs over a grid, into a folder of Parquet files; what is there is not run again.
    Sweep(SweepArgs),
    /// A page of runs or of a kept result: one HTML file that needs no network.
    Report(ReportArgs),
    /// One page or trace for a browser on this machine, Perfetto among others.
    Serve(ServeArgs),
    /// Policies by lateness, driver calls and energy at once, beside perfect foresight.
    Front(FrontArgs),
    /// Switches between two policies that moved a result: alone, left out, shares.
    Why(WhyArgs),
    /// The workload of a trace under another policy, profile or platform.
    Replay(ReplayArgs),
    /// Published tables: the printed numbers with ours beside them.
    Reproduce(ReproduceArgs),
    /// Behaviour files: claims about any board, judged by runs or on a recording.
    Check(CheckArgs),
    /// One frequency decision with every term filled in.
    Explain(ExplainArgs),
    /// Recompute every signal of a recorded trace: first divergence, or zero.
    Validate(ValidateArgs),
    /// Record the scheduler of the running kernel (root).
    Record(RecordArgs),
    /// The core as the scheduler of the running kernel, or beside it (root).
    Live(LiveArgs),
    /// Platforms: list, show, import, check a file.
    #[command(subcommand)]
    Platform(PlatformVerb),
    /// Policies: kernel profiles and their switches.
    #[command(subcommand)]
    Policy(PolicyVerb),
    /// Kernels' own code as a policy, patched or not: build, list, show, diff, remove.
    #[command(subcommand)]
    Kernel(KernelVerb),
    /// Workloads: models and their options, made from a trace.
    #[command(subcommand)]
    Workload(WorkloadVerb),
    /// Traces of any kind: what they hold, and in another form.
    #[command(subcommand)]
    Trace(TraceVerb),
    /// Results: every number and its unit, the shape of every JSON.
    #[command(subcommand)]
    Result(ResultVerb),
    /// For your shell: completions, man pages.
    #[command(subcommand)]
    Shell(ShellVerb),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_exit_code() {
        let all = [
            Exit::Good,
            Exit::ClaimFails,
            Exit::Usage,
            Exit::BadInput,
            Exit::CannotHere,
            Exit::Open,
            Exit::Ended,
            Exit::KernelFailed,
            Exit::Bug,
            Exit::Interrupted,
        ];
        for exit in all {
            assert!(EXIT_CODES.contains(&format!(" {} ", exit.code())), "{exit:?}");
        }
    }
}
