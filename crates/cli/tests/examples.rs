// SPDX-License-Identifier: GPL-2.0-or-later
//! Every example of every `--help` works as it is printed in a terminal of 80 columns, pasted into a shell.

use crate::support::{Outcome, command};
use std::path::Path;
use std::process::Command;

/// Commands that a test cannot give an example, each with the reason.
const NOT_HERE: [(&str, &str); 11] = [
    ("pelton serve", "it waits for a browser"),
    ("pelton record", "recording needs root and a kernel with type information"),
    ("pelton live", "it takes the scheduler of the machine, and needs root for less"),
    ("pelton kernel build", "it needs a kernel's source, and compiles for half a minute"),
    ("pelton kernel show", "no image is kept in a test's home"),
    ("pelton kernel diff", "no image is kept in a test's home"),
    ("--policy kernel:", "no image is kept in a test's home"),
    ("pelton kernel remove", "no image is kept in a test's home"),
    ("pelton validate now.csv.gz", "its table comes from a recording"),
    ("pelton check capped-task --board pixel6-gs101 --trace", "its recording comes from a board"),
    ("pelton platform import", "sysfs, device tree and Energy Model of a board"),
];

/// The verbs below this one, and it itself.
fn pages(words: &[&str], help: &str) -> Vec<Vec<String>> {
    let own = || words.iter().map(|&word| word.to_owned());
    let listed = help.lines().skip_while(|line| *line != "Verbs:" && *line != "Commands:").skip(1);
    let below = listed.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    let names = below.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    std::iter::once(own().collect()).chain(names.map(|name| own().chain([name.to_owned()]).collect())).collect()
}

fn help(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let outcome: Outcome = command(&words).env("COLUMNS", "80").output().expect("the program starts").into();
    assert_eq!(outcome.code, 0, "{words:?}");
    outcome.stdout
}

/// The commands of a page, each with the lines that `\` joins to it.
fn examples(help: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in help.lines().skip_while(|line| !line.starts_with("Example")) {
        match line.trim_start() {
            text if goes_on => found.last_mut().expect("one goes on").push_str(&format!("\n{text}")),
            text if text.starts_with("pelton ") && line.starts_with("  ") => found.push(text.to_owned()),
            text => {
                assert!(!line.starts_with("  ") || text.starts_with("source "), "a line broken without `\\`: {line}");
                continue;
            }
        }
        goes_on = line.ends_with('\\');
    }
    found
}

/// A folder with what examples name, and `bin/pelton`.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let here = |name: &str| folder.path().join(name);
    std::fs::create_dir(here("bin")).expect("folders can be made");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pelton"), here("bin/pelton")).expect("links can be made");
    let copy = |from: &str, to: &str| {
        std::fs::copy(root.join(from), here(to)).expect("files can be copied");
    };
    copy("scenarios/platforms/juno-r0.toml", "my-board.toml");
    copy("tests/trace/kernel-clamps/x86-7.2.csv.gz", "calls.csv.gz");
    let load = "periodic:run_us=3000,period_us=16000,name=surfaceflinger";
    let log = here("run.plog");
    let words = ["run", "--platform", "pixel6-gs101", "--profile", "5.10", "--duration", "3s", "--workload", load];
    let words = [&words[..], &["--log", log.to_str().expect("plain names")]].concat();
    assert!(command(&words).output().expect("the program starts").status.success());
    for name in ["trace.dat", "out.plog"] {
        std::fs::copy(&log, here(name)).expect("files can be copied");
    }
    folder
}

#[test]
fn every_example_of_every_help_works_when_it_is_pasted() {
    let folder = workplace();
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let top = pages(&[], &help(&[])).into_iter().skip(1);
    let all = top.flat_map(|verb| pages(&[verb[0].as_str()], &help(&verb)));
    let mut worked = 0;
    for page in all {
        for example in examples(&help(&page)) {
            if let Some((_, why)) = NOT_HERE.iter().find(|(part, _)| example.contains(part)) {
                println!("not measured: {example}: {why}");
                continue;
            }
            // A pager is no part of what is tried.
            let tried = example.replace(" | man -l -", "");
            let shell = Command::new("sh").args(["-c", &tried]).current_dir(folder.path()).env("PATH", &path).output();
            let outcome: Outcome = shell.expect("there is a shell").into();
            assert_eq!(outcome.code, 0, "{page:?}: {example}\n{}{}", outcome.stdout, outcome.stderr);
            worked += 1;
        }
    }
    assert!(worked > 25, "only {worked} examples were found");
}

#[test]
fn a_line_that_a_terminal_would_break_is_noticed() {
    let broken = "Example: one\n  pelton run --platform hikey-6220 --workload\n  busy\n";
    assert!(std::panic::catch_unwind(|| examples(broken)).is_err());
    assert_eq!(examples("Example: one\n  pelton run \\\n    --x\nWords.\n"), ["pelton run \\\n--x"]);
}
