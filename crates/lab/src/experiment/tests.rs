// SPDX-License-Identifier: GPL-2.0-or-later
//! Experiment files: what is accepted, what is named when it is wrong.

use super::file::*;
use super::read::*;
use crate::plan::MachineChanges;

const SMALL: &str = r#"
schema = 1
table = "small"
why = "a test"
source = "invented"
platform = "hikey-6220"
profile = "4.16"
duration_s = 1.0
hz = 1000
seeds = 2
calibration = "none"
[assumptions]
hz = "free"
[workload.a]
why = "w"
spec = "busy"
[variant.base]
why = "v"
[[row]]
id = "r"
variant = "base"
workload = "a"
quantity = "transitions"
published = 10
tolerance = "10 %"
role = "predicted"
[[claim]]
id = "c"
text = "few"
row = "r"
max = 20.0
"#;

#[test]
fn every_embedded_experiment_is_valid() {
    assert!(!names().is_empty());
    for name in names() {
        let experiment = load(name).expect("valid");
        assert_eq!(experiment.table, name, "file name and table name agree");
        for text in experiment.assumptions.values() {
            assert!(!text.is_empty());
        }
    }
}

#[test]
fn tolerance_is_absolute_or_percent() {
    assert!(Tolerance::Percent(10.0).accepts(100.0, 110.0));
    assert!(!Tolerance::Percent(10.0).accepts(100.0, 110.1));
    assert!(Tolerance::Absolute(2.0).accepts(14.0, 12.0));
    assert!(!Tolerance::Absolute(2.0).accepts(14.0, 11.9));
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("role = \"predicted\"", "role = \"guessed\"", "guessed"),
        ("tolerance = \"10 %\"", "tolerance = \"ten\"", "neither a number"),
        ("variant = \"base\"\nworkload", "variant = \"bse\"\nworkload", "no variant is called `bse`"),
        ("quantity = \"transitions\"", "quantity = \"transition\"", "no quantity is called `transition`"),
        ("row = \"r\"\n", "row = \"q\"\n", "no row is called `q`"),
        ("max = 20.0", "", "needs `min`, `max` or both"),
        ("max = 20.0", "max = 20.0\nby = \"difference\"", "come together"),
        ("seeds = 2", "seeds = 0", "seeds must be 1 to 10000"),
        ("seeds = 2", "seeds = 10001", "seeds must be 1 to 10000"),
        ("seeds = 2", "seeds = 2\ndefault_seeds = 0", "default_seeds must be 1 to 10000"),
        ("why = \"w\"", "why = \"w\"\ndefault_seeds = 3", "default_seeds of a workload must be 1 to 2"),
        ("hz = 1000", "hz = 5000", "hz must be one of 100, 250, 300, 1000"),
        ("[assumptions]", "[machine]\nscan_cpu_ns = 100000001\n[assumptions]", "scan_cpu_ns must be at most 100000000"),
        ("why = \"w\"", "why = \"w\"\nduration_s = -1.0", "duration_s must be above 0"),
        ("why = \"w\"", "why = \"w\"\nduration_s = nan", "duration_s must be above 0"),
        ("why = \"w\"", "why = \"w\"\ndelay_s = { a = 1e12 }", "delay_s must be 0 to 86400"),
        ("why = \"w\"", "why = \"w\"\ndelay_s = { a = nan }", "delay_s must be 0 to 86400"),
        ("max = 20.0", "max = 20.0\nthan = { row = \"r\", against = \"r\" }", "`than` needs"),
        ("max = 20.0", "max = 20.0\nthan = { row = \"r\", against = \"q\" }", "no row is called `q`"),
        ("seeds = 2", "seeds = 2\nsed = 1", "unknown field `sed`"),
        ("schema = 1", "schema = 2", "schema 2 is not known"),
        ("workload = \"a\"", "workload = [\"a\", \"b\"]", "no workload is called `b`"),
        ("workload = \"a\"", "workload = []", "needs a workload"),
    ];
    assert!(parse("small.toml", SMALL).is_ok());
    for (from, to, expected) in cases {
        assert!(SMALL.contains(from), "{from}");
        let error = parse("small.toml", &SMALL.replace(from, to)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn unknown_names_list_the_known_ones() {
    let error = load("rt-utilisation").expect_err("not a table").to_string();
    assert!(error.contains("rt-utilization"), "{error}");
}

const BEYOND: &str = r#"
[[beyond]]
id = "more"
why = "a test"
workload = ["a"]
variant = ["base", "other"]
quantity = ["transitions", "energy_mj"]
"#;

#[test]
fn columns_beyond_the_posting_are_checked_like_rows() {
    let text = SMALL.replace("[[row]]", "[variant.other]\nwhy = \"v\"\n[[row]]") + BEYOND;
    assert_eq!(parse("small.toml", &text).expect("valid").beyond.len(), 1);
    let cases = [
        ("\"other\"]", "\"othr\"]", "no variant is called `othr`"),
        ("workload = [\"a\"]", "workload = [\"b\"]", "no workload is called `b`"),
        (
            "\"energy_mj\"",
            "\"latency_ms_avg\"",
            "no quantity of the whole run or of frequency domains is called `latency_ms_avg`",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from}");
        let error = parse("small.toml", &text.replace(from, to)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

const CHANGED: &str = r#"
[[sensitivity]]
name = "less"
why = "a test"
machine = { path_costs_percent = 50 }
option = { "busy" = "busy:threads=2" }
only = ["one"]
"#;

#[test]
fn a_changed_assumption_that_changes_nothing_is_an_error() {
    let text = SMALL.replace("id = \"r\"", "id = \"one\"").replace("row = \"r\"", "row = \"one\"") + CHANGED;
    let cases = [("\"busy\" =", "\"bussy\" =", "bussy"), ("only = [\"one\"]", "only = [\"two\"]", "two")];
    let parsed = parse("small.toml", &text).expect("valid");
    let narrow = parsed.sensitivity[0].narrow(&parsed);
    assert_eq!((narrow.row.len(), narrow.beyond.len()), (1, 0));
    assert_eq!(parsed.sensitivity[0].spec("busy"), "busy:threads=2");
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from}");
        let error = parse("small.toml", &text.replace(from, to)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Keys of a table, as serde lists them when it refuses an unknown one.
fn keys<T: serde::de::DeserializeOwned>() -> Vec<String> {
    let refused = toml::from_str::<T>("there_is_no_such_key = 1").err().expect("unknown keys are refused").to_string();
    let expected = refused.split("expected ").nth(1).unwrap_or_default();
    let keys: Vec<String> = expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(keys.len() > 1, "{refused}");
    keys
}

#[test]
fn the_guide_names_every_key_of_an_experiment_file() {
    let guide = include_str!("../../../../docs/guide/experiments.md");
    let all = [
        keys::<Experiment>(),
        keys::<WorkloadRef>(),
        keys::<Variant>(),
        keys::<Row>(),
        keys::<Claim>(),
        keys::<Pair>(),
        keys::<Probe>(),
        keys::<Beyond>(),
        keys::<Sensitivity>(),
        keys::<MachineChanges>(),
    ];
    for key in all.concat() {
        assert!(guide.contains(&format!("\n- `{key}`")), "{key}");
    }
}
