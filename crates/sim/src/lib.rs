// SPDX-License-Identifier: GPL-2.0-only
//! Discrete-event simulation of Linux's scheduler-driven frequency control.
//!
//! A run is a value: [`Machine`] + [`Workload`] + [`Policy`] + [`RunConfig`] give one event stream and one [`Report`],
//! byte-identical on any machine. The engine does no I/O and reads no clock.

#[cfg(test)]
mod audit;
mod class;
mod cpu;
mod engine;
mod freq;
mod hw;
pub mod machine;
mod observe;
mod program;
pub mod report;
mod rq;
mod run;
mod sched;
pub mod workload;

// Tests inside the crate share helpers with those outside, which know it by its name.
#[cfg(test)]
extern crate self as pelton_sim;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

use std::fmt;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

pub use class::{IDLE_WEIGHT, NICE_WEIGHTS};
pub use machine::Machine;
pub use observe::samples;
pub use observe::samples::Samples;
use pelton_core::Policy;
use pelton_schema::Sink;
pub use report::Report;
pub use rq::{bandwidth, groups};
pub use run::setup::worker_names;
pub use workload::Workload;

/// What a run needs besides machine, workload and policy.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RunConfig {
    /// Seed of every random choice.
    pub seed: u64,
    /// Length, ns; 0 = what the workload says.
    pub duration_ns: u64,
    /// Rate limit of every domain, us; `None` = the platform's, else the profile's default.
    pub rate_limit_us: Option<u64>,
    /// Start tasks and ticks at random phases (as repetitions on a real machine do).
    pub start_phase_random: bool,
    /// Compare the frequency with the need at every event ([`report::DemandReport`]). Changes nothing else.
    pub demand: bool,
    /// Calls of the governor count from this time on: when what is measured begins, ns.
    pub counted_from_ns: u64,
    /// Time in which the signals halve, ms, for worlds that are wrong on purpose; `None` = 32, as in every kernel.
    pub half_life_ms: Option<NonZeroU32>,
    /// Frequencies that are given instead of asked for, by domain; a domain without any is the governor's.
    pub frequencies: Vec<Vec<GivenFrequency>>,
}

/// From this time on a domain runs at this frequency, which nobody asked for: a recorded one. It may lie between
/// operating points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenFrequency {
    /// Since when, ns; ascending.
    pub at_ns: u64,
    /// Frequency.
    pub khz: u32,
}

/// Without the observer: plans are named by this text, and who watches is no part of a run. Nor is what is not given.
impl fmt::Debug for RunConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RunConfig");
        text.field("seed", &self.seed)
            .field("duration_ns", &self.duration_ns)
            .field("rate_limit_us", &self.rate_limit_us)
            .field("start_phase_random", &self.start_phase_random);
        if self.counted_from_ns > 0 {
            text.field("counted_from_ns", &self.counted_from_ns);
        }
        if let Some(half_life_ms) = self.half_life_ms {
            text.field("half_life_ms", &half_life_ms);
        }
        if !self.frequencies.is_empty() {
            text.field("frequencies", &self.frequencies);
        }
        text.finish()
    }
}

/// Why a run did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// Machine and workload do not go together.
    Plan(String),
    /// The inputs ask for something the engine does not model.
    Unsupported(String),
    /// A task executes operations without ever consuming time.
    NoProgress {
        /// Its name.
        task: String,
        /// When.
        at_ns: u64,
    },
    /// The progress function asked to stop.
    Interrupted {
        /// When.
        at_ns: u64,
    },
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Plan(text) => write!(f, "{text}"),
            SimError::Unsupported(text) => write!(f, "not supported: {text}"),
            SimError::NoProgress { task, at_ns } => {
                write!(
                    f,
                    "task '{task}' runs in circles at {at_ns} ns: its loop never consumes time; add a run, sleep or timer to it"
                )
            }
            SimError::Interrupted { at_ns } => write!(f, "interrupted at {at_ns} ns of simulated time"),
        }
    }
}

impl std::error::Error for SimError {}

/// Runs to the end.
///
/// # Errors
/// When the inputs do not go together or a task makes no progress.
pub fn run(
    machine: &Machine,
    workload: &Workload,
    policy: &Policy,
    config: &RunConfig,
    sink: impl Sink,
) -> Result<Report, SimError> {
    run_with_progress(machine, workload, policy, config, sink, &mut |_| ControlFlow::Continue(()))
}

/// Runs to the end, calling `progress` with the simulated time about every 100 simulated ms; it may stop the run.
///
/// # Errors
/// As [`run`], and [`SimError::Interrupted`] when `progress` breaks.
pub fn run_with_progress(
    machine: &Machine,
    workload: &Workload,
    policy: &Policy,
    config: &RunConfig,
    sink: impl Sink,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, SimError> {
    if let Some(task) = program::check::dangling(workload) {
        return Err(SimError::Plan(format!("task '{task}' uses a resource that the workload does not declare")));
    }
    engine::Engine::new(machine, workload, policy, config, sink)?.run(progress)
}
