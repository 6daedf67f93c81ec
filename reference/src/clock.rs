// SPDX-License-Identifier: GPL-2.0-or-later
//! The clocks of one CPU and the record set they drive (docs/rules/clock.md).

use crate::cap_scale;
use crate::pelt::{Avg, LOAD_AVG_MAX, MIN_DIVIDER, Scale};
use crate::pressure::{RtShare, add_share, update_irq};
use crate::rq::CfsRq;
use crate::rules::{IdleClock, Invariance, Rules, ThrottleClock};

/// Sum of utilization sums from which a CPU counts as having had no idle time.
pub const SATURATED_SUM: u64 = MIN_DIVIDER * 1024 - LOAD_AVG_MAX;

/// The clocks (docs/rules/clock.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Wall time as this CPU saw it last.
    pub clock_ns: u64,
    /// Without IRQ and stolen time.
    pub clock_task_ns: u64,
    /// Slowed down with the CPU's speed while busy.
    pub clock_pelt_ns: u64,
    /// Idle time that saturation swallowed.
    pub lost_idle_ns: u64,
    /// `clock_ns` when the CPU last ran idle.
    pub clock_idle_ns: u64,
    /// Published load-tracking clock at that moment.
    pub clock_pelt_idle_ns: u64,
}

/// All signals of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rq {
    /// Clocks.
    pub clock: Clock,
    /// Root queue of the fair class.
    pub cfs: CfsRq,
    /// RT signal.
    pub rt: Avg,
    /// DL signal.
    pub dl: Avg,
    /// IRQ signal.
    pub irq: Avg,
    /// Hardware-pressure signal.
    pub hw: Avg,
    /// Share that the other classes took, up to 4.16.
    pub rt_share: RtShare,
    /// Capacity at the highest frequency.
    pub cap_orig: u64,
    /// Current over reference frequency, times 1024.
    pub freq_scale: u64,
}

impl Rq {
    /// Speed of this CPU, for contribution scaling.
    pub fn scale(&self) -> Scale {
        Scale { cap_orig: self.cap_orig, freq: self.freq_scale }
    }
}

/// Brings the clocks to `now`; `irq_ns` of the elapsed time went to interrupts or the hypervisor.
/// Returns true when the IRQ signal crossed a period boundary.
pub fn clock_update(rules: &Rules, rq: &mut Rq, now: u64, irq_ns: u64, is_idle: bool) -> bool {
    let elapsed = now.wrapping_sub(rq.clock.clock_ns) as i64;
    if elapsed < 0 {
        return false;
    }
    let elapsed = elapsed as u64;
    let irq_ns = irq_ns.min(elapsed);
    let task_elapsed = elapsed - irq_ns;
    rq.clock.clock_ns += elapsed;
    rq.clock.clock_task_ns += task_elapsed;
    if irq_ns > 0 {
        add_share(rules, rq, irq_ns);
    }
    let decayed = irq_ns > 0 && update_irq(rules, rq, irq_ns);
    clock_pelt_update(rules, rq, task_elapsed, is_idle);
    decayed
}

fn clock_pelt_update(rules: &Rules, rq: &mut Rq, task_elapsed: u64, is_idle: bool) {
    if rules.invariance == Invariance::Contribution {
        return;
    }
    if is_idle {
        rq.clock.clock_pelt_ns = rq.clock.clock_task_ns;
        rq.clock.clock_idle_ns = rq.clock.clock_ns;
        rq.clock.clock_pelt_idle_ns = clock_pelt(rules, rq);
    } else {
        let scaled = cap_scale(cap_scale(task_elapsed, rq.cap_orig), rq.freq_scale);
        rq.clock.clock_pelt_ns += scaled;
    }
}

/// The CPU switches to idle: decides whether the time behind was lost to saturation.
pub fn clock_enter_idle(rules: &Rules, rq: &mut Rq) {
    if rules.invariance == Invariance::Contribution {
        return;
    }
    let sum = rq.cfs.avg.util_sum + rq.rt.util_sum + rq.dl.util_sum;
    if sum >= SATURATED_SUM {
        rq.clock.lost_idle_ns += rq.clock.clock_task_ns.wrapping_sub(rq.clock.clock_pelt_ns);
    }
    if rules.idle_clock == IdleClock::AtOnce {
        clock_pelt_update(rules, rq, 0, true);
    }
}

/// The clock of the CPU's fair, RT and DL records.
pub fn clock_pelt(rules: &Rules, rq: &Rq) -> u64 {
    match rules.invariance {
        Invariance::Contribution => rq.clock.clock_task_ns,
        Invariance::Clock => rq.clock.clock_pelt_ns.wrapping_sub(rq.clock.lost_idle_ns),
    }
}

/// The clock of one fair queue: it stands still while the queue is throttled.
pub fn cfs_clock(rules: &Rules, rq: &Rq, cfs: &CfsRq) -> u64 {
    let running = if cfs.throttle_count > 0 { cfs.throttled_at_ns } else { clock_pelt(rules, rq) };
    running.wrapping_sub(cfs.throttled_clock_pelt_ns)
}

/// Clock from which the time of a throttled queue is taken.
fn throttle_time(rules: &Rules, rq: &Rq) -> u64 {
    match rules.throttle_clock {
        ThrottleClock::Task => rq.clock.clock_task_ns,
        ThrottleClock::Pelt => clock_pelt(rules, rq),
    }
}

/// The queue or one above it was throttled.
pub fn throttle(rules: &Rules, rq: &Rq, cfs: &mut CfsRq) {
    if cfs.throttle_count == 0 {
        cfs.throttled_at_ns = throttle_time(rules, rq);
    }
    cfs.throttle_count += 1;
}

/// The queue, or the last one above it that was throttled, may run again.
pub fn unthrottle(rules: &Rules, rq: &Rq, cfs: &mut CfsRq) {
    if cfs.throttle_count == 0 {
        return;
    }
    cfs.throttle_count -= 1;
    if cfs.throttle_count == 0 {
        // The clock goes back by what a CPU loses as it goes idle, until its next update.
        let stood = throttle_time(rules, rq).wrapping_sub(cfs.throttled_at_ns);
        cfs.throttled_clock_pelt_ns = cfs.throttled_clock_pelt_ns.wrapping_add(stood);
    }
}
