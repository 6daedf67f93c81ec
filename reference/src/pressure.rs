// SPDX-License-Identifier: GPL-2.0-or-later
//! Signals of what is not the fair class: RT, DL, IRQ, lost capacity
//! (docs/rules/limits-and-pressure.md#pressure).

use crate::clock::{Rq, clock_pelt};
use crate::pelt::{Avg, Input, Scale, accumulate, publish};
use crate::rules::{CapacityLeft, DlSignal, HwSignal, Invariance, IrqSignal, RtSignal, Rules};
use crate::{SCALE, cap_scale};

/// Scale of records that do not depend on the CPU's speed.
const UNSCALED: Scale = Scale { cap_orig: SCALE, freq: SCALE };

fn age(rules: &Rules, avg: &mut Avg, now: u64, value: u64, scale: Scale) -> bool {
    let input = Input { load: value, runnable: value, running: value };
    let crossed = accumulate(rules, avg, now, input, scale) > 0;
    if crossed {
        publish(rules, avg, 1);
    }
    crossed
}

/// Ages the RT signal; `running` says whether RT ran since the last update.
pub fn update_rt(rules: &Rules, rq: &mut Rq, running: bool) -> bool {
    account_run(rules, rq, running);
    age_rt(rules, rq, running)
}

/// Ages the DL signal; `running` says whether DL ran since the last update.
pub fn update_dl(rules: &Rules, rq: &mut Rq, running: bool) -> bool {
    account_run(rules, rq, running);
    age_dl(rules, rq, running)
}

fn age_rt(rules: &Rules, rq: &mut Rq, running: bool) -> bool {
    let (now, scale) = (clock_pelt(rules, rq), rq.scale());
    rules.rt_signal == RtSignal::On && age(rules, &mut rq.rt, now, running.into(), scale)
}

fn age_dl(rules: &Rules, rq: &mut Rq, running: bool) -> bool {
    let (now, scale) = (clock_pelt(rules, rq), rq.scale());
    rules.dl_signal == DlSignal::On && age(rules, &mut rq.dl, now, running.into(), scale)
}

/// Ages the IRQ signal by `irq_ns` that ended just now. Under clock scaling it scales its time itself, because
/// the clock that slows down does not see interrupts.
pub fn update_irq(rules: &Rules, rq: &mut Rq, irq_ns: u64) -> bool {
    if rules.irq_signal == IrqSignal::Off {
        return false;
    }
    let (busy, scale) = match rules.invariance {
        Invariance::Clock => (cap_scale(cap_scale(irq_ns, rq.freq_scale), rq.cap_orig), UNSCALED),
        Invariance::Contribution => (irq_ns, rq.scale()),
    };
    let now = rq.clock.clock_ns;
    let before = accumulate(rules, &mut rq.irq, now - busy, Input::default(), scale);
    let running = Input { load: 1, runnable: 1, running: 1 };
    let during = accumulate(rules, &mut rq.irq, now, running, scale);
    if before + during == 0 {
        return false;
    }
    publish(rules, &mut rq.irq, 1);
    true
}

/// Ages the hardware-pressure signal; `lost` is the capacity the hardware withholds now.
pub fn update_hw(rules: &Rules, rq: &mut Rq, lost: u64) -> bool {
    let (now, lost) = (rq.clock.clock_task_ns, lost.min(SCALE));
    rules.hw_signal == HwSignal::On && age(rules, &mut rq.hw, now, lost, UNSCALED)
}

/// The refresh of all four signals in a blocked walk.
pub fn update_others(rules: &Rules, rq: &mut Rq, rt_running: bool, dl_running: bool, lost: u64) -> bool {
    let rt = age_rt(rules, rq, rt_running);
    let dl = age_dl(rules, rq, dl_running);
    let hw = update_hw(rules, rq, lost);
    let irq = update_irq(rules, rq, 0);
    rt || dl || hw || irq
}

/// Does anything but the fair class still have to decay?
pub fn others_have_blocked(rq: &Rq) -> bool {
    rq.rt.util_avg != 0 || rq.dl.util_avg != 0 || rq.irq.util_avg != 0 || rq.hw.load_avg != 0
}

/// Up to 4.16: what the other classes took, and up to when it was halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RtShare {
    /// Time times speed.
    pub sum: u64,
    /// Wall time of the last halving.
    pub age_stamp_ns: u64,
    /// Task clock up to which the present run was added.
    pub counted_to_ns: u64,
}

/// A second, of which a half is the half-life.
const AVERAGING_NS: u64 = 1_000_000_000;

/// Halves for every half second that is over.
pub fn age_share(rq: &mut Rq) {
    while (rq.clock.clock_ns.wrapping_sub(rq.rt_share.age_stamp_ns) as i64) > (AVERAGING_NS / 2) as i64 {
        rq.rt_share.age_stamp_ns += AVERAGING_NS / 2;
        rq.rt_share.sum /= 2;
    }
}

/// Time that fair tasks did not get.
pub fn add_share(rules: &Rules, rq: &mut Rq, ns: u64) {
    if rules.capacity_left == CapacityLeft::RtShare {
        rq.rt_share.sum += ns * rq.freq_scale;
        age_share(rq);
    }
}

fn account_run(rules: &Rules, rq: &mut Rq, running: bool) {
    let ran = rq.clock.clock_task_ns.wrapping_sub(rq.rt_share.counted_to_ns) as i64;
    rq.rt_share.counted_to_ns = rq.clock.clock_task_ns;
    if running && ran > 0 {
        add_share(rules, rq, ran as u64);
    }
}

/// Capacity left for the fair class (kernels without these signals have the share of the real-time class).
pub fn capacity_of(rules: &Rules, rq: &Rq, hw: u64, cpufreq_pressure: u64) -> u64 {
    let others = rq.rt.util_avg + rq.dl.util_avg;
    let (max, used) = match rules.capacity_left {
        CapacityLeft::RtShare => {
            let since = (rq.clock.clock_ns.wrapping_sub(rq.rt_share.age_stamp_ns) as i64).max(0) as u64;
            let used = rq.rt_share.sum / (AVERAGING_NS / 2 + since);
            return cap_scale(SCALE.saturating_sub(used).max(1), rq.cap_orig).max(1);
        }
        CapacityLeft::Used => (rq.cap_orig, others + hw),
        CapacityLeft::Actual => (rq.cap_orig.saturating_sub(hw.max(cpufreq_pressure)), others),
    };
    let irq = rq.irq.util_avg;
    if irq >= max || used >= max {
        return 1;
    }
    ((max - used) * (max - irq) / max).max(1)
}
