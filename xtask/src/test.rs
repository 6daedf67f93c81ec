// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs every test and ends with one line that counts them. What tests could not measure here is listed before it:
//! a test that passes because something is missing must not look like one that ran.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::repo;

/// Tests counted over all test binaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    /// Adds the figures of a `test result:` line; other lines change nothing.
    fn add_line(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        for part in result.split([';', '.']) {
            let words: Vec<&str> = part.split_whitespace().collect();
            match words.as_slice() {
                [number, "passed"] => self.passed += number.parse().unwrap_or(0),
                [number, "failed"] => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }

    /// A run that counted nothing, or whose runner failed without naming a test, is one failure.
    fn judge(mut self, runner_ok: bool) -> Count {
        if self.failed == 0 && (!runner_ok || self.passed == 0) {
            self.failed = 1;
        }
        self
    }
}

/// What cargo prints, as far as people need it.
#[derive(Debug, Default)]
struct Screen {
    count: Count,
    /// Inside the output of tests that passed, which is shown only where it says that something was not measured.
    in_successes: bool,
    not_measured: BTreeSet<String>,
}

impl Screen {
    /// Takes one line; true when it is to be printed.
    fn take(&mut self, line: &str) -> bool {
        self.count.add_line(line);
        if line == "successes:" {
            self.in_successes = true;
        } else if line == "failures:" || line.starts_with("test result:") {
            self.in_successes = false;
        }
        if self.in_successes && line.starts_with("not measured") {
            self.not_measured.insert(line.to_owned());
        }
        !self.in_successes
    }
}

/// `args` for cargo, with the output of passing tests requested.
fn with_output<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let mut args = args.to_vec();
    if !args.contains(&"--") {
        args.push("--");
    }
    args.push("--show-output");
    args
}

/// `cargo test --workspace` with `args` added.
pub fn run(args: &[&str]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut child = Command::new(cargo)
        .current_dir(repo::root())
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(with_output(args))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo test: {error}"))?;
    let mut screen = Screen::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if screen.take(&line) {
                println!("{line}");
            }
        }
    }
    let status = child.wait().map_err(|error| format!("cargo test: {error}"))?;
    screen.not_measured.iter().for_each(|line| println!("{line}"));
    let count = screen.count.judge(status.success());
    println!("{} passed, {} failed", count.passed, count.failed);
    if count.failed == 0 { Ok(()) } else { Err(String::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(lines: &[&str]) -> Count {
        let mut count = Count::default();
        lines.iter().for_each(|line| count.add_line(line));
        count
    }

    #[test]
    fn results_of_all_binaries_are_added() {
        let lines = [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ];
        assert_eq!(count(&lines), Count { passed: 4, failed: 2 });
    }

    #[test]
    fn what_was_not_measured_is_kept_and_other_output_of_passing_tests_is_dropped() {
        let mut screen = Screen::default();
        let lines = [
            "test a ... ok",
            "successes:",
            "---- a stdout ----",
            "not measured: no clang",
            "chatter",
            "failures:",
            "---- b stdout ----",
            "why b failed",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ];
        let printed: Vec<&str> = lines.into_iter().filter(|line| screen.take(line)).collect();
        assert_eq!(printed, [lines[0], lines[5], lines[6], lines[7], lines[8]]);
        assert!(screen.not_measured.iter().eq(["not measured: no clang"]));
        assert_eq!(screen.count, Count { passed: 1, failed: 1 });
    }

    #[test]
    fn arguments_for_the_test_programs_stay_behind_their_mark() {
        assert_eq!(with_output(&["-p", "x"]), ["-p", "x", "--", "--show-output"]);
        assert_eq!(with_output(&["--", "name"]), ["--", "name", "--show-output"]);
    }

    #[test]
    fn a_broken_build_is_a_failure_even_when_no_test_failed() {
        assert_eq!(Count { passed: 5, failed: 0 }.judge(false), Count { passed: 5, failed: 1 });
        assert_eq!(Count { passed: 5, failed: 2 }.judge(false), Count { passed: 5, failed: 2 });
    }

    #[test]
    fn a_run_without_tests_is_a_failure() {
        assert_eq!(Count::default().judge(true).failed, 1);
        assert_eq!(Count { passed: 1, failed: 0 }.judge(true).failed, 0);
    }
}
