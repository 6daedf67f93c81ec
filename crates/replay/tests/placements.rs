// SPDX-License-Identifier: GPL-2.0-only
//! Placements of a real kernel, recorded with everything they read, decided again.

use std::path::PathBuf;

use pelton_core::Policy;
use pelton_replay::placements::{Fault, Report, validate};

fn recording(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trace/kernel-placement")).join(name)
}

fn decided(name: &str, fault: Option<Fault>) -> Report {
    let policy = Policy::profile("7.2").expect("profile exists");
    validate(&recording(name), &policy, fault, &mut |_| true).expect("a readable recording")
}

#[test]
fn every_quiet_decision_of_the_kernel_is_chosen_again() {
    for (name, decisions) in [("arm64-eas-clamps.csv.gz", 4681), ("arm64-mixed.csv.gz", 5966)] {
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
    for fault in Fault::ALL.into_iter().filter(|fault| !fault.is_of_gates()) {
        let found: Vec<u64> = ["arm64-eas-clamps.csv.gz", "arm64-mixed.csv.gz"]
            .map(|name| decided(name, Some(fault)).all.quiet_divergent)
            .to_vec();
        println!("{}: {found:?}", fault.words());
        assert!(found.iter().any(|&n| n > 0), "{} is not noticed", fault.words());
    }
}

/// The board with three performance domains: one CPU's last real-time task was on its way out, counted and no longer queued.
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
