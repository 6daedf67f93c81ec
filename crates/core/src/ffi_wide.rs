// SPDX-License-Identifier: GPL-2.0-or-later
//! The rules of placement and balance for records of more than 64 CPUs: `shim_wide.c`, one declaration per function.
//! Their names are those of `ffi.rs`, so that a call is the same for both forms.

use crate::balance::{Lb, LbDomain, LbEnv, LbTask};
use crate::placement_records::{DstWalk, GroupSums, PlaceEnergy, Placed};
use crate::policy::Policy;
use crate::record::WidePlacement as Wide;

unsafe extern "C" {
    #[link_name = "pelton_w_select_task_rq_fair"]
    pub(crate) safe fn pelton_x_select_task_rq_fair(p: &Policy, s: &Wide, out: &mut Placed) -> u32;
    #[link_name = "pelton_w_util_fits_cpu"]
    pub(crate) safe fn pelton_x_util_fits_cpu(p: &Policy, s: &Wide, util: u32, min: u32, max: u32, cpu: u32) -> i32;
    #[link_name = "pelton_w_eenv_cpu_max_util"]
    pub(crate) safe fn pelton_x_eenv_cpu_max_util(p: &Policy, s: &Wide, out: &Placed, cpu: u32, dst: u32) -> u32;
    #[link_name = "pelton_w_eenv_cpu_busy_time"]
    pub(crate) safe fn pelton_x_eenv_cpu_busy_time(p: &Policy, s: &Wide, out: &Placed, cpu: u32, dst: u32) -> u32;
    #[link_name = "pelton_w_eenv_task_busy_time"]
    pub(crate) safe fn pelton_x_eenv_task_busy_time(p: &Policy, s: &Wide, out: &Placed) -> u64;
    #[link_name = "pelton_w_priced_cost"]
    pub(crate) safe fn pelton_x_priced_cost(p: &Policy, s: &Wide, e: &PlaceEnergy) -> u64;
    #[link_name = "pelton_w_priced_allowed"]
    pub(crate) safe fn pelton_x_priced_allowed(p: &Policy, s: &Wide, e: &PlaceEnergy) -> u32;
    #[link_name = "pelton_w_priced_khz"]
    pub(crate) safe fn pelton_x_priced_khz(p: &Policy, s: &Wide, e: &PlaceEnergy) -> u32;
    #[link_name = "pelton_w_priced_divisor"]
    pub(crate) safe fn pelton_x_priced_divisor(p: &Policy, s: &Wide, e: &PlaceEnergy) -> u32;
    #[link_name = "pelton_w_placed_start"]
    pub(crate) safe fn pelton_x_placed_start(s: &Wide, out: &mut Placed);
    #[link_name = "pelton_w_wake_cap_load"]
    pub(crate) safe fn pelton_x_wake_cap_load(p: &Policy, s: &Wide, out: &mut Placed) -> u64;
    #[link_name = "pelton_w_find_dst_start"]
    pub(crate) safe fn pelton_x_find_dst_start(
        p: &Policy,
        s: &Wide,
        out: &mut Placed,
        cpu: u32,
        level: u32,
        w: &mut DstWalk,
    ) -> u32;
    #[link_name = "pelton_w_find_dst_step"]
    pub(crate) safe fn pelton_x_find_dst_step(p: &Policy, s: &Wide, out: &mut Placed, w: &mut DstWalk);
    #[link_name = "pelton_w_dst_group_sums"]
    pub(crate) safe fn pelton_x_dst_group_sums(
        p: &Policy,
        s: &Wide,
        out: &Placed,
        cpu: u32,
        level: u32,
        of: u32,
        g: &mut GroupSums,
    );
    #[link_name = "pelton_w_misfit_load"]
    pub(crate) safe fn pelton_x_misfit_load(p: &Policy, s: &Wide, out: &Placed, cpu: u32, biggest: u32) -> u64;
    #[link_name = "pelton_w_cpu_overutilized"]
    pub(crate) safe fn pelton_x_cpu_overutilized(p: &Policy, s: &Wide, cpu: u32) -> u32;
    #[link_name = "pelton_w_should_we_balance"]
    pub(crate) safe fn pelton_x_should_we_balance(p: &Policy, s: &Wide, e: &LbEnv) -> u32;
    #[link_name = "pelton_w_lb_activated"]
    pub(crate) safe fn pelton_x_lb_activated(p: &Policy, s: &Wide, st: &mut LbDomain, e: &LbEnv, migration: u32);
    #[link_name = "pelton_w_find_src_group"]
    pub(crate) safe fn pelton_x_find_src_group(p: &Policy, s: &Wide, e: &LbEnv, lb: &mut Lb) -> u64;
    #[link_name = "pelton_w_find_src_rq"]
    pub(crate) safe fn pelton_x_find_src_rq(p: &Policy, s: &Wide, e: &LbEnv, lb: &mut Lb) -> u32;
    #[link_name = "pelton_w_can_migrate_task"]
    pub(crate) safe fn pelton_x_can_migrate_task(
        p: &Policy,
        s: &Wide,
        e: &mut LbEnv,
        t: &LbTask,
        migration: u32,
    ) -> u32;
    #[link_name = "pelton_w_detach_task"]
    pub(crate) safe fn pelton_x_detach_task(p: &Policy, s: &Wide, e: &mut LbEnv, lb: &mut Lb, t: &LbTask) -> u32;
    #[link_name = "pelton_w_need_active_balance"]
    pub(crate) safe fn pelton_x_need_active_balance(p: &Policy, s: &Wide, e: &LbEnv, migration: u32) -> u32;
    #[link_name = "pelton_w_record_sg_llc_stats"]
    pub(crate) safe fn pelton_x_record_sg_llc_stats(p: &Policy, s: &mut Wide, e: &LbEnv);
    #[link_name = "pelton_w_sched_cache_enabled"]
    pub(crate) safe fn pelton_x_sched_cache_enabled(p: &Policy, s: &Wide) -> u32;
    pub(crate) safe fn pelton_w_lb_follow(p: &Policy, s: &mut Wide, cpu: u32);
    pub(crate) safe fn pelton_w_lb_rank_groups(p: &Policy, s: &mut Wide, cpu: u32, level: u32);
    #[cfg(test)]
    pub(crate) safe fn pelton_w_layout(part: u32) -> u32;
}
