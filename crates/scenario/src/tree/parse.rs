// SPDX-License-Identifier: GPL-2.0-only
//! Text to TOML tree, with the parser's complaints turned into messages.

use toml::Spanned;
use toml::de::DeTable;

use crate::diagnostic::{Diagnostics, SourceFile};

/// A parsed file; borrows the text of its source.
pub struct Document<'s> {
    /// Where it came from.
    pub source: &'s SourceFile,
    /// Its keys.
    pub root: Spanned<DeTable<'s>>,
}

/// Parses TOML. The parser bounds nesting at 80 levels; [`SourceFile`] bounds the length.
pub fn parse(source: &SourceFile) -> Result<Document<'_>, Diagnostics> {
    // Only the first error is asked for: what follows a syntax error is mostly its echo.
    match DeTable::parse(source.text()) {
        Ok(root) => Ok(Document { source, root }),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let (message, help) = explain(error.message());
            let diagnostic = source.error(span, message).label("here");
            Err(match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
            .into())
        }
    }
}

/// The parser's message as a sentence about TOML, and what to do where we know.
fn explain(message: &str) -> (String, Option<&'static str>) {
    let help = [
        ("duplicate key", "a key may be given once per table; remove one, or start a new [[table]]"),
        ("recurse", "no value in these files is nested deeper than three levels"),
        ("string values must be quoted", "text needs quotes: key = \"text\""),
        ("unclosed", "the file may be truncated"),
        ("key with no value", "a line is `key = value`, `[table]`, or `# comment`"),
        ("leading zero", "write the number without leading zeros"),
    ];
    let help = help.iter().find(|(part, _)| message.contains(part)).map(|&(_, help)| help);
    (format!("not valid TOML: {message}"), help)
}
