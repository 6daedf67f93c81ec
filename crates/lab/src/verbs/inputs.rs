// SPDX-License-Identifier: GPL-2.0-or-later
//! Inputs that several requests share: platform, workload and policy; a trace and the rules it is held against.

use crate::plan::{self, Inputs, PolicySpec, Prepared};
use crate::run::{Fault, LabError};
use crate::watch::Watch;
use pelton_trace::import::{Format, OpenOptions, Source, open};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Platform, workload and machine options: everything a simulation needs but its policy and seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputRequest {
    /// Platform name or TOML file.
    pub platform: String,
    /// The platform file's text, where `platform` only names it: for callers without files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_text: Option<String>,
    /// rt-app JSON file or model; several are joined by `+`.
    pub workload: String,
    /// The rt-app file's text, where `workload` only names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_text: Option<String>,
    /// Simulated time, ns; none = what the workload asks for.
    pub duration_ns: Option<u64>,
    /// Timer interrupts per second; none = 250.
    pub hz: Option<u32>,
    /// schedutil's `rate_limit_us`; none = the profile's rule.
    pub rate_limit_us: Option<u64>,
    /// Task group that everything runs in; none = the root.
    pub group: Option<String>,
    /// Values of template words of rt-app files.
    pub defines: BTreeMap<String, String>,
}

/// Request: trace to validate, and the rules to apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ValidateRequest {
    /// The trace, or a table of placements.
    pub trace: PathBuf,
    /// Kernel whose rules are used; none = the one the trace names, or 7.2.
    pub profile: Option<String>,
    /// Platform for capacities, frequency tables and energies; none = what the trace shows.
    pub platform: Option<String>,
    /// Other files of the same recording.
    pub with: Vec<PathBuf>,
    /// Kind of the trace, when its content does not show it.
    pub input_format: Option<String>,
    /// Put faults into the trace instead.
    pub self_test: bool,
    /// Longest search for other values of switches that the trace refutes, ns; `None`: no search.
    pub distinguish_ns: Option<u64>,
}

impl InputRequest {
    /// Inputs of a plan.
    pub fn inputs(&self, seed: u64, random_phase: bool) -> Inputs {
        Inputs {
            platform: self.platform.clone(),
            platform_text: self.platform_text.clone(),
            workload: self.workload.clone(),
            workload_text: self.workload_text.clone(),
            seed,
            duration_ns: self.duration_ns,
            hz: self.hz,
            rate_limit_us: self.rate_limit_us,
            random_phase,
            group: self.group.clone(),
            defines: self.defines.clone(),
            ..Inputs::default()
        }
    }
}

/// Builds the plan and passes its warnings and notes to `watch`.
pub fn prepare(inputs: &Inputs, spec: &PolicySpec, watch: &dyn Watch) -> Result<Prepared, LabError> {
    let prepared = prepare_again(inputs, spec, watch)?;
    watch.warn(&prepared.warnings);
    prepared.notes.iter().for_each(|note| watch.note(note));
    Ok(prepared)
}

/// Builds the plan for another policy of the same workload, without repeating the workload's warnings and notes.
pub fn prepare_again(inputs: &Inputs, spec: &PolicySpec, watch: &dyn Watch) -> Result<Prepared, LabError> {
    let prepared = plan::build(inputs, spec)?;
    watch.warn(&prepared.policy.warnings);
    prepared.policy_notes.iter().for_each(|note| watch.note(note));
    Ok(prepared)
}

/// A policy as it is typed, with switches that every policy gets.
pub(crate) fn policy_spec(text: &str, sets: &[String]) -> PolicySpec {
    let mut spec = PolicySpec::parse(text);
    spec.sets.extend(sets.iter().cloned());
    spec
}

/// Opens a trace of this kind; `None` = the kind that its content shows.
pub(crate) fn opened(path: &Path, format: Option<&str>, watch: &dyn Watch) -> Result<Box<dyn Source>, LabError> {
    Ok(open(path, &OpenOptions { format: format.map(input_format).transpose()?, stop: Some(watch.stop()) })?)
}

/// The kind of file with this name.
pub(crate) fn input_format(name: &str) -> Result<Format, LabError> {
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        let hint = format!("known are {}", known.join(", "));
        LabError::refused(Fault::Request, format!("`{name}` is no kind of trace"), &hint)
    })
}
