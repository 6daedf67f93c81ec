// SPDX-License-Identifier: GPL-2.0-or-later
//! The interactive governor (Android 4.4, `cpufreq_interactive.c`), on a domain whose CPUs have timers.

use crate::governors::Times;

/// Tunables; times in us, frequencies in kHz, loads in percent.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// First entry: from 0 on; each entry: from this frequency on, this load.
    pub target_loads: Vec<(u64, u64)>,
    /// Waiting times above `hispeed`, by frequency.
    pub delays: Vec<(u64, u64)>,
    /// Frequency of bursts.
    pub hispeed: u64,
    /// From this load on.
    pub go_load: u64,
    /// Before a fall.
    pub min_sample: u64,
    /// Is an idle CPU woken?
    pub wakes: bool,
    /// All the time at `hispeed`.
    pub boost: bool,
    /// Length of a pulse.
    pub pulse: u64,
    /// Waiting for I/O is busy time.
    pub io_is_busy: bool,
}

/// A CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    /// Frequency that it asks for.
    pub target: u64,
    /// Its load, percent.
    pub load: u64,
    /// Frequency below which it does not ask for a while.
    pub floor: u64,
    /// Times at which the floor was confirmed: by the domain, by this CPU.
    pub floor_seen: (u64, u64),
    /// Times at which a rise was allowed: to the domain, to this CPU.
    pub rise_seen: (u64, u64),
    idle: u64,
    at: u64,
    work: u128,
    since: u64,
}

/// A domain.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    /// Tunables.
    pub set: Settings,
    /// Present frequency.
    pub cur: u64,
    /// Limits.
    pub limits: (u64, u64),
    /// Is there a boost?
    pub boosted: bool,
    /// End of a pulse.
    pub pulse_end: u64,
    /// Its CPUs.
    pub cpus: Vec<Cpu>,
}

/// The last entry whose frequency is reached, while those before it are.
fn entry(table: &[(u64, u64)], khz: u64) -> u64 {
    let reached = table.iter().skip(1).take_while(|(from, _)| khz >= *from).count();
    table[reached].1
}

impl Domain {
    fn inside(&self, khz: u64) -> u64 {
        khz.max(self.limits.0).min(self.limits.1)
    }

    fn up(&self, table: &[u64], khz: u64) -> u64 {
        let wanted = self.inside(khz);
        *table.iter().find(|k| **k >= wanted).unwrap_or(&table[table.len() - 1])
    }

    fn down(&self, table: &[u64], khz: u64) -> u64 {
        let wanted = self.inside(khz);
        *table.iter().rev().find(|k| **k <= wanted).unwrap_or(&table[0])
    }

    /// A frequency whose target load is met by this work (kHz times percent); too little and enough close in on it.
    pub fn search(&self, table: &[u64], work: u64) -> u64 {
        let (mut too_little, mut enough) = (0, u64::from(u32::MAX));
        let mut at = self.cur;
        loop {
            let before = at;
            at = self.up(table, work / entry(&self.set.target_loads, before).max(1));
            if at > before {
                too_little = before;
                if at >= enough {
                    at = self.down(table, enough - 1);
                    if at == too_little {
                        return enough;
                    }
                }
            } else if at < before {
                enough = before;
                if at <= too_little {
                    at = self.up(table, too_little + 1);
                    if at == enough {
                        return at;
                    }
                }
            }
            if at == before {
                return at;
            }
        }
    }

    fn idle(&self, t: &Times) -> u64 {
        t.idle + if self.set.io_is_busy { 0 } else { t.waits }
    }

    /// The governor starts.
    pub fn start(&mut self, cpu: usize, t: &Times) {
        let (now, cur) = (t.wall, self.cur);
        let fresh = Cpu { target: cur, floor: cur, floor_seen: (now, now), rise_seen: (now, now), ..Cpu::default() };
        self.cpus[cpu] = fresh;
        self.set_timer(cpu, t);
    }

    /// The timer of a CPU is set.
    pub fn set_timer(&mut self, cpu: usize, t: &Times) {
        let idle = self.idle(t);
        let c = &mut self.cpus[cpu];
        (c.idle, c.at, c.work, c.since) = (idle, t.wall, 0, t.wall);
    }

    /// Work so far is counted, at the present frequency.
    pub fn count(&mut self, cpu: usize, t: &Times) {
        let (idle, cur) = (self.idle(t), self.cur);
        let c = &mut self.cpus[cpu];
        let (time, slept) = (t.wall - c.at, idle.wrapping_sub(c.idle));
        if time > slept {
            c.work += u128::from(time - slept) * u128::from(cur);
        }
        (c.idle, c.at) = (idle, t.wall);
    }

    /// A timer expires; does the governor's task look at the domain?
    pub fn timer(&mut self, cpu: usize, t: &Times, table: &[u64]) -> bool {
        self.count(cpu, t);
        let (now, cur) = (t.wall, self.cur);
        let time = (now - self.cpus[cpu].since) % (1 << 32);
        if time == 0 {
            return false;
        }
        let work = (self.cpus[cpu].work / u128::from(time)) as u64 % (1 << 32) * 100 % (1 << 32);
        let load = work.checked_div(cur).unwrap_or(0);
        self.cpus[cpu].load = load;
        self.boosted = self.set.boost || now < self.pulse_end;
        let burst = self.boosted || load >= self.set.go_load;
        let hispeed = self.set.hispeed;
        let wanted = match (burst, cur < hispeed) {
            (true, true) => hispeed,
            (true, false) => self.search(table, work).max(hispeed),
            (false, true) => self.search(table, work).min(hispeed),
            (false, false) => self.search(table, work),
        };
        self.judge(cpu, wanted, now, table)
    }

    fn judge(&mut self, cpu: usize, wanted: u64, now: u64, table: &[u64]) -> bool {
        let (cur, hispeed, boosted) = (self.cur, self.set.hispeed, self.boosted);
        let wait = entry(&self.set.delays, cur);
        let resolved = self.up(table, wanted);
        let c = &mut self.cpus[cpu];
        if cur >= hispeed && wanted > cur && now - c.rise_seen.0 < wait {
            return false;
        }
        c.rise_seen.1 = now;
        let reached = c.target >= cur;
        let fresh = now - c.floor_seen.0.max(c.floor_seen.1) < self.set.min_sample;
        if resolved < c.floor && reached && fresh {
            return false;
        }
        if resolved > hispeed || !boosted {
            c.floor = resolved;
            if reached || resolved >= cur {
                c.floor_seen.1 = now;
            }
        }
        let old = std::mem::replace(&mut c.target, resolved);
        old != resolved || old > cur
    }

    /// The governor's task looks at the domain: the frequency that the driver is asked for.
    pub fn look(&mut self, table: &[u64]) -> Option<u64> {
        let most = self.cpus.iter().map(|c| c.target).max().unwrap_or(0);
        let floor = self.cpus.iter().map(|c| c.floor_seen.1).max().unwrap_or(0);
        let risen = self.cpus.iter().filter(|c| c.target == most).map(|c| c.rise_seen.1).min().unwrap_or(0);
        let changes = most != self.cur;
        for c in &mut self.cpus {
            c.floor_seen.0 = floor;
            if changes {
                c.rise_seen.0 = risen;
            }
        }
        changes.then(|| self.down(table, most))
    }

    /// A pulse; does the governor's task look at the domain?
    pub fn pulse(&mut self, now: u64) -> bool {
        self.pulse_end = now + self.set.pulse;
        if std::mem::replace(&mut self.boosted, true) {
            return false;
        }
        let hispeed = self.set.hispeed;
        let low: Vec<&mut Cpu> = self.cpus.iter_mut().filter(|c| c.target < hispeed).collect();
        let any = !low.is_empty();
        for c in low {
            (c.target, c.rise_seen.0) = (hispeed, now);
        }
        any
    }

    /// New limits, after the present frequency was brought inside.
    pub fn limit(&mut self, limits: (u64, u64)) {
        self.limits = limits;
        for c in &mut self.cpus {
            c.target = c.target.max(limits.0).min(limits.1);
        }
    }

    /// Is an idle CPU woken for its timer?
    pub fn is_woken(&self, cpu: usize) -> bool {
        self.set.wakes && self.cpus[cpu].target > self.limits.0
    }
}
