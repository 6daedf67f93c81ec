// SPDX-License-Identifier: GPL-2.0-or-later
//! A thermal zone: what step_wise asks of each domain, and how power_allocator divides a budget. Plain numbers, wide
//! enough.

use crate::rules::{CoolingLoad, Ipa, Rules, StepWise, ThermalTrips};

/// A trip with what it asks of each domain.
#[derive(Clone, Debug)]
pub struct Trip {
    /// Temperature, mC.
    pub at: i64,
    /// Hysteresis, mC.
    pub hysteresis: i64,
    /// Was reached at the last reading.
    pub reached: bool,
    /// For each domain that it cools: the state that it asks for, if any.
    pub asks: Vec<Option<Option<u64>>>,
    /// True when it was looked at before.
    pub looked: bool,
}

/// A zone.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Trips, coolest first.
    pub trips: Vec<Trip>,
    /// Cooling state and the deepest one of each domain.
    pub states: Vec<(u64, u64)>,
    /// Last reading, mC.
    pub temperature: Option<i64>,
}

/// Is the trip reached at this temperature?
fn reached(rules: &Rules, trip: &Trip, temperature: i64) -> bool {
    let keeps = rules.thermal_trips == ThermalTrips::Core && trip.reached;
    temperature >= if keeps { trip.at - trip.hysteresis } else { trip.at }
}

/// New request of an instance that asked for `asks`.
fn step(rules: &Rules, asks: Option<u64>, state: u64, deepest: u64, trend: i64, throttle: bool) -> Option<u64> {
    let newer = matches!(rules.step_wise, StepWise::Lower | StepWise::Release);
    match (trend, throttle) {
        (1, true) => Some((state + 1).min(deepest)),
        (-1, true) if newer && state == 0 => Some(deepest),
        (-1, true) if newer => Some((state - 1).max(1.min(deepest)).min(deepest)),
        (-1, true) if rules.step_wise == StepWise::Down && state > 0 => Some((state - 1).min(deepest)),
        (-1, false) => match rules.step_wise {
            StepWise::Release => None,
            _ if state == 0 => None,
            StepWise::Lower => Some(0),
            _ => Some((state - 1).min(deepest)),
        },
        _ => asks,
    }
}

impl Zone {
    fn settle(&mut self) {
        for d in 0..self.states.len() {
            let asked = self.trips.iter().filter_map(|trip| trip.asks[d].flatten());
            self.states[d].0 = asked.max().unwrap_or(0);
        }
    }

    /// A reading under step_wise; returns whether the zone is polled passively from now on.
    pub fn step_wise(&mut self, rules: &Rules, temperature: i64) -> bool {
        let trend = (temperature - self.temperature.unwrap_or(temperature)).signum();
        self.temperature = Some(temperature);
        for trip in &mut self.trips {
            trip.reached = reached(rules, trip, temperature);
        }
        for t in 0..self.trips.len() {
            let states = self.states.clone();
            let trip = &mut self.trips[t];
            for (asks, (state, deepest)) in trip.asks.iter_mut().zip(states) {
                let Some(asks) = asks else { continue };
                *asks = match (trip.looked, trip.reached) {
                    (false, true) => Some((state + 1).min(deepest)),
                    (false, false) => None,
                    (true, throttle) => step(rules, *asks, state, deepest, trend, throttle),
                };
            }
            trip.looked = true;
            if rules.thermal_trips == ThermalTrips::Governor {
                self.settle();
            }
        }
        self.settle();
        match rules.thermal_trips {
            ThermalTrips::Core => self.trips.iter().any(|trip| trip.reached),
            ThermalTrips::Governor => {
                self.trips.iter().flat_map(|trip| &trip.asks).any(|asks| asks.flatten().is_some())
            }
        }
    }
}

/// The controller of power_allocator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Controller {
    /// Given or estimated, mW; 0 = not yet.
    pub sustainable: i64,
    /// Sum of errors, 1/1024 mC.
    pub errors: i64,
}

/// n / d, rounded down also below 0.
fn floor(n: i128, d: i128) -> i128 {
    n.div_euclid(d)
}

impl Controller {
    /// The budget, mW: `error` mC below the control temperature, which is `distance` mC above where the controller
    /// switches on.
    pub fn budget(&mut self, rules: &Rules, error: i64, distance: i64, most: i64, least: i64) -> i64 {
        let sustainable = if self.sustainable > 0 { self.sustainable } else { least };
        if rules.ipa != Ipa::Truncates {
            self.sustainable = sustainable;
        }
        let (over, under) = (sustainable * 1024 / distance, 2 * sustainable * 1024 / distance);
        let integral = if rules.ipa == Ipa::Truncates { 10 } else { (under / 10).max(1) };
        let error = error * 1024;
        let part = |k: i64, of: i64| floor(i128::from(k) * i128::from(of), 1024);
        let mut sum = part(integral, self.errors);
        if error < 0 {
            let next = sum + part(integral, error);
            if next.abs() < i128::from(most * 1024) {
                sum = next;
                self.errors += error;
            }
        }
        let all = part(if error < 0 { over } else { under }, error) + sum;
        (i128::from(sustainable) + floor(all, 1024)).clamp(0, i128::from(most)) as i64
    }
}

/// Divides a budget among domains: what each asks for (weighted) and the most that it can take, mW.
pub fn divide(rules: &Rules, domains: &[(u64, u64)], budget: u64) -> Vec<u64> {
    let total: u64 = domains.iter().map(|(asks, _)| asks).sum();
    if total == 0 && rules.ipa == Ipa::IdleMax {
        return domains.iter().map(|(_, most)| *most).collect();
    }
    let total = total.max(1);
    let nearest = |n: u64, d: u64| (n + d / 2) / d;
    let first: Vec<u64> = domains.iter().map(|(asks, _)| nearest(asks * budget, total)).collect();
    let granted: Vec<u64> = first.iter().zip(domains).map(|(&got, &(_, most))| got.min(most)).collect();
    let left: u64 = first.iter().zip(&granted).map(|(first, got)| first - got).sum();
    let room: u64 = granted.iter().zip(domains).map(|(got, (_, most))| most - got).sum();
    let left = left.min(room);
    if left == 0 {
        return granted;
    }
    let more = |(got, (_, most)): (&u64, &(u64, u64))| match rules.ipa {
        // The product is taken in 32 bits.
        Ipa::Truncates => got + ((most - got) * left) % (1 << 32) / room,
        _ => got + nearest((most - got) * left, room),
    };
    granted.iter().zip(domains).map(more).collect()
}

/// Load of a CPU, percent.
pub fn load(rules: &Rules, util: u64, capacity: u64, time: u64, idle: u64) -> u64 {
    match rules.cooling_load {
        CoolingLoad::Utilization => util * 100 / capacity,
        CoolingLoad::IdleTime if idle >= time => 0,
        CoolingLoad::IdleTime => 100 * (time - idle) / time,
    }
}
