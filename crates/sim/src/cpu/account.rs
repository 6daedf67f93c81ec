// SPDX-License-Identifier: GPL-2.0-only
//! Time passes on a CPU: its running task makes progress, the kernel's own work is paid for, energy is charged, and the
//! end of the present step is known.

use pelton_core::value;
use pelton_schema::Sink;

use crate::class::Class;
use crate::engine::Engine;
use crate::engine::queue::Ev;
use crate::engine::state::{CpuState, NO_TASK, Power, SPEED_SHIFT, Step};
use crate::hw::energy::charge_state;

/// What `cost_ns` of kernel work takes on a CPU of this speed.
#[inline]
fn wall_ns(at_any_speed: bool, speed: u64, cost_ns: u64) -> u64 {
    let speed = if at_any_speed { 1 << SPEED_SHIFT } else { speed.max(1) };
    (cost_ns.min(u64::MAX >> SPEED_SHIFT) << SPEED_SHIFT) / speed
}

/// How long the CPU still works at this step, the kernel's own work not counted.
#[inline]
fn left_ns(cpu: &CpuState, step: Step, now: u64) -> u64 {
    match step {
        _ if cpu.need_resched => 0,
        Step::Fetch => 0,
        Step::Work(left) => left.div_ceil(cpu.speed.max(1)),
        Step::Wall(left) => left,
        Step::Until(at_ns) => at_ns.saturating_sub(now).saturating_sub(cpu.overhead_ns),
    }
}

impl<S: Sink> Engine<'_, S> {
    /// Brings a CPU's running task, energy and time totals up to now.
    #[inline(always)]
    pub(crate) fn account(&mut self, c: u32) {
        let delta = self.now - self.cpus[c as usize].accounted_ns;
        if delta > 0 {
            self.account_time(c, delta);
        }
    }

    #[inline(never)]
    pub(crate) fn account_time(&mut self, c: u32, delta: u64) {
        self.split_calls(c, delta);
        let shared_uw = self.shared_power_uw(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.accounted_ns = self.now;
        let energy_fj = charge_state(cpu, shared_uw, delta);
        if cpu.curr != NO_TASK {
            self.tasks[cpu.curr as usize].energy_fj += energy_fj;
        }
        if cpu.irq_depth > 0 {
            cpu.report.irq_ns += delta;
            cpu.irq_pending_ns += delta;
        } else if cpu.curr == NO_TASK {
            match cpu.power {
                Power::Idle { state } | Power::Exiting { state } => {
                    cpu.report.idle_ns[state as usize] += delta;
                    self.account_iowait(c, delta);
                }
                Power::Awake => {
                    cpu.report.overhead_ns += delta;
                    cpu.overhead_ns = cpu.overhead_ns.saturating_sub(delta);
                }
            }
        } else {
            self.charge_task(c, delta);
        }
    }

    pub(crate) fn charge_task(&mut self, c: u32, delta: u64) {
        let cpu = &mut self.cpus[c as usize];
        let overhead = delta.min(cpu.overhead_ns);
        let exec = delta - overhead;
        cpu.overhead_ns -= overhead;
        cpu.report.overhead_ns += overhead;
        cpu.report.busy_ns += exec;
        let task = &mut self.tasks[cpu.curr as usize];
        task.report.ran_on(self.m.cpus[c as usize].domain, exec);
        if self.policy.ignore_nice_load != 0 && task.policy.is_nice() {
            cpu.nice_ns += exec;
        }
        match &mut task.step {
            Step::Work(left) => {
                let done = (exec * cpu.speed).min(*left);
                *left -= done;
                task.report.work_ns += done >> SPEED_SHIFT;
            }
            Step::Wall(left) => *left = left.saturating_sub(exec),
            Step::Fetch | Step::Until(_) => {}
        }
        match task.class {
            Class::Fair => {
                cpu.charge_later(delta);
                if self.quotas {
                    self.charge_quotas(c, delta);
                }
            }
            Class::Deadline => task.dl.ran_ns += delta,
            Class::Realtime => {
                task.rt.quantum_left_ns = task.rt.quantum_left_ns.saturating_sub(delta);
                cpu.rt_limit.time_ns += delta;
            }
            Class::Worker => {}
        }
    }

    /// Schedules the end of the running task's step (or of its deadline budget).
    pub(crate) fn arm_segment(&mut self, c: u32) {
        let now = self.now;
        let cpu = &mut self.cpus[c as usize];
        cpu.segment.cancel();
        if cpu.irq_depth > 0 {
            return;
        }
        if cpu.curr == NO_TASK {
            return self.arm_idle_entry(c);
        }
        let task = &self.tasks[cpu.curr as usize];
        let mut left = left_ns(cpu, task.step, now).saturating_add(cpu.overhead_ns);
        let until = |at_ns: Option<u64>| at_ns.map_or(u64::MAX, |at| at.saturating_sub(now));
        match task.class {
            // It leaves at the end of the path, with or without budget.
            _ if cpu.need_resched => {}
            Class::Fair => left = left.min(until(cpu.request_timer_ns)),
            Class::Deadline => left = left.min(until(task.dl.hrtick_at_ns)),
            Class::Realtime | Class::Worker => {}
        }
        self.push_segment(c, now.saturating_add(left));
    }

    /// The segment of `c` ends at `at`.
    #[inline]
    pub(crate) fn push_segment(&mut self, c: u32, at: u64) {
        if at <= self.end_ns
            && let Some(generation) = self.cpus[c as usize].segment.set(at)
        {
            self.queue.push(at, Ev::SegmentEnd { cpu: c, generation });
        }
    }

    /// Adds kernel time to a CPU, scaled by its speed; returns what it takes, without the wait for other CPUs where
    /// they execute one after another.
    #[inline]
    pub(crate) fn charge_cost(&mut self, c: u32, cost_ns: u64) -> u64 {
        if cost_ns == 0 {
            return 0;
        }
        let wall_ns = wall_ns(self.m.costs.at_any_speed, self.cpus[c as usize].speed, cost_ns);
        let mut all_ns = wall_ns;
        if self.m.costs.one_at_a_time {
            let ready_ns = self.now.saturating_add(self.path_left_ns(c));
            all_ns = all_ns.saturating_add(self.awaits_turn(ready_ns, wall_ns));
        }
        self.charge_wall(c, all_ns);
        wall_ns
    }

    /// Adds kernel time that does not depend on the CPU's speed.
    pub(crate) fn charge_wall(&mut self, c: u32, wall_ns: u64) {
        if wall_ns == 0 {
            return;
        }
        self.account(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.overhead_ns = cpu.overhead_ns.saturating_add(wall_ns);
        if cpu.curr != NO_TASK {
            self.arm_segment(c);
        }
    }

    /// CPU `c` was idle for this long: some of it counts as busy where a task of it waits for I/O.
    pub(crate) fn account_iowait(&mut self, c: u32, delta: u64) {
        if self.policy.io_is_busy != 0 && self.waits_for_io(c) {
            self.cpus[c as usize].iowait_ns += delta;
        }
    }

    pub(crate) fn has_fair_server(&self) -> bool {
        self.policy.rt_limit == value::RT_LIMIT_FAIR_SERVER
    }

    /// The end of the work that keeps a CPU without a task awake.
    pub(crate) fn arm_idle_entry(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if cpu.power == Power::Awake {
            let at = self.now.saturating_add(cpu.overhead_ns);
            self.push_segment(c, at);
        }
    }
}
