// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups.

use pelton_model::groups::{GROUP_DEPTH_MAX, group_path, is_too_deep};

use crate::rtapp::ast::{PolicyName, Spanned};
use crate::rtapp::flat::{FlatPhase, FlatTask};
use crate::rtapp::report::{Report, say};

/// The group a task starts in; the root group is empty. A group of the first phase holds from the beginning.
pub(super) fn taskgroup(task: &FlatTask, policy: PolicyName, report: &mut Report) -> String {
    let first = task.phases.first().and_then(|p| named(p.props.taskgroup.as_ref()));
    let start = first.or(named(task.task.props.taskgroup.as_ref()));
    start.map(|group| checked(group, policy, report)).unwrap_or_default()
}

/// The group a phase joins; one that names none stays where the task is.
pub(super) fn phase_group(phase: &FlatPhase, policy: PolicyName, report: &mut Report) -> Option<String> {
    named(phase.props.taskgroup.as_ref()).map(|group| checked(group, policy, report))
}

fn named(group: Option<&Spanned<String>>) -> Option<&Spanned<String>> {
    group.filter(|g| !g.value.is_empty())
}

fn checked(group: &Spanned<String>, policy: PolicyName, report: &mut Report) -> String {
    let path = group_path(&group.value);
    if !policy.is_fair() && !path.is_empty() {
        let words = say(format!("a task group with {}", policy.name())).label("only the fair class has groups");
        report.error(group.span, words.help("rt-app refuses this, too"));
    }
    if is_too_deep(&path) {
        let words = say("a task group so deep down").label("too many levels");
        report.error(group.span, words.help(format!("at most {GROUP_DEPTH_MAX} levels")));
        return String::new();
    }
    path
}
