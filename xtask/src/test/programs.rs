// SPDX-License-Identifier: GPL-2.0-or-later
//! Test programs, several at once: most of them end with one long test, beside which other CPUs have nothing to do.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use super::Asked;
use crate::repo;

/// Programs at once. Each has as many threads as there are CPUs: more programs would only wait for each other.
const AT_ONCE: usize = 2;

/// A program of tests.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    /// Folder of its crate, where tests expect to run.
    folder: PathBuf,
    executable: PathBuf,
}

/// Builds the test programs of the workspace, the largest first: they take longest.
pub fn build(flags: &[&str]) -> Result<Vec<Program>, String> {
    let mut command = cargo(&["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    let child = command.args(flags).stdout(Stdio::piped()).spawn().map_err(|error| format!("cargo test: {error}"))?;
    let output = child.wait_with_output().map_err(|error| format!("cargo test: {error}"))?;
    if !output.status.success() {
        return Err("the tests cannot be built".to_owned());
    }
    let mut programs: Vec<Program> = String::from_utf8_lossy(&output.stdout).lines().filter_map(program).collect();
    programs.sort_by_key(|program| std::cmp::Reverse(size(&program.executable)));
    Ok(programs)
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(cargo_path());
    command.current_dir(repo::root()).args(args).stdin(Stdio::null());
    command
}

fn cargo_path() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// The test program of one of cargo's messages.
fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message.get("profile")?.get("test")? != true {
        return None;
    }
    let folder = Path::new(message.get("manifest_path")?.as_str()?).parent()?.to_owned();
    let name = message.get("target")?.get("name")?.as_str()?.to_owned();
    Some(Program { name, folder, executable: PathBuf::from(message.get("executable")?.as_str()?) })
}

/// Runs all programs and gives each one's output to `show`; true when all ended well.
pub fn run_all(programs: &[Program], args: &[&str], show: &(dyn Fn(&str) + Sync)) -> Result<bool, String> {
    let next = Mutex::new(programs.iter());
    let good = Mutex::new(true);
    let work = || -> Result<(), String> {
        loop {
            // A line of its own: the condition of `while let` would hold the lock while the program runs.
            let program = next.lock().map_err(|error| error.to_string())?.next();
            let Some(program) = program else { return Ok(()) };
            show(&format!("     Running {} ({})\n", program.name, program.folder.display()));
            let output = program.run(args)?;
            show(&program.said(&output));
            *good.lock().map_err(|error| error.to_string())? &= output.status.success();
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread ended early".to_owned())?)
    })?;
    good.into_inner().map_err(|error| error.to_string())
}

impl Program {
    /// Runs it as cargo does, with the output of passing tests requested.
    fn run(&self, args: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO", cargo_path()).env("CARGO_MANIFEST_DIR", &self.folder);
        command.args(args).arg("--show-output").stdin(Stdio::null());
        command.output().map_err(|error| format!("{}: {error}", self.executable.display()))
    }

    /// Its output, with its name above.
    fn said(&self, output: &Output) -> String {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let ended = if output.status.success() { String::new() } else { format!("{}: {}\n", self.name, output.status) };
        format!("\n     {}:\n{out}{err}{ended}", self.name)
    }
}

/// Runs the examples of the documentation; true when they ended well.
pub fn documentation(asked: &Asked, show: &mut dyn FnMut(&str)) -> Result<bool, String> {
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast", "--doc"]);
    command.args(asked.cargo).arg("--").args(asked.programs).arg("--show-output");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("cargo test: {error}"))?;
    let lines = child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines().map_while(Result::ok));
    lines.for_each(|line| show(&line));
    Ok(child.wait().map_err(|error| format!("cargo test: {error}"))?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_programs_are_run() {
        let message = |test: bool, executable: &str| {
            format!(
                "{{\"manifest_path\":\"/r/crates/x/Cargo.toml\",\"target\":{{\"name\":\"x_tests\"}},\
                 \"profile\":{{\"test\":{test}}},\"executable\":{executable}}}"
            )
        };
        let found = program(&message(true, "\"/r/target/x_tests-1\"")).expect("a test program");
        assert_eq!((found.name.as_str(), found.folder.to_str()), ("x_tests", Some("/r/crates/x")));
        assert_eq!(program(&message(false, "\"/r/target/x\"")), None);
        assert_eq!(program(&message(true, "null")), None);
        assert_eq!(program("Compiling x"), None);
    }

    #[test]
    fn two_programs_run_at_once() {
        let root = std::env::temp_dir().join(format!("pelton-two-programs-{}", std::process::id()));
        let programs = ["a", "b"].map(|name| {
            let folder = root.join(name);
            std::fs::create_dir_all(&folder).expect("a folder of its own");
            Program { name: name.to_owned(), folder, executable: PathBuf::from("/bin/sh") }
        });
        // Each waits for the other's file: one after the other they would fail.
        let both = "[ -e ../a/here ] && [ -e ../b/here ] && exit 0";
        let script = format!(": >here; for i in $(seq 1000); do {both}; sleep 0.01; done; exit 1");
        let good = run_all(&programs, &["-c", &script], &|_| {});
        std::fs::remove_dir_all(&root).expect("it is there");
        assert_eq!(good, Ok(true));
    }

    #[test]
    fn a_program_that_dies_is_named_with_its_end() {
        let programs = ["/bin/true", "/bin/false"].map(|path| Program {
            name: path.to_owned(),
            folder: PathBuf::from("/"),
            executable: PathBuf::from(path),
        });
        let said = Mutex::new(String::new());
        let good = run_all(&programs, &[], &|lines| said.lock().expect("no panic").push_str(lines));
        assert_eq!(good, Ok(false));
        let said = said.into_inner().expect("no panic");
        assert!(said.contains("/bin/false: exit status: 1") && !said.contains("/bin/true: "), "{said}");
    }
}
