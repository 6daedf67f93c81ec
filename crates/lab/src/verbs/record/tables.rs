// SPDX-License-Identifier: GPL-2.0-only
//! Decisions of the running kernel, a line each.

use super::work::{Work, cannot};
use super::{RecordFiles, RecordRequest, Recorded, Report};
use crate::results::balances::{BalanceCounts, BalanceKind, BalancesRecorded, LoadFigures};
use crate::results::traces::{ClampsRecorded, GatesRecorded, PlacementsRecorded};
use crate::run::LabError;
use crate::watch::Watch;
use pelton_live::loads::Results;
use pelton_live::{BalanceSession, BalanceSummary, ClampSession, GateSession, KINDS, PlacementSession, TableSession};

/// Shares of a load's figures that are told, of 1000.
const QUANTILES: [usize; 5] = [500, 750, 900, 950, 990];

/// Lets a session, whose records are called `what`, fill its table. A load runs for `settles_ns` before it counts.
fn fill<S: TableSession>(
    mut session: S,
    what: &str,
    work: &mut Work<'_>,
    settles: bool,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<S::Summary, LabError> {
    files.begin(&pelton_live::header(env!("CARGO_PKG_VERSION"), ""))?;
    files.line(&session.header());
    work.start(watch)?;
    let settles_ns = if settles { work.settles_ns() } else { 0 };
    let mut settled = false;
    work.last(settles_ns, watch, files, |files, elapsed_ns| {
        if !settled && elapsed_ns >= settles_ns {
            session.settled().map_err(cannot)?;
            settled = true;
        }
        Ok(format!("{} {what}", session.poll(&mut |line| files.line(line))))
    })?;
    session.finish(&mut |line| files.line(line)).map_err(cannot)
}

/// Records placements.
pub(super) fn placements(
    _: &RecordRequest,
    mut work: Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<Recorded, LabError> {
    let session = PlacementSession::start().map_err(cannot)?;
    let summary = fill(session, "placements", &mut work, false, files, watch)?;
    let report = PlacementsRecorded {
        files: files.end(Some(&summary.machine))?.files,
        cpus: summary.cpus,
        decisions: summary.decisions,
        lost: summary.lost,
        seconds: summary.seconds,
        notes: work.notes(),
    };
    Ok(Recorded { report: Report::Placements(report), command_code: work.code })
}

/// Records what clamps come to.
pub(super) fn clamps(
    _: &RecordRequest,
    mut work: Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<Recorded, LabError> {
    let session = ClampSession::start().map_err(cannot)?;
    let summary = fill(session, "decisions about clamps", &mut work, false, files, watch)?;
    let report = ClampsRecorded {
        file: files.end(None)?.files.join(", "),
        cpus: summary.cpus,
        records: summary.records,
        lost: summary.lost,
        seconds: summary.seconds,
        notes: work.notes(),
    };
    Ok(Recorded { report: Report::Clamps(report), command_code: work.code })
}

/// Records gates of balances.
pub(super) fn gates(
    request: &RecordRequest,
    mut work: Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<Recorded, LabError> {
    let session = GateSession::start().map_err(cannot)?;
    let summary = fill(session, "gates", &mut work, true, files, watch)?;
    let report = GatesRecorded {
        files: files.end(Some(&summary.machine))?.files,
        workload: request.workload(),
        cpus: summary.cpus,
        decisions: summary.decisions,
        lost: summary.lost,
        seconds: summary.seconds,
        notes: work.notes(),
    };
    Ok(Recorded { report: Report::Gates(report), command_code: work.code })
}

/// Counts balances, and records their searches where there is a `table`.
pub(super) fn balances(
    request: &RecordRequest,
    mut work: Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
    table: bool,
) -> Result<Recorded, LabError> {
    let session = BalanceSession::start(table).map_err(cannot)?;
    let summary = fill(session, "searches", &mut work, true, files, watch)?;
    let written = files.end(table.then_some(&summary.machine))?;
    let results = work.results();
    let report = BalancesRecorded {
        files: written.files,
        workload: request.workload(),
        cpus: summary.cpus,
        decisions: summary.decisions,
        lost: summary.lost,
        counts: counts(&summary),
        load: figures(&results),
        notes: work.notes().into_iter().chain(results.notes()).collect(),
    };
    Ok(Recorded { report: Report::Balances(Box::new(report)), command_code: work.code })
}

fn counts(summary: &BalanceSummary) -> BalanceCounts {
    let counts = &summary.counts;
    let kinds = KINDS.iter().zip(&counts.kinds).map(|(name, kind)| BalanceKind {
        kind: name,
        balances: kind.balances,
        pulls: kind.pulls,
        detached: kind.detached,
        spent_ns: kind.spent_ns,
    });
    let runnable_ns: Vec<Vec<u64>> = counts.runnable_ns.iter().map(|times| times.to_vec()).collect();
    BalanceCounts::new(summary.seconds, kinds.collect(), counts.asked, &runnable_ns)
}

fn figures(results: &Results) -> Vec<LoadFigures> {
    let one = |(name, all): (&'static str, Vec<f64>)| LoadFigures {
        name,
        count: all.len() as u64,
        quantiles: QUANTILES.iter().map(|share| all[(all.len() * share / 1000).min(all.len() - 1)]).collect(),
        max: all[all.len() - 1],
    };
    results.sorted().into_iter().filter(|(_, all)| !all.is_empty()).map(one).collect()
}
