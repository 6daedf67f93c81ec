// SPDX-License-Identifier: GPL-2.0-only
//! What is told of a decision about a fair task's CPU.

use pelton_core::{AFFINE, NO_CPU, Placed, Placement, wf};

/// A decision in words and numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedWords {
    /// CPU that the task goes to.
    pub cpu: u32,
    /// CPU that it was on.
    pub previous_cpu: u32,
    /// CPU that executes the decision.
    pub executing_cpu: u32,
    /// `wake-up` or `new task`.
    pub event: &'static str,
    /// Rule that decided.
    pub rule: &'static str,
    /// How the starting point of the search was chosen.
    pub start: &'static str,
    /// The task's utilization, of 1024.
    pub util_avg: u64,
    /// Some CPU has more to do than it can: energy does not decide.
    pub overutilized: bool,
    /// CPUs whose domain's energy was compared, each with what the task adds to it, in the kernel's unit.
    pub energy_added: Vec<(u32, i128)>,
}

/// Puts what a decision read and gave into words.
#[must_use]
pub fn placed_words(read: &Placement, placed: &Placed) -> PlacedWords {
    let priced = placed.energies().iter().map(|e| e.cpu).filter(|&cpu| cpu != NO_CPU);
    PlacedWords {
        cpu: placed.cpu,
        previous_cpu: read.prev_cpu,
        executing_cpu: read.this_cpu,
        event: if read.flags & wf::FORK != 0 { "new task" } else { "wake-up" },
        rule: placed.how(),
        start: AFFINE.get(placed.affine as usize).copied().unwrap_or("?"),
        util_avg: placed.se.avg.util_avg,
        overutilized: read.overutilized != 0,
        energy_added: priced.filter_map(|cpu| Some((cpu, placed.energy_added(cpu)?))).collect(),
    }
}
