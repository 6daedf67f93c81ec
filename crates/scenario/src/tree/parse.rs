// SPDX-License-Identifier: GPL-2.0-or-later
//! Text to TOML tree, with the parser's complaints turned into messages.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};

/// A parsed file; borrows the text of its source.
pub struct Document<'s> {
    /// File that it was parsed from.
    pub source: &'s SourceFile,
    /// Its keys.
    pub root: Spanned<DeTable<'s>>,
}

/// Parses TOML. The parser bounds nesting at 80 levels; [`SourceFile`] bounds the length.
pub fn parse(source: &SourceFile) -> Result<Document<'_>, Diagnostics> {
    if source.text().trim().is_empty() {
        return Err(source.error(0..0, "the file is empty").into());
    }
    // Only the first error is asked for: what follows a syntax error is mostly its echo.
    match DeTable::parse(source.text()) {
        Ok(root) => Ok(Document { source, root }),
        Err(error) => Err(explain(source, error.message(), error.span().unwrap_or(0..0)).into()),
    }
}

/// The parser's message as a sentence about TOML, and what to do where we know.
fn explain(source: &SourceFile, message: &str, span: Range<usize>) -> Diagnostic {
    let text = source.text();
    if text.trim_start().starts_with('{') {
        let at = source.error(span, "not valid TOML: this looks like JSON").label("here");
        return at.help("platforms, policies and behaviours are TOML; JSON is the format of rt-app workloads");
    }
    if message.contains("recurs") {
        // The parser does not say where a name has too many parts.
        let span = if span.end > 0 { span } else { most_dotted(text) };
        return source
            .error(span, "not valid TOML: nested too deeply")
            .label("here")
            .allowed("at most 80 levels; these files need three");
    }
    let help = [
        ("duplicate key", "a key may be given once per table; remove one, or start a new [[table]]"),
        ("string values must be quoted", "text needs quotes: key = \"text\""),
        ("unclosed", "the file may be truncated"),
        ("invalid basic string", "the closing quote is missing; the file may be truncated"),
        ("key with no value", "a line is `key = value`, `[table]`, or `# comment`"),
        ("leading zero", "write the number without leading zeros"),
        ("comment character", "the file contains control characters; is it text?"),
    ];
    let at = source.error(span, format!("not valid TOML: {message}")).label("here");
    match help.iter().find(|(part, _)| message.contains(part)) {
        Some(&(_, help)) => at.help(help),
        None => at,
    }
}

/// The line with the most dots.
fn most_dotted(text: &str) -> Range<usize> {
    let starts = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((line.matches('.').count(), start..start + line.len()))
    });
    starts.max_by_key(|(dots, _)| *dots).map_or(0..0, |(_, span)| span)
}
