// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequencies that the governor's formula asks for beside those that the hardware runs at, at every event that
//! mainline calls for and at every tick, whatever filter and gate do with it. The watch takes no simulated time and
//! changes nothing; a run without it ([`RunConfig::demand`](pelton_model::RunConfig)) pays one test per event.
//!
//! Time below the need is cut in two ways. A *reaction* lasts as long as the frequency is below the need, however often
//! that rises meanwhile. A *step* is one rise of the need; it ends when the frequency has what that rise asked for, at
//! once if it had it before. The number of steps hardly depends on the policy where signals are frequency-invariant.
//! The number of reactions does: a policy that does away with the short ones has fewer, and a larger mean.

use pelton_schema::HookSite;

use crate::hw::speed::one_speed;
use crate::report::DemandReport;
use crate::shape::Run;
use crate::state::{DomainState, Engine};
use pelton_model::machine::Machine;

/// Need and frequency of one clock.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    /// Up to when the totals count.
    since_ns: u64,
    /// Frequency that is asked of the hardware.
    current_khz: u32,
    /// Unknown until the first event.
    needed_khz: Option<u32>,
    /// Since when the need is above the frequency.
    short_since_ns: Option<u64>,
    /// Steps that wait, by what they ask for: ascending, above the present frequency, at most one entry per operating
    /// point.
    waiting: Vec<Waiting>,
    report: DemandReport,
}

/// Rises of the need that wait for the same frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    /// Frequency that those rises asked for, or the least that was needed since.
    khz: u32,
    steps: u64,
    since_ns_sum: u128,
    since_ns_min: u64,
}

impl Waiting {
    fn merge(self, other: Waiting) -> Waiting {
        Waiting {
            khz: self.khz.min(other.khz),
            steps: self.steps + other.steps,
            since_ns_sum: self.since_ns_sum + other.since_ns_sum,
            since_ns_min: self.since_ns_min.min(other.since_ns_min),
        }
    }
}

impl Demand {
    pub(crate) fn new(current_khz: u32) -> Demand {
        Demand {
            since_ns: 0,
            current_khz,
            needed_khz: None,
            short_since_ns: None,
            waiting: Vec::new(),
            report: DemandReport::default(),
        }
    }

    /// From now on `khz` are needed.
    pub(crate) fn need(&mut self, now: u64, khz: u32) {
        if self.needed_khz == Some(khz) {
            return;
        }
        self.advance(now);
        let before_khz = self.needed_khz.replace(khz).unwrap_or(self.current_khz);
        if khz > before_khz {
            self.rise(now, khz);
        } else {
            self.fall(now, khz);
        }
        if khz > self.current_khz {
            self.short_since_ns.get_or_insert(now);
        } else if let Some(since_ns) = self.short_since_ns.take() {
            self.report.reaction_ns.add(now - since_ns);
            self.report.lapsed += 1;
        }
    }

    fn rise(&mut self, now: u64, khz: u32) {
        let step = Waiting { khz, steps: 1, since_ns_sum: u128::from(now), since_ns_min: now };
        if khz <= self.current_khz {
            self.end(now, step);
        } else if let Some(last) = self.waiting.last_mut().filter(|last| last.khz == khz) {
            *last = last.merge(step);
        } else {
            self.waiting.push(step);
        }
    }

    /// Steps that asked for more than is needed now wait for that; those that have it end.
    fn fall(&mut self, now: u64, khz: u32) {
        if khz <= self.current_khz {
            for waiting in std::mem::take(&mut self.waiting) {
                self.report.steps_lapsed += waiting.steps;
                self.end(now, waiting);
            }
            return;
        }
        let kept = self.waiting.partition_point(|waiting| waiting.khz < khz);
        let capped = self.waiting.drain(kept..).map(|waiting| Waiting { khz, ..waiting }).reduce(Waiting::merge);
        self.waiting.extend(capped);
    }

    fn end(&mut self, now: u64, waiting: Waiting) {
        self.report.steps += waiting.steps;
        self.report.step_ns_sum += u128::from(now) * u128::from(waiting.steps) - waiting.since_ns_sum;
        self.report.step_ns_max = self.report.step_ns_max.max(now - waiting.since_ns_min);
    }

    /// From now on the hardware runs at `khz`.
    pub(crate) fn set(&mut self, now: u64, khz: u32) {
        self.advance(now);
        self.current_khz = khz;
        let met = self.waiting.partition_point(|waiting| waiting.khz <= khz);
        for i in 0..met {
            self.end(now, self.waiting[i]);
        }
        self.waiting.drain(..met);
        let short = self.needed_khz.is_some_and(|needed| needed > khz);
        match (short, self.short_since_ns) {
            (true, None) => self.short_since_ns = Some(now),
            (false, Some(since_ns)) => {
                self.short_since_ns = None;
                self.report.reaction_ns.add(now - since_ns);
            }
            _ => {}
        }
    }

    fn advance(&mut self, now: u64) {
        let ns = now - self.since_ns;
        self.since_ns = now;
        let Some(needed) = self.needed_khz else { return };
        self.report.error_khz_ns += u128::from(ns) * u128::from(needed.abs_diff(self.current_khz));
        if self.current_khz > needed {
            self.report.over_ns += ns;
        } else if self.current_khz < needed {
            self.report.short_ns += ns;
        }
    }

    /// The run ends.
    pub(crate) fn finish(mut self, now: u64) -> DemandReport {
        self.advance(now);
        self.report.unserved = u64::from(self.short_since_ns.is_some());
        for waiting in std::mem::take(&mut self.waiting) {
            self.end(now, waiting);
        }
        self.report
    }
}

/// Domains whose CPUs run as fast as the highest of their requests, and what is watched of them.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    domains: Vec<u32>,
    demand: Demand,
}

impl Clock {
    #[inline]
    fn highest(&self, domains: &[DomainState], khz: impl Fn(&DomainState) -> u32) -> u32 {
        if let [alone] = self.domains[..] {
            return khz(&domains[alone as usize]);
        }
        self.domains.iter().map(|&d| khz(&domains[d as usize])).max().unwrap_or(0)
    }
}

/// By domain, the first one with the same clock.
fn first_domains(m: &Machine) -> Vec<usize> {
    let mut first: Vec<usize> = (0..m.domains.len()).collect();
    let domain = |c: u32| m.cpus[c as usize].domain as usize;
    loop {
        let before = first.clone();
        for c in 0..m.cpus.len() as u32 {
            let leader = one_speed(m, c).first().copied().unwrap_or(c);
            let lowest = first[domain(c)].min(first[domain(leader)]);
            (first[domain(c)], first[domain(leader)]) = (lowest, lowest);
        }
        if first == before {
            return first;
        }
    }
}

/// All clocks of a machine; none when the run is not watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    list: Vec<Clock>,
    /// Place in the list by domain.
    of: Vec<usize>,
}

impl Clocks {
    /// One per group of domains that share a clock.
    pub(crate) fn of(m: &Machine, domains: &[DomainState]) -> Clocks {
        let first = first_domains(m);
        let mut clocks = Clocks::default();
        for (d, &first) in first.iter().enumerate() {
            if first == d {
                clocks.of.push(clocks.list.len());
                clocks.list.push(Clock { domains: Vec::new(), demand: Demand::new(0) });
            } else {
                clocks.of.push(clocks.of[first]);
            }
            clocks.list[clocks.of[d]].domains.push(d as u32);
        }
        for clock in &mut clocks.list {
            clock.demand = Demand::new(clock.highest(domains, |domain| domain.freq.sugov.cur_khz));
        }
        clocks
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn of_domain(&mut self, d: u32) -> Option<&mut Clock> {
        self.list.get_mut(*self.of.get(d as usize)?)
    }

    /// The run ends; reports in the order of the clocks' first domains.
    pub(crate) fn finish(self, now: u64) -> Vec<DemandReport> {
        self.list.into_iter().map(|clock| clock.demand.finish(now)).collect()
    }
}

impl<S: Run> Engine<'_, S> {
    /// An event of CPU `c` that did not lead to an evaluation.
    pub(crate) fn observe_event(&mut self, c: u32) {
        let d = self.m.cpus[c as usize].domain;
        if self.freq.clocks.is_empty() {
            return;
        }
        if self.asks_packed() {
            return self.observe_packed(d);
        }
        self.ask(c, d, false);
        let domain = &self.domains[d as usize];
        let table = domain.governor_table();
        let need = domain.freq.sugov.need(
            self.policy.get(),
            self.targets.terms(d),
            (self.targets.place(c), self.targets.largest(d)),
            table,
        );
        let khz = domain.settable_khz(need.resolved_khz);
        self.observe_need(d, khz);
    }

    /// The formula asks for `khz`.
    pub(crate) fn observe_need(&mut self, d: u32, khz: u32) {
        let Some(clock) = self.freq.clocks.of_domain(d) else { return };
        self.domains[d as usize].freq.needed_khz = khz;
        let needed_khz = clock.highest(&self.domains, |domain| domain.freq.needed_khz);
        clock.demand.need(self.now, needed_khz);
    }

    /// The need beside the frequency is watched from now on.
    pub(crate) fn watch_need(&mut self) {
        self.freq.clocks = Clocks::of(self.m, &self.domains);
    }

    /// The run ends: what was watched.
    pub(crate) fn need_reports(&mut self) -> Vec<DemandReport> {
        std::mem::take(&mut self.freq.clocks).finish(self.now)
    }

    /// The request of a domain's hardware has changed.
    pub(crate) fn observe_frequency(&mut self, d: u32) {
        let Some(clock) = self.freq.clocks.of_domain(d) else { return };
        let khz = clock.highest(&self.domains, |domain| domain.freq.sugov.cur_khz);
        clock.demand.set(self.now, khz);
    }

    /// Is an event that calls no governor still a moment to look?
    pub(crate) fn is_observed(&self, site: HookSite, offered: bool) -> bool {
        offered || site == HookSite::Tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MHZ: u32 = 1_000;
    const MS: u64 = 1_000_000;

    fn mhz_ms(report: &DemandReport) -> u128 {
        report.error_khz_ns / u128::from(MHZ) / u128::from(MS)
    }

    /// Steps, their sum and maximum, and how many of them lapsed.
    fn steps(report: &DemandReport) -> (u64, u128, u64, u64) {
        (report.steps, report.step_ns_sum, report.step_ns_max, report.steps_lapsed)
    }

    fn reactions(report: &DemandReport) -> Vec<u64> {
        report.reaction_ns.iter().map(|(ns, _)| ns).collect()
    }

    /// ```text
    /// need     500   |1000          |500
    /// current  500   |     |1000        |500
    /// ms       0     2     5        9   11   12
    /// ```
    #[test]
    fn a_step_up_and_down() {
        let mut demand = Demand::new(500 * MHZ);
        demand.need(0, 500 * MHZ);
        demand.need(2 * MS, 1_000 * MHZ);
        demand.set(5 * MS, 1_000 * MHZ);
        demand.need(9 * MS, 500 * MHZ);
        demand.set(11 * MS, 500 * MHZ);
        let report = demand.finish(12 * MS);
        assert_eq!(mhz_ms(&report), 3 * 500 + 2 * 500);
        assert_eq!((report.short_ns, report.over_ns), (3 * MS, 2 * MS));
        assert_eq!(reactions(&report), [3 * MS]);
        assert_eq!((report.lapsed, report.unserved), (0, 0));
        assert_eq!(steps(&report), (1, u128::from(3 * MS), 3 * MS, 0));
    }

    #[test]
    fn served_at_once_is_a_reaction_of_nothing() {
        let mut demand = Demand::new(500 * MHZ);
        demand.need(MS, 1_000 * MHZ);
        demand.set(MS, 1_000 * MHZ);
        let report = demand.finish(2 * MS);
        assert_eq!(reactions(&report), [0]);
        assert_eq!((mhz_ms(&report), report.short_ns, report.over_ns), (0, 0, 0));
        assert_eq!(steps(&report), (1, 0, 0, 0));
    }

    #[test]
    fn a_higher_need_meanwhile_does_not_restart_the_wait() {
        let mut demand = Demand::new(500 * MHZ);
        demand.need(0, 800 * MHZ);
        demand.need(2 * MS, 1_000 * MHZ);
        demand.set(3 * MS, 800 * MHZ);
        demand.set(4 * MS, 1_000 * MHZ);
        let report = demand.finish(4 * MS);
        assert_eq!(reactions(&report), [4 * MS]);
        assert_eq!(mhz_ms(&report), 2 * 300 + 500 + 200);
        assert_eq!(steps(&report), (2, u128::from((3 + 2) * MS), 3 * MS, 0), "each until it has what it asked for");
    }

    #[test]
    fn a_need_that_goes_away_unserved_is_counted_as_lapsed() {
        let mut demand = Demand::new(500 * MHZ);
        demand.need(0, 1_000 * MHZ);
        demand.need(3 * MS, 500 * MHZ);
        demand.need(5 * MS, 1_000 * MHZ);
        let report = demand.finish(6 * MS);
        assert_eq!((reactions(&report), report.lapsed, report.unserved), (vec![3 * MS], 1, 1));
        assert_eq!(mhz_ms(&report), 3 * 500 + 500);
        assert_eq!(steps(&report), (2, u128::from((3 + 1) * MS), 3 * MS, 1), "the last waits until the end");
    }

    #[test]
    fn a_rise_that_the_frequency_has_already_counts_and_takes_no_time() {
        let mut demand = Demand::new(1_000 * MHZ);
        for i in 0..10 {
            demand.need(2 * i * MS, 500 * MHZ);
            demand.need((2 * i + 1) * MS, 1_000 * MHZ);
        }
        let report = demand.finish(20 * MS);
        assert_eq!(steps(&report), (10, 0, 0, 0));
        assert_eq!(reactions(&report), [0; 0]);
    }

    /// ```text
    /// need     500   |800 |1200  |900          |500
    /// current  500                     |800   |900
    /// ms       0     1    2      4     6      7  8
    /// ```
    #[test]
    fn a_smaller_need_meanwhile_is_what_a_step_waits_for() {
        let mut demand = Demand::new(500 * MHZ);
        demand.need(0, 500 * MHZ);
        demand.need(MS, 800 * MHZ);
        demand.need(2 * MS, 1_200 * MHZ);
        demand.need(4 * MS, 900 * MHZ);
        demand.set(6 * MS, 800 * MHZ);
        demand.set(7 * MS, 900 * MHZ);
        demand.need(8 * MS, 500 * MHZ);
        assert_eq!(steps(&demand.finish(9 * MS)), (2, u128::from((5 + 5) * MS), 5 * MS, 0));
    }

    #[test]
    fn waiting_steps_take_no_more_room_than_there_are_operating_points() {
        let mut demand = Demand::new(100 * MHZ);
        for i in 0..1_000 {
            demand.need(2 * i * MS, (200 + 100 * (i as u32 % 7)) * MHZ);
            demand.need((2 * i + 1) * MS, (300 + 100 * (i as u32 % 5)) * MHZ);
            assert!(demand.waiting.len() <= 8 && demand.waiting.is_sorted_by_key(|waiting| waiting.khz));
        }
    }

    #[test]
    fn nothing_counts_before_the_first_event() {
        let mut demand = Demand::new(500 * MHZ);
        demand.set(MS, 2_000 * MHZ);
        demand.need(4 * MS, 2_000 * MHZ);
        assert_eq!(demand.finish(5 * MS), DemandReport::default());
    }
}
