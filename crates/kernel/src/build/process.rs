// SPDX-License-Identifier: GPL-2.0-or-later
//! Programs that a build runs: each in a process group of its own, which ends with the build.

use crate::Error;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, PipeReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two looks at the flag.
const LOOK: Duration = Duration::from_millis(20);
/// Longest line that is kept, bytes.
const LINE_BYTES_MAX: usize = 4096;
/// Most lines that are kept.
const LINES_MAX: usize = 10_000;

/// End of a program, and what it wrote.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Status.
    pub status: ExitStatus,
    /// Lines of standard output and error, as they came.
    pub lines: Vec<String>,
}

impl Ended {
    /// Last lines, in one text.
    pub fn tail(&self, count: usize) -> String {
        self.lines[self.lines.len().saturating_sub(count)..].join("\n")
    }
}

/// Variables by which make, the kernel's build and git do something else than what is asked for here.
const UNSET: &[&str] = &[
    "ARCH",
    "C",
    "CROSS_COMPILE",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "KAFLAGS",
    "KBUILD_EXTMOD",
    "KBUILD_OUTPUT",
    "KBUILD_VERBOSE",
    "KCFLAGS",
    "KCONFIG_ALLCONFIG",
    "KCONFIG_CONFIG",
    "KCPPFLAGS",
    "LLVM",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "O",
    "PATCH_GET",
    "POSIXLY_CORRECT",
    "SUBARCH",
    "V",
    "W",
];

/// A program; found by `PATH`, in the language that messages are read in.
pub fn program(name: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null()).env("LC_ALL", "C");
    for variable in UNSET {
        command.env_remove(variable);
    }
    command
}

/// Runs a program to its end, or until the flag is set; `line` takes each line that it writes.
///
/// # Errors
/// When it cannot be started, or the flag was set: then it and what it started are ended.
pub fn run(command: &mut Command, stop: &AtomicBool, line: &mut dyn FnMut(&str)) -> Result<Ended, Error> {
    let name = command.get_program().display().to_string();
    let failed = |error: std::io::Error| Error::machine(format!("cannot run {name}: {error}"), "");
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    command.stdout(writer.try_clone().map_err(failed)?).stderr(writer).process_group(0);
    let mut group = Group(command.spawn().map_err(failed)?);
    // The ends of the pipe that the command still has would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let lines = lines_of(reader);
    let mut kept = Vec::new();
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(text) => {
                line(&text);
                if kept.len() < LINES_MAX {
                    kept.push(text);
                }
            }
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(LOOK),
            Err(RecvTimeoutError::Timeout) => {}
        }
        check(stop)?;
        let Some(status) = group.0.try_wait().map_err(failed)? else { continue };
        // Programs that it left running have no reader any more.
        group.end();
        kept.extend(lines.iter().take(LINES_MAX).inspect(|text| line(text)));
        return Ok(Ended { status, lines: kept });
    }
}

/// Ends a build whose caller asks for it.
///
/// # Errors
/// When the flag is set.
pub fn check(stop: &AtomicBool) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
}

/// Lines of a pipe, read by a thread that ends with it.
fn lines_of(reader: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    let read = move || {
        let mut reader = BufReader::new(reader);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            bytes.truncate(LINE_BYTES_MAX);
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            bytes.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    };
    // Without the thread the pipe is closed and the program has no output, which a status says.
    let _ = std::thread::Builder::new().name("output".to_owned()).spawn(read);
    receiver
}

/// Process group of a program.
struct Group(Child);

impl Group {
    fn end(&self) {
        let group = i32::try_from(self.0.id()).unwrap_or(i32::MAX);
        // The group may have ended by itself.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.end();
            let _ = self.0.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, stop: &AtomicBool, line: &mut dyn FnMut(&str)) -> Result<Ended, Error> {
        run(program("sh", Path::new("/")).args(["-c", text]), stop, line)
    }

    #[test]
    fn output_and_status_are_returned() {
        let mut seen = 0;
        let ended =
            shell("echo one; echo two >&2; exit 3", &AtomicBool::new(false), &mut |_| seen += 1).expect("an end");
        assert_eq!((ended.status.code(), ended.tail(1), seen), (Some(3), "two".to_owned(), 2));
        let none = run(&mut program("no-such-program", Path::new("/")), &AtomicBool::new(false), &mut |_| ());
        assert!(none.is_err_and(|error| error.to_string().contains("no-such-program")));
    }

    #[test]
    fn a_program_and_what_it_started_end_with_the_flag() {
        let stop = AtomicBool::new(false);
        let mut child = 0;
        let result = shell("sleep 1000 & echo $!; wait", &stop, &mut |line| {
            child = line.parse().expect("a number");
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(result.expect_err("stopped"), Error::Stopped);
        let is_there = || {
            let status = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            !status.is_empty() && !status.contains(") Z ")
        };
        // The kernel takes a moment.
        for _ in 0..1000 {
            if !is_there() {
                break;
            }
            std::thread::park_timeout(LOOK);
        }
        assert!(child > 1 && !is_there());
    }
}
