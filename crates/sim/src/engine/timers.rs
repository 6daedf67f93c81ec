// SPDX-License-Identifier: GPL-2.0-or-later
//! Armed expiries of what sleeps on a CPU, the earliest first: the next ones in a short list, the others in a tree.

use std::collections::BTreeSet;

/// Time of an expiry, ns, and the task it belongs to.
type Expiry = (u64, u32);

/// Most expiries in the list.
const NEAR_MAX: usize = 32;

/// Expiries in order. All of the list come before all of the tree, and the list is empty only when the tree is, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    /// The earliest is the last.
    near: Vec<Expiry>,
    far: BTreeSet<Expiry>,
}

impl Timers {
    /// The earliest expiry; `u64::MAX` = there is none.
    pub(crate) fn first_ns(&self) -> u64 {
        self.near.last().map_or(u64::MAX, |&(at_ns, _)| at_ns)
    }

    /// True if this expiry is armed.
    #[cfg(test)]
    pub(crate) fn holds(&self, expiry: Expiry) -> bool {
        self.near.contains(&expiry) || self.far.contains(&expiry)
    }

    /// Arms one.
    pub(crate) fn insert(&mut self, expiry: Expiry) {
        if self.far.first().is_some_and(|&first| expiry > first) {
            self.far.insert(expiry);
            return;
        }
        let at = self.near.iter().rposition(|&near| near > expiry).map_or(0, |later| later + 1);
        self.near.insert(at, expiry);
        if self.near.len() > NEAR_MAX {
            self.far.extend(self.near.drain(..NEAR_MAX / 2));
        }
    }

    /// Disarms one, if it is armed.
    pub(crate) fn remove(&mut self, expiry: Expiry) {
        match self.near.iter().rposition(|&near| near == expiry) {
            Some(at) => drop(self.near.remove(at)),
            None => drop(self.far.remove(&expiry)),
        }
        if self.near.is_empty() {
            while self.near.len() < NEAR_MAX / 2
                && let Some(first) = self.far.pop_first()
            {
                self.near.push(first);
            }
            self.near.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many expiries, armed and disarmed in any order: the first is that of a set.
    #[test]
    fn any_mix_of_arming_and_disarming_keeps_the_first() {
        let (mut timers, mut set, mut random) = (Timers::default(), BTreeSet::new(), 1u64);
        for step in 0..20_000u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let expiry = ((random >> 33) % 997, step % 7);
            let expiry = if random >> 63 == 0 { expiry } else { set.first().copied().unwrap_or(expiry) };
            if set.remove(&expiry) || set.len() > 200 {
                timers.remove(expiry);
            } else {
                set.insert(expiry);
                timers.insert(expiry);
            }
            assert_eq!(timers.first_ns(), set.first().map_or(u64::MAX, |&(at_ns, _)| at_ns));
        }
    }
}
