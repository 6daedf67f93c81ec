// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate` of recorded clamps: kernels' decisions come out again, wrong rules do not, bad input is shown.

use std::io::{Read, Write};

use crate::support::{good, pelton};
use serde_json::Value;

const KERNELS: [&str; 2] = ["7.2", "6.18"];

fn recording(kernel: &str) -> String {
    format!("{}/../../tests/trace/kernel-clamps/x86-{kernel}.csv.gz", env!("CARGO_MANIFEST_DIR"))
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&good(arguments)).expect("JSON")
}

#[test]
fn clamps_of_kernels_come_out_again() {
    for kernel in KERNELS {
        let clamps = &json(&["validate", &recording(kernel), "--profile", kernel, "--format", "json"])["clamps"];
        let count = |key: &str| clamps[key].as_u64().expect("a number");
        assert_eq!(count("divergent"), 0, "{kernel}: {clamps}");
        assert!(count("decisions") - count("not_decided") > 3_000, "{kernel}: {clamps}");
        let kinds = clamps["by_kind"].as_object().expect("kinds");
        assert!(kinds.values().all(|kind| kind["decisions"] != kind["not_decided"]), "{kernel}: {clamps}");
    }
}

#[test]
fn wrong_rules_are_noticed() {
    for kernel in KERNELS {
        let told = json(&["validate", &recording(kernel), "--profile", kernel, "--self-test", "--format", "json"]);
        let faults = told["faults"].as_array().expect("faults");
        assert!(faults.len() >= 7 && faults.iter().all(|fault| fault["found"] == true), "{kernel}: {told}");
    }
}

/// The lines of a recording, its head first.
fn lines(kernel: &str) -> Vec<Vec<String>> {
    let mut text = String::new();
    let file = std::fs::File::open(recording(kernel)).expect("part of the repository");
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Decisions of an altered recording that differ, and those that are not decided.
fn differ_and_open(lines: &[Vec<String>], kernel: &str) -> (u64, u64) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("table.csv");
    let text: String = lines.iter().map(|line| line.join(",") + "\n").collect();
    std::fs::write(&path, text).expect("room");
    let outcome = pelton(&["validate", path.to_str().expect("UTF-8"), "--profile", kernel, "--format", "json"]);
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let count = |key: &str| told["clamps"][key].as_u64().expect("a number");
    (count("divergent"), count("not_decided"))
}

/// A task that left while clamps came into use may be marked as counted, and nothing takes it off: the kernel counts it
/// again. Here one of the recording is made to leave so: its own record is not decided, nor the next one of its CPU.
#[test]
fn a_task_that_left_while_clamps_came_into_use_is_counted_when_it_comes_back() {
    let mut lines = lines("7.2");
    let (divergent, open) = differ_and_open(&lines, "7.2");
    let at = |name: &str| lines[0].iter().position(|column| column == name).expect("a column");
    let [kind, cpu, tid, used, delayed, min, max] =
        ["kind", "cpu", "pid", "used", "delayed", "act_min", "act_max"].map(at);
    let plain = |line: &[String], of: &str| line[kind] == of && line[used] == "1" && line[delayed] == "0";
    // It comes back, and its CPU has at least one record in between.
    let returns = |left: usize| {
        let of_task = |line: &&Vec<String>| line[tid] == lines[left][tid] && "123".contains(&*line[kind]);
        let of_cpu = |line: &&Vec<String>| line[cpu] == lines[left][cpu] && "123".contains(&*line[kind]);
        let later = &lines[left + 1..];
        let (back, next) = (later.iter().find(of_task), later.iter().find(of_cpu));
        back.is_some_and(|line| plain(line, "1")) && next.is_some_and(|line| line[tid] != lines[left][tid])
    };
    let left = (2_000..lines.len()).find(|&at| plain(&lines[at], "2") && returns(at)).expect("a task that comes back");
    for (column, value) in [(used, "2"), (min, "1"), (max, "1")] {
        lines[left][column] = value.to_owned();
    }
    assert_eq!(differ_and_open(&lines, "7.2"), (divergent, open + 2));
}

#[test]
fn limits_of_a_group_that_a_task_is_leaving_are_not_decided() {
    let lines = lines("7.2");
    let at = |name: &str| lines[0].iter().position(|column| column == name).expect("a column");
    let [kind, asked, in_force, changed] = ["kind", "gr_max", "g_max", "changed"].map(at);
    let number = |line: &[String], column: usize| line[column].parse::<u32>().expect("a number");
    let limited = |line: &Vec<String>| line[kind] == "3" && line[asked] == line[in_force] && line[asked] != "0";
    let row = lines.iter().position(limited).expect("a limited group");
    let (divergent, open) = differ_and_open(&lines, "7.2");
    for (moving, expected) in [("0", (divergent + 1, open)), ("1", (divergent, open + 1))] {
        let mut altered = lines.clone();
        altered[row][asked] = (number(&lines[row], asked) - 1).to_string();
        altered[row][changed] = moving.to_owned();
        assert_eq!(differ_and_open(&altered, "7.2"), expected, "moving: {moving}");
    }
}

#[test]
fn a_number_that_is_none_is_shown_where_it_stands() {
    let mut lines: Vec<String> = lines("7.2").iter().take(3).map(|line| line.join(",")).collect();
    lines[2] = lines[2].replacen(",1024,", ",1o24,", 1);
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("table.csv");
    let mut table = std::fs::File::create(&path).expect("room");
    lines.iter().for_each(|line| writeln!(table, "{line}").expect("room"));
    let outcome = pelton(&["validate", path.to_str().expect("UTF-8")]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1o24") && outcome.stderr.contains(":3"), "{}", outcome.stderr);
}
