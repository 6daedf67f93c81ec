// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers that can be read from a report, by name: one table for comparisons, experiment files and help.

use super::{benchmark, demand, latencies, stats};
use pelton_scenario::bench::sysbench::{self, Version};
use pelton_sim::Report;
use pelton_sim::report::{CooledReport, DomainReport, Frames, QuotaReport, Summary, TaskReport, ZoneReport};
use pelton_sim::samples::Samples;
use std::collections::{BTreeMap, BTreeSet};

/// Part of a report that a quantity is read from.
#[derive(Clone, Copy)]
pub enum Read {
    /// The whole run; `None` when no task measures such a number.
    Run(fn(&Report) -> Option<f64>),
    /// One frequency domain; `None` when the number is not known.
    Domain(fn(&DomainReport) -> Option<f64>),
    /// One frequency domain's part of the run; `None` when it is not known.
    Share(fn(&Report, &DomainReport) -> Option<f64>),
    /// One task; `None` when the task has no such number.
    Task(fn(&TaskReport) -> Option<f64>),
    /// One task group with a quota.
    Group(fn(&QuotaReport) -> Option<f64>),
    /// One thermal zone of the run.
    Zone(fn(&Report, &ZoneReport) -> Option<f64>),
    /// One frequency domain that a thermal zone cools.
    Cooled(fn(&Report, &CooledReport) -> Option<f64>),
}

/// One number a report can give.
#[derive(Clone, Copy)]
pub struct Quantity {
    /// Name in tables and experiment files.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Heading of its column beside others of its scope.
    pub heading: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// Function that reads it.
    pub read: Read,
}

macro_rules! quantities {
    ($( $kind:ident $name:literal $(as $heading:literal)? [$unit:literal] $doc:literal = $read:expr; )*) => {
        /// Every quantity, in table order.
        pub const QUANTITIES: &[Quantity] = &[ $( Quantity {
            name: $name,
            unit: $unit,
            heading: heading($name, &[$($heading)?]),
            doc: $doc,
            read: Read::$kind($read),
        }, )* ];
    };
}

/// The heading that is given, else the name.
const fn heading(name: &'static str, given: &[&'static str]) -> &'static str {
    match given {
        [heading, ..] => heading,
        [] => name,
    }
}

/// Numbers that workloads measure themselves, as their programs print them: a run's first answer where one has it.
pub const MEASURED: &[&str] = &[
    "time_s",
    "laps_per_s",
    "usec_per_op",
    "records_per_s",
    "latency_avg_us_mean_over_threads",
    "latency_max_us_mean_over_threads",
    "jank_pct",
    "frame_ms_avg",
    "frame_ms_max",
    "call_samples",
    "call_latency_us_p50",
    "call_latency_us_p95",
    "call_latency_us_p99",
    "call_latency_us_max",
];

quantities! {
    Run "energy_mj" ["mJ"] "Energy that all CPUs and clusters draw." = |r| r.energy_uj().map(mj);
    Run "energy_meter_mj" ["mJ"] "Energy at the board's meter, which sees more (`rest_mw`)." = |r| r.meter_uj().map(mj);
    Run "energy_model_mj" ["mJ"] "Energy of busy CPUs by the kernel's Energy Model." = |r| r.model_energy_uj().map(mj);
    Run "energy_model_diff_pct" ["%"] "What the kernel's model has more or less than is drawn." = energy_model_diff_pct;
    Run "transitions" ["count"] "Frequency changes, as cpufreq counts them." = |r| Some(r.transitions() as f64);
    Run "switches" ["count"] "Context switches." = |r| Some(r.cpus.iter().map(|c| c.switches).sum::<u64>() as f64);
    Run "busy_ms" ["ms"] "CPU time spent in tasks." = |r| Some(r.cpus.iter().map(|c| c.busy_ns).sum::<u64>() as f64 / 1e6);
    Run "activations" ["count"] "Completed activations of all tasks." = |r| Some(tasks(r, |t| t.activation_ns.len()));
    Run "late" ["count"] "Activations of all tasks that missed their next timer." = |r| timed_tasks(r).then(|| tasks(r, |t| t.overruns));
    Run "wakeup_us_avg" ["us"] "Mean time from wake-up, or start, to execution, over all of them." = |r| wakeups(r).map(|s| s.sum as f64 / s.count as f64 / 1e3);
    Run "wakeup_us_p95" ["us"] "95th percentile of the time from wake-up, or start, to execution." = |r| wakeup_us_ranked(&r.tasks, 95);
    Run "wakeup_us_p99" ["us"] "99th percentile of it." = |r| wakeup_us_ranked(&r.tasks, 99);
    Run "wakeup_us_max" ["us"] "Longest time from wake-up, or start, to execution." = |r| wakeups(r).map(|s| s.max as f64 / 1e3);
    Run "time_s" ["s"] "Time that a benchmark reports: mean over its repetitions." = benchmark::time_s;
    Run "laps_per_s" ["1/s"] "Repetitions of a benchmark per second of their own time: its score." = benchmark::laps_per_s;
    Run "usec_per_op" ["us"] "The same time per operation of the benchmark." = benchmark::usec_per_op;
    Run "records_per_s" ["1/s"] "Records that a benchmark finished, per second of the run." = benchmark::records_per_s;
    Run "latency_max_us_mean_over_threads" ["us"] "Largest lateness of each thread after its timer, whole microseconds; mean over the threads." = benchmark::timer_latency_max_us;
    Run "latency_avg_us_mean_over_threads" ["us"] "Mean lateness of each thread; mean over the threads." = benchmark::timer_latency_avg_us;
    Run "wakeup_latency_us_mean_over_wakeups" ["us"] "Time from wake-up to switch of the tasks that measure something, mean over their wake-ups." = benchmark::wakeup_latency_us;
    Run "perf_index_points_mean_over_tasks" ["points"] "rt-app's performance index in hundredths, mean over the tasks that have one." = perf_index_points;
    Run "call_samples" ["count"] "Latencies that schbench took." = |r| latencies::count(r).map(|n| n as f64);
    Run "call_latency_us_p50" ["us"] "50th percentile of them, as schbench prints it." = |r| latencies::percentile_us(r, 50.0);
    Run "call_latency_us_p75" ["us"] "75th percentile of them." = |r| latencies::percentile_us(r, 75.0);
    Run "call_latency_us_p90" ["us"] "90th percentile of them." = |r| latencies::percentile_us(r, 90.0);
    Run "call_latency_us_p95" ["us"] "95th percentile of them." = |r| latencies::percentile_us(r, 95.0);
    Run "call_latency_us_p99" ["us"] "99th percentile of them." = |r| latencies::percentile_us(r, 99.0);
    Run "call_latency_us_p995" ["us"] "99.5th percentile of them." = |r| latencies::percentile_us(r, 99.5);
    Run "call_latency_us_p999" ["us"] "99.9th percentile of them." = |r| latencies::percentile_us(r, 99.9);
    Run "call_latency_us_min" ["us"] "Smallest of them." = |r| latencies::range_us(r).map(|(min, _)| min);
    Run "call_latency_us_max" ["us"] "Largest of them." = |r| latencies::range_us(r).map(|(_, max)| max);
    Run "call_slow_us_idle" ["us"] "Of the slowest fiftieth of them, mean: time in which the CPU leaves an idle state." = |r| latencies::slowest_us(r, |p| p.idle_exit_ns);
    Run "call_slow_us_queued" ["us"] "The same: another task runs on the CPU." = |r| latencies::slowest_us(r, |p| p.queued_ns);
    Run "call_slow_us_search" ["us"] "The same: the CPU looks for a task, or walks over idle CPUs." = |r| latencies::slowest_us(r, |p| p.search_ns);
    Run "call_slow_us_path" ["us"] "The same: other work of the kernel on the CPU, at full speed." = |r| latencies::slowest_us(r, |p| p.path_ns);
    Run "call_slow_us_speed" ["us"] "The same: what that takes longer at the CPU's speed." = |r| latencies::slowest_us(r, |p| p.slow_ns);
    Run "call_slow_us_unheard" ["us"] "The same: the CPU idles and has not noticed it." = |r| latencies::slowest_us(r, |p| p.unheard_ns);
    Run "blocked_updates_per_s" ["1/s"] "Updates of averages without an event of a task, all CPUs." = |r| latencies::per_s(r, |c| c.blocked_updates as f64);
    Run "blocked_scans_per_s" ["1/s"] "Those of them inside another CPU's search for a task." = |r| latencies::per_s(r, |c| c.blocked_scans as f64);
    Run "blocked_scans_per_s_max_of_cpus" ["1/s"] "The same of the CPU that has most of them." = latencies::scans_per_s_max;
    Run "blocked_time_ms" ["ms"] "CPU time in such updates, without the hook at their end." = |r| Some(demand::cpus(r, |c| c.blocked_ns) / 1e6);
    Run "searches_per_s" ["1/s"] "Times a CPU that went idle looked for a task." = |r| latencies::per_s(r, |c| c.search_ns.count as f64);
    Run "search_us_avg" ["us"] "How long that took, its own refresh included." = latencies::search_us_avg;
    Run "search_us_max" ["us"] "The longest." = latencies::search_us_max;
    Run "queues_per_search" ["count"] "Queues seen in all updates, per search." = latencies::queues_per_search;
    Run "migrations_all" ["count"] "Changes of CPU of all tasks." = |r| Some(r.tasks.iter().map(|t| t.migrations).sum::<u64>() as f64);
    Run "hooks_offered" ["count"] "Events for which the kernel calls the governor, before the hook filter." = |r| Some(demand::cpus(r, |c| c.hooks_offered));
    Run "update_count" ["count"] "Calls that reach the governor's update function, as a tracer counts them." = |r| Some(demand::cpus(r, |c| c.hook_calls.iter().sum()));
    Run "evaluations" ["count"] "Times the governor worked out a frequency." = |r| Some(demand::domains(r, |d| d.evaluations));
    Run "driver_calls" ["count"] "Frequency requests to the driver." = |r| Some(demand::domains(r, |d| d.driver_calls));
    Run "hook_time_ms" ["ms"] "CPU time in hook calls, register writes and driver calls." = |r| Some(demand::cpus(r, |c| c.hook_ns) / 1e6);
    Run "frequency_error_mhz_s" ["MHz s"] "Time integral of the distance between the needed and the present frequency." = demand::error_mhz_s;
    Run "reactions" ["count"] "Times the needed frequency rose above the present one." = |r| demand::sum(r, |d| d.reaction_ns.len());
    Run "reactions_lapsed" ["count"] "Those of them that ended because the need went away." = |r| demand::sum(r, |d| d.lapsed);
    Run "reaction_ms_avg" ["ms"] "Mean time until the frequency met the need again." = demand::reaction_ms_avg;
    Run "reaction_ms_p99" ["ms"] "99th percentile of the reactions." = demand::reaction_ms_p99;
    Run "reaction_ms_max" ["ms"] "Longest reaction." = demand::reaction_ms_max;
    Run "demand_steps" ["count"] "Rises of the needed frequency, met before or not." = |r| demand::sum(r, |d| d.steps);
    Run "demand_steps_lapsed" ["count"] "Those of them that ended because less was needed." = |r| demand::sum(r, |d| d.steps_lapsed);
    Run "step_latency_ms_avg" ["ms"] "Mean time from a rise of the needed frequency until the present one is as high." = demand::step_latency_ms_avg;
    Run "step_latency_ms_max" ["ms"] "The longest of these times." = demand::step_latency_ms_max;
    Run "short_ms" ["ms"] "Time below the needed frequency, all domains: the sum of all reactions." = |r| demand::sum(r, |d| d.reaction_ns.summary().sum).map(|ns| ns / 1e6);
    Run "overutilized_pct" ["%"] "Part of the time in which some CPU was over-utilized." = overutilized_pct;
    Run "jank_pct" ["%"] "Janky frames of user interfaces, as Jankbench counts them." = jank_pct;
    Run "frame_ms_avg" ["ms"] "Mean time from a vsync until its frame is drawn." = frame_ms_avg;
    Run "frame_ms_max" ["ms"] "The longest of these times." = frame_ms_max;
    Run "over_ms" ["ms"] "Time above the needed frequency, all domains." = |r| demand::sum(r, |d| d.over_ns).map(|ns| ns / 1e6);
    Domain "domain_transitions" as "transitions" ["count"] "Frequency changes of the domain." = |d| Some(d.transitions as f64);
    Domain "domain_evaluations" as "evaluations" ["count"] "Governor evaluations of the domain." = |d| Some(d.evaluations as f64);
    Domain "domain_gated" as "rate-limited" ["count"] "Hook calls refused by the rate limit." = |d| Some(d.gated as f64);
    Share "domain_busy_pct" as "share of busy time %" ["%"] "Part of all CPU time in tasks that the domain's CPUs spent." = domain_busy_pct;
    Domain "domain_mhz_avg" as "mean MHz" ["MHz"] "Mean frequency of the domain over the run." = domain_mhz_avg;
    Domain "domain_energy_mj" as "energy mJ" ["mJ"] "Energy of the domain's CPUs." = |d| d.energy_uj.map(mj);
    Domain "domain_energy_model_mj" as "model mJ" ["mJ"] "Energy of its busy CPUs as the kernel's Energy Model has it." = |d| d.model_energy_uj.map(mj);
    Cooled "throttled_pct" as "throttled %" ["%"] "Part of the run in which cooling limited the domain." = |r, c| share_pct(r, c.throttled_ns);
    Cooled "cooling_state_max" as "deepest state" ["1"] "Deepest cooling state of the domain." = |_, c| Some(f64::from(c.state_max));
    Cooled "cooling_limit_mhz_avg" as "mean limit MHz" ["MHz"] "Mean over time of the frequency that cooling allowed." = |r, c| (r.duration_ns > 0).then(|| c.limit_khz_ns as f64 / r.duration_ns as f64 / 1e3);
    Cooled "cooling_changes" as "changes" ["count"] "Changes of the domain's cooling state." = |_, c| Some(c.changes as f64);
    Zone "temperature_c_avg" as "mean C" ["C"] "Mean temperature of a thermal zone." = |_, z| Some(f64::from(z.temp_mc_avg) / 1e3);
    Zone "temperature_c_max" as "max C" ["C"] "Highest temperature of a thermal zone." = |_, z| Some(f64::from(z.temp_mc_max) / 1e3);
    Zone "temperature_c_end" as "end C" ["C"] "Temperature of a thermal zone at the end." = |_, z| Some(f64::from(z.temp_mc_end) / 1e3);
    Zone "hot_pct" as "at a trip %" ["%"] "Part of the run at or above the zone's first trip." = |r, z| share_pct(r, z.hot_ns);
    Zone "zone_reads" as "readings" ["count"] "Readings of a thermal zone." = |_, z| Some(z.reads as f64);
    Task "events" as "activations" ["count"] "Completed activations." = |t| Some(t.activation_ns.len() as f64);
    Task "latency_ms_min" ["ms"] "Shortest activation." = |t| of_activations(t, |a| a.summary().min as f64);
    Task "latency_ms_avg" as "avg ms" ["ms"] "Mean activation." = |t| of_activations(t, mean_ns);
    Task "latency_ms_max" as "max ms" ["ms"] "Longest activation." = |t| of_activations(t, |a| a.summary().max as f64);
    Task "latency_ms_p95" ["ms"] "95th percentile of the activations, read as sysbench 0.5 and before do." = |t| of_activations(t, p95_ns);
    Task "response_ms_avg" ["ms"] "Mean time from wake-up to the end of the activation, of tasks that wake once for each." = response_avg_ms;
    Task "run_ms" as "run ms" ["ms"] "Time executing." = |t| Some(t.run_ns as f64 / 1e6);
    Task "wait_ms" as "wait ms" ["ms"] "Time runnable but not executing." = |t| Some(t.wait_ns as f64 / 1e6);
    Task "wakeup_latency_us_avg" as "wake-up us" ["us"] "Mean time from wake-up, or start, to execution." = wakeup_latency_avg_us;
    Task "wakeup_latency_us_p95" as "p95 us" ["us"] "95th percentile of the time from wake-up, or start, to execution." = |t| wakeup_us_ranked([t], 95);
    Task "wakeup_latency_us_p99" as "p99 us" ["us"] "99th percentile of it." = |t| wakeup_us_ranked([t], 99);
    Task "wakeup_latency_us_max" as "max us" ["us"] "Longest time from wake-up, or start, to execution." = wakeup_latency_max_us;
    Task "overruns" ["count"] "Activations that missed their next timer." = |t| timed(t, t.overruns as f64);
    Task "perf_index" ["1"] "rt-app performance index: 1 = as at full speed, 0 = just in time." = perf_index;
    Task "migrations" ["count"] "Changes of CPU." = |t| Some(t.migrations as f64);
    Task "task_energy_mj" as "energy mJ" ["mJ"] "Energy attributed to the task." = |t| t.energy_uj.map(mj);
    Group "group_usage_ms" as "usage ms" ["ms"] "Run time of a group with a quota (usage_usec of cpu.stat)." = |g| Some(g.usage_ns as f64 / 1e6);
    Group "nr_periods" as "periods" ["count"] "Periods of its quota that ended." = |g| Some(f64::from(g.nr_periods));
    Group "nr_throttled" as "throttled" ["count"] "Those at whose end it was throttled on some CPU." = |g| Some(f64::from(g.nr_throttled));
    Group "throttled_ms" as "throttled ms" ["ms"] "Time throttled, summed over CPUs (throttled_usec)." = |g| Some(g.throttled_ns as f64 / 1e6);
    Group "nr_bursts" as "bursts" ["count"] "Periods in which it used more than its quota." = |g| Some(f64::from(g.nr_bursts));
    Group "burst_ms" as "burst ms" ["ms"] "Time used beyond its quota (burst_usec)." = |g| Some(g.burst_ns as f64 / 1e6);
}

/// Numbers that compare the frequency with what is needed.
const NEED: [&str; 12] = [
    "frequency_error_mhz_s",
    "reactions",
    "reactions_lapsed",
    "reaction_ms_avg",
    "reaction_ms_p99",
    "reaction_ms_max",
    "demand_steps",
    "demand_steps_lapsed",
    "step_latency_ms_avg",
    "step_latency_ms_max",
    "short_ms",
    "over_ms",
];

/// Reason why a quantity that rests on the need is not known.
const NEED_OF_KERNEL: &str = "not known: what is needed is worked out by the core's formula, not the kernel's own code";
const NEED_UNKNOWN: &str = "not known: what is needed is worked out for governor=schedutil only";

/// A number of results, for people.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Subject of the number.
    pub scope: &'static str,
    /// Name, with its unit.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// Shares of time, which are read from tables of a report and not by name.
static SHARES: [Entry; 6] = [
    Entry {
        scope: "frequency",
        name: "residency_ms",
        unit: "ms",
        doc: "Time of a frequency domain at an operating point.",
    },
    Entry { scope: "frequency", name: "residency_pct", unit: "%", doc: "The same as a share of the run." },
    Entry { scope: "idle", name: "residency_ms", unit: "ms", doc: "Time of a CPU in an idle state." },
    Entry {
        scope: "idle",
        name: "residency_pct",
        unit: "%",
        doc: "The same as a share of the run; in comparisons of all CPUs of a domain.",
    },
    Entry {
        scope: "placement",
        name: "residency_ms",
        unit: "ms",
        doc: "Time that a task executed on the CPUs of a frequency domain.",
    },
    Entry { scope: "placement", name: "residency_pct", unit: "%", doc: "The same as a share of the task's." },
];

/// Time in a state or place, and the same as a share, of this scope: `frequency`, `idle` or `placement`.
pub fn shares(scope: &str) -> impl Iterator<Item = &'static Entry> + '_ {
    SHARES.iter().filter(move |entry| entry.scope == scope)
}

/// Every number that runs and comparisons have, in table order.
pub fn entries() -> impl Iterator<Item = Entry> {
    let entry = |q: &Quantity| Entry { scope: q.read.scope(), name: q.name, unit: q.unit, doc: q.doc };
    QUANTITIES.iter().map(entry).chain(SHARES)
}

impl Read {
    /// Subject of such a number.
    pub fn scope(&self) -> &'static str {
        match self {
            Read::Run(_) => "run",
            Read::Domain(_) | Read::Share(_) | Read::Cooled(_) => "domain",
            Read::Task(_) => "task",
            Read::Group(_) => "group",
            Read::Zone(_) => "zone",
        }
    }
}

/// The quantity with this name.
pub fn find(name: &str) -> Option<&'static Quantity> {
    QUANTITIES.iter().find(|q| q.name == name)
}

impl Quantity {
    /// The number rests on the platform's power figures: a report without it has it unknown, not absent.
    pub fn rests_on_power(&self) -> bool {
        self.unit == "mJ" && !self.name.contains("energy_model")
    }

    /// The number compares the frequency with what is needed.
    pub fn rests_on_need(&self) -> bool {
        NEED.contains(&self.name)
    }

    /// Note on a gap in the number of this run, or the reason why it is not known; `None` for a number without gaps.
    pub fn note(&self, report: &Report) -> Option<&'static str> {
        // Where nothing is known of the rest there is no such number, and nothing to be said about it.
        let is_there = self.name != "energy_meter_mj" || report.rest_energy_uj.is_some();
        let power = report.energy_basis.gap().filter(|_| self.rests_on_power() && is_there);
        let unknown = if report.kernel.is_some() { NEED_OF_KERNEL } else { NEED_UNKNOWN };
        power.or((self.rests_on_need() && report.demand.is_empty()).then_some(unknown))
    }

    /// Reads the number for the whole run, or for the domain or task called `of`; `None` when there is no such number.
    ///
    /// Tasks are matched by their full name or by the name before a trailing `-<number>` or `_<number>` (instances);
    /// several instances are added to one sample set only by callers, so the first match counts here.
    pub fn read(&self, report: &Report, of: Option<&str>) -> Option<f64> {
        match self.read {
            Read::Run(f) => f(report),
            Read::Domain(f) => report.domains.iter().find(|d| of.is_none_or(|name| d.name == name)).and_then(f),
            Read::Share(f) => {
                report.domains.iter().find(|d| of.is_none_or(|name| d.name == name)).and_then(|d| f(report, d))
            }
            Read::Task(f) => f(task(report, of?)?),
            Read::Group(f) => report.quotas.iter().find(|g| of.is_none_or(|path| g.path == path)).and_then(f),
            Read::Zone(f) => {
                report.zones.iter().find(|z| of.is_none_or(|name| z.name == name)).and_then(|z| f(report, z))
            }
            Read::Cooled(f) => cooled(report).find(|c| of.is_none_or(|name| c.name == name)).and_then(|c| f(report, c)),
        }
    }
}

/// The domains that zones cool.
pub(crate) fn cooled(report: &Report) -> impl Iterator<Item = &CooledReport> {
    report.zones.iter().flat_map(|zone| &zone.domains)
}

fn share_pct(report: &Report, ns: u64) -> Option<f64> {
    (report.duration_ns > 0).then(|| 100.0 * ns as f64 / report.duration_ns as f64)
}

fn domain_mhz_avg(domain: &DomainReport) -> Option<f64> {
    let total_ns: u64 = domain.time_in_state_ns.iter().sum();
    let at = |(&khz, &ns): (&u32, &u64)| f64::from(khz) * ns as f64;
    let khz_ns: f64 = domain.khz.iter().zip(&domain.time_in_state_ns).map(at).sum();
    (total_ns > 0).then(|| khz_ns / total_ns as f64 / 1e3)
}

fn domain_busy_pct(report: &Report, domain: &DomainReport) -> Option<f64> {
    let all_ns: u64 = report.domains.iter().map(|d| d.busy_ns).sum();
    (all_ns > 0).then(|| 100.0 * domain.busy_ns as f64 / all_ns as f64)
}

/// A sum over all frames, and how many there are.
fn frames(report: &Report, of: fn(&Frames) -> u64) -> Option<(f64, f64)> {
    let sum = |of: fn(&Frames) -> u64| report.tasks.iter().map(|t| of(&t.frames)).sum::<u64>() as f64;
    let count = sum(|frames| frames.count);
    (count > 0.0).then(|| (sum(of), count))
}

fn jank_pct(report: &Report) -> Option<f64> {
    frames(report, |f| f.janky).map(|(janky, count)| 100.0 * janky / count)
}

fn frame_ms_avg(report: &Report) -> Option<f64> {
    frames(report, |f| f.total_ns).map(|(ns, count)| ns / count / 1e6)
}

fn frame_ms_max(report: &Report) -> Option<f64> {
    let longest = report.tasks.iter().map(|t| &t.frames).filter(|f| f.count > 0).map(|f| f.longest_ns).max();
    longest.map(|ns| ns as f64 / 1e6)
}

fn overutilized_pct(report: &Report) -> Option<f64> {
    let duration_ns = report.duration_ns as f64;
    report.overutilized_ns.filter(|_| duration_ns > 0.0).map(|ns| 100.0 * ns as f64 / duration_ns)
}

/// The kernel's model beside what is drawn; a table in a unit of its own is no measure of milliwatts.
fn energy_model_diff_pct(report: &Report) -> Option<f64> {
    let (drawn, model) = (report.energy_uj()?, report.model_energy_uj()?);
    (drawn > 0 && !report.energy_basis.own_unit).then(|| 100.0 * (model as f64 / drawn as f64 - 1.0))
}

fn mj(uj: u64) -> f64 {
    uj as f64 / 1e3
}

/// Names of the tasks for rows of results: those of the report, with `#2`, `#3`, ... behind a name that was there
/// before.
pub fn task_labels(report: &Report) -> Vec<String> {
    let mut taken = BTreeSet::new();
    // Numbers below the last one of a name are taken for ever: a workload may have ten thousand tasks of one name.
    let mut last = BTreeMap::<&str, u64>::new();
    let mut labels = Vec::with_capacity(report.tasks.len());
    for TaskReport { name, .. } in &report.tasks {
        let mut label = name.clone();
        while !taken.insert(label.clone()) {
            let number = last.entry(name).or_insert(1);
            *number += 1;
            label = format!("{name}#{number}");
        }
        labels.push(label);
    }
    labels
}

fn task<'a>(report: &'a Report, name: &str) -> Option<&'a TaskReport> {
    let exact = report.tasks.iter().find(|t| t.name == name);
    exact.or_else(|| report.tasks.iter().find(|t| instance_base(&t.name) == name))
}

/// The name without a trailing `-<number>` or `_<number>`.
pub(crate) fn instance_base(name: &str) -> &str {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if base.len() == name.len() { name } else { base.strip_suffix(['-', '_']).unwrap_or(name) }
}

fn tasks(report: &Report, count: impl Fn(&TaskReport) -> u64) -> f64 {
    report.tasks.iter().map(count).sum::<u64>() as f64
}

fn timed_tasks(report: &Report) -> bool {
    report.tasks.iter().any(|task| task.timed_activations > 0)
}

/// All wake-up latencies together; `None` when nothing ran.
fn wakeups(report: &Report) -> Option<Summary> {
    let add = |all: Summary, one: &Summary| Summary {
        count: all.count + one.count,
        sum: all.sum + one.sum,
        max: all.max.max(one.max),
        ..all
    };
    let all = report.tasks.iter().map(|task| task.wakeup_latency_ns.summary()).fold(Summary::default(), add);
    (all.count > 0).then_some(all)
}

/// The wake-up latency of these tasks that so many of a hundred do not exceed, us (nearest rank).
fn wakeup_us_ranked<'a>(tasks: impl IntoIterator<Item = &'a TaskReport>, percent: u64) -> Option<f64> {
    let all: Vec<&Samples> = tasks.into_iter().map(|task| &task.wakeup_latency_ns).collect();
    let each: Option<Vec<&[u64]>> = all.iter().map(|samples| samples.exact()).collect();
    let ranked = match each {
        Some(each) => stats::ranked_alone(&mut each.concat(), percent),
        None => {
            let mut counted: Vec<(u64, u64)> = all.iter().flat_map(|samples| samples.iter()).collect();
            counted.sort_unstable();
            stats::ranked(&counted, percent)
        }
    };
    ranked.map(|ns| ns as f64 / 1e3)
}

fn of_activations(task: &TaskReport, ns: impl Fn(&Samples) -> f64) -> Option<f64> {
    (!task.activation_ns.is_empty()).then(|| ns(&task.activation_ns) / 1e6)
}

fn mean_ns(activations: &Samples) -> f64 {
    activations.summary().sum as f64 / activations.len() as f64
}

fn p95_ns(activations: &Samples) -> f64 {
    sysbench::percentile_ms(activations.iter(), 95, Version::V0_5) * 1e6
}

fn wakeup_latency_avg_us(task: &TaskReport) -> Option<f64> {
    let latency = &task.wakeup_latency_ns;
    (latency.count > 0).then(|| latency.sum as f64 / latency.count as f64 / 1e3)
}

fn response_avg_ms(task: &TaskReport) -> Option<f64> {
    let (activations, wakeups) = (task.activation_ns.len(), task.wakeup_latency_ns.count);
    // The last one may be without an end.
    let wakes_once = (activations..=activations + 1).contains(&wakeups);
    let waits_ms = wakeup_latency_avg_us(task)? / 1e3;
    of_activations(task, mean_ns).filter(|_| wakes_once).map(|ms| ms + waits_ms)
}

fn wakeup_latency_max_us(task: &TaskReport) -> Option<f64> {
    (task.wakeup_latency_ns.count > 0).then(|| task.wakeup_latency_ns.max as f64 / 1e3)
}

fn timed(task: &TaskReport, value: f64) -> Option<f64> {
    (task.timed_activations > 0).then_some(value)
}

/// Mean over activations, then over tasks, as the published evaluation does.
fn perf_index_points(report: &Report) -> Option<f64> {
    let all: Vec<f64> =
        report.tasks.iter().filter_map(|t| t.perf_index_milli).map(|milli| milli as f64 / 10.0).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

fn perf_index(task: &TaskReport) -> Option<f64> {
    task.perf_index_milli.map(|milli| milli as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let task = TaskReport {
            name: "sysbench-0".into(),
            activation_ns: [1_000_000, 3_000_000].into_iter().collect(),
            ..Default::default()
        };
        let domain = DomainReport { name: "cpu".into(), transitions: 7, ..Default::default() };
        Report { tasks: vec![task], domains: vec![domain], ..Default::default() }
    }

    #[test]
    fn what_workloads_measure_is_a_quantity_of_the_run() {
        let of_run = |name: &&str| find(name).is_some_and(|quantity| matches!(quantity.read, Read::Run(_)));
        assert!(MEASURED.iter().all(of_run), "{MEASURED:?}");
    }

    #[test]
    fn a_response_holds_the_wait_before_an_activation() {
        let mut report = report();
        let response = find("response_ms_avg").expect("declared");
        assert_eq!(response.read(&report, Some("sysbench")), None, "no wake-up was counted");
        [500_000, 1_500_000].into_iter().for_each(|ns| report.tasks[0].wakeup_latency_ns.add(ns));
        assert_eq!(response.read(&report, Some("sysbench")), Some(3.0));
        (0..2).for_each(|_| report.tasks[0].wakeup_latency_ns.add(1000));
        assert_eq!(response.read(&report, Some("sysbench")), None, "it wakes within its activations");
    }

    #[test]
    fn tasks_are_found_by_name_and_by_instance_base() {
        let q = find("latency_ms_avg").expect("declared");
        assert_eq!(q.read(&report(), Some("sysbench-0")), Some(2.0));
        assert_eq!(q.read(&report(), Some("sysbench")), Some(2.0));
        assert_eq!(q.read(&report(), Some("sys")), None);
    }

    #[test]
    fn headings_say_the_unit() {
        let named = |q: &&Quantity| q.heading == q.name || ["count", "1"].contains(&q.unit);
        let without: Vec<&str> =
            QUANTITIES.iter().filter(|q| !named(q) && !q.heading.ends_with(q.unit)).map(|q| q.name).collect();
        assert!(without.is_empty(), "{without:?}");
        assert_eq!(find("run_ms").expect("declared").heading, "run ms");
        assert_eq!(find("energy_mj").expect("declared").heading, "energy_mj", "no other word is given");
    }

    #[test]
    fn missing_numbers_are_absent_not_zero() {
        let empty = Report { tasks: vec![TaskReport { name: "t".into(), ..Default::default() }], ..Default::default() };
        assert_eq!(find("latency_ms_max").expect("declared").read(&empty, Some("t")), None);
        assert_eq!(find("perf_index").expect("declared").read(&empty, Some("t")), None);
    }

    #[test]
    fn totals_and_domains() {
        assert_eq!(find("transitions").expect("declared").read(&report(), None), Some(7.0));
        assert_eq!(find("domain_transitions").expect("declared").read(&report(), Some("cpu")), Some(7.0));
    }

    #[test]
    fn equal_names_stay_apart() {
        let task = |name: &str| TaskReport { name: name.into(), ..Default::default() };
        let report = Report { tasks: ["a", "b", "a", "a#2", "a"].map(task).to_vec(), ..Default::default() };
        assert_eq!(task_labels(&report), ["a", "b", "a#2", "a#2#2", "a#3"]);
    }

    #[test]
    fn names_carry_their_units() {
        for entry in entries() {
            let word = match entry.unit {
                "count" | "1" => continue,
                "%" => "pct",
                "1/s" => "per_s",
                "MHz s" => "mhz_s",
                other => &other.to_lowercase(),
            };
            let says = format!("_{}_", entry.name).contains(&format!("_{word}_")) || entry.name.starts_with("usec");
            assert!(says, "{} is in {}", entry.name, entry.unit);
        }
    }

    #[test]
    fn tails_of_wake_ups_are_read_at_their_rank_over_all_tasks() {
        let mut report = report();
        let mut other = report.tasks[0].clone();
        report.tasks[0].wakeup_latency_ns = (1..=90).map(|us| us * 1000).collect();
        other.wakeup_latency_ns = (1..=10).map(|ms| ms * 1_000_000).collect();
        report.tasks.push(other);
        let of = |name: &str, task: Option<&str>| find(name).expect("a quantity").read(&report, task);
        assert_eq!((of("wakeup_us_p95", None), of("wakeup_us_p99", None)), (Some(5000.0), Some(9000.0)));
        assert_eq!(of("wakeup_latency_us_p99", Some("sysbench-0")), Some(90.0));
        assert_eq!(find("wakeup_us_p99").expect("a quantity").read(&Report::default(), None), None);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = QUANTITIES.iter().map(|q| q.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), QUANTITIES.len());
    }
}
