// SPDX-License-Identifier: GPL-2.0-or-later
//! Totals of a run.

use pelton_model::machine::EnergyBasis;

pub use crate::kernel_code::{Difference, KernelReport, OperationReport};
use crate::observe::samples::Samples;

/// Totals of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Simulated time, ns.
    pub duration_ns: u64,
    /// Simulation events processed.
    pub sim_events: u64,
    /// Per task, in task order.
    pub tasks: Vec<TaskReport>,
    /// Per CPU.
    pub cpus: Vec<CpuReport>,
    /// Per frequency domain.
    pub domains: Vec<DomainReport>,
    /// Distance of the frequency from the need, per clock: domains that run as fast as the fastest of them asks for
    /// share one. Empty when the run was not watched.
    pub demand: Vec<DemandReport>,
    /// Energy of the shared cluster rails, microjoules, per cluster.
    pub cluster_energy_uj: Vec<u64>,
    /// Energy of what else the board's meter sees, microjoules; `None` where its power is not known.
    pub rest_energy_uj: Option<u64>,
    /// Power figures that the energies rest on.
    pub energy_basis: EnergyBasis,
    /// Time in which some CPU was over-utilized, ns; `None` where nothing is placed by energy.
    pub overutilized_ns: Option<u64>,
    /// Task groups that have a quota, where quotas are kept.
    pub quotas: Vec<QuotaReport>,
    /// Thermal zones, where they are cooled.
    pub zones: Vec<ZoneReport>,
    /// Part that a kernel's own code decided; `None`: all is the core's.
    pub kernel: Option<KernelReport>,
    /// Tasks that wait for ever on each other at the end (names), if any.
    pub stuck_tasks: Vec<String>,
}

/// `cpu.stat` of a task group with a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaReport {
    /// Path of the group.
    pub path: String,
    /// Time for which its tasks ran, ns (`usage_usec`).
    pub usage_ns: u64,
    /// Periods that ended.
    pub nr_periods: u32,
    /// Periods at whose end one of its queues was throttled.
    pub nr_throttled: u32,
    /// Time for which its queues were throttled, summed over CPUs, ns (`throttled_usec`); without those that still are.
    pub throttled_ns: u64,
    /// Periods in which it used more than its quota.
    pub nr_bursts: u32,
    /// Time used beyond the quota, ns (`burst_usec`).
    pub burst_ns: u64,
}

/// Totals of one thermal zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneReport {
    /// Name.
    pub name: String,
    /// Highest temperature, thousandths of a degree Celsius.
    pub temp_mc_max: i32,
    /// Mean over time, the same.
    pub temp_mc_avg: i32,
    /// At the end, the same.
    pub temp_mc_end: i32,
    /// Time at or above its first trip, ns.
    pub hot_ns: u64,
    /// Readings.
    pub reads: u64,
    /// Its frequency domains.
    pub domains: Vec<CooledReport>,
}

/// Effects of cooling on one frequency domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CooledReport {
    /// Name of the domain.
    pub name: String,
    /// Time with a limit, ns.
    pub throttled_ns: u64,
    /// Changes of the limit.
    pub changes: u64,
    /// Deepest cooling state.
    pub state_max: u32,
    /// Limit times time, kHz ns.
    pub limit_khz_ns: u128,
}

/// Summary of any number of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of samples.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// Smallest; 0 without samples.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Latest.
    pub last: u64,
}

impl Summary {
    /// Adds a sample.
    pub fn add(&mut self, sample: u64) {
        self.min = if self.count == 0 { sample } else { self.min.min(sample) };
        self.max = self.max.max(sample);
        self.sum = self.sum.saturating_add(sample);
        self.last = sample;
        self.count += 1;
    }

    /// Mean, rounded down; `None` without samples.
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
}

/// Parts of a called task's latency, ns. Their sum is the latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallParts {
    /// Its CPU is in an idle state and has not noticed it: wake-ups of others before its own, and the caller's way.
    pub unheard_ns: u64,
    /// Its CPU leaves the idle state.
    pub idle_exit_ns: u64,
    /// Another task runs on its CPU.
    pub queued_ns: u64,
    /// Its CPU looks for a task to run, or walks over idle CPUs, and does not choose before that is done.
    pub search_ns: u64,
    /// Other work of the kernel on its CPU (interrupts, switches, calls of the governor), as long as it would take at
    /// full speed of the biggest CPU.
    pub path_ns: u64,
    /// Time by which that takes longer at the speed of its CPU.
    pub slow_ns: u64,
}

impl CallParts {
    /// All of them.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        let CallParts { unheard_ns, idle_exit_ns, queued_ns, search_ns, path_ns, slow_ns } = *self;
        unheard_ns + idle_exit_ns + queued_ns + search_ns + path_ns + slow_ns
    }
}

/// Totals of one task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskReport {
    /// Name.
    pub name: String,
    /// Wall time executing, ns.
    pub run_ns: u64,
    /// Wall time executing on the CPUs of each frequency domain, up to the last one it ran on, ns.
    pub domain_run_ns: Vec<u64>,
    /// Time runnable but not executing, ns.
    pub wait_ns: u64,
    /// Work done, ns at capacity 1024.
    pub work_ns: u64,
    /// Switches to this task.
    pub switches: u64,
    /// Wake-ups.
    pub wakeups: u64,
    /// Changes of CPU.
    pub migrations: u64,
    /// Time, in whole ticks, on a CPU that its utilization does not fit while a bigger one that it may use had nothing
    /// to do, ns. Not counted where clamps are in force: they may ask for just that.
    pub outgrown_ns: u64,
    /// Energy attributed to it, microjoules; `None` where the power of some CPU is not known.
    pub energy_uj: Option<u64>,
    /// Times from wake-up, or from its start, to execution, ns. A task that waits when the run ends has a wake-up more.
    pub wakeup_latency_ns: Samples,
    /// Completed activations: duration from start to completion, ns.
    pub activation_ns: Samples,
    /// Activations that completed after the next timer expiry.
    pub overruns: u64,
    /// Sum of slack over timed activations, ns (negative: overrun).
    pub slack_ns_sum: i64,
    /// Activations with a timer.
    pub timed_activations: u64,
    /// Laps of its stopwatch (`Op::Lap`), ns.
    pub laps: Samples,
    /// Operations done in those laps.
    pub lap_ops: u64,
    /// Records it finished (`Op::Records`).
    pub records: u64,
    /// Lateness of the task after its timer's expiries (`Op::TimerLatency`), ns.
    pub timer_latency: Summary,
    /// From a call of its list to its execution (`Op::AwaitCall`), ns.
    pub call_latency: Samples,
    /// Parts of each of these latencies, in their order, as far as all are kept.
    pub call_parts: Vec<CallParts>,
    /// rt-app performance index, thousandths: mean of slack / (period - configured run).
    pub perf_index_milli: Option<i64>,
    /// Frames, of a task whose activations are frames.
    pub frames: Frames,
}

impl TaskReport {
    /// Adds `ns` of execution on a CPU of this domain.
    pub(crate) fn ran_on(&mut self, domain: u32, ns: u64) {
        let domain = domain as usize;
        if self.domain_run_ns.len() <= domain {
            self.domain_run_ns.resize(domain + 1, 0);
        }
        self.run_ns += ns;
        self.domain_run_ns[domain] += ns;
    }
}

/// Frames of a user interface, counted as Android's Jankbench does: a late frame is janky; behind it a third buffer is
/// in use, and only one that takes twice the time is janky, which takes the third buffer away again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// All.
    pub count: u64,
    /// Janky ones.
    pub janky: u64,
    /// Time of all frames together, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
    /// A third buffer is in use.
    pub tripled: bool,
    /// Frames in time until a lower clamp that a janky one raised goes back; 0 = none is raised.
    pub floor: u32,
}

impl Frames {
    /// A frame that took `duration_ns` and should take at most `frame_ns`. True when it is janky.
    pub(crate) fn add(&mut self, duration_ns: u64, frame_ns: u64) -> bool {
        let late = duration_ns > if self.tripled { 2 * frame_ns } else { frame_ns };
        self.count += 1;
        self.total_ns += duration_ns;
        self.longest_ns = self.longest_ns.max(duration_ns);
        self.janky += u64::from(late);
        self.tripled ^= late;
        late
    }

    /// A janky frame raises a lower clamp until `frames` were in time. `Some` when it is raised now, or goes back.
    pub(crate) fn feed_back(&mut self, janky: bool, frames: u32) -> Option<bool> {
        let before = self.floor > 0;
        self.floor = if janky { frames } else { self.floor.saturating_sub(1) };
        let raised = self.floor > 0;
        (raised != before).then_some(raised)
    }
}

/// Totals of one CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuReport {
    /// Time executing tasks, ns.
    pub busy_ns: u64,
    /// Time in interrupts, ns.
    pub irq_ns: u64,
    /// Time in scheduler paths (costs), ns.
    pub overhead_ns: u64,
    /// Time idle by idle state, ns.
    pub idle_ns: Vec<u64>,
    /// Entries by idle state.
    pub idle_entries: Vec<u64>,
    /// Stays shorter than the state's residency, by idle state (`above` of cpuidle).
    pub idle_too_deep: Vec<u64>,
    /// Stays in which the next deeper state would have paid, by idle state (`below` of cpuidle).
    pub idle_too_shallow: Vec<u64>,
    /// Ticks taken.
    pub ticks: u64,
    /// Context switches.
    pub switches: u64,
    /// Frequency hook calls for this CPU, by `HookSite`.
    pub hook_calls: [u64; pelton_schema::HookSite::NAMES.len()],
    /// Events for which the kernel of the profile has a call, whatever the filter does with them.
    pub hooks_offered: u64,
    /// Time in hook calls, register writes and driver calls, ns.
    pub hook_ns: u64,
    /// Times its averages were updated without an event of a task (`update_blocked_averages`).
    pub blocked_updates: u64,
    /// Updates of these that another CPU made in its search for a task.
    pub blocked_scans: u64,
    /// Queues seen in all of them.
    pub blocked_queues: u64,
    /// Time this CPU spent in such updates, of whichever CPU, ns; the hook at their end is counted in `hook_ns`.
    pub blocked_ns: u64,
    /// Length of each search for a task before it went idle, the refresh of its own load included, ns.
    pub search_ns: Summary,
    /// Energy, microjoules: dynamic.
    pub energy_active_uj: u64,
    /// Energy, microjoules: idle states, the way in and out included.
    pub energy_idle_uj: u64,
    /// Energy of each idle state, the way in and out included, microjoules.
    pub idle_energy_uj: Vec<u64>,
}

/// Totals of one frequency domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DomainReport {
    /// Name.
    pub name: String,
    /// Frequency of each OPP, kHz.
    pub khz: Vec<u32>,
    /// Time at each OPP, ns.
    pub time_in_state_ns: Vec<u64>,
    /// Frequency changes (`total_trans` of cpufreq stats).
    pub transitions: u64,
    /// Evaluations of the governor.
    pub evaluations: u64,
    /// Calls refused by the gate.
    pub gated: u64,
    /// Evaluations whose change the gate held.
    pub held: u64,
    /// Calls to the driver.
    pub driver_calls: u64,
    /// Energy of all CPUs of the domain, microjoules; `None` where their power is not known.
    pub energy_uj: Option<u64>,
    /// Energy of its busy CPUs as the kernel's Energy Model has it, microjoules; `None` where it has no power for them.
    pub model_energy_uj: Option<u64>,
    /// CPU time that its CPUs spent in tasks, ns.
    pub busy_ns: u64,
}

/// Frequency of a clock beside what the governor's formula asks for at every event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DemandReport {
    /// Time integral of the distance, kHz times ns.
    pub error_khz_ns: u128,
    /// Time above the need, ns.
    pub over_ns: u64,
    /// Time below the need, ns.
    pub short_ns: u64,
    /// From a need above the frequency until the frequency meets the need, ns.
    pub reaction_ns: Samples,
    /// Reactions that ended because the need went away.
    pub lapsed: u64,
    /// Needs that were still waiting at the end of the run; not among the reactions.
    pub unserved: u64,
    /// Rises of the needed frequency.
    pub steps: u64,
    /// Time from each until the frequency was what it asked for, 0 where it was already, ns; to the end of the run
    /// where it never was.
    pub step_ns_sum: u128,
    /// Longest of them, ns.
    pub step_ns_max: u64,
    /// Steps that ended because less was needed.
    pub steps_lapsed: u64,
}

impl Report {
    /// All energy, microjoules; `None` where the power of some domain is not known.
    pub fn energy_uj(&self) -> Option<u64> {
        let domains = self.domains.iter().map(|d| d.energy_uj).sum::<Option<u64>>()?;
        self.energy_basis.active.then(|| domains + self.cluster_energy_uj.iter().sum::<u64>())
    }

    /// Energy at the board's meter, microjoules: [`Report::energy_uj()`] and the rest; `None` where either is not
    /// known.
    pub fn meter_uj(&self) -> Option<u64> {
        Some(self.energy_uj()?.saturating_add(self.rest_energy_uj?))
    }

    /// Energy of busy CPUs as the kernel's Energy Model has it, microjoules: what placements compare is made of this.
    pub fn model_energy_uj(&self) -> Option<u64> {
        let known = !self.domains.is_empty();
        self.domains.iter().map(|d| d.model_energy_uj).sum::<Option<u64>>().filter(|_| known)
    }

    /// All frequency changes.
    pub fn transitions(&self) -> u64 {
        self.domains.iter().map(|d| d.transitions).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;

    /// UiBenchmarkResult of JankBench: 16 ms, with a triple-buffer state.
    #[test]
    fn frames_are_janky_as_in_jankbench() {
        for (ms, janky) in [
            (&[10, 17, 20, 40, 17, 9][..], 3),
            (&[16, 17, 32, 33, 16], 2),
            (&[17, 17, 17, 17], 1),
            (&[17, 33, 17, 33], 4),
        ] {
            let mut frames = Frames::default();
            ms.iter().for_each(|ms| _ = frames.add(ms * 1_000_000, 16_000_000));
            assert_eq!((frames.count, frames.janky), (ms.len() as u64, janky), "{ms:?}");
            let [total, longest] = [ms.iter().sum::<u64>(), *ms.iter().max().unwrap_or(&0)].map(|ms| ms * 1_000_000);
            assert_eq!((frames.total_ns, frames.longest_ns), (total, longest), "{ms:?}");
        }
    }
}
