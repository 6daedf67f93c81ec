// SPDX-License-Identifier: GPL-2.0-or-later
//! The oldest grammar (before September 2014) as events.
//!
//! In every period such a task takes the resources of `lock_order` one after the other - each after the chain that its
//! `access` names - computes for the resource's `duration` while it holds them, releases the mutexes in reverse, then
//! computes for what is left of `exec`, and sleeps until the next period.

use std::collections::BTreeMap;

use super::ast::{
    CondRef, Event, EventKind, Exec, Phase, Resource, ResourceKind, ResourceUse, RtAppFile, Spanned, Task, Timer,
};
use super::json::Span;
use super::report::{Report, say};

/// Resources in one chain; a longer one is a mistake.
const CHAIN_MAX: usize = 64;
/// Events that all tasks of the oldest grammar may become.
const EVENTS_MAX: usize = 100_000;

/// Rewrites the tasks of one file.
pub(super) struct Expander<'a, 'r> {
    declared: BTreeMap<&'a str, &'a Resource>,
    report: &'r mut Report,
    made: usize,
}

/// Uses of a task's resources, by name.
type Uses<'a> = BTreeMap<&'a str, &'a ResourceUse>;

impl<'a, 'r> Expander<'a, 'r> {
    /// For the resources that a file declares.
    pub(super) fn new(file: &'a RtAppFile, report: &'r mut Report) -> Self {
        let declared = file.resources.iter().map(|r| (r.name.value.as_str(), r)).collect();
        Expander { declared, report, made: 0 }
    }

    /// The events of one period.
    pub(super) fn events(&mut self, exec: &Exec, task: &Task, phase: &Phase) -> Vec<Event> {
        let uses: Uses = exec.uses.iter().map(|u| (u.name.value.as_str(), u)).collect();
        let mut out = Vec::new();
        let mut left_us = exec.exec_us.value;
        for name in &exec.lock_order {
            let Some(work_us) = self.take(&uses, name, &mut out) else { return Vec::new() };
            left_us = if left_us < work_us { 0 } else { left_us - work_us };
            if self.is_too_much(name.span, out.len()) {
                return Vec::new();
            }
        }
        let span = exec.exec_us.span;
        if left_us > 0 || out.is_empty() {
            out.push(Event { kind: EventKind::Run(Spanned { value: left_us, span }), span });
        }
        if exec.sleeps {
            out.extend(self.period_timer(exec, task, phase));
        }
        self.check_deadline(exec);
        self.made += out.len();
        out
    }

    fn is_too_much(&mut self, span: Span, events: usize) -> bool {
        let too_much = self.made + events > EVENTS_MAX;
        if too_much {
            self.report
                .error(span, say("`lock_order` stands for too many events").allowed(format!("at most {EVENTS_MAX}")));
        }
        too_much
    }

    /// The resource, then everything its `access` names, each once.
    fn collect(&mut self, uses: &Uses, name: &Spanned<String>, chain: &mut Vec<&'a Resource>) -> Option<()> {
        let Some(&resource) = self.declared.get(name.value.as_str()) else {
            let words = say(format!("the resource `{}` is not declared in `resources`", name.value));
            let help = match self.declared.is_empty() {
                true => "the file declares none: is it a fragment for rt-app's merge script?".to_owned(),
                false => self.report.hint(&name.value, self.declared.keys().copied()),
            };
            self.report.error(name.span, words.help(help));
            return None;
        };
        if chain.iter().any(|r| r.name.value == name.value) {
            return Some(());
        }
        chain.push(resource);
        if chain.len() > CHAIN_MAX {
            self.report
                .error(name.span, say("`access` chains too many resources").allowed(format!("at most {CHAIN_MAX}")));
            return None;
        }
        for next in uses.get(name.value.as_str()).map_or(&[][..], |u| &u.access) {
            self.collect(uses, next, chain)?;
        }
        Some(())
    }

    /// Takes a resource after its chain, computes, releases; returns the work done.
    fn take(&mut self, uses: &Uses, name: &Spanned<String>, out: &mut Vec<Event>) -> Option<i64> {
        let mut chain = Vec::new();
        self.collect(uses, name, &mut chain)?;
        // The resource itself is taken last.
        chain.rotate_left(1);
        let span = name.span;
        let duration_us = uses.get(name.value.as_str()).map_or(0, |u| u.duration_us);
        for (i, resource) in chain.iter().enumerate() {
            let before = i.checked_sub(1).map(|i| chain[i]);
            let kind = self.step(resource, before, duration_us, span);
            out.extend(kind.map(|kind| Event { kind, span }));
        }
        let computes = !chain.iter().any(|r| r.kind == ResourceKind::Sleep);
        let work_us = if computes { duration_us } else { 0 };
        if work_us > 0 {
            out.push(Event { kind: EventKind::Run(Spanned { value: work_us, span }), span });
        }
        for mutex in chain.iter().rev().filter(|r| r.kind == ResourceKind::Mutex) {
            out.push(Event { kind: EventKind::Unlock(Spanned { value: mutex.name.value.clone(), span }), span });
        }
        Some(work_us)
    }

    /// Event of taking one resource.
    fn step(
        &mut self,
        resource: &Resource,
        before: Option<&Resource>,
        duration_us: i64,
        span: Span,
    ) -> Option<EventKind> {
        let named = |value: &str| Spanned { value: value.to_owned(), span };
        let own = named(&resource.name.value);
        Some(match resource.kind {
            ResourceKind::Mutex => EventKind::Lock(own),
            ResourceKind::Sleep => EventKind::Sleep(Spanned { value: duration_us, span }),
            ResourceKind::Run => return None,
            ResourceKind::Signal => EventKind::Signal(named(&self.target(resource)?)),
            ResourceKind::Broadcast => EventKind::Broadcast(named(&self.target(resource)?)),
            ResourceKind::Wait => {
                EventKind::Wait(CondRef { cond: own, mutex: named(self.guard(resource, before, span)?) })
            }
            ResourceKind::SignalAndWait => {
                let mutex = named(self.guard(resource, before, span)?);
                EventKind::Sync(CondRef { cond: named(&self.target(resource)?), mutex })
            }
        })
    }

    /// The mutex taken just before a wait.
    fn guard<'b>(&mut self, resource: &Resource, before: Option<&'b Resource>, span: Span) -> Option<&'b str> {
        let guard = before.filter(|r| r.kind == ResourceKind::Mutex);
        if guard.is_none() {
            let words =
                say(format!("`{}` waits without a mutex", resource.name.value)).label("no mutex is taken before it");
            self.report.error(span, words.help("name the mutex in its `access`"));
        }
        guard.map(|r| r.name.value.as_str())
    }

    fn target(&mut self, resource: &Resource) -> Option<String> {
        let target = resource.target.as_ref()?;
        if self.declared.get(target.value.as_str()).is_some_and(|r| r.kind == ResourceKind::Wait) {
            return Some(target.value.clone());
        }
        let waits: Vec<&str> =
            self.declared.values().filter(|r| r.kind == ResourceKind::Wait).map(|r| r.name.value.as_str()).collect();
        let hint = self.report.hint(&target.value, waits.into_iter());
        let words = say(format!("`{}` is no declared `wait` resource", target.value));
        self.report.error(target.span, words.help(hint));
        None
    }

    /// The sleep until the next period. The grid never moves while a phase lasts, and starts anew with each phase; only
    /// the first of these two can be expressed with a timer.
    fn period_timer(&mut self, exec: &Exec, task: &Task, phase: &Phase) -> Option<Event> {
        if task.phases.len() > 1 {
            let words = say("phases of the oldest grammar cannot sleep to a period").label("`sleep` is true here");
            self.report.error(phase.name.span, words.help("write `\"sleep\": false`, or use events with `timer`"));
            return None;
        }
        let period_us = exec.period_us.clone().unwrap_or_else(|| exec.exec_us.clone());
        let span = period_us.span;
        let name = Spanned { value: "unique period".to_owned(), span };
        Some(Event { kind: EventKind::Timer(Timer { name, period_us, absolute: true }), span })
    }

    fn check_deadline(&mut self, exec: &Exec) {
        let period = exec.period_us.as_ref().unwrap_or(&exec.exec_us);
        if exec.exec_us.value > period.value {
            let words = say("`exec` is longer than `period`").label(format!("{} us", exec.exec_us.value));
            self.report.error(exec.exec_us.span, words.allowed(format!("0..={} us", period.value)));
        }
        if let Some(deadline) = &exec.deadline_us
            && (deadline.value < exec.exec_us.value || deadline.value > period.value)
        {
            let words = say("`deadline` must lie between `exec` and `period`").label(format!("{} us", deadline.value));
            self.report.error(deadline.span, words.allowed(format!("{}..={} us", exec.exec_us.value, period.value)));
        }
    }
}
