// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton validate` names what it did: the verdict first, every event checked or listed, forms of phones by their
//! fields.

use serde_json::Value;

use crate::support::{file, good, pelton};

fn trace(name: &str) -> String {
    format!("{}/tests/validate/{name}.txt", env!("CARGO_MANIFEST_DIR"))
}

/// Exit code, first line, last line, JSON.
fn validated(name: &str, profile: &str) -> (i32, String, String, Value) {
    let of = |more: &[&str]| pelton(&[&["validate", name, "--profile", profile], more].concat());
    let (text, json) = (of(&[]), of(&["--format", "json"]));
    assert_eq!(text.code, json.code);
    let line = |line: Option<&str>| line.unwrap_or_default().to_owned();
    let (first, last) = (line(text.stdout.lines().next()), line(text.stdout.lines().last()));
    (text.code, first, last, serde_json::from_str(&json.stdout).expect("JSON"))
}

#[test]
fn choices_of_a_phone_are_judged_by_what_they_state() {
    let (code, first, last, json) = validated(&trace("phone"), "4.16");
    assert_eq!((code, &json["updates"], &json["divergent"]), (0, &17.into(), &0.into()), "{json}");
    assert!(first.starts_with("holds: ") && last == "holds: 17 updates checked, 0 divergent", "{first}\n{last}");
    assert_eq!(json["verdict"], "holds");
    let table =
        good(&["trace", "export", &trace("phone"), "--to", "csv", "--event", "sugov_next_freq", "-o", "-", "-q"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].ends_with("max_of_1024,resolved_khz,cur_khz,max_khz,raw_khz,next_khz,forced,domain_cpus,idle_calls")
    );
    assert_eq!(lines[1], "77000000000,6,200,1024,,,,488281,,,,", "unknown is empty and not 0");
}

#[test]
fn a_wrong_choice_of_a_phone_diverges() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "altered.txt");
    let text = std::fs::read_to_string(trace("phone")).expect("part of the repository");
    for (from, to, field) in [("freq=976562", "freq=976563", "raw_khz"), ("state=1000000", "state=1400000", "freq_khz")]
    {
        std::fs::write(&path, text.replacen(from, to, 1)).expect("room");
        let (code, first, last, json) = validated(&name, "4.16");
        assert_eq!(
            (code, &json["divergent"], &json["first"]["fields"][0]["field"]),
            (1, &1.into(), &field.into()),
            "{json}"
        );
        assert!(
            first.starts_with("differs: ") && last == "differs: 17 updates checked, 1 divergent",
            "{first}\n{last}"
        );
    }
}

#[test]
fn an_event_with_other_fields_is_listed_and_not_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "other.txt");
    let line = "app-301 [006] d..3 77.000000: sugov_next_freq: cpu=6 util=200 max_cap=1024 flags=0x1\n";
    std::fs::write(&path, line).expect("room");
    let (code, first, last, json) = validated(&name, "4.16");
    let why = "1 events have fields cpu, util, max_cap, flags; expected cpu, util, max, freq";
    assert_eq!((code, &json["not_measured"]["sugov_next_freq"]), (5, &why.into()), "{json}");
    assert_eq!((&json["verdict"], &json["events"]), (&"nothing-checked".into(), &0.into()));
    assert!(first.starts_with("nothing-checked: "), "{first}");
    assert_eq!(last, "nothing-checked: nothing in this trace can be checked");
}

#[test]
fn estimates_follow_from_the_utilization_that_each_was_taken_from() {
    let (code, _, last, json) = validated(&trace("estimates-good"), "5.10");
    assert_eq!((code, &json["signals"]["util_est"]["checked"]), (0, &11.into()), "{json}");
    assert_eq!(last, "holds: 11 updates checked, 0 divergent");
    let (code, _, last, json) = validated(&trace("estimates-wrong"), "5.10");
    assert_eq!((code, last.as_str()), (1, "differs: 11 updates checked, 1 divergent"));
    let fields = json["first"]["fields"].as_array().expect("fields");
    assert_eq!(fields.len(), 1, "{json}");
    assert_eq!(
        (&fields[0]["field"], &fields[0]["kernel"], &fields[0]["ours"]),
        (&"ewma".into(), &400.into(), &322.into())
    );
}

#[test]
fn every_event_that_was_read_is_checked_or_listed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "some.txt");
    let lines = [
        "a-7 [001] 1.000001: sched_cpu_capacity: cpu=1 capacity=900",
        "a-7 [001] 1.000002: sched_overutilized: overutilized=1",
        "a-7 [001] 1.000003: sched_util_est_cfs: cpu=1 path=/ enqueued=100 ewma=0 util=90",
        "a-7 [001] 1.000004: sched_wakeup: comm=a pid=7 prio=120 target_cpu=1",
    ];
    std::fs::write(&path, lines.join("\n") + "\n").expect("room");
    let (_, _, _, json) = validated(&name, "6.1");
    let listed = json["not_measured"].as_object().expect("a list");
    for event in ["sched_cpu_capacity", "sched_overutilized", "util_est", "util_est of queues", "sched_wakeup"] {
        assert!(listed.contains_key(event), "{event}: {json}");
    }
}

#[test]
fn a_frequency_that_the_platform_lacks_is_named_with_its_neighbours() {
    let told = pelton(&["validate", &trace("phone"), "--platform", "hikey960", "--profile", "4.16"]).stdout;
    assert!(told.contains("1600000 kHz (nearest 1421000 and 1805000)"), "{told}");
}
