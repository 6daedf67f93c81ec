// SPDX-License-Identifier: GPL-2.0-or-later
//! Meaning of each event for the tasks it is about.
//!
//! Events may be missing anywhere: a switch whose outgoing task is not the one believed to run starts anew on that CPU,
//! and what cannot be known is counted in [`Gaps`](super::record::Gaps), never guessed.

use pelton_schema::{Event, STATE_DEAD, STATE_RUNNABLE, Sink};

use super::record::{Attributes, First, NOBODY, RecordedTask, Recorder, State, Step, TASKS_MAX};
use super::totals::CPUS_MAX;

impl Sink for Recorder {
    fn event(&mut self, time_ns: u64, event: &Event) {
        if !self.begun && time_ns >= self.from_ns {
            self.begin();
        }
        self.now_ns = self.now_ns.max(time_ns);
        match *event {
            Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
                if let Some(slot) = self.slot(cpu) {
                    let was_idle = prev_tid == 0 && self.current[slot] == Some(NOBODY);
                    let was_known = self.current[slot].is_some();
                    self.leave(slot, prev_tid, prev_prio, prev_state, next_tid == 0);
                    self.enter(slot, next_tid, next_prio, was_idle, was_known);
                }
            }
            Event::SchedWaking { cpu, tid, prio, target_cpu } => self.wake(cpu, tid, prio, target_cpu),
            Event::SchedWakeup { cpu, tid, prio, target_cpu } => {
                self.wake(cpu, tid, prio, target_cpu);
                if let Some(index) = self.known(tid) {
                    self.placed(index, target_cpu);
                }
            }
            Event::SchedProcessFork { parent_tid, child_tid, .. } => self.fork(parent_tid, child_tid),
            Event::SchedWakeupNew { cpu, tid, prio, target_cpu } => self.create(cpu, tid, prio, target_cpu),
            Event::SchedProcessExit { tid, .. } => self.ends(tid),
            Event::CpuFrequency { cpu, freq_khz } => self.frequency(cpu, freq_khz),
            Event::CpuIdle { cpu, state } => self.speeds.idle(time_ns, cpu, state),
            Event::IrqEntry { cpu, .. } | Event::SoftirqEntry { cpu, .. } => self.interrupt(cpu, true),
            Event::IrqExit { cpu, .. } | Event::SoftirqExit { cpu, .. } => self.interrupt(cpu, false),
            Event::LostEvents { cpu, .. } => self.lost(cpu),
            Event::TaskAttributes { tid, policy, cpus_allowed, uclamp_min, uclamp_max, prio, group } => {
                let uclamp = (uclamp_min, uclamp_max);
                self.attributes(tid, prio, Attributes { policy, cpus_allowed, uclamp, group });
            }
            Event::TaskGroup { .. } => self.groups.told(time_ns.saturating_sub(self.from_ns), event),
            Event::TaskUclamp { tid, uclamp_min, uclamp_max, .. } => {
                if let Some(index) = self.known(tid) {
                    self.tasks[index].uclamp = Some((uclamp_min, uclamp_max));
                }
            }
            _ => {}
        }
    }
}

impl Recorder {
    /// The living task of this id.
    fn known(&self, tid: u32) -> Option<usize> {
        self.by_tid.get(&tid).map(|&i| i as usize).filter(|&i| self.tasks[i].state != State::Dead)
    }

    fn add(&mut self, tid: u32, prio: u32, cpu: u32, first: First, state: State) -> Option<usize> {
        if self.tasks.len() >= TASKS_MAX {
            return None;
        }
        let index = self.tasks.len();
        self.tasks.push(RecordedTask {
            tid,
            first,
            parent: None,
            first_cpu: cpu,
            prio,
            steps: Vec::new(),
            ended_ns: None,
            attributes: None,
            uclamp: None,
            seen_cpus: 0,
            run_ns: 0,
            cpu,
            state,
            work: 0,
            costs: 0,
            prio_now: prio,
            attributes_now: None,
            woken_far: None,
        });
        self.by_tid.insert(tid, index as u32);
        Some(index)
    }

    fn set_prio(&mut self, index: usize, prio: u32) {
        if self.tasks[index].prio_now != prio {
            self.flush(index);
            self.tasks[index].prio_now = prio;
            self.push(index, Step::Priority(prio));
        }
    }

    /// The outgoing half of a switch.
    fn leave(&mut self, cpu: usize, tid: u32, prio: u32, prev_state: u32, to_idle: bool) {
        let believed = self.current[cpu].take();
        if tid == 0 {
            if let Some(index) = believed.filter(|&index| index != NOBODY) {
                self.forget(index as usize);
            }
            return;
        }
        let index = match self.known(tid) {
            Some(index) => index,
            None => {
                // It ran before the first event of this CPU.
                let state = State::Running { since_ns: self.now_ns };
                let Some(index) = self.add(tid, prio, cpu as u32, First::Runnable, state) else { return };
                index
            }
        };
        if believed != Some(index as u32) {
            if let Some(other) = believed.filter(|&other| other != NOBODY) {
                self.forget(other as usize);
            }
            self.gaps.mismatched_switches += u64::from(believed.is_some());
            let task = &mut self.tasks[index];
            if !matches!(task.state, State::Running { .. }) || task.cpu != cpu as u32 {
                if task.is_unseen() {
                    // It had an event, and ran all the time.
                    (task.first, task.first_cpu) = (First::Runnable, cpu as u32);
                }
                task.cpu = cpu as u32;
                task.state = State::Running { since_ns: self.now_ns };
            }
        }
        self.charge(index, self.now_ns);
        self.set_prio(index, prio);
        self.rest(index, prev_state, to_idle);
    }

    /// A task that left its CPU: asleep, waiting or gone.
    fn rest(&mut self, index: usize, prev_state: u32, to_idle: bool) {
        let at_ns = self.now_ns;
        let sleeps = if self.prev_state_known { prev_state != STATE_RUNNABLE } else { to_idle };
        let exits = self.prev_state_known && prev_state == STATE_DEAD;
        let ends = exits || self.tasks[index].ended_ns.is_some();
        if ends || sleeps {
            self.flush(index);
            // What a burst could not pay is not taken from a later one.
            self.tasks[index].costs = 0;
        }
        self.tasks[index].state = match sleeps {
            _ if ends => {
                self.tasks[index].ended_ns.get_or_insert(at_ns);
                State::Dead
            }
            true => State::Asleep { at_ns },
            false => State::Preempted { at_ns },
        };
    }

    /// The incoming half of a switch.
    fn enter(&mut self, cpu: usize, tid: u32, prio: u32, was_idle: bool, was_known: bool) {
        if tid == 0 {
            self.current[cpu] = Some(NOBODY);
            return;
        }
        let now_ns = self.now_ns;
        let index = match self.known(tid) {
            Some(index) => index,
            None => {
                let at_ns = self.from_ns.min(now_ns);
                // One that was runnable all the time would not show only now, when its CPU is followed since earlier.
                let (first, state) = match was_known && at_ns < now_ns {
                    true => (First::Asleep, State::Asleep { at_ns }),
                    false => (First::Runnable, State::Runnable),
                };
                let Some(index) = self.add(tid, prio, cpu as u32, first, state) else { return };
                index
            }
        };
        match self.tasks[index].state {
            State::Asleep { at_ns } => {
                self.gaps.unseen_wakeups += 1;
                let delay_ns = if was_idle { self.speeds.wakeup_delay_ns(now_ns, cpu as u32) } else { 0 };
                let until_ns = now_ns.saturating_sub(delay_ns).max(at_ns);
                self.push(index, Step::Sleep { at_ns, until_ns, by: NOBODY });
            }
            State::Running { .. } if self.tasks[index].cpu != cpu as u32 => self.leaves_other_cpu(index),
            _ => {}
        }
        let costs = self.speeds.costs();
        self.pays(index, costs.context_switch_ns);
        if self.tasks[index].cpu != cpu as u32 {
            self.flush(index);
            self.pays(index, costs.migration_ns);
        }
        self.placed(index, cpu as u32);
        let task = &mut self.tasks[index];
        task.cpu = cpu as u32;
        task.state = State::Running { since_ns: now_ns };
        self.current[cpu] = Some(index as u32);
        self.set_prio(index, prio);
    }

    /// A task believed to run on one CPU appears on another: the switch there was lost.
    fn leaves_other_cpu(&mut self, index: usize) {
        let old = self.tasks[index].cpu as usize;
        if let Some(current) = self.current.get_mut(old)
            && *current == Some(index as u32)
        {
            *current = None;
        }
        self.gaps.mismatched_switches += 1;
        self.forget(index);
    }

    /// A task believed to run does not: since when is not known, so nothing is charged.
    fn forget(&mut self, index: usize) {
        if let State::Running { since_ns } = self.tasks[index].state {
            self.gaps.dropped_ns += self.now_ns.saturating_sub(since_ns);
            self.flush(index);
            self.tasks[index].state = State::Unknown;
        }
    }

    fn lost(&mut self, cpu: u32) {
        self.gaps.losses += 1;
        for slot in 0..self.current.len() {
            if cpu == u32::MAX || slot == cpu as usize {
                self.irq_depth[slot] = 0;
                if let Some(index) = self.current[slot].take().filter(|&index| index != NOBODY) {
                    self.charge(index as usize, self.now_ns);
                    self.forget(index as usize);
                }
            }
        }
    }

    /// A wake-up; the first report about a sleep ends it.
    fn wake(&mut self, cpu: u32, tid: u32, prio: u32, target_cpu: u32) {
        if tid == 0 || target_cpu >= CPUS_MAX {
            return;
        }
        let index = match self.known(tid) {
            Some(index) => index,
            None => {
                let asleep = State::Asleep { at_ns: self.from_ns.min(self.now_ns) };
                let Some(index) = self.add(tid, prio, target_cpu, First::Asleep, asleep) else { return };
                index
            }
        };
        let at_ns = match self.tasks[index].state {
            State::Asleep { at_ns } => at_ns,
            // The kernel wakes only what sleeps: the switch had no state, or one that this reader does not know.
            State::Preempted { at_ns } if at_ns < self.now_ns => at_ns,
            _ => return,
        };
        let waker = self.waker(cpu).filter(|&waker| waker != index);
        let delay_ns = if waker.is_none() { self.speeds.wakeup_delay_ns(self.now_ns, cpu) } else { 0 };
        let until_ns = self.now_ns.saturating_sub(delay_ns).max(at_ns);
        self.flush(index);
        self.push(index, Step::Sleep { at_ns, until_ns, by: waker.map_or(NOBODY, |w| w as u32) });
        self.tasks[index].state = State::Runnable;
        if let Some(waker) = waker {
            self.acts(waker, Step::Wake { task: index as u32 });
            self.pays(waker, self.speeds.costs().wakeup_ns);
            let was_on = self.tasks[index].cpu;
            let idle = self.current.get(was_on as usize).is_some_and(|&current| current == Some(NOBODY));
            if idle && self.speeds.is_far(cpu, was_on) {
                self.tasks[index].woken_far = Some((waker as u32, cpu));
            }
        }
    }

    /// A running task does something to another one.
    fn acts(&mut self, index: usize, step: Step) {
        self.charge(index, self.now_ns);
        self.flush(index);
        self.push(index, step);
    }

    /// A woken task is on a run queue.
    fn placed(&mut self, index: usize, cpu: u32) {
        if let Some((waker, waker_cpu)) = self.tasks[index].woken_far.take() {
            let pulls = self.pulls.entry((waker, index as u32)).or_default();
            let far = self.speeds.is_far(waker_cpu, cpu);
            *(if far { &mut pulls.stayed } else { &mut pulls.pulled }) += 1;
        }
    }

    /// The task whose own code executes a wake-up on this CPU.
    fn waker(&self, cpu: u32) -> Option<usize> {
        let slot = cpu as usize;
        let interrupted = self.irq_depth.get(slot).is_some_and(|&depth| depth > 0);
        let current = self.current.get(slot).copied().flatten();
        current.filter(|&index| index != NOBODY && !interrupted).map(|index| index as usize)
    }

    /// A task makes another one, which is not on a run queue yet.
    fn fork(&mut self, parent_tid: u32, child_tid: u32) {
        let parent = self.known(parent_tid).filter(|&parent| matches!(self.tasks[parent].state, State::Running { .. }));
        if let Some(parent) = parent.filter(|_| child_tid != 0 && self.known(child_tid).is_none()) {
            let (prio, cpu) = (self.tasks[parent].prio_now, self.tasks[parent].cpu);
            if let Some(child) = self.add(child_tid, prio, cpu, First::Created(self.now_ns), State::Runnable) {
                self.makes(parent, child);
            }
        }
    }

    fn makes(&mut self, parent: usize, child: usize) {
        self.acts(parent, Step::Fork { task: child as u32 });
        self.tasks[child].parent = Some(parent as u32);
    }

    /// A new task is on a run queue: the task that runs where that happens has made it.
    fn create(&mut self, cpu: u32, tid: u32, prio: u32, target_cpu: u32) {
        if tid == 0 || target_cpu >= CPUS_MAX {
            return;
        }
        let created = First::Created(self.now_ns);
        let index = match self.known(tid) {
            None => self.add(tid, prio, target_cpu, created, State::Runnable),
            Some(index) if self.tasks[index].is_unseen() || self.tasks[index].is_new() => {
                let task = &mut self.tasks[index];
                (task.first, task.first_cpu, task.cpu, task.state) = (created, target_cpu, target_cpu, State::Runnable);
                (task.prio, task.prio_now) = (prio, prio);
                Some(index)
            }
            Some(_) => None,
        };
        if let Some(index) = index.filter(|&index| self.tasks[index].parent.is_none())
            && let Some(parent) = self.waker(cpu).filter(|&parent| parent != index)
        {
            self.makes(parent, index);
        }
    }

    fn ends(&mut self, tid: u32) {
        if let Some(index) = self.known(tid) {
            self.tasks[index].ended_ns = Some(self.now_ns);
        }
    }

    fn frequency(&mut self, cpu: u32, khz: u32) {
        for affected in self.speeds.affected(cpu) {
            if let Some(index) = self.current.get(affected as usize).copied().flatten().filter(|&i| i != NOBODY) {
                self.charge(index as usize, self.now_ns);
            }
            self.speeds.set(affected, khz, affected == cpu);
            self.initial_khz.entry(affected).or_insert(khz);
        }
        let at_ns = self.now_ns.saturating_sub(self.from_ns);
        let domain = self.speeds.domain(cpu).and_then(|domain| self.frequencies.get_mut(domain));
        let changes = |d: &&mut Vec<(u64, u32)>| khz != 0 && d.last().is_some_and(|&(_, before)| before != khz);
        if let Some(domain) = domain.filter(changes).filter(|_| self.steps < self.steps_max) {
            self.steps += 1;
            domain.push((at_ns, khz));
        }
    }

    fn interrupt(&mut self, cpu: u32, begins: bool) {
        if let Some(slot) = self.slot(cpu) {
            let depth = &mut self.irq_depth[slot];
            *depth = if begins { depth.saturating_add(1) } else { depth.saturating_sub(1) };
        }
    }

    fn attributes(&mut self, tid: u32, prio: u32, attributes: Attributes) {
        if tid == 0 {
            return;
        }
        let first_cpu = attributes.cpus_allowed.trailing_zeros() % 64;
        let asleep = State::Asleep { at_ns: self.from_ns.min(self.now_ns) };
        let known = self.known(tid).or_else(|| self.add(tid, prio, first_cpu, First::Asleep, asleep));
        let Some(index) = known else { return };
        let before = self.tasks[index].attributes_now.replace(attributes);
        let grouped = self.groups.are_told();
        let told = |a: Attributes| (a.policy, a.cpus_allowed, a.group * u32::from(grouped));
        match before {
            None => self.tasks[index].attributes = Some(attributes),
            Some(before) if told(before) != told(attributes) => {
                self.charge(index, self.now_ns);
                self.flush(index);
                self.tasks[index].prio_now = prio;
                let Attributes { policy, cpus_allowed, group, .. } = attributes;
                self.push(index, Step::Attributes { prio, policy, cpus_allowed, group });
            }
            Some(_) => {}
        }
    }
}
