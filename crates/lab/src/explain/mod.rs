// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of a run, explained: this file catches those about frequencies with what was known when they were taken,
//! and what was written into files of task groups before; others catch placements, balances and readings of zones.

pub mod frequency;
pub mod placement;
pub mod terms;
pub mod upkeep;

use pelton_core::{CpuState, PerfTerms, Policy, switches};
use pelton_schema::{Asked, Event, GateVerdict, Sink, group_changes};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Conditions on the wanted decision: the last one that fits is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Only this frequency domain.
    pub domain: Option<u32>,
    /// Only decisions that changed the request.
    pub changed: bool,
    /// Only calls that the gate refused, or whose change it held.
    pub held: bool,
}

/// Signals of one CPU, 0..1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Signals {
    /// Fair utilization.
    pub util_cfs: u32,
    /// Fair runnable average.
    pub runnable_cfs: u32,
    /// Sum of the queued tasks' estimates.
    pub util_est: u32,
    /// RT utilization.
    pub util_rt: u32,
    /// Deadline utilization.
    pub util_dl: u32,
    /// Interrupt utilization.
    pub util_irq: u32,
}

/// Values that a CPU passed to the governor at its last call (to 4.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Time of the call, ns since the start of the run.
    pub time_ns: u64,
    /// Signals of its queues.
    pub queues: CpuState,
    /// Signals after clamps, limits and boosts.
    pub passed: CpuState,
}

/// Requests of a domain's CPUs at an evaluation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Time of the evaluation, ns since the start of the run.
    pub time_ns: u64,
    /// In order, each with its last call where requests are made of that.
    pub rows: Vec<(Asked, Option<Call>)>,
}

/// The columns of a `freq_decision` event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decision {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// CPU whose signal changed.
    pub cpu: u32,
    /// CPU that executed the call.
    pub executing_cpu: u32,
    /// Frequency domain.
    pub domain: u32,
    /// Hook site, by number.
    pub site: u32,
    /// Verdict of the gate, by number.
    pub gate: u32,
    /// CPU with the largest request.
    pub max_cpu: u32,
    /// Terms of that CPU.
    pub terms: Terms,
    /// Its capacity.
    pub cap_orig: u32,
    /// Frequency before the table, kHz.
    pub raw_khz: u32,
    /// Frequency in the table, kHz.
    pub resolved_khz: u32,
    /// Request before this call, kHz.
    pub prev_khz: u32,
    /// Request after it, kHz.
    pub request_khz: u32,
    /// The request changed.
    pub changed: bool,
    /// Distance between need and request, 0..1280.
    pub error: u32,
    /// Largest frequency wanted in the window of the gate, kHz; 0 when the gate keeps none.
    pub peak_khz: u32,
    /// Time at which a held correction may pass, ns; 0 when none is held.
    pub until_ns: u64,
    /// From when the time since the last change is long enough for some change, ns.
    pub next_allowed_ns: u64,
    /// Flags of the call.
    pub flags: u32,
}

/// The terms of one CPU's request, 0..1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Terms {
    /// Fair utilization after util_est and runnable boost.
    pub cfs: u32,
    /// RT utilization added.
    pub rt: u32,
    /// Deadline utilization or bandwidth added.
    pub dl: u32,
    /// Interrupt utilization.
    pub irq: u32,
    /// After summation and IRQ scaling.
    pub effective: u32,
    /// iowait boost.
    pub iowait: u32,
    /// Lower clamp.
    pub min: u32,
    /// Upper clamp.
    pub max: u32,
    /// After headroom and clamps.
    pub perf: u32,
    /// The RT or DL rule forced the maximum.
    pub forced_max: bool,
}

impl From<&PerfTerms> for Terms {
    fn from(t: &PerfTerms) -> Terms {
        let PerfTerms { cfs, rt, dl, irq, effective, iowait, min, max, perf, .. } = *t;
        Terms { cfs, rt, dl, irq, effective, iowait, min, max, perf, forced_max: t.forced_max != 0 }
    }
}

/// A decision and what led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The decision.
    pub decision: Decision,
    /// The evaluation before it in the same domain, if any; after a refusal the request is still this one's.
    pub evaluated: Option<Decision>,
    /// Time of the last change of the domain's request before the decision, ns.
    pub last_change_ns: Option<u64>,
    /// From when the time since then was long enough, ns.
    pub allowed_ns: u64,
    /// Frequency of each CPU, kHz; 0 = that of the start.
    pub khz: Vec<u32>,
    /// Requests of the domain's CPUs: at this decision, or at the evaluation before it when there was none.
    pub requests: Option<Requests>,
}

/// Follows a run: what each decision is made of.
#[derive(Debug)]
struct Trail {
    khz: Vec<u32>,
    called: Vec<Option<Call>>,
    /// Requests read last; their decision is the next event.
    asked: Option<Requests>,
    evaluated: Vec<Option<(Decision, Option<Requests>)>>,
    last_change_ns: Vec<Option<u64>>,
    allowed_ns: Vec<u64>,
}

impl Trail {
    fn new(cpus: usize, domains: usize) -> Trail {
        Trail {
            khz: vec![0; cpus],
            called: vec![None; cpus],
            asked: None,
            evaluated: vec![None; domains],
            last_change_ns: vec![None; domains],
            allowed_ns: vec![0; domains],
        }
    }

    /// Fills `found` with this decision and what led to it.
    fn catch(&self, decision: &Decision, found: &mut Moment) {
        let d = decision.domain as usize;
        let before = self.evaluated.get(d).and_then(Option::as_ref);
        found.decision = *decision;
        found.evaluated = before.map(|(decision, _)| *decision);
        found.requests =
            if decision.was_evaluated() { self.asked.clone() } else { before.and_then(|(_, asked)| asked.clone()) };
        found.last_change_ns = self.last_change_ns.get(d).copied().flatten();
        found.allowed_ns = self.allowed_ns.get(d).copied().unwrap_or(0);
        found.khz.clone_from(&self.khz);
    }

    /// Goes on behind this decision.
    fn pass(&mut self, decision: Decision) {
        let (d, asked) = (decision.domain as usize, self.asked.take());
        if let Some(allowed_ns) = self.allowed_ns.get_mut(d) {
            *allowed_ns = decision.next_allowed_ns;
        }
        if decision.verdict() == GateVerdict::Open && d < self.evaluated.len() {
            self.evaluated[d] = Some((decision, asked));
            if decision.changed {
                self.last_change_ns[d] = Some(decision.time_ns);
            }
        }
    }

    /// The decision that an event is; `None`: it is none.
    fn event(&mut self, time_ns: u64, event: &Event) -> Option<Decision> {
        if let Event::CpuFrequency { cpu, freq_khz } = *event {
            self.khz.get_mut(cpu as usize).into_iter().for_each(|khz| *khz = freq_khz);
        }
        Decision::of(time_ns, event)
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        let call = Call { time_ns, queues: *queues, passed: *passed };
        self.called.get_mut(cpu as usize).into_iter().for_each(|last| *last = Some(call));
    }

    fn requests(&mut self, time_ns: u64, asked: &[Asked]) {
        let call = |asked: &Asked| self.called.get(asked.cpu as usize).copied().flatten();
        let rows = asked.iter().map(|asked| (*asked, call(asked))).collect();
        self.asked = Some(Requests { time_ns, rows });
    }
}

/// Keeps the last decision that fits, and what it was made of.
#[derive(Debug)]
pub struct ExplainSink {
    wanted: Wanted,
    trail: Trail,
    found: Option<Moment>,
    decisions: u64,
}

impl ExplainSink {
    /// A sink for a machine of this size.
    pub fn new(wanted: Wanted, cpus: usize, domains: usize) -> Self {
        ExplainSink { wanted, trail: Trail::new(cpus, domains), found: None, decisions: 0 }
    }

    /// The decision, and how many fitted in all.
    pub fn finish(self) -> (Option<Moment>, u64) {
        (self.found, self.decisions)
    }

    /// Decisions that fitted so far.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// The next decision, after its requests.
    pub fn decision(&mut self, decision: Decision) {
        if self.fits(&decision) {
            self.decisions += 1;
            self.trail.catch(&decision, self.found.get_or_insert_default());
        }
        self.trail.pass(decision);
    }

    fn fits(&self, decision: &Decision) -> bool {
        self.wanted.domain.is_none_or(|d| d == decision.domain)
            && (!self.wanted.changed || decision.changed)
            && (!self.wanted.held || decision.was_held() || decision.verdict() == GateVerdict::Window)
    }
}

impl Sink for ExplainSink {
    const REQUESTS: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        self.trail.event(time_ns, event).into_iter().for_each(|decision| self.decision(decision));
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        self.trail.called(time_ns, cpu, queues, passed);
    }

    fn requests(&mut self, time_ns: u64, _domain: u32, asked: &[Asked]) {
        self.trail.requests(time_ns, asked);
    }
}

/// Keeps the decisions with these numbers, counted from 0 over the whole run, and what each was made of.
#[derive(Debug)]
pub struct MomentsSink {
    wanted: BTreeSet<u64>,
    trail: Trail,
    found: Vec<Moment>,
    seen: u64,
}

impl MomentsSink {
    /// A sink for a machine of this size.
    pub fn new(wanted: BTreeSet<u64>, cpus: usize, domains: usize) -> Self {
        MomentsSink { wanted, trail: Trail::new(cpus, domains), found: Vec::new(), seen: 0 }
    }

    /// The decisions, in the order of the run.
    pub fn finish(self) -> Vec<Moment> {
        self.found
    }
}

impl Sink for MomentsSink {
    const REQUESTS: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        let Some(decision) = self.trail.event(time_ns, event) else { return };
        if self.wanted.contains(&self.seen) {
            let mut moment = Moment::default();
            self.trail.catch(&decision, &mut moment);
            self.found.push(moment);
        }
        self.seen += 1;
        self.trail.pass(decision);
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        self.trail.called(time_ns, cpu, queues, passed);
    }

    fn requests(&mut self, time_ns: u64, _domain: u32, asked: &[Asked]) {
        self.trail.requests(time_ns, asked);
    }
}

impl Decision {
    /// True if the request was worked out, whatever the gate did with it.
    pub fn was_evaluated(&self) -> bool {
        self.verdict() == GateVerdict::Open || self.was_held()
    }

    /// True if the gate held a change that was worked out.
    pub fn was_held(&self) -> bool {
        matches!(self.verdict(), GateVerdict::Held | GateVerdict::Peak | GateVerdict::Dead)
    }

    /// Verdict of the gate on the call.
    pub fn verdict(&self) -> GateVerdict {
        GateVerdict::of_code(self.gate).unwrap_or(GateVerdict::Open)
    }

    /// The columns, when `event` is a decision.
    pub fn of(time_ns: u64, event: &Event) -> Option<Decision> {
        let Event::FreqDecision {
            cpu,
            executing_cpu,
            domain,
            site,
            gate,
            max_cpu,
            cfs,
            rt,
            dl,
            irq,
            effective,
            iowait,
            min,
            max,
            perf,
            forced_max,
            cap_orig,
            raw_khz,
            resolved_khz,
            prev_khz,
            request_khz,
            changed,
            error,
            peak_khz,
            until_ns,
            next_allowed_ns,
            flags,
        } = *event
        else {
            return None;
        };
        let forced_max = forced_max != 0;
        let terms = Terms { cfs, rt, dl, irq, effective, iowait, min, max, perf, forced_max };
        let changed = changed != 0;
        #[rustfmt::skip]
        let decision = Decision {
            time_ns, cpu, executing_cpu, domain, site, gate, max_cpu, terms, cap_orig, raw_khz, resolved_khz, prev_khz, request_khz,
            changed, error, peak_khz, until_ns, next_allowed_ns, flags,
        };
        Some(decision)
    }
}

/// The last change of a file of a task group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupChanged {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// Path of the group.
    pub group: String,
    /// The file.
    pub file: &'static str,
    /// Content before the change.
    pub before: String,
    /// Content since the change.
    pub now: String,
}

/// Collects changes of groups.
#[derive(Debug, Default)]
pub struct GroupSink {
    paths: Vec<String>,
    now: BTreeMap<u32, Event>,
    changes: Vec<GroupChanged>,
}

impl GroupSink {
    /// For a run with groups of these paths, the first of which events call 1.
    pub fn new(paths: Vec<String>) -> GroupSink {
        GroupSink { paths, ..GroupSink::default() }
    }

    /// The last change of each file of each group up to a moment, by group, then in the order of time.
    pub fn before(&self, time_ns: u64) -> Vec<GroupChanged> {
        let mut last: BTreeMap<(&str, &str), &GroupChanged> = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.time_ns <= time_ns) {
            last.insert((&change.group, change.file), change);
        }
        let mut changes: Vec<GroupChanged> = last.into_values().cloned().collect();
        changes.sort_by(|a, b| (&a.group, a.time_ns).cmp(&(&b.group, b.time_ns)));
        changes
    }
}

impl Sink for GroupSink {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Event::TaskGroup { group, .. } = *event else { return };
        let Some(before) = self.now.insert(group, *event) else { return };
        let path = self.paths.get((group as usize).wrapping_sub(1)).cloned().unwrap_or_default();
        let changed = group_changes(&before, event).into_iter();
        self.changes.extend(changed.map(|c| GroupChanged {
            time_ns,
            group: path.clone(),
            file: c.file,
            before: c.before,
            now: c.now,
        }));
    }
}

/// Place of each switch in a policy, and the names of its values. The core makes its table anew for each question, and
/// an explanation has a dozen.
static SWITCHES: LazyLock<BTreeMap<&'static str, (usize, Vec<&'static str>)>> =
    LazyLock::new(|| switches().into_iter().enumerate().map(|(at, s)| (s.name, (at, s.values))).collect());

/// The name of a switch's value.
fn value_of(policy: &Policy, switch: &str) -> &'static str {
    let Some((at, values)) = SWITCHES.get(switch) else { return "" };
    let value = policy.values().get(*at).copied().unwrap_or(0);
    values.get(value as usize).copied().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_switches_are_those_of_the_core() {
        for profile in pelton_core::profiles() {
            let policy = Policy::profile(profile).expect("exists");
            for switch in switches() {
                assert_eq!(Ok(value_of(&policy, switch.name)), policy.get(switch.name), "{profile}: {}", switch.name);
            }
            assert_eq!(value_of(&policy, "no such switch"), "");
        }
    }

    fn event(domain: u32, gate: u32, changed: u32) -> Event {
        Event::FreqDecision {
            cpu: 0,
            executing_cpu: 0,
            domain,
            site: 0,
            gate,
            max_cpu: 1,
            cfs: 100,
            rt: 0,
            dl: 0,
            irq: 0,
            effective: 100,
            iowait: 0,
            min: 0,
            max: 1024,
            perf: 125,
            forced_max: 0,
            cap_orig: 1024,
            raw_khz: 125_000,
            resolved_khz: 208_000,
            prev_khz: 432_000,
            request_khz: if changed != 0 { 208_000 } else { 432_000 },
            changed,
            error: 0,
            peak_khz: 0,
            until_ns: 0,
            next_allowed_ns: 0,
            flags: 0,
        }
    }

    #[test]
    fn a_refused_call_is_kept_with_the_requests_of_the_evaluation_before_it() {
        let mut sink = ExplainSink::new(Wanted { domain: Some(0), ..Wanted::default() }, 2, 2);
        let asked = |cpu| {
            let (queues, made_of) = (CpuState::default(), CpuState::default());
            [Asked { cpu, terms: None, queues, made_of, by_last_call: false }]
        };
        sink.requests(1, 0, &asked(0));
        sink.event(1, &event(0, 0, 1));
        sink.requests(2, 1, &asked(1));
        sink.event(2, &event(1, 0, 1));
        sink.event(3, &event(0, 1, 0));
        sink.requests(5, 1, &asked(1));
        sink.event(5, &event(1, 0, 1));
        let (found, decisions) = sink.finish();
        let moment = found.expect("two decisions of domain 0");
        assert_eq!(decisions, 2);
        assert_eq!((moment.decision.time_ns, moment.decision.gate), (3, 1));
        assert_eq!(moment.evaluated.map(|d| d.time_ns), Some(1));
        assert_eq!(moment.last_change_ns, Some(1));
        let requests = moment.requests.expect("those of the evaluation");
        assert_eq!((requests.time_ns, requests.rows[0].0.cpu), (1, 0));
    }

    #[test]
    fn decisions_of_these_numbers_are_kept_each_with_what_came_before_it() {
        let mut sink = MomentsSink::new(BTreeSet::from([1, 3]), 2, 2);
        for (time_ns, domain) in [(1, 0), (2, 1), (3, 0), (4, 0)] {
            let asked = Asked {
                cpu: domain,
                terms: None,
                queues: CpuState::default(),
                made_of: CpuState::default(),
                by_last_call: false,
            };
            sink.requests(time_ns, domain, &[asked]);
            sink.event(time_ns, &event(domain, 0, u32::from(time_ns < 4)));
        }
        let found = sink.finish();
        assert_eq!(found.iter().map(|moment| moment.decision.time_ns).collect::<Vec<_>>(), [2, 4]);
        assert_eq!((found[0].last_change_ns, found[1].last_change_ns), (None, Some(3)));
        assert_eq!(found[1].requests.as_ref().map(|asked| asked.time_ns), Some(4));
    }

    #[test]
    fn only_held_changes_when_asked() {
        let mut sink = ExplainSink::new(Wanted { held: true, ..Wanted::default() }, 2, 2);
        for (time_ns, gate) in [(1, 0), (2, 4), (3, 1), (4, 7), (5, 0)] {
            sink.event(time_ns, &event(0, gate, 0));
        }
        let (found, decisions) = sink.finish();
        assert_eq!((found.expect("one held, one refused").decision.time_ns, decisions), (3, 2));
    }

    #[test]
    fn only_changes_when_asked() {
        let mut sink = ExplainSink::new(Wanted { changed: true, ..Wanted::default() }, 2, 2);
        sink.event(1, &event(0, 0, 1));
        sink.event(2, &event(0, 0, 0));
        assert_eq!(sink.finish().0.expect("one change").decision.time_ns, 1);
    }
}
