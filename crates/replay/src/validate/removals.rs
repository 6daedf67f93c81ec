// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks that left in their sleep: their averages are taken out of the queue at a later update, which no tracepoint
//! shows inside a period.

use pelton_core::{Avg, Se};
use pelton_schema::PeltSignal;

use super::advance::{Bench, PERIOD_UNITS, UNIT_SHIFT};
use super::bisect::first;
use super::engine::Record;
use super::explain::{self, Explained};
use super::object::{Inputs, State};
use super::search::Search;

/// The queue's removed tasks were taken out, then it was updated.
pub const REMOVAL_UPDATE: &str = "removal, then update";
/// The averages of tasks that are known to have left were taken out, then it was updated, then perhaps an entity
/// joined.
pub const REMOVAL_KNOWN: &str = "removal of known tasks, then update";
/// Removed averages of any size, an update, and a known entity that joined or left.
pub const REMOVAL_MOVE: &str = "removal, update, then a join or leave";
/// Most tasks that are taken out at once.
const REMOVED_MAX: usize = 4;
/// Removals that are tried with an update at a recorded moment and a join or leave after it.
const RESTS_TRIED: usize = 8;
/// Entities of a queue that are tried as the one that joined or left after a removal.
const MEMBERS_TRIED: usize = 64;

impl Search<'_> {
    /// Averages were taken out at an update inside the open period, which no tracepoint shows, and it was updated once
    /// more.
    pub(super) fn as_removal_later(&self, record: &Record, known: &State) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let (from, to) = (&known.avg, &record.state.avg);
        let span = to.last_update_time_ns.checked_sub(from.last_update_time_ns)? >> UNIT_SHIFT;
        let last = span.min((PERIOD_UNITS - 1).saturating_sub(from.period_contrib.into()));
        let inputs = self.likely_inputs(record, known);
        let hit = inputs.iter().take(2).any(|i| {
            (1..=last).any(|units| {
                let at = from.last_update_time_ns + (units << UNIT_SHIFT);
                removal_first(self.bench, &self.bench.update(PeltSignal::Queue, from, i, at).0, to, i)
            })
        });
        hit.then(|| Explained::of(REMOVAL_UPDATE))
    }

    /// An unknown entity was taken out, the queue was updated, and a known entity joined or left.
    pub(super) fn as_removal_and_leave(&self, record: &Record, known: &State) -> Option<Explained> {
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

    /// Tasks that are known to have left in their sleep were taken out, the queue was updated, and an entity came or
    /// went.
    pub(super) fn as_known_removal(&self, record: &Record, known: &State, inputs: &[Inputs]) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let at = record.state.avg.last_update_time_ns;
        let to_moment = |moment| self.bench.update(record.signal, &known.avg, &known.inputs(record.signal), moment).0;
        let moments = self.moments(record, &known.avg).into_iter().rev();
        let bases = [known.avg].into_iter().chain(moments.map(to_moment));
        let rests = bases.flat_map(|base| self.without_removed(record.object, &base));
        rests.into_iter().find_map(|rest| {
            inputs.iter().find_map(|inputs| {
                let (avg, _) = self.bench.update(record.signal, &rest, inputs, at);
                if avg == record.state.avg {
                    return Some(Explained::of(REMOVAL_KNOWN));
                }
                let search = Search { depth: 1, ..*self };
                let found = search.change(record, &State { avg, ..*known }, &record.state)?;
                Some(found.with_class(REMOVAL_KNOWN))
            })
        })
    }

    /// Explains a known removal before, or after, the queue was updated at a recorded moment with a known task more or
    /// less.
    pub(super) fn as_known_removal_later(&self, record: &Record, known: &State) -> Option<Explained> {
        if record.signal != PeltSignal::Queue || !self.thorough {
            return None;
        }
        let (at, last) = (record.state.avg.last_update_time_ns, record.state.inputs(record.signal));
        let fits = |rest: Avg| self.bench.update(record.signal, &rest, &last, at).0 == record.state.avg;
        let mut bases = self.moved_at_moments(record, known).into_iter();
        let hit = bases.any(|base| self.without_removed(record.object, &base).into_iter().any(fits));
        let walks = |avg| self.walks(record, &State { avg, ..*known }, 1);
        let rests = self.without_removed(record.object, &known.avg);
        let hit = hit || rests.iter().any(|rest| walks(*rest));
        if hit {
            return Some(Explained::of(REMOVAL_KNOWN));
        }
        // Or an entity came or went at the record, which may be one that was taken out before.
        let search = Search { depth: 1, ..*self };
        let moments = self.open_moments(record, known);
        rests.iter().take(RESTS_TRIED).find_map(|rest| {
            moments.iter().rev().find_map(|&moment| {
                let middle = self.bench.update(record.signal, rest, &known.inputs(record.signal), moment).0;
                let avg = self.bench.update(record.signal, &middle, &last, at).0;
                let found = search.change(record, &State { avg, ..*known }, &record.state)?;
                Some(found.with_class(REMOVAL_KNOWN))
            })
        })
    }

    /// The queue without the averages that are recorded as removed, and without the last entities that left; the likely
    /// first.
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
}

/// A queue before an entity left it, unless something was floored.
fn with(queue: &Avg, se: &Se) -> Option<Avg> {
    by_field(queue, se, u64::checked_add)
}

/// A queue before an entity joined it.
fn without(queue: &Avg, se: &Se) -> Option<Avg> {
    by_field(queue, se, u64::checked_sub)
}

/// Proposal only: the caller lets the core attach or detach the entity, and compares.
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
pub(super) fn removal_first(bench: Bench<'_>, from: &Avg, to: &Avg, inputs: &Inputs) -> bool {
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
