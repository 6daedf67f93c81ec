// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads of a file at a place. Where the system has no such read, the place is sought before.

use std::fs::File;
use std::io;

/// Reads some bytes; 0: the file ends there.
#[cfg(unix)]
fn some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn some(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(buffer)
}

/// Reads as much of `buffer` as the file has.
pub fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match some(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Fills `buffer`.
pub fn read_whole(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    if read(file, buffer, offset)? == buffer.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
