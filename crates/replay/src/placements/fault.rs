// SPDX-License-Identifier: GPL-2.0-or-later
//! Worlds that are wrong on purpose: a check that passes in them as well would prove nothing.

use pelton_core::{NO_IDLE_STATE, Placement, Policy, value};

use super::gates::Gate;

/// Error put into a record of placements on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every state costs the same for each unit of utilization.
    FlatCosts,
    /// Performance domains are visited in the opposite order.
    DomainOrder,
    /// The fit has no margin of a fifth.
    NoMargin,
    /// The task's utilization is taken for part of the CPU beside the one it is part of.
    UtilStays,
    /// No CPU is taken to be over-utilized: energy decides always.
    OverutilizedIgnored,
    /// Tasks of SCHED_IDLE do not give way.
    IdlePolicyIgnored,
    /// Loads of sleeping tasks do not count.
    LoadsZero,
    /// An idle CPU's left-over clamps are in force.
    ClampsKept,
    /// Groups have a quarter of their capacity.
    GroupCapacity,
    /// The last CPU is taken to run something.
    IdleIsBusy,
    /// CPUs have an eighth less capacity left.
    CapacityLess,
    /// CPUs are left as fast from each idle state.
    LatencyZero,
    /// The deepest idle state is left the fastest.
    LatencyOpposite,
    /// Frequencies are not limited.
    PressureIgnored,
    /// Interrupts take no time.
    InterruptsIgnored,
    /// Balances: no running task waits for a bigger CPU.
    MisfitIgnored,
    /// Gates: no dice are thrown.
    NoDice,
    /// Gates: idle times are taken to be a thousandth.
    ShortIdle,
    /// Gates: some CPU always has two tasks.
    AlwaysOverloaded,
    /// Gates: busy CPUs balance as often as idle ones.
    BusyAsIdle,
    /// Gates: costs of searches fade at every look.
    FadesAlways,
    /// Gates: all CPUs are idle.
    AllIdle,
    /// Gates: intervals are twice as long.
    IntervalTwice,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 23] = [
        Fault::FlatCosts,
        Fault::DomainOrder,
        Fault::NoMargin,
        Fault::UtilStays,
        Fault::OverutilizedIgnored,
        Fault::IdlePolicyIgnored,
        Fault::LoadsZero,
        Fault::ClampsKept,
        Fault::GroupCapacity,
        Fault::IdleIsBusy,
        Fault::CapacityLess,
        Fault::LatencyZero,
        Fault::LatencyOpposite,
        Fault::PressureIgnored,
        Fault::InterruptsIgnored,
        Fault::MisfitIgnored,
        Fault::NoDice,
        Fault::ShortIdle,
        Fault::AlwaysOverloaded,
        Fault::BusyAsIdle,
        Fault::FadesAlways,
        Fault::AllIdle,
        Fault::IntervalTwice,
    ];

    /// True for a fault of gates: a table of placements has nothing that shows it.
    #[must_use]
    pub fn is_of_gates(self) -> bool {
        self as u8 >= Fault::NoDice as u8
    }

    /// True for a fault of balances: a table of placements has nothing that shows it.
    #[must_use]
    pub fn is_of_balances(self) -> bool {
        self.is_of_gates() || self == Fault::MisfitIgnored
    }

    /// Description of the error.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Fault::FlatCosts => "all states cost the same",
            Fault::DomainOrder => "performance domains in the opposite order",
            Fault::NoMargin => "a task may fill a CPU to the brim",
            Fault::UtilStays => "the task's utilization counts on the CPU beside its own",
            Fault::OverutilizedIgnored => "over-utilization is not looked at",
            Fault::IdlePolicyIgnored => "tasks of SCHED_IDLE do not give way",
            Fault::LoadsZero => "loads do not count",
            Fault::ClampsKept => "clamps of idle CPUs are in force",
            Fault::GroupCapacity => "groups have a quarter of their capacity",
            Fault::IdleIsBusy => "the last CPU is never idle",
            Fault::CapacityLess => "CPUs have an eighth less capacity",
            Fault::LatencyZero => "all idle states are left as fast",
            Fault::LatencyOpposite => "the deepest idle state is left the fastest",
            Fault::PressureIgnored => "limits of frequencies take no capacity",
            Fault::InterruptsIgnored => "interrupts take no time",
            Fault::MisfitIgnored => "no task waits for a bigger CPU",
            Fault::NoDice => "no dice are thrown",
            Fault::ShortIdle => "idle times are a thousandth",
            Fault::AlwaysOverloaded => "some CPU always has two tasks",
            Fault::BusyAsIdle => "busy CPUs balance as often as idle ones",
            Fault::FadesAlways => "costs of searches fade at every look",
            Fault::AllIdle => "all CPUs are idle",
            Fault::IntervalTwice => "intervals are twice as long",
        }
    }

    /// Puts it into a record.
    pub fn put(self, record: &mut Placement) {
        let cpus = record.nr_cpus as usize;
        match self {
            Fault::FlatCosts => record.states.iter_mut().for_each(|state| state.cost = 1000),
            Fault::DomainOrder => record.perf_domains[..record.nr_perf_domains as usize].reverse(),
            Fault::NoMargin => record.cpus[..cpus].iter_mut().for_each(|c| c.capacity = c.capacity * 5 / 4),
            Fault::UtilStays => record.task.cpu = (record.task.cpu + 1) % record.nr_cpus,
            Fault::OverutilizedIgnored => record.overutilized = 0,
            Fault::IdlePolicyIgnored => record.cpus[..cpus].iter_mut().for_each(|c| c.h_nr_idle = 0),
            Fault::LoadsZero => record.cpus[..cpus].iter_mut().for_each(|c| c.load = 0),
            Fault::ClampsKept => record.cpus[..cpus].iter_mut().for_each(|c| c.uclamp_idle = 0),
            Fault::GroupCapacity => {
                record.cpus[..cpus].iter_mut().flat_map(|c| &mut c.domains).for_each(|d| d.group_capacity /= 4);
            }
            Fault::IdleIsBusy => record.cpus[cpus - 1].curr_idle = 0,
            Fault::CapacityLess => record.cpus[..cpus].iter_mut().for_each(|c| c.capacity -= c.capacity / 8),
            Fault::LatencyZero => latencies(record, |_| 0),
            Fault::LatencyOpposite => latencies(record, |latency| NO_IDLE_STATE - 1 - latency),
            Fault::PressureIgnored => record.cpus[..cpus].iter_mut().for_each(|c| {
                (c.cpufreq_pressure, c.hw_pressure) = (0, 0);
            }),
            Fault::InterruptsIgnored => record.cpus[..cpus].iter_mut().for_each(|c| c.state.util_irq = 0),
            Fault::MisfitIgnored => record.cpus[..cpus].iter_mut().for_each(|c| c.misfit_load = 0),
            _ => {}
        }
    }

    /// Puts it into the rules that gates are decided by.
    pub(super) fn put_rules(self, policy: &mut Policy) {
        if self == Fault::NoDice {
            policy.newidle_dice = value::NEWIDLE_DICE_OFF;
        }
    }

    /// Puts it into a gate.
    pub(super) fn put_gate(self, gate: &mut Gate) {
        match self {
            Fault::ShortIdle => gate.head.avg_idle /= 1000,
            Fault::AlwaysOverloaded => (gate.head.over, gate.head.x_over) = (1, 1),
            Fault::BusyAsIdle if !gate.is_newidle() => gate.head.only_idle = 1,
            Fault::FadesAlways => gate.level.iter_mut().for_each(|level| level.decayed = 0),
            Fault::AllIdle => {
                gate.level.iter_mut().for_each(|level| (level.idle_cpus, level.x_idle_cpus) = (u64::MAX, u64::MAX));
            }
            Fault::IntervalTwice => gate.level.iter_mut().for_each(|level| level.interval *= 2),
            _ => {}
        }
    }
}

/// Other latencies of the idle states that CPUs are in.
fn latencies(record: &mut Placement, other: impl Fn(u32) -> u32) {
    let cpus = record.cpus[..record.nr_cpus as usize].iter_mut();
    cpus.filter(|c| c.exit_latency_ns != NO_IDLE_STATE).for_each(|c| c.exit_latency_ns = other(c.exit_latency_ns));
}
