// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded clamps of a real kernel, computed again by the core.
//!
//! The clamps of each CPU and task are carried from record to record: each must be what the core makes of the one
//! before. What a record says is taken over afterwards, so that one difference counts once. Not decided is what begins
//! a chain: the first record of a CPU, or of a task that is already runnable, and what follows a record that was lost.

mod fault;
mod table;

pub use fault::Fault;
pub use table::{Kind, Record, Records, Target, is_header};

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pelton_core::{CpuState, Policy, UclampRq, UclampTask, apply_headroom, cpu_bw_dl, group_clamps};
use pelton_trace::import::{ImportError, open_bytes};
use schemars::JsonSchema;
use serde::Serialize;

/// Number of differences that are kept.
const SAMPLES_MAX: usize = 20;

/// Counts of decisions about clamps of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ClampTally")]
pub struct Tally {
    /// Decisions.
    pub decisions: u64,
    /// Those of which too little is known.
    pub not_decided: u64,
    /// Those that differ.
    pub divergent: u64,
}

impl Tally {
    fn count(&mut self, outcome: &Outcome) {
        self.decisions += 1;
        match outcome {
            Outcome::NotDecided => self.not_decided += 1,
            Outcome::Decided(what) => self.divergent += u64::from(!what.is_empty()),
        }
    }
}

/// A part of a decision about clamps that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ClampPart")]
pub struct Part {
    /// Name of the part.
    pub what: &'static str,
    /// The kernel's.
    pub kernel: u64,
    /// Ours.
    pub ours: u64,
}

type Differs = Vec<Part>;

/// Outcome of one decision.
enum Outcome {
    NotDecided,
    Decided(Differs),
}

/// A decision about clamps that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ClampDifference")]
pub struct Difference {
    /// Line of the table.
    pub line: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Task; 0 for a performance target.
    pub tid: u32,
    /// The kernel's function.
    pub kind: &'static str,
    /// Parts that differ.
    pub what: Vec<Part>,
}

/// Counts of decisions about clamps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ClampCounts")]
pub struct Report {
    /// All.
    #[serde(flatten)]
    pub all: Tally,
    /// By the kernel's function.
    pub by_kind: BTreeMap<&'static str, Tally>,
    /// The first differences, a list of their own in results.
    #[serde(skip)]
    pub samples: Vec<Difference>,
}

impl Report {
    fn count(&mut self, kind: &'static str, record: &Record, outcome: Outcome) {
        self.all.count(&outcome);
        self.by_kind.entry(kind).or_default().count(&outcome);
        let Outcome::Decided(what) = outcome else { return };
        if what.is_empty() || self.samples.len() >= SAMPLES_MAX {
            return;
        }
        let Record { line, time_ns, cpu, tid, .. } = *record;
        self.samples.push(Difference { line, time_ns, cpu, tid, kind, what });
    }
}

/// Computes a whole recording again, with one `fault` in the rules. `watch` is called now and then; false ends it.
///
/// # Errors
/// When the recording cannot be read.
pub fn validate(
    path: &Path,
    policy: &Policy,
    fault: Option<Fault>,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    let mut table = Records::new(path, open_bytes(path)?)?;
    let mut world =
        World { policy: *policy, cpus: BTreeMap::new(), tasks: BTreeMap::new(), throttled: BTreeSet::new(), fault };
    let mut arrivals = Arrivals::default();
    let mut report = Report::default();
    while let Some(record) = table.next_record()? {
        if record.line % 1024 == 0 && !watch(record.line) {
            break;
        }
        match record.kind {
            Kind::Util => report.count("effective_cpu_util", &record, util(policy, &record, fault)),
            Kind::Perf => report.count("sugov_effective_cpu_perf", &record, perf(policy, &record)),
            Kind::Enqueue | Kind::Dequeue => {
                arrivals.note(record.tid, record.group.asked);
                let function = if record.kind == Kind::Enqueue { "uclamp_rq_inc" } else { "uclamp_rq_dec" };
                report.count(function, &record, world.step(&record));
            }
            Kind::Update => {
                let may_be_old = record.target.changed | arrivals.take(record.tid, record.group.asked);
                report.count("uclamp_update_active", &record, world.step(&record));
                report.count("cpu_util_update_eff", &record, group(&record, may_be_old, fault));
            }
        }
    }
    Ok(report)
}

/// State of a CPU as far as it is known.
#[derive(Clone, Copy, Debug)]
struct Cpu {
    clamps: UclampRq,
    /// Number of its last record.
    order: u64,
    /// Clamps were in use.
    used: Option<bool>,
}

/// Tasks that came to another group, by what their groups ask for. An update of limits goes from the groups above to
/// those below: a task that was listed above and comes to a group below meanwhile is counted again before that group's
/// limits are updated.
#[derive(Debug, Default)]
struct Arrivals(BTreeMap<u32, ((u32, u32), bool)>);

impl Arrivals {
    /// A task and what its group asks for.
    fn note(&mut self, tid: u32, asked: (u32, u32)) {
        let known = self.0.entry(tid).or_insert((asked, false));
        known.1 |= known.0 != asked;
        known.0 = asked;
    }

    /// The task is counted again: is that the first time since it came?
    fn take(&mut self, tid: u32, asked: (u32, u32)) -> bool {
        self.0.insert(tid, (asked, false)).is_some_and(|(_, came)| came)
    }
}

/// All that is carried from record to record.
#[derive(Debug)]
struct World {
    policy: Policy,
    cpus: BTreeMap<u32, Cpu>,
    tasks: BTreeMap<u32, UclampTask>,
    /// Tasks that a quota took off.
    throttled: BTreeSet<u32>,
    fault: Option<Fault>,
}

impl World {
    /// A task becomes runnable or stops being so, or is about to be counted again.
    fn step(&mut self, record: &Record) -> Outcome {
        let before = self.cpus.get(&record.cpu).copied();
        // Between two records of a CPU nothing may be missing. The moment at which clamps come into use is none of
        // both.
        let chained =
            before.filter(|cpu| cpu.order + 1 == record.order && cpu.used.is_some() && cpu.used == record.used);
        let known = self.tasks.get(&record.tid).copied();
        let outcome = chained.map_or(Outcome::NotDecided, |cpu| self.decide(record, cpu.clamps, known));
        self.take_over(record);
        outcome
    }

    fn decide(&self, record: &Record, mut clamps: UclampRq, known: Option<UclampTask>) -> Outcome {
        if record.kind == Kind::Dequeue && record.counts() && known.is_none() {
            return Outcome::NotDecided;
        }
        let mut task = UclampTask { requested: record.task.requested, ..known.unwrap_or_default() };
        let (mut limits, faults) = (record.limits, self.fault);
        faults.inspect(|fault| fault.limits(&mut limits));
        match record.kind {
            // A task that a quota took off is still counted. Any other is counted now, even where it is marked as
            // counted: while clamps come into use, tasks are counted a moment before they are taken off again.
            Kind::Enqueue if record.counts() && !self.throttled.contains(&record.tid) => {
                faults.inspect(|fault| fault.before(&mut clamps));
                clamps.inc(&self.policy, &mut task, &limits);
            }
            Kind::Dequeue if record.counts() => {
                clamps.dec(&mut task);
                faults.inspect(|fault| fault.left_over(&mut clamps));
            }
            _ => {}
        }
        faults.inspect(|fault| fault.buckets(&mut task));
        let mut what = Differs::new();
        runqueue(&record.clamps, &clamps, &mut what);
        if known.is_some() || task.active != [0, 0] {
            of_task(&record.task, &task, &mut what);
        }
        // Limits that changed at this moment may have been read before or after.
        if !what.is_empty() && record.updating && record.kind == Kind::Enqueue {
            Outcome::NotDecided
        } else {
            Outcome::Decided(what)
        }
    }

    /// Takes over the record's values, since the kernel's word holds. The values to which a task is counted again are
    /// not recorded: the next record must have them.
    fn take_over(&mut self, record: &Record) {
        let (mut clamps, mut task) = (record.clamps, record.task);
        if record.kind == Kind::Update && record.used == Some(true) {
            let mut limits = record.limits;
            self.fault.inspect(|fault| fault.limits(&mut limits));
            clamps.update(&self.policy, &mut task, &limits, [true, true]);
        }
        // Whether it was counted again at such a moment is not known.
        if record.kind == Kind::Update && record.used.is_none() {
            self.tasks.remove(&record.tid);
        } else {
            self.tasks.insert(record.tid, task);
        }
        match record.kind {
            Kind::Dequeue if record.throttled => _ = self.throttled.insert(record.tid),
            Kind::Enqueue | Kind::Dequeue => _ = self.throttled.remove(&record.tid),
            _ => {}
        }
        self.cpus.insert(record.cpu, Cpu { clamps, order: record.order, used: record.used });
    }
}

fn differ(name: &'static str, kernel: u32, ours: u32, what: &mut Differs) {
    if kernel != ours {
        what.push(Part { what: name, kernel: kernel.into(), ours: ours.into() });
    }
}

fn runqueue(kernel: &UclampRq, ours: &UclampRq, what: &mut Differs) {
    for (name, at) in [("lower clamp of the CPU", 0), ("upper clamp of the CPU", 1)] {
        differ(name, kernel.value[at], ours.value[at], what);
    }
    differ("left over", kernel.idle, ours.idle, what);
    let sides = [
        ("tasks of a lower bucket", "value of a lower bucket", &kernel.min, &ours.min),
        ("tasks of an upper bucket", "value of an upper bucket", &kernel.max, &ours.max),
    ];
    for (tasks, value, kernel, ours) in sides {
        for (kernel, ours) in kernel.iter().zip(ours) {
            differ(tasks, kernel.tasks, ours.tasks, what);
            differ(value, kernel.value, ours.value, what);
        }
    }
}

fn of_task(kernel: &UclampTask, ours: &UclampTask, what: &mut Differs) {
    for id in 0..2 {
        differ("clamp of the task", kernel.value[id], ours.value[id], what);
        differ("bucket of the task", kernel.bucket[id], ours.bucket[id], what);
        differ("task counted", kernel.active[id], ours.active[id], what);
    }
}

/// The clamps of a group in force, when its tasks are counted again because of them.
/// `may_be_old`: the group of a task that moves is not the one whose tasks are counted again.
fn group(record: &Record, may_be_old: bool, fault: Option<Fault>) -> Outcome {
    let mut above = record.group.above;
    fault.inspect(|fault| fault.above(&mut above));
    let ours = group_clamps(above, record.group.asked);
    let mut what = Differs::new();
    differ("lower clamp of the group", record.group.in_force.0, ours.0, &mut what);
    differ("upper clamp of the group", record.group.in_force.1, ours.1, &mut what);
    if may_be_old && !what.is_empty() { Outcome::NotDecided } else { Outcome::Decided(what) }
}

/// Decides again the request of a CPU with its limits.
fn util(policy: &Policy, record: &Record, fault: Option<Fault>) -> Outcome {
    // While clamps come into use, limits count from a moment on that no record shows.
    let Some(used) = record.used else { return Outcome::NotDecided };
    let Target { util, scale, irq, rt, dl, dl_bw, rt_nr, min, max, changed, .. } = record.target;
    let mut state = CpuState {
        cap_orig: scale,
        util_cfs: util,
        util_irq: irq,
        util_rt: rt,
        util_dl: dl,
        bw_dl: cpu_bw_dl(dl_bw),
        rt_nr_running: rt_nr,
        uclamp_min: min,
        uclamp_max: max,
        uclamp_used: used.into(),
        ..CpuState::default()
    };
    fault.inspect(|fault| fault.target(&mut state));
    let (ours, terms) = state.effective_util(policy);
    let mut what = Differs::new();
    differ("effective utilization", record.target.out, ours, &mut what);
    differ("lower limit", record.target.out_min, terms.min, &mut what);
    differ("upper limit", record.target.out_max, terms.max, &mut what);
    // Something it reads changed while it was worked out.
    if changed && !what.is_empty() { Outcome::NotDecided } else { Outcome::Decided(what) }
}

/// The performance target within the limits.
fn perf(policy: &Policy, record: &Record) -> Outcome {
    let Target { util, min, max, out, .. } = record.target;
    let mut what = Differs::new();
    differ("performance target", out, apply_headroom(policy, util, min, max), &mut what);
    Outcome::Decided(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_two_columns_of_one_name_is_refused() {
        let read = |text: &'static str| Records::new(Path::new("x.csv"), Box::new(text.as_bytes()));
        let wrong = read("order,act_min,order\n1,2,3\n").err().expect("refused").to_string();
        assert!(wrong.contains("has two columns `order`, 1 and 3"), "{wrong}");
        assert!(read("order,act_min\n1,2\n").is_ok());
    }

    #[test]
    fn a_task_has_come_until_it_is_counted_again() {
        let mut arrivals = Arrivals::default();
        let (old, new) = ((59, 281), (862, 1024));
        arrivals.note(7, old);
        assert!(!arrivals.take(7, old), "it was there");
        arrivals.note(7, new);
        arrivals.note(7, new);
        assert!(arrivals.take(7, new) && !arrivals.take(7, new));
        assert!(!arrivals.take(7, old), "its group asks for something else");
        assert!(!arrivals.take(8, old), "not known");
    }
}
