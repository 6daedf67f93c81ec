// SPDX-License-Identifier: GPL-2.0-only
//! Builds the state of a run from its inputs, refusing what cannot run, and closes the books at its end.

use std::collections::VecDeque;

use pelton_core::{EnergyModel, PLACE_CPUS_LARGEST, Policy, Rq, SugovCpu, SugovPolicy, governor_samples, value};
use pelton_schema::{Event, Sink};

use crate::SimError;
use crate::class::fair::{FairRq, FairRules};
use crate::class::levels::Levels;
use crate::cpu::clock::SignalClock;
use crate::cpu::requests::Targets;
use crate::cpu::server::Server;
use crate::engine::queue::{Ev, EventQueue};
use crate::engine::rest::Rows;
use crate::engine::rng::RunRng;
use crate::engine::state::{CpuState, DomainState, IdleLoop, Kind, Life, NO_TASK, Power, Task, TimerState};
use crate::engine::timers::Timers;
use crate::engine::{Engine, Hooks};
use crate::freq::demand::Clocks;
use crate::freq::limits::DomainLimits;
use crate::hw::energy::{ClusterEnergy, FJ_PER_UJ};
use crate::misfit::misfit;
use crate::program::birth::new_task;
use crate::program::sync::Objects;
use crate::report::{CpuReport, DomainReport, Report, TaskReport};
use crate::rq::groups::Groups;
use pelton_model::RunConfig;
use pelton_model::machine::{FreqDomain, Machine};
use pelton_model::workload::{CpuSet, SchedPolicy, Start, Workload};

/// Longest run, ns: one simulated day.
const DURATION_NS_MAX: u64 = 86_400_000_000_000;
/// Run length when neither the run nor the workload says one, ns.
const DURATION_NS_DEFAULT: u64 = 10_000_000_000;
/// The kernel's clocks at the start of a run: a machine that has been up for a while (2^40 ns, about 18 minutes).
const BOOT_NS: u64 = 1 << 40;
/// One PELT period: where in it a run starts is random in repetitions.
const PELT_PERIOD_NS: u64 = 1 << 20;
/// Random start offsets are at most this long, ns.
const START_JITTER_NS: u64 = 20_000_000;

/// Thread of a governor that must not wait.
const WORKER_FIFO: SchedPolicy = SchedPolicy::Fifo { priority: 50 };
/// Thread of interactive.
const WORKER_FIRST: SchedPolicy = SchedPolicy::Fifo { priority: 99 };

/// Name of the thread that a domain's governor has, if it has one.
fn worker_name(spec: &FreqDomain, policy: &Policy) -> Option<String> {
    let cpu = spec.cpus[0];
    match policy.governor {
        value::GOVERNOR_SCHEDUTIL => (!spec.fast_switch).then(|| format!("sugov:{cpu}")),
        value::GOVERNOR_SCHED_DVFS => (!spec.fast_switch).then(|| format!("kschedfreq:{cpu}")),
        // The window is waited for in a thread, however fast the driver is.
        value::GOVERNOR_SCHED_DVFS_V7 => Some(format!("kschedfreq:{cpu}")),
        value::GOVERNOR_INTERACTIVE => Some(format!("cfinteractive:{cpu}")),
        _ => governor_samples(policy).then(|| format!("kworker/dbs:{cpu}")),
    }
}

/// Names of the governor's threads, which follow the tasks of the workload.
pub fn worker_names(m: &Machine, policy: &Policy) -> Vec<String> {
    m.domains.iter().filter_map(|spec| worker_name(spec, policy)).collect()
}

/// Checks that the inputs can run together.
fn check(m: &Machine, w: &Workload, policy: &Policy) -> Result<(), SimError> {
    pelton_model::check(m, w)?;
    if m.cpus.len() > PLACE_CPUS_LARGEST {
        let text = format!("a machine of {} CPUs; there is room for {PLACE_CPUS_LARGEST}", m.cpus.len());
        return Err(SimError::Unsupported(text));
    }
    if w.priority_inheritance && w.mutexes > 0 {
        return Err(SimError::Unsupported("mutexes with priority inheritance (pi_enabled) are not modelled".into()));
    }
    crate::freq::thermal::check(m, w, policy).map_err(SimError::Plan)?;
    misfit(m, w, policy).map_or(Ok(()), |misfit| Err(misfit.into()))
}

/// How long the run, or else the workload, asks for.
fn wanted_ns(w: &Workload, cfg: &RunConfig) -> u64 {
    if cfg.duration_ns > 0 { cfg.duration_ns } else { w.duration_ns.unwrap_or(DURATION_NS_DEFAULT) }
}

fn new_cpu(m: &Machine, policy: &Policy, start_ns: u64, groups: usize, c: u32) -> CpuState {
    let spec = &m.cpus[c as usize];
    let states = m.domains[spec.domain as usize].idle_states.len().max(1);
    CpuState {
        rq: Rq::new(policy, start_ns, spec.capacity, 1024),
        curr: NO_TASK,
        class: None,
        power: Power::Idle { state: 0 },
        accounted_ns: 0,
        speed: 1,
        speed_of: (0, (0, 1)),
        overhead_ns: 0,
        power_opp: 0,
        irq_depth: 0,
        irq_pending_ns: 0,
        rt_limit: pelton_core::RtLimit::new(),
        uclamp: pelton_core::UclampRq::new(policy),
        clamp_sum: Default::default(),
        boost: Default::default(),
        timers_of: Default::default(),
        dbs: Default::default(),
        iowait_ns: 0,
        nice_ns: 0,
        uncharged_ns: 0,
        server: Server::new(policy),
        runtime_accounted_ns: 0,
        segment: Default::default(),
        tick: Default::default(),
        request_timer_ns: None,
        idle_generation: 0,
        need_resched: false,
        need_resched_lazy: false,
        reaction: Default::default(),
        wake_resched: false,
        idle_loop: IdleLoop::In,
        idle_path: false,
        tick_stopped: false,
        tick_due: false,
        poll_limited: false,
        menu: Default::default(),
        teo: Default::default(),
        idle_since_ns: 0,
        idle_calls: 0,
        fair: FairRq::default(),
        levels: Levels::new(groups),
        rt: Default::default(),
        dl: Default::default(),
        workers: Vec::new(),
        sugov: SugovCpu::default(),
        timers: Timers::default(),
        nr_iowait: 0,
        deferred: Vec::new(),
        noted: 1 << 2,
        last_balance_ns: 0,
        newidle: pelton_core::Newidle::new(),
        idle_stamp_ns: None,
        walk: 0,
        pulls: false,
        last_refresh_ns: 0,
        last_blocked_ticks: 0,
        walking: None,
        searching_until_ns: 0,
        looked: false,
        energy: crate::hw::energy::CpuEnergy::new(states),
        report: new_report(states),
    }
}

fn new_report(idle_states: usize) -> CpuReport {
    let none = || vec![0; idle_states];
    CpuReport {
        idle_ns: none(),
        idle_entries: none(),
        idle_too_deep: none(),
        idle_too_shallow: none(),
        ..CpuReport::default()
    }
}

/// Cache group of a CPU; one that is in none shares a number that is no group's.
fn llc_of(m: &Machine, c: u32) -> u32 {
    m.llcs.iter().position(|l| l.contains(&c)).unwrap_or(m.llcs.len()) as u32
}

/// The CPUs of each cache group, and behind them those in none.
fn llc_sets(m: &Machine) -> Vec<CpuSet> {
    let of = |llc: u32| CpuSet::of((0..m.cpus.len() as u32).filter(|&c| llc_of(m, c) == llc));
    (0..=m.llcs.len() as u32).map(of).collect()
}

/// Streams of random numbers for the phases of firmware begin here.
const FIRMWARE_STREAM: u64 = 1 << 32;

/// When firmware that polls first looks; its clock knows nothing of the kernel's.
fn firmware_phase_ns(spec: &FreqDomain, cfg: &RunConfig, tick_phase_ns: u64, d: u32) -> u64 {
    match (spec.firmware_poll_ns, spec.firmware_after_tick_ns) {
        (0, _) => 0,
        (poll_ns, Some(after_ns)) => (tick_phase_ns + after_ns) % poll_ns,
        (poll_ns, None) if cfg.start_phase_random => {
            RunRng::new(cfg.seed, FIRMWARE_STREAM + u64::from(d)).up_to(poll_ns - 1)
        }
        _ => 0,
    }
}

fn new_domain(m: &Machine, policy: &Policy, cfg: &RunConfig, tick_phase_ns: u64, d: u32) -> DomainState {
    let spec = &m.domains[d as usize];
    let khz: Vec<u32> = spec.opps.iter().map(|o| o.khz).collect();
    let table = EnergyModel::marked_khz(policy, &khz, &spec.energy_model_uw, m.cpus[spec.cpus[0] as usize].capacity);
    let start = if spec.initial_khz == 0 { khz[0] } else { spec.initial_khz };
    let opp = khz.iter().position(|&k| k >= start).unwrap_or(khz.len() - 1);
    let dbs = crate::freq::sampling::record(policy, spec, &khz, khz[opp], m.tick_ns());
    let start = dbs.start_khz(policy, &khz).unwrap_or(khz[opp]);
    let opp = khz.iter().position(|&k| k >= start).unwrap_or(khz.len() - 1);
    let rate_limit_us = cfg.rate_limit_us.or(spec.rate_limit_us);
    let delay_us = spec.transition_delay_us.unwrap_or(0) as u32;
    let default_us = || u64::from(pelton_core::default_rate_limit_us(policy, spec.transition_latency_ns, delay_us));
    let mut sugov = SugovPolicy {
        nr_cpus: spec.cpus.len() as u32,
        min_khz: khz[0],
        max_khz: khz[khz.len() - 1],
        ref_khz: spec.ref_khz,
        cur_khz: khz[opp],
        fast_switch: u32::from(spec.fast_switch),
        remote_ok: u32::from(spec.dvfs_from_any_cpu),
        freq_invariant: u32::from(spec.freq_invariant),
        need_update_limits: u32::from(spec.every_limit_change),
        ..SugovPolicy::default()
    };
    sugov.init(policy, rate_limit_us.unwrap_or_else(default_us).min(u64::from(u32::MAX)) as u32);
    sugov.init_gate(policy, spec.switch_time_ns, m.costs.context_switch_ns);
    let time_in_state_ns = vec![0; khz.len()];
    let report =
        DomainReport { name: spec.name.clone(), khz: khz.clone(), time_in_state_ns, ..DomainReport::default() };
    DomainState {
        needed_khz: 0,
        sd: crate::freq::votes::record(policy, spec, &khz, khz[opp]),
        votes: vec![pelton_core::Vote::default(); spec.cpus.len()],
        kick_pending: false,
        dbs,
        interactive: crate::freq::timers::record(policy, &khz, khz[opp]),
        sample_deferred: false,
        sample_generation: 0,
        limits: DomainLimits::behind(firmware_phase_ns(spec, cfg, tick_phase_ns, d)),
        told_khz: start,
        sugov,
        opp: opp as u32,
        governor_khz: if spec.no_table { Vec::new() } else { table },
        khz,
        worker: None,
        setting_khz: 0,
        in_driver: false,
        kicked: false,
        since_ns: 0,
        report,
    }
}

/// Whether walks pass over idle CPUs that rest. Who is told of balances is told of each; where refreshing loads takes
/// time, walks go on later; energy and fading loads ask more of a balance of idle CPUs.
fn rows<S: Sink>(m: &Machine, policy: &Policy) -> Rows {
    let plain = policy.balance >= value::BALANCE_LOADS && !m.costs.blocked();
    let large = m.cpus.len() > pelton_core::PLACE_CPUS_MAX && m.cpus.iter().all(|c| c.capacity == m.cpus[0].capacity);
    let llc_of: Vec<u32> = (0..m.cpus.len() as u32).map(|c| llc_of(m, c)).collect();
    Rows::new(!S::BALANCES && plain && large, &llc_of)
}

impl<'a, S: Sink> Engine<'a, S> {
    /// A run ready to start.
    pub(crate) fn new(
        m: &'a Machine,
        w: &'a Workload,
        policy: &'a Policy,
        cfg: &RunConfig,
        sink: S,
    ) -> Result<Self, SimError> {
        let n = check(m, w, policy).map(|()| m.cpus.len() as u32)?;
        let mut rng = RunRng::new(cfg.seed, 0);
        let (tick_ns, (tick_phase_ns, boot_ns)) = (m.tick_ns(), start_phase(&mut rng, cfg, m.tick_ns()));
        let signal_clock = SignalClock { boot_ns, half_life_ms: cfg.half_life_ms };
        let (groups, placing) = (Groups::of(w, policy)?, crate::sched::placing::Placing::new(m, w, policy));
        let engine = Engine {
            m,
            boot_ns,
            counted_from_ns: cfg.counted_from_ns,
            signal_clock,
            w,
            policy,
            fair_rules: FairRules::new(policy, m.cpus.len() as u32, m.tick_ns()),
            hooks: Hooks::of(policy, tick_ns),
            quotas: w.sets_quotas() && policy.bandwidth != value::BANDWIDTH_OFF,
            boosts: crate::rq::boosts::Boosts::of(w, policy),
            clamped: crate::rq::clamps::are_used(w, policy),
            clamp_sums: crate::rq::clamps::are_used(w, policy) && crate::rq::clamps::add_up(policy),
            limits_groups: crate::rq::clamps::limit_groups(w, policy),
            balancing: crate::sched::balancing::Balancing::new(placing.record(), policy, cfg.seed),
            caches: crate::cpu::cache_aware::CacheAware::new(placing.record(), policy, w, tick_ns),
            placing,
            asymmetric: m.cpus.iter().any(|c| c.capacity != m.cpus[0].capacity),
            now: 0,
            end_ns: wanted_ns(w, cfg).min(DURATION_NS_MAX),
            tick_ns,
            tick_phase_ns,
            queue: EventQueue::new(m.cpus.len()),
            cpus: (0..n).map(|c| new_cpu(m, policy, signal_clock.at(0), groups.list.len(), c)).collect(),
            groups,
            tasks: Vec::new(),
            domains: (0..m.domains.len() as u32).map(|d| new_domain(m, policy, cfg, tick_phase_ns, d)).collect(),
            frequencies: cfg.frequencies.clone(),
            objects: Objects::new(w),
            shared_timers: vec![TimerState::default(); w.shared_timers as usize],
            resched: VecDeque::new(),
            exec: 0,
            rng,
            sink,
            sim_events: 0,
            living: 0,
            overloaded: CpuSet::default(),
            idle: CpuSet::first(n),
            llc_of: (0..n).map(|c| llc_of(m, c)).collect(),
            llc_sets: llc_sets(m),
            nohz: CpuSet::default(),
            fresh_rows: rows::<S>(m, policy),
            rt_waiting: CpuSet::default(),
            dl_waiting: CpuSet::default(),
            chores: Default::default(),
            targets: Targets::new(m, policy),
            clocks: Clocks::default(),
            idle_tables: crate::hw::idle::idle_tables(m),
            shared_hardware: m.shares_hardware(),
            active_cores: vec![0; m.clusters.len().max(1)],
            cluster_up_ns: vec![0; m.clusters.len().max(1)],
            thermal: crate::freq::thermal::zones(m, policy),
            cluster_energy: vec![ClusterEnergy::default(); m.clusters.len()],
            spinning: None,
            instant_steps: 0,
        };
        Ok(engine.begin(cfg))
    }

    /// Everything that needs the machine, the policy and the workload together.
    fn begin(mut self, cfg: &RunConfig) -> Self {
        // Only schedutil has a frequency that it needs: what others ask for is no measure of them.
        if cfg.demand && self.policy.governor == value::GOVERNOR_SCHEDUTIL {
            self.clocks = Clocks::of(self.m, &self.domains);
        }
        for c in 0..self.m.cpus.len() as u32 {
            self.refresh_capacity(c);
            self.note_search_cost(c);
        }
        self.start_limits();
        self.start_zones();
        self.start_boosts();
        self.start_quotas();
        self.tell_groups();
        self.create_tasks(cfg);
        self.put_asleep();
        self.start_hardware();
        self
    }

    /// Tasks that a recording found asleep.
    fn put_asleep(&mut self) {
        let w = self.w;
        for (i, spec) in w.tasks.iter().enumerate() {
            if let Start::Asleep { cpu } = spec.start {
                self.begin_asleep(i as u32, cpu);
            }
        }
    }

    fn create_tasks(&mut self, cfg: &RunConfig) {
        let w = self.w;
        for (i, spec) in w.tasks.iter().enumerate() {
            let task = self.task_from_spec(i as u32, spec);
            self.tasks.push(task);
            let offset_ns = match spec.start {
                Start::OnFork | Start::Asleep { .. } => continue,
                Start::After(ns) => ns,
                Start::Within(max_ns) => self.rng.up_to(max_ns),
                Start::AtStart if cfg.start_phase_random => self.rng.up_to(START_JITTER_NS),
                Start::AtStart => 0,
            };
            self.living += 1;
            self.queue.push(offset_ns, Ev::TaskStart { task: i as u32 });
        }
        for d in 0..self.m.domains.len() as u32 {
            if let Some(name) = worker_name(&self.m.domains[d as usize], self.policy) {
                self.create_worker(d, name);
            }
        }
    }

    fn create_worker(&mut self, d: u32, name: String) {
        let spec = &self.m.domains[d as usize];
        let policy = match self.policy.governor {
            value::GOVERNOR_INTERACTIVE => WORKER_FIRST,
            _ if governor_samples(self.policy) => SchedPolicy::default(),
            _ => WORKER_FIFO,
        };
        let mut task = new_task(Kind::Worker { domain: d }, name, policy, CpuSet::of(spec.cpus.iter().copied()), 0);
        let schedutil = self.policy.governor == value::GOVERNOR_SCHEDUTIL;
        if schedutil && self.policy.worker == value::WORKER_DEADLINE {
            task.class = crate::class::Class::Worker;
            task.prio = pelton_schema::PRIO_DEADLINE;
        }
        task.life = Life::Sleeping;
        task.fair.fresh = policy != SchedPolicy::default();
        self.domains[d as usize].worker = Some(self.tasks.len() as u32);
        self.tasks.push(task);
    }

    fn start_hardware(&mut self) {
        for d in 0..self.domains.len() {
            let khz = self.domains[d].khz[self.domains[d].opp as usize];
            for &c in &self.m.domains[d].cpus {
                self.apply_speed(c, khz);
                self.see_frequency(c, khz);
            }
        }
        for c in 0..self.cpus.len() as u32 {
            let d = self.m.cpus[c as usize].domain as usize;
            self.emit(Event::CpuFrequency { cpu: c, freq_khz: self.domains[d].sugov.cur_khz });
            self.signal_enter_idle(c);
            self.restart_tick(c);
            self.enter_idle(c);
        }
        for domain in 0..self.frequencies.len().min(self.domains.len()) as u32 {
            if let Some(first) = self.frequencies[domain as usize].first() {
                self.queue.push(first.at_ns, Ev::GivenFrequency { domain, index: 0 });
            }
        }
        for d in 0..self.domains.len() as u32 {
            if self.samples(d) {
                self.arm_sample(d);
            }
        }
        self.start_timers();
        for (i, irq) in self.w.irqs.iter().enumerate() {
            let first = irq.period_ns.max(1).saturating_add(self.rng.up_to(irq.jitter_ns));
            self.queue.push(first, Ev::IrqStart { source: i as u32 });
        }
    }

    /// Totals at the end of the run.
    pub(crate) fn finish(&mut self) -> Report {
        if self.living > 0 {
            self.now = self.end_ns;
        }
        for c in 0..self.cpus.len() as u32 {
            self.account(c);
            self.cluster_power_changes(c);
        }
        for d in 0..self.domains.len() as u32 {
            self.close_time_in_state(d);
        }
        self.close_waiting();
        Report {
            duration_ns: self.now,
            sim_events: self.sim_events,
            stuck_tasks: self.stuck(),
            demand: std::mem::take(&mut self.clocks).finish(self.now),
            domains: (0..self.domains.len()).map(|d| self.domain_report(d)).collect(),
            tasks: self.tasks.iter_mut().map(|task| task_report(task, self.m.energy_basis().active)).collect(),
            cpus: self.cpus.iter_mut().map(cpu_report).collect(),
            energy_basis: self.m.energy_basis(),
            overutilized_ns: self.overutilized_ns(),
            quotas: self.quota_reports(),
            zones: self.zone_reports(),
            cluster_energy_uj: self.cluster_energy.iter().map(|c| (c.energy_fj / FJ_PER_UJ) as u64).collect(),
        }
    }

    /// Tasks that still wait have waited until now.
    fn close_waiting(&mut self) {
        let now = self.now;
        let cpus = &self.cpus;
        let waits = |t: u32, task: &Task| {
            let on_cpu = cpus[task.cpu as usize].curr == t;
            task.life == Life::Runnable && !on_cpu && !task.dl.throttled()
        };
        for (t, task) in self.tasks.iter_mut().enumerate() {
            if waits(t as u32, task) {
                task.report.wait_ns += now - task.waiting_since_ns;
            }
        }
    }

    fn domain_report(&mut self, d: usize) -> DomainReport {
        let cpus = &self.m.domains[d].cpus;
        let total: u128 = cpus.iter().map(|&c| self.cpus[c as usize].energy.all_fj()).sum();
        let mut report = std::mem::take(&mut self.domains[d].report);
        report.busy_ns = cpus.iter().map(|&c| self.cpus[c as usize].report.busy_ns).sum();
        report.energy_uj = self.m.domains[d].active_power_known().then_some((total / FJ_PER_UJ) as u64);
        report
    }
}

fn task_report(task: &mut Task, power_known: bool) -> TaskReport {
    let mut report = std::mem::take(&mut task.report);
    report.energy_uj = power_known.then_some((task.energy_fj / FJ_PER_UJ) as u64);
    let timed = report.timed_activations as i64;
    report.perf_index_milli = (timed > 0).then(|| task.perf_index_sum / timed.max(1));
    report
}

fn cpu_report(cpu: &mut CpuState) -> CpuReport {
    let mut report = std::mem::take(&mut cpu.report);
    report.energy_active_uj = (cpu.energy.active_fj() / FJ_PER_UJ) as u64;
    report.energy_idle_uj = (cpu.energy.idle_fj().iter().sum::<u128>() / FJ_PER_UJ) as u64;
    report.idle_energy_uj = cpu.energy.idle_fj().iter().map(|fj| (fj / FJ_PER_UJ) as u64).collect();
    report
}

/// Where the run begins within a tick, and in the kernel's clocks.
fn start_phase(rng: &mut RunRng, cfg: &RunConfig, tick_ns: u64) -> (u64, u64) {
    if !cfg.start_phase_random {
        return (0, BOOT_NS);
    }
    let tick_phase_ns = rng.up_to(tick_ns - 1);
    (tick_phase_ns, BOOT_NS + rng.up_to(PELT_PERIOD_NS - 1))
}
