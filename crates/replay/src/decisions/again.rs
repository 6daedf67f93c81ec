// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions taken again: the calls of the core in the order of `bpf/live_freq.h` and `bpf/live_place.h`.

use pelton_core::{CpuState, Policy, commit, value};
use pelton_trace::decided::{Call, FREQUENCIES, PLACEMENTS, Place, Row};

use super::{Part, Recording};

/// Highest frequency that a machine can have, kHz.
const KHZ_MAX: u32 = 100_000_000;

/// A wrong rule, put in on purpose: a check that passes with it as well would prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Description of the error.
    pub words: &'static str,
    pub(super) name: &'static str,
    pub(super) value: &'static str,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 8] = [
        Fault { words: "no headroom", name: "headroom_pct", value: "0" },
        Fault { words: "waiting tasks are no demand", name: "runnable_boost", value: "off" },
        Fault { words: "estimates do not count", name: "util_est", value: "off" },
        Fault { words: "clamps do not count", name: "uclamp", value: "off" },
        Fault { words: "clamps have the other form that adds up", name: "uclamp", value: "bias" },
        Fault { words: "the gate limits the rate alone", name: "gate", value: "r0b" },
        Fault { words: "ticks alone call", name: "hook_filter", value: "h4" },
        Fault { words: "the hook drops small changes", name: "hook_filter", value: "composite" },
    ];
}

/// A record that can be decided again.
pub trait Again: Row {
    /// Table that has such records.
    const TABLE: &'static str;

    /// Kind of decision.
    fn kind(&self) -> &'static str;
    /// Time, ns of CLOCK_MONOTONIC.
    fn time_ns(&self) -> u64;
    /// CPU that it is about.
    fn cpu(&self) -> u32;
    /// A number that cannot be, in words.
    fn fault(&self, recording: &Recording) -> Option<String>;
    /// Are its inputs those that were read?
    fn is_known(&self) -> bool;
    /// Numbers that come out otherwise.
    fn differs(&self, recording: &Recording) -> Vec<Part>;
}

fn program(number: u32, recording: &Recording) -> Option<String> {
    let known = recording.policies.len();
    (number as usize >= known).then(|| format!("`program` is {number}, {known} were loaded"))
}

/// Numbers of two records that differ, the recorded one first.
fn differences<R: Row>(recorded: &R, ours: &R, cpus: usize) -> Vec<Part> {
    let (a, b) = (recorded.values(), ours.values());
    if a == b {
        return Vec::new();
    }
    let all = R::columns(cpus).into_iter().zip(a.into_iter().zip(b));
    all.filter(|(_, (a, b))| a != b).map(|(what, (recorded, ours))| Part { what, recorded, ours }).collect()
}

impl Again for Call {
    const TABLE: &'static str = FREQUENCIES;

    fn kind(&self) -> &'static str {
        if self.verdict == 0 { "frequency" } else { "refused by the gate" }
    }

    fn time_ns(&self) -> u64 {
        self.at_ns
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }

    fn fault(&self, recording: &Recording) -> Option<String> {
        let cpus = recording.machine.cpus();
        if self.cpu as usize >= cpus {
            return Some(format!("`cpu` is {}, the last one is {}", self.cpu, cpus - 1));
        }
        let khz = [self.sp.ref_khz, self.sp.hw_max_khz, self.sp.max_khz];
        if khz.iter().any(|khz| !(1..=KHZ_MAX).contains(khz)) || self.sp.min_khz > self.sp.max_khz {
            return Some(format!("frequencies of the domain are not within 1 to {KHZ_MAX} kHz, or out of order"));
        }
        if !(1..=1024).contains(&self.rq.cap_orig) {
            return Some(format!("`rq.cap_orig` is {}, 1 to 1024 can be", self.rq.cap_orig));
        }
        program(self.program, recording)
    }

    fn is_known(&self) -> bool {
        true
    }

    fn differs(&self, recording: &Recording) -> Vec<Part> {
        let pol = &recording.policies[self.program as usize];
        let khz = &recording.machine.khz[self.cpu as usize];
        differences(self, &call_again(self, pol, recording.machine.tick_ns, khz), recording.machine.cpus())
    }
}

/// Answer of the core to the same call.
fn call_again(call: &Call, pol: &Policy, tick_ns: u64, khz: &[u32]) -> Call {
    let mut ours = *call;
    (ours.sp_after, ours.sc_after) = (call.sp, call.sc);
    let (sp, sc) = (&mut ours.sp_after, &mut ours.sc_after);
    let outcome = sc.hook_event(pol, sp, &call.rq, call.now_ns, call.kind, call.how);
    ours.hooked = outcome.bits();
    ours.verdict = sp.begin(pol, sc, 0, call.now_ns, tick_ns, outcome.flags, true);
    ours.target = 0;
    ours.state_after = call.state;
    if ours.verdict != 0 {
        return ours;
    }
    ours.state_after = inputs(call, pol);
    ours.decision = sp.evaluate_one(pol, sc, &ours.state_after, call.now_ns, tick_ns, khz, &mut ours.terms);
    ours.target = call.target;
    if ours.decision.commit == commit::DRIVE {
        ours.target = sp.cpuperf_target(&ours.decision, call.rq.cap_orig);
        sp.cur_khz = sp.next_freq_khz;
    }
    ours
}

/// Inputs of the evaluation, out of the queue, clamps and boosts.
fn inputs(call: &Call, pol: &Policy) -> CpuState {
    let mut state = call.state;
    state.refill(&call.rq, 0, 0, call.state.idle_calls);
    if pol.uclamp >= value::UCLAMP_SUM {
        call.clamps.apply(pol, 0, &mut state);
    }
    let mut boost = call.boost;
    let percent = boost.boost(pol, call.now_ns);
    state.boosted(pol, percent)
}

impl Again for Place {
    const TABLE: &'static str = PLACEMENTS;

    fn kind(&self) -> &'static str {
        "placement"
    }

    fn time_ns(&self) -> u64 {
        self.at_ns
    }

    fn cpu(&self) -> u32 {
        self.answer.cpu
    }

    fn fault(&self, recording: &Recording) -> Option<String> {
        self.question.fault().or_else(|| program(self.program, recording))
    }

    fn is_known(&self) -> bool {
        self.torn == 0
    }

    fn differs(&self, recording: &Recording) -> Vec<Part> {
        let mut ours = self.clone();
        ours.answer.cpu = self.question.select(&recording.policies[self.program as usize], &mut ours.answer);
        differences(self, &ours, recording.machine.cpus())
    }
}
