// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton reproduce`.

use clap::Args;
use pelton_lab::experiment::file::SEEDS_MAX;

/// `pelton reproduce`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: the RT utilization table of March 2018, as JSON
  pelton reproduce rt-utilization --format json
Example: the rows about changes of frequency, three seeds
  pelton reproduce rt-utilization --only transitions --seeds 3
Example: which deliberately wrong worlds the table tells from the right one
  pelton reproduce rt-utilization --wrong-worlds
Exit code 1 means that a claim of the posting does not hold in the model.")]
pub struct ReproduceArgs {
    /// Table name, all, or an experiment file (TOML) of your own.
    #[arg(value_name = "NAME", default_value = "all")]
    pub name: String,
    /// Only rows whose id contains this, and claims about them; repeatable.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Number of seeds [default: as many as the verdicts need].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: Option<u64>,
    /// All seeds that the experiment file names, where a default run stops at less.
    #[arg(long, conflicts_with = "seeds")]
    pub all_seeds: bool,
    /// Also repeat the table under each changed assumption the experiment lists.
    #[arg(long)]
    pub sensitivity: bool,
    /// Also repeat it in worlds that are wrong on purpose, and say how many of them the table rejects.
    #[arg(long)]
    pub wrong_worlds: bool,
    /// List the tables and leave.
    #[arg(long)]
    pub list: bool,
}
