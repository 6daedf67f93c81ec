// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs every test and ends with one line that counts them. What tests could not measure here is listed before it:
//! a test that passes because something is missing must not look like one that ran.

mod programs;

use std::collections::BTreeSet;
use std::sync::Mutex;

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

/// Cargo's output, as far as people need it.
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

    fn show(&mut self, line: &str) {
        if self.take(line) {
            println!("{line}");
        }
    }
}

/// Arguments of a caller: what cargo builds, and what each program is asked.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    cargo: &'a [&'a str],
    programs: &'a [&'a str],
}

/// Cargo's flags that choose programs; documentation is not asked for beside them.
const CHOICES: [&str; 10] =
    ["--test", "--tests", "--lib", "--bin", "--bins", "--bench", "--benches", "--example", "--examples", "--doc"];

impl<'a> Asked<'a> {
    fn parse(args: &'a [&'a str]) -> Result<Asked<'a>, String> {
        let (cargo, programs) = match args.iter().position(|arg| *arg == "--") {
            Some(at) => (&args[..at], &args[at + 1..]),
            None => (args, &args[..0]),
        };
        let value = |at: usize| at > 0 && cargo[at - 1].starts_with('-') && !cargo[at - 1].contains('=');
        match (0..cargo.len()).find(|at| !cargo[*at].starts_with('-') && !value(*at)) {
            Some(at) => Err(format!("names of tests stand behind `--`: cargo xtask test -- {}", cargo[at])),
            None => Ok(Asked { cargo, programs }),
        }
    }

    fn with_documentation(&self) -> bool {
        !self.cargo.iter().any(|arg| CHOICES.contains(&arg.split('=').next().unwrap_or(arg)))
    }
}

/// All tests of the workspace; see `Asked` for `args`.
pub fn run(args: &[&str]) -> Result<(), String> {
    let asked = Asked::parse(args)?;
    let programs = programs::build(asked.cargo)?;
    let screen = Mutex::new(Screen::default());
    let mut good = programs::run_all(&programs, asked.programs, &|lines| show(&screen, lines))?;
    let mut screen = screen.into_inner().map_err(|error| error.to_string())?;
    if asked.with_documentation() {
        good &= programs::documentation(&asked, &mut |line| screen.show(line))?;
    }
    screen.not_measured.iter().for_each(|line| println!("{line}"));
    let count = screen.count.judge(good);
    println!("{} passed, {} failed", count.passed, count.failed);
    if count.failed == 0 { Ok(()) } else { Err(String::new()) }
}

/// Prints what a program said, in one piece.
fn show(screen: &Mutex<Screen>, lines: &str) {
    if let Ok(mut screen) = screen.lock() {
        lines.lines().for_each(|line| screen.show(line));
    }
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
    fn arguments_for_the_programs_stand_behind_their_mark() {
        let args = ["--exclude", "x", "--no-default-features", "--", "name"];
        let asked = Asked::parse(&args);
        assert_eq!(asked, Ok(Asked { cargo: &args[..3], programs: &args[4..] }));
        assert!(asked.is_ok_and(|asked| asked.with_documentation()));
        let chosen = ["--test", "sim_tests"];
        assert!(Asked::parse(&chosen).is_ok_and(|asked| !asked.with_documentation()));
    }

    #[test]
    fn a_name_that_would_choose_nothing_is_refused() {
        let message = Asked::parse(&["pelt"]).expect_err("all would run");
        assert_eq!(message, "names of tests stand behind `--`: cargo xtask test -- pelt");
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
