// SPDX-License-Identifier: GPL-2.0-or-later
//! Random machines, and tasks that wake, are new, or load a program on them: each is made from the number of a case.

use super::draw::Draw;
use pelton_core::{
    EnergyModel, NO_CPU, NO_DOMAIN, NO_IDLE_STATE, PerfDomain, PlaceCpu, PlaceTask, PlaceWaker, Placement, Policy,
    SdLevel, sd, wf,
};

/// CPUs of two clusters, threads of a core, whether the clusters share the cache, differ in size, are nodes.
#[derive(Clone, Copy)]
struct Shape {
    clusters: [u32; 2],
    threads: u32,
    one_cache: bool,
    unequal: bool,
    distance: u32,
}

const fn shape(clusters: [u32; 2], threads: u32, one_cache: bool, unequal: bool, distance: u32) -> Shape {
    Shape { clusters, threads, one_cache, unequal, distance }
}

const SHAPES: [Shape; 10] = [
    shape([4, 2], 1, true, true, 0),
    shape([4, 2], 1, false, true, 0),
    shape([4, 4], 1, true, true, 0),
    shape([4, 4], 2, false, true, 0),
    shape([8, 0], 1, true, false, 0),
    shape([8, 0], 2, true, false, 0),
    shape([4, 4], 1, false, false, 0),
    shape([4, 4], 2, false, false, 20),
    shape([4, 4], 1, false, false, 40),
    shape([7, 1], 1, false, false, 0),
];

impl Shape {
    fn nr_cpus(self) -> u32 {
        self.clusters[0] + self.clusters[1]
    }

    fn all(self) -> u64 {
        (1 << self.nr_cpus()) - 1
    }

    fn cluster(self, cpu: u32) -> u64 {
        let first = (1 << self.clusters[0]) - 1;
        if cpu < self.clusters[0] { first } else { self.all() & !first }
    }

    fn capacity(self, cpu: u32) -> u32 {
        if self.unequal && cpu < self.clusters[0] { 446 } else { 1024 }
    }

    fn threads(self, cpu: u32) -> u64 {
        ((1 << self.threads) - 1) << (cpu / self.threads * self.threads)
    }

    fn cache(self, cpu: u32) -> u64 {
        if self.one_cache { self.all() } else { self.cluster(cpu) }
    }
}

/// The machine and the task of a case, as a release sees them.
pub(super) fn case(n: u64, policy: &Policy) -> Placement {
    let draw = &mut Draw(n * 7919 + 17);
    let shape = SHAPES[draw.below(SHAPES.len() as u64) as usize];
    let longest_idle_ns = if draw.chance(50) { 2_000_000 } else { 20_000 };
    let mut m = Placement {
        nr_cpus: shape.nr_cpus(),
        asymmetric: shape.unequal.into(),
        smt: (shape.threads > 1).into(),
        avg_idle_ns: draw.below(longest_idle_ns),
        avg_scan_cost_ns: draw.below(3000),
        overutilized: draw.chance(40).into(),
        ..Placement::default()
    };
    let busy = draw.below(100);
    for at in 0..m.nr_cpus {
        m.cpus[at as usize] = cpu(draw, shape, policy, at, busy);
    }
    sums(&mut m);
    if shape.unequal && shape.threads == 1 && policy.energy_aware != 0 {
        energy(&mut m, shape, policy);
    }
    event(draw, &mut m);
    task(draw, &mut m);
    m
}

fn cpu(draw: &mut Draw, shape: Shape, policy: &Policy, at: u32, busy: u64) -> PlaceCpu {
    let cap_orig = shape.capacity(at);
    let mut c = PlaceCpu {
        load: draw.below(3000),
        idle_stamp_ns: draw.below(4),
        threads: shape.threads(at),
        capacity: if draw.chance(70) { cap_orig } else { 1 + draw.small(cap_orig) },
        nr_running: if draw.chance(busy) { 1 + draw.small(3) } else { 0 },
        exit_latency_ns: if draw.chance(40) { NO_IDLE_STATE } else { 10 * draw.small(3) },
        has_idle_cores: draw.chance(60).into(),
        llc: shape.cache(at).trailing_zeros(),
        llc_size: shape.cache(at).count_ones(),
        llc_domain: NO_DOMAIN,
        asym_domain: NO_DOMAIN,
        ..PlaceCpu::default()
    };
    if c.nr_running == 0 && draw.chance(60) {
        c.load = 0;
    }
    c.load_avg = c.load + u64::from(draw.seldom(50, 2000));
    (c.h_nr_queued, c.h_nr_runnable) = (c.nr_running, c.nr_running);
    c.h_nr_idle = if draw.chance(20) { c.nr_running } else { 0 };
    c.curr_idle = u32::from(c.nr_running == 0);
    (c.state.cap_orig, c.state.uclamp_max) = (cap_orig, 1024);
    c.state.util_cfs = draw.seldom(70, cap_orig);
    if policy.util_est != 0 {
        c.state.util_est = draw.seldom(50, cap_orig);
    }
    domains(&mut c, shape, policy, at);
    c
}

fn domains(c: &mut PlaceCpu, shape: Shape, policy: &Policy, at: u32) {
    let kind = if shape.distance > 0 { sd::NUMA } else { 0 };
    let levels = [
        (shape.threads(at), sd::SHARE_CPUCAPACITY | sd::SHARE_LLC, 0),
        (shape.cache(at), sd::SHARE_LLC, 0),
        (shape.all(), kind, shape.distance),
    ];
    let mut below = 1;
    for (span, shared, distance) in levels {
        if span.count_ones() <= below {
            continue;
        }
        below = span.count_ones();
        let classes = if shape.unequal && span == shape.all() { 2 } else { 1 };
        let level = SdLevel { shared, weight: below, classes, distance };
        let number = c.nr_domains as usize;
        c.domains[number] = level.domain(policy, span, if shape.unequal { 2 } else { 1 });
        let flags = c.domains[number].flags;
        c.domains[..number].iter_mut().for_each(|d| d.flags |= flags & sd::BALANCE_WAKE);
        if shared & sd::SHARE_LLC != 0 {
            c.llc_domain = number as u32;
        }
        if flags & sd::ASYM_CPUCAPACITY != 0 {
            c.asym_domain = number as u32;
        }
        c.nr_domains += 1;
    }
}

/// Fills in the capacities of the groups that the CPUs are in.
fn sums(m: &mut Placement) {
    let capacities = m.cpus.map(|c| c.capacity);
    for (at, c) in m.cpus[..m.nr_cpus as usize].iter_mut().enumerate() {
        let mut group = 1 << at;
        for d in &mut c.domains[..c.nr_domains as usize] {
            d.group_capacity = (0..64).filter(|&c| group >> c & 1 == 1).map(|c: usize| capacities[c]).sum();
            group = d.span;
        }
    }
}

fn energy(m: &mut Placement, shape: Shape, policy: &Policy) {
    let opps = [
        ([(600_000, 150_000), (1_000_000, 320_000), (1_800_000, 1_100_000)], 1024),
        ([(500_000, 40_000), (800_000, 75_000), (1_400_000, 210_000)], 446),
    ];
    let clusters = [shape.cluster(shape.clusters[0]), shape.cluster(0)];
    for (at, ((opps, capacity), cpus)) in opps.iter().zip(clusters).enumerate() {
        let model = EnergyModel::of_release(policy, opps, *capacity);
        m.states[at * 3..at * 3 + 3].copy_from_slice(model.states());
        let first_state = at as u32 * 3;
        m.perf_domains[at] = PerfDomain { cpus, first_state, nr_states: 3, min_state: 0, max_state: 2 };
    }
    (m.energy_aware, m.nr_perf_domains) = (1, 2);
}

/// Draws an event, and the CPUs on which it happens.
fn event(draw: &mut Draw, m: &mut Placement) {
    let cpu = |draw: &mut Draw| draw.small(m.nr_cpus);
    (m.prev_cpu, m.this_cpu) = (cpu(draw), cpu(draw));
    m.flags = match draw.below(10) {
        0..=1 => wf::FORK,
        2..=3 => wf::EXEC,
        4..=6 => wf::TTWU | wf::SYNC,
        _ => wf::TTWU,
    };
    if m.flags & wf::TTWU == 0 {
        m.this_cpu = m.prev_cpu;
    }
    let most_flips = if draw.chance(50) { 10 } else { 300 };
    m.waker = PlaceWaker {
        load: draw.below(1500),
        wakee_flips: draw.small(most_flips),
        same_wakee: draw.chance(50).into(),
        exiting: draw.chance(5).into(),
        ..PlaceWaker::default()
    };
    let queue = m.cpus[m.this_cpu as usize].load_avg;
    (m.waker.queue_load, m.waker.queue_h_load) = (queue, queue);
}

fn task(draw: &mut Draw, m: &mut Placement) {
    let all = (1 << m.nr_cpus) - 1;
    let exec = m.flags & wf::EXEC != 0;
    let queue = m.cpus[m.prev_cpu as usize].load_avg;
    let mut t = PlaceTask {
        allowed: if draw.chance(60) { all } else { draw.below(all + 1) | 1 << m.prev_cpu },
        queue_load: queue,
        queue_h_load: queue,
        cpu: m.prev_cpu,
        on_rq: exec.into(),
        recent_cpu: draw.small(m.nr_cpus),
        wakee_flips: draw.small(40),
        uclamp_max: 1024,
        numa_cpu: NO_CPU,
        ..PlaceTask::default()
    };
    t.se.weight = 1024;
    if m.flags & wf::FORK == 0 {
        let util = draw.small(700);
        // At its queue's time: nothing is to be aged.
        (t.se.avg.last_update_time_ns, t.queue_update_ns) = (1 << 20, 1 << 20);
        (t.se.avg.util_avg, t.se.avg.load_avg) = (util.into(), draw.below(1024));
        t.se.avg.util_est_enqueued = draw.seldom(50, 700);
        let own = &mut m.cpus[m.prev_cpu as usize].state;
        own.util_cfs = own.util_cfs.max(util).min(own.cap_orig);
    }
    if exec {
        let own = &mut m.cpus[m.prev_cpu as usize];
        (own.curr_is_task, own.curr_idle, own.nr_running) = (1, 0, own.nr_running.max(1));
        (own.h_nr_queued, own.h_nr_runnable) = (own.nr_running, own.nr_running);
    }
    m.task = t;
}
