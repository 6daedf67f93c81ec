// SPDX-License-Identifier: GPL-2.0-or-later
//! The lines of a file of any length, in bounded memory.

use std::io::{self, BufRead};

use memchr::memchr;

/// Longest line that is handed out; a longer one is no line of any trace.
pub(crate) const LINE_MAX: usize = 64 * 1024;
/// Bytes asked for at a time.
const CHUNK: usize = 256 * 1024;

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Without the line end.
    pub bytes: &'a [u8],
    /// Completeness of the line.
    pub state: LineState,
}

/// Completeness of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineState {
    /// From its start to its line end.
    Whole,
    /// Its start only: the rest was too long and was passed over.
    TooLong,
    /// The file ends before the line does: a value may be cut.
    NoEnd,
}

/// Reads lines; holds at most [`LINE_MAX`] and one chunk.
pub(crate) struct Lines {
    reader: Box<dyn BufRead>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    at_end: bool,
}

impl Lines {
    pub(crate) fn new(reader: Box<dyn BufRead>) -> Lines {
        Lines { reader, buffer: vec![0; LINE_MAX + CHUNK], start: 0, end: 0, number: 0, at_end: false }
    }

    /// Bytes of memory held.
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next line, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let (length, state) = loop {
            let unread = &self.buffer[self.start + searched..self.end];
            if let Some(at) = memchr(b'\n', unread) {
                break (searched + at, LineState::Whole);
            }
            searched = self.end - self.start;
            if searched > LINE_MAX {
                break (searched, LineState::TooLong);
            }
            if !self.fill()? {
                if searched == 0 {
                    return Ok(None);
                }
                break (searched, LineState::NoEnd);
            }
        };
        self.number += 1;
        if length > LINE_MAX {
            return self.too_long(length, state).map(Some);
        }
        let from = self.start;
        self.start = (from + length + usize::from(state == LineState::Whole)).min(self.end);
        let line = &self.buffer[from..from + length];
        Ok(Some(Line { number: self.number, bytes: line.strip_suffix(b"\r").unwrap_or(line), state }))
    }

    /// Passes over the rest of a line that is too long; its start stays in the buffer's front.
    fn too_long(&mut self, length: usize, state: LineState) -> io::Result<Line<'_>> {
        self.buffer.copy_within(self.start..self.start + LINE_MAX, 0);
        if state == LineState::Whole {
            self.start += length + 1;
        } else {
            self.start = self.end;
            self.skip_line()?;
        }
        Ok(Line { number: self.number, bytes: &self.buffer[..LINE_MAX], state: LineState::TooLong })
    }

    /// Drops bytes up to the next line end; keeps the buffer's front.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let chunk = retry(|| self.reader.fill_buf().map(<[u8]>::len))?;
            if chunk == 0 {
                self.at_end = true;
                return Ok(());
            }
            let found = memchr(b'\n', self.reader.fill_buf()?);
            self.reader.consume(found.map_or(chunk, |at| at + 1));
            if found.is_some() {
                return Ok(());
            }
        }
    }

    /// Reads more behind what is unread; false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        if self.end == self.buffer.len() || self.start == self.end {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let room = &mut self.buffer[self.end..];
        let got = retry(|| io::Read::read(&mut self.reader, room))?;
        self.end += got;
        self.at_end = got == 0;
        Ok(got > 0)
    }
}

/// Calls again what a signal interrupted.
fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn lines(bytes: &[u8], capacity: usize) -> Vec<(u64, Vec<u8>, LineState)> {
        let mut lines = Lines::new(Box::new(BufReader::with_capacity(capacity, Cursor::new(bytes.to_vec()))));
        let mut all = Vec::new();
        while let Some(line) = lines.next().expect("memory does not fail") {
            all.push((line.number, line.bytes.to_vec(), line.state));
        }
        all
    }

    #[test]
    fn lines_come_numbered_and_without_their_ends() {
        let expected = [
            (1, b"a".to_vec(), LineState::Whole),
            (2, b"".to_vec(), LineState::Whole),
            (3, b"b\0c".to_vec(), LineState::Whole),
            (4, b"cut".to_vec(), LineState::NoEnd),
        ];
        for capacity in [1, 2, 3, 1000] {
            assert_eq!(lines(b"a\r\n\nb\0c\ncut", capacity), expected);
        }
        assert_eq!(lines(b"", 8), []);
    }

    #[test]
    fn a_line_without_end_is_cut_and_passed_over() {
        for length in [LINE_MAX, LINE_MAX + 1, LINE_MAX + CHUNK - 1, LINE_MAX + CHUNK, 3 * CHUNK, 10 << 20] {
            for capacity in [4096, 1 << 20] {
                let mut bytes = b"first\n".to_vec();
                bytes.resize(6 + length, b'x');
                bytes.extend(b"\nlast\n");
                let all = lines(&bytes, capacity);
                let too_long = length > LINE_MAX;
                let state = if too_long { LineState::TooLong } else { LineState::Whole };
                assert_eq!((all[1].1.len(), all[1].2), (length.min(LINE_MAX), state), "{length}");
                assert_eq!(all[2], (3, b"last".to_vec(), LineState::Whole), "{length}");
            }
        }
    }
}
