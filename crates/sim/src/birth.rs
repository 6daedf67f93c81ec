// SPDX-License-Identifier: GPL-2.0-only
//! Tasks that start to exist: at their time, or because another task makes them.

use pelton_schema::{Event, Sink};

use crate::class::Class;
use crate::engine::Engine;
use crate::queue::Ev;
use crate::state::{Life, Task};

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
        let target = self.select_fork(t);
        let task = &mut self.tasks[t as usize];
        (task.cpu, task.recent_cpu) = (target, target);
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
        let prio = self.tasks[t as usize].prio;
        self.introduce(t);
        self.emit(Event::SchedWakeupNew { cpu: target, tid: Task::tid(t), prio, target_cpu: target });
        self.check_preempt(target, t);
    }

    /// `Op::Fork`: a new task from a template.
    pub(crate) fn fork(&mut self, template: u32) {
        let w = self.w;
        let Some(spec) = w.tasks.get(template as usize) else { return };
        let mut task = self.task_from_spec(template, spec);
        let index = self.tasks.len() as u32;
        task.name = format!("{}-{index}", spec.name);
        task.report.name.clone_from(&task.name);
        task.forked_on = Some(self.exec);
        self.tasks.push(task);
        self.living += 1;
        self.queue.push(self.now, Ev::TaskStart { task: index });
    }
}
