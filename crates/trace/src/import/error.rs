// SPDX-License-Identifier: GPL-2.0-or-later
//! Reason why a trace cannot be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::stop;
use crate::shown::one_line;

/// A trace that cannot be opened or read on. Displayed as it is shown to the user: file, place, what, and what to do.
#[derive(Debug)]
pub struct ImportError {
    /// The file.
    pub path: PathBuf,
    /// Defect, as a sentence.
    pub what: String,
    /// Line, column (both from 1) and text of the line, for text files.
    pub line: Option<Box<(u64, usize, String)>>,
    /// Byte offset, for binary files.
    pub offset: Option<u64>,
    /// Advice on how to mend it.
    pub help: Option<String>,
    /// The file could not be read at all (as opposed to: its content is wrong).
    pub io: Option<io::Error>,
}

impl ImportError {
    /// Something wrong with the content.
    pub fn content(path: &Path, what: impl Into<String>) -> ImportError {
        ImportError { path: path.to_owned(), what: what.into(), line: None, offset: None, help: None, io: None }
    }

    /// Error of the operating system.
    pub fn io(path: &Path, error: io::Error) -> ImportError {
        ImportError { what: error.to_string(), io: Some(error), ..ImportError::content(path, "") }
    }

    /// True when reading ended because the caller asked for it: [`super::OpenOptions::stop`].
    pub fn is_stop(&self) -> bool {
        self.io.as_ref().is_some_and(stop::is_stop)
    }

    /// Adds the place in a text file.
    #[must_use]
    pub fn at_line(mut self, line: u64, column: usize, text: &str) -> ImportError {
        self.line = Some(Box::new((line, column, text.chars().take(200).collect())));
        self
    }

    /// Adds the place in a binary file.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> ImportError {
        self.offset = Some(offset);
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> ImportError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(&self.path.display().to_string()))?;
        if let Some((line, column, _)) = self.line.as_deref() {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", one_line(&self.what))?;
        if let Some(offset) = self.offset {
            write!(f, " (at byte {offset})")?;
        }
        if let Some((line, column, text)) = self.line.as_deref() {
            let gutter = line.to_string();
            let blank = " ".repeat(gutter.len());
            let before: String = text.chars().take(column.saturating_sub(1)).collect();
            let to_column = " ".repeat(one_line(&before).chars().count().max(column.saturating_sub(1)));
            write!(f, "\n {gutter} | {}\n {blank} | {to_column}^", one_line(text))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ImportError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        let error = ImportError::content(Path::new("t.txt"), "a time that is no number")
            .at_line(3, 5, "bad time")
            .help("record it again");
        let shown = "t.txt:3:5: a time that is no number\n 3 | bad time\n   |     ^\n  help: record it again";
        assert_eq!(error.to_string(), shown);
    }
}
