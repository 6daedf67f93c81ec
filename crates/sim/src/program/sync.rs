// SPDX-License-Identifier: GPL-2.0-or-later
//! Mutexes, conditions, barriers and semaphores: which task holds, which wait; and the channels. Waking is the caller's
//! job.

use std::collections::VecDeque;

use crate::program::channel::Channel;
use crate::program::io::Device;

/// A mutex; waiters are served in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mutex {
    pub owner: Option<u32>,
    pub waiters: VecDeque<u32>,
}

impl Mutex {
    /// Takes it or queues the task; true when taken.
    pub(crate) fn lock(&mut self, task: u32) -> bool {
        match self.owner {
            None => {
                self.owner = Some(task);
                true
            }
            Some(owner) if owner == task => true,
            Some(_) => {
                self.waiters.push_back(task);
                false
            }
        }
    }

    /// Releases it; the first waiter becomes the owner and is returned.
    pub(crate) fn unlock(&mut self, task: u32) -> Option<u32> {
        if self.owner != Some(task) {
            return None;
        }
        self.owner = self.waiters.pop_front();
        self.owner
    }
}

/// A condition variable: (task, mutex to take again).
#[derive(Clone, Debug, Default)]
pub(crate) struct Cond {
    pub waiters: VecDeque<(u32, Option<u32>)>,
}

/// A barrier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    pub needed: u32,
    pub arrived: Vec<u32>,
}

impl Barrier {
    /// The last arrival releases all others.
    pub(crate) fn arrive(&mut self, task: u32) -> Option<Vec<u32>> {
        if self.arrived.len() as u32 + 1 >= self.needed {
            return Some(std::mem::take(&mut self.arrived));
        }
        self.arrived.push(task);
        None
    }
}

/// A counting semaphore.
#[derive(Clone, Debug, Default)]
pub(crate) struct Semaphore {
    pub count: u32,
    pub waiters: VecDeque<u32>,
}

/// All objects of a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    pub mutexes: Vec<Mutex>,
    pub conds: Vec<Cond>,
    pub barriers: Vec<Barrier>,
    pub semaphores: Vec<Semaphore>,
    pub channels: Vec<Channel>,
    pub devices: Vec<Device>,
    /// Tasks to call, in the order in which they came.
    pub lists: Vec<Vec<u32>>,
}

impl Objects {
    /// Fresh objects for a workload.
    pub(crate) fn new(w: &pelton_model::Workload) -> Objects {
        Objects {
            mutexes: vec![Mutex::default(); w.mutexes as usize],
            conds: vec![Cond::default(); w.conds as usize],
            barriers: w.barriers.iter().map(|&needed| Barrier { needed, arrived: Vec::new() }).collect(),
            semaphores: w.semaphores.iter().map(|&count| Semaphore { count, waiters: VecDeque::new() }).collect(),
            lists: vec![Vec::new(); w.lists as usize],
            channels: w.channels.iter().map(|&spec| Channel::new(spec)).collect(),
            devices: vec![Device::default(); w.devices.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutex_is_handed_over_in_order() {
        let mut m = Mutex::default();
        assert!(m.lock(1) && !m.lock(2) && !m.lock(3));
        assert_eq!(m.unlock(2), None);
        assert_eq!(m.unlock(1), Some(2));
        assert_eq!(m.unlock(2), Some(3));
        assert_eq!(m.unlock(3), None);
        assert_eq!(m.owner, None);
    }

    #[test]
    fn barrier_releases_with_the_last() {
        let mut b = Barrier { needed: 3, arrived: vec![] };
        assert_eq!(b.arrive(1), None);
        assert_eq!(b.arrive(2), None);
        assert_eq!(b.arrive(3), Some(vec![1, 2]));
        assert_eq!(b.arrive(1), None);
    }
}
