// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of verbs for browsers.

use super::OptionArgs;
use clap::Args;
use pelton_lab::experiment::file::SEEDS_MAX;
use pelton_report::DECISIONS_DEFAULT;
use std::path::PathBuf;

/// `pelton serve`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: a trace, opened by the link that is printed
  pelton serve run.pftrace")]
pub struct ServeArgs {
    /// A page that `pelton report` wrote, or any trace, which is converted for Perfetto.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Port to listen on, of this machine alone; for traces 9001, which the Perfetto UI asks, else a free one.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// End once the file was fetched.
    #[arg(long)]
    pub once: bool,
}

/// `pelton report`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: two rate limits on a phone, as a page to send
  pelton report --platform pixel6-gs101 --workload ui-frames --duration 2s \\
    --policy 7.2 --policy 7.2,rate_limit_us=10000 -o limits.html
Example: one run of a kernel
  pelton report --platform juno-r0 --workload hackbench --duration 500ms \\
    --policy 6.12 --seeds 1 -o run.html")]
pub struct ReportArgs {
    /// A result, as --format json printed it; without it the page is of runs.
    #[arg(value_name = "RESULT", conflicts_with_all = ["platform", "workloads"])]
    #[arg(required_unless_present_all = ["platform", "workloads"])]
    pub result: Option<PathBuf>,
    /// Platform name (`pelton platform list`) or TOML file.
    #[arg(long, value_name = "P", requires = "workloads")]
    pub platform: Option<String>,
    /// rt-app file or model; repeatable, and util_min=100..400/100 is four: every policy runs each.
    #[arg(long = "workload", value_name = "W", requires = "platform")]
    pub workloads: Vec<String>,
    /// Further inputs of the simulations.
    #[command(flatten)]
    pub options: OptionArgs,
    /// Policy file or name, or profile with switches; repeatable, the first is the base of every change.
    #[arg(long = "policy", value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...", default_value = "7.2")]
    pub policies: Vec<String>,
    /// Switch set in every policy.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Repetitions, each with a seed of its own and random start phases; the first is drawn over time.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
    /// The first seed; the others follow.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub first_seed: u64,
    /// Decisions of each run to explain: those that moved most.
    #[arg(long, value_name = "N", default_value_t = DECISIONS_DEFAULT as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub decisions: u16,
    /// File to write.
    #[arg(short, long, value_name = "PAGE.html")]
    pub output: PathBuf,
}
