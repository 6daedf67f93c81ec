// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers and orders that C and Rust both have are the same.

use pelton_core::kernel::{KERNEL_HZ, KERNEL_OPPS, OPERATIONS};

const HEADER: &str = include_str!("../../core/src/kernel_ops.h");
const GUARD: &str = include_str!("../src/guard.c");

#[test]
fn rooms_and_tick_are_those_of_the_header() {
    assert!(HEADER.contains(&format!("#define PELTON_KERNEL_HZ {KERNEL_HZ}u\n")));
    assert!(HEADER.contains(&format!("#define PELTON_KERNEL_OPPS {KERNEL_OPPS}\n")));
}

#[test]
fn operations_have_their_names_and_numbers_in_c() {
    let list = GUARD.split_once("enum operation {").and_then(|(_, rest)| rest.split_once("START,")).expect("a list");
    let listed: Vec<String> =
        list.0.split(',').map(|word| word.trim().to_lowercase()).filter(|w| !w.is_empty()).collect();
    assert_eq!(listed, OPERATIONS.map(|operation| operation.name().to_owned()));
    for (number, operation) in OPERATIONS.into_iter().enumerate() {
        assert_eq!(operation as usize, number);
        assert!(HEADER.contains(&format!("(*{})(", operation.name())), "{operation:?}");
    }
}
