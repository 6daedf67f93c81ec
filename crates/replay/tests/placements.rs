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
    for fault in Fault::ALL {
        let found: Vec<u64> = ["arm64-eas-clamps.csv.gz", "arm64-mixed.csv.gz"]
            .map(|name| decided(name, Some(fault)).all.quiet_divergent)
            .to_vec();
        println!("{}: {found:?}", fault.words());
        assert!(found.iter().any(|&n| n > 0), "{} is not noticed", fault.words());
    }
}
