// SPDX-License-Identifier: GPL-2.0-only
//! The levels of a CPU's fair queues, for one operation.

use pelton_schema::Sink;

use crate::class::fair::FairRules;
use crate::class::tree::Tree;
use crate::engine::Engine;
use crate::engine::state::{CpuState, Task};

/// The levels of a CPU for one operation.
#[inline]
pub(crate) fn tree<'a>(rules: &'a FairRules<'a>, cpu: &'a mut CpuState, tasks: &'a mut Vec<Task>) -> Tree<'a> {
    Tree { rules, root: &mut cpu.fair, levels: &mut cpu.levels, tasks }
}

impl<S: Sink> Engine<'_, S> {
    /// The levels of CPU `c`.
    #[inline]
    pub(crate) fn tree(&mut self, c: u32) -> Tree<'_> {
        tree(&self.fair_rules, &mut self.cpus[c as usize], &mut self.tasks)
    }
}
