// SPDX-License-Identifier: GPL-2.0-or-later
//! Threads of one process gather in one cache (7.2.12 kernel/sched/fair.c: account_mm_sched, task_cache_work,
//! llc_balance, alb_break_llc), where there are several, and while there are not too many of them.

use crate::common::*;
use pelton_core::{Policy, migrate};
use pelton_model::Machine;
use pelton_model::workload::{Process, TaskSpec, Workload};
use pelton_schema::{Balance, BalanceEnd, Event, Sink};

/// Two caches of eight CPUs in one node.
fn two_caches() -> Machine {
    let mut m = fixed_speed(&[(8, 1024), (8, 1024)]);
    m.llcs = vec![(0..8).collect(), (8..16).collect()];
    m
}

fn threads(n: u32, process: Process) -> Workload {
    workload((0..n).map(|i| TaskSpec { process, ..busy(&format!("t{i}")) }).collect())
}

fn policy(on: bool) -> Policy {
    let mut policy = profile("7.2");
    policy.set("cache_aware", if on { "on" } else { "off" }).expect("a switch of the table");
    policy
}

/// Counts balances that took a task to the cache it prefers.
#[derive(Default)]
struct Towards(u64);

impl Sink for Towards {
    const BALANCES: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn balance(&mut self, _: u64, b: &Balance<'_>) {
        let took = b.moved > 0 || b.end == BalanceEnd::Active;
        self.0 += u64::from(took && b.found.migration == migrate::LLC_TASK);
    }
}

/// Share of the running time in the cache with more of it, percent, and the number of times that a task was taken to
/// its cache.
fn gathered(m: &Machine, w: &Workload, policy: &Policy) -> (u64, u64) {
    let mut towards = Towards::default();
    let r = pelton_sim::run(m, w, policy, &config(4000), &mut towards).expect("runs");
    let busy = |cpus: &[u32]| cpus.iter().map(|&c| r.cpus[c as usize].busy_ns).sum::<u64>();
    let caches: Vec<u64> = m.llcs.iter().map(|cpus| busy(cpus)).collect();
    (100 * caches.iter().max().expect("caches") / caches.iter().sum::<u64>(), towards.0)
}

#[test]
fn threads_of_one_process_gather_in_one_cache() {
    let (m, shared) = (two_caches(), Process::default());
    for n in [4, 5, 6] {
        let (percent, moves) = gathered(&m, &threads(n, shared), &policy(true));
        assert!(percent >= 90 && moves > 0, "{n} threads: {percent} %, {moves} moves");
        let (percent, moves) = gathered(&m, &threads(n, shared), &policy(false));
        assert!(percent <= 60 && moves == 0, "{n} threads without: {percent} %, {moves} moves");
        let (percent, moves) = gathered(&m, &threads(n, Process::Own), &policy(true));
        assert!(percent <= 60 && moves == 0, "{n} processes: {percent} %, {moves} moves");
    }
}

/// Nodes of one cache each are caches side by side, too.
#[test]
fn threads_gather_on_a_node() {
    let mut m = two_caches();
    m.nodes = m.llcs.clone();
    let (percent, moves) = gathered(&m, &threads(6, Process::default()), &policy(true));
    assert!(percent >= 90 && moves > 0, "{percent} %, {moves} moves");
}

/// invalid_llc_nr: the mean of 12 running threads comes to 11, and 11 * 1280 is not below 8 * 1024.
#[test]
fn more_threads_than_a_cache_has_cpus_do_not_gather() {
    let (percent, _) = gathered(&two_caches(), &threads(12, Process::default()), &policy(true));
    assert!(percent <= 60, "{percent} %");
}

/// nohz_balancer_kick: where one CPU of a cache is busy with one task no idle CPU is sent to balance, so that no
/// balance finds what could gather.
#[test]
fn one_thread_in_each_cache_stays_there() {
    assert_eq!(gathered(&two_caches(), &threads(2, Process::default()), &policy(true)), (50, 0));
}

#[test]
fn where_there_is_one_cache_nothing_changes() {
    let w = || threads(5, Process::default());
    let of = |m: &Machine, on| {
        let mut keep = Keep::default();
        pelton_sim::run(m, &w(), &policy(on), &config(500), &mut keep).expect("runs");
        keep.0
    };
    for m in [fixed_speed(&[(8, 1024)]), machine(&[(4, 500), (2, 1024)]), fixed_speed(&[(1, 1024)])] {
        assert_eq!(of(&m, true), of(&m, false));
    }
    let two = two_caches();
    assert_ne!(of(&two, true), of(&two, false));
    // A cache of one CPU is none to gather in.
    let single = Machine { llcs: (0..8).map(|c| vec![c]).collect(), ..fixed_speed(&[(8, 1024)]) };
    assert_eq!(of(&single, true), of(&single, false));
}

/// debug builds check what is kept: tasks that sleep, come and go, in groups, and change their class.
#[test]
fn counts_stay_right_while_tasks_come_and_go() {
    let m = two_caches();
    let mut tasks: Vec<TaskSpec> = (0..40).map(|i| periodic(&format!("p{i}"), 700 + 90 * i, 4000 + 500 * i)).collect();
    tasks.iter_mut().step_by(3).for_each(|t| t.taskgroup = "/a".into());
    tasks.iter_mut().step_by(5).for_each(|t| t.process = Process::Shared(1));
    let r = pelton_sim::run(&m, &workload(tasks), &policy(true), &config(2000), pelton_schema::NullSink).expect("runs");
    assert!(r.tasks.iter().all(|t| t.run_ns > 0));
}
