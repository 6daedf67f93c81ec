// SPDX-License-Identifier: GPL-2.0-or-later
//! The page that systrace makes, around its trace.

use std::borrow::Cow;

use memchr::memmem::find;

/// Place of the reader in a page.
#[derive(Default)]
pub(crate) struct Page {
    inside: Inside,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Nothing,
    /// A script element with the text as it is.
    Script,
    /// A string of a script, lines ending with `\n\`, in some copies without.
    Text,
}

/// Part of a page that a line belongs to.
pub(crate) enum Part<'a> {
    /// Not of the trace.
    Outside,
    /// A line of the trace.
    Trace(Cow<'a, [u8]>),
}

impl Page {
    /// The trace's part of a line.
    pub(crate) fn line<'a>(&mut self, line: &'a [u8]) -> Part<'a> {
        match self.inside {
            Inside::Nothing => {
                if let Some(at) = find(line, b"class=\"trace-data\"") {
                    self.inside = Inside::Script;
                    return self.line(line[at..].splitn(2, |&byte| byte == b'>').nth(1).unwrap_or(b""));
                }
                if let Some(at) = find(line, b"linuxPerfData = \"") {
                    self.inside = Inside::Text;
                    return self.line(&line[at + b"linuxPerfData = \"".len()..]);
                }
                Part::Outside
            }
            Inside::Script => {
                let Some(end) = find(line, b"</script>") else { return trace(Cow::Borrowed(line)) };
                self.inside = Inside::Nothing;
                trace(Cow::Borrowed(&line[..end]))
            }
            Inside::Text => {
                if let Some(text) = line.strip_suffix(b"\\") {
                    return trace(unescaped(text.strip_suffix(b"\\n").unwrap_or(text)));
                }
                let end = find(line, b"\";");
                if end.is_some() || line.starts_with(b"</script>") {
                    self.inside = Inside::Nothing;
                }
                let line = &line[..end.unwrap_or(line.len())];
                trace(unescaped(line.strip_suffix(b"\\n").unwrap_or(line)))
            }
        }
    }
}

/// A line of the trace, unless it is of the lists of processes that systrace writes beside it.
fn trace(line: Cow<'_, [u8]>) -> Part<'_> {
    let event = line.starts_with(b"#") || line.starts_with(b"CPU:") || super::head::Head::parse(&line).is_ok();
    if event { Part::Trace(line) } else { Part::Outside }
}

/// Takes the backslashes of a string off.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(if byte == b'\\' { *bytes.next().unwrap_or(&b'\\') } else { byte });
    }
    Cow::Owned(plain)
}
