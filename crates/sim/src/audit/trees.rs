// SPDX-License-Identifier: GPL-2.0-or-later
//! The engine's books in a tree of a thousand task groups, six levels deep: tasks that move from group to group,
//! weights that change, quotas.

use std::collections::BTreeSet;

use pelton_core::Policy;
use pelton_model::workload::{Bandwidth, GroupChange, GroupSpec, Op, Phase, TaskSpec};
use pelton_model::{Machine, RunConfig, Workload};
use pelton_schema::NullSink;

use crate::audit::audited;
use crate::common::random::{Dice, GROUP_LEVELS, paths_of, random_machine, random_quotas, random_tree};
use crate::common::{MS, fixed_speed, profile, run_ms, task, workload};
use crate::state::Engine;

const GROUPS: u64 = 1000;
const TASKS: u64 = 60;
/// Groups that a task goes through in a round.
const STAYS: u64 = 80;
const DURATION_NS: u64 = 400 * MS;
/// The books are as large as the tree; every so many events they are checked.
const CHECKED_EVENTS: u64 = 307;

/// Some loops of running and sleeping in a random group.
fn stay(d: &mut Dice, paths: &[String]) -> Phase {
    let ops = vec![Op::Run { work_ns: 20_000 + d.below(MS / 4) }, Op::Sleep { ns: 100_000 + d.below(MS) }];
    let path = &paths[d.below(paths.len() as u64) as usize];
    Phase { loops: Some(1 + d.below(2)), taskgroup: Some(path.clone()), ops, ..Phase::default() }
}

/// A tree with six levels, whose groups all have tasks, sooner or later.
fn wanderers(d: &mut Dice) -> Workload {
    let deep = |paths: &Vec<String>| paths.iter().any(|path| path.matches('/').count() as u64 == GROUP_LEVELS);
    let paths = std::iter::repeat_with(|| random_tree(d, GROUPS)).find(deep).expect("one tree in six is deep");
    let wanderer = |i: u64| {
        let phases: Vec<Phase> = (0..STAYS).map(|_| stay(d, &paths)).collect();
        TaskSpec { loops: None, phases, ..task(&format!("t{i}"), None, Vec::new()) }
    };
    workload((0..TASKS).map(wanderer).collect())
}

fn random_weights(d: &mut Dice, w: &mut Workload) {
    for path in paths_of(w) {
        for _ in 0..d.below(3) {
            let (at_ns, shares) = (1 + d.below(DURATION_NS), Some(2 + d.below(4000)));
            w.group_changes.push(GroupChange { at_ns, path: path.clone(), shares, ..GroupChange::default() });
        }
    }
}

/// Checks the books of a run; the groups that had a task on some CPU.
fn groups_in_use(w: &Workload, policy: &Policy, d: &mut Dice) -> Result<usize, String> {
    let m = random_machine(d);
    let cfg = RunConfig { duration_ns: DURATION_NS, ..RunConfig::default() };
    let mut engine = Engine::new(&m, w, policy, &cfg, NullSink).map_err(|e| e.to_string())?;
    let mut events = 0u64;
    while let Some((time_ns, ev)) = engine.queue.pop().filter(|due| due.0 <= engine.end_ns) {
        engine.step(time_ns, ev).map_err(|e| e.to_string())?;
        events += 1;
        if events.is_multiple_of(CHECKED_EVENTS) {
            engine.audit().map_err(|e| format!("after {ev:?} at {time_ns}: {e}"))?;
        }
    }
    let slots = engine.cpus.iter().flat_map(|cpu| cpu.levels.slots().iter());
    Ok(slots.map(|own| own.group()).collect::<BTreeSet<u32>>().len())
}

#[test]
fn the_books_are_right_in_a_tree_of_a_thousand_groups() {
    for (seed, p) in ["5.4", "5.10", "6.6", "7.2"].into_iter().enumerate() {
        let mut d = Dice(seed as u64 + 1);
        let mut w = wanderers(&mut d);
        random_weights(&mut d, &mut w);
        if seed % 2 == 1 {
            random_quotas(&mut d, &mut w, false);
        }
        let used = groups_in_use(&w, &profile(p), &mut d).unwrap_or_else(|wrong| panic!("seed {seed}, {p}: {wrong}"));
        assert!(used as u64 > GROUPS * 9 / 10, "seed {seed}, {p}: tasks went to {used} groups only");
    }
}

/// Tasks in nested groups of one CPU, after 100 ms.
fn engine_at_100_ms<'a>(m: &'a Machine, w: &'a Workload, policy: &'a Policy) -> Engine<'a, NullSink> {
    let cfg = RunConfig { duration_ns: 300 * MS, ..RunConfig::default() };
    let mut engine = Engine::new(m, w, policy, &cfg, NullSink).expect("a plan that fits");
    while let Some((time_ns, ev)) = engine.queue.pop().filter(|due| due.0 < 100 * MS) {
        engine.step(time_ns, ev).expect("makes progress");
    }
    engine
}

fn inside(path: &str, ops: Vec<Op>) -> TaskSpec {
    TaskSpec { taskgroup: path.into(), ..task(path, None, ops) }
}

#[test]
fn a_queue_that_is_not_the_sum_of_its_entities_is_seen() {
    let m = fixed_speed(&[(1, 1024)]);
    let w = workload(["", "/a", "/a/b", "/a/b/c"].map(|path| inside(path, vec![run_ms(500)])).into());
    let policy = profile("7.2");
    for slot in 0..3 {
        let mut engine = engine_at_100_ms(&m, &w, &policy);
        assert_eq!(engine.audit_sums(0), Ok(()), "before");
        engine.cpus[0].levels.at_mut(slot as u32).records().1.avg.util_avg += 100;
        let said = engine.audit_sums(0).expect_err("a queue of 100 more is seen");
        assert!(said.contains(&format!("slot {slot}: utilization")), "{said}");
    }
}

/// A running task moves into a group whose quota is used up: it may not run any more, and the task that waits is alone.
#[test]
fn a_task_that_moves_into_a_throttled_group_leaves_its_cpu() {
    let mut m = fixed_speed(&[(1, 1024)]);
    m.costs.tick_ns = 1000;
    m.costs.context_switch_ns = 2000;
    m.costs.hook_ns = 1000;
    for p in ["4.19", "5.10", "6.12", "7.2"] {
        let mut mover = inside("", vec![run_ms(5)]);
        mover.phases[0].loops = Some(4);
        mover.phases.push(Phase { taskgroup: Some("/a".into()), ..mover.phases[0].clone() });
        let limit = Some(Bandwidth { quota_ns: MS, period_ns: 100 * MS, burst_ns: 0 });
        let groups = vec![GroupSpec { path: "/a".into(), bandwidth: limit, ..GroupSpec::default() }];
        let tasks = vec![inside("/a", vec![run_ms(500)]), inside("", vec![run_ms(500)]), mover];
        let w = Workload { groups, ..workload(tasks) };
        let cfg = RunConfig { duration_ns: 300 * MS, ..RunConfig::default() };
        assert_eq!(audited(&m, &w, &profile(p), &cfg, NullSink).map(|_| ()), Ok(()), "{p}");
    }
}
