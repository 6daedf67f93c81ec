// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded clamps: comparison of the kernel's results with the core's.

use super::inputs::ValidateRequest;
use super::placements::{Rules, has_header, read_through, rules};
use crate::results::again::{ClampFault, ClampFaults, Clamps};
use crate::run::LabError;
use crate::watch::Watch;
use pelton_core::Policy;
use pelton_replay::clamps::{self, Fault, Report, Tally};
use pelton_replay::validate::Verdict;
use std::path::Path;

/// True if this file is a table of clamps. A file that cannot be read is not; its next reader reports the error.
pub fn is_table(path: &Path) -> bool {
    has_header(path, clamps::is_header)
}

/// A table whose clamps were computed again.
#[derive(Debug)]
pub struct Clamped {
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
    let mut clamps = compute(&request.trace, &policy, None, watch)?;
    let verdict = verdict(&clamps.all);
    let result = Clamps {
        trace: request.trace.display().to_string(),
        profile,
        verdict: verdict.word(),
        differences: std::mem::take(&mut clamps.samples),
        clamps,
        remarks: remark.into_iter().collect(),
    };
    Ok(Clamped { result, verdict })
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
