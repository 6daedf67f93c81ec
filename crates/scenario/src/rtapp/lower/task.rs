// SPDX-License-Identifier: GPL-2.0-or-later
//! One task to its simulated form.

use std::collections::BTreeSet;

use pelton_model::workload::{CpuSet, Op, Phase, Process, SchedPolicy, Start, TaskSpec, TimerId, TimerMode};

use super::Lowering;
use super::group::{phase_group, taskgroup};
use super::names::Names;
use super::sched::{self, UNCLAMPED, ns};
use crate::rtapp::ast::{Event, EventKind, Timer};
use crate::rtapp::flat::{FlatPhase, FlatTask};

impl Lowering<'_> {
    /// The task without number: name, start and copies are added by the caller.
    pub(super) fn task(&mut self, task: &FlatTask) -> TaskSpec {
        let props = &task.task.props;
        let at = task.task.name.span;
        let (mut policy_name, policy) = sched::task_policy(task, self.default_policy, at, &mut self.report);
        let taskgroup = taskgroup(task, policy_name, &mut self.report);
        let uclamp = sched::clamps(props, UNCLAMPED, &mut self.report);
        let clamps = sched::phase_clamps(task, uclamp.unwrap_or(UNCLAMPED), &mut self.report);
        let mut timers = Timers::of(task);
        let mut phases = Vec::with_capacity(task.phases.len());
        for (phase, uclamp) in task.phases.iter().zip(clamps) {
            let policy = sched::phase_policy(phase.props, &mut policy_name, phase.name.span, &mut self.report);
            let cpus = self.phase_cpus(task, phase);
            let taskgroup = phase_group(phase, policy_name, &mut self.report);
            phases.push(Phase { uclamp, policy, cpus, taskgroup, ..self.phase(phase, &mut timers) });
        }
        TaskSpec {
            name: task.task.name.value.clone(),
            policy,
            cpus: props.cpus.as_ref().map(|c| CpuSet::of(c.value.iter().copied())),
            start: Start::AtStart,
            phases,
            loops: task.repeat,
            uclamp,
            process: Process::default(),
            taskgroup,
            own_timers: timers.own.count(),
            timer_slack_ns: 0,
            run_capacity: self.run_capacity,
            frame_ns: 0,
            frame_floor: None,
            background: false,
            first_phases: 0,
        }
    }

    /// CPUs of a phase. If any phase sets CPUs, every phase does: one without goes back to those of the task.
    fn phase_cpus(&self, task: &FlatTask, phase: &FlatPhase) -> Option<CpuSet> {
        if task.phases.iter().all(|p| p.props.cpus.is_none()) {
            return None;
        }
        let set = phase.props.cpus.as_ref().or(task.task.props.cpus.as_ref());
        Some(set.map_or_else(|| CpuSet::first(self.cpus), |c| CpuSet::of(c.value.iter().copied())))
    }

    fn phase(&mut self, phase: &FlatPhase, timers: &mut Timers) -> Phase {
        let mut ops: Vec<Op> = Vec::with_capacity(phase.events.len() + 1);
        for event in &phase.events {
            ops.extend(self.op(event, timers));
        }
        let works = |e: &Event| {
            matches!(e.kind, EventKind::Run(_) | EventKind::Runtime(_) | EventKind::Mem(_) | EventKind::IoRun(_))
        };
        let has_timer = phase.events.iter().any(|e| matches!(e.kind, EventKind::Timer(_)));
        // A timer ends an activation by itself. A round without timer that computes is one activation, as in the logs
        // of rt-app; rounds that only pass a signal on are not counted.
        if !has_timer && phase.events.iter().any(works) {
            ops.push(Op::EndActivation);
        }
        Phase { name: phase.name.value.clone(), loops: phase.repeat, ops, ..Phase::default() }
    }

    fn op(&mut self, event: &Event, timers: &mut Timers) -> Option<Op> {
        let names = &mut self.names;
        Some(match &event.kind {
            EventKind::Run(us) => Op::Run { work_ns: self.work_ns(us.value) },
            EventKind::Mem(bytes) => Op::Run { work_ns: self.traffic.mem_ns(bytes.value, self.run_capacity) },
            EventKind::IoRun(bytes) => Op::Run { work_ns: self.traffic.io_ns(bytes.value, self.run_capacity) },
            EventKind::Runtime(us) => Op::Spin { wall_ns: ns(us.value) },
            // A sleep of nothing is left out: rt-app's only effect is a system call.
            EventKind::Sleep(us) if us.value == 0 => return None,
            EventKind::Sleep(us) => Op::Sleep { ns: ns(us.value) },
            EventKind::Timer(timer) => self.timer(timer, timers),
            EventKind::Lock(name) => Op::Lock(names.mutexes.number(&name.value)),
            EventKind::Unlock(name) => Op::Unlock(names.mutexes.number(&name.value)),
            EventKind::Wait(c) => {
                Op::Wait { cond: names.conds.number(&c.cond.value), mutex: names.mutexes.number(&c.mutex.value) }
            }
            EventKind::Signal(name) => Op::Signal(names.conds.number(&name.value)),
            EventKind::Broadcast(name) => Op::Broadcast(names.conds.number(&name.value)),
            EventKind::Sync(c) => {
                Op::Sync { cond: names.conds.number(&c.cond.value), mutex: names.mutexes.number(&c.mutex.value) }
            }
            EventKind::Suspend(name) => Op::Suspend(names.conds.number(&name.as_ref()?.value)),
            EventKind::Resume(name) => Op::Resume(names.conds.number(&name.value)),
            EventKind::Barrier(name) => Op::Barrier(names.barriers.number(&name.value)),
            EventKind::Yield => Op::Yield,
            EventKind::Fork(name) => Op::Fork { task: *self.templates.get(name.value.as_str())? },
            EventKind::Exec(_) => Op::Exec,
            EventKind::SemPost(name) => Op::SemPost(names.semaphores.number(&name.value)),
            EventKind::SemWait(name) => Op::SemWait(names.semaphores.number(&name.value)),
            EventKind::NoModel(_) => return None,
        })
    }

    fn timer(&mut self, timer: &Timer, timers: &mut Timers) -> Op {
        let name = timer.name.value.as_str();
        let (id, absolute) = if timer.is_unique() {
            (TimerId::Own(timers.own.number(name)), timers.absolute.contains(name))
        } else {
            (TimerId::Shared(self.names.timers.number(name)), self.absolute_timers.contains(name))
        };
        let mode = if absolute { TimerMode::Absolute } else { TimerMode::Relative };
        Op::Timer { timer: id, period_ns: ns(timer.period_us.value), mode }
    }
}

/// A task's private timers.
struct Timers {
    own: Names,
    absolute: BTreeSet<String>,
}

impl Timers {
    fn of(task: &FlatTask) -> Self {
        let absolute = absolute_timers(std::slice::from_ref(task), true);
        Timers { own: Names::default(), absolute }
    }
}

/// Timers with an absolute use: the mode belongs to the timer, one use sets it for all.
pub(super) fn absolute_timers(tasks: &[FlatTask], unique: bool) -> BTreeSet<String> {
    let absolute = |e: &Event| match &e.kind {
        EventKind::Timer(t) if t.absolute && t.is_unique() == unique => Some(t.name.value.clone()),
        _ => None,
    };
    tasks.iter().flat_map(|t| t.events()).filter_map(absolute).collect()
}

/// True for tasks that Linux would not let be bound to fewer CPUs.
pub(super) fn is_deadline(policy: SchedPolicy) -> bool {
    matches!(policy, SchedPolicy::Deadline { .. })
}
