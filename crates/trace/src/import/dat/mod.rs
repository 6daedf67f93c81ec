// SPDX-License-Identifier: GPL-2.0-or-later
//! `trace.dat` of trace-cmd, versions 6 and 7, as a source.
//!
//! Layouts are trace-cmd's documented ones (`trace-cmd.dat.v6(5)`, `trace-cmd.dat.v7(5)`) and the kernel's description
//! of its own ring buffer. Each CPU is read through a window of 64 KiB; the windows are merged by time.

mod cursor;
mod format;
mod head;
mod options;
mod page;
mod stream;
mod unpack;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use pelton_schema::Event;

use self::cursor::Fault;
use self::format::{EventFormat, Field, Kind};
use self::head::Head;
use self::options::TscToNs;
use self::page::Order;
use self::stream::{CpuStream, Next};
use super::compressed::Whole;
use super::decode::{Fields, Notes, Plan};
use super::{Format, ImportError, Source, Timed, TraceInfo, marked};

/// First bytes of the file.
pub(super) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Memory for all windows together, bytes.
const MEMORY_MAX: usize = 512 << 20;

/// A `trace.dat` being read.
pub(super) struct DatSource {
    path: PathBuf,
    whole: Whole,
    streams: Vec<CpuStream>,
    /// Streams by the time of what is next on them.
    order: BinaryHeap<Reverse<(u64, usize)>>,
    events: Events,
    clock: Clock,
    notes: Notes,
    /// Events by code: the buffer they are taken from, so that one recorded twice is handed out once.
    owners: Vec<Option<usize>>,
    instances: Vec<String>,
    last_ns: u64,
}

impl DatSource {
    /// Reads the head.
    pub fn new(whole: Whole, path: &Path) -> Result<DatSource, ImportError> {
        let head = head::read(&whole.file, whole.bytes).map_err(|(fault, at)| into_import(path, fault, at))?;
        let mut info = TraceInfo::new(Format::TraceDat);
        describe(&head, &mut info);
        if let Some(fault) = &whole.fault {
            info.damage_at(whole.bytes, fault);
        }
        let mut notes = Notes::new(info);
        head.names.iter().for_each(|(tid, name)| notes.name(*tid, name.as_bytes()));
        let streams = open_streams(&head, whole.bytes, &mut notes.info);
        let streams = streams.map_err(|what| ImportError::content(path, what).help("record the trace again"))?;
        let clock = Clock { tsc: head.options.tsc, offset_ns: head.options.offset_ns };
        let mut source = DatSource {
            path: path.to_owned(),
            whole,
            order: BinaryHeap::with_capacity(streams.len()),
            streams,
            events: Events::new(&head, &mut notes.info),
            clock,
            notes,
            owners: vec![None; 256],
            instances: head.buffers.iter().map(|buffer| buffer.name.clone()).collect(),
            last_ns: 0,
        };
        source.start().map_err(|error| ImportError::io(path, error))?;
        Ok(source)
    }

    fn start(&mut self) -> std::io::Result<()> {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            stream.advance(&self.whole.file, &mut self.notes.info)?;
            if stream.next.is_some() {
                self.order.push(Reverse((stream.time, index)));
            }
        }
        Ok(())
    }

    /// Takes what is earliest and moves its stream on. `Some(None)`: something without meaning here.
    fn step(&mut self) -> std::io::Result<Option<Option<Timed>>> {
        let Some(mut top) = self.order.peek_mut() else { return Ok(None) };
        let Reverse((time, index)) = *top;
        let stream = &mut self.streams[index];
        let event = match stream.next {
            Some(Next::Record { start, end }) => {
                self.events.decode(&stream.window[start..end], stream.cpu, &mut self.notes)
            }
            Some(Next::Lost(count)) => {
                note_lost(count, &mut self.notes.info);
                Some(Event::LostEvents { cpu: stream.cpu, count })
            }
            None => None,
        };
        let buffer = stream.buffer;
        stream.advance(&self.whole.file, &mut self.notes.info)?;
        if stream.next.is_some() {
            *top = Reverse((stream.time, index));
            drop(top);
        } else {
            PeekMut::pop(top);
        }
        self.last_ns = self.last_ns.max(self.clock.to_ns(time));
        let event = event.filter(|event| self.owned(event, buffer));
        Ok(Some(event.map(|event| Timed { time_ns: self.last_ns, event })))
    }

    /// Counts the event; false when events like this are taken from another buffer.
    #[inline]
    fn owned(&mut self, event: &Event, buffer: usize) -> bool {
        let owner = *self.owners[usize::from(event.code())].get_or_insert(buffer);
        if owner == buffer || matches!(event, Event::LostEvents { .. }) {
            self.notes.count(event);
            return true;
        }
        self.notes.info.skip(&format!("(again in instance {})", self.instances[buffer]));
        false
    }
}

impl Source for DatSource {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        loop {
            match self.step().map_err(|error| ImportError::io(&self.path, error))? {
                Some(Some(timed)) => return Ok(Some(timed)),
                Some(None) => {}
                None => {
                    self.notes.end();
                    return Ok(None);
                }
            }
        }
    }

    fn info(&self) -> &TraceInfo {
        &self.notes.info
    }
}

fn note_lost(count: u64, info: &mut TraceInfo) {
    if count == 0 {
        info.lost_unknown += 1;
    } else {
        info.lost = info.lost.saturating_add(count);
    }
}

fn describe(head: &Head, info: &mut TraceInfo) {
    let mut remark = |label: &str, text: &str| {
        if !text.is_empty() {
            info.remarks.push(format!("{label}: {text}"));
        }
    };
    let order = if head.order == Order::Little { "little" } else { "big" };
    remark("trace.dat", &format!("version {}, {order}-endian, {}-bit", head.version, head.long_bytes * 8));
    remark("recorded by trace-cmd", &head.options.version);
    remark("recorded on", &head.options.uname);
    for buffer in head.buffers.iter().filter(|buffer| !buffer.cpus.is_empty()) {
        let label = if buffer.name.is_empty() { "clock".to_owned() } else { format!("clock of {}", buffer.name) };
        remark(&label, &buffer.clock);
    }
    if head.options.overrun > 0 {
        remark("records the kernel overwrote or dropped", &head.options.overrun.to_string());
    }
    if head.bad_formats > 0 {
        remark("event formats that cannot be read", &head.bad_formats.to_string());
    }
    info.kernel_named_in(&head.options.uname);
    let named = head.buffers.iter().flat_map(|buffer| &buffer.cpus).map(|data| data.cpu + 1).max();
    info.cpus = head.options.cpus.max(named.unwrap_or(0));
}

/// One stream per CPU with records. Instances on another clock than the first buffer are left out, and a note says so.
fn open_streams(head: &Head, file_bytes: u64, info: &mut TraceInfo) -> Result<Vec<CpuStream>, String> {
    let with_data = |buffer: &head::Buffer| buffer.cpus.iter().any(|data| data.bytes > 0);
    let clock = head.buffers.iter().find(|buffer| with_data(buffer)).map_or("", |buffer| &buffer.clock);
    let count: usize = head.buffers.iter().map(|buffer| buffer.cpus.len()).sum();
    let largest = head.buffers.iter().map(|buffer| buffer.page_bytes as usize).max().unwrap_or(0);
    if count.saturating_mul(largest) > MEMORY_MAX {
        return Err(format!("{count} CPUs with pages of {largest} bytes: more than can be"));
    }
    let (mut streams, mut bytes) = (Vec::new(), 0u64);
    for (number, buffer) in head.buffers.iter().enumerate() {
        if buffer.clock != clock && with_data(buffer) {
            info.remarks.push(format!("instance {} has another clock and is left out", buffer.name));
            continue;
        }
        for &data in buffer.cpus.iter().filter(|data| data.bytes > 0) {
            let mut stream = CpuStream::new(head, number, data, count, MEMORY_MAX);
            if stream.cut(file_bytes) {
                info.damage_at(file_bytes, format!("the file ends before the records of CPU {} do", data.cpu));
            }
            // No two CPUs share bytes: a file that says so would be read thousands of times over.
            bytes = bytes.saturating_add(stream.bytes());
            if bytes > file_bytes {
                info.damage_at(data.offset, format!("the records of CPU {} overlap others: not read", data.cpu));
                return Ok(streams);
            }
            streams.push(stream);
        }
    }
    Ok(streams)
}

fn into_import(path: &Path, fault: Fault, at: u64) -> ImportError {
    match fault {
        Fault::Io(error) => ImportError::io(path, error),
        Fault::Short => ImportError::content(path, "this trace.dat ends before its events begin")
            .at_offset(at)
            .help("copy it again; a recording that was killed can be finished with `trace-cmd restore`"),
        Fault::Bad(what) => ImportError::content(path, format!("this trace.dat cannot be read: {what}"))
            .at_offset(at)
            .help("record it again, or give the output of `trace-cmd report`"),
    }
}

/// From the times of the file to nanoseconds.
struct Clock {
    tsc: Option<TscToNs>,
    offset_ns: i64,
}

impl Clock {
    #[inline]
    fn to_ns(&self, time: u64) -> u64 {
        let ns = match self.tsc {
            None => time,
            Some(tsc) => {
                let scaled = (u128::from(time) * u128::from(tsc.multiplier)) >> tsc.shift;
                u64::try_from(scaled).unwrap_or(u64::MAX).saturating_add(tsc.offset_ns)
            }
        };
        ns.saturating_add_signed(self.offset_ns)
    }
}

/// The events of a file by their number.
struct Events {
    order: Order,
    kind: Option<Field>,
    by_id: Vec<Option<(Plan, Vec<Field>)>>,
    /// Events that hold a program's text: number and where the text begins.
    marked: Vec<(u64, usize)>,
}

impl Events {
    fn new(head: &Head, info: &mut TraceInfo) -> Events {
        let most = head.formats.iter().map(|format| usize::from(format.id) + 1).max().unwrap_or(0);
        let mut by_id: Vec<_> = (0..most).map(|_| None).collect();
        for format in &head.formats {
            let fields = format.fields.iter().map(|field| field.name.clone());
            let fields = fields.filter(|name| !name.starts_with("common_"));
            let plan = Plan::new(&format.name, format.parked, |name| format.place(name)).with_fields(fields);
            plan.declare(info);
            by_id[usize::from(format.id)] = Some((plan, format.fields.clone()));
        }
        let kind = head
            .formats
            .iter()
            .find_map(|format: &EventFormat| format.place("common_type").map(|place| format.fields[place].clone()));
        let texts = head.formats.iter().filter(|format| marked::NAMES.contains(&format.name.as_str()));
        let text_at = |format: &EventFormat| {
            let place = format.place("buf")?;
            Some((u64::from(format.id), format.fields[place].offset as usize))
        };
        Events { order: head.order, kind, by_id, marked: texts.filter_map(text_at).collect() }
    }

    #[inline]
    fn decode(&self, record: &[u8], cpu: u32, notes: &mut Notes) -> Option<Event> {
        let (offset, size) = self.kind.as_ref().map_or((0, 2), |field| (field.offset as usize, field.size as usize));
        let Some(bytes) = record.get(offset..offset + size) else {
            notes.info.skip("(record without a number)");
            return None;
        };
        let id = self.order.number(bytes);
        let text = self.marked.iter().find(|(marked, _)| *marked == id).and_then(|&(_, at)| record.get(at..));
        if let Some(event) = text.and_then(|text| marked::frequency(text, false)) {
            return Some(event);
        }
        match self.by_id.get(id as usize) {
            Some(Some((plan, fields))) => plan.decode(&Record { order: self.order, fields, record }, cpu, notes),
            _ => {
                notes.info.skip(&format!("(event {id} without a format)"));
                None
            }
        }
    }
}

/// A record and its fields.
struct Record<'a> {
    order: Order,
    fields: &'a [Field],
    record: &'a [u8],
}

impl Record<'_> {
    #[inline]
    fn bytes(&self, field: &Field) -> Option<&[u8]> {
        self.record.get(field.offset as usize..(field.offset + field.size) as usize)
    }
}

impl Fields for Record<'_> {
    #[inline]
    fn number(&self, place: usize) -> Option<u64> {
        let field = self.fields.get(place)?;
        let bytes = self.bytes(field).filter(|bytes| !bytes.is_empty() && bytes.len() <= 8)?;
        let number = self.order.number(bytes);
        let unused = 64 - 8 * bytes.len() as u32;
        let signed = field.kind == Kind::Number { signed: true };
        Some(if signed { ((number << unused).cast_signed() >> unused).cast_unsigned() } else { number })
    }

    #[inline]
    fn text(&self, place: usize) -> &[u8] {
        let Some(field) = self.fields.get(place) else { return &[] };
        let text = match field.kind {
            Kind::Text => self.bytes(field),
            Kind::TextAt | Kind::TextAfter => self.bytes(field).filter(|bytes| bytes.len() == 4).and_then(|bytes| {
                let word = self.order.number(bytes) as usize;
                let base = if field.kind == Kind::TextAfter { (field.offset + field.size) as usize } else { 0 };
                let start = base + (word & 0xffff);
                self.record.get(start..start + (word >> 16))
            }),
            Kind::Number { .. } => None,
        };
        let text = text.unwrap_or(&[]);
        &text[..text.iter().position(|&byte| byte == 0).unwrap_or(text.len())]
    }
}
