// SPDX-License-Identifier: GPL-2.0-or-later
//! Caches that tasks prefer, worked out by hand from kernel/sched/fair.c of 7.2.12: `__update_mm_sched()`,
//! `fraction_mm_sched()`, `account_mm_sched()`, `task_cache_work()`, `can_migrate_llc()`, `alb_break_llc()`,
//! `llc_balance()`.

use pelton_core::{
    CacheCpu, CacheGroup, CacheTime, Lb, LbDomain, LbEnv, LbTask, NO_CPU, NO_DOMAIN, PLACE_CPUS_MAX, PlaceCpu,
    Placement, Policy, Record, SchedDomain, balance_idle, lbf, llc_epoch_ticks, migrate, sched_cache_enabled, sd,
};

const MS: u64 = 1_000_000;
/// Ticks of 4 ms: two to an epoch.
const PERIOD: u32 = 2;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// Two caches of four CPUs without threads in one node; nothing runs.
fn machine() -> Placement {
    let mut m = Placement { nr_cpus: 8, cache_aware: 1, smt_threads: 1, ..Placement::default() };
    for c in 0..8u32 {
        let cache = c / 4 * 4;
        let domain = |span, flags, group: u32| SchedDomain {
            span,
            flags: flags | sd::PREFER_SIBLING,
            imbalance_pct: 117,
            group_capacity: 1024 * group,
            group_min_capacity: 1024,
            group_max_capacity: 1024,
            ..SchedDomain::default()
        };
        let own = &mut m.cpus[c as usize];
        *own = PlaceCpu { threads: 1 << c, capacity: 1024, curr_idle: 1, ..PlaceCpu::default() };
        (own.domains[0], own.domains[1]) = (domain(0xf << cache, sd::SHARE_LLC, 1), domain(0xff, 0, 4));
        (own.nr_domains, own.llc, own.llc_size, own.llc_domain, own.asym_domain) = (2, cache, 4, 0, NO_DOMAIN);
        (own.state.cap_orig, own.state.uclamp_max) = (1024, 1024);
    }
    m
}

/// `n` fair tasks of utilization `util` in all.
fn runs(m: &mut Placement, c: usize, n: u32, util: u32) {
    let cpu = &mut m.cpus[c];
    (cpu.nr_running, cpu.h_nr_queued, cpu.h_nr_runnable, cpu.curr_idle) = (n, n, n, 0);
    cpu.load = 1024 * u64::from(n);
    (cpu.state.util_cfs, cpu.state.runnable_cfs) = (util, util);
}

/// An idle CPU balances the node.
fn env(dst_cpu: u32) -> LbEnv {
    let idle = balance_idle::IDLE;
    LbEnv { cpus: 0xff, dst_cpu, level: 1, idle, cache_nice_tries: 1, ..LbEnv::default() }
}

/// Sets utilization and capacity of a cache, as a balance sums them up.
fn fill(m: &mut Placement, cache: u32, util: u32) {
    m.cpus.iter_mut().filter(|c| c.llc == cache).for_each(|c| (c.llc_util, c.llc_capacity) = (util, 4096));
}

#[test]
fn runtimes_are_halved_each_epoch() {
    let (m, mut cpu, mut time) = (machine(), CacheCpu::default(), CacheTime::default());
    let mut group = CacheGroup { threads: 2, ..CacheGroup::new(&cpu, 0) };
    let mut ran = |ms: u64, now: u64, group: &mut CacheGroup| {
        group.account(&m, (&mut cpu, &mut time), 0, ms * MS, (now, PERIOD));
        (time.runtime_ns / MS, cpu.epoch, cpu.epoch_next_ticks)
    };
    // The first epoch lasts up to tick 0, each other one two ticks: 1 + 2 - 1 over 2 is 1.
    assert_eq!(ran(8, 0, &mut group), (8, 0, 0));
    assert_eq!(ran(8, 1, &mut group), (12, 1, 2));
    assert_eq!(ran(0, 2, &mut group), (12, 1, 2));
    assert_eq!(ran(4, 3, &mut group), (10, 2, 4));
    assert_eq!(ran(0, 7, &mut group), (2, 4, 8));
    assert_eq!(ran(1, 4000, &mut group), (1, 2000, 4000));
    assert_eq!([llc_epoch_ticks(10 * MS), llc_epoch_ticks(4 * MS), llc_epoch_ticks(MS)], [1, 2, 10]);
}

/// A process that ran `ms` on each CPU and looks on CPU 0: its preferred CPU and the mean of its running threads.
fn looks(m: &Placement, group: &mut CacheGroup, ms: [u64; 8], running: &[usize], now: u64) -> (u32, u64) {
    let mut cpus = [CacheCpu { epoch_next_ticks: now, ..CacheCpu::default() }; PLACE_CPUS_MAX];
    let mut times = [CacheTime::default(); PLACE_CPUS_MAX];
    for (c, ms) in ms.into_iter().enumerate() {
        (times[c].runtime_ns, cpus[c].runtime_ns) = (ms * MS, 10 * MS - 1);
    }
    running.iter().for_each(|&c| cpus[c].runs = 1);
    group.look(m, (&mut cpus, &mut times), 0, (now, PERIOD));
    (group.cpu, group.nr_running_avg)
}

#[test]
fn the_cache_with_most_is_preferred_when_it_has_twice_as_much() {
    let m = machine();
    let mut group = CacheGroup { threads: 3, ..CacheGroup::new(&CacheCpu::default(), 0) };
    assert_eq!(looks(&m, &mut group, [0, 0, 0, 0, 5, 15, 0, 0], &[4, 5], 10), (5, 1), "no cache was preferred");
    assert_eq!(looks(&m, &mut group, [40, 0, 0, 0, 5, 15, 0, 0], &[0, 5], 12), (5, 1), "twice as much is not more");
    assert_eq!(looks(&m, &mut group, [45, 0, 0, 0, 5, 15, 0, 0], &[0, 5], 14), (0, 1));
    assert_eq!(looks(&m, &mut group, [0; 8], &[], 15), (0, 1), "one look an epoch");
    // (4 - 1) / 2 is 1, and 2 * 1280 is less than 4 * 1024; 4 * 1280 is not.
    assert_eq!(looks(&m, &mut group, [45, 0, 0, 0, 5, 15, 0, 0], &[0, 1, 2, 3], 16), (0, 2));
    assert!(!group.invalid_llc_nr(m.smt_threads, 4));
    group.nr_running_avg = 4;
    assert!(group.invalid_llc_nr(m.smt_threads, 4) && !group.invalid_llc_nr(m.smt_threads, 8));
    assert_eq!(looks(&m, &mut group, [45, 0, 0, 0, 0, 0, 0, 0], &[0], 18), (NO_CPU, 4), "too many");
    assert!(CacheGroup { threads: 1, nr_running_avg: 0, ..group }.invalid_llc_nr(m.smt_threads, 8), "one thread");
    let threads = Placement { smt_threads: 2, ..m };
    assert!(
        CacheGroup { nr_running_avg: 2, ..group }.invalid_llc_nr(threads.smt_threads, 4),
        "2 * 2 * 1280 >= 4 * 1024"
    );
}

#[test]
fn a_preference_is_forgotten_after_five_epochs_without_a_look() {
    let (m, mut cpu, mut time) = (machine(), CacheCpu::default(), CacheTime::default());
    let mut group = CacheGroup { threads: 2, cpu: 5, ..CacheGroup::new(&cpu, 0) };
    let mut at = |epoch: u64, group: &mut CacheGroup| {
        group.account(&m, (&mut cpu, &mut time), 0, MS, (2 * epoch, PERIOD));
        group.preferred_llc(&m)
    };
    assert_eq!((at(5, &mut group), at(6, &mut group)), (4, NO_CPU));
    let cpu = CacheCpu { epoch: 6, ..CacheCpu::default() };
    assert!(!group.tick(&cpu, true) && group.epoch == 0, "asked already");
    assert!(group.tick(&cpu, false) && group.epoch == 6);
    assert!(!group.tick(&cpu, false), "once an epoch");
}

/// May a task of 100 move from the cache of CPU 4 to that of CPU 0, whose utilizations these are?
fn may(src: u32, dst: u32, preferred_cpu: u32) -> (bool, bool) {
    let mut m = machine();
    fill(&mut m, 4, src);
    fill(&mut m, 0, dst);
    let mut e = LbEnv { src_cpu: 4, flags: lbf::ALL_PINNED, ..env(0) };
    let llc = m.cpus[preferred_cpu as usize].llc;
    let task = LbTask {
        allowed: 0xff,
        since_ran_ns: i64::MAX,
        util: 100,
        preferred_llc: llc,
        preferred_cpu,
        fits_src: 1,
        fits_dst: 1,
        ..LbTask::default()
    };
    let may = e.can_migrate_task(&policy("7.2"), &m, &task, migrate::TASK);
    (may, e.flags & lbf::LLC_PINNED != 0)
}

/// Without threads a cache has room below 75 %: 3072 of 4096.
#[test]
fn a_task_stays_in_its_cache_while_that_has_room() {
    let (goes, stays) = ((true, false), (false, true));
    assert_eq!(may(1000, 0, 4), stays, "900 is less than 3072");
    assert_eq!(may(3171, 0, 4), stays);
    assert_eq!(may(3172, 2459, 4), goes, "3072 is no room, and 100 * 3072 is above 120 * 2559");
    assert_eq!(may(3172, 2460, 4), stays, "100 * 3072 is not above 120 * 2560");
    assert_eq!(may(3172, 2972, 4), goes, "neither has room");
}

#[test]
fn a_task_goes_to_its_cache_while_that_has_room_or_is_not_busier() {
    let (goes, stays) = ((true, false), (false, true));
    assert_eq!(may(100, 2971, 0), goes, "3071 of 3072");
    assert_eq!(may(2660, 2972, 0), goes, "100 * 3072 is not above 120 * 2560");
    assert_eq!(may(2659, 2972, 0), stays, "100 * 3072 is above 120 * 2559");
    assert_eq!(may(3172, 2972, 0), goes, "neither has room");
}

#[test]
fn what_is_no_end_of_the_move_does_not_count() {
    let mut m = machine();
    fill(&mut m, 0, 0);
    fill(&mut m, 4, 1000);
    let task =
        LbTask { allowed: 0xff, since_ran_ns: i64::MAX, preferred_llc: 4, preferred_cpu: 4, ..LbTask::default() };
    let asks = |m: &Placement, failed, migration, task: &LbTask| {
        let mut e = LbEnv { src_cpu: 4, nr_balance_failed: failed, ..env(0) };
        (e.can_migrate_task(&policy("7.2"), m, task, migration), e.flags & (lbf::LLC_PINNED | lbf::LLC_FORGET))
    };
    assert_eq!(asks(&m, 1, migrate::TASK, &task), (false, lbf::LLC_PINNED));
    assert_eq!(asks(&m, 2, migrate::TASK, &task), (true, 0), "failures above tries");
    assert_eq!(asks(&m, 0, migrate::LLC_TASK, &task), (false, 0), "not one of those looked for");
    assert_eq!(asks(&m, 0, migrate::TASK, &LbTask { preferred_cpu: NO_CPU, ..task }), (true, 0));
    let crowd = LbTask { invalid_llc_nr: 1, ..task };
    assert_eq!(asks(&m, 0, migrate::TASK, &crowd), (true, lbf::LLC_FORGET));
    fill(&mut m, 4, 0);
    m.cpus.iter_mut().for_each(|c| c.llc_capacity = 0);
    assert_eq!(asks(&m, 0, migrate::TASK, &task), (true, 0), "nothing is known of the caches");
}

/// Two tasks in one cache that prefer the other one, which is empty.
fn away() -> Placement {
    let mut m = machine();
    runs(&mut m, 4, 1, 300);
    runs(&mut m, 5, 1, 300);
    m.cpus[5].nr_pref_dst_llc = 1;
    fill(&mut m, 0, 0);
    fill(&mut m, 4, 600);
    m
}

#[test]
fn a_group_with_tasks_that_prefer_this_cache_gives_one() {
    let (m, mut lb) = (away(), Lb::default());
    let e = env(0);
    assert_eq!(e.find_src_group(&policy("7.2"), &m, &mut lb), 0xf0);
    let found = (pelton_core::GROUP_TYPES[lb.busiest.r#type as usize], lb.migration, lb.imbalance);
    assert_eq!(found, ("tasks prefer the cache", migrate::LLC_TASK, 1));
    assert_eq!(e.find_src_rq(&policy("7.2"), &m, &mut lb), Some(5));
    let e = LbEnv { src_cpu: 5, ..e };
    assert!(e.need_active_balance(&policy("7.2"), &m, migrate::LLC_TASK), "it runs there alone");
    let often = LbEnv { nr_balance_failed: 2, ..env(0) };
    assert_eq!(often.find_src_group(&policy("7.2"), &m, &mut lb), 0xf0);
    assert_eq!(lb.migration, migrate::TASK, "failures above tries: to even tasks out");
}

#[test]
fn caches_are_summed_up_by_balances_that_are_not_newly_idle() {
    let (mut m, mut lb) = (away(), Lb::default());
    fill(&mut m, 4, 7);
    let newly = LbEnv { idle: balance_idle::NEWLY_IDLE, ..env(0) };
    newly.record_llc_stats(&policy("7.2"), &mut m);
    assert_eq!(m.cpus[5].llc_util, 7);
    LbEnv { level: 0, cpus: 0xf, ..env(0) }.record_llc_stats(&policy("7.2"), &mut m);
    assert_eq!(m.cpus[5].llc_util, 7, "a domain inside a cache");
    env(0).record_llc_stats(&policy("7.2"), &mut m);
    assert_eq!([m.cpus[3], m.cpus[5]].map(|c| (c.llc_util, c.llc_capacity)), [(0, 4096), (600, 4096)]);
    // The own cache is read as it is now, the other one as it was.
    (1..4).for_each(|c| runs(&mut m, c, 1, 1024));
    fill(&mut m, 4, 3400);
    env(0).find_src_group(&policy("7.2"), &m, &mut lb);
    assert_ne!(lb.migration, migrate::LLC_TASK, "neither has room");
}

#[test]
fn tasks_that_are_all_at_home_keep_the_running_one() {
    let mut m = machine();
    runs(&mut m, 4, 1, 300);
    fill(&mut m, 0, 0);
    fill(&mut m, 4, 3400);
    let e = LbEnv { src_cpu: 4, nr_balance_failed: 9, curr_util: 100, ..env(0) };
    let active = |m: &Placement, migration| e.need_active_balance(&policy("7.2"), m, migration);
    assert!(active(&m, migrate::TASK));
    m.cpus[4].nr_pref_llc_running = 1;
    assert!(!active(&m, migrate::TASK), "alone");
    assert!(active(&m, migrate::MISFIT));
    runs(&mut m, 4, 2, 300);
    assert!(active(&m, migrate::TASK), "one of two is not at home");
    m.cpus[4].nr_pref_llc_running = 2;
    assert!(active(&m, migrate::TASK), "3300 of 4096 is no room, and much more than 100");
    fill(&mut m, 4, 3000);
    assert!(!active(&m, migrate::TASK), "2900 is");
}

#[test]
fn a_balance_that_left_a_task_in_its_cache_has_not_failed() {
    let mut own = LbDomain::new(&SchedDomain::default(), 0);
    let e = LbEnv { flags: lbf::LLC_PINNED, ..env(0) };
    own.failed(&policy("7.2"), &e, migrate::TASK);
    assert_eq!(own.nr_balance_failed, 0);
    own.failed(&policy("5.10"), &e, migrate::TASK);
    assert_eq!(own.nr_balance_failed, 1, "5.10 has another mark there");
}

#[test]
fn nobody_prefers_a_cache_before_7_2() {
    let (m, mut lb) = (away(), Lb::default());
    for profile in pelton_core::profiles() {
        let on = profile == "7.2";
        assert_eq!(sched_cache_enabled(&policy(profile), &m), on, "{profile}");
        env(0).find_src_group(&policy(profile), &m, &mut lb);
        assert_eq!(lb.migration == migrate::LLC_TASK, on, "{profile}");
    }
    let alone = Placement { cache_aware: 0, ..m };
    env(0).find_src_group(&policy("7.2"), &alone, &mut lb);
    assert_ne!(lb.migration, migrate::LLC_TASK, "one cache");
    assert!(m.cpus[0].is_in_multi_llcs() && !PlaceCpu { nr_domains: 1, ..m.cpus[0] }.is_in_multi_llcs());
}

/// __update_mm_sched(): EPOCH_PERIOD is 10 ms in ticks; of longer ones each is an epoch.
#[test]
fn an_epoch_is_a_tick_at_least() {
    assert_eq!([20 * MS, 40 * MS].map(|n| llc_epoch_ticks(n)), [1, 1]);
}

/// alb_break_llc(): `if (!sched_cache_enabled()) return false`, so that a lone task at home is moved where no process
/// prefers a cache, and in 6.18.
#[test]
fn a_task_at_home_is_moved_where_caches_are_not_preferred() {
    let mut m = machine();
    runs(&mut m, 4, 1, 300);
    m.cpus[4].nr_pref_llc_running = 1;
    let e = LbEnv { src_cpu: 4, nr_balance_failed: 9, curr_util: 100, ..env(0) };
    assert!(!e.need_active_balance(&policy("7.2"), &m, migrate::TASK));
    assert!(e.need_active_balance(&policy("6.18"), &m, migrate::TASK));
    m.cache_aware = 0;
    assert!(e.need_active_balance(&policy("7.2"), &m, migrate::TASK));
}

/// alb_break_llc(): task_misfits_asym_cpu() keeps a task where it fits, though its cache is full: 3300 of 4096 is no
/// room. Asked only where CPUs differ (SD_ASYM_CPUCAPACITY).
#[test]
fn a_running_task_stays_where_it_fits_and_would_not_there() {
    for (flag, misfits, moves) in
        [(sd::ASYM_CPUCAPACITY, 0, true), (sd::ASYM_CPUCAPACITY, 1, false), (0, 0, true), (0, 1, true)]
    {
        let mut m = machine();
        runs(&mut m, 4, 2, 300);
        m.cpus[4].nr_pref_llc_running = 2;
        m.cpus[..8].iter_mut().for_each(|cpu| cpu.domains[1].flags |= flag);
        fill(&mut m, 0, 0);
        fill(&mut m, 4, 3400);
        let e = LbEnv { src_cpu: 4, nr_balance_failed: 9, curr_util: 100, curr_misfits: misfits, ..env(0) };
        assert_eq!(e.need_active_balance(&policy("7.2"), &m, migrate::TASK), moves, "{flag:#x} {misfits}");
    }
}

/// The machine as the first CPUs of 72, in the form that a record of more than 64 has; the others are in no domain.
fn enlarged(m: &Placement, policy: &Policy) -> Record {
    let mut large = Record::new(72).expect("below the bound");
    *large = Placement { cpus: large.cpus, nr_cpus: 72, ..*m };
    large.rows_mut()[8..72].fill(PlaceCpu { curr_idle: 1, llc_domain: NO_DOMAIN, ..PlaceCpu::default() });
    for (cpu, row) in (0..).zip(m.cpus()) {
        let mut row = *row;
        row.threads = large.span_of(&[row.threads, 0]);
        row.domains[..2].iter_mut().for_each(|domain| domain.span = large.span_of(&[domain.span, 0]));
        large.rows_mut()[cpu as usize] = row;
        large.group_mut(row.domains[0].span, cpu, 1).group_capacity = row.domains[1].group_capacity;
    }
    large.seal();
    (0..8).for_each(|cpu| large.follow(policy, cpu));
    large
}

/// record_sg_llc_stats(): utilization and capacity of each cache become those of its group: nothing and 300 + 300, of
/// 4 * 1024. What an earlier balance had left, 7 of 9, is gone, whatever the size of the record.
#[test]
fn utilization_and_capacity_of_each_cache_are_kept_in_records_of_any_size() {
    let policy = policy("7.2");
    let (m, kept) = (away(), |record: &Record| [0, 3, 4, 7].map(|cpu| record.llc_stats(cpu)));
    let large = enlarged(&m, &policy);
    let all = large.rows()[0].domains[1].span;
    for (mut record, cpus) in [(Record::Narrow(Box::new(m)), 0xff), (large, all)] {
        (0..8).for_each(|cpu| record.set_llc_stats(cpu, (7, 9)));
        assert_eq!(kept(&record), [(7, 9); 4]);
        record.record_llc_stats(&policy, &LbEnv { cpus, ..env(0) });
        assert_eq!(kept(&record), [(0, 4096), (0, 4096), (600, 4096), (600, 4096)], "{record:?}");
    }
}
