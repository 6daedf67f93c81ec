// SPDX-License-Identifier: GPL-2.0-or-later
//! Random clamps on tasks and groups, changed and carried from CPU to CPU: what every way of putting clamps together
//! keeps. That each CPU's clamps are those of its tasks after every event is checked by the tests of the engine's books
//! (src/audit).

use crate::common::random::{Dice, paths_of, random_groups, random_machine, random_workload};
use crate::common::*;
use pelton_core::Policy;
use pelton_model::Machine;
use pelton_model::workload::{GroupSpec, Op, Phase, SchedPolicy, Start, TaskSpec, Workload};
use pelton_schema::Event;

const FORMS: [&str; 7] = ["off", "max", "group_throttle", "sum", "bias", "bias_weighted", "debt"];
const PROFILES: [&str; 6] = ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];
const SEEDS: u64 = 60;

fn policy(profile: &str, form: &str) -> Policy {
    let mut policy = Policy::profile(profile).expect("a profile");
    policy.set("uclamp", form).expect("a form");
    policy.check().expect("no contradiction");
    policy
}

fn events(m: &Machine, w: &Workload, profile: &str, form: &str, ms: u64) -> Vec<(u64, Event)> {
    let mut events = Keep::default();
    pelton_sim::run(m, w, &policy(profile, form), &config(ms), &mut events).expect("runs");
    events.0
}

/// The two runs are one; else the first event that differs.
fn same(a: &[(u64, Event)], b: &[(u64, Event)], what: &str) {
    let first = a.iter().zip(b).find(|(a, b)| a != b);
    assert!(first.is_none() && a.len() == b.len(), "{what}: {first:#?}");
}

fn pair(d: &mut Dice) -> (u32, u32) {
    let any = [0, 1, 30, 120, 200, 383, 600, 1023, 1024];
    let (a, b) = (any[d.below(9) as usize], any[d.below(9) as usize]);
    (a.min(b), a.max(b))
}

/// Clamps for most tasks, other ones in some of their later phases, and for some groups.
fn random_clamps(d: &mut Dice, w: &mut Workload) {
    for task in &mut w.tasks {
        task.uclamp = (d.below(4) > 0).then(|| pair(d));
        for phase in task.phases.iter_mut().skip(1) {
            phase.uclamp = (d.below(2) == 0).then(|| pair(d));
        }
    }
    for path in paths_of(w) {
        let clamps = if d.below(2) == 0 { pair(d) } else { (0, 1024) };
        let throttle = [0, 100, 512, 1024][d.below(4) as usize];
        match w.groups.iter_mut().find(|group| group.path == path) {
            Some(group) => (group.clamps, group.throttle) = (clamps, throttle),
            None => w.groups.push(GroupSpec { path: path.clone(), clamps, throttle, ..GroupSpec::default() }),
        }
    }
}

/// A real-time task has a lower clamp of 1024 by default, which decides where it goes even if clamps are not in use,
/// and how fast it runs once they are: these workloads have none.
fn fair_only(w: &mut Workload) {
    let real_time = |p: SchedPolicy| matches!(p, SchedPolicy::Fifo { .. } | SchedPolicy::RoundRobin { .. });
    for task in &mut w.tasks {
        task.policy = if real_time(task.policy) { SchedPolicy::default() } else { task.policy };
        task.phases.iter_mut().for_each(|p| p.policy = p.policy.filter(|p| !real_time(*p)));
    }
}

fn random(seed: u64) -> (Dice, Machine, Workload) {
    let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 7);
    let m = random_machine(&mut d);
    let mut w = random_workload(&mut d, m.cpus.len() as u32);
    random_groups(&mut d, &mut w);
    (d, m, w)
}

#[test]
fn a_clamped_request_never_exceeds_its_cpu() {
    for seed in 0..SEEDS {
        let (mut d, m, mut w) = random(seed);
        random_clamps(&mut d, &mut w);
        let profile = PROFILES[d.below(5) as usize];
        for form in FORMS {
            for (at, event) in events(&m, &w, profile, form, 200) {
                if let Event::FreqDecision { cfs, effective, cap_orig, .. } = event {
                    assert!(cfs.max(effective) <= cap_orig, "seed {seed}, {profile}, {form}, at {at}: {event:?}");
                }
            }
        }
    }
}

#[test]
fn without_clamps_every_form_is_none() {
    for seed in 0..SEEDS {
        let (mut d, m, mut w) = random(seed);
        fair_only(&mut w);
        let profile = PROFILES[d.below(5) as usize];
        let none = events(&m, &w, profile, "off", 200);
        for form in &FORMS[1..] {
            same(&none, &events(&m, &w, profile, form, 200), &format!("seed {seed}, {profile}, {form}"));
        }
    }
}

/// Clamps that are set later change nothing before: the first of a run is set at 120 ms.
#[test]
fn before_the_first_clamp_every_form_is_none() {
    for seed in 0..SEEDS {
        let (mut d, m, mut w) = random(seed);
        fair_only(&mut w);
        w.tasks.push(TaskSpec { start: Start::After(120 * MS), ..capped("late", 200, vec![run_ms(40)]) });
        let profile = PROFILES[d.below(5) as usize];
        let before = |form| {
            let mut all = events(&m, &w, profile, form, 200);
            all.retain(|event| event.0 < 120 * MS);
            all
        };
        let none = before("off");
        for form in &FORMS[1..] {
            same(&none, &before(form), &format!("seed {seed}, {profile}, {form}"));
        }
    }
}

/// In use and open: (0, 1024) limits no task. The postings' sums call the governor once more for each task that joins;
/// the largest clamp and our own form do not.
#[test]
fn clamps_that_limit_nothing_change_nothing() {
    for seed in 0..SEEDS {
        let (mut d, m, mut w) = random(seed);
        fair_only(&mut w);
        w.tasks.iter_mut().for_each(|task| task.uclamp = Some((0, 1024)));
        let profile = PROFILES[d.below(5) as usize];
        let none = events(&m, &w, profile, "off", 200);
        for form in ["max", "group_throttle", "debt"] {
            let open = events(&m, &w, profile, form, 200);
            same(&none, &open, &format!("seed {seed}, {profile}, {form}"));
        }
    }
}

fn capped(name: &str, cap: u32, ops: Vec<Op>) -> TaskSpec {
    TaskSpec { uclamp: Some((0, cap)), ..on(task(name, None, ops), 0) }
}

/// Fair utilization, with its clamps, in each decision about CPU 0.
fn decisions(events: &[(u64, Event)]) -> Vec<(u64, u32)> {
    let of = |&(at, event): &(u64, Event)| match event {
        Event::FreqDecision { max_cpu: 0, gate: 0, cfs, .. } => Some((at, cfs)),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[test]
fn a_hog_is_worth_its_cap() {
    let m = machine(&[(1, 1024)]);
    for form in ["sum", "bias", "bias_weighted", "debt"] {
        for cap in [1, 100, 383, 700, 1023] {
            let w = workload(vec![capped("hog", cap, vec![run_ms(10)])]);
            let all = decisions(&events(&m, &w, "6.12", form, 1500));
            assert_eq!(all.last().map(|d| d.1), Some(cap), "{form}");
        }
    }
}

/// The first moment at which CPU 0 asks for more while its only task, a capped hog, sleeps; `None` = it never does.
fn rises(form: &str, boost: &str, cap: u32) -> Option<(u64, Vec<u32>)> {
    // The second CPU of the domain has something to do all the time, so that the first one is looked at while it
    // sleeps.
    let m = machine(&[(2, 1024)]);
    let hog = capped("hog", cap, vec![run_ms(40), Op::Sleep { ns: 150 * MS }]);
    let w = workload(vec![hog, on(periodic("other", 200, 2000), 1)]);
    let mut policy = policy("6.12", form);
    policy.set("runnable_boost", boost).expect("a value");
    let mut all = Keep::default();
    pelton_sim::run(&m, &w, &policy, &config(2000), &mut all).expect("runs");
    let told = decisions(&all.0);
    let leaves = |e: &Event| matches!(e, Event::SchedSwitch { cpu: 0, next_tid: 0, prev_state: 1, .. });
    let sleeps: Vec<u64> = all.0.iter().filter(|(_, e)| leaves(e)).map(|e| e.0).collect();
    assert!(sleeps.len() > 3, "{form}: {} sleeps", sleeps.len());
    sleeps.into_iter().find_map(|at| {
        let before = told.iter().rfind(|d| d.0 < at).map_or(0, |d| d.1);
        let asleep: Vec<u32> = told.iter().filter(|d| (at..at + 140 * MS).contains(&d.0)).map(|d| d.1).collect();
        let grows = asleep.iter().any(|&cfs| cfs > before.max(cap)) || asleep.windows(2).any(|w| w[1] > w[0]);
        grows.then_some((at, asleep))
    })
}

#[test]
fn when_the_last_task_leaves_a_cpu_it_asks_for_no_more_than_before() {
    for cap in [100, 300, 700] {
        for form in ["sum", "debt"] {
            assert_eq!(rises(form, "on", cap), None, "{form}, {cap}");
        }
        for form in ["sum", "bias", "bias_weighted", "debt"] {
            assert_eq!(rises(form, "off", cap), None, "{form}, {cap}, waiting is no demand");
        }
    }
}

/// As it was posted, bias cuts utilization when a capped task sleeps and leaves the runnable average, whose boost
/// brings the cut back (docs/gaps.md F-291).
#[test]
fn the_boost_of_waiting_tasks_brings_back_what_bias_cut_off() {
    let (_, asleep) = rises("bias", "on", 100).expect("the posting's rule");
    assert!(asleep[0] > 300, "{asleep:?}");
}

#[test]
fn late_frames_raise_the_floor_and_frames_in_time_lower_it() {
    use pelton_model::workload::{FrameFloor, TimerId, TimerMode};
    // Ten frames in time, one of 30 ms at full speed, ten in time, for ever.
    let vsync = Op::Timer { timer: TimerId::Own(0), period_ns: 16 * MS, mode: TimerMode::Skip };
    let frame = |ms: u64| [run_ms(ms), vsync.clone()];
    let ops: Vec<Op> = (0..20).flat_map(|i| frame(if i == 10 { 30 } else { 1 })).collect();
    let phases = vec![Phase { ops, silent: true, ..Phase::default() }];
    let floor = Some(FrameFloor { min: 500, frames: 4, following: 1 });
    let mut ui = TaskSpec { phases, frame_ns: 16 * MS, frame_floor: floor, ..on(task("ui", None, vec![]), 0) };
    ui.uclamp = Some((20, 400));
    let render = on(periodic("render", 500, 16_000), 0);
    let all = events(&machine(&[(1, 1024)]), &workload(vec![ui, render]), "6.12", "max", 1000);
    let told: Vec<(u32, u32, u32)> = all
        .iter()
        .filter_map(|(_, e)| match *e {
            Event::TaskAttributes { tid, uclamp_min, uclamp_max, .. } => Some((tid, uclamp_min, uclamp_max)),
            _ => None,
        })
        .collect();
    let of = |tid: u32| told.iter().filter(|t| t.0 == tid).map(|t| (t.1, t.2)).collect::<Vec<_>>();
    let first = told.iter().map(|t| t.0).min().expect("told");
    assert!(of(first).starts_with(&[(20, 400), (500, 500), (20, 400)]), "{:?}", of(first));
    assert!(of(first + 1).starts_with(&[(0, 1024), (500, 1024), (0, 1024)]), "{:?}", of(first + 1));
}
