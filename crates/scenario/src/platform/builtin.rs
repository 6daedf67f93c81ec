// SPDX-License-Identifier: GPL-2.0-or-later
//! The platforms the program carries with it, and the way to any other.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::file::PlatformFile;
use super::keys::PLATFORM;
use super::machine::{Built, PlatformOptions};
use super::plausible;
use super::power::PowerSource;
use crate::diagnostic::{Diagnostics, INPUT_BYTES_MAX, SourceFile, hint_for};
use crate::policy::DEFAULT_PROFILE;
use crate::tree::reference;

include!(concat!(env!("OUT_DIR"), "/platforms.rs"));

/// One line about a platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Name to give to `--platform`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Sort of device.
    pub kind: String,
    /// Number of CPUs.
    pub cpus: usize,
    /// CPUs and kind of each domain, in the order of CPU numbers: `4x Cortex-A53`.
    pub domains: Vec<String>,
    /// Source of the power figures by which the kernel decides, in a word or two.
    pub power: String,
    /// Source of the power figures that are charged, and whose power these are.
    pub drawn: String,
    /// True where it can be simulated; otherwise it can only be shown.
    pub simulated: bool,
}

/// Findings of a check of a platform.
#[derive(Debug)]
pub struct Check {
    /// The file.
    pub file: PlatformFile,
    /// Suspicious entries.
    pub warnings: Diagnostics,
    /// Operating points whose power no CPU of their kind has: a slip of unit or digit.
    pub implausible_powers: usize,
    /// The machine with default options, or why there is none.
    pub built: Result<Built, Diagnostics>,
}

/// Names of the built-in platforms, sorted.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    PLATFORMS.iter().map(|&(name, _)| name)
}

/// A platform from text; the source's name is what messages show.
pub fn parse(source: &SourceFile) -> Result<PlatformFile, Diagnostics> {
    PlatformFile::parse(source)
}

/// A built-in platform by name, or a file by path: what contains `/` or ends in `.toml`.
pub fn load(name_or_path: &str) -> Result<PlatformFile, Diagnostics> {
    if let Some((name, text)) = PLATFORMS.iter().find(|(name, _)| *name == name_or_path) {
        return parse(&SourceFile::new(format!("scenarios/platforms/{name}.toml"), text));
    }
    let path = Path::new(name_or_path);
    if name_or_path == "-" || name_or_path.starts_with("/dev/fd/") || name_or_path == "/dev/stdin" {
        return parse(&SourceFile::read_stream(path, INPUT_BYTES_MAX)?);
    }
    if name_or_path.contains('/') || path.extension().is_some_and(|e| e == "toml") {
        return parse(&SourceFile::read(path)?);
    }
    let argument = SourceFile::new("--platform", name_or_path);
    let at = argument.error(0..name_or_path.len(), "no such platform").label("neither built in nor a path");
    Err(at.help(format!("a file is given by its path: ./machine.toml\n{}", hint_for(name_or_path, names()))).into())
}

/// One line about every built-in platform, sorted by name.
pub fn list() -> Vec<Summary> {
    names().filter_map(|name| load(name).ok()).map(|file| summary(&file)).collect()
}

/// Reads and checks a platform, and tries to build its machine.
pub fn check(name_or_path: &str) -> Result<Check, Diagnostics> {
    let file = load(name_or_path)?;
    let built = file.build(&PlatformOptions::new(DEFAULT_PROFILE));
    let implausible_powers = file.implausible_powers();
    Ok(Check { warnings: file.warnings.clone(), implausible_powers, built, file })
}

impl PlatformFile {
    /// Operating points whose power no CPU of their kind has.
    pub fn implausible_powers(&self) -> usize {
        self.domains.iter().map(plausible::implausible).sum()
    }
}

fn summary(file: &PlatformFile) -> Summary {
    let built = file.build(&PlatformOptions::new(DEFAULT_PROFILE));
    let mut domains: Vec<_> = file.domains.iter().collect();
    domains.sort_by_key(|d| d.cpus.iter().map(|c| c.value).min());
    Summary {
        name: file.name.value.clone(),
        title: file.title.clone(),
        kind: file.kind.clone(),
        cpus: domains.iter().map(|d| d.cpus.len()).sum(),
        domains: domains.iter().map(|d| format!("{}x {}", d.cpus.len(), d.core)).collect(),
        power: built.as_ref().map_or_else(|_| "none".into(), Built::model_in_words),
        drawn: built.as_ref().map_or_else(|_| "none".into(), Built::drawn_in_words),
        simulated: built.is_ok(),
    }
}

impl Built {
    /// Source of the kernel's power figures, by which it decides, in words.
    pub fn model_in_words(&self) -> String {
        let mut words: Vec<String> = self.power.iter().map(|(_, source)| source_in_words(source)).collect();
        words.dedup();
        words.join(", ")
    }

    /// Source of the power figures that are charged, in words.
    pub fn drawn_in_words(&self) -> String {
        let busy = self.drawn.as_ref().map_or_else(|| self.model_in_words(), |table| format!("table {table}"));
        match self.machine.energy_basis().gap() {
            Some(_) => format!("{busy}; busy CPUs"),
            None => format!("{busy}; busy, idle, shared"),
        }
    }
}

/// Source of power figures, in a word or two.
pub(super) fn source_in_words(source: &PowerSource) -> String {
    match source {
        PowerSource::Written => "per operating point".into(),
        PowerSource::Coefficient => "coefficient x V^2 x f".into(),
        PowerSource::Model => "formula".into(),
        PowerSource::Table(name) => format!("table {name}"),
        PowerSource::Unknown => "none".into(),
    }
}

/// The page `docs/guide/platforms.md`: how a file is made, and what holds for all of it.
pub fn guide() -> String {
    let example = include_str!("../../tests/good/platform.toml").split_once('\n').map_or("", |(_, rest)| rest);
    include_str!("guide.md.in").replace("{{example}}", &format!("```toml\n{}```", example))
}

/// The page `docs/reference/platform-keys.md`, from the tables that the checks use.
pub fn key_page() -> String {
    let head = "# Keys of a platform file\n\nKeys that are not needed may be left out; text stands in quotes. \
                [How a file is made](../guide/platforms.md).\n\n";
    head.to_owned() + &reference(&PLATFORM)
}

/// Reads arbitrary bytes as a platform, as a fuzzer does: everything that can be done with a file is done, and nothing
/// may panic.
pub fn fuzz_platform(data: &[u8]) {
    let parsed = SourceFile::from_bytes("input.toml", data).and_then(|source| parse(&source));
    match parsed {
        Err(refused) => drop(crate::diagnostic::render(&refused, 80, false)),
        Ok(file) => {
            drop(crate::diagnostic::render(&file.warnings, 80, true));
            drop(file.build(&PlatformOptions::new(DEFAULT_PROFILE)));
            drop(file.describe(&PlatformOptions::new(DEFAULT_PROFILE)));
        }
    }
}
