// SPDX-License-Identifier: GPL-2.0-or-later
//! A CPU's time line: up to when its time is accounted, how fast it runs, the kernel path that it executes, and what
//! comes to it while it does not execute.

use std::collections::VecDeque;

use crate::cpu::called::Called;
use crate::engine::queue::{Moment, QuotaTimer};

/// An action that an idle CPU carries out once it is awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferred {
    /// The timer of this task expired.
    Timer(u32),
    /// This interrupt source fired.
    Irq(u32),
    /// A device has done what this task waits for.
    Io(u32),
    /// This timer of a task group's quota expired.
    Quota(u32, QuotaTimer),
    /// The timer of the scheduler of sched_ext expired.
    Ticker,
}

/// Time of one CPU. What most events look at lies together, at the beginning.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Line {
    pub accounted_ns: u64,
    /// Work per ns, in units of 1 << SPEED_SHIFT at capacity 1024.
    pub speed: u64,
    pub overhead_ns: u64,
    pub irq_depth: u32,
    pub idle_generation: u32,
    /// End of the running task's step.
    pub segment: Moment,
    /// Time at which the timer that ends the request of a fair task expires.
    pub request_timer_ns: Option<u64>,
    /// IRQ time that the clock does not have yet.
    pub irq_pending_ns: u64,
    /// Time for which its fair task ran and was not charged yet, ns: the kernel charges it in `update_curr()`.
    pub uncharged_ns: u64,
    pub idle_since_ns: u64,
    /// Times it went idle with its tick stopped.
    idle_calls: u64,
    /// Frequency and share of the core that its speed was worked out for.
    pub speed_of: (u32, (u64, u64)),
    /// Actions that came while the CPU was idle or leaving idle.
    deferred: Vec<Deferred>,
    /// Tasks that sleep here and wait for I/O (`nr_iowait`).
    nr_iowait: u32,
    /// Idle time in which a task of it waited for I/O, where a governor reads it.
    pub iowait_ns: u64,
    /// Time of its tasks with nice above 0, where a governor reads it.
    pub nice_ns: u64,
}

impl Line {
    /// At the start of a run.
    pub(crate) fn new() -> Line {
        Line { speed: 1, speed_of: (0, (0, 1)), ..Line::default() }
    }

    /// True while the CPU is in an interrupt.
    #[inline]
    pub(crate) fn in_irq(&self) -> bool {
        self.irq_depth > 0
    }

    /// Rest of the kernel path that the CPU executes, as of the last account, ns.
    #[inline]
    pub(crate) fn path_ns(&self) -> u64 {
        self.overhead_ns
    }

    /// True while the CPU executes a kernel path, as of the last account.
    #[inline]
    pub(crate) fn in_path(&self) -> bool {
        self.overhead_ns > 0
    }

    /// The request timer of its fair task has come: it is over.
    #[inline]
    pub(crate) fn takes_request_timer(&mut self, now: u64) -> bool {
        self.request_timer_ns.take_if(|at| *at <= now).is_some()
    }

    /// Time at which the request timer of its fair task expires.
    #[inline]
    pub(crate) fn request_timer_ns(&self) -> Option<u64> {
        self.request_timer_ns
    }

    #[inline]
    pub(crate) fn set_request_timer(&mut self, at_ns: Option<u64>) {
        self.request_timer_ns = at_ns;
    }

    /// Notes that the CPU is in its idle state from `now` on.
    pub(crate) fn idles(&mut self, now: u64) {
        self.idle_since_ns = now;
    }

    pub(crate) fn idle_since_ns(&self) -> u64 {
        self.idle_since_ns
    }

    /// Counts that the CPU goes idle with its tick stopped.
    pub(crate) fn idles_without_tick(&mut self) {
        self.idle_calls += 1;
    }

    /// Times it went idle with its tick stopped.
    #[inline]
    pub(crate) fn idle_calls(&self) -> u64 {
        self.idle_calls
    }

    /// Of its stays in idle states: events of an older one are stale.
    pub(crate) fn idle_generation(&self) -> u32 {
        self.idle_generation
    }

    /// Idle time in which a task of it waited for I/O, and time of tasks with nice above 0, where a governor reads
    /// them.
    pub(crate) fn kinds_ns(&self) -> (u64, u64) {
        (self.iowait_ns, self.nice_ns)
    }

    /// This comes while it does not execute.
    pub(crate) fn defers(&mut self, what: Deferred) {
        self.deferred.push(what);
    }

    /// Nothing waits for it to execute.
    pub(crate) fn defers_nothing(&self) -> bool {
        self.deferred.is_empty()
    }

    /// Takes the actions that came while the CPU did not execute.
    pub(crate) fn take_deferred(&mut self) -> Vec<Deferred> {
        std::mem::take(&mut self.deferred)
    }

    /// Awake, it defers nothing more: the room is used again.
    pub(crate) fn keep_room(&mut self, came: Vec<Deferred>) {
        if self.deferred.is_empty() {
            self.deferred = came;
        }
    }

    /// A task that sleeps here waits for I/O.
    pub(crate) fn io_begins(&mut self) {
        self.nr_iowait += 1;
    }

    /// Counts one task less that waits for I/O: its I/O is done.
    pub(crate) fn io_ends(&mut self) {
        self.nr_iowait -= 1;
    }

    /// Tasks that sleep here and wait for I/O.
    pub(crate) fn nr_iowait(&self) -> u32 {
        self.nr_iowait
    }

    /// Its fair task ran for so long and is charged at the next `update_curr()`.
    #[inline]
    pub(crate) fn charge_later(&mut self, delta_ns: u64) {
        self.uncharged_ns += delta_ns;
    }

    /// True where time of its fair task is not charged yet.
    #[inline]
    pub(crate) fn has_uncharged(&self) -> bool {
        self.uncharged_ns > 0
    }

    /// Takes the time of its fair task that is to be charged now, ns; 0 is left.
    #[inline]
    pub(crate) fn take_uncharged(&mut self) -> u64 {
        std::mem::take(&mut self.uncharged_ns)
    }
}

/// Time of all CPUs together.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// CPUs that were asked to choose again, in this order.
    pub asked: VecDeque<u32>,
    /// Time at which the kernel paths of all CPUs are done, where CPUs execute one after another, ns.
    pub turns_end_ns: u64,
    /// Tasks whose list was called and that have not run since.
    pub called: Vec<Called>,
}

impl Lines {
    /// CPU `c` chooses again before the event is over.
    #[inline]
    pub(crate) fn asks(&mut self, c: u32) {
        self.asked.push_back(c);
    }

    /// The next CPU that chooses again.
    #[inline]
    pub(crate) fn next_asked(&mut self) -> Option<u32> {
        self.asked.pop_front()
    }

    /// Time that a path which is to begin at `ready_ns` waits until those of other CPUs are done, ns, where CPUs
    /// execute one after another. The path counts as one of them from then on.
    pub(super) fn awaits_turn(&mut self, ready_ns: u64, wall_ns: u64) -> u64 {
        let begin_ns = ready_ns.max(self.turns_end_ns);
        self.turns_end_ns = begin_ns.saturating_add(wall_ns);
        begin_ns - ready_ns
    }
}
