// SPDX-License-Identifier: GPL-2.0-only
//! Ctrl-C in the middle of a long run.

#![cfg(unix)]

mod support;
use serde_json::Value;
use std::process::{Command, Stdio};
use support::{Outcome, command, file, good};

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
    let info = good(&["trace", "info", &log_text]);
    assert!(info.contains("ends early"), "a reader knows that it did not see everything: {info}");
    let rows: Value = serde_json::from_str(&good(&["replay", "-q", &log_text, "--format", "json"])).expect("JSON");
    assert!(
        rows[0]["seconds"].as_f64().is_some_and(|s| s < 3600.0),
        "the run was planned for 720 h: {}",
        rows[0]["seconds"]
    );
    let row = |quantity: &str| {
        let rows = rows[0]["rows"].as_array().expect("rows");
        let row = rows.iter().find(|r| r["scope"] == "run" && r["quantity"] == quantity).expect("a row");
        (row["recorded"].as_f64().expect("known"), row["simulated"][0].as_f64().expect("known"))
    };
    let (recorded, simulated) = row("busy");
    assert!((recorded - simulated).abs() < recorded / 100.0, "{recorded} {simulated}");
}
