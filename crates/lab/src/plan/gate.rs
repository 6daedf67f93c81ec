// SPDX-License-Identifier: GPL-2.0-or-later
//! Times that the gate of a plan's domain works with.

use pelton_core::SugovPolicy;
use pelton_model::Plan;

/// Times that the gate of a domain works with.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateTimes {
    /// Rate limit, ns.
    pub rate_limit_ns: u64,
    /// W of r1, D_max of r2, limit of increases of up_down, ns.
    pub window_ns: u64,
    /// W / 4 of r1_asym, D_min of r2, limit of decreases of up_down, ns.
    pub spacing_ns: u64,
    /// Shortest time between two changes, ns.
    pub least_ns: u64,
}

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
