// SPDX-License-Identifier: GPL-2.0-or-later
//! A thread that always computes.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, TaskSpec};

use super::periodic::{copies, policy};
use super::spec::Spec;

/// Work per operation: long enough to cost nothing, short enough for any arithmetic on it.
const CHUNK_NS: u64 = 1_000_000_000;

/// `busy:threads=2,cpus=0-3,nice=5`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let threads: u32 = spec.number("threads", 1, 1..=10_000);
    let policy = policy(spec, None);
    let phases = vec![Phase { name: "busy".into(), ops: vec![Op::Run { work_ns: CHUNK_NS }], ..Phase::default() }];
    copies(spec, &TaskSpec { phases, policy, ..TaskSpec::default() }, threads, "busy")
}
