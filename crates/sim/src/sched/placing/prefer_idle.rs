// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks of boost groups that prefer idle CPUs: what the core's `prefer_idle.h` reads.

use pelton_core::{IdleCandidate, PreferIdle, boosted};

use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::Engine;

/// Margins of tasks are parts of the scale, whatever the form.
const SCALE: u32 = 1024;

impl<S: Run> Engine<'_, S> {
    /// The CPU for task `t` of such a group, unless no idle CPU has room for it, or the system is over-utilized. A
    /// synchronous waker's CPU comes first.
    pub(crate) fn place_idle(&mut self, t: u32, exec: u32, sync: bool) -> Option<u32> {
        let task = &self.tasks[t as usize];
        if !self.prefers_idle(t) || self.placing.overutilized || task.allowed().len() == 1 {
            return None;
        }
        if sync && task.may_run_on(exec) {
            return Some(exec);
        }
        let boost = self.group_boost(t);
        let util = self.util_at_wake(t);
        let mut search = PreferIdle::new(boost, util, boosted(self.policy.get(), SCALE, util, boost));
        let n = self.cpus.len() as u32;
        let first = self.first_candidate(boost > 0);
        for c in (first..n).chain(0..first).filter(|&c| self.tasks[t as usize].may_run_on(c)) {
            search.look(&self.idle_candidate(c, t, util));
        }
        search.best()
    }

    /// The task's utilization as its queue last stood.
    fn util_at_wake(&self, t: u32) -> u32 {
        let task = &self.tasks[t as usize];
        let (rq, mut se) = (&self.cpus[task.cpu as usize].rq, task.se);
        rq.cfs.sync_blocked(&rq.ctx(self.policy.get(), &rq.cfs), &mut se);
        se.avg.util_avg as u32
    }

    /// CPU at which the search begins: the first of the biggest CPUs, or of the smallest.
    fn first_candidate(&self, biggest: bool) -> u32 {
        let capacities = self.m.cpus.iter().map(|cpu| cpu.capacity);
        let wanted = if biggest { capacities.max() } else { capacities.min() };
        self.m.cpus.iter().position(|cpu| Some(cpu.capacity) == wanted).unwrap_or(0) as u32
    }

    fn idle_candidate(&self, c: u32, t: u32, task_util: u32) -> IdleCandidate {
        let (cpu, task) = (&self.cpus[c as usize], &self.tasks[t as usize]);
        let own = c == task.cpu && task.se.avg.last_update_time_ns != 0;
        let util = cpu.rq.cfs.avg.util_avg as u32;
        let state = if let Power::Idle { state } = cpu.power() { state } else { 0 };
        IdleCandidate {
            cpu: c,
            cap_orig: cpu.rq.cap_orig,
            util: if own { util.saturating_sub(task_util) } else { util },
            idle: (cpu.idle_cpu() && !self.searches(c)).into(),
            state,
            reserved: 0,
        }
    }
}
