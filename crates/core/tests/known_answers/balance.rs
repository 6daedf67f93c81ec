// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of the real-time class, searches of CPUs that go idle and walks over idle CPUs, from the sources of each
//! release.

use pelton_core::{
    IdleWalk, LbDomain, Newidle, Policy, RtLimit, SchedDomain, WALK_BALANCE, WALK_STATS, blocked_due, blocked_scans,
    blocked_walks, lb_newidle_fades,
};

const MS: u64 = 1_000_000;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

fn used(time_ms: u64) -> RtLimit {
    RtLimit { time_ns: time_ms * MS, ..RtLimit::new() }
}

/// 5.4 rt.c do_balance_runtime (4.12 to 5.4 alike): 1/n of the others' spare time, at most up to the period.
#[test]
fn rt_runtime_share_takes_a_part_of_each_cpus_spare_time() {
    let (mut own, mut other) = (used(952), used(0));
    own.borrow(&mut other, 8);
    // 950 / 8 = 118.75 ms, but 950 + 118.75 > 1000: 50 ms.
    assert_eq!((own.runtime_ns, other.runtime_ns), (1000 * MS, 900 * MS));
    assert!(!own.over() && !own.exceeded(), "runtime = period: sched_rt_runtime_exceeded returns 0");
    let (mut own, mut other) = (used(952), used(800));
    own.borrow(&mut other, 8);
    // (950 - 800) / 8 = 18.75 ms.
    assert_eq!((own.runtime_ns, other.runtime_ns), (968_750_000, 931_250_000));
    assert!(!own.over());
    let (mut own, mut other) = (used(952), used(951));
    own.borrow(&mut other, 2);
    assert_eq!(own.runtime_ns, 950 * MS, "nothing to spare");
    assert!(own.exceeded());
}

/// features.h RT_RUNTIME_SHARE: true in 4.12 (:80), 4.16 (:81), 4.19 (:81), 5.4 (:80); false in 5.10 (:88) and later.
/// do_sched_rt_period_timer gives every CPU rt_b->rt_runtime again only without it.
#[test]
fn rt_runtime_share_is_on_to_5_4() {
    for (profile, kept) in [("4.12", 1000), ("4.16", 1000), ("4.19", 1000), ("5.4", 1000), ("5.10", 950), ("6.6", 950)]
    {
        let mut own = RtLimit { runtime_ns: 1000 * MS, ..RtLimit::default() };
        own.equal(&policy(profile));
        assert_eq!(own.runtime_ns, kept * MS, "{profile}");
    }
}

/// rt.c do_sched_rt_period_timer: rt_time -= min(rt_time, overrun * runtime); free again below the runtime.
#[test]
fn rt_limit_pays_back_what_was_used_beyond_it() {
    let mut own = used(952);
    assert!(own.exceeded() && !own.exceeded(), "throttled once");
    assert!(own.replenish(1));
    assert_eq!((own.time_ns, own.throttled), (2 * MS, 0));
    let mut own = RtLimit { throttled: 1, ..used(1950) };
    assert!(!own.replenish(1), "1000 left, not below 950");
    assert!(own.replenish(2) && own.time_ns == 0);
    assert!(!used(950).exceeded(), "rt_time > runtime, not >=");
}

/// core.c update_avg: diff >> 3, arithmetic; limit 2 * max_idle_balance_cost; 4.12 core.c:1672, 7.2:3751.
#[test]
fn newidle_mean_moves_by_an_eighth() {
    let mut n = Newidle::new();
    assert_eq!((n.avg_idle_ns, n.max_cost_ns), (1_000_000, 500_000), "sched_init: 2 * and 1 * migration cost");
    n.woke(0);
    assert_eq!(n.avg_idle_ns, 875_000);
    n.woke(874_999);
    assert_eq!(n.avg_idle_ns, 874_999, "-1 >> 3 = -1");
    n.woke(100_000_000);
    assert_eq!(n.avg_idle_ns, 1_000_000, "at most twice the longest search, which is 500 us at least");
}

/// 4.12 fair.c:8387 to 5.10:10848: avg_idle < sysctl_sched_migration_cost; 6.1 fair.c:11620, 6.12:12917, 7.2:14704:
/// avg_idle < sd->max_newidle_lb_cost.
#[test]
fn newidle_asks_the_migration_cost_to_5_10_then_the_domains() {
    let mut n = Newidle { avg_idle_ns: 499_999, ..Newidle::new() };
    for (profile, skips) in
        [("4.12", true), ("4.16", true), ("4.19", true), ("5.4", true), ("5.10", true), ("5.15", true), ("6.1", false)]
    {
        assert_eq!(n.skips(&policy(profile)), skips, "{profile}");
    }
    n.avg_idle_ns = 500_000;
    assert!(!n.skips(&policy("4.12")));
    n.searched(&policy("6.1"), 500_001, 7);
    for profile in ["4.12", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert!(n.skips(&policy(profile)), "{profile}");
    }
    assert_eq!((n.max_cost_ns, n.decayed_at_ns), (500_001, 7));
}

/// fair.c rebalance_domains to 5.10 and update_newidle_cost from 6.1: cost * 253 / 256 once a second; 6.1 counts the
/// second from the last longer search.
#[test]
fn newidle_costs_fade() {
    let mut n = Newidle::new();
    n.searched(&policy("5.10"), 1_024_000, 500 * MS);
    assert_eq!(n.decayed_at_ns, 0);
    n.decay(1000 * MS);
    assert_eq!(n.domain_cost_ns, 1_024_000, "time_after: later than a second");
    n.decay(1001 * MS);
    assert_eq!((n.domain_cost_ns, n.max_cost_ns), (1_012_000, 1_012_000));
    let mut n = Newidle::new();
    n.searched(&policy("6.1"), 1_024_000, 500 * MS);
    n.decay(1001 * MS);
    assert_eq!(n.domain_cost_ns, 1_024_000);
}

fn walk(now_ticks: u64) -> IdleWalk {
    IdleWalk {
        now_ticks,
        next_blocked_ticks: 8,
        next_balance_ticks: 8,
        has_blocked: 1,
        running: 1,
        ..IdleWalk::default()
    }
}

/// 4.16 fair.c nohz_kick_needed: nr_running >= 2 or nr_busy > 1, no has_blocked; 4.19:9094 nohz_balancer_kick:
/// time_after.
#[test]
fn idle_walk_is_for_load_from_4_17() {
    for (profile, why) in [("4.12", 0), ("4.16", 0), ("4.19", WALK_STATS), ("5.4", WALK_STATS), ("7.2", WALK_STATS)] {
        assert_eq!(walk(9).kick(&policy(profile)), why, "{profile}");
        assert_eq!(walk(8).kick(&policy(profile)), 0, "{profile}: after, not at");
    }
    let two = IdleWalk { running: 2, ..walk(8) };
    assert_eq!(two.kick(&policy("4.16")), WALK_BALANCE);
    assert_eq!(two.kick(&policy("4.19")), WALK_BALANCE | WALK_STATS, "NOHZ_KICK_MASK");
    assert_eq!(IdleWalk { next_balance_ticks: 9, ..two }.kick(&policy("4.16")), 0);
}

/// 5.4 fair.c nohz_balancer_kick: with sd_asym_cpucapacity the test of nr_busy_cpus is left out; 4.19 has no such test.
#[test]
fn idle_walk_ignores_busy_cpus_of_unequal_capacity_from_5_4() {
    let unequal = IdleWalk { busy_cpus: 2, asymmetric: 1, has_blocked: 0, ..walk(8) };
    for (profile, kicks) in [("4.12", true), ("4.19", true), ("5.4", false), ("5.10", false), ("7.2", false)] {
        assert_eq!(unequal.kick(&policy(profile)) != 0, kicks, "{profile}");
        assert_ne!(IdleWalk { asymmetric: 0, ..unequal }.kick(&policy(profile)), 0, "{profile}");
    }
}

/// 4.19 fair.c:9424 nohz_newidle_balance: time_before(jiffies, next_blocked), so at the tick itself already.
#[test]
fn idle_walk_of_a_cpu_that_goes_idle() {
    let (sleeper, busy) = (Newidle::new(), Newidle { avg_idle_ns: 499_999, ..Newidle::new() });
    for (profile, walks) in
        [("4.12", false), ("4.16", false), ("4.19", true), ("5.4", true), ("5.10", true), ("7.2", true)]
    {
        assert_eq!(walk(8).newly(&policy(profile), &sleeper), walks, "{profile}");
        assert!(!walk(7).newly(&policy(profile), &sleeper));
        assert!(!walk(8).newly(&policy(profile), &busy), "{profile}: it will be busy soon");
    }
    // msecs_to_jiffies(LOAD_AVG_PERIOD = 32): 8 at 250 Hz, 10 at 300 Hz (9.6), 4 at 100 Hz (3.2), 32 at 1000 Hz.
    for (hz, ticks) in [(250, 8), (300, 10), (100, 4), (1000, 32)] {
        assert_eq!(IdleWalk::next(100, 1_000_000_000 / hz), 100 + ticks);
    }
}

/// 5.4 fair.c update_nohz_stats: time_after(jiffies, last_blocked_load_update_tick) unless forced, which the walk of
/// the idle balancer is (_nohz_idle_balance); 7.2: never forced. The posting: time_after(jiffies, last + HZ / 20).
#[test]
fn blocked_load_is_due_once_a_tick_or_once_an_interval() {
    let hz_250 = 4_000_000;
    for (profile, again) in [("5.4", true), ("4.19", true), ("5.10", false), ("7.2", false)] {
        assert!(!blocked_due(&policy(profile), 9, 9, hz_250, false), "{profile}: in a search");
        assert_eq!(blocked_due(&policy(profile), 9, 9, hz_250, true), again, "{profile}: in a walk");
        assert!(blocked_due(&policy(profile), 10, 9, hz_250, false));
    }
    let posting = Policy { blocked_update: pelton_core::value::BLOCKED_UPDATE_INTERVAL, ..policy("5.4") };
    // 250 / 20 = 12 ticks, and later than that.
    assert!(!blocked_due(&posting, 21, 9, hz_250, false));
    assert!(blocked_due(&posting, 22, 9, hz_250, false));
    assert!(!blocked_due(&posting, 59, 9, 1_000_000, false));
    assert!(blocked_due(&posting, 60, 9, 1_000_000, false));
    assert!(blocked_due(&Policy { blocked_update_us: 0, ..posting }, 10, 9, hz_250, false));
}

/// 4.19, 5.4 fair.c update_sd_lb_stats: LBF_NOHZ_STATS for a newly idle CPU; removed by the series of February 2021.
#[test]
fn blocked_load_of_others_is_refreshed_by_searches_from_4_17_to_5_12() {
    for (profile, scans) in
        [("4.12", false), ("4.16", false), ("4.19", true), ("5.4", true), ("5.10", false), ("7.2", false)]
    {
        assert_eq!((blocked_scans(&policy(profile)), blocked_walks(&policy(profile))), (scans, true), "{profile}");
    }
    let lazy = Policy { blocked_update: pelton_core::value::BLOCKED_UPDATE_LAZY, ..policy("7.2") };
    assert_eq!((blocked_scans(&lazy), blocked_walks(&lazy)), (false, false));
    assert_eq!(walk(9).kick(&lazy), 0);
    assert_eq!(IdleWalk { running: 2, ..walk(8) }.kick(&lazy), WALK_BALANCE, "for a task, not for load");
    assert!(!walk(9).newly(&lazy, &Newidle::new()));
}

/// 5.4 fair.c newidle_balance: avg_idle < sysctl_sched_migration_cost ends it before update_blocked_averages, the
/// domain's cost after it; 6.1: avg_idle < sd->max_newidle_lb_cost before, and t0 is taken before the update.
#[test]
fn newidle_own_load_is_refreshed_behind_the_first_gate() {
    let costly = Newidle { avg_idle_ns: 600_000, domain_cost_ns: 700_000, ..Newidle::new() };
    assert_eq!((costly.closed(&policy("5.4")), costly.skips(&policy("5.4"))), (false, true));
    assert_eq!((costly.closed(&policy("6.1")), costly.skips(&policy("6.1"))), (true, true));
    let short = Newidle { avg_idle_ns: 400_000, ..Newidle::new() };
    assert!(short.closed(&policy("5.4")) && !short.closed(&policy("7.2")));
}

/// features.h NI_RANDOM: 6.1.192, 6.12.118 and 7.2.12 have it; NI_RATE: 7.2.12. topology.c sd_init: 512 calls, 256
/// hits, ratio 512. fair.c sched_balance_newidle: d1k > 1 + ratio leaves a domain out; 7.2 throws none from a ratio of
/// 1024 on. weight = (1024 + 513 / 2) / 513 = 2.
#[test]
fn newidle_dice_are_thrown_by_the_rate_of_success() {
    for (profile, throws, at_most) in [
        ("5.10", false, false),
        ("5.15", false, false),
        ("6.1", true, true),
        ("6.6", false, false),
        ("6.8", false, false),
        ("6.12", true, true),
        ("6.18", false, false),
        ("7.2", true, false),
    ] {
        let own = LbDomain::new(&SchedDomain::default(), 0);
        let full = LbDomain { newidle_ratio: 1024, ..own };
        let thrown = (own.newidle_throws(&policy(profile)), full.newidle_throws(&policy(profile)));
        assert_eq!(thrown, (throws, at_most), "{profile}");
        assert_eq!(own.newidle_weight(&policy(profile)), if throws { 2 } else { 1 }, "{profile}");
        assert!(own.newidle_wins(513) && !own.newidle_wins(514) && !own.newidle_wins(1023) && own.newidle_wins(2048));
    }
}

/// fair.c update_newidle_stats: at the 1024th call ratio = hits; 7.2: + time since >> 22, at most 1024: 256 + 2 + 1 s:
/// 238.
#[test]
fn newidle_dice_follow_hits_and_in_7_2_time() {
    let counted = |profile: &str, past_ns: u64| {
        let mut own = LbDomain { newidle_since_ns: 5_000, ..LbDomain::new(&SchedDomain::default(), 0) };
        own.update_newidle_stats(&policy(profile), 2, 5_000);
        for _ in 0..510 {
            own.update_newidle_stats(&policy(profile), 0, 5_000);
        }
        assert_eq!((own.newidle_ratio, own.newidle_calls % 1024), (512, own.newidle_calls));
        own.update_newidle_stats(&policy(profile), 0, 5_000 + past_ns);
        [own.newidle_ratio, own.newidle_calls, own.newidle_hits]
    };
    assert_eq!(counted("5.10", 1_000_000_000), [512, 512, 256], "nothing is counted");
    assert_eq!(counted("6.12", 1_000_000_000), [258, 512, 129]);
    assert_eq!(counted("7.2", 1_000_000_000), [258 + 238, 512, 129]);
    assert_eq!(counted("7.2", 4_000_000_000), [1024, 512, 129]);
}

/// 6.18.2 fair.c sched_balance_newidle: (3 * sd->max_newidle_lb_cost) / 2 without a task, and update_newidle_cost:
/// min(cost, sysctl_sched_migration_cost + 200); the same of 6.18.3 has neither. 3 * 100,001 / 2 = 150,001.
#[test]
fn newidle_fails_make_a_domain_dearer_in_6_18_2() {
    let remembered = |profile: &str, before_ns: u64, took_ns: u64, found: bool| {
        let policy = policy(profile);
        let mut own = LbDomain { newidle_cost_ns: before_ns, ..LbDomain::new(&SchedDomain::default(), 0) };
        let counted_ns = own.newidle_counts_for(&policy, took_ns, found);
        own.newidle_searched(&policy, counted_ns, 1001 * MS);
        (own.newidle_cost_ns, own.newidle_decayed_ns)
    };
    assert_eq!(remembered("6.18", 100_001, 7, false), (150_001, 1001 * MS));
    assert_eq!(remembered("6.18", 100_001, 700_000, true), (500_200, 1001 * MS));
    assert_eq!(remembered("6.18", 500_200, 7, false), (500_200, 1001 * MS), "does not fade either");
    assert_eq!(remembered("6.18", 0, 700, false).0, 0, "what costs nothing stays so until a task is found");
    assert_eq!(remembered("6.18.3", 256_000, 7, false), (253_000, 1001 * MS));
    assert_eq!(remembered("7.2", 100_001, 700_000, false), (700_000, 1001 * MS));
}

/// fair.c update_newidle_cost, which a search calls as well: 6.1, 7.2. rebalance_domains of 5.10: need_decay stays 1.
#[test]
fn newidle_costs_fade_at_a_search_and_the_last_domain_decides() {
    let searched = |profile: &str| {
        let mut own = LbDomain { newidle_cost_ns: 256_000, ..LbDomain::new(&SchedDomain::default(), 0) };
        own.newidle_searched(&policy(profile), 1_000, 1001 * MS);
        (own.newidle_cost_ns, own.newidle_decayed_ns)
    };
    assert_eq!(searched("5.10"), (256_000, 0));
    assert_eq!(searched("6.1"), (253_000, 1001 * MS));
    let fades = |profile: &str| lb_newidle_fades(&policy(profile), true, false);
    assert_eq!((fades("5.10"), fades("6.1"), fades("7.2")), (true, false, false));
    assert!(lb_newidle_fades(&policy("7.2"), false, true));
}
