// SPDX-License-Identifier: GPL-2.0-or-later
//! Start of rt-app (rt-app.c, `main` and `thread_body`): one thread makes the others one after another, each waits
//! until all are there, and only then takes the delay, class, clamps and CPUs that its file gives it. Until then they
//! are ordinary threads that start anywhere and have hardly run. The place where they are woken decides where a use
//! case begins.
//!
//! Not modelled: that rt-app joins a task group only then (here a thread is born in it), and what it prints and locks.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, Start, TaskSpec};

use super::spec::Spec;

/// Longest work of making a thread, microseconds.
const WORK_US_MAX: u64 = 1_000_000;
/// Name of the thread that makes the others.
const MAIN: &str = "rt-app";

/// Costs of making the threads of a use case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtAppStart {
    /// Work of making a thread, ns at capacity 1024.
    pub create_ns: u64,
    /// Work of a new thread until it waits for the others, ns at capacity 1024.
    pub setup_ns: u64,
}

/// `rt-app-start:create_us=350,setup_us=60`. With these a thread of a Juno r2 is made in 1.0 to 1.3 ms and runs for
/// 0.17 to 0.21 ms before it waits. Recordings of rt-app there (`arm-uclamp`) have medians of 1.1 ms (80 % are 0.9 to
/// 1.5) and 0.20 ms (0.17 to 0.25).
pub(super) fn declared(spec: &mut Spec) -> RtAppStart {
    RtAppStart {
        create_ns: spec.time_ns("create_us", Some(350_000), WORK_US_MAX),
        setup_ns: spec.time_ns("setup_us", Some(60_000), WORK_US_MAX),
    }
}

impl RtAppStart {
    /// Every task that would be there at the start, or after a delay, is made by a thread `rt-app`, which is added as
    /// the last task. Tasks that others make, and those that were asleep before, stay as they are.
    pub fn apply(self, workload: &mut Workload) {
        let barrier = u32::try_from(workload.barriers.len()).unwrap_or(u32::MAX);
        let made: Vec<u32> =
            (0..).zip(&mut workload.tasks).filter_map(|(i, t)| self.wait(t, barrier).then_some(i)).collect();
        let Some(process) = made.first().map(|&first| workload.tasks[first as usize].process) else { return };
        workload.barriers.push(u32::try_from(made.len()).unwrap_or(u32::MAX));
        let make = |&task: &u32| [Op::Run { work_ns: self.create_ns }, Op::Spawn { task }];
        let ops = made.iter().flat_map(make).collect();
        let phase = Phase { name: "start".into(), loops: Some(1), ops, silent: true, ..Phase::default() };
        let main = TaskSpec { name: MAIN.into(), phases: vec![phase], loops: Some(1), process, ..TaskSpec::default() };
        workload.tasks.push(main);
    }

    /// Puts the wait before everything that the task does; no for one that another task begins.
    fn wait(self, task: &mut TaskSpec, barrier: u32) -> bool {
        let delay = match task.start {
            Start::AtStart => None,
            Start::After(ns) => Some(Op::Sleep { ns }),
            Start::Within(max_ns) => Some(Op::SleepUniform { min_ns: 0, max_ns }),
            Start::Asleep { .. } | Start::OnFork => return false,
        };
        if task.phases.is_empty() {
            return false;
        }
        if let Some(cpus) = task.cpus.take() {
            task.phases.iter_mut().for_each(|phase| phase.cpus = phase.cpus.take().or(Some(cpus.clone())));
        }
        let mut ops = vec![Op::Run { work_ns: self.setup_ns }, Op::Barrier(barrier)];
        ops.extend(delay);
        let once = Phase { loops: Some(1), silent: true, ..Phase::default() };
        let policy = Some(std::mem::take(&mut task.policy));
        // Feedback on frames goes back to the clamps of the task itself.
        let uclamp = if task.frame_floor.is_none() { task.uclamp.take() } else { None };
        let takes = Phase { name: "attributes".into(), policy, uclamp, ..once.clone() };
        task.phases.splice(0..0, [Phase { name: "start".into(), ops, ..once }, takes]);
        (task.start, task.first_phases) = (Start::OnFork, task.first_phases + 2);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::workload::CpuSet;

    const START: RtAppStart = RtAppStart { create_ns: 10, setup_ns: 20 };

    fn workload() -> Workload {
        let phase = |cpus| Phase { ops: vec![Op::Run { work_ns: 1 }], cpus, ..Phase::default() };
        let task = TaskSpec {
            name: "t".into(),
            uclamp: Some((0, 100)),
            cpus: Some(CpuSet::of([1])),
            phases: vec![phase(None), phase(Some(CpuSet::of([2])))],
            ..TaskSpec::default()
        };
        let late = TaskSpec { start: Start::After(7), ..task.clone() };
        let made = TaskSpec { start: Start::OnFork, ..task.clone() };
        Workload { tasks: vec![task, made, late], barriers: vec![3], ..Workload::default() }
    }

    #[test]
    fn attributes_come_behind_the_barrier() {
        let mut w = workload();
        START.apply(&mut w);
        assert_eq!(w.barriers, [3, 2], "two tasks wait for each other");
        let task = &w.tasks[0];
        assert_eq!((task.start, task.first_phases, task.uclamp, &task.cpus), (Start::OnFork, 2, None, &None));
        assert_eq!(task.phases[0].ops, [Op::Run { work_ns: 20 }, Op::Barrier(1)]);
        assert_eq!((task.phases[0].uclamp, task.phases[1].uclamp), (None, Some((0, 100))));
        let cpus: Vec<_> = task.phases.iter().map(|p| p.cpus.as_ref().map(|c| c.iter().collect::<Vec<_>>())).collect();
        assert_eq!(cpus, [None, None, Some(vec![1]), Some(vec![2])]);
    }

    #[test]
    fn a_delay_begins_behind_the_barrier_and_children_of_others_stay() {
        let mut w = workload();
        START.apply(&mut w);
        assert_eq!(w.tasks[1], workload().tasks[1]);
        assert_eq!(w.tasks[2].phases[0].ops.last(), Some(&Op::Sleep { ns: 7 }));
        let main = w.tasks.last().expect("the thread that makes the others");
        let make = |task| [Op::Run { work_ns: 10 }, Op::Spawn { task }];
        assert_eq!((main.name.as_str(), &main.phases[0].ops), ("rt-app", &[make(0), make(2)].concat()));
    }

    #[test]
    fn without_tasks_nothing_is_made() {
        let mut w = Workload::default();
        START.apply(&mut w);
        assert_eq!(w, Workload::default());
    }
}
