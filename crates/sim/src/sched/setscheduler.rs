// SPDX-License-Identifier: GPL-2.0-or-later
//! Real-time limits and changes of class at run time.

use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, Task};
use pelton_model::workload::SchedPolicy;

impl<S: Run> Engine<'_, S> {
    /// The running task changes its policy.
    pub(crate) fn change_policy(&mut self, t: u32, policy: SchedPolicy) {
        if self.tasks[t as usize].policy() == policy {
            return;
        }
        let c = self.tasks[t as usize].cpu;
        self.account(c);
        self.update_clock(c);
        let old = self.tasks[t as usize].class();
        self.switched_from(c, t, old);
        self.count_boost(c, t, false);
        apply_policy(&mut self.tasks[t as usize], policy);
        self.count_boost(c, t, true);
        self.reclass_clamps(c, t);
        self.put_on(c, t, old);
        self.hook_switch(c, Some(old), t);
        self.resched_cpu(c);
    }

    fn put_on(&mut self, c: u32, t: u32, old: Class) {
        let new = self.tasks[t as usize].class();
        if old == Class::Fair && new != Class::Fair {
            self.signal_leave_class(c, t);
            self.tasks[t as usize].fair.leaves_class();
        } else if old == Class::Fair {
            self.signal_reweight(c, t);
        }
        let task = &mut self.tasks[t as usize];
        task.se.weight = task.fair.weight();
        self.cpus[c as usize].running = Some(new);
        self.request_changes(c);
        self.switched_to(c, t, old);
    }
}

/// Derives everything that follows from a policy.
pub(crate) fn apply_policy(task: &mut Task, policy: SchedPolicy) {
    task.adopts(policy);
    task.fair.adopts(policy);
    task.rt.adopts(policy);
    task.dl.adopts(policy);
}
