// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks: forks, CPUs, shared timers, what has no model.

use std::collections::{BTreeMap, BTreeSet};

use crate::rtapp::ast::{EventKind, Props, Spanned};
use crate::rtapp::flat::FlatTask;
use crate::rtapp::json::Span;
use crate::rtapp::report::{Report, say};

pub(super) fn check(tasks: &[FlatTask], cpus: Option<u32>, report: &mut Report) {
    for task in tasks {
        for props in std::iter::once(&task.task.props).chain(task.phases.iter().map(|p| p.props)) {
            check_props(props, cpus, report);
        }
        no_model(task, report);
        if task.instances() == 0 && !task.is_forked {
            let words =
                say(format!("`{}` never runs", task.task.name.value)).label("`instance` is 0 and no task forks it");
            report.warning(task.task.name.span, words);
        }
    }
    forks(tasks, report);
    shared_timers(tasks, report);
}

fn check_props(props: &Props, cpus: Option<u32>, report: &mut Report) {
    if let (Some(set), Some(count)) = (&props.cpus, cpus)
        && let Some(&beyond) = set.value.iter().find(|&&cpu| cpu >= count)
    {
        let words =
            say(format!("`cpus` names CPU {beyond}, which the machine does not have")).label(format!("{count} CPUs"));
        report.error(
            set.span,
            words.allowed(format!("0..={}", count.saturating_sub(1))).help("choose another platform, or other CPUs"),
        );
    }
    if let Some(span) = props.nodes {
        let words = say("memory nodes cannot be honoured").label("the simulator has no NUMA model");
        report.error(span, words.help("remove the key: without it memory may be on any node"));
    }
    if let Some(reclaim) = props.dl_reclaim.as_ref().filter(|r| r.value) {
        let words = say("`dl-reclaim` cannot be honoured")
            .label("the simulator does not reclaim unused deadline bandwidth (GRUB)");
        report.error(reclaim.span, words.help("write `false` to run without reclaiming"));
    }
}

fn no_model(task: &FlatTask, report: &mut Report) {
    for event in task.events() {
        if let EventKind::NoModel(word) = &event.kind {
            let why = "how long an access takes is not known: it depends on which cache the buffer is in";
            let help = "replace it by `run` (work) of the length you measured";
            report.error(event.span, say(format!("`{word}` cannot be honoured")).label(why).help(help));
        }
    }
}

fn forks(tasks: &[FlatTask], report: &mut Report) {
    let index: BTreeMap<&str, usize> = tasks.iter().enumerate().map(|(i, t)| (t.task.name.value.as_str(), i)).collect();
    let mut children: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); tasks.len()];
    for (i, task) in tasks.iter().enumerate() {
        for event in task.events() {
            let EventKind::Fork(name) = &event.kind else { continue };
            match index.get(name.value.as_str()) {
                Some(&child) => {
                    children[i].insert(child);
                    forked_delay(&tasks[child], name, report);
                }
                None => {
                    let hint = report.hint(&name.value, index.keys().copied());
                    report.error(name.span, say(format!("`fork` names the unknown task `{}`", name.value)).help(hint));
                }
            }
        }
    }
    if let Some(root) = fork_cycle(&children) {
        let words = say("this task forks itself, directly or through others")
            .label("the number of threads would grow without end");
        report.error(tasks[root].task.name.span, words.help("rt-app stops after 1024 forks; use `instance` or a loop"));
    }
}

fn forked_delay(child: &FlatTask, name: &Spanned<String>, report: &mut Report) {
    if child.task.delay_us.as_ref().is_some_and(|d| d.value > 0) {
        let words = say(format!("`{}` has a `delay` and is forked", name.value))
            .label("the delay counts from the start of the use case");
        report.error(name.span, words.help("begin the forked task with `sleep` instead"));
    }
}

/// A task that can reach itself over forks: remove tasks without children until none is left or none can go.
fn fork_cycle(children: &[BTreeSet<usize>]) -> Option<usize> {
    let mut open: Vec<usize> = children.iter().map(BTreeSet::len).collect();
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); children.len()];
    for (parent, list) in children.iter().enumerate() {
        list.iter().for_each(|&child| parents[child].push(parent));
    }
    let mut ready: Vec<usize> = (0..children.len()).filter(|&i| open[i] == 0).collect();
    while let Some(done) = ready.pop() {
        for &parent in &parents[done] {
            open[parent] -= 1;
            if open[parent] == 0 {
                ready.push(parent);
            }
        }
    }
    open.iter().position(|&n| n > 0)
}

/// A timer that several threads advance gives none of them its period.
fn shared_timers(tasks: &[FlatTask], report: &mut Report) {
    let mut users: BTreeMap<&str, (BTreeSet<usize>, Span)> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        for event in task.events() {
            if let EventKind::Timer(timer) = &event.kind
                && !timer.is_unique()
            {
                users.entry(&timer.name.value).or_insert((BTreeSet::new(), timer.name.span)).0.insert(index);
            }
        }
    }
    for (name, (by, span)) in users {
        if by.len() > 1 || by.iter().any(|&t| tasks[t].is_plural()) {
            let words =
                say(format!("several threads share the timer `{name}`")).label("every use moves it by one period");
            report.warning(span, words.help("a name that begins with `unique` gives each thread its own timer"));
        }
    }
}
