// SPDX-License-Identifier: GPL-2.0-or-later
//! ondemand and conservative: a deferrable timer, a kernel thread of ordinary priority, and the CPUs' idle time. The
//! arithmetic is the core's (`ondemand.h`).
//!
//! The timer is served by any CPU of the domain that executes; while all are idle there is no sample.

use pelton_core::{Dbs, DbsTimes, Policy};

use crate::engine::Wakeup;
use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::Engine;
use pelton_model::machine::FreqDomain;

/// A domain's record at the start.
pub(crate) fn record(policy: &Policy, spec: &FreqDomain, khz: &[u32], cur: u32, tick_ns: u64) -> Dbs {
    let delay_us = spec.transition_delay_us.unwrap_or(0) as u32;
    let (min_khz, max_khz) = (khz[0], khz[khz.len() - 1]);
    let sampling_us = pelton_core::dbs_sampling_us(policy, spec.transition_latency_ns, delay_us, tick_ns);
    let sampling_us = u32::try_from(sampling_us).unwrap_or(u32::MAX);
    Dbs {
        sampling_us,
        delay_us: sampling_us,
        cur_khz: cur,
        min_khz,
        max_khz,
        hw_min_khz: min_khz,
        hw_max_khz: max_khz,
        rate_mult: 1,
        requested_khz: cur,
        ..Dbs::default()
    }
}

impl<S: Run> Engine<'_, S> {
    /// The governor of domain `d` takes samples.
    pub(crate) fn samples(&self, d: u32) -> bool {
        pelton_core::governor_samples(self.policy.get()) && !self.is_given(self.m.domains[d as usize].cpus[0])
    }

    /// Sets the timer for the next sample: a multiple of the tick after its period.
    pub(crate) fn arm_sample(&mut self, d: u32) {
        let at = self.now + u64::from(self.domains[d as usize].freq.dbs.delay_us) * 1000;
        let late = self.since_tick(at);
        let at = if late == 0 { at } else { at + (self.tick_ns - late) };
        // A sample that is due at once is taken at the next tick.
        let at = if at == self.now { at + self.tick_ns } else { at };
        let domain = &mut self.domains[d as usize];
        domain.freq.sample_generation = domain.freq.sample_generation.wrapping_add(1);
        if at <= self.end_ns {
            self.queue.push(at, Ev::Sample { domain: d, generation: domain.freq.sample_generation });
        }
    }

    /// The timer of domain `d` expires: on a CPU that executes, or later.
    pub(crate) fn sample_due(&mut self, d: u32) -> Option<Wakeup> {
        let m = self.m;
        let awake = |&&c: &&u32| self.cpus[c as usize].is_awake();
        match m.domains[d as usize].cpus.iter().find(awake) {
            Some(&c) => self.queue_sample(d, c),
            None => {
                self.domains[d as usize].freq.sample_deferred = true;
                None
            }
        }
    }

    /// CPU `c` executes again: it serves a timer that waited for that.
    pub(crate) fn serve_deferred_sample(&mut self, c: u32) -> Option<Wakeup> {
        let d = self.m.cpus[c as usize].domain;
        if !std::mem::take(&mut self.domains[d as usize].freq.sample_deferred) {
            return None;
        }
        self.queue_sample(d, c)
    }

    fn queue_sample(&mut self, d: u32, c: u32) -> Option<Wakeup> {
        self.exec = c;
        self.domains[d as usize].freq.kicked = true;
        self.domains[d as usize].freq.worker_task.map(|task| Wakeup { task, exec: c })
    }

    /// The kernel thread looks: the frequency that domain `d` gets.
    pub(crate) fn sampled_khz(&mut self, d: u32) -> u32 {
        let (m, now) = (self.m, self.boot_ns + self.now);
        let spec = &m.domains[d as usize];
        let dbs = &mut self.domains[d as usize].freq.dbs;
        let measures = dbs.measures();
        if spec.cpus.len() > 1 && measures && !dbs.is_due(now) {
            self.arm_sample(d);
            return self.domains[d as usize].freq.sugov.cur_khz;
        }
        if measures {
            dbs.begin(now);
            spec.cpus.iter().for_each(|&c| self.sample_load(d, c));
        }
        let domain = &mut self.domains[d as usize];
        domain.report.evaluations += 1;
        let khz = domain.freq.dbs.sampled(self.policy.get(), domain.hw.khz());
        let cost_ns = self.charge_cost(self.exec, m.costs.hook_ns.saturating_mul(spec.cpus.len() as u64));
        self.cpus[self.exec as usize].report.hook_ns += cost_ns;
        self.arm_sample(d);
        khz
    }

    fn sample_load(&mut self, d: u32, c: u32) {
        let times = self.idle_times(c);
        self.domains[d as usize].freq.dbs.load(self.policy.get(), &mut self.cpus[c as usize].freq.dbs, &times);
    }

    /// Time of CPU `c` so far: in all, idle, idle with a task that waits for I/O, and for tasks with nice above 0.
    pub(crate) fn idle_times(&mut self, c: u32) -> DbsTimes {
        self.account(c);
        let wall_us = self.now / 1000;
        let cpu = &self.cpus[c as usize];
        let idle_ns: u64 = cpu.report.idle_ns.iter().sum();
        let (iowait_ns, nice_ns) = cpu.line.kinds_ns();
        let (idle_us, iowait_us) = ((idle_ns - iowait_ns) / 1000, iowait_ns / 1000);
        DbsTimes { wall_us, idle_us, iowait_us, nice_ns }
    }
}
