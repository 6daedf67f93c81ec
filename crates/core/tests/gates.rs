// SPDX-License-Identifier: GPL-2.0-or-later
//! Gates: when a frequency may change.

use pelton_core::{CpuState, Policy, Rq, SugovCpu, SugovPolicy, hook_flag, verdict};

const TICK: u64 = 4_000_000;
const MS: u64 = 1_000_000;
const KHZ: [u32; 5] = [208_000, 432_000, 729_000, 960_000, 1_200_000];

fn fair(util: u32) -> CpuState {
    CpuState { cap_orig: 1024, util_cfs: util, uclamp_max: 1024, ..CpuState::default() }
}

/// A domain of one CPU whose driver takes so many ns, under 7.2 with these settings; its rate limit is 10 ms.
fn gated(settings: &[(&str, &str)], cost_ns: u64) -> (Policy, SugovPolicy) {
    let mut pol = Policy::profile("7.2").expect("profile exists");
    let quiet = [("hold", "off"), ("util_est", "off")];
    for (name, value) in settings.iter().chain(&quiet) {
        pol.set(name, value).expect("a switch of the table");
    }
    pol.check().expect("switches that go together");
    let mut sp = SugovPolicy {
        nr_cpus: 1,
        min_khz: KHZ[0],
        max_khz: KHZ[4],
        ref_khz: KHZ[4],
        cur_khz: KHZ[0],
        fast_switch: 1,
        freq_invariant: 1,
        ..SugovPolicy::default()
    };
    sp.init(&pol, 10_000);
    sp.init_gate(&pol, cost_ns, 0);
    (pol, sp)
}

/// Asks at this time, in us, for the frequency of this fair utilization; the request afterwards.
fn ask(pol: &Policy, sp: &mut SugovPolicy, sc: &mut SugovCpu, us: u64, util: u32, flags: u32) -> u32 {
    let (now, state) = (1_000 * MS + us * 1_000, fair(util));
    if sp.begin(pol, sc, 0, now, TICK, flags, true) == verdict::OPEN {
        let mut terms = [Default::default()];
        sp.evaluate(pol, 0, std::slice::from_mut(sc), std::slice::from_ref(&state), now, TICK, &KHZ, &mut terms);
    }
    sp.next_freq_khz
}

#[test]
fn the_trailing_maximum_comes_when_the_need_is_over() {
    let (pol, mut sp) = gated(&[("gate", "r1_trailing")], 100_000);
    let mut sc = SugovCpu::default();
    let low = ask(&pol, &mut sp, &mut sc, 0, 50, 0);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 1_000, 900, 0), low);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 9_000, 50, 0), low);
    assert!(ask(&pol, &mut sp, &mut sc, 10_000, 50, 0) > low, "the burst is served after it ended");
    assert_eq!(ask(&pol, &mut sp, &mut sc, 20_000, 50, 0), low);
}

#[test]
fn utilization_that_leaves_takes_its_maximum_along() {
    for gate in ["r1_trailing", "r1_sliding", "r1_asym"] {
        let (pol, mut sp) = gated(&[("gate", gate)], 100_000);
        let mut sc = SugovCpu::default();
        let low = ask(&pol, &mut sp, &mut sc, 0, 50, 0);
        ask(&pol, &mut sp, &mut sc, 1_000, 900, 0);
        assert_eq!(ask(&pol, &mut sp, &mut sc, 10_000, 50, hook_flag::DETACH), low, "{gate}");
    }
}

#[test]
fn the_sliding_maximum_never_lowers_below_what_was_needed_within_the_window() {
    for settings in
        [&[("gate", "r1_sliding")][..], &[("gate", "r1_asym")], &[("gate", "r2_linear"), ("gate_peak", "on")]]
    {
        let (pol, mut sp) = gated(settings, 20_000);
        let (mut sc, mut wanted, mut seed) = (SugovCpu::default(), Vec::<(u64, u32)>::new(), 7_u64);
        for step in 0..4_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (us, util) = (step * 97, (seed >> 33) as u32 % 1024);
            let before = sp.next_freq_khz;
            let perf = fair(util).perf_eval(&pol, 0).perf;
            let want = sp.resolve(&KHZ, sp.raw_freq(&pol, perf, 1024, false));
            wanted.push((us, want));
            let after = ask(&pol, &mut sp, &mut sc, us, util, 0);
            let recent = wanted.iter().filter(|(t, _)| us - t <= 2_000).map(|(_, khz)| *khz).max().unwrap_or(0);
            assert!(after >= before || after >= recent, "{settings:?}: {before} to {after}, {recent} was wanted");
        }
    }
}

#[test]
fn a_large_error_waits_the_shortest_time_and_a_small_one_the_longest() {
    let settings = [("gate", "r2_linear"), ("gate_spacing_min_us", "500"), ("gate_spacing_max_us", "10000")];
    let (pol, mut sp) = gated(&settings, 0);
    let mut sc = SugovCpu::default();
    ask(&pol, &mut sp, &mut sc, 0, 100, 0);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 499, 900, 0), 208_000);
    assert_eq!(sp.gate.verdict, verdict::HELD);
    assert_eq!(sp.gate.until_ns, 1_000 * MS + 500_000);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 500, 900, 0), 1_200_000, "a step is followed within D_min");
    let mut changes = 0;
    let mut last = sp.next_freq_khz;
    for step in 0..8_000_u64 {
        let now = ask(&pol, &mut sp, &mut sc, 1_000 + step * 50, 900 - (step / 10) as u32, 0);
        changes += u32::from(now != last);
        last = now;
    }
    assert!((1..=4).contains(&changes), "a slow ramp over four steps: {changes} changes");
}

#[test]
fn a_class_passes_the_window_and_r3b_leaves_it_to_the_fair_class() {
    for (value, moves) in [("r3a", true), ("r3b", false)] {
        let (pol, mut sp) = gated(&[("gate", "r0b"), ("gate_bypass", value)], 0);
        let mut sc = SugovCpu::default();
        ask(&pol, &mut sp, &mut sc, 0, 100, 0);
        let last = sp.last_ns;
        assert_eq!(ask(&pol, &mut sp, &mut sc, 100, 900, 0), 208_000);
        assert_eq!(ask(&pol, &mut sp, &mut sc, 200, 900, hook_flag::CLASS), 1_200_000, "{value}");
        assert_eq!(sp.last_ns != last, moves, "{value}");
        assert_eq!(ask(&pol, &mut sp, &mut sc, 300, 100, hook_flag::CLASS), 1_200_000, "{value}: a decrease waits");
    }
}

#[test]
fn each_direction_has_its_limit_and_a_refusal_forgets_the_cache() {
    let settings = [("gate", "up_down"), ("up_rate_limit_us", "500"), ("down_rate_limit_us", "20000")];
    let (pol, mut sp) = gated(&settings, 0);
    let mut sc = SugovCpu::default();
    ask(&pol, &mut sp, &mut sc, 0, 100, 0);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 500, 900, 0), 1_200_000);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 20_499, 100, 0), 1_200_000);
    assert_eq!(sp.cached_raw_khz, 0);
    assert_eq!(ask(&pol, &mut sp, &mut sc, 20_500, 100, 0), 208_000);
}

#[test]
fn a_forced_call_ignores_the_window_and_does_not_restart_it() {
    for gate in ["r0b", "r1_trailing", "r1_sliding", "r1_asym", "r2_linear", "r2_hyperbolic", "up_down"] {
        let (pol, mut sp) = gated(&[("gate", gate)], 100_000);
        let mut sc = SugovCpu::default();
        ask(&pol, &mut sp, &mut sc, 0, 100, 0);
        let last = sp.last_ns;
        assert_eq!(ask(&pol, &mut sp, &mut sc, 10, 900, hook_flag::FORCE), 1_200_000, "{gate}");
        assert_eq!(sp.last_ns, last, "{gate}");
    }
}

/// Without frequency invariance the need is a share of the present frequency: after a change the same utilization needs
/// something else.
#[test]
fn no_event_is_small_after_the_frequency_has_changed_unless_it_is_in_the_signal() {
    for (freq_invariant, delivered_after_a_change) in [(0, true), (1, false)] {
        let (pol, mut sp) = gated(&[("hook_filter", "composite"), ("gate", "r0b")], 1_000);
        sp.freq_invariant = freq_invariant;
        let mut sc = SugovCpu::default();
        let rq = Rq::default();
        let delivers = |sp: &SugovPolicy, sc: &mut SugovCpu| sc.hook_event(&pol, sp, &rq, 2_000 * MS, 0, 0).delivered;
        ask(&pol, &mut sp, &mut sc, 0, 0, 0);
        sc.khz_evaluated = sp.cur_khz;
        assert!(!delivers(&sp, &mut sc), "nothing has changed");
        sp.cur_khz = KHZ[3];
        assert_eq!(delivers(&sp, &mut sc), delivered_after_a_change, "invariant {freq_invariant}");
    }
}

#[test]
fn no_change_comes_sooner_than_the_least_spacing_and_some_change_may_come_then() {
    let gates = ["r0a", "r0b", "r1_trailing", "r1_sliding", "r1_asym", "r2_linear", "r2_hyperbolic", "up_down"];
    for gate in gates {
        let limits = [("up_rate_limit_us", "3000"), ("down_rate_limit_us", "2000")];
        let settings: Vec<_> = limits.iter().filter(|_| gate == "up_down").copied().chain([("gate", gate)]).collect();
        let (pol, sp) = gated(&settings, 40_000);
        let least_us = sp.least_spacing_ns(&pol) / 1_000;
        // From the lowest to the highest, and the way back: one of them waits for nothing else than the limit.
        let changes_after = |us: u64| {
            [(50, 1000), (1000, 50)].into_iter().any(|(from, to)| {
                let (mut sp, mut sc) = (sp, SugovCpu::default());
                let before = ask(&pol, &mut sp, &mut sc, 0, from, 0);
                ask(&pol, &mut sp, &mut sc, us, to, 0) != before
            })
        };
        assert!(least_us > 0 && !changes_after(least_us - 1), "{gate}: before {least_us} us");
        assert!(changes_after(least_us), "{gate}: after {least_us} us");
    }
}
