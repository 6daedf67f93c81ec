// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts the balances of a run as `pelton record --balances` counts those of a kernel.

use crate::results::balances::{BalanceCounts, BalanceKind};
use crate::run::{Control, LabError, run_one};
use pelton_core::balance_idle;
use pelton_model::Plan;
use pelton_schema::{Balance, BalanceEnd, Event, Gate, Sink};
use pelton_sim::Report;
use std::collections::BTreeMap;

/// Kinds of balances, by the recorder's names.
const KINDS: [&str; 4] = ["periodic", "nohz_idle", "newidle", "active"];
/// Places in that list.
const PERIODIC: usize = 0;
const NOHZ_IDLE: usize = 1;
const NEWIDLE: usize = 2;
const ACTIVE: usize = 3;
/// Largest number of runnable tasks of a CPU that has a class of its own, as in the recorder.
const TASKS_MAX: usize = 15;

/// Reasons for which CPUs that ran out of tasks searched or not, and how often domains were balanced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateCounts {
    /// CPUs that went idle or found a task: no CPU had two tasks.
    pub nobody: u64,
    /// Idle times were too short.
    pub too_soon: u64,
    /// Dice left all domains out.
    pub dice: u64,
    /// Some domain was searched.
    pub searched: u64,
    /// Mean idle times then, ns.
    pub avg_idle_ns: Vec<u64>,
    /// Costs of a search of the smallest domain then, ns.
    pub cost_ns: Vec<u64>,
    /// Times that the domains of a busy CPU were looked at, of an idle one by itself, and by another.
    pub domains: [u64; 3],
}

impl GateCounts {
    /// A CPU ran out of tasks.
    pub fn went_idle(&mut self, overloaded: bool, searched: bool, avg_idle_ns: u64, cost_ns: u64) {
        let count = match (searched, overloaded) {
            (true, _) => &mut self.searched,
            (false, false) => &mut self.nobody,
            _ if avg_idle_ns < cost_ns => &mut self.too_soon,
            _ => &mut self.dice,
        };
        *count += 1;
        self.avg_idle_ns.push(avg_idle_ns);
        self.cost_ns.push(cost_ns);
    }

    /// The domains of a CPU were looked at; `idle`: a number of `balance_idle`.
    pub fn looked(&mut self, idle: u32, by_itself: bool) {
        let who = if idle == balance_idle::NOT_IDLE { 0 } else { 1 + usize::from(!by_itself) };
        self.domains[who] += 1;
    }
}

/// Counts from a moment on.
struct CountSink {
    gates: GateCounts,
    from_ns: u64,
    kinds: [BalanceKind; 4],
    asked: u64,
    /// CPU on which each task is runnable, by tid.
    runnable: BTreeMap<u32, u32>,
    /// Of each CPU: how many tasks are, since when, and for how long how many were.
    cpus: Vec<(usize, u64, [u64; TASKS_MAX + 1])>,
    /// Of each CPU: the one that its running task was asked to go to.
    asked_to: Vec<Option<u32>>,
}

impl CountSink {
    fn new(cpus: usize, from_ns: u64) -> CountSink {
        let kinds = KINDS.map(|kind| BalanceKind { kind, ..BalanceKind::default() });
        let (cpus, asked_to) = (vec![(0, from_ns, [0; TASKS_MAX + 1]); cpus], vec![None; cpus]);
        CountSink { gates: GateCounts::default(), from_ns, kinds, asked: 0, runnable: BTreeMap::new(), cpus, asked_to }
    }

    /// Adds `by` runnable tasks to a CPU, after the time with the old number is counted.
    fn change(&mut self, now_ns: u64, cpu: u32, by: isize) {
        let (tasks, since_ns, times) = &mut self.cpus[cpu as usize];
        times[(*tasks).min(TASKS_MAX)] += now_ns.saturating_sub(*since_ns);
        *since_ns = now_ns.max(*since_ns);
        *tasks = tasks.saturating_add_signed(by);
    }

    /// The task is runnable there, or nowhere.
    fn put(&mut self, now_ns: u64, tid: u32, cpu: Option<u32>) {
        let before = match cpu {
            None => self.runnable.remove(&tid),
            Some(cpu) => self.runnable.insert(tid, cpu),
        };
        if let Some(before) = before {
            self.change(now_ns, before, -1);
        }
        if let Some(cpu) = cpu {
            self.change(now_ns, cpu, 1);
        }
    }

    fn finish(mut self, end_ns: u64) -> (BalanceCounts, GateCounts) {
        (0..self.cpus.len() as u32).for_each(|cpu| self.change(end_ns, cpu, 0));
        let times: Vec<Vec<u64>> = self.cpus.iter().map(|(_, _, times)| times.to_vec()).collect();
        let seconds = end_ns.saturating_sub(self.from_ns) as f64 / 1e9;
        (BalanceCounts::new(seconds, self.kinds.to_vec(), self.asked, &times), self.gates)
    }
}

impl Sink for CountSink {
    const BALANCES: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::SchedWakeup { tid, target_cpu, .. } | Event::SchedWakeupNew { tid, target_cpu, .. } => {
                self.put(time_ns, tid, Some(target_cpu));
            }
            Event::SchedSwitch { prev_tid, prev_state, .. } if prev_tid != 0 && prev_state != 0 => {
                self.put(time_ns, prev_tid, None);
            }
            Event::SchedMigrateTask { tid, orig_cpu, dest_cpu, .. } => {
                if self.runnable.contains_key(&tid) {
                    self.put(time_ns, tid, Some(dest_cpu));
                }
                let asked = self.asked_to[orig_cpu as usize].take_if(|to| *to == dest_cpu);
                self.kinds[ACTIVE].detached += u64::from(asked.is_some() && time_ns >= self.from_ns);
            }
            _ => {}
        }
    }

    fn gate(&mut self, time_ns: u64, gate: &Gate) {
        if time_ns >= self.from_ns {
            self.gates.went_idle(gate.overloaded, gate.searched != 0, gate.avg_idle_ns, gate.cost_ns);
        }
    }

    fn domains(&mut self, time_ns: u64, cpu: u32, by: u32, idle: u32) {
        if time_ns >= self.from_ns {
            self.gates.looked(idle, cpu == by);
        }
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        let asks = balance.end == BalanceEnd::Active;
        if let Some(src) = balance.source().filter(|_| asks) {
            self.asked_to[src as usize] = Some(balance.env.dst_cpu);
        }
        if time_ns < self.from_ns {
            return;
        }
        let kind = match balance.env.idle {
            balance_idle::NEWLY_IDLE => NEWIDLE,
            _ if balance.by != balance.env.dst_cpu => NOHZ_IDLE,
            _ => PERIODIC,
        };
        self.asked += u64::from(asks);
        let counts = &mut self.kinds[kind];
        counts.balances += 1;
        counts.pulls += u64::from(balance.moved > 0);
        counts.detached += u64::from(balance.moved);
    }
}

/// Runs a plan with this seed and counts from `settle_ns` on.
///
/// # Errors
/// As [`run_one`].
pub fn count(
    plan: &Plan,
    seed: u64,
    settle_ns: u64,
    control: Control<'_>,
) -> Result<(BalanceCounts, Report), LabError> {
    count_gates(plan, seed, settle_ns, control).map(|(counts, _, report)| (counts, report))
}

/// Counts balances as [`run_one`] does, and the reasons of the gates.
///
/// # Errors
/// As [`run_one`].
pub fn count_gates(
    plan: &Plan,
    seed: u64,
    settle_ns: u64,
    control: Control<'_>,
) -> Result<(BalanceCounts, GateCounts, Report), LabError> {
    let mut sink = CountSink::new(plan.machine.cpus.len(), settle_ns);
    let report = run_one(plan, seed, &mut sink, control)?;
    let (counts, gates) = sink.finish(report.duration_ns);
    Ok((counts, gates, report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Inputs, PolicySpec, build};

    /// Three tasks on two CPUs that always compute: one CPU has one of them, the other two, and they change places.
    #[test]
    fn busy_tasks_are_runnable_all_the_time() {
        let inputs = Inputs {
            platform: "intel-i7-6700".into(),
            workload: "busy:threads=9".into(),
            duration_ns: Some(2_000_000_000),
            ..Inputs::default()
        };
        let plan = build(&inputs, &PolicySpec::parse("7.2")).expect("good inputs").plan;
        let (counts, _) = count(&plan, 1, 500_000_000, Control::default()).expect("runs");
        assert!((counts.seconds - 1.5).abs() < 1e-9, "{}", counts.seconds);
        let mean: f64 =
            counts.runnable_percent.iter().zip(0u32..).map(|(percent, n)| percent * f64::from(n) / 100.0).sum();
        assert!((mean * 8.0 - 9.0).abs() < 0.01, "{:?}", counts.runnable_percent);
        let balances: u64 = counts.kinds.iter().map(|kind| kind.balances).sum();
        assert!(balances > 0 && counts.kinds[NEWIDLE].balances == 0, "{:?}", counts.kinds);
    }
}
