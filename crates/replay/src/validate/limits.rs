// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers no kernel can have. A record with one is damage: it is counted, the first is named, and it never reaches the
//! core.

use pelton_core::{bounds, scale_load_down};
use pelton_schema::{CPU_UNKNOWN, Event, PeltSignal};

use super::averages::averages;
use super::engine::Place;
use super::report::{Damaged, Report};

/// The largest value of each quantity of `bounds.h` that a trace can hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    cpu: u64,
    time_ns: u64,
    period_contrib: u64,
    khz: u64,
    capacity: u64,
    freq_scale: u64,
    tasks: u64,
    signal: u64,
    sum: u64,
    entity_load_sum: u64,
    average: u64,
    entity_weight: u64,
    weight: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        let bounds = bounds();
        let max = |quantity| bounds.iter().find(|b| b.quantity == quantity).map_or(u64::MAX, |b| b.max);
        Limits {
            cpu: max("cpu"),
            time_ns: max("time_ns"),
            period_contrib: max("period_contrib"),
            khz: max("frequency_khz"),
            capacity: max("capacity"),
            freq_scale: max("freq_scale"),
            tasks: max("tasks"),
            signal: max("cpu_signal"),
            sum: max("queue_sum"),
            entity_load_sum: max("entity_load_sum"),
            average: max("queue_average"),
            entity_weight: max("shares"),
            weight: max("queue_weight"),
        }
    }
}

/// A column, its value and the largest it can have.
type Column = (&'static str, u64, u64);

/// The first column of a list whose value is too large.
fn first_of(columns: impl IntoIterator<Item = Column>) -> Option<Column> {
    columns.into_iter().find(|&(_, value, limit)| value > limit)
}

impl Limits {
    /// True when the event can be used; otherwise it was counted as damaged.
    pub fn plausible(&self, report: &mut Report, place: Place, event: &Event) -> bool {
        let time = || first_of([("time_ns", place.time_ns, self.time_ns)]);
        let wrong = time().or_else(|| self.cpu_of(event)).or_else(|| self.column_of(event));
        let Some((column, value, limit)) = wrong else { return true };
        report.damaged += 1;
        let (event, time_ns) = (place.event, place.time_ns);
        report.first_damaged.get_or_insert(Damaged { event, time_ns, column, value, limit });
        false
    }

    /// The CPU of an event, when its number is too large.
    fn cpu_of(&self, event: &Event) -> Option<Column> {
        let (Event::PeltBefore { cpu, .. }
        | Event::PeltState { cpu, .. }
        | Event::RqClock { cpu, .. }
        | Event::RqClockStep { cpu, .. }
        | Event::EffectiveUtil { cpu, .. }
        | Event::EffectivePerf { cpu, .. }
        | Event::NextFreq { cpu, .. }
        | Event::SchedSwitch { cpu, .. }
        | Event::CpuFrequency { cpu, .. }
        | Event::CpuIdle { cpu, .. }
        | Event::PeltCfs { cpu, .. }
        | Event::PeltRt { cpu, .. }
        | Event::PeltPending { cpu, .. }
        | Event::LostEvents { cpu, .. }) = *event
        else {
            return None;
        };
        (u64::from(cpu) > self.cpu && cpu != CPU_UNKNOWN).then(|| ("cpu", cpu.into(), self.cpu))
    }

    /// Any other column.
    fn column_of(&self, event: &Event) -> Option<Column> {
        match *event {
            Event::PeltBefore { .. } | Event::PeltState { .. } => self.record(event),
            Event::RqClock { clock_pelt_ns, lost_idle_ns, .. } => {
                first_of([("clock_pelt_ns", clock_pelt_ns, self.time_ns), ("lost_idle_ns", lost_idle_ns, self.time_ns)])
            }
            Event::RqClockStep {
                cap_scale, freq_scale, clock_ns, clock_task_ns, clock_pelt_ns, lost_idle_ns, ..
            } => first_of([
                ("cap_scale", cap_scale.into(), self.capacity),
                ("freq_scale", freq_scale.into(), self.freq_scale),
                ("clock_ns", clock_ns, self.time_ns),
                ("clock_task_ns", clock_task_ns, self.time_ns),
                ("clock_pelt_ns", clock_pelt_ns, self.time_ns),
                ("lost_idle_ns", lost_idle_ns, self.time_ns),
            ]),
            Event::EffectiveUtil { util, .. } => first_of([("util", util.into(), self.signal)]),
            Event::EffectivePerf { actual, .. } => first_of([("actual", actual.into(), self.signal)]),
            Event::NextFreq { util, max, max_khz, cur_khz, raw_khz, next_khz, .. } => first_of([
                ("util", util.into(), self.signal),
                ("max", max.into(), self.signal),
                ("max_khz", max_khz.into(), self.khz),
                ("cur_khz", cur_khz.into(), self.khz),
                ("raw_khz", raw_khz.into(), self.khz),
                ("next_khz", next_khz.into(), self.khz),
            ]),
            Event::CpuFrequency { freq_khz, .. } => first_of([("freq_khz", freq_khz.into(), self.khz)]),
            Event::PeltPending { removed_load, removed_runnable, removed_util, prop_runnable_sum, .. } => first_of([
                ("removed_load", removed_load, self.average),
                ("removed_runnable", removed_runnable, self.average),
                ("removed_util", removed_util, self.signal),
                ("prop_runnable_sum", prop_runnable_sum.unsigned_abs(), self.sum),
            ]),
            Event::PeltCfs { util_avg, .. }
            | Event::PeltSe { util_avg, .. }
            | Event::PeltRt { util_avg, .. }
            | Event::PeltDl { util_avg, .. } => first_of([("util_avg", util_avg.into(), self.signal)]),
            _ => None,
        }
    }

    /// A state, or the one before a call. Before 4.13 an entity's load sum was weighted; its limit allows for that.
    fn record(&self, event: &Event) -> Option<Column> {
        let avg = averages(event)?;
        let mut load_sum = self.sum;
        if let Event::PeltState { tid, signal, runnable, weight, now_ns, .. } = *event {
            let entity = tid != 0 && signal != PeltSignal::Queue as u32;
            let weight_max = if entity { self.entity_weight } else { self.weight };
            load_sum = if entity { self.entity_load_sum } else { self.sum };
            let own = [
                ("runnable", runnable.into(), self.tasks),
                ("weight_scaled_down", scale_load_down(weight), weight_max),
                ("now_ns", now_ns, self.time_ns),
            ];
            if let Some(found) = first_of(own) {
                return Some(found);
            }
        }
        first_of([
            ("last_update_time_ns", avg.last_update_time_ns, self.time_ns),
            ("load_sum", avg.load_sum, load_sum),
            ("runnable_sum", avg.runnable_sum, self.sum),
            ("period_contrib", avg.period_contrib.into(), self.period_contrib),
            ("load_avg", avg.load_avg, self.average),
            ("runnable_avg", avg.runnable_avg, self.average),
        ])
    }
}
