// SPDX-License-Identifier: GPL-2.0-only
//! Placements of a real kernel, recorded with everything they read, decided again.

use std::io::Read;
use std::path::PathBuf;

use pelton_core::Policy;
use pelton_replay::placements::{Fault, Met, Report, validate};
use pelton_trace::import::open_bytes;

fn recording(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trace/kernel-placement")).join(name)
}

fn decided(name: &str, fault: Option<Fault>) -> Report {
    let policy = Policy::profile("7.2").expect("profile exists");
    validate(&recording(name), &policy, fault, &mut |_| true).expect("a readable recording")
}

/// Each with its decisions.
const RECORDINGS: [(&str, u64); 4] = [
    ("arm64-eas-clamps.csv.gz", 4681),
    ("arm64-mixed.csv.gz", 5966),
    ("x86-idle-states.csv.gz", 1200),
    ("arm64-limits.csv.gz", 1200),
];

#[test]
fn every_quiet_decision_of_the_kernel_is_chosen_again() {
    for (name, decisions) in RECORDINGS {
        let report = decided(name, None);
        println!("{name}: {:?} energies {} differ {}", report.all, report.energies, report.energies_differ);
        for (rule, tally) in &report.by_rule {
            println!("  {rule}: {tally:?}");
        }
        for sample in report.samples.iter().filter(|s| s.quiet) {
            println!("  {sample:?}");
        }
        assert_eq!(report.all.decisions, decisions, "{name}");
        assert!(report.all.quiet * 10 > decisions * 6, "{name}: too few quiet decisions, {:?}", report.all);
        assert_eq!((report.all.quiet_divergent, report.energies_differ), (0, 0), "{name}");
    }
}

#[test]
fn what_is_put_wrong_is_noticed() {
    // No recorded kernel accounts for the time of interrupts (F-372): see the test of a table that says so.
    let is_recorded = |fault: &Fault| !fault.is_of_balances() && *fault != Fault::InterruptsIgnored;
    for fault in Fault::ALL.into_iter().filter(is_recorded) {
        let found = RECORDINGS.map(|(name, _)| decided(name, Some(fault)).all.quiet_divergent);
        println!("{}: {found:?}", fault.words());
        assert!(found.iter().any(|&n| n > 0), "{} is not noticed", fault.words());
    }
}

#[test]
fn what_placements_could_read_is_counted() {
    let met = |name: &str| decided(name, None).met;
    let Met { idle_states, pressure, interrupts } = met("x86-idle-states.csv.gz");
    assert_eq!((idle_states, pressure, interrupts), (1200, 0, 0));
    let Met { idle_states, pressure, interrupts } = met("arm64-limits.csv.gz");
    assert_eq!((idle_states, interrupts), (0, 0));
    assert!((1..1200).contains(&pressure), "{pressure}");
    assert_eq!(met("arm64-mixed.csv.gz"), Met::default());
}

/// A table whose CPUs are said to have spent time in interrupts: its kernel's energies do not come out, unless that is
/// ignored.
#[test]
fn time_in_interrupts_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("interrupts.csv");
    let machine = recording("arm64-limits.topo.json");
    std::fs::copy(&machine, folder.path().join("interrupts.topo.json")).expect("room");
    let mut text = String::new();
    let mut file = open_bytes(&recording("arm64-limits.csv.gz")).expect("part of the repository");
    file.read_to_string(&mut text).expect("text");
    std::fs::write(&path, with_interrupts(&text)).expect("room");
    let policy = Policy::profile("7.2").expect("profile exists");
    let differ = |fault| validate(&path, &policy, fault, &mut |_| true).expect("a readable recording");
    let told = differ(None);
    assert!(told.energies_differ * 2 > told.energies && told.met.interrupts == 1200, "{told:?}");
    assert_eq!(differ(Some(Fault::InterruptsIgnored)).all.quiet_divergent, 0);
}

/// The same lines with 200 of 1024 in every column of interrupts.
fn with_interrupts(text: &str) -> String {
    let is_irq = |name: &str| name.strip_prefix("irq").is_some_and(|cpu| cpu.parse::<u32>().is_ok());
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let altered = |line: &str| {
        let fields = header.iter().zip(line.split(','));
        let fields = fields.map(|(name, value)| if is_irq(name) && *name != value { "200" } else { value });
        fields.collect::<Vec<_>>().join(",") + "\n"
    };
    text.lines().map(altered).collect()
}

/// The board with three performance domains: one CPU's last real-time task was on its way out, counted and no longer
/// queued.
#[test]
fn a_realtime_queue_that_is_left_asks_for_nothing() {
    let name = "arm64-three-domains-rt-leaves";
    let policy = Policy::profile("6.12").expect("profile exists");
    let energies_differ = |path: &std::path::Path| {
        let report = validate(path, &policy, None, &mut |_| true).expect("a readable recording");
        assert_eq!((report.all.decisions, report.all.quiet), (1, 1));
        report.energies_differ
    };
    let recorded = recording(&format!("{name}.csv"));
    assert!(energies_differ(&recorded) > 0, "the table does not say whether the queue is queued");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("told.csv");
    let text = std::fs::read_to_string(&recorded).expect("the recording");
    let told: Vec<String> =
        text.lines().zip([",rt_queued3", ",0"]).map(|(line, more)| format!("{line}{more}")).collect();
    std::fs::write(&path, told.join("\n") + "\n").expect("written");
    std::fs::copy(recording(&format!("{name}.topo.json")), folder.path().join("told.topo.json")).expect("copied");
    assert_eq!(energies_differ(&path), 0);
}
