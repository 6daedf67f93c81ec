// SPDX-License-Identifier: GPL-2.0-or-later
//! Records become declared events. Kernel addresses become small numbers; nothing is computed.

use std::collections::{BTreeMap, BTreeSet};

use pelton_schema::{Event, PeltSignal, PeltSource, STATE_DEAD, STATE_SLEEPING, STATE_UNINTERRUPTIBLE};

use crate::groups::Groups;
use crate::record::{Average, Body, Clocks, Kind, Note, PendingRecord, Record, StateRecord, TaskRecord};

/// State bits that the events distinguish.
const STATE_SLEEPS: u32 = STATE_SLEEPING | STATE_UNINTERRUPTIBLE;
/// Kernel state bits of a task that is gone: dead, zombie, and the mark of the last switch.
const STATE_GONE: u32 = 0x10 | 0x20 | 0x80;

/// Numbers for the addresses that records refer to; one per recording.
#[derive(Debug)]
pub(crate) struct Converter {
    pub groups: Groups,
    /// Address to (task, number): an address that now holds another task is another object.
    objects: BTreeMap<u64, (u32, u32)>,
    objects_seen: u32,
    /// Last state emitted of each object.
    told: BTreeMap<u32, Told>,
    /// Queues of which pending sums were emitted: their state follows, changed or not.
    announced: BTreeSet<u32>,
    names: BTreeMap<u32, [u8; 16]>,
    clocks: Vec<Clocks>,
    /// CPUs in the frequency domain of each CPU.
    domain_cpus: Vec<u32>,
}

/// State of an object without when and why it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    queue: u32,
    flags: u32,
    runnable: u32,
    weight: u64,
    average: Average,
}

impl Converter {
    /// A converter that has seen nothing. `domain_cpus`: number of CPUs in the frequency domain of each CPU.
    pub fn new(groups: Groups, domain_cpus: Vec<u32>) -> Converter {
        Converter {
            groups,
            objects: BTreeMap::new(),
            objects_seen: 0,
            told: BTreeMap::new(),
            announced: BTreeSet::new(),
            names: BTreeMap::new(),
            clocks: Vec::new(),
            domain_cpus,
        }
    }

    /// Hands the events of one record to `put`.
    pub fn convert(&mut self, record: &Record, put: &mut impl FnMut(Event)) {
        match &record.body {
            Body::Task(task) => self.task(task, put),
            Body::State(state) if record.kind == Kind::ClockStep => put(clock_step(state)),
            Body::State(state) => self.state(state, put),
            Body::Note(note) if record.kind == Kind::NextFreq => put(self.next_freq(note)),
            Body::Pending(pending) => put(self.pending(pending)),
            Body::Note(note) => note_event(record, note).into_iter().for_each(put),
        }
        if let (Kind::Exit, Body::Note(note)) = (record.kind, &record.body) {
            self.names.remove(&note.a[0]);
        }
    }

    fn task(&mut self, task: &TaskRecord, put: &mut impl FnMut(Event)) {
        let tid = task.tid;
        if self.names.insert(tid, task.comm) != Some(task.comm) {
            let word = |from: usize| u64::from_le_bytes(std::array::from_fn(|i| task.comm[from + i]));
            put(Event::TaskName { tid, name_0: word(0), name_8: word(8) });
        }
        put(Event::TaskAttributes {
            tid,
            policy: task.policy,
            prio: task.prio,
            cpus_allowed: task.cpus_allowed,
            uclamp_min: task.uclamp_min,
            uclamp_max: task.uclamp_max,
            group: self.groups.of_task(task),
        });
    }

    fn object(&mut self, address: u64, tid: u32) -> u32 {
        if address == 0 {
            return 0;
        }
        if let Some(&(owner, number)) = self.objects.get(&address) {
            if owner == tid {
                return number;
            }
            self.told.remove(&number);
        }
        self.objects_seen += 1;
        self.objects.insert(address, (tid, self.objects_seen));
        self.objects_seen
    }

    fn pending(&mut self, pending: &PendingRecord) -> Event {
        let object = self.object(pending.queue, 0);
        self.announced.insert(object);
        Event::PeltPending {
            cpu: pending.queue_cpu,
            object,
            entity: self.object(pending.entity, 0),
            removed_nr: pending.removed_nr,
            removed_load: pending.removed_load,
            removed_runnable: pending.removed_runnable,
            removed_util: pending.removed_util,
            propagate: u32::from(pending.propagate != 0),
            prop_runnable_sum: pending.prop_runnable_sum,
        }
    }

    fn state(&mut self, state: &StateRecord, put: &mut impl FnMut(Event)) {
        let (cpu, average) = (state.queue_cpu, &state.average);
        let object = self.object(state.object, state.tid);
        let queue = self.object(state.queue, 0);
        if !self.is_news(object, queue, state) {
            return;
        }
        if state.source == PeltSource::AtEstimate as u32 {
            let (enqueued, ewma, util_avg) = (average.util_est, average.ewma, average.util_avg);
            put(Event::UtilEst { cpu, signal: state.signal, object, tid: state.tid, enqueued, ewma, util_avg });
        }
        self.clocks(cpu, state.clocks).into_iter().for_each(&mut *put);
        if let Some(before) = &state.before {
            put(before_event(cpu, before));
        }
        put(Event::PeltState {
            cpu,
            signal: state.signal,
            source: state.source,
            object,
            queue,
            tid: state.tid,
            flags: state.flags,
            runnable: state.runnable,
            weight: state.weight,
            now_ns: state.now_ns,
            last_update_time_ns: average.last_update_time,
            load_sum: average.load_sum,
            runnable_sum: average.runnable_sum,
            util_sum: average.util_sum,
            period_contrib: average.period_contrib,
            load_avg: average.load_avg,
            runnable_avg: average.runnable_avg,
            util_avg: average.util_avg,
            util_est: average.util_est,
        });
    }

    /// False for a look at an object that shows the state that was emitted already.
    fn is_news(&mut self, object: u32, queue: u32, state: &StateRecord) -> bool {
        let now = Told {
            queue,
            flags: state.flags,
            runnable: state.runnable,
            weight: state.weight,
            average: state.average.clone(),
        };
        let known = self.told.get(&object) == Some(&now);
        if !known {
            self.told.insert(object, now);
        }
        let source = PeltSource::of_code(state.source);
        let announced = self.announced.remove(&object);
        announced
            || !known
            || matches!(source, None | Some(PeltSource::Call | PeltSource::Tracepoint | PeltSource::AtEstimate))
    }

    fn next_freq(&self, note: &Note) -> Event {
        let (a, w) = (&note.a, &note.w);
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Event::NextFreq {
            cpu: a[0],
            util: a[1],
            max: a[2],
            resolved_khz: a[3],
            cur_khz: a[4],
            max_khz: a[5],
            raw_khz: narrow(w[0]),
            next_khz: narrow(w[1]),
            forced: narrow(w[2]),
            domain_cpus: self.domain_cpus.get(a[0] as usize).copied().unwrap_or(0),
            idle_calls: w[3],
        }
    }

    /// The clocks of a CPU, when they moved since they were last emitted.
    fn clocks(&mut self, cpu: u32, now: Clocks) -> Option<Event> {
        let index = cpu as usize;
        if now == Clocks::default() || index >= CPUS_MAX {
            return None;
        }
        if self.clocks.len() <= index {
            self.clocks.resize(index + 1, Clocks::default());
        }
        if self.clocks[index] == now {
            return None;
        }
        self.clocks[index] = now;
        Some(Event::RqClock {
            cpu,
            clock_ns: now.clock,
            clock_task_ns: now.clock_task,
            clock_pelt_ns: now.clock_pelt,
            lost_idle_ns: now.lost_idle,
        })
    }
}

/// Most CPUs a kernel has; a larger number is no CPU.
const CPUS_MAX: usize = 8192;

fn before_event(cpu: u32, before: &Average) -> Event {
    Event::PeltBefore {
        cpu,
        last_update_time_ns: before.last_update_time,
        load_sum: before.load_sum,
        runnable_sum: before.runnable_sum,
        util_sum: before.util_sum,
        period_contrib: before.period_contrib,
        load_avg: before.load_avg,
        runnable_avg: before.runnable_avg,
        util_avg: before.util_avg,
    }
}

/// A clock step is stored where a call has its averages: see `call_clock` in `bpf/calls.h`.
fn clock_step(state: &StateRecord) -> Event {
    let before = state.before.clone().unwrap_or_default();
    Event::RqClockStep {
        cpu: state.queue_cpu,
        idle: state.flags & 1,
        cap_scale: state.tid,
        freq_scale: state.runnable,
        clock_before_ns: before.last_update_time,
        clock_task_before_ns: before.load_sum,
        clock_pelt_before_ns: before.runnable_sum,
        clock_ns: state.clocks.clock,
        clock_task_ns: state.clocks.clock_task,
        clock_pelt_ns: state.clocks.clock_pelt,
        lost_idle_ns: state.clocks.lost_idle,
    }
}

/// A task's state as the events have it.
fn report_state(state: u32) -> u32 {
    if state & STATE_GONE != 0 { STATE_DEAD } else { state & STATE_SLEEPS }
}

fn sched_event(cpu: u32, kind: Kind, a: &[u32; 6]) -> Option<Event> {
    Some(match kind {
        Kind::Switch => Event::SchedSwitch {
            cpu,
            prev_tid: a[0],
            prev_prio: a[1],
            prev_state: report_state(a[2]),
            next_tid: a[3],
            next_prio: a[4],
        },
        Kind::Waking => Event::SchedWaking { cpu, tid: a[0], prio: a[1], target_cpu: a[2] },
        Kind::Wakeup => Event::SchedWakeup { cpu, tid: a[0], prio: a[1], target_cpu: a[2] },
        Kind::WakeupNew => Event::SchedWakeupNew { cpu, tid: a[0], prio: a[1], target_cpu: a[2] },
        Kind::Migrate => Event::SchedMigrateTask { cpu, tid: a[0], prio: a[1], orig_cpu: a[2], dest_cpu: a[3] },
        Kind::Fork => Event::SchedProcessFork { cpu, parent_tid: a[0], child_tid: a[1] },
        Kind::Exit => Event::SchedProcessExit { cpu, tid: a[0], prio: a[1] },
        _ => return None,
    })
}

fn note_event(record: &Record, note: &Note) -> Option<Event> {
    let (cpu, a, w) = (record.cpu, &note.a, &note.w);
    let event = match record.kind {
        Kind::Frequency => Event::CpuFrequency { cpu: a[0], freq_khz: a[1] },
        Kind::Limits => Event::CpuFrequencyLimits { cpu: a[0], min_khz: a[1], max_khz: a[2] },
        Kind::Idle => Event::CpuIdle { cpu: a[0], state: a[1] },
        Kind::IrqEntry => Event::IrqEntry { cpu, irq: a[0] },
        Kind::IrqExit => Event::IrqExit { cpu, irq: a[0] },
        Kind::SoftirqEntry => Event::SoftirqEntry { cpu, vec: a[0] },
        Kind::SoftirqExit => Event::SoftirqExit { cpu, vec: a[0] },
        Kind::Capacity => Event::CpuCapacity { cpu: a[0], capacity: a[1] },
        Kind::Overutilized => Event::SchedOverutilized { overutilized: a[0] },
        Kind::NrRunning => Event::NrRunning { cpu: a[0], nr_running: a[1], change: w[0].cast_signed() },
        Kind::Energy => {
            Event::ComputeEnergy { cpu, tid: a[0], dst_cpu: a[1], energy: w[0], max_util: w[1], busy_time: w[2] }
        }
        Kind::EffectivePerf => Event::EffectivePerf { cpu: a[0], actual: a[1], min: a[2], max: a[3], perf: a[4] },
        Kind::Lost => Event::LostEvents { cpu, count: w[0] },
        kind => return sched_event(cpu, kind, a),
    };
    Some(event)
}

/// The published average that a complete state of the root queue, a task or a class contains: for viewers that know
/// averages only.
pub fn signal_event(event: &Event) -> Option<Event> {
    let Event::PeltState { cpu, signal, flags, tid, load_avg, runnable_avg, util_avg, util_est, .. } = *event else {
        return None;
    };
    let runnable_avg = u32::try_from(runnable_avg).unwrap_or(u32::MAX);
    // The kernel keeps a mark in the highest bit of a task's estimate.
    let util_est = util_est & (u32::MAX >> 1);
    match PeltSignal::of_code(signal)? {
        PeltSignal::Entity if tid != 0 => Some(Event::PeltSe { cpu, tid, util_avg, runnable_avg, load_avg, util_est }),
        PeltSignal::Queue if flags & pelton_schema::PELT_ROOT != 0 => {
            Some(Event::PeltCfs { cpu, util_avg, runnable_avg, load_avg, util_est })
        }
        PeltSignal::Rt => Some(Event::PeltRt { cpu, util_avg }),
        PeltSignal::Dl => Some(Event::PeltDl { cpu, util_avg }),
        PeltSignal::Irq => Some(Event::PeltIrq { cpu, util_avg }),
        PeltSignal::Hw => Some(Event::PeltHw { cpu, load_avg }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(object: u64, tid: u32, clock: u64) -> Record {
        let state = StateRecord {
            signal: 0,
            source: 1,
            queue_cpu: 1,
            tid,
            flags: 1,
            runnable: 1,
            object,
            queue: 500,
            weight: 1 << 20,
            now_ns: 0,
            clocks: Clocks { clock, ..Clocks::default() },
            average: Average::default(),
            before: None,
        };
        Record { time_ns: 1, cpu: 0, kind: Kind::State, body: Body::State(Box::new(state)) }
    }

    #[test]
    fn addresses_become_numbers_and_a_reused_address_a_new_one() {
        let mut converter = Converter::new(Groups::default(), vec![1, 2, 2]);
        let mut numbers = Vec::new();
        for (object, tid) in [(900, 7), (900, 7), (901, 8), (900, 9)] {
            converter.convert(&state(object, tid, 5), &mut |event| {
                if let Event::PeltState { object, queue, cpu, .. } = event {
                    numbers.push((object, queue, cpu));
                }
            });
        }
        assert_eq!(numbers, [(1, 2, 1), (1, 2, 1), (3, 2, 1), (4, 2, 1)]);
    }

    #[test]
    fn clocks_are_told_when_they_moved() {
        let mut converter = Converter::new(Groups::default(), vec![1, 2, 2]);
        let mut told = Vec::new();
        for clock in [5, 5, 6, 0] {
            converter.convert(&state(900, 7, clock), &mut |event| {
                if let Event::RqClock { clock_ns, .. } = event {
                    told.push(clock_ns);
                }
            });
        }
        assert_eq!(told, [5, 6]);
    }

    #[test]
    fn a_look_that_shows_nothing_new_is_left_out() {
        let mut converter = Converter::new(Groups::default(), vec![1, 2, 2]);
        let mut states = 0;
        for (source, flags) in [(1, 1), (2, 1), (2, 3), (2, 3), (1, 3), (8, 3)] {
            let mut record = state(900, 7, 5);
            if let Body::State(state) = &mut record.body {
                (state.source, state.flags) = (source, flags);
            }
            converter.convert(&record, &mut |event| states += u32::from(matches!(event, Event::PeltState { .. })));
        }
        assert_eq!(states, 4, "two repeated looks are left out, tracepoints never");
    }

    #[test]
    fn what_is_pending_is_followed_by_the_state_even_if_that_is_old() {
        let mut converter = Converter::new(Groups::default(), vec![1, 2, 2]);
        let pending = PendingRecord {
            queue_cpu: 1,
            removed_nr: 2,
            queue: 900,
            entity: 0,
            removed_load: 30,
            removed_runnable: 20,
            removed_util: 10,
            propagate: 0,
            prop_runnable_sum: 0,
        };
        let pending = Record { time_ns: 1, cpu: 0, kind: Kind::Queue, body: Body::Pending(Box::new(pending)) };
        let mut look = state(900, 0, 5);
        if let Body::State(state) = &mut look.body {
            state.source = PeltSource::AtSwitch as u32;
        }
        let mut told = Vec::new();
        for record in [&look, &look, &pending, &look, &look] {
            converter.convert(record, &mut |event| match event {
                Event::PeltState { object, .. } => told.push((object, 0)),
                Event::PeltPending { object, removed_nr, .. } => told.push((object, removed_nr)),
                _ => {}
            });
        }
        assert_eq!(told, [(1, 0), (1, 2), (1, 0)]);
    }

    #[test]
    fn a_task_that_is_gone_has_the_state_dead() {
        assert_eq!([0, 1, 2, 0x402, 0x20, 0x80, 0x2000].map(report_state), [0, 1, 2, 2, 16, 16, 0]);
    }
}
