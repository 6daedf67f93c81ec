// SPDX-License-Identifier: GPL-2.0-or-later
//! Load of idle CPUs: the CPU that refreshes it, the costs of that, and a proof that leaving it to its readers changes
//! nothing they read.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::workload::{Op, Phase, Start, TaskSpec};
use pelton_model::{Machine, Workload};
use pelton_schema::Event;
use pelton_schema::NullSink;
use pelton_sim::Report;
use pelton_sim::report::CallParts;

fn with(p: &str, sets: &[(&str, &str)]) -> Policy {
    let mut policy = profile(p);
    for (name, value) in sets {
        policy.set(name, value).expect("a switch of the table");
    }
    policy
}

fn costly(cpus: u32) -> Machine {
    let mut m = fixed_speed(&[(cpus, 1024)]);
    m.costs.blocked_walk_ns = 20_000;
    m.costs.blocked_queue_ns = 5_000;
    m
}

/// Short tasks on CPUs 0 and 1, two at a time on the former: often a task waits, and CPU 1 often goes idle. CPUs 2
/// and 3 had something to do.
fn restless() -> Workload {
    let mut past: Vec<TaskSpec> = (2..4).map(|c| on(task(&format!("past{c}"), Some(1), vec![run_ms(30)]), c)).collect();
    let pair = |name: &str, us| on(periodic(name, 300, us), 0);
    past.extend([pair("a", 2900), pair("b", 3100), on(periodic("c", 100, 3300), 1)]);
    workload(past)
}

fn run(m: &Machine, policy: &Policy) -> Report {
    pelton_sim::run(m, &restless(), policy, &config(300), NullSink).expect("runs")
}

fn scans(r: &Report) -> u64 {
    r.cpus.iter().map(|c| c.blocked_scans).sum()
}

/// 5.4 fair.c update_sg_lb_stats with LBF_NOHZ_STATS; 7.2 has neither.
#[test]
fn a_search_refreshes_idle_cpus_in_4_19_and_5_4_alone() {
    for (p, refreshes) in [("4.16", false), ("4.19", true), ("5.4", true), ("5.10", false), ("7.2", false)] {
        let r = run(&costly(4), &profile(p));
        assert_eq!(scans(&r) > 0, refreshes, "{p}: {}", scans(&r));
    }
}

/// 300 ms hold at most 6 times 52 ms, on each of four CPUs; without the limit a CPU is due every 4 ms.
#[test]
fn the_limit_of_the_posting_holds_for_each_cpu() {
    let m = costly(4);
    let [often, seldom] = ["scan", "interval"].map(|rule| run(&m, &with("5.4", &[("blocked_update", rule)])));
    assert!(seldom.cpus.iter().all(|c| c.blocked_scans <= 6), "{:?}", seldom.cpus.iter().map(|c| c.blocked_scans));
    assert!(scans(&often) > 2 * scans(&seldom), "{} {}", scans(&often), scans(&seldom));
}

/// The refresh of a CPU with one queue takes 25 us, and a search has its own at least.
#[test]
fn a_search_takes_the_time_of_its_refreshes() {
    let longest = |policy: &Policy| run(&costly(4), policy).cpus.iter().map(|c| c.search_ns.max).max().unwrap_or(0);
    let with_others = longest(&profile("5.4"));
    assert!(with_others >= 50_000 && with_others % 25_000 == 0, "{with_others}");
    assert_eq!(longest(&profile("7.2")), 25_000);
    assert_eq!(longest(&with("5.4", &[("blocked_update", "lazy")])), 0);
}

/// Longest time from wake-up to execution of a task that runs for 100 us and is called again after 150 us, when its CPU
/// looks for another task: two hogs on CPU 0 are always a reason.
fn worst_ns(walk_ns: u64) -> u64 {
    let mut m = costly(3);
    (m.costs.blocked_walk_ns, m.costs.blocked_queue_ns) = (walk_ns, 0);
    let post = vec![Op::SemPost(0), Op::Runtime { wall_ns: 150_000 }, Op::SemPost(0), Op::Sleep { ns: 5 * MS }];
    let take = vec![Op::SemWait(0), Op::Run { work_ns: 100_000 }];
    let hogs = [on(busy("hog-0"), 0), on(busy("hog-1"), 0)];
    let mut w = workload(vec![on(task("post", None, post), 2), on(task("take", None, take), 1)]);
    w.tasks.extend(hogs);
    w.semaphores = vec![0];
    let r = pelton_sim::run(&m, &w, &profile("5.4"), &config(100), NullSink).expect("runs");
    r.tasks[1].wakeup_latency_ns.max
}

#[test]
fn a_wake_up_waits_for_the_end_of_a_search() {
    assert_eq!(worst_ns(0), 0);
    let late = worst_ns(200_000);
    assert!((150_000..650_000).contains(&late), "{late}");
}

/// CPU 1 worked for 30 ms and then idles; CPU 0 works on in the same domain. What the governor asks for, by time.
fn requests(rule: &str) -> Vec<(u64, u32)> {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].rate_limit_us = Some(0);
    let past = on(task("past", Some(1), vec![run_ms(30)]), 1);
    let rest = Phase { ops: vec![Op::Run { work_ns: 900_000 }, Op::Sleep { ns: 3 * MS }], ..Phase::default() };
    let rest = TaskSpec { name: "rest".into(), phases: vec![rest], start: Start::After(0), ..TaskSpec::default() };
    let w = workload(vec![past, on(rest, 0)]);
    let policy = with("7.2", &[("blocked_update", rule)]);
    let mut keep = Keep::default();
    pelton_sim::run(&m, &w, &policy, &config(400), &mut keep).expect("runs");
    let request = |&(at, event): &(u64, Event)| match event {
        Event::CpuFrequency { freq_khz, .. } => Some((at, freq_khz)),
        _ => None,
    };
    keep.0.iter().filter_map(request).collect()
}

/// A walk ends with a call of the governor; a reader has to have a reason of its own, here once in 4 ms.
#[test]
fn readers_that_work_it_out_lower_the_frequency_two_ticks_later_at_most() {
    let lowest = |all: &[(u64, u32)]| all.iter().map(|f| f.1).min().unwrap_or(0);
    let down = |rule| {
        let all = requests(rule);
        let low = lowest(&all);
        all.iter().filter(|f| f.0 > 60 * MS).find(|f| f.1 == low).map_or(u64::MAX, |f| f.0)
    };
    let [walked, lazy] = ["own", "lazy"].map(down);
    assert!(lazy < walked.saturating_add(8 * MS), "lazy {lazy}, walked {walked}");
}

/// Parts of the latencies of a worker on CPU 1, called from CPU 2 each of `waits` after it is ready, beside `others`.
fn parts(m: &Machine, waits: &[Op], others: Vec<TaskSpec>) -> Vec<CallParts> {
    let message = waits.iter().flat_map(|wait| [Op::SemWait(0), wait.clone(), Op::CallAll(0)]).collect();
    let worker = vec![Op::Enlist(0), Op::SemPost(0), Op::AwaitCall, Op::Run { work_ns: 100_000 }];
    let mut w = workload(vec![on(task("message", None, message), 2), on(task("worker", None, worker), 1)]);
    w.tasks.extend(others);
    (w.semaphores, w.lists) = (vec![0], 1);
    let r = pelton_sim::run(m, &w, &profile("5.4"), &config(200), NullSink).expect("runs");
    let latencies = r.tasks[1].call_latency.exact().expect("few calls");
    let sums: Vec<u64> = r.tasks[1].call_parts.iter().map(CallParts::sum_ns).collect();
    assert_eq!(sums, latencies, "the parts are the latency");
    r.tasks[1].call_parts.clone()
}

#[test]
fn a_call_waits_for_the_way_out_of_idle() {
    let mut m = fixed_speed(&[(3, 1024)]);
    m.domains[0].idle_states.iter_mut().for_each(|state| state.exit_latency_ns = 300_000);
    let calls = parts(&m, &[Op::Sleep { ns: 5 * MS }], Vec::new());
    assert!(
        calls.len() > 20 && calls.iter().all(|p| *p == CallParts { idle_exit_ns: 300_000, ..CallParts::default() })
    );
}

#[test]
fn a_call_waits_for_who_runs() {
    let hog =
        with_policy(on(periodic("hog", 3000, 5000), 1), pelton_model::workload::SchedPolicy::Fifo { priority: 1 });
    let calls = parts(&fixed_speed(&[(3, 1024)]), &[Op::Sleep { ns: 1_300_000 }], vec![hog]);
    assert!(calls.iter().any(|p| p.queued_ns > MS), "{calls:?}");
    assert!(calls.iter().all(|p| p.sum_ns() == p.queued_ns), "{calls:?}");
}

/// Two hogs on CPU 0 are always a reason to look; the look takes as long as a refresh or more, and every second call
/// comes 50 us after the worker is ready.
#[test]
fn a_call_waits_for_the_end_of_a_search() {
    let calls = |walk_ns| {
        let mut m = costly(3);
        (m.costs.blocked_walk_ns, m.costs.blocked_queue_ns) = (walk_ns, 0);
        let waits = [Op::Sleep { ns: 5 * MS }, Op::Runtime { wall_ns: 50_000 }];
        parts(&m, &waits, vec![on(busy("hog-0"), 0), on(busy("hog-1"), 0)])
    };
    assert!(calls(0).iter().all(|p| p.search_ns == 0));
    let searched = calls(200_000);
    assert!(searched.iter().any(|p| p.search_ns >= 150_000), "{searched:?}");
    assert!(searched.iter().all(|p| p.queued_ns == 0), "{searched:?}");
}
