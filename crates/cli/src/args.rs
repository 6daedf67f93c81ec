// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: what can be typed. What it means is in `verbs/`.

mod check;
mod kernel;
mod live;
mod traces;
mod version;

pub use check::*;
pub use kernel::*;
pub use live::*;
pub use traces::*;
pub use version::{VERSION, long_version};

use clap::{Args, Parser, Subcommand, ValueEnum};
use pelton_lab::experiment::file::SEEDS_MAX;
use pelton_lab::measure::quantity::{self, QUANTITIES};
use pelton_lab::time::{parse_duration_ns, parse_time_ns};
use pelton_lab::verbs::sweep::Axis;
use pelton_lab::verbs::why::{self, ORDERS_DEFAULT};
use pelton_report::DECISIONS_DEFAULT;
use pelton_scenario::diagnostic::hint_for;
use pelton_scenario::policy::RATE_LIMIT_US_MAX;
use std::ffi::OsString;
use std::path::PathBuf;

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

fn parse_define(text: &str) -> Result<(String, String), String> {
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

/// `pelton policy show`.
#[derive(Clone, Debug, Args)]
pub struct ShowPolicyArgs {
    /// Policy, as --policy takes it.
    #[arg(value_name = "POLICY", conflicts_with = "policy")]
    pub name: Option<String>,
    /// Policy.
    #[command(flatten)]
    pub policy: PolicyArgs,
}

/// `pelton run`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: a periodic RT task on a HiKey, as a Perfetto trace
  pelton run --platform hikey-6220 --profile 4.16 --duration 2s \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=9' \\
    --trace out.pftrace")]
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
    /// Under kernel:NAME, show so many decisions that the core would have taken otherwise, with both answers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub show: Option<u32>,
}

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
    /// Number of seeds [default: as the experiment file says].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: Option<u64>,
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

/// `pelton platform`.
#[derive(Debug, Subcommand)]
pub enum PlatformVerb {
    /// Built-in platforms.
    #[command(after_long_help = "Example: names for --platform\n  pelton platform list")]
    List,
    /// CPUs, operating points and idle states, with the source of every figure.
    #[command(after_long_help = "\
Example:
  pelton platform show hikey-6220
Example: a file to start one's own board from
  pelton platform show hikey-6220 --format toml > my-board.toml")]
    Show {
        /// Platform name or TOML file.
        platform: String,
    },
    /// A platform file from what others have: sysfs, Energy Model, device tree, LISA, Wattson.
    Import(ImportArgs),
    /// Check a platform file.
    #[command(after_long_help = "Example:\n  pelton platform check my-board.toml")]
    Check {
        /// TOML file.
        file: PathBuf,
    },
}

/// `pelton platform import`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: this machine
  pelton platform import /sys -o this-machine.toml
Example: a board from its device tree, with the powers that its kernel worked out
  pelton platform import board.dtb --with energy_model/ --name my-board \\
    -o my-board.toml
What a source does not say is not in the file; what was assumed is said at its top.")]
pub struct ImportArgs {
    /// /sys or a copy, energy_model of debugfs, either as text (`grep -r .`), .dtb, .dts, plat_info (.yml, .json),
    /// Wattson's .csv.
    #[arg(value_name = "SOURCE")]
    pub source: PathBuf,
    /// Fills what the first leaves open; repeatable.
    #[arg(long, value_name = "SOURCE")]
    pub with: Vec<PathBuf>,
    /// Kind of the sources: sysfs, energy-model, dtb, dts, plat-info, wattson [default: looked at].
    #[arg(long, value_name = "KIND", value_parser = import_kind)]
    pub from: Option<pelton_scenario::import::Kind>,
    /// Name of the platform [default: what the source says].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Number of CPUs, for Wattson.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cpus: Option<u32>,
    /// Powers of the Energy Model are mW (kernels before 6.0).
    #[arg(long)]
    pub milliwatts: bool,
    /// Write here instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn import_kind(name: &str) -> Result<pelton_scenario::import::Kind, String> {
    use pelton_scenario::import::KINDS;
    let found = KINDS.iter().find(|(known, _)| *known == name).map(|&(_, kind)| kind);
    found.ok_or_else(|| hint_for(name, KINDS.iter().map(|&(name, _)| name)))
}

/// `pelton policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// Every switch, and from which kernel on it has which value.
    #[command(after_long_help = "\
Example: from which kernel on a switch has which value
  pelton policy list
Example: a column for each kernel, as a table for other programs
  pelton policy list --format csv
-v prints the columns in the terminal too.")]
    List,
    /// The switches of one policy, and why each exists.
    #[command(after_long_help = "\
Example:
  pelton policy show 4.16,rt_signal=on
Example: the same in other words
  pelton policy show --profile 4.16 --set rt_signal=on")]
    Show(ShowPolicyArgs),
}

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
