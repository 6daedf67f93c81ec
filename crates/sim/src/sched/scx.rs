// SPDX-License-Identifier: GPL-2.0-or-later
//! The core as a scheduler of sched_ext (`host=live`): what its glue in the kernel does where the kernel's own balances
//! do nothing. `crates/live/src/bpf/scheduler.bpf.c` has the same calls of `scx_balance.h`; a task waits there in its
//! CPU's queue by virtual deadline, here in the order of the fair class.
//!
//! Not here: at most eight tasks are asked there whether they are eligible; a slice of 20 ms ends where no tick looks;
//! a task that was taken from a longer queue at the tick runs before any other; what the glue itself takes.

use pelton_core::hook::how;
use pelton_core::{
    SCX_BALANCE_TICKS, SCX_LONGER_NEWIDLE, SCX_LONGER_TICK, SCX_REFRESH_NS, fits, scx_holds_balance, scx_idle_room,
    scx_is_long, scx_is_longer, uclamp_clamped, value,
};
use pelton_schema::{HookSite, WalkWhy};

use crate::class::Class;
use crate::cpu::line::Deferred;
use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

/// Ticks between two expiries of the timer.
const TICKER_TICKS: u64 = 2;

impl<S: Run> Engine<'_, S> {
    /// CPU `c` has no task: it takes one that waits elsewhere. True when it did.
    pub(crate) fn scx_newidle(&mut self, c: u32) -> bool {
        self.placing.forget_misfit(c);
        let found = self.steals(c);
        if found {
            self.cpus[c as usize].sched.idle_stamp_ns = None;
        }
        found
    }

    /// A task of the longest queue; where none of it may run here, of any other that is long.
    fn steals(&mut self, c: u32) -> bool {
        let Some(longest) = self.longest(c, SCX_LONGER_NEWIDLE) else { return false };
        if self.scx_takes(longest, c) {
            return true;
        }
        let mut others = (0..self.m.cpus.len() as u32).filter(|&i| i != longest && i != c);
        others.any(|i| {
            let cpu = &self.cpus[i as usize];
            scx_is_long(cpu.fair.nr_runnable(), cpu.runs(Class::Fair)) && self.scx_waits(i) && self.scx_takes(i, c)
        })
    }

    /// The CPU with the longest queue, of those with at least `longer` tasks more than CPU `c`.
    fn longest(&self, c: u32, longer: u32) -> Option<u32> {
        let least = self.cpus[c as usize].fair.nr_runnable() + longer;
        let (mut found, mut most) = (None, (0, false));
        if self.scx_holds() {
            return None;
        }
        for i in (0..self.m.cpus.len() as u32).filter(|&i| i != c) {
            let (cpu, near) = (&self.cpus[i as usize], self.same_llc(i, c));
            let nr = cpu.fair.nr_runnable();
            if scx_is_longer(nr, cpu.runs(Class::Fair), near, least, most) && self.scx_waits(i) {
                (found, most) = (Some(i), (nr, near));
            }
        }
        found
    }

    /// A task waits on CPU `i` where others see it. The one that comes to an idle CPU is handed to it at once.
    fn scx_waits(&self, i: u32) -> bool {
        let cpu = &self.cpus[i as usize];
        cpu.fair.nr_runnable() > u32::from(cpu.runs(Class::Fair) || cpu.curr == NO_TASK)
    }

    /// Energy decides where tasks run.
    fn scx_holds(&self) -> bool {
        scx_holds_balance(self.placing.by_energy, self.placing.overutilized)
    }

    /// CPU `c` takes the first task that waits on another one and may run here.
    fn scx_takes(&mut self, from: u32, c: u32) -> bool {
        let Some(t) = self.first_waiting(from, Some(c)) else { return false };
        self.move_fair(t, from, c);
        true
    }

    pub(super) fn move_fair(&mut self, t: u32, from: u32, to: u32) {
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.vote_usage(from);
        self.set_task_cpu(t, to);
        let waiting_since_ns = self.tasks[t as usize].sched.waiting_since_ns;
        self.enqueue(to, t, false);
        self.vote_usage(to);
        self.tasks[t as usize].sched.waiting_since_ns = waiting_since_ns;
    }

    /// Waiting task of CPU `c` with the earliest virtual deadline, of those that may run on CPU `on`.
    fn first_waiting(&self, c: u32, on: Option<u32>) -> Option<u32> {
        let mut first: Option<(i64, u32)> = None;
        self.cpus[c as usize].each_waiting(&mut |t| {
            let task = &self.tasks[t as usize];
            let may = on.is_none_or(|on| task.may_run_on(on) && !self.is_throttled_at(on, t));
            let deadline = task.fair.se().deadline;
            if may && first.is_none_or(|(earliest, _)| deadline.wrapping_sub(earliest) < 0) {
                first = Some((deadline, t));
            }
        });
        first.map(|(_, t)| t)
    }

    /// Tick of CPU `c`, whose signals are as of now.
    pub(crate) fn scx_tick(&mut self, c: u32) {
        if !self.cpus[c as usize].runs(Class::Fair) {
            return;
        }
        self.scx_looks_at_all();
        if self.cpus[c as usize].fair.nr_runnable() > 1 {
            self.scx_kicks_idle(c);
        }
        if self.scx_ends_slice(c) {
            self.resched_cpu(c);
        }
    }

    /// Capacity left of all CPUs for fair tasks, and whether any of them is over-utilized, as of now.
    pub(crate) fn scx_looks_at_all(&mut self) {
        let cpus = 0..self.m.cpus.len() as u32;
        cpus.clone().for_each(|c| self.refresh_capacity(c));
        let mut over = false;
        for c in cpus {
            over |= self.is_overutilized(c);
        }
        self.set_overutilized(over);
    }

    /// A task waits on CPU `c`: an idle CPU that it may use looks for work.
    fn scx_kicks_idle(&mut self, c: u32) {
        if self.scx_holds() {
            return;
        }
        let Some(waits) = self.first_waiting(c, None) else { return };
        let (mut found, mut most) = (None, 0);
        for i in 0..self.m.cpus.len() as u32 {
            let room = scx_idle_room(self.cpus[i as usize].rq.cap_orig, self.same_llc(i, c));
            if self.cpus[i as usize].idle_cpu() && self.tasks[waits as usize].may_run_on(i) && room > most {
                (found, most) = (Some(i), room);
            }
        }
        if let Some(idle) = found {
            self.resched_cpu(idle);
        }
    }

    /// The running task of CPU `c` ends its slice, for another task, another CPU, or a longer queue elsewhere.
    fn scx_ends_slice(&mut self, c: u32) -> bool {
        let t = self.cpus[c as usize].curr;
        if self.tasks[t as usize].may_move()
            && let Some(target) = self.roomier(c, t)
        {
            self.tasks[t as usize].sched.pulled_to = Some(target);
            return true;
        }
        let looked_ns = &mut self.cpus[c as usize].sched.last_balance_ns;
        if self.now - *looked_ns >= u64::from(SCX_BALANCE_TICKS) * self.tick_ns {
            *looked_ns = self.now;
            if let Some(from) = self.longest(c, SCX_LONGER_TICK)
                && self.scx_takes(from, c)
            {
                return true;
            }
        }
        let cpu = &mut self.cpus[c as usize];
        cpu.resched.take_over() && cpu.fair.has_waiting()
    }

    /// The largest idle CPU that is larger than CPU `c`, which is too small for its task `t`, where that may run there.
    fn roomier(&self, c: u32, t: u32) -> Option<u32> {
        let own = self.cpus[c as usize].rq.cap_orig;
        let task = &self.tasks[t as usize];
        let clamps = if self.uses.clamped { self.clamps_of(t) } else { (0, 1024) };
        let util = uclamp_clamped(task.se.avg.util_avg as u32, clamps);
        let left = self.placing.record().rows()[c as usize].capacity;
        if !self.sched.asymmetric || fits(self.policy.get(), util, left, own) {
            return None;
        }
        let (mut found, mut most) = (None, own);
        for i in 0..self.m.cpus.len() as u32 {
            let cpu = &self.cpus[i as usize];
            if cpu.idle_cpu() && cpu.rq.cap_orig > most {
                (found, most) = (Some(i), cpu.rq.cap_orig);
            }
        }
        found.filter(|&target| self.tasks[t as usize].may_run_on(target))
    }

    /// The timer begins with the run.
    pub(crate) fn start_scx_ticker(&mut self) {
        if self.policy.host == value::HOST_LIVE {
            self.queue.push(self.now + TICKER_TICKS * self.tick_ns, Ev::Ticker);
        }
    }

    /// The timer expires, on a CPU that is busy where there is one.
    pub(crate) fn scx_ticker_due(&mut self) {
        let next = self.now + TICKER_TICKS * self.tick_ns;
        if next <= self.end_ns {
            self.queue.push(next, Ev::Ticker);
        }
        let c = (0..self.m.cpus.len() as u32).find(|&c| self.cpus[c as usize].is_awake()).unwrap_or(0);
        if self.cpus[c as usize].is_awake() {
            return self.scx_ticker(c);
        }
        self.cpus[c as usize].line.defers(Deferred::Ticker);
        self.leave_idle(c);
    }

    /// Work of the timer, on CPU `c`: what tasks left behind on idle CPUs fades, and targets that the kernel refused
    /// are handed over again.
    pub(crate) fn scx_ticker(&mut self, c: u32) {
        self.exec = c;
        if self.now - self.sched.refreshed_ns >= SCX_REFRESH_NS {
            self.sched.refreshed_ns = self.now;
            for i in 0..self.m.cpus.len() as u32 {
                self.scx_refreshes(i);
            }
        }
        self.insist();
    }

    fn scx_refreshes(&mut self, idle: u32) {
        if !self.cpus[idle as usize].idle_cpu() {
            return;
        }
        if self.is_blocked(idle) {
            self.refresh_blocked(idle, WalkWhy::IdleWalk);
        } else if self.asks_for_more(idle) {
            self.hook_event(idle, HookSite::Blocked, how::REMOTE);
        }
    }
}
