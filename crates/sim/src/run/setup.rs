// SPDX-License-Identifier: GPL-2.0-or-later
//! Builds the state of a run from its inputs, refusing what cannot run, and closes the books at its end.

use pelton_core::kernel::{KERNEL_HZ, KERNEL_OPPS, KernelCode};
use pelton_core::{
    BoostCpu, EnergyModel, PLACE_CPUS_LARGEST, Policy, Rq, SugovPolicy, UclampRq, UclampSumRq, governor_samples, value,
};
use pelton_model::RunConfig;
use pelton_model::machine::{FreqDomain, Machine};
use pelton_model::workload::{CpuSet, SchedPolicy, Start, Workload};
use pelton_schema::Event;

use crate::SimError;
use crate::class::deadline::DlRq;
use crate::class::fair::{FairRq, FairRules};
use crate::class::levels::Levels;
use crate::class::realtime::RtRq;
use crate::class::worker::WorkerRq;
use crate::cpu::cache_aware::CacheAware;
use crate::cpu::clock::SignalClock;
use crate::cpu::line::{Line, Lines};
use crate::cpu::quota::Budgets;
use crate::cpu::requests::Targets;
use crate::cpu::resched::Resched;
use crate::cpu::search::Search;
use crate::cpu::server::Server;
use crate::cpu::wake_list::WakeList;
use crate::engine::life::Kind;
use crate::engine::nohz::Nohz;
use crate::engine::queue::{Ev, EventQueue};
use crate::engine::rest::Rows;
use crate::engine::rng::RunRng;
use crate::engine::timers::Timers;
use crate::freq::limits::DomainLimits;
use crate::freq::parts::{CpuGoverned, DomainGoverned, Governing, kernel_below};
use crate::freq::thermal::zones;
use crate::hw::energy::FJ_PER_UJ;
use crate::hw::idle::IdleGovernor;
use crate::hw::power::CpuPower;
use crate::hw::speed::{Clocked, Hardware};
use crate::kernel_code::Kernel;
use crate::misfit::misfit;
use crate::program::birth::new_task;
use crate::program::place::Programs;
use crate::report::{CpuReport, DomainReport, Report, TaskReport};
use crate::rq::boosts::Boosts;
use crate::rq::clamps;
use crate::rq::groups::Groups;
use crate::rq::parts::{Updates, Waiting};
use crate::run::dispatch::Pace;
use crate::sched::balancing::Balancing;
use crate::sched::parts::{CpuSched, Sched, llc_of};
use crate::sched::placing::Placing;
use crate::shape::{Code, Rules, Run, Used};
use crate::state::{CpuState, DomainState, Engine, NO_TASK, Task, Uses};

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

/// Checks that a kernel's own code has room for the machine, and its tick.
fn check_kernel(m: &Machine, code: Option<&dyn KernelCode>) -> Result<(), SimError> {
    let Some(code) = code else { return Ok(()) };
    let opps = m.domains.iter().map(|domain| domain.opps.len()).max().unwrap_or(0);
    let text = if m.cpus.len() > code.cpus() as usize {
        format!("kernel code on a machine of {} CPUs; it has room for {}", m.cpus.len(), code.cpus())
    } else if opps > KERNEL_OPPS {
        format!("kernel code on a machine with {opps} operating points; it has room for {KERNEL_OPPS} of a domain")
    } else if m.nodes.len() > 1 {
        format!("kernel code on a machine of {} memory nodes; it is compiled without them", m.nodes.len())
    } else if m.hz != KERNEL_HZ {
        format!("kernel code at {} ticks per second; it is compiled for {KERNEL_HZ}", m.hz)
    } else {
        return Ok(());
    };
    Err(SimError::Unsupported(text))
}

/// Length that the run, or else the workload, asks for.
fn wanted_ns(w: &Workload, cfg: &RunConfig) -> u64 {
    if cfg.duration_ns > 0 { cfg.duration_ns } else { w.duration_ns.unwrap_or(DURATION_NS_DEFAULT) }
}

fn new_cpu(m: &Machine, policy: &Policy, start_ns: u64, groups: usize, c: u32) -> CpuState {
    let spec = &m.cpus[c as usize];
    let states = m.domains[spec.domain as usize].idle_states.len().max(1);
    CpuState {
        curr: NO_TASK,
        running: None,
        resched: Resched::default(),
        wake_list: WakeList::default(),
        hw: CpuPower::new(states),
        line: Line::new(),
        search: Search::default(),
        sched: CpuSched::new(),
        fair: FairRq::default(),
        freq: CpuGoverned::default(),
        rq: Rq::new(policy, start_ns, spec.capacity, 1024),
        rt: RtRq::default(),
        dl: DlRq::default(),
        workers: WorkerRq::default(),
        timers: Timers::default(),
        idle: IdleGovernor::default(),
        report: new_report(states),
        levels: Levels::new(groups),
        uclamp: UclampRq::new(policy),
        clamp_sum: UclampSumRq::default(),
        boost: BoostCpu::default(),
        server: Server::new(policy),
        updates: Updates::default(),
    }
}

/// Features that the inputs use.
pub(crate) fn uses(w: &Workload, policy: &Policy) -> Uses {
    let clamped = clamps::are_used(w, policy);
    Uses {
        quotas: w.sets_quotas() && policy.bandwidth != value::BANDWIDTH_OFF,
        clamped,
        clamp_sums: clamped && clamps::add_up(policy),
        limits_groups: clamps::limit_groups(w, policy),
        boosts: !w.boosts.is_empty() || policy.boost > 0,
        boost_groups: !w.boosts.is_empty(),
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

/// Streams of random numbers for the phases of firmware begin here.
const FIRMWARE_STREAM: u64 = 1 << 32;

/// Time at which firmware that polls first looks; its clock is independent of the kernel's.
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
    let capacity = m.cpus[spec.cpus[0] as usize].capacity;
    let table = EnergyModel::told_khz(policy, &khz, &spec.inefficient, &spec.energy_model_uw, capacity);
    let start = if spec.initial_khz == 0 { khz[0] } else { spec.initial_khz };
    let opp = khz.iter().position(|&k| k >= start).unwrap_or(khz.len() - 1);
    let dbs = crate::freq::sampling::record(policy, spec, &khz, khz[opp], m.tick_ns());
    let start = dbs.start_khz(policy, &khz).unwrap_or(khz[opp]);
    let opp = khz.iter().position(|&k| k >= start).unwrap_or(khz.len() - 1);
    let below = kernel_below(policy);
    let rules = below.as_deref().unwrap_or(policy);
    let rate_limit_us = cfg.rate_limit_us.or(spec.rate_limit_us);
    let delay_us = spec.transition_delay_us.unwrap_or(0) as u32;
    let default_us = || u64::from(pelton_core::default_rate_limit_us(rules, spec.transition_latency_ns, delay_us));
    let mut sugov = SugovPolicy {
        nr_cpus: spec.cpus.len() as u32,
        min_khz: khz[0],
        max_khz: khz[khz.len() - 1],
        ref_khz: spec.ref_khz,
        scale_khz: spec.told_scale_khz(),
        cur_khz: khz[opp],
        fast_switch: u32::from(spec.fast_switch),
        remote_ok: u32::from(spec.dvfs_from_any_cpu),
        freq_invariant: u32::from(spec.freq_invariant),
        need_update_limits: u32::from(spec.every_limit_change),
        ..SugovPolicy::default()
    };
    sugov.init(rules, rate_limit_us.unwrap_or_else(default_us).min(u64::from(u32::MAX)) as u32);
    sugov.init_gate(rules, spec.switch_time_ns, m.costs.context_switch_ns);
    let time_in_state_ns = vec![0; khz.len()];
    let report =
        DomainReport { name: spec.name.clone(), khz: khz.clone(), time_in_state_ns, ..DomainReport::default() };
    let freq = DomainGoverned {
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
        governor_khz: if spec.no_table { Vec::new() } else { table },
        worker_task: None,
        setting_khz: 0,
        in_driver: false,
        kicked: false,
    };
    DomainState { hw: Clocked::new(khz, opp as u32), freq, report }
}

/// Rows, with or without walks that pass over idle CPUs that rest. A sink that gets balances gets each; where
/// refreshing loads takes time, walks go on later; energy and fading loads ask more of a balance of idle CPUs.
fn rows<S: Run>(m: &Machine, policy: &Policy) -> Rows {
    let kernels = policy.balance >= value::BALANCE_LOADS && policy.host == value::HOST_KERNEL;
    let plain = kernels && !m.costs.blocked();
    let large = m.cpus.len() > pelton_core::PLACE_CPUS_MAX && m.cpus.iter().all(|c| c.capacity == m.cpus[0].capacity);
    let llc_of: Vec<u32> = (0..m.cpus.len() as u32).map(|c| llc_of(m, c)).collect();
    Rows::new(!S::BALANCES && plain && large, &llc_of)
}

impl<'a, S: Run> Engine<'a, S> {
    /// A run of the core alone, ready to start.
    #[cfg(test)]
    pub(crate) fn new(
        m: &'a Machine,
        w: &'a Workload,
        policy: &'a Policy,
        cfg: &RunConfig,
        sink: S,
    ) -> Result<Self, SimError> {
        Self::under(m, w, policy, cfg, sink, None)
    }

    /// A run ready to start; `code` decides where it can.
    pub(crate) fn under(
        m: &'a Machine,
        w: &'a Workload,
        policy: &'a Policy,
        cfg: &RunConfig,
        sink: S,
        code: Option<&'a mut dyn KernelCode>,
    ) -> Result<Self, SimError> {
        let n = check(m, w, policy).map(|()| m.cpus.len() as u32)?;
        check_kernel(m, code.as_deref())?;
        let mut rng = RunRng::new(cfg.seed, 0);
        let (tick_ns, (tick_phase_ns, boot_ns)) = (m.tick_ns(), start_phase(&mut rng, cfg, m.tick_ns()));
        let signal_clock = SignalClock { boot_ns, half_life_ms: cfg.half_life_ms };
        let (groups, placing) = (Groups::of(w, policy)?, Placing::new(m, w, policy));
        let engine = Engine {
            m,
            w,
            policy: Rules::of(policy),
            now: 0,
            exec: 0,
            boot_ns,
            end_ns: wanted_ns(w, cfg).min(DURATION_NS_MAX),
            tick_ns,
            tick_phase_ns,
            queue: EventQueue::new(m.cpus.len()),
            rng,
            sink,
            cpus: (0..n).map(|c| new_cpu(m, policy, signal_clock.at(0), groups.len() as usize, c)).collect(),
            tasks: Vec::new(),
            domains: (0..m.domains.len() as u32).map(|d| new_domain(m, policy, cfg, tick_phase_ns, d)).collect(),
            uses: Used::of(uses(w, policy)),
            fair_rules: FairRules::new(policy, m.cpus.len() as u32, m.tick_ns()),
            signal_clock,
            lines: Lines::default(),
            targets: Targets::new(m, policy, code.is_some()),
            caches: CacheAware::new(placing.record(), policy, w, tick_ns),
            hw: Hardware::new(m),
            freq: Governing::new(policy, cfg, tick_ns, zones(m, policy)),
            budgets: Budgets::new(groups.limits()),
            groups,
            boosts: Boosts::of(w),
            waiting: Waiting::default(),
            sched: Sched::new(m),
            balancing: Balancing::new(placing.record(), policy, cfg.seed),
            placing,
            nohz: Nohz::default(),
            fresh_rows: rows::<S>(m, policy),
            programs: Programs::new(w),
            pace: Pace::default(),
            kernel: Code::of(code.map(|code| Kernel::new(code, m.domains.len(), boot_ns))),
        };
        Ok(engine.begin(cfg))
    }

    /// Everything that needs the machine, the policy and the workload together.
    fn begin(mut self, cfg: &RunConfig) -> Self {
        // Only schedutil has a frequency that it needs: what others ask for is no measure of them.
        if cfg.demand && self.is_by_schedutil() {
            self.watch_need();
        }
        for c in 0..self.m.cpus.len() as u32 {
            self.refresh_capacity(c);
            self.note_search_cost(c);
        }
        self.start_limits();
        self.start_zones();
        self.start_boosts();
        self.start_quotas();
        self.start_askers();
        self.start_scx_ticker();
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
            self.programs.gains(spec);
            self.queue.push(offset_ns, Ev::TaskStart { task: i as u32 });
        }
        for d in 0..self.m.domains.len() as u32 {
            if let Some(name) = worker_name(&self.m.domains[d as usize], self.policy.get()) {
                self.create_worker(d, name);
            }
        }
    }

    fn create_worker(&mut self, d: u32, name: String) {
        let spec = &self.m.domains[d as usize];
        let policy = match self.policy.governor {
            value::GOVERNOR_INTERACTIVE => WORKER_FIRST,
            _ if governor_samples(self.policy.get()) => SchedPolicy::default(),
            _ => WORKER_FIFO,
        };
        let mut task = new_task(Kind::Worker { domain: d }, name, policy, CpuSet::of(spec.cpus.iter().copied()), 0);
        let schedutil = self.policy.governor == value::GOVERNOR_SCHEDUTIL;
        if schedutil && self.policy.worker == value::WORKER_DEADLINE {
            task.goes_first();
        }
        task.rests();
        if policy == SchedPolicy::default() {
            task.fair.was_here();
        }
        self.domains[d as usize].freq.works_by(self.tasks.len() as u32);
        self.tasks.push(task);
    }

    fn start_hardware(&mut self) {
        for d in 0..self.domains.len() {
            let khz = self.domains[d].hw.opp_khz();
            for &c in &self.m.domains[d].cpus {
                self.apply_speed(c, khz);
                self.see_frequency(c, khz);
            }
        }
        for c in 0..self.cpus.len() as u32 {
            let d = self.m.cpus[c as usize].domain as usize;
            self.emit(Event::CpuFrequency { cpu: c, freq_khz: self.domains[d].hw.set_khz() });
            self.signal_enter_idle(c);
            self.restart_tick(c);
            self.enter_idle(c);
        }
        self.start_given();
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
        if !self.programs.are_over() {
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
        let energy_basis = self.m.energy_basis();
        Report {
            duration_ns: self.now,
            sim_events: self.pace.events,
            stuck_tasks: self.stuck(),
            demand: self.need_reports(),
            domains: (0..self.domains.len()).map(|d| self.domain_report(d)).collect(),
            tasks: self.tasks.iter_mut().map(|task| task_report(task, energy_basis.active)).collect(),
            cpus: self.cpus.iter_mut().map(cpu_report).collect(),
            energy_basis,
            overutilized_ns: self.overutilized_ns(),
            quotas: self.quota_reports(),
            zones: self.zone_reports(),
            cluster_energy_uj: self
                .hw
                .clusters_drew_fj(self.m.clusters.len())
                .map(|fj| (fj / FJ_PER_UJ) as u64)
                .collect(),
            rest_energy_uj: self.rest_energy_uj(),
            kernel: self.kernel.as_ref().map(Kernel::report),
        }
    }

    fn rest_energy_uj(&self) -> Option<u64> {
        self.m.rest_uw.map(|uw| (u128::from(uw) * u128::from(self.now) / FJ_PER_UJ) as u64)
    }

    /// Tasks that still wait have waited until now.
    fn close_waiting(&mut self) {
        let now = self.now;
        let cpus = &self.cpus;
        let waits = |t: u32, task: &Task| {
            let on_cpu = cpus[task.cpu as usize].curr == t;
            task.is_runnable() && !on_cpu && !task.dl.throttled()
        };
        for (t, task) in self.tasks.iter_mut().enumerate() {
            if waits(t as u32, task) {
                task.report.wait_ns += task.sched.waits_ns(now);
            }
        }
    }

    fn domain_report(&mut self, d: usize) -> DomainReport {
        let cpus = &self.m.domains[d].cpus;
        let total: u128 = cpus.iter().map(|&c| self.cpus[c as usize].hw.drawn().all_fj()).sum();
        let mut report = std::mem::take(&mut self.domains[d].report);
        report.busy_ns = cpus.iter().map(|&c| self.cpus[c as usize].report.busy_ns).sum();
        report.energy_uj = self.m.domains[d].active_power_known().then_some((total / FJ_PER_UJ) as u64);
        let model_fj: u128 = cpus.iter().map(|&c| self.model_fj(c, 0)).sum();
        report.model_energy_uj = self.m.domains[d].model_power_known().then_some((model_fj / FJ_PER_UJ) as u64);
        report
    }
}

fn task_report(task: &mut Task, power_known: bool) -> TaskReport {
    let mut report = std::mem::take(&mut task.report);
    report.energy_uj = power_known.then_some((task.progress.energy_fj() / FJ_PER_UJ) as u64);
    report.perf_index_milli = task.program.perf_index_milli(report.timed_activations as i64);
    report
}

fn cpu_report(cpu: &mut CpuState) -> CpuReport {
    let mut report = std::mem::take(&mut cpu.report);
    report.energy_active_uj = (cpu.hw.drawn().active_fj() / FJ_PER_UJ) as u64;
    report.energy_idle_uj = (cpu.hw.drawn().idle_fj().iter().sum::<u128>() / FJ_PER_UJ) as u64;
    report.idle_energy_uj = cpu.hw.drawn().idle_fj().iter().map(|fj| (fj / FJ_PER_UJ) as u64).collect();
    report
}

/// Phase of the run's begin within a tick, and in the kernel's clocks.
fn start_phase(rng: &mut RunRng, cfg: &RunConfig, tick_ns: u64) -> (u64, u64) {
    if !cfg.start_phase_random {
        return (0, BOOT_NS);
    }
    let tick_phase_ns = rng.up_to(tick_ns - 1);
    (tick_phase_ns, BOOT_NS + rng.up_to(PELT_PERIOD_NS - 1))
}
