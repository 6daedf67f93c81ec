// SPDX-License-Identifier: GPL-2.0-or-later
//! The machine a run takes place on. Built by `pelton-scenario` from a platform file, checked there.

use serde::Serialize;

use crate::draws::{Draws, Rail};
use crate::thermal::ThermalZone;

/// LOCAL_DISTANCE: of a memory node to itself.
pub const NODE_DISTANCE_LOCAL: u32 = 10;
/// REMOTE_DISTANCE: to another, where the firmware states none.
pub const NODE_DISTANCE_REMOTE: u32 = 20;

/// A complete machine. CPU numbers are indices into `cpus`, domain numbers into `domains`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// Name of the platform, for reports.
    pub name: String,
    /// CPUs in number order.
    pub cpus: Vec<Cpu>,
    /// Frequency domains (cpufreq policies).
    pub domains: Vec<FreqDomain>,
    /// Groups of CPUs that share a last-level cache; every CPU is in exactly one.
    pub llcs: Vec<Vec<u32>>,
    /// Memory nodes; every CPU is in exactly one, no cache is shared between them. Empty = one node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Vec<u32>>,
    /// Distance between two nodes as the firmware states it (SLIT, 10 = the node itself), nested: the nodes within any
    /// distance of a node are the same for all of them. Empty = 20 between any two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_distances: Vec<Vec<u32>>,
    /// Groups of CPUs that share a power-down cluster (for cluster power); every CPU is in exactly one.
    pub clusters: Vec<Cluster>,
    /// Thermal zones; a plan whose policy cools none has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thermal_zones: Vec<ThermalZone>,
    /// Timer interrupts per second: 100, 250, 300 or 1000.
    pub hz: u32,
    /// Time every scheduler path takes; all zero = pure mechanism.
    pub costs: Costs,
    /// Work that the busy threads of a core do together, percent of what one of them alone does; 0 = they do not slow
    /// each other down.
    pub smt_throughput_pct: u32,
    /// Idle CPUs watch their need-resched flag (x86 `mwait`): waking one takes no interrupt.
    pub idle_watches_flag: bool,
    /// The architecture puts off the programming of timers to the end of an interrupt or switch (HRTIMER_REARM_DEFERRED
    /// of 7.2: x86, not arm64): timers that end requests and reservations are cheap enough to be on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub defers_timers: bool,
    /// All CPUs of a cluster run at the highest of their requests, whatever their domains.
    pub one_clock: bool,
    /// Power that domains draw is in a unit of its own, not in microwatts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_unit: bool,
    /// Power of what else the board's meter sees, the same all the time; in microwatts, or that unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_uw: Option<u64>,
}

/// One logical CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cpu {
    /// Capacity at the domain's highest frequency, 1..=1024.
    pub capacity: u32,
    /// Frequency domain.
    pub domain: u32,
    /// Cluster.
    pub cluster: u32,
    /// SMT siblings including itself; one entry without SMT.
    pub smt: Vec<u32>,
}

/// CPUs that always run at one frequency.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FreqDomain {
    /// Name, for reports.
    pub name: String,
    /// CPUs of the domain.
    pub cpus: Vec<u32>,
    /// Operating points, ascending by frequency; never empty.
    pub opps: Vec<Opp>,
    /// Reference frequency at which `capacity` holds (usually the highest), kHz.
    pub ref_khz: u32,
    /// Driver switches synchronously from scheduler context.
    pub fast_switch: bool,
    /// Driver may be programmed from a CPU outside the domain.
    pub dvfs_from_any_cpu: bool,
    /// Latency the driver reports; basis of the default rate limit. 0 = unknown.
    pub transition_latency_ns: u64,
    /// Minimum spacing the driver asks for, wins over the latency.
    pub transition_delay_us: Option<u64>,
    /// Time that the driver call really takes in the simulator, ns (slow path: time of the worker; fast path: stall).
    pub switch_time_ns: u64,
    /// Firmware looks so often for a frequency that the driver wrote into shared memory, ns: the kernel believes in it
    /// at once, the clock follows at the next look. 0 = when the driver returns.
    pub firmware_poll_ns: u64,
    /// Time from such a look until the clock rises, ns: the voltage rises first. It falls at once.
    pub firmware_raise_ns: u64,
    /// Time from a tick to such a look, ns; `None` = not known, and with random phases any.
    pub firmware_after_tick_ns: Option<u64>,
    /// The driver call of the slow path sleeps (mailbox, I2C) instead of keeping the CPU busy.
    pub driver_sleeps: bool,
    /// `rate_limit_us` written by the user; `None` = default of the profile.
    pub rate_limit_us: Option<u64>,
    /// Frequency at the start of a run, kHz; 0 = lowest.
    pub initial_khz: u32,
    /// Idle states, shallow to deep; state 0 is WFI/C1 or polling.
    pub idle_states: Vec<IdleState>,
    /// State 0 polls: it draws the power of running.
    pub polling: bool,
    /// Frequency invariance (the scheduler gets the current frequency from the architecture).
    pub freq_invariant: bool,
    /// The driver has no frequency table (intel_pstate and amd-pstate in passive mode): the governor asks for any kHz,
    /// the driver sets the lowest operating point that suffices, and none when it is the present one.
    pub no_table: bool,
    /// The driver wants a call after every change of limits (CPUFREQ_NEED_UPDATE_LIMITS).
    pub every_limit_change: bool,
    /// Frequency at which the invariant scale is 1024, kHz; 0 = `ref_khz`.
    pub scale_khz: u32,
    /// The architecture states the frequency to which the kernel's signals are scaled (`arch_scale_freq_ref()`: arm,
    /// arm64, riscv).
    pub freq_ref: bool,
    /// Highest frequency by number of active cores of the cluster, from 1, kHz; empty = no such limit.
    pub turbo_khz: Vec<u32>,
    /// Power of each operating point as the kernel's Energy Model has it, microwatts; empty = not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub energy_model_uw: Vec<u64>,
    /// Power that its CPUs and their shared parts draw, where that is another figure than the one that the kernel
    /// believes.
    #[serde(skip_serializing_if = "Draws::is_empty")]
    pub draws: Draws,
    /// Points that the kernel itself said it passes over; empty = it said nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inefficient: Vec<bool>,
}

/// One operating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Opp {
    /// Frequency, kHz.
    pub khz: u32,
    /// Voltage, microvolts; 0 = unknown.
    pub uv: u32,
    /// Power of one fully busy CPU as the kernel has it, microwatts; 0 at every point of a domain = not known.
    pub power_uw: u64,
}

/// One idle state.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IdleState {
    /// Name.
    pub name: String,
    /// Time to enter, ns.
    pub entry_latency_ns: u64,
    /// Time to leave, ns: added to the wake-up.
    pub exit_latency_ns: u64,
    /// Time to leave that grows with the frequency the CPU leaves for, ns for each GHz: the voltage has to rise to it.
    pub exit_ns_per_ghz: u64,
    /// Exit latency that the governor reckons with, ns; 0 = entry and exit.
    pub reported_latency_ns: u64,
    /// Shortest stay that pays, ns.
    pub min_residency_ns: u64,
    /// Power of one CPU in this state, microwatts; `None` = not known.
    pub power_uw: Option<u64>,
    /// Only all CPUs of a cluster together can be in it.
    pub shared: bool,
}

impl IdleState {
    /// Worst time from an event to execution, as the governor believes it.
    pub fn wakeup_latency_ns(&self) -> u64 {
        if self.reported_latency_ns > 0 {
            return self.reported_latency_ns;
        }
        self.entry_latency_ns + self.exit_latency_ns
    }
}

/// CPUs that share a cluster power rail.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cluster {
    /// Name.
    pub name: String,
    /// CPUs.
    pub cpus: Vec<u32>,
    /// Power while at least one CPU is awake, by OPP index of its domain; empty = 0.
    pub active_power_uw: Vec<u64>,
    /// Power while all CPUs are in an idle state, indexed by the shallowest of them; empty = 0.
    pub idle_power_uw: Vec<u64>,
}

/// Time each path takes on a CPU of capacity 1024 at its highest frequency, ns; slower CPUs take longer in proportion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// Switching to a task.
    pub context_switch_ns: u64,
    /// Waking a task (on the waker).
    pub wakeup_ns: u64,
    /// The periodic tick.
    pub tick_ns: u64,
    /// One call of the governor's hook (on the CPU that executes it).
    pub hook_ns: u64,
    /// A vote of sched-DVFS that its window refuses.
    pub vote_ns: u64,
    /// Counting a task in its boost group, at each enqueue and dequeue.
    pub boost_ns: u64,
    /// Programming a new frequency from there (fast switch).
    pub register_write_ns: u64,
    /// Cache refill after a migration (when the task first runs on the destination).
    pub migration_ns: u64,
    /// Taking an interrupt that another CPU, or deferred work of this one, sent.
    pub ipi_ns: u64,
    /// Kernel's way into an idle state: switch to the idle task, governor, tick.
    pub idle_entry_ns: u64,
    /// Kernel's way out of it.
    pub idle_exit_ns: u64,
    /// Updating the load of a CPU, before any of its queues.
    pub blocked_walk_ns: u64,
    /// Updating the load of each queue of a task group on the list of that CPU, and of the root queue.
    pub blocked_queue_ns: u64,
    /// Asking one CPU of a frequency domain when the governor evaluates.
    pub hook_cpu_ns: u64,
    /// Looking at one CPU in the search of a CPU that goes idle.
    pub balance_cpu_ns: u64,
    /// Choosing a CPU by energy for a task that wakes or is new, on the CPU that places it.
    #[serde(skip_serializing_if = "crate::config::is_zero")]
    pub place_energy_ns: u64,
    /// Looking at one CPU in the search for an idle one, on the CPU that places a task.
    #[serde(skip_serializing_if = "crate::config::is_zero")]
    pub scan_cpu_ns: u64,
    /// Nothing is behind the frequencies of an emulated machine: all of these are the same at any of them, and on every
    /// CPU.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_any_speed: bool,
    /// CPUs of an emulator with one thread execute one after another: a path of the kernel begins when those of other
    /// CPUs are done. What tasks work is not held up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_at_a_time: bool,
}

impl Costs {
    /// Refreshing the load of CPUs takes time.
    pub fn blocked(&self) -> bool {
        self.blocked_walk_ns > 0 || self.blocked_queue_ns > 0
    }
}

impl Machine {
    /// Distance between two nodes.
    pub fn node_distance(&self, a: usize, b: usize) -> u32 {
        let usual = if a == b { NODE_DISTANCE_LOCAL } else { NODE_DISTANCE_REMOTE };
        self.node_distances.get(a).and_then(|row| row.get(b)).copied().unwrap_or(usual)
    }

    /// The node of a CPU.
    pub fn node_of(&self, cpu: u32) -> Option<usize> {
        self.nodes.iter().position(|node| node.contains(&cpu))
    }

    /// Nanoseconds between ticks.
    pub fn tick_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.hz.max(1))
    }

    /// The idle state CPU `c` is in when it asked for `state`, and whether all CPUs of its cluster are in it together.
    /// `asked` returns the state that a CPU asked for, `None` = the CPU is not idle. A state of the cluster that not
    /// all of its CPUs asked for is not reached: the CPU is in the deepest one of its own then.
    pub fn reached_idle_state(&self, c: u32, state: u32, asked: impl Fn(u32) -> Option<u32>) -> (u32, bool) {
        let shared = |c: u32, state: u32| {
            let states = self.cpus.get(c as usize).map(|cpu| &self.domains[cpu.domain as usize].idle_states);
            states.and_then(|states| states.get(state as usize)).is_some_and(|s| s.shared)
        };
        if !shared(c, state) {
            return (state, false);
        }
        let asks = |&near: &u32| asked(near).is_some_and(|state| shared(near, state));
        let cluster = self.clusters.get(self.cpus[c as usize].cluster as usize);
        if cluster.is_some_and(|cluster| cluster.cpus.iter().all(asks)) {
            return (state, true);
        }
        ((0..state).rev().find(|&s| !shared(c, s)).unwrap_or(0), false)
    }
}

impl FreqDomain {
    /// Frequency at which invariant signals reach 1024, kHz.
    pub fn signals_khz(&self) -> u32 {
        if self.scale_khz == 0 { self.ref_khz } else { self.scale_khz }
    }

    /// Frequency at which invariant signals reach 1024, kHz, where the architecture states it to the governor; else 0.
    pub fn told_scale_khz(&self) -> u32 {
        if self.freq_ref { self.signals_khz() } else { 0 }
    }

    /// Frequency that limits take capacity from, kHz: the one that the architecture states, else the highest.
    pub fn limits_ref_khz(&self) -> u32 {
        if self.freq_ref { self.signals_khz() } else { self.ref_khz }
    }

    /// The platform gives the power of a busy CPU.
    pub fn active_power_known(&self) -> bool {
        self.model_power_known() || self.draws.rails.iter().any(|rail| rail.busy_uw.iter().any(|&uw| uw > 0))
    }

    /// The kernel has a power for a busy CPU.
    pub fn model_power_known(&self) -> bool {
        self.opps.iter().any(|opp| opp.power_uw > 0)
    }
}

impl Machine {
    /// Threads share cores, or cores share a clock or a turbo budget: speed depends on what the neighbours do.
    pub fn shares_hardware(&self) -> bool {
        self.one_clock
            || self.cpus.iter().any(|c| c.smt.len() > 1)
            || self.domains.iter().any(|d| !d.turbo_khz.is_empty())
    }

    /// Power figures that the machine has, and with them the energy of its runs.
    pub fn energy_basis(&self) -> EnergyBasis {
        let rails: Vec<Rail> = (0..self.domains.len()).filter_map(|d| self.drawn(d).rails.into_iter().next()).collect();
        // A polling state draws the power of running.
        let idle = |(d, rail): (&FreqDomain, &Rail)| {
            rail.idle_uw.iter().skip(usize::from(d.polling)).all(|power| !power.is_empty())
        };
        let shared = |part: &crate::draws::Shared| {
            let domain = part.cpus.first().map_or(0, |&c| self.cpus[c as usize].domain);
            rails.get(domain as usize).is_some_and(|rail| !rail.shared_uw.is_empty())
        };
        EnergyBasis {
            active: !self.domains.is_empty() && self.domains.iter().all(FreqDomain::active_power_known),
            idle: self.domains.iter().zip(&rails).all(idle),
            clusters: self.shared_parts().iter().all(shared),
            own_unit: self.own_unit,
        }
    }
}

/// Power figures of the machine that are known. Unknown power of idle CPUs and of clusters counts as nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyBasis {
    /// Of busy CPUs, in every domain.
    pub active: bool,
    /// Of every idle state.
    pub idle: bool,
    /// Of what the CPUs of a cluster share.
    pub clusters: bool,
    /// The figures are in a unit of their own, other than the kernel's milliwatts.
    pub own_unit: bool,
}

impl EnergyBasis {
    /// Parts that an energy leaves out, in words; `None` when all figures are known.
    pub fn gap(self) -> Option<&'static str> {
        match (self.active, self.idle, self.clusters) {
            (false, ..) => Some("not known: the platform gives no power of busy CPUs"),
            (true, false, false) => Some("active power only: idle and cluster power are not known"),
            (true, false, true) => Some("active and cluster power only: idle power is not known"),
            (true, true, false) => Some("without clusters: their power is not known"),
            (true, true, true) => None,
        }
    }
}
