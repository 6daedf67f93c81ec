// SPDX-License-Identifier: GPL-2.0-or-later
//! Inputs of a run besides machine, workload and policy.

use std::num::NonZeroU32;

use serde::Serialize;

/// Inputs of a run besides machine, workload and policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunConfig {
    /// Seed of every random choice.
    pub seed: u64,
    /// Length, ns; 0 = what the workload says.
    pub duration_ns: u64,
    /// Rate limit of every domain, us; `None` = the platform's, else the profile's default.
    pub rate_limit_us: Option<u64>,
    /// Start tasks and ticks at random phases (as repetitions on a real machine do).
    pub start_phase_random: bool,
    /// Compare the frequency with the need at every event. Changes nothing else, so it is no part of what names a plan.
    #[serde(skip)]
    pub demand: bool,
    /// Calls of the governor count from this time on: when what is measured begins, ns.
    #[serde(skip_serializing_if = "is_zero")]
    pub counted_from_ns: u64,
    /// Time in which the signals halve, ms, for worlds that are wrong on purpose; `None` = 32, as in every kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life_ms: Option<NonZeroU32>,
    /// Frequencies that are given instead of asked for, by domain; a domain without any is the governor's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frequencies: Vec<Vec<GivenFrequency>>,
    /// A kernel's own code that decides in place of the core; `None` = the core decides everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelImage>,
}

/// An image of a kernel's own code. Of what names a plan only its hash is a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelImage {
    /// Name in the store.
    #[serde(skip)]
    pub name: String,
    /// Release of the kernel, `UTS_RELEASE`.
    #[serde(skip)]
    pub release: String,
    /// Hash of its bytes.
    pub hash: String,
}

/// From this time on a domain runs at this frequency, which no governor asked for: a recorded one. It may lie between
/// operating points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GivenFrequency {
    /// Since when, ns; ascending.
    pub at_ns: u64,
    /// Frequency.
    pub khz: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) fn is_zero(ns: &u64) -> bool {
    *ns == 0
}
