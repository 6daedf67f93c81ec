// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies, priorities, deadlines and clamps, with rt-app's defaults.

use pelton_model::workload::SchedPolicy;

use super::older;
use crate::rtapp::ast::{Body, Phase, PolicyName, Props, Spanned};
use crate::rtapp::flat::FlatTask;
use crate::rtapp::json::Span;
use crate::rtapp::report::{Report, say};

/// Priority of real-time tasks that give none.
const RT_PRIORITY_DEFAULT: i64 = 10;
/// Linux accepts slices of the fair class in this range and clamps others, microseconds.
const SLICE_US: (i64, i64) = (100, 100_000);
/// Linux refuses deadline budgets below 1024 ns.
const DL_RUNTIME_US_MIN: i64 = 2;

/// The policy a task starts with.
pub(super) fn task_policy(
    task: &FlatTask,
    default: PolicyName,
    at: Span,
    report: &mut Report,
) -> (PolicyName, SchedPolicy) {
    let written = &task.task.props;
    let name = written.policy.as_ref().map_or(default, |p| p.value);
    let exec = match &task.task.phases[..] {
        [Phase { body: Body::Exec(exec), .. }] if !task.task.has_phases => Some(exec),
        _ => None,
    };
    let props = older::resolved(task.task, name, exec, report);
    match exec.filter(|_| name == PolicyName::Deadline && props.dl_runtime_us.is_none()) {
        Some(exec) => (name, older::reservation(exec, report)),
        None => (name, policy(name, &props, at, report)),
    }
}

/// The policy a phase sets, if it sets one; what it leaves out stays as it was.
pub(super) fn phase_policy(props: &Props, now: &mut PolicyName, at: Span, report: &mut Report) -> Option<SchedPolicy> {
    let dl = [&props.dl_runtime_us, &props.dl_period_us, &props.dl_deadline_us].into_iter().flatten().next();
    if props.policy.is_none() && props.priority.is_none() && dl.is_none() {
        return None;
    }
    let name = props.policy.as_ref().map_or(*now, |p| p.value);
    if props.policy.is_none() && props.priority.is_none() && name != PolicyName::Deadline {
        let words = say("rt-app does not apply this without `priority` or `policy`").label("no effect in a phase");
        report.warning(dl.map_or(at, |d| d.span), words.help("add `priority` to the phase"));
        return None;
    }
    *now = name;
    Some(policy(name, props, at, report))
}

fn policy(name: PolicyName, props: &Props, at: Span, report: &mut Report) -> SchedPolicy {
    if name != PolicyName::Deadline {
        unused_deadline(name, props, report);
    }
    match name {
        PolicyName::Other => SchedPolicy::Normal { nice: nice(props, report), slice_ns: slice_ns(props, report) },
        PolicyName::Batch => SchedPolicy::Batch { nice: nice(props, report) },
        PolicyName::Idle => SchedPolicy::Idle,
        PolicyName::Fifo => SchedPolicy::Fifo { priority: rt_priority(name, props, report) },
        PolicyName::RoundRobin => SchedPolicy::RoundRobin { priority: rt_priority(name, props, report) },
        PolicyName::Deadline => deadline(props, at, report),
    }
}

/// Deadline parameters of another class have no effect; the budget is the slice of SCHED_OTHER.
fn unused_deadline(name: PolicyName, props: &Props, report: &mut Report) {
    let runtime = props.dl_runtime_us.as_ref().filter(|_| name != PolicyName::Other);
    let unused = [runtime, props.dl_period_us.as_ref(), props.dl_deadline_us.as_ref()];
    if let Some(first) = unused.into_iter().flatten().next() {
        let words = say("a deadline parameter without SCHED_DEADLINE").label(format!("the policy is {}", name.name()));
        report.warning(first.span, words.help("add \"policy\": \"SCHED_DEADLINE\", or remove it"));
    }
}

fn in_range(value: Option<&Spanned<i64>>, default: i64, min: i64, max: i64, what: &str, report: &mut Report) -> i64 {
    let Some(value) = value else { return default };
    if value.value < min || value.value > max {
        let words = say(format!("`priority` is out of range for {what}")).label(value.value.to_string());
        report.error(value.span, words.allowed(format!("{min}..={max}")));
        return default;
    }
    value.value
}

fn nice(props: &Props, report: &mut Report) -> i8 {
    let nice = in_range(props.priority.as_ref(), 0, -20, 19, "the fair class (a nice value)", report);
    i8::try_from(nice).unwrap_or(0)
}

fn rt_priority(name: PolicyName, props: &Props, report: &mut Report) -> u8 {
    let priority = in_range(props.priority.as_ref(), RT_PRIORITY_DEFAULT, 1, 99, name.name(), report);
    u8::try_from(priority).unwrap_or(1)
}

fn slice_ns(props: &Props, report: &mut Report) -> u64 {
    let Some(us) = props.dl_runtime_us.as_ref().filter(|us| us.value > 0) else { return 0 };
    if us.value < SLICE_US.0 || us.value > SLICE_US.1 {
        let words = say("the slice is out of range").label(format!("{} us", us.value));
        report.warning(
            us.span,
            words.allowed(format!("{}..={} us", SLICE_US.0, SLICE_US.1)).help("Linux uses the nearest allowed value"),
        );
    }
    ns(us.value.clamp(SLICE_US.0, SLICE_US.1))
}

fn deadline(props: &Props, at: Span, report: &mut Report) -> SchedPolicy {
    let Some(runtime) = props.dl_runtime_us.clone().filter(|us| us.value > 0) else {
        let words = say("SCHED_DEADLINE needs `dl-runtime`").label("no budget");
        report.error(
            props.policy.as_ref().map_or(at, |p| p.span),
            words.help("give `dl-runtime` and `dl-period` in microseconds"),
        );
        return SchedPolicy::Deadline { runtime_ns: 1, deadline_ns: 1, period_ns: 1 };
    };
    let period = props.dl_period_us.clone().filter(|us| us.value > 0).unwrap_or_else(|| runtime.clone());
    let deadline = props.dl_deadline_us.clone().filter(|us| us.value > 0).unwrap_or_else(|| period.clone());
    if runtime.value < DL_RUNTIME_US_MIN {
        let words = say("`dl-runtime` is too short").label(format!("{} us", runtime.value));
        report.error(runtime.span, words.allowed(format!("at least {DL_RUNTIME_US_MIN} us")));
    }
    order(&runtime, "dl-runtime", &deadline, "dl-deadline", report);
    order(&deadline, "dl-deadline", &period, "dl-period", report);
    SchedPolicy::Deadline {
        runtime_ns: ns(runtime.value),
        deadline_ns: ns(deadline.value),
        period_ns: ns(period.value),
    }
}

fn order(less: &Spanned<i64>, less_key: &str, more: &Spanned<i64>, more_key: &str, report: &mut Report) {
    if less.value > more.value {
        let words = say(format!("`{less_key}` is longer than `{more_key}`")).label(format!("{} us", less.value));
        report.error(
            less.span,
            words.allowed(format!("at most {} us", more.value)).help("dl-runtime <= dl-deadline <= dl-period"),
        );
    }
}

/// Microseconds as nanoseconds; negative values were refused before.
pub(super) fn ns(us: i64) -> u64 {
    u64::try_from(us).unwrap_or(0).saturating_mul(1000)
}

/// Lower and upper clamp.
pub(super) type Clamps = (u32, u32);

/// No clamp.
pub(super) const UNCLAMPED: Clamps = (0, 1024);

/// Clamps after what an object sets: absent or -1 stays as it was. `None` when the object sets nothing.
pub(super) fn clamps(props: &Props, before: Clamps, report: &mut Report) -> Option<Clamps> {
    let set = |v: &Option<Spanned<i64>>| {
        v.as_ref().filter(|v| v.value >= 0).map(|v| (u32::try_from(v.value).unwrap_or(0), v.span))
    };
    let (min, max) = (set(&props.util_min), set(&props.util_max));
    let span = min.or(max)?.1;
    let after = (min.map_or(before.0, |m| m.0), max.map_or(before.1, |m| m.0));
    if after.0 > after.1 {
        let words = say("`util_min` is above `util_max`").label(format!("util_min {}, util_max {}", after.0, after.1));
        report.error(span, words.help("Linux refuses such a pair"));
    }
    Some(after)
}

/// The clamps each phase sets, in order. A phase that sets only one of the two keeps the other as it was; when phases
/// repeat, "as it was" must not depend on the round.
pub(super) fn phase_clamps(task: &FlatTask, start: Clamps, report: &mut Report) -> Vec<Option<Clamps>> {
    let first = one_round(task, start, report);
    let end = first.iter().rev().flatten().next().copied().unwrap_or(start);
    if task.repeat != Some(1) && end != start {
        let second = one_round(task, end, report);
        if let Some(i) = first.iter().zip(&second).position(|(a, b)| a != b) {
            let words =
                say("this phase's clamps depend on the round").label("one clamp is set, the other is left as it was");
            report.error(task.phases[i].name.span, words.help("write both `util_min` and `util_max`"));
        }
    }
    first
}

fn one_round(task: &FlatTask, start: Clamps, report: &mut Report) -> Vec<Option<Clamps>> {
    let mut now = start;
    let step = |phase: &crate::rtapp::flat::FlatPhase| {
        let set = clamps(phase.props, now, report);
        now = set.unwrap_or(now);
        set
    };
    task.phases.iter().map(step).collect()
}

/// Linux admits deadline tasks up to 95 % of the CPUs.
pub(super) fn admission(tasks: &[(&FlatTask, SchedPolicy)], cpus: u32, report: &mut Report) {
    let share = |policy: &SchedPolicy| match policy {
        SchedPolicy::Deadline { runtime_ns, period_ns, .. } => {
            (u128::from(*runtime_ns) << 20) / u128::from(*period_ns).max(1)
        }
        _ => 0,
    };
    let total: u128 = tasks.iter().map(|(t, p)| share(p) * u128::from(t.instances())).sum();
    let limit = ((u128::from(cpus) * 95) << 20) / 100;
    let first = tasks.iter().find(|(_, p)| share(p) > 0);
    if let Some((task, _)) = first.filter(|_| total > limit) {
        let percent = |x: u128| (x * 100) >> 20;
        let words = say(format!("the deadline tasks reserve {} % of a CPU, more than Linux admits", percent(total)));
        let words = words.label("first deadline task").allowed(format!("at most {} % on {cpus} CPUs", percent(limit)));
        report.error(task.task.name.span, words);
    }
}
