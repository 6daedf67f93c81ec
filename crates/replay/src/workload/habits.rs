// SPDX-License-Identifier: GPL-2.0-only
//! What a recorded sleep was: a wait for another task, a timer on a grid, a pause of fixed length, or an event from
//! outside. A trace tells who was running when a wake-up happened; that is not always who caused it.

use std::collections::BTreeMap;

use super::record::{NOBODY, RecordedTask, Recording, Step};

/// Sleeps looked at per task to find its habit.
const SAMPLES_MAX: usize = 4096;
/// Sleeps needed to speak of a habit.
const SAMPLES_MIN: usize = 4;
/// Median deviation from the median that still is a habit, percent of the median.
const JITTER_PCT_MAX: u64 = 5;
/// A waker seen at most this many times as often as chance would have it is a coincidence.
const CHANCE_FACTOR: f64 = 2.0;

/// How the sleeps of a task that no task ends are ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Habit {
    /// There are none, or too few to say: each ends at its recorded time.
    #[default]
    Events,
    /// By a timer on a grid.
    Periodic {
        /// Median interval.
        period_ns: u64,
        /// Median deviation from it.
        jitter_ns: u64,
    },
    /// After a pause of fixed length, whenever it began.
    Pause {
        /// Median length.
        length_ns: u64,
        /// Median deviation from it.
        jitter_ns: u64,
    },
}

/// Who really wakes whom, and how the other sleeps end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Habits {
    /// Pairs (waker, woken) that depend on each other, with the number of wake-ups.
    pub pairs: BTreeMap<(u32, u32), u64>,
    /// Pairs that met by chance: an interrupt hit while the one was running.
    pub coincidences: BTreeMap<(u32, u32), u64>,
    /// By task.
    pub habits: Vec<Habit>,
}

impl Habits {
    /// Looks at a whole recording.
    pub fn of(recording: &Recording) -> Habits {
        let (pairs, coincidences) = sort_out(recording);
        let habit = |(index, task)| habit(index as u32, task, &pairs);
        let habits = recording.tasks.iter().enumerate().map(habit).collect();
        Habits { pairs, coincidences, habits }
    }

    /// True when `by` really ends sleeps of `task`.
    pub fn depends(&self, by: u32, task: u32) -> bool {
        self.pairs.contains_key(&(by, task))
    }
}

type Pairs = BTreeMap<(u32, u32), u64>;

/// Splits the recorded wakers into causes and coincidences.
fn sort_out(recording: &Recording) -> (Pairs, Pairs) {
    let mut seen = Pairs::new();
    let mut sleeps = vec![(0u64, 0u64); recording.tasks.len()];
    for (index, task) in recording.tasks.iter().enumerate() {
        for step in &task.steps {
            let Step::Sleep { by, .. } = *step else { continue };
            sleeps[index].0 += 1;
            sleeps[index].1 += u64::from(by == NOBODY);
            if by != NOBODY {
                *seen.entry((by, index as u32)).or_default() += 1;
            }
        }
    }
    let window_ns = recording.to_ns.saturating_sub(recording.from_ns).max(1) as f64;
    let share = |index: u32| recording.tasks[index as usize].run_ns as f64 / window_ns;
    let busiest = recording.busy_share();
    seen.into_iter().partition(|&((by, task), n)| {
        let (all, outside) = sleeps[task as usize];
        let often = n as f64 > CHANCE_FACTOR * share(by) * all as f64;
        // Interrupts hit idle CPUs too: a task that is never woken out of idle is not woken by interrupts.
        let never_outside = (outside as f64) < (1.0 - busiest) / CHANCE_FACTOR * all as f64;
        often || never_outside
    })
}

/// How the sleeps end that no task ends.
fn habit(index: u32, task: &RecordedTask, pairs: &Pairs) -> Habit {
    let mut lengths = Vec::new();
    let mut intervals = Vec::new();
    let mut before = None;
    for step in &task.steps {
        let Step::Sleep { at_ns, until_ns, by } = *step else { continue };
        if pairs.contains_key(&(by, index)) || lengths.len() >= SAMPLES_MAX {
            continue;
        }
        lengths.push(until_ns - at_ns);
        intervals.extend(before.map(|b| until_ns.saturating_sub(b)));
        before = Some(until_ns);
    }
    if intervals.len() < SAMPLES_MIN {
        return Habit::Events;
    }
    // The first sleep began before the window.
    lengths.remove(0);
    let ((period_ns, period_jitter), (length_ns, length_jitter)) = (spread(intervals), spread(lengths));
    let regular = |median: u64, jitter: u64| median > 0 && jitter <= median / 100 * JITTER_PCT_MAX;
    // Of two regular readings the one with less deviation is the cause, the other its consequence.
    let on_grid =
        u128::from(period_jitter) * u128::from(length_ns) <= u128::from(length_jitter) * u128::from(period_ns);
    if regular(period_ns, period_jitter) && (on_grid || !regular(length_ns, length_jitter)) {
        Habit::Periodic { period_ns, jitter_ns: period_jitter }
    } else if regular(length_ns, length_jitter) {
        Habit::Pause { length_ns, jitter_ns: length_jitter }
    } else {
        Habit::Events
    }
}

/// Median, and median deviation from it.
fn spread(mut values: Vec<u64>) -> (u64, u64) {
    let median = |values: &mut Vec<u64>| {
        let middle = values.len() / 2;
        *values.select_nth_unstable(middle).1
    };
    let center = median(&mut values);
    values.iter_mut().for_each(|v| *v = v.abs_diff(center));
    (center, median(&mut values))
}
