// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading the head of a file: numbers in its byte order, texts, lengths that are not believed until the bytes are
//! there.

use std::io::{BufRead, Read, Seek, SeekFrom};

use super::page::Order;

/// Longest text ended by a zero, bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// Reason why the head cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// End of the file within the head.
    Short,
    /// Contents that cannot be so.
    Bad(String),
    /// The file cannot be read.
    Io(std::io::Error),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::UnexpectedEof { Fault::Short } else { Fault::Io(error) }
    }
}

/// Shorthand for a [`Fault::Bad`].
pub(super) fn bad<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Bad(what.into()))
}

/// A place in the head.
pub(super) struct Cursor<R> {
    pub input: R,
    pub order: Order,
}

impl<R: BufRead + Seek> Cursor<R> {
    pub fn new(input: R, order: Order) -> Self {
        Cursor { input, order }
    }

    /// Position of the cursor in the file.
    pub fn position(&mut self) -> u64 {
        self.input.stream_position().unwrap_or(0)
    }

    /// Goes to `offset` from the start.
    pub fn seek(&mut self, offset: u64) -> Result<(), Fault> {
        self.input.seek(SeekFrom::Start(offset))?;
        Ok(())
    }

    pub fn number(&mut self, bytes: usize) -> Result<u64, Fault> {
        let mut buffer = [0; 8];
        let buffer = buffer.get_mut(..bytes).ok_or(Fault::Short)?;
        self.input.read_exact(buffer)?;
        Ok(self.order.number(buffer))
    }

    pub fn u16(&mut self) -> Result<u16, Fault> {
        self.number(2).map(|number| number as u16)
    }

    pub fn u32(&mut self) -> Result<u32, Fault> {
        self.number(4).map(|number| number as u32)
    }

    pub fn u64(&mut self) -> Result<u64, Fault> {
        self.number(8)
    }

    /// The next `length` bytes, at most `limit`.
    pub fn bytes(&mut self, length: u64, limit: u64, what: &str) -> Result<Vec<u8>, Fault> {
        if length > limit {
            return bad(format!("{what} of {length} bytes: more than any file has"));
        }
        let mut bytes = Vec::new();
        let found = self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        if (found as u64) < length { Err(Fault::Short) } else { Ok(bytes) }
    }

    /// Passes over `length` bytes.
    pub fn skip(&mut self, length: u64) -> Result<(), Fault> {
        let target = self.position().checked_add(length).ok_or(Fault::Short)?;
        self.seek(target)
    }

    /// Text up to the next zero.
    pub fn text(&mut self) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(TEXT_BYTES_MAX as u64).read_until(0, &mut bytes)?;
        if bytes.pop() != Some(0) {
            return Err(Fault::Short);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text `expected` with its final zero.
    pub fn expect(&mut self, expected: &str) -> Result<(), Fault> {
        let found = self.text()?;
        if found == expected { Ok(()) } else { bad(format!("`{expected}` should stand here")) }
    }
}
