// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of fair tasks: the host's side of the core's `select.h`. Fills the record that a decision reads, keeps
//! what the kernel keeps between decisions, and moves tasks that have become too big for their CPU.

mod domains;
mod misfit;
mod prefer_idle;
mod snapshot;
mod sums;

use sums::GroupSums;

use pelton_core::{Held, Lb, LbEnv, NO_CPU, Placed, Policy, Record, SchedDomain, update_scan_cost, wf};

use crate::kernel_code::readable;
use crate::shape::Run;
use crate::state::{Engine, Task};
use pelton_model::machine::Machine;
use pelton_model::workload::{CpuSet, Workload};

/// State of placement.
pub(crate) struct Placing {
    /// Record that decisions read; the machine's part is filled once.
    record: Record,
    placed: Box<Placed>,
    /// CPU of the task that was placed last.
    marked: u32,
    /// All CPUs.
    all: u64,
    /// Sums of groups of domains.
    sums: GroupSums,
    /// CPUs with tasks that prefer the cache of the CPU that balanced last, and how many of each.
    preferring: Vec<(u32, u32)>,
    /// Pinned tasks keep some group out of balance.
    group_imbalance: bool,
    /// CPUs of whose capacity others took a part that is noticed in their smallest domain.
    reduced: CpuSet,
    /// A load of `misfit` is another than in the record.
    misfit_changed: bool,
    /// Groups of CPUs are compared by their loads, with and without sleeping tasks.
    by_load: bool,
    /// Load is that of runnable tasks, not the average of the queue.
    pub by_runnable: bool,
    /// Tasks are placed by energy while nothing is over-utilized.
    pub by_energy: bool,
    /// Some CPU had more to do than it could when that was last looked at.
    pub overutilized: bool,
    /// Since when.
    pub overutilized_since_ns: u64,
    /// Until then, ns in all.
    overutilized_ns: u64,
    /// Load of the running task of each CPU, when it waits for a bigger one; else 0.
    misfit: Vec<u64>,
    /// CPU at which the last search of each CPU for a real-time or deadline task ended, where searches go on behind it.
    pub last_found: Vec<u32>,
    /// Mean time that each CPU's searches for an idle one take (`avg_scan_cost`).
    scan_cost_ns: Vec<u64>,
}

impl Placing {
    pub(crate) fn new(m: &Machine, w: &Workload, policy: &Policy) -> Placing {
        let mut record = domains::record(m, policy);
        let all = record.span_of(CpuSet::first(record.nr_cpus).words());
        record.groups_limited = crate::rq::clamps::limit_groups(w, policy).into();
        Placing {
            by_load: pelton_core::dst_group_by_load(policy),
            by_runnable: pelton_core::wake_reads_runnable(policy),
            by_energy: record.energy_aware != 0,
            overutilized: false,
            overutilized_since_ns: 0,
            overutilized_ns: 0,
            misfit: vec![0; m.cpus.len()],
            last_found: vec![0; m.cpus.len()],
            scan_cost_ns: vec![0; m.cpus.len()],
            all,
            marked: 0,
            sums: GroupSums::new(&record),
            preferring: Vec::new(),
            group_imbalance: false,
            reduced: CpuSet::of((0..record.nr_cpus).filter(|&c| {
                let row = &record.rows()[c as usize];
                row.is_reduced(row.domains[0].imbalance_pct)
            })),
            misfit_changed: true,
            record,
            placed: Box::default(),
        }
    }

    /// Nothing is moved for the sake of balance: energy decides where tasks run.
    pub(crate) fn holds_balance(&self) -> bool {
        self.by_energy && !self.overutilized
    }

    /// Record that decisions read.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Domain `level` of CPU `c`.
    pub(crate) fn domain(&self, c: u32, level: usize) -> &SchedDomain {
        &self.record.rows()[c as usize].domains[level]
    }

    /// Number of CPUs of domain `level` of CPU `c`.
    pub(crate) fn domain_weight(&self, c: u32, level: usize) -> u32 {
        self.record.span_weight(self.domain(c, level).span)
    }

    /// No CPU of `span` but `except` is one of `crowded`, none has lost capacity there, and no group was ever kept out
    /// of balance.
    #[inline]
    pub(crate) fn is_calm(&self, span: u64, crowded: &CpuSet, except: Option<u32>) -> bool {
        let word = |set: &CpuSet, at: usize| set.words().get(at).copied().unwrap_or(0);
        let own = |at: usize| except.filter(|&c| c as usize / 64 == at).map_or(0, |c| 1u64 << (c % 64));
        let disturbs = |at: usize| word(crowded, at) & !own(at) | word(&self.reduced, at);
        let calm = |at: usize| self.record.span_word(span, at) & disturbs(at) == 0;
        !self.group_imbalance && self.record.span_words(span).all(calm)
    }

    /// A balance does not consider CPU `c` any more.
    pub(crate) fn leave_out(&mut self, env: &mut LbEnv, c: u32) {
        env.cpus = self.record.leave_out(env.cpus, c);
    }

    /// The CPUs that a task may use which a balance looks at.
    pub(crate) fn moved_allowed(&mut self, allowed: &CpuSet) -> u64 {
        self.record.hold(Held::Moved, allowed.words())
    }

    /// Load of the running task of CPU `c` when it waits for a bigger one, else 0.
    pub(crate) fn misfit_load(&self, c: u32) -> u64 {
        self.misfit[c as usize]
    }

    /// CPU `c` goes idle: nothing on it waits for a bigger one.
    pub(crate) fn forget_misfit(&mut self, c: u32) {
        self.set_misfit(c, 0);
    }

    fn set_misfit(&mut self, c: u32, load: u64) {
        let before = std::mem::replace(&mut self.misfit[c as usize], load);
        self.misfit_changed |= before != load;
    }

    /// Capacity that is left for the fair class on CPU `c`; the sums of its groups follow.
    fn set_capacity(&mut self, policy: &Policy, c: u32, capacity: u32) {
        let own = &mut self.record.rows_mut()[c as usize].capacity;
        let before = std::mem::replace(own, capacity);
        if before != capacity {
            let row = &self.record.rows()[c as usize];
            self.reduced.set(c, row.is_reduced(row.domains[0].imbalance_pct));
        }
        self.sums.follow(policy, &mut self.record, c, before);
    }

    /// Others took a noticeable part of the capacity of CPU `c`.
    pub(crate) fn is_reduced(&self, c: u32, imbalance_pct: u32) -> bool {
        self.record.rows()[c as usize].is_reduced(imbalance_pct)
    }

    /// The row of CPU `c`, which is about to go idle, says that it has no task any more.
    pub(crate) fn empty_row(&mut self, policy: &Policy, c: u32) {
        let own = &mut self.record.rows_mut()[c as usize];
        (own.nr_running, own.h_nr_queued, own.h_nr_runnable) = (0, 0, 0);
        self.record.follow(policy, c);
    }

    /// Fills the part of the record that a balance for domain `level` of CPU `c` reads beside the CPUs.
    pub(crate) fn fill_balance(&mut self, policy: &Policy, (c, level): (u32, u32), clamped: bool) {
        if std::mem::take(&mut self.misfit_changed) {
            for (out, &load) in self.record.rows_mut().iter_mut().zip(&self.misfit) {
                out.misfit_load = load.min(u64::from(u32::MAX)) as u32;
            }
        }
        self.record.overutilized = self.overutilized.into();
        self.record.uclamp_used = clamped.into();
        self.record.rank_groups(policy, c, level);
    }

    /// Asserts that a search among many CPUs finds by kept sums what it finds when it reads all of them.
    pub(crate) fn assert_kept(&mut self, policy: &Policy, env: &LbEnv, found: &Lb) {
        if self.record.narrow().is_some() || !self.record.keeps_ranks(env.cpus) {
            return;
        }
        let read = LbEnv { cpus: self.record.hold_span(Held::Considered, env.cpus), ..*env };
        let mut again = Lb::default();
        read.find_src_group(policy, &self.record, &mut again);
        // Over-utilized CPUs count only where energy decides, and what was looked at last is not read.
        (again.overutilized, again.group) = (found.overutilized, found.group);
        (again.local.overutilized, again.busiest.overutilized) = (found.local.overutilized, found.busiest.overutilized);
        debug_assert_eq!(&again, found, "kept sums of groups, domain {} of CPU {}", env.level, env.dst_cpu);
    }

    /// Tasks of CPUs prefer the cache of CPU `dst`, which balances: the CPUs, and how many of each.
    pub(crate) fn set_preferences(&mut self, dst: u32, cpus: Vec<(u32, u32)>) {
        if self.preferring.is_empty() && cpus.is_empty() {
            return;
        }
        let rows = self.record.rows_mut();
        self.preferring.iter().for_each(|&(c, _)| rows[c as usize].nr_pref_dst_llc = 0);
        cpus.iter().for_each(|&(c, count)| rows[c as usize].nr_pref_dst_llc = count);
        if self.record.narrow().is_none() {
            self.record.set_preferring(dst, CpuSet::of(cpus.iter().map(|&(c, _)| c)).words());
        }
        self.preferring = cpus;
    }

    /// Sets the number of tasks of CPU `c` that are where they prefer to be.
    pub(crate) fn set_at_home(&mut self, c: u32, count: u32) {
        self.record.rows_mut()[c as usize].nr_pref_llc_running = count;
    }

    /// Keeps the sums of caches that a search for the busiest group made.
    pub(crate) fn keep_llc_stats(&mut self, policy: &Policy, env: &LbEnv) {
        self.record.record_llc_stats(policy, env);
    }

    /// Sets whether pinned tasks keep domain `level` of CPU `c` out of balance, as the next larger domain sees it.
    pub(crate) fn set_group_imbalance(&mut self, c: u32, level: usize, imbalanced: bool) {
        // Once some group was, all are asked.
        self.group_imbalance |= imbalanced;
        if !self.group_imbalance {
            return;
        }
        let own = &self.record.rows()[c as usize];
        if level + 1 >= own.nr_domains as usize {
            return;
        }
        let (group, above) = (own.domains[level].span, own.domains[level + 1].span);
        sums::set_imbalance(&mut self.record, group, above, imbalanced.into());
    }

    /// A search found no idle core near a CPU, or a core there went idle.
    fn note_idle_cores(&mut self, cpu: u32, any: bool) {
        let (llc, cpus) = (self.record.rows()[cpu as usize].llc, self.record.nr_cpus as usize);
        self.record.rows_mut()[..cpus].iter_mut().filter(|c| c.llc == llc).for_each(|c| c.has_idle_cores = any.into());
    }
}

impl<S: Run> Engine<'_, S> {
    /// The CPU for a fair task that wakes, is new or loads a program (`flags`: bits of `pelton_core::wf`); `exec`
    /// executes the placement.
    pub(crate) fn place_fair(&mut self, t: u32, exec: u32, flags: u32) -> u32 {
        let prev = self.tasks[t as usize].cpu;
        if self.tasks[t as usize].allowed().len() == 1 {
            return self.allowed_or_first(t, prev);
        }
        self.fill_placement(t, exec, flags);
        let placing = &mut self.placing;
        let core = placing.record.select(self.policy.get(), &mut placing.placed);
        let target = match (self.kernel.as_mut(), readable(&placing.record)) {
            (Some(kernel), Some(s)) => kernel.select(self.now, Task::tid(t), s, &mut placing.placed, core),
            _ => core,
        };
        if placing.holds_balance() && flags & wf::EXEC == 0 {
            self.charge_cost(exec, self.m.costs.place_energy_ns);
        }
        self.charge_scan(exec);
        let placing = &mut self.placing;
        if S::PLACEMENTS {
            self.sink.placement(self.now, Task::tid(t), &placing.record, &placing.placed);
        }
        let cleared = placing.placed.no_idle_core;
        if cleared != NO_CPU {
            placing.note_idle_cores(cleared, false);
        }
        if self.placing.placed.waker_recent != 0
            && let Some(waker) = self.tasks.get_mut(self.cpus[exec as usize].curr as usize)
        {
            waker.sched.recent_cpu = exec;
        }
        let task = &mut self.tasks[t as usize];
        task.se = self.placing.placed.se;
        task.clamp_sum.value = self.placing.placed.uclamp_value;
        task.sched.recent_cpu = self.placing.placed.recent_cpu;
        self.allowed_or_first(t, target)
    }

    /// Charges CPU `exec` with the time of the search for an idle CPU, and updates the mean of its searches. Without a
    /// cost of a look in the platform neither is done.
    fn charge_scan(&mut self, exec: u32) {
        let look_ns = self.m.costs.scan_cpu_ns;
        let (seen, timed) = (self.placing.placed.scan_seen, self.placing.placed.timed());
        if look_ns == 0 {
            return;
        }
        let timed_ns = self.charge_cost(exec, look_ns * u64::from(timed.unwrap_or(0)));
        self.charge_cost(exec, look_ns * u64::from(seen - timed.unwrap_or(0)));
        if timed.is_some() {
            let mean_ns = &mut self.placing.scan_cost_ns[exec as usize];
            *mean_ns = update_scan_cost(*mean_ns, timed_ns);
        }
    }
}
