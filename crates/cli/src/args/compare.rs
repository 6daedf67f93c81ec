// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of verbs that make many runs.

use super::inputs::parse_define;
use super::{InputArgs, OptionArgs};
use clap::Args;
use pelton_lab::experiment::file::SEEDS_MAX;
use pelton_lab::measure::quantity::{self, QUANTITIES};
use pelton_lab::time::parse_duration_ns;
use pelton_lab::verbs::sweep::Axis;
use pelton_lab::verbs::why::{self, ORDERS_DEFAULT};
use pelton_scenario::diagnostic::hint_for;
use std::path::PathBuf;

/// `pelton compare`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: what the RT signal changes, ten seeds, two at a time
  pelton compare --platform hikey-6220 --seeds 10 --jobs 2 --duration 5s \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=9' \\
    --policy 4.16 --policy 4.16,rt_signal=on,rt_in_sum=on
Example: two rate limits, as a picture
  pelton compare --platform pixel6-gs101 --workload ui-frames --duration 2s \\
    --policy 7.2,rate_limit_us=500 --policy 7.2,rate_limit_us=10000 \\
    --summary --plot limits.png
Example: what a lower clamp costs and gains, four workloads beside one another
  pelton compare --platform pixel6-gs101 --duration 2s --policy 7.2 \\
    --workload ui-frames:util_min=100..400/100 --summary")]
pub struct CompareArgs {
    /// Platform name (`pelton platform list`) or TOML file.
    #[arg(long, value_name = "P")]
    pub platform: String,
    /// rt-app file or model; repeatable, and util_min=100..400/100 is four: every policy runs each.
    #[arg(long = "workload", value_name = "W", required = true)]
    pub workloads: Vec<String>,
    /// Further inputs of the simulations.
    #[command(flatten)]
    pub options: OptionArgs,
    /// Policy file or name, or profile with switches as 4.16,rt_signal=on; the first is the base of every change.
    #[arg(long = "policy", value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...", required = true)]
    pub policies: Vec<String>,
    /// Switch set in every policy.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Repetitions, each with a seed of its own and random start phases.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
    /// The first seed; the others follow.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub first_seed: u64,
    /// Only these numbers, by name; several are separated by commas.
    #[arg(long, value_name = "QUANTITY", value_delimiter = ',', value_parser = parse_quantity)]
    pub only: Vec<String>,
    /// Energy, lateness, latency and transitions only, or what --only names instead.
    #[arg(long)]
    pub summary: bool,
    /// Also the value of each seed (JSON).
    #[arg(long, visible_alias = "per-seed")]
    pub values: bool,
    /// Draw the answers as bars.
    #[arg(long)]
    pub charts: bool,
    /// Print the answers as plain text for a mail: at most 75 columns.
    #[arg(long, conflicts_with_all = ["charts", "format", "values", "summary"])]
    pub lkml: bool,
    /// Draw a picture: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// `pelton sweep`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: two boards, three rate limits, five seeds
  pelton sweep --platform hikey-6220 --platform juno-r2 --workload ui-frames \\
    --duration 200ms --axis rate_limit_us=500,2000,8000 --seeds 5 -o sweep")]
pub struct SweepArgs {
    /// Platform name (`pelton platform list`) or TOML file; repeatable.
    #[arg(long = "platform", value_name = "P", required = true)]
    pub platforms: Vec<String>,
    /// rt-app file or model; repeatable, and util_min=100..400/100 is four.
    #[arg(long = "workload", value_name = "W", required = true)]
    pub workloads: Vec<String>,
    /// Further inputs of the simulations.
    #[command(flatten)]
    pub options: OptionArgs,
    /// Policy file or name, or profile with switches; repeatable.
    #[arg(long = "policy", value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...", default_value = "7.2")]
    pub policies: Vec<String>,
    /// Switch set in every policy.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Switch or number and the values that it takes; repeatable, every combination is a point.
    #[arg(long = "axis", value_name = "NAME=VALUE,VALUE...", value_parser = parse_axis)]
    pub axes: Vec<Axis>,
    /// Runs of each point, each with a seed of its own and random start phases.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
    /// The first seed; the others follow.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub first_seed: u64,
    /// Seeds of a file.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub block: u64,
    /// Only the K-th of N shares of the files, for machines that share a folder.
    #[arg(long, value_name = "K/N", default_value = "1/1", value_parser = parse_share)]
    pub chunk: (u64, u64),
    /// Numbers of domains and tasks, too, not of whole runs alone.
    #[arg(long)]
    pub all: bool,
    /// Folder to write to; files that are there are not made again.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}

/// Reads `NAME=VALUE,VALUE...`.
fn parse_axis(text: &str) -> Result<Axis, String> {
    let (name, values) = text.split_once('=').ok_or("an axis is NAME=VALUE,VALUE...: rate_limit_us=500,2000")?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    if name.trim().is_empty() || values.iter().any(String::is_empty) {
        return Err("a name or a value is empty".to_owned());
    }
    Ok(Axis { name: name.trim().to_owned(), values })
}

/// Reads `K/N`: the K-th of N shares.
fn parse_share(text: &str) -> Result<(u64, u64), String> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((k, n)) if (1..=n).contains(&k) => Ok((k, n)),
        _ => Err("a share is K/N with K from 1 to N: 3/16".to_owned()),
    }
}

/// `pelton front`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: which gate suits a phone that draws frames
  pelton front --platform pixel6-gs101 --workload ui-frames --duration 2s \\
    --seeds 6 --policy 7.2 --policy composite \\
    --policy 7.2,gate=up_down,down_rate_limit_us=4000")]
pub struct FrontArgs {
    /// Platform name or TOML file; repeatable.
    #[arg(long = "platform", value_name = "P", required = true)]
    pub platforms: Vec<String>,
    /// rt-app JSON file or model, several joined by `+`; repeatable: every platform runs every workload.
    #[arg(long = "workload", value_name = "W", required = true)]
    pub workloads: Vec<String>,
    /// Policy, as for compare; the first is the base [default: 7.2, every filter, every gate, the composite].
    #[arg(long = "policy", value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...")]
    pub policies: Vec<String>,
    /// Simulated time, as 15s or 250ms [default: what the workload asks for].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub duration: Option<u64>,
    /// Value of a template word of rt-app files: LOGDIR=./ for `__LOGDIR__`; repeatable.
    #[arg(long = "define", value_name = "NAME=VALUE", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
    /// Switch set in every policy.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Repetitions, each with a seed of its own and random start phases.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
    /// The first seed; the others follow.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub first_seed: u64,
    /// Energy beyond the base's that a policy may use to win, percent.
    #[arg(long, value_name = "PCT", default_value_t = 1.0)]
    pub energy_margin: f64,
}

/// `pelton why`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: the kernel was updated and energy went up: which rule was it?
  pelton why 5.10 6.12 --platform pixel6-gs101 --duration 500ms --seeds 6 \\
    --workload ui-frames
Example: another number of the same runs, which are kept and not run again
  pelton why 5.10 6.12 --platform pixel6-gs101 --duration 500ms --seeds 6 \\
    --workload ui-frames --metric wakeup_us_p95 --resume runs.txt --plot why.svg")]
pub struct WhyArgs {
    /// Policy before: file or name, or profile with switches as 5.10,rate_limit_us=500.
    #[arg(value_name = "A")]
    pub from: String,
    /// Policy after.
    #[arg(value_name = "B")]
    pub to: String,
    /// Inputs of the simulations.
    #[command(flatten)]
    pub input: InputArgs,
    /// Switch set in both policies.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Number of the whole run that is explained (`pelton result quantities`); JSON has all of them.
    #[arg(long, value_name = "QUANTITY", default_value = "energy_mj", value_parser = parse_metric)]
    pub metric: String,
    /// Repetitions, each with a seed of its own and random start phases.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
    /// The first seed; the others follow.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub first_seed: u64,
    /// Orders to draw, each with its reverse, where there are too many switches to run every combination.
    #[arg(long, value_name = "N", default_value_t = ORDERS_DEFAULT, value_parser = parse_orders)]
    pub orders: u64,
    /// Keep finished runs in this file, and run only those that it does not have.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Draw a picture: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// The name of a number of whole runs.
fn parse_metric(name: &str) -> Result<String, String> {
    why::metric(name).map(|found| found.name.to_owned())
}

/// Most orders that are drawn.
const ORDERS_MAX: u64 = 10_000;

fn parse_orders(text: &str) -> Result<u64, String> {
    let orders = text.parse().ok().filter(|orders| (2..=ORDERS_MAX).contains(orders) && orders.is_multiple_of(2));
    orders.ok_or_else(|| format!("allowed: an even number, 2 to {ORDERS_MAX}: each order is drawn with its reverse"))
}

/// The name of a number that reports have.
fn parse_quantity(name: &str) -> Result<String, String> {
    match quantity::find(name) {
        Some(found) => Ok(found.name.to_owned()),
        None => Err(hint_for(name, QUANTITIES.iter().map(|q| q.name))),
    }
}
