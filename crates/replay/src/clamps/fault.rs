// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules that are wrong on purpose: a check that passes with them as well would prove nothing.

use pelton_core::{CpuState, UclampLimits, UclampRq, UclampTask};

/// Error put into the rules of clamps on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Buckets are a quarter of the range wide, not a fifth.
    BucketWidth,
    /// The first task after idle does not replace the clamps that were left over.
    IdleReset,
    /// The last task's upper clamp is not left over.
    LeftOver,
    /// Groups limit no task.
    GroupLimit,
    /// The system limits no task.
    SystemLimit,
    /// Groups do not limit the groups in them.
    GroupAbove,
    /// Performance targets do not have the clamps.
    Target,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 7] = [
        Fault::BucketWidth,
        Fault::IdleReset,
        Fault::LeftOver,
        Fault::GroupLimit,
        Fault::SystemLimit,
        Fault::GroupAbove,
        Fault::Target,
    ];

    /// Description of the error.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Fault::BucketWidth => "buckets are 256 wide",
            Fault::IdleReset => "clamps left over stay when a task comes",
            Fault::LeftOver => "the last task leaves no upper clamp",
            Fault::GroupLimit => "groups limit no task",
            Fault::SystemLimit => "the system limits no task",
            Fault::GroupAbove => "groups do not limit groups in them",
            Fault::Target => "targets are not clamped",
        }
    }

    /// In the limits of a task.
    pub(super) fn limits(self, limits: &mut UclampLimits) {
        match self {
            Fault::GroupLimit => (limits.group_min, limits.group_max) = (0, UclampLimits::NONE.group_max),
            Fault::SystemLimit => limits.system = UclampLimits::NONE.system,
            _ => {}
        }
    }

    /// In a CPU to which a task comes.
    pub(super) fn before(self, clamps: &mut UclampRq) {
        if self == Fault::IdleReset {
            clamps.idle = 0;
        }
    }

    /// In a CPU that a task left.
    pub(super) fn left_over(self, clamps: &mut UclampRq) {
        if self == Fault::LeftOver && clamps.idle != 0 {
            clamps.value[1] = UclampLimits::NONE.system[1];
        }
    }

    /// In the buckets of a task.
    pub(super) fn buckets(self, task: &mut UclampTask) {
        if self == Fault::BucketWidth {
            task.bucket = task.value.map(|value| (value / 256).min(4));
        }
    }

    /// In the clamps of the group above.
    pub(super) fn above(self, above: &mut (u32, u32)) {
        if self == Fault::GroupAbove {
            *above = pelton_core::UCLAMP_ROOT;
        }
    }

    /// In what a target reads.
    pub(super) fn target(self, state: &mut CpuState) {
        if self == Fault::Target {
            (state.uclamp_min, state.uclamp_max) = (0, UclampLimits::NONE.system[1]);
        }
    }
}
