// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton kernel`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `pelton kernel`.
#[derive(Debug, Subcommand)]
pub enum KernelVerb {
    /// Compile a kernel tree's own scheduler to an image that `--policy kernel:NAME` runs.
    Build(KernelBuildArgs),
    /// Images that are kept.
    #[command(after_long_help = "Example:\n  pelton kernel list")]
    List,
    /// One image: source, operations that it has, parts of the change that none of them reaches.
    #[command(after_long_help = "Example:\n  pelton kernel show mine")]
    Show {
        /// Name (`pelton kernel list`).
        name: String,
    },
    /// Decisions of a kernel that are not the core's, each with the smallest state, and the switch that they are.
    Diff(KernelDiffArgs),
    /// Remove an image.
    #[command(after_long_help = "Example:\n  pelton kernel remove mine")]
    Remove {
        /// Name (`pelton kernel list`).
        name: String,
    },
}

/// `pelton kernel build`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example: a tree as it is, with what is not committed yet
  pelton kernel build ~/linux --name mine
Example: a patch on top of the distribution's source, beside that source without it
  pelton kernel build --source 6.12 --name plain
  pelton kernel build --source 6.12 --patch hold.patch --name hold
  pelton compare --platform pixel6-gs101 --workload ui-frames \\
    --policy kernel:plain --policy kernel:hold
The tree is only read: what the scheduler is compiled from is copied, and configured by a configuration of ours.
Images are kept in $PELTON_DATA_HOME, $XDG_DATA_HOME/pelton or ~/.local/share/pelton.
Exit code: 4 when this machine cannot, with all that is missing.")]
pub struct KernelBuildArgs {
    /// Folder of a kernel's source, 5.10 or later: of git or not, built in place or not.
    #[arg(value_name = "TREE", conflicts_with = "source", required_unless_present = "source")]
    pub tree: Option<PathBuf>,
    /// Name of the image; one of that name is replaced.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Series of Debian's package linux-source, as 6.12, in place of a tree; fetched once, some 150 MB.
    #[arg(long, value_name = "SERIES")]
    pub source: Option<String>,
    /// Patch, applied by `patch -p1` to a copy; repeatable, in this order.
    #[arg(long = "patch", value_name = "FILE")]
    pub patches: Vec<PathBuf>,
    /// Commit of the tree from which on its change is looked at [default: what is not committed].
    #[arg(long, value_name = "COMMIT", conflicts_with = "source")]
    pub since: Option<String>,
    /// Keep the folder that it is made in, some 300 MB.
    #[arg(long)]
    pub keep_work: bool,
    /// Leave out what `pelton kernel diff` needs, which takes some seconds.
    #[arg(long)]
    pub no_diff: bool,
}

/// `pelton kernel diff`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  pelton kernel diff mine
Example: against another release, with more states
  pelton kernel diff mine --against 6.6 --states 200000
Functions of the kernel are called one by one on random states, and the core's on the same. Of each that differs the
smallest state is printed that was found; questions of placement as a machine with few CPUs.
Exit code: 1 when an operation differs or fails.")]
pub struct KernelDiffArgs {
    /// Name (`pelton kernel list`).
    pub name: String,
    /// Rules of the core: a profile, with switches behind it or not, as 6.12,runnable_boost=off [default: the nearest
    /// profile].
    #[arg(long, value_name = "PROFILE")]
    pub against: Option<String>,
    /// States of each operation; of some that take long a part of them.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub states: u64,
    /// Seed of the states.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
