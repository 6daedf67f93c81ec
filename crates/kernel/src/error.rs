// SPDX-License-Identifier: GPL-2.0-or-later
//! Reasons why there is no image.

use std::fmt;
use std::path::Path;

/// Part that would have to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request names what there is not, or contradicts itself.
    Request,
    /// A tree, a patch or an image is not what it should be.
    Input,
    /// This machine cannot do it.
    Machine,
}

/// Reason why there is no image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The request cannot be met.
    Refused {
        /// Party at fault.
        fault: Fault,
        /// Description, one or more lines.
        reason: String,
        /// Remedy.
        hint: Option<String>,
    },
    /// The caller asked for an end: what was begun is removed, and an image of that name is the one from before.
    Stopped,
}

impl Error {
    pub(crate) fn new(fault: Fault, reason: impl Into<String>, hint: &str) -> Error {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Error::Refused { fault, reason: reason.into(), hint }
    }

    pub(crate) fn request(reason: impl Into<String>, hint: &str) -> Error {
        Error::new(Fault::Request, reason, hint)
    }

    pub(crate) fn input(reason: impl Into<String>, hint: &str) -> Error {
        Error::new(Fault::Input, reason, hint)
    }

    pub(crate) fn machine(reason: impl Into<String>, hint: &str) -> Error {
        Error::new(Fault::Machine, reason, hint)
    }

    /// Adds a sentence to the remedy.
    pub(crate) fn with(self, words: &str) -> Error {
        match self {
            Error::Refused { fault, reason, hint } => {
                let hint = Some(hint.map_or_else(|| words.to_owned(), |hint| format!("{hint}; {words}")));
                Error::Refused { fault, reason, hint }
            }
            Error::Stopped => Error::Stopped,
        }
    }

    /// A failure of the file system, `doing` this to a path.
    pub(crate) fn file<'a>(doing: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Error + 'a {
        move |error| {
            let reason = format!("cannot {doing} {}: {error}", path.display());
            Error::machine(reason, "look at the room on the disk and at the folder's owner")
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused { reason, hint: None, .. } => f.write_str(reason),
            Error::Refused { reason, hint: Some(hint), .. } => write!(f, "{reason}\n  hint: {hint}"),
            Error::Stopped => f.write_str("interrupted: no image was made"),
        }
    }
}

impl std::error::Error for Error {}
