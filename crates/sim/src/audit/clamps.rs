// SPDX-License-Identifier: GPL-2.0-or-later
//! Books of clamps: what a CPU counts are the tasks that are on it, and its sums are theirs.

use pelton_core::value;
use pelton_schema::NullSink;

use crate::common::random::{Dice, paths_of, random_groups, random_machine, random_quotas, random_workload};
use crate::common::{MS, on, profile, run_ms, task, workload};
use crate::shape::Run;
use crate::state::{Engine, Task};
use pelton_model::workload::{GroupChange, GroupSpec, Op, TaskSpec};
use pelton_model::{RunConfig, Workload};

impl<S: Run> Engine<'_, S> {
    /// A CPU counts the clamps of exactly the tasks that are runnable on it, and is in force what they ask for.
    pub(super) fn audit_clamps(&self, c: u32) -> Result<(), String> {
        if !self.uses.clamped {
            return Ok(());
        }
        let counted = |t: &&Task| t.cpu == c && t.uclamp.active == [1, 1];
        let (clamps, n) = (&self.cpus[c as usize].uclamp, self.tasks.iter().filter(counted).count() as u32);
        for buckets in [&clamps.min, &clamps.max] {
            let sum: u32 = buckets.iter().map(|b| b.tasks).sum();
            if sum != n {
                return Err(format!("CPU {c} counts the clamps of {sum} tasks, {n} are on it"));
            }
        }
        // 5.4 marks nothing on a CPU that had no task yet: both of its clamps are 0.
        if n == 0 && (clamps.value[0] != 0 || (clamps.idle == 0 && clamps.value[1] != 0)) {
            return Err(format!("CPU {c} has no task, clamps {:?} and mark {}", clamps.value, clamps.idle));
        }
        if n > 0 && clamps.idle != 0 && self.policy.uclamp_change == value::UCLAMP_CHANGE_CLEARS_MARK {
            return Err(format!("CPU {c} has {n} tasks and is marked as one without"));
        }
        let most = |id: usize| self.tasks.iter().filter(counted).map(|t| t.uclamp.value[id]).max();
        // What 5.4 leaves marked is replaced by the next task, larger or not.
        let replaced = self.policy.uclamp_change == value::UCLAMP_CHANGE_KEEPS_MARK;
        for id in [0, 1].into_iter().filter(|_| !replaced) {
            if most(id).is_some_and(|most| clamps.value[id] < most) {
                return Err(format!("CPU {c} is clamped to {}, a task asks for {:?}", clamps.value[id], most(id)));
            }
        }
        // A task that was queued before clamps were in use does not count yet.
        let counts = |t: &Task| !t.counted.uncounted && self.has_largest(t.class());
        let runs = |t: &Task| t.cpu == c && t.is_runnable() && counts(t);
        match self.tasks.iter().find(|t| runs(t) && t.uclamp.active != [1, 1]) {
            Some(task) => Err(format!("{} runs on CPU {c} and its clamps do not count", task.name)),
            None => Ok(()),
        }
    }

    /// Checks the sums of a CPU, where clamps add up: they are those of the fair tasks queued on it.
    pub(super) fn audit_clamp_sums(&self, c: u32) -> Result<(), String> {
        if !self.uses.clamp_sums {
            return Ok(());
        }
        let on = |t: &&Task| t.cpu == c && t.clamp_sum.counted != 0;
        let tasks = || self.tasks.iter().filter(on);
        let (rq, sums) = (&self.cpus[c as usize].clamp_sum, self.policy.uclamp == value::UCLAMP_SUM);
        let queued = if sums { tasks().map(|t| t.clamp_sum.value).sum() } else { 0 };
        let bias: i32 = tasks().map(|t| t.clamp_sum.bias).sum();
        let est: u32 = self.tasks.iter().filter(|t| t.cpu == c).map(|t| t.clamp_sum.est).sum();
        if (rq.queued, rq.bias, rq.est) != (queued, bias, est) {
            return Err(format!("CPU {c} has clamped sums {rq:?}, its tasks make {queued}, {bias} and {est}"));
        }
        let wrong = |t: &&Task| t.cpu == c && (t.clamp_sum.counted != 0) != (t.se.on_rq != 0);
        match self.tasks.iter().find(wrong) {
            Some(t) => {
                Err(format!("{} is queued on CPU {c}: {}, and counts: {}", t.name, t.se.on_rq, t.clamp_sum.counted))
            }
            None => Ok(()),
        }
    }

    /// Checks a CPU's request where groups are limited: it is the sum over its groups one by one, and its estimate is
    /// that of its tasks.
    pub(super) fn audit_limits(&self, c: u32) -> Result<(), String> {
        if !self.uses.limits_groups {
            return Ok(());
        }
        let (cpu, inputs) = (&self.cpus[c as usize], self.inputs(c));
        let est: u32 = self.tasks.iter().filter(|t| t.cpu == c).map(|t| t.clamp_sum.est).sum();
        let (mut rest, mut limited) = (cpu.rq.cfs.avg.util_avg as i64, 0);
        for slot in cpu.levels.slots() {
            let util = slot.load().avg.util_avg as i64;
            let part = u64::from(self.groups.list[slot.group() as usize].throttle) * u64::from(cpu.rq.cap_orig) / 1024;
            rest -= util;
            limited += util.min(part as i64);
        }
        let expected = limited + rest.max(0);
        if (i64::from(inputs.util_cfs), inputs.util_est, cpu.clamp_sum.est) != (expected, est, est) {
            return Err(format!(
                "CPU {c} asks for {inputs:?}, its groups make {expected} and its tasks' estimates {est}"
            ));
        }
        Ok(())
    }
}

/// Two capped hogs in a limited group and a task with a floor, all on one CPU.
fn crowded() -> Workload {
    let inside = |name, min, max, ops| TaskSpec {
        uclamp: Some((min, max)),
        taskgroup: "/bg".into(),
        ..on(task(name, None, ops), 0)
    };
    let naps = vec![run_ms(3), Op::Sleep { ns: 2 * MS }];
    let tasks = vec![
        inside("a", 0, 200, vec![run_ms(500)]),
        inside("b", 0, 300, vec![run_ms(500)]),
        inside("c", 500, 1024, naps),
    ];
    let groups = vec![GroupSpec { path: "/bg".into(), throttle: 400, ..GroupSpec::default() }];
    Workload { groups, ..workload(tasks) }
}

/// A way to spoil what a CPU or a task counts.
type Spoil = fn(&mut Engine<'_, NullSink>);

const SPOILED: [(&str, &str, Spoil); 13] = [
    ("max", "a mark on a CPU with tasks", |e| e.cpus[0].uclamp.idle = 1),
    ("max", "a task too many", |e| e.cpus[0].uclamp.max[0].tasks += 1),
    ("max", "an upper clamp below a task's", |e| e.cpus[0].uclamp.value[1] = 0),
    ("max", "a task that does not count", |e| e.tasks[0].uclamp.active = [0, 0]),
    ("group_throttle", "an estimate of no task", |e| e.cpus[0].clamp_sum.est += 1),
    ("group_throttle", "another limit", |e| e.cpus[0].levels.at_mut(0).counts_for(1)),
    ("group_throttle", "a task's estimate that no CPU counts", |e| e.tasks[0].clamp_sum.est += 1),
    ("sum", "a sum that drifts", |e| e.cpus[0].clamp_sum.queued += 1),
    ("bias", "a bias that drifts", |e| e.cpus[0].clamp_sum.bias += 1),
    ("bias_weighted", "a task that left", |e| e.tasks[1].clamp_sum.counted = 0),
    ("debt", "a bias of no task", |e| e.tasks[0].clamp_sum.bias -= 5),
    ("debt", "an estimate of no task", |e| e.tasks[0].clamp_sum.est += 1),
    ("sum", "an estimate of no task", |e| e.cpus[0].clamp_sum.est += 1),
];

#[test]
fn a_wrong_count_of_clamps_is_seen() {
    let (m, w) = (crate::common::machine(&[(1, 1024)]), crowded());
    let cfg = RunConfig { duration_ns: 300 * MS, ..RunConfig::default() };
    for (form, what, spoil) in SPOILED {
        let mut policy = profile("6.12");
        policy.set("uclamp", form).expect("a form");
        let mut engine = Engine::new(&m, &w, &policy, &cfg, NullSink).expect("a plan that fits");
        while let Some((time_ns, ev)) = engine.queue.pop().filter(|due| due.0 < 100 * MS) {
            engine.step(time_ns, ev).expect("makes progress");
        }
        assert_eq!(engine.audit(), Ok(()), "{form} before");
        spoil(&mut engine);
        assert!(engine.audit().is_err(), "{form}: {what} is not seen");
    }
}

/// Tasks whose clamps count on a CPU, and the CPU's clamps.
struct Counted {
    tasks: Vec<usize>,
    value: [u32; 2],
    idle: u32,
}

fn counted(engine: &Engine<'_, NullSink>, c: usize) -> Counted {
    let here = |i: &usize| engine.tasks[*i].cpu == c as u32 && engine.tasks[*i].uclamp.active == [1, 1];
    let clamps = &engine.cpus[c].uclamp;
    Counted { tasks: (0..engine.tasks.len()).filter(here).collect(), value: clamps.value, idle: clamps.idle }
}

/// Some task has this upper clamp, or had it when it last counted.
fn is_of_a_task(engine: &Engine<'_, NullSink>, upper: u32) -> bool {
    engine.tasks.iter().any(|t| t.uclamp.value[1] == upper)
}

/// Checks the clamps that an event left on a CPU that has no task afterwards. Returns whether they are those of a task
/// that it had before.
fn check_left_over(engine: &Engine<'_, NullSink>, c: usize, before: &Counted) -> Result<bool, String> {
    let after = counted(engine, c);
    if !after.tasks.is_empty() {
        return Ok(false);
    }
    let left = before.tasks.iter().map(|&i| engine.tasks[i].uclamp.value[1]).collect::<Vec<_>>();
    if left.is_empty() && (after.value, after.idle) == (before.value, before.idle) {
        return Ok(false);
    }
    let is_of_last = left.contains(&after.value[1]);
    // The last one may have come in the same event: a task that is moved on or ends where it woke.
    if after.value[0] == 0 && after.idle == 1 && (is_of_last || is_of_a_task(engine, after.value[1])) {
        return Ok(is_of_last);
    }
    Err(format!("CPU {c} keeps {:?}, mark {}, tasks that left had {left:?}", after.value, after.idle))
}

/// Clamps of groups that change now and then, for the tasks in them.
fn random_clamps_of_groups(d: &mut Dice, w: &mut Workload) {
    for path in paths_of(w) {
        for _ in 0..d.below(6) {
            let mut some = || (d.below(2) == 0).then(|| d.below(1025) as u32);
            let (clamp_min, clamp_max) = (some(), some());
            let change = GroupChange { path: path.clone(), clamp_min, clamp_max, ..GroupChange::default() };
            w.group_changes.push(GroupChange { at_ns: 1 + d.below(300 * MS), ..change });
        }
    }
}

/// Random run number `seed` under max aggregation; how often a CPU's last task left.
fn last_ones(seed: u64) -> Result<u32, String> {
    const PROFILES: [&str; 9] = ["5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];
    let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 11);
    let (m, name) = (random_machine(&mut d), PROFILES[seed as usize % 7]);
    let mut w = random_workload(&mut d, m.cpus.len() as u32);
    random_groups(&mut d, &mut w);
    super::random_clamps(&mut d, &mut w);
    random_clamps_of_groups(&mut d, &mut w);
    let policy = profile(name);
    if d.below(2) == 0 {
        random_quotas(&mut d, &mut w, policy.bandwidth_refill == value::BANDWIDTH_REFILL_BURST);
    }
    let cfg = RunConfig { seed, duration_ns: 300 * MS, ..RunConfig::default() };
    let mut engine = Engine::new(&m, &w, &policy, &cfg, NullSink).map_err(|e| e.to_string())?;
    let mut times = 0;
    while let Some((at, ev)) = engine.queue.pop().filter(|due| due.0 <= cfg.duration_ns) {
        let before: Vec<Counted> = (0..m.cpus.len()).map(|c| counted(&engine, c)).collect();
        engine.step(at, ev).map_err(|e| e.to_string())?;
        for (c, before) in before.iter().enumerate() {
            let what = |e| format!("seed {seed}, {name}, after {ev:?} at {at}: {e}");
            times += u32::from(check_left_over(&engine, c, before).map_err(what)?);
            engine.audit_clamps(c as u32).map_err(what)?;
        }
    }
    Ok(times)
}

#[test]
fn when_the_last_task_leaves_a_cpu_its_upper_clamp_stays_and_its_lower_one_goes() {
    let times: u32 = (0..84).map(|seed| last_ones(seed).unwrap_or_else(|e| panic!("{e}"))).sum();
    assert!(times > 5000, "{times} times only");
}
