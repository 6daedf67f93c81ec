// SPDX-License-Identifier: GPL-2.0-or-later
//! Balance by loads, up to 5.4: what the kernels' own code gave (`data/balance-loads.csv`, `data/cpu-load.csv`) on
//! random machines that are made here from the number of a case, as they were made for that code.

use super::draw::Draw;
use pelton_core::{CpuLoad, Lb, LbEnv, Placement, Policy, balance_idle, sd};

const RELEASES: [(&str, &str); 4] = [("4.12.3", "4.12"), ("4.16.13", "4.16"), ("4.19.48", "4.19"), ("5.4", "5.4")];

/// Two groups of CPUs; the first may be smaller CPUs.
struct Machine {
    half: u32,
    unequal: bool,
    /// Of the domain that is balanced.
    level: u32,
    spreads: bool,
    pct: u32,
    /// The release knows unequal CPUs.
    misfits: bool,
}

fn case(n: u64, release: &str) -> (Placement, LbEnv, u32) {
    let mut draw = Draw(n * 7919 + 13);
    let mut m = Placement { nr_cpus: 8, ..Placement::default() };
    let level = draw.below(2) as u32;
    let half = if draw.chance(70) { 4 } else { 2 };
    let (unequal, misfits) = (draw.chance(40), release == "5.4");
    m.asymmetric = unequal.into();
    m.energy_aware = (misfits && draw.chance(15)).into();
    m.overutilized = draw.chance(50).into();
    let spreads = draw.chance(60);
    let pct = if draw.chance(50) { 117 } else { 125 };
    let machine = Machine { half, unequal, level, spreads, pct, misfits };
    (0..8).for_each(|c| cpu(&mut draw, &machine, &mut m, c));
    if unequal && misfits && level == 0 && n.is_multiple_of(3) {
        m.cpus[..8].iter_mut().for_each(|cpu| cpu.domains[0].flags |= sd::ASYM_CPUCAPACITY);
    }
    let imbalanced: Vec<u32> = (0..64).map(|_| draw.chance(8).into()).collect();
    (0..8).for_each(|c| groups(&mut m, &imbalanced, half, c));
    let (dst_cpu, idle) = (draw.below(8) as u32, draw.below(3) as u32);
    let span = m.cpus[dst_cpu as usize].domains[level as usize].span;
    let mut env = LbEnv { cpus: span, dst_cpu, level, idle, cache_nice_tries: 1, ..LbEnv::default() };
    if !draw.chance(80) {
        env.cpus &= draw.below(u64::MAX) | 1 << dst_cpu;
    }
    (m, env, draw.below(6) as u32)
}

/// Tasks, loads and capacity of a CPU.
fn cpu(draw: &mut Draw, machine: &Machine, m: &mut Placement, c: u32) {
    let out = &mut m.cpus[c as usize];
    let orig = if machine.unequal && c < machine.half { 200 + draw.below(600) as u32 } else { 1024 };
    out.capacity = if draw.chance(50) { orig } else { 1 + draw.below(u64::from(orig)) as u32 };
    let fair = if draw.chance(30) {
        0
    } else {
        let most = if draw.chance(80) { 4 } else { 20 };
        draw.below(most) as u32
    };
    (out.h_nr_queued, out.h_nr_runnable, out.nr_running) = (fair, fair, fair + u32::from(draw.chance(15)));
    out.load = match fair {
        0 if draw.chance(20) => draw.below(300),
        0 => 0,
        _ if draw.chance(50) => u64::from(fair) * 1024,
        _ => draw.below(u64::from(fair) * 2000 + 1),
    };
    let mut faded = [0; 5];
    faded.iter_mut().for_each(|load| *load = if draw.chance(40) { out.load } else { draw.below(5000) });
    out.cpu_load.copy_from_slice(&faded[..4]);
    if machine.misfits && machine.unequal && draw.chance(10) {
        out.misfit_load = draw.below(1500) as u32;
    }
    out.state.cap_orig = orig;
    out.state.util_cfs = draw.below(u64::from(orig) + 200) as u32;
    out.state.uclamp_max = 1024;
    out.curr_idle = (out.nr_running == 0 && !draw.chance(10)).into();
    out.threads = 1 << c;
    domains(machine, m, c);
}

fn domains(machine: &Machine, m: &mut Placement, c: u32) {
    let out = &mut m.cpus[c as usize];
    let first = (1 << machine.half) - 1;
    out.nr_domains = 2;
    out.domains[0].span = if c < machine.half { first } else { 0xff & !first };
    out.domains[1].span = 0xff;
    out.domains[0].flags = sd::SHARE_LLC | if machine.spreads { sd::PREFER_SIBLING } else { 0 };
    out.domains[1].flags = if machine.misfits && machine.unequal { sd::ASYM_CPUCAPACITY } else { 0 };
    for domain in &mut out.domains[..2] {
        domain.imbalance_pct = machine.pct;
    }
    debug_assert!(machine.level < 2, "two domains");
}

/// Fills in the sums of the groups of a CPU, and marks those that were kept out of balance.
fn groups(m: &mut Placement, imbalanced: &[u32], half: u32, c: u32) {
    let own = m.cpus[c as usize].domains[0].span;
    for (level, span) in [(0, 1 << c), (1, own)] {
        let of: Vec<u32> = (0..8).filter(|o| span >> o & 1 == 1).map(|o: usize| m.cpus[o].capacity).collect();
        let domain = &mut m.cpus[c as usize].domains[level];
        domain.group_capacity = of.iter().sum();
        domain.group_min_capacity = of.iter().copied().min().unwrap_or(0);
        domain.group_max_capacity = of.iter().copied().max().unwrap_or(0);
        domain.group_imbalance = imbalanced[if level == 0 {
            c
        } else if c < half {
            0
        } else {
            half
        } as usize];
    }
}

/// Group, imbalance, queue and active balance, as a row of the table has them.
fn answer(profile: &str, release: &str, n: u64) -> String {
    let policy = Policy::profile(profile).expect("exists");
    let (m, mut env, failed) = case(n, release);
    let mut lb = Lb::default();
    let group = env.find_src_group(&policy, &m, &mut lb);
    let queue = if group == 0 { None } else { env.find_src_rq(&policy, &m, &mut lb) };
    let imbalance = if group == 0 { 0 } else { lb.imbalance };
    let Some(queue) = queue else { return format!("{group},{imbalance},-1,") };
    (env.src_cpu, env.nr_balance_failed) = (queue, failed);
    let active = u32::from(env.need_active_balance(&policy, &m, lb.migration));
    format!("{group},{imbalance},{queue},{active}")
}

fn rows() -> impl Iterator<Item = (&'static str, u64, &'static str)> {
    let table = include_str!("data/balance-loads.csv").lines().filter(|l| !l.starts_with(['#', 'r']));
    table.map(|line| {
        let mut parts = line.splitn(3, ',');
        let mut next = || parts.next().expect("three parts");
        (next(), next().parse().expect("a number"), next())
    })
}

#[test]
fn groups_queues_and_active_balances_are_those_of_the_kernels_own_code() {
    let mut counted = 0;
    for (release, n, expected) in rows() {
        let (_, profile) = RELEASES.iter().find(|(r, _)| *r == release).expect("a release");
        assert_eq!(answer(profile, release, n), expected, "{release}, case {n}");
        counted += 1;
    }
    assert_eq!(counted, 1600);
}

#[test]
fn the_rules_of_a_neighbouring_release_give_other_answers() {
    for pair in RELEASES.windows(2) {
        let ((release, _), (_, other)) = (pair[0], pair[1]);
        let differs = |(r, n, expected): &(&str, u64, &str)| *r == release && answer(other, release, *n) != *expected;
        let count = rows().filter(differs).count();
        assert!(count > 0, "{release} under the rules of {other}");
    }
}

#[test]
fn loads_fade_over_ticks_as_the_kernels_own_code_fades_them() {
    for line in include_str!("data/cpu-load.csv").lines().filter(|l| !l.starts_with(['#', 'c'])) {
        let row: Vec<u64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        let (mut draw, mut load, mut ticks) = (Draw(row[0] * 104_729 + 7), CpuLoad::default(), 0);
        for _ in 0..20 {
            let passed = if draw.chance(60) { 1 } else { 1 + draw.below(200) };
            let held = if draw.chance(30) { 0 } else { draw.below(4000) };
            if draw.chance(30) {
                load.nohz_start(held);
            }
            let now = if draw.chance(30) { 0 } else { draw.below(4000) };
            ticks += passed;
            load.nohz(now, ticks);
        }
        assert_eq!(load.load[..], row[1..], "case {}", row[0]);
    }
}

#[test]
fn a_newly_idle_cpu_is_asked_by_the_present_load() {
    // Case numbers differ in what is idle; this one only shows that the index is 0 there: cpu_load does not matter.
    let (mut m, mut env, _) = case(0, "4.19.48");
    env.idle = balance_idle::NEWLY_IDLE;
    let policy = Policy::profile("4.19").expect("exists");
    let mut found = [Lb::default(), Lb::default()];
    for (lb, faded) in found.iter_mut().zip([0, 5000]) {
        m.cpus[..8].iter_mut().for_each(|cpu| cpu.cpu_load = [faded; 4]);
        env.find_src_group(&policy, &m, lb);
    }
    assert_eq!(found[0], found[1]);
}
