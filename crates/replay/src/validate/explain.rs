// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes of a record that are no update: what joined, what left, what a group propagated. Each is reproduced in every
//! integer by the core, or it is not explained.

use pelton_core::fair::{NICE_LEVELS, task_weight};
use pelton_core::{Avg, Se, scale_load_down};
use pelton_model::groups::SHARES_RANGE;

use super::advance::Bench;
use super::bisect::first;
use super::group::{self, Groups};
use super::object::{Member, Objects, Reweight, State};

/// An entity's averages joined the queue it is now on.
pub const ATTACH: &str = "attach";
/// An entity that had no state in the trace yet joined a queue.
pub const ATTACH_NEW: &str = "attach of a new entity";
/// An entity without a state joined, and its utilization is what the rule for new tasks makes of the queue's averages.
pub const ATTACH_FIRST: &str = "attach of a new entity, by the rule";
/// Averages of a running or queued entity left.
pub const DETACH: &str = "detach";
/// A task left the class and its weight was set again.
pub const DETACH_REWEIGHT: &str = "detach with reweight";
/// Averages of tasks that left in their sleep were taken out.
pub const REMOVAL: &str = "removal after migration in sleep";
/// Several of these at once.
pub const SEVERAL: &str = "several joins and leaves";
/// A group's entity follows the queue it stands for; its load sum may be any.
pub const PROPAGATION_ANY_LOAD: &str = "group propagation, load not recomputed";
/// An entity got another weight.
pub const REWEIGHT: &str = "reweight";

/// Number of joins and leaves that are tried; half as many at each further step.
const MOVES_TRIED: usize = 24;
/// Depth of combinations that are tried where nothing else happened.
pub const DEPTH: usize = 3;
/// Largest weight, scaled down, that a group's entity can have.
pub const WEIGHT_MAX: u64 = *SHARES_RANGE.end();
/// Weight of a task with nice 0.
pub const NICE_0: u64 = 1024;
/// Number of entities that are tried as those that left.
const MEMBERS_MAX: usize = 1024;

/// Explains a queue that changed without an update: the class, and the entities that were accounted for.
pub fn queue_change(
    bench: Bench<'_>,
    objects: &Objects,
    queue: u32,
    (from, to): (&Avg, &Avg),
    depth: usize,
) -> Option<Explained> {
    if (from.last_update_time_ns, from.period_contrib) != (to.last_update_time_ns, to.period_contrib) {
        return None;
    }
    let groups = Groups::of(bench, objects, queue, from);
    if let Some(found) = groups.handed_up(from, to) {
        return Some(found);
    }
    // What needs fewest assumptions comes first: several empty entities together fit more than they explain.
    let (moves, weights) = (objects.moves(queue), objects.reweights(queue));
    let combined = |depth| Steps { bench, objects, queue, to, depth }.combined(from, &moves, &weights, depth);
    let members = || objects.members(queue, MEMBERS_MAX);
    let aged = |&(object, se): &Member| (object, bench.aged(&se, from.last_update_time_ns));
    let left = |member: &Member| left_or_reweighted(bench, objects, from, to, *member);
    let placed = |(object, se): &Member| {
        let placed = placed_anew(bench, objects, queue, from.last_update_time_ns, se);
        placed.into_iter().find_map(|se| left(&(*object, se)))
    };
    combined(depth.min(1))
        .or_else(|| groups.read_off(from, to))
        .or_else(|| members().iter().find_map(|m| left(m).or_else(|| left(&aged(m))).or_else(|| placed(m))))
        .or_else(|| removal(bench, from, to).map(Explained::of))
        .or_else(|| combined(depth).filter(|_| depth > 1))
        .or_else(|| joined_from_elsewhere(bench, objects, queue, from, to))
        .or_else(|| joined_first(bench, objects, queue, from, to))
        .or_else(|| joined_unseen(bench, objects, from, to))
        .or_else(|| objects.expected_on(queue).find_map(|m| left(&aged(&m)).or_else(|| left(&aged(&queued(m))))))
        .or_else(|| group::handed_up_later(bench, objects, queue, from, to))
        .or_else(|| group::handed_after_removal(bench, objects, queue, from, to))
        .or_else(|| members().iter().find_map(|m| left_with_reweight(bench, objects, queue, from, to, &aged(m))))
}

/// An entity whose joining a queue only the queue has shown, when it waits there.
fn queued((object, se): Member) -> Member {
    (object, Se { on_rq: 1, nr_runnable: 1, running: 0, delayed: 0, ..se })
}

/// Placements at an exec that are tried: queue updates since the entity's last record.
const PLACEMENTS_MAX: usize = 8;

/// A running task that executes another program may be placed anew. To compare CPUs the kernel ages it then as if it
/// slept, up to the last update of its queue, and goes on from there (6.18 kernel/sched/fair.c,
/// sched_balance_find_dst_cpu).
fn placed_anew(bench: Bench<'_>, objects: &Objects, queue: u32, at: u64, se: &Se) -> Vec<Se> {
    let since = se.avg.last_update_time_ns;
    let updates = objects.updates(queue).filter(|&update| since < update && update < at && se.running != 0);
    let asleep =
        |update| Se { avg: bench.aged(&Se { on_rq: 0, running: 0, nr_runnable: 0, ..*se }, update).avg, ..*se };
    updates.take(PLACEMENTS_MAX).map(|update| bench.aged(&asleep(update), at)).collect()
}

/// One known entity left, or its load was exchanged, or both in either order. A task that leaves the class is given its
/// weight once more after it left, and the kernel exchanges its load all the same.
fn left_or_reweighted(bench: Bench<'_>, objects: &Objects, from: &Avg, to: &Avg, member: Member) -> Option<Explained> {
    let se = &member.1;
    let same_util = from.util_avg == to.util_avg;
    if !same_util && !near(from, to, &se.avg) {
        return None;
    }
    let gone = bench.detached(from, se);
    if gone == *to {
        return Some(Explained::one(DETACH, member));
    }
    if bench.reweighted(&gone, se, se.weight).0 == *to {
        return Some(Explained::one(DETACH_REWEIGHT, member));
    }
    let (same_weight, exchanged) = bench.reweighted(from, se, se.weight);
    if bench.detached(&same_weight, &exchanged) == *to {
        return Some(Explained::one(DETACH_REWEIGHT, member));
    }
    if same_weight == *to {
        return Some(Explained::of(REWEIGHT));
    }
    // A task has one of few weights; what a group's entity can have is tried where groups are.
    let of_task = |weight: u64| (0..=NICE_LEVELS).any(|level| u64::from(task_weight(level)) == weight);
    let has = |weight: u64| of_task(weight) || objects.weights().any(|w| w == weight);
    let other = reweighted(bench, from, to, se).filter(|other| has(other.weight))?;
    Some(Explained { handed: vec![(member.0, other)], ..Explained::of(REWEIGHT) })
}

/// A known entity left, and a group's entity got another weight with it.
fn left_with_reweight(
    bench: Bench<'_>,
    objects: &Objects,
    queue: u32,
    from: &Avg,
    to: &Avg,
    member: &Member,
) -> Option<Explained> {
    let left = |from: u64, se: u64, to: u64| from.saturating_sub(se) == to;
    let se = &member.1.avg;
    if !left(from.util_avg, se.util_avg, to.util_avg) || !left(from.runnable_avg, se.runnable_avg, to.runnable_avg) {
        return None;
    }
    let gone = bench.detached(from, &member.1);
    let same = |avg: &Avg| (avg.util_avg, avg.util_sum, avg.runnable_avg, avg.runnable_sum);
    if gone == *from || same(&gone) != same(to) {
        return None;
    }
    Some(Groups::of(bench, objects, queue, &gone).read_off(&gone, to)?.and(*member))
}

/// An entity that was last seen elsewhere joined, though no migration was recorded.
fn joined_from_elsewhere(bench: Bench<'_>, objects: &Objects, queue: u32, from: &Avg, to: &Avg) -> Option<Explained> {
    let load = to.load_avg.checked_sub(from.load_avg)?;
    let runnable = to.runnable_avg.checked_sub(from.runnable_avg)?;
    let util = to.util_avg.checked_sub(from.util_avg)?;
    let (object, se) = objects.elsewhere(queue, (load, runnable, util), MEMBERS_MAX)?;
    let (with, joined) = bench.attached(from, &se);
    (with == *to).then(|| Explained::one(ATTACH, (object, se)).joined(Some((object, joined))))
}

/// Capacity of the CPUs for which the rule of new tasks is tried. A smaller one only matters where half of what it has
/// left is less than the queue's share; which CPU has which capacity is not in a trace.
const FULL_CAPACITY: u32 = 1024;

/// A task joined for the first time: its load is its weight, its utilization what `post_init_entity_util_avg` makes of
/// the queue it is made for, as last recorded or brought up since. Only the weight is read off.
fn joined_first(bench: Bench<'_>, objects: &Objects, queue: u32, from: &Avg, to: &Avg) -> Option<Explained> {
    let weight = to.load_avg.checked_sub(from.load_avg).filter(|weight| *weight != 0)?;
    let recorded = objects.queue(queue).map(|state| state.avg);
    let fits = |at: Avg| bench.attached(from, &bench.first(weight, &at, FULL_CAPACITY)).0 == *to;
    recorded.into_iter().chain([*from]).any(fits).then(|| Explained::of(ATTACH_FIRST))
}

/// An entity joined that the trace has not shown yet: new ones have a load average equal to their weight, others a
/// weight that tasks have.
fn joined_unseen(bench: Bench<'_>, objects: &Objects, from: &Avg, to: &Avg) -> Option<Explained> {
    let mut se = Se::default();
    se.avg.load_avg = to.load_avg.checked_sub(from.load_avg)?;
    se.avg.runnable_avg = to.runnable_avg.checked_sub(from.runnable_avg)?;
    se.avg.util_avg = to.util_avg.checked_sub(from.util_avg)?;
    let fits = |weight: u64| bench.attached(from, &Se { weight, ..se }).0 == *to;
    let joined =
        [se.avg.load_avg, NICE_0].into_iter().chain(objects.weights()).any(|weight| weight != 0 && fits(weight));
    joined.then(|| Explained::of(ATTACH_NEW))
}

/// Explanation of a change.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// Name of the class.
    pub class: &'static str,
    /// Joins and leaves that are accounted for with it.
    pub settled: Vec<Member>,
    /// Entities that joined, as they are now.
    pub joined: Vec<Member>,
    /// An entity that handed something up or got another weight, as it is now; the states it may have.
    pub handed: Vec<Member>,
    /// New weights that are accounted for with it.
    pub weighed: Vec<Reweight>,
    /// The entity itself went from one queue to another.
    pub moved: bool,
}

impl Explained {
    /// A class that settles nothing.
    pub fn of(class: &'static str) -> Explained {
        Explained { class, ..Explained::default() }
    }

    /// Explains the change of an entity.
    pub fn entity(class: &'static str) -> Explained {
        Explained { moved: matches!(class, ATTACH | ATTACH_NEW), ..Explained::of(class) }
    }

    /// Adds the name for an entity whose change only its queue showed.
    pub fn shown_by_queue(self, class: &'static str) -> Explained {
        if self.class.is_empty() { self.with_class(class) } else { self }
    }

    /// Replaces the name of the class.
    pub fn with_class(self, class: &'static str) -> Explained {
        Explained { class, ..self }
    }

    /// Explains a change by what a group's entity propagated.
    pub fn handed(class: &'static str, member: Member) -> Explained {
        Explained { handed: vec![member], ..Explained::of(class) }
    }

    /// Adds a new weight that is accounted for.
    pub fn weighed(mut self, change: Reweight) -> Explained {
        self.weighed.push(change);
        self
    }

    /// Explains a change by one entity that came or went.
    pub fn one(class: &'static str, member: Member) -> Explained {
        Explained { settled: vec![member], ..Explained::of(class) }
    }

    fn and(mut self, member: Member) -> Explained {
        self.class = SEVERAL;
        self.settled.push(member);
        self
    }

    /// Adds an entity that came, as it is now.
    pub fn joined(mut self, member: Option<Member>) -> Explained {
        self.joined.extend(member);
        self
    }
}

/// Target state of a queue, and the objects from which its entities are known.
struct Steps<'a> {
    bench: Bench<'a>,
    objects: &'a Objects,
    queue: u32,
    to: &'a Avg,
    depth: usize,
}

impl Steps<'_> {
    /// Joins, leaves and new weights of known entities in any order, ending in a removal of known size or in what a
    /// group propagated if need be.
    fn combined(&self, from: &Avg, moves: &[Member], weights: &[Reweight], depth: usize) -> Option<Explained> {
        if depth < self.depth {
            if let Some(class) = removal(self.bench, from, self.to) {
                return Some(Explained::of(class));
            }
            let groups = Groups::of(self.bench, self.objects, self.queue, from);
            if let Some(found) = groups.handed_up(from, self.to).or_else(|| groups.read_off(from, self.to)) {
                return Some(found);
            }
        }
        if depth == 0 {
            return None;
        }
        self.new_weight(from, moves, weights, depth).or_else(|| self.join_or_leave(from, moves, weights, depth))
    }

    /// Begins with an entity that got another weight.
    fn new_weight(&self, from: &Avg, moves: &[Member], weights: &[Reweight], depth: usize) -> Option<Explained> {
        weights.iter().enumerate().find_map(|(index, change)| {
            let next = self.bench.reweighted(from, &change.0, change.1).0;
            if next == *self.to {
                return Some(Explained::of(REWEIGHT).weighed(*change));
            }
            if depth < 2 || next == *from {
                return None;
            }
            let mut others = weights.to_vec();
            others.remove(index);
            let found = self.combined(&next, moves, &others, depth - 1)?;
            Some(found.with_class(SEVERAL).weighed(*change))
        })
    }

    /// Begins with an entity that joined or left.
    fn join_or_leave(&self, from: &Avg, moves: &[Member], weights: &[Reweight], depth: usize) -> Option<Explained> {
        for (index, &(object, se)) in moves.iter().enumerate() {
            if depth == 1 && !near(from, self.to, &se.avg) {
                continue;
            }
            let (with, joined) = self.bench.attached(from, &se);
            let tries = [(ATTACH, with, Some((object, joined))), (DETACH, self.bench.detached(from, &se), None)];
            for (class, next, joined) in tries {
                if next == *self.to {
                    return Some(Explained::one(class, (object, se)).joined(joined));
                }
                if depth > 1 && next != *from {
                    let mut others = moves.to_vec();
                    others.remove(index);
                    others.truncate(MOVES_TRIED >> (DEPTH - depth + 1));
                    if let Some(found) = self.combined(&next, &others, weights, depth - 1) {
                        return Some(found.and((object, se)).joined(joined));
                    }
                }
            }
        }
        None
    }
}

/// True when the utilization changed by just this entity's, in one direction or the other, or was floored.
fn near(from: &Avg, to: &Avg, se: &Avg) -> bool {
    to.util_avg == from.util_avg + se.util_avg || to.util_avg == from.util_avg.saturating_sub(se.util_avg)
}

/// Averages went down by any amount, and the sums by what that amount stands for. What left may have had more than the
/// queue had left of it: then the average is 0, and the sum shows how much it was.
fn removal(bench: Bench<'_>, from: &Avg, to: &Avg) -> Option<&'static str> {
    let after = |load, runnable, util| bench.removed(from, load, runnable, util);
    let amount = |from: u64, to: u64, most: u64, reached: &dyn Fn(u64) -> bool| {
        let least = from.checked_sub(to)?;
        Some(if to > 0 { least } else { first(least, most.max(least), reached) })
    };
    let [load, runnable, util] = removable(from);
    let load = amount(from.load_avg, to.load_avg, load, &|r| after(r, 0, 0).load_sum <= to.load_sum)?;
    let runnable =
        amount(from.runnable_avg, to.runnable_avg, runnable, &|r| after(0, r, 0).runnable_sum <= to.runnable_sum)?;
    let util = amount(from.util_avg, to.util_avg, util, &|r| after(0, 0, r).util_sum <= to.util_sum)?;
    (after(load, runnable, util) == *to).then_some(REMOVAL)
}

/// Load, runnable average and utilization that are certain to leave nothing of a queue.
pub fn removable(queue: &Avg) -> [u64; 3] {
    // An average takes more than 2^15 of its sum along, wherever in the period that is.
    let all = |avg: u64, sum: u64| avg.max(sum >> 15) + 1;
    [
        all(queue.load_avg, queue.load_sum),
        all(queue.runnable_avg, queue.runnable_sum),
        all(queue.util_avg, queue.util_sum.into()),
    ]
}

/// Only the load changed, by exchanging what one entity contributes. The new weight is read off the sum, the average
/// then has to fit. The entity as it is then.
pub fn reweighted(bench: Bench<'_>, from: &Avg, to: &Avg, entity: &Se) -> Option<Se> {
    let same = |a: &Avg| (a.util_sum, a.util_avg, a.runnable_sum, a.runnable_avg);
    if same(from) != same(to) || from.load_sum == to.load_sum || entity.avg.load_sum == 0 {
        return None;
    }
    // Without weight nothing of it is left, and the others' sum is at least what their average asks for.
    let rest = bench.reweighted(from, entity, 0).0.load_sum;
    let new = to.load_sum.saturating_sub(rest);
    let weight = new / entity.avg.load_sum;
    if weight > WEIGHT_MAX || !new.is_multiple_of(entity.avg.load_sum) {
        return None;
    }
    let (queue, after) = bench.reweighted(from, entity, weight);
    (queue == *to).then_some(after)
}

/// Explains an entity that changed without an update.
pub fn entity_change(
    bench: Bench<'_>,
    objects: &Objects,
    object: u32,
    from: Option<&State>,
    seen: &State,
) -> Option<&'static str> {
    if let Some(queue) = objects.queue(seen.queue) {
        let here = Avg {
            last_update_time_ns: seen.avg.last_update_time_ns,
            period_contrib: seen.avg.period_contrib,
            ..queue.avg
        };
        let joined = if bench.leads_to(&here, &queue.avg) {
            bench.attached(&here, &seen.entity()).1.avg
        } else {
            Avg::default()
        };
        let averages = |a: &Avg| (a.util_avg, a.runnable_avg, a.load_avg);
        if joined == seen.avg && joined.last_update_time_ns != 0 {
            match from {
                Some(from) if averages(&from.avg) == averages(&seen.avg) => return Some(ATTACH),
                None => return Some(ATTACH_NEW),
                Some(from) if from.avg.last_update_time_ns == 0 => return Some(ATTACH_NEW),
                Some(_) => {}
            }
        }
    }
    let from = from?;
    if seen.is_group()
        && let Some(class) = group_change(bench, objects, object, from, seen)
    {
        return Some(class);
    }
    if bench.reweighted(&Avg::default(), &from.entity(), scale_load_down(seen.weight)).1.avg == seen.avg {
        return Some(REWEIGHT);
    }
    let unweighted = Avg { load_avg: from.avg.load_avg, ..seen.avg };
    (unweighted == from.avg && seen.weight != from.weight && load_fits(bench, seen, from, &seen.avg))
        .then_some(REWEIGHT)
}

/// A load average that belongs to the load sum: at the weight before or after, at the entity's position or the queue's.
fn load_fits(bench: Bench<'_>, seen: &State, from: &State, queue: &Avg) -> bool {
    let weights = [scale_load_down(seen.weight), scale_load_down(from.weight)];
    let positions = [seen.avg.period_contrib, queue.period_contrib];
    let fits = |weight, at| bench.load_avg(seen.avg.load_sum, weight, at) == seen.avg.load_avg;
    weights.into_iter().any(|weight| positions.into_iter().any(|at| fits(weight, at)))
}

/// A group's entity after propagation: each average is that of the queue it stands for, or unchanged.
fn group_change(bench: Bench<'_>, objects: &Objects, object: u32, from: &State, seen: &State) -> Option<&'static str> {
    let own = objects.owned_queue(object)?;
    let above = objects.queue(seen.queue)?;
    let mut aligned = from.entity();
    (aligned.avg.util_avg, aligned.avg.runnable_avg) = (own.avg.util_avg, own.avg.runnable_avg);
    let aligned = bench.attached(&above.avg, &aligned).1.avg;
    let util = (seen.avg.util_avg, seen.avg.util_sum);
    let runnable = (seen.avg.runnable_avg, seen.avg.runnable_sum);
    let util_fits = util == (from.avg.util_avg, from.avg.util_sum) || util == (aligned.util_avg, aligned.util_sum);
    let runnable_fits = runnable == (from.avg.runnable_avg, from.avg.runnable_sum)
        || runnable == (aligned.runnable_avg, aligned.runnable_sum);
    let load = (seen.avg.load_avg, seen.avg.load_sum) == (from.avg.load_avg, from.avg.load_sum)
        || load_fits(bench, seen, from, &above.avg);
    (util_fits && runnable_fits && load).then_some(PROPAGATION_ANY_LOAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_core::Policy;

    fn queue(period_contrib: u32, sums: (u64, u64, u32), averages: (u64, u64, u64)) -> Avg {
        let own = Avg { last_update_time_ns: 1 << 36, period_contrib, ..Avg::default() };
        let own = Avg { load_sum: sums.0, runnable_sum: sums.1, util_sum: sums.2, ..own };
        Avg { load_avg: averages.0, runnable_avg: averages.1, util_avg: averages.2, ..own }
    }

    #[test]
    fn a_task_may_get_a_weight_no_task_had_before_but_only_one_that_tasks_have() {
        let pol = Policy::profile("6.18").expect("a profile");
        let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
        let from = queue(781, (51_654_271, 22_383_603, 13_022_820), (1087, 468, 270));
        let avg = queue(781, (20_000, 20_480_000, 9_000_000), (430, 430, 189));
        let member = (1, Se { weight: 1024, avg, on_rq: 1, ..Se::default() });
        let class = |weight| {
            let to = bench.reweighted(&from, &member.1, weight).0;
            left_or_reweighted(bench, &Objects::default(), &from, &to, member).map(|found| found.class)
        };
        assert_eq!(
            (class(3121), class(u64::from(task_weight(NICE_LEVELS))), class(3000)),
            (Some(REWEIGHT), Some(REWEIGHT), None)
        );
    }

    #[test]
    fn a_new_task_is_as_large_as_the_rule_makes_it_and_only_else_is_it_read_off() {
        for profile in ["5.10", "6.18", "7.2"] {
            let pol = Policy::profile(profile).expect("a profile");
            let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
            let from = queue(781, (51_654_271, 22_383_603, 13_022_820), (1087, 468, 270));
            let class = |util: u64| {
                let mut se = bench.first(1024, &from, 1024);
                (se.avg.util_avg, se.avg.runnable_avg) = (se.avg.util_avg + util, se.avg.runnable_avg + util);
                let to = bench.attached(&from, &se).0;
                queue_change(bench, &Objects::default(), 1, (&from, &to), DEPTH).map(|found| found.class)
            };
            assert_eq!((class(0), class(1)), (Some(ATTACH_FIRST), Some(ATTACH_NEW)), "{profile}");
        }
    }

    /// Recorded in 6.18.15 and 6.1.192: the queue, what was taken from it, and the queue then.
    #[test]
    fn who_left_may_have_had_more_than_the_queue_had_left() {
        let pol = Policy::profile("6.18").expect("a profile");
        let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
        let recorded = [
            (
                queue(781, (51_654_271, 22_383_603, 13_022_820), (1087, 468, 270)),
                (1023, 397, 275),
                queue(781, (3_062_794, 3_526_500, 0), (64, 71, 0)),
            ),
            (
                queue(939, (47_831_862, 20_772_915, 10_819_084), (1003, 432, 223)),
                (1023, 435, 222),
                queue(939, (0, 42_120, 239_230), (0, 0, 1)),
            ),
        ];
        for (from, (load, runnable, util), to) in recorded {
            assert_eq!(bench.removed(&from, load, runnable, util), to);
            assert_eq!(removal(bench, &from, &to), Some(REMOVAL));
            let wrong = [Avg { util_sum: to.util_sum + 1, ..to }, Avg { runnable_sum: to.runnable_sum + 1, ..to }];
            assert!(wrong.iter().all(|wrong| removal(bench, &from, wrong).is_none()), "{to:?}");
        }
    }
}
