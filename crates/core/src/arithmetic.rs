// SPDX-License-Identifier: GPL-2.0-or-later
//! Load tracking as a table of functions: the core's, and those of cores that are wrong on purpose, which a check has
//! to notice.

use crate::policy::Policy;
use crate::sys::{Avg, CfsRq, Ctx, Se};

/// Makes [`Arithmetic`] of its functions, each with a method of its name.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)?;)*) => {
        /// The functions of load tracking of one core, as `arithmetic.c` lists them.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct Arithmetic { $($name: extern "C" fn($($ty),*) $(-> $out)?,)* }

        impl Arithmetic {
            $($(#[$doc])* pub fn $name(&self, $($arg: $ty),*) $(-> $out)? { (self.$name)($($arg),*) })*
        }
    };
}

functions! {
    /// See [`Avg::accumulate`].
    accumulate(ctx: &Ctx<'_>, avg: &mut Avg, load: u64, runnable: u64, running: u64) -> u64;
    /// See [`Avg::publish`].
    publish(pol: &Policy, avg: &mut Avg, weight: u64);
    /// See [`Se::update`].
    update_se(ctx: &Ctx<'_>, se: &mut Se) -> u64;
    /// See [`CfsRq::update`].
    update_cfs_rq(ctx: &Ctx<'_>, cfs: &mut CfsRq) -> u32;
    /// See [`Avg::update`].
    update_avg(ctx: &Ctx<'_>, avg: &mut Avg, value: u32) -> u32;
    /// See [`CfsRq::attach`].
    attach(pol: &Policy, cfs: &mut CfsRq, se: &mut Se);
    /// See [`CfsRq::detach`].
    detach(pol: &Policy, cfs: &mut CfsRq, se: &Se);
    /// See [`CfsRq::reweight`].
    reweight(pol: &Policy, cfs: &mut CfsRq, se: &mut Se, weight: u64);
    /// See [`CfsRq::sync_blocked`].
    sync_blocked(ctx: &Ctx<'_>, cfs: &CfsRq, se: &mut Se);
    /// See [`CfsRq::propagate`]; not 0 if anything changed.
    propagate(ctx: &Ctx<'_>, cfs: &mut CfsRq, se: &mut Se, owned: &mut CfsRq) -> u32;
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
