// SPDX-License-Identifier: GPL-2.0-or-later
//! Ctrl-C in the middle of a long run.

#![cfg(unix)]

use crate::support::{Outcome, command, file, good, processor_time, until_it_listens};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// More processor time than a verb may take after a signal.
const SOON: Duration = Duration::from_secs(5);

fn started(arguments: &[&str]) -> (Child, ChildStdin) {
    let mut command = command(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let stdin = child.stdin.take().expect("a pipe");
    (child, stdin)
}

/// Sends one signal and waits for the end.
fn signalled(child: Child, signal: &str) -> Outcome {
    let before = processor_time::of(&child);
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("a standard command");
    assert!(killed.success());
    let (output, spent) = processor_time::ended(child);
    assert!(spent - before < SOON, "{signal}: {:?}", spent - before);
    output.into()
}

#[test]
fn what_waits_takes_no_processor_time_and_what_counts_does() {
    for (words, computes) in [("sleep 0.5", false), ("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", true)] {
        let child = Command::new("sh").args(["-c", words]).stderr(Stdio::piped()).spawn().expect("a shell");
        let (output, spent) = processor_time::ended(child);
        assert!(output.status.success());
        assert_eq!(spent >= Duration::from_millis(50), computes, "{words}: {spent:?}");
    }
    let since = processor_time::Moment::now();
    Command::new("sleep").arg("0.2").status().expect("a standard command");
    assert!(since.elapsed() < Duration::from_millis(100));
    while since.elapsed() < Duration::from_millis(20) {}
}

#[test]
fn a_reader_of_a_pipe_that_says_nothing_ends_at_the_first_signal() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (csv, csv_text) = file(&folder, "out.csv");
    std::fs::write(&csv, "old").expect("room");
    let head = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n";
    let verbs: [&[&str]; 4] = [
        &["trace", "info", "-"],
        &["trace", "export", "-", "--to", "csv", "-o", &csv_text],
        &["validate", "-"],
        &["replay", "-", "--recorded-on", "hikey-6220"],
    ];
    for verb in verbs {
        for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            let (child, mut stdin) = started(verb);
            until_it_listens(&child);
            if signal != "-INT" {
                stdin.write_all(head).expect("it reads");
            }
            let outcome = signalled(child, signal);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{verb:?} {}", outcome.stderr);
            assert!(outcome.stderr.contains("interrupted"), "{verb:?}: {}", outcome.stderr);
        }
    }
    assert_eq!(std::fs::read_to_string(&csv).expect("still there"), "old");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_stream_of_lines_that_mean_nothing_ends_at_the_first_signal() {
    for verb in [&["trace", "info", "-"][..], &["validate", "-"]] {
        let (child, mut stdin) = started(verb);
        let endless = std::thread::spawn(move || {
            let mut text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n".to_vec();
            while stdin.write_all(&text).is_ok() {
                text = b"some line that means nothing at all\n".repeat(1000);
            }
        });
        until_it_listens(&child);
        let outcome = signalled(child, "-TERM");
        assert_eq!(outcome.code, 143, "{}", outcome.stderr);
        endless.join().expect("it ends with the reader");
    }
}

#[test]
fn a_fifo_that_nobody_opens_does_not_hold_the_program() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, fifo) = file(&folder, "fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("a standard command").success());
    let (child, _stdin) = started(&["trace", "info", &fifo]);
    until_it_listens(&child);
    assert_eq!(signalled(child, "-TERM").code, 143);
}

#[test]
fn ten_thousand_tasks_do_not_outlast_a_signal() {
    let workload = "periodic:run_us=1,period_us=100000,threads=10000";
    let (child, _stdin) =
        started(&["run", "--platform", "juno-r0", "--workload", workload, "--duration", "100s", "-q"]);
    until_it_listens(&child);
    let outcome = signalled(child, "-INT");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
}

#[test]
fn verbs_that_simulate_end_at_the_first_signal() {
    let load = ["--platform", "juno-r0", "--workload", "busy:threads=4", "--duration", "720h", "-q"];
    let verbs: [&[&str]; 6] = [
        &["compare", "--policy", "7.2"],
        &["front", "--policy", "7.2"],
        &["why", "6.6", "7.2"],
        &["explain"],
        &["explain", "--placement"],
        &[],
    ];
    for verb in verbs {
        for (signal, code) in [("-TERM", 143), ("-HUP", 129)] {
            let table = ["reproduce", "rt-utilization", "--seeds", "1000", "-q"];
            let words = if verb.is_empty() { table.to_vec() } else { [verb, &load].concat() };
            let (child, _stdin) = started(&words);
            until_it_listens(&child);
            let outcome = signalled(child, signal);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{words:?} {}", outcome.stderr);
            assert!(outcome.stderr.contains("interrupted"), "{words:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn a_trace_of_a_killed_writer_says_that_it_is_not_whole_and_replaces_nothing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(trace, trace_text), (log, log_text)] = ["t.pftrace", "t.plog"].map(|name| file(&folder, name));
    for old in [&trace, &log] {
        std::fs::write(old, "old").expect("room");
    }
    let run = ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "720h"];
    let (mut child, _stdin) = started(&[&run[..], &["--trace", &trace_text, "--log", &log_text]].concat());
    let part = |path: &Path| std::path::PathBuf::from(format!("{}.pelton-part", path.display()));
    while [&trace, &log].iter().any(|path| std::fs::metadata(part(path)).map_or(0, |m| m.len()) < 300_000) {
        assert_eq!(child.try_wait().expect("child"), None);
        std::thread::yield_now();
    }
    let second = crate::support::pelton(&[&run[..6], &["10ms", "--log", &log_text]].concat());
    assert!(second.code == 4 && second.stderr.contains("is being written by another"), "{}", second.stderr);
    child.kill().expect("it runs");
    child.wait().expect("child");
    for path in [&trace, &log] {
        assert_eq!(std::fs::read_to_string(path).expect("still there"), "old");
        let info = crate::support::pelton(&["trace", "info", part(path).to_str().expect("a plain name")]);
        assert!(info.code == 0 && !info.stdout.contains("damage   none"), "{}{}", info.stdout, info.stderr);
    }
    good(&[&run[..6], &["10ms", "--trace", &trace_text, "--log", &log_text]].concat());
    for text in [&trace_text, &log_text] {
        assert!(good(&["trace", "info", text]).contains("damage   none"));
    }
}

#[test]
fn ctrl_c_ends_with_130_and_says_that_files_are_partial() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (log, log_text) = file(&folder, "partial.plog");
    let arguments =
        ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "720h", "--log", log_text.as_str()];
    let mut child =
        command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let part = log.with_extension("plog.pelton-part");
    while std::fs::metadata(&part).map_or(0, |m| m.len()) == 0 {
        assert_eq!(child.try_wait().expect("child"), None, "the run ended before it was interrupted");
        std::thread::yield_now();
    }
    let killed =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is a standard command");
    assert!(killed.success());
    let outcome: Outcome = child.wait_with_output().expect("child").into();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
    assert!(log.exists() && !part.exists());
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
    let (recorded, simulated) = row("busy_ms");
    assert!((recorded - simulated).abs() < recorded / 100.0, "{recorded} {simulated}");
}
