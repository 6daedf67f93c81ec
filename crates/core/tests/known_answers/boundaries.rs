// SPDX-License-Identifier: GPL-2.0-or-later
//! Both sides of comparisons that decide, where the tests of a whole rule meet one of them only.

use pelton_core::fair::hrtick_stays;
use pelton_core::hook::{how, tick_is_long};
use pelton_core::{
    ASKS_WHY, CpuState, DbsTimes, EmState, EnergyModel, IdleNow, IdleState, IdleTable, Interactive, InteractiveCpu,
    Limits, NO_TARGET, PerfTerms, Placed, Placement, Policy, Rq, SUM_WHY, SdLevel, Se, SugovCpu, SugovPolicy, Teo,
    Trip, Zone, filter_form, filter_payoff, fits_capacity, imb_numa_nr, sd, weight_of_shares,
};

const MS: u64 = 1_000_000;
const TICK: u64 = 4 * MS;
const MARK: u32 = 0x8000_0000;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// To 4.16 sugov_update_shared() keeps what sugov_get_util() gave for this CPU, every part of it.
#[test]
fn a_hook_call_keeps_fair_real_time_and_deadline_parts() {
    let state = CpuState { cap_orig: 1024, util_cfs: 300, util_rt: 200, bw_dl: 100, ..CpuState::default() };
    let mut sc = SugovCpu::default();
    sc.keep_util(&policy("4.16"), &state);
    assert_eq!((sc.kept_cfs, sc.kept_rt, sc.kept_bw), (300, 200, 100));
}

/// 7.2 sugov_iowait_reset(): `if (delta_ns <= TICK_NSEC) return false`.
#[test]
fn a_cpu_that_was_silent_for_exactly_a_tick_keeps_its_boost() {
    for (later, left) in [(TICK, 256), (TICK + 1, 0)] {
        let pol = policy("7.2");
        let mut sp = SugovPolicy { nr_cpus: 1, min_khz: 200_000, max_khz: 1_200_000, ..SugovPolicy::default() };
        sp.init(&pol, 1000);
        let mut sc = SugovCpu { iowait_boost: 256, last_update_ns: 9 * MS, ..SugovCpu::default() };
        sp.begin(&pol, &mut sc, 0, 9 * MS + later, TICK, 0, true);
        assert_eq!(sc.iowait_boost, left, "{later} ns");
    }
}

fn sampled(profile: &str, cap: u32, (enqueued, ewma, util_avg): (u32, u32, u64)) -> (u32, u32) {
    let mut se = Se::new(1024);
    (se.avg.util_est_enqueued, se.avg.util_est_ewma, se.avg.util_avg) = (enqueued, ewma, util_avg);
    se.util_est_update(&policy(profile), cap, true);
    (se.avg.util_est_enqueued, se.avg.util_est_ewma)
}

/// UTIL_EST_MARGIN is 1024 / 100 = 10; within_margin() of 4.19 to 6.6 is true up to 9 away, `< UTIL_EST_MARGIN` of
/// 6.8 and later alike. (4 * 400 - 10) >> 2 = 397; 4.19 counts its mark: (4 * 311 - 10) >> 2 = 308.
#[test]
fn an_estimate_moves_from_ten_away_on() {
    assert_eq!(sampled("4.19", 1024, (0, 310, 300)), (0, 310), "301 is 9 away");
    assert_eq!(sampled("4.19", 1024, (0, 311, 300)), (301, 308));
    for profile in ["5.10", "6.1", "6.6"] {
        assert_eq!(sampled(profile, 1024, (400, 400, 390)), (390 | MARK, 397), "{profile}");
        assert_eq!(sampled(profile, 1024, (400, 400, 391)), (400, 400), "{profile}: both within");
        assert_eq!(sampled(profile, 1024, (401, 400, 391)), (391 | MARK, 400), "{profile}: the last sample was not");
        assert_eq!(sampled(profile, 1024, (381, 400, 391)), (391 | MARK, 400), "{profile}: from below");
    }
    for profile in ["6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(sampled(profile, 1024, (400, 0, 390)), (397 | MARK, 0), "{profile}");
        assert_eq!(sampled(profile, 1024, (400, 0, 391)), (400 | MARK, 0), "{profile}");
    }
}

/// util_est_update(): `if (task_util(p) > capacity)` returns; a sample as large as the CPU counts. (4 * 400 - 100)
/// >> 2 = 375; 5.4 counts its mark: 1600 - 99 >> 2 = 375.
#[test]
fn a_sample_as_large_as_the_cpu_counts() {
    for (profile, counted, kept) in
        [("5.4", (301, 375), (0, 400)), ("5.10", (300 | MARK, 375), (0, 400)), ("6.6", (300 | MARK, 375), (0, 400))]
    {
        assert_eq!(sampled(profile, 300, (0, 400, 300)), counted, "{profile}");
        assert_eq!(sampled(profile, 299, (0, 400, 300)), kept, "{profile}");
    }
    assert_eq!(sampled("6.12", 300, (400, 0, 300)), (375 | MARK, 0));
    assert_eq!(sampled("6.12", 299, (400, 0, 300)), (400, 0));
}

/// 7.2 teo_select(): teo_find_shallower_state() takes the first state whose target_residency_ns is `<=
/// duration_ns`.
#[test]
fn a_state_that_pays_exactly_until_the_timer_is_chosen() {
    let mut table = IdleTable { count: 3, ..IdleTable::default() };
    for (row, residency_ns) in table.states.iter_mut().zip([1_000, 100_000, 2_700_000]) {
        *row = IdleState { exit_ns: 500, residency_ns };
    }
    for (sleep_ns, state) in [(100_000, 1), (99_999, 0), (2_700_000, 2), (2_699_999, 1)] {
        let mut teo = Teo { total: 1024, ..Teo::default() };
        teo.hits[2] = 1024;
        let now = IdleNow { sleep_ns, event_ns: sleep_ns, tick_ns: TICK, latency_ns: u64::MAX, ..IdleNow::default() };
        assert_eq!(teo.select(&policy("7.2"), &table, &now).state, state, "{sleep_ns} ns");
    }
}

/// pid_controller(): `if (err < int_to_frac(integral_cutoff))` sums the error. The controlled trip is at 85 C, the
/// cutoff 1 C; 999 mC << 10 = 1,022,976.
#[test]
fn an_error_as_large_as_the_cutoff_is_not_summed() {
    for (temp_mc, integral) in [(84_000, 0), (84_001, 1_022_976)] {
        let mut zone = Zone { trips: 2, domains: 1, passive_ms: 100, ..Zone::default() };
        zone.ipa.sustainable_mw = 1000;
        zone.ipa.integral_cutoff_mc = 1000;
        for (trip, at_mc) in zone.trip.iter_mut().zip([70_000, 85_000]) {
            *trip = Trip { temp_mc: at_mc, cools: 1, ..Trip::default() };
        }
        (zone.cooling[0].max_state, zone.cooling[0].req_mw, zone.cooling[0].max_mw) = (9, 20_000, 20_000);
        let pol = policy("7.2");
        zone.read(&pol, temp_mc);
        assert!(zone.allocate(&pol, 100), "above the lower trip");
        assert_eq!(zone.ipa.err_integral, integral, "{temp_mc}");
    }
}

/// cpufreq_interactive_timer(): `cpu_load >= go_hispeed_load` jumps, `now - pol_hispeed_val_time < delay` waits. Of
/// 20 ms at 450 MHz 19.8 busy are 99 %, 19.79 are 98: 44,500 / 90 = 494 MHz.
#[test]
fn interactive_jumps_at_its_load_and_rises_at_its_delay() {
    const KHZ: [u32; 5] = [450_000, 575_000, 700_000, 775_000, 850_000];
    let mut pol = policy("4.12");
    for (name, value) in [("governor", "interactive"), ("hispeed_khz", "700000"), ("above_hispeed_delay_us", "40000")] {
        pol.set(name, value).expect("a setting");
    }
    let limits = Limits { min_khz: 450_000, max_khz: 850_000 };
    let target = |cur: u32, after_us: u64, idle_us: u64| {
        let mut domain = Interactive::start(&pol, limits, cur);
        let mut cpu = InteractiveCpu::join(&pol, &domain, &DbsTimes { wall_us: 1000, ..DbsTimes::default() });
        let times = DbsTimes { wall_us: 1000 + after_us, idle_us, ..DbsTimes::default() };
        domain.timer(&pol, &mut cpu, &times, &KHZ);
        cpu.target_khz
    };
    assert_eq!([200, 210].map(|idle_us| target(450_000, 20_000, idle_us)), [700_000, 575_000], "99 % and 98 %");
    // At 700 MHz and 100 % busy: 70,000 / 90 = 777.
    assert_eq!([39_999, 40_000].map(|after_us| target(700_000, after_us, 0)), [700_000, 850_000], "the delay");
}

/// threshold_gains of kernel/sched/tune.c: e 1 and c 100 pay 100 * energy - capacity, each row of the three forms.
#[test]
fn each_row_of_the_filter_weighs_as_its_table_says() {
    let posted = [-4, -4, 96, 196, 296, 397, 398, 399, 400, 400];
    let geometric = [-5, 95, 195, 295, 395, 496, 497, 498, 499, 500];
    for row in 0..10 {
        let of = |form| filter_payoff(form, row, 1, 100);
        assert_eq!(of(filter_form::MIDDLE), posted[row as usize], "row {row}");
        assert_eq!(of(filter_form::RFC), -posted[row as usize], "row {row}: the posting's sign");
        assert_eq!(of(filter_form::GEOMETRIC), geometric[row as usize], "row {row}");
    }
    assert_eq!(filter_payoff(filter_form::GEOMETRIC, 10, 1, 100), 500, "beyond the table the last row counts");
}

/// update_misfit_status(): 5.4 asks only whether the task fits; 5.10.262 leaves pinned ones out (`nr_cpus_allowed
/// == 1`), 6.12.117 also those whose CPU is as large as any they may use. Load 700 of a queue of 999 + 1 that
/// counts 1000.
#[test]
fn a_task_that_can_find_no_bigger_cpu_does_not_wait_for_one() {
    for (profile, pinned, on_biggest) in
        [("5.4", 700, 700), ("5.10", 0, 700), ("6.1", 0, 700), ("6.12", 0, 0), ("6.18", 0, 0), ("7.2", 0, 0)]
    {
        for (allowed, biggest, load) in [(0b11, 1024, 700), (0b01, 1024, pinned), (0b11, 400, on_biggest)] {
            let mut m = Placement { nr_cpus: 2, asymmetric: 1, ..Placement::default() };
            for (cpu, capacity) in m.cpus.iter_mut().zip([400, 1024]) {
                cpu.capacity = capacity;
                (cpu.state.cap_orig, cpu.state.uclamp_max) = (capacity, 1024);
            }
            (m.task.allowed, m.task.uclamp_max, m.task.queue_load, m.task.queue_h_load) = (allowed, 1024, 999, 1000);
            (m.task.se.avg.util_avg, m.task.se.avg.load_avg) = (600, 700);
            let found = m.misfit_load(&policy(profile), &mut Placed::default(), 0, biggest);
            assert_eq!(found, load, "{profile}, allowed {allowed:#b}, biggest {biggest}");
        }
    }
}

/// thermal_zone_trip_update(), handle_thermal_trip(): a trip is crossed at its temperature, and left below its
/// hysteresis; any of the zone's may be.
#[test]
fn a_zone_crosses_a_trip_at_its_temperature() {
    let pol = policy("7.2");
    let mut zone = Zone { trips: 2, domains: 1, ..Zone::default() };
    for (trip, temp_mc) in zone.trip.iter_mut().zip([70_000, 85_000]) {
        *trip = Trip { temp_mc, hyst_mc: 2000, cools: 1, ..Trip::default() };
    }
    let crosses = |zone: &Zone| [67_999, 68_000, 69_999, 70_000, 85_000].map(|temp_mc| zone.crosses(&pol, temp_mc));
    assert_eq!(crosses(&zone), [false, false, false, true, true]);
    zone.trip[0].reached = 1;
    assert_eq!(crosses(&zone), [true, false, false, false, true]);
}

/// thermal_zone_trip_update() walks over the instances of the trip: what another trip cools stays.
#[test]
fn a_trip_cools_its_own_domains_only() {
    for profile in ["4.12", "5.10", "6.6", "6.12", "7.2"] {
        let pol = policy(profile);
        let mut zone = Zone { trips: 1, domains: 2, ..Zone::default() };
        zone.trip[0] = Trip { temp_mc: 70_000, hyst_mc: 2000, cools: 0b10, ..Trip::default() };
        zone.trip[0].instance.iter_mut().for_each(|instance| instance.target = NO_TARGET);
        zone.cooling.iter_mut().for_each(|cooling| cooling.max_state = 5);
        for temp_mc in [70_000, 71_000] {
            zone.read(&pol, temp_mc);
            zone.step_wise(&pol);
        }
        assert_eq!((zone.cooling[0].state, zone.cooling[1].state), (0, 2), "{profile}");
        // The lower domain alone: its bit is the lowest of the trip's.
        zone.trip[0].cools = 0b11;
        zone.read(&pol, 72_000);
        zone.step_wise(&pol);
        assert_eq!((zone.cooling[0].state, zone.cooling[1].state), (1, 3), "{profile}");
    }
}

/// sched_weight_to_cgroup(): DIV_ROUND_CLOSEST_ULL(weight * 100, 1024): 10,240 and 5 are 1000.5 and 0.49, the least
/// is 1.
#[test]
fn shares_are_weights_to_the_nearest() {
    for (shares, weight) in
        [(1024, 100), (10_240, 1000), (10_245, 1000), (10_246, 1001), (5, 1), (0, 1), (15, 1), (16, 2)]
    {
        assert_eq!(weight_of_shares(shares), weight, "{shares}");
    }
}

/// fits_capacity(): cap * 1280 < max * 1024. 819 * 1280 = 1,048,320 is below 1024 * 1024 = 1,048,576.
#[test]
fn a_utilization_fits_below_four_fifths() {
    for (util, capacity, fits) in
        [(819, 1024, true), (820, 1024, false), (80, 100, false), (79, 100, true), (0, 0, false)]
    {
        assert_eq!(fits_capacity(util, capacity), fits, "{util} of {capacity}");
    }
}

/// hrtick_start() of 7.2 leaves a timer that is at most 5 us from the one that is wanted, on either side.
#[test]
fn a_timer_near_enough_stays_on_both_sides() {
    let at = 1_000_000;
    let stays = [at - 5001, at - 5000, at, at + 5000, at + 5001].map(|wanted_ns| hrtick_stays(at, wanted_ns));
    assert_eq!(stays, [false, true, true, true, false]);
}

/// Either limit may be the platform's where rises and falls have their own.
#[test]
fn one_limit_of_two_is_enough_for_a_platform_to_be_asked() {
    for (given, reads) in [
        (&[][..], true),
        (&["up_rate_limit_us"][..], true),
        (&["down_rate_limit_us"][..], true),
        (&["up_rate_limit_us", "down_rate_limit_us"][..], false),
    ] {
        let mut pol = policy("7.2");
        pol.set("gate", "up_down").expect("a gate");
        given.iter().for_each(|name| pol.set(name, "500").expect("a limit"));
        assert_eq!(pol.reads_rate_limit(), reads, "{given:?}");
    }
}

/// cpufreq_frequency_table_target(), CPUFREQ_RELATION_L: where no entry is within the limits the lowest is taken.
#[test]
fn a_limit_below_the_table_leaves_the_lowest_entry() {
    let khz = [500_000, 1_000_000];
    for (min_khz, max_khz, raw, resolved) in [
        (200_000, 400_000, 300_000, 500_000),
        (200_000, 1_000_000, 300_000, 500_000),
        (1_200_000, 1_500_000, 1_300_000, 1_000_000),
    ] {
        let sp = SugovPolicy { min_khz, max_khz, ..SugovPolicy::default() };
        assert_eq!(sp.resolve(&khz, raw), resolved, "{min_khz} to {max_khz}");
    }
}

/// sugov_start() clears cached_raw_freq; a CPU's inputs begin without clamps, whatever was there.
#[test]
fn a_governor_that_starts_again_and_new_inputs_remember_nothing() {
    for profile in ["4.12", "5.10", "6.12", "7.2"] {
        let mut sp = SugovPolicy { cached_raw_khz: 5, next_freq_khz: 7, work_in_progress: 1, ..SugovPolicy::default() };
        sp.init(&policy(profile), 1000);
        assert_eq!((sp.cached_raw_khz, sp.work_in_progress, sp.limits_changed), (0, 0, 0), "{profile}");
    }
    let rq = Rq::new(&policy("7.2"), 0, 1024, 1024);
    let mut state = CpuState { uclamp_used: 1, uclamp_min: 700, uclamp_max: 800, ..CpuState::default() };
    state.refill(&rq, 0, 0, 0);
    assert_eq!((state.uclamp_used, state.uclamp_min, state.uclamp_max), (0, 0, 1024));
}

/// 4.16 sugov_aggregate_util(): `min(util, sg_cpu->max)`: a sum of all is no more than it. From 4.19 on `if (util >=
/// max)`. A boost as large as the sum decides nothing (`boost < util` and `max()` give the sum).
#[test]
fn terms_that_just_fill_a_cpu_and_a_boost_as_large_as_they_are() {
    let why = |profile: &str, cfs: u32| {
        let state = CpuState { cap_orig: 1024, util_cfs: cfs, util_rt: 424, uclamp_max: 1024, ..CpuState::default() };
        let terms = PerfTerms { cfs, rt: 424, ..PerfTerms::default() };
        SUM_WHY[state.sum_why(&policy(profile), &terms) as usize]
    };
    assert_eq!([why("4.16", 600), why("4.16", 601)], ["terms", "capacity"]);
    assert_eq!([why("4.19", 599), why("4.19", 600)], ["terms", "capacity"]);
    let asks = |iowait: u32| {
        let state = CpuState { cap_orig: 1024, util_cfs: 300, uclamp_max: 1024, ..CpuState::default() };
        let terms = PerfTerms { cfs: 300, effective: 300, iowait, max: 1024, ..PerfTerms::default() };
        ["4.16", "5.10", "7.2"].map(|profile| ASKS_WHY[state.asks_why(&policy(profile), &terms) as usize])
    };
    assert_eq!((asks(300), asks(301)), (["sum"; 3], ["iowait boost"; 3]));
}

/// Ticks of 4 ms (250 Hz) are far apart, those of 300 Hz are not (hook.h).
#[test]
fn a_tick_is_long_from_4_ms_on() {
    assert_eq!([4 * MS, 4 * MS - 1, MS].map(|n| tick_is_long(n)), [how::LONG_TICK, 0, 0]);
}

/// sched_update_numa_imbalance() of kernel/sched/topology.c (build_sched_domains): nr_llcs = parent weight / cache
/// weight; with one `imb = parent weight >> 3`, else nr_llcs; above it times the nodes, `max(1U, span / numa_span)`.
#[test]
fn tasks_that_nodes_may_differ_by_grow_with_their_caches_and_spans() {
    let level = |shared, weight| SdLevel { shared, weight, classes: 1, distance: 0 };
    let numbers = |levels: &[SdLevel]| (0..=levels.len()).map(|at| imb_numa_nr(levels, at)).collect::<Vec<_>>();
    let llc = |weight| level(sd::SHARE_LLC, weight);
    // One cache a node: 16 >> 3 = 2; two nodes of 16 in 32, then four in 64: 64 / 32 = 2 times.
    assert_eq!(numbers(&[llc(16), level(0, 16), level(sd::NUMA, 32), level(sd::NUMA, 64)]), [0, 2, 2, 4, 0]);
    // A cache that is no smaller than what is above it counts once.
    assert_eq!(numbers(&[llc(32), level(0, 16), level(sd::NUMA, 32)]), [0, 2, 2, 0]);
    // The level right above the cache is a node's: 64 / 16 = 4 caches, and 128 / 64 = 2 times.
    assert_eq!(numbers(&[llc(16), level(sd::NUMA, 64), level(sd::NUMA, 128)]), [0, 4, 8, 0]);
    assert_eq!(numbers(&[llc(4), level(0, 16), level(0, 8), level(sd::NUMA, 32)]), [0, 4, 4, 4, 0]);
}

/// Levels beyond the 16 that a machine has at most (bounds.h) differ by nothing. Two caches of 4 CPUs in each node of
/// 8, and all above is as large as it: 8 / 4 = 2, times 8 / 8.
#[test]
fn a_level_beyond_the_most_is_none() {
    let level = |at: u32| SdLevel {
        shared: if at == 0 { sd::SHARE_LLC } else { sd::NUMA },
        weight: if at == 0 { 4 } else { 8 },
        classes: 1,
        distance: 0,
    };
    let levels: Vec<SdLevel> = (0..18).map(level).collect();
    let numbers: Vec<u32> = (0..18).map(|at| imb_numa_nr(&levels, at)).collect();
    assert_eq!((numbers[0], &numbers[1..16], &numbers[16..]), (0, &[2; 15][..], &[0; 2][..]));
}

/// An energy model has 256 states at most: the last of them is the fastest, which gives all of the capacity, and those
/// beyond are left as they were given.
#[test]
fn operating_points_beyond_the_most_are_no_states() {
    let points: Vec<(u32, u64)> = (1..=258).map(|i| (1000 * i, 1_000_000 * u64::from(i * i))).collect();
    for profile in pelton_core::profiles() {
        let model = EnergyModel::of_release(&policy(profile), &points, 1024);
        let states = model.states();
        assert_eq!([127, 255].map(|i| states[i].performance), [512, 1024], "{profile}");
        for (state, &(freq_khz, power_uw)) in states.iter().zip(&points).skip(256) {
            assert_eq!(*state, EmState { freq_khz, power_uw, ..EmState::default() }, "{profile}");
        }
    }
}
