// SPDX-License-Identifier: GPL-2.0-or-later
//! The core against the reference, in every build this machine can make.
//!
//! `PELTON_CONFORMANCE_CALLS=N` compares N operations per build instead of the numbers below.

use std::path::{Path, PathBuf};

use pelton_tests::conformance::bpf;
use pelton_tests::conformance::builds::{self, Build, Core, Process};
use pelton_tests::conformance::suite;

/// Seed of the first episode of every build.
const SEED: u64 = 20_261_120;
/// Operations for the build the simulator uses.
const CALLS_FAST: usize = 1_000_000;
/// Operations for native builds that are slower or only differ in the compiler's choices.
const CALLS_SLOW: usize = 300_000;
/// Operations for the bytecode interpreter.
const CALLS_BPF: usize = 600_000;
/// Operations that are written into a file.
const CALLS_RECORDED: usize = 5_000;
/// A wrong constant must show within this many operations.
const CALLS_CANARY: usize = 50_000;

fn out_dir() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance");
    std::fs::create_dir_all(&dir).expect("the target folder is writable");
    dir
}

fn calls(default: usize) -> usize {
    std::env::var("PELTON_CONFORMANCE_CALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn agrees(name: &str, core: &mut impl Core, calls: usize) {
    match suite::compare(core, SEED, calls) {
        Ok(total) => println!("{name}: {} operations in {} episodes agree", total.calls, total.episodes),
        Err(text) => panic!("{name}: {text}"),
    }
}

fn native_agrees(build: Build, default_calls: usize) {
    if let Err(why) = builds::is_supported(build, &out_dir()) {
        println!("not measured: {} build: {}", build.name, why.lines().next().unwrap_or("the probe failed"));
        return;
    }
    let mut process = Process::start(build, &out_dir()).expect("the entry function compiles");
    agrees(build.name, &mut process, calls(default_calls));
}

#[test]
fn optimized_build_agrees_over_a_million_operations() {
    native_agrees(builds::O2, CALLS_FAST);
}

#[test]
fn build_without_optimization_agrees_and_keeps_its_bounds() {
    native_agrees(builds::O0, CALLS_SLOW);
}

#[test]
fn build_that_stops_at_undefined_behaviour_agrees() {
    native_agrees(builds::UBSAN, CALLS_SLOW);
}

#[test]
fn build_for_32_bits_agrees() {
    native_agrees(builds::M32, CALLS_SLOW);
}

/// Calls and answers of the twin in two files, as `host.c` reads and writes them: `cargo xtask mutants` judges by them
/// (PELTON_CONFORMANCE_RECORD names the folder).
#[test]
fn a_recording_has_two_words_for_each_call() {
    let folder = std::env::var_os("PELTON_CONFORMANCE_RECORD").map_or_else(out_dir, PathBuf::from);
    let calls = calls(CALLS_RECORDED);
    let (words, answers) = suite::recording(SEED, calls);
    for (name, words) in [("calls", &words), ("answers", &answers)] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        std::fs::write(folder.join(name), bytes).expect("the folder is writable");
    }
    assert!(answers.len() >= 2 * calls && words.len() > 8 * calls);
}

/// Programs in bytecode, where this machine has a compiler for them.
fn bytecode(flags: &[&str]) -> Option<Vec<bpf::Program>> {
    match bpf::build(&out_dir(), flags) {
        Ok(programs) => Some(programs),
        Err(why) if bpf::is_missing(&why) => {
            println!("not measured: BPF bytecode: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn bytecode_agrees() {
    let Some(programs) = bytecode(&[]) else { return };
    let mut interpreter = bpf::Interpreter::new(&programs).expect("the programs load");
    agrees("bpf", &mut interpreter, calls(CALLS_BPF));
    if calls(CALLS_BPF) >= CALLS_BPF {
        assert!(interpreter.not_called().is_empty(), "never called: {:?}", interpreter.not_called());
    }
}

#[test]
fn a_wrong_largest_sum_in_bytecode_is_caught() {
    let Some(programs) = bytecode(builds::CANARY_SUM.flags) else { return };
    let mut interpreter = bpf::Interpreter::new(&programs).expect("the programs load");
    difference(&mut interpreter);
}

/// A wrong constant shows, and the message says where.
fn difference(core: &mut impl Core) {
    let text = suite::compare(core, SEED, CALLS_CANARY).expect_err("a wrong constant goes unnoticed");
    assert!(text.contains("first difference") && text.contains("rules: docs/"), "{text}");
}

fn is_caught(canary: Build) {
    let mut process = Process::start(canary, &out_dir()).expect("the entry function compiles");
    difference(&mut process);
}

#[test]
fn a_wrong_largest_sum_is_caught() {
    is_caught(builds::CANARY_SUM);
}

#[test]
fn a_wrong_decay_factor_is_caught() {
    is_caught(builds::CANARY_FACTOR);
}

#[test]
fn dice_with_a_side_too_few_are_caught() {
    is_caught(builds::CANARY_DICE);
}

#[test]
fn a_share_of_searches_that_grows_too_fast_is_caught() {
    is_caught(builds::CANARY_RATE);
}

#[test]
fn dice_with_a_side_too_few_in_bytecode_are_caught() {
    let Some(programs) = bytecode(builds::CANARY_DICE.flags) else { return };
    let mut interpreter = bpf::Interpreter::new(&programs).expect("the programs load");
    difference(&mut interpreter);
}

#[test]
fn waiting_tasks_of_capped_cpus_as_demand_is_caught() {
    is_caught(builds::CANARY_CLAMPS);
}

#[test]
fn waiting_tasks_of_capped_cpus_as_demand_in_bytecode_is_caught() {
    let Some(programs) = bytecode(builds::CANARY_CLAMPS.flags) else { return };
    let mut interpreter = bpf::Interpreter::new(&programs).expect("the programs load");
    difference(&mut interpreter);
}

#[test]
fn a_bucket_of_clamps_that_forgets_is_caught() {
    is_caught(builds::CANARY_FORGETS);
}

#[test]
fn buckets_of_clamps_that_are_rounded_down_are_caught() {
    is_caught(builds::CANARY_ROUNDS);
}

#[test]
fn groups_that_limit_nobody_are_caught() {
    is_caught(builds::CANARY_UNLIMITED);
}

#[test]
fn an_upper_clamp_that_leaves_with_the_last_task_is_caught() {
    is_caught(builds::CANARY_OPENS);
}

#[test]
fn groups_that_limit_nobody_in_bytecode_are_caught() {
    let Some(programs) = bytecode(builds::CANARY_UNLIMITED.flags) else { return };
    let mut interpreter = bpf::Interpreter::new(&programs).expect("the programs load");
    difference(&mut interpreter);
}

#[test]
fn timers_of_interactive_that_never_begin_anew_are_caught() {
    is_caught(builds::CANARY_INTERACTIVE);
}

#[test]
fn timers_of_interactive_that_never_begin_anew_are_caught_in_bytecode() {
    let Some(programs) = bytecode(builds::CANARY_INTERACTIVE.flags) else { return };
    let mut interpreter = bpf::Interpreter::new(&programs).expect("the programs load");
    difference(&mut interpreter);
}
