// SPDX-License-Identifier: GPL-2.0-only
//! Which CPU a waking or new task goes to. Of fair tasks the core decides (`placing`). A running one that may no longer
//! stay where it is, and new tasks of other classes, go where a simple form says: wake affine, then an idle CPU near
//! the target; the least loaded CPU.

use pelton_core::{Wake, value, wf};
use pelton_schema::Sink;

use crate::class::Class;
use crate::hw::power::Power;
use crate::state::Engine;

impl<S: Sink> Engine<'_, S> {
    /// CPU for a task that wakes.
    pub(crate) fn select_wake(&mut self, t: u32, exec: u32, sync: bool) -> u32 {
        if !self.tasks[t as usize].is_fair() {
            return self.select_cpu(t, exec, sync);
        }
        self.fade_all_for_reader();
        if let Some(cpu) = self.place_idle(t, exec, sync) {
            return cpu;
        }
        self.place_fair(t, exec, wf::TTWU | if sync { wf::SYNC } else { 0 })
    }

    /// CPU for a new task: its parent's CPU, or the first one, executes the placement.
    pub(crate) fn select_new(&mut self, t: u32) -> u32 {
        let fair = self.tasks[t as usize].is_fair();
        let parent_cpu = self.tasks[t as usize].sched.forked_on.unwrap_or(0);
        if fair && let Some(cpu) = self.place_idle(t, parent_cpu, false) {
            return cpu;
        }
        if !fair {
            return self.select_fork(t);
        }
        self.tasks[t as usize].cpu = parent_cpu;
        self.place_fair(t, parent_cpu, wf::FORK)
    }

    /// CPU for the running task `t` of CPU `c`, which loads another program: only the fair class looks for one
    /// (select_task_rq_rt and select_task_rq_dl leave such a task where it is).
    pub(crate) fn select_exec(&mut self, t: u32, c: u32) -> u32 {
        if !self.tasks[t as usize].is_fair() {
            return c;
        }
        self.fade_all_for_reader();
        self.place_fair(t, c, wf::EXEC)
    }

    /// The task that runs loads its program on CPU `target`: it goes there when its CPU reschedules.
    pub(crate) fn takes_program(&mut self, t: u32, target: u32) {
        let task = &mut self.tasks[t as usize];
        (task.sched.pulled_to, task.sched.loads_program) = (Some(target), true);
    }

    /// The worker stays where it last ran unless another deadline task runs there.
    pub(super) fn select_worker(&self, t: u32) -> u32 {
        let prev = self.allowed_or_first(t, self.tasks[t as usize].cpu);
        let busy = |c: u32| matches!(self.cpus[c as usize].running, Some(Class::Deadline | Class::Worker));
        if !busy(prev) {
            return prev;
        }
        self.tasks[t as usize].allowed().iter().find(|&c| !busy(c)).unwrap_or(prev)
    }

    /// CPU for a fair task that has to leave the one it runs on.
    pub(super) fn select_fair(&self, t: u32, exec: u32, sync: bool) -> u32 {
        let prev = self.allowed_or_first(t, self.tasks[t as usize].cpu);
        if self.tasks[t as usize].allowed().len() == 1 {
            return prev;
        }
        let target = self.wake_affine(t, exec, prev, sync);
        self.select_idle_sibling(t, prev, target)
    }

    /// Pull the task to the waker's CPU, or leave it where it was?
    fn wake_affine(&self, t: u32, exec: u32, prev: u32, sync: bool) -> u32 {
        if exec == prev || !self.tasks[t as usize].may_run_on(exec) || self.wakes_wide(t, exec) {
            return prev;
        }
        let (this, last) = (&self.cpus[exec as usize], &self.cpus[prev as usize]);
        let wake = Wake {
            this_load: self.wake_load(exec),
            prev_load: self.wake_load(prev),
            task_load: self.tasks[t as usize].se.avg.load_avg,
            waker_load: self.curr_load(exec),
            this_capacity: self.m.cpus[exec as usize].capacity,
            prev_capacity: self.m.cpus[prev as usize].capacity,
            siblings: self.m.cpus[exec as usize].smt.contains(&prev).into(),
            sync: sync.into(),
            this_idle: (!self.searches(exec) && this.is_idle() && self.same_llc(exec, prev)).into(),
            prev_idle: (!self.searches(prev) && last.is_idle()).into(),
            this_running: this.nr_runnable(),
            far: (!self.same_llc(exec, prev)).into(),
        };
        let wake = self.wake_with_groups(wake, t, exec, prev);
        if pelton_core::wake_affine(self.policy, &wake) { exec } else { prev }
    }

    /// Load of the running task.
    fn curr_load(&self, c: u32) -> u64 {
        self.tasks.get(self.cpus[c as usize].curr as usize).map_or(0, |t| t.se.avg.load_avg)
    }

    /// A waker with many wakees should not pull them all to itself.
    fn wakes_wide(&self, t: u32, exec: u32) -> bool {
        let Some(waker) = self.tasks.get(self.cpus[exec as usize].curr as usize) else { return false };
        pelton_core::wake_wide(
            waker.sched.wakee_flips,
            self.tasks[t as usize].sched.wakee_flips,
            self.llc(exec).len() as u32,
        )
    }

    fn usable(&self, t: u32, c: u32) -> bool {
        self.tasks[t as usize].may_run_on(c) && self.cpus[c as usize].is_idle() && !self.searches(c)
    }

    fn fits(&self, t: u32, c: u32) -> bool {
        let capacity = self.cpus[c as usize].rq.cap_orig;
        pelton_core::fits(self.policy, self.tasks[t as usize].se.task_util_est(self.policy), capacity, capacity)
    }

    fn select_idle_sibling(&self, t: u32, prev: u32, target: u32) -> u32 {
        let recent = self.policy.idle_search != value::IDLE_SEARCH_ALL;
        let recent = if recent { self.tasks[t as usize].sched.recent_cpu } else { prev };
        for c in [target, prev, recent] {
            let near = c == target || self.same_llc(c, target);
            if near && self.usable(t, c) && (!self.sched.asymmetric || self.fits(t, c)) {
                return c;
            }
        }
        if self.sched.asymmetric { self.select_idle_capacity(t, target) } else { self.scan_llc(t, target) }
    }

    /// First idle CPU of the target's cache group, whole cores first.
    fn scan_llc(&self, t: u32, target: u32) -> u32 {
        let near =
            [&self.sched.llc_sets[self.sched.llc_of[target as usize] as usize], self.tasks[t as usize].allowed()];
        let near = || self.sched.idle_cpus.ring_with(near, target).filter(|&c| self.usable(t, c));
        let whole_core = |c: u32| self.m.cpus[c as usize].smt.iter().all(|&s| self.cpus[s as usize].is_idle());
        near().find(|&c| whole_core(c)).or_else(|| near().next()).unwrap_or(target)
    }

    /// Idle CPU on which the task fits; else the idle one with the most capacity.
    fn select_idle_capacity(&self, t: u32, target: u32) -> u32 {
        let capacity = |c: u32| self.m.cpus[c as usize].capacity;
        let allowed = self.tasks[t as usize].allowed();
        let idle = || self.sched.idle_cpus.ring_with([allowed, allowed], target).filter(|&c| self.usable(t, c));
        if let Some(c) = idle().find(|&c| self.fits(t, c)) {
            return c;
        }
        idle()
            .fold(
                None,
                |best: Option<u32>, c| if best.is_none_or(|b| capacity(c) > capacity(b)) { Some(c) } else { best },
            )
            .unwrap_or(target)
    }

    /// CPU for a new task of another class.
    pub(crate) fn select_fork(&self, t: u32) -> u32 {
        let allowed = self.tasks[t as usize].allowed().iter();
        let target = if pelton_core::wake_reads_runnable(self.policy) {
            allowed.min_by_key(|&c| self.fork_rank_by_load(c))
        } else {
            allowed.min_by_key(|&c| self.fork_rank(c))
        };
        target.unwrap_or(0)
    }

    /// The shallowest idle CPU, else the least loaded.
    fn fork_rank(&self, c: u32) -> impl Ord + use<S> {
        let cpu = &self.cpus[c as usize];
        let busy = u64::from(cpu.nr_runnable());
        (busy, if busy == 0 { 0 } else { cpu.rq.cfs.avg.load_avg }, self.idle_rank(c), c)
    }

    /// The core with the least runnable load, and among those that are alike the one on which the least sleeps; then
    /// the thread in the same way. Tasks that were started and sleep again do not attract more.
    fn fork_rank_by_load(&self, c: u32) -> impl Ord + use<S> {
        let threads = &self.m.cpus[c as usize].smt;
        let core: &[u32] = if threads.is_empty() { std::slice::from_ref(&c) } else { threads };
        let sum = |load: &dyn Fn(u32) -> u64| core.iter().map(|&c| load(c)).sum::<u64>();
        let runnable = |c: u32| self.wake_load(c);
        let average = |c: u32| self.cpus[c as usize].rq.cfs.avg.load_avg;
        (sum(&runnable), sum(&average), runnable(c), average(c), self.idle_rank(c), c)
    }

    /// How far a CPU is from executing.
    fn idle_rank(&self, c: u32) -> u32 {
        match self.cpus[c as usize].power() {
            Power::Awake => 0,
            Power::Exiting { .. } => 1,
            Power::Idle { state } => 2 + state,
        }
    }

    /// Remembers how often a waker changes its wakee (decays once per second).
    pub(crate) fn record_wakee(&mut self, waker: u32, wakee: u32) {
        let now = self.now;
        let Some(task) = self.tasks.get_mut(waker as usize) else { return };
        if now > task.sched.flips_decay_ns + 1_000_000_000 {
            task.sched.wakee_flips >>= 1;
            task.sched.flips_decay_ns = now;
        }
        if task.sched.last_wakee != wakee {
            task.sched.last_wakee = wakee;
            task.sched.wakee_flips += 1;
        }
    }
}
