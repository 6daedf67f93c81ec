// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle CPUs without tick whose balances find nothing. A walk over idle CPUs comes to each of them every few ms and
//! leaves nothing behind but the ticks at which its domains were balanced: on a large machine that is most of a run.
//! While all CPUs of a cache are idle and their load has faded, walks pass them over, and those ticks are kept once for
//! all CPUs for which they are the same. Whatever happens to a CPU of the cache ends that for all of it.

use std::collections::BTreeSet;

use pelton_core::{DOMAINS_MAX, PLACE_CPUS_LARGEST};
use pelton_model::workload::CpuSet;

const NOWHERE: u32 = u32::MAX;

/// One domain of a resting CPU, all of whose CPUs are idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    /// Tick of its last balance, and ticks between two.
    balanced_at: u64,
    ticks_between: u64,
    /// Another CPU has the turn to balance it: larger domains are not looked at then.
    stops: bool,
}

impl Level {
    pub(crate) fn new(last: u64, every: u64, stops: bool) -> Level {
        Level { balanced_at: last, ticks_between: every, stops }
    }

    fn due(&self) -> u64 {
        self.balanced_at + self.ticks_between
    }
}

/// Ticks at which a resting CPU's domains were balanced, and the tick of its next look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Its idle domains, smallest first.
    levels: [Level; DOMAINS_MAX],
    nr_levels: usize,
    /// Tick at which it is looked at next, larger domains left aside.
    soonest: u64,
    /// The last look went on to larger domains.
    went_on: bool,
}

impl Standing {
    /// After a look at tick `now`: domains behind one that is another CPU's turn were not looked at.
    pub(crate) fn new(levels: &[Level], now: u64) -> Standing {
        let stop = levels.iter().position(|level| level.stops && level.balanced_at == now);
        let seen = &levels[..stop.map_or(levels.len(), |at| at + 1)];
        let soonest = seen.iter().map(Level::due).min().unwrap_or(u64::MAX);
        let mut own = Standing { nr_levels: levels.len(), soonest, went_on: stop.is_none(), ..Standing::default() };
        own.levels[..levels.len()].copy_from_slice(levels);
        own
    }

    /// A walk comes to it.
    fn visit(&mut self, now: u64) {
        (self.soonest, self.went_on) = (u64::MAX, true);
        for level in &mut self.levels[..self.nr_levels] {
            let due = now >= level.due();
            if due {
                level.balanced_at = now;
            }
            self.soonest = self.soonest.min(level.due());
            if due && level.stops {
                self.went_on = false;
                break;
            }
        }
    }

    /// Ticks at which its domains were balanced last, smallest first.
    pub(crate) fn last_ticks(&self) -> impl Iterator<Item = u64> {
        self.levels[..self.nr_levels].iter().map(|level| level.balanced_at)
    }

    /// Tick at which it is looked at next; `beyond`: when a larger domain is due.
    pub(crate) fn next_ticks(&self, beyond: u64) -> u64 {
        if self.went_on { self.soonest.min(beyond) } else { self.soonest }
    }
}

/// CPUs whose balances stand alike.
struct Cohort {
    now: Standing,
    /// Before walk number `walk`.
    was: Standing,
    walk: u64,
    /// Members, and some CPUs that have left since.
    rests: Vec<u32>,
    nr_rest: usize,
}

/// A walk in progress: which CPU walks, and how far.
#[derive(Clone, Copy)]
struct Walk {
    walker: u32,
    /// From the CPU behind the walker on, in a circle; else from the first on, the walker last.
    circle: bool,
    reached_place: u32,
}

/// Rows that placement and balancing read, and which CPUs rest while they stay as they are.
pub(crate) struct Rows {
    /// Rows that are up to date, one bit a CPU.
    up_to_date: [u64; PLACE_CPUS_LARGEST / 64],
    rest: Rest,
}

impl Rows {
    /// No row is up to date; no CPU rests unless `on`. `llc_of`: the cache of each CPU.
    pub(crate) fn new(on: bool, llc_of: &[u32]) -> Rows {
        Rows { up_to_date: [0; PLACE_CPUS_LARGEST / 64], rest: Rest::new(on, llc_of) }
    }

    /// Marks the row of CPU `c` as out of date: something that is read of it changes.
    #[inline(always)]
    pub(crate) fn change(&mut self, c: u32) {
        // There is no CPU beyond the last word: nothing is to be checked.
        self.up_to_date[c as usize / 64 % (PLACE_CPUS_LARGEST / 64)] &= !(1 << (c % 64));
        if self.rest.in_use {
            self.rest.disturb(c);
        }
    }

    /// Marks the row of CPU `c` as up to date if `fresh`; else it will change without a call of `change`.
    #[inline(always)]
    pub(crate) fn set_fresh(&mut self, c: u32, fresh: bool) {
        self.up_to_date[c as usize / 64 % (PLACE_CPUS_LARGEST / 64)] |= u64::from(fresh) << (c % 64);
    }

    /// CPUs 64 `at` and on whose rows are up to date.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.up_to_date[at % (PLACE_CPUS_LARGEST / 64)]
    }

    /// True if the row of CPU `c` is up to date.
    #[inline]
    pub(crate) fn is_fresh(&self, c: u32) -> bool {
        self.word(c as usize / 64) >> (c % 64) & 1 == 1
    }

    /// CPUs that rest.
    #[inline]
    pub(crate) fn resting(&self) -> &Rest {
        &self.rest
    }

    /// CPUs that rest, to be changed.
    #[inline]
    pub(crate) fn resting_mut(&mut self) -> &mut Rest {
        &mut self.rest
    }
}

/// The resting CPUs of a run.
pub(crate) struct Rest {
    /// Some CPU may rest.
    in_use: bool,
    passes: bool,
    /// CPUs that do not rest.
    restless: CpuSet,
    /// CPUs of caches with a CPU that rests.
    near: [u64; PLACE_CPUS_LARGEST / 64],
    /// Of each cache.
    llc_members: Vec<Vec<u32>>,
    llc_of: Vec<u32>,
    cohort_of: Vec<u32>,
    /// Ticks at which a CPU is to be looked at in truth, and at which a larger domain is due.
    due: BTreeSet<(u64, u32)>,
    due_of: Vec<(u64, u64)>,
    cohorts: Vec<Cohort>,
    /// CPUs that were woken: where their balances stand, and when a larger domain is due.
    roused: Vec<(u32, Standing, u64)>,
    walks: u64,
    walk: Option<Walk>,
}

impl Rest {
    /// No CPU rests unless `on`.
    pub(crate) fn new(on: bool, llc_of: &[u32]) -> Rest {
        let cpus = llc_of.len() as u32;
        let caches = llc_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members = vec![Vec::new(); caches];
        (0..cpus).zip(llc_of).for_each(|(c, &llc)| members[llc as usize].push(c));
        Rest {
            in_use: false,
            passes: on,
            restless: CpuSet::first(cpus),
            near: [0; PLACE_CPUS_LARGEST / 64],
            llc_members: members,
            llc_of: llc_of.to_vec(),
            cohort_of: vec![NOWHERE; cpus as usize],
            due: BTreeSet::new(),
            due_of: vec![(0, 0); cpus as usize],
            cohorts: Vec::new(),
            roused: Vec::new(),
            walks: 0,
            walk: None,
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.passes
    }

    /// CPUs that do not rest.
    pub(crate) fn restless(&self) -> &CpuSet {
        &self.restless
    }

    /// CPUs of the cache of CPU `c`.
    pub(crate) fn near(&self, c: u32) -> &[u32] {
        &self.llc_members[self.llc_of[c as usize] as usize]
    }

    /// Ends the rest of all CPUs near CPU `c`, of which something changes.
    #[inline(never)]
    pub(crate) fn disturb(&mut self, c: u32) {
        if self.near[c as usize / 64 % self.near.len()] >> (c % 64) & 1 == 1 {
            self.wake_near(c);
        }
    }

    #[cold]
    fn wake_near(&mut self, c: u32) {
        let llc = self.llc_of[c as usize] as usize;
        for at in 0..self.llc_members[llc].len() {
            let m = self.llc_members[llc][at];
            self.near[m as usize / 64] &= !(1 << (m % 64));
            self.wake(m);
        }
    }

    fn wake(&mut self, c: u32) {
        let cohort = std::mem::replace(&mut self.cohort_of[c as usize], NOWHERE);
        if cohort == NOWHERE {
            return;
        }
        let to_come = self.walk.is_some_and(|walk| self.place(walk, c) > walk.reached_place);
        let cohort = &mut self.cohorts[cohort as usize];
        cohort.nr_rest -= 1;
        let standing = if to_come && cohort.walk == self.walks { cohort.was } else { cohort.now };
        let (wakes, beyond) = self.due_of[c as usize];
        self.due.remove(&(wakes, c));
        self.restless.insert(c);
        self.roused.push((c, standing, beyond));
    }

    /// Some CPU rests, or did.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.in_use
    }

    /// A CPU that was woken since this was last asked: where its balances stand, and when a larger domain is due.
    pub(crate) fn take_woken(&mut self) -> Option<(u32, Standing, u64)> {
        self.roused.pop()
    }

    /// The place of CPU `c` in a walk.
    fn place(&self, walk: Walk, c: u32) -> u32 {
        let cpus = self.cohort_of.len() as u32;
        match walk.circle {
            true => (c + cpus - walk.walker - 1) % cpus,
            false if c == walk.walker => cpus - 1,
            false => c - u32::from(c > walk.walker),
        }
    }

    /// CPU `walker` walks at tick `now`: it passes over those that rest on.
    pub(crate) fn walk_begins(&mut self, walker: u32, circle: bool, now: u64) {
        self.merge();
        while let Some(&(wakes, c)) = self.due.first()
            && wakes <= now
        {
            self.wake(c);
        }
        self.walks += 1;
        self.walk = Some(Walk { walker, circle, reached_place: 0 });
        for cohort in self.cohorts.iter_mut().filter(|cohort| cohort.nr_rest > 0 && cohort.now.soonest <= now) {
            (cohort.was, cohort.walk) = (cohort.now, self.walks);
            cohort.now.visit(now);
        }
    }

    /// Notes that the walk is at its `place`th CPU.
    pub(crate) fn walk_is_at(&mut self, place: u32) {
        if let Some(walk) = &mut self.walk {
            walk.reached_place = place;
        }
    }

    /// Ends the walk. Returns the tick at which a resting CPU is looked at next.
    pub(crate) fn walk_ends(&mut self) -> Option<u64> {
        self.walk = None;
        let mut next =
            self.cohorts.iter().filter(|cohort| cohort.nr_rest > 0).map(|cohort| cohort.now.soonest).min()?;
        for &(wakes, c) in &self.due {
            if wakes >= next {
                break;
            }
            let cohort = &self.cohorts[self.cohort_of[c as usize] as usize];
            next = next.min(cohort.now.next_ticks(self.due_of[c as usize].1));
        }
        Some(next)
    }

    /// Cohorts that stand alike become one; those without members go.
    fn merge(&mut self) {
        for at in 0..self.cohorts.len() {
            if self.cohorts[at].nr_rest == 0 {
                self.cohorts[at].rests.clear();
                continue;
            }
            self.forget_gone(at);
            let now = self.cohorts[at].now;
            let Some(into) = self.cohorts[..at].iter().position(|c| c.nr_rest > 0 && c.now == now) else { continue };
            self.cohorts[at].nr_rest = 0;
            for m in std::mem::take(&mut self.cohorts[at].rests) {
                if self.cohort_of[m as usize] == at as u32 {
                    self.joins(m, into);
                }
            }
        }
    }

    /// Of a cohort's members those that are there no more, when they are many.
    fn forget_gone(&mut self, at: usize) {
        let Rest { cohorts, cohort_of, .. } = self;
        let Cohort { rests, nr_rest, .. } = &mut cohorts[at];
        if rests.len() > 2 * *nr_rest + 64 {
            rests.retain(|&m| cohort_of[m as usize] == at as u32);
            rests.sort_unstable();
            rests.dedup();
        }
    }

    fn joins(&mut self, c: u32, cohort: usize) {
        self.cohort_of[c as usize] = cohort as u32;
        self.cohorts[cohort].rests.push(c);
        self.cohorts[cohort].nr_rest += 1;
    }

    /// CPU `c` rests until tick `wakes`; `beyond`: when a larger domain is due.
    pub(crate) fn begins(&mut self, c: u32, standing: Standing, wakes: u64, beyond: u64) {
        let alike = self.cohorts.iter().position(|cohort| cohort.nr_rest > 0 && cohort.now == standing);
        let empty = || self.cohorts.iter().position(|cohort| cohort.nr_rest == 0);
        let at = alike.or_else(empty).unwrap_or(self.cohorts.len());
        let new = Cohort { now: standing, was: standing, walk: 0, rests: Vec::new(), nr_rest: 0 };
        match self.cohorts.get_mut(at) {
            None => self.cohorts.push(new),
            Some(cohort) if cohort.nr_rest == 0 => *cohort = new,
            Some(_) => {}
        }
        self.in_use = true;
        self.joins(c, at);
        self.restless.remove(c);
        self.due.insert((wakes, c));
        self.due_of[c as usize] = (wakes, beyond);
        for &m in &self.llc_members[self.llc_of[c as usize] as usize] {
            self.near[m as usize / 64] |= 1 << (m % 64);
        }
    }
}
