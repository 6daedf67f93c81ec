// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of verbs that read traces.

use clap::{Args, Subcommand, ValueEnum};
use pelton_lab::experiment::file::SEEDS_MAX;
use pelton_lab::time::{parse_duration_ns, parse_time_ns};
use pelton_scenario::policy::RATE_LIMIT_US_MAX;
use pelton_trace::import::Format as InputFormat;
use std::path::PathBuf;

/// Part of a trace, and the machine to run it on.
#[derive(Clone, Debug, Args)]
pub struct PartArgs {
    /// Platform to run on [default: the one the trace names].
    #[arg(long, value_name = "P")]
    pub platform: Option<String>,
    /// Platform the trace was recorded on [default: the one it names, else that of --platform].
    #[arg(long, value_name = "P")]
    pub recorded_on: Option<String>,
    /// Every burst stays on the CPU it was recorded on.
    #[arg(long)]
    pub pin: bool,
    /// Idle states to use, and their times to leave: as measured on the recorded machine, or the platform file's.
    #[arg(long, value_enum, value_name = "FROM", default_value = "trace")]
    pub idle_states: IdleStatesFrom,
    /// Only this task, by name or id; repeatable.
    #[arg(long = "task", value_name = "NAME")]
    pub tasks: Vec<String>,
    /// Begin this long after the first event.
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    pub from: Option<u64>,
    /// End this long after the first event.
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub to: Option<u64>,
    /// Longest time without any event that is believed [default: 60s].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub max_gap: Option<u64>,
}

impl PartArgs {
    /// Files that may be named as platforms.
    pub fn platform_files(&self) -> impl Iterator<Item = PathBuf> {
        [&self.platform, &self.recorded_on].into_iter().flatten().map(PathBuf::from)
    }
}

/// `pelton workload`.
#[derive(Debug, Subcommand)]
pub enum WorkloadVerb {
    /// Benchmark models that `--workload` takes by name.
    #[command(after_long_help = "Example: names for --workload\n  pelton workload list")]
    List,
    /// Tasks that a model runs, and its options with the defaults.
    #[command(after_long_help = "Example:\n  pelton workload show ui-frames")]
    Show {
        /// Model.
        model: String,
    },
    /// The tasks of a trace as an rt-app file.
    #[command(after_long_help = "\
Example: a compact model of a recorded run, for rt-app on a board and for `pelton run`
  pelton workload from-trace out.plog --model -o out.json
Work is in us on a CPU of capacity 1024 at its highest frequency: the file asks rt-app to calibrate there.")]
    FromTrace(FromTraceArgs),
}

/// `pelton workload from-trace`.
#[derive(Debug, Args)]
pub struct FromTraceArgs {
    /// Trace of any kind, - for standard input.
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Part of the trace, and the machine.
    #[command(flatten)]
    pub part: PartArgs,
    /// Fold repeated activations into loops with mean amounts [default: every burst as recorded].
    #[arg(long)]
    pub model: bool,
    /// Write here instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Source of the figures of idle states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IdleStatesFrom {
    // Measured in the trace, where it has enough wake-ups; the platform file's elsewhere, and for our own logs.
    Trace,
    // The platform file's.
    Platform,
}

/// Source of the frequencies of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Frequencies {
    // The governor of the policy.
    Governor,
    // The recorded ones, at the recorded times.
    Trace,
}

/// `pelton replay`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: record a run, then ask what another kernel would have done with the same work
  pelton run --platform juno-r0 --duration 1s --log out.plog \\
    --workload periodic:run_us=3000,period_us=16000
  pelton replay out.plog --policy 7.2 --policy 4.16
Exit code 1 means that --check found a quantity outside its tolerance.")]
pub struct ReplayArgs {
    /// Traces of any kind, - for standard input; each is replayed by itself.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
    /// Part of the traces, and the machine.
    #[command(flatten)]
    pub part: PartArgs,
    /// Policy file or name, or profile with switches as 4.16,rt_signal=on; repeatable, one column each.
    #[arg(long = "policy", value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...")]
    pub policies: Vec<String>,
    /// Kernel whose rules are used [default: 7.2; with --check those of the recording].
    #[arg(long, value_name = "VERSION", conflicts_with = "policies")]
    pub profile: Option<String>,
    /// Switch set in every policy.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// First seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Medians over this many seeds, which differ in the phase of ticks.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
    /// Compare under the recorded policy on the recorded platform with tolerances.
    #[arg(long)]
    pub check: bool,
    /// Source of frequencies: the governor of the policy, or the trace, so that the schedule is judged apart from it.
    #[arg(long, value_enum, value_name = "WHO", default_value = "governor")]
    pub frequencies: Frequencies,
    /// Replay this much of the beginning without comparing it.
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    pub settle: Option<u64>,
    /// Timer interrupts per second: 100, 250, 300 or 1000 [default: 250].
    #[arg(long, value_name = "N")]
    pub hz: Option<u32>,
    /// schedutil's rate_limit_us [default: the profile's rule].
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(0..=RATE_LIMIT_US_MAX))]
    pub rate_limit_us: Option<u64>,
    /// Write a Perfetto trace of the first policy's first seed.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write its event log.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// `pelton validate`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: every signal recorded inside a 7.2 kernel, bit for bit
  pelton validate calls.csv.gz --profile 7.2
Example: what the trace of a phone can tell, with the frequencies and capacities of its platform
  pelton validate trace.dat --platform pixel6-gs101 --profile 5.10
Exit code 1 means that the core does not compute what the kernel did: the first difference is printed.
Exit code 5 means that nothing differs and nothing, or too little, could be decided.")]
pub struct ValidateArgs {
    /// Traces: text, trace.dat, Perfetto, CSV, our log; also compressed; - for standard input.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
    /// Kernel whose rules are used [default: the one the trace names, or 7.2].
    #[arg(long, value_name = "VERSION")]
    pub profile: Option<String>,
    /// Platform for capacities, frequency tables and energies [default: what the trace shows].
    #[arg(long, value_name = "P")]
    pub platform: Option<String>,
    /// Another file of the same recording, as tables of one signal each are; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Kind of the traces, when their content does not show it.
    #[arg(long, value_name = "NAME", value_parser = input_format)]
    pub input_format: Option<InputFormat>,
    /// Put faults into the trace instead and show that each is found.
    #[arg(long)]
    pub self_test: bool,
    /// Also say which other values of switches, and which profiles, the trace refutes; asks for at most TIME [default:
    /// 60s].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "60s", conflicts_with = "self_test")]
    pub distinguish: Option<u64>,
}

/// `pelton record`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: ten seconds of everything that happens, for pelton and for the Perfetto UI
  pelton record -o now.plog --perfetto now.pftrace --duration 10s
Example: one command from start to end
  pelton record -o make.plog -- make -j4
Example: where this kernel places tasks, and whether its rules would place them there
  pelton record --placements now.csv.gz --duration 5s
  pelton validate now.csv.gz --profile 7.2
Example: what clamps of tasks and groups come to, while they change
  pelton record --clamps now.csv.gz --load clamps --duration 5s
Exit code: that of the command after --, when it has ended; 4 when something is missing on this machine: the message says
what and how to get it.")]
pub struct RecordArgs {
    /// Write the event log.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a Perfetto trace.
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write a table of placements instead: for each, what it could read, what was chosen, and what had changed by
    /// then. The machine goes beside it, into FILE.topo.json for FILE.csv or FILE.csv.gz.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "perfetto", "full", "buffer", "events"])]
    pub placements: Option<PathBuf>,
    /// Write a table of clamps instead: what each decision about utilization clamps read, and what came of it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "perfetto", "placements", "full", "buffer", "events"])]
    pub clamps: Option<PathBuf>,
    /// Count balances between CPUs instead, and how many runnable tasks CPUs have; with =FILE also a table: for each
    /// search for a group to take from, what it could read and what it found. The table slows the machine down.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-",
          conflicts_with_all = ["output", "perfetto", "full", "buffer", "events", "placements", "clamps"])]
    pub balances: Option<PathBuf>,
    /// Write a table of gates instead: whether each CPU that went idle searched for a task before, which domains were
    /// balanced when, all that this was decided by, and what came of it. The machine goes beside it, as with
    /// --placements.
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["output", "perfetto", "full", "buffer", "events", "placements", "clamps", "balances"])]
    pub gates: Option<PathBuf>,
    /// Length [default: 10s, or until the command ends].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub duration: Option<u64>,
    /// Sets of events: sched, freq, idle, pelt, irq, energy; or all.
    #[arg(long, value_name = "SET,...", default_value = "sched,freq,idle,pelt,energy")]
    pub events: String,
    /// Every load-tracking call, before and after, where the kernel lets functions be traced.
    #[arg(long)]
    pub full: bool,
    /// Buffer of each CPU [default: 512 shared by the CPUs, 4 to 32 each].
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub buffer: Option<u32>,
    /// Run a small load meanwhile: periodic, rt-fair, mixed, fork-storm, cgroup-moves, wakeups, quotas,
    /// idle-groups, phone, clamps or limits; or workloads as `pelton run` has them, as
    /// busy:threads=4+bursts:run_us=300,sleep_us=500 (periodic, bursts, busy, hackbench, schbench).
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub load: Option<String>,
    /// Take the kernel's type information from this file.
    #[arg(long, value_name = "FILE", hide = true)]
    pub btf: Option<PathBuf>,
    /// Command to run and record.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

/// `pelton trace`.
#[derive(Debug, Subcommand)]
pub enum TraceVerb {
    /// Format, length, events by name, what is lost or damaged.
    #[command(after_long_help = "Example:\n  pelton trace info trace.dat")]
    Info(TraceInfoArgs),
    /// Write a trace in another form.
    #[command(after_long_help = "\
Example: as a Perfetto trace
  pelton trace export run.plog --to perfetto -o run.pftrace
Example: one Parquet file per kind of event, for polars, pandas and DuckDB
  pelton trace export run.plog --to parquet -o run/
Example: one task for a tenth of a second, to read
  pelton trace export run.plog --to text --task surfaceflinger -o - \\
    --from 2s --to-time 2100ms")]
    Export(ExportArgs),
}

/// The kind of file with this name.
pub(super) fn input_format(name: &str) -> Result<InputFormat, String> {
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
    /// Kind of the file, when its content does not show it.
    #[arg(long, value_name = "NAME", value_parser = input_format)]
    pub input_format: Option<InputFormat>,
}

/// `pelton trace export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Trace, - for standard input.
    pub file: PathBuf,
    /// Kind of the file, when its content does not show it.
    #[arg(long, value_name = "NAME", value_parser = input_format)]
    pub input_format: Option<InputFormat>,
    /// Form to write.
    #[arg(long, value_enum)]
    pub to: TraceForm,
    /// File to write, - for standard output; for tables also a new folder (NAME/): one file per kind of event.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Only events of this name; repeatable.
    #[arg(long = "event", value_name = "NAME")]
    pub events: Vec<String>,
    /// Only what is about this task, by name or id; repeatable.
    #[arg(long = "task", value_name = "NAME")]
    pub tasks: Vec<String>,
    /// Only what happened on this CPU; repeatable.
    #[arg(long = "cpu", value_name = "N")]
    pub cpus: Vec<u32>,
    /// Begin this long after the first event.
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    pub from: Option<u64>,
    /// End this long after the first event.
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub to_time: Option<u64>,
}

/// Forms of an exported trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceForm {
    // Perfetto trace.
    Perfetto,
    // Text as tracefs has it, for LISA and other readers of ftrace.
    Ftrace,
    // Tables: of one kind of event, of all kinds in a folder, or one row for each number.
    Csv,
    // The same as JSON lines.
    Json,
    // The same as Parquet.
    Parquet,
    // One line per event.
    Text,
    // Our own log.
    Log,
}
