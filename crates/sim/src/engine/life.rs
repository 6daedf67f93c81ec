// SPDX-License-Identifier: GPL-2.0-or-later
//! Facts about a task that every room reads: its stage of life, its scheduling policy, and its allowed CPUs. They
//! change by the verbs here alone.

use pelton_model::workload::{CpuSet, SchedPolicy};

use crate::class::{Class, kernel_prio};
use crate::state::Task;

/// Stages of a task's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Life {
    /// Does not exist yet.
    #[default]
    Unborn,
    /// On a runqueue or running.
    Runnable,
    /// Waiting for something.
    Sleeping,
    /// Woken, and not yet enqueued by the CPU that gets it (`TASK_WAKING`).
    Waking,
    /// Ended.
    Dead,
}

/// Origin of a task's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Task `spec` of the workload.
    Program {
        /// Index into `Workload::tasks`.
        spec: u32,
    },
    /// The governor's worker thread of a domain.
    Worker {
        /// Domain.
        domain: u32,
    },
}

/// Its life and its attributes.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Being {
    life: Life,
    class: Class,
    prio: u32,
    allowed: CpuSet,
    policy: SchedPolicy,
    /// Clamps it asks for; `None` = those of its class.
    clamps: Option<(u32, u32)>,
}

impl Being {
    /// Of a task that does not exist yet.
    pub(crate) fn new(policy: SchedPolicy, allowed: CpuSet) -> Being {
        let (class, prio) = (Class::of(policy), kernel_prio(policy));
        Being { life: Life::Unborn, class, prio, allowed, policy, clamps: None }
    }
}

impl Task {
    /// Tid in events (0 is the idle task).
    pub(crate) fn tid(index: u32) -> u32 {
        index.wrapping_add(1)
    }

    #[inline]
    pub(crate) fn life(&self) -> Life {
        self.being.life
    }

    #[inline]
    pub(crate) fn is_runnable(&self) -> bool {
        self.being.life == Life::Runnable
    }

    #[inline]
    pub(crate) fn is_dead(&self) -> bool {
        self.being.life == Life::Dead
    }

    /// Awake from now on: it starts, or what it waited for came.
    #[inline]
    pub(crate) fn rises(&mut self) {
        self.being.life = Life::Runnable;
    }

    /// Woken; another CPU will enqueue it.
    #[inline]
    pub(crate) fn is_on_wake_list(&mut self) {
        self.being.life = Life::Waking;
    }

    /// Waits from now on.
    #[inline]
    pub(crate) fn rests(&mut self) {
        self.being.life = Life::Sleeping;
    }

    /// Ends the task.
    pub(crate) fn dies(&mut self) {
        self.being.life = Life::Dead;
    }

    /// Returns the task to the time before its start.
    pub(crate) fn is_yet_to_start(&mut self) {
        self.being.life = Life::Unborn;
    }

    #[inline]
    pub(crate) fn class(&self) -> Class {
        self.being.class
    }

    #[inline]
    pub(crate) fn is_fair(&self) -> bool {
        self.being.class == Class::Fair
    }

    pub(crate) fn prio(&self) -> u32 {
        self.being.prio
    }

    #[inline]
    pub(crate) fn policy(&self) -> SchedPolicy {
        self.being.policy
    }

    /// Scheduled by this policy from now on.
    pub(crate) fn adopts(&mut self, policy: SchedPolicy) {
        self.being.policy = policy;
        self.being.class = Class::of(policy);
        self.being.prio = kernel_prio(policy);
    }

    /// A governor's thread that runs as a special deadline task, whatever its policy says.
    pub(crate) fn goes_first(&mut self) {
        (self.being.class, self.being.prio) = (Class::Worker, pelton_schema::PRIO_DEADLINE);
    }

    #[inline]
    pub(crate) fn may_run_on(&self, c: u32) -> bool {
        self.being.allowed.contains(c)
    }

    /// CPUs that it may run on.
    #[inline]
    pub(crate) fn allowed(&self) -> &CpuSet {
        &self.being.allowed
    }

    /// True if the task may run on other CPUs as well.
    #[inline]
    pub(crate) fn may_move(&self) -> bool {
        self.being.allowed.len() > 1
    }

    /// May run on these CPUs from now on; true when they are others.
    pub(crate) fn is_confined(&mut self, allowed: CpuSet) -> bool {
        std::mem::replace(&mut self.being.allowed, allowed) != self.being.allowed
    }

    /// Clamps it asks for; `None` = those of its class.
    #[inline]
    pub(crate) fn asked_clamps(&self) -> Option<(u32, u32)> {
        self.being.clamps
    }

    /// Asks for these clamps from now on.
    pub(crate) fn asks_clamps(&mut self, clamps: (u32, u32)) {
        self.being.clamps = Some(clamps);
    }
}

#[cfg(test)]
impl Task {
    /// Sets a policy without the changes that go with it: the audit must find that.
    pub(crate) fn spoil_policy(&mut self, policy: SchedPolicy) {
        self.being.policy = policy;
    }
}
