// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors beside schedutil (docs/rules/boost.md): votes, samples, fixed frequencies.

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

/// Outcome of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// To be carried out.
    Drive,
    /// Inside the window.
    Throttled,
    /// Another CPU is larger.
    Other,
    /// Same as before.
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

/// Steps of conservative in the rules of a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// Stay at a limit.
    #[default]
    Stop,
    /// Stay at a limit; steps of unseen periods lead below the limit, and a position outside of the limits is not kept.
    StopBelow,
    /// To the limit and no further.
    Clamp,
    /// Step to the limit and no further; unseen periods only count when there is little to do.
    ClampIfIdle,
}

/// Times of a CPU so far: us, nice in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// All.
    pub wall: u64,
    /// Idle for want of work.
    pub idle: u64,
    /// Idle, a task waits for I/O.
    pub waits: u64,
    /// Tasks with nice above 0.
    pub nice: u64,
}

/// A sampling governor on a domain of one CPU, and that CPU.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// Rules of 4.5, not 6.12.
    pub old: bool,
    /// conservative's rule.
    pub steps: Steps,
    /// The driver counts its operating points from the highest.
    pub descends: bool,
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
    /// Until the next sample, us.
    pub delay: u64,
    /// The second part of a period: kHz and us.
    pub rest: Option<(u64, u64)>,
    /// The load that counts, percent.
    pub load: u64,
    skipped: u64,
    unseen: Option<u64>,
    this_load: u64,
    load_before: u64,
    seen: (u64, u64, u64),
}

impl Sampler {
    /// One that has seen nothing.
    pub fn new(old: bool, sampling: u64, cur: u64, limits: (u64, u64), hardware: (u64, u64)) -> Sampler {
        let fresh = Sampler { old, sampling, mult: 1, cur, limits, hardware, requested: cur, ..Sampler::default() };
        Sampler { delay: sampling, ..fresh }
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
    /// Thousandths.
    pub bias: u64,
    /// Nice time is idle time.
    pub ignores_nice: bool,
    /// Waiting for I/O is busy time.
    pub io_is_busy: bool,
}

/// Part of a value that 32 bits keep.
fn word(value: u64) -> u64 {
    value % (1 << 32)
}

impl Sampler {
    fn since(&mut self, t: &Tunables, now: &Times) -> (u64, u64) {
        let idle = now.idle + if t.io_is_busy { 0 } else { now.waits };
        let mut spent = word(idle.saturating_sub(self.seen.1));
        if t.ignores_nice {
            spent = word(spent + (now.nice - self.seen.2) / 1000);
        }
        let wall = word(now.wall.wrapping_sub(self.seen.0));
        self.seen = (now.wall, idle, now.nice);
        (wall, spent)
    }

    /// Looks at the load since the last sample, M3.
    pub fn look(&mut self, t: &Tunables, now: &Times) {
        let (dw, di) = self.since(t, now);
        let period = word(self.sampling * self.mult);
        let long = word(2 * period);
        self.unseen = (!self.old && di > long).then(|| di.checked_div(period).unwrap_or(0));
        (self.load, self.this_load) = (0, 0);
        if self.old && (dw == 0 || di > dw) {
            return;
        }
        self.this_load = match dw {
            0 => self.load_before,
            _ if di >= dw => 0,
            _ => word(100 * (dw - di)) / dw,
        };
        self.load = self.this_load;
        if dw == 0 {
            return;
        }
        let slept = if self.old { dw > long } else { di > long };
        if slept && self.load_before > 0 {
            self.load = std::mem::take(&mut self.load_before);
        } else {
            self.load_before = self.load;
        }
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

    /// Two operating points that are `mean` on the average of a period; the higher one is returned and comes first.
    fn split(&mut self, bias: u64, khz: u64, table: &[u64]) -> u64 {
        let mean = word(khz.wrapping_sub(word(khz * bias) / 1000));
        let (low, high) = (self.at_most(table, mean), self.at_least(table, mean));
        if low == high {
            return low;
        }
        let over = word(mean.wrapping_sub(low));
        let first = word(word(over * self.sampling) + (high - low) / 2) / (high - low);
        self.rest = Some((low, word(self.sampling.wrapping_sub(first))));
        self.delay = first;
        high
    }

    /// ondemand.
    pub fn ondemand(&mut self, t: &Tunables, now: &Times, table: &[u64]) -> u64 {
        if let Some((khz, us)) = self.rest.filter(|_| self.delay > 0) {
            (self.rest, self.delay) = (None, us);
            return self.at_most(table, khz);
        }
        self.rest = None;
        self.look(t, now);
        let full = self.load > t.up;
        if !full {
            self.mult = 1;
        } else if self.cur < self.limits.1 {
            self.mult = t.down_factor;
        }
        self.delay = word(self.sampling * self.mult);
        let span = self.hardware.1 - self.hardware.0;
        let wanted = self.hardware.0 + self.load * span / 100;
        match (full, t.bias) {
            (true, 0) if self.cur == self.limits.1 => self.cur,
            (true, 0) => self.at_most(table, self.limits.1),
            (true, bias) => {
                let khz = self.split(bias, self.at_most(table, self.limits.1), table);
                self.at_least(table, khz)
            }
            (false, 0) => self.closest(table, wanted),
            (false, bias) => {
                let khz = self.split(bias, self.at_least(table, wanted), table);
                self.closest(table, khz)
            }
        }
    }

    /// The first of the nearest, as the driver counts.
    fn closest(&self, table: &[u64], khz: u64) -> u64 {
        let wanted = self.within(khz);
        let away = |k: &u64| k.abs_diff(wanted);
        let ascending = table.iter().copied();
        let first = if self.descends { ascending.rev().min_by_key(away) } else { ascending.min_by_key(away) };
        first.unwrap_or(wanted)
    }

    /// conservative.
    pub fn conservative(&mut self, t: &Tunables, now: &Times, table: &[u64]) -> u64 {
        self.look(t, now);
        if t.step == 0 {
            return self.cur;
        }
        let step = match t.step * self.limits.1 / 100 {
            0 => 5,
            step => step,
        };
        let at = self.position(t, step);
        if self.load > t.up {
            self.skipped = 0;
            if at == self.limits.1 && self.stops() {
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
        if self.load >= t.down || (at == self.limits.0 && self.stops()) {
            return self.cur;
        }
        let floor = if self.stops() { 0 } else { self.limits.0 };
        self.requested = if at > floor + step { at - step } else { self.limits.0 };
        self.at_least(table, self.requested)
    }

    fn position(&mut self, t: &Tunables, step: u64) -> u64 {
        let oldest = self.steps == Steps::StopBelow;
        let outside = self.requested < self.limits.0 || self.requested > self.limits.1;
        let at = if outside { self.cur } else { self.requested };
        if !oldest {
            self.requested = at;
        }
        match self.unseen {
            Some(periods) if self.steps != Steps::ClampIfIdle || self.this_load < t.down => {
                let steps = word(periods * step);
                let least = if oldest { 0 } else { self.limits.0 };
                if at > word(least + steps) { at - steps } else { self.limits.0 }
            }
            _ => at,
        }
    }

    fn stops(&self) -> bool {
        matches!(self.steps, Steps::Stop | Steps::StopBelow)
    }
}
