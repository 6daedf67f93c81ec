// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines of at most 64 CPUs as parts of larger ones: the rules for many CPUs decide what those for 64 decide.

use std::collections::BTreeSet;

use pelton_core::{
    CacheCpu, CacheGroup, CacheTime, EnergyModel, Held, Lb, LbEnv, LbGroup, LbTask, NO_CPU, NO_DOMAIN, NO_IDLE_STATE,
    NO_LIMIT, PLACE_CPUS_LARGEST, PerfDomain, PlaceCpu, Placed, Placement, Policy, Record, SchedDomain,
    cache_nice_tries, lbf, profiles, sd, wf,
};

/// Random states of each profile; PELTON_LARGE_STATES sets another number.
fn random_states() -> u64 {
    std::env::var("PELTON_LARGE_STATES").map_or(10_000, |text| text.parse().expect("a number of states"))
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn to(&mut self, n: u32) -> u32 {
        self.below(u64::from(n)) as u32
    }

    fn mark(&mut self) -> u32 {
        self.to(2)
    }
}

/// A random machine, by the number of the smaller in the larger: threads, cores of a cluster, clusters of a cache,
/// caches, nodes.
struct Shape {
    sizes: Vec<(u32, u32)>,
    cpus: u32,
    /// Threads of a core are numbered apart.
    apart: bool,
}

fn shape(d: &mut Dice) -> Shape {
    loop {
        let threads = 1 + d.mark();
        let core_counts = [1 + d.to(4), 1 + d.mark(), 1 + d.to(3), 1 + d.mark()];
        let flags = [sd::CLUSTER | sd::SHARE_LLC, sd::SHARE_LLC, 0, sd::NUMA];
        let (mut size, mut sizes) = (threads, vec![(threads, sd::SHARE_CPUCAPACITY | sd::SHARE_LLC)]);
        for (count, flag) in core_counts.into_iter().zip(flags) {
            size *= count;
            sizes.push((size, flag));
        }
        if (2..=64).contains(&size) {
            return Shape { sizes, cpus: size, apart: d.mark() == 1 };
        }
    }
}

impl Shape {
    /// CPUs of a level around a CPU.
    fn around(&self, cpu: u32, size: u32) -> u64 {
        let (threads, cores) = (self.sizes[0].0, self.cpus / self.sizes[0].0);
        let place = |cpu: u32| if self.apart { cpu % cores * threads + cpu / cores } else { cpu };
        (0..self.cpus).filter(|&o| place(o) / size == place(cpu) / size).fold(0, |set, o| set | 1 << o)
    }
}

fn random_cpu(d: &mut Dice, m: &Shape, cpu: u32, asymmetric: bool) -> PlaceCpu {
    let big = !asymmetric || cpu % 4 > 1;
    let busy = d.to(3);
    let mut c = PlaceCpu {
        threads: m.around(cpu, m.sizes[0].0),
        capacity: (if big { 1024 } else { 446 }) - d.to(200) * d.mark(),
        load: d.below(4000),
        load_avg: d.below(5000),
        idle_stamp_ns: d.below(1000),
        hw_pressure: d.to(60) * d.mark(),
        cpufreq_pressure: d.to(60) * d.mark(),
        nr_running: busy,
        h_nr_queued: busy,
        h_nr_runnable: busy - d.mark().min(busy),
        h_nr_idle: if d.to(8) == 0 { busy } else { 0 },
        ttwu_pending: u32::from(d.to(16) == 0),
        curr_idle: u32::from(busy == 0),
        exit_latency_ns: if d.mark() == 1 { d.to(4) } else { NO_IDLE_STATE },
        nr_idle_scan_llc: if d.to(4) == 0 { d.to(8) } else { NO_LIMIT },
        nr_idle_scan_asym: NO_LIMIT,
        has_idle_cores: d.mark(),
        llc: m.around(cpu, m.sizes[2].0).trailing_zeros(),
        cluster: m.around(cpu, m.sizes[1].0).trailing_zeros(),
        llc_size: m.sizes[2].0,
        llc_domain: NO_DOMAIN,
        asym_domain: NO_DOMAIN,
        misfit_load: d.to(900) * d.mark() * u32::from(asymmetric),
        nr_pref_dst_llc: d.to(3),
        nr_pref_llc_running: d.to(3),
        llc_util: d.to(6000),
        llc_capacity: d.to(8000),
        ..PlaceCpu::default()
    };
    c.cpu_load = [0; 4].map(|_: u64| d.below(4000));
    c.state.cap_orig = if big { 1024 } else { 446 };
    c.state.util_cfs = d.to(1100);
    c.state.runnable_cfs = c.state.util_cfs + d.to(600);
    c.state.util_est = d.to(1100);
    c.state.uclamp_max = 1024;
    domains(d, m, cpu, &mut c, asymmetric);
    c
}

fn domains(d: &mut Dice, m: &Shape, cpu: u32, c: &mut PlaceCpu, asymmetric: bool) {
    let mut below = 1;
    for &(size, shared) in m.sizes.iter().filter(|(size, _)| *size > 1) {
        if size == below {
            continue;
        }
        let at = c.nr_domains as usize;
        let placed = sd::BALANCE_EXEC | sd::BALANCE_FORK | sd::WAKE_AFFINE;
        let asym = if asymmetric && size >= 4 { sd::ASYM_CPUCAPACITY | sd::ASYM_CPUCAPACITY_FULL } else { 0 };
        c.domains[at] = SchedDomain {
            span: m.around(cpu, size),
            flags: shared | placed | asym | if shared & sd::NUMA == 0 { sd::PREFER_SIBLING } else { 0 },
            imbalance_pct: 117,
            imb_numa_nr: 1 + size / 8,
            has_shared: u32::from(shared & sd::SHARE_LLC != 0 && d.mark() == 1),
            ..SchedDomain::default()
        };
        if shared & sd::SHARE_LLC != 0 {
            c.llc_domain = at as u32;
        }
        if asym != 0 && c.asym_domain == NO_DOMAIN {
            c.asym_domain = at as u32;
        }
        c.nr_domains += 1;
        below = size;
    }
}

/// CPUs of the group of a CPU in its domain `level`.
fn group_of(c: &PlaceCpu, cpu: u32, level: usize) -> u64 {
    if level == 0 { 1 << cpu } else { c.domains[level - 1].span }
}

/// Fills in the groups' capacities and marks, the same for all CPUs of a group.
fn sum_groups(d: &mut Dice, board: &mut Placement) {
    let odd = d.below(1 << 20);
    for cpu in 0..board.nr_cpus {
        for level in 0..board.cpus[cpu as usize].nr_domains as usize {
            let group = group_of(&board.cpus[cpu as usize], cpu, level);
            let capacities =
                board.cpus().iter().enumerate().filter(|(o, _)| group >> o & 1 == 1).map(|(_, c)| c.capacity);
            let all: Vec<u32> = capacities.collect();
            let domain = &mut board.cpus[cpu as usize].domains[level];
            domain.group_capacity = all.iter().sum();
            domain.group_max_capacity = all.iter().max().copied().unwrap_or(0);
            domain.group_min_capacity = all.iter().min().copied().unwrap_or(0);
            domain.group_imbalance = u32::from(u64::from(group.trailing_zeros()) + level as u64 == odd % 64);
        }
    }
}

fn random_board(d: &mut Dice, policy: &Policy) -> Placement {
    let m = shape(d);
    let asymmetric = m.cpus >= 4 && d.to(4) == 0;
    let mut board = Placement {
        nr_cpus: m.cpus,
        this_cpu: d.to(m.cpus),
        prev_cpu: d.to(m.cpus),
        flags: [wf::TTWU, wf::TTWU, wf::TTWU | wf::SYNC, wf::FORK, wf::EXEC][d.below(5) as usize],
        asymmetric: asymmetric.into(),
        clusters: d.mark(),
        smt: u32::from(m.sizes[0].0 > 1),
        overutilized: d.mark(),
        uclamp_used: u32::from(d.to(4) == 0),
        cache_aware: d.mark(),
        smt_threads: m.sizes[0].0,
        avg_idle_ns: d.below(2_000_000),
        avg_scan_cost_ns: d.below(20_000),
        ..Placement::default()
    };
    for cpu in 0..m.cpus {
        board.cpus[cpu as usize] = random_cpu(d, &m, cpu, asymmetric);
    }
    for cpu in 0..m.cpus as usize {
        let first = board.cpus[board.cpus[cpu].llc as usize];
        (board.cpus[cpu].llc_util, board.cpus[cpu].llc_capacity) = (first.llc_util, first.llc_capacity);
    }
    sum_groups(d, &mut board);
    random_tasks(d, &mut board);
    if asymmetric && m.sizes[0].0 == 1 && d.mark() == 1 {
        energy(policy, &mut board);
    }
    board
}

fn random_tasks(d: &mut Dice, board: &mut Placement) {
    let n = board.nr_cpus;
    let all = u64::MAX >> (64 - n);
    let task = &mut board.task;
    task.allowed = if d.mark() == 1 { all } else { d.below(u64::MAX) << 31 & all | 1 << board.prev_cpu };
    (task.cpu, task.recent_cpu, task.numa_cpu) = (board.prev_cpu, d.to(n), if d.to(4) == 0 { d.to(n) } else { NO_CPU });
    (task.queue_load, task.queue_h_load, task.wakee_flips) = (d.below(3000), d.below(3000), d.to(40));
    (task.uclamp_max, task.sched_idle) = (1024, u32::from(d.to(8) == 0));
    (task.se.avg.last_update_time_ns, task.queue_update_ns) = (1 << 20, 1 << 20);
    task.se.weight = 1024;
    (task.se.avg.util_avg, task.se.avg.load_avg, task.se.avg.runnable_avg) =
        (d.below(900), d.below(1024), d.below(1024));
    let waker = &mut board.waker;
    (waker.load, waker.queue_load, waker.queue_h_load) = (d.below(1024), d.below(3000), d.below(3000));
    (waker.wakee_flips, waker.same_wakee, waker.pinned_kthread) = (d.to(40), d.mark(), d.mark());
}

fn energy(policy: &Policy, board: &mut Placement) {
    let opps = [(500_000, 40_000), (900_000, 110_000), (1_400_000, 310_000)];
    let small = (0..board.nr_cpus).filter(|c| c % 4 < 2).fold(0, |set, c| set | 1 << c);
    let all = u64::MAX >> (64 - board.nr_cpus);
    for (at, (cpus, capacity)) in [(all & !small, 1024), (small, 446)].into_iter().enumerate() {
        let model = EnergyModel::of_release(policy, &opps, capacity);
        board.states[at * 3..at * 3 + 3].copy_from_slice(model.states());
        board.perf_domains[at] =
            PerfDomain { cpus, first_state: at as u32 * 3, nr_states: 3, min_state: 0, max_state: 2 };
    }
    (board.energy_aware, board.nr_perf_domains) = (1, 2);
}

/// CPUs `offset` further on.
fn moved(set: u64, offset: u32) -> Vec<u64> {
    let (word, bit) = ((offset / 64) as usize, offset % 64);
    let mut words = vec![0; word + 2];
    words[word] = set << bit;
    words[word + 1] = if bit == 0 { 0 } else { set >> (64 - bit) };
    words
}

/// The board as the CPUs from `offset` on of a machine of `cpus`. The others are idle and no task may use them.
fn embedded(policy: &Policy, board: &Placement, offset: u32, cpus: u32, roof: bool) -> Record {
    let mut large = Record::new(cpus as usize).expect("below the bound");
    *large = Placement { cpus: large.cpus, nr_cpus: cpus, ..*board };
    large.nr_cpus = cpus;
    large.task.allowed = large.hold(Held::Allowed, &words(board.task.allowed, offset, cpus));
    for cpu in [0, 1, 2, 3] {
        let of = |r: &mut Placement| match cpu {
            0 => r.this_cpu += offset,
            1 => r.prev_cpu += offset,
            2 => (r.task.cpu, r.task.recent_cpu) = (r.task.cpu + offset, r.task.recent_cpu + offset),
            _ => r.task.numa_cpu = r.task.numa_cpu.saturating_add(offset),
        };
        of(&mut large);
    }
    for at in 0..board.nr_perf_domains as usize {
        large.perf_domains[at].cpus = large.span_of(&words(board.perf_domains[at].cpus, offset, cpus));
    }
    let idle =
        PlaceCpu { curr_idle: 1, llc: u32::MAX, cluster: u32::MAX, llc_domain: NO_DOMAIN, ..PlaceCpu::default() };
    large.rows_mut()[..cpus as usize].fill(idle);
    for (cpu, row) in board.cpus().iter().enumerate() {
        embed_row(&mut large, row, cpu as u32, offset, roof);
    }
    large.seal();
    for (cpu, row) in (offset..).zip(board.cpus()) {
        let top = large.rows()[cpu as usize].domains[row.nr_domains as usize - 1].span;
        let all = large.span_cpus(top).map(|c| large.rows()[c as usize].capacity).sum();
        large.group_mut(top, cpu, 0).group_capacity = all;
    }
    for (cpu, row) in (offset..).zip(board.cpus()) {
        large.set_llc_stats(cpu, (row.llc_util, row.llc_capacity));
        large.follow(policy, cpu);
    }
    large
}

fn words(set: u64, offset: u32, cpus: u32) -> Vec<u64> {
    let mut words = moved(set, offset);
    words.truncate((cpus as usize).div_ceil(64));
    words
}

fn embed_row(large: &mut Record, row: &PlaceCpu, cpu: u32, offset: u32, roof: bool) {
    let cpus = large.nr_cpus;
    let mut out = *row;
    out.threads = large.span_of(&words(row.threads, offset, cpus));
    for level in 0..row.nr_domains as usize {
        out.domains[level].span = large.span_of(&words(row.domains[level].span, offset, cpus));
    }
    if roof && (out.nr_domains as usize) < out.domains.len() {
        let all: Vec<u64> = (0..cpus.div_ceil(64)).map(|w| u64::MAX >> (64 - (cpus - w * 64).min(64))).collect();
        let top = out.domains[out.nr_domains as usize - 1];
        out.domains[out.nr_domains as usize] = SchedDomain { span: large.span_of(&all), ..top };
        out.nr_domains += 1;
    }
    large.rows_mut()[(cpu + offset) as usize] = out;
    for level in 0..row.nr_domains as usize {
        let group = large.span_of(&words(group_of(row, cpu, level), offset, cpus));
        let (known, of) = (row.domains[level], large.group_mut(group, cpu + offset, level));
        (of.group_capacity, of.group_max_capacity) = (known.group_capacity, known.group_max_capacity);
        (of.group_min_capacity, of.group_imbalance) = (known.group_min_capacity, known.group_imbalance);
    }
}

/// The compared part of an answer.
fn answer(placed: &Placed, offset: u32) -> impl PartialEq + std::fmt::Debug + use<> {
    let cpu = |c: u32| if c == NO_CPU { c } else { c + offset };
    let energies: Vec<_> =
        placed.energies().iter().map(|e| (e.energy, cpu(e.cpu), e.perf_domain, e.max_util, e.busy)).collect();
    let sums = [placed.local, placed.idlest].map(|g| (g.load, g.util, g.runnable, g.capacity, g.weight, g.r#type));
    (
        (cpu(placed.cpu), placed.how, placed.affine, placed.wide, placed.small, cpu(placed.recent_cpu)),
        (placed.waker_flips, cpu(placed.no_idle_core), placed.waker_recent, placed.se, energies, sums),
    )
}

/// A task that may use all CPUs of a machine of several nodes may not use all of the larger one: that counts.
fn asks_of_all(board: &Placement) -> bool {
    board.cpus().iter().any(|c| c.domains.iter().any(|d| d.flags & sd::NUMA != 0))
        && board.task.allowed == u64::MAX >> (64 - board.nr_cpus)
}

#[test]
fn a_machine_places_as_it_does_as_a_part_of_a_larger_one() {
    let mut d = Dice(1);
    let mut hows = BTreeSet::new();
    for (name, policy) in profiles().iter().filter_map(|name| Some((name, Policy::profile(name).ok()?))) {
        for state in 0..random_states() {
            let board = random_board(&mut d, &policy);
            if asks_of_all(&board) {
                continue;
            }
            let (mut small, mut large) = (Placed::default(), Placed::default());
            board.select(&policy, &mut small);
            let (offset, roof) = (d.to(900), d.mark() == 1);
            let cpus = (offset + board.nr_cpus + d.to(60)).max(65);
            embedded(&policy, &board, offset, cpus, roof).select(&policy, &mut large);
            hows.insert(small.how);
            assert_eq!(answer(&small, offset), answer(&large, 0), "{name} state {state}, from {offset} of {cpus}");
        }
    }
    assert!(hows.len() >= 14, "rules that decided: {hows:?}");
}

fn env(d: &SchedDomain, dst_cpu: u32, level: u32, idle: u32, failed: u32) -> LbEnv {
    LbEnv {
        cpus: d.span,
        dst_cpu,
        level,
        idle,
        nr_balance_failed: failed,
        cache_nice_tries: cache_nice_tries(d),
        src_cpu: NO_CPU,
        ..LbEnv::default()
    }
}

/// A group without the name of its set. Over-utilized CPUs count only where energy decides.
fn sums(group: &LbGroup, energy_aware: u32) -> LbGroup {
    LbGroup { cpus: u64::from(group.cpus != 0), overutilized: group.overutilized * energy_aware, ..*group }
}

/// All that a balance comes to: turn, statistics, the CPU that is taken from, which tasks go, and the rest.
fn balance(
    policy: &Policy,
    record: &mut Record,
    env: &mut LbEnv,
    (offset, cpus): (u32, u32),
    tasks: &[LbTask],
) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut lb = Lb::default();
    let turn = env.should_we_balance(policy, record);
    let found = env.find_src_group(policy, record, &mut lb) != 0;
    record.record_llc_stats(policy, env);
    let caches: Vec<(u32, u32)> = (offset..offset + cpus).map(|cpu| record.llc_stats(cpu)).collect();
    let src = if found { env.find_src_rq(policy, record, &mut lb) } else { None };
    let mut went = Vec::new();
    if let Some(src) = src {
        env.src_cpu = src;
        env.cpus = record.leave_out(env.cpus, src);
        env.flags |= lbf::ALL_PINNED;
        for task in tasks {
            let allowed = record.hold(Held::Moved, &words(task.allowed, offset, record.nr_cpus.max(64)));
            let preferred_cpu = task.preferred_cpu.saturating_add(offset);
            went.push(env.detach_task(policy, record, &mut lb, &LbTask { allowed, preferred_cpu, ..*task }));
        }
    }
    let active = env.src_cpu != NO_CPU && env.need_active_balance(policy, record, lb.migration);
    let other = if env.flags & lbf::DST_PINNED != 0 { env.new_dst_cpu - offset } else { 0 };
    let numbers = (lb.imbalance, lb.total_load, lb.total_capacity, lb.avg_load, lb.migration, lb.prefer_sibling);
    let groups = [lb.local, lb.busiest].map(|group| sums(&group, record.energy_aware));
    (
        turn,
        found,
        src.map(|c| c - offset),
        went,
        active,
        other,
        env.flags,
        numbers,
        lb.overloaded,
        // Asked of idle CPUs as well only where energy decides.
        lb.overutilized * record.energy_aware,
        groups,
        caches,
    )
}

fn random_task(d: &mut Dice, cpus: u32) -> LbTask {
    LbTask {
        allowed: d.below(u64::MAX) << 31 & u64::MAX >> (64 - cpus),
        load: d.below(1024),
        since_ran_ns: d.below(1_000_000) as i64,
        util_est: d.to(400),
        running: u32::from(d.to(4) == 0),
        delayed: u32::from(d.to(4) == 0),
        ineligible: u32::from(d.to(4) == 0),
        fits_src: d.mark(),
        fits_dst: d.mark(),
        util: d.to(900),
        preferred_llc: if d.mark() == 1 { d.to(cpus) } else { NO_CPU },
        preferred_cpu: if d.mark() == 1 { d.to(cpus) } else { NO_CPU },
        invalid_llc_nr: u32::from(d.to(8) == 0),
        ..LbTask::default()
    }
}

#[test]
fn a_machine_balances_as_it_does_as_a_part_of_a_larger_one() {
    let (mut d, mut moved, mut kept) = (Dice(2), 0, 0);
    for (name, policy) in profiles().iter().filter_map(|name| Some((name, Policy::profile(name).ok()?))) {
        for state in 0..random_states() {
            let board = random_board(&mut d, &policy);
            let (n, dst, offset) = (board.nr_cpus, d.to(board.nr_cpus), d.to(900));
            let own = &board.cpus[dst as usize];
            let (level, idle, failed) = (d.to(own.nr_domains), d.to(3), d.to(5));
            let cpus = (offset + n + d.to(60)).max(65);
            let tasks: Vec<LbTask> = (0..3).map(|_| random_task(&mut d, n)).collect();
            let mut small = Record::Narrow(Box::new(board));
            let domain = |record: &Record, cpu: u32| record.rows()[cpu as usize].domains[level as usize];
            let mut small_env = env(&domain(&small, dst), dst, level, idle, failed);
            let one = balance(&policy, &mut small, &mut small_env, (0, n), &tasks);
            moved += u32::from(small_env.src_cpu != NO_CPU);
            let keeps = d.mark() == 1;
            let mut large = embedded(&policy, &board, offset, cpus, false);
            let far = domain(&large, dst + offset);
            let mut large_env = env(&far, dst + offset, level, idle, failed);
            if keeps {
                prefer(&mut large, &board, offset, dst);
                large.rank_groups(&policy, dst + offset, level);
                kept += u32::from(idle != 0 && large.keeps_ranks(far.span));
            } else {
                large_env.cpus = large.hold_span(Held::Considered, far.span);
            }
            let other = balance(&policy, &mut large, &mut large_env, (offset, n), &tasks);
            assert_eq!(one, other, "{name} state {state}, CPU {dst} level {level}, from {offset} of {cpus}");
        }
    }
    assert!(moved > 1_000, "balances that found a CPU to take from: {moved}");
    assert!(kept > random_states() as u32, "searches among groups whose ranks are kept: {kept}");
}

/// Sets in the large record which CPUs have tasks that prefer the cache of the balancing CPU.
fn prefer(large: &mut Record, board: &Placement, offset: u32, dst: u32) {
    let prefers = |(cpu, row): (usize, &PlaceCpu)| if row.nr_pref_dst_llc > 0 { 1u64 << cpu } else { 0 };
    let all = board.cpus().iter().enumerate().map(prefers).fold(0, |all, one| all | one);
    large.set_preferring(dst + offset, &words(all, offset, large.nr_cpus));
}

/// Rows that change between searches, in one field or in many: what is kept is what a look at all CPUs finds.
#[test]
fn what_is_kept_of_groups_is_what_their_cpus_have() {
    let (mut d, mut kept) = (Dice(4), 0);
    for (name, policy) in profiles().iter().filter_map(|name| Some((name, Policy::profile(name).ok()?))) {
        for state in 0..random_states() / 40 {
            let board = random_board(&mut d, &policy);
            let (n, offset) = (board.nr_cpus, d.to(900));
            let mut large = embedded(&policy, &board, offset, (offset + n).max(65), false);
            large.rows_mut().iter_mut().for_each(|row| row.nr_pref_dst_llc = 0);
            for _ in 0..40 {
                let (cpu, dst) = (d.to(n), d.to(n));
                change_row(&mut d, &mut large, cpu + offset, &policy);
                let (level, idle) = (d.to(board.cpus[dst as usize].nr_domains), 1 + d.to(2));
                let far = large.rows()[(dst + offset) as usize].domains[level as usize];
                let mut read = env(&far, dst + offset, level, idle, 0);
                large.rank_groups(&policy, dst + offset, level);
                kept += u32::from(large.keeps_ranks(far.span));
                let found = search(&policy, &large, &read);
                read.cpus = large.hold_span(Held::Considered, far.span);
                assert_eq!(found, search(&policy, &large, &read), "{name} state {state}, CPU {dst} level {level}");
            }
        }
    }
    assert!(kept > random_states() as u32 / 2, "searches among groups whose ranks are kept: {kept}");
}

/// Changes a row: half of the time one field alone, so that what follows does not do so for the sake of another one.
fn change_row(d: &mut Dice, large: &mut Record, cpu: u32, policy: &Policy) {
    let (busy, row) = (d.to(3), &mut large.rows_mut()[cpu as usize]);
    let mut now = *row;
    (now.nr_running, now.h_nr_queued, now.h_nr_runnable, now.curr_idle) = (busy, busy, busy, u32::from(busy == 0));
    (now.load, now.state.util_cfs, now.capacity) = (d.below(4000), d.to(1100), now.state.cap_orig - d.to(200));
    now.state.runnable_cfs = now.state.util_cfs + d.to(600);
    match d.to(10) {
        0 => row.load = now.load,
        1 => row.state.util_cfs = now.state.util_cfs,
        2 => row.state.runnable_cfs = now.state.runnable_cfs,
        3 => row.capacity = now.capacity,
        4 => row.nr_running = busy,
        _ => *row = now,
    }
    let (of, level) = (row.nr_domains, d.to(row.nr_domains) as usize);
    let (group, above) = (row.domains[level].span, row.domains[(level + 1).min(of as usize - 1)].span);
    if group != above {
        large.group_mut(group, cpu, level + 1).group_imbalance = d.mark();
        large.forget_rank(cpu, level + 1);
    }
    large.follow_capacity(policy, cpu);
}

/// Result of a search among groups.
fn search(policy: &Policy, record: &Record, env: &LbEnv) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut lb = Lb::default();
    let found = env.find_src_group(policy, record, &mut lb) != 0;
    let numbers = (lb.imbalance, lb.total_load, lb.total_capacity, lb.migration, lb.prefer_sibling, lb.overloaded);
    (found, numbers, [lb.local, lb.busiest].map(|group| sums(&group, record.energy_aware)))
}

/// Looks at the caches, by threads that ran here and there: CPUs read, the preferred one, its cache, the mean number of
/// running threads.
fn looks(record: &Record, offset: u32, d: &mut Dice, cpus: u32) -> Vec<(u32, u32, u32, u64)> {
    let n = record.nr_cpus.max(64) as usize;
    let (mut all, mut own) = (vec![CacheCpu::default(); n], vec![CacheTime::default(); n]);
    let mut group = CacheGroup { threads: 2 + d.to(6), ..CacheGroup::new(&all[0], 0) };
    let mut told = Vec::new();
    for tick in 1..6 {
        for _ in 0..8 {
            let (cpu, ran_ns) = (d.to(cpus), d.below(4_000_000));
            let (at, mut other) = ((cpu + offset) as usize, CacheTime::default());
            if d.mark() == 1 {
                group.account(record, (&mut all[at], &mut own[at]), at as u32, ran_ns, (tick, 2));
            } else {
                CacheGroup { ..group }.account(record, (&mut all[at], &mut other), at as u32, ran_ns, (tick, 2));
            }
            all[at].runs = d.mark();
        }
        let read = group.look(record, (&mut all, &mut own), d.to(cpus) + offset, (tick, 2));
        let prefers = if group.cpu == NO_CPU { NO_CPU } else { group.cpu - offset };
        told.push((read, prefers, group.preferred_llc(record), group.nr_running_avg));
    }
    told
}

#[test]
fn a_machine_prefers_the_cache_that_it_prefers_as_a_part_of_a_larger_one() {
    let (mut d, mut preferred) = (Dice(3), 0);
    let policy = Policy::profile("7.2").expect("a profile");
    for state in 0..random_states() {
        let board = random_board(&mut d, &policy);
        let (offset, seed) = (d.to(900), d.below(u64::MAX >> 1));
        let large = embedded(&policy, &board, offset, (offset + board.nr_cpus + d.to(60)).max(65), false);
        let small = Record::Narrow(Box::new(board));
        let one = looks(&small, 0, &mut Dice(seed), board.nr_cpus);
        let other = looks(&large, offset, &mut Dice(seed), board.nr_cpus);
        preferred += u64::from(one.iter().any(|told| told.1 != NO_CPU));
        assert_eq!(one, other, "state {state}, from {offset}");
    }
    assert!(preferred > random_states() / 10, "{preferred} states with a preferred cache");
}

#[test]
fn held_sets_lose_cpus_and_leave_spans_alone() {
    let mut record = Record::new(130).expect("below the bound");
    let all = record.span_of(&[u64::MAX, u64::MAX, 3]);
    let mut held = record.hold_span(Held::Considered, all);
    for cpu in 0..129 {
        held = record.hold_without(held, cpu);
    }
    assert_eq!((record.span_weight(held), record.span_weight(all)), (1, 130));
    assert_eq!(record.span_cpus(held).collect::<Vec<_>>(), [129]);
    assert_eq!(record.hold_without(held, 129), 0);
    assert!(record.span_within(held, all) && !record.span_within(all, held));
}

#[test]
fn there_is_no_record_beyond_the_bound() {
    assert!(Record::new(PLACE_CPUS_LARGEST).is_some() && Record::new(PLACE_CPUS_LARGEST + 1).is_none());
}
