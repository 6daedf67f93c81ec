// SPDX-License-Identifier: GPL-2.0-only
//! `pelton replay`: exit codes, columns and formats.

mod support;
use serde_json::Value;
use support::{file, good, pelton};

const WORKLOAD: &str = "periodic:name=rt,run_us=3000,period_us=10000,policy=fifo,priority=10,cpus=0 + busy:cpus=0";

/// A log of one second.
fn recorded(folder: &tempfile::TempDir) -> String {
    let (_, log) = file(folder, "run.plog");
    good(&["run", "--platform", "hikey-6220", "--workload", WORKLOAD, "--duration", "1s", "--log", &log]);
    log
}

#[test]
fn the_self_check_passes_where_the_trace_comes_from_and_fails_elsewhere() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let same = pelton(&["replay", &log, "--check"]);
    assert_eq!(same.code, 0, "{}", same.stdout);
    let other = pelton(&["replay", &log, "--check", "--platform", "juno-r0"]);
    assert_eq!(other.code, 1, "{}", other.stdout);
    assert!(other.stdout.contains("differs"), "{}", other.stdout);
    let unchecked = pelton(&["replay", &log, "--platform", "juno-r0"]);
    assert_eq!(unchecked.code, 0, "a difference is no failure unless it is checked\n{}", unchecked.stdout);
}

#[test]
fn policies_are_columns_and_seeds_do_not_move_tasks() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let replay = |rest: &[&str]| good(&[&["replay", "-q", &log, "--policy", "7.2", "--policy", "4.16"], rest].concat());
    assert!(replay(&["--pin"]).contains("[2] 4.16"));
    let json: Value = serde_json::from_str(&replay(&["--format", "json", "--seeds", "3"])).expect("JSON");
    let rows = json[0]["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|r| r["simulated"].as_array().is_some_and(|all| all.len() == 2)));
    let busy = rows.iter().find(|r| r["scope"] == "run" && r["quantity"] == "busy").expect("a row");
    let (before, after) = (busy["recorded"].as_f64().expect("known"), busy["simulated"][0].as_f64().expect("known"));
    assert!((before - after).abs() < before / 100.0, "{before} {after}");
    let csv = replay(&["--format", "csv"]);
    assert_eq!(csv.lines().count(), 1 + 2 * rows.len(), "{csv}");
}

#[test]
fn given_frequencies_are_the_recorded_ones_and_not_judged() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let given = pelton(&["replay", "-q", &log, "--check", "--frequencies", "trace", "--format", "json"]);
    let result: Value = serde_json::from_str(&given.stdout).expect("JSON");
    let rows = result[0]["rows"].as_array().expect("rows");
    let means: Vec<&Value> = rows.iter().filter(|r| r["quantity"] == "frequency_mean").collect();
    assert!(!means.is_empty(), "no frequency is told");
    for row in means {
        let (before, after) = (row["recorded"].as_f64().expect("known"), row["simulated"][0].as_f64().expect("known"));
        assert!((before - after).abs() < 0.01, "{before} {after}");
    }
    let verdicts = result[0]["check"].as_array().expect("verdicts");
    let domain = |v: &&Value| v["scope"] == "domain";
    assert!(verdicts.iter().filter(domain).all(|v| v["rows"] == 0), "what is given cannot fail");
    let elsewhere = pelton(&["replay", &log, "--platform", "hikey960", "--frequencies", "trace"]);
    assert_eq!(elsewhere.code, 2, "{}", elsewhere.stderr);
}

#[test]
fn what_cannot_be_replayed_is_bad_input_with_advice() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let late = pelton(&["replay", &log, "--from", "5s"]);
    assert_eq!(late.code, 3);
    assert!(late.stderr.contains("choose an earlier --from"), "{}", late.stderr);
    let nobody = pelton(&["replay", &log, "--task", "nobody"]);
    assert_eq!(nobody.code, 3);
    assert!(nobody.stderr.contains("--task"), "{}", nobody.stderr);
    let (path, text) = file(&folder, "noise");
    std::fs::write(path, [0x5a; 4096]).expect("written");
    assert_eq!(pelton(&["replay", &text]).code, 3);
}
