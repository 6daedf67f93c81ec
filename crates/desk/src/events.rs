// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of a run or a trace as one table for each kind, straight into columns.

use crate::table::{Column, Table, Values, Words};
use pelton_schema::{EVENTS, Event, EventInfo, Sink, Unit, unpack_name};
use pelton_trace::{EventSelection, UnknownEvent, column_name};

/// Columns in which an event carries a name, and the one that stands for them in a table.
const NAME_HALVES: [&str; 2] = ["name_0", "name_8"];

/// Collects events of the selected kinds. Memory: 4 or 8 bytes for each value.
pub struct EventTables {
    by_code: Vec<Option<Kept>>,
    names: Vec<&'static str>,
}

impl EventTables {
    /// Collects the events of these names.
    ///
    /// ```
    /// use pelton_desk::events::EventTables;
    /// use pelton_schema::{Event, Sink};
    /// let mut tables = EventTables::of(["cpu_frequency"]).unwrap();
    /// tables.event(7, &Event::CpuFrequency { cpu: 1, freq_khz: 600_000 });
    /// let table = tables.finish().remove(0).1;
    /// assert_eq!((table.rows(), table.columns[2].name.as_str()), (1, "freq_khz"));
    /// ```
    ///
    /// # Errors
    /// A name that no event has.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str> + Clone) -> Result<EventTables, UnknownEvent> {
        EventSelection::of(names.clone())?;
        let mut made = EventTables { by_code: (0..256).map(|_| None).collect(), names: Vec::new() };
        for name in names {
            let info = EVENTS.iter().find(|info| info.name == name);
            if let Some(info) = info.filter(|info| !made.names.contains(&info.name)) {
                made.names.push(info.name);
                made.by_code[usize::from(info.code)] = Some(Kept::new(info));
            }
        }
        Ok(made)
    }

    /// The tables by name, in the order in which they were asked for.
    pub fn finish(mut self) -> Vec<(&'static str, Table)> {
        let code = |name: &str| EVENTS.iter().position(|info| info.name == name).map(|at| EVENTS[at].code);
        let mut kept = |name: &str| self.by_code[usize::from(code(name)?)].take();
        self.names.iter().filter_map(|name| Some((*name, kept(name)?.table()))).collect()
    }
}

impl Sink for EventTables {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        if let Some(kept) = &mut self.by_code[usize::from(event.code())] {
            kept.push(time_ns, event, known);
        }
    }
}

/// Events of one kind.
struct Kept {
    info: &'static EventInfo,
    time_ns: Vec<u64>,
    columns: Vec<Values>,
    /// Columns that are known, by row; empty while all are.
    known: Vec<u64>,
    all: u64,
}

impl Kept {
    fn new(info: &'static EventInfo) -> Kept {
        let values = |column: &pelton_schema::Column| match (column.signed, column.wide) {
            (true, _) => Values::I64(Vec::new()),
            (false, true) => Values::U64(Vec::new()),
            (false, false) => Values::U32(Vec::new()),
        };
        let all = u64::MAX >> (64 - info.columns.len());
        Kept { info, time_ns: Vec::new(), columns: info.columns.iter().map(values).collect(), known: Vec::new(), all }
    }

    fn push(&mut self, time_ns: u64, event: &Event, known: u64) {
        self.time_ns.push(time_ns);
        let mut columns = self.columns.iter_mut();
        event.each_value(|stored| match columns.next() {
            Some(Values::U32(values)) => values.push(stored as u32),
            Some(Values::U64(values)) => values.push(stored),
            Some(Values::I64(values)) => values.push(stored.cast_signed()),
            _ => {}
        });
        let known = known & self.all & !event.unknown();
        if known != self.all && self.known.is_empty() {
            self.known = vec![self.all; self.time_ns.len() - 1];
        }
        if known != self.all || !self.known.is_empty() {
            self.known.push(known);
        }
    }

    fn table(self) -> Table {
        let Kept { info, time_ns, columns, known, .. } = self;
        let mut made = vec![Column::new("time_ns", "ns", "Time since the start.", Values::U64(time_ns))];
        let mut first_half = Vec::new();
        for (at, (declared, values)) in info.columns.iter().zip(columns).enumerate() {
            let known = || (!known.is_empty()).then(|| known.iter().map(|bits| bits >> at & 1 == 1).collect());
            match (declared.name, values) {
                (name, Values::U64(halves)) if name == NAME_HALVES[0] => first_half = halves,
                (name, Values::U64(halves)) if name == NAME_HALVES[1] => {
                    let names: Words =
                        first_half.iter().zip(&halves).map(|(&first, &rest)| unpack_name(first, rest)).collect();
                    made.push(Column { known: known(), ..Column::words("name", "Name.", names) });
                }
                (_, values) => {
                    let column = Column::new(&column_name(declared), unit(declared.unit), declared.doc.trim(), values);
                    made.push(Column { known: known().filter(|rows: &Vec<bool>| rows.contains(&false)), ..column });
                }
            }
        }
        Table::of(made)
    }
}

/// Unit of a column; none for what is no amount.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Id | Unit::Count | Unit::Code => "",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_schema::pack_name;

    #[test]
    fn every_kind_of_event_has_a_table_with_its_columns() {
        let tables = EventTables::of(EVENTS.iter().map(|info| info.name)).expect("all are declared").finish();
        assert_eq!(tables.len(), EVENTS.len());
        for ((name, table), info) in tables.iter().zip(EVENTS) {
            let names = info.columns.iter().any(|column| column.name == NAME_HALVES[0]);
            assert_eq!(table.columns.len(), info.columns.len() + 1 - usize::from(names), "{name}");
        }
    }

    #[test]
    fn what_a_recording_leaves_out_is_not_known() {
        let mut tables = EventTables::of(["pelt_rt"]).expect("declared");
        tables.event(5, &Event::PeltRt { cpu: 1, util_avg: 3 });
        tables.event_known(6, &Event::PeltRt { cpu: 1, util_avg: 0 }, 1);
        let table = tables.finish().remove(0).1;
        assert_eq!(table.column("cpu").expect("there").known, None);
        assert_eq!(table.column("util_avg_of_1024").expect("there").known, Some(vec![true, false]));
    }

    #[test]
    fn a_name_is_one_text() {
        let mut tables = EventTables::of(["task_name"]).expect("declared");
        let (name_0, name_8) = pack_name("surfaceflinger");
        tables.event(5, &Event::TaskName { tid: 7, name_0, name_8 });
        let table = tables.finish().remove(0).1;
        let expected = Values::Words { at: vec![0], words: vec!["surfaceflinger".into()] };
        assert_eq!(table.column("name").map(|column| &column.values), Some(&expected));
    }

    #[test]
    fn a_name_that_no_event_has_is_answered_with_the_right_ones() {
        assert!(EventTables::of(["nosuch"]).is_err_and(|why| why.to_string().contains("sched_switch")));
    }
}
