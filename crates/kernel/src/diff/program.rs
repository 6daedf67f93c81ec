// SPDX-License-Identifier: GPL-2.0-or-later
//! Program that has a kernel's compiled functions and the core's; it ends itself after a time.

use crate::Error;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Exit where rules or operations have no such name.
pub const USAGE: i32 = 70;
/// Signal by which the program ends itself.
const SIGALRM: i32 = 14;

/// Program beside an image.
pub struct Program(PathBuf);

/// End of a run.
pub struct Ended {
    /// Exit code, if no signal ended it.
    pub code: Option<i32>,
    /// Lines of its output.
    pub lines: Vec<String>,
    signal: Option<i32>,
    complaint: String,
}

impl Ended {
    /// Reason why it ended as it did.
    pub fn words(&self) -> String {
        match (self.signal, self.complaint.trim()) {
            (Some(SIGALRM), _) => "the kernel's code does not return".to_owned(),
            (Some(signal), "") => format!("ended by signal {signal}"),
            (None, "") => format!("exit code {}", self.code.unwrap_or_default()),
            (_, complaint) => complaint.trim_start_matches("oracle: ").to_owned(),
        }
    }
}

impl Program {
    /// Program of a file.
    pub fn at(path: PathBuf) -> Program {
        Program(path)
    }

    /// Runs it with these words and this input.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, words: &[&str], input: &str) -> Result<Ended, Error> {
        let output = self.output(words, input).map_err(Error::file("run", &self.0))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(Ended {
            code: output.status.code(),
            lines: text.lines().map(str::to_owned).collect(),
            signal: output.status.signal(),
            complaint: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    fn output(&self, words: &[&str], input: &str) -> std::io::Result<Output> {
        let mut command = Command::new(&self.0);
        command.args(words).env_clear().current_dir(Path::new("/"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // The program may have ended before it read all.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
        child.wait_with_output()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_its_reason() {
        let shell = Program::at("/bin/sh".into());
        let ended = |text: &str| shell.run(&["-c", text], "a\n").expect("an end");
        assert_eq!((ended("cat").lines, ended("exit 70").code), (vec!["a".to_owned()], Some(USAGE)));
        assert_eq!(ended("kill -ALRM $$").words(), "the kernel's code does not return");
        assert_eq!(ended("kill -KILL $$").words(), "ended by signal 9");
        assert_eq!(ended("echo oracle: BUG at a.c:1 >&2; exit 3").words(), "BUG at a.c:1");
        assert!(Program::at("/none".into()).run(&[], "").is_err());
    }
}
