// SPDX-License-Identifier: GPL-2.0-or-later
//! Totals of a stream of events. The same code adds up the recorded and the simulated events, so that a difference
//! between the two is one of the runs and not one of the definitions.

use std::collections::{BTreeMap, BTreeSet};

use pelton_model::Machine;
use pelton_schema::{Event, Sink};

use super::histogram::Histogram;

/// Most CPUs that are counted apart; a damaged trace may name any number.
pub const CPUS_MAX: u32 = 4096;

/// Time at one frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtFrequency {
    /// All time.
    pub total_ns: u64,
    /// Time with a task running.
    pub busy_ns: u64,
}

/// Totals of one CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuTotals {
    /// Time with a task running.
    pub busy_ns: u64,
    /// Frequency changes.
    pub transitions: u64,
    /// Time by frequency, kHz; 0 = not known yet.
    pub frequencies: BTreeMap<u32, AtFrequency>,
    /// Busy time by frequency that counts as not known above, because the other stream does not have it: energy has it.
    pub masked_busy_ns: BTreeMap<u32, u64>,
    current: Option<u32>,
    khz: u32,
    since_ns: u64,
    /// Time at which its frequency was recorded for the first time.
    told_ns: Option<u64>,
    /// True when it had a frequency event of its own; else its neighbours' count.
    own: bool,
    /// Before this its frequency counts as not known.
    khz_from_ns: u64,
}

/// Totals of one task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskTotals {
    /// Time running.
    pub run_ns: u64,
    /// From being woken to running.
    pub latency: Histogram,
    woken_ns: Option<u64>,
}

/// Totals of a stream within a window of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    from_ns: u64,
    to_ns: u64,
    /// By CPU number.
    pub cpus: Vec<CpuTotals>,
    /// By task id.
    pub tasks: BTreeMap<u32, TaskTotals>,
    /// Tasks whose creation is none.
    not_born: BTreeSet<u32>,
    /// CPUs of each frequency domain.
    domains: Vec<Vec<u32>>,
}

impl Totals {
    /// Totals without events; only those in `from_ns..to_ns` will count.
    pub fn new(from_ns: u64, to_ns: u64) -> Totals {
        Totals { from_ns, to_ns, ..Totals::default() }
    }

    /// Knows frequencies only from these times on, by CPU: those that another stream does not have before are not
    /// compared.
    #[must_use]
    pub fn with_frequencies_from(mut self, from_ns: &[u64]) -> Totals {
        for (cpu, &khz_from_ns) in (0..CPUS_MAX).zip(from_ns) {
            if let Some(index) = self.cpu(cpu) {
                self.cpus[index].khz_from_ns = khz_from_ns;
            }
        }
        self
    }

    /// Knows which CPUs have one frequency: an event about one of them counts for those that have none of their own,
    /// and limits that leave one frequency set it.
    #[must_use]
    pub fn with_domains(mut self, machine: Option<&Machine>) -> Totals {
        self.domains = machine.iter().flat_map(|machine| &machine.domains).map(|domain| domain.cpus.clone()).collect();
        self
    }

    /// These tasks were there before: that they are made in this stream is no wake-up.
    #[must_use]
    pub fn without_births(mut self, tids: impl IntoIterator<Item = u32>) -> Totals {
        self.not_born.extend(tids);
        self
    }

    /// Time at which the frequency of each CPU was recorded for the first time, ns; `u64::MAX` = never.
    pub fn frequencies_told_ns(&self) -> Vec<u64> {
        self.cpus.iter().map(|c| c.told_ns.unwrap_or(u64::MAX)).collect()
    }

    /// Counts time up to `end_ns`.
    pub fn finish(&mut self, end_ns: u64) {
        self.to_ns = self.to_ns.min(end_ns);
        for cpu in 0..self.cpus.len() {
            self.charge(cpu, end_ns);
        }
    }

    /// Length of the window.
    pub fn window_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// A CPU, if its number is credible.
    fn cpu(&mut self, cpu: u32) -> Option<usize> {
        if cpu >= CPUS_MAX {
            return None;
        }
        let index = cpu as usize;
        if index >= self.cpus.len() {
            let fresh = CpuTotals { since_ns: self.from_ns, ..CpuTotals::default() };
            self.cpus.resize(index + 1, fresh);
        }
        Some(index)
    }

    /// Brings a CPU's sums up to `now_ns`.
    fn charge(&mut self, cpu: usize, now_ns: u64) {
        let now_ns = now_ns.min(self.to_ns);
        let totals = &mut self.cpus[cpu];
        let since_ns = totals.since_ns.max(self.from_ns);
        totals.since_ns = totals.since_ns.max(now_ns);
        let Some(ns) = now_ns.checked_sub(since_ns).filter(|&ns| ns > 0) else { return };
        let runs = totals.current.filter(|&tid| tid != 0);
        let unknown_ns = totals.khz_from_ns.clamp(since_ns, now_ns) - since_ns;
        for (khz, ns) in [(0, unknown_ns), (totals.khz, ns - unknown_ns)].into_iter().filter(|&(_, ns)| ns > 0) {
            let at = totals.frequencies.entry(khz).or_default();
            at.total_ns += ns;
            at.busy_ns += if runs.is_some() { ns } else { 0 };
        }
        if runs.is_some() && totals.khz != 0 && unknown_ns > 0 {
            *totals.masked_busy_ns.entry(totals.khz).or_default() += unknown_ns;
        }
        if let Some(tid) = runs {
            totals.busy_ns += ns;
            self.tasks.entry(tid).or_default().run_ns += ns;
        }
    }

    fn switch(&mut self, now_ns: u64, cpu: u32, prev: u32, next: u32) {
        let Some(index) = self.cpu(cpu) else { return };
        if self.cpus[index].current.is_some_and(|current| current != prev) {
            // Events were lost: which task ran since the last one is not known, so none is charged.
            self.cpus[index].current = None;
        }
        self.charge(index, now_ns);
        self.cpus[index].current = Some(next);
        let inside = (self.from_ns..self.to_ns).contains(&now_ns);
        if next != 0
            && let Some(task) = self.tasks.get_mut(&next)
            && let Some(woken_ns) = task.woken_ns.take()
            && inside
        {
            task.latency.add(now_ns.saturating_sub(woken_ns));
        }
    }

    /// A task is woken: the first of several reports about the same wake-up counts.
    fn wake(&mut self, now_ns: u64, tid: u32) {
        let running = self.cpus.iter().any(|c| c.current == Some(tid));
        if tid != 0 && !running {
            self.tasks.entry(tid).or_default().woken_ns.get_or_insert(now_ns);
        }
    }

    /// The other CPUs of a CPU's domain.
    fn neighbours(&self, cpu: u32) -> Vec<u32> {
        let domain = self.domains.iter().find(|cpus| cpus.contains(&cpu));
        domain.into_iter().flatten().copied().filter(|other| *other != cpu).collect()
    }

    fn told(&mut self, now_ns: u64, cpu: u32, khz: u32) {
        self.frequency(now_ns, cpu, khz);
        if let Some(index) = self.cpu(cpu) {
            self.cpus[index].own = true;
        }
        for other in self.neighbours(cpu) {
            if self.cpu(other).is_some_and(|index| !self.cpus[index].own) {
                self.frequency(now_ns, other, khz);
            }
        }
    }

    /// Limits of a domain that leave one frequency.
    fn limits(&mut self, now_ns: u64, cpu: u32, min_khz: u32, max_khz: u32) {
        if min_khz != max_khz || self.domains.is_empty() {
            return;
        }
        for cpu in std::iter::once(cpu).chain(self.neighbours(cpu)) {
            self.frequency(now_ns, cpu, max_khz);
        }
    }

    fn frequency(&mut self, now_ns: u64, cpu: u32, khz: u32) {
        let Some(index) = self.cpu(cpu) else { return };
        self.charge(index, now_ns);
        let inside = (self.from_ns..self.to_ns).contains(&now_ns);
        let totals = &mut self.cpus[index];
        totals.told_ns.get_or_insert(now_ns);
        let known = totals.khz != 0 && (totals.khz_from_ns == 0 || now_ns > totals.khz_from_ns);
        totals.transitions += u64::from(inside && known && totals.khz != khz);
        totals.khz = khz;
    }
}

impl Sink for Totals {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::SchedSwitch { cpu, prev_tid, next_tid, .. } => self.switch(time_ns, cpu, prev_tid, next_tid),
            Event::SchedWakeupNew { tid, .. } if self.not_born.contains(&tid) => {}
            Event::SchedWaking { tid, .. } | Event::SchedWakeup { tid, .. } | Event::SchedWakeupNew { tid, .. } => {
                self.wake(time_ns, tid)
            }
            Event::CpuFrequency { cpu, freq_khz } => self.told(time_ns, cpu, freq_khz),
            Event::CpuFrequencyLimits { cpu, min_khz, max_khz } => self.limits(time_ns, cpu, min_khz, max_khz),
            Event::LostEvents { cpu, .. } => self.lost(time_ns, cpu),
            _ => {}
        }
    }
}

impl Totals {
    fn lost(&mut self, now_ns: u64, cpu: u32) {
        let all = cpu == u32::MAX;
        for index in 0..self.cpus.len() {
            if all || index == cpu as usize {
                self.charge(index, now_ns);
                self.cpus[index].current = None;
            }
        }
    }
}

impl CpuTotals {
    /// True when its frequency was recorded at some time.
    pub fn is_told(&self) -> bool {
        self.told_ns.is_some()
    }

    /// Mean frequency over the time it is known, kHz.
    pub fn mean_khz(&self) -> Option<f64> {
        let known = self.frequencies.iter().filter(|(khz, _)| **khz != 0);
        let (sum, ns) = known
            .fold((0.0, 0u64), |(sum, ns), (&khz, at)| (sum + f64::from(khz) * at.total_ns as f64, ns + at.total_ns));
        (ns > 0).then(|| sum / ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::FreqDomain;

    fn switch(cpu: u32, prev_tid: u32, next_tid: u32) -> Event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state: 1, next_tid, next_prio: 120 }
    }

    #[test]
    fn busy_time_frequency_and_latency_add_up() {
        let mut totals = Totals::new(0, u64::MAX);
        totals.event(0, &Event::CpuFrequency { cpu: 0, freq_khz: 1000 });
        totals.event(100, &Event::SchedWaking { cpu: 0, tid: 7, prio: 120, target_cpu: 0 });
        totals.event(105, &Event::SchedWakeup { cpu: 0, tid: 7, prio: 120, target_cpu: 0 });
        totals.event(110, &switch(0, 0, 7));
        totals.event(200, &Event::CpuFrequency { cpu: 0, freq_khz: 2000 });
        totals.event(300, &switch(0, 7, 0));
        totals.finish(400);
        let cpu = &totals.cpus[0];
        assert_eq!((cpu.busy_ns, cpu.transitions), (190, 1));
        assert_eq!(cpu.frequencies[&1000], AtFrequency { total_ns: 200, busy_ns: 90 });
        assert_eq!(cpu.frequencies[&2000], AtFrequency { total_ns: 200, busy_ns: 100 });
        assert_eq!(cpu.mean_khz(), Some(1500.0));
        assert_eq!((totals.tasks[&7].run_ns, totals.tasks[&7].latency.max_ns()), (190, 10));
    }

    #[test]
    fn what_the_other_stream_does_not_tell_is_not_compared() {
        let mut totals = Totals::new(0, u64::MAX).with_frequencies_from(&[150]).without_births([7]);
        totals.event(0, &Event::SchedWakeupNew { cpu: 0, tid: 7, prio: 120, target_cpu: 0 });
        totals.event(0, &Event::CpuFrequency { cpu: 0, freq_khz: 1000 });
        totals.event(50, &switch(0, 0, 7));
        for (at, khz) in [(100, 2000), (150, 3000), (250, 4000)] {
            totals.event(at, &Event::CpuFrequency { cpu: 0, freq_khz: khz });
        }
        totals.finish(350);
        let cpu = &totals.cpus[0];
        assert_eq!((cpu.mean_khz(), cpu.transitions, cpu.busy_ns), (Some(3500.0), 1, 300));
        assert_eq!((cpu.frequencies[&0].busy_ns, totals.tasks[&7].latency.count()), (100, 0));
        assert_eq!(cpu.masked_busy_ns, BTreeMap::from([(1000, 50), (2000, 50)]));
        assert_eq!(totals.frequencies_told_ns(), [0]);
    }

    #[test]
    fn a_neighbour_s_frequency_counts_until_a_cpu_has_one_of_its_own_and_limits_may_tell_it() {
        let domain = |cpus: &[u32]| FreqDomain { cpus: cpus.to_vec(), ..FreqDomain::default() };
        let machine = Machine { domains: vec![domain(&[0, 1]), domain(&[2])], ..Machine::default() };
        let mut totals = Totals::new(0, u64::MAX).with_domains(Some(&machine));
        totals.event(0, &Event::CpuFrequency { cpu: 1, freq_khz: 1000 });
        totals.event(50, &Event::CpuFrequencyLimits { cpu: 2, min_khz: 3000, max_khz: 3000 });
        totals.event(50, &Event::CpuFrequencyLimits { cpu: 0, min_khz: 500, max_khz: 3000 });
        totals.event(100, &Event::CpuFrequency { cpu: 0, freq_khz: 2000 });
        totals.event(150, &Event::CpuFrequency { cpu: 1, freq_khz: 3000 });
        totals.finish(200);
        let khz =
            |cpu: usize| totals.cpus[cpu].frequencies.iter().map(|(khz, at)| (*khz, at.total_ns)).collect::<Vec<_>>();
        assert_eq!(khz(0), [(1000, 100), (2000, 100)]);
        assert_eq!(khz(1), [(1000, 150), (3000, 50)], "its own event counts");
        assert_eq!(khz(2), [(0, 50), (3000, 150)]);
    }

    #[test]
    fn nobody_is_charged_for_time_that_was_not_recorded() {
        let mut totals = Totals::new(0, u64::MAX);
        totals.event(0, &switch(0, 0, 7));
        totals.event(100, &switch(0, 8, 9));
        totals.event(200, &Event::LostEvents { cpu: 0, count: 0 });
        totals.event(300, &switch(0, 9, 0));
        totals.finish(300);
        let run = |tid| totals.tasks.get(&tid).map_or(0, |t: &TaskTotals| t.run_ns);
        assert_eq!((run(7), run(8), run(9)), (0, 0, 100));
    }

    #[test]
    fn only_the_window_counts() {
        let mut totals = Totals::new(150, 250);
        totals.event(100, &switch(0, 0, 7));
        totals.event(300, &switch(0, 7, 0));
        totals.event(u64::MAX, &Event::CpuFrequency { cpu: u32::MAX, freq_khz: 1 });
        totals.finish(400);
        assert_eq!((totals.cpus[0].busy_ns, totals.window_ns()), (100, 100));
    }
}
