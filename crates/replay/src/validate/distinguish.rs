// SPDX-License-Identifier: GPL-2.0-or-later
//! Power of a recording to distinguish rules: the trace is read again with one switch at another value, and with each
//! profile's rules. A value under which more differs is refuted; one under which nothing changes is not distinguished
//! by this recording.

use pelton_core::{Policy, profiles, switches};
use pelton_trace::import::ImportError;

use super::report::{Divergence, Report};
use super::survey::Survey;
use super::{Open, Options, Validator, compare_again};

/// Switches that only the simulator reads: calls between its parts, the choice of the running task, the choice of idle
/// states.
pub const SIMULATOR: &[&str] = &[
    "worker",
    "remote",
    "hook_decay",
    "hook_in_average",
    "hook_attach",
    "hook_tick",
    "hook_rt",
    "hook_dl",
    "hook_blocked",
    "hook_iowait",
    "hook_filter",
    "fair_class",
    "delayed_dequeue",
    "rt_limit",
    "idle_governor",
    "idle_tick",
    "wake_queue",
    "wake_affine",
];

/// Switches that only the governor reads: they need decisions or frequency changes in the trace.
pub const GOVERNOR: &[&str] = &[
    "runnable_boost",
    "rt_rule",
    "rt_in_sum",
    "dl_rule",
    "perf_form",
    "headroom",
    "gate",
    "gate_bypass",
    "gate_peak",
    "gate_asymmetry",
    "rate_limit_default",
    "iowait_boost",
    "dl_bypass",
    "hold",
    "stale_cpu",
    "while_busy",
    "uclamp",
];

/// Answer of the trace about one other value, or about one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// More differs than with the rules in force; the first difference of records, when it is one.
    Refuted(Option<Box<Divergence>>),
    /// As many differences, but less is reproduced outright, or averages are further off.
    FitsLess,
    /// No difference between the two in this trace.
    Same,
    /// Less differs, or more is reproduced outright.
    FitsBetter,
    /// A contradiction to another switch.
    Impossible,
    /// No time was left.
    NotAsked,
}

impl Answer {
    /// One word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Refuted(_) => "refuted",
            Answer::FitsLess => "fits less",
            Answer::Same => "not told",
            Answer::FitsBetter => "fits better",
            Answer::Impossible => "impossible",
            Answer::NotAsked => "not asked",
        }
    }
}

/// One switch and its other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Switch.
    pub switch: &'static str,
    /// Value of the rules in force.
    pub value: &'static str,
    /// The others.
    pub others: Vec<(&'static str, Answer)>,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distinction {
    /// Whole profiles, oldest first.
    pub profiles: Vec<(&'static str, Answer)>,
    /// Switches the checks of this trace can react to.
    pub switches: Vec<Told>,
}

/// Fit of rules: the fewer failures, the more exact, the smaller the error the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fit {
    failures: u64,
    exact: u64,
    error_milli: u64,
}

impl Fit {
    fn of(report: &Report) -> Fit {
        let outside = report.comparisons.iter().filter(|c| !c.ok).count() as u64;
        let wrong = report.prediction.is_some_and(|(score, _)| !score.ok());
        let hits = report.prediction.map_or(0, |(score, _)| score.exact);
        Fit {
            failures: report.divergent + outside + u64::from(wrong),
            exact: report.signals.values().map(|tally| tally.exact).sum::<u64>() + hits,
            error_milli: report.comparisons.iter().map(|c| c.mean_milli).sum(),
        }
    }

    /// Answer about rules that fit so, where those in force fit like `base`.
    fn against(self, base: Fit, report: &Report) -> Answer {
        let worse = self.exact < base.exact || self.error_milli > base.error_milli;
        let better = self.exact > base.exact || self.error_milli < base.error_milli;
        match self.failures {
            n if n > base.failures => Answer::Refuted(report.first.clone().map(Box::new)),
            n if n < base.failures => Answer::FitsBetter,
            _ if worse => Answer::FitsLess,
            _ if better => Answer::FitsBetter,
            _ => Answer::Same,
        }
    }
}

/// Callback with the next question, for a person who watches the progress; `false` ends the asking.
pub type Going<'a> = dyn FnMut(&str) -> bool + 'a;

/// Asks a trace about every profile, and about every other value of every switch that its checks can react to. `base`
/// is the report under `options`. Questions left when `going` returned false are marked so.
///
/// # Errors
/// When the trace cannot be read.
pub fn distinguish(
    open: &Open<'_>,
    options: &Options,
    base: &Report,
    going: &mut Going<'_>,
) -> Result<Distinction, ImportError> {
    let mut asking = Asking { open, options, base, fit: Fit::of(base), asked: Vec::new() };
    let mut found = Distinction::default();
    for profile in profiles() {
        let policy = Policy::profile(profile).unwrap_or(options.policy);
        found.profiles.push((profile, asking.ask(profile, policy, going)?));
    }
    for switch in switches().iter().filter(|switch| concerns(switch.name, options, &base.survey)) {
        let current = options.policy.get(switch.name).unwrap_or("?");
        let mut others = Vec::new();
        for value in switch.values.iter().filter(|value| **value != current) {
            let mut policy = options.policy;
            let changed = policy.set(switch.name, value).and_then(|()| policy.check());
            let answer = match changed {
                Ok(()) => asking.ask(&format!("{}={value}", switch.name), policy, going)?,
                Err(_) => Answer::Impossible,
            };
            others.push((*value, answer));
        }
        found.switches.push(Told { switch: switch.name, value: current, others });
    }
    Ok(found)
}

/// True when a check of this trace can react to the switch.
fn concerns(switch: &str, options: &Options, survey: &Survey) -> bool {
    let predicted = survey.frequencies > 0 && options.machine.is_some();
    let governed = predicted || survey.choices + survey.utils + survey.energies > 0;
    !SIMULATOR.contains(&switch) && (governed || !GOVERNOR.contains(&switch))
}

struct Asking<'a> {
    open: &'a Open<'a>,
    options: &'a Options,
    base: &'a Report,
    fit: Fit,
    /// Rules that were asked about, and the answer.
    asked: Vec<(Policy, Answer)>,
}

impl Asking<'_> {
    fn ask(&mut self, what: &str, policy: Policy, going: &mut Going<'_>) -> Result<Answer, ImportError> {
        let policy = self.as_far_as_it_matters(policy);
        if policy == self.options.policy {
            return Ok(Answer::Same);
        }
        if let Some((_, answer)) = self.asked.iter().find(|(asked, _)| *asked == policy) {
            return Ok(answer.clone());
        }
        let options = Options { policy, ..self.options.clone() };
        let Some(report) = self.report(&options, &mut || going(what))? else { return Ok(Answer::NotAsked) };
        let answer = Fit::of(&report).against(self.fit, &report);
        self.asked.push((policy, answer.clone()));
        Ok(answer)
    }

    /// The rules with every switch that no check of this trace reads at the value in force.
    fn as_far_as_it_matters(&self, mut policy: Policy) -> Policy {
        let idle = |name: &str| !concerns(name, self.options, &self.base.survey);
        for switch in switches().iter().filter(|switch| idle(switch.name)) {
            let current = self.options.policy.get(switch.name).unwrap_or("?");
            // A value that was read from a policy can be written to one.
            let _ = policy.set(switch.name, current);
        }
        policy
    }

    /// Both readings under other rules, or as much of the first as refutes them; `None` when stopped.
    fn report(&self, options: &Options, going: &mut dyn FnMut() -> bool) -> Result<Option<Report>, ImportError> {
        const LOOK_EVENTS: u64 = 1 << 12;
        let mut validator = Validator::new(options.clone());
        if !going() {
            return Ok(None);
        }
        let mut source = (self.open)()?;
        while let Some(timed) = source.next()? {
            validator.event(&timed);
            if validator.report.divergent > self.fit.failures {
                return Ok(Some(validator.finish()));
            }
            if validator.report.events.is_multiple_of(LOOK_EVENTS) && !going() {
                return Ok(None);
            }
        }
        let mut report = validator.finish();
        if report.divergent <= self.fit.failures && self.has_second_reading() {
            compare_again(&mut *(self.open)()?, source.info(), options, &mut report)?;
        }
        Ok(Some(report))
    }

    fn has_second_reading(&self) -> bool {
        !self.base.comparisons.is_empty() || self.base.prediction.is_some()
    }
}

/// Neighbours with the same answer together, as first and last of each run.
pub fn runs<'a>(profiles: &'a [(&'static str, Answer)]) -> Vec<(&'static str, &'static str, &'a Answer)> {
    let mut runs: Vec<(&'static str, &'static str, &Answer)> = Vec::new();
    for (profile, answer) in profiles {
        match runs.last_mut() {
            Some((_, last, before)) if before.word() == answer.word() => *last = profile,
            _ => runs.push((profile, profile, answer)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_that_is_left_out_exists() {
        let known: Vec<&str> = switches().iter().map(|switch| switch.name).collect();
        assert!(SIMULATOR.iter().chain(GOVERNOR).all(|name| known.contains(name)));
    }

    #[test]
    fn fewer_failures_weigh_more_than_exact_records() {
        let fit = |failures, exact| Fit { failures, exact, error_milli: 0 };
        let answer = |ours: Fit| ours.against(fit(1, 100), &Report::default());
        assert_eq!(answer(fit(2, 200)), Answer::Refuted(None));
        assert_eq!(answer(fit(0, 50)), Answer::FitsBetter);
        assert_eq!((answer(fit(1, 99)), answer(fit(1, 100))), (Answer::FitsLess, Answer::Same));
    }

    #[test]
    fn neighbours_that_agree_are_named_together() {
        let told = [("5.4", Answer::Refuted(None)), ("5.10", Answer::Same), ("6.1", Answer::Same)];
        let words: Vec<String> = runs(&told).iter().map(|(a, b, c)| format!("{a} {b} {}", c.word())).collect();
        assert_eq!(words, ["5.4 5.4 refuted", "5.10 6.1 not told"]);
    }
}
