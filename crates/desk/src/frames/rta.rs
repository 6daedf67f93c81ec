// SPDX-License-Identifier: GPL-2.0-or-later
//! Activations as rt-app reports them.

use super::{Seen, picked, time};
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;
use std::collections::BTreeMap;

/// Activations of all tasks, or of one: configured and real run time, period, slack in us. What a recording does not
/// configure is not known.
pub(super) fn stats(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let tids = rows.u32s("tid");
    let only = seen.question.task.as_ref().map(|_| seen.tid("tid")).transpose()?;
    let places = rows.places(|at| only.is_none_or(|only| only == tids[at]));
    let configured = configured_us(seen, &places)?;
    let us = |name: &str| -> Vec<Option<f64>> {
        let value = |&at: &usize| match rows.0.column(name).map(|column| &column.values) {
            Some(Values::U64(values)) => Some((values[at] / 1000) as f64),
            Some(Values::I64(values)) => Some((values[at] / 1000) as f64),
            _ => None,
        };
        places.iter().map(|at| value(at).filter(|_| rows.is_known(name, *at))).collect()
    };
    let (period, slack) = (us("period_ns"), us("slack_ns"));
    let index = |at: usize| {
        let left = period[at].filter(|&period| period > 0.0)? - configured[at]?;
        (left > 0.0).then_some(slack[at]? / left)
    };
    let index: Vec<Option<f64>> = (0..places.len()).map(index).collect();
    let (run, waited, tids) = (us("run_ns"), us("wakeup_latency_ns"), picked(tids, &places));
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        seen.comms(&tids),
        Column::new("pid", "", "Task.", Values::U32(tids)),
        Column::optional("c_run", "us", "Configured work, at capacity 1024.", &configured),
        Column::optional("c_period", "us", "Configured period; 0: none.", &period),
        Column::optional("run", "us", "Time executing.", &run),
        Column::optional("slack", "us", "Time left to the next period.", &slack),
        Column::optional("wa_lat", "us", "From the wake-up to the first instruction.", &waited),
        Column::optional("perf_index", "", "Slack by the time that the configured work leaves.", &index),
    ]))
}

/// Configured work of some activations; none is known of a trace.
fn configured_us(seen: &Seen<'_>, places: &[usize]) -> Result<Vec<Option<f64>>, LabError> {
    let Some(plan) = seen.subject.plan() else { return Ok(vec![None; places.len()]) };
    let rows = seen.table();
    let (tids, indexes) = (rows.u32s("tid"), rows.u64s("index"));
    let mut rounds: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for &at in places {
        let task = plan.workload.tasks.get((tids[at] as usize).wrapping_sub(1));
        if let (Some(task), false) = (task, rounds.contains_key(&tids[at])) {
            seen.look()?;
            rounds.insert(tids[at], task.configured_ns());
        }
    }
    let one = |&at: &usize| {
        let round = rounds.get(&tids[at]).filter(|round| !round.is_empty())?;
        Some(round[(indexes[at] % round.len() as u64) as usize] as f64 / 1000.0)
    };
    Ok(places.iter().map(one).collect())
}
