// SPDX-License-Identifier: GPL-2.0-or-later
//! Catches one reading of a thermal zone and what its governor made of it.

use pelton_core::value;
use pelton_model::Plan;
use pelton_schema::{Event, Sink};
use schemars::JsonSchema;
use serde::Serialize;

/// Keeps the last reading that fits.
#[derive(Debug, Default)]
pub struct ThermalSink {
    /// Only readings that changed a cooling state.
    changed: bool,
    /// Only zones of this frequency domain.
    zone: Option<u32>,
    power: Option<Power>,
    current: Option<Reading>,
    kept: Option<Reading>,
    count: u64,
    /// Present state and limit of each domain.
    states: Vec<(u32, u32)>,
}

/// Cooling state, and the limit that it stands for, kHz.
type Cooled = (u32, u32);

/// A reading.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    time_ns: u64,
    zone: u32,
    temp_mc: i64,
    last_mc: i64,
    trips_reached: u32,
    passive: bool,
    power: Option<Power>,
    /// Domain, state and limit before, and now.
    changes: Vec<(u32, Cooled, Cooled)>,
    /// Of all domains, after it.
    states: Vec<(u32, u32)>,
}

/// Powers that power_allocator reckoned with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Power {
    /// Power that the domains take now, mW.
    pub requested_mw: u32,
    /// Power that the controller allows, mW.
    pub budget_mw: u32,
    /// Power that they are granted, mW.
    pub granted_mw: u32,
    /// Power that they could take, mW.
    pub max_mw: u32,
    /// Sum of errors, degrees Celsius times readings.
    pub error_sum_c: f64,
}

impl ThermalSink {
    /// For readings of `zone`, or of any, that changed a state, or any.
    #[must_use]
    pub fn of(plan: &Plan, zone: Option<u32>, changed: bool) -> Self {
        let highest = plan.machine.domains.iter().map(|d| (0, d.opps.last().map_or(0, |opp| opp.khz)));
        ThermalSink { changed, zone, states: highest.collect(), ..Self::default() }
    }

    fn close(&mut self) {
        let Some(mut reading) = self.current.take() else { return };
        if self.zone.is_some_and(|zone| zone != reading.zone) || (self.changed && reading.changes.is_empty()) {
            return;
        }
        reading.states.clone_from(&self.states);
        self.count += 1;
        self.kept = Some(reading);
    }

    /// The reading, and how many fitted.
    #[must_use]
    pub fn finish(mut self) -> (Option<Reading>, u64) {
        self.close();
        (self.kept, self.count)
    }
}

impl Sink for ThermalSink {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::ThermalPower { requested_mw, granted_mw, budget_mw, max_mw, err_integral, .. } => {
                self.close();
                let error_sum_c = err_integral as f64 / 1024.0 / 1000.0;
                self.power = Some(Power { requested_mw, budget_mw, granted_mw, max_mw, error_sum_c });
            }
            Event::ThermalTemperature { zone, temp_mc, last_mc, trips_reached, passive } => {
                self.close();
                let (power, passive) = (self.power.take(), passive != 0);
                let changes = Vec::new();
                self.current = Some(Reading {
                    time_ns,
                    zone,
                    temp_mc,
                    last_mc,
                    trips_reached,
                    passive,
                    power,
                    changes,
                    states: Vec::new(),
                });
            }
            Event::CdevUpdate { domain, state, max_khz } => {
                let Some(now) = self.states.get_mut(domain as usize) else { return };
                let before = std::mem::replace(now, (state, max_khz));
                if let Some(reading) = &mut self.current {
                    reading.changes.push((domain, before, (state, max_khz)));
                }
            }
            _ => {}
        }
    }
}

/// One reading of a thermal zone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThermalExplanation {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// Zone.
    pub zone: String,
    /// Governor that cools it.
    pub governor: &'static str,
    /// Temperature, degrees Celsius.
    pub temperature_c: f64,
    /// The reading before.
    pub before_c: f64,
    /// `raising`, `dropping` or `stable`.
    pub trend: &'static str,
    /// Its trips.
    pub trips: Vec<TripExplanation>,
    /// Time until the next reading, ms; none: until the sensor interrupts.
    pub next_ms: Option<u32>,
    /// Powers that the controller reckoned with; none under step_wise, and while it is off.
    pub power: Option<Power>,
    /// Its frequency domains.
    pub domains: Vec<CoolingExplanation>,
    /// The number of this reading among those that fit.
    pub number: u64,
}

/// A trip.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TripExplanation {
    /// Temperature, degrees Celsius.
    pub c: f64,
    /// Hysteresis.
    pub hysteresis_c: f64,
    /// True where it asks for cooling.
    pub reached: bool,
}

/// A frequency domain.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CoolingExplanation {
    /// Name.
    pub domain: String,
    /// Cooling state before.
    pub state_before: u32,
    /// Cooling state from now on.
    pub state: u32,
    /// Upper limit from now on, kHz.
    pub max_khz: u32,
}

/// Puts a reading into words and numbers.
#[must_use]
pub fn explain(kept: &Reading, plan: &Plan, number: u64) -> ThermalExplanation {
    let spec = &plan.machine.thermal_zones[kept.zone as usize];
    let c = |mc: i64| mc as f64 / 1e3;
    let trip = |(at, trip): (usize, &pelton_model::thermal::TripPoint)| TripExplanation {
        c: c(trip.temp_mc.into()),
        hysteresis_c: c(trip.hysteresis_mc.into()),
        reached: (at as u32) < kept.trips_reached,
    };
    let domain = |&d: &u32| {
        let (state, max_khz) = kept.states[d as usize];
        let before = kept.changes.iter().find(|(of, ..)| *of == d).map_or(state, |(_, before, _)| before.0);
        CoolingExplanation {
            domain: plan.machine.domains[d as usize].name.clone(),
            state_before: before,
            state,
            max_khz,
        }
    };
    let poll_ms = if kept.passive { spec.passive_ms } else { spec.polling_ms };
    let by_steps = plan.policy.thermal == value::THERMAL_STEP_WISE;
    ThermalExplanation {
        time_ns: kept.time_ns,
        zone: spec.name.clone(),
        governor: if by_steps { "step_wise" } else { "power_allocator" },
        temperature_c: c(kept.temp_mc),
        before_c: c(kept.last_mc),
        trend: match kept.temp_mc.cmp(&kept.last_mc) {
            std::cmp::Ordering::Less => "dropping",
            std::cmp::Ordering::Equal => "stable",
            std::cmp::Ordering::Greater => "raising",
        },
        trips: spec.trips.iter().enumerate().map(trip).collect(),
        next_ms: (poll_ms > 0).then_some(poll_ms),
        power: kept.power,
        domains: spec.domains.iter().map(domain).collect(),
        number,
    }
}
