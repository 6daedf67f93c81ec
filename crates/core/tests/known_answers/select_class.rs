// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs of real-time and deadline tasks: the answers of the kernels' own code (`data/select-class.csv`) on random
//! machines that are made here from the number of a case, as they were made for that code.

use super::draw::Draw;
use pelton_core::{ClassCpu, ClassCurr, ClassSearch, ClassTask, NO_DEADLINE, Policy};

/// Profile, and the release whose code gave the answers; the texts of 5.15 are those of 6.1, of 6.8 those of 6.6.
const RELEASES: [(&str, &str); 11] = [
    ("4.12", "4.12.3"),
    ("4.16", "4.16.13"),
    ("4.19", "4.19.48"),
    ("5.4", "5.4.0"),
    ("5.10", "5.10.262"),
    ("5.15", "6.1.192"),
    ("6.1", "6.1.192"),
    ("6.6", "6.6.0"),
    ("6.8", "6.6.0"),
    ("6.12", "6.12.117"),
    ("7.2", "7.2.12"),
];

struct Case {
    task: ClassTask,
    curr: ClassCurr,
    cpus: Vec<ClassCpu>,
}

fn case(n: u64) -> Case {
    let draw = &mut Draw(n * 7919 + 13);
    let nr_cpus = 2 + draw.small(15);
    let asymmetric = draw.chance(60);
    let classes: Vec<u32> = (0..3).map(|_| if asymmetric { 100 + draw.small(925) } else { 1024 }).collect();
    let (rt, dl) = (draw.small(100), draw.small(100));
    let mut cpus: Vec<ClassCpu> = (0..nr_cpus).map(|c| cpu(draw, c, &classes, rt, dl)).collect();
    let task = task(draw, nr_cpus, asymmetric, &mut cpus);
    let home = cpus[task.cpu as usize];
    let kind = draw.below(3);
    let mut curr = ClassCurr { deadline_ns: NO_DEADLINE, prio: 0, nr_cpus_allowed: nr_cpus };
    if draw.chance(20) {
        curr.nr_cpus_allowed = 1;
    }
    match kind {
        1 => curr.prio = home.prio,
        2 => curr.deadline_ns = home.deadline_ns,
        _ => {}
    }
    distances(draw, task.cpu, &mut cpus);
    Case { task, curr, cpus }
}

fn cpu(draw: &mut Draw, cpu: u32, classes: &[u32], rt: u32, dl: u32) -> ClassCpu {
    let capacity = classes[draw.below(3) as usize];
    let prio = if draw.chance(rt.into()) { 1 + draw.small(6) * 19 } else { 0 };
    let deadline_ns =
        if draw.chance(dl.into()) { 1_000_000 + draw.below(1000) * 1000 + u64::from(cpu) } else { NO_DEADLINE };
    ClassCpu { deadline_ns, cpu, prio, capacity, ..ClassCpu::default() }
}

fn task(draw: &mut Draw, nr_cpus: u32, asymmetric: bool, cpus: &mut [ClassCpu]) -> ClassTask {
    let n = u64::from(nr_cpus);
    let mut t = ClassTask { nr_cpus, asymmetric: asymmetric.into(), cpu: draw.small(n as u32), ..ClassTask::default() };
    t.this_cpu = if draw.chance(30) { t.cpu } else { draw.small(n as u32) };
    t.last_found = draw.small(n as u32);
    let all = (1u64 << n) - 1;
    let allowed = if draw.chance(40) { all & (draw.below(1 << n) | 1 << t.cpu) } else { all };
    cpus.iter_mut().for_each(|c| c.allowed = (allowed >> c.cpu & 1) as u32);
    t.nr_cpus_allowed = allowed.count_ones();
    t.prio = 1 + draw.small(6) * 19 + draw.small(3);
    t.uclamp_min = draw.small(1025);
    t.uclamp_max = if draw.chance(50) { 1024 } else { draw.small(1025) };
    t.deadline_ns = 1_000_000 + draw.below(1000) * 1000 + 500;
    t.dl_deadline_ns = 1_000_000 + draw.below(50_000_000);
    t.dl_runtime_ns = 1024 + draw.below(t.dl_deadline_ns - 1024);
    t.dl_density = (t.dl_runtime_ns << 20) / t.dl_deadline_ns;
    t
}

/// Domains of two, four or eight, and all CPUs, of which some do not count.
fn distances(draw: &mut Draw, home: u32, cpus: &mut [ClassCpu]) {
    let middle = if draw.chance(50) { 8 } else { 4 };
    let sizes: Vec<u32> = [2, middle, 64].into_iter().filter(|_| draw.chance(90)).collect();
    for c in cpus {
        let spans = |size: &u32| c.cpu / size == home / size;
        c.distance = sizes.iter().position(spans).unwrap_or(sizes.len()) as u32;
    }
}

/// CPUs that a real-time and a deadline task select, find and leave behind, as a row of the table has them.
fn answer(profile: &str, n: u64) -> String {
    let policy = Policy::profile(profile).expect("exists");
    let Case { task, curr, cpus } = case(n);
    let home = cpus[task.cpu as usize].capacity;
    let search = ClassSearch::lowest(&policy, &task, cpus.iter().copied());
    let found = search.lowest_rq(&task);
    let looks = task.rt_looks(&policy, &curr, home);
    let rt = if looks { search.select_rt(&policy, &task, &curr) } else { task.cpu };
    let mut search = ClassSearch::later(&policy, &task, cpus.iter().copied());
    let later = search.later_rq(&policy, &task);
    let dl = later.filter(|_| task.dl_looks(&policy, &curr, home)).unwrap_or(task.cpu);
    let number = |cpu: Option<u32>| cpu.map_or(-1, i64::from);
    let last = |found: Option<u32>, deadline| found.filter(|_| task.spreads(&policy, found, deadline));
    let last = |cpu, deadline| last(cpu, deadline).unwrap_or(task.last_found);
    format!("{rt},{},{},{dl},{},{}", number(found), last(found, false), number(later), last(later, true))
}

fn rows() -> impl Iterator<Item = (&'static str, u64, &'static str)> {
    let table = include_str!("data/select-class.csv").lines().skip(1);
    table.map(|line| {
        let mut parts = line.splitn(3, ',');
        let mut next = || parts.next().expect("three parts");
        (next(), next().parse().expect("a number"), next())
    })
}

#[test]
fn real_time_and_deadline_tasks_go_where_the_kernels_own_code_sends_them() {
    let mut counted = 0;
    for (profile, n, expected) in rows() {
        let (_, release) = RELEASES.iter().find(|(p, _)| *p == profile).expect("a release");
        assert_eq!(answer(profile, n), expected, "{release}, case {n}");
        counted += 1;
    }
    assert_eq!(counted, 2250);
}

#[test]
fn a_neighbouring_release_with_other_rules_sends_them_elsewhere() {
    for (profile, other) in [("4.12", "4.16"), ("5.4", "5.10"), ("5.10", "6.1"), ("6.6", "6.12")] {
        let under = |p: &str, rules: &str| rows().filter(|r| r.0 == p && answer(rules, r.1) != r.2).count();
        assert!(under(profile, other) > 10 && under(other, profile) > 10, "{profile} and {other}");
    }
}
