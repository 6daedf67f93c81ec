// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines of more than 64 CPUs: the same rules place and balance, whatever the size.

use crate::common;
use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{Op, TaskSpec};
use pelton_schema::{Event, NullSink};

const PROFILES: [&str; 7] = ["4.12", "5.4", "5.10", "5.15", "6.1", "6.12", "7.2"];

/// Two nodes, caches of sixteen CPUs, two threads to a core.
fn server(cpus: u32) -> Machine {
    let mut m = fixed_speed(&vec![(16, 1024); (cpus / 16) as usize]);
    m.llcs = (0..cpus / 16).map(|llc| (16 * llc..16 * llc + 16).collect()).collect();
    m.nodes = vec![(0..cpus / 2).collect(), (cpus / 2..cpus).collect()];
    m.cpus.iter_mut().zip(0..).for_each(|(cpu, c): (_, u32)| cpu.smt = vec![c & !1, c | 1]);
    m
}

/// Two nodes, each of one cache and without threads.
fn two_nodes(of: u32) -> Machine {
    let mut m = fixed_speed(&[(of, 1024), (of, 1024)]);
    m.llcs = vec![(0..of).collect(), (of..2 * of).collect()];
    m.nodes = m.llcs.clone();
    m
}

/// Busy CPUs, ms in all, of so many busy tasks in so many ms.
fn busy_ms(m: &Machine, name: &str, tasks: u32, ms: u64) -> u64 {
    let all = (0..tasks).map(|i| busy(&format!("b{i}"))).collect();
    let r = pelton_sim::run(m, &workload(all), &profile(name), &config(ms), NullSink).expect("runs");
    r.cpus.iter().map(|cpu| cpu.busy_ns).sum::<u64>() / MS
}

#[test]
fn as_many_busy_tasks_as_cpus_have_one_each() {
    for (m, cpus) in [(server(128), 128), (two_nodes(64), 128), (server(384), 384)] {
        for profile in if cpus == 128 { &PROFILES[..] } else { &PROFILES[5..] } {
            let busy = busy_ms(&m, profile, cpus, 1000);
            // Up to 5.4 balances compare loads: 96.8 % were seen with 5.4, and which rule leaves a few CPUs idle there
            // was not looked into.
            let least = if ["4.12", "5.4"].contains(profile) { 940 } else { 995 };
            assert!(busy > u64::from(cpus) * least, "{profile}: {cpus} CPUs were busy for {busy} ms");
        }
    }
}

/// Of three tasks for two CPUs two end: the third ones, which are where they are, find the CPUs that are free now.
#[test]
fn no_cpu_idles_while_tasks_wait_elsewhere_for_longer_than_balances_take() {
    for cpus in [128, 384] {
        for profile in if cpus == 128 { &PROFILES[..] } else { &PROFILES[4..] } {
            let ends = |i: u32| task(&format!("e{i}"), Some(1), vec![run_ms(60)]);
            let stays = (0..cpus / 2).map(|i| busy(&format!("s{i}")));
            let all: Vec<TaskSpec> = (0..cpus).map(ends).chain(stays).collect();
            let r = run_on(&server(cpus), &workload(all), profile, 1000);
            let waits_ms = r.tasks[cpus as usize..].iter().map(|t| t.wait_ns / MS).max().unwrap_or(0);
            // The largest domain of a CPU that is idle is balanced once in as many ms as it has CPUs, after 120 ms in
            // which all have something to do.
            assert!(waits_ms < u64::from(cpus) + 130, "{profile}: {cpus} CPUs, and a task waited for {waits_ms} ms");
        }
    }
}

/// sched_balance_find_dst_group, adjust_numa_imbalance: while no more run on a node than an eighth of its CPUs, two
/// more tasks than elsewhere are no reason to leave.
#[test]
fn three_tasks_stay_on_a_large_node_and_the_fourth_leaves_it() {
    for profile in ["6.1", "6.6", "6.8", "6.12", "7.2"] {
        for m in [two_nodes(64), two_nodes(192)] {
            assert_eq!(begin_elsewhere(&m, profile, 3), 0, "{profile}");
            assert_eq!(begin_elsewhere(&m, profile, 4), 1, "{profile}");
        }
    }
    assert_eq!(begin_elsewhere(&two_nodes(64), "5.10", 6), 0, "before 5.18 while there is an idle CPU");
}

/// A task that sleeps for a moment wakes where it was, or near: caches of 16 CPUs are the reach of a wake-up.
#[test]
fn wake_ups_stay_in_the_caches_of_waker_and_sleeper() {
    let m = server(384);
    let nap = |i: u32| task(&format!("n{i}"), None, vec![Op::Run { work_ns: 300_000 }, Op::Sleep { ns: 700_000 }]);
    let (_, events) = events_of(&m, &workload((0..300).map(nap).collect()), "7.2", &config(100));
    let mut last = vec![None; 301];
    let (mut woken, mut near) = (0, 0);
    for (at, event) in events {
        match event {
            Event::SchedSwitch { cpu, next_tid, .. } if next_tid > 0 => last[next_tid as usize] = Some(cpu),
            Event::SchedWakeup { tid, target_cpu, cpu, .. } if at > 20 * MS => {
                woken += 1;
                let reach = [Some(cpu), last[tid as usize]].map(|c| c.map(|c| c / 16));
                near += usize::from(reach.contains(&Some(target_cpu / 16)));
            }
            _ => {}
        }
    }
    assert!(woken > 10_000 && near == woken, "{near} of {woken}");
}

#[test]
fn machines_beyond_the_bound_are_refused() {
    let m = fixed_speed(&vec![(8, 1024); 129]);
    let policy = profile("7.2");
    let refused = pelton_sim::run(&m, &workload(vec![busy("b")]), &policy, &config(10), NullSink);
    let why = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(why, "not supported: a machine of 1032 CPUs; there is room for 1024");
}

/// Gets everything, or only events.
struct Hears<const ALL: bool>(Vec<(u64, Event)>);

impl<const ALL: bool> pelton_schema::Sink for Hears<ALL> {
    const BALANCES: bool = ALL;

    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.push((time_ns, *event));
    }
}

/// Tasks that come and go on some caches of a machine, others asleep for a while.
fn comes_and_goes(seed: u32) -> Vec<TaskSpec> {
    let nap = |i: u32| {
        let (run, sleep) =
            (200_000 + 130_000 * u64::from((i * 7 + seed) % 23), 900_000 * u64::from(1 + (i * 5 + seed) % 61));
        let pause = u64::from((i + seed) % 3) * 400 * MS;
        let ops = vec![
            Op::Run { work_ns: run },
            Op::Sleep { ns: sleep },
            Op::Run { work_ns: run },
            Op::Sleep { ns: pause.max(sleep) },
        ];
        task(&format!("n{i}"), None, ops)
    };
    (0..24 + seed % 30).map(nap).collect()
}

/// Walks over idle CPUs pass over those whose balances find nothing, unless a sink gets balances: nothing else
/// is another one.
#[test]
fn what_walks_pass_over_changes_nothing() {
    for (at, profile) in PROFILES.iter().enumerate() {
        for (i, m) in [server(128), two_nodes(64), server(384)].iter().enumerate() {
            let w = workload(comes_and_goes((at * 3 + i) as u32));
            let (mut all, mut events) = (Hears::<true>(Vec::new()), Hears::<false>(Vec::new()));
            let told = pelton_sim::run(m, &w, &common::profile(profile), &config(2500), &mut all).expect("runs");
            let untold = pelton_sim::run(m, &w, &common::profile(profile), &config(2500), &mut events).expect("runs");
            let first = all.0.iter().zip(&events.0).find(|(one, other)| one != other);
            assert_eq!((first, all.0.len()), (None, events.0.len()), "{profile}, machine {i}");
            assert!(told == untold, "{profile}, machine {i}: reports differ");
        }
    }
}
