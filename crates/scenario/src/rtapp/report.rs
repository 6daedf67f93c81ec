// SPDX-License-Identifier: GPL-2.0-or-later
//! Collects messages while a file is read.
//!
//! Errors and warnings are kept apart, so that many warnings can never push an error out of the list, and only as many
//! messages are rendered as a person would read: a hostile file may have a hundred thousand mistakes.

use super::json::Span;
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile, did_you_mean, hint_for};

/// Messages of each kind that get their excerpt; the rest is counted.
const FULL_MAX: usize = 20;
/// Words compared with all candidates; comparing every wrong word of a large file would take minutes.
const HINTS_MAX: usize = 2 * FULL_MAX;
/// Lines looked up for texts: a message names at most five.
const LINES_MAX: usize = 5 * FULL_MAX;
/// Candidates one word is compared with.
const CANDIDATES_MAX: usize = 2000;

/// The words of one message.
pub(super) struct Words {
    message: String,
    label: Option<String>,
    allowed: Option<String>,
    help: Option<String>,
}

/// A message that says `message`.
pub(super) fn say(message: impl Into<String>) -> Words {
    Words { message: message.into(), label: None, allowed: None, help: None }
}

impl Words {
    /// Words at the caret.
    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds the values that would be accepted.
    pub(super) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds advice.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn place(self, file: &SourceFile, span: Option<Span>) -> Diagnostic {
        let mut d = match span {
            Some(span) => file.error(span.range(), &self.message),
            None => file.about(&self.message),
        };
        if let Some(label) = self.label {
            d = d.label(label);
        }
        if let Some(allowed) = self.allowed {
            d = d.allowed(allowed);
        }
        match self.help {
            Some(help) => d.help(help),
            None => d,
        }
    }
}

/// Messages of one kind.
#[derive(Default)]
struct Pile {
    list: Diagnostics,
    made: usize,
    last: Option<Diagnostic>,
}

impl Pile {
    fn push(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.made += 1;
        if self.made > FULL_MAX
            && let Some(last) = &self.last
        {
            // Counted by the list, never shown: any message will do.
            self.list.push(last.clone());
            return;
        }
        let diagnostic = make();
        self.last = Some(diagnostic.clone());
        self.list.push(diagnostic);
    }
}

/// All messages about one file.
pub(super) struct Report {
    file: SourceFile,
    errors: Pile,
    warnings: Pile,
    hints: usize,
    lines: usize,
}

impl Report {
    /// No message yet.
    pub(super) fn new(file: &SourceFile) -> Self {
        Report { file: file.clone(), errors: Pile::default(), warnings: Pile::default(), hints: 0, lines: 0 }
    }

    /// The candidate that `word` is probably a misspelling of.
    pub(super) fn near<'c>(&mut self, word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
        self.hints += 1;
        if self.hints > HINTS_MAX {
            return None;
        }
        did_you_mean(word, candidates.take(CANDIDATES_MAX))
    }

    /// Help for an unknown word: the likely candidate, else all of them.
    pub(super) fn hint<'c>(&mut self, word: &str, candidates: impl Iterator<Item = &'c str>) -> String {
        self.hints += 1;
        if self.hints > HINTS_MAX {
            return String::new();
        }
        hint_for(word, candidates.take(CANDIDATES_MAX).collect::<Vec<_>>())
    }

    /// Line of a place, for texts of messages; 0 once no more messages are shown.
    pub(super) fn line(&mut self, span: Span) -> usize {
        self.lines += 1;
        if self.lines > LINES_MAX { 0 } else { self.file.line_of(span.range().start) }
    }

    /// The file cannot be used.
    pub(super) fn error(&mut self, span: Span, words: Words) {
        self.errors.push(|| words.place(&self.file, Some(span)));
    }

    /// The file as a whole cannot be used.
    pub(super) fn about(&mut self, words: Words) {
        self.errors.push(|| words.place(&self.file, None));
    }

    /// The file can be used but probably means something else.
    pub(super) fn warning(&mut self, span: Span, words: Words) {
        self.warnings.push(|| words.place(&self.file, Some(span)).warning());
    }

    /// True while nothing makes the file unusable.
    pub(super) fn is_good(&self) -> bool {
        self.errors.list.is_empty()
    }

    /// The warnings, or everything when there is an error.
    pub(super) fn finish(self) -> Result<Diagnostics, Diagnostics> {
        let (mut errors, mut warnings) = (self.errors.list, self.warnings.list);
        warnings.sort();
        if errors.is_empty() {
            return Ok(warnings);
        }
        errors.sort();
        errors.extend(warnings);
        Err(errors)
    }
}
