// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of clamps by maximum (docs/rules/clamps.md).

use super::{Golden, NO_GOLDEN, Table};
use crate::rules::{PROFILES, Rules};
use crate::uclamp_max::{Asks, Limits, effective, script};

fn rules_at(index: u64) -> Rules {
    Rules::profile(PROFILES[index as usize]).expect("the index is in range")
}

/// Places of 5.4, 5.10 and 7.2 in the list of profiles.
const CLAMPED: [u64; 3] = [3, 4, 9];

/// Requests, whether they are the task's own, and the group's clamps: the group's lower one above, at and below the
/// task's, its upper one likewise; a real-time task's default.
const REQUESTS: [[u64; 6]; 12] = [
    [100, 1024, 1, 1, 300, 1024],
    [100, 1024, 0, 1, 300, 1024],
    [300, 1024, 1, 1, 300, 1024],
    [301, 1024, 1, 1, 300, 1024],
    [0, 200, 1, 1, 300, 600],
    [0, 200, 0, 1, 300, 600],
    [0, 601, 1, 1, 0, 600],
    [0, 600, 1, 1, 0, 600],
    [0, 1024, 1, 0, 0, 600],
    [1024, 1024, 0, 0, 0, 1024],
    [1024, 1024, 0, 0, 1024, 1024],
    [700, 800, 1, 1, 0, 600],
];

const EFFECTIVE: Table = Table {
    name: "uclamp-effective",
    comment: "Clamps in force of a task that asks for min and max (own: it chose them itself) in a group (in_group 0: in none), \
              under the system's two limits. 5.4 takes the group's where the task's is larger or not its own, all others keep \
              both of the task's within the group's. profile 3 is 5.4, 4 is 5.10, 9 is 7.2.",
    rule: "docs/rules/clamps.md#54-and-later",
    inputs: &[
        "profile",
        "min",
        "max",
        "own_min",
        "own_max",
        "group_min",
        "group_max",
        "in_group",
        "system_min",
        "system_max",
    ],
    outputs: &["min_in_force", "max_in_force"],
    golden: NO_GOLDEN,
    cases: || {
        let surroundings = [[1, 1024, 1024], [0, 1024, 1024], [1, 250, 500]];
        let of = |p: u64| REQUESTS.map(|request| surroundings.map(|s| [&[p], &request[..], &s[..]].concat()));
        CLAMPED.iter().flat_map(|&p| of(p)).flatten().collect()
    },
    run: |i| {
        let asks = Asks { value: [i[1], i[2]], own: [i[3] != 0, i[4] != 0] };
        let limits = Limits { group: (i[7] != 0).then_some([i[5], i[6]]), system: [i[8], i[9]] };
        let rules = rules_at(i[0]);
        vec![effective(&rules, &asks, &limits, 0), effective(&rules, &asks, &limits, 1)]
    },
};

const BUCKETS: Table = Table {
    name: "uclamp-buckets",
    comment: "Clamps of a CPU after up to ten steps of its four tasks A (100..300), B (180..1024), C (0..400), D (150..350), one \
              hexadecimal digit each, the lowest first: 4 to 7 A to D comes, 8 to 11 it leaves, 12 to 15 its group is limited to \
              250..320. The mark says that the upper clamp is left over. A bucket remembers its largest clamp until it is empty.",
    rule: "docs/rules/clamps.md#54-and-later",
    inputs: &["profile", "steps"],
    outputs: &["min", "max", "mark"],
    golden: Golden {
        source: "docs/rules/load-tracking.md#golden-values",
        rows: &[
            &[9, 0x4, 100, 300, 0],
            &[9, 0x54, 180, 1024, 0],
            &[9, 0x954, 180, 300, 0],
            &[9, 0x6954, 180, 400, 0],
            &[9, 0xa_6954, 180, 400, 0],
            &[9, 0x8a_6954, 0, 300, 1],
            &[9, 0x78a_6954, 150, 350, 0],
            &[9, 0xb78a_6954, 0, 350, 1],
        ],
    },
    cases: || {
        let steps =
            [0, 0xc4, 0x9754, 0xc754, 0x5c4, 0x5cc4, 0x95c4, 0x85c4, 0xd5_95c4, 0x7c_8654, 0xbf_6475, 0x8ba9_7654];
        CLAMPED.iter().flat_map(|&p| steps.map(|steps| vec![p, steps])).collect()
    },
    run: |i| script(&rules_at(i[0]), i[1]).to_vec(),
};

pub(super) fn tables() -> Vec<Table> {
    vec![EFFECTIVE, BUCKETS]
}
