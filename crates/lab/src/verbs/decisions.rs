// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded decisions of the core as a scheduler: comparison of what the running kernel computed with the core here.

use super::inputs::ValidateRequest;
use super::placements::read_through;
use crate::results::again::{DecisionFault, DecisionFaults, Decisions};
use crate::run::{self, LabError};
use crate::watch::Watch;
use pelton_replay::decisions::{self, Fault, Recording, Report, Tally};
use pelton_replay::validate::Verdict;
use std::path::Path;

/// True if this is the folder of such a recording, or its `live.json`.
pub fn is_recording(path: &Path) -> bool {
    decisions::folder_of(path).is_some()
}

/// A recording whose decisions were taken again.
#[derive(Debug)]
pub struct Decided {
    /// Findings as a result.
    pub result: Decisions,
    /// The verdict.
    pub verdict: Verdict,
}

/// A recording with one wrong rule at a time.
#[derive(Debug)]
pub struct DecidedFaults {
    /// Faults that were noticed.
    pub result: DecisionFaults,
    /// Verdict: passes if some fault was noticed.
    pub verdict: Verdict,
}

/// Refuses what means nothing to a recording that has its machine and its policies.
fn check(request: &ValidateRequest) -> Result<(), LabError> {
    let unused = [
        ("--profile", request.profile.is_some()),
        ("--platform", request.platform.is_some()),
        ("--with", !request.with.is_empty()),
        ("--input-format", request.input_format.is_some()),
        ("--distinguish", request.distinguish_ns.is_some()),
    ];
    let Some((option, _)) = unused.iter().find(|(_, given)| *given) else { return Ok(()) };
    let reason = format!("{option} means nothing to a recording of `pelton live` ({})", request.trace.display());
    Err(LabError::refused(run::Fault::Request, reason, "it has the machine and the policy that ran"))
}

/// Takes the decisions of a recording again.
pub(super) fn validated(request: &ValidateRequest, watch: &dyn Watch) -> Result<Decided, LabError> {
    check(request)?;
    let machine = Recording::open(&request.trace, None).map_err(LabError::input)?.machine;
    let mut decisions = again(request, None, watch)?;
    let verdict = verdict(&decisions.all);
    let result = Decisions {
        trace: request.trace.display().to_string(),
        release: machine.release,
        profile: machine.programs[0].profile.clone(),
        programs: machine.programs.len(),
        lost: machine.lost,
        verdict: verdict.word(),
        differences: std::mem::take(&mut decisions.samples),
        decisions,
    };
    Ok(Decided { result, verdict })
}

fn again(request: &ValidateRequest, fault: Option<&Fault>, watch: &dyn Watch) -> Result<Report, LabError> {
    read_through("decisions", watch, |at| decisions::validate(&request.trace, fault, at))
}

fn verdict(all: &Tally) -> Verdict {
    match all {
        Tally { divergent: 1.., .. } => Verdict::Differs,
        Tally { decisions, not_decided, .. } if decisions == not_decided => Verdict::Nothing,
        // A row that another CPU wrote meanwhile says nothing: a machine that is busy all the time has more of them.
        _ => Verdict::Holds,
    }
}

/// Counts, for each wrong rule in turn, the decisions that differ because of it.
pub(super) fn self_test(request: &ValidateRequest, watch: &dyn Watch) -> Result<DecidedFaults, LabError> {
    check(request)?;
    let sound = again(request, None, watch)?.all.divergent;
    let (mut faults, mut found) = (Vec::new(), 0);
    for fault in &Fault::ALL {
        let divergent = again(request, Some(fault), watch)?.all.divergent;
        let noticed = divergent > sound;
        found += u32::from(noticed);
        faults.push(DecisionFault { fault: fault.words, found: noticed, divergent });
    }
    let verdict = if found == 0 { Verdict::Open } else { Verdict::Holds };
    Ok(DecidedFaults { result: DecisionFaults { trace: request.trace.display().to_string(), faults, found }, verdict })
}
