// SPDX-License-Identifier: GPL-2.0-or-later
//! From the fields of a kernel's event to a declared one: the spellings, resolved once per event of a file.

use std::collections::BTreeMap;

use pelton_schema::{EVENTS, Event, EventInfo, pack_name};

use super::TraceInfo;
use super::counts::Counts;
use super::spelling::{FILE_NAME, Origin, Spelling, When, comms_of, spellings_of};
use super::state;

/// Most columns of a declared event.
const COLUMNS_MAX: usize = 32;
/// Most task groups with a number of their own.
const GROUPS_MAX: usize = 1 << 16;
/// Bytes of their paths; the longest path of the kernel is of 4096.
const GROUP_BYTES_MAX: usize = 16 << 20;
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
    /// A task state as its code. `parked`: 64 is "parked" and not "dead", as since 4.14.
    #[inline]
    fn state(&self, place: usize, parked: bool) -> Option<u32> {
        Some(state::of_event_bits(self.number(place)?, parked))
    }
    /// A set of CPUs, one bit each.
    fn cpus(&self, _place: usize) -> Option<u64> {
        None
    }
    /// A number as a column of 32 bits takes it.
    #[inline]
    fn fit(found: u64) -> Option<u64> {
        Some(fit(found))
    }
}

#[derive(Clone, Copy, Debug)]
enum Get {
    Nothing,
    Place(usize),
    State(usize),
    Cpu,
    Cpus(usize),
    Is(u64),
    /// Not there: this says so.
    Unknown(u64),
    Group(usize),
    /// Place, part of a path, second half.
    Name(usize, bool, bool),
}

impl Get {
    fn place(self) -> Option<usize> {
        match self {
            Get::Place(place) | Get::State(place) | Get::Cpus(place) | Get::Group(place) => Some(place),
            Get::Name(place, ..) => Some(place),
            Get::Nothing | Get::Cpu | Get::Is(_) | Get::Unknown(_) => None,
        }
    }
}

#[derive(Debug)]
struct Row {
    event: &'static EventInfo,
    when: When,
    /// Origin of each column's value, and whether it takes 64 bits.
    columns: Vec<(Get, bool)>,
}

/// Reason why a record is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// A record without meaning here.
    Meaningless,
    /// The field at this place cannot be so.
    Field(usize),
}

/// Way to read one event of a file.
#[derive(Debug)]
pub(super) struct Plan {
    /// The file's name for it.
    pub name: String,
    /// A field without which the event means nothing and which the file does not have.
    pub missing: Option<&'static str>,
    /// Fields that the file has, where that is known beforehand.
    fields: Vec<String>,
    rows: Vec<Row>,
    /// Places of a task's id and name, and whether the name is part of a path.
    comms: Vec<(usize, usize, bool)>,
    pid: Option<usize>,
    path: Option<usize>,
    /// The task state 64 is "parked" and not "dead", as since 4.14.
    parked: bool,
}

impl Plan {
    /// Resolves the spellings of `name` whose fields `place` finds.
    pub fn new(name: &str, parked: bool, place: impl Fn(&str) -> Option<usize>) -> Plan {
        let (mut rows, mut missing) = (Vec::<Row>::new(), BTreeMap::new());
        for spelling in spellings_of(name) {
            match Row::new(spelling, &place) {
                Ok(row) => rows.push(row),
                Err(field) => drop(missing.insert((spelling.event, spelling.when), field)),
            }
        }
        // Where an event has several forms, one of them is enough.
        missing.retain(|&(event, when), _| !rows.iter().any(|row| row.event.name == event && row.when == when));
        let missing = missing.into_values().next();
        let comms = comms_of(name).filter_map(|(tid, comm)| Some((place(tid)?, place(comm)?, comm == FILE_NAME)));
        let (comms, name) = (comms.collect(), name.to_owned());
        Plan { name, missing, fields: Vec::new(), rows, comms, pid: place("pid"), path: place("path"), parked }
    }

    /// Adds the fields that events of this name have in the file.
    pub fn with_fields(self, fields: impl Iterator<Item = String>) -> Plan {
        Plan { fields: fields.collect(), ..self }
    }

    /// Declares the columns that events of this plan carry.
    pub fn declare(&self, info: &mut TraceInfo) {
        for row in &self.rows {
            for (column, (get, _)) in row.event.columns.iter().zip(&row.columns) {
                if !matches!(get, Get::Nothing | Get::Unknown(_)) {
                    info.has_column(row.event, column.name);
                }
            }
            let told = row.columns.iter().map(|(get, _)| !matches!(get, Get::Nothing | Get::Unknown(_)));
            info.has_form(row.event, (0..).zip(told).fold(0, |mask, (at, is)| mask | u64::from(is) << at));
        }
    }

    /// The declared event, if there is one, not yet counted; what means nothing is counted as such.
    #[inline]
    pub fn decode(&self, fields: &impl Fields, cpu: u32, notes: &mut Notes) -> Option<Event> {
        let event = self.read(fields, cpu, notes);
        if let Err(wrong) = event {
            notes.info.skip(&self.name);
            if self.missing.is_some() || wrong != Wrong::Meaningless {
                notes.info.other_form(&self.name, || self.fields.clone());
            }
        }
        event.ok()
    }

    /// The declared event; names of tasks are noted either way.
    #[inline]
    pub fn read<F: Fields>(&self, fields: &F, cpu: u32, notes: &mut Notes) -> Result<Event, Wrong> {
        for &(tid, comm, is_path) in &self.comms {
            if let Some(tid) = fields.number(tid) {
                notes.name(tid as u32, last_part(fields.text(comm), is_path));
            }
        }
        let row = self.rows.iter().find(|row| self.applies(row.when, fields)).ok_or(Wrong::Meaningless)?;
        let mut values = [0u64; COLUMNS_MAX];
        let values = values.get_mut(..row.columns.len()).ok_or(Wrong::Meaningless)?;
        for (value, &(get, wide)) in values.iter_mut().zip(&row.columns) {
            let found = self.value(get, fields, cpu, notes);
            let found = if wide { found } else { found.and_then(F::fit) };
            *value = found.ok_or_else(|| get.place().map_or(Wrong::Meaningless, Wrong::Field))?;
        }
        Event::from_values(row.event.code, values).ok_or(Wrong::Meaningless)
    }

    /// All CPUs the event is of, when it is of several.
    pub fn cpus(&self, fields: &impl Fields) -> Option<u64> {
        let place = self.rows.iter().flat_map(|row| &row.columns).find_map(|(get, _)| match get {
            Get::Cpus(place) => Some(*place),
            _ => None,
        })?;
        fields.cpus(place)
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

    #[inline]
    fn value(&self, get: Get, fields: &impl Fields, cpu: u32, notes: &mut Notes) -> Option<u64> {
        Some(match get {
            Get::Nothing => 0,
            Get::Place(place) => fields.number(place)?,
            Get::State(place) => u64::from(fields.state(place, self.parked)?),
            Get::Cpu => u64::from(cpu),
            Get::Cpus(place) => u64::from(fields.cpus(place).filter(|cpus| *cpus != 0)?.trailing_zeros()),
            Get::Is(number) | Get::Unknown(number) => number,
            Get::Group(place) => u64::from(notes.group(fields.text(place))?),
            Get::Name(place, is_path, second) => {
                let name = String::from_utf8_lossy(last_part(fields.text(place), is_path));
                let halves = pack_name(&name);
                if second { halves.1 } else { halves.0 }
            }
        })
    }
}

/// The text, or what stands behind its last slash.
fn last_part(text: &[u8], is_path: bool) -> &[u8] {
    if is_path { text.rsplit(|&byte| byte == b'/').next().unwrap_or(text) } else { text }
}

impl Row {
    /// Resolves a spelling; the error is a field it needs and that is not there.
    fn new(spelling: &Spelling, place: &impl Fn(&str) -> Option<usize>) -> Result<Row, &'static str> {
        let event = EVENTS.iter().find(|event| event.name == spelling.event).ok_or("")?;
        let mut columns: Vec<_> = (0..event.columns.len()).map(|i| (Get::Nothing, is_wide(event, i))).collect();
        for (column, from) in spelling.columns {
            let column = event.column(column).and_then(|index| columns.get_mut(index)).ok_or("")?;
            column.0 = resolve(*from, place)?;
        }
        Ok(Row { event, when: spelling.when, columns })
    }
}

fn resolve(from: Origin, place: &impl Fn(&str) -> Option<usize>) -> Result<Get, &'static str> {
    Ok(match from {
        Origin::Field(names) => names.iter().find_map(|name| place(name)).map_or(Get::Nothing, Get::Place),
        Origin::Need(names) => Get::Place(names.iter().find_map(|name| place(name)).ok_or(names[0])?),
        Origin::Or(names, unknown) => {
            names.iter().find_map(|name| place(name)).map_or(Get::Unknown(unknown), Get::Place)
        }
        Origin::State(name) => Get::State(place(name).ok_or(name)?),
        Origin::Cpu => Get::Cpu,
        Origin::CpuOf(name) => place(name).map_or(Get::Cpu, Get::Place),
        Origin::CpusOf(name) => Get::Cpus(place(name).ok_or(name)?),
        Origin::Is(number) => Get::Is(number),
        Origin::Group => place("path").map_or(Get::Nothing, Get::Group),
        Origin::Name(name, second) => Get::Name(place(name).ok_or(name)?, name == FILE_NAME, second),
    })
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

/// Facts about a trace, collected while its events are decoded.
pub struct Notes {
    /// Facts known so far.
    pub info: TraceInfo,
    counts: Counts,
    cache: Vec<(u32, [u8; 16])>,
    groups: BTreeMap<Vec<u8>, u32>,
    group_bytes: usize,
}

impl Notes {
    pub fn new(info: TraceInfo) -> Notes {
        Notes {
            info,
            counts: Counts::default(),
            cache: vec![(0, [0; 16]); CACHE_PLACES],
            groups: BTreeMap::new(),
            group_bytes: 0,
        }
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
        self.group_bytes = self.group_bytes.saturating_add(path.len());
        if number >= GROUPS_MAX || self.group_bytes > GROUP_BYTES_MAX {
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
    use crate::import::spelling::{SPELLINGS, fields_of, needed_fields};

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
        plan.declare(&mut notes.info);
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

    /// Fields of all these names: numbers that are not 0, and texts.
    struct Full<'a>(&'a [&'static str]);

    impl Fields for Full<'_> {
        fn number(&self, _: usize) -> Option<u64> {
            Some(5)
        }
        fn text(&self, place: usize) -> &[u8] {
            if self.0[place] == "path" { b"/" } else { b"name" }
        }
        fn cpus(&self, _: usize) -> Option<u64> {
            Some(4)
        }
    }

    /// Columns of an event that hold 0 and are taken for known, where no field was 0.
    fn known_zeros(name: &str, fields: &[&'static str]) -> Vec<&'static str> {
        let plan = Plan::new(name, true, |wanted| fields.iter().position(|field| *field == wanted));
        let mut notes = Notes::new(TraceInfo::new(Format::TraceDat));
        plan.declare(&mut notes.info);
        let Some(event) = plan.decode(&Full(fields), 3, &mut notes) else { return Vec::new() };
        let known = notes.info.known(&event);
        let row = plan.rows.iter().find(|row| row.event.code == event.code()).expect("it was read by it");
        let mut values = Vec::new();
        event.values(&mut values);
        let columns = row.event.columns.iter().zip(&values).zip(&row.columns).enumerate();
        let zeros = columns.filter(|(at, ((_, value), (get, _)))| {
            **value == 0 && known >> at & 1 == 1 && !matches!(get, Get::Is(_) | Get::Name(..) | Get::Group(_))
        });
        zeros.map(|(_, ((column, _), _))| column.name).collect()
    }

    #[test]
    fn no_event_that_lacks_a_field_is_read_with_0_in_its_place() {
        for name in SPELLINGS.iter().flat_map(|spelling| spelling.names) {
            let fields = fields_of(name);
            let whole = Plan::new(name, true, |wanted| fields.iter().position(|field| *field == wanted));
            assert_eq!(whole.missing, None, "{name}");
            assert_eq!(known_zeros(name, &fields), Vec::<&str>::new(), "{name}");
            for lost in &fields {
                let rest: Vec<&str> = fields.iter().copied().filter(|field| field != lost).collect();
                assert_eq!(known_zeros(name, &rest), Vec::<&str>::new(), "{name} without {lost}");
            }
            for needed in needed_fields(name) {
                let others = needed_by_any_name(name, needed);
                let rest: Vec<&str> = fields.iter().copied().filter(|field| !others.contains(field)).collect();
                let plan = Plan::new(name, true, |wanted| rest.iter().position(|field| *field == wanted));
                assert!(plan.missing.is_some() || plan.rows.len() < whole.rows.len(), "{name} without {needed}");
            }
        }
    }

    /// All names of the field that is needed under this one.
    fn needed_by_any_name(name: &str, needed: &str) -> Vec<&'static str> {
        let of =
            |(_, from): &'static (&'static str, Origin)| Some(from.fields()).filter(|fields| fields.contains(&needed));
        spellings_of(name).flat_map(|spelling| spelling.columns.iter().filter_map(of)).flatten().copied().collect()
    }

    #[test]
    fn another_event_of_the_same_name_is_listed_with_its_fields() {
        let given = [("cpu", 2, ""), ("util", 7, ""), ("max_cap", 1024, ""), ("flags", 1, "")];
        let fields = given.map(|(name, ..)| name.to_owned());
        let plan = Plan::new("sugov_next_freq", true, |wanted| given.iter().position(|field| field.0 == wanted));
        let plan = plan.with_fields(fields.into_iter());
        let mut notes = Notes::new(TraceInfo::new(Format::TraceDat));
        assert_eq!(plan.decode(&Given(given.to_vec()), 3, &mut notes), None);
        let form = &notes.info.other_forms["sugov_next_freq"];
        assert_eq!(form.to_string(), "1 events have fields cpu, util, max_cap, flags; expected cpu, util, max, freq");
    }

    #[test]
    fn a_choice_has_the_raw_frequency_the_resolved_one_or_both() {
        let choice = |more: &[(&'static str, u64, &'static str)]| {
            let given = [("cpu", 6, ""), ("util", 200, ""), ("max", 1024, "")];
            let (event, info) = decoded("sugov_next_freq", &[&given[..], more].concat());
            let Some(Event::NextFreq { raw_khz, resolved_khz, cur_khz: 0, .. }) = event else { panic!("{event:?}") };
            let known = info.known(&event.expect("read"));
            (raw_khz, resolved_khz, known.count_ones())
        };
        assert_eq!(choice(&[("freq", 488_281, "")]), (488_281, 0, 4), "as phones record it");
        assert_eq!(choice(&[("next_freq", 600_000, "")]), (0, 600_000, 4));
        assert_eq!(choice(&[("raw_freq", 488_281, ""), ("freq", 600_000, "")]), (488_281, 600_000, 5));
        assert_eq!(choice(&[("freq", 488_281, ""), ("next_freq", 600_000, "")]), (488_281, 600_000, 5));
    }

    #[test]
    fn an_event_without_what_it_is_about_means_nothing() {
        let (event, info) = decoded("sched_pelt_rt", &[("util", 7, "")]);
        assert_eq!((event, info.skipped.get("sched_pelt_rt")), (None, Some(&1)));
        let (event, _) = decoded("sched_process_exec", &[("pid", 7, ""), ("filename", 0, "/bin/ls")]);
        let (name_0, name_8) = pack_name("ls");
        assert_eq!(event, Some(Event::TaskName { tid: 7, name_0, name_8 }));
    }

    #[test]
    fn long_paths_do_not_fill_the_memory() {
        let mut notes = Notes::new(TraceInfo::new(Format::FtraceText));
        let path = |number: usize| [&vec![b'g'; 60_000][..], number.to_string().as_bytes()].concat();
        let kept = (0..2_000).filter(|number| notes.group(&path(*number)).is_some()).count();
        assert!((200..300).contains(&kept), "{kept} of 60 kB each");
        assert_eq!(notes.group(&path(0)), Some(1), "what is known stays known");
    }

    #[test]
    fn priorities_below_zero_and_large_numbers_fit() {
        let given = [("pid", 9, ""), ("prio", u64::MAX, ""), ("target_cpu", u64::MAX - 5, "")];
        let (event, _) = decoded("sched_waking", &given);
        let expected = Event::SchedWaking { cpu: 3, tid: 9, prio: u32::MAX, target_cpu: u32::MAX - 5 };
        assert_eq!(event, Some(expected));
        let (event, _) = decoded("sched_pelt_rt", &[("cpu", 3, ""), ("util", 1 << 40, "")]);
        assert_eq!(event, Some(Event::PeltRt { cpu: 3, util_avg: u32::MAX }));
    }
}
