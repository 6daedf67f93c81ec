// SPDX-License-Identifier: GPL-2.0-or-later
//! Holding the core against what a kernel recorded.
//!
//! Records with the kernel's integer sums are recomputed and compared field by field; one unit off is a divergence.
//! Changes between two records are known as far as the trace holds them: a record that needs an assumption is counted
//! under the assumption's name, a record that no assumption explains diverges.

mod advance;
mod alter;
mod arrival;
mod averages;
mod bisect;
mod blind;
mod clock;
mod coarse;
mod commit;
mod control;
mod coverage;
mod decision;
mod distinct;
mod distinguish;
mod energy;
mod engine;
mod estimate;
mod explain;
mod fault;
mod frequency;
mod governor;
mod group;
mod limits;
mod merge;
mod moments;
mod object;
mod own;
mod ownership;
mod passed;
mod points;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod recorded_moments;
#[cfg(test)]
mod recorded_weights;
mod removals;
mod report;
mod requests;
mod rules;
mod search;
mod second;
mod survey;
mod told;
pub mod tolerance;
mod verdict;
mod walk;
mod weights;

pub use alter::{Altered, Size, alter_test};
pub use coverage::{Use, use_of};
pub use distinguish::{Answer, Distinction, GOVERNOR, SIMULATOR, Told, distinguish, runs};
pub use fault::{FaultResult, SingleCalls, drop_test, self_test};
pub use governor::{Distort, Score};
pub use merge::Merged;
pub use points::unknown_points;
pub use report::{Challenge, Comparison, Damaged, Divergence, Field, Report, Tally, UNDECIDED_PERMILLE};
pub use rules::page;
pub use second::{compare_again, needs_second_reading, predict_distorted};
pub use survey::Survey;
pub use verdict::{OPEN_PERMILLE_MAX, Verdict};

use std::collections::BTreeMap;

use pelton_core::{Arithmetic, Avg, Policy, arithmetic};
use pelton_model::Machine;
use pelton_model::machine::FreqDomain;
use pelton_schema::{Event, PELT_ROOT, PeltSignal, PeltSource, STATE_DEAD};
use pelton_trace::import::{ImportError, Source, Timed};

use advance::Bench;
use averages::averages;
use clock::Clocks;
use decision::Decisions;
use energy::Energies;
use engine::{Engine, Place, Record};
use estimate::Estimates;
use limits::Limits;
use object::{Pending, State};
use own::OwnDecisions;
use requests::Known;

/// Rules and machine that a trace is held against.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rules.
    pub policy: Policy,
    /// The platform, when one is given.
    pub machine: Option<Machine>,
}

impl Options {
    /// The domain of a CPU.
    fn domain(&self, cpu: u32) -> Option<&FreqDomain> {
        let machine = self.machine.as_ref()?;
        machine.domains.get(machine.cpus.get(cpu as usize)?.domain as usize)
    }

    /// Frequencies of a CPU's domain, by the platform.
    fn known(&self, cpu: u32) -> Known {
        let Some(domain) = self.domain(cpu) else { return Known::default() };
        let mut khz: Vec<u32> = domain.opps.iter().map(|opp| opp.khz).collect();
        khz.sort_unstable();
        Known { khz: Some(khz), ref_khz: Some(domain.ref_khz) }
    }
}

/// A validation under way.
#[derive(Debug)]
pub struct Validator {
    options: Options,
    core: &'static Arithmetic,
    limits: Limits,
    report: Report,
    engine: Engine,
    clocks: Clocks,
    decisions: Decisions,
    energies: Energies,
    estimates: Estimates,
    own: OwnDecisions,
    current: BTreeMap<u32, u32>,
    published: BTreeMap<u32, u64>,
    before: BTreeMap<u32, Avg>,
}

impl Validator {
    /// A validator that has seen nothing.
    pub fn new(options: Options) -> Validator {
        let energies = Energies::new(&options.policy, options.machine.as_ref());
        let own = OwnDecisions::new(&options.policy, options.machine.as_ref());
        Validator {
            options,
            core: arithmetic::right(),
            energies,
            own,
            limits: Limits::default(),
            report: Report::default(),
            engine: Engine::default(),
            clocks: Clocks::default(),
            decisions: Decisions::default(),
            estimates: Estimates::default(),
            current: BTreeMap::new(),
            published: BTreeMap::new(),
            before: BTreeMap::new(),
        }
    }

    /// Load tracking by this core instead, which is wrong on purpose.
    fn with_core(self, core: &'static Arithmetic) -> Validator {
        Validator { core, ..self }
    }

    /// The next event.
    pub fn event(&mut self, timed: &Timed) {
        let place = Place { event: self.report.events, time_ns: timed.time_ns };
        self.report.events += 1;
        if !self.limits.plausible(&mut self.report, place, &timed.event) {
            return;
        }
        self.report.survey.event(&timed.event);
        let policy = self.options.policy;
        self.own.event(&policy, &mut self.report, place, &timed.event);
        self.estimates.event(&policy, &mut self.report, place, &timed.event);
        match timed.event {
            Event::PeltBefore { .. } | Event::PeltState { .. } => self.pelt(&policy, place, &timed.event),
            Event::RqClock { cpu, clock_pelt_ns, lost_idle_ns, .. } => {
                let clock_ns = clock_pelt_ns.wrapping_sub(lost_idle_ns);
                self.published.insert(cpu, clock_ns);
                self.engine.objects.moments.clock(cpu, clock_ns);
            }
            Event::NrRunning { cpu, .. } => {
                if let Some(clock_ns) = self.published.get(&cpu) {
                    self.engine.objects.moments.counted(cpu, *clock_ns);
                }
            }
            Event::RqClockStep { .. } => {
                self.clocks.step(&policy, &self.engine.objects, &mut self.report, place, &timed.event);
            }
            Event::SchedSwitch { cpu, prev_tid, prev_state, next_tid, next_prio, .. } => {
                self.switch(place.time_ns, cpu, prev_tid, next_tid);
                self.engine.runs(cpu, next_tid, next_prio);
                if prev_state == STATE_DEAD {
                    self.engine.dies(prev_tid);
                }
            }
            Event::SchedMigrateTask { tid, dest_cpu, .. } => {
                self.engine.migrates(Bench { pol: &policy, core: self.core }, tid, Some(dest_cpu));
            }
            Event::SchedProcessExit { tid, .. } => {
                self.engine.migrates(Bench { pol: &policy, core: self.core }, tid, None)
            }
            Event::PeltPending {
                object,
                entity,
                removed_load,
                removed_runnable,
                removed_util,
                prop_runnable_sum,
                ..
            } => {
                let removed = (removed_load, removed_runnable, removed_util);
                self.engine.objects.announce(object, Pending { removed, prop_runnable_sum });
                if entity != 0 {
                    self.engine.objects.owns(entity, object);
                }
            }
            // What a CPU did to others is missing too.
            Event::LostEvents { .. } => self.lost(place.time_ns),
            Event::ComputeEnergy { .. } => self.energies.event(&mut self.report, place, &timed.event),
            _ => self.decisions.event(&policy, &mut self.report, place, &timed.event),
        }
    }

    /// A switch must leave the task that the last one started; otherwise events are missing.
    fn switch(&mut self, time_ns: u64, cpu: u32, prev_tid: u32, next_tid: u32) {
        let running = self.current.insert(cpu, next_tid);
        if let Some(running) = running.filter(|&running| running != prev_tid) {
            self.report.holes += 1;
            self.engine.resynchronise(&mut self.report, Some(cpu), time_ns);
            for tid in [running, prev_tid, next_tid] {
                self.engine.forget_task(tid);
            }
            self.clocks.forget(Some(cpu));
            self.decisions.forget();
            self.estimates.forget();
        } else {
            self.engine.switch(&mut self.report, cpu, time_ns);
        }
    }

    fn lost(&mut self, time_ns: u64) {
        self.engine.resynchronise(&mut self.report, None, time_ns);
        self.clocks.forget(None);
        self.decisions.forget();
        self.current.clear();
    }

    fn pelt(&mut self, policy: &Policy, place: Place, event: &Event) {
        if let (Event::PeltBefore { cpu, .. }, Some(avg)) = (event, averages(event)) {
            self.before.insert(*cpu, avg);
            return;
        }
        let Some(mut record) = record(place, event) else { return };
        record.before = self.before.remove(&record.state.cpu).filter(|_| record.source == PeltSource::Call);
        record.clock_ns = self.published.remove(&record.state.cpu);
        let root = record.state.flags & PELT_ROOT != 0;
        self.clocks.record(record.signal, record.state.cpu, record.object, root);
        self.engine.record(Bench { pol: policy, core: self.core }, &mut self.report, &record);
    }

    /// The end of the trace.
    pub fn finish(mut self) -> Report {
        self.engine.finish(&mut self.report);
        self.energies.finish(&mut self.report);
        if self.report.survey.states + self.report.survey.averages == 0 {
            self.report.skip("load tracking", verdict::NO_SUMS);
        }
        let options = &self.options;
        self.decisions.finish(&options.policy, &mut self.report, |cpu| options.known(cpu));
        if let Some(machine) = &options.machine {
            self.report.remarks.extend(unknown_points(machine, &self.report.survey.set_khz));
        }
        self.report
    }
}

/// A state; `None` when its codes are not ours.
fn record(place: Place, event: &Event) -> Option<Record> {
    let Event::PeltState { cpu, signal, source, object, queue, tid, flags, runnable, weight, now_ns, util_est, .. } =
        *event
    else {
        return None;
    };
    let avg = averages(event)?;
    Some(Record {
        place,
        signal: PeltSignal::of_code(signal)?,
        source: PeltSource::of_code(source)?,
        object,
        state: State { avg, util_est, flags, runnable, weight, queue, tid, cpu, seen_ns: place.time_ns },
        now_ns,
        clock_ns: None,
        before: None,
    })
}

/// Opens a trace anew.
pub type Open<'a> = dyn Fn() -> Result<Box<dyn Source>, ImportError> + 'a;

/// Both readings of a trace: what is recorded, then what is compared with signals that are rebuilt. `watch` as for
/// [`validate`].
///
/// # Errors
/// When the trace cannot be read.
pub fn read_twice(
    source: &mut dyn Source,
    open: &Open<'_>,
    options: &Options,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    let mut report = validate(source, options.clone(), watch)?;
    if needs_second_reading(options, &mut report) {
        compare_again(&mut *open()?, source.info(), options, &mut report)?;
    }
    report.explain_nothing();
    report.explain_unchecked();
    Ok(report)
}

/// Validates a whole trace. `watch` is called now and then with the trace's time and stops the work by returning
/// `false`.
///
/// # Errors
/// When the trace cannot be read.
pub fn validate(
    source: &mut dyn Source,
    options: Options,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    const WATCH_EVENTS: u64 = 1 << 14;
    let mut validator = Validator::new(options);
    while let Some(timed) = source.next()? {
        validator.event(&timed);
        if validator.report.events.is_multiple_of(WATCH_EVENTS) && !watch(timed.time_ns) {
            break;
        }
    }
    let mut report = validator.finish();
    for (name, form) in &source.info().other_forms {
        report.not_measured.insert(name.clone(), form.to_string().into());
    }
    Ok(report)
}
