// SPDX-License-Identifier: GPL-2.0-or-later
//! Kinds of recorded sleeps: a wait for another task, a timer on a grid, a pause of fixed length, or an event from
//! outside. A trace has the task that was running when a wake-up happened; that is not always the one that caused it.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{NOBODY, Pulls, RecordedTask, Recording, Step};

/// Sleeps looked at per task to find its habit.
const SAMPLES_MAX: usize = 4096;
/// Sleeps needed to speak of a habit.
const SAMPLES_MIN: usize = 4;
/// Median deviation from the median that still is a habit, percent of the median.
const JITTER_PCT_MAX: u64 = 5;
/// A waker seen at most this many times as often as chance would have it is a coincidence.
const CHANCE_FACTOR: f64 = 2.0;
/// Wake-ups out of idle that must be expected before their absence says something.
const OUTSIDE_MIN: f64 = 3.0;
/// Wake-ups of a clock deviate by at most this part of their period.
const GRID_PARTS: u64 = 1000;
/// A task that alone wakes another one is seen at nearly all its wake-ups: 19 of 20.
const CAUSE_SHARE: (u64, u64) = (19, 20);
/// A task that so many others wake has no order among them.
const SERVER_WAKERS_MIN: usize = 8;
/// A timer's length is seen so often at least.
const TIMER_SEEN_MIN: usize = 2;
/// A task has so many timers of different lengths at most.
const TIMER_LENGTHS_MAX: usize = 20;
/// Longest way from the last act to the sleep, ns of work.
const WAY_TO_SLEEP_NS: u64 = 20_000;

/// Ends of the sleeps of a task that no task ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Habit {
    /// None, or too few to say: each ends at its recorded time.
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

/// Wake-ups of tasks by tasks as far as they are real, and ends of the other sleeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Habits {
    /// Pairs (waker, woken) that depend on each other, with the number of wake-ups.
    pub pairs: BTreeMap<(u32, u32), u64>,
    /// Pairs that met by chance: an interrupt hit while the one was running.
    pub coincidences: BTreeMap<(u32, u32), u64>,
    /// Pairs whose waker is about to sleep (`WF_SYNC`), as writers of pipes and sockets say.
    pub sync: BTreeSet<(u32, u32)>,
    /// Tasks that many others wake: they take what comes from any task.
    pub servers: BTreeSet<u32>,
    /// Wake-ups of such pairs that are those of a timer all the same: waker, woken, number of the wake-up within the
    /// pair.
    pub timers: BTreeSet<(u32, u32, u64)>,
    /// By task.
    pub habits: Vec<Habit>,
}

impl Habits {
    /// Looks at a whole recording.
    pub fn of(recording: &Recording) -> Habits {
        let timers = timer_wakeups(recording);
        let (causes, chances) = sort_out(recording, &timers);
        let counts = |all: &Meetings| all.iter().map(|&(pair, m)| (pair, m.wakeups)).collect();
        let (pairs, coincidences): (Pairs, Pairs) = (counts(&causes), counts(&chances));
        let habit = |(index, task)| habit(index as u32, task, &pairs);
        let habits = recording.tasks.iter().enumerate().map(habit).collect();
        let of = |pair| recording.pulls.get(&pair).copied().unwrap_or_default();
        let is_sync = |&&(pair, meeting): &&((u32, u32), Meeting)| is_sync(meeting, of(pair));
        let mut sync: BTreeSet<(u32, u32)> = causes.iter().filter(is_sync).map(|&(pair, _)| pair).collect();
        let servers = servers(&pairs, &mut sync);
        Habits { pairs, coincidences, sync, servers, timers, habits }
    }

    /// Place at which `task` waits when `by` wakes it: one of this pair, or of the woken task alone.
    pub fn place(&self, by: u32, task: u32) -> (u32, u32) {
        if self.servers.contains(&task) { (NOBODY, task) } else { (by, task) }
    }

    /// True when `by` really ended a sleep of `task`: the one of this number within the pair.
    pub fn depends(&self, by: u32, task: u32, number: u64) -> bool {
        self.pairs.contains_key(&(by, task)) && !self.timers.contains(&(by, task, number))
    }
}

type Pairs = BTreeMap<(u32, u32), u64>;
type Meetings = Vec<((u32, u32), Meeting)>;

/// True when the waker is about to sleep. The CPU of the woken task shows it: from a CPU that is idle, only a waker
/// about to sleep draws it to another cache group. Where no task came from there, the order of events decides: a waker
/// that sleeps soon after is taken for one.
fn is_sync(meeting: Meeting, pulls: Pulls) -> bool {
    match pulls.pulled + pulls.stayed {
        0 => meeting.last_acts * 2 > meeting.wakeups,
        _ => pulls.pulled > pulls.stayed,
    }
}

/// Task that was running at the wake-ups of another one, seen from that one.
#[derive(Clone, Copy, Default)]
struct Meeting {
    /// Wake-ups with this task running.
    wakeups: u64,
    /// After how many of them it soon slept itself.
    last_acts: u64,
}

/// Tasks with many wakers; they are woken by pipe if most of these use one.
fn servers(pairs: &Pairs, sync: &mut BTreeSet<(u32, u32)>) -> BTreeSet<u32> {
    let mut wakers = BTreeMap::<u32, (usize, usize)>::new();
    for pair in pairs.keys() {
        let (all, by_pipe) = wakers.entry(pair.1).or_default();
        *all += 1;
        *by_pipe += usize::from(sync.contains(pair));
    }
    let servers = wakers.iter().filter(|(_, (all, _))| *all >= SERVER_WAKERS_MIN);
    sync.extend(servers.clone().filter(|(_, (all, by_pipe))| by_pipe * 2 > *all).map(|(&task, _)| (NOBODY, task)));
    servers.map(|(&task, _)| task).collect()
}

/// Wake-ups that a timer made while another task happened to run: those out of idle show the lengths of a task's
/// timers, and sleeps of just such a length are ended by them, whichever task runs.
fn timer_wakeups(recording: &Recording) -> BTreeSet<(u32, u32, u64)> {
    let mut found = BTreeSet::new();
    for (index, task) in recording.tasks.iter().enumerate() {
        let sleeps = || {
            task.steps.iter().filter_map(|s| {
                if let Step::Sleep { at_ns, until_ns, by } = *s { Some((until_ns - at_ns, by)) } else { None }
            })
        };
        // The first sleep began before the window.
        let mut known: Vec<u64> = sleeps().skip(1).filter(|s| s.1 == NOBODY).take(SAMPLES_MAX).map(|s| s.0).collect();
        known.sort_unstable();
        let mut numbers = BTreeMap::<u32, u64>::new();
        for (length_ns, by) in sleeps().filter(|s| s.1 != NOBODY) {
            let number = numbers.entry(by).or_default();
            if is_timer(&known, length_ns) {
                found.insert((by, index as u32, *number));
            }
            *number += 1;
        }
    }
    found
}

/// A length that comes again and again among `known` ones, which are in order.
fn is_timer(known: &[u64], length_ns: u64) -> bool {
    let off_ns = length_ns / GRID_PARTS;
    let same = known.partition_point(|&k| k <= length_ns.saturating_add(off_ns))
        - known.partition_point(|&k| k < length_ns - off_ns);
    same >= TIMER_SEEN_MIN.max(known.len() / TIMER_LENGTHS_MAX)
}

/// Splits the recorded wakers into causes and coincidences.
fn sort_out(recording: &Recording, timers: &BTreeSet<(u32, u32, u64)>) -> (Meetings, Meetings) {
    let by_timer = |by: u32, task: u32| timers.range((by, task, 0)..=(by, task, u64::MAX)).count() as u64;
    let mut seen = BTreeMap::<(u32, u32), Meeting>::new();
    let mut sleeps = vec![(0u64, 0u64); recording.tasks.len()];
    for (index, task) in recording.tasks.iter().enumerate() {
        for (i, step) in task.steps.iter().enumerate() {
            match *step {
                Step::Sleep { by, .. } => {
                    sleeps[index].0 += 1;
                    sleeps[index].1 += u64::from(by == NOBODY);
                    if by != NOBODY {
                        seen.entry((by, index as u32)).or_default().wakeups += 1;
                    }
                }
                Step::Wake { task: woken } if soon_sleeps(&task.steps[i + 1..]) => {
                    seen.entry((index as u32, woken)).or_default().last_acts += 1;
                }
                _ => {}
            }
        }
    }
    let window_ns = recording.to_ns.saturating_sub(recording.from_ns).max(1) as f64;
    let share = |index: u32| recording.tasks[index as usize].run_ns as f64 / window_ns;
    let busiest = recording.busy_share();
    let on_grid: Vec<bool> = recording.tasks.iter().map(is_on_grid).collect();
    for (&(by, task), meeting) in &mut seen {
        let timers = by_timer(by, task);
        meeting.wakeups = meeting.wakeups.saturating_sub(timers);
        sleeps[task as usize].1 += timers;
    }
    let is_cause = |&((by, task), meeting): &((u32, u32), Meeting)| {
        let (all, outside) = sleeps[task as usize];
        let n = meeting.wakeups;
        if on_grid[task as usize] {
            // A clock wakes it whoever runs, unless one task alone does, and as the last thing before its own sleep.
            return n * CAUSE_SHARE.1 >= all * CAUSE_SHARE.0 && meeting.last_acts * 2 > n;
        }
        let often = n as f64 > CHANCE_FACTOR * share(by) * all as f64;
        // Interrupts hit idle CPUs too: a task that is never woken out of idle, when it should have been a few times,
        // is not woken by interrupts.
        let expected = (1.0 - busiest) * all as f64;
        often || (expected >= OUTSIDE_MIN && (outside as f64) < expected / CHANCE_FACTOR)
    };
    seen.into_iter().filter(|(_, m)| m.wakeups > 0).partition(is_cause)
}

/// The next thing that is more than the way to it is a sleep.
fn soon_sleeps(rest: &[Step]) -> bool {
    let next = rest.iter().find(|s| !matches!(s, Step::Run { work_ns, .. } if *work_ns <= WAY_TO_SLEEP_NS));
    matches!(next, Some(Step::Sleep { .. }))
}

/// All its sleeps end in equal distances, whichever task was running then.
fn is_on_grid(task: &RecordedTask) -> bool {
    let ends =
        || task.steps.iter().filter_map(|s| if let Step::Sleep { until_ns, .. } = *s { Some(until_ns) } else { None });
    let intervals: Vec<u64> = ends().zip(ends().skip(1)).take(SAMPLES_MAX).map(|(a, b)| b.saturating_sub(a)).collect();
    if intervals.len() < SAMPLES_MIN {
        return false;
    }
    let (period_ns, jitter_ns) = spread(intervals.clone());
    // A clock goes on: tasks in a row also wake each other in equal distances, for a while.
    let (off_ns, all_ns) = (period_ns / GRID_PARTS, intervals.iter().map(|&ns| u128::from(ns)).sum::<u128>());
    let on_time =
        intervals.iter().filter(|ns| ns.abs_diff(period_ns) <= off_ns).map(|&ns| u128::from(ns)).sum::<u128>();
    period_ns > 0 && jitter_ns <= off_ns && on_time * 2 >= all_ns
}

/// Finds how those sleeps end that no task ends.
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
