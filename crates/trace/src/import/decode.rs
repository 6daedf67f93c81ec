// SPDX-License-Identifier: GPL-2.0-only
//! Origin the fields of a kernel's event to a declared one: the spellings, resolved once per event of a file.

use std::collections::BTreeMap;

use pelton_schema::{EVENTS, Event, EventInfo};

use super::TraceInfo;
use super::counts::Counts;
use super::spelling::{COMMS, NAMING, Origin, SPELLINGS, When};

/// Most columns of a declared event.
const COLUMNS_MAX: usize = 32;
/// Task groups told apart.
const GROUPS_MAX: usize = 1 << 16;
/// Tasks whose names are kept.
const NAMES_MAX: usize = 1 << 18;
/// Bytes of a name that are kept; the kernel has 15.
const NAME_BYTES_MAX: usize = 63;
/// Places of the cache of names; a power of two.
const CACHE_PLACES: usize = 4096;

/// The fields of one event as they stand in the file, by place.
pub(super) trait Fields {
    /// A number, sign-extended when the field is signed; `None` when it is not there.
    fn number(&self, place: usize) -> Option<u64>;
    /// A text without its final zero; empty when it is not there.
    fn text(&self, place: usize) -> &[u8];
}

#[derive(Clone, Copy, Debug)]
enum Get {
    Nothing,
    Place(usize),
    State(usize),
    Cpu,
    Is(u64),
    Group(usize),
}

#[derive(Debug)]
struct Row {
    event: &'static EventInfo,
    when: When,
    /// Where each column's value comes from, and whether it takes 64 bits.
    columns: Vec<(Get, bool)>,
}

/// How one event of a file is read.
#[derive(Debug)]
pub(super) struct Plan {
    /// The file's name for it.
    pub name: String,
    rows: Vec<Row>,
    comms: Vec<(usize, usize)>,
    pid: Option<usize>,
    path: Option<usize>,
    /// The task state 64 is "parked" and not "dead", as since 4.14.
    parked: bool,
    named_only: bool,
}

impl Plan {
    /// Resolves the spellings of `name` whose fields `place` finds.
    pub fn new(name: &str, parked: bool, place: impl Fn(&str) -> Option<usize>) -> Plan {
        let spellings = SPELLINGS.iter().filter(|spelling| spelling.names.contains(&name));
        let rows: Vec<Row> = spellings
            .filter_map(|spelling| {
                let event = EVENTS.iter().find(|event| event.name == spelling.event)?;
                let mut columns: Vec<_> = (0..event.columns.len()).map(|i| (Get::Nothing, is_wide(event, i))).collect();
                for (column, from) in spelling.columns {
                    columns[event.column(column)?].0 = resolve(*from, &place);
                }
                Some(Row { event, when: spelling.when, columns })
            })
            .filter(Row::says_anything)
            .collect();
        let named_only = NAMING.contains(&name);
        let comms = if rows.is_empty() && !named_only {
            Vec::new()
        } else {
            COMMS.iter().filter_map(|(tid, comm)| Some((place(tid)?, place(comm)?))).collect()
        };
        Plan { name: name.to_owned(), rows, comms, pid: place("pid"), path: place("path"), parked, named_only }
    }

    /// Tells which columns events of this plan carry.
    pub fn declare(&self, info: &mut TraceInfo) {
        for row in &self.rows {
            for (column, (get, _)) in row.event.columns.iter().zip(&row.columns) {
                if !matches!(get, Get::Nothing) {
                    info.has_column(row.event, column.name);
                }
            }
        }
    }

    /// The declared event, if there is one, not yet counted; names of tasks are noted either way.
    #[inline]
    pub fn decode(&self, fields: &impl Fields, cpu: u32, notes: &mut Notes) -> Option<Event> {
        for &(tid, comm) in &self.comms {
            if let Some(tid) = fields.number(tid) {
                notes.name(tid as u32, fields.text(comm));
            }
        }
        let Some(row) = self.rows.iter().find(|row| self.applies(row.when, fields)) else {
            if !self.named_only {
                notes.info.skip(&self.name);
            }
            return None;
        };
        let event = self.event(row, fields, cpu, notes);
        if event.is_none() {
            notes.info.skip(&self.name);
        }
        event
    }

    fn applies(&self, when: When, fields: &impl Fields) -> bool {
        match when {
            When::Always => true,
            When::Task | When::GroupEntity => {
                let pid = self.pid.and_then(|place| fields.number(place)).unwrap_or(0);
                (pid as u32 as i32 >= 0) == (when == When::Task)
            }
            When::RootQueue | When::GroupQueue => {
                let root = self.path.is_none_or(|place| matches!(fields.text(place), b"" | b"/" | b"(null)"));
                root == (when == When::RootQueue)
            }
        }
    }

    fn event(&self, row: &Row, fields: &impl Fields, cpu: u32, notes: &mut Notes) -> Option<Event> {
        let mut values = [0u64; COLUMNS_MAX];
        let values = values.get_mut(..row.columns.len())?;
        for (value, &(get, wide)) in values.iter_mut().zip(&row.columns) {
            let found = match get {
                Get::Nothing => 0,
                Get::Place(place) => fields.number(place)?,
                Get::State(place) => u64::from(state(fields.number(place)?, self.parked)),
                Get::Cpu => u64::from(cpu),
                Get::Is(number) => number,
                Get::Group(place) => u64::from(notes.group(fields.text(place))?),
            };
            *value = if wide { found } else { fit(found) };
        }
        Event::from_values(row.event.code, values)
    }
}

impl Row {
    /// False when the file has none of the fields the columns come from, such as an event of the same name by others.
    fn says_anything(&self) -> bool {
        self.columns.iter().any(|(get, _)| matches!(get, Get::Place(_) | Get::State(_)))
    }
}

fn resolve(from: Origin, place: &impl Fn(&str) -> Option<usize>) -> Get {
    match from {
        Origin::Field(names) => names.iter().find_map(|name| place(name)).map_or(Get::Nothing, Get::Place),
        Origin::State(name) => place(name).map_or(Get::Nothing, Get::State),
        Origin::Cpu => Get::Cpu,
        Origin::CpuOf(name) => place(name).map_or(Get::Cpu, Get::Place),
        Origin::Is(number) => Get::Is(number),
        Origin::Group => place("path").map_or(Get::Nothing, Get::Group),
    }
}

/// A number as a column of 32 bits takes it: -1 as all ones, what is larger cut off at the largest number.
#[inline]
fn fit(found: u64) -> u64 {
    if found >> 31 == u64::MAX >> 31 { found & 0xffff_ffff } else { found.min(u64::from(u32::MAX)) }
}

/// True when the column takes 64 bits.
fn is_wide(event: &EventInfo, index: usize) -> bool {
    let mut values = vec![0; event.columns.len()];
    values[index] = u64::MAX;
    Event::from_values(event.code, &values).is_some()
}

/// The code of a task state as an event prints it.
pub(super) fn state(bits: u64, parked: bool) -> u32 {
    match bits & 0xff {
        low if low & 1 != 0 => 1,
        low if low & 2 != 0 => 2,
        low if low & 0x30 != 0 => 16,
        low if low & 0x40 != 0 && !parked => 16,
        0 => 0,
        _ => 2,
    }
}

/// What is noted about a trace while its events are decoded.
pub(super) struct Notes {
    /// What is known.
    pub info: TraceInfo,
    counts: Counts,
    cache: Vec<(u32, [u8; 16])>,
    groups: BTreeMap<Vec<u8>, u32>,
}

impl Notes {
    pub fn new(info: TraceInfo) -> Notes {
        Notes { info, counts: Counts::default(), cache: vec![(0, [0; 16]); CACHE_PLACES], groups: BTreeMap::new() }
    }

    /// Counts an event that is handed out.
    #[inline]
    pub fn count(&mut self, event: &Event) {
        self.counts.event(event, &mut self.info);
    }

    /// To be called at the end: [`TraceInfo`] is complete then.
    pub fn end(&mut self) {
        self.counts.flush(&mut self.info);
    }

    /// Notes a task's name. Names repeat in nearly every event, so the last ones are compared first.
    #[inline]
    pub fn name(&mut self, tid: u32, name: &[u8]) {
        if tid == 0 || name.is_empty() {
            return;
        }
        let mut key = [0; 16];
        let length = name.len().min(16);
        key[..length].copy_from_slice(&name[..length]);
        let place = &mut self.cache[tid as usize % CACHE_PLACES];
        if *place == (tid, key) && name.len() <= 16 {
            return;
        }
        *place = (tid, key);
        self.keep_name(tid, name);
    }

    #[cold]
    fn keep_name(&mut self, tid: u32, name: &[u8]) {
        if self.info.names.len() < NAMES_MAX || self.info.names.contains_key(&tid) {
            let kept = &name[..name.len().min(NAME_BYTES_MAX)];
            self.info.name_task(tid, &String::from_utf8_lossy(kept));
        }
    }

    /// The number of a group; 0 is the root group. `None` when there are too many.
    fn group(&mut self, path: &[u8]) -> Option<u32> {
        if self.groups.is_empty() {
            self.groups.insert(b"/".to_vec(), 0);
            self.info.groups.push("/".to_owned());
        }
        if let Some(&number) = self.groups.get(path) {
            return Some(number);
        }
        let number = self.info.groups.len();
        if number >= GROUPS_MAX {
            return None;
        }
        self.groups.insert(path.to_vec(), number as u32);
        self.info.groups.push(String::from_utf8_lossy(path).into_owned());
        Some(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Format;

    struct Given(Vec<(&'static str, u64, &'static str)>);

    impl Fields for Given {
        fn number(&self, place: usize) -> Option<u64> {
            Some(self.0[place].1)
        }
        fn text(&self, place: usize) -> &[u8] {
            self.0[place].2.as_bytes()
        }
    }

    fn decoded(name: &str, given: &[(&'static str, u64, &'static str)]) -> (Option<Event>, TraceInfo) {
        let given = Given(given.to_vec());
        let plan = Plan::new(name, true, |wanted| given.0.iter().position(|field| field.0 == wanted));
        let mut notes = Notes::new(TraceInfo::new(Format::TraceDat));
        let event = plan.decode(&given, 3, &mut notes);
        (event, notes.info)
    }

    #[test]
    fn an_entity_is_a_task_or_a_group() {
        let task = [("cpu", 2, ""), ("path", 0, "(null)"), ("comm", 0, "ui"), ("pid", 9, ""), ("util", 7, "")];
        let (event, info) = decoded("sched_load_se", &task);
        assert!(matches!(event, Some(Event::PeltSe { cpu: 2, tid: 9, util_avg: 7, .. })), "{event:?}");
        assert_eq!(info.task_name(9), "ui");
        let group = [("cpu", 2, ""), ("path", 0, "/a"), ("pid", u64::MAX, ""), ("util", 7, "")];
        let (event, info) = decoded("lisa__sched_pelt_se", &group);
        assert!(matches!(event, Some(Event::PeltGroup { group: 1, entity: 1, util_avg: 7, .. })), "{event:?}");
        assert_eq!(info.groups, ["/", "/a"]);
    }

    #[test]
    fn priorities_below_zero_and_large_numbers_fit() {
        let given = [("pid", 9, ""), ("prio", u64::MAX, ""), ("target_cpu", u64::MAX - 5, "")];
        let (event, _) = decoded("sched_waking", &given);
        let expected = Event::SchedWaking { cpu: 3, tid: 9, prio: u32::MAX, target_cpu: u32::MAX - 5 };
        assert_eq!(event, Some(expected));
        let (event, _) = decoded("sched_pelt_rt", &[("util", 1 << 40, "")]);
        assert_eq!(event, Some(Event::PeltRt { cpu: 3, util_avg: u32::MAX }));
    }

    #[test]
    fn states_are_the_four_codes() {
        let codes =
            [(0, 0), (0x100, 0), (1, 1), (2, 2), (0x82, 2), (0x80, 2), (0x20, 16), (0x10, 16), (0x40, 2), (4, 2)];
        codes.iter().for_each(|&(bits, code)| assert_eq!(state(bits, true), code, "{bits:#x}"));
        assert_eq!(state(0x40, false), 16);
    }
}
