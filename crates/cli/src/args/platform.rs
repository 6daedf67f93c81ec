// SPDX-License-Identifier: GPL-2.0-or-later
//! Arguments of `pelton platform` and `pelton policy`.

use super::PolicyArgs;
use clap::{Args, Subcommand};
use pelton_scenario::diagnostic::hint_for;
use std::path::PathBuf;

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
