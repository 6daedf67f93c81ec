// SPDX-License-Identifier: GPL-2.0-or-later
//! Searches for a CPU of a real-time or deadline task: the core against its slow twin.

use pelton_core::{ClassCpu, ClassSearch, ClassTask, NO_DEADLINE, Policy};
use pelton_reference::rules::{PROFILES, Rules};
use pelton_reference::select_class::{Cpu, Seeker, later, lowest};

/// Numbers of a fixed sequence.
fn next(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

fn small(seed: &mut u64, below: u32) -> u32 {
    next(seed, below.into()) as u32
}

fn machine(seed: &mut u64) -> Vec<ClassCpu> {
    let (n, busy, late) = (1 + small(seed, 90), next(seed, 100), next(seed, 100));
    let cpu = |cpu| ClassCpu {
        deadline_ns: if next(seed, 100) < late { 1 + next(seed, 1 << 40) } else { NO_DEADLINE },
        cpu,
        allowed: u32::from(next(seed, 4) > 0),
        prio: if next(seed, 100) < busy { 1 + small(seed, 99) } else { 0 },
        capacity: 1 + small(seed, 8) * 128,
        distance: small(seed, 4),
        ..ClassCpu::default()
    };
    (0..n).map(cpu).collect()
}

fn asks(seed: &mut u64, cpus: &[ClassCpu]) -> ClassTask {
    let n = cpus.len() as u32;
    let dl_deadline_ns = 1024 + next(seed, 1 << 30);
    let dl_runtime_ns = 1 + next(seed, dl_deadline_ns);
    ClassTask {
        deadline_ns: 1 + next(seed, 1 << 40),
        dl_runtime_ns,
        dl_deadline_ns,
        dl_density: (dl_runtime_ns << 20) / dl_deadline_ns,
        prio: 1 + small(seed, 99),
        uclamp_min: small(seed, 1025),
        uclamp_max: small(seed, 1025),
        nr_cpus_allowed: 1 + small(seed, 8),
        cpu: small(seed, n),
        this_cpu: small(seed, n),
        last_found: small(seed, n),
        nr_cpus: n,
        asymmetric: small(seed, 2),
        ..ClassTask::default()
    }
}

/// The task and the CPUs in the form of the twin.
fn twins(task: &ClassTask, cpus: &[ClassCpu]) -> (Seeker, Vec<Cpu>) {
    let seeker = Seeker {
        home: task.cpu,
        this: task.this_cpu,
        last: task.last_found,
        cpus: task.nr_cpus,
        asymmetric: task.asymmetric != 0,
        prio: task.prio,
        clamp: task.uclamp_min.min(task.uclamp_max).into(),
        reservation: (task.deadline_ns, task.dl_deadline_ns, task.dl_runtime_ns),
    };
    let cpu = |c: &ClassCpu| Cpu {
        number: c.cpu,
        allowed: c.allowed != 0,
        prio: (c.prio > 0).then_some(c.prio),
        deadline: (c.deadline_ns != NO_DEADLINE).then_some(c.deadline_ns),
        capacity: c.capacity.into(),
        distance: c.distance,
    };
    (seeker, cpus.iter().map(cpu).collect())
}

#[test]
fn core_and_twin_find_the_same_cpus() {
    let seed = &mut 5;
    for profile in PROFILES {
        let (pol, rules) = (Policy::profile(profile).expect("it exists"), Rules::profile(profile).expect("it exists"));
        for case in 0..5_000 {
            let cpus = machine(seed);
            let task = asks(seed, &cpus);
            let ((seeker, twin), movable) = (twins(&task, &cpus), task.nr_cpus_allowed > 1);
            let found = ClassSearch::lowest(&pol, &task, cpus.iter().copied()).lowest_rq(&task);
            assert_eq!(found, lowest(rules.rt_search, &seeker, &twin, movable), "{profile}, {case}: {task:?}");
            let found = ClassSearch::later(&pol, &task, cpus.iter().copied()).later_rq(&pol, &task);
            assert_eq!(found, later(rules.dl_search, &seeker, &twin, movable), "{profile}, {case}: {task:?}");
        }
    }
}
