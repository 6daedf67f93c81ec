// SPDX-License-Identifier: GPL-2.0-or-later
//! The quantities of a control loop as functions of time, taken from the events of a run.

use pelton_core::verdict;
use pelton_schema::{Event, Sink};

/// One quantity. Tasks are named by tid (the first of the workload is 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `util_avg` of a task.
    TaskUtil(u32),
    /// Estimated utilization of a task.
    TaskEst(u32),
    /// `util_avg` of the fair class of a CPU.
    Cfs(u32),
    /// `runnable_avg` of the fair class of a CPU.
    Runnable(u32),
    /// `util_avg` of the real-time class of a CPU.
    Rt(u32),
    /// Performance target of a domain at its last evaluation; [`FORCED`] where a rule asked for the maximum.
    Perf(u32),
    /// Frequency asked of a domain's driver, MHz.
    Request(u32),
    /// Frequency that the last evaluation of a domain found right, whatever the gate made of it, MHz.
    Wanted(u32),
    /// Frequency of a CPU, MHz.
    Freq(u32),
    /// Task on a CPU, 0 = idle.
    Runs(u32),
    /// CPU that a task is on or was sent to.
    CpuOf(u32),
}

/// Performance target of an evaluation that asked for the maximum whatever the signals say.
pub const FORCED: u64 = u64::MAX;

/// Verdicts of a gate that follow an evaluation.
const EVALUATED: [u32; 4] = [verdict::OPEN, verdict::HELD, verdict::PEAK, verdict::DEAD];

/// Axis of frequencies.
pub const MEGAHERTZ: &str = "MHz";
/// Axis of everything on the capacity scale.
pub const CAPACITY: &str = "capacity, 0..1024";

impl Quantity {
    /// Unit of a chart's axis; `None` for what is not drawn.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Quantity::Request(_) | Quantity::Freq(_) => Some(MEGAHERTZ),
            Quantity::Runs(_) | Quantity::CpuOf(_) | Quantity::Wanted(_) => None,
            _ => Some(CAPACITY),
        }
    }

    /// The value an event gives it.
    fn read(self, event: &Event) -> Option<u64> {
        let value = match (self, *event) {
            (Quantity::TaskUtil(t), Event::PeltSe { tid, util_avg, .. }) if tid == t => util_avg,
            (Quantity::TaskEst(t), Event::PeltSe { tid, util_est, .. }) if tid == t => util_est,
            (Quantity::Cfs(c), Event::PeltCfs { cpu, util_avg, .. }) if cpu == c => util_avg,
            (Quantity::Runnable(c), Event::PeltCfs { cpu, runnable_avg, .. }) if cpu == c => runnable_avg,
            (Quantity::Rt(c), Event::PeltRt { cpu, util_avg }) if cpu == c => util_avg,
            (Quantity::Freq(c), Event::CpuFrequency { cpu, freq_khz }) if cpu == c => freq_khz / 1000,
            (Quantity::Runs(c), Event::SchedSwitch { cpu, next_tid, .. }) if cpu == c => next_tid,
            (Quantity::CpuOf(t), Event::SchedSwitch { cpu, next_tid, .. }) if next_tid == t => cpu,
            (Quantity::CpuOf(t), Event::SchedMigrateTask { tid, dest_cpu, .. }) if tid == t => dest_cpu,
            (Quantity::Wanted(d), Event::FreqDecision { domain, gate, resolved_khz, .. })
                if domain == d && EVALUATED.contains(&gate) =>
            {
                resolved_khz / 1000
            }
            (_, Event::FreqDecision { .. }) => return self.read_decision(event),
            _ => return None,
        };
        Some(u64::from(value))
    }

    fn read_decision(self, event: &Event) -> Option<u64> {
        let Event::FreqDecision { domain, gate: 0, perf, forced_max, resolved_khz, prev_khz, changed, .. } = *event
        else {
            return None;
        };
        match self {
            Quantity::Perf(d) if d == domain => Some(if forced_max == 1 { FORCED } else { u64::from(perf) }),
            Quantity::Request(d) if d == domain => {
                Some(u64::from(if changed == 1 { resolved_khz } else { prev_khz }) / 1000)
            }
            _ => None,
        }
    }
}

/// A quantity over time: the moments at which it changed, and what it became.
#[derive(Clone, Debug, Default)]
pub struct Series(pub Vec<(u64, u64)>);

impl Series {
    /// Value in force at a time, after everything that happened at that time.
    pub fn at(&self, time_ns: u64) -> Option<u64> {
        let next = self.0.partition_point(|&(t, _)| t <= time_ns);
        next.checked_sub(1).map(|i| self.0[i].1)
    }

    fn push(&mut self, time_ns: u64, value: u64) {
        if self.0.last().is_some_and(|&(_, last)| last == value) {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.0 == time_ns => last.1 = value,
            _ => self.0.push((time_ns, value)),
        }
    }
}

/// Keeps the changes of chosen quantities.
#[derive(Debug)]
pub struct Recorder {
    quantities: Vec<Quantity>,
    /// One series for each quantity.
    pub series: Vec<Series>,
}

impl Recorder {
    pub fn new(quantities: Vec<Quantity>) -> Self {
        let series = vec![Series::default(); quantities.len()];
        Recorder { quantities, series }
    }
}

impl Sink for Recorder {
    fn event(&mut self, time_ns: u64, event: &Event) {
        for (quantity, series) in self.quantities.iter().zip(&mut self.series) {
            if let Some(value) = quantity.read(event) {
                series.push(time_ns, value);
            }
        }
    }
}
