// SPDX-License-Identifier: GPL-2.0-or-later
//! The few lines around a place, safe to print: at most three lines, long lines cut, control characters replaced.

use std::ops::Range;

use super::SourceFile;
use super::message::printable;

/// Characters shown of a long line.
const LINE_CHARS_MAX: usize = 88;
/// Characters shown before the caret in a long line.
const LEAD_CHARS: usize = 30;

/// A cut-out of a text with the place to point at. The place never spans lines.
#[derive(Clone, Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    at: Range<usize>,
    /// Line of the first line shown, of the place, and column of the place, all counted from 0.
    first_line: usize,
    line: usize,
    column: usize,
}

impl Excerpt {
    /// The surroundings of `span`, which may lie anywhere, even beyond the end.
    pub(super) fn around(source: &SourceFile, span: Range<usize>) -> Self {
        let text = source.text();
        let start = floor_char(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char(text, span.end).clamp(start, line_end);
        let line = source.line_of(start) - 1;

        let (shown, at) = cut(text[line_start..line_end].trim_end_matches('\r'), start - line_start..end - line_start);
        let before = (line_start > 0).then(|| text[..line_start - 1].rsplit('\n').next().unwrap_or(""));
        let after = text.get(line_end + 1..).filter(|rest| !rest.is_empty()).and_then(|rest| rest.split('\n').next());
        let mut all = before.map_or(String::new(), |b| head(b) + "\n");
        let at = all.len() + at.start..all.len() + at.end;
        all.push_str(&shown);
        if let Some(context) = after {
            all.push('\n');
            all.push_str(&head(context));
        }
        Excerpt {
            name: printable(source.name()),
            text: all,
            at,
            first_line: line - usize::from(before.is_some()),
            line,
            column: text[line_start..start].chars().count(),
        }
    }

    /// The place, as offsets into the excerpt.
    pub(super) fn span(&self) -> Range<usize> {
        self.at.clone()
    }
}

impl miette::SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _span: &miette::SourceSpan,
        lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        // The renderer asks without context only to learn the position for its heading.
        let (line, column) = if lines_before == 0 { (self.line, self.column) } else { (self.first_line, 0) };
        let all = (0, self.text.len()).into();
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name.clone(),
            self.text.as_bytes(),
            all,
            line,
            column,
            3,
        )))
    }
}

/// The largest character boundary not above `at`.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The beginning of a neighbouring line.
fn head(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let mut shown: String = line.chars().take(LINE_CHARS_MAX).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    printable(&shown)
}

/// The part of a line around `at`, and where `at` is in that part. A place of no width gets one character to point at.
fn cut(line: &str, at: Range<usize>) -> (String, Range<usize>) {
    let (start, end) = (at.start.min(line.len()), at.end.min(line.len()));
    let lead: Vec<char> = line[..start].chars().collect();
    let skip = if line.chars().nth(LINE_CHARS_MAX).is_some() { lead.len().saturating_sub(LEAD_CHARS) } else { 0 };
    let mut shown = if skip > 0 { String::from("…") } else { String::new() };
    shown.push_str(&printable(&lead[skip..].iter().collect::<String>()));
    let from = shown.len();
    let room = LINE_CHARS_MAX - (lead.len() - skip).min(LINE_CHARS_MAX);
    let marked: String = line[start..end].chars().take(room).collect();
    let rest: String = line[start + marked.len()..].chars().take(room - marked.chars().count()).collect();
    let complete = start + marked.len() + rest.len() == line.len();
    shown.push_str(&printable(&marked));
    let mut to = shown.len();
    shown.push_str(&printable(&rest));
    if !complete {
        shown.push('…');
    }
    if to == from {
        if shown.len() == from {
            shown.push(' ');
        }
        to = from + shown[from..].chars().next().map_or(1, char::len_utf8);
    }
    (shown, from..to)
}
