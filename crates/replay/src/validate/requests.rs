// SPDX-License-Identifier: GPL-2.0-or-later
//! Choices of the governor that a trace has before the table only: performance target and raw frequency, as phones
//! record them. The frequency they refer to is the platform's, or the one that most of them show; what is set must be
//! the lowest point that suffices. Whether a rate limit held a choice back is not in the event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pelton_core::{Policy, SugovPolicy, value};

use super::commit::Choice;
use super::decision::divergence;
use super::engine::Place;
use super::frequency::{LATE, SIGNAL as SET};
use super::passed::PassedOver;
use super::report::{Field, Report};
use super::tolerance::FREQUENCY_WINDOW_NS;

/// The reference frequency is not known; all these choices refer to the same one.
pub const LEARNED: &str = "with the reference frequency that most choices show";
/// A choice before the last one was set: the last may have been held back.
pub const EARLIER: &str = "set as an earlier choice asked";
/// Name in a report.
const SIGNAL: &str = "raw_freq";
/// Choices that may still be set.
const RECENT_MAX: usize = 4;
/// Different choices, and frequencies that were set, that are kept.
const KEPT_MAX: usize = 1 << 16;
/// Highest reference frequency looked for, kHz.
const REFERENCE_MAX_KHZ: u32 = 20_000_000;

/// Frequencies of a CPU's domain, by the platform.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Frequencies in ascending order, kHz; `None`: those that were set.
    pub khz: Option<Vec<u32>>,
    /// Reference frequency.
    pub ref_khz: Option<u32>,
}

/// Choices and changes of all domains, by the CPU that stands for each.
#[derive(Debug, Default)]
pub struct Requests {
    domains: BTreeMap<u32, Domain>,
    /// More different ones came than are kept.
    full: bool,
}

#[derive(Debug, Default)]
struct Domain {
    /// Different choices: how many, and the first of each.
    choices: BTreeMap<Asked, (u64, Place)>,
    recent: VecDeque<(Place, u32, Span)>,
    set_khz: Option<u32>,
    sets: Vec<Set>,
    limits: Span,
}

/// A choice: target, capacity, raw frequency, and the frequency of the moment (0 = not known).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    util: u32,
    max: u32,
    raw_khz: u32,
    cur_khz: u32,
}

/// Lowest and highest frequency allowed.
type Span = Option<(u32, u32)>;

/// A frequency that was set, and the choices before it, the latest first.
#[derive(Clone, Debug)]
struct Set {
    place: Place,
    khz: u32,
    asked: Vec<(Place, u32, Span)>,
}

impl Requests {
    /// A choice.
    pub fn choice(&mut self, place: Place, choice: &Choice) {
        let domain = self.domains.entry(choice.cpu).or_default();
        let (util, max) = choice.target();
        let asked = Asked { util, max, raw_khz: choice.raw_khz, cur_khz: domain.set_khz.unwrap_or(0) };
        if domain.choices.len() < KEPT_MAX || domain.choices.contains_key(&asked) {
            domain.choices.entry(asked).or_insert((0, place)).0 += 1;
        } else {
            self.full = true;
        }
        domain.recent.truncate(RECENT_MAX - 1);
        domain.recent.push_front((place, choice.raw_khz, domain.limits));
    }

    /// New limits of a domain.
    pub fn limits(&mut self, cpu: u32, min_khz: u32, max_khz: u32) {
        self.domains.entry(cpu).or_default().limits = Some((min_khz, max_khz));
    }

    /// A frequency was set; of a domain only the CPU that the choices name counts.
    pub fn set(&mut self, place: Place, cpu: u32, khz: u32) {
        let Some(domain) = self.domains.get_mut(&cpu) else { return };
        if domain.set_khz.replace(khz) == Some(khz) || domain.recent.is_empty() {
            return;
        }
        if domain.sets.len() < KEPT_MAX {
            domain.sets.push(Set { place, khz, asked: domain.recent.iter().copied().collect() });
        } else {
            self.full = true;
        }
    }

    /// Events are missing: what was chosen last is not known.
    pub fn forget(&mut self) {
        for domain in self.domains.values_mut() {
            domain.recent.clear();
            domain.set_khz = None;
        }
    }

    /// The end of the trace.
    pub fn finish(&self, pol: &Policy, report: &mut Report, known: impl Fn(u32) -> Known) {
        for (&cpu, domain) in &self.domains {
            let known = known(cpu);
            domain.check_choices(pol, report, cpu, known.ref_khz);
            domain.check_sets(pol, report, cpu, known.khz);
        }
        if self.full {
            report
                .skip("raw_freq and cpu_frequency", "more different choices than are kept: the rest was not looked at");
        }
    }
}

impl Asked {
    fn raw(&self, pol: &Policy, ref_khz: u32, invariant: bool) -> u32 {
        Choice::asking(self.util, self.max, self.cur_khz, ref_khz).raw(pol, invariant)
    }

    /// Reference frequencies that give the raw one, lowest and highest: it rises with the reference.
    fn references(&self, pol: &Policy) -> Option<(u32, u32)> {
        let at_least = |raw: u64| {
            let (mut low, mut high) = (1, REFERENCE_MAX_KHZ + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if u64::from(self.raw(pol, middle, true)) >= raw { high = middle } else { low = middle + 1 }
            }
            low
        };
        let raw = u64::from(self.raw_khz);
        let (first, after) = (at_least(raw), at_least(raw + 1));
        (first < after).then_some((first, after - 1))
    }
}

/// Reference frequency of choices.
#[derive(Clone, Copy, Debug)]
struct Reference {
    khz: u32,
    invariant: bool,
    class: &'static str,
}

impl Domain {
    /// The reference of this domain: the platform's, the highest frequency that was set where it explains as much as
    /// any other, the one that explains most, or the frequency of the moment.
    fn reference(&self, pol: &Policy, ref_khz: Option<u32>) -> Reference {
        let scaled = |khz, class| Reference { khz, invariant: true, class };
        let highest = self.sets.iter().map(|set| set.khz).chain(self.set_khz).max().unwrap_or(0);
        let plain = Reference { khz: 0, invariant: false, class: "" };
        let best = match ref_khz {
            Some(khz) => scaled(khz, ""),
            None => {
                let learned = self.most_shown(pol, highest).unwrap_or(highest);
                let [seen, learned] = [scaled(highest, ""), scaled(learned, LEARNED)];
                if self.explained(pol, seen) >= self.explained(pol, learned) { seen } else { learned }
            }
        };
        if self.explained(pol, plain) > self.explained(pol, best) { plain } else { best }
    }

    fn explained(&self, pol: &Policy, by: Reference) -> u64 {
        let is = |asked: &Asked| asked.raw(pol, by.khz, by.invariant) == asked.raw_khz;
        self.choices.iter().filter(|(asked, _)| is(asked)).map(|(_, (count, _))| count).sum()
    }

    /// The reference frequency in the most ranges. Before 6.8 it is the highest of the domain, and so none below one
    /// that was set.
    fn most_shown(&self, pol: &Policy, highest_khz: u32) -> Option<u32> {
        let lowest = if pol.perf_form == value::PERF_FORM_SUM_THEN_CLAMP { 1 } else { highest_khz.max(1) };
        let mut steps: BTreeMap<u32, i64> = BTreeMap::new();
        for (asked, (count, _)) in &self.choices {
            let Some((first, last)) = asked.references(pol).filter(|range| range.1 >= lowest) else { continue };
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            *steps.entry(first.max(lowest)).or_default() += count;
            *steps.entry(last + 1).or_default() -= count;
        }
        let (mut shown, mut best) = (0, (0, None));
        for (khz, step) in steps {
            shown += step;
            if shown > best.0 {
                best = (shown, Some(khz));
            }
        }
        best.1
    }

    fn check_choices(&self, pol: &Policy, report: &mut Report, cpu: u32, ref_khz: Option<u32>) {
        let by = self.reference(pol, ref_khz);
        if by.class == LEARNED {
            report.remarks.push(format!(
                "CPU {cpu}: the reference frequency of the choices is not in the trace; most of them show {} kHz. \
                 --platform tells it",
                by.khz
            ));
        } else if !by.invariant {
            report.remarks.push(format!("CPU {cpu}: choices refer to the frequency of the moment"));
        }
        for (asked, &(count, place)) in &self.choices {
            let ours = asked.raw(pol, by.khz, by.invariant);
            for _ in 0..count {
                if ours == asked.raw_khz {
                    report.agree(SIGNAL, by.class);
                    continue;
                }
                let fields = vec![Field { name: "raw_khz", kernel: asked.raw_khz.into(), ours: ours.into() }];
                let before = vec![("util", asked.util.into()), ("max", asked.max.into()), ("ref_khz", by.khz.into())];
                report.differ(divergence(place, cpu, SIGNAL, "frequency of a target", before, fields));
            }
        }
    }

    fn check_sets(&self, pol: &Policy, report: &mut Report, cpu: u32, table: Option<Vec<u32>>) {
        let seen: BTreeSet<u32> = self.sets.iter().map(|set| set.khz).collect();
        let mut passed = PassedOver::new(table.unwrap_or_else(|| seen.iter().copied().collect()), seen);
        for set in &self.sets {
            if let (true, Some(&(_, raw, span))) = (pol.passes_over_inefficient(), set.asked.first()) {
                let ours = resolve(passed.khz(), raw, span);
                passed.learn(raw, ours, set.khz);
            }
            set.check(report, cpu, passed.khz());
        }
    }
}

impl Set {
    fn check(&self, report: &mut Report, cpu: u32, table: &[u32]) {
        let serves = |asked: &&(Place, u32, Span)| resolve(table, asked.1, asked.2) == self.khz;
        let Some(&(since, raw, span)) = self.asked.first() else { return };
        if serves(&&self.asked[0]) {
            let late = self.place.time_ns.saturating_sub(since.time_ns) > FREQUENCY_WINDOW_NS;
            return report.agree(SET, if late { LATE } else { "" });
        }
        if self.asked.iter().any(|asked| serves(&asked)) {
            return report.agree(SET, EARLIER);
        }
        let ours = resolve(table, raw, span);
        let fields = vec![Field { name: "freq_khz", kernel: self.khz.into(), ours: ours.into() }];
        let before = vec![("raw_khz", raw.into())];
        report.differ(divergence(self.place, cpu, SET, "set, but another one was chosen", before, fields));
    }
}

/// The point of a table that serves a raw frequency within limits.
fn resolve(table: &[u32], raw_khz: u32, span: Span) -> u32 {
    let plain = |khz: Option<&u32>| khz.map_or(0, |khz| khz & !pelton_core::KHZ_INEFFICIENT);
    let (min_khz, max_khz) = span.unwrap_or((plain(table.first()), plain(table.last())));
    SugovPolicy { min_khz, max_khz, ..SugovPolicy::default() }.resolve(table, raw_khz)
}

#[cfg(test)]
mod tests {
    use super::super::decision::Decisions;
    use super::*;
    use pelton_schema::Event;

    fn choice(util: u32, raw_khz: u32) -> Event {
        Event::NextFreq {
            cpu: 6,
            util,
            max: 1024,
            resolved_khz: 0,
            cur_khz: 0,
            max_khz: 0,
            raw_khz,
            next_khz: 0,
            forced: 0,
            domain_cpus: 0,
            idle_calls: 0,
        }
    }

    fn set(freq_khz: u32) -> Event {
        Event::CpuFrequency { cpu: 6, freq_khz }
    }

    fn report(events: &[Event], known: &Known) -> Report {
        let (mut decisions, mut report) = (Decisions::default(), Report::default());
        let pol = Policy::profile("4.16").expect("a profile");
        for (number, event) in (0..).zip(events) {
            decisions.event(&pol, &mut report, Place { event: number, time_ns: number * 100_000 }, event);
        }
        decisions.finish(&pol, &mut report, |_| known.clone());
        report
    }

    fn first(report: &Report) -> Option<(&'static str, u64, u64)> {
        report.first.as_ref().map(|d| (d.fields[0].name, d.fields[0].kernel, d.fields[0].ours))
    }

    /// (2000000 + 500000) * util / 1024, served by 600, 1000 and 2000 MHz.
    fn trace() -> Vec<Event> {
        let (low, middle, high) = (choice(200, 488_281), choice(400, 976_562), choice(820, 2_001_953));
        vec![low, set(600_000), middle, set(1_000_000), high, set(2_000_000), low, set(600_000)]
    }

    #[test]
    fn raw_frequencies_follow_from_the_highest_that_was_set_and_sets_are_the_lowest_that_suffice() {
        let right = report(&trace(), &Known::default());
        assert_eq!((right.updates, right.divergent), (8, 0), "{right:?}");
        assert!(right.signals.values().all(|tally| tally.exact == tally.checked));
    }

    #[test]
    fn a_wrong_raw_frequency_and_a_wrong_point_are_found() {
        let altered = |at: usize, event| {
            let mut events = trace();
            events[at] = event;
            first(&report(&events, &Known::default()))
        };
        assert_eq!(altered(2, choice(400, 976_563)), Some(("raw_khz", 976_563, 976_562)));
        assert_eq!(altered(7, set(1_000_000)), None, "1000 MHz serve the choice before the last");
        let events = [trace(), vec![choice(200, 488_281), set(2_000_000)]].concat();
        let known = Known { khz: Some(vec![600_000, 2_000_000]), ref_khz: None };
        assert_eq!(first(&report(&events[6..], &known)), Some(("freq_khz", 2_000_000, 600_000)));
        let table =
            Known { khz: Some(vec![400_000, 500_000, 600_000, 1_000_000, 2_000_000]), ref_khz: Some(2_000_000) };
        assert_eq!(first(&report(&trace(), &table)), Some(("freq_khz", 600_000, 500_000)));
    }

    #[test]
    fn a_reference_that_was_never_set_is_read_off_the_choices_and_named() {
        let events = &trace()[..4];
        let learned = report(events, &Known::default());
        assert_eq!((learned.divergent, learned.signals["raw_freq"].classes[LEARNED]), (0, 2));
        assert!(learned.remarks.iter().any(|remark| remark.contains("2000000 kHz")), "{:?}", learned.remarks);
        let wrong = Known { khz: None, ref_khz: Some(1_800_000) };
        assert_eq!(report(events, &wrong).divergent, 2, "the platform's is the one that counts");
    }

    #[test]
    fn before_6_8_no_choice_refers_to_less_than_what_was_set() {
        // Without the headroom of a quarter: as if 1600 MHz were the highest.
        let raw = |util: u32| choice(util, 2_000_000 / 1024 * util);
        let events = [raw(200), set(600_000), raw(1024), set(2_000_000), raw(400)];
        assert!(report(&events, &Known::default()).signals["raw_freq"].divergent > 0);
    }

    #[test]
    fn limits_of_the_trace_are_in_force() {
        let limits = Event::CpuFrequencyLimits { cpu: 6, min_khz: 600_000, max_khz: 1_000_000 };
        let events = [trace(), vec![limits, choice(820, 2_001_953), set(1_000_000)]].concat();
        assert_eq!(first(&report(&events, &Known::default())), None);
    }
}
