// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes between two calls that a full recording has with all their inputs: a group's entity that takes over what its
//! queue has, and an entity that gets a weight. Nothing is assumed, everything recomputed.
//!
//! A propagation (event `hand_up`): the queue as it is when its entity was updated, the update of the queue above, and
//! both records after it. A weight: the entity after it, then its queue.

use std::collections::BTreeMap;

use pelton_core::{Avg, CfsRq, scale_load_down};
use pelton_schema::{PeltSignal, PeltSource};

use super::advance::Bench;
use super::engine::Record;
use super::object::{Key, Objects, State, key};

/// Signal of the report: what a group's entity takes over.
pub const HAND_UP: &str = "hand_up";
/// Signal of the report: what another weight changes.
pub const REWEIGHT: &str = "reweight";

/// Changes that began and are not over, by CPU.
#[derive(Debug, Default)]
pub struct Told {
    /// A group's entity between its own update and that of the queue above, and what its own queue has.
    due: BTreeMap<u32, (u32, CfsRq)>,
    /// Expected averages of the queue above and of the entity after it.
    handed: BTreeMap<u32, [(Key, Avg); 2]>,
    /// Expected averages of a queue after its entity got a weight.
    weighed: BTreeMap<u32, (Key, Avg)>,
}

/// Value that a record must or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This; anything else diverges.
    HandedUp(Avg),
    /// The expected value, unless something else happened that is not recorded.
    Weighed(Avg),
}

impl Told {
    /// A record that was put among the objects: it may begin a propagation, or be the last thing missing of one.
    pub fn learn(&mut self, bench: Bench<'_>, objects: &mut Objects, record: &Record) {
        let cpu = record.state.cpu;
        match (record.signal, record.source) {
            (PeltSignal::Queue, PeltSource::AtHandUp) => {
                let owner = objects.owner(record.object);
                let due = owner.and_then(|entity| Some((entity, objects.own_pending(entity)?)));
                self.due.extend(due.map(|due| (cpu, due)));
            }
            (PeltSignal::Queue, PeltSource::Call) => {
                self.handed.remove(&cpu);
                self.weighed.remove(&cpu);
                if let Some((entity, own)) = self.due.remove(&cpu) {
                    let pair = carry_up(bench, objects, record.object, entity, &own);
                    self.handed.extend(pair.map(|pair| (cpu, pair)));
                }
            }
            _ => {}
        }
    }

    /// Expected value of a record that the kernel makes right after such a change; returned once.
    pub fn expected(&mut self, bench: Bench<'_>, objects: &Objects, record: &Record) -> Option<Expected> {
        match record.source {
            PeltSource::Tracepoint => self.handed_up(record).map(Expected::HandedUp),
            PeltSource::AtReweight => self.reweighted(bench, objects, record).map(Expected::Weighed),
            _ => None,
        }
    }

    fn handed_up(&mut self, record: &Record) -> Option<Avg> {
        let cpu = record.state.cpu;
        let pair = self.handed.get(&cpu)?;
        let k = key(record.signal, record.object);
        let (_, avg) = *pair.iter().find(|(of, _)| *of == k)?;
        // The queue comes first.
        if k == pair[1].0 {
            self.handed.remove(&cpu);
        }
        Some(avg)
    }

    fn reweighted(&mut self, bench: Bench<'_>, objects: &Objects, record: &Record) -> Option<Avg> {
        let (seen, k) = (&record.state, key(record.signal, record.object));
        if record.signal == PeltSignal::Queue {
            return self.weighed.remove(&seen.cpu).filter(|(of, _)| *of == k).map(|(_, avg)| avg);
        }
        let (known, queue) = (objects.get(k)?, objects.queue(seen.queue)?);
        let (above, se) = bench.reweighted(&queue.avg, &known.entity(), scale_load_down(seen.weight));
        if se.avg == seen.avg {
            self.weighed.insert(seen.cpu, (key(PeltSignal::Queue, seen.queue), above));
        }
        Some(se.avg)
    }

    /// Events are missing.
    pub fn forget(&mut self) {
        self.due.clear();
        self.handed.clear();
        self.weighed.clear();
    }
}

/// Both states after the propagation, the queue above first; they are what is known from now on.
fn carry_up(bench: Bench<'_>, objects: &mut Objects, above: u32, entity: u32, own: &CfsRq) -> Option<[(Key, Avg); 2]> {
    let keys = (key(PeltSignal::Queue, above), key(PeltSignal::Entity, entity));
    let (queue, se) = (*objects.get(keys.0)?, *objects.get(keys.1)?);
    if se.queue != above {
        return None;
    }
    let (after, handed) = bench.handed_up(&queue.avg, &se.entity(), own);
    objects.put(keys.0, State { avg: after, ..queue });
    objects.put(keys.1, State { avg: handed.avg, ..se });
    objects.took_over(entity);
    Some([(keys.0, after), (keys.1, handed.avg)])
}

#[cfg(test)]
mod tests {
    use super::super::engine::{Engine, Place};
    use super::super::object::Pending;
    use super::super::report::Report;
    use super::*;
    use pelton_core::Policy;
    use pelton_schema::{PELT_DECAYED, PELT_ON_RQ};

    const ABOVE: u32 = 1;
    const OWN: u32 = 2;
    const ENTITY: u32 = 3;
    const NOW: u64 = 1 << 30;

    /// Averages with the sums that belong to them.
    fn avg(load: u64, runnable: u64, util: u64) -> Avg {
        let divisor = 46_718 + 500;
        let (load_sum, runnable_sum, util_sum) = (load * divisor, runnable * divisor, (util * divisor) as u32);
        let own = Avg { last_update_time_ns: NOW, period_contrib: 500, ..Avg::default() };
        Avg { load_sum, runnable_sum, util_sum, load_avg: load, runnable_avg: runnable, util_avg: util, ..own }
    }

    fn record(signal: PeltSignal, source: PeltSource, object: u32, avg: Avg) -> Record {
        let queue = if object == OWN { OWN } else { ABOVE };
        let weight = if signal == PeltSignal::Entity { 512 << 10 } else { 2048 << 10 };
        let state = State { avg, weight, queue, flags: PELT_ON_RQ, runnable: 1, ..State::default() };
        let place = Place::default();
        Record { place, signal, source, object, state, now_ns: 0, clock_ns: None, before: None }
    }

    /// A call of which only the last microsecond is new: nothing but the sums moves.
    fn call(bench: Bench<'_>, signal: PeltSignal, object: u32, before: Avg) -> Record {
        let mut record = record(signal, PeltSource::Call, object, before);
        let now = before.last_update_time_ns + 1024;
        let (after, crossed) = bench.update(signal, &before, &record.state.inputs(signal), now);
        record.state.avg = after;
        record.state.flags |= if crossed { PELT_DECAYED } else { 0 };
        Record { now_ns: now, before: Some(before), ..record }
    }

    /// Emits the records of one propagation as a recorder does; returns both states after it.
    fn hand_up(bench: Bench<'_>, engine: &mut Engine, report: &mut Report) -> [Record; 2] {
        let (entity, above) = (Avg { load_sum: 20_000, load_avg: 216, ..avg(0, 100, 80) }, avg(2_000, 1_500, 900));
        let own = avg(300, 400, 250);
        for first in [call(bench, PeltSignal::Queue, ABOVE, above), call(bench, PeltSignal::Entity, ENTITY, entity)] {
            engine.record(bench, report, &first);
        }
        engine.objects.owns(ENTITY, OWN);
        engine.objects.announce(OWN, Pending { removed: (0, 0, 0), prop_runnable_sum: 9_000 });
        engine.record(bench, report, &record(PeltSignal::Queue, PeltSource::AtHandUp, OWN, own));
        let known = |engine: &Engine, k| engine.objects.get(k).expect("recorded").avg;
        let keys = (key(PeltSignal::Queue, ABOVE), key(PeltSignal::Entity, ENTITY));
        let entity = call(bench, PeltSignal::Entity, ENTITY, known(engine, keys.1));
        engine.record(bench, report, &entity);
        let above = call(bench, PeltSignal::Queue, ABOVE, known(engine, keys.0));
        engine.record(bench, report, &above);
        let owned = CfsRq { avg: own, load_weight: 2048, propagate: 1, prop_runnable_sum: 9_000, ..CfsRq::default() };
        let (queue, se) = bench.handed_up(&above.state.avg, &entity.state.entity(), &owned);
        let told = |signal, object, avg| record(signal, PeltSource::Tracepoint, object, avg);
        [told(PeltSignal::Queue, ABOVE, queue), told(PeltSignal::Entity, ENTITY, se.avg)]
    }

    fn checked(alter: impl Fn(&mut [Record; 2])) -> (u64, u64, u64) {
        let pol = Policy::profile("6.18").expect("a profile");
        let (bench, mut engine, mut report) =
            (Bench { pol: &pol, core: pelton_core::arithmetic::right() }, Engine::default(), Report::default());
        let mut after = hand_up(bench, &mut engine, &mut report);
        alter(&mut after);
        after.iter().for_each(|record| engine.record(bench, &mut report, record));
        engine.finish(&mut report);
        let tally = report.signals.get(HAND_UP).cloned().unwrap_or_default();
        (tally.exact, tally.divergent, report.divergent)
    }

    #[test]
    fn both_records_after_a_hand_up_are_predicted() {
        assert_eq!(checked(|_| {}), (2, 0, 0));
    }

    #[test]
    fn one_unit_off_after_a_hand_up_diverges() {
        assert_eq!(checked(|after| after[0].state.avg.util_sum += 1), (1, 1, 1));
        assert_eq!(checked(|after| after[0].state.avg.load_sum -= 1), (1, 1, 1));
        assert_eq!(checked(|after| after[1].state.avg.runnable_avg += 1), (1, 1, 1));
        assert_eq!(checked(|after| after[1].state.avg.load_avg -= 1), (1, 1, 1));
    }

    /// Recorded in 6.1.192: the weight a group's entity has is set again, and its load average follows the sum by one.
    #[test]
    fn a_weight_and_what_the_queue_makes_of_it_are_predicted() {
        let pol = Policy::profile("6.1").expect("a profile");
        let bench = Bench { pol: &pol, core: pelton_core::arithmetic::right() };
        let at = Avg { last_update_time_ns: 9_736_309_760, period_contrib: 275, ..Avg::default() };
        let entity = Avg { load_sum: 39_917, load_avg: 1240, runnable_avg: 1388, util_avg: 834, ..at };
        let entity = Avg { runnable_sum: 65_395_324, util_sum: 39_239_353, ..entity };
        let queue = Avg { load_sum: 70_839_161, load_avg: 1508, runnable_avg: 1650, util_avg: 955, ..at };
        let queue = Avg { runnable_sum: 77_642_975, util_sum: 44_921_927, ..queue };
        let run = |load_avg| {
            let (mut engine, mut report) = (Engine::default(), Report::default());
            let mut put = |signal, source, object, avg| {
                let mut record = record(signal, source, object, avg);
                record.state.weight = 1_496_504;
                engine.record(bench, &mut report, &record);
            };
            put(PeltSignal::Queue, PeltSource::AtSwitch, ABOVE, queue);
            put(PeltSignal::Entity, PeltSource::AtSwitch, ENTITY, entity);
            put(PeltSignal::Entity, PeltSource::AtReweight, ENTITY, Avg { load_avg: 1241, ..entity });
            put(PeltSignal::Queue, PeltSource::AtReweight, ABOVE, Avg { load_avg, ..queue });
            engine.finish(&mut report);
            (report.signals[REWEIGHT].exact, report.divergent)
        };
        assert_eq!(run(1509), (2, 0));
        assert_eq!(run(1510), (1, 1));
    }

    #[test]
    fn what_follows_a_hand_up_that_no_tracepoint_shows_starts_from_it() {
        let pol = Policy::profile("6.18").expect("a profile");
        let (bench, mut engine, mut report) =
            (Bench { pol: &pol, core: pelton_core::arithmetic::right() }, Engine::default(), Report::default());
        let after = hand_up(bench, &mut engine, &mut report);
        let next = call(bench, PeltSignal::Queue, ABOVE, after[0].state.avg);
        engine.record(bench, &mut report, &next);
        engine.finish(&mut report);
        assert_eq!((report.divergent, report.signals["chain"].exact), (0, 3));
    }

    #[test]
    fn a_look_older_than_what_is_known_is_set_aside_and_a_call_is_not() {
        let pol = Policy::profile("6.1").expect("a profile");
        let (bench, mut engine, mut report) =
            (Bench { pol: &pol, core: pelton_core::arithmetic::right() }, Engine::default(), Report::default());
        let early = avg(2_000, 1_500, 900);
        let first = call(bench, PeltSignal::Queue, ABOVE, early);
        engine.record(bench, &mut report, &first);
        let look = |avg| record(PeltSignal::Queue, PeltSource::AtEstimate, ABOVE, avg);
        engine.record(bench, &mut report, &look(early));
        engine.record(bench, &mut report, &call(bench, PeltSignal::Queue, ABOVE, first.state.avg));
        let tally = |report: &Report| report.signals["queue"].clone();
        assert_eq!((tally(&report).earlier, report.signals["chain"].exact), (1, 1), "it was not learned");
        let moved = Avg { util_avg: 7, ..engine.objects.queue(ABOVE).expect("recorded").avg };
        engine.record(bench, &mut report, &look(moved));
        engine.record(bench, &mut report, &call(bench, PeltSignal::Queue, ABOVE, early));
        engine.finish(&mut report);
        assert_eq!((tally(&report).earlier, report.divergent), (1, 2), "a look of the same time, and a call");
    }
}
