// SPDX-License-Identifier: GPL-2.0-or-later
//! Many messages at once.

use std::fmt;

use super::{Diagnostic, Severity};

/// Messages kept; an input that is wrong everywhere needs no longer list.
const KEPT_MAX: usize = 20;

/// All that is wrong with an input, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    dropped: usize,
}

impl Diagnostics {
    /// Nothing wrong yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message; beyond the first 20 errors and the first 20 warnings they are only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.push_with(|| diagnostic);
    }

    /// Adds a message that is worked out only if it will be kept: an input that is wrong everywhere stays cheap.
    pub fn push_with(&mut self, diagnostic: impl FnOnce() -> Diagnostic) {
        if self.is_full() {
            self.dropped += 1;
            return;
        }
        let diagnostic = diagnostic();
        // Warnings have a limit of their own: an error must never be lost behind them, or the input would be accepted.
        if self.kept_of(diagnostic.severity()) >= KEPT_MAX {
            self.dropped += 1;
        } else {
            self.kept.push(diagnostic);
        }
    }

    /// True when further messages are only counted.
    pub fn is_full(&self) -> bool {
        self.kept_of(Severity::Error) >= KEPT_MAX
    }

    fn kept_of(&self, severity: Severity) -> usize {
        self.kept.iter().filter(|kept| kept.severity() == severity).count()
    }

    /// Adds all messages of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        self.dropped += other.dropped;
        other.kept.into_iter().for_each(|d| self.push(d));
    }

    /// True when there is no message.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// True when something makes the input unusable.
    pub fn has_errors(&self) -> bool {
        self.kept.iter().any(|d| d.severity() == Severity::Error)
    }

    /// Messages in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.kept.iter()
    }

    /// `value`, or the messages if one of them is an error.
    pub fn or<T>(mut self, value: T) -> Result<T, Diagnostics> {
        if !self.has_errors() {
            return Ok(value);
        }
        self.sort();
        Err(self)
    }

    /// Puts messages in the order of the text, file by file.
    pub fn sort(&mut self) {
        let key = |d: &Diagnostic| (d.source().name().to_owned(), d.span().map_or(0, |s| s.start));
        self.kept.sort_by_key(key);
    }

    /// Messages that were counted, not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics { kept: vec![diagnostic], dropped: 0 }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render(self, 100, false))
    }
}

impl std::error::Error for Diagnostics {}

/// The messages as text of a fixed width, with or without terminal colours.
pub fn render(diagnostics: &Diagnostics, width: usize, color: bool) -> String {
    let theme = if color { miette::GraphicalTheme::unicode() } else { miette::GraphicalTheme::unicode_nocolor() };
    let handler = miette::GraphicalReportHandler::new_themed(theme).with_width(width.max(40)).with_links(false);
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        if handler.render_report(&mut out, diagnostic).is_err() {
            // The renderer only fails on spans it cannot read; the words are still worth having.
            out.push_str(&format!("{}: {diagnostic}\n", diagnostic.source().name()));
        }
    }
    if diagnostics.dropped() > 0 {
        out.push_str(&format!("  ... and {} more\n", diagnostics.dropped()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceFile;

    #[test]
    fn an_error_behind_many_warnings_still_refuses_the_input() {
        let file = SourceFile::new("f", "x");
        let mut found = Diagnostics::new();
        (0..2 * KEPT_MAX).for_each(|_| found.push(file.about("odd").warning()));
        found.push(file.about("wrong"));
        assert!(found.or(()).is_err());
    }
}
