// SPDX-License-Identifier: GPL-2.0-or-later
//! Sources of the power of an operating point. Units are never mixed: all figures of a machine are milliwatts, or all
//! are in the unit of one named table.

use pelton_core::EnergyModel;

use super::file::{Domain, EnergyRow, EnergyTable, PlatformFile, PowerModel};

/// Source of the power figures of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PowerSource {
    /// `power_mw` of the operating points.
    Written,
    /// dynamic-power-coefficient x V^2 x f.
    Coefficient,
    /// `[perf_domain.power_model]`.
    Model,
    /// A table of the file, by name.
    Table(String),
    /// Nothing: all figures are 0, which no CPU that runs draws.
    Unknown,
}

/// Power figures of one domain, in microwatts or thousandths of the table's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainPower {
    /// Source of the figures.
    pub source: PowerSource,
    /// One busy CPU, by operating point.
    pub busy: Vec<u64>,
    /// The shared part while a CPU is awake, by operating point; empty = none.
    pub cluster: Vec<u64>,
    /// One idle CPU, by idle state; `None` = no figure.
    pub idle: Vec<Option<u64>>,
    /// Below this frequency the table has no figure and power was taken in proportion to frequency.
    pub below_khz: Option<u32>,
}

/// coefficient x V^2 x f in microwatts (docs/rules/placement.md#energy-model): uW = C * mV^2 * MHz / 10^6.
pub fn dynamic_uw(coefficient: u64, uv: u32, khz: u32) -> u64 {
    let (c, v, f) = (u128::from(coefficient), u128::from(uv), u128::from(khz));
    // Voltage in uV and frequency in kHz carry 10^3 each above mV (squared) and MHz.
    (c * v * v * f / 1_000_000_000_000_000) as u64
}

/// Power of each operating point in the kernel's Energy Model; empty where no coefficient and voltages give one.
pub(super) fn energy_model_uw(domain: &Domain) -> Vec<u64> {
    let Some(coefficient) = &domain.dynamic_power_coefficient else { return Vec::new() };
    let power = |uv: u32, khz: u32| EnergyModel::power_uw(coefficient.value, uv, khz);
    let points = domain.opps.iter().map(|o| Some(power(o.uv.as_ref()?.value, o.khz.value)));
    points.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Power figures of a domain without a table being named: the best the file has in milliwatts.
pub(super) fn of_domain(file: &PlatformFile, domain: &Domain, khz: &[u32]) -> DomainPower {
    let written =
        || domain.opps.iter().map(|o| o.power_mw.as_ref().map(|p| thousandths(p.value))).collect::<Option<Vec<_>>>();
    let coefficient = || {
        let c = domain.dynamic_power_coefficient.as_ref()?.value;
        domain.opps.iter().map(|o| Some(dynamic_uw(c, o.uv.as_ref()?.value, o.khz.value))).collect::<Option<Vec<_>>>()
    };
    let model = || domain.power_model.as_ref().map(|m| khz.iter().map(|&f| modelled(&m.value, f)).collect());
    let has_opps = |list: Option<Vec<u64>>| list.filter(|l| !l.is_empty());
    let (source, busy, below_khz) = has_opps(written())
        .map(|busy| (PowerSource::Written, busy))
        .or_else(|| has_opps(coefficient()).map(|busy| (PowerSource::Coefficient, busy)))
        .or_else(|| model().map(|busy| (PowerSource::Model, busy)))
        .map(|(source, busy)| (source, busy, None))
        .or_else(|| from_any_table(file, domain, khz))
        .unwrap_or((PowerSource::Unknown, vec![0; khz.len()], None));
    let idle_of = |i: usize| domain.idle_states.get(i.wrapping_sub(1)).and_then(|s| s.power_mw.as_ref());
    let idle = (0..=domain.idle_states.len()).map(|i| idle_of(i).map(|p| thousandths(p.value))).collect();
    let cluster =
        domain.opps.iter().map(|o| o.cluster_power.as_ref().map(|p| thousandths(p.value))).collect::<Option<Vec<_>>>();
    let constant = file.cluster_active_mw.as_ref().map(|p| vec![thousandths(p.value); khz.len()]);
    let cluster = has_opps(cluster).or(constant).unwrap_or_default();
    DomainPower { source, busy, cluster, idle, below_khz }
}

/// Power of busy CPUs of a domain by one table; the frequency it has no figure for, when it has none.
pub(super) fn of_table(table: &EnergyTable, domain: &Domain, khz: &[u32]) -> Result<DomainPower, u32> {
    Ok(DomainPower {
        source: PowerSource::Table(table.name.value.clone()),
        busy: column(table, domain, khz)?,
        cluster: Vec::new(),
        idle: Vec::new(),
        below_khz: below(table, domain, khz),
    })
}

/// The lowest frequency that the table has a figure for, where the domain has a lower one.
pub(super) fn below(table: &EnergyTable, domain: &Domain, khz: &[u32]) -> Option<u32> {
    let lowest = rows_of(table, domain).filter_map(|r| r.khz.as_ref().map(|k| k.value)).min();
    lowest.filter(|&low| khz.first().is_some_and(|&f| f < low))
}

/// True when the figures of a table are milliwatts, whatever its text says: the column names carry the unit.
pub(super) fn in_milliwatts(table: &EnergyTable) -> bool {
    let mut figures = table.rows.iter().filter(|r| r.khz.is_some()).peekable();
    figures.peek().is_some() && figures.all(|r| r.power_uw.is_some())
}

fn from_any_table(file: &PlatformFile, domain: &Domain, khz: &[u32]) -> Option<(PowerSource, Vec<u64>, Option<u32>)> {
    let usable = file.energy_tables.iter().filter(|t| in_milliwatts(t));
    let mut found = usable.filter_map(|t| of_table(t, domain, khz).ok());
    found.next().map(|power| (power.source, power.busy, power.below_khz))
}

/// Rows about one CPU (or the shared part) of a domain.
pub(super) fn rows_of<'t>(table: &'t EnergyTable, domain: &'t Domain) -> impl Iterator<Item = &'t EnergyRow> {
    table.rows.iter().filter(|r| r.busy_cpus == 1 && r.domain.as_ref().is_some_and(|d| domain.is_called(&d.value)))
}

/// The power of a busy CPU at the frequencies of a domain, whatever others on its supply do; between two rows of the
/// table, on the line through them. Below the first row voltage no longer falls, so power is taken in proportion to
/// frequency; above the last row nothing is known.
fn column(table: &EnergyTable, domain: &Domain, khz: &[u32]) -> Result<Vec<u64>, u32> {
    let alone = rows_of(table, domain).filter(|row| row.other.is_none());
    super::draws::curve(alone, khz, EnergyRow::core_uw, super::draws::Below::InProportion)
}

fn modelled(model: &PowerModel, khz: u32) -> u64 {
    let (low, top) = (f64::from(model.khz_low.value), f64::from(model.khz));
    let slope = (f64::from(model.uv) - f64::from(model.uv_low)) / (top - low);
    let ratio = (f64::from(model.uv_low) + slope * (f64::from(khz) - low)) / f64::from(model.uv);
    (model.busy_mw * 1000.0 * f64::from(khz) / top * ratio * ratio).round() as u64
}

pub(super) fn thousandths(value: f64) -> u64 {
    (value * 1000.0).round() as u64
}
