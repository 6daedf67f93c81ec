// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of the core as the scheduler of a kernel, taken again here.

use std::path::{Path, PathBuf};

use pelton_replay::decisions::{Fault, Report, validate};
use pelton_trace::decided::{DecidedTable, MACHINE};
use pelton_trace::import::ImportError;

fn recording(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trace/live-decisions")).join(name)
}

fn again(folder: &Path, fault: Option<&Fault>) -> Result<Report, ImportError> {
    validate(folder, fault, &mut |_| true)
}

fn decided(name: &str, fault: Option<&Fault>) -> Report {
    again(&recording(name), fault).expect("a readable recording")
}

const RECORDINGS: [&str; 2] = ["board-debt", "board-gates"];

#[test]
fn every_number_of_a_running_kernel_comes_out_again() {
    for name in RECORDINGS {
        let report = decided(name, None);
        assert_eq!((report.all.decisions, report.all.divergent), (320, 0), "{name}: {:?}", report.samples);
        let placements = report.by_kind["placement"];
        assert!(placements.decisions == 80 && placements.not_decided < 20, "{name}: {placements:?}");
        assert!(report.by_kind["frequency"].decisions > 100, "{name}: {:?}", report.by_kind);
    }
    assert!(decided("board-debt", None).by_kind.contains_key("refused by the gate"));
}

#[test]
fn what_is_put_wrong_is_noticed() {
    for fault in &Fault::ALL {
        let found = RECORDINGS.map(|name| decided(name, Some(fault)).all.divergent);
        println!("{}: {found:?}", fault.words);
        assert!(found.iter().any(|&n| n > 0), "{} is not noticed", fault.words);
    }
}

/// A copy of a recording with one file altered.
fn altered(file: &str, alter: impl Fn(String) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in DecidedTable::ALL.map(DecidedTable::file).into_iter().chain([MACHINE]) {
        let from = recording("board-debt").join(name);
        let mut text = String::new();
        let mut bytes = pelton_trace::import::open_bytes(&from).expect("it is there");
        std::io::Read::read_to_string(&mut bytes, &mut text).expect("text");
        let text = if name == file { alter(text) } else { text };
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    folder
}

/// The line of a table with another value in a column.
fn with(text: &str, line: usize, column: &str, value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = lines[0].split(',').position(|name| name == column).expect("a column");
    let mut values: Vec<&str> = lines[line].split(',').collect();
    values[at] = value;
    lines[line] = values.join(",");
    lines.join("\n") + "\n"
}

#[test]
fn one_altered_number_is_one_difference_at_its_line() {
    let table = DecidedTable::Frequencies.file();
    let folder = altered(table, |text| with(&text, 7, "decision.raw_khz", "1"));
    let report = again(folder.path(), None).expect("readable");
    assert_eq!(report.all.divergent, 1);
    let sample = &report.samples[0];
    assert_eq!((sample.table, sample.line, sample.what.len()), (table, 8, 1));
    assert_eq!((sample.what[0].what.as_str(), sample.what[0].recorded), ("decision.raw_khz", 1));
}

#[test]
fn columns_are_found_by_name() {
    let turned = |text: String| {
        let turn = |line: &str| line.rsplit(',').collect::<Vec<_>>().join(",");
        text.lines().map(|line| turn(line) + "\n").collect()
    };
    let folder = altered(DecidedTable::Placements.file(), turned);
    assert_eq!(again(folder.path(), None).expect("readable"), decided("board-debt", None));
}

/// File, what is done to its text, and words of the message.
type Altered<'a> = (&'a str, &'a dyn Fn(String) -> String, &'a str);

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    let (frequencies, placements) = (DecidedTable::Frequencies.file(), DecidedTable::Placements.file());
    let cases: [Altered<'_>; 11] = [
        (frequencies, &|text| with(&text, 3, "cpu", "64"), "`cpu` is 64, the last one is 5"),
        (frequencies, &|text| with(&text, 3, "sp.ref_khz", "0"), "kHz"),
        (frequencies, &|text| with(&text, 3, "rq.cap_orig", "0"), "`rq.cap_orig` is 0, 1 to 1024 can be"),
        (frequencies, &|text| with(&text, 3, "program", "1"), "`program` is 1, 1 were loaded"),
        (frequencies, &|text| with(&text, 3, "how", "x"), "`x` is no whole number"),
        (frequencies, &|text| text.replace("sc_after.", "sd_after."), "has no column `sc_after.last_update_ns`"),
        (placements, &|text| with(&text, 3, "question.this_cpu", "9"), "the last one is 5"),
        (placements, &|text| text.replacen(",0,", ",", 1), "values for"),
        (MACHINE, &|text| text.replace("\"format\":1", "\"format\":2"), "has form 2; 1 is known"),
        (MACHINE, &|text| text.replace("\"headroom_pct\",\"25\"", "\"headroom_pct\",\"9999\""), "headroom_pct"),
        (MACHINE, &|text| text[..text.len() / 2].to_owned(), "EOF"),
    ];
    for (file, alter, expected) in cases {
        let folder = altered(file, alter);
        let error = again(folder.path(), None).expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
