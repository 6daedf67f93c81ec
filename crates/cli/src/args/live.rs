// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton live`.

use clap::{Args, Subcommand, ValueEnum};
use pelton_lab::time::parse_duration_ns;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `pelton live`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: what the core would do here, for ten seconds; nothing is changed
  pelton live --observe --for 10s
Example: the core as the scheduler of this machine, for a minute (root)
  pelton live --for 1m
Example: a boost for what runs in a cgroup, from another terminal
  pelton live boost user.slice 30
Example: a unit for systemd
  pelton live --unit > pelton-live.service
Ctrl-C, SIGTERM, `pelton live stop`, or the end of the process in any other way hand all tasks back to the kernel.
Exit code: 4 when this machine cannot, with the reasons; 6 when the kernel ended the scheduler.")]
#[command(subcommand_value_name = "ASK")]
pub struct LiveArgs {
    /// Choices of a start.
    #[command(flatten)]
    pub start: LiveStartArgs,
    /// Control socket [default: /run/pelton/live.sock; --observe has one only where it is named].
    #[arg(long, value_name = "PATH", global = true)]
    pub socket: Option<PathBuf>,
    /// Request to a running one.
    #[command(subcommand)]
    pub ask: Option<LiveAsk>,
}

/// Choices of a start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct LiveStartArgs {
    /// Policy file or name, or profile with switches [default: 7.2,uclamp=debt,delayed_dequeue=off, which is the newest
    /// profile with clamps that add up; a task that sleeps leaves its queue at once, sched_ext knows no other way].
    #[arg(long, value_name = "FILE|NAME|VERSION[,SWITCH=VALUE]...")]
    pub policy: Option<String>,
    /// Switch or number on top of the policy, as headroom_pct=10; repeatable.
    #[arg(long = "set", value_name = "SWITCH=VALUE")]
    pub sets: Vec<String>,
    /// Leave frequencies to the kernel.
    #[arg(long)]
    pub no_frequencies: bool,
    /// CPUs of waking tasks: by the core, by the kernel's search for an idle one, or by what the machine is.
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    pub placement: LivePlacement,
    /// Only clamps that cgroups are given by `pelton live clamp` count, not what tasks asked the kernel for.
    #[arg(long)]
    pub own_clamps: bool,
    /// Change nothing: what the core would do, beside what the kernel does.
    #[arg(long)]
    pub observe: bool,
    /// Platform that says what the operating points of this machine draw [default: the kernel's energy model].
    #[arg(long, value_name = "P", requires = "observe")]
    pub platform: Option<String>,
    /// Write every decision with all that it was made of into this folder; `pelton validate FOLDER` takes them again,
    /// `pelton explain --recorded FOLDER` says why.
    #[arg(long, value_name = "FOLDER", conflicts_with = "unit")]
    pub record: Option<PathBuf>,
    /// End after this time [default: at Ctrl-C].
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration_ns)]
    pub length: Option<u64>,
    /// Show the CPUs so often [default: 1s on a terminal, else never].
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub every: Option<u64>,
    /// Serve counts and CPUs for Prometheus, as 127.0.0.1:9464.
    #[arg(long, value_name = "ADDRESS")]
    pub prometheus: Option<SocketAddr>,
    /// Print a systemd unit that starts it with these arguments, and leave.
    #[arg(long, conflicts_with = "observe")]
    pub unit: bool,
    /// Stop dispatching so long after the start, for tests of the kernel's watchdog.
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns, hide = true)]
    pub stall_after: Option<u64>,
}

/// Source of the CPU of a waking task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LivePlacement {
    // By the core where there is an energy model and CPUs differ, else by the kernel.
    #[default]
    Auto,
    // By the core.
    Core,
    // By the kernel's search for an idle CPU.
    Kernel,
}

/// `pelton live ASK`.
#[derive(Clone, Debug, Subcommand)]
pub enum LiveAsk {
    /// Counts, and the state of every CPU.
    #[command(after_long_help = "Example:\n  pelton live status --format json")]
    Status,
    /// Give the tasks of a cgroup a boost, which asks for that part of the room above their utilization.
    #[command(after_long_help = "\
Example: a user's programs half way up, and not at all
  pelton live boost user.slice 50
  pelton live boost user.slice 0")]
    Boost {
        /// Path below /sys/fs/cgroup; / for all tasks.
        #[arg(value_name = "CGROUP")]
        cgroup: String,
        /// -100 to 100; 0 takes it away.
        #[arg(value_name = "PERCENT", allow_negative_numbers = true)]
        #[arg(value_parser = clap::value_parser!(i32).range(-100..=100))]
        percent: i32,
    },
    /// Give the tasks of a cgroup clamps.
    #[command(after_long_help = "\
Example: what runs in the background asks for no more than 300 of 1024
  pelton live clamp background.slice 0 300")]
    Clamp {
        /// Path below /sys/fs/cgroup; / for all tasks.
        #[arg(value_name = "CGROUP")]
        cgroup: String,
        /// Lower clamp, 0 to 1024; 0 is none.
        #[arg(value_name = "MIN", value_parser = clap::value_parser!(u32).range(0..=1024))]
        min: u32,
        /// Upper clamp, 0 to 1024; 1024 is none.
        #[arg(value_name = "MAX", value_parser = clap::value_parser!(u32).range(0..=1024))]
        max: u32,
    },
    /// Set a number of the policy, as headroom_pct=10; switches hold until the end.
    #[command(after_long_help = "Example:\n  pelton live set headroom_pct=10")]
    Set {
        /// Name and value.
        #[arg(value_name = "NAME=VALUE", value_parser = parse_setting)]
        setting: (String, String),
    },
    /// Terms of the last decision about a CPU's frequency.
    #[command(after_long_help = "Example:\n  pelton live explain 0")]
    Explain {
        /// Number of the CPU.
        #[arg(value_name = "CPU")]
        cpu: u32,
    },
    /// End it: all tasks are the kernel's again.
    #[command(after_long_help = "Example:\n  pelton live stop")]
    Stop,
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("allowed: NAME=VALUE, as headroom_pct=10")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
