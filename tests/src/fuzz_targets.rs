// SPDX-License-Identifier: GPL-2.0-only
//! Every place where bytes from outside enter. Used by `fuzz/` and by the smoke tests alike.

use std::io::Write;

use pelton_scenario::{platform, policy, rtapp};
use pelton_trace::LogReader;
use pelton_trace::import::{Format, OpenOptions, open};
use pelton_trace::perfetto::read::PerfettoReader;

/// An rt-app file, down to the workload and the text of every message about it.
pub fn rtapp_json(input: &[u8]) {
    rtapp::fuzz_rtapp(input);
}

/// A platform file, down to the machine.
pub fn platform_toml(input: &[u8]) {
    platform::fuzz_platform(input);
}

/// A policy file.
pub fn policy_toml(input: &[u8]) {
    policy::fuzz_policy(input);
}

/// Our own log, and a Perfetto trace: read to the end or to the first error.
pub fn trace_files(input: &[u8]) {
    if let Ok(mut events) = LogReader::open(input) {
        let failures = events.by_ref().filter(Result::is_err).count();
        assert_eq!(failures == 0, events.is_complete(), "a damaged log says so once");
    }
    assert!(PerfettoReader::new(input).filter(Result::is_err).count() <= 1, "an error ends the records");
}

/// A trace.dat of trace-cmd.
pub fn trace_dat(input: &[u8]) {
    as_source(input, Format::TraceDat);
}

/// A Perfetto trace as a source.
pub fn trace_perfetto(input: &[u8]) {
    as_source(input, Format::Perfetto);
}

/// Our own log as a source.
pub fn trace_log(input: &[u8]) {
    as_source(input, Format::PeltonLog);
}

/// Reads the input as a trace of one kind: it ends, and its times never run backwards.
fn as_source(input: &[u8], format: Format) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(input).expect("room for a temporary file");
    let Ok(mut source) = open(file.path(), &OpenOptions { format: Some(format) }) else { return };
    let mut last_ns = 0;
    while let Ok(Some(timed)) = source.next() {
        assert!(timed.time_ns >= last_ns, "time runs backwards");
        last_ns = timed.time_ns;
    }
}
