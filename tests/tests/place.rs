// SPDX-License-Identifier: GPL-2.0-or-later
//! Choice of the CPU of a waking task: the core against its slow twin.

use pelton_core::{CfsRq, Policy, Se, TaskGroup, Wake, WakeShift, effective_load, h_load, wake_affine, wake_wide};
use pelton_reference::place::{self, WakeAffine};

/// Numbers of a fixed sequence.
fn next(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

/// Loads of few values, so that both sides are often close.
fn wake(seed: &mut u64) -> Wake {
    let load = |seed: &mut u64| next(seed, 6) * 1024 + next(seed, 2) * next(seed, 88_761);
    Wake {
        this_load: load(seed),
        prev_load: load(seed),
        task_load: load(seed),
        waker_load: load(seed),
        this_capacity: [1024, 1024, 446][next(seed, 3) as usize],
        prev_capacity: [1024, 1024, 446][next(seed, 3) as usize],
        siblings: next(seed, 2) as u32,
        sync: next(seed, 2) as u32,
        this_idle: u32::from(next(seed, 4) == 0),
        prev_idle: u32::from(next(seed, 3) == 0),
        this_running: next(seed, 4) as u32,
        far: next(seed, 2) as u32,
    }
}

fn twin(wake: &Wake) -> place::Wake {
    place::Wake {
        load: [wake.this_load.into(), wake.prev_load.into()],
        capacity: [wake.this_capacity.into(), wake.prev_capacity.into()],
        task: wake.task_load.into(),
        waker: wake.waker_load.into(),
        siblings: wake.siblings != 0,
        sync: wake.sync != 0,
        this_idle: wake.this_idle != 0,
        prev_idle: wake.prev_idle != 0,
        running: wake.this_running.into(),
        far: wake.far != 0,
    }
}

#[test]
fn core_and_twin_draw_the_same_tasks() {
    let seed = &mut 3;
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "6.1", "7.2"] {
        let policy = Policy::profile(profile).expect("exists");
        let rule = WakeAffine::of(policy.get("wake_affine").expect("a switch")).expect("known");
        let mut drawn = 0;
        for _ in 0..100_000 {
            let wake = wake(seed);
            let expected = place::affine(rule, &twin(&wake));
            assert_eq!(wake_affine(&policy, &wake), expected, "{profile} {wake:?}");
            drawn += u32::from(expected);
        }
        assert!((10_000..90_000).contains(&drawn), "{profile}: both answers occur, {drawn}");
    }
}

#[test]
fn core_and_twin_keep_the_same_tasks_apart() {
    let seed = &mut 5;
    for _ in 0..100_000 {
        let [a, b, size] = [80, 80, 9].map(|below| next(seed, below) as u32);
        assert_eq!(wake_wide(a, b, size), place::wide([a.into(), b.into()], size.into()), "{a} {b} {size}");
    }
}

#[test]
fn core_and_twin_shift_the_same_load() {
    let seed = &mut 7;
    for _ in 0..100_000 {
        let [queue, contrib, total, entity] = [90_000, 3000, 200_000, 3000].map(|below| next(seed, below));
        let shares = [2, 1024, 262_144][next(seed, 3) as usize];
        let [own, all] = [next(seed, 3), next(seed, 3)].map(|sign| (sign as i64 - 1) * next(seed, 100_000) as i64);
        let mut cfs = CfsRq { tg_load_avg_contrib: contrib, ..CfsRq::default() };
        cfs.avg.load_avg = queue;
        let mut se = Se::default();
        se.avg.load_avg = entity;
        let group = place::GroupLoad {
            queue: queue.into(),
            contrib: contrib.into(),
            total: total.into(),
            shares: shares.into(),
            entity: entity.into(),
        };
        let here = effective_load(&cfs, &TaskGroup { load_avg: total, shares }, &se, own, all);
        assert_eq!(i128::from(here), place::effective_load(&group, own.into(), all.into()), "{group:?} {own} {all}");
        assert_eq!(u128::from(h_load(queue, entity, total)), place::h_load(queue.into(), entity.into(), total.into()));
    }
}

#[test]
fn core_and_twin_read_groups_alike() {
    let seed = &mut 9;
    for _ in 0..100_000 {
        let mut wake = wake(seed);
        let [a, b, c, d] = [(); 4].map(|()| next(seed, 20_000) as i64 - 10_000);
        let twin_says = place::in_groups(&twin(&wake), [a.into(), b.into()], [c.into(), d.into()]);
        wake.in_groups(WakeShift { waker_here: a, waker_there: b, task_here: c, task_there: d });
        assert_eq!(twin(&wake), twin_says);
    }
}

#[test]
fn core_and_twin_give_a_weight_the_same_shares() {
    for weight in 1..=10_000 {
        let twin = pelton_reference::group::shares_of_weight(weight.into());
        assert_eq!(pelton_core::shares_of_weight(weight), twin);
    }
}
