// SPDX-License-Identifier: GPL-2.0-or-later
//! Clamps that add up: the core beside a twin that makes every sum anew, over a million random operations.

use pelton_core::{Avg, CfsRq, Policy, UclampSumRq, UclampSumTask, fair, value};
use pelton_reference::rules::Uclamp;
use pelton_reference::uclamp_sum::{Cpu, Weight, faded};

const TASKS: usize = 12;
const FORMS: [(u32, Uclamp); 4] = [
    (value::UCLAMP_SUM, Uclamp::Sum),
    (value::UCLAMP_BIAS, Uclamp::Bias),
    (value::UCLAMP_BIAS_WEIGHTED, Uclamp::BiasWeighted),
    (value::UCLAMP_DEBT, Uclamp::Debt),
];

/// A small generator: the operations must be the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn clamps(&mut self) -> (u32, u32) {
        let any = [0, 1, 120, 200, 383, 600, 1023, 1024];
        let (a, b) = (any[self.below(8) as usize], any[self.below(8) as usize]);
        if self.below(20) == 0 { (a, b) } else { (a.min(b), a.max(b)) }
    }

    /// Utilization may pass the scale a little, as averages of real queues do.
    fn util(&mut self) -> u32 {
        self.below(1100) as u32
    }
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    Queued,
    Asleep,
    Away,
}

struct Both {
    policy: Policy,
    core: (UclampSumRq, CfsRq, [UclampSumTask; TASKS]),
    twin: Cpu,
    at: [At; TASKS],
    /// Sleepers as the twin knows them: value, and time at which it was last aged.
    left: [(i64, u64); TASKS],
    units: u64,
}

impl Both {
    fn new(form: (u32, Uclamp)) -> Both {
        let mut policy = Policy::profile("6.12").expect("a profile");
        policy.uclamp = form.0;
        policy.check().expect("a policy without contradiction");
        let mut tasks = [UclampSumTask::default(); TASKS];
        for (id, task) in tasks.iter_mut().enumerate() {
            let level = [0, 15, 20, 39, 40][id % 5];
            (task.id, task.weight, task.inv_weight) =
                (id as u32, fair::task_weight(level), fair::task_inv_weight(level));
        }
        let core = (UclampSumRq::default(), CfsRq::default(), tasks);
        Both { policy, core, twin: Cpu::new(form.1), at: [At::Away; TASKS], left: [(0, 0); TASKS], units: 1 << 20 }
    }

    fn avg(&self) -> Avg {
        let (last_update_time_ns, period_contrib) = (self.units << 10, (self.units % 1024) as u32);
        Avg { last_update_time_ns, period_contrib, ..Avg::default() }
    }

    fn pass(&mut self, d: &mut Dice) {
        self.units += [0, 1, 300, 1024, 40_000][d.below(5) as usize];
        let util = if d.below(10) == 0 { 0 } else { u64::from(d.util()) };
        let removed_nr = u32::from(d.below(3) == 0);
        self.core.1 = CfsRq { avg: Avg { util_avg: util, ..self.avg() }, removed_nr, ..CfsRq::default() };
        self.core.0.follow(&self.core.1);
        self.twin.follow(self.units, removed_nr == 0, util as i64);
    }

    /// Ages a sleeper's value to now, in both.
    fn age(&mut self, id: usize) {
        let (value, since) = self.left[id];
        let slept = Avg { last_update_time_ns: since << 10, period_contrib: (since % 1024) as u32, ..Avg::default() };
        self.core.2[id].age(&slept, self.units << 10);
        self.left[id] = (faded(value, self.units / 1024 - since / 1024), self.units);
        assert_eq!(i64::from(self.core.2[id].value), self.left[id].0, "what is left of task {id}");
    }

    fn step(&mut self, d: &mut Dice) {
        let (id, clamps, util) = (d.below(TASKS as u64) as usize, d.clamps(), d.util());
        let wide = (i64::from(clamps.0), i64::from(clamps.1));
        match (self.at[id], d.below(4)) {
            (At::Queued, 0) => self.part(id, d.below(3) == 0),
            (At::Queued, _) => {
                (self.core.2[id].min, self.core.2[id].max) = clamps;
                self.core.0.update(&self.policy, &mut self.core.2[id], util);
                self.twin.told(id as u32, wide, i64::from(util));
            }
            (At::Asleep, 0) => {
                self.age(id);
                self.core.0.leave(&mut self.core.2[id]);
                self.twin.left(self.left[id].0);
                (self.at[id], self.left[id].0) = (At::Away, 0);
            }
            (At::Asleep, 1) => self.age(id),
            _ => {
                self.age(id);
                let estimate = d.util();
                (self.core.2[id].min, self.core.2[id].max) = clamps;
                let task = &mut self.core.2[id];
                self.core.0.est_enqueue(task, estimate);
                self.core.0.enqueue(&self.policy, task, util);
                let weight = Weight { weight: task.weight.into(), inverse: task.inv_weight.into() };
                self.twin.join(id as u32, weight, estimate.into(), wide, util.into(), self.left[id].0);
                self.at[id] = At::Queued;
            }
        }
    }

    fn part(&mut self, id: usize, migrates: bool) {
        let task = &mut self.core.2[id];
        self.core.0.est_dequeue(task);
        self.twin.queued.get_mut(&(id as u32)).expect("queued in both").estimate = None;
        let cut = self.core.0.dequeue(&self.policy, task, migrates);
        let (expected, left) = self.twin.part(id as u32, migrates);
        assert_eq!(i64::from(cut), expected, "what a sleeper takes out of the averages");
        self.left[id] = (left, self.units);
        self.at[id] = if migrates { At::Away } else { At::Asleep };
    }

    fn compare(&self, step: u32) {
        let (rq, twin) = (&self.core.0, &self.twin);
        let of_core = [rq.queued, rq.root, rq.debt, rq.est].map(i64::from);
        assert_eq!(of_core, [twin.sum(), twin.root, twin.debt, twin.estimate()], "step {step}");
        assert_eq!(i64::from(rq.bias), twin.bias(), "step {step}");
        let util = self.core.1.avg.util_avg;
        assert_eq!(i64::from(rq.util(&self.policy, util as u32)), twin.util(util as i64), "step {step}");
    }
}

#[test]
fn core_and_twin_agree_over_a_million_operations() {
    for form in FORMS {
        let (mut both, mut dice) = (Both::new(form), Dice(u64::from(form.0)));
        for step in 0..250_000 {
            both.pass(&mut dice);
            both.step(&mut dice);
            both.compare(step);
        }
        assert_eq!(both.policy.uclamp, form.0);
    }
}
