// SPDX-License-Identifier: GPL-2.0-or-later
//! Caches that tasks prefer (7.2), the host's side of the core's `cache_aware.h`: where processes ran, what their
//! threads prefer and where these are queued.

use pelton_core::{CacheCpu, CacheGroup, CacheTime, NO_CPU, Policy, Record, llc_epoch_ticks, sched_cache_enabled};
use pelton_model::workload::{CpuSet, Process, Workload};

use crate::shape::Run;
use crate::state::Engine;

/// A process.
struct Group {
    kept: CacheGroup,
    /// By CPU.
    times: Vec<CacheTime>,
}

/// Preference of a task, and where it is counted.
#[derive(Clone, Copy)]
struct Thread {
    /// Number of its process; a kernel thread has none.
    group: Option<u32>,
    /// Cache that it prefers, or none.
    prefers: u32,
    /// CPU whose tasks it counts among, or none.
    seat: u32,
    /// True while it is queued in the cache that it prefers.
    home: bool,
    /// True until it next returns to user space, where it looks at all caches.
    asked: bool,
}

const NO_PROCESS: Thread = Thread { group: None, prefers: NO_CPU, seat: NO_CPU, home: false, asked: false };

/// State of caches that tasks prefer; empty where none is preferred.
pub(crate) struct CacheAware {
    enabled: bool,
    period_ticks: u32,
    /// Caches of the machine; nothing else of it is read.
    map: Record,
    cpus: Vec<CacheCpu>,
    groups: Vec<Group>,
    threads: Vec<Thread>,
    /// Of the tasks of each CPU, how many prefer each cache.
    by_llc: Vec<Vec<u32>>,
    /// CPUs with tasks that prefer each cache.
    preferring: Vec<CpuSet>,
    /// Of the runnable tasks of each CPU, how many prefer its cache.
    at_home: Vec<u32>,
}

impl CacheAware {
    pub(crate) fn new(record: &Record, policy: &Policy, w: &Workload, tick_ns: u64) -> CacheAware {
        let enabled = sched_cache_enabled(policy, record);
        let cpus = if enabled { record.nr_cpus as usize } else { 0 };
        let mut own = CacheAware {
            enabled,
            period_ticks: llc_epoch_ticks(tick_ns),
            map: if enabled { record.clone() } else { Record::default() },
            cpus: vec![CacheCpu::default(); cpus],
            groups: Vec::new(),
            threads: Vec::new(),
            by_llc: vec![vec![0; cpus]; cpus],
            preferring: vec![CpuSet::default(); cpus],
            at_home: vec![0; cpus],
        };
        if enabled {
            let shared = |task: &pelton_model::workload::TaskSpec| match task.process {
                Process::Shared(number) => number + 1,
                Process::Own => 0,
            };
            for _ in 0..w.tasks.iter().map(shared).max().unwrap_or(0) {
                own.add_group(0);
            }
        }
        own
    }

    /// True where the counts kept of CPU `c` equal those counted again from its tasks, which are `tasks`.
    fn is_right(&self, c: u32, tasks: &[u32], is_delayed: impl Fn(u32) -> bool) -> bool {
        let mut counts = vec![0; self.cpus.len()];
        let mut at_home = 0;
        let threads = tasks.iter().map(|&t| (t, self.thread(t)));
        for (t, thread) in threads.filter(|(_, thread)| thread.seat == c && thread.prefers != NO_CPU) {
            counts[thread.prefers as usize] += 1;
            at_home += u32::from(thread.prefers == self.llc(c) && !is_delayed(t));
        }
        let preferring = counts.iter().zip(&self.preferring).all(|(&count, cpus)| cpus.contains(c) == (count > 0));
        preferring && counts == self.by_llc[c as usize] && at_home == self.at_home[c as usize]
    }

    /// Facts on task `t` for the balance of CPU `dst`: the cache that it prefers, as it last noted it; a CPU of the one
    /// that its process prefers now; whether the process has too few or too many threads for the cache of `dst`.
    fn prefers(&self, t: u32, dst: u32) -> (u32, u32, bool) {
        let thread = self.thread(t);
        let kept = thread.group.map(|group| self.groups[group as usize].kept);
        let size = self.map.rows()[dst as usize].llc_size;
        let invalid = kept.is_some_and(|kept| kept.invalid_llc_nr(self.map.smt_threads, size));
        (thread.prefers, kept.map_or(NO_CPU, |kept| kept.cpu), invalid)
    }

    /// The process of task `t` forgets its preferred cache.
    fn forget(&mut self, t: u32) {
        if let Some(group) = self.thread(t).group {
            self.groups[group as usize].kept.cpu = NO_CPU;
        }
    }

    fn llc(&self, c: u32) -> u32 {
        self.map.rows()[c as usize].llc
    }

    fn thread(&self, t: u32) -> Thread {
        self.threads.get(t as usize).copied().unwrap_or(NO_PROCESS)
    }

    /// Number of a new process. It begins with the epoch of the last CPU, as in the kernel.
    fn add_group(&mut self, now_ticks: u64) -> u32 {
        let last = self.cpus.last().copied().unwrap_or_default();
        let times = self.cpus.iter().map(|cpu| CacheTime { epoch: cpu.epoch, ..CacheTime::default() }).collect();
        self.groups.push(Group { kept: CacheGroup::new(&last, now_ticks), times });
        self.groups.len() as u32 - 1
    }

    fn add_thread(&mut self, t: u32, process: Process, now_ticks: u64) {
        if self.threads.len() <= t as usize {
            self.threads.resize(t as usize + 1, NO_PROCESS);
        }
        let group = match process {
            Process::Shared(number) => number,
            Process::Own => self.add_group(now_ticks),
        };
        self.groups[group as usize].kept.threads += 1;
        self.threads[t as usize] = Thread { group: Some(group), ..NO_PROCESS };
    }

    /// A task joins those of CPU `c`.
    fn count_in(&mut self, c: u32, t: u32, delayed: bool) {
        let home = self.llc(c);
        let Some(thread) = self.threads.get_mut(t as usize) else { return };
        thread.seat = c;
        if thread.prefers == NO_CPU {
            return;
        }
        thread.home = thread.prefers == home;
        self.at_home[c as usize] += u32::from(thread.home && !delayed);
        let count = &mut self.by_llc[c as usize][thread.prefers as usize];
        *count += 1;
        if *count == 1 {
            self.preferring[thread.prefers as usize].insert(c);
        }
    }

    fn count_out(&mut self, c: u32, t: u32, delayed: bool) {
        let Some(thread) = self.threads.get_mut(t as usize) else { return };
        thread.seat = NO_CPU;
        if thread.prefers == NO_CPU {
            return;
        }
        let home = std::mem::take(&mut thread.home);
        self.at_home[c as usize] -= u32::from(home && !delayed);
        let count = &mut self.by_llc[c as usize][thread.prefers as usize];
        *count -= 1;
        if *count == 0 {
            self.preferring[thread.prefers as usize].remove(c);
        }
    }

    /// Task `t` of CPU `c`, which is at home there, sleeps and stays queued, or is woken.
    fn count_runnable(&mut self, c: u32, t: u32, runnable: bool) {
        if self.thread(t).home {
            let at_home = &mut self.at_home[c as usize];
            *at_home = if runnable { *at_home + 1 } else { *at_home - 1 };
        }
    }

    /// The running task of CPU `c` ran for so long.
    fn account(&mut self, c: u32, t: u32, delta_ns: u64, now_ticks: u64) {
        let Some(number) = self.thread(t).group else { return };
        let group = &mut self.groups[number as usize];
        let times = (&mut self.cpus[c as usize], &mut group.times[c as usize]);
        group.kept.account(&self.map, times, c, delta_ns, (now_ticks, self.period_ticks));
        let llc = group.kept.preferred_llc(&self.map);
        if self.thread(t).seat == c && self.thread(t).prefers != llc {
            self.count_out(c, t, false);
            self.threads[t as usize].prefers = llc;
            self.count_in(c, t, false);
        }
    }

    /// The running task of CPU `c` ticks.
    fn tick(&mut self, c: u32, t: u32) {
        let Some(thread) = self.threads.get_mut(t as usize) else { return };
        if let Some(number) = thread.group {
            thread.asked |= self.groups[number as usize].kept.tick(&self.cpus[c as usize], thread.asked);
        }
    }

    /// Does task `t`, which returns to user space, look at all caches?
    fn takes_look(&mut self, t: u32) -> bool {
        self.threads.get_mut(t as usize).is_some_and(|thread| std::mem::take(&mut thread.asked))
    }

    /// Task `t` looks at all caches, on CPU `c`; `curr`: what runs where. How many CPUs it reads.
    fn look(&mut self, c: u32, t: u32, curr: impl Iterator<Item = u32>, now_ticks: u64) -> u32 {
        let Some(number) = self.thread(t).group else { return 0 };
        for (at, other) in curr.enumerate() {
            self.cpus[at].runs = (self.thread(other).group == Some(number)).into();
        }
        let Group { kept, times } = &mut self.groups[number as usize];
        kept.look(&self.map, (&mut self.cpus, times), c, (now_ticks, self.period_ticks))
    }
}

impl<S: Run> Engine<'_, S> {
    /// Tasks prefer caches on this machine, and balances ask for that.
    #[inline]
    pub(crate) fn has_caches(&self) -> bool {
        self.caches.enabled
    }

    /// CPUs with tasks that prefer the cache of CPU `dst`, and how many of each.
    pub(crate) fn cache_preferring(&self, dst: u32) -> Vec<(u32, u32)> {
        let llc = self.caches.llc(dst) as usize;
        self.caches.preferring[llc].iter().map(|c| (c, self.caches.by_llc[c as usize][llc])).collect()
    }

    /// Of the tasks of CPU `c` those that are runnable and prefer its own cache.
    pub(crate) fn cache_at_home(&self, c: u32) -> u32 {
        self.caches.at_home[c as usize]
    }

    /// Is what is kept of the tasks of CPU `c`, which are these, right?
    pub(crate) fn cache_is_right(&self, c: u32, tasks: &[u32]) -> bool {
        self.caches.is_right(c, tasks, |t| self.tasks[t as usize].fair.is_delayed())
    }

    /// Facts on task `t` for the balance of CPU `dst`; see [`CacheAware::prefers`].
    pub(crate) fn cache_prefers(&self, t: u32, dst: u32) -> (u32, u32, bool) {
        self.caches.prefers(t, dst)
    }

    /// The process of task `t` forgets its preferred cache.
    pub(crate) fn cache_forget(&mut self, t: u32) {
        self.caches.forget(t);
    }

    /// Task `t` starts to exist, as a thread of this process.
    pub(crate) fn cache_thread_starts(&mut self, t: u32, process: Process) {
        if self.caches.enabled {
            let now_ticks = self.now_ticks();
            self.caches.add_thread(t, process, now_ticks);
        }
    }

    /// Task `t` has ended.
    pub(crate) fn cache_thread_ends(&mut self, t: u32) {
        if let Some(group) = self.caches.thread(t).group {
            self.caches.groups[group as usize].kept.threads -= 1;
        }
    }

    /// `account_mm_sched()`: the running fair task of CPU `c` is charged.
    #[inline]
    pub(crate) fn cache_account(&mut self, c: u32, delta_ns: u64) {
        if self.caches.enabled {
            let (t, now_ticks) = (self.cpus[c as usize].curr, self.now_ticks());
            if self.tasks.get(t as usize).is_some_and(|task| task.is_fair()) {
                self.caches.account(c, t, delta_ns, now_ticks);
            }
        }
    }

    /// `account_llc_enqueue()`: task `t` joins those of CPU `c`.
    #[inline]
    pub(crate) fn cache_joins(&mut self, c: u32, t: u32) {
        if self.caches.enabled {
            self.caches.count_in(c, t, self.tasks[t as usize].fair.is_delayed());
        }
    }

    /// `account_llc_dequeue()`: it leaves them.
    #[inline]
    pub(crate) fn cache_leaves(&mut self, c: u32, t: u32) {
        if self.caches.enabled {
            self.caches.count_out(c, t, self.tasks[t as usize].fair.is_delayed());
        }
    }

    /// Task `t` of CPU `c` sleeps and stays queued, or is woken there.
    #[inline]
    pub(crate) fn cache_delays(&mut self, c: u32, t: u32, runnable: bool) {
        if self.caches.enabled {
            self.caches.count_runnable(c, t, runnable);
        }
    }

    /// `task_tick_cache()`.
    pub(crate) fn cache_ticks(&mut self, c: u32, t: u32) {
        if self.caches.enabled {
            self.caches.tick(c, t);
        }
    }

    /// `task_cache_work()`: the running task of CPU `c` returns to user space. What a look takes is not measured: as
    /// much for each CPU as a balance.
    #[inline]
    pub(crate) fn cache_looks(&mut self, c: u32) {
        if self.caches.enabled && !self.cpus[c as usize].resched.is_asked() {
            self.look_at_caches(c);
        }
    }

    fn look_at_caches(&mut self, c: u32) {
        let (t, now_ticks) = (self.cpus[c as usize].curr, self.now_ticks());
        if self.caches.takes_look(t) {
            let read = self.caches.look(c, t, self.cpus.iter().map(|cpu| cpu.curr), now_ticks);
            self.charge_cost(c, self.m.costs.balance_cpu_ns * u64::from(read));
        }
    }
}
