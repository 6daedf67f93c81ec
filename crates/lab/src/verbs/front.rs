// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies on three axes, and what a schedule that knows the future would need.

use super::inputs::{InputRequest, policy_spec, prepare, prepare_again};
use crate::about::{About, AboutPolicy};
use crate::compare::clairvoyant;
use crate::compare::front::{self, EXTRA_RUNS, Fronts, Question};
use crate::plan::Prepared;
use crate::run::{Fault, LabError};
use crate::watch::{Watch, watched};
use pelton_core::value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Policies that are compared when none is named: mainline, then each filter and gate alone, the composite, and limits
/// per direction.
const POLICIES_DEFAULT: [&str; 19] = [
    "7.2",
    "7.2,hook_filter=h1",
    "7.2,hook_filter=h2",
    "7.2,hook_filter=h3",
    "7.2,hook_filter=h4",
    "7.2,hook_filter=composite",
    "7.2,gate=r0a",
    "7.2,gate=r1_trailing",
    "7.2,gate=r1_sliding",
    "7.2,gate=r1_asym",
    "7.2,gate=r2_linear",
    "7.2,gate=r2_hyperbolic",
    "7.2,gate=up_down,down_rate_limit_us=4000",
    "7.2,gate=up_down,down_rate_limit_us=8000",
    "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=2000",
    "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=4000",
    "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=8000",
    "composite,down_rate_limit_us=4000,gate_window_min_us=4000,gate_window_max_us=4000",
    "composite",
];

/// Request: platform, workload and policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontRequest {
    /// Platform names or files.
    pub platforms: Vec<String>,
    /// Workloads; every platform runs every one.
    pub workloads: Vec<String>,
    /// Values of template words of rt-app files.
    pub defines: BTreeMap<String, String>,
    /// Switches set in every policy.
    pub sets: Vec<String>,
    /// Policies, as for compare; the first is the base; none = 7.2, every filter, every gate, the composite.
    pub policies: Vec<String>,
    /// Simulated time, ns; none = what the workload asks for.
    pub duration_ns: Option<u64>,
    /// Repetitions, each with a seed of its own and random start phases.
    pub seeds: u64,
    /// The first seed; the others follow.
    pub first_seed: u64,
    /// Largest energy above the base's with which a policy may win, percent.
    pub energy_margin_pct: f64,
    /// Runs at the same time; 0 = one per CPU.
    pub jobs: usize,
}

impl Default for FrontRequest {
    fn default() -> Self {
        FrontRequest {
            platforms: Vec::new(),
            workloads: Vec::new(),
            defines: BTreeMap::new(),
            sets: Vec::new(),
            policies: Vec::new(),
            duration_ns: None,
            seeds: 10,
            first_seed: 1,
            energy_margin_pct: 1.0,
            jobs: 0,
        }
    }
}

/// Runs every policy on every pair of a platform and a workload.
///
/// # Errors
/// When an input is wrong, a platform does not know its power, or the runs were stopped.
pub fn front(request: &FrontRequest, watch: &dyn Watch) -> Result<Fronts, LabError> {
    let default = || POLICIES_DEFAULT.map(str::to_owned).to_vec();
    let policies = if request.policies.is_empty() { default() } else { request.policies.clone() };
    let pairs = request.platforms.iter().flat_map(|p| request.workloads.iter().map(move |w| (p, w)));
    let questions = pairs.map(|(p, w)| question(request, p, w, &policies, watch)).collect::<Result<Vec<_>, _>>()?;
    let seeds: Vec<u64> = (0..request.seeds).map(|i| request.first_seed.wrapping_add(i)).collect();
    let runs = (policies.len() as u64 + EXTRA_RUNS) * request.seeds;
    let total_ns =
        questions.iter().map(|q| q.open.config.duration_ns.saturating_mul(runs)).fold(0, u64::saturating_add);
    let (margin_pct, jobs) = (request.energy_margin_pct, request.jobs);
    watched(watch, total_ns, "front", |control| front::fronts(&policies, &questions, &seeds, margin_pct, jobs, control))
}

fn question(
    request: &FrontRequest,
    platform: &str,
    workload: &str,
    policies: &[String],
    watch: &dyn Watch,
) -> Result<Question, LabError> {
    let input = InputRequest {
        platform: platform.to_owned(),
        workload: workload.to_owned(),
        duration_ns: request.duration_ns,
        defines: request.defines.clone(),
        ..InputRequest::default()
    };
    let inputs = input.inputs(1, true);
    let mut first = true;
    let mut plan = |text: &str, sets: &[&str]| -> Result<Prepared, LabError> {
        let make = if std::mem::take(&mut first) { prepare } else { prepare_again };
        let own = sets.iter().map(|&set| set.to_owned());
        let sets: Vec<String> = request.sets.iter().cloned().chain(own).collect();
        make(&inputs, &policy_spec(text, &sets), watch)
    };
    let prepared = policies.iter().map(|text| plan(text, &[])).collect::<Result<Vec<Prepared>, LabError>>()?;
    let is_other = |(_, prepared): &(&String, &Prepared)| prepared.plan.policy.governor != value::GOVERNOR_SCHEDUTIL;
    if let Some((text, _)) = policies.iter().zip(&prepared).find(is_other) {
        return Err(LabError::refused(
            Fault::Input,
            format!("{text}: the step latency of another governor than schedutil is not known"),
            "step latency is one of the axes: `pelton compare` does without",
        ));
    }
    if let Some((text, _)) = policies.iter().zip(&prepared).find(|(_, prepared)| prepared.policy.kernel.is_some()) {
        return Err(LabError::refused(
            Fault::Input,
            format!("{text}: the step latency under a kernel's own code is not known"),
            "step latency is one of the axes: `pelton compare` does without",
        ));
    }
    let open = plan(&policies[0], &clairvoyant::OPEN)?.plan;
    let about = About::of(&prepared[0], open.config.duration_ns);
    let abouts = prepared.iter().map(AboutPolicy::of).collect();
    let plans = prepared.into_iter().map(|prepared| prepared.plan).collect();
    if !clairvoyant::knows_power(&open) {
        return Err(LabError::refused(
            Fault::Input,
            format!("platform {platform} does not know the power of all its operating points"),
            "energy is one of the axes: `pelton compare` does without; `pelton platform list` shows others",
        ));
    }
    Ok(Question { platform: platform.to_owned(), workload: workload.to_owned(), about, policies: abouts, plans, open })
}
