// SPDX-License-Identifier: GPL-2.0-only
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
    pub last: u64,
    pub interval: u64,
    /// It is another CPU's turn to balance it: larger domains are not looked at then.
    pub stops: bool,
}

/// Where the balances of a resting CPU stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Its idle domains, smallest first.
    pub levels: [Level; DOMAINS_MAX],
    pub count: usize,
    /// Tick at which it is looked at next, larger domains left aside.
    next: u64,
    /// The last look came to larger domains.
    reached: bool,
}

impl Standing {
    pub(crate) fn new(levels: &[Level], next: u64, reached: bool) -> Standing {
        let mut own = Standing { count: levels.len(), next, reached, ..Standing::default() };
        own.levels[..levels.len()].copy_from_slice(levels);
        own
    }

    /// A walk comes to it.
    fn visit(&mut self, now: u64) {
        (self.next, self.reached) = (u64::MAX, true);
        for level in &mut self.levels[..self.count] {
            let due = now >= level.last + level.interval;
            if due {
                level.last = now;
            }
            self.next = self.next.min(level.last + level.interval);
            if due && level.stops {
                self.reached = false;
                break;
            }
        }
    }

    /// Tick at which it is looked at next; `larger`: when a larger domain is due.
    pub(crate) fn next(&self, larger: u64) -> u64 {
        if self.reached { self.next.min(larger) } else { self.next }
    }
}

/// CPUs whose balances stand alike.
struct Cohort {
    now: Standing,
    /// Before walk number `walk`.
    before: Standing,
    walk: u64,
    /// They, and some that are there no more.
    members: Vec<u32>,
    count: usize,
}

/// A CPU that does not rest any more.
pub(crate) struct Woken {
    pub cpu: u32,
    pub standing: Standing,
    /// When a larger domain is due.
    pub larger: u64,
}

/// A walk in progress: who walks, and how far.
#[derive(Clone, Copy)]
struct Walk {
    walker: u32,
    /// From the CPU behind the walker on, in a circle; else from the first on, the walker last.
    circle: bool,
    place: u32,
}

/// The resting CPUs of a run.
pub(crate) struct Rest {
    on: bool,
    /// CPUs that do not rest.
    restless: CpuSet,
    /// CPUs of caches with a CPU that rests.
    near: [u64; PLACE_CPUS_LARGEST / 64],
    /// Of each cache.
    members: Vec<Vec<u32>>,
    llc_of: Vec<u32>,
    cohort_of: Vec<u32>,
    /// Ticks at which a CPU is to be looked at in truth, and at which a larger domain is due.
    due: BTreeSet<(u64, u32)>,
    due_of: Vec<(u64, u64)>,
    cohorts: Vec<Cohort>,
    woken: Vec<Woken>,
    walks: u64,
    walk: Option<Walk>,
}

impl Rest {
    /// Nobody rests unless `on`.
    pub(crate) fn new(on: bool, llc_of: &[u32]) -> Rest {
        let cpus = llc_of.len() as u32;
        let caches = llc_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members = vec![Vec::new(); caches];
        (0..cpus).zip(llc_of).for_each(|(c, &llc)| members[llc as usize].push(c));
        Rest {
            on,
            restless: CpuSet::first(cpus),
            near: [0; PLACE_CPUS_LARGEST / 64],
            members,
            llc_of: llc_of.to_vec(),
            cohort_of: vec![NOWHERE; cpus as usize],
            due: BTreeSet::new(),
            due_of: vec![(0, 0); cpus as usize],
            cohorts: Vec::new(),
            woken: Vec::new(),
            walks: 0,
            walk: None,
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// CPUs that do not rest.
    pub(crate) fn restless(&self) -> &CpuSet {
        &self.restless
    }

    /// CPUs of the cache of CPU `c`.
    pub(crate) fn near(&self, c: u32) -> &[u32] {
        &self.members[self.llc_of[c as usize] as usize]
    }

    /// Something changes of CPU `c`: nobody near rests any more.
    #[inline]
    pub(crate) fn disturb(&mut self, c: u32) {
        if self.near[c as usize / 64 % self.near.len()] >> (c % 64) & 1 == 1 {
            self.wake_near(c);
        }
    }

    #[cold]
    fn wake_near(&mut self, c: u32) {
        let llc = self.llc_of[c as usize] as usize;
        for at in 0..self.members[llc].len() {
            let m = self.members[llc][at];
            self.near[m as usize / 64] &= !(1 << (m % 64));
            self.wake(m);
        }
    }

    fn wake(&mut self, c: u32) {
        let cohort = std::mem::replace(&mut self.cohort_of[c as usize], NOWHERE);
        if cohort == NOWHERE {
            return;
        }
        let to_come = self.walk.is_some_and(|walk| self.place(walk, c) > walk.place);
        let cohort = &mut self.cohorts[cohort as usize];
        cohort.count -= 1;
        let standing = if to_come && cohort.walk == self.walks { cohort.before } else { cohort.now };
        let (wakes, larger) = self.due_of[c as usize];
        self.due.remove(&(wakes, c));
        self.restless.insert(c);
        self.woken.push(Woken { cpu: c, standing, larger });
    }

    /// CPUs that were woken since this was last asked.
    pub(crate) fn take_woken(&mut self) -> Option<Woken> {
        self.woken.pop()
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
        self.walk = Some(Walk { walker, circle, place: 0 });
        for cohort in self.cohorts.iter_mut().filter(|cohort| cohort.count > 0 && cohort.now.next <= now) {
            (cohort.before, cohort.walk) = (cohort.now, self.walks);
            cohort.now.visit(now);
        }
    }

    /// It is at its `place`th CPU.
    pub(crate) fn walk_is_at(&mut self, place: u32) {
        if let Some(walk) = &mut self.walk {
            walk.place = place;
        }
    }

    /// It is over: tick at which a resting CPU is looked at next.
    pub(crate) fn walk_ends(&mut self) -> Option<u64> {
        self.walk = None;
        let mut next = self.cohorts.iter().filter(|cohort| cohort.count > 0).map(|cohort| cohort.now.next).min()?;
        for &(wakes, c) in &self.due {
            if wakes >= next {
                break;
            }
            let cohort = &self.cohorts[self.cohort_of[c as usize] as usize];
            next = next.min(cohort.now.next(self.due_of[c as usize].1));
        }
        Some(next)
    }

    /// Cohorts that stand alike become one; those without members go.
    fn merge(&mut self) {
        for at in 0..self.cohorts.len() {
            if self.cohorts[at].count == 0 {
                self.cohorts[at].members.clear();
                continue;
            }
            self.forget_gone(at);
            let now = self.cohorts[at].now;
            let Some(into) = self.cohorts[..at].iter().position(|c| c.count > 0 && c.now == now) else { continue };
            self.cohorts[at].count = 0;
            for m in std::mem::take(&mut self.cohorts[at].members) {
                if self.cohort_of[m as usize] == at as u32 {
                    self.joins(m, into);
                }
            }
        }
    }

    /// Of a cohort's members those that are there no more, when they are many.
    fn forget_gone(&mut self, at: usize) {
        let Rest { cohorts, cohort_of, .. } = self;
        let Cohort { members, count, .. } = &mut cohorts[at];
        if members.len() > 2 * *count + 64 {
            members.retain(|&m| cohort_of[m as usize] == at as u32);
            members.sort_unstable();
            members.dedup();
        }
    }

    fn joins(&mut self, c: u32, cohort: usize) {
        self.cohort_of[c as usize] = cohort as u32;
        self.cohorts[cohort].members.push(c);
        self.cohorts[cohort].count += 1;
    }

    /// CPU `c` rests until tick `wakes`; `larger`: when a larger domain is due.
    pub(crate) fn begins(&mut self, c: u32, standing: Standing, wakes: u64, larger: u64) {
        let alike = self.cohorts.iter().position(|cohort| cohort.count > 0 && cohort.now == standing);
        let empty = || self.cohorts.iter().position(|cohort| cohort.count == 0);
        let at = alike.or_else(empty).unwrap_or(self.cohorts.len());
        let new = Cohort { now: standing, before: standing, walk: 0, members: Vec::new(), count: 0 };
        match self.cohorts.get_mut(at) {
            None => self.cohorts.push(new),
            Some(cohort) if cohort.count == 0 => *cohort = new,
            Some(_) => {}
        }
        self.joins(c, at);
        self.restless.remove(c);
        self.due.insert((wakes, c));
        self.due_of[c as usize] = (wakes, larger);
        for &m in &self.members[self.llc_of[c as usize] as usize] {
            self.near[m as usize / 64] |= 1 << (m % 64);
        }
    }
}
