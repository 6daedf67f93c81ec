// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines with several memory nodes: new tasks stay on a node while few run there (sched_balance_find_dst_group,
//! adjust_numa_imbalance of 6.1.192 to 7.2.12; before 5.18 while it has an idle CPU).

use crate::common::*;
use pelton_model::Machine;

/// Two caches of sixteen CPUs, each a node of its own.
fn two_nodes() -> Machine {
    let mut m = fixed_speed(&[(16, 1024), (16, 1024)]);
    m.llcs = vec![(0..16).collect(), (16..32).collect()];
    m.nodes = m.llcs.clone();
    m
}

#[test]
fn two_tasks_stay_on_a_node_and_the_third_leaves_it() {
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let m = two_nodes();
        assert_eq!(begin_elsewhere(&m, profile, 2), 0, "{profile}: an eighth of a node's CPUs may differ");
        assert_eq!(begin_elsewhere(&m, profile, 3), 1, "{profile}");
        let one_node = Machine { nodes: Vec::new(), ..m };
        assert_eq!(begin_elsewhere(&one_node, profile, 2), 1, "{profile}: caches of one node are filled in turn");
    }
}

#[test]
fn before_5_18_tasks_stay_on_a_node_with_an_idle_cpu() {
    assert_eq!(begin_elsewhere(&two_nodes(), "5.10", 6), 0);
}

#[test]
fn no_task_is_placed_across_a_distance_above_30() {
    for profile in ["5.10", "6.12", "7.2"] {
        let far = Machine { node_distances: vec![vec![10, 32], vec![32, 10]], ..two_nodes() };
        assert_eq!(begin_elsewhere(&far, profile, 6), 0, "{profile}");
    }
}

#[test]
fn a_full_node_gives_tasks_to_another() {
    for profile in ["5.4", "5.10", "6.12", "7.2"] {
        let all = (0..24).map(|i| busy(&format!("b{i}"))).collect();
        let r = run_on(&two_nodes(), &workload(all), profile, 1000);
        let busy_ms: u64 = r.cpus.iter().map(|cpu| cpu.busy_ns / MS).sum();
        assert!(busy_ms > 23_500, "{profile}: 24 tasks on 32 CPUs were busy for {busy_ms} ms of 24,000");
    }
}
