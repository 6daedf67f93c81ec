// SPDX-License-Identifier: GPL-2.0-or-later
//! Counter tracks that hold signals: ours and sched-analyzer's, recognised by their names. Others are counted by name.
//!
//! A value holds until it changes, and the signals of one CPU or task are tracks of their own: values of one instant
//! are gathered to one event, with the others as they were.

use std::collections::{BTreeMap, VecDeque};

use pelton_schema::{EVENTS, Event};

use crate::import::TraceInfo;
use crate::perfetto::fields::{track, track_event};
use crate::perfetto::proto::{Value, each_field};
use crate::varint;

/// Tracks that are kept.
const TRACKS_MAX: usize = 1 << 18;
/// Fields beyond those we write.
const STATIC_NAME: u32 = 10;
const DOUBLE_VALUE: u32 = 44;
const EXTRA_VALUES: u32 = 12;
const EXTRA_UUIDS: u32 = 31;
const EXTRA_DOUBLE_VALUES: u32 = 46;
const EXTRA_DOUBLE_UUIDS: u32 = 45;

/// Owner of the signal that a track holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Cpu(u32),
    Task(u32),
}

/// Signal that a track holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Util,
    UtilEst,
    Runnable,
    Load,
    Rt,
    Dl,
    Irq,
    Hw,
    NrRunning,
}

impl Signal {
    /// By the name after the owner's, of all tools.
    fn of_name(name: &str) -> Option<Signal> {
        Some(match name {
            "util_avg" => Signal::Util,
            "util_est" | "util_est.enqueued" => Signal::UtilEst,
            "runnable_avg" => Signal::Runnable,
            "load_avg" => Signal::Load,
            "rt util_avg" | "util_avg_rt" => Signal::Rt,
            "dl util_avg" | "util_avg_dl" => Signal::Dl,
            "irq util_avg" | "util_avg_irq" => Signal::Irq,
            "hw load_avg" | "load_avg_thermal" | "util_avg_thermal" => Signal::Hw,
            "nr_running" => Signal::NrRunning,
            _ => return None,
        })
    }
}

impl Signal {
    /// Says that the trace has the column of this signal, and that of its owner.
    fn note_columns(self, owner: Owner, info: &mut TraceInfo) {
        let (event, column) = match (self, owner) {
            (Signal::Rt, _) => ("pelt_rt", "util_avg"),
            (Signal::Dl, _) => ("pelt_dl", "util_avg"),
            (Signal::Irq, _) => ("pelt_irq", "util_avg"),
            (Signal::Hw, _) => ("pelt_hw", "load_avg"),
            (Signal::NrRunning, _) => ("sched_update_nr_running", "nr_running"),
            (signal, Owner::Cpu(_)) => ("pelt_cfs", signal.fair_column()),
            (signal, Owner::Task(_)) => ("pelt_se", signal.fair_column()),
        };
        let of = if matches!(owner, Owner::Cpu(_)) { "cpu" } else { "tid" };
        if let Some(event) = EVENTS.iter().find(|info| info.name == event) {
            info.has_column(event, of);
            info.has_column(event, column);
        }
    }

    fn fair_column(self) -> &'static str {
        match self {
            Signal::UtilEst => "util_est",
            Signal::Runnable => "runnable_avg",
            Signal::Load => "load_avg",
            _ => "util_avg",
        }
    }
}

/// A track as declared.
#[derive(Clone, Debug)]
struct Track {
    name: String,
    parent: u64,
    /// Place of the owner's values, and whose and what they are.
    meaning: Option<(usize, Signal)>,
    /// True once it had a value.
    has_values: bool,
}

/// The last values of a CPU's or task's fair signals, and the instant that is being gathered.
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    util: u64,
    util_est: u64,
    runnable: u64,
    load: u64,
    open_ns: Option<u64>,
}

/// Values of one instant arrive before others that are this much later.
const GATHER_NS: u64 = 1_000_000;
/// Instants gathered at the same time.
const OPEN_MAX: usize = 4096;
/// Places of tracks with small ids, as ours are, are found without a search.
const SMALL_UUIDS: usize = 1 << 18;

/// All tracks.
#[derive(Default)]
pub(super) struct Tracks {
    tracks: Vec<Track>,
    /// Places of tracks by their ids, 0: none, else one more; and those of large ids.
    by_small_uuid: Vec<u32>,
    by_uuid: BTreeMap<u64, u32>,
    values: Vec<(Owner, Values)>,
    by_owner: BTreeMap<Owner, usize>,
    /// Instants being gathered, oldest first: place and time.
    open: VecDeque<(usize, u64)>,
    /// Task ids are those of a run of ours, shifted.
    pub ours: bool,
}

/// Values for a track event from its packet and its sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {
    pub track: u64,
    pub extra: Vec<u64>,
    pub extra_double: Vec<u64>,
}

impl Tracks {
    /// Notes a declared track; `None` when it is malformed.
    pub fn declare(&mut self, message: &[u8]) -> Option<()> {
        let (mut uuid, mut parent, mut name) = (0, 0, String::new());
        each_field(message, |field, value| {
            match field {
                track::UUID => uuid = value.number()?,
                track::PARENT_UUID => parent = value.number()?,
                track::NAME | STATIC_NAME => name = String::from_utf8_lossy(value.bytes()?).into_owned(),
                _ => {}
            }
            Some(())
        })?;
        let name: String = name.chars().take(128).collect();
        let meaning = self.meaning(&name, parent).and_then(|(owner, signal)| Some((self.owner(owner)?, signal)));
        let track = Track { name, parent, meaning, has_values: false };
        if let Some(place) = self.place(uuid) {
            self.tracks[place] = track;
        } else if self.tracks.len() < TRACKS_MAX {
            self.tracks.push(track);
            self.set_place(uuid, self.tracks.len() as u32);
        }
        Some(())
    }

    /// Place of the track with this id.
    #[inline]
    fn place(&self, uuid: u64) -> Option<usize> {
        let place = match usize::try_from(uuid).ok().filter(|small| *small < SMALL_UUIDS) {
            Some(small) => self.by_small_uuid.get(small).copied().unwrap_or(0),
            None => self.by_uuid.get(&uuid).copied().unwrap_or(0),
        };
        (place as usize).checked_sub(1)
    }

    fn set_place(&mut self, uuid: u64, place: u32) {
        match usize::try_from(uuid).ok().filter(|small| *small < SMALL_UUIDS) {
            Some(small) => {
                self.by_small_uuid.resize(self.by_small_uuid.len().max(small + 1), 0);
                self.by_small_uuid[small] = place;
            }
            None => drop(self.by_uuid.insert(uuid, place)),
        }
    }

    fn track(&self, uuid: u64) -> Option<&Track> {
        self.tracks.get(self.place(uuid)?)
    }

    /// Place of an owner's values; of a bounded number of owners.
    fn owner(&mut self, owner: Owner) -> Option<usize> {
        if let Some(&place) = self.by_owner.get(&owner) {
            return Some(place);
        }
        let place = Some(self.values.len()).filter(|place| *place < TRACKS_MAX)?;
        self.values.push((owner, Values::default()));
        self.by_owner.insert(owner, place);
        Some(place)
    }

    fn meaning(&self, name: &str, parent: u64) -> Option<(Owner, Signal)> {
        if let Some(signal) = Signal::of_name(name) {
            let group = self.track(parent)?;
            let family = &self.track(group.parent)?.name;
            let number: u32 = group.name.rsplit(' ').next()?.parse().ok()?;
            return match family.as_str() {
                "CPU utilization" => Some((Owner::Cpu(number), signal)),
                "Task utilization" => Some((Owner::Task(self.tid(number)), signal)),
                _ => None,
            };
        }
        let (owner, signal) = name.rsplit_once(' ')?;
        let signal = Signal::of_name(signal)?;
        if let Some(cpu) = owner.strip_prefix("CPU").and_then(|number| number.trim().parse().ok()) {
            return Some((Owner::Cpu(cpu), signal));
        }
        let (_, tid) = owner.rsplit_once('-')?;
        Some((Owner::Task(self.tid(tid.parse().ok()?)), signal))
    }

    /// The task a thread id stands for.
    pub fn tid(&self, pid: u32) -> u32 {
        if self.ours { crate::perfetto::read::tid_of(pid) } else { pid }
    }

    /// Reads a track event; what it completes goes to `out`. `None` when it is malformed.
    pub fn event(
        &mut self,
        time_ns: u64,
        message: &[u8],
        defaults: &Defaults,
        info: &mut TraceInfo,
        out: &mut impl FnMut(u64, Event),
    ) -> Option<()> {
        let (mut kind, mut uuid, mut value) = (0, defaults.track, None);
        let (mut extra, mut extra_double) = (Extra::default(), Extra::default());
        each_field(message, |field, found| {
            match field {
                track_event::TYPE => kind = found.number()?,
                track_event::TRACK_UUID => uuid = found.number()?,
                track_event::COUNTER_VALUE => value = Some(found.number()?.cast_signed()),
                DOUBLE_VALUE => value = Some(double(found.bytes()?)?),
                EXTRA_UUIDS => extra.uuids.extend(numbers(found)?),
                EXTRA_VALUES => extra.values.extend(numbers(found)?.into_iter().map(u64::cast_signed)),
                EXTRA_DOUBLE_UUIDS => extra_double.uuids.extend(numbers(found)?),
                EXTRA_DOUBLE_VALUES => extra_double.values.extend(doubles(found)?),
                _ => {}
            }
            Some(())
        })?;
        if kind == track_event::TYPE_COUNTER {
            self.value(time_ns, uuid, value.unwrap_or(0), info, out);
        } else {
            info.skip("(slice or instant of a track)");
        }
        for (extra, defaults) in [(extra, &defaults.extra), (extra_double, &defaults.extra_double)] {
            let uuids = if extra.uuids.is_empty() { defaults } else { &extra.uuids };
            for (&uuid, &value) in uuids.iter().zip(&extra.values) {
                self.value(time_ns, uuid, value, info, out);
            }
        }
        Some(())
    }

    fn value(&mut self, time_ns: u64, uuid: u64, value: i64, info: &mut TraceInfo, out: &mut impl FnMut(u64, Event)) {
        let at = self.place(uuid);
        let track = at.and_then(|at| self.tracks.get_mut(at));
        let Some((place, signal)) = track.as_ref().and_then(|track| track.meaning) else {
            let name = track.map_or("(undeclared track)", |track| &track.name);
            return info.skip(&format!("track {name}"));
        };
        let (owner, _) = self.values[place];
        if let Some(track) = track.filter(|track| !track.has_values) {
            track.has_values = true;
            signal.note_columns(owner, info);
        }
        let value = u64::try_from(value).unwrap_or(0);
        let low = u32::try_from(value).unwrap_or(u32::MAX);
        if let Owner::Cpu(cpu) = owner {
            let event = match signal {
                Signal::Rt => Some(Event::PeltRt { cpu, util_avg: low }),
                Signal::Dl => Some(Event::PeltDl { cpu, util_avg: low }),
                Signal::Irq => Some(Event::PeltIrq { cpu, util_avg: low }),
                Signal::Hw => Some(Event::PeltHw { cpu, load_avg: value }),
                Signal::NrRunning => Some(Event::NrRunning { cpu, nr_running: low, change: 0 }),
                _ => None,
            };
            if let Some(event) = event {
                return out(time_ns, event);
            }
        }
        self.gather(place, time_ns, signal, value, out);
    }

    /// Adds a value to the instant of its owner. What was not repeated for a while is handed out: an owner that is
    /// silent for long must not keep a place in the past open.
    fn gather(&mut self, place: usize, time_ns: u64, signal: Signal, value: u64, out: &mut impl FnMut(u64, Event)) {
        let (owner, values) = &mut self.values[place];
        if values.open_ns != Some(time_ns) {
            if let Some(open_ns) = values.open_ns.replace(time_ns) {
                out(open_ns, gathered(*owner, values));
            }
            self.open.push_back((place, time_ns));
        }
        match signal {
            Signal::UtilEst => values.util_est = value,
            Signal::Runnable => values.runnable = value,
            Signal::Load => values.load = value,
            _ => values.util = value,
        }
        while let Some(&(place, open_ns)) = self.open.front()
            && (open_ns.saturating_add(GATHER_NS) < time_ns || self.open.len() > OPEN_MAX)
        {
            self.open.pop_front();
            let (owner, values) = &mut self.values[place];
            if values.open_ns == Some(open_ns) {
                values.open_ns = None;
                out(open_ns, gathered(*owner, values));
            }
        }
    }

    /// Hands out what is still being gathered.
    pub fn end(&mut self, out: &mut impl FnMut(u64, Event)) {
        for (owner, values) in &mut self.values {
            if let Some(open_ns) = values.open_ns.take() {
                out(open_ns, gathered(*owner, values));
            }
        }
    }
}

fn gathered(owner: Owner, values: &Values) -> Event {
    let low = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let (util_avg, runnable_avg, util_est) = (low(values.util), low(values.runnable), low(values.util_est));
    let load_avg = values.load;
    match owner {
        Owner::Cpu(cpu) => Event::PeltCfs { cpu, util_avg, runnable_avg, load_avg, util_est },
        Owner::Task(tid) => {
            Event::PeltSe { cpu: pelton_schema::CPU_UNKNOWN, tid, util_avg, runnable_avg, load_avg, util_est }
        }
    }
}

/// Further counters of one event.
#[derive(Default)]
struct Extra {
    uuids: Vec<u64>,
    values: Vec<i64>,
}

/// A repeated number, packed or not.
pub(super) fn numbers(value: Value<'_>) -> Option<Vec<u64>> {
    let mut bytes = match value {
        Value::Number(number) => return Some(vec![number]),
        Value::Bytes(bytes) => bytes,
    };
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint::take(&mut bytes)?);
    }
    Some(numbers)
}

fn double(bytes: &[u8]) -> Option<i64> {
    Some(f64::from_le_bytes(bytes.try_into().ok()?) as i64)
}

fn doubles(value: Value<'_>) -> Option<Vec<i64>> {
    value.bytes()?.chunks(8).map(double).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Format;
    use crate::perfetto::proto::{put_bytes, put_int, put_uint};

    #[test]
    fn a_silent_track_does_not_stay_open() {
        let mut tracks = Tracks::default();
        for (uuid, name) in [(1, "CPU1 util_avg"), (1 << 40, "CPU2 util_avg")] {
            let mut message = Vec::new();
            put_uint(&mut message, track::UUID, uuid);
            put_bytes(&mut message, track::NAME, name.as_bytes());
            tracks.declare(&message).expect("well formed");
        }
        let mut info = TraceInfo::new(Format::Perfetto);
        let mut found = Vec::new();
        let mut value = |time_ns, uuid, util| {
            let mut message = Vec::new();
            put_uint(&mut message, track_event::TYPE, track_event::TYPE_COUNTER);
            put_uint(&mut message, track_event::TRACK_UUID, uuid);
            put_int(&mut message, track_event::COUNTER_VALUE, util);
            let out = &mut |time_ns, event| found.push((time_ns, event));
            tracks.event(time_ns, &message, &Defaults::default(), &mut info, out).expect("well formed");
        };
        value(5, 1, 7);
        (0..40u32).for_each(|step| value(10 + u64::from(step) * 100_000, 1 << 40, i64::from(step)));
        let cfs = |cpu, util_avg| Event::PeltCfs { cpu, util_avg, runnable_avg: 0, load_avg: 0, util_est: 0 };
        let late = found.iter().position(|event| *event == (5, cfs(1, 7))).expect("handed out");
        assert!(late <= 11 && found[0] == (10, cfs(2, 0)) && tracks.open.len() < 20, "{late} {:?}", found[0]);
    }
}
