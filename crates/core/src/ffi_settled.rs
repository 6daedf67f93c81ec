// SPDX-License-Identifier: GPL-2.0-or-later
//! The C core as Rust sees it: schedutil's short way.

use crate::policy::Policy;
use crate::records::{Rq, SugovCpu, SugovPolicy};
use crate::settled::{SugovKnown, SugovRequest};

unsafe extern "C" {
    pub(crate) safe fn pelton_x_sugov_settles(p: &Policy) -> u32;
    // `asked` has more than `i` requests, and more than `known.largest` where that is one.
    pub(crate) unsafe fn pelton_x_sugov_ask_queues(
        p: &Policy,
        sp: &SugovPolicy,
        sc: &mut SugovCpu,
        rq: &Rq,
        running_bw: u64,
        rt_nr_running: u32,
        now: u64,
        tick: u64,
        asked: *mut SugovRequest,
        i: u32,
        known: &mut SugovKnown,
    );
    // `asked` has `sp.nr_cpus` requests, one at least, and more than `known.largest` where that is one; `khz` has `n`.
    pub(crate) unsafe fn pelton_x_sugov_known_need(
        p: &Policy,
        sp: &SugovPolicy,
        asked: *const SugovRequest,
        khz: *const u32,
        n: u32,
        known: &mut SugovKnown,
    );
    // The same.
    pub(crate) unsafe fn pelton_x_sugov_evaluate_packed(
        p: &Policy,
        sp: &mut SugovPolicy,
        sc: &mut SugovCpu,
        cap_orig: u32,
        idle_calls: u64,
        now: u64,
        asked: *const SugovRequest,
        khz: *const u32,
        n: u32,
        known: &mut SugovKnown,
    ) -> u32;
}
