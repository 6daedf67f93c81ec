// SPDX-License-Identifier: GPL-2.0-or-later
//! A queue on which an entity got another weight before it was brought up. The entity shows its weight later, or never;
//! until then the load of the queue alone shows it.

use pelton_core::fair::{NICE_LEVELS, task_weight};
use pelton_core::{Avg, Se, scale_load, scale_load_down};
use pelton_schema::{PELT_ON_RQ, PeltSignal};

use super::advance::{PERIOD_UNITS, UNIT_SHIFT};
use super::engine::Record;
use super::explain::{self, Explained};
use super::group::{self, GROUPS_MAX};
use super::object::{Inputs, Member, State, key};
use super::search::{Search, UPDATE_CHANGE};

/// A known entity got another weight, then the queue was updated.
pub const WEIGHED: &str = "reweight, then update";
/// Entities of a queue that are tried as the one that got another weight.
const MEMBERS_TRIED: usize = 64;

impl Search<'_> {
    /// A queue on which an entity got another weight before the update, as the entity has shown.
    pub(super) fn as_weights_and_update(&self, record: &Record, known: &State, inputs: &[Inputs]) -> Option<Explained> {
        if record.signal != PeltSignal::Queue {
            return None;
        }
        let (from, at) = (known.avg.last_update_time_ns, record.state.avg.last_update_time_ns);
        let to_moment = |moment: u64, inputs: &Inputs| match moment {
            _ if from < moment && moment < at => self.bench.update(record.signal, &known.avg, inputs, moment).0,
            _ => known.avg,
        };
        self.objects.reweights(record.object).into_iter().find_map(|change| {
            let moment = change.0.avg.last_update_time_ns;
            let weighed = |first: &Inputs| self.bench.reweighted(&to_moment(moment, first), &change.0, change.1).0;
            let with_it = |i: &Inputs| i.load.checked_sub(change.0.weight).map(|rest| rest + change.1);
            let fits = |first: &Inputs| {
                let weighed = weighed(first);
                let update = |i: Inputs| self.bench.update(record.signal, &weighed, &i, at).0 == record.state.avg;
                inputs.iter().any(|i| {
                    let heavy = with_it(i).map(|load| Inputs { load, ..*i });
                    update(*i) || heavy.is_some_and(|i| update(i) || self.ends_between(record, &weighed, &i))
                })
            };
            inputs.iter().any(fits).then(|| Explained::of(UPDATE_CHANGE).weighed(change))
        })
    }

    /// A group's entity that had left at some moment came back with another weight: as much as the queue weighs more.
    pub(super) fn as_weight_of_joiner(&self, record: &Record, known: &State) -> Option<Explained> {
        let queue = record.signal == PeltSignal::Queue && self.thorough;
        let weight = scale_load_down(record.state.weight.checked_sub(known.weight).filter(|&more| queue && more > 0)?);
        let at = record.state.avg.last_update_time_ns;
        let before = self.bench.update(record.signal, &known.avg, &known.inputs(record.signal), at).0;
        group::left_at_any_moment(self.bench, self.objects, record.object, at).find_map(|(entity, se)| {
            let (above, after) = self.bench.reweighted(&before, &se, weight);
            (above == record.state.avg).then(|| Explained::handed(explain::REWEIGHT, (entity, after)))
        })
    }

    /// A queue on which an entity got another weight that it has not shown yet: a task's nice value changed, also in
    /// its sleep, or the shares of a group.
    pub(super) fn as_unseen_weight(&self, record: &Record, known: &State) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        self.as_nice_and_update(record, known)
            .or_else(|| self.as_weight_and_hand_up(record, known))
            .or_else(|| self.as_shares_and_update(record, known))
    }

    /// A task got one of the weights that tasks have when its queue was last seen, or at a recorded moment since.
    fn as_nice_and_update(&self, record: &Record, known: &State) -> Option<Explained> {
        let (to, inputs) = (&record.state.avg, self.likely_inputs(record, known));
        let tasks = self.tasks_on(record.object);
        let last = |avg: &Avg, i: &Inputs| self.bench.update(record.signal, avg, i, to.last_update_time_ns).0;
        let moments = self.open_moments(record, known).into_iter();
        let at_moment = |moment| inputs.iter().map(move |i| self.bench.update(record.signal, &known.avg, i, moment).0);
        [known.avg].into_iter().chain(moments.flat_map(at_moment)).find_map(|base| {
            // The weight concerns the load alone.
            let rest = |avg: &Avg| (avg.runnable_sum, avg.util_sum) == (to.runnable_sum, to.util_sum);
            let fitting = inputs.iter().filter(|i| rest(&last(&base, i)));
            fitting.into_iter().find_map(|i| {
                // An entity on the queue weighs on it from then on.
                let heavier = |by: i64| i.load.checked_add_signed(by).map(|load| Inputs { load, ..*i });
                let right = |avg: &Avg, by: i64| {
                    last(avg, i) == *to || by != 0 && heavier(by).is_some_and(|i| last(avg, &i) == *to)
                };
                tasks.iter().find_map(|member| self.gets_a_weight(&base, member, right))
            })
        })
    }

    /// A task with one of the weights that tasks have, after which the queue, which weighs so much more, is right.
    fn gets_a_weight(&self, base: &Avg, (entity, se): &Member, right: impl Fn(&Avg, i64) -> bool) -> Option<Explained> {
        let aged = self.bench.aged(se, base.last_update_time_ns);
        let se = if se.on_rq != 0 { &aged } else { se };
        let of_levels = std::iter::once(NICE_LEVELS).chain(0..NICE_LEVELS).map(|level| u64::from(task_weight(level)));
        std::iter::once(se.weight).chain(of_levels).find_map(|weight| {
            let (weighed, after) = self.bench.reweighted(base, se, weight);
            let by = if se.on_rq == 0 { 0 } else { i64::try_from(weight).ok()? - i64::try_from(se.weight).ok()? };
            right(&weighed, by).then(|| Explained::handed(WEIGHED, (*entity, after)))
        })
    }

    /// Tasks of a queue as they were last seen, and as they may be since.
    fn tasks_on(&self, queue: u32) -> Vec<Member> {
        let members = self.objects.members(queue, MEMBERS_TRIED).into_iter();
        let tasks = members.filter(|(entity, _)| self.objects.own_queue(*entity).is_none());
        let expected = |entity| self.objects.expected(key(PeltSignal::Entity, entity)).iter();
        tasks.flat_map(|m| expected(m.0).map(move |e| (m.0, e.0.entity())).chain([m]).collect::<Vec<_>>()).collect()
    }

    /// The shares of a group changed at any moment of the open period: its entity got as much as the queue weighs more.
    fn as_shares_and_update(&self, record: &Record, known: &State) -> Option<Explained> {
        self.joined_since(record, known).iter().find_map(|before| self.as_shares_with(record, known, before))
    }

    /// Explains a change of shares if the queue had these inputs before.
    fn as_shares_with(&self, record: &Record, known: &State, before: &Inputs) -> Option<Explained> {
        let after = record.state.inputs(record.signal);
        let (from, to) = (&known.avg, &record.state.avg);
        let span = to.last_update_time_ns.checked_sub(from.last_update_time_ns)? >> UNIT_SHIFT;
        let last = span.min((PERIOD_UNITS - 1).saturating_sub(from.period_contrib.into()));
        let groups = self.objects.groups(record.object, GROUPS_MAX);
        // In the kernel's own scale: what is scaled down is rounded.
        let joined = scale_load(before.load - known.inputs(record.signal).load);
        let weighed = groups.iter().filter_map(|(entity, group)| {
            let weight = (group.weight + record.state.weight).checked_sub(known.weight + joined)?;
            let weight = scale_load_down(weight);
            let other = weight != group.entity().weight && (1..=explain::WEIGHT_MAX).contains(&weight);
            other.then(|| (*entity, group.entity(), weight))
        });
        let weighed: Vec<(u32, Se, u64)> = weighed.collect();
        (0..=last).filter(|_| !weighed.is_empty()).find_map(|units| {
            let moment = from.last_update_time_ns + (units << UNIT_SHIFT);
            let base = self.bench.update(record.signal, from, before, moment).0;
            weighed.iter().find_map(|(entity, se, weight)| {
                let (above, changed) = self.bench.reweighted(&base, &self.bench.aged(se, moment), *weight);
                let fits = self.bench.update(record.signal, &above, &after, to.last_update_time_ns).0 == *to;
                fits.then(|| Explained::handed(WEIGHED, (*entity, changed)))
            })
        })
    }

    /// A group's entity got another weight when it joined or was recorded last, and handed something up with it.
    fn as_weight_and_hand_up(&self, record: &Record, known: &State) -> Option<Explained> {
        let to = &record.state.avg;
        let more = record.state.weight.checked_sub(known.weight);
        let joined = |group: &State| more.filter(|_| group.flags & PELT_ON_RQ == 0);
        let stayed = |group: &State| (group.weight + record.state.weight).checked_sub(known.weight);
        self.objects.groups(record.object, GROUPS_MAX).iter().find_map(|(entity, group)| {
            let weight = scale_load_down(joined(group).or_else(|| stayed(group))?);
            if !(1..=explain::WEIGHT_MAX).contains(&weight) || weight == group.entity().weight {
                return None;
            }
            self.likely_inputs(record, known).iter().find_map(|i| {
                let from = self.bench.update(record.signal, &known.avg, i, to.last_update_time_ns).0;
                group::handed_up_with_weight(self.bench, self.objects, (*entity, group, weight), &from, to)
            })
        })
    }

    /// An entity that got its recorded weight first and was updated then.
    pub(super) fn as_reweight_and_update(
        &self,
        record: &Record,
        known: &State,
        inputs: &[Inputs],
    ) -> Option<Explained> {
        if record.signal != PeltSignal::Entity || known.weight == record.state.weight {
            return None;
        }
        let weight = record.state.entity().weight;
        let weighed = self.bench.reweighted(&Avg::default(), &known.entity(), weight).1.avg;
        let at = record.state.avg.last_update_time_ns;
        let fits =
            |i: &Inputs| self.bench.update(record.signal, &weighed, &Inputs { weight, ..*i }, at).0 == record.state.avg;
        inputs.iter().any(fits).then(|| Explained::of(UPDATE_CHANGE))
    }
}
