// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of a run as columns: what a page draws over time. Memory is bounded, whatever the run's length.

use pelton_model::Plan;
use pelton_schema::{Drawn, Event, GateVerdict, Sink};
use serde::{Serialize, Serializer};

/// Points of a page, over all runs and series: 5 MB.
const POINTS: usize = 1_000_000;
/// Points of one series.
const POINTS_MIN: usize = 16;
const POINTS_MAX: usize = 200_000;
/// Means of power over a run.
const POWER_STEPS: u64 = 1_000;

/// Values that a quantity has from a time on.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Name beside the line.
    label: String,
    /// Unit of a value times `scale`.
    unit: &'static str,
    scale: f64,
    /// Smallest distance of points, ticks, beyond a few for each such time; 0: all are here.
    thinned: u32,
    /// In JSON their number: they stand elsewhere in a page, packed.
    #[serde(rename = "n", serialize_with = "length")]
    points: Vec<(u32, i32)>,
    #[serde(skip)]
    most: usize,
}

impl Series {
    /// Without points; it keeps at most `most`.
    pub fn new(label: impl Into<String>, unit: &'static str, scale: f64, most: usize) -> Series {
        Series { label: label.into(), unit, scale, thinned: 0, points: Vec::new(), most }
    }

    /// Times, ticks, and values.
    pub fn points(&self) -> &[(u32, i32)] {
        &self.points
    }

    /// The value is `value` from tick `time` on.
    pub fn push(&mut self, time: u32, value: i32) {
        match self.points.last_mut() {
            Some((_, last)) if *last == value => return,
            Some((at, last)) if *at == time => *last = value,
            _ => self.points.push((time, value)),
        }
        if self.points.len() >= self.most {
            self.thin();
        }
    }

    /// Keeps the first, the last, the smallest and the largest value of each step, which grows until half of the room
    /// is free.
    fn thin(&mut self) {
        self.thinned = self.thinned.max(1);
        self.keep_few_of_each_step();
        while self.points.len() > self.most / 2 {
            self.thinned *= 2;
            self.keep_few_of_each_step();
        }
    }

    fn keep_few_of_each_step(&mut self) {
        let step = self.thinned;
        let kept = self.points.chunk_by(|a, b| a.0 / step == b.0 / step).flat_map(ends_and_extremes);
        self.points = kept.collect();
    }
}

fn length<S: Serializer>(points: &[(u32, i32)], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(points.len() as u64)
}

/// Four points of some, in order, each once.
fn ends_and_extremes(points: &[(u32, i32)]) -> Vec<(u32, i32)> {
    let places = 0..points.len();
    let low = places.clone().min_by_key(|&at| points[at].1);
    let high = places.clone().max_by_key(|&at| points[at].1);
    let mut at: Vec<usize> = [places.clone().next(), low, high, places.last()].into_iter().flatten().collect();
    at.sort_unstable();
    at.dedup();
    at.into_iter().map(|at| points[at]).collect()
}

/// Lines that share an axis.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// Subject: a frequency domain, or the whole machine.
    pub of: String,
    /// Heading.
    pub title: String,
    /// `lines`, or `tasks`: values are numbers of tasks, each series is a CPU.
    pub kind: &'static str,
    /// Number of the frequency domain whose decisions are marked; `None`: there are no marks.
    pub domain: Option<usize>,
    /// Least top of the axis.
    pub top: Option<f64>,
    /// Places of its series.
    pub series: Vec<usize>,
}

/// Collects the columns of a run.
#[derive(Debug)]
pub struct Columns {
    /// Unit of times, ns.
    pub tick_ns: u64,
    step_ns: u64,
    series: Vec<Series>,
    panels: Vec<Panel>,
    /// Places of series, by CPU, domain or zone.
    runs_at: Vec<usize>,
    asks: Vec<usize>,
    limits: Vec<usize>,
    util: Vec<usize>,
    running: Vec<usize>,
    power: Vec<usize>,
    shared: usize,
    zones: Vec<usize>,
    /// CPU that stands for its domain.
    first_cpu: Vec<u32>,
    drawn_before: (u64, Vec<u128>, u128),
}

impl Columns {
    /// For a run of this plan, one of so many on a page.
    pub fn of(plan: &Plan, runs: usize) -> Columns {
        let machine = &plan.machine;
        let (cpus, domains) = (machine.cpus.len(), machine.domains.len());
        let lines = 2 * cpus + 5 * domains + machine.thermal_zones.len() + 1;
        let most = (POINTS / runs.max(1) / lines).clamp(POINTS_MIN, POINTS_MAX);
        let mut made = Columns {
            tick_ns: tick_ns(plan.config.duration_ns),
            step_ns: (plan.config.duration_ns / POWER_STEPS).max(1),
            series: Vec::new(),
            panels: Vec::new(),
            runs_at: Vec::new(),
            asks: Vec::new(),
            limits: Vec::new(),
            util: vec![0; cpus],
            running: Vec::new(),
            power: Vec::new(),
            shared: 0,
            zones: Vec::new(),
            first_cpu: machine.domains.iter().map(|d| d.cpus.first().copied().unwrap_or(0)).collect(),
            drawn_before: (0, vec![0; domains], 0),
        };
        let mut add = |label: String, unit, scale| {
            made.series.push(Series::new(label, unit, scale, most));
            made.series.len() - 1
        };
        made.running = (0..cpus).map(|cpu| add(format!("CPU {cpu}"), "", 1.0)).collect();
        let mut panels = vec![panel("all CPUs", "which task executes", made.running.clone())];
        panels[0].kind = "tasks";
        for (d, domain) in machine.domains.iter().enumerate() {
            let about = |title: &str, series| panel(&domain.name, title, series);
            let khz = [add("requested".into(), "MHz", 1e-3), add("runs at".into(), "MHz", 1e-3)];
            let top_khz = domain.opps.last().map(|opp| f64::from(opp.khz) / 1e3);
            panels.push(Panel { domain: Some(d), top: top_khz, ..about("frequency", khz.to_vec()) });
            let util: Vec<usize> = domain.cpus.iter().map(|cpu| add(format!("CPU {cpu}"), "of 1024", 1.0)).collect();
            domain.cpus.iter().zip(&util).for_each(|(&cpu, &at)| made.util[cpu as usize] = at);
            let capacity =
                domain.cpus.iter().filter_map(|&cpu| machine.cpus.get(cpu as usize)).map(|cpu| cpu.capacity).max();
            let top = capacity.map(f64::from);
            panels.push(Panel { top, ..about("util_avg of the fair class", util) });
            let limits = [add("lower".into(), "of 1024", 1.0), add("upper".into(), "of 1024", 1.0)];
            panels.push(Panel { top, ..about("limits of the request: clamps, bandwidth, capacity", limits.to_vec()) });
            let power = add("mean power".into(), "mW", 1e-3);
            panels.push(about("power of the CPUs", vec![power]));
            made.asks.push(khz[0]);
            made.runs_at.push(khz[1]);
            made.limits.push(limits[0]);
            made.power.push(power);
        }
        made.shared = add("mean power".into(), "mW", 1e-3);
        panels.push(panel("all CPUs", "power of what CPUs share", vec![made.shared]));
        for zone in &machine.thermal_zones {
            let at = add(zone.name.clone(), "C", 1e-3);
            made.zones.push(at);
            panels.push(panel("all CPUs", &format!("temperature of {}", zone.name), vec![at]));
        }
        made.panels = panels;
        made
    }

    /// Panels that have something to show, and their series, of a run that ended at `end_ns`; `has_power`: what was
    /// drawn is known.
    pub fn finish(mut self, has_power: bool, end_ns: u64) -> (Vec<Panel>, Vec<Series>) {
        if !has_power {
            self.power.iter().chain([&self.shared]).for_each(|&at| self.series[at].points.clear());
        }
        let end = self.ticks(end_ns);
        // A request that nothing limits has no lower limit, and one upper.
        let points = |at: usize| &self.series[at].points;
        let is_free = |at: &usize| points(*at).iter().all(|&(_, value)| value == 0) && points(*at + 1).len() < 2;
        let silent: Vec<usize> = self.limits.iter().filter(|at| is_free(at)).flat_map(|at| [*at, *at + 1]).collect();
        silent.into_iter().for_each(|at| self.series[at].points.clear());
        let is_shown = |panel: &Panel| panel.series.iter().any(|&at| shows(&self.series[at]));
        let panels: Vec<Panel> = self.panels.iter().filter(|panel| is_shown(panel)).cloned().collect();
        for series in self.series.iter_mut().filter(|series| !series.points.is_empty()) {
            // A line reaches to the end of the run.
            let last = series.points[series.points.len() - 1];
            if last.0 < end {
                series.points.push((end, last.1));
            }
        }
        (panels, self.series)
    }

    fn push(&mut self, at: Option<usize>, time_ns: u64, value: i32) {
        let time = self.ticks(time_ns);
        if let Some(series) = at.and_then(|at| self.series.get_mut(at)) {
            series.push(time, value);
        }
    }

    fn ticks(&self, time_ns: u64) -> u32 {
        u32::try_from(time_ns / self.tick_ns).unwrap_or(u32::MAX)
    }
}

fn panel(of: &str, title: &str, series: Vec<usize>) -> Panel {
    Panel { of: of.to_owned(), title: title.to_owned(), kind: "lines", domain: None, top: None, series }
}

/// Unit of times of a run of this length, so that they have 32 bits: 1 us up to 71 minutes.
fn tick_ns(duration_ns: u64) -> u64 {
    duration_ns.div_ceil(u64::from(u32::MAX)).max(1000)
}

fn whole(value: impl TryInto<i32>) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}

/// True where a line would not be the axis alone.
fn shows(series: &Series) -> bool {
    series.points.iter().any(|&(_, value)| value != 0)
}

impl Sink for Columns {
    const DRAWN: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::CpuFrequency { cpu, freq_khz } => {
                let domain = self.first_cpu.iter().position(|&first| first == cpu);
                self.push(domain.map(|d| self.runs_at[d]), time_ns, whole(freq_khz));
            }
            Event::FreqDecision { domain, gate, request_khz, min, max, .. } => {
                // 0: nothing was requested yet.
                let asks = self.asks.get(domain as usize).copied().filter(|_| request_khz > 0);
                self.push(asks, time_ns, whole(request_khz));
                if GateVerdict::of_code(gate) == Some(GateVerdict::Open) {
                    let lower = self.limits.get(domain as usize).copied();
                    self.push(lower, time_ns, whole(min));
                    self.push(lower.map(|at| at + 1), time_ns, whole(max));
                }
            }
            Event::PeltCfs { cpu, util_avg, .. } => {
                self.push(self.util.get(cpu as usize).copied(), time_ns, whole(util_avg));
            }
            Event::SchedSwitch { cpu, next_tid, .. } => {
                self.push(self.running.get(cpu as usize).copied(), time_ns, whole(next_tid));
            }
            Event::ThermalTemperature { zone, temp_mc, .. } => {
                self.push(self.zones.get(zone as usize).copied(), time_ns, whole(temp_mc));
            }
            _ => {}
        }
    }

    fn drawn_step_ns(&self) -> u64 {
        self.step_ns
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        let (from_ns, domains, shared) = std::mem::take(&mut self.drawn_before);
        if time_ns > from_ns {
            // Femtojoules in a nanosecond are microwatts.
            let mean = |now: u128, before: u128| whole((now - before) / u128::from(time_ns - from_ns));
            for (d, before) in domains.iter().enumerate() {
                self.push(self.power.get(d).copied(), from_ns, mean(drawn.domains_fj[d], *before));
            }
            self.push(Some(self.shared), from_ns, mean(drawn.shared_fj, shared));
        }
        self.drawn_before = (time_ns, drawn.domains_fj.to_vec(), drawn.shared_fj);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_ends_and_extremes_in_bounded_room() {
        let mut series = Series::new("a", "x", 1.0, 400);
        (0..100_000u32).for_each(|t| series.push(t * 7, if t == 55_555 { 9_999 } else { (t % 13) as i32 }));
        assert!((100..400).contains(&series.points.len()), "{}", series.points.len());
        assert!(series.points.iter().any(|&(at, value)| (at, value) == (55_555 * 7, 9_999)), "a peak stays");
        assert!(series.points.is_sorted_by_key(|&(at, _)| at) && series.thinned > 0);
        assert_eq!(series.points.first().map(|p| p.0), Some(0));
    }

    #[test]
    fn a_month_has_its_times() {
        assert_eq!([0, 60_000_000_000, 4_294_967_295_000].map(tick_ns), [1000; 3]);
        let month_ns = 30 * 24 * 3_600 * 1_000_000_000;
        assert!(month_ns / tick_ns(month_ns) <= u64::from(u32::MAX) && tick_ns(month_ns) < 1_000_000);
    }

    #[test]
    fn a_short_series_is_whole() {
        let mut series = Series::new("a", "x", 1.0, 400);
        [(1, 5), (2, 5), (3, 6), (3, 7)].iter().for_each(|&(t, v)| series.push(t, v));
        assert_eq!((series.points(), series.thinned), (&[(1, 5), (3, 7)][..], 0));
    }
}
