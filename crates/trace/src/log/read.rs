// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading a log in constant memory.

use std::io::{self, Read};

use pelton_schema::Event;

use super::layout::{Decoded, Layout};
use super::{FRAME_HEAD_BYTES, FrameKind, LogError, MAGIC, Tally, VERSION, frame_crc, header};
use crate::header::RunHeader;
use crate::varint;

/// Iterates over the events of a log: `(time_ns, event)` in the order written.
///
/// A damaged or cut file gives its good events first, then one error, then nothing. Memory: one frame (at most 1 MiB)
/// besides the header.
#[derive(Debug)]
pub struct LogReader<R> {
    input: R,
    header: RunHeader,
    layout: Layout,
    frame: Vec<u8>,
    /// Bytes of the frame already consumed.
    consumed: usize,
    time_ns: u64,
    tally: Tally,
    /// Offset of the current frame in the file.
    frame_offset: u64,
    /// Offset of the next frame in the file.
    next_offset: u64,
    state: State,
}

/// Progress of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// The footer agreed with what was read.
    Complete,
    Failed,
}

impl<R: Read> LogReader<R> {
    /// Reads the header. Frames are read whole, so `input` needs no buffer.
    pub fn open(mut input: R) -> Result<Self, LogError> {
        let version = read_prefix(&mut input)?;
        let mut frame = Vec::new();
        let offset = (MAGIC.len() + size_of::<u16>()) as u64;
        let corrupt = |what| LogError::Corrupt { events: 0, offset, what };
        let (kind, _) = read_frame(&mut input, &mut frame).map_err(|fault| fault.into_error(0, offset))?;
        if kind != FrameKind::Header {
            return Err(corrupt("the header is missing"));
        }
        let (header, schema) = header::decode(&frame, version).ok_or(corrupt("the header is malformed"))?;
        let layout = Layout::of(&schema).ok_or(corrupt("the schema declares a code twice"))?;
        let next_offset = offset + (FRAME_HEAD_BYTES + frame.len()) as u64;
        Ok(LogReader {
            input,
            header,
            layout,
            consumed: frame.len(),
            frame,
            time_ns: 0,
            tally: Tally::default(),
            frame_offset: offset,
            next_offset,
            state: State::Reading,
        })
    }

    /// The run the events belong to.
    pub fn header(&self) -> &RunHeader {
        &self.header
    }

    /// Differences between the file's schema and this build's, as sentences; empty for files of this build.
    pub fn differences(&self) -> &[String] {
        &self.layout.differences
    }

    /// Columns of this build that the file does not have, by event: their values are not known.
    pub fn missing(&self) -> &[(&'static str, &'static str)] {
        &self.layout.missing
    }

    /// True once the footer was read and agreed with what was read before it.
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Offset in the file of the frame being read, bytes.
    pub fn offset(&self) -> u64 {
        self.frame_offset
    }

    /// Memory held for the frame being read.
    pub fn buffered_bytes(&self) -> usize {
        self.frame.capacity()
    }

    fn next_event(&mut self) -> Result<Option<(u64, Event)>, LogError> {
        loop {
            while self.consumed < self.frame.len() {
                if let Some(event) = self.take_event().ok_or_else(|| self.corrupt("an event is malformed"))? {
                    return Ok(Some((self.time_ns, event)));
                }
            }
            if !self.next_frame()? {
                return Ok(None);
            }
        }
    }

    /// `None`: malformed (or earlier than the frame before); `Some(None)`: an event this build does not know.
    fn take_event(&mut self) -> Option<Option<Event>> {
        let mut rest = &self.frame[self.consumed..];
        let (&code, after_code) = rest.split_first()?;
        rest = after_code;
        self.time_ns = self.time_ns.checked_add(varint::take(&mut rest)?)?;
        if self.time_ns < self.tally.last_time_ns {
            return None;
        }
        let decoded = self.layout.take(code, &mut rest)?;
        self.consumed = self.frame.len() - rest.len();
        self.tally.events += 1;
        Some(match decoded {
            Decoded::Event(event) => Some(event),
            Decoded::Dropped => None,
        })
    }

    /// Loads the next events frame; false after a good footer.
    fn next_frame(&mut self) -> Result<bool, LogError> {
        self.tally.last_time_ns = self.tally.last_time_ns.max(self.time_ns);
        self.frame_offset = self.next_offset;
        let events = self.tally.events;
        let (kind, crc) = read_frame(&mut self.input, &mut self.frame)
            .map_err(|fault| fault.into_error(events, self.frame_offset))?;
        self.next_offset += (FRAME_HEAD_BYTES + self.frame.len()) as u64;
        match kind {
            FrameKind::Events => {
                self.tally.count_frame(crc);
                self.consumed = 0;
                self.time_ns = 0;
                Ok(true)
            }
            FrameKind::Footer => self.check_footer().map(|()| false),
            FrameKind::Header => Err(self.corrupt("a second header")),
        }
    }

    fn check_footer(&mut self) -> Result<(), LogError> {
        let footer = decode_footer(&self.frame).ok_or_else(|| self.corrupt("the footer is malformed"))?;
        if footer != self.tally {
            return Err(self.corrupt("the footer counts other events than the file holds"));
        }
        let mut byte = [0];
        if read_up_to(&mut self.input, &mut byte)? != 0 {
            self.frame_offset = self.next_offset;
            return Err(self.corrupt("something follows the footer"));
        }
        Ok(())
    }

    fn corrupt(&self, what: &'static str) -> LogError {
        LogError::Corrupt { events: self.tally.events, offset: self.frame_offset, what }
    }
}

impl<R: Read> Iterator for LogReader<R> {
    type Item = Result<(u64, Event), LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state != State::Reading {
            return None;
        }
        let next = self.next_event().transpose();
        self.state = match next {
            Some(Ok(_)) => State::Reading,
            Some(Err(_)) => State::Failed,
            None => State::Complete,
        };
        next
    }
}

/// Defect of a frame, before its place in the file is known.
enum FrameFault {
    Io(io::Error),
    Short,
    Bad(&'static str),
}

impl FrameFault {
    fn into_error(self, events: u64, offset: u64) -> LogError {
        match self {
            FrameFault::Io(error) => LogError::Io(error),
            FrameFault::Short => LogError::Truncated { events },
            FrameFault::Bad(what) => LogError::Corrupt { events, offset, what },
        }
    }
}

impl From<io::Error> for FrameFault {
    fn from(error: io::Error) -> Self {
        FrameFault::Io(error)
    }
}

/// The version, when it is one this build reads.
fn read_prefix(input: &mut impl Read) -> Result<u16, LogError> {
    let mut prefix = [0; MAGIC.len() + size_of::<u16>()];
    let found = read_up_to(input, &mut prefix)?;
    let (magic, version) = prefix.split_at(MAGIC.len());
    if magic[..found.min(magic.len())] != MAGIC[..found.min(magic.len())] || found == 0 {
        return Err(LogError::NotALog);
    }
    if found < prefix.len() {
        return Err(LogError::Truncated { events: 0 });
    }
    match u16::from_le_bytes([version[0], version[1]]) {
        0 => Err(LogError::Corrupt { events: 0, offset: magic.len() as u64, what: "there is no version 0" }),
        found if found > VERSION => Err(LogError::Version { found }),
        version => Ok(version),
    }
}

/// Reads one frame into `payload`, which never grows beyond what the input really holds.
fn read_frame(input: &mut impl Read, payload: &mut Vec<u8>) -> Result<(FrameKind, u32), FrameFault> {
    payload.clear();
    let mut head = [0; FRAME_HEAD_BYTES];
    if read_up_to(input, &mut head)? < head.len() {
        return Err(FrameFault::Short);
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, crc) = (word(1), word(5));
    let kind = FrameKind::of_byte(head[0]).ok_or(FrameFault::Bad("a frame of unknown kind"))?;
    if length > kind.bytes_max() {
        return Err(FrameFault::Bad("a frame is longer than any writer makes it"));
    }
    let found = input.by_ref().take(u64::from(length)).read_to_end(payload)?;
    if found < length as usize {
        return Err(FrameFault::Short);
    }
    if frame_crc(head[0], payload) != crc {
        return Err(FrameFault::Bad("the check sum of a frame is wrong"));
    }
    Ok((kind, crc))
}

/// Fills `buffer` as far as the input goes.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn decode_footer(mut payload: &[u8]) -> Option<Tally> {
    let input = &mut payload;
    let [events, frames, last_time_ns] = [varint::take(input)?, varint::take(input)?, varint::take(input)?];
    let chain = u32::from_le_bytes((*input).try_into().ok()?);
    Some(Tally { events, frames, last_time_ns, chain })
}
