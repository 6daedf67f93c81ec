// SPDX-License-Identifier: GPL-2.0-or-later
//! One record from a known state to a later one, through the core.

use pelton_core::{Arithmetic, Avg, CfsRq, Ctx, Policy, Se, scale_load};
use pelton_schema::PeltSignal;

use super::bisect;
use super::object::{Inputs, State};

/// Periods are this many units long.
pub const PERIOD_UNITS: u64 = 1024;
/// A unit is 1 << this many ns.
pub const UNIT_SHIFT: u32 = 10;

/// The class of records that need one more update than the trace shows, inside the open period.
pub const PARTIAL: &str = "one untraced partial update";
/// The class of records that need such an update, at which the inputs changed.
pub const PARTIAL_CHANGE: &str = "one untraced partial update at which its inputs changed";

/// Rules and arithmetic that an update needs.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    /// The rules.
    pub pol: &'a Policy,
    /// The core's functions, or those of one that is wrong on purpose.
    pub core: &'a Arithmetic,
}

impl Bench<'_> {
    fn ctx(&self, now: u64) -> Ctx<'_> {
        Ctx { pol: self.pol, now, cap_orig: 1024, freq_scale: 1024 }
    }

    /// A record brought up to `now`; the flag says whether a period boundary was crossed.
    pub fn update(&self, signal: PeltSignal, avg: &Avg, inputs: &Inputs, now: u64) -> (Avg, bool) {
        let ctx = self.ctx(now);
        match signal {
            PeltSignal::Entity | PeltSignal::BlockedEntity => {
                let mut se = Se { avg: *avg, weight: inputs.weight, ..Se::default() };
                se.on_rq = u32::from(inputs.load != 0);
                se.nr_runnable = u32::try_from(inputs.runnable).unwrap_or(u32::MAX);
                // Up to 5.4, where no trace shows it: a task is runnable with all of its weight.
                se.runnable_weight = u32::try_from(scale_load(inputs.weight)).unwrap_or(u32::MAX);
                se.running = u32::from(inputs.running != 0);
                let crossed = self.core.update_se(&ctx, &mut se) != 0;
                (se.avg, crossed)
            }
            PeltSignal::Queue => {
                let mut cfs = CfsRq { avg: *avg, load_weight: inputs.load, ..CfsRq::default() };
                cfs.h_nr_runnable = u32::try_from(inputs.runnable).unwrap_or(u32::MAX);
                cfs.runnable_weight = scale_load(inputs.load);
                cfs.has_curr = u32::from(inputs.running != 0);
                let crossed = self.core.update_cfs_rq(&ctx, &mut cfs) != 0;
                (cfs.avg, crossed)
            }
            _ => {
                let mut other = *avg;
                let crossed =
                    self.core.update_avg(&ctx, &mut other, u32::try_from(inputs.running).unwrap_or(u32::MAX)) != 0;
                (other, crossed)
            }
        }
    }

    /// True when a record at the first position is at the second one later: periods begin where they always did.
    pub fn leads_to(&self, past: &Avg, later: &Avg) -> bool {
        if past.last_update_time_ns > later.last_update_time_ns {
            return false;
        }
        let mut at = *past;
        self.core.accumulate(&self.ctx(later.last_update_time_ns), &mut at, 0, 0, 0);
        (at.last_update_time_ns, at.period_contrib) == (later.last_update_time_ns, later.period_contrib)
    }

    /// The load average that belongs to a load sum at a position in the period.
    pub fn load_avg(&self, load_sum: u64, weight: u64, period_contrib: u32) -> u64 {
        let mut avg = Avg { load_sum, period_contrib, ..Avg::default() };
        self.core.publish(self.pol, &mut avg, weight);
        avg.load_avg
    }

    /// A task's entity as it is made, before it joins a queue with these averages: nothing of it is read from a trace.
    pub fn first(&self, weight: u64, queue: &Avg, capacity: u32) -> Se {
        let mut se = Se { weight, nr_runnable: 1, ..Se::default() };
        se.avg.load_avg = weight;
        se.post_init(self.pol, &CfsRq { avg: *queue, ..CfsRq::default() }, capacity);
        se
    }

    /// Averages of a queue, and the entity, after attaching `entity`.
    pub fn attached(&self, queue: &Avg, entity: &Se) -> (Avg, Se) {
        let (mut cfs, mut se) = (CfsRq { avg: *queue, ..CfsRq::default() }, *entity);
        self.core.attach(self.pol, &mut cfs, &mut se);
        (cfs.avg, se)
    }

    /// Averages of a queue after detaching `entity`.
    pub fn detached(&self, queue: &Avg, entity: &Se) -> Avg {
        let mut cfs = CfsRq { avg: *queue, ..CfsRq::default() };
        self.core.detach(self.pol, &mut cfs, entity);
        cfs.avg
    }

    /// An entity brought up to `now` from its own state.
    pub fn aged(&self, entity: &Se, now: u64) -> Se {
        let mut se = *entity;
        if se.avg.last_update_time_ns < now {
            self.core.update_se(&self.ctx(now), &mut se);
        }
        se
    }

    /// The estimate of a task that goes to sleep in this state.
    pub fn estimated(&self, known: &State) -> u32 {
        let mut se = known.entity();
        se.avg.util_est_enqueued = known.util_est;
        se.util_est_update(self.pol, 1024, true);
        se.avg.util_est_enqueued
    }

    /// A queue and an entity of it after the entity got a weight.
    pub fn reweighted(&self, queue: &Avg, entity: &Se, weight: u64) -> (Avg, Se) {
        let (mut cfs, mut se) = (CfsRq { avg: *queue, ..CfsRq::default() }, *entity);
        self.core.reweight(self.pol, &mut cfs, &mut se, weight);
        (cfs.avg, se)
    }

    /// A queue and a group's entity on it after the entity took over what its own queue has.
    pub fn handed_up(&self, queue: &Avg, entity: &Se, own: &CfsRq) -> (Avg, Se) {
        let (mut cfs, mut se, mut own) = (CfsRq { avg: *queue, ..CfsRq::default() }, *entity, *own);
        self.core.propagate(&self.ctx(queue.last_update_time_ns), &mut cfs, &mut se, &mut own);
        (cfs.avg, se)
    }

    /// Averages of a queue after taking out those of these sleepers.
    pub fn without(&self, queue: &Avg, sleepers: &[Se]) -> Avg {
        let synced: Vec<Avg> = sleepers.iter().map(|se| self.synced(queue, se).avg).collect();
        let sum = |of: fn(&Avg) -> u64| synced.iter().map(of).fold(0u64, u64::saturating_add);
        self.removed(queue, sum(|a| a.load_avg), sum(|a| a.runnable_avg), sum(|a| a.util_avg))
    }

    /// A group's queue from which these sleepers were taken out when it was updated, with what it has to propagate for
    /// it.
    pub fn owned_without(&self, known: &State, sleepers: &[Se], now: u64) -> CfsRq {
        let inputs = known.inputs(PeltSignal::Queue);
        let mut own = CfsRq { avg: known.avg, load_weight: inputs.load, removed_nr: 1, ..CfsRq::default() };
        own.h_nr_runnable = known.runnable;
        own.has_curr = u32::from(inputs.running != 0);
        for se in sleepers.iter().map(|se| self.synced(&known.avg, se).avg) {
            own.removed_load = own.removed_load.saturating_add(se.load_avg);
            own.removed_runnable = own.removed_runnable.saturating_add(se.runnable_avg);
            own.removed_util = own.removed_util.saturating_add(se.util_avg);
        }
        self.core.update_cfs_rq(&self.ctx(now), &mut own);
        own
    }

    /// Averages of a queue after taking out those of tasks that left in their sleep.
    pub fn removed(&self, queue: &Avg, load: u64, runnable: u64, util: u64) -> Avg {
        let mut cfs = CfsRq { avg: *queue, removed_nr: 1, ..CfsRq::default() };
        (cfs.removed_load, cfs.removed_runnable, cfs.removed_util) = (load, runnable, util);
        self.core.update_cfs_rq(&self.ctx(queue.last_update_time_ns), &mut cfs);
        cfs.avg
    }

    /// An entity that sleeps, aged to its queue's last update.
    pub fn synced(&self, queue: &Avg, entity: &Se) -> Se {
        let cfs = CfsRq { avg: *queue, ..CfsRq::default() };
        let mut se = *entity;
        self.core.sync_blocked(&self.ctx(0), &cfs, &mut se);
        se
    }

    /// From `from` to `to` with one more update in between than the trace shows, before the first period boundary (a
    /// later one would have been traced). With one input before and after, which is the first or second of `inputs`,
    /// every unit is tried; with two different ones, every unit that can reach the sums.
    pub fn with_partial(&self, signal: PeltSignal, from: &Avg, to: &Avg, inputs: &[Inputs]) -> Option<&'static str> {
        let span = to.last_update_time_ns.checked_sub(from.last_update_time_ns)? >> UNIT_SHIFT;
        let open = PERIOD_UNITS - 1 - u64::from(from.period_contrib).min(PERIOD_UNITS - 1);
        let last = open.min(span);
        if last == 0 {
            return None;
        }
        let through = |first: &Inputs, second: &Inputs, units: u64| {
            let at = from.last_update_time_ns + (units << UNIT_SHIFT);
            let (middle, _) = self.update(signal, from, first, at);
            self.update(signal, &middle, second, to.last_update_time_ns).0
        };
        let same = |i: &Inputs| (1..=last).any(|units| through(i, i, units) == *to);
        if inputs.iter().take(2).any(same) {
            return Some(PARTIAL);
        }
        let changes = |first: &Inputs, second: &Inputs| {
            let (low, high) = candidates(first, second, to, last, |units| through(first, second, units));
            (low..=high).any(|units| through(first, second, units) == *to)
        };
        let pairs = inputs.iter().flat_map(|a| inputs.iter().map(move |b| (a, b)));
        pairs.filter(|(a, b)| a != b).any(|(a, b)| changes(a, b)).then_some(PARTIAL_CHANGE)
    }
}

/// An input, its sum, and how much rounding takes away.
type Column = (fn(&Inputs) -> u64, fn(&Avg) -> u64, u64);

/// Range of units at which the second input may have taken over. A sum grows or falls with the length of the first
/// stretch, up to what rounding takes away (one unit of each stretch); so the range is found by halving.
fn candidates(first: &Inputs, second: &Inputs, to: &Avg, last: u64, through: impl Fn(u64) -> Avg) -> (u64, u64) {
    let active = |i: &Inputs, value: u64| if i.load == 0 { 0 } else { value };
    let columns: [Column; 3] = [
        (|i| i.running, |a| u64::from(a.util_sum), 1 << UNIT_SHIFT),
        (|i| i.runnable, |a| a.runnable_sum, 1 << UNIT_SHIFT),
        (|i| i.load, |a| a.load_sum, 1),
    ];
    for (input, sum, unit) in columns {
        let (a, b) = (active(first, input(first)), active(second, input(second)));
        if a == b {
            continue;
        }
        let slack = 4 * unit * a.max(b).max(1);
        let (target, grows) = (sum(to), a > b);
        let reaches =
            |units: u64, bound: u64| if grows { sum(&through(units)) >= bound } else { sum(&through(units)) <= bound };
        let (near, far) = (target.saturating_sub(slack), target.saturating_add(slack));
        let (near, far) = if grows { (near, far) } else { (far, near) };
        let low = bisect::first(1, last, |units| reaches(units, near));
        let past = |units: u64| if grows { sum(&through(units)) > far } else { sum(&through(units)) < far };
        return (low, bisect::first(1, last, past));
    }
    (1, last)
}
