// SPDX-License-Identifier: GPL-2.0-or-later
//! Text of `explain` about a decision: the request of each CPU as it was in force, and the term that decided it.

use crate::support::{good, pelton};
use serde_json::Value;

/// A task with a lower clamp beside one with an upper clamp, on two CPUs of a cluster.
const CLAMPED: &str = r#"{ "tasks": {
  "frame":   { "cpus": [4], "util_min": 560, "run": 2200, "timer": { "ref": "unique", "period": 12000 } },
  "archive": { "cpus": [6], "util_max": 150, "run": 9000, "timer": { "ref": "unique", "period": 11000 } } },
  "global": { "duration": 1, "calibration": "CPU4" } }"#;

/// Three tasks of one CPU: they wait for each other.
const WAITING: &str = r#"{ "tasks": { "part": { "instance": 3, "cpus": [5], "run": 1500,
  "timer": { "ref": "unique", "period": 18000 } } }, "global": { "duration": 2, "calibration": "CPU5" } }"#;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&good(arguments)).expect("JSON")
}

/// A workload as a file in a folder that lives as long as this.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let path = folder.path().join("load.json");
    std::fs::write(&path, text).expect("written");
    (folder, path.to_str().expect("a name in plain letters").to_owned())
}

fn row(told: &Value, cpu: u64) -> Value {
    let rows = told["requests"].as_array().expect("rows");
    rows.iter().find(|row| row["cpu"] == cpu).expect("a row for each CPU of the domain").clone()
}

fn step<'a>(told: &'a Value, name: &str) -> &'a str {
    let steps = told["steps"].as_array().expect("steps");
    steps.iter().find(|step| step["name"] == name).and_then(|step| step["text"].as_str()).expect("the step is there")
}

#[test]
fn a_clamped_neighbour_asks_for_its_clamp() {
    let (_folder, load) = file(CLAMPED);
    let all = ["explain", "--platform", "hikey960", "--profile", "7.2", "--workload", &load, "--at", "704ms"];
    let all = [&all[..], &["--domain", "1", "-q"]].concat();
    let told = json(&[&all[..], &["--format", "json"]].concat());
    let neighbour = row(&told, 6);
    assert_eq!((&neighbour["terms"]["max"], &neighbour["terms"]["perf"]), (&150.into(), &150.into()), "{neighbour}");
    assert!(neighbour["decided_by"] == "uclamp_max" && neighbour["recorded"] == true, "{neighbour}");
    let largest = told["decision"]["terms"]["perf"].as_u64().expect("a number");
    let asks = told["requests"].as_array().expect("rows").iter().map(|row| row["terms"]["perf"].as_u64());
    assert_eq!(asks.max(), Some(Some(largest)), "{told}");
    let text = good(&all);
    assert!(!text.contains("worked out again") && text.contains("uclamp_max"), "{text}");
}

#[test]
fn the_page_names_the_candidate_that_is_the_fair_term() {
    let (_folder, load) = file(WAITING);
    let all = ["explain", "--platform", "hikey960", "--profile", "7.2", "--set", "util_est=off", "--workload", &load];
    let all = [&all[..], &["--cpu", "5", "--changed", "-q"]].concat();
    let told = json(&[&all[..], &["--format", "json"]].concat());
    let (row, fair) = (row(&told, 5), step(&told, "fair utilization"));
    let of = |name: &str| row["fair"][name].as_u64().expect("a number");
    let (util, est, runnable) = (of("util_avg"), of("util_est"), of("runnable_avg"));
    assert!(runnable > util && row["fair"]["by"] == "runnable_avg" && row["terms"]["cfs"] == runnable, "{row}");
    assert_eq!(
        fair,
        format!(
            "CPU 5: {runnable}, runnable_avg is the largest of util_avg {util}, runnable_avg {runnable} \
             (util_est {est} not counted by this policy)"
        )
    );
    let text = good(&all);
    for part in [fair, "cpu_util(boost=1)", " runnable  fair_by"] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

/// 5.4 to 6.6: a real-time task asks for its clamp where clamps are in use, not for all of the CPU.
#[test]
fn a_real_time_neighbour_asks_for_its_clamp_before_6_8() {
    let (_folder, load) = file(
        r#"{ "tasks": {
        "rt":  { "policy": "SCHED_FIFO", "priority": 5, "cpus": [1], "util_min": 310, "util_max": 310, "run": 6000,
                 "timer": { "ref": "unique", "period": 8000 } },
        "hog": { "cpus": [0], "run": 9000, "timer": { "ref": "unique", "period": 10000 } } },
        "global": { "duration": 1, "calibration": "CPU4" } }"#,
    );
    for profile in ["5.4", "5.10", "6.1", "6.6"] {
        let all = ["explain", "--platform", "hikey960", "--profile", profile, "--workload", &load, "--domain", "0"];
        let told = json(&[&all[..], &["-q", "--format", "json"]].concat());
        let row = row(&told, 1);
        let sum = row["terms"]["effective"].as_u64().expect("a number");
        assert!(sum == 310 && row["clamps"][1] == 310, "{profile}: {row}");
        assert_eq!(row["decided_by"], "uclamp_max", "{profile}: {row}");
        assert!(row["signals"]["util_rt"].as_u64().is_some_and(|util| util > 310), "{profile}: {row}");
    }
}

/// A lower clamp that makes a sum of nothing is named where it stands inside of the sum.
#[test]
fn a_clamp_inside_of_the_sum_is_named() {
    let (_folder, load) = file(CLAMPED);
    for profile in ["5.4", "6.6"] {
        let all = ["explain", "--platform", "hikey960", "--profile", profile, "--workload", &load, "--domain", "1"];
        // The clamp is in force while its task is queued, 2 to 3 of 12 ms.
        let at = |ms: u32| {
            let at = format!("{ms}ms");
            json(&[&all[..], &["--set", "util_est=off", "-q", "--at", &at, "--format", "json"]].concat())
        };
        let told = (700..712).map(at).find(|told| {
            let row = row(told, 4);
            row["wins"] == true && row["decided_by"] == "uclamp_min" && told["requests_ns"] == told["time_ns"]
        });
        let told = told.expect("one of a whole period");
        let (row, sum) = (row(&told, 4), step(&told, "request"));
        let util = row["terms"]["cfs"].as_u64().expect("a number");
        assert!(util < 560 && row["terms"]["effective"] == 560 && row["clamps"][0] == 560, "{profile}: {row}");
        assert_eq!(sum, format!("CPU 4: fair {util} + RT 0 = {util}, raised to uclamp_min 560, + DL 0 = 560"));
    }
}

/// Nothing is worked out when the gate refuses: the table is that of the evaluation that stands.
#[test]
fn after_a_refusal_the_table_is_that_of_the_evaluation_before() {
    let (_folder, load) = file(CLAMPED);
    let all = ["explain", "--platform", "hikey960", "--profile", "5.4", "--workload", &load, "--held", "-q"];
    let told = json(&[&all[..], &["--format", "json"]].concat());
    let then_ns = told["requests_ns"].as_u64().expect("there was one");
    assert!(then_ns < told["time_ns"].as_u64().expect("a number"), "{told}");
    let at = format!("{then_ns}ns");
    let domain = told["domain"][0].to_string();
    let before = ["explain", "--platform", "hikey960", "--profile", "5.4", "--workload", &load, "--domain", &domain];
    let before = json(&[&before[..], &["--at", &at, "-q", "--format", "json"]].concat());
    assert_eq!(before["requests"], told["requests"], "{told}");
    assert!(pelton(&all).stdout.contains(", at the last evaluation (0..1024)"));
}

/// 4.16 keeps what each CPU passed at its last call: what it does since does not count.
#[test]
fn old_kernels_read_a_cpu_at_its_last_call() {
    let load = "periodic:run_us=3000,period_us=11000,cpus=0 + busy:cpus=1";
    let all = ["explain", "--platform", "hikey-6220", "--profile", "4.16", "--workload", load, "--duration", "300ms"];
    let told = json(&[&all[..], &["-q", "--changed", "--format", "json"]].concat());
    let (rows, now) = (told["requests"].as_array().expect("rows"), told["time_ns"].as_u64());
    let earlier = rows.iter().filter(|row| row["recorded"] == true && row["read_ns"].as_u64() < now);
    let earlier: Vec<&Value> = earlier.collect();
    assert!(!earlier.is_empty(), "{told}");
    for row in earlier {
        assert_eq!(row["signals"]["util_cfs"], row["terms"]["cfs"], "{row}");
    }
    let stale = rows.iter().filter(|row| row["stale"] == true);
    assert!(stale.into_iter().all(|row| row["terms"].is_null() && row["decided_by"].is_null()), "{told}");
}

#[test]
fn energy_of_a_placement_follows_from_what_is_printed() {
    let load = "periodic:name=p,threads=4,run_us=1000,period_us=16000";
    for (profile, divisor) in [("7.2", 1), ("6.1", 1024), ("5.10", 1024)] {
        let all = ["explain", "--platform", "hikey960", "--profile", profile, "--workload", load, "--placement=p-0"];
        let all = [&all[..], &["--at", "500ms", "-q"]].concat();
        let told = json(&[&all[..], &["--format", "json"]].concat());
        let energies = told["energies"].as_array().expect("a list");
        let big = energies.iter().find(|e| e["cpus"][0] == 4 && e["task_on"].is_u64()).expect("a big CPU is asked");
        let of = |name: &str| big[name].as_u64().expect("a number");
        assert_eq!(of("divisor"), divisor, "{profile}: {big}");
        assert_eq!(of("energy"), of("cost") * of("sum") / divisor, "{profile}: {big}");
        let added = told["candidates"].as_array().expect("a list").iter().find(|c| c["cpu"] == big["task_on"]);
        assert_eq!(added.map(|c| &c["energy_added"]), Some(&big["added"]), "{profile}: {told}");
        let text = good(&all);
        for part in ["largest", "kHz", "cost", "runnable", "asks_with_task", "energy of each domain that was asked"] {
            assert!(text.contains(part), "{profile}: `{part}` is missing in\n{text}");
        }
    }
}

const PHONE: [&str; 8] =
    ["explain", "--platform", "pixel6-gs101", "--workload", "ui-frames", "--duration", "1s", "--quiet"];

#[test]
fn equal_policies_part_nowhere() {
    let told = json(&[&PHONE[..], &["--policy", "7.2", "--diff", "7.2,util_est=u4", "--format", "json"]].concat());
    assert!(told["first"].is_null() && told["cost"] == Value::Array(Vec::new()), "{told}");
    assert!(told["same_outcomes"].as_u64().is_some_and(|same| same > 10), "{told}");
    let text = good(&[&PHONE[..], &["--policy", "7.2", "--diff", "7.2"]].concat());
    assert!(text.contains("places of tasks are the same\n"), "{text}");
}

#[test]
fn two_policies_part_where_their_rules_first_give_another_outcome() {
    let both = ["--policy", "7.2", "--diff", "7.2,headroom_pct=60"];
    let told = json(&[&PHONE[..], &both, &["--format", "json"]].concat());
    let first = &told["first"];
    let time_ns = first["time_ns"].as_u64().expect("they part");
    let outcomes = [0, 1].map(|side| first["sides"][side]["outcome"].clone());
    assert_ne!(outcomes[0], outcomes[1], "{first}");
    let earliest = outcomes.iter().filter_map(|outcome| outcome["time_ns"].as_u64()).min();
    assert_eq!(earliest, Some(time_ns), "{first}");
    // Each side is what `explain` says of that run up to then; the side that changed it shows the change, whatever
    // calls follow at the same instant.
    for (side, policy) in [(0, "7.2"), (1, "7.2,headroom_pct=60")] {
        let ours = &first["sides"][side]["frequency"];
        let (at, domain) = (format!("{time_ns}ns"), ours["domain"][0].to_string());
        let rest = ["--policy", policy, "--at", &at, "--domain", &domain, "--format", "json"];
        let changed = outcomes[side]["time_ns"].as_u64() == Some(time_ns);
        let rest = [&rest[..], if changed { &["--changed"] } else { &[] }].concat();
        let alone = json(&[&PHONE[..], &rest].concat());
        assert!(!changed || ours["request_khz"] == outcomes[side]["request_khz"], "{first}");
        assert_eq!((&ours["steps"], &ours["requests"]), (&alone["steps"], &alone["requests"]), "{policy}");
    }
    let changed = told["cost"].as_array().expect("rows").iter().any(|row| row["quantity"] == "energy_mj");
    assert!(changed, "{told}");
    let text = good(&[&PHONE[..], &both].concat());
    assert!(text.contains("[1] ") && text.contains("[2] ") && text.contains("all of it came after"), "{text}");
}

#[test]
fn seeds_part_and_a_moment_cannot_be_asked_for() {
    let told = json(&[&PHONE[..], &["--seed", "3", "--diff-seed", "4", "--format", "json"]].concat());
    assert!(told["runs"][0]["seed"] == 3 && told["runs"][1]["seed"] == 4 && !told["first"].is_null(), "{told}");
    assert_eq!(pelton(&[&PHONE[..], &["--diff", "7.2", "--at", "5ms"]].concat()).code, 2);
    let wrong = pelton(&[&PHONE[..], &["--diff", "7.2,rate_limt_us=1"]].concat());
    assert!(wrong.code == 3 && wrong.stderr.contains("rate_limit_us"), "{}", wrong.stderr);
}

/// A recording of `pelton live`.
fn recorded(name: &str) -> String {
    format!("{}/../../tests/trace/live-decisions/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_recorded_decision_is_explained_as_one_of_a_run() {
    let folder = recorded("board-gates");
    let all = ["explain", "--recorded", &folder, "--cpu", "4", "--changed"];
    let told = json(&[&all[..], &["--format", "json"]].concat());
    let (decision, request) = (&told["decision"], row(&told, 4));
    assert_eq!((&decision["domain"], &decision["changed"]), (&4.into(), &true.into()), "{told}");
    assert_eq!(request["terms"]["perf"], decision["terms"]["perf"]);
    let text = good(&all);
    let target = told["target"].as_u64().expect("a number");
    for expected in ["CPU 4, Linux 7.2.12", "who asked", "r2_hyperbolic", &format!("the kernel: {target} of 1024")] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let held = json(&["explain", "--recorded", &folder, "--held", "--format", "json"]);
    assert_eq!(held["decision"]["changed"], false);
}

#[test]
fn a_recorded_placement_is_explained_with_every_cpu() {
    let folder = recorded("board-debt");
    let text = good(&["explain", "--recorded", &folder, "--placement"]);
    assert!(text.contains("each CPU as a place for it") && text.contains("Linux 7.2.12"), "{text}");
    let told = json(&["explain", "--recorded", &folder, "--placement", "--format", "json"]);
    assert!(told["candidates"].as_array().is_some_and(|all| all.len() == 6) && told["torn"].is_boolean(), "{told}");
}

#[test]
fn records_that_had_no_room_are_said_with_what_was_decided() {
    let own = tempfile::tempdir().expect("a folder");
    let here = |name: &str| own.path().join(name);
    for entry in std::fs::read_dir(recorded("board-debt")).expect("it is there").flatten() {
        std::fs::copy(entry.path(), here(&entry.file_name().to_string_lossy())).expect("there is room");
    }
    let folder = own.path().to_str().expect("plain names");
    assert!(json(&["validate", folder, "--format", "json"])["lost"].is_null(), "an older one does not say");
    let machine = std::fs::read_to_string(here("live.json")).expect("text");
    std::fs::write(here("live.json"), machine.replacen('{', "{\"lost\":7,", 1)).expect("there is room");
    assert_eq!(json(&["validate", folder, "--format", "json"])["lost"], 7);
    assert!(good(&["validate", folder]).contains("\n7 more are not here"));
}

#[test]
fn a_recording_goes_with_no_run() {
    let folder = recorded("board-debt");
    for (more, code, expected) in [
        (&["--platform", "juno-r0"][..], 2, "cannot be used with"),
        (&["--placement=task"], 2, "--placement=1234"),
        (&["--cpu", "6"], 3, "this machine has CPUs 0 to 5"),
        (&["--held", "--at", "1ns"], 3, "choose a later --at"),
    ] {
        let outcome = pelton(&[&["explain", "--recorded", &folder][..], more].concat());
        assert!(outcome.code == code && outcome.stderr.contains(expected), "{more:?}: {}", outcome.stderr);
    }
    let outcome = pelton(&["explain", "--recorded", "/"]);
    assert!(outcome.code == 3 && outcome.stderr.contains("pelton live --record"), "{}", outcome.stderr);
    let outcome = pelton(&["explain"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("--platform"), "{}", outcome.stderr);
}
