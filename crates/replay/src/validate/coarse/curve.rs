// SPDX-License-Identifier: GPL-2.0-or-later
//! A curve of a CPU's utilization without a schedule, as notebooks keep it.
//!
//! One bit per step is read off the curve: whether the CPU ran between two values, as the nearer of the two futures
//! says. How much the utilization rises or falls is computed from the frequencies, without ever looking back at the
//! curve. A rise beyond what a CPU at full speed can do is a task that joined; there the comparison begins anew, and
//! the number of such places has a limit of its own.

use pelton_core::{Policy, Rq, freq_scale};

use super::errors::Errors;
use crate::validate::tolerance::JUMPS_PERMILLE_MAX;

/// Rounding of a published average, capacity units.
const ROUNDING: u64 = 2;

/// A CPU whose schedule is not recorded.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The state computed from the first value on.
    rq: Rq,
    ran: bool,
    last: u32,
    reference: u32,
    khz: u32,
    /// Frequencies set since the last value.
    steps: Vec<(u64, u32)>,
    started: bool,
    /// Errors.
    pub errors: Errors,
    /// Places where an entity joined or left.
    pub jumps: u64,
}

/// Frequency changes kept between two values; more are taken together.
const STEPS_MAX: usize = 1024;

impl Curve {
    /// A curve that has seen nothing.
    pub fn new(pol: &Policy, capacity: u32, reference: u32) -> Curve {
        let rq = Rq::new(pol, 0, capacity, 1024);
        let (steps, errors) = (Vec::new(), Errors::default());
        Curve { rq, ran: false, last: 0, reference, khz: 0, steps, started: false, errors, jumps: 0 }
    }

    /// The frequency changes.
    pub fn frequency(&mut self, now: u64, khz: u32) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push((now, khz));
        }
    }

    /// The next value of the curve.
    pub fn value(&mut self, pol: &Policy, now: u64, util: u32) {
        let steps = std::mem::take(&mut self.steps);
        let known = self.khz != 0 || self.reference == 0;
        if self.started && known {
            self.step(pol, now, util, &steps);
        } else {
            self.begin(pol, now, util);
        }
        if let Some(&(_, khz)) = steps.last() {
            self.khz = khz;
        }
        self.rq.freq_scale = freq_scale(self.khz.min(self.reference), self.reference);
        self.last = util;
    }

    /// Takes a value over.
    fn begin(&mut self, pol: &Policy, now: u64, util: u32) {
        self.rq = Rq::new(pol, now, self.rq.cap_orig, self.rq.freq_scale);
        self.rq.cfs.avg = super::machine::holding(pol, &self.rq.cfs.avg, util);
        self.started = true;
    }

    fn step(&mut self, pol: &Policy, now: u64, util: u32, steps: &[(u64, u32)]) {
        let ran = self.future(pol, now, steps, true, None);
        let slept = self.future(pol, now, steps, false, None);
        let recorded = u64::from(util);
        let [up, down] = [&ran, &slept].map(|rq| rq.cfs.avg.util_avg);
        // The most and the least that is possible from the last recorded value.
        let mut from = self.clone();
        from.rq.cfs.avg = super::machine::holding(pol, &from.rq.cfs.avg, self.last);
        let most = from.future(pol, now, &[], true, Some(1024)).cfs.avg.util_avg;
        let least = from.future(pol, now, steps, false, None).cfs.avg.util_avg;
        if recorded > most.max(u64::from(self.last)) + ROUNDING || recorded + ROUNDING < least {
            self.jumps += 1;
            self.begin(pol, now, util);
            return;
        }
        self.ran = up.abs_diff(recorded) <= down.abs_diff(recorded);
        self.rq = if self.ran { ran } else { slept };
        self.errors.add(self.rq.cfs.avg.util_avg, recorded);
    }

    /// The state at `now` if the CPU runs, or is idle, until then; `speed` replaces the frequencies.
    fn future(&self, pol: &Policy, now: u64, steps: &[(u64, u32)], runs: bool, speed: Option<u32>) -> Rq {
        let mut rq = self.rq;
        rq.freq_scale = speed.unwrap_or(rq.freq_scale);
        (rq.cfs.has_curr, rq.cfs.h_nr_runnable) = (u32::from(runs), u32::from(runs));
        rq.cfs.load_weight = if runs { 1024 } else { 0 };
        if !runs && self.ran {
            rq.clock_enter_idle(pol);
        }
        for &(at, khz) in steps {
            rq.clock_update(pol, at, 0, !runs);
            rq.freq_scale = freq_scale(khz.min(self.reference), self.reference);
        }
        rq.clock_update(pol, now, 0, !runs);
        let ctx = rq.ctx(pol, &rq.cfs);
        rq.cfs.update(&ctx);
        rq
    }

    /// True when there were not too many jumps.
    pub fn holds_together(&self) -> bool {
        self.jumps * 1000 <= (self.errors.n() + self.jumps) * JUMPS_PERMILLE_MAX
    }
}
