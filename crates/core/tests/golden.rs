// SPDX-License-Identifier: GPL-2.0-or-later
//! Known answers of an independent model of the load-tracking rules.

use pelton_core::{Avg, Ctx, Policy, Rq, Se, decay_load, ramp, time_to};

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("profile exists")
}

fn ctx(pol: &Policy, now: u64) -> Ctx<'_> {
    Ctx { pol, now, cap_orig: 1024, freq_scale: 1024 }
}

/// Update a record that was running (or idle) until `now`.
fn step(pol: &Policy, avg: &mut Avg, now: u64, running: u32) {
    avg.update(&ctx(pol, now), running);
}

#[test]
fn decay_matches_known_values() {
    let known = [(1, 46718), (2, 45717), (31, 24393), (32, 23870), (33, 23359), (63, 12196), (64, 11934)];
    for (periods, want) in known.into_iter().chain([(100, 5471), (1000, 0), (2017, 0)]) {
        assert_eq!(decay_load(47742, periods), want, "after {periods} periods");
    }
    assert_eq!(decay_load(u64::MAX >> 1, 2017), 0);
    assert_eq!(decay_load(u64::MAX >> 1, u64::MAX), 0);
}

#[test]
fn one_update_from_zero() {
    let pol = policy("7.2");
    let known = [
        (500u64, (0, 512_000, 500)),
        (1023, (0, 1_047_552, 1023)),
        (1024, (21, 1_026_048, 0)),
        (1025, (21, 1_027_072, 1)),
        (2048, (43, 2_028_544, 0)),
        (3000, (63, 3_003_392, 952)),
        (32768, (512, 23_919_616, 0)),
        (100_000, (900, 42_676_224, 672)),
        (1_000_000, (1024, 48_429_056, 576)),
    ];
    for (units, want) in known {
        let mut avg = Avg::default();
        step(&pol, &mut avg, units * 1024, 1);
        assert_eq!((avg.util_avg, avg.util_sum, avg.period_contrib), want, "{units} units");
    }
}

#[test]
fn two_half_updates_round_differently_from_one() {
    let pol = policy("7.2");
    let mut avg = Avg::default();
    step(&pol, &mut avg, 1024 * 1024, 1);
    step(&pol, &mut avg, 2048 * 1024, 1);
    assert_eq!(avg.util_sum, 2_030_109);
}

#[test]
fn always_running_updated_every_ms() {
    let pol = policy("7.2");
    let known = [
        (1u64, 0),
        (2, 41),
        (4, 81),
        (8, 156),
        (10, 191),
        (16, 288),
        (20, 346),
        (32, 495),
        (40, 576),
        (64, 751),
        (80, 828),
        (100, 894),
        (128, 951),
        (160, 986),
        (200, 1008),
        (240, 1017),
        (300, 1022),
        (400, 1024),
    ];
    let mut avg = Avg::default();
    for ms in 1..=400u64 {
        step(&pol, &mut avg, ms * 1_000_000, 1);
        if let Some((_, want)) = known.iter().find(|(at, _)| *at == ms) {
            assert_eq!(avg.util_avg, *want, "after {ms} ms");
        }
    }
}

#[test]
fn always_running_updated_every_4_and_10_ms() {
    let pol = policy("7.2");
    let run = |step_ms: u64, n: u64| {
        let mut avg = Avg::default();
        for i in 1..=n {
            step(&pol, &mut avg, i * step_ms * 1_000_000, 1);
        }
        (avg.util_avg, avg.util_sum, avg.period_contrib)
    };
    assert_eq!(run(4, 10), (575, 26_988_913, 150));
    assert_eq!(run(4, 100), (1023, 48_319_604, 481));
    assert_eq!(run(10, 1), (191, 9_035_776, 549));
    assert_eq!(run(10, 10), (894, 42_112_797, 376));
}

#[test]
fn periods_needed_from_zero() {
    let known = [
        (100, 5),
        (200, 11),
        (256, 14),
        (300, 16),
        (400, 23),
        (450, 27),
        (512, 32),
        (600, 41),
        (700, 54),
        (800, 71),
        (819, 75),
        (900, 98),
        (1000, 172),
        (1015, 214),
        (1023, 290),
        (1024, 323),
        (128, 7),
        (384, 22),
        (704, 54),
    ];
    for (util, want) in known {
        assert_eq!(time_to(util), want, "to {util}");
    }
}

#[test]
fn decay_from_1024_one_update_per_period() {
    let pol = policy("7.2");
    let known = [(1u64, 1002), (2, 980), (4, 939), (8, 861), (16, 724), (32, 511), (64, 255), (96, 127), (128, 63)];
    let mut avg = Avg { util_avg: 1024, util_sum: 1024 * 46718, ..Avg::default() };
    for period in 1..=320u64 {
        step(&pol, &mut avg, period * 1024 * 1024, 0);
        let want = known.iter().chain(&[(160, 31), (256, 3), (320, 0)]).find(|(at, _)| *at == period);
        if let Some((_, want)) = want {
            assert_eq!(avg.util_avg, *want, "after {period} periods");
        }
    }
}

/// Utilization at the end of the sleep and of the run of a periodic task in its steady state.
fn periodic(run_us: u64, period_us: u64) -> (u64, u64) {
    let pol = policy("7.2");
    let mut avg = Avg::default();
    let (mut low, mut high) = (1024, 0);
    for i in 0..4_000_000 / period_us {
        step(&pol, &mut avg, (i * period_us + run_us) * 1000, 1);
        let top = avg.util_avg;
        step(&pol, &mut avg, (i + 1) * period_us * 1000, 0);
        if i * period_us > 2_000_000 {
            low = low.min(avg.util_avg);
            high = high.max(top);
        }
    }
    (low, high)
}

#[test]
fn steady_periodic_ranges() {
    let known = [
        (120, 2000, 60, 62),
        (260, 2000, 130, 135),
        (380, 2000, 191, 197),
        (500, 2000, 252, 260),
        (620, 2000, 312, 322),
        (760, 2000, 384, 394),
        (880, 2000, 445, 456),
        (5000, 10_000, 485, 538),
        (8000, 16_000, 469, 554),
        (20_000, 100_000, 76, 396),
        (4000, 16_000, 225, 288),
        (1000, 33_000, 21, 42),
    ];
    for (run, period, low, high) in known {
        let (l, h) = periodic(run, period);
        assert!(l.abs_diff(low) <= 2 && h.abs_diff(high) <= 2, "{run}/{period} us: {l}-{h}, known {low}-{high}");
    }
}

#[test]
fn ramp_matches_known_values() {
    let known = [(0, 500, 10), (0, 1000, 21), (0, 2000, 42), (0, 4000, 83), (0, 10_000, 195), (512, 4000, 553)];
    let more = [(800, 4000, 818), (1000, 4000, 1001), (200, 4000, 266), (400, 4000, 450), (600, 4000, 634)];
    for (util, units, want) in known.into_iter().chain(more).chain([(200, 1000, 217), (800, 1000, 804)]) {
        assert_eq!(ramp(util, units), want, "from {util}, {units} units");
    }
}

#[test]
fn fit_thresholds_of_the_margin_proposals_follow_from_ramp() {
    let february =
        [(64, 4), (128, 18), (160, 26), (256, 73), (384, 163), (704, 557), (720, 578), (752, 633), (1024, 1022)];
    for (cap, want) in february {
        assert_eq!(ramp(0, time_to(cap) * 1000 * cap / 1024), want, "capacity {cap}");
    }
    for (cap, want) in [(160, 83), (256, 195), (384, 324), (530, 481), (760, 730)] {
        assert_eq!(ramp(0, time_to(cap) * 1000 - 4000), want, "capacity {cap}");
    }
}

#[test]
fn constant_divisor_swings_between_1002_and_1024() {
    let mut pol = policy("7.2");
    pol.set("divisor", "constant").expect("switch exists");
    let mut avg = Avg::default();
    let mut seen = (u64::MAX, 0);
    for i in 1..=2000u64 {
        step(&pol, &mut avg, i * 1_000_000, 1);
        if i > 1000 {
            seen = (seen.0.min(avg.util_avg), seen.1.max(avg.util_avg));
        }
    }
    assert_eq!(seen, (1002, 1023));
}

#[test]
fn pelt_time_runs_at_the_speed_of_the_cpu_and_catches_up_when_idle() {
    let pol = policy("7.2");
    let mut rq = Rq::new(&pol, 0, 512, 1024);
    let base = rq.clock_pelt(&pol);
    rq.clock_update(&pol, 4_000_000, 0, false);
    assert_eq!(rq.clock_pelt(&pol) - base, 2_000_000);
    rq.clock_enter_idle(&pol);
    assert_eq!(rq.clock_pelt(&pol) - base, 4_000_000);
    assert_eq!(rq.clock.lost_idle_ns, 0);
}

#[test]
fn a_saturated_cpu_loses_its_idle_time() {
    let pol = policy("7.2");
    let mut rq = Rq::new(&pol, 0, 512, 1024);
    let mut se = Se::new(1024);
    rq.enqueue_task(&pol, &mut se, 1000, 0, true);
    rq.switch_fair(&pol, None, Some(&mut se), 1000, 0, true);
    for ms in 1..=1000u64 {
        rq.tick_fair(&pol, &mut se, ms * 1_000_000, 0);
    }
    assert!(rq.cfs.avg.util_avg >= 1022, "{}", rq.cfs.avg.util_avg);
    rq.dequeue_task(&pol, &mut se, 1_000_000_000, 0, false, pelton_core::dequeue::SLEEP);
    rq.switch_idle(&pol, Some(&mut se), 1_000_000_000, 0, false);
    assert!(rq.clock.lost_idle_ns > 499_000_000, "{}", rq.clock.lost_idle_ns);
}

#[test]
fn contribution_scaling_converges_to_the_speed_it_ran_at() {
    let pol = policy("4.16");
    let mut rq = Rq::new(&pol, 0, 1024, 512);
    let mut se = Se::new(1024);
    rq.enqueue_task(&pol, &mut se, 0, 0, true);
    rq.switch_fair(&pol, None, Some(&mut se), 0, 0, true);
    for tick in 1..=250u64 {
        rq.tick_fair(&pol, &mut se, tick * 4_000_000, 0);
    }
    assert!((510..=512).contains(&rq.cfs.avg.util_avg), "{}", rq.cfs.avg.util_avg);
    assert_eq!(rq.cfs.avg.util_avg, se.avg.util_avg);
}

#[test]
fn interrupt_time_is_scaled_like_running_time() {
    let pol = policy("7.2");
    let mut rq = Rq::new(&pol, 0, 1024, 512);
    for ms in 1..=1000u64 {
        rq.clock_update(&pol, ms * 1_000_000, 500_000, false);
    }
    assert!((250..=262).contains(&rq.irq.util_avg), "{}", rq.irq.util_avg);
    assert_eq!(rq.clock.clock_task_ns - (1 << 30), 500_000_000);
}
