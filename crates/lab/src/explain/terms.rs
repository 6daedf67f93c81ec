// SPDX-License-Identifier: GPL-2.0-or-later
//! Terms of one CPU's request, and the one that decided. The numbers are those of the decision; the policy core
//! supplies their meaning.

use super::{Call, Decision, Moment, Requests, Signals, Terms, value_of};
use pelton_core::{ASKS_WHY, CpuState, FAIR_WHY, PerfTerms, Policy, SUM_WHY, apply_headroom, scale_irq};
use pelton_schema::Asked;
use schemars::JsonSchema;
use serde::Serialize;

/// Request of one CPU.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Request {
    /// CPU.
    pub cpu: u32,
    /// Signals of its queues as they were read; `None`: not known, for the CPU never called (to 4.16).
    pub signals: Option<Signals>,
    /// Time at which they were read, ns since the start of the run: at the evaluation, or to 4.16 at the CPU's last
    /// call.
    pub read_ns: Option<u64>,
    /// Candidates from which the fair term was chosen.
    pub fair: Option<Fair>,
    /// Clamps in force, least and most; `None`: none are.
    pub clamps: Option<(u32, u32)>,
    /// The terms of its request; `None`: left out, or not asked.
    pub terms: Option<Terms>,
    /// Amount that the margin adds to the sum; 0 where it is added to the frequency instead.
    pub headroom: Option<u32>,
    /// Source of its request: `sum`, or the limit or term that took its place.
    pub decided_by: Option<&'static str>,
    /// Its request is the largest.
    pub wins: bool,
    /// Left out: its last call is older than a tick (4.16 and before).
    pub stale: bool,
    /// The terms are those of the decision; false: there are none, it was left out or not asked.
    pub recorded: bool,
}

/// Candidates of the fair term, after clamps that add up, limits of groups and boosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fair {
    /// Utilization.
    pub util_avg: u32,
    /// Estimate.
    pub util_est: u32,
    /// Runnable average.
    pub runnable_avg: u32,
    /// The estimate counts under this policy.
    pub counts_util_est: bool,
    /// The runnable average counts under this policy.
    pub counts_runnable_avg: bool,
    /// Candidate that is the term: `util_avg`, `util_est`, `runnable_avg`; `no fair task` and `silent`: none, the term
    /// is 0.
    pub by: &'static str,
}

/// One CPU's part of an evaluation.
pub(super) struct Part<'a> {
    policy: &'a Policy,
    asked: &'a Asked,
    call: Option<&'a Call>,
    time_ns: u64,
}

/// Parts of all CPUs, in order.
pub(super) fn parts<'a>(policy: &'a Policy, requests: &'a Requests) -> impl Iterator<Item = Part<'a>> {
    let time_ns = requests.time_ns;
    requests.rows.iter().map(move |(asked, call)| Part { policy, asked, call: call.as_ref(), time_ns })
}

/// Request of every CPU of the domain at a decision; after a refusal, at the evaluation before it.
pub fn requests(policy: &Policy, moment: &Moment) -> Vec<Request> {
    let Some(requests) = &moment.requests else { return Vec::new() };
    let decided = if moment.decision.was_evaluated() { Some(moment.decision) } else { moment.evaluated };
    parts(policy, requests).map(|part| part.request(decided)).collect()
}

fn word(words: &[&'static str], at: u32) -> &'static str {
    words.get(at as usize).copied().unwrap_or("?")
}

impl Part<'_> {
    pub(super) fn cpu(&self) -> u32 {
        self.asked.cpu
    }

    /// Time at which signals were read, the queues' signals, and those that the request was made of; `None`: not known.
    fn read(&self) -> Option<(u64, &CpuState, &CpuState)> {
        if !self.asked.by_last_call {
            return Some((self.time_ns, &self.asked.queues, &self.asked.made_of));
        }
        self.call.map(|call| (call.time_ns, &call.queues, &call.passed))
    }

    /// The terms, unless it was left out or not asked.
    fn terms(&self) -> Option<&PerfTerms> {
        self.asked.terms.as_ref().filter(|terms| terms.stale == 0)
    }

    fn request(&self, decided: Option<Decision>) -> Request {
        let (asked, terms, made_of) = (self.asked, self.terms(), &self.asked.made_of);
        let clamped = made_of.uclamp_used != 0 && value_of(self.policy, "uclamp") != "off";
        Request {
            cpu: asked.cpu,
            signals: self.read().map(|(_, queues, _)| signals(queues)),
            read_ns: self.read().map(|(time_ns, ..)| time_ns),
            fair: self.fair(),
            clamps: clamped.then_some((made_of.uclamp_min, made_of.uclamp_max)),
            terms: terms.map(Terms::from),
            headroom: terms.map(|t| t.headroom),
            decided_by: terms.map(|t| self.decided_by(t)),
            wins: decided.is_some_and(|decision| decision.max_cpu == asked.cpu),
            stale: asked.terms.is_some_and(|terms| terms.stale != 0),
            recorded: terms.is_some(),
        }
    }

    fn fair(&self) -> Option<Fair> {
        let (_, _, made_of) = self.read()?;
        let silent = self.asked.by_last_call && self.terms().is_some_and(|t| t.cfs == 0) && made_of.util_cfs > 0;
        Some(Fair {
            util_avg: made_of.util_cfs,
            util_est: made_of.util_est,
            runnable_avg: made_of.runnable_cfs,
            counts_util_est: value_of(self.policy, "util_est") != "off",
            counts_runnable_avg: value_of(self.policy, "runnable_boost") == "on",
            by: if silent { "silent" } else { word(&FAIR_WHY, made_of.fair_why(self.policy)) },
        })
    }

    fn decided_by(&self, terms: &PerfTerms) -> &'static str {
        match self.asked.made_of.asks_why(self.policy, terms) {
            0 => match self.asked.made_of.sum_why(self.policy, terms) {
                0 => "sum",
                why => word(&SUM_WHY, why),
            },
            why => word(&ASKS_WHY, why),
        }
    }

    /// Origin of the fair term, in words.
    pub(super) fn fair_in_words(&self) -> String {
        let (Some(terms), Some((time_ns, queues, made_of)), Some(fair)) = (self.terms(), self.read(), self.fair())
        else {
            return format!("CPU {}: not known", self.cpu());
        };
        let term = made_of.cpu_util(self.policy, fair.counts_runnable_avg);
        debug_assert!(terms.cfs == 0 || terms.cfs == term, "the fair term follows from its candidates");
        let head = match fair.by {
            "no fair task" => "0, no fair task is queued".to_owned(),
            "silent" => "0, silent for more than a tick".to_owned(),
            by => format!("{term}, {by} is the largest of"),
        };
        let cut = if largest(&fair) > made_of.cap_orig { "; the CPU has no more" } else { "" };
        let read =
            if time_ns == self.time_ns { String::new() } else { format!("; read at its last call, {time_ns} ns") };
        let counted = counted(queues, made_of);
        format!("CPU {}: {head} {}{cut}{read}{counted}", self.cpu(), candidates(&fair))
    }

    /// Sum of the terms, and the value that took its place, in words.
    pub(super) fn sum_in_words(&self) -> String {
        let Some(t) = self.terms() else { return format!("CPU {}: not known", self.cpu()) };
        if t.forced_max != 0 {
            let text = "an RT or deadline task asks for the maximum, whatever the sum";
            return format!("CPU {}: {text} (fair {} + RT {} + DL {})", self.cpu(), t.cfs, t.rt, t.dl);
        }
        let iowait =
            if t.iowait > t.effective { format!(", raised to the iowait boost {}", t.iowait) } else { String::new() };
        format!("CPU {}: {}{iowait}", self.cpu(), self.added(t))
    }

    fn added(&self, t: &PerfTerms) -> String {
        let (made_of, all) = (&self.asked.made_of, t.effective);
        match word(&SUM_WHY, made_of.sum_why(self.policy, t)) {
            "RT task" => format!(
                "a runnable RT task asks for all of the CPU, {all} (fair {} and RT {} do not count)",
                t.cfs, t.rt
            ),
            "interrupts" => format!("interrupts take all of the CPU, {all} (IRQ {})", t.irq),
            why => match value_of(self.policy, "perf_form") {
                "rt_sum" | "clamp_then_sum" => self.added_in_steps(t, why),
                _ => added_at_once(t, why, made_of.cap_orig),
            },
        }
    }

    /// 4.19 to 6.7: clamps stand between the terms, and deadline time only decides whether all of the CPU is taken.
    fn added_in_steps(&self, t: &PerfTerms, why: &str) -> String {
        let (made_of, cap) = (&self.asked.made_of, self.asked.made_of.cap_orig);
        let (util, within) = (t.cfs + t.rt, made_of.fair_rt_within(self.policy, t));
        let mut text = format!("fair {} + RT {}", t.cfs, t.rt);
        if within != util {
            let (word, clamp) = if within > util { ("raised", "uclamp_min") } else { ("lowered", "uclamp_max") };
            text += &format!(" = {util}, {word} to {clamp} {within}");
        }
        if within + made_of.util_dl >= cap {
            let time = if made_of.util_dl > 0 { format!(" with DL time {}", made_of.util_dl) } else { String::new() };
            return format!("{text}{time} reaches all of the CPU, {}", t.effective);
        }
        if t.irq > 0 {
            text += &format!("{}, scaled for IRQ {} = {}", equals(within, util), t.irq, scale_irq(within, t.irq, cap));
        }
        let plus = if within != util || t.irq > 0 { "," } else { "" };
        let sum = scale_irq(within, t.irq, cap) + t.dl;
        format!("{text}{plus} + DL {} = {sum}{}", t.dl, instead(t, why, sum))
    }
}

/// The running sum, where it was not printed yet.
fn equals(within: u32, util: u32) -> String {
    if within == util { format!(" = {util}") } else { String::new() }
}

/// All terms are added first.
fn added_at_once(t: &PerfTerms, why: &str, cap: u32) -> String {
    let sum = t.cfs + t.rt + t.dl;
    let text = format!("fair {} + RT {} + DL {} = {sum}", t.cfs, t.rt, t.dl);
    if why == "terms" && t.effective != sum {
        return format!("{text}, scaled for IRQ {} = {}", t.irq, t.effective);
    }
    debug_assert!(why != "capacity" || t.effective == cap);
    text + &instead(t, why, sum)
}

/// Value that takes the place of a sum, in words; empty where the sum stays.
fn instead(t: &PerfTerms, why: &str, sum: u32) -> String {
    match why {
        "deadline floor" => format!(", raised to the deadline floor {}", t.effective),
        "capacity" if sum != t.effective => format!(", of which the CPU has {}", t.effective),
        _ => String::new(),
    }
}

fn largest(fair: &Fair) -> u32 {
    let counts =
        [(fair.util_avg, true), (fair.util_est, fair.counts_util_est), (fair.runnable_avg, fair.counts_runnable_avg)];
    counts.into_iter().filter(|(_, counts)| *counts).map(|(value, _)| value).max().unwrap_or(0)
}

/// The candidates, those that do not count apart.
fn candidates(fair: &Fair) -> String {
    let all = [
        ("util_avg", fair.util_avg, true),
        ("util_est", fair.util_est, fair.counts_util_est),
        ("runnable_avg", fair.runnable_avg, fair.counts_runnable_avg),
    ];
    let list = |of: bool| {
        let some = all.iter().filter(|(.., counts)| *counts == of);
        some.map(|(name, value, _)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    match list(false) {
        none if none.is_empty() => list(true),
        others => format!("{} ({others} not counted by this policy)", list(true)),
    }
}

/// The queue's own signals, where clamps, limits of groups or boosts make others of them.
fn counted(queues: &CpuState, made_of: &CpuState) -> String {
    let of = |s: &CpuState| (s.util_cfs, s.util_est, s.runnable_cfs);
    if of(queues) == of(made_of) {
        return String::new();
    }
    let (util, est, runnable) = of(queues);
    format!(
        "; what clamps, limits of groups and boosts make of util_avg {util}, util_est {est}, runnable_avg {runnable}"
    )
}

fn signals(s: &CpuState) -> Signals {
    Signals {
        util_cfs: s.util_cfs,
        runnable_cfs: s.runnable_cfs,
        util_est: s.util_est,
        util_rt: s.util_rt,
        util_dl: s.util_dl,
        util_irq: s.util_irq,
    }
}

/// A headroom that is not the kernel's quarter.
fn own_headroom_pct(policy: &Policy) -> Option<u32> {
    let kernels = pelton_core::parameters().into_iter().find(|number| number.name == "headroom_pct")?.preset;
    (policy.headroom_pct != kernels).then_some(policy.headroom_pct)
}

/// Step from the sum to the request, in words.
pub(super) fn headroom_in_words(row: &Request, t: &Terms, policy: &Policy) -> String {
    let asked = t.effective.max(t.iowait);
    if t.forced_max {
        return "none: the maximum is asked for".to_owned();
    }
    let headroom = value_of(policy, "headroom");
    if headroom == "frequency" {
        let part = own_headroom_pct(policy).map_or_else(|| "quarter".to_owned(), |pct| format!("headroom of {pct} %"));
        return format!("{} stays; the {part} is added to the reference frequency below", t.perf);
    }
    let wanted = apply_headroom(policy, asked, 0, u32::MAX);
    let text = match value_of(policy, "margins") {
        "fixed" => match own_headroom_pct(policy) {
            None => format!("{asked} + {asked}/4 = {wanted}"),
            Some(pct) => format!("{asked} + {pct} % = {wanted}"),
        },
        form => format!("{asked}, by margins={form} {wanted}"),
    };
    if headroom != "before_clamps" || (t.perf == wanted && (t.min, t.max) == (0, 1024)) {
        return text;
    }
    let by = match row.decided_by {
        Some(by) if t.perf != wanted => format!(" ({by})"),
        _ => String::new(),
    };
    format!("{text}, within {} .. {} = {}{by}", t.min, t.max, t.perf)
}
