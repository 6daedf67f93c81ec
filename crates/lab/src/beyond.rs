// SPDX-License-Identifier: GPL-2.0-only
//! Numbers beyond a posting: other variants on its workloads.

use crate::experiment::{Beyond, ExperimentError};
use crate::judge::Reports;
use crate::quantity::{self, Quantity};
use crate::table::{BeyondResult, BeyondRow, BeyondValue};
use crate::{round, stats};

/// One table per workload.
pub fn collect(beyond: &Beyond, reports: &Reports) -> Result<Vec<BeyondResult>, ExperimentError> {
    beyond.workload.iter().map(|workload| of_workload(beyond, workload, reports)).collect()
}

fn of_workload(beyond: &Beyond, workload: &str, reports: &Reports) -> Result<BeyondResult, ExperimentError> {
    let quantities: Vec<&Quantity> = beyond.quantity.iter().filter_map(|name| quantity::find(name)).collect();
    let all = beyond.variant.iter().map(|variant| samples(beyond, variant, workload, &quantities, reports));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let row = |(i, variant): (usize, &String)| {
        let value = |(j, q): (usize, &&Quantity)| value(q, &all[i][j], (i > 0).then(|| all[0][j].as_slice()));
        BeyondRow { variant: variant.clone(), values: quantities.iter().enumerate().filter_map(value).collect() }
    };
    let rows = beyond.variant.iter().enumerate().map(row).collect();
    Ok(BeyondResult { id: beyond.id.clone(), why: beyond.why.clone(), workload: workload.to_owned(), rows })
}

/// Per quantity one number per seed.
fn samples(
    beyond: &Beyond,
    variant: &str,
    workload: &str,
    quantities: &[&Quantity],
    reports: &Reports,
) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let runs = reports.get(&(variant.to_owned(), workload.to_owned())).map_or(&[][..], Vec::as_slice);
    let of = |q: &&Quantity| {
        let read: Option<Vec<f64>> = runs.iter().map(|report| q.read(report, None)).collect();
        read.filter(|s| !s.is_empty()).ok_or_else(|| {
            ExperimentError(format!("beyond `{}`: {variant} with {workload} has no `{}`", beyond.id, q.name))
        })
    };
    quantities.iter().map(of).collect()
}

fn value(q: &Quantity, samples: &[f64], base: Option<&[f64]>) -> Option<BeyondValue> {
    let rounded = |(lo, hi): (f64, f64)| (round(lo), round(hi));
    Some(BeyondValue {
        quantity: q.name.to_owned(),
        unit: q.unit.to_owned(),
        mean: round(stats::mean(samples)?),
        ci95: stats::mean_ci95(samples).map(rounded),
        change_ci95: base.and_then(|base| stats::paired_change_ci95(base, samples)).map(rounded),
    })
}
