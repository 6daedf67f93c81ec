// SPDX-License-Identifier: GPL-2.0-or-later
//! Sums of groups of domains: the capacities of their CPUs, and whether pinned tasks kept them out of balance. Up to 64
//! CPUs they stand in the domains of each CPU, beyond with the group, whose sums are kept as well.

use pelton_core::{PLACE_CPUS_MAX, Policy, Record};

/// Groups that each CPU is in.
pub(super) struct GroupSums {
    /// All groups were summed once.
    summed: bool,
    /// Of a large record: the sets of several CPUs that each CPU is in.
    of: Vec<Vec<u64>>,
}

impl GroupSums {
    pub(super) fn new(record: &Record) -> GroupSums {
        let mut of = vec![Vec::new(); record.nr_cpus as usize];
        for span in record.spans() {
            record.span_cpus(span).for_each(|c| of[c as usize].push(span));
        }
        GroupSums { summed: false, of }
    }

    /// The capacity of CPU `c`, which was `before`, is another one.
    pub(super) fn follow(&mut self, policy: &Policy, record: &mut Record, c: u32, before: u32) {
        let cpus = record.nr_cpus;
        let first = !std::mem::replace(&mut self.summed, true);
        if record.narrow().is_some() {
            self.follow_narrow(record, c, first, before);
        } else if first {
            record.spans().for_each(|span| sum_set(record, span));
            (0..cpus).for_each(|o| sum_alone(record, o));
            record.follow(policy, c);
            record.forget_ranks();
        } else if record.rows()[c as usize].capacity != before {
            self.of[c as usize].iter().for_each(|&span| change_set(record, span, c, before));
            sum_alone(record, c);
            record.follow_capacity(policy, c);
        }
        if cfg!(debug_assertions) {
            self.assert_sums(record, c);
        }
    }

    fn follow_narrow(&self, record: &mut Record, c: u32, first: bool, before: u32) {
        if first {
            (0..record.nr_cpus).for_each(|o| sum_groups(record, o));
        } else if record.rows()[c as usize].capacity != before {
            sum_groups(record, c);
        }
    }

    fn assert_sums(&self, record: &Record, c: u32) {
        if record.narrow().is_some() {
            let mut now = record.clone();
            (0..now.nr_cpus).for_each(|o| sum_groups(&mut now, o));
            debug_assert!(now.rows() == record.rows(), "kept sums of groups");
            return;
        }
        // One CPU in so many stands for large sets, lest what is counted here grow with the machine.
        let small = |span: u64| record.span_weight(span) <= PLACE_CPUS_MAX as u32;
        let stands = (c as usize + 1).is_multiple_of(PLACE_CPUS_MAX);
        for &span in self.of[c as usize].iter().filter(|&&span| stands || small(span)) {
            debug_assert_eq!(kept(record, span), of_cpus(record, span), "kept sums of {span}");
        }
    }
}

/// Sum, largest and smallest of the capacities of some CPUs.
fn of_cpus(record: &Record, span: u64) -> (u32, u32, u32) {
    let (rows, mut all) = (record.rows(), (0, 0, u32::MAX));
    for at in 0..record.words() {
        let mut left = record.span_word(span, at);
        while left != 0 {
            let capacity = rows[64 * at + left.trailing_zeros() as usize].capacity;
            left &= left - 1;
            all = (all.0 + capacity, all.1.max(capacity), all.2.min(capacity));
        }
    }
    all
}

fn kept(record: &Record, span: u64) -> (u32, u32, u32) {
    let group = record.group(span, 0, 0);
    (group.group_capacity, group.group_max_capacity, group.group_min_capacity)
}

fn keep(record: &mut Record, span: u64, (sum, max, min): (u32, u32, u32)) {
    let group = record.group_mut(span, 0, 0);
    (group.group_capacity, group.group_max_capacity, group.group_min_capacity) = (sum, max, min);
}

fn sum_set(record: &mut Record, span: u64) {
    let sums = of_cpus(record, span);
    keep(record, span, sums);
}

/// The smallest groups have one CPU.
fn sum_alone(record: &mut Record, c: u32) {
    let row = &mut record.rows_mut()[c as usize];
    let (capacity, domain) = (row.capacity, &mut row.domains[0]);
    (domain.group_capacity, domain.group_max_capacity, domain.group_min_capacity) = (capacity, capacity, capacity);
}

/// The capacity of one CPU of a set changed. Only where it was the largest or smallest are the others asked.
fn change_set(record: &mut Record, span: u64, c: u32, before: u32) {
    let now = record.rows()[c as usize].capacity;
    let (sum, max, min) = kept(record, span);
    if (before == max && now < max) || (before == min && now > min) {
        sum_set(record, span);
    } else {
        keep(record, span, (sum + now - before, max.max(now), min.min(now)));
    }
}

/// Sums the groups that CPU `c` is in, in each of the domains of all CPUs.
fn sum_groups(record: &mut Record, c: u32) {
    for o in 0..record.nr_cpus as usize {
        for level in 0..record.rows()[o].nr_domains as usize {
            let group = if level == 0 { 1 << o } else { record.rows()[o].domains[level - 1].span };
            if group >> c & 1 == 0 {
                continue;
            }
            let (sum, max, min) = of_cpus(record, group);
            let domain = &mut record.rows_mut()[o].domains[level];
            (domain.group_capacity, domain.group_max_capacity, domain.group_min_capacity) = (sum, max, min);
        }
    }
}

/// Sets whether pinned tasks keep the group `group` of domains over `above` out of balance.
pub(super) fn set_imbalance(record: &mut Record, group: u64, above: u64, imbalanced: u32) {
    if record.narrow().is_none() {
        record.group_mut(group, 0, 0).group_imbalance = imbalanced;
        let first = record.span_cpus(group).next();
        if let Some(c) = first
            && let Some(level) = record.rows()[c as usize].domains.iter().position(|d| d.span == above)
        {
            record.forget_rank(c, level);
        }
        return;
    }
    for (_, cpu) in record.rows_mut().iter_mut().enumerate().filter(|(o, _)| group >> o & 1 == 1) {
        cpu.domains.iter_mut().filter(|d| d.span == above).for_each(|d| d.group_imbalance = imbalanced);
    }
}
