// SPDX-License-Identifier: GPL-2.0-or-later
//! The core's bench in small, so that it cannot rot: it compiles, and its work does not depend on the optimisation
//! level.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository")
}

fn compile(level: &str) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("core_bench{level}"));
    let mut compiler = Command::new("cc");
    compiler.args([level, "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("core/include"));
    compiler.arg(root().join("bench/core_bench.c")).arg("-o").arg(&program);
    let status = compiler.status().expect("a C compiler is needed to build the core as well");
    assert!(status.success(), "{compiler:?}");
    program
}

/// Case names and work hashes.
fn work(program: &Path, iterations: &str) -> Vec<(String, String)> {
    let output = Command::new(program).args(["all", iterations]).output().expect("the bench was just compiled");
    assert!(output.status.success());
    let field = |line: &str, key: &str| {
        let value = line.split(&format!("\"{key}\": \"")).nth(1).expect("every line has bench and hash");
        value.split('"').next().unwrap_or("").to_owned()
    };
    String::from_utf8_lossy(&output.stdout).lines().map(|line| (field(line, "bench"), field(line, "hash"))).collect()
}

#[test]
fn work_is_the_same_at_every_optimisation_level_and_depends_on_the_iterations() {
    let plain = compile("-O0");
    let fast = compile("-O2");
    let expected = work(&plain, "200");
    assert!(expected.len() >= 4, "{expected:?}");
    assert_eq!(expected, work(&fast, "200"));
    for (one, other) in expected.iter().zip(work(&fast, "201")) {
        assert_ne!(*one, other, "the hash must see every iteration");
    }
}

/// Instructions of an event of the case, counted by callgrind; `None`: it did not run.
fn instructions(program: &Path, case: &str) -> Option<u64> {
    const EVENTS: u64 = 200;
    const REPETITIONS: u64 = 5;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--toggle-collect=case_{case}")).arg(program).args([case, &EVENTS.to_string()]);
    let output = valgrind.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let all: u64 = text.split("Collected :").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some(all / EVENTS / REPETITIONS)
}

/// An event costs the same beside ten queued tasks and beside a thousand, however clamps are put together; at most a
/// twentieth more, for a branch is not a loop. Android's form is what the check has to see: it looks at every group.
#[test]
fn an_event_of_clamps_costs_the_same_whatever_is_queued() {
    let program = compile("-O2");
    let count = |case: &str| instructions(&program, case);
    if count("clamps_max_10").is_none() {
        return println!("not measured: instructions of clamps (valgrind did not run)");
    }
    let pair = |case: &str, sizes: [u32; 2]| {
        sizes.map(|n| count(&format!("{case}_{n}")).unwrap_or_else(|| panic!("{case}_{n} ran and was not counted")))
    };
    for form in ["max", "sum", "bias", "bias_weighted", "debt"] {
        let [few, many] = pair(&format!("clamps_{form}"), [10, 1000]);
        assert!(few > 50 && many * 20 <= few * 21, "{form}: {few} instructions beside 10 tasks, {many} beside 1000");
    }
    let [few, many] = pair("groups_throttled", [10, 64]);
    assert!(many > few * 4, "groups: {few} instructions with 10, {many} with 64: a loop is not seen");
}

/// A wake-up looks at the CPUs of a cache. They are twice as many on the machines of 64 and 384 CPUs as on that of 8,
/// so it costs at most twice as much, as the kernel's function does (docs/benchmarks.md). New tasks are what the check
/// has to see: they look at every CPU.
#[test]
fn a_wake_up_costs_no_more_on_a_machine_of_many_cpus() {
    let program = compile("-O2");
    let count = |case: &str| instructions(&program, case);
    if count("place_smt_8_idle").is_none() {
        return println!("not measured: instructions of placements (valgrind did not run)");
    }
    let counted = |case: String| count(&case).unwrap_or_else(|| panic!("{case} ran and was not counted"));
    for state in ["idle", "half", "busy"] {
        let [few, some, many] = [8, 64, 384].map(|cpus| counted(format!("place_smt_{cpus}_{state}")));
        assert!(few > 50 && some <= 2 * few && many <= 2 * few, "{state}: {few}, {some} and {many} instructions");
    }
    let [few, many] = [8, 64].map(|cpus| counted(format!("place_fork_smt_{cpus}_half")));
    assert!(many > 2 * few, "new tasks: {few} instructions among 8 CPUs, {many} among 64: a loop is not seen");
}
