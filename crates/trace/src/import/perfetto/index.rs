// SPDX-License-Identifier: GPL-2.0-or-later
//! The first pass over a trace: where its bundles are, what the tracks say, names and clocks.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use pelton_schema::Event;

use super::bundle::{self, BundleHead};
use super::clocks::{Clocks, MONOTONIC_RAW};
use super::spill::{Spill, put_event};
use super::tracks::{Defaults, Tracks, numbers};
use crate::import::decode::Notes;
use crate::perfetto::KERNEL_UNKNOWN;
use crate::perfetto::fields::{clock_snapshot, packet, process_tree, service_event, system_info, trace};
use crate::perfetto::proto::{Value, each_field, take_field};
use crate::varint;

/// Longest packet believed, bytes.
const PACKET_BYTES_MAX: u64 = 64 << 20;
/// A packed packet grows at most to this, bytes: the recorder packs about 512 KiB at a time.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;
/// Events of tracks that are sorted together.
const RUN_EVENTS: usize = 1 << 15;
/// Sequences whose state is kept.
const SEQUENCES_MAX: usize = 1 << 16;
/// Further counters that a sequence declares for its events.
const EXTRA_TRACKS_MAX: usize = 64;
/// Bundles and runs of one trace.
const ITEMS_MAX: usize = 1 << 24;

/// Fields of `TracePacket` beyond those we write.
const INCREMENTAL_STATE_CLEARED: u32 = 41;
const COMPRESSED_PACKETS: u32 = 50;
const TIMESTAMP_CLOCK: u32 = 58;
const DEFAULTS: u32 = 59;
const ZSTD_COMPRESSED_PACKETS: u32 = 133;
/// `TracePacketDefaults.track_event_defaults`, and its fields.
const TRACK_EVENT_DEFAULTS: u32 = 11;
const EXTRA_UUIDS: u32 = 31;
const EXTRA_DOUBLE_UUIDS: u32 = 45;
/// `FtraceEventBundle` of the events of one CPU.
const FTRACE_EVENTS: u32 = packet::FTRACE_EVENTS;

/// Contents of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// A bundle in the trace itself, or in the unpacked part; added to its times: boot clock minus its clock.
    Bundle { spilled: bool, shift_ns: u64 },
    /// A sorted run of events of tracks.
    Run,
}

/// A part of the trace that is read at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub first_ns: u64,
    pub offset: u64,
    pub bytes: u32,
    pub holds: Holds,
}

/// State of a packet sequence.
#[derive(Clone, Debug, Default)]
struct Sequence {
    clock: Option<u64>,
    defaults: Defaults,
}

/// Findings of the first pass.
pub(super) struct Index {
    pub items: Vec<Item>,
    /// Packets found.
    pub packets: u64,
    /// Unpacked packets and runs.
    pub spill: Spill,
    tracks: Tracks,
    clocks: Clocks,
    sequences: std::collections::BTreeMap<u64, Sequence>,
    run: Vec<(u64, Event)>,
    /// Written by this program, which says where a trace ends.
    by_us: bool,
    started: bool,
    ended: bool,
}

/// Reads the trace once.
pub(super) fn build(file: &mut File, notes: &mut Notes) -> io::Result<Index> {
    let mut index = Index {
        items: Vec::new(),
        packets: 0,
        spill: Spill::of_trace(file.metadata()?.len()),
        tracks: Tracks::default(),
        clocks: Clocks::default(),
        sequences: std::collections::BTreeMap::new(),
        run: Vec::new(),
        by_us: false,
        started: false,
        ended: false,
    };
    let mut input = BufReader::with_capacity(1 << 18, file);
    let (mut packet, mut offset) = (Vec::new(), 0u64);
    loop {
        let start = match next_packet(&mut input, &mut packet, offset)? {
            Packet::Found { start } => start,
            Packet::End => break,
            Packet::Bad(what) => {
                notes.info.damage_at(offset, format!("{what}: the rest of the trace is not read"));
                break;
            }
        };
        if index.packet(&packet, start, false, notes)?.is_none() {
            notes.info.damage_at(offset, "a malformed packet: not read");
        }
        index.packets += 1;
        offset = start + packet.len() as u64;
    }
    if index.by_us && index.started && !index.ended {
        notes.info.damage_at(offset, "the trace ends early: whoever wrote it was stopped");
    }
    index.finish(notes)?;
    Ok(index)
}

/// Packet at a place of the trace.
enum Packet {
    /// A packet whose contents start there.
    Found {
        start: u64,
    },
    End,
    Bad(&'static str),
}

/// Loads the next packet when the buffer of `input` holds it whole, as it does nearly always.
#[inline]
fn buffered_packet(input: &mut impl BufRead, packet: &mut Vec<u8>, offset: u64) -> io::Result<Option<Packet>> {
    let buffer = input.fill_buf()?;
    let mut rest = buffer;
    let Some((trace::PACKET, Value::Bytes(bytes))) = take_field(&mut rest) else { return Ok(None) };
    packet.clear();
    packet.extend_from_slice(bytes);
    let taken = buffer.len() - rest.len();
    let start = offset + (taken - packet.len()) as u64;
    input.consume(taken);
    Ok(Some(Packet::Found { start }))
}

/// Loads the next packet; room is made only for bytes that are there.
fn next_packet(input: &mut impl BufRead, packet: &mut Vec<u8>, offset: u64) -> io::Result<Packet> {
    if let Some(packet) = buffered_packet(input, packet, offset)? {
        return Ok(packet);
    }
    let mut head = [0; 12];
    let mut length = 0;
    // Tag, then length: both end with a byte below 128.
    for _ in 0..2 {
        loop {
            let mut byte = [0];
            match input.read(&mut byte) {
                Ok(0) if length == 0 => return Ok(Packet::End),
                Ok(0) => return Ok(Packet::Bad("the trace ends within a packet")),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if length == head.len() {
                return Ok(Packet::Bad("a packet without a length"));
            }
            head[length] = byte[0];
            length += 1;
            if byte[0] < 0x80 {
                break;
            }
        }
    }
    let mut rest = &head[..length];
    let tag = varint::take(&mut rest);
    let (Some(tag), Some(bytes)) = (tag, varint::take(&mut rest)) else { return Ok(Packet::Bad("a malformed packet")) };
    if tag != u64::from(trace::PACKET) << 3 | 2 {
        return Ok(Packet::Bad("something that is no packet"));
    }
    if bytes > PACKET_BYTES_MAX {
        return Ok(Packet::Bad("a packet longer than any recorder makes it"));
    }
    packet.clear();
    let found = input.take(bytes).read_to_end(packet)?;
    if (found as u64) < bytes {
        return Ok(Packet::Bad("the trace ends within a packet"));
    }
    Ok(Packet::Found { start: offset + length as u64 })
}

/// The numbers of a packet that matter: what its messages are read with, wherever they stand in it.
#[derive(Default)]
struct Contents {
    time: u64,
    clock: Option<u64>,
    sequence: u64,
    cleared: bool,
}

impl Contents {
    fn of(packet: &[u8]) -> Option<Contents> {
        let mut contents = Contents::default();
        each_field(packet, |field, value| {
            match (field, value) {
                (packet::TIMESTAMP, value) => contents.time = value.number()?,
                (TIMESTAMP_CLOCK, value) => contents.clock = Some(value.number()?),
                (packet::SEQUENCE_ID, value) => contents.sequence = value.number()?,
                (packet::SEQUENCE_FLAGS, value) => {
                    contents.cleared |= value.number()? & packet::FLAG_STATE_CLEARED != 0;
                }
                (INCREMENTAL_STATE_CLEARED, value) => contents.cleared |= value.number()? != 0,
                _ => {}
            }
            Some(())
        })?;
        Some(contents)
    }
}

impl Index {
    /// Notes one packet whose contents start at `start`; `None` when it is malformed.
    fn packet(&mut self, packet: &[u8], start: u64, spilled: bool, notes: &mut Notes) -> io::Result<Option<()>> {
        let Some(contents) = Contents::of(packet) else { return Ok(None) };
        if contents.cleared {
            self.sequences.remove(&contents.sequence);
        }
        let (mut rest, mut good) = (packet, Some(()));
        while let (Some(()), Some((field, value))) = (good, take_field(&mut rest)) {
            if let Value::Bytes(message) = value {
                let place = start + (message.as_ptr() as usize - packet.as_ptr() as usize) as u64;
                good = self.message(&contents, field, message, place, spilled, notes)?;
            }
        }
        Ok(good)
    }

    /// Notes one message of a packet, which starts at `place`; `None` when it is malformed.
    #[inline]
    fn message(
        &mut self,
        contents: &Contents,
        field: u32,
        message: &[u8],
        place: u64,
        spilled: bool,
        notes: &mut Notes,
    ) -> io::Result<Option<()>> {
        Ok(match field {
            FTRACE_EVENTS => self.bundle(message, place, spilled, notes),
            packet::TRACK_EVENT => self.track_event(contents, message, notes)?,
            packet::TRACK_DESCRIPTOR => self.tracks.declare(message),
            packet::PROCESS_TREE => self.threads(message, notes),
            packet::CLOCK_SNAPSHOT => self.clocks.snapshot(contents.sequence, message),
            packet::SYSTEM_INFO => self.system(message, notes),
            packet::SERVICE_EVENT => each_field(message, |what, value| {
                let is_set = value.number().is_some_and(|set| set != 0);
                self.started |= is_set && what == service_event::TRACING_STARTED;
                self.ended |= is_set && what == service_event::TRACING_DISABLED;
                Some(())
            }),
            packet::CPU_INFO => count_cpus(message, notes),
            DEFAULTS => self.defaults(contents.sequence, message),
            COMPRESSED_PACKETS | ZSTD_COMPRESSED_PACKETS if !spilled => {
                self.unpack(field == ZSTD_COMPRESSED_PACKETS, message, notes)?
            }
            _ => Some(()),
        })
    }

    /// Notes a bundle without reading its events.
    fn bundle(&mut self, message: &[u8], place: u64, spilled: bool, notes: &mut Notes) -> Option<()> {
        let head = bundle::head(message)?;
        notes.info.cpus = notes.info.cpus.max(head.cpu.saturating_add(1).min(8192));
        if head.lost {
            notes.info.lost_unknown += 1;
        }
        let Some(first) = head.first else { return Some(()) };
        let shift_ns = self.shift(&head);
        let item = Item {
            first_ns: first.wrapping_add(shift_ns),
            offset: place,
            bytes: message.len() as u32,
            holds: Holds::Bundle { spilled, shift_ns },
        };
        self.push(item, notes);
        Some(())
    }

    fn shift(&mut self, head: &BundleHead) -> u64 {
        match head.pair {
            Some((ftrace, boot)) => boot.wrapping_sub(ftrace),
            None if head.mono_raw => self.clocks.boot_time(0, MONOTONIC_RAW, 0),
            None => 0,
        }
    }

    fn push(&mut self, item: Item, notes: &mut Notes) {
        if self.items.len() < ITEMS_MAX {
            self.items.push(item);
        } else {
            notes.info.damage_at(item.offset, "more bundles than are kept: this one is not read");
        }
    }

    fn track_event(&mut self, contents: &Contents, message: &[u8], notes: &mut Notes) -> io::Result<Option<()>> {
        let sequence = self.sequences.get(&contents.sequence);
        let clock = contents.clock.or_else(|| sequence.and_then(|s| s.clock)).unwrap_or(clock_snapshot::BOOTTIME);
        let time_ns = self.clocks.boot_time(contents.sequence, clock, contents.time);
        let none = Defaults::default();
        let defaults = sequence.map_or(&none, |sequence| &sequence.defaults);
        let run = &mut self.run;
        let good = self.tracks.event(time_ns, message, defaults, &mut notes.info, &mut |time_ns, event| {
            run.push((time_ns, event));
        });
        if self.run.len() >= RUN_EVENTS {
            self.end_run(notes)?;
        }
        Ok(good)
    }

    /// Writes the events of tracks gathered so far down, sorted.
    fn end_run(&mut self, notes: &mut Notes) -> io::Result<()> {
        self.run.sort_by_key(|(time_ns, _)| *time_ns);
        let mut bytes = Vec::new();
        self.run.iter().for_each(|(time_ns, event)| put_event(&mut bytes, *time_ns, event));
        if let Some(&(first_ns, _)) = self.run.first() {
            let offset = self.spill.append(&bytes)?;
            self.push(Item { first_ns, offset, bytes: bytes.len() as u32, holds: Holds::Run }, notes);
        }
        self.run.clear();
        Ok(())
    }

    fn threads(&mut self, message: &[u8], notes: &mut Notes) -> Option<()> {
        each_field(message, |field, value| {
            if field != process_tree::THREADS && field != process_tree::PROCESSES {
                return Some(());
            }
            let (mut tid, mut name, mut command) = (0, &[][..], None);
            each_field(value.bytes()?, |inner, value| {
                match (field, inner) {
                    (process_tree::THREADS, process_tree::THREAD_TID) => tid = value.number()?,
                    (process_tree::THREADS, process_tree::THREAD_NAME) => name = value.bytes()?,
                    (process_tree::PROCESSES, process_tree::PROCESS_PID) => tid = value.number()?,
                    (process_tree::PROCESSES, process_tree::PROCESS_CMDLINE) => {
                        command = command.or(Some(value.bytes()?));
                    }
                    _ => {}
                }
                Some(())
            })?;
            let name = command.map_or(name, |command| command.rsplit(|&byte| byte == b'/').next().unwrap_or(command));
            if field == process_tree::THREADS || !self.tracks.ours {
                notes.name(self.tracks.tid(tid as u32), name);
            }
            Some(())
        })
    }

    fn system(&mut self, message: &[u8], notes: &mut Notes) -> Option<()> {
        each_field(message, |field, value| {
            if field == system_info::UTSNAME {
                let mut texts = [String::new(), String::new()];
                each_field(value.bytes()?, |field, value| {
                    match field {
                        system_info::RELEASE => texts[0] = shown(value.bytes()?),
                        system_info::VERSION => texts[1] = shown(value.bytes()?),
                        _ => {}
                    }
                    Some(())
                })?;
                self.by_us = texts[1].starts_with("pelton ");
                self.tracks.ours = texts[0].ends_with("-pelton");
                // What stands for a kernel of ours that states are written for, and what the trace was recorded on.
                let recorded =
                    texts[0].split_once(" (").filter(|_| self.by_us).map(|(_, rest)| rest.trim_end_matches(')'));
                match recorded.map(|rest| rest.rsplit("recorded on ").next().unwrap_or("")) {
                    None => notes.info.kernel = Some(texts[0].clone()).filter(|release| !release.is_empty()),
                    Some(KERNEL_UNKNOWN) => {}
                    Some(kernel) => notes.info.kernel = Some(kernel.to_owned()),
                }
                if !texts[1].is_empty() {
                    let what = if self.by_us { "written by" } else { "kernel build" };
                    notes.info.remarks.push(format!("{what}: {}", texts[1]));
                }
            }
            Some(())
        })
    }

    fn defaults(&mut self, sequence: u64, message: &[u8]) -> Option<()> {
        let mut state = Sequence::default();
        each_field(message, |field, value| {
            match field {
                TIMESTAMP_CLOCK => state.clock = Some(value.number()?),
                TRACK_EVENT_DEFAULTS => each_field(value.bytes()?, |field, value| {
                    match field {
                        11 => state.defaults.track = value.number()?,
                        EXTRA_UUIDS => state.defaults.extra.extend(numbers(value)?),
                        EXTRA_DOUBLE_UUIDS => state.defaults.extra_double.extend(numbers(value)?),
                        _ => {}
                    }
                    Some(())
                })?,
                _ => {}
            }
            Some(())
        })?;
        state.defaults.extra.truncate(EXTRA_TRACKS_MAX);
        state.defaults.extra_double.truncate(EXTRA_TRACKS_MAX);
        if self.sequences.len() < SEQUENCES_MAX || self.sequences.contains_key(&sequence) {
            self.sequences.insert(sequence, state);
        }
        Some(())
    }

    /// Unpacks packets, writes them down, and notes each.
    fn unpack(&mut self, zstd: bool, message: &[u8], notes: &mut Notes) -> io::Result<Option<()>> {
        let mut bytes = Vec::new();
        let unpacked = if zstd {
            zstd::stream::read::Decoder::with_buffer(message).and_then(|mut decoder| {
                decoder.window_log_max(27)?;
                decoder.take(UNPACKED_BYTES_MAX).read_to_end(&mut bytes)
            })
        } else {
            flate2::read::ZlibDecoder::new(message).take(UNPACKED_BYTES_MAX).read_to_end(&mut bytes)
        };
        if unpacked.is_err() || bytes.len() as u64 >= UNPACKED_BYTES_MAX {
            return Ok(None);
        }
        if !self.spill.takes(bytes.len()) {
            return Ok(None);
        }
        let base = self.spill.append(&bytes)?;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let Some((field, Value::Bytes(packet))) = take_field(&mut rest) else { return Ok(None) };
            let start = base + (packet.as_ptr() as usize - bytes.as_ptr() as usize) as u64;
            if field == trace::PACKET && self.packet(packet, start, true, notes)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn finish(&mut self, notes: &mut Notes) -> io::Result<()> {
        let run = &mut self.run;
        self.tracks.end(&mut |time_ns, event| run.push((time_ns, event)));
        self.end_run(notes)?;
        if self.clocks.unknown > 0 {
            notes.info.remarks.push(format!("{} times on clocks without a snapshot", self.clocks.unknown));
        }
        self.items.sort_by_key(|item| item.first_ns);
        Ok(())
    }

    /// True when task ids are those of a run of ours, shifted.
    pub fn ours(&self) -> bool {
        self.tracks.ours
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).take(200).collect()
}

fn count_cpus(message: &[u8], notes: &mut Notes) -> Option<()> {
    let mut cpus = 0;
    each_field(message, |field, _| {
        cpus += u32::from(field == 1);
        Some(())
    })?;
    notes.info.cpus = notes.info.cpus.max(cpus.min(8192));
    Some(())
}
