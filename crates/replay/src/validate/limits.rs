// SPDX-License-Identifier: GPL-2.0-only
//! Numbers no kernel can have. A record with one is damage: it is counted, the first is named, and it never reaches the core.

use pelton_schema::{CPU_UNKNOWN, Event};

use super::engine::Place;
use super::report::{Damaged, Report};

/// Positions in a period.
const PERIOD_CONTRIB_MAX: u64 = 1023;
/// Times: 146 years.
const TIME_MAX_NS: u64 = 1 << 62;
/// Sums: that of a queue of the heaviest groups stays far below.
const SUM_MAX: u64 = 1 << 58;
/// An entity's load sum counts time, before 4.13 weighted time.
const ENTITY_LOAD_SUM_MAX: u64 = 1 << 34;
/// Averages.
const AVERAGE_MAX: u64 = 1 << 40;
/// Weights as the kernel stores them: those of a queue of many heavy groups.
const WEIGHT_MAX: u64 = 1 << 50;
/// An entity's: the largest share of a group.
const ENTITY_WEIGHT_MAX: u64 = 1 << 28;
/// Runnable tasks: more than there can be task ids.
const RUNNABLE_MAX: u64 = 1 << 23;
/// CPUs: more than any kernel is built for.
const CPU_MAX: u64 = (1 << 16) - 1;
/// Speeds and utilizations, of 1024.
const SCALE_MAX: u64 = 1 << 20;
/// Frequencies.
const KHZ_MAX: u64 = 1 << 30;

/// A column, its value and the largest it can have.
type Column = (&'static str, u64, u64);

/// True when the event can be used; otherwise it was counted as damaged.
pub fn plausible(report: &mut Report, place: Place, event: &Event) -> bool {
    let impossible =
        |&(column, value, limit): &Column| value > limit && !(column == "cpu" && value == u64::from(CPU_UNKNOWN));
    let Some((column, value, limit)) = columns(event).into_iter().find(impossible) else { return true };
    report.damaged += 1;
    let (event, time_ns) = (place.event, place.time_ns);
    report.first_damaged.get_or_insert(Damaged { event, time_ns, column, value, limit });
    false
}

fn columns(event: &Event) -> Vec<Column> {
    match *event {
        Event::PeltBefore { .. } | Event::PeltState { .. } => record(event),
        Event::RqClock { cpu, clock_pelt_ns, lost_idle_ns, .. } => vec![
            ("cpu", cpu.into(), CPU_MAX),
            ("clock_pelt_ns", clock_pelt_ns, TIME_MAX_NS),
            ("lost_idle_ns", lost_idle_ns, TIME_MAX_NS),
        ],
        Event::RqClockStep {
            cpu, cap_scale, freq_scale, clock_ns, clock_task_ns, clock_pelt_ns, lost_idle_ns, ..
        } => {
            vec![
                ("cpu", cpu.into(), CPU_MAX),
                ("cap_scale", cap_scale.into(), SCALE_MAX),
                ("freq_scale", freq_scale.into(), SCALE_MAX),
                ("clock_ns", clock_ns, TIME_MAX_NS),
                ("clock_task_ns", clock_task_ns, TIME_MAX_NS),
                ("clock_pelt_ns", clock_pelt_ns, TIME_MAX_NS),
                ("lost_idle_ns", lost_idle_ns, TIME_MAX_NS),
            ]
        }
        Event::EffectiveUtil { cpu, util, .. } => {
            vec![("cpu", cpu.into(), CPU_MAX), ("util", util.into(), SCALE_MAX)]
        }
        Event::EffectivePerf { cpu, actual, .. } => {
            vec![("cpu", cpu.into(), CPU_MAX), ("actual", actual.into(), SCALE_MAX)]
        }
        Event::NextFreq { cpu, util, max, max_khz, .. } => vec![
            ("cpu", cpu.into(), CPU_MAX),
            ("util", util.into(), SCALE_MAX),
            ("max", max.into(), SCALE_MAX),
            ("max_khz", max_khz.into(), KHZ_MAX),
        ],
        Event::SchedSwitch { cpu, .. } | Event::CpuFrequency { cpu, .. } => vec![("cpu", cpu.into(), CPU_MAX)],
        Event::LostEvents { cpu, .. } => vec![("cpu", cpu.into(), CPU_MAX)],
        _ => Vec::new(),
    }
}

/// The columns that states before and after have in common.
fn record(event: &Event) -> Vec<Column> {
    let (entity, mut columns) = match *event {
        Event::PeltState { cpu, tid, signal, runnable, weight, now_ns, .. } => {
            let entity = tid != 0 && signal != pelton_schema::PeltSignal::Queue as u32;
            let weight_max = if entity { ENTITY_WEIGHT_MAX } else { WEIGHT_MAX };
            let own = vec![
                ("cpu", cpu.into(), CPU_MAX),
                ("runnable", runnable.into(), RUNNABLE_MAX),
                ("weight", weight, weight_max),
                ("now_ns", now_ns, TIME_MAX_NS),
            ];
            (entity, own)
        }
        Event::PeltBefore { cpu, .. } => (false, vec![("cpu", cpu.into(), CPU_MAX)]),
        _ => return Vec::new(),
    };
    if let Event::PeltState {
        last_update_time_ns,
        load_sum,
        runnable_sum,
        period_contrib,
        load_avg,
        runnable_avg,
        ..
    }
    | Event::PeltBefore {
        last_update_time_ns,
        load_sum,
        runnable_sum,
        period_contrib,
        load_avg,
        runnable_avg,
        ..
    } = *event
    {
        columns.extend([
            ("last_update_time_ns", last_update_time_ns, TIME_MAX_NS),
            ("load_sum", load_sum, if entity { ENTITY_LOAD_SUM_MAX } else { SUM_MAX }),
            ("runnable_sum", runnable_sum, SUM_MAX),
            ("period_contrib", period_contrib.into(), PERIOD_CONTRIB_MAX),
            ("load_avg", load_avg, AVERAGE_MAX),
            ("runnable_avg", runnable_avg, AVERAGE_MAX),
        ]);
    }
    columns
}
