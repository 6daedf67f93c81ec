// SPDX-License-Identifier: GPL-2.0-or-later
//! Mapping of the columns of a file to the columns of this build, by name.

use pelton_schema::{EVENTS, Event, EventInfo};

use super::COLUMNS_MAX;
use crate::varint;

/// One event as a file's header declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileEvent {
    pub code: u8,
    pub name: String,
    pub columns: Vec<String>,
}

/// Destination of an event of the file.
#[derive(Clone, Debug)]
struct Target {
    /// Our declaration; `None` when this build does not know the event.
    info: Option<&'static EventInfo>,
    /// Our column for each column of the file; [`COLUMNS_MAX`] for a column this build does not know.
    columns: Vec<u8>,
    /// The columns are ours, in our order.
    same: bool,
    /// Columns of ours that the file does not have, and what they hold then.
    missing: Vec<(u8, u64)>,
}

/// The mapping of a whole file.
#[derive(Debug)]
pub(super) struct Layout {
    by_code: [Option<Target>; 256],
    /// The record being read: one place more, for columns this build does not know.
    values: [u64; COLUMNS_MAX + 1],
    /// Sentences for people: what does not correspond.
    pub differences: Vec<String>,
    /// Columns of this build that the file does not have, by event.
    pub missing: Vec<(&'static str, &'static str)>,
}

/// One decoded record.
pub(super) enum Decoded {
    Event(Event),
    /// An event this build does not know.
    Dropped,
}

impl Layout {
    /// `None` when the file declares a code twice.
    pub fn of(schema: &[FileEvent]) -> Option<Layout> {
        let mut layout = Layout {
            by_code: std::array::from_fn(|_| None),
            values: [0; COLUMNS_MAX + 1],
            differences: Vec::new(),
            missing: Vec::new(),
        };
        for event in schema {
            let target = layout.target_of(event);
            if layout.by_code[usize::from(event.code)].replace(target).is_some() {
                return None;
            }
        }
        Some(layout)
    }

    fn target_of(&mut self, event: &FileEvent) -> Target {
        let info = EVENTS.iter().find(|info| info.name == event.name);
        let Some(info) = info else {
            self.differences.push(format!("event {} is unknown to this build and is dropped", event.name));
            let columns = vec![COLUMNS_MAX as u8; event.columns.len()];
            return Target { info: None, columns, same: false, missing: Vec::new() };
        };
        let mut missing = Vec::new();
        for (at, column) in (0..).zip(info.columns) {
            if event.columns.iter().any(|name| name == column.name) {
                continue;
            }
            missing.push((at, info.unknown_value(column.name)));
            self.differences.push(format!("{}.{} is not in the file: not known", event.name, column.name));
            self.missing.push((info.name, column.name));
        }
        let columns: Vec<_> = event.columns.iter().map(|name| info.column(name)).collect();
        for (name, _) in event.columns.iter().zip(&columns).filter(|(_, target)| target.is_none()) {
            self.differences.push(format!("{}.{name} is unknown to this build and is dropped", event.name));
        }
        let same = columns.iter().copied().eq((0..info.columns.len()).map(Some));
        let columns = columns.iter().map(|column| column.unwrap_or(COLUMNS_MAX) as u8).collect();
        Target { info: Some(info), columns, same, missing }
    }

    /// Takes the columns of one record off `input`; `None` when they are malformed.
    #[inline]
    pub fn take(&mut self, code: u8, input: &mut &[u8]) -> Option<Decoded> {
        let target = self.by_code[usize::from(code)].as_ref()?;
        let values = &mut self.values;
        if target.same {
            for value in &mut values[..target.columns.len()] {
                *value = varint::take(input)?;
            }
        } else {
            values.fill(0);
            target.missing.iter().for_each(|&(at, unknown)| values[usize::from(at)] = unknown);
            for column in &target.columns {
                values[usize::from(*column)] = varint::take(input)?;
            }
        }
        match target.info {
            Some(info) => Event::from_values(info.code, &values[..info.columns.len()]).map(Decoded::Event),
            None => Some(Decoded::Dropped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_event(code: u8, name: &str, columns: &[&str]) -> FileEvent {
        FileEvent { code, name: name.to_owned(), columns: columns.iter().map(|&c| c.to_owned()).collect() }
    }

    fn decoded(layout: &mut Layout, code: u8, mut bytes: &[u8]) -> Option<Event> {
        match layout.take(code, &mut bytes)? {
            Decoded::Event(event) => Some(event),
            Decoded::Dropped => None,
        }
    }

    #[test]
    fn columns_are_matched_by_name_not_by_place() {
        let mut layout = Layout::of(&[file_event(40, "cpu_frequency", &["freq_khz", "cpu"])]).expect("codes differ");
        assert_eq!(decoded(&mut layout, 40, &[7, 3]), Some(Event::CpuFrequency { cpu: 3, freq_khz: 7 }));
        assert!(layout.differences.is_empty());
    }

    #[test]
    fn missing_and_unknown_columns_are_named() {
        let schema = [file_event(5, "cpu_frequency", &["cpu", "voltage_uv"]), file_event(6, "gone", &["a"])];
        let mut layout = Layout::of(&schema).expect("codes differ");
        assert_eq!(decoded(&mut layout, 5, &[3, 9]), Some(Event::CpuFrequency { cpu: 3, freq_khz: 0 }));
        assert_eq!(decoded(&mut layout, 6, &[3]), None);
        assert_eq!(
            layout.differences,
            [
                "cpu_frequency.freq_khz is not in the file: not known",
                "cpu_frequency.voltage_uv is unknown to this build and is dropped",
                "event gone is unknown to this build and is dropped",
            ]
        );
    }

    #[test]
    fn a_code_declared_twice_is_refused() {
        assert!(Layout::of(&[file_event(5, "a", &[]), file_event(5, "b", &[])]).is_none());
    }
}
