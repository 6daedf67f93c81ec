// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequencies of CPUs.

use super::{Seen, seconds};
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;
use pelton_schema::IDLE_EXIT;
use std::collections::BTreeMap;

/// Every event.
pub(super) fn cpus_frequency(seen: &Seen<'_>) -> Result<Table, LabError> {
    Ok(events(seen, None))
}

/// Those of one CPU.
pub(super) fn cpu_frequency(seen: &Seen<'_>) -> Result<Table, LabError> {
    Ok(events(seen, Some(seen.cpu()?)))
}

fn events(seen: &Seen<'_>, only: Option<u32>) -> Table {
    seen.by_cpu(only, |rows, places| rows.column("freq_khz", places, ("frequency", "kHz", "New frequency.")))
}

/// Times and values of one CPU's frequency, and its end.
fn line(seen: &Seen<'_>, cpu: u32) -> Vec<(u64, u32)> {
    let rows = seen.table();
    let cpus = rows.u32s("cpu");
    rows.places(|at| cpus[at] == cpu).into_iter().map(|at| (rows.times()[at], rows.u32s("freq_khz")[at])).collect()
}

/// Times from which on some of the CPUs executes, or none does; from when on all of them are known.
fn activity(seen: &Seen<'_>, cpus: &[u32]) -> Vec<(u64, bool)> {
    let rows = super::Rows(&seen.tables[1]);
    let (of, states, times) = (rows.u32s("cpu"), rows.u32s("state"), rows.times());
    let mut active = BTreeMap::new();
    let mut made: Vec<(u64, bool)> = Vec::new();
    for at in rows.places(|at| cpus.contains(&of[at])) {
        active.insert(of[at], states[at] == IDLE_EXIT);
        if active.len() == cpus.len() {
            made.push((times[at], active.values().any(|active| *active)));
        }
    }
    made
}

/// Time at a frequency, and the part of it in which a CPU executed, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stay {
    total_ns: u64,
    active_ns: Option<u64>,
}

/// Stays at each frequency.
fn residencies(frequency: &[(u64, u32)], active: &[(u64, bool)], end_ns: u64) -> BTreeMap<u32, Stay> {
    let mut made: BTreeMap<u32, Stay> = BTreeMap::new();
    let known_ns = active.first().map_or(u64::MAX, |first| first.0);
    let mut at = 0;
    for (i, &(from, khz)) in frequency.iter().enumerate() {
        let to = frequency.get(i + 1).map_or(end_ns, |next| next.0);
        let stay = made.entry(khz).or_insert(Stay { total_ns: 0, active_ns: Some(0) });
        stay.total_ns += to.saturating_sub(from);
        if from < known_ns && to > from {
            stay.active_ns = None;
        }
        while let Some(&(begin, is_active)) = active.get(at) {
            let end = active.get(at + 1).map_or(end_ns, |next| next.0);
            if is_active {
                let part = end.min(to).saturating_sub(begin.max(from));
                stay.active_ns = stay.active_ns.map(|sum| sum + part);
            }
            // A state that goes on beyond this frequency is looked at again for the next one.
            if end > to {
                break;
            }
            at += 1;
        }
    }
    made
}

fn residency_table(stays: &BTreeMap<u32, Stay>) -> Table {
    let total = stays.values().map(|stay| seconds(stay.total_ns)).collect();
    let active: Vec<Option<f64>> = stays.values().map(|stay| stay.active_ns.map(seconds)).collect();
    Table::of(vec![
        Column::new("frequency", "kHz", "Frequency.", Values::U32(stays.keys().copied().collect())),
        Column::new("total_time", "s", "Time at it.", Values::F64(total)),
        Column::optional("active_time", "s", "Part of it in which a CPU was not idle.", &active),
    ])
}

/// Time at each frequency of one CPU.
pub(super) fn residency(seen: &Seen<'_>) -> Result<Table, LabError> {
    let cpu = seen.cpu()?;
    Ok(residency_table(&residencies(&line(seen, cpu), &activity(seen, &[cpu]), seen.facts.end_ns)))
}

/// Time at each frequency of the domain of a CPU; active: some CPU of it.
pub(super) fn domain_residency(seen: &Seen<'_>) -> Result<Table, LabError> {
    let cpu = seen.cpu()?;
    let cpus = seen.domain_of(cpu)?;
    Ok(residency_table(&residencies(&line(seen, cpu), &activity(seen, &cpus), seen.facts.end_ns)))
}

/// Arrivals at each frequency.
fn arrivals(seen: &Seen<'_>) -> Result<BTreeMap<u32, u64>, LabError> {
    let mut made = BTreeMap::new();
    let (mut before, line) = (None, line(seen, seen.cpu()?));
    for (_, khz) in line {
        if before.replace(khz) != Some(khz) {
            *made.entry(khz).or_insert(0) += 1;
        }
    }
    Ok(made)
}

/// Arrivals at each frequency of a CPU; the first event is one.
pub(super) fn transitions(seen: &Seen<'_>) -> Result<Table, LabError> {
    let counts = arrivals(seen)?;
    Ok(Table::of(vec![
        Column::new("frequency", "kHz", "Frequency.", Values::U32(counts.keys().copied().collect())),
        Column::new("transitions", "", "Arrivals at it.", Values::U64(counts.values().copied().collect())),
    ]))
}

/// Arrivals at each frequency of a CPU by time.
pub(super) fn transition_rate(seen: &Seen<'_>) -> Result<Table, LabError> {
    let counts = arrivals(seen)?;
    let length_s = seconds(seen.facts.end_ns.saturating_sub(seen.facts.start_ns));
    let rate = |&count: &u64| (length_s > 0.0).then(|| count as f64 / length_s);
    let rates: Vec<Option<f64>> = counts.values().map(rate).collect();
    Ok(Table::of(vec![
        Column::new("frequency", "kHz", "Frequency.", Values::U32(counts.keys().copied().collect())),
        Column::optional("transitions", "1/s", "Arrivals at it by time.", &rates),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_time_is_that_of_the_frequency_it_fell_into() {
        let frequency = [(0, 500), (10, 900), (30, 500)];
        let active = [(0, false), (5, true), (12, false), (20, true), (35, false)];
        let made = residencies(&frequency, &active, 40);
        assert_eq!(made[&500], Stay { total_ns: 20, active_ns: Some(5 + 5) });
        assert_eq!(made[&900], Stay { total_ns: 20, active_ns: Some(2 + 10) });
    }

    #[test]
    fn before_a_word_about_idle_activity_is_not_known() {
        assert_eq!(residencies(&[(3, 500)], &[], 40)[&500], Stay { total_ns: 37, active_ns: None });
        let made = residencies(&[(0, 500), (10, 900)], &[(5, true)], 40);
        assert_eq!((made[&500].active_ns, made[&900].active_ns), (None, Some(30)));
    }
}
