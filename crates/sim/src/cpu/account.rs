// SPDX-License-Identifier: GPL-2.0-or-later
//! Time passes on a CPU: its running task makes progress, the kernel's own work is paid for, energy is charged, and the
//! end of the present step is known.

use pelton_core::value;

use crate::class::Class;
use crate::engine::queue::Ev;
use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, SPEED_SHIFT};

/// Time that kernel work of `cost_ns` (at capacity 1024) takes on a CPU of this speed, ns.
#[inline]
fn wall_ns(at_any_speed: bool, speed: u64, cost_ns: u64) -> u64 {
    let speed = if at_any_speed { 1 << SPEED_SHIFT } else { speed.max(1) };
    (cost_ns.min(u64::MAX >> SPEED_SHIFT) << SPEED_SHIFT) / speed
}

impl<S: Run> Engine<'_, S> {
    /// Brings a CPU's running task, energy and time totals up to now.
    #[inline(always)]
    pub(crate) fn account(&mut self, c: u32) {
        let delta = self.now - self.cpus[c as usize].line.accounted_ns;
        if delta > 0 {
            self.account_time(c, delta);
        }
    }

    #[inline(never)]
    pub(crate) fn account_time(&mut self, c: u32, delta: u64) {
        if !self.lines.called.is_empty() {
            self.split_calls(c, delta);
        }
        let energy_fj = self.charge_power(c, delta);
        let cpu = &mut self.cpus[c as usize];
        cpu.line.accounted_ns = self.now;
        if cpu.curr != NO_TASK {
            self.tasks[cpu.curr as usize].progress.draws(energy_fj);
        }
        if cpu.line.irq_depth > 0 {
            cpu.report.irq_ns += delta;
            cpu.line.irq_pending_ns += delta;
        } else if cpu.curr == NO_TASK {
            match cpu.power() {
                Power::Idle { state } | Power::Exiting { state } => {
                    cpu.report.idle_ns[state as usize] += delta;
                    self.account_iowait(c, delta);
                }
                Power::Awake => {
                    cpu.report.overhead_ns += delta;
                    cpu.line.overhead_ns = cpu.line.overhead_ns.saturating_sub(delta);
                }
            }
        } else {
            self.charge_task(c, delta);
        }
    }

    pub(crate) fn charge_task(&mut self, c: u32, delta: u64) {
        let cpu = &mut self.cpus[c as usize];
        let overhead = delta.min(cpu.line.overhead_ns);
        let exec = delta - overhead;
        cpu.line.overhead_ns -= overhead;
        cpu.report.overhead_ns += overhead;
        cpu.report.busy_ns += exec;
        let task = &mut self.tasks[cpu.curr as usize];
        task.report.ran_on(self.m.cpus[c as usize].domain, exec);
        if self.policy.ignore_nice_load != 0 && task.policy().is_nice() {
            cpu.line.nice_ns += exec;
        }
        task.report.work_ns += task.progress.executes(exec, cpu.line.speed);
        match task.class() {
            Class::Fair => {
                cpu.line.charge_later(delta);
                if self.uses.quotas {
                    self.charge_quotas(c, delta);
                }
            }
            Class::Deadline => task.dl.runs(delta),
            Class::Realtime => {
                task.rt.runs(delta);
                cpu.rt.ran(delta);
            }
            Class::Worker => {}
        }
    }

    /// Schedules the end of the running task's step (or of its deadline budget).
    pub(crate) fn arm_segment(&mut self, c: u32) {
        let now = self.now;
        let cpu = &mut self.cpus[c as usize];
        cpu.line.segment.cancel();
        if cpu.line.irq_depth > 0 {
            return;
        }
        if cpu.curr == NO_TASK {
            return self.arm_idle_entry(c);
        }
        let task = &self.tasks[cpu.curr as usize];
        let (leaves, line) = (cpu.resched.is_asked(), &cpu.line);
        // It leaves at the end of the path.
        let step_ns = if leaves { 0 } else { task.progress.left_ns(line.speed, now, line.overhead_ns) };
        let mut left = step_ns.saturating_add(line.overhead_ns);
        let until = |at_ns: Option<u64>| at_ns.map_or(u64::MAX, |at| at.saturating_sub(now));
        match task.class() {
            // With or without budget.
            _ if leaves => {}
            Class::Fair => left = left.min(until(line.request_timer_ns)),
            Class::Deadline => left = left.min(until(task.dl.hrtick_at_ns())),
            Class::Realtime | Class::Worker => {}
        }
        self.push_segment(c, now.saturating_add(left));
    }

    /// The segment of `c` ends at `at`.
    #[inline]
    pub(crate) fn push_segment(&mut self, c: u32, at: u64) {
        if at <= self.end_ns
            && let Some(generation) = self.cpus[c as usize].line.segment.set(at)
        {
            self.queue.push(at, Ev::SegmentEnd { cpu: c, generation });
        }
    }

    /// Adds kernel time to a CPU, scaled by its speed; returns what it takes, without the wait for other CPUs where
    /// they execute one after another.
    #[inline(always)]
    pub(crate) fn charge_cost(&mut self, c: u32, cost_ns: u64) -> u64 {
        if cost_ns == 0 {
            return 0;
        }
        let wall_ns = wall_ns(self.m.costs.at_any_speed, self.cpus[c as usize].line.speed, cost_ns);
        let waits_ns = if self.m.costs.one_at_a_time { self.awaits_turn(c, wall_ns) } else { 0 };
        self.charge_wall(c, wall_ns.saturating_add(waits_ns));
        wall_ns
    }

    /// A path of CPU `c` that takes so long waits for those of other CPUs: how long.
    #[cold]
    fn awaits_turn(&mut self, c: u32, wall_ns: u64) -> u64 {
        let ready_ns = self.now.saturating_add(self.path_left_ns(c));
        self.lines.awaits_turn(ready_ns, wall_ns)
    }

    /// Adds kernel time that does not depend on the CPU's speed.
    #[inline(always)]
    pub(crate) fn charge_wall(&mut self, c: u32, wall_ns: u64) {
        if wall_ns == 0 {
            return;
        }
        self.account(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.line.overhead_ns = cpu.line.overhead_ns.saturating_add(wall_ns);
        if cpu.curr != NO_TASK {
            self.arm_segment(c);
        }
    }

    /// CPU `c` was idle for this long: some of it counts as busy where a task of it waits for I/O.
    pub(crate) fn account_iowait(&mut self, c: u32, delta: u64) {
        if self.policy.io_is_busy != 0 && self.waits_for_io(c) {
            self.cpus[c as usize].line.iowait_ns += delta;
        }
    }

    /// Does a task that ran on CPU `c` last wait for I/O?
    pub(crate) fn waits_for_io(&self, c: u32) -> bool {
        self.cpus[c as usize].line.nr_iowait() > 0
    }

    pub(crate) fn has_fair_server(&self) -> bool {
        self.policy.rt_limit == value::RT_LIMIT_FAIR_SERVER
    }

    /// The end of the work that keeps a CPU without a task awake.
    pub(crate) fn arm_idle_entry(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if cpu.is_awake() {
            let at = self.now.saturating_add(cpu.line.overhead_ns);
            self.push_segment(c, at);
        }
    }

    /// A segment's event surfaces: is it still its end?
    pub(crate) fn segment_due(&mut self, cpu: u32, generation: u32) -> bool {
        match self.cpus[cpu as usize].line.segment.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::SegmentEnd { cpu, generation }),
            other => return other.is_ok(),
        }
        false
    }
}
