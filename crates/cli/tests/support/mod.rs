// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs the built program and compares what it prints with recorded text.

#![allow(dead_code, reason = "every test file uses a part of it")]

#[path = "../../../../tests/shared/processor_time.rs"]
pub mod processor_time;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Outcome of one invocation.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program prints UTF-8");
        let code = output.status.code().expect("the program ends by itself");
        Outcome { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The program with these arguments, ready to start.
pub fn command(arguments: &[&str]) -> Command {
    // `scripts/test-live.sh` has one that is faster.
    let program = std::env::var_os("PELTON_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_pelton").into());
    let mut command = Command::new(program);
    command.args(arguments).env("NO_COLOR", "1").env_remove("COLUMNS");
    command
}

/// Runs to the end.
pub fn pelton(arguments: &[&str]) -> Outcome {
    command(arguments).output().expect("the program starts").into()
}

/// Runs to the end; and the processor time that it took.
pub fn timed(mut command: Command) -> (Outcome, Duration) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let (output, spent) = processor_time::ended(child.expect("the program starts"));
    (output.into(), spent)
}

/// Runs to the end, which must be exit code 0 without a word on stderr.
pub fn good(arguments: &[&str]) -> String {
    let outcome = pelton(arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}\n{}", outcome.stdout);
    outcome.stdout
}

/// Compares with `tests/snapshots/NAME.txt`; with `PELTON_SNAPSHOTS=write` records instead.
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|v| v == "write") {
        std::fs::create_dir_all(path.parent().expect("has a folder")).expect("the tests are writable");
        std::fs::write(&path, text).expect("the snapshot folder is writable");
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((line, (old, new))) = first_difference(&recorded, text) {
        panic!(
            "{name}.txt:{line}\n  recorded: {old}\n  now:      {new}\nif this is meant: PELTON_SNAPSHOTS=write cargo test -p pelton-cli"
        );
    }
}

fn first_difference<'a>(old: &'a str, new: &'a str) -> Option<(usize, (&'a str, &'a str))> {
    let lines = old.lines().count().max(new.lines().count());
    let at = |text: &'a str, n: usize| text.lines().nth(n).unwrap_or("(end)");
    (0..lines).find(|&n| at(old, n) != at(new, n)).map(|n| (n + 1, (at(old, n), at(new, n))))
}

/// A file of this test run.
pub fn file(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let text = path.to_str().expect("temporary folders have plain names").to_owned();
    (path, text)
}

/// Waits until the process sleeps or has done its first work: the handler is there by then.
pub fn until_it_listens(child: &std::process::Child) {
    let status = format!("/proc/{}/status", child.id());
    let catches = |text: &str| {
        let set = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(set.trim(), 16).unwrap_or(0) >> 14 & 1 == 1
    };
    while !std::fs::read_to_string(&status).is_ok_and(|text| catches(&text)) {
        std::thread::yield_now();
    }
}
