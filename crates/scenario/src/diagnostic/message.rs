// SPDX-License-Identifier: GPL-2.0-or-later
//! One message.

use std::fmt;
use std::ops::Range;

use super::SourceFile;
use super::excerpt::Excerpt;

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but probably does not mean what its author thinks.
    Warning,
}

/// One message about one place of an input.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    source: SourceFile,
    span: Option<Range<usize>>,
    severity: Severity,
    message: String,
    label: String,
    allowed: Option<String>,
    help: Option<String>,
    excerpt: Option<Excerpt>,
}

impl Diagnostic {
    /// An error; `span` are byte offsets into the text, `None` means the file as a whole.
    pub fn new(source: SourceFile, span: Option<Range<usize>>, message: &str) -> Self {
        let message = match &span {
            // Without a place the name would stand nowhere.
            None if !message.contains(source.name()) => printable(&format!("{}: {message}", source.name())),
            _ => printable(message),
        };
        Diagnostic {
            source,
            span,
            severity: Severity::Error,
            message,
            label: String::new(),
            allowed: None,
            help: None,
            excerpt: None,
        }
        .with_excerpt()
    }

    /// Words at the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = printable(&label.into());
        self
    }

    /// Adds the values that would be accepted, with unit: `1..=1024`, `10000..=20000000 kHz`.
    #[must_use]
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(printable(&allowed.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(printable(&help.into()));
        self
    }

    /// Makes it a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Copies the message to a place of another text, which this one was taken from.
    #[must_use]
    pub fn moved_to(&self, source: SourceFile, span: Option<Range<usize>>) -> Self {
        let moved = Diagnostic::new(source, span, &self.message);
        let Diagnostic { severity, label, allowed, help, .. } = self.clone();
        Diagnostic { severity, label, allowed, help, ..moved }
    }

    /// The input it is about.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// Place in the text, in bytes.
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// Line, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.span.as_ref().map(|span| self.source.line_of(span.start))
    }

    /// Column in its line, counted from 1 in characters.
    pub fn column(&self) -> Option<usize> {
        let before = self.source.text().get(..self.span.as_ref()?.start)?;
        Some(1 + before.rsplit('\n').next().unwrap_or("").chars().count())
    }

    /// Values that would be accepted, with unit.
    pub fn allowed_values(&self) -> Option<&str> {
        self.allowed.as_deref()
    }

    /// Advice.
    pub fn hint(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Severity of the message.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Fault, in words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Help text: the allowed values first, then what to do.
    pub fn help_text(&self) -> Option<String> {
        match (&self.allowed, &self.help) {
            (None, None) => None,
            (Some(allowed), None) => Some(format!("allowed: {allowed}")),
            (None, Some(help)) => Some(help.clone()),
            (Some(allowed), Some(help)) => Some(format!("allowed: {allowed}\n{help}")),
        }
    }

    fn with_excerpt(mut self) -> Self {
        self.excerpt = self.span.clone().map(|span| Excerpt::around(&self.source, span));
        self
    }
}

/// Longest word of an input that is shown whole, characters.
const WORD_CHARS_MAX: usize = 120;
/// Length to which a longer word is cut, characters.
const WORD_CHARS_SHOWN: usize = 60;

/// Text with control and direction characters replaced, so that an input cannot drive the reader's terminal, and long
/// words cut, so that it cannot fill it.
pub(super) fn printable(text: &str) -> String {
    let shown = |c: char| if hides(c) { '\u{fffd}' } else { c };
    let mut out = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let count = word.chars().count();
        let kept = if count > WORD_CHARS_MAX { WORD_CHARS_SHOWN } else { count };
        out.extend(word.chars().take(kept).map(shown));
        if kept < count {
            out += &format!("… ({count} characters)");
            out.extend(word.chars().next_back().filter(|c| c.is_whitespace()));
        }
    }
    out
}

pub(crate) fn hides(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help_text().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        let label = (!self.label.is_empty()).then(|| self.label.clone());
        Some(Box::new(std::iter::once(miette::LabeledSpan::new_primary_with_span(label, excerpt.span()))))
    }
}
