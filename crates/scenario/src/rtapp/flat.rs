// SPDX-License-Identifier: GPL-2.0-or-later
//! One shape for every grammar: tasks as phases of events, repetitions spelled out.
//!
//! The oldest grammar is rewritten as events, defaults of `loop` are filled in, and `suspend` gets the name it sleeps
//! under. Checks and lowering see only this.

use std::collections::BTreeSet;

use super::ast::{Body, CondRef, Event, EventKind, Phase, Props, RtAppFile, Spanned, Task};
use super::exec::Expander;
use super::json::Span;
use super::report::Report;
use super::{RtAppOptions, SuspendRule};

/// A task with its events.
pub(super) struct FlatTask<'a> {
    /// The task as written.
    pub task: &'a Task,
    /// Repetitions of all phases; `None` = for ever.
    pub repeat: Option<u64>,
    /// Phases in order.
    pub phases: Vec<FlatPhase<'a>>,
    /// Some `fork` names it.
    pub is_forked: bool,
}

/// A phase with its events.
pub(super) struct FlatPhase<'a> {
    /// Name.
    pub name: &'a Spanned<String>,
    /// Its own properties.
    pub props: &'a Props,
    /// Repetitions; `None` = for ever.
    pub repeat: Option<u64>,
    /// Events of one repetition.
    pub events: Vec<Event>,
}

impl FlatTask<'_> {
    /// Copies that exist at the start.
    pub(super) fn instances(&self) -> u64 {
        u64::try_from(self.task.instances.value).unwrap_or(0)
    }

    /// More than one copy may run at a time.
    pub(super) fn is_plural(&self) -> bool {
        self.instances() + u64::from(self.is_forked) > 1
    }

    /// Events of all phases.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.phases.iter().flat_map(|p| &p.events)
    }
}

/// All tasks of a file in one shape.
pub(super) fn flatten<'a>(file: &'a RtAppFile, options: &RtAppOptions, report: &mut Report) -> Vec<FlatTask<'a>> {
    let mut expander = Expander::new(file, report);
    let mut tasks: Vec<FlatTask> = file.tasks.iter().map(|task| flat_task(task, options, &mut expander)).collect();
    let forked: BTreeSet<String> = tasks.iter().flat_map(|t| t.events()).filter_map(fork_name).collect();
    for task in &mut tasks {
        task.is_forked = forked.contains(&task.task.name.value);
    }
    join_namespaces(&mut tasks);
    tasks
}

fn fork_name(event: &Event) -> Option<String> {
    match &event.kind {
        EventKind::Fork(name) => Some(name.value.clone()),
        _ => None,
    }
}

fn flat_task<'a>(task: &'a Task, options: &RtAppOptions, expander: &mut Expander) -> FlatTask<'a> {
    let phases: Vec<FlatPhase> = task.phases.iter().map(|phase| flat_phase(task, phase, options, expander)).collect();
    let written = task.phases.first().and_then(|p| p.props.repeat.as_ref());
    let repeat = match (task.has_phases, &task.phases[..]) {
        (true, _) => task.props.repeat.as_ref().and_then(times),
        // Without `phases` the loop belongs to the only phase, which is then run once; without loop, for ever.
        (false, [phase]) if written.is_some() || matches!(phase.body, Body::Exec(_)) => Some(1),
        (false, _) => None,
    };
    FlatTask { task, repeat, phases, is_forked: false }
}

fn flat_phase<'a>(task: &'a Task, phase: &'a Phase, options: &RtAppOptions, expander: &mut Expander) -> FlatPhase<'a> {
    let (events, default) = match &phase.body {
        Body::Events(events) => (events.iter().map(|e| named_suspend(e, task, options.suspend)).collect(), Some(1)),
        Body::Exec(exec) => (expander.events(exec, task, phase), None),
    };
    let repeat = phase.props.repeat.as_ref().map_or(default, times);
    FlatPhase { name: &phase.name, props: &phase.props, repeat, events }
}

/// -1 is for ever.
fn times(repeat: &Spanned<i64>) -> Option<u64> {
    u64::try_from(repeat.value).ok()
}

fn named_suspend(event: &Event, task: &Task, rule: SuspendRule) -> Event {
    match (&event.kind, rule) {
        (EventKind::Suspend(Some(_)), SuspendRule::Named) => event.clone(),
        (EventKind::Suspend(_), _) => {
            let name = Spanned { value: task.name.value.clone(), span: event.span };
            Event { kind: EventKind::Suspend(Some(name)), span: event.span }
        }
        _ => event.clone(),
    }
}

/// rt-app has one name space for conditions and suspended tasks, and one mutex of the same name behind every suspend.
/// Where a name is used in both ways, suspend and resume are spelled out so that they meet the other events.
fn join_namespaces(tasks: &mut [FlatTask]) {
    let mut others = BTreeSet::new();
    for event in tasks.iter().flat_map(|t| t.events()) {
        match &event.kind {
            EventKind::Wait(c) | EventKind::Sync(c) => {
                others.insert(c.cond.value.clone());
                others.insert(c.mutex.value.clone());
            }
            EventKind::Signal(n) | EventKind::Broadcast(n) | EventKind::Lock(n) => {
                others.insert(n.value.clone());
            }
            _ => {}
        }
    }
    for phase in tasks.iter_mut().flat_map(|t| &mut t.phases) {
        if phase.events.iter().any(|e| spelled_out(e, &others).is_some()) {
            let events = std::mem::take(&mut phase.events).into_iter();
            phase.events = events.flat_map(|e| spelled_out(&e, &others).unwrap_or_else(|| vec![e])).collect();
        }
    }
}

fn spelled_out(event: &Event, others: &BTreeSet<String>) -> Option<Vec<Event>> {
    let (name, middle) = match &event.kind {
        EventKind::Suspend(Some(name)) => (name, EventKind::Wait(CondRef { cond: name.clone(), mutex: name.clone() })),
        EventKind::Resume(name) => (name, EventKind::Broadcast(name.clone())),
        _ => return None,
    };
    others.contains(&name.value).then(|| around(name, middle, event.span))
}

fn around(mutex: &Spanned<String>, middle: EventKind, span: Span) -> Vec<Event> {
    let kinds = [EventKind::Lock(mutex.clone()), middle, EventKind::Unlock(mutex.clone())];
    kinds.into_iter().map(|kind| Event { kind, span }).collect()
}
