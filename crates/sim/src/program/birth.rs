// SPDX-License-Identifier: GPL-2.0-only
//! Tasks that start to exist: at their time, or because another task makes them.

use pelton_core::Se;
use pelton_schema::{Event, Sink};

use crate::class::Class;
use crate::class::fair::FairEntity;
use crate::class::levels::ROOT;
use crate::engine::Engine;
use crate::engine::queue::Ev;
use crate::engine::state::{Activation, Kind, Life, NO_TASK, Position, Step, Task, TimerState};
use crate::observe::samples::Samples;
use crate::program::ops::Flow;
use crate::report::TaskReport;
use crate::sched::setscheduler::apply_policy;
use pelton_model::workload::{CpuSet, SchedPolicy, TaskSpec};

/// Operations within which a task that sleeps when the run begins has to wait.
const FIRST_OPS_MAX: u32 = 100;

impl<S: Sink> Engine<'_, S> {
    /// A task starts to exist.
    pub(crate) fn start_task(&mut self, t: u32) {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        if task.life != Life::Unborn {
            return;
        }
        if self.tasks[t as usize].clamps.is_some() {
            self.use_clamps();
        }
        let task = &mut self.tasks[t as usize];
        task.life = Life::Runnable;
        self.is_thread(t);
        let task = &mut self.tasks[t as usize];
        task.activation.start_ns = now;
        task.started_ns = now;
        task.woken_ns = Some(now);
        let parent_cpu = task.forked_on;
        let target = self.select_new(t);
        let task = &mut self.tasks[t as usize];
        // A fair task remembers its parent's CPU.
        task.recent_cpu = if task.class == Class::Fair { task.cpu } else { target };
        task.cpu = target;
        // The parent enqueues its child.
        self.exec = parent_cpu.unwrap_or(target);
        self.account(target);
        self.update_clock(target);
        if self.tasks[t as usize].class == Class::Fair {
            if let Some(parent_cpu) = parent_cpu {
                self.account(parent_cpu);
                self.fair_fork(parent_cpu, t);
            }
            self.signal_post_init(target, t);
        } else {
            self.signal_init_other_class(target, t);
        }
        self.enqueue(target, t, false);
        if self.tasks[t as usize].class == Class::Fair {
            self.vote_usage(target);
        }
        let prio = self.tasks[t as usize].prio;
        self.introduce(t);
        self.emit(Event::SchedWakeupNew { cpu: self.exec, tid: Task::tid(t), prio, target_cpu: target });
        self.check_preempt(target, t);
    }

    /// Task `t` was there before the run and sleeps on CPU `c`: it goes through its program until it waits. One that
    /// does not wait starts like any other.
    pub(crate) fn begin_asleep(&mut self, t: u32, c: u32) {
        let w = self.w;
        let Some(spec) = w.tasks.get(t as usize) else { return };
        self.living += 1;
        self.exec = c;
        let task = &mut self.tasks[t as usize];
        (task.cpu, task.recent_cpu) = (c, c);
        task.life = Life::Sleeping;
        self.is_thread(t);
        self.introduce(t);
        let flow = (0..FIRST_OPS_MAX).map(|_| self.next_op(t, spec)).find(|&flow| flow != Flow::Next);
        let task = &mut self.tasks[t as usize];
        if flow == Some(Flow::Block) {
            task.fair.fresh = false;
            return;
        }
        if let Some(Flow::Busy(step)) = flow {
            task.step = step;
        }
        task.life = Life::Unborn;
        self.cache_thread_ends(t);
        self.queue.push(self.now, Ev::TaskStart { task: t });
    }

    /// Task `t` is a thread of its process from now on; a kernel thread is of none.
    fn is_thread(&mut self, t: u32) {
        if let Kind::Program { spec } = self.tasks[t as usize].kind {
            self.cache_thread_starts(t, self.w.tasks[spec as usize].process);
        }
    }

    /// `Op::Fork`: a new task from a template.
    pub(crate) fn fork(&mut self, template: u32) {
        let w = self.w;
        let Some(spec) = w.tasks.get(template as usize) else { return };
        let mut task = self.task_from_spec(template, spec);
        let index = self.tasks.len() as u32;
        task.name = format!("{}-{index}", spec.name);
        task.report.name.clone_from(&task.name);
        self.tasks.push(task);
        self.born(index);
    }

    /// `Op::Spawn`: a task that waits for its creator, unless it was made before.
    pub(crate) fn spawn(&mut self, t: u32) {
        let waits = |task: &Task| task.life == Life::Unborn && task.forked_on.is_none();
        if self.tasks.get(t as usize).is_some_and(waits) {
            self.born(t);
        }
    }

    /// `Op::Exec`: the running task `t` loads another program. `sched_exec()` asks where that should run; the stopper
    /// takes it there before it goes on. A task that begins asleep was there before the run, its program with it.
    pub(crate) fn exec_program(&mut self, t: u32) -> Flow {
        let c = self.tasks[t as usize].cpu;
        if self.cpus[c as usize].curr != t {
            return Flow::Next;
        }
        let target = self.select_exec(t, c);
        if target == c {
            return Flow::Next;
        }
        self.takes_program(t, target);
        Flow::Leaves
    }

    /// The running task has made task `t`, which starts when this one has done what it does at the same instant.
    fn born(&mut self, t: u32) {
        let cpu = self.exec;
        self.tasks[t as usize].forked_on = Some(cpu);
        self.living += 1;
        let (parent_tid, child_tid) = (Task::tid(self.cpus[cpu as usize].curr), Task::tid(t));
        self.emit(Event::SchedProcessFork { cpu, parent_tid, child_tid });
        self.queue.push(self.now, Ev::TaskStart { task: t });
    }

    pub(crate) fn task_from_spec(&self, index: u32, spec: &TaskSpec) -> Task {
        let all = CpuSet::first(self.cpus.len() as u32);
        let first = spec.phases.first().and_then(|p| p.cpus.clone());
        let allowed = spec.cpus.clone().or(first).unwrap_or(all).below(self.cpus.len() as u32);
        let mut task =
            new_task(Kind::Program { spec: index }, spec.name.clone(), spec.policy, allowed, spec.own_timers);
        let tasks = self.w.tasks.len();
        (task.report.activation_ns, task.report.laps) = (Samples::sharing(tasks), Samples::sharing(tasks));
        task.report.call_latency = Samples::sharing(tasks);
        let boost_group = self.boosts.group_of(&spec.name, &spec.taskgroup);
        Task { group: self.groups.number(&spec.taskgroup), boost_group, clamps: spec.uclamp, ..task }
    }
}

pub(crate) fn new_task(kind: Kind, name: String, policy: SchedPolicy, allowed: CpuSet, own_timers: u32) -> Task {
    let first = allowed.iter().next().unwrap_or(0);
    let mut task = Task {
        kind,
        report: TaskReport { name: name.clone(), ..TaskReport::default() },
        name,
        life: Life::Unborn,
        policy,
        class: crate::class::Class::Fair,
        prio: 0,
        cpu: first,
        recent_cpu: first,
        forked_on: None,
        moves_to: None,
        pulled_to: None,
        loads_program: false,
        clamps: None,
        uclamp: Default::default(),
        uncounted: false,
        clamp_sum: Default::default(),
        cold: false,
        allowed,
        group: ROOT,
        boost_group: 0,
        se: Se::default(),
        fair: FairEntity { fresh: true, ..FairEntity::of_weight(1024) },
        rt: Default::default(),
        dl: Default::default(),
        step: Step::Fetch,
        at: Position::default(),
        timers: vec![TimerState::default(); own_timers as usize],
        timer_generation: 0,
        armed_ns: None,
        relock: None,
        call: None,
        lap_start_ns: None,
        activation: Activation::default(),
        started_ns: 0,
        waiting_since_ns: 0,
        woken_ns: None,
        in_iowait: false,
        asked: (0, 0),
        last_ran_ns: 0,
        list_place: 0,
        energy_fj: 0,
        wakee_flips: 0,
        last_wakee: NO_TASK,
        flips_decay_ns: 0,
        perf_index_sum: 0,
    };
    apply_policy(&mut task, policy);
    task.se = Se::new(task.fair.weight());
    task
}
