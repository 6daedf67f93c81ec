// SPDX-License-Identifier: GPL-2.0-or-later
//! The tasks that a balance looks at: those of the CPU's list that were put at its head longest ago come first (in 4.12
//! last).

use pelton_core::{LbEnv, LbTask, NR_MIGRATE, balance_idle, fair, lbf};

use crate::kernel_code::readable;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};
use pelton_model::workload::SchedPolicy;

impl<S: Run> Engine<'_, S> {
    /// Moves tasks to CPU `c`, or to another CPU of its group where they may not run on `c`: how many.
    pub(super) fn move_tasks(&mut self, c: u32, env: &mut LbEnv) -> u32 {
        let mut moved = self.detach_tasks(env);
        while env.flags & lbf::DST_PINNED != 0 && self.balancing.lb.imbalance > 0 {
            self.placing.leave_out(env, env.dst_cpu);
            env.dst_cpu = env.new_dst_cpu;
            env.flags &= !lbf::DST_PINNED;
            moved += self.detach_tasks(env);
        }
        env.dst_cpu = c;
        if env.flags & lbf::SOME_PINNED != 0 && self.balancing.lb.imbalance > 0 {
            self.placing.set_group_imbalance(c, env.level as usize, true);
        }
        moved
    }

    fn detach_tasks(&mut self, env: &mut LbEnv) -> u32 {
        let (src, dst) = (env.src_cpu, env.dst_cpu);
        let mut taken = std::mem::take(&mut self.balancing.taken);
        let mut list = std::mem::take(&mut self.balancing.list);
        self.list_of(src, &mut list);
        for &t in &list {
            let left = self.cpus[src as usize].nr_running();
            if self.balancing.lb.imbalance <= 0 || (env.idle != balance_idle::NOT_IDLE && left <= 1) {
                break;
            }
            let task = self.lb_task(t, env);
            // No balance moves a task to where its group is throttled.
            let stays = self.is_throttled_at(dst, t);
            let goes = !stays && self.detach_task(env, &task);
            self.heed_forgotten(t, env);
            if !goes {
                self.tasks[t as usize].sched.list_place = self.balancing.passed_over();
                continue;
            }
            self.detach(t, src, dst);
            taken.push(t);
            if env.idle == balance_idle::NEWLY_IDLE {
                break;
            }
        }
        taken.iter().rev().for_each(|&t| self.attach(t, dst, env.idle == balance_idle::NEWLY_IDLE));
        let moved = taken.len() as u32;
        taken.clear();
        (self.balancing.taken, self.balancing.list) = (taken, list);
        moved
    }

    /// Fair tasks of a CPU, the running one among them, the end of its list first (in 4.12 its head); as many as a
    /// balance looks at.
    pub(super) fn list_of(&self, c: u32, list: &mut Vec<u32>) {
        let cpu = &self.cpus[c as usize];
        list.clear();
        cpu.each_waiting(&mut |t| list.push(t));
        let runs_fair = cpu.curr != NO_TASK && self.tasks[cpu.curr as usize].class() == crate::class::Class::Fair;
        if runs_fair && !list.contains(&cpu.curr) {
            list.push(cpu.curr);
        }
        list.sort_by_key(|&t| self.tasks[t as usize].sched.list_place);
        if self.balancing.newest_first {
            list.reverse();
        }
        list.truncate(cpu.nr_running().min(NR_MIGRATE) as usize);
    }

    pub(super) fn lb_task(&mut self, t: u32, env: &LbEnv) -> LbTask {
        let allowed = self.placing.moved_allowed(self.tasks[t as usize].allowed());
        let task = &self.tasks[t as usize];
        let never = task.sched.last_ran_ns == 0;
        let own = LbTask {
            allowed,
            load: self.task_part(t),
            since_ran_ns: if never { i64::MAX } else { (self.now - task.sched.last_ran_ns) as i64 },
            util_est: task.se.task_util_est(self.policy.get()),
            running: (self.cpus[env.src_cpu as usize].curr == t).into(),
            bound: 0,
            sched_idle: matches!(task.policy(), SchedPolicy::Idle).into(),
            delayed: task.fair.is_delayed().into(),
            ineligible: self.is_ineligible(t, env).into(),
            next_buddy: 0,
            fits_src: self.fits_cpu(t, env.src_cpu).into(),
            ..LbTask::default()
        };
        self.add_preference(t, env, own)
    }

    /// Would the task have to wait for others of its queue, there and on the other CPU?
    fn is_ineligible(&self, t: u32, env: &LbEnv) -> bool {
        let (src, dst) = (&self.cpus[env.src_cpu as usize], &self.cpus[env.dst_cpu as usize]);
        let group = self.tasks[t as usize].group;
        let own = |cpu: &crate::state::CpuState| cpu.levels.slot(group);
        let waits = own(dst).is_some_and(|slot| dst.queue_at(slot).nr_queued() > 0);
        if self.fair_rules.is_cfs() || !waits {
            return false;
        }
        let Some(slot) = own(src) else { return false };
        let queue = src.queue_at(slot);
        let curr = src.running_at(&self.tasks, slot);
        fair::entity_eligible(self.policy.get(), &queue.rq, curr.as_ref(), self.tasks[t as usize].fair.se()) == 0
    }

    /// Is CPU `c` big enough for the task?
    pub(super) fn fits_cpu(&mut self, t: u32, c: u32) -> bool {
        let (min, max) = if self.uses.clamped { self.clamps_of(t) } else { (0, 1024) };
        let util = self.tasks[t as usize].se.task_util_est(self.policy.get());
        let core = self.placing.record().util_fits_cpu(self.policy.get(), util, min, max, c);
        let fits = match (self.kernel.as_mut(), readable(self.placing.record())) {
            (Some(kernel), Some(s)) => kernel.util_fits_cpu(self.now, s, util, (min, max), c, core),
            _ => core,
        };
        fits > 0
    }

    pub(super) fn detach(&mut self, t: u32, from: u32, to: u32) {
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.vote_usage(from);
        self.set_task_cpu(t, to);
    }

    pub(super) fn attach(&mut self, t: u32, to: u32, newly_idle: bool) {
        let waiting_since_ns = self.tasks[t as usize].sched.waiting_since_ns;
        self.enqueue(to, t, false);
        self.vote_usage(to);
        self.tasks[t as usize].sched.waiting_since_ns = waiting_since_ns;
        if !newly_idle {
            self.check_preempt(to, t);
        }
    }
}
