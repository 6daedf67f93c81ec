// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler events that call the governor (docs/rules/governor.md#who-calls).

use crate::clock::Rq;
use crate::rules::{
    HookAttach, HookBlocked, HookDecay, HookDl, HookFilter, HookInAverage, HookIowait, HookRt, HookTick, Numbers,
    Remote, Rules, RunnableBoost, Uclamp, UtilEst,
};
use crate::schedutil::{SugovCpu, SugovPolicy, hook_flag};

/// Marks of a CPU since its last call.
pub mod mark {
    /// Averages changed.
    pub const CHANGED: u64 = 1;
    /// Utilization left.
    pub const DETACHED: u64 = 2;
}

/// Kinds of events; the numbers of `hook.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Averages of the root queue changed.
    Decay = 0,
    /// An entity came.
    Attach = 1,
    /// An entity left.
    Detach = 2,
    /// A task that waited for I/O was queued.
    Iowait = 3,
    /// The tick of a fair task.
    Tick = 4,
    /// The RT class.
    Rt = 5,
    /// The deadline class.
    Dl = 6,
    /// A blocked walk.
    Blocked = 7,
    /// New limits.
    Limits = 8,
    /// A second task was queued.
    Enqueue = 9,
    /// A task joined where clamps add up.
    Uclamp = 11,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Decay,
        Kind::Attach,
        Kind::Detach,
        Kind::Iowait,
        Kind::Tick,
        Kind::Rt,
        Kind::Dl,
        Kind::Blocked,
        Kind::Limits,
        Kind::Enqueue,
    ];

    /// The kind with this number.
    pub fn of(number: u64) -> Option<Kind> {
        if number == 11 { Some(Kind::Uclamp) } else { Self::ALL.get(number as usize).copied() }
    }
}

/// Circumstances of an event; the bits of `hook.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// Another CPU executes it.
    pub remote: bool,
    /// Run time was accounted.
    pub accounting: bool,
    /// An entity comes or goes in the same event.
    pub attaches: bool,
    /// Part of the tick.
    pub tick: bool,
    /// No wake-up, sleep or migration.
    pub leftover: bool,
    /// Utilization of sleeping tasks that left was taken out.
    pub removed: bool,
    /// The next tick is far away.
    pub long_tick: bool,
    /// The next task woke from I/O.
    pub iowait: bool,
    /// Both tasks have the same lower clamp.
    pub same_clamp: bool,
    /// A group's averages changed, not by time.
    pub propagated: bool,
}

impl How {
    /// From the bits.
    pub fn of(bits: u64) -> How {
        let bit = |n: u32| bits >> n & 1 != 0;
        How {
            remote: bit(0),
            accounting: bit(1),
            attaches: bit(2),
            tick: bit(3),
            leftover: bit(4),
            removed: bit(5),
            long_tick: bit(6),
            iowait: bit(7),
            same_clamp: bit(8),
            propagated: bit(9),
        }
    }
}

/// Utilization that the filter for small changes compares.
pub fn fair_util(rules: &Rules, util_avg: u64, runnable_avg: u64, util_est: u64) -> u64 {
    let runnable = if rules.runnable_boost == RunnableBoost::On { runnable_avg } else { 0 };
    let estimate = if rules.util_est == UtilEst::Off { 0 } else { util_est };
    util_avg.max(runnable).max(estimate)
}

/// Does the kernel call here?
fn offered(rules: &Rules, kind: Kind, how: How) -> bool {
    match kind {
        Kind::Decay => {
            let instead = match rules.hook_in_average {
                HookInAverage::Off => how.attaches,
                HookInAverage::On => how.propagated,
            };
            match rules.hook_decay {
                HookDecay::Off => false,
                HookDecay::Local => !how.remote && !instead,
                HookDecay::Remote => !instead,
            }
        }
        Kind::Attach | Kind::Detach => rules.hook_attach == HookAttach::On,
        Kind::Iowait => rules.hook_iowait == HookIowait::On,
        Kind::Tick => rules.hook_tick == HookTick::On,
        Kind::Rt => rules.hook_rt == if how.accounting { HookRt::Accounting } else { HookRt::Enqueue },
        Kind::Dl => rules.hook_dl == if how.accounting { HookDl::Accounting } else { HookDl::Bandwidth },
        Kind::Blocked => rules.hook_blocked != HookBlocked::Off,
        Kind::Limits => true,
        Kind::Enqueue => false,
        Kind::Uclamp => !matches!(rules.uclamp, Uclamp::Off | Uclamp::Max),
    }
}

/// One event: what the filter says of it.
fn delivered(rules: &Rules, kind: Kind, how: How, offered: bool, small: bool) -> bool {
    let rest = matches!(kind, Kind::Iowait | Kind::Rt | Kind::Dl | Kind::Limits | Kind::Uclamp);
    match rules.hook_filter {
        HookFilter::H0 => offered,
        HookFilter::H1 => match kind {
            Kind::Attach | Kind::Detach | Kind::Tick => true,
            _ => rest && offered,
        },
        HookFilter::H2 => offered && (rest || !small),
        HookFilter::H3 => match kind {
            Kind::Attach | Kind::Detach => how.leftover,
            Kind::Enqueue => how.long_tick,
            Kind::Tick | Kind::Blocked | Kind::Limits => true,
            _ => false,
        },
        HookFilter::H4 => matches!(kind, Kind::Tick | Kind::Limits),
        HookFilter::Composite => offered && !(kind == Kind::Decay && small && !how.tick),
    }
}

/// Bits of `hook.h`: offered, delivered, flags from bit 8 on.
fn outcome(offered: bool, delivered: bool, flags: u64) -> u64 {
    u64::from(offered) | u64::from(delivered) << 1 | flags << 8
}

/// Flags that marks and kind give; the marks are used up.
fn call_flags(sc: &mut SugovCpu, kind: Option<Kind>, how: How) -> u64 {
    let detached = sc.marks & mark::DETACHED != 0;
    sc.marks = 0;
    let of_kind = match kind {
        Some(Kind::Iowait) => hook_flag::IOWAIT,
        Some(Kind::Rt) if how.accounting => hook_flag::CLASS | hook_flag::RT,
        Some(Kind::Dl) if how.accounting => hook_flag::CLASS | hook_flag::DL,
        Some(Kind::Rt | Kind::Dl) => hook_flag::CLASS,
        _ => 0,
    };
    of_kind | if detached { hook_flag::DETACH } else { 0 }
}

/// An event of a CPU.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Kind of the event.
    pub kind: Kind,
    /// Circumstances of the event.
    pub how: How,
    /// Clock of the CPU.
    pub now: u64,
}

/// Outcome of an event.
pub fn event(
    rules: &Rules,
    numbers: &Numbers,
    sp: &SugovPolicy,
    sc: &mut SugovCpu,
    rq: &Rq,
    Event { kind, how, now }: Event,
) -> u64 {
    let util = fair_util(rules, rq.cfs.avg.util_avg, rq.cfs.avg.runnable_avg, rq.cfs.util_est);
    let due = sp.gate.until_ns != 0 && now.wrapping_sub(sp.gate.until_ns) as i64 >= 0;
    let other_need = sp.freq_invariant == 0 && sc.khz_evaluated != sp.cur_khz;
    let small = !due && !other_need && util.abs_diff(sc.util_evaluated) < numbers.hook_epsilon;
    if matches!(kind, Kind::Decay | Kind::Attach | Kind::Detach | Kind::Blocked) {
        sc.marks |= mark::CHANGED;
    }
    if kind == Kind::Detach || how.removed {
        sc.marks |= mark::DETACHED;
    }
    if rules.remote == Remote::LocalOnly && how.remote && kind != Kind::Limits {
        return 0;
    }
    let offered = offered(rules, kind, how);
    let delivered = delivered(rules, kind, how, offered, small);
    let flags = if delivered { call_flags(sc, Some(kind), how) } else { 0 };
    outcome(offered, delivered, flags)
}

/// A context switch; classes: 0 fair, 1 RT, 2 deadline, 3 idle, 4 the governor's worker, 5 stop.
pub fn switch(rules: &Rules, sc: &mut SugovCpu, prev: u64, next: u64, how: How) -> u64 {
    if rules.hook_filter != HookFilter::H3 {
        return 0;
    }
    let forced = match next {
        0 if how.iowait => Some(hook_flag::FORCE | hook_flag::IOWAIT),
        1 if prev == 1 && how.same_clamp => None,
        1 => Some(hook_flag::FORCE | hook_flag::CLASS | hook_flag::RT),
        2 => Some(hook_flag::FORCE | hook_flag::CLASS | hook_flag::DL),
        _ => None,
    };
    let flagged = sc.flags & (hook_flag::RT | hook_flag::DL) != 0;
    let changed = next == 0 && (flagged || sc.marks & mark::CHANGED != 0);
    if forced.is_none() && !changed {
        return 0;
    }
    outcome(false, true, forced.unwrap_or(0) | call_flags(sc, None, how))
}
