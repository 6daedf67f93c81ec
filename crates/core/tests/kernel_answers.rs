// SPDX-License-Identifier: GPL-2.0-or-later
//! Answers in the states that the core is compared with kernels' own compiled code in, asked again without a kernel.
//!
//! `tests/oracle/answers.tsv` has a number for each release and operation, which `make test-oracle` writes where the
//! kernel answers the same. `tests/oracle/own.tsv` has what no kernel says: the terms of a decision, and every other
//! rule that an operation notices.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

/// The core's side of the oracle, without a kernel; PELTON_ORACLE_ALONE names one that was built before.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(program) = std::env::var_os("PELTON_ORACLE_ALONE") {
            return program.into();
        }
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("oracle-alone");
        let mut script = Command::new(folder().join("../../scripts/oracle/alone.sh"));
        // Reading the headers takes longer than the states: nothing is optimized.
        script.arg(&program).arg(folder().join("../../core/include")).arg("-O0");
        let built = script.output().expect("bash and a C compiler, which built this crate");
        assert!(built.status.success(), "{script:?}\n{}", String::from_utf8_lossy(&built.stderr));
        program
    })
}

fn read(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).expect("a file of answers")
}

/// Releases that kernel code was compiled of, in the order of the file.
fn releases(answers: &str) -> Vec<&str> {
    let mut all: Vec<&str> = answers.lines().filter_map(|line| line.split('\t').next()).collect();
    all.dedup();
    all
}

/// Output of the program as a release that is given `lines`.
fn asked(release: &str, args: &[&str], lines: Stdio) -> String {
    let mut program = Command::new(program());
    let out =
        program.args(args).env("ORACLE_RELEASE", release).stdin(lines).output().expect("the program was just built");
    assert!(out.status.success(), "{release} {args:?}: {}", out.status);
    String::from_utf8(out.stdout).expect("names and numbers")
}

/// The columns of lines that matter: all but the last `leaves`.
fn kept<'a>(lines: &'a str, release: &str, leaves: usize) -> Vec<Vec<&'a str>> {
    let of = lines.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|line| line[0] == release);
    of.map(|line| line[..line.len() - leaves].to_vec()).collect()
}

/// Names of what is answered otherwise than a file says.
fn changed(file: &str, args: &[&str], leaves: usize) -> Vec<String> {
    let (lines, all) = (read(file), read("answers.tsv"));
    let mut changed = Vec::new();
    for release in releases(&all) {
        let given = File::open(folder().join(file)).expect("it was read before");
        let answers = asked(release, args, given.into());
        let (expected, found) = (kept(&lines, release, leaves), kept(&answers, release, leaves));
        assert!(!expected.is_empty() && expected.len() == found.len(), "{file}: {release}");
        let differ = expected.iter().zip(&found).filter(|(expected, found)| expected != found);
        changed.extend(differ.map(|(expected, _)| expected[..expected.len() - 1].join(" ")));
    }
    changed
}

#[test]
fn the_core_answers_as_kernels_did() {
    let changed = changed("answers.tsv", &["answers", "few"], 1);
    assert!(
        changed.is_empty(),
        "answered otherwise than by the kernel's own code; `make test-oracle` shows a state:\n{}",
        changed.join("\n")
    );
}

#[test]
fn the_core_answers_as_before_under_every_rule() {
    if std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|value| value == "write") {
        std::fs::write(folder().join("own.tsv"), rules()).expect("the project's folder");
    }
    let changed = changed("own.tsv", &["own"], 0);
    assert!(
        changed.is_empty(),
        "answered otherwise than before; if that was to be, PELTON_SNAPSHOTS=write with this test writes own.tsv:\n{}",
        changed.join("\n")
    );
}

/// All lines of `own.tsv`: other rules are asked of the oldest and of the newest release.
fn rules() -> String {
    let all = read("answers.tsv");
    let releases = releases(&all);
    let ends = [releases.first(), releases.last()];
    let mut lines = String::new();
    for release in &releases {
        let all = asked(release, &["rules"], Stdio::null());
        for line in all.lines().filter(|line| ends.contains(&Some(release)) || line.contains("\t-\t")) {
            writeln!(lines, "{line}").expect("a text");
        }
    }
    lines
}
