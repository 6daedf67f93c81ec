// SPDX-License-Identifier: GPL-2.0-or-later
//! The interactive governor: a deferrable timer of each CPU, a second one that wakes the CPU from idle, and a thread of
//! the highest priority. The arithmetic is the core's (`interactive.h`).

use pelton_core::{Interactive, InteractiveCpu, Limits};

use crate::engine::Wakeup;
use crate::engine::queue::Ev;
use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::Engine;

/// `timer_slack_us` that means never.
const SLACK_NEVER_US: u32 = 100_000_000;

/// Timers of a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuTimers {
    pub record: InteractiveCpu,
    /// Generation of the timers that count; events of older ones are stale.
    pub generation: u32,
    /// The first one expired while the CPU was idle.
    pub due: bool,
    /// Time at which the second one wakes the CPU, ns.
    pub wakes_ns: Option<u64>,
}

impl<S: Run> Engine<'_, S> {
    /// The governor of CPU `c` has timers.
    pub(crate) fn has_timers(&self, c: u32) -> bool {
        pelton_core::governor_timers(self.policy.get()) && !self.is_given(c)
    }

    /// The governor starts on all CPUs; a boost that is always on is written right afterwards.
    pub(crate) fn start_timers(&mut self) {
        for c in (0..self.cpus.len() as u32).filter(|&c| self.has_timers(c)).collect::<Vec<_>>() {
            let (d, times) = (self.m.cpus[c as usize].domain as usize, self.idle_times(c));
            let domain = &mut self.domains[d];
            domain.freq.interactive.cur_khz = domain.freq.sugov.cur_khz;
            self.cpus[c as usize].freq.timers_of.record =
                InteractiveCpu::join(self.policy.get(), &domain.freq.interactive, &times);
            self.arm_cpu_timer(c);
        }
        if self.policy.boost_val != 0 {
            self.boost_all();
        }
        let pulses: Vec<u64> = self.w.pulses.iter().copied().filter(|&at| at <= self.end_ns).collect();
        for at in pulses {
            self.queue.push(at, Ev::BoostPulse);
        }
    }

    /// The moment `us` after the last tick, at a tick.
    fn tick_after_us(&self, us: u32) -> u64 {
        let since_tick = self.since_tick(self.now);
        let ticks = (u64::from(us) * 1000).div_ceil(self.tick_ns).max(1);
        self.now + ticks * self.tick_ns - since_tick
    }

    fn arm_cpu_timer(&mut self, c: u32) {
        let at = self.tick_after_us(self.policy.timer_rate_us);
        let interactive = &self.domains[self.m.cpus[c as usize].domain as usize].freq.interactive;
        let slack_ticks = (u64::from(self.policy.timer_slack_us) * 1000).div_ceil(self.tick_ns);
        let timers = &mut self.cpus[c as usize].freq.timers_of;
        let watches =
            self.policy.timer_slack_us < SLACK_NEVER_US && timers.record.watches(self.policy.get(), interactive);
        timers.generation = timers.generation.wrapping_add(1);
        timers.wakes_ns = watches.then(|| at + slack_ticks * self.tick_ns);
        let (generation, wakes_ns) = (timers.generation, timers.wakes_ns);
        if at <= self.end_ns {
            self.queue.push(at, Ev::CpuTimer { cpu: c, generation, wakes: false });
        }
        if let Some(at) = wakes_ns.filter(|&at| at <= self.end_ns) {
            self.queue.push(at, Ev::CpuTimer { cpu: c, generation, wakes: true });
        }
    }

    /// Time at which a timer of the governor wakes CPU `c` from idle; `u64::MAX` = none does.
    pub(crate) fn timer_wakes_ns(&self, c: u32) -> u64 {
        self.cpus[c as usize].freq.timers_of.wakes_ns.unwrap_or(u64::MAX)
    }

    /// The timers of this generation count on CPU `c`.
    pub(crate) fn timer_counts(&self, c: u32, generation: u32) -> bool {
        self.cpus[c as usize].freq.timers_of.generation == generation
    }

    /// A timer of CPU `c` expires. The first one waits for a CPU that sleeps, the second one wakes it.
    pub(crate) fn cpu_timer_due(&mut self, c: u32, wakes: bool) -> Option<Wakeup> {
        match self.cpus[c as usize].power() {
            Power::Awake if !wakes => return self.cpu_timer(c),
            Power::Idle { .. } if wakes => self.leave_idle(c),
            _ => {}
        }
        self.cpus[c as usize].freq.timers_of.due |= !wakes;
        None
    }

    /// CPU `c` executes again: it serves a timer that expired meanwhile.
    pub(crate) fn serve_cpu_timer(&mut self, c: u32) -> Option<Wakeup> {
        if !std::mem::take(&mut self.cpus[c as usize].freq.timers_of.due) {
            return None;
        }
        self.cpu_timer(c)
    }

    fn cpu_timer(&mut self, c: u32) -> Option<Wakeup> {
        self.exec = c;
        let (d, times) = (self.m.cpus[c as usize].domain, self.idle_times(c));
        let cost_ns = self.charge_cost(c, self.m.costs.hook_ns);
        let (cpu, domain) = (&mut self.cpus[c as usize], &mut self.domains[d as usize]);
        cpu.report.hook_ns += cost_ns;
        domain.report.evaluations += 1;
        let record = &mut cpu.freq.timers_of.record;
        let woken = domain.freq.interactive.timer(self.policy.get(), record, &times, domain.hw.khz());
        record.rearm(self.policy.get(), &times);
        self.arm_cpu_timer(c);
        if woken { self.kick_thread(d, c) } else { None }
    }

    fn kick_thread(&mut self, d: u32, c: u32) -> Option<Wakeup> {
        self.domains[d as usize].freq.kicked = true;
        self.domains[d as usize].freq.worker_task.map(|task| Wakeup { task, exec: c })
    }

    /// The thread looks at domain `d`: the frequency it gets.
    pub(crate) fn adjusted_khz(&mut self, d: u32) -> u32 {
        let cpus = &self.m.domains[d as usize].cpus;
        let mut records: Vec<InteractiveCpu> =
            cpus.iter().map(|&c| self.cpus[c as usize].freq.timers_of.record).collect();
        let domain = &self.domains[d as usize];
        let khz = domain.freq.interactive.adjust(&mut records, domain.hw.khz()).unwrap_or(domain.freq.sugov.cur_khz);
        for (&c, record) in cpus.iter().zip(records) {
            self.cpus[c as usize].freq.timers_of.record = record;
        }
        khz
    }

    /// Domain `d` is about to run at `khz`: what its CPUs did until now was done at the old frequency.
    pub(crate) fn note_old_frequency(&mut self, d: u32, khz: u32) {
        let m = self.m;
        let cpus = &m.domains[d as usize].cpus;
        if !self.has_timers(cpus[0]) {
            return;
        }
        for &c in cpus {
            let times = self.idle_times(c);
            let interactive = &self.domains[d as usize].freq.interactive;
            self.cpus[c as usize].freq.timers_of.record.account(self.policy.get(), interactive, &times);
        }
        self.domains[d as usize].freq.interactive.cur_khz = khz;
    }

    /// Domain `d` has new limits, and runs inside them.
    pub(crate) fn limit_timers(&mut self, d: u32, limits: Limits) {
        let m = self.m;
        let domain = &mut self.domains[d as usize];
        (domain.freq.interactive.min_khz, domain.freq.interactive.max_khz) = (limits.min_khz, limits.max_khz);
        for &c in &m.domains[d as usize].cpus {
            self.cpus[c as usize].freq.timers_of.record.limits(&self.domains[d as usize].freq.interactive);
        }
    }

    /// A program asks for a boost for a while.
    pub(crate) fn boost_pulse(&mut self) -> Vec<Wakeup> {
        let now_us = self.now / 1000;
        let mut asked = Vec::new();
        for d in 0..self.domains.len() as u32 {
            let governed = self.has_timers(self.m.domains[d as usize].cpus[0]);
            if governed && self.domains[d as usize].freq.interactive.pulse(self.policy.get(), now_us) {
                asked.extend(self.boost_domain(d));
            }
        }
        asked
    }

    /// Each CPU asks for the frequency of bursts, if that is more.
    fn boost_domain(&mut self, d: u32) -> Option<Wakeup> {
        let (m, now_us) = (self.m, self.now / 1000);
        let mut any = false;
        for &c in &m.domains[d as usize].cpus {
            any |=
                self.cpus[c as usize].freq.timers_of.record.boost(&self.domains[d as usize].freq.interactive, now_us);
        }
        if any { self.kick_thread(d, m.domains[d as usize].cpus[0]) } else { None }
    }

    fn boost_all(&mut self) {
        for d in 0..self.domains.len() as u32 {
            if self.has_timers(self.m.domains[d as usize].cpus[0])
                && let Some(wakeup) = self.boost_domain(d)
            {
                self.queue.push(self.now, Ev::WorkerKick { domain: d, cpu: wakeup.exec });
            }
        }
    }
}

/// A domain's record at the start.
pub(crate) fn record(policy: &pelton_core::Policy, khz: &[u32], cur: u32) -> Interactive {
    Interactive::start(policy, Limits { min_khz: khz[0], max_khz: khz[khz.len() - 1] }, cur)
}
