// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler, frequency, idle and interrupt events as ftrace events, collected per CPU.

use std::io::Write;

use pelton_schema::{Event, PRIO_DEADLINE};

use super::by_index::ByIndex;
use super::fields::{cpu_state, ftrace, irq, packet, sched_migrate_task, sched_switch, sched_wake};
use super::preamble::put_threads;
use super::proto::{put_bytes, put_bytes_head, put_int, put_short, put_uint};
use super::{FTRACE_SEQUENCE, TaskIds, put_packet_head};
use crate::header::{RunHeader, unnamed_task};
use crate::varint::Record;

/// Longest thread name of the kernel, bytes (`TASK_COMM_LEN` without the final zero).
const COMM_BYTES_MAX: usize = 15;

/// A thread name as the kernel would give it.
#[derive(Clone, Copy, Debug)]
struct Comm {
    bytes: [u8; 16],
    length: u8,
}

impl Comm {
    /// The name, cut at a character boundary.
    fn of(name: &str) -> Comm {
        let length = whole_characters(name, COMM_BYTES_MAX);
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        Comm { bytes, length: length as u8 }
    }

    #[inline]
    fn put(&self, out: &mut Record, field: u32) {
        put_bytes_head(out, field, usize::from(self.length));
        out.part_of_16(&self.bytes, usize::from(self.length));
    }
}

/// The longest prefix of whole characters within `bytes_max`, as its length.
fn whole_characters(name: &str, bytes_max: usize) -> usize {
    let ends = name.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.take_while(|&end| end <= bytes_max).last().unwrap_or(0)
}

/// Data collected for one CPU.
#[derive(Debug)]
struct CpuBuffer {
    /// Encoded `event` fields of the open bundle.
    events: Vec<u8>,
    /// Task running there: the one that "wrote" the event.
    current_tid: u32,
    /// Name of the CPU's idle task.
    idle_comm: Comm,
}

impl CpuBuffer {
    fn new(cpu: u32) -> Self {
        CpuBuffer { events: Vec::new(), current_tid: 0, idle_comm: Comm::of(&format!("swapper/{cpu}")) }
    }
}

/// The open bundles of all CPUs.
#[derive(Debug)]
pub(super) struct FtraceBundles {
    cpus: ByIndex<CpuBuffer>,
    comms: ByIndex<Comm>,
    /// Tasks of a run met or named that the header does not name, not yet declared as threads.
    new_threads: Vec<(u32, String)>,
    /// The event being encoded.
    record: Record,
    ids: TaskIds,
    /// Bytes in all buffers.
    pub bytes: usize,
}

impl FtraceBundles {
    pub fn new(run: &RunHeader, ids: TaskIds) -> Self {
        let cpus = (0..run.cpus.len() as u32).map(CpuBuffer::new).collect();
        let comms = run.tasks.iter().map(|name| Comm::of(name)).collect();
        FtraceBundles {
            cpus: ByIndex::new(cpus),
            comms: ByIndex::new(comms),
            new_threads: Vec::new(),
            record: Record::new(),
            ids,
            bytes: 0,
        }
    }

    /// From here on the task has this name.
    pub fn name_task(&mut self, tid: u32, name: &str) {
        let comm = Comm::of(name);
        *self.comms.entry(tid, || comm) = comm;
        if self.ids == TaskIds::Run && tid != 0 {
            self.new_threads.push((tid, name.to_owned()));
        }
    }

    /// Collects `event` when it is one ftrace has; false otherwise.
    #[inline]
    pub fn event(&mut self, time_ns: u64, event: &Event) -> bool {
        match *event {
            Event::SchedSwitch { cpu, .. }
            | Event::SchedWaking { cpu, .. }
            | Event::SchedWakeup { cpu, .. }
            | Event::SchedWakeupNew { cpu, .. }
            | Event::SchedMigrateTask { cpu, .. }
            | Event::CpuFrequency { cpu, .. }
            | Event::CpuIdle { cpu, .. }
            | Event::IrqEntry { cpu, .. }
            | Event::IrqExit { cpu, .. } => self.collect(cpu, time_ns, event),
            _ => return false,
        }
        true
    }

    fn collect(&mut self, cpu: u32, time_ns: u64, event: &Event) {
        let buffer = self.cpus.entry(cpu, || CpuBuffer::new(cpu));
        let ids = self.ids;
        let current = ids.pid_of(buffer.current_tid);
        let mut comms =
            Comms { idle: buffer.idle_comm, tasks: &mut self.comms, new_threads: &mut self.new_threads, ids };
        self.record.clear();
        put_short(&mut self.record, ftrace::EVENT, |out| {
            put_uint(out, ftrace::TIMESTAMP, time_ns);
            put_uint(out, ftrace::PID, u64::from(current));
            put_payload(out, event, &mut comms);
        });
        if let Event::SchedSwitch { next_tid, .. } = *event {
            buffer.current_tid = next_tid;
        }
        buffer.events.extend_from_slice(self.record.as_bytes());
        self.bytes += self.record.as_bytes().len();
    }

    /// Appends the threads met since the last time, then one packet per CPU that has events; empties the bundles.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        put_threads(out, self.new_threads.drain(..));
        for (cpu, buffer) in self.cpus.iter_mut().filter(|(_, buffer)| !buffer.events.is_empty()) {
            let mut head = Vec::new();
            put_uint(&mut head, ftrace::CPU, u64::from(cpu));
            let bundle_bytes = head.len() + buffer.events.len();
            let mut bundle_head = Vec::new();
            put_uint(&mut bundle_head, packet::SEQUENCE_ID, FTRACE_SEQUENCE);
            put_bytes_head(&mut bundle_head, packet::FTRACE_EVENTS, bundle_bytes);
            put_packet_head(out, bundle_head.len() + bundle_bytes);
            out.extend_from_slice(&bundle_head);
            out.extend_from_slice(&head);
            out.extend_from_slice(&buffer.events);
            buffer.events.clear();
        }
        self.bytes = 0;
    }
}

/// Thread names on one CPU.
struct Comms<'a> {
    idle: Comm,
    tasks: &'a mut ByIndex<Comm>,
    new_threads: &'a mut Vec<(u32, String)>,
    ids: TaskIds,
}

impl Comms<'_> {
    #[inline]
    fn of(&mut self, tid: u32) -> Comm {
        if tid == 0 {
            return self.idle;
        }
        *self.tasks.entry(tid, || {
            let name = unnamed_task(tid);
            let comm = Comm::of(&name);
            if self.ids == TaskIds::Run {
                self.new_threads.push((tid, name));
            }
            comm
        })
    }

    #[inline]
    fn put_pid(&self, out: &mut Record, field: u32, tid: u32) {
        put_int(out, field, i64::from(self.ids.pid_of(tid)));
    }
}

/// A kernel priority as ftrace prints it: -1 for the deadline class.
fn prio(prio: u32) -> i64 {
    if prio == PRIO_DEADLINE { -1 } else { i64::from(prio) }
}

#[inline]
fn put_payload(out: &mut Record, event: &Event, comms: &mut Comms<'_>) {
    match *event {
        Event::SchedSwitch { .. } => put_short(out, ftrace::SCHED_SWITCH, |out| put_switch(out, event, comms)),
        Event::SchedWaking { tid, prio, target_cpu, .. } => {
            put_short(out, ftrace::SCHED_WAKING, |out| put_wake(out, comms, [tid, prio, target_cpu]));
        }
        Event::SchedWakeup { tid, prio, target_cpu, .. } => {
            put_short(out, ftrace::SCHED_WAKEUP, |out| put_wake(out, comms, [tid, prio, target_cpu]));
        }
        Event::SchedWakeupNew { tid, prio, target_cpu, .. } => {
            put_short(out, ftrace::SCHED_WAKEUP_NEW, |out| put_wake(out, comms, [tid, prio, target_cpu]));
        }
        Event::SchedMigrateTask { .. } => {
            put_short(out, ftrace::SCHED_MIGRATE_TASK, |out| put_migrate(out, event, comms));
        }
        Event::CpuFrequency { cpu, freq_khz } => {
            put_short(out, ftrace::CPU_FREQUENCY, |out| put_cpu_state(out, freq_khz, cpu));
        }
        Event::CpuIdle { cpu, state } => put_short(out, ftrace::CPU_IDLE, |out| put_cpu_state(out, state, cpu)),
        Event::IrqEntry { irq, .. } => put_short(out, ftrace::IRQ_HANDLER_ENTRY, |out| put_irq_entry(out, irq)),
        Event::IrqExit { irq, .. } => {
            put_short(out, ftrace::IRQ_HANDLER_EXIT, |out| put_int(out, irq::IRQ, i64::from(irq)));
        }
        _ => {}
    }
}

#[inline]
fn put_switch(out: &mut Record, event: &Event, comms: &mut Comms<'_>) {
    let Event::SchedSwitch { prev_tid, prev_prio, prev_state, next_tid, next_prio, .. } = *event else { return };
    comms.of(prev_tid).put(out, sched_switch::PREV_COMM);
    comms.put_pid(out, sched_switch::PREV_PID, prev_tid);
    put_int(out, sched_switch::PREV_PRIO, prio(prev_prio));
    put_int(out, sched_switch::PREV_STATE, i64::from(prev_state));
    comms.of(next_tid).put(out, sched_switch::NEXT_COMM);
    comms.put_pid(out, sched_switch::NEXT_PID, next_tid);
    put_int(out, sched_switch::NEXT_PRIO, prio(next_prio));
}

#[inline]
fn put_wake(out: &mut Record, comms: &mut Comms<'_>, [tid, task_prio, target_cpu]: [u32; 3]) {
    comms.of(tid).put(out, sched_wake::COMM);
    comms.put_pid(out, sched_wake::PID, tid);
    put_int(out, sched_wake::PRIO, prio(task_prio));
    put_int(out, sched_wake::TARGET_CPU, i64::from(target_cpu));
}

fn put_migrate(out: &mut Record, event: &Event, comms: &mut Comms<'_>) {
    let Event::SchedMigrateTask { tid, prio: task_prio, orig_cpu, dest_cpu, .. } = *event else { return };
    comms.of(tid).put(out, sched_migrate_task::COMM);
    comms.put_pid(out, sched_migrate_task::PID, tid);
    put_int(out, sched_migrate_task::PRIO, prio(task_prio));
    put_int(out, sched_migrate_task::ORIG_CPU, i64::from(orig_cpu));
    put_int(out, sched_migrate_task::DEST_CPU, i64::from(dest_cpu));
}

#[inline]
fn put_cpu_state(out: &mut Record, state: u32, cpu: u32) {
    put_uint(out, cpu_state::STATE, u64::from(state));
    put_uint(out, cpu_state::CPU_ID, u64::from(cpu));
}

fn put_irq_entry(out: &mut Record, irq: u32) {
    put_int(out, irq::IRQ, i64::from(irq));
    let mut name = [0; COMM_BYTES_MAX];
    let room = name.len();
    let mut rest = &mut name[..];
    let written = write!(rest, "irq-{irq}").map_or(0, |()| room - rest.len());
    put_bytes(out, irq::NAME, &name[..written]);
}
