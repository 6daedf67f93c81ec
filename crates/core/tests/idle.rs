// SPDX-License-Identifier: GPL-2.0-or-later
//! The idle governors, case by case. Figures in comments are computed by hand from the rules in the headers.

use pelton_core::{IdleChoice, IdleNow, IdleState, IdleTable, Menu, Policy, Teo, woke};

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const TICK: u64 = 4 * MS;

/// Exit latency and residency in us.
fn table(polling: bool, states: &[(u64, u64)]) -> IdleTable {
    let mut table = IdleTable { count: states.len() as u32, polling: u32::from(polling), ..IdleTable::default() };
    for (row, &(exit, residency)) in table.states.iter_mut().zip(states) {
        *row = IdleState { exit_ns: exit * US, residency_ns: residency * US };
    }
    table
}

/// The release that these pages describe, 7.2.
fn policy() -> Policy {
    Policy::profile("7.2").expect("exists")
}

fn arm() -> IdleTable {
    table(false, &[(1, 1), (950, 1000), (1700, 2700)])
}

fn skylake() -> IdleTable {
    table(true, &[(0, 0), (2, 2), (10, 20), (70, 100), (85, 200), (124, 800), (200, 800)])
}

/// The tick runs, its next is half a tick away, latency is not limited.
fn now(sleep_ns: u64) -> IdleNow {
    let event_ns = sleep_ns.min(TICK / 2);
    IdleNow { sleep_ns, event_ns, tick_ns: TICK, latency_ns: u64::MAX, ..IdleNow::default() }
}

fn choice(state: u32, stop_tick: u32) -> IdleChoice {
    IdleChoice { state, stop_tick }
}

fn with_intervals(us: [u32; 8]) -> Menu {
    Menu { interval_us: us, ..Menu::default() }
}

/// Has seen stays that ended at the timer, in the deepest state.
fn sleepy_teo(deepest: usize) -> Teo {
    let mut teo = Teo { total: 1024, ..Teo::default() };
    teo.hits[deepest] = 1024;
    teo
}

#[test]
fn typical_is_the_mean_of_stays_that_agree() {
    assert_eq!(with_intervals([100, 110, 90, 100, 105, 95, 100, 100]).typical_us(&policy(), u32::MAX), Some(100));
    // Mean 1000, deviation 100: 1000 > 6 * 100, and all 8 are kept.
    assert_eq!(
        with_intervals([900, 1100, 900, 1100, 900, 1100, 900, 1100]).typical_us(&policy(), u32::MAX),
        Some(1000)
    );
    // Deviation 200: too much. Of two values equally far away the larger is dropped, and what is left agrees.
    assert_eq!(with_intervals([800, 1200, 800, 1200, 800, 1200, 800, 1200]).typical_us(&policy(), u32::MAX), Some(800));
    assert_eq!(with_intervals([100, 200, 400, 800, 1600, 3200, 6400, 12_800]).typical_us(&policy(), u32::MAX), None);
}

#[test]
fn typical_drops_one_outlier_value_per_round_and_keeps_six() {
    assert_eq!(with_intervals([12, 11, 13, 12, 900, 12, 11, 12]).typical_us(&policy(), u32::MAX), Some(11), "83 / 7");
    assert_eq!(with_intervals([12, 11, 13, 12, 900, 12, 700, 12]).typical_us(&policy(), u32::MAX), Some(12), "72 / 6");
    assert_eq!(
        with_intervals([12, 11, 13, 500, 900, 12, 700, 12]).typical_us(&policy(), u32::MAX),
        None,
        "five would be left"
    );
}

#[test]
fn typical_drops_short_stays_when_they_are_farther_away() {
    assert_eq!(
        with_intervals([5000, 5000, 5000, 5000, 5000, 5000, 5000, 10]).typical_us(&policy(), u32::MAX),
        Some(5000)
    );
}

#[test]
fn no_stays_are_no_pattern() {
    assert_eq!(Menu::default().typical_us(&policy(), u32::MAX), None);
    assert_eq!(with_intervals([u32::MAX; 8]).typical_us(&policy(), u32::MAX), None);
}

#[test]
fn fresh_menu_believes_the_timer() {
    assert_eq!(Menu::default().select(&policy(), &arm(), &now(20 * MS)), choice(2, 1));
    // 3 ms ahead: below a tick, so the tick stays; it comes in 2 ms, and cluster sleep wants 2.7.
    assert_eq!(Menu::default().select(&policy(), &arm(), &now(3 * MS)), choice(1, 0));
    assert_eq!(
        Menu::default().select(&policy(), &arm(), &now(500 * US)),
        choice(0, 1),
        "before state 1 pays nothing is weighed"
    );
}

#[test]
fn menu_learns_which_share_of_the_timer_is_slept() {
    let mut menu = Menu::default();
    let _ = menu.select(&policy(), &arm(), &now(20 * MS));
    // 5 ms in state 2 less 1.7 ms of exit: 3.3 of 20 ms = 168 of 1024.
    menu.last.woke(5 * MS, 2, 0);
    let _ = menu.select(&policy(), &arm(), &now(20 * MS));
    assert_eq!(menu.factor[4], 8192 - 1024 + 168);
    assert_eq!(menu.interval_us[..2], [u32::MAX, 3300]);
    // A stay shorter than two exit latencies ended half-way.
    menu.last.woke(3 * MS, 2, 0);
    let _ = menu.select(&policy(), &arm(), &now(20 * MS));
    assert_eq!(menu.interval_us[2], 1500);
}

#[test]
fn a_tick_that_came_instead_of_the_event_means_a_long_stay() {
    let mut menu = Menu::default();
    let _ = menu.select(&policy(), &arm(), &now(60 * MS));
    menu.last.woke(TICK, 1, woke::TICK);
    let _ = menu.select(&policy(), &arm(), &now(60 * MS));
    assert_eq!(menu.interval_us[1], 45_000);
    assert_eq!(menu.factor[4], 8192 - 1024 + 1024 * 45 / 60);
}

#[test]
fn menu_goes_shallow_and_keeps_the_tick_where_stays_are_short() {
    let mut menu = with_intervals([300; 8]);
    assert_eq!(menu.select(&policy(), &arm(), &now(20 * MS)), choice(0, 0));
    assert_eq!(menu.next_timer_ns, 20 * MS);
    let mut menu = with_intervals([10; 8]);
    assert_eq!(menu.select(&policy(), &arm(), &now(20 * MS)), choice(0, 0));
    assert_eq!(menu.next_timer_ns, i64::MAX as u64, "no need to look");
}

#[test]
fn a_stopped_tick_distrusts_short_predictions() {
    let stopped = |sleep_ns| IdleNow { tick_stopped: 1, event_ns: sleep_ns, ..now(sleep_ns) };
    assert_eq!(with_intervals([300; 8]).select(&policy(), &arm(), &stopped(20 * MS)), choice(2, 1));
    assert_eq!(
        with_intervals([300; 8]).select(&policy(), &arm(), &stopped(7 * MS)),
        choice(0, 1),
        "that timer is near enough"
    );
}

#[test]
fn menu_prefers_a_real_state_to_polling() {
    // 5 us at least: C1 (2 us) instead of POLL, the tick stays.
    let mut menu = with_intervals([5; 8]);
    assert_eq!(menu.select(&policy(), &skylake(), &now(20 * MS)), choice(1, 0));
    // 1 us: C1 would need 2 us to wake.
    let mut menu = with_intervals([1; 8]);
    assert_eq!(menu.select(&policy(), &skylake(), &now(20 * MS)), choice(0, 0));
}

#[test]
fn latency_limits_hold_for_both_governors() {
    for (limit_us, deepest) in [(0, 0), (1, 0), (2, 1), (70, 3), (199, 5), (200, 6)] {
        let limited = IdleNow { latency_ns: limit_us * US, ..now(20 * MS) };
        assert_eq!(Menu::default().select(&policy(), &skylake(), &limited).state, deepest, "menu, {limit_us} us");
        assert_eq!(sleepy_teo(6).select(&policy(), &skylake(), &limited).state, deepest, "teo, {limit_us} us");
    }
}

#[test]
fn polling_keeps_the_tick_and_a_real_state_0_does_not() {
    let limited = IdleNow { latency_ns: 0, ..now(20 * MS) };
    assert_eq!(Menu::default().select(&policy(), &skylake(), &limited), choice(0, 0));
    assert_eq!(Menu::default().select(&policy(), &arm(), &limited), choice(0, 1));
}

#[test]
fn one_state_needs_no_governor() {
    let one = table(false, &[(1, 1)]);
    assert_eq!(Menu::default().select(&policy(), &one, &now(10 * US)), choice(0, 1));
    assert_eq!(Teo::default().select(&policy(), &one, &now(10 * US)), choice(0, 1));
}

#[test]
fn fresh_teo_believes_the_timer_where_state_0_does_not_poll() {
    assert_eq!(Teo::default().select(&policy(), &arm(), &now(20 * MS)), choice(2, 1));
    assert_eq!(
        Teo::default().select(&policy(), &skylake(), &now(20 * MS)),
        choice(0, 0),
        "its first stay of 0 is an intercept"
    );
    assert_eq!(Teo::default().select(&policy(), &arm(), &now(3 * MS)), choice(1, 0));
    assert_eq!(Teo::default().select(&policy(), &arm(), &now(500 * US)), choice(0, 0));
}

#[test]
fn teo_counts_hits_and_intercepts() {
    let mut teo = sleepy_teo(2);
    teo.hits[2] = 0;
    let _ = teo.select(&policy(), &arm(), &now(20 * MS));
    // 20.8 ms - 0.85 ms (half of the exit latency): at the timer.
    teo.last.woke(20_800 * US, 2, 0);
    let _ = teo.select(&policy(), &arm(), &now(20 * MS));
    assert_eq!((teo.hits, teo.intercepts[..3].to_vec()), ([0, 0, 1024, 0, 0, 0, 0, 0, 0, 0], vec![0; 3]));
    // 2 ms - 0.85 ms: in the bin of state 1, long before the timer and within a tick.
    teo.last.woke(2 * MS, 2, 0);
    let _ = teo.select(&policy(), &arm(), &now(20 * MS));
    assert_eq!((teo.hits[2], teo.intercepts[1], teo.tick_intercepts), (896, 1024, 1024));
    assert_eq!(teo.total, 896 + 1024);
}

#[test]
fn teo_goes_where_most_stays_ended() {
    let mut teo = Teo::default();
    for round in 0..8 {
        let chosen = teo.select(&policy(), &arm(), &now(20 * MS));
        // 2 * 1024 > 1024 after the first intercept.
        assert_eq!(chosen.state, if round == 0 { 2 } else { 1 }, "round {round}");
        // Woken after about 1.5 ms.
        teo.last.woke(1500 * US + 475 * US, chosen.state, 0);
    }
    // Two thirds of all stays end within a tick, so the tick stays.
    assert_eq!(teo.select(&policy(), &arm(), &now(20 * MS)), choice(1, 0));
}

#[test]
fn teo_does_not_look_at_timers_for_short_stays() {
    let mut teo = Teo::default();
    for _ in 0..3 {
        let chosen = teo.select(&policy(), &skylake(), &now(20 * MS));
        teo.last.woke(5 * US, chosen.state, 0);
    }
    assert_eq!(teo.select(&policy(), &skylake(), &now(20 * MS)), choice(1, 0));
    assert_eq!(teo.sleep_ns, i64::MAX as u64);
}

#[test]
fn ticks_that_dominate_push_teo_deep() {
    let mut teo = Teo::default();
    for _ in 0..4 {
        let _ = teo.select(&policy(), &arm(), &now(20 * MS));
        teo.last.woke(TICK, 1, woke::TICK);
    }
    assert_eq!(teo.select(&policy(), &arm(), &now(20 * MS)), choice(2, 1));
    assert!(teo.hits[2] > 3000 && teo.intercepts.iter().all(|&i| i == 0), "{teo:?}");
}

#[test]
fn endless_sleeps_stay_in_range() {
    let mut menu = Menu::default();
    assert_eq!(menu.select(&policy(), &arm(), &now(u64::MAX)), choice(2, 1));
    menu.last.woke(u64::MAX, u32::MAX, u32::MAX);
    let _ = menu.select(&policy(), &arm(), &now(u64::MAX));
    let mut teo = Teo::default();
    assert_eq!(teo.select(&policy(), &arm(), &now(u64::MAX)), choice(2, 1));
    teo.last.woke(u64::MAX, u32::MAX, u32::MAX);
    let _ = teo.select(&policy(), &arm(), &now(u64::MAX));
}
