// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings made inside real kernels, held against the core; and the same recordings with a fault put in.
//!
//! The recordings are not part of the repository; without them the tests say so and pass.

use std::path::PathBuf;

use pelton_core::Policy;
use pelton_replay::validate::{Options, Report, Size, Validator, Verdict, alter_test, drop_test, self_test, validate};
use pelton_schema::Event;
use pelton_trace::import::{OpenOptions, open};

fn recording(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PELTON_SHARED_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join("kernel-pelt").join(name);
    if !path.is_file() {
        println!("not measured: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn options(profile: &str) -> Options {
    let policy = Policy::profile(profile).expect("profile exists");
    Options { policy, machine: None }
}

fn checked(name: &str, profile: &str) -> Option<Report> {
    let mut source = open(&recording(name)?, &OpenOptions::default()).expect("a readable recording");
    Some(validate(&mut *source, options(profile), &mut |_| true).expect("a readable recording"))
}

fn count(report: &Report, signal: &str) -> (u64, u64) {
    report.signals.get(signal).map_or((0, 0), |tally| (tally.exact, tally.divergent))
}

#[test]
fn nothing_of_the_calls_inside_a_7_2_kernel_diverges() {
    let files = ["1-single-cfs", "2-cfs-rt", "3-ten-tasks", "5-clock-chain"];
    let mut exact = 0;
    for file in files {
        let Some(report) = checked(&format!("7.2-arm64/{file}.csv.gz"), "7.2") else { return };
        assert_eq!((report.divergent, &report.first), (0, &None), "{file}");
        let calls = ["entity", "blocked_entity", "queue", "rt", "dl"];
        exact += calls.iter().map(|signal| count(&report, signal).0).sum::<u64>();
        let chain = &report.signals["chain"];
        assert_eq!(chain.checked, chain.exact + chain.classes.values().sum::<u64>(), "{file}");
    }
    assert!(exact > 160_000, "only {exact} calls");
}

#[test]
fn every_step_of_the_clocks_and_what_happens_between_them_is_explained() {
    let Some(report) = checked("7.2-arm64/5-clock-chain.csv.gz", "7.2") else { return };
    assert_eq!(count(&report, "rq_clock"), (8391, 0));
    let chain = &report.signals["rq_clock_chain"];
    assert_eq!((chain.classes.get("idle synchronisation"), chain.divergent), (Some(&514), 0));
    assert_eq!(count(&report, "lost_idle").1, 0);
}

#[test]
fn every_choice_of_schedutil_in_a_7_2_kernel_is_recomputed() {
    let Some(report) = checked("7.2-arm64/6-decisions.csv.gz", "7.2") else { return };
    assert_eq!(count(&report, "next_freq"), (4947, 0));
    assert_eq!(count(&report, "effective_perf"), (13204, 0));
    assert_eq!(count(&report, "effective_util").1, 0);
    let (set, wrong) = count(&report, "cpu_frequency");
    assert!(set > 200 && wrong == 0, "{set} set as chosen, {wrong} not: {:?}", report.first);
}

#[test]
fn nothing_of_the_tracepoints_of_a_6_18_kernel_diverges() {
    for (file, at_least) in [("1-single-cfs", 9_000), ("3-ten-tasks", 87_000)] {
        let Some(report) = checked(&format!("6.18-x86/{file}.csv.gz"), "6.18") else { return };
        assert!(report.holes > 0 && report.resynchronised > 0, "{file}: the recording has holes");
        assert!(report.updates > at_least, "{file}: {}", report.updates);
        assert_eq!(report.divergent, 0, "{file}: {:?}", report.first);
    }
}

#[test]
fn every_fault_put_into_a_recording_is_found() {
    for (file, at_least) in [("7.2-arm64/5-clock-chain", 6), ("7.2-arm64/6-decisions", 1), ("6.18-x86/1-single-cfs", 5)]
    {
        let Some(path) = recording(&format!("{file}.csv.gz")) else { return };
        let again = || open(&path, &OpenOptions::default());
        let profile = if file.starts_with("7.2") { "7.2" } else { "6.18" };
        let results = self_test(&again, &options(profile)).expect("a readable recording");
        assert!(results.iter().filter(|r| r.possible).count() >= at_least, "{file}: {results:?}");
        for result in results.iter().filter(|r| r.possible) {
            assert!(result.found, "{file}: {result:?}");
        }
    }
}

#[test]
fn a_core_with_a_constant_that_is_off_by_one_is_noticed_in_tracepoints_and_calls() {
    for (file, profile) in [("7.2-arm64/1-single-cfs", "7.2"), ("6.18-x86/1-single-cfs", "6.18")] {
        let Some(path) = recording(&format!("{file}.csv.gz")) else { return };
        let again = || open(&path, &OpenOptions::default());
        let results = self_test(&again, &options(profile)).expect("a readable recording");
        let wrong: Vec<_> = results.iter().filter(|r| r.fault.starts_with("the largest sum of the core")).collect();
        assert_eq!(wrong.len(), 2, "one too small and one too large");
        // Most records are one of many in a period, or hold an average that rounds to the same.
        assert!(wrong.iter().all(|r| r.found && r.divergent > 20), "{file}: {wrong:?}");
    }
}

#[test]
fn single_altered_records_of_tracepoints_are_noticed() {
    let Some(path) = recording("6.18-x86/3-ten-tasks.csv.gz") else { return };
    let mut source = open(&path, &OpenOptions::default()).expect("a readable recording");
    let results = alter_test(&mut *source, &options("6.18")).expect("a readable recording");
    // Thousandths that passed as reproduced, by size of what was altered.
    for (size, at_most) in [(Size::One, 40), (Size::Small, 20), (Size::Large, 20)] {
        let r = &results[&size];
        assert!(r.altered > 100, "{size:?}: {r:?}");
        assert!(r.let_pass * 1000 <= r.altered * at_most, "{size:?}: {r:?}");
        assert_eq!(r.exact, 0, "{size:?}: {r:?}");
    }
}

#[test]
fn every_single_missing_call_that_changed_something_is_noticed() {
    for file in ["1-single-cfs", "2-cfs-rt", "5-clock-chain"] {
        let Some(path) = recording(&format!("7.2-arm64/{file}.csv.gz")) else { return };
        let mut source = open(&path, &OpenOptions::default()).expect("a readable recording");
        let result = drop_test(&mut *source, &options("7.2")).expect("a readable recording");
        assert!(result.taken_out > 100, "{file}: {result:?}");
        assert_eq!((result.explained, result.noticed), (0, result.taken_out - result.changed_nothing), "{file}");
    }
}

#[test]
fn numbers_no_kernel_can_have_are_damage_and_do_not_reach_the_core() {
    let Some(path) = recording("7.2-arm64/1-single-cfs.csv.gz") else { return };
    let mut source = open(&path, &OpenOptions::default()).expect("a readable recording");
    let mut validator = Validator::new(options("7.2"));
    let mut states = 0;
    while let Some(mut timed) = source.next().expect("a readable recording") {
        if let Event::PeltState { period_contrib, load_sum, last_update_time_ns, .. } = &mut timed.event {
            states += 1;
            match states {
                100 => *period_contrib = 1024,
                200 => *load_sum = u64::MAX,
                300 => *last_update_time_ns = u64::MAX,
                400 => *period_contrib = u32::MAX,
                _ => {}
            }
        }
        validator.event(&timed);
    }
    let report = validator.finish();
    let first = report.first_damaged.expect("four are damaged");
    assert_eq!((report.damaged, first.column, first.value, first.limit), (4, "period_contrib", 1024, 1023));
    assert_eq!(report.verdict(), Verdict::Differs);
}

/// Explanations of a class are asked about in altered form too, however they came about: from the last state known, or
/// from one that its queue has shown since.
#[test]
fn the_control_asks_what_was_answered() {
    const STATES_MAX: u64 = 64;
    for (file, profile) in [("7.2-arm64/3-ten-tasks", "7.2"), ("6.18-x86/1-single-cfs", "6.18")] {
        let Some(report) = checked(&format!("{file}.csv.gz"), profile) else { return };
        let mut records = std::collections::BTreeMap::<&str, u64>::new();
        for signal in ["chain", "entity", "queue"] {
            let classes = report.signals.get(signal).map(|tally| &tally.classes).into_iter().flatten();
            classes.for_each(|(class, n)| *records.entry(class).or_default() += n);
        }
        assert!(!records.is_empty(), "{file}");
        for (class, n) in records {
            let states = report.challenges.get(class).map_or(0, |challenge| challenge.states);
            assert_eq!(states, n.min(STATES_MAX), "{file}: {class}");
        }
    }
}
