// SPDX-License-Identifier: GPL-2.0-or-later
//! The host's side of `select_class.h`: what a search for a CPU of a real-time or deadline task reads, and where it
//! ended.

use pelton_core::{ClassCpu, ClassCurr, ClassSearch, ClassTask, NO_DEADLINE, sd, value};

use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// The CPU of a real-time task that wakes.
    pub(crate) fn select_rt(&mut self, t: u32) -> u32 {
        let (task, curr) = self.class_task(t);
        let policy = self.policy.get();
        if !task.rt_looks(policy, &curr, self.m.cpus[task.cpu as usize].capacity) {
            return task.cpu;
        }
        self.search_lowest(t, &task).select_rt(policy, &task, &curr)
    }

    /// The CPU of a deadline task that wakes.
    pub(crate) fn select_deadline(&mut self, t: u32) -> u32 {
        let (task, curr) = self.class_task(t);
        if !task.dl_looks(self.policy.get(), &curr, self.m.cpus[task.cpu as usize].capacity) {
            return task.cpu;
        }
        self.later_rq(t, &task).unwrap_or(task.cpu)
    }

    /// CPU on which a waiting real-time task may run at once.
    pub(crate) fn lowest_rq_of(&mut self, t: u32) -> Option<u32> {
        let task = self.class_task(t).0;
        self.search_lowest(t, &task).lowest_rq(&task)
    }

    /// CPU on which a waiting deadline task may run at once.
    pub(crate) fn later_rq_of(&mut self, t: u32) -> Option<u32> {
        let task = self.class_task(t).0;
        self.later_rq(t, &task)
    }

    /// Some CPU would run a real-time task at once. The task is not sent there.
    pub(crate) fn may_go_elsewhere(&self, t: u32) -> bool {
        let task = self.class_task(t).0;
        self.lowest(t, &task).lowest_rq(&task).is_some()
    }

    fn lowest(&self, t: u32, task: &ClassTask) -> ClassSearch {
        let cpus = (0..task.nr_cpus).map(|c| self.class_cpu(t, task.cpu, c));
        ClassSearch::lowest(self.policy.get(), task, cpus)
    }

    fn search_lowest(&mut self, t: u32, task: &ClassTask) -> ClassSearch {
        let search = self.lowest(t, task);
        self.note_found(task, search.lowest_rq(task), false);
        search
    }

    fn later_rq(&mut self, t: u32, task: &ClassTask) -> Option<u32> {
        let cpus = (0..task.nr_cpus).map(|c| self.class_cpu(t, task.cpu, c));
        let found = ClassSearch::later(self.policy.get(), task, cpus).later_rq(self.policy.get(), task);
        self.note_found(task, found, true);
        found
    }

    /// The next search of this CPU goes on behind the present one.
    fn note_found(&mut self, task: &ClassTask, found: Option<u32>, deadline: bool) {
        if let Some(cpu) = found.filter(|_| task.spreads(self.policy.get(), found, deadline)) {
            self.placing.last_found[task.this_cpu as usize] = cpu;
        }
    }

    /// The task as a search reads it, and what runs where it last ran.
    fn class_task(&self, t: u32) -> (ClassTask, ClassCurr) {
        let task = &self.tasks[t as usize];
        let cpu = self.allowed_or_first(t, task.cpu);
        // Without clamps every CPU is large enough.
        let clamps = if self.policy.uclamp == value::UCLAMP_OFF { (0, 0) } else { self.clamps_of(t) };
        let mut searches = ClassTask {
            prio: task.rt.priority().into(),
            uclamp_min: clamps.0,
            uclamp_max: clamps.1,
            nr_cpus_allowed: task.allowed().len() as u32,
            cpu,
            this_cpu: self.exec,
            last_found: self.placing.last_found[self.exec as usize],
            nr_cpus: self.cpus.len() as u32,
            asymmetric: self.sched.asymmetric.into(),
            ..ClassTask::default()
        };
        task.dl.fill(&mut searches);
        (searches, self.class_curr(cpu))
    }

    fn class_curr(&self, c: u32) -> ClassCurr {
        let cpu = &self.cpus[c as usize];
        let none = ClassCurr { deadline_ns: NO_DEADLINE, ..ClassCurr::default() };
        let Some(task) = self.tasks.get(cpu.curr as usize) else { return none };
        let nr_cpus_allowed = task.allowed().len() as u32;
        match cpu.running {
            Some(Class::Worker) => ClassCurr { deadline_ns: 0, nr_cpus_allowed, ..none },
            Some(Class::Deadline) => ClassCurr { deadline_ns: task.dl.deadline_ns(), nr_cpus_allowed, ..none },
            Some(Class::Realtime) => ClassCurr { prio: task.rt.priority().into(), nr_cpus_allowed, ..none },
            _ => ClassCurr { nr_cpus_allowed, ..none },
        }
    }

    fn class_cpu(&self, t: u32, home: u32, c: u32) -> ClassCpu {
        ClassCpu {
            deadline_ns: self.dl_earliest_ns(c),
            cpu: c,
            allowed: self.tasks[t as usize].may_run_on(c).into(),
            prio: self.rt_priority(c),
            capacity: self.m.cpus[c as usize].capacity,
            distance: self.distance(home, c),
            ..ClassCpu::default()
        }
    }

    /// Priority of the strongest real-time task of a CPU, running or not; 0 = none.
    fn rt_priority(&self, c: u32) -> u32 {
        let cpu = &self.cpus[c as usize];
        let runs = cpu.runs(Class::Realtime) && self.stays(c);
        let running = if runs { self.tasks[cpu.curr as usize].rt.priority() } else { 0 };
        cpu.rt.first().map_or(running, |(priority, _)| running.max(priority)).into()
    }

    /// The running task of `c` is not about to leave.
    pub(crate) fn stays(&self, c: u32) -> bool {
        let task = &self.tasks[self.cpus[c as usize].curr as usize];
        task.cpu == c && task.is_runnable()
    }

    /// Number of the smallest domain around `home` that spans `c` and counts for wake-ups, or how many there are.
    fn distance(&self, home: u32, c: u32) -> u32 {
        let record = self.placing.record();
        let cpu = &record.rows()[home as usize];
        let counts = cpu.domains[..cpu.nr_domains as usize].iter().filter(|d| d.flags & sd::WAKE_AFFINE != 0);
        counts.take_while(|d| !record.span_has(d.span, c)).count() as u32
    }

    /// Earliest deadline of the deadline tasks of a CPU; the governor's worker is before all.
    pub(crate) fn dl_earliest_ns(&self, c: u32) -> u64 {
        let cpu = &self.cpus[c as usize];
        if cpu.runs(Class::Worker) || cpu.workers.len() > 0 {
            return 0;
        }
        let running = match cpu.running {
            Some(Class::Deadline) if self.stays(c) && !self.tasks[cpu.curr as usize].dl.throttled() => {
                self.tasks[cpu.curr as usize].dl.deadline_ns()
            }
            _ => u64::MAX,
        };
        let server = self.server_deadline_ns(c).unwrap_or(u64::MAX);
        cpu.dl.first().map_or(running, |(d, _)| running.min(d)).min(server)
    }
}
