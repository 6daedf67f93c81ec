// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks that start to exist: at their time, or because another task makes them.

use pelton_core::{Se, UclampSumTask, UclampTask};
use pelton_schema::Event;

use crate::class::deadline::DlEntity;
use crate::class::fair::FairEntity;
use crate::class::levels::ROOT;
use crate::class::realtime::RtEntity;
use crate::cpu::progress::Progress;
use crate::cpu::timers::Sleep;
use crate::engine::activation::Activation;
use crate::engine::life::{Being, Kind, Life};
use crate::engine::queue::Ev;
use crate::observe::samples::Samples;
use crate::program::ops::Flow;
use crate::program::place::Place;
use crate::report::TaskReport;
use crate::rq::parts::Counted;
use crate::sched::parts::TaskSched;
use crate::sched::setscheduler::apply_policy;
use crate::shape::Run;
use crate::state::{Engine, Task};

use pelton_model::workload::{CpuSet, SchedPolicy, TaskSpec};

/// Operations within which a task that sleeps when the run begins has to wait.
const FIRST_OPS_MAX: u32 = 100;

impl<S: Run> Engine<'_, S> {
    /// A task starts to exist.
    pub(crate) fn start_task(&mut self, t: u32) {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        if task.life() != Life::Unborn {
            return;
        }
        if self.tasks[t as usize].asked_clamps().is_some() {
            self.use_clamps();
        }
        let task = &mut self.tasks[t as usize];
        task.rises();
        self.is_thread(t);
        let task = &mut self.tasks[t as usize];
        task.activation.starts_at(now);
        task.program.started_ns = now;
        let parent_cpu = task.sched.forked_on();
        let target = self.select_new(t);
        let task = &mut self.tasks[t as usize];
        task.starts_on(target, now);
        // The parent enqueues its child.
        self.exec = parent_cpu.unwrap_or(target);
        self.account(target);
        self.update_clock(target);
        if self.tasks[t as usize].is_fair() {
            if let Some(parent_cpu) = parent_cpu {
                self.account(parent_cpu);
                self.fair_fork(parent_cpu, t);
            }
            self.signal_post_init(target, t);
        } else {
            self.signal_init_other_class(target, t);
        }
        self.enqueue(target, t, false);
        if self.tasks[t as usize].is_fair() {
            self.vote_usage(target);
        }
        let prio = self.tasks[t as usize].prio();
        self.introduce(t);
        self.emit(Event::SchedWakeupNew { cpu: self.exec, tid: Task::tid(t), prio, target_cpu: target });
        self.check_preempt(target, t);
    }

    /// Task `t` was there before the run and sleeps on CPU `c`: it goes through its program until it waits. One that
    /// does not wait starts like any other.
    pub(crate) fn begin_asleep(&mut self, t: u32, c: u32) {
        let w = self.w;
        let Some(spec) = w.tasks.get(t as usize) else { return };
        self.programs.gains(spec);
        self.exec = c;
        let task = &mut self.tasks[t as usize];
        task.was_on(c);
        task.rests();
        self.is_thread(t);
        self.introduce(t);
        let flow = (0..FIRST_OPS_MAX).map(|_| self.next_op(t, spec)).find(|&flow| flow != Flow::Next);
        let task = &mut self.tasks[t as usize];
        if flow == Some(Flow::Block) {
            task.fair.was_here();
            return;
        }
        if let Some(Flow::Busy(step)) = flow {
            task.progress.begins(step);
        }
        task.is_yet_to_start();
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
        let waits = |task: &Task| task.life() == Life::Unborn && task.sched.forked_on().is_none();
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
        self.tasks[t as usize].sched.is_forked(cpu);
        if let Kind::Program { spec } = self.tasks[t as usize].kind {
            self.programs.gains(&self.w.tasks[spec as usize]);
        }
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
        task.report.wakeup_latency_ns = Samples::sharing(tasks);
        task.group = self.groups.number(&spec.taskgroup);
        task.counted = Counted::of_boost_group(self.boosts.group_of(&spec.name, &spec.taskgroup));
        if let Some(clamps) = spec.uclamp {
            task.asks_clamps(clamps);
        }
        task
    }
}

pub(crate) fn new_task(kind: Kind, name: String, policy: SchedPolicy, allowed: CpuSet, own_timers: u32) -> Task {
    let first = allowed.iter().next().unwrap_or(0);
    let mut task = Task {
        kind,
        cpu: first,
        group: ROOT,
        being: Being::new(policy, allowed),
        progress: Progress::default(),
        se: Se::default(),
        fair: FairEntity::fresh(),
        sched: TaskSched::new(first),
        sleep: Sleep::default(),
        program: Place::new(own_timers),
        activation: Activation::default(),
        dl: DlEntity::default(),
        rt: RtEntity::default(),
        uclamp: UclampTask::default(),
        clamp_sum: UclampSumTask::default(),
        counted: Counted::default(),
        report: TaskReport { name: name.clone(), ..TaskReport::default() },
        name,
    };
    apply_policy(&mut task, policy);
    task.se = Se::new(task.fair.weight());
    task
}
