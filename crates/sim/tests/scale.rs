// SPDX-License-Identifier: GPL-2.0-or-later
//! Large machines: what a run costs follows what happens, not how many CPUs there are. Times are the benchmark's
//! business.

use crate::common::*;
use pelton_model::workload::{SchedPolicy, Workload};
use pelton_sim::Report;

fn run_of(cpus: u32, tasks: u64, ms: u64) -> Report {
    let groups: Vec<(u32, u32)> = (0..cpus / 8).map(|_| (8, 1024)).collect();
    let mut m = machine(&groups);
    m.hz = 1000;
    let task = |i: u64| periodic(&format!("t{i}"), 500 + 10 * (i % 50), 4000 + 1000 * (i % 32));
    let w: Workload = workload((0..tasks).map(task).collect());
    run_on(&m, &w, "7.2", ms)
}

fn activations(r: &Report) -> u64 {
    r.tasks.iter().map(|t| t.activation_ns.len()).sum()
}

#[test]
fn events_per_activation_do_not_grow_with_idle_cpus() {
    let per_thousand = |r: &Report| r.sim_events * 1000 / activations(r);
    let (small, large) = (run_of(8, 16, 1000), run_of(384, 16, 1000));
    println!("events per 1000 activations: {} on 8 CPUs, {} on 384", per_thousand(&small), per_thousand(&large));
    assert!(per_thousand(&large) < per_thousand(&small) * 5 / 4);
}

#[test]
fn many_tasks_on_many_cpus_all_keep_their_pace() {
    let r = run_of(384, 768, 300);
    println!("{} events for {} activations", r.sim_events, activations(&r));
    assert!(r.tasks.iter().all(|t| t.overruns == 0));
    assert!(r.sim_events < activations(&r) * 16);
}

#[test]
fn a_day_with_a_burst_per_minute_fits_the_counters() {
    let m = fixed_speed(&[(1, 1024)]);
    let day_ms = 86_400_000;
    let idle = with_policy(periodic("idle-policy", 100_000, 60_000_000), SchedPolicy::Idle);
    let w = workload(vec![
        idle,
        with_policy(
            periodic("deadline", 2000, 60_000_000),
            SchedPolicy::Deadline { runtime_ns: 5 * MS, deadline_ns: 60_000 * MS, period_ns: 60_000 * MS },
        ),
    ]);
    for p in ["4.16", "7.2"] {
        let r = run_on(&m, &w, p, day_ms);
        assert_eq!(r.duration_ns, day_ms * MS);
        assert!(
            near(r.tasks[0].run_ns, 1440 * 100 * MS, 200 * MS) && near(r.tasks[1].run_ns, 1440 * 2 * MS, 4 * MS),
            "{p}"
        );
    }
}

#[test]
fn hours_of_work_with_extreme_weights_fit_the_virtual_times() {
    let mut m = fixed_speed(&[(1, 1024)]);
    m.hz = 100;
    let policies = [
        SchedPolicy::Normal { nice: -20, slice_ns: 0 },
        SchedPolicy::Normal { nice: 19, slice_ns: 0 },
        SchedPolicy::Idle,
    ];
    let w = workload(policies.iter().map(|&p| with_policy(busy(&format!("{p:?}")), p)).collect());
    for p in ["4.16", "7.2"] {
        let r = run_on(&m, &w, p, 4 * 3_600_000);
        // Weights 88761 : 15 : 3 of 14 400 s.
        let seconds: Vec<u64> = r.tasks[..3].iter().map(|t| t.run_ns / 1_000_000_000).collect();
        assert!(near(seconds[0], 14_397, 1) && seconds[1] <= 3 && r.tasks[2].run_ns > 300 * MS, "{p}: {seconds:?}");
    }
}
