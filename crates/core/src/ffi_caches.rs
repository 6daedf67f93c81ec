// SPDX-License-Identifier: GPL-2.0-or-later
//! The C core as Rust sees it: caches that tasks prefer. As in `ffi.rs` every declaration is safe.

use crate::cache_aware::{CacheCpu, CacheGroup, CacheTime};
use crate::placement_records::{PlaceCpu, Placement};
use crate::record::WidePlacement as Wide;

unsafe extern "C" {
    pub(crate) safe fn pelton_x_sd_in_multi_llcs(c: &PlaceCpu) -> u32;
    pub(crate) safe fn pelton_x_llc_epoch_ticks(tick_ns: u64) -> u32;
    pub(crate) safe fn pelton_x_mm_init_sched(g: &mut CacheGroup, c: &CacheCpu, now_ticks: u64);
    pub(crate) safe fn pelton_x_invalid_llc_nr(smt_threads: u32, g: &CacheGroup, llc_size: u32) -> u32;
    pub(crate) safe fn pelton_x_account_mm_sched(
        s: &Placement,
        g: &mut CacheGroup,
        c: &mut CacheCpu,
        t: &mut CacheTime,
        cpu: u32,
        delta_ns: u64,
        now_ticks: u64,
        period_ticks: u32,
    );
    pub(crate) safe fn pelton_x_get_pref_llc(s: &Placement, g: &CacheGroup) -> u32;
    pub(crate) safe fn pelton_x_task_tick_cache(g: &mut CacheGroup, c: &CacheCpu, asked: u32) -> u32;
    pub(crate) safe fn pelton_x_task_cache_work(
        s: &Placement,
        g: &mut CacheGroup,
        c: *mut CacheCpu,
        t: *mut CacheTime,
        cpu: u32,
        now_ticks: u64,
        period_ticks: u32,
    ) -> u32;
}

/// The same for records of more than 64 CPUs (`shim_wide.c`).
pub(crate) mod wide {
    use super::{CacheCpu, CacheGroup, CacheTime, Wide};

    unsafe extern "C" {
        #[link_name = "pelton_w_account_mm_sched"]
        pub(crate) safe fn pelton_x_account_mm_sched(
            s: &Wide,
            g: &mut CacheGroup,
            c: &mut CacheCpu,
            t: &mut CacheTime,
            cpu: u32,
            delta_ns: u64,
            now_ticks: u64,
            period_ticks: u32,
        );
        #[link_name = "pelton_w_get_pref_llc"]
        pub(crate) safe fn pelton_x_get_pref_llc(s: &Wide, g: &CacheGroup) -> u32;
        #[link_name = "pelton_w_task_cache_work"]
        pub(crate) safe fn pelton_x_task_cache_work(
            s: &Wide,
            g: &mut CacheGroup,
            c: *mut CacheCpu,
            t: *mut CacheTime,
            cpu: u32,
            now_ticks: u64,
            period_ticks: u32,
        ) -> u32;
    }
}
