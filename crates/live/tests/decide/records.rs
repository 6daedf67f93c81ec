// SPDX-License-Identifier: GPL-2.0-or-later
//! Random records of placements: machines as they are, and records that no machine gives.

use pelton_core::{EnergyModel, NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT};
use pelton_core::{PerfDomain, PlaceCpu, Placement, Policy, SchedDomain, sd, wf};

/// Kind of machine and decision of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Equal CPUs, two threads a core, 16 CPUs a cache; of 10 so many are busy, and full from 11 on.
    Equal(u64),
    /// The machine of `Equal`, for a task that is new or loads another program.
    New,
    /// Four small and four large CPUs, placed on by energy.
    Energy,
    /// The machine of `Energy`, over-utilized, and for a new task.
    Unequal,
    /// Every number is any number.
    Any,
    /// A machine whose counts are beyond what the record has room for.
    Torn,
}

/// Kinds, as often as they come.
pub const KINDS: [Kind; 12] = [
    Kind::Equal(0),
    Kind::Equal(5),
    Kind::Equal(10),
    Kind::Equal(11),
    Kind::New,
    Kind::Energy,
    Kind::New,
    Kind::Energy,
    Kind::Unequal,
    Kind::Energy,
    Kind::Any,
    Kind::Torn,
];

pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32 ^ self.0 << 32
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 32) % n
    }

    /// True in `n` of ten cases.
    fn in_ten(&mut self, n: u64) -> bool {
        self.below(10) < n
    }

    fn bit(&mut self) -> u32 {
        self.below(2) as u32
    }
}

/// The CPUs of a level of this size around a CPU.
fn around(cpu: u32, size: u32) -> u64 {
    let all = if size >= 64 { u64::MAX } else { (1 << size) - 1 };
    all << (cpu / size * size)
}

fn domain(cpu: u32, size: u32, group: u32, flags: u32) -> SchedDomain {
    SchedDomain {
        span: around(cpu, size),
        flags: flags | sd::BALANCE_EXEC | sd::BALANCE_FORK | sd::WAKE_AFFINE,
        imbalance_pct: if size == 2 { 110 } else { 117 },
        imb_numa_nr: 2,
        has_shared: u32::from(size == 16),
        group_capacity: group * 1024,
        group_max_capacity: 1024,
        group_min_capacity: 1024,
        ..SchedDomain::default()
    }
}

/// Fills a CPU with running tasks and utilization; of 10 CPUs `busy` run something.
fn fill(d: &mut Dice, cpu: &mut PlaceCpu, busy: u64) {
    let capacity = cpu.state.cap_orig;
    let running = u32::from(d.in_ten(busy)) * (1 + d.below(3) as u32);
    let part = if running == 0 { 4 } else { 100 };
    cpu.state.util_cfs = d.below(u64::from(capacity) * part / 100 + 1) as u32;
    if busy > 10 {
        cpu.state.util_cfs = capacity - d.below(20) as u32;
    }
    cpu.state.runnable_cfs = cpu.state.util_cfs + d.below(200) as u32 * running;
    cpu.state.util_est = d.below(u64::from(cpu.state.util_cfs) + 50) as u32;
    (cpu.state.util_rt, cpu.state.util_irq) = (d.below(40) as u32, d.below(30) as u32);
    (cpu.state.util_dl, cpu.state.rt_nr_running) = (d.below(20) as u32, u32::from(d.in_ten(1)));
    cpu.state.uclamp_max = if d.in_ten(7) { 1024 } else { d.below(1025) as u32 };
    cpu.state.uclamp_min = if d.in_ten(7) { 0 } else { d.below(600) as u32 };
    cpu.state.cfs_nr_running = running;
    cpu.capacity = capacity - d.below(u64::from(capacity) / 4) as u32;
    (cpu.load, cpu.load_avg) = (d.below(2048) * u64::from(running), d.below(4096));
    (cpu.nr_running, cpu.h_nr_queued, cpu.h_nr_runnable) = (running, running, running);
    cpu.h_nr_idle = if d.in_ten(1) { running } else { 0 };
    (cpu.curr_idle, cpu.ttwu_pending) = (u32::from(running == 0), u32::from(d.in_ten(1)));
    (cpu.uclamp_idle, cpu.has_idle_cores) = (d.bit(), d.bit());
    cpu.exit_latency_ns = if d.bit() == 0 { NO_IDLE_STATE } else { 1000 * d.below(4) as u32 };
    cpu.idle_stamp_ns = d.below(1 << 20);
    cpu.nr_idle_scan_llc = if d.in_ten(3) { NO_LIMIT } else { d.below(17) as u32 };
    cpu.nr_idle_scan_asym = if d.in_ten(3) { NO_LIMIT } else { d.below(9) as u32 };
    (cpu.hw_pressure, cpu.cpufreq_pressure) = (d.below(60) as u32, d.below(90) as u32);
}

/// Two packages of 16 CPUs with two threads a core.
fn equal(d: &mut Dice, busy: u64) -> Placement {
    let mut s = Placement { nr_cpus: 32, smt: 1, smt_threads: 2, ..Placement::default() };
    for number in 0..32 {
        let mut cpu =
            PlaceCpu { threads: around(number, 2), llc: number / 16, cluster: number / 2, ..PlaceCpu::default() };
        cpu.domains[0] = domain(number, 2, 1, sd::SHARE_CPUCAPACITY | sd::SHARE_LLC);
        cpu.domains[1] = domain(number, 16, 2, sd::SHARE_LLC);
        cpu.domains[2] = domain(number, 32, 16, sd::NUMA);
        (cpu.nr_domains, cpu.llc_domain, cpu.asym_domain, cpu.llc_size) = (3, 1, NO_DOMAIN, 16);
        cpu.state.cap_orig = 1024;
        fill(d, &mut cpu, busy);
        s.cpus[number as usize] = cpu;
    }
    s
}

/// Four small CPUs and four large ones of one cache.
fn unequal(d: &mut Dice, policy: &Policy) -> Placement {
    let mut s = Placement { nr_cpus: 8, asymmetric: 1, energy_aware: 1, nr_perf_domains: 2, ..Placement::default() };
    let busy = d.below(11);
    for number in 0..8 {
        let mut cpu = PlaceCpu { threads: 1 << number, cluster: number / 4, ..PlaceCpu::default() };
        cpu.state.cap_orig = if number < 4 { 446 } else { 1024 };
        cpu.domains[0] = domain(number, 8, 1, sd::SHARE_LLC | sd::ASYM_CPUCAPACITY);
        cpu.domains[0].group_capacity = cpu.state.cap_orig;
        (cpu.nr_domains, cpu.llc_domain, cpu.asym_domain, cpu.llc_size) = (1, 0, 0, 8);
        fill(d, &mut cpu, busy);
        s.cpus[number as usize] = cpu;
    }
    for (at, capacity) in [1024, 446].into_iter().enumerate() {
        let opps: Vec<_> = (1..=5).map(|k| (400_000 * k, 15_000 * u64::from(capacity / 400 * k * (k + 1)))).collect();
        let model = EnergyModel::of_release(policy, &opps, capacity);
        s.states[at * 5..at * 5 + 5].copy_from_slice(model.states());
        let cpus = if at == 0 { 0xf0 } else { 0x0f };
        s.perf_domains[at] =
            PerfDomain { cpus, first_state: at as u32 * 5, nr_states: 5, min_state: 0, max_state: d.below(5) as u32 };
    }
    s
}

/// The task and its waker, and what is asked for.
fn task(d: &mut Dice, s: &mut Placement, flags: u32) {
    let cpus = u64::from(s.nr_cpus);
    (s.this_cpu, s.prev_cpu, s.flags) = (d.below(cpus) as u32, d.below(cpus) as u32, flags);
    s.uclamp_used = u32::from(d.in_ten(4));
    (s.avg_idle_ns, s.avg_scan_cost_ns) = (d.below(1 << 20), d.below(1 << 12));
    let t = &mut s.task;
    t.allowed = if d.in_ten(7) { u64::MAX >> (64 - cpus) } else { d.next() };
    (t.se.weight, t.se.avg.util_avg, t.se.avg.load_avg) = (1024, d.below(400), d.below(1024));
    t.se.avg.runnable_avg = t.se.avg.util_avg + d.below(100);
    (t.se.avg.util_est_enqueued, t.se.avg.util_est_ewma) = (d.below(400) as u32, d.below(400) as u32);
    t.se.avg.last_update_time_ns = if d.in_ten(1) { 0 } else { 1 << 20 };
    t.queue_update_ns = (1 << 20) + d.below(1 << 26);
    (t.queue_load, t.queue_h_load) = (d.below(4096), d.below(4096));
    (t.cpu, t.recent_cpu, t.wakee_flips) = (s.prev_cpu, d.below(cpus) as u32, d.below(40) as u32);
    (t.sched_idle, t.uclamp_min, t.uclamp_max) = (u32::from(d.in_ten(1)), d.below(500) as u32, d.below(1025) as u32);
    t.numa_cpu = if d.bit() == 0 { NO_CPU } else { d.below(cpus) as u32 };
    let w = &mut s.waker;
    (w.load, w.queue_load, w.queue_h_load) = (d.below(1024), d.below(4096), d.below(4096));
    (w.wakee_flips, w.flips_expired, w.same_wakee) = (d.below(40) as u32, d.bit(), d.bit());
    (w.exiting, w.pinned_kthread) = (u32::from(d.in_ten(1)), u32::from(d.in_ten(1)));
}

fn wakes(d: &mut Dice) -> u32 {
    let sync = if d.in_ten(3) { wf::SYNC } else { 0 };
    wf::TTWU | sync | if d.in_ten(1) { wf::CURRENT_CPU } else { 0 }
}

/// Numbers of a machine's record that are beyond what there is room for.
fn tear(d: &mut Dice, s: &mut Placement) {
    let beyond = |d: &mut Dice| if d.bit() == 0 { u32::MAX } else { 1 << d.below(32) };
    (s.nr_cpus, s.nr_perf_domains, s.this_cpu) = (beyond(d), beyond(d), beyond(d));
    (s.prev_cpu, s.task.cpu, s.task.recent_cpu) = (beyond(d), beyond(d), beyond(d));
    for domain in &mut s.perf_domains {
        (domain.first_state, domain.nr_states, domain.max_state) = (beyond(d), beyond(d), beyond(d));
        (domain.min_state, domain.cpus) = (beyond(d), d.next());
    }
    for cpu in &mut s.cpus {
        (cpu.nr_domains, cpu.llc_domain, cpu.asym_domain) = (beyond(d), beyond(d), beyond(d));
        cpu.threads = d.next();
    }
}

/// A record whose every byte is any byte.
fn any(d: &mut Dice) -> Placement {
    let mut s = Placement::default();
    let words = size_of::<Placement>() / 8;
    // SAFETY: the record is words and halves of words without gaps, and any bits are a value of each.
    let bytes = unsafe { std::slice::from_raw_parts_mut((&raw mut s).cast::<u64>(), words) };
    bytes.fill_with(|| if d.in_ten(3) { d.below(2) } else { d.next() });
    s
}

/// A record of this kind. Energy models are those of the policy.
pub fn record(d: &mut Dice, kind: Kind, policy: &Policy) -> Placement {
    let is_new = [wf::FORK, wf::EXEC][d.below(2) as usize];
    let (mut s, flags) = match kind {
        Kind::Equal(busy) => (equal(d, busy), wakes(d)),
        Kind::New => {
            let busy = d.below(12);
            (equal(d, busy), is_new)
        }
        Kind::Energy => (unequal(d, policy), wf::TTWU),
        Kind::Unequal | Kind::Torn => {
            let flags = if d.in_ten(6) { wakes(d) } else { is_new };
            (unequal(d, policy), flags)
        }
        Kind::Any => return any(d),
    };
    task(d, &mut s, flags);
    s.overutilized = u32::from(kind == Kind::Unequal || (kind == Kind::Torn && d.in_ten(3)));
    if kind == Kind::Torn {
        tear(d, &mut s);
    }
    s
}
