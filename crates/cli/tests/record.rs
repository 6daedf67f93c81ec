// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton record`: its mistakes on any machine; recordings of the running kernel where `make test-kernel` asks for
//! them.

#![cfg(all(unix, feature = "record"))]

use crate::support::{Outcome, command, file, pelton};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Recordings with a load change the machine: only one at a time can.
static ALONE: Mutex<()> = Mutex::new(());

const LOADS: [&str; 7] = ["periodic", "rt-fair", "mixed", "fork-storm", "cgroup-moves", "wakeups", "phone"];

#[test]
fn mistakes_are_named_before_anything_is_recorded() {
    let cases: [(&[&str], i32, &str); 8] = [
        (&["record"], 2, "-o FILE, --perfetto FILE, --placements FILE, --clamps FILE or --gates FILE"),
        (&["record", "-o", "x", "--placements", "y.csv"], 2, "cannot be used with"),
        (&["record", "-o", "x", "--events", "shed"], 2, "sets: sched, freq, idle, pelt, irq, energy, all"),
        (&["record", "-o", "x", "--events", ","], 2, "no events to record"),
        (&["record", "-o", "x", "--load", "mixt"], 2, "loads: periodic, rt-fair, mixed"),
        (&["record", "-o", "x", "--load", "mixed", "--", "true"], 2, "cannot be used with"),
        (&["record", "-o", "x", "--buffer", "0"], 2, "1..=1024"),
        (&["record", "-o", "x", "--btf", "/nonexistent/btf"], 4, "CONFIG_DEBUG_INFO_BTF=y"),
    ];
    for (arguments, code, expected) in cases {
        let outcome = pelton(arguments);
        assert_eq!(outcome.code, code, "{arguments:?}\n{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{arguments:?}\n{}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
    assert!(!std::path::Path::new("x").exists());
}

/// True when recordings were asked for and are possible; says so otherwise.
fn can_measure() -> bool {
    if std::env::var_os("PELTON_TEST_KERNEL").is_none() {
        println!("not measured: `pelton record` on the running kernel (make test-kernel asks for it)");
        return false;
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let tried = pelton(&["record", "-o", &file(&folder, "try.plog").1, "--duration", "1ms"]);
    if tried.code != 0 {
        println!("not measured: `pelton record` on the running kernel: {}", tried.stderr.replace('\n', ";"));
    }
    tried.code == 0
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", outcome.stdout, outcome.stderr))
}

#[test]
fn recordings_of_every_load_are_what_the_core_computes() {
    if !can_measure() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let can_validate = pelton(&["validate", "--help"]).code == 0;
    if !can_validate {
        println!("not measured: whether the core computes what was recorded (there is no `pelton validate`)");
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut wrong = Vec::new();
    for load in LOADS {
        let (_, path) = file(&folder, load);
        let recorded = pelton(&["record", "-o", &path, "--load", load, "--duration", "4s", "--format", "json"]);
        assert_eq!(recorded.code, 0, "{load}: {}", recorded.stderr);
        let facts = json(&recorded);
        let counts = format!("{} events, {} lost, {} holes", facts["total"], facts["lost"], facts["holes"]);
        if can_validate {
            let validated = pelton(&["validate", &path, "--format", "json"]);
            println!("{load}: {counts}; {}", in_words(&json(&validated)));
            let facts = json(&validated);
            if facts["divergent"].as_u64() > facts["updates"].as_u64().map(|n| n * DIVERGENT_PERMILLE_MAX / 1000) {
                wrong.push(format!("{load}: {}", facts["first"]));
            }
        } else {
            println!("{load}: {counts}");
        }
    }
    assert!(wrong.is_empty(), "the kernel and the core differ:\n{}", wrong.join("\n"));
}

/// Longer recordings have at most one divergent record of a million (F-030). A wrong constant in the core makes a tenth
/// of them diverge.
const DIVERGENT_PERMILLE_MAX: u64 = 1;

/// Updates, exact ones, those under a named assumption, divergent ones.
fn in_words(validated: &Value) -> String {
    let signals: Vec<&Value> = validated["signals"].as_object().into_iter().flat_map(|s| s.values()).collect();
    let exact: u64 = signals.iter().filter_map(|s| s["exact"].as_u64()).sum();
    let mut classes = std::collections::BTreeMap::<&str, u64>::new();
    for (class, count) in signals.iter().filter_map(|s| s["classes"].as_object()).flatten() {
        *classes.entry(class).or_default() += count.as_u64().unwrap_or(0);
    }
    let classes: String = classes.iter().map(|(class, count)| format!(", {count} {class}")).collect();
    format!("{} updates, {exact} exact{classes}, {} divergent", validated["updates"], validated["divergent"])
}

#[test]
fn a_command_ends_its_recording_and_perfetto_gets_the_same_switches() {
    if !can_measure() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let ((_, log), (trace, trace_text)) = (file(&folder, "c.plog"), file(&folder, "c.pftrace"));
    let start = Instant::now();
    let outcome = pelton(&["record", "-o", &log, "--perfetto", &trace_text, "--format", "json", "--", "sleep", "0.3"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(start.elapsed() < Duration::from_secs(60));
    assert!(json(&outcome)["switches"].as_u64() > Some(0), "{}", outcome.stdout);
    assert!(std::fs::metadata(trace).is_ok_and(|m| m.len() > 1000));
}

#[test]
fn a_command_ends_the_program_as_itself() {
    if !can_measure() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, log) = file(&folder, "c.plog");
    for (command, code) in [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)] {
        let outcome = pelton(&["record", "-o", &log, "--", "sh", "-c", command]);
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert!(path.exists());
    }
}

const AUTOGROUPS: &str = "/proc/sys/kernel/sched_autogroup_enabled";

/// The switch of autogroups, and how many groups of ours there are.
fn machine() -> (String, usize) {
    let groups = std::fs::read_dir("/sys/fs/cgroup/cpu").into_iter().flatten().flatten();
    let ours = groups.filter(|group| group.file_name().to_string_lossy().starts_with("pelton-")).count();
    (std::fs::read_to_string(AUTOGROUPS).unwrap_or_default(), ours)
}

#[test]
fn the_machine_is_as_before_after_a_kill_and_after_two_recordings_at_once() {
    if !can_measure() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("temporary folder");
    let before = machine();
    if before.0.trim() != "1" || !std::path::Path::new("/sys/fs/cgroup/cpu/cpu.shares").exists() {
        println!("not measured: that loads put back what they change (autogroups are off, or no cpu controller)");
        return;
    }
    let until = |what: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !what() {
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", machine());
            std::thread::yield_now();
        }
    };
    let recording = |name: &str| {
        let (_, log) = file(&folder, name);
        command(&["record", "-q", "-o", &log, "--load", "cgroup-moves", "--duration", "20s"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    };
    let mut first = recording("a.plog");
    until(&|| machine().0.trim() == "0" && machine().1 == 2);
    let second: Outcome = recording("b.plog").wait_with_output().expect("child").into();
    assert_eq!(second.code, 4, "{}", second.stderr);
    assert!(second.stderr.contains("another recording runs a load"), "{}", second.stderr);
    first.kill().expect("it runs");
    first.wait().expect("child");
    until(&|| machine() == before);
}

#[test]
fn a_recording_is_replayed_and_made_a_workload_without_further_options() {
    if !can_measure() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(_, log), (_, model)] = ["r.plog", "r.json"].map(|name| file(&folder, name));
    let recorded = pelton(&["record", "-q", "-o", &log, "--duration", "500ms", "--", "sleep", "0.4"]);
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let replayed = pelton(&["replay", &log]);
    assert_eq!(replayed.code, 0, "{}", replayed.stderr);
    assert!(replayed.stderr.contains("the machine is taken from the recording"), "{}", replayed.stderr);
    let made = pelton(&["workload", "from-trace", "-q", &log, "-o", &model]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let ran = pelton(&["run", "-q", "--platform", "qemu-virt-bl", "--workload", &model]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn ctrl_c_leaves_a_complete_recording() {
    if !can_measure() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, log) = file(&folder, "i.plog");
    let mut child = command(&["record", "-o", &log, "--duration", "1h", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let part = path.with_extension("plog.pelton-part");
    while std::fs::metadata(&part).map_or(0, |m| m.len()) == 0 {
        assert_eq!(child.try_wait().expect("child"), None, "the recording ended before it was interrupted");
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("a standard command");
    assert!(killed.success());
    let outcome: Outcome = child.wait_with_output().expect("child").into();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let reader = pelton_trace::LogReader::open(std::fs::File::open(&path).expect("the file")).expect("a log");
    let mut reader = reader;
    assert_eq!(reader.by_ref().filter(Result::is_ok).count() as u64, json(&outcome)["total"].as_u64().unwrap_or(0));
    assert!(reader.is_complete());
}

#[test]
fn a_full_disk_ends_the_recording_at_once() {
    if !can_measure() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let start = Instant::now();
    let outcome = pelton(&["record", "-o", "/dev/full", "--duration", "1h", "--load", "mixed"]);
    assert_eq!(outcome.code, 4, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is the disk full?"), "{}", outcome.stderr);
    assert!(start.elapsed() < Duration::from_secs(120));
    let nowhere = pelton(&["record", "-o", "/nonexistent/folder/x.plog", "--duration", "1s"]);
    assert!(nowhere.code == 4 && nowhere.stderr.contains("cannot create /nonexistent"), "{}", nowhere.stderr);
}
