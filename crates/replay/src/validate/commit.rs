// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcome of the governor's choices: mapped to a frequency, found unchanged, held back while the CPU is busy, or asked
//! of the driver.

use std::collections::BTreeMap;

use pelton_core::value::HEADROOM_UTILIZATION;
use pelton_core::{CpuState, Policy, SugovCpu, SugovPolicy, apply_headroom};
use pelton_schema::Event;

use super::decision::equal;
use super::engine::Place;
use super::report::Report;

/// One choice, as the governor's mapping saw it.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub cpu: u32,
    pub resolved_khz: u32,
    util: u32,
    max: u32,
    cur_khz: u32,
    max_khz: u32,
    pub raw_khz: u32,
    pub next_khz: u32,
    forced: u32,
    domain_cpus: u32,
    idle_calls: u64,
}

impl Choice {
    /// The choice that an event holds.
    pub fn of(event: &Event) -> Option<Choice> {
        let Event::NextFreq {
            cpu,
            util,
            max,
            resolved_khz,
            cur_khz,
            max_khz,
            raw_khz,
            next_khz,
            forced,
            domain_cpus,
            idle_calls,
        } = *event
        else {
            return None;
        };
        Some(Choice {
            cpu,
            resolved_khz,
            util,
            max,
            cur_khz,
            max_khz,
            raw_khz,
            next_khz,
            forced,
            domain_cpus,
            idle_calls,
        })
    }

    /// Raw frequency of a target, by a reference frequency.
    pub fn asking(util: u32, max: u32, cur_khz: u32, max_khz: u32) -> Choice {
        Choice {
            cpu: 0,
            resolved_khz: 0,
            util,
            max,
            cur_khz,
            max_khz,
            raw_khz: 0,
            next_khz: 0,
            forced: 0,
            domain_cpus: 0,
            idle_calls: 0,
        }
    }

    /// True when the recorder had the frequency before the table and nothing behind it.
    pub fn is_request(&self) -> bool {
        self.resolved_khz == 0 && self.domain_cpus == 0
    }

    /// Performance target, and the capacity that it refers to.
    pub fn target(&self) -> (u32, u32) {
        (self.util, self.max)
    }

    /// True when the recorder had the frequency before the table, and what it was compared with. Only no utilization
    /// maps to 0.
    pub fn is_complete(&self) -> bool {
        self.domain_cpus > 0 && (self.raw_khz > 0 || self.util == 0)
    }

    /// Inputs of the choice, for people.
    pub fn inputs(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("util", self.util.into()),
            ("max", self.max.into()),
            ("cur_khz", self.cur_khz.into()),
            ("max_khz", self.max_khz.into()),
        ]
    }

    /// A busy CPU keeps its frequency.
    fn may_be_held(&self) -> bool {
        self.domain_cpus == 1 && self.resolved_khz < self.next_khz
    }

    /// The core's frequency before limits and table, from the highest frequency or from the one of the moment.
    pub fn raw(&self, pol: &Policy, freq_invariant: bool) -> u32 {
        let sp = SugovPolicy {
            freq_invariant: freq_invariant.into(),
            ref_khz: self.max_khz,
            cur_khz: self.cur_khz,
            ..SugovPolicy::default()
        };
        // From 5.11 to 6.7 the mapping was called without headroom and added it itself.
        let is_target = pol.headroom != HEADROOM_UTILIZATION;
        let target = if is_target { self.util } else { apply_headroom(pol, self.util, 0, self.max) };
        sp.raw_freq(pol, target, self.max, false)
    }
}

/// No request: what the last one was is not known.
const RAW_UNKNOWN: u32 = u32::MAX;

/// Facts known about the choices of a trace.
#[derive(Debug, Default)]
pub struct Commits {
    /// A machine scales utilization by frequency, or maps with the frequency of the moment: one of both for a whole
    /// trace.
    invariant: Option<bool>,
    domains: BTreeMap<u32, Domain>,
}

#[derive(Debug)]
struct Domain {
    sp: SugovPolicy,
    sc: SugovCpu,
    /// The last choice was followed to its end.
    certain: bool,
}

/// Outcome of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This frequency is asked of the driver, or was before.
    Asks(u32),
    /// Outcome that depends on something the trace does not hold.
    Unknown,
}

impl Commits {
    /// The core's frequency for a choice, before limits and table. The first choice for which it matters shows which of
    /// the two rules the machine follows; every later one must agree.
    pub fn raw(&mut self, report: &mut Report, pol: &Policy, choice: &Choice) -> u32 {
        let [scaled, plain] = [true, false].map(|invariant| choice.raw(pol, invariant));
        if self.invariant.is_none() && choice.is_complete() && scaled != plain {
            self.invariant = [(scaled, true), (plain, false)].into_iter().find(|r| r.0 == choice.raw_khz).map(|r| r.1);
            if self.invariant == Some(false) {
                let what =
                    "choices refer to the frequency of the moment: this machine's load tracking knows no frequencies";
                report.remarks.push(what.to_owned());
            }
        }
        if self.invariant == Some(false) { plain } else { scaled }
    }

    /// Follows a complete choice to its end. Reports whether the request before it became what the core makes of it,
    /// and returns whether this one repeats the mapping of the last (the table is not asked then).
    pub fn follow(&mut self, report: &mut Report, pol: &Policy, place: Place, choice: &Choice) -> (bool, Outcome) {
        let known = self.domains.contains_key(&choice.cpu);
        let domain = self.domains.entry(choice.cpu).or_insert_with(|| Domain::new(choice));
        if domain.certain {
            let next = ("next_khz", choice.next_khz, domain.sp.next_freq_khz);
            equal(report, place, choice.cpu, "freq_commit", "what was asked of the driver before", Vec::new(), next);
        }
        domain.sp.next_freq_khz = choice.next_khz;
        domain.sp.need_update = u32::from(choice.forced != 0);
        let repeated = choice.forced == 0 && domain.sp.cached_raw_khz == choice.raw_khz;
        let held_unknown = choice.may_be_held() && (!known || choice.idle_calls == 0);
        domain.commit(pol, place, choice);
        domain.certain = !held_unknown;
        if held_unknown {
            domain.sp.cached_raw_khz = RAW_UNKNOWN;
        }
        (repeated, if held_unknown { Outcome::Unknown } else { Outcome::Asks(domain.sp.next_freq_khz) })
    }

    /// Events are missing: what was asked last is not known.
    pub fn forget(&mut self) {
        self.domains.clear();
    }
}

impl Domain {
    fn new(choice: &Choice) -> Domain {
        Domain {
            sp: SugovPolicy {
                nr_cpus: choice.domain_cpus,
                fast_switch: 1,
                cached_raw_khz: RAW_UNKNOWN,
                ..SugovPolicy::default()
            },
            sc: SugovCpu::default(),
            certain: false,
        }
    }

    fn commit(&mut self, pol: &Policy, place: Place, choice: &Choice) {
        let state = CpuState { cap_orig: choice.max, idle_calls: choice.idle_calls, ..CpuState::default() };
        let cpu = (choice.domain_cpus == 1).then_some(&mut self.sc);
        self.sp.commit(pol, cpu, &state, place.time_ns, choice.raw_khz, choice.resolved_khz, false);
    }
}

#[cfg(test)]
mod tests {
    use super::super::decision::Decisions;
    use super::*;

    /// A busy machine without frequency invariance: util 512 of 1024 at `cur_khz`.
    fn choice(cur_khz: u32, [raw_khz, resolved_khz, next_khz]: [u32; 3], idle_calls: u64) -> Event {
        Event::NextFreq {
            cpu: 0,
            util: 512,
            max: 1024,
            resolved_khz,
            cur_khz,
            max_khz: 2_400_000,
            raw_khz,
            next_khz,
            forced: 0,
            domain_cpus: 1,
            idle_calls,
        }
    }

    fn divergent(profile: &str, events: &[Event]) -> Vec<(&'static str, u64)> {
        let (mut decisions, mut report) = (Decisions::default(), Report::default());
        let pol = Policy::profile(profile).expect("a profile");
        for (number, event) in (0..).zip(events) {
            decisions.event(&pol, &mut report, Place { event: number, time_ns: number * 1_000_000 }, event);
        }
        report.samples.iter().map(|d| (d.signal, d.event)).collect()
    }

    #[test]
    fn one_rule_for_the_reference_frequency_holds_for_a_whole_trace() {
        // 512 of 1024 of 1.25 times the present frequency, and once of the highest one.
        let plain = choice(800_000, [500_000, 800_000, 800_000], 1);
        let scaled = choice(800_000, [1_200_000, 1_200_000, 800_000], 2);
        assert_eq!(divergent("7.2", &[plain, plain]), []);
        assert_eq!(divergent("7.2", &[scaled]), []);
        assert_eq!(divergent("7.2", &[plain, scaled]), [("raw_freq", 1)]);
        assert_eq!(divergent("7.2", &[choice(800_000, [500_001, 800_000, 800_000], 1)]), [("raw_freq", 0)]);
    }

    #[test]
    fn kernels_from_5_11_to_6_7_add_the_quarter_after_the_call() {
        let event = choice(800_000, [500_000, 800_000, 800_000], 1);
        assert_eq!(divergent("6.1", &[event]), []);
        let without = choice(800_000, [400_000, 400_000, 800_000], 1);
        assert_eq!(divergent("6.1", &[without]), [("raw_freq", 0)]);
    }

    #[test]
    fn a_cpu_that_was_not_idle_keeps_its_frequency_and_one_that_was_does_not() {
        let lower = |idle_calls, next_khz| choice(1_600_000, [1_000_000, 1_200_000, next_khz], idle_calls);
        assert_eq!(divergent("7.2", &[lower(7, 1_600_000), lower(7, 1_600_000), lower(7, 1_600_000)]), []);
        assert_eq!(
            divergent("7.2", &[lower(7, 1_600_000), lower(7, 1_600_000), lower(7, 1_200_000)]),
            [("freq_commit", 2)]
        );
        assert_eq!(divergent("7.2", &[lower(7, 1_600_000), lower(8, 1_600_000), lower(8, 1_200_000)]), []);
        assert_eq!(
            divergent("7.2", &[lower(7, 1_600_000), lower(8, 1_600_000), lower(8, 1_600_000)]),
            [("freq_commit", 2), ("next_freq", 2),]
        );
    }

    #[test]
    fn the_same_request_as_before_gives_what_was_asked_before() {
        let same = |resolved, next| choice(1_600_000, [1_000_000, resolved, next], 9);
        let first = choice(1_600_000, [1_000_000, 1_200_000, 800_000], 8);
        assert_eq!(divergent("7.2", &[first, same(1_200_000, 1_200_000)]), []);
        assert_eq!(divergent("7.2", &[first, same(1_600_000, 1_200_000)]), [("next_freq", 1)]);
    }

    #[test]
    fn a_change_that_comes_late_is_one_only_with_the_value_that_was_chosen() {
        let first = choice(800_000, [500_000, 800_000, 800_000], 1);
        let up = choice(1_600_000, [1_000_000, 1_200_000, 800_000], 2);
        let set = |freq_khz| Event::CpuFrequency { cpu: 0, freq_khz };
        let filler = Event::CpuFrequency { cpu: 9, freq_khz: 1 };
        let late = |khz| vec![first, set(800_000), up, filler, filler, set(khz)];
        assert_eq!(divergent("7.2", &late(1_200_000)), []);
        assert_eq!(divergent("7.2", &late(1_600_000)), [("cpu_frequency", 5)]);
    }
}
