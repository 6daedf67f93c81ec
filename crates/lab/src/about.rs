// SPDX-License-Identifier: GPL-2.0-or-later
//! Description of a run within its result: enough to repeat the run and to read the result years later.

use crate::plan::Prepared;
use crate::round;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the shape of JSON results. Names and units that are there stay; a change of one raises it.
pub const SCHEMA: u32 = 2;

/// Inputs of a run, whatever the policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct About {
    /// Version of the shape: [`SCHEMA`].
    pub schema: u32,
    /// Version of this program.
    pub version: String,
    /// Platform name.
    pub platform: String,
    /// Workload name.
    pub workload: String,
    /// Values of template words of the workload, where given.
    pub defines: BTreeMap<String, String>,
    /// Task group that holds everything; `None` = the root.
    pub group: Option<String>,
    /// Timer interrupts per second.
    pub hz: u32,
    /// Tasks and ticks start at random phases.
    pub random_phase: bool,
    /// Simulated time, s.
    pub duration_s: f64,
    /// Simulated time, ns, exactly.
    pub duration_ns: u64,
}

/// A policy, and the plan it makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AboutPolicy {
    /// Kernel profile and changed switches, in words.
    pub policy: String,
    /// Kernel profile.
    pub profile: String,
    /// Switches and numbers that differ from the profile, as they were set.
    pub set: BTreeMap<String, String>,
    /// schedutil's rate limit that was asked for, us; `None` = the platform's, else the profile's rule.
    pub rate_limit_us: Option<u64>,
    /// Hash of platform, workload, policy and configuration, seed included.
    pub plan_hash: String,
    /// Hash of the kernel's own code that decides where it can; the rest is the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_hash: Option<String>,
}

impl About {
    /// About this plan.
    pub fn of(prepared: &Prepared, duration_ns: u64) -> About {
        let plan = &prepared.plan;
        About {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            platform: plan.machine.name.clone(),
            workload: plan.workload.name.clone(),
            defines: prepared.defines.clone(),
            group: prepared.group.clone(),
            hz: plan.machine.hz,
            random_phase: plan.config.start_phase_random,
            duration_s: round(duration_ns as f64 / 1e9),
            duration_ns,
        }
    }
}

impl AboutPolicy {
    /// About the policy of this plan.
    pub fn of(prepared: &Prepared) -> AboutPolicy {
        AboutPolicy {
            policy: prepared.policy_in_words(),
            profile: prepared.policy.profile.clone(),
            set: prepared.policy.set.iter().cloned().collect(),
            rate_limit_us: prepared.plan.config.rate_limit_us,
            plan_hash: format!("{:016x}", prepared.plan.hash),
            kernel_hash: prepared.policy.kernel.as_ref().map(|kernel| kernel.hash.clone()),
        }
    }
}
