// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune: margins, boost groups and the filter, in the forms of the posting and of Android's trees.

use pelton_core::{
    BOOST_GROUPS, BoostCpu, CpuState, IdleCandidate, Policy, PreferIdle, boost_full, boost_group_limit, boost_margin,
    boosted, filter_accepts, filter_accepts_by, filter_form, filter_normalize, filter_payoff,
};

fn form(name: &str) -> Policy {
    let mut policy = Policy::profile("4.12").expect("a profile");
    policy.set("boost_form", name).expect("a form");
    policy
}

/// The posting: ((1024 - s) * b * 1311) >> 17. (1024 - 394) * 10 * 1311 / 131072 = 63.01; nothing is missing to 1024.
#[test]
fn margin_of_the_posting() {
    let rfc = form("rfc");
    let expected = [
        (0, 100, 1024),
        (0, 50, 512),
        (0, 10, 102),
        (100, 30, 277),
        (300, 30, 217),
        (394, 5, 31),
        (394, 10, 63),
        (456, 10, 56),
        (450, 80, 459),
        (1024, 50, 0),
        (524, 10, 50),
    ];
    for (signal, boost, margin) in expected {
        assert_eq!(boost_margin(&rfc, 1024, signal, boost), margin, "{signal} at {boost} %");
        assert_eq!(boosted(&rfc, 1024, signal, boost), signal + margin as u32);
    }
    assert_eq!(boosted(&rfc, 1024, 1100, 50), 1100, "more than everything is not lowered");
}

/// 1311 / 2^17 is a little more than 1 / 100: 1024 * 29 / 100 = 296.96, and 297.03 in the posting's arithmetic.
#[test]
fn later_margins_divide_exactly_and_may_be_negative() {
    let (rfc, later) = (form("rfc"), form("later"));
    for (signal, boost, posted, exact) in [(0, 29, 297, 296), (0, 54, 553, 552), (0, 83, 850, 849)] {
        assert_eq!(boost_margin(&rfc, 1024, signal, boost), posted);
        assert_eq!(boost_margin(&later, 1024, signal, boost), exact);
    }
    for (signal, boost, margin) in [(400, -10, -40), (333, -50, -166), (1024, -100, -1024)] {
        assert_eq!(boost_margin(&later, 1024, signal, boost), margin);
        assert_eq!(boost_margin(&rfc, 1024, signal, boost), 0, "the posting has no negative boost");
    }
    let differ = (0..=1024).flat_map(|s| (1..=100).map(move |b| (s, b)));
    let more = differ.filter(|&(s, b)| boost_margin(&rfc, 1024, s, b) != boost_margin(&later, 1024, s, b));
    assert_eq!(more.count(), 4115, "always by one");
}

/// Android 4.14 measures what is missing to the CPU's capacity: (430 - 230) * 50 / 100.
#[test]
fn the_margin_of_hold_ends_at_the_cpu() {
    let hold = form("hold");
    assert_eq!((boost_full(&hold, 430), boost_full(&form("later"), 430)), (430, 1024));
    assert_eq!(boosted(&hold, 430, 230, 50), 330);
}

fn count(cpu: &mut BoostCpu, policy: &Policy, group: u32, comes: bool) -> i32 {
    cpu.count(policy, group, comes, false, 0);
    cpu.boost_max
}

fn write(cpu: &mut BoostCpu, policy: &Policy, group: u32, boost: i32) -> i32 {
    cpu.write(policy, group, boost, 0);
    cpu.boost_max
}

/// Root 10, G1 60, G2 30, no task runnable. Then +G1, +G1, G1 := 20, G2 := 90, +G2, root := 95, -G1, -G2, -G1.
fn group_story(policy: &Policy) -> Vec<i32> {
    let mut cpu = BoostCpu::default();
    for (group, boost) in [(0, 10), (1, 60), (2, 30)] {
        cpu.group[group].boost = boost;
    }
    // A task of the root group comes and goes: the maximum is looked up.
    count(&mut cpu, policy, 0, true);
    let mut said = vec![count(&mut cpu, policy, 0, false)];
    said.push(count(&mut cpu, policy, 1, true));
    said.push(count(&mut cpu, policy, 1, true));
    said.push(write(&mut cpu, policy, 1, 20));
    said.push(write(&mut cpu, policy, 2, 90));
    said.push(count(&mut cpu, policy, 2, true));
    said.push(write(&mut cpu, policy, 0, 95));
    for group in [1, 2, 1] {
        said.push(count(&mut cpu, policy, group, false));
    }
    said
}

/// The posting counts the root always, but a value written to it is seen at the next look only.
#[test]
fn groups_with_runnable_tasks_boost_a_cpu() {
    assert_eq!(group_story(&form("rfc")), [10, 60, 60, 20, 20, 90, 90, 95, 95, 95]);
    assert_eq!(group_story(&form("later")), [0, 60, 60, 20, 20, 90, 90, 90, 20, 0]);
}

/// Android 4.14: a boost that was stamped is held for 50 ms after its task left; below 0 counts as 0.
#[test]
fn a_held_boost_outlives_its_task_by_50_ms() {
    const MS: u64 = 1_000_000;
    let hold = form("hold");
    let mut cpu = BoostCpu::default();
    cpu.write(&hold, 1, 40, 1000 * MS);
    cpu.count(&hold, 1, true, true, 1000 * MS);
    cpu.count(&hold, 1, false, false, 1002 * MS);
    assert_eq!(cpu.boost(&hold, 1050 * MS), 40);
    assert_eq!(cpu.boost(&hold, 1050 * MS + 1), 0);
    cpu.write(&hold, 0, -20, 1100 * MS);
    cpu.count(&hold, 0, true, false, 1100 * MS);
    assert_eq!(cpu.boost(&hold, 1200 * MS), 0, "not below 0");
}

/// The posting does not notice that a runnable task changed its group: the counts leak. Later trees move them.
#[test]
fn a_runnable_task_changes_its_group() {
    let now = 1 << 40;
    for (name, boost, counts) in [("rfc", 60, [1, 0]), ("later", 30, [0, 1]), ("hold", 30, [0, 1])] {
        let policy = form(name);
        let mut cpu = BoostCpu::default();
        cpu.write(&policy, 1, 60, now);
        cpu.write(&policy, 2, 30, now);
        cpu.count(&policy, 1, true, false, now);
        cpu.relocate(&policy, 1, 2, now + 60_000_000);
        assert_eq!(cpu.boost(&policy, now + 60_000_000), boost, "{name}");
        assert_eq!([cpu.group[1].tasks, cpu.group[2].tasks], counts, "{name}");
    }
}

/// BOOSTGROUPS_COUNT: 4 in the posting and on Android 3.18, 5 on Android 4.4, the root included.
#[test]
fn groups_are_few() {
    assert_eq!(boost_group_limit(&form("rfc")), 4);
    assert_eq!(boost_group_limit(&form("later")) as usize, BOOST_GROUPS);
}

/// Android 4.4: gains (5, 4) at boost 50: 20 * 5 - 10 * 4 = 60. At 5 the cut is vertical, at 90 and more horizontal.
#[test]
fn filter_of_placements_cuts_through_the_origin() {
    let accepts = |e, c, boost| filter_accepts(filter_form::GEOMETRIC, boost, e, c);
    for boost in [1, 5, 50, 95, 100] {
        assert!(accepts(-10, 20, boost) && !accepts(10, -20, boost), "{boost}");
    }
    let payoffs = [
        (10, 20, 50, 60, true),
        (10, 5, 50, -15, false),
        (-10, -20, 50, -60, false),
        (-50, -20, 50, 100, true),
        (-50, -20, 95, -100, false),
        (-50, -20, 5, 250, true),
        (1, 100, 5, -5, false),
        (200, 1, 100, 5, true),
        (0, 20, 5, 0, false),
        (0, 20, 50, 100, true),
        (-10, 0, 50, 40, true),
    ];
    for (e, c, boost, payoff, accepted) in payoffs {
        assert_eq!(filter_payoff(filter_form::GEOMETRIC, boost.min(99) / 10, e, c), payoff, "{e} {c} {boost}");
        assert_eq!(accepts(e, c, boost), accepted, "{e} {c} {boost}");
    }
    assert!(!accepts(0, 0, 50) && accepts(-5, -9, 0) && !accepts(5, 9, 0));
}

/// The posting's payoff in the boost region has the wrong sign: 10 more energy for 20 of speed is refused at 50 % (40 -
/// 80 + 30), and taken where only energy counts (10 * 4).
#[test]
fn filter_of_the_posting_has_a_wrong_sign() {
    let rfc = |index, e, c| filter_accepts_by(filter_form::RFC, (index, index), e, c);
    assert_eq!(filter_payoff(filter_form::RFC, 5, 10, 20), -50);
    assert!(!rfc(5, 10, 20) && !rfc(5, -10, -20) && rfc(5, -50, -20));
    assert!(!rfc(5, 0, 20) && !rfc(5, -10, 0));
    assert_eq!(filter_payoff(filter_form::RFC, 0, 10, 20), 40);
    assert!(rfc(0, 10, 20));
    let middle = |e, c| filter_accepts_by(filter_form::MIDDLE, (5, 5), e, c);
    assert!(middle(10, 20) && !middle(10, 5) && middle(0, 20) && middle(-10, 0));
}

/// 100 of a distance of 1000: 100 << 10 / 1000 = 102, with its sign; the shift has 32 bits.
#[test]
fn a_change_of_power_is_a_share_of_all_of_it() {
    assert_eq!((filter_normalize(100, 24, 1024), filter_normalize(-100, 24, 1024)), (102, -102));
    assert_eq!(filter_normalize(4_194_304, 0, 1000), 0, "2^22 << 10 leaves nothing of 32 bits");
    assert_eq!(filter_normalize(5, 7, 7), 0);
}

/// schedutil on the same inputs: 400 of 1024 with 50 % is 712; without a boost nothing changes.
#[test]
fn schedutil_sees_boosted_utilization() {
    let later = form("later");
    let state = CpuState { cap_orig: 1024, util_cfs: 400, uclamp_max: 1024, ..CpuState::default() };
    assert_eq!(state.boosted(&later, 50).perf_eval(&later, 0).perf, 712);
    assert_eq!(state.boosted(&later, 0), state);
    assert_eq!(state.boosted(&later, -50).perf_eval(&later, 0).perf, 200);
}

/// Rules as the sources define them, without their arithmetic: a number of tasks per group, the root counts always
/// (rfc).
struct Brute {
    tasks: Vec<(u32, u32)>,
    boosts: Vec<[i32; 4]>,
    /// Counted instead of looked up.
    max: Vec<i32>,
}

impl Brute {
    fn runnable(&self, cpu: u32, group: usize) -> usize {
        self.tasks.iter().filter(|t| **t == (cpu, group as u32)).count()
    }

    fn look(&mut self, cpu: u32) {
        let counts = |&group: &usize| group == 0 || self.runnable(cpu, group) > 0;
        let of = |group: usize| self.boosts[cpu as usize][group];
        self.max[cpu as usize] = (0..4).filter(counts).map(of).max().expect("the root");
    }

    fn counted(&mut self, cpu: u32, group: usize) {
        if self.runnable(cpu, group) <= 1 {
            self.look(cpu);
        }
    }

    fn write(&mut self, cpu: u32, group: usize, boost: i32) {
        let (old, max) = (self.boosts[cpu as usize][group], self.max[cpu as usize]);
        self.boosts[cpu as usize][group] = boost;
        if boost > max && self.runnable(cpu, group) > 0 {
            self.max[cpu as usize] = boost;
        } else if max == old && boost < old {
            self.look(cpu);
        }
    }
}

/// A million enqueues, dequeues, migrations and writes on four CPUs: counts and boosts are those of a list of the
/// runnable tasks, looked through each time.
#[test]
fn group_accounting_equals_a_list_of_tasks() {
    let rfc = form("rfc");
    let mut cpus = [BoostCpu::default(); 4];
    let mut brute = Brute { tasks: Vec::new(), boosts: vec![[0; 4]; 4], max: vec![0; 4] };
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let leave = |brute: &mut Brute, cpus: &mut [BoostCpu; 4], at: usize| {
        let (cpu, group) = brute.tasks.swap_remove(at);
        cpus[cpu as usize].count(&rfc, group, false, false, 0);
        brute.counted(cpu, group as usize);
        group
    };
    for _ in 0..1_000_000 {
        let group = match (below(16), brute.tasks.len()) {
            (0..2, _) => {
                let (group, boost) = (below(4) as u32, below(101) as i32);
                for cpu in 0..4 {
                    cpus[cpu as usize].write(&rfc, group, boost, 0);
                    brute.write(cpu, group as usize, boost);
                }
                None
            }
            (2..8, n) if n < 24 => Some(below(4) as u32),
            (8..11, n) if n > 0 => Some(leave(&mut brute, &mut cpus, below(n as u64) as usize)),
            (_, n) if n > 0 => {
                leave(&mut brute, &mut cpus, below(n as u64) as usize);
                None
            }
            _ => None,
        };
        if let Some(group) = group {
            let cpu = below(4) as u32;
            brute.tasks.push((cpu, group));
            cpus[cpu as usize].count(&rfc, group, true, false, 0);
            brute.counted(cpu, group as usize);
        }
        for (cpu, now) in cpus.iter().enumerate() {
            assert_eq!(now.boost_max, brute.max[cpu]);
            let tasks: Vec<usize> = (0..4).map(|group| brute.runnable(cpu as u32, group)).collect();
            assert_eq!(now.group[..4].iter().map(|g| g.tasks as usize).collect::<Vec<_>>(), tasks);
        }
    }
}

/// The later form, its groups counted by a list: every group counts with runnable tasks only, and a runnable task that
/// changes its group is counted in the new one.
#[test]
fn group_accounting_of_the_later_form_follows_moves() {
    let later = form("later");
    let mut draw = 11u64;
    let mut below = |n: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % n
    };
    let mut cpus = [BoostCpu::default(); 4];
    let mut boosts = [0i32; BOOST_GROUPS];
    let mut tasks: Vec<(usize, usize)> = Vec::new();
    let (mut moves, mut writes, mut empty) = (0u32, 0u32, 0u32);
    for _ in 0..1_000_000 {
        let group = below(BOOST_GROUPS as u64) as usize;
        match below(16) {
            0 => {
                boosts[group] = below(201) as i32 - 100;
                cpus.iter_mut().for_each(|cpu| cpu.write(&later, group as u32, boosts[group], 0));
                writes += 1;
            }
            1..8 if tasks.len() < 24 => {
                let cpu = below(4) as usize;
                tasks.push((cpu, group));
                cpus[cpu].count(&later, group as u32, true, false, 0);
            }
            8..11 if !tasks.is_empty() => {
                let at = below(tasks.len() as u64) as usize;
                let (cpu, from) = &mut tasks[at];
                cpus[*cpu].relocate(&later, *from as u32, group as u32, 0);
                *from = group;
                moves += 1;
            }
            _ if !tasks.is_empty() => {
                let (cpu, group) = tasks.swap_remove(below(tasks.len() as u64) as usize);
                cpus[cpu].count(&later, group as u32, false, false, 0);
            }
            _ => empty += 1,
        }
        for (c, cpu) in cpus.iter().enumerate() {
            let runnable = |group: usize| tasks.iter().filter(|t| **t == (c, group)).count();
            let largest = (0..BOOST_GROUPS).filter(|&g| runnable(g) > 0).map(|g| boosts[g]).max();
            (0..BOOST_GROUPS).for_each(|g| assert_eq!(cpu.group[g].tasks as usize, runnable(g)));
            if let Some(largest) = largest {
                assert_eq!(cpu.boost_max, largest, "{tasks:?} {boosts:?}");
            } else {
                assert_eq!(cpu.boost_max, 0);
            }
        }
    }
    assert!(moves > 100_000 && writes > 50_000 && empty > 0, "{moves} {writes} {empty}");
}

fn idle(cpu: u32, cap_orig: u32, util: u32, state: u32) -> IdleCandidate {
    IdleCandidate { cpu, cap_orig, util, idle: 1, state, ..IdleCandidate::default() }
}

fn goes_to(boost: i32, util: u32, min_util: u32, cpus: &[IdleCandidate]) -> Option<u32> {
    let mut search = PreferIdle::new(boost, util, min_util);
    cpus.iter().for_each(|cpu| search.look(cpu));
    search.best()
}

/// Android 4.4 find_best_target, case A.1, on a LITTLE and a big pair.
#[test]
fn an_idle_cpu_for_a_task_that_prefers_one() {
    let all = [idle(0, 446, 0, 1), idle(1, 446, 0, 0), idle(2, 1024, 0, 2), idle(3, 1024, 0, 1)];
    assert_eq!(goes_to(0, 100, 100, &all), Some(1), "the smallest, of them the shallowest");
    assert_eq!(goes_to(10, 100, 192, &all), Some(3), "boosted: the biggest");
    assert_eq!(goes_to(0, 500, 500, &all), Some(3), "not on a small one");
    assert_eq!(goes_to(0, 400, 400, &[idle(0, 446, 47, 0), all[2]]), Some(2), "447 with what is there");
    assert_eq!(goes_to(0, 400, 400, &[idle(0, 446, 46, 0), all[2]]), Some(0), "446 is not above 446");
    assert_eq!(goes_to(30, 100, 447, &[idle(0, 446, 0, 0)]), None, "its boost asks for more");
    let busy = IdleCandidate { idle: 0, ..all[1] };
    assert_eq!(goes_to(0, 100, 100, &[busy]), None);
    assert_eq!(goes_to(0, 100, 100, &[all[2], idle(4, 1024, 0, 2)]), Some(2), "of equals the first");
}
