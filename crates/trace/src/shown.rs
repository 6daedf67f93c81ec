// SPDX-License-Identifier: GPL-2.0-or-later
//! Text of a foreign file as it is shown: what would drive a terminal, or turn or break a line, is written as an
//! escape.

use std::borrow::Cow;

/// True for control characters, marks of direction, and characters without a width that hide what stands there.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{061c}' | '\u{feff}')
}

/// One line of text: line ends and tabs too are escaped.
///
/// ```
/// use pelton_trace::one_line;
/// assert_eq!(one_line("ui\u{1b}[31m\n\u{202e}x"), "ui\\u001b[31m\\u000a\\u202ex");
/// assert_eq!(one_line("naïve π"), "naïve π");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, hides)
}

/// Text of several lines: line ends and tabs stay. JSON stays the same value, for these are its own escapes.
///
/// ```
/// assert_eq!(pelton_trace::lines("a\tb\n\u{1b}c"), "a\tb\n\\u001bc");
/// ```
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| hides(c) && c != '\n' && c != '\t')
}

fn escaped(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(|c| !hides(c)) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if hides(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}
