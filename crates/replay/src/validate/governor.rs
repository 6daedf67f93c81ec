// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency from signals: the core's governor is called whenever a signal of the trace changes, and what it asks for
//! is held against the frequency changes the trace has. Its choices are never corrected by recorded ones.

use std::collections::{BTreeMap, VecDeque};

use pelton_core::{CpuState, Limits, PerfTerms, Policy, SugovCpu, SugovPolicy, commit, default_rate_limit_us, verdict};
use pelton_model::Machine;
use pelton_model::machine::FreqDomain;

use super::report::Report;
use super::tolerance::{FREQUENCY_EXTRA_PERMILLE_MAX, FREQUENCY_HIT_PERMILLE_MIN, FREQUENCY_WINDOW_NS};

/// Changes kept until they are matched; a trace with more in one window is damaged.
const PENDING_MAX: usize = 4096;
/// Ticks of unknown kernels: 250 per second. The tick only bounds how long I/O boost lasts.
const TICK_NS: u64 = 4_000_000;

/// Change that a test makes to the signals: a check that cannot fail proves nothing.
pub type Distort = fn(CpuState) -> CpuState;

/// Score of predicted changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Changes the trace has.
    pub recorded: u64,
    /// Changes predicted.
    pub predicted: u64,
    /// Both, with the same frequency and in time.
    pub exact: u64,
    /// Both and in time, the frequency one step of the table off.
    pub one_step: u64,
    /// Sum and maximum of the time between the two, ns, of the exact ones.
    pub off_ns: u64,
    /// See above.
    pub off_ns_max: u64,
}

impl Score {
    /// Share of the recorded changes that were predicted with their value, thousandths.
    pub fn hit_permille(&self) -> u64 {
        (self.exact * 1000).checked_div(self.recorded).unwrap_or(0)
    }

    /// Share of the predictions that the trace does not have, thousandths.
    pub fn extra_permille(&self) -> u64 {
        ((self.predicted - self.exact - self.one_step) * 1000).checked_div(self.predicted).unwrap_or(0)
    }

    /// Inside the bars written beforehand.
    pub fn ok(&self) -> bool {
        self.hit_permille() >= FREQUENCY_HIT_PERMILLE_MIN && self.extra_permille() <= FREQUENCY_EXTRA_PERMILLE_MAX
    }

    fn add(&mut self, other: &Score) {
        self.recorded += other.recorded;
        self.predicted += other.predicted;
        self.exact += other.exact;
        self.one_step += other.one_step;
        self.off_ns += other.off_ns;
        self.off_ns_max = self.off_ns_max.max(other.off_ns_max);
    }
}

/// A change that has no partner yet.
type Change = (u64, u32);

#[derive(Debug)]
struct Domain {
    cpus: Vec<u32>,
    khz: Vec<u32>,
    /// The driver has no table: the governor may ask for anything.
    no_table: bool,
    sugov: SugovPolicy,
    sc: Vec<SugovCpu>,
    states: Vec<CpuState>,
    /// The states as the governor sees them.
    seen: Vec<CpuState>,
    terms: Vec<PerfTerms>,
    /// Frequency last recorded, kHz; 0 = none yet, and nothing is predicted before.
    recorded_khz: u32,
    recorded: VecDeque<Change>,
    /// The worker has something to do.
    kicked: bool,
    /// The worker waits for the driver.
    in_driver: bool,
    driver_until_ns: u64,
    switch_time_ns: u64,
    predicted: VecDeque<Change>,
    score: Score,
}

/// Every domain of a platform.
#[derive(Debug)]
pub struct Governor {
    pol: Policy,
    distort: Distort,
    domains: Vec<Domain>,
    of_cpu: BTreeMap<u32, (usize, usize)>,
}

impl Domain {
    fn new(pol: &Policy, machine: &Machine, spec: &FreqDomain) -> Domain {
        let mut khz: Vec<u32> = spec.opps.iter().map(|opp| opp.khz).collect();
        khz.sort_unstable();
        let n = spec.cpus.len();
        let delay_us = spec.transition_delay_us.and_then(|us| u32::try_from(us).ok()).unwrap_or(0);
        let limit_us = spec.rate_limit_us.and_then(|us| u32::try_from(us).ok());
        let mut sugov = SugovPolicy {
            nr_cpus: u32::try_from(n).unwrap_or(0),
            min_khz: khz.first().copied().unwrap_or(0),
            max_khz: khz.last().copied().unwrap_or(0),
            ref_khz: spec.ref_khz,
            scale_khz: spec.told_scale_khz(),
            fast_switch: u32::from(spec.fast_switch),
            remote_ok: u32::from(spec.dvfs_from_any_cpu),
            freq_invariant: u32::from(spec.freq_invariant),
            need_update_limits: u32::from(spec.every_limit_change),
            ..SugovPolicy::default()
        };
        sugov.init(pol, limit_us.unwrap_or_else(|| default_rate_limit_us(pol, spec.transition_latency_ns, delay_us)));
        sugov.init_gate(pol, spec.switch_time_ns, machine.costs.context_switch_ns);
        let capacity = |&cpu: &u32| machine.cpus.get(cpu as usize).map_or(1024, |c| c.capacity);
        let idle = |cpu: &u32| CpuState { cap_orig: capacity(cpu), uclamp_max: 1024, ..CpuState::default() };
        Domain {
            states: spec.cpus.iter().map(idle).collect(),
            seen: vec![CpuState::default(); n],
            cpus: spec.cpus.clone(),
            khz,
            no_table: spec.no_table,
            sugov,
            sc: vec![SugovCpu::default(); n],
            terms: vec![PerfTerms::default(); n],
            recorded_khz: 0,
            recorded: VecDeque::new(),
            kicked: false,
            in_driver: false,
            driver_until_ns: 0,
            switch_time_ns: spec.switch_time_ns,
            predicted: VecDeque::new(),
            score: Score::default(),
        }
    }

    /// The governor is called for a CPU.
    fn hook(&mut self, pol: &Policy, distort: Distort, now: u64, index: usize, flags: u32) {
        self.work(pol, now);
        if self.recorded_khz == 0 {
            return;
        }
        let bw_dl = self.states[index].bw_dl;
        self.sc[index].keep_util(pol, &distort(self.states[index]));
        if self.sugov.begin(pol, &mut self.sc[index], bw_dl, now, TICK_NS, flags, true) != verdict::OPEN {
            return;
        }
        for (seen, state) in self.seen.iter_mut().zip(&self.states) {
            *seen = distort(*state);
        }
        let table: &[u32] = if self.no_table { &[] } else { &self.khz };
        let caller = index as u32;
        let out = self.sugov.evaluate(pol, caller, &mut self.sc, &self.seen, now, TICK_NS, table, &mut self.terms);
        if out.commit == commit::NONE {
            return;
        }
        if self.sugov.fast_switch != 0 {
            self.predict(now, self.settable(self.sugov.next_freq_khz));
        } else {
            self.kicked |= out.commit == commit::DRIVE;
            self.work(pol, now);
        }
    }

    /// The worker thread of a slow driver: one call at a time, which takes the platform's time.
    fn work(&mut self, pol: &Policy, now: u64) {
        while self.driver_until_ns <= now {
            if std::mem::take(&mut self.in_driver) {
                self.sugov.work_done(pol);
            }
            if !std::mem::take(&mut self.kicked) {
                break;
            }
            let khz = self.sugov.work_start(pol);
            let khz = self.settable(khz);
            self.in_driver = true;
            if khz != self.sugov.cur_khz {
                self.driver_until_ns = now + self.switch_time_ns;
                self.predict(self.driver_until_ns, khz);
            }
        }
    }

    /// Frequency the hardware is set to when `khz` is requested.
    fn settable(&self, khz: u32) -> u32 {
        if !self.no_table {
            return khz;
        }
        self.khz.iter().copied().find(|&k| k >= khz).or(self.khz.last().copied()).unwrap_or(khz)
    }

    fn predict(&mut self, at: u64, khz: u32) {
        if khz != self.sugov.cur_khz {
            self.sugov.cur_khz = khz;
            self.score.predicted += 1;
            self.predicted.push_back((at, khz));
        }
    }

    /// Takes recorded limits; a slow driver follows them at once, or when it returns.
    fn limits(&mut self, pol: &Policy, now: u64, min_khz: u32, max_khz: u32) {
        self.work(pol, now);
        let limits = Limits::of(&self.khz, min_khz, max_khz);
        self.sugov.limits(limits.min_khz, limits.max_khz);
        self.sugov.hw_max_khz = self.khz.last().copied().unwrap_or(0);
        let fast = self.sugov.fast_switch != 0;
        let (cur, recorded) = (self.sugov.cur_khz, self.recorded_khz > 0);
        if let Some(khz) = limits.target(pol, &self.khz, cur, 0, fast).filter(|_| recorded) {
            self.predict(now.max(if self.in_driver { self.driver_until_ns } else { 0 }), khz);
        }
    }

    /// Takes a recorded frequency.
    fn set(&mut self, now: u64, khz: u32) {
        let before = std::mem::replace(&mut self.recorded_khz, khz);
        if before == 0 {
            (self.sugov.cur_khz, self.sugov.next_freq_khz) = (khz, khz);
        } else if before != khz {
            self.score.recorded += 1;
            self.recorded.push_back((now, khz));
        }
    }

    /// True when two frequencies are neighbours in the table.
    fn are_neighbours(&self, a: u32, b: u32) -> bool {
        let at = |khz| self.khz.iter().position(|&k| k == khz);
        matches!((at(a), at(b)), (Some(a), Some(b)) if a.abs_diff(b) == 1)
    }

    /// Matches the recorded changes whose window has passed: first those of the same frequency, then neighbours.
    fn settle(&mut self, now: u64, end: bool) {
        let passed = |at: u64| end || now.saturating_sub(at) > 2 * FREQUENCY_WINDOW_NS;
        while self.recorded.front().is_some_and(|r| passed(r.0)) || self.recorded.len() > PENDING_MAX {
            let Some((at, khz)) = self.recorded.pop_front() else { break };
            let near = |p: &Change| p.0.abs_diff(at) <= FREQUENCY_WINDOW_NS;
            let same = self.predicted.iter().position(|p| near(p) && p.1 == khz);
            if let Some(index) = same {
                let off = self.predicted.remove(index).map_or(0, |p| p.0.abs_diff(at));
                self.score.exact += 1;
                self.score.off_ns += off;
                self.score.off_ns_max = self.score.off_ns_max.max(off);
            } else if let Some(index) = self.predicted.iter().position(|p| near(p) && self.are_neighbours(p.1, khz)) {
                self.predicted.remove(index);
                self.score.one_step += 1;
            }
        }
        let gone = |p: &Change| now.saturating_sub(p.0) > 4 * FREQUENCY_WINDOW_NS;
        while self.predicted.front().is_some_and(gone) || self.predicted.len() > PENDING_MAX {
            self.predicted.pop_front();
        }
    }
}

impl Governor {
    /// One governor per domain of the platform.
    pub fn new(pol: Policy, machine: &Machine, distort: Distort) -> Governor {
        let domains: Vec<Domain> = machine.domains.iter().map(|spec| Domain::new(&pol, machine, spec)).collect();
        let mut of_cpu = BTreeMap::new();
        for (d, domain) in domains.iter().enumerate() {
            of_cpu.extend(domain.cpus.iter().enumerate().map(|(index, &cpu)| (cpu, (d, index))));
        }
        Governor { pol, distort, domains, of_cpu }
    }

    /// Changes what is known of a CPU.
    pub fn change(&mut self, cpu: u32, change: impl FnOnce(&mut CpuState)) {
        if let Some(&(d, index)) = self.of_cpu.get(&cpu) {
            let capacity = self.domains[d].states[index].cap_orig;
            change(&mut self.domains[d].states[index]);
            self.domains[d].states[index].cap_orig = capacity;
        }
    }

    /// A signal of a CPU changed.
    pub fn hook(&mut self, now: u64, cpu: u32, flags: u32) {
        let Some(&(d, index)) = self.of_cpu.get(&cpu) else { return };
        self.domains[d].hook(&self.pol, self.distort, now, index, flags);
        self.domains[d].settle(now, false);
    }

    /// Takes the recorded frequency of a CPU; of a domain the first CPU counts that has such events.
    pub fn set(&mut self, now: u64, cpu: u32, khz: u32) {
        let Some(&(d, _)) = self.of_cpu.get(&cpu) else { return };
        self.domains[d].set(now, khz);
    }

    /// Takes recorded limits of a CPU's domain.
    pub fn limits(&mut self, now: u64, cpu: u32, min_khz: u32, max_khz: u32) {
        let Some(&(d, _)) = self.of_cpu.get(&cpu) else { return };
        self.domains[d].limits(&self.pol, now, min_khz, max_khz);
    }

    /// The result of all domains.
    pub fn score(mut self) -> Score {
        let mut total = Score::default();
        for domain in &mut self.domains {
            domain.settle(u64::MAX, true);
            total.add(&domain.score);
        }
        total
    }
}

impl Score {
    /// Writes the result down.
    pub fn tell(&self, report: &mut Report, from: &'static str) {
        if self.recorded == 0 {
            report.skip("cpu_frequency from signals", "no frequency changes in the trace");
            return;
        }
        report.prediction = Some((*self, from));
    }
}
