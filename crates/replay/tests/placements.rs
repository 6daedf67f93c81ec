// SPDX-License-Identifier: GPL-2.0-or-later
//! Placements of a real kernel, recorded with everything they read, decided again.

use std::io::Read;
use std::path::PathBuf;

use pelton_core::Policy;
use pelton_replay::placements::{Fault, Met, Part, Report, validate};
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
    let x86 = met("x86-idle-states.csv.gz");
    println!("{x86:?}");
    assert_eq!((x86.idle_states, x86.pressure, x86.interrupts, x86.sched_idle), (1200, 0, 0, 0));
    let limits = met("arm64-limits.csv.gz");
    println!("{limits:?}");
    assert_eq!((limits.idle_states, limits.interrupts, limits.nodes, limits.sched_idle), (0, 0, 0, 58));
    assert!((1..1200).contains(&limits.pressure) && (1..1200).contains(&limits.groups), "{limits:?}");
    // No tasks in groups there.
    assert_eq!(met("arm64-mixed.csv.gz"), Met::default());
}

/// Recordings that have what the kernel's `cpu_util` and `effective_cpu_util` gave, and how often in quiet decisions.
const WITH_UTILS: [(&str, u64, u64); 2] =
    [("arm64-eas-clamps.csv.gz", 102_648, 53_060), ("arm64-mixed.csv.gz", 2_771, 354)];

#[test]
fn every_utilization_of_a_quiet_decision_is_worked_out_again() {
    for (name, utils, effective) in WITH_UTILS {
        let report = decided(name, None);
        let all = [report.utils_all, report.utils_all_differ, report.utils_all_moved];
        println!("{name}: of {} {} differ, of all {all:?}", report.utils, report.utils_differ);
        assert_eq!((report.utils, report.effective_utils), (utils, effective), "{name}");
        assert!(report.utils_differ * 10_000 <= utils, "{name}: {} of {utils} differ", report.utils_differ);
        assert_eq!((report.utils_differ, report.effective_utils_differ), (0, 0), "{name}");
        // Elsewhere (F-448): what differs reads a signal that moved on.
        assert_eq!(report.utils_all_moved, report.utils_all_differ, "{name}: one without a cause");
        assert!(report.utils_all_differ > 0 && report.utils_all_differ * 50 < report.utils_all, "{name}: {all:?}");
    }
}

#[test]
fn wrong_worlds_are_noticed_in_utilizations() {
    for (name, utils, _) in WITH_UTILS {
        let wrong = decided(name, Some(Fault::UtilStays));
        println!("{name}: {} of {utils}", wrong.utils_differ);
        assert!(wrong.utils == utils && wrong.utils_differ * 100 > utils, "{name}: {}", wrong.utils_differ);
        assert!(wrong.all.quiet_divergent > 0);
    }
    // A kernel whose clamps are part of the sum: no bounds beside it.
    let (name, _, effective) = WITH_UTILS[0];
    let older = Policy::profile("6.1").expect("profile exists");
    let wrong = validate(&recording(name), &older, None, &mut |_| true).expect("a readable recording");
    println!("{name} by 6.1: {} of {effective}", wrong.effective_utils_differ);
    assert!(wrong.effective_utils == effective && wrong.effective_utils_differ * 100 > effective);
}

/// A value that is altered in one line is a quiet difference, one that is of no CPU is refused.
#[test]
fn an_altered_utilization_is_a_difference() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("altered.csv");
    let machine = recording("arm64-eas-clamps.topo.json");
    std::fs::copy(&machine, folder.path().join("altered.topo.json")).expect("room");
    let mut text = String::new();
    let mut file = open_bytes(&recording("arm64-eas-clamps.csv.gz")).expect("part of the repository");
    file.read_to_string(&mut text).expect("text");
    let head: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    let policy = Policy::profile("7.2").expect("profile exists");
    let told = |from: &str, to: &str| {
        assert!(head.contains(from), "{from}");
        std::fs::write(&path, head.replacen(from, to, 1)).expect("room");
        validate(&path, &policy, None, &mut |_| true)
    };
    let first = told("1:5:-1:0:1023:0:0", "1:5:-1:0:1022:0:0").expect("a readable recording");
    assert_eq!((first.utils_differ, first.all.quiet_divergent), (1, 1), "{first:?}");
    assert_eq!(first.samples[0].what, [Part { what: "utilization of a CPU", kernel: 1022, ours: 1023 }]);
    let refused = told("1:5:-1:0:1023:0:0", "1:6:-1:0:1023:0:0").expect_err("the board has six CPUs").to_string();
    assert!(refused.contains("no inner value"), "{refused}");
}

/// A table in which CPUs have spent time in interrupts: its kernel's energies do not come out, unless that is ignored.
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

/// Lines of the table with 200 of 1024 in every column of interrupts.
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
