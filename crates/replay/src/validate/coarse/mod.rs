// SPDX-License-Identifier: GPL-2.0-or-later
//! Averages of a trace against signals rebuilt from its schedule, with the tolerance of [`super::tolerance`].
//!
//! The signals start at the first recorded value of each object and run free from there: recorded values are compared,
//! not taken over. They are taken over again only where a task came or went whose own utilization the trace had not
//! shown.

mod cpus;
mod curve;
mod errors;
mod levels;
mod lingering;
pub mod machine;
mod told;

use std::collections::BTreeMap;

use pelton_core::{Policy, decay_load, ramp, runs, value};
use pelton_model::Machine as Platform;
use pelton_schema::{CPU_UNKNOWN, Event, STATE_DEAD, STATE_RUNNABLE};
use pelton_trace::RunHeader;
use pelton_trace::import::{Format, Timed, TraceInfo};

use super::engine::class_of;
use super::report::Report;
use super::survey::{CPUS_MAX, Survey};
use super::tolerance::{AVERAGES, JUMPS_PERMILLE_MAX, Tolerance};
pub use cpus::CpuTable;
use curve::Curve;
use errors::Errors;
use levels::Groups;
use machine::{Fate, Machine, Side};

/// Columns that mean something in this trace.
#[derive(Clone, Copy, Debug)]
struct Columns {
    prio: bool,
    cpu_of_task: bool,
    task_util: bool,
    task_runnable: bool,
    queue_util: bool,
    queue_runnable: bool,
}

impl Columns {
    fn of(info: &TraceInfo) -> Columns {
        // Our own runs have the ratio of newer kernels, or none.
        let own = info.format == Format::PeltonLog;
        Columns {
            prio: info.carries("sched_switch", "next_prio"),
            cpu_of_task: info.carries("pelt_se", "cpu"),
            task_util: info.carries("pelt_se", "util_avg"),
            task_runnable: !own && info.carries("pelt_se", "runnable_avg"),
            queue_util: info.carries("pelt_cfs", "util_avg"),
            queue_runnable: !own && info.carries("pelt_cfs", "runnable_avg"),
        }
    }
}

/// Compared quantities, in the words of the report.
const QUEUE_UTIL: &str = "util_avg of CPUs";
const GROUP_UTIL: &str = "util_avg of task groups on CPUs";
const QUEUE_OCCUPIED: &str = "runnable ratio of CPUs";
const TASK_UTIL: &str = "util_avg of tasks";
const TASK_RUNNABLE: &str = "runnable ratio of tasks";
const RT_UTIL: &str = "util_avg of the RT class";
const DL_UTIL: &str = "util_avg of the deadline class";
const CURVE: &str = "util_avg of CPUs without a schedule";
/// Names under which values of an event are compared.
pub const COMPARED_TASKS: &[&str] = &[TASK_UTIL, TASK_RUNNABLE];
pub const COMPARED_CPUS: &[&str] = &[QUEUE_UTIL, QUEUE_OCCUPIED, CURVE];
pub const COMPARED_GROUPS: &[&str] = &[GROUP_UTIL];
pub const COMPARED_RT: &[&str] = &[RT_UTIL];
pub const COMPARED_DL: &[&str] = &[DL_UTIL];

/// A comparison under way.
#[derive(Debug)]
pub struct Coarse {
    pol: Policy,
    columns: Columns,
    survey: Survey,
    table: CpuTable,
    /// The rebuilt machine.
    pub machine: Machine,
    curves: BTreeMap<u32, Curve>,
    errors: BTreeMap<&'static str, Errors>,
    /// Values taken over.
    taken_over: u64,
    /// The last recorded value of each queue, and how far its clock was behind then.
    last: BTreeMap<u32, Last>,
    /// Values of queues that do not fit, by CPU and what on it, until it is clear whether a task that came or went
    /// explains them.
    waiting: BTreeMap<(u32, Of), Waiting>,
    /// The value that was last taken over for each queue, and when.
    taken: BTreeMap<u32, (u64, u32)>,
    /// Some task has clamps.
    capped: bool,
    /// Changes of a queue that neither running nor idle time explains.
    jumps: u64,
    /// A quota stopped some group.
    throttled: bool,
    /// Time in interrupts is charged to no task.
    interrupts: bool,
}

impl Coarse {
    /// Before the second reading of a trace.
    pub fn new(pol: Policy, platform: Option<&Platform>, survey: &Survey, info: &TraceInfo) -> Coarse {
        let table = CpuTable::new(platform, survey);
        // A run of ours records the group of each task, from the start.
        let is_run = info.header.as_ref().is_some_and(RunHeader::is_simulated);
        let groups = if is_run { Groups::of(&info.groups) } else { Groups::default() };
        let machine = Machine::new(pol, table.clone(), survey.groups > 0, groups);
        Coarse {
            pol,
            columns: Columns::of(info),
            survey: survey.clone(),
            table,
            machine,
            curves: BTreeMap::new(),
            errors: BTreeMap::new(),
            taken_over: 0,
            last: BTreeMap::new(),
            waiting: BTreeMap::new(),
            taken: BTreeMap::new(),
            capped: false,
            jumps: 0,
            throttled: false,
            interrupts: info.format == Format::PeltonLog || survey.interrupts > 0,
        }
    }

    fn side(&self, tid: u32, prio: u32) -> Side {
        let class = if self.columns.prio { class_of(tid, prio) } else { class_of(tid, 120) };
        Side { tid, class }
    }

    fn fate(&self, prev_state: u32) -> Fate {
        match prev_state {
            STATE_DEAD => Fate::Dies,
            // A table of runs does not say why one ended; a task that is not running is taken for asleep.
            STATE_RUNNABLE if self.columns.prio => Fate::Waits,
            _ => Fate::Sleeps,
        }
    }

    /// The next event.
    pub fn event(&mut self, timed: &Timed) {
        let now = timed.time_ns;
        self.give_up_waiting(now);
        self.machine.pass_interrupts(now);
        self.handle(now, &timed.event);
        self.moved(now);
    }

    /// Takes a move, which kernels record after the queues have changed: a value that did not fit counts for the moment
    /// after it.
    fn moved(&mut self, now: u64) {
        // A value that was taken over in this moment is without the task already.
        for cpu in std::mem::take(&mut self.machine.left) {
            self.machine.hold_groups(now, cpu);
            if let Some(&(at, util)) = self.taken.get(&cpu)
                && at == now
            {
                self.machine.learn_queue(now, cpu, util);
            }
        }
        for cpu in std::mem::take(&mut self.machine.changed) {
            let here: Vec<Of> = self.waiting.range((cpu, Of::ROOT)..=(cpu, Of::LAST)).map(|(key, _)| key.1).collect();
            here.into_iter().for_each(|of| self.moved_on(now, cpu, of));
        }
    }

    /// A task came to a CPU or left it: does that explain the value of a queue there?
    fn moved_on(&mut self, now: u64, cpu: u32, of: Of) {
        let Some(waiting) = self.waiting.remove(&(cpu, of)) else { return };
        if of != Of::ROOT {
            let after = self.machine.group_util(cpu, of.group, of.entity);
            return self.compare(GROUP_UTIL, waiting.nearer(after.unwrap_or(waiting.ours)), waiting.recorded);
        }
        self.machine.refresh(now, cpu);
        self.machine.resolve(now, cpu, waiting.recorded);
        match self.machine.cpu(cpu).filter(|_| self.machine.is_known(cpu, now)) {
            Some(c) => self.compare(QUEUE_UTIL, waiting.nearer(c.rq.cfs.avg.util_avg), waiting.recorded),
            None => self.take_over(now, cpu, waiting.recorded),
        }
    }

    /// No task moved: the value stands as it is.
    fn give_up_waiting(&mut self, now: u64) {
        let late = |(_, waiting): &(&(u32, Of), &Waiting)| now.saturating_sub(waiting.since) > MOVE_NS;
        while let Some(key) = self.waiting.iter().find(late).map(|(key, _)| *key) {
            self.settle(key);
        }
    }

    fn settle(&mut self, (cpu, of): (u32, Of)) {
        match self.waiting.remove(&(cpu, of)) {
            Some(Waiting { since, recorded, is_jump: true, .. }) => {
                self.take_over(since, cpu, recorded);
                self.jumps += 1;
            }
            Some(waiting) => self.compare(of.what(), waiting.ours, waiting.recorded),
            None => {}
        }
    }

    fn take_over(&mut self, now: u64, cpu: u32, util: u32) {
        self.machine.learn_queue(now, cpu, util);
        self.taken.insert(cpu, (now, util));
        self.taken_over += 1;
    }

    fn handle(&mut self, now: u64, event: &Event) {
        if let Event::PeltSe { cpu, tid, .. } = *event {
            self.machine.arrives(now, cpu, tid);
        }
        match *event {
            Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
                let (prev, next) = (self.side(prev_tid, prev_prio), self.side(next_tid, next_prio));
                self.machine.switch(now, cpu, prev, next, self.fate(prev_state));
            }
            Event::SchedWaking { tid, .. } => self.machine.waking(tid),
            Event::SchedWakeup { tid, prio, target_cpu, .. } => self.woken(now, tid, prio, target_cpu, false),
            Event::SchedWakeupNew { tid, prio, target_cpu, .. } => self.woken(now, tid, prio, target_cpu, true),
            Event::SchedMigrateTask { tid, dest_cpu, .. } => self.machine.migrate(now, tid, dest_cpu),
            Event::SchedProcessExit { tid, .. } => self.machine.exit(now, tid),
            Event::CpuFrequency { cpu, freq_khz } => self.frequency(now, cpu, freq_khz),
            Event::CfsThrottle { .. } => self.throttled = true,
            Event::IrqEntry { cpu, .. } | Event::SoftirqEntry { cpu, .. } if self.interrupts => {
                self.machine.enter_interrupt(now, cpu);
            }
            Event::IrqExit { cpu, .. } | Event::SoftirqExit { cpu, .. } => self.machine.leave_interrupt(cpu),
            Event::LostEvents { cpu: CPU_UNKNOWN, .. } => self.machine.lose_all(now),
            Event::LostEvents { cpu, .. } => self.machine.lose(now, cpu),
            Event::PeltCfs { cpu, util_avg, runnable_avg, .. } => self.queue(now, cpu, util_avg, runnable_avg),
            Event::PeltSe { cpu, tid, util_avg, runnable_avg, .. } => self.task(now, cpu, tid, util_avg, runnable_avg),
            Event::PeltRt { cpu, util_avg } => self.class(now, cpu, RT_UTIL, util_avg),
            Event::PeltDl { cpu, util_avg } => self.class(now, cpu, DL_UTIL, util_avg),
            Event::PeltGroup { cpu, group, entity, util_avg, .. } => {
                self.group(now, cpu, Of { group, entity: entity != 0 }, util_avg);
            }
            Event::TaskAttributes { tid, uclamp_min, uclamp_max, group, .. } => {
                self.capped |= (uclamp_min, uclamp_max) != (0, 1024);
                self.machine.join_group(now, tid, group);
            }
            Event::TaskGroup { uclamp_min, uclamp_max, .. } => self.capped |= (uclamp_min, uclamp_max) != (0, 1024),
            // A tick, and a choice of the governor, come with the clock: time before them passed at the speed before
            // them.
            Event::PeltHw { cpu, .. } | Event::FreqDecision { cpu, .. } => self.machine.update_clock(now, cpu),
            _ => {}
        }
    }

    fn woken(&mut self, now: u64, tid: u32, prio: u32, cpu: u32, is_new: bool) {
        if self.side(tid, prio).class == runs::FAIR && (cpu as usize) < CPUS_MAX {
            self.machine.enqueue(now, tid, cpu, is_new);
        }
    }

    fn frequency(&mut self, now: u64, cpu: u32, khz: u32) {
        self.machine.frequency(now, cpu, khz);
        if let Some(curve) = self.curves.get_mut(&cpu) {
            curve.frequency(now, khz);
        } else if self.needs_curve(cpu) {
            self.curve(cpu).frequency(now, khz);
        }
    }

    fn needs_curve(&self, cpu: u32) -> bool {
        !self.survey.switched.contains(&cpu) && self.columns.queue_util && self.curves.len() < CPUS_MAX
    }

    fn curve(&mut self, cpu: u32) -> &mut Curve {
        let (pol, table) = (&self.pol, &self.table);
        self.curves.entry(cpu).or_insert_with(|| Curve::new(pol, table.capacity(cpu), table.reference(cpu)))
    }

    fn compare(&mut self, what: &'static str, ours: u64, recorded: u32) {
        self.errors.entry(what).or_default().add(ours, recorded.into());
    }

    /// A recorded value of a CPU's queue.
    fn queue(&mut self, now: u64, cpu: u32, util: u32, runnable: u32) {
        if self.needs_curve(cpu) || self.curves.contains_key(&cpu) {
            let pol = self.pol;
            self.curve(cpu).value(&pol, now, util);
            return;
        }
        self.machine.refresh(now, cpu);
        self.machine.arrivals(now, cpu, util.into());
        let known = self.machine.is_known(cpu, now);
        if self.columns.queue_util {
            self.queue_util(now, cpu, util, known);
        }
        // Before 5.7 the value of a queue says whether a task was runnable; later it counts them.
        if self.columns.queue_runnable && known && self.is_ratio(runnable) {
            let ours = self.machine.occupied(cpu);
            self.compare(QUEUE_OCCUPIED, ours, runnable);
        }
    }

    fn queue_util(&mut self, now: u64, cpu: u32, util: u32, known: bool) {
        // A balance takes all its tasks from one queue and then puts them on the other: between two of one instant the
        // second queue has not all that have left the first.
        let key = (cpu, Of::ROOT);
        if self.waiting.get(&key).is_some_and(|waiting| waiting.since == now) {
            self.waiting.remove(&key);
        }
        self.settle(key);
        if known {
            self.machine.resolve(now, cpu, util);
        }
        let lag_ns = self.machine.lag_ns(cpu);
        // A value taken over in this moment is recorded once more.
        self.taken.entry(cpu).and_modify(|taken| taken.1 = if taken.0 == now { util } else { taken.1 });
        let last = self.last.insert(cpu, Last { now, util, lag_ns });
        let Some(c) = self.machine.cpu(cpu).filter(|_| known) else { return self.take_over(now, cpu, util) };
        let ours = c.rq.cfs.avg.util_avg;
        if Tolerance::permille(ours.abs_diff(util.into())) > AVERAGES.mean_permille {
            let is_jump = last.is_some_and(|last| last.is_jump(now, util));
            self.waiting.insert(key, Waiting { since: now, recorded: util, ours, is_jump });
        } else {
            self.compare(QUEUE_UTIL, ours, util);
        }
    }

    /// A recorded value of a group's queue on a CPU, or of its entity.
    fn group(&mut self, now: u64, cpu: u32, of: Of, util: u32) {
        if !self.machine.tells_groups() || (cpu as usize) >= CPUS_MAX {
            return;
        }
        let key = (cpu, of);
        if self.waiting.get(&key).is_some_and(|waiting| waiting.since == now) {
            self.waiting.remove(&key);
        }
        self.settle(key);
        self.machine.arrivals_in(now, cpu, (of.group, of.entity), util.into());
        let Some(ours) = self.machine.update_group(now, cpu, (of.group, of.entity), util) else {
            self.taken_over += 1;
            return;
        };
        if Tolerance::permille(ours.abs_diff(util.into())) > AVERAGES.mean_permille {
            self.waiting.insert(key, Waiting { since: now, recorded: util, ours, is_jump: false });
        } else {
            self.compare(GROUP_UTIL, ours, util);
        }
    }

    /// True when a value is a share of time. Where load has events of its own, a zero may be the column they lack.
    fn is_ratio(&self, runnable: u32) -> bool {
        self.pol.runnable_signal != value::RUNNABLE_SIGNAL_ON && (self.survey.load_only == 0 || runnable != 0)
    }

    /// A recorded value of a task.
    fn task(&mut self, now: u64, cpu: u32, tid: u32, util: u32, runnable: u32) {
        // Where the trace does not name the CPU, the one the task was last seen on counts.
        let cpu = if self.columns.cpu_of_task { cpu } else { self.machine.home(tid).unwrap_or(cpu) };
        self.machine.refresh(now, cpu);
        let values = self.machine.task_values(now, tid, cpu);
        let Some((ours_util, ours_load)) = values else {
            if self.columns.task_util {
                self.machine.learn_task(now, tid, cpu, util);
                self.taken_over += 1;
            }
            return;
        };
        if self.columns.task_util {
            self.compare(TASK_UTIL, ours_util, util);
        }
        if self.columns.task_runnable && self.is_ratio(runnable) {
            self.compare(TASK_RUNNABLE, ours_load, runnable);
        }
    }

    /// A recorded value of another class.
    fn class(&mut self, now: u64, cpu: u32, what: &'static str, util: u32) {
        if self.needs_curve(cpu) || self.curves.contains_key(&cpu) {
            return;
        }
        self.machine.refresh_classes(now, cpu);
        // These signals are never taken over: they start from nothing and count once load tracking has forgotten the
        // rest.
        if let Some(c) = self.machine.cpu(cpu).filter(|c| c.ran_for(now)) {
            let avg = if what == RT_UTIL { c.rq.rt } else { c.rq.dl };
            self.compare(what, avg.util_avg, util);
        }
    }

    fn finish_curves(&self, report: &mut Report) {
        let (mut jumps, mut together) = (0, true);
        for (cpu, curve) in &self.curves {
            (jumps, together) = (jumps + curve.jumps, together && curve.holds_together());
            if curve.errors.n() > 0 {
                add(report, &format!("{CURVE}, CPU {cpu}"), &curve.errors, curve.holds_together());
            }
        }
        if jumps > 0 {
            let limit = if together { "not more" } else { "more" };
            report.remarks.push(format!("curves: {jumps} steps are no running and begin anew, {limit} than allowed"));
        }
    }

    /// True when clamps take from averages under this policy, and the amount is not recorded.
    fn cuts_averages(&self) -> bool {
        self.capped && [value::UCLAMP_BIAS, value::UCLAMP_BIAS_WEIGHTED].contains(&self.pol.uclamp)
    }

    /// Averages of tasks whose group is over its quota stand still, which is not rebuilt: traces of kernels do not name
    /// these tasks. They are part of their CPU's average, which is not known either then.
    fn forget_throttled(&mut self, report: &mut Report) {
        let why = match self.machine.tells_groups() {
            true => "a quota stopped a task group: whose averages stand still then is not rebuilt",
            false => "a quota stopped a task group, and which tasks are in it is not recorded",
        };
        let fair = [QUEUE_UTIL, GROUP_UTIL, QUEUE_OCCUPIED, TASK_UTIL, TASK_RUNNABLE];
        for what in fair.into_iter().filter(|what| self.throttled && self.errors.remove(what).is_some()) {
            report.skip(what, why);
            self.jumps = 0;
        }
    }

    /// Writes the results down.
    pub fn finish(mut self, report: &mut Report) {
        if self.cuts_averages() {
            return report.skip("averages against the schedule", "clamps of this form are taken out of averages");
        }
        self.waiting.keys().copied().collect::<Vec<_>>().into_iter().for_each(|key| self.settle(key));
        self.forget_throttled(report);
        for (what, errors) in &self.errors {
            let few = self.jumps * 1000 <= (errors.n() + self.jumps) * JUMPS_PERMILLE_MAX;
            add(report, what, errors, *what != QUEUE_UTIL || few);
        }
        if self.jumps > 0 {
            report.remarks.push(format!(
                "{} changes of a CPU's utilization are faster than running or idle time: tasks came or went without an event; at most {} of \
                 1000 are allowed",
                self.jumps, JUMPS_PERMILLE_MAX
            ));
        }
        self.finish_curves(report);
        if self.taken_over > 0 {
            report.remarks.push(format!(
                "{} recorded averages were taken over: first values, and values after one of {} moves of tasks whose utilization \
                 was not known",
                self.taken_over, self.machine.unknown_moves
            ));
        }
        if self.machine.unsure_clocks > 0 {
            report.remarks.push(format!(
                "{} changes of frequency found a busy CPU whose clock had not been seen for long: at which speed that time counted is \
                 not told, and averages were taken over behind them",
                self.machine.unsure_clocks
            ));
        }
        if self.machine.lingered > 0 {
            report.remarks.push(format!(
                "{} tasks ended while there are groups: their utilization leaves a CPU when their group is next updated, which is not \
                 told; where values do not fit without them those with them count",
                self.machine.lingered
            ));
        }
        if self.survey.groups > 0 && !self.machine.tells_groups() {
            report.skip("averages of task groups", "which tasks are in a group is not recorded");
        }
        if !self.errors.is_empty() && self.table.has_assumed_frequencies() {
            report.remarks.push("the trace tells no frequency: every CPU is taken to run at its full speed".to_owned());
        }
    }
}

/// A recorded value of a queue.
#[derive(Clone, Copy, Debug)]
struct Last {
    now: u64,
    util: u32,
    lag_ns: u64,
}

/// A queue on a CPU: its own, or that of a group, or the entity of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Of {
    group: u32,
    entity: bool,
}

impl Of {
    const ROOT: Of = Of { group: 0, entity: false };
    const LAST: Of = Of { group: u32::MAX, entity: true };

    fn what(self) -> &'static str {
        if self == Of::ROOT { QUEUE_UTIL } else { GROUP_UTIL }
    }
}

/// Longest time between the change of a queue and the event of the move, ns.
const MOVE_NS: u64 = 100_000;

/// A value of a queue further from ours than the mean may be.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: u64,
    recorded: u32,
    ours: u64,
    is_jump: bool,
}

impl Waiting {
    /// Ours before or after a move.
    fn nearer(&self, after: u64) -> u64 {
        let error = |ours: u64| ours.abs_diff(self.recorded.into());
        if error(self.ours) < error(after) { self.ours } else { after }
    }
}

impl Last {
    /// True when a later value rose faster than a CPU at full speed can make it, or fell faster than idle time does:
    /// an entity joined or left. Two periods are allowed for where in a period the values stand, and that the clock
    /// catches up what it was behind.
    fn is_jump(&self, now: u64, to: u32) -> bool {
        const PERIOD_UNITS: u64 = 1024;
        let units = now.saturating_sub(self.now) / 1024;
        let rising = u32::try_from(units + PERIOD_UNITS).unwrap_or(u32::MAX);
        let most = u64::from(ramp(self.util.min(1024), rising).max(self.util));
        let least = decay_load(self.util.into(), (2 * units + self.lag_ns / 1024) / PERIOD_UNITS + 2);
        let to = u64::from(to);
        to > most + 2 || to + 2 < least
    }
}

/// One comparison; with too few samples it is not measured.
fn add(report: &mut Report, what: &str, errors: &Errors, sound: bool) {
    match errors.comparison(what.to_owned(), &AVERAGES) {
        Some(comparison) => report.comparisons.push(super::Comparison { ok: comparison.ok && sound, ..comparison }),
        None => report
            .skip(&format!("{what} ({} values)", errors.n()), "too few values that do not follow at once from others"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_and_idle_time_are_no_jumps_and_no_value_is_too_large_to_ask() {
        let last = |util| Last { now: 0, util, lag_ns: 0 };
        let ms = 1_024_000;
        assert!(
            !last(300).is_jump(4 * ms, 360) && last(300).is_jump(4 * ms, 500),
            "a CPU gains about 21 of 1024 per ms"
        );
        assert!(!last(600).is_jump(4 * ms, 540) && last(600).is_jump(4 * ms, 300));
        assert!(!last(u32::MAX).is_jump(0, u32::MAX) && last(0).is_jump(u64::MAX, u32::MAX));
    }
}
