// SPDX-License-Identifier: GPL-2.0-or-later
//! From a CPU's signals to the performance it asks for (docs/rules/governor.md#the-request-of-one-cpu).

use crate::rules::{
    CfsIfQueued, DlRule, Headroom, Margins, PerfForm, RtInSum, RtRule, Rules, RunnableBoost, Uclamp, UclampIowait,
    UtilEst,
};
use crate::{SCALE, vectors};

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
    /// Runnable fair tasks at all levels.
    pub cfs_nr_running: u64,
}

/// Every term of one CPU's request; the fields of `types.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Fair utilization.
    pub cfs: u64,
    /// RT utilization in the sum.
    pub rt: u64,
    /// DL utilization or bandwidth in the sum.
    pub dl: u64,
    /// IRQ utilization.
    pub irq: u64,
    /// Sum after IRQ scaling, and after clamps where the kernel clamps first.
    pub effective: u64,
    /// I/O-wait boost.
    pub iowait: u64,
    /// Floor.
    pub min: u64,
    /// Cap.
    pub max: u64,
    /// The quarter, where it is added to utilization.
    pub headroom: u64,
    /// Performance target.
    pub perf: u64,
    /// A flag of the hook call asks for the maximum.
    pub forced_max: u64,
    /// Left out: silent for more than a tick.
    pub stale: u64,
    /// Request, exactly: `request` of `scale`.
    pub request: u64,
    /// Capacity, or the highest frequency when a boost in kHz won.
    pub scale: u64,
}

/// Clamps in force, if any.
fn clamps(rules: &Rules, state: &CpuState) -> Option<(u64, u64)> {
    (rules.uclamp != Uclamp::Off && state.uclamp_used != 0).then_some((state.uclamp_min, state.uclamp_max))
}

/// Upper clamp in force; the full scale without one.
pub fn clamp_max(rules: &Rules, state: &CpuState) -> u64 {
    clamps(rules, state).map_or(SCALE, |(_, max)| max)
}

/// The lower bound wins when the two cross: clamps of different tasks may do that.
pub(crate) fn clamped(rules: &Rules, state: &CpuState, value: u64) -> u64 {
    match clamps(rules, state) {
        Some((min, max)) => value.min(max).max(min),
        None => value,
    }
}

/// Fair utilization; `boost` is set for frequency selection.
pub fn cpu_util(rules: &Rules, state: &CpuState, boost: bool) -> u64 {
    let mut util = state.util_cfs;
    if boost {
        util = util.max(state.runnable_cfs);
    }
    if rules.util_est != UtilEst::Off {
        util = util.max(state.util_est);
    }
    util.min(state.cap_orig)
}

/// Does a runnable RT task ask for the maximum?
fn rt_wants_max(rules: &Rules, state: &CpuState) -> bool {
    let unless_clamped = clamps(rules, state).is_none();
    match rules.rt_rule {
        RtRule::RunnableMax => state.rt_nr_running > 0,
        RtRule::RunnableMaxUnlessUclamp => state.rt_nr_running > 0 && unless_clamped,
        RtRule::FlagMax | RtRule::None => false,
    }
}

/// Utilization in the time that interrupts leave, plus the interrupts themselves.
pub fn scale_irq(util: u64, irq: u64, cap: u64) -> u64 {
    util * (cap - irq) / cap + irq
}

/// Terms up to `effective`, in the form of the kernel.
pub fn effective(rules: &Rules, state: &CpuState) -> Terms {
    let boost = rules.runnable_boost == RunnableBoost::On;
    let rt = if rules.rt_in_sum == RtInSum::On { state.util_rt } else { 0 };
    let none_queued = rules.cfs_if_queued == CfsIfQueued::On && state.cfs_nr_running == 0;
    let cfs = if none_queued { 0 } else { cpu_util(rules, state, boost) };
    let mut terms = Terms { cfs, rt, irq: state.util_irq, max: state.cap_orig, ..Terms::default() };
    terms.effective = match rules.perf_form {
        PerfForm::Flags | PerfForm::Bw => plain(rules, state, &mut terms),
        PerfForm::RtSum | PerfForm::ClampThenSum => with_irq(rules, state, &mut terms),
        PerfForm::SumThenClamp => sum_then_clamp(rules, state, &mut terms),
    };
    terms
}

/// Part that the DL reservation adds, and the floor that it demands.
fn reservation(rules: &Rules, state: &CpuState) -> (u64, u64) {
    match rules.dl_rule {
        DlRule::FlagMax => (0, 0),
        DlRule::BwOnTop => (state.bw_dl, 0),
        DlRule::BwFloor => (0, state.bw_dl),
    }
}

/// 4.12 to 4.18.
fn plain(rules: &Rules, state: &CpuState, terms: &mut Terms) -> u64 {
    if rt_wants_max(rules, state) {
        return state.cap_orig;
    }
    (terms.dl, terms.min) = reservation(rules, state);
    (terms.cfs + terms.rt + terms.dl).max(terms.min).min(state.cap_orig)
}

/// 4.19 to 6.7: saturation by the DL signal, IRQ scaling, then the DL bandwidth.
fn with_irq(rules: &Rules, state: &CpuState, terms: &mut Terms) -> u64 {
    let (cap, irq) = (state.cap_orig, state.util_irq);
    if rt_wants_max(rules, state) || irq >= cap {
        return cap;
    }
    let sum = terms.cfs + terms.rt;
    let util = if rules.perf_form == PerfForm::ClampThenSum { clamped(rules, state, sum) } else { sum };
    if util + state.util_dl >= cap {
        return cap;
    }
    (terms.dl, terms.min) = reservation(rules, state);
    (scale_irq(util, irq, cap) + terms.dl).max(terms.min).min(cap)
}

/// 6.8 and later.
fn sum_then_clamp(rules: &Rules, state: &CpuState, terms: &mut Terms) -> u64 {
    let (cap, irq) = (state.cap_orig, state.util_irq);
    if irq >= cap {
        terms.min = cap;
        return cap;
    }
    let (on_top, floor) = reservation(rules, state);
    let clamp_min = clamps(rules, state).map_or(0, |(min, _)| min);
    terms.min = (irq + floor).max(clamp_min);
    if rt_wants_max(rules, state) {
        terms.min = terms.min.max(cap);
    }
    terms.max = cap.min(clamp_max(rules, state));
    terms.dl = state.util_dl + on_top;
    let sum = terms.cfs + terms.rt + terms.dl;
    if sum >= cap { cap } else { scale_irq(sum, irq, cap).min(cap) }
}

/// The target after headroom and bounds.
pub fn perf_target(rules: &Rules, util: u64, min: u64, max: u64) -> u64 {
    match rules.headroom {
        Headroom::Frequency => util,
        Headroom::Utilization => with_headroom(rules, util),
        Headroom::BeforeClamps => min.max(max.min(with_headroom(rules, util))),
    }
}

/// A tick of 250 Hz, as the postings count it.
const TICK_US: u64 = 4000;

/// A part more; or where 4 ms of running lead.
fn with_headroom(rules: &Rules, util: u64) -> u64 {
    match rules.margins {
        Margins::Fixed => util + util * rules.headroom_pct / 100,
        Margins::Scaled | Margins::Tick => vectors::ramp_from_util(util.min(SCALE), TICK_US),
    }
}

/// One CPU's request with every term; `iowait` is the boost in capacity units.
pub fn evaluate(rules: &Rules, state: &CpuState, iowait: u64) -> Terms {
    let mut terms = effective(rules, state);
    terms.iowait = match rules.uclamp_iowait {
        UclampIowait::On if iowait > 0 => clamped(rules, state, iowait),
        _ => iowait,
    };
    let util = terms.effective.max(terms.iowait);
    terms.perf = perf_target(rules, util, terms.min, terms.max);
    let above = with_headroom(rules, util).saturating_sub(util);
    terms.headroom = if rules.headroom == Headroom::Frequency { 0 } else { above };
    (terms.request, terms.scale) = (terms.perf, state.cap_orig);
    terms
}

/// Frequency that `perf` asks for, before it is clamped and resolved.
pub fn raw_freq_khz(rules: &Rules, ref_khz: u64, perf: u64, cap_orig: u64) -> u64 {
    let ref_khz = match rules.headroom {
        Headroom::Frequency => ref_khz + ref_khz * rules.headroom_pct / 100,
        _ => ref_khz,
    };
    ref_khz * perf / cap_orig
}

/// Capacity of an operating point, truncated.
pub fn opp_capacity(cap_orig: u64, khz: u64, max_khz: u64) -> u64 {
    cap_orig * khz / max_khz
}

/// One DL reservation, Q20 of a CPU; runtimes above 2^43 ns count as that.
pub fn dl_bw(runtime_ns: u64, period_ns: u64) -> u64 {
    let runtime_q20 = u128::from(runtime_ns.min(1 << 43)) << 20;
    runtime_q20.checked_div(period_ns.into()).unwrap_or(0) as u64
}

/// A Q20 sum of reservations in capacity units.
pub fn cpu_bw_dl(running_bw_q20: u64) -> u64 {
    (running_bw_q20 * SCALE) >> 20
}

/// Is utilization below 80 % of a capacity?
pub fn fits_capacity(util: u64, capacity: u64) -> bool {
    util * 1280 < capacity * 1024
}

/// True when `util` fits into `capacity`. Without a fixed margin: below where a task that runs from nothing is a tick
/// before the capacity, or in that part of the time that the capacity is of all.
pub fn fits(rules: &Rules, util: u64, capacity: u64) -> bool {
    let us = vectors::periods_to_util(capacity) * 1000;
    match rules.margins {
        Margins::Fixed => util * rules.capacity_margin < capacity * SCALE,
        Margins::Scaled => util < vectors::ramp_from_util(0, us * capacity / SCALE),
        Margins::Tick => util < vectors::ramp_from_util(0, us.saturating_sub(TICK_US)),
    }
}

/// Current over reference frequency; full when there is no reference.
pub fn freq_scale(khz: u64, ref_khz: u64) -> u64 {
    (khz * SCALE).checked_div(ref_khz).unwrap_or(SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clamps_and_headroom_follow_the_published_values() {
        let rules = Rules::profile("7.2").expect("profile exists");
        let target = |util, min, max| perf_target(&rules, util, min, max);
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
