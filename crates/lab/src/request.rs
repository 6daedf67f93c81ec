// SPDX-License-Identifier: GPL-2.0-or-later
//! Times and frequencies that a decision was taken under.

use crate::explain::Moment;
use crate::explanation::GateTimes;
use pelton_core::SugovPolicy;
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

/// The frequency the domain ran at when it was decided, kHz: without frequency invariance all requests refer to it.
pub fn present_khz(plan: &Plan, moment: &Moment) -> u32 {
    let spec = &plan.machine.domains[moment.decision.domain as usize];
    let seen = moment.khz.get(moment.decision.max_cpu as usize).copied().unwrap_or(0);
    let lowest = || spec.opps.first().map_or(0, |o| o.khz);
    [seen, spec.initial_khz].into_iter().find(|&khz| khz > 0).unwrap_or_else(lowest)
}
