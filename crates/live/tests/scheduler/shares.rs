// SPDX-License-Identifier: GPL-2.0-or-later
//! Weights and quotas of task groups: busy threads get what the groups above them are entitled to, as under the
//! kernel's own fair class, and no more time than their quotas.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::{Pid, gettid};
use pelton_live::scheduler::{Attached, Host, Machine};

use super::{POLICIES, back, cost, cycles, machine, options, run_times};

const GROUPS: &str = "/sys/fs/cgroup/cpu";
/// The group that all others are in.
const ALL: &str = "pelton-shares";
/// Most by which a thread's part of CPU 0 is another than expected; single runs differ by the half of it.
const NEAR: f64 = 0.05;
const SETTLES: Duration = Duration::from_millis(600);
const COUNTED: Duration = Duration::from_millis(1_200);

struct World {
    why: &'static str,
    /// Path, file and what is written there; one above another first.
    groups: &'static [[&'static str; 3]],
    /// Group and CPU of busy threads.
    hogs: &'static [(&'static str, usize)],
    /// Written while they run.
    later: &'static [[&'static str; 3]],
    /// Parts of CPU 0, of the threads there.
    expected: &'static [f64],
}

const WORLDS: [World; 6] = [
    World {
        why: "weights of two groups",
        groups: &[["a", "cpu.shares", "1024"], ["b", "cpu.shares", "3072"]],
        hogs: &[("a", 0), ("b", 0)],
        later: &[],
        expected: &[0.25, 0.75],
    },
    World {
        why: "a group's weight is that of all its threads",
        groups: &[["a", "cpu.shares", "1024"], ["b", "cpu.shares", "1024"]],
        hogs: &[("a", 0), ("b", 0), ("b", 0), ("b", 0)],
        later: &[],
        expected: &[0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0],
    },
    World {
        why: "groups in a group, beside a thread in none",
        groups: &[["a", "cpu.shares", "1024"], ["a/x", "cpu.shares", "1024"], ["a/y", "cpu.shares", "3072"]],
        hogs: &[("a/x", 0), ("a/y", 0), ("", 0)],
        later: &[],
        expected: &[0.125, 0.375, 0.5],
    },
    World {
        why: "an idle group",
        groups: &[["a", "cpu.idle", "1"], ["b", "cpu.shares", "1024"]],
        hogs: &[("a", 0), ("b", 0)],
        later: &[],
        expected: &[0.003, 0.997],
    },
    World {
        why: "a weight that is written while they run",
        groups: &[["a", "cpu.shares", "1024"], ["a/x", "cpu.shares", "8192"], ["b", "cpu.shares", "1024"]],
        hogs: &[("a/x", 0), ("a", 0), ("b", 0)],
        later: &[["a/x", "cpu.shares", "1024"], ["b", "cpu.shares", "2048"]],
        expected: &[1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
    },
    World {
        why: "a group whose other thread has a CPU to itself",
        groups: &[["a", "cpu.shares", "1024"], ["b", "cpu.shares", "1024"]],
        hogs: &[("a", 0), ("b", 0), ("a", 1)],
        later: &[],
        expected: &[1.0 / 3.0, 2.0 / 3.0],
    },
];

fn folder(group: &str) -> PathBuf {
    let root = Path::new(GROUPS);
    if group.is_empty() { root.to_owned() } else { root.join(ALL).join(group) }
}

fn write([group, file, value]: [&str; 3]) {
    let file = folder(group).join(file);
    fs::write(&file, value).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}

/// A busy thread, and its number.
fn hog(stop: &Arc<AtomicBool>, (group, cpu): (&'static str, usize)) -> (JoinHandle<()>, i32) {
    let (sender, number) = channel();
    let stop = Arc::clone(stop);
    let thread = std::thread::spawn(move || {
        let mut one = CpuSet::new();
        one.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &one)).expect("the CPU is there");
        fs::write(folder(group).join("tasks"), "0").expect("root");
        sender.send(gettid().as_raw()).expect("it is waited for");
        cost::busy_until(&stop);
        fs::write(Path::new(GROUPS).join("tasks"), "0").expect("root");
    });
    let number = number.recv().expect("it starts");
    (thread, number)
}

/// Time that the threads had, ms, by CPU.
fn times(world: &World) -> Vec<(usize, f64)> {
    for group in world.groups {
        fs::create_dir_all(folder(group[0])).expect("root, and the cpu controller of version 1");
        write(*group);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let hogs: Vec<_> = world.hogs.iter().map(|&of| hog(&stop, of)).collect();
    if !world.later.is_empty() {
        std::thread::park_timeout(SETTLES);
        world.later.iter().for_each(|group| write(*group));
    }
    std::thread::park_timeout(SETTLES);
    let before = run_times();
    std::thread::park_timeout(COUNTED);
    let after = run_times();
    stop.store(true, Ordering::Relaxed);
    let of = |all: &[(String, u64)], thread: i32| {
        all.iter().find(|(name, _)| *name == thread.to_string()).map_or(0, |(_, ns)| *ns)
    };
    let times = hogs.iter().zip(world.hogs).map(|((_, thread), (_, cpu))| {
        let ns = of(&after, *thread) - of(&before, *thread);
        (*cpu, ns as f64 / 1e6)
    });
    let times = times.collect();
    hogs.into_iter().for_each(|(thread, _)| thread.join().expect("it ends"));
    let folders = world.groups.iter().rev().map(|group| folder(group[0])).chain([Path::new(GROUPS).join(ALL)]);
    folders.for_each(|folder| fs::remove_dir(folder).expect("its threads have left it"));
    times
}

/// Parts that the threads of CPU 0 had of the time that they had together.
fn parts(world: &World) -> Vec<f64> {
    let times: Vec<f64> = times(world).into_iter().filter(|(cpu, _)| *cpu == 0).map(|(_, ms)| ms).collect();
    let all: f64 = times.iter().sum();
    times.iter().map(|time| time / all).collect()
}

/// Time that all threads had together, in CPUs.
fn used(world: &World) -> f64 {
    times(world).iter().map(|(_, ms)| ms / 1e3).sum::<f64>() / COUNTED.as_secs_f64()
}

/// The machine, when it has groups of the kind that is meant.
fn with_groups() -> Option<Machine> {
    let machine = machine()?;
    if folder("").join("tasks").is_file() {
        return Some(machine);
    }
    println!("not measured: weights and quotas of groups: there is no cpu controller of version 1");
    None
}

/// Results under the kernel's own fair class, in words; with PELTON_LIVE_CYCLES alone.
fn kernels<T: Debug>(worlds: &[World], of: fn(&World) -> T) -> Vec<String> {
    let words = |world: &World| cycles().map_or_else(String::new, |_| format!(", the kernel {:.3?}", of(world)));
    worlds.iter().map(words).collect()
}

#[test]
fn threads_get_what_their_groups_are_entitled_to() {
    let Some(machine) = with_groups() else { return };
    let kernel = kernels(&WORLDS, parts);
    let attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    for (world, kernel) in WORLDS.iter().zip(&kernel) {
        let core = parts(world);
        println!("scheduler: {}: {core:.3?}{kernel}", world.why);
        assert!(attached.ended().is_none(), "{}: {:?}", world.why, attached.ended());
        let is_near = core.iter().zip(world.expected).all(|(part, expected)| (part - expected).abs() < NEAR);
        assert!(is_near, "{}: {core:.3?}, expected {:.3?}", world.why, world.expected);
    }
    assert!(attached.ended().is_none(), "{:?}", attached.ended());
    drop(attached);
    back();
}

/// Groups with quotas of each 100 ms, their threads, and how many CPUs they may use.
const fn limited(
    why: &'static str,
    groups: &'static [[&'static str; 3]],
    hogs: &'static [(&'static str, usize)],
    cpus: &'static [f64],
) -> World {
    World { why, groups, hogs, later: &[], expected: cpus }
}

const QUOTAS: [World; 4] = [
    limited("a quota", &[["a", "cpu.cfs_quota_us", "20000"]], &[("a", 0)], &[0.2]),
    limited("a quota of two CPUs", &[["a", "cpu.cfs_quota_us", "60000"]], &[("a", 0), ("a", 1), ("a", 1)], &[0.6]),
    limited(
        "a quota in a quota",
        &[["a", "cpu.cfs_quota_us", "30000"], ["a/x", "cpu.cfs_quota_us", "20000"], ["a/y", "cpu.shares", "1024"]],
        &[("a/x", 0), ("a/y", 1)],
        &[0.3],
    ),
    limited(
        "a quota that is smaller than a tick, of three threads",
        &[["a", "cpu.cfs_quota_us", "2000"]],
        &[("a", 0), ("a", 0), ("a", 1)],
        &[0.02],
    ),
];

#[test]
fn groups_use_no_more_than_their_quotas() {
    let Some(machine) = with_groups() else { return };
    let kernel = kernels(&QUOTAS, used);
    let attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    for (world, kernel) in QUOTAS.iter().zip(&kernel) {
        let core = used(world);
        println!("scheduler: {}: {core:.3} CPUs{kernel}", world.why);
        assert!((core - world.expected[0]).abs() < NEAR, "{}: {core}", world.why);
    }
    // What has no quota has the rest.
    let beside = World { hogs: &[("a", 0), ("", 0)], expected: &[0.2, 0.8], ..QUOTAS[0] };
    let core = parts(&beside);
    assert!(core.iter().zip(beside.expected).all(|(part, expected)| (part - expected).abs() < NEAR), "{core:?}");
    assert!(attached.ended().is_none(), "{:?}", attached.ended());
    drop(attached);
    back();
}
