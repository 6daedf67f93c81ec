// SPDX-License-Identifier: GPL-2.0-or-later
//! Loops that take no time would never let a simulation advance.

use crate::rtapp::ast::EventKind;
use crate::rtapp::flat::{FlatPhase, FlatTask};
use crate::rtapp::report::{Report, say};

/// Events at one instant that are still taken for a programme.
const INSTANT_EVENTS_MAX: u64 = 1_000_000;

pub(super) fn check(tasks: &[FlatTask], report: &mut Report) {
    for task in tasks {
        check_task(task, report);
    }
}

fn check_task(task: &FlatTask, report: &mut Report) {
    for phase in &task.phases {
        let rounds = phase.repeat.unwrap_or(u64::MAX);
        if !takes_time(phase) && rounds.saturating_mul(phase.events.len() as u64) > INSTANT_EVENTS_MAX {
            let what = if phase.repeat.is_none() {
                "this loop never ends and takes no time"
            } else {
                "this loop takes no time"
            };
            let words = say(what).label(events_per_round(phase));
            report.error(phase.name.span, words.help("add `run`, `sleep` or `timer`, or something to wait for"));
            return;
        }
    }
    if task.repeat.is_none() && !task.phases.iter().any(takes_time) {
        let words = say("this task loops for ever and takes no time").label("no `loop` means for ever");
        report.error(task.task.name.span, words.help("add `run`, `sleep` or `timer`, or `\"loop\": 1`"));
    }
    unreachable(task, report);
}

fn unreachable(task: &FlatTask, report: &mut Report) {
    let endless = task.phases.iter().position(|p| p.repeat.is_none());
    if let Some(next) = endless.and_then(|i| task.phases.get(i + 1)) {
        let words =
            say(format!("phase `{}` is never reached", next.name.value)).label("the phase before it loops for ever");
        report.warning(next.name.span, words.help("give the phase before it a positive `loop`"));
    }
}

fn events_per_round(phase: &FlatPhase) -> String {
    match phase.events.len() {
        1 => "1 event per round".into(),
        n => format!("{n} events per round"),
    }
}

/// True if some event of the phase computes, sleeps, or may have to wait.
fn takes_time(phase: &FlatPhase) -> bool {
    phase.events.iter().any(|event| match &event.kind {
        EventKind::Run(size)
        | EventKind::Runtime(size)
        | EventKind::Sleep(size)
        | EventKind::Mem(size)
        | EventKind::IoRun(size) => size.value > 0,
        EventKind::Timer(_)
        | EventKind::Wait(_)
        | EventKind::Sync(_)
        | EventKind::Suspend(_)
        | EventKind::Barrier(_)
        | EventKind::SemWait(_)
        | EventKind::NoModel(_) => true,
        EventKind::Lock(_)
        | EventKind::Unlock(_)
        | EventKind::Signal(_)
        | EventKind::Broadcast(_)
        | EventKind::Resume(_)
        | EventKind::Yield
        | EventKind::Fork(_)
        | EventKind::Exec(_)
        | EventKind::SemPost(_) => false,
    })
}
