// SPDX-License-Identifier: GPL-2.0-or-later
//! Possible defects of a log. Damage is reported after the events before it were handed out.

use std::fmt;
use std::io;

/// Reason why a log could not be read, or not to its end.
#[derive(Debug)]
pub enum LogError {
    /// The input failed.
    Io(io::Error),
    /// The first bytes are not those of a log.
    NotALog,
    /// The log was written by a newer tool.
    Version {
        /// Version of the file.
        found: u16,
    },
    /// The input ends before the footer: the run was interrupted or the file was cut.
    Truncated {
        /// Events read before.
        events: u64,
    },
    /// The contents contradict themselves.
    Corrupt {
        /// Events read before.
        events: u64,
        /// Offset of the damaged part, bytes from the start of the file.
        offset: u64,
        /// Defect.
        what: &'static str,
    },
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Io(error) => write!(f, "cannot read the log: {error}"),
            LogError::NotALog => write!(f, "not a pelton log (the first bytes are not PELTONLG)"),
            LogError::Version { found } => {
                write!(f, "log version {found} is newer than this tool (it reads versions 1..={})", super::VERSION)
            }
            LogError::Truncated { events } => write!(f, "the log ends early: {events} events, then no footer"),
            LogError::Corrupt { events, offset, what } => {
                write!(f, "the log is damaged at byte {offset}, after {events} good events: {what}")
            }
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LogError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        LogError::Io(error)
    }
}
