// SPDX-License-Identifier: GPL-2.0-or-later
//! Perfetto's own protobufs read the trace as the events of the run. `make test` installs the Python package; without
//! it the script says `not measured` and this test passes.

use crate::synthetic;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pelton_schema::Sink;
use pelton_trace::{EventSelection, JsonLines, PerfettoTrace};

const EVENTS: usize = 30_000;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn write_trace(path: &Path, seed: u64) {
    let mut trace = PerfettoTrace::new(File::create(path).expect("a writable folder"), &synthetic::header());
    synthetic::Synthetic::new(seed).take(EVENTS).for_each(|(time_ns, event)| trace.event(time_ns, &event));
    trace.finish().expect("written");
}

fn write_events(path: &Path, seed: u64) {
    let mut lines = JsonLines::new(File::create(path).expect("a writable folder"), EventSelection::all());
    synthetic::Synthetic::new(seed).take(EVENTS).for_each(|(time_ns, event)| lines.event(time_ns, &event));
    lines.finish().expect("written");
}

/// Runs the check; `None` when there is no Python at all.
fn check(trace: &Path, events: &Path) -> Option<Output> {
    let installed = repository().join(".venv/bin/python");
    let python = if installed.exists() { installed } else { PathBuf::from("python3") };
    let script = repository().join("tests/trace/check_perfetto.py");
    Command::new(python).arg(script).arg(trace).arg(events).output().ok()
}

#[test]
fn perfettos_own_protobufs_agree_and_notice_another_run() {
    let (trace, same, other) = (temporary("run.pftrace"), temporary("run.jsonl"), temporary("other.jsonl"));
    write_trace(&trace, 21);
    write_events(&same, 21);
    write_events(&other, 22);
    let Some(output) = check(&trace, &same) else {
        println!("not measured: Perfetto traces against Perfetto's own protobufs (no python3)");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    if text.starts_with("not measured") {
        return;
    }
    let wrong = check(&trace, &other).expect("it ran a moment ago");
    assert_eq!(wrong.status.code(), Some(1), "the check must be able to fail");
}
