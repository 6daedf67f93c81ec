// SPDX-License-Identifier: GPL-2.0-or-later
//! Power that the CPUs of a domain and the part they share draw: measured curves where a table of the file is named,
//! else the power of its operating points; idle power while the rail stays on follows the square of the voltage.

use pelton_model::draws::{Draws, Rail, Vote};

use super::file::{Domain, EnergyRow, EnergyTable, IdlePower, Off, PlatformFile};
use super::machine::frequencies;
use super::power::{self, DomainPower, in_milliwatts};

/// A domain with the figures from which the power that it draws is worked out.
pub(super) struct Drawn<'f> {
    file: &'f PlatformFile,
    domain: &'f Domain,
    table: Option<&'f EnergyTable>,
    khz: Vec<u32>,
    /// Power of busy CPUs where no table is named.
    busy: &'f DomainPower,
    /// Square of the voltage of each operating point, in any unit.
    square: Vec<f64>,
}

/// Rows about a domain while another runs at one frequency; all of them where nothing else is on its supply.
struct Group<'f> {
    rows: Vec<&'f EnergyRow>,
}

impl<'f> Drawn<'f> {
    pub(super) fn new(
        file: &'f PlatformFile,
        table: Option<&'f EnergyTable>,
        domain: &'f Domain,
        busy: &'f DomainPower,
    ) -> Self {
        let khz = frequencies(domain);
        let square = squares(domain, &khz, &busy.busy);
        Drawn { file, domain, table, khz, busy, square }
    }

    /// The file says more than what operating points and idle states do.
    pub(super) fn is_said(&self) -> bool {
        self.table.is_some() || self.domain.idle_power.is_some()
    }

    /// Power that the domain draws; `number` gives the numbers of the machine's domains by their ids. An error is a
    /// frequency that the table has no figure for.
    pub(super) fn draws(&self, number: &dyn Fn(&str) -> Option<(u32, &'f Domain)>) -> Result<Draws, u32> {
        let others = self.others();
        if others.is_empty() {
            return Ok(Draws { rails: vec![self.rail(&self.group(None))?], votes: Vec::new() });
        }
        let mut rails = Vec::new();
        for (i, (other, khz)) in others.iter().enumerate() {
            rails.push((i, self.rail(&self.group(Some((other, *khz))))?));
        }
        // The level of the supply shows best where the domain itself asks for least.
        rails.sort_by_key(|(i, rail)| (rail.shared_uw.first().copied().unwrap_or(0), *i));
        let at = |i: usize| rails.iter().position(|(of, _)| *of == i).unwrap_or(0) as u32;
        let mut votes: Vec<Vote> = Vec::new();
        for (other, domain) in ids(&others).into_iter().filter_map(number) {
            let of = |khz: u32| {
                let mine = |(i, (id, at)): (usize, &(String, u32))| domain.is_called(id).then_some((*at, i));
                let mut mine: Vec<(u32, usize)> = others.iter().enumerate().filter_map(mine).collect();
                mine.sort_unstable();
                mine.iter().find(|(at, _)| *at >= khz).or(mine.last()).map_or(0, |(_, i)| at(*i))
            };
            let off_from = 1 + domain.idle_states.iter().take_while(|s| s.off == Off::Nothing).count() as u32;
            votes.push(Vote { domain: other, off_from, rails: frequencies(domain).into_iter().map(of).collect() });
        }
        Ok(Draws { rails: rails.into_iter().map(|(_, rail)| rail).collect(), votes })
    }

    /// Other domains and frequencies that the table has rows for, in its order.
    fn others(&self) -> Vec<(String, u32)> {
        let mut found: Vec<(String, u32)> = Vec::new();
        for row in self.table.into_iter().flat_map(|table| power::rows_of(table, self.domain)) {
            if let (Some(other), Some(khz)) = (&row.other, &row.other_khz)
                && !found.iter().any(|(id, at)| *id == other.value && *at == khz.value)
            {
                found.push((other.value.clone(), khz.value));
            }
        }
        found
    }

    fn group(&self, other: Option<(&str, u32)>) -> Group<'f> {
        let is_in = |row: &&EnergyRow| match (other, &row.other) {
            (Some((id, khz)), Some(of)) => of.value == id && row.other_khz.as_ref().is_some_and(|k| k.value == khz),
            // What does not depend on the other: rows of idle states.
            (_, None) => row.khz.is_none() || other.is_none(),
            (None, Some(_)) => false,
        };
        let rows = self.table.into_iter().flat_map(|table| power::rows_of(table, self.domain));
        Group { rows: rows.filter(is_in).collect() }
    }

    fn rail(&self, group: &Group<'_>) -> Result<Rail, u32> {
        let busy_uw = match self.table {
            Some(_) => group.curve(&self.khz, EnergyRow::core_uw, Below::InProportion)?,
            None => self.busy.busy.clone(),
        };
        let states = 0..=self.domain.idle_states.len();
        let shared_uw = self.shared(group);
        Ok(Rail {
            idle_uw: states.clone().map(|s| self.idle(group, s)).collect(),
            shared_idle_uw: states.map(|s| self.shared_idle(group, s, &shared_uw)).collect(),
            shared_uw,
            busy_uw,
        })
    }

    /// Idle power as the file states it, in milliwatts, where that is the unit of all figures.
    fn idle_power(&self) -> Option<&IdlePower> {
        self.domain.idle_power.as_ref().filter(|_| self.table.is_none_or(in_milliwatts))
    }

    fn off(&self, state: usize) -> Off {
        state.checked_sub(1).map_or(Off::Nothing, |i| self.domain.idle_states[i].off)
    }

    /// One power, which is equal at every operating point.
    fn constant(&self, uw: f64) -> Vec<u64> {
        vec![uw.round() as u64; self.khz.len()]
    }

    /// A power at operating point `at_khz`, which follows the square of the voltage.
    fn by_voltage(&self, uw: f64, at_khz: u32) -> Vec<u64> {
        let at = self.khz.iter().position(|&khz| khz == at_khz).unwrap_or(self.khz.len() - 1);
        self.square.iter().map(|square| (uw * square / self.square[at]).round() as u64).collect()
    }

    /// The row of a table about an idle state. What is left in the deepest one is on another supply, so that the rest
    /// alone follows the voltage.
    fn named(&self, group: &Group<'_>, state: usize, pick: fn(&EnergyRow) -> Option<f64>) -> Option<Vec<u64>> {
        let (row, uw) = self.row(group, state, pick)?;
        let Some(at) = &row.at_khz else { return Some(self.constant(uw)) };
        let deepest = self.row(group, self.domain.idle_states.len(), pick).filter(|(row, _)| row.at_khz.is_none());
        let left_uw = deepest.map_or(0.0, |(_, left_uw)| left_uw.min(uw));
        let rest = self.by_voltage(uw - left_uw, at.value);
        Some(rest.into_iter().zip(self.constant(left_uw)).map(|(rest, left)| rest + left).collect())
    }

    fn row<'g>(
        &self,
        group: &'g Group<'_>,
        state: usize,
        pick: fn(&EnergyRow) -> Option<f64>,
    ) -> Option<(&'g EnergyRow, f64)> {
        let name = state.checked_sub(1).map_or("WFI", |i| self.domain.idle_states[i].name.value.as_str());
        let is_named = |row: &&EnergyRow| row.idle.as_ref().is_some_and(|idle| idle.value == name);
        group.rows.iter().copied().filter(is_named).find_map(|row| Some((row, pick(row)?)))
    }

    /// One CPU in an idle state, by operating point; empty = not known.
    fn idle(&self, group: &Group<'_>, state: usize) -> Vec<u64> {
        let column = if state == 0 { EnergyRow::idle0_uw } else { EnergyRow::idle1_uw };
        let measured = || group.curve(&self.khz, column, Below::AtTheSameVoltage).ok();
        let of_table = || self.named(group, state, EnergyRow::core_uw).or_else(measured);
        let in_mw = self.table.is_none_or(in_milliwatts);
        let stated = || {
            let figure = self.domain.idle_states.get(state.wrapping_sub(1))?.power_mw.as_ref().filter(|_| in_mw)?;
            Some(self.constant(figure.value * 1000.0))
        };
        let on_rail = || {
            let idle = self.idle_power()?;
            let is_on = self.off(state) == Off::Nothing;
            Some(if is_on { self.by_voltage(idle.wfi_mw * 1000.0, idle.khz.value) } else { self.constant(0.0) })
        };
        of_table().or_else(stated).or_else(on_rail).unwrap_or_default()
    }

    /// Power of the part that the CPUs share while one of them is awake, by operating point; empty = not known.
    fn shared(&self, group: &Group<'_>) -> Vec<u64> {
        let column = |pick| group.curve(&self.khz, pick, Below::AtTheSameVoltage).ok();
        let on_rail = || self.cluster_on(self.idle_power()?);
        let own = || {
            let is_mw = self.table.is_none_or(in_milliwatts);
            is_mw.then(|| power::of_domain(self.file, self.domain, &self.khz).cluster).filter(|own| !own.is_empty())
        };
        column(EnergyRow::shared_uw).or_else(own).or_else(on_rail).unwrap_or_default()
    }

    fn cluster_on(&self, idle: &IdlePower) -> Option<Vec<u64>> {
        Some(self.by_voltage(idle.cluster_mw.as_ref()?.value * 1000.0, idle.khz.value))
    }

    /// Power of the part that the CPUs share while all are idle, `state` being the shallowest, by operating point.
    fn shared_idle(&self, group: &Group<'_>, state: usize, shared_uw: &[u64]) -> Vec<u64> {
        let named = self.named(group, state, EnergyRow::shared_uw);
        let is_measured = group.rows.iter().any(|row| row.static_uw.is_some());
        named.unwrap_or_else(|| match self.off(state) {
            Off::Cluster => self.constant(0.0),
            _ if is_measured => shared_uw.to_vec(),
            _ => self.idle_power().and_then(|idle| self.cluster_on(idle)).unwrap_or_default(),
        })
    }
}

/// Power below the lowest frequency of a table.
#[derive(Clone, Copy)]
pub(super) enum Below {
    /// Of a busy CPU: the voltage falls no further.
    InProportion,
    /// Of what does not switch.
    AtTheSameVoltage,
}

impl Group<'_> {
    fn curve(&self, khz: &[u32], pick: fn(&EnergyRow) -> Option<f64>, below: Below) -> Result<Vec<u64>, u32> {
        curve(self.rows.iter().copied(), khz, pick, below)
    }
}

/// A column at these frequencies; between two rows, on the line through them. Above the last row nothing is known: the
/// frequency then.
pub(super) fn curve<'r>(
    rows: impl Iterator<Item = &'r EnergyRow>,
    khz: &[u32],
    pick: fn(&EnergyRow) -> Option<f64>,
    below: Below,
) -> Result<Vec<u64>, u32> {
    let point = |row: &EnergyRow| Some((f64::from(row.khz.as_ref()?.value), pick(row)?));
    let points: Vec<(f64, f64)> = rows.filter_map(point).collect();
    let at = |khz: u32| {
        let x = f64::from(khz);
        let above = points.iter().position(|&(at, _)| at >= x).ok_or(khz)?;
        let (x1, y1) = points[above];
        let (x0, y0) = match (above.checked_sub(1).map(|i| points[i]), below) {
            (Some(point), _) => point,
            (None, Below::InProportion) => (0.0, 0.0),
            (None, Below::AtTheSameVoltage) => (0.0, y1),
        };
        Ok((y0 + (y1 - y0) * (x - x0) / (x1 - x0)).round() as u64)
    };
    khz.iter().map(|&khz| at(khz)).collect()
}

/// Ids of the other domains, each once.
fn ids(others: &[(String, u32)]) -> Vec<&str> {
    let mut ids: Vec<&str> = others.iter().map(|(id, _)| id.as_str()).collect();
    ids.dedup();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Square of the voltage by operating point. A file without voltages has them in what a busy CPU draws in a cycle,
/// which follows the same square; at low frequencies that holds other things as well, so that it never rises downwards.
fn squares(domain: &Domain, khz: &[u32], busy_uw: &[u64]) -> Vec<f64> {
    let known = |i: usize| domain.opps.get(i).and_then(|opp| opp.uv.as_ref()).map(|uv| f64::from(uv.value));
    if let Some(uv) = (0..khz.len()).map(known).collect::<Option<Vec<f64>>>() {
        return uv.into_iter().map(|uv| uv * uv).collect();
    }
    let mut lowest = f64::INFINITY;
    let cycle = |(&khz, &uw): (&u32, &u64)| {
        lowest = lowest.min(uw.max(1) as f64 / f64::from(khz));
        lowest
    };
    let mut squares: Vec<f64> = khz.iter().zip(busy_uw).rev().map(cycle).collect();
    squares.reverse();
    squares
}
