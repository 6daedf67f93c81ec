// SPDX-License-Identifier: GPL-2.0-or-later
//! Every JSON that a verb prints is what its schema says, no name more and no name less, and says itself what it is.
//! `make generate` writes the schemas (`tests/snapshots/schemas`) and the page of quantities.

use crate::support::{file, good, pelton};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const LOAD: &str = "periodic:run_us=3000,period_us=10000,cpus=0 + busy:cpus=1";

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn is_writing() -> bool {
    std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|mode| mode == "write")
}

fn kinds() -> Vec<String> {
    let listed: Value = serde_json::from_str(&good(&["result", "schema", "--format", "json"])).expect("JSON");
    let kinds = listed["kinds"].as_array().expect("a list");
    kinds.iter().map(|k| k["kind"].as_str().expect("a name").to_owned()).collect()
}

/// Objects with declared names have no others: stricter than what is published, where names may be added.
fn close(schema: &mut Value) {
    if let Value::Object(object) = schema {
        if object.contains_key("properties") && !object.contains_key("additionalProperties") {
            object.insert("additionalProperties".to_owned(), json!(false));
        }
        object.values_mut().for_each(close);
    } else if let Value::Array(list) = schema {
        list.iter_mut().for_each(close);
    }
}

/// The kinds of the values that a command prints: one value, a list of them, or one behind another.
fn checked(arguments: &[&str]) -> Vec<String> {
    let outcome = pelton(&[arguments, &["--format", "json"]].concat());
    if outcome.code == 4 {
        println!("not measured: {arguments:?}: {}", outcome.stderr);
        return Vec::new();
    }
    assert!([0, 1, 5].contains(&outcome.code), "{arguments:?}: {}", outcome.stderr);
    let printed = serde_json::Deserializer::from_str(&outcome.stdout).into_iter::<Value>();
    let values = printed.map(|value| value.expect("JSON")).flat_map(|value| match value {
        Value::Array(list) => list,
        one => vec![one],
    });
    values.map(|value| conforms(&value, arguments)).collect()
}

fn conforms(value: &Value, arguments: &[&str]) -> String {
    let kind = value["result"].as_str().unwrap_or_else(|| panic!("{arguments:?} does not say what it is"));
    assert!(value["schema"].as_u64().is_some_and(|n| n >= 2), "{arguments:?}");
    assert_eq!(value["version"], env!("CARGO_PKG_VERSION"), "{arguments:?}");
    let mut schema: Value = serde_json::from_str(&good(&["result", "schema", kind])).expect("JSON");
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|e| format!("{} at {}", e, e.instance_path())).take(5).collect();
    assert!(errors.is_empty(), "{arguments:?}: {errors:#?}");
    kind.to_owned()
}

/// A zone that is read in the first moment of a run.
const HOT: [&str; 6] = ["-q", "--duration", "50ms", "--set", "thermal=step_wise", "--thermal"];

/// A recording that the tests have.
fn recorded(name: &str) -> String {
    format!("{}/../../tests/trace/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Results that need root, another kernel, the whole machine, a kernel that is compiled, or minutes.
const COSTLY: [&str; 18] = [
    "record",
    "record-placements",
    "record-balances",
    "record-clamps",
    "record-gates",
    "live",
    "live-observed",
    "live-status",
    "live-group",
    "live-number",
    "live-explained",
    "live-stopped",
    "kernel",
    "kernel-built",
    "kernel-diff",
    "kernel-removed",
    "placements-self-test",
    "wrong-worlds",
];

#[test]
fn every_json_is_what_its_schema_says() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let names = ["run.plog", "board.toml", "now.plog", "sweep"];
    let [(_, log), (_, board), (_, recording), (_, swept)] = names.map(|name| file(&folder, name));
    let placed = &*recorded("kernel-placement/arm64-mixed.csv.gz");
    let clamped = &*recorded("kernel-clamps/x86-7.2.csv.gz");
    let decided = &*recorded("live-decisions/board-debt");
    let world = ["--platform", "hikey-6220", "--workload", LOAD, "--duration", "300ms"];
    let of = |verb: &'static str, rest: &[&'static str]| [&[verb], &world[..], rest].concat();
    good(&[&of("run", &[])[..], &["--log", &log]].concat());
    std::fs::copy(here("../../scenarios/platforms/hikey-6220.toml"), &board).expect("a copy");
    let commands: Vec<Vec<&str>> = vec![
        of("run", &[]),
        of("compare", &["--policy", "7.2", "--policy", "5.10", "--seeds", "2", "--values"]),
        vec!["compare", "--platform", "odroid-n2-s922x", "--workload", "busy", "--policy", "7.2", "--seeds", "1"],
        [&of("sweep", &["--seeds", "2", "-o"])[..], &[&swept]].concat(),
        of("front", &["--policy", "7.2", "--policy", "composite", "--seeds", "1"]),
        of("why", &["7.2", "7.2,headroom_pct=50", "--seeds", "1"]),
        of("explain", &[]),
        of("explain", &["--diff", "4.16"]),
        vec!["explain", "--platform", "juno-r0", "--workload", "busy", "--duration", "50ms", "--placement"],
        vec!["explain", "--platform", "juno-r0", "--workload", "busy:threads=7", "--duration", "100ms", "--balance"],
        vec!["explain", "--platform", "sc7180-trogdor", "--workload", "sched-pipe", "--duration", "50ms", "--walk"],
        [&["explain", "--platform", "hikey960", "--workload", "busy"], &HOT[..]].concat(),
        vec!["replay", &log, "--check", "--policy", "7.2", "--policy", "4.16"],
        vec!["validate", &log],
        vec!["validate", &log, "--self-test"],
        vec!["validate", placed],
        vec!["validate", clamped],
        vec!["validate", clamped, "--self-test"],
        vec!["validate", decided],
        vec!["validate", decided, "--self-test"],
        vec!["explain", "--recorded", decided],
        vec!["explain", "--recorded", decided, "--placement"],
        vec!["trace", "info", &log],
        vec!["record", "-o", &recording, "--duration", "100ms"],
        vec!["live", "--observe", "--for", "100ms"],
        vec!["live", "status"],
        vec!["kernel", "list"],
        vec!["reproduce", "rt-utilization", "--seeds", "1"],
        vec!["reproduce", "--list"],
        vec!["check"],
        vec![
            "check",
            "small-tasks",
            "--board",
            "juno-r0",
            "--board",
            "intel-i7-6700",
            "--seeds",
            "2",
            "--wrong-worlds",
        ],
        vec!["platform", "list"],
        vec!["platform", "show", "juno-r0"],
        vec!["platform", "check", &board],
        vec!["workload", "list"],
        vec!["workload", "show", "ui-frames"],
        vec!["policy", "list"],
        vec!["policy", "show", "--set", "rt_signal=on"],
        vec!["result", "quantities"],
        vec!["result", "schema"],
    ];
    let seen: BTreeSet<String> = commands.iter().flat_map(|command| checked(command)).collect();
    let missing: Vec<String> = kinds().into_iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.iter().all(|kind| COSTLY.contains(&kind.as_str())), "{missing:?}");
}

#[test]
fn a_wrong_value_or_a_further_name_is_noticed() {
    let arguments = ["run", "--platform", "hikey-6220", "--workload", LOAD, "--duration", "10ms", "--format", "json"];
    let right: Value = serde_json::from_str(&good(&arguments)).expect("JSON");
    let spoilt: [fn(&mut Value); 3] = [
        |v| v["rows"][0]["value"] = json!("many"),
        |v| v["rows"][0]["more"] = json!(1),
        |v| drop(v["run"].as_object_mut().expect("an object").remove("seed")),
    ];
    for spoil in spoilt {
        let mut wrong = right.clone();
        spoil(&mut wrong);
        let found = std::panic::catch_unwind(|| conforms(&wrong, &arguments));
        assert!(found.is_err());
    }
}

#[test]
fn the_schemas_are_fresh() {
    let folder = here("tests/snapshots/schemas");
    let mut expected = BTreeSet::new();
    for kind in kinds() {
        let (path, text) = (folder.join(format!("{kind}.json")), good(&["result", "schema", &kind]));
        if is_writing() {
            std::fs::create_dir_all(&folder).expect("the snapshots are writable");
            std::fs::write(&path, &text).expect("the snapshots are writable");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{} is stale; run `make generate`", path.display());
        expected.insert(path);
    }
    let there = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let strange: Vec<PathBuf> = there.filter(|path| !expected.contains(path)).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn the_page_of_quantities_is_fresh() {
    let listed: Value = serde_json::from_str(&good(&["result", "quantities", "--format", "json"])).expect("JSON");
    let word = |row: &Value, key: &str| row[key].as_str().expect("text").to_owned();
    let mut page = String::from(
        "<!-- Generated by `make generate` from the table of quantities; do not edit. -->\n\n# Numbers of results\n\n\
         Every number has one name in tables, CSV and JSON, with its unit; in brackets stand the verbs that print it. \
         `pelton result quantities` prints this list, `pelton result schema KIND` the shape of a JSON result.\n",
    );
    let mut before = String::new();
    for row in listed["quantities"].as_array().expect("rows") {
        let by: Vec<&str> = row["printed_by"].as_array().expect("verbs").iter().filter_map(Value::as_str).collect();
        let [scope, name, unit, what] = ["scope", "quantity", "unit", "what"].map(|key| word(row, key));
        let heading = format!("\n## `{scope}` ({})\n\n", by.join(", "));
        if heading != before {
            page += &heading;
        }
        page += &format!("- `{name}` ({unit}): {what}\n");
        before = heading;
    }
    let path = here("../../docs/reference/quantities.md");
    if is_writing() {
        std::fs::write(&path, &page).expect("the pages are writable");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "docs/reference/quantities.md is stale; run `make generate`");
}
