// SPDX-License-Identifier: GPL-2.0-only
//! Idle governors menu and teo (SPEC J.5).

/// Most idle states of a CPU.
pub const STATES_MAX: usize = 10;
/// Below this residency a state is shallow.
const SHALLOW_NS: u64 = 15_000;
/// No clocksource allows a longer sleep.
const SLEEP_NS_MAX: u64 = 440_000_000_000;
/// The next timer was not looked at.
pub const UNKNOWN_NS: u64 = i64::MAX as u64;
/// A tick ended the stay.
pub const WOKE_TICK: u64 = 1;
/// The time limit of a polling state ended the stay.
pub const WOKE_POLL_LIMIT: u64 = 2;

/// The states of a CPU: (exit latency, residency) in ns, shallow to deep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table {
    /// States in use.
    pub count: u64,
    /// State 0 polls.
    pub polling: u64,
    /// Exit latency and residency of each.
    pub states: [(u64, u64); STATES_MAX],
}

impl Table {
    fn in_use(&self) -> &[(u64, u64)] {
        &self.states[..(self.count as usize).min(STATES_MAX)]
    }

    fn exit(&self, state: u64) -> u64 {
        self.states[state as usize].0
    }

    fn residency(&self, state: u64) -> u64 {
        self.states[state as usize].1
    }

    /// Deepest state below `state` that pays within a time, else 0.
    fn shallower(&self, state: u64, within_ns: u64) -> u64 {
        (0..state).rev().find(|&s| self.residency(s) <= within_ns).unwrap_or(0)
    }

    fn polls(&self, state: u64) -> bool {
        state == 0 && self.polling != 0
    }
}

/// What is known when a CPU goes idle.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Time to the next timer without the tick.
    pub sleep_ns: u64,
    /// Time to the next timer or tick that is armed.
    pub event_ns: u64,
    /// Length of a tick.
    pub tick_ns: u64,
    /// Longest exit latency allowed.
    pub latency_ns: u64,
    /// The tick is stopped already.
    pub tick_stopped: bool,
}

/// The stay that ended last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Last {
    /// Until awake.
    pub residency_ns: u64,
    /// State.
    pub state: u64,
    /// `WOKE_` bits.
    pub woke: u64,
    /// Not learnt from yet.
    pub valid: u64,
}

impl Last {
    /// The CPU is awake.
    pub fn woke(&mut self, residency_ns: u64, state: u64, woke: u64) {
        *self = Last { residency_ns, state: state.min(STATES_MAX as u64 - 1), woke, valid: 1 };
    }
}

/// Answer of a governor: state, and whether the tick stops.
pub type Choice = (u64, bool);

/// menu, per CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Menu {
    /// The last stay.
    pub last: Last,
    /// Next timer at the last choice.
    pub next_timer_ns: u64,
    /// Its decade.
    pub bucket: u64,
    /// Where the next sample goes.
    pub position: u64,
    /// Eighths of 1024ths by decade; 0 = untouched.
    pub factor: [u64; 6],
    /// Last stays, us.
    pub interval_us: [u64; 8],
}

const NO_INTERVAL: u64 = u32::MAX as u64;
const UNITY: u64 = 8192;

impl Menu {
    fn factor_now(&self) -> u64 {
        match self.factor[self.bucket as usize] {
            0 => UNITY,
            f => f,
        }
    }

    /// What most of the last stays had, us.
    pub fn typical(&self) -> Option<u64> {
        let mut kept: Vec<u64> = self.interval_us.into_iter().filter(|&us| us < NO_INTERVAL).collect();
        loop {
            let n = kept.len() as u64;
            let longest = *kept.iter().max()?;
            if longest == 0 {
                return None;
            }
            let mean = kept.iter().sum::<u64>() / n;
            let squares = kept.iter().fold(0u64, |sum, us| sum.wrapping_add(us * us)) / n;
            let variance = squares.wrapping_sub(mean * mean);
            let wide = u128::from(variance) * 36;
            if wide <= u128::from(u64::MAX) {
                let relative = u128::from(mean * mean) > wide && n >= 6;
                if relative || variance <= 400 {
                    return Some(mean);
                }
            }
            if n <= 6 {
                return None;
            }
            let shortest = *kept.iter().min()?;
            let outlier = if mean - shortest > longest - mean { shortest } else { longest };
            kept.retain(|&us| us != outlier);
        }
    }

    fn sample(&mut self, us: u64) {
        self.interval_us[self.position as usize] = us & NO_INTERVAL;
        self.position = (self.position + 1) % 8;
    }

    fn learn(&mut self, table: &Table, tick_ns: u64) {
        let Last { residency_ns, state, woke, .. } = self.last;
        let exit = table.exit(state);
        let mut measured = if woke & WOKE_TICK != 0 && self.next_timer_ns > tick_ns {
            45_000_000
        } else if woke & WOKE_POLL_LIMIT != 0 && table.polls(state) {
            self.next_timer_ns
        } else if residency_ns > 2 * exit {
            residency_ns - exit
        } else {
            residency_ns / 2
        };
        measured = measured.min(self.next_timer_ns);
        let old = self.factor_now();
        let share =
            if self.next_timer_ns > 0 && measured < 50_000_000 { 1024 * measured / self.next_timer_ns } else { 1024 };
        self.factor[self.bucket as usize] = old - old / 8 + share;
        self.sample(measured / 1000);
        self.last.valid = 0;
    }

    fn predict(&mut self, now: &Now) -> u64 {
        let typical_ns = self.typical().unwrap_or(NO_INTERVAL) * 1000;
        if typical_ns <= SHALLOW_NS && !now.tick_stopped {
            self.next_timer_ns = UNKNOWN_NS;
            self.bucket = 5;
            return typical_ns;
        }
        self.next_timer_ns = now.sleep_ns.min(SLEEP_NS_MAX);
        self.bucket = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
            .iter()
            .filter(|&&limit| self.next_timer_ns >= limit)
            .count() as u64;
        let scaled = u128::from(self.next_timer_ns) * u128::from(self.factor_now()) + 4_096_000;
        let timer_ns = (scaled / 8_192_000) as u64 * 1000;
        let predicted = timer_ns.min(typical_ns);
        let stuck = now.tick_stopped && predicted < now.tick_ns && self.next_timer_ns > 2 * now.tick_ns;
        if stuck { self.next_timer_ns } else { predicted }
    }

    /// Chooses a state.
    pub fn select(&mut self, table: &Table, now: &Now) -> Choice {
        if self.last.valid != 0 {
            self.learn(table, now.tick_ns);
        } else if self.last.residency_ns == 0 {
            self.sample(NO_INTERVAL);
        }
        if table.in_use().len() < 2 {
            return (0, true);
        }
        let predicted = self.predict(now);
        let first_pays = self.next_timer_ns >= table.residency(1) && now.latency_ns >= table.exit(1);
        if now.latency_ns == 0 || !first_pays {
            return (0, table.polling == 0);
        }
        let event_ns = if self.next_timer_ns == UNKNOWN_NS { now.tick_ns / 2 } else { now.event_ns };
        let (state, predicted) = self.pick(table, now, predicted, event_ns);
        if now.tick_stopped || (!table.polls(state) && predicted >= now.tick_ns) {
            return (state, true);
        }
        if state > 0 && table.residency(state) > event_ns {
            return (table.shallower(state, event_ns), false);
        }
        (state, false)
    }

    /// State, and what the tick is decided by.
    fn pick(&self, table: &Table, now: &Now, predicted: u64, event_ns: u64) -> (u64, u64) {
        let allowed = table.in_use().iter().skip(1).take_while(|s| s.0 <= now.latency_ns).count();
        let Some(beyond) = (1..=allowed as u64).find(|&s| table.residency(s) > predicted) else {
            return (allowed as u64, predicted);
        };
        let state = beyond - 1;
        let (exit, residency) = table.states[beyond as usize];
        let cheap = residency < SHALLOW_NS && residency <= self.next_timer_ns && exit <= predicted;
        if table.polls(state) && cheap {
            return (beyond, residency);
        }
        if predicted < now.tick_ns {
            return (state, predicted);
        }
        if !now.tick_stopped {
            return (state, table.residency(state));
        }
        let avoid = table.residency(state) < now.tick_ns && residency <= event_ns;
        (if avoid { beyond } else { state }, predicted)
    }
}

/// teo, per CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Teo {
    /// The last stay.
    pub last: Last,
    /// Next timer at the last choice.
    pub sleep_ns: u64,
    /// Stays that ended at the timer, by bin.
    pub hits: [u64; STATES_MAX],
    /// Stays that ended before.
    pub intercepts: [u64; STATES_MAX],
    /// All of them.
    pub total: u64,
    /// Stays the tick ended.
    pub total_tick: u64,
    /// Intercepts within a tick.
    pub tick_intercepts: u64,
    /// Short stays.
    pub short_idles: u64,
}

const PULSE: u64 = 1024;

/// An eighth less; what has no eighth is gone.
fn aged(metric: u64) -> u64 {
    if metric < 8 { 0 } else { metric - metric / 8 }
}

impl Teo {
    fn learn(&mut self, table: &Table, tick_ns: u64) {
        let exit = table.exit(self.last.state);
        let raw = self.last.residency_ns;
        let limit = self.last.woke & WOKE_POLL_LIMIT != 0;
        let measured = match () {
            () if limit => UNKNOWN_NS,
            () if raw >= exit => raw - exit / 2,
            () => raw / 2,
        };
        let short = !limit && (raw < exit || measured < SHALLOW_NS);
        self.short_idles = aged(self.short_idles) + if short { PULSE } else { 0 };
        self.last.valid = 0;

        let n = table.in_use().len();
        for i in 0..n {
            self.hits[i] = aged(self.hits[i]);
            self.intercepts[i] = aged(self.intercepts[i]);
        }
        let old: u64 = self.hits[..n].iter().chain(&self.intercepts[..n]).sum();
        let last_within = |ns: u64| {
            let pays = |i: &usize| table.states[*i].1 <= self.sleep_ns && table.states[*i].1 <= ns;
            (0..n).rev().find(pays).unwrap_or(0)
        };
        let (timer, duration) = (last_within(u64::MAX), last_within(measured));
        self.total = old + PULSE;
        self.tick_intercepts = aged(self.tick_intercepts);
        self.total_tick = aged(self.total_tick);

        if self.last.woke & WOKE_TICK != 0 {
            self.total_tick += PULSE;
            if 3 * self.total_tick > 2 * self.total {
                self.hits[n - 1] += PULSE;
                return;
            }
            if 3 * self.tick_intercepts < 2 * old {
                self.hits[timer] += PULSE;
                return;
            }
        }
        let early = i128::from(self.sleep_ns) - i128::from(measured);
        if timer == duration && early < i128::from(exit / 2) {
            self.hits[timer] += PULSE;
            return;
        }
        self.intercepts[duration] += PULSE;
        if measured <= tick_ns {
            self.tick_intercepts += PULSE;
        }
    }

    /// The deepest state, or the shallower one that earlier stays speak for.
    fn candidate(&self, deepest: usize) -> usize {
        let (hits, early) = (&self.hits[..deepest], &self.intercepts[..deepest]);
        let all_early: u64 = early.iter().sum();
        if 2 * all_early <= self.total - hits.iter().sum::<u64>() {
            return deepest;
        }
        let most = early.iter().max().copied().unwrap_or(0);
        let most = early.iter().rposition(|&n| n == most).unwrap_or(0);
        let covers = |&s: &usize| 2 * early[s..].iter().sum::<u64>() > all_early && s <= most;
        (0..deepest).rev().find(covers).unwrap_or(0)
    }

    /// Chooses a state.
    pub fn select(&mut self, table: &Table, now: &Now) -> Choice {
        let n = table.in_use().len();
        if n < 2 {
            self.last.valid = 0;
            return (0, true);
        }
        if self.last.valid != 0 || self.total == 0 {
            self.learn(table, now.tick_ns);
        }
        self.sleep_ns = UNKNOWN_NS;
        let allowed = (1..n).rev().find(|&s| table.states[s].0 <= now.latency_ns).unwrap_or(0) as u64;
        let state = (self.candidate(n - 1) as u64).min(allowed);
        let shallow = state == 0 || table.residency(state) < SHALLOW_NS;
        let clear = 2 * self.short_idles >= self.total || now.latency_ns < SHALLOW_NS / 2;
        if shallow && clear && !now.tick_stopped {
            return (state, false);
        }
        self.sleep_ns = now.sleep_ns.min(SLEEP_NS_MAX);
        if now.tick_stopped && self.sleep_ns > 2 * now.tick_ns && table.residency(state) < now.tick_ns {
            let deeper = (state + 1..=allowed).rev().find(|&s| table.residency(s) <= self.sleep_ns);
            return (deeper.unwrap_or(state), true);
        }
        if state == 0 {
            return (0, false);
        }
        let fits = table.residency(state) <= self.sleep_ns;
        self.decide_tick(table, now, if fits { state } else { table.shallower(state, self.sleep_ns) })
    }

    fn decide_tick(&self, table: &Table, now: &Now, state: u64) -> Choice {
        let soon = table.residency(state) < now.tick_ns && 3 * self.tick_intercepts >= 2 * self.total;
        let stay = if soon { now.tick_ns / 2 } else { self.sleep_ns };
        if now.tick_stopped || (!table.polls(state) && stay >= now.tick_ns) {
            return (state, true);
        }
        if state > 0 && table.residency(state) > now.event_ns {
            return (table.shallower(state, now.event_ns), false);
        }
        (state, false)
    }
}
