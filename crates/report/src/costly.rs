// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions that moved most: a change of a request counts the difference in power of a busy CPU at both frequencies,
//! as the kernel's Energy Model has it, for as long as the request stayed. Where some domain has none it is the
//! difference in frequency, for all.

use pelton_model::Machine;
use pelton_model::machine::FreqDomain;
use pelton_schema::{Event, Sink};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Weight of a decision, microwatts (kHz where no power is known) times nanoseconds, and its number in the run.
type Weighed = (u128, u64);

/// A change that is in force.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    since_ns: u64,
    size: u64,
}

/// Finds the decisions that moved most.
#[derive(Debug)]
pub struct Costly<'a> {
    machine: &'a Machine,
    most: usize,
    has_power: bool,
    seen: u64,
    open: Vec<Option<Open>>,
    heaviest: BinaryHeap<Reverse<Weighed>>,
}

impl<'a> Costly<'a> {
    /// Of runs on this machine; at most so many.
    pub fn of(machine: &'a Machine, most: usize) -> Costly<'a> {
        let has_power = machine.domains.iter().all(|domain| domain.opps.iter().any(|opp| opp.power_uw > 0));
        Costly {
            machine,
            most,
            has_power,
            seen: 0,
            open: vec![None; machine.domains.len()],
            heaviest: BinaryHeap::new(),
        }
    }

    /// Numbers of the decisions, counted from 0, in a run that ended at `end_ns`.
    pub fn finish(mut self, end_ns: u64) -> BTreeSet<u64> {
        (0..self.open.len()).for_each(|domain| self.close(domain, end_ns));
        self.heaviest.into_iter().map(|Reverse((_, number))| number).collect()
    }

    fn close(&mut self, domain: usize, now_ns: u64) {
        let Some(open) = self.open[domain].take() else { return };
        self.heaviest.push(Reverse((u128::from(open.size) * u128::from(now_ns - open.since_ns), open.number)));
        if self.heaviest.len() > self.most {
            self.heaviest.pop();
        }
    }
}

impl Sink for Costly<'_> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Event::FreqDecision { domain, prev_khz, request_khz, changed, .. } = *event else { return };
        let number = self.seen;
        self.seen += 1;
        let at = domain as usize;
        if changed == 0 || at >= self.open.len() {
            return;
        }
        self.close(at, time_ns);
        let spec = &self.machine.domains[at];
        let weight = |khz| if self.has_power { power_uw(spec, khz) } else { u64::from(khz) };
        let size = weight(request_khz).abs_diff(weight(prev_khz));
        self.open[at] = Some(Open { number, since_ns: time_ns, size });
    }
}

/// Power of a busy CPU at the operating point that serves `khz`.
fn power_uw(domain: &FreqDomain, khz: u32) -> u64 {
    let serves = domain.opps.iter().find(|opp| opp.khz >= khz).or(domain.opps.last());
    serves.map_or(0, |opp| opp.power_uw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::Opp;

    fn change(domain: u32, prev_khz: u32, request_khz: u32) -> Event {
        Event::FreqDecision {
            cpu: 0,
            executing_cpu: 0,
            domain,
            site: 0,
            gate: 0,
            max_cpu: 0,
            cfs: 0,
            rt: 0,
            dl: 0,
            irq: 0,
            effective: 0,
            iowait: 0,
            min: 0,
            max: 1024,
            perf: 0,
            forced_max: 0,
            cap_orig: 1024,
            raw_khz: request_khz,
            resolved_khz: request_khz,
            prev_khz,
            request_khz,
            changed: u32::from(prev_khz != request_khz),
            error: 0,
            peak_khz: 0,
            until_ns: 0,
            next_allowed_ns: 0,
            flags: 0,
        }
    }

    #[test]
    fn a_change_counts_its_power_and_how_long_it_stays() {
        let opp = |khz, power_uw| Opp { khz, power_uw, ..Opp::default() };
        let domain = FreqDomain { opps: vec![opp(100, 10), opp(200, 30), opp(300, 100)], ..FreqDomain::default() };
        let machine = Machine { domains: vec![domain.clone(), domain], ..Machine::default() };
        let mut costly = Costly::of(&machine, 2);
        // 0: 90 for 10 ns; 1: nothing changes; 2: 20 for 90 ns; 3: 70 for 1 ns; 4: 90 for 4 ns, to the end.
        costly.event(0, &change(0, 100, 300));
        costly.event(5, &change(1, 100, 100));
        costly.event(5, &change(1, 100, 200));
        costly.event(10, &change(0, 300, 200));
        costly.event(11, &change(0, 200, 300));
        costly.event(95, &change(1, 200, 300));
        assert_eq!(costly.finish(99), BTreeSet::from([2, 4]));
    }
}
