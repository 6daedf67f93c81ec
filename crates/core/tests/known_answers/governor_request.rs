// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil: what a CPU asks for, and the boost of I/O waiters.

use super::governor::{Domain, MS, TICK, fair, profile, start, with};
use pelton_core::{CpuState, PerfTerms, Policy, SugovCpu, SugovPolicy, hook_flag};

/// Loads of every kind: capacity 1024, fair 300, real-time 100, deadline 50 with bandwidth 80, interrupts 60.
fn mixed() -> CpuState {
    CpuState { util_rt: 100, util_dl: 50, bw_dl: 80, util_irq: 60, ..fair(300) }
}

fn perf(name: &str, state: &CpuState) -> u32 {
    state.perf_eval(&profile(name), 0).perf
}

/// 4.12.0 sugov_get_util: 300. 4.16 sugov_aggregate_util: 300 + 80. 4.19 sugov_get_util, 5.4 and 5.10
/// schedutil_cpu_util: (300 + 100) * (1024 - 60) / 1024 = 376, + 60 + 80 = 516. 6.1, 6.6: the same and a quarter
/// (get_next_freq, map_util_perf) = 645. From 6.8 (effective_cpu_util, sugov_effective_cpu_perf): (300 + 100 + 50) *
/// 964 / 1024 = 423, + 60 = 483, and a quarter: 603; the least is 60 + 80 = 140.
#[test]
fn the_sum_of_each_release() {
    for (names, want) in [
        (&["4.12"][..], 300),
        (&["4.16"], 380),
        (&["4.19", "5.4", "5.10"], 516),
        (&["5.15", "6.1", "6.6"], 645),
        (&["6.8", "6.12", "6.18", "7.2"], 603),
    ] {
        for name in names {
            assert_eq!(perf(name, &mixed()), want, "{name}");
        }
    }
    assert_eq!(mixed().perf_eval(&profile("7.2"), 0).min, 140);
}

/// Upper clamp 200. 5.4 uclamp_util_with, 5.10 and 6.1 uclamp_rq_util_with: the sum of fair and real-time becomes 200,
/// then 200 * 964 / 1024 = 188, + 140 = 328 (6.1: 410). From 6.8 the clamp comes last: 200.
#[test]
fn clamps_come_first_to_6_6_and_last_from_6_8() {
    let state = CpuState { uclamp_used: 1, uclamp_max: 200, ..mixed() };
    for (name, want) in [
        ("5.4", 328),
        ("5.10", 328),
        ("5.15", 410),
        ("6.1", 410),
        ("6.6", 410),
        ("6.8", 200),
        ("6.12", 200),
        ("6.18", 200),
        ("7.2", 200),
    ] {
        assert_eq!(perf(name, &state), want, "{name}");
    }
    assert_eq!(perf("4.19", &state), 516, "no clamps before 5.4");
}

/// get_next_freq: to 5.10 a quarter on the frequency, (1200000 + 300000) * 333 / 1024 = 487792; from 6.1 on
/// utilization, 1200000 * (333 + 83) / 1024 = 487500.
#[test]
fn where_the_quarter_is_added() {
    for name in pelton_core::profiles() {
        let pol = profile(name);
        let old = ["4.12", "4.16", "4.19", "5.4", "5.10"].contains(&name);
        let raw = start(&pol, 1).raw_freq(&pol, perf(name, &fair(333)), 1024, false);
        assert_eq!(raw, if old { 487_792 } else { 487_500 }, "{name}");
    }
}

/// Without frequency invariance, present frequency 800000, 512 of 1024: to 5.10 (800000 + 200000) * 512 / 1024 =
/// 500000; 6.1 and 6.6: 800000 * (512 + 128) / 1024 = 500000; from 6.8 (get_capacity_ref_freq) the reference is a
/// quarter above the present one and utilization has its quarter as well: 1000000 * 640 / 1024 = 625000.
#[test]
fn without_frequency_invariance_the_present_frequency_is_the_reference() {
    for name in pelton_core::profiles() {
        let pol = profile(name);
        let mut sp = start(&pol, 1);
        (sp.freq_invariant, sp.cur_khz) = (0, 800_000);
        let raw = sp.raw_freq(&pol, perf(name, &fair(512)), 1024, false);
        let newest = ["6.8", "6.12", "6.18", "7.2"].contains(&name);
        assert_eq!(raw, if newest { 625_000 } else { 500_000 }, "{name}");
    }
}

/// A point above what signals are scaled to: of 1200000 kHz, 960000 are 1024 of capacity. To 6.7 (get_next_freq,
/// cpuinfo.max_freq) the whole scale asks for 1200000; from 6.8 (get_capacity_ref_freq: arch_scale_freq_ref() first,
/// invariant or not) for 960000, where the architecture has that function.
#[test]
fn the_whole_scale_asks_for_what_signals_are_scaled_to_from_6_8() {
    for name in pelton_core::profiles() {
        let pol = profile(name);
        let raw = |scale_khz, freq_invariant| {
            let sp = SugovPolicy { scale_khz, freq_invariant, cur_khz: 432_000, ..start(&pol, 1) };
            sp.raw_freq(&pol, 512, 1024, false)
        };
        let newest = ["6.8", "6.12", "6.18", "7.2"].contains(&name);
        let quarter = if pol.get("headroom") == Ok("frequency") { 5 } else { 4 };
        assert_eq!(raw(960_000, 1), if newest { 480_000 } else { 600_000 * quarter / 4 }, "{name}");
        assert_eq!(raw(960_000, 0), if newest { 480_000 } else { 216_000 * quarter / 4 }, "{name}");
        assert_eq!(raw(0, 1), 600_000 * quarter / 4, "{name}: x86 has no such function");
    }
}

/// 4.12.0: SCHED_CPUFREQ_RT_DL is either flag. 4.16: SCHED_CPUFREQ_RT alone. From 4.19 no flag.
#[test]
fn flags_that_mean_maximum() {
    for (name, rt, dl) in [("4.12", true, true), ("4.16", true, false), ("4.19", false, false), ("7.2", false, false)] {
        for (flag, most) in [(hook_flag::RT, rt), (hook_flag::DL, dl)] {
            let mut d = Domain::new(profile(name), &[fair(100)]);
            assert_eq!(d.ask(20 * MS, flag) == 1_200_000, most, "{name} flag {flag}");
        }
    }
}

/// A runnable real-time task: 4.19 sugov_get_util returns max; 5.4 and later too while no clamps are in use.
#[test]
fn a_runnable_real_time_task_means_maximum_from_4_17() {
    let running = CpuState { rt_nr_running: 1, ..mixed() };
    for name in ["4.12", "4.16"] {
        assert_eq!(perf(name, &running), perf(name, &mixed()), "{name}");
    }
    for name in ["4.19", "5.4", "5.10", "6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(perf(name, &running), 1024, "{name}");
    }
    for name in ["5.15", "6.1", "6.6"] {
        assert_eq!(perf(name, &running), 1280, "{name}: a quarter on the maximum, cut by the highest frequency");
    }
    let clamped = CpuState { uclamp_used: 1, ..running };
    assert_eq!(perf("4.19", &clamped), 1024);
    assert_eq!(perf("7.2", &clamped), perf("7.2", &mixed()));
}

/// 4.17 as switches on 4.16.
fn as_4_17() -> Policy {
    with(
        "4.16",
        &[
            ("rt_rule", "runnable_max"),
            ("hook_rt", "enqueue"),
            ("cfs_if_queued", "on"),
            ("dl_bypass", "bandwidth"),
            ("stale_cpu", "count"),
            ("iowait_boost", "frequency"),
            ("util_est", "u1"),
            ("idle_tick", "governor"),
        ],
    )
}

/// 4.17 sugov_aggregate_util: rt_nr_running gives the maximum; else bandwidth, and fair utilization only while
/// h_nr_running.
#[test]
fn the_request_of_4_17() {
    let pol = as_4_17();
    let perf = |state: CpuState| state.perf_eval(&pol, 0).perf;
    assert_eq!(perf(mixed()), 380);
    assert_eq!(perf(CpuState { cfs_nr_running: 0, ..mixed() }), 80);
    assert_eq!(perf(CpuState { rt_nr_running: 1, ..mixed() }), 1024);
}

/// 4.12.0 and 4.16 sugov_update_shared store what a CPU asks for at its own call; sugov_next_freq_shared uses it. A CPU
/// silent for more than a tick: 4.12 `continue`; 4.16 util_cfs = 0, and `continue` only without util_dl; 4.19 reads it
/// anew.
#[test]
fn what_a_shared_domain_knows_of_its_other_cpus() {
    for (name, present, silent) in [("4.12", 600, 0), ("4.16", 680, 80), ("4.19", 240, 240)] {
        let mut d = Domain::new(profile(name), &[fair(0), CpuState { bw_dl: 80, ..fair(600) }]);
        d.sp.rate_limit_ns = 0;
        d.hook(1, 20 * MS, 0);
        d.states[1] = CpuState { bw_dl: 40, ..fair(200) };
        d.hook(0, 21 * MS, 0);
        assert_eq!(d.last.perf, present, "{name}: as of its last call");
        d.hook(0, 25 * MS, 0);
        assert_eq!(d.last.perf, silent, "{name}: silent for 5 ms");
        assert_eq!(d.terms[1].stale, u32::from(name == "4.12"), "{name}");
    }
}

/// 4.16 sugov_update_shared: a call with the flag goes to the maximum without asking any CPU, so no boost fades.
#[test]
fn a_call_with_the_flag_asks_no_other_cpu() {
    let mut d = Domain::new(profile("4.16"), &[fair(0), fair(0)]);
    d.sp.rate_limit_ns = 0;
    d.hook(0, 20 * MS, hook_flag::IOWAIT);
    d.hook(1, 21 * MS, hook_flag::RT);
    assert_eq!((d.last.cpu, d.last.forced_max, d.sc[0].iowait_boost), (1, 1, 208_000));
}

/// A look has no caller: both CPUs of the domain are asked, and what a CPU behind them was called
/// with is not read. 4.12 and 4.16 would have asked such a caller alone.
#[test]
fn a_look_asks_each_cpu_of_the_domain_and_none_behind_it() {
    for name in pelton_core::profiles() {
        let (pol, states) = (with(name, &[("hold", "off")]), [fair(300), fair(600), fair(900)]);
        let (sp, mut sc, mut terms) = (start(&pol, 2), [SugovCpu::default(); 3], [PerfTerms::default(); 3]);
        sc.iter_mut().zip(&states).for_each(|(sc, state)| sc.keep_util(&pol, state));
        sc[2].flags = hook_flag::RT | hook_flag::DL;
        sp.ask_all(&pol, None, &mut sc, &states, MS, TICK, &mut terms);
        assert_eq!(terms.map(|t| t.cfs), [300, 600, 0], "{name}");
        assert_eq!(terms.map(|t| t.forced_max), [0; 3], "{name}");
    }
}

/// 6.1.192 sugov_iowait_apply: 128 * 4 >> 10 is 0, which uclamp_rq_util_with() raises to the lower clamp of 2; without
/// a boost it returns before. 5.10.262 and 6.12.118 do not clamp the boost.
#[test]
fn a_boost_that_rounds_to_nothing_is_clamped_in_6_1() {
    let tiny = CpuState { cap_orig: 4, uclamp_used: 1, uclamp_min: 2, uclamp_max: 1024, ..CpuState::default() };
    for (name, boosted) in [("5.10", 0), ("5.15", 2), ("6.1", 2), ("6.6", 2), ("6.8", 0), ("6.12", 0)] {
        for (flags, expected) in [(hook_flag::IOWAIT, boosted), (0, 0)] {
            let pol = profile(name);
            let (mut sp, mut sc) = (start(&pol, 1), SugovCpu::default());
            sp.begin(&pol, &mut sc, 0, 1000 * MS, TICK, flags, true);
            let (_, terms) = sp.cpu(&pol, &mut sc, &tiny, 1000 * MS, TICK);
            assert_eq!(terms.iowait, expected, "{name}, flags {flags}");
        }
    }
}

/// A boost after each step: `I` is a call of an I/O waiter, `U` another one; ms. Every call is evaluated.
fn story(pol: &Policy, nr_cpus: u32, steps: &[(char, u64)]) -> Vec<u32> {
    let (mut sp, mut sc) = (start(pol, nr_cpus), SugovCpu::default());
    sp.rate_limit_ns = 0;
    let mut used = Vec::new();
    for (kind, ms) in steps {
        let (now, flags) = (1000 * MS + ms * MS, if *kind == 'I' { hook_flag::IOWAIT } else { 0 });
        sp.begin(pol, &mut sc, 0, now, TICK, flags, true);
        let (_, terms) = sp.cpu(pol, &mut sc, &fair(0), now, TICK);
        used.push(if terms.scale == 1024 { terms.iowait } else { terms.request });
    }
    used
}

/// Vector 17: sugov_iowait_boost, sugov_iowait_apply of 5.4 and later.
#[test]
fn boost_in_capacity_units() {
    let steps = [('I', 0), ('I', 1), ('U', 2), ('I', 3), ('I', 4), ('I', 5), ('U', 6), ('I', 11), ('U', 16)];
    for name in ["5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(story(&profile(name), 1, &steps), [128, 256, 128, 256, 512, 1024, 512, 128, 0], "{name}");
    }
}

const STORY_18: [(char, u64); 11] =
    [('I', 0), ('I', 1), ('I', 2), ('I', 3), ('U', 4), ('U', 5), ('I', 6), ('I', 20), ('U', 21), ('U', 22), ('U', 23)];

/// Vector 18, 4.16 and 4.17 sugov_set_iowait_boost, sugov_iowait_boost: silence does not clear at a request.
#[test]
fn boost_in_frequency_units() {
    let want = [208_000, 416_000, 832_000, 1_200_000, 600_000, 300_000, 600_000, 1_200_000, 600_000, 300_000, 0];
    assert_eq!(story(&profile("4.16"), 2, &STORY_18), want);
    assert_eq!(story(&as_4_17(), 1, &STORY_18), want);
}

/// 4.16.13: sugov_set_iowait_boost looks at sg_cpu->flags, which sugov_update_single never writes.
#[test]
fn in_4_16_a_domain_with_one_cpu_never_sees_the_request() {
    assert_eq!(story(&profile("4.16"), 1, &STORY_18), [0; 11]);
}

/// 4.19 sugov_iowait_reset: after a tick of silence a request starts at the lowest frequency again (`I20`: 208000).
#[test]
fn boost_of_4_19_starts_over_after_silence() {
    let want = [208_000, 416_000, 832_000, 1_200_000, 600_000, 300_000, 600_000, 208_000, 0, 0, 0];
    assert_eq!(story(&profile("4.19"), 1, &STORY_18), want);
}

/// 4.12.0 sugov_iowait_boost (vector 18, second part): used, then halved, no lower end; silence clears at the next
/// call.
#[test]
fn boost_of_4_12_is_used_before_it_is_halved() {
    let steps = [('I', 0), ('U', 1), ('U', 2), ('U', 3), ('U', 9)];
    assert_eq!(story(&profile("4.12"), 1, &steps), [1_200_000, 600_000, 300_000, 150_000, 0]);
}

/// 4.12.0 to 4.19 compare shares: a boost of 600000 of 1200000 kHz beats 511 of 1024, not 512; then the raw frequency
/// is 1500000 * 600000 / 1200000 exactly.
#[test]
fn a_boost_in_frequency_units_is_compared_as_a_share() {
    let pol = profile("4.12");
    for (util, request) in [(511, (600_000, 1_200_000)), (512, (512, 1024)), (513, (513, 1024))] {
        let (sp, mut sc) = (start(&pol, 1), SugovCpu { iowait_boost: 600_000, ..SugovCpu::default() });
        let (_, terms) = sp.cpu(&pol, &mut sc, &fair(util), 0, TICK);
        assert_eq!((terms.request, terms.scale), request, "{util}");
        assert!(sp.raw_freq(&pol, terms.request, terms.scale, false) >= 750_000 - 1465);
    }
}

/// 6.1 and 6.6 sugov_iowait_apply: uclamp_rq_util_with on the boost; 5.4 and 5.10 none; from 6.8 it joins before the
/// clamps.
#[test]
fn the_boost_is_clamped_in_6_1_and_6_6() {
    let state = CpuState { uclamp_used: 1, uclamp_max: 300, ..fair(10) };
    for (name, iowait, perf) in [
        ("5.4", 512, 512),
        ("5.10", 512, 512),
        ("5.15", 300, 375),
        ("6.1", 300, 375),
        ("6.6", 300, 375),
        ("6.8", 512, 300),
        ("6.12", 512, 300),
        ("6.18", 512, 300),
        ("7.2", 512, 300),
    ] {
        let terms = state.perf_eval(&profile(name), 512);
        assert_eq!((terms.iowait, terms.perf), (iowait, perf), "{name}");
    }
}
