// SPDX-License-Identifier: GPL-2.0-only
//! What can be read but not run yet: refused here, where file and line are known.

use super::sched::UNCLAMPED;
use crate::rtapp::ast::{Props, Spanned};
use crate::rtapp::flat::FlatTask;
use crate::rtapp::report::{Report, say};

/// Refuses clamps that would change the run.
pub(super) fn refuse_unmodelled(task: &FlatTask, report: &mut Report) {
    clamp(&task.task.props, report);
    for phase in &task.phases {
        clamp(phase.props, report);
    }
}

fn clamp(props: &Props, report: &mut Report) {
    let binds = |v: &Option<Spanned<i64>>, neutral: u32| {
        v.as_ref().filter(|v| v.value >= 0 && v.value != i64::from(neutral)).map(|v| v.span)
    };
    if let Some(span) = binds(&props.util_min, UNCLAMPED.0).or(binds(&props.util_max, UNCLAMPED.1)) {
        let words = say("utilization clamps are not modelled yet").label("would change frequency and placement");
        report.error(span, words.help("remove `util_min` and `util_max` to run the task without clamps"));
    }
}
