// SPDX-License-Identifier: GPL-2.0-only
//! Every place where bytes from outside enter. Used by `fuzz/` and by the smoke tests alike.

use std::io::{Cursor, Write};
use std::path::Path;

use pelton_replay::{validate, workload};
use pelton_scenario::platform::PlatformOptions;
use pelton_scenario::{platform, policy, rtapp};
use pelton_trace::LogReader;
use pelton_trace::import::csv::{ActivationCsv, DecisionCsv, PeltCsv, SeriesCsv};
use pelton_trace::import::text::TextSource;
use pelton_trace::import::{Format, OpenOptions, Source, open};
use pelton_trace::perfetto::read::PerfettoReader;

use crate::made_events::MadeEvents;

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

/// Text of ftrace, systrace and `perf script`.
pub fn trace_text(input: &[u8]) {
    for format in [Format::FtraceText, Format::SystraceHtml] {
        read_on(&mut TextSource::new(Cursor::new(input.to_vec()), Path::new("input"), format));
    }
}

/// Every kind of table.
pub fn trace_csv(input: &[u8]) {
    let bytes = || Cursor::new(input.to_vec());
    read_on(&mut PeltCsv::new(bytes(), Path::new("input")));
    read_on(&mut DecisionCsv::new(bytes(), Path::new("input")));
    read_on(&mut SeriesCsv::new(bytes(), Path::new("input")));
    read_on(&mut ActivationCsv::new(bytes(), Path::new("input")));
}

/// Any events, validated in both readings: the input is the events themselves, so that no check sum stands before the
/// validator.
pub fn validate(input: &[u8]) {
    let machine = platform::load("juno-r0").and_then(|file| file.machine(&PlatformOptions::new("7.2")));
    let policy = pelton_core::Policy::profile("7.2").expect("a profile");
    let options = validate::Options { policy, machine: Some(machine.expect("built in")) };
    let mut first = MadeEvents::new(input);
    let mut report = validate::validate(&mut first, options.clone(), &mut |_| true).expect("memory does not fail");
    let info = first.info().clone();
    validate::compare_again(&mut MadeEvents::new(input), &info, &options, &mut report).expect("memory does not fail");
    drop(format!("{report:?}"));
}

/// Any events as a workload, down to its rt-app file.
pub fn workload_from_trace(input: &[u8]) {
    let machine =
        platform::load("juno-r0").and_then(|file| file.machine(&PlatformOptions::new("7.2"))).expect("built in");
    let mut source = MadeEvents::new(input);
    let going = &mut |_: u64| std::ops::ControlFlow::Continue(());
    let recorded = workload::read(&mut source, Some(&machine), &workload::ReadOptions::default(), going);
    let Ok(recorded) = recorded else { return };
    let habits = workload::Habits::of(&recorded.recording);
    for pin in [workload::Pin::Free, workload::Pin::Itself, workload::Pin::Asleep] {
        let frequencies_given = pin == workload::Pin::Asleep;
        let options = workload::SynthesisOptions { only: Vec::new(), pin, frequencies_given };
        let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machine, &options);
        let model = pin != workload::Pin::Free;
        drop(workload::write_rtapp(&made.workload, &machine, workload::WriteOptions { model }));
    }
}

/// Reads a trace: it ends, and its times never run backwards.
fn read_on(source: &mut dyn Source) {
    let mut last_ns = 0;
    while let Ok(Some(timed)) = source.next() {
        assert!(timed.time_ns >= last_ns, "time runs backwards");
        last_ns = timed.time_ns;
    }
}

/// Reads the input as a trace of one kind: it ends, and its times never run backwards.
fn as_source(input: &[u8], format: Format) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(input).expect("room for a temporary file");
    let Ok(mut source) = open(file.path(), &OpenOptions { format: Some(format), ..OpenOptions::default() }) else {
        return;
    };
    read_on(&mut *source);
}
