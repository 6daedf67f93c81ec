// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate` of recorded placements: exit codes, formats, bad input.

use std::io::{Read, Write};
use std::path::Path;

use crate::support::{good, pelton};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trace/kernel-placement");

fn recording(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// The table as text, its first lines.
fn lines(name: &str, count: usize) -> Vec<String> {
    let mut text = String::new();
    let file = std::fs::File::open(recording(name)).expect("part of the repository");
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    text.lines().take(count).map(str::to_owned).collect()
}

/// A table with its machine beside it.
fn written(folder: &Path, lines: &[String]) -> String {
    let table = folder.join("table.csv");
    let mut file = std::fs::File::create(&table).expect("room");
    lines.iter().for_each(|line| writeln!(file, "{line}").expect("room"));
    std::fs::copy(recording("arm64-mixed.topo.json"), folder.join("table.topo.json")).expect("room");
    table.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_recording_of_7_2_holds_and_says_what_was_counted() {
    let told = good(&["validate", &recording("arm64-mixed.csv.gz"), "--profile", "7.2", "--format", "json"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let count = |key: &str| told["placements"][key].as_u64().expect("a number");
    assert_eq!((count("decisions"), count("quiet"), count("quiet_divergent")), (5966, 4855, 0));
    assert_eq!((count("divergent"), told["verdict"].as_str()), (111, Some("holds")));
    assert_eq!(["utils", "utils_differ", "utils_all", "utils_all_differ"].map(count), [2771, 0, 3443, 54]);
    assert_eq!(["utils_all_moved", "effective_utils", "effective_utils_differ"].map(count), [54, 354, 0]);
    let differences = told["differences"].as_array().expect("a list");
    let changed = |difference: &Value| difference["changed"].as_array().is_some_and(|columns| !columns.is_empty());
    assert!(differences.len() == 20 && differences.iter().all(changed), "{differences:?}");
    let text = good(&["validate", &recording("arm64-mixed.csv.gz")]);
    assert!(
        text.contains("2771 utilizations of CPUs compared, 0 differ; 354 of what CPUs ask for, 0 differ\n"),
        "{text}"
    );
    let csv = good(&["validate", &recording("arm64-eas-clamps.csv.gz"), "--format", "csv"]);
    assert!(csv.lines().any(|line| line.ends_with(",all,4681,4215,0,6,")), "{csv}");
}

/// Changes a quiet decision: its CPU was full before, and has the recorded utilization only afterwards, by `later`.
fn read_late(header: &str, line: &str) -> Option<String> {
    let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
    let at = |name: &str| header.split(',').position(|column| column == name).expect("a column");
    if !fields[at("changed")].is_empty() {
        return None;
    }
    let name = format!("util{}", fields[at("ret")]);
    let later = std::mem::replace(&mut fields[at(&name)], "1024".to_owned());
    fields[at("changed")] = format!("{name},{later}");
    Some(fields.join(","))
}

#[test]
fn a_decision_that_read_a_cpu_as_it_was_afterwards_is_between() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let recorded = lines("arm64-mixed.csv.gz", 400);
    let mut table = vec![recorded[0].replace(",changed,", ",changed,later,")];
    table.extend(recorded[1..].iter().filter_map(|line| read_late(&recorded[0], line)));
    let path = written(folder.path(), &table);
    let counts = |path: &str| {
        let told = pelton(&["validate", path, "--profile", "7.2", "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).expect("JSON");
        ["quiet", "divergent", "between"].map(|key| told["placements"][key].as_u64())
    };
    let [quiet, divergent, between] = counts(&path);
    assert!(quiet == Some(0) && divergent > Some(10) && between == divergent, "{quiet:?} {divergent:?} {between:?}");
    // Without what it was afterwards that is not known, and another length is no table.
    table[0] = table[0].replace(",later,", ",other,");
    assert_eq!(counts(&written(folder.path(), &table)), [Some(0), divergent, None]);
    table[0] = table[0].replace(",other,", ",later,");
    table[1] = table[1].replacen(",util", ",util0 util", 1);
    let outcome = pelton(&["validate", &written(folder.path(), &table)]);
    assert!(outcome.code == 3 && outcome.stderr.contains("are not of one length"), "{}", outcome.stderr);
}

#[test]
fn another_releases_rules_do_not_hold() {
    for profile in ["5.10", "6.6"] {
        let outcome = pelton(&["validate", &recording("arm64-eas-clamps.csv.gz"), "--profile", profile]);
        assert_eq!(outcome.code, 1, "{profile}\n{}", outcome.stdout);
        assert!(outcome.stdout.contains("First quiet differences"), "{}", outcome.stdout);
    }
}

#[test]
fn a_value_that_is_none_is_shown_where_it_stands() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut table = lines("arm64-mixed.csv.gz", 3);
    table[2] = table[2].replacen(",222,", ",2x2,", 1);
    let outcome = pelton(&["validate", &written(folder.path(), &table)]);
    assert_eq!(outcome.code, 3, "{}", outcome.stdout);
    for words in ["table.csv:3:", "`p_util` is `2x2`", "^"] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
}

#[test]
fn columns_rows_and_machines_that_are_missing_are_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut table = lines("arm64-mixed.csv.gz", 2);
    table[0] = table[0].replacen(",cap5,", ",else,", 1);
    let outcome = pelton(&["validate", &written(folder.path(), &table)]);
    assert!(outcome.code == 3 && outcome.stderr.contains("has no column `cap5`"), "{}", outcome.stderr);

    let mut table = lines("arm64-mixed.csv.gz", 2);
    table[1].truncate(100);
    let outcome = pelton(&["validate", &written(folder.path(), &table)]);
    assert!(outcome.code == 3 && outcome.stderr.contains("values for 250 columns"), "{}", outcome.stderr);

    let path = written(folder.path(), &lines("arm64-mixed.csv.gz", 2));
    std::fs::remove_file(folder.path().join("table.topo.json")).expect("there");
    let outcome = pelton(&["validate", &path]);
    assert!(outcome.code == 3 && outcome.stderr.contains("FILE.topo.json"), "{}", outcome.stderr);
    std::fs::write(folder.path().join("table.topo.json"), "{\"ncpu\": 900}").expect("room");
    assert_eq!(pelton(&["validate", &path]).code, 3);
}

#[test]
fn a_table_without_quiet_decisions_is_neither_pass_nor_failure() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let outcome = pelton(&["validate", &written(folder.path(), &lines("arm64-mixed.csv.gz", 1))]);
    assert_eq!(outcome.code, 5, "{}", outcome.stdout);
    let wrong = pelton(&["validate", "--distinguish", &written(folder.path(), &lines("arm64-mixed.csv.gz", 2))]);
    assert!(wrong.code == 2 && wrong.stderr.contains("--distinguish means nothing"), "{}", wrong.stderr);
}

/// The rules of a table are those of the kernel that is named beside it; the nearest that was read, where it was not.
#[test]
fn the_release_that_is_named_beside_a_table_chooses_the_rules() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let table = written(folder.path(), &lines("arm64-mixed.csv.gz", 3));
    let machine = folder.path().join("table.topo.json");
    let text = std::fs::read_to_string(&machine).expect("it was copied");
    for (release, profile, said) in [
        ("6.18.15+deb13-arm64", "6.18.15", "profile 6.18.15 because the table names kernel 6.18.15"),
        ("6.12.118+deb13-arm64", "6.12", "profile 6.12 because the table names kernel 6.12.118"),
        ("6.18.77", "6.18.35", "profile 6.18.35 because the table names kernel 6.18.77, whose own text was not read"),
    ] {
        std::fs::write(&machine, text.replacen('{', &format!("{{\"release\":\"{release}\","), 1)).expect("room");
        let outcome = pelton(&["validate", &table, "--format", "json"]);
        let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!((told["profile"].as_str(), told["remarks"][0].as_str()), (Some(profile), Some(said)), "{release}");
    }
    let asked = pelton(&["validate", &table, "--profile", "7.2", "--format", "json"]);
    let told: Value = serde_json::from_str(&asked.stdout).expect("JSON");
    assert_eq!((told["profile"].as_str(), told["remarks"].as_array().map(Vec::len)), (Some("7.2"), Some(0)));
}

#[test]
fn a_stable_release_is_a_profile() {
    let shown = good(&["policy", "show", "--profile", "6.18.15", "--format", "csv"]);
    assert!(shown.lines().any(|line| line.starts_with("newidle_dice,success")), "{shown}");
    let refused = pelton(&["policy", "show", "--profile", "6.18.60"]);
    assert!(refused.code != 0 && refused.stderr.contains("from 6.18.0 to 6.18.35 were read"), "{}", refused.stderr);
}
