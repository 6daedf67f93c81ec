// SPDX-License-Identifier: GPL-2.0-only
//! The state of a run, its queue of events, and the one way in which a run is told to a sink. Knows events only.

pub(crate) mod called;
pub(crate) mod queue;
pub(crate) mod rest;
pub(crate) mod rng;
pub(crate) mod state;
pub(crate) mod timers;

use std::collections::VecDeque;

use pelton_core::{Policy, value};
use pelton_schema::{Event, Sink, Walk};

use crate::class::fair::FairRules;
use crate::cpu::clock::SignalClock;
use crate::engine::queue::EventQueue;
use crate::engine::rng::RunRng;
use crate::engine::state::{CpuState, DomainState, Task};
use crate::program::sync::Objects;
use crate::rq::groups::Groups;
use pelton_model::GivenFrequency;
use pelton_model::machine::Machine;
use pelton_model::workload::Workload;

/// What of the hook filter the engine has to know; the filter itself is the core's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    /// Context switches are events.
    pub switches: bool,
    /// The flag of events that depend on the length of the tick.
    pub long_tick: u32,
    /// The governor takes votes.
    pub votes: bool,
}

impl Hooks {
    /// The filter of a policy on a machine with ticks of this length.
    pub(crate) fn of(policy: &Policy, tick_ns: u64) -> Hooks {
        let switches = policy.hook_filter == value::HOOK_FILTER_H3;
        let long_tick = pelton_core::hook::tick_is_long(tick_ns);
        Hooks { switches, long_tick, votes: pelton_core::governor_votes(policy) }
    }
}

/// One run in progress.
pub(crate) struct Engine<'a, S: Sink> {
    pub m: &'a Machine,
    pub w: &'a Workload,
    pub policy: &'a Policy,
    pub fair_rules: FairRules<'a>,
    pub hooks: Hooks,
    /// Task groups of the workload.
    pub groups: Groups,
    /// Some of them have a quota, and it is kept.
    pub quotas: bool,
    /// CPUs differ in capacity.
    pub asymmetric: bool,
    /// Boost groups of the workload.
    pub boosts: crate::rq::boosts::Boosts,
    /// Somebody asked for utilization clamps by now (`sched_uclamp_used`).
    pub clamped: bool,
    /// Clamps are in use, and they add up.
    pub clamp_sums: bool,
    /// Groups count for a part of each CPU at most.
    pub limits_groups: bool,
    /// Where fair tasks go from 5.10 on.
    pub placing: crate::sched::placing::Placing,
    /// Which tasks are moved between CPUs, from 5.10 on.
    pub balancing: crate::sched::balancing::Balancing,
    /// Which caches tasks prefer, from 7.2 on.
    pub caches: crate::cpu::cache_aware::CacheAware,
    pub now: u64,
    /// The kernel's clocks at time 0 of the run.
    pub boot_ns: u64,
    /// Calls of the governor before this time are not counted.
    pub counted_from_ns: u64,
    /// Time as the signals see it.
    pub signal_clock: SignalClock,
    pub end_ns: u64,
    pub tick_ns: u64,
    pub tick_phase_ns: u64,
    pub queue: EventQueue,
    pub cpus: Vec<CpuState>,
    pub tasks: Vec<Task>,
    pub domains: Vec<DomainState>,
    /// Frequencies that are given, by domain.
    pub frequencies: Vec<Vec<GivenFrequency>>,
    pub objects: Objects,
    pub shared_timers: Vec<crate::engine::state::TimerState>,
    pub resched: VecDeque<u32>,
    /// CPU that executes the code of the current event.
    pub exec: u32,
    pub rng: RunRng,
    pub sink: S,
    pub sim_events: u64,
    pub living: u32,
    /// CPUs on which a fair task waits behind another task.
    pub overloaded: pelton_model::workload::CpuSet,
    /// CPUs with nothing to run.
    pub idle: pelton_model::workload::CpuSet,
    /// Cache group of each CPU.
    pub llc_of: Vec<u32>,
    /// The CPUs with each of these numbers.
    pub llc_sets: Vec<pelton_model::workload::CpuSet>,
    /// CPUs that went idle without their tick, and no tick found them busy since.
    pub nohz: pelton_model::workload::CpuSet,
    /// CPUs of whose state placement and balancing know all.
    pub fresh_rows: rest::Rows,
    /// CPUs on which an RT task waits (a pull can only succeed when there is one).
    pub rt_waiting: pelton_model::workload::CpuSet,
    /// CPUs on which a deadline task waits.
    pub dl_waiting: pelton_model::workload::CpuSet,
    pub chores: Chores,
    /// What each CPU asks of its frequency domain.
    pub targets: crate::cpu::requests::Targets,
    /// What is watched of how far frequencies are from the need.
    pub clocks: crate::freq::demand::Clocks,
    /// Thermal zones, where they are cooled.
    pub thermal: Vec<crate::freq::thermal::ZoneState>,
    pub cluster_energy: Vec<crate::hw::energy::ClusterEnergy>,
    /// Idle states of each domain as the governor sees them.
    pub idle_tables: Vec<pelton_core::IdleTable>,
    /// Speed depends on neighbours (`speed.rs`).
    pub shared_hardware: bool,
    /// Cores with a thread awake, by cluster; counted when hardware is shared.
    pub active_cores: Vec<u32>,
    /// When each cluster is out of the state that its CPUs share, or was last.
    pub cluster_up_ns: Vec<u64>,
    /// Steps since time last advanced.
    pub instant_steps: u32,
    /// A task that spins without consuming time.
    pub spinning: Option<u32>,
}

/// What a room asks for that stands above it: a task is to be woken, by the CPU that executes that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wakeup {
    pub task: u32,
    pub exec: u32,
}

/// What is done for all CPUs once in a while.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chores {
    /// Tasks whose list was called and that have not run since.
    pub called: Vec<called::Called>,
    /// CPUs whose load is another, because a queue of theirs may run again.
    pub freed: Vec<u32>,
    /// End of the real-time limit's period; 0 = nobody needs one.
    pub rt_period_end_ns: u64,
    /// When the next walk over idle CPUs is due for their load, ticks.
    pub next_blocked_ticks: u64,
    /// The same to balance.
    pub next_balance_ticks: u64,
    /// An idle CPU without tick may have load to refresh.
    pub idle_blocked: bool,
    /// CPUs with two runnable tasks or more, of all classes.
    pub crowded: pelton_model::workload::CpuSet,
    /// CPUs whose averages may have load that still fades.
    pub blocked: pelton_model::workload::CpuSet,
    /// CPUs that remember the cost of a search.
    pub fading: pelton_model::workload::CpuSet,
    /// Some CPU had two tasks when one was last enqueued, or when all were last looked at.
    pub overload: bool,
    /// When the kernel paths of all CPUs are done, where CPUs execute one after another, ns.
    pub turns_end_ns: u64,
}

impl<S: Sink> Engine<'_, S> {
    /// Averages of CPU `c` may have load that still fades.
    #[inline]
    pub(crate) fn is_blocked(&self, c: u32) -> bool {
        self.chores.blocked.contains(c)
    }

    /// The same is so, or no longer.
    #[inline]
    pub(crate) fn set_blocked(&mut self, c: u32, is: bool) {
        self.chores.blocked.set(c, is);
    }

    /// Where CPUs execute one after another: how long a path that is to begin at `ready_ns` waits until those of other
    /// CPUs are done, ns. It is one of them from then on.
    pub(crate) fn awaits_turn(&mut self, ready_ns: u64, wall_ns: u64) -> u64 {
        let begin_ns = ready_ns.max(self.chores.turns_end_ns);
        self.chores.turns_end_ns = begin_ns.saturating_add(wall_ns);
        begin_ns - ready_ns
    }

    /// How long before `at` the machine's ticks were due, ns.
    pub(crate) fn since_tick(&self, at: u64) -> u64 {
        (at + self.tick_ns - self.tick_phase_ns) % self.tick_ns
    }

    /// Tells a sink that asks for it of an update of blocked load.
    #[inline]
    pub(crate) fn tell_walk(&mut self, walk: &Walk) {
        if S::BALANCES {
            self.sink.walk(self.now, walk);
        }
    }

    /// Tells the sink; free when the sink is off.
    #[inline]
    pub(crate) fn emit(&mut self, event: Event) {
        if S::ACTIVE {
            self.sink.event(self.now, &event);
        }
    }
}
