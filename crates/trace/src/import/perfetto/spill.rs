// SPDX-License-Identifier: GPL-2.0-or-later
//! Data that must be written down to be read in another order: unpacked packets, and events of tracks in sorted runs.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use pelton_schema::Event;

use crate::import::compressed::GROWTH_MAX;
use crate::varint;

/// Bytes that may be written down whatever the length of the trace.
const FREE_BYTES: u64 = 256 << 20;
/// Most columns of an event.
const COLUMNS_MAX: usize = 32;

/// A temporary file without a name, made when it is first needed.
#[derive(Default)]
pub(super) struct Spill {
    file: Option<BufWriter<File>>,
    bytes: u64,
    bytes_max: u64,
}

impl Spill {
    /// For a trace of so many bytes.
    pub fn of_trace(bytes: u64) -> Spill {
        Spill { bytes_max: FREE_BYTES.max(bytes.saturating_mul(GROWTH_MAX)), ..Spill::default() }
    }

    /// True when so many bytes more may be written down.
    pub fn takes(&self, bytes: usize) -> bool {
        self.bytes + bytes as u64 <= self.bytes_max
    }

    /// Appends `bytes`; returns where they start.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::with_capacity(1 << 18, tempfile::tempfile()?)),
        };
        file.write_all(bytes)?;
        let start = self.bytes;
        self.bytes += bytes.len() as u64;
        Ok(start)
    }

    /// The file, complete.
    pub fn finish(self) -> io::Result<Option<File>> {
        self.file.map(|file| file.into_inner().map_err(io::IntoInnerError::into_error)).transpose()
    }
}

/// Appends one event of a run.
pub(super) fn put_event(out: &mut Vec<u8>, time_ns: u64, event: &Event) {
    out.extend_from_slice(&time_ns.to_le_bytes());
    out.push(event.code());
    let count_at = out.len();
    out.push(0);
    event.each_value(|value| {
        varint::put(out, value);
        out[count_at] += 1;
    });
}

/// Takes one event of a run.
pub(super) fn take_event(input: &mut &[u8]) -> Option<(u64, Event)> {
    let (time, rest) = input.split_first_chunk::<8>()?;
    let (head, rest) = rest.split_first_chunk::<2>()?;
    *input = rest;
    let mut values = [0; COLUMNS_MAX];
    let values = values.get_mut(..usize::from(head[1]))?;
    for value in values.iter_mut() {
        *value = varint::take(input)?;
    }
    Some((u64::from_le_bytes(*time), Event::from_values(head[0], values)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back() {
        let event = Event::PeltHw { cpu: 3, load_avg: 1 << 40 };
        let mut bytes = Vec::new();
        put_event(&mut bytes, 77, &event);
        put_event(&mut bytes, 78, &Event::CpuIdle { cpu: 1, state: u32::MAX });
        let mut input = &bytes[..];
        assert_eq!(take_event(&mut input), Some((77, event)));
        assert_eq!(take_event(&mut input), Some((78, Event::CpuIdle { cpu: 1, state: u32::MAX })));
        assert_eq!((take_event(&mut input), input.len()), (None, 0));
    }
}
