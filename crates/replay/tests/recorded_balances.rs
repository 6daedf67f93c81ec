// SPDX-License-Identifier: GPL-2.0-or-later
//! Balances of a real kernel, recorded with everything that they read, decided again.

use std::path::PathBuf;

use pelton_core::Policy;
use pelton_replay::placements::{Fault, Report, validate};

fn decided(name: &str, fault: Option<Fault>) -> Report {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trace/kernel-balances")).join(name);
    let policy = Policy::profile("7.2").expect("profile exists");
    validate(&path, &policy, fault, &mut |_| true).expect("a readable recording")
}

const SEARCHES: &str = "arm64-searches.csv.gz";
const GATES: &str = "arm64-gates.csv.gz";

/// Searches for a group to take from, on small and large CPUs, and what decides whether there is one.
#[test]
fn every_quiet_balance_of_the_kernel_is_decided_again() {
    for (name, decisions) in [(SEARCHES, 900), (GATES, 2500)] {
        let report = decided(name, None);
        assert_eq!(report.all.decisions, decisions, "{name}");
        assert!(report.all.quiet * 10 > decisions * 9, "{name}: too few quiet decisions, {:?}", report.all);
        assert_eq!(report.all.quiet_divergent, 0, "{name}: {:?}", report.samples);
    }
    let misfit = &decided(SEARCHES, None).by_rule["takes a misfit task"];
    assert!(misfit.quiet > 40, "{misfit:?}");
}

#[test]
fn what_is_put_wrong_in_balances_is_noticed() {
    let of_searches =
        [Fault::NoMargin, Fault::OverutilizedIgnored, Fault::LoadsZero, Fault::GroupCapacity, Fault::MisfitIgnored];
    let of_gates = Fault::ALL.into_iter().filter(|fault| fault.is_of_gates());
    let all = of_searches.map(|fault| (SEARCHES, fault)).into_iter().chain(of_gates.map(|fault| (GATES, fault)));
    for (name, fault) in all {
        let found = decided(name, Some(fault)).all.quiet_divergent;
        assert!(found > 0, "{} is not noticed", fault.words());
    }
}
