// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers beyond a posting: other variants on its workloads.

use super::file::Beyond;
use super::numbers::Reports;
use super::table::{BeyondResult, BeyondRow, BeyondValue};
use crate::measure::quantity::{self, Quantity, Read};
use crate::measure::stats;
use crate::round;
use crate::run::ExperimentError;

/// One table per workload.
pub fn collect(beyond: &Beyond, reports: &Reports) -> Result<Vec<BeyondResult>, ExperimentError> {
    beyond.workload.iter().map(|workload| of_workload(beyond, workload, reports)).collect()
}

fn of_workload(beyond: &Beyond, workload: &str, reports: &Reports) -> Result<BeyondResult, ExperimentError> {
    let first =
        beyond.variant.first().and_then(|variant| reports.get(&(variant.clone(), workload.to_owned()))?.first());
    let domains: Vec<&str> = first.map(|r| r.domains.iter().map(|d| d.name.as_str()).collect()).unwrap_or_default();
    let named = beyond.quantity.iter().filter_map(|name| quantity::find(name));
    let quantities: Vec<Column> = named.flat_map(|q| columns(q, &domains)).collect();
    let all = beyond.variant.iter().map(|variant| samples(beyond, variant, workload, &quantities, reports));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let row = |(i, variant): (usize, &String)| {
        let value = |(j, q): (usize, &Column)| value(q, &all[i][j], (i > 0).then(|| all[0][j].as_slice()));
        BeyondRow { variant: variant.clone(), values: quantities.iter().enumerate().filter_map(value).collect() }
    };
    let rows = beyond.variant.iter().enumerate().map(row).collect();
    Ok(BeyondResult { id: beyond.id.clone(), why: beyond.why.clone(), workload: workload.to_owned(), rows })
}

/// A quantity, and the domain it is about; none for one of the whole run.
#[derive(Clone, Copy)]
struct Column<'a> {
    q: &'static Quantity,
    of: Option<&'a str>,
}

/// One column, or one per domain.
fn columns<'a>(q: &'static Quantity, domains: &[&'a str]) -> Vec<Column<'a>> {
    match q.read {
        Read::Run(_) => vec![Column { q, of: None }],
        _ => domains.iter().map(|&domain| Column { q, of: Some(domain) }).collect(),
    }
}

/// Per quantity one number per seed.
fn samples(
    beyond: &Beyond,
    variant: &str,
    workload: &str,
    quantities: &[Column<'_>],
    reports: &Reports,
) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let runs = reports.get(&(variant.to_owned(), workload.to_owned())).map_or(&[][..], Vec::as_slice);
    let of = |&Column { q, of }: &Column<'_>| {
        let read: Option<Vec<f64>> = runs.iter().map(|report| q.read(report, of)).collect();
        read.filter(|s| !s.is_empty()).ok_or_else(|| {
            ExperimentError(format!("beyond `{}`: {variant} with {workload} has no `{}`", beyond.id, q.name))
        })
    };
    quantities.iter().map(of).collect()
}

fn value(&Column { q, of }: &Column<'_>, samples: &[f64], base: Option<&[f64]>) -> Option<BeyondValue> {
    let rounded = |(lo, hi): (f64, f64)| (round(lo), round(hi));
    Some(BeyondValue {
        quantity: q.name.to_owned(),
        of: of.map(str::to_owned),
        unit: q.unit.to_owned(),
        mean: round(stats::mean(samples)?),
        ci95: stats::mean_ci95(samples).map(rounded),
        change_ci95: base.and_then(|base| stats::paired_change_ci95(base, samples)).map(rounded),
    })
}
