// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of the governor: performance target, frequency, and whether the frequency that was set is the one chosen.

use std::collections::BTreeMap;

use pelton_core::{Policy, SugovPolicy, perf_clamped};
use pelton_schema::Event;

use super::commit::{Choice, Commits, Outcome};
use super::engine::Place;
use super::frequency::Frequencies;
use super::passed::PassedOver;
use super::report::{Divergence, Field, Report};
use super::requests::{Known, Requests};

/// iowait boost raised the utilization between the sum and the target.
pub const BOOSTED: &str = "raised by iowait boost";
/// While a placement is weighed, the clamps of the task to be placed take part.
pub const PLACED: &str = "with the clamps of the task to be placed";
/// Frequencies a domain may have before its table counts as no table.
const TABLE_MAX: usize = 1024;

/// Last choices, and the requests that each table entry served.
#[derive(Debug, Default)]
pub struct Decisions {
    util: BTreeMap<u32, (u32, u32, u32)>,
    served: BTreeMap<u32, BTreeMap<u32, Served>>,
    frequencies: Frequencies,
    commits: Commits,
    requests: Requests,
}

/// Requests that one frequency served.
#[derive(Clone, Copy, Debug)]
struct Served {
    lowest: (u32, Place),
    highest: (u32, Place),
    count: u64,
}

impl Decisions {
    /// Takes an event of a decision.
    pub fn event(&mut self, pol: &Policy, report: &mut Report, place: Place, event: &Event) {
        match *event {
            Event::EffectiveUtil { cpu, min, max, util, .. } => {
                self.util.insert(cpu, (util, min, max));
            }
            Event::EffectivePerf { cpu, actual, min, max, perf } => {
                self.perf(report, place, cpu, [actual, min, max, perf]);
            }
            Event::NextFreq { .. } => {
                if let Some(choice) = Choice::of(event) {
                    self.choice(pol, report, place, &choice);
                }
            }
            Event::CpuFrequency { cpu, freq_khz } => {
                self.frequencies.set(report, place, cpu, freq_khz);
                self.requests.set(place, cpu, freq_khz);
            }
            Event::CpuFrequencyLimits { cpu, min_khz, max_khz } => self.requests.limits(cpu, min_khz, max_khz),
            _ => {}
        }
    }

    /// Checks the frequency for a target, and the outcome as far as the trace shows it.
    fn choice(&mut self, pol: &Policy, report: &mut Report, place: Place, choice: &Choice) {
        if choice.is_request() {
            return self.requests.choice(place, choice);
        }
        let (cpu, resolved) = (choice.cpu, choice.resolved_khz);
        let raw = self.commits.raw(report, pol, choice);
        if !choice.is_complete() {
            self.serve(place, cpu, raw, resolved);
            return self.frequencies.chosen(report, place, cpu, resolved, false);
        }
        let before = choice.inputs();
        equal(report, place, cpu, "raw_freq", "frequency of a target", before, ("raw_khz", choice.raw_khz, raw));
        let (repeated, outcome) = self.commits.follow(report, pol, place, choice);
        if repeated {
            let kept = ("resolved_khz", resolved, choice.next_khz);
            equal(report, place, cpu, "next_freq", "choice as before", choice.inputs(), kept);
        } else {
            self.serve(place, cpu, raw, resolved);
        }
        match outcome {
            Outcome::Asks(khz) => self.frequencies.chosen(report, place, cpu, khz, true),
            Outcome::Unknown => self.frequencies.forget(cpu),
        }
    }

    /// Events are missing: what was asked of drivers is not known.
    pub fn forget(&mut self) {
        self.commits.forget();
        self.frequencies.forget_all();
        self.requests.forget();
    }

    /// Headroom and clamps, exact; and the sum handed over must be the one that was computed, or a boosted one.
    fn perf(&mut self, report: &mut Report, place: Place, cpu: u32, [actual, min, max, perf]: [u32; 4]) {
        let ours = perf_clamped(actual, min, max);
        if ours == perf {
            report.agree("effective_perf", "");
        } else {
            let before = vec![("actual", actual.into()), ("min", min.into()), ("max", max.into())];
            let fields = vec![Field { name: "perf", kernel: perf.into(), ours: ours.into() }];
            report.differ(divergence(place, cpu, "effective_perf", "performance target", before, fields));
        }
        let Some(&(util, low, high)) = self.util.get(&cpu) else { return };
        if (low, high) == (min, max) && actual >= util {
            let class = if actual == util { "" } else { BOOSTED };
            report.agree("effective_util", class);
        } else if actual == util && min >= low {
            report.agree("effective_util", PLACED);
        } else {
            let row = |name, kernel: u32, ours: u32| Field { name, kernel: kernel.into(), ours: ours.into() };
            let fields = vec![row("actual", actual, util), row("min", min, low), row("max", max, high)];
            report.differ(divergence(place, cpu, "effective_util", "sum handed to the target", Vec::new(), fields));
        }
    }

    fn serve(&mut self, place: Place, cpu: u32, raw: u32, resolved: u32) {
        let table = self.served.entry(cpu).or_default();
        if table.len() >= TABLE_MAX && !table.contains_key(&resolved) {
            return;
        }
        let fresh = Served { lowest: (raw, place), highest: (raw, place), count: 0 };
        let entry = table.entry(resolved).or_insert(fresh);
        entry.count += 1;
        if raw < entry.lowest.0 {
            entry.lowest = (raw, place);
        }
        if raw > entry.highest.0 {
            entry.highest = (raw, place);
        }
    }

    /// Every request must have been served by the lowest frequency at or above it. `known` gives a domain's
    /// frequencies; without one those seen in the trace are the table. A release that passes over needless frequencies
    /// never chooses them, and which these are is not recorded: there a frequency that was never chosen may be one.
    pub fn finish(&self, pol: &Policy, report: &mut Report, known: impl Fn(u32) -> Known) {
        let passes_over = pol.passes_over_inefficient();
        self.frequencies.finish(report);
        self.requests.finish(pol, report, &known);
        for (&cpu, served) in &self.served {
            let khz = known(cpu).khz.unwrap_or_else(|| served.keys().copied().collect());
            let (Some(&min_khz), Some(&max_khz)) = (khz.first(), khz.last()) else { continue };
            let sp = SugovPolicy { min_khz, max_khz, ..SugovPolicy::default() };
            let khz = if passes_over { learnt(report, cpu, &sp, &khz, served) } else { khz };
            for (&resolved, served) in served {
                let wrong =
                    [served.lowest, served.highest].into_iter().find(|(raw, _)| sp.resolve(&khz, *raw) != resolved);
                let Some((raw, place)) = wrong else {
                    (0..served.count).for_each(|_| report.agree("next_freq", ""));
                    continue;
                };
                (1..served.count).for_each(|_| report.agree("next_freq", ""));
                let ours = sp.resolve(&khz, raw);
                let fields = vec![Field { name: "resolved_khz", kernel: resolved.into(), ours: ours.into() }];
                let before = vec![("raw_khz", raw.into())];
                report.differ(divergence(place, cpu, "next_freq", "frequency choice", before, fields));
            }
        }
    }
}

/// A CPU's table with marks of the frequencies that the requests of each choice show to be passed over.
fn learnt(report: &mut Report, cpu: u32, sp: &SugovPolicy, khz: &[u32], served: &BTreeMap<u32, Served>) -> Vec<u32> {
    let mut passed = PassedOver::new(khz.to_vec(), served.keys().copied());
    let mut some = false;
    for (&resolved, served) in served.iter().filter(|(resolved, _)| khz.contains(resolved)) {
        let ours = sp.resolve(passed.khz(), served.lowest.0);
        some |= passed.learn(served.lowest.0, ours, resolved);
    }
    if some {
        report.remarks.push(format!(
            "CPU {cpu}: frequencies below chosen ones were never chosen; they are taken for such as the kernel passes over \
             because a faster one does the same work for less"
        ));
    }
    passed.khz().to_vec()
}

/// One figure, exact.
pub(super) fn equal(
    report: &mut Report,
    place: Place,
    cpu: u32,
    signal: &'static str,
    what: &'static str,
    before: Vec<(&'static str, u64)>,
    (name, kernel, ours): (&'static str, u32, u32),
) {
    if kernel == ours {
        return report.agree(signal, "");
    }
    let fields = vec![Field { name, kernel: kernel.into(), ours: ours.into() }];
    report.differ(divergence(place, cpu, signal, what, before, fields));
}

pub(super) fn divergence(
    place: Place,
    cpu: u32,
    signal: &'static str,
    what: &'static str,
    before: Vec<(&'static str, u64)>,
    fields: Vec<Field>,
) -> Divergence {
    let (event, time_ns) = (place.event, place.time_ns);
    Divergence { event, time_ns, since_ns: time_ns, cpu, tid: 0, object: 0, signal, what, before, fields }
}
