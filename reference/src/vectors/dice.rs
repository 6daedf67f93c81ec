// SPDX-License-Identifier: GPL-2.0-or-later
//! Table of the dice of a CPU that goes idle.

use super::{Golden, Table};
use crate::dice::{Dice, Searches};

const RULES: [Dice; 3] = [Dice::Off, Dice::BySuccess, Dice::ByRate];

const NEWIDLE_DICE: Table = Table {
    name: "newidle-dice",
    comment: "One more call of a domain's search with so many hits, so long after the last count (dice: 0 none, 1 as \
              in 6.1 and 6.12, 2 as in 7.2). Ratio, calls and hits after it, and the hits that a find then stands for.",
    rule: "docs/rules/balance.md#a-cpu-that-runs-out-of-tasks",
    inputs: &["dice", "calls", "hits", "ratio", "more", "past_ns"],
    outputs: &["ratio", "calls", "hits", "weight"],
    golden: Golden {
        source: "update_newidle_stats of Linux 6.12.118 (dice 1) and 7.2.12 (dice 2), compiled; weight by hand",
        rows: &[
            &[1, 100, 40, 512, 0, 0, 512, 101, 40, 2],
            &[1, 1023, 0, 512, 0, 0, 0, 512, 0, 1024],
            &[1, 1023, 300, 512, 2, 4_000_000_000, 302, 512, 151, 3],
            &[1, 1023, 1023, 7, 2, 4_194_304, 1025, 512, 512, 1],
            &[2, 1023, 300, 512, 2, 1_000_000_000, 540, 512, 151, 2],
            &[2, 1023, 300, 512, 2, 4_000_000_000, 1024, 512, 151, 1],
            &[2, 1023, 1021, 7, 1, 4_194_303, 1022, 512, 511, 1],
            &[2, 1023, 1021, 7, 2, 4_194_304, 1024, 512, 511, 1],
            &[2, 1023, 9000, 3, 256, 77, 1024, 512, 4628, 1],
            &[2, 1023, 5, 1024, 1, 9_007_199_254_740_992, 2_147_483_654, 512, 3, 1],
        ],
    },
    cases: || {
        let past_ns = [0, 4_194_303, 4_194_304, 2_000_000_000, 4_294_967_296, 1 << 53];
        let states = [[1022, 40, 512, 1], [1023, 0, 0, 0], [1023, 255, 256, 4], [1023, 1023, 1024, 1], [5000, 7, 1, 9]];
        let rows = |dice: u64| move |state: &[u64; 4]| past_ns.map(|past| [&[dice][..], state, &[past]].concat());
        (0..3).flat_map(|dice| states.iter().flat_map(rows(dice)).collect::<Vec<_>>()).collect()
    },
    run: |i| {
        let mut own = Searches { calls: i[1].into(), hits: i[2].into(), share: i[3].into(), ..Searches::default() };
        own.count(RULES[i[0] as usize], i[4].into(), i[5].into());
        [own.share, own.calls, own.hits, own.worth(RULES[i[0] as usize])].map(|number| number as u64).to_vec()
    },
};

pub(super) fn tables() -> Vec<Table> {
    vec![NEWIDLE_DICE]
}
