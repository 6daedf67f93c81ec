// SPDX-License-Identifier: GPL-2.0-or-later
//! Perfetto traces as a source, in two passes.
//!
//! Bundles hold the events of one CPU and overlap in time. The first pass notes where each is and when it begins; the
//! second opens them in that order, a bundle only when its first event is next, and merges those that are open. Memory:
//! a few words per bundle, and the bundles that overlap. Packed packets are unpacked once, into a temporary file
//! without a name; events of counter tracks are written there too, in sorted runs.

mod bundle;
mod clocks;
mod index;
mod spill;
mod tracks;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use pelton_schema::{CPU_UNKNOWN, Event};

use self::bundle::Plans;
use self::index::{Holds, Item};
use self::spill::take_event;
use super::compressed::Whole;
use super::decode::Notes;
use super::{Format, ImportError, Source, Timed, TraceInfo, place};
use crate::perfetto::fields::trace;
use crate::perfetto::proto::take_field;
use crate::varint;

/// Events that may be held at the same time.
const OPEN_EVENTS_MAX: usize = 4 << 20;
/// CPUs whose running task is followed.
const CPUS_MAX: usize = 8192;

/// Events of one item, in order of time.
#[derive(Default)]
pub(super) struct Timeline {
    events: Vec<(u64, Event)>,
    shift_ns: u64,
    /// Place of the next one.
    at: usize,
}

impl Timeline {
    #[inline]
    fn push(&mut self, time: u64, event: Event) {
        self.events.push((time.wrapping_add(self.shift_ns), event));
    }

    fn time_ns(&self) -> Option<u64> {
        self.events.get(self.at).map(|(time_ns, _)| *time_ns)
    }
}

/// A Perfetto trace being read.
pub(super) struct PerfettoSource {
    path: PathBuf,
    whole: Whole,
    spilled: Option<File>,
    items: std::iter::Peekable<std::vec::IntoIter<Item>>,
    /// Items being read, by the time of their next event; emptied ones are used again.
    open: Vec<Timeline>,
    free: Vec<usize>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
    held: usize,
    plans: Plans,
    notes: Notes,
    /// Running task and its priority by CPU.
    running: Vec<(u32, u32)>,
    bytes: Vec<u8>,
    last_ns: u64,
    late: u64,
}

/// True when `head`, the first bytes of a file, is a Perfetto trace.
pub(super) fn sniff(head: &[u8]) -> bool {
    let mut rest = head;
    let tag = u64::from(trace::PACKET) << 3 | 2;
    if varint::take(&mut rest) != Some(tag) {
        return false;
    }
    let Some(length) = varint::take(&mut rest).and_then(|length| usize::try_from(length).ok()) else { return false };
    let (mut packet, whole) = match rest.split_at_checked(length) {
        Some((packet, after)) => (packet, after.is_empty() || after[0] == tag as u8),
        None => (rest, length < 64 << 20),
    };
    let mut fields = 0;
    while let Some((field, _)) = take_field(&mut packet) {
        if field > 1 << 16 {
            return false;
        }
        fields += 1;
    }
    // A first packet that goes beyond the head has to begin with a field that may be one.
    let cut = rest.len() < length;
    whole
        && if cut {
            fields > 0 || packet.first().is_some_and(|byte| byte & 7 == 2)
        } else {
            packet.is_empty() && fields > 0
        }
}

impl PerfettoSource {
    /// Reads the trace once, for its index.
    pub fn new(mut whole: Whole, path: &Path) -> Result<PerfettoSource, ImportError> {
        let mut notes = Notes::new(TraceInfo::new(Format::Perfetto));
        notes.info.remarks.push("clock: boot time".to_owned());
        if let Some(fault) = &whole.fault {
            notes.info.damage_at(whole.bytes, fault);
        }
        let failed = |error| ImportError::io(path, error);
        let mut index = index::build(&mut whole.file, &mut notes).map_err(failed)?;
        if index.packets == 0 {
            let error =
                ImportError::content(path, "is no Perfetto trace: it does not begin with a packet").at_offset(0);
            return Err(error.help("leave --input-format out, and the kind is recognised by the content"));
        }
        notes.info.run_ids = index.ours();
        let spilled = std::mem::take(&mut index.spill).finish().map_err(failed)?;
        Ok(PerfettoSource {
            path: path.to_owned(),
            whole,
            spilled,
            items: index.items.into_iter().peekable(),
            open: Vec::new(),
            free: Vec::new(),
            order: BinaryHeap::new(),
            held: 0,
            plans: Plans::new(&mut notes),
            notes,
            running: Vec::new(),
            bytes: Vec::new(),
            last_ns: 0,
            late: 0,
        })
    }

    /// Opens every item that begins no later than what is next.
    fn open_due(&mut self) -> io::Result<()> {
        while let Some(item) = self.items.peek() {
            if self.order.peek().is_some_and(|Reverse((time_ns, _))| *time_ns < item.first_ns) {
                break;
            }
            let Some(item) = self.items.next() else { break };
            if self.held > OPEN_EVENTS_MAX {
                self.notes.info.damage_at(item.offset, "too many bundles of one time: this one is not read");
                continue;
            }
            self.open_item(item)?;
        }
        Ok(())
    }

    fn open_item(&mut self, item: Item) -> io::Result<()> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.open.push(Timeline::default());
            self.open.len() - 1
        });
        let mut timeline = std::mem::take(&mut self.open[place]);
        timeline.events.clear();
        timeline.at = 0;
        timeline.shift_ns = 0;
        if self.load(item)? && self.read(item, &mut timeline).is_none() {
            self.notes.info.damage_at(item.offset, "a malformed bundle: the rest of it is not read");
        }
        if !timeline.events.is_sorted_by_key(|(time_ns, _)| *time_ns) {
            timeline.events.sort_by_key(|(time_ns, _)| *time_ns);
        }
        self.held += timeline.events.len();
        match timeline.time_ns() {
            Some(time_ns) => self.order.push(Reverse((time_ns, place))),
            None => self.free.push(place),
        }
        self.open[place] = timeline;
        Ok(())
    }

    /// Loads the bytes of an item; false when the file no longer has them.
    fn load(&mut self, item: Item) -> io::Result<bool> {
        let file = match item.holds {
            Holds::Bundle { spilled: false, .. } => Some(&self.whole.file),
            _ => self.spilled.as_ref(),
        };
        let Some(file) = file else { return Ok(false) };
        self.bytes.resize(item.bytes as usize, 0);
        place::read_whole(file, &mut self.bytes, item.offset)?;
        Ok(true)
    }

    fn read(&mut self, item: Item, timeline: &mut Timeline) -> Option<()> {
        if let Holds::Bundle { shift_ns, .. } = item.holds {
            let head = bundle::head(&self.bytes)?;
            timeline.shift_ns = shift_ns;
            if head.lost {
                timeline.push(head.first?, Event::LostEvents { cpu: head.cpu, count: 0 });
            }
            return bundle::decode(&self.bytes, &head, &self.plans, &mut self.notes, timeline);
        }
        let mut input = &self.bytes[..];
        while !input.is_empty() {
            timeline.events.push(take_event(&mut input)?);
        }
        Some(())
    }

    /// Takes what is earliest. `Some(None)`: something that is not handed out.
    fn step(&mut self) -> io::Result<Option<Option<Timed>>> {
        self.open_due()?;
        let Some(mut top) = self.order.peek_mut() else { return Ok(None) };
        let Reverse((time_ns, place)) = *top;
        let timeline = &mut self.open[place];
        let mut event = timeline.events[timeline.at].1;
        timeline.at += 1;
        match timeline.time_ns() {
            Some(next_ns) => {
                *top = Reverse((next_ns, place));
                drop(top);
            }
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
                self.held -= timeline.events.len();
                self.free.push(place);
            }
        }
        if !self.complete(&mut event) {
            self.notes.info.skip("(first switch of a CPU in columns, which does not say who ran)");
            return Ok(Some(None));
        }
        if self.notes.info.run_ids {
            unshift(&mut event);
        }
        self.late += u64::from(time_ns < self.last_ns);
        self.last_ns = self.last_ns.max(time_ns);
        self.notes.count(&event);
        Ok(Some(Some(Timed { time_ns: self.last_ns, event })))
    }

    /// Fills in the task that stops running where a switch does not say it, and keeps the one that runs; false when it
    /// is not known.
    #[inline]
    fn complete(&mut self, event: &mut Event) -> bool {
        let Event::SchedSwitch { cpu, prev_tid, prev_prio, next_tid, next_prio, .. } = event else { return true };
        let cpu = *cpu as usize;
        if cpu >= CPUS_MAX {
            return *prev_tid != CPU_UNKNOWN;
        }
        if cpu >= self.running.len() {
            self.running.resize(cpu + 1, (CPU_UNKNOWN, 0));
        }
        if *prev_tid == CPU_UNKNOWN {
            (*prev_tid, *prev_prio) = self.running[cpu];
        }
        self.running[cpu] = (*next_tid, *next_prio);
        *prev_tid != CPU_UNKNOWN
    }
}

/// Task ids of a run of ours are shifted in its trace.
fn unshift(event: &mut Event) {
    let tid_of = |tid: &mut u32| *tid = crate::perfetto::read::tid_of(*tid);
    match event {
        Event::SchedSwitch { prev_tid, next_tid, .. } => {
            tid_of(prev_tid);
            tid_of(next_tid);
        }
        Event::SchedWaking { tid, .. }
        | Event::SchedWakeup { tid, .. }
        | Event::SchedWakeupNew { tid, .. }
        | Event::SchedMigrateTask { tid, .. } => tid_of(tid),
        _ => {}
    }
}

impl Source for PerfettoSource {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        while let Some(timed) = self.step().map_err(|error| ImportError::io(&self.path, error))? {
            if timed.is_some() {
                return Ok(timed);
            }
        }
        self.notes.end();
        if self.late > 0 {
            let what = format!("{} events out of order within their bundle: moved to the time before", self.late);
            self.notes.info.damage_at(0, what);
            self.late = 0;
        }
        Ok(None)
    }

    fn info(&self) -> &TraceInfo {
        &self.notes.info
    }
}
