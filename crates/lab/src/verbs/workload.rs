// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads made from traces.

use super::recorded::{self, PartRequest, Platform};
use crate::run::LabError;
use crate::watch::Watch;
use pelton_model::Workload;
use pelton_model::workload::GroupSpec;
use pelton_replay::workload::{self, Habits, Pin, SynthesisOptions, WriteOptions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Request: the trace to make a workload of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FromTraceRequest {
    /// The trace.
    pub trace: PathBuf,
    /// Part of the trace, and the machine it was recorded on.
    pub part: PartRequest,
    /// Fold repeated activations into loops with mean amounts.
    pub model: bool,
}

/// An rt-app file that does what the tasks of a trace did.
///
/// # Errors
/// When the trace cannot be read, has no such task, or an rt-app file cannot say it.
pub fn from_trace(request: &FromTraceRequest, watch: &dyn Watch) -> Result<String, LabError> {
    let part = &request.part;
    let read = recorded::read(part, &request.trace, 0, watch)?;
    let recorded = &read.recorded;
    let other = part.platform.as_deref().map(Platform::named);
    let machine = recorded::machine(other.as_ref().unwrap_or(&read.platform))?.machine;
    let habits = Habits::of(&recorded.recording);
    let options = SynthesisOptions {
        only: part.tasks.clone(),
        pin: if part.pin { Pin::Itself } else { Pin::Free },
        ..SynthesisOptions::default()
    };
    let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machine, &options);
    let wrong = |what: &str| LabError::input(format!("{}: {what}", request.trace.display()));
    if made.workload.tasks.is_empty() {
        return Err(wrong("no task is left: see --task, --from and --to"));
    }
    made.notes.iter().chain(&recorded::notes(&read)).for_each(|note| watch.note(note));
    if let Some(note) = files_left_out(&made.workload) {
        watch.note(&note);
    }
    let text = workload::write_rtapp(&made.workload, &machine, WriteOptions { model: request.model });
    text.map_err(|what| wrong(&what.to_string()))
}

/// An rt-app file names the groups of tasks, and has no word for what their files hold.
fn files_left_out(w: &Workload) -> Option<String> {
    let held = w
        .groups
        .iter()
        .filter(|group| **group != GroupSpec { path: group.path.clone(), ..GroupSpec::default() })
        .map(|group| group.path.as_str());
    let paths: BTreeSet<&str> = held.chain(w.group_changes.iter().map(|change| change.path.as_str())).collect();
    let paths: Vec<&str> = paths.into_iter().collect();
    (!paths.is_empty()).then(|| {
        format!(
            "left out, an rt-app file has no weights, quotas and clamps of task groups: those of {}; give them beside the \
             file, as in 'FILE.json + group:path={},cpu.weight=...'",
            paths.join(", "),
            paths[0]
        )
    })
}
