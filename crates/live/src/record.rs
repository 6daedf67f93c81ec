// SPDX-License-Identifier: GPL-2.0-or-later
//! The records of the BPF program, as `bpf/record.h` lays them out.

/// Takes fixed-width numbers from the front of a record.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_ne_bytes)
    }
}

/// Declares the kinds once, in the order of `enum kind` of `bpf/record.h`, which counts from 1.
macro_rules! kinds {
    ($($kind:ident),+ $(,)?) => {
        /// Kind of a record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($kind),+ }

        const KINDS: &[Kind] = &[$(Kind::$kind),+];
    };
}

kinds! {
    Switch,
    Waking,
    Wakeup,
    WakeupNew,
    Migrate,
    Fork,
    Exit,
    Frequency,
    Limits,
    Idle,
    IrqEntry,
    IrqExit,
    SoftirqEntry,
    SoftirqExit,
    Capacity,
    Overutilized,
    NrRunning,
    Energy,
    NextFreq,
    EffectivePerf,
    ClockStep,
    Lost,
    Task,
    State,
    Call,
    Queue,
}

/// A record of the BPF program.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub time_ns: u64,
    pub cpu: u32,
    pub kind: Kind,
    pub body: Body,
}

/// Contents of a record after its head.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Note(Note),
    Task(TaskRecord),
    State(Box<StateRecord>),
    Pending(Box<PendingRecord>),
}

#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub a: [u32; 6],
    pub w: [u64; 4],
}

#[derive(Clone, Debug)]
pub(crate) struct TaskRecord {
    pub tid: u32,
    pub policy: u32,
    pub prio: u32,
    pub uclamp_min: u32,
    pub uclamp_max: u32,
    pub cpus_allowed: u64,
    pub group: u64,
    pub cgroup: u64,
    pub autogroup: u64,
    pub is_root: bool,
    pub comm: [u8; 16],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Average {
    pub last_update_time: u64,
    pub load_sum: u64,
    pub runnable_sum: u64,
    pub load_avg: u64,
    pub runnable_avg: u64,
    pub util_sum: u32,
    pub period_contrib: u32,
    pub util_avg: u32,
    pub util_est: u32,
    pub ewma: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clocks {
    pub clock: u64,
    pub clock_task: u64,
    pub clock_pelt: u64,
    pub lost_idle: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct StateRecord {
    pub signal: u32,
    pub source: u32,
    pub queue_cpu: u32,
    pub tid: u32,
    pub flags: u32,
    pub runnable: u32,
    pub object: u64,
    pub queue: u64,
    pub weight: u64,
    pub now_ns: u64,
    pub clocks: Clocks,
    pub average: Average,
    /// Average before the call; only of calls and clock steps.
    pub before: Option<Average>,
}

#[derive(Clone, Debug)]
pub(crate) struct PendingRecord {
    pub queue_cpu: u32,
    pub removed_nr: u32,
    pub queue: u64,
    pub entity: u64,
    pub removed_load: u64,
    pub removed_runnable: u64,
    pub removed_util: u64,
    pub propagate: u64,
    pub prop_runnable_sum: i64,
}

impl Record {
    /// Reads a record; `None` when it is shorter than its kind says, or of no known kind.
    pub fn parse(bytes: &[u8]) -> Option<Record> {
        let mut cursor = Cursor { rest: bytes };
        let (time_ns, kind, cpu) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let kind = *KINDS.get((kind as usize).checked_sub(1)?)?;
        let body = match kind {
            Kind::Task => Body::Task(task(&mut cursor)?),
            Kind::State => Body::State(Box::new(state(&mut cursor)?)),
            Kind::Queue => Body::Pending(Box::new(pending(&mut cursor)?)),
            Kind::Call | Kind::ClockStep => {
                let mut call = state(&mut cursor)?;
                call.before = Some(average(&mut cursor)?);
                Body::State(Box::new(call))
            }
            _ => Body::Note(note(&mut cursor)?),
        };
        Some(Record { time_ns, cpu, kind, body })
    }
}

fn note(cursor: &mut Cursor<'_>) -> Option<Note> {
    let mut note = Note { a: [0; 6], w: [0; 4] };
    for value in &mut note.a {
        *value = cursor.u32()?;
    }
    for value in &mut note.w {
        *value = cursor.u64()?;
    }
    Some(note)
}

fn task(cursor: &mut Cursor<'_>) -> Option<TaskRecord> {
    let (tid, _tgid, policy, prio) = (cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let (uclamp_min, uclamp_max) = (cursor.u32()?, cursor.u32()?);
    let [cpus_allowed, group, cgroup, autogroup, is_root] =
        [cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?];
    let comm = cursor.bytes()?;
    let is_root = is_root != 0;
    Some(TaskRecord {
        tid,
        policy,
        prio,
        uclamp_min,
        uclamp_max,
        cpus_allowed,
        group,
        cgroup,
        autogroup,
        is_root,
        comm,
    })
}

fn average(cursor: &mut Cursor<'_>) -> Option<Average> {
    let average = Average {
        last_update_time: cursor.u64()?,
        load_sum: cursor.u64()?,
        runnable_sum: cursor.u64()?,
        load_avg: cursor.u64()?,
        runnable_avg: cursor.u64()?,
        util_sum: cursor.u32()?,
        period_contrib: cursor.u32()?,
        util_avg: cursor.u32()?,
        util_est: cursor.u32()?,
        ewma: cursor.u32()?,
    };
    cursor.u32()?;
    Some(average)
}

fn pending(cursor: &mut Cursor<'_>) -> Option<PendingRecord> {
    Some(PendingRecord {
        queue_cpu: cursor.u32()?,
        removed_nr: cursor.u32()?,
        queue: cursor.u64()?,
        entity: cursor.u64()?,
        removed_load: cursor.u64()?,
        removed_runnable: cursor.u64()?,
        removed_util: cursor.u64()?,
        propagate: cursor.u64()?,
        prop_runnable_sum: cursor.u64()?.cast_signed(),
    })
}

fn state(cursor: &mut Cursor<'_>) -> Option<StateRecord> {
    Some(StateRecord {
        signal: cursor.u32()?,
        source: cursor.u32()?,
        queue_cpu: cursor.u32()?,
        tid: cursor.u32()?,
        flags: cursor.u32()?,
        runnable: cursor.u32()?,
        object: cursor.u64()?,
        queue: cursor.u64()?,
        weight: cursor.u64()?,
        now_ns: cursor.u64()?,
        clocks: Clocks {
            clock: cursor.u64()?,
            clock_task: cursor.u64()?,
            clock_pelt: cursor.u64()?,
            lost_idle: cursor.u64()?,
        },
        average: average(cursor)?,
        before: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(kind: u32) -> Vec<u8> {
        let mut bytes = 7u64.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(3u32.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_note_has_its_numbers_in_place() {
        let mut bytes = head(5);
        (10..16u32).for_each(|v| bytes.extend(v.to_ne_bytes()));
        (20..24u64).for_each(|v| bytes.extend(v.to_ne_bytes()));
        let record = Record::parse(&bytes).expect("complete");
        assert_eq!((record.time_ns, record.cpu, record.kind), (7, 3, Kind::Migrate));
        let Body::Note(note) = record.body else { panic!("a note") };
        assert_eq!((note.a, note.w), ([10, 11, 12, 13, 14, 15], [20, 21, 22, 23]));
    }

    #[test]
    fn short_and_unknown_records_are_refused() {
        for kind in 0..40 {
            let mut bytes = head(kind);
            assert!(Record::parse(&bytes).is_none(), "kind {kind} without a body");
            bytes.extend([0; 400]);
            assert_eq!(Record::parse(&bytes).is_some(), (1..=26).contains(&kind), "kind {kind}");
        }
        assert!(Record::parse(&[]).is_none());
    }
}
