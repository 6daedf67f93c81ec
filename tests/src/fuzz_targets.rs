// SPDX-License-Identifier: GPL-2.0-only
//! Every place where bytes from outside enter. Used by `fuzz/` and by the smoke tests alike.

use pelton_scenario::{Diagnostics, SourceFile, render, rtapp};
use pelton_trace::LogReader;
use pelton_trace::perfetto::read::PerfettoReader;

/// Width at which messages are rendered; their layout is code too.
const WIDTH: usize = 100;

/// An rt-app file: grammar, and the text of every message about it.
pub fn rtapp_json(input: &[u8]) {
    show(SourceFile::from_bytes("fuzz.json", input).and_then(|file| rtapp::parse(&file)));
}

/// Our own log, and a Perfetto trace: read to the end or to the first error.
pub fn trace_files(input: &[u8]) {
    if let Ok(mut events) = LogReader::open(input) {
        let failures = events.by_ref().filter(Result::is_err).count();
        assert_eq!(failures == 0, events.is_complete(), "a damaged log says so once");
    }
    assert!(PerfettoReader::new(input).filter(Result::is_err).count() <= 1, "an error ends the records");
}

fn show<T>(result: Result<T, Diagnostics>) {
    if let Err(diagnostics) = result {
        let text = render(&diagnostics, WIDTH, false);
        assert!(!text.is_empty(), "a refusal says something");
    }
}
