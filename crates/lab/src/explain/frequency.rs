// SPDX-License-Identifier: GPL-2.0-or-later
//! One frequency decision as a chain of steps with every number filled in.

use super::terms::{self, Request, headroom_in_words, parts};
use super::{Decision, Moment, value_of};
use crate::plan::gate::GateTimes;
use pelton_core::Policy;
use pelton_model::Plan;
use pelton_model::machine::FreqDomain;
use pelton_schema::{GateVerdict, HookSite};
use schemars::JsonSchema;
use serde::Serialize;

const WHO_CALLS: &str = "docs/rules/governor.md#who-calls";
const ALLOWED: &str = "docs/rules/governor.md#when-an-evaluation-is-allowed";
const REQUEST: &str = "docs/rules/governor.md#the-request-of-one-cpu";
const OUTCOME: &str = "docs/rules/governor.md#what-becomes-of-it";
const FILTERS: &str = "docs/rules/hooks-and-gates.md#filters";
const SUMS: &str = "docs/rules/clamps.md#postings-that-add-up";

/// A decision, explained.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// Frequency domain: number and name.
    pub domain: (u32, String),
    /// The decision as the simulator recorded it.
    pub decision: Decision,
    /// Request of every CPU of the domain; the largest wins.
    pub requests: Vec<Request>,
    /// Time of the requests, ns since the start of the run: at this decision, or at the evaluation before it when this
    /// call was refused; `None`: there was none.
    pub requests_ns: Option<u64>,
    /// The chain, in order.
    pub steps: Vec<Step>,
    /// Frequency that is asked of the driver from now on, kHz.
    pub request_khz: u32,
    /// From when the next change is allowed, ns.
    pub next_allowed_ns: u64,
}

/// One step of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Name of the step.
    pub name: &'static str,
    /// Event of the step, with numbers.
    pub text: String,
    /// The rule it follows.
    pub rule: Rule,
}

/// A rule and its place in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    /// Page of the rule and its heading.
    pub section: &'static str,
    /// Function of the kernel of the policy's profile.
    pub function: &'static str,
}

/// Facts known besides the decision itself.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Plan of the run.
    pub plan: &'a Plan,
    /// Times of the domain's gate.
    pub times: GateTimes,
}

const fn rule(section: &'static str, function: &'static str) -> Rule {
    Rule { section, function }
}

impl Rule {
    /// Rule by which the governor was called.
    fn hook(site: HookSite, policy: &Policy) -> Rule {
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

    /// Rule by which the governor may act.
    fn gate() -> Rule {
        rule(ALLOWED, "sugov_should_update_freq()")
    }

    /// Utilization of the fair class.
    fn fair(policy: &Policy) -> Rule {
        match (value_of(policy, "runnable_boost"), value_of(policy, "perf_form")) {
            ("on", _) => rule(REQUEST, "cpu_util(boost=1)"),
            (_, "flags") => rule(REQUEST, "sugov_get_util()"),
            _ => rule(REQUEST, "cpu_util_cfs()"),
        }
    }

    /// Rule of one CPU's request.
    fn request(policy: &Policy) -> Rule {
        match value_of(policy, "perf_form") {
            "flags" | "rt_sum" => rule(REQUEST, "sugov_get_util()"),
            "bw" => rule(REQUEST, "sugov_aggregate_util()"),
            _ => rule(REQUEST, "effective_cpu_util()"),
        }
    }

    /// The largest request of the domain wins.
    fn maximum() -> Rule {
        rule(REQUEST, "sugov_next_freq_shared()")
    }

    /// Rule by which the 25 % margin is added.
    fn headroom(policy: &Policy) -> Rule {
        match value_of(policy, "headroom") {
            "frequency" => rule(REQUEST, "get_next_freq()"),
            "utilization" => rule(REQUEST, "map_util_perf()"),
            _ => rule(REQUEST, "sugov_effective_cpu_perf()"),
        }
    }

    /// From utilization to frequency.
    fn raw() -> Rule {
        rule(REQUEST, "get_next_freq()")
    }

    /// From frequency to an operating point.
    fn resolve() -> Rule {
        rule(OUTCOME, "cpufreq_driver_resolve_freq()")
    }

    /// Rule by which the request changes.
    fn commit() -> Rule {
        rule(ALLOWED, "sugov_update_next_freq()")
    }

    /// Rule by which the next change is allowed.
    fn window() -> Rule {
        rule(ALLOWED, "sugov_should_update_freq()")
    }
}

/// One sentence about a hook site.
fn hook_in_words(site: HookSite) -> &'static str {
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

/// The hook site of this number.
fn site(number: u32) -> HookSite {
    HookSite::of_code(number).unwrap_or(HookSite::Decay)
}

/// Builds the chain.
pub fn explain(moment: &Moment, context: Context<'_>) -> Explanation {
    let decision = moment.decision;
    let domain = &context.plan.machine.domains[decision.domain as usize];
    let next_allowed_ns = next_allowed_ns(&decision);
    let request_khz = decision.request_khz;
    let mut steps = vec![asked(&decision, context.plan), gate(moment, &context)];
    if decision.was_evaluated() {
        steps.extend(evaluated(moment, context.plan, domain));
    } else {
        steps.push(kept(moment));
    }
    steps.push(next(moment, &context, next_allowed_ns));
    let name = domain.name.clone();
    let domain = (decision.domain, name);
    let requests = terms::requests(&context.plan.policy, moment);
    let requests_ns = moment.requests.as_ref().map(|asked| asked.time_ns);
    Explanation {
        time_ns: decision.time_ns,
        domain,
        decision,
        requests,
        requests_ns,
        steps,
        request_khz,
        next_allowed_ns,
    }
}

fn step(name: &'static str, rule: Rule, text: String) -> Step {
    Step { name, text, rule }
}

fn asked(decision: &Decision, plan: &Plan) -> Step {
    let site = site(decision.site);
    let on = if decision.cpu == decision.executing_cpu {
        String::new()
    } else {
        format!(" (seen by CPU {})", decision.executing_cpu)
    };
    let text = format!("CPU {}{on}, hook site `{}`: {}", decision.cpu, site.name(), hook_in_words(site));
    step("who asked", Rule::hook(site, &plan.policy), text)
}

fn gate(moment: &Moment, context: &Context<'_>) -> Step {
    use GateVerdict::{Busy, Dead, Dropped, Held, Open, Peak, Remote, Window};
    let decision = &moment.decision;
    let rule = rule_in_words(decision, context);
    let since = moment.last_change_ns.map(|t| ms(decision.time_ns - t));
    let text = match (decision.verdict(), since) {
        (Open, None) => format!("open: nothing was changed before; {rule}"),
        (Open, Some(since)) => {
            format!("open: {since} ms since the last change; {rule}{}", forced(moment))
        }
        (Window, Some(since)) => format!("refused: {since} ms since the last change; {rule}"),
        (Window, None) => format!("refused: too soon; {rule}"),
        (Held | Peak | Dead, _) => held_in_words(moment, value_of(&context.plan.policy, "gate")),
        (Dropped, _) => "never asked: the hook filter dropped the event".to_owned(),
        (Busy, _) => "refused: the worker has not carried out the previous change yet".to_owned(),
        (Remote, _) => format!("refused: CPU {} may not drive this domain", decision.executing_cpu),
    };
    step("gate", Rule::gate(), text)
}

/// Waiting time of this gate, in words.
fn rule_in_words(decision: &Decision, context: &Context<'_>) -> String {
    let times = &context.times;
    let (limit, window, spacing) = (ms(times.rate_limit_ns), ms(times.window_ns), ms(times.spacing_ns));
    match value_of(&context.plan.policy, "gate") {
        "r0a" | "r0b" => format!("the rate limit is {limit} ms"),
        "r1_asym" => format!("r1_asym waits {spacing} ms"),
        "up_down" => format!("the limit is {window} ms up, {spacing} ms down"),
        gate if gate.starts_with("r2") => {
            format!("{gate} waits {spacing} to {window} ms, the longer the smaller the error (e {})", decision.error)
        }
        gate => format!("the window of {gate} is {window} ms"),
    }
}

/// A change that was worked out and has to wait, with the numbers that decide how long.
fn held_in_words(moment: &Moment, gate: &str) -> String {
    let decision = &moment.decision;
    let numbers = match decision.peak_khz {
        0 => format!("error e {}", decision.error),
        khz => format!("error e {}, M {khz} kHz", decision.error),
    };
    match decision.verdict() {
        GateVerdict::Peak => {
            format!("held by the peak of {gate}: not lowered below the largest wanted in the last window ({numbers})")
        }
        GateVerdict::Dead => format!("held by {gate}: the error is in the dead band ({numbers})"),
        _ => format!("held by {gate}: {} ({numbers})", waiting_in_words(moment, gate)),
    }
}

/// Time since the window began, its length and the time left, in words.
fn waiting_in_words(moment: &Moment, gate: &str) -> String {
    let decision = &moment.decision;
    let left = ms(decision.until_ns.saturating_sub(decision.time_ns));
    let window = if gate.starts_with("r2") { "D(e)" } else { "window" };
    match moment.last_change_ns {
        // A trailing window also begins without a change.
        Some(change_ns) if gate != "r1_trailing" => {
            let (since, length) = (decision.time_ns - change_ns, decision.until_ns.saturating_sub(change_ns));
            format!("{} ms since the last change, {window} is {} ms, {left} ms left", ms(since), ms(length))
        }
        _ => format!("{left} ms of its {window} are left"),
    }
}

/// Reason for which the gate was open inside the window, in words; empty outside of it.
fn forced(moment: &Moment) -> &'static str {
    let early = moment.decision.time_ns < moment.allowed_ns;
    if early { ", passed over for a larger reservation, new limits or a class that need not wait" } else { "" }
}

/// The steps of a decision that passed the gate.
fn evaluated(moment: &Moment, plan: &Plan, domain: &FreqDomain) -> Vec<Step> {
    let (decision, policy) = (&moment.decision, &plan.policy);
    let raw = raw_in_words(decision, policy, domain, (present_khz(plan, moment), share(moment)));
    let mut steps = requested(moment, plan);
    steps.extend([
        step("largest of the domain", Rule::maximum(), largest_in_words(decision)),
        step("raw frequency", Rule::raw(), raw),
        step("operating point", Rule::resolve(), resolved_in_words(decision, domain)),
        step("commit", Rule::commit(), commit_in_words(decision, policy)),
    ]);
    steps
}

/// Steps by which the request of the deciding CPU came about.
fn requested(moment: &Moment, plan: &Plan) -> Vec<Step> {
    let (decision, policy) = (&moment.decision, &plan.policy);
    let rows = terms::requests(policy, moment);
    let Some(asked) = &moment.requests else { return Vec::new() };
    let (part, row) = (parts(policy, asked).find(|part| part.cpu() == decision.max_cpu), rows.iter().find(|r| r.wins));
    let (Some(part), Some(row)) = (part, row) else { return Vec::new() };
    vec![
        step("fair utilization", Rule::fair(policy), part.fair_in_words()),
        step("request", Rule::request(policy), part.sum_in_words() + clamped_in_words(plan)),
        step("headroom", Rule::headroom(policy), headroom_in_words(row, &decision.terms, policy)),
    ]
}

/// Request of the deciding CPU, and the scale of which it is a part: together a share of the highest frequency.
fn share(moment: &Moment) -> (u32, u32) {
    let (decision, asked) = (&moment.decision, &moment.requests);
    let rows = asked.iter().flat_map(|asked| &asked.rows);
    let terms = rows.filter(|(asked, _)| asked.cpu == decision.max_cpu).find_map(|(asked, _)| asked.terms);
    terms.map_or((decision.terms.perf, decision.cap_orig), |terms| (terms.request, terms.scale))
}

fn largest_in_words(decision: &Decision) -> String {
    if decision.terms.forced_max {
        return format!("CPU {} with the maximum", decision.max_cpu);
    }
    format!("CPU {} with {} of {}", decision.max_cpu, decision.terms.perf, decision.cap_orig)
}

/// Effect of clamps or of groups' limits on the fair utilization, in words; empty where it is the queue's.
fn clamped_in_words(plan: &Plan) -> &'static str {
    match value_of(&plan.policy, "uclamp") {
        "off" | "max" => "",
        "group_throttle" if plan.workload.limits_groups() => "; each task group counts for its part of the CPU at most",
        "group_throttle" => "",
        _ if plan.workload.sets_clamps() => "; clamped utilizations of tasks are added up",
        _ => "",
    }
}

/// `request` of `scale`: of the CPU's capacity, or of its highest frequency where the boost for I/O is a frequency.
fn raw_in_words(
    decision: &Decision,
    policy: &Policy,
    domain: &FreqDomain,
    (present_khz, (request, scale)): (u32, (u32, u32)),
) -> String {
    let (t, raw) = (&decision.terms, decision.raw_khz);
    if t.forced_max {
        return format!("{raw} kHz, the maximum");
    }
    let headroom = value_of(policy, "headroom");
    let reference = reference_in_words(policy, domain, present_khz);
    let factor = 1.0 + f64::from(policy.headroom_pct) / 100.0;
    let quarter = if headroom == "frequency" { format!(" x {factor}") } else { String::new() };
    let boost = if scale == decision.cap_orig { "" } else { "the iowait boost's " };
    format!("{reference}{quarter} x {boost}{request} / {scale} = {raw} kHz")
}

/// The frequency that a request of the whole scale asks for.
fn reference_in_words(policy: &Policy, domain: &FreqDomain, present_khz: u32) -> String {
    let (told_khz, by_capacity) = (domain.told_scale_khz(), value_of(policy, "ref_freq") == "capacity");
    match (by_capacity && told_khz > 0, domain.freq_invariant) {
        (true, _) if told_khz != domain.ref_khz => format!("{told_khz} kHz, which signals are scaled to,"),
        (true, _) => format!("{told_khz} kHz"),
        (_, true) => format!("{} kHz", domain.ref_khz),
        _ if by_capacity => format!("(the present {present_khz} kHz + a quarter)"),
        _ => format!("the present {present_khz} kHz"),
    }
}

/// The frequency the domain ran at when it was decided, kHz: without frequency invariance all requests refer to it.
fn present_khz(plan: &Plan, moment: &Moment) -> u32 {
    let spec = &plan.machine.domains[moment.decision.domain as usize];
    let seen = moment.khz.get(moment.decision.max_cpu as usize).copied().unwrap_or(0);
    let lowest = || spec.opps.first().map_or(0, |o| o.khz);
    [seen, spec.initial_khz].into_iter().find(|&khz| khz > 0).unwrap_or_else(lowest)
}

fn resolved_in_words(decision: &Decision, domain: &FreqDomain) -> String {
    let (raw, resolved) = (decision.raw_khz, decision.resolved_khz);
    let why_not = |khz: u32| match khz >= raw {
        true => format!(" ({khz} kHz is passed over: a faster one does the same work for no more)"),
        false => format!(" ({khz} kHz would be too slow)"),
    };
    let below = domain.opps.iter().rev().find(|o| o.khz < resolved).map(|o| why_not(o.khz));
    let highest = domain.opps.last().is_some_and(|o| o.khz == resolved);
    match resolved {
        _ if raw > resolved && highest => format!("{resolved} kHz: the highest there is"),
        _ if raw > resolved => format!("{resolved} kHz: the limits allow no more"),
        _ => format!("{resolved} kHz: the lowest that is at least {raw} kHz{}", below.unwrap_or_default()),
    }
}

fn commit_in_words(decision: &Decision, policy: &Policy) -> String {
    let (before, after, request_khz) = (decision.prev_khz, decision.resolved_khz, decision.request_khz);
    match (decision.changed, before == after) {
        _ if decision.was_held() => format!("{before} kHz kept: the gate holds the change to {after} kHz"),
        (true, _) if request_khz != after => {
            format!("{before} -> {request_khz} kHz, the largest wanted in the last window: handed to the driver")
        }
        (true, _) => format!("{before} -> {after} kHz: handed to the driver"),
        (false, true) => format!("{before} kHz already asked for: nothing to do"),
        (false, false) if value_of(policy, "hold") == "keep_cache" => {
            format!("{before} kHz kept: the CPU was never idle, now or when the same was first asked for")
        }
        (false, false) => format!("{before} kHz kept: the CPU was never idle, so the frequency does not fall"),
    }
}

/// After a refusal: where the standing request comes from.
fn kept(moment: &Moment) -> Step {
    let khz = moment.decision.prev_khz;
    let text = match &moment.evaluated {
        Some(e) => {
            format!("{khz} kHz stays, decided at {} s (explain it with --at {}ns)", seconds(e.time_ns), e.time_ns)
        }
        None => format!("{khz} kHz stays, the frequency of the start"),
    };
    step("request", Rule::commit(), text)
}

/// A held change has its own time, every other has to be far enough from the last one.
fn next_allowed_ns(decision: &Decision) -> u64 {
    let allowed_ns = if decision.was_held() { decision.until_ns } else { decision.next_allowed_ns };
    allowed_ns.max(decision.time_ns)
}

fn next(moment: &Moment, context: &Context<'_>, allowed_ns: u64) -> Step {
    let limit = ms(context.times.least_ns);
    let wait = allowed_ns - moment.decision.time_ns;
    let text = match wait {
        0 if moment.decision.verdict() == GateVerdict::Peak => {
            "when more is wanted than the gate keeps, or its window has forgotten M".to_owned()
        }
        0 if moment.decision.was_held() => "when the error leaves the dead band".to_owned(),
        _ if moment.decision.was_held() => format!("at {} s, in {} ms", seconds(allowed_ns), ms(wait)),
        0 => "at any time: no window is open".to_owned(),
        _ => format!("at {} s, in {} ms: {limit} ms after the window began", seconds(allowed_ns), ms(wait)),
    };
    step("next change", Rule::window(), text)
}

fn ms(ns: u64) -> f64 {
    (ns as f64 / 1e3).round() / 1e3
}

fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

impl Explanation {
    /// Name of the hook site.
    pub fn site(&self) -> HookSite {
        site(self.decision.site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Terms;

    #[test]
    fn old_and_new_kernels_differ_where_they_should() {
        let old = Policy::profile("4.16").expect("exists");
        let new = Policy::profile("7.2").expect("exists");
        assert_eq!(Rule::hook(HookSite::Rt, &old).function, "update_curr_rt()");
        assert_eq!(Rule::hook(HookSite::Rt, &new).function, "enqueue_top_rt_rq()");
        assert_eq!(Rule::headroom(&old).function, "get_next_freq()");
        assert_eq!(Rule::headroom(&new).function, "sugov_effective_cpu_perf()");
        assert_eq!(Rule::request(&new).section, "docs/rules/governor.md#the-request-of-one-cpu");
    }

    #[test]
    fn without_frequency_invariance_the_present_frequency_is_named() {
        let domain = FreqDomain { ref_khz: 2_000_000, freq_invariant: false, ..FreqDomain::default() };
        let words = |profile: &str, perf, raw_khz| {
            let terms = Terms { effective: 512, perf, ..Terms::default() };
            // The request before was another one than what the domain runs at: the driver has not followed yet.
            let decision = Decision { terms, raw_khz, prev_khz: 1_200_000, cap_orig: 1024, ..Decision::default() };
            raw_in_words(
                &decision,
                &Policy::profile(profile).expect("profile exists"),
                &domain,
                (800_000, (perf, 1024)),
            )
        };
        assert_eq!(words("4.12", 512, 500_000), "the present 800000 kHz x 1.25 x 512 / 1024 = 500000 kHz");
        assert_eq!(words("6.1", 640, 500_000), "the present 800000 kHz x 640 / 1024 = 500000 kHz");
        assert_eq!(words("7.2", 640, 625_000), "(the present 800000 kHz + a quarter) x 640 / 1024 = 625000 kHz");
    }

    #[test]
    fn where_the_architecture_tells_what_signals_are_scaled_to_the_request_is_a_part_of_that_from_6_8() {
        let domain = FreqDomain {
            ref_khz: 1_700_000,
            scale_khz: 1_500_000,
            freq_ref: true,
            freq_invariant: true,
            ..FreqDomain::default()
        };
        let words =
            |profile: &str| reference_in_words(&Policy::profile(profile).expect("profile exists"), &domain, 600_000);
        assert_eq!(words("6.6"), "1700000 kHz");
        assert_eq!(words("6.12"), "1500000 kHz, which signals are scaled to,");
    }

    #[test]
    fn what_is_handed_to_the_driver_is_what_the_text_says() {
        let decision = Decision {
            prev_khz: 1_200_000,
            resolved_khz: 208_000,
            request_khz: 960_000,
            changed: true,
            ..Decision::default()
        };
        let text = commit_in_words(&decision, &Policy::profile("7.2").expect("profile exists"));
        assert_eq!(text, "1200000 -> 960000 kHz, the largest wanted in the last window: handed to the driver");
    }

    #[test]
    fn clamps_in_the_fair_utilization_are_named() {
        use crate::plan::{Inputs, PolicySpec, build};
        let words = |workload: &str, form: &str| {
            let inputs = Inputs { platform: "juno-r2".into(), workload: workload.into(), ..Inputs::default() };
            clamped_in_words(&build(&inputs, &PolicySpec::parse(&format!("7.2,uclamp={form}"))).expect("good").plan)
        };
        let (free, capped) = ("busy", "busy:util_max=100");
        let limited = "busy:group=/a + group:path=/a,group_throttle=300";
        assert!(words(limited, "group_throttle").contains("its part of the CPU"));
        assert!(words(capped, "debt").contains("added up"));
        for (workload, form) in [(free, "sum"), (capped, "max"), (capped, "group_throttle"), (limited, "off")] {
            assert_eq!(words(workload, form), "", "{workload}, {form}");
        }
    }
}
