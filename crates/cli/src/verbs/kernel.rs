// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton kernel`: images of kernels' own code, which `--policy kernel:NAME` runs.

use super::common::{Screen, failure, print, print_json, print_list, section};
use crate::args::{Format, Global, KernelBuildArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::sheet::Sheet;
use pelton_lab::results::Outcome;
use pelton_lab::results::kernel::{KernelBuilt, KernelImage, KernelPart, Kernels};
use pelton_lab::verbs::kernel::{self, KernelBuildRequest};
use pelton_lab::watch::{Amount, Watch};
use std::sync::atomic::AtomicBool;

/// Parts that are not covered and files that changed: shown of each without `-v`.
const SHOWN: usize = 20;
/// Digits of a hash that a table shows.
const HASH_CHARS: usize = 12;

/// Makes an image.
pub fn build(args: &KernelBuildArgs, global: &Global) -> Result<Exit, Failure> {
    let request = KernelBuildRequest {
        name: args.name.clone(),
        tree: args.tree.clone(),
        source: args.source.clone(),
        patches: args.patches.clone(),
        since: args.since.clone(),
        keep_work: args.keep_work,
        no_diff: args.no_diff,
    };
    let built = kernel::build(&request, &Steps::new(global)).map_err(failure)?;
    say(&built, || built_text(&built, global), &operations(&built.kernel), global)?;
    Ok(Exit::Good)
}

/// Lists images.
pub fn list(global: &Global) -> Result<Exit, Failure> {
    let kernels = kernel::list().map_err(failure)?;
    let is_text = matches!(global.format, Format::Table | Format::Markdown | Format::Toml);
    if kernels.kernels.is_empty() && is_text {
        print("there is none; `pelton kernel build TREE --name NAME` makes one\n")?;
    } else {
        print_list(global, &rows(&kernels), &kernels)?;
    }
    Ok(Exit::Good)
}

/// Describes an image.
pub fn show(name: &str, global: &Global) -> Result<Exit, Failure> {
    let image = kernel::show(name).map_err(failure)?;
    say(&image, || text(&image, global), &operations(&image), global)?;
    Ok(Exit::Good)
}

/// Removes an image.
pub fn remove(name: &str, global: &Global) -> Result<Exit, Failure> {
    let removed = kernel::remove(name).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&removed)?,
        Format::Csv => print(&format!("removed\n{name}\n"))?,
        Format::Table | Format::Markdown | Format::Toml if global.quiet => {}
        Format::Table | Format::Markdown | Format::Toml => print(&format!("kernel {name} is removed\n"))?,
    }
    Ok(Exit::Good)
}

/// Prints a result; its operations as CSV.
pub fn say<T: Outcome>(
    result: &T,
    text: impl FnOnce() -> String,
    operations: &Sheet,
    global: &Global,
) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(result),
        Format::Csv => print(&operations.csv()),
        Format::Table | Format::Markdown | Format::Toml => print(&text()),
    }
}

/// Steps of a build on the terminal.
pub struct Steps<'a> {
    screen: Screen<'a>,
    global: &'a Global,
}

impl<'a> Steps<'a> {
    /// Steps that a screen shows.
    pub fn new(global: &'a Global) -> Steps<'a> {
        Steps { screen: Screen::new(global), global }
    }
}

impl Watch for Steps<'_> {
    fn stop(&self) -> &'static AtomicBool {
        self.screen.stop()
    }

    fn begins(&self, what: &str, amount: Amount) {
        self.screen.begins(what, amount);
    }

    fn at(&self, what: &str) {
        if interrupt::is_requested() {
            // Removing the work folder takes a moment.
            interrupt::notice();
        }
        if self.global.verbose > 0 && !self.global.quiet {
            crate::say(what);
        }
        self.screen.at(what);
    }

    fn ends(&self) {
        self.screen.ends();
    }

    fn note(&self, text: &str) {
        self.screen.note(text);
    }
}

fn rows(kernels: &Kernels) -> Sheet {
    let mut sheet = Sheet::new(&["<kernel", "<release", "<profile", "operations", "not covered", "<hash", "<source"]);
    for row in &kernels.kernels {
        sheet.row(match (&row.kernel, &row.damage) {
            (Some(image), _) => vec![
                row.name.clone(),
                image.release.clone(),
                image.profile.clone(),
                present(image),
                image.not_covered.len().to_string(),
                image.hash.chars().take(HASH_CHARS).collect(),
                origin(image),
            ],
            (None, damage) => {
                let mut cells = vec![row.name.clone()];
                cells.extend((0..5).map(|_| "-".to_owned()));
                cells.push(format!("damaged: {}", damage.as_deref().unwrap_or("no reason is known")));
                cells
            }
        });
    }
    sheet
}

/// Operations that are there, of all.
fn present(image: &KernelImage) -> String {
    let present = image.operations.iter().filter(|operation| operation.present).count();
    format!("{present} of {}", image.operations.len())
}

/// Source and patches in a few words.
fn origin(image: &KernelImage) -> String {
    let source = &image.source;
    let commit =
        source.commit.as_ref().map(|commit| format!(" at {}", commit.chars().take(HASH_CHARS).collect::<String>()));
    let changed = match source.changed.len() {
        0 => String::new(),
        1 => ", 1 file changed".to_owned(),
        count => format!(", {count} files changed"),
    };
    let patches = image.patches.iter().map(|patch| format!(" + {}", patch.name));
    format!("{}{}{changed}{}", source.place, commit.unwrap_or_default(), patches.collect::<String>())
}

fn built_text(built: &KernelBuilt, global: &Global) -> String {
    let work = built.work.as_ref().map(|work| format!("work folder: {work}\n")).unwrap_or_default();
    let name = &built.kernel.name;
    format!("{}{work}\nTo use it: --policy kernel:{name}\n", text(&built.kernel, global))
}

fn text(image: &KernelImage, global: &Global) -> String {
    let missing = image.operations.iter().any(|operation| !operation.present);
    let operations = if missing || global.verbose > 0 { section("", &operations(image)) } else { String::new() };
    format!(
        "kernel {}: Linux {}, made in {} s\nsource: {}\nhash: {}\n\
         operations: {}; the rest is the core's, profile {}\n{operations}{}{}",
        image.name,
        image.release,
        image.built_s,
        origin(image),
        image.hash,
        present(image),
        image.profile,
        not_covered(image, global),
        no_diff(image),
    )
}

/// Reason why it cannot be compared with the core.
fn no_diff(image: &KernelImage) -> String {
    let why = |why: &String| format!("`pelton kernel diff` cannot compare it: {why}\n");
    image.no_diff.as_ref().map(why).unwrap_or_default()
}

fn operations(image: &KernelImage) -> Sheet {
    let mut sheet = Sheet::new(&["<operation", "<whose", "<why not the image's"]);
    for operation in &image.operations {
        let whose = if operation.present { "image" } else { "core" };
        let reason = operation.reason.clone().unwrap_or_default();
        sheet.row(vec![operation.operation.clone(), whose.to_owned(), reason]);
    }
    sheet
}

/// Parts of the change that no operation reaches, as a warning.
fn not_covered(image: &KernelImage, global: &Global) -> String {
    let has_change = !image.patches.is_empty() || !image.source.changed.is_empty();
    if image.not_covered.is_empty() {
        let all = "every part of the change is reached by an operation\n";
        return if has_change { all.to_owned() } else { String::new() };
    }
    let most = if global.verbose > 0 { usize::MAX } else { SHOWN };
    let mut sheet = Sheet::new(&["<file", "<part", "<why"]);
    for part in image.not_covered.iter().take(most) {
        sheet.row(vec![part.file.clone(), named(part), part.reason.clone()]);
    }
    let more = image.not_covered.len().saturating_sub(most);
    let more = if more > 0 { format!("and {more} more; -v has all\n") } else { String::new() };
    section("Not covered: a run under this kernel shows nothing of these parts of the change", &sheet) + &more
}

/// Part of a file by kind and name.
fn named(part: &KernelPart) -> String {
    match (part.kind, &part.name) {
        ("function", Some(name)) => format!("{name}()"),
        ("type" | "condition", Some(name)) => name.clone(),
        (kind, Some(name)) => format!("{kind} {name}"),
        (kind, None) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;
    use pelton_lab::results::kernel::{KernelOperation, KernelPatch, KernelSource};

    fn global(words: &[&str]) -> Global {
        let words = [&["pelton", "kernel", "list"], words].concat();
        Cli::try_parse_from(words).expect("a command line").global
    }

    fn image() -> KernelImage {
        let operation = |name: &str, reason: Option<&str>| KernelOperation {
            operation: name.to_owned(),
            present: reason.is_none(),
            reason: reason.map(str::to_owned),
        };
        KernelImage {
            name: "mine".to_owned(),
            release: "6.12.118".to_owned(),
            profile: "6.12".to_owned(),
            hash: "0123456789abcdef0123456789abcdef".to_owned(),
            source: KernelSource {
                place: "linux-source-6.12 6.12.118-1".to_owned(),
                commit: None,
                since: None,
                changed: Vec::new(),
            },
            patches: vec![KernelPatch { name: "hold.patch".to_owned(), hash: "1".to_owned() }],
            operations: vec![operation("sugov_hook", None), operation("teo_select", Some("error: no such function"))],
            not_covered: (0..30)
                .map(|at| KernelPart {
                    file: "kernel/sched/rt.c".to_owned(),
                    kind: "function",
                    name: Some(format!("f{at}")),
                    reason: "no operation calls it".to_owned(),
                })
                .collect(),
            built_s: 40,
            no_diff: None,
        }
    }

    #[test]
    fn a_description_has_what_is_missing_and_what_is_not_covered() {
        let shown = text(&image(), &global(&[]));
        for words in ["Linux 6.12.118", "+ hold.patch", "1 of 2", "error: no such function", "f19()", "and 10 more"] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(!shown.contains("f20()") && text(&image(), &global(&["-v"])).contains("f29()"));
        let covered = KernelImage { not_covered: Vec::new(), ..image() };
        assert!(text(&covered, &global(&[])).contains("every part of the change"));
    }

    #[test]
    fn a_damaged_image_has_a_row() {
        let damaged = pelton_lab::results::kernel::KernelRow {
            name: "old".to_owned(),
            kernel: None,
            damage: Some("its hash differs".to_owned()),
        };
        let good =
            pelton_lab::results::kernel::KernelRow { name: "mine".to_owned(), kernel: Some(image()), damage: None };
        let text = rows(&Kernels { kernels: vec![good, damaged] }).csv();
        assert!(text.contains("damaged: its hash differs") && text.contains("mine,6.12.118,6.12,1 of 2,30,"), "{text}");
    }
}
