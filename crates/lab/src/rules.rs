// SPDX-License-Identifier: GPL-2.0-only
//! Which rule of the specification a step of a decision follows, and where the kernel has it.

use pelton_core::Policy;
use pelton_schema::HookSite;
use schemars::JsonSchema;
use serde::Serialize;

/// A rule and its place in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    /// Section of the specification.
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

/// Why the governor was called.
pub fn hook(site: HookSite, policy: &Policy) -> Rule {
    match site {
        HookSite::Decay => rule("B.13", "cfs_rq_util_change()"),
        HookSite::Attach => rule("B.13", "attach_entity_load_avg()"),
        HookSite::Detach => rule("B.13", "detach_entity_load_avg()"),
        HookSite::Iowait => rule("B.13", "enqueue_task_fair()"),
        HookSite::Tick => rule("B.13", "task_tick_fair()"),
        HookSite::Rt if value_of(policy, "hook_rt") == "accounting" => rule("B.13", "update_curr_rt()"),
        HookSite::Rt => rule("B.13", "enqueue_top_rt_rq()"),
        HookSite::Dl if value_of(policy, "hook_dl") == "accounting" => rule("B.13", "update_curr_dl()"),
        HookSite::Dl => rule("B.13", "__add_running_bw()"),
        HookSite::Blocked => rule("B.13", "update_blocked_averages()"),
        HookSite::Limits => rule("B.3", "sugov_limits()"),
        HookSite::Enqueue => rule("C.6", "enqueue_task_fair()"),
        HookSite::Switch => rule("C.6", "__schedule()"),
        HookSite::Uclamp => rule("G.6", "enqueue_task_fair()"),
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

/// Whether the governor may act.
pub fn gate() -> Rule {
    rule("B.3", "sugov_should_update_freq()")
}

/// What one CPU asks for.
pub fn request(policy: &Policy) -> Rule {
    match value_of(policy, "perf_form") {
        "flags" => rule("B.5", "sugov_get_util()"),
        "bw" => rule("B.5", "sugov_aggregate_util()"),
        "rt_sum" => rule("B.5", "sugov_get_util()"),
        "clamp_then_sum" => rule("B.5", "effective_cpu_util()"),
        _ => rule("B.4", "effective_cpu_util()"),
    }
}

/// The largest request of the domain wins.
pub fn maximum() -> Rule {
    rule("B.2", "sugov_next_freq_shared()")
}

/// Where the 25 % margin is added.
pub fn headroom(policy: &Policy) -> Rule {
    match value_of(policy, "headroom") {
        "frequency" => rule("B.6", "get_next_freq()"),
        "utilization" => rule("B.5", "map_util_perf()"),
        _ => rule("B.4", "sugov_effective_cpu_perf()"),
    }
}

/// From utilization to frequency.
pub fn raw() -> Rule {
    rule("B.6", "get_next_freq()")
}

/// From frequency to an operating point.
pub fn resolve() -> Rule {
    rule("B.6", "cpufreq_driver_resolve_freq()")
}

/// Whether the request changes.
pub fn commit() -> Rule {
    rule("B.3", "sugov_update_next_freq()")
}

/// When the next change is allowed.
pub fn window() -> Rule {
    rule("B.11", "sugov_should_update_freq()")
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
        assert_eq!(request(&new).section, "B.4");
    }
}
