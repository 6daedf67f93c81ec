// SPDX-License-Identifier: GPL-2.0-or-later
//! Characters to words: white space and comments, strings, numbers, bare words.

use super::{Span, Value};
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};

/// A position in a text.
pub(super) struct Cursor<'a> {
    file: &'a SourceFile,
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of a text, after a byte order mark.
    pub(super) fn new(file: &'a SourceFile) -> Self {
        let text = file.text();
        Cursor { file, text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } }
    }

    /// Offset of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next byte, not consumed.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// An error from `start` to here (at least one character).
    pub(super) fn error(&self, start: usize, message: impl AsRef<str>) -> Diagnostic {
        self.file.error(start..self.at.max(start + 1), message)
    }

    /// Skips white space and comments.
    pub(super) fn skip(&mut self) -> Result<(), Diagnostics> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'/') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), Diagnostics> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with("//") {
            self.at = rest.find('\n').map_or(self.text.len(), |i| start + i);
            return Ok(());
        }
        if !rest.starts_with("/*") {
            return Err(self
                .error(start, "`/` does not begin a comment")
                .help("comments are `/* ... */` and `// ...`")
                .into());
        }
        match rest[2..].find("*/") {
            Some(i) => {
                self.at = start + 2 + i + 2;
                Ok(())
            }
            None => {
                let d = self.file.error(start..start + 2, "this comment has no end").label("opened here");
                Err(d.help("close it with `*/`").into())
            }
        }
    }

    /// A string in double or single quotes; the cursor is at the quote.
    pub(super) fn string(&mut self) -> Result<(String, Span), Diagnostics> {
        let start = self.at;
        let quote = char::from(self.text.as_bytes()[start]);
        self.at += 1;
        let mut out = String::new();
        let special = |b: &u8| matches!(b, b'\n' | b'\r' | b'\\') || char::from(*b) == quote;
        loop {
            let plain = self.text.as_bytes()[self.at..].iter().position(special);
            let end = plain.map_or(self.text.len(), |n| self.at + n);
            out.push_str(&self.text[self.at..end]);
            self.at = end;
            match self.peek() {
                Some(b'\\') => self.escape(&mut out)?,
                Some(b) if char::from(b) == quote => {
                    self.at += 1;
                    return Ok((out, Span::new(start, self.at)));
                }
                _ => break,
            }
        }
        let d = self.error(start, "this string has no end").label("opened here");
        Err(d.help(format!("close it with {quote} on the same line")).into())
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Diagnostics> {
        let start = self.at;
        let code = self.text.as_bytes().get(start + 1).copied();
        let plain = match code {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(c @ (b'"' | b'\'' | b'\\' | b'/')) => char::from(c),
            Some(b'u') => return self.unicode_escape(out),
            _ => {
                self.at += 1;
                let help = "escapes are \\n \\t \\r \\b \\f \\\" \\' \\\\ \\/ and \\u with four hexadecimal digits";
                return Err(self.error(start, "unknown escape in a string").help(help).into());
            }
        };
        out.push(plain);
        self.at += 2;
        Ok(())
    }

    fn unicode_escape(&mut self, out: &mut String) -> Result<(), Diagnostics> {
        let start = self.at;
        let first = self.unicode_unit(start)?;
        let pair = matches!(first, 0xd800..=0xdbff) && self.text[self.at..].starts_with("\\u");
        let code = if pair {
            let second = self.unicode_unit(start)?;
            0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00).min(0x3ff)
        } else {
            first
        };
        // Half of a surrogate pair is no character; it is replaced, as a reader of names needs no more.
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
        Ok(())
    }

    fn unicode_unit(&mut self, start: usize) -> Result<u32, Diagnostics> {
        let digits = self.text.get(self.at + 2..self.at + 6).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|d| u32::from_str_radix(d, 16).ok()) else {
            self.at += 2;
            return Err(self.error(start, "\\u needs four hexadecimal digits").into());
        };
        self.at += 6;
        Ok(code)
    }

    /// A number; the cursor is at its sign or first digit.
    pub(super) fn number(&mut self) -> Result<(Value, Span), Diagnostics> {
        let start = self.at;
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let length = self.text.as_bytes()[start..].iter().take_while(|b| part(b)).count();
        self.at = start + length;
        let word = &self.text[start..self.at];
        let span = Span::new(start, self.at);
        if let Ok(int) = word.parse::<i64>() {
            return Ok((Value::Int(int), span));
        }
        let numeric = word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
        match word.parse::<f64>().ok().filter(|_| numeric) {
            Some(real) => Ok((Value::Real(real), span)),
            None => {
                let d = self.error(start, format!("`{}` is not a number", short(word)));
                Err(d.help("numbers have no unit here: times are microseconds").into())
            }
        }
    }

    /// A bare word; empty when the next character cannot be part of one.
    pub(super) fn word(&mut self) -> (&'a str, Span) {
        let start = self.at;
        let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let length = self.text.as_bytes()[start..].iter().take_while(|b| part(b)).count();
        self.at = start + length;
        (&self.text[start..self.at], Span::new(start, self.at))
    }

    /// The next character for a message, and moves over it.
    pub(super) fn describe_next(&mut self) -> String {
        match self.text[self.at..].chars().next() {
            None => "the end of the file".into(),
            Some(c) => {
                self.at += c.len_utf8();
                format!("`{c}`")
            }
        }
    }
}

/// The beginning of a word that may be as long as the file.
pub(super) fn short(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((i, _)) => format!("{}...", &word[..i]),
        None => word.into(),
    }
}
