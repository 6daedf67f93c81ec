// SPDX-License-Identifier: GPL-2.0-only
//! Scheduler events of tasks in groups, told to the policy core level by level: the task on its queue, then each group's
//! entity on the queue above. Only what happens at the root is told to the frequency hook (SPEC B.15).

use pelton_core::hook::how;
use pelton_core::{CfsRq, Ctx, Policy, Se, dequeue, ev, update};
use pelton_schema::{Event, Sink};

use crate::class::levels::{ROOT, Slot, entity_of, slot_of};
use crate::class::tree::Leave;
use crate::engine::Engine;
use crate::engine::state::NO_TASK;

/// What an update raises that is told to anybody.
const TOLD: u32 = !ev::TG_LOAD;

/// How a walk goes up.
#[derive(Clone, Copy)]
struct Climb {
    /// Event bits of the levels below.
    below: u32,
    /// Flags of the events at the root.
    how: u32,
    /// The entities' weights follow their groups' load.
    shares: bool,
}

impl<S: Sink> Engine<'_, S> {
    /// Context of the queue of a slot, or of the root.
    fn level_ctx<'p>(&self, policy: &'p Policy, c: u32, slot: u32) -> Ctx<'p> {
        let cpu = &self.cpus[c as usize];
        cpu.rq.ctx(policy, cpu.levels.slots.get(slot as usize).map_or(&cpu.rq.cfs, |slot| &slot.cfs))
    }

    /// Goes from slot `from` up to the root: `step` updates an entity on the queue above it.
    fn climb(
        &mut self,
        c: u32,
        from: u32,
        mut with: Climb,
        mut step: impl FnMut(&Ctx<'_>, &mut CfsRq, &mut Slot, u32) -> u32,
    ) {
        let policy = self.policy;
        let mut slot = from;
        while slot != ROOT {
            let Slot { parent, cut_off, throttle_count, .. } = self.cpus[c as usize].levels.slots[slot as usize];
            if cut_off {
                return;
            }
            let ctx = self.level_ctx(policy, c, parent);
            let cpu = &mut self.cpus[c as usize];
            let (queue, own) = cpu.levels.records(&mut cpu.rq, slot);
            let bits = step(&ctx, queue, own, slot);
            if with.shares && throttle_count == 0 {
                let shared = &self.groups.list[own.group as usize].shared;
                queue.refresh_shares(policy, &mut own.se, &own.cfs, shared);
            }
            self.level_changed(c, entity_of(slot), parent, bits, with);
            with.below |= bits;
            slot = parent;
        }
    }

    /// An update of `entity` on the queue of `home` raised `bits`.
    #[inline]
    fn level_changed(&mut self, c: u32, entity: u32, home: u32, bits: u32, with: Climb) {
        self.request_changes(c);
        if home == ROOT {
            self.sums_follow(c);
        }
        if slot_of(entity).is_none() {
            self.sums_update(c, entity);
        }
        if bits & ev::TG_LOAD != 0 && home != ROOT {
            self.refresh_group_load(c, home);
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
        let own = &mut self.cpus[c as usize].levels.slots[slot as usize];
        own.cfs.tg_contrib(self.policy, &mut self.groups.list[own.group as usize].shared, wall_ns);
    }

    /// Second half of an enqueue: the task, then the groups above it.
    pub(crate) fn signal_enqueue_levels(&mut self, c: u32, t: u32) {
        let policy = self.policy;
        let slot = self.slot_on(c, self.tasks[t as usize].group);
        self.list(c, slot);
        let requeued = self.tasks[t as usize].se.delayed != 0;
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let bits = cpu.rq.enqueue_finish_on(policy, &mut cpu.levels.slots[slot as usize].cfs, &mut task.se);
        self.level_changed(c, t, slot, bits, Climb { below: 0, how: 0, shares: true });
        if requeued {
            return self.count_above(c, slot, 1);
        }
        self.climb(c, slot, Climb { below: bits, how: 0, shares: true }, |ctx, queue, own, _| {
            own.se.delayed = 0;
            if own.se.on_rq != 0 {
                queue.update_ancestor(ctx, &mut own.se, Some(&mut own.cfs), 1)
            } else {
                queue.enqueue_entity(ctx, &mut own.se, Some(&mut own.cfs), 1)
            }
        });
    }

    /// The levels above a delayed task's queue count one runnable task more or less.
    fn count_above(&mut self, c: u32, mut slot: u32, delta: i32) {
        self.request_changes(c);
        let cpu = &mut self.cpus[c as usize];
        while slot != ROOT && !cpu.levels.slots[slot as usize].cut_off {
            let (queue, own) = cpu.levels.records(&mut cpu.rq, slot);
            queue.count_runnable(delta);
            slot = own.parent;
        }
    }

    /// A group that is about to be cut off leaves its parent's queue, and those above that have nothing left theirs.
    pub(crate) fn signal_cut_off(&mut self, c: u32, slot: u32, tasks: u32, plan: Leave) {
        let (top, delta) = (slot_of(plan.top), -(tasks as i32));
        let mut leaves = true;
        self.climb(c, slot, Climb { below: 0, how: 0, shares: true }, |ctx, queue, own, at| {
            if leaves {
                leaves = Some(at) != top;
                return queue.dequeue_entity(ctx, &mut own.se, Some(&mut own.cfs), delta, 0);
            }
            queue.update_ancestor(ctx, &mut own.se, Some(&mut own.cfs), delta)
        });
    }

    /// A group that was cut off comes back to its parent's queue.
    pub(crate) fn signal_rejoin(&mut self, c: u32, slot: u32, tasks: u32) {
        self.list(c, slot);
        self.climb(c, slot, Climb { below: 0, how: 0, shares: true }, |ctx, queue, own, _| {
            own.se.delayed = 0;
            if own.se.on_rq != 0 {
                queue.update_ancestor(ctx, &mut own.se, Some(&mut own.cfs), tasks as i32)
            } else {
                queue.enqueue_entity(ctx, &mut own.se, Some(&mut own.cfs), tasks as i32)
            }
        });
    }

    /// A task in a group wants to sleep but stays queued.
    pub(crate) fn signal_delay_levels(&mut self, c: u32, t: u32, slot: u32) {
        let wall_ns = self.signal_clock.at(self.now);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cfs = &mut cpu.levels.slots[slot as usize].cfs;
        let bits = cpu.rq.delay_task_on(self.policy, cfs, &mut task.se, wall_ns);
        self.level_changed(c, t, slot, bits, Climb { below: 0, how: 0, shares: false });
        self.count_above(c, slot, -1);
    }

    /// An entity leaves its queue, and the groups of the plan theirs; the others above learn of it.
    pub(crate) fn signal_leave(&mut self, c: u32, entity: u32, flags: u32, plan: Leave) {
        let home = self.tree(c).home(entity);
        let counted = slot_of(entity).is_none() && self.tasks[entity as usize].se.delayed == 0;
        let (bits, delta) = match slot_of(entity) {
            Some(_) => (0, 0),
            None if home == ROOT => return self.signal_dequeue(c, entity, flags),
            None => self.signal_leave_queue(c, entity, home, flags),
        };
        let (from, top, delayed) = (slot_of(entity).unwrap_or(home), slot_of(plan.top), slot_of(plan.delayed));
        let mut leaves = top.is_some();
        self.climb(c, from, Climb { below: bits, how: 0, shares: true }, |ctx, queue, own, slot| {
            if leaves {
                leaves = Some(slot) != top;
                return queue.dequeue_entity(ctx, &mut own.se, Some(&mut own.cfs), delta, 0);
            }
            own.se.delayed = u32::from(Some(slot) == delayed);
            queue.update_ancestor(ctx, &mut own.se, Some(&mut own.cfs), delta)
        });
        if slot_of(entity).is_none() {
            self.sums_dequeue(c, entity, flags);
        }
        if counted {
            self.signal_estimate_last(c, entity, flags);
        }
        self.put_what_left(c, entity, plan);
    }

    /// The task's own level; its bits and the change of runnable tasks above.
    fn signal_leave_queue(&mut self, c: u32, t: u32, home: u32, flags: u32) -> (u32, i32) {
        let wall_ns = self.signal_clock.at(self.now);
        let se = &self.tasks[t as usize].se;
        let (delta, delay_ends) = (se.leave_delta(flags), se.delay_ends(flags));
        self.sums_before_dequeue(c, t);
        if delay_ends {
            self.count_above(c, home, 1);
        }
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let is_idle = cpu.curr == NO_TASK;
        let cfs = &mut cpu.levels.slots[home as usize].cfs;
        let flags = flags | dequeue::ESTIMATE_LATER;
        let bits = cpu.rq.dequeue_task_on(self.policy, cfs, &mut task.se, wall_ns, is_idle, flags);
        self.level_changed(c, t, home, bits, Climb { below: 0, how: 0, shares: true });
        (bits, delta)
    }

    /// The running entities among those that left stop being so; their records were just brought up to date.
    fn put_what_left(&mut self, c: u32, entity: u32, plan: Leave) {
        let mut at = entity;
        loop {
            let home = self.tree(c).home(at);
            let cpu = &self.cpus[c as usize];
            let queue = cpu.levels.queues.get(home as usize).unwrap_or(&cpu.fair);
            if queue.curr == at {
                self.signal_put_entity(c, at);
            }
            if at == plan.top {
                return;
            }
            at = entity_of(home);
        }
    }

    /// One update of an entity on its queue, with the queue it owns.
    fn update_entity(
        &mut self,
        c: u32,
        entity: u32,
        step: impl FnOnce(&Ctx<'_>, &mut CfsRq, &mut Se, Option<&mut CfsRq>) -> u32,
    ) {
        let policy = self.policy;
        let home = self.tree(c).home(entity);
        let ctx = self.level_ctx(policy, c, home);
        let cpu = &mut self.cpus[c as usize];
        let bits = if let Some(slot) = slot_of(entity) {
            let (queue, own) = cpu.levels.records(&mut cpu.rq, slot);
            step(&ctx, queue, &mut own.se, Some(&mut own.cfs))
        } else {
            let queue = cpu.levels.slots.get_mut(home as usize).map_or(&mut cpu.rq.cfs, |slot| &mut slot.cfs);
            step(&ctx, queue, &mut self.tasks[entity as usize].se, None)
        };
        self.level_changed(c, entity, home, bits, Climb { below: 0, how: 0, shares: false });
    }

    pub(crate) fn signal_put_entity(&mut self, c: u32, entity: u32) {
        self.update_entity(c, entity, |ctx, queue, se, owned| queue.put_prev_entity(ctx, se, owned));
    }

    pub(crate) fn signal_set_entity(&mut self, c: u32, entity: u32) {
        self.update_entity(c, entity, |ctx, queue, se, owned| queue.set_next_entity(ctx, se, owned));
    }

    /// The tick, per level; weights follow.
    pub(crate) fn signal_tick_levels(&mut self, c: u32, t: u32, slot: u32) {
        let policy = self.policy;
        let ctx = self.level_ctx(policy, c, slot);
        let own = &mut self.cpus[c as usize].levels.slots[slot as usize];
        let bits = own.cfs.tick_entity(&ctx, &mut self.tasks[t as usize].se, None);
        let with = Climb { below: bits, how: how::TICK, shares: true };
        self.level_changed(c, t, slot, bits, with);
        self.climb(c, slot, with, |ctx, queue, own, _| queue.tick_entity(ctx, &mut own.se, Some(&mut own.cfs)));
        self.tree(c).sync_above(slot);
    }

    /// Carries an attach or detach below up to the root.
    fn propagate(&mut self, c: u32, slot: u32, below: u32) {
        self.list(c, slot);
        self.refresh_group_load(c, slot);
        let with = Climb { below, how: how::LEFTOVER, shares: false };
        self.climb(c, slot, with, |ctx, queue, own, _| {
            queue.update_load_avg(ctx, &mut own.se, Some(&mut own.cfs), update::TG)
        });
    }

    /// A group has other shares: its entity, and those above it, get the weights that follow.
    pub(crate) fn signal_shares(&mut self, c: u32, slot: u32) {
        self.climb(c, slot, Climb { below: 0, how: 0, shares: true }, |ctx, queue, own, _| {
            queue.update_load_avg(ctx, &mut own.se, Some(&mut own.cfs), update::TG)
        });
    }

    /// A task in a group leaves the fair class.
    pub(crate) fn signal_leave_class_levels(&mut self, c: u32, t: u32, slot: u32) {
        let policy = self.policy;
        let ctx = self.level_ctx(policy, c, slot);
        let own = &mut self.cpus[c as usize].levels.slots[slot as usize];
        let bits = own.cfs.switched_from_fair(&ctx, &mut self.tasks[t as usize].se);
        self.propagate(c, slot, bits);
    }

    /// A task in a group joins the fair class.
    pub(crate) fn signal_join_class_levels(&mut self, c: u32, t: u32, slot: u32) {
        let policy = self.policy;
        let ctx = self.level_ctx(policy, c, slot);
        let own = &mut self.cpus[c as usize].levels.slots[slot as usize];
        let bits = own.cfs.switched_to_fair(&ctx, &mut self.tasks[t as usize].se);
        self.level_changed(c, t, slot, bits, Climb { below: 0, how: 0, shares: false });
        self.propagate(c, slot, bits);
    }

    /// A sleeping task of a group wakes elsewhere, or ended: what it leaves is taken out at its queue's next update.
    pub(crate) fn signal_migrate_levels(&mut self, t: u32, slot: u32, is_idle: bool) {
        let (wall_ns, task) = (self.signal_clock.at(self.now), &mut self.tasks[t as usize]);
        let cpu = &mut self.cpus[task.cpu as usize];
        let cfs = &mut cpu.levels.slots[slot as usize].cfs;
        cpu.rq.migrate_sleeping(self.policy, cfs, &mut task.se, is_idle, wall_ns);
    }

    /// The blocked walk of a CPU with groups; the event bits of the other classes and of the root queue.
    pub(crate) fn update_blocked_levels(&mut self, c: u32, runs: u32) -> u32 {
        let (policy, wall_ns) = (self.policy, self.signal_clock.at(self.now));
        let lost = self.pressure(c).averaged;
        let others = self.cpus[c as usize].rq.update_blocked_others(policy, wall_ns, runs, lost);
        self.walk_groups(c);
        let ctx = self.level_ctx(policy, c, ROOT);
        others | self.cpus[c as usize].rq.cfs.update(&ctx)
    }

    /// The group queues of a CPU, children before parents; those with nothing left drop out.
    fn walk_groups(&mut self, c: u32) {
        let (policy, wall_ns) = (self.policy, self.signal_clock.at(self.now));
        let mut next = self.cpus[c as usize].levels.slots.len() as u32;
        while let Some(slot) = self.cpus[c as usize].levels.listed.below(next) {
            next = slot;
            let Slot { group, parent, .. } = self.cpus[c as usize].levels.slots[slot as usize];
            let ctxs = (self.level_ctx(policy, c, slot), self.level_ctx(policy, c, parent));
            let cpu = &mut self.cpus[c as usize];
            let (queue, own) = cpu.levels.records(&mut cpu.rq, slot);
            let removed = own.cfs.removed_nr > 0;
            let shared = &mut self.groups.list[group as usize].shared;
            let bits = queue.walk_group((&ctxs.0, &ctxs.1), &mut own.se, &mut own.cfs, shared, wall_ns);
            let stays = own.queued || !own.cfs.group_is_decayed(policy);
            cpu.levels.listed.set(slot, stays);
            let below = if removed { ev::REMOVED } else { 0 };
            self.level_changed(c, entity_of(slot), parent, bits, Climb { below, how: 0, shares: false });
        }
        let levels = &mut self.cpus[c as usize].levels;
        let mut next = levels.slots.len() as u32;
        while let Some(slot) = levels.listed.below(next) {
            next = slot;
            let parent = levels.slots[slot as usize].parent;
            if parent != ROOT {
                levels.listed.set(parent, true);
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
        let own = &self.cpus[c as usize].levels.slots[slot as usize];
        let avg = if entity { own.se.avg } else { own.cfs.avg };
        let event = Event::PeltGroup {
            cpu: c,
            group: own.group + 1,
            entity: entity.into(),
            util_avg: avg.util_avg as u32,
            runnable_avg: avg.runnable_avg as u32,
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
