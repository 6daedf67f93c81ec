// SPDX-License-Identifier: GPL-2.0-or-later
//! The Rust mirrors of the shared records have the layout the C side has.

#[test]
fn rust_and_c_agree_on_every_field() {
    let (c, rust) = pelton_core::layouts();
    assert!(c.len() > 80, "the C table lists only {} rows", c.len());
    for row in &rust {
        assert!(c.contains(row), "{row:?} has no equal on the C side");
    }
    assert_eq!(c.len(), rust.len());
}
