// SPDX-License-Identifier: GPL-2.0-or-later
//! The event loop: what each kind of event sets off, and in which order what the rooms ask for is carried out.

use std::ops::ControlFlow;

use crate::SimError;
use crate::cpu::line::Deferred;
use crate::engine::life::Life;
use crate::engine::queue::Ev;
use crate::hw::power::Power;
use crate::report::Report;
use crate::sched::schedule::Chosen;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, Task};

/// Simulated time between two calls of the progress function.
const PROGRESS_STEP_NS: u64 = 100_000_000;

/// Steps that may happen at one instant before the run is stopped as making no progress: all tasks may start at once,
/// but tasks that wake each other without ever working do so for ever.
const INSTANT_STEPS_MAX: u32 = 20_000;
/// Steps at one instant that each task of the workload adds to the limit.
const INSTANT_STEPS_PER_TASK: u32 = 20;

/// Events of a run, and what happens without time passing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    pub events: u64,
    /// Steps since time last advanced.
    steps: u32,
}

impl<S: Run> Engine<'_, S> {
    /// Runs to the end; `progress` may stop it.
    pub(crate) fn run(&mut self, progress: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<Report, SimError> {
        let mut next_progress = PROGRESS_STEP_NS;
        let drawn_step_ns = if S::DRAWN { self.sink.drawn_step_ns() } else { 0 };
        let mut next_drawn = drawn_step_ns;
        while let Some((time_ns, ev)) = self.queue.pop() {
            if time_ns > self.end_ns || self.programs.are_over() {
                break;
            }
            while S::DRAWN && drawn_step_ns > 0 && next_drawn <= time_ns {
                self.emit_drawn(next_drawn);
                next_drawn += drawn_step_ns;
            }
            if time_ns >= next_progress {
                next_progress = time_ns - time_ns % PROGRESS_STEP_NS + PROGRESS_STEP_NS;
                self.check_kernel()?;
                if progress(time_ns).is_break() {
                    return Err(SimError::Interrupted { at_ns: self.now });
                }
            }
            self.step(time_ns, ev).or_else(|error| self.check_kernel().and(Err(error)))?;
        }
        self.check_kernel()?;
        let report = self.finish();
        if drawn_step_ns > 0 {
            self.emit_drawn(self.now);
        }
        Ok(report)
    }

    /// Stops where a kernel's own code has failed: what the core answered since then is no result.
    fn check_kernel(&self) -> Result<(), SimError> {
        self.kernel.as_ref().and_then(|kernel| kernel.failure()).map_or(Ok(()), |text| Err(SimError::Kernel(text)))
    }

    /// One event and everything it sets off at the same instant.
    pub(crate) fn step(&mut self, time_ns: u64, ev: Ev) -> Result<(), SimError> {
        if time_ns > self.now {
            self.pace.steps = 0;
        }
        self.now = time_ns;
        self.pace.events += 1;
        self.note_instant_step(self.exec);
        self.dispatch(ev);
        self.settle();
        match self.programs.spinning() {
            Some(task) => Err(SimError::NoProgress { task: self.tasks[task as usize].name.clone(), at_ns: self.now }),
            None => Ok(()),
        }
    }

    #[inline]
    pub(crate) fn dispatch(&mut self, ev: Ev) {
        match ev {
            Ev::SegmentEnd { cpu, generation } if self.segment_due(cpu, generation) => self.segment_end(cpu),
            Ev::Tick { cpu, generation } if self.tick_due(cpu, generation) => self.tick(cpu),
            Ev::TaskTimer { task, generation } if self.tasks[task as usize].sleep.is_armed(generation) => {
                self.timer_due(task, generation)
            }
            Ev::TaskStart { task } => self.start_task(task),
            Ev::IdleExit { cpu, generation } if self.cpus[cpu as usize].line.idle_generation() == generation => {
                self.idle_exited(cpu)
            }
            Ev::PollLimit { cpu, generation } if self.cpus[cpu as usize].line.idle_generation() == generation => {
                self.poll_limit(cpu)
            }
            Ev::Reaction { cpu, generation } if self.reaction_due(cpu, generation) => self.reacts(cpu),
            Ev::IrqStart { source } => self.irq_due(source),
            Ev::IrqEnd { cpu, source } => self.irq_end(cpu, source),
            Ev::IoDone { task } => self.io_done(task),
            Ev::IoIrq { task } => self.io_irq_due(task),
            Ev::IoIrqEnd { cpu, task } => self.io_irq_end(cpu, task),
            Ev::WorkerKick { domain, cpu } => {
                let asked = self.worker_kick(domain, cpu);
                self.wake_asked(asked);
            }
            Ev::DriverDone { domain } => {
                let asked = self.driver_done(domain);
                self.wake_asked(asked);
            }
            Ev::FirmwareLooks { domain } => self.firmware_looks(domain),
            Ev::FirmwareRaises { domain } => self.firmware_raises(domain),
            Ev::GivenFrequency { domain, index } => self.given_frequency(domain, index),
            Ev::DlReplenish { task, generation } if self.tasks[task as usize].dl.awaits_budget(generation) => {
                self.dl_replenish(task)
            }
            Ev::Sample { domain, generation }
                if self.domains[domain as usize].freq.sample_generation() == generation =>
            {
                let asked = self.sample_due(domain);
                self.wake_asked(asked);
            }
            Ev::CpuTimer { cpu, generation, wakes } if self.timer_counts(cpu, generation) => {
                let asked = self.cpu_timer_due(cpu, wakes);
                self.wake_asked(asked);
            }
            Ev::BoostPulse => self.boost_pulse().into_iter().for_each(|asked| self.wake_asked(Some(asked))),
            Ev::Limits { index } => self.change_limits(index),
            Ev::Heat { zone } => self.heat(zone),
            Ev::GroupWrite { index } => self.group_write(index),
            Ev::BoostWrite { group, boost } => self.write_boost(group, boost),
            Ev::QuotaTimer { group, kind, generation } if self.budgets.alarm(group, kind).1 == generation => {
                self.quota_timer_due(group, kind);
                self.note_freed();
            }
            Ev::Server { cpu, generation, inactive } if self.server_due(cpu, generation, inactive) => {
                if inactive {
                    self.server_inactive(cpu)
                } else {
                    self.server_timer(cpu)
                }
            }
            Ev::RtPeriod => self.rt_period(),
            Ev::DlZeroLag { task, generation } if self.tasks[task as usize].dl.awaits_zero_lag(generation) => {
                self.dl_zero_lag(task)
            }
            Ev::Ticker => self.scx_ticker_due(),
            _ => self.pace.events -= 1,
        }
    }

    /// The files of a group are written.
    fn group_write(&mut self, index: u32) {
        let w = self.w;
        let change = &w.group_changes[index as usize];
        let group = self.groups.number(&change.path);
        let before = self.group_told(group);
        self.change_group_files(group, change);
        self.tell_group_after(group, before);
        self.note_freed();
    }

    /// Carries out the rescheduling that the event asked for, in the order it was asked.
    pub(crate) fn settle(&mut self) {
        while let Some(cpu) = self.lines.next_asked() {
            if self.cpus[cpu as usize].resched.is_asked() && !self.finishes_path_first(cpu) {
                let chosen = self.schedule(cpu);
                if chosen == Chosen::Fetches {
                    self.advance(cpu);
                }
                if chosen != Chosen::Nothing {
                    self.balance_callbacks(cpu);
                }
                self.note_instant_step(cpu);
            }
            if self.programs.spinning().is_some() {
                return;
            }
        }
    }

    /// Counts what happens without time passing; the task of CPU `c` is named when it is too much.
    #[inline]
    pub(crate) fn note_instant_step(&mut self, c: u32) {
        self.pace.steps += 1;
        if self.pace.steps > INSTANT_STEPS_MAX {
            self.note_spinning(c);
        }
    }

    #[cold]
    fn note_spinning(&mut self, c: u32) {
        let per_task = (self.w.tasks.len() as u32).saturating_mul(INSTANT_STEPS_PER_TASK);
        if self.pace.steps > INSTANT_STEPS_MAX.saturating_add(per_task) {
            self.programs.spins(self.cpus[c as usize].curr.min(self.tasks.len() as u32 - 1));
        }
    }

    pub(crate) fn segment_end(&mut self, c: u32) {
        self.exec = c;
        self.account(c);
        let cpu = &self.cpus[c as usize];
        let (t, idle_kernel) = (cpu.curr, cpu.line.path_ns() == 0);
        if t == NO_TASK {
            return if cpu.resched.is_asked() { self.lines.asks(c) } else { self.go_idle(c) };
        }
        self.hrtick_fair(c, t);
        let progress = &self.tasks[t as usize].progress;
        let done = progress.fetches() || progress.is_over(self.now);
        if self.cpus[c as usize].resched.is_asked() {
            self.lines.asks(c);
        } else if done && idle_kernel {
            self.advance(c);
        } else {
            self.arm_segment(c);
        }
        self.exit_to_user(c);
        self.hrtick(c, t);
    }

    pub(crate) fn timer_expired(&mut self, t: u32) {
        let c = self.tasks[t as usize].sleep.timer_cpu();
        self.exec = c;
        self.disarm_timer(t);
        match self.cpus[c as usize].power() {
            // The timer's own interrupt first has to bring the CPU out of idle.
            Power::Idle { .. } => {
                self.cpus[c as usize].line.defers(Deferred::Timer(t));
                self.leave_idle(c);
            }
            Power::Exiting { .. } => self.cpus[c as usize].line.defers(Deferred::Timer(t)),
            Power::Awake => {
                self.wake(t, c);
                self.exit_to_user(c);
            }
        }
    }

    /// A task's timer expires, or has to wait until its CPU listens to interrupts again.
    pub(crate) fn timer_due(&mut self, t: u32, generation: u32) {
        let until = self.cpus[self.tasks[t as usize].sleep.timer_cpu() as usize].search.until_ns();
        if self.now < until {
            return self.queue.push(until, Ev::TaskTimer { task: t, generation });
        }
        self.timer_expired(t);
    }

    /// An interrupt source fires: its handler runs when its CPU executes.
    pub(crate) fn irq_due(&mut self, source: u32) {
        let spec = self.w.irqs[source as usize];
        let wait_ns = spec.period_ns.max(1).saturating_add(self.rng.up_to(spec.jitter_ns));
        let next = self.now.saturating_add(wait_ns);
        if next <= self.end_ns {
            self.queue.push(next, Ev::IrqStart { source });
        }
        if self.cpus[spec.cpu as usize].is_awake() {
            self.irq_start(source);
        } else {
            self.cpus[spec.cpu as usize].line.defers(Deferred::Irq(source));
            self.leave_idle(spec.cpu);
        }
    }

    /// Ends a device's request: the device goes on with the next one, and interrupts the CPU that asked.
    pub(crate) fn io_done(&mut self, t: u32) {
        self.next_request(self.tasks[t as usize].sleep.asked().0);
        self.io_irq_due(t);
    }

    /// The interrupt of a device waits until its CPU listens to interrupts, and executes.
    pub(crate) fn io_irq_due(&mut self, t: u32) {
        let (_, c) = self.tasks[t as usize].sleep.asked();
        let until = self.cpus[c as usize].search.until_ns();
        if self.now < until {
            return self.queue.push(until, Ev::IoIrq { task: t });
        }
        if self.cpus[c as usize].is_awake() {
            return self.io_irq_start(t);
        }
        self.cpus[c as usize].line.defers(Deferred::Io(t));
        self.leave_idle(c);
    }

    /// Task `t`, which waited, wakes on the CPU of the interrupt.
    pub(crate) fn io_irq_end(&mut self, c: u32, t: u32) {
        self.exec = c;
        self.leave_irq(c, self.irq_of_device(self.tasks[t as usize].sleep.asked().0));
        self.cpus[c as usize].line.io_ends();
        self.wake(t, c);
        self.go_on_after_irq(c);
    }

    pub(crate) fn irq_end(&mut self, c: u32, source: u32) {
        self.exec = c;
        self.leave_irq(c, source);
        self.go_on_after_irq(c);
    }

    fn go_on_after_irq(&mut self, c: u32) {
        if !self.cpus[c as usize].line.in_irq() {
            self.arm_segment(c);
            self.exit_to_user(c);
            if self.cpus[c as usize].resched.is_asked() {
                self.lines.asks(c);
            }
        }
    }

    /// Names of tasks that can never run again.
    pub(crate) fn stuck(&self) -> Vec<String> {
        let stuck = |t: &&Task| {
            t.life() == Life::Sleeping
                && !t.sleep.wakes()
                && matches!(t.kind, crate::engine::life::Kind::Program { .. })
        };
        let all_quiet = self.cpus.iter().all(|c| c.curr == NO_TASK && c.line.defers_nothing())
            && self.tasks.iter().all(|t| !t.sleep.wakes());
        if all_quiet { self.tasks.iter().filter(stuck).map(|t| t.name.clone()).collect() } else { Vec::new() }
    }
}
