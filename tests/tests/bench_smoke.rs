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
