// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording: load, attach, drain, detach.

use std::fmt;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use libbpf_rs::btf::Btf;
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder, PrintLevel, Program, RingBuffer};
use libbpf_rs::{OpenObject, RingBufferBuilder};
use nix::time::{ClockId, clock_gettime};
use pelton_schema::Event;

use crate::convert::Converter;
use crate::groups::Groups;
use crate::machine::{Capabilities, cpus_possible, domain_cpus};
use crate::merge::Merge;
use crate::programs::{self, Choice, EventSet, Hook, PROGRAMS};
use crate::record::{Body, Record};
use crate::summary::Summary;

/// The compiled program.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recorder.bpf.o"));

/// Interval at which buffers are emptied.
const DRAIN_EVERY: Duration = Duration::from_millis(20);
/// Records taken from one buffer before the others have their turn.
const RECORDS_AT_ONCE: usize = 65_536;
/// Most time that a record may reach its buffer after its own time without losing its place, ns.
const LATE_NS_MAX: u64 = 5_000_000;

/// Selection of a recording.
#[derive(Clone, Debug)]
pub struct Options {
    /// Sets of events.
    pub sets: Vec<EventSet>,
    /// Every call of the update functions too, where the kernel lets functions be traced.
    pub full: bool,
    /// Buffer of each CPU, MiB; rounded up to a power of two.
    pub buffer_mib: u32,
    /// Another place of the kernel's type information, for tests.
    pub btf: Option<std::path::PathBuf>,
}

/// Reason why there is no recording.
#[derive(Debug)]
pub enum LiveError {
    /// Something is missing: what, and how to get it, one sentence each.
    Missing(Vec<String>),
    /// The kernel refused.
    Refused {
        /// Step that was tried.
        what: &'static str,
        /// The error.
        error: String,
        /// Messages of libbpf and the kernel about it.
        log: Vec<String>,
    },
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Missing(what) => write!(f, "this machine cannot record; missing: {}", what.join("; ")),
            LiveError::Refused { what, error, log } => {
                write!(f, "the kernel refused to {what}: {error}")?;
                log.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
        }
    }
}

impl std::error::Error for LiveError {}

/// Progress of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Time since it started, ns.
    pub elapsed_ns: u64,
    /// Events so far.
    pub events: u64,
    /// Records lost so far.
    pub lost: u64,
}

/// A running recording.
pub struct Session {
    // Fields are dropped in this order: first nothing is written any more, then the buffers go.
    links: Vec<Link>,
    rings: Vec<RingBuffer<'static>>,
    object: Object,
    incoming: Receiver<Option<Record>>,
    merge: Merge,
    converter: Converter,
    summary: Summary,
    start_ns: u64,
}

impl Session {
    /// Loads and attaches everything. Events count from the moment all programs are attached.
    ///
    /// # Errors
    /// When this machine lacks something, or the kernel refuses.
    pub fn start(options: &Options) -> Result<Session, LiveError> {
        let missing = Capabilities::here(options.btf.as_deref()).missing();
        if !missing.is_empty() {
            return Err(LiveError::Missing(missing));
        }
        keep_messages();
        let mut notes = Vec::new();
        let (object, choice, maps) = match load(options, options.full) {
            Err(error) if options.full => {
                notes.push(format!("no complete recording, tracepoints only: {}", first_line(&error)));
                load(options, false)?
            }
            loaded => loaded?,
        };
        let (sender, incoming) = channel();
        let rings = maps.iter().map(|map| ring(map, sender.clone())).collect::<Result<Vec<_>, _>>()?;
        let mut session = Session {
            links: attach(&object)?,
            rings,
            object,
            incoming,
            merge: Merge::default(),
            converter: Converter::new(Groups::scan(), domain_cpus()),
            summary: Summary::new(choice.missing, notes),
            start_ns: 0,
        };
        session.start_ns = now_ns();
        Ok(session)
    }

    /// Tracepoints that are missing, and what could not be done as asked; groups known so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Paths of the task groups known now, by number.
    pub fn groups(&self) -> &[String] {
        self.converter.groups.paths()
    }

    /// Waits a moment, then hands everything that can be put in order to `put`.
    pub fn poll(&mut self, put: &mut dyn FnMut(u64, &Event)) -> Progress {
        std::thread::park_timeout(DRAIN_EVERY);
        let until_ns = self.drain().saturating_sub(LATE_NS_MAX);
        self.hand_out(until_ns, put);
        Progress {
            elapsed_ns: now_ns().saturating_sub(self.start_ns),
            events: self.summary.total(),
            lost: self.summary.lost,
        }
    }

    /// Detaches, hands out the rest, and says what the recording holds.
    pub fn finish(mut self, put: &mut dyn FnMut(u64, &Event)) -> Summary {
        let end_ns = now_ns();
        self.summary.skipped = skipped(&self.object);
        self.links.clear();
        while self.drain() < end_ns {}
        self.hand_out(end_ns, put);
        for (cpu, lost) in self.untold_losses() {
            let event = Event::LostEvents { cpu, count: lost };
            let time_ns = self.summary.last_ns.max(self.start_ns);
            self.summary.count(time_ns, &event);
            put(time_ns, &event);
        }
        self.summary.late = self.merge.late;
        self.summary.groups = self.groups().to_vec();
        self.summary.clone()
    }

    /// Empties the buffers. What is before the time returned has been taken, except for records that were being
    /// written.
    fn drain(&mut self) -> u64 {
        let mut complete_ns = now_ns();
        for ring in &self.rings {
            let taken = ring.consume_raw_n(RECORDS_AT_ONCE);
            let mut last_ns = None;
            while let Ok(record) = self.incoming.try_recv() {
                match record {
                    Some(record) => {
                        last_ns = Some(record.time_ns);
                        take(&mut self.merge, record, self.start_ns);
                    }
                    None => self.summary.malformed += 1,
                }
            }
            if taken >= RECORDS_AT_ONCE as i32 {
                complete_ns = complete_ns.min(last_ns.unwrap_or(0));
            }
        }
        complete_ns
    }

    fn hand_out(&mut self, until_ns: u64, put: &mut dyn FnMut(u64, &Event)) {
        while let Some(record) = self.merge.pop(until_ns) {
            let summary = &mut self.summary;
            self.converter.convert(&record, &mut |event| {
                summary.count(record.time_ns, &event);
                put(record.time_ns, &event);
            });
        }
    }

    /// Losses after the last record of a CPU, which nothing in its buffer reports.
    fn untold_losses(&self) -> Vec<(u32, u64)> {
        let map = self.object.maps().find(|m| m.name() == "losses");
        let values = map.and_then(|m| m.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
        let word = |bytes: &[u8], at: usize| {
            bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes)
        };
        let untold = |bytes: &Vec<u8>| word(bytes, 0).saturating_sub(word(bytes, 8));
        let all = values.unwrap_or_default();
        all.iter().enumerate().map(|(cpu, v)| (cpu as u32, untold(v))).filter(|&(_, lost)| lost > 0).collect()
    }
}

/// Takes a record into the merge; of those from before the start only attributes of tasks, which may not be recorded
/// again.
fn take(merge: &mut Merge, mut record: Record, start_ns: u64) {
    if record.time_ns < start_ns {
        if !matches!(record.body, Body::Task(_)) {
            return;
        }
        record.time_ns = start_ns;
    }
    merge.push(record);
}

/// Runs that the kernel left out because an interrupt came while the same program ran on that CPU, and no other took
/// over.
fn skipped(object: &Object) -> u64 {
    let alone = |p: &Program<'_>| p.autoload() && !programs::TWICE.iter().any(|name| p.name() == *name);
    let ids: Vec<u32> = object.progs().filter(alone).filter_map(|p| Program::id_from_fd(p.as_fd()).ok()).collect();
    ProgInfoIter::default().filter(|info| ids.contains(&info.id)).map(|info| info.recursion_misses).sum()
}

/// Time on the clock the records carry.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Messages of libbpf since they were last taken.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Most lines kept of it.
const MESSAGES_MAX: usize = 24;

#[expect(clippy::needless_pass_by_value, reason = "the signature libbpf-rs asks for")]
fn keep_message(_: PrintLevel, text: String) {
    if let Ok(mut messages) = MESSAGES.lock() {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        messages.extend(lines.map(|line| line.chars().take(240).collect()));
        // The reason stands at the end.
        let surplus = messages.len().saturating_sub(MESSAGES_MAX);
        messages.drain(..surplus);
    }
}

/// Keeps the messages of libbpf and the kernel from now on, for the text of a refusal.
pub(crate) fn keep_messages() {
    libbpf_rs::set_print(Some((PrintLevel::Warn, keep_message)));
}

/// Has the running kernel this tracepoint?
pub(crate) fn has_tracepoint(name: &str) -> Result<bool, LiveError> {
    let kernel = Btf::from_vmlinux().map_err(|e| refused("show its type information", e))?;
    Ok(programs::tracepoint(&kernel, name).is_some())
}

/// Has the kernel a function of this name that can be traced?
pub(crate) fn has_function(name: &str) -> Result<bool, LiveError> {
    let kernel = Btf::from_vmlinux().map_err(|e| refused("show its type information", e))?;
    Ok(kernel.type_by_name::<libbpf_rs::btf::types::Func<'_>>(name).is_some())
}

pub(crate) fn refused(what: &'static str, error: impl fmt::Display) -> LiveError {
    let log = MESSAGES.lock().map(|mut m| std::mem::take(&mut *m)).unwrap_or_default();
    LiveError::Refused { what, error: error.to_string(), log }
}

fn first_line(error: &LiveError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Loads the programs that fit; with them the buffers.
fn load(options: &Options, full: bool) -> Result<(Object, Choice, Vec<MapHandle>), LiveError> {
    let kernel = match &options.btf {
        Some(path) => Btf::from_path(path),
        None => Btf::from_vmlinux(),
    };
    let kernel = kernel.map_err(|e| refused("show its type information", e))?;
    let choice = programs::choose(&kernel, &options.sets, full);
    if choice.wanted.is_empty() {
        let lacking = choice.missing.join(", ");
        return Err(LiveError::Missing(vec![format!("every tracepoint asked for ({lacking}): use a newer kernel")]));
    }
    let bytes = options.buffer_mib.clamp(1, 1024).next_power_of_two() << 20;
    let maps = (0..cpus_possible()).map(|_| buffer(bytes)).collect::<Result<Vec<_>, _>>()?;
    let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(|e| refused("read the program", e))?;
    configure(&mut open, &choice, options, full, &maps).map_err(|e| refused("set the program up", e))?;
    let object = open.load().map_err(|e| refused("load the program", e))?;
    let rings = object.maps().find(|m| m.name() == "rings");
    for (cpu, map) in (0u32..).zip(&maps) {
        let fd = map.as_fd().as_raw_fd().to_ne_bytes();
        let stored = rings.as_ref().map(|r| r.update(&cpu.to_ne_bytes(), &fd, MapFlags::ANY));
        stored.transpose().map_err(|e| refused("take the buffers", e))?;
    }
    Ok((object, choice, maps))
}

/// Level of looks at load-tracking records: `want_snapshots` of `bpf/common.h`.
fn snapshots(options: &Options, full: bool) -> u32 {
    match (options.sets.contains(&EventSet::Pelt), full) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

fn configure(
    open: &mut OpenObject,
    choice: &Choice,
    options: &Options,
    full: bool,
    maps: &[MapHandle],
) -> libbpf_rs::Result<()> {
    for mut program in open.progs_mut() {
        let wanted = choice.wanted.iter().any(|name| program.name() == *name);
        program.set_autoload(wanted);
    }
    for mut map in open.maps_mut() {
        if map.name() == "rings" {
            map.set_max_entries(maps.len() as u32)?;
            map.set_inner_map_fd(maps[0].as_fd())?;
        } else if map.name().to_string_lossy().ends_with(".rodata") {
            map.set_initial_value(&snapshots(options, full).to_ne_bytes())?;
        }
    }
    Ok(())
}

fn buffer(bytes: u32) -> Result<MapHandle, LiveError> {
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
        ..Default::default()
    };
    MapHandle::create(MapType::RingBuf, Some("pelton_ring"), 0, 0, bytes, &options)
        .map_err(|e| refused("make a buffer (a smaller one: --buffer)", e))
}

fn ring(map: &MapHandle, sender: std::sync::mpsc::Sender<Option<Record>>) -> Result<RingBuffer<'static>, LiveError> {
    let mut builder = RingBufferBuilder::new();
    let take = move |bytes: &[u8]| {
        // The receiver lives as long as the buffers.
        let _ = sender.send(Record::parse(bytes));
        0
    };
    builder.add(map, take).map_err(|e| refused("share a buffer", e))?;
    builder.build().map_err(|e| refused("share a buffer", e))
}

/// Attaches what was loaded: calls before tracepoints, exits before entries would show half a call only at the start.
fn attach(object: &Object) -> Result<Vec<Link>, LiveError> {
    let mut links = Vec::new();
    for program in object.progs_mut() {
        let info = PROGRAMS.iter().find(|p| program.name() == p.name);
        if info.is_none() || !program.autoload() {
            continue;
        }
        let what = match info.map(|i| i.hook) {
            Some(Hook::Function(_)) => "trace a function",
            _ => "attach to a tracepoint",
        };
        links.push(program.attach().map_err(|e| refused(what, e))?);
    }
    Ok(links)
}
