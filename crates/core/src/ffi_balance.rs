// SPDX-License-Identifier: GPL-2.0-or-later
//! The C core as Rust sees it: when balances and walks over idle CPUs are made, and what they keep. As in `ffi.rs`
//! every declaration is safe.

use crate::balance::{CpuLoad, LbDomain, LbEnv};
use crate::placement_records::{PlaceCpu, Placement, SchedDomain};
use crate::policy::Policy;
use crate::records::{IdleWalk, Newidle};

unsafe extern "C" {
    pub(crate) safe fn pelton_x_lb_can_be_calm(p: &Policy, flags: u32, energy_aware: u32) -> u32;
    pub(crate) safe fn pelton_x_newidle_init(n: &mut Newidle);
    pub(crate) safe fn pelton_x_newidle_woke(n: &mut Newidle, stay_ns: u64);
    pub(crate) safe fn pelton_x_newidle_skips(p: &Policy, n: &Newidle) -> u32;
    pub(crate) safe fn pelton_x_newidle_searched(p: &Policy, n: &mut Newidle, cost_ns: u64, now_ns: u64);
    pub(crate) safe fn pelton_x_newidle_rests(p: &Policy, n: &Newidle) -> u32;
    pub(crate) safe fn pelton_x_newidle_decay(n: &mut Newidle, now_ns: u64);
    pub(crate) safe fn pelton_x_newidle_faded(n: &mut Newidle, lowest_ns: u64, sum_ns: u64);
    pub(crate) safe fn pelton_x_cache_nice_tries(d: &SchedDomain) -> u32;
    pub(crate) safe fn pelton_x_lb_domain_init(st: &mut LbDomain, weight: u32, now: u64);
    pub(crate) safe fn pelton_x_sd_balance_interval(
        p: &Policy,
        st: &LbDomain,
        busy: u32,
        tick_ns: u64,
        cpus: u32,
    ) -> u64;
    pub(crate) safe fn pelton_x_lb_is_busy(p: &Policy, idle: u32, idle_tasks_only: u32) -> u32;
    pub(crate) safe fn pelton_x_lb_clears_imbalance(p: &Policy, e: &LbEnv) -> u32;
    pub(crate) safe fn pelton_x_dst_group_by_load(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_lb_newest_first(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_cpu_load_tick(l: &mut CpuLoad, now: u64, now_ticks: u64);
    pub(crate) safe fn pelton_x_cpu_load_nohz_start(l: &mut CpuLoad, now: u64);
    pub(crate) safe fn pelton_x_cpu_load_nohz(l: &mut CpuLoad, now: u64, now_ticks: u64);
    pub(crate) safe fn pelton_x_lb_newidle_skips(st: &LbDomain, avg_idle_ns: u64, spent_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_lb_newidle_searched(p: &Policy, st: &mut LbDomain, cost_ns: u64, now_ns: u64);
    pub(crate) safe fn pelton_x_lb_newidle_counts_for(p: &Policy, st: &LbDomain, cost_ns: u64, found: u32) -> u64;
    pub(crate) safe fn pelton_x_lb_newidle_decay(st: &mut LbDomain, now_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_lb_newidle_fades(p: &Policy, before: u32, faded: u32) -> u32;
    pub(crate) safe fn pelton_x_lb_newidle_throws(p: &Policy, st: &LbDomain) -> u32;
    pub(crate) safe fn pelton_x_lb_newidle_wins(st: &LbDomain, draw: u32) -> u32;
    pub(crate) safe fn pelton_x_lb_newidle_weight(p: &Policy, st: &LbDomain) -> u32;
    pub(crate) safe fn pelton_x_update_newidle_stats(p: &Policy, st: &mut LbDomain, hits: u32, now_ns: u64);
    pub(crate) safe fn pelton_x_lb_may_wait(p: &Policy, st: &mut LbDomain, e: &LbEnv, migration: u32, weight: u32);
    pub(crate) safe fn pelton_x_lb_balanced(p: &Policy, st: &mut LbDomain, e: &LbEnv, migration: u32, weight: u32);
    pub(crate) safe fn pelton_x_lb_moved(st: &mut LbDomain, weight: u32);
    pub(crate) safe fn pelton_x_lb_failed(p: &Policy, st: &mut LbDomain, e: &LbEnv, migration: u32);
    pub(crate) safe fn pelton_x_lb_again(st: &mut LbDomain, weight: u32);
    pub(crate) safe fn pelton_x_check_cpu_capacity(c: &PlaceCpu, imbalance_pct: u32) -> u32;
    pub(crate) safe fn pelton_x_newidle_spent(n: &mut Newidle, spent_ns: u64);
    pub(crate) safe fn pelton_x_record_sg_llc_stats(p: &Policy, s: &mut Placement, e: &LbEnv);
    pub(crate) safe fn pelton_x_idle_walk_kick(p: &Policy, w: &IdleWalk) -> u32;
    pub(crate) safe fn pelton_x_idle_walk_newly(p: &Policy, w: &IdleWalk, n: &Newidle) -> u32;
    pub(crate) safe fn pelton_x_blocked_walks(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_blocked_scans(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_blocked_due(p: &Policy, now: u64, last: u64, tick_ns: u64, walk: u32) -> u32;
    pub(crate) safe fn pelton_x_newidle_alone(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_newidle_closed(p: &Policy, n: &Newidle) -> u32;
    pub(crate) safe fn pelton_x_idle_walk_next(now_ticks: u64, tick_ns: u64) -> u64;
}
