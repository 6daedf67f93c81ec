// SPDX-License-Identifier: GPL-2.0-or-later
//! Meaning of an experiment file: names that lead somewhere, numbers that a run can have.

use super::file::{Beyond, Claim, Experiment, Probe, Row, SEEDS_MAX, Sensitivity, Variant, WorkloadRef};
use super::place::Wrong;
use super::probe;
use crate::measure::quantity::{self, Read};
use crate::plan::MachineChanges;
use pelton_scenario::platform::HZ_ALLOWED;
use pelton_scenario::policy::RATE_LIMIT_US_MAX;
use std::collections::BTreeSet;

/// Longest run of a table, s.
const DURATION_S_MAX: f64 = 86_400.0;

/// Finds the first thing that the keys of a file allow and that means nothing.
pub(super) fn check(experiment: &Experiment) -> Result<(), Wrong> {
    if experiment.schema != 1 {
        let why = format!("schema {} is not known, this program reads 1", experiment.schema);
        return Err(Wrong::at(&["schema"], why));
    }
    check_count("seeds", Some(experiment.seeds), "seeds")?;
    check_count("default_seeds", experiment.default_seeds, "default_seeds")?;
    check_count("printed_runs", experiment.printed_runs, "printed_runs")?;
    check_duration(experiment.duration_s)?;
    check_hz(experiment.hz)?;
    check_machine(&experiment.machine)?;
    let of_workload =
        |(name, w): (&String, &WorkloadRef)| check_workload(experiment, w).map_err(|e| e.inside(&["workload", name]));
    experiment.workload.iter().try_for_each(of_workload)?;
    let of_variant =
        |(name, v): (&String, &Variant)| check_base(experiment, v).map_err(|e| e.inside(&["variant", name]));
    experiment.variant.iter().try_for_each(of_variant)?;
    let ids = check_rows(experiment)?;
    for (i, claim) in experiment.claim.iter().enumerate() {
        let name = format!("claim `{}`", claim.id);
        check_claim(&ids, claim).map_err(|wrong| wrong.within(&["claim", &i.to_string()], &name))?;
    }
    for (i, beyond) in experiment.beyond.iter().enumerate() {
        let name = format!("beyond `{}`", beyond.id);
        check_beyond(experiment, beyond).map_err(|wrong| wrong.within(&["beyond", &i.to_string()], &name))?;
    }
    check_changes(experiment, "sensitivity", &experiment.sensitivity)?;
    check_changes(experiment, "wrong_world", &experiment.wrong_world)
}

fn check_count(key: &'static str, count: Option<u64>, name: &str) -> Result<(), Wrong> {
    match count.filter(|count| !(1..=SEEDS_MAX).contains(count)) {
        Some(_) => Err(Wrong::at(&[key], format!("{name} must be 1 to {SEEDS_MAX}"))),
        None => Ok(()),
    }
}

fn check_hz(hz: u32) -> Result<(), Wrong> {
    let why = || format!("hz must be one of {}", HZ_ALLOWED.map(|hz| hz.to_string()).join(", "));
    if HZ_ALLOWED.contains(&hz) { Ok(()) } else { Err(Wrong::at(&["hz"], why())) }
}

fn check_rate_limit(us: Option<u64>) -> Result<(), Wrong> {
    match us.filter(|us| *us > RATE_LIMIT_US_MAX) {
        Some(_) => Err(Wrong::at(&["rate_limit_us"], format!("rate_limit_us must be at most {RATE_LIMIT_US_MAX}"))),
        None => Ok(()),
    }
}

fn check_machine(changes: &MachineChanges) -> Result<(), Wrong> {
    match changes.impossible() {
        Some((name, most)) => Err(Wrong::at(&["machine", name], format!("{name} must be at most {most}"))),
        None => Ok(()),
    }
}

fn check_duration(seconds: f64) -> Result<(), Wrong> {
    let good = seconds > 0.0 && seconds <= DURATION_S_MAX;
    let why = || format!("duration_s must be above 0 and at most {DURATION_S_MAX}");
    if good { Ok(()) } else { Err(Wrong::at(&["duration_s"], why())) }
}

fn check_workload(experiment: &Experiment, workload: &WorkloadRef) -> Result<(), Wrong> {
    check_count("seeds", workload.seeds, "seeds of a workload")?;
    check_count("default_seeds", workload.default_seeds, "default_seeds of a workload")?;
    let all = experiment.all_seeds(workload);
    if workload.default_seeds.is_some_and(|default| default > all) {
        let why = format!("default_seeds of a workload must be 1 to {all}, as many as it has seeds");
        return Err(Wrong::at(&["default_seeds"], why));
    }
    workload.duration_s.map_or(Ok(()), check_duration)?;
    match workload.delay_s.iter().find(|(_, s)| !(0.0..=DURATION_S_MAX).contains(*s)) {
        Some((task, _)) => Err(Wrong::at(&["delay_s", task], format!("delay_s must be 0 to {DURATION_S_MAX}"))),
        None => Ok(()),
    }
}

/// Rows and probes; their ids.
fn check_rows(experiment: &Experiment) -> Result<BTreeSet<&str>, Wrong> {
    let mut ids = BTreeSet::new();
    for (i, row) in experiment.row.iter().enumerate() {
        let (i, name) = (i.to_string(), format!("row `{}`", row.id));
        check_row(experiment, row).map_err(|wrong| wrong.within(&["row", &i], &name))?;
        if !ids.insert(row.id.as_str()) {
            return Err(Wrong::at(&["row", &i, "id"], format!("row id `{}` is used twice", row.id)));
        }
    }
    for (i, probe) in experiment.probe.iter().enumerate() {
        let (i, name) = (i.to_string(), format!("probe `{}`", probe.id));
        check_probe(experiment, probe).map_err(|wrong| wrong.within(&["probe", &i], &name))?;
        if !ids.insert(probe.id.as_str()) {
            return Err(Wrong::at(&["probe", &i, "id"], format!("row id `{}` is used twice", probe.id)));
        }
    }
    Ok(ids)
}

fn check_changes(experiment: &Experiment, table: &str, changes: &[Sensitivity]) -> Result<(), Wrong> {
    let unused = |(i, s): (usize, &Sensitivity)| match s.unused(experiment) {
        Some(text) => {
            let why = format!("changed assumption `{}`: nothing in the table has `{text}`", s.name);
            let key = if s.option.contains_key(text) { "option" } else { "only" };
            Err(Wrong::at(&[table, &i.to_string(), key], why))
        }
        None => Ok(()),
    };
    let rate = |(i, s): (usize, &Sensitivity)| {
        let at = [table, &i.to_string()];
        s.hz.map_or(Ok(()), check_hz)
            .and_then(|()| check_machine(&s.machine))
            .and_then(|()| check_rate_limit(s.rate_limit_us))
            .map_err(|wrong| wrong.within(&at, &format!("changed assumption `{}`", s.name)))
    };
    changes.iter().enumerate().try_for_each(rate)?;
    changes.iter().enumerate().try_for_each(unused)
}

fn check_variant(experiment: &Experiment, name: &str) -> Result<(), Wrong> {
    match experiment.variant.contains_key(name) {
        true => Ok(()),
        false => Err(Wrong::at(&["variant"], format!("no variant is called `{name}`"))),
    }
}

fn check_base(experiment: &Experiment, variant: &Variant) -> Result<(), Wrong> {
    match variant.base.as_ref().filter(|name| !experiment.variant.contains_key(*name)) {
        Some(name) => Err(Wrong::at(&["base"], format!("no variant is called `{name}`"))),
        None => Ok(()),
    }
}

fn check_probe(experiment: &Experiment, probe: &Probe) -> Result<(), Wrong> {
    check_workloads(experiment, std::slice::from_ref(&probe.workload))?;
    check_variant(experiment, &probe.variant)?;
    match probe::unit(&probe.quantity) {
        Some(_) => Ok(()),
        None => Err(Wrong::at(&["quantity"], format!("no quantity is called `{}`", probe.quantity))),
    }
}

fn check_workloads(experiment: &Experiment, names: &[String]) -> Result<(), Wrong> {
    if names.is_empty() {
        return Err(Wrong::at(&["workload"], "needs a workload"));
    }
    names.iter().try_for_each(|name| match experiment.workload.contains_key(name) {
        true => Ok(()),
        false => Err(Wrong::at(&["workload"], format!("no workload is called `{name}`"))),
    })
}

fn check_beyond(experiment: &Experiment, beyond: &Beyond) -> Result<(), Wrong> {
    check_workloads(experiment, &beyond.workload)?;
    beyond.variant.iter().try_for_each(|name| check_variant(experiment, name))?;
    let readable = |read: &Read| matches!(read, Read::Run(_) | Read::Domain(_) | Read::Share(_));
    let unknown = |name: &&String| !quantity::find(name).is_some_and(|q| readable(&q.read));
    match beyond.quantity.iter().find(unknown) {
        Some(name) => {
            let why = format!("no quantity of the whole run or of frequency domains is called `{name}`");
            Err(Wrong::at(&["quantity"], why))
        }
        None => Ok(()),
    }
}

fn check_row(experiment: &Experiment, row: &Row) -> Result<(), Wrong> {
    check_variant(experiment, &row.variant)?;
    check_workloads(experiment, row.workload.names())?;
    if row.against.is_some() != row.by.is_some() {
        return Err(Wrong::at(&["against"], "`against` and `by` come together"));
    }
    if let Some(name) = row.against.as_ref().filter(|name| !experiment.variant.contains_key(*name)) {
        return Err(Wrong::at(&["against"], format!("no variant is called `{name}`")));
    }
    if quantity::find(&row.quantity).is_none() && row.not_modelled.is_none() {
        return Err(Wrong::at(&["quantity"], format!("no quantity is called `{}`", row.quantity)));
    }
    Ok(())
}

fn check_claim(ids: &BTreeSet<&str>, claim: &Claim) -> Result<(), Wrong> {
    if let Some(row) = claim.rows().find(|row| !ids.contains(row)) {
        let key = if claim.row == row { "row" } else { "against" };
        let key = if claim.against.as_deref() == Some(row) || key == "row" { key } else { "than" };
        return Err(Wrong::at(&[key], format!("no row is called `{row}`")));
    }
    if claim.against.is_some() != claim.by.is_some() {
        let key = if claim.by.is_some() { "by" } else { "against" };
        return Err(Wrong::at(&[key], "`against` and `by` come together"));
    }
    if claim.than.is_some() && claim.by.is_none() {
        return Err(Wrong::at(&["than"], "`than` needs `against` and `by`"));
    }
    if claim.min.is_none() && claim.max.is_none() {
        return Err(Wrong::at(&["id"], "needs `min`, `max` or both"));
    }
    Ok(())
}
