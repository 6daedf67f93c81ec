// SPDX-License-Identifier: GPL-2.0-or-later
//! Counter tracks and activation slices. A track is declared when its first value arrives, so a task or class that
//! never appears costs nothing, and a value equal to the one before is not written again: a counter holds until it
//! changes.

use std::collections::BTreeMap;

use pelton_schema::{
    Balance, EVENTS, Event, PlacedWords, Walk, cpu_list, end_words, group_changes, idle_words, migration_words,
    walk_words,
};

use super::by_index::ByIndex;
use super::fields::{interned, packet, trace, track, track_event};
use super::proto::{put_bytes, put_int, put_medium, put_message, put_short, put_uint};
use super::{TRACK_SEQUENCE, TaskIds, put_packet};
use crate::header::RunHeader;
use crate::varint::Record;

/// One track of a CPU, a task or a frequency domain.
struct TrackSpec {
    name: &'static str,
    /// Unit of a counter; `None` for slices.
    unit: Option<&'static str>,
}

const fn counter(name: &'static str, unit: &'static str) -> TrackSpec {
    TrackSpec { name, unit: Some(unit) }
}

const CAPACITY: &str = "of 1024";

static CPU_TRACKS: [TrackSpec; 10] = [
    counter("util_avg", CAPACITY),
    counter("util_est", CAPACITY),
    counter("runnable_avg", CAPACITY),
    counter("rt util_avg", CAPACITY),
    counter("dl util_avg", CAPACITY),
    counter("irq util_avg", CAPACITY),
    counter("hw load_avg", CAPACITY),
    TrackSpec { name: "balances", unit: None },
    TrackSpec { name: "updates of blocked load", unit: None },
    TrackSpec { name: "placements", unit: None },
];
const CPU_UTIL_AVG: usize = 0;
const CPU_UTIL_EST: usize = 1;
const CPU_RUNNABLE_AVG: usize = 2;
const CPU_RT: usize = 3;
const CPU_DL: usize = 4;
const CPU_IRQ: usize = 5;
const CPU_HW: usize = 6;
const CPU_BALANCES: usize = 7;
const CPU_WALKS: usize = 8;
const CPU_PLACEMENTS: usize = 9;

static TASK_TRACKS: [TrackSpec; 3] =
    [counter("util_avg", CAPACITY), counter("util_est", CAPACITY), TrackSpec { name: "activations", unit: None }];
const TASK_UTIL_AVG: usize = 0;
const TASK_UTIL_EST: usize = 1;
const TASK_ACTIVATIONS: usize = 2;

static DOMAIN_TRACKS: [TrackSpec; 5] = [
    counter("performance target", CAPACITY),
    counter("requested frequency", "kHz"),
    counter("resolved frequency", "kHz"),
    counter("power", "uW"),
    counter("cooling limit", "kHz"),
];
const DOMAIN_PERF: usize = 0;
const DOMAIN_REQUESTED: usize = 1;
const DOMAIN_RESOLVED: usize = 2;
const DOMAIN_POWER: usize = 3;
const DOMAIN_COOLING: usize = 4;

static ZONE_TRACKS: [TrackSpec; 4] = [
    counter("temperature", "mC"),
    counter("power budget", "mW"),
    counter("requested power", "mW"),
    counter("granted power", "mW"),
];
const ZONE_TEMPERATURE: usize = 0;
const ZONE_BUDGET: usize = 1;
const ZONE_REQUESTED: usize = 2;
const ZONE_GRANTED: usize = 3;

static GROUP_TRACKS: [TrackSpec; 1] = [TrackSpec { name: "files written", unit: None }];
const GROUP_FILES: usize = 0;

/// The event drawn as a slice.
const ACTIVATION: &str = "task_activation";
/// Number of the slices' name.
const SLICE_NAME_IID: u64 = 1;

/// Most tracks of one owner.
const TRACKS_MAX: usize = CPU_TRACKS.len();
/// `FreqDecision::gate` of a call that evaluated the request; the others carry no terms.
const GATE_EVALUATED: u32 = 0;

/// A declared track (`uuid` 0: not declared) and its last value (slices: end of the last one).
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    uuid: u64,
    last: u64,
}

/// The tracks of one CPU, task or domain under their common parent.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    uuid: u64,
    tracks: [Track; TRACKS_MAX],
}

/// All groups of one kind.
struct Family {
    title: &'static str,
    /// Order of the groups: by number or by name.
    ordering: u64,
    specs: &'static [TrackSpec],
    root_uuid: u64,
    groups: ByIndex<Group>,
}

impl Family {
    fn new(title: &'static str, ordering: u64, specs: &'static [TrackSpec], count: usize) -> Self {
        let groups = ByIndex::new(vec![Group::default(); count]);
        Family { title, ordering, specs, root_uuid: 0, groups }
    }
}

/// Hands out track ids. Small numbers: they are repeated in every value.
struct Uuids(u64);

impl Uuids {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// All tracks and the packets not yet written.
pub(super) struct Tracks {
    cpus: Family,
    tasks: Family,
    domains: Family,
    zones: Family,
    groups: Family,
    /// Last values of the files of each group.
    files: BTreeMap<u32, Event>,
    uuids: Uuids,
    run: RunHeader,
    ids: TaskIds,
    /// Names that came after the header.
    names: BTreeMap<u32, String>,
    /// The packet being encoded.
    record: Record,
    /// Encoded packets in order.
    pub packets: Vec<u8>,
    /// Counter values written.
    pub values: u64,
}

/// Selects a family and names its groups.
#[derive(Clone, Copy)]
enum Owner {
    Cpu(u32),
    Task(u32),
    Domain(u32),
    Zone(u32),
    Group(u32),
}

impl Tracks {
    pub fn new(run: &RunHeader, ids: TaskIds) -> Self {
        Tracks {
            cpus: Family::new("CPU utilization", track::ORDER_EXPLICIT, &CPU_TRACKS, run.cpus.len()),
            tasks: Family::new("Task utilization", track::ORDER_LEXICOGRAPHIC, &TASK_TRACKS, run.tasks.len()),
            domains: Family::new("Frequency domains", track::ORDER_EXPLICIT, &DOMAIN_TRACKS, run.domains.len()),
            zones: Family::new("Thermal zones", track::ORDER_EXPLICIT, &ZONE_TRACKS, 0),
            groups: Family::new("Task groups", track::ORDER_EXPLICIT, &GROUP_TRACKS, run.groups.len()),
            files: BTreeMap::new(),
            uuids: Uuids(0),
            run: run.clone(),
            ids,
            names: BTreeMap::new(),
            record: Record::new(),
            packets: Vec::new(),
            values: 0,
        }
    }

    /// From here on the task has this name; a track that is declared keeps its own.
    pub fn name_task(&mut self, tid: u32, name: &str) {
        self.names.insert(tid, name.to_owned());
    }

    /// Writes what `event` says about any track.
    #[inline]
    pub fn event(&mut self, time_ns: u64, event: &Event) -> bool {
        match *event {
            Event::PeltSe { tid, util_avg, util_est, .. } => {
                self.value(time_ns, Owner::Task(tid), TASK_UTIL_AVG, u64::from(util_avg));
                self.value(time_ns, Owner::Task(tid), TASK_UTIL_EST, u64::from(util_est));
            }
            Event::PeltCfs { cpu, util_avg, runnable_avg, util_est, .. } => {
                self.value(time_ns, Owner::Cpu(cpu), CPU_UTIL_AVG, u64::from(util_avg));
                self.value(time_ns, Owner::Cpu(cpu), CPU_UTIL_EST, u64::from(util_est));
                self.value(time_ns, Owner::Cpu(cpu), CPU_RUNNABLE_AVG, u64::from(runnable_avg));
            }
            Event::PeltRt { cpu, util_avg } => self.value(time_ns, Owner::Cpu(cpu), CPU_RT, u64::from(util_avg)),
            Event::PeltDl { cpu, util_avg } => self.value(time_ns, Owner::Cpu(cpu), CPU_DL, u64::from(util_avg)),
            Event::PeltIrq { cpu, util_avg } => self.value(time_ns, Owner::Cpu(cpu), CPU_IRQ, u64::from(util_avg)),
            Event::PeltHw { cpu, load_avg } => self.value(time_ns, Owner::Cpu(cpu), CPU_HW, load_avg),
            Event::FreqDecision { domain, gate: GATE_EVALUATED, perf, raw_khz, resolved_khz, .. } => {
                self.value(time_ns, Owner::Domain(domain), DOMAIN_PERF, u64::from(perf));
                self.value(time_ns, Owner::Domain(domain), DOMAIN_REQUESTED, u64::from(raw_khz));
                self.value(time_ns, Owner::Domain(domain), DOMAIN_RESOLVED, u64::from(resolved_khz));
            }
            Event::DomainPower { domain, power_uw } => {
                self.value(time_ns, Owner::Domain(domain), DOMAIN_POWER, power_uw);
            }
            Event::CdevUpdate { domain, max_khz, .. } => {
                self.value(time_ns, Owner::Domain(domain), DOMAIN_COOLING, u64::from(max_khz));
            }
            Event::ThermalTemperature { zone, temp_mc, .. } => {
                self.value(time_ns, Owner::Zone(zone), ZONE_TEMPERATURE, temp_mc.cast_unsigned());
            }
            Event::ThermalPower { zone, requested_mw, granted_mw, budget_mw, .. } => {
                self.value(time_ns, Owner::Zone(zone), ZONE_BUDGET, u64::from(budget_mw));
                self.value(time_ns, Owner::Zone(zone), ZONE_REQUESTED, u64::from(requested_mw));
                self.value(time_ns, Owner::Zone(zone), ZONE_GRANTED, u64::from(granted_mw));
            }
            Event::TaskActivation { .. } => self.activation(time_ns, event),
            Event::TaskGroup { group, .. } => self.group(time_ns, group, event),
            _ => return false,
        }
        true
    }

    #[inline]
    fn value(&mut self, time_ns: u64, owner: Owner, index: usize, value: u64) {
        let track = self.track(owner, index);
        if track.uuid != 0 && track.last == value {
            return;
        }
        track.last = value;
        let uuid = track.uuid;
        let uuid = if uuid == 0 { self.declare(owner, index) } else { uuid };
        self.record.clear();
        put_counter(&mut self.record, time_ns, uuid, value.cast_signed());
        self.packets.extend_from_slice(self.record.as_bytes());
        self.values += 1;
    }

    /// One activation as a slice. Slices of a track must not overlap: an activation that was due before the one before
    /// it ended is drawn from that end on; its own numbers say when it was due.
    fn activation(&mut self, time_ns: u64, event: &Event) {
        let Event::TaskActivation { tid, start_ns, .. } = *event else { return };
        let track = self.track(Owner::Task(tid), TASK_ACTIVATIONS);
        let begin_ns = start_ns.max(track.last).min(time_ns);
        track.last = time_ns;
        let uuid = track.uuid;
        let uuid = if uuid == 0 { self.declare(Owner::Task(tid), TASK_ACTIVATIONS) } else { uuid };
        self.record.clear();
        put_slice_begin(&mut self.record, begin_ns, uuid, event);
        put_slice_end(&mut self.record, time_ns, uuid);
        self.packets.extend_from_slice(self.record.as_bytes());
    }

    /// A balance of a domain, on the track of the CPU for which it is done.
    pub fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        let title = if balance.moved > 0 { "balance, moved" } else { "balance" };
        self.instant(time_ns, Owner::Cpu(balance.env.dst_cpu), CPU_BALANCES, title, &balance_notes(balance));
    }

    /// A fair task gets a CPU, on the track of that CPU.
    pub fn placement(&mut self, time_ns: u64, tid: u32, words: &PlacedWords) {
        let title = self.task_name(tid);
        self.instant(time_ns, Owner::Cpu(words.cpu), CPU_PLACEMENTS, &title, &placement_notes(words));
    }

    /// An update of blocked load, on the track of the CPU that makes it.
    pub fn walk(&mut self, time_ns: u64, walk: &Walk) {
        let notes = [
            ("of_cpu", Note::Number(i64::from(walk.cpu))),
            ("queues", Note::Number(walk.queues.cast_signed())),
            ("cost_ns", Note::Number(walk.cost_ns.cast_signed())),
            ("why", Note::Text(walk_words(walk.why))),
        ];
        self.instant(time_ns, Owner::Cpu(walk.by), CPU_WALKS, "update", &notes);
    }

    /// Emits changes in the files of a group, on its own track; their first values are no change.
    fn group(&mut self, time_ns: u64, group: u32, event: &Event) {
        let Some(before) = self.files.insert(group, *event) else { return };
        let changes = group_changes(&before, event);
        let title: Vec<String> = changes.iter().map(|change| format!("{} {}", change.file, change.now)).collect();
        let notes: Vec<_> =
            changes.iter().map(|c| (c.file, Note::Owned(format!("{} -> {}", c.before, c.now)))).collect();
        if !changes.is_empty() {
            self.instant(time_ns, Owner::Group(group), GROUP_FILES, &title.join(", "), &notes);
        }
    }

    fn instant(&mut self, time_ns: u64, owner: Owner, index: usize, title: &str, notes: &[(&str, Note)]) {
        let uuid = self.track(owner, index).uuid;
        let uuid = if uuid == 0 { self.declare(owner, index) } else { uuid };
        put_packet(&mut self.packets, |out| {
            put_uint(out, packet::TIMESTAMP, time_ns);
            put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
            put_message(out, packet::TRACK_EVENT, |out| {
                put_uint(out, track_event::TYPE, track_event::TYPE_INSTANT);
                put_uint(out, track_event::TRACK_UUID, uuid);
                put_bytes(out, track_event::NAME, title.as_bytes());
                notes.iter().for_each(|(name, note)| put_note(out, name, note));
            });
        });
    }

    #[inline]
    fn track(&mut self, owner: Owner, index: usize) -> &mut Track {
        let (family, number) = self.family(owner);
        &mut family.groups.entry(number, Group::default).tracks[index]
    }

    #[inline]
    fn family(&mut self, owner: Owner) -> (&mut Family, u32) {
        match owner {
            Owner::Cpu(cpu) => (&mut self.cpus, cpu),
            Owner::Task(tid) => (&mut self.tasks, tid),
            Owner::Domain(domain) => (&mut self.domains, domain),
            Owner::Zone(zone) => (&mut self.zones, zone),
            Owner::Group(group) => (&mut self.groups, group),
        }
    }

    /// Declares a track, and its parents when they are new; returns its id.
    #[cold]
    fn declare(&mut self, owner: Owner, index: usize) -> u64 {
        let name = self.group_name(owner);
        let (family, number) = match owner {
            Owner::Cpu(cpu) => (&mut self.cpus, cpu),
            Owner::Task(tid) => (&mut self.tasks, tid),
            Owner::Domain(domain) => (&mut self.domains, domain),
            Owner::Zone(zone) => (&mut self.zones, zone),
            Owner::Group(group) => (&mut self.groups, group),
        };
        let group = family.groups.entry(number, Group::default);
        if family.root_uuid == 0 {
            family.root_uuid = self.uuids.next();
            put_parent(&mut self.packets, family.root_uuid, None, family.title, family.ordering);
        }
        if group.uuid == 0 {
            group.uuid = self.uuids.next();
            let place = Some((family.root_uuid, number));
            put_parent(&mut self.packets, group.uuid, place, &name, track::ORDER_EXPLICIT);
        }
        let uuid = self.uuids.next();
        group.tracks[index].uuid = uuid;
        put_leaf(&mut self.packets, uuid, (group.uuid, index as u32), &family.specs[index]);
        uuid
    }

    fn task_name(&self, tid: u32) -> String {
        self.names.get(&tid).cloned().unwrap_or_else(|| self.run.task_name(tid))
    }

    fn group_name(&self, owner: Owner) -> String {
        match owner {
            Owner::Cpu(cpu) => format!("CPU {cpu}"),
            Owner::Task(tid) => format!("{} {}", self.task_name(tid), self.ids.pid_of(tid)),
            Owner::Domain(domain) => self.run.domain_name(domain),
            Owner::Zone(zone) => format!("zone {zone}"),
            Owner::Group(group) => self.run.group_path(group),
        }
    }
}

/// Content of an annotation of an instant.
enum Note {
    Number(i64),
    Text(&'static str),
    Owned(String),
}

/// Names and words of ours are short and written in place; made text may have any length.
fn put_note(out: &mut Vec<u8>, name: &str, note: &Note) {
    let annotation = track_event::DEBUG_ANNOTATION;
    let fields = |out: &mut Vec<u8>| {
        put_bytes(out, track_event::ANNOTATION_NAME, name.as_bytes());
        match note {
            Note::Number(number) => put_int(out, track_event::ANNOTATION_INT, *number),
            Note::Text(text) => put_bytes(out, track_event::ANNOTATION_TEXT, text.as_bytes()),
            Note::Owned(text) => put_bytes(out, track_event::ANNOTATION_TEXT, text.as_bytes()),
        }
    };
    match note {
        Note::Owned(_) => put_message(out, annotation, fields),
        _ => put_medium(out, annotation, fields),
    }
}

/// CPUs of a domain: one bit each, or in words where there are more than 64.
fn domain_note(balance: &Balance<'_>) -> Note {
    match balance.read.narrow() {
        Some(_) => Note::Number(balance.span.cast_signed()),
        None => Note::Owned(cpu_list(balance.cpus(balance.span))),
    }
}

fn balance_notes(balance: &Balance<'_>) -> Vec<(&'static str, Note)> {
    let (env, found) = (balance.env, balance.found);
    let mut notes = vec![
        ("level", Note::Number(i64::from(env.level))),
        ("domain", domain_note(balance)),
        ("cpu_is", Note::Text(idle_words(env.idle))),
        ("end", Note::Text(end_words(balance.end))),
    ];
    let groups = ["own_group", "busiest_group"].into_iter().zip(balance.group_types());
    notes.extend(groups.filter_map(|(name, words)| Some((name, Note::Text(words?)))));
    if let Some(cpu) = balance.source() {
        notes.push(("busiest_cpu", Note::Number(i64::from(cpu))));
        notes.push(("migration", Note::Text(migration_words(found.migration))));
        notes.push(("imbalance", Note::Number(balance.imbalance)));
        notes.push(("moved", Note::Number(i64::from(balance.moved))));
    }
    notes
}

/// The track says which CPU, the title which task.
fn placement_notes(words: &PlacedWords) -> Vec<(&'static str, Note)> {
    let number = |value: u32| Note::Number(i64::from(value));
    let mut notes = vec![
        ("event", Note::Text(words.event)),
        ("previous_cpu", number(words.previous_cpu)),
        ("executing_cpu", number(words.executing_cpu)),
        ("start", Note::Text(words.start)),
        ("rule", Note::Text(words.rule)),
        ("util_avg", Note::Number(words.util_avg.cast_signed())),
        ("overutilized", number(words.overutilized.into())),
    ];
    if !words.energy_added.is_empty() {
        let added: Vec<String> = words.energy_added.iter().map(|(cpu, more)| format!("CPU {cpu} {more:+}")).collect();
        notes.push(("energy_added", Note::Owned(added.join(", "))));
    }
    if let Some([this, previous]) = words.effective_loads {
        notes.push(("this_effective_load", Note::Number(this)));
        notes.push(("previous_effective_load", Note::Number(previous)));
    }
    if let Some((rule, limit, seen)) = words.scan {
        notes.push(("scan", Note::Text(rule)));
        notes.extend(limit.map(|limit| ("scan_limit", number(limit))));
        notes.push(("scanned", number(seen)));
    }
    if let Some(groups) = &words.groups {
        notes.push(("groups_decided_by", Note::Text(groups.decided_by)));
        let types = [("own_group", groups.own), ("best_other_group", groups.other)];
        let known = types.into_iter().filter_map(|(name, types)| Some((name, types?)));
        notes.extend(known.map(|(name, (kind, idle))| (name, Note::Owned(format!("{kind}, {idle} idle CPUs")))));
    }
    notes
}

/// Parent track and rank among its children.
type Place = (u64, u32);

fn put_parent(packets: &mut Vec<u8>, uuid: u64, place: Option<Place>, name: &str, ordering: u64) {
    put_descriptor(packets, uuid, place, name, |out| put_uint(out, track::CHILD_ORDERING, ordering));
}

fn put_leaf(packets: &mut Vec<u8>, uuid: u64, place: Place, spec: &TrackSpec) {
    put_descriptor(packets, uuid, Some(place), spec.name, |out| {
        if let Some(unit) = spec.unit {
            put_message(out, track::COUNTER, |out| put_bytes(out, track::COUNTER_UNIT_NAME, unit.as_bytes()));
        }
    });
}

fn put_descriptor(
    packets: &mut Vec<u8>,
    uuid: u64,
    place: Option<Place>,
    name: &str,
    put_kind: impl FnOnce(&mut Vec<u8>),
) {
    put_packet(packets, |out| {
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_message(out, packet::TRACK_DESCRIPTOR, |out| {
            put_uint(out, track::UUID, uuid);
            put_bytes(out, track::NAME, name.as_bytes());
            if let Some((parent_uuid, rank)) = place {
                put_uint(out, track::PARENT_UUID, parent_uuid);
                put_int(out, track::SIBLING_RANK, i64::from(rank));
            }
            put_uint(out, track::SIBLING_MERGE, track::MERGE_NONE);
            put_kind(out);
        });
    });
}

#[inline]
fn put_counter(packets: &mut Record, time_ns: u64, uuid: u64, value: i64) {
    put_short(packets, trace::PACKET, |out| {
        put_uint(out, packet::TIMESTAMP, time_ns);
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_short(out, packet::TRACK_EVENT, |out| {
            put_uint(out, track_event::TYPE, track_event::TYPE_COUNTER);
            put_uint(out, track_event::TRACK_UUID, uuid);
            put_int(out, track_event::COUNTER_VALUE, value);
        });
    });
}

fn put_slice_begin(packets: &mut Record, time_ns: u64, uuid: u64, event: &Event) {
    put_medium(packets, trace::PACKET, |out| {
        put_uint(out, packet::TIMESTAMP, time_ns);
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_uint(out, packet::SEQUENCE_FLAGS, packet::FLAG_NEEDS_STATE);
        put_medium(out, packet::TRACK_EVENT, |out| {
            put_uint(out, track_event::TYPE, track_event::TYPE_SLICE_BEGIN);
            put_uint(out, track_event::TRACK_UUID, uuid);
            put_uint(out, track_event::NAME_IID, SLICE_NAME_IID);
            put_annotations(out, event);
        });
    });
}

/// Every column of the event except the first, the task, which the track names.
fn put_annotations(out: &mut Record, event: &Event) {
    let mut iid = 0;
    event.each_value(|value| {
        if iid != 0 {
            put_short(out, track_event::DEBUG_ANNOTATION, |out| {
                put_uint(out, track_event::ANNOTATION_NAME_IID, iid);
                put_int(out, track_event::ANNOTATION_INT, value.cast_signed());
            });
        }
        iid += 1;
    });
}

/// The names that slices refer to by number: a column's number is its place in the event.
pub(super) fn put_interned_names(out: &mut Vec<u8>) {
    let columns = EVENTS.iter().find(|info| info.name == ACTIVATION).map_or(&[][..], |info| info.columns);
    put_packet(out, |out| {
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_message(out, packet::INTERNED_DATA, |out| {
            put_name(out, interned::EVENT_NAMES, SLICE_NAME_IID, "activation");
            for (iid, column) in (0..).zip(columns).skip(1) {
                put_name(out, interned::ANNOTATION_NAMES, iid, column.name);
            }
        });
    });
}

fn put_name(out: &mut Vec<u8>, field: u32, iid: u64, name: &str) {
    put_message(out, field, |out| {
        put_uint(out, interned::IID, iid);
        put_bytes(out, interned::NAME, name.as_bytes());
    });
}

fn put_slice_end(packets: &mut Record, time_ns: u64, uuid: u64) {
    put_short(packets, trace::PACKET, |out| {
        put_uint(out, packet::TIMESTAMP, time_ns);
        put_uint(out, packet::SEQUENCE_ID, TRACK_SEQUENCE);
        put_short(out, packet::TRACK_EVENT, |out| {
            put_uint(out, track_event::TYPE, track_event::TYPE_SLICE_END);
            put_uint(out, track_event::TRACK_UUID, uuid);
        });
    });
}
