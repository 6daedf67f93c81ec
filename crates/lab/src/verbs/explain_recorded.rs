// SPDX-License-Identifier: GPL-2.0-or-later
//! One decision out of a recording of `pelton live`, explained as one of a run is.

use super::decisions::is_recording;
use crate::explain::frequency::{self, Context};
use crate::explain::placement::{self, PlacementSink};
use crate::explain::{Decision, ExplainSink, Terms, Wanted};
use crate::plan::gate::GateTimes;
use crate::run::{Fault, LabError};
use crate::watch::{Watch, is_stopped};
use pelton_core::{Policy, Record, commit};
use pelton_model::machine::{Cpu, FreqDomain, Opp};
use pelton_model::{Machine, Plan, RunConfig, Workload};
use pelton_replay::decisions::{Again, Recording};
use pelton_schema::{Asked, Sink};
use pelton_trace::decided::{Call, Place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Request: a recording, and the decision of it to explain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordedRequest {
    /// Folder of the recording.
    pub recording: PathBuf,
    /// The last decision at or before this time, ns since the first record; none = the last one.
    pub at_ns: Option<u64>,
    /// Only decisions of this CPU.
    pub cpu: Option<u32>,
    /// The last decision that changed the frequency.
    pub changed: bool,
    /// The last call that the gate refused, or whose change it held.
    pub held: bool,
    /// Of placements: the task's id; none = any. Read by [`placement()`] alone.
    pub tid: Option<u32>,
}

/// Recording that a decision is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordedHeader {
    /// The folder.
    pub recording: String,
    /// Release of the kernel.
    pub release: String,
    /// Profile of the policy in force.
    pub profile: String,
}

/// A recorded decision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedCall {
    /// The recording.
    pub run: RecordedHeader,
    /// Target as handed to the kernel, of 1024; 0 where the gate refused.
    pub target: u32,
    /// The decision. Every CPU is a domain of its own: the kernel takes the largest target of a shared one.
    #[serde(flatten)]
    pub explanation: frequency::Explanation,
    /// Number of decisions of that kind up to it.
    pub count: u64,
}

/// A recorded placement.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedPlace {
    /// The recording.
    pub run: RecordedHeader,
    /// True when another CPU wrote what was read meanwhile: the terms may be those before or after.
    pub torn: bool,
    /// The placement.
    #[serde(flatten)]
    pub explanation: placement::Explanation,
    /// Number of placements of that kind up to it.
    pub count: u64,
}

fn open(request: &RecordedRequest) -> Result<Recording, LabError> {
    if !is_recording(&request.recording) {
        let reason = format!("{} has no recording of decisions", request.recording.display());
        return Err(LabError::refused(Fault::Input, reason, "`pelton live --record FOLDER` makes one"));
    }
    Recording::open(&request.recording, None).map_err(LabError::input)
}

fn header(request: &RecordedRequest, recording: &Recording, program: u32) -> RecordedHeader {
    RecordedHeader {
        recording: request.recording.display().to_string(),
        release: recording.machine.release.clone(),
        profile: recording.machine.programs[program as usize].profile.clone(),
    }
}

fn nothing(what: &str) -> LabError {
    let help = "choose a later --at, or leave out --cpu, --changed or --held; `pelton live --placement core` places";
    LabError::refused(Fault::Input, format!("no {what} of that kind in this recording"), help)
}

/// Explains a recorded decision about a frequency.
///
/// # Errors
/// When the recording cannot be read, there is no such decision, or the work was stopped.
pub fn frequency(request: &RecordedRequest, watch: &dyn Watch) -> Result<ExplainedCall, LabError> {
    let recording = open(request)?;
    let cpus = recording.machine.cpus();
    check_cpu(request, cpus)?;
    let wanted = Wanted { domain: request.cpu, changed: request.changed, held: request.held };
    let (mut sink, mut last, mut count, mut begin_ns) = (ExplainSink::new(wanted, cpus, cpus), None, 0, None);
    follow::<Call>(&recording, watch, |call| {
        let begin_ns = *begin_ns.get_or_insert(call.now_ns);
        let time_ns = call.now_ns.saturating_sub(begin_ns);
        if request.at_ns.is_some_and(|at_ns| time_ns > at_ns) {
            return false;
        }
        let policy = &recording.policies[call.program as usize];
        sink.requests(time_ns, call.cpu, &asked(&call));
        sink.decision(decision(&call, policy, begin_ns));
        if sink.decisions() > count {
            (last, count) = (Some(call), sink.decisions());
        }
        true
    })?;
    let (Some(call), (Some(moment), count)) = (last, sink.finish()) else {
        return Err(nothing("call of the governor"));
    };
    let plan = plan(&recording, &call);
    let context = Context { plan: &plan, times: times(&call, &plan.policy) };
    let explanation = frequency::explain(&moment, context);
    Ok(ExplainedCall { run: header(request, &recording, call.program), target: call.target, explanation, count })
}

/// Explains a recorded placement.
///
/// # Errors
/// When the recording cannot be read, there is no such placement, or the work was stopped.
pub fn placement(request: &RecordedRequest, watch: &dyn Watch) -> Result<ExplainedPlace, LabError> {
    let recording = open(request)?;
    let (mut last, mut count, mut begin_ns) = (None, 0, None);
    follow::<Place>(&recording, watch, |place| {
        let begin_ns = *begin_ns.get_or_insert(place.at_ns);
        let time_ns = place.at_ns.saturating_sub(begin_ns);
        if request.at_ns.is_some_and(|at_ns| time_ns > at_ns) {
            return false;
        }
        if request.tid.is_none_or(|tid| tid == place.tid) {
            (last, count) = (Some((time_ns, place)), count + 1);
        }
        true
    })?;
    let (time_ns, place) = last.ok_or_else(|| nothing("placement"))?;
    let policy = &recording.policies[place.program as usize];
    let (tid, torn, program) = (place.tid, place.torn != 0, place.program);
    let mut sink = PlacementSink::of(None, policy);
    sink.placement(time_ns, tid, &Record::Narrow(place.question), &place.answer);
    let kept = sink.finish().0.ok_or_else(|| nothing("placement"))?;
    let explanation = placement::explain(&kept, policy, |tid| format!("task {tid}"));
    Ok(ExplainedPlace { run: header(request, &recording, program), torn, explanation, count })
}

fn check_cpu(request: &RecordedRequest, cpus: usize) -> Result<(), LabError> {
    match request.cpu {
        Some(cpu) if cpu as usize >= cpus => {
            Err(LabError::input(format!("there is no CPU {cpu}; this machine has CPUs 0 to {}", cpus - 1)))
        }
        _ => Ok(()),
    }
}

/// Passes the records of a table to `each` until that says false.
fn follow<R: Again>(recording: &Recording, watch: &dyn Watch, mut each: impl FnMut(R) -> bool) -> Result<(), LabError> {
    let mut stopped = false;
    let ended = recording.each(|_, record| {
        stopped = is_stopped(watch);
        !stopped && each(record)
    });
    ended.map_err(LabError::input)?;
    if stopped {
        return Err(LabError::Stopped("interrupted: no result".to_owned()));
    }
    Ok(())
}

/// Request of the CPU: it alone asks.
fn asked(call: &Call) -> [Asked; 1] {
    let mut queues = call.state;
    queues.refill(&call.rq, 0, 0, call.state.idle_calls);
    let (cpu, terms) = (call.cpu, Some(call.terms));
    [Asked { cpu, terms, queues, made_of: call.state_after, by_last_call: false }]
}

/// Decision of a call, with times since `begin_ns`.
fn decision(call: &Call, policy: &Policy, begin_ns: u64) -> Decision {
    let (after, decided) = (&call.sp_after, call.verdict == 0);
    let requested = after.requested_khz();
    let since = |ns: u64| ns.saturating_sub(begin_ns);
    Decision {
        time_ns: since(call.now_ns),
        cpu: call.cpu,
        executing_cpu: call.cpu,
        domain: call.cpu,
        site: call.kind,
        gate: if decided { after.gate.verdict } else { call.verdict },
        max_cpu: call.cpu,
        terms: if decided { Terms::from(&call.terms) } else { Terms::default() },
        cap_orig: call.rq.cap_orig,
        raw_khz: if decided { call.decision.raw_khz } else { 0 },
        resolved_khz: if decided { call.decision.resolved_khz } else { requested },
        prev_khz: call.sp.requested_khz(),
        request_khz: requested,
        changed: decided && call.decision.commit != commit::NONE,
        error: after.gate.error,
        peak_khz: after.gate.maximum_khz,
        until_ns: since(after.gate.until_ns),
        next_allowed_ns: since(after.next_allowed_ns(policy)),
        flags: call.hooked >> 8,
    }
}

/// Times of the gate, as the running kernel had them.
fn times(call: &Call, policy: &Policy) -> GateTimes {
    let sp = &call.sp;
    GateTimes {
        rate_limit_ns: sp.rate_limit_ns,
        window_ns: sp.gate.window_ns,
        spacing_ns: sp.gate.spacing_ns,
        least_ns: sp.least_spacing_ns(policy),
    }
}

/// The machine as an explanation needs it: every CPU asks for itself.
fn plan(recording: &Recording, call: &Call) -> Plan {
    let machine = &recording.machine;
    let (mut cpus, mut domains) = (Vec::new(), Vec::new());
    for (cpu, khz) in (0..).zip(&machine.khz) {
        cpus.push(Cpu { capacity: call.rq.cap_orig, domain: cpu, cluster: 0, smt: vec![cpu] });
        domains.push(FreqDomain {
            name: format!("CPU {cpu}"),
            cpus: vec![cpu],
            opps: khz.iter().map(|&khz| Opp { khz, ..Opp::default() }).collect(),
            ref_khz: call.sp.ref_khz,
            initial_khz: call.sp.cur_khz,
            fast_switch: true,
            freq_invariant: call.sp.freq_invariant != 0,
            ..FreqDomain::default()
        });
    }
    let machine = Machine { name: format!("Linux {}", machine.release), cpus, domains, ..Machine::default() };
    let policy = recording.policies[call.program as usize];
    Plan { machine, workload: Workload::default(), policy, config: RunConfig::default(), hash: 0 }
}
