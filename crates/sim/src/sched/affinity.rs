// SPDX-License-Identifier: GPL-2.0-or-later
//! A change of the CPUs that a running task may use (`__set_cpus_allowed_ptr()`).

use pelton_core::affinity_rank;
use pelton_model::workload::CpuSet;

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Confines task `t`, which the executing CPU runs. Where it would go is chosen with each change, so that the next
    /// choice of that CPU goes on behind it; it goes there when its CPU is not among the allowed ones. True when they
    /// are others than before.
    pub(crate) fn set_cpus_allowed(&mut self, t: u32, allowed: CpuSet) -> bool {
        if !self.tasks[t as usize].is_confined(allowed) {
            return false;
        }
        let found = self.any_allowed(t);
        self.placing.last_found[self.exec as usize] = found;
        self.tasks[t as usize].sched.affine_to = Some(found);
        true
    }

    fn any_allowed(&self, t: u32) -> u32 {
        let prev = self.placing.last_found[self.exec as usize];
        let rank = |&c: &u32| affinity_rank(self.policy.get(), c, prev);
        self.tasks[t as usize].allowed().iter().min_by_key(rank).unwrap_or(0)
    }

    /// The running task of CPU `c` may no longer run here: it moves while runnable.
    pub(crate) fn push_away(&mut self, c: u32, t: u32) {
        self.leave_queue(c, t);
        let chosen = self.tasks[t as usize].sched.affine_to.take();
        let target = chosen.filter(|&to| self.tasks[t as usize].may_run_on(to));
        self.put_elsewhere(t, target.unwrap_or_else(|| self.any_allowed(t)));
    }
}
