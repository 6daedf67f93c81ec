// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle governors of each release, from drivers/cpuidle/governors/{ladder,menu,teo,haltpoll}.c.

use pelton_core::{CpuState, IdleNow, IdleState, IdleTable, Menu, Policy, Teo, value};

/// The governors that each release registers with their `.rating`, on a kernel whose tick stops (ladder has 25 where it
/// never does, init_ladder). cpuidle_register_governor() of drivers/cpuidle/governor.c takes a new one when its rating
/// is higher than that of the one in place.
#[test]
fn the_idle_governor_of_a_kernel_with_all_is_menu() {
    const OLD: &[(u32, &str)] = &[(10, "ladder"), (20, "menu")];
    const NEW: &[(u32, &str)] = &[(10, "ladder"), (20, "menu"), (19, "teo"), (9, "haltpoll")];
    let releases = [
        ("4.12", OLD),
        ("4.16", OLD),
        ("4.19", OLD),
        ("5.4", NEW),
        ("5.10", NEW),
        ("5.15", NEW),
        ("6.1", NEW),
        ("6.6", NEW),
        ("6.8", NEW),
        ("6.12", NEW),
        ("6.18", NEW),
        ("7.2", NEW),
    ];
    for (profile, governors) in releases {
        let (_, best) = governors.iter().max_by_key(|g| g.0).expect("not empty");
        let chosen = match Policy::profile(profile).expect("exists").idle_governor {
            value::IDLE_GOVERNOR_MENU => "menu",
            value::IDLE_GOVERNOR_TEO => "teo",
            _ => "no kernel's",
        };
        assert_eq!(chosen, *best, "{profile}");
    }
}

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const TICK: u64 = 4 * MS;
const ALL: [&str; 12] = ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

/// Exit latency and residency in us.
pub(super) fn table(polling: u32, states: &[(u64, u64)]) -> IdleTable {
    let mut table = IdleTable { count: states.len() as u32, polling, ..IdleTable::default() };
    for (row, &(exit, residency)) in table.states.iter_mut().zip(states) {
        *row = IdleState { exit_ns: exit * US, residency_ns: residency * US };
    }
    table
}

pub(super) fn arm() -> IdleTable {
    table(0, &[(1, 1), (950, 1000), (1700, 2700)])
}

/// The tick runs, its next is half a tick away, latency is not limited.
pub(super) fn now(sleep_ns: u64) -> IdleNow {
    let event_ns = sleep_ns.min(TICK / 2);
    IdleNow { sleep_ns, event_ns, tick_ns: TICK, latency_ns: u64::MAX, ..IdleNow::default() }
}

fn stopped(sleep_ns: u64, event_ns: u64) -> IdleNow {
    IdleNow { tick_stopped: 1, event_ns, ..now(sleep_ns) }
}

pub(super) fn menu(interval_us: [u32; 8]) -> Menu {
    Menu { interval_us, ..Menu::default() }
}

/// State and tick that the form of each profile chooses.
fn chosen(governor: &Menu, table: &IdleTable, now: &IdleNow) -> Vec<(&'static str, (u32, u32))> {
    let choose = |profile| {
        let choice = governor.clone().select(&Policy::profile(profile).expect("exists"), table, now);
        (profile, (choice.state, choice.stop_tick))
    };
    ALL.into_iter().map(choose).collect()
}

/// Asserts the choice of each profile, in the order of the profiles.
fn expect(governor: &Menu, table: &IdleTable, now: &IdleNow, answers: [(u32, u32); 12]) {
    let wanted: Vec<_> = ALL.into_iter().zip(answers).collect();
    assert_eq!(chosen(governor, table, now), wanted);
}

/// get_typical_interval(): one stay of 10 us among seven of 5000. Mean 35,010 / 8 = 4376; the squares of the distances
/// are 7 * 624^2 + 4366^2 = 21,787,588, an eighth of it 2,723,448: no agreement. To 6.12 the longest are dropped, seven
/// at once, and the one that is left agrees with itself: 10. From 6.18 the one that is farthest, as 4376 - 10 > 5000 -
/// 4376: 5000.
#[test]
fn menu_form_of_6_18_drops_short_outliers_too() {
    let stays = menu([5000, 5000, 5000, 5000, 5000, 5000, 5000, 10]);
    for profile in ALL {
        let expected = if ["6.18", "7.2"].contains(&profile) { 5000 } else { 10 };
        let typical = stays.typical_us(&Policy::profile(profile).expect("exists"), u32::MAX);
        assert_eq!(typical, Some(expected), "{profile}");
    }
}

/// get_typical_interval(): 5.4 (menu.c:210), 5.10 and 6.1 give up when the shortest stay is no shorter than what the
/// timer lets expect; 4.12 to 4.19 and 6.6 and later do not ask. Eight stays of 0: up to 4.19 they agree; to 6.1 they
/// are shorter than 1; from 6.6 `max` is 0.
#[test]
fn menu_form_decides_which_stays_are_not_looked_at() {
    for (profile, late, zero) in [
        ("4.12", Some(300), Some(0)),
        ("4.16", Some(300), Some(0)),
        ("4.19", Some(300), Some(0)),
        ("5.4", None, Some(0)),
        ("5.10", None, Some(0)),
        ("5.15", None, Some(0)),
        ("6.1", None, Some(0)),
        ("6.6", Some(300), None),
        ("6.8", Some(300), None),
        ("6.12", Some(300), None),
        ("6.18", Some(300), None),
        ("7.2", Some(300), None),
    ] {
        let policy = Policy::profile(profile).expect("exists");
        assert_eq!(menu([300; 8]).typical_us(&policy, 300), late, "{profile}");
        assert_eq!(menu([0; 8]).typical_us(&policy, 1), zero, "{profile}");
    }
}

/// menu_select(): stays of 300 us, the tick stopped, a timer in 7 ms, the next event in 3 ms.
/// 4.12 and 4.16 know nothing of the tick: 300 us, state 0. 4.19, 5.4 and 5.10: below a tick, so the event: 3 ms,
/// state 2. 6.1 to 6.18: the timer: 7 ms, state 2. 7.2: the timer is within two ticks of 4 ms: 300 us, state 0. With
/// the event in 2 ms, 4.19 to 5.10 choose state 1 (1 ms <= 2 ms < 2.7 ms).
#[test]
fn menu_form_decides_what_a_stopped_tick_trusts() {
    let (no, deep, safe) = ((0, 1), (2, 1), (0, 1));
    let at = |event_ns| stopped(7 * MS, event_ns);
    expect(&menu([300; 8]), &arm(), &at(3 * MS), [no, no, deep, deep, deep, deep, deep, deep, deep, deep, deep, safe]);
    let middle = (1, 1);
    expect(
        &menu([300; 8]),
        &arm(),
        &at(2 * MS),
        [no, no, middle, middle, middle, deep, deep, deep, deep, deep, deep, safe],
    );
}

/// menu_select(): a timer in 20 ms and nothing learnt: 20 ms are predicted. One task waits for I/O: the exit latency
/// may be 20 ms / 11 = 1818 us to 6.6, more than 1700: state 2. Two: 20 / 21 = 952 us: state 1 (950 <= 952). From 6.12
/// that is not asked. 4.19 gives the residency of the state as the reason of the tick: 1 ms, so the tick goes on; the
/// others stop it.
#[test]
fn menu_form_to_6_6_waits_for_io() {
    let fresh = menu([u32::MAX - 1; 8]);
    let wait = |iowaiters| IdleNow { iowaiters, ..now(20 * MS) };
    expect(&fresh, &arm(), &wait(1), [(2, 1); 12]);
    let (one, two) = ((1, 1), (2, 1));
    expect(&fresh, &arm(), &wait(2), [one, one, (1, 0), one, one, one, one, one, one, two, two, two]);
}

/// menu_select(): polling with C1 (exit 2 us, residency 20 us), stays of 10 us, a timer in 20 ms.
/// 4.12: a timer beyond 20 us and no latency limit: it starts with C1, untested. 4.16 and 4.19 start with C1 too, and
/// stay there as 20 > 10 ends the search. 5.4 and 5.10 and 6.1: C1's exit of 2 us is within 10 us, so it replaces
/// polling. 6.6: the same. 6.12: 20 us are not below 15 us: polling goes on. 6.18: C1. 7.2: as 6.12. Only to 4.16 is
/// the tick stopped.
#[test]
fn menu_form_decides_when_polling_gives_way() {
    let polling = table(1, &[(0, 0), (2, 20), (100, 500)]);
    let (c1, poll) = ((1, 0), (0, 0));
    expect(&menu([10; 8]), &polling, &now(20 * MS), [(1, 1), (1, 1), c1, c1, c1, c1, c1, c1, c1, poll, c1, poll]);
}

/// menu_select() of 5.4 and before counts whole us: a residency of 1000.9 us is 1000, and a timer in 1000.1 us too.
#[test]
fn menu_form_to_5_4_counts_whole_microseconds() {
    let mut states = table(0, &[(1, 1), (10, 1000)]);
    states.states[1].residency_ns += 900;
    let (pays, not) = ((1, 0), (0, 1));
    let at = IdleNow { event_ns: 1_000_100, ..now(1_000_100) };
    let fresh = menu([u32::MAX - 1; 8]);
    expect(&fresh, &states, &at, [(1, 1), (1, 1), pays, pays, not, not, not, not, not, not, not, not]);
}

/// State and tick that teo of each profile chooses; no stay is learnt from.
fn expect_teo(governor: &Teo, table: &IdleTable, now: &IdleNow, answers: [(u32, u32); 12]) {
    let choose = |profile| {
        let choice = governor.clone().select(&Policy::profile(profile).expect("exists"), table, now);
        (profile, (choice.state, choice.stop_tick))
    };
    let wanted: Vec<_> = ALL.into_iter().zip(answers).collect();
    assert_eq!(ALL.map(choose).to_vec(), wanted);
}

/// Record of teo of a profile after a stay of `stay_ns` in state 1, chosen with a timer in 20 ms.
fn learnt(profile: &str, table: &IdleTable, stay_ns: u64) -> Teo {
    let mut teo = Teo { total: 1024, sleep_ns: 20 * MS, ..Teo::default() };
    teo.hits[2] = 1024;
    teo.last.woke(stay_ns, 1, 0);
    let _ = teo.select(&Policy::profile(profile).expect("exists"), table, &now(20 * MS));
    teo
}

/// teo_select() of 5.4 and 5.10: a timer in 20 ms, so state 2, which missed more often than it hit. Early hits 512,
/// 256, 1024. 5.4 takes the state with most of them, 2 again, and expects its 2.7 ms: below a tick of 4 ms, and the
/// next event is in 2 ms, so state 1. 5.10 takes the best before the candidate, 0. To 4.19 there is no teo; theirs is
/// that of 5.4.
#[test]
fn teo_form_to_5_10_takes_the_state_with_most_early_hits() {
    let mut teo = Teo { total: 1, ..Teo::default() };
    teo.misses[2] = 1024;
    teo.intercepts[..3].copy_from_slice(&[512, 256, 1024]);
    for (profile, answer) in [("4.12", (1, 0)), ("4.19", (1, 0)), ("5.4", (1, 0)), ("5.10", (0, 0))] {
        let choice = teo.clone().select(&Policy::profile(profile).expect("exists"), &arm(), &now(20 * MS));
        assert_eq!((choice.state, choice.stop_tick), answer, "{profile}");
    }
}

/// teo_update() of 5.4 wraps its place of nine when it is beyond 8, and keeps eight stays; 5.10 wraps at 8.
/// A stay of 1000.9 us in state 1 (exit 950 us): 5.4 counts 1000 - 475 = 525 us, 5.10 has 525.9 us.
#[test]
fn teo_form_of_5_4_counts_whole_microseconds_and_loses_the_ninth_stay() {
    for (profile, length, next) in [("5.4", 525_000, 8), ("5.10", 525_900, 0)] {
        let mut teo = Teo { total: 1, sleep_ns: 20 * MS, position: 7, ..Teo::default() };
        teo.last.woke(1_000_900, 1, 0);
        let policy = Policy::profile(profile).expect("exists");
        let _ = teo.select(&policy, &arm(), &now(20 * MS));
        assert_eq!((teo.early[7], teo.position), (length + 1, next), "{profile}");
        teo.last.woke(2_000_000, 1, 0);
        let _ = teo.select(&policy, &arm(), &now(20 * MS));
        let place = if next == 8 { 0 } else { 2_000_000 - 475_000 + 1 };
        assert_eq!((teo.early[0], teo.position), (place, (next + 1) % 9), "{profile}");
    }
}

/// teo_select() of 6.1 and 6.6: five of the last nine stays were intercepts of state 0, more than 9 / 2, although 8192
/// hits speak for state 2. 5.10 has no such list, 6.12 dropped it.
#[test]
fn teo_form_of_6_1_and_6_6_trusts_the_last_nine_stays() {
    let mut teo = Teo { total: 8192, ..Teo::default() };
    teo.hits[2] = 8192;
    teo.recent[0] = 5;
    teo.recent_bin[..5].copy_from_slice(&[1; 5]);
    let (deep, up) = ((2, 1), (0, 0));
    expect_teo(&teo, &arm(), &now(20 * MS), [deep, deep, deep, deep, deep, up, up, up, up, deep, deep, deep]);
}

/// teo_select() of 6.6, teo_cpu_is_utilized(): all stays hit state 2, the CPU is busy: state 1, and a timer in 20 ms
/// stops the tick. With two states it takes state 0 at once. No other release asks.
#[test]
fn teo_form_of_6_6_goes_up_when_the_cpu_is_busy() {
    let mut teo = Teo { total: 1024, ..Teo::default() };
    teo.hits[2] = 1024;
    let (deep, up) = ((2, 1), (1, 1));
    expect_teo(&teo, &arm(), &now(20 * MS), [deep; 12]);
    let busy = IdleNow { utilized: 1, ..now(20 * MS) };
    expect_teo(&teo, &arm(), &busy, [deep, deep, deep, deep, deep, deep, deep, up, up, deep, deep, deep]);
    let two = table(0, &[(1, 1), (950, 1000)]);
    let mut hits = Teo { total: 1024, ..Teo::default() };
    hits.hits[1] = 1024;
    let (last, first) = ((1, 1), (0, 0));
    expect_teo(&hits, &two, &busy, [last, last, last, last, last, last, last, first, first, last, last, last]);
}

/// effective_cpu_util() of 6.6 with ENERGY_UTIL: fair, real-time and deadline load, then what interrupts leave of it.
/// Of 1024: 16 are a 64th, not more. 10 + 3 + 4 = 17 are. 8 + 8 of 1024 with 100 of interrupts: 16 * 924 / 1024 + 100 =
/// 114.
#[test]
fn a_cpu_is_utilized_above_a_64th_of_its_capacity() {
    let policy = Policy::profile("6.6").expect("exists");
    let cpu = |util_cfs, util_rt, util_dl, util_irq| {
        CpuState { cap_orig: 1024, util_cfs, util_rt, util_dl, util_irq, ..CpuState::default() }.is_utilized(&policy)
    };
    assert!(!cpu(16, 0, 0, 0) && cpu(17, 0, 0, 0));
    assert!(!cpu(9, 3, 4, 0) && cpu(10, 3, 4, 0) && cpu(8, 8, 0, 100));
}

/// teo_update() of 6.6 and 6.12: the deepest state pays from 2.7 ms, below a tick of 4 ms; a stay that reached its
/// timer of 20 ms hits the bin beyond the tick, and hits[2] only loses its eighth. 6.1, 6.18 and 7.2 have no such bin.
#[test]
fn teo_form_of_6_6_and_6_12_has_a_bin_beyond_the_tick() {
    for (profile, hits, beyond) in [
        ("5.15", 1920, 0),
        ("6.1", 1920, 0),
        ("6.6", 896, 1024),
        ("6.8", 896, 1024),
        ("6.12", 896, 1024),
        ("6.18", 1920, 0),
    ] {
        let teo = learnt(profile, &arm(), 20 * MS);
        assert_eq!((teo.hits[2], teo.tick_hits), (hits, beyond), "{profile}");
        assert_eq!(teo.total, 1920, "{profile}");
    }
}

/// teo_update() of 6.18.2 counts an intercept among those of the tick when a tick is no longer than the stay, 7.2.12
/// when the stay is no longer than a tick. States of 500 us and 10 ms: both stays are intercepts of state 1.
#[test]
fn teo_form_of_6_18_counts_stays_beyond_a_tick() {
    let far = table(0, &[(1, 1), (100, 500), (1000, 10_000)]);
    for (profile, long, short) in [("6.12", 0, 0), ("6.18", 1024, 0), ("7.2", 0, 1024)] {
        let counted = |stay_ns| learnt(profile, &far, stay_ns);
        let (six, two) = (counted(6 * MS), counted(2 * MS));
        assert_eq!((six.intercepts[1], two.intercepts[1]), (1024, 1024), "{profile}");
        assert_eq!((six.tick_intercepts, two.tick_intercepts), (long, short), "{profile}");
    }
}
