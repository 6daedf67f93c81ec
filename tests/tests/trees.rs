// SPDX-License-Identifier: GPL-2.0-or-later
//! Load tracking of a thousand task groups: the core and its twin agree to the bit, and sums hold.

use pelton_core::{Policy, profiles};
use pelton_tests::trees::{self, DEPTH, Size, Tree};

const SIZE: Size = Size { groups: 1000, tasks: 600, events: 6000 };

#[test]
fn a_thousand_groups_on_four_cpus_agree_and_their_sums_hold() {
    for (seed, profile) in profiles().iter().enumerate() {
        let total = trees::run(profile, seed as u64, SIZE).unwrap_or_else(|error| panic!("{error}"));
        println!("{profile}: {total:?}");
        assert_eq!(total.depth, DEPTH);
        // fair.c cfs_rq_is_decayed of 4.12, and again of 6.12 and later, asks for tg_load_avg_contrib as well.
        let policy = Policy::profile(profile).expect("a profile");
        assert_eq!(total.left == 0, policy.decayed_contrib != 0, "{profile}: {total:?}");
        // A queue whose sum is 0 and whose average is not is left out of walks up to 5.4; 5.13 keeps the two in step.
        assert!(total.left_avg == 0 || seed < 4, "{profile}: {total:?}");
        assert!(total.cuts > 20 && total.moves > 200, "{profile}: {total:?}: too little happens");
    }
}

/// Deep and narrow trees: every task has the same groups above it.
#[test]
fn small_trees_agree_under_every_profile() {
    for seed in 0..20 {
        let profile = profiles()[seed % profiles().len()];
        let size = Size { groups: 4 + seed * 3, tasks: 12, events: 3000 };
        trees::run(profile, 100 + seed as u64, size).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// One share more in one of a thousand groups: the comparison sees it.
#[test]
fn a_share_too_many_in_one_group_is_caught() {
    let mut tree = Tree::new("7.2", 1, SIZE).expect("a tree");
    tree.spoil(700);
    let error = (0..).find_map(|_| tree.one_more().err()).expect("a difference");
    assert!(error.contains("Group(700)"), "{error}");
}
