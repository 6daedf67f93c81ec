// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton platform import`: a platform file from what others have.

use super::common::{bad_input, print_plain, rendered};
use crate::args::{Global, ImportArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use pelton_scenario::diagnostic::{Diagnostics, Severity, SourceFile};
use pelton_scenario::import::{self, Kind, Options};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::policy::DEFAULT_PROFILE;
use std::path::{Path, PathBuf};

/// Runs the verb.
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
    draft.finish();
    let text = draft.toml();
    // The file is read back before it is written.
    let name = outputs.first().map_or_else(|| "(imported)".to_owned(), |path| path.display().to_string());
    let file = platform::parse(&SourceFile::new(name, &text)).map_err(|d| bad_input(&of_source(&args.source, &d)))?;
    let implausible = file.implausible_powers();
    if !global.quiet {
        draft.assumed.iter().for_each(|line| crate::say(&format!("note: {line}")));
        let unit = wrong_unit(args, &options, implausible);
        let warnings = unit.as_ref().unwrap_or(&file.warnings);
        if !warnings.is_empty() {
            crate::say(rendered(warnings).trim_end());
        }
        if file.build(&PlatformOptions::new(DEFAULT_PROFILE)).is_err() {
            crate::say("note: the file can be shown, not simulated: `pelton platform check` says what is missing");
        }
    }
    match outputs.first() {
        None => print_plain(&text)?,
        Some(path) => output::write(path, &text)?,
    }
    // As `platform check` has it: a file in the wrong unit can be simulated, and every energy would be wrong.
    Ok(if implausible == 0 { Exit::Good } else { Exit::ClaimFails })
}

/// Errors by which a source makes no file, without lines of a file that was not written.
fn of_source(source: &Path, found: &Diagnostics) -> Diagnostics {
    let source = SourceFile::new(source.display().to_string(), "");
    let mut all = Diagnostics::new();
    for diagnostic in found.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error) {
        let about = source.about(format!("no platform can be made of this: {}", diagnostic.message()));
        all.push(about.help("leave what it is about out of the source, or add what is missing by --with"));
    }
    all
}

/// Remark on powers that no CPU has, where the unit of an Energy Model was taken for granted.
fn wrong_unit(args: &ImportArgs, options: &Options, implausible: usize) -> Option<Diagnostics> {
    let with = Options { kind: None, ..options.clone() };
    let is_model =
        |path: &PathBuf, options: &Options| import::kind(path, options).is_ok_and(|k| k == Kind::EnergyModel);
    let model = Some(&args.source).filter(|path| is_model(path, options));
    let model = model.or_else(|| args.with.iter().find(|path| is_model(path, &with)))?;
    if implausible == 0 {
        return None;
    }
    let (unit, help) = if options.milliwatts {
        ("milliwatts", "kernels since 6.0 print microwatts: leave --milliwatts out")
    } else {
        ("microwatts", "kernels before 6.0 print milliwatts: give --milliwatts")
    };
    let count =
        if implausible == 1 { "the power of an operating point is" } else { "the powers of operating points are" };
    let source = SourceFile::new(model.display().to_string(), "");
    let about = source.about(format!("{count} not those of a CPU, taken as {unit} ({implausible} of them)"));
    Some(about.help(help).warning().into())
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
