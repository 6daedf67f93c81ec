// SPDX-License-Identifier: GPL-2.0-or-later
//! Writing a log.

use std::io;

use pelton_schema::{Event, Sink};

use super::{EVENTS_BYTES_TARGET, FrameKind, MAGIC, Tally, frame_crc, header};

use crate::header::RunHeader;
use crate::output::Output;
use crate::varint::{self, Bytes, Record};

/// Writes the events of a run as a log. Memory: one frame (64 KiB).
///
/// ```
/// use pelton_schema::{Event, Sink};
/// use pelton_trace::{LogReader, PeltonLog, RunHeader};
///
/// let mut file = Vec::new();
/// let mut log = PeltonLog::new(&mut file, &RunHeader::default());
/// log.event(1_000, &Event::CpuFrequency { cpu: 0, freq_khz: 600_000 });
/// assert_eq!(log.finish().unwrap().events, 1);
///
/// let mut events = LogReader::open(&file[..]).unwrap();
/// assert_eq!(events.next().unwrap().unwrap().0, 1_000);
/// assert!(events.next().is_none());
/// ```
pub struct PeltonLog<W: io::Write> {
    output: Output<W>,
    frame: Vec<u8>,
    /// The event being encoded.
    record: Record,
    tally: Tally,
    /// Time the next delta counts from; 0 at the start of a frame.
    base_ns: u64,
}

/// Contents of a finished log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSummary {
    /// Events written.
    pub events: u64,
    /// Length of the file, bytes.
    pub bytes: u64,
}

impl<W: io::Write> PeltonLog<W> {
    /// Starts a log. Writes are 64 KiB long, so `out` needs no buffer.
    pub fn new(out: W, run: &RunHeader) -> Self {
        let mut output = Output::new(out);
        output.put(&MAGIC);
        output.put(&header::version(run).to_le_bytes());
        put_frame(&mut output, FrameKind::Header, &header::encode(run));
        let frame = Vec::with_capacity(EVENTS_BYTES_TARGET + 1024);
        PeltonLog { output, frame, record: Record::new(), tally: Tally::default(), base_ns: 0 }
    }

    /// Writes the footer; returns the first error of the whole log, if any.
    pub fn finish(mut self) -> io::Result<LogSummary> {
        self.close_frame();
        let mut footer = Vec::new();
        for number in [self.tally.events, self.tally.frames, self.tally.last_time_ns] {
            varint::put(&mut footer, number);
        }
        footer.extend_from_slice(&self.tally.chain.to_le_bytes());
        put_frame(&mut self.output, FrameKind::Footer, &footer);
        let bytes = self.output.finish()?;
        Ok(LogSummary { events: self.tally.events, bytes })
    }

    /// Ends a log that does not hold everything: without a footer, so that every reader says so. Returns the first
    /// error of the whole log, if any.
    pub fn abandon(mut self) -> io::Result<LogSummary> {
        self.close_frame();
        let bytes = self.output.finish()?;
        Ok(LogSummary { events: self.tally.events, bytes })
    }

    /// True once a write failed: nothing more reaches the file, and `finish` will say why.
    pub fn has_failed(&self) -> bool {
        self.output.has_failed()
    }

    fn close_frame(&mut self) {
        if self.frame.is_empty() {
            return;
        }
        let crc = put_frame(&mut self.output, FrameKind::Events, &self.frame);
        self.tally.count_frame(crc);
        self.frame.clear();
        self.base_ns = 0;
    }
}

impl<W: io::Write> Sink for PeltonLog<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        if time_ns < self.tally.last_time_ns {
            self.output.fail(io::Error::new(io::ErrorKind::InvalidInput, "the run's time went backwards"));
            return;
        }
        self.record.clear();
        self.record.byte(event.code());
        varint::put(&mut self.record, time_ns - self.base_ns);
        event.each_value(|value| varint::put(&mut self.record, value));
        self.frame.extend_from_slice(self.record.as_bytes());
        self.base_ns = time_ns;
        self.tally.last_time_ns = time_ns;
        self.tally.events += 1;
        if self.frame.len() >= EVENTS_BYTES_TARGET {
            self.close_frame();
        }
    }
}

/// Writes one frame and returns its check sum.
fn put_frame<W: io::Write>(output: &mut Output<W>, kind: FrameKind, payload: &[u8]) -> u32 {
    let crc = frame_crc(kind as u8, payload);
    output.put(&[kind as u8]);
    output.put(&(payload.len() as u32).to_le_bytes());
    output.put(&crc.to_le_bytes());
    output.put(payload);
    crc
}
