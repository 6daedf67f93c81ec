// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers of rows and claims, out of the reports of an experiment.

use super::file::{Claim, Comparison, Row};
use crate::measure::{quantity, stats};
use crate::run::ExperimentError;
use pelton_sim::Report;
use std::collections::BTreeMap;

/// Reports of one experiment: one per seed, by (variant, workload).
pub type Reports = BTreeMap<(String, String), Vec<Report>>;

/// One number per seed: the row's, or its change from the variant it is compared with.
pub(super) fn samples(row: &Row, reports: &Reports) -> Result<Vec<f64>, ExperimentError> {
    let ours = samples_of(row, &row.variant, reports)?;
    let (Some(against), Some(by)) = (&row.against, row.by) else { return Ok(ours) };
    let base = samples_of(row, against, reports)?;
    let changes = ours.iter().zip(&base).map(|(&value, &base)| compare(by, base, value)).collect::<Option<Vec<_>>>();
    changes.ok_or_else(|| ExperimentError(format!("row `{}`: no change from 0", row.id)))
}

/// One number per seed of a variant.
pub(super) fn samples_of(row: &Row, variant: &str, reports: &Reports) -> Result<Vec<f64>, ExperimentError> {
    let read = || -> Option<Vec<f64>> {
        let quantity = quantity::find(&row.quantity)?;
        let of_one = |workload: &String| -> Option<Vec<f64>> {
            let runs = reports.get(&(variant.to_owned(), workload.clone()))?;
            runs.iter().map(|r| quantity.read(r, row.of.as_deref())).collect()
        };
        let all = row.workload.names().iter().map(of_one).collect::<Option<Vec<_>>>()?;
        let seeds = all.iter().map(Vec::len).min()?;
        (0..seeds).map(|i| stats::mean(&all.iter().map(|of| of[i]).collect::<Vec<_>>())).collect()
    };
    let of = row.of.as_deref().unwrap_or("the run");
    let missing = || ExperimentError(format!("row `{}`: no report has `{}` of {of}", row.id, row.quantity));
    read().filter(|s| !s.is_empty()).ok_or_else(missing)
}

/// The number lies where the claim says.
pub(super) fn holds(claim: &Claim, value: f64) -> bool {
    claim.min.is_none_or(|min| value >= min) && claim.max.is_none_or(|max| value <= max)
}

/// The number a claim is about, from the numbers of rows and probes.
pub(super) fn claim_value(claim: &Claim, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let (Some(base), Some(by)) = (&claim.against, claim.by) else { return of(&claim.row) };
    let compared = |row: &str, base: &str| compare(by, of(base)?, of(row)?);
    let value = compared(&claim.row, base)?;
    match &claim.than {
        Some(than) => Some(value - compared(&than.row, &than.against)?),
        None => Some(value),
    }
}

/// A number compared with another one; `None`: no change from 0.
pub(super) fn compare(by: Comparison, base: f64, value: f64) -> Option<f64> {
    match by {
        Comparison::ChangePercent => stats::percent_change(base, value),
        Comparison::Difference => Some(value - base),
    }
}
