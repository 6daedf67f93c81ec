// SPDX-License-Identifier: GPL-2.0-only
//! The core's bench in small, so that it cannot rot: it compiles, and its work does not depend on the optimisation level.

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
