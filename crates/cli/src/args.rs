// SPDX-License-Identifier: GPL-2.0-only
//! The command line: what can be typed. What it means is in `verbs/`.

use crate::units::{parse_duration_ns, parse_time_ns};
use clap::{Args, Parser, Subcommand, ValueEnum};
use pelton_trace::import::Format as InputFormat;
use std::path::PathBuf;

/// Linux scheduler-driven CPU frequency control as one program.
#[derive(Debug, Parser)]
#[command(name = "pelton", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
#[command(
    arg_required_else_help = true,
    max_term_width = 100,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Flags of every verb.
    #[command(flatten)]
    pub global: Global,
}

/// The exit codes in one line; what they mean is in `exit.rs`.
pub const EXIT_CODES: &str = "\
Exit codes: 0 good, 1 claim fails, 2 usage, 3 bad input, 4 machine cannot, 70 bug, 130 Ctrl-C.
`pelton VERB --help` has an example of each verb.";

/// Flags every verb understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Global {
    /// Form of the results.
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

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    // Plain comments: documented values would make every help page long.
    // Aligned text for people.
    Table,
    // One JSON value.
    Json,
    // Comma-separated values.
    Csv,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Simulate one workload on one platform under one policy.
    Run(RunArgs),
    /// Several policies over several seeds: medians, change, confidence.
    Compare(CompareArgs),
    /// Published tables: the printed numbers with ours beside them.
    Reproduce(ReproduceArgs),
    /// One frequency decision with every term filled in.
    Explain(ExplainArgs),
    /// Record the scheduler of the running kernel (root).
    Record(RecordArgs),
    /// Recompute every signal of a recorded trace: first divergence, or zero.
    Validate(ValidateArgs),
    /// Platforms: list, show, check a file.
    #[command(subcommand)]
    Platform(PlatformVerb),
    /// Policies: kernel profiles and their switches.
    #[command(subcommand)]
    Policy(PolicyVerb),
    /// Traces of any kind: what they hold, and in another form.
    #[command(subcommand)]
    Trace(TraceVerb),
}

/// Platform, workload and machine options: everything a simulation needs but its policy and seed.
#[derive(Clone, Debug, Args)]
pub struct InputArgs {
    /// Platform name (`pelton platform list`) or TOML file.
    #[arg(long, value_name = "P")]
    pub platform: String,
    /// rt-app JSON file or model (`sysbench-cpu:threads=2`); several are joined by `+`.
    #[arg(long, value_name = "W")]
    pub workload: String,
    /// Simulated time, as 15s or 250ms [default: what the workload asks for].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub duration: Option<u64>,
    /// Timer interrupts per second: 100, 250, 300 or 1000 [default: 250].
    #[arg(long, value_name = "N")]
    pub hz: Option<u32>,
    /// schedutil's rate_limit_us [default: the profile's rule].
    #[arg(long, value_name = "US")]
    pub rate_limit_us: Option<u64>,
}

/// One policy.
#[derive(Clone, Debug, Args)]
pub struct PolicyArgs {
    /// Policy file (TOML: profile and switches).
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Kernel whose rules are used [default: 7.2].
    #[arg(long, value_name = "VERSION")]
    pub profile: Option<String>,
    /// Switch on top of the profile, as rt_signal=on; repeatable.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
}

/// `pelton run`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: a periodic RT task beside a busy one on a HiKey, as a Perfetto trace
  pelton run --platform hikey-6220 --profile 4.16 --duration 2s --trace out.pftrace \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=10,cpus=0 + busy:cpus=0'")]
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
    /// Start tasks and ticks at random phases drawn from the seed.
    #[arg(long)]
    pub random_phase: bool,
    /// Write a Perfetto trace.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write the event log (byte-identical for equal inputs and seed).
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Print what the benchmarks of the workload print themselves instead of tables.
    #[arg(long)]
    pub like_original: bool,
}

/// `pelton compare`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: what the RT signal changes, ten seeds, two at a time
  pelton compare --platform hikey-6220 --seeds 10 --jobs 2 --duration 5s \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=10,cpus=0 + busy:cpus=0' \\
    --policy 4.16 --policy 4.16,rt_signal=on,rt_in_sum=on")]
pub struct CompareArgs {
    /// Inputs.
    #[command(flatten)]
    pub input: InputArgs,
    /// Policy file, or profile with switches as 4.16,rt_signal=on; the first is the base of every change.
    #[arg(long = "policy", value_name = "FILE|VERSION[,SWITCH=VALUE]...", required = true)]
    pub policies: Vec<String>,
    /// Switch set in every policy.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Repetitions: seeds 1 to N, with random start phases.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
}

/// `pelton reproduce`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: the RT utilization table of March 2018, as JSON
  pelton reproduce rt-utilization --format json
Exit code 1 means that a claim of the posting does not hold in the model.")]
pub struct ReproduceArgs {
    /// Table name, or all.
    #[arg(value_name = "NAME", default_value = "all")]
    pub name: String,
    /// Number of seeds [default: as the experiment file says].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: Option<u64>,
    /// Also repeat the table under each changed assumption the experiment lists.
    #[arg(long)]
    pub sensitivity: bool,
    /// List the tables and leave.
    #[arg(long)]
    pub list: bool,
}

/// `pelton explain`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: why the frequency is what it is half a second into the run
  pelton explain --platform hikey-6220 --profile 4.16 --at 0.5s --duration 1s --cpu 0 \\
    --workload 'periodic:run_us=9000,period_us=24390,policy=fifo,priority=10,cpus=0 + busy:cpus=0'")]
pub struct ExplainArgs {
    /// Inputs.
    #[command(flatten)]
    pub input: InputArgs,
    /// Policy.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all randomness.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Start tasks and ticks at random phases drawn from the seed.
    #[arg(long)]
    pub random_phase: bool,
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
    /// The last decision whose change the gate held.
    #[arg(long, conflicts_with = "changed")]
    pub held: bool,
}

/// `pelton record`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: ten seconds of everything that happens, for pelton and for the Perfetto UI
  pelton record -o now.plog --perfetto now.pftrace --duration 10s
Example: one command from start to end
  pelton record -o make.plog -- make -j4
Exit code 4 means that something is missing on this machine; the message says what and how to get it.")]
pub struct RecordArgs {
    /// Write the event log.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a Perfetto trace.
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Length [default: 10s, or until the command ends].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub duration: Option<u64>,
    /// Sets of events: sched, freq, idle, pelt, irq, energy; or all.
    #[arg(long, value_name = "SET,...", default_value = "sched,freq,idle,pelt,energy")]
    pub events: String,
    /// Every load-tracking call, before and after, where the kernel lets functions be traced.
    #[arg(long)]
    pub full: bool,
    /// Buffer of each CPU.
    #[arg(long, value_name = "MB", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub buffer: u32,
    /// Run a small load meanwhile: periodic, rt-fair, mixed, fork-storm or cgroup-moves.
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub load: Option<String>,
    /// Take the kernel's type information from this file.
    #[arg(long, value_name = "FILE", hide = true)]
    pub btf: Option<PathBuf>,
    /// Command to run and record.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

/// `pelton validate`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: every signal recorded inside a 7.2 kernel, bit for bit
  pelton validate calls.csv.gz --profile 7.2
Exit code 1 means that the core does not compute what the kernel did: the first difference is printed.")]
pub struct ValidateArgs {
    /// Traces: text, trace.dat, Perfetto, CSV, our log; also compressed.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
    /// Kernel whose rules are used [default: the one the trace names, or 7.2].
    #[arg(long, value_name = "VERSION")]
    pub profile: Option<String>,
    /// Platform for the frequency tables [default: frequencies seen in the trace].
    #[arg(long, value_name = "P")]
    pub platform: Option<String>,
    /// Put faults into the trace instead and show that each is found.
    #[arg(long)]
    pub self_test: bool,
}

/// `pelton platform`.
#[derive(Debug, Subcommand)]
pub enum PlatformVerb {
    /// Built-in platforms.
    List,
    /// CPUs, operating points and idle states, with the source of every figure.
    #[command(after_long_help = "Example:\n  pelton platform show hikey-6220")]
    Show {
        /// Platform name or TOML file.
        platform: String,
    },
    /// Check a platform file.
    #[command(after_long_help = "Example:\n  pelton platform check my-board.toml")]
    Check {
        /// TOML file.
        file: PathBuf,
    },
}

/// `pelton policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// Every switch: values, default per profile.
    List,
    /// The switches of one policy, and why each exists.
    #[command(after_long_help = "Example:\n  pelton policy show --profile 4.16 --set rt_signal=on")]
    Show(PolicyArgs),
}

/// `pelton trace`.
#[derive(Debug, Subcommand)]
pub enum TraceVerb {
    /// Format, length, events by name, what is lost or damaged.
    #[command(after_long_help = "Example:\n  pelton trace info trace.dat")]
    Info(TraceInfoArgs),
    /// Write a trace in another form.
    #[command(after_long_help = "Example:\n  pelton trace export run.plog --to perfetto -o run.pftrace")]
    Export(ExportArgs),
}

/// The kind of file with this name.
fn input_format(name: &str) -> Result<InputFormat, String> {
    InputFormat::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let known: Vec<_> = InputFormat::ALL.iter().map(|format| format.name()).collect();
        format!("known are {}", known.join(", "))
    })
}

/// `pelton trace info`.
#[derive(Debug, Args)]
pub struct TraceInfoArgs {
    /// Trace (trace.dat, Perfetto, ftrace text, our log; also packed), - for standard input.
    pub file: PathBuf,
    /// Kind of the file, when its content does not tell.
    #[arg(long, value_name = "NAME", value_parser = input_format)]
    pub input_format: Option<InputFormat>,
}

/// `pelton trace export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Trace, - for standard input.
    pub file: PathBuf,
    /// Kind of the file, when its content does not tell.
    #[arg(long, value_name = "NAME", value_parser = input_format)]
    pub input_format: Option<InputFormat>,
    /// Form to write.
    #[arg(long, value_enum)]
    pub to: TraceForm,
    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Only events of this name; repeatable.
    #[arg(long = "event", value_name = "NAME")]
    pub events: Vec<String>,
}

/// Forms of an exported trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceForm {
    // Perfetto trace.
    Perfetto,
    // One table.
    Csv,
    // One JSON object per event.
    Json,
    // One line per event.
    Text,
    // Our own log.
    Log,
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
        let all =
            [Exit::Good, Exit::ClaimFails, Exit::Usage, Exit::BadInput, Exit::CannotHere, Exit::Bug, Exit::Interrupted];
        for exit in all {
            assert!(EXIT_CODES.contains(&format!(" {} ", exit.code())), "{exit:?}");
        }
    }
}
