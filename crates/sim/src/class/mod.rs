// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduling classes: queues and picking rules. No PELT, no frequency: those are called by `sched` around these.

pub(crate) mod deadline;
pub(crate) mod fair;
pub(crate) mod levels;
pub(crate) mod pick;
pub(crate) mod realtime;
pub(crate) mod runnable;
pub(crate) mod tree;
pub(crate) mod worker;

use pelton_core::fair::NICE_LEVELS;
use pelton_model::workload::SchedPolicy;

/// Order of the classes; a lower value runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The governor's worker thread where it runs as a special deadline task.
    Worker,
    /// SCHED_DEADLINE.
    Deadline,
    /// SCHED_FIFO and SCHED_RR.
    Realtime,
    /// SCHED_OTHER, SCHED_BATCH, SCHED_IDLE.
    Fair,
}

impl Class {
    /// Class of a policy.
    pub(crate) fn of(policy: SchedPolicy) -> Class {
        match policy {
            SchedPolicy::Deadline { .. } => Class::Deadline,
            SchedPolicy::Fifo { .. } | SchedPolicy::RoundRobin { .. } => Class::Realtime,
            _ => Class::Fair,
        }
    }
}

/// Kernel priority: RT 0..=98 (99 - priority), fair 100..=139, deadline -1 (as `u32`).
pub(crate) fn kernel_prio(policy: SchedPolicy) -> u32 {
    match policy {
        SchedPolicy::Deadline { .. } => pelton_schema::PRIO_DEADLINE,
        SchedPolicy::Fifo { priority } | SchedPolicy::RoundRobin { priority } => 99 - u32::from(priority.min(99)),
        SchedPolicy::Normal { nice, .. } | SchedPolicy::Batch { nice } => {
            (120 + i32::from(nice)).clamp(100, 139) as u32
        }
        SchedPolicy::Idle => 139,
    }
}

/// Level of a policy in the core's tables of weights, where it has one.
pub(crate) fn weight_level(policy: SchedPolicy) -> Option<u32> {
    match policy {
        SchedPolicy::Normal { nice, .. } | SchedPolicy::Batch { nice } => {
            Some((i32::from(nice) + 20).clamp(0, NICE_LEVELS as i32 - 1) as u32)
        }
        SchedPolicy::Idle => Some(NICE_LEVELS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pelton_core::fair;

    use super::*;

    #[test]
    fn priorities_and_weights_are_the_kernels() {
        assert_eq!(kernel_prio(SchedPolicy::Fifo { priority: 99 }), 0);
        assert_eq!(kernel_prio(SchedPolicy::Normal { nice: 0, slice_ns: 0 }), 120);
        let weight = |policy| weight_level(policy).map(|level| fair::task_weight(level));
        assert_eq!(weight(SchedPolicy::Normal { nice: -20, slice_ns: 0 }), Some(88761));
        assert_eq!(weight(SchedPolicy::Normal { nice: 0, slice_ns: 0 }), Some(1024));
        assert_eq!((weight(SchedPolicy::Batch { nice: 19 }), weight(SchedPolicy::Idle)), (Some(15), Some(3)));
        assert_eq!(weight_level(SchedPolicy::Normal { nice: 0, slice_ns: 0 }), Some(20));
        assert_eq!(weight_level(SchedPolicy::Batch { nice: 19 }), Some(39));
        assert_eq!(weight_level(SchedPolicy::Idle), Some(40));
        assert!(Class::of(SchedPolicy::Fifo { priority: 1 }) < Class::of(SchedPolicy::Idle));
    }
}
