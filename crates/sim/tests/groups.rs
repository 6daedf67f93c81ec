// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups: distribution of the CPU, the signals, and the calls of the frequency hook.

use crate::common::*;
use pelton_model::groups::{GROUPS_MAX, group_paths};
use pelton_model::workload::{CpuSet, GroupChange, GroupSpec, Op, SchedPolicy, TaskSpec, Workload};
use pelton_schema::{Event, HookSite, Placed, PlacementRecord, Sink};
use pelton_sim::Report;

const PROFILES: [&str; 7] = ["4.12", "5.4", "6.1", "6.6", "6.8", "6.12", "7.2"];
const ALL_PROFILES: [&str; 12] =
    ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

fn in_group(path: &str, task: TaskSpec) -> TaskSpec {
    TaskSpec { taskgroup: path.into(), ..task }
}

fn busy_in(path: &str, n: usize) -> Vec<TaskSpec> {
    (0..n).map(|i| in_group(path, busy(&format!("{path}-{i}")))).collect()
}

fn with_shares(tasks: Vec<TaskSpec>, shares: &[(&str, u64)]) -> Workload {
    let groups =
        shares.iter().map(|&(path, shares)| GroupSpec { path: path.into(), shares, ..GroupSpec::default() }).collect();
    Workload { groups, ..workload(tasks) }
}

fn run_ns(r: &Report, prefix: &str) -> u64 {
    r.tasks.iter().filter(|t| t.name.starts_with(prefix)).map(|t| t.run_ns).sum()
}

/// Share of the first in the time of both, in thousandths.
fn share(r: &Report, first: &str, second: &str) -> u64 {
    let (a, b) = (run_ns(r, first), run_ns(r, second));
    a * 1000 / (a + b)
}

#[test]
fn groups_of_equal_weight_get_equal_time_however_many_tasks_they_have() {
    for p in PROFILES {
        let w = with_shares([busy_in("/one", 1), busy_in("/nine", 9)].concat(), &[]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 4000);
        assert!(near(share(&r, "/one", "/nine"), 500, 15), "{p}: {}", share(&r, "/one", "/nine"));
        for t in r.tasks.iter().filter(|t| t.name.starts_with("/nine")) {
            assert!(near(t.run_ns, 4000 * MS / 18, 25 * MS), "{p}: {} got {}", t.name, t.run_ns);
        }
    }
}

#[test]
fn weights_divide_the_time() {
    for p in PROFILES {
        for (a, b, expected) in [(2048, 1024, 667), (1024, 1024, 500), (1024, 102, 909)] {
            let w = with_shares([busy_in("/a", 2), busy_in("/b", 3)].concat(), &[("/a", a), ("/b", b)]);
            let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 6000);
            assert!(near(share(&r, "/a", "/b"), expected, 20), "{p} {a}:{b}: {}", share(&r, "/a", "/b"));
        }
    }
}

/// A second with equal weights, a second with three times as much for one of them.
#[test]
fn weights_change_while_the_groups_run() {
    for p in PROFILES {
        let run = |ms| {
            let mut w = with_shares([busy_in("/a/x", 2), busy_in("/b", 1)].concat(), &[("/b", 1024)]);
            w.group_changes =
                vec![GroupChange { at_ns: 2000 * MS, path: "/a".into(), shares: Some(3072), ..GroupChange::default() }];
            run_ns(&run_on(&fixed_speed(&[(1, 1024)]), &w, p, ms), "/a/x")
        };
        let (first, both) = (run(2000), run(6000));
        assert!(near(first, 1000 * MS, 30 * MS), "{p}: {first} of 2 s");
        assert!(near(both - first, 3000 * MS, 60 * MS), "{p}: {} of 4 s", both - first);
    }
}

#[test]
fn a_group_competes_with_tasks_of_the_root_and_its_children_with_each_other() {
    for p in PROFILES {
        let w = with_shares([busy_in("/a/x", 1), busy_in("/a/y", 4), busy_in("", 1)].concat(), &[("/a/x", 3072)]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 6000);
        assert!(near(run_ns(&r, "-0"), 3000 * MS, 100 * MS), "{p}: the root's task got {}", run_ns(&r, "-0"));
        assert!(near(share(&r, "/a/x", "/a/y"), 750, 25), "{p}: {}", share(&r, "/a/x", "/a/y"));
    }
}

#[test]
fn shares_follow_the_load_on_each_cpu() {
    for p in PROFILES {
        // Half of /a's load is on either CPU, all of /b's on the first: 512 against 1024 there.
        let tasks = vec![
            in_group("/a", on(busy("a0"), 0)),
            in_group("/a", on(busy("a1"), 1)),
            in_group("/b", on(busy("b0"), 0)),
        ];
        let r = run_on(&fixed_speed(&[(2, 1024)]), &with_shares(tasks, &[]), p, 6000);
        assert!(near(share(&r, "a0", "b0"), 333, 30), "{p}: {}", share(&r, "a0", "b0"));
        assert_eq!(run_ns(&r, "a1"), 6000 * MS, "{p}: alone");
    }
}

#[test]
fn preemption_is_decided_where_the_groups_meet() {
    for p in PROFILES {
        // The sleeper has slept long, but it is one of ten in its group: the group's entity decides.
        let sleeper = in_group("/many", periodic("sleeper", 1000, 20_000));
        let w = with_shares([busy_in("/many", 9), busy_in("/one", 1), vec![sleeper]].concat(), &[]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 4000);
        assert!(near(share(&r, "/one", "/many"), 512, 30), "{p}: {}", share(&r, "/one", "/many"));
        assert!(run_ns(&r, "sleeper") > 100 * MS, "{p}: {}", run_ns(&r, "sleeper"));
    }
}

/// Last averages emitted of the root and of group number 1: (root, queue, entity); the queue's are those that the
/// entity came after: a walk emits a queue alone where the one above did not change.
fn last_utils(events: &[(u64, Event)]) -> (u32, u32, u32) {
    let of_group = |(_, e): &(u64, Event), wanted| match *e {
        Event::PeltGroup { group: 1, entity, util_avg, .. } if entity == wanted => Some(util_avg),
        _ => None,
    };
    let of_root = |(_, e): &(u64, Event)| if let Event::PeltCfs { util_avg, .. } = *e { Some(util_avg) } else { None };
    let root = events.iter().rev().find_map(of_root).unwrap_or(0);
    let last = events.iter().rposition(|e| of_group(e, 1).is_some()).unwrap_or(0);
    let queue = events[..last].iter().rev().find_map(|e| of_group(e, 0)).unwrap_or(0);
    (root, queue, events.get(last).and_then(|e| of_group(e, 1)).unwrap_or(0))
}

#[test]
fn utilization_of_a_busy_group_is_its_running_time() {
    for p in ["4.16", "5.10", "7.2"] {
        let m = fixed_speed(&[(1, 1024)]);
        let (_, alone) = events_of(&m, &with_shares(busy_in("/a", 3), &[]), p, &config(2000));
        let (root, queue, entity) = last_utils(&alone);
        assert!(root >= 1020 && queue >= 1020 && entity >= 1020, "{p}: {root} {queue} {entity}");
        let (_, half) =
            events_of(&m, &with_shares([busy_in("/a", 3), busy_in("/b", 1)].concat(), &[]), p, &config(4000));
        let (root, queue, entity) = last_utils(&half);
        assert!(root >= 1020, "{p}: {root}");
        assert!(queue.abs_diff(512) < 120 && entity.abs_diff(queue) <= 24, "{p}: {queue} {entity}");
    }
}

/// Calls by site of a run in which six tasks of a group find their last of four CPUs taken now and then.
fn calls(p: &str, path: &str) -> (u64, u64, u64) {
    let one = |i: u64| in_group(path, periodic(&format!("t{i}"), 3000, 7000 + 900 * i));
    let w = workload((0..6).map(one).collect());
    let r = run_on(&machine(&[(4, 1024)]), &w, p, 1000);
    let of = |site: HookSite| r.cpus.iter().map(|c| c.hook_calls[site as usize]).sum();
    (of(HookSite::Attach), of(HookSite::Detach), of(HookSite::Decay))
}

#[test]
fn what_joins_a_group_is_no_attach_to_the_root() {
    for p in PROFILES {
        let (attach, ..) = calls(p, "");
        let (grouped, detach, _) = calls(p, "/session");
        assert!(attach > 20, "{p}: {attach} attaches without groups");
        assert_eq!((grouped, detach), (0, 0), "{p}: a group's entity never leaves the root's averages");
    }
}

#[test]
fn from_5_5_the_change_calls_when_it_reaches_the_root() {
    let (attach, _, decay) = calls("7.2", "");
    let (.., grouped) = calls("7.2", "/session");
    assert!(grouped > decay + attach / 2, "{grouped} calls, without groups {decay} and {attach} attaches");
    let (_, _, decay) = calls("5.4", "");
    let (.., grouped) = calls("5.4", "/session");
    assert!(grouped < decay * 3 / 2, "{grouped} calls, without groups {decay}: only time makes them");
}

#[test]
fn a_task_takes_its_averages_along_into_another_group() {
    for p in PROFILES {
        let mut mover = in_group("/a", task("mover", None, vec![run_ms(5)]));
        mover.phases[0].loops = Some(40);
        let mut second = mover.phases[0].clone();
        second.taskgroup = Some("/b".into());
        mover.phases.push(second);
        let w = with_shares([vec![mover], busy_in("/a", 3)].concat(), &[]);
        let (r, events) = events_of(&fixed_speed(&[(1, 1024)]), &w, p, &config(2000));
        assert!(run_ns(&r, "mover") == 400 * MS, "{p}: {}", run_ns(&r, "mover"));
        let groups: Vec<u32> = events
            .iter()
            .filter_map(|(_, e)| if let Event::TaskAttributes { tid: 1, group, .. } = *e { Some(group) } else { None })
            .collect();
        assert_eq!(groups, [1, 2], "{p}");
        let moved = events.iter().rposition(|(_, e)| matches!(e, Event::TaskAttributes { tid: 1, .. })).expect("told");
        let util = |(_, e): &(u64, Event)| match *e {
            Event::PeltSe { tid: 1, util_avg, .. } => Some(util_avg),
            _ => None,
        };
        let before = events[..moved].iter().rev().find_map(util).expect("it ran in the first group");
        let after = events[moved..].iter().find_map(util).expect("it runs in the second group");
        assert!(before > 100 && after > before * 3 / 4, "{p}: {before} before, {after} after");
    }
}

/// Loads that wake-ups of 4.12 compared.
#[derive(Default)]
struct Compared {
    brought_up_to_date: u32,
    least: Option<i64>,
}

impl Sink for Compared {
    const PLACEMENTS: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn placement(&mut self, _: u64, _: u32, read: &PlacementRecord, placed: &Placed) {
        if placed.effective_loads().is_some() {
            self.brought_up_to_date += u32::from(placed.se.avg.load_avg < read.task.se.avg.load_avg);
            let comes = placed.se.avg.load_avg as i64 + read.task.shift_here;
            self.least = Some(self.least.map_or(comes, |least| least.min(comes)));
        }
    }
}

/// The group of a task has no task on the CPU that wakes it: what comes there is the group's weight, 2 at least. On
/// unequal CPUs `wake_cap()` updates the task's load first; with the load of before the weight would be that
/// of another load, and less than nothing would come once the task has slept for long.
#[test]
fn groups_make_of_a_task_that_slept_what_it_is_now() {
    let m = machine(&[(2, 1024), (2, 512)]);
    let mut waker = task("waker", None, vec![timer_ms(150), run_ms(1), Op::SemPost(0), run_ms(2)]);
    waker.phases[0].cpus = Some(CpuSet::of([2]));
    let woken = in_group("/g", task("woken", None, vec![Op::SemWait(0), run_ms(20)]));
    let stays = on(in_group("/g", periodic("stays", 2000, 9000)), 1);
    let w = Workload { semaphores: vec![0], ..with_shares(vec![waker, woken, stays], &[("/g", 16)]) };
    let mut sink = Compared::default();
    pelton_sim::run(&m, &w, &profile("4.12"), &config(3000), &mut sink).expect("runs");
    assert!(sink.brought_up_to_date >= 5, "{} times", sink.brought_up_to_date);
    assert!(sink.least.is_some_and(|least| least >= 2), "{:?}", sink.least);
}

#[test]
fn as_many_groups_as_allowed_can_be_named_again_and_one_more_cannot() {
    let named = |n: usize| {
        let tasks: Vec<TaskSpec> =
            (0..n).chain([0]).map(|i| in_group(&format!("/{i}"), task("t", None, vec![run_ms(1)]))).collect();
        group_paths(&with_shares(tasks, &[]))
    };
    assert_eq!(named(GROUPS_MAX).expect("allowed").len(), GROUPS_MAX);
    assert!(named(GROUPS_MAX + 1).is_err());
}

#[test]
fn real_time_tasks_of_a_group_are_nobodys_affair() {
    for p in PROFILES {
        let rt = with_policy(periodic("rt", 2000, 10_000), SchedPolicy::Fifo { priority: 10 });
        let w = with_shares([busy_in("/a", 2), vec![in_group("/a", rt)]].concat(), &[]);
        let r = run_on(&fixed_speed(&[(1, 1024)]), &w, p, 1000);
        assert_eq!(run_ns(&r, "rt"), 200 * MS, "{p}");
        assert!(near(run_ns(&r, "/a-0"), 400 * MS, 10 * MS), "{p}: {}", run_ns(&r, "/a-0"));
    }
}

/// Ten seconds, every profile, groups of several weights side by side and nested: each gets its share to within a
/// percent of the time.
#[test]
fn shares_are_honoured_within_a_percent_over_ten_seconds() {
    let rows: [&[(&str, u64)]; 4] = [
        &[("/a", 1024), ("/b", 1024), ("/c", 1024)],
        &[("/a", 3072), ("/b", 1024)],
        &[("/a", 100), ("/b", 300), ("/c", 600)],
        &[("/a/x", 2048), ("/a/y", 1024), ("/b", 1024)],
    ];
    for p in ALL_PROFILES {
        for groups in rows {
            let tasks = groups.iter().enumerate().flat_map(|(i, (path, _))| busy_in(path, 1 + i % 3)).collect();
            let mut shares = groups.to_vec();
            // Inner groups are weighed against their siblings, and /a against /b.
            shares.extend((groups[0].0 == "/a/x").then_some(("/a", 1024)));
            let r = run_on(&fixed_speed(&[(1, 1024)]), &with_shares(tasks, &shares), p, 10_000);
            let outer = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
            for (path, weight) in groups {
                let siblings: u64 =
                    groups.iter().filter(|(other, _)| outer(other) == outer(path)).map(|(_, w)| w).sum();
                let part = if groups[0].0 != "/a/x" {
                    weight * 1000 / siblings
                } else if *path == "/b" {
                    500
                } else {
                    weight * 500 / siblings
                };
                let got = run_ns(&r, path) / (10_000 * MS / 1000);
                assert!(near(got, part, 10), "{p} {groups:?}: {path} got {got} of 1000, {part} is its share");
            }
        }
    }
}

/// Four CPUs, as many tasks of every group, each on its CPU or wherever balances take it: all groups get their shares
/// of all CPUs together, to within a percent of the time.
#[test]
fn shares_are_honoured_within_a_percent_on_four_cpus() {
    let rows: [&[(&str, u64)]; 3] = [
        &[("/a", 1024), ("/b", 1024), ("/c", 1024)],
        &[("/a", 3072), ("/b", 1024)],
        &[("/a", 100), ("/b", 300), ("/c", 600)],
    ];
    for (p, groups) in ALL_PROFILES.iter().flat_map(|p| rows.map(|groups| (p, groups))) {
        let all: u64 = groups.iter().map(|(_, weight)| weight).sum();
        let free: Vec<TaskSpec> = groups.iter().flat_map(|(path, _)| busy_in(path, 4)).collect();
        let pinned = free.iter().cloned().zip(0..).map(|(task, i)| on(task, i % 4)).collect();
        for tasks in [pinned, free] {
            let r = run_on(&fixed_speed(&[(4, 1024)]), &with_shares(tasks, groups), p, 10_000);
            for (path, weight) in groups {
                let (got, part) = (run_ns(&r, path) / (40_000 * MS / 1000), weight * 1000 / all);
                assert!(near(got, part, 10), "{p} {groups:?}: {path} got {got} of 1000, {part} is its share");
            }
        }
    }
}
