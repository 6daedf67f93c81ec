// SPDX-License-Identifier: GPL-2.0-or-later
//! A caller's sink behind a pointer. The engine is compiled here, once for each set of calls that a sink takes and for
//! the shapes that runs without a sink have, instead of in every program for each of its sinks.

use crate::run::setup::uses;
use crate::shape::{Plain, Run};
use crate::state::{Engine, Uses};
use crate::{Report, SimError};
use pelton_core::kernel::KernelCode;
use pelton_core::{CpuState, Placed, Policy, Record};
use pelton_model::groups::group_paths;
use pelton_model::{Machine, RunConfig, Workload};
use pelton_schema::{Asked, Balance, Drawn, Event, Gate, NullSink, Sink, Walk};
use std::ops::ControlFlow;

/// Inputs of a run.
pub(crate) struct Inputs<'a> {
    pub machine: &'a Machine,
    pub workload: &'a Workload,
    pub policy: &'a Policy,
    pub config: &'a RunConfig,
    /// Kernel code that decides, where some does.
    pub code: Option<&'a mut dyn KernelCode>,
}

type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Shapes that the engine is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    Grouped,
    General,
}

impl Inputs<'_> {
    /// Runs in the narrowest shape that the inputs allow: most runs, and all of sweeps, ask for nothing on the way.
    pub(crate) fn tell_nobody(self, progress: Progress<'_>) -> Result<Report, SimError> {
        match self.shape() {
            Shape::Plain => self.run(Plain::<_, false>(NullSink), progress),
            Shape::Grouped => self.run(Plain::<_, true>(NullSink), progress),
            Shape::General => self.run(NullSink, progress),
        }
    }

    pub(crate) fn tell_events(self, to: &mut dyn Hears, progress: Progress<'_>) -> Result<Report, SimError> {
        self.run(Told::<false>(to), progress)
    }

    pub(crate) fn tell_everything(self, to: &mut dyn Hears, progress: Progress<'_>) -> Result<Report, SimError> {
        self.run(Told::<true>(to), progress)
    }

    pub(crate) fn shape(&self) -> Shape {
        let (w, policy) = (self.workload, self.policy);
        if self.code.is_some() || !policy.is_compiled_in() || w.sets_clamps() || uses(w, policy) != Uses::NONE {
            return Shape::General;
        }
        match group_paths(w) {
            Ok(paths) if paths.is_empty() => Shape::Plain,
            _ => Shape::Grouped,
        }
    }

    pub(crate) fn run(self, sink: impl Run, progress: Progress<'_>) -> Result<Report, SimError> {
        Engine::under(self.machine, self.workload, self.policy, self.config, sink, self.code)?.run(progress)
    }
}

/// Calls of [`Sink`] that go through a pointer.
pub(crate) trait Hears {
    fn event(&mut self, time_ns: u64, event: &Event);
    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed);
    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>);
    fn gate(&mut self, time_ns: u64, gate: &Gate);
    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32);
    fn walk(&mut self, time_ns: u64, walk: &Walk);
    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState);
    fn requests(&mut self, time_ns: u64, domain: u32, asked: &[Asked]);
    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32>;
    fn drawn_step_ns(&self) -> u64;
    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>);
}

impl<S: Sink> Hears for S {
    fn event(&mut self, time_ns: u64, event: &Event) {
        if S::ACTIVE {
            Sink::event(self, time_ns, event);
        }
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        if S::PLACEMENTS {
            Sink::placement(self, time_ns, tid, read, placed);
        }
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        if S::BALANCES {
            Sink::balance(self, time_ns, balance);
        }
    }

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        if S::BALANCES {
            Sink::gate(self, time_ns, gate);
        }
    }

    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32) {
        if S::BALANCES {
            Sink::domains(self, time_ns, cpu, by, idle);
        }
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        if S::BALANCES {
            Sink::walk(self, time_ns, walk);
        }
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        if S::REQUESTS {
            Sink::called(self, time_ns, cpu, queues, passed);
        }
    }

    fn requests(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) {
        if S::REQUESTS {
            Sink::requests(self, time_ns, domain, asked);
        }
    }

    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32> {
        if S::REQUESTS { Sink::choose(self, time_ns, domain, asked) } else { None }
    }

    fn drawn_step_ns(&self) -> u64 {
        if S::DRAWN { Sink::drawn_step_ns(self) } else { 0 }
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        Sink::drawn(self, time_ns, drawn);
    }
}

/// Sink that passes events on, or with `ALL` every call.
pub(crate) struct Told<'a, const ALL: bool>(pub &'a mut dyn Hears);

impl<const ALL: bool> Sink for Told<'_, ALL> {
    const PLACEMENTS: bool = ALL;
    const BALANCES: bool = ALL;
    const REQUESTS: bool = ALL;
    const DRAWN: bool = ALL;

    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.event(time_ns, event);
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        self.0.placement(time_ns, tid, read, placed);
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        self.0.balance(time_ns, balance);
    }

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        self.0.gate(time_ns, gate);
    }

    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32) {
        self.0.domains(time_ns, cpu, by, idle);
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        self.0.walk(time_ns, walk);
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        self.0.called(time_ns, cpu, queues, passed);
    }

    fn requests(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) {
        self.0.requests(time_ns, domain, asked);
    }

    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32> {
        self.0.choose(time_ns, domain, asked)
    }

    fn drawn_step_ns(&self) -> u64 {
        self.0.drawn_step_ns()
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        self.0.drawn(time_ns, drawn);
    }
}
