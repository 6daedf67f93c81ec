// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil: the window, the hold filter, new limits, the worker, who may drive.

use super::governor::{Domain, MS, TICK, fair, profile, start, with};
use pelton_core::{CpuState, KHZ_NONE, SugovCpu, SugovPolicy, commit, default_rate_limit_us, hook_flag, verdict};

/// 4.12.0 sugov_update_commit: returns before last_freq_update_time is set when the frequency is the same; likewise
/// every later sugov_update_next_freq. Window 10 ms: request at 20, the same at 30 (passes, window stays), another at
/// 35: open.
#[test]
fn an_unchanged_frequency_does_not_restart_the_window() {
    for name in pelton_core::profiles() {
        let mut d = Domain::new(profile(name), &[fair(300)]);
        d.states[0].idle_calls = 1;
        assert_eq!((d.ask(20 * MS, 0), d.sp.last_ns), (729_000, 20 * MS), "{name}");
        assert_eq!(d.hook(0, 29 * MS, 0), verdict::WINDOW, "{name}");
        assert_eq!(d.hook(0, 30 * MS, 0), verdict::OPEN, "{name}");
        assert_eq!(d.sp.last_ns, 20 * MS, "{name}");
        d.states[0].util_cfs = 900;
        assert_eq!((d.ask(35 * MS, 0), d.sp.last_ns), (1_200_000, 35 * MS), "{name}");
    }
}

/// Drivers without table (4.12 cpufreq.c cpufreq_driver_resolve_freq without target_index, 6.12 __resolve_freq without
/// freq_table) keep the raw request: 300 and 301 of 1024 ask for 439453 and 440917 kHz, both a change that restarts.
#[test]
fn without_a_table_nearly_every_evaluation_is_a_change() {
    for name in ["4.12", "6.12"] {
        let pol = profile(name);
        let (mut sp, mut sc) = (start(&pol, 2), [SugovCpu::default(); 2]);
        let mut terms = [Default::default(); 2];
        for (now, util) in [(20, 300), (40, 301)] {
            let states = [fair(util), fair(0)];
            sc[0].keep_util(&pol, &states[0]);
            sp.begin(&pol, &mut sc[0], 0, now * MS, TICK, 0, true);
            let d = sp.evaluate(&pol, 0, &mut sc, &states, now * MS, TICK, &[], &mut terms);
            assert_eq!((d.commit, sp.last_ns), (commit::DRIVE, now * MS), "{name}");
        }
        let headroom_first = name == "6.12";
        // 1500000 * 301 / 1024, or 1200000 * (301 + 75) / 1024.
        assert_eq!(sp.next_freq_khz, if headroom_first { 440_625 } else { 440_917 }, "{name}");
    }
}

/// The default rate limit: 4.12 sugov_init (latency * 1000), 4.16 to 6.8 drivers/cpufreq/cpufreq.c
/// cpufreq_policy_transition_delay_us (the same, at most 10000), from 6.12 (latency + latency / 2); 1000 when unknown.
#[test]
fn default_rate_limits_of_a_latency_of_500_us() {
    for (names, us) in [
        (&["4.12"][..], 500_000),
        (&["4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8"], 10_000),
        (&["6.12", "6.18", "7.2"], 750),
    ] {
        for name in names {
            let pol = profile(name);
            assert_eq!(default_rate_limit_us(&pol, 500_000, 0), us, "{name}");
            assert_eq!(default_rate_limit_us(&pol, 0, 0), 1000, "{name}");
            assert_eq!(default_rate_limit_us(&pol, 20_000, 500), 500, "{name}: intel_pstate in passive mode");
        }
    }
}

/// A busy domain of one CPU, held once: cached raw request before and after, and the frequency.
fn held(name: &str) -> (u32, u32, u32) {
    let mut d = Domain::new(profile(name), &[fair(900)]);
    d.states[0].idle_calls = 7;
    d.ask(20 * MS, 0);
    let before = d.sp.cached_raw_khz;
    d.states[0].util_cfs = 200;
    let khz = d.ask(40 * MS, 0);
    (before, d.sp.cached_raw_khz, khz)
}

/// sugov_update_single of 4.12.0 (nothing), 4.16, 4.19, 5.4 (0), 5.10.262 and later (the one before). 200 of 1024 asks
/// for 1500000 * 200 / 1024 = 292968; 900 for 1318359, or with the quarter on utilization 1200000 * 1125 / 1024.
#[test]
fn what_holding_does_to_the_cached_request() {
    assert_eq!(held("4.12"), (1_318_359, 292_968, 1_200_000));
    for name in ["4.16", "4.19", "5.4"] {
        assert_eq!(held(name), (1_318_359, 0, 1_200_000), "{name}");
    }
    assert_eq!(held("5.10"), (1_318_359, 1_318_359, 1_200_000));
    assert_eq!(held("5.15"), (1_318_359, 1_318_359, 1_200_000));
    assert_eq!(held("6.1"), (1_318_359, 1_318_359, 1_200_000));
    for name in ["6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(held(name), (1_200_000, 1_200_000, 1_200_000), "{name}");
    }
}

/// 4.12.0: the cache keeps the held-back request, so the same request returns the held frequency even after the CPU was
/// idle (get_next_freq compares before it resolves). 4.16 set the cache to 0 and resolves anew.
#[test]
fn in_4_12_an_equal_request_keeps_returning_the_held_frequency() {
    for (name, khz) in [("4.12", 1_200_000), ("4.16", 432_000), ("5.10", 432_000), ("7.2", 432_000)] {
        let mut d = Domain::new(profile(name), &[fair(900)]);
        d.states[0].idle_calls = 7;
        d.ask(20 * MS, 0);
        d.states[0].util_cfs = 200;
        assert_eq!(d.ask(40 * MS, 0), 1_200_000, "{name}: held");
        d.states[0].idle_calls = 8;
        assert_eq!(d.ask(60 * MS, 0), khz, "{name}: was idle");
    }
}

/// New limits while busy: 4.12.0 holds at UINT_MAX and asks for nothing; 4.16 excludes it; 4.19 cleared the mark before
/// and holds; 5.4 neither reads the counter nor holds; 5.10.262 has no exemption; from 6.1 `!need_freq_update`.
#[test]
fn what_new_limits_do_to_a_busy_cpu() {
    for (name, khz, read) in [
        ("4.12", KHZ_NONE, 9),
        ("4.16", 432_000, 9),
        ("4.19", 1_200_000, 9),
        ("5.4", 432_000, 7),
        ("5.10", 1_200_000, 9),
        ("5.15", 1_200_000, 9),
        ("6.1", 432_000, 9),
        ("6.6", 432_000, 9),
        ("6.8", 432_000, 9),
        ("6.12", 432_000, 9),
        ("6.18", 432_000, 9),
        ("7.2", 432_000, 9),
    ] {
        let mut d = Domain::new(profile(name), &[fair(900)]);
        d.states[0].idle_calls = 7;
        d.ask(20 * MS, 0);
        d.states[0].util_cfs = 200;
        // The counter of the last evaluation, except where it is not to be looked at.
        d.sc[0].saved_idle_calls = read;
        d.states[0].idle_calls = 9;
        d.sp.limits(208_000, 1_200_000);
        assert_eq!(d.hook(0, 21 * MS, 0), verdict::OPEN, "{name}: limits pass the window");
        assert_eq!((d.sp.next_freq_khz, d.sc[0].saved_idle_calls), (khz, read), "{name}");
    }
}

/// From 6.1 (uclamp_rq_is_capped) a CPU at its upper clamp is not held, and the counter is not read.
#[test]
fn a_capped_cpu_is_not_held_from_6_1() {
    for (name, held, read) in [
        ("5.10", true, 7),
        ("5.15", true, 7),
        ("6.1", false, 5),
        ("6.6", false, 5),
        ("6.8", false, 5),
        ("6.12", false, 5),
        ("6.18", false, 5),
        ("7.2", false, 5),
    ] {
        let mut d = Domain::new(profile(name), &[fair(900)]);
        d.states[0].idle_calls = 5;
        d.ask(20 * MS, 0);
        d.states[0] = CpuState { idle_calls: 7, uclamp_used: 1, uclamp_max: 300, ..fair(400) };
        let saved = if held { 7 } else { 5 };
        d.sc[0].saved_idle_calls = saved;
        assert_eq!(d.ask(40 * MS, 0) == 1_200_000, held, "{name}");
        assert_eq!(d.sc[0].saved_idle_calls, read, "{name}");
    }
}

/// 4.12.0 and 4.16 read the counter before they look at the flag that means "maximum".
#[test]
fn the_counter_is_read_before_the_flags() {
    for name in ["4.12", "4.16"] {
        let mut d = Domain::new(profile(name), &[fair(100)]);
        d.states[0].idle_calls = 4;
        assert_eq!(d.ask(20 * MS, hook_flag::RT), 1_200_000, "{name}");
        assert_eq!(d.sc[0].saved_idle_calls, 4, "{name}");
    }
}

/// New limits with an unchanged frequency: 4.12.0 to 4.17 set next_freq to UINT_MAX and call the driver; 4.19, 5.4
/// return; 5.10.262, 6.1.192, 6.12.117, 6.18.2 and 7.2.12 return unless the driver has CPUFREQ_NEED_UPDATE_LIMITS;
/// 6.6.0 calls.
#[test]
fn new_limits_with_an_unchanged_frequency() {
    for (name, plain, wanting) in [
        ("4.12", true, true),
        ("4.16", true, true),
        ("4.19", false, false),
        ("5.4", false, false),
        ("5.10", false, true),
        ("5.15", false, true),
        ("6.1", false, true),
        ("6.6", true, true),
        ("6.8", true, true),
        ("6.12", false, true),
        ("6.18", false, true),
        ("7.2", false, true),
    ] {
        for (need, called) in [(0, plain), (1, wanting)] {
            let mut d = Domain::new(profile(name), &[fair(300), fair(0)]);
            d.sp.need_update_limits = need;
            d.hook(0, 20 * MS, 0);
            d.sp.limits(208_000, 1_200_000);
            d.hook(0, 21 * MS, 0);
            assert_eq!(d.last.commit == commit::DRIVE, called, "{name}, driver {need}");
            assert_eq!(d.sp.last_ns, if called { 21 * MS } else { 20 * MS }, "{name}, driver {need}: the window");
            let lingers = ["6.6", "6.8"].contains(&name) && need == 1;
            assert_eq!(d.sp.need_update, u32::from(lingers), "{name}: 6.6.0 keeps the mark for such drivers");
        }
    }
}

/// sugov_start: next_freq is UINT_MAX to 4.17, 0 since; from 5.10 such drivers begin with need_freq_update.
#[test]
fn nothing_is_requested_at_the_start() {
    for name in pelton_core::profiles() {
        let pol = profile(name);
        let mut sp = SugovPolicy { need_update_limits: 1, ..start(&pol, 1) };
        sp.init(&pol, 10_000);
        let none = ["4.12", "4.16"].contains(&name);
        let marked = !["4.12", "4.16", "4.19", "5.4"].contains(&name);
        assert_eq!((sp.next_freq_khz == KHZ_NONE, sp.need_update == 1), (none, marked), "{name}");
    }
}

/// ignore_dl_rate_limit: absent in 4.12 and 4.16; 4.19 to 6.6 bw_dl against the last one; from 6.8 against bw_min.
/// Vector 19: bandwidth 0 -> 300 with a lower clamp of 512: 6.1 forces, 6.8 and later do not; 300 -> 200 never.
#[test]
fn a_raised_deadline_bandwidth_passes_the_window() {
    for (name, plain, clamped) in [
        ("4.12", false, false),
        ("4.16", false, false),
        ("4.19", true, true),
        ("5.4", true, true),
        ("5.10", true, true),
        ("5.15", true, true),
        ("6.1", true, true),
        ("6.6", true, true),
        ("6.8", true, false),
        ("6.12", true, false),
        ("6.18", true, false),
        ("7.2", true, false),
    ] {
        for (uclamp_min, opens) in [(0, plain), (512, clamped)] {
            let used = u32::from(uclamp_min > 0);
            let mut d =
                Domain::new(profile(name), &[CpuState { uclamp_used: used, uclamp_min, idle_calls: 1, ..fair(100) }]);
            d.ask(20 * MS, 0);
            d.states[0].bw_dl = 300;
            d.states[0].idle_calls = 2;
            assert_eq!(d.hook(0, 21 * MS, 0) == verdict::OPEN, opens, "{name}, clamp {uclamp_min}");
            d.hook(0, 40 * MS, 0);
            d.sp.last_ns = 40 * MS;
            d.states[0].bw_dl = 200;
            assert_eq!(d.hook(0, 41 * MS, 0), verdict::WINDOW, "{name}: lowered");
        }
    }
}

/// 4.17 alone: the override forgets next_freq, so an equal frequency is handed on and the window restarts.
#[test]
fn the_override_of_4_17_hands_on_an_equal_frequency() {
    let as_4_17 = with("4.16", &[("dl_bypass", "bandwidth")]);
    for (pol, commits) in [(as_4_17, commit::DRIVE), (profile("4.19"), commit::NONE)] {
        let mut d = Domain::new(pol, &[CpuState { rt_nr_running: 1, ..fair(1024) }, fair(0)]);
        d.hook(0, 20 * MS, 0);
        d.states[0].bw_dl = 100;
        assert_eq!(d.hook(0, 21 * MS, 0), verdict::OPEN);
        assert_eq!(d.last.commit, commits);
    }
}

/// 4.12.0 to 4.17 sugov_should_update_freq: refused while work_in_progress, which sugov_work clears after
/// __cpufreq_driver_target; 4.19 clears it before and sugov_deferred_update overwrites next_freq.
#[test]
fn evaluations_are_refused_until_the_driver_returned_to_4_17() {
    for name in pelton_core::profiles() {
        let refuses = ["4.12", "4.16"].contains(&name);
        let mut d = Domain::new(profile(name), &[fair(300), fair(0)]);
        (d.sp.fast_switch, d.sp.rate_limit_ns) = (0, 0);
        d.hook(0, 20 * MS, 0);
        assert_eq!((d.last.commit, d.sp.work_in_progress), (commit::DRIVE, 1), "{name}");
        let refused = if refuses { verdict::BUSY } else { verdict::OPEN };
        assert_eq!(d.hook(0, 21 * MS, 0), refused, "{name}: before the worker");
        assert_eq!(d.sp.work_start(&d.pol), 729_000, "{name}");
        assert_eq!(d.hook(0, 22 * MS, 0), refused, "{name}: the driver works");
        d.sp.work_done(&d.pol);
        assert_eq!((d.hook(0, 23 * MS, 0), d.sp.work_in_progress), (verdict::OPEN, 0), "{name}");
    }
}

/// 4.12: no remote calls; 4.16, 4.19, 5.4.0 sugov_should_update_freq: fast_switch_enabled and not
/// cpufreq_this_cpu_can_update; 5.10.262 and later: not cpufreq_this_cpu_can_update, for any driver.
#[test]
fn who_may_drive_from_outside() {
    let ask = |name: &str, fast_switch, remote_ok| {
        let pol = profile(name);
        let mut sp = SugovPolicy { fast_switch, remote_ok, ..start(&pol, 1) };
        sp.begin(&pol, &mut SugovCpu::default(), 0, 20 * MS, TICK, 0, false) == verdict::OPEN
    };
    for name in pelton_core::profiles() {
        let slow = ["4.16", "4.19", "5.4"].contains(&name);
        assert_eq!([ask(name, 0, 0), ask(name, 1, 0)], [slow, false], "{name}: driver of its own CPUs");
        let any = name != "4.12";
        assert_eq!([ask(name, 0, 1), ask(name, 1, 1)], [any, any], "{name}: driver of any CPU");
    }
}

/// M covers the half window that fills and the two before it (gate.h). With halves of 1 ms a maximum counts for less
/// than three of them, however many evaluations lie between: none, one in any half, or two.
#[test]
fn a_maximum_is_forgotten_after_three_halves_whenever_anybody_looks() {
    let settings = [("gate", "r1_sliding"), ("gate_window_min_us", "2000"), ("gate_window_max_us", "2000")];
    let pol = with("7.2", &settings);
    for before in [&[][..], &[500], &[1000], &[1999], &[2000], &[2999], &[500, 1000], &[1000, 2000]] {
        for (last, most) in [(2999, 1_200_000), (3000, 208_000)] {
            let mut d = Domain::new(pol, &[fair(900)]);
            d.sp.init_gate(&d.pol, 0, 0);
            assert_eq!(d.ask(1000 * MS, 0), 1_200_000);
            d.states[0] = fair(100);
            for us in before.iter().chain([&last]) {
                d.ask(1000 * MS + us * 1000, 0);
            }
            assert_eq!(d.sp.gate.maximum_khz, most, "{before:?}, {last}");
        }
    }
}
