// SPDX-License-Identifier: GPL-2.0-or-later
//! The task language at run time: fetches operations until one takes time or blocks.

use crate::cpu::progress::Step;
use crate::engine::activation::Activation;
use crate::engine::life::Kind;
use crate::program::calls::{Call, Verb};
use crate::program::place::{Position, TimerState};
use crate::shape::Run;
use crate::state::{Engine, SPEED_SHIFT, Task};
use pelton_model::workload::{Op, Phase, TaskSpec, TimerId, TimerMode};

/// Operations a task may execute without consuming time before the run is stopped as making no progress.
const ZERO_TIME_OPS_MAX: u32 = 100_000;

/// Effect of an operation on its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Took no time.
    Next,
    /// Needs the CPU.
    Busy(Step),
    /// Waits until it is woken.
    Block,
    /// Gives way once.
    Yield,
    /// Is taken to another CPU.
    Leaves,
    /// Ends.
    Exit,
}

impl<S: Run> Engine<'_, S> {
    /// Lets the running task of `c` go on to its next operation that takes time.
    pub(crate) fn advance(&mut self, c: u32) {
        let t = self.cpus[c as usize].curr;
        for _ in 0..ZERO_TIME_OPS_MAX {
            let task = &self.tasks[t as usize];
            if !task.is_runnable() || !task.may_run_on(c) {
                self.resched_cpu(c);
                return;
            }
            let flow = match task.kind {
                Kind::Program { spec } => self.next_op(t, &self.w.tasks[spec as usize]),
                Kind::Worker { domain } => self.worker_step(t, domain),
            };
            match flow {
                Flow::Next => {}
                Flow::Busy(step) => {
                    self.tasks[t as usize].progress.begins(step);
                    self.arm_segment(c);
                    return;
                }
                Flow::Block => return self.stop_running(c, t, false),
                Flow::Exit => return self.stop_running(c, t, true),
                Flow::Leaves => {
                    self.tasks[t as usize].progress.ends();
                    return self.resched_cpu(c);
                }
                Flow::Yield => {
                    self.tasks[t as usize].progress.ends();
                    self.yield_task(c, t);
                    return self.resched_cpu(c);
                }
            }
        }
        self.programs.spins(t);
    }

    fn stop_running(&mut self, c: u32, t: u32, ends: bool) {
        let task = &mut self.tasks[t as usize];
        task.progress.ends();
        if ends {
            task.dies();
            if let Kind::Program { spec } = task.kind {
                self.programs.loses(&self.w.tasks[spec as usize]);
            }
            self.cache_thread_ends(t);
        } else {
            task.rests();
        }
        self.resched_cpu(c);
    }

    fn worker_step(&mut self, _t: u32, domain: u32) -> Flow {
        match self.worker_next(domain) {
            Some(step) => Flow::Busy(step),
            None => Flow::Block,
        }
    }

    pub(crate) fn next_op(&mut self, t: u32, spec: &TaskSpec) -> Flow {
        let task = &mut self.tasks[t as usize];
        if let Some(call) = task.program.call {
            return self.continue_call(t, call);
        }
        if let Some(mutex) = task.program.relock.take() {
            return self.lock(t, mutex);
        }
        let at = &mut task.program.at;
        let index = at.phase;
        let Some(phase) = spec.phases.get(index as usize) else {
            return self.end_round(t, spec);
        };
        if !std::mem::replace(&mut at.entered, true) {
            self.enter_phase(t, spec, index);
            return Flow::Next;
        }
        let Some(op) = phase.ops.get(at.op as usize) else {
            return match index < spec.first_phases {
                true => self.end_first_phase_round(t, spec, phase),
                false => self.end_phase_round(t, phase),
            };
        };
        at.op += 1;
        self.execute(t, op)
    }

    fn end_round(&mut self, t: u32, spec: &TaskSpec) -> Flow {
        let at = &mut self.tasks[t as usize].program.at;
        let rounds = at.rounds + 1;
        if spec.phases.is_empty() || spec.loops.is_some_and(|n| rounds >= n) {
            return Flow::Exit;
        }
        *at = Position { rounds, phase: spec.first_phases, ..Position::default() };
        Flow::Next
    }

    /// The phases that come once are over: activations and grids of timers begin now.
    fn begin_rounds(&mut self, t: u32) {
        self.account(self.tasks[t as usize].cpu);
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        task.program.started_ns = now;
        task.activation = Activation::first(now, task.report.run_ns);
    }

    fn end_first_phase_round(&mut self, t: u32, spec: &TaskSpec, phase: &Phase) -> Flow {
        let flow = self.count_phase_round(t, phase);
        if self.tasks[t as usize].program.at.phase == spec.first_phases {
            self.begin_rounds(t);
        }
        flow
    }

    fn end_phase_round(&mut self, t: u32, phase: &Phase) -> Flow {
        if !self.tasks[t as usize].activation.round_ends() && !phase.silent {
            self.end_activation(t, None);
        }
        self.count_phase_round(t, phase)
    }

    fn count_phase_round(&mut self, t: u32, phase: &Phase) -> Flow {
        let at = &mut self.tasks[t as usize].program.at;
        at.phase_rounds += 1;
        at.op = 0;
        if phase.loops.is_some_and(|n| at.phase_rounds >= n) {
            *at = Position { phase: at.phase + 1, rounds: at.rounds, ..Position::default() };
        }
        Flow::Next
    }

    fn enter_phase(&mut self, t: u32, spec: &TaskSpec, index: u32) {
        let phase = &spec.phases[index as usize];
        let mut changes = phase.policy.is_some_and(|policy| policy != self.tasks[t as usize].policy());
        if let Some(policy) = phase.policy {
            self.change_policy(t, policy);
        }
        if let Some(clamps) = phase.uclamp {
            changes |= self.change_clamps(t, clamps);
        }
        if let Some(path) = &phase.taskgroup {
            self.regroup_boost(t, path);
            let moves = self.change_group(t, path);
            if moves && self.uses.quotas {
                // In a throttled group it may not run: that is a task less here.
                self.note_load(self.tasks[t as usize].cpu);
            }
            changes |= moves;
        }
        if let Some(cpus) = phase.cpus.as_ref().or(spec.cpus.as_ref()) {
            let allowed = cpus.below(self.cpus.len() as u32);
            changes |= self.set_cpus_allowed(t, allowed);
        }
        if changes {
            // Each of these takes the task off its queue and puts it back.
            self.clamps_requeue(t);
            self.tell_attributes(t);
        }
    }

    fn execute(&mut self, t: u32, op: &Op) -> Flow {
        match *op {
            Op::Run { work_ns } => self.work(t, work_ns),
            Op::RunParts { parts } => self.work_parts(t, parts),
            Op::Runtime { wall_ns } => {
                self.tasks[t as usize].activation.goes_on();
                Flow::Busy(Step::Wall(wall_ns))
            }
            Op::Spin { wall_ns } => {
                self.tasks[t as usize].activation.goes_on();
                Flow::Busy(Step::Until(self.now.saturating_add(wall_ns)))
            }
            Op::Sleep { ns } => self.sleep(t, ns),
            Op::SleepUniform { min_ns, max_ns } => {
                let ns = min_ns + self.rng.up_to(max_ns.saturating_sub(min_ns));
                self.sleep(t, ns)
            }
            Op::Io { device } => self.ask_device(t, device),
            Op::Timer { timer, period_ns, mode } => self.wait_timer(t, timer, period_ns, mode),
            Op::Lock(mutex) => self.lock(t, mutex),
            Op::Unlock(mutex) => self.unlock(t, mutex),
            Op::Wait { cond, mutex } => self.wait_cond(t, cond, Some(mutex)),
            Op::Suspend(cond) => self.wait_cond(t, cond, None),
            Op::Signal(cond) => self.signal_cond(t, cond, 1),
            Op::Broadcast(cond) | Op::Resume(cond) => self.signal_cond(t, cond, usize::MAX),
            Op::Sync { cond, mutex } => {
                self.signal_cond(t, cond, 1);
                self.wait_cond(t, cond, Some(mutex))
            }
            Op::Barrier(b) => self.arrive(t, b),
            Op::Yield => Flow::Yield,
            Op::Fork { task } => {
                self.fork(task);
                Flow::Next
            }
            Op::Spawn { task } => {
                self.spawn(task);
                Flow::Next
            }
            Op::Exec => self.exec_program(t),
            Op::MoveAsleep { cpu } => {
                self.tasks[t as usize].sched.moves_at_wakeup(cpu);
                Flow::Next
            }
            Op::SemPost(s) => self.sem_post(t, s),
            Op::SemWait(s) => self.sem_wait(t, s),
            Op::SemDrain(s) => {
                self.programs.objects.semaphores[s as usize].count = 0;
                Flow::Next
            }
            Op::Enlist(list) => {
                self.call_is_void(t);
                self.programs.objects.lists[list as usize].push(t);
                Flow::Next
            }
            Op::AwaitCall => self.await_call(t),
            Op::CallAll(list) => self.call_all(t, list),
            Op::Write { channel, bytes, work_ns } => self.call(t, Call::new(Verb::Write, channel, bytes, work_ns)),
            Op::Read { channel, bytes, work_ns } => self.call(t, Call::new(Verb::Read, channel, bytes, work_ns)),
            Op::Poll { channel } => self.call(t, Call::new(Verb::Poll, channel, 1, 0)),
            Op::Lap { .. } | Op::Records(_) | Op::TimerLatency(_) => self.measure(t, op),
            Op::EndActivation => {
                self.tasks[t as usize].activation.ends_in_round();
                self.end_activation(t, None);
                Flow::Next
            }
        }
    }

    fn call(&mut self, t: u32, call: Call) -> Flow {
        if call.left == 0 { Flow::Next } else { self.continue_call(t, call) }
    }

    /// Notes that a benchmark makes about itself.
    fn measure(&mut self, t: u32, op: &Op) -> Flow {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        match *op {
            Op::Lap { ops } => {
                let since = task.program.lap_start_ns.replace(now);
                if let (true, Some(since)) = (ops > 0, since) {
                    task.report.laps.add(now - since);
                    task.report.lap_ops += ops;
                }
            }
            Op::Records(count) => task.report.records += count,
            Op::TimerLatency(id) => {
                let expiry_ns = self.timer(t, id).next_ns;
                self.tasks[t as usize].report.timer_latency.add(now.saturating_sub(expiry_ns));
            }
            _ => {}
        }
        Flow::Next
    }

    /// The call of a list may have come before the task waits for it.
    fn await_call(&mut self, t: u32) -> Flow {
        let ended = self.call_ends(t);
        let task = &mut self.tasks[t as usize];
        let Some((ns, parts)) = ended else {
            task.program.at.op -= 1;
            return Flow::Block;
        };
        task.report.call_latency.add(ns);
        if task.report.call_latency.exact().is_some() {
            task.report.call_parts.push(parts);
        }
        Flow::Next
    }

    fn call_all(&mut self, t: u32, list: u32) -> Flow {
        let cpu = self.tasks[t as usize].cpu;
        let called = std::mem::take(&mut self.programs.objects.lists[list as usize]);
        for &member in called.iter().rev() {
            self.call_begins(member);
            self.wake(member, cpu);
        }
        Flow::Next
    }

    fn timer(&mut self, t: u32, id: TimerId) -> &mut TimerState {
        match id {
            TimerId::Own(i) => &mut self.tasks[t as usize].program.timers[i as usize],
            TimerId::Shared(i) => &mut self.programs.shared_timers[i as usize],
        }
    }

    pub(crate) fn work(&mut self, t: u32, work_ns: u64) -> Flow {
        self.work_parts(t, work_ns.min(u64::MAX >> SPEED_SHIFT) << SPEED_SHIFT)
    }

    fn work_parts(&mut self, t: u32, parts: u64) -> Flow {
        self.tasks[t as usize].activation.works(parts >> SPEED_SHIFT);
        if parts == 0 { Flow::Next } else { Flow::Busy(Step::Work(parts)) }
    }

    fn sleep(&mut self, t: u32, ns: u64) -> Flow {
        if ns == 0 {
            return Flow::Next;
        }
        let now = self.now;
        // A sleep at the end of a round is not part of the activation's duration.
        self.tasks[t as usize].activation.pauses(now);
        self.arm_timer(t, now.saturating_add(ns).saturating_add(self.slack_ns(t)));
        Flow::Block
    }

    fn slack_ns(&self, t: u32) -> u64 {
        match self.tasks[t as usize].kind {
            Kind::Program { spec } => self.w.tasks[spec as usize].timer_slack_ns,
            Kind::Worker { .. } => 0,
        }
    }

    fn wait_timer(&mut self, t: u32, id: TimerId, period_ns: u64, mode: TimerMode) -> Flow {
        let now = self.now;
        let origin = self.tasks[t as usize].program.started_ns;
        let timer = self.timer(t, id);
        if !timer.armed {
            *timer = TimerState { armed: true, next_ns: origin };
        }
        timer.next_ns = timer.next_ns.saturating_add(period_ns);
        if mode == TimerMode::Skip && timer.next_ns < now {
            let missed = (now - timer.next_ns).div_ceil(period_ns.max(1));
            timer.next_ns = timer.next_ns.saturating_add(missed.saturating_mul(period_ns));
        }
        let next = timer.next_ns;
        if next <= now && mode == TimerMode::Relative {
            timer.next_ns = now;
        }
        self.tasks[t as usize].activation.ends_in_round();
        self.end_activation(t, Some((next, period_ns)));
        self.tasks[t as usize].activation.starts_at(next.max(now));
        if next <= now {
            return Flow::Next;
        }
        self.arm_timer(t, next.saturating_add(self.slack_ns(t)));
        Flow::Block
    }

    fn lock(&mut self, t: u32, mutex: u32) -> Flow {
        if self.programs.objects.mutexes[mutex as usize].lock(t) { Flow::Next } else { Flow::Block }
    }

    fn unlock(&mut self, t: u32, mutex: u32) -> Flow {
        if let Some(next) = self.programs.objects.mutexes[mutex as usize].unlock(t) {
            self.wake(next, self.tasks[t as usize].cpu);
        }
        Flow::Next
    }

    fn wait_cond(&mut self, t: u32, cond: u32, mutex: Option<u32>) -> Flow {
        if let Some(mutex) = mutex {
            self.unlock(t, mutex);
        }
        self.programs.objects.conds[cond as usize].waiters.push_back((t, mutex));
        Flow::Block
    }

    fn signal_cond(&mut self, t: u32, cond: u32, count: usize) -> Flow {
        let cpu = self.tasks[t as usize].cpu;
        let count = count.min(self.programs.objects.conds[cond as usize].waiters.len());
        let woken: Vec<_> = self.programs.objects.conds[cond as usize].waiters.drain(..count).collect();
        for (waiter, mutex) in woken {
            self.tasks[waiter as usize].program.relock = mutex;
            self.wake(waiter, cpu);
        }
        Flow::Next
    }

    fn arrive(&mut self, t: u32, barrier: u32) -> Flow {
        let cpu = self.tasks[t as usize].cpu;
        match self.programs.objects.barriers[barrier as usize].arrive(t) {
            Some(others) => {
                others.into_iter().for_each(|o| self.wake(o, cpu));
                Flow::Next
            }
            None => Flow::Block,
        }
    }

    fn sem_post(&mut self, t: u32, s: u32) -> Flow {
        let cpu = self.tasks[t as usize].cpu;
        let sem = &mut self.programs.objects.semaphores[s as usize];
        match sem.waiters.pop_front() {
            Some(next) => self.wake(next, cpu),
            None => sem.count = sem.count.saturating_add(1),
        }
        Flow::Next
    }

    fn sem_wait(&mut self, t: u32, s: u32) -> Flow {
        let sem = &mut self.programs.objects.semaphores[s as usize];
        if sem.count > 0 {
            sem.count -= 1;
            return Flow::Next;
        }
        sem.waiters.push_back(t);
        Flow::Block
    }

    /// Completes an activation; `timer` is (next expiry, period) when a timer ends it.
    fn end_activation(&mut self, t: u32, timer: Option<(u64, u64)>) {
        let now = self.now;
        self.account(self.tasks[t as usize].cpu);
        let spec = match self.tasks[t as usize].kind {
            Kind::Program { spec } => self.w.tasks.get(spec as usize),
            _ => None,
        };
        let task = &mut self.tasks[t as usize];
        let duration_ns = task.activation.duration_ns(now);
        task.report.activation_ns.add(duration_ns);
        let frame_ns = spec.map(|spec| spec.frame_ns).filter(|&ns| ns > 0);
        let janky = frame_ns.map(|frame_ns| task.report.frames.add(duration_ns, frame_ns));
        let slack = timer.map_or(0, |(next, _)| next as i64 - now as i64);
        if let Some((_, period_ns)) = timer {
            note_slack(task, slack, period_ns, configured_ns(spec, task.activation.work_ns()));
        }
        let with = (slack, timer.map_or(0, |(_, p)| p));
        let ended = task.activation.ends(now, Task::tid(t), task.report.run_ns, with);
        self.emit(ended);
        if let Some(janky) = janky {
            self.frame_feedback(t, janky);
        }
    }

    /// A janky frame raises the lower clamps of its user interface; enough frames in time bring them back.
    fn frame_feedback(&mut self, t: u32, janky: bool) {
        let Kind::Program { spec } = self.tasks[t as usize].kind else { return };
        let Some(floor) = self.w.tasks.get(spec as usize).and_then(|spec| spec.frame_floor) else { return };
        let frames = &mut self.tasks[t as usize].report.frames;
        let Some(raised) = frames.feed_back(janky, floor.frames) else { return };
        let specs = spec..=spec + floor.following;
        let of_ui = |task: &Task| matches!(task.kind, Kind::Program { spec } if specs.contains(&spec));
        let tasks: Vec<u32> = (0..).zip(&self.tasks).filter(|(_, task)| of_ui(task)).map(|(t, _)| t).collect();
        tasks.into_iter().for_each(|t| self.set_floor(t, if raised { floor.min } else { 0 }));
    }

    /// The lower clamp of a task is at least this, and else what its program began with.
    fn set_floor(&mut self, t: u32, floor: u32) {
        let Kind::Program { spec } = self.tasks[t as usize].kind else { return };
        let (min, max) = self.w.tasks[spec as usize].uclamp.unwrap_or((0, 1024));
        if self.change_clamps(t, (min.max(floor), max.max(floor))) {
            self.tell_attributes(t);
        }
    }
}

/// Work as the program's file has it: time on the CPU that its run times were measured on.
fn configured_ns(spec: Option<&TaskSpec>, work_ns: u64) -> u64 {
    let capacity = spec.map_or(0, |spec| u64::from(spec.run_capacity));
    (work_ns * 1024).checked_div(capacity).unwrap_or(work_ns)
}

/// Slack totals and rt-app's performance index, in thousandths; `configured_ns` is the run time of the file.
fn note_slack(task: &mut Task, slack_ns: i64, period_ns: u64, configured_ns: u64) {
    task.report.timed_activations += 1;
    task.report.slack_ns_sum += slack_ns;
    task.report.overruns += u64::from(slack_ns < 0);
    let room = period_ns as i64 - configured_ns as i64;
    if room > 0 {
        task.program.perf_index_sum += (i128::from(slack_ns) * 1000 / i128::from(room)) as i64;
    }
}
