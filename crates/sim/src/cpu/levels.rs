// SPDX-License-Identifier: GPL-2.0-or-later
//! The levels of a CPU's fair queues, for one operation.

use crate::class::fair::FairRules;
use crate::class::tree::Tree;
use crate::shape::Run;
use crate::state::{CpuState, Engine, Task};

/// The levels of a CPU for one operation.
#[inline]
pub(crate) fn tree<'a, S: Run>(
    rules: &'a FairRules<'a, S>,
    cpu: &'a mut CpuState,
    tasks: &'a mut Vec<Task>,
) -> Tree<'a, S> {
    Tree { rules, whole: &mut cpu.fair, levels: &mut cpu.levels, tasks }
}

impl<S: Run> Engine<'_, S> {
    /// The levels of CPU `c`, whose running task was charged up to now.
    #[inline]
    pub(crate) fn tree(&mut self, c: u32) -> Tree<'_, S> {
        self.update_curr(c);
        self.tree_as_is(c)
    }

    /// The levels of CPU `c`, for readers of no virtual time.
    #[inline]
    pub(crate) fn tree_as_is(&mut self, c: u32) -> Tree<'_, S> {
        tree(&self.fair_rules, &mut self.cpus[c as usize], &mut self.tasks)
    }

    /// Charges what the running fair task of CPU `c` ran. A request that is over is noticed here, and nowhere else: at
    /// ticks, when tasks come and go, and when the CPU chooses.
    #[inline(always)]
    pub(crate) fn update_curr(&mut self, c: u32) {
        if self.cpus[c as usize].line.has_uncharged() {
            self.charge_curr(c);
        }
    }

    #[inline(never)]
    fn charge_curr(&mut self, c: u32) {
        let uncharged_ns = self.cpus[c as usize].line.take_uncharged();
        self.server_ran(c, uncharged_ns);
        self.cache_account(c, uncharged_ns);
        if self.tree_as_is(c).charge(uncharged_ns) {
            self.request_is_over(c);
        }
    }
}
