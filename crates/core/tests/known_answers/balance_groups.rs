// SPDX-License-Identifier: GPL-2.0-or-later
//! The busiest group, and what is taken from it: each term of `update_sd_pick_busiest()`, `calculate_imbalance()` and
//! `sched_balance_find_src_group()` (`find_busiest_group()` to 6.8) of kernel/sched/fair.c on its own.

use pelton_core::{
    Lb, LbDomain, LbEnv, LbTask, PlaceCpu, Placement, Policy, SchedDomain, balance_idle, cache_nice_tries,
    lb_newest_first, lbf, migrate, profiles, sd,
};

/// Releases that compare types of groups.
const RELEASES: [&str; 8] = ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

pub(super) fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// A group of a machine: CPUs, their capacity, and what their own domain says.
pub(super) struct Group {
    pub(super) cpus: u32,
    pub(super) capacity: u32,
    pub(super) flags: u32,
}

pub(super) fn of(cpus: u32, capacity: u32) -> Group {
    Group { cpus, capacity, flags: 0 }
}

/// Idle CPUs in groups below one domain of all, which has `flags`.
pub(super) fn machine(groups: &[Group], flags: u32) -> Placement {
    let all: u32 = groups.iter().map(|group| group.cpus).sum();
    let mut m = Placement { nr_cpus: all, ..Placement::default() };
    let mut first = 0;
    for group in groups {
        for c in first..first + group.cpus {
            let mut own = PlaceCpu { threads: 1 << c, capacity: group.capacity, curr_idle: 1, ..PlaceCpu::default() };
            (own.state.cap_orig, own.state.uclamp_max) = (group.capacity, 1024);
            let domain = |span: u64, flags: u32, cpus: u32| SchedDomain {
                span,
                flags,
                imbalance_pct: 117,
                group_capacity: group.capacity * cpus,
                group_min_capacity: group.capacity,
                group_max_capacity: group.capacity,
                ..SchedDomain::default()
            };
            own.domains[0] = domain(((1 << group.cpus) - 1) << first, group.flags, 1);
            own.domains[1] = domain(u64::MAX >> (64 - all), flags, group.cpus);
            own.nr_domains = 2;
            m.cpus[c as usize] = own;
        }
        first += group.cpus;
    }
    m
}

/// Two groups of four CPUs of capacity 1024.
fn two(flags: u32) -> Placement {
    machine(&[of(4, 1024), of(4, 1024)], flags)
}

/// Puts `n` fair tasks of load 1024 each on a CPU.
pub(super) fn tasks(m: &mut Placement, cpu: usize, n: u32, util: u32) {
    let c = &mut m.cpus[cpu];
    (c.nr_running, c.h_nr_queued, c.h_nr_runnable, c.curr_idle) = (n, n, n, u32::from(n == 0));
    c.load = 1024 * u64::from(n);
    (c.state.util_cfs, c.state.runnable_cfs) = (util, util);
}

/// CPU 0 looks for tasks in all: from which CPU, what, and how much.
pub(super) fn found_when(idle: u32, profile: &str, m: &Placement) -> Option<(u32, u32, i64)> {
    let (pol, mut lb) = (policy(profile), Lb::default());
    let env = LbEnv { cpus: u64::MAX >> (64 - m.nr_cpus), dst_cpu: 0, level: 1, idle, ..LbEnv::default() };
    (env.find_src_group(&pol, m, &mut lb) != 0).then_some(())?;
    let src = env.find_src_rq(&pol, m, &mut lb)?;
    Some((src, lb.migration, lb.imbalance))
}

fn found(profile: &str, m: &Placement) -> Option<(u32, u32, i64)> {
    found_when(balance_idle::IDLE, profile, m)
}

/// `busiest->group_weight > 1 && local->idle_cpus <= (busiest->idle_cpus + 1)` is balanced. (4 - 2) / 2 = 1 task.
#[test]
fn one_idle_cpu_more_is_balanced_and_two_are_not() {
    for profile in RELEASES {
        let mut m = two(sd::SHARE_LLC);
        tasks(&mut m, 6, 2, 400);
        assert_eq!(found(profile, &m), None, "{profile}: 4 and 3");
        tasks(&mut m, 5, 1, 300);
        assert_eq!(found(profile, &m), Some((6, migrate::TASK, 1)), "{profile}: 4 and 2");
    }
}

/// migrate_util: `if (nr_running <= 1) continue` and `if (busiest_util < util)`. Of an overloaded group in another
/// cache: what the local one has room for, 4 * 1024.
#[test]
fn utilization_is_taken_from_the_cpu_that_has_most() {
    for profile in RELEASES {
        for (utils, src) in [([960, 961, 962, 990], 7), ([990, 961, 962, 960], 4), ([961, 962, 962, 960], 5)] {
            let mut m = two(0);
            (4..8).zip(utils).for_each(|(cpu, util)| tasks(&mut m, cpu, 2, util));
            assert_eq!(found(profile, &m), Some((src, migrate::UTIL, 4096)), "{profile} {utils:?}");
        }
        let mut m = two(0);
        (4..8).zip([1, 2, 2, 2]).for_each(|(cpu, n)| tasks(&mut m, cpu, n, 1000 + u32::from(n == 1)));
        assert_eq!(found(profile, &m), Some((5, migrate::UTIL, 4096)), "{profile}: a lone task stays");
    }
}

/// `if (env->idle != CPU_NOT_IDLE && env->imbalance == 0)`: a task all the same. The local group has a CPU without
/// tasks and no room: every CPU remembers 1024.
#[test]
fn without_room_an_idle_cpu_takes_a_task_and_a_busy_one_nothing() {
    for profile in RELEASES {
        let mut m = two(0);
        for cpu in 0..8 {
            tasks(&mut m, cpu, [0, 1, 1, 1, 2, 2, 2, 2][cpu], 1024);
        }
        assert_eq!(found(profile, &m), Some((4, migrate::TASK, 1)), "{profile}");
        assert_eq!(found_when(balance_idle::NOT_IDLE, profile, &m), None, "{profile}");
    }
}

/// Three overloaded groups with loads 2048, 2200 and 4096 a CPU: the mean is 33,376 * 1024 / 12,288 = 2781. The
/// local one misses (2781 - 2048) * 4 = 2932, the busiest has (4096 - 2781) * 4 = 5260 too much: the smaller
/// counts.
#[test]
fn load_moves_until_one_of_both_has_the_mean() {
    for profile in RELEASES {
        let mut m = machine(&[of(4, 1024), of(4, 1024), of(4, 1024)], 0);
        for cpu in 0..12 {
            tasks(&mut m, cpu, 2, 1024);
            m.cpus[cpu].load = [2048, 2200, 4096][cpu / 4];
        }
        assert_eq!(found(profile, &m), Some((8, migrate::LOAD, 2932)), "{profile}");
    }
}

/// update_sd_lb_stats(): to 6.1 the local group's domain says whether tasks spread, from 6.6 the busiest group's
/// flags. Two tasks against none: half of it is one.
#[test]
fn whether_tasks_spread_is_said_by_the_local_group_to_6_1_then_by_the_busiest() {
    for profile in RELEASES {
        let old = ["5.10", "5.15", "6.1"].contains(&profile);
        for (local, busiest, spreads) in [
            (sd::PREFER_SIBLING, 0, old),
            (0, sd::PREFER_SIBLING, !old),
            (sd::SHARE_LLC, sd::SHARE_LLC, false),
            (sd::PREFER_SIBLING, sd::PREFER_SIBLING, true),
        ] {
            let group = |flags| Group { flags, ..of(4, 1024) };
            let mut m = machine(&[group(local), group(busiest)], sd::SHARE_LLC);
            tasks(&mut m, 6, 2, 400);
            let expected = spreads.then_some((6, migrate::TASK, 1));
            assert_eq!(found(profile, &m), expected, "{profile}: {local:#x} {busiest:#x}");
        }
    }
}

/// sibling_imbalance() from 6.6 on: cores 1 and 3. One task: (2 * (1 * 1 - 3 * 0) + 4) / 4 = 1, not more than one.
/// Two: (2 * 2 + 4) / 4 = 2, half of it moves.
#[test]
fn groups_of_unequal_size_spread_by_cores_from_6_6() {
    for profile in ["6.6", "6.8", "6.12", "6.18", "7.2"] {
        for (running, expected) in [(1, None), (2, Some((1, migrate::TASK, 1)))] {
            let mut m = machine(&[of(1, 1024), Group { flags: sd::PREFER_SIBLING, ..of(3, 1024) }], sd::SHARE_LLC);
            (1..=running).for_each(|cpu| tasks(&mut m, cpu, 1, 300));
            assert_eq!(found(profile, &m), expected, "{profile}: {running}");
        }
    }
}

/// 5.10 adjust_numa_imbalance(): `if (src_nr_running <= imbalance_min) return 0`, which is 2.
#[test]
fn two_tasks_of_another_node_stay_in_5_10_and_three_do_not() {
    for (flags, running, expected) in [
        (sd::NUMA, [1, 1], None),
        (0, [1, 1], Some((5, migrate::TASK, 1))),
        (sd::NUMA, [2, 1], Some((5, migrate::TASK, 1))),
    ] {
        let mut m = two(flags);
        (5..7).zip(running).for_each(|(cpu, n)| tasks(&mut m, cpu, n, 300));
        assert_eq!(found("5.10", &m), expected, "{flags:#x} {running:?}");
    }
}

/// A smaller group gives its tasks only where capacities differ by design: `env->sd->flags & SD_ASYM_CPUCAPACITY`.
#[test]
fn a_cpu_that_others_took_from_is_no_small_one() {
    for profile in RELEASES {
        let mut m = two(sd::SHARE_LLC);
        m.cpus[0].capacity = 800;
        tasks(&mut m, 6, 2, 400);
        tasks(&mut m, 5, 1, 300);
        assert_eq!(found(profile, &m), Some((6, migrate::TASK, 1)), "{profile}");
    }
}

/// Two big CPUs, and two groups of two smaller ones with a task that is too big on some.
pub(super) fn misfits(capacity: u32, loads: [u64; 4]) -> Placement {
    let mut m = machine(&[of(2, 1024), of(2, capacity), of(2, capacity)], sd::ASYM_CPUCAPACITY);
    m.asymmetric = 1;
    for (cpu, load) in (2..6).zip(loads).filter(|(_, load)| *load > 0) {
        tasks(&mut m, cpu, 1, 350);
        m.cpus[cpu].misfit_load = load as u32;
        m.cpus[cpu].load = 1000 - load;
    }
    m
}

/// find_busiest_queue(), migrate_misfit: the largest misfit_task_load, not the largest load. Of groups with equal
/// ones the later to 6.8 (`<` is passed over), the first from 6.12 (`>` replaces).
#[test]
fn the_largest_misfit_of_a_group_moves() {
    for profile in RELEASES {
        assert_eq!(found(profile, &misfits(400, [300, 400, 0, 0])), Some((3, migrate::MISFIT, 1)), "{profile}");
        let later = ["5.10", "5.15", "6.1", "6.6", "6.8"].contains(&profile);
        let src = if later { 5 } else { 3 };
        assert_eq!(found(profile, &misfits(400, [0, 400, 0, 400])), Some((src, migrate::MISFIT, 1)), "{profile}");
    }
}

/// 5.10: group_smaller_max_cpu_capacity(): 900 * 1280 is not below 1024 * 1024. From 5.15 capacity_greater(): 1024
/// * 1024 is above 900 * 1078, and not above 1000 * 1078.
#[test]
fn a_cpu_that_is_hardly_bigger_helps_no_misfit() {
    for profile in RELEASES {
        let expected = (profile != "5.10").then_some((3, migrate::MISFIT, 1));
        assert_eq!(found(profile, &misfits(900, [0, 400, 0, 0])), expected, "{profile}: 900");
        let mut m = misfits(1000, [0, 400, 0, 0]);
        tasks(&mut m, 3, 2, 350);
        m.cpus[3].misfit_load = 400;
        assert_eq!(found(profile, &m), None, "{profile}: 1000");
    }
}

/// sd_init(): cache_nice_tries is 0, 1 where a cache is shared or nothing is, 2 between nodes.
#[test]
fn threads_are_moved_after_no_failure_and_nodes_after_two() {
    let tries = |flags| cache_nice_tries(&SchedDomain { flags, ..SchedDomain::default() });
    assert_eq!([sd::SHARE_CPUCAPACITY | sd::SHARE_LLC, sd::SHARE_LLC, 0, sd::NUMA].map(tries), [0, 1, 1, 2]);
}

/// load_balance(), out_balanced: to 4.19 `if (sd_parent)` clears the parent's mark, in 5.4 and later only `&&
/// !(env.flags & LBF_ALL_PINNED)`.
#[test]
fn pinned_tasks_keep_the_mark_of_an_imbalance_from_5_4() {
    for (profile, pinned) in [("4.12", true), ("4.19", true), ("5.4", false), ("6.1", false), ("7.2", false)] {
        let clears = |flags| LbEnv { flags, ..LbEnv::default() }.clears_imbalance(&policy(profile));
        assert!(clears(0), "{profile}");
        assert_eq!(clears(lbf::ALL_PINNED), pinned, "{profile}");
    }
}

/// should_we_balance(): to 6.1 the first idle CPU of the group, from 6.6 the first whose core is idle.
#[test]
fn an_idle_thread_of_a_busy_core_balances_to_6_1() {
    for profile in RELEASES {
        let mut m = two(sd::SHARE_LLC);
        m.smt = 1;
        for cpu in 0..8 {
            m.cpus[cpu].threads = 0b11 << (cpu / 2 * 2);
        }
        tasks(&mut m, 1, 1, 300);
        let should = |dst_cpu| {
            let env = LbEnv { cpus: 0xff, dst_cpu, level: 1, idle: balance_idle::IDLE, ..LbEnv::default() };
            env.should_we_balance(&policy(profile), &m)
        };
        let old = ["5.10", "5.15", "6.1"].contains(&profile);
        assert_eq!((should(0), should(2)), (old, !old), "{profile}");
    }
}

/// adjust_numa_imbalance() from 6.1: `if (dst_running > imb_numa_nr) return imbalance`, `if (imbalance <=
/// NUMA_IMBALANCE_MIN) return 0`, which is 2: with the task that comes one runs.
#[test]
fn nodes_may_differ_by_two_tasks_while_few_run() {
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        for (flags, imb_numa_nr, stays) in
            [(sd::NUMA, 4, true), (sd::NUMA, 1, true), (sd::NUMA, 0, false), (0, 4, false)]
        {
            let mut m = two(flags);
            (0..8).for_each(|cpu| m.cpus[cpu].domains[1].imb_numa_nr = imb_numa_nr);
            tasks(&mut m, 5, 1, 300);
            tasks(&mut m, 6, 1, 300);
            let expected = (!stays).then_some((5, migrate::TASK, 1));
            assert_eq!(found(profile, &m), expected, "{profile}: {flags:#x} {imb_numa_nr}");
        }
    }
}

fn task(allowed: u64) -> LbTask {
    LbTask { allowed, since_ran_ns: i64::MAX, ..LbTask::default() }
}

/// can_migrate_task(): a task that may not run here may run on another CPU of the local group, which is tried
/// instead, unless this CPU goes idle (`env->idle == CPU_NEWLY_IDLE`) or one is known already.
#[test]
fn another_cpu_of_the_group_is_remembered_for_a_pinned_task() {
    let m = two(sd::SHARE_LLC);
    for profile in RELEASES {
        let asked = |idle, flags, allowed| {
            let mut e = LbEnv { cpus: 0xff, level: 1, idle, flags, new_dst_cpu: 9, ..LbEnv::default() };
            assert!(!e.can_migrate_task(&policy(profile), &m, &task(allowed), migrate::LOAD), "{profile}");
            (e.flags, e.new_dst_cpu)
        };
        let (idle, newly) = (balance_idle::IDLE, balance_idle::NEWLY_IDLE);
        let (some, dst) = (lbf::SOME_PINNED, lbf::DST_PINNED);
        assert_eq!(asked(idle, 0, 0b10_0010), (some | dst, 1), "{profile}");
        assert_eq!(asked(newly, 0, 0b10_0010), (some, 9), "{profile}: it goes idle");
        assert_eq!(asked(idle, 0, 0b10_0000), (some, 9), "{profile}: none of the group");
        assert_eq!(asked(idle, dst, 0b10_0010), (some | dst, 9), "{profile}: one is known");
        assert_eq!(asked(idle, lbf::ACTIVE_LB, 0b10_0010), (some | lbf::ACTIVE_LB, 9), "{profile}: the running one");
    }
}

/// can_migrate_task(): one that is bound to its CPU, and one that runs, stay.
#[test]
fn bound_and_running_tasks_stay() {
    let m = two(sd::SHARE_LLC);
    for profile in RELEASES {
        let may = |task| {
            let mut e = LbEnv { cpus: 0xff, level: 1, idle: balance_idle::IDLE, ..LbEnv::default() };
            e.can_migrate_task(&policy(profile), &m, &task, migrate::LOAD)
        };
        let stays = [LbTask { bound: 1, ..task(3) }, LbTask { running: 1, ..task(3) }].map(may);
        assert_eq!((may(task(3)), stays), (true, [false; 2]), "{profile}");
    }
}

/// detach_tasks(): migrate_misfit takes one that does not fit its CPU, and that is all (`env->imbalance = 0`);
/// migrate_task counts tasks, migrate_util their estimate, migrate_load their load.
#[test]
fn what_a_task_counts_for_is_what_is_to_be_moved() {
    let m = two(sd::SHARE_LLC);
    for profile in RELEASES {
        let left = |migration, task: LbTask| {
            let mut e = LbEnv { cpus: 0xff, level: 1, idle: balance_idle::IDLE, ..LbEnv::default() };
            let mut lb = Lb { imbalance: 500, migration, ..Lb::default() };
            let goes = e.detach_task(&policy(profile), &m, &mut lb, &task);
            (goes, lb.imbalance)
        };
        let one = LbTask { load: 400, util_est: 300, ..task(3) };
        assert_eq!(left(migrate::MISFIT, one), (true, 0), "{profile}");
        assert_eq!(left(migrate::MISFIT, LbTask { fits_src: 1, ..one }), (false, 500), "{profile}");
        assert_eq!(left(migrate::TASK, one), (true, 499), "{profile}");
        assert_eq!(left(migrate::UTIL, one), (true, 200), "{profile}");
        assert_eq!(left(migrate::LOAD, one), (true, 100), "{profile}");
        assert_eq!(left(migrate::UTIL, LbTask { util_est: 501, ..one }), (false, 500), "{profile}");
    }
}

/// detach_tasks(): 4.12 list_first_entry(), from 4.16 on list_last_entry().
#[test]
fn only_4_12_begins_with_the_task_that_was_queued_last() {
    let newest: Vec<&str> = profiles().into_iter().filter(|profile| lb_newest_first(&policy(profile))).collect();
    assert_eq!(newest, ["4.12"]);
}

/// Every CPU of a group is counted, on a machine whose CPUs fill a word: 32 and 32, and idle 32 and 30.
#[test]
fn all_cpus_of_a_machine_of_64_are_counted() {
    for profile in RELEASES {
        let mut m = machine(&[of(32, 1024), of(32, 1024)], sd::SHARE_LLC);
        tasks(&mut m, 62, 1, 300);
        tasks(&mut m, 63, 2, 300);
        let (pol, mut lb) = (policy(profile), Lb::default());
        let env = LbEnv { cpus: u64::MAX, level: 1, idle: balance_idle::IDLE, ..LbEnv::default() };
        assert_eq!(env.find_src_group(&pol, &m, &mut lb), 0xffff_ffff << 32, "{profile}");
        assert_eq!((lb.local.weight, lb.busiest.weight), (32, 32), "{profile}");
        assert_eq!((lb.local.cores, lb.busiest.cores), (32, 32), "{profile}");
        assert_eq!((lb.local.idle_cpus, lb.busiest.idle_cpus, lb.imbalance), (32, 30, 1), "{profile}");
    }
}

/// 5.10 load_balance(): an active balance that voluntary_active_balance() asks for (a lone task on a CPU from which
/// others took) brings the interval back, another one doubles it up to max_interval, twice the weight. From 5.15 the
/// interval comes back in any case.
#[test]
fn an_active_balance_backs_off_in_5_10_unless_it_is_voluntary() {
    for profile in RELEASES {
        for (running, capacity, before, after) in
            [(1, 800, 8, 8), (1, 1024, 8, 16), (2, 800, 8, 16), (1, 1024, 16, 16), (1, 800, 16, 8)]
        {
            let mut m = two(sd::SHARE_LLC);
            tasks(&mut m, 4, running, 300);
            m.cpus[4].capacity = capacity;
            let idle = balance_idle::IDLE;
            let env = LbEnv { cpus: 0xff, src_cpu: 4, level: 1, idle, cache_nice_tries: 1, ..LbEnv::default() };
            let mut domain = LbDomain { interval_ms: before, nr_balance_failed: 7, ..LbDomain::default() };
            domain.activated(&policy(profile), &m, &env, migrate::TASK);
            let expected = if profile == "5.10" { (after, 2) } else { (8, 7) };
            assert_eq!((domain.interval_ms, domain.nr_balance_failed), expected, "{profile}: {running} {capacity}");
        }
    }
}
