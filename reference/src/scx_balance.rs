// SPDX-License-Identifier: GPL-2.0-or-later
//! Balance and groups where the core is the scheduler of sched_ext: whole searches, over all CPUs at once, and a whole
//! tree of groups.

/// A CPU as others see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Tasks that run or wait there.
    pub tasks: u64,
    /// One of them runs.
    pub runs: bool,
    /// Shares the cache of the CPU that looks.
    pub near: bool,
    /// Capacity where it has nothing to do, else nothing.
    pub idle: Option<u64>,
}

/// CPU to take a task from, for one with `own` tasks that takes from queues longer by `longer`: of the own cache those
/// come first, then the longest, then the first.
pub fn takes_from(cpus: &[Seen], looks: usize, longer: u64, held: bool) -> Option<usize> {
    let own = cpus[looks].tasks;
    let waits = |c: &Seen| c.tasks > u64::from(c.runs);
    let all = cpus.iter().enumerate().filter(|(i, c)| *i != looks && waits(c) && c.tasks >= own + longer);
    let best = all.max_by_key(|(i, c)| (c.near, c.tasks, std::cmp::Reverse(*i)));
    best.map(|(i, _)| i).filter(|_| !held)
}

/// Idle CPU that is woken for a task that waits: of the same cache first, then the largest, then the first.
pub fn wakes(cpus: &[Seen]) -> Option<usize> {
    let idle = cpus.iter().enumerate().filter_map(|(i, c)| Some((c.near, c.idle?, std::cmp::Reverse(i))));
    idle.max().map(|(.., i)| i.0)
}

/// A domain whose CPUs ask for `most` kHz at most is at a speed of `is` parts of 1024: that of the request, or faster
/// by twice the need of others at most; two parts are for rounding.
pub fn is_followed(is: u64, most: u64, reference: u64, others: u64) -> bool {
    let wanted = most * crate::SCALE / reference;
    (wanted.saturating_sub(2)..=wanted + 2 + 2 * others).contains(&is)
}

/// Weight of a task below these groups, from its own outwards: shares and load of each, in parts of the whole.
pub fn part(weight: f64, groups: &[(f64, f64)]) -> f64 {
    groups.iter().fold(weight, |weight, (shares, load)| weight / load * shares)
}

/// Time in a pool after so many periods, one after the other.
pub fn refilled(left: i128, quota: i128, burst: i128, periods: u64) -> i128 {
    (0..periods).fold(left, |left, _| left.max((left + quota).min(quota + burst)))
}
