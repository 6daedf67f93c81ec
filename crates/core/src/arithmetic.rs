// SPDX-License-Identifier: GPL-2.0-or-later
//! Load tracking as a table of functions: the core's, and those of cores that are wrong on purpose, which a check has
//! to notice.

use crate::policy::Policy;
use crate::sys::{Avg, CfsRq, Ctx, Se};

/// The functions of load tracking of one core, as `arithmetic.c` lists them. The methods of [`Avg`], [`Se`] and
/// [`CfsRq`] say what each does.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic {
    accumulate: extern "C" fn(&Ctx<'_>, &mut Avg, u64, u64, u64) -> u64,
    publish: extern "C" fn(&Policy, &mut Avg, u64),
    update_se: extern "C" fn(&Ctx<'_>, &mut Se) -> u64,
    update_cfs_rq: extern "C" fn(&Ctx<'_>, &mut CfsRq) -> u32,
    update_avg: extern "C" fn(&Ctx<'_>, &mut Avg, u32) -> u32,
    attach: extern "C" fn(&Policy, &mut CfsRq, &mut Se),
    detach: extern "C" fn(&Policy, &mut CfsRq, &Se),
    reweight: extern "C" fn(&Policy, &mut CfsRq, &mut Se, u64),
    sync_blocked: extern "C" fn(&Ctx<'_>, &CfsRq, &mut Se),
    propagate: extern "C" fn(&Ctx<'_>, &mut CfsRq, &mut Se, &mut CfsRq) -> u32,
}

unsafe extern "C" {
    safe static pelton_arithmetic_0: Arithmetic;
    safe static pelton_arithmetic_1: Arithmetic;
    safe static pelton_arithmetic_3: Arithmetic;
}

/// The core's own.
#[must_use]
pub fn right() -> &'static Arithmetic {
    &pelton_arithmetic_0
}

/// Cores with one wrong constant, and what it is.
#[must_use]
pub fn wrong() -> [(&'static str, &'static Arithmetic); 2] {
    [
        ("the largest sum of the core is one too small", &pelton_arithmetic_1),
        ("the largest sum of the core is one too large", &pelton_arithmetic_3),
    ]
}

impl Arithmetic {
    /// See [`Avg::accumulate`].
    pub fn accumulate(&self, ctx: &Ctx<'_>, avg: &mut Avg, load: u64, runnable: u64, running: u64) -> u64 {
        (self.accumulate)(ctx, avg, load, runnable, running)
    }

    /// See [`Avg::publish`].
    pub fn publish(&self, pol: &Policy, avg: &mut Avg, weight: u64) {
        (self.publish)(pol, avg, weight);
    }

    /// See [`Se::update`].
    pub fn update_se(&self, ctx: &Ctx<'_>, se: &mut Se) -> u64 {
        (self.update_se)(ctx, se)
    }

    /// See [`CfsRq::update`].
    pub fn update_cfs_rq(&self, ctx: &Ctx<'_>, cfs: &mut CfsRq) -> u32 {
        (self.update_cfs_rq)(ctx, cfs)
    }

    /// See [`Avg::update`].
    pub fn update_avg(&self, ctx: &Ctx<'_>, avg: &mut Avg, value: u32) -> u32 {
        (self.update_avg)(ctx, avg, value)
    }

    /// See [`CfsRq::attach`].
    pub fn attach(&self, pol: &Policy, cfs: &mut CfsRq, se: &mut Se) {
        (self.attach)(pol, cfs, se);
    }

    /// See [`CfsRq::detach`].
    pub fn detach(&self, pol: &Policy, cfs: &mut CfsRq, se: &Se) {
        (self.detach)(pol, cfs, se);
    }

    /// See [`CfsRq::reweight`].
    pub fn reweight(&self, pol: &Policy, cfs: &mut CfsRq, se: &mut Se, weight: u64) {
        (self.reweight)(pol, cfs, se, weight);
    }

    /// See [`CfsRq::sync_blocked`].
    pub fn sync_blocked(&self, ctx: &Ctx<'_>, cfs: &CfsRq, se: &mut Se) {
        (self.sync_blocked)(ctx, cfs, se);
    }

    /// See [`CfsRq::propagate`].
    pub fn propagate(&self, ctx: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se, owned: &mut CfsRq) -> bool {
        (self.propagate)(ctx, cfs, se, owned) != 0
    }
}
