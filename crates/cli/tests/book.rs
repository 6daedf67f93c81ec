// SPDX-License-Identifier: GPL-2.0-only
//! Every `pelton` command printed in the README and the guides works, and output shown below one is its real output.
//! `make generate` writes the output again; a page may leave out the first lines.

mod support;
use std::path::{Path, PathBuf};

use support::{Outcome, command};

/// One command of a page, with the output shown below it.
struct Example {
    page: PathBuf,
    line: String,
    shown: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let guides = std::fs::read_dir(root().join("docs/guide")).expect("the guides are in the repository");
    let mut pages: Vec<PathBuf> = guides.filter_map(|entry| Some(entry.ok()?.path())).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

/// The commands inside the fenced blocks of a page.
fn examples(path: &Path) -> Vec<Example> {
    let text = std::fs::read_to_string(path).expect("a page is text");
    let mut found: Vec<Example> = Vec::new();
    for block in text.split("```").skip(1).step_by(2) {
        let mut current = None;
        for line in block.lines().skip(1) {
            if let Some(arguments) = line.trim_start_matches("$ ").strip_prefix("pelton ") {
                current = Some(found.len());
                found.push(Example { page: path.to_owned(), line: arguments.to_owned(), shown: Vec::new() });
            } else if let Some(at) = current {
                found[at].shown.push(line.trim_end().to_owned());
            }
        }
    }
    found
}

/// Words of a command line; single quotes hold a word together, `#` starts a comment.
fn words(line: &str) -> Vec<String> {
    let code = line.split(" #").next().unwrap_or("");
    let quoted = |(at, part): (usize, &str)| match at % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    };
    code.split('\'').enumerate().flat_map(quoted).collect()
}

/// A folder that looks like the top of the repository to a command, where files may be written.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let scenarios = root().join("scenarios").canonicalize().expect("the scenarios are in the repository");
    std::os::unix::fs::symlink(&scenarios, folder.path().join("scenarios")).expect("links can be made");
    let machine = scenarios.join("platforms/juno-r0.toml");
    std::fs::copy(machine, folder.path().join("my-machine.toml")).expect("files can be copied");
    folder
}

fn run(example: &Example, folder: &Path) -> Outcome {
    let words = words(&example.line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    command(&words).current_dir(folder).output().expect("the program starts").into()
}

/// The part of the output that a page shows: from the line that begins with the same word on.
fn shown_part(example: &Example, stdout: &str) -> Vec<String> {
    let first_word = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
    let start = example.shown.first().map(|line| first_word(line));
    let lines = stdout.trim_end().lines().map(|line| line.trim_end().to_owned());
    lines.skip_while(|line| Some(first_word(line)) != start).collect()
}

/// Lines that differ from run to run.
fn is_timing(line: &str) -> bool {
    line.ends_with(" s")
}

fn rewrite(example: &Example, part: &[String]) {
    let text = std::fs::read_to_string(&example.page).expect("a page is text");
    let block = |lines: &[String]| format!("$ pelton {}\n{}\n```", example.line, lines.join("\n"));
    let text = text.replace(&block(&example.shown), &block(part));
    std::fs::write(&example.page, text).expect("the pages are writable");
}

fn check(example: &Example, folder: &Path) {
    let outcome = run(example, folder);
    let name = format!("{}: pelton {}", example.page.display(), example.line);
    if outcome.code == 4 {
        // Recording needs root and a kernel with type information.
        println!("not measured: {name}: {}", outcome.stderr);
        return;
    }
    assert_eq!(outcome.code, 0, "{name}\n{}", outcome.stderr);
    if example.shown.is_empty() {
        return;
    }
    let part = shown_part(example, &outcome.stdout);
    if std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|mode| mode == "write") {
        return rewrite(example, &part);
    }
    let steady = |lines: &[String]| lines.iter().filter(|line| !is_timing(line)).cloned().collect::<Vec<_>>();
    assert_eq!(steady(&part), steady(&example.shown), "{name} prints something else; run `make generate`");
}

#[test]
fn every_printed_command_works() {
    let folder = workplace();
    let examples: Vec<Example> = pages().iter().flat_map(|page| examples(page)).collect();
    assert!(examples.len() >= 5, "the pages show commands");
    examples.iter().for_each(|example| check(example, folder.path()));
}

#[test]
fn quotes_and_comments_are_understood() {
    assert_eq!(words("run --workload 'a:b=1 + c' --quiet # why"), ["run", "--workload", "a:b=1 + c", "--quiet"]);
}
