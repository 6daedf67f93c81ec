// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions of one or two numbers: an example of each.

use pelton_core::{
    Policy, apply_headroom, boost_margin, decay_load, default_rate_limit_us, dl_bw, freq_scale, llc_epoch_ticks,
    perf_clamped, ramp, scale_irq, scale_load, scale_load_down, sched_dvfs_request, shares_of_weight, time_to,
    weight_of_shares,
};

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("a profile")
}

#[test]
fn signals_decay_and_rise_as_their_half_life_says() {
    assert_eq!((decay_load(47742, 32), ramp(800, 4000), time_to(512)), (23870, 818, 32));
}

#[test]
fn weights_are_scaled_and_shown_as_shares() {
    assert_eq!([0, 2, 1024].map(|n| scale_load(n)), [0, 2 << 10, 1024 << 10]);
    assert_eq!([0, 1, 3 << 10, 1024 << 10].map(|n| scale_load_down(n)), [0, 2, 3, 1024]);
    assert_eq!([100, 1].map(|n| shares_of_weight(n)), [1024, 10]);
    assert_eq!([1024, 10, 3, 262_144].map(|n| weight_of_shares(n)), [100, 1, 1, 10_000]);
}

#[test]
fn targets_have_headroom_and_leave_room_for_interrupts() {
    assert_eq!((perf_clamped(512, 0, 1024), scale_irq(512, 100, 1024)), (640, 562));
    assert_eq!(apply_headroom(&policy("6.1"), 64, 0, 1024), 80);
    assert_eq!((sched_dvfs_request(394), freq_scale(432_000, 1_200_000)), (492, 368));
    assert_eq!(boost_margin(&policy("4.12"), 1024, 394, 10), 63);
}

#[test]
fn times_become_limits_epochs_and_bandwidths() {
    assert_eq!(default_rate_limit_us(&policy("7.2"), 500_000, 0), 750);
    assert_eq!([10_000_000, 4_000_000, 1_000_000].map(|n| llc_epoch_ticks(n)), [1, 2, 10]);
    assert_eq!(dl_bw(10_000_000, 100_000_000), 104_857);
}
