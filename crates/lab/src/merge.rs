// SPDX-License-Identifier: GPL-2.0-only
//! Workloads that run together, and workloads held on one CPU.

pub use pelton_scenario::bench::merge;
use pelton_sim::Workload;
use pelton_sim::workload::CpuSet;

/// Restricts every task to one CPU, in every phase.
pub fn pin(workload: &mut Workload, cpu: u32) {
    for task in &mut workload.tasks {
        task.cpus = Some(CpuSet::of([cpu]));
        for phase in &mut task.phases {
            phase.cpus = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use pelton_sim::workload::{Phase, TaskSpec};

    use super::*;

    #[test]
    fn pinning_reaches_every_phase() {
        let phases = vec![Phase { cpus: Some(CpuSet::first(4)), ..Phase::default() }];
        let tasks = vec![TaskSpec::default(), TaskSpec { phases, ..TaskSpec::default() }];
        let mut whole = Workload { tasks, ..Workload::default() };
        pin(&mut whole, 3);
        let pinned = |t: &TaskSpec| t.cpus == Some(CpuSet::of([3])) && t.phases.iter().all(|p| p.cpus.is_none());
        assert!(whole.tasks.iter().all(pinned));
    }
}
