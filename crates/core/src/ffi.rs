// SPDX-License-Identifier: GPL-2.0-or-later
//! The C core as Rust sees it: `shim.c`, one declaration per function. All records are passed by reference, all
//! functions are total, so every declaration is safe.

use std::ffi::c_char;

use crate::balance::{Lb, LbDomain, LbEnv, LbTask};
use crate::boost::BoostCpu;
use crate::cfs_bandwidth::{CfsBandwidth, CfsRuntime};
use crate::fair::{FairRq, FairSe, FairTunables};
use crate::governors::{Dbs, DbsCpu, DbsTimes, SchedDvfs, Vote};
use crate::group_throttle::ThrottledGroup;
use crate::idle_records::{IdleChoice, IdleLast, IdleNow, IdleTable, Menu, Teo};
use crate::interactive::{Interactive, InteractiveCpu};
use crate::placement_records::{DstWalk, GroupSums, PlaceEnergy, PlaceWaker, Placed, Placement, SdLevel};
use crate::policy::Policy;
use crate::prefer_idle::{IdleCandidate, PreferIdle};
use crate::raw_rows::{RawBound, RawLayout, RawParameter, RawStableRule, RawStableSeries, RawSwitch};
use crate::records::{
    Avg, CfsRq, CpuState, Decision, DlEntity, EmState, PerfTerms, Rq, RtLimit, Se, SugovCpu, SugovPolicy, TaskGroup,
    Wake,
};
use crate::select_class::{ClassCpu, ClassCurr, ClassSearch, ClassTask};
use crate::thermal::{Cooling, Zone};
use crate::uclamp::{UclampLimits, UclampRq, UclampTask};
use crate::uclamp_sum::{UclampSumRq, UclampSumTask};

/// Rules, the record's own clock, and the speed of the CPU: what an update needs beside the record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// Rules.
    pub pol: &'a Policy,
    /// Clock of the record, ns.
    pub now: u64,
    /// Capacity of the CPU, 0..1024.
    pub cap_orig: u32,
    /// Current over reference frequency, 0..1024.
    pub freq_scale: u32,
}

unsafe extern "C" {
    pub(crate) safe fn pelton_x_layout(index: u32) -> *const RawLayout;
    pub(crate) safe fn pelton_x_policy_newest() -> &'static Policy;
    pub(crate) safe fn pelton_x_policy_for_profile(profile: u32, out: &mut Policy) -> u32;
    pub(crate) safe fn pelton_x_policy_for_stable(profile: u32, number: u32, out: &mut Policy) -> u32;
    pub(crate) safe fn pelton_x_stable_series(index: u32) -> *const RawStableSeries;
    pub(crate) safe fn pelton_x_stable_rule(index: u32) -> *const RawStableRule;
    pub(crate) safe fn pelton_x_policy_check(pol: &Policy, a: &mut u32, b: &mut u32) -> u32;
    pub(crate) safe fn pelton_x_switch_count() -> u32;
    pub(crate) safe fn pelton_x_switch_info(index: u32) -> *const RawSwitch;
    pub(crate) safe fn pelton_x_parameter_info(index: u32) -> *const RawParameter;
    pub(crate) safe fn pelton_x_profile_name(index: u32) -> *const c_char;
    pub(crate) safe fn pelton_x_conflict_reason(code: u32) -> *const c_char;
    pub(crate) safe fn pelton_x_condition_reason(row: u32) -> *const c_char;
    pub(crate) safe fn pelton_x_policy_without_effect(pol: &Policy, index: u32) -> u32;
    pub(crate) safe fn pelton_x_policy_reads_rate_limit(pol: &Policy) -> u32;
    pub(crate) safe fn pelton_x_bound(index: u32) -> *const RawBound;
    pub(crate) safe fn pelton_x_decay_load(v: u64, n: u64) -> u64;
    pub(crate) safe fn pelton_x_update_load_sum(
        c: &Ctx<'_>,
        a: &mut Avg,
        load: u64,
        runnable: u64,
        running: u64,
    ) -> u64;
    pub(crate) safe fn pelton_x_publish(p: &Policy, a: &mut Avg, weight: u64);
    pub(crate) safe fn pelton_x_update_avg(c: &Ctx<'_>, a: &mut Avg, value: u32) -> u32;
    pub(crate) safe fn pelton_x_update_load_avg_se(c: &Ctx<'_>, se: &mut Se) -> u64;
    pub(crate) safe fn pelton_x_update_load_avg_blocked_se(c: &Ctx<'_>, se: &mut Se) -> u64;
    pub(crate) safe fn pelton_x_update_cfs_rq_load_avg(c: &Ctx<'_>, cfs: &mut CfsRq) -> u32;
    pub(crate) safe fn pelton_x_attach_entity_load_avg(p: &Policy, cfs: &mut CfsRq, se: &mut Se);
    pub(crate) safe fn pelton_x_detach_entity_load_avg(p: &Policy, cfs: &mut CfsRq, se: &Se);
    pub(crate) safe fn pelton_x_sync_blocked(c: &Ctx<'_>, cfs: &CfsRq, se: &mut Se);
    pub(crate) safe fn pelton_x_ramp(util: u32, units: u32) -> u32;
    pub(crate) safe fn pelton_x_time_to(util: u32) -> u32;
    pub(crate) safe fn pelton_x_propagate_entity_load_avg(
        c: &Ctx<'_>,
        q: &mut CfsRq,
        se: &mut Se,
        g: &mut CfsRq,
    ) -> u32;
    pub(crate) safe fn pelton_x_update_load_avg(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        flags: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_calc_group_shares(p: &Policy, g: &CfsRq, tg: &TaskGroup, present: u64) -> u64;
    pub(crate) safe fn pelton_x_update_tg_load_avg(p: &Policy, tg: &mut TaskGroup, g: &mut CfsRq, now: u64) -> u32;
    pub(crate) safe fn pelton_x_update_cfs_group(
        p: &Policy,
        q: &mut CfsRq,
        se: &mut Se,
        g: &CfsRq,
        tg: &TaskGroup,
    ) -> u32;
    pub(crate) safe fn pelton_x_walk_group(
        cg: &Ctx<'_>,
        cq: &Ctx<'_>,
        q: &mut CfsRq,
        se: &mut Se,
        g: &mut CfsRq,
        tg: &mut TaskGroup,
        wall: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_cfs_rq_is_decayed(p: &Policy, g: &CfsRq) -> u32;
    pub(crate) safe fn pelton_x_se_init(se: &mut Se, weight: u64);
    pub(crate) safe fn pelton_x_post_init_entity_util_avg(p: &Policy, cfs: &CfsRq, se: &mut Se, cap: u32);
    pub(crate) safe fn pelton_x_migrate_sleeping(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        idle: u32,
        wall: u64,
    );
    pub(crate) safe fn pelton_x_remove_sleeping(c: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se);
    pub(crate) safe fn pelton_x_switched_from_fair(c: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se) -> u32;
    pub(crate) safe fn pelton_x_switched_to_fair(c: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se) -> u32;
    pub(crate) safe fn pelton_x_group_online(c: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se);
    pub(crate) safe fn pelton_x_init_other_class(c: &Ctx<'_>, se: &mut Se);
    pub(crate) safe fn pelton_x_enqueue_entity(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
    ) -> u32;
    pub(crate) safe fn pelton_x_update_ancestor(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
    ) -> u32;
    pub(crate) safe fn pelton_x_dequeue_entity(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
        flags: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_set_next_entity(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32;
    pub(crate) safe fn pelton_x_put_prev_entity(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32;
    pub(crate) safe fn pelton_x_tick_entity(
        c: &Ctx<'_>,
        cfs: &mut CfsRq,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32;
    pub(crate) safe fn pelton_x_delay_entity(c: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se) -> u32;
    pub(crate) safe fn pelton_x_requeue_entity(c: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se) -> u32;
    pub(crate) safe fn pelton_x_count_runnable(cfs: &mut CfsRq, delta: i32);
    pub(crate) safe fn pelton_x_delay_ends(se: &Se, flags: u32) -> u32;
    pub(crate) safe fn pelton_x_leave_delta(se: &Se, flags: u32) -> i32;
    pub(crate) safe fn pelton_x_se_util_est(p: &Policy, se: &Se) -> u32;
    pub(crate) safe fn pelton_x_task_util_est(p: &Policy, se: &Se) -> u32;
    pub(crate) safe fn pelton_x_util_est_enqueue(p: &Policy, root: &mut CfsRq, se: &Se);
    pub(crate) safe fn pelton_x_util_est_dequeue(p: &Policy, root: &mut CfsRq, se: &Se);
    pub(crate) safe fn pelton_x_util_est_update(p: &Policy, se: &mut Se, cap: u32, sleeps: u32);
    pub(crate) safe fn pelton_x_util_est_update_u2_low(se: &mut Se, cap: u32);
    pub(crate) safe fn pelton_x_rq_init(p: &Policy, rq: &mut Rq, now: u64, cap: u32, freq: u32);
    pub(crate) safe fn pelton_x_clock_pelt(p: &Policy, rq: &Rq) -> u64;
    pub(crate) safe fn pelton_x_cfs_rq_clock_pelt(p: &Policy, rq: &Rq, cfs: &CfsRq) -> u64;
    pub(crate) safe fn pelton_x_throttle_clock(p: &Policy, rq: &Rq, cfs: &mut CfsRq);
    pub(crate) safe fn pelton_x_unthrottle_clock(p: &Policy, rq: &Rq, cfs: &mut CfsRq);
    pub(crate) safe fn pelton_x_clock_update(p: &Policy, rq: &mut Rq, now: u64, irq: u64, idle: u32) -> u32;
    pub(crate) safe fn pelton_x_update_idle_rq_clock_pelt(p: &Policy, rq: &mut Rq);
    pub(crate) safe fn pelton_x_update_rt(p: &Policy, rq: &mut Rq, running: u32) -> u32;
    pub(crate) safe fn pelton_x_update_dl(p: &Policy, rq: &mut Rq, running: u32) -> u32;
    pub(crate) safe fn pelton_x_update_irq(p: &Policy, rq: &mut Rq, irq: u64) -> u32;
    pub(crate) safe fn pelton_x_update_hw(p: &Policy, rq: &mut Rq, lost: u32) -> u32;
    pub(crate) safe fn pelton_x_others_have_blocked(rq: &Rq) -> u32;
    pub(crate) safe fn pelton_x_lost_capacity(cap_orig: u32, limit_khz: u32, ref_khz: u32) -> u32;
    pub(crate) safe fn pelton_x_pressure_now(p: &Policy, policy: u32, cooling: u32) -> u32;
    pub(crate) safe fn pelton_x_pressure_averaged(p: &Policy, cooling: u32) -> u32;
    pub(crate) safe fn pelton_x_capacity_of(p: &Policy, rq: &Rq, hw: u32, pressure: u32) -> u32;
    pub(crate) safe fn pelton_x_rt_share_age(rq: &mut Rq);
    pub(crate) safe fn pelton_x_rq_migrate_sleeping(p: &Policy, rq: &mut Rq, se: &mut Se, idle: u32, wall: u64);
    pub(crate) safe fn pelton_x_rq_enqueue_begin(p: &Policy, rq: &mut Rq, se: &Se, now: u64, irq: u64, idle: u32);
    pub(crate) safe fn pelton_x_rq_enqueue_finish(p: &Policy, rq: &mut Rq, se: &mut Se) -> u32;
    pub(crate) safe fn pelton_x_rq_enqueue_finish_on(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_enqueue_delayed_on(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_dequeue_task_on(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        now: u64,
        irq: u64,
        idle: u32,
        flags: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_estimate_last(p: &Policy, rq: &mut Rq, se: &mut Se, sleeps: u32);
    pub(crate) safe fn pelton_x_rq_delay_task_on(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        now: u64,
        irq: u64,
        idle: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_enqueue_entity(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_update_ancestor(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_dequeue_entity(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
        flags: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_set_next_entity(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_put_prev_entity(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_tick_entity(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_update_load_avg(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        flags: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_switched_from_fair(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_switched_to_fair(
        p: &Policy,
        rq: &mut Rq,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_update_blocked_others(
        p: &Policy,
        rq: &mut Rq,
        now: u64,
        irq: u64,
        runs: u32,
        lost: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_enqueue_task(
        p: &Policy,
        rq: &mut Rq,
        se: &mut Se,
        now: u64,
        irq: u64,
        idle: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_dequeue_task(
        p: &Policy,
        rq: &mut Rq,
        se: &mut Se,
        now: u64,
        irq: u64,
        idle: u32,
        flags: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_delay_task(
        p: &Policy,
        rq: &mut Rq,
        se: &mut Se,
        now: u64,
        irq: u64,
        idle: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_switch_fair(
        p: &Policy,
        rq: &mut Rq,
        prev: Option<&mut Se>,
        next: Option<&mut Se>,
        now: u64,
        irq: u64,
        idle: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_switch_idle(
        p: &Policy,
        rq: &mut Rq,
        prev: Option<&mut Se>,
        now: u64,
        irq: u64,
        idle: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_tick_fair(p: &Policy, rq: &mut Rq, curr: &mut Se, now: u64, irq: u64) -> u32;
    pub(crate) safe fn pelton_x_rq_update_rt(p: &Policy, rq: &mut Rq, now: u64, irq: u64, idle: u32, run: u32) -> u32;
    pub(crate) safe fn pelton_x_rq_update_dl(p: &Policy, rq: &mut Rq, now: u64, irq: u64, idle: u32, run: u32) -> u32;
    pub(crate) safe fn pelton_x_rq_update_blocked(
        p: &Policy,
        rq: &mut Rq,
        now: u64,
        irq: u64,
        runs: u32,
        lost: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_rq_has_blocked(rq: &Rq) -> u32;
    pub(crate) safe fn pelton_x_cpu_state_fill(rq: &Rq, bw: u32, rt_nr: u32, idle_calls: u64, out: &mut CpuState);
    pub(crate) safe fn pelton_x_cpu_util(p: &Policy, s: &CpuState, boost: u32) -> u32;
    pub(crate) safe fn pelton_x_is_utilized(p: &Policy, s: &CpuState) -> u32;
    pub(crate) safe fn pelton_x_effective_cpu_util(p: &Policy, s: &CpuState, t: &mut PerfTerms) -> u32;
    pub(crate) safe fn pelton_x_perf_eval(p: &Policy, s: &CpuState, iowait: u32, t: &mut PerfTerms) -> u32;
    pub(crate) safe fn pelton_x_apply_headroom(p: &Policy, util: u32, min: u32, max: u32) -> u32;
    pub(crate) safe fn pelton_x_fair_why(p: &Policy, s: &CpuState) -> u32;
    pub(crate) safe fn pelton_x_sum_why(p: &Policy, s: &CpuState, t: &PerfTerms) -> u32;
    pub(crate) safe fn pelton_x_asks_why(p: &Policy, s: &CpuState, t: &PerfTerms) -> u32;
    pub(crate) safe fn pelton_x_fair_rt_within(p: &Policy, s: &CpuState, t: &PerfTerms) -> u32;
    pub(crate) safe fn pelton_x_perf_clamped(util: u32, min: u32, max: u32) -> u32;
    pub(crate) safe fn pelton_x_dl_bw(runtime_ns: u64, period_ns: u64) -> u64;
    pub(crate) safe fn pelton_x_cpu_bw_dl(running_bw: u64) -> u32;
    pub(crate) safe fn pelton_x_fits_capacity(util: u32, capacity: u32) -> u32;
    pub(crate) safe fn pelton_x_fits(p: &Policy, util: u32, capacity: u32, cap_orig: u32) -> u32;
    pub(crate) safe fn pelton_x_freq_scale(khz: u32, ref_khz: u32) -> u32;
    pub(crate) safe fn pelton_x_scale_irq(util: u32, irq: u32, cap: u32) -> u32;
    pub(crate) safe fn pelton_x_default_rate_limit_us(p: &Policy, latency: u64, delay: u32) -> u32;
    pub(crate) safe fn pelton_x_hook_tick_is_long(tick: u64) -> u32;
    pub(crate) safe fn pelton_x_tick_skew_ns(p: &Policy, tick: u64, cpu: u32, cpus: u32) -> u64;
    pub(crate) safe fn pelton_x_hook_event(
        p: &Policy,
        sp: &SugovPolicy,
        sc: &mut SugovCpu,
        rq: &Rq,
        now: u64,
        kind: u32,
        how: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_hook_switch(p: &Policy, sc: &mut SugovCpu, prev: u32, next: u32, how: u32) -> u32;
    pub(crate) safe fn pelton_x_sugov_init(p: &Policy, sp: &mut SugovPolicy, rate: u32);
    pub(crate) safe fn pelton_x_gate_cost_ns(fast: u32, driver: u64, context_switch: u64) -> u32;
    pub(crate) safe fn pelton_x_gate_init(p: &Policy, sp: &mut SugovPolicy, cost: u32);
    pub(crate) safe fn pelton_x_gate_least_spacing(p: &Policy, sp: &SugovPolicy) -> u64;
    pub(crate) safe fn pelton_x_gate_next_allowed_ns(p: &Policy, sp: &SugovPolicy) -> u64;
    pub(crate) safe fn pelton_x_sugov_limits(sp: &mut SugovPolicy, min: u32, max: u32);
    pub(crate) safe fn pelton_x_sugov_keep_util(p: &Policy, sc: &mut SugovCpu, s: &CpuState);
    pub(crate) safe fn pelton_x_sugov_knows_last_call(p: &Policy, sp: &SugovPolicy) -> u32;
    pub(crate) safe fn pelton_x_sugov_known(
        p: &Policy,
        sp: &SugovPolicy,
        sc: &SugovCpu,
        s: &CpuState,
        known: &mut CpuState,
    );
    pub(crate) safe fn pelton_x_sugov_forced_by_flags(p: &Policy, sc: &SugovCpu) -> u32;
    pub(crate) safe fn pelton_x_sugov_keeps(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_sugov_begin(
        p: &Policy,
        sp: &mut SugovPolicy,
        sc: &mut SugovCpu,
        bw: u32,
        now: u64,
        tick: u64,
        flags: u32,
        local: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_sugov_cpu(
        p: &Policy,
        sp: &SugovPolicy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        tick: u64,
        t: &mut PerfTerms,
    ) -> u32;
    pub(crate) safe fn pelton_x_iowait_is_khz(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_sugov_raw_freq(p: &Policy, sp: &SugovPolicy, perf: u32, cap: u32, forced: u32) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_sugov_resolve(sp: &SugovPolicy, khz: *const u32, n: u32, raw: u32) -> u32;
    pub(crate) safe fn pelton_x_sugov_commit(
        p: &Policy,
        sp: &mut SugovPolicy,
        sc: Option<&mut SugovCpu>,
        s: &CpuState,
        now: u64,
        raw: u32,
        resolved: u32,
        forced: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_sugov_commit_perf(
        p: &Policy,
        sp: &mut SugovPolicy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        previous: u32,
        target: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_sugov_work_start(p: &Policy, sp: &mut SugovPolicy) -> u32;
    pub(crate) safe fn pelton_x_sugov_work_done(p: &Policy, sp: &mut SugovPolicy);
    /// `t` has `n` entries (at least one), `khz` has `opps`; `caller` is below `n`.
    pub(crate) unsafe fn pelton_x_sugov_need(
        p: &Policy,
        sp: &SugovPolicy,
        t: *const PerfTerms,
        n: u32,
        caller: u32,
        first: u32,
        khz: *const u32,
        opps: u32,
        out: &mut Decision,
    );
    /// `t` has `n` entries (at least one).
    pub(crate) unsafe fn pelton_x_sugov_first_largest(t: *const PerfTerms, n: u32) -> u32;
    /// `t` has more than `i` entries, and more than `first` unless that is no entry.
    pub(crate) unsafe fn pelton_x_sugov_ask_again(
        p: &Policy,
        sp: &SugovPolicy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        tick: u64,
        t: *mut PerfTerms,
        i: u32,
        first: u32,
    ) -> u32;
    /// `t` has `sp.nr_cpus` entries (at least one), `khz` has `opps`; `caller` is below `sp.nr_cpus`.
    pub(crate) unsafe fn pelton_x_sugov_decide(
        p: &Policy,
        sp: &mut SugovPolicy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        t: *const PerfTerms,
        caller: u32,
        first: u32,
        khz: *const u32,
        opps: u32,
        out: &mut Decision,
    );
    /// `sc`, `s` and `t` have `sp.nr_cpus` entries (at least one).
    pub(crate) unsafe fn pelton_x_sugov_ask(
        p: &Policy,
        sp: &SugovPolicy,
        sc: *mut SugovCpu,
        s: *const CpuState,
        caller: u32,
        now: u64,
        tick: u64,
        t: *mut PerfTerms,
    );
    /// `sc`, `s` and `t` have `sp.nr_cpus` entries (at least one), `caller` is one of them, `khz` has `n`.
    pub(crate) unsafe fn pelton_x_sugov_evaluate(
        p: &Policy,
        sp: &mut SugovPolicy,
        sc: *mut SugovCpu,
        s: *const CpuState,
        caller: u32,
        now: u64,
        tick: u64,
        khz: *const u32,
        n: u32,
        t: *mut PerfTerms,
        out: &mut Decision,
    );
    pub(crate) safe fn pelton_x_em_passes_over(policy: &Policy) -> u32;
    pub(crate) safe fn pelton_x_em_power_uw(coefficient: u64, uv: u32, khz: u32) -> u64;
    /// `states` has `n` entries.
    pub(crate) unsafe fn pelton_x_em_create(policy: &Policy, states: *mut EmState, n: u32, cap: u32);
    pub(crate) unsafe fn pelton_x_em_fill(states: *mut EmState, n: u32, cap: u32);
    /// `states` has `n` entries.
    pub(crate) unsafe fn pelton_x_em_cpu_energy(
        states: *const EmState,
        n: u32,
        lowest: u32,
        highest: u32,
        max_util: u64,
        sum_util: u64,
        allowed: u64,
    ) -> u64;
    pub(crate) safe fn pelton_x_rt_over(own: &RtLimit) -> u32;
    pub(crate) safe fn pelton_x_rt_borrow(own: &mut RtLimit, other: &mut RtLimit, cpus: u32);
    pub(crate) safe fn pelton_x_rt_exceeded(own: &mut RtLimit) -> u32;
    pub(crate) safe fn pelton_x_rt_replenish(own: &mut RtLimit, overrun: u64) -> u32;
    pub(crate) safe fn pelton_x_rt_equal(p: &Policy, own: &mut RtLimit);
    pub(crate) safe fn pelton_x_set_cfs_bandwidth(
        p: &Policy,
        b: &mut CfsBandwidth,
        quota_ns: u64,
        period_ns: u64,
        burst_ns: u64,
        now: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_set_cfs_runtime(p: &Policy, q: &mut CfsRuntime);
    pub(crate) safe fn pelton_x_account_cfs_rq_runtime(
        p: &Policy,
        b: &mut CfsBandwidth,
        q: &mut CfsRuntime,
        delta: u64,
        now: u64,
        tick_ns: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_enqueue_cfs_rq_runtime(
        p: &Policy,
        b: &mut CfsBandwidth,
        q: &mut CfsRuntime,
        now: u64,
        tick_ns: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_throttle_cfs_rq(
        p: &Policy,
        b: &mut CfsBandwidth,
        q: &mut CfsRuntime,
        queued: u32,
        now: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_note_throttled(q: &mut CfsRuntime, now: u64);
    pub(crate) safe fn pelton_x_unthrottle_cfs_rq(b: &mut CfsBandwidth, q: &mut CfsRuntime, now: u64);
    pub(crate) safe fn pelton_x_distribute_cfs_runtime(b: &mut CfsBandwidth, q: &mut CfsRuntime) -> u32;
    pub(crate) safe fn pelton_x_return_cfs_rq_runtime(
        p: &Policy,
        b: &mut CfsBandwidth,
        q: &mut CfsRuntime,
        now: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_cfs_slack_timer(p: &Policy, b: &mut CfsBandwidth, now: u64) -> u32;
    pub(crate) safe fn pelton_x_cfs_period_timer(p: &Policy, b: &mut CfsBandwidth, now: u64) -> u32;
    pub(crate) safe fn pelton_x_setparam_dl(d: &mut DlEntity, runtime_ns: u64, deadline_ns: u64, period_ns: u64);
    pub(crate) safe fn pelton_x_dl_entity_overflow(d: &DlEntity, now_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_dl_new_period(d: &mut DlEntity, now_ns: u64);
    pub(crate) safe fn pelton_x_enqueue_dl(p: &Policy, d: &mut DlEntity, now_ns: u64, wakeup: u32) -> u32;
    pub(crate) safe fn pelton_x_replenish_dl_entity(d: &mut DlEntity, now_ns: u64);
    pub(crate) safe fn pelton_x_update_curr_dl(p: &Policy, d: &mut DlEntity, delta_ns: u64, freq: u32, cap: u32)
    -> u32;
    pub(crate) safe fn pelton_x_dl_next_period(d: &DlEntity) -> u64;
    pub(crate) safe fn pelton_x_dl_hrtick(d: &DlEntity) -> u64;
    pub(crate) safe fn pelton_x_class_begin(s: &mut ClassSearch);
    pub(crate) safe fn pelton_x_find_lowest(p: &Policy, t: &ClassTask, c: &ClassCpu, s: &mut ClassSearch);
    pub(crate) safe fn pelton_x_find_later(p: &Policy, t: &ClassTask, c: &ClassCpu, s: &mut ClassSearch);
    pub(crate) safe fn pelton_x_lowest_rq(t: &ClassTask, s: &ClassSearch) -> u32;
    pub(crate) safe fn pelton_x_later_rq(p: &Policy, t: &ClassTask, s: &mut ClassSearch) -> u32;
    pub(crate) safe fn pelton_x_class_spreads(p: &Policy, t: &ClassTask, found: u32, deadline: u32) -> u32;
    pub(crate) safe fn pelton_x_rt_looks(p: &Policy, t: &ClassTask, curr: &ClassCurr, cap: u32) -> u32;
    pub(crate) safe fn pelton_x_select_rt(p: &Policy, t: &ClassTask, curr: &ClassCurr, s: &ClassSearch) -> u32;
    pub(crate) safe fn pelton_x_rt_overloaded(p: &Policy, nr: u32, waiting: u32) -> u32;
    pub(crate) safe fn pelton_x_affinity_rank(p: &Policy, cpu: u32, prev: u32) -> u32;
    pub(crate) safe fn pelton_x_need_pull_rt(prev: u32, prio: u32) -> u32;
    pub(crate) safe fn pelton_x_dl_looks(p: &Policy, t: &ClassTask, curr: &ClassCurr, cap: u32) -> u32;
    pub(crate) safe fn pelton_x_dl_timer_starts(at_ns: u64, now_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_dl_zero_lag(d: &DlEntity) -> u64;
    pub(crate) safe fn pelton_x_dl_overflow(
        p: &Policy,
        limit: u64,
        total: u64,
        old: u64,
        add: u64,
        cpus: u32,
        capacity: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_select_task_rq_fair(p: &Policy, s: &Placement, out: &mut Placed) -> u32;
    pub(crate) safe fn pelton_x_eenv_cpu_max_util(p: &Policy, s: &Placement, out: &Placed, cpu: u32, dst: u32) -> u32;
    pub(crate) safe fn pelton_x_eenv_cpu_busy_time(p: &Policy, s: &Placement, out: &Placed, cpu: u32, dst: u32) -> u32;
    pub(crate) safe fn pelton_x_eenv_task_busy_time(p: &Policy, s: &Placement, out: &Placed) -> u64;
    pub(crate) safe fn pelton_x_priced_cost(p: &Policy, s: &Placement, e: &PlaceEnergy) -> u64;
    pub(crate) safe fn pelton_x_priced_allowed(p: &Policy, s: &Placement, e: &PlaceEnergy) -> u32;
    pub(crate) safe fn pelton_x_priced_khz(p: &Policy, s: &Placement, e: &PlaceEnergy) -> u32;
    pub(crate) safe fn pelton_x_priced_divisor(p: &Policy, s: &Placement, e: &PlaceEnergy) -> u32;
    pub(crate) safe fn pelton_x_util_fits_cpu(
        p: &Policy,
        s: &Placement,
        util: u32,
        min: u32,
        max: u32,
        cpu: u32,
    ) -> i32;
    pub(crate) safe fn pelton_x_uclamp_is_used(p: &Policy, asked: u32) -> u32;
    pub(crate) safe fn pelton_x_uclamp_inherits(p: &Policy, written: u32) -> u32;
    pub(crate) safe fn pelton_x_uclamp_init_rq(p: &Policy, rq: &mut UclampRq);
    pub(crate) safe fn pelton_x_uclamp_rq_inc(p: &Policy, rq: &mut UclampRq, t: &mut UclampTask, l: &UclampLimits);
    pub(crate) safe fn pelton_x_uclamp_rq_dec(rq: &mut UclampRq, t: &mut UclampTask);
    pub(crate) safe fn pelton_x_uclamp_update_active(
        p: &Policy,
        rq: &mut UclampRq,
        t: &mut UclampTask,
        l: &UclampLimits,
        changed: u32,
    );
    pub(crate) safe fn pelton_x_uclamp_eff_value(p: &Policy, t: &UclampTask, l: &UclampLimits, id: u32) -> u32;
    pub(crate) safe fn pelton_x_uclamp_sum_age_task(t: &mut UclampSumTask, avg: &Avg, now: u64);
    pub(crate) safe fn pelton_x_uclamp_sum_follow(rq: &mut UclampSumRq, root: &CfsRq);
    pub(crate) safe fn pelton_x_uclamp_sum_update(p: &Policy, rq: &mut UclampSumRq, t: &mut UclampSumTask, util: u32);
    pub(crate) safe fn pelton_x_uclamp_sum_enqueue(p: &Policy, rq: &mut UclampSumRq, t: &mut UclampSumTask, util: u32);
    pub(crate) safe fn pelton_x_uclamp_sum_dequeue(
        p: &Policy,
        rq: &mut UclampSumRq,
        t: &mut UclampSumTask,
        migrates: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_uclamp_take_bias(p: &Policy, avg: &mut Avg, cut: u32);
    pub(crate) safe fn pelton_x_uclamp_sum_leave(rq: &mut UclampSumRq, t: &mut UclampSumTask);
    pub(crate) safe fn pelton_x_uclamp_sum_calls(p: &Policy, t: &UclampSumTask) -> u32;
    pub(crate) safe fn pelton_x_uclamp_group(above: &[u32; 2], asked: &[u32; 2], out: &mut [u32; 2]);
    pub(crate) safe fn pelton_x_uclamp_of_percent(hundredths: u32) -> u32;
    pub(crate) safe fn pelton_x_uclamp_sum_est_enqueue(rq: &mut UclampSumRq, t: &mut UclampSumTask, est: u32);
    pub(crate) safe fn pelton_x_uclamp_sum_est_dequeue(rq: &mut UclampSumRq, t: &mut UclampSumTask);
    pub(crate) safe fn pelton_x_uclamp_sum_util(p: &Policy, rq: &UclampSumRq, util: u32) -> u32;
    pub(crate) safe fn pelton_x_uclamp_sum_state(p: &Policy, rq: &UclampSumRq, rt_min: u32, s: &mut CpuState);
    pub(crate) unsafe fn pelton_x_group_throttled_util(
        root: u32,
        util_est: u32,
        groups: *const ThrottledGroup,
        n: u32,
        capacity: u32,
    ) -> u32;
    pub(crate) unsafe fn pelton_x_group_limited(root: u32, groups: *const ThrottledGroup, n: u32, capacity: u32)
    -> u32;
    pub(crate) unsafe fn pelton_x_group_rest(
        root: u32,
        groups: *const ThrottledGroup,
        n: u32,
        own: u32,
        capacity: u32,
    ) -> i32;
    pub(crate) safe fn pelton_x_group_est(est: u32, max: u32, throttle: u32, capacity: u32) -> u32;
    pub(crate) unsafe fn pelton_x_group_throttle_state(
        groups: *const ThrottledGroup,
        n: u32,
        est: u32,
        s: &mut CpuState,
    );
    pub(crate) safe fn pelton_x_task_fits(p: &Policy, s: &Placement, out: &Placed, cpu: u32) -> i32;
    pub(crate) safe fn pelton_x_place_util_clamped(
        p: &Policy,
        s: &Placement,
        out: &Placed,
        cpu: u32,
        dst: u32,
        boost: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_sd_has_clusters(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_sd_imbalance_pct(p: &Policy, l: &SdLevel) -> u32;
    pub(crate) safe fn pelton_x_sd_flags(p: &Policy, l: &SdLevel, all: u32) -> u32;
    pub(crate) safe fn pelton_x_sd_asym_searched(p: &Policy) -> u32;
    pub(crate) unsafe fn pelton_x_sd_imb_numa_nr(levels: *const SdLevel, n: u32, at: u32) -> u32;
    pub(crate) safe fn pelton_x_sd_energy_aware(p: &Policy, asymmetric: u32, threads: u32, invariant: u32) -> u32;
    pub(crate) safe fn pelton_x_capacity_greater(a: u32, b: u32) -> u32;
    pub(crate) safe fn pelton_x_update_scan_cost(avg: u64, ns: u64) -> u64;
    pub(crate) safe fn pelton_x_nr_idle_scan(sum_util: u64, weight: u32, imbalance_pct: u32) -> u32;
    pub(crate) safe fn pelton_x_find_energy_efficient_cpu(p: &Policy, s: &Placement, out: &mut Placed) -> u32;
    pub(crate) safe fn pelton_x_placed_start(s: &Placement, out: &mut Placed);
    pub(crate) safe fn pelton_x_wake_cap_load(p: &Policy, s: &Placement, out: &mut Placed) -> u64;
    pub(crate) safe fn pelton_x_find_dst_start(
        p: &Policy,
        s: &Placement,
        out: &mut Placed,
        cpu: u32,
        level: u32,
        w: &mut DstWalk,
    ) -> u32;
    pub(crate) safe fn pelton_x_find_dst_step(p: &Policy, s: &Placement, out: &mut Placed, w: &mut DstWalk);
    pub(crate) safe fn pelton_x_dst_group_sums(
        p: &Policy,
        s: &Placement,
        out: &Placed,
        cpu: u32,
        level: u32,
        of: u32,
        g: &mut GroupSums,
    );
    pub(crate) safe fn pelton_x_misfit_load(p: &Policy, s: &Placement, out: &Placed, cpu: u32, biggest: u32) -> u64;
    pub(crate) safe fn pelton_x_place_util(
        p: &Policy,
        s: &Placement,
        out: &Placed,
        cpu: u32,
        dst: u32,
        boost: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_cpu_overutilized(p: &Policy, s: &Placement, cpu: u32) -> u32;
    pub(crate) safe fn pelton_x_idle_single(p: &Policy, states: u32) -> u32;
    pub(crate) safe fn pelton_x_wake_reads_runnable(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_wake_affine(p: &Policy, w: &Wake) -> u32;
    pub(crate) safe fn pelton_x_record_wakee(w: &PlaceWaker) -> u32;
    pub(crate) safe fn pelton_x_wake_wide(waker: u32, wakee: u32, llc: u32) -> u32;
    pub(crate) safe fn pelton_x_effective_load(g: &CfsRq, tg: &TaskGroup, se: &Se, wl: i64, wg: i64) -> i64;
    pub(crate) safe fn pelton_x_h_load(part: u64, load: u64, queue: u64) -> u64;
    pub(crate) safe fn pelton_x_wake_in_groups(w: &mut Wake, here: i64, there: i64, task_here: i64, task_there: i64);
    pub(crate) safe fn pelton_x_task_weight(level: u32) -> u32;
    pub(crate) safe fn pelton_x_task_inv_weight(level: u32) -> u32;
    pub(crate) safe fn pelton_x_calc_delta(p: &Policy, delta: u64, weight: u64, lw_weight: u64, lw_inv: u32) -> u64;
    pub(crate) safe fn pelton_x_vtime(p: &Policy, delta_ns: u64, s: &FairSe) -> u64;
    pub(crate) safe fn pelton_x_fair_tunables_init(p: &Policy, t: &mut FairTunables, nr_cpus: u32, tick_ns: u64);
    pub(crate) safe fn pelton_x_update_curr(p: &Policy, s: &mut FairSe, delta_ns: u64);
    pub(crate) safe fn pelton_x_avg_vruntime_add(p: &Policy, q: &mut FairRq, s: &FairSe);
    pub(crate) safe fn pelton_x_avg_vruntime_sub(p: &Policy, q: &mut FairRq, s: &FairSe);
    pub(crate) safe fn pelton_x_keeps_min_vruntime(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_update_min_vruntime(p: &Policy, q: &mut FairRq, c: Option<&FairSe>, f: Option<&FairSe>);
    pub(crate) safe fn pelton_x_slice_period(p: &Policy, t: &FairTunables, q: &FairRq, s: &FairSe, all: u32) -> u64;
    pub(crate) safe fn pelton_x_slice_share(p: &Policy, q: &FairRq, s: &FairSe, slice_ns: u64) -> u64;
    pub(crate) safe fn pelton_x_slice_floor(
        p: &Policy,
        t: &FairTunables,
        s: &FairSe,
        idle_only: u32,
        slice_ns: u64,
    ) -> u64;
    pub(crate) safe fn pelton_x_place_entity_cfs(
        p: &Policy,
        t: &FairTunables,
        q: &FairRq,
        s: &mut FairSe,
        initial: u32,
        slice_ns: u64,
        slept_ns: u64,
    );
    pub(crate) safe fn pelton_x_wakeup_preempt_entity(p: &Policy, t: &FairTunables, c: &FairSe, s: &FairSe) -> i32;
    pub(crate) safe fn pelton_x_check_preempt_tick(t: &FairTunables, c: &FairSe, f: &FairSe, slice_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_entity_before_cfs(s: &FairSe, o: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_skip_takes_second(p: &Policy, t: &FairTunables, s: &FairSe, f: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_avg_vruntime(p: &Policy, q: &mut FairRq, c: Option<&FairSe>) -> i64;
    pub(crate) safe fn pelton_x_hrtick_start_fair(s: &FairSe, util_irq: u32) -> i64;
    pub(crate) safe fn pelton_x_hrtick_stays(at_ns: u64, wanted_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_entity_eligible(p: &Policy, q: &FairRq, c: Option<&FairSe>, s: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_entity_before(s: &FairSe, o: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_delay_dequeue(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        c: Option<&FairSe>,
        s: &mut FairSe,
    ) -> u32;
    pub(crate) safe fn pelton_x_requeue_delayed(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        c: Option<&FairSe>,
        s: &mut FairSe,
    ) -> u32;
    pub(crate) safe fn pelton_x_finish_delayed_dequeue(s: &mut FairSe);
    pub(crate) safe fn pelton_x_leave_entity(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        c: Option<&FairSe>,
        s: &mut FairSe,
        sleeps: u32,
    );
    pub(crate) safe fn pelton_x_place_entity(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        c: Option<&FairSe>,
        s: &mut FairSe,
        initial: u32,
    );
    pub(crate) safe fn pelton_x_update_deadline(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        c: Option<&FairSe>,
        s: &mut FairSe,
    ) -> u32;
    pub(crate) safe fn pelton_x_yield_entity(p: &Policy, t: &FairTunables, q: &mut FairRq, s: &mut FairSe);
    pub(crate) safe fn pelton_x_protect_slice(p: &Policy, s: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_cancel_protect_slice(p: &Policy, s: &mut FairSe);
    pub(crate) safe fn pelton_x_set_protect_slice(p: &Policy, q: &FairRq, s: &mut FairSe);
    pub(crate) safe fn pelton_x_preempt_short(p: &Policy, q: &FairRq, c: &FairSe, s: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_wakee_may_preempt(p: &Policy, s: &FairSe, passes: u32, is_new: u32) -> u32;
    pub(crate) safe fn pelton_x_wakee_waits(p: &Policy, q: &FairRq, s: &mut FairSe, passes: u32);
    pub(crate) safe fn pelton_x_update_curr_eevdf(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        s: &mut FairSe,
        delta_ns: u64,
    ) -> u32;
    pub(crate) safe fn pelton_x_curr_gives_way(p: &Policy, q: &FairRq, c: &FairSe, renewed: u32) -> u32;
    pub(crate) safe fn pelton_x_keeps_curr(p: &Policy, q: &FairRq, c: Option<&FairSe>, protect: u32) -> u32;
    pub(crate) safe fn pelton_x_picks_curr(p: &Policy, c: &FairSe, s: &FairSe) -> u32;
    pub(crate) safe fn pelton_x_reweight_entity_fair(
        p: &Policy,
        t: &FairTunables,
        q: &mut FairRq,
        c: Option<&FairSe>,
        s: &mut FairSe,
        runs: u32,
        weight: u64,
        inv_weight: u32,
    );
    pub(crate) safe fn pelton_x_menu_select(
        p: &Policy,
        m: &mut Menu,
        t: &IdleTable,
        now: &IdleNow,
        out: &mut IdleChoice,
    );
    pub(crate) safe fn pelton_x_teo_select(p: &Policy, c: &mut Teo, t: &IdleTable, now: &IdleNow, out: &mut IdleChoice);
    pub(crate) safe fn pelton_x_idle_woke(last: &mut IdleLast, residency: u64, state: u32, woke: u32);
    pub(crate) safe fn pelton_x_menu_typical(p: &Policy, m: &Menu, timer_us: u32) -> u32;
    pub(crate) safe fn pelton_x_boost_group_limit(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_boost_full(p: &Policy, cap: u32) -> u32;
    pub(crate) safe fn pelton_x_boost_margin(p: &Policy, full: u32, signal: u32, boost: i32) -> i32;
    pub(crate) safe fn pelton_x_boosted(p: &Policy, full: u32, signal: u32, boost: i32) -> u32;
    pub(crate) safe fn pelton_x_boost_tasks_update(
        p: &Policy,
        b: &mut BoostCpu,
        idx: u32,
        comes: u32,
        stamps: u32,
        now: u64,
    );
    pub(crate) safe fn pelton_x_boost_write(p: &Policy, b: &mut BoostCpu, idx: u32, boost: i32, now: u64);
    pub(crate) safe fn pelton_x_boost_move(p: &Policy, b: &mut BoostCpu, from: u32, to: u32, now: u64);
    pub(crate) safe fn pelton_x_boost_cpu(p: &Policy, b: &mut BoostCpu, now: u64) -> i32;
    pub(crate) safe fn pelton_x_boost_state(p: &Policy, s: &mut CpuState, boost: i32);
    pub(crate) safe fn pelton_x_prefer_idle_look(s: &mut PreferIdle, c: &IdleCandidate);
    pub(crate) safe fn pelton_x_filter_payoff(form: u32, index: u32, e: i32, c: i32) -> i64;
    pub(crate) safe fn pelton_x_filter_accepts(form: u32, boost: u32, e: i32, c: i32) -> u32;
    pub(crate) safe fn pelton_x_filter_accepts_by(form: u32, boost: u32, constrain: u32, e: i32, c: i32) -> u32;
    pub(crate) safe fn pelton_x_filter_normalize(power: i32, min: u32, max: u32) -> i32;
    pub(crate) safe fn pelton_x_sched_dvfs_usage(util: u64, cap: u32) -> u32;
    pub(crate) safe fn pelton_x_boost_cpu_update(p: &Policy, b: &mut BoostCpu, now: u64);
    pub(crate) safe fn pelton_x_sched_dvfs_request(usage: u32) -> u32;
    pub(crate) safe fn pelton_x_sched_dvfs_window_ns(p: &Policy, latency_ns: u64) -> u64;
    pub(crate) safe fn pelton_x_sched_dvfs_tick(sd: &SchedDvfs, cap: u32, usage: u32) -> u32;
    pub(crate) safe fn pelton_x_sched_dvfs_reset(vote: &mut Vote);
    /// `votes` has `sd.nr_cpus` entries; `cpu` is below `sd.nr_cpus`.
    pub(crate) unsafe fn pelton_x_sched_dvfs_set_cap(
        sd: &mut SchedDvfs,
        votes: *mut Vote,
        cpu: u32,
        cap: u32,
        cap_orig: u32,
        now: u64,
    ) -> u32;
    /// `votes` has `sd.nr_cpus` entries, `khz` has `n`; `cpu` is below `sd.nr_cpus`.
    pub(crate) unsafe fn pelton_x_sched_dvfs_update(
        sd: &mut SchedDvfs,
        votes: *mut Vote,
        cpu: u32,
        asks: u32,
        khz: *const u32,
        n: u32,
    ) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_sched_dvfs_resolve(sd: &SchedDvfs, khz: *const u32, n: u32, raw: u32) -> u32;
    pub(crate) safe fn pelton_x_sched_dvfs_due_ns(p: &Policy, sd: &SchedDvfs, now: u64) -> u64;
    pub(crate) safe fn pelton_x_sched_dvfs_done(sd: &mut SchedDvfs, khz: u32, now: u64);
    pub(crate) safe fn pelton_x_dbs_sampling_us(p: &Policy, latency_ns: u64, delay_us: u32, tick_ns: u64) -> u64;
    pub(crate) safe fn pelton_x_dbs_is_due(d: &Dbs, now: u64) -> u32;
    pub(crate) safe fn pelton_x_dbs_period_us(d: &Dbs) -> u32;
    pub(crate) safe fn pelton_x_dbs_measures(d: &Dbs) -> u32;
    pub(crate) safe fn pelton_x_dbs_begin(d: &mut Dbs, now: u64);
    pub(crate) safe fn pelton_x_dbs_load(p: &Policy, d: &mut Dbs, c: &mut DbsCpu, t: &DbsTimes) -> u32;
    pub(crate) safe fn pelton_x_governor_samples(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_governor_timers(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_governor_votes(p: &Policy) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_governor_sampled(p: &Policy, d: &mut Dbs, khz: *const u32, n: u32) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_governor_start_khz(p: &Policy, d: &Dbs, khz: *const u32, n: u32) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_limits_max(khz: *const u32, n: u32, max: u32) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_limits_min(khz: *const u32, n: u32, min: u32, max: u32) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_limits_target(
        p: &Policy,
        khz: *const u32,
        n: u32,
        min: u32,
        max: u32,
        cur: u32,
        wanted: u32,
        fast_switch: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_interactive_target_load(p: &Policy, khz: u32) -> u32;
    pub(crate) safe fn pelton_x_interactive_delay_us(p: &Policy, khz: u32) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_interactive_choose(
        p: &Policy,
        d: &Interactive,
        khz: *const u32,
        n: u32,
        load: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_interactive_account(p: &Policy, d: &Interactive, c: &mut InteractiveCpu, t: &DbsTimes);
    pub(crate) safe fn pelton_x_interactive_rearm(p: &Policy, c: &mut InteractiveCpu, t: &DbsTimes);
    pub(crate) safe fn pelton_x_interactive_watches(p: &Policy, d: &Interactive, c: &InteractiveCpu) -> u32;
    /// `khz` has `n` entries.
    pub(crate) unsafe fn pelton_x_interactive_timer(
        p: &Policy,
        d: &mut Interactive,
        c: &mut InteractiveCpu,
        t: &DbsTimes,
        khz: *const u32,
        n: u32,
    ) -> u32;
    /// `cpus` has `nr` entries, `khz` has `n`.
    pub(crate) unsafe fn pelton_x_interactive_adjust(
        d: &Interactive,
        cpus: *mut InteractiveCpu,
        nr: u32,
        khz: *const u32,
        n: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_interactive_boost(d: &Interactive, c: &mut InteractiveCpu, now_us: u64) -> u32;
    pub(crate) safe fn pelton_x_interactive_pulse(p: &Policy, d: &mut Interactive, now_us: u64) -> u32;
    pub(crate) safe fn pelton_x_interactive_start(p: &Policy, d: &mut Interactive, min: u32, max: u32, cur: u32);
    pub(crate) safe fn pelton_x_interactive_join(p: &Policy, d: &Interactive, c: &mut InteractiveCpu, t: &DbsTimes);
    pub(crate) safe fn pelton_x_interactive_limits(d: &Interactive, c: &mut InteractiveCpu);
    pub(crate) safe fn pelton_x_limits_dbs(p: &Policy, d: &mut Dbs, min: u32, max: u32, cur: u32);
    pub(crate) safe fn pelton_x_sched_cpu_util(p: &Policy, s: &CpuState) -> u32;
    pub(crate) safe fn pelton_x_zone_read(p: &Policy, z: &mut Zone, temp_mc: i32);
    pub(crate) safe fn pelton_x_zone_crosses(p: &Policy, z: &Zone, temp_mc: i32) -> u32;
    pub(crate) safe fn pelton_x_thermal_trend(z: &Zone) -> i32;
    pub(crate) safe fn pelton_x_step_wise(p: &Policy, z: &mut Zone);
    pub(crate) safe fn pelton_x_ipa_allocate(p: &Policy, z: &mut Zone, least_mw: u32) -> u32;
    /// `uw` has `n` elements.
    pub(crate) unsafe fn pelton_x_cooling_state2power(uw: *const u64, n: u32, state: u32, cpus: u32) -> u32;
    /// `khz` and `uw` have `n` elements.
    pub(crate) unsafe fn pelton_x_cooling_requested(
        c: &mut Cooling,
        khz: *const u32,
        uw: *const u64,
        n: u32,
        cur: u32,
        load: u32,
    );
    /// `uw` has `n` elements.
    pub(crate) unsafe fn pelton_x_cooling_power2state(c: &Cooling, uw: *const u64, n: u32) -> u32;
    pub(crate) safe fn pelton_x_cooling_load(p: &Policy, util: u32, cap: u32, time_us: u64, idle_us: u64) -> u32;
    pub(crate) safe fn pelton_x_should_we_balance(p: &Policy, s: &Placement, e: &LbEnv) -> u32;
    pub(crate) safe fn pelton_x_lb_activated(p: &Policy, s: &Placement, st: &mut LbDomain, e: &LbEnv, migration: u32);
    pub(crate) safe fn pelton_x_find_src_group(p: &Policy, s: &Placement, e: &LbEnv, lb: &mut Lb) -> u64;
    pub(crate) safe fn pelton_x_sched_cache_enabled(p: &Policy, s: &Placement) -> u32;
    pub(crate) safe fn pelton_x_find_src_rq(p: &Policy, s: &Placement, e: &LbEnv, lb: &mut Lb) -> u32;
    pub(crate) safe fn pelton_x_can_migrate_task(
        p: &Policy,
        s: &Placement,
        e: &mut LbEnv,
        t: &LbTask,
        migration: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_detach_task(p: &Policy, s: &Placement, e: &mut LbEnv, lb: &mut Lb, t: &LbTask) -> u32;
    pub(crate) safe fn pelton_x_need_active_balance(p: &Policy, s: &Placement, e: &LbEnv, migration: u32) -> u32;
}
