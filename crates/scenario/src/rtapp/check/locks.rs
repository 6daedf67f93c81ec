// SPDX-License-Identifier: GPL-2.0-or-later
//! Mutexes: taken before released, held while waiting, taken in one order.

use std::collections::{BTreeMap, BTreeSet};

use crate::rtapp::ast::{EventKind, Spanned};
use crate::rtapp::flat::FlatTask;
use crate::rtapp::json::Span;
use crate::rtapp::report::{Report, say};

/// Mutexes held at a time; more is a mistake, and the limit keeps the order graph small.
const HELD_MAX: usize = 64;

/// "While `.0` was held, `.1` was taken": by which tasks, and where first.
type Orders<'a> = BTreeMap<(&'a str, &'a str), (BTreeSet<usize>, Span)>;

pub(super) fn check(tasks: &[FlatTask], report: &mut Report) {
    let mut orders = Orders::new();
    for (index, task) in tasks.iter().enumerate() {
        let mut walk = Walk { index, held: Vec::new(), orders: &mut orders, told: BTreeSet::new(), report };
        walk.task(task);
    }
    cycles(&orders, tasks, report);
}

struct Walk<'a, 'w> {
    index: usize,
    held: Vec<(&'a str, Span)>,
    orders: &'w mut Orders<'a>,
    told: BTreeSet<Span>,
    report: &'w mut Report,
}

impl<'a> Walk<'a, '_> {
    /// Twice around every loop: what the first round leaves behind shows in the second.
    fn task(&mut self, task: &'a FlatTask) {
        for _ in 0..rounds(task.repeat) {
            for phase in &task.phases {
                for _ in 0..rounds(phase.repeat) {
                    phase.events.iter().for_each(|event| self.event(&event.kind));
                }
            }
        }
        if task.repeat.is_some()
            && let Some(&(name, span)) = self.held.first()
            && self.told.insert(span)
        {
            let words = say(format!("`{name}` is never released")).label("taken here");
            self.report.warning(span, words.help(format!("add \"unlock\": \"{name}\"")));
        }
    }

    fn event(&mut self, kind: &'a EventKind) {
        match kind {
            EventKind::Lock(name) => self.lock(name),
            EventKind::Unlock(name) => self.unlock(name),
            EventKind::Wait(c) => self.wait("wait", &c.mutex),
            EventKind::Sync(c) => self.wait("sync", &c.mutex),
            _ => {}
        }
    }

    fn lock(&mut self, name: &'a Spanned<String>) {
        if let Some(&(_, first)) = self.held.iter().find(|(n, _)| *n == name.value) {
            if self.told.insert(name.span) {
                let line = self.report.line(first);
                let words = say(format!("`{}` is locked while this task holds it", name.value))
                    .label("waits for itself for ever");
                self.report.error(
                    name.span,
                    words.help(format!("it is taken in line {line} and not released on the way here")),
                );
            }
            return;
        }
        if self.held.len() >= HELD_MAX {
            if self.told.insert(name.span) {
                self.report.error(
                    name.span,
                    say("too many mutexes are held at a time").allowed(format!("at most {HELD_MAX}")),
                );
            }
            return;
        }
        self.order(name);
        self.held.push((&name.value, name.span));
    }

    fn order(&mut self, name: &'a Spanned<String>) {
        for (before, _) in self.held.iter().filter(|(n, _)| *n != name.value) {
            let entry = self.orders.entry((before, &name.value)).or_insert_with(|| (BTreeSet::new(), name.span));
            entry.0.insert(self.index);
        }
    }

    fn unlock(&mut self, name: &'a Spanned<String>) {
        match self.held.iter().position(|(n, _)| *n == name.value) {
            Some(i) => {
                self.held.remove(i);
            }
            None if self.told.insert(name.span) => {
                let words = say(format!("`{}` is unlocked but not held", name.value)).label("no `lock` before it");
                self.report.error(name.span, words.help(format!("add \"lock\": \"{}\" before it", name.value)));
            }
            None => {}
        }
    }

    fn wait(&mut self, word: &str, mutex: &'a Spanned<String>) {
        if self.held.iter().any(|(n, _)| *n == mutex.value) {
            // Waking up takes the mutex again.
            self.order(mutex);
        } else if self.told.insert(mutex.span) {
            let words =
                say(format!("`{word}` without holding `{}`", mutex.value)).label("the mutex must be locked here");
            let help = format!("put \"lock\": \"{0}\" before it and \"unlock\": \"{0}\" after it", mutex.value);
            self.report.error(mutex.span, words.help(help));
        }
    }
}

fn rounds(repeat: Option<u64>) -> u64 {
    repeat.unwrap_or(2).min(2)
}

/// Two tasks that take two mutexes in different orders may wait for each other.
fn cycles(orders: &Orders, tasks: &[FlatTask], report: &mut Report) {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (a, b) in orders.keys() {
        next.entry(a).or_default().push(b);
    }
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in next.keys() {
        if done.contains(start) {
            continue;
        }
        if let Some(path) = cycle_from(start, &next, &mut done) {
            tell_cycle(&path, orders, tasks, report);
        }
    }
}

/// Depth first, without recursion: names come from the file, so a chain may be long.
fn cycle_from<'a>(
    start: &'a str,
    next: &BTreeMap<&'a str, Vec<&'a str>>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<&'a str>> {
    let mut path = vec![(start, 0)];
    let mut on_path = BTreeSet::from([start]);
    while let Some((node, i)) = path.last_mut() {
        let Some(&to) = next.get(node).and_then(|n| n.get(*i)) else {
            on_path.remove(node);
            done.insert(node);
            path.pop();
            continue;
        };
        *i += 1;
        if on_path.contains(to) {
            let from = path.iter().position(|(n, _)| *n == to).unwrap_or(0);
            done.extend(path.iter().map(|(n, _)| *n));
            return Some(path[from..].iter().map(|(n, _)| *n).collect());
        }
        if !done.contains(to) {
            on_path.insert(to);
            path.push((to, 0));
        }
    }
    None
}

fn tell_cycle(path: &[&str], orders: &Orders, tasks: &[FlatTask], report: &mut Report) {
    let steps = path.iter().zip(path.iter().cycle().skip(1));
    let edges: Vec<_> = steps.filter_map(|(a, b)| orders.get(&(*a, *b)).map(|e| (*a, *b, e))).collect();
    let users: BTreeSet<usize> = edges.iter().flat_map(|(_, _, e)| e.0.iter().copied()).collect();
    let Some((a, b, (_, span))) = edges.last() else { return };
    if users.len() < 2 && !users.iter().any(|&t| tasks[t].is_plural()) {
        return;
    }
    let others: Vec<String> = edges[..edges.len() - 1]
        .iter()
        .take(4)
        .map(|(a, b, e)| format!("line {}: `{b}` is taken while `{a}` is held", report.line(e.1)))
        .collect();
    let words = say("mutexes are taken in different orders: tasks may wait for each other for ever");
    let words = words.label(format!("`{b}` is taken while `{a}` is held"));
    report.warning(*span, words.help(others.join("\n")));
}
