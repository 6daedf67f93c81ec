// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of the running kernel, a line each.

use super::RecordFiles;
use super::work::{Work, cannot, goes_first};
use crate::results::balances::{BalanceCounts, BalanceKind, BalancesRecorded, LoadFigures};
use crate::results::recorded::{ClampsRecorded, GatesRecorded, PlacementsRecorded};
use crate::run::LabError;
use crate::watch::Watch;
use pelton_live::loads::Results;
use pelton_live::{
    BalanceSession, BalanceSummary, ClampSession, GateSession, KINDS, PlacementSession, TableSession, TableSummary,
};

/// Shares of a load's figures that are reported, of 1000.
const QUANTILES: [usize; 5] = [500, 750, 900, 950, 990];

/// Lets a session, whose records are called `what`, fill its table. Where that `settles`, a load runs for a moment
/// before it counts.
fn fill<S: TableSession>(
    mut session: S,
    what: &str,
    work: &mut Work<'_>,
    settles: bool,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<S::Summary, LabError> {
    files.begin(None)?;
    files.line(&session.header());
    work.start(watch)?;
    if session.has_records() {
        goes_first();
    }
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
    work: &mut Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<PlacementsRecorded, LabError> {
    let session = PlacementSession::start().map_err(cannot)?;
    let TableSummary { cpus, records, lost, seconds, machine } =
        fill(session, "placements", work, false, files, watch)?;
    let files = files.end(machine.as_deref())?.files;
    Ok(PlacementsRecorded { files, cpus, decisions: records, lost, seconds, notes: work.notes() })
}

/// Records what clamps come to.
pub(super) fn clamps(
    work: &mut Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<ClampsRecorded, LabError> {
    let session = ClampSession::start().map_err(cannot)?;
    let TableSummary { cpus, records, lost, seconds, machine } =
        fill(session, "decisions about clamps", work, false, files, watch)?;
    let file = files.end(machine.as_deref())?.files.join(", ");
    Ok(ClampsRecorded { file, cpus, records, lost, seconds, notes: work.notes() })
}

/// Records gates of balances.
pub(super) fn gates(
    work: &mut Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<GatesRecorded, LabError> {
    let session = GateSession::start().map_err(cannot)?;
    let TableSummary { cpus, records, lost, seconds, machine } = fill(session, "gates", work, true, files, watch)?;
    let (files, workload) = (files.end(machine.as_deref())?.files, work.workload());
    Ok(GatesRecorded { files, workload, cpus, decisions: records, lost, seconds, notes: work.notes() })
}

/// Counts balances, and records their searches where there is a `table`.
pub(super) fn balances(
    work: &mut Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
    table: bool,
) -> Result<BalancesRecorded, LabError> {
    let session = BalanceSession::start(table).map_err(cannot)?;
    let summary = fill(session, "searches", work, true, files, watch)?;
    let written = files.end(table.then_some(&summary.machine))?;
    let results = work.results();
    Ok(BalancesRecorded {
        files: written.files,
        workload: work.workload(),
        cpus: summary.cpus,
        decisions: summary.decisions,
        lost: summary.lost,
        counts: counts(&summary),
        load: figures(&results),
        notes: work.notes().into_iter().chain(results.notes()).collect(),
    })
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
