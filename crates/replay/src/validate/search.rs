// SPDX-License-Identifier: GPL-2.0-or-later
//! Search for the way from one known state to the next: a bounded set of hypotheses, each decided by integer equality.
//!
//! The known state never changes here; the same search can be asked about a state that never was.

use pelton_core::{Avg, Se};
use pelton_schema::{PELT_ON_RQ, PELT_RUNNING, PeltSignal, PeltSource};

use super::advance::{Bench, PERIOD_UNITS, UNIT_SHIFT};
use super::distinct::distinct;
use super::engine::Record;
use super::explain::{self, Explained};
use super::object::{Inputs, Objects, State};
use super::removals::{REMOVAL_UPDATE, removal_first};

/// One more update than the trace shows of this record, at a moment to which something else of the CPU was brought up.
pub const MOMENT: &str = "untraced update at a recorded moment";
/// Updated, then joined or left.
pub const UPDATE_CHANGE: &str = "update, then joins or leaves";
/// The running class changed between the update and the switch that records it.
pub const OTHER_CLASS: &str = "update with the class that runs after the switch";
/// A sleeping entity aged to an estimate of an idle CPU's clock.
pub const LAG: &str = "migration lag of an idle CPU";
/// One update whose inputs had changed right after the last record.
pub const OTHER_INPUTS: &str = "update with inputs read off the sums";
/// A task that runs another program was aged as if it slept, to choose a CPU for it.
pub const PLACED: &str = "placed anew at an exec";
/// A task's entity goes on at the time of the queue of another CPU.
pub const MOVED_ASLEEP: &str = "moved asleep or in another class";
/// Units that must have passed: inputs read off a shorter stretch would fit too easily.
const UNITS_MIN: u64 = 16;
/// Attached at an earlier moment of its queue, then updated.
pub const ATTACH_UPDATE: &str = "attach, then update";
/// Furthest back an unseen attach is searched, in units: two ticks at 250 Hz.
const ATTACH_UNITS_MAX: u64 = 8192;

/// Objects and rules that a search may look at.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// Rules.
    pub bench: Bench<'a>,
    /// Everything known.
    pub objects: &'a Objects,
    /// Class that runs on the record's CPU.
    pub class: Option<u32>,
    /// Longer searches are made too.
    pub thorough: bool,
    /// Joins, leaves and new weights that are tried together.
    pub depth: usize,
}

impl Search<'_> {
    /// Explains a recorded state from the one known; the class is empty when it follows outright.
    pub fn observed(&self, record: &Record, known: &State) -> Option<Explained> {
        self.as_update(record, known)
            .or_else(|| self.as_other_inputs(record, known))
            .or_else(|| self.as_placed_anew(record, known))
            .or_else(|| self.change(record, known, &record.state))
            .or_else(|| self.as_update_and_change(record, known))
            .or_else(|| self.as_update_at_moment(record, known))
            .or_else(|| self.as_removal_later(record, known))
            .or_else(|| self.as_removal_and_leave(record, known))
            .or_else(|| self.as_walk(record, known))
            .or_else(|| self.as_joined_before(record, known))
            .or_else(|| self.as_moved_asleep(record, known))
            .or_else(|| self.as_unseen_weight(record, known))
            .or_else(|| self.as_known_removal_later(record, known))
            .or_else(|| self.as_partial(record, known))
            .or_else(|| self.as_attach_and_update(record, known))
    }

    /// A running task that executes a program: to compare CPUs the kernel ages it as if it slept (see `placed_anew`).
    fn as_placed_anew(&self, record: &Record, known: &State) -> Option<Explained> {
        let runs = record.state.flags & PELT_RUNNING != 0 && known.queue == record.state.queue;
        let traced = record.source == PeltSource::Tracepoint && record.signal == PeltSignal::Entity;
        if !runs || !traced || record.state.is_group() {
            return None;
        }
        let asleep = Inputs { weight: known.entity().weight, ..Inputs::default() };
        let at = record.state.avg.last_update_time_ns;
        let aged = self.bench.update(record.signal, &known.avg, &asleep, at).0;
        (aged == record.state.avg).then(|| Explained::of(PLACED))
    }

    /// Explains a change without an update.
    pub fn change(&self, record: &Record, known: &State, seen: &State) -> Option<Explained> {
        match record.signal {
            PeltSignal::Queue => {
                explain::queue_change(self.bench, self.objects, record.object, (&known.avg, &seen.avg), self.depth)
            }
            PeltSignal::Entity | PeltSignal::BlockedEntity => {
                explain::entity_change(self.bench, self.objects, record.object, Some(known), seen)
                    .map(Explained::entity)
            }
            _ => None,
        }
    }

    /// Inputs an update may have had, the likely ones first: a tracepoint has those of its own call.
    pub fn likely_inputs(&self, record: &Record, known: &State) -> Vec<Inputs> {
        let of = |state: &State| state.inputs(record.signal);
        match record.signal {
            PeltSignal::Rt | PeltSignal::Dl => {
                let want = if record.signal == PeltSignal::Rt { pelton_core::runs::RT } else { pelton_core::runs::DL };
                let runs = u64::from(self.class == Some(want));
                [runs, 1 - runs].map(|r| Inputs { load: r, runnable: r, running: r, weight: 1 }).to_vec()
            }
            _ if record.source == PeltSource::Tracepoint => vec![of(&record.state), of(known)],
            PeltSignal::Queue => {
                let (before, after) = (of(known), of(&record.state));
                let ran = Inputs { running: before.running, ..after };
                let toggled = |i: Inputs| Inputs { running: 1 - i.running, ..i };
                // A task that wants to sleep is no longer counted before it has left.
                let delayed = Inputs { load: before.load, ..after };
                let mut inputs = vec![before, ran, toggled(ran), toggled(before), delayed];
                if self.objects.has_groups(record.object) {
                    // A delayed task that leaves counts as runnable again until the levels above it were brought up.
                    let delayed = |runnable| Inputs { runnable: runnable + 1, ..before };
                    inputs.extend([delayed(before.runnable), toggled(delayed(before.runnable))]);
                    // One of them woke before the other left: the levels above count it at once.
                    inputs.push(delayed(after.runnable));
                }
                inputs
            }
            _ => {
                let (before, after) = (of(known), of(&record.state));
                let ran = Inputs { running: 1 - after.running, ..after };
                let mut inputs = vec![Inputs { weight: after.weight, ..before }, before, after, ran];
                if record.state.is_group() {
                    // One task of the group wanted to sleep, or joined it and left again.
                    let others = [before.runnable.checked_sub(1), Some(before.runnable + 1)].into_iter().flatten();
                    inputs.extend(others.map(|runnable| Inputs { runnable, ..before }));
                }
                inputs
            }
        }
    }

    /// One update with the likely inputs.
    fn as_update(&self, record: &Record, known: &State) -> Option<Explained> {
        let at = record.state.avg.last_update_time_ns;
        let inputs = self.likely_inputs(record, known);
        let updated = |i: &Inputs| self.bench.update(record.signal, &known.avg, i, at).0;
        let hit = inputs.iter().position(|i| updated(i) == record.state.avg)?;
        if hit == 1 && matches!(record.signal, PeltSignal::Rt | PeltSignal::Dl) {
            return Some(Explained::of(OTHER_CLASS));
        }
        self.clock_agrees(record, known).map(Explained::of)
    }

    /// The last update time must be what the queue's clock, or for a sleeper its queue's last update, gives.
    fn clock_agrees(&self, record: &Record, known: &State) -> Option<&'static str> {
        let (Some(now), PeltSource::Tracepoint) = (record.clock_ns, record.source) else { return Some("") };
        let (from, at) = (known.avg.last_update_time_ns, record.state.avg.last_update_time_ns);
        let fits =
            |now: u64| now.checked_sub(from).is_some_and(|delta| from + (delta >> UNIT_SHIFT << UNIT_SHIFT) == at);
        let queue = self.objects.queue(record.state.queue).map(|q| q.avg.last_update_time_ns);
        if fits(now) || queue.is_some_and(fits) {
            return Some("");
        }
        let sleeps = record.signal == PeltSignal::Entity && record.state.flags & PELT_ON_RQ == 0;
        sleeps.then_some(LAG)
    }

    /// An update, before or after which an entity joined or left.
    fn as_update_and_change(&self, record: &Record, known: &State) -> Option<Explained> {
        let at = record.state.avg.last_update_time_ns;
        if at < known.avg.last_update_time_ns {
            return None;
        }
        let inputs = self.likely_inputs(record, known);
        let search = Search { depth: self.depth.min(2), ..*self };
        let found = inputs.iter().find_map(|inputs| {
            let (avg, _) = self.bench.update(record.signal, &known.avg, inputs, at);
            let changed = search.change(record, &State { avg, ..*known }, &record.state);
            if let Some(found) = changed {
                let handed = !found.handed.is_empty() && found.weighed.is_empty() && found.settled.is_empty();
                let vague = found.class == explain::PROPAGATION_ANY_LOAD;
                return Some(if handed || vague { found } else { found.with_class(UPDATE_CHANGE) });
            }
            let queue = record.signal == PeltSignal::Queue;
            let removed = queue && removal_first(self.bench, &known.avg, &record.state.avg, inputs);
            removed.then(|| Explained::of(REMOVAL_UPDATE))
        });
        found
            .or_else(|| self.as_reweight_and_update(record, known, &inputs))
            .or_else(|| self.as_weights_and_update(record, known, &inputs))
            .or_else(|| self.as_weight_of_joiner(record, known))
            .or_else(|| self.as_arrived_and_left(record, known, &inputs))
            .or_else(|| self.as_known_removal(record, known, &inputs))
    }

    /// A task joined right after the queue was last seen; it, or another one, left or joined at its record.
    fn as_joined_before(&self, record: &Record, known: &State) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let at = record.state.avg.last_update_time_ns;
        let search = Search { depth: 1, ..*self };
        self.joined_since(record, known).iter().skip(1).find_map(|inputs| {
            let avg = self.bench.update(record.signal, &known.avg, inputs, at).0;
            if avg == record.state.avg {
                return Some(Explained::of(UPDATE_CHANGE));
            }
            let found = search.change(record, &State { avg, ..*known }, &record.state)?;
            Some(found.with_class(UPDATE_CHANGE))
        })
    }

    /// A task that is not in the fair class, or sleeps, was moved: the kernel brings its entity to the time of the
    /// queue it leaves and goes on at the time of the other one (6.18 kernel/sched/fair.c, set_task_rq_fair).
    fn as_moved_asleep(&self, record: &Record, known: &State) -> Option<Explained> {
        let moved = known.queue != record.state.queue && !record.state.is_group();
        if record.signal != PeltSignal::Entity || !moved || record.state.flags & PELT_ON_RQ != 0 {
            return None;
        }
        let asleep = Inputs { weight: record.state.entity().weight, ..Inputs::default() };
        let at = record.state.avg.last_update_time_ns;
        let from = |update| Avg { last_update_time_ns: update, ..known.avg };
        let mut updates = self.objects.updates(record.state.queue);
        let hit =
            updates.any(|update| self.bench.update(record.signal, &from(update), &asleep, at).0 == record.state.avg);
        hit.then(|| Explained::of(MOVED_ASLEEP))
    }

    /// A task that was moved here joined at an update that did not distinguish it from another one, waited, and leaves.
    fn as_arrived_and_left(&self, record: &Record, known: &State, inputs: &[Inputs]) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let to = &record.state.avg;
        let updated: Vec<Avg> =
            inputs.iter().map(|i| self.bench.update(record.signal, &known.avg, i, to.last_update_time_ns).0).collect();
        self.objects.arrived(record.state.cpu).find_map(|((entity, se), joined_ns)| {
            let here = earlier(to, to.last_update_time_ns.checked_sub(joined_ns)? >> UNIT_SHIFT)?;
            let joined = Se { on_rq: 1, nr_runnable: 1, running: 0, ..self.bench.attached(&here, &se).1 };
            let leaves = self.bench.aged(&joined, to.last_update_time_ns);
            let fits = updated.iter().any(|from| self.bench.detached(from, &leaves) == *to);
            fits.then(|| Explained::one(UPDATE_CHANGE, (entity, leaves)))
        })
    }

    /// A queue updated with these inputs to a moment that other records of the CPU have, and with what it had at last
    /// to its own.
    pub(super) fn ends_between(&self, record: &Record, from: &Avg, inputs: &Inputs) -> bool {
        let (at, last) = (record.state.avg.last_update_time_ns, record.state.inputs(record.signal));
        self.moments(record, from).into_iter().any(|moment| {
            let middle = self.bench.update(record.signal, from, inputs, moment).0;
            self.bench.update(record.signal, &middle, &last, at).0 == record.state.avg
        })
    }

    /// Moments between a known state and a record, to which its CPU or what belongs to its queue was brought up.
    pub(super) fn moments(&self, record: &Record, from: &Avg) -> Vec<u64> {
        let (after, before) = (from.last_update_time_ns, record.state.avg.last_update_time_ns);
        let queue = match record.signal {
            PeltSignal::Queue => Some(record.object),
            PeltSignal::Entity => self.objects.own_queue(record.object).or(Some(record.state.queue)),
            _ => None,
        };
        self.objects.moments.near(record.state.cpu, queue, after, before)
    }

    /// One more update, at a moment that other records of the CPU have.
    fn as_update_at_moment(&self, record: &Record, known: &State) -> Option<Explained> {
        if !self.thorough {
            return None;
        }
        let at = record.state.avg.last_update_time_ns;
        let inputs = self.likely_inputs(record, known);
        let search = Search { depth: 1, ..*self };
        self.moments(record, &known.avg).into_iter().find_map(|moment| {
            inputs.iter().find_map(|first| {
                let middle = self.bench.update(record.signal, &known.avg, first, moment).0;
                let middle = State { avg: middle, ..*known };
                let to = |i: &Inputs| self.bench.update(record.signal, &middle.avg, i, at).0 == record.state.avg;
                if inputs.iter().any(to) {
                    return Some(Explained::of(MOMENT));
                }
                search.as_update_and_change(record, &middle).map(|found| found.with_class(MOMENT))
            })
        })
    }

    /// A queue whose inputs changed right after its last record, which a record of averages only leaves open: the
    /// inputs are what the sums ask for, and have to be whole numbers.
    fn as_other_inputs(&self, record: &Record, known: &State) -> Option<Explained> {
        if record.signal == PeltSignal::Entity && record.state.is_group() {
            return self.as_group_with_other_inputs(record, known);
        }
        if record.signal != PeltSignal::Queue {
            return None;
        }
        let (at, to) = (record.state.avg.last_update_time_ns, &record.state.avg);
        let with = |inputs: &Inputs| self.bench.update(record.signal, &known.avg, inputs, at).0;
        let none = with(&Inputs { weight: 1, ..Inputs::default() });
        let units = with(&Inputs { load: 1, weight: 1, ..Inputs::default() }).load_sum.checked_sub(none.load_sum)?;
        if units < UNITS_MIN {
            return None;
        }
        let load = to.load_sum.checked_sub(none.load_sum)? / units;
        let runnable = to.runnable_sum.checked_sub(none.runnable_sum)? / (units << 10);
        let running = u64::from(to.util_sum > none.util_sum);
        (with(&Inputs { load, runnable, running, weight: 1 }) == *to).then(|| Explained::of(OTHER_INPUTS))
    }

    /// Explains a group's entity by other inputs; it may have got its recorded weight afterwards.
    fn as_group_with_other_inputs(&self, record: &Record, known: &State) -> Option<Explained> {
        let (at, to) = (record.state.avg.last_update_time_ns, &record.state.avg);
        let with = |i: Inputs| self.bench.update(record.signal, &known.avg, &i, at).0;
        let weight = known.entity().weight;
        let none = with(Inputs { load: 1, weight, ..Inputs::default() });
        let units = none.load_sum.checked_sub(with(Inputs { weight, ..Inputs::default() }).load_sum)?;
        if units < UNITS_MIN || none.load_sum != to.load_sum {
            return None;
        }
        let runnable = to.runnable_sum.checked_sub(none.runnable_sum)? / (units << 10);
        let running = u64::from(to.util_sum > none.util_sum);
        let avg = with(Inputs { load: 1, runnable, running, weight });
        let weighed =
            self.bench.reweighted(&Avg::default(), &Se { avg, ..known.entity() }, record.state.entity().weight);
        (avg == *to || weighed.1.avg == *to).then(|| Explained::of(OTHER_INPUTS))
    }

    /// One more update than the trace shows.
    fn as_partial(&self, record: &Record, known: &State) -> Option<Explained> {
        if !self.thorough {
            return None;
        }
        let mut inputs = self.likely_inputs(record, known);
        if record.signal == PeltSignal::Entity {
            let weight = inputs[0].weight;
            for (load, runnable, running) in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)] {
                inputs.push(Inputs { load, runnable, running, weight });
            }
        }
        if record.signal == PeltSignal::Queue {
            // A tracepoint has the inputs up to itself; what came after may be nothing or one task, or one whose
            // dequeue is delayed.
            inputs.push(Inputs { weight: 1, ..Inputs::default() });
            inputs.push(Inputs { load: explain::NICE_0, runnable: 1, running: 1, weight: 1 });
            inputs.push(Inputs { load: explain::NICE_0, weight: 1, ..Inputs::default() });
            // Or an entity that was delayed left: the weight is less, the number of runnable tasks is not.
            let (before, after) = (known.inputs(record.signal), record.state.inputs(record.signal));
            inputs.extend([0, 1].map(|running| Inputs { load: before.load, running, ..after }));
        }
        self.bench.with_partial(record.signal, &known.avg, &record.state.avg, &distinct(inputs)).map(Explained::of)
    }

    /// A task joined its queue at an earlier update of the queue than the last one known, and was updated since.
    fn as_attach_and_update(&self, record: &Record, known: &State) -> Option<Explained> {
        let seen = &record.state;
        if !self.thorough || record.signal != PeltSignal::Entity || seen.is_group() {
            return None;
        }
        let at = seen.avg.last_update_time_ns;
        let recorded: Vec<u64> =
            self.objects.joins_near(record.object, seen).filter_map(|t| at.checked_sub(t)).collect();
        let recorded = || recorded.iter().map(|ns| ns >> UNIT_SHIFT);
        let left = [
            known.entity(),
            self.objects.queue(known.queue).map_or(known.entity(), |q| self.bench.synced(&q.avg, &known.entity())),
        ];
        let asleep = |units| self.joined(seen, &left, units);
        let awake = |units| {
            let Some(here) = earlier(&seen.avg, units) else { return false };
            let ran = |running| Inputs { running, ..known.inputs(record.signal) };
            let before =
                [0, 1].map(|r| self.bench.update(record.signal, &known.avg, &ran(r), here.last_update_time_ns).0);
            known.cpu == seen.cpu && self.joined(seen, &before.map(|avg| Se { avg, ..known.entity() }), units)
        };
        let moved = seen.queue != known.queue;
        let hit = recorded().any(awake) || moved && (recorded().any(asleep) || (0..ATTACH_UNITS_MAX).any(asleep));
        hit.then(|| Explained { moved, ..Explained::of(ATTACH_UPDATE) })
    }

    /// One of these joined the queue so many units ago, and was updated since.
    fn joined(&self, seen: &State, from: &[Se], units: u64) -> bool {
        let own = seen.inputs(PeltSignal::Entity);
        let queued = Inputs { load: 1, runnable: 1, running: 0, ..own };
        let inputs = [own, Inputs { running: 0, ..own }, Inputs { running: 1, ..queued }, queued];
        let Some(here) = earlier(&seen.avg, units) else { return false };
        from.iter().any(|se| {
            let joined = self.bench.attached(&here, se).1.avg;
            let to = |i: &Inputs| self.bench.update(PeltSignal::Entity, &joined, i, seen.avg.last_update_time_ns).0;
            inputs.iter().any(|i| to(i) == seen.avg)
        })
    }
}

/// The position in time and period so many units before a record's.
fn earlier(avg: &Avg, units: u64) -> Option<Avg> {
    let at = avg.last_update_time_ns.checked_sub(units << UNIT_SHIFT)?;
    let position = (u64::from(avg.period_contrib) + PERIOD_UNITS - units % PERIOD_UNITS) % PERIOD_UNITS;
    Some(Avg { last_update_time_ns: at, period_contrib: u32::try_from(position).ok()?, ..Avg::default() })
}
