// SPDX-License-Identifier: GPL-2.0-only
//! Ctrl-C in the middle of a long run.

#![cfg(unix)]

mod support;
use std::process::{Command, Stdio};
use support::{Outcome, command, file};

#[test]
fn ctrl_c_ends_with_130_and_says_that_files_are_partial() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (log, log_text) = file(&folder, "partial.plog");
    let arguments =
        ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "720h", "--log", log_text.as_str()];
    let mut child =
        command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    while std::fs::metadata(&log).map_or(0, |m| m.len()) == 0 {
        assert_eq!(child.try_wait().expect("child"), None, "the run ended before it was interrupted");
        std::thread::yield_now();
    }
    let killed =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is a standard command");
    assert!(killed.success());
    let outcome: Outcome = child.wait_with_output().expect("child").into();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("interrupted at") && outcome.stderr.contains("partial"), "{}", outcome.stderr);
}
