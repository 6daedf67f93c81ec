// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle governor teo (docs/rules/idle.md#teo), in each release's form.

use crate::idle::{
    Choice, Form, Last, Now, SHALLOW_NS, SLEEP_NS_MAX, STATES_MAX, Table, UNKNOWN_NS, WOKE_POLL_LIMIT, WOKE_TICK,
};

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
    /// Early stays and one more; 0 = not early.
    pub early: [u64; 8],
    /// Stays too short for the state of their timer.
    pub misses: [u64; STATES_MAX],
    /// Intercepts among the last nine stays.
    pub recent: [u64; STATES_MAX],
    /// Their bins, counted from 1.
    pub recent_bin: [u64; 9],
    /// Next place of either list.
    pub position: u64,
    /// Stays beyond a tick.
    pub tick_hits: u64,
}

const PULSE: u64 = 1024;

/// An eighth less; what has no eighth is gone.
fn aged(metric: u64) -> u64 {
    if metric < 8 { 0 } else { metric - metric / 8 }
}

/// Metric less an eighth, where the rest stays.
fn eighth_less(metric: u64) -> u64 {
    metric - metric / 8
}

/// End of the last stay.
enum Ended {
    /// Early, after this time.
    After(u64),
    /// At the timer, or not known.
    Somehow,
}

impl Ended {
    /// True when it lasted at least this long.
    fn lasted(&self, ns: u64) -> bool {
        match self {
            Ended::After(length) => ns <= *length,
            Ended::Somehow => true,
        }
    }
}

impl Teo {
    fn ended(&self, form: Form, table: &Table, tick_ns: u64) -> Ended {
        let woke = |why| self.last.woke & why != 0;
        let cut = woke(WOKE_POLL_LIMIT) || (woke(WOKE_TICK) && self.sleep_ns > tick_ns);
        let reached = form.until(6, 12) && self.last.residency_ns >= self.sleep_ns;
        if cut || reached {
            return Ended::Somehow;
        }
        let unit = |ns| form.counted(ns);
        let (stay, exit) = (unit(self.last.residency_ns), table.exit(self.last.state));
        Ended::After(if stay >= exit { stay - unit(exit / 2) } else { unit(stay / 2) })
    }

    /// 5.4, 5.10.
    fn learn_early(&mut self, form: Form, table: &Table, ended: &Ended) {
        let sleep = form.counted(self.sleep_ns);
        let pays = |&i: &usize| table.states[i].1 <= sleep;
        let n = table.in_use().len();
        let timer = (0..n).rev().find(pays);
        let hit = (0..n).filter(pays).rfind(|&i| ended.lasted(table.states[i].1));
        for early in &mut self.intercepts[..n] {
            *early = eighth_less(*early);
        }
        if let Some(at) = timer {
            self.hits[at] = eighth_less(self.hits[at]);
            self.misses[at] = eighth_less(self.misses[at]);
            match hit {
                Some(hit) if hit >= at => self.hits[at] += PULSE,
                early => {
                    self.misses[at] += PULSE;
                    if let Some(early) = early {
                        self.intercepts[early] += PULSE;
                    }
                }
            }
        }
        if let Some(place) = self.early.get_mut(self.position as usize) {
            *place = if let Ended::After(ns) = ended { ns + 1 } else { 0 };
        }
        let places = if form.is(5, 4) { 9 } else { 8 };
        self.position = (self.position + 1) % places;
        self.total = 1;
    }

    fn select_early(&mut self, form: Form, table: &Table, now: &Now) -> Choice {
        self.sleep_ns = now.sleep_ns.min(SLEEP_NS_MAX);
        let tick = form.counted(now.tick_ns);
        let trusted = |ns: u64| !now.tick_stopped || ns >= tick;
        let mut stay = form.counted(self.sleep_ns);
        let all = table.in_use();
        let within = all.iter().take_while(|state| state.1 <= stay).count();
        let deepest = within.saturating_sub(1);
        let too_slow = all[..within].iter().position(|state| state.0 > form.counted(now.latency_ns));
        // States that had more early hits than all before them.
        let mut records: Vec<usize> = Vec::new();
        for (i, state) in all[..within].iter().enumerate() {
            let most = records.last().map_or(0, |&at: &usize| self.intercepts[at]);
            if self.intercepts[i] > most && trusted(state.1) {
                records.push(i);
            }
        }
        let mut state = deepest;
        if self.hits[deepest] <= self.misses[deepest] {
            if form.is(5, 10) && records.last() == Some(&deepest) {
                records.pop();
            }
            if let Some(&early) = records.last() {
                (state, stay) = (early, all[early].1);
            }
        }
        state = state.min(too_slow.unwrap_or(usize::MAX));
        let short: Vec<u64> = self.early.iter().filter(|&&ns| ns > 0 && ns - 1 < stay).map(|ns| ns - 1).collect();
        if state > 0 && short.len() > 4 {
            let mean = form.counted(short.iter().sum::<u64>() / short.len() as u64);
            if trusted(mean) {
                stay = mean;
                if all[state].1 > mean {
                    state = table.shallower(state as u64, mean) as usize;
                }
            }
        }
        finish(table, now, tick, state as u64, stay, form.counted(now.event_ns))
    }

    /// 6.1 to 6.18.
    fn learn_bins(&mut self, form: Form, table: &Table, tick_ns: u64, ended: &Ended) {
        let all = table.in_use();
        let n = all.len();
        let at = |i: &usize| all[*i].1 <= self.sleep_ns;
        let timer = (0..n).rev().find(at).unwrap_or(0);
        let duration = (0..n).rev().find(|i| at(i) && ended.lasted(all[*i].1)).unwrap_or(0);
        for i in 0..n {
            self.hits[i] = eighth_less(self.hits[i]);
            self.intercepts[i] = eighth_less(self.intercepts[i]);
        }
        let old: u64 = self.hits[..n].iter().chain(&self.intercepts[..n]).sum();
        let recent = !form.until(5, 10) && form.until(6, 6);
        let slot = self.position as usize;
        if recent {
            self.position = (self.position + 1) % 9;
            if let Some(bin) = self.recent_bin[slot].checked_sub(1) {
                self.recent[bin as usize] = u64::from((self.recent[bin as usize] as u32).wrapping_sub(1));
            }
        }
        if form.is(6, 18) {
            let short = match ended {
                Ended::Somehow => false,
                Ended::After(ns) => self.last.residency_ns < table.exit(self.last.state) || *ns < SHALLOW_NS,
            };
            self.short_idles = eighth_less(self.short_idles) + if short { PULSE } else { 0 };
            self.tick_intercepts = eighth_less(self.tick_intercepts);
            self.total = eighth_less(self.total) + PULSE;
        } else {
            self.total = old + PULSE;
        }
        let beyond = (form.is(6, 6) || form.is(6, 12)) && all[n - 1].1 < tick_ns;
        if beyond {
            self.tick_hits = eighth_less(self.tick_hits);
            self.total += self.tick_hits;
            if tick_ns <= self.sleep_ns && ended.lasted(tick_ns) {
                self.tick_hits += PULSE;
                return;
            }
        }
        let hit = timer == duration && !(beyond && tick_ns <= self.sleep_ns);
        if hit {
            self.hits[timer] += PULSE;
        } else {
            self.intercepts[duration] += PULSE;
            if form.is(6, 18) && ended.lasted(tick_ns) {
                self.tick_intercepts += PULSE;
            }
        }
        if recent {
            self.recent[duration] = u64::from((self.recent[duration] as u32).wrapping_add(u32::from(!hit)));
            self.recent_bin[slot] = if hit { 0 } else { duration as u64 + 1 };
        }
    }

    /// The deepest state that may be taken, or the shallower one that earlier stays speak for.
    fn candidate_of_bins(&self, form: Form, table: &Table, now: &Now, deepest: usize) -> usize {
        let sum = |of: &[u64]| of.iter().fold(0_u32, |sum, &n| sum.wrapping_add(n as u32));
        let (all, recent) = (sum(&self.intercepts[..deepest]), sum(&self.recent[..deepest]));
        let rest = (self.total as u32).wrapping_sub(sum(&self.hits[..deepest]));
        let often = all.wrapping_mul(2) > rest;
        let lately = form.until(6, 6) && recent > 4;
        if !often && !lately {
            return deepest;
        }
        let trusted = |s: usize| !now.tick_stopped || middle(form, table, s) >= now.tick_ns;
        let covers = |s: usize| {
            let half = |of: &[u64], whole: u32| sum(&of[s..deepest]).wrapping_mul(2) > whole;
            (!lately || half(&self.recent, recent)) && (!often || half(&self.intercepts, all))
        };
        // Until the bins from here on cover enough; a stopped tick remembers what would do.
        let mut last_trusted = None;
        for s in (0..deepest).rev() {
            match (covers(s), trusted(s)) {
                (true, true) => return s,
                (true, false) => return last_trusted.unwrap_or(deepest),
                (false, true) => last_trusted = Some(s),
                (false, false) if last_trusted.is_none() => return deepest,
                (false, false) => {}
            }
        }
        deepest
    }

    fn select_6_1(&mut self, form: Form, table: &Table, now: &Now) -> Choice {
        self.sleep_ns = now.sleep_ns.min(SLEEP_NS_MAX);
        let n = table.in_use().len();
        let deepest = (1..n).take_while(|&s| table.states[s].1 <= self.sleep_ns).count();
        let chosen = if deepest == 0 { 0 } else { self.candidate_of_bins(form, table, now, deepest) };
        let stay = if chosen == deepest { self.sleep_ns } else { middle(form, table, chosen) };
        let allowed = (1..=deepest).rev().find(|&s| table.states[s].0 <= now.latency_ns).unwrap_or(0);
        finish(table, now, now.tick_ns, chosen.min(allowed) as u64, stay, now.event_ns)
    }

    fn select_bins(&mut self, form: Form, table: &Table, now: &Now) -> Choice {
        self.sleep_ns = UNKNOWN_NS;
        let n = table.in_use().len();
        let trusted = |s: u64| !now.tick_stopped || table.residency(s) >= now.tick_ns;
        let busy = form.is(6, 6) && now.utilized;
        if busy && n == 2 {
            if !table.polls(0) && trusted(0) {
                return (0, now.tick_stopped);
            }
            return finish(table, now, now.tick_ns, 1, table.residency(1), now.tick_ns / 2);
        }
        let guess = self.candidate_of_bins(form, table, now, n - 1);
        let allowed = (1..n).rev().find(|&s| table.states[s].0 <= now.latency_ns).unwrap_or(0);
        let mut state = guess.min(allowed) as u64;
        if busy && state > 0 && !table.polls(state - 1) && trusted(state - 1) {
            state -= 1;
        }
        let shallow = table.residency(state) < SHALLOW_NS;
        let short = 2 * self.short_idles >= self.total || now.latency_ns < SHALLOW_NS / 2;
        let untimed = match () {
            () if form.is(6, 18) => (state == 0 || shallow) && short,
            () => state == 0 || (table.polls(0) && shallow),
        };
        if !untimed || (form.is(6, 12) && guess == 0) {
            self.sleep_ns = now.sleep_ns.min(SLEEP_NS_MAX);
        }
        if untimed || state == 0 {
            return (state, false);
        }
        let mut stay = self.sleep_ns;
        if table.residency(state) > stay {
            let up = table.shallower(state, stay);
            if form.is(6, 12) || trusted(up) {
                state = up;
            }
        }
        let early = if form.is(6, 18) { self.tick_intercepts } else { self.intercepts[..n].iter().sum() };
        if table.residency(state) < now.tick_ns && early > self.total / 2 + self.total / 8 {
            stay = now.tick_ns / 2;
        }
        finish(table, now, now.tick_ns, state, stay, now.event_ns)
    }
}

/// Length that a stay in a bin is taken to have.
fn middle(form: Form, table: &Table, s: usize) -> u64 {
    let low = table.states[s].1;
    if form.is(6, 1) { (low + table.states[s + 1].1) / 2 } else { low }
}

fn finish(table: &Table, now: &Now, tick_ns: u64, state: u64, stay_ns: u64, event_ns: u64) -> Choice {
    if now.tick_stopped || (!table.polls(state) && stay_ns >= tick_ns) {
        return (state, true);
    }
    let cut = state > 0 && table.residency(state) > event_ns;
    (if cut { table.shallower(state, event_ns) } else { state }, false)
}

impl Teo {
    fn learn_7_2(&mut self, table: &Table, tick_ns: u64) {
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

    fn select_7_2(&mut self, table: &Table, now: &Now) -> Choice {
        let n = table.in_use().len();
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

    fn learn(&mut self, form: Form, table: &Table, tick_ns: u64) {
        self.last.valid = 0;
        let ended = self.ended(form, table, tick_ns);
        match () {
            () if form.until(5, 10) => self.learn_early(form, table, &ended),
            () if form.until(6, 18) => self.learn_bins(form, table, tick_ns, &ended),
            () => self.learn_7_2(table, tick_ns),
        }
    }

    /// Chooses a state.
    pub fn select(&mut self, form: Form, table: &Table, now: &Now) -> Choice {
        if table.in_use().len() < 2 {
            self.last.valid = 0;
            return (0, true);
        }
        let table = &form.counted_table(table);
        if self.last.valid != 0 || self.total == 0 {
            self.learn(form, table, now.tick_ns);
        }
        match () {
            () if form.until(5, 10) => self.select_early(form, table, now),
            () if form.is(6, 1) => self.select_6_1(form, table, now),
            () if form.until(6, 18) => self.select_bins(form, table, now),
            () => self.select_7_2(table, now),
        }
    }
}
