// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions of idle groups and of tasks of SCHED_IDLE in `shim.c`.

use crate::Policy;

unsafe extern "C" {
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
