// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of frequency domains that change during a run. What limits come to, and what a governor does then, is the
//! core's (`limits.h`).
//!
//! The time that the writer's own driver call takes is charged to no task here, and the frequency changes at once.

use pelton_core::{Limits, Pressure, value};
use pelton_schema::Event;

use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::{DomainState, Engine};
use pelton_model::workload::{LIMIT_SOURCES, LimitChange, LimitSource};

/// Limits between the request of a domain and its clock, and firmware that looks at requests now and then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DomainLimits {
    /// State of firmware that polls: a moment at which it looks, and whether it has something to find.
    pub(in crate::freq) firmware: (u64, bool),
    /// Frequency to which the clock is about to rise, kHz; 0: none.
    pub(in crate::freq) raising_khz: u32,
    /// Lower and upper one of each source, kHz.
    asked: [(u32, u32); LIMIT_SOURCES],
    /// Some were ever asked for.
    used: bool,
    /// True while changed limits wait until the driver returns, to be carried out then.
    wait: bool,
    /// Capacity that the limits take from each CPU of the domain.
    pub(in crate::freq) pressure: Pressure,
}

/// No limits.
const OPEN: (u32, u32) = (0, u32::MAX);

impl DomainLimits {
    /// No limits; firmware, where it polls, looks at this moment first.
    pub(crate) fn behind(firmware_ns: u64) -> Self {
        let (asked, pressure) = ([OPEN; LIMIT_SOURCES], Pressure::default());
        DomainLimits { firmware: (firmware_ns, false), raising_khz: 0, asked, used: false, wait: false, pressure }
    }

    /// The strictest.
    fn strictest(&self) -> (u32, u32) {
        self.asked.iter().fold(OPEN, |(min, max), asked| (min.max(asked.0), max.min(asked.1)))
    }
}

impl DomainState {
    /// Frequency that the driver is set to when `khz` is asked for.
    pub(crate) fn driver_khz(&self, khz: u32) -> u32 {
        if self.freq.limits.used { self.freq.sugov.resolve(self.hw.khz(), khz) } else { self.settable_khz(khz) }
    }

    /// Frequency that the governor asked for last, or the one that userspace gave it.
    fn wanted_khz(&self, governor: u32) -> u32 {
        if governor == value::GOVERNOR_USERSPACE { self.freq.told_khz } else { self.freq.sd.requested_khz }
    }
}

impl<S: Run> Engine<'_, S> {
    /// Queues all changes; those of the start come before everything else.
    pub(crate) fn start_limits(&mut self) {
        for (index, change) in self.w.limits.iter().enumerate() {
            self.queue.push(change.at_ns, Ev::Limits { index: index as u32 });
        }
    }

    /// Limits change.
    pub(crate) fn change_limits(&mut self, index: u32) {
        let w = self.w;
        let LimitChange { cpus, min_khz, max_khz, by, .. } = &w.limits[index as usize];
        for d in 0..self.domains.len() as u32 {
            if self.m.domains[d as usize].cpus.iter().any(|&c| cpus.contains(c)) {
                self.ask_limits(d, *by as usize, (*min_khz, *max_khz));
            }
        }
    }

    /// A source asks for limits of domain `d`.
    pub(crate) fn ask_limits(&mut self, d: u32, source: usize, asked: (u32, u32)) {
        let limits = &mut self.domains[d as usize].freq.limits;
        let before = limits.strictest();
        limits.asked[source] = asked;
        limits.used = true;
        if limits.strictest() != before {
            self.new_limits(d);
        }
    }

    fn new_limits(&mut self, d: u32) {
        let cpu = self.m.domains[d as usize].cpus[0];
        let domain = &mut self.domains[d as usize];
        let (min, max) = domain.freq.limits.strictest();
        let limits = Limits::of(domain.hw.khz(), min, max);
        domain.freq.sugov.limits(limits.min_khz, limits.max_khz);
        domain.freq.sugov.hw_max_khz = domain.hw.khz().last().copied().unwrap_or(0);
        self.kernel_limits(d);
        let domain = &mut self.domains[d as usize];
        (domain.freq.sd.min_khz, domain.freq.sd.max_khz) = (limits.min_khz, limits.max_khz);
        let cooling = Limits::of(domain.hw.khz(), 0, domain.freq.limits.asked[LimitSource::Cooling as usize].1);
        let (cap_orig, ref_khz) = (self.m.cpus[cpu as usize].capacity, self.m.domains[d as usize].limits_ref_khz());
        domain.freq.limits.pressure =
            Pressure::of(self.policy.get(), cap_orig, ref_khz, limits.max_khz, cooling.max_khz);
        let m = self.m;
        m.domains[d as usize].cpus.iter().for_each(|&c| self.row_changes(c));
        self.exec = cpu;
        self.emit(Event::CpuFrequencyLimits { cpu, min_khz: limits.min_khz, max_khz: limits.max_khz });
        if !self.is_given(cpu) {
            self.apply_limits(d);
        }
    }

    /// The governor answers limits that are new, or waited for the driver.
    pub(crate) fn apply_limits(&mut self, d: u32) {
        let policy = self.policy.get();
        let fast = self.m.domains[d as usize].fast_switch;
        let domain = &mut self.domains[d as usize];
        domain.freq.limits.wait = domain.freq.in_driver;
        if domain.freq.in_driver {
            return;
        }
        let limits = Limits { min_khz: domain.freq.sugov.min_khz, max_khz: domain.freq.sugov.max_khz };
        let (cur, wanted) = (domain.freq.sugov.cur_khz, domain.wanted_khz(policy.governor));
        if let Some(khz) = limits.target(policy, domain.hw.khz(), cur, wanted, fast)
            && khz != cur
        {
            domain.report.driver_calls += 1;
            self.set_frequency(d, khz);
        }
        if self.samples(d) {
            let domain = &mut self.domains[d as usize];
            domain.freq.dbs.limits(policy, limits, domain.freq.sugov.cur_khz);
            self.arm_sample(d);
        } else if self.has_timers(self.m.domains[d as usize].cpus[0]) {
            self.limit_timers(d, limits);
        }
    }

    /// The driver returned: limits that came meanwhile hold now.
    pub(crate) fn apply_late_limits(&mut self, d: u32) {
        if self.domains[d as usize].freq.limits.wait {
            self.apply_limits(d);
        }
    }
}
