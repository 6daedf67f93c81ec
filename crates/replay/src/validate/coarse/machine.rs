// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs and tasks of a trace, rebuilt from switches, wake-ups, migrations and frequencies: each event is handed to the
//! core's function of the same kind, so that its signals are those the kernel should have had.

use std::collections::BTreeMap;

use pelton_core::{Avg, CfsRq, Ctx, Policy, Rq, Se, dequeue, freq_scale, runs, value};

use super::cpus::CpuTable;
use super::levels::{Groups, Level, ROOT};
use crate::validate::object::OBJECTS_MAX;
use crate::validate::survey::CPUS_MAX;

/// Longer ago, what a signal was does not matter any more: load tracking forgets in 345 periods of 1024 us.
const FORGOTTEN_NS: u64 = 345 * 1024 * 1024;
/// Time by which a clock may be elsewhere than ours and averages still count as known; in it a busy CPU gains 2 % of
/// 1024.
const UNSURE_NS: u64 = 1_000_000;
/// Weight of a task with nice 0; utilization does not depend on it.
const NICE_0: u64 = 1024;

/// A CPU.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// Signals and clocks.
    pub rq: Rq,
    /// Time with at least one runnable task.
    pub occupied: Avg,
    /// Running task; `None` before the first switch and where events are missing.
    current: Option<u32>,
    pub(super) class: u32,
    /// Since when the signals rest on nothing but events, or on a recorded value.
    pub(super) known_ns: Option<u64>,
    pub(super) since_ns: u64,
    /// Time at which the queue's utilization was last taken over.
    pub(super) told_ns: Option<u64>,
    /// Queues of task groups, those above before those below.
    pub(super) levels: Vec<Level>,
    /// Present frequency, 0 = not known.
    pub khz: u32,
    /// Times it went idle.
    pub idle_calls: u64,
    /// Real-time tasks that run.
    pub rt_running: u32,
}

/// A task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Task {
    pub(super) se: Se,
    pub(super) cpu: u32,
    pub(super) since_ns: u64,
    pub(super) known: bool,
    /// Number of its group, 0 = the root, where that is recorded.
    pub(super) group: u32,
    /// Part of a queue by its averages: it has been on one.
    pub(super) joined: bool,
    /// Between wake-up and enqueue.
    waking: bool,
}

/// One side of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Task, 0 = idle.
    pub tid: u32,
    /// Its class.
    pub class: u32,
}

/// Fate of the previous task of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Stays on the queue.
    Waits,
    /// Leaves the queue, its utilization stays.
    Sleeps,
    /// Leaves together with its utilization.
    Dies,
}

/// All of it.
#[derive(Debug)]
pub struct Machine {
    pub(super) pol: Policy,
    table: CpuTable,
    pub(super) cpus: BTreeMap<u32, Cpu>,
    pub(super) tasks: BTreeMap<u32, Task>,
    /// CPUs whose queue a task joined or left in the last event.
    pub changed: Vec<u32>,
    /// Those that one left.
    pub left: Vec<u32>,
    /// Joins and leaves of tasks whose utilization was not known.
    pub unknown_moves: u64,
    /// Changes of frequency before which a busy CPU's clock was not seen for too long.
    pub unsure_clocks: u64,
    /// Wake-ups are recorded before the choice of a CPU.
    tells_wakers: bool,
    /// Tasks may be in groups, and the trace does not say in which.
    grouped: bool,
    /// Groups of a run that records the group of each task.
    pub(super) groups: Groups,
    /// Group of each task that is in one.
    pub(super) membership: BTreeMap<u32, u32>,
    /// Tasks that ended on a CPU and may still be part of its queue, the first first.
    pub(super) lingering: BTreeMap<u32, Vec<Se>>,
    /// Number of tasks that did so.
    pub lingered: u64,
    /// CPUs in an interrupt: how many are nested, and up to when its time was taken out.
    interrupted: BTreeMap<u32, (u32, u64)>,
    /// By CPU: tasks that wake-ups moved there and that are on no queue yet.
    pending: BTreeMap<u32, Vec<u32>>,
}

impl Machine {
    /// A machine that has seen nothing.
    pub fn new(pol: Policy, table: CpuTable, grouped: bool, groups: Groups) -> Machine {
        Machine {
            pol,
            table,
            cpus: BTreeMap::new(),
            tasks: BTreeMap::new(),
            changed: Vec::new(),
            left: Vec::new(),
            unknown_moves: 0,
            unsure_clocks: 0,
            tells_wakers: false,
            grouped: grouped && groups.is_empty(),
            groups,
            membership: BTreeMap::new(),
            lingering: BTreeMap::new(),
            lingered: 0,
            interrupted: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    /// A CPU, if anything happened on it.
    pub fn cpu(&self, cpu: u32) -> Option<&Cpu> {
        self.cpus.get(&cpu)
    }

    /// A CPU; its clock starts at its first event.
    pub(super) fn started(&mut self, cpu: u32, now: u64) -> &mut Cpu {
        let (pol, table) = (&self.pol, &self.table);
        // A run that records its groups records everything from the start, when nothing had run.
        let from_start = !self.groups.is_empty();
        let (known_ns, current) = (from_start.then_some(0), from_start.then_some(0));
        self.cpus.entry(cpu).or_insert_with(|| {
            let khz = table.reference(cpu);
            let rq = Rq::new(pol, now, table.capacity(cpu), freq_scale(khz, khz));
            let occupied = Avg { last_update_time_ns: rq.clock_pelt(pol), ..Avg::default() };
            Cpu { rq, occupied, current, known_ns, since_ns: now, class: runs::IDLE, ..Cpu::default() }
        })
    }

    pub(super) fn task(&mut self, tid: u32, cpu: u32, now: u64) -> Option<Task> {
        if let Some(task) = self.tasks.get(&tid) {
            return Some(*task);
        }
        let group = self.membership.get(&tid).copied().unwrap_or(0);
        (self.tasks.len() < OBJECTS_MAX).then(|| Task {
            se: Se::new(NICE_0),
            cpu,
            since_ns: now,
            known: false,
            group,
            joined: false,
            waking: false,
        })
    }

    /// True when a task's utilization follows from what is known.
    pub(super) fn knows(&self, task: &Task, now: u64) -> bool {
        task.known || now.saturating_sub(task.since_ns) >= FORGOTTEN_NS
    }

    /// True when the queue's signals follow from what is known.
    pub fn is_known(&self, cpu: u32, now: u64) -> bool {
        self.cpus.get(&cpu).is_some_and(|c| {
            c.current.is_some()
                && (c.khz != 0 || !self.table.has_frequencies(cpu))
                && (c.known_ns.is_some() || now.saturating_sub(c.since_ns) >= FORGOTTEN_NS)
        })
    }

    /// A task of unknown utilization came or went: the queue's signals are not known any more.
    fn spoil(&mut self, cpu: u32, group: u32, now: u64) {
        self.unknown_moves += 1;
        if let Some(cpu) = self.cpus.get_mut(&cpu) {
            let at = cpu.level(&self.groups, group);
            cpu.spoil_level(at, now);
        }
    }

    /// The frequency of a CPU changes; neighbours without events of their own follow.
    pub fn frequency(&mut self, now: u64, cpu: u32, khz: u32) {
        let (pol, from_start) = (self.pol, !self.groups.is_empty());
        for other in self.table.follow(cpu) {
            let reference = self.table.reference(other);
            let c = self.started(other, now);
            if c.khz == 0 && !from_start {
                (c.known_ns, c.since_ns) = (None, now);
            }
            c.khz = khz;
            let before = std::mem::replace(&mut c.rq.freq_scale, freq_scale(khz.min(reference), reference));
            if c.unsure_ns(&pol, now, before) > UNSURE_NS {
                self.unsure_clocks += 1;
                self.forget(now, other);
            }
        }
    }

    /// Forgets a CPU's averages and those of its tasks, until they are recorded.
    fn forget(&mut self, now: u64, cpu: u32) {
        if let Some(c) = self.cpus.get_mut(&cpu) {
            (c.known_ns, c.since_ns) = (None, now);
            c.forget_levels();
        }
        for task in self.tasks.values_mut().filter(|task| task.cpu == cpu && task.se.on_rq != 0) {
            (task.known, task.since_ns) = (false, now);
        }
    }

    /// The clock of a CPU comes up to now, its signals do not.
    pub fn update_clock(&mut self, now: u64, cpu: u32) {
        let pol = self.pol;
        let c = self.started(cpu, now);
        let idle = c.class == runs::IDLE;
        c.rq.clock_update(&pol, now, 0, idle);
    }

    /// An interrupt begins on a CPU: its time is no task's, until it has ended.
    pub fn enter_interrupt(&mut self, now: u64, cpu: u32) {
        if (cpu as usize) < CPUS_MAX {
            self.interrupted.entry(cpu).or_insert((0, now)).0 += 1;
        }
    }

    /// Ends the interrupt of a CPU.
    pub fn leave_interrupt(&mut self, cpu: u32) {
        let Some(nested) = self.interrupted.get_mut(&cpu) else { return };
        nested.0 = nested.0.saturating_sub(1);
        if nested.0 == 0 {
            self.interrupted.remove(&cpu);
        }
    }

    /// Clocks of CPUs in an interrupt come up to now without its time, as `update_rq_clock_task` has it.
    pub fn pass_interrupts(&mut self, now: u64) {
        let pol = self.pol;
        for (cpu, (_, since)) in &mut self.interrupted {
            let irq_ns = now.saturating_sub(std::mem::replace(since, now));
            if let Some(c) = self.cpus.get_mut(cpu).filter(|_| irq_ns > 0) {
                c.rq.clock_update(&pol, now, irq_ns, c.class == runs::IDLE);
            }
        }
    }

    /// Updates a CPU and the task that runs on it to now.
    pub fn refresh(&mut self, now: u64, cpu: u32) {
        let pol = self.pol;
        self.started(cpu, now);
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        let runs_fair = c.current.filter(|&tid| tid != 0 && c.class == runs::FAIR);
        match runs_fair.and_then(|tid| self.tasks.get_mut(&tid)).filter(|task| task.cpu == cpu) {
            Some(task) => c.look(&pol, &self.groups, task, now),
            None => drop(c.rq.update_blocked(&pol, now, 0, c.class, 0)),
        }
        c.occupy(&pol);
    }

    /// Brings the signals of real-time and deadline tasks of a CPU up to now, as the recorder of one did, also when it
    /// was neither a tick nor a switch. Their clock came up to now with them; the queue of fair tasks may not have been
    /// looked at.
    pub fn refresh_classes(&mut self, now: u64, cpu: u32) {
        let pol = self.pol;
        let c = self.started(cpu, now);
        let mut rq = c.rq;
        rq.update_blocked(&pol, now, 0, c.class, 0);
        (c.rq.rt, c.rq.dl, c.rq.clock) = (rq.rt, rq.dl, rq.clock);
    }

    /// A task is on the queue of a CPU from now on.
    pub fn enqueue(&mut self, now: u64, tid: u32, cpu: u32, is_new: bool) {
        if let Some(pending) = self.pending.get_mut(&cpu) {
            pending.retain(|&other| other != tid);
        }
        let Some(mut task) = self.task(tid, cpu, now) else { return };
        if task.se.on_rq != 0 {
            self.tasks.entry(tid).and_modify(|task| task.waking = false);
            return;
        }
        if task.cpu != cpu {
            self.leave(now, &mut task);
            task.cpu = cpu;
        }
        let (pol, known, from_start) = (self.pol, self.is_known(cpu, now), self.tells_groups());
        self.started(cpu, now);
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        let at = c.level(&self.groups, task.group);
        if is_new {
            // Its first average may have been recorded before this event: it is not part of a queue yet.
            let told = (task.known && task.since_ns == now).then_some(task.se.avg.util_avg);
            task.se = Se::new(NICE_0);
            match told {
                // The queue's load, which the first average follows from, is not rebuilt.
                Some(util) => {
                    let load_avg = if from_start { NICE_0 } else { c.queue(at).avg.load_avg };
                    task.se.avg = Avg { load_avg, ..joining(&pol, &c.queue(at).avg, util as u32) };
                }
                None => {
                    let queue = *c.queue(at);
                    task.se.post_init(&pol, &queue, c.rq.cap_orig);
                }
            }
            if c.told_ns == Some(now) && at == ROOT {
                // The queue was recorded with the task in it.
                task.se.avg.last_update_time_ns = c.rq.cfs.avg.last_update_time_ns;
            }
            task.known = known || told.is_some();
        }
        (task.joined, task.waking) = (true, false);
        let joins = task.se.avg.last_update_time_ns == 0;
        let idle = c.class == runs::IDLE;
        c.enqueue(&pol, at, &mut task.se, now, idle);
        c.occupy(&pol);
        if joins {
            self.changed.push(cpu);
            // A value of the CPU that was taken over in this moment is with the task already.
            self.left.extend((is_new && at != ROOT).then_some(cpu));
        }
        let unknown = joins && !self.knows(&task, now);
        self.tasks.insert(tid, task);
        if unknown {
            self.spoil(cpu, task.group, now);
        }
    }

    /// A sleeping task's utilization leaves the queue it slept on.
    fn leave(&mut self, now: u64, task: &mut Task) {
        if task.se.avg.last_update_time_ns == 0 {
            return;
        }
        let (pol, known) = (self.pol, self.knows(task, now));
        if let Some(c) = self.cpus.get_mut(&task.cpu) {
            let at = c.level(&self.groups, task.group);
            c.remove(&pol, at, &mut task.se, now, c.class == runs::IDLE);
        }
        self.changed.push(task.cpu);
        self.left.push(task.cpu);
        if !known {
            self.spoil(task.cpu, task.group, now);
        }
    }

    /// A task is being woken.
    pub fn waking(&mut self, tid: u32) {
        self.tells_wakers = true;
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.waking = true;
        }
    }

    /// A task changes CPU, asleep or runnable.
    pub fn migrate(&mut self, now: u64, tid: u32, to: u32) {
        let Some(mut task) = self.tasks.get(&tid).copied().filter(|task| task.cpu != to) else { return };
        let sleeps = task.se.on_rq == 0 && task.se.running == 0;
        // Where a sleeping task may still be queued (delayed dequeue), a balance takes it from there; elsewhere only a
        // wake-up moves one. It leaves its old CPU's queue then, and joins the new one's when that has carried the
        // wake-up out, which may be after its exit from idle.
        let delayed = sleeps && self.pol.delayed_dequeue != 0 && self.tells_wakers && !task.waking;
        if sleeps && !delayed && self.tells_wakers {
            self.leave(now, &mut task);
            task.cpu = to;
            self.tasks.insert(tid, task);
            self.pending.entry(to).or_default().push(tid);
            return;
        }
        if sleeps && !delayed {
            self.enqueue(now, tid, to, false);
            return;
        }
        let (pol, known, from) = (self.pol, self.knows(&task, now), task.cpu);
        if let Some(c) = self.cpus.get_mut(&from) {
            let (at, idle) = (c.level(&self.groups, task.group), c.class == runs::IDLE);
            if delayed {
                c.enqueue(&pol, at, &mut task.se, now, idle);
            }
            c.dequeue(&pol, at, &mut task.se, (now, idle), dequeue::MIGRATE);
            if task.se.running != 0 {
                // Our own runs move a running task at once; a kernel switches to another one first. The switch follows.
                c.put(&pol, at, &mut task.se, now);
            }
            c.occupy(&pol);
        }
        self.changed.push(from);
        self.left.push(from);
        if !known {
            self.spoil(from, task.group, now);
        }
        task.cpu = to;
        self.tasks.insert(tid, task);
        self.enqueue(now, tid, to, false);
        if delayed {
            self.sleep_again(now, tid, to);
        }
        self.came_back(now, tid, to);
    }

    /// A task's averages are recorded on a CPU that a wake-up moved it to: it joins the queue there.
    pub fn arrives(&mut self, now: u64, cpu: u32, tid: u32) {
        let waits = self.pending.get(&cpu).is_some_and(|pending| pending.contains(&tid));
        if waits && self.tasks.get(&tid).is_some_and(|task| task.cpu == cpu) {
            self.enqueue(now, tid, cpu, false);
        }
    }

    /// Enqueues the arrivals in a queue of a task group, for the tasks of that group.
    pub fn arrivals_in(&mut self, now: u64, cpu: u32, of: (u32, bool), recorded: u64) {
        let own = |tid: &&u32| self.tasks.get(tid).is_some_and(|task| task.cpu == cpu && task.group == of.0);
        let waits = self.pending.get(&cpu).into_iter().flatten();
        let tids: Vec<u32> = waits.filter(own).copied().collect();
        let theirs: u64 = tids.iter().map(|tid| self.tasks[tid].se.avg.util_avg).sum();
        let Some(without) = (!tids.is_empty()).then(|| self.group_util(cpu, of.0, of.1)).flatten() else { return };
        if recorded.abs_diff(without + theirs) < recorded.abs_diff(without) {
            tids.into_iter().for_each(|tid| self.enqueue(now, tid, cpu, false));
        }
    }

    /// The utilization of a CPU is recorded. Tasks that wake-ups moved there are on its queue by now where that is
    /// nearer to the record: their own records come after it.
    pub fn arrivals(&mut self, now: u64, cpu: u32, recorded: u64) {
        let Some(pending) = self.pending.get(&cpu).filter(|pending| !pending.is_empty()) else { return };
        let here = |tid: &u32| self.tasks.get(tid).filter(|task| task.cpu == cpu);
        let theirs: u64 = pending.iter().filter_map(here).map(|task| task.se.avg.util_avg).sum();
        let without = self.cpus.get(&cpu).map_or(0, |c| c.rq.cfs.avg.util_avg);
        if recorded.abs_diff(without + theirs) >= recorded.abs_diff(without) {
            return;
        }
        for tid in self.pending.remove(&cpu).unwrap_or_default() {
            if self.tasks.get(&tid).is_some_and(|task| task.cpu == cpu) {
                self.enqueue(now, tid, cpu, false);
            }
        }
    }

    /// One whose dequeue is delayed was put on another queue, still asleep.
    fn sleep_again(&mut self, now: u64, tid: u32, cpu: u32) {
        let pol = self.pol;
        let (Some(c), Some(task)) = (self.cpus.get_mut(&cpu), self.tasks.get_mut(&tid)) else { return };
        let (at, idle) = (c.level(&self.groups, task.group), c.class == runs::IDLE);
        c.dequeue(&pol, at, &mut task.se, (now, idle), dequeue::SLEEP);
    }

    /// One that left and was taken back before another one ran there goes on without a switch.
    fn came_back(&mut self, now: u64, tid: u32, cpu: u32) {
        let pol = self.pol;
        let Some(c) = self.cpus.get_mut(&cpu).filter(|c| c.current == Some(tid) && c.class == runs::FAIR) else {
            return;
        };
        if let Some(task) = self.tasks.get_mut(&tid).filter(|task| task.cpu == cpu) {
            let at = c.level(&self.groups, task.group);
            c.rq.clock_update(&pol, now, 0, false);
            c.set(&pol, at, &mut task.se, now);
        }
    }

    /// A task that does not run has ended. One that runs ends at its last switch: most kernels record its end before.
    pub fn exit(&mut self, now: u64, tid: u32) {
        let Some(mut task) = self.tasks.get(&tid).copied().filter(|task| task.se.running == 0) else { return };
        if task.se.on_rq == 0 && self.grouped && self.knows(&task, now) && task.se.avg.last_update_time_ns != 0 {
            self.linger(now, task.cpu, task.se);
        } else if task.se.on_rq == 0 {
            self.leave(now, &mut task);
        }
        self.tasks.remove(&tid);
    }

    /// A switch. False when it contradicts the one before.
    pub fn switch(&mut self, now: u64, cpu: u32, prev: Side, next: Side, fate: Fate) -> bool {
        let continues = self.started(cpu, now).current.is_none_or(|current| current == prev.tid);
        if !continues {
            self.lose(now, cpu);
        }
        if self.cpus.get(&cpu).is_some_and(|c| c.current.is_none()) {
            self.assume_running(now, cpu, prev);
        }
        if next.class == runs::FAIR {
            if let Some(task) = self.tasks.get(&next.tid).copied().filter(|t| t.se.on_rq != 0 && t.cpu != cpu) {
                self.migrate(now, next.tid, cpu);
                debug_assert!(task.se.running == 0 || task.cpu != cpu, "a task that runs elsewhere is not moved");
            }
            self.enqueue(now, next.tid, cpu, false);
        }
        self.change(now, cpu, prev, next, fate != Fate::Waits);
        if fate == Fate::Dies && prev.tid != 0 {
            self.exit(now, prev.tid);
        }
        continues
    }

    /// Before the first switch of a CPU a task ran: for how long is not known.
    fn assume_running(&mut self, now: u64, cpu: u32, prev: Side) {
        let pol = self.pol;
        if prev.class == runs::FAIR {
            self.enqueue(now, prev.tid, cpu, false);
        }
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        (c.current, c.class, c.since_ns) = (Some(prev.tid), prev.class, now);
        if let (runs::FAIR, Some(task)) = (prev.class, self.tasks.get_mut(&prev.tid)) {
            let at = c.level(&self.groups, task.group);
            c.rq.clock_update(&pol, now, 0, true);
            c.set(&pol, at, &mut task.se, now);
        }
    }

    /// The switch itself, as the scheduler does it: dequeue, put, pick.
    fn change(&mut self, now: u64, cpu: u32, prev: Side, next: Side, leaves: bool) {
        let pol = self.pol;
        let fair = |tasks: &BTreeMap<u32, Task>, side: Side| {
            tasks.get(&side.tid).copied().filter(|task| side.class == runs::FAIR && task.cpu == cpu)
        };
        let (mut from, mut to) = (fair(&self.tasks, prev), fair(&self.tasks, next));
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        let was_idle = c.class == runs::IDLE;
        if let (true, Some(task)) = (leaves, &mut from) {
            let at = c.level(&self.groups, task.group);
            c.dequeue(&pol, at, &mut task.se, (now, was_idle), dequeue::SLEEP);
        }
        match prev.class {
            runs::RT => drop(c.rq.event_rt(&pol, now, 0, was_idle, true)),
            runs::DL => drop(c.rq.event_dl(&pol, now, 0, was_idle, true)),
            _ => {}
        }
        c.rq.clock_update(&pol, now, 0, was_idle);
        if let Some(task) = &mut from {
            let at = c.level(&self.groups, task.group);
            c.put(&pol, at, &mut task.se, now);
        }
        if let Some(task) = &mut to {
            let at = c.level(&self.groups, task.group);
            c.set(&pol, at, &mut task.se, now);
        }
        if next.class == runs::IDLE {
            c.rq.clock_enter_idle(&pol);
            c.idle_calls += 1;
        }
        match next.class {
            runs::RT => drop(c.rq.event_rt(&pol, now, 0, was_idle, false)),
            runs::DL => drop(c.rq.event_dl(&pol, now, 0, was_idle, false)),
            _ => {}
        }
        c.rt_running = u32::from(next.class == runs::RT);
        (c.current, c.class) = (Some(next.tid), next.class);
        c.occupy(&pol);
        self.tasks.extend(from.map(|task| (prev.tid, task)));
        self.tasks.extend(to.map(|task| (next.tid, task)));
    }

    /// Forgets the running task of a CPU and all of its signals, because events of it are missing.
    pub fn lose(&mut self, now: u64, cpu: u32) {
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        let fresh = Rq { clock: c.rq.clock, cap_orig: c.rq.cap_orig, freq_scale: c.rq.freq_scale, ..c.rq };
        c.rq = Rq { cfs: CfsRq { avg: fresh.cfs.avg, ..CfsRq::default() }, ..fresh };
        c.levels.clear();
        (c.current, c.known_ns, c.since_ns, c.class) = (None, None, now, runs::IDLE);
        self.lingering.remove(&cpu);
        self.interrupted.remove(&cpu);
        for task in self.tasks.values_mut().filter(|task| task.cpu == cpu) {
            (task.se.on_rq, task.se.running, task.known, task.since_ns) = (0, 0, false, now);
        }
    }

    /// Events of every CPU are missing.
    pub fn lose_all(&mut self, now: u64) {
        let cpus: Vec<u32> = self.cpus.keys().copied().collect();
        cpus.into_iter().for_each(|cpu| self.lose(now, cpu));
    }

    /// Time by which a CPU's scaled clock is behind: idle time catches up with it.
    pub fn lag_ns(&self, cpu: u32) -> u64 {
        self.cpus.get(&cpu).map_or(0, |c| c.rq.clock.clock_task_ns.saturating_sub(c.rq.clock.clock_pelt_ns))
    }

    /// The CPU a task was last seen on.
    pub fn home(&self, tid: u32) -> Option<u32> {
        self.tasks.get(&tid).map(|task| task.cpu)
    }
}

impl Cpu {
    /// True when signals that started from nothing count.
    pub fn ran_for(&self, now: u64) -> bool {
        self.current.is_some() && now.saturating_sub(self.since_ns) >= FORGOTTEN_NS
    }

    /// Brings the CPU's own queue and the task that runs up to now.
    fn look(&mut self, pol: &Policy, groups: &Groups, task: &mut Task, now: u64) {
        let at = self.level(groups, task.group);
        if at == ROOT {
            self.rq.tick_fair(pol, &mut task.se, now, 0);
            return;
        }
        self.rq.clock_update(pol, now, 0, false);
        task.se.update(&self.rq.ctx(pol, self.queue(at)));
        let ctx = self.rq.ctx(pol, &self.rq.cfs);
        self.rq.cfs.update(&ctx);
    }

    /// Largest distance of its clock from ours after a change of its speed: time counts at the speed of the moment in
    /// which it is looked at, and a tick that finds nothing to record looks at it.
    fn unsure_ns(&self, pol: &Policy, now: u64, scale_before: u32) -> u64 {
        if self.class == runs::IDLE || self.current.is_none() || pol.invariance != value::INVARIANCE_CLOCK {
            return 0;
        }
        let unseen = now.saturating_sub(self.rq.clock.clock_ns);
        (u128::from(unseen) * u128::from(self.rq.freq_scale.abs_diff(scale_before)) / 1024) as u64
    }

    /// Brings the share of occupied time up to now; what holds from here on is read at the next call.
    fn occupy(&mut self, pol: &Policy) {
        let now = self.rq.cfs_clock(pol, &self.rq.cfs);
        let ctx = Ctx { pol, now, cap_orig: 1024, freq_scale: self.rq.freq_scale };
        let was = self.occupied.util_est_enqueued;
        self.occupied.update(&ctx, was);
        self.occupied.util_est_enqueued = u32::from(self.rq.cfs.nr_queued > 0 || self.class != runs::IDLE);
    }
}

/// Averages of a task that is on its way to a queue.
fn joining(pol: &Policy, queue: &Avg, util: u32) -> Avg {
    Avg { last_update_time_ns: 0, ..holding(pol, queue, util) }
}

/// A record at the position of another one with just this utilization: the sum is the one an entity joins with.
pub fn holding(pol: &Policy, at: &Avg, util: u32) -> Avg {
    let position =
        Avg { last_update_time_ns: at.last_update_time_ns, period_contrib: at.period_contrib, ..Avg::default() };
    let mut queue = CfsRq { avg: position, ..CfsRq::default() };
    let mut se = Se::default();
    se.avg.util_avg = u64::from(util);
    queue.attach(pol, &mut se);
    Avg {
        load_sum: at.load_sum,
        load_avg: at.load_avg,
        runnable_sum: at.runnable_sum,
        runnable_avg: at.runnable_avg,
        ..queue.avg
    }
}
