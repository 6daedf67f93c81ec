// SPDX-License-Identifier: GPL-2.0-only
//! `pelton platform import`: a platform file from what others have.

use super::common::{bad_input, print_plain, rendered};
use crate::args::{Global, ImportArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use pelton_scenario::diagnostic::SourceFile;
use pelton_scenario::import::{self, Kind, Options};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::policy::DEFAULT_PROFILE;
use std::path::{Path, PathBuf};

/// Does what was asked.
pub fn import(args: &ImportArgs, global: &Global) -> Result<Exit, Failure> {
    let options = Options { kind: args.from, cpus: args.cpus, milliwatts: args.milliwatts };
    let sources: Vec<&Path> = std::iter::once(&args.source).chain(&args.with).map(PathBuf::as_path).collect();
    let outputs: Vec<&Path> = args.output.iter().map(PathBuf::as_path).filter(|path| path.as_os_str() != "-").collect();
    output::spare(&outputs, &sources)?;
    let mut draft = import::import(&args.source, &options).map_err(|d| bad_input(&d))?;
    for with in &args.with {
        draft.fill(import::import(with, &Options { kind: None, ..options.clone() }).map_err(|d| bad_input(&d))?);
    }
    without_effect(args, &options)?;
    draft.name = args.name.clone().unwrap_or(draft.name);
    let text = draft.toml();
    // The file is read back before it is written.
    let name = outputs.first().map_or_else(|| "(imported)".to_owned(), |path| path.display().to_string());
    let file = platform::parse(&SourceFile::new(name, &text)).map_err(|d| bad_input(&d))?;
    if !global.quiet {
        draft.assumed.iter().for_each(|line| crate::say(&format!("note: {line}")));
        if !file.warnings.is_empty() {
            crate::say(rendered(&file.warnings).trim_end());
        }
        if file.build(&PlatformOptions::new(DEFAULT_PROFILE)).is_err() {
            crate::say("note: the file can be shown, not simulated: `pelton platform check` says what is missing");
        }
    }
    match outputs.first() {
        None => print_plain(&text)?,
        Some(path) => output::write(path, &text)?,
    }
    Ok(Exit::Good)
}

/// An option that no source reads is a mistake.
fn without_effect(args: &ImportArgs, options: &Options) -> Result<(), Failure> {
    let with = Options { kind: None, ..options.clone() };
    let others = args.with.iter().map(|path| import::kind(path, &with));
    let kinds: Vec<Kind> = std::iter::once(import::kind(&args.source, options)).chain(others).flatten().collect();
    let read = [
        (args.milliwatts, "--milliwatts", Kind::EnergyModel, "an Energy Model"),
        (args.cpus.is_some(), "--cpus", Kind::Wattson, "a curve of Wattson"),
    ];
    match read.into_iter().find(|(given, _, kind, _)| *given && !kinds.contains(kind)) {
        Some((_, option, _, what)) => {
            let reason = format!("{option} has no effect here: it is about {what}, and no source is one");
            Err(Failure::new(Exit::Usage, reason, Some("leave it out, or see --from")))
        }
        None => Ok(()),
    }
}
