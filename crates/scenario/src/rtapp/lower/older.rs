// SPDX-License-Identifier: GPL-2.0-or-later
//! Deadline parameters as older files write them.
//!
//! Until October 2015 a task had `runtime`, `period` and `deadline`; rt-app reads them still where the newer names are
//! missing (`parse_sched_data`), as microseconds since June 2017 and as nanoseconds before. In the oldest grammar the
//! budget is `exec` and five percent (`BUDGET_OVERP`), or `runtime`.

use pelton_model::workload::SchedPolicy;

use super::sched::ns;
use crate::rtapp::ast::{Exec, PolicyName, Props, Spanned, Task};
use crate::rtapp::report::{Report, say};

/// Longest period Linux admits (sysctl `sched_deadline_period_max_us`). A longer one was written in nanoseconds.
const PERIOD_US_MAX: i64 = 1 << 22;
/// Budget beyond `exec` in the oldest grammar, percent.
const BUDGET_OVERP: u64 = 5;

/// The properties of a task with older names under the newer ones.
pub(super) fn resolved(task: &Task, name: PolicyName, exec: Option<&Exec>, report: &mut Report) -> Props {
    let mut props = task.props.clone();
    let [mut runtime, mut period, mut deadline] = props.older.clone();
    // An event `runtime` is no slice here, as the guide says.
    if name != PolicyName::Deadline && !task.has_phases {
        runtime = None;
    }
    if name == PolicyName::Deadline {
        in_nanoseconds([&mut runtime, &mut period, &mut deadline], report);
    }
    if let Some(exec) = exec.filter(|_| runtime.is_some()) {
        (period, deadline) = (exec.period_us.clone(), exec.deadline_us.clone());
    }
    let given = |us: &Option<Spanned<i64>>| us.as_ref().is_some_and(|us| us.value > 0);
    let newer = [&props.dl_period_us, &props.dl_runtime_us].into_iter().any(given);
    if !given(&props.dl_runtime_us) {
        props.dl_runtime_us = runtime;
    }
    if newer {
        [&period, &deadline].into_iter().flatten().for_each(|us| not_read(us, report));
        return props;
    }
    props.dl_period_us = period.or(props.dl_period_us);
    if !given(&props.dl_deadline_us) {
        props.dl_deadline_us = deadline;
    }
    props
}

/// rt-app looks at an older name only where the newer ones come to 0; a period without value is the budget.
fn not_read(us: &Spanned<i64>, report: &mut Report) {
    let words = say("an older name beside `dl-runtime` or `dl-period`").label("passed over, as rt-app does");
    report.warning(us.span, words.help("write `dl-period` and `dl-deadline`"));
}

fn in_nanoseconds(all: [&mut Option<Spanned<i64>>; 3], report: &mut Report) {
    let Some(long) = all.iter().find_map(|us| us.as_ref().filter(|us| us.value > PERIOD_US_MAX)) else { return };
    let words = say("a deadline parameter longer than Linux admits").label("taken for nanoseconds");
    let help = "rt-app read `runtime`, `period` and `deadline` in nanoseconds until June 2017; `dl-runtime`, `dl-period` \
                and `dl-deadline` are microseconds";
    report.warning(long.span, words.allowed(format!("at most {PERIOD_US_MAX} us")).help(help));
    all.into_iter().flatten().for_each(|us| us.value /= 1000);
}

/// Reservation of a task of the oldest grammar that gives no budget.
pub(super) fn reservation(exec: &Exec, report: &mut Report) -> SchedPolicy {
    let exec_ns = ns(exec.exec_us.value);
    let runtime_ns = exec_ns + exec_ns / 100 * BUDGET_OVERP;
    let period_ns = exec.period_us.as_ref().map_or(exec_ns, |us| ns(us.value));
    let deadline_ns = exec.deadline_us.as_ref().map_or(period_ns, |us| ns(us.value));
    if runtime_ns > deadline_ns || exec_ns == 0 {
        let words = say("the budget does not fit before the deadline").label(format!("{runtime_ns} ns of budget"));
        let words = words.allowed(format!("at most {deadline_ns} ns"));
        report.error(exec.exec_us.span, words.help("the budget is `exec` and 5 %; give another one as `runtime` (us)"));
    }
    SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns }
}
