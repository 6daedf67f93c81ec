// SPDX-License-Identifier: GPL-2.0-or-later
//! Events as JSON lines, with the column names of the schema; which events are wanted.

use std::fmt;
use std::io::{self, Write};

use pelton_schema::{EVENTS, Event, EventInfo, Sink};

use crate::output::Output;
use crate::text::try_each_column;

/// Set of events that a table shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSelection([bool; 256]);

/// A name that is no event's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    /// The name asked for.
    pub name: String,
}

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = EVENTS.iter().map(|info| info.name).collect();
        write!(f, "no event is called `{}`; there are: {}", self.name, names.join(", "))
    }
}

impl std::error::Error for UnknownEvent {}

impl EventSelection {
    /// Every event.
    pub fn all() -> Self {
        EventSelection([true; 256])
    }

    /// The events of these names.
    ///
    /// ```
    /// use pelton_trace::EventSelection;
    /// assert!(EventSelection::of(["sched_switch"]).is_ok());
    /// assert!(EventSelection::of(["context_switch"]).is_err());
    /// ```
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownEvent> {
        let mut selection = EventSelection([false; 256]);
        for name in names {
            let info = EVENTS.iter().find(|info| info.name == name);
            let info = info.ok_or_else(|| UnknownEvent { name: name.to_owned() })?;
            selection.0[usize::from(info.code)] = true;
        }
        Ok(selection)
    }

    /// True when `event` is selected.
    pub fn contains(&self, event: &Event) -> bool {
        self.0[usize::from(event.code())]
    }

    fn infos(&self) -> impl Iterator<Item = &'static EventInfo> + '_ {
        EVENTS.iter().filter(|info| self.0[usize::from(info.code)])
    }

    /// The declaration of `event` when it is selected.
    fn info(&self, event: &Event) -> Option<&'static EventInfo> {
        EventInfo::of_code(event.code()).filter(|_| self.contains(event))
    }
}

/// Writes events as JSON lines: first `{"units":{column: unit}}` per event name, then one object per event.
///
/// ```
/// use pelton_schema::{Event, Sink};
/// use pelton_trace::{EventSelection, JsonLines};
/// let mut text = Vec::new();
/// let mut lines = JsonLines::new(&mut text, EventSelection::of(["cpu_idle"]).unwrap());
/// lines.event(7, &Event::CpuIdle { cpu: 1, state: 0 });
/// lines.finish().unwrap();
/// let text = String::from_utf8(text).unwrap();
/// assert_eq!(text.lines().next(), Some(r#"{"units":{"cpu_idle":{"time_ns":"ns","cpu":"id","state":"code"}}}"#));
/// assert_eq!(text.lines().nth(1), Some(r#"{"time_ns":7,"event":"cpu_idle","cpu":1,"state":0}"#));
/// ```
pub struct JsonLines<W: Write> {
    output: Output<W>,
    selection: EventSelection,
}

impl<W: Write> JsonLines<W> {
    /// Starts the lines with the line of units.
    pub fn new(out: W, selection: EventSelection) -> Self {
        let mut output = Output::new(out);
        output.append(|text| write_units(text, &selection));
        JsonLines { output, selection }
    }

    /// Writes what is buffered; returns the length of the text or the first error.
    pub fn finish(self) -> io::Result<u64> {
        self.output.finish()
    }
}

impl<W: Write> Sink for JsonLines<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Some(info) = self.selection.info(event) else { return };
        self.output.append(|text| write_object(text, time_ns, info, event));
    }
}

fn write_units(out: &mut Vec<u8>, selection: &EventSelection) -> io::Result<()> {
    write!(out, "{{\"units\":{{")?;
    for (index, info) in selection.infos().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}\"{}\":{{\"time_ns\":\"ns\"", info.name)?;
        info.columns.iter().try_for_each(|c| write!(out, ",\"{}\":\"{}\"", c.name, c.unit.name()))?;
        write!(out, "}}")?;
    }
    writeln!(out, "}}}}")
}

fn write_object(out: &mut Vec<u8>, time_ns: u64, info: &EventInfo, event: &Event) -> io::Result<()> {
    write!(out, "{{\"time_ns\":{time_ns},\"event\":\"{}\"", info.name)?;
    try_each_column(info, event, |name, number| write!(out, ",\"{name}\":{number}"))?;
    writeln!(out, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_event_name_is_answered_with_the_right_ones() {
        let text = EventSelection::of(["nosuch"]).expect_err("unknown").to_string();
        assert!(text.starts_with("no event is called `nosuch`; there are: sched_switch, "), "{text}");
    }
}
