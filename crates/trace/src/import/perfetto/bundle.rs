// SPDX-License-Identifier: GPL-2.0-or-later
//! Bundles of ftrace events: events one by one, and switches and wake-ups in columns.

use pelton_schema::{CPU_UNKNOWN, Event};

use super::Timeline;
use crate::import::decode::{Fields, Notes, Plan};
use crate::import::{marked, state};
use crate::perfetto::fields::ftrace;
use crate::perfetto::proto::{Value, each_field};
use crate::varint;

/// Fields of `FtraceEventBundle` beyond those we write.
const LOST_EVENTS: u32 = 3;
const COMPACT_SCHED: u32 = 4;
const FTRACE_CLOCK: u32 = 5;
const FTRACE_TIMESTAMP: u32 = 6;
const BOOT_TIMESTAMP: u32 = 7;
/// `FTRACE_CLOCK_MONO_RAW`
const CLOCK_MONO_RAW: u64 = 4;
/// Columns of `CompactSched`.
const SWITCH_TIMESTAMP: u32 = 1;
const WAKING_TIMESTAMP: u32 = 7;
const INTERN_TABLE: u32 = 5;

/// The events of `FtraceEvent` that mean something here, with the fields of their message by number.
static EVENTS: &[(u32, &str, &[&str])] = &[
    (
        ftrace::SCHED_SWITCH,
        "sched_switch",
        &["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"],
    ),
    (ftrace::CPU_FREQUENCY, "cpu_frequency", &["state", "cpu_id"]),
    (12, "cpu_frequency_limits", &["min_freq", "max_freq", "cpu_id"]),
    (ftrace::CPU_IDLE, "cpu_idle", &["state", "cpu_id"]),
    (ftrace::SCHED_WAKEUP, "sched_wakeup", &["comm", "pid", "prio", "success", "target_cpu"]),
    (ftrace::SCHED_WAKING, "sched_waking", &["comm", "pid", "prio", "success", "target_cpu"]),
    (24, "softirq_entry", &["vec"]),
    (25, "softirq_exit", &["vec"]),
    (ftrace::IRQ_HANDLER_ENTRY, "irq_handler_entry", &["irq", "name", "handler"]),
    (ftrace::IRQ_HANDLER_EXIT, "irq_handler_exit", &["irq", "ret"]),
    (ftrace::SCHED_WAKEUP_NEW, "sched_wakeup_new", &["comm", "pid", "prio", "success", "target_cpu"]),
    (235, "task_newtask", &["pid", "comm", "clone_flags"]),
    (236, "task_rename", &["pid", "oldcomm", "newcomm"]),
    (238, "sched_process_exit", &["comm", "pid", "tgid", "prio"]),
    (239, "sched_process_fork", &["parent_comm", "parent_pid", "child_comm", "child_pid"]),
    (ftrace::SCHED_MIGRATE_TASK, "sched_migrate_task", &["comm", "pid", "prio", "orig_cpu", "dest_cpu"]),
];
/// Highest field number of an event in the table.
const FIELD_MAX: usize = 512;
/// Most fields of one of those events that are looked at.
const PLACES: usize = 8;

/// Plans of the events by field number, and of the two kinds in columns.
pub(super) struct Plans {
    by_field: Vec<Option<Plan>>,
}

impl Plans {
    pub fn new(notes: &mut Notes) -> Plans {
        let mut by_field: Vec<Option<Plan>> = (0..FIELD_MAX).map(|_| None).collect();
        for &(field, name, fields) in EVENTS {
            let plan = Plan::new(name, true, |wanted| fields.iter().position(|field| *field == wanted));
            plan.declare(&mut notes.info);
            by_field[field as usize] = Some(plan);
        }
        Plans { by_field }
    }

    fn of(&self, field: u32) -> Option<&Plan> {
        self.by_field.get(field as usize)?.as_ref()
    }
}

/// The fields of one event; an absent one is 0 or empty, as protobuf has it.
struct Message<'a>([Value<'a>; PLACES]);

impl Fields for Message<'_> {
    #[inline]
    fn number(&self, place: usize) -> Option<u64> {
        match self.0.get(place)? {
            Value::Number(number) => Some(*number),
            Value::Bytes(_) => None,
        }
    }

    #[inline]
    fn text(&self, place: usize) -> &[u8] {
        match self.0.get(place) {
            Some(Value::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }
}

/// Facts at the start of a bundle or anywhere in it, found without reading its events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BundleHead {
    pub cpu: u32,
    pub lost: bool,
    /// Time of the earliest of its first events, on the bundle's clock.
    pub first: Option<u64>,
    /// From the bundle's clock to the boot clock: the two at one instant.
    pub pair: Option<(u64, u64)>,
    pub mono_raw: bool,
}

/// Reads the head of a bundle; `None` when it is malformed.
pub(super) fn head(message: &[u8]) -> Option<BundleHead> {
    let mut head = BundleHead::default();
    let (mut ftrace_time, mut boot_time, mut seen_event) = (None, None, false);
    each_field(message, |field, value| {
        match field {
            ftrace::CPU => head.cpu = u32::try_from(value.number()?).ok()?,
            LOST_EVENTS => head.lost = value.number()? != 0,
            FTRACE_CLOCK => head.mono_raw = value.number()? == CLOCK_MONO_RAW,
            FTRACE_TIMESTAMP => ftrace_time = Some(value.number()?),
            BOOT_TIMESTAMP => boot_time = Some(value.number()?),
            ftrace::EVENT if !seen_event => {
                seen_event = true;
                head.note_first(event_time(value.bytes()?)?);
            }
            COMPACT_SCHED => each_field(value.bytes()?, |field, value| {
                if matches!(field, SWITCH_TIMESTAMP | WAKING_TIMESTAMP) {
                    let mut times = value.bytes()?;
                    if !times.is_empty() {
                        head.note_first(varint::take(&mut times)?);
                    }
                }
                Some(())
            })?,
            _ => {}
        }
        Some(())
    })?;
    head.pair = ftrace_time.zip(boot_time).filter(|pair| *pair != (0, 0));
    Some(head)
}

impl BundleHead {
    fn note_first(&mut self, time: u64) {
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
    }
}

fn event_time(message: &[u8]) -> Option<u64> {
    let mut time = 0;
    each_field(message, |field, value| {
        if field == ftrace::TIMESTAMP {
            time = value.number()?;
        }
        Some(())
    })?;
    Some(time)
}

/// Reads a whole bundle; `None` when it is malformed.
pub(super) fn decode(
    message: &[u8],
    head: &BundleHead,
    plans: &Plans,
    notes: &mut Notes,
    out: &mut Timeline,
) -> Option<()> {
    each_field(message, |field, value| match field {
        ftrace::EVENT => decode_event(value.bytes()?, head.cpu, plans, notes, out),
        COMPACT_SCHED => decode_compact(value.bytes()?, head.cpu, notes, out),
        _ => Some(()),
    })
}

#[inline]
fn decode_event(message: &[u8], cpu: u32, plans: &Plans, notes: &mut Notes, out: &mut Timeline) -> Option<()> {
    let (mut time, mut payload) = (0, None);
    each_field(message, |field, value| {
        match (field, value) {
            (ftrace::TIMESTAMP, value) => time = value.number()?,
            (ftrace::PID, _) => {}
            (field, Value::Bytes(bytes)) => payload = payload.or(Some((field, bytes))),
            _ => {}
        }
        Some(())
    })?;
    let Some((field, bytes)) = payload else { return Some(()) };
    let Some(plan) = plans.of(field) else {
        match print_text(field, bytes).and_then(|text| marked::frequency(text, false)) {
            Some(event) => out.push(time, event),
            None => notes.info.skip(skipped_name(field)),
        }
        return Some(());
    };
    let mut fields = Message([Value::Number(0); PLACES]);
    each_field(bytes, |field, value| {
        if let Some(place) = fields.0.get_mut((field as usize).wrapping_sub(1)) {
            *place = value;
        }
        Some(())
    })?;
    if let Some(event) = plan.decode(&fields, cpu, notes) {
        out.push(time, event);
    }
    Some(())
}

/// The text that a program wrote into the trace: `buf` of the event `print`.
fn print_text(field: u32, event: &[u8]) -> Option<&[u8]> {
    let mut text = None;
    each_field(event, |part, value| {
        if (field, part) == (PRINT, PRINT_BUF) {
            text = value.bytes();
        }
        Some(())
    })?;
    text
}

/// `FtraceEvent.print` and `PrintFtraceEvent.buf`.
const PRINT: u32 = 3;
const PRINT_BUF: u32 = 2;

/// Name under which events without meaning here are counted.
fn skipped_name(field: u32) -> &'static str {
    match field {
        PRINT => "print",
        327 => "(generic event)",
        542 => "kprobe_event",
        _ => "(other ftrace event)",
    }
}

/// The columns of `CompactSched`.
#[derive(Default)]
struct Columns<'a> {
    names: Vec<&'a [u8]>,
    by_field: [&'a [u8]; 13],
}

fn decode_compact(message: &[u8], cpu: u32, notes: &mut Notes, out: &mut Timeline) -> Option<()> {
    let mut columns = Columns::default();
    each_field(message, |field, value| {
        match field {
            INTERN_TABLE => columns.names.push(value.bytes()?),
            field => {
                if let Some(column) = columns.by_field.get_mut(field as usize) {
                    *column = value.bytes()?;
                }
            }
        }
        Some(())
    })?;
    let [_, switch_time, prev_state, next_pid, next_prio, _, next_comm, waking_time, waking_pid, target, prio, comm, _] =
        columns.by_field;
    decode_switches(cpu, [switch_time, prev_state, next_pid, next_prio, next_comm], &columns.names, notes, out)?;
    let (mut time, mut columns_left) = (0u64, [waking_time, waking_pid, target, prio, comm]);
    while !columns_left[0].is_empty() {
        let [delta, pid, target, prio, comm] = take_row(&mut columns_left)?;
        time = time.wrapping_add(delta);
        name(pid as u32, comm, &columns.names, notes);
        let event = Event::SchedWaking { cpu, tid: pid as u32, prio: prio as u32, target_cpu: target as u32 };
        out.push(time, event);
    }
    Some(())
}

/// Decodes switches in columns, which do not say which task stops running: it is the one that started before. At the
/// first of a bundle that is not known from it, and the timeline of the CPU fills it in.
fn decode_switches(
    cpu: u32,
    mut columns: [&[u8]; 5],
    names: &[&[u8]],
    notes: &mut Notes,
    out: &mut Timeline,
) -> Option<()> {
    let mut time = 0u64;
    while !columns[0].is_empty() {
        let [delta, bits, pid, prio, comm] = take_row(&mut columns)?;
        time = time.wrapping_add(delta);
        name(pid as u32, comm, names, notes);
        let event = Event::SchedSwitch {
            cpu,
            prev_tid: CPU_UNKNOWN,
            prev_prio: 0,
            prev_state: state::of_event_bits(bits, true),
            next_tid: pid as u32,
            next_prio: prio as u32,
        };
        out.push(time, event);
    }
    Some(())
}

fn take_row(columns: &mut [&[u8]; 5]) -> Option<[u64; 5]> {
    let mut row = [0; 5];
    for (value, column) in row.iter_mut().zip(columns) {
        *value = varint::take(column)?;
    }
    Some(row)
}

fn name(tid: u32, index: u64, names: &[&[u8]], notes: &mut Notes) {
    if let Some(name) = usize::try_from(index).ok().and_then(|index| names.get(index)) {
        notes.name(tid, name);
    }
}
