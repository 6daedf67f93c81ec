// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of schedutil, kernel by kernel.

use pelton_core::{
    ASKS_WHY, CpuState, Decision, FAIR_WHY, Policy, SUM_WHY, SugovCpu, SugovPolicy, commit, default_rate_limit_us,
    hook_flag, perf_clamped, profiles, scale_irq, verdict,
};

const TICK: u64 = 4_000_000;
const MS: u64 = 1_000_000;
const KHZ: [u32; 5] = [208_000, 432_000, 729_000, 960_000, 1_200_000];

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("profile exists")
}

fn with(name: &str, sets: &[(&str, &str)]) -> Policy {
    let mut pol = policy(name);
    for (switch, value) in sets {
        pol.set(switch, value).expect("switch and value exist");
    }
    pol.check().expect("combination has a meaning");
    pol
}

fn domain(nr_cpus: u32, rate_limit_us: u32) -> SugovPolicy {
    let mut sp = SugovPolicy {
        nr_cpus,
        min_khz: KHZ[0],
        max_khz: KHZ[4],
        ref_khz: KHZ[4],
        cur_khz: KHZ[4],
        fast_switch: 1,
        remote_ok: 1,
        freq_invariant: 1,
        ..SugovPolicy::default()
    };
    sp.init(&policy("7.2"), rate_limit_us);
    sp
}

fn fair(util: u32) -> CpuState {
    CpuState { cap_orig: 1024, util_cfs: util, uclamp_max: 1024, ..CpuState::default() }
}

/// One hook call on a single-CPU domain: gate verdict, and the frequency requested afterwards.
fn hook(pol: &Policy, sp: &mut SugovPolicy, sc: &mut SugovCpu, s: &CpuState, now: u64, flags: u32) -> (u32, u32) {
    sc.keep_util(pol, s);
    let verdict = sp.begin(pol, sc, s.bw_dl, now, TICK, flags, true);
    if verdict == verdict::OPEN {
        let mut terms = [Default::default()];
        sp.evaluate(pol, 0, std::slice::from_mut(sc), std::slice::from_ref(s), now, TICK, &KHZ, &mut terms);
    }
    (verdict, sp.next_freq_khz)
}

#[test]
fn headroom_and_clamps_follow_the_published_examples() {
    let known =
        [(512, 0, 1024, 640), (900, 0, 1024, 1024), (300, 400, 1024, 400), (900, 0, 512, 512), (600, 700, 500, 700)];
    for (util, min, max, want) in known {
        assert_eq!(perf_clamped(util, min, max), want, "util {util} min {min} max {max}");
    }
    for (util, irq, want) in [(512, 100, 562), (900, 200, 924), (1000, 24, 1000)] {
        assert_eq!(scale_irq(util, irq, 1024), want);
    }
}

#[test]
fn default_rate_limits() {
    let us = |profile: &str, latency_ns, delay| default_rate_limit_us(&policy(profile), latency_ns, delay);
    assert_eq!(us("4.16", 500_000, 0), 10_000);
    assert_eq!(us("6.6", 500_000, 0), 10_000);
    assert_eq!(us("7.2", 500_000, 0), 750);
    assert_eq!(us("6.1", 40_000, 0), 10_000);
    assert_eq!(us("6.12", 40_000, 0), 60);
    assert_eq!(us("4.12", 20_000, 0), 20_000);
    assert_eq!(us("4.12", 20_000, 500), 500);
    assert_eq!(us("7.2", 20_000, 5000), 5000);
    for profile in pelton_core::profiles() {
        assert_eq!(us(profile, 0, 0), 1000, "{profile}, unknown latency");
    }
    let capped = with("6.6", &[("rate_limit_default", "capped_2ms")]);
    assert_eq!(default_rate_limit_us(&capped, 500_000, 0), 2000);
}

#[test]
fn window_restarts_at_every_evaluation_only_with_r0a() {
    for (name, want) in [("r0a", verdict::WINDOW), ("r0b", verdict::OPEN)] {
        let pol = with("7.2", &[("gate", name)]);
        let (mut sp, mut sc) = (domain(1, 10_000), SugovCpu::default());
        assert_eq!(hook(&pol, &mut sp, &mut sc, &fair(300), 20 * MS, 0), (verdict::OPEN, 729_000));
        assert_eq!(hook(&pol, &mut sp, &mut sc, &fair(300), 29 * MS, 0).0, verdict::WINDOW);
        assert_eq!(hook(&pol, &mut sp, &mut sc, &fair(300), 30 * MS, 0).0, verdict::OPEN);
        assert_eq!(hook(&pol, &mut sp, &mut sc, &fair(900), 35 * MS, 0).0, want, "{name}");
    }
}

#[test]
fn a_change_of_limits_opens_the_window() {
    let pol = policy("7.2");
    let (mut sp, mut sc) = (domain(1, 10_000), SugovCpu::default());
    hook(&pol, &mut sp, &mut sc, &fair(900), 20 * MS, 0);
    assert_eq!(sp.next_freq_khz, 1_200_000);
    sp.limits(KHZ[0], KHZ[2]);
    assert_eq!(hook(&pol, &mut sp, &mut sc, &fair(900), 21 * MS, 0), (verdict::OPEN, 729_000));
}

#[test]
fn a_cpu_that_was_never_idle_is_not_lowered() {
    let pol = policy("7.2");
    let (mut sp, mut sc) = (domain(1, 1000), SugovCpu::default());
    let busy = |util, idle_calls| CpuState { idle_calls, ..fair(util) };
    hook(&pol, &mut sp, &mut sc, &busy(900, 1), 10 * MS, 0);
    let raw = sp.cached_raw_khz;
    hook(&pol, &mut sp, &mut sc, &busy(200, 1), 20 * MS, 0);
    assert_eq!((sp.next_freq_khz, sp.cached_raw_khz), (1_200_000, raw), "held, old cache restored");
    hook(&pol, &mut sp, &mut sc, &busy(200, 2), 30 * MS, 0);
    assert_eq!(sp.next_freq_khz, 432_000, "went idle in between");
}

#[test]
fn holding_drops_the_cache_in_old_kernels_and_capped_cpus_are_not_held_in_new_ones() {
    let old = policy("4.16");
    let (mut sp, mut sc) = (domain(1, 1000), SugovCpu::default());
    hook(&old, &mut sp, &mut sc, &fair(900), 10 * MS, 0);
    hook(&old, &mut sp, &mut sc, &fair(200), 20 * MS, 0);
    assert_eq!((sp.next_freq_khz, sp.cached_raw_khz), (1_200_000, 0));

    let new = policy("7.2");
    let capped = CpuState { uclamp_used: 1, uclamp_max: 300, ..fair(400) };
    let (mut sp, mut sc) = (domain(1, 1000), SugovCpu::default());
    hook(&new, &mut sp, &mut sc, &fair(900), 10 * MS, 0);
    hook(&new, &mut sp, &mut sc, &capped, 20 * MS, 0);
    assert_eq!(sp.next_freq_khz, 432_000);
}

#[test]
fn shared_domains_have_no_hold_filter() {
    let pol = policy("7.2");
    let (mut sp, mut sc) = (domain(2, 1000), [SugovCpu::default(); 2]);
    let mut terms = [Default::default(); 2];
    sp.evaluate(&pol, 0, &mut sc, &[fair(900), fair(100)], 10 * MS, TICK, &KHZ, &mut terms);
    assert_eq!(sp.next_freq_khz, 1_200_000);
    let d = sp.evaluate(&pol, 0, &mut sc, &[fair(200), fair(100)], 20 * MS, TICK, &KHZ, &mut terms);
    assert_eq!((sp.next_freq_khz, d.cpu, d.perf, d.commit), (432_000, 0, 250, commit::DRIVE));
}

#[test]
fn iowait_boost_doubles_from_128_and_fades() {
    let pol = policy("7.2");
    let (mut sp, mut sc) = (domain(1, 0), SugovCpu::default());
    let mut boosts = Vec::new();
    for i in 1..=5u64 {
        sp.begin(&pol, &mut sc, 0, i * MS, TICK, hook_flag::IOWAIT, true);
        boosts.push(sp.cpu(&pol, &mut sc, &fair(0), i * MS, TICK).1.iowait);
    }
    for i in 6..=9u64 {
        sp.begin(&pol, &mut sc, 0, i * MS, TICK, 0, true);
        boosts.push(sp.cpu(&pol, &mut sc, &fair(0), i * MS, TICK).1.iowait);
    }
    assert_eq!(boosts, [128, 256, 512, 1024, 1024, 512, 256, 128, 0]);
}

#[test]
fn iowait_boost_doubles_once_between_evaluations_and_restarts_after_a_silent_tick() {
    let pol = policy("7.2");
    let (mut sp, mut sc) = (domain(1, 0), SugovCpu::default());
    for now in [1, 2, 3] {
        sp.begin(&pol, &mut sc, 0, now * MS, TICK, hook_flag::IOWAIT, true);
    }
    assert_eq!(sc.iowait_boost, 128);
    sp.begin(&pol, &mut sc, 0, 8 * MS, TICK, hook_flag::IOWAIT, true);
    assert_eq!((sc.iowait_boost, sc.iowait_pending), (128, 1));
    sp.begin(&pol, &mut sc, 0, 13 * MS, TICK, 0, true);
    assert_eq!((sc.iowait_boost, sc.iowait_pending), (0, 0));
}

#[test]
fn iowait_boost_in_frequency_units_starts_at_the_lowest_frequency() {
    let pol = policy("4.16");
    let (mut sp, mut sc) = (domain(2, 0), SugovCpu::default());
    let mut khz = Vec::new();
    for i in 1..=4u64 {
        sp.begin(&pol, &mut sc, 0, i * MS, TICK, hook_flag::IOWAIT, true);
        sp.cpu(&pol, &mut sc, &fair(0), i * MS, TICK);
        khz.push(sc.iowait_boost);
    }
    for i in 5..=7u64 {
        sp.begin(&pol, &mut sc, 0, i * MS, TICK, 0, true);
        sp.cpu(&pol, &mut sc, &fair(0), i * MS, TICK);
        khz.push(sc.iowait_boost);
    }
    assert_eq!(khz, [208_000, 416_000, 832_000, 1_200_000, 600_000, 300_000, 0]);
}

#[test]
fn iowait_boost_of_4_12_jumps_and_halves() {
    let pol = policy("4.12");
    let (mut sp, mut sc) = (domain(1, 0), SugovCpu::default());
    let mut values = Vec::new();
    for (i, flags) in [(1, hook_flag::IOWAIT), (2, 0), (3, 0), (4, 0)] {
        sp.begin(&pol, &mut sc, 0, i * MS, TICK, flags, true);
        values.push(sp.cpu(&pol, &mut sc, &fair(0), i * MS, TICK).1.iowait);
    }
    assert_eq!(values, [1024, 512, 256, 128]);
    sp.begin(&pol, &mut sc, 0, 10 * MS, TICK, 0, true);
    assert_eq!(sc.iowait_boost, 0);
}

#[test]
fn a_raised_deadline_reservation_ignores_the_window() {
    for (profile, want) in
        [("4.16", verdict::WINDOW), ("4.19", verdict::OPEN), ("5.10", verdict::OPEN), ("7.2", verdict::OPEN)]
    {
        let pol = policy(profile);
        let (mut sp, mut sc) = (domain(1, 10_000), SugovCpu::default());
        hook(&pol, &mut sp, &mut sc, &fair(300), 20 * MS, 0);
        let raised = CpuState { bw_dl: 700, idle_calls: 1, ..fair(300) };
        assert_eq!(hook(&pol, &mut sp, &mut sc, &raised, 21 * MS, 0).0, want, "{profile}");
        if want == verdict::OPEN {
            assert_eq!(
                hook(&pol, &mut sp, &mut sc, &raised, 22 * MS, 0).0,
                verdict::WINDOW,
                "{profile}: not raised again"
            );
            let lowered = CpuState { bw_dl: 0, ..raised };
            assert_eq!(hook(&pol, &mut sp, &mut sc, &lowered, 23 * MS, 0).0, verdict::WINDOW, "{profile}: lowered");
        }
    }
}

#[test]
fn deadline_bandwidth_is_on_top_before_6_8_and_a_floor_after() {
    let s = CpuState { bw_dl: 300, ..fair(200) };
    assert_eq!(s.perf_eval(&policy("5.10"), 0).perf, 500);
    assert_eq!(s.perf_eval(&policy("6.1"), 0).perf, 625);
    assert_eq!(s.perf_eval(&policy("7.2"), 0).perf, 300);
}

#[test]
fn real_time_rule_of_each_era() {
    let s = CpuState { rt_nr_running: 1, util_rt: 100, ..fair(200) };
    assert_eq!(s.perf_eval(&policy("4.16"), 0).perf, 200, "no flag, no signal");
    assert_eq!(s.perf_eval(&policy("4.19"), 0).perf, 1024);
    assert_eq!(s.perf_eval(&policy("7.2"), 0).perf, 1024);
    let clamped = CpuState { uclamp_used: 1, uclamp_min: 400, uclamp_max: 1024, ..s };
    assert_eq!(clamped.perf_eval(&policy("6.1"), 0).perf, 500, "clamped to 400, then the quarter");
    assert_eq!(clamped.perf_eval(&policy("7.2"), 0).perf, 400, "a floor passes without headroom");
    let gone = CpuState { rt_nr_running: 0, ..s };
    assert_eq!(gone.perf_eval(&policy("4.19"), 0).perf, 300);
    assert_eq!(with("7.2", &[("rt_rule", "none")]).rt_rule, pelton_core::value::RT_RULE_NONE);
}

#[test]
fn a_clamp_to_512_is_driven_with_headroom_before_6_8_and_exactly_after() {
    let s = CpuState { uclamp_used: 1, uclamp_max: 512, ..fair(900) };
    assert_eq!(s.perf_eval(&policy("6.1"), 0).perf, 640);
    assert_eq!(s.perf_eval(&policy("7.2"), 0).perf, 512);
}

#[test]
fn headroom_on_either_side_maps_to_the_same_frequency_up_to_rounding() {
    let (mut sp, s) = (domain(1, 0), fair(333));
    sp.cur_khz = 729_000;
    for (profile, want) in [("5.10", 487_792), ("6.1", 487_500), ("7.2", 487_500)] {
        let pol = policy(profile);
        assert_eq!(sp.raw_freq(&pol, s.perf_eval(&pol, 0).perf, 1024, false), want, "{profile}");
    }
    sp.freq_invariant = 0;
    let pol = policy("4.12");
    assert_eq!(sp.raw_freq(&pol, 1024, 1024, false), 911_250, "without invariance: a quarter above the present one");
}

#[test]
fn resolve_picks_the_lowest_frequency_that_suffices_within_limits() {
    let mut sp = domain(1, 0);
    for (raw, want) in
        [(0, 208_000), (208_000, 208_000), (208_001, 432_000), (1_200_001, 1_200_000), (9_999_999, 1_200_000)]
    {
        assert_eq!(sp.resolve(&KHZ, raw), want);
    }
    sp.limits(300_000, 800_000);
    for (raw, want) in [(0, 432_000), (500_000, 729_000), (790_000, 729_000)] {
        assert_eq!(sp.resolve(&KHZ, raw), want);
    }
    assert_eq!(sp.resolve(&[], 500_123), 500_123, "a driver without table takes the raw value");
}

#[test]
fn flags_of_4_16_stick_to_the_cpu_until_its_next_hook_or_a_tick() {
    let pol = policy("4.16");
    let (mut sp, mut sc) = (domain(2, 0), [SugovCpu::default(); 2]);
    let states = [fair(100), fair(100)];
    let evaluate = |sp: &mut SugovPolicy, caller, sc: &mut [SugovCpu], now| {
        let mut terms = [Default::default(); 2];
        let d = sp.evaluate(&pol, caller, sc, &states, now, TICK, &KHZ, &mut terms);
        (d.forced_max, sp.next_freq_khz, terms[0].stale)
    };
    sc.iter_mut().for_each(|sc| sc.keep_util(&pol, &states[0]));
    sp.begin(&pol, &mut sc[0], 0, 10 * MS, TICK, hook_flag::RT, true);
    assert_eq!(evaluate(&mut sp, 0, &mut sc, 10 * MS), (1, 1_200_000, 0));
    sp.begin(&pol, &mut sc[1], 0, 13 * MS, TICK, 0, true);
    assert_eq!(evaluate(&mut sp, 1, &mut sc, 13 * MS), (1, 1_200_000, 0), "another CPU's hook does not clear it");
    sp.begin(&pol, &mut sc[1], 0, 15 * MS, TICK, 0, true);
    assert_eq!(evaluate(&mut sp, 1, &mut sc, 15 * MS), (0, 208_000, 1), "silent for more than a tick: left out");
    sp.begin(&pol, &mut sc[0], 0, 16 * MS, TICK, 0, true);
    assert_eq!(evaluate(&mut sp, 0, &mut sc, 16 * MS).2, 0);
}

/// A CPU whose last call meant "maximum" is not the one that forces it once it called again without.
#[test]
fn the_cpu_that_forces_the_maximum_is_the_one_that_says_so_now() {
    let pol = policy("4.16");
    let (mut sp, mut sc) = (domain(2, 0), [SugovCpu::default(); 2]);
    let (states, mut terms) = ([fair(100), fair(100)], [Default::default(); 2]);
    let mut call = |caller: usize, now: u64, flags| {
        sc[caller].keep_util(&pol, &states[caller]);
        assert_eq!(sp.begin(&pol, &mut sc[caller], 0, now, TICK, flags, true), verdict::OPEN);
        let d = sp.evaluate(&pol, caller as u32, &mut sc, &states, now, TICK, &KHZ, &mut terms);
        (d.cpu, d.forced_max)
    };
    assert_eq!(call(1, 10 * MS, hook_flag::RT), (1, 1));
    assert_eq!(call(0, 11 * MS, hook_flag::RT), (0, 1));
    assert_eq!(call(1, 12 * MS, 0), (0, 1), "CPU 1 forces nothing any more");
}

#[test]
fn idle_cpus_count_from_4_17() {
    let pol = policy("4.19");
    let (mut sp, mut sc) = (domain(2, 0), [SugovCpu::default(); 2]);
    let mut terms = [Default::default(); 2];
    sp.begin(&pol, &mut sc[0], 0, 100 * MS, TICK, 0, true);
    let d = sp.evaluate(&pol, 0, &mut sc, &[fair(100), fair(600)], 100 * MS, TICK, &KHZ, &mut terms);
    assert_eq!((d.cpu, d.perf, terms[1].stale), (1, 600, 0));
}

#[test]
fn real_time_utilization_patch_on_4_16_requests_the_sum() {
    let patched = with("4.16", &[("rt_signal", "on"), ("rt_in_sum", "on")]);
    let s = CpuState { util_rt: 378, ..fair(646) };
    assert_eq!(s.perf_eval(&policy("4.16"), 0).perf, 646);
    assert_eq!(s.perf_eval(&patched, 0).perf, 1024);
    let (mut sp, mut sc) = (domain(1, 0), SugovCpu::default());
    assert_eq!(
        hook(&patched, &mut sp, &mut sc, &fair(100), MS, hook_flag::RT).1,
        1_200_000,
        "the flag still means maximum"
    );
}

#[test]
fn pending_worker_refuses_or_takes_the_newest_frequency() {
    for (value, verdict, khz) in [("refuse", verdict::BUSY, 960_000), ("overwrite", verdict::OPEN, 432_000)] {
        let pol = with("7.2", &[("while_busy", value)]);
        let (mut sp, mut sc) = (domain(2, 0), [SugovCpu::default(); 2]);
        sp.fast_switch = 0;
        let mut terms = [Default::default(); 2];
        sp.begin(&pol, &mut sc[0], 0, MS, TICK, 0, true);
        let d = sp.evaluate(&pol, 0, &mut sc, &[fair(600), fair(0)], MS, TICK, &KHZ, &mut terms);
        assert_eq!((d.commit, sp.work_in_progress), (commit::DRIVE, 1));
        assert_eq!(sp.begin(&pol, &mut sc[0], 0, 2 * MS, TICK, 0, true), verdict, "{value}");
        if verdict == verdict::OPEN {
            let d = sp.evaluate(&pol, 0, &mut sc, &[fair(200), fair(0)], 2 * MS, TICK, &KHZ, &mut terms);
            assert_eq!(d.commit, commit::PENDING);
        }
        assert_eq!((sp.work_start(&pol), sp.work_in_progress), (khz, u32::from(value == "refuse")), "{value}");
        let while_driving = sp.begin(&pol, &mut sc[0], 0, 3 * MS, TICK, 0, true);
        assert_eq!(while_driving, verdict, "{value}: the driver has not returned");
        sp.work_done(&pol);
        assert_eq!(sp.begin(&pol, &mut sc[0], 0, 4 * MS, TICK, 0, true), verdict::OPEN, "{value}: it has");
    }
}

#[test]
fn who_may_drive_a_domain_from_outside() {
    let ask = |profile: &str, fast: u32, remote_ok: u32| {
        let mut sp = SugovPolicy { fast_switch: fast, remote_ok, ..domain(1, 0) };
        sp.begin(&policy(profile), &mut SugovCpu::default(), 0, MS, TICK, 0, false)
    };
    assert_eq!(ask("4.12", 0, 1), verdict::REMOTE);
    assert_eq!(ask("4.16", 0, 0), verdict::OPEN);
    assert_eq!(ask("4.16", 1, 0), verdict::REMOTE);
    assert_eq!(ask("5.4", 0, 0), verdict::OPEN);
    assert_eq!(ask("5.10", 0, 0), verdict::REMOTE);
    assert_eq!(ask("7.2", 0, 0), verdict::REMOTE);
    assert_eq!(ask("7.2", 1, 1), verdict::OPEN);
}

#[test]
fn interrupts_alone_can_fill_a_cpu() {
    let s = CpuState { util_irq: 1024, ..fair(10) };
    assert_eq!(s.perf_eval(&policy("6.1"), 0).effective, 1024);
    assert_eq!(s.perf_eval(&policy("7.2"), 0).perf, 1024);
    assert_eq!(s.perf_eval(&policy("4.16"), 0).effective, 10, "invisible without the signal");
}

#[test]
fn waiting_tasks_and_estimates_raise_the_request() {
    let s = CpuState { runnable_cfs: 700, util_est: 500, ..fair(300) };
    assert_eq!(s.perf_eval(&policy("4.16"), 0).cfs, 300);
    assert_eq!(s.perf_eval(&policy("5.10"), 0).cfs, 500);
    assert_eq!(s.perf_eval(&policy("7.2"), 0).cfs, 700);
}

#[test]
fn performance_drivers_restart_the_window_at_every_call() {
    let pol = policy("7.2");
    let (mut sp, mut sc) = (domain(1, 10_000), SugovCpu::default());
    let s = CpuState { idle_calls: 5, ..fair(400) };
    assert_eq!(sp.commit_perf(&pol, &mut sc, &s, 50 * MS, 0, 500), 500);
    assert_eq!(sp.commit_perf(&pol, &mut sc, &s, 60 * MS, 500, 300), 500, "never idle in between: held");
    assert_eq!(sp.last_ns, 60 * MS);
}

#[test]
fn a_boost_is_clamped_only_where_clamps_are_in_force() {
    let pol = policy("6.1");
    let unused = CpuState { uclamp_used: 0, uclamp_max: 300, ..fair(10) };
    assert_eq!(unused.perf_eval(&pol, 1500).iowait, 1500, "a boost above the capacity scale stays");
    let used = CpuState { uclamp_used: 1, ..unused };
    assert_eq!(used.perf_eval(&pol, 1500).iowait, 300);
    assert_eq!(used.perf_eval(&with("6.1", &[("uclamp", "off")]), 1500).iowait, 1500);
    for profile in ["5.4", "5.10"] {
        assert_eq!(used.perf_eval(&policy(profile), 1500).iowait, 1500, "{profile} never limits it");
    }
}

/// The signal that is the fair term, the term that is the sum, and the one that is asked for.
fn why(name: &str, s: CpuState, iowait: u32) -> [&'static str; 3] {
    let pol = policy(name);
    let t = s.perf_eval(&pol, iowait);
    let word = |words: &[&'static str], at: u32| words[at as usize];
    [word(&FAIR_WHY, s.fair_why(&pol)), word(&SUM_WHY, s.sum_why(&pol, &t)), word(&ASKS_WHY, s.asks_why(&pol, &t))]
}

#[test]
fn the_term_that_decided_is_named() {
    let clamped = |util, min, max| CpuState { uclamp_used: 1, uclamp_min: min, uclamp_max: max, ..fair(util) };
    // A lower clamp of a CPU that has next to nothing to do; an upper clamp of a busy one.
    for name in ["5.4", "5.10", "6.1", "6.6"] {
        assert_eq!(why(name, clamped(0, 260, 1024), 0), ["util_avg", "uclamp_min", "sum"], "{name}");
        assert_eq!(why(name, clamped(900, 0, 150), 0), ["util_avg", "uclamp_max", "sum"], "{name}");
    }
    for name in ["6.12", "6.18", "7.2"] {
        assert_eq!(why(name, clamped(0, 260, 1024), 0), ["util_avg", "terms", "uclamp_min"], "{name}");
        assert_eq!(why(name, clamped(900, 0, 150), 0), ["util_avg", "terms", "uclamp_max"], "{name}");
    }
    let waits = CpuState { runnable_cfs: 521, util_est: 300, ..fair(245) };
    assert_eq!(why("7.2", waits, 0), ["runnable_avg", "terms", "sum"]);
    assert_eq!(why("6.1", waits, 0), ["util_est", "terms", "sum"]);
    assert_eq!(why("4.12", waits, 0), ["util_avg", "terms", "sum"]);
    assert_eq!(why("7.2", fair(245), 300), ["util_avg", "terms", "iowait boost"]);
    assert_eq!(why("7.2", fair(900), 0), ["util_avg", "terms", "capacity"], "the headroom does not fit");
    let rt = CpuState { rt_nr_running: 1, ..fair(100) };
    assert_eq!((why("5.4", rt, 0)[1], why("7.2", rt, 0)[2]), ("RT task", "RT task"));
    let reserved = CpuState { bw_dl: 400, util_dl: 20, ..fair(100) };
    assert_eq!(why("7.2", reserved, 0), ["util_avg", "terms", "deadline floor"]);
    let all = CpuState { util_irq: 1024, ..fair(100) };
    assert_eq!(why("5.10", all, 0), ["util_avg", "interrupts", "sum"]);
}

/// One CPU decides as a domain of one does, whatever it was asked before, under each release and gate.
#[test]
fn one_cpu_decides_as_its_domain() {
    let gates = ["r0b", "r1_sliding", "r2_hyperbolic", "up_down"];
    for pol in profiles().into_iter().flat_map(|name| gates.map(|gate| with(name, &[("gate", gate)]))) {
        let (mut sp, mut sc, mut terms) = (domain(1, 1000), SugovCpu::default(), [Default::default()]);
        sp.init_gate(&pol, 10_000, 2_000);
        let (mut one, mut one_cpu, mut one_terms) = (sp, sc, terms[0]);
        for step in 0..200u64 {
            let (s, now) = (fair((step * 389 % 1025) as u32), step * 700_000);
            let (cpu, state) = (std::slice::from_mut(&mut sc), std::slice::from_ref(&s));
            let whole = sp.evaluate(&pol, 0, cpu, state, now, TICK, &KHZ, &mut terms);
            let alone = one.evaluate_one(&pol, &mut one_cpu, &s, now, TICK, &KHZ, &mut one_terms);
            assert_eq!((whole, sp, sc, terms[0]), (alone, one, one_cpu, one_terms), "step {step}");
        }
    }
}

/// A CPU of 1024 at 600 to 2400 MHz. Raw 1717 is worth 1024 * 1717 / 2400 = 732.6, four fifths of it 586.1, up: 587.
/// Held at 1800: 1024 * 4 * 1800 / (2400 * 5) = 614, less 614 / 32 = 19: 595. Forced to the highest: 819 - 25 = 794.
#[test]
fn targets_lead_the_kernel_to_what_was_decided() {
    let sp = |next_freq_khz| SugovPolicy { next_freq_khz, ref_khz: 2_400_000, ..SugovPolicy::default() };
    let decision =
        |raw_khz, resolved_khz, forced_max| Decision { raw_khz, resolved_khz, forced_max, ..Default::default() };
    assert_eq!(sp(1_800_000).cpuperf_target(&decision(1_717_000, 1_800_000, 0), 1024), 587);
    assert_eq!(sp(1_800_000).cpuperf_target(&decision(1_000_000, 1_200_000, 0), 1024), 595);
    assert_eq!(sp(2_400_000).cpuperf_target(&decision(2_400_000, 2_400_000, 1), 1024), 794);
    // The kernel makes of a target no other operating point than the one decided.
    let khz = [600_000, 1_200_000, 1_800_000, 2_400_000];
    for (raw, cap) in (0..2_400_000u32).step_by(777).flat_map(|raw| [(raw, 1024), (raw, 446), (raw, 160)]) {
        let resolved = khz.into_iter().find(|khz| *khz >= raw).expect("an operating point");
        let target = u64::from(sp(resolved).cpuperf_target(&decision(raw, resolved, 0), cap));
        let asks = (target + target / 4) * 2_400_000 / u64::from(cap);
        let kernel = khz.into_iter().find(|khz| u64::from(*khz) >= asks);
        assert_eq!(kernel, Some(resolved), "raw {raw}, capacity {cap}");
    }
    // Nor is it larger than it must be: of 160, each 15 MHz is a whole unit of the kernel's.
    let raws = (0..2_400_000u32).step_by(777).flat_map(|raw| [(raw, 1024), (raw, 446)]);
    for (raw, cap) in raws.chain((0..=160).map(|unit| (15_000 * unit, 160))) {
        let (needs, most) = (u64::from(raw) * u64::from(cap), u64::from(cap) * 4 / 5);
        let least = (0..).find(|target| (target + target / 4) * 2_400_000 >= needs).expect("a target");
        let target = sp(2_400_000).cpuperf_target(&decision(raw, 2_400_000, 0), cap);
        assert_eq!(u64::from(target), least.min(most), "raw {raw}, capacity {cap}");
    }
}
