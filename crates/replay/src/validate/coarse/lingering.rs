// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks of groups that ended: their utilization leaves the CPU's own queue when the average of the group is next
//! updated there. A trace has neither the tasks of a group nor that moment; only the end of the tasks.

use pelton_core::{Se, runs};

use super::machine::Machine;
use crate::validate::tolerance::{AVERAGES, Tolerance};

/// Tasks kept for each CPU; of more the oldest count as gone.
const LINGERING_MAX: usize = 64;

impl Machine {
    /// A task ended, and may be part of the queue until its group is updated.
    pub(super) fn linger(&mut self, now: u64, cpu: u32, se: Se) {
        let there = self.lingering.entry(cpu).or_default();
        there.push(se);
        self.lingered += 1;
        if there.len() > LINGERING_MAX {
            let oldest = there.remove(0);
            self.gone(now, cpu, &[oldest]);
        }
    }

    /// Removes tasks that ended on a CPU, before a recorded value of its queue is compared: all of them, unless that
    /// does not fit. Then as many, the first first, as bring the queue nearest to the value.
    pub fn resolve(&mut self, now: u64, cpu: u32, recorded: u32) {
        let Some(there) = self.lingering.get(&cpu).filter(|there| !there.is_empty()).cloned() else { return };
        let Some(before) = self.cpus.get(&cpu).cloned() else { return };
        let mut nearest = (self.error(cpu, recorded), 0, before);
        for n in 1..=there.len() {
            self.gone(now, cpu, &there[n - 1..n]);
            self.refresh(now, cpu);
            let error = self.error(cpu, recorded);
            let fits = n == there.len() && Tolerance::permille(error) <= AVERAGES.mean_permille;
            if let Some(after) = self.cpus.get(&cpu).filter(|_| fits || error < nearest.0) {
                nearest = (error, n, after.clone());
            }
        }
        self.cpus.insert(cpu, nearest.2);
        self.lingering.insert(cpu, there[nearest.1..].to_vec());
    }

    fn error(&self, cpu: u32, recorded: u32) -> u64 {
        self.cpus.get(&cpu).map_or(0, |c| c.rq.cfs.avg.util_avg.abs_diff(recorded.into()))
    }

    /// Their utilization leaves at the next update of the queue.
    fn gone(&mut self, now: u64, cpu: u32, who: &[Se]) {
        let pol = self.pol;
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        for mut se in who.iter().copied() {
            c.rq.migrate_sleeping_task(&pol, &mut se, c.class == runs::IDLE, now);
        }
    }
}
