// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones of a machine: what gets hot, how fast, and from when on it is cooled.

use serde::Serialize;

/// A sensor, what heats it, and the trips at which CPUs are slowed down.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThermalZone {
    /// Name, for reports.
    pub name: String,
    /// Frequency domains that heat it and cool it, ascending.
    pub domains: Vec<u32>,
    /// Weight of each of them for `power_allocator` (`contribution` of a device tree); all 0 = all alike.
    pub weights: Vec<u32>,
    /// Temperature of what surrounds it, thousandths of a degree Celsius.
    pub ambient_mc: i32,
    /// Temperature at the start of a run, the same.
    pub start_mc: i32,
    /// Stages of a resistance and a capacity each: the temperature is the ambient one plus the rise of all stages.
    /// Empty = not known.
    pub stages: Vec<HeatStage>,
    /// No source measured or published the stages.
    pub assumed: bool,
    /// Power of everything else that heats it, microwatts.
    pub other_uw: u64,
    /// Trips, coolest first.
    pub trips: Vec<TripPoint>,
    /// Time between readings while it is cooled, ms.
    pub passive_ms: u32,
    /// Time between readings otherwise, ms; 0 = the sensor interrupts when a trip is crossed.
    pub polling_ms: u32,
    /// Power that it can stand at its last trip, mW; 0 = not known.
    pub sustainable_mw: u32,
}

/// One stage of the way of heat to the surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeatStage {
    /// Resistance, thousandths of a kelvin per watt.
    pub mk_per_w: u32,
    /// Capacity, millijoules per kelvin.
    pub mj_per_k: u32,
}

/// A passive trip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TripPoint {
    /// Temperature, thousandths of a degree Celsius.
    pub temp_mc: i32,
    /// Hysteresis, the same.
    pub hysteresis_mc: i32,
    /// Domains that it cools; ascending, all of the zone.
    pub cools: Vec<u32>,
}
