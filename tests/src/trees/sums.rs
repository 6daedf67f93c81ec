// SPDX-License-Identifier: GPL-2.0-or-later
//! Sums that hold whatever happened. They are read from the twin; the core has been compared with it.

use super::*;

/// Sums over the entities on a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    entities: u64,
    weight: u64,
    runnable: u64,
}

impl Tree {
    /// Every record is the same on both sides.
    pub(super) fn agrees(&self) -> Outcome {
        (0..CPUS).try_for_each(|cpu| self.same(Slot::Rq(cpu)))?;
        for group in 0..self.above.len() {
            self.same(Slot::Group(group))?;
            for cpu in 0..CPUS {
                self.same(Slot::Cfs(group, cpu))?;
                self.same(Slot::GroupSe(group, cpu))?;
            }
        }
        (0..self.tasks.len()).try_for_each(|task| self.same(Slot::Task(task)))
    }

    /// A group's load is the sum of what its queues contributed; a queue's entities, weight and runnable tasks are
    /// those of what is on it.
    pub(super) fn sums_hold(&self) -> Outcome {
        for (group, shared) in self.twin.groups.iter().enumerate() {
            let sum: u64 = self.twin.cfs[group].iter().map(|cfs| cfs.tg_load_avg_contrib).sum();
            if sum != shared.load_avg {
                return Err(format!("group {group}: load {}, of its queues {sum}", shared.load_avg));
            }
        }
        for cpu in 0..CPUS {
            let mut sums = vec![Sum::default(); self.above.len() + 1];
            let at = |queue: Queue| queue.map_or(0, |group| group + 1);
            for (task, own) in self.tasks.iter().enumerate().filter(|(_, own)| own.cpu == cpu) {
                let se = &self.twin.tasks[task];
                add(&mut sums[at(own.group)], se.on_rq, se.full_weight, 1);
            }
            for group in 0..self.above.len() {
                let se = &self.twin.group_se[group][cpu];
                let runnable = self.twin.cfs[group][cpu].h_nr_runnable;
                add(&mut sums[at(self.above[group])], se.on_rq, se.full_weight, runnable);
            }
            for queue in std::iter::once(None).chain((0..self.above.len()).map(Some)) {
                let cfs = self.queue_of(queue, cpu);
                let is = Sum { entities: cfs.nr_queued, weight: cfs.full_load, runnable: cfs.h_nr_runnable };
                if is != sums[at(queue)] {
                    return Err(format!("CPU {cpu}, queue {queue:?}: {is:?}, on it {:?}", sums[at(queue)]));
                }
            }
        }
        Ok(())
    }

    /// No sum of a queue has anything left. What groups' loads hold all the same: where walks leave a queue out
    /// without looking at that (`decayed_contrib=off`), it stays.
    pub(super) fn nothing_is_left(&mut self) -> Outcome {
        for cpu in 0..CPUS {
            for queue in std::iter::once(None).chain((0..self.above.len()).map(Some)) {
                let avg = self.queue_of(queue, cpu).avg;
                if [avg.load_sum, avg.runnable_sum, avg.util_sum] != [0; 3] {
                    return Err(format!("CPU {cpu}, queue {queue:?}: {avg:?} is left"));
                }
                self.total.left_avg = self.total.left_avg.max(avg.load_avg).max(avg.util_avg);
            }
        }
        self.total.left = self.twin.groups.iter().map(|shared| shared.load_avg).sum();
        Ok(())
    }
}

fn add(sum: &mut Sum, on_rq: u64, weight: u64, runnable: u64) {
    if on_rq != 0 {
        *sum = Sum { entities: sum.entities + 1, weight: sum.weight + weight, runnable: sum.runnable + runnable };
    }
}
