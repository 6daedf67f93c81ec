// SPDX-License-Identifier: GPL-2.0-or-later
//! Part of a run that a kernel's own code decided, beside the answers of the core.

use crate::plan::Prepared;
use pelton_core::kernel::OPERATIONS;
use pelton_sim::Report;
use pelton_sim::report::{KernelReport, OperationReport};
use schemars::JsonSchema;
use serde::Serialize;

/// Decisions of a kernel's own code in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Decided {
    /// Name of the image.
    pub name: String,
    /// Release of the kernel.
    pub release: String,
    /// Hash of the image.
    pub hash: String,
    /// Profile of the core that stands beside it, and decides the rest.
    pub profile: String,
    /// Operations.
    pub operations: Vec<DecidedOperation>,
    /// The first decisions in which the core differs.
    pub differences: Vec<DecidedOtherwise>,
    /// Warnings of the kernel's code.
    pub warnings: Vec<DecidedWarning>,
}

/// Decisions of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DecidedOperation {
    /// Name.
    pub operation: &'static str,
    /// Function of the kernel.
    pub function: &'static str,
    /// Decisions of the kernel's code; 0: the core decided, or nothing was to decide.
    pub calls: u64,
    /// Decisions in which the core differs; `None`: it is not asked beside.
    pub differ: Option<u64>,
}

/// A decision in which the core differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DecidedOtherwise {
    /// Simulated time, ns.
    pub at_ns: u64,
    /// Operation.
    pub operation: &'static str,
    /// Subject.
    pub about: String,
    /// Answer of the kernel's code, which counted.
    pub kernel: String,
    /// Answer of the core.
    pub core: String,
}

/// A warning of the kernel's code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DecidedWarning {
    /// File and line of the kernel's tree.
    pub place: String,
    /// Operation.
    pub operation: &'static str,
    /// Simulated time of the first, ns.
    pub first_ns: u64,
    /// Number.
    pub count: u64,
}

impl Decided {
    /// Decisions of a kernel's code in this run, with at most `shown` of those that differ; `None`: it had none.
    pub fn of(prepared: &Prepared, report: &Report, shown: usize) -> Option<Decided> {
        let (kernel, image) = (report.kernel.as_ref()?, prepared.policy.kernel.as_ref()?);
        Some(Decided {
            name: image.name.clone(),
            release: image.release.clone(),
            hash: image.hash.clone(),
            profile: prepared.policy.profile.clone(),
            operations: operations(kernel),
            differences: differences(kernel, shown),
            warnings: warnings(kernel),
        })
    }
}

fn operations(kernel: &KernelReport) -> Vec<DecidedOperation> {
    let one = |one: &OperationReport| DecidedOperation {
        operation: one.operation.name(),
        function: one.operation.function(),
        calls: one.calls,
        differ: one.differ,
    };
    kernel.operations.iter().map(one).collect()
}

fn differences(kernel: &KernelReport, shown: usize) -> Vec<DecidedOtherwise> {
    let one = |one: &pelton_sim::report::Difference| DecidedOtherwise {
        at_ns: one.at_ns,
        operation: one.operation,
        about: one.about.clone(),
        kernel: one.kernel.clone(),
        core: one.core.clone(),
    };
    kernel.differences.iter().take(shown).map(one).collect()
}

fn warnings(kernel: &KernelReport) -> Vec<DecidedWarning> {
    let one = |one: &pelton_core::kernel::KernelWarning| DecidedWarning {
        place: one.place.clone(),
        operation: one.operation,
        first_ns: one.first_ns,
        count: one.count,
    };
    kernel.warnings.iter().map(one).collect()
}

/// Remark on runs under a kernel's own code: what it decided otherwise than the core, and what it warned of.
pub fn remark(runs: &[Report]) -> Option<String> {
    let kernels: Vec<&KernelReport> = runs.iter().filter_map(|run| run.kernel.as_ref()).collect();
    let all = || kernels.iter().flat_map(|kernel| &kernel.operations);
    let sums = OPERATIONS.into_iter().map(|operation| {
        let of = || all().filter(move |one| one.operation == operation && one.differ.is_some());
        let differ: u64 = of().filter_map(|one| one.differ).sum();
        (operation.name(), of().map(|one| one.calls).sum::<u64>(), differ)
    });
    let sums: Vec<(&str, u64, u64)> = sums.collect();
    let otherwise = sums.iter().filter(|sum| sum.2 > 0);
    let parts: Vec<String> = otherwise.map(|(name, calls, differ)| format!("{differ} of {calls} of {name}")).collect();
    let decided: u64 = sums.iter().map(|sum| sum.1).sum();
    let parts = match parts.is_empty() {
        true => format!("none of {decided} decisions otherwise than the core; load tracking has no core beside it"),
        false => format!("otherwise than the core on the same inputs: {}", parts.join(", ")),
    };
    let warnings = || kernels.iter().flat_map(|kernel| &kernel.warnings);
    let warned: u64 = warnings().map(|one| one.count).sum();
    let warned = warnings().next().map(|first| format!("; it warned {warned} times, first at {}", first.place));
    kernels.first().map(|_| format!("decided by kernel code, {parts}{}", warned.unwrap_or_default()))
}
