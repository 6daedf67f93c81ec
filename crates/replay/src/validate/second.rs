// SPDX-License-Identifier: GPL-2.0-or-later
//! The second reading of a trace: comparisons that need to know beforehand what the trace has.

use std::collections::{BTreeMap, BTreeSet};

use pelton_core::{CpuState, runs, value};
use pelton_model::Machine;
use pelton_schema::{Event, PELT_DECAYED, PELT_ROOT, PeltSignal, PeltSource};
use pelton_trace::RunHeader;
use pelton_trace::import::{ImportError, Source, Timed, TraceInfo};

use super::Options;
use super::coarse::Coarse;
use super::engine::{Place, class_of};
use super::governor::{Distort, Governor, Score};
use super::limits::Limits;
use super::object::OBJECTS_MAX;
use super::report::Report;
use super::survey::Survey;

/// Between two events ticks are made up to this many; a longer gap has none.
const TICKS_MAX: u64 = 1024;
/// Ticks of a rebuilt schedule: 250 per second, their phase is not known.
const TICK_NS: u64 = 4_000_000;

/// Source of the governor's signals, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    /// Complete states of the queues.
    States,
    /// Utilizations that were handed to the governor.
    Sums,
    /// Averages of the queues.
    Averages,
    /// The schedule.
    Rebuilt,
}

impl Signals {
    fn of(survey: &Survey) -> Option<Signals> {
        let there = [
            (survey.states > 0, Signals::States),
            (survey.utils > 0, Signals::Sums),
            (survey.averages > 0, Signals::Averages),
            (!survey.switched.is_empty(), Signals::Rebuilt),
        ];
        there.into_iter().find(|(there, _)| *there).map(|(_, signals)| signals)
    }

    fn name(self) -> &'static str {
        match self {
            Signals::States => "recorded states",
            Signals::Sums => "recorded sums of utilization",
            Signals::Averages => "recorded averages",
            Signals::Rebuilt => "signals rebuilt from the schedule",
        }
    }
}

struct Second {
    coarse: Coarse,
    governor: Option<(Governor, Signals)>,
    realtime: BTreeMap<u32, BTreeSet<u32>>,
    stoppers: BTreeSet<u32>,
    busy: BTreeSet<u32>,
    choices: bool,
    tick_ns: u64,
}

/// Reads a trace again. The first reading left `report` and what is known about the trace.
///
/// # Errors
/// When the trace cannot be read.
pub fn compare_again(
    source: &mut dyn Source,
    info: &TraceInfo,
    options: &Options,
    report: &mut Report,
) -> Result<(), ImportError> {
    if !needs_second_reading(options, report) {
        return Ok(());
    }
    let second = read(source, info, options, &report.survey, |state| state)?;
    if let Some((governor, signals)) = second.governor {
        governor.score().tell(report, signals.name());
    }
    if report.survey.averages > 0 && speeds_are_told(options, info) {
        second.coarse.finish(report);
    } else if report.survey.averages > 0 {
        report.skip(
            "averages against the schedule",
            "this machine's cores are as fast as their neighbours let them be, and the log tells requests",
        );
    }
    Ok(())
}

/// True where speeds are recorded: a run of ours records what a domain asks for. Where neighbours decide what a core
/// gets of it, its averages do not follow.
fn speeds_are_told(options: &Options, info: &TraceInfo) -> bool {
    let is_run = info.header.as_ref().is_some_and(RunHeader::is_simulated);
    !is_run || !options.machine.as_ref().is_some_and(Machine::shares_hardware)
}

/// True when [`compare_again`] has something to do.
pub fn needs_second_reading(options: &Options, report: &mut Report) -> bool {
    let frequencies = report.survey.frequencies > 0;
    if frequencies && options.machine.is_none() {
        report.skip(
            "cpu_frequency from signals",
            "capacities and frequency tables are not in the trace: give --platform",
        );
    }
    if frequencies && options.policy.governor != value::GOVERNOR_SCHEDUTIL {
        report.skip("cpu_frequency from signals", "the governor is not schedutil");
    }
    report.survey.averages > 0 || (frequencies && options.machine.is_some())
}

/// The score of the governor with signals that were changed on purpose; `None` when there is nothing to predict.
///
/// # Errors
/// When the trace cannot be read.
pub fn predict_distorted(
    source: &mut dyn Source,
    info: &TraceInfo,
    options: &Options,
    survey: &Survey,
    distort: Distort,
) -> Result<Option<Score>, ImportError> {
    Ok(read(source, info, options, survey, distort)?.governor.map(|(governor, _)| governor.score()))
}

fn read(
    source: &mut dyn Source,
    info: &TraceInfo,
    options: &Options,
    survey: &Survey,
    distort: Distort,
) -> Result<Second, ImportError> {
    // The decisions of a governor of ours are recorded, and were decided again in the first reading: there is nothing
    // to predict.
    let signals = Signals::of(survey).filter(|_| {
        survey.frequencies > 0 && survey.decisions == 0 && options.policy.governor == value::GOVERNOR_SCHEDUTIL
    });
    let governor = options.machine.as_ref().zip(signals);
    let mut second = Second {
        coarse: Coarse::new(options.policy, options.machine.as_ref(), survey, info),
        governor: governor.map(|(machine, signals)| (Governor::new(options.policy, machine, distort), signals)),
        realtime: BTreeMap::new(),
        stoppers: info.names.iter().filter(|(_, name)| is_stopper(name)).map(|(tid, _)| *tid).collect(),
        busy: BTreeSet::new(),
        choices: survey.choices > 0,
        tick_ns: 0,
    };
    let rebuilds = survey.averages > 0 || signals == Some(Signals::Rebuilt);
    let (limits, mut ignored) = (Limits::default(), Report::default());
    while let Some(timed) = source.next()? {
        let place = Place { time_ns: timed.time_ns, ..Place::default() };
        if !limits.plausible(&mut ignored, place, &timed.event) {
            continue;
        }
        second.ticks(timed.time_ns);
        if rebuilds {
            second.coarse.event(&timed);
        }
        second.govern(&timed);
    }
    Ok(second)
}

impl Second {
    /// Ticks of the CPUs that are busy in a rebuilt schedule.
    fn ticks(&mut self, now: u64) {
        if !matches!(self.governor, Some((_, Signals::Rebuilt))) {
            return;
        }
        let first = (self.tick_ns + TICK_NS).max(now.saturating_sub(TICKS_MAX * TICK_NS));
        let mut at = first.next_multiple_of(TICK_NS);
        while at < now {
            for cpu in self.busy.clone() {
                self.coarse.machine.refresh(at, cpu);
                self.rebuilt(at, cpu);
            }
            (self.tick_ns, at) = (at, at + TICK_NS);
        }
    }

    /// The governor sees a CPU as the rebuilt schedule has it.
    fn rebuilt(&mut self, now: u64, cpu: u32) {
        let known = self.coarse.machine.is_known(cpu, now);
        let Some(c) = self.coarse.machine.cpu(cpu).filter(|_| known) else { return };
        let state = CpuState::fill(&c.rq, 0, c.rt_running, c.idle_calls);
        if let Some((governor, _)) = &mut self.governor {
            governor.change(cpu, |own| *own = state);
            governor.hook(now, cpu, 0);
        }
    }

    fn govern(&mut self, timed: &Timed) {
        let now = timed.time_ns;
        let Some((governor, signals)) = &mut self.governor else { return };
        match (*signals, &timed.event) {
            (_, Event::CpuFrequency { cpu, freq_khz }) => governor.set(now, *cpu, *freq_khz),
            (_, Event::CpuFrequencyLimits { cpu, min_khz, max_khz }) => governor.limits(now, *cpu, *min_khz, *max_khz),
            (Signals::Rebuilt, event) => {
                if let Some(cpu) = concerns(event) {
                    if let Event::SchedSwitch { next_tid, .. } = *event {
                        let _ = if next_tid == 0 { self.busy.remove(&cpu) } else { self.busy.insert(cpu) };
                    }
                    self.rebuilt(now, cpu);
                }
            }
            (signals, event) => {
                let called = match signals {
                    Signals::States => from_state(governor, event),
                    Signals::Sums => from_sum(governor, event, self.choices),
                    _ => from_average(governor, event),
                };
                let woken = self.classes(event);
                if let (Some(cpu), Some((governor, _))) = (called.or(woken), &mut self.governor) {
                    governor.hook(now, cpu, 0);
                }
            }
        }
    }

    /// Keeps count of real-time tasks and idle times; the CPU whose governor is called because a real-time task came or
    /// went, which both put the top real-time queue in order again.
    fn classes(&mut self, event: &Event) -> Option<u32> {
        let (governor, _) = self.governor.as_mut()?;
        let (cpu, changed) = match *event {
            Event::SchedWakeup { tid, prio, target_cpu, .. }
                if class_of(tid, prio) == runs::RT && !self.stoppers.contains(&tid) =>
            {
                let tasks = self.realtime.entry(target_cpu).or_default();
                (target_cpu, tasks.len() < OBJECTS_MAX && tasks.insert(tid))
            }
            Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, .. } => {
                let left = prev_state != 0
                    && class_of(prev_tid, prev_prio) == runs::RT
                    && self.realtime.entry(cpu).or_default().remove(&prev_tid);
                governor.change(cpu, |own| own.idle_calls += u64::from(next_tid == 0));
                (cpu, left)
            }
            _ => return None,
        };
        let running = self.realtime.get(&cpu).map_or(0, BTreeSet::len);
        governor.change(cpu, |own| own.rt_nr_running = u32::try_from(running).unwrap_or(u32::MAX));
        changed.then_some(cpu)
    }
}

/// True for the kernel's threads of the stop class: their priority reads like that of a real-time task, but they are
/// none.
fn is_stopper(name: &str) -> bool {
    name.strip_prefix("migration/").is_some_and(|cpu| cpu.bytes().all(|b| b.is_ascii_digit()))
}

/// The CPU whose signals an event of the schedule changes.
fn concerns(event: &Event) -> Option<u32> {
    match *event {
        Event::SchedSwitch { cpu, .. } => Some(cpu),
        Event::SchedWakeup { target_cpu, .. } | Event::SchedWakeupNew { target_cpu, .. } => Some(target_cpu),
        Event::SchedMigrateTask { dest_cpu, .. } => Some(dest_cpu),
        _ => None,
    }
}

/// Takes a state over; the CPU whose governor the kernel called with it.
fn from_state(governor: &mut Governor, event: &Event) -> Option<u32> {
    let Event::PeltState { cpu, signal, source, flags, util_avg, runnable_avg, util_est, .. } = *event else {
        return None;
    };
    let signal = PeltSignal::of_code(signal)?;
    let root = signal == PeltSignal::Queue && flags & PELT_ROOT != 0;
    governor.change(cpu, |own| {
        let mut state = *own;
        match signal {
            PeltSignal::Queue if root => {
                state.util_cfs = util_avg;
                state.runnable_cfs = u32::try_from(runnable_avg).unwrap_or(u32::MAX);
                state.util_est = util_est;
            }
            PeltSignal::Rt => state.util_rt = util_avg,
            PeltSignal::Dl => state.util_dl = util_avg,
            PeltSignal::Irq => state.util_irq = util_avg,
            _ => {}
        }
        *own = state;
    });
    let decayed = flags & PELT_DECAYED != 0 || source == PeltSource::Tracepoint as u32;
    (root && decayed).then_some(cpu)
}

/// Takes a sum over. Placements ask for sums as well: where the trace has the choices of the governor, only then it is
/// called, and its choice is not looked at.
fn from_sum(governor: &mut Governor, event: &Event, choices: bool) -> Option<u32> {
    let (cpu, util_cfs, min, max, util) = match *event {
        Event::EffectiveUtil { cpu, util_cfs, min, max, util } => (cpu, util_cfs, min, max, util),
        Event::NextFreq { cpu, .. } => return Some(cpu),
        _ => return None,
    };
    governor.change(cpu, |own| {
        let sum = CpuState { util_cfs, util_rt: util.saturating_sub(util_cfs), ..*own };
        *own = CpuState { uclamp_used: 1, uclamp_min: min, uclamp_max: max, ..sum };
    });
    (!choices).then_some(cpu)
}

/// Takes an average over.
fn from_average(governor: &mut Governor, event: &Event) -> Option<u32> {
    match *event {
        Event::PeltCfs { cpu, util_avg, .. } => {
            governor.change(cpu, |own| *own = CpuState { util_cfs: util_avg, ..*own });
            Some(cpu)
        }
        Event::PeltRt { cpu, util_avg } => {
            governor.change(cpu, |own| own.util_rt = util_avg);
            None
        }
        Event::PeltDl { cpu, util_avg } => {
            governor.change(cpu, |own| own.util_dl = util_avg);
            None
        }
        _ => None,
    }
}
