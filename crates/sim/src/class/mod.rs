// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling classes: queues and picking rules. No PELT, no frequency: those are called by `sched` around these.

pub(crate) mod deadline;
pub(crate) mod fair;
pub(crate) mod levels;
pub(crate) mod pick;
pub(crate) mod realtime;
pub(crate) mod runnable;
pub(crate) mod tree;
pub(crate) mod worker;

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

/// Weight of a task under SCHED_IDLE.
pub const IDLE_WEIGHT: u64 = 3;
/// Weights of the nice values -20 to 19 (docs/spec/fair.md), scaled down: nice 0 = 1024.
pub const NICE_WEIGHTS: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501,
    1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];

/// Level of a policy in the core's tables of weights, where it has one.
pub(crate) fn weight_level(policy: SchedPolicy) -> Option<u32> {
    match policy {
        SchedPolicy::Normal { nice, .. } | SchedPolicy::Batch { nice } => {
            Some((i32::from(nice) + 20).clamp(0, 39) as u32)
        }
        SchedPolicy::Idle => Some(NICE_WEIGHTS.len() as u32),
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
        let weights = NICE_WEIGHTS.into_iter().chain([IDLE_WEIGHT]);
        assert!(weights.eq((0..=40).map(|level| u64::from(fair::task_weight(level)))));
        assert_eq!(weight_level(SchedPolicy::Normal { nice: 0, slice_ns: 0 }), Some(20));
        assert_eq!(weight_level(SchedPolicy::Batch { nice: 19 }), Some(39));
        assert_eq!(weight_level(SchedPolicy::Idle), Some(40));
        assert!(Class::of(SchedPolicy::Fifo { priority: 1 }) < Class::of(SchedPolicy::Idle));
    }
}
