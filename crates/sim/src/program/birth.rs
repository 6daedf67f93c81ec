// SPDX-License-Identifier: GPL-2.0-only
//! Tasks that start to exist: at their time, or because another task makes them.

use pelton_schema::{Event, Sink};

use crate::class::Class;
use crate::engine::Engine;
use crate::engine::queue::Ev;
use crate::engine::state::{Life, Task};
use crate::program::ops::Flow;

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
        task.life = Life::Runnable;
        task.activation.start_ns = now;
        task.started_ns = now;
        task.woken_ns = Some(now);
        let parent_cpu = task.forked_on;
        let target = self.select_new(t);
        let decided = self.placing.decides && self.tasks[t as usize].class == Class::Fair;
        let task = &mut self.tasks[t as usize];
        // It remembers its parent's CPU where the core decides.
        task.recent_cpu = if decided { task.cpu } else { target };
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

    /// Task `t` was there before the run and sleeps on CPU `c`: it goes through its program until it waits. One that does
    /// not wait starts like any other.
    pub(crate) fn begin_asleep(&mut self, t: u32, c: u32) {
        let w = self.w;
        let Some(spec) = w.tasks.get(t as usize) else { return };
        self.living += 1;
        self.exec = c;
        let task = &mut self.tasks[t as usize];
        (task.cpu, task.recent_cpu) = (c, c);
        task.life = Life::Sleeping;
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
        self.queue.push(self.now, Ev::TaskStart { task: t });
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

    /// The running task has made task `t`, which starts when this one has done what it does at the same instant.
    fn born(&mut self, t: u32) {
        let cpu = self.exec;
        self.tasks[t as usize].forked_on = Some(cpu);
        self.living += 1;
        let (parent_tid, child_tid) = (Task::tid(self.cpus[cpu as usize].curr), Task::tid(t));
        self.emit(Event::SchedProcessFork { cpu, parent_tid, child_tid });
        self.queue.push(self.now, Ev::TaskStart { task: t });
    }
}
