// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded clamps: comparison of the kernel's results with the core's.

use super::placements::{Rules, has_header, read_through, rules};
use super::validate::ValidateRequest;
use crate::results::again::{ClampCounts, ClampDifference, ClampFault, ClampFaults, ClampPart, ClampTally, Clamps};
use crate::run::LabError;
use crate::watch::Watch;
use pelton_core::Policy;
use pelton_replay::clamps::{self, Difference, Fault, Report, Tally};
use pelton_replay::validate::Verdict;
use std::path::Path;

/// True if this file is a table of clamps. A file that cannot be read is not; its next reader reports the error.
pub fn is_table(path: &Path) -> bool {
    has_header(path, clamps::is_header)
}

/// A table whose clamps were computed again.
#[derive(Debug)]
pub struct Clamped {
    /// Findings, with their differences.
    pub report: Report,
    /// Findings as a result.
    pub result: Clamps,
    /// The verdict.
    pub verdict: Verdict,
}

/// A table computed with one wrong rule at a time.
#[derive(Debug)]
pub struct ClampedFaults {
    /// Faults that were noticed.
    pub result: ClampFaults,
    /// Verdict: passes if some fault was noticed.
    pub verdict: Verdict,
}

/// Computes the clamps of a table again.
pub(super) fn validated(request: &ValidateRequest, watch: &dyn Watch) -> Result<Clamped, LabError> {
    let Rules { profile, policy, remark } = rules(request, "clamps")?;
    let report = compute(&request.trace, &policy, None, watch)?;
    let verdict = verdict(&report.all);
    let result = Clamps {
        trace: request.trace.display().to_string(),
        profile,
        clamps: counts(&report),
        verdict: verdict.word(),
        differences: report.samples.iter().map(difference).collect(),
        remarks: remark.into_iter().collect(),
    };
    Ok(Clamped { report, result, verdict })
}

fn compute(path: &Path, policy: &Policy, fault: Option<Fault>, watch: &dyn Watch) -> Result<Report, LabError> {
    read_through("clamps", watch, |at| clamps::validate(path, policy, fault, at))
}

fn verdict(all: &Tally) -> Verdict {
    match all {
        Tally { divergent: 1.., .. } => Verdict::Differs,
        Tally { decisions, not_decided, .. } if decisions == not_decided => Verdict::Open,
        _ => Verdict::Holds,
    }
}

fn counted(tally: &Tally) -> ClampTally {
    let Tally { decisions, not_decided, divergent } = *tally;
    ClampTally { decisions, not_decided, divergent }
}

fn counts(report: &Report) -> ClampCounts {
    let by_kind = report.by_kind.iter().map(|(kind, tally)| (*kind, counted(tally))).collect();
    ClampCounts { all: counted(&report.all), by_kind }
}

fn difference(sample: &Difference) -> ClampDifference {
    let part = |&(what, kernel, ours): &(&'static str, u64, u64)| ClampPart { what, kernel, ours };
    ClampDifference {
        line: sample.line,
        time_ns: sample.time_ns,
        cpu: sample.cpu,
        tid: sample.tid,
        kind: sample.kind,
        what: sample.what.iter().map(part).collect(),
    }
}

/// Counts, for each wrong rule in turn, the clamps that differ because of it.
pub(super) fn self_test(request: &ValidateRequest, watch: &dyn Watch) -> Result<ClampedFaults, LabError> {
    let Rules { profile, policy, .. } = rules(request, "clamps")?;
    let path = &request.trace;
    let (mut faults, mut found) = (Vec::new(), 0);
    let sound = compute(path, &policy, None, watch)?.all.divergent;
    for fault in Fault::ALL {
        let divergent = compute(path, &policy, Some(fault), watch)?.all.divergent;
        let noticed = divergent > sound;
        found += u32::from(noticed);
        faults.push(ClampFault { fault: fault.words(), found: noticed, divergent });
    }
    let verdict = if found == 0 { Verdict::Open } else { Verdict::Holds };
    let trace = path.display().to_string();
    Ok(ClampedFaults { result: ClampFaults { trace, profile, faults, found }, verdict })
}
