// SPDX-License-Identifier: GPL-2.0-or-later
//! Runnable load of 4.12 to 5.4.

use pelton_core::{Avg, CfsRq, Ctx, Policy, Se, TaskGroup, ev, update};

const TASKS: usize = 6;
/// Tasks from this one on are in the group.
const IN_GROUP: usize = 2;
const START_NS: u64 = 1_000_000_000;
/// Speed at which releases that scale contributions were driven.
const HALF_SPEED: u32 = 512;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("the profile exists")
}

/// Numbers that the compiled functions were driven by.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// Two tasks on a root queue beside a group with four.
struct World {
    pol: Policy,
    root: CfsRq,
    group: CfsRq,
    entity: Se,
    tg: TaskGroup,
    tasks: [Se; TASKS],
    now: u64,
    freq_scale: u32,
}

impl World {
    fn new(profile: &str, freq_scale: u32) -> Self {
        let avg = Avg { last_update_time_ns: START_NS & !1023, period_contrib: 1023, ..Avg::default() };
        let queue = CfsRq { avg, ..CfsRq::default() };
        let tasks = [1024, 335, 1024, 3121, 110, 1024].map(|weight| {
            let mut task = Se::new(weight);
            (task.avg.util_avg, task.avg.runnable_avg) = (100, weight);
            task
        });
        let tg = TaskGroup { load_avg: 0, shares: 1024 };
        let entity = Se { weight: 1024, ..Se::default() };
        let pol = policy(profile);
        let mut world = Self { pol, root: queue, group: queue, entity, tg, tasks, now: START_NS, freq_scale };
        let ctx = Ctx { pol: &pol, now: START_NS, cap_orig: 1024, freq_scale };
        world.root.group_online(&ctx, &mut world.entity);
        world
    }

    fn ctx<'a>(&self, pol: &'a Policy) -> Ctx<'a> {
        Ctx { pol, now: self.now, cap_orig: 1024, freq_scale: self.freq_scale }
    }

    fn refresh(&mut self) {
        self.root.refresh_shares(&self.pol, &mut self.entity, &self.group, &self.tg);
    }

    fn contribute(&mut self, bits: u32) {
        if bits & ev::TG_LOAD != 0 {
            self.group.tg_contrib(&self.pol, &mut self.tg, self.now);
        }
    }

    fn enqueue(&mut self, i: usize) {
        let pol = self.pol;
        let ctx = self.ctx(&pol);
        if i < IN_GROUP {
            self.root.enqueue_entity(&ctx, &mut self.tasks[i], None, 1);
            return;
        }
        let bits = self.group.enqueue_entity(&ctx, &mut self.tasks[i], None, 1);
        self.contribute(bits);
        if self.entity.on_rq == 0 {
            self.root.enqueue_entity(&ctx, &mut self.entity, Some(&mut self.group), 1);
        } else {
            self.root.update_ancestor(&ctx, &mut self.entity, Some(&mut self.group), 1);
        }
        self.refresh();
    }

    fn dequeue(&mut self, i: usize) {
        let pol = self.pol;
        let ctx = self.ctx(&pol);
        if i < IN_GROUP {
            self.root.dequeue_entity(&ctx, &mut self.tasks[i], None, -1, 0);
            return;
        }
        let bits = self.group.dequeue_entity(&ctx, &mut self.tasks[i], None, -1, 0);
        self.contribute(bits);
        if self.group.nr_queued == 0 {
            self.root.dequeue_entity(&ctx, &mut self.entity, Some(&mut self.group), -1, 0);
        } else {
            self.root.update_ancestor(&ctx, &mut self.entity, Some(&mut self.group), -1);
        }
        self.refresh();
    }

    fn tick(&mut self, i: usize) {
        let pol = self.pol;
        let ctx = self.ctx(&pol);
        if i < IN_GROUP {
            self.root.tick_entity(&ctx, &mut self.tasks[i], None);
            return;
        }
        let bits = self.group.tick_entity(&ctx, &mut self.tasks[i], None);
        self.contribute(bits);
        self.root.tick_entity(&ctx, &mut self.entity, Some(&mut self.group));
        self.refresh();
    }

    fn set_shares(&mut self, shares: u64) {
        let pol = self.pol;
        let ctx = self.ctx(&pol);
        self.tg.shares = shares;
        self.root.update_load_avg(&ctx, &mut self.entity, Some(&mut self.group), update::TG);
        self.refresh();
    }

    /// One event, drawn as for the compiled functions.
    fn step(&mut self, random: &mut Xorshift) {
        self.now += 100_000 + random.below(4_000_000);
        let i = random.below(TASKS as u64) as usize;
        let queued = self.tasks[i].on_rq != 0;
        match random.below(5) {
            0 | 1 if queued => self.dequeue(i),
            0 | 1 => self.enqueue(i),
            2 if queued => self.tick(i),
            3 => {
                let weight = 15 + random.below(4000);
                let queue = if i < IN_GROUP { &mut self.root } else { &mut self.group };
                if queued {
                    queue.reweight(&self.pol, &mut self.tasks[i], weight);
                }
            }
            4 => self.set_shares(256 + random.below(4000)),
            _ => {}
        }
    }

    fn shown(&self) -> [u64; 6] {
        let (root, group, entity) = (&self.root, &self.group, &self.entity);
        let own = [root.avg.runnable_avg, root.avg.runnable_sum, root.runnable_weight];
        let of_group = [entity.avg.runnable_avg, entity.runnable_weight.into(), group.avg.runnable_avg];
        [own[0], own[1], own[2], of_group[0], of_group[1], of_group[2]]
    }
}

/// Values that the compiled functions of 4.16.13 and 4.19 (alike), and of 5.4, left after every forty of 400 events:
/// average, sum and weight of the root queue, average and weight of the group's entity, average of the group's queue.
/// __update_load_avg_se, __update_load_avg_cfs_rq, enqueue_runnable_load_avg, dequeue_runnable_load_avg,
/// reweight_entity, calc_group_runnable, update_tg_cfs_runnable, attach_entity_load_avg.
#[test]
fn runnable_load_is_that_of_the_compiled_functions() {
    let contributions = [
        [3764, 176290463, 5885952, 1703, 1898496, 3702],
        [1832, 87436647, 3787776, 1832, 3787776, 1499],
        [1708, 80431034, 5819986, 271, 557650, 451],
        [1227, 58387773, 4832256, 547, 1419264, 369],
        [244, 11507280, 622592, 244, 622592, 630],
        [3004, 141599202, 9267200, 1392, 3649536, 1122],
        [319, 15124701, 675840, 318, 675840, 4123],
        [3019, 143617183, 7527424, 1441, 2970624, 920],
        [1136, 53258361, 2810880, 587, 1205248, 1922],
        [2741, 129170118, 6075392, 2044, 4189184, 941],
    ];
    let clock = [
        [4895, 229245154, 5762829, 1750, 1775373, 4688],
        [3212, 153299341, 3787776, 3212, 3787776, 2606],
        [3118, 146767705, 5552428, 276, 290092, 879],
        [2449, 116489356, 4832256, 1089, 1419264, 707],
        [334, 15749215, 426925, 334, 426925, 1260],
        [6011, 283236364, 9267200, 2786, 3649536, 2245],
        [638, 30262145, 675840, 637, 675840, 8246],
        [5003, 238028399, 6459552, 1847, 1902752, 1840],
        [2273, 106524458, 2810880, 1175, 1205248, 3846],
        [5484, 258393986, 6075392, 4089, 4189184, 1883],
    ];
    for (profile, freq_scale, recorded) in
        [("4.16", HALF_SPEED, contributions), ("4.19", HALF_SPEED, contributions), ("5.4", 1024, clock)]
    {
        let (mut world, mut random) = (World::new(profile, freq_scale), Xorshift(88_172_645_463_325_252));
        for row in recorded {
            (0..40).for_each(|_| world.step(&mut random));
            assert_eq!(world.shown(), row, "{profile}");
        }
    }
}

/// calc_group_runnable (4.16.13 on): max(256, 200) * 1048576 / max(1024, 512) = 262144, a quarter; of nothing 2. 4.12
/// has no runnable weight: enqueue_entity_load_avg adds what the entity weighs.
#[test]
fn a_group_counts_by_the_part_of_its_load_that_is_runnable() {
    for (profile, quarter, nothing) in
        [("4.12", 1 << 20, 1 << 20), ("4.16", 1 << 18, 2), ("4.19", 1 << 18, 2), ("5.4", 1 << 18, 2)]
    {
        for (runnable, weight) in [(256, quarter), (0, nothing)] {
            let avg = Avg { load_avg: 1024, runnable_avg: runnable, ..Avg::default() };
            let stored = if runnable == 0 { 0 } else { 200 << 10 };
            let group = CfsRq { avg, load_weight: 512, runnable_weight: stored, ..CfsRq::default() };
            let (mut root, mut se) = (CfsRq::default(), Se { weight: 1024, ..Se::default() });
            root.refresh_shares(&policy(profile), &mut se, &group, &TaskGroup { load_avg: 0, shares: 1024 });
            assert_eq!((se.weight, u64::from(se.runnable_weight)), (1024, weight), "{profile}");
        }
    }
}

/// enqueue_entity_load_avg (4.12), enqueue_runnable_load_avg (4.16 to 5.4): a queue holds the load of what is queued,
/// 1024, and keeps nothing of who left, whose 700 stay part of its load. From 5.10 on the record has no weights.
#[test]
fn who_sleeps_is_no_runnable_load() {
    for profile in ["4.12", "4.16", "4.19", "5.4"] {
        let pol = policy(profile);
        let ctx = Ctx { pol: &pol, now: START_NS, cap_orig: 1024, freq_scale: 1024 };
        let avg = Avg { last_update_time_ns: START_NS & !1023, ..Avg::default() };
        let mut queue = CfsRq { avg, ..CfsRq::default() };
        let (mut stays, mut leaves) = (Se::new(1024), Se::new(700));
        for task in [&mut stays, &mut leaves] {
            task.avg.runnable_avg = task.avg.load_avg;
            queue.enqueue_entity(&ctx, task, None, 1);
        }
        assert_eq!((queue.avg.load_avg, queue.avg.runnable_avg), (1724, 1724), "{profile}");
        queue.dequeue_entity(&ctx, &mut leaves, None, -1, 0);
        assert_eq!((queue.avg.load_avg, queue.avg.runnable_avg), (1724, 1024), "{profile}");
        assert_eq!(queue.runnable_load_avg(&pol), Some(1024), "{profile}");
    }
    assert_eq!(CfsRq::default().runnable_load_avg(&policy("5.10")), None);
}

/// init_entity_runnable_average (4.16 to 5.4): a new task has its weight as runnable load, whatever its class.
#[test]
fn a_task_that_begins_in_another_class_has_its_weight_as_runnable_load() {
    for (profile, runnable) in [("4.12", 700), ("4.16", 700), ("4.19", 700), ("5.4", 700), ("5.10", 0), ("7.2", 0)] {
        let pol = policy(profile);
        let mut se = Se::new(700);
        se.init_other_class(&Ctx { pol: &pol, now: START_NS, cap_orig: 1024, freq_scale: 1024 });
        assert_eq!(se.avg.runnable_avg, runnable, "{profile}");
    }
}

/// attach_entity_load_avg of an entity of nothing: up to 5.4 0 * 46718 / 1024 = 0, from 5.10.262 on 1.
#[test]
fn an_entity_of_nothing_brings_no_load_sum_up_to_5_4() {
    let later = ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"].map(|profile| (profile, 1));
    for (profile, sum) in later.into_iter().chain(["4.12", "4.16", "4.19", "5.4"].map(|profile| (profile, 0))) {
        let (mut queue, mut se) = (CfsRq::default(), Se { weight: 1024, ..Se::default() });
        queue.attach(&policy(profile), &mut se);
        assert_eq!(se.avg.load_sum, sum, "{profile}");
    }
}
