// SPDX-License-Identifier: GPL-2.0-or-later
//! Every exit code of the program, and how a failure turns into one.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// Exit of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Good,
    /// A published claim, or a validation, does not hold.
    ClaimFails,
    /// The command line is wrong.
    Usage,
    /// A file or value is wrong; the message says where and what is allowed.
    BadInput,
    /// This machine cannot do it (a file cannot be written, a capability is missing).
    CannotHere,
    /// Nothing differs, but nothing, or too little, could be decided: neither a pass nor a failure.
    Open,
    /// The kernel ended the scheduler that `pelton live` ran; the message has its reason.
    Ended,
    /// A kernel's own code, which a policy `kernel:NAME` asks, crashed or did not return.
    KernelFailed,
    /// A bug in this program; the message has the seed, the version and a command that reproduces it.
    Bug,
    /// Stopped by a signal: 128 + its number, as shells say it; 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
    Interrupted,
    /// The recording is done; the recorded command ended with this code.
    OfCommand(u8),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::ClaimFails => 1,
            Exit::Usage => 2,
            Exit::BadInput => 3,
            Exit::CannotHere => 4,
            Exit::Open => 5,
            Exit::Ended => 6,
            Exit::KernelFailed => 7,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
            Exit::OfCommand(code) => code,
        }
    }
}

/// Reason why a verb stopped: an exit code and the text for stderr.
#[derive(Debug)]
pub struct Failure {
    /// Exit of the program.
    pub exit: Exit,
    /// Text for stderr, complete (with its own `error:` where wanted); may be empty.
    pub text: String,
}

impl Failure {
    /// A failure with a one-line reason and a hint.
    pub fn new(exit: Exit, reason: impl Display, hint: Option<&str>) -> Self {
        let hint = hint.map(|h| format!("\n  hint: {h}")).unwrap_or_default();
        Failure { exit, text: format!("error: {reason}{hint}") }
    }

    /// Wrong file or value.
    pub fn input(reason: impl Display) -> Self {
        Self::new(Exit::BadInput, reason, None)
    }

    /// A failure because this machine does not allow the action.
    pub fn cannot(reason: impl Display, hint: &str) -> Self {
        Self::new(Exit::CannotHere, reason, Some(hint))
    }
}

/// Longest word of a message about the command line, characters: what was typed may be a file by mistake.
const WORD_CHARS_MAX: usize = 160;
/// Lines of one at its beginning, and at its end.
const LINES_MAX: usize = 20;
/// Longest line of one.
const LINE_CHARS_MAX: usize = 1000;

/// Help, the version, or what is wrong with the command line: the program ends with it.
pub fn answered(answer: &clap::Error) -> ! {
    if answer.use_stderr() {
        let text = answer.render();
        let text = if std::io::stderr().is_terminal() { text.ansi().to_string() } else { text.to_string() };
        crate::say(shortened(&text).trim_end());
        std::process::exit(i32::from(Exit::Usage.code()));
    }
    let mut out = std::io::stdout();
    let written = answer.print().and_then(|()| out.flush());
    let code = match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            crate::say(&Failure::cannot(format!("cannot write to standard output: {error}"), "is the disk full?").text);
            Exit::CannotHere
        }
        _ => Exit::Good,
    };
    std::process::exit(i32::from(code.code()))
}

/// The text without the ends of long words and lines, and without the middle of many lines.
fn shortened(text: &str) -> String {
    let cut = |text: &str, most: usize| match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    };
    let line = |line: &str| {
        let words: Vec<String> = line.split(' ').map(|word| cut(word, WORD_CHARS_MAX)).collect();
        cut(&words.join(" "), LINE_CHARS_MAX)
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    if lines.len() > 2 * LINES_MAX {
        drop(lines.splice(LINES_MAX..lines.len() - LINES_MAX, ["...".to_owned()]));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_words_and_lines_are_cut() {
        let (word, line) = ("x".repeat(5000), "ab ".repeat(5000));
        let short = super::shortened(&format!("unexpected '{word}' found\n{line}\nUsage: pelton"));
        assert_eq!(super::shortened(&"a\n".repeat(1000)).lines().count(), 2 * super::LINES_MAX + 1);
        assert!(short.len() < 1300 && short.contains("... found\n") && short.ends_with("\nUsage: pelton"), "{short}");
    }
}
