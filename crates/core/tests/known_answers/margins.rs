// SPDX-License-Identifier: GPL-2.0-or-later
//! Margins that are not fixed: the numbers that their postings print.

use pelton_core::{CpuState, Policy, SugovPolicy, fits};

fn policy(margins: &str) -> Policy {
    let mut pol = Policy::profile("6.12").expect("a profile");
    pol.set("margins", margins).expect("a value");
    pol
}

/// The smallest utilization for which a CPU is too small.
fn threshold(margins: &str, capacity: u32) -> u32 {
    let pol = policy(margins);
    (0..=1025).find(|&util| !fits(&pol, util, capacity, capacity)).expect("1025 fits nowhere")
}

/// The table of Q. Yousef, 5 Feb 2024, column `threshold`.
#[test]
fn thresholds_are_those_of_the_posting_of_february_2024() {
    for (capacity, printed) in [
        (0, 0),
        (16, 0),
        (32, 1),
        (64, 4),
        (128, 18),
        (160, 26),
        (256, 73),
        (320, 114),
        (384, 163),
        (704, 557),
        (720, 578),
        (752, 633),
        (1024, 1022),
    ] {
        assert_eq!(threshold("scaled", capacity), printed, "capacity {capacity}");
    }
}

/// The form of Aug 2024 and May 2026: a tick of 4 ms before the capacity is reached. 160 is reached in 8 ms, 256 in 14,
/// 384 in 22: ramps of 4, 10 and 18 ms.
#[test]
fn thresholds_of_the_later_form_are_a_tick_below() {
    for (capacity, worked_out) in [(160, 83), (256, 195), (384, 324), (530, 481), (760, 730)] {
        assert_eq!(threshold("tick", capacity), worked_out, "capacity {capacity}");
    }
}

/// 80 % of 384 is 307.2.
#[test]
fn fixed_margins_look_at_what_is_left() {
    assert_eq!(threshold("fixed", 384), 308);
    let pol = policy("fixed");
    assert!(fits(&pol, 200, 300, 1024) && !fits(&pol, 250, 300, 1024));
    assert!(fits(&policy("tick"), 250, 300, 1024), "the others look at the whole");
}

/// 4 ms of running lead from 0 to 83, from 200 to 266, 400 to 450, 600 to 634, 800 to 818; a quarter more is 0, 250,
/// 500, 750, 1000. Clamps hold behind that.
#[test]
fn the_frequency_is_chosen_for_what_can_be_reached() {
    let perf = |margins: &str, util_cfs, uclamp_max| {
        let state = CpuState { cap_orig: 1024, util_cfs, uclamp_used: 1, uclamp_max, ..CpuState::default() };
        state.perf_eval(&policy(margins), 0).perf
    };
    for (util, reached) in [(0, 83), (200, 266), (400, 450), (600, 634), (800, 818)] {
        assert_eq!(perf("scaled", util, 1024), reached, "from {util}");
        assert_eq!(perf("tick", util, 1024), reached, "from {util}");
        assert_eq!(perf("fixed", util, 1024), util + util / 4, "from {util}");
        assert_eq!(perf("tick", util, 300), reached.min(300), "capped, from {util}");
    }
}

/// 512 + 512 * 10 / 100 = 563; to 5.10 on the frequency: (1200000 + 120000) * 512 / 1024 = 660000, and 1200000 * 563 /
/// 1024 = 659765 later. 25 is what every release has, and adds by a shift.
#[test]
fn a_headroom_may_be_any_number_of_percent() {
    for profile in pelton_core::profiles() {
        let mut pol = Policy::profile(profile).expect("a profile");
        let state = CpuState { cap_orig: 1024, util_cfs: 512, uclamp_max: 1024, ..CpuState::default() };
        let sp = SugovPolicy { ref_khz: 1_200_000, freq_invariant: 1, ..SugovPolicy::default() };
        let raw = |pol: &Policy| sp.raw_freq(pol, state.perf_eval(pol, 0).perf, 1024, false);
        assert_eq!(raw(&pol), 750_000, "{profile}");
        pol.set("headroom_pct", "10").expect("in range");
        let on_frequency = pol.get("headroom") == Ok("frequency");
        assert_eq!(raw(&pol), if on_frequency { 660_000 } else { 659_765 }, "{profile}");
        pol.set("headroom_pct", "0").expect("in range");
        assert_eq!(raw(&pol), 600_000, "{profile}");
    }
}

/// util * 1138 < 384 * 1024: below 345.5; without a margin below 384.
#[test]
fn a_cpu_may_be_filled_by_any_part() {
    let threshold = |margin: &str| {
        let mut pol = policy("fixed");
        pol.set("capacity_margin", margin).expect("in range");
        (0..=1025).find(|&util| !fits(&pol, util, 384, 384)).expect("1025 fits nowhere")
    };
    assert_eq!([threshold("1280"), threshold("1138"), threshold("1024"), threshold("2048")], [308, 346, 384, 192]);
}

#[test]
fn numbers_of_margins_out_of_range_are_refused() {
    let mut pol = policy("fixed");
    for (name, value) in [("headroom_pct", "101"), ("capacity_margin", "1023"), ("capacity_margin", "4097")] {
        assert!(pol.set(name, value).is_err(), "{name}={value}");
    }
}
