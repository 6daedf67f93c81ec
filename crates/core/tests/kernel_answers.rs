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

/// Releases that kernel code is compiled of.
const RELEASES: [&str; 4] = ["5.10", "6.1", "6.12", "7.2"];
/// Those of which all other rules are asked.
const ENDS: [&str; 2] = ["5.10", "7.2"];
/// States that the third column of `answers.tsv` stands for.
const FEW: &str = "1000";

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
        let mut compiler = Command::new("cc");
        // Reading the headers takes longer than the states.
        compiler.args(["-std=gnu11", "-O0", "-I"]).arg(folder().join("../../core/include"));
        let inner = ["../../core/include/pelton", "../conformance", "host", ""].map(|inner| folder().join(inner));
        compiler.args(inner.iter().flat_map(|inner| [Path::new("-I"), inner]));
        compiler.args(sources()).arg("-o").arg(&program);
        let built = compiler.output().expect("a C compiler built this crate");
        assert!(built.status.success(), "{compiler:?}\n{}", String::from_utf8_lossy(&built.stderr));
        program
    })
}

fn sources() -> Vec<PathBuf> {
    let host = std::fs::read_dir(folder().join("host")).expect("the oracle's own files");
    let mut files: Vec<PathBuf> = host.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "c"));
    files.push(folder().join("alone.c"));
    files
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
    let path = folder().join(file);
    let lines = std::fs::read_to_string(&path).expect("a file of answers");
    let mut changed = Vec::new();
    for release in RELEASES {
        let answers = asked(release, args, File::open(&path).expect("it was read before").into());
        let (expected, found) = (kept(&lines, release, leaves), kept(&answers, release, leaves));
        assert!(!expected.is_empty() && expected.len() == found.len(), "{file}: {release}");
        let differ = expected.iter().zip(&found).filter(|(expected, found)| expected != found);
        changed.extend(differ.map(|(expected, _)| expected[..expected.len() - 1].join(" ")));
    }
    changed
}

#[test]
fn the_core_answers_as_kernels_did() {
    let changed = changed("answers.tsv", &["answers", FEW], 1);
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

/// All lines of `own.tsv`.
fn rules() -> String {
    let mut lines = String::new();
    for release in RELEASES {
        let all = asked(release, &["rules"], Stdio::null());
        for line in all.lines().filter(|line| ENDS.contains(&release) || line.contains("\t-\t")) {
            writeln!(lines, "{line}").expect("a text");
        }
    }
    lines
}
