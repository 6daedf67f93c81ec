// SPDX-License-Identifier: GPL-2.0-only
//! Collects messages while a file is read.
//!
//! Errors and warnings are kept apart, so that many warnings can never push an error out of the list, and only as many
//! messages are rendered as a person would read: a hostile file may have a hundred thousand mistakes.

use super::json::Span;
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};

/// Messages of each kind that get their excerpt; the rest is counted.
const FULL_MAX: usize = 20;

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

    /// What would be accepted.
    pub(super) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// What to do.
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
}

impl Report {
    /// No message yet.
    pub(super) fn new(file: &SourceFile) -> Self {
        Report { file: file.clone(), errors: Pile::default(), warnings: Pile::default() }
    }

    /// The file.
    pub(super) fn file(&self) -> &SourceFile {
        &self.file
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
