// SPDX-License-Identifier: GPL-2.0-or-later
//! Activations as rt-app reports them.

use super::{Seen, picked, time};
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;

/// Activations of all tasks, or of one: configured and real run time, period, slack in us. What a recording does not
/// configure is not known.
pub(super) fn stats(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let tids = rows.u32s("tid");
    let only = seen.question.task.as_ref().map(|_| seen.tids()).transpose()?;
    let places = rows.places(|at| only.as_ref().is_none_or(|only| only.contains(&tids[at])));
    let configured: Vec<Option<f64>> = places.iter().map(|&at| configured_us(seen, at)).collect();
    let us = |ns: Vec<u64>| -> Vec<u64> { ns.into_iter().map(|ns| ns / 1000).collect() };
    let period = us(picked(rows.u64s("period_ns"), &places));
    let slack: Vec<i64> = picked(rows.i64s("slack_ns"), &places).into_iter().map(|ns| ns / 1000).collect();
    let index = |at: usize| {
        let left = period[at] as f64 - configured[at]?;
        (period[at] > 0 && left > 0.0).then(|| slack[at] as f64 / left)
    };
    let index: Vec<Option<f64>> = (0..places.len()).map(index).collect();
    let run = us(picked(rows.u64s("run_ns"), &places));
    let waited = us(picked(rows.u64s("wakeup_latency_ns"), &places));
    let tids = picked(tids, &places);
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        seen.comms(&tids),
        Column::new("pid", "", "Task.", Values::U32(tids)),
        Column::optional("c_run", "us", "Configured work, at capacity 1024.", &configured),
        Column::new("c_period", "us", "Configured period; 0: none.", Values::U64(period)),
        Column::new("run", "us", "Time executing.", Values::U64(run)),
        Column::new("slack", "us", "Time left to the next period.", Values::I64(slack)),
        Column::new("wa_lat", "us", "From the wake-up to the first instruction.", Values::U64(waited)),
        Column::optional("perf_index", "", "Slack by the time that the configured work leaves.", &index),
    ]))
}

fn configured_us(seen: &Seen<'_>, at: usize) -> Option<f64> {
    let rows = seen.table();
    let task = seen.subject.plan()?.workload.tasks.get((rows.u32s("tid")[at] as usize).checked_sub(1)?)?;
    let round = task.configured_ns();
    let index = rows.u64s("index")[at] as usize;
    (!round.is_empty()).then(|| round[index % round.len()] as f64 / 1000.0)
}
