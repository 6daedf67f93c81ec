// SPDX-License-Identifier: GPL-2.0-or-later
//! Wakers of each sleeper.

use std::collections::{BTreeMap, BTreeSet};

use crate::rtapp::ast::{EventKind, Spanned};
use crate::rtapp::flat::FlatTask;
use crate::rtapp::json::Span;
use crate::rtapp::report::{Report, say};

/// Tasks that use a name in one way, and where first.
type Users<'a> = BTreeMap<&'a str, (BTreeSet<usize>, Span)>;

/// The tasks that sleep under a name and the tasks that wake it.
#[derive(Default)]
struct Parties<'a> {
    sleepers: Users<'a>,
    wakers: Users<'a>,
}

impl<'a> Parties<'a> {
    fn sleep(&mut self, name: &'a Spanned<String>, task: usize) {
        add(&mut self.sleepers, name, task);
    }

    fn wake(&mut self, name: &'a Spanned<String>, task: usize) {
        add(&mut self.wakers, name, task);
    }
}

fn add<'a>(users: &mut Users<'a>, name: &'a Spanned<String>, task: usize) {
    users.entry(&name.value).or_insert_with(|| (BTreeSet::new(), name.span)).0.insert(task);
}

pub(super) fn check(tasks: &[FlatTask], report: &mut Report) {
    let (mut conds, mut semaphores) = (Parties::default(), Parties::default());
    for (index, task) in tasks.iter().enumerate() {
        for event in task.events() {
            match &event.kind {
                EventKind::Wait(c) => conds.sleep(&c.cond, index),
                EventKind::Suspend(Some(name)) => conds.sleep(name, index),
                EventKind::Sync(c) => {
                    conds.sleep(&c.cond, index);
                    conds.wake(&c.cond, index);
                }
                EventKind::Signal(n) | EventKind::Broadcast(n) | EventKind::Resume(n) => conds.wake(n, index),
                EventKind::SemWait(n) => semaphores.sleep(n, index),
                EventKind::SemPost(n) => semaphores.wake(n, index),
                _ => {}
            }
        }
    }
    sleepers(&conds, tasks, "no task signals or resumes", report);
    sleepers(&semaphores, tasks, "no task posts", report);
    wakers(&conds, report);
    barriers(tasks, report);
}

fn sleepers(parties: &Parties, tasks: &[FlatTask], unwoken: &str, report: &mut Report) {
    for (name, (sleepers, span)) in &parties.sleepers {
        let wakers = parties.wakers.get(name).map(|(w, _)| w);
        let only_itself = |wakers: &BTreeSet<usize>| {
            sleepers.len() == 1 && wakers == sleepers && !sleepers.iter().any(|&t| tasks[t].is_plural())
        };
        match wakers {
            None => {
                let hint = report.near(name, parties.wakers.keys().copied());
                let help = hint.map_or("the task sleeps there for ever".into(), |h| format!("did you mean `{h}`?"));
                let words = say(format!("{unwoken} `{name}`")).label("waits for ever");
                report.warning(*span, words.help(help));
            }
            Some(wakers) if only_itself(wakers) => {
                let words = say(format!("only the waiting task itself wakes `{name}`")).label("waits for ever");
                report.warning(*span, words.help("another task has to wake it"));
            }
            Some(_) => {}
        }
    }
}

fn wakers(parties: &Parties, report: &mut Report) {
    for (name, (_, span)) in parties.wakers.iter().filter(|(name, _)| !parties.sleepers.contains_key(*name)) {
        let words = say(format!("no task waits for `{name}`")).label("has no effect");
        let hint = report.near(name, parties.sleepers.keys().copied());
        report.warning(
            *span,
            match hint {
                Some(hint) => words.help(format!("did you mean `{hint}`?")),
                None => words.help("`suspend` or `wait` under this name is missing"),
            },
        );
    }
}

fn barriers(tasks: &[FlatTask], report: &mut Report) {
    let mut users: BTreeMap<&str, (u64, Span)> = BTreeMap::new();
    for task in tasks {
        let mut own: BTreeSet<&str> = BTreeSet::new();
        for event in task.events() {
            let EventKind::Barrier(name) = &event.kind else { continue };
            users.entry(&name.value).or_insert((0, name.span)).0 += task.instances();
            if !own.insert(&name.value) {
                let words =
                    say(format!("`{}` is used twice by one task", name.value)).label("counts as two participants");
                report.warning(name.span, words.help("the barrier never opens; use a second name"));
            }
            if task.is_forked {
                let words = say("a forked task cannot take part in a barrier")
                    .label("the number of participants is fixed at the start");
                report.warning(name.span, words.help("use `sem_post` and `sem_wait`"));
            }
        }
    }
    for (name, (count, span)) in users.iter().filter(|(_, (count, _))| *count < 2) {
        let words = say(format!("the barrier `{name}` has {count} participant{}", if *count == 1 { "" } else { "s" }));
        report.warning(*span, words.label("opens at once").help("a barrier needs the same name in several tasks"));
    }
}
