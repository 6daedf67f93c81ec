// SPDX-License-Identifier: GPL-2.0-or-later
//! Any bytes may arrive where files are read; none of them may panic. See `fuzz/README.md` for the long runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pelton_schema::Event;
use pelton_tests::fuzz::Target;
use pelton_tests::readers::{self, READERS, Reader, Takes};
use pelton_tests::{fuzz_targets, made_events, seeds};
use pelton_trace::LogReader;
use pelton_trace::import::Source;

/// Inputs per target; `PELTON_FUZZ_INPUTS` overrides it for a longer run.
const INPUTS: u64 = 20_000;

fn inputs() -> u64 {
    std::env::var("PELTON_FUZZ_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(INPUTS)
}

fn canary() -> Target<'static> {
    let run = |input: &[u8]| assert!(!input.windows(4).any(|piece| piece == b"bang"), "the canary sang");
    Target { name: "canary", run, seeds: vec![b"{\"run\": 10}".to_vec()], words: &["bang"] }
}

#[test]
fn a_panic_is_found_and_reported_with_its_input() {
    let failure = canary().smoke(INPUTS).expect_err("the canary must be found");
    assert!(failure.number > 0, "mutation, not a seed, finds it");
    assert_eq!(canary().input(failure.number), failure.input, "the number makes the input again");
    let report = failure.report("canary");
    assert!(report.contains("the canary sang") && report.contains("bang"), "{report}");
}

#[test]
fn seeds_are_tried_as_they_are() {
    assert_eq!(canary().input(0), b"{\"run\": 10}");
}

fn smoke(target: &Target<'_>) {
    if let Some(folder) = std::env::var_os("PELTON_FUZZ_SEEDS") {
        return write_seeds(target, std::path::Path::new(&folder));
    }
    if let Err(failure) = target.smoke(inputs()) {
        panic!("{}", failure.report(target.name));
    }
}

/// Writes the seeds down for a long run instead.
fn write_seeds(target: &Target<'_>, folder: &std::path::Path) {
    let folder = folder.join(target.name);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for (number, seed) in target.seeds.iter().enumerate() {
        std::fs::write(folder.join(number.to_string()), seed).expect("a writable folder");
    }
}

/// The smoke test of a reader.
fn of_reader(reader: &'static Reader) -> Target<'static> {
    let run = fuzz_targets::OF_READERS.iter().find(|(name, _)| *name == reader.name);
    let (_, run) = run.unwrap_or_else(|| panic!("{} has no fuzz target", reader.name));
    Target { name: reader.name, run: *run, seeds: seeds::of(reader), words: reader.words }
}

/// Every reader that is declared, one after the other on each CPU.
fn every_reader(attack: impl Fn(&'static Reader) -> Option<String> + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(reader) = READERS.get(next.fetch_add(1, Ordering::Relaxed)) {
            failures.lock().expect("no thread panics with it").extend(attack(reader));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().expect("no thread panics with it");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn no_reader_panics() {
    every_reader(|reader| {
        let target = of_reader(reader);
        if let Some(folder) = std::env::var_os("PELTON_FUZZ_SEEDS") {
            write_seeds(&target, std::path::Path::new(&folder));
            return None;
        }
        let failure = target.smoke((inputs() / reader.cost).max(1)).err()?;
        Some(failure.report(target.name))
    });
}

/// Cuts of one seed that are tried; a tenth where a reader takes longer.
const CUTS: usize = 100;

#[test]
fn no_reader_panics_at_a_file_that_ends_early() {
    every_reader(|reader| {
        let target = of_reader(reader);
        let cuts = target.seeds.iter().flat_map(|seed| {
            let step = (seed.len() * reader.cost.min(10) as usize / CUTS).max(1);
            (0..seed.len()).step_by(step).map(move |length| &seed[..length])
        });
        let failed = cuts.into_iter().find_map(|input| target.try_input(0, input.to_vec()).err());
        failed.map(|failure| failure.report(target.name))
    });
}

#[test]
fn every_kind_of_source_and_of_trace_is_declared() {
    let declared = |name: &str| assert!(readers::reader(name).is_some(), "{name} is not in tests/src/readers.rs");
    for (name, _) in pelton_scenario::import::KINDS {
        declared(&format!("import_{}", name.replace('-', "_")));
    }
    for (name, takes) in readers::ARGUMENTS {
        let Takes::Files(names) = takes else { continue };
        names.iter().for_each(|reader| assert!(readers::reader(reader).is_some(), "{name}: {reader}"));
    }
    for reader in READERS {
        assert!(!reader.verbs.is_empty() && reader.cost > 0, "{}", reader.name);
    }
}

#[test]
fn bundles_stay_in_their_folder() {
    let input = b"lost\n%% a/b\n1\n%% ../c\n2\n%% /d\n3\n%% a\n4\n%% .e\n5\n %% f\n%% a/../../g\n6\n%% h";
    let files = readers::Bundle::files(input);
    let names: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.len())).collect();
    assert_eq!(names, [("a/b", 2), ("d", 2), ("a", 2)]);
    let folder = tempfile::tempdir().expect("temporary folder");
    let place = readers::reader("import_sysfs").expect("declared").put(input, folder.path()).expect("room");
    assert!(place.join("a/b").is_file() && place.join("d").is_file());
}

#[test]
fn trace_files_never_panic() {
    let traces = seeds::of(readers::reader("trace_perfetto").expect("declared"));
    smoke(&Target {
        name: "trace_files",
        run: fuzz_targets::trace_files,
        seeds: [seeds::logs(), traces].concat(),
        words: &["PELTONLG", "E", "F", "\u{80}"],
    });
}

/// The events of the recorded logs, and of a simulated machine that recorded calls.
fn event_seeds() -> Vec<Vec<u8>> {
    let logs = seeds::logs();
    let of = |log: &Vec<u8>| {
        let events = LogReader::open(&log[..]).expect("a recorded log");
        made_events::bytes_of(events.map(|event| event.expect("undamaged")))
    };
    let calls = seeds::files("tests/seeds", "calls.table.csv").remove(0);
    let calls = pelton_trace::import::csv::PeltCsv::new(std::io::Cursor::new(calls), std::path::Path::new("calls"));
    logs.iter().map(of).chain([made_events::bytes_of(all_of(calls))]).collect()
}

fn all_of(mut source: impl Source) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| source.next().expect("memory does not fail"))
        .map(|timed| (timed.time_ns, timed.event))
        .collect()
}

#[test]
fn any_events_can_be_validated() {
    let run = fuzz_targets::validate;
    smoke(&Target { name: "validate", run, seeds: event_seeds(), words: &["\u{1}", "\u{7f}"] });
}

#[test]
fn any_events_can_become_a_workload() {
    let run = fuzz_targets::workload_from_trace;
    smoke(&Target { name: "workload_from_trace", run, seeds: event_seeds(), words: &["\u{1}", "\u{7f}"] });
}

#[test]
fn any_events_can_be_replayed() {
    let run = fuzz_targets::read_then_simulate;
    fewer(&Target { name: "read_then_simulate", run, seeds: event_seeds(), words: &["\u{1}", "\u{7f}"] }, 8);
}

#[test]
fn rtapp_files_that_are_accepted_run() {
    let run = fuzz_targets::rtapp_then_simulate;
    fewer(
        &Target { name: "rtapp_then_simulate", run, ..of_reader(readers::reader("rtapp_json").expect("declared")) },
        8,
    );
}

#[test]
fn packed_files_never_panic() {
    let text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n";
    let log = seeds::logs().remove(0);
    let table = seeds::files("tests/seeds", "activations.table.csv").remove(0);
    let by = |how: u8, contents: &[u8]| [&[how, 0, 0][..], contents].concat();
    let seeds = (1..4).flat_map(|how| [by(how, text), by(how, &log), by(how, &table)]);
    let run = fuzz_targets::packed_trace;
    fewer(&Target { name: "packed_trace", run, seeds: seeds.collect(), words: &["\u{1f}\u{8b}", "\n", "[001]"] }, 4);
}

/// For targets that take longer: so many times fewer inputs.
fn fewer(target: &Target<'_>, times: u64) {
    if std::env::var_os("PELTON_FUZZ_SEEDS").is_some() {
        return smoke(target);
    }
    if let Err(failure) = target.smoke((inputs() / times).max(1)) {
        panic!("{}", failure.report(target.name));
    }
}
