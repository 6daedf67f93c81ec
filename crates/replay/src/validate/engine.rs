// SPDX-License-Identifier: GPL-2.0-or-later
//! Load-tracking records of a trace, one at a time: full calls are recomputed from their before-state, other records
//! from the last state known.

use std::collections::BTreeMap;

use pelton_core::{Avg, scale_load};
use pelton_schema::{PELT_DECAYED, PeltSignal, PeltSource};

use super::advance::Bench;
use super::blind::Waiting;
use super::control::Control;
use super::explain::{self, Explained};
use super::group;
use super::object::{Objects, State, key};
use super::removals::{REMOVAL_KNOWN, REMOVAL_UPDATE};
use super::report::{Divergence, Field, Report, fields};
use super::search::Search;
use super::told::{Expected, HAND_UP, REWEIGHT, Told};
use super::weights::WEIGHED;

/// Limit of searches in vain: when more than this, and one record in `VAIN_SHARE`, were in vain, the trace diverges for
/// another reason, and only short ones are made.
const VAIN_FREE: u64 = 1000;
const VAIN_SHARE: u64 = 64;

/// States expected of an entity that are kept when one more may be the true one.
const ALTERNATIVES_MAX: usize = 4;

/// The task slept and its estimate was taken.
pub const ESTIMATE: &str = "estimate taken at sleep";

/// Place of something in the trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Number of the event.
    pub event: u64,
    /// Its time.
    pub time_ns: u64,
}

/// A record as the trace has it.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Place in the trace.
    pub place: Place,
    /// Kind of load-tracking record.
    pub signal: PeltSignal,
    /// Moment at which it was read.
    pub source: PeltSource,
    /// Object number.
    pub object: u32,
    /// The state.
    pub state: State,
    /// `now` of a full call.
    pub now_ns: u64,
    /// Published clock of the queue at that moment.
    pub clock_ns: Option<u64>,
    /// State before a full call.
    pub before: Option<Avg>,
}

/// State of the validation.
#[derive(Debug, Default)]
pub struct Engine {
    /// Everything known.
    pub objects: Objects,
    /// Kinds of records whose calls are recorded, as bits.
    calls: u32,
    /// The record before this one on the same CPU.
    last_entity: BTreeMap<u32, (u32, State)>,
    last_queue: BTreeMap<u32, u32>,
    waiting: Waiting,
    class: BTreeMap<u32, u32>,
    /// Records that were searched for, and searches that found nothing.
    searched: u64,
    vain: u64,
    /// Results of the same searches about states that never were.
    control: Control,
    /// Divergences so far, those on probation included.
    pub suspected: u64,
    /// Root queue of every CPU.
    roots: BTreeMap<u32, u32>,
    told: Told,
}

/// The class of the task that runs, by its kernel priority.
pub fn class_of(tid: u32, prio: u32) -> u32 {
    match prio {
        _ if tid == 0 => pelton_core::runs::IDLE,
        pelton_schema::PRIO_DEADLINE => pelton_core::runs::DL,
        0..100 => pelton_core::runs::RT,
        _ => pelton_core::runs::FAIR,
    }
}

/// A record made with an estimate that does not name the queue or the weight has no inputs to go by.
fn lacks_inputs(state: &State) -> bool {
    state.queue == 0 || state.weight == 0
}

impl Engine {
    /// A record of any kind.
    pub fn record(&mut self, bench: Bench<'_>, report: &mut Report, record: &Record) {
        self.learn_ownership(record);
        let bit = 1 << record.signal as u32;
        let k = key(record.signal, record.object);
        match record.source {
            PeltSource::Call => {
                self.calls |= bit;
                self.call(bench, report, record);
            }
            PeltSource::Tracepoint if self.calls & bit != 0 && self.is_inside_call(record) => return,
            _ if self.is_earlier(record) => {
                report.tally(record.signal.name()).earlier += 1;
                return;
            }
            _ => self.observed(bench, report, record),
        }
        let state = match self.known(record) {
            // A record made with an estimate may have the averages, but neither weight nor queue nor the running task.
            Some(known) if record.source == PeltSource::AtEstimate && lacks_inputs(&record.state) => {
                State { avg: record.state.avg, util_est: record.state.util_est, ..known }
            }
            _ => record.state,
        };
        self.learn_weight(bench, record);
        if !matches!(record.signal, PeltSignal::Irq | PeltSignal::Hw) {
            self.objects.brought_up(record);
        }
        report.resynchronised += u64::from(self.objects.put(k, state));
        self.told.learn(bench, &mut self.objects, record);
    }

    /// A tracepoint of a call, whose end shows the same: time went on. Tracepoints of joins, leaves and propagations
    /// stand at the moment of the last call.
    fn is_inside_call(&self, record: &Record) -> bool {
        let at = |avg: &Avg| (avg.last_update_time_ns, avg.period_contrib);
        self.known(record).is_none_or(|known| at(&known.avg) != at(&record.state.avg))
    }

    /// A look at something that was older when it was read than what is known of it: it was made without the lock, and
    /// what happened meanwhile was recorded first. Times of one queue do not go back, whatever its averages are.
    fn is_earlier(&self, record: &Record) -> bool {
        let at = |state: &State| state.avg.last_update_time_ns;
        let look = !matches!(record.source, PeltSource::Call | PeltSource::Tracepoint);
        let joined = at(&record.state) != 0 && record.state.queue != 0;
        let same_queue = |known: &State| known.queue == record.state.queue && at(&record.state) < at(known);
        look && joined && self.known(record).is_some_and(|known| same_queue(&known))
    }

    /// An entity that got another weight, now or at a moment before: its queue shows it later.
    fn learn_weight(&mut self, bench: Bench<'_>, record: &Record) {
        let Some(known) = self.known(record).filter(|_| record.signal == PeltSignal::Entity) else { return };
        let seen = &record.state;
        if known.queue != seen.queue || known.avg.last_update_time_ns == 0 || seen.weight == 0 {
            return;
        }
        let states: Vec<State> = self.expected(record).map(|(state, _)| state).chain([known]).collect();
        for state in states.iter().filter(|state| state.weight != seen.weight && state.queue == seen.queue) {
            if let Some(change) = group::weighed_before(bench, &self.objects, (record.object, state), seen) {
                self.objects.reweighted(seen.queue, (state.entity(), change.1));
                self.objects.reweighted(seen.queue, change);
            }
        }
    }

    /// A group's entity is recorded right after the queue of the level below it.
    fn learn_ownership(&mut self, record: &Record) {
        let cpu = record.state.cpu;
        match record.signal {
            PeltSignal::Queue => {
                if record.state.is_root() {
                    self.roots.insert(cpu, record.object);
                }
                let below = self.last_entity.get(&cpu).is_some_and(|(_, se)| se.queue == record.object);
                if below && !record.state.is_root() {
                    self.last_queue.insert(cpu, record.object);
                } else {
                    self.last_queue.remove(&cpu);
                }
            }
            PeltSignal::Entity => {
                if let Some(queue) = self.last_queue.remove(&cpu).filter(|_| record.state.is_group())
                    && queue != record.state.queue
                {
                    self.objects.owns(record.object, queue);
                }
                self.last_entity.insert(cpu, (record.object, record.state));
            }
            _ => {}
        }
    }

    /// A recorded call: its after-state follows from its before-state, its before-state from the last state known.
    fn call(&mut self, bench: Bench<'_>, report: &mut Report, record: &Record) {
        let Some(before) = record.before else {
            report.skip("call", "the trace does not have the state before the call");
            return;
        };
        let name = record.signal.name();
        let inputs = record.state.inputs(record.signal);
        let (ours, crossed) = bench.update(record.signal, &before, &inputs, record.now_ns);
        let returned = record.state.flags & PELT_DECAYED != 0;
        if ours == record.state.avg && crossed == returned {
            report.agree(name, "");
        } else {
            let mut differs = self.divergence(record, name, "update call", &ours);
            differs.before = fields(&before, &before).into_iter().map(|f| (f.name, f.kernel)).collect();
            differs.fields.push(Field { name: "returned", kernel: u64::from(returned), ours: u64::from(crossed) });
            self.suspect(report, differs);
        }
        self.estimate_of_call(bench, report, record, crossed);
        self.chain(bench, report, record, &before);
    }

    /// The estimate keeps its value through an update and loses its mark when averages of a queued entity were
    /// published. Between two calls a task that went to sleep may have taken a new one.
    fn estimate_of_call(&mut self, bench: Bench<'_>, report: &mut Report, record: &Record, crossed: bool) {
        let Some(known) = self.known(record) else { return };
        if record.state.util_est == 0 || known.util_est == 0 || record.signal == PeltSignal::Queue {
            return;
        }
        const MARK: u32 = 1 << 31;
        let mask = if crossed && record.signal == PeltSignal::Entity { !MARK } else { u32::MAX };
        let seen = record.state.util_est;
        if known.util_est & mask == seen {
            report.agree("util_est", "");
        } else if bench.estimated(&known) & mask == seen {
            report.agree("util_est", ESTIMATE);
        } else {
            let mut differs = self.divergence(record, "util_est", "update call", &record.state.avg);
            let row = |name, kernel: u32, ours: u32| Field { name, kernel: kernel.into(), ours: ours.into() };
            differs.fields = vec![row("util_est", seen, known.util_est & mask)];
            self.suspect(report, differs);
        }
    }

    /// The last state of the same object; an address that now holds another task is a new object.
    fn known(&self, record: &Record) -> Option<State> {
        let known = self.objects.get(key(record.signal, record.object)).copied()?;
        let same_task = known.tid == record.state.tid || record.signal == PeltSignal::Queue;
        same_task.then_some(known)
    }

    /// States it may have if what its queue showed since is so, and the name of that.
    fn expected(&self, record: &Record) -> impl Iterator<Item = (State, &'static str)> {
        let expected = self.objects.expected(key(record.signal, record.object));
        expected.iter().copied().filter(|(state, _)| state.tid == record.state.tid)
    }

    /// The state before a call must be the last one known, or the change must be explained.
    fn chain(&mut self, bench: Bench<'_>, report: &mut Report, record: &Record, before: &Avg) {
        let seen = State { avg: *before, ..record.state };
        let Some(known) = self.known(record) else {
            self.joins(bench, record, &seen);
            return;
        };
        if known.avg == *before {
            report.agree("chain", "");
            return;
        }
        if known.avg == record.state.avg {
            report.tally("chain").unchanged += 1;
            return;
        }
        let search = Search { bench, objects: &self.objects, class: None, thorough: true, depth: explain::DEPTH };
        let expected: Vec<(State, &'static str)> = self.expected(record).collect();
        let expects = |avg: &Avg| expected.iter().find(|(state, _)| state.avg == *avg);
        let change = |avg: &Avg| search.change(record, &known, &State { avg: *avg, ..seen });
        let ask = |avg: &Avg| expects(avg).is_some() || change(avg).is_some();
        if let Some((_, class)) = expects(before) {
            self.control.challenge(class, before, ask);
            report.agree("chain", class);
        } else if let Some(found) = change(before) {
            self.control.challenge(found.class, before, ask);
            report.agree("chain", found.class);
            self.apply(record, &known, &seen, &found);
        } else {
            let differs = self.divergence(record, "chain", "change between two calls", &known.avg);
            let fields = fields(before, &known.avg);
            self.suspect(report, Divergence { fields, ..differs });
        }
    }

    /// Updates the books with what was found.
    fn apply(&mut self, record: &Record, known: &State, seen: &State, found: &Explained) {
        let queue = record.object;
        for member in &found.settled {
            self.objects.settle(queue, member);
        }
        if found.joined.is_empty() {
            found.settled.iter().for_each(|member| self.objects.flies(*member));
        }
        for &(object, se) in &found.joined {
            let k = key(PeltSignal::Entity, object);
            if let Some(known) = self.objects.get(k).copied() {
                self.objects.expects(object, vec![(State { avg: se.avg, queue, ..known }, explain::ATTACH)]);
            }
        }
        let weighed = [explain::REWEIGHT, WEIGHED].contains(&found.class);
        let class = if weighed { explain::REWEIGHT } else { group::PROPAGATION };
        let ambiguous = found.handed.iter().any(|(object, _)| *object != found.handed[0].0);
        for (index, &(object, _)) in found.handed.iter().enumerate() {
            let own = found.handed.iter().filter(|(other, _)| *other == object);
            let told = found.handed[..index].iter().any(|(other, _)| *other == object);
            let k = key(PeltSignal::Entity, object);
            let Some(known) = self.objects.get(k).copied().filter(|_| !told) else { continue };
            let states = own.map(|(_, se)| {
                let weight = if known.entity().weight == se.weight { known.weight } else { scale_load(se.weight) };
                (State { avg: se.avg, weight, ..known }, class)
            });
            // It may have been another one: then what was expected of this one before still is.
            let before = self.objects.expected(k).iter().filter(|_| ambiguous).take(ALTERNATIVES_MAX).copied();
            let states = states.chain(before).collect();
            self.objects.expects(object, states);
        }
        self.objects.settle_reweights(queue, &found.weighed);
        if [explain::REMOVAL, REMOVAL_UPDATE, REMOVAL_KNOWN].contains(&found.class) {
            self.objects.withdraw(queue, seen.avg.last_update_time_ns);
        }
        if found.moved {
            self.objects.moved(known.queue, (record.object, known.entity()));
            self.objects.moved(seen.queue, (record.object, seen.entity()));
        }
    }

    /// An entity seen for the first time may just have joined its queue.
    fn joins(&mut self, bench: Bench<'_>, record: &Record, seen: &State) {
        let entity = matches!(record.signal, PeltSignal::Entity | PeltSignal::BlockedEntity);
        if entity && explain::entity_change(bench, &self.objects, record.object, None, seen).is_some() {
            self.objects.moved(seen.queue, (record.object, seen.entity()));
        }
    }

    /// A task changes CPU: its queue will lose it, now or at the next update.
    pub fn migrates(&mut self, bench: Bench<'_>, tid: u32, dest_cpu: Option<u32>) {
        let Some(object) = self.objects.object_of_task(tid) else { return };
        // What it leaves behind is recorded after the event: its last state need not be known.
        self.objects.deposits(object, false);
        if let Some(cpu) = dest_cpu {
            self.objects.arrives(object, cpu);
        }
        let Some(known) = self.objects.of_task(tid).copied() else { return };
        if let Some(&root) = dest_cpu.and_then(|cpu| self.roots.get(&cpu)) {
            self.objects.moved(root, (object, known.entity()));
        }
        self.objects.flies((object, known.entity()));
        let Some(queue) = self.objects.queue(known.queue).copied() else { return };
        self.objects.moved(known.queue, (object, bench.synced(&queue.avg, &known.entity())));
        self.objects.moved(known.queue, (object, known.entity()));
    }

    /// A task switched away for good: its averages are taken out later.
    pub fn dies(&mut self, tid: u32) {
        if let Some(object) = self.objects.object_of_task(tid) {
            self.objects.deposits(object, true);
        }
    }

    /// True for a record of a change whose inputs were all recorded.
    fn is_told(&mut self, bench: Bench<'_>, report: &mut Report, record: &Record) -> bool {
        let seen = &record.state.avg;
        match self.told.expected(bench, &self.objects, record) {
            Some(Expected::HandedUp(expected)) if expected == *seen => report.agree(HAND_UP, ""),
            Some(Expected::HandedUp(expected)) => {
                let differs = self.divergence(record, HAND_UP, "what a group's entity takes over", &expected);
                self.suspect(report, differs);
            }
            Some(Expected::Weighed(expected)) if expected == *seen => self.weighed(report, record),
            Some(Expected::Weighed(_)) | None => return false,
        }
        true
    }

    /// A weight that was set as computed; the same weight as before may change nothing.
    fn weighed(&mut self, report: &mut Report, record: &Record) {
        if self.known(record).is_some_and(|known| known.avg == record.state.avg) {
            report.tally(REWEIGHT).unchanged += 1;
        } else {
            report.agree(REWEIGHT, "");
        }
        if record.signal == PeltSignal::Queue {
            let shown = self.objects.reweights(record.object);
            self.objects.settle_reweights(record.object, &shown);
        }
    }

    /// A record that is no call: it must follow from the last state known.
    fn observed(&mut self, bench: Bench<'_>, report: &mut Report, record: &Record) {
        let Some(known) = self.known(record) else {
            self.joins(bench, record, &record.state);
            return;
        };
        let name = record.signal.name();
        if self.is_told(bench, report, record) {
            return;
        }
        if known.avg == record.state.avg {
            report.tally(name).unchanged += 1;
            return;
        }
        if matches!(record.signal, PeltSignal::Irq | PeltSignal::Hw) {
            report.skip(record.signal.name(), "the trace does not have what each update was fed with");
            return;
        }
        let class = self.class.get(&record.state.cpu).copied();
        self.searched += 1;
        let thorough = self.vain < VAIN_FREE + self.searched / VAIN_SHARE;
        let search = Search { bench, objects: &self.objects, class, thorough, depth: explain::DEPTH };
        let expected: Vec<(State, &'static str)> = self.expected(record).collect();
        let explained = |record: &Record| {
            let shown = |&(state, class): &(State, &'static str)| {
                search.observed(record, &state).map(|found| found.shown_by_queue(class))
            };
            expected.iter().find_map(shown).or_else(|| search.observed(record, &known))
        };
        if let Some(found) = explained(record) {
            let altered = |avg: &Avg| Record { state: State { avg: *avg, ..record.state }, ..*record };
            self.control.challenge(found.class, &record.state.avg, |avg| explained(&altered(avg)).is_some());
            report.agree(name, found.class);
            self.apply(record, &known, &record.state, &found);
            return;
        }
        let inputs = search.likely_inputs(record, &known);
        self.vain += 1;
        let ours = bench.update(record.signal, &known.avg, &inputs[0], record.state.avg.last_update_time_ns).0;
        let mut differs = self.divergence(record, name, record.source.name(), &ours);
        differs.before = fields(&known.avg, &known.avg).into_iter().map(|f| (f.name, f.kernel)).collect();
        self.suspect(report, differs);
    }

    fn divergence(&self, record: &Record, signal: &'static str, what: &'static str, ours: &Avg) -> Divergence {
        let time_ns = record.place.time_ns;
        Divergence {
            since_ns: self.known(record).map_or(time_ns, |known| known.seen_ns),
            event: record.place.event,
            time_ns: record.place.time_ns,
            cpu: record.state.cpu,
            tid: record.state.tid,
            object: record.object,
            signal,
            what,
            before: Vec::new(),
            fields: fields(&record.state.avg, ours),
        }
    }

    /// A divergence counts once the next switches show that no events are missing.
    fn suspect(&mut self, report: &mut Report, divergence: Divergence) {
        self.suspected += 1;
        self.waiting.push(report, divergence);
    }

    /// A switch that continues the one before.
    pub fn switch(&mut self, report: &mut Report, cpu: u32, time_ns: u64) {
        self.waiting.good_switch(report, cpu, time_ns);
    }

    /// Notes the task that runs on a CPU from now on.
    pub fn runs(&mut self, cpu: u32, tid: u32, prio: u32) {
        self.class.insert(cpu, class_of(tid, prio));
    }

    /// Events of a CPU are missing, or of all: forget what may have changed.
    pub fn resynchronise(&mut self, report: &mut Report, cpu: Option<u32>, time_ns: u64) {
        match cpu {
            Some(cpu) => self.waiting.blind(report, cpu, time_ns),
            None => self.waiting.blind_all(report, time_ns),
        }
        self.told.forget();
        self.objects.forget_cpu(cpu);
    }

    /// Forgets a task whose events are missing.
    pub fn forget_task(&mut self, tid: u32) {
        if let Some(object) = self.objects.object_of_task(tid) {
            self.objects.forget(key(PeltSignal::Entity, object));
        }
    }

    /// The end of the trace: nothing can show any more that events were missing.
    pub fn finish(&mut self, report: &mut Report) {
        self.waiting.finish(report);
        self.control.finish(report);
        if self.objects.refused > 0 {
            report.skip("objects", "more kernel objects than are followed at a time");
        }
    }
}
