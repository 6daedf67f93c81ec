// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton run`.

use super::{InputArgs, PolicyArgs};
use clap::Args;
use std::path::PathBuf;

/// `pelton run`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: a periodic RT task on a HiKey, as a Perfetto trace
  pelton run --platform hikey-6220 --profile 4.16 --duration 2s \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=9' \\
    --trace out.pftrace
Example: what the workers of schbench waited for
  pelton run --platform sc7180-trogdor --workload schbench --duration 5s --waits")]
pub struct RunArgs {
    /// Inputs.
    #[command(flatten)]
    pub input: InputArgs,
    /// Policy.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all randomness; equal inputs and seed give equal results.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Start all tasks and ticks at one phase, not at random ones drawn from the seed.
    #[arg(long)]
    pub same_phase: bool,
    /// Write a Perfetto trace.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write the event log (byte-identical for equal inputs and seed).
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write logs as rt-app does, one per thread.
    #[arg(long, value_name = "DIR")]
    pub rt_app_log: Option<PathBuf>,
    /// Draw charts as well: bars of time, a histogram, frequency, utilization and busy time over the run.
    #[arg(long)]
    pub charts: bool,
    /// Draw a picture: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print what the benchmarks of the workload print themselves instead of tables.
    #[arg(long)]
    pub like_original: bool,
    /// Print what tasks waited for: since what, behind which task.
    #[arg(long, conflicts_with = "like_original")]
    pub waits: bool,
    /// Under kernel:NAME, show so many decisions that the core would have taken otherwise, with both answers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub show: Option<u32>,
}
