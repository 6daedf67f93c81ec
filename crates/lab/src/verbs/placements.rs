// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded placements: comparison of the kernel's choice of CPUs with the core's.

use super::inputs::ValidateRequest;
use crate::results::again::{PlacementFault, PlacementFaults, Placements};
use crate::run::{self, LabError};
use crate::watch::{Amount, Watch, is_stopped};
use pelton_core::{Policy, rules_of_release};
use pelton_replay::placements::{self, Fault, Report, Tally, Topology};
use pelton_replay::validate::Verdict;
use pelton_trace::import::{ImportError, open_bytes};
use std::io::BufRead;
use std::path::Path;

/// The kernel whose placements the shipped recordings hold.
const NEWEST: &str = "7.2";

/// True if this file is a table of placements, or of searches of balances. A file that cannot be read is not; its next
/// reader reports the error.
pub fn is_table(path: &Path) -> bool {
    has_header(path, placements::is_header)
}

/// True if `is_header` accepts the beginning of this file.
pub(super) fn has_header(path: &Path, is_header: fn(&[u8]) -> bool) -> bool {
    if path.as_os_str() == "-" {
        return false;
    }
    let Ok(mut bytes) = open_bytes(path) else { return false };
    bytes.fill_buf().is_ok_and(is_header)
}

/// A table whose placements were decided again.
#[derive(Debug)]
pub struct Placed {
    /// Findings as a result.
    pub result: Placements,
    /// The verdict.
    pub verdict: Verdict,
}

/// A table with one wrong world at a time put into it.
#[derive(Debug)]
pub struct PlacedFaults {
    /// Faults that were noticed.
    pub result: PlacementFaults,
    /// Verdict: passes if some fault was noticed.
    pub verdict: Verdict,
}

/// The rules of a table.
pub(super) struct Rules {
    /// Name of the profile or stable release.
    pub profile: String,
    /// Its switches.
    pub policy: Policy,
    /// Reason why these rules were chosen, where the user did not choose.
    pub remark: Option<String>,
}

/// The rules for a table of `what`: those asked for, or of the kernel that is named beside the table, or the newest.
pub(super) fn rules(request: &ValidateRequest, what: &str) -> Result<Rules, LabError> {
    let unused = [
        ("--platform", request.platform.is_some()),
        ("--with", !request.with.is_empty()),
        ("--distinguish", request.distinguish_ns.is_some()),
    ];
    if let Some((option, _)) = unused.iter().find(|(_, given)| *given) {
        let reason = format!("{option} means nothing to a table of {what} ({})", request.trace.display());
        return Err(LabError::refused(run::Fault::Request, reason, "the table has all that is needed, or names it"));
    }
    // A machine that cannot be read is the business of whoever reads the table.
    let beside = Topology::read(&placements::beside(&request.trace)).ok();
    let (profile, remark) = match (&request.profile, beside.and_then(|machine| named(machine.release(), "table"))) {
        (Some(profile), _) => (profile.clone(), None),
        (None, Some((profile, remark))) => (profile, Some(remark)),
        (None, None) => {
            let remark = "the table does not name its kernel; give --profile when it is another";
            (NEWEST.to_owned(), Some(remark.to_owned()))
        }
    };
    let policy = Policy::profile(&profile).map_err(LabError::input)?;
    Ok(Rules { profile, policy, remark })
}

/// The rules for a kernel that `what` names, and why these.
pub(super) fn named(release: &str, what: &str) -> Option<(String, String)> {
    let rules = rules_of_release(release)?;
    let (release, name) = (release.split([' ', '+', '-']).next().unwrap_or(release), rules.name);
    let near = if rules.exact { "" } else { ", whose own text was not read" };
    let remark = format!("profile {name} because the {what} names kernel {release}{near}");
    Some((name, remark))
}

/// Decides the placements of a table again.
pub(super) fn validated(request: &ValidateRequest, watch: &dyn Watch) -> Result<Placed, LabError> {
    let rules = rules(request, "placements")?;
    let report = decide(&request.trace, &rules.policy, None, watch)?;
    let verdict = verdict(&report);
    Ok(Placed { result: result(request, rules, report), verdict })
}

fn decide(path: &Path, policy: &Policy, fault: Option<Fault>, watch: &dyn Watch) -> Result<Report, LabError> {
    read_through("placements", watch, |at| placements::validate(path, policy, fault, at))
}

/// Reads a table from its first line to its last, and says where; it can be stopped. `read` calls what it gets with the
/// line it is at, and ends when that says false.
pub(super) fn read_through<R>(
    what: &str,
    watch: &dyn Watch,
    read: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> Result<R, ImportError>,
) -> Result<R, LabError> {
    watch.begins(what, Amount::Time(0));
    let mut stopped = false;
    let report = read(&mut |line| {
        watch.at(&format!("line {line}"));
        stopped = is_stopped(watch);
        !stopped
    });
    watch.ends();
    if stopped {
        return Err(LabError::Stopped("interrupted: no result".to_owned()));
    }
    report.map_err(LabError::input)
}

fn verdict(report: &Report) -> Verdict {
    match report.all {
        Tally { quiet_divergent: 1.., .. } => Verdict::Differs,
        Tally { quiet: 0, .. } => Verdict::Open,
        _ => Verdict::Holds,
    }
}

fn result(request: &ValidateRequest, rules: Rules, mut placements: Report) -> Placements {
    Placements {
        trace: request.trace.display().to_string(),
        of: placements.of.word(),
        profile: rules.profile,
        verdict: verdict(&placements).word(),
        differences: std::mem::take(&mut placements.samples),
        placements,
        remarks: rules.remark.into_iter().collect(),
    }
}

/// Counts, for each wrong world in turn, the quiet placements that differ because of it.
pub(super) fn self_test(request: &ValidateRequest, watch: &dyn Watch) -> Result<PlacedFaults, LabError> {
    let Rules { profile, policy, .. } = rules(request, "placements")?;
    let path = &request.trace;
    let (mut faults, mut found) = (Vec::new(), 0);
    let sound = decide(path, &policy, None, watch)?.all.quiet_divergent;
    for fault in Fault::ALL {
        let quiet_divergent = decide(path, &policy, Some(fault), watch)?.all.quiet_divergent;
        let noticed = quiet_divergent > sound;
        found += u32::from(noticed);
        faults.push(PlacementFault { fault: fault.words(), found: noticed, quiet_divergent });
    }
    let verdict = if found == 0 { Verdict::Open } else { Verdict::Holds };
    let trace = path.display().to_string();
    Ok(PlacedFaults { result: PlacementFaults { trace, profile, faults, found }, verdict })
}
