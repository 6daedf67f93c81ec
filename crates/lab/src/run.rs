// SPDX-License-Identifier: GPL-2.0-or-later
//! Running plans: one, or many at the same time. The number of jobs never changes a result.

use pelton_model::Plan;
use pelton_model::RunConfig;
use pelton_scenario::Diagnostics;
use pelton_schema::Sink;
use pelton_sim::{Report, SimError};
use pelton_trace::import::ImportError;
use rayon::prelude::*;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Means of a caller to stop runs in progress and to follow them.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set it and every run stops within 100 simulated milliseconds.
    pub stop: &'a AtomicBool,
    /// Called with the simulated time that passed since the last call, ns; from any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("stop", self.stop).finish_non_exhaustive()
    }
}

pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for Control<'_> {
    /// Nothing stops the runs and nothing follows them.
    fn default() -> Self {
        Control { stop: &NEVER, progress: &|_| {} }
    }
}

/// Reason why there is no result.
#[derive(Debug)]
pub enum LabError {
    /// An input is wrong; the messages point at it.
    Input(Diagnostics),
    /// The experiment file is wrong, or there is none of that name.
    Experiment(ExperimentError),
    /// Machine and workload do not go together, or a task makes no progress.
    Sim(SimError),
    /// A kernel's own code crashed, or did not return.
    Kernel(String),
    /// Stopped by the caller at this simulated time of the run that noticed first, ns.
    Interrupted {
        /// Simulated time, ns.
        at_ns: u64,
    },
    /// Stopped by the caller; what that leaves, in words.
    Stopped(String),
    /// A trace cannot be read, or reading it was stopped.
    Trace(Box<ImportError>),
    /// The request cannot be met.
    Refused(Refusal),
    /// An output file could not be written.
    Output(std::io::Error),
    /// The caller's sink of events gave up; the caller knows the reason.
    Caller,
}

/// Reason why a request cannot be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Party at fault.
    pub fault: Fault,
    /// Description of the fault.
    pub reason: String,
    /// Remedy, if there is one.
    pub hint: Option<String>,
}

/// A file in `scenarios/published/` that cannot be used, or a name that is none.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentError(pub String);

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExperimentError {}

/// Part that would have to change for the request to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request contradicts itself or names what there is not.
    Request,
    /// An input does not have what is asked for.
    Input,
    /// This machine or program cannot do it.
    Machine,
}

impl LabError {
    /// A refusal with a hint.
    pub fn refused(fault: Fault, reason: impl fmt::Display, hint: &str) -> LabError {
        LabError::Refused(Refusal { fault, reason: reason.to_string(), hint: Some(hint.to_owned()) })
    }

    /// An input that does not have what is asked for.
    pub fn input(reason: impl fmt::Display) -> LabError {
        LabError::Refused(Refusal { fault: Fault::Input, reason: reason.to_string(), hint: None })
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Input(diagnostics) => f.write_str(&pelton_scenario::render(diagnostics, 100, false)),
            LabError::Experiment(error) => error.fmt(f),
            LabError::Sim(error) => error.fmt(f),
            LabError::Interrupted { at_ns } => write!(f, "interrupted at {at_ns} ns of simulated time"),
            LabError::Kernel(text) | LabError::Stopped(text) => f.write_str(text),
            LabError::Trace(error) => error.fmt(f),
            LabError::Refused(refusal) => f.write_str(&refusal.reason),
            LabError::Output(error) => error.fmt(f),
            LabError::Caller => f.write_str("the events could not be taken"),
        }
    }
}

impl std::error::Error for LabError {}

impl From<Diagnostics> for LabError {
    fn from(diagnostics: Diagnostics) -> Self {
        LabError::Input(diagnostics)
    }
}

impl From<ImportError> for LabError {
    fn from(error: ImportError) -> Self {
        LabError::Trace(Box::new(error))
    }
}

impl From<ExperimentError> for LabError {
    fn from(error: ExperimentError) -> Self {
        LabError::Experiment(error)
    }
}

impl From<SimError> for LabError {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Interrupted { at_ns } => LabError::Interrupted { at_ns },
            SimError::Kernel(text) => LabError::Kernel(text),
            other => LabError::Sim(other),
        }
    }
}

/// Runs a plan with this seed.
pub fn run_one(plan: &Plan, seed: u64, sink: impl Sink, control: Control<'_>) -> Result<Report, LabError> {
    // The need is the core's formula: under another one it would be no measure.
    let demand = plan.config.kernel.is_none();
    let config = RunConfig { seed, demand, ..plan.config.clone() };
    let mut seen_ns = 0;
    let mut watch = |now_ns: u64| {
        (control.progress)(now_ns - seen_ns);
        seen_ns = now_ns;
        if control.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    if let Some(image) = &plan.config.kernel {
        return crate::kernel::image::run(plan, image, &config, sink, &mut watch);
    }
    Ok(pelton_sim::run_with_progress(&plan.machine, &plan.workload, &plan.policy, &config, sink, &mut watch)?)
}

/// Runs every plan with its seed, `jobs` at a time (0 = one per CPU); reports are in the order of `runs`.
pub fn run_many(runs: &[(&Plan, u64)], jobs: usize, control: Control<'_>) -> Result<Vec<Report>, LabError> {
    each(runs, jobs, |&(plan, seed)| run_one(plan, seed, pelton_schema::NullSink, control))
}

/// Does `one` with every run, `jobs` at a time (0 = one per CPU); results are in the order of `runs`.
pub(crate) fn each<T: Sync, R: Send>(
    runs: &[T],
    jobs: usize,
    one: impl Fn(&T) -> Result<R, LabError> + Sync + Send,
) -> Result<Vec<R>, LabError> {
    // Whoever has no run left takes any other one: halves of unequal runs end at unequal times.
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        // The first error in the order of `runs`, so that the message does not depend on timing either.
        Ok(pool) => pool.install(|| runs.par_iter().with_max_len(1).map(one).collect::<Vec<_>>()).into_iter().collect(),
        Err(_) => runs.iter().map(one).collect(),
    }
}

/// Runs every plan with every seed: `[plan][seed]`.
pub fn run_matrix(
    plans: &[Plan],
    seeds: &[u64],
    jobs: usize,
    control: Control<'_>,
) -> Result<Vec<Vec<Report>>, LabError> {
    let runs: Vec<(&Plan, u64)> = plans.iter().flat_map(|p| seeds.iter().map(move |&s| (p, s))).collect();
    let mut reports = run_many(&runs, jobs, control)?.into_iter();
    Ok(plans.iter().map(|_| reports.by_ref().take(seeds.len()).collect()).collect())
}
