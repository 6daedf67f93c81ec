// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton replay`: exit codes, columns and formats.

use crate::support::{command, file, good, pelton};
use serde_json::Value;

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
fn a_self_check_is_made_under_the_recorded_policy_unless_another_is_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, log) = file(&folder, "run.plog");
    let workload = ["--workload", "periodic:run_us=3000,period_us=16000,threads=3", "--duration", "1s"];
    let policy = ["--profile", "6.6", "--set", "util_est=off"];
    good(&[&["run", "--platform", "pixel6-gs101", "--log", &log], &workload[..], &policy].concat());
    let same = pelton(&["replay", &log, "--check"]);
    assert_eq!(same.code, 0, "{}", same.stdout);
    assert!(same.stdout.ends_with("\nholds: 9 of 9 quantities within what is allowed\n"), "{}", same.stdout);
    assert!(same.stdout.contains("[1] 6.6, util_est=off"), "{}", same.stdout);
    assert!(same.stderr.contains("profile 6.6 because the run had it"), "{}", same.stderr);
    let other = pelton(&["replay", &log, "--check", "--profile", "7.2"]);
    assert_eq!(other.code, 1, "{}", other.stdout);
    assert!(other.stdout.contains("\ndomain frequency_mhz_avg: the governor decides anew"), "{}", other.stdout);
    let unchecked = good(&["replay", "-q", &log]);
    assert!(unchecked.contains("[1] 7.2"), "{unchecked}");
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
    let busy = rows.iter().find(|r| r["scope"] == "run" && r["quantity"] == "busy_ms").expect("a row");
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
    let means: Vec<&Value> = rows.iter().filter(|r| r["quantity"] == "frequency_mhz_avg").collect();
    assert!(!means.is_empty(), "no frequency is in the log");
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
    let absent = pelton(&["replay", &log, "--task", "absent"]);
    assert_eq!(absent.code, 3);
    assert!(absent.stderr.contains("--task"), "{}", absent.stderr);
    let (path, text) = file(&folder, "noise");
    std::fs::write(path, [0x5a; 4096]).expect("written");
    assert_eq!(pelton(&["replay", &text]).code, 3);
}

/// A task on CPU 0 wakes one on CPU 1 out of its second idle state, which takes 200 us, twenty times.
fn recorded_wakeups() -> String {
    let switch = |prev: &str, state: &str, next: &str| format!("sched_switch: {prev} prev_state={state} ==> {next}");
    let task =
        |prefix: &str, name: &str, tid: u32| format!("{prefix}_comm={name} {prefix}_pid={tid} {prefix}_prio=120");
    let (waker, woken) = (|prefix: &str| task(prefix, "waker", 100), |prefix: &str| task(prefix, "woken", 200));
    let idle = |prefix: &str, cpu: u32| task(prefix, &format!("swapper/{cpu}"), 0);
    let mut text = "# tracer: nop\n#\n".to_owned();
    for cycle in 0..20u64 {
        let mut line = |who: &str, cpu: u32, us: u64, what: &str| {
            let at_us = 1_000_000 + cycle * 10_000 + us;
            text += &format!("{who:>16} [{cpu:03}] .... {}.{:06}: {what}\n", at_us / 1_000_000, at_us % 1_000_000);
        };
        line("<idle>-0", 1, 0, "cpu_idle: state=1 cpu_id=1");
        line("<idle>-0", 0, 1000, &switch(&idle("prev", 0), "R", &waker("next")));
        line("waker-100", 0, 2000, "sched_waking: comm=woken pid=200 prio=120 target_cpu=001");
        line("waker-100", 0, 2000, "sched_wakeup: comm=woken pid=200 prio=120 target_cpu=001");
        line("<idle>-0", 1, 2200, "cpu_idle: state=4294967295 cpu_id=1");
        line("<idle>-0", 1, 2210, &switch(&idle("prev", 1), "R", &woken("next")));
        line("waker-100", 0, 2500, &switch(&waker("prev"), "S", &idle("next", 0)));
        line("woken-200", 1, 3000, &switch(&woken("prev"), "S", &idle("next", 1)));
    }
    text
}

/// Gaps behind a damaged time are neither simulated nor shown as part of the recording.
#[test]
fn a_damaged_time_costs_no_seconds_and_is_said() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, trace) = file(&folder, "trace.txt");
    let text = recorded_wakeups();
    let line = text.lines().find(|line| line.contains("1.101000")).expect("the eleventh cycle").to_owned();
    std::fs::write(path, text.replace(&line, &line.replace("1.101000", "864000.101000"))).expect("written");
    let on_juno = ["--recorded-on", "hikey-6220", "--platform", "juno-r0"];
    let (outcome, spent) = crate::support::timed(command(&[&["replay", &trace][..], &on_juno].concat()));
    assert!(spent < std::time::Duration::from_secs(5), "{spent:?}");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with(&format!("{trace}: 0.19")), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("no event for 863998 s"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("(--max-gap believes more than 60 s)"), "{}", outcome.stderr);
    assert!(good(&["trace", "info", &trace]).contains("a damaged time, or the machine slept"));
    // Believed, it is simulated: that is what the user asked for.
    let all = pelton(&[&["replay", &trace][..], &on_juno, &["--max-gap", "720h", "-q"]].concat());
    assert!(all.code == 0 && all.stdout.contains(": 863999"), "{}{}", all.stdout, all.stderr);
}

#[test]
fn what_a_trace_does_not_tell_is_unknown_and_the_simulated_side_has_its_energy() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, trace) = file(&folder, "trace.txt");
    std::fs::write(path, recorded_wakeups()).expect("written");
    let replay = |platform: &str, format: &str| {
        good(&["replay", "-q", &trace, "--platform", platform, "--format", format, "--policy", "7.2"])
    };
    let rows: Value = serde_json::from_str(&replay("hikey-6220", "json")).expect("JSON");
    let rows = rows[0]["rows"].as_array().expect("rows");
    for quantity in ["energy_active_mj", "frequency_mhz_avg", "transitions"] {
        let row = rows.iter().find(|r| r["quantity"] == quantity).expect("a row");
        assert!(row["recorded"].is_null(), "the trace has no frequencies: {row}");
        assert!(row["simulated"][0].is_number(), "{row}");
        assert!(quantity == "transitions" || row["simulated"][0].as_f64().is_some_and(|v| v > 0.0), "{row}");
    }
    let csv = replay("odroid-n2-s922x", "csv");
    assert!(csv.lines().any(|line| line.contains("energy_active_mj") && line.ends_with("mJ,,")), "no power: {csv}");
    let table = replay("odroid-n2-s922x", "table");
    let energy = table.lines().find(|line| line.trim_start().starts_with("energy_active_mj")).expect("a row");
    assert_eq!(energy.split_whitespace().collect::<Vec<_>>(), ["energy_active_mj", "mJ", "-", "-"]);
    assert!(table.contains("note: energy_active_mj leaves out 45.8 ms of busy time of domain little"), "{table}");
}

/// Nearly every trace has a frequency only from its first change on. The frequency before is not known of the
/// recording; the simulated side has its energy all the same.
#[test]
fn a_frequency_told_late_costs_the_simulated_side_nothing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, trace) = file(&folder, "trace.txt");
    let told = "            x-9 [001] .... 1.101500: cpu_frequency: state=729000 cpu_id=0\n";
    let text = recorded_wakeups();
    let cycle = text.find("1.110000").expect("the twelfth cycle");
    let at = text[..cycle].rfind('\n').map_or(0, |end| end + 1);
    std::fs::write(path, format!("{}{told}{}", &text[..at], &text[at..])).expect("written");
    let json = good(&["replay", "-q", &trace, "--platform", "hikey-6220", "--format", "json", "--policy", "7.2"]);
    let replayed: Value = serde_json::from_str(&json).expect("JSON");
    let rows = replayed[0]["rows"].as_array().expect("rows");
    let energy = rows.iter().find(|row| row["quantity"] == "energy_active_mj").expect("a row");
    assert!(energy["recorded"].is_null() && energy["simulated"][0].as_f64().is_some_and(|mj| mj > 0.0), "{energy}");
}

#[test]
fn how_long_idle_states_take_to_leave_is_measured_unless_the_platforms_figures_are_asked_for() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, trace) = file(&folder, "trace.txt");
    std::fs::write(path, recorded_wakeups()).expect("written");
    let notes = |rest: &[&str]| {
        let run = pelton(&[&["replay", &trace, "--platform", "juno-r2", "--format", "json"], rest].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let json: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let notes: Vec<String> = serde_json::from_value(json[0]["notes"].clone()).expect("notes");
        notes.into_iter().filter(|note| note.contains("to leave")).collect::<Vec<_>>()
    };
    let measured = notes(&[]);
    assert_eq!(measured.len(), 1);
    let parts = ["state 1: 20", "measured at 20 wake-ups (juno-r2 has 1200 us)"];
    assert!(parts.iter().all(|part| measured[0].contains(part)), "{measured:?}");
    assert_eq!(notes(&["--idle-states", "platform"]), [""; 0]);
    let wrong = pelton(&["replay", &trace, "--platform", "juno-r2", "--idle-states", "phone"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
}
