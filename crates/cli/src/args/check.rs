// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton check`.

use super::traces::input_format;
use clap::Args;
use pelton_scenario::behaviour::SEEDS_MAX;
use pelton_trace::import::Format as InputFormat;
use std::path::PathBuf;

/// `pelton check`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: does an upper clamp hold under a policy, on every board?
  pelton check capped-task --policy 7.2
Example: the same on hardware: the tasks, what to do, and the verdict
  pelton check capped-task --rt-app pixel6-gs101 -o capped-task.json
  pelton check capped-task --board pixel6-gs101 --instructions
  pelton check capped-task --board pixel6-gs101 --trace capped-task.dat
Exit code 1 means that a claim fails, 5 that one could be measured nowhere.")]
pub struct CheckArgs {
    /// Behaviour, by name, or a file (TOML) of your own; without it the built-in ones are listed.
    #[arg(value_name = "NAME")]
    pub behaviour: Option<String>,
    /// Platform name or TOML file; repeatable [default: the behaviour's; of a trace the one that it names].
    #[arg(long = "board", value_name = "P", requires = "behaviour")]
    pub boards: Vec<String>,
    /// Policy file or name, or profile with switches [default: the behaviour's, or 7.2].
    #[arg(long, value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...", requires = "behaviour")]
    pub policy: Option<String>,
    /// Switch on top of the policy; repeatable.
    #[arg(long = "set", value_name = "SWITCH=VALUE", requires = "behaviour")]
    pub sets: Vec<String>,
    /// Runs on each board, each with a seed of its own [default: as the behaviour says].
    #[arg(long, value_name = "N", requires = "behaviour")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX as u64))]
    pub seeds: Option<u64>,
    /// Judge this recording instead of runs.
    #[arg(long, value_name = "FILE", requires = "behaviour")]
    #[arg(conflicts_with_all = ["policy", "sets", "seeds", "wrong_worlds"])]
    pub trace: Option<PathBuf>,
    /// Kind of the recording, when its content does not show it.
    #[arg(long, value_name = "NAME", value_parser = input_format, requires = "trace")]
    pub input_format: Option<InputFormat>,
    /// Also run it in worlds that are wrong on purpose, and say which claims notice.
    #[arg(long, requires = "behaviour")]
    pub wrong_worlds: bool,
    /// Write the tasks for this board as an rt-app file instead.
    #[arg(long, value_name = "P", requires = "output", requires = "behaviour")]
    #[arg(conflicts_with_all = ["boards", "policy", "sets", "seeds", "trace", "wrong_worlds", "instructions"])]
    pub rt_app: Option<String>,
    /// File for it, - for standard output.
    #[arg(short, long, value_name = "FILE", requires = "rt_app")]
    pub output: Option<PathBuf>,
    /// Print what to do on hardware instead.
    #[arg(long, requires = "behaviour", conflicts_with_all = ["policy", "sets", "seeds", "trace", "wrong_worlds"])]
    pub instructions: bool,
}
