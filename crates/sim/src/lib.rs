// SPDX-License-Identifier: GPL-2.0-or-later
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
mod kernel_code;
mod misfit;
mod observe;
mod program;
pub mod report;
mod rq;
mod run;
mod sched;
mod shape;
mod state;
mod told;

// Tests inside the crate share helpers with those outside, which know it by its name.
#[cfg(test)]
extern crate self as pelton_sim;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

use std::fmt;
use std::ops::ControlFlow;

pub use misfit::{Misfit, misfit, unmatched_boosts};
pub use observe::samples;
pub use observe::samples::Samples;
use pelton_core::Policy;
use pelton_core::kernel::KernelCode;
use pelton_model::{Machine, PlanError, RunConfig, Workload};
use pelton_schema::Sink;
pub use report::Report;
pub use rq::{bandwidth, groups};
pub use run::setup::worker_names;
use told::Inputs;

/// Reason why a run did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// Machine and workload do not go together.
    Plan(String),
    /// The workload has something that the policy, or the machine under it, does not.
    Misfit(Misfit),
    /// The inputs ask for something the engine does not model.
    Unsupported(String),
    /// A task executes operations without ever consuming time.
    NoProgress {
        /// Its name.
        task: String,
        /// Simulated time, ns.
        at_ns: u64,
    },
    /// A kernel's own code crashed, or did not return.
    Kernel(String),
    /// The progress function asked to stop.
    Interrupted {
        /// Simulated time, ns.
        at_ns: u64,
    },
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Plan(text) => write!(f, "{text}"),
            SimError::Misfit(misfit) => write!(f, "{misfit}"),
            SimError::Unsupported(text) => write!(f, "not supported: {text}"),
            SimError::Kernel(text) => write!(f, "{text}"),
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

impl From<Misfit> for SimError {
    fn from(misfit: Misfit) -> Self {
        SimError::Misfit(misfit)
    }
}

impl From<PlanError> for SimError {
    fn from(PlanError(text): PlanError) -> Self {
        SimError::Plan(text)
    }
}

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
pub fn run_with_progress<S: Sink>(
    machine: &Machine,
    workload: &Workload,
    policy: &Policy,
    config: &RunConfig,
    sink: S,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, SimError> {
    let inputs = Inputs { machine, workload, policy: policy.prepared(), config, code: None };
    run_inputs(inputs, sink, progress)
}

/// Runs to the end as [`run_with_progress`] does; what `code` has of a kernel's functions decides in place of the core.
///
/// # Errors
/// As [`run_with_progress`], and [`SimError::Kernel`] when the code crashes or does not return.
pub fn run_under_kernel<S: Sink>(
    (machine, workload): (&Machine, &Workload),
    policy: &Policy,
    config: &RunConfig,
    sink: S,
    code: &mut dyn KernelCode,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, SimError> {
    // Never the policy that is compiled in: its load tracking asks nothing.
    run_inputs(Inputs { machine, workload, policy, config, code: Some(code) }, sink, progress)
}

fn run_inputs<S: Sink>(
    inputs: Inputs<'_>,
    mut sink: S,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Report, SimError> {
    pelton_model::dangling(inputs.workload)?;
    // In a page one engine for all sinks: it is sent over networks.
    let is_page = cfg!(target_family = "wasm");
    if is_page || S::PLACEMENTS || S::BALANCES || S::REQUESTS || S::DRAWN {
        inputs.tell_everything(&mut sink, progress)
    } else if S::ACTIVE {
        inputs.tell_events(&mut sink, progress)
    } else {
        inputs.tell_nobody(progress)
    }
}
