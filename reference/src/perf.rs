// SPDX-License-Identifier: GPL-2.0-only
//! From a CPU's signals to the performance it asks for (SPEC A.17, B.4, B.5, B.6).

use crate::SCALE;
use crate::rules::{DlRule, Headroom, PerfForm, RtInSum, RtRule, Rules, RunnableBoost, UtilEst};
use crate::schedutil::hook_flag;

/// Inputs of one CPU for one evaluation; the fields of `types.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuState {
    /// Idle entries so far.
    pub idle_calls: u64,
    /// Capacity at the highest frequency.
    pub cap_orig: u64,
    /// Root utilization of the fair class.
    pub util_cfs: u64,
    /// Root runnable average.
    pub runnable_cfs: u64,
    /// Sum of the queued tasks' estimates.
    pub util_est: u64,
    /// RT utilization.
    pub util_rt: u64,
    /// DL utilization.
    pub util_dl: u64,
    /// IRQ utilization.
    pub util_irq: u64,
    /// Reserved DL bandwidth.
    pub bw_dl: u64,
    /// Runnable RT tasks.
    pub rt_nr_running: u64,
    /// Was any clamp ever set?
    pub uclamp_used: u64,
    /// Effective lower clamp of the queue.
    pub uclamp_min: u64,
    /// Effective upper clamp of the queue.
    pub uclamp_max: u64,
}

/// Utilization with its bounds (SPEC B.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// Sum of the classes after IRQ scaling, and after clamps where the kernel clamps first.
    pub util: u64,
    /// Floor.
    pub min: u64,
    /// Cap.
    pub max: u64,
}

/// Fair utilization (A.17); `boost` is set for frequency selection.
pub fn cpu_util(rules: &Rules, state: &CpuState, boost: bool) -> u64 {
    let mut util = state.util_cfs;
    if boost && rules.runnable_boost == RunnableBoost::On {
        util = util.max(state.runnable_cfs);
    }
    if rules.util_est != UtilEst::Off {
        util = util.max(state.util_est);
    }
    util.min(state.cap_orig)
}

/// Does a rule for RT or DL ask for the maximum whatever the sum (F.7)?
pub fn forced_max(rules: &Rules, state: &CpuState, flags: u64) -> bool {
    let rt = match rules.rt_rule {
        RtRule::FlagMax => flags & hook_flag::RT != 0,
        RtRule::RunnableMax => state.rt_nr_running > 0,
        RtRule::RunnableMaxUnlessUclamp => state.rt_nr_running > 0 && state.uclamp_used == 0,
        RtRule::None => false,
    };
    let dl = rules.dl_rule == DlRule::FlagMax && flags & hook_flag::DL != 0;
    rt || dl
}

fn rt_term(rules: &Rules, state: &CpuState) -> u64 {
    match rules.rt_in_sum {
        RtInSum::On => state.util_rt,
        RtInSum::Off => 0,
    }
}

/// Utilization in the time that interrupts leave, plus the interrupts themselves (B.4).
pub fn scale_irq(util: u64, irq: u64, cap: u64) -> u64 {
    util * (cap - irq) / cap + irq
}

/// Utilization and bounds of one CPU in the form of its kernel (B.4, B.5).
pub fn effective(rules: &Rules, state: &CpuState, forced: bool) -> Effective {
    let cap = state.cap_orig;
    let cfs = cpu_util(rules, state, true);
    let unclamped = |util| Effective { util, min: 0, max: cap };
    match rules.perf_form {
        PerfForm::Flags => unclamped(cfs.min(cap)),
        PerfForm::Bw => unclamped((cfs + state.bw_dl).min(cap)),
        PerfForm::RtSum => unclamped(sum_old(rules, state, cfs + rt_term(rules, state), forced)),
        PerfForm::ClampThenSum => {
            let sum = cfs + rt_term(rules, state);
            let clamped = if sum < state.uclamp_min { state.uclamp_min } else { sum.min(state.uclamp_max) };
            unclamped(sum_old(rules, state, clamped, forced))
        }
        PerfForm::SumThenClamp => sum_then_clamp(rules, state, cfs, forced),
    }
}

/// The tail that 4.19 to 6.7 share: saturation, IRQ scaling, DL bandwidth on top.
fn sum_old(rules: &Rules, state: &CpuState, util: u64, forced: bool) -> u64 {
    let (cap, irq) = (state.cap_orig, state.util_irq);
    if forced || irq >= cap || util + state.util_dl >= cap {
        return cap;
    }
    let bandwidth = if rules.dl_rule == DlRule::BwOnTop { state.bw_dl } else { 0 };
    (scale_irq(util, irq, cap) + bandwidth).min(cap)
}

fn sum_then_clamp(rules: &Rules, state: &CpuState, cfs: u64, forced: bool) -> Effective {
    let (cap, irq) = (state.cap_orig, state.util_irq);
    if irq >= cap {
        return Effective { util: cap, min: cap, max: cap };
    }
    let floor = (irq + state.bw_dl).max(state.uclamp_min);
    let min = if forced { floor.max(cap) } else { floor };
    let max = cap.min(state.uclamp_max);
    let sum = cfs + rt_term(rules, state) + state.util_dl;
    let util = if sum >= cap { cap } else { scale_irq(sum, irq, cap).min(cap) };
    Effective { util, min, max }
}

/// The performance target after headroom and bounds (B.4).
pub fn perf_target(rules: &Rules, effective: Effective) -> u64 {
    let Effective { util, min, max } = effective;
    match rules.headroom {
        Headroom::Frequency => util,
        Headroom::Utilization => util + util / 4,
        Headroom::BeforeClamps => min.max(max.min(util + util / 4)),
    }
}

/// Frequency that `perf` asks for, before it is clamped and resolved (B.6).
pub fn raw_freq_khz(rules: &Rules, ref_khz: u64, perf: u64, cap_orig: u64) -> u64 {
    let ref_khz = match rules.headroom {
        Headroom::Frequency => ref_khz + ref_khz / 4,
        _ => ref_khz,
    };
    ref_khz * perf / cap_orig
}

/// Capacity of an operating point, truncated.
pub fn opp_capacity(cap_orig: u64, khz: u64, max_khz: u64) -> u64 {
    cap_orig * khz / max_khz
}

/// Bandwidth of a Q20 sum of runtime over period, in capacity units (F.6).
pub fn bw_dl(running_bw_q20: u64) -> u64 {
    (running_bw_q20 * SCALE) >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clamps_and_headroom_follow_the_published_values() {
        let rules = Rules::profile("7.2").expect("profile exists");
        let target = |util, min, max| perf_target(&rules, Effective { util, min, max });
        assert_eq!(target(512, 0, 1024), 640);
        assert_eq!(target(900, 0, 1024), 1024);
        assert_eq!(target(300, 400, 1024), 400);
        assert_eq!(target(900, 0, 512), 512);
        assert_eq!(target(600, 700, 500), 700);
        assert_eq!(scale_irq(512, 100, 1024), 562);
        assert_eq!(scale_irq(900, 200, 1024), 924);
        assert_eq!(scale_irq(1000, 24, 1024), 1000);
    }
}
