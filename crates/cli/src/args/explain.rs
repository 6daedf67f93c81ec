// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton explain`.

use super::{OptionArgs, PolicyArgs};
use clap::Args;
use pelton_lab::time::parse_time_ns;
use std::path::PathBuf;

/// `pelton explain`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: why the frequency is what it is half a second into the run
  pelton explain --platform hikey-6220 --profile 4.16 --at 0.5s --cpu 0 \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=9' \\
    --duration 1s
Example: why a task went to its CPU
  pelton explain --platform juno-r0 --workload busy --duration 1s --placement
Example: where a kernel decides otherwise for the first time
  pelton explain --platform juno-r0 --workload ui-frames --duration 1s \\
    --policy 5.10 --diff 6.12")]
pub struct ExplainArgs {
    /// Platform name (`pelton platform list`) or TOML file.
    #[arg(long, value_name = "P", required_unless_present = "recorded")]
    pub platform: Option<String>,
    /// rt-app JSON file or model (`sysbench-cpu:threads=2`, `pelton workload list`); several are joined by `+`.
    #[arg(long, value_name = "W", required_unless_present = "recorded")]
    pub workload: Option<String>,
    /// Further inputs of the simulation.
    #[command(flatten)]
    pub options: OptionArgs,
    /// Recording of `pelton live --record` whose decision is explained, not one of a run; --placement: a task's id.
    #[arg(long, value_name = "FOLDER")]
    #[arg(conflicts_with_all = [
        "platform", "workload", "OptionArgs", "PolicyArgs", "same_phase", "domain", "balance", "walk", "thermal", "diff", "diff_seed",
    ])]
    pub recorded: Option<PathBuf>,
    /// Policy.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all randomness.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Start all tasks and ticks at one phase, not at random ones drawn from the seed.
    #[arg(long)]
    pub same_phase: bool,
    /// The last decision at or before this time [default: the last of the run].
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    pub at: Option<u64>,
    /// Only decisions of this frequency domain.
    #[arg(long, value_name = "N", conflicts_with = "cpu")]
    pub domain: Option<u32>,
    /// Only decisions of this CPU's frequency domain.
    #[arg(long, value_name = "N")]
    pub cpu: Option<u32>,
    /// The last decision that changed the frequency.
    #[arg(long)]
    pub changed: bool,
    /// The last call that the rate limit refused, or whose change it held back.
    #[arg(long, conflicts_with = "changed")]
    pub held: bool,
    /// Explain instead why a fair task went to its CPU: any task, or TASK [5.10 and later; by energy 5.4 and later].
    #[arg(long, value_name = "TASK", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["domain", "cpu", "changed", "held"])]
    pub placement: Option<String>,
    /// Explain instead a domain's balance, of any CPU or of --cpu, and what it moved; --changed: one that moved a task.
    #[arg(long, conflicts_with_all = ["domain", "held", "placement"])]
    pub balance: bool,
    /// Explain instead an update of blocked load, by any CPU or by --cpu: its cost, and why it took place.
    #[arg(long, conflicts_with_all = ["domain", "changed", "held", "placement", "balance"])]
    pub walk: bool,
    /// Explain instead a reading of a thermal zone; --changed: one that changed a limit [with --set thermal=...].
    #[arg(long, conflicts_with_all = ["held", "placement", "balance", "walk"])]
    pub thermal: bool,
    /// Explain instead the first decision with another outcome under this policy, and what it cost; --set is for both.
    #[arg(long, value_name = "POLICY")]
    #[arg(conflicts_with_all = ["at", "domain", "cpu", "changed", "held", "placement", "balance", "walk", "thermal"])]
    pub diff: Option<String>,
    /// Seed of the run that --diff looks at [default: --seed]; alone: the same policy with another seed.
    #[arg(long, value_name = "N")]
    #[arg(conflicts_with_all = ["at", "domain", "cpu", "changed", "held", "placement", "balance", "walk", "thermal"])]
    pub diff_seed: Option<u64>,
}
