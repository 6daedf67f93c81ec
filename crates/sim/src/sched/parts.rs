// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler's part of the records of a run, a CPU and a task.

use pelton_core::Newidle;
use pelton_model::machine::Machine;
use pelton_model::workload::CpuSet;

use crate::engine::queue::Moment;
use crate::state::{NO_TASK, Task};

/// State of a CPU's idle loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleLoop {
    Out,
    In,
    /// A tick ended its last stay.
    Ticked,
}

/// Of a task.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TaskSched {
    pub recent_cpu: u32,
    /// Changed CPU and has not run there yet.
    pub cold: bool,
    /// Changes its CPU because it loads another program: it goes to the CPU that takes it, and no balance takes it.
    pub loads_program: bool,
    /// Time of its last wake-up, until it runs.
    pub woken_ns: Option<u64>,
    /// Since when it waits on a runqueue; meaningless while running.
    pub waiting_since_ns: u64,
    pub last_ran_ns: u64,
    /// Its place in its CPU's list of tasks: the head is highest.
    pub list_place: u64,
    /// The CPU that takes it while it runs.
    pub pulled_to: Option<u32>,
    /// The only CPU it may run on from its next wake-up on.
    pub moves_to: Option<u32>,
    /// CPU that it goes to when it may no longer run where it does.
    pub affine_to: Option<u32>,
    pub wakee_flips: u32,
    pub last_wakee: u32,
    pub flips_decay_ns: u64,
    /// CPU on which its parent made this task.
    pub forked_on: Option<u32>,
}

impl TaskSched {
    /// Of a task that does not exist yet.
    pub(crate) fn new(first_cpu: u32) -> TaskSched {
        TaskSched {
            recent_cpu: first_cpu,
            cold: false,
            loads_program: false,
            woken_ns: None,
            waiting_since_ns: 0,
            last_ran_ns: 0,
            list_place: 0,
            pulled_to: None,
            moves_to: None,
            affine_to: None,
            wakee_flips: 0,
            last_wakee: NO_TASK,
            flips_decay_ns: 0,
            forked_on: None,
        }
    }

    /// Its parent runs on CPU `c` and makes it.
    pub(crate) fn is_forked(&mut self, c: u32) {
        self.forked_on = Some(c);
    }

    /// CPU on which its parent made this task.
    pub(crate) fn forked_on(&self) -> Option<u32> {
        self.forked_on
    }

    /// CPU `c` is the only one that it may run on from its next wake-up on.
    pub(crate) fn moves_at_wakeup(&mut self, c: u32) {
        self.moves_to = Some(c);
    }

    /// Time since it began to wait on its runqueue, ns.
    pub(crate) fn waits_ns(&self, now: u64) -> u64 {
        now - self.waiting_since_ns
    }
}

impl Task {
    /// Starts the task on CPU `target`. A fair task remembers its parent's CPU.
    pub(crate) fn starts_on(&mut self, target: u32, now: u64) {
        self.sched.woken_ns = Some(now);
        self.sched.recent_cpu = if self.is_fair() { self.cpu } else { target };
        self.cpu = target;
    }

    /// Puts the task on CPU `c` before the run begins.
    pub(crate) fn was_on(&mut self, c: u32) {
        (self.cpu, self.sched.recent_cpu) = (c, c);
    }
}

/// Of a CPU.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CpuSched {
    pub tick: Moment,
    pub tick_stopped: bool,
    /// Memberships in the sets of CPUs, a bit each: two tasks are runnable, none.
    pub noted: u8,
    /// In the idle task since it last chose what to run.
    pub idle_loop: IdleLoop,
    /// Paid for the way into the coming idle state.
    pub idle_path: bool,
    /// A tick came while it was idle.
    pub tick_due: bool,
    /// The time limit of polling came while it was idle.
    pub poll_limited: bool,
    /// Searched for a task when it last ran out of them.
    pub looked: bool,
    /// Time at which it found nothing to run, until that idle time is accounted for.
    pub idle_stamp_ns: Option<u64>,
    /// Mean of its idle times, and the costs of its searches for a task.
    pub newidle: Newidle,
    pub last_balance_ns: u64,
    pub last_refresh_ns: u64,
}

impl CpuSched {
    /// In its idle task.
    pub(crate) fn new() -> CpuSched {
        CpuSched {
            tick: Moment::default(),
            tick_stopped: false,
            noted: 1 << 1,
            idle_loop: IdleLoop::In,
            idle_path: false,
            tick_due: false,
            poll_limited: false,
            looked: false,
            idle_stamp_ns: None,
            newidle: Newidle::new(),
            last_balance_ns: 0,
            last_refresh_ns: 0,
        }
    }
}

/// Of a run: sets of CPUs, and what is done for all of them once in a while.
#[derive(Debug)]
pub(crate) struct Sched {
    /// CPUs with nothing to run.
    pub idle_cpus: CpuSet,
    /// CPUs with two runnable tasks or more, of all classes.
    pub crowded: CpuSet,
    /// CPUs that remember the cost of a search.
    pub fading: CpuSet,
    /// Some CPU had two tasks when one was last enqueued, or when all were last looked at.
    pub overload: bool,
    /// An idle CPU without tick may have load to refresh.
    pub idle_blocked: bool,
    /// Tick at which the next walk over idle CPUs is due for their load.
    pub next_blocked_ticks: u64,
    /// Tick at which the next walk over idle CPUs is due to balance.
    pub next_balance_ticks: u64,
    /// CPUs differ in capacity.
    pub asymmetric: bool,
    /// Time at which blocked averages of idle CPUs were last brought up to now by the scheduler of sched_ext.
    pub refreshed_ns: u64,
    /// Cache group of each CPU.
    pub llc_of: Vec<u32>,
    /// The CPUs with each of these numbers.
    pub llc_sets: Vec<CpuSet>,
}

impl Sched {
    /// All CPUs of a machine are idle.
    pub(crate) fn new(m: &Machine) -> Sched {
        let cpus = m.cpus.len() as u32;
        Sched {
            idle_cpus: CpuSet::first(cpus),
            crowded: CpuSet::default(),
            fading: CpuSet::default(),
            overload: false,
            idle_blocked: false,
            next_blocked_ticks: 0,
            next_balance_ticks: 0,
            refreshed_ns: 0,
            asymmetric: m.cpus.iter().any(|c| c.capacity != m.cpus[0].capacity),
            llc_of: (0..cpus).map(|c| llc_of(m, c)).collect(),
            llc_sets: llc_sets(m),
        }
    }
}

/// Cache group of a CPU; one that is in none shares a number that is no group's.
pub(crate) fn llc_of(m: &Machine, c: u32) -> u32 {
    m.llcs.iter().position(|l| l.contains(&c)).unwrap_or(m.llcs.len()) as u32
}

/// The CPUs of each cache group, and behind them those in none.
fn llc_sets(m: &Machine) -> Vec<CpuSet> {
    let of = |llc: u32| CpuSet::of((0..m.cpus.len() as u32).filter(|&c| llc_of(m, c) == llc));
    (0..=m.llcs.len() as u32).map(of).collect()
}
