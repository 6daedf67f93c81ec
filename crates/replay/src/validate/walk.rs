// SPDX-License-Identifier: GPL-2.0-or-later
//! A queue or an entity that was brought up, unseen, at one or two of the moments that the trace has of other things,
//! as tasks came and went there. The three sums do not depend on each other's inputs, so each is searched by itself;
//! then all must fit together.

use pelton_core::Avg;
use pelton_schema::{PeltSignal, PeltSource};

use super::advance::{Bench, PERIOD_UNITS, UNIT_SHIFT};
use super::distinct::distinct;
use super::engine::Record;
use super::explain::Explained;
use super::object::{Inputs, State};
use super::search::Search;

/// Updates inside the open period at moments that the trace has, as known tasks came or went.
pub const WALK: &str = "untraced updates as known tasks came or went";
/// Moments that are tried, the newest.
const MOMENTS_TRIED: usize = 10;
/// Weights of tasks that may have come or gone.
const WEIGHTS_TRIED: usize = 4;
/// Stretches with inputs of their own: up to two moments, and to the record.
const STRETCHES: usize = 3;

/// An input on each stretch.
type Path = [u64; STRETCHES];

/// One of the three sums and its input.
struct Column {
    /// Values the input may have on each stretch.
    values: [Vec<u64>; STRETCHES],
    /// An update with this input alone.
    inputs: fn(u64) -> Inputs,
    /// The sum.
    sum: fn(&Avg) -> u64,
}

struct Walk<'a> {
    bench: Bench<'a>,
    signal: PeltSignal,
    weight: u64,
    from: Avg,
    to: Avg,
    columns: [Column; 3],
}

impl Search<'_> {
    /// Brought up at one or two recorded moments at which tasks of known weight came or went.
    pub(super) fn as_walk(&self, record: &Record, known: &State) -> Option<Explained> {
        if !matches!(record.signal, PeltSignal::Queue | PeltSignal::Entity) || !self.thorough {
            return None;
        }
        self.walks(record, known, 2).then(|| Explained::of(WALK))
    }

    /// True when `stops` moments lead from a known state to the record.
    pub(super) fn walks(&self, record: &Record, known: &State, stops: usize) -> bool {
        let moments = self.open_moments(record, known);
        let (from, to) = (known.avg, record.state.avg);
        let weight = record.state.inputs(record.signal).weight;
        let columns = self.columns(record, known);
        let walk = Walk { bench: self.bench, signal: record.signal, weight, from, to, columns };
        let single = moments.iter().map(|&one| [one, one]);
        let pairs =
            moments.iter().enumerate().flat_map(|(n, &one)| moments[n + 1..].iter().map(move |&two| [one, two]));
        single.chain(pairs.filter(|_| stops > 1)).any(|stops| walk.leads(stops))
    }

    /// The queue as it may have been at recorded moments, if a known task came or went right after it was last seen.
    pub(super) fn moved_at_moments(&self, record: &Record, known: &State) -> Vec<Avg> {
        let before = known.inputs(record.signal);
        let moments = self.open_moments(record, known);
        let mut inputs = Vec::new();
        for load in self.loads_near(record, known, &[before.load]) {
            for runnable in [before.runnable, before.runnable + 1] {
                inputs.extend([0, 1].map(|running| Inputs { load, runnable, running, weight: 1 }));
            }
        }
        let updated = |moment: &u64| {
            let moment = *moment;
            inputs.iter().map(move |i| self.bench.update(record.signal, &known.avg, i, moment).0)
        };
        let once = moments.iter().flat_map(updated);
        // Or it was brought up again with what it has now.
        let last = record.state.inputs(record.signal);
        let twice = moments.iter().enumerate().flat_map(|(n, &first)| {
            let middle = self.bench.update(record.signal, &known.avg, &before, first).0;
            moments[n + 1..].iter().map(move |&second| self.bench.update(record.signal, &middle, &last, second).0)
        });
        once.chain(twice).collect()
    }

    /// Moments to which something of the queue or its CPU was brought up, and that no period boundary stands before: an
    /// update there would have been traced.
    pub(super) fn open_moments(&self, record: &Record, known: &State) -> Vec<u64> {
        let from = known.avg.last_update_time_ns;
        let mut moments = self.moments(record, &known.avg);
        let open = PERIOD_UNITS.saturating_sub(known.avg.period_contrib.into());
        moments.retain(|moment| (moment - from) >> UNIT_SHIFT < open);
        moments.split_off(moments.len().saturating_sub(MOMENTS_TRIED))
    }

    /// Inputs that a queue was last seen with, and those with one more task that joined right after.
    pub(super) fn joined_since(&self, record: &Record, known: &State) -> Vec<Inputs> {
        let before = known.inputs(record.signal);
        let weights = self.objects.weights_near(record.object, known.seen_ns, WEIGHTS_TRIED).into_iter();
        let joined = weights.flat_map(|weight| {
            let with = Inputs { load: before.load + weight, runnable: before.runnable + 1, ..before };
            [with, Inputs { running: 1 - before.running, ..with }]
        });
        [before].into_iter().chain(joined).collect()
    }

    /// These loads of a queue, and with a known task more or less; an entity is on its queue or not.
    fn loads_near(&self, record: &Record, known: &State, loads: &[u64]) -> Vec<u64> {
        if record.signal == PeltSignal::Entity {
            return vec![0, 1];
        }
        let weights = self.objects.weights_near(record.object, known.seen_ns, WEIGHTS_TRIED);
        let others = weights.iter().flat_map(|&weight| loads.iter().flat_map(move |&load| beside(load, weight)));
        distinct(loads.iter().copied().chain(others))
    }

    /// Inputs there may have been in between: as known, as recorded, or with one task more or less.
    fn columns(&self, record: &Record, known: &State) -> [Column; 3] {
        let (before, after) = (known.inputs(record.signal), record.state.inputs(record.signal));
        let traced = record.source == PeltSource::Tracepoint;
        let mut lasts = if traced { vec![after] } else { self.likely_inputs(record, known) };
        if record.signal == PeltSignal::Queue && !traced {
            // The entity that joined last is not part of it yet; the one that left last was until then.
            for load in self.loads_near(record, known, &[after.load]) {
                let runnable = beside(after.runnable, 1).chain([after.runnable]);
                lasts.extend(runnable.map(|runnable| Inputs { load, runnable, running: 1 - after.running, ..after }));
            }
        }
        let loads = |of: &[u64]| self.loads_near(record, known, of);
        let runnable = [before.runnable, after.runnable];
        let others = runnable.iter().flat_map(|&value| beside(value, 1));
        let runnable = distinct(runnable.into_iter().chain(others).chain([0]));
        let last = |of: fn(&Inputs) -> u64| distinct(lasts.iter().map(of));
        [
            Column {
                values: [loads(&[before.load]), loads(&[after.load, before.load]), last(|i| i.load)],
                inputs: |load| Inputs { load, ..Inputs::default() },
                sum: |avg| avg.load_sum,
            },
            Column {
                values: [runnable.clone(), runnable, last(|i| i.runnable)],
                inputs: |runnable| Inputs { load: 1, runnable, ..Inputs::default() },
                sum: |avg| avg.runnable_sum,
            },
            Column {
                values: [vec![0, 1], vec![0, 1], last(|i| i.running)],
                inputs: |running| Inputs { load: 1, running, ..Inputs::default() },
                sum: |avg| avg.util_sum.into(),
            },
        ]
    }
}

/// One more and one less of something.
fn beside(value: u64, by: u64) -> impl Iterator<Item = u64> {
    [value.checked_sub(by), value.checked_add(by)].into_iter().flatten()
}

impl Walk<'_> {
    /// Some inputs on the stretches between these moments lead to the record, in every sum and average.
    fn leads(&self, stops: [u64; 2]) -> bool {
        let [loads, runnable, running] = &self.columns;
        let loads = self.paths(stops, loads);
        if loads.is_empty() {
            return false;
        }
        let (runnable, running) = (self.paths(stops, runnable), self.paths(stops, running));
        let all = |load: &Path, runnable: &Path, running: &Path| {
            let inputs = |n: usize| Inputs { load: load[n], runnable: runnable[n], running: running[n], weight: 0 };
            let moments = self.moments(stops).into_iter().enumerate();
            moments.fold(self.from, |avg, (n, moment)| self.updated(&avg, &inputs(n), moment)) == self.to
        };
        loads.iter().any(|l| runnable.iter().any(|r| running.iter().any(|u| all(l, r, u))))
    }

    /// Values of one input on each stretch that lead to the recorded sum.
    fn paths(&self, stops: [u64; 2], column: &Column) -> Vec<Path> {
        let mut paths = vec![(self.from, Path::default())];
        for (n, moment) in self.moments(stops).into_iter().enumerate() {
            let idle = n == 1 && stops[0] == stops[1];
            let values = if idle { &[0] } else { column.values[n].as_slice() };
            let on = |(avg, path): &(Avg, Path)| {
                let (avg, path) = (*avg, *path);
                values.iter().map(move |&value| {
                    let mut path = path;
                    path[n] = value;
                    (self.updated(&avg, &(column.inputs)(value), moment), path)
                })
            };
            paths = paths.iter().flat_map(on).collect();
        }
        let fits = |avg: &Avg| (column.sum)(avg) == (column.sum)(&self.to);
        paths.into_iter().filter(|(avg, _)| fits(avg)).map(|(_, path)| path).collect()
    }

    fn moments(&self, stops: [u64; 2]) -> Path {
        [stops[0], stops[1], self.to.last_update_time_ns]
    }

    fn updated(&self, avg: &Avg, inputs: &Inputs, moment: u64) -> Avg {
        self.bench.update(self.signal, avg, &Inputs { weight: self.weight, ..*inputs }, moment).0
    }
}
