// SPDX-License-Identifier: GPL-2.0-or-later
//! A CPU gets faster or slower: what it did so far is counted, then its step ends at another time.

use crate::hw::power::Power;
use crate::hw::speed::one_speed;
use crate::shape::Run;
use crate::state::{Engine, SPEED_SHIFT};

impl<S: Run> Engine<'_, S> {
    /// The request of a CPU's domain changed to `khz`: sets its speed, that of its siblings, and the scale of their
    /// signals.
    pub(crate) fn apply_speed(&mut self, c: u32, khz: u32) {
        if !self.hw.is_shared() {
            self.set_speed(c, khz, (1, 1));
            return;
        }
        self.refresh_speeds(one_speed(self.m, c));
    }

    /// Computes the speed of these CPUs of one cluster again. Neighbours make a CPU look far more often than its speed
    /// changes.
    fn refresh_speeds(&mut self, cpus: &[u32]) {
        let Some(&first) = cpus.first() else { return };
        let of_all = self.m.one_clock.then(|| self.wanted_khz(first));
        for &c in cpus {
            let wanted_khz = of_all.unwrap_or_else(|| self.wanted_khz(c));
            let speed_of = (wanted_khz.min(self.turbo_khz(c)), self.thread_share(c));
            if self.cpus[c as usize].line.speed_of != speed_of {
                self.account(c);
                self.set_speed(c, speed_of.0, speed_of.1);
                self.arm_segment(c);
            }
        }
    }

    /// Present frequency of a CPU's clock, kHz.
    pub(crate) fn clock_khz(&self, c: u32) -> u32 {
        self.cpus[c as usize].line.speed_of.0
    }

    pub(crate) fn set_speed(&mut self, c: u32, khz: u32, share: (u64, u64)) {
        if self.cpus[c as usize].line.speed_of == (khz, share) {
            return;
        }
        self.cpus[c as usize].line.speed_of = (khz, share);
        let spec = &self.m.cpus[c as usize];
        let domain = &self.m.domains[spec.domain as usize];
        if domain.cpus.first() == Some(&c) {
            self.close_time_in_state(spec.domain);
        }
        let opp = self.domains[spec.domain as usize].hw.khz().partition_point(|&k| k < khz);
        let cpu = &mut self.cpus[c as usize];
        cpu.hw.runs_at(opp.min(domain.opps.len() - 1) as u32);
        let full = u64::from(spec.capacity) << (SPEED_SHIFT - 10);
        let whole = full * u64::from(khz) / u64::from(domain.ref_khz.max(1));
        cpu.line.speed = (whole * share.0 / share.1).max(1);
        if domain.firmware_poll_ns == 0 {
            self.see_frequency(c, khz);
        }
        self.speed_changes_power(c);
    }

    /// Counts the time at the operating point that a domain's clock has: neighbours, a limit or firmware may make it
    /// another one than was asked for.
    pub(crate) fn close_time_in_state(&mut self, d: u32) {
        let Some(&first) = self.m.domains[d as usize].cpus.first() else { return };
        let opp = self.cpus[first as usize].clock_opp();
        let domain = &mut self.domains[d as usize];
        domain.report.time_in_state_ns[opp as usize] += domain.hw.take_time(self.now);
    }

    /// Scales the signals of CPU `c` by `khz`, the frequency that the driver reported, which may be ahead of the clock.
    pub(crate) fn see_frequency(&mut self, c: u32, khz: u32) {
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        let scale_khz = domain.signals_khz();
        let seen_khz = if domain.freq_invariant { khz.min(scale_khz) } else { scale_khz };
        self.cpus[c as usize].rq.freq_scale = pelton_core::freq_scale(seen_khz, scale_khz);
    }

    /// Brings the totals of all threads of a core up to now, before one of them changes state.
    pub(crate) fn account_core(&mut self, c: u32) {
        let m = self.m;
        for &sibling in &m.cpus[c as usize].smt {
            self.account(sibling);
        }
    }

    /// A thread woke up or went idle: its siblings get slower or faster, and so may every core of the package.
    pub(crate) fn core_changes(&mut self, c: u32, before: Power, after: Power) {
        let (was, is) = (before == Power::Awake, after == Power::Awake);
        if was == is {
            return;
        }
        let m = self.m;
        let cluster = m.cpus[c as usize].cluster as usize;
        let others = self.awake_threads(c) - usize::from(is);
        let before_khz = self.turbo_khz(c);
        if others == 0 {
            self.hw.core_changes(cluster, is);
        }
        let near = &m.clusters[cluster].cpus;
        self.refresh_speeds(if self.turbo_khz(c) != before_khz { near } else { &m.cpus[c as usize].smt });
    }
}
