// SPDX-License-Identifier: GPL-2.0-only
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pelton_tests::fuzz_targets::read_then_simulate(input));
