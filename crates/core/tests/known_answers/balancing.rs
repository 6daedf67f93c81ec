// SPDX-License-Identifier: GPL-2.0-or-later
//! Load balancing of one domain, from the sources of each release: `update_sg_lb_stats()`, `update_sd_pick_busiest()`,
//! `calculate_imbalance()`, `should_we_balance()`, `can_migrate_task()` of kernel/sched/fair.c.

use pelton_core::{
    Lb, LbDomain, LbEnv, LbTask, PlaceCpu, Placement, Policy, SchedDomain, balance_idle, cache_nice_tries, lbf,
    migrate, sd,
};

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// Equal CPUs of capacity 1024, `threads` to a core, in one cache domain; nothing runs.
fn machine(cpus: u32, threads: u32) -> Placement {
    let mut m = Placement { nr_cpus: cpus, smt: u32::from(threads > 1), ..Placement::default() };
    let all = (1 << cpus) - 1;
    for c in 0..cpus {
        let core = ((1 << threads) - 1) << (c / threads * threads);
        let mut own = PlaceCpu { threads: core, capacity: 1024, curr_idle: 1, ..PlaceCpu::default() };
        own.state.cap_orig = 1024;
        own.state.uclamp_max = 1024;
        let mut add = |span: u64, flags: u32, group: u32| {
            own.domains[own.nr_domains as usize] = SchedDomain {
                span,
                flags: flags | sd::SHARE_LLC | sd::PREFER_SIBLING,
                imbalance_pct: 117,
                group_capacity: 1024 * group,
                group_min_capacity: 1024,
                group_max_capacity: 1024,
                ..SchedDomain::default()
            };
            own.nr_domains += 1;
        };
        if threads > 1 {
            add(core, sd::SHARE_CPUCAPACITY, 1);
        }
        add(all, 0, threads);
        m.cpus[c as usize] = own;
    }
    m
}

/// `n` fair tasks of load 1024 and utilization 512 each.
fn tasks(cpu: &mut PlaceCpu, n: u32) {
    (cpu.nr_running, cpu.h_nr_queued, cpu.h_nr_runnable) = (n, n, n);
    cpu.curr_idle = u32::from(n == 0);
    cpu.load = 1024 * u64::from(n);
    cpu.state.util_cfs = 512 * n;
    cpu.state.runnable_cfs = 512 * n;
}

/// CPU `c` balances its largest domain.
fn env(m: &Placement, c: u32, idle: u32) -> LbEnv {
    let own = &m.cpus[c as usize];
    let level = own.nr_domains - 1;
    let d = &own.domains[level as usize];
    LbEnv { cpus: d.span, dst_cpu: c, level, idle, cache_nice_tries: cache_nice_tries(d), ..LbEnv::default() }
}

/// From which CPU, what, and how much.
fn found(profile: &str, m: &Placement, e: LbEnv) -> Option<(u32, u32, i64)> {
    let mut lb = Lb::default();
    if e.find_src_group(&policy(profile), m, &mut lb) == 0 {
        return None;
    }
    let src = e.find_src_rq(&policy(profile), m, &mut lb)?;
    Some((src, lb.migration, lb.imbalance))
}

/// Single CPUs that prefer to spread: (3 tasks - 0) / 2 = 1 task, from every release on.
#[test]
fn an_idle_cpu_takes_half_of_the_difference() {
    let mut m = machine(4, 1);
    tasks(&mut m.cpus[2], 3);
    for profile in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let is = found(profile, &m, env(&m, 0, balance_idle::IDLE));
        assert_eq!(is, Some((2, migrate::TASK, 1)), "{profile}");
        let busy = found(
            profile,
            &{
                let mut m = m;
                tasks(&mut m.cpus[0], 1);
                m
            },
            env(&m, 0, balance_idle::NOT_IDLE),
        );
        // 3 - 1 > 1: 5.10 and 6.1 spread to a busy CPU as well; from 6.6 sibling_imbalance() is 0 for one.
        assert_eq!(busy.is_some(), matches!(profile, "5.10" | "5.15" | "6.1"), "{profile}: {busy:?}");
    }
}

/// 6.1 fair.c sched_reduced_capacity(): 800 * 117 = 93,600 < 102,400, so the only task of CPU 1 is moved by its load.
/// 5.10 has no such test: one task is not to be taken from a single CPU, (1 - 0) >> 1 = 0.
#[test]
fn a_reduced_cpu_gives_its_only_task_from_6_1() {
    let mut m = machine(2, 1);
    tasks(&mut m.cpus[1], 1);
    m.cpus[1].capacity = 800;
    assert_eq!(found("5.10", &m, env(&m, 0, balance_idle::IDLE)), None);
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let is = found(profile, &m, env(&m, 0, balance_idle::IDLE));
        assert_eq!(is, Some((1, migrate::LOAD, 1024)), "{profile}");
    }
    m.cpus[1].capacity = 876; // 876 * 117 = 102,492
    assert_eq!(found("6.1", &m, env(&m, 0, balance_idle::IDLE)), None);
}

/// Two tasks on the threads of one core, an idle core beside it: (2 - 0) >> 1 = 1 to 6.1, smt_balance() of 6.6 says
/// one.
#[test]
fn a_core_is_relieved_by_an_idle_one() {
    let mut m = machine(4, 2);
    tasks(&mut m.cpus[2], 1);
    tasks(&mut m.cpus[3], 1);
    for profile in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let is = found(profile, &m, env(&m, 0, balance_idle::IDLE));
        assert_eq!(is.map(|(_, what, n)| (what, n)), Some((migrate::TASK, 1)), "{profile}");
    }
}

/// 6.14 counts h_nr_runnable: beside a real-time task a delayed one is queued, and 6.18 sees no fair task to take.
#[test]
fn a_delayed_task_is_none_from_6_18() {
    let mut m = machine(2, 1);
    tasks(&mut m.cpus[1], 2);
    (m.cpus[1].h_nr_queued, m.cpus[1].h_nr_runnable) = (1, 0);
    assert!(found("6.12", &m, env(&m, 0, balance_idle::IDLE)).is_some());
    for profile in ["6.18", "7.2"] {
        assert_eq!(found(profile, &m, env(&m, 0, balance_idle::IDLE)), None, "{profile}");
    }
}

/// Two little CPUs and two big ones, placed by energy.
fn little_group(overutilized: bool) -> Placement {
    let mut m = machine(4, 1);
    (m.energy_aware, m.asymmetric, m.overutilized) = (1, 1, overutilized.into());
    for c in 0..4usize {
        let own = &mut m.cpus[c];
        let capacity = if c < 2 { 512 } else { 1024 };
        (own.capacity, own.state.cap_orig) = (capacity, capacity);
        let (all, cluster) = (0xf, if c < 2 { 0x3 } else { 0xc });
        own.domains[1] =
            SchedDomain { span: all, flags: sd::ASYM_CPUCAPACITY, group_capacity: 2 * capacity, ..own.domains[0] };
        own.domains[0].span = cluster;
        own.nr_domains = 2;
        for d in &mut own.domains[..2] {
            (d.group_min_capacity, d.group_max_capacity) = (capacity, capacity);
        }
    }
    m
}

/// 5.10 fair.c group_smaller_min_cpu_capacity, later capacity_greater() of the smallest capacity: a busy big group is
/// passed over by a little CPU. In stable 6.12 and 7.2 always; in 6.18.2 only when it ties, and here it is the first
/// that is looked at and not of the type that the search begins with.
#[test]
fn a_bigger_group_is_passed_over_before_types_are_compared() {
    let mut m = little_group(true);
    for c in 2..4 {
        tasks(&mut m.cpus[c], 1);
        m.cpus[c].state.util_cfs = 1000; // fully busy: 2048 * 100 is not above 2000 * 117
    }
    m.cpus[2].state.util_cfs = 1024;
    let after = |profile| {
        let mut lb = Lb::default();
        env(&m, 0, balance_idle::IDLE).find_src_group(&policy(profile), &m, &mut lb);
        lb.busiest.cpus
    };
    for (profile, cpus) in
        [("5.10", 0xc), ("5.15", 0xc), ("6.1", 0), ("6.6", 0xc), ("6.8", 0xc), ("6.12", 0), ("6.18", 0xc), ("7.2", 0)]
    {
        assert_eq!(after(profile), cpus, "{profile}");
    }
}

/// find_busiest_queue: a lone task is left where its CPU is no smaller. 5.10.262 compares capacities as they are; from
/// 5.15 on capacity_greater() asks for a twentieth: 1024 * 1024 is below 1000 * 1078.
#[test]
fn a_lone_task_is_taken_to_a_cpu_that_is_larger_by_a_twentieth_from_5_15() {
    let source = |profile: &str, capacity| {
        let mut m = little_group(true);
        tasks(&mut m.cpus[0], 1);
        m.cpus[0].capacity = capacity;
        let mut lb = Lb::default();
        (lb.busiest.cpus, lb.migration, lb.imbalance) = (0x3, migrate::LOAD, 2048);
        env(&m, 2, balance_idle::IDLE).find_src_rq(&policy(profile), &m, &mut lb)
    };
    assert_eq!(["5.10", "5.15", "6.1"].map(|profile| source(profile, 1000)), [Some(0), None, None]);
    assert_eq!(["5.10", "5.15", "6.1"].map(|profile| source(profile, 900)), [Some(0); 3]);
}

/// 7.2 fair.c group_is_overloaded() asks for an over-utilized CPU first. Three tasks on two little CPUs: runnable
/// 1400 * 100 is above 1024 * 117, and no utilization is too much for its CPU.
#[test]
fn overload_takes_an_overutilized_cpu_in_7_2() {
    let mut m = little_group(true);
    tasks(&mut m.cpus[0], 2);
    tasks(&mut m.cpus[1], 1);
    for c in 0..2 {
        m.cpus[c].state.util_cfs = 300; // 300 * 1280 < 512 * 1024
        m.cpus[c].state.runnable_cfs = 700;
    }
    let kind = |profile| {
        let mut lb = Lb::default();
        env(&m, 2, balance_idle::IDLE).find_src_group(&policy(profile), &m, &mut lb);
        pelton_core::GROUP_TYPES[lb.busiest.r#type as usize]
    };
    for (profile, is) in [("5.10", "overloaded"), ("6.12", "overloaded"), ("6.18", "overloaded"), ("7.2", "fully busy")]
    {
        assert_eq!(kind(profile), is, "{profile}");
    }
}

/// 6.12 fair.c sched_balance_rq(): `env.migration_type != migrate_misfit` beside the failure counter and the back-off.
#[test]
fn misfits_are_no_failure_from_6_12() {
    let m = machine(4, 1);
    let e = env(&m, 0, balance_idle::IDLE);
    for (profile, failures, interval_ms) in
        [("5.10", 1, 8), ("5.15", 1, 8), ("6.1", 1, 8), ("6.6", 1, 8), ("6.8", 1, 8), ("6.12", 0, 4), ("7.2", 0, 4)]
    {
        let mut own = LbDomain::new(&m.cpus[0].domains[0], 0);
        own.failed(&policy(profile), &e, migrate::MISFIT);
        own.may_wait(&policy(profile), &e, migrate::MISFIT, 4);
        assert_eq!((own.nr_balance_failed, own.interval_ms), (failures, interval_ms), "{profile}");
        own.failed(&policy(profile), &e, migrate::TASK);
        assert_eq!(own.nr_balance_failed, failures + 1, "{profile}");
    }
}

/// 6.6 fair.c should_we_balance(): an idle thread of a busy core balances when it is the first, and so does the first
/// CPU of the group; from 6.8 that thread alone. To 6.1 the first idle CPU does, whatever its core.
#[test]
fn whose_turn_it_is_among_threads() {
    let mut m = machine(4, 2);
    // Cores {0, 1} and {2, 3} below one larger domain, so that all four are one group.
    for c in 0..4usize {
        let own = &mut m.cpus[c];
        own.domains[2] = SchedDomain { span: 0xff, ..own.domains[1] };
        own.nr_domains = 3;
    }
    m.nr_cpus = 8;
    tasks(&mut m.cpus[0], 1);
    tasks(&mut m.cpus[3], 1);
    let turns = |profile: &str| -> Vec<u32> {
        let turn = |&c: &u32| env(&m, c, balance_idle::IDLE).should_we_balance(&policy(profile), &m);
        (0..4).filter(turn).collect()
    };
    assert_eq!(turns("6.1"), [1]);
    assert_eq!(turns("6.6"), [0, 1]);
    assert_eq!(turns("6.8"), [1]);
    assert_eq!(turns("6.12"), [1]);
    assert_eq!(turns("7.2"), [1]);
}

/// 6.18 fair.c can_migrate_task(): a delayed task moves for load only; one that would have to wait moves after a
/// failure.
#[test]
fn what_may_move() {
    let m = machine(2, 1);
    let task = LbTask { allowed: 3, since_ran_ns: i64::MAX, ..LbTask::default() };
    let may = |profile: &str, task: LbTask, failed: u32, migration: u32| {
        let mut e = LbEnv { nr_balance_failed: failed, flags: lbf::ALL_PINNED, ..env(&m, 0, balance_idle::IDLE) };
        e.can_migrate_task(&policy(profile), &m, &task, migration)
    };
    let delayed = LbTask { delayed: 1, ..task };
    let late = LbTask { ineligible: 1, ..task };
    for (profile, rule) in [("6.12", false), ("6.18", true), ("7.2", true)] {
        assert_eq!(may(profile, delayed, 0, migrate::TASK), !rule, "{profile}");
        assert!(may(profile, delayed, 0, migrate::LOAD), "{profile}");
        assert_eq!(may(profile, late, 0, migrate::TASK), !rule, "{profile}");
        assert!(may(profile, late, 1, migrate::TASK), "{profile}");
    }
    // Ran 499,999 ns ago: hot, unless balances failed more often than they may.
    let hot = LbTask { since_ran_ns: 499_999, ..task };
    assert!(!may("6.12", hot, 1, migrate::TASK));
    assert!(may("6.12", hot, 2, migrate::TASK));
    assert!(may("6.12", LbTask { since_ran_ns: 500_000, ..task }, 0, migrate::TASK));
}

/// fair.c detach_tasks(): what a task brings is halved with each failure before it is compared with what is to be
/// moved.
#[test]
fn load_counts_less_after_failures() {
    let m = machine(2, 1);
    let task = LbTask { allowed: 3, since_ran_ns: i64::MAX, load: 1024, ..LbTask::default() };
    for (failed, goes) in [(0, false), (1, false), (2, true)] {
        let mut e = LbEnv { nr_balance_failed: failed, ..env(&m, 0, balance_idle::IDLE) };
        let mut lb = Lb { imbalance: 256, migration: migrate::LOAD, ..Lb::default() };
        assert_eq!(e.detach_task(&policy("7.2"), &m, &mut lb, &task), goes, "{failed}");
        assert_eq!(lb.imbalance, if goes { 256 - 1024 } else { 256 });
    }
}
