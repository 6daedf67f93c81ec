// SPDX-License-Identifier: GPL-2.0-or-later
//! Rule that a step of a decision follows, and its place in the kernel.

use pelton_core::Policy;
use pelton_schema::HookSite;
use schemars::JsonSchema;
use serde::Serialize;

const WHO_CALLS: &str = "docs/rules/governor.md#who-calls";
const ALLOWED: &str = "docs/rules/governor.md#when-an-evaluation-is-allowed";
const REQUEST: &str = "docs/rules/governor.md#the-request-of-one-cpu";
const OUTCOME: &str = "docs/rules/governor.md#what-becomes-of-it";
const FILTERS: &str = "docs/rules/hooks-and-gates.md#filters";
const SUMS: &str = "docs/rules/clamps.md#postings-that-add-up";

/// A rule and its place in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    /// Page of the rule and its heading.
    pub section: &'static str,
    /// Function of the kernel of the policy's profile.
    pub function: &'static str,
}

const fn rule(section: &'static str, function: &'static str) -> Rule {
    Rule { section, function }
}

/// The name of a switch's value.
pub fn value_of(policy: &Policy, switch: &str) -> &'static str {
    policy.get(switch).unwrap_or("")
}

/// Rule by which the governor was called.
pub fn hook(site: HookSite, policy: &Policy) -> Rule {
    match site {
        HookSite::Decay => rule(WHO_CALLS, "cfs_rq_util_change()"),
        HookSite::Attach => rule(WHO_CALLS, "attach_entity_load_avg()"),
        HookSite::Detach => rule(WHO_CALLS, "detach_entity_load_avg()"),
        HookSite::Iowait => rule(WHO_CALLS, "enqueue_task_fair()"),
        HookSite::Tick => rule(WHO_CALLS, "task_tick_fair()"),
        HookSite::Rt if value_of(policy, "hook_rt") == "accounting" => rule(WHO_CALLS, "update_curr_rt()"),
        HookSite::Rt => rule(WHO_CALLS, "enqueue_top_rt_rq()"),
        HookSite::Dl if value_of(policy, "hook_dl") == "accounting" => rule(WHO_CALLS, "update_curr_dl()"),
        HookSite::Dl => rule(WHO_CALLS, "__add_running_bw()"),
        HookSite::Blocked => rule(WHO_CALLS, "update_blocked_averages()"),
        HookSite::Limits => rule(ALLOWED, "sugov_limits()"),
        HookSite::Enqueue => rule(FILTERS, "enqueue_task_fair()"),
        HookSite::Switch => rule(FILTERS, "__schedule()"),
        HookSite::Uclamp => rule(SUMS, "enqueue_task_fair()"),
    }
}

/// One sentence about a hook site.
pub fn hook_in_words(site: HookSite) -> &'static str {
    match site {
        HookSite::Decay => "the averages of its fair runqueue crossed a period boundary",
        HookSite::Attach => "a task's utilization joined its fair runqueue",
        HookSite::Detach => "a task's utilization left its fair runqueue",
        HookSite::Iowait => "a task woke up from waiting for I/O",
        HookSite::Tick => "the tick, which calls explicitly under this policy",
        HookSite::Rt => "its RT class changed",
        HookSite::Dl => "its deadline class changed",
        HookSite::Blocked => "a walk refreshed blocked load",
        HookSite::Limits => "the policy's limits changed",
        HookSite::Enqueue => "a second task was enqueued and the tick is far away",
        HookSite::Switch => "a context switch; the next task is known",
        HookSite::Uclamp => "a task joined, and its clamps add to the CPU's",
    }
}

/// Rule by which the governor may act.
pub fn gate() -> Rule {
    rule(ALLOWED, "sugov_should_update_freq()")
}

/// Utilization of the fair class.
pub fn fair(policy: &Policy) -> Rule {
    match (value_of(policy, "runnable_boost"), value_of(policy, "perf_form")) {
        ("on", _) => rule(REQUEST, "cpu_util(boost=1)"),
        (_, "flags") => rule(REQUEST, "sugov_get_util()"),
        _ => rule(REQUEST, "cpu_util_cfs()"),
    }
}

/// Rule of one CPU's request.
pub fn request(policy: &Policy) -> Rule {
    match value_of(policy, "perf_form") {
        "flags" | "rt_sum" => rule(REQUEST, "sugov_get_util()"),
        "bw" => rule(REQUEST, "sugov_aggregate_util()"),
        _ => rule(REQUEST, "effective_cpu_util()"),
    }
}

/// The largest request of the domain wins.
pub fn maximum() -> Rule {
    rule(REQUEST, "sugov_next_freq_shared()")
}

/// Rule by which the 25 % margin is added.
pub fn headroom(policy: &Policy) -> Rule {
    match value_of(policy, "headroom") {
        "frequency" => rule(REQUEST, "get_next_freq()"),
        "utilization" => rule(REQUEST, "map_util_perf()"),
        _ => rule(REQUEST, "sugov_effective_cpu_perf()"),
    }
}

/// From utilization to frequency.
pub fn raw() -> Rule {
    rule(REQUEST, "get_next_freq()")
}

/// From frequency to an operating point.
pub fn resolve() -> Rule {
    rule(OUTCOME, "cpufreq_driver_resolve_freq()")
}

/// Rule by which the request changes.
pub fn commit() -> Rule {
    rule(ALLOWED, "sugov_update_next_freq()")
}

/// Rule by which the next change is allowed.
pub fn window() -> Rule {
    rule(ALLOWED, "sugov_should_update_freq()")
}

/// The hook site of this number.
pub fn site(number: u32) -> HookSite {
    HookSite::of_code(number).unwrap_or(HookSite::Decay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_kernels_differ_where_they_should() {
        let old = Policy::profile("4.16").expect("exists");
        let new = Policy::profile("7.2").expect("exists");
        assert_eq!(hook(HookSite::Rt, &old).function, "update_curr_rt()");
        assert_eq!(hook(HookSite::Rt, &new).function, "enqueue_top_rt_rq()");
        assert_eq!(headroom(&old).function, "get_next_freq()");
        assert_eq!(headroom(&new).function, "sugov_effective_cpu_perf()");
        assert_eq!(request(&new).section, "docs/rules/governor.md#the-request-of-one-cpu");
    }
}
