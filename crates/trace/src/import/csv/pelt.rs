// SPDX-License-Identifier: GPL-2.0-or-later
//! Load tracking recorded inside a kernel: one row per call, tracepoint or snapshot.
//!
//! A row that carries the clocks hands them out first (`rq_clock`), then the state before a call (`pelt_before`), then
//! the state (`pelt_state`): always in this order and with nothing between them.

use std::collections::BTreeMap;

use pelton_schema::{
    CPU_UNKNOWN, EVENTS, Event, PELT_DECAYED, PELT_DELAYED, PELT_ON_RQ, PELT_ROOT, PELT_RUNNING, PeltSignal, PeltSource,
};

use super::columns::{Columns, Values};
use super::pelt_columns::{CARRIED, Col, NAMES};
use super::table::Table;
use crate::import::text::source::{Bad, Output};
use crate::import::{Format, state};

/// Queues and entities whose CPU is remembered.
const OBJECTS_KEPT: usize = 1 << 16;
/// First priority that is not of the RT class.
const MAX_RT_PRIO: u32 = 100;

/// A table of load-tracking calls, tracepoints and snapshots.
#[derive(Default)]
pub struct PeltTable {
    /// CPU of every queue seen, by its object number.
    cpu_of_queue: BTreeMap<u32, u32>,
    /// CPU of every entity seen on such a queue.
    cpu_of_entity: BTreeMap<u32, u32>,
}

impl Table for PeltTable {
    const FORMAT: Format = Format::PeltCsv;
    const NAMES: &'static [&'static str] = NAMES;
    const NEEDED: &'static [&'static str] = &["ts", "cpu", "type"];
    const HELP: &'static str =
        "a table of load-tracking calls has a first line with at least the columns ts, cpu and type";

    fn header(&mut self, columns: &Columns, out: &mut Output) -> Result<(), Bad> {
        for &(event, mapped) in CARRIED {
            let event = EVENTS.iter().find(|info| info.name == event).expect("a declared event");
            let carried = mapped.iter().filter(|(_, from)| columns.has(*from));
            carried.for_each(|(column, _)| out.notes.info.has_column(event, column));
        }
        Ok(())
    }

    fn row(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
        self.events_of(row, out)
    }
}

/// Meaning of a row, from its type.
enum Kind {
    State(PeltSignal, PeltSource),
    Estimate(PeltSignal),
    ClockStep,
    Other,
}

fn kind(row: &Values<'_>) -> Result<Kind, Bad> {
    use PeltSignal::{BlockedEntity, Dl, Entity, Irq, Queue, Rt};
    use PeltSource::{Call, Tracepoint};
    Ok(match row.text(Col::Type) {
        b"SE" => Kind::State(Entity, Call),
        b"SEB" => Kind::State(BlockedEntity, Call),
        b"CFS" => Kind::State(Queue, Call),
        b"RT" => Kind::State(Rt, Call),
        b"DL" => Kind::State(Dl, Call),
        b"tp_se" => Kind::State(Entity, Tracepoint),
        b"tp_cfs" => Kind::State(Queue, Tracepoint),
        b"tp_rt" => Kind::State(Rt, Tracepoint),
        b"tp_dl" => Kind::State(Dl, Tracepoint),
        b"tp_irq" => Kind::State(Irq, Tracepoint),
        b"st_se" => Kind::State(Entity, snapshot_source(row)?),
        b"st_cfs" => Kind::State(Queue, snapshot_source(row)?),
        b"st_rt" => Kind::State(Rt, snapshot_source(row)?),
        b"st_dl" => Kind::State(Dl, snapshot_source(row)?),
        b"ue_se" => Kind::Estimate(Entity),
        b"ue_cfs" => Kind::Estimate(Queue),
        b"CLK" => Kind::ClockStep,
        _ => Kind::Other,
    })
}

/// The event inside which a snapshot was taken.
fn snapshot_source(row: &Values<'_>) -> Result<PeltSource, Bad> {
    Ok(match row.text(Col::Why) {
        b"switch" => PeltSource::AtSwitch,
        b"waking" => PeltSource::AtWaking,
        b"wakeup" => PeltSource::AtWakeup,
        b"tick" => PeltSource::AtTick,
        b"migrate" => PeltSource::AtMigrate,
        b"fork" => PeltSource::AtFork,
        _ => return row.bad(Col::Why, "names no event: switch, waking, wakeup, tick, migrate and fork are known"),
    })
}

impl PeltTable {
    fn events_of(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
        [Col::Ts, Col::Cpu, Col::Type].into_iter().try_for_each(|column| row.needed(column))?;
        let time_ns = row.u64(Col::Ts)?;
        let cpu = row.cpu(Col::Cpu)?;
        let kind = kind(row)?;
        let events = match kind {
            Kind::State(signal, source) => self.state(row, signal, source)?,
            Kind::Estimate(signal) => self.estimate(row, signal)?,
            Kind::ClockStep => vec![clock_step(row)?],
            Kind::Other => other(row, cpu, out)?,
        };
        out.cpu(cpu);
        name(row, out)?;
        events.into_iter().for_each(|event| out.event(time_ns, event));
        Ok(())
    }

    /// Clocks, state before, state.
    fn state(&mut self, row: &Values<'_>, signal: PeltSignal, source: PeltSource) -> Result<Vec<Event>, Bad> {
        let cpu = match signal {
            PeltSignal::Entity | PeltSignal::BlockedEntity => self.entity_cpu(row)?,
            _ => self.queue_cpu(row, signal)?,
        };
        let mut events = Vec::with_capacity(3);
        events.extend(clock(row, cpu)?);
        if source == PeltSource::Call {
            events.push(before(row, cpu)?);
        }
        events.push(state_event(row, signal, source, cpu)?);
        Ok(events)
    }

    /// An estimate, and the state it was published with.
    fn estimate(&mut self, row: &Values<'_>, signal: PeltSignal) -> Result<Vec<Event>, Bad> {
        let cpu = match signal {
            // The row does not name the entity's queue; the last one it was seen on is still right.
            PeltSignal::Entity => self.cpu_of_entity.get(&row.u32(Col::Obj)?).copied().unwrap_or(CPU_UNKNOWN),
            _ => self.queue_cpu(row, signal)?,
        };
        let estimate = Event::UtilEst {
            cpu,
            signal: signal as u32,
            object: row.u32(Col::Obj)?,
            tid: row.u32(Col::Pid)?,
            enqueued: row.u32(Col::UtilEst)?,
            ewma: CPU_UNKNOWN,
            util_avg: row.u32(Col::UtilAvg)?,
        };
        Ok(vec![estimate, state_event(row, signal, PeltSource::AtEstimate, cpu)?])
    }

    /// The CPU of the queue an entity is on, when a row of that queue had it.
    fn entity_cpu(&mut self, row: &Values<'_>) -> Result<u32, Bad> {
        let queue = row.u32(Col::Cfs)?;
        let Some(&cpu) = self.cpu_of_queue.get(&queue) else { return Ok(CPU_UNKNOWN) };
        remember(&mut self.cpu_of_entity, row.u32(Col::Obj)?, cpu);
        Ok(cpu)
    }

    /// CPU in a row of a queue or class.
    fn queue_cpu(&mut self, row: &Values<'_>, signal: PeltSignal) -> Result<u32, Bad> {
        if row.text(Col::A0).is_empty() {
            return Ok(CPU_UNKNOWN);
        }
        let cpu = row.cpu(Col::A0)?;
        if signal == PeltSignal::Queue {
            remember(&mut self.cpu_of_queue, row.u32(Col::Cfs)?, cpu);
        }
        Ok(cpu)
    }
}

/// Keeps the CPU of a kernel object; of a bounded number of them.
fn remember(cpus: &mut BTreeMap<u32, u32>, object: u32, cpu: u32) {
    if object != 0 && (cpus.len() < OBJECTS_KEPT || cpus.contains_key(&object)) {
        cpus.insert(object, cpu);
    }
}

/// The clocks a row carries, if it does.
fn clock(row: &Values<'_>, cpu: u32) -> Result<Option<Event>, Bad> {
    if row.text(Col::ClockPelt).is_empty() {
        return Ok(None);
    }
    Ok(Some(Event::RqClock {
        cpu,
        clock_ns: row.u64(Col::Clock)?,
        clock_task_ns: row.u64(Col::ClockTask)?,
        clock_pelt_ns: row.u64(Col::ClockPelt)?,
        lost_idle_ns: row.u64(Col::LostIdle)?,
    }))
}

fn before(row: &Values<'_>, cpu: u32) -> Result<Event, Bad> {
    Ok(Event::PeltBefore {
        cpu,
        last_update_time_ns: row.u64(Col::PLut)?,
        load_sum: row.u64(Col::PLoadSum)?,
        runnable_sum: row.u64(Col::PRunnableSum)?,
        util_sum: row.u32(Col::PUtilSum)?,
        period_contrib: row.u32(Col::PPc)?,
        load_avg: row.u64(Col::PLoadAvg)?,
        runnable_avg: row.u64(Col::PRunnableAvg)?,
        util_avg: row.u32(Col::PUtilAvg)?,
    })
}

fn state_event(row: &Values<'_>, signal: PeltSignal, source: PeltSource, cpu: u32) -> Result<Event, Bad> {
    let of_task = matches!(signal, PeltSignal::Entity | PeltSignal::BlockedEntity);
    Ok(Event::PeltState {
        cpu,
        signal: signal as u32,
        source: source as u32,
        object: row.u32(Col::Obj)?,
        queue: row.u32(Col::Cfs)?,
        tid: if of_task { row.u32(Col::Pid)? } else { 0 },
        flags: flags(row, signal, source)?,
        runnable: row.u32(Col::Runnable)?,
        weight: row.u64(Col::Weight)?,
        now_ns: row.u64(Col::Now)?,
        last_update_time_ns: row.u64(Col::Lut)?,
        load_sum: row.u64(Col::LoadSum)?,
        runnable_sum: row.u64(Col::RunnableSum)?,
        util_sum: row.u32(Col::UtilSum)?,
        period_contrib: row.u32(Col::Pc)?,
        load_avg: row.u64(Col::LoadAvg)?,
        runnable_avg: row.u64(Col::RunnableAvg)?,
        util_avg: row.u32(Col::UtilAvg)?,
        util_est: row.u32(Col::UtilEst)?,
    })
}

/// The bits of `pelt_state`.
fn flags(row: &Values<'_>, signal: PeltSignal, source: PeltSource) -> Result<u32, Bad> {
    let entity = matches!(signal, PeltSignal::Entity | PeltSignal::BlockedEntity);
    let root = match signal {
        _ if entity => row.text(Col::Depth) == b"0",
        PeltSignal::Queue => row.is_set(Col::A1),
        _ => false,
    };
    // A snapshot of the RT class has the running task instead of a flag.
    let running = if signal == PeltSignal::Rt && source != PeltSource::Call {
        source != PeltSource::Tracepoint && row.is_set(Col::Pid) && row.u32(Col::Prio)? < MAX_RT_PRIO
    } else {
        row.is_set(Col::Running)
    };
    let bits = [
        (row.is_set(Col::OnRq), PELT_ON_RQ),
        (running, PELT_RUNNING),
        (entity && row.is_set(Col::Delayed), PELT_DELAYED),
        (root, PELT_ROOT),
        (source == PeltSource::Call && row.is_set(Col::Ret), PELT_DECAYED),
    ];
    Ok(bits.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum())
}

fn clock_step(row: &Values<'_>) -> Result<Event, Bad> {
    Ok(Event::RqClockStep {
        cpu: row.cpu(Col::A0)?,
        idle: u32::from(!row.is_set(Col::Running)),
        cap_scale: row.u32(Col::Runnable)?,
        freq_scale: row.u32(Col::Weight)?,
        clock_before_ns: row.u64(Col::PLut)?,
        clock_task_before_ns: row.u64(Col::PLoadSum)?,
        clock_pelt_before_ns: row.u64(Col::PRunnableSum)?,
        clock_ns: row.u64(Col::Clock)?,
        clock_task_ns: row.u64(Col::ClockTask)?,
        clock_pelt_ns: row.u64(Col::ClockPelt)?,
        lost_idle_ns: row.u64(Col::LostIdle)?,
    })
}

/// Rows that are no signals: the clocks they carry, and the scheduler event.
fn other(row: &Values<'_>, cpu: u32, out: &mut Output) -> Result<Vec<Event>, Bad> {
    let kind = row.text(Col::Type);
    let (tid, prio) = (row.u32(Col::Pid)?, row.u32(Col::Prio)?);
    let a0_cpu = || row.cpu(Col::A0);
    let clock_cpu = if matches!(kind, b"nrrun" | b"tp_hw") { a0_cpu()? } else { cpu };
    let mut events = Vec::with_capacity(2);
    events.extend(clock(row, clock_cpu)?);
    events.push(match kind {
        b"switch" => Event::SchedSwitch {
            cpu,
            prev_tid: tid,
            prev_prio: 0,
            prev_state: state::of_kernel_bits(row.u64(Col::A0)?),
            next_tid: row.u32(Col::Pid2)?,
            next_prio: prio,
        },
        b"waking" => Event::SchedWaking { cpu, tid, prio, target_cpu: a0_cpu()? },
        b"wakeup" => Event::SchedWakeup { cpu, tid, prio, target_cpu: a0_cpu()? },
        b"fork" => Event::SchedWakeupNew { cpu, tid, prio, target_cpu: a0_cpu()? },
        b"migrate" => Event::SchedMigrateTask { cpu, tid, prio, orig_cpu: a0_cpu()?, dest_cpu: row.cpu(Col::A1)? },
        b"exit" => Event::SchedProcessExit { cpu, tid, prio: 0 },
        b"cap" => Event::CpuCapacity { cpu: a0_cpu()?, capacity: row.u32(Col::A1)? },
        b"overutil" => Event::SchedOverutilized { overutilized: row.u32(Col::A0)? },
        b"nrrun" => Event::NrRunning { cpu: a0_cpu()?, nr_running: row.u32(Col::A1)?, change: row.i64(Col::Ret)? },
        b"freq" => Event::CpuFrequency { cpu: a0_cpu()?, freq_khz: row.u32(Col::A1)? },
        unknown => {
            out.notes.info.skip(&String::from_utf8_lossy(&unknown[..unknown.len().min(64)]));
            return Ok(events);
        }
    });
    if kind == b"fork" {
        events.push(state_event(row, PeltSignal::Entity, PeltSource::AtFork, a0_cpu()?)?);
    }
    Ok(events)
}

/// Remembers the name in a row: of the task it is about, at a switch of the next one.
fn name(row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
    let comm = row.text(Col::Comm);
    let switch = row.text(Col::Type) == b"switch";
    let tid = row.u32(if switch { Col::Pid2 } else { Col::Pid })?;
    if tid != 0 {
        out.notes.name(tid, comm);
    }
    Ok(())
}
