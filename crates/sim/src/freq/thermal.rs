// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones during a run: when they are read, what answers, and what becomes of the limits. The rules are the
//! core's (`thermal.h`); how hot a zone is, is the hardware's (`hw/heat.rs`).
//!
//! The worker that reads a zone takes no time of any CPU.

use pelton_core::{Cooling, CoolingTable, NO_TARGET, Policy, Trip, Zone, cooling_load, value};
use pelton_model::Machine;
use pelton_model::thermal::ThermalZone;
use pelton_model::workload::{LimitSource, Workload};
use pelton_schema::Event;

use crate::engine::queue::Ev;
use crate::hw::heat::Heat;
use crate::report::{CooledReport, ZoneReport};
use crate::shape::Run;
use crate::state::Engine;

/// Time between two steps of the temperature, and how soon a sensor interrupts.
const STEP_NS: u64 = 10_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// A zone.
#[derive(Debug)]
pub(crate) struct ZoneState {
    rules: Zone,
    heat: Heat,
    cpus: Vec<u32>,
    clusters: Vec<u32>,
    domains: Vec<DomainCooling>,
    polling_ms: u32,
    /// Time at which it is read next at the latest; `u64::MAX`: when the sensor interrupts.
    poll_at_ns: u64,
    /// Since when the temperature is what it is.
    since_ns: u64,
    report: ZoneReport,
    /// Temperature times time, mC ns.
    temp_sum: i128,
}

/// A frequency domain of a zone.
#[derive(Debug)]
struct DomainCooling {
    domain: u32,
    table: CoolingTable,
    /// Cooling state in force, and since when.
    state: u32,
    since_ns: u64,
    /// Time and idle time of each CPU when its load was last asked for, us.
    looked: Vec<(u64, u64)>,
    report: CooledReport,
}

/// Can the zones of this machine be cooled so?
pub(crate) fn check(m: &Machine, w: &Workload, policy: &Policy) -> Result<(), String> {
    if policy.thermal == value::THERMAL_OFF {
        return Ok(());
    }
    let governor = if policy.thermal == value::THERMAL_STEP_WISE { "step_wise" } else { "power_allocator" };
    if m.thermal_zones.is_empty() {
        return Err(format!("thermal={governor}: the platform {} has no [[thermal_zone]]", m.name));
    }
    if let Some(zone) = m.thermal_zones.iter().find(|zone| zone.stages.is_empty()) {
        return Err(format!(
            "thermal={governor}: the platform {} does not say how fast zone `{}` heats: add `stage` with its source",
            m.name, zone.name
        ));
    }
    let of_zones = || m.thermal_zones.iter().flat_map(|zone| &zone.domains).map(|&d| &m.domains[d as usize]);
    if let Some(domain) = of_zones().find(|domain| !domain.active_power_known()) {
        return Err(format!(
            "thermal={governor}: the power of domain `{}` is not known, and nothing else heats its zone",
            domain.name
        ));
    }
    if w.limits.iter().any(|change| change.by == LimitSource::Cooling) {
        return Err(format!("thermal={governor} and limits:by=cooling: both are the cooling device's; leave one away"));
    }
    Ok(())
}

/// The zones of a run; none where nothing is cooled.
pub(crate) fn zones(m: &Machine, policy: &Policy) -> Vec<ZoneState> {
    if policy.thermal == value::THERMAL_OFF {
        return Vec::new();
    }
    m.thermal_zones.iter().map(|spec| ZoneState::new(m, policy, spec)).collect()
}

fn bit_of(spec: &ThermalZone, domain: u32) -> u32 {
    spec.domains.iter().position(|&d| d == domain).map_or(0, |at| 1 << at)
}

fn rules(policy: &Policy, spec: &ThermalZone, domains: &[DomainCooling]) -> Zone {
    let mut zone = Zone {
        trips: spec.trips.len() as u32,
        domains: domains.len() as u32,
        passive_ms: spec.passive_ms,
        ..Zone::default()
    };
    zone.ipa.sustainable_mw = spec.sustainable_mw;
    for (out, trip) in zone.trip.iter_mut().zip(&spec.trips) {
        let cools = trip.cools.iter().map(|&d| bit_of(spec, d)).sum();
        *out = Trip { temp_mc: trip.temp_mc, hyst_mc: trip.hysteresis_mc, cools, ..Trip::default() };
        out.instance.iter_mut().for_each(|instance| instance.target = NO_TARGET);
    }
    // Only what the last trip cools asks the controller for power.
    let controlled = spec.trips.last().map_or(0, |trip| trip.cools.iter().map(|&d| bit_of(spec, d)).sum::<u32>());
    let by_power = policy.thermal == value::THERMAL_POWER_ALLOCATOR;
    for (at, (out, domain)) in zone.cooling.iter_mut().zip(domains).enumerate() {
        let counts = !by_power || controlled >> at & 1 == 1;
        let weight = spec.weights.get(at).copied().filter(|_| counts).unwrap_or(0);
        *out = Cooling { max_state: domain.table.max_state(), weight, ..Cooling::default() };
    }
    zone
}

impl ZoneState {
    fn new(m: &Machine, policy: &Policy, spec: &ThermalZone) -> ZoneState {
        let domains: Vec<DomainCooling> = spec.domains.iter().map(|&d| DomainCooling::new(m, d)).collect();
        let cpus: Vec<u32> = spec.domains.iter().flat_map(|&d| &m.domains[d as usize].cpus).copied().collect();
        // A cluster's rail heats the zone of its first CPU.
        let heats = |i: &u32| m.clusters[*i as usize].cpus.first().is_some_and(|cpu| cpus.contains(cpu));
        ZoneState {
            rules: rules(policy, spec, &domains),
            heat: Heat::of(spec),
            clusters: (0..m.clusters.len() as u32).filter(heats).collect(),
            cpus,
            domains,
            polling_ms: spec.polling_ms,
            poll_at_ns: 0,
            since_ns: 0,
            report: ZoneReport { name: spec.name.clone(), temp_mc_max: i32::MIN, ..ZoneReport::default() },
            temp_sum: 0,
        }
    }

    /// Totals up to now, with the temperature as it became.
    fn count(&mut self, now_ns: u64, temp_mc: i32) {
        let dt_ns = now_ns - self.since_ns;
        self.temp_sum += i128::from(temp_mc) * i128::from(dt_ns);
        if self.rules.trips > 0 && temp_mc >= self.rules.trip[0].temp_mc {
            self.report.hot_ns += dt_ns;
        }
        self.report.temp_mc_max = self.report.temp_mc_max.max(temp_mc);
        self.report.temp_mc_end = temp_mc;
        self.since_ns = now_ns;
    }

    fn close(mut self, now_ns: u64) -> ZoneReport {
        self.report.temp_mc_avg = (self.temp_sum / i128::from(now_ns.max(1))) as i32;
        self.domains.iter_mut().for_each(|domain| domain.count(now_ns));
        self.report.domains = self.domains.into_iter().map(|domain| domain.report).collect();
        self.report
    }
}

impl DomainCooling {
    fn new(m: &Machine, d: u32) -> DomainCooling {
        let spec = &m.domains[d as usize];
        let table = CoolingTable::new(spec.opps.iter().map(|opp| (opp.khz, opp.power_uw)), spec.cpus.len() as u32);
        let report = CooledReport { name: spec.name.clone(), ..CooledReport::default() };
        DomainCooling { domain: d, table, state: 0, since_ns: 0, looked: vec![(0, 0); spec.cpus.len()], report }
    }

    fn count(&mut self, now_ns: u64) {
        let dt_ns = now_ns - self.since_ns;
        self.report.limit_khz_ns += u128::from(self.table.khz(self.state)) * u128::from(dt_ns);
        self.report.throttled_ns += if self.state > 0 { dt_ns } else { 0 };
        self.report.state_max = self.report.state_max.max(self.state);
        self.since_ns = now_ns;
    }
}

impl<S: Run> Engine<'_, S> {
    /// Zones are read when they are registered.
    pub(crate) fn start_zones(&mut self) {
        (0..self.freq.thermal.len() as u32).for_each(|zone| self.queue.push(0, Ev::Heat { zone }));
    }

    /// A step of a zone's temperature; it is read when that is due, or the sensor interrupts.
    pub(crate) fn heat(&mut self, z: u32) {
        let (now, policy) = (self.now, self.policy.get());
        let state = &self.freq.thermal[z as usize];
        let energy_fj = self.heat_so_far_fj(&state.cpus, &state.clusters);
        let state = &mut self.freq.thermal[z as usize];
        let temp_mc = state.heat.advance(now, energy_fj);
        state.count(now, temp_mc);
        if now >= state.poll_at_ns || (state.polling_ms == 0 && state.rules.crosses(policy, temp_mc)) {
            self.read_zone(z, temp_mc);
        }
        let next_ns = self.freq.thermal[z as usize].poll_at_ns.min(now + STEP_NS);
        self.queue.push(next_ns, Ev::Heat { zone: z });
    }

    fn read_zone(&mut self, z: u32, temp_mc: i32) {
        let policy = self.policy.get();
        let state = &mut self.freq.thermal[z as usize];
        state.rules.read(policy, temp_mc);
        state.report.reads += 1;
        let last_mc = state.rules.last_mc;
        if policy.thermal == value::THERMAL_STEP_WISE {
            state.rules.step_wise(policy);
        } else {
            self.allocate_power(z);
        }
        self.tell_zone(z, temp_mc, last_mc);
        let state = &self.freq.thermal[z as usize];
        let poll_ms = if state.rules.passive != 0 { state.rules.passive_ms } else { state.polling_ms };
        let poll_at_ns = if poll_ms == 0 { u64::MAX } else { self.now + u64::from(poll_ms) * NS_PER_MS };
        self.freq.thermal[z as usize].poll_at_ns = poll_at_ns;
        (0..self.freq.thermal[z as usize].domains.len()).for_each(|at| self.cool(z, at));
    }

    fn tell_zone(&mut self, z: u32, temp_mc: i32, last_mc: i32) {
        let rules = &self.freq.thermal[z as usize].rules;
        let (passive, reached) = (rules.passive, rules.trip.iter().filter(|trip| trip.reached != 0).count() as u32);
        let event = Event::ThermalTemperature {
            zone: z,
            temp_mc: temp_mc.into(),
            last_mc: last_mc.into(),
            trips_reached: reached,
            passive,
        };
        self.emit(event);
    }

    /// power_allocator: what each domain asks for, what it is granted, and the states that keep it there.
    fn allocate_power(&mut self, z: u32) {
        let policy = self.policy.get();
        let controlled = self.freq.thermal[z as usize].rules;
        let controlled = controlled.trip[(controlled.trips.max(1) - 1) as usize].cools;
        let mut least_mw = 0;
        for at in 0..self.freq.thermal[z as usize].domains.len() {
            if controlled >> at & 1 == 1 {
                least_mw += self.ask_power(z, at);
            }
        }
        let state = &mut self.freq.thermal[z as usize];
        let on = state.rules.allocate(policy, least_mw);
        for (at, domain) in state.domains.iter().enumerate().filter(|(at, _)| controlled >> at & 1 == 1) {
            let cooling = &mut state.rules.cooling[at];
            cooling.state = if on { domain.table.power2state(cooling) } else { 0 };
        }
        if on {
            self.tell_power(z);
        }
    }

    fn tell_power(&mut self, z: u32) {
        let rules = &self.freq.thermal[z as usize].rules;
        let sum = |of: fn(&Cooling) -> u32| rules.cooling[..rules.domains as usize].iter().map(of).sum();
        let event = Event::ThermalPower {
            zone: z,
            requested_mw: sum(|c| c.req_mw),
            granted_mw: sum(|c| c.granted_mw),
            budget_mw: rules.ipa.range_mw,
            max_mw: rules.ipa.max_mw,
            err_integral: rules.ipa.err_integral,
        };
        self.emit(event);
    }

    /// Asks domain `at` of a zone what it takes; returns the least it could take.
    fn ask_power(&mut self, z: u32, at: usize) -> u32 {
        let d = self.freq.thermal[z as usize].domains[at].domain;
        let m = self.m;
        let mut load_pct = 0;
        for (i, &c) in m.domains[d as usize].cpus.iter().enumerate() {
            load_pct += self.load_of(z, at, i, c);
        }
        let cur_khz = self.domains[d as usize].freq.sugov.cur_khz;
        let state = &mut self.freq.thermal[z as usize];
        let table = &state.domains[at].table;
        table.requested(&mut state.rules.cooling[at], cur_khz, load_pct);
        table.state2power(table.max_state())
    }

    fn load_of(&mut self, z: u32, at: usize, i: usize, c: u32) -> u32 {
        let times = self.idle_times(c);
        let now = (times.wall_us, times.idle_us + times.iowait_us);
        let before = std::mem::replace(&mut self.freq.thermal[z as usize].domains[at].looked[i], now);
        // sched_cpu_util() takes the deadline class's utilization, not what it reserved.
        let signals = pelton_core::CpuState::fill(&self.cpus[c as usize].rq, 0, 0, 0);
        cooling_load(self.policy.get(), &signals, now.0 - before.0, now.1 - before.1)
    }

    /// A new cooling state becomes the limit of its domain.
    fn cool(&mut self, z: u32, at: usize) {
        let now = self.now;
        let state = &mut self.freq.thermal[z as usize];
        let wanted = state.rules.cooling[at].state;
        let domain = &mut state.domains[at];
        if domain.state == wanted {
            return;
        }
        domain.count(now);
        domain.state = wanted;
        domain.report.changes += 1;
        let (d, khz) = (domain.domain, domain.table.khz(wanted));
        self.emit(Event::CdevUpdate { domain: d, state: wanted, max_khz: khz });
        self.ask_limits(d, LimitSource::Cooling as usize, (0, khz));
    }

    /// Reports of all zones, at the end of a run.
    pub(crate) fn zone_reports(&mut self) -> Vec<ZoneReport> {
        let now = self.now;
        let zones = std::mem::take(&mut self.freq.thermal);
        zones.into_iter().map(|zone| zone.close(now)).collect()
    }
}
