// SPDX-License-Identifier: GPL-2.0-only
//! What may have led from one known state to the next: a bounded set of hypotheses, each decided by integer equality.
//!
//! Nothing here changes what is known; the same search can be asked about a state that never was.

use pelton_core::{Avg, Se};
use pelton_schema::{PELT_ON_RQ, PeltSignal, PeltSource};

use super::advance::{Bench, PERIOD_UNITS, UNIT_SHIFT};
use super::bisect::first;
use super::engine::Record;
use super::explain::{self, Explained};
use super::object::{Inputs, Objects, State};

/// The queue's removed tasks were taken out, then it was updated.
pub const REMOVAL_UPDATE: &str = "removal, then update";
/// The averages of tasks that are known to have left were taken out, then it was updated, then perhaps somebody joined.
pub const REMOVAL_KNOWN: &str = "removal of known tasks, then update";
/// One more update than the trace shows of this record, at a moment to which something else of the CPU was brought up.
pub const MOMENT: &str = "untraced update at a recorded moment";
/// Removed averages of any size, an update, and a known entity that joined or left.
pub const REMOVAL_MOVE: &str = "removal, update, then a join or leave";
/// Most tasks that are taken out at once.
const REMOVED_MAX: usize = 4;
/// Updated, then joined or left.
pub const UPDATE_CHANGE: &str = "update, then joins or leaves";
/// The running class changed between the update and the switch that tells of it.
pub const OTHER_CLASS: &str = "update with the class that runs after the switch";
/// A sleeping entity aged to an estimate of an idle CPU's clock.
pub const LAG: &str = "migration lag of an idle CPU";
/// One update whose inputs had changed right after the last record.
pub const OTHER_INPUTS: &str = "update with inputs read off the sums";
/// So many units must have passed: inputs read off a shorter stretch would fit too easily.
const UNITS_MIN: u64 = 16;
/// Attached at an earlier moment of its queue, then updated.
pub const ATTACH_UPDATE: &str = "attach, then update";
/// Entities of a queue that are tried as the one that joined or left after a removal.
const MEMBERS_TRIED: usize = 64;
/// Furthest back an unseen attach is searched, in units: two ticks at 250 Hz.
const ATTACH_UNITS_MAX: u64 = 8192;

/// What a search may look at.
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
    /// Why a recorded state follows from the one known; the class is empty when it does outright.
    pub fn observed(&self, record: &Record, known: &State) -> Option<Explained> {
        self.as_update(record, known)
            .or_else(|| self.as_other_inputs(record, known))
            .or_else(|| self.change(record, known, &record.state))
            .or_else(|| self.as_update_and_change(record, known))
            .or_else(|| self.as_update_at_moment(record, known))
            .or_else(|| self.as_removal_later(record, known))
            .or_else(|| self.as_removal_and_leave(record, known))
            .or_else(|| self.as_partial(record, known))
            .or_else(|| self.as_attach_and_update(record, known))
    }

    /// What changed without an update.
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

    /// Inputs an update may have had, the likely ones first: a tracepoint tells those of its own call.
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
                // Who wants to sleep is no longer counted before he has left.
                let delayed = Inputs { load: before.load, ..after };
                let mut inputs = vec![before, ran, toggled(ran), toggled(before), delayed];
                if self.objects.has_groups(record.object) {
                    // A delayed task that leaves counts as runnable again until the levels above it were brought up.
                    let delayed = Inputs { runnable: before.runnable + 1, ..before };
                    inputs.extend([delayed, toggled(delayed)]);
                }
                inputs
            }
            _ => {
                let (before, after) = (of(known), of(&record.state));
                let ran = Inputs { running: 1 - after.running, ..after };
                vec![Inputs { weight: after.weight, ..before }, before, after, ran]
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

    /// An update, before or after which somebody joined or left.
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
            .or_else(|| self.as_known_removal(record, known, &inputs))
    }

    /// A queue on which an entity got another weight before the update.
    fn as_weights_and_update(&self, record: &Record, known: &State, inputs: &[Inputs]) -> Option<Explained> {
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
                inputs.iter().any(|i| update(*i) || with_it(i).is_some_and(|load| update(Inputs { load, ..*i })))
            };
            inputs.iter().any(fits).then(|| Explained::of(UPDATE_CHANGE).weighed(change))
        })
    }

    /// One more update, at a moment that other records of the CPU tell.
    fn as_update_at_moment(&self, record: &Record, known: &State) -> Option<Explained> {
        if !self.thorough {
            return None;
        }
        let at = record.state.avg.last_update_time_ns;
        let inputs = self.likely_inputs(record, known);
        let search = Search { depth: 1, ..*self };
        self.objects.moments(record.state.cpu, known.avg.last_update_time_ns, at).into_iter().find_map(|moment| {
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

    /// Averages were taken out at an update inside the open period, which no tracepoint shows, and it was updated once more.
    fn as_removal_later(&self, record: &Record, known: &State) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let (from, to) = (&known.avg, &record.state.avg);
        let span = to.last_update_time_ns.checked_sub(from.last_update_time_ns)? >> UNIT_SHIFT;
        let last = span.min(1023u64.saturating_sub(from.period_contrib.into()));
        let inputs = self.likely_inputs(record, known);
        let hit = inputs.iter().take(2).any(|i| {
            (1..=last).any(|units| {
                let at = from.last_update_time_ns + (units << UNIT_SHIFT);
                removal_first(self.bench, &self.bench.update(PeltSignal::Queue, from, i, at).0, to, i)
            })
        });
        hit.then(|| Explained::of(REMOVAL_UPDATE))
    }

    /// Somebody unknown was taken out, the queue was updated, and a known entity joined or left.
    fn as_removal_and_leave(&self, record: &Record, known: &State) -> Option<Explained> {
        let (queue, to) = (record.object, &record.state.avg);
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let inputs = self.likely_inputs(record, known);
        let mut members = self.objects.moves(queue);
        members.extend(self.objects.members(queue, MEMBERS_TRIED));
        members.into_iter().find_map(|(object, se)| {
            let se = self.bench.aged(&se, to.last_update_time_ns);
            let left = with(to, &se).filter(|before| self.bench.detached(before, &se) == *to);
            let attached = self.bench.attached(to, &se).1;
            let joined = without(to, &attached);
            let joined = joined.filter(|before| self.bench.attached(before, &se).0 == *to);
            let either = [(left, None), (joined, Some((object, attached)))];
            either.into_iter().find_map(|(before, joined)| {
                let before = before?;
                let fits = |i: &Inputs| removal_first(self.bench, &known.avg, &before, i);
                inputs.iter().any(fits).then(|| Explained::one(REMOVAL_MOVE, (object, se)).joined(joined))
            })
        })
    }

    /// An entity that got its recorded weight first and was updated then.
    fn as_reweight_and_update(&self, record: &Record, known: &State, inputs: &[Inputs]) -> Option<Explained> {
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

    /// Tasks that are known to have left in their sleep were taken out, the queue was updated, and somebody came or went.
    fn as_known_removal(&self, record: &Record, known: &State, inputs: &[Inputs]) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        self.without_removed(record.object, &known.avg).iter().find_map(|rest| {
            inputs.iter().find_map(|inputs| {
                let (avg, _) = self.bench.update(record.signal, rest, inputs, record.state.avg.last_update_time_ns);
                if avg == record.state.avg {
                    return Some(Explained::of(REMOVAL_KNOWN));
                }
                let search = Search { depth: 1, ..*self };
                let found = search.change(record, &State { avg, ..*known }, &record.state)?;
                Some(found.with_class(REMOVAL_KNOWN))
            })
        })
    }

    /// The queue without those who are recorded as removed, and without the last ones that left; the likely first.
    fn without_removed(&self, queue: u32, avg: &Avg) -> Vec<Avg> {
        let left = self.objects.deposited(queue);
        let recorded = self.objects.pending(queue).map(|pending| pending.removed);
        let told = recorded
            .filter(|removed| *removed != (0, 0, 0))
            .map(|(load, runnable, util)| self.bench.removed(avg, load, runnable, util));
        let mut rests: Vec<Avg> = Vec::new();
        for rest in told.iter().chain([avg]) {
            let several = (0..=left.len().min(REMOVED_MAX)).map(|n| &left[..n]);
            let single = (1..left.len()).map(|n| &left[n..=n]);
            for sleepers in several.chain(single) {
                let without = self.bench.without(rest, sleepers);
                if without != *avg && !rests.contains(&without) {
                    rests.push(without);
                }
            }
        }
        rests
    }

    /// A queue whose inputs changed right after its last record, which a record that only tells averages leaves open: the
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

    /// The same for a group's entity, which may have got its recorded weight afterwards.
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
            // A tracepoint tells the inputs up to itself; what came after may be nothing or one task, or one whose dequeue is
            // delayed.
            inputs.push(Inputs { weight: 1, ..Inputs::default() });
            inputs.push(Inputs { load: explain::NICE_0, runnable: 1, running: 1, weight: 1 });
            inputs.push(Inputs { load: explain::NICE_0, weight: 1, ..Inputs::default() });
            // Or somebody who was delayed left: the weight is less, the number of runnable tasks is not.
            let (before, after) = (known.inputs(record.signal), record.state.inputs(record.signal));
            inputs.extend([0, 1].map(|running| Inputs { load: before.load, running, ..after }));
        }
        let mut distinct = Vec::with_capacity(inputs.len());
        inputs.into_iter().for_each(|i| {
            if !distinct.contains(&i) {
                distinct.push(i)
            }
        });
        self.bench.with_partial(record.signal, &known.avg, &record.state.avg, &distinct).map(Explained::of)
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
        let inputs = [own, Inputs { running: 0, ..own }, Inputs { load: 1, runnable: 1, running: 1, ..own }];
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

/// A queue before an entity left it, unless something was floored.
fn with(queue: &Avg, se: &Se) -> Option<Avg> {
    by_field(queue, se, u64::checked_add)
}

/// A queue before an entity joined it.
fn without(queue: &Avg, se: &Se) -> Option<Avg> {
    by_field(queue, se, u64::checked_sub)
}

/// Only a proposal: who takes it lets the core attach or detach the entity, and compares.
fn by_field(queue: &Avg, se: &Se, change: fn(u64, u64) -> Option<u64>) -> Option<Avg> {
    let mut before = *queue;
    before.load_avg = change(queue.load_avg, se.avg.load_avg)?;
    before.load_sum = change(queue.load_sum, se.weight.checked_mul(se.avg.load_sum)?)?;
    before.runnable_avg = change(queue.runnable_avg, se.avg.runnable_avg)?;
    before.runnable_sum = change(queue.runnable_sum, se.avg.runnable_sum)?;
    before.util_avg = change(queue.util_avg, se.avg.util_avg)?;
    before.util_sum = u32::try_from(change(queue.util_sum.into(), se.avg.util_sum.into())?).ok()?;
    Some(before)
}

/// Removal of unknown size, then an update. Each signal is searched by itself; a sum falls with the size, so the first
/// size that reaches it is found by halving.
fn removal_first(bench: Bench<'_>, from: &Avg, to: &Avg, inputs: &Inputs) -> bool {
    let at = to.last_update_time_ns;
    let after = |load, runnable, util| {
        let left = bench.removed(from, load, runnable, util);
        bench.update(PeltSignal::Queue, &left, inputs, at).0
    };
    let [load, runnable, util] = explain::removable(from);
    let util = first(0, util, |r| after(0, 0, r).util_sum <= to.util_sum);
    let runnable = first(0, runnable, |r| after(0, r, 0).runnable_sum <= to.runnable_sum);
    let load = first(0, load, |r| after(r, 0, 0).load_sum <= to.load_sum);
    after(load, runnable, util) == *to
}
