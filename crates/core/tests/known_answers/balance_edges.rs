// SPDX-License-Identifier: GPL-2.0-or-later
//! Terms of balances that decide alone in few machines only: threads of a core, loads to 5.4, nodes of many CPUs.

use super::balance_groups::{Group, found_when, machine, misfits, of, policy, tasks};
use pelton_core::{Lb, LbEnv, NO_CPU, Placed, Placement, balance_idle, migrate, profiles, sd, wf};

const BY_LOADS: [&str; 4] = ["4.12", "4.16", "4.19", "5.4"];

/// find_busiest_group(): from 6.6 `group_smt_balance && smt_vs_nonsmt_groups(local, busiest)` moves a task whatever
/// idle CPUs say, which are 1 and 0. To 6.1 they differ by no more than one. Threads beside threads stay in all.
#[test]
fn a_core_of_one_thread_takes_from_two_busy_threads_from_6_6() {
    for (profile, takes) in
        [("5.10", false), ("6.1", false), ("6.6", true), ("6.8", true), ("6.12", true), ("6.18", true), ("7.2", true)]
    {
        let threads = || Group { flags: sd::SHARE_CPUCAPACITY | sd::SHARE_LLC, ..of(2, 1024) };
        let mut m = machine(&[of(1, 1024), threads()], sd::SHARE_LLC);
        m.smt = 1;
        (1..3).for_each(|cpu| m.cpus[cpu].threads = 0b110);
        (1..3).for_each(|cpu| tasks(&mut m, cpu, 1, 300));
        let found = found_when(balance_idle::IDLE, profile, &m);
        assert_eq!(found, takes.then_some((1, migrate::TASK, 1)), "{profile}");

        let mut m = machine(&[threads(), threads()], sd::SHARE_LLC);
        m.smt = 1;
        (0..4).for_each(|cpu| m.cpus[cpu].threads = 0b11 << (cpu / 2 * 2));
        tasks(&mut m, 1, 1, 300);
        (2..4).for_each(|cpu| tasks(&mut m, cpu, 1, 300));
        assert_eq!(found_when(balance_idle::IDLE, profile, &m), None, "{profile}: both are threads");
    }
}

/// 5.4 update_sd_pick_busiest(): of two groups with misfits the one with more load, unless its `group_misfit_task_load`
/// is smaller.
#[test]
fn of_two_misfits_the_larger_is_taken_in_5_4() {
    for (larger, src) in [(400, 5), (300, 5), (200, 3)] {
        let mut m = misfits(400, [0, 300, 0, larger]);
        (m.cpus[3].load, m.cpus[5].load) = (500, 700);
        let (from, kind, _) = found_when(balance_idle::IDLE, "5.4", &m).expect("a misfit");
        assert_eq!((from, kind), (src, migrate::MISFIT), "{larger} after 300");
    }
}

/// calculate_imbalance(): load_above_capacity counts only where both are overloaded. Loads 400 and 8000 on 4096: 100
/// and 2000, the mean is 8400 * 1024 / 8192 = 1050. min(950, 950) * 4096 / 1024 = 3800. Both overloaded: (5 * 1024 -
/// 4096) * 1024 / 4096 = 256, so 1024; less than a task's 1600, and moving one does not pay: 2000 + 400 >= 100 + 400.
#[test]
fn what_exceeds_capacity_limits_an_imbalance_of_two_overloaded_groups_only() {
    for profile in BY_LOADS {
        let found = |util| {
            let mut m = machine(&[of(4, 1024), of(4, 1024)], 0);
            for cpu in 0..8 {
                let (n, util, load) = if cpu < 4 { (2, 1024, 100) } else { (1 + u32::from(cpu == 4), util, 2000) };
                tasks(&mut m, cpu, n, util);
                m.cpus[cpu].load = load;
                m.cpus[cpu].cpu_load = [load; 4];
            }
            found_when(balance_idle::NOT_IDLE, profile, &m)
        };
        assert_eq!(found(100), Some((4, migrate::LOAD, 3800)), "{profile}: room in the busiest");
        assert_eq!(found(1024), Some((4, migrate::LOAD, 1600)), "{profile}: none in either");
    }
}

/// 5.4 find_busiest_group(): `rcu_dereference(rd->pd) && !READ_ONCE(rd->overutilized)` is balanced. The mark is the
/// root domain's; update_sd_lb_stats() sets it anew for the largest domain alone. Three tasks of 1024 on one of four
/// CPUs: the mean is 768, which is less than a task: one.
#[test]
fn a_smaller_domain_of_5_4_goes_by_the_mark_of_the_whole_machine() {
    for (level, marked, expected) in [(0, 0, None), (0, 1, Some((1, migrate::LOAD, 1024))), (1, 0, None), (1, 1, None)]
    {
        let mut m = machine(&[of(4, 1024), of(4, 1024)], sd::SHARE_LLC);
        (m.energy_aware, m.overutilized) = (1, marked);
        tasks(&mut m, 1 + 4 * level as usize, 3, 100);
        let idle = balance_idle::NEWLY_IDLE;
        let cpus = if level == 0 { 0xf } else { 0xff };
        let (pol, mut lb, env) = (policy("5.4"), Lb::default(), LbEnv { cpus, level, idle, ..LbEnv::default() });
        let found = (env.find_src_group(&pol, &m, &mut lb) != 0)
            .then(|| env.find_src_rq(&pol, &m, &mut lb).map(|src| (src, lb.migration, lb.imbalance)))
            .flatten();
        assert_eq!(found, expected, "level {level}, marked {marked}");
    }
}

/// A new task on a machine of two nodes of 32 CPUs: 35 tasks and an idle CPU here, 30 and two there.
fn nodes(allowed: u64) -> Placement {
    let node = || Group { flags: sd::BALANCE_FORK, ..of(32, 1024) };
    let mut m = machine(&[node(), node()], sd::NUMA | sd::BALANCE_FORK);
    m.flags = wf::FORK;
    (m.task.allowed, m.task.numa_cpu, m.task.uclamp_max) = (allowed, NO_CPU, 1024);
    for cpu in 0..64 {
        let n = match cpu {
            0..4 => 2,
            31 | 62 | 63 => 0,
            _ => 1,
        };
        tasks(&mut m, cpu, n, 10);
        m.cpus[cpu].domains[1].imb_numa_nr = 40;
    }
    m
}

/// find_idlest_group() from 6.1: `if (p->nr_cpus_ptr != NR_CPUS) imb_numa_nr = min(cpumask_weight(allowed here),
/// imb_numa_nr)`, and adjust_numa_imbalance(): 36 tasks are no more than 40, and an idle CPU is no more than 2. A task
/// that may not use CPU 40 has 32 CPUs here: 36 are more, and there are fewer idle CPUs than there.
#[test]
fn nodes_count_by_the_cpus_that_a_task_may_use_unless_it_may_use_all() {
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let placed = |allowed| nodes(allowed).select(&policy(profile), &mut Placed::default());
        assert_eq!(placed(u64::MAX), 31, "{profile}: it stays on its node");
        assert_eq!(placed(!(1 << 40)), 62, "{profile}");
    }
}

/// find_busiest_group(): without a busiest group `env->imbalance = 0`: nothing is to be moved on an idle machine,
/// though idle CPUs would differ from those of no group.
#[test]
fn nothing_is_to_be_moved_on_an_idle_machine() {
    for profile in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let m = machine(&[of(4, 1024), of(4, 1024)], sd::SHARE_LLC);
        let env = LbEnv { cpus: 0xff, level: 1, idle: balance_idle::IDLE, ..LbEnv::default() };
        let mut lb = Lb { imbalance: 7, ..Lb::default() };
        assert_eq!(env.find_src_group(&policy(profile), &m, &mut lb), 0, "{profile}");
        assert_eq!((lb.imbalance, lb.migration), (0, 0), "{profile}");
    }
}

/// Functions are total: a walk over groups leaves a CPU behind even where a record names a group that lacks it,
/// which no machine has. Here those of CPUs 2 and 3 are empty, and what they run belongs to none: what is left are
/// two tasks of the local group, 2048, of which nothing is to be moved.
#[test]
fn a_search_ends_where_groups_lack_their_cpus() {
    for profile in profiles() {
        let mut m = machine(&[of(2, 1024), of(2, 1024)], sd::SHARE_LLC);
        for cpu in 1..4 {
            tasks(&mut m, cpu, 2, 900);
            m.cpus[cpu].cpu_load = [2048; 4];
        }
        (2..4).for_each(|cpu| m.cpus[cpu].domains[0].span = 0);
        let (pol, mut lb) = (policy(profile), Lb::default());
        let env = LbEnv { cpus: 0xf, level: 1, idle: balance_idle::IDLE, ..LbEnv::default() };
        assert_eq!(env.find_src_group(&pol, &m, &mut lb), 0, "{profile}");
        assert_eq!((lb.total_load, lb.busiest.cpus), (2048, 0), "{profile}");
    }
}
