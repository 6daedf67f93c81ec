// SPDX-License-Identifier: GPL-2.0-or-later
//! Groups limited to parts of CPUs, as placement reads them: the core beside a twin that puts the task into its group
//! and adds everything up anew.

use pelton_core::{
    NO_CPU, NO_GROUP, Placed, Placement, Policy, Se, ThrottledGroup, group_est, group_limited, group_rest, value,
};
use pelton_reference::uclamp_sum::throttled_with;

const CAPACITIES: [u32; 4] = [1024, 383, 446, 1024];
const THROTTLES: [u32; 6] = [0, 1, 200, 512, 1023, 1024];

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Four CPUs with groups on them, a task in one of these or in none.
struct World {
    groups: [Vec<ThrottledGroup>; 4],
    own: Option<usize>,
    record: Box<Placement>,
    placed: Box<Placed>,
}

fn world(d: &mut Dice) -> World {
    let throttles: Vec<u32> = (0..d.below(6)).map(|_| THROTTLES[d.below(6) as usize]).collect();
    let own = (!throttles.is_empty() && d.below(4) > 0).then(|| d.below(throttles.len() as u64) as usize);
    let mut record = Box::new(Placement { nr_cpus: 4, groups_limited: 1, ..Placement::default() });
    let groups = std::array::from_fn(|c| {
        let util = |d: &mut Dice| if d.below(3) == 0 { 0 } else { d.below(500) as u32 };
        let groups: Vec<_> = throttles.iter().map(|&throttle| ThrottledGroup { util: util(d), throttle }).collect();
        let sum: u32 = groups.iter().map(|group| group.util).sum();
        let cpu = &mut record.cpus[c];
        cpu.state.cap_orig = CAPACITIES[c];
        cpu.capacity = CAPACITIES[c];
        // By rounding a root queue may have a little less than its groups.
        cpu.state.util_cfs = (sum + d.below(300) as u32).saturating_sub(d.below(3) as u32);
        cpu.state.runnable_cfs = cpu.state.util_cfs / 2;
        cpu.est_clamped = d.below(400) as u32;
        cpu.util_clamped = group_limited(cpu.state.util_cfs, &groups, CAPACITIES[c]);
        cpu.group_util = own.map_or(0, |own| groups[own].util);
        cpu.group_rest = group_rest(cpu.state.util_cfs, &groups, own, CAPACITIES[c]);
        groups
    });
    let mut se = Se::default();
    (se.avg.util_avg, se.avg.util_est_enqueued) = (d.below(600), d.below(600) as u32);
    record.task.throttle = own.map_or(NO_GROUP, |own| throttles[own]);
    (record.task.cpu, record.task.uclamp_max) = (d.below(4) as u32, [1024, 300][d.below(2) as usize]);
    record.task.uclamp_min = d.below(200) as u32;
    let mut placed = Box::<Placed>::default();
    (placed.se, record.task.se) = (se, se);
    World { groups, own, record, placed }
}

#[test]
fn core_and_twin_agree_about_limited_cpus() {
    let mut d = Dice(17);
    let mut policy = Policy::profile("6.12").expect("a profile");
    policy.uclamp = value::UCLAMP_GROUP_THROTTLE;
    let mut cut = 0;
    for round in 0..200_000 {
        let w = world(&mut d);
        let (cpu, dst) = (d.below(4) as u32, [d.below(4) as u32, NO_CPU][d.below(2) as usize]);
        let (row, task) = (&w.record.cpus[cpu as usize], &w.record.task);
        let util = w.placed.se.avg.util_avg as i64;
        let delta = match (task.cpu == cpu, dst == cpu) {
            (true, false) => -util,
            (false, true) => util,
            _ => 0,
        };
        let own_est =
            group_est(w.placed.se.util_est(&policy), task.uclamp_max, task.throttle, CAPACITIES[cpu as usize]);
        let est = i64::from(row.est_clamped) + if dst == cpu { i64::from(own_est) } else { 0 };
        let groups: Vec<(i64, i64)> =
            w.groups[cpu as usize].iter().map(|g| (g.util.into(), g.throttle.into())).collect();
        let capacity = i64::from(CAPACITIES[cpu as usize]);
        let twin = throttled_with(row.state.util_cfs.into(), &groups, (w.own, delta), (est, capacity));
        let core = w.record.util_with_task_on(&policy, &w.placed, cpu, dst, false);
        assert_eq!(i64::from(core), twin, "round {round}, CPU {cpu}, task to {dst}");
        cut += u32::from(twin < (i64::from(row.state.util_cfs) + delta).max(est).min(capacity));
        fits(&policy, &w, cpu);
    }
    assert!(cut > 20_000, "groups were cut down in {cut} rounds only");
}

/// A task fits when what is left of it within its clamps and its group's part leaves a fifth of the CPU.
fn fits(policy: &Policy, w: &World, cpu: u32) {
    let (task, capacity) = (&w.record.task, CAPACITIES[cpu as usize]);
    let util = (w.placed.se.avg.util_avg as u32).max(w.placed.se.util_est(policy));
    let part = if w.own.is_some() { task.throttle * capacity / 1024 } else { u32::MAX };
    let counts = util.max(task.uclamp_min).min(task.uclamp_max).min(part);
    let expected = i32::from(counts * 1280 < capacity * 1024);
    assert_eq!(w.record.task_fits(policy, &w.placed, cpu), expected, "{counts} on {capacity}");
}
