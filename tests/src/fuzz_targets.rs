// SPDX-License-Identifier: GPL-2.0-only
//! Every place where bytes from outside enter. Used by `fuzz/` and by the smoke tests alike.

use pelton_scenario::{Diagnostics, SourceFile, render, rtapp};

/// Width at which messages are rendered; their layout is code too.
const WIDTH: usize = 100;

/// An rt-app file: grammar, and the text of every message about it.
pub fn rtapp_json(input: &[u8]) {
    show(SourceFile::from_bytes("fuzz.json", input).and_then(|file| rtapp::parse(&file)));
}

fn show<T>(result: Result<T, Diagnostics>) {
    if let Err(diagnostics) = result {
        let text = render(&diagnostics, WIDTH, false);
        assert!(!text.is_empty(), "a refusal says something");
    }
}
