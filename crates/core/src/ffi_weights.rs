// SPDX-License-Identifier: GPL-2.0-or-later
//! The C core as Rust sees it: weights, in whole units and as 64-bit kernels store them. As in `ffi.rs` every
//! declaration is safe.

use crate::policy::Policy;
use crate::records::{CfsRq, Se};

unsafe extern "C" {
    pub(crate) safe fn pelton_x_reweight(p: &Policy, cfs: &mut CfsRq, se: &mut Se, weight: u64);
    pub(crate) safe fn pelton_x_shares_of_weight(cpu_weight: u32) -> u64;
    pub(crate) safe fn pelton_x_keeps_runnable_load(p: &Policy) -> u32;
    pub(crate) safe fn pelton_x_reweight_entity(p: &Policy, cfs: &mut CfsRq, se: &mut Se, weight: u64);
    pub(crate) safe fn pelton_x_scale_load_down(weight: u64) -> u64;
    pub(crate) safe fn pelton_x_scale_load(weight: u64) -> u64;
    pub(crate) safe fn pelton_x_se_full_weight(se: &Se) -> u64;
    pub(crate) safe fn pelton_x_full_weight(units: u64, rest: i32) -> u64;
    pub(crate) safe fn pelton_x_weight_of_shares(shares: u64) -> u64;
}
