// SPDX-License-Identifier: GPL-2.0-only
//! Every exit code of the program, and how a failure turns into one.

use std::fmt::Display;

/// How the program ends.
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
            Exit::Bug => 70,
            Exit::Interrupted => 130,
            Exit::OfCommand(code) => code,
        }
    }
}

/// Why a verb stopped: an exit code and what to print on stderr.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
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

    /// Something this machine does not let us do.
    pub fn cannot(reason: impl Display, hint: &str) -> Self {
        Self::new(Exit::CannotHere, reason, Some(hint))
    }
}
