// SPDX-License-Identifier: GPL-2.0-or-later
//! State of a run, a CPU and a domain that only frequencies need.

use pelton_core::{Dbs, DbsCpu, Interactive, Policy, SchedDvfs, SugovCpu, SugovPolicy, Vote, value};
use pelton_model::{GivenFrequency, RunConfig};

use crate::freq::demand::Clocks;
use crate::freq::limits::DomainLimits;
use crate::freq::live::Asker;
use crate::freq::thermal::ZoneState;
use crate::freq::timers::CpuTimers;
use crate::state::DomainState;

/// Rules of the kernel below: those of the newest release, whose filter of busy CPUs is off under sched_ext
/// (`sugov_hold_freq`).
pub(crate) fn kernel_below(policy: &Policy) -> Option<Box<Policy>> {
    let kernel = || {
        let mut kernel = Policy::profile("7.2").expect("it exists");
        kernel.hold = value::HOLD_OFF;
        Box::new(kernel)
    };
    (policy.host == value::HOST_LIVE).then(kernel)
}

/// Properties of the hook filter that the engine has to know; the filter itself is the core's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    /// The flag of events that depend on the length of the tick.
    pub long_tick: u32,
    /// The governor takes votes.
    pub takes_votes: bool,
}

impl Hooks {
    /// The filter of a policy on a machine with ticks of this length.
    pub(crate) fn of(policy: &Policy, tick_ns: u64) -> Hooks {
        let long_tick = pelton_core::hook::tick_is_long(tick_ns);
        Hooks { long_tick, takes_votes: pelton_core::governor_votes(policy) }
    }
}

/// Of a run.
#[derive(Debug)]
pub(crate) struct Governing {
    pub hooks: Hooks,
    /// Calls of the governor before this time are not counted.
    pub counted_from_ns: u64,
    /// Frequencies that are given, by domain.
    pub frequencies: Vec<Vec<GivenFrequency>>,
    /// State of the watch over how far frequencies are from the need.
    pub clocks: Clocks,
    /// Thermal zones, where they are cooled.
    pub thermal: Vec<ZoneState>,
    /// Rules of the kernel that gets targets, where the core is a scheduler of sched_ext.
    pub below: Option<Box<Policy>>,
}

impl<S: crate::shape::Run> crate::state::Engine<'_, S> {
    /// The kernel's schedutil gets all events.
    #[inline]
    pub(crate) fn is_by_schedutil(&self) -> bool {
        self.policy.governor == value::GOVERNOR_SCHEDUTIL && self.policy.host != value::HOST_LIVE
    }

    /// Context switches are events.
    #[inline]
    pub(super) fn hooks_switches(&self) -> bool {
        self.policy.hook_filter == value::HOOK_FILTER_H3 && self.policy.host != value::HOST_LIVE
    }
}

impl Governing {
    /// Nothing is watched yet.
    pub(crate) fn new(policy: &Policy, cfg: &RunConfig, tick_ns: u64, thermal: Vec<ZoneState>) -> Governing {
        Governing {
            hooks: Hooks::of(policy, tick_ns),
            counted_from_ns: cfg.counted_from_ns,
            frequencies: cfg.frequencies.clone(),
            clocks: Clocks::default(),
            thermal,
            below: kernel_below(policy),
        }
    }
}

/// Of a CPU.
#[derive(Debug, Default)]
pub(crate) struct CpuGoverned {
    pub sugov: SugovCpu,
    /// Its timers of the governor.
    pub timers_of: CpuTimers,
    /// Its last sample.
    pub dbs: DbsCpu,
    /// Request of its own, where the core is a scheduler of sched_ext.
    pub asker: Option<Box<Asker>>,
}

/// Of a domain.
#[derive(Debug)]
pub(crate) struct DomainGoverned {
    pub sugov: SugovPolicy,
    /// sched-DVFS.
    pub sd: SchedDvfs,
    /// Votes of its CPUs.
    pub votes: Vec<Vote>,
    /// A kick of the worker is under way.
    pub kick_pending: bool,
    /// ondemand and conservative.
    pub dbs: Dbs,
    /// interactive.
    pub interactive: Interactive,
    /// A sample waits for a CPU to execute.
    pub sample_deferred: bool,
    /// Generation of the sample's timer that counts; older events are stale.
    pub sample_generation: u32,
    pub limits: DomainLimits,
    /// The frequency it started with, which userspace said.
    pub told_khz: u32,
    /// Those that the governor knows, with marks of those that it passes over; none where the driver has no table, and
    /// it may ask for anything.
    pub governor_khz: Vec<u32>,
    /// Task index of its worker thread, if it has one.
    pub worker_task: Option<u32>,
    /// Frequency the worker is setting.
    pub setting_khz: u32,
    pub in_driver: bool,
    /// A kick arrived while the worker was busy.
    pub kicked: bool,
    /// Frequency that the governor's formula asked for last, when the run is watched.
    pub needed_khz: u32,
}

impl DomainGoverned {
    /// Task `t` is its worker thread.
    pub(crate) fn works_by(&mut self, t: u32) {
        self.worker_task = Some(t);
    }

    /// Generation of the sample's timer that counts; older events are stale.
    pub(crate) fn sample_generation(&self) -> u32 {
        self.sample_generation
    }
}

impl DomainState {
    /// Frequencies that the governor knows.
    pub(super) fn governor_table(&self) -> &[u32] {
        &self.freq.governor_khz
    }

    /// The governor and its table.
    pub(super) fn governor(&mut self) -> (&mut SugovPolicy, &[u32]) {
        (&mut self.freq.sugov, &self.freq.governor_khz)
    }

    /// Frequency that the hardware is set to when `khz` is asked for: without a table the lowest operating point that
    /// suffices.
    pub(super) fn settable_khz(&self, khz: u32) -> u32 {
        if !self.freq.governor_khz.is_empty() {
            return khz;
        }
        let all = self.hw.khz();
        all.iter().copied().find(|&k| k >= khz).or(all.last().copied()).unwrap_or(khz)
    }
}
