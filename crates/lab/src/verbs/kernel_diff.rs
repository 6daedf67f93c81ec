// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernel's own code compared with the core, operation by operation.

use crate::results::kernel::{
    KernelAnswer, KernelDiff, KernelDifference, KernelExplained, KernelField, KernelLeftOut, KernelMachine, KernelState,
};
use crate::run::{Fault, LabError};
use crate::watch::{Amount, Watch};
use pelton_kernel::diff::kind::{self, Kind};
use pelton_kernel::diff::{self, Answer, Compared, Diff, DiffRequest, Explained, Field, Machine, State};
use pelton_kernel::store::Store;
use serde::{Deserialize, Serialize};

/// Most states of an operation.
pub const STATES_MAX: u64 = 10_000_000;

/// Request for a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelDiffRequest {
    /// Name of the image.
    pub name: String,
    /// Rules of the core: a profile, and switches behind it, as `6.12,runnable_boost=off`; none: the image's profile.
    pub against: Option<String>,
    /// States of each operation.
    pub states: u64,
    /// Seed of the states.
    pub seed: u64,
}

impl Default for KernelDiffRequest {
    fn default() -> Self {
        KernelDiffRequest { name: String::new(), against: None, states: 20_000, seed: 1 }
    }
}

/// Compares an image's code with the core.
///
/// # Errors
/// When there is no image of that name, it has no program to compare it, or the rules are none.
pub fn diff(request: &KernelDiffRequest, watch: &dyn Watch) -> Result<KernelDiff, LabError> {
    if !(1..=STATES_MAX).contains(&request.states) {
        let reason = format!("{} states", request.states);
        return Err(LabError::refused(Fault::Request, &reason, &format!("allowed: 1 to {STATES_MAX}")));
    }
    let asked = DiffRequest {
        name: request.name.clone(),
        against: request.against.clone(),
        states: request.states,
        seed: request.seed,
    };
    let store = Store::open()?;
    watch.begins("comparing", Amount::Time(0));
    let found = diff::diff(&store, &asked, &mut |line| watch.at(line), watch.stop());
    watch.ends();
    Ok(result(found?, request))
}

fn result(found: Diff, request: &KernelDiffRequest) -> KernelDiff {
    let moved = found.operations.iter().filter(|op| op.differ > 0).map(|op| op.operation.as_str());
    let left_out = found.about.comparison.left_out;
    KernelDiff {
        kernel: found.about.name,
        release: found.about.release,
        states: request.states,
        seed: request.seed,
        equal: found.operations.iter().all(Compared::is_equal),
        decisions: kind::all_of(moved).into_iter().map(|kind| kind.words().to_owned()).collect(),
        operations: found.operations.into_iter().map(difference).collect(),
        explained: found.explained.into_iter().map(|explained| explanation(&found.against, explained)).collect(),
        left_out: left_out.into_iter().map(|one| KernelLeftOut { part: one.part, reason: one.reason }).collect(),
        against: found.against,
    }
}

fn difference(op: Compared) -> KernelDifference {
    KernelDifference {
        decision: Kind::of(&op.operation).words(),
        operation: op.operation,
        states: op.states,
        differ: op.differ,
        warnings: op.warnings,
        failed: op.failed,
        smallest: op.smallest.map(state),
    }
}

fn explanation(against: &str, explained: Explained) -> KernelExplained {
    KernelExplained { policy: diff::rules(against, &explained.settings), others: explained.others }
}

fn state(state: State) -> KernelState {
    let answer = |Answer { name, kernel, core }| KernelAnswer { name, kernel, core };
    KernelState {
        fields: fields(state.fields),
        answers: state.answers.into_iter().map(answer).collect(),
        machine: state.machine.map(machine),
    }
}

fn machine(machine: Machine) -> KernelMachine {
    KernelMachine {
        facts: fields(machine.facts),
        task: fields(machine.task),
        waker: fields(machine.waker),
        cpus: machine.cpus.into_iter().map(fields).collect(),
        models: machine.models.into_iter().map(fields).collect(),
    }
}

fn fields(fields: Vec<Field>) -> Vec<KernelField> {
    fields.into_iter().map(|Field { name, value }| KernelField { name, value }).collect()
}
