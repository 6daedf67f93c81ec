// SPDX-License-Identifier: GPL-2.0-or-later
//! Receiver of events. A run is generic over its sink, so a sink that is off costs nothing.

use pelton_core::{CpuState, GROUP_TYPES, Lb, LbEnv, NO_CPU, PerfTerms, Placed, Record};

use crate::Event;

/// Outcome of the balance of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceEnd {
    /// Left to another CPU, whose turn it is to balance this domain.
    OtherTurn,
    /// No group has enough more to do than the CPU's own.
    Balanced,
    /// No CPU of the group with more can give a task.
    NoQueue,
    /// Tasks moved.
    Moved,
    /// No task may run on the CPU.
    Pinned,
    /// No task could be moved; the domain is looked at again soon.
    Again,
    /// The running task was to be taken and may not run on the CPU.
    RunningPinned,
    /// The running task is stopped and moves.
    Active,
}

/// A balance of one domain for one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Balance<'a> {
    /// For which CPU, which domain, and whether the CPU is idle.
    pub env: &'a LbEnv,
    /// CPU that does it.
    pub by: u32,
    /// Findings of the search; less remains to be moved where tasks moved.
    pub found: &'a Lb,
    /// Amount that was to be moved, before tasks moved.
    pub imbalance: i64,
    /// The record that was read: what sets of CPUs in all this mean.
    pub read: &'a Record,
    /// CPUs of the domain, a set of the record.
    pub span: u64,
    /// Tasks that moved.
    pub moved: u32,
    /// Outcome.
    pub end: BalanceEnd,
}

impl Balance<'_> {
    /// CPU that is taken from.
    #[must_use]
    pub fn source(&self) -> Option<u32> {
        (self.env.src_cpu != NO_CPU).then_some(self.env.src_cpu)
    }

    /// The CPUs of a set that this is about, ascending.
    pub fn cpus(&self, span: u64) -> impl Iterator<Item = u32> {
        self.read.span_cpus(span)
    }

    /// Types of the CPU's own group and of the busiest, as far as the balance looked at them.
    #[must_use]
    pub fn group_types(&self) -> [Option<&'static str>; 2] {
        [&self.found.local, &self.found.busiest].map(|group| {
            let words = GROUP_TYPES.get(group.r#type as usize).copied().unwrap_or("?");
            (group.cpus != 0).then_some(words)
        })
    }
}

/// A CPU that ran out of tasks: did it look for one?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The CPU.
    pub cpu: u32,
    /// Some CPU has two tasks.
    pub overloaded: bool,
    /// Its mean idle time.
    pub avg_idle_ns: u64,
    /// Longest time that a search of its smallest domain takes.
    pub cost_ns: u64,
    /// Domains that it searched, one bit each.
    pub searched: u32,
}

/// Occasion of an update of a CPU's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkWhy {
    /// Its own periodic balance.
    Periodic,
    /// Own load of a CPU that is about to go idle and looks for a task.
    GoesIdle,
    /// A CPU that is about to go idle looks at it.
    Search,
    /// A walk over idle CPUs.
    IdleWalk,
}

/// The load of a CPU was updated, queue by queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// CPU whose load it is.
    pub cpu: u32,
    /// CPU that does it.
    pub by: u32,
    /// Queues of groups with load, and the CPU's own.
    pub queues: u64,
    /// Time it takes `by`, at its speed; 0 where the platform gives no costs.
    pub cost_ns: u64,
    /// Occasion.
    pub why: WalkWhy,
}

/// Request of one CPU of a frequency domain when the governor evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The CPU.
    pub cpu: u32,
    /// Terms of its request; `None`: it was not asked, for another one had the maximum already (to 4.16).
    pub terms: Option<PerfTerms>,
    /// Signals of its queues.
    pub queues: CpuState,
    /// Inputs of its request: `queues` after clamps, limits of groups and boosts.
    pub made_of: CpuState,
    /// Signals are those that its last call passed ([`Sink::called`]), not those of the moment (to 4.16).
    pub by_last_call: bool,
}

/// Energy that was drawn since the start of the run, femtojoules. A part whose power is not known is charged nothing:
/// whether there is one, the report of the run says.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// CPUs of each frequency domain.
    pub domains_fj: &'a [u128],
    /// Parts that CPUs share: clusters.
    pub shared_fj: u128,
}

/// CPUs in ascending order, as ranges: `0-7,16`.
#[must_use]
pub fn cpu_list(cpus: impl IntoIterator<Item = u32>) -> String {
    let cpus: Vec<u32> = cpus.into_iter().collect();
    let run = |group: &[u32]| match group {
        [one] => one.to_string(),
        _ => format!("{}-{}", group[0], group[group.len() - 1]),
    };
    cpus.chunk_by(|a, b| a + 1 == *b).map(run).collect::<Vec<_>>().join(",")
}

/// Words for the state of a CPU when its domain is balanced; `idle`: a number of `balance_idle`.
#[must_use]
pub fn idle_words(idle: u32) -> &'static str {
    ["busy", "idle", "going idle"].get(idle as usize).copied().unwrap_or("?")
}

/// Words for the unit of an imbalance.
#[must_use]
pub fn migration_words(migration: u32) -> &'static str {
    ["load", "utilization", "tasks", "misfit task", "tasks that prefer the cache"]
        .get(migration as usize)
        .copied()
        .unwrap_or("?")
}

/// Words for the outcome of a balance.
#[must_use]
pub fn end_words(end: BalanceEnd) -> &'static str {
    match end {
        BalanceEnd::OtherTurn => "another CPU balances this domain",
        BalanceEnd::Balanced => "no group has enough more to do than its own",
        BalanceEnd::NoQueue => "no CPU of the busiest group can give a task",
        BalanceEnd::Moved => "tasks moved",
        BalanceEnd::Pinned => "no task may run here",
        BalanceEnd::Again => "no task could be moved; looked at again soon",
        BalanceEnd::RunningPinned => "the running task may not run here",
        BalanceEnd::Active => "the running task is stopped and moves",
    }
}

/// Words for the occasion of an update of load.
#[must_use]
pub fn walk_words(why: WalkWhy) -> &'static str {
    match why {
        WalkWhy::Periodic => "periodic balance of its own",
        WalkWhy::GoesIdle => "goes idle and looks for a task",
        WalkWhy::Search => "a CPU that goes idle looks at it",
        WalkWhy::IdleWalk => "walk over idle CPUs",
    }
}

/// Receives the events of a run in time order (equal times in order of happening).
pub trait Sink {
    /// False lets the caller skip building events at all.
    const ACTIVE: bool = true;

    /// True asks for what decisions about places of fair tasks read and gave, too.
    const PLACEMENTS: bool = false;

    /// True asks for balances of domains and updates of blocked load, too.
    const BALANCES: bool = false;

    /// True asks for the requests of all CPUs of a domain at each evaluation, too.
    const REQUESTS: bool = false;

    /// True asks for the energy that was drawn so far, at every [`Sink::drawn_step_ns()`], too.
    const DRAWN: bool = false;

    /// One event at `time_ns` since the start of the run.
    fn event(&mut self, time_ns: u64, event: &Event);

    /// Simulated time between two calls of [`Sink::drawn()`], ns; 0: none. Of two sinks that ask the longer one counts.
    fn drawn_step_ns(&self) -> u64 {
        0
    }

    /// Energy that was drawn up to `time_ns`.
    fn drawn(&mut self, _time_ns: u64, _drawn: &Drawn<'_>) {}

    /// One event of a recording in which columns may be missing; `known` has a bit for each that is there.
    fn event_known(&mut self, time_ns: u64, event: &Event, _known: u64) {
        self.event(time_ns, event);
    }

    /// A fair task was placed: what the decision read, and how it came about.
    fn placement(&mut self, _time_ns: u64, _tid: u32, _read: &Record, _placed: &Placed) {}

    /// A domain was balanced for a CPU.
    fn balance(&mut self, _time_ns: u64, _balance: &Balance<'_>) {}

    /// A CPU ran out of tasks.
    fn gate(&mut self, _time_ns: u64, _gate: &Gate) {}

    /// All domains of a CPU that are due are about to be balanced; `by`: the CPU that does it, `idle`: a number of
    /// `balance_idle`.
    fn domains(&mut self, _time_ns: u64, _cpu: u32, _by: u32, _idle: u32) {}

    /// The load of a CPU was updated.
    fn walk(&mut self, _time_ns: u64, _walk: &Walk) {}

    /// A CPU called the governor, which keeps what it passed (to 4.16): signals of its queues, and what clamps, limits
    /// and boosts make of them.
    fn called(&mut self, _time_ns: u64, _cpu: u32, _queues: &CpuState, _passed: &CpuState) {}

    /// The governor evaluated domain `domain`: the requests of its CPUs, in order. The decision's event follows.
    fn requests(&mut self, _time_ns: u64, _domain: u32, _asked: &[Asked]) {}

    /// Frequency before table and limits, kHz, in place of the governor's, where a sink that asks for requests
    /// ([`Sink::REQUESTS`]) has one: a prototype of a policy. Gates, limits and drivers stay the governor's.
    fn choose(&mut self, _time_ns: u64, _domain: u32, _asked: &[Asked]) -> Option<u32> {
        None
    }
}

/// Drops everything.
#[derive(Default, Debug, Clone, Copy)]
pub struct NullSink;

impl Sink for NullSink {
    const ACTIVE: bool = false;
    fn event(&mut self, _: u64, _: &Event) {}
}

/// Counts events by code.
#[derive(Debug, Clone)]
pub struct CountSink {
    /// Number of events per code.
    pub counts: [u64; 256],
}

impl Default for CountSink {
    fn default() -> Self {
        CountSink { counts: [0; 256] }
    }
}

impl Sink for CountSink {
    fn event(&mut self, _: u64, event: &Event) {
        self.counts[usize::from(event.code())] += 1;
    }
}

/// Sends each event to two sinks.
#[derive(Debug, Default)]
pub struct TeeSink<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Sink for TeeSink<A, B> {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;
    const PLACEMENTS: bool = A::PLACEMENTS || B::PLACEMENTS;
    const BALANCES: bool = A::BALANCES || B::BALANCES;
    const REQUESTS: bool = A::REQUESTS || B::REQUESTS;
    const DRAWN: bool = A::DRAWN || B::DRAWN;
    fn event(&mut self, time_ns: u64, event: &Event) {
        if A::ACTIVE {
            self.0.event(time_ns, event);
        }
        if B::ACTIVE {
            self.1.event(time_ns, event);
        }
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        if A::ACTIVE {
            self.0.event_known(time_ns, event, known);
        }
        if B::ACTIVE {
            self.1.event_known(time_ns, event, known);
        }
    }

    fn drawn_step_ns(&self) -> u64 {
        self.0.drawn_step_ns().max(self.1.drawn_step_ns())
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        self.0.drawn(time_ns, drawn);
        self.1.drawn(time_ns, drawn);
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        self.0.placement(time_ns, tid, read, placed);
        self.1.placement(time_ns, tid, read, placed);
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        self.0.balance(time_ns, balance);
        self.1.balance(time_ns, balance);
    }

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        self.0.gate(time_ns, gate);
        self.1.gate(time_ns, gate);
    }

    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32) {
        self.0.domains(time_ns, cpu, by, idle);
        self.1.domains(time_ns, cpu, by, idle);
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        self.0.walk(time_ns, walk);
        self.1.walk(time_ns, walk);
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        self.0.called(time_ns, cpu, queues, passed);
        self.1.called(time_ns, cpu, queues, passed);
    }

    fn requests(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) {
        self.0.requests(time_ns, domain, asked);
        self.1.requests(time_ns, domain, asked);
    }

    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32> {
        let first = self.0.choose(time_ns, domain, asked);
        first.or_else(|| self.1.choose(time_ns, domain, asked))
    }
}

impl<S: Sink> Sink for &mut S {
    const ACTIVE: bool = S::ACTIVE;
    const PLACEMENTS: bool = S::PLACEMENTS;
    const BALANCES: bool = S::BALANCES;
    const REQUESTS: bool = S::REQUESTS;
    const DRAWN: bool = S::DRAWN;
    fn event(&mut self, time_ns: u64, event: &Event) {
        (**self).event(time_ns, event);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        (**self).event_known(time_ns, event, known);
    }

    fn drawn_step_ns(&self) -> u64 {
        (**self).drawn_step_ns()
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        (**self).drawn(time_ns, drawn);
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        (**self).placement(time_ns, tid, read, placed);
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        (**self).balance(time_ns, balance);
    }

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        (**self).gate(time_ns, gate);
    }

    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32) {
        (**self).domains(time_ns, cpu, by, idle);
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        (**self).walk(time_ns, walk);
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        (**self).called(time_ns, cpu, queues, passed);
    }

    fn requests(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) {
        (**self).requests(time_ns, domain, asked);
    }

    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32> {
        (**self).choose(time_ns, domain, asked)
    }
}

/// A sink that may be off.
impl<S: Sink> Sink for Option<S> {
    const ACTIVE: bool = S::ACTIVE;
    const PLACEMENTS: bool = S::PLACEMENTS;
    const BALANCES: bool = S::BALANCES;
    const REQUESTS: bool = S::REQUESTS;
    const DRAWN: bool = S::DRAWN;
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.iter_mut().for_each(|sink| sink.event(time_ns, event));
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        self.iter_mut().for_each(|sink| sink.event_known(time_ns, event, known));
    }

    fn drawn_step_ns(&self) -> u64 {
        self.as_ref().map_or(0, Sink::drawn_step_ns)
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        self.iter_mut().for_each(|sink| sink.drawn(time_ns, drawn));
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        self.iter_mut().for_each(|sink| sink.placement(time_ns, tid, read, placed));
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        self.iter_mut().for_each(|sink| sink.balance(time_ns, balance));
    }

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        self.iter_mut().for_each(|sink| sink.gate(time_ns, gate));
    }

    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32) {
        self.iter_mut().for_each(|sink| sink.domains(time_ns, cpu, by, idle));
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        self.iter_mut().for_each(|sink| sink.walk(time_ns, walk));
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &CpuState, passed: &CpuState) {
        self.iter_mut().for_each(|sink| sink.called(time_ns, cpu, queues, passed));
    }

    fn requests(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) {
        self.iter_mut().for_each(|sink| sink.requests(time_ns, domain, asked));
    }

    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32> {
        self.as_mut()?.choose(time_ns, domain, asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that were known at each event.
    #[derive(Default)]
    struct Known(Vec<u64>);

    impl Sink for Known {
        fn event(&mut self, time_ns: u64, event: &Event) {
            self.event_known(time_ns, event, u64::MAX);
        }

        fn event_known(&mut self, _: u64, _: &Event, known: u64) {
            self.0.push(known);
        }
    }

    #[test]
    fn what_is_not_known_stays_so_through_sinks_of_sinks() {
        let mut both = TeeSink(Some(Known::default()), Known::default());
        let through = &mut &mut both;
        through.event_known(5, &Event::PeltRt { cpu: 1, util_avg: 0 }, 1);
        assert_eq!((both.0.expect("on").0, both.1.0), (vec![1], vec![1]));
    }
}
