// SPDX-License-Identifier: GPL-2.0-or-later
//! Our own log of a run (`.plog`): complete, compact, checked, and describing itself.
//!
//! ```text
//! file    = "PELTONLG" version:u16le frame(header) frame(events)* frame(footer)
//! frame   = kind:u8 length:u32le crc32:u32le payload      the CRC covers kind, length and payload
//! header  = run fields, then the schema: per event its code, name and column names; version 2: then remarks, groups;
//!           version 3: then the recorded kernel
//! events  = (code:u8 time_delta_ns:varint column:varint*)*   the first delta of a frame counts from 0
//! footer  = events:varint frames:varint last_time_ns:varint chain:u32le
//! ```
//!
//! `chain` is the CRC over the CRCs of all events frames. A reader thus knows whether it saw everything, and a
//! damaged frame is found before any of its events is handed out.
//!
//! **Old files.** The schema in the header is matched by name, so a new event or column needs no new version: a column
//! the file lacks is not known, one that no longer exists is dropped, and [`LogReader::differences`] names both. Any
//! other change of the layout takes a new version number, keeps the old decoder, and adds a recorded file to
//! `crates/trace/tests/fixtures/`. Recorded files are never written again.

mod error;
mod header;
mod layout;
mod read;
mod write;

pub use error::LogError;
pub use read::LogReader;
pub use write::{LogSummary, PeltonLog};

/// First bytes of every log.
pub const MAGIC: [u8; 8] = *b"PELTONLG";
/// Newest version this build reads. The oldest that can hold a header is written: 1 for one without kernel, remarks and
/// groups, which every simulation is, 2 for one without kernel.
pub const VERSION: u16 = 3;

/// Longest header or footer a reader accepts, bytes: room for a million tasks.
const HEADER_BYTES_MAX: u32 = 64 << 20;
/// Longest events frame a reader accepts, bytes.
const EVENTS_BYTES_MAX: u32 = 1 << 20;
/// Length at which the writer closes an events frame, bytes.
const EVENTS_BYTES_TARGET: usize = 64 << 10;
/// Most columns of an event.
const COLUMNS_MAX: usize = 64;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum FrameKind {
    Header = b'H',
    Events = b'E',
    Footer = b'F',
}

impl FrameKind {
    fn of_byte(byte: u8) -> Option<FrameKind> {
        [FrameKind::Header, FrameKind::Events, FrameKind::Footer].into_iter().find(|&kind| kind as u8 == byte)
    }

    fn bytes_max(self) -> u32 {
        if self == FrameKind::Events { EVENTS_BYTES_MAX } else { HEADER_BYTES_MAX }
    }
}

/// Length of what stands before a frame's payload.
const FRAME_HEAD_BYTES: usize = 9;

/// Check sum of a frame.
fn frame_crc(kind: u8, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(&(payload.len() as u32).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Counts that the footer repeats, kept on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    events: u64,
    frames: u64,
    last_time_ns: u64,
    chain: u32,
}

impl Tally {
    fn count_frame(&mut self, crc: u32) {
        self.frames += 1;
        let mut hasher = crc32fast::Hasher::new_with_initial(self.chain);
        hasher.update(&crc.to_le_bytes());
        self.chain = hasher.finalize();
    }
}
