// SPDX-License-Identifier: GPL-2.0-or-later
//! Behaviour of idle states on the recorded machine: the time from a wake-up by another CPU to the end of the idle
//! state, and the states that were asked for at all. Platform files have the longest time a state may take, and states
//! that a firmware may keep from the kernel.

use std::collections::BTreeMap;

use pelton_model::Machine;
use pelton_schema::{Event, IDLE_EXIT, Sink};

use super::histogram::Histogram;

/// Wake-ups a measured time rests on at least.
pub const WAKEUPS_MIN: u64 = 16;
/// Idle times of a domain, or of the machine, after which a state that none of them asked for is taken to be out of
/// use.
pub const STAYS_MIN: u64 = 1000;

/// A state of a domain as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitTime {
    /// Frequency domain of the machine.
    pub domain: usize,
    /// Index of the state.
    pub state: u32,
    /// Median time from the wake-up to the end of the state, ns.
    pub exit_ns: u64,
    /// The platform's own figure, ns.
    pub platform_ns: u64,
    /// Wake-ups measured.
    pub wakeups: u64,
}

/// Findings about the idle states of a machine in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleStates {
    /// States whose exit could be measured.
    pub exits: Vec<ExitTime>,
    /// Domains that use fewer states than the platform has, and how many.
    pub used: Vec<(usize, usize)>,
}

/// A CPU while events go by.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    domain: usize,
    idle: Option<u32>,
    woken_ns: Option<u64>,
}

/// Collects them.
#[derive(Debug)]
pub struct IdleObserver<'a> {
    machine: &'a Machine,
    cpus: Vec<Cpu>,
    exits: BTreeMap<(usize, u32), Histogram>,
    /// Idle times by domain, and the deepest state asked for.
    stays: Vec<(u64, u32)>,
}

impl<'a> IdleObserver<'a> {
    /// For a trace recorded on `machine`.
    pub fn new(machine: &'a Machine) -> IdleObserver<'a> {
        let cpu = |c: &pelton_model::machine::Cpu| Cpu { domain: c.domain as usize, ..Cpu::default() };
        let cpus = machine.cpus.iter().map(cpu).collect();
        IdleObserver { machine, cpus, exits: BTreeMap::new(), stays: vec![(0, 0); machine.domains.len()] }
    }

    fn idle(&mut self, now_ns: u64, cpu: u32, state: u32) {
        let Some(cpu) = self.cpus.get_mut(cpu as usize) else { return };
        if state != IDLE_EXIT {
            (cpu.idle, cpu.woken_ns) = (Some(state), None);
            let stays = &mut self.stays[cpu.domain];
            *stays = (stays.0 + 1, stays.1.max(state));
            return;
        }
        if let (Some(state), Some(woken_ns)) = (cpu.idle.take(), cpu.woken_ns.take())
            && (state as usize) < self.machine.domains[cpu.domain].idle_states.len()
        {
            self.exits.entry((cpu.domain, state)).or_default().add(now_ns.saturating_sub(woken_ns));
        }
    }

    /// Findings so far.
    pub fn finish(self) -> IdleStates {
        let measured = |(&(domain, state), times): (&(usize, u32), &Histogram)| {
            let platform_ns = self.machine.domains[domain].idle_states[state as usize].exit_latency_ns;
            let wakeups = times.count();
            (wakeups >= WAKEUPS_MIN).then(|| ExitTime {
                domain,
                state,
                exit_ns: times.quantile_ns(50),
                platform_ns,
                wakeups,
            })
        };
        // CPUs that were hardly ever idle have the same firmware as the others.
        let all = self.stays.iter().fold((0, 0), |all: (u64, u32), own| (all.0 + own.0, all.1.max(own.1)));
        let used = |(domain, own): (usize, &(u64, u32))| {
            let (stays, deepest) = if own.0 >= STAYS_MIN { *own } else { all };
            let used = deepest as usize + 1;
            let fewer = stays >= STAYS_MIN && used < self.machine.domains[domain].idle_states.len();
            fewer.then_some((domain, used))
        };
        IdleStates {
            exits: self.exits.iter().filter_map(measured).collect(),
            used: self.stays.iter().enumerate().filter_map(used).collect(),
        }
    }
}

impl Sink for IdleObserver<'_> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::CpuIdle { cpu, state } => self.idle(time_ns, cpu, state),
            // Only a CPU that is asleep and was called by another one is known to leave for that.
            Event::SchedWakeup { cpu, target_cpu, .. } | Event::SchedWakeupNew { cpu, target_cpu, .. }
                if cpu != target_cpu =>
            {
                if let Some(target) = self.cpus.get_mut(target_cpu as usize).filter(|cpu| cpu.idle.is_some()) {
                    target.woken_ns.get_or_insert(time_ns);
                }
            }
            _ => {}
        }
    }
}

impl IdleStates {
    /// The machine with what was recorded. Governors still believe the platform's latencies, as the recorded kernel
    /// did. No state takes longer than a deeper one.
    pub fn apply(&self, machine: &mut Machine) {
        for exit in &self.exits {
            let deepest = exit.state as usize;
            for (index, state) in machine.domains[exit.domain].idle_states.iter_mut().enumerate().take(deepest + 1) {
                if index == deepest || state.exit_latency_ns > exit.exit_ns {
                    state.reported_latency_ns = state.wakeup_latency_ns();
                    state.exit_latency_ns = exit.exit_ns;
                }
            }
        }
        for &(domain, used) in &self.used {
            machine.domains[domain].idle_states.truncate(used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::{FreqDomain, IdleState};

    /// Two CPUs with states of 1, 500 and 6000 us; a third one has a domain of its own.
    fn machine() -> Machine {
        let state = |us: u64| IdleState { exit_latency_ns: us * 1000, ..IdleState::default() };
        let domain = FreqDomain {
            cpus: vec![0, 1],
            idle_states: vec![state(1), state(500), state(6000)],
            ..FreqDomain::default()
        };
        let cpu = pelton_model::machine::Cpu::default();
        let apart = pelton_model::machine::Cpu { domain: 1, ..cpu.clone() };
        Machine { cpus: vec![cpu.clone(), cpu, apart], domains: vec![domain.clone(), domain], ..Machine::default() }
    }

    /// CPU 1 is woken from a state so many times, which takes this long.
    fn observe(observer: &mut IdleObserver<'_>, state: u32, times: u64, exit_ns: u64, waker: u32) {
        for n in 0..times {
            let at_ns = n * 10_000_000;
            observer.event(at_ns, &Event::CpuIdle { cpu: 1, state });
            observer.event(at_ns + 1000, &Event::SchedWakeup { cpu: waker, tid: 7, prio: 120, target_cpu: 1 });
            observer.event(at_ns + 1000 + exit_ns, &Event::CpuIdle { cpu: 1, state: IDLE_EXIT });
        }
    }

    #[test]
    fn a_state_takes_as_long_as_wake_ups_by_others_say() {
        let machine = machine();
        let mut observer = IdleObserver::new(&machine);
        observe(&mut observer, 1, WAKEUPS_MIN, 200_000, 0);
        observe(&mut observer, 0, WAKEUPS_MIN - 1, 9_000, 0);
        observe(&mut observer, 2, WAKEUPS_MIN, 50_000, 1);
        let seen = observer.finish();
        let exit = ExitTime { domain: 0, state: 1, exit_ns: 200_000, platform_ns: 500_000, wakeups: WAKEUPS_MIN };
        assert_eq!(seen, IdleStates { exits: vec![exit], used: vec![] }, "too few, and own wake-ups, tell nothing");
        let mut applied = machine.clone();
        seen.apply(&mut applied);
        let of = |machine: &Machine| -> Vec<(u64, u64)> {
            machine.domains[0].idle_states.iter().map(|s| (s.exit_latency_ns, s.wakeup_latency_ns())).collect()
        };
        assert_eq!(of(&applied), [(1000, 1000), (200_000, 500_000), (6_000_000, 6_000_000)]);
    }

    #[test]
    fn a_state_that_is_never_asked_for_is_out_of_use_and_none_is_slower_than_a_deeper_one() {
        let machine = machine();
        let mut observer = IdleObserver::new(&machine);
        observe(&mut observer, 0, STAYS_MIN - 1, 3000, 1);
        assert_eq!(observer.finish().used, []);
        let mut observer = IdleObserver::new(&machine);
        observe(&mut observer, 1, STAYS_MIN, 3000, 1);
        let used = observer.finish();
        assert_eq!(used.used, [(0, 2), (1, 2)]);
        let exits = vec![ExitTime { domain: 0, state: 2, exit_ns: 90_000, platform_ns: 0, wakeups: 20 }];
        let mut applied = machine.clone();
        IdleStates { exits, used: vec![] }.apply(&mut applied);
        let exits: Vec<u64> = applied.domains[0].idle_states.iter().map(|s| s.exit_latency_ns).collect();
        assert_eq!(exits, [1000, 90_000, 90_000]);
        used.apply(&mut applied);
        assert_eq!(applied.domains[0].idle_states.len(), 2);
    }
}
