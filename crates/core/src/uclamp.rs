// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps by maximum: records and methods of `core/include/pelton/uclamp_max.h`.

use crate::policy::Policy;
pub use crate::sys::uclamp_of_percent;
use crate::sys::{self, UclampLimits, UclampRq, UclampTask};

/// Clamps of the root group, lower and upper: they limit no group below it.
pub const UCLAMP_ROOT: (u32, u32) = (1024, 1024);

/// Lower and upper clamp of a group in force, which asks for `asked`, below a group whose are `above`.
///
/// ```
/// use pelton_core::{UCLAMP_ROOT, group_clamps};
/// let above = group_clamps(UCLAMP_ROOT, (300, 600));
/// assert_eq!(group_clamps(above, (400, 1024)), (300, 600));
/// assert_eq!(group_clamps(above, (0, 200)), (0, 200));
/// ```
#[must_use]
pub fn group_clamps(above: (u32, u32), asked: (u32, u32)) -> (u32, u32) {
    let mut out = [0; 2];
    sys::uclamp_group(&[above.0, above.1], &[asked.0, asked.1], &mut out);
    (out[0], out[1])
}

/// Does a group have the clamps of the group above in force, while its files were not written?
#[must_use]
pub fn uclamp_inherits(policy: &Policy, written: bool) -> bool {
    sys::uclamp_inherits(policy, written.into()) != 0
}

/// Are clamps in use? `asked`: one was requested by now.
#[must_use]
pub fn uclamp_is_used(policy: &Policy, asked: bool) -> bool {
    sys::uclamp_is_used(policy, asked.into()) != 0
}

/// Buckets that a CPU counts its tasks' clamps in.
pub const UCLAMP_BUCKETS: usize = sys::UCLAMP_BUCKETS as usize;

impl UclampTask {
    /// A task that asks for this.
    #[must_use]
    pub fn asking(min: u32, max: u32) -> Self {
        Self { requested: [min, max], user_defined: [1, 1], ..Self::default() }
    }

    /// Lower and upper clamp: in force, or what it would get.
    #[must_use]
    pub fn effective(&self, policy: &Policy, limits: &UclampLimits) -> (u32, u32) {
        let value = |id| sys::uclamp_eff_value(policy, self, limits, id);
        (value(0), value(1))
    }
}

impl UclampLimits {
    /// No limit.
    pub const NONE: UclampLimits = UclampLimits { in_group: 0, group_min: 0, group_max: 1024, system: [1024, 1024] };

    /// Those of a group with these clamps in force.
    #[must_use]
    pub const fn of_group((group_min, group_max): (u32, u32)) -> Self {
        Self { in_group: 1, group_min, group_max, ..Self::NONE }
    }
}

impl UclampRq {
    /// A CPU that had no task yet.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        let mut rq = Self::default();
        sys::uclamp_init_rq(policy, &mut rq);
        rq
    }

    /// A task becomes runnable here.
    ///
    /// ```
    /// use pelton_core::{Policy, UclampLimits, UclampRq, UclampTask};
    /// let policy = Policy::profile("7.2").expect("a profile");
    /// let (mut cpu, limits) = (UclampRq::new(&policy), UclampLimits::NONE);
    /// let (mut a, mut b) = (UclampTask::asking(0, 390), UclampTask::asking(100, 300));
    /// cpu.inc(&policy, &mut a, &limits);
    /// cpu.inc(&policy, &mut b, &limits);
    /// assert_eq!(cpu.value, [100, 390]);
    /// cpu.dec(&mut a);
    /// assert_eq!(cpu.value, [100, 390], "both share a bucket, which remembers the larger clamp");
    /// cpu.dec(&mut b);
    /// assert_eq!((cpu.value, cpu.idle), ([0, 300], 1));
    /// ```
    #[inline]
    pub fn inc(&mut self, policy: &Policy, task: &mut UclampTask, limits: &UclampLimits) {
        sys::uclamp_rq_inc(policy, self, task, limits);
    }

    /// A task is no longer runnable here.
    #[inline]
    pub fn dec(&mut self, task: &mut UclampTask) {
        sys::uclamp_rq_dec(self, task);
    }

    /// The clamps of a runnable task's group changed: the lower one, the upper one.
    pub fn update(&mut self, policy: &Policy, task: &mut UclampTask, limits: &UclampLimits, changed: [bool; 2]) {
        let ids = u32::from(changed[0]) | u32::from(changed[1]) << 1;
        sys::uclamp_update_active(policy, self, task, limits, ids);
    }
}
