// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler events passed to the policy core level by level: each group's entity on the queue above it, up to the
//! root. The frequency hook is called for events at the root alone (docs/rules/governor.md#who-calls).

use pelton_core::hook::how;
use pelton_core::{Avg, CfsRq, Ctx, Policy, Rq, Se, ev, update};
use pelton_schema::Event;

use crate::class::levels::{ROOT, entity_of, slot_of};
use crate::class::tree::Leave;
use crate::shape::Run;
use crate::state::Engine;

/// Event bits of an update that are emitted or call a governor.
const TOLD: u32 = !ev::TG_LOAD;

/// Way of a walk up the levels.
#[derive(Clone, Copy)]
pub(super) struct Climb {
    /// Event bits of the levels below.
    pub below: u32,
    /// Flags of the events at the root.
    pub how: u32,
    /// The entities' weights follow their groups' load.
    pub shares: bool,
}

impl Climb {
    /// Nothing happened below.
    pub const START: Climb = Climb { below: 0, how: 0, shares: true };
    /// One level alone.
    pub const ALONE: Climb = Climb { shares: false, ..Climb::START };
}

/// Averages of a queue that its readers see.
fn published(avg: &Avg) -> (u64, u64, u64) {
    (avg.util_avg, avg.runnable_avg, avg.load_avg)
}

impl<S: Run> Engine<'_, S> {
    /// Context of the queue of a slot, or of the root.
    fn level_ctx<'p>(&self, policy: &'p Policy, c: u32, slot: u32) -> Ctx<'p> {
        let cpu = &self.cpus[c as usize];
        cpu.rq.ctx(policy, cpu.levels.load(slot).unwrap_or(&cpu.rq.cfs))
    }

    /// Goes from slot `from` up to the root: `step` updates an entity on the queue above it (`None` = the root queue).
    fn climb(
        &mut self,
        c: u32,
        from: u32,
        mut with: Climb,
        mut step: impl FnMut(&Policy, &mut Rq, Option<&mut CfsRq>, (&mut Se, &mut CfsRq), u32) -> u32,
    ) {
        let policy = self.policy.get();
        let mut slot = from;
        while slot != ROOT {
            let cpu = &mut self.cpus[c as usize];
            let (queue, own) = cpu.levels.records(slot);
            if own.is_cut_off() {
                return;
            }
            let (parent, bits) = (own.parent(), step(policy, &mut cpu.rq, queue, own.records(), slot));
            if with.shares && own.throttle_count() == 0 {
                let shared = &self.groups.list[own.group() as usize].shared;
                let (queue, own) = cpu.levels.records(slot);
                let (se, load) = own.records();
                queue.unwrap_or(&mut cpu.rq.cfs).refresh_shares(policy, se, load, shared);
            }
            if parent == ROOT || self.uses.limits_groups {
                self.request_changes(c);
            }
            self.entity_changed(c, entity_of(slot), parent, bits, with);
            with.below |= bits;
            slot = parent;
        }
    }

    /// An update of `entity` on the queue of `home` raised `bits`.
    #[inline]
    pub(super) fn entity_changed(&mut self, c: u32, entity: u32, home: u32, bits: u32, with: Climb) {
        if home == ROOT {
            self.row_changes(c);
            self.sums_follow(c);
        }
        if slot_of(entity).is_none() {
            self.sums_update(c, entity);
        }
        if bits == 0 {
            return;
        }
        if bits & ev::TG_LOAD != 0 && home != ROOT {
            self.refresh_group_load(c, home);
        }
        // Where groups are limited, what each has counts.
        if home == ROOT || self.uses.limits_groups {
            self.request_changes(c);
        }
        if bits & TOLD != 0 && (S::ACTIVE || home == ROOT) {
            self.tell_level(c, entity, home, bits, with);
        }
    }

    /// The sink learns of it, and of what happens at the root the hook.
    fn tell_level(&mut self, c: u32, entity: u32, home: u32, bits: u32, with: Climb) {
        self.emit_entity(c, entity);
        if home != ROOT {
            return self.emit_group(c, home, false);
        }
        self.emit_root(c);
        let left = with.below & (ev::DETACH | ev::REMOVED) != 0 && bits & ev::PROPAGATED != 0;
        self.offer(c, bits, with.how | if left { how::REMOVED } else { 0 });
    }

    /// A group's load total takes in what its queue on `c` has now.
    fn refresh_group_load(&mut self, c: u32, slot: u32) {
        let wall_ns = self.signal_clock.at(self.now);
        let own = self.cpus[c as usize].levels.at_mut(slot);
        let shared = &mut self.groups.list[own.group() as usize].shared;
        own.records().1.tg_contrib(self.policy.get(), shared, wall_ns);
    }

    /// The groups from slot `slot` up get `tasks` more; those that are not on their queues join them.
    pub(super) fn enqueue_above(&mut self, c: u32, slot: u32, below: u32, tasks: i32) {
        self.climb(c, slot, Climb { below, ..Climb::START }, |policy, rq, queue, (se, load), _| {
            se.delayed = 0;
            if se.on_rq != 0 {
                rq.update_ancestor(policy, queue, se, Some(load), tasks)
            } else {
                rq.enqueue_entity(policy, queue, se, Some(load), tasks)
            }
        });
    }

    /// The levels above a delayed task's queue count one runnable task more or less.
    pub(super) fn count_above(&mut self, c: u32, mut slot: u32, delta: i32) {
        if slot == ROOT {
            return;
        }
        self.request_changes(c);
        let cpu = &mut self.cpus[c as usize];
        while slot != ROOT && !cpu.levels.at(slot).is_cut_off() {
            let (queue, own) = cpu.levels.records(slot);
            queue.unwrap_or(&mut cpu.rq.cfs).count_runnable(delta);
            slot = own.parent();
        }
    }

    /// A group that is about to be cut off leaves its parent's queue, and those above that have nothing left theirs.
    pub(crate) fn signal_cut_off(&mut self, c: u32, slot: u32, tasks: u32, plan: Leave) {
        let (top, delta) = (plan.top_slot(), -(tasks as i32));
        let mut leaves = true;
        self.climb(c, slot, Climb::START, |policy, rq, queue, (se, load), at| {
            if leaves {
                leaves = Some(at) != top;
                return rq.dequeue_entity(policy, queue, se, Some(load), delta, 0);
            }
            rq.update_ancestor(policy, queue, se, Some(load), delta)
        });
    }

    /// A group that was cut off comes back to its parent's queue.
    pub(crate) fn signal_rejoin(&mut self, c: u32, slot: u32, tasks: u32) {
        self.list(c, slot);
        self.enqueue_above(c, slot, 0, tasks as i32);
    }

    /// The groups of a plan leave their queues, from slot `from` up; the others above learn of it. `below`: bits of the
    /// level below, and the change of runnable tasks.
    pub(super) fn dequeue_above(&mut self, c: u32, from: u32, plan: Leave, (below, delta): (u32, i32)) {
        let (top, delayed) = (plan.top_slot(), plan.delayed_slot());
        let mut leaves = top.is_some();
        self.climb(c, from, Climb { below, ..Climb::START }, |policy, rq, queue, (se, load), slot| {
            if leaves {
                leaves = Some(slot) != top;
                return rq.dequeue_entity(policy, queue, se, Some(load), delta, 0);
            }
            se.delayed = u32::from(Some(slot) == delayed);
            rq.update_ancestor(policy, queue, se, Some(load), delta)
        });
    }

    /// The running entities among those that left stop being so; their records were just updated.
    pub(super) fn put_what_left(&mut self, c: u32, entity: u32, plan: Leave) {
        let mut at = entity;
        loop {
            let home = self.tree_as_is(c).home(at);
            let cpu = &self.cpus[c as usize];
            let queue = cpu.levels.queue(home).unwrap_or(&cpu.fair);
            if queue.curr() == at {
                self.signal_put_prev(c, at);
            }
            if plan.ends_at(at) {
                return;
            }
            at = entity_of(home);
        }
    }

    /// One update of an entity on its queue, with the queue it owns.
    pub(super) fn update_entity(
        &mut self,
        c: u32,
        entity: u32,
        step: impl FnOnce(&Policy, &mut Rq, Option<&mut CfsRq>, &mut Se, Option<&mut CfsRq>) -> u32,
    ) {
        let policy = self.policy.get();
        let cpu = &mut self.cpus[c as usize];
        let home = cpu.levels.home(&self.tasks, entity);
        let bits = if let Some(slot) = slot_of(entity) {
            let (queue, own) = cpu.levels.records(slot);
            let (se, load) = own.records();
            step(policy, &mut cpu.rq, queue, se, Some(load))
        } else {
            step(policy, &mut cpu.rq, cpu.levels.queue_records(home), &mut self.tasks[entity as usize].se, None)
        };
        self.entity_changed(c, entity, home, bits, Climb::ALONE);
    }

    /// The tick of the groups from slot `slot` up; weights follow.
    pub(super) fn tick_above(&mut self, c: u32, slot: u32, with: Climb) {
        self.climb(c, slot, with, |policy, rq, queue, (se, load), _| rq.tick_entity(policy, queue, se, Some(load)));
        self.tree(c).sync_above(slot);
    }

    /// Carries an attach or detach below up to the root.
    pub(super) fn propagate(&mut self, c: u32, slot: u32, below: u32) {
        if slot == ROOT {
            return;
        }
        self.list(c, slot);
        self.refresh_group_load(c, slot);
        let with = Climb { below, how: how::LEFTOVER, ..Climb::ALONE };
        self.climb(c, slot, with, |policy, rq, queue, (se, load), _| {
            rq.update_load_avg(policy, queue, se, Some(load), update::TG)
        });
    }

    /// A group has other shares: its entity, and those above it, get the weights that follow.
    pub(crate) fn signal_shares(&mut self, c: u32, slot: u32) {
        self.climb(c, slot, Climb::START, |policy, rq, queue, (se, load), _| {
            rq.update_load_avg(policy, queue, se, Some(load), update::TG)
        });
    }

    /// The blocked walk of a CPU with groups; the event bits of the other classes and of the root queue.
    pub(crate) fn update_blocked_levels(&mut self, c: u32, runs: u32) -> u32 {
        let (policy, wall_ns) = (self.policy.get(), self.signal_clock.at(self.now));
        let lost = self.pressure(c).averaged;
        let others = self.cpus[c as usize].rq.update_blocked_others(policy, wall_ns, runs, lost);
        self.walk_groups(c);
        let ctx = self.level_ctx(policy, c, ROOT);
        others | self.cpus[c as usize].rq.cfs.update(&ctx)
    }

    /// The group queues of a CPU, children before parents; those with nothing left drop out.
    fn walk_groups(&mut self, c: u32) {
        let (policy, wall_ns) = (self.policy.get(), self.signal_clock.at(self.now));
        let mut next = self.cpus[c as usize].levels.len();
        while let Some(slot) = self.cpus[c as usize].levels.listed_below(next) {
            next = slot;
            let own = self.cpus[c as usize].levels.at(slot);
            let (group, parent) = (own.group(), own.parent());
            let ctxs = (self.level_ctx(policy, c, slot), self.level_ctx(policy, c, parent));
            let cpu = &mut self.cpus[c as usize];
            let (queue, own) = cpu.levels.records(slot);
            let queue = queue.unwrap_or(&mut cpu.rq.cfs);
            let shared = &mut self.groups.list[group as usize].shared;
            let (se, load) = own.records();
            let (removed, before) = (load.removed_nr > 0, load.avg);
            let bits = queue.walk_group((&ctxs.0, &ctxs.1), se, load, shared, wall_ns);
            let changed = published(&load.avg) != published(&before);
            let stays = own.is_queued() || !own.load().group_is_decayed(policy);
            cpu.levels.set_listed(slot, stays);
            let below = if removed { ev::REMOVED } else { 0 };
            if changed {
                self.emit_group(c, slot, false);
            }
            self.entity_changed(c, entity_of(slot), parent, bits, Climb { below, ..Climb::ALONE });
        }
        let levels = &mut self.cpus[c as usize].levels;
        let mut next = levels.len();
        while let Some(slot) = levels.listed_below(next) {
            next = slot;
            let parent = levels.at(slot).parent();
            if parent != ROOT {
                levels.set_listed(parent, true);
            }
        }
    }

    fn emit_entity(&mut self, c: u32, entity: u32) {
        match slot_of(entity) {
            Some(slot) => self.emit_group(c, slot, true),
            None if S::ACTIVE => self.emit_se(c, entity),
            None => {}
        }
    }

    /// Averages of a group's queue on a CPU, or of its entity.
    fn emit_group(&mut self, c: u32, slot: u32, entity: bool) {
        if !S::ACTIVE {
            return;
        }
        let own = self.cpus[c as usize].levels.at(slot);
        let avg = if entity { own.se().avg } else { own.load().avg };
        let event = Event::PeltGroup {
            cpu: c,
            group: own.group() + 1,
            entity: entity.into(),
            util_avg: avg.util_avg as u32,
            runnable_avg: avg.runnable_util(self.policy.get()),
            load_avg: avg.load_avg,
        };
        self.emit(event);
    }

    fn emit_root(&mut self, c: u32) {
        if S::ACTIVE {
            self.emit_cfs(c);
        }
    }
}
