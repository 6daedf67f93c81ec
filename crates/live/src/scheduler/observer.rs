// SPDX-License-Identifier: GPL-2.0-or-later
//! The core beside the kernel's own scheduler: it decides, nothing is changed, and both are counted.

use std::time::Instant;

use libbpf_rs::{Link, Object, ObjectBuilder, ProgramInput};
use pelton_core::Policy;

use super::compared::{self, Compared, Comparison};
use super::energy::{Consumed, Meter, Powers};
use super::given::{policy_here, set_up};
use super::machine::{CPUS_MAX, Machine};
use super::readings::{Readings, now_ns};
use super::recorded::Recorded;
use super::words::List;
use super::{CpuView, Ended, Explanation, Group, Host, Options, Records};
use crate::placements::has_symbol;
use crate::session::{LiveError, keep_messages, refused};

static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/observer.bpf.o"));

/// Events that an observer counts; the others are those of a scheduler.
const COUNTED: [&str; 10] = [
    "events",
    "offered",
    "delivered",
    "evaluated",
    "targets",
    "wakeups",
    "by_energy",
    "by_idle",
    "on_prev",
    "unrecorded",
];

/// Frequencies and placements of a CPU: those of the core, and the kernel's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// CPU.
    pub cpu: u32,
    /// Mean frequency that the core would have asked for, MHz; `None`: none is known.
    pub would_mhz: Option<f64>,
    /// Mean frequency that there was, MHz; `None`: the kernel shows none.
    pub was_mhz: Option<f64>,
    /// Changes that the core would have asked for.
    pub would_changes: u64,
    /// Changes that there were.
    pub was_changes: u64,
    /// Wake-ups on this CPU that the core placed as well.
    pub wakeups: u64,
    /// Those among them that it placed here, too.
    pub agreed: u64,
}

/// An observer; it detaches when this is dropped.
pub struct Observer {
    object: Object,
    links: Vec<Link>,
    begin: Instant,
    begin_ns: u64,
    read: Readings,
    seen: List,
    compared: Comparison,
    meter: Meter,
    recorded: Recorded,
}

/// Does the kernel say where its queues are? Placements read them.
fn shows_queues() -> bool {
    has_symbol(&std::fs::read_to_string("/proc/kallsyms").unwrap_or_default(), "runqueues")
}

impl Observer {
    /// Starts to observe.
    ///
    /// # Errors
    /// The kernel refuses the program, with its words.
    pub fn start(machine: &Machine, options: &Options, powers: Powers) -> Result<Observer, LiveError> {
        Observer::begin(machine, options, powers, false)
    }

    /// Starts to observe with a half-life that is wrong, for tests of the comparison with the kernel's load tracking.
    ///
    /// # Errors
    /// The kernel refuses the program, with its words.
    pub fn start_faulty(machine: &Machine, options: &Options, powers: Powers) -> Result<Observer, LiveError> {
        Observer::begin(machine, options, powers, true)
    }

    fn begin(machine: &Machine, options: &Options, powers: Powers, faulty: bool) -> Result<Observer, LiveError> {
        if machine.cpus.len() > CPUS_MAX {
            return Err(LiveError::Missing(vec![format!("a machine of at most {CPUS_MAX} CPUs")]));
        }
        keep_messages();
        let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(|e| refused("read the observer", e))?;
        set_up(&mut open, machine, options).map_err(|e| refused("set the observer up", e))?;
        for mut program in open.progs_mut().filter(|program| program.name() == "seen_waking") {
            program.set_autoload(shows_queues());
        }
        let rules = compared::rules_here(machine);
        compared::set_up(&mut open, rules.as_ref(), faulty)?;
        let object = open.load().map_err(|e| refused("load the observer", e))?;
        let mut recorded = Recorded::new();
        let meter = Meter::new(&object, powers)?;
        recorded.follow(&object, policy_here(&options.policy, machine), options.record)?;
        for program in object.progs_mut().filter(|program| program.name() == "seen_begin") {
            program.test_run(ProgramInput::default()).map_err(|e| refused("begin to observe", e))?;
        }
        let wanted = object.progs_mut().filter(|p| p.autoload() && p.name() != "seen_begin");
        let links = wanted.map(|p| p.attach().map_err(|e| refused("attach to a tracepoint", e)));
        let links = links.collect::<Result<_, _>>()?;
        compared::set_begun(&object, true).map_err(|e| refused("begin to compare", e))?;
        Ok(Observer {
            links,
            object,
            begin: Instant::now(),
            begin_ns: now_ns(),
            read: Readings::of(machine, options),
            seen: List::new("LIVE_SEEN"),
            compared: Comparison::new(rules.is_some()),
            meter,
            recorded,
        })
    }

    /// Frequencies and placements so far.
    pub fn report(&self) -> Vec<Observed> {
        let now = now_ns();
        let rows = self.read.rows(&self.object, ".bss.seen", &self.seen);
        rows.iter().enumerate().map(|(cpu, words)| self.observed(cpu, words, now)).collect()
    }

    /// Takes what was metered since the last look.
    pub fn follow(&mut self) {
        self.meter.follow();
    }

    fn observed(&self, cpu: usize, words: &[u64], now: u64) -> Observed {
        let of = |name: &str| self.seen.of(words, name);
        let us = (now.saturating_sub(self.begin_ns) / 1000).max(1) as f64;
        let mean = |sum: &str, since: &str, khz: &str| {
            let open = now.saturating_sub(of(since)) / 1000 * (of(khz) / 1000);
            (of(sum) + open) as f64 / us
        };
        // A driver that emits no event says nothing about its frequencies.
        let tells = of("is_since_ns") > of("begin_ns");
        Observed {
            cpu: cpu as u32,
            would_mhz: (of("would_khz") > 0).then(|| mean("would_sum", "would_since_ns", "would_khz")),
            was_mhz: tells.then(|| mean("is_sum", "is_since_ns", "is_khz")),
            would_changes: of("would_changes"),
            was_changes: of("is_changes"),
            wakeups: of("placed"),
            agreed: of("agreed"),
        }
    }
}

impl Host for Observer {
    fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let counted = |(name, _): &(&'static str, u64)| COUNTED.contains(name);
        self.read.counts(&self.object).into_iter().filter(counted).collect()
    }

    fn cpus(&self) -> Vec<CpuView> {
        self.read.cpus(&self.object)
    }

    fn groups(&self) -> Vec<(String, Group)> {
        Vec::new()
    }

    fn set_group(&mut self, _: &str, _: Group) -> Result<(), String> {
        Err("an observer changes nothing".to_owned())
    }

    fn set(&mut self, _: &str, _: &str) -> Result<(), String> {
        Err("an observer changes nothing: start again with another policy".to_owned())
    }

    fn explain(&self, cpu: u32) -> Result<Option<Explanation>, String> {
        self.read.explain(&self.object, cpu)
    }

    fn ended(&self) -> Option<Ended> {
        None
    }

    fn compared(&self) -> Vec<Compared> {
        self.compared.of(&self.object)
    }

    fn energy(&self) -> Option<Consumed> {
        self.meter.consumed(&self.object)
    }
}

impl Records for Observer {
    fn programs(&self) -> &[Policy] {
        self.recorded.programs()
    }

    fn recorded(&mut self, put: &mut dyn FnMut(u32, &[u8])) {
        self.recorded.take(put);
    }

    fn unrecorded(&self) -> u64 {
        self.recorded.lost(&self.counts())
    }

    fn detach(&mut self) {
        // Without it, what is missed from here on would be compared.
        let _ = compared::set_begun(&self.object, false);
        self.links.clear();
    }
}
