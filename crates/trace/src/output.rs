// SPDX-License-Identifier: GPL-2.0-or-later
//! Buffered writer of a sink's bytes. A sink has no caller to return an error to, so the first one is kept for
//! `finish`.

use std::io::{self, Write};

/// Length at which buffered bytes are written.
const BUFFER_BYTES_TARGET: usize = 64 << 10;

/// A writer with a buffer and a memory for its first error.
pub(crate) struct Output<W> {
    out: W,
    buffer: Vec<u8>,
    error: Option<io::Error>,
    bytes: u64,
}

impl<W: Write> Output<W> {
    pub fn new(out: W) -> Self {
        Output { out, buffer: Vec::new(), error: None, bytes: 0 }
    }

    /// Lets `fill` append to the buffer, and writes the buffer when it is full enough.
    pub fn append(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        if let Err(error) = fill(&mut self.buffer) {
            self.fail(error);
        }
        if self.buffer.len() >= BUFFER_BYTES_TARGET {
            self.write_buffer();
        }
    }

    /// Writes `bytes` after everything appended so far.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() < BUFFER_BYTES_TARGET {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.write_buffer();
            self.write(bytes);
        }
    }

    /// Keeps the first error.
    pub fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }

    /// True once an error was kept.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Flushes; returns the number of bytes written, or the first error.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_buffer();
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.bytes),
        }
    }

    fn write_buffer(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_some() {
            return;
        }
        match self.out.write_all(bytes) {
            Ok(()) => self.bytes += bytes.len() as u64,
            Err(error) => self.fail(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes `room` bytes, then fails.
    struct Full {
        room: usize,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.room = self.room.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_error_is_returned_at_the_end() {
        let mut output = Output::new(Full { room: BUFFER_BYTES_TARGET });
        for _ in 0..3 {
            output.put(&[0; BUFFER_BYTES_TARGET]);
        }
        output.fail(io::ErrorKind::InvalidInput.into());
        assert_eq!(output.finish().map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
    }

    #[test]
    fn small_and_large_pieces_stay_in_order() {
        let mut file = Vec::new();
        let mut output = Output::new(&mut file);
        output.put(b"head");
        output.append(|buffer| write!(buffer, "-text-"));
        output.put(&[b'x'; BUFFER_BYTES_TARGET]);
        output.put(b"tail");
        assert_eq!(output.finish().ok(), Some(file.len() as u64));
        assert!(file.starts_with(b"head-text-xx") && file.ends_with(b"xxtail"));
    }
}
