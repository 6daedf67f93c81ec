// SPDX-License-Identifier: GPL-2.0-or-later
//! Entities that stand for queues of groups, and the sums that the queues have to propagate.

use std::collections::BTreeSet;

use pelton_core::{CfsRq, scale_load_down};
use pelton_schema::{PeltSignal, PeltSource};

use super::engine::Record;
use super::object::{MOVES_MAX, OBJECTS_MAX, Objects, State};

impl Objects {
    /// Entities of groups on a CPU that no record has shown so far.
    pub fn unseen(&self, cpu: u32) -> impl Iterator<Item = u32> {
        let here = move |entity: &u32| self.owned_queue(*entity).is_some_and(|queue| queue.cpu == cpu);
        self.unseen.iter().copied().filter(here)
    }

    /// A group's entity stands for this queue.
    pub fn owns(&mut self, entity: u32, queue: u32) {
        if self.owned.len() < OBJECTS_MAX {
            self.owned.insert(entity, queue);
            self.owners.insert(queue, entity);
            if !self.states.contains_key(&(PeltSignal::Entity as u32, entity)) {
                self.unseen.insert(entity);
            }
        }
    }

    /// The entity that stands for a group's queue.
    pub fn owner(&self, queue: u32) -> Option<u32> {
        self.owners.get(&queue).copied()
    }

    /// Something was brought up; a group's entity after the queue it stands for.
    pub fn brought_up(&mut self, record: &Record) {
        let (state, at_ns) = (&record.state, record.state.avg.last_update_time_ns);
        self.moments.of_cpu(state.cpu, at_ns);
        if record.source == PeltSource::AtCount {
            self.moments.counted(state.cpu, at_ns);
        }
        if record.signal == PeltSignal::Queue && record.source == PeltSource::Tracepoint {
            self.moments.now(state.cpu, record.object, at_ns);
        }
        if record.signal != PeltSignal::Entity {
            return;
        }
        self.moments.on_queue(state.queue, at_ns);
        if let Some(own) = self.owned.get(&record.object) {
            self.moments.on_queue(*own, at_ns);
        }
    }

    /// A group's entity took over what its queue had pending.
    pub fn took_over(&mut self, entity: u32) {
        if let Some(queue) = self.owned.get(&entity) {
            self.pending.remove(queue);
        }
    }

    /// The queue a group's entity stands for with what it is known to have pending.
    pub fn own_pending(&self, entity: u32) -> Option<CfsRq> {
        let queue = *self.owned.get(&entity)?;
        let (state, pending) = (self.queue(queue)?, self.pending(queue)?);
        let load_weight = scale_load_down(state.weight);
        let own = CfsRq { avg: state.avg, load_weight, propagate: 1, ..CfsRq::default() };
        Some(CfsRq { prop_runnable_sum: pending.prop_runnable_sum, ..own })
    }

    /// Weights of entities on the queue a group's entity stands for, each once, if what it propagates depends on them.
    pub fn weights_below(&self, entity: u32) -> BTreeSet<u64> {
        let leaves = |queue: &&u32| self.pending(**queue).is_some_and(|pending| pending.prop_runnable_sum < 0);
        let queue = self.owned.get(&entity).filter(leaves);
        queue.into_iter().flat_map(|queue| self.members(*queue, MOVES_MAX)).map(|(_, se)| se.weight).collect()
    }

    /// The number of the queue a group's entity stands for.
    pub fn own_queue(&self, entity: u32) -> Option<u32> {
        self.owned.get(&entity).copied()
    }

    /// The queue a group's entity stands for.
    pub fn owned_queue(&self, entity: u32) -> Option<&State> {
        self.queue(*self.owned.get(&entity)?)
    }
}
