// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs on which tasks start, and the depth of the idle states that they are woken from.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::Machine;
use pelton_model::machine::IdleState;
use pelton_model::workload::{CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec, Workload};
use pelton_schema::{Event, NullSink};
use pelton_sim::Report;

/// Four children that run for a moment and sleep, made one after the other.
fn family() -> Workload {
    let mut parent = task("parent", Some(4), vec![Op::Run { work_ns: 100_000 }, Op::Fork { task: 1 }]);
    parent.phases.push(Phase { ops: vec![Op::Sleep { ns: 50 * MS }], ..Phase::default() });
    let child = task("child", Some(1), vec![Op::Run { work_ns: 5_000 }, Op::Sleep { ns: 20 * MS }]);
    workload(vec![on(parent, 0), TaskSpec { start: Start::OnFork, ..child }])
}

#[test]
fn children_that_sleep_at_once_do_not_pile_up_on_one_cpu() {
    for profile in ["4.12", "4.16", "4.19", "5.4"] {
        let report = run_on(&fixed_speed(&[(5, 1024)]), &family(), profile, 60);
        let used = report.cpus[1..].iter().filter(|c| c.switches > 0).count();
        assert_eq!(used, 4, "{profile}: what sleeps on a CPU counts against it");
    }
}

/// Two packages of two CPUs each. CPU 0 is full, and the task was there first.
#[test]
fn a_task_that_wakes_finds_the_idle_cpu_of_its_cache() {
    let mut m = fixed_speed(&[(4, 1024)]);
    m.llcs = vec![vec![0, 1], vec![2, 3]];
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "7.2"] {
        let mut waker = periodic("p", 1000, 10_000);
        waker.phases[0].cpus = Some(CpuSet::of([0]));
        waker.phases[0].loops = Some(1);
        let free = Phase { cpus: Some(CpuSet::first(4)), loops: None, ..waker.phases[0].clone() };
        waker.phases.push(free);
        let r = run_on(&m, &workload(vec![waker, on(busy("hog"), 0)]), profile, 1000);
        let near = r.cpus[1].busy_ns;
        let far = r.cpus[2].busy_ns + r.cpus[3].busy_ns;
        assert!(near > 90 * MS && far < MS, "{profile}: {near} ns beside the hog, {far} ns in the other cache");
    }
}

#[test]
fn a_task_that_waits_for_its_creator_is_what_a_fork_of_it_would_be() {
    let (m, forked) = (fixed_speed(&[(5, 1024)]), family());
    let mut spawned = family();
    spawned.tasks[0].phases[0].loops = Some(1);
    let mut once = spawned.clone();
    once.tasks[0].phases[0].ops[1] = Op::Spawn { task: 1 };
    spawned.tasks[0].phases[0].ops[1] = Op::Fork { task: 1 };
    let of = |w: &Workload| events_of(&m, w, "7.2", &config(60)).1;
    let switches = |w: &Workload, child: u32| -> Vec<String> {
        let all = of(w).into_iter().filter(|(_, e)| matches!(e, Event::SchedSwitch { .. }));
        all.map(|e| format!("{e:?}").replace(&format!("tid: {child}"), "tid: child")).collect()
    };
    assert_eq!(switches(&once, 2), switches(&spawned, 3));
    // The second one finds it made already; templates are copied each time.
    let mut again = forked.clone();
    again.tasks[0].phases[0].ops[1] = Op::Spawn { task: 1 };
    let made = |w: &Workload| of(w).iter().filter(|(_, e)| matches!(e, Event::SchedWakeupNew { .. })).count();
    assert_eq!((made(&again), made(&forked)), (2, 5));
}

#[test]
fn a_creation_is_told_by_its_creator_and_where_it_runs() {
    let (_, events) = events_of(&fixed_speed(&[(5, 1024)]), &family(), "7.2", &config(60));
    let forks: Vec<(u32, u32, u32)> = events
        .iter()
        .filter_map(|(_, e)| match *e {
            Event::SchedProcessFork { cpu, parent_tid, child_tid } => Some((cpu, parent_tid, child_tid)),
            _ => None,
        })
        .collect();
    assert_eq!(forks, [(0, 1, 3), (0, 1, 4), (0, 1, 5), (0, 1, 6)]);
    let by = |child: u32| {
        events.iter().find_map(|(_, e)| match *e {
            Event::SchedWakeupNew { cpu, tid, .. } if tid == child => Some(cpu),
            _ => None,
        })
    };
    assert_eq!(by(3), Some(0), "the parent's CPU executes it");
}

#[test]
fn a_parent_enqueues_its_child_and_old_kernels_lose_that_call() {
    let attached = |remote: &str| {
        let mut policy = Policy::profile("4.12").expect("a profile");
        policy.set("remote", remote).expect("a switch");
        let report =
            pelton_sim::run(&fixed_speed(&[(5, 1024)]), &family(), &policy, &config(60), NullSink).expect("runs");
        let of = |c: usize| report.cpus[c].hook_calls[pelton_schema::HookSite::Attach as usize];
        (1..5).map(of).sum::<u64>()
    };
    assert_eq!(attached("all"), 4, "one child each");
    assert_eq!(attached("local_only"), 0, "the parent's CPU may not call for another one");
}

/// Runs on CPU 0 for 2 ms, may run anywhere from then on, does `then` and goes on for 5 ms.
fn freed(then: &[Op]) -> TaskSpec {
    let mut freed = task("freed", Some(1), vec![run_ms(2)]);
    freed.phases[0].cpus = Some(CpuSet::of([0]));
    let ops = then.iter().cloned().chain([run_ms(5)]).collect();
    freed.phases.push(Phase { cpus: Some(CpuSet::first(4)), loops: Some(1), ops, ..freed.phases[0].clone() });
    freed
}

/// CPUs that the first task went to after its start, each with its time, ns.
fn goes(w: &Workload, profile: &str) -> Vec<(u32, u64)> {
    let (_, events) = events_of(&fixed_speed(&[(4, 1024)]), w, profile, &config(30));
    let mut began = None;
    let mut moves = Vec::new();
    for (at, event) in events {
        match event {
            Event::SchedSwitch { next_tid: 1, .. } => began = began.or(Some(at)),
            Event::SchedMigrateTask { tid: 1, dest_cpu, .. } if began.is_some() => moves.push((dest_cpu, at)),
            _ => {}
        }
    }
    moves
}

const PROFILES: [&str; 12] =
    ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

/// Two tasks of equal priority share CPU 0: the first has run its 2 ms within 4 ms and a slice or two.
#[test]
fn a_task_that_loads_a_program_leaves_a_crowded_cpu_at_once() {
    for profile in PROFILES {
        let crowd = |then: &[Op]| workload(vec![freed(then), on(busy("hog"), 0)]);
        let told = events_of(&fixed_speed(&[(4, 1024)]), &crowd(&[Op::Exec]), profile, &config(30)).1;
        let ran = |tid: u32| {
            told.iter().filter(move |(_, e)| matches!(e, Event::SchedSwitch { next_tid, .. } if *next_tid == tid))
        };
        let moves = goes(&crowd(&[Op::Exec]), profile);
        assert_eq!(moves.len(), 1, "{profile}: {moves:?}");
        let (cpu, at) = moves[0];
        assert!(cpu != 0, "{profile}");
        // It is not a balance that takes it: those come with ticks, and without the program it stays here for longer.
        let stays = goes(&crowd(&[]), profile).first().map_or(u64::MAX, |&(_, at)| at);
        assert!(at < stays, "{profile}: {at} ns, without a program {stays} ns");
        assert!(ran(1).count() >= 2, "{profile}");
    }
}

/// A task that is alone counts on its CPU, and must not be taken for the reason to leave it.
#[test]
fn a_task_alone_loads_its_program_where_it_is() {
    for profile in PROFILES {
        assert_eq!(goes(&workload(vec![freed(&[Op::Exec])]), profile), [], "{profile}");
    }
}

#[test]
fn tasks_of_other_classes_and_pinned_ones_load_programs_where_they_are() {
    for profile in PROFILES {
        let fifo = with_policy(freed(&[Op::Exec]), SchedPolicy::Fifo { priority: 5 });
        let mut pinned = freed(&[Op::Exec]);
        pinned.phases[1].cpus = Some(CpuSet::of([0]));
        for (what, first) in [("fifo", fifo), ("pinned", pinned)] {
            assert_eq!(goes(&workload(vec![first, on(busy("hog"), 0)]), profile), [], "{profile}: {what}");
        }
    }
}

/// A program that a task has when the run begins is loaded before it.
#[test]
fn who_sleeps_when_the_run_begins_has_its_program() {
    let asleep =
        TaskSpec { start: Start::Asleep { cpu: 1 }, ..task("a", Some(1), vec![Op::Exec, timer_ms(5), run_ms(1)]) };
    let report = run_on(&fixed_speed(&[(2, 1024)]), &workload(vec![asleep]), "7.2", 20);
    assert_eq!((report.tasks[0].wakeups, report.tasks[0].work_ns / MS), (1, 1));
}

#[test]
fn who_sleeps_when_the_run_begins_need_not_run_to_get_there() {
    let asleep = |then: Vec<Op>| TaskSpec { start: Start::Asleep { cpu: 1 }, ..task("a", Some(1), then) };
    let ops = vec![Op::MoveAsleep { cpu: 3 }, timer_ms(5), run_ms(1), timer_ms(5), run_ms(1)];
    let m = fixed_speed(&[(5, 1024)]);
    let first = |w: &Workload| {
        let (report, events) = events_of(&m, w, "4.12", &config(20));
        let at = events.iter().find_map(|&(at, e)| match e {
            Event::SchedSwitch { cpu, next_tid: 1, .. } => Some((at / MS, cpu)),
            _ => None,
        });
        (at, report.tasks[0].wakeups, report.tasks[0].work_ns / MS)
    };
    assert_eq!(first(&workload(vec![asleep(ops)])), (Some((5, 3)), 2, 2), "moved before it ran for the first time");
    assert_eq!(first(&workload(vec![asleep(vec![run_ms(2)])])).2, 2, "one that does not wait starts");
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
    report.tasks[1].wakeup_latency_ns.mean().unwrap_or(0) / 1000
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
    // Both start at 200 us. Their timers expire within the way out: the second waits for what both share, not for
    // another 200 us.
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
