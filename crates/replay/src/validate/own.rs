// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor's decisions in logs of our own runs: every evaluation is mapped to a frequency again, and every
//! frequency that was set must be one that was asked for.

use std::collections::BTreeMap;

use pelton_core::{EnergyModel, Limits, Policy, SugovPolicy};
use pelton_model::Machine;
use pelton_model::machine::FreqDomain;
use pelton_schema::{Event, GateVerdict};

use super::decision::{BOOSTED, divergence, equal};
use super::engine::Place;
use super::passed::PassedOver;
use super::report::{Field, Report};

/// The frequency was outside of new limits.
const LIMITED: &str = "by new limits";
/// Requests remembered for a driver that is slow.
const ASKED_MAX: usize = 64;

/// Domains of the machine that the run had.
#[derive(Debug, Default)]
pub struct OwnDecisions {
    domains: Vec<Own>,
    of_cpu: BTreeMap<u32, usize>,
}

#[derive(Debug)]
struct Own {
    sugov: SugovPolicy,
    khz: Vec<u32>,
    /// Frequencies of the table with marks of those that the kernel passes over.
    passed: PassedOver,
    /// The release passes over some, and which is not known.
    learns: bool,
    no_table: bool,
    /// Frequency set last; none before the first.
    set_khz: Option<u32>,
    /// Frequencies requested since, the latest last; none before the first decision.
    asked_khz: Vec<u32>,
}

impl OwnDecisions {
    /// Without a machine, or with a governor other than schedutil, nothing is looked at.
    pub fn new(pol: &Policy, machine: Option<&Machine>) -> OwnDecisions {
        let domains = machine.filter(|_| pol.governor == 0).map_or(&[][..], |machine| &machine.domains);
        let of_cpu = (0..).zip(domains).flat_map(|(d, spec)| spec.cpus.iter().map(move |&cpu| (cpu, d)));
        OwnDecisions {
            of_cpu: of_cpu.collect(),
            domains: domains.iter().map(|spec| Own::new(pol, spec, machine)).collect(),
        }
    }

    /// A decision, or a frequency that was set.
    pub fn event(&mut self, pol: &Policy, report: &mut Report, place: Place, event: &Event) {
        match *event {
            Event::FreqDecision { domain, .. } => {
                if let Some(own) = self.domains.get_mut(domain as usize) {
                    own.decided(pol, report, place, event);
                }
            }
            Event::CpuFrequency { cpu, freq_khz } => {
                if let Some(own) = self.of_cpu.get(&cpu).and_then(|&d| self.domains.get_mut(d)) {
                    own.set(pol, report, place, cpu, freq_khz);
                }
            }
            Event::CpuFrequencyLimits { cpu, min_khz, max_khz } => {
                if let Some(own) = self.of_cpu.get(&cpu).and_then(|&d| self.domains.get_mut(d)) {
                    own.sugov.limits(min_khz, max_khz);
                    own.sugov.hw_max_khz = own.khz.last().copied().unwrap_or(0);
                }
            }
            _ => {}
        }
    }
}

impl Own {
    fn new(pol: &Policy, spec: &FreqDomain, machine: Option<&Machine>) -> Own {
        let mut khz: Vec<u32> = spec.opps.iter().map(|opp| opp.khz).collect();
        khz.sort_unstable();
        let sugov = SugovPolicy {
            nr_cpus: u32::try_from(spec.cpus.len()).unwrap_or(0),
            min_khz: khz.first().copied().unwrap_or(0),
            max_khz: khz.last().copied().unwrap_or(0),
            ref_khz: spec.ref_khz,
            scale_khz: spec.told_scale_khz(),
            freq_invariant: u32::from(spec.freq_invariant),
            fast_switch: u32::from(spec.fast_switch),
            ..SugovPolicy::default()
        };
        let first = spec.cpus.first().and_then(|&cpu| machine?.cpus.get(cpu as usize));
        let capacity = first.map_or(1024, |cpu| cpu.capacity);
        Own {
            sugov,
            passed: PassedOver::new(
                EnergyModel::told_khz(pol, &khz, &spec.inefficient, &spec.energy_model_uw, capacity),
                [],
            ),
            learns: pol.passes_over_inefficient() && spec.energy_model_uw.is_empty() && spec.inefficient.is_empty(),
            khz,
            no_table: spec.no_table,
            set_khz: None,
            asked_khz: Vec::new(),
        }
    }

    /// The choice for a request, after the actual choice has shown which frequencies are passed over.
    fn resolve(&mut self, raw_khz: u32, chosen_khz: u32) -> u32 {
        let ours = self.sugov.resolve(self.passed.khz(), raw_khz);
        let ends = [self.khz.first(), self.khz.last()];
        let is_free = ends == [Some(&self.sugov.min_khz), Some(&self.sugov.max_khz)];
        if !self.learns || !is_free || !self.khz.contains(&chosen_khz) {
            return ours;
        }
        self.passed.learn(raw_khz, ours, chosen_khz);
        self.sugov.resolve(self.passed.khz(), raw_khz)
    }

    fn decided(&mut self, pol: &Policy, report: &mut Report, place: Place, event: &Event) {
        let Event::FreqDecision {
            cpu,
            gate,
            iowait,
            perf,
            forced_max,
            cap_orig,
            raw_khz,
            resolved_khz,
            prev_khz,
            request_khz,
            changed,
            ..
        } = *event
        else {
            return;
        };
        let was_evaluated = [GateVerdict::Open, GateVerdict::Held, GateVerdict::Peak, GateVerdict::Dead];
        if !was_evaluated.iter().any(|&verdict| verdict as u32 == gate) {
            return;
        }
        let inputs = || vec![("perf", perf.into()), ("cap_orig", cap_orig.into()), ("forced_max", forced_max.into())];
        if self.sugov.freq_invariant != 0 {
            if perf == iowait && self.is_boost(pol, iowait, cap_orig, raw_khz) {
                report.agree("raw_freq", BOOSTED);
            } else {
                let ours = self.sugov.raw_freq(pol, perf, cap_orig, forced_max != 0);
                equal(report, place, cpu, "raw_freq", "frequency of a target", inputs(), ("raw_khz", raw_khz, ours));
            }
        }
        if !self.no_table {
            let ours = self.resolve(raw_khz, resolved_khz);
            let raw = vec![("raw_khz", raw_khz.into())];
            equal(report, place, cpu, "next_freq", "frequency choice", raw, ("resolved_khz", resolved_khz, ours));
        }
        if self.asked_khz.is_empty() {
            self.asked_khz.push(prev_khz);
        }
        if changed != 0 {
            // A driver without table is asked often for what it is set to already.
            if self.asked_khz.len() >= ASKED_MAX {
                self.asked_khz.remove(0);
            }
            self.asked_khz.push(request_khz);
        }
    }

    /// True when a frequency is that of a boost: up to 5.0 a boost is a frequency, and a decision has it rounded down
    /// to a unit of capacity.
    fn is_boost(&self, pol: &Policy, iowait: u32, cap_orig: u32, raw_khz: u32) -> bool {
        let [least, most] = [iowait, iowait + 1].map(|boost| self.sugov.raw_freq(pol, boost, cap_orig, false));
        SugovPolicy::boosts_in_khz(pol) && iowait > 0 && (least..=most).contains(&raw_khz)
    }

    /// Frequency the hardware is set to when `khz` is requested.
    fn settable(&self, khz: u32) -> u32 {
        if !self.no_table {
            return khz;
        }
        self.khz.iter().copied().find(|&k| k >= khz).or(self.khz.last().copied()).unwrap_or(khz)
    }

    /// Do the limits alone lead from one frequency to the other?
    fn follows_limits(&self, pol: &Policy, before: u32, khz: u32) -> bool {
        let limits = Limits { min_khz: self.sugov.min_khz, max_khz: self.sugov.max_khz };
        limits.target(pol, &self.khz, before, 0, self.sugov.fast_switch != 0) == Some(khz)
    }

    /// Takes a frequency that was set; neighbours of a domain report the same one again.
    fn set(&mut self, pol: &Policy, report: &mut Report, place: Place, cpu: u32, khz: u32) {
        let before = self.set_khz.replace(khz);
        if before.is_none_or(|before| before == khz) {
            return;
        }
        if before.is_some_and(|before| self.follows_limits(pol, before, khz)) {
            return report.agree("cpu_frequency", LIMITED);
        }
        if self.asked_khz.is_empty() {
            return;
        }
        // A request of before the limits is carried out within them.
        let settable = |asked: u32| self.settable(asked) == khz || self.sugov.resolve(&self.khz, asked) == khz;
        match self.asked_khz.iter().position(|&asked| settable(asked)) {
            Some(index) => {
                // It stays asked for until something else is.
                self.asked_khz.drain(..index);
                report.agree("cpu_frequency", "");
            }
            None => {
                let asked = self.asked_khz.last().copied().unwrap_or(0);
                let fields = vec![Field { name: "freq_khz", kernel: khz.into(), ours: asked.into() }];
                report.differ(divergence(place, cpu, "cpu_frequency", "set, but not asked for", Vec::new(), fields));
            }
        }
    }
}
