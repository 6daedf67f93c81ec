// SPDX-License-Identifier: GPL-2.0-or-later
//! Threads of one process on a server with eight caches: 7.2 gathers them, as long as they fit (F-342).

use std::collections::BTreeMap;

use pelton_core::Policy;
use pelton_model::workload::{Op, Phase, Process, TaskSpec, TimerId, TimerMode};
use pelton_model::{Machine, RunConfig, Workload};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_schema::{Event, Sink};

/// Time that tasks ran on each CPU, ns.
#[derive(Default)]
struct Where {
    since: BTreeMap<u32, (u32, u64)>,
    ran_ns: BTreeMap<(u32, u32), u64>,
}

impl Where {
    fn runs(&mut self, time_ns: u64, cpu: u32, next_tid: u32) {
        if let Some((tid, since_ns)) = self.since.insert(cpu, (next_tid, time_ns)) {
            *self.ran_ns.entry((tid, cpu)).or_default() += time_ns - since_ns;
        }
    }
}

impl Sink for Where {
    fn event(&mut self, time_ns: u64, event: &Event) {
        if let Event::SchedSwitch { cpu, next_tid, .. } = *event {
            self.runs(time_ns, cpu, next_tid);
        }
    }
}

fn task(name: String, ops: Vec<Op>, process: Process) -> TaskSpec {
    let phases = vec![Phase { ops, ..Phase::default() }];
    TaskSpec { name, phases, process, own_timers: 1, ..TaskSpec::default() }
}

/// `threads` of one process that compute, and others beside them, each of a process of its own, that keep one CPU or
/// two of each cache busy for a part of the time.
fn workload(threads: u32) -> Workload {
    let work = |work_ns| Op::Run { work_ns };
    let mut tasks: Vec<TaskSpec> =
        (0..threads).map(|i| task(format!("t{i}"), vec![work(3_000_000); 1], Process::default())).collect();
    tasks.extend((0..16).map(|i| {
        let timer =
            Op::Timer { timer: TimerId::Own(0), period_ns: 10_000_000 + 700_000 * i, mode: TimerMode::Relative };
        task(format!("o{i}"), vec![work(2_000_000), timer], Process::Own)
    }));
    Workload { tasks, ..Workload::default() }
}

/// Share of the threads' running time in the cache with most of it, percent.
fn gathered(threads: u32, cache_aware: &str) -> u64 {
    let platform = platform::load("epyc-7543p").expect("a built-in platform");
    let m: Machine = platform.machine(&PlatformOptions::new("7.2")).expect("a checked platform");
    let mut policy = Policy::profile("7.2").expect("the newest profile");
    policy.set("cache_aware", cache_aware).expect("a switch of the table");
    let config = RunConfig { duration_ns: 6_000_000_000, ..RunConfig::default() };
    let mut ran = Where::default();
    pelton_sim::run(&m, &workload(threads), &policy, &config, &mut ran).expect("runs");
    (0..m.cpus.len() as u32).for_each(|cpu| ran.runs(config.duration_ns, cpu, 0));
    let of = |cpus: &Vec<u32>| -> u64 {
        let own = ran.ran_ns.iter().filter(|((tid, cpu), _)| (1..=threads).contains(tid) && cpus.contains(cpu));
        own.map(|(_, ns)| ns).sum()
    };
    let caches: Vec<u64> = m.llcs.iter().map(of).collect();
    100 * caches.iter().max().expect("caches") / caches.iter().sum::<u64>().max(1)
}

/// Eight CPUs of four cores share a cache: a mean of three running threads fits, 3 * 2 * 1280 < 8 * 1024.
#[test]
fn three_threads_gather_in_one_of_eight_caches() {
    let (on, off) = (gathered(3, "on"), gathered(3, "off"));
    assert!(on >= 80 && off <= 60, "{on} {off}");
}

#[test]
fn a_process_with_more_running_threads_than_cores_of_a_cache_does_not() {
    let (on, off) = (gathered(16, "on"), gathered(16, "off"));
    assert!(on <= 30 && off <= 30, "{on} {off}");
}
