// SPDX-License-Identifier: GPL-2.0-only
//! What every CPU of a domain asked for at the moment of a decision: the winner as recorded, the others worked out
//! again by the policy core from their published signals.

use crate::explain::{Moment, Signals, Terms};
use crate::explanation::{GateTimes, Request};
use pelton_core::{CpuState, PerfTerms, SugovCpu, SugovPolicy};
use pelton_model::Plan;

/// Rate limit in force for a domain, ns: the run's, else the platform's, else the profile's default.
pub fn rate_limit_ns(plan: &Plan, domain: u32) -> u64 {
    let spec = &plan.machine.domains[domain as usize];
    let default = || {
        let delay_us = u32::try_from(spec.transition_delay_us.unwrap_or(0)).unwrap_or(u32::MAX);
        u64::from(pelton_core::default_rate_limit_us(&plan.policy, spec.transition_latency_ns, delay_us))
    };
    plan.config.rate_limit_us.or(spec.rate_limit_us).unwrap_or_else(default) * 1000
}

/// Times that the gate of a domain works with, as the run had them.
pub fn gate_times(plan: &Plan, domain: u32) -> GateTimes {
    let spec = &plan.machine.domains[domain as usize];
    let rate_limit_ns = rate_limit_ns(plan, domain);
    let mut governor = SugovPolicy { fast_switch: u32::from(spec.fast_switch), ..SugovPolicy::default() };
    governor.init(&plan.policy, u32::try_from(rate_limit_ns / 1000).unwrap_or(u32::MAX));
    governor.init_gate(&plan.policy, spec.switch_time_ns, plan.machine.costs.context_switch_ns);
    let (window_ns, spacing_ns) = (governor.gate.window_ns, governor.gate.spacing_ns);
    GateTimes { rate_limit_ns, window_ns, spacing_ns, least_ns: governor.least_spacing_ns(&plan.policy) }
}

/// One request per CPU of the domain.
pub fn requests(plan: &Plan, moment: &Moment) -> Vec<Request> {
    let decision = &moment.decision;
    let domain = &plan.machine.domains[decision.domain as usize];
    let one = |&cpu: &u32| {
        let signals = moment.cpus[cpu as usize].signals;
        if decision.was_evaluated() && cpu == decision.max_cpu {
            return Request { cpu, signals, terms: decision.terms, wins: true, stale: false, recorded: true };
        }
        let terms = worked_out(plan, moment, cpu);
        Request { cpu, signals, terms: terms_of(&terms), wins: false, stale: terms.stale != 0, recorded: false }
    };
    domain.cpus.iter().map(one).collect()
}

/// The frequency the domain ran at when it was decided, kHz: without frequency invariance all requests refer to it.
pub fn present_khz(plan: &Plan, moment: &Moment) -> u32 {
    let spec = &plan.machine.domains[moment.decision.domain as usize];
    let seen = moment.cpus.get(moment.decision.max_cpu as usize).map_or(0, |seen| seen.cur_khz);
    let lowest = || spec.opps.first().map_or(0, |o| o.khz);
    [seen, spec.initial_khz].into_iter().find(|&khz| khz > 0).unwrap_or_else(lowest)
}

fn worked_out(plan: &Plan, moment: &Moment, cpu: u32) -> PerfTerms {
    let seen = moment.cpus[cpu as usize];
    let spec = &plan.machine.domains[moment.decision.domain as usize];
    let governor = SugovPolicy {
        ref_khz: spec.ref_khz,
        cur_khz: present_khz(plan, moment),
        min_khz: spec.opps.first().map_or(0, |o| o.khz),
        max_khz: spec.opps.last().map_or(0, |o| o.khz),
        nr_cpus: spec.cpus.len() as u32,
        freq_invariant: u32::from(spec.freq_invariant),
        ..SugovPolicy::default()
    };
    let mut last_call = SugovCpu { last_update_ns: seen.last_call_ns, ..SugovCpu::default() };
    let state = state(seen.signals, plan.machine.cpus[cpu as usize].capacity, seen.rt_running);
    last_call.keep_util(&plan.policy, &state);
    governor.cpu(&plan.policy, &mut last_call, &state, moment.decision.time_ns, plan.machine.tick_ns()).1
}

fn state(signals: Signals, cap_orig: u32, rt_running: bool) -> CpuState {
    CpuState {
        cap_orig,
        util_cfs: signals.util_cfs,
        runnable_cfs: signals.runnable_cfs,
        util_est: signals.util_est,
        util_rt: signals.util_rt,
        util_dl: signals.util_dl,
        util_irq: signals.util_irq,
        rt_nr_running: u32::from(rt_running),
        uclamp_max: 1024,
        ..CpuState::default()
    }
}

fn terms_of(t: &PerfTerms) -> Terms {
    Terms {
        cfs: t.cfs,
        rt: t.rt,
        dl: t.dl,
        irq: t.irq,
        effective: t.effective,
        iowait: t.iowait,
        min: t.min,
        max: t.max,
        perf: t.perf,
        forced_max: t.forced_max != 0,
    }
}
