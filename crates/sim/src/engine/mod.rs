// SPDX-License-Identifier: GPL-2.0-only
//! The event loop: time, progress of the running tasks, and what each kind of event sets off.

pub(crate) mod queue;
pub(crate) mod rng;
pub(crate) mod setup;
pub(crate) mod state;

use std::collections::VecDeque;
use std::ops::ControlFlow;

use pelton_core::{Policy, value};
use pelton_schema::{Event, Sink};

use crate::class::Class;
use crate::class::fair::FairRules;
use crate::engine::queue::{Ev, EventQueue};
use crate::engine::rng::RunRng;
use crate::engine::state::{CpuState, Deferred, DomainState, Life, NO_TASK, Power, SPEED_SHIFT, Step, Task};
use crate::machine::Machine;
use crate::program::sync::Objects;
use crate::report::Report;
use crate::rq::groups::Groups;
use crate::rq::signals::SignalClock;
use crate::workload::Workload;
use crate::{GivenFrequency, SimError};

/// How much simulated time passes between two calls of the progress function.
const PROGRESS_STEP_NS: u64 = 100_000_000;

/// Steps that may happen at one instant before the run is stopped as making no progress: all tasks may start at once, but
/// tasks that wake each other without ever working do so for ever.
const INSTANT_STEPS_MAX: u32 = 20_000;
/// The same, per task of the workload.
const INSTANT_STEPS_PER_TASK: u32 = 20;

/// What of the hook filter the engine has to know; the filter itself is the core's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    /// Context switches are events.
    pub switches: bool,
    /// The flag of events that depend on the length of the tick.
    pub long_tick: u32,
}

impl Hooks {
    /// The filter of a policy on a machine with ticks of this length.
    pub(crate) fn of(policy: &Policy, tick_ns: u64) -> Hooks {
        let switches = policy.hook_filter == value::HOOK_FILTER_H3;
        Hooks { switches, long_tick: pelton_core::hook::tick_is_long(tick_ns) }
    }
}

/// One run in progress.
pub(crate) struct Engine<'a, S: Sink> {
    pub m: &'a Machine,
    pub w: &'a Workload,
    pub policy: Policy,
    pub fair_rules: FairRules,
    pub hooks: Hooks,
    /// Task groups of the workload.
    pub groups: Groups,
    /// There are any.
    pub grouped: bool,
    /// Some of them have a quota, and it is kept.
    pub quotas: bool,
    /// CPUs differ in capacity.
    pub asymmetric: bool,
    /// Boost groups of the workload.
    pub boosts: crate::rq::boosts::Boosts,
    /// Tasks have utilization clamps.
    pub clamped: bool,
    /// They add up.
    pub clamp_sums: bool,
    /// Where fair tasks go from 5.10 on.
    pub placing: crate::sched::placing::Placing,
    /// Which tasks are moved between CPUs, from 5.10 on.
    pub balancing: crate::sched::balancing::Balancing,
    pub now: u64,
    /// The kernel's clocks at time 0 of the run.
    pub boot_ns: u64,
    /// Calls of the governor before this time are not counted.
    pub counted_from_ns: u64,
    /// Time as the signals see it.
    pub signal_clock: SignalClock,
    pub end_ns: u64,
    pub tick_ns: u64,
    pub tick_phase_ns: u64,
    pub queue: EventQueue,
    pub cpus: Vec<CpuState>,
    pub tasks: Vec<Task>,
    pub domains: Vec<DomainState>,
    /// Frequencies that are given, by domain.
    pub frequencies: Vec<Vec<GivenFrequency>>,
    pub objects: Objects,
    pub shared_timers: Vec<crate::engine::state::TimerState>,
    pub resched: VecDeque<u32>,
    /// CPU that executes the code of the current event.
    pub exec: u32,
    pub rng: RunRng,
    pub sink: S,
    pub sim_events: u64,
    pub living: u32,
    /// CPUs on which a fair task waits behind another task.
    pub overloaded: crate::workload::CpuSet,
    /// CPUs with nothing to run.
    pub idle: crate::workload::CpuSet,
    /// Cache group of each CPU.
    pub llc_of: Vec<u32>,
    /// The CPUs with each of these numbers.
    pub llc_sets: Vec<crate::workload::CpuSet>,
    /// CPUs that went idle without their tick, and no tick found them busy since.
    pub nohz: crate::workload::CpuSet,
    /// CPUs on which an RT task waits (a pull can only succeed when there is one).
    pub rt_waiting: crate::workload::CpuSet,
    /// CPUs on which a deadline task waits.
    pub dl_waiting: crate::workload::CpuSet,
    pub chores: Chores,
    /// What each CPU asks of its frequency domain.
    pub targets: crate::freq::targets::Targets,
    /// What is watched of how far frequencies are from the need.
    pub clocks: crate::observe::demand::Clocks,
    pub cluster_energy: Vec<crate::hw::energy::ClusterEnergy>,
    /// Idle states of each domain as the governor sees them.
    pub idle_tables: Vec<pelton_core::IdleTable>,
    /// Speed depends on neighbours (`speed.rs`).
    pub shared_hardware: bool,
    /// Cores with a thread awake, by cluster; counted when hardware is shared.
    pub active_cores: Vec<u32>,
    /// When each cluster is out of the state that its CPUs share, or was last.
    pub cluster_up_ns: Vec<u64>,
    /// Steps since time last advanced.
    pub instant_steps: u32,
    /// A task that spins without consuming time.
    pub spinning: Option<u32>,
}

/// What is done for all CPUs once in a while.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chores {
    /// End of the real-time limit's period; 0 = nobody needs one.
    pub rt_period_end_ns: u64,
    /// When the next walk over idle CPUs is due for their load, ticks.
    pub next_blocked_ticks: u64,
    /// The same to balance.
    pub next_balance_ticks: u64,
    /// An idle CPU without tick may have load to refresh.
    pub idle_blocked: bool,
    /// Some CPU had two tasks when one was last enqueued, or when all were last looked at.
    pub overload: bool,
}

impl<S: Sink> Engine<'_, S> {
    /// Runs to the end; `progress` may stop it.
    pub(crate) fn run(&mut self, progress: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<Report, SimError> {
        let mut next_progress = PROGRESS_STEP_NS;
        while let Some((time_ns, ev)) = self.queue.pop() {
            if time_ns > self.end_ns || self.living == 0 {
                break;
            }
            if time_ns >= next_progress {
                next_progress = time_ns - time_ns % PROGRESS_STEP_NS + PROGRESS_STEP_NS;
                if progress(time_ns).is_break() {
                    return Err(SimError::Interrupted { at_ns: self.now });
                }
            }
            self.step(time_ns, ev)?;
        }
        Ok(self.finish())
    }

    /// One event and everything it sets off at the same instant.
    pub(crate) fn step(&mut self, time_ns: u64, ev: Ev) -> Result<(), SimError> {
        if time_ns > self.now {
            self.instant_steps = 0;
        }
        self.now = time_ns;
        self.sim_events += 1;
        self.note_instant_step(self.cpus[self.exec as usize].curr);
        self.dispatch(ev);
        self.settle();
        match self.spinning {
            Some(task) => Err(SimError::NoProgress { task: self.tasks[task as usize].name.clone(), at_ns: self.now }),
            None => Ok(()),
        }
    }

    fn dispatch(&mut self, ev: Ev) {
        match ev {
            Ev::SegmentEnd { cpu, generation } if self.segment_due(cpu, generation) => self.segment_end(cpu),
            Ev::Tick { cpu, generation } if self.tick_due(cpu, generation) => self.tick(cpu),
            Ev::TaskTimer { task, generation } if self.tasks[task as usize].timer_generation == generation => {
                self.timer_due(task, generation)
            }
            Ev::TaskStart { task } => self.start_task(task),
            Ev::IdleExit { cpu, generation } if self.cpus[cpu as usize].idle_generation == generation => {
                self.idle_exited(cpu)
            }
            Ev::PollLimit { cpu, generation } if self.cpus[cpu as usize].idle_generation == generation => {
                self.poll_limit(cpu)
            }
            Ev::Reaction { cpu, generation } if self.reaction_due(cpu, generation) => self.react(cpu),
            Ev::IrqStart { source } => self.irq_due(source),
            Ev::IrqEnd { cpu, source } => self.irq_end(cpu, source),
            Ev::WorkerKick { domain, cpu } => self.worker_kick(domain, cpu),
            Ev::DriverDone { domain } => self.driver_done(domain),
            Ev::GivenFrequency { domain, index } => self.given_frequency(domain, index),
            Ev::DlReplenish { task, generation } if self.tasks[task as usize].dl.throttle_generation == generation => {
                self.dl_replenish(task)
            }
            Ev::Sample { domain, generation } if self.domains[domain as usize].sample_generation == generation => {
                self.sample_due(domain)
            }
            Ev::Limits { index } => self.change_limits(index),
            Ev::GroupWrite { index } => self.change_group_files(index),
            Ev::BoostWrite { group, boost } => self.write_boost(group, boost),
            Ev::QuotaTimer { group, kind, generation }
                if self.groups.list[group as usize].timers[kind as usize].generation == generation =>
            {
                self.quota_timer_due(group, kind)
            }
            Ev::RtUnthrottle { cpu } => self.rt_unthrottle(cpu),
            Ev::RtPeriod => self.rt_period(),
            Ev::DlZeroLag { task, generation } if self.tasks[task as usize].dl.zero_lag_generation == generation => {
                self.dl_zero_lag(task)
            }
            _ => self.sim_events -= 1,
        }
    }

    /// Carries out the rescheduling that the event asked for, in the order it was asked.
    fn settle(&mut self) {
        while let Some(cpu) = self.resched.pop_front() {
            if self.cpus[cpu as usize].need_resched && !self.finishes_path_first(cpu) {
                self.schedule(cpu);
                self.note_instant_step(self.cpus[cpu as usize].curr);
            }
            if self.spinning.is_some() {
                return;
            }
        }
    }

    /// Counts what happens without time passing; `task` is named when it is too much.
    fn note_instant_step(&mut self, task: u32) {
        self.instant_steps += 1;
        let per_task = (self.w.tasks.len() as u32).saturating_mul(INSTANT_STEPS_PER_TASK);
        if self.instant_steps > INSTANT_STEPS_MAX.saturating_add(per_task) {
            self.spinning = Some(task.min(self.tasks.len() as u32 - 1));
        }
    }

    /// Brings a CPU's running task, energy and time totals up to now.
    #[inline(always)]
    pub(crate) fn account(&mut self, c: u32) {
        let delta = self.now - self.cpus[c as usize].accounted_ns;
        if delta > 0 {
            self.account_time(c, delta);
        }
    }

    #[inline(never)]
    fn account_time(&mut self, c: u32, delta: u64) {
        self.cpus[c as usize].accounted_ns = self.now;
        self.charge_energy(c, delta);
        let cpu = &mut self.cpus[c as usize];
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

    fn charge_task(&mut self, c: u32, delta: u64) {
        let cpu = &mut self.cpus[c as usize];
        let overhead = delta.min(cpu.overhead_ns);
        let exec = delta - overhead;
        cpu.overhead_ns -= overhead;
        cpu.report.overhead_ns += overhead;
        cpu.report.busy_ns += exec;
        let task = &mut self.tasks[cpu.curr as usize];
        task.report.run_ns += exec;
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
            Step::Fetch => {}
        }
        match task.class {
            Class::Fair => {
                let used_up = if self.grouped {
                    self.tree(c).charge(delta)
                } else {
                    cpu.fair.charge(&self.fair_rules, &mut self.tasks, delta)
                };
                if used_up {
                    self.resched_cpu(c);
                }
                self.charge_quotas(c, delta);
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
        let cpu = &mut self.cpus[c as usize];
        cpu.segment.cancel();
        if cpu.irq_depth > 0 {
            return;
        }
        if cpu.curr == NO_TASK {
            return self.arm_idle_entry(c);
        }
        let task = &self.tasks[cpu.curr as usize];
        let left = match task.step {
            _ if cpu.need_resched => 0,
            Step::Fetch => 0,
            Step::Work(left) => left.div_ceil(cpu.speed.max(1)),
            Step::Wall(left) => left,
        };
        let mut left = left.saturating_add(cpu.overhead_ns);
        match task.class {
            // It leaves at the end of the path, with or without budget.
            _ if cpu.need_resched => {}
            Class::Deadline => left = left.min(task.dl.hrtick_at_ns.map_or(left, |at| at.saturating_sub(self.now))),
            Class::Realtime if self.has_fair_server() => left = left.min(self.rt_left(c)),
            _ => {}
        }
        let at = self.now.saturating_add(left);
        self.push_segment(c, at);
    }

    /// The segment of `c` ends at `at`.
    pub(crate) fn push_segment(&mut self, c: u32, at: u64) {
        if at <= self.end_ns
            && let Some(generation) = self.cpus[c as usize].segment.set(at)
        {
            self.queue.push(at, Ev::SegmentEnd { cpu: c, generation });
        }
    }

    /// A segment's event surfaces: is it still its end?
    fn segment_due(&mut self, cpu: u32, generation: u32) -> bool {
        match self.cpus[cpu as usize].segment.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::SegmentEnd { cpu, generation }),
            other => return other.is_ok(),
        }
        false
    }

    fn tick_due(&mut self, cpu: u32, generation: u32) -> bool {
        match self.cpus[cpu as usize].tick.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::Tick { cpu, generation }),
            other => return other.is_ok(),
        }
        false
    }

    fn segment_end(&mut self, c: u32) {
        self.exec = c;
        self.account(c);
        let t = self.cpus[c as usize].curr;
        let idle_kernel = self.cpus[c as usize].overhead_ns == 0;
        if t == NO_TASK && !self.cpus[c as usize].need_resched {
            return self.go_idle(c);
        }
        if t == NO_TASK {
            return self.resched.push_back(c);
        }
        self.check_fair_server(c);
        let done = matches!(self.tasks[t as usize].step, Step::Fetch | Step::Work(0) | Step::Wall(0));
        if self.cpus[c as usize].need_resched {
            self.resched.push_back(c);
        } else if done && idle_kernel {
            self.advance(c);
        } else {
            self.arm_segment(c);
        }
        self.hrtick(c, t);
    }

    /// The high-resolution tick of a deadline task.
    fn hrtick(&mut self, c: u32, t: u32) {
        if self.cpus[c as usize].curr != t || self.tasks[t as usize].dl.hrtick_at_ns.is_none_or(|at| at > self.now) {
            return;
        }
        self.tasks[t as usize].dl.hrtick_at_ns = None;
        self.account_dl(c);
        if !self.tasks[t as usize].dl.throttled() {
            self.start_hrtick(t);
            self.arm_segment(c);
        }
    }

    fn timer_expired(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        self.exec = c;
        self.disarm_timer(t);
        match self.cpus[c as usize].power {
            // The timer's own interrupt first has to bring the CPU out of idle.
            Power::Idle { .. } => {
                self.cpus[c as usize].deferred.push(Deferred::Timer(t));
                self.leave_idle(c);
            }
            Power::Exiting { .. } => self.cpus[c as usize].deferred.push(Deferred::Timer(t)),
            Power::Awake => self.wake(t, c),
        }
    }

    /// A task's timer expires, or has to wait until its CPU listens to interrupts again.
    fn timer_due(&mut self, t: u32, generation: u32) {
        let until = self.cpus[self.tasks[t as usize].cpu as usize].searching_until_ns;
        if self.now < until {
            return self.queue.push(until, Ev::TaskTimer { task: t, generation });
        }
        self.timer_expired(t);
    }

    /// Sleeping until `at_ns`: arms the task's timer on the CPU it sleeps on.
    pub(crate) fn arm_timer(&mut self, t: u32, at_ns: u64) {
        let task = &mut self.tasks[t as usize];
        task.timer_generation += 1;
        task.armed_ns = Some(at_ns);
        let generation = task.timer_generation;
        self.cpus[task.cpu as usize].timers.insert((at_ns, t));
        if at_ns <= self.end_ns {
            self.queue.push(at_ns, Ev::TaskTimer { task: t, generation });
        }
    }

    fn disarm_timer(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        if let Some(at) = task.armed_ns.take() {
            self.cpus[task.cpu as usize].timers.remove(&(at, t));
        }
    }

    /// An interrupt source fires: its handler runs when its CPU executes.
    fn irq_due(&mut self, source: u32) {
        let spec = self.w.irqs[source as usize];
        let wait_ns = spec.period_ns.max(1).saturating_add(self.rng.up_to(spec.jitter_ns));
        let next = self.now.saturating_add(wait_ns);
        if next <= self.end_ns {
            self.queue.push(next, Ev::IrqStart { source });
        }
        if self.cpus[spec.cpu as usize].power == Power::Awake {
            self.irq_start(source);
        } else {
            self.cpus[spec.cpu as usize].deferred.push(Deferred::Irq(source));
            self.leave_idle(spec.cpu);
        }
    }

    pub(crate) fn irq_start(&mut self, source: u32) {
        let spec = self.w.irqs[source as usize];
        self.account(spec.cpu);
        self.cpus[spec.cpu as usize].irq_depth += 1;
        self.cpus[spec.cpu as usize].segment.cancel();
        self.emit(Event::IrqEntry { cpu: spec.cpu, irq: source });
        self.queue.push(self.now.saturating_add(spec.duration_ns), Ev::IrqEnd { cpu: spec.cpu, source });
    }

    fn irq_end(&mut self, c: u32, source: u32) {
        self.exec = c;
        self.account(c);
        self.cpus[c as usize].irq_depth -= 1;
        self.update_clock(c);
        self.emit(Event::IrqExit { cpu: c, irq: source });
        if self.cpus[c as usize].irq_depth == 0 {
            self.arm_segment(c);
            if self.cpus[c as usize].need_resched {
                self.resched.push_back(c);
            }
        }
    }

    /// Tells the sink; free when the sink is off.
    #[inline]
    pub(crate) fn emit(&mut self, event: Event) {
        if S::ACTIVE {
            self.sink.event(self.now, &event);
        }
    }

    /// Adds kernel time to a CPU, scaled by its speed; returns what it takes.
    pub(crate) fn charge_cost(&mut self, c: u32, cost_ns: u64) -> u64 {
        let speed = self.cpus[c as usize].speed.max(1);
        let wall_ns = (cost_ns.min(u64::MAX >> SPEED_SHIFT) << SPEED_SHIFT) / speed;
        self.charge_wall(c, wall_ns);
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

    /// Names of tasks that can never run again.
    pub(crate) fn stuck(&self) -> Vec<String> {
        let stuck = |t: &&Task| {
            t.life == Life::Sleeping
                && t.armed_ns.is_none()
                && matches!(t.kind, crate::engine::state::Kind::Program { .. })
        };
        let all_quiet = self.cpus.iter().all(|c| c.curr == NO_TASK && c.deferred.is_empty())
            && self.tasks.iter().all(|t| t.armed_ns.is_none());
        if all_quiet { self.tasks.iter().filter(stuck).map(|t| t.name.clone()).collect() } else { Vec::new() }
    }
}
