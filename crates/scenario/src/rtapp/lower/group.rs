// SPDX-License-Identifier: GPL-2.0-only
//! Task groups.

use crate::rtapp::ast::{PolicyName, Spanned};
use crate::rtapp::flat::FlatTask;
use crate::rtapp::report::{Report, say};

/// The group a task spends its life in; the root group is empty.
pub(super) fn taskgroup(task: &FlatTask, policy: PolicyName, report: &mut Report) -> String {
    let phases = task.phases.iter().filter_map(|p| named(p.props.taskgroup.as_ref()));
    let own = named(task.task.props.taskgroup.as_ref());
    // A group set by the first phase holds from the beginning.
    let start = task.phases.first().and_then(|p| named(p.props.taskgroup.as_ref())).or(own);
    let Some(start) = start else {
        if let Some(later) = phases.into_iter().find(|g| !path(g).is_empty()) {
            moves(later, "/", report);
        }
        return String::new();
    };
    if let Some(other) = phases.into_iter().find(|g| path(g) != path(start)) {
        moves(other, &start.value, report);
    }
    if !policy.is_fair() && !path(start).is_empty() {
        let words = say(format!("a task group with {}", policy.name())).label("only the fair class has groups");
        report.error(start.span, words.help("rt-app refuses this, too"));
    }
    path(start).to_owned()
}

fn named(group: Option<&Spanned<String>>) -> Option<&Spanned<String>> {
    group.filter(|g| !g.value.is_empty())
}

fn path(group: &Spanned<String>) -> &str {
    group.value.trim_end_matches('/')
}

fn moves(group: &Spanned<String>, from: &str, report: &mut Report) {
    let words = say("a task that changes its group cannot be honoured").label(format!("was in `{from}`"));
    report.error(group.span, words.help("the simulator keeps a task in one group; split it into two tasks"));
}
