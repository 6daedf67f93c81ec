// SPDX-License-Identifier: GPL-2.0-or-later
//! The kernel's load tracking beside the core's, as the observer in the kernel compares it.

use libbpf_rs::{Object, OpenObject};
use pelton_core::{Policy, RulesOfRelease, rules_of_release};

use super::given::plain;
use super::machine::Machine;
use super::words::{List, bytes, section, write_section};
use crate::session::{LiveError, has_tracepoint};

const LISTS: &str = include_str!("../bpf/compared_words.h");

/// Tracepoints that programs of the comparison need beside those that every kernel has.
const PUBLISHED: [(&str, &str); 5] = [
    ("pelt_se", "pelt_se_tp"),
    ("pelt_rt", "pelt_rt_tp"),
    ("pelt_dl", "pelt_dl_tp"),
    ("pelt_cfs", "pelt_cfs_tp"),
    ("pelt_moments", "sched_update_nr_running_tp"),
];

/// A signal that is compared, and the tracepoint that publishes it.
const SIGNALS: [(&str, &str); 3] = [("task", "pelt_se_tp"), ("rt", "pelt_rt_tp"), ("dl", "pelt_dl_tp")];

/// A state of load tracking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Averages {
    /// Time of its last update, ns of the queue's clock.
    pub last_update_time: u64,
    /// Sum of load.
    pub load_sum: u64,
    /// Sum of runnable time.
    pub runnable_sum: u64,
    /// Sum of running time.
    pub util_sum: u64,
    /// Units of the open period.
    pub period_contrib: u64,
    /// Average of load.
    pub load_avg: u64,
    /// Average of runnable time.
    pub runnable_avg: u64,
    /// Average of running time.
    pub util_avg: u64,
}

/// A state that did not follow from the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// CPU.
    pub cpu: u64,
    /// Moment at which it was read: `published`, or one between two that are.
    pub at: String,
    /// Weight of the task, scaled down.
    pub weight: u64,
    /// Bits: queued 1, running 2, delayed 4; of a class 1 while a task of it runs.
    pub flags: u64,
    /// Flags at the state before.
    pub flags_before: u64,
    /// The task was on another queue before.
    pub moved: bool,
    /// State before it.
    pub before: Averages,
    /// State that the core expects.
    pub core: Averages,
    /// State that the kernel has.
    pub kernel: Averages,
}

/// Comparison of a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Signal.
    pub signal: &'static str,
    /// The kernel publishes it; what follows is 0 otherwise.
    pub published: bool,
    /// States that the kernel published.
    pub events: u64,
    /// Those that follow from the one before, every integer.
    pub equal: u64,
    /// Those without one before.
    pub first: u64,
    /// Those that do not follow.
    pub different: u64,
    /// Those that do not follow, where a switch, a wake-up or a move in between was not seen.
    pub unseen: u64,
    /// States that were read between them, and had changed.
    pub looks: u64,
    /// The first that did not follow.
    pub example: Option<Difference>,
}

/// Rules of the running kernel; `None`: no rules are known, or it publishes nothing.
pub(super) fn rules_here(machine: &Machine) -> Option<Policy> {
    let RulesOfRelease { name, .. } = rules_of_release(&machine.release)?;
    has_tracepoint("pelt_se_tp").ok().filter(|has| *has)?;
    Policy::profile(&name).ok()
}

/// Prepares the comparison, or leaves it out.
///
/// # Errors
/// The kernel has no type information, or the program none of these words.
pub(super) fn set_up(open: &mut OpenObject, rules: Option<&Policy>, faulty: bool) -> Result<(), LiveError> {
    let wrong = |e| crate::session::refused("set the comparison up", e);
    for mut map in open.maps_mut() {
        match (map.name().to_string_lossy().as_ref(), rules) {
            (".rodata.kernel", Some(rules)) => map.set_initial_value(plain(rules)).map_err(wrong)?,
            (".rodata.faulty", _) => map.set_initial_value(&u32::from(faulty).to_ne_bytes()).map_err(wrong)?,
            _ => {}
        }
    }
    for mut program in open.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let needs = PUBLISHED.iter().find(|(program, _)| *program == name);
        if name.starts_with("pelt_") {
            let has = needs.map_or(Ok(true), |(_, tracepoint)| has_tracepoint(tracepoint))?;
            program.set_autoload(rules.is_some() && has);
        }
    }
    Ok(())
}

/// Begins to compare, or ends it: while some programs are attached and others are not, events are missed.
pub(super) fn set_begun(object: &Object, begun: bool) -> libbpf_rs::Result<()> {
    write_section(object, ".bss.begun", &bytes(&[u64::from(begun)]))
}

/// Words of the comparison.
pub(super) struct Comparison {
    counts: List,
    difference: List,
    sites: List,
    published: [bool; SIGNALS.len()],
}

impl Comparison {
    pub fn new(has_rules: bool) -> Comparison {
        let published = SIGNALS.map(|(_, tracepoint)| has_rules && has_tracepoint(tracepoint).unwrap_or(false));
        let list = |name| List::in_text(LISTS, name);
        Comparison {
            counts: list("LIVE_COMPARED"),
            difference: list("LIVE_DIFFERENCE"),
            sites: list("LIVE_SITES"),
            published,
        }
    }

    /// Every signal.
    pub fn of(&self, object: &Object) -> Vec<Compared> {
        let (counts, differences) = (section(object, ".bss.compared"), section(object, ".bss.differ"));
        let able = section(object, ".bss.able").first().is_some_and(|able| *able != 0);
        let signal = |at: usize| {
            let width = self.counts.names.len();
            let sum = |name: &str| {
                let rows = counts.chunks_exact(width).skip(at).step_by(SIGNALS.len());
                rows.map(|row| self.counts.of(row, name)).sum()
            };
            let row = differences.chunks_exact(self.difference.names.len()).nth(at).unwrap_or_default();
            Compared {
                signal: SIGNALS[at].0,
                published: able && self.published[at],
                events: sum("events"),
                equal: sum("equal"),
                first: sum("first"),
                different: sum("different"),
                unseen: sum("unseen"),
                looks: sum("looks"),
                example: (self.difference.of(row, "nr") > 0).then(|| self.example(row)),
            }
        };
        (0..SIGNALS.len()).map(signal).collect()
    }

    fn example(&self, row: &[u64]) -> Difference {
        let of = |name: &str| self.difference.of(row, name);
        let averages = |prefix: &str| Averages {
            last_update_time: of(&format!("{prefix}_last_update_time")),
            load_sum: of(&format!("{prefix}_load_sum")),
            runnable_sum: of(&format!("{prefix}_runnable_sum")),
            util_sum: of(&format!("{prefix}_util_sum")),
            period_contrib: of(&format!("{prefix}_period_contrib")),
            load_avg: of(&format!("{prefix}_load_avg")),
            runnable_avg: of(&format!("{prefix}_runnable_avg")),
            util_avg: of(&format!("{prefix}_util_avg")),
        };
        Difference {
            cpu: of("cpu"),
            at: self.sites.names.get(of("site") as usize).map_or_else(String::new, |name| name.to_lowercase()),
            weight: of("weight"),
            flags: of("flags"),
            flags_before: of("flags_before"),
            moved: of("moved") != 0,
            before: averages("before"),
            core: averages("core"),
            kernel: averages("kernel"),
        }
    }
}
