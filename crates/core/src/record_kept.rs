// SPDX-License-Identifier: GPL-2.0-or-later
//! Data that balances of more than 64 CPUs keep of groups (`balance_kept.h`): sums over sets of CPUs, and ranks of the
//! groups of each domain.

use std::collections::BTreeMap;

use crate::placement::DOMAINS_MAX;
use crate::policy::Policy;
use crate::record::{PLACE_CPUS_LARGEST, PLACE_SETS_MAX, Record, WORDS, Wide};
use crate::sys::{self, SchedDomain, sd};
use crate::sys_wide::{self, LbPart};

/// Most groups of all domains.
const RANKS_MAX: usize = sys::RANKS_MAX as usize;
/// The groups of this domain have no ranks.
const NO_RANK: u32 = u32::MAX;

/// The group of each CPU of a domain, in the order of CPUs, and where the domain stands among the CPU's own.
struct Groups {
    /// CPU, level of the domain, its group.
    of: Vec<(u32, usize, u64)>,
}

impl Wide {
    /// Gives the groups of each domain ranks where a search meets them in the order of CPUs, whatever CPU it is for.
    pub(crate) fn give_ranks(&mut self) {
        self.place.kept.rank_of = [[NO_RANK; DOMAINS_MAX]; PLACE_CPUS_LARGEST];
        self.place.kept.stale = [u64::MAX; RANKS_MAX / 64];
        let mut next = 0;
        for row in 0..PLACE_SETS_MAX {
            if self.place.sets[row].weight == 0 {
                continue;
            }
            let Some((groups, numbers)) = self.groups_of(row) else { continue };
            let count = numbers.len() as u32;
            if next + count > RANKS_MAX as u32 {
                return;
            }
            (self.place.sets[row].first_rank, self.place.sets[row].nr_ranks) = (next, count);
            for &(cpu, level, group) in groups.of.iter().rev() {
                let rank = next + numbers[&group];
                self.place.kept.rank_of[cpu as usize][level] = rank;
                self.place.kept.cpus[rank as usize] = cpu;
            }
            next += count;
        }
    }

    /// The groups of a set as a domain, numbered in the order of their first CPUs; `None`: they are to have no ranks.
    fn groups_of(&self, row: usize) -> Option<(Groups, BTreeMap<u64, u32>)> {
        let groups = self.groups_of_cpus(row)?;
        let mut numbers = BTreeMap::new();
        for &(_, _, group) in &groups.of {
            let next = numbers.len() as u32;
            numbers.entry(group).or_insert(next);
        }
        let weight = |span: u64| self.set(span).map_or(1, |set| set.weight);
        let whole = numbers.keys().map(|&group| weight(group)).sum::<u32>() == self.place.sets[row].weight;
        let own = groups.of.iter().all(|&(cpu, _, group)| self.has(group, cpu));
        (whole && own && numbers.len() > 1 && groups.alike(self) && groups.in_order(&numbers))
            .then_some((groups, numbers))
    }

    fn groups_of_cpus(&self, row: usize) -> Option<Groups> {
        let span = Record::set_number(row);
        let cpus = &self.place.cpus;
        let set = &self.place.sets[row];
        let all = (set.first..=set.last).filter(|&cpu| self.has(span, cpu));
        let of = all.map(|cpu| {
            let own = &cpus[cpu as usize];
            let level = own.domains[..own.nr_domains as usize].iter().position(|d| d.span == span)?;
            let group = if level == 0 { 1 + u64::from(cpu) } else { own.domains[level - 1].span };
            Some((cpu, level, group))
        });
        of.collect::<Option<Vec<_>>>().filter(|of| !of.is_empty()).map(|of| Groups { of })
    }
}

impl Groups {
    /// All CPUs see the same domain of equal CPUs, and all groups are cores or none is.
    fn alike(&self, wide: &Wide) -> bool {
        let cpus = &wide.place.cpus;
        let seen = |&(cpu, level, _): &(u32, usize, u64)| {
            let own = &cpus[cpu as usize].domains;
            let SchedDomain { flags, imbalance_pct, .. } = own[level];
            let below = if level == 0 { 0 } else { own[level - 1].flags & sd::SHARE_CPUCAPACITY };
            (flags, imbalance_pct, below)
        };
        let first = self.of.first().map(seen);
        let equal = first.is_some_and(|(flags, ..)| flags & sd::ASYM_CPUCAPACITY == 0);
        equal && self.of.iter().all(|cpu| Some(seen(cpu)) == first)
    }

    /// From one CPU to the next it is the same group or the next one, in a circle.
    fn in_order(&self, numbers: &BTreeMap<u64, u32>) -> bool {
        let at = |i: usize| numbers[&self.of[i % self.of.len()].2];
        let count = numbers.len() as u32;
        (0..self.of.len()).all(|i| [at(i), (at(i) + 1) % count].contains(&at(i + 1)))
    }
}

impl Record {
    /// The row of CPU `cpu` of a large record is another one: what is kept of its groups follows.
    #[inline]
    pub fn follow(&mut self, policy: &Policy, cpu: u32) {
        if let Record::Wide(wide) = self {
            sys_wide::lb_follow(policy, &mut wide.place, cpu);
        }
    }

    /// The capacity of CPU `cpu` of a large record is another one, and with it that of its groups.
    pub fn follow_capacity(&mut self, policy: &Policy, cpu: u32) {
        self.follow(policy, cpu);
        (0..DOMAINS_MAX).for_each(|level| self.forget_rank(cpu, level));
    }

    /// Ranks of the groups of domain `level` of CPU `cpu` become what its CPUs are.
    #[inline]
    pub fn rank_groups(&mut self, policy: &Policy, cpu: u32, level: u32) {
        if let Record::Wide(wide) = self {
            sys_wide::lb_rank_groups(policy, &mut wide.place, cpu, level);
        }
    }

    /// No rank is right any more.
    pub fn forget_ranks(&mut self) {
        if let Record::Wide(wide) = self {
            wide.place.kept.stale = [u64::MAX; RANKS_MAX / 64];
        }
    }

    /// Something that rows do not say changed of the group of CPU `cpu` in its domain `level`.
    pub fn forget_rank(&mut self, cpu: u32, level: usize) {
        if let Record::Wide(wide) = self {
            let kept = &mut wide.place.kept;
            let rank = kept.rank_of[cpu as usize][level];
            if rank != NO_RANK {
                kept.stale[rank as usize / 64] |= 1 << (rank % 64);
            }
        }
    }

    /// The CPUs with tasks that prefer the cache of CPU `dst`, which balances: of a large record, whose others have
    /// none. Those of that cache itself do not count.
    pub fn set_preferring(&mut self, dst: u32, cpus: &[u64]) {
        let Record::Wide(wide) = self else { return };
        let row = &&wide.place.cpus[dst as usize];
        let own = row.domains.get(row.llc_domain as usize).map_or(1 + u64::from(dst), |llc| llc.span);
        let home = wide.set(own).map_or([0; WORDS], |set| set.cpus.words);
        let kept = &mut wide.place.kept;
        kept.prefers.words = [0; WORDS];
        for (out, (&all, home)) in kept.prefers.words.iter_mut().zip(cpus.iter().zip(home)) {
            *out = all & !home;
        }
        kept.any_prefers = kept.prefers.words.iter().any(|&word| word != 0).into();
    }

    /// Sums over a set of several CPUs of a large record.
    #[must_use]
    pub fn kept(&self, span: u64) -> Option<LbPart> {
        match self {
            Record::Narrow(_) => None,
            Record::Wide(wide) => wide.set(span).map(|set| set.kept),
        }
    }

    /// Does a large record keep ranks of the groups of this domain?
    #[must_use]
    pub fn keeps_ranks(&self, span: u64) -> bool {
        match self {
            Record::Narrow(_) => false,
            Record::Wide(wide) => wide.set(span).is_some_and(|set| set.nr_ranks > 0),
        }
    }

    /// Utilization and capacity of the cache of a CPU, as a balance last summed them up.
    #[must_use]
    pub fn llc_stats(&self, cpu: u32) -> (u32, u32) {
        let row = &self.rows()[cpu as usize];
        let Some(llc) = row.domains.get(row.llc_domain as usize) else { return (row.llc_util, row.llc_capacity) };
        match self {
            Record::Narrow(_) => (row.llc_util, row.llc_capacity),
            Record::Wide(wide) => wide.set(llc.span).map_or((0, 0), |set| (set.llc_util, set.llc_capacity)),
        }
    }

    /// Sets utilization and capacity of the cache of a CPU, as if a balance had summed them up.
    pub fn set_llc_stats(&mut self, cpu: u32, (util, capacity): (u32, u32)) {
        let row = &mut self.rows_mut()[cpu as usize];
        (row.llc_util, row.llc_capacity) = (util, capacity);
        let Some(&SchedDomain { span, .. }) = row.domains.get(row.llc_domain as usize) else { return };
        if let Record::Wide(wide) = self
            && let Some(at) = Wide::row(span)
        {
            let set = &mut wide.place.sets[at];
            (set.llc_util, set.llc_capacity) = (util, capacity);
        }
    }
}
