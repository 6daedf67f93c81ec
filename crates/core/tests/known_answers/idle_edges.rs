// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle governors where two times are equal, or a list is full.

use super::idle::{arm, menu, now, table};
use pelton_core::{IdleNow, IdleTable, Policy, Teo};

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const UNKNOWN: u64 = i64::MAX as u64;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// State and tick that teo of a profile chooses.
fn teo(profile: &str, teo: &mut Teo, table: &IdleTable, now: &IdleNow) -> (u32, u32) {
    let choice = teo.select(&policy(profile), table, now);
    (choice.state, choice.stop_tick)
}

/// menu_select(): instead of polling a state whose target_residency_ns is `< RESIDENCY_THRESHOLD_NS`, 15 us, in 6.12
/// and 7.2. Stays of 10 us; the exit of 2 us is within them.
#[test]
fn polling_gives_way_to_a_state_below_the_threshold_of_15_us() {
    for (profile, at, below) in [("6.6", 1, 1), ("6.12", 0, 1), ("6.18", 1, 1), ("7.2", 0, 1)] {
        for (residency_us, state) in [(15, at), (14, below)] {
            let polling = table(1, &[(0, 0), (2, residency_us), (100, 500)]);
            let choice = menu([10; 8]).select(&policy(profile), &polling, &now(20 * MS));
            assert_eq!(choice.state, state, "{profile}: {residency_us} us");
        }
    }
}

/// 7.2 teo_update(): a stay shorter than the exit latency counts half. Of 1 ms in a state that takes 1.7 ms to leave
/// 500 us, below the 1 ms of state 1.
#[test]
fn a_stay_shorter_than_the_way_out_counts_half() {
    let mut learns = Teo { total: 1024, sleep_ns: 20 * MS, ..Teo::default() };
    learns.last.woke(MS, 2, 0);
    teo("7.2", &mut learns, &arm(), &now(20 * MS));
    assert_eq!(learns.intercepts[..3], [1024, 0, 0]);
    assert_eq!(learns.short_idles, 1024);
}

/// 6.1 teo_update(): the oldest of nine intercepts is forgotten (`state_bins[..].recent--`), of the deepest of ten
/// states, too. The stay itself hits its timer.
#[test]
fn the_oldest_intercept_of_the_last_state_is_forgotten() {
    let ten: Vec<(u64, u64)> = (0..10).map(|i| (1, 1 + 10 * i)).collect();
    let mut full = Teo { total: 1024, sleep_ns: 20 * MS, ..Teo::default() };
    (full.recent[9], full.recent_bin[0]) = (1, 10);
    full.last.woke(20 * MS, 9, 0);
    teo("6.1", &mut full, &table(0, &ten), &now(20 * MS));
    assert_eq!((full.recent[9], full.recent_bin[0]), (0, 0));
}

/// 6.18 and 7.2 teo_select(): `2 * cpu_data->short_idles >= cpu_data->total` does without a look at the timer.
#[test]
fn half_of_all_stays_short_is_enough_not_to_look_at_timers() {
    let polling = table(1, &[(0, 0), (2, 2)]);
    for profile in ["6.18", "7.2"] {
        for (short_idles, sleep_ns) in [(512, UNKNOWN), (511, 20 * MS)] {
            let mut half = Teo { total: 1024, short_idles, ..Teo::default() };
            half.hits[1] = 1024;
            teo(profile, &mut half, &polling, &now(20 * MS));
            assert_eq!(half.sleep_ns, sleep_ns, "{profile}: {short_idles}");
        }
    }
}

/// 6.6 teo_select() of a busy CPU with two states of which the first polls: state 1, unless it does not pay within
/// delta_tick, half of a tick of 4 ms.
#[test]
fn a_busy_cpu_of_two_states_polls_when_half_a_tick_is_too_short() {
    let busy = IdleNow { utilized: 1, ..now(20 * MS) };
    for (residency_us, state) in [(2000, 1), (2001, 0), (3000, 0)] {
        let two = table(1, &[(0, 0), (100, residency_us)]);
        let mut fresh = Teo { total: 1024, ..Teo::default() };
        assert_eq!(teo("6.6", &mut fresh, &two, &busy), (state, 0), "{residency_us} us");
    }
}

/// 5.10 teo_update(): `if (drv->states[i].target_residency_ns <= measured_ns) idx_hit = i`. A stay of 1475 us in state
/// 1 is 1 ms without half of its exit latency of 950 us: state 1 was hit, before the timer's.
#[test]
fn a_stay_exactly_as_long_as_a_state_pays_hits_it() {
    for (stay_us, hit) in [(1475, 1), (1474, 0)] {
        let mut learns = Teo { total: 1, sleep_ns: 20 * MS, ..Teo::default() };
        learns.last.woke(stay_us * US, 1, 0);
        teo("5.10", &mut learns, &arm(), &now(20 * MS));
        assert_eq!(learns.intercepts[hit], 1024, "{stay_us} us");
        assert_eq!((learns.misses[2], learns.early[0]), (1024, (stay_us - 475) * US + 1), "{stay_us} us");
    }
}

/// 5.10 teo_select(): with most early hits in the candidate itself `max_early_idx = prev_max_early_idx`, which is -1
/// when there was none before: the candidate stays.
#[test]
fn the_best_early_state_before_the_candidate_may_be_none() {
    let mut missed = Teo { total: 1, ..Teo::default() };
    (missed.misses[2], missed.intercepts[2]) = (1024, 1024);
    assert_eq!(teo("5.10", &mut missed, &arm(), &now(20 * MS)), (2, 1));
    missed.intercepts[0] = 8;
    assert_eq!(teo("5.10", &mut missed, &arm(), &now(20 * MS)), (0, 0), "one before");
}

/// 5.10 teo_select(): intervals `>= duration_ns` are left out; five of eight below are more than half, and their mean
/// counts. The timer is in 2.7 ms, which state 2 needs.
#[test]
fn a_stay_one_nanosecond_shorter_than_the_timer_counts() {
    let timer_ns = 2_700_000;
    let at = IdleNow { event_ns: timer_ns, ..now(timer_ns) };
    for (before, state) in [(timer_ns - 1, 1), (timer_ns, 2)] {
        let mut early = Teo { total: 1, ..Teo::default() };
        early.hits[2] = 1024;
        early.early[..5].copy_from_slice(&[before + 1; 5]);
        assert_eq!(teo("5.10", &mut early, &arm(), &at), (state, 0), "{before} ns");
    }
}
