// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates of tasks (`util_est`): each that was stored must follow from the one before and from the utilization that
//! it was taken from. Kernels record an estimate where they store it, so one that is left alone has no record.

use std::collections::BTreeMap;

use pelton_core::{Policy, Se, value};
use pelton_schema::{Event, PeltSignal};

use super::engine::Place;
use super::object::OBJECTS_MAX;
use super::report::{Divergence, Field, Report};

/// Name in a report.
pub const SIGNAL: &str = "util_est";
/// The record follows from what the one before it should have been.
pub const CORRECTED: &str = "follows from the estimate before it as it should have been";
/// From 6.8 on an estimate is not lowered while the task waits.
pub const WAITED: &str = "not lowered: the task may have waited (its runnable average is not recorded)";
/// Sums of queues are listed under this name.
pub const QUEUES: &str = "util_est of queues";
/// The column says that its value is not known.
const UNKNOWN: u32 = u32::MAX;
/// The mark that says that nothing was published since: bit 31, and bit 0 in older kernels.
const MARK: u32 = 1 << 31;
const LOW_MARK: u32 = 1;
/// An estimate is left alone for this capacity only when the task does not fit: then there is no record.
const CAPACITY: u32 = u32::MAX;

/// Figures that the rules keep of a task: the last sample (the whole estimate from 6.8 on) and the filtered one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Estimate {
    enqueued: u32,
    ewma: u32,
}

/// The inputs of an update.
#[derive(Clone, Copy, Debug)]
struct Sample {
    util: u32,
    /// `None` where it is not recorded.
    runnable: Option<u32>,
}

/// Place of the kernel's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    High,
    Low,
}

/// Estimates and averages of the tasks of a trace.
#[derive(Debug, Default)]
pub struct Estimates {
    /// The last estimate of each task, and what it should have been where it was wrong.
    tasks: BTreeMap<u32, (Estimate, Option<Estimate>)>,
    /// The last averages of each task: utilization and runnable.
    averages: BTreeMap<u32, (u32, u32)>,
    /// Bit of the mark: kernels with two figures keep it in bit 0 or in bit 31, and the first record that differs shows
    /// which.
    mark: Option<Mark>,
}

impl Estimates {
    /// Takes an event of estimates, or of what they are taken from.
    pub fn event(&mut self, pol: &Policy, report: &mut Report, place: Place, event: &Event) {
        match *event {
            Event::UtilEst { signal, tid, .. } if signal != PeltSignal::Entity as u32 || tid == 0 => {
                report.skip(QUEUES, "the task that came or went is not in the event");
            }
            Event::UtilEst { cpu, tid, enqueued, ewma, util_avg, .. } => {
                self.stored(pol, report, (place, cpu, tid), Estimate { enqueued, ewma }, util_avg);
            }
            Event::PeltSe { tid, util_avg, runnable_avg, .. } => self.learn(tid, util_avg, runnable_avg),
            Event::PeltState { tid, util_avg, runnable_avg, .. } if tid != 0 => {
                self.learn(tid, util_avg, u32::try_from(runnable_avg).unwrap_or(u32::MAX));
            }
            Event::SchedWakeupNew { tid, .. } | Event::SchedProcessExit { tid, .. } => self.forget_task(tid),
            Event::LostEvents { .. } => self.forget(),
            _ => {}
        }
    }

    /// Events are missing: an estimate may have been stored meanwhile.
    pub fn forget(&mut self) {
        self.tasks.clear();
        self.averages.clear();
    }

    fn forget_task(&mut self, tid: u32) {
        self.tasks.remove(&tid);
        self.averages.remove(&tid);
    }

    fn learn(&mut self, tid: u32, util: u32, runnable: u32) {
        if self.averages.len() < OBJECTS_MAX || self.averages.contains_key(&tid) {
            self.averages.insert(tid, (util, runnable));
        }
    }

    /// Inputs of an estimate. A runnable average below the utilization is one that the trace does not have.
    fn sample(&self, tid: u32, recorded: u32) -> Option<Sample> {
        let last = self.averages.get(&tid).copied();
        let util = if recorded == UNKNOWN { last?.0 } else { recorded };
        let runnable = last.filter(|&(seen, runnable)| seen == util && runnable >= util).map(|last| last.1);
        Some(Sample { util, runnable })
    }

    fn stored(&mut self, pol: &Policy, report: &mut Report, at: (Place, u32, u32), seen: Estimate, util: u32) {
        let tid = at.2;
        let Some(rule) = Rule::of(pol) else {
            return report.skip(SIGNAL, "this kernel has no estimates");
        };
        if rule != Rule::Single && seen.ewma == UNKNOWN {
            return report.skip(SIGNAL, "these rules keep two figures and the event has one: is it of 6.8 or later?");
        }
        let Some(sample) = self.sample(tid, util) else {
            return report.skip(SIGNAL, "the utilization an estimate was taken from is not recorded");
        };
        let known = self.tasks.get(&tid).copied();
        let wrong = known.and_then(|(before, corrected)| {
            let befores = [Some(before), corrected];
            self.check(pol, report, (rule, at), (befores, sample), seen)
        });
        if self.tasks.len() < OBJECTS_MAX || self.tasks.contains_key(&tid) {
            self.tasks.insert(tid, (seen, wrong));
        }
    }

    /// Holds a stored estimate against the rule; what it should have been where it is wrong.
    fn check(
        &mut self,
        pol: &Policy,
        report: &mut Report,
        (rule, at): (Rule, (Place, u32, u32)),
        (befores, sample): ([Option<Estimate>; 2], Sample),
        seen: Estimate,
    ) -> Option<Estimate> {
        let marks = match (rule, self.mark) {
            (Rule::Low, _) => vec![Mark::Low],
            (Rule::Single, _) => vec![Mark::High],
            (Rule::Two, Some(mark)) => vec![mark],
            (Rule::Two, None) => vec![Mark::High, Mark::Low],
        };
        let mut fits = Vec::new();
        for (&mark, (class, before)) in
            marks.iter().flat_map(|mark| ["", CORRECTED].into_iter().zip(befores).map(move |before| (mark, before)))
        {
            let Some(before) = before else { continue };
            let ours = updated(pol, rule, mark, before, sample);
            if same(rule, mark, ours, seen) {
                fits.push((mark, class));
            } else if may_have_waited(rule, sample, before, seen) {
                fits.push((mark, WAITED));
            }
        }
        let Some(&(mark, class)) = fits.first() else {
            let ours = |mark: &Mark| (updated(pol, rule, *mark, befores[0].unwrap_or(seen), sample), *mark);
            let differs =
                |(ours, mark): (Estimate, Mark)| (divergence(at, (befores[0], sample), seen, ours, (rule, mark)), ours);
            let nearest = marks.iter().map(ours).map(differs).min_by_key(|(differs, _)| differs.fields.len());
            return nearest.map(|(differs, ours)| {
                report.differ(differs);
                ours
            });
        };
        if fits.iter().all(|fit| fit.0 == mark) {
            self.mark = Some(mark);
        }
        report.agree(SIGNAL, class);
        None
    }
}

/// Form of the rule in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Two figures, the mark in bit 0.
    Low,
    /// Two figures; the mark moved from bit 0 to bit 31 within the releases of this rule.
    Two,
    /// One figure.
    Single,
}

impl Rule {
    fn of(pol: &Policy) -> Option<Rule> {
        match pol.util_est {
            value::UTIL_EST_OFF => None,
            value::UTIL_EST_U1 | value::UTIL_EST_U1_ANY => Some(Rule::Low),
            value::UTIL_EST_U2 => Some(Rule::Two),
            _ => Some(Rule::Single),
        }
    }
}

/// The core's update, without marks.
fn updated(pol: &Policy, rule: Rule, mark: Mark, before: Estimate, sample: Sample) -> Estimate {
    let mut se = Se::new(1024);
    se.avg.util_avg = sample.util.into();
    se.avg.runnable_avg = sample.runnable.unwrap_or(0).into();
    se.avg.util_est_enqueued = unmarked(mark, before.enqueued);
    se.avg.util_est_ewma = if rule == Rule::Single { 0 } else { before.ewma };
    if rule == Rule::Two && mark == Mark::Low {
        se.util_est_update_u2_low(CAPACITY);
    } else {
        se.util_est_update(pol, CAPACITY, true);
    }
    Estimate { enqueued: se.avg.util_est_enqueued & !MARK, ewma: se.avg.util_est_ewma }
}

fn unmarked(mark: Mark, enqueued: u32) -> u32 {
    enqueued & if mark == Mark::Low { !LOW_MARK } else { !MARK }
}

/// True of equal estimates, whether the recorder took the mark out or not.
fn same(rule: Rule, mark: Mark, ours: Estimate, seen: Estimate) -> bool {
    let ewma = rule == Rule::Single || ours.ewma == seen.ewma;
    ewma && unmarked(mark, ours.enqueued) == unmarked(mark, seen.enqueued)
}

/// The estimate was kept, as it is while a task waits, and whether it did is not recorded.
fn may_have_waited(rule: Rule, sample: Sample, before: Estimate, seen: Estimate) -> bool {
    let kept = unmarked(Mark::High, before.enqueued) == unmarked(Mark::High, seen.enqueued);
    rule == Rule::Single && sample.runnable.is_none() && kept && unmarked(Mark::High, seen.enqueued) > sample.util
}

fn divergence(
    (place, cpu, tid): (Place, u32, u32),
    (before, sample): (Option<Estimate>, Sample),
    seen: Estimate,
    ours: Estimate,
    (rule, mark): (Rule, Mark),
) -> Divergence {
    let row = |name, kernel: u32, ours: u32| Field { name, kernel: kernel.into(), ours: ours.into() };
    let mut fields = vec![row("enqueued", unmarked(mark, seen.enqueued), unmarked(mark, ours.enqueued))];
    if rule != Rule::Single {
        fields.push(row("ewma", seen.ewma, ours.ewma));
    }
    fields.retain(|field| field.kernel != field.ours);
    let mut inputs = vec![("util_avg", u64::from(sample.util))];
    if let Some(before) = before {
        inputs.extend([("enqueued", unmarked(mark, before.enqueued).into()), ("ewma", before.ewma.into())]);
    }
    let (event, time_ns) = (place.event, place.time_ns);
    let what = "estimate stored when the task went to sleep";
    Divergence { event, time_ns, since_ns: time_ns, cpu, tid, object: 0, signal: SIGNAL, what, before: inputs, fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: u32 = 77;

    fn report(profile: &str, events: impl IntoIterator<Item = Event>) -> Report {
        let (mut estimates, mut report) = (Estimates::default(), Report::default());
        let pol = Policy::profile(profile).expect("a profile");
        for (number, event) in (0..).zip(events) {
            estimates.event(&pol, &mut report, Place { event: number, time_ns: number * 1_000_000 }, &event);
        }
        report
    }

    fn event(enqueued: u32, ewma: u32, util_avg: u32) -> Event {
        Event::UtilEst { cpu: 2, signal: 0, object: 0, tid: TASK, enqueued, ewma, util_avg }
    }

    fn counts(profile: &str, events: &[Event]) -> (u64, u64) {
        let report = report(profile, events.iter().copied());
        (report.updates, report.divergent)
    }

    /// 5.10.0 to 5.10.43: the sample carries the mark in bit 0 and is filtered with it.
    const LOW: [(u32, u32, u32); 5] =
        [(311, 311, 310), (255, 297, 255), (191, 270, 190), (191, 250, 190), (403, 403, 402)];
    /// With the mark in bit 31: 310, (930 + 255) / 4 = 296, (888 + 190) / 4 = 269, (807 + 190) / 4 = 249.
    const HIGH: [(u32, u32, u32); 5] =
        [(310, 310, 310), (255, 296, 255), (190, 269, 190), (190, 249, 190), (402, 402, 402)];

    #[test]
    fn both_places_of_the_mark_are_read_and_one_holds_for_a_whole_trace() {
        let of =
            |rows: [(u32, u32, u32); 5], mark| rows.map(|(enqueued, ewma, util)| event(enqueued | mark, ewma, util));
        assert_eq!(counts("5.10", &of(LOW, 0)), (4, 0));
        assert_eq!(counts("5.10", &of(HIGH, 0)), (4, 0), "a recorder took the mark out");
        assert_eq!(counts("5.10", &of(HIGH, MARK)), (4, 0));
        let mixed = [&of(LOW, 0)[..], &[event(2, 302, 2)]].concat();
        assert_eq!(counts("5.10", &mixed), (5, 1), "(3 * 403 + 3) / 4 = 303 with the mark, 302 without");
    }

    #[test]
    fn a_wrong_estimate_is_one_divergence_whichever_way_the_kernel_goes_on() {
        let wrong = [event(351, 390, 350), event(121, 400, 120)];
        let first = report("5.10", wrong).first.expect("a difference");
        let fields: Vec<_> = first.fields.iter().map(|f| (f.name, f.kernel, f.ours)).collect();
        assert_eq!(fields, [("ewma", 400, 322)]);
        assert_eq!(counts("5.10", &[wrong[0], wrong[1], event(97, 265, 96)]), (2, 1), "from 322");
        assert_eq!(counts("5.10", &[wrong[0], wrong[1], event(97, 324, 96)]), (2, 1), "from 400");
        assert_eq!(counts("5.10", &[wrong[0], wrong[1], event(97, 300, 96)]), (2, 2));
    }

    #[test]
    fn old_kernels_filter_the_way_up_too() {
        let rows = [(101, 101, 100), (401, 176, 400)].map(|(enqueued, ewma, util)| event(enqueued, ewma, util));
        assert_eq!((counts("4.19", &rows), counts("5.10", &rows)), ((1, 0), (1, 1)));
    }

    #[test]
    fn one_estimate_falls_by_a_quarter_unless_the_task_waited() {
        let averages = |util_avg, runnable_avg| Event::PeltSe {
            cpu: 2,
            tid: TASK,
            util_avg,
            runnable_avg,
            load_avg: 0,
            util_est: 0,
        };
        let to = |next, runnable| [event(400, UNKNOWN, 400), averages(200, runnable), event(next, UNKNOWN, 200)];
        for profile in ["6.12", "6.18", "7.2"] {
            assert_eq!(counts(profile, &to(350, 200)), (1, 0), "{profile}");
            assert_eq!(counts(profile, &to(400, 300)), (1, 0), "{profile}: it waited");
            assert_eq!(counts(profile, &to(400, 200)), (1, 1), "{profile}: it did not");
            let untold = report(profile, to(400, 0));
            assert_eq!((untold.divergent, untold.signals[SIGNAL].classes[WAITED]), (0, 1), "{profile}");
        }
    }

    #[test]
    fn what_cannot_be_checked_is_named() {
        let untold = report("5.10", [event(9, 9, UNKNOWN), event(9, 9, UNKNOWN)]);
        assert!(untold.updates == 0 && untold.not_measured.contains_key(SIGNAL));
        let of_queue = Event::UtilEst { cpu: 2, signal: 2, object: 0, tid: 0, enqueued: 9, ewma: 0, util_avg: 9 };
        assert!(report("5.10", [of_queue]).not_measured.contains_key(QUEUES));
        assert!(report("5.10", [event(9, UNKNOWN, 9)]).not_measured.contains_key(SIGNAL));
        assert!(report("4.16", [event(9, 9, 9)]).not_measured.contains_key(SIGNAL));
    }

    #[test]
    fn another_task_with_the_same_number_begins_anew() {
        let born = Event::SchedWakeupNew { cpu: 2, tid: TASK, prio: 120, target_cpu: 2 };
        assert_eq!(counts("5.10", &[event(403, 403, 402), born, event(31, 31, 30), event(11, 26, 10)]), (1, 0));
    }
}
