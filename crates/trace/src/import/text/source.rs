// SPDX-License-Identifier: GPL-2.0-or-later
//! Common part of all readers of text: lines in, events in time order out, damage counted.

use std::borrow::Cow;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use pelton_schema::Event;

use super::lines::{LINE_MAX, Line, LineState, Lines};
use super::reorder::{Reorder, WINDOW};
use crate::import::decode::Notes;
use crate::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Lines that may pass before the first one that is understood.
const HOPELESS_LINES: u64 = 10_000;

/// Reason why a line is not understood, and the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Offset into the line.
    pub at: usize,
    /// Defect, as the end of a sentence.
    pub what: Cow<'static, str>,
}

/// Shorthand for a [`Bad`].
pub(crate) fn bad<T>(at: usize, what: impl Into<Cow<'static, str>>) -> Result<T, Bad> {
    Err(Bad { at, what: what.into() })
}

/// Outcome of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A line of this kind of file.
    Understood,
    /// A comment, an empty line, a line of another part of the file.
    Passed,
}

/// Parser of one kind of text.
pub trait Parser {
    /// Reads one line.
    fn line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad>;

    /// Description of a proper file: the help when nothing in it is understood.
    fn help(&self) -> &'static str;

    /// Called at the end of the file.
    fn end(&mut self, _out: &mut Output) {}

    /// True when lines that are not understood before the first good one are no reason to give up.
    fn patient(&self) -> bool {
        false
    }
}

/// Receiver of a parser's findings.
pub struct Output {
    /// Facts known about the trace.
    pub(crate) notes: Notes,
    window: Reorder,
    line: u64,
    finest_ns: u64,
}

impl Output {
    /// Counts a line that has no meaning here.
    pub(crate) fn pass_over(&mut self, what: &str) -> Seen {
        self.notes.info.skip(what);
        Seen::Passed
    }

    /// Hands out an event; one that comes too late is damage.
    pub(crate) fn event(&mut self, time_ns: u64, event: Event) {
        if self.window.takes(time_ns) {
            self.window.push(time_ns, event);
        } else {
            let what = format!("more than {WINDOW} events too late: not handed out");
            self.notes.info.damage_at(self.line, what);
        }
    }

    /// Sees to it that a CPU is counted.
    pub(crate) fn cpu(&mut self, cpu: u32) {
        self.notes.info.cpus = self.notes.info.cpus.max(cpu.saturating_add(1));
    }

    /// Keeps the finest step of the time stamps seen.
    pub(crate) fn resolution(&mut self, step_ns: u64) {
        self.finest_ns = self.finest_ns.min(step_ns);
        self.notes.info.resolution_ns = self.finest_ns;
    }
}

/// A line that is not understood.
struct Strange {
    number: u64,
    column: usize,
    text: String,
    what: Cow<'static, str>,
}

/// A text file as a stream of events.
pub struct TextLines<P> {
    lines: Lines,
    parser: P,
    out: Output,
    path: PathBuf,
    /// The first line that was not understood, while none was.
    strange: Option<Box<Strange>>,
    strange_lines: u64,
    understood: bool,
    ended: bool,
}

impl<P: Parser> TextLines<P> {
    pub(crate) fn over(reader: Box<dyn BufRead>, path: &Path, format: Format, parser: P) -> TextLines<P> {
        TextLines {
            lines: Lines::new(reader),
            parser,
            out: Output {
                notes: Notes::new(TraceInfo::new(format)),
                window: Reorder::default(),
                line: 0,
                finest_ns: u64::MAX,
            },
            path: path.to_owned(),
            strange: None,
            strange_lines: 0,
            understood: false,
            ended: false,
        }
    }

    /// Bytes of memory held for lines and events.
    pub fn buffered_bytes(&self) -> usize {
        self.lines.buffered_bytes() + self.out.window.buffered_bytes()
    }

    /// Reads one line; false at the end.
    fn read_line(&mut self) -> Result<bool, ImportError> {
        let line = match self.lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(false),
            Err(error) => return Err(ImportError::io(&self.path, error)),
        };
        self.out.line = line.number;
        let result = match line.state {
            LineState::Whole => self.parser.line(line.bytes, &mut self.out),
            LineState::TooLong => bad(LINE_MAX, format!("a line of more than {LINE_MAX} bytes")),
            LineState::NoEnd => last_line(&line),
        };
        match result {
            Ok(Seen::Understood) => self.understood = true,
            Ok(Seen::Passed) => {}
            Err(bad) if self.understood => {
                self.out.notes.info.damage_at(line.number, format_args!("column {}: {}", bad.at + 1, bad.what));
            }
            Err(bad) => {
                self.strange_lines += 1;
                self.strange.get_or_insert_with(|| Box::new(strange(&line, &bad)));
                self.out.notes.info.damage_at(line.number, &bad.what);
            }
        }
        Ok(true)
    }

    /// The error for a file of which nothing was understood.
    fn nothing_understood(&self) -> ImportError {
        let of = |what| ImportError::content(&self.path, what).help(self.parser.help());
        match &self.strange {
            Some(line) => {
                of(format!("no line of it is understood: {}", line.what)).at_line(line.number, line.column, &line.text)
            }
            None => of("no events in it".to_owned()),
        }
    }

    fn hopeless(&self) -> bool {
        !self.understood && !self.parser.patient() && self.strange_lines >= HOPELESS_LINES
    }
}

/// A last line without its end: what it says may be cut, so it is not used.
fn last_line(line: &Line<'_>) -> Result<Seen, Bad> {
    if line.bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Seen::Passed);
    }
    bad(line.bytes.len(), "the last line has no end and may be cut: not used")
}

/// Place at which a line is not understood, with its text made fit for a terminal.
fn strange(line: &Line<'_>, bad: &Bad) -> Strange {
    let shown = &line.bytes[..line.bytes.len().min(400)];
    let clean = |text: &[u8]| -> String {
        String::from_utf8_lossy(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let column = clean(&shown[..bad.at.min(shown.len())]).chars().count();
    Strange { number: line.number, column: column.min(199) + 1, text: clean(shown), what: bad.what.clone() }
}

impl<P: Parser> Source for TextLines<P> {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        loop {
            if let Some(timed) = self.out.window.pop(self.ended) {
                self.out.notes.count(&timed.event);
                return Ok(Some(timed));
            }
            if self.ended {
                self.out.notes.end();
                return Ok(None);
            }
            let more = self.read_line()?;
            if !more {
                self.ended = true;
                self.parser.end(&mut self.out);
            }
            if self.hopeless() || !more && !self.understood {
                self.ended = true;
                return Err(self.nothing_understood());
            }
        }
    }

    fn info(&self) -> &TraceInfo {
        &self.out.notes.info
    }
}
