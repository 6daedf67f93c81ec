// SPDX-License-Identifier: GPL-2.0-or-later
//! Balance and task groups under sched_ext: steps of the core, put together as hosts do, against searches of its slow
//! twin.

use pelton_core::{cpuperf_is_followed, scx_holds_balance, scx_idle_room, scx_is_longer, scx_refill, scx_share};
use pelton_reference::scx_balance::{Seen, is_followed, part, refilled, takes_from, wakes};

/// Numbers of a fixed sequence.
fn next(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

fn cpus(seed: &mut u64) -> Vec<Seen> {
    let one = |seed: &mut u64| {
        let tasks = next(seed, 5);
        let idle = (tasks == 0 && next(seed, 4) > 0).then(|| 1 + next(seed, 4) * 341);
        Seen { tasks, runs: tasks > 0 && next(seed, 3) > 0, near: next(seed, 2) == 1, idle }
    };
    (0..2 + next(seed, 7)).map(|_| one(seed)).collect()
}

/// Host's loop over the steps.
fn longest(cpus: &[Seen], looks: usize, longer: u32, held: bool) -> Option<usize> {
    let (mut best, mut most) = (None, (0, false));
    for (i, c) in cpus.iter().enumerate().filter(|(i, _)| *i != looks && !held) {
        if scx_is_longer(c.tasks as u32, c.runs, c.near, cpus[looks].tasks as u32 + longer, most) {
            (best, most) = (Some(i), (c.tasks as u32, c.near));
        }
    }
    best
}

fn kicked(cpus: &[Seen]) -> Option<usize> {
    let (mut best, mut most) = (None, 0);
    for (i, c) in cpus.iter().enumerate() {
        let room = c.idle.map_or(0, |capacity| scx_idle_room(capacity as u32, c.near));
        if room > most {
            (best, most) = (Some(i), room);
        }
    }
    best
}

#[test]
fn steps_find_what_the_twin_finds() {
    let seed = &mut 3;
    let mut found = [0; 3];
    for _ in 0..200_000 {
        let cpus = cpus(seed);
        let (looks, longer) = (next(seed, cpus.len() as u64) as usize, 1 + next(seed, 2) as u32);
        let (energy, over) = (next(seed, 2) == 1, next(seed, 2) == 1);
        let held = scx_holds_balance(energy, over);
        assert_eq!(held, energy && !over);
        let takes = longest(&cpus, looks, longer, held);
        assert_eq!(takes, takes_from(&cpus, looks, longer.into(), held), "{looks} {longer} {cpus:?}");
        assert_eq!(kicked(&cpus), wakes(&cpus), "{cpus:?}");
        found[0] += u32::from(takes.is_some());
        found[1] += u32::from(takes.is_none());
        found[2] += u32::from(kicked(&cpus).is_some());
    }
    assert!(found.iter().all(|&n| n > 10_000), "{found:?}");
}

#[test]
fn targets_are_followed_as_the_twin_says() {
    let (seed, mut followed) = (&mut 5, [0; 2]);
    for _ in 0..200_000 {
        let reference = 1 + next(seed, 3_000_000);
        let (most, others) = (next(seed, reference + 1), next(seed, 2) * next(seed, 300));
        let is = (most * 1024 / reference + next(seed, 12)).saturating_sub(6 * next(seed, 2));
        let core = cpuperf_is_followed(is as u32, most as u32, reference as u32, others);
        assert_eq!(core, is_followed(is, most, reference, others), "{is} {most} {reference} {others}");
        followed[usize::from(core)] += 1;
    }
    assert!(followed.iter().all(|&n| n > 10_000), "{followed:?}");
}

/// A rounding of one in each level, of weights of a thousand and more.
#[test]
fn weights_of_nested_groups_are_parts_of_the_whole() {
    let seed = &mut 7;
    for _ in 0..100_000 {
        let own = 15 + next(seed, 10_000);
        let mut groups = Vec::new();
        let mut inside = own;
        for _ in 0..next(seed, 4) {
            let (shares, others) = (100 + next(seed, 10_000), next(seed, 3) * next(seed, 5_000));
            groups.push((shares, inside + others));
            inside = shares;
        }
        let core = groups.iter().fold(own << 10, |weight, &(shares, load)| scx_share(weight, shares, load as i64));
        let whole = part((own << 10) as f64, &groups.iter().map(|&(s, l)| (s as f64, l as f64)).collect::<Vec<_>>());
        assert!((core as f64 - whole).abs() <= 0.02 * whole + 2.0, "{own} {groups:?}: {core}, {whole}");
    }
}

#[test]
fn a_pool_after_many_periods_is_what_each_of_them_leaves() {
    let (seed, mut full) = (&mut 9, 0);
    for _ in 0..100_000 {
        let (quota, burst) = (1 + next(seed, 50), next(seed, 2) * next(seed, 50));
        let (left, periods) = (next(seed, 200) as i64 - 100, next(seed, 6));
        let core = i128::from(left) + i128::from(scx_refill(left, quota, burst, periods));
        let whole = refilled(left.into(), quota.into(), burst.into(), periods);
        assert_eq!(core, whole, "{left} {quota} {burst} {periods}");
        full += u32::from(core == i128::from(quota + burst));
    }
    assert!(full > 10_000, "{full}");
}
