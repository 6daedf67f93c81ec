// SPDX-License-Identifier: GPL-2.0-or-later
//! A compact form of a long recording: activations of the same shape that follow each other become one repeated phase.
//! What a task does in all stays the same up to rounding; what it did in a single activation is lost.

use pelton_model::workload::{Op, Phase, TaskSpec};

/// Longest pattern of activations that is recognised.
const PATTERN_MAX: usize = 8;

/// One activation: from a wait to the next.
#[derive(Clone, Debug, PartialEq)]
struct Activation {
    ops: Vec<Op>,
}

impl Activation {
    /// Equal kinds of operations in the same order, whatever their amounts.
    fn same_shape(&self, other: &Activation) -> bool {
        let same = |(a, b): (&Op, &Op)| match (a, b) {
            (Op::SemPost(a), Op::SemPost(b)) | (Op::SemWait(a), Op::SemWait(b)) => a == b,
            (Op::Write { channel: a, .. }, Op::Write { channel: b, .. })
            | (Op::Read { channel: a, .. }, Op::Read { channel: b, .. }) => a == b,
            (Op::Spawn { task: a }, Op::Spawn { task: b }) => a == b,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        self.ops.len() == other.ops.len() && self.ops.iter().zip(&other.ops).all(same)
    }
}

/// Task with repetitions folded into loops.
pub(super) fn fold(task: &TaskSpec) -> TaskSpec {
    let mut phases = Vec::new();
    for phase in &task.phases {
        fold_phase(phase, &mut phases);
    }
    TaskSpec { phases, ..task.clone() }
}

fn fold_phase(phase: &Phase, out: &mut Vec<Phase>) {
    let activations = split(&phase.ops);
    let first = out.len();
    let mut rest = activations.as_slice();
    let mut single: Vec<Op> = Vec::new();
    while !rest.is_empty() {
        let (length, times) = best_pattern(rest);
        if times > 1 {
            flush(&mut single, out);
            out.push(repeated(&rest[..length * times], length, times as u64));
        } else {
            single.extend(rest[0].ops.iter().cloned());
        }
        rest = &rest[length * times..];
    }
    flush(&mut single, out);
    if out.len() == first {
        out.push(Phase { loops: Some(1), ..Phase::default() });
    }
    // Settings belong to the beginning of what was one phase.
    let begins = &mut out[first];
    (begins.cpus, begins.policy, begins.uclamp) = (phase.cpus.clone(), phase.policy, phase.uclamp);
}

fn flush(single: &mut Vec<Op>, out: &mut Vec<Phase>) {
    if !single.is_empty() {
        out.push(Phase { loops: Some(1), ops: std::mem::take(single), ..Phase::default() });
    }
}

fn split(ops: &[Op]) -> Vec<Activation> {
    let waits = |op: &Op| matches!(op, Op::Timer { .. } | Op::Sleep { .. } | Op::SemWait(_) | Op::Read { .. });
    let mut all: Vec<Activation> = Vec::new();
    for op in ops {
        if all.is_empty() || waits(op) {
            all.push(Activation { ops: Vec::new() });
        }
        if let Some(last) = all.last_mut() {
            last.ops.push(op.clone());
        }
    }
    all
}

/// The pattern at the beginning that covers most: its length in activations, and how often it repeats.
fn best_pattern(rest: &[Activation]) -> (usize, usize) {
    let mut best = (1, 1);
    for length in 1..=PATTERN_MAX.min(rest.len() / 2) {
        let repeats = |i: &usize| rest[*i].same_shape(&rest[*i % length]);
        let covered = (0..rest.len()).take_while(repeats).count() / length;
        if covered > 1 && covered * length > best.0 * best.1 {
            best = (length, covered);
        }
    }
    best
}

/// A phase with the mean amounts of all repetitions.
fn repeated(all: &[Activation], length: usize, times: u64) -> Phase {
    let mut ops = Vec::new();
    for place in 0..length {
        for (index, op) in all[place].ops.iter().enumerate() {
            let same = all.iter().skip(place).step_by(length).map(|a| &a.ops[index]);
            ops.push(mean(op, same, times));
        }
    }
    Phase { loops: Some(times), ops, ..Phase::default() }
}

fn mean<'a>(op: &Op, all: impl Iterator<Item = &'a Op>, times: u64) -> Op {
    let amount = |op: &Op| match *op {
        Op::RunParts { parts } => parts,
        Op::Sleep { ns } => ns,
        Op::Timer { period_ns, .. } => period_ns,
        _ => 0,
    };
    let sum: u128 = all.map(|op| u128::from(amount(op))).sum();
    let value = (sum / u128::from(times.max(1))) as u64;
    match *op {
        Op::RunParts { .. } => Op::RunParts { parts: value },
        Op::Sleep { .. } => Op::Sleep { ns: value },
        Op::Timer { timer, mode, .. } => Op::Timer { timer, period_ns: value, mode },
        ref other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::workload::{TimerId, TimerMode};

    fn timer(period_ns: u64) -> Op {
        Op::Timer { timer: TimerId::Own(0), period_ns, mode: TimerMode::Absolute }
    }

    fn folded(ops: Vec<Op>) -> Vec<(u64, usize)> {
        let task = TaskSpec { phases: vec![Phase { loops: Some(1), ops, ..Phase::default() }], ..TaskSpec::default() };
        fold(&task).phases.iter().map(|p| (p.loops.unwrap_or(0), p.ops.len())).collect()
    }

    #[test]
    fn repeated_activations_become_one_loop_with_their_means() {
        let ops = (0..100).flat_map(|i| [timer(1000), Op::RunParts { parts: 100 + i }]).collect::<Vec<_>>();
        let task = TaskSpec { phases: vec![Phase { loops: Some(1), ops, ..Phase::default() }], ..TaskSpec::default() };
        let phases = fold(&task).phases;
        assert_eq!((phases.len(), phases[0].loops), (1, Some(100)));
        assert_eq!(phases[0].ops, [timer(1000), Op::RunParts { parts: 149 }]);
    }

    #[test]
    fn patterns_of_several_activations_are_found() {
        let pair = [timer(1), Op::RunParts { parts: 1 }, Op::SemWait(0), Op::RunParts { parts: 2 }, Op::SemPost(1)];
        let ops: Vec<Op> = pair.iter().cycle().take(pair.len() * 50).cloned().collect();
        assert_eq!(folded(ops), [(50, 5)]);
        assert_eq!(folded(vec![]), [(1, 0)]);
    }
}
