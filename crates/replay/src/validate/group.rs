// SPDX-License-Identifier: GPL-2.0-or-later
//! Propagation by a task group: its entity takes the averages of the queue it stands for, and the queue above takes the
//! difference. The upper queue is recorded first, its entity right after it.

use pelton_core::{Avg, CfsRq, Se};
use pelton_schema::PELT_ON_RQ;

use super::advance::{Bench, PERIOD_UNITS, UNIT_SHIFT};
use super::explain::{Explained, NICE_0, REWEIGHT, WEIGHT_MAX, reweighted};
use super::object::{Member, Objects, Reweight, State};

/// A group's entity took over what the queue it stands for is known to have and to have pending.
pub const PROPAGATION: &str = "group propagation";
/// A propagation with the change of the load read off the queue above, where it shows in an average and a sum.
pub const PROPAGATION_LOAD: &str = "group propagation, load read off";
/// A propagation from a queue that changed after its last record: its averages are read off the queue above.
pub const PROPAGATION_UNSEEN: &str = "group propagation from a queue that changed unseen";

/// Entities of groups that are tried on a queue.
pub const GROUPS_MAX: usize = 32;

/// Updates of the queue since an entity's last record at which it may have been put on it or taken off it.
const CHANGES_MAX: usize = 4;

/// The entities of groups on a queue, as they may be at the queue's last update.
pub struct Groups<'a> {
    bench: Bench<'a>,
    objects: &'a Objects,
    queue: u32,
    groups: Vec<Group>,
}

/// The entity of a group, as it may be, and what it has to propagate.
struct Group {
    entity: u32,
    ages: Vec<Se>,
    own: Option<Own>,
}

/// A group's queue with what it is known to have pending, and the weights it may have when that is propagated.
struct Own {
    queue: CfsRq,
    weights: Vec<u64>,
}

impl Own {
    fn of(objects: &Objects, entity: u32) -> Option<Own> {
        let queue = objects.own_pending(entity)?;
        // An entity that left may have been part of the weight still when the queue was recorded, whichever it is; one
        // that joined may not yet.
        let (recorded, below) = (queue.load_weight, objects.weights_below(entity));
        let left = below.iter().chain([&recorded]).filter_map(|left| recorded.checked_sub(*left));
        let joined = below.iter().map(|joined| recorded + joined);
        let mut weights = vec![recorded];
        for weight in left.chain(joined) {
            if !weights.contains(&weight) {
                weights.push(weight);
            }
        }
        Some(Own { queue, weights })
    }
}

impl<'a> Groups<'a> {
    /// Those of this queue.
    pub fn of(bench: Bench<'a>, objects: &'a Objects, queue: u32, from: &Avg) -> Groups<'a> {
        let group = |(entity, known): (u32, State)| {
            let ages = aged(bench, &known, from.last_update_time_ns);
            Group { entity, ages, own: Own::of(objects, entity) }
        };
        let groups = objects.groups(queue, GROUPS_MAX).into_iter().map(group).collect();
        Groups { bench, objects, queue, groups }
    }

    /// Explains a queue that changed by what the queue of one group is known to have propagated; the entity is expected
    /// to show the same.
    pub fn handed_up(&self, from: &Avg, to: &Avg) -> Option<Explained> {
        self.handed(from, to, false).or_else(|| handed_by_unseen(self.bench, self.objects, self.queue, from, to))
    }

    /// Explains a change with the propagated amount read off the queue. Where only the load changed a new weight of the
    /// entity fits as well: then it may show either.
    pub fn read_off(&self, from: &Avg, to: &Avg) -> Option<Explained> {
        let load_only = from.util_avg == to.util_avg && from.runnable_avg == to.runnable_avg;
        let weighed = |group: &Group| {
            let after = group.ages.iter().find_map(|se| reweighted(self.bench, from, to, se))?;
            Some((group.entity, after))
        };
        let weighed: Vec<Member> = self.groups.iter().filter(|_| load_only).filter_map(weighed).collect();
        let read = self.handed(from, to, true);
        if weighed.is_empty() {
            return read;
        }
        let handed = weighed.into_iter().chain(read.into_iter().flat_map(|read| read.handed)).collect();
        Some(Explained { handed, ..Explained::of(REWEIGHT) })
    }

    fn handed(&self, from: &Avg, to: &Avg, reads_off: bool) -> Option<Explained> {
        let hand = |group: &Group| handed_at_ages(self.bench, self.objects, (from, to), group, reads_off);
        if from == to { None } else { self.groups.iter().find_map(hand) }
    }
}

fn handed_at_ages(
    bench: Bench<'_>,
    objects: &Objects,
    change: (&Avg, &Avg),
    group: &Group,
    reads_off: bool,
) -> Option<Explained> {
    group.ages.iter().find_map(|se| {
        let (after, class) = handed_by(bench, objects, group, change, se, reads_off)?;
        Some(Explained::handed(class, (group.entity, after)))
    })
}

/// Explains a propagation, or a new weight, of an entity that was put on the queue or taken off it at an update of the
/// queue since its last record.
pub fn handed_up_later(bench: Bench<'_>, objects: &Objects, queue: u32, from: &Avg, to: &Avg) -> Option<Explained> {
    objects.groups(queue, GROUPS_MAX).iter().find_map(|(entity, known)| {
        let ages = changed_since(bench, objects, queue, (*entity, known), from.last_update_time_ns);
        let group = Group { entity: *entity, ages, own: Own::of(objects, *entity) };
        let weighed = || group.ages.iter().find_map(|se| reweighted(bench, from, to, se));
        handed_at_ages(bench, objects, (from, to), &group, false)
            .or_else(|| weighed().map(|after| Explained::handed(REWEIGHT, (*entity, after))))
    })
}

/// Explains the propagation by a group right after its entity got a weight.
pub fn handed_up_with_weight(
    bench: Bench<'_>,
    objects: &Objects,
    (entity, known, weight): (u32, &State, u64),
    from: &Avg,
    to: &Avg,
) -> Option<Explained> {
    aged(bench, known, from.last_update_time_ns).iter().find_map(|se| {
        let (above, weighed) = bench.reweighted(from, se, weight);
        let group = Group { entity, ages: vec![weighed], own: Own::of(objects, entity) };
        let handed = |reads_off| handed_at_ages(bench, objects, (&above, to), &group, reads_off);
        handed(false).or_else(|| handed(true))
    })
}

/// Sleepers of a group that are tried as taken out together.
const SLEEPERS_MAX: usize = 4;

/// Explains the propagation by a group after sleepers were taken out of its queue, which no period boundary has shown
/// since.
pub fn handed_after_removal(
    bench: Bench<'_>,
    objects: &Objects,
    queue: u32,
    from: &Avg,
    to: &Avg,
) -> Option<Explained> {
    objects.groups(queue, GROUPS_MAX).iter().find_map(|(entity, known)| {
        let own = objects.own_queue(*entity)?;
        let (state, left) = (objects.queue(own)?, objects.deposited(own));
        let handed = |sleepers: &[Se]| {
            let own = bench.owned_without(state, sleepers, from.last_update_time_ns);
            aged(bench, known, from.last_update_time_ns).into_iter().find_map(|se| {
                let (above, after) = bench.handed_up(from, &se, &own);
                (above == *to).then(|| Explained::handed(PROPAGATION, (*entity, after)))
            })
        };
        let several = (1..=left.len().min(SLEEPERS_MAX)).map(|n| &left[..n]);
        let single = (1..left.len()).map(|n| &left[n..=n]);
        several.chain(single).find_map(handed)
    })
}

/// The entities of a queue's groups that stood on it when last seen, as if they had been taken off it at any moment
/// since within the period.
pub fn left_at_any_moment(bench: Bench<'_>, objects: &Objects, queue: u32, at: u64) -> impl Iterator<Item = Member> {
    let stood = |(_, known): &(u32, State)| known.flags & PELT_ON_RQ != 0;
    objects.groups(queue, GROUPS_MAX).into_iter().filter(stood).flat_map(move |(entity, known)| {
        let since = known.avg.last_update_time_ns;
        let units = at.saturating_sub(since) >> UNIT_SHIFT;
        (1..units.min(PERIOD_UNITS)).map(move |units| {
            let queued = bench.aged(&known.entity(), since + (units << UNIT_SHIFT));
            (entity, bench.aged(&Se { on_rq: 0, nr_runnable: 0, running: 0, ..queued }, at))
        })
    })
}

/// An entity brought up to a time, if it was put on the queue or taken off it at an update of the queue before.
fn changed_since(bench: Bench<'_>, objects: &Objects, queue: u32, (entity, known): (u32, &State), at: u64) -> Vec<Se> {
    let since = known.avg.last_update_time_ns;
    let mut between: Vec<u64> = objects.updates(queue).filter(|&update| since < update && update < at).collect();
    between.dedup();
    if known.is_delayed() {
        // An entity whose dequeue is delayed leaves soon after it was seen; others may have come or gone lately.
        between.reverse();
    }
    let own = objects.owned_queue(entity).map_or(0, |own| own.runnable);
    let mut ages: Vec<Se> = Vec::new();
    for update in between.into_iter().take(CHANGES_MAX).chain([since]) {
        for middle in aged(bench, known, update) {
            for (on_rq, nr_runnable, running) in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, own, 0), (1, own, 1)] {
                let after = bench.aged(&Se { on_rq, nr_runnable, running, ..middle }, at);
                if ages.iter().all(|other| other.avg != after.avg) {
                    ages.push(after);
                }
            }
        }
    }
    ages
}

/// The first that a group propagates: its entity has no record yet and is empty. Its weight is read off the load
/// average.
fn handed_by_unseen(bench: Bench<'_>, objects: &Objects, queue: u32, from: &Avg, to: &Avg) -> Option<Explained> {
    let cpu = objects.queue(queue)?.cpu;
    objects.unseen(cpu).take(GROUPS_MAX).find_map(|entity| {
        let own = objects.own_pending(entity)?;
        // What joins without a load average has a load sum of 1 until the next period.
        let weights = [NICE_0, to.load_avg.saturating_sub(from.load_avg)];
        let fits = |weight, load_sum| {
            let avg = Avg { load_sum, ..Avg::default() };
            weight != 0 && bench.handed_up(from, &Se { weight, avg, ..Se::default() }, &own).0 == *to
        };
        let fits = weights.into_iter().any(|weight| fits(weight, 0) || fits(weight, 1));
        fits.then(|| Explained::of(PROPAGATION))
    })
}

/// An entity as it was when it got the weight it is seen with, at the time it is seen or at a moment before.
pub fn weighed_before(
    bench: Bench<'_>,
    objects: &Objects,
    (entity, known): (u32, &State),
    seen: &State,
) -> Option<Reweight> {
    let (weight, at) = (seen.entity().weight, seen.avg.last_update_time_ns);
    // The latest first; or right when it was last seen.
    let since = known.avg.last_update_time_ns;
    let moments = objects.moments.near(seen.cpu, Some(seen.queue), since, at).into_iter().rev().chain([since]);
    let as_seen = |avg: Avg, weight: u64| State { avg, weight, ..*seen };
    let shows = |before: &Se| {
        let avg = bench.reweighted(&Avg::default(), before, weight).1.avg;
        avg == seen.avg || aged(bench, &as_seen(avg, seen.weight), at).iter().any(|se| se.avg == seen.avg)
    };
    let at_moment = [at].into_iter().chain(moments).find_map(|moment| {
        let befores =
            [*known, as_seen(known.avg, known.weight)].into_iter().flat_map(|from| aged(bench, &from, moment));
        befores.into_iter().find(shows)
    });
    // Or it came or went in between.
    let later = || changed_since(bench, objects, seen.queue, (entity, known), at).into_iter().find(shows);
    at_moment.or_else(later).map(|before| (before, weight))
}

/// An entity brought up to a time as it was last seen, and as if it had slept, waited or run.
pub fn aged(bench: Bench<'_>, known: &State, at: u64) -> Vec<Se> {
    let se = known.entity();
    if se.avg.last_update_time_ns >= at {
        return vec![se];
    }
    let others = [(se.on_rq, se.running), (se.on_rq, 1 - se.running), (0, 0), (1, 0), (1, 1)];
    let mut ages: Vec<Se> = Vec::with_capacity(others.len());
    for (on_rq, running) in others {
        let nr_runnable = if known.flags & PELT_ON_RQ == 0 { on_rq } else { se.nr_runnable };
        let after = bench.aged(&Se { on_rq, running, nr_runnable, ..se }, at);
        if ages.iter().all(|other| other.avg != after.avg) {
            ages.push(after);
        }
    }
    ages
}

/// The entity after it propagated just what the queue shows: what its own queue is known to have had, or that is read
/// off.
fn handed_by(
    bench: Bench<'_>,
    objects: &Objects,
    group: &Group,
    (from, to): (&Avg, &Avg),
    se: &Se,
    reads_off: bool,
) -> Option<(Se, &'static str)> {
    let hand_up = |own: &CfsRq| {
        let (above, after) = bench.handed_up(from, se, own);
        (above == *to).then_some(after)
    };
    if !reads_off {
        let own = group.own.as_ref()?;
        let of_weight = |&load_weight: &u64| hand_up(&CfsRq { load_weight, ..own.queue });
        return own.weights.iter().find_map(of_weight).map(|after| (after, PROPAGATION));
    }
    if let Some(found) = group.own.as_ref().and_then(|own| handed_by_weightless(bench, from, to, se, &own.queue)) {
        return Some((found, PROPAGATION_LOAD));
    }
    let own = read_off(from, to, se)?;
    let averages = |avg: &Avg| (avg.util_avg, avg.runnable_avg);
    let seen = objects.owned_queue(group.entity).is_some_and(|queue| averages(&queue.avg) == averages(&own.avg));
    Some((hand_up(&own)?, if seen { PROPAGATION_LOAD } else { PROPAGATION_UNSEEN }))
}

/// An entity without load: no record shows when it gets another weight. That is read off what it propagates.
fn handed_by_weightless(bench: Bench<'_>, from: &Avg, to: &Avg, se: &Se, own: &CfsRq) -> Option<Se> {
    if se.avg.load_sum != 0 {
        return None;
    }
    let load_sum = bench.handed_up(from, se, own).1.avg.load_sum;
    let weighted = to.load_sum.checked_sub(from.load_sum)?;
    let weight = weighted.checked_div(load_sum).filter(|&w| w <= WEIGHT_MAX && w * load_sum == weighted)?;
    let (above, after) = bench.handed_up(from, &Se { weight, ..*se }, own);
    (above == *to).then_some(after)
}

/// The group's queue that would make this difference: utilization and runnable are its averages, the load sum of the
/// entity follows from the one of the queue above. Every sum and average has to fit afterwards.
fn read_off(from: &Avg, to: &Avg, se: &Se) -> Option<CfsRq> {
    let moved = |se: u64, from: u64, to: u64| se.checked_add(to)?.checked_sub(from);
    let mut own = CfsRq { propagate: 1, load_weight: 1, ..CfsRq::default() };
    own.avg.util_avg = moved(se.avg.util_avg, from.util_avg, to.util_avg)?;
    own.avg.runnable_avg = moved(se.avg.runnable_avg, from.runnable_avg, to.runnable_avg)?;
    if from.load_sum == to.load_sum && from.load_avg == to.load_avg {
        return Some(own);
    }
    let weighted = moved(se.weight.checked_mul(se.avg.load_sum)?, from.load_sum, to.load_sum)?;
    let load_sum = weighted.checked_div(se.weight).filter(|_| weighted.is_multiple_of(se.weight))?;
    if load_sum > se.avg.load_sum {
        own.prop_runnable_sum = i64::try_from(load_sum - se.avg.load_sum).ok()?;
    } else {
        (own.prop_runnable_sum, own.avg.load_sum) = (-1, load_sum);
    }
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::super::object::key;
    use super::*;
    use pelton_core::Policy;
    use pelton_schema::{PELT_DELAYED, PeltSignal};

    const QUEUE: u32 = 1;
    const ENTITY: u32 = 2;

    fn avg(load: u64, runnable: u64, util: u64) -> Avg {
        let divisor = 46_718 + 500;
        let (load_sum, runnable_sum, util_sum) = (load * divisor, runnable * divisor, (util * divisor) as u32);
        let own = Avg { last_update_time_ns: 1 << 30, period_contrib: 500, ..Avg::default() };
        Avg { load_sum, runnable_sum, util_sum, load_avg: load, runnable_avg: runnable, util_avg: util, ..own }
    }

    fn group_on_a_queue() -> (Objects, Se) {
        let mut objects = Objects::default();
        let state = State { avg: avg(0, 100, 80), weight: 512 << 10, queue: QUEUE, flags: 9, ..State::default() };
        let state = State { avg: Avg { load_sum: 20_000, load_avg: 216, ..state.avg }, ..state };
        objects.put(key(PeltSignal::Entity, ENTITY), state);
        (objects, state.entity())
    }

    fn handed_up(bench: Bench<'_>, objects: &Objects, from: &Avg, to: &Avg) -> Option<Explained> {
        let groups = Groups::of(bench, objects, QUEUE, from);
        groups.handed_up(from, to).or_else(|| groups.read_off(from, to))
    }

    #[test]
    fn what_a_group_hands_up_after_a_removal_below_is_found() {
        let pol = Policy::profile("6.18").expect("a profile");
        let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
        let (mut objects, se) = group_on_a_queue();
        let (own, task) = (3, 4);
        let sleeper = State { avg: avg(200, 70, 50), weight: 1024 << 10, queue: own, tid: 9, ..State::default() };
        let sleeper = State { avg: Avg { load_sum: 9_222, ..sleeper.avg }, ..sleeper };
        let below = State { avg: avg(900, 100, 80), queue: own, ..State::default() };
        objects.put(key(PeltSignal::Queue, own), below);
        objects.put(key(PeltSignal::Entity, task), sleeper);
        objects.owns(ENTITY, own);
        let from = avg(2_000, 1_500, 900);
        let left = bench.owned_without(&below, &[sleeper.entity()], from.last_update_time_ns);
        assert!(left.propagate != 0 && left.avg.util_avg == 30, "{left:?}");
        let (to, after) = bench.handed_up(&from, &se, &left);
        assert!(handed_after_removal(bench, &objects, QUEUE, &from, &to).is_none(), "no task is known to have left");
        objects.deposits(task, false);
        let found = handed_after_removal(bench, &objects, QUEUE, &from, &to).expect("the sleeper");
        assert_eq!(found.handed.first().map(|(entity, se)| (*entity, se.avg)), Some((ENTITY, after.avg)));
        let wrong = Avg { util_sum: to.util_sum + 1, ..to };
        assert!(handed_after_removal(bench, &objects, QUEUE, &from, &wrong).is_none());
    }

    #[test]
    fn who_wants_to_sleep_is_taken_for_gone_at_the_first_update_after() {
        let pol = Policy::profile("6.18").expect("a profile");
        let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
        let (mut objects, se) = group_on_a_queue();
        let since = se.avg.last_update_time_ns;
        let update = |n: u64| since + (n << UNIT_SHIFT);
        for n in (10..).step_by(10).take(3 * CHANGES_MAX) {
            let avg = Avg { last_update_time_ns: update(n), ..avg(900, 900, 80) };
            objects.put(key(PeltSignal::Queue, QUEUE), State { avg, queue: QUEUE, ..State::default() });
        }
        let state = |flags| State { avg: se.avg, weight: 512 << 10, queue: QUEUE, flags, ..State::default() };
        let first = |flags| {
            let ages = changed_since(bench, &objects, QUEUE, (ENTITY, &state(flags)), update(200));
            ages.first().map(|age| age.avg.load_sum)
        };
        let (delayed, queued) = (PELT_ON_RQ | PELT_DELAYED, PELT_ON_RQ);
        assert_eq!(first(delayed), Some(se.avg.load_sum + 10), "gone at the first");
        assert_eq!(first(queued), Some(se.avg.load_sum + 120), "gone at the last");
    }

    #[test]
    fn what_a_group_hands_up_is_found_on_the_queue_above() {
        let pol = Policy::profile("6.18").expect("a profile");
        let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
        let (objects, se) = group_on_a_queue();
        let own = CfsRq { avg: avg(300, 400, 250), propagate: 1, prop_runnable_sum: 9_000, ..CfsRq::default() };
        let from = avg(2_000, 1_500, 900);
        let (to, after) = bench.handed_up(&from, &se, &own);
        let found = handed_up(bench, &objects, &from, &to).expect("one group, one difference");
        assert_eq!(found.handed.first().map(|(entity, se)| (*entity, se.avg)), Some((ENTITY, after.avg)));
        for wrong in [
            Avg { util_sum: to.util_sum + 1, ..to },
            Avg { runnable_sum: to.runnable_sum - 1, ..to },
            Avg { load_sum: to.load_sum + 1, ..to },
            Avg { load_avg: to.load_avg + 1, ..to },
        ] {
            assert!(handed_up(bench, &objects, &from, &wrong).is_none(), "{wrong:?}");
        }
    }
}
