// SPDX-License-Identifier: GPL-2.0-only
//! Where tasks start, and from how deep a CPU is woken for them.

mod common;

use common::*;
use pelton_schema::NullSink;
use pelton_sim::machine::IdleState;
use pelton_sim::workload::{Op, Phase, Start, TaskSpec, Workload};
use pelton_sim::{Machine, Report};

/// Four children that run for a moment and sleep, made one after the other.
fn family() -> Workload {
    let mut parent = task("parent", Some(4), vec![Op::Run { work_ns: 100_000 }, Op::Fork { task: 1 }]);
    parent.phases.push(Phase { ops: vec![Op::Sleep { ns: 50 * MS }], ..Phase::default() });
    let child = task("child", Some(1), vec![Op::Run { work_ns: 5_000 }, Op::Sleep { ns: 20 * MS }]);
    workload(vec![on(parent, 0), TaskSpec { start: Start::OnFork, ..child }])
}

#[test]
fn children_that_sleep_at_once_do_not_pile_up_on_one_cpu() {
    let report = run_on(&fixed_speed(&[(5, 1024)]), &family(), "4.12", 60);
    let used = report.cpus[1..].iter().filter(|c| c.switches > 0).count();
    assert_eq!(used, 4, "what sleeps on a CPU counts against it");
}

#[test]
fn a_parent_enqueues_its_child_and_old_kernels_lose_that_call() {
    let report = run_on(&fixed_speed(&[(5, 1024)]), &family(), "4.12", 60);
    let at = |c: usize, site: usize| report.cpus[c].hook_calls[site];
    let attach = pelton_schema::HookSite::Attach as usize;
    let attached: u64 = (1..5).map(|c| at(c, attach)).sum();
    assert_eq!(attached, 4, "one child each");
    let calls: u64 = (1..5).map(|c| report.cpus[c].hook_calls.iter().sum::<u64>()).sum();
    let seen: u64 = (1..5).map(|c| report.cpus[c].updates).sum();
    assert_eq!(calls - seen, attached, "the parent's CPU may not call for another one");
}

/// A core with a state of its own, and one in which all cores of the cluster have to be.
fn sleepy(groups: &[(u32, u32)], shared: bool) -> Machine {
    let mut m = fixed_speed(groups);
    for d in &mut m.domains {
        let all = IdleState { shared, ..idle("all", 200, 800, 0) };
        d.idle_states = vec![idle("wfi", 1, 1, 0), idle("core", 85, 200, 0), all];
    }
    for c in &mut m.clusters {
        c.idle_power_uw = vec![0; 3];
    }
    m
}

fn after_5_ms(first: Op, then: Op) -> TaskSpec {
    on(task("a", None, vec![first, Op::Run { work_ns: 10_000 }, then]), 0)
}

/// CPU 0 wakes a task of CPU 1 every 5 ms; the mean way from the wake-up to the switch, us, that of its start included.
fn handed_over(m: &Machine) -> u64 {
    let post = after_5_ms(Op::Sleep { ns: 5 * MS }, Op::SemPost(0));
    let take = on(task("b", None, vec![Op::SemWait(0), Op::Run { work_ns: 10_000 }]), 1);
    let w = Workload { semaphores: vec![0], ..workload(vec![post, take]) };
    let report = run_deep(m, &w);
    report.tasks[1].wakeup_latency_ns_sum / (report.tasks[1].wakeups + 1) / 1000
}

fn run_deep(m: &Machine, w: &Workload) -> Report {
    let mut policy = profile("7.2");
    policy.set("idle_governor", "next_timer").expect("a switch of the table");
    pelton_sim::run(m, w, &policy, &config(200), NullSink).expect("runs")
}

#[test]
fn a_core_beside_an_awake_one_is_not_in_the_state_of_the_cluster() {
    assert_eq!(handed_over(&sleepy(&[(2, 1024)], false)), 200);
    let beside = handed_over(&sleepy(&[(2, 1024)], true));
    assert!((85..95).contains(&beside), "only its start finds all of them asleep: {beside} us");
}

#[test]
fn a_cluster_of_one_is_where_its_cpu_is() {
    assert_eq!(handed_over(&sleepy(&[(1, 1024), (1, 1024)], true)), 200);
}

#[test]
fn nobody_executes_before_the_cluster_is_up() {
    // Both start at 200 us. Their timers expire within the way out: the second waits for what both share, not for another 200 us.
    let at = |cpu, us: u64| on(task("t", None, vec![Op::Sleep { ns: us * 1000 }, Op::Run { work_ns: 1_000 }]), cpu);
    let w = workload(vec![at(0, 10_000), at(1, 10_050)]);
    let (_, events) = events_of(&sleepy(&[(2, 1024)], true), &w, "7.2", &config(11));
    let exits: Vec<(u64, u32)> = events
        .iter()
        .filter_map(|(ns, e)| match e {
            pelton_schema::Event::CpuIdle { cpu, state: pelton_schema::IDLE_EXIT } if *ns > 9 * MS => {
                Some((ns / 1000, *cpu))
            }
            _ => None,
        })
        .collect();
    assert_eq!(exits, [(10_400, 0), (10_400, 1)]);
}
