// SPDX-License-Identifier: GPL-2.0-only
//! Functions of idle groups, of tasks of SCHED_IDLE and of weights as kernels store them in `shim.c`.

use crate::{CfsRq, Policy, Se};

unsafe extern "C" {
    pub(crate) safe fn pelton_x_reweight_entity(p: &Policy, cfs: &mut CfsRq, se: &mut Se, weight: u64);
    pub(crate) safe fn pelton_x_scale_load_down(weight: u64) -> u64;
    pub(crate) safe fn pelton_x_scale_load(weight: u64) -> u64;
    pub(crate) safe fn pelton_x_se_full_weight(se: &Se) -> u64;
    pub(crate) safe fn pelton_x_full_weight(units: u64, rest: i32) -> u64;
    pub(crate) safe fn pelton_x_preempt_by_policy(
        p: &Policy,
        curr: u32,
        wakee: u32,
        curr_at: u32,
        wakee_at: u32,
        batch: u32,
    ) -> u32;
    pub(crate) safe fn pelton_x_lb_at_once(p: &Policy, idle_only_before: u32, idle_only: u32) -> u32;
    pub(crate) safe fn pelton_x_idle_unprotected(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_has_idle_groups(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_shares_when_idle(idle: u32) -> u64;
    pub(crate) safe fn pelton_x_shares_writable(idle: u32) -> u32;
    pub(crate) safe fn pelton_x_h_nr_idle_above(group_idle: u32, tasks: i32, idle: i32) -> i32;
    pub(crate) safe fn pelton_x_set_idle_delta(idle: u32, queued: u32, h_nr_idle: u32) -> i32;
    pub(crate) safe fn pelton_x_sched_idle_rq(nr_running: u32, h_nr_idle: u32) -> u32;
}
