// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle governor menu (docs/rules/idle.md), and what it shares with teo.

/// Most idle states of a CPU.
pub const STATES_MAX: usize = 10;
/// Below this residency a state is shallow.
pub(crate) const SHALLOW_NS: u64 = 15_000;
/// No clocksource allows a longer sleep.
pub(crate) const SLEEP_NS_MAX: u64 = 440_000_000_000;
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
    pub(crate) fn in_use(&self) -> &[(u64, u64)] {
        &self.states[..(self.count as usize).min(STATES_MAX)]
    }

    pub(crate) fn exit(&self, state: u64) -> u64 {
        self.states[state as usize].0
    }

    pub(crate) fn residency(&self, state: u64) -> u64 {
        self.states[state as usize].1
    }

    /// Deepest state below `state` that pays within a time, else 0.
    pub(crate) fn shallower(&self, state: u64, within_ns: u64) -> u64 {
        (0..state).rev().find(|&s| self.residency(s) <= within_ns).unwrap_or(0)
    }

    pub(crate) fn polls(&self, state: u64) -> bool {
        state == 0 && self.polling != 0
    }
}

/// Facts known when a CPU goes idle.
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
    /// Tasks that ran here last and wait for I/O.
    pub iowaiters: u64,
    /// Utilization above 1/64 of the capacity.
    pub utilized: bool,
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

/// Release that the governor was read in.
#[derive(Clone, Copy, Debug)]
pub struct Form(u32);

impl Form {
    /// The form of a name such as `6_12`.
    pub fn of(name: &str) -> Option<Form> {
        let (major, minor) = name.split_once('_')?;
        Some(Form(major.parse::<u32>().ok()? * 100 + minor.parse::<u32>().ok()?))
    }

    pub(crate) fn until(self, major: u32, minor: u32) -> bool {
        self.0 <= major * 100 + minor
    }

    pub(crate) fn is(self, major: u32, minor: u32) -> bool {
        self.0 == major * 100 + minor
    }

    /// To 5.4 all times are whole microseconds.
    pub(crate) fn counted(self, ns: u64) -> u64 {
        if self.until(5, 4) { ns / 1000 * 1000 } else { ns }
    }

    pub(crate) fn counted_table(self, table: &Table) -> Table {
        let states = table.states.map(|(exit, residency)| (self.counted(exit), self.counted(residency)));
        Table { states, ..*table }
    }

    fn counted_now(self, now: &Now) -> Now {
        Now {
            sleep_ns: self.counted(now.sleep_ns.min(SLEEP_NS_MAX)),
            event_ns: self.counted(now.event_ns),
            tick_ns: self.counted(now.tick_ns),
            latency_ns: self.counted(now.latency_ns),
            tick_stopped: now.tick_stopped && !self.until(4, 16),
            iowaiters: if self.until(6, 6) { now.iowaiters } else { 0 },
            utilized: now.utilized,
        }
    }
}

/// menu, per CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Menu {
    /// The last stay.
    pub last: Last,
    /// Next timer at the last choice.
    pub next_timer_ns: u64,
    /// Its decade.
    pub bucket: u64,
    /// Place of the next sample.
    pub position: u64,
    /// Eighths of 1024ths by decade, then again for waits for I/O; 0 = untouched.
    pub factor: [u64; 12],
    /// Last stays, us.
    pub interval_us: [u64; 8],
}

const NO_INTERVAL: u64 = u32::MAX as u64;
const UNITY: u64 = 8192;

/// Mean and variance of stays, as the form works the latter out.
fn spread(form: Form, stays: &[u64]) -> (u64, u64) {
    let n = stays.len() as u64;
    let mean = stays.iter().sum::<u64>() / n;
    let square = |x: u64| x.wrapping_mul(x);
    if form.until(6, 12) {
        let sum = stays.iter().fold(0u64, |sum, &us| sum.wrapping_add(square(us.abs_diff(mean))));
        return (mean, sum / n);
    }
    let squares = stays.iter().fold(0u64, |sum, &us| sum.wrapping_add(square(us))) / n;
    (mean, squares.wrapping_sub(mean * mean))
}

impl Menu {
    fn factor_now(&self) -> u64 {
        match self.factor[self.bucket as usize] {
            0 => UNITY,
            f => f,
        }
    }

    /// Length that most of the last stays had, us. `timer_us`: what the timer alone lets expect.
    pub fn typical(&self, form: Form, timer_us: u64) -> Option<u64> {
        let limit = match form {
            f if f.until(4, 19) => NO_INTERVAL + 1,
            f if f.until(6, 12) => 1 << 31,
            _ => NO_INTERVAL,
        };
        let mut kept: Vec<u64> = self.interval_us.into_iter().filter(|&us| us < limit).collect();
        loop {
            let (shortest, longest) = (*kept.iter().min()?, *kept.iter().max()?);
            let useless = if form.until(6, 1) { shortest >= timer_us } else { longest == 0 };
            if useless && !form.until(4, 19) {
                return None;
            }
            let n = kept.len();
            let (mean, variance) = spread(form, &kept);
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
            let low = !form.until(6, 12) && mean - shortest > longest - mean;
            let outlier = if low { shortest } else { longest };
            kept.retain(|&us| us != outlier);
        }
    }

    fn sample(&mut self, us: u64) {
        self.interval_us[self.position as usize] = us & NO_INTERVAL;
        self.position = (self.position + 1) % 8;
    }

    fn learn(&mut self, form: Form, table: &Table, tick_ns: u64) {
        let Last { state, woke, .. } = self.last;
        let (stay, exit) = (form.counted(self.last.residency_ns), table.exit(state));
        let by_tick = woke & WOKE_TICK != 0 && !form.until(4, 16);
        let by_limit = woke & WOKE_POLL_LIMIT != 0 && !form.until(4, 19);
        let mut measured = if by_tick && self.next_timer_ns > tick_ns {
            45_000_000
        } else if by_limit && table.polls(state) {
            self.next_timer_ns
        } else if stay > 2 * exit {
            stay - exit
        } else {
            form.counted(stay / 2)
        };
        measured = measured.min(self.next_timer_ns);
        let old = self.factor_now();
        let share =
            if self.next_timer_ns > 0 && measured < 50_000_000 { 1024 * measured / self.next_timer_ns } else { 1024 };
        self.factor[self.bucket as usize] = old - old / 8 + share;
        self.sample(measured / 1000);
        self.last.valid = 0;
    }

    /// Expected idle time of the CPU, before a stopped tick is thought of.
    fn predict(&mut self, form: Form, now: &Now) -> u64 {
        let half = if now.iowaiters > 0 { 6 } else { 0 };
        let mut typical = None;
        if !form.until(6, 1) {
            typical = self.typical(form, 0);
            let looks = now.tick_stopped && (form.is(6, 12) || !form.until(6, 18));
            if let Some(us) = typical.filter(|&us| us * 1000 <= SHALLOW_NS && !looks) {
                self.next_timer_ns = UNKNOWN_NS;
                self.bucket = 5 + half;
                return us * 1000;
            }
        }
        self.next_timer_ns = now.sleep_ns;
        let limits = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
        self.bucket = half + limits.iter().filter(|&&limit| self.next_timer_ns >= limit).count() as u64;
        let scaled = u128::from(self.next_timer_ns) * u128::from(self.factor_now()) + 4_096_000;
        let timer_us = (scaled / 8_192_000) as u64;
        if form.until(6, 1) {
            typical = self.typical(form, timer_us);
        }
        timer_us.min(typical.unwrap_or(NO_INTERVAL)) * 1000
    }

    /// The tick is stopped: what is safe to go by.
    fn unstuck(&self, form: Form, now: &Now, predicted: u64) -> u64 {
        match form {
            _ if !now.tick_stopped || predicted >= now.tick_ns => predicted,
            f if f.until(5, 10) => now.event_ns,
            f if f.until(6, 18) || self.next_timer_ns > 2 * now.tick_ns => self.next_timer_ns,
            _ => predicted,
        }
    }

    /// Chooses a state.
    pub fn select(&mut self, form: Form, table: &Table, now: &Now) -> Choice {
        let (table, now) = (&form.counted_table(table), &mut form.counted_now(now));
        if self.last.valid != 0 {
            self.learn(form, table, now.tick_ns);
        } else if self.last.residency_ns == 0 && !form.until(5, 4) && !form.is(6, 6) {
            self.sample(NO_INTERVAL);
        }
        let no_tick = form.until(4, 16);
        if table.in_use().len() < 2 {
            return (0, true);
        }
        if form.until(4, 19) && now.latency_ns == 0 {
            return (0, no_tick);
        }
        let expected = self.predict(form, now);
        let predicted = self.unstuck(form, now, expected);
        let first_pays = self.next_timer_ns >= table.residency(1) && now.latency_ns >= table.exit(1);
        if !form.until(4, 19) && (now.latency_ns == 0 || !first_pays) {
            return (0, table.polling == 0);
        }
        let clearly = self.next_timer_ns > table.residency(1).max(20_000) && now.latency_ns > table.exit(1);
        let start = u64::from(form.until(4, 19) && table.polling != 0 && clearly);
        if form.until(6, 6) && !now.tick_stopped {
            now.latency_ns = now.latency_ns.min(form.counted(predicted / (1 + 10 * now.iowaiters)));
        }
        if self.next_timer_ns == UNKNOWN_NS {
            now.event_ns = now.tick_ns / 2;
        }
        let (state, predicted) = match () {
            () if form.until(6, 6) => self.pick_old(form, table, now, predicted, start),
            () => self.pick(form, table, now, predicted),
        };
        if no_tick || now.tick_stopped || (!table.polls(state) && predicted >= now.tick_ns) {
            return (state, true);
        }
        if state > 0 && table.residency(state) > now.event_ns {
            return (table.shallower(state, now.event_ns), false);
        }
        (state, false)
    }

    /// From 6.12: state, and what the tick is decided by.
    fn pick(&self, form: Form, table: &Table, now: &Now, predicted: u64) -> (u64, u64) {
        let allowed = table.in_use().iter().take_while(|s| s.0 <= now.latency_ns).count() as u64;
        let Some(beyond) = (0..allowed).find(|&s| table.residency(s) > predicted) else {
            return (allowed.saturating_sub(1), predicted);
        };
        let state = beyond.saturating_sub(1);
        let (exit, residency) = table.states[beyond as usize];
        let shallow = residency < SHALLOW_NS || form.is(6, 18);
        if table.polls(state) && shallow && residency <= self.next_timer_ns && exit <= predicted {
            return (beyond, residency);
        }
        between(table, now, predicted, state, beyond)
    }

    /// To 6.6: residency is looked at before latency, and the search begins with state 0 or 1.
    fn pick_old(&self, form: Form, table: &Table, now: &Now, predicted: u64, start: u64) -> (u64, u64) {
        let mut state = start;
        let tested = start + u64::from(form.until(4, 12));
        for (i, &(exit, residency)) in (0..).zip(table.in_use()).skip(tested as usize) {
            if residency > predicted {
                let replaces = !form.until(4, 19) && exit <= now.latency_ns && residency <= self.next_timer_ns;
                return match () {
                    () if form.until(4, 16) => (state, predicted),
                    () if table.polls(state) && replaces => (i, residency),
                    () => between(table, now, predicted, state, i),
                };
            }
            if exit > now.latency_ns {
                return (state, if form.is(4, 19) { table.residency(state) } else { predicted });
            }
            state = i;
        }
        (state, predicted)
    }
}

/// `beyond` does not pay, `state` does: which, and what the tick is decided by.
fn between(table: &Table, now: &Now, predicted: u64, state: u64, beyond: u64) -> (u64, u64) {
    if predicted < now.tick_ns {
        return (state, predicted);
    }
    if !now.tick_stopped {
        return (state, table.residency(state));
    }
    let avoid = table.residency(state) < now.tick_ns && table.residency(beyond) <= now.event_ns;
    (if avoid { beyond } else { state }, predicted)
}
