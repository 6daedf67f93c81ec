// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency, utilization and busy time over the run, in a fixed number of steps.

use pelton_model::Machine;
use pelton_schema::{Event, Sink};

/// Steps of a run.
const STEPS: usize = 60;

/// A frequency domain over time.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Name.
    pub name: String,
    /// Its highest frequency, kHz.
    pub khz_max: f64,
    /// Mean frequency of each step, kHz; `None` before the first is known.
    pub khz: Vec<Option<f64>>,
    /// Its largest capacity: more utilization none of its CPUs has.
    pub util_max: f64,
    /// `util_avg` of its CPU that has most in each step, of 1024.
    pub util: Vec<Option<f64>>,
    /// Busy part of its CPUs in each step, 0..=1.
    pub busy: Vec<Option<f64>>,
    /// Length of the run.
    pub length_ns: u64,
}

/// A thermal zone over time.
#[derive(Clone, Debug, Default)]
pub struct Warmth {
    /// Name.
    pub name: String,
    /// Its trips, degrees Celsius.
    pub trips_c: Vec<f64>,
    /// Mean temperature of each step, degrees Celsius; `None` before the first reading.
    pub c: Vec<Option<f64>>,
}

/// Value of a quantity and the time since which it has it, and its integral in each step.
#[derive(Clone, Debug)]
struct Integral {
    value: Option<f64>,
    since_ns: u64,
    sum: Vec<f64>,
    known_ns: Vec<u64>,
}

impl Integral {
    fn new(value: Option<f64>) -> Integral {
        Integral { value, since_ns: 0, sum: vec![0.0; STEPS], known_ns: vec![0; STEPS] }
    }

    fn set(&mut self, now_ns: u64, step_ns: u64, value: f64) {
        self.advance(now_ns, step_ns);
        self.value = Some(value);
    }

    fn advance(&mut self, now_ns: u64, step_ns: u64) {
        while self.since_ns < now_ns {
            let step = (self.since_ns / step_ns) as usize;
            let end_ns = now_ns.min((step as u64 + 1) * step_ns);
            if let (Some(value), Some(sum)) = (self.value, self.sum.get_mut(step)) {
                *sum += value * (end_ns - self.since_ns) as f64;
                self.known_ns[step] += end_ns - self.since_ns;
            }
            self.since_ns = end_ns;
        }
    }

    fn means(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.sum.iter().zip(&self.known_ns).map(|(sum, &ns)| (ns > 0).then(|| sum / ns as f64))
    }
}

/// Collects the tracks of a run.
#[derive(Clone, Debug)]
pub struct Timeline {
    step_ns: u64,
    end_ns: u64,
    names: Vec<(String, f64)>,
    capacities: Vec<u32>,
    domain_of: Vec<usize>,
    khz: Vec<Integral>,
    util: Vec<Integral>,
    busy: Vec<Integral>,
    zones: Vec<(String, Vec<f64>)>,
    warmth: Vec<Integral>,
}

impl Timeline {
    /// For a run of this length.
    pub fn new(machine: &Machine, duration_ns: u64) -> Timeline {
        let khz_max = |d: &pelton_model::machine::FreqDomain| d.opps.last().map_or(0.0, |opp| f64::from(opp.khz));
        Timeline {
            step_ns: duration_ns.div_ceil(STEPS as u64).max(1),
            end_ns: duration_ns,
            names: machine.domains.iter().map(|d| (d.name.clone(), khz_max(d))).collect(),
            capacities: machine.cpus.iter().map(|cpu| cpu.capacity).collect(),
            domain_of: machine.cpus.iter().map(|cpu| cpu.domain as usize).collect(),
            khz: vec![Integral::new(None); machine.cpus.len()],
            util: vec![Integral::new(Some(0.0)); machine.cpus.len()],
            busy: vec![Integral::new(Some(0.0)); machine.cpus.len()],
            zones: machine
                .thermal_zones
                .iter()
                .map(|zone| (zone.name.clone(), zone.trips.iter().map(|trip| f64::from(trip.temp_mc) / 1e3).collect()))
                .collect(),
            warmth: vec![Integral::new(None); machine.thermal_zones.len()],
        }
    }

    /// Largest capacity of a domain's CPUs.
    fn capacity_of(&self, domain: usize) -> f64 {
        let mine = self.capacities.iter().zip(&self.domain_of).filter(|(_, of)| **of == domain);
        mine.map(|(capacity, _)| f64::from(*capacity)).fold(1.0, f64::max)
    }

    /// The zones of a run that ended.
    pub fn warmth(&self) -> Vec<Warmth> {
        let one = |((name, trips_c), warmth): (&(String, Vec<f64>), &Integral)| {
            let mut warmth = warmth.clone();
            warmth.advance(self.end_ns, self.step_ns);
            Warmth { name: name.clone(), trips_c: trips_c.clone(), c: warmth.means().collect() }
        };
        self.zones.iter().zip(&self.warmth).map(one).collect()
    }

    /// The tracks of a run that ended.
    pub fn finish(mut self) -> Vec<Track> {
        let (end_ns, step_ns) = (self.end_ns, self.step_ns);
        self.khz.iter_mut().chain(&mut self.util).chain(&mut self.busy).for_each(|one| one.advance(end_ns, step_ns));
        let track = |(domain, (name, khz_max)): (usize, &(String, f64))| {
            let of = |all: &[Integral], together: fn(&mut dyn Iterator<Item = f64>) -> Option<f64>| {
                let mine: Vec<Vec<Option<f64>>> = all
                    .iter()
                    .zip(&self.domain_of)
                    .filter(|(_, of)| **of == domain)
                    .map(|(integral, _)| integral.means().collect())
                    .collect();
                (0..STEPS).map(|step| together(&mut mine.iter().filter_map(|one| one[step]))).collect()
            };
            Track {
                name: name.clone(),
                khz_max: *khz_max,
                util_max: self.capacity_of(domain),
                khz: of(&self.khz, mean),
                util: of(&self.util, largest),
                busy: of(&self.busy, mean),
                length_ns: end_ns,
            }
        };
        self.names.iter().enumerate().map(track).collect()
    }
}

fn largest(values: &mut dyn Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::max)
}

fn mean(values: &mut dyn Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

impl Sink for Timeline {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::CpuFrequency { cpu, freq_khz } => {
                if let Some(one) = self.khz.get_mut(cpu as usize) {
                    one.set(time_ns, self.step_ns, f64::from(freq_khz));
                }
            }
            Event::PeltCfs { cpu, util_avg, .. } => {
                if let Some(one) = self.util.get_mut(cpu as usize) {
                    one.set(time_ns, self.step_ns, f64::from(util_avg));
                }
            }
            Event::ThermalTemperature { zone, temp_mc, .. } => {
                if let Some(one) = self.warmth.get_mut(zone as usize) {
                    one.set(time_ns, self.step_ns, temp_mc as f64 / 1e3);
                }
            }
            Event::SchedSwitch { cpu, next_tid, .. } => {
                if let Some(one) = self.busy.get_mut(cpu as usize) {
                    one.set(time_ns, self.step_ns, f64::from(u8::from(next_tid != 0)));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::{Cpu, FreqDomain, Opp};

    #[test]
    fn steps_hold_means_and_what_is_not_known_is_a_gap() {
        let opps = vec![Opp { khz: 1000, ..Default::default() }];
        let machine = Machine {
            cpus: vec![Cpu { capacity: 250, ..Cpu::default() }],
            domains: vec![FreqDomain { opps, ..Default::default() }],
            ..Default::default()
        };
        let mut timeline = Timeline::new(&machine, 600);
        let switch =
            |next_tid| Event::SchedSwitch { cpu: 0, prev_tid: 0, prev_prio: 0, prev_state: 0, next_tid, next_prio: 0 };
        timeline.event(10, &Event::CpuFrequency { cpu: 0, freq_khz: 500 });
        timeline.event(15, &Event::CpuFrequency { cpu: 0, freq_khz: 1000 });
        timeline.event(20, &switch(1));
        timeline.event(25, &switch(0));
        let tracks = timeline.finish();
        assert_eq!((tracks[0].khz[0], tracks[0].khz[1], tracks[0].khz[59]), (None, Some(750.0), Some(1000.0)));
        assert_eq!(tracks[0].util_max, 250.0, "the axis of a little CPU ends at its capacity");
        assert_eq!((tracks[0].busy[1], tracks[0].busy[2]), (Some(0.0), Some(0.5)));
    }
}
