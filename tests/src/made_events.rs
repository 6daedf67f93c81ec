// SPDX-License-Identifier: GPL-2.0-or-later
//! Events from any bytes, for code behind the readers: nearly every input is a sequence of declared events.
//!
//! An event is a byte for its kind, a number for the time since the one before, and a number for each column. A number
//! is one byte when it is small; else a byte says how many of the next bytes are it, or that it is an extreme.

use pelton_schema::{EVENTS, Event};
use pelton_trace::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Bytes below this are the number itself.
const SMALL: u8 = 240;
/// A byte from here on, below [`EXTREME`], is followed by 1 to 8 bytes of the number.
const EXTREME: u8 = SMALL + 8;
const EXTREMES: [u64; 8] =
    [u64::MAX, i64::MAX as u64, u32::MAX as u64, i32::MAX as u64, 1024, 47_742, 1 << 20, 1 << 63];

/// The events of an input.
pub struct MadeEvents<'a> {
    rest: &'a [u8],
    time_ns: u64,
    info: TraceInfo,
}

impl<'a> MadeEvents<'a> {
    /// From any bytes.
    pub fn new(input: &'a [u8]) -> MadeEvents<'a> {
        let mut info = TraceInfo::new(Format::PeltonLog);
        EVENTS.iter().for_each(|event| info.has_all_columns(event));
        MadeEvents { rest: input, time_ns: 0, info }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ 0..SMALL => Some(u64::from(small)),
            head @ SMALL..EXTREME => {
                (0..=head - SMALL).try_fold(0, |number, _| Some(number << 8 | u64::from(self.byte()?)))
            }
            extreme => Some(EXTREMES[usize::from(extreme - EXTREME)]),
        }
    }

    /// `None`: the input ends.
    fn event(&mut self) -> Option<Event> {
        let declared = &EVENTS[usize::from(self.byte()?) % EVENTS.len()];
        self.time_ns = self.time_ns.saturating_add(self.number()?);
        let mut values = Vec::with_capacity(declared.columns.len());
        for _ in declared.columns {
            values.push(self.number()?);
        }
        // Numbers too large for their column are cut: every kind of event comes through.
        let narrow: Vec<u64> = values.iter().map(|value| value & u64::from(u32::MAX)).collect();
        Event::from_values(declared.code, &values).or_else(|| Event::from_values(declared.code, &narrow))
    }
}

impl Source for MadeEvents<'_> {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        Ok(self.event().map(|event| Timed { time_ns: self.time_ns, event }))
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

/// The bytes of these events; times must not decrease.
pub fn bytes_of(events: impl IntoIterator<Item = (u64, Event)>) -> Vec<u8> {
    let (mut out, mut before_ns) = (Vec::new(), 0);
    for (time_ns, event) in events {
        out.push(EVENTS.iter().position(|declared| declared.code == event.code()).unwrap_or(0) as u8);
        put(&mut out, time_ns - before_ns);
        before_ns = time_ns;
        event.each_value(|value| put(&mut out, value));
    }
    out
}

fn put(out: &mut Vec<u8>, number: u64) {
    if number < u64::from(SMALL) {
        return out.push(number as u8);
    }
    let unused = number.leading_zeros() as usize / 8;
    out.push(SMALL + 7 - unused as u8);
    out.extend(&number.to_be_bytes()[unused..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back() {
        let events = [
            (7, Event::CpuIdle { cpu: 1, state: u32::MAX }),
            (300, Event::PeltHw { cpu: 3, load_avg: 1 << 40 }),
            (
                300,
                Event::RqClock { cpu: 3, clock_ns: 240, clock_task_ns: 239, clock_pelt_ns: u64::MAX, lost_idle_ns: 0 },
            ),
        ];
        let bytes = bytes_of(events);
        let mut source = MadeEvents::new(&bytes);
        let found: Vec<_> = std::iter::from_fn(|| source.next().ok().flatten()).map(|t| (t.time_ns, t.event)).collect();
        assert_eq!(found, events);
    }
}
