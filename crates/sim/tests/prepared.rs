// SPDX-License-Identifier: GPL-2.0-or-later
//! The newest kernel's policy is compiled into the core as well. A policy that differs from it in a number that is not
//! read is not, and gives the same runs.

use crate::common::random::{Dice, random_groups, random_machine, random_quotas, random_workload};
use crate::common::*;
use pelton_core::Policy;
use pelton_model::{Machine, Workload};
use pelton_schema::Event;

fn events(m: &Machine, w: &Workload, policy: &Policy) -> Vec<(u64, Event)> {
    let mut keep = Keep::default();
    pelton_sim::run(m, w, policy, &config(60), &mut keep).expect("runs");
    keep.0
}

#[test]
fn the_newest_policy_is_the_one_that_is_compiled_in() {
    let newest = profile(pelton_core::profiles().last().expect("there are profiles"));
    assert!(!std::ptr::eq(newest.prepared(), &raw const newest));
    assert_eq!(*newest.prepared(), newest);
    let older = profile("6.12");
    assert!(std::ptr::eq(older.prepared(), &raw const older));
}

#[test]
fn runs_are_the_same_whether_the_policy_is_compiled_in_or_read() {
    let newest = profile("7.2");
    let mut read = newest;
    // No governor of this policy has a threshold.
    read.set("up_threshold", "77").expect("a number in its range");
    assert!(std::ptr::eq(read.prepared(), &raw const read));
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let m = random_machine(&mut dice);
        let mut w = random_workload(&mut dice, m.cpus.len() as u32);
        if seed % 2 == 1 {
            random_groups(&mut dice, &mut w);
            random_quotas(&mut dice, &mut w, false);
        }
        assert!(events(&m, &w, &newest) == events(&m, &w, &read), "seed {seed}");
    }
}
