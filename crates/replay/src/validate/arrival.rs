// SPDX-License-Identifier: GPL-2.0-or-later
//! Moments at which a task that was moved to another CPU may have joined a queue there.

use std::collections::{BTreeMap, VecDeque};

use super::object::{MOVES_MAX, OBJECTS_MAX};

/// Updates remembered of a CPU to which a task was moved.
const UPDATES_MAX: usize = 8;

/// A task that was moved to a CPU, and the updates of queues there since.
#[derive(Debug)]
struct Arrival {
    cpu: u32,
    updates: Vec<u64>,
}

/// Tasks that were moved.
#[derive(Debug, Default)]
pub struct Arrivals {
    by_entity: BTreeMap<u32, Arrival>,
    /// Those whose next updates are still noted, by CPU.
    open: BTreeMap<u32, VecDeque<u32>>,
}

impl Arrivals {
    /// A task is on its way to a CPU: the next updates of queues there are when it may join.
    pub fn expect(&mut self, entity: u32, cpu: u32) {
        if self.by_entity.len() >= OBJECTS_MAX && !self.by_entity.contains_key(&entity) {
            return;
        }
        self.by_entity.insert(entity, Arrival { cpu, updates: Vec::new() });
        let open = self.open.entry(cpu).or_default();
        if open.len() == MOVES_MAX {
            open.pop_front();
        }
        open.push_back(entity);
    }

    /// A queue of this CPU was brought up.
    pub fn updated(&mut self, cpu: u32, at_ns: u64) {
        let Some(open) = self.open.get_mut(&cpu) else { return };
        open.retain(|entity| {
            let Some(arrival) = self.by_entity.get_mut(entity).filter(|arrival| arrival.cpu == cpu) else {
                return false;
            };
            if !arrival.updates.contains(&at_ns) {
                arrival.updates.push(at_ns);
            }
            arrival.updates.len() < UPDATES_MAX
        });
    }

    /// Tasks that were moved to a CPU and are still watched, and the updates of queues there since.
    pub fn at(&self, cpu: u32) -> impl Iterator<Item = (u32, u64)> {
        let entities = self.open.get(&cpu).into_iter().flatten().rev();
        entities.flat_map(move |&entity| self.updates(entity, cpu).map(move |at_ns| (entity, at_ns)))
    }

    /// The first updates on a CPU since the task was moved there.
    pub fn updates(&self, entity: u32, cpu: u32) -> impl Iterator<Item = u64> {
        let arrival = self.by_entity.get(&entity).filter(|arrival| arrival.cpu == cpu);
        arrival.into_iter().flat_map(|arrival| arrival.updates.iter().copied())
    }
}
