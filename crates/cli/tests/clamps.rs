// SPDX-License-Identifier: GPL-2.0-only
//! `pelton validate` of recorded clamps: kernels' decisions come out again, wrong rules do not, bad input is shown.

mod support;
use std::io::{Read, Write};

use serde_json::Value;
use support::{good, pelton};

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

#[test]
fn a_number_that_is_none_is_shown_where_it_stands() {
    let mut text = String::new();
    let file = std::fs::File::open(recording("7.2")).expect("part of the repository");
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let mut lines: Vec<String> = text.lines().take(3).map(str::to_owned).collect();
    lines[2] = lines[2].replacen(",1024,", ",1o24,", 1);
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("table.csv");
    let mut table = std::fs::File::create(&path).expect("room");
    lines.iter().for_each(|line| writeln!(table, "{line}").expect("room"));
    let outcome = pelton(&["validate", path.to_str().expect("UTF-8")]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1o24") && outcome.stderr.contains(":3"), "{}", outcome.stderr);
}
