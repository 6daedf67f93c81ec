// SPDX-License-Identifier: GPL-2.0-or-later
//! Explanations of decisions among more than 64 CPUs: the candidates that matter, and sets by their CPUs.

use crate::worlds::{machine, rt_app, side_by_side};
use pelton_core::Policy;
use pelton_lab::explain::placement::{self, PlacementSink};
use pelton_lab::explain::upkeep::{BalanceSink, WantedBalance, explain_balance};
use pelton_model::{Machine, RunConfig, Workload};

/// 128 CPUs in caches of four, and a task of 1 to 3 ms for each.
fn world() -> (Machine, Workload, RunConfig) {
    let task = |i: usize| {
        let (run, period) = (1_000 + 15 * i, 3_000 + 90 * i);
        format!(r#""t{i}": {{"loop": -1, "run": {run}, "timer": {{"ref": "r{i}", "period": {period}}}}}"#)
    };
    let config = RunConfig { seed: 1, duration_ns: 200_000_000, ..RunConfig::default() };
    (side_by_side(&machine("hikey-6220"), 16), rt_app(&(0..128).map(task).collect::<Vec<_>>()), config)
}

#[test]
fn a_placement_among_many_cpus_shows_those_near_waker_and_sleeper() {
    let (m, w, config) = world();
    let policy = Policy::profile("7.2").expect("the newest profile");
    let mut sink = PlacementSink::of(None, &policy);
    pelton_sim::run(&m, &w, &policy, &config, &mut sink).expect("runs");
    let (kept, count) = sink.finish();
    let told = placement::explain(&kept.expect("tasks wake"), &policy, |tid| format!("task {tid}"));
    assert!(count > 1_000, "{count} placements");
    let shown: Vec<u32> = told.candidates.iter().map(|c| c.cpu).collect();
    let of = |cpu: u32| (cpu / 4 * 4..cpu / 4 * 4 + 4).all(|near| shown.contains(&near));
    assert!([told.chosen_cpu, told.prev_cpu, told.this_cpu].into_iter().all(of), "{shown:?}: {told:?}");
    assert!(shown.len() <= 16 && shown.len() as u32 + told.others == 128, "{} CPUs are shown", shown.len());
    assert!(told.candidates.iter().all(|c| c.allowed && c.capacity > 0));
    assert_eq!(told.domains.iter().map(|d| d.cpus.len()).collect::<Vec<_>>(), [4, 128]);
    let chosen = told.candidates.iter().find(|c| c.cpu == told.chosen_cpu).expect("shown");
    assert!(chosen.roles.contains(&"chosen") && chosen.util_with_task >= told.task_util.min(1024) / 2, "{chosen:?}");
}

#[test]
fn a_balance_among_many_cpus_names_the_cpus_of_its_groups() {
    let (m, w, config) = world();
    let policy = Policy::profile("7.2").expect("the newest profile");
    let mut sink = BalanceSink::of(WantedBalance { cpu: None, moved: true });
    pelton_sim::run(&m, &w, &policy, &config, &mut sink).expect("runs");
    let (kept, count) = &sink.balance;
    let told = explain_balance(kept.as_ref().expect("tasks move"), *count);
    assert!(told.domain.contains(&told.cpu) && [4, 128].contains(&told.domain.len()), "{told:?}");
    let [own, busiest] = &told.groups[..] else { panic!("two groups: {told:?}") };
    assert!(own.cpus.contains(&told.cpu), "{told:?}");
    assert!(busiest.cpus.contains(&told.busiest_cpu.expect("a CPU that gave")), "{told:?}");
    assert!(busiest.cpus.iter().all(|cpu| told.domain.contains(cpu) && !own.cpus.contains(cpu)), "{told:?}");
}
