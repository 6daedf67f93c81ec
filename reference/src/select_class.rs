// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs to which a real-time or a deadline task may go, by sets of CPUs.

use crate::deadline::before;
use crate::rules::{DlSearch, RtSearch};

/// A CPU.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    /// Its number.
    pub number: u32,
    /// The task may use it.
    pub allowed: bool,
    /// Priority of its strongest real-time task.
    pub prio: Option<u32>,
    /// Earliest deadline of its deadline tasks.
    pub deadline: Option<u64>,
    /// Capacity.
    pub capacity: u64,
    /// Number of domains around the task's CPU that do not span it.
    pub distance: u32,
}

/// A task that looks for a CPU.
#[derive(Clone, Copy, Debug)]
pub struct Seeker {
    /// CPU it last ran on.
    pub home: u32,
    /// CPU that looks.
    pub this: u32,
    /// CPU that `this` found last.
    pub last: u32,
    /// Number of CPUs.
    pub cpus: u32,
    /// True when they differ in capacity.
    pub asymmetric: bool,
    /// Real-time priority.
    pub prio: u32,
    /// Smaller one of its clamps.
    pub clamp: u64,
    /// Absolute deadline, relative deadline, runtime.
    pub reservation: (u64, u64, u64),
}

/// The nearest of a set; `spread`: in the order behind the last one found.
fn nearest(seeker: &Seeker, set: &[Cpu], spread: bool) -> Option<u32> {
    if set.iter().any(|c| c.number == seeker.home) {
        return Some(seeker.home);
    }
    let closest = set.iter().map(|c| c.distance).min()?;
    let close: Vec<u32> = set.iter().filter(|c| c.distance == closest).map(|c| c.number).collect();
    if close.contains(&seeker.this) {
        return Some(seeker.this);
    }
    let start = if spread { seeker.last + 1 } else { 0 };
    (start..seeker.cpus).chain(0..start).find(|c| close.contains(c))
}

/// CPU of a real-time task that cannot run where it is; `movable`: it may use several.
pub fn lowest(search: RtSearch, seeker: &Seeker, cpus: &[Cpu], movable: bool) -> Option<u32> {
    let knows_deadlines = matches!(search, RtSearch::Spread | RtSearch::Push);
    let level = |c: &Cpu| if knows_deadlines && c.deadline.is_some() { u32::MAX } else { c.prio.unwrap_or(0) };
    let fits = |c: &Cpu| search == RtSearch::First || !seeker.asymmetric || c.capacity >= seeker.clamp;
    let at = |wanted: u32| -> Vec<Cpu> { cpus.iter().copied().filter(|c| c.allowed && level(c) == wanted).collect() };
    let fitting = |wanted| -> Vec<Cpu> { at(wanted).into_iter().filter(|c| fits(c)).collect() };
    let sets = (0..seeker.prio).map(fitting).chain((0..seeker.prio).map(at));
    let set = sets.into_iter().find(|set| movable && !set.is_empty())?;
    nearest(seeker, &set, knows_deadlines)
}

fn reservation_fits(search: DlSearch, seeker: &Seeker, cpu: &Cpu) -> bool {
    let (_, relative, runtime) = seeker.reservation;
    match search {
        _ if !seeker.asymmetric => true,
        DlSearch::Latest | DlSearch::First => true,
        DlSearch::Fits => (relative * cpu.capacity) >> 10 >= runtime,
        DlSearch::Spread => cpu.capacity >= ((runtime << 20) / relative) >> 10,
    }
}

/// CPU of a deadline task that cannot run where it is.
pub fn later(search: DlSearch, seeker: &Seeker, cpus: &[Cpu], movable: bool) -> Option<u32> {
    if !movable {
        return None;
    }
    let free: Vec<Cpu> = cpus.iter().copied().filter(|c| c.allowed && c.deadline.is_none()).collect();
    if free.is_empty() {
        let busy = cpus.iter().filter_map(|c| c.deadline.map(|d| (d, c)));
        let (latest, cpu) = busy.reduce(|a, b| if before(a.0, b.0) { b } else { a })?;
        return (cpu.allowed && before(seeker.reservation.0, latest)).then_some(cpu.number);
    }
    let fitting: Vec<Cpu> = free.iter().copied().filter(|c| reservation_fits(search, seeker, c)).collect();
    if fitting.is_empty() {
        let most = free.iter().map(|c| c.capacity).max()?;
        let largest = || free.iter().filter(|c| c.capacity == most).map(|c| c.number);
        return largest().find(|&c| c == seeker.home).or_else(|| largest().next());
    }
    if search == DlSearch::Latest {
        let first = fitting[0].number;
        let known = |c: &Cpu| [seeker.home, seeker.this, first].contains(&c.number);
        return nearest(seeker, &fitting.iter().copied().filter(known).collect::<Vec<_>>(), false);
    }
    nearest(seeker, &fitting, search == DlSearch::Spread)
}
