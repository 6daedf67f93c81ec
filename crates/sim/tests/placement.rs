// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of tasks on a machine with two kinds of CPUs.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::machine::Opp;
use pelton_model::workload::{CpuSet, Phase, TaskSpec};
use pelton_schema::Event;
use pelton_sim::Report;

/// Releases that place by energy.
const BY_ENERGY: [&str; 9] = ["5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];
/// Releases in which a running task that is too big moves.
const MISFIT: [&str; 9] = BY_ENERGY;

/// Four little and two big CPUs; what a little one does costs less.
fn board() -> Machine {
    let mut m = machine(&[(4, 446), (2, 1024)]);
    let opps = |all: [(u32, u64); 3]| all.map(|(khz, power_uw)| Opp { khz, uv: 0, power_uw }).to_vec();
    m.domains[0].opps = opps([(500_000, 40_000), (800_000, 75_000), (1_400_000, 210_000)]);
    m.domains[1].opps = opps([(600_000, 150_000), (1_200_000, 420_000), (1_800_000, 1_100_000)]);
    for domain in &mut m.domains {
        domain.ref_khz = domain.opps[2].khz;
        domain.freq_invariant = true;
    }
    m
}

/// Time that the CPUs of a kind were busy, ms.
fn busy_ms(r: &Report, big: bool) -> u64 {
    let cpus = if big { &r.cpus[4..6] } else { &r.cpus[..4] };
    cpus.iter().map(|c| c.busy_ns).sum::<u64>() / MS
}

fn starts_on(task: TaskSpec, cpus: [u32; 4]) -> TaskSpec {
    TaskSpec { cpus: Some(CpuSet::of(cpus)), ..task }
}

#[test]
fn a_task_that_is_too_big_for_its_cpu_moves_while_it_runs() {
    for profile in MISFIT {
        let r = run_on(&board(), &workload(vec![busy("b")]), profile, 1000);
        assert!(busy_ms(&r, true) > 850, "{profile}: {} ms on big CPUs", busy_ms(&r, true));
        assert!(r.tasks[0].migrations <= 2, "{profile}: it moves once, {} times", r.tasks[0].migrations);
    }
}

#[test]
fn a_big_task_that_may_use_little_cpus_only_stays_on_one() {
    for profile in ["6.12", "7.2"] {
        let r = run_on(&board(), &workload(vec![starts_on(busy("b"), [0, 1, 2, 3])]), profile, 1000);
        assert_eq!((busy_ms(&r, true), r.tasks[0].migrations), (0, 0), "{profile}");
    }
}

#[test]
fn small_tasks_stay_on_the_cpus_that_cost_less() {
    let tasks: Vec<_> = (0..4).map(|i| periodic(&format!("p{i}"), 400, 16_000)).collect();
    for profile in BY_ENERGY {
        let r = run_on(&board(), &workload(tasks.clone()), profile, 2000);
        let (little, big) = (busy_ms(&r, false), busy_ms(&r, true));
        assert!(big * 20 < little, "{profile}: {little} ms on little CPUs, {big} ms on big ones");
    }
}

/// A small task whose first activation has to be on a big CPU.
fn begins_on_a_big_cpu() -> TaskSpec {
    let mut small = periodic("p", 400, 16_000);
    let all = small.phases[0].clone();
    small.phases[0] = Phase { cpus: Some(CpuSet::of([4])), loops: Some(1), ..all.clone() };
    small.phases.push(Phase { cpus: Some(CpuSet::first(6)), loops: None, ..all });
    small
}

#[test]
fn without_known_power_nothing_is_placed_by_energy() {
    let mut unknown = board();
    unknown.domains.iter_mut().flat_map(|d| &mut d.opps).for_each(|opp| opp.power_uw = 0);
    for profile in BY_ENERGY {
        let w = workload(vec![begins_on_a_big_cpu()]);
        let (known, unknown) = (run_on(&board(), &w, profile, 2000), run_on(&unknown, &w, profile, 2000));
        assert!(busy_ms(&known, false) > 80, "{profile}: it goes where it costs less");
        assert_eq!(busy_ms(&unknown, false), 0, "{profile}: its last CPU is idle");
    }
}

/// The running task of a little CPU is taken at a tick, or right after it.
#[test]
fn a_task_waits_for_a_bigger_cpu_until_a_tick() {
    let (_, events) = events_of(&board(), &workload(vec![busy("b")]), "7.2", &config(300));
    let moved = events.iter().find_map(|&(at, e)| match e {
        Event::SchedMigrateTask { orig_cpu: 0..4, dest_cpu: 4.., .. } => Some(at),
        _ => None,
    });
    let at = moved.expect("it moves");
    assert!(at % (4 * MS) < 100_000, "at a tick or right after it, {at} ns");
}

#[test]
fn too_much_work_ends_placement_by_energy_and_the_end_of_it_brings_it_back() {
    // Two hogs for 400 ms overload the machine's little CPUs; a small task lives on.
    let mut hogs: Vec<_> = (0..2).map(|i| task(&format!("h{i}"), Some(1), vec![run_ms(300)])).collect();
    hogs.push(periodic("small", 400, 16_000));
    let (r, events) = events_of(&board(), &workload(hogs), "7.2", &config(4000));
    let after: Vec<u32> = events
        .iter()
        .filter(|(at, _)| *at > 2500 * MS)
        .filter_map(|(_, e)| match *e {
            Event::SchedSwitch { cpu, next_tid: 3, .. } => Some(cpu),
            _ => None,
        })
        .collect();
    assert!(!after.is_empty() && after.iter().all(|&cpu| cpu < 4), "{after:?}");
    assert!(busy_ms(&r, true) > 300, "the hogs ran on big CPUs");
}

#[test]
fn a_wakeup_beside_a_full_core_finds_a_whole_idle_one() {
    // Two cores of two threads: the waker's core is busy, the wakee goes to the other one, not to the waker's sibling.
    let mut m = fixed_speed(&[(4, 1024)]);
    for (c, cpu) in m.cpus.iter_mut().enumerate() {
        cpu.smt = if c < 2 { vec![0, 1] } else { vec![2, 3] };
    }
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.12", "7.2"] {
        let hog = on(busy("hog"), 0);
        let r = run_on(&m, &workload(vec![hog, periodic("p", 1000, 10_000)]), profile, 1000);
        let (sibling, other) = (r.cpus[1].busy_ns, r.cpus[2].busy_ns + r.cpus[3].busy_ns);
        assert!(other > 20 * sibling.max(1), "{profile}: {sibling} ns beside the hog, {other} ns elsewhere");
    }
}
