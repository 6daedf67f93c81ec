// SPDX-License-Identifier: GPL-2.0-or-later
//! State that is kept between balances.

use pelton_core::{
    CpuLoad, Lb, LbDomain, PlaceCpu, Policy, Record, SchedDomain, lb_can_be_calm, lb_newest_first, value,
};
use pelton_model::workload::CpuSet;

use crate::engine::rng::RunRng;

/// Number of the generator of dice among the random generators of a run.
const DICE: u64 = 1;
/// Place between the heads and the ends of lists.
const LIST_MIDDLE: u64 = 1 << 62;

/// State of balancing.
pub(crate) struct Balancing {
    /// The core decides what is moved; else it is the simple form of `balance.rs`, or there is one CPU.
    pub decides: bool,
    /// State of each CPU's domains, smallest first.
    pub(super) domains: Vec<Vec<LbDomain>>,
    /// Tick at which each CPU next balances.
    pub(super) next_balance_ticks: Vec<u64>,
    /// Tick from which on a CPU that runs out of tasks, too, works out what is left of it for fair tasks.
    pub(super) capacity_due_ticks: Vec<u64>,
    /// Findings of the last balance.
    pub(super) lb: Box<Lb>,
    /// Random numbers of CPUs that run out of tasks.
    pub(super) dice: RunRng,
    /// Loads that fade over ticks, and whether this release compares them.
    pub cpu_loads: Vec<CpuLoad>,
    pub biased: bool,
    /// A balance looks at the task first that was queued last.
    pub newest_first: bool,
    /// The CPU that is about to go idle and looks for a task: its row says that it has none any more.
    pub emptied: Option<u32>,
    /// CPUs whose smallest domain can be said to be balanced by a count of tasks alone.
    pub(super) can_be_calm: CpuSet,
    /// Tasks that a balance looks at, and those that it takes: room that is used again.
    pub(super) list: Vec<u32>,
    pub(super) taken: Vec<u32>,
    /// Stand for the heads and the ends of the CPUs' lists of tasks: change with everything that is put there.
    head: u64,
    end: u64,
}

/// The smallest domain of CPU `c` is that of all its CPUs, so that its groups are single CPUs, and a count of tasks can
/// say that it is balanced.
fn can_be_calm(record: &Record, policy: &Policy, c: u32) -> bool {
    let own = &record.rows()[c as usize];
    let (span, flags) = (own.domains[0].span, own.domains[0].flags);
    let is_smallest = |o: &PlaceCpu| o.nr_domains > 0 && o.domains[0].span == span;
    let within = |at: usize, o: usize| record.span_word(span, at) >> o & 1 == 1;
    let mut words = record.span_words(span);
    let alike = |at: usize| (0..64).all(|o| !within(at, o) || is_smallest(&record.rows()[at * 64 + o]));
    own.nr_domains > 0 && lb_can_be_calm(policy, flags, record.energy_aware != 0) && words.all(alike)
}

impl Balancing {
    pub(crate) fn new(record: &Record, policy: &Policy, seed: u64) -> Balancing {
        let domain = |d: &SchedDomain| LbDomain::of_cpus(record.span_weight(d.span), 0);
        let own = |c: &PlaceCpu| -> Vec<LbDomain> { c.domains[..c.nr_domains as usize].iter().map(domain).collect() };
        let domains: Vec<_> = record.rows()[..record.nr_cpus as usize].iter().map(own).collect();
        Balancing {
            decides: record.nr_cpus > 1 && policy.host == value::HOST_KERNEL,
            next_balance_ticks: vec![0; domains.len()],
            capacity_due_ticks: vec![0; domains.len()],
            dice: RunRng::new(seed, DICE),
            cpu_loads: vec![CpuLoad::default(); domains.len()],
            biased: (value::BALANCE_LOADS_NEWLY..value::BALANCE_LOADS).contains(&policy.balance),
            newest_first: lb_newest_first(policy),
            can_be_calm: CpuSet::of((0..record.nr_cpus).filter(|&c| can_be_calm(record, policy, c))),
            domains,
            lb: Box::default(),
            emptied: None,
            list: Vec::new(),
            taken: Vec::new(),
            head: LIST_MIDDLE,
            end: LIST_MIDDLE,
        }
    }

    /// The loads of CPU `c` that fade over ticks, where this release compares them.
    #[inline]
    pub(crate) fn fill_loads(&self, c: u32, row: &mut PlaceCpu) {
        if self.biased {
            row.cpu_load.copy_from_slice(&self.cpu_loads[c as usize].load[..4]);
        }
    }

    /// Capacity of CPU `c` was worked out: it stands for the interval of its smallest domain (`sgc->next_update`).
    pub(crate) fn capacity_stands(&mut self, policy: &Policy, c: u32, (now_ticks, tick_ns): (u64, u64)) {
        if let Some(lowest) = self.domains[c as usize].first() {
            let interval = lowest.interval_ticks(policy, false, tick_ns, self.domains.len() as u32);
            self.capacity_due_ticks[c as usize] = now_ticks + interval;
        }
    }

    /// The place of what is put at the head of a CPU's list.
    pub(crate) fn at_head(&mut self) -> u64 {
        self.head += 1;
        self.head
    }

    /// A task that a balance left where it is goes where it is looked at last.
    pub(crate) fn passed_over(&mut self) -> u64 {
        if !self.newest_first {
            return self.at_head();
        }
        self.end -= 1;
        self.end
    }

    /// Tick at which CPU `c` next balances.
    pub(crate) fn next_ticks(&self, c: u32) -> u64 {
        self.next_balance_ticks[c as usize]
    }

    pub(super) fn earlier(&mut self, c: u32, ticks: u64) {
        let next = &mut self.next_balance_ticks[c as usize];
        *next = (*next).min(ticks);
    }
}
