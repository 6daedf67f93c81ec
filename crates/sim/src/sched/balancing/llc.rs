// SPDX-License-Identifier: GPL-2.0-or-later
//! Caches that tasks prefer (7.2), as balances see them.

use pelton_core::{LbEnv, LbTask, NO_CPU, PLACE_CPUS_MAX, lbf};

use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

impl<S: Run> Engine<'_, S> {
    /// Tasks that prefer the cache of CPU `c`, by their CPUs.
    pub(super) fn fill_preferences(&mut self, c: u32) {
        if !self.has_caches() {
            return;
        }
        let cpus = self.cache_preferring(c);
        self.placing.set_preferences(c, cpus);
        // Not of large machines, lest what is counted there grow with them.
        if cfg!(debug_assertions) && self.cpus.len() <= PLACE_CPUS_MAX {
            // Tasks of a queue that is cut off stay counted, and are not found from the root.
            let is_whole = |o: &u32| !self.cpus[*o as usize].levels.cuts_off_a_queue();
            for o in (0..self.cpus.len() as u32).filter(is_whole) {
                debug_assert!(self.cache_is_right(o, &self.fair_tasks(o)), "kept preferences of CPU {o}");
            }
        }
    }

    /// The fair tasks of CPU `c`, the running one with them.
    fn fair_tasks(&self, c: u32) -> Vec<u32> {
        let cpu = &self.cpus[c as usize];
        let mut all: Vec<u32> = (cpu.runs(Class::Fair)).then_some(cpu.curr).into_iter().collect();
        cpu.each_waiting(&mut |t| all.push(t));
        all
    }

    /// Keeps the sums over caches that a search for the busiest group made.
    pub(super) fn keep_llc_stats(&mut self, env: &LbEnv) {
        if self.has_caches() {
            self.placing.keep_llc_stats(self.policy.get(), env);
        }
    }

    /// Adds to `task` the properties of task `t` that count where caches are preferred.
    pub(super) fn add_preference(&mut self, t: u32, env: &LbEnv, task: LbTask) -> LbTask {
        if !self.has_caches() {
            return LbTask { preferred_llc: NO_CPU, preferred_cpu: NO_CPU, ..task };
        }
        let (preferred_llc, preferred_cpu, invalid) = self.cache_prefers(t, env.dst_cpu);
        LbTask {
            fits_dst: self.fits_cpu(t, env.dst_cpu).into(),
            util: self.tasks[t as usize].se.avg.util_avg as u32,
            preferred_llc,
            preferred_cpu,
            invalid_llc_nr: invalid.into(),
            ..task
        }
    }

    /// The decision about task `t` said that its process has too many threads for a cache.
    pub(super) fn heed_forgotten(&mut self, t: u32, env: &mut LbEnv) {
        if env.flags & lbf::LLC_FORGET != 0 {
            env.flags &= !lbf::LLC_FORGET;
            self.cache_forget(t);
        }
    }

    /// Fills the properties of the running task that an active balance reads.
    pub(super) fn fill_curr(&mut self, env: &mut LbEnv) {
        let curr = self.cpus[env.src_cpu as usize].curr;
        if !self.has_caches() {
            return;
        }
        self.placing.set_at_home(env.src_cpu, self.cache_at_home(env.src_cpu));
        if curr == NO_TASK {
            return;
        }
        let task = &self.tasks[curr as usize];
        env.curr_util = if task.is_fair() { task.se.avg.util_avg as u32 } else { 0 };
        env.curr_misfits = (self.fits_cpu(curr, env.src_cpu) && !self.fits_cpu(curr, env.dst_cpu)).into();
    }
}
