// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of one task on a machine of plain numbers: what the record of a decision needs and Python does not say is
//! what an idle Linux begins with.

use crate::core::{OPPS_MAX, POWER_UW_MAX, SCALE, ascending, policy};
use crate::error;
use pelton_core::{
    EnergyModel, NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, PERF_DOMAINS_MAX, PLACE_CPUS_MAX, PLACE_STATES_MAX,
    PerfDomain, PlaceCpu, PlaceTask, PlaceWaker, Placed, Placement, Policy, SdLevel, nr_idle_scan, sd, wf,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;

/// Runnable tasks of a CPU: more than a machine has room for.
const TASKS_MAX: u32 = 1 << 16;
/// Mean length of idle times: the kernel's limit, at which a search for an idle CPU may go furthest.
const AVG_IDLE_NS: u64 = 1_000_000;
/// Weight of a task of nice 0, and its load when it always runs.
const NICE_0: u64 = 1024;

/// A performance domain: its CPUs, and its operating points, kHz and uW of a busy CPU.
type Perf = (Vec<u32>, Vec<(u32, u64)>);

/// CPU that a waking fair task gets, and what was compared: the kernel's select_task_rq_fair() and, where energy
/// decides, find_energy_efficient_cpu() (kernel/sched/fair.c).
///
/// A machine of up to 64 CPUs without threads; lists have a value for each CPU, or numbers of CPUs from 0 on.
///
/// capacity: of each CPU at its highest frequency, 1..1024. util: util_avg of each CPU, 0..1024, that of prev_cpu with
/// the task's (default: 0). nr_running: runnable tasks of each, of nice 0 and always busy; 0 is an idle CPU (default).
/// task_util: util_avg of the task, 0..1024. prev_cpu: where it ran. this_cpu: where it is woken (default: prev_cpu);
/// sync: the waker is about to sleep. allowed: CPUs that it may use (default: all). uclamp_min, uclamp_max: its clamps.
/// perf_domains: (CPUs, [(kHz, uW of a busy CPU), ...]) of each performance domain, kHz rising, CPUs of one capacity;
/// without them, or on equal CPUs, no energies are compared. caches: CPUs that share a last-level cache (default: one
/// cache). overutilized: as the kernel last noted (default: whether a CPU has more to do than it can). policy: as
/// `--policy` takes it (default: the newest kernel).
///
/// Result: cpu; how, the rule that decided; target, the CPU from which an idle one is searched, or None; overutilized;
/// energies, a row for each comparison: perf_domain (its CPUs), cpu (with the task there; None: nowhere), max_util and
/// busy (with the task), energy (only ratios mean something: cost of the operating point times busy).
///
/// Raises pelton.InputError for lists of different lengths, values out of range, CPUs that are not there, and domains
/// or caches in which a CPU stands twice or never.
#[pyfunction]
#[pyo3(signature = (capacity, *, task_util, prev_cpu, util = None, nr_running = None, this_cpu = None, allowed = None,
    uclamp_min = 0, uclamp_max = 1024, perf_domains = None, caches = None, overutilized = None, sync = false,
    policy = None))]
#[allow(clippy::too_many_arguments)]
pub fn place<'py>(
    py: Python<'py>,
    capacity: Vec<u32>,
    task_util: u32,
    prev_cpu: u32,
    util: Option<Vec<u32>>,
    nr_running: Option<Vec<u32>>,
    this_cpu: Option<u32>,
    allowed: Option<Vec<u32>>,
    uclamp_min: u32,
    uclamp_max: u32,
    perf_domains: Option<Vec<Perf>>,
    caches: Option<Vec<Vec<u32>>>,
    overutilized: Option<bool>,
    sync: bool,
    policy: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let pol = self::policy(py, policy)?;
    let cpus = capacity.len() as u32;
    let all = || (0..cpus).collect::<Vec<u32>>();
    let asked = Asked {
        util: util.unwrap_or_else(|| vec![0; capacity.len()]),
        nr_running: nr_running.unwrap_or_else(|| vec![0; capacity.len()]),
        caches: caches.unwrap_or_else(|| vec![all()]),
        allowed: allowed.unwrap_or_else(all),
        perf_domains: perf_domains.unwrap_or_default(),
        task: Task { util: task_util, prev_cpu, this_cpu: this_cpu.unwrap_or(prev_cpu), uclamp_min, uclamp_max, sync },
        capacity,
    };
    asked.check(py)?;
    let mut record = asked.record(&pol);
    let is_over = overutilized.unwrap_or_else(|| (0..cpus).any(|cpu| record.cpu_overutilized(&pol, cpu)));
    record.overutilized = is_over.into();
    let mut placed = Placed::default();
    let cpu = record.select(&pol, &mut placed);
    answer(py, &record, &placed, cpu)
}

/// The task that is placed, and how it wakes.
struct Task {
    util: u32,
    prev_cpu: u32,
    this_cpu: u32,
    uclamp_min: u32,
    uclamp_max: u32,
    sync: bool,
}

/// The question: a value for each CPU, sets of CPUs, the task.
struct Asked {
    capacity: Vec<u32>,
    util: Vec<u32>,
    nr_running: Vec<u32>,
    caches: Vec<Vec<u32>>,
    allowed: Vec<u32>,
    perf_domains: Vec<Perf>,
    task: Task,
}

impl Asked {
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let wrong = |message: &str, hint: &str| Err(error::input(py, message, Some(hint)));
        let cpus = self.capacity.len();
        if !(1..=PLACE_CPUS_MAX).contains(&cpus) {
            return wrong(&format!("{cpus} CPUs"), &format!("allowed: 1..={PLACE_CPUS_MAX}"));
        }
        if [self.util.len(), self.nr_running.len()].iter().any(|&length| length != cpus) {
            return wrong("lists of different lengths", "capacity, util and nr_running have a value for each CPU");
        }
        let is_signal = |value: &u32| *value <= SCALE;
        if !self.capacity.iter().all(|value| (1..=SCALE).contains(value)) || !self.util.iter().all(is_signal) {
            return wrong("a value beyond the capacity of a CPU", "allowed: capacity 1..=1024, util 0..=1024");
        }
        if self.nr_running.iter().any(|&tasks| tasks > TASKS_MAX) {
            return wrong("more tasks than a machine has room for", &format!("allowed: 0..={TASKS_MAX}"));
        }
        let Task { util, prev_cpu, this_cpu, uclamp_min, uclamp_max, .. } = self.task;
        if ![util, uclamp_min, uclamp_max].iter().all(is_signal) || uclamp_min > uclamp_max {
            return wrong("a task beyond the capacity of a CPU", "allowed: 0..=1024, uclamp_min at most uclamp_max");
        }
        let chosen = self.allowed.iter().chain([&prev_cpu, &this_cpu]);
        if self.allowed.is_empty() || chosen.into_iter().any(|&cpu| cpu as usize >= cpus) {
            return wrong("a CPU that the machine does not have", &format!("allowed: 0..={}", cpus - 1));
        }
        if !is_parted(self.caches.iter(), cpus) {
            return wrong("caches that do not share out the CPUs", "each CPU stands in one list");
        }
        self.check_energy(py)
    }

    fn check_energy(&self, py: Python<'_>) -> PyResult<()> {
        let wrong = |message: &str, hint: &str| Err(error::input(py, message, Some(hint)));
        let domains = &self.perf_domains;
        if domains.is_empty() {
            return Ok(());
        }
        if domains.len() > PERF_DOMAINS_MAX || !is_parted(domains.iter().map(|(cpus, _)| cpus), self.capacity.len()) {
            let hint = format!("each CPU stands in one of at most {PERF_DOMAINS_MAX}");
            return wrong("performance domains that do not share out the CPUs", &hint);
        }
        for (cpus, points) in domains {
            ascending(py, &points.iter().map(|(khz, _)| *khz).collect::<Vec<_>>())?;
            if points.iter().any(|(_, uw)| !(1..=POWER_UW_MAX).contains(uw)) {
                return wrong("a power that no CPU has", &format!("allowed: 1..={POWER_UW_MAX} uW"));
            }
            if cpus.iter().any(|&cpu| self.capacity[cpu as usize] != self.capacity[cpus[0] as usize]) {
                return wrong("a performance domain of unequal CPUs", "its CPUs have one capacity");
            }
        }
        let points: usize = domains.iter().map(|(_, points)| points.len()).sum();
        if points > PLACE_STATES_MAX {
            let hint = format!("allowed: {OPPS_MAX} of a domain, {PLACE_STATES_MAX} together");
            return wrong(&format!("{points} operating points"), &hint);
        }
        Ok(())
    }

    /// The record of the decision.
    fn record(&self, pol: &Policy) -> Placement {
        let Task { prev_cpu, this_cpu, uclamp_min, uclamp_max, sync, .. } = self.task;
        let mut record = Placement {
            task: self.placed_task(),
            waker: PlaceWaker { same_wakee: 1, ..PlaceWaker::default() },
            this_cpu,
            prev_cpu,
            flags: wf::TTWU | if sync { wf::SYNC } else { 0 },
            nr_cpus: self.capacity.len() as u32,
            asymmetric: (self.classes(&self.all()) > 1).into(),
            uclamp_used: u32::from(uclamp_min > 0 || uclamp_max < SCALE),
            smt_threads: 1,
            avg_idle_ns: AVG_IDLE_NS,
            ..Placement::default()
        };
        for cpu in self.all() {
            record.cpus[cpu as usize] = self.cpu(pol, cpu);
        }
        self.limit_scans(pol, &mut record);
        self.fill_energy(pol, &mut record);
        record
    }

    fn placed_task(&self) -> PlaceTask {
        let Task { util, prev_cpu, uclamp_min, uclamp_max, .. } = self.task;
        let queue_load = self.load(prev_cpu);
        let mut task = PlaceTask {
            allowed: bits(&self.allowed),
            cpu: prev_cpu,
            recent_cpu: prev_cpu,
            uclamp_min,
            uclamp_max,
            numa_cpu: NO_CPU,
            queue_load,
            queue_h_load: queue_load,
            ..PlaceTask::default()
        };
        // Its queue was updated with it: nothing decays before the decision.
        (task.se.avg.last_update_time_ns, task.queue_update_ns) = (1 << 20, 1 << 20);
        let util = u64::from(util);
        (task.se.avg.util_avg, task.se.avg.runnable_avg, task.se.avg.load_avg) = (util, util, util);
        task.se.weight = NICE_0;
        task
    }

    /// Row of a CPU, with domains of its cache and of the machine.
    fn cpu(&self, pol: &Policy, cpu: u32) -> PlaceCpu {
        let own = [cpu];
        let cache = self.caches.iter().find(|cache| cache.contains(&cpu)).map_or(&own[..], Vec::as_slice);
        let at = cpu as usize;
        let (capacity, tasks, util) = (self.capacity[at], self.nr_running[at], self.util[at]);
        let first = cache.iter().copied().min().unwrap_or(cpu);
        let mut row = PlaceCpu {
            threads: 1 << cpu,
            capacity,
            load: self.load(cpu),
            nr_running: tasks,
            h_nr_queued: tasks,
            h_nr_runnable: tasks,
            curr_idle: u32::from(tasks == 0),
            uclamp_idle: u32::from(tasks == 0),
            exit_latency_ns: NO_IDLE_STATE,
            nr_idle_scan_llc: NO_LIMIT,
            nr_idle_scan_asym: NO_LIMIT,
            llc: first,
            cluster: first,
            llc_size: cache.len() as u32,
            llc_domain: NO_DOMAIN,
            asym_domain: NO_DOMAIN,
            ..PlaceCpu::default()
        };
        (row.state.cap_orig, row.state.uclamp_max) = (capacity, SCALE);
        (row.state.util_cfs, row.state.runnable_cfs, row.state.cfs_nr_running) = (util, util, tasks);
        self.add_domain(pol, &mut row, (&own, cache), sd::SHARE_LLC);
        self.add_domain(pol, &mut row, (cache, &self.all()), 0);
        row
    }

    /// Adds a domain over `cpus`, the CPU's group in it being those of the level below, unless it would be no larger.
    fn add_domain(&self, pol: &Policy, row: &mut PlaceCpu, (below, cpus): (&[u32], &[u32]), shared: u32) {
        if cpus.len() <= below.len() {
            return;
        }
        let level = SdLevel { shared, weight: cpus.len() as u32, classes: self.classes(cpus), distance: 0 };
        let mut domain = level.domain(pol, bits(cpus), self.classes(&self.all()));
        let capacities = || below.iter().map(|&cpu| self.capacity[cpu as usize]);
        domain.group_capacity = capacities().sum();
        domain.group_max_capacity = capacities().max().unwrap_or(0);
        domain.group_min_capacity = capacities().min().unwrap_or(0);
        let at = row.nr_domains;
        if shared != 0 {
            (row.llc_domain, domain.has_shared) = (at, 1);
        }
        if row.asym_domain == NO_DOMAIN && domain.flags & pol.asym_searched() != 0 {
            (row.asym_domain, domain.has_shared) = (at, 1);
        }
        row.domains[at as usize] = domain;
        row.nr_domains += 1;
    }

    /// Limits of searches for an idle CPU, from the utilization of the CPUs around, as a balance leaves them.
    fn limit_scans(&self, pol: &Policy, record: &mut Placement) {
        for cpu in 0..self.capacity.len() {
            let own = record.cpus[cpu];
            let limit = |at: u32| {
                let domain = own.domains[..own.nr_domains as usize].get(at as usize)?;
                let spanned = self.all().into_iter().filter(|&other| domain.span >> other & 1 != 0);
                let sum = spanned.map(|other| u64::from(record.cpus[other as usize].state.cpu_util(pol, false))).sum();
                Some(nr_idle_scan(sum, domain.span.count_ones(), domain.imbalance_pct))
            };
            let limits = [own.llc_domain, own.asym_domain].map(|at| limit(at).unwrap_or(NO_LIMIT));
            [record.cpus[cpu].nr_idle_scan_llc, record.cpus[cpu].nr_idle_scan_asym] = limits;
        }
    }

    /// Fills the energy model where the kernel places by energy: unequal CPUs whose powers are known. It lists the
    /// domain with the highest first CPU first.
    fn fill_energy(&self, pol: &Policy, record: &mut Placement) {
        if self.perf_domains.is_empty() || !pol.places_by_energy(record.asymmetric != 0, false, true) {
            return;
        }
        let mut next = 0;
        for (domain, (cpus, points)) in record.perf_domains.iter_mut().zip(self.domains_in_order()) {
            let model = EnergyModel::of_release(pol, points, self.capacity[cpus[0] as usize]);
            let states = model.states();
            record.states[next..next + states.len()].copy_from_slice(states);
            let nr_states = states.len() as u32;
            let (first_state, max_state) = (next as u32, nr_states - 1);
            *domain = PerfDomain { cpus: bits(cpus), first_state, nr_states, min_state: 0, max_state };
            next += states.len();
        }
        (record.energy_aware, record.nr_perf_domains) = (1, self.perf_domains.len() as u32);
    }

    fn domains_in_order(&self) -> Vec<&Perf> {
        let mut domains: Vec<&Perf> = self.perf_domains.iter().collect();
        domains.sort_by_key(|(cpus, _)| std::cmp::Reverse(cpus.iter().min().copied()));
        domains
    }

    /// Load of tasks of nice 0 that are always runnable.
    fn load(&self, cpu: u32) -> u64 {
        u64::from(self.nr_running[cpu as usize]) * NICE_0
    }

    fn all(&self) -> Vec<u32> {
        (0..self.capacity.len() as u32).collect()
    }

    /// Number of capacities among some CPUs.
    fn classes(&self, cpus: &[u32]) -> u32 {
        cpus.iter().map(|&cpu| self.capacity[cpu as usize]).collect::<BTreeSet<_>>().len() as u32
    }
}

/// Does each CPU stand in exactly one of these lists, none of which is empty?
fn is_parted<'a>(lists: impl Iterator<Item = &'a Vec<u32>>, cpus: usize) -> bool {
    let mut seen = vec![false; cpus];
    let mut take = |&cpu: &u32| seen.get_mut(cpu as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    let good = lists.into_iter().all(|list| !list.is_empty() && list.iter().all(&mut take));
    good && seen.into_iter().all(|seen| seen)
}

/// CPUs as a set of the record.
fn bits(cpus: &[u32]) -> u64 {
    cpus.iter().fold(0, |set, &cpu| set | 1 << cpu)
}

fn answer<'py>(py: Python<'py>, record: &Placement, placed: &Placed, cpu: u32) -> PyResult<Bound<'py, PyDict>> {
    let some = |cpu: u32| (cpu != NO_CPU).then_some(cpu);
    let mut energies = Vec::new();
    for compared in placed.energies() {
        let span = record.perf_domains.get(compared.perf_domain as usize).map_or(0, |domain| domain.cpus);
        let row = PyDict::new(py);
        row.set_item("perf_domain", (0..record.nr_cpus).filter(|at| span >> at & 1 != 0).collect::<Vec<_>>())?;
        row.set_item("cpu", some(compared.cpu))?;
        row.set_item("max_util", compared.max_util)?;
        row.set_item("busy", compared.busy)?;
        row.set_item("energy", compared.energy)?;
        energies.push(row);
    }
    let made = PyDict::new(py);
    made.set_item("cpu", cpu)?;
    made.set_item("how", placed.how())?;
    made.set_item("target", some(placed.target))?;
    made.set_item("overutilized", record.overutilized != 0)?;
    made.set_item("energies", energies)?;
    Ok(made)
}
