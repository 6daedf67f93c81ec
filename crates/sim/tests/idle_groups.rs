// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle groups (`cpu.idle`): what they get beside others, how long others wait for them, and where tasks are placed.

use crate::common::*;
use pelton_model::workload::{CpuSet, GroupChange, GroupSpec, Op, Phase, SchedPolicy, Start, TaskSpec, Workload};
use pelton_schema::Event;
use pelton_sim::Report;

/// Profiles that have idle groups.
const PROFILES: [&str; 6] = ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

fn in_group(path: &str, task: TaskSpec) -> TaskSpec {
    TaskSpec { taskgroup: path.into(), ..task }
}

fn busy_in(path: &str, n: usize) -> Vec<TaskSpec> {
    (0..n).map(|i| in_group(path, busy(&format!("{path}-{i}")))).collect()
}

fn idle_at(path: &str, ms: u64, idle: bool) -> GroupChange {
    GroupChange { at_ns: ms * MS, path: path.into(), idle: Some(idle), ..GroupChange::default() }
}

fn with_idle(tasks: Vec<TaskSpec>, paths: &[&str]) -> Workload {
    let group = |path: &&str| GroupSpec { path: (*path).into(), idle: true, ..GroupSpec::default() };
    Workload { groups: paths.iter().map(group).collect(), ..workload(tasks) }
}

fn run_ns(r: &Report, prefix: &str) -> u64 {
    r.tasks.iter().filter(|t| t.name.starts_with(prefix)).map(|t| t.run_ns).sum()
}

/// 3 of 1027 are 58.4 ms of 20 s. A turn takes a slice, 3 ms here and up to a tick more, and more than one is begun.
#[test]
fn an_idle_group_gets_3_parts_beside_1024() {
    for p in PROFILES {
        let w = with_idle([busy_in("/idle", 3), busy_in("/one", 1)].concat(), &["/idle"]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 20_000);
        let got = run_ns(&r, "/idle");
        assert!(near(got, 58_400_000, 12 * MS), "{p}: {got} ns");
        assert_eq!(got + run_ns(&r, "/one"), 20_000 * MS, "{p}: nothing is lost");
    }
}

/// Its 3 are divided by where its load is: with one task on each of two CPUs 1.5 of 1025.5 on each. 7.2 divides by full
/// weights, which makes 117.0 ms of 80 s of each; before, virtual time goes by whole units, at least 2: 155.9 ms.
#[test]
fn an_idle_group_on_two_cpus_has_half_of_3_on_each() {
    for p in PROFILES {
        let idle = (0..2).map(|c| in_group("/idle", on(busy(&format!("/idle-{c}")), c)));
        let others = (0..2).map(|c| on(busy(&format!("one-{c}")), c));
        let w = with_idle(idle.chain(others).collect(), &["/idle"]);
        let r = run_on(&fixed_speed(&[(2, 1024)]), &w, p, 80_000);
        let (got, each) = (run_ns(&r, "/idle"), if p == "7.2" { 117_000_000 } else { 155_900_000 });
        assert!(near(got, 2 * each, 12 * MS), "{p}: {got} ns");
    }
}

/// The group's weight does not matter, how many tasks are in it neither; alone it has all of the CPU.
#[test]
fn an_idle_group_alone_has_the_whole_cpu() {
    for p in PROFILES {
        let r = run_on(&fixed_speed(&[(1, 1024)]), &with_idle(busy_in("/idle", 3), &["/idle"]), p, 600);
        assert_eq!(run_ns(&r, "/idle"), 600 * MS, "{p}");
        assert!(r.tasks.iter().all(|t| near(t.run_ns, 200 * MS, 20 * MS)), "{p}: its tasks share it evenly");
    }
}

/// Of two idle groups neither is before the other.
#[test]
fn idle_groups_share_evenly_among_themselves() {
    for p in PROFILES {
        let w = with_idle([busy_in("/a", 2), busy_in("/b", 1)].concat(), &["/a", "/b"]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 4000);
        assert!(near(run_ns(&r, "/a"), 2000 * MS, 60 * MS), "{p}: {}", run_ns(&r, "/a"));
    }
}

/// Mean time from a wake-up to the CPU of a task that runs 1 ms in 10, beside busy ones. Up to 6.1 its first wait may
/// last to the tick: a new task begins a slice behind.
fn mean_wait_ns(p: &str, hogs: Vec<TaskSpec>, idle: &[&str], sleeper: TaskSpec) -> u64 {
    let w = with_idle([hogs, vec![sleeper]].concat(), idle);
    let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 3000);
    r.tasks.iter().find(|t| t.name == "sleeper").expect("it ran").wakeup_latency_ns.mean().expect("it woke")
}

/// Tasks in an idle group give way at once, to a task of the root and of another group, nested ones as well.
#[test]
fn a_task_that_wakes_preempts_an_idle_group_at_once() {
    for p in PROFILES {
        for (path, hogs) in [("", "/idle"), ("/other", "/idle"), ("/other/below", "/idle/below/deep")] {
            let sleeper = in_group(path, periodic("sleeper", 1000, 10_000));
            let wait = mean_wait_ns(p, busy_in(hogs, 3), &["/idle"], sleeper);
            assert!(wait < MS / 10, "{p} {path} beside {hogs}: {wait} ns");
        }
    }
}

/// A task of an idle group waits for others; one of SCHED_IDLE in an ordinary group preempts no task either.
#[test]
fn a_task_of_an_idle_group_preempts_nobody() {
    for p in PROFILES {
        let sleeper = in_group("/idle", periodic("sleeper", 1000, 10_000));
        let wait = mean_wait_ns(p, busy_in("/other", 1), &["/idle"], sleeper);
        assert!(wait > 100 * MS, "{p}: {wait} ns");
    }
}

/// Preemption is immediate as well where an idle group and an ordinary one meet below an idle group.
#[test]
fn what_meets_decides_below_an_idle_group_too() {
    for p in PROFILES {
        let sleeper = in_group("/idle/one", periodic("sleeper", 1000, 10_000));
        let wait = mean_wait_ns(p, busy_in("/idle/two", 2), &["/idle", "/idle/two"], sleeper);
        assert!(wait < MS / 10, "{p}: {wait} ns");
    }
}

/// CPU 1 has a task of an idle group only: a task that wakes is placed there rather than behind the one of CPU 0.
#[test]
fn a_waking_task_is_placed_on_a_cpu_that_runs_idle_tasks_only() {
    for p in PROFILES {
        let run = |idle: &[&str]| {
            let hogs = vec![on(busy("busy"), 0), in_group("/idle", on(busy("hog"), 1))];
            let cpus = Some(CpuSet::of([0, 1]));
            let sleeper = TaskSpec { cpus, ..periodic("sleeper", 1000, 10_000) };
            let w = with_idle([hogs, vec![sleeper]].concat(), idle);
            // Two more CPUs with nothing to do, for no search begins where all are busy.
            let r = run_on(&fixed_speed(&[(4, 1024)]), &w, p, 3000);
            (run_ns(&r, "busy"), run_ns(&r, "hog"))
        };
        // All of the sleeper's 300 ms were on CPU 1; else CPU 0, where it starts, keeps some of it.
        let ((busy, hog), (shared, _)) = (run(&["/idle"]), run(&[]));
        assert!(busy > 2990 * MS && near(hog, 2700 * MS, 10 * MS), "{p}: {busy} {hog}");
        assert!(shared < 2990 * MS, "{p}: {shared} without an idle group");
    }
}

/// A second each: idle, with the default weight, idle again.
#[test]
fn cpu_idle_changes_while_the_group_runs() {
    for p in PROFILES {
        let run = |ms| {
            let mut w = with_idle([busy_in("/a/x", 2), busy_in("/b", 1)].concat(), &["/a"]);
            w.group_changes = vec![idle_at("/a", 1000, false), idle_at("/a", 2000, true)];
            run_ns(&run_on(&fixed_speed(&[(1, 1024)]), &w, p, ms), "/a/x")
        };
        let [first, second, third] = [run(1000), run(2000), run(3000)];
        assert!(first < 25 * MS, "{p}: {first}");
        // To 6.6 virtual time stays when the weight changes: 4 ms with the small one count as 1.4 s.
        let least = if matches!(p, "6.1" | "6.6" | "6.8") { 200 } else { 460 };
        assert!((least * MS..=540 * MS).contains(&(second - first)), "{p}: {}", second - first);
        assert!(third - second < 35 * MS, "{p}: {}", third - second);
    }
}

/// The weight it had before is gone, as in the kernel: 1024 shares against 3072.
#[test]
fn a_group_that_is_no_longer_idle_has_the_default_weight() {
    let shares = |path: &str, shares| GroupSpec { path: path.into(), shares, ..GroupSpec::default() };
    for p in PROFILES {
        // It has no task while it is idle, and so no virtual time of then.
        let late = |task| TaskSpec { start: Start::After(300 * MS), ..task };
        let mut w = workload([busy_in("/a", 1), busy_in("/b", 1)].concat().into_iter().map(late).collect());
        w.groups = vec![shares("/a", 9216), shares("/b", 3072)];
        w.group_changes = vec![idle_at("/a", 100, true), idle_at("/a", 200, false)];
        let run = |ms| run_ns(&run_on(&fixed_speed(&[(1, 1024)]), &w, p, ms), "/a");
        let got = run(4300);
        assert!(near(got, 1000 * MS, 60 * MS), "{p}: {got}");
    }
}

/// A task that joins an idle group, and leaves it.
#[test]
fn tasks_move_into_an_idle_group_and_out_of_it() {
    for p in PROFILES {
        let mut mover = task("mover", Some(1), vec![run_ms(100)]);
        let mut phase = mover.phases[0].clone();
        mover.phases[0].taskgroup = Some("/idle".into());
        phase.taskgroup = Some(String::new());
        mover.phases.push(phase);
        let w = with_idle(vec![mover, busy("busy")], &["/idle"]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 4000);
        // Its first 100 ms would take 34 s beside the busy task.
        let got = run_ns(&r, "mover");
        assert!(got < 30 * MS, "{p}: {got}");
    }
}

/// 5.10 has no such file: everything is as without.
#[test]
fn releases_without_idle_groups_run_as_without() {
    for p in ["4.12", "5.4", "5.10"] {
        let of = |idle: &[&str]| {
            let w = with_idle([busy_in("/a", 2), busy_in("/b", 1)].concat(), idle);
            events_of(&fixed_speed(&[(1, 1024)]), &w, p, &config(300)).1
        };
        assert!(of(&["/a"]) == of(&[]), "{p}");
    }
}

/// Work of the first task of a group `/a` in each second, ns at capacity 1024; the group is capped at 200 for the
/// second one.
fn work_by_second(p: &str, w: &Workload) -> [u64; 3] {
    let clamp = |ms: u64, max| GroupChange {
        at_ns: ms * MS,
        path: "/a".into(),
        clamp_max: Some(max),
        ..GroupChange::default()
    };
    let w = Workload { group_changes: vec![clamp(1000, 200), clamp(2000, 1024)], ..w.clone() };
    let work = |ms| run_on(&machine(&[(1, 1024)]), &w, p, ms).tasks[0].work_ns;
    [work(1000), work(2000) - work(1000), work(3000) - work(2000)]
}

/// Clamps of groups change as `cpu.uclamp.max` is written: a busy task is capped at 200 for the second second. Clamps
/// are in use before.
#[test]
fn clamps_of_a_group_change_during_a_run() {
    for p in ["6.1", "6.12", "7.2"] {
        let used = GroupSpec { path: "/other".into(), clamps: (0, 1023), ..GroupSpec::default() };
        let [first, second, third] =
            work_by_second(p, &Workload { groups: vec![used], ..workload(busy_in("/a/b", 1)) });
        assert!(second * 2 < first && third > second * 2, "{p}: {first} {second} {third}");
    }
}

/// The first clamp of all is written while a task runs: it does not count before its next enqueue
/// (`sched_uclamp_used`), which a busy one never has, one that rests 1 ms in 100 soon has, and one that changes its
/// nice value has as well. Where clamps add up, a queued task counts at once.
#[test]
fn the_first_clamp_of_all_finds_queued_tasks_uncounted() {
    let ops = |pause: Option<Op>| [Some(run_ms(99)), pause].into_iter().flatten().collect::<Vec<_>>();
    let of = |ops| vec![in_group("/a/b", task("t", None, ops))];
    let mut renices = of(ops(None));
    renices[0].phases[0].loops = Some(13);
    let phase = |nice| Phase {
        ops: ops(None),
        policy: Some(SchedPolicy::Normal { nice, slice_ns: 0 }),
        ..renices[0].phases[0].clone()
    };
    let phases = [phase(0), phase(1)];
    renices[0].phases = phases.into();
    for p in ["6.1", "6.12", "7.2"] {
        let [first, second, third] = work_by_second(p, &workload(of(ops(None))));
        assert!(second >= first && third == second, "{p}: {first} {second} {third}");
        for tasks in [of(ops(Some(Op::Sleep { ns: MS }))), renices.clone()] {
            let [first, second, _] = work_by_second(p, &workload(tasks));
            assert!(second * 2 < first, "{p}: {first} {second}");
        }
    }
}

/// Files of groups are emitted when the run begins and when they hold something else, not when the same is written
/// again.
#[test]
fn what_is_written_into_files_of_groups_is_told() {
    let mut w = with_idle(busy_in("/a/x", 1), &["/idle"]);
    let shares = |ms: u64, shares| GroupChange { shares: Some(shares), idle: None, ..idle_at("/a", ms, false) };
    w.group_changes = vec![idle_at("/a", 10, true), idle_at("/a", 20, true), idle_at("/a", 30, false), shares(40, 512)];
    let (_, events) = events_of(&machine(&[(1, 1024)]), &w, "6.12", &config(60));
    let told = |&(at, event): &(u64, Event)| match event {
        Event::TaskGroup { group, idle, shares, .. } => Some((at / MS, group, idle, shares)),
        _ => None,
    };
    let all: Vec<_> = events.iter().filter_map(told).collect();
    let begins = [(0, 1, 1, 3), (0, 2, 0, 1024), (0, 3, 0, 1024)];
    assert_eq!(all[..3], begins, "/idle, /a, /a/x");
    assert_eq!(all[3..], [(10, 2, 1, 3), (30, 2, 0, 1024), (40, 2, 0, 512)]);
}
