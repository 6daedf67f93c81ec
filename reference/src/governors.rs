// SPDX-License-Identifier: GPL-2.0-only
//! Governors beside schedutil (SPEC D with its corrections, M1-M3): votes, samples, fixed frequencies.

/// sched-DVFS of a domain.
#[derive(Clone, Debug, Default)]
pub struct SchedDvfs {
    /// End of the window, ns.
    pub throttle: u64,
    /// Its length, ns.
    pub window: u64,
    /// Last request, kHz.
    pub requested: u64,
    /// Present frequency, kHz.
    pub cur: u64,
    /// Limits, kHz.
    pub limits: (u64, u64),
    /// By CPU: fair, real-time, deadline, total.
    pub votes: Vec<[u64; 4]>,
}

/// What became of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// To be carried out.
    Drive,
    /// Inside the window.
    Throttled,
    /// Another CPU is larger.
    Other,
    /// Nothing new.
    Same,
}

/// A quarter more, in whole units.
pub fn request(usage: u64) -> u64 {
    usage * 5 / 4
}

/// The first operating point from `khz` on within the limits; beyond them the last one inside.
pub fn lowest_from(table: &[u64], limits: (u64, u64), khz: u64) -> u64 {
    let wanted = if khz < limits.0 { limits.0 } else { khz.min(limits.1) };
    let inside: Vec<u64> =
        table.iter().enumerate().filter(|(i, k)| *i == 0 || **k <= limits.1).map(|(_, k)| *k).collect();
    inside.iter().copied().find(|&k| k >= wanted).or(inside.last().copied()).unwrap_or(wanted)
}

impl SchedDvfs {
    fn most(&self) -> u64 {
        self.votes.iter().map(|v| v[3]).max().unwrap_or(0)
    }

    /// M1.
    pub fn set_cap(&mut self, cpu: usize, cap: u64, cap_orig: u64, now: u64) -> Said {
        self.votes[cpu][0] = cap;
        self.votes[cpu][3] = cap;
        if now < self.throttle {
            return Said::Throttled;
        }
        if self.most() > cap {
            return Said::Other;
        }
        let khz = cap * self.limits.1 / cap_orig;
        if khz == self.cur {
            return Said::Same;
        }
        self.requested = khz;
        Said::Drive
    }

    /// M2.
    pub fn update(&mut self, cpu: usize, asks: bool, table: &[u64]) -> Said {
        let [cfs, rt, dl, before] = self.votes[cpu];
        let total = request(cfs + rt) + dl;
        self.votes[cpu][3] = total;
        if total == before || !asks {
            return Said::Same;
        }
        let khz = lowest_from(table, self.limits, self.most() * self.limits.1 / 1024);
        if khz == self.requested {
            return Said::Same;
        }
        self.requested = khz;
        Said::Drive
    }

    /// Does a tick jump to the maximum?
    pub fn jumps(&self, cap_orig: u64, usage: u64) -> bool {
        let now = cap_orig * (self.cur * 1024 / self.limits.1) / 1024;
        now < cap_orig && now * 1024 < usage * 1280
    }

    /// The driver returned.
    pub fn done(&mut self, khz: u64, now: u64) {
        self.cur = khz;
        self.throttle = now + self.window;
    }
}

/// A sampling governor on a domain of one CPU, and that CPU.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// Rules of 4.5, not 6.12.
    pub old: bool,
    /// us.
    pub sampling: u64,
    /// Periods until the next sample.
    pub mult: u64,
    /// kHz.
    pub cur: u64,
    /// Limits, kHz.
    pub limits: (u64, u64),
    /// Of the hardware, kHz.
    pub hardware: (u64, u64),
    /// conservative: its own idea of the frequency, kHz.
    pub requested: u64,
    skipped: u64,
    unseen: Option<u64>,
    load_before: u64,
    seen: (u64, u64),
}

impl Sampler {
    /// One that has seen nothing.
    pub fn new(old: bool, sampling: u64, cur: u64, limits: (u64, u64), hardware: (u64, u64)) -> Sampler {
        Sampler { old, sampling, mult: 1, cur, limits, hardware, requested: cur, ..Sampler::default() }
    }
}

/// Tunables.
#[derive(Clone, Copy, Debug)]
pub struct Tunables {
    /// Percent.
    pub up: u64,
    /// Percent.
    pub down: u64,
    /// Samples or periods.
    pub down_factor: u64,
    /// Percent.
    pub step: u64,
}

impl Sampler {
    /// Load since the last sample, M3; the totals are in us.
    pub fn load(&mut self, wall: u64, idle: u64) -> u64 {
        let (dw, di) = (wall - self.seen.0, idle - self.seen.1);
        self.seen = (wall, idle);
        let long = 2 * self.sampling * self.mult;
        self.unseen = (!self.old && di > long).then(|| di / (self.sampling * self.mult));
        if dw == 0 {
            return if self.old { 0 } else { self.load_before };
        }
        let slept = if self.old { dw > long } else { di > long };
        if di <= dw && slept && self.load_before > 0 {
            return std::mem::take(&mut self.load_before);
        }
        if self.old && di > dw {
            return 0;
        }
        self.load_before = if di > dw { 0 } else { 100 * (dw - di) / dw };
        self.load_before
    }

    fn within(&self, khz: u64) -> u64 {
        if khz < self.limits.0 { self.limits.0 } else { khz.min(self.limits.1) }
    }

    fn at_most(&self, table: &[u64], khz: u64) -> u64 {
        table.iter().copied().rfind(|&k| k <= self.within(khz)).unwrap_or(table[0])
    }

    fn at_least(&self, table: &[u64], khz: u64) -> u64 {
        table.iter().copied().find(|&k| k >= self.within(khz)).unwrap_or(table[table.len() - 1])
    }

    /// ondemand.
    pub fn ondemand(&mut self, t: &Tunables, load: u64, table: &[u64]) -> u64 {
        if load > t.up {
            if self.cur < self.limits.1 {
                self.mult = t.down_factor;
            }
            return if self.cur == self.limits.1 { self.cur } else { self.at_most(table, self.limits.1) };
        }
        self.mult = 1;
        let wanted = self.within(self.hardware.0 + load * (self.hardware.1 - self.hardware.0) / 100);
        // The first of the nearest is the lower one.
        table.iter().copied().min_by_key(|k| k.abs_diff(wanted)).unwrap_or(wanted)
    }

    /// conservative.
    pub fn conservative(&mut self, t: &Tunables, load: u64, table: &[u64]) -> u64 {
        if t.step == 0 {
            return self.cur;
        }
        let step = match t.step * self.limits.1 / 100 {
            0 => 5,
            step => step,
        };
        if self.requested < self.limits.0 || self.requested > self.limits.1 {
            self.requested = self.cur;
        }
        let mut at = self.requested;
        if let Some(periods) = self.unseen.take() {
            at = at.saturating_sub(periods * step).max(self.limits.0);
        }
        if load > t.up {
            self.skipped = 0;
            if at == self.limits.1 {
                return self.cur;
            }
            self.requested = (at + step).min(self.limits.1);
            return self.at_most(table, self.requested);
        }
        self.skipped += 1;
        if self.skipped < t.down_factor {
            return self.cur;
        }
        self.skipped = 0;
        if load >= t.down || at == self.limits.0 {
            return self.cur;
        }
        self.requested = if at > step { at - step } else { self.limits.0 };
        self.at_least(table, self.requested)
    }
}
