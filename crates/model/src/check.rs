// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks of machine and workload, alone and together.

use std::fmt;

use crate::draws::{Rail, Vote};
use crate::machine::Machine;
use crate::workload::{ChannelSpec, CpuSet, Op, SchedPolicy, Start, TaskSpec, TimerId, Workload};

/// An input that cannot be, or inputs that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(pub String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanError {}

/// Checks what machine and workload have to be under any policy.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(m: &Machine, w: &Workload) -> Result<(), PlanError> {
    if m.cpus.is_empty() || m.domains.is_empty() {
        return Err(PlanError("the machine has no CPUs".into()));
    }
    check_channels(w)?;
    check_cpus(m, w)?;
    check_draws(m)?;
    if m.shares_hardware() && m.domains.iter().any(|domain| domain.firmware_poll_ns > 0) {
        return Err(PlanError("firmware that polls, and CPUs whose speed depends on their neighbours".into()));
    }
    if let Some(task) = w.tasks.iter().find(|t| !t.policies().all(deadline_in_order)) {
        return Err(PlanError(format!(
            "task '{}': SCHED_DEADLINE needs 0 < runtime <= deadline <= period, all below 2^62 ns",
            task.name
        )));
    }
    if let Some(task) = w.tasks.iter().find(|t| t.first_phases > 0 && t.first_phases as usize >= t.phases.len()) {
        return Err(PlanError(format!("task '{}' has no phase that is repeated", task.name)));
    }
    Ok(())
}

/// Curves of what is drawn have a figure for each operating point and idle state of their domain, and votes are of
/// domains and rails that there are.
fn check_draws(m: &Machine) -> Result<(), PlanError> {
    let fits = |d: &crate::machine::FreqDomain| {
        let is_row = |row: &Vec<u64>| row.is_empty() || row.len() == d.opps.len();
        let is_rail = |rail: &Rail| {
            let by_state = [&rail.idle_uw, &rail.shared_idle_uw];
            rail.busy_uw.len() == d.opps.len()
                && is_row(&rail.shared_uw)
                && rail.idle_uw.len() == d.idle_states.len()
                && by_state.into_iter().flatten().all(is_row)
        };
        let rails = d.draws.rails.len() as u32;
        let is_vote = |vote: &Vote| (vote.domain as usize) < m.domains.len() && vote.rails.iter().all(|&r| r < rails);
        d.draws.rails.iter().all(is_rail) && d.draws.votes.iter().all(is_vote)
    };
    match m.domains.iter().find(|d| !fits(d)) {
        Some(domain) => Err(PlanError(format!(
            "what domain '{}' draws has not one figure for each of its operating points and idle states",
            domain.name
        ))),
        None => Ok(()),
    }
}

/// Every set of CPUs that a task is given has one of the machine.
fn check_cpus(m: &Machine, w: &Workload) -> Result<(), PlanError> {
    let n = m.cpus.len() as u32;
    let off_machine = |task: &&TaskSpec| cpu_sets(task).iter().any(|set| !set.iter().any(|c| c < n));
    match w.tasks.iter().find(off_machine) {
        Some(task) => {
            Err(PlanError(format!("task '{}' may only run on CPUs that {} does not have", task.name, m.name)))
        }
        None => Ok(()),
    }
}

fn cpu_sets(task: &TaskSpec) -> Vec<CpuSet> {
    let sets = task.phases.iter().filter_map(|p| p.cpus.as_ref()).chain(task.cpus.as_ref()).cloned();
    let moves = task.phases.iter().flat_map(|p| &p.ops);
    let moves = moves.filter_map(|op| if let Op::MoveAsleep { cpu } = *op { Some(CpuSet::of([cpu])) } else { None });
    let asleep = if let Start::Asleep { cpu } = task.start { Some(CpuSet::of([cpu])) } else { None };
    sets.chain(moves).chain(asleep).collect()
}

/// True where the parameters of a deadline task are as the kernel demands.
fn deadline_in_order(policy: SchedPolicy) -> bool {
    match policy {
        SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns } => {
            runtime_ns > 0 && runtime_ns <= deadline_ns && deadline_ns <= period_ns && period_ns < 1 << 62
        }
        _ => true,
    }
}

/// Sizes of channels that can be used.
const CHANNEL_ALLOWED: &str = "a pipe has 1 to 1048576 pages, a socket a send buffer of 4608 to 1073741824 bytes";

/// Checks the sizes of the channels.
fn check_channels(w: &Workload) -> Result<(), PlanError> {
    match w.channels.iter().find(|ch| !channel_in_order(ch)) {
        Some(channel) => Err(PlanError(format!("{channel:?}: {CHANNEL_ALLOWED}"))),
        None => Ok(()),
    }
}

fn channel_in_order(channel: &ChannelSpec) -> bool {
    match *channel {
        ChannelSpec::Pipe { pages } => (1..=1 << 20).contains(&pages),
        ChannelSpec::Stream { send_buffer_bytes } => (4608..=1 << 30).contains(&send_buffer_bytes),
    }
}

/// Checks that each object that an operation names exists.
///
/// # Errors
/// The first task that names one that does not.
pub fn dangling(w: &Workload) -> Result<(), PlanError> {
    let timer_exists = |t: &TaskSpec, timer| match timer {
        TimerId::Own(i) => i < t.own_timers,
        TimerId::Shared(i) => i < w.shared_timers,
    };
    let ok = |t: &TaskSpec, op: &Op| match *op {
        Op::Lock(m) | Op::Unlock(m) => m < w.mutexes,
        Op::Wait { cond, mutex } | Op::Sync { cond, mutex } => cond < w.conds && mutex < w.mutexes,
        Op::Signal(c) | Op::Broadcast(c) | Op::Suspend(c) | Op::Resume(c) => c < w.conds,
        Op::Barrier(b) => (b as usize) < w.barriers.len(),
        Op::SemPost(s) | Op::SemWait(s) | Op::SemDrain(s) => (s as usize) < w.semaphores.len(),
        Op::Enlist(l) | Op::CallAll(l) => l < w.lists,
        Op::Fork { task } => (task as usize) < w.tasks.len(),
        Op::Spawn { task } => w.tasks.get(task as usize).is_some_and(|t| t.start == Start::OnFork),
        Op::Write { channel, .. } | Op::Read { channel, .. } | Op::Poll { channel } => {
            (channel as usize) < w.channels.len()
        }
        Op::Timer { timer, .. } | Op::TimerLatency(timer) => timer_exists(t, timer),
        _ => true,
    };
    let bad = |t: &&TaskSpec| t.phases.iter().flat_map(|p| &p.ops).any(|op| !ok(t, op));
    match w.tasks.iter().find(bad).map(|t| &t.name) {
        Some(task) => Err(PlanError(format!("task '{task}' uses a resource that the workload does not declare"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Cpu, FreqDomain};
    use crate::workload::Phase;

    fn machine() -> Machine {
        Machine {
            name: "m".into(),
            cpus: vec![Cpu::default()],
            domains: vec![FreqDomain::default()],
            ..Machine::default()
        }
    }

    #[test]
    fn a_round_has_a_phase() {
        let spec = |first_phases| TaskSpec { phases: vec![Phase::default(); 2], first_phases, ..TaskSpec::default() };
        assert_eq!(check(&machine(), &with(spec(1))), Ok(()));
        let e = check(&machine(), &with(spec(2))).expect_err("nothing is left for a round");
        assert_eq!(e.0, "task 't' has no phase that is repeated");
    }

    fn with(task: TaskSpec) -> Workload {
        Workload { tasks: vec![TaskSpec { name: "t".into(), ..task }], ..Workload::default() }
    }

    #[test]
    fn machine_and_workload_go_together_or_say_why_not() {
        let error = |w: &Workload| check(&machine(), w).expect_err("refused").0;
        assert_eq!(check(&machine(), &with(TaskSpec::default())), Ok(()));
        assert!(check(&Machine::default(), &Workload::default()).is_err(), "no CPUs");
        let elsewhere = with(TaskSpec { cpus: Some(CpuSet::of([1])), ..TaskSpec::default() });
        assert_eq!(error(&elsewhere), "task 't' may only run on CPUs that m does not have");
        assert!(check(&machine(), &with(TaskSpec { start: Start::Asleep { cpu: 7 }, ..TaskSpec::default() })).is_err());
        let deadline = SchedPolicy::Deadline { runtime_ns: 2, deadline_ns: 1, period_ns: 3 };
        assert!(
            error(&with(TaskSpec { policy: deadline, ..TaskSpec::default() })).starts_with("task 't': SCHED_DEADLINE")
        );
        let pipe = Workload { channels: vec![ChannelSpec::Pipe { pages: 0 }], ..Workload::default() };
        assert!(error(&pipe).contains(CHANNEL_ALLOWED));
    }

    #[test]
    fn objects_have_to_exist() {
        let takes = |m| {
            with(TaskSpec { phases: vec![Phase { ops: vec![Op::Lock(m)], ..Phase::default() }], ..TaskSpec::default() })
        };
        let w = |m| Workload { mutexes: 1, ..takes(m) };
        assert_eq!(dangling(&w(0)), Ok(()));
        assert_eq!(
            dangling(&w(1)).expect_err("no such mutex").0,
            "task 't' uses a resource that the workload does not declare"
        );
    }
}
