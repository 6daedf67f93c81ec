// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of every verb that simulates.

use clap::Args;
use pelton_lab::time::parse_duration_ns;
use pelton_scenario::policy::RATE_LIMIT_US_MAX;

/// Platform, workload and machine options: everything a simulation needs but its policy and seed.
#[derive(Clone, Debug, Args)]
pub struct InputArgs {
    /// Platform name (`pelton platform list`) or TOML file.
    #[arg(long, value_name = "P")]
    pub platform: String,
    /// rt-app JSON file or model (`sysbench-cpu:threads=2`, `pelton workload list`); several are joined by `+`.
    #[arg(long, value_name = "W")]
    pub workload: String,
    /// Further inputs of the simulation.
    #[command(flatten)]
    pub options: OptionArgs,
}

/// Machine options, and what may be left out.
#[derive(Clone, Debug, Args)]
pub struct OptionArgs {
    /// Simulated time, as 15s or 250ms [default: what the workload asks for].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub duration: Option<u64>,
    /// Timer interrupts per second: 100, 250, 300 or 1000 [default: 250].
    #[arg(long, value_name = "N")]
    pub hz: Option<u32>,
    /// schedutil's rate_limit_us [default: the profile's rule].
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(0..=RATE_LIMIT_US_MAX))]
    pub rate_limit_us: Option<u64>,
    /// Task group that everything runs in, as /session [default: the root].
    #[arg(long, value_name = "PATH")]
    pub group: Option<String>,
    /// Value of a template word of rt-app files: LOGDIR=./ for `__LOGDIR__`; repeatable.
    #[arg(long = "define", value_name = "NAME=VALUE", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
}

pub(super) fn parse_define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("allowed: NAME=VALUE, as LOGDIR=./")?;
    let letters = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let is_word = letters && name.starts_with(|c: char| c.is_ascii_uppercase());
    is_word.then(|| (name.to_owned(), value.to_owned())).ok_or_else(|| "a name is capitals, digits and _".to_owned())
}

/// One policy.
#[derive(Clone, Debug, Args)]
pub struct PolicyArgs {
    /// Policy file (TOML) or name, or profile with switches as 7.2,rate_limit_us=500.
    #[arg(long, value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...")]
    pub policy: Option<String>,
    /// Kernel whose rules are used [default: that of --policy, or 7.2].
    #[arg(long, value_name = "VERSION")]
    pub profile: Option<String>,
    /// Switch on top of the profile, as rt_signal=on; repeatable.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
}
