// SPDX-License-Identifier: GPL-2.0-or-later
//! Sets of CPUs, however many there are.

use serde::Serialize;

/// A set of CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuSet(Vec<u64>);

impl Serialize for CpuSet {
    /// Its CPUs in ascending order, however many words keep them.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl CpuSet {
    /// The CPUs given.
    pub fn of(cpus: impl IntoIterator<Item = u32>) -> Self {
        let mut set = CpuSet::default();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }

    /// CPUs `0..n`.
    pub fn first(n: u32) -> Self {
        Self::of(0..n)
    }

    /// Adds a CPU.
    #[inline]
    pub fn insert(&mut self, cpu: u32) {
        let word = (cpu / 64) as usize;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (cpu % 64);
    }

    /// Removes a CPU.
    #[inline]
    pub fn remove(&mut self, cpu: u32) {
        if let Some(word) = self.0.get_mut((cpu / 64) as usize) {
            *word &= !(1 << (cpu % 64));
        }
    }

    /// Adds or removes a CPU.
    #[inline]
    pub fn set(&mut self, cpu: u32, member: bool) {
        match self.0.get_mut((cpu / 64) as usize) {
            Some(word) => *word = *word & !(1 << (cpu % 64)) | u64::from(member) << (cpu % 64),
            None if member => self.insert(cpu),
            None => {}
        }
    }

    /// True when `cpu` is in the set.
    #[inline]
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.get((cpu / 64) as usize).is_some_and(|w| w >> (cpu % 64) & 1 == 1)
    }

    /// CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| bits(i, word))
    }

    /// CPUs in ascending order, those from `start` on first.
    pub fn ring(&self, start: u32) -> impl Iterator<Item = u32> + '_ {
        self.ring_with([self, self], start)
    }

    /// CPUs that are in two other sets as well, in ascending order, those from `start` on first.
    pub fn ring_with<'a>(&'a self, others: [&'a CpuSet; 2], start: u32) -> impl Iterator<Item = u32> + 'a {
        let (turn, from) = ((start / 64) as usize, u64::MAX << (start % 64));
        let word = move |i: usize| others.iter().fold(self.0[i], |all, set| all & set.0.get(i).copied().unwrap_or(0));
        let words = self.0.len();
        let first = (turn..words).map(move |i| (i, word(i) & if i == turn { from } else { u64::MAX }));
        let last = (0..words.min(turn + 1)).map(move |i| (i, word(i) & if i == turn { !from } else { u64::MAX }));
        first.chain(last).flat_map(|(i, word)| bits(i, word))
    }

    /// The first CPU from `start` on that is in one of two other sets as well.
    pub fn next_in_either(&self, others: [&CpuSet; 2], start: u32) -> Option<u32> {
        let of = |set: &CpuSet, i: usize| set.0.get(i).copied().unwrap_or(0);
        let turn = (start / 64) as usize;
        let word = |i: usize| self.0[i] & (of(others[0], i) | of(others[1], i));
        let mut words =
            (turn..self.0.len()).map(|i| (i, word(i) & if i == turn { u64::MAX << (start % 64) } else { u64::MAX }));
        words.find(|&(_, word)| word != 0).map(|(i, word)| i as u32 * 64 + word.trailing_zeros())
    }

    /// The CPUs that are in another set as well, in ascending order.
    pub fn both<'a>(&'a self, other: &'a CpuSet) -> impl Iterator<Item = u32> + 'a {
        self.0.iter().zip(&other.0).enumerate().flat_map(|(i, (&own, &other))| bits(i, own & other))
    }

    /// The CPUs of the set below `n`.
    pub fn below(&self, n: u32) -> CpuSet {
        CpuSet::of(self.iter().filter(|&c| c < n))
    }

    /// 64 CPUs each, one bit a CPU.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Those below 64, one bit each.
    #[inline]
    pub fn low(&self) -> u64 {
        self.0.first().copied().unwrap_or(0)
    }

    /// Number of CPUs.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().filter(|w| **w != 0).map(|w| w.count_ones() as usize).sum()
    }

    /// Number of CPUs that are not in another set.
    #[inline]
    pub fn len_without(&self, other: &CpuSet) -> usize {
        let left = |(i, &word): (usize, &u64)| (word & !other.0.get(i).copied().unwrap_or(0)).count_ones() as usize;
        self.0.iter().enumerate().filter(|(_, word)| **word != 0).map(left).sum()
    }

    /// True when no CPU is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }
}

/// CPUs of the `i`th word of a set.
fn bits(i: usize, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(i as u32 * 64 + bit)
    })
}
