// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading back what [`super::PerfettoTrace`] writes, in constant memory.
//!
//! Packets and events of other origin are passed over; this is no importer for recorded traces.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Read};

use pelton_schema::Event;

use super::PROCESS_PID;
use super::fields::{
    cpu_state, ftrace, interned, irq, packet, process_tree, sched_migrate_task, sched_switch, sched_wake, trace, track,
    track_event,
};
use super::proto::{Value, each_field};
use crate::varint::VARINT_BYTES_MAX;

/// Longest packet accepted, bytes.
const PACKET_BYTES_MAX: u64 = 64 << 20;

/// Most annotation names kept; we write eight.
const NAMES_MAX: usize = 256;

/// Something a trace says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A scheduler, frequency, idle or interrupt event.
    Ftrace {
        /// Time, ns.
        time_ns: u64,
        /// Thread that ran on the CPU.
        pid: u32,
        /// The event, with task ids of the run.
        event: Event,
    },
    /// A thread and its name.
    Thread {
        /// Task id of the run.
        tid: u32,
        /// Name.
        name: String,
    },
    /// A track.
    Track {
        /// Its id in the trace.
        uuid: u64,
        /// Its parent's id, 0 for none.
        parent_uuid: u64,
        /// Its name.
        name: String,
        /// Unit when it is a counter.
        unit: Option<String>,
    },
    /// A value of a counter track.
    Counter {
        /// Time, ns.
        time_ns: u64,
        /// Track.
        uuid: u64,
        /// Value.
        value: i64,
    },
    /// Start of a slice.
    SliceBegin {
        /// Time, ns.
        time_ns: u64,
        /// Track.
        uuid: u64,
        /// Its annotations: name (empty when the trace does not say) and value.
        values: Vec<(String, i64)>,
    },
    /// End of the innermost slice.
    SliceEnd {
        /// Time, ns.
        time_ns: u64,
        /// Track.
        uuid: u64,
    },
}

/// Reason why a trace could not be read to its end.
#[derive(Debug)]
pub enum PerfettoError {
    /// The input failed.
    Io(io::Error),
    /// The input ends within a packet.
    Truncated,
    /// A packet is malformed.
    Corrupt {
        /// Its number, from 0.
        packet: u64,
    },
}

impl fmt::Display for PerfettoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PerfettoError::Io(error) => write!(f, "cannot read the trace: {error}"),
            PerfettoError::Truncated => write!(f, "the trace ends within a packet"),
            PerfettoError::Corrupt { packet } => write!(f, "packet {packet} of the trace is malformed"),
        }
    }
}

impl std::error::Error for PerfettoError {}

impl From<io::Error> for PerfettoError {
    fn from(error: io::Error) -> Self {
        PerfettoError::Io(error)
    }
}

/// Iterates over the records of a trace, in file order. After an error it ends.
pub struct PerfettoReader<R> {
    input: io::BufReader<R>,
    packet: Vec<u8>,
    packets: u64,
    records: VecDeque<Record>,
    /// Names of annotations by their number.
    names: BTreeMap<u64, String>,
    failed: bool,
}

impl<R: Read> PerfettoReader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        PerfettoReader {
            input: io::BufReader::new(input),
            packet: Vec::new(),
            packets: 0,
            records: VecDeque::new(),
            names: BTreeMap::new(),
            failed: false,
        }
    }

    fn next_record(&mut self) -> Result<Option<Record>, PerfettoError> {
        while self.records.is_empty() {
            if !self.read_packet()? {
                return Ok(None);
            }
            let corrupt = PerfettoError::Corrupt { packet: self.packets };
            decode_packet(&self.packet, &mut self.names, &mut self.records).ok_or(corrupt)?;
            self.packets += 1;
        }
        Ok(self.records.pop_front())
    }

    /// Loads the next packet; false at the end of the input.
    fn read_packet(&mut self) -> Result<bool, PerfettoError> {
        let corrupt = || PerfettoError::Corrupt { packet: self.packets };
        let Some(tag) = read_varint(&mut self.input)? else { return Ok(false) };
        if tag != u64::from(trace::PACKET) << 3 | 2 {
            return Err(corrupt());
        }
        let length = read_varint(&mut self.input)?.ok_or(PerfettoError::Truncated)?;
        if length > PACKET_BYTES_MAX {
            return Err(corrupt());
        }
        self.packet.clear();
        let found = self.input.by_ref().take(length).read_to_end(&mut self.packet)?;
        if (found as u64) < length { Err(PerfettoError::Truncated) } else { Ok(true) }
    }
}

impl<R: Read> Iterator for PerfettoReader<R> {
    type Item = Result<Record, PerfettoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_record().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

/// `None` at the end of the input.
fn read_varint(input: &mut impl Read) -> Result<Option<u64>, PerfettoError> {
    let mut bytes = [0; VARINT_BYTES_MAX];
    let mut length = 0;
    while length < bytes.len() {
        if input.read(&mut bytes[length..=length])? == 0 {
            break;
        }
        length += 1;
        if bytes[length - 1] < 0x80 {
            break;
        }
    }
    if length == 0 {
        return Ok(None);
    }
    crate::varint::take(&mut &bytes[..length]).map(Some).ok_or(PerfettoError::Truncated)
}

type Records = VecDeque<Record>;
type Names = BTreeMap<u64, String>;

fn decode_packet(bytes: &[u8], names: &mut Names, records: &mut Records) -> Option<()> {
    let mut time_ns = 0;
    let mut contents = None;
    each_field(bytes, |field, value| {
        match field {
            packet::TIMESTAMP => time_ns = value.number()?,
            packet::INTERNED_DATA => decode_names(value.bytes()?, names)?,
            packet::FTRACE_EVENTS | packet::PROCESS_TREE | packet::TRACK_DESCRIPTOR | packet::TRACK_EVENT => {
                contents = Some((field, value.bytes()?));
            }
            _ => {}
        }
        Some(())
    })?;
    match contents {
        Some((packet::FTRACE_EVENTS, message)) => decode_bundle(message, records),
        Some((packet::PROCESS_TREE, message)) => decode_threads(message, records),
        Some((packet::TRACK_DESCRIPTOR, message)) => decode_track(message).map(|record| records.push_back(record)),
        Some((_, message)) => decode_track_event(time_ns, message, names).map(|record| records.extend(record)),
        None => Some(()),
    }
}

/// The numbers and texts of a flat message by field, for messages whose fields are below 32.
#[derive(Default)]
struct Flat<'a> {
    fields: [Option<Value<'a>>; 32],
}

impl<'a> Flat<'a> {
    fn of(message: &'a [u8]) -> Option<Flat<'a>> {
        let mut flat = Flat::default();
        each_field(message, |field, value| {
            if let Some(place) = flat.fields.get_mut(field as usize) {
                *place = Some(value);
            }
            Some(())
        })?;
        Some(flat)
    }

    /// A number, 0 when absent.
    fn number(&self, field: u32) -> Option<u64> {
        self.fields[field as usize].map_or(Some(0), Value::number)
    }

    /// The low 32 bits of a number: -1 becomes `u32::MAX`.
    fn low(&self, field: u32) -> Option<u32> {
        self.number(field).map(|number| number as u32)
    }

    fn tid(&self, field: u32) -> Option<u32> {
        self.low(field).map(tid_of)
    }

    fn text(&self, field: u32) -> Option<String> {
        let bytes = self.fields[field as usize].map_or(Some(&[][..]), Value::bytes)?;
        String::from_utf8(bytes.to_vec()).ok()
    }
}

/// Inverse of [`super::TaskIds::pid_of`] for a run.
pub(crate) fn tid_of(pid: u32) -> u32 {
    if pid == 0 { 0 } else { pid.wrapping_sub(PROCESS_PID) }
}

fn decode_bundle(message: &[u8], records: &mut Records) -> Option<()> {
    let mut cpu = 0;
    each_field(message, |field, value| {
        match field {
            ftrace::CPU => cpu = u32::try_from(value.number()?).ok()?,
            ftrace::EVENT => records.extend(decode_ftrace(cpu, value.bytes()?)?),
            _ => {}
        }
        Some(())
    })
}

/// `None`: malformed; `Some(None)`: an event we do not write.
fn decode_ftrace(cpu: u32, message: &[u8]) -> Option<Option<Record>> {
    let (mut time_ns, mut pid, mut event) = (0, 0, None);
    each_field(message, |field, value| {
        match field {
            ftrace::TIMESTAMP => time_ns = value.number()?,
            ftrace::PID => pid = u32::try_from(value.number()?).ok()?,
            _ => event = event.or(decode_payload(cpu, field, value)?),
        }
        Some(())
    })?;
    Some(event.map(|event| Record::Ftrace { time_ns, pid, event }))
}

fn decode_payload(cpu: u32, field: u32, value: Value<'_>) -> Option<Option<Event>> {
    let Value::Bytes(message) = value else { return Some(None) };
    let m = Flat::of(message)?;
    Some(Some(match field {
        ftrace::SCHED_SWITCH => Event::SchedSwitch {
            cpu,
            prev_tid: m.tid(sched_switch::PREV_PID)?,
            prev_prio: m.low(sched_switch::PREV_PRIO)?,
            prev_state: m.low(sched_switch::PREV_STATE)?,
            next_tid: m.tid(sched_switch::NEXT_PID)?,
            next_prio: m.low(sched_switch::NEXT_PRIO)?,
        },
        ftrace::SCHED_WAKING => {
            let (tid, prio, target_cpu) = decode_wake(&m)?;
            Event::SchedWaking { cpu, tid, prio, target_cpu }
        }
        ftrace::SCHED_WAKEUP => {
            let (tid, prio, target_cpu) = decode_wake(&m)?;
            Event::SchedWakeup { cpu, tid, prio, target_cpu }
        }
        ftrace::SCHED_MIGRATE_TASK => Event::SchedMigrateTask {
            cpu,
            tid: m.tid(sched_migrate_task::PID)?,
            prio: m.low(sched_migrate_task::PRIO)?,
            orig_cpu: m.low(sched_migrate_task::ORIG_CPU)?,
            dest_cpu: m.low(sched_migrate_task::DEST_CPU)?,
        },
        ftrace::CPU_FREQUENCY => {
            Event::CpuFrequency { cpu: m.low(cpu_state::CPU_ID)?, freq_khz: m.low(cpu_state::STATE)? }
        }
        ftrace::CPU_IDLE => Event::CpuIdle { cpu: m.low(cpu_state::CPU_ID)?, state: m.low(cpu_state::STATE)? },
        ftrace::IRQ_HANDLER_ENTRY => Event::IrqEntry { cpu, irq: m.low(irq::IRQ)? },
        ftrace::IRQ_HANDLER_EXIT => Event::IrqExit { cpu, irq: m.low(irq::IRQ)? },
        _ => return Some(None),
    }))
}

/// Task, priority and target CPU of a wake-up.
fn decode_wake(m: &Flat<'_>) -> Option<(u32, u32, u32)> {
    Some((m.tid(sched_wake::PID)?, m.low(sched_wake::PRIO)?, m.low(sched_wake::TARGET_CPU)?))
}

fn decode_threads(message: &[u8], records: &mut Records) -> Option<()> {
    each_field(message, |field, value| {
        if field == process_tree::THREADS {
            let m = Flat::of(value.bytes()?)?;
            let (tid, name) = (m.tid(process_tree::THREAD_TID)?, m.text(process_tree::THREAD_NAME)?);
            records.push_back(Record::Thread { tid, name });
        }
        Some(())
    })
}

fn decode_track(message: &[u8]) -> Option<Record> {
    let m = Flat::of(message)?;
    let unit = match m.fields[track::COUNTER as usize] {
        Some(counter) => Some(Flat::of(counter.bytes()?)?.text(track::COUNTER_UNIT_NAME)?),
        None => None,
    };
    let (uuid, parent_uuid) = (m.number(track::UUID)?, m.number(track::PARENT_UUID)?);
    Some(Record::Track { uuid, parent_uuid, name: m.text(track::NAME)?, unit })
}

fn decode_track_event(time_ns: u64, message: &[u8], names: &Names) -> Option<Option<Record>> {
    let m = Flat::of(message)?;
    let uuid = m.number(track_event::TRACK_UUID)?;
    Some(match m.number(track_event::TYPE)? {
        track_event::TYPE_COUNTER => {
            let value = m.number(track_event::COUNTER_VALUE)?.cast_signed();
            Some(Record::Counter { time_ns, uuid, value })
        }
        track_event::TYPE_SLICE_BEGIN => {
            Some(Record::SliceBegin { time_ns, uuid, values: decode_annotations(message, names)? })
        }
        track_event::TYPE_SLICE_END => Some(Record::SliceEnd { time_ns, uuid }),
        _ => None,
    })
}

fn decode_annotations(message: &[u8], names: &Names) -> Option<Vec<(String, i64)>> {
    let mut values = Vec::new();
    each_field(message, |field, value| {
        if field == track_event::DEBUG_ANNOTATION {
            let m = Flat::of(value.bytes()?)?;
            let name = names.get(&m.number(track_event::ANNOTATION_NAME_IID)?).cloned().unwrap_or_default();
            values.push((name, m.number(track_event::ANNOTATION_INT)?.cast_signed()));
        }
        Some(())
    })?;
    Some(values)
}

fn decode_names(message: &[u8], names: &mut Names) -> Option<()> {
    each_field(message, |field, value| {
        if field == interned::ANNOTATION_NAMES && names.len() < NAMES_MAX {
            let m = Flat::of(value.bytes()?)?;
            names.insert(m.number(interned::IID)?, m.text(interned::NAME)?);
        }
        Some(())
    })
}
