// SPDX-License-Identifier: GPL-2.0-or-later
//! The committed decay table is what its generator produces.

#[path = "../../../xtask/src/pelt_table.rs"]
mod generator;

#[test]
fn table_is_fresh() {
    let committed = include_str!("../../../core/include/pelton/pelt_table.h");
    assert_eq!(committed, generator::render());
}

#[test]
fn table_has_the_known_entries() {
    let known = [(0, 0xffff_ffff), (1, 0xfa83_b2da), (16, 0xb504_f333), (31, 0x82cd_8698)];
    for (i, want) in known {
        assert_eq!(generator::inverse(i), want);
    }
    assert_eq!(generator::load_avg_max(), 47742);
}
